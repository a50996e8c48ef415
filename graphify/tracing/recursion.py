"""Recursion that tracing cannot follow: the error that says which function, and where.

def never(n):
    return n * never(n - 1)

Most recursive functions become a graph of their own (see autograph/operators/recursion.py). Others
are inlined at each call, until Python gives up if nothing that Python knows ends them.

deep_recursion(error, {})    # TraceError: "never calls itself ..., at its line", or None
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from types import CodeType, TracebackType

from graphify.errors import DeepRecursion, GraphifyError
from graphify.location import LazyLoc, SourceLoc, is_internal

REMEDY = (
    "write it as a while loop, or let it end on a Python number; for a deep one that does end, "
    "raise sys.setrecursionlimit"
)
REPEATED = 5  # calls of one function, one inside the other, that make a recursion


def deep_recursion(error: Exception, inlined: Mapping[CodeType, Exception]) -> DeepRecursion | None:
    """What to say of a RecursionError in a trace; None if no function of the user's recurs, and for
    other errors.

    Args:
        inlined: why functions could not become graphs of their own.
    """
    if type(error) is not RecursionError:
        return None
    entries = [e for e in _entries(error.__traceback__) if not _is_internal(e)]
    depths = Counter(e.tb_frame.f_code for e in entries)
    recurring = [i for i, e in enumerate(entries) if depths[e.tb_frame.f_code] >= REPEATED]
    if not recurring:
        return None
    code = entries[recurring[0]].tb_frame.f_code
    again = next(i for i in recurring[1:] if entries[i].tb_frame.f_code is code)
    calls = f"{code.co_name} calls itself, {depths[code]} calls deep, and tracing cannot go deeper"
    reason = next((inlined[c] for c in depths if c in inlined), None)
    if isinstance(reason, GraphifyError):
        text = f"{calls}; it cannot become a function of the graph: {reason.message}"
        place = reason.location or _place(entries[again - 1], code)
        return DeepRecursion(text, location=place, remedy=reason.remedy or REMEDY)
    return DeepRecursion(
        f"{calls}; nothing ends the recursion that is known while tracing, nor a condition that "
        "the run decides",
        location=_place(entries[again - 1], code),
        remedy=REMEDY,
    )


def _place(caller: TracebackType, recurring: CodeType) -> SourceLoc:
    """Where the call stands; in converted code that may be a function made of a block."""
    code = caller.tb_frame.f_code
    place = LazyLoc(code, caller.tb_lasti, caller.tb_lineno).resolve()
    inside = code.co_qualname.startswith(f"{recurring.co_qualname}.<locals>.")
    return replace(place, function=recurring.co_name) if inside else place


def _entries(traceback: TracebackType | None) -> list[TracebackType]:
    entries = []
    while traceback is not None:
        entries.append(traceback)
        traceback = traceback.tb_next
    return entries


def _is_internal(entry: TracebackType) -> bool:
    return is_internal(entry.tb_frame.f_code.co_filename)
