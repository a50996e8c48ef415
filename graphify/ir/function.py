"""A function of the graph: what a recursive function of the user's becomes, once.

    function = GraphFunction("fact", params=(i64,), results=(i64,))
    # ... a graph with nodes recursive_call(n, function=function) in it ...
    function.complete(graph)

A sub-graph that a node holds cannot hold itself. A `GraphFunction` can stand for a graph that is
still being built: what it takes and gives is known before its graph is. It is an attribute of
nodes, compares by identity, and is no sub-graph of theirs: passes over nested graphs stop there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from graphify.errors import InternalError
from graphify.ir.types import Spec

if TYPE_CHECKING:
    from graphify.ir.graph import Graph


class GraphFunction:
    """A named graph that may call itself.

    Args:
        params, results: what it takes and gives. A size in `results` that no parameter binds is
            known by the run only.
        effects: whether a call prints, checks or the like.
    """

    __slots__ = ("name", "params", "results", "effects", "notes", "_graph", "_make", "__weakref__")

    def __init__(
        self, name: str, params: tuple[Spec, ...], results: tuple[Spec, ...], effects: bool = False
    ) -> None:
        self.name, self.params, self.results, self.effects = name, params, results, effects
        self.notes: dict[Any, Any] = {}  # what engines and transformations keep with the function
        self._graph: Graph | None = None
        self._make: Callable[[], Graph] | None = None

    def complete(self, graph: Graph | Callable[[], Graph]) -> None:
        """Give the function its graph, or what makes it when it is first asked for."""
        if callable(graph):
            self._make = graph
        else:
            self._graph = graph

    @property
    def complete_yet(self) -> bool:
        """Whether its graph is known."""
        return self._graph is not None or self._make is not None

    @property
    def graph(self) -> Graph:
        if self._graph is None:
            if self._make is None:
                raise InternalError(f"function {self.name} is used before its graph is complete")
            make, self._make = self._make, None  # what it makes may call the function
            self._graph = make()
        return self._graph

    def __repr__(self) -> str:
        return f"<function {self.name}>"
