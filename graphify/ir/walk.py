"""Walking graphs without recursion: nested graphs, what a node needs, what results need.

    for inner in nested_graphs(graph): ...       # the graph itself last: inner ones come first
    live = Needed(graph, graph.results)          # every value that the results depend on

Graphs are deep (a hundred thousand nodes in a chain) and may nest deeply (a long chain of `elif`),
so nothing here uses Python's stack. A walk that is clearer as a recursion is written as a generator
that yields its recursive calls, and is run by `trampoline`.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from typing import Any, TypeAlias, TypeVar

from graphify.ir.function import GraphFunction
from graphify.ir.graph import Graph, Node, SizeBinding, Value, attr_sizes
from graphify.ir.sizes import SizeVar

T = TypeVar("T")
Call: TypeAlias = Generator[Any, Any, T]  # a recursive function: yields calls, returns its answer


def trampoline(call: Call[T]) -> T:
    """The answer of a recursive generator: what it yields is run and its answer sent back.

    >>> def depth(n):
    ...     return 0 if n == 0 else 1 + (yield depth(n - 1))
    >>> trampoline(depth(100_000))
    100000
    """
    stack: list[Call[Any]] = [call]
    answer: Any = None
    while True:
        try:
            child = stack[-1].send(answer)
        except StopIteration as stop:
            stack.pop()
            if not stack:
                result: T = stop.value
                return result
            answer = stop.value
        else:
            stack.append(child)
            answer = None


def nested_graphs(graph: Graph) -> list[Graph]:
    """The graph and every graph inside it, each once, inner ones before those that hold them."""
    order: list[Graph] = []
    state: dict[Graph, bool] = {}  # False: entered, True: listed
    stack = [graph]
    while stack:
        top = stack[-1]
        if top in state:
            stack.pop()
            if not state[top]:
                state[top] = True
                order.append(top)
            continue
        state[top] = False
        for node in top.nodes:
            stack.extend(inner for _, inner in node.subgraphs if inner not in state)
    return order


def functions_of(graph: Graph) -> list[GraphFunction]:
    """Every function that a graph calls, and those that these call, in order of appearance."""
    found: dict[GraphFunction, None] = {}
    waiting = [graph]
    while waiting:
        for inner in nested_graphs(waiting.pop()):
            for node in inner.nodes:
                for value in node.attrs.values():
                    if isinstance(value, GraphFunction) and value not in found:
                        found[value] = None
                        waiting.append(value.graph)
    return list(found)


def needs(node: Node, bindings: Mapping[SizeVar, SizeBinding]) -> Iterable[Value]:
    """The values a node needs to run: its inputs and what binds the sizes of its attributes."""
    sizes = {bindings[variable][0] for variable in attr_sizes(node.attrs)}
    return (*node.inputs, *sizes) if sizes else node.inputs


class Needed:
    """Every value that some roots depend on, themselves included; roots may be added.

    A node with several results is needed as a whole: one of its values stands for what it needs.
    What was walked is not walked again, so adding roots one by one costs one walk together.
    """

    def __init__(self, graph: Graph, roots: Iterable[Value] = ()) -> None:
        self.values: set[Value] = set()
        self._nodes: set[Node] = set()
        self._bindings = graph.size_bindings()
        self.add(roots)

    def __contains__(self, value: Value) -> bool:
        return value in self.values

    def add(self, roots: Iterable[Value]) -> None:
        stack = list(roots)
        while stack:
            value = stack.pop()
            if value in self.values:
                continue
            self.values.add(value)
            if value.node not in self._nodes:
                self._nodes.add(value.node)
                stack.extend(needs(value.node, self._bindings))


def count_nodes(graph: Graph) -> int:
    """Nodes of the graph and of all graphs inside it."""
    return sum(len(inner.nodes) for inner in nested_graphs(graph))
