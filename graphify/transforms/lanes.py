"""Batching rules of control flow.

A branch or loop whose decision is the same for all lanes stays what it is, over batched sub-graphs.
Where lanes decide differently, a branch computes both sides and picks, and a loop turns while any
lane is active, keeping the values of the others. Sides and turns that a lane would not have run
must not be able to fail for it; where they can, the lanes run one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphify.ir import safety
from graphify.ir.graph import Graph, Node
from graphify.ir.sizes import Dim, fresh
from graphify.ir.tensor import Tensor
from graphify.ir.types import BOOL, Spec
from graphify.ops import core
from graphify.ops.control import call, cond, loop, map_, set_rules, while_
from graphify.ops.elementwise import greater, logical_and, logical_not
from graphify.ops.recursion import recursive_call
from graphify.ops.shape import move_axis
from graphify.transforms import build
from graphify.transforms.control import either
from graphify.transforms.vmap import CONTROL, Lanes, batch_graph, map_op, pick, spread_lanes

# --- sub-graphs -----------------------------------------------------------------------------------


def lane_count(size: Dim) -> Dim:
    """The number of lanes as a sub-graph knows it: a closed graph has its own name for a size."""
    return size if isinstance(size, int) else fresh("lanes")


def batched_specs(specs: Sequence[Spec], batched: Sequence[bool], size: Dim) -> list[Spec]:
    return [
        Spec((size, *s.shape), s.dtype) if on else s for s, on in zip(specs, batched, strict=True)
    ]


def batched_flags(graph: Graph, batched: Sequence[bool], size: Dim) -> tuple[bool, ...]:
    """Which results of a sub-graph are batched."""
    return _batched(graph, batched, lane_count(size), None)[1]


def batched_subgraph(
    graph: Graph, batched: Sequence[bool], size: Dim, emit: Sequence[bool]
) -> Graph:
    """A sub-graph on batched parameters; the results in `emit` are batched, the others are not."""
    return _batched(graph, batched, lane_count(size), tuple(emit))[0]


def _batched(
    graph: Graph, batched: Sequence[bool], size: Dim, emit: tuple[bool, ...] | None
) -> tuple[Graph, tuple[bool, ...]]:
    found: list[bool] = []

    def function(*args: Tensor) -> list[Tensor]:
        results, flags = batch_graph(graph, args, batched, size)
        found.extend(flags)
        if emit is None:
            return results
        done = [on or not asked for on, asked in zip(flags, emit, strict=True)]
        return spread_lanes(results, done, size)

    specs = batched_specs(build.param_specs(graph), batched, size)
    return build.trace(function, specs, f"{graph.name}_batch"), tuple(found)


# --- call and cond --------------------------------------------------------------------------------


def _call(
    args: Sequence[Tensor],
    batched: Sequence[bool],
    size: Dim,
    body: Graph,
    mask: Tensor | None = None,
) -> Lanes:
    return batch_graph(body, args, batched, size, mask)


def _cond(
    args: Sequence[Tensor],
    batched: Sequence[bool],
    size: Dim,
    true: Graph,
    false: Graph,
    mask: Tensor | None = None,
) -> Lanes:
    if batched[0]:
        return _both_sides(args, batched, size, true, false, mask)
    inside = batched[1:]
    emit = either(*(batched_flags(branch, inside, size) for branch in (true, false)))
    sides = [batched_subgraph(branch, inside, size, emit) for branch in (true, false)]
    return list(cond(*args, true=sides[0], false=sides[1])), list(emit)


def _both_sides(
    args: Sequence[Tensor],
    batched: Sequence[bool],
    size: Dim,
    true: Graph,
    false: Graph,
    outer: Tensor | None,
) -> Lanes:
    if not (cannot_fail(true) and cannot_fail(false)):
        return map_op(cond, args, batched, size, {"true": true, "false": false})
    pred, *operands = args
    sides = []
    for branch, mask in ((true, pred), (false, logical_not(pred))):
        asked = mask if outer is None else logical_and(mask, outer)
        sides.append(batch_graph(branch, operands, batched[1:], size, asked))
    pairs = zip(*(spread_lanes(*side, size) for side in sides), strict=True)
    results = [pick(pred, a, b) for a, b in pairs]
    return results, [True] * len(results)


# --- loops ----------------------------------------------------------------------------------------


def _carried(
    body: Graph, batched: Sequence[bool], carry: int, size: Dim, lead: Sequence[bool]
) -> tuple[bool, ...]:
    """Which operands are batched once the loop has turned (`lead`: flags of the loop's index)."""
    state = tuple(batched)
    while True:
        flags = batched_flags(body, (*lead, *state), size)[:carry]
        grown = (*either(state[:carry], flags), *state[carry:])
        if grown == state:
            return state
        state = grown


def _loop(
    args: Sequence[Tensor],
    batched: Sequence[bool],
    size: Dim,
    length: Dim,
    body: Graph,
    carry: int,
    xs: int,
) -> Lanes:
    state = _carried(body, batched, carry, size, (False,))
    inside = (False, *state)
    emit = (*state[:carry], *batched_flags(body, inside, size)[carry:])
    turn = batched_subgraph(body, inside, size, emit)
    operands = spread_lanes(
        args[:carry], [a or not b for a, b in zip(batched, state[:carry], strict=False)], size
    )
    for x, on in zip(args[carry : carry + xs], batched[carry:], strict=False):
        operands.append(move_axis(x, 1, 0) if on else x)
    operands += args[carry + xs :]
    results = list(loop(*operands, length=length, body=turn, carry=carry, xs=xs))
    return _rows_behind_lanes(results, emit, carry), list(emit)


def _rows_behind_lanes(results: list[Tensor], emit: Sequence[bool], carry: int) -> list[Tensor]:
    """Stacked results come with the turns at axis 0 and the lanes at axis 1."""
    return [
        move_axis(r, 1, 0) if on and k >= carry else r
        for k, (r, on) in enumerate(zip(results, emit, strict=True))
    ]


def _map(
    args: Sequence[Tensor], batched: Sequence[bool], size: Dim, length: Dim, body: Graph, xs: int
) -> Lanes:
    inside = (False, *batched)
    emit = batched_flags(body, inside, size)
    turn = batched_subgraph(body, inside, size, emit)
    rows = [move_axis(x, 1, 0) if on else x for x, on in zip(args[:xs], batched, strict=False)]
    results = list(map_(*rows, *args[xs:], length=length, body=turn, xs=xs))
    return _rows_behind_lanes(results, emit, 0), list(emit)


def _while(
    args: Sequence[Tensor], batched: Sequence[bool], size: Dim, cond: Graph, body: Graph, carry: int
) -> Lanes:
    state = _carried(body, batched, carry, size, ())
    if batched_flags(cond, state, size)[0]:
        return _while_any(args, batched, size, cond, body, carry)
    emit = state[:carry]
    start = spread_lanes(
        args[:carry], [a or not b for a, b in zip(batched, emit, strict=False)], size
    )
    test = batched_subgraph(cond, state, size, (False,))
    turn = batched_subgraph(body, state, size, emit)
    return list(while_(*start, *args[carry:], cond=test, body=turn, carry=carry)), list(emit)


def _while_any(
    args: Sequence[Tensor], batched: Sequence[bool], size: Dim, cond: Graph, body: Graph, carry: int
) -> Lanes:
    """Turn while any lane is active; lanes that are done keep their values."""
    growing = any(p.spec.shape != r.shape for p, r in zip(body.params, body.specs, strict=False))
    if growing or not (cannot_fail(cond) and cannot_fail(body)):
        return map_op(while_, args, batched, size, {"cond": cond, "body": body, "carry": carry})
    state = (*[True] * carry, *batched[carry:])
    lanes = lane_count(size)
    specs = [Spec((lanes,), BOOL), *batched_specs(build.param_specs(body), state, lanes)]

    def test(*values: Tensor) -> Tensor:
        results, flags = batch_graph(cond, values, state, lanes)
        return spread_lanes(results, flags, lanes)[0]

    def any_active(active: Tensor, *values: Tensor) -> list[Tensor]:
        count = core.sum_to(core.cast(active, dtype=np.dtype(np.int64)), shape=())
        return [greater(count, 0)]

    def turn(active: Tensor, *values: Tensor) -> list[Tensor]:
        new = spread_lanes(*batch_graph(body, values, state, lanes, active), lanes)
        kept = [pick(active, n, old) for n, old in zip(new, values, strict=False)]
        return [test(*kept, *values[carry:]), *kept]

    start = spread_lanes(args[:carry], batched[:carry], size)
    operands = [*start, *args[carry:]]
    first, flags = batch_graph(cond, operands, state, size)
    results = while_(
        *spread_lanes(first, flags, size),
        *operands,
        cond=build.trace(any_active, specs, f"{cond.name}_any"),
        body=build.trace(turn, specs, f"{body.name}_lanes"),
        carry=carry + 1,
    )
    return list(results[1:]), [True] * carry


# --- what a lane may run without being asked ------------------------------------------------------


def cannot_fail(graph: Graph) -> bool:
    """Whether no input makes the graph raise: then it may run for lanes that do not ask for it."""
    return not graph.effects and all(map(_node_cannot_fail, graph.nodes))


def _node_cannot_fail(node: Node) -> bool:
    if node.op.extra.get("contained"):
        return True
    if node.op.extra.get("control"):  # a loop or recursion that nobody asked for need not end
        return node.op not in (while_, recursive_call) and all(
            cannot_fail(inner) for _, inner in node.subgraphs
        )
    if node.op.name in _COUNTING and node.specs[0].weak:
        return True  # a Python number of a lane is an element of an array, which never overflows
    return safety.cannot_fail(node)


_COUNTING = {"add", "subtract", "multiply", "negative"}


CONTROL.update({"call": _call, "cond": _cond, "loop": _loop, "map": _map, "while": _while})


def everything_batched(name: str) -> Any:
    """The rule as the op's `vmap` field has it: each result with the lanes at axis 0."""

    def vmap(args: Sequence[Tensor], batched: Sequence[bool], **attrs: Any) -> tuple[Tensor, ...]:
        size = next(a.dims[0] for a, on in zip(args, batched, strict=True) if on)
        return tuple(spread_lanes(*CONTROL[name](args, batched, size, **attrs), size))

    return vmap


for _op in (call, cond, loop, map_, while_):
    set_rules(_op, vmap=everything_batched(_op.name))
