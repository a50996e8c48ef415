"""Whether two functions do the same: their graphs are alike node by node.

same_function(one, other)      # True: one may be called in place of the other

A function that is called at two places of a program is traced at both. Node by node is enough: one
code traced twice comes out in one order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graphify.ir.function import GraphFunction
from graphify.ir.graph import Graph, Node, Value, freeze
from graphify.ir.sizes import Dim, Size, SizeVar, size, substitute
from graphify.ir.types import Spec


def same_function(one: GraphFunction, other: GraphFunction) -> bool:
    """Whether two complete functions take, give and do the same."""
    return _Pairs().functions(one, other)


@dataclass(slots=True)
class _Pairs:
    """What stands in the other one for each value, size and function met so far."""

    values: dict[Value, Value] = field(default_factory=dict)
    sizes: dict[SizeVar, Dim] = field(default_factory=dict)
    known: dict[GraphFunction, GraphFunction] = field(default_factory=dict)

    def functions(self, one: GraphFunction, other: GraphFunction) -> bool:
        if one in self.known:
            return self.known[one] is other
        self.known[one] = other
        alike = (one.name, one.effects) == (other.name, other.effects)
        return (
            alike
            and self.graphs(one.graph, other.graph)
            and self.specs(one.params, other.params)
            and self.specs(one.results, other.results)
        )

    def graphs(self, one: Graph, other: Graph) -> bool:
        counts = [(len(g.params), len(g.nodes), len(g.results)) for g in (one, other)]
        if counts[0] != counts[1]:
            return False
        return (
            all(self.meet(a, b) for a, b in zip(one.params, other.params, strict=True))
            and all(self.nodes(a, b) for a, b in zip(one.nodes, other.nodes, strict=True))
            and self.all_known(one.results, other.results)
        )

    def meet(self, a: Value, b: Value) -> bool:
        """From now on `b` stands for `a`."""
        self.values[a] = b
        return self.specs([a.spec], [b.spec])

    def all_known(self, one: Sequence[Value], other: Sequence[Value]) -> bool:
        return [self.values[value] for value in one] == list(other)

    def nodes(self, a: Node, b: Node) -> bool:
        counts = [(n.op, len(n.inputs), len(n.specs), n.attrs.keys()) for n in (a, b)]
        return (
            counts[0] == counts[1]
            and self.all_known(a.inputs, b.inputs)
            and all(self.meet(x, y) for x, y in zip(a.outputs, b.outputs, strict=True))
            and self.attrs(a.attrs, b.attrs)
        )

    def attrs(self, one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
        return all(self.attr(value, other[name]) for name, value in one.items())

    def attr(self, a: Any, b: Any) -> bool:
        if isinstance(a, SizeVar) and isinstance(b, SizeVar):
            return self.sizes.setdefault(a, size(b)) == size(b)
        if isinstance(a, Graph):
            return isinstance(b, Graph) and self.graphs(a, b)
        if isinstance(a, GraphFunction):
            return isinstance(b, GraphFunction) and self.functions(a, b)
        return bool(freeze(substitute(a, self.sizes)) == freeze(b))

    def specs(self, one: Sequence[Spec], other: Sequence[Spec]) -> bool:
        if len(one) != len(other):
            return False
        return all(self.spec(a, b) for a, b in zip(one, other, strict=True))

    def spec(self, a: Spec, b: Spec) -> bool:
        if (a.dtype, a.weak, a.ndim) != (b.dtype, b.weak, b.ndim):
            return False
        for old, new in zip(a.shape, b.shape, strict=True):
            variable = old.as_variable() if isinstance(old, Size) else None
            if variable is not None:
                self.sizes.setdefault(variable, new)
        return bool(substitute(a.shape, self.sizes) == b.shape)
