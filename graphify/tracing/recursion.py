"""Recursion that tracing cannot follow: the error that says which function, and where.

def never(n):
    return n * never(n - 1)

Most recursive functions become a graph of their own (see autograph/operators/recursion.py). Others
are inlined at each call, until Python gives up if nothing that Python knows ends them.

deep_recursion(error, {})    # TraceError: "never calls itself ..., at its line", or None

A long chain of `elif`, or a function of many early returns, is a deep nest of blocks: `deep_stack`
makes room for the operators that trace one inside the other.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import CodeType, TracebackType

from graphify.errors import DeepRecursion, GraphifyError
from graphify.location import LazyLoc, SourceLoc, is_internal

REMEDY = (
    "write it as a while loop, or let it end on a Python number; for a deep one that does end, "
    "raise sys.setrecursionlimit"
)
FRAMES = 4_000  # of Python, in a trace: fewer calls of the user's than Python itself would take
REPEATED = 5  # calls of one function, one inside the other, that make a recursion


class _Limit:
    """Python's limit of recursion, which belongs to all threads, while some need a higher one."""

    def __init__(self) -> None:
        self.lock, self.before = threading.Lock(), 0
        self.wanted: list[int] = []

    def want(self, frames: int) -> None:
        with self.lock:
            if not self.wanted:
                self.before = sys.getrecursionlimit()
            self.wanted.append(frames)
            self._set()

    def give_back(self, frames: int) -> None:
        with self.lock:
            self.wanted.remove(frames)
            self._set()

    @property
    def users(self) -> int:
        """The limit but for this."""
        with self.lock:
            return self.before if self.wanted else sys.getrecursionlimit()

    def _set(self) -> None:
        sys.setrecursionlimit(max(self.before, *self.wanted, 0))


_limit = _Limit()


@contextlib.contextmanager
def deep_stack(frames: int = FRAMES) -> Iterator[None]:
    """Room for so many frames of Python at least, in this thread and all others."""
    _limit.want(frames)
    try:
        yield
    finally:
        _limit.give_back(frames)


def users_limit() -> int:
    """The limit that the user knows, and may have set, also within `deep_stack`."""
    return _limit.users


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
