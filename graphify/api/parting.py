"""The first node of a graph for which an engine gives another value than the reference.

    found = first_node(graph, arrays, "native")
    found.node, found.values, found.turn

The engine is asked for all values of the graph at once. If a node with sub-graphs is the first that
differs, its loop bodies and branches are looked at likewise, each with what the reference gives
them, turn after turn.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphify.api.comparing import difference_of
from graphify.engines.base import get_engine
from graphify.ir.graph import Graph, Node, Value
from graphify.ir.interpret import observing, run
from graphify.ir.pretty import Printer, value_names
from graphify.location import SourceLoc

TURNS = 1000  # of a loop that are looked at one by one


@dataclass(frozen=True, slots=True)
class Parting:
    """A node, and what the reference and the engine give for it."""

    graph: Graph
    node: Node
    values: tuple[Any, Any]
    text: str
    turn: int | None = None  # of the innermost loop or map, counted from 1

    @property
    def place(self) -> SourceLoc | None:
        return self.node.source.resolve() if self.node.source is not None else None

    @property
    def name(self) -> str:
        """What the node's values are called in the text of the graph."""
        names = value_names(self.graph)
        return ", ".join(names.get(value, "?") for value in self.node.outputs)

    @property
    def node_text(self) -> str:
        return Printer().head(self.node, value_names(self.graph))


class _Seen:
    """The values of a run's own nodes, and what the graphs in them are run on."""

    def __init__(self) -> None:
        self.outputs: dict[Node, list[Any]] = {}
        self.inside: dict[Node, list[tuple[tuple[Value, ...], list[Any]]]] = {}
        self._frames: list[list[Any]] = []
        self._at: Node | None = None

    def enter(self, params: tuple[Value, ...], values: list[Any]) -> None:
        if not self._frames:
            self._frames.append(values)
        elif self._at is not None and len(self.inside.setdefault(self._at, [])) < TURNS:
            if any(g.params == params for _, g in self._at.subgraphs):
                self.inside[self._at].append((params, values[: len(params)]))

    def before(self, node: Node, inputs: list[Any], values: list[Any]) -> None:
        if values is self._frames[0]:
            self._at = node

    def after(self, node: Node, outputs: list[Any], values: list[Any]) -> None:
        if values is self._frames[0]:
            self.outputs[node], self._at = outputs, None


def first_node(
    graph: Graph, arrays: Sequence[Any], engine: str, turn: int | None = None
) -> Parting | None:
    """The first node that differs; None if all are the same when they are asked for."""
    seen = _Seen()
    try:
        with observing(seen), contextlib.redirect_stdout(io.StringIO()):
            run(graph, arrays)
    except Exception:  # noqa: BLE001 - an error of the run: what came before it is looked at
        pass
    for node, wanted, got in _both(graph, seen, arrays, engine):
        for want, have in zip(wanted, got, strict=True):
            text = difference_of(want, have)
            if text is not None:
                inner = _inside(node, seen, engine)
                return inner or Parting(graph, node, (want, have), text, turn)
    return None


def _both(
    graph: Graph, seen: _Seen, arrays: Sequence[Any], engine: str
) -> Iterator[tuple[Node, list[Any], list[Any]]]:
    """Each node that ran, with what the reference and the engine give for it."""
    kept = tuple(node for node in graph.nodes if node.specs)  # no raise, print and the like
    nodes = [node for node in kept if node in seen.outputs]
    values = tuple(value for node in nodes for value in node.outputs)
    if not values:
        return
    executable = get_engine(engine).compile(Graph(graph.params, kept, values, graph.name))
    with contextlib.redirect_stdout(io.StringIO()):
        results = iter(executable([np.asarray(a) for a in arrays]))
    for node in nodes:
        yield node, seen.outputs[node], [np.asarray(next(results)) for _ in node.specs]


def _inside(node: Node, seen: _Seen, engine: str) -> Parting | None:
    graphs = {g.params: g for _, g in node.subgraphs}
    turns: dict[tuple[Value, ...], int] = {}
    for params, arrays in seen.inside.get(node, ()):
        turn = turns[params] = turns.get(params, 0) + 1
        is_loop = node.op.name != "cond"
        found = first_node(graphs[params], arrays, engine, turn if is_loop else None)
        if found is not None:
            return found
    return None
