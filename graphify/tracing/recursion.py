"""Recursion that tracing cannot follow: the error that says which function, and where.

def fact(n):
    return 1 if n <= 1 else n * fact(n - 1)

With a traced `n` both sides of the condition are recorded, so the calls nest until Python gives up.

deep_recursion(error)    # TraceError: "fact calls itself ..., at its line", or None
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from types import CodeType, TracebackType

from graphify.errors import DeepRecursion
from graphify.location import LazyLoc, SourceLoc, is_internal

REPEATED = 5  # calls of one function, one inside the other, that make a recursion


def deep_recursion(error: Exception) -> DeepRecursion | None:
    """What to say of a RecursionError in a trace; None if no function of the user's recurs, and for
    other errors."""
    if type(error) is not RecursionError:
        return None
    entries = [e for e in _entries(error.__traceback__) if not _is_internal(e)]
    depths = Counter(e.tb_frame.f_code for e in entries)
    recurring = [i for i, e in enumerate(entries) if depths[e.tb_frame.f_code] >= REPEATED]
    if not recurring:
        return None
    code = entries[recurring[0]].tb_frame.f_code
    again = next(i for i in recurring[1:] if entries[i].tb_frame.f_code is code)
    return DeepRecursion(
        f"{code.co_name} calls itself, {depths[code]} calls deep, and tracing cannot go deeper; "
        "a recursion that ends on the value of a tensor does not end in a trace, "
        "which follows both sides of each condition",
        location=_place(entries[again - 1], code),
        remedy="write it as a while loop, or let it end on a Python number; for a deep one that "
        "does end, raise sys.setrecursionlimit",
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
