"""Batching: a graph of one lane becomes work on all lanes at once.

    results, batched = batch_graph(graph, [xs, w], [True, False], size)

An interpreter over the nodes of the graph: each value is a tensor and whether it has the lanes at
axis 0. A node none of whose inputs is batched is computed once. An op without batching rule becomes
a `map` over the lanes. Where the size of an axis differs from lane to lane, or where effects must
happen lane by lane, the whole graph becomes a `map`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphify.ir.bind import bind
from graphify.ir.graph import Graph, Node, Value, as_size
from graphify.ir.op import Op
from graphify.ir.replay import bind_at, replay, substitute_attrs, unify
from graphify.ir.sizes import Dim, SizeVar, dim_variables
from graphify.ir.tensor import Tensor
from graphify.ir.types import Spec, is_inexact
from graphify.location import standing_at
from graphify.ops import core
from graphify.ops.control import map_
from graphify.ops.elementwise import where
from graphify.ops.rules import pointwise
from graphify.ops.shape import as_dim
from graphify.transforms import build
from graphify.transforms.lane_names import replay_in_lane

Lanes = tuple[list[Tensor], list[bool]]  # results, and which of them have the lanes at axis 0
Rule = Callable[..., Lanes]  # (args, batched, size, **attrs)

# Batching rules of control-flow ops, which know of each result whether it is batched.
CONTROL: dict[str, Rule] = {}


def batch_graph(
    graph: Graph,
    args: Sequence[Tensor],
    batched: Sequence[bool],
    size: Dim,
    mask: Tensor | None = None,
) -> Lanes:
    """The results of `graph` for every lane, and which of them differ between lanes.

    Args:
        args: one per parameter; the batched ones have their lanes at axis 0.
        size: the number of lanes.
        mask: the lanes whose results count: the others must not divide by zero on the way, in the
            derivative neither.
    """
    if graph.effects or _ragged(graph, batched):
        return map_graph(graph, args, batched, size)
    if not any(batched):
        return replay(graph, args), [False] * len(graph.results)
    return _Batch(size, mask).run(graph, args, batched)


def spread_lanes(results: Sequence[Tensor], batched: Sequence[bool], size: Dim) -> list[Tensor]:
    """Results with the lanes at axis 0 of each."""
    return [
        r if b else core.broadcast_to(core.strong(r), shape=(size, *r.dims))
        for r, b in zip(results, batched, strict=True)
    ]


class _Batch:
    """One run of the interpreter: what is known of each value."""

    def __init__(self, size: Dim, mask: Tensor | None) -> None:
        self.size, self.mask = size, mask
        self.known: dict[Value, tuple[Tensor, bool]] = {}
        self.sizes: dict[SizeVar, Dim] = {}

    def run(self, graph: Graph, args: Sequence[Tensor], batched: Sequence[bool]) -> Lanes:
        for value, arg, on in zip(graph.params, args, batched, strict=True):
            self.learn(value, arg, on)
        for node in graph.nodes:
            results, flags = self.step(node)
            for value, result, on in zip(node.outputs, results, flags, strict=True):
                self.learn(value, result, on)
        pairs = [self.known[value] for value in graph.results]
        return [tensor for tensor, _ in pairs], [on for _, on in pairs]

    def learn(self, value: Value, tensor: Tensor, batched: bool) -> None:
        self.known[value] = (tensor, batched)
        unify(value.spec, tensor.dims[1:] if batched else tensor.dims, self.sizes)

    def step(self, node: Node) -> Lanes:
        args = [self.known[value][0] for value in node.inputs]
        batched = [self.known[value][1] for value in node.inputs]
        if node.op is as_size:
            if node.attrs["var"] not in self.sizes:
                self.sizes[node.attrs["var"]] = as_dim(args[0])
            return args, [False]
        attrs = substitute_attrs(node.attrs, self.sizes)
        if not any(batched):
            results = bind_at(node, args, attrs)
            results = list(results) if isinstance(results, tuple) else [results]
            return results, [False] * len(results)
        if self.mask is not None and node.op.name in _SINGULAR:
            args, batched = self.shielded(args, batched, self.mask, _SINGULAR[node.op.name])
        if self.mask is not None and node.op.name in ("call", "cond"):
            attrs = {**attrs, "mask": self.mask}
        with standing_at(node.source):
            return batch_op(node.op, args, batched, self.size, attrs)

    def shielded(
        self, args: Sequence[Tensor], batched: Sequence[bool], mask: Tensor, harmless: float
    ) -> Lanes:
        """Operands with a harmless number in the lanes that do not count. Without it their zero
        cotangents times an infinite derivative would be NaN, also in what all lanes share."""
        inner = [
            on or is_inexact(a.dtype) and not a.spec.weak
            for a, on in zip(args, batched, strict=True)
        ]
        wide = spread_lanes(
            args, [on or not asked for on, asked in zip(batched, inner, strict=True)], self.size
        )
        return [
            pick(mask, a, core.full((), harmless, a.dtype)) if on and is_inexact(a.dtype) else a
            for a, on in zip(wide, inner, strict=True)
        ], inner


# Elementwise ops with infinite values or derivatives at finite operands; where they have none.
_SINGULAR = dict.fromkeys(
    (
        *("divide", "remainder", "fmod", "power", "float_power", "reciprocal", "absolute", "hypot"),
        *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "logaddexp", "logaddexp2"),
        *("sqrt", "cbrt", "tan", "sinh", "cosh", "arcsin", "arccos", "arctanh", "arctan2"),
    ),
    0.5,
) | {"arccosh": 2.0}


def pick(pred: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """The lanes of `a` where `pred` holds, those of `b` elsewhere."""
    mask = core.reshape(pred, shape=(pred.dims[0], *(1,) * (a.ndim - 1))) if a.ndim > 1 else pred
    return where(mask, a, b)


def batch_op(
    op: Op, args: Sequence[Tensor], batched: Sequence[bool], size: Dim, attrs: dict[str, Any]
) -> Lanes:
    """An op on batched operands (at least one)."""
    rule = CONTROL.get(op.name)
    if rule is not None:
        return rule(args, batched, size, **attrs)
    if op.vmap is None:
        return map_op(op, args, batched, size, attrs)
    batching: Any = pointwise(lambda: op) if op.vmap == "pointwise" else op.vmap
    results = batching(args, batched, **attrs)
    results = list(results) if isinstance(results, (tuple, list)) else [results]
    return results, [True] * len(results)


# --- lane after lane ------------------------------------------------------------------------------


def map_graph(graph: Graph, args: Sequence[Tensor], batched: Sequence[bool], size: Dim) -> Lanes:
    """The graph lane after lane."""
    specs = build.param_specs(graph)
    rows = [build.strong_spec(s) for s, on in zip(specs, batched, strict=True) if on]
    fixed = [s for s, on in zip(specs, batched, strict=True) if not on]

    def lane(number: Tensor, *params: Tensor) -> list[Tensor]:
        return replay_in_lane(graph, _merge(params, batched), number)

    body = build.trace(lane, [_INDEX, *rows, *fixed], f"{graph.name}_lane")
    results = list(map_(*_sort(args, batched), length=size, body=body, xs=len(rows)))
    return results, [True] * len(results)


def map_op(
    op: Op, args: Sequence[Tensor], batched: Sequence[bool], size: Dim, attrs: dict[str, Any]
) -> Lanes:
    """One op lane after lane."""
    rows = [Spec(a.dims[1:], a.dtype) for a, on in zip(args, batched, strict=True) if on]
    fixed = [a.spec for a, on in zip(args, batched, strict=True) if not on]

    def lane(_: Tensor, *params: Tensor) -> list[Tensor]:
        result = bind(op, _merge(params, batched), attrs, view=False, convert=False)
        return list(result) if isinstance(result, tuple) else [result]

    body, captures = build.trace_inside(lane, [_INDEX, *rows, *fixed], f"{op.name}_lane")
    results = list(map_(*_sort(args, batched), *captures, length=size, body=body, xs=len(rows)))
    return results, [True] * len(results)


_INDEX = Spec((), np.dtype(np.int64))


def _sort(args: Sequence[Tensor], batched: Sequence[bool]) -> list[Tensor]:
    """Batched arguments first."""
    pairs = list(zip(args, batched, strict=True))
    return [a for a, on in pairs if on] + [a for a, on in pairs if not on]


def _merge(params: Sequence[Tensor], batched: Sequence[bool]) -> list[Tensor]:
    """The inverse of `_sort`."""
    rows, fixed = iter(params), iter(params[sum(batched) :])
    return [next(rows) if on else next(fixed) for on in batched]


# --- graphs that only a map can batch -------------------------------------------------------------


def _ragged(graph: Graph, batched: Sequence[bool]) -> bool:
    """Whether the length of some axis may differ from lane to lane."""
    reached = {value for value, on in zip(graph.params, batched, strict=True) if on}
    for node in graph.nodes:
        if not any(value in reached for value in node.inputs):
            continue
        if node.op is as_size or (_by_lanes(node) and _makes_sizes(node)):
            return True
        reached.update(node.outputs)
    return False


def _by_lanes(node: Node) -> bool:
    return node.op.vmap is None or node.op.name in CONTROL


def _makes_sizes(node: Node) -> bool:
    """Whether a result has an axis whose length the node itself finds out."""
    inputs = [value.spec.shape for value in node.inputs]
    known = set(dim_variables((*inputs, *(v for v in node.attrs.values() if isinstance(v, tuple)))))
    known |= set(dim_variables(tuple(v for k, v in node.attrs.items() if k == "length")))
    return any(v not in known for spec in node.specs for v in dim_variables(spec.shape))
