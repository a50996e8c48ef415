"""The meaning of a graph: demand-driven evaluation with NumPy.

`run(graph, args)` computes what the results and the effects need, each node at most once; an op
nobody asks for is not run, so it cannot fail. This is the reference engine's whole semantics and
the `eval` of control-flow ops.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphify.errors import at
from graphify.ir.graph import Graph, Node, Value, attr_sizes
from graphify.ir.sizes import Dim, SizeVar, substitute


def run(graph: Graph, args: Sequence[Any]) -> list[Any]:
    """The results of `graph` on arrays `args`, one per parameter."""
    return Evaluation(graph, args).results()


class Evaluation:
    """One run of a graph: the values known so far."""

    def __init__(self, graph: Graph, args: Sequence[Any]) -> None:
        self.graph = graph
        self.values: dict[Value, Any] = dict(zip(graph.params, args, strict=True))
        self.done: set[Node] = {value.node for value in graph.params}
        self.bindings = graph.size_bindings()

    def results(self) -> list[Any]:
        for node in self.graph.nodes:
            if node.effects:
                self.demand(node)
        for value in self.graph.results:
            self.demand(value.node)
        return [self.values[value] for value in self.graph.results]

    def demand(self, target: Node) -> None:
        """Run `target` after everything it needs (an explicit stack: graphs are deep)."""
        stack = [target]
        while stack:
            node = stack[-1]
            missing = [v.node for v in self.needs(node) if v.node not in self.done]
            if node in self.done:
                stack.pop()
            elif missing:
                stack.extend(reversed(missing))
            else:
                stack.pop()
                self.step(node)

    def needs(self, node: Node) -> list[Value]:
        """The inputs of a node, and the values that bind the sizes its attributes use."""
        sizes = [self.bindings[variable][0] for variable in attr_sizes(node.attrs)]
        return [*node.inputs, *sizes]

    def step(self, node: Node) -> None:
        meaning = node.op.meaning(bool(node.specs) and node.specs[0].weak)
        assert meaning is not None, node.op
        args = [self.values[value] for value in node.inputs]
        attrs = self.concrete_attrs(node)
        try:
            with np.errstate(all="ignore"):
                result = meaning(*args, **attrs)
        except Exception as error:
            located = at(error, node.source.resolve() if node.source else None)
            raise located from (error.__cause__ if located is error else error)
        self.done.add(node)
        if not node.specs:
            return
        outputs = result if isinstance(result, (tuple, list)) else (result,)
        for value, output in zip(node.outputs, outputs, strict=True):
            self.values[value] = np.asarray(output)

    def concrete_attrs(self, node: Node) -> dict[str, Any]:
        attrs = dict(node.attrs)
        sizes = {variable: self.size_of(variable) for variable in attr_sizes(attrs)}
        if not sizes:
            return attrs
        return {name: v if name == "var" else substitute(v, sizes) for name, v in attrs.items()}

    def size_of(self, variable: SizeVar) -> Dim:
        value, axis = self.bindings[variable]
        array = self.values[value]
        return int(array) if axis is None else int(array.shape[axis])
