"""Running a graph's nodes again on tensors: the one interpreter behind every transformation.

    replay(graph, args)    # binds each node to tensors: records in the current trace, or evaluates

Active tapes hear of each op, so the derivative of a graph is a replay under a tape; a pass that
rewrites nodes gives `replay` a `rule`. Sizes are carried over: where a parameter's size variable
meets another size, attributes follow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from graphify.ir.bind import bind
from graphify.ir.graph import Graph, Node, Value, as_size
from graphify.ir.sizes import Dim, SizeVar, substitute
from graphify.ir.tensor import Tensor, axis_length
from graphify.ir.types import Spec

Rule = Callable[
    [Node, list[Tensor], dict[str, Any]], Any
]  # results, or NotImplemented for "as it is"


def replay(graph: Graph, args: Sequence[Tensor], rule: Rule | None = None) -> list[Tensor]:
    """The results of `graph` on tensors, node by node in order."""
    known: dict[Value, Tensor] = {}
    sizes: dict[SizeVar, Dim] = {}
    for value, arg in zip(graph.params, args, strict=True):
        _learn(value, arg, known, sizes)
    for node in graph.nodes:
        inputs = [known[value] for value in node.inputs]
        for value, tensor in zip(node.outputs, _apply(node, inputs, sizes, rule), strict=True):
            _learn(value, tensor, known, sizes)
    return [known[value] for value in graph.results]


def _apply(
    node: Node, inputs: list[Tensor], sizes: dict[SizeVar, Dim], rule: Rule | None
) -> Sequence[Tensor]:
    if node.op is as_size:
        if node.attrs["var"] not in sizes:  # an axis may have told already
            sizes[node.attrs["var"]] = axis_length(inputs[0])
        return [inputs[0]]
    attrs = substitute_attrs(node.attrs, sizes)
    results = NotImplemented if rule is None else rule(node, inputs, attrs)
    if results is NotImplemented:
        results = bind_at(node, inputs, attrs)
    return results if isinstance(results, (tuple, list)) else [results]


def bind_at(node: Node, inputs: Sequence[Tensor], attrs: dict[str, Any]) -> Any:
    """Bind the node's op without promotion (its operands are already converted)."""
    return bind(node.op, inputs, attrs, view=False, convert=False, source=node.source)


def substitute_attrs(attrs: Mapping[str, Any], sizes: Mapping[SizeVar, Dim]) -> dict[str, Any]:
    return {name: substitute(value, sizes) for name, value in attrs.items()}


def _learn(
    value: Value, tensor: Tensor, known: dict[Value, Tensor], sizes: dict[SizeVar, Dim]
) -> None:
    known[value] = tensor
    unify(value.spec, tensor.dims, sizes)


def unify(spec: Spec, dims: Sequence[Dim], sizes: dict[SizeVar, Dim]) -> None:
    """Learn what the spec's bare size variables are called here."""
    for inner, outer in zip(spec.shape, dims, strict=True):
        if not isinstance(inner, int) and (variable := inner.as_variable()) is not None:
            sizes.setdefault(variable, outer)
