"""Derivatives and batches of calls of recursive functions: calls of functions derived from them.

    d fact(n) = fact_vjp(n, ct)        # whose graph holds calls of fact and of fact_vjp

A derived function is made once per function and kept with it, so that the derivative of a call
inside the function finds the one that is being made: it closes on itself as the function does.
What it gives is settled before its graph is: a derivative for all that is asked for, zeros where
nothing flows. Lanes of a batch recur to depths of their own, so they run one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from graphify.ir.function import GraphFunction
from graphify.ir.graph import Graph
from graphify.ir.sizes import Dim
from graphify.ir.tensor import Tensor
from graphify.ir.types import Spec
from graphify.ops.control import set_rules
from graphify.ops.recursion import recursive_call
from graphify.transforms import build
from graphify.transforms.control import Maybe, asked, flags, present, spread
from graphify.transforms.jvp import jvp_graph
from graphify.transforms.lanes import everything_batched
from graphify.transforms.vjp import vjp_graph
from graphify.transforms.vmap import CONTROL, Lanes, map_op

Mask = tuple[bool, ...]


def _derived(
    function: GraphFunction,
    key: tuple[Any, ...],
    params: Sequence[Spec],
    results: Sequence[Spec],
    make: Callable[[Graph], Graph],
) -> GraphFunction:
    """The function derived from another one under this key, made at its first use."""
    known = function.notes.get(key)
    if known is None:
        name = f"{function.name}_{key[0]}"
        known = function.notes[key] = GraphFunction(name, tuple(params), tuple(results))
        known.complete(lambda: make(function.graph))
    return known


def vjp_function(function: GraphFunction, wanted: Mask, given: Mask) -> GraphFunction:
    """The cotangents of the `wanted` parameters, from those of the `given` results."""
    function = build.pure(function)
    own = build.closed(function.params)
    extra = build.own_sizes([s for s, on in zip(function.results, given, strict=True) if on], own)
    results = [build.strong_spec(spec) for spec, on in zip(own, wanted, strict=True) if on]
    return _derived(
        function,
        ("vjp", wanted, given),
        [*own, *extra],
        results,
        lambda graph: vjp_graph(graph, wanted, given, wanted).graph,
    )


def jvp_function(function: GraphFunction, given: Mask) -> GraphFunction:
    """The tangents of all results that have one, from those of the `given` parameters."""
    function = build.pure(function)
    own = build.closed(function.params)
    extra = [build.strong_spec(spec) for spec, on in zip(own, given, strict=True) if on]
    emit = build.inexact(function.results)
    results = [build.strong_spec(s) for s, on in zip(function.results, emit, strict=True) if on]
    return _derived(
        function,
        ("jvp", given),
        [*own, *extra],
        results,
        lambda graph: jvp_graph(graph, given, emit).graph,
    )


def _call_vjp(
    gs: Maybe,
    ys: Any,
    *operands: Tensor,
    function: GraphFunction,
    wanted: Sequence[bool] | None = None,
) -> list[Tensor | None]:
    want = asked(operands, wanted)
    if not any(want):
        return [None] * len(operands)
    derived = vjp_function(function, want, flags(gs))
    return spread(recursive_call.several(*operands, *present(gs), function=derived), want)


def _call_jvp(
    ts: Maybe, ys: Any, *operands: Tensor, function: GraphFunction
) -> list[Tensor | None]:
    emit = build.inexact(function.results)
    if not any(emit):
        return [None] * len(emit)
    derived = jvp_function(function, flags(ts))
    return spread(recursive_call.several(*operands, *present(ts), function=derived), emit)


def _call_lanes(
    args: Sequence[Tensor], batched: Sequence[bool], size: Dim, function: GraphFunction
) -> Lanes:
    return map_op(recursive_call, args, batched, size, {"function": function})


CONTROL[recursive_call.name] = _call_lanes
set_rules(
    recursive_call, vjp=_call_vjp, jvp=_call_jvp, vmap=everything_batched(recursive_call.name)
)
