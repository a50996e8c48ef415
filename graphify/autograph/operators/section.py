"""A part of a trace that can be taken back.

    section = Section(builder, function)
    with section:
        state = function(*state)    # recorded where it stands, like any other code
    section.nodes                   # what it recorded
    section.take_back()             # its writes and effects have not happened

What was recorded without effects stays: nobody asks for it any more, and a view that was looked at
meanwhile may rely on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from graphify.autograph.operators.heap import cells_of
from graphify.ir.graph import Builder, Node
from graphify.tracing.capture import root_of, undo
from graphify.tracing.guards import Place


class Section:
    """What is recorded and written while it is entered.

    Args:
        function: what the section calls; it may rebind names around it.
    """

    def __init__(self, builder: Builder, function: Callable[..., Any]) -> None:
        self.builder = builder
        self.start = len(builder.nodes)
        self.writes: dict[Any, Any] = {}
        self._known = set(builder.writes)
        places = [Place(cell, name, "cell") for name, cell in cells_of([function])]
        self._names = [(place, place.read()) for place in (*places, *_globals(builder))]

    def __enter__(self) -> Section:
        self._outer, self.builder.section = self.builder.section, self.writes
        return self

    def __exit__(self, *error: Any) -> None:
        self.builder.section = self._outer
        if self._outer is not None:
            for key, write in self.writes.items():
                self._outer.setdefault(key, write)

    @property
    def nodes(self) -> list[Node]:
        return self.builder.nodes[self.start :]

    def take_back(self) -> None:
        """Undo the writes and drop the effects."""
        undo(self.writes.values())
        undo((place, before) for place, before in self._names if place.read() is not before)
        for key in set(self.builder.writes) - self._known:
            del self.builder.writes[key]
        self.builder.forget(self.nodes)
        self.builder.nodes[self.start :] = _without_effects(self.nodes)


def _without_effects(nodes: Sequence[Node]) -> list[Node]:
    """The nodes without effects that do not rely on one with effects."""
    kept: list[Node] = []
    gone: set[Node] = set()
    for node in nodes:
        if node.effects or any(value.node in gone for value in node.inputs):
            gone.add(node)
        else:
            kept.append(node)
    return kept


def _globals(builder: Builder) -> Iterator[Place]:
    """Globals that converted functions of the trace rebind."""
    root = root_of(builder)
    for space in root.spaces.values() if root is not None else ():
        yield from (Place(space.twin, name, "global") for name in space.written)
