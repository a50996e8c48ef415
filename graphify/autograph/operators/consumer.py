"""What takes the values of a generator: the body of a `for` statement, with its state.

    consumer = Consumer(body, (0.0,), ("total",))
    consumer.emit(v)                 # one turn of the loop: total becomes body(v, total)

The generator runs as a function and calls `emit` wherever it yields, maybe inside staged branches
and loops of its own. So the state of the loop is part of the heap there: each variable is a place,
and writes to it are logged like those to attributes (see heap.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from types import FunctionType
from typing import Any

from graphify.autograph.operators.undefined import Unreachable
from graphify.ir.context import current_builder


@dataclass(frozen=True, slots=True, eq=False)
class Variable:
    """A state variable of a consumer, as a place that staged control flow reads and writes."""

    holder: Consumer
    index: int

    @property
    def key(self) -> tuple[int, int]:
        return (id(self.holder), self.index)

    @property
    def name(self) -> str:
        return self.holder.names[self.index]

    def read(self) -> Any:
        return self.holder.state[self.index]

    def write(self, value: Any) -> None:
        self.holder.state[self.index] = value

    def __str__(self) -> str:
        return self.name


class Consumer:
    """The body of a loop over a generator, and where the loop stands.

    Args:
        body: from an item and the state to the new state.
        state: before the first turn.
        names: of the state variables.
        test: false for a state with which the loop is left.
    """

    def __init__(
        self,
        body: FunctionType,
        state: tuple[Any, ...],
        names: tuple[str, ...],
        test: FunctionType | None = None,
    ) -> None:
        self.body, self.test, self.names = body, test, names
        self.state = list(state)
        self.builder = current_builder()
        cells = dict(zip(body.__code__.co_freevars, body.__closure__ or (), strict=True))
        self.cells = {i: cells[name] for i, name in enumerate(names) if name in cells}

    def emit(self, item: Any) -> None:
        """Run the body for one item."""
        new = self.body(item, *self._current())
        if isinstance(new, Unreachable):  # the turn raises: what comes next does not matter
            return
        builder = current_builder()
        for index, value in enumerate(new):
            if value is self.state[index]:
                continue
            if builder is not None and index not in self.cells:
                place = Variable(self, index)
                inside = builder is not self.builder
                builder.log_write(place.key, place, self.state[index], inside)
            self.state[index] = value

    def _current(self) -> list[Any]:
        """The state now. What the body shares with other functions is in a cell, which the
        generator may rebind, too; such a cell is a place of its own."""
        for index, cell in self.cells.items():
            self.state[index] = cell.cell_contents
        return self.state

    def goes_on(self) -> Any:
        """Whether the loop wants the next item."""
        return True if self.test is None else self.test(*self._current())

    def result(self) -> tuple[Any, ...]:
        """The state at the end of the loop."""
        return tuple(self._current())
