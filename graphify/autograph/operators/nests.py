"""What the loops in a loop's body write, remembered from one trace of the body to the next.

    for i in range(n):
        for j in range(n):
            rows[i % 3] += a[i, j]  # that the loop over j carries rows: known when it was traced

A loop traces its body to learn what it writes, and then once more with that in its carry: in a
nest, each level would double the work. So what was learnt of the loops in a body outlives a trace
of it that is thrown away. Next time they begin with it, as far as the loop around them carries it,
too: other things that were written may be gone.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any, TypeAlias

from graphify.autograph.operators.heap import Slot
from graphify.ir.graph import Builder

Slots: TypeAlias = dict[Any, Slot]


class Nest:
    """A loop that is traced over and over, as are those in it: they are told by their code and by
    when it is their turn."""

    def __init__(self) -> None:
        self._slots: Slots = {}  # what the loop carries beside its variables, during a trace of it
        self._written: frozenset[Any] = frozenset()  # keys of what it carried at last
        self._before: dict[CodeType, list[Nest]] = {}  # the loops in it: in the last trace,
        self._met: dict[CodeType, list[Nest]] = {}  # and in this one, so far

    @contextlib.contextmanager
    def traced(self, body: Builder, slots: Slots) -> Iterator[None]:
        """While the loop's body is traced. Holds nothing afterwards: whether others hold a list
        tells the trace of whom it is."""
        body.nest, self._slots = self, slots
        self._before, self._met = self._met, {}
        try:
            yield
        finally:
            self._slots = {}

    def done(self, slots: Slots) -> None:
        """The loop was traced, for good or until the one around it is traced again."""
        self._written = frozenset(slots)

    def enter(self, code: CodeType) -> tuple[Nest, Slots]:
        """The next loop in it, and what that wrote when it was traced before."""
        before, met = self._before.get(code, []), self._met.setdefault(code, [])
        inner = before[len(met)] if len(met) < len(before) else Nest()
        met.append(inner)
        return inner, {key: s for key, s in self._slots.items() if key in inner._written}


def enter(builder: Builder | None, body: Callable[..., Any]) -> tuple[Nest, Slots]:
    """The nest of a loop in a frame, and what it wrote when it was traced before."""
    while builder is not None and builder.nest is None:
        builder = builder.parent
    if builder is None:
        return Nest(), {}
    around: Nest = builder.nest
    return around.enter(body.__code__)
