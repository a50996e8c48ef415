"""Reductions and running totals: loops with accumulators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphify.engines.native.loops.numbers import identity_of, zero
from graphify.engines.native.loops.program import (
    INDEX,
    ONE,
    ZERO,
    Apply,
    Const,
    Expr,
    If,
    Reduce,
    Set,
    compare,
    index,
    plus,
    select,
    times,
)
from graphify.engines.native.lower.arrays import ArrayValue, Index, Lens
from graphify.engines.native.lower.elementwise import cast, mismatch
from graphify.engines.native.lower.lowering import Declined, Lowering, rule
from graphify.ir.graph import Node, Value
from graphify.ir.types import bfloat16, is_complex, is_float, is_inexact

BOOL = np.dtype(np.bool_)


_REDUCTIONS = {
    "reduce_sum": "add",
    "reduce_prod": "multiply",
    "reduce_max": "maximum",
    "reduce_min": "minimum",
    "reduce_any": "logical_or",
    "reduce_all": "logical_and",
}


@rule(*_REDUCTIONS)
def _reduce(low: Lowering, node: Node) -> None:
    op, dtype = _REDUCTIONS[node.op.name], node.specs[0].dtype
    if op in ("maximum", "minimum"):
        _not_empty(low, node)
    array = low.array(node.inputs[0])
    reduce(low, node, array, node.attrs["axes"], op, identity_of(op, dtype))


def _not_empty(low: Lowering, node: Node) -> None:
    """An extreme of nothing is an error, as in NumPy also if nobody asks for one."""
    inner = _product(low.array(node.inputs[0]), node.attrs["axes"])
    if not (isinstance(inner, Const) and inner.value):
        mismatch(low, compare("equal", inner, ZERO), node)


def _product(array: ArrayValue, axes: Sequence[int]) -> Expr:
    total: Expr = ONE
    for axis in axes:
        total = times(total, array.shape[axis])
    return total


def _others(array: ArrayValue, axes: Sequence[int]) -> list[int]:
    return [a for a in range(len(array.shape)) if a not in axes]


def reduce(
    low: Lowering,
    node: Node,
    array: ArrayValue,
    axes: Sequence[int],
    op: str,
    start: Const,
) -> None:
    """Reduce `axes` of an array, truth values of its elements for the logical operations."""
    dtype = start.dtype
    keepdims = node.attrs.get("keepdims", False)
    kept = _others(array, axes)
    computed = (
        [ONE if a in axes else d for a, d in enumerate(array.shape)]
        if keepdims
        else [array.shape[a] for a in kept]
    )
    shape = low.dims(node.specs[0].shape, computed)
    place = {a: (a if keepdims else kept.index(a)) for a in kept}
    order = _order(array)
    if kept and axes and order[-1] not in axes and dtype != bfloat16 and dtype != np.float16:
        _by_rows(low, node, array, axes, place, shape, op, start)
        return

    ordered = is_complex(dtype) and op in ("maximum", "minimum")  # the first NaN is the result

    def total(at: Index) -> Expr:
        accumulator = low.variable("total", start)
        kind = "serial" if ordered else "reduce"
        along = axes if ordered else [a for a in order if a in axes]
        with low.loops([array.shape[a] for a in along], kind) as inner:
            full = _joined(at, inner, place, along, len(array.shape))
            low.emit(Reduce(accumulator, op, cast(array.at(full), dtype), low.source))
        return accumulator

    low.fill(Value(node), shape, total)


def _order(array: ArrayValue) -> tuple[int, ...]:
    """The axes in the order of memory."""
    known = array.order if isinstance(array, Lens) else None
    return known or tuple(range(len(array.shape)))


def _joined(
    at: Index, inner: Index, place: dict[int, int], axes: Sequence[int], rank: int
) -> Index:
    return tuple(at[place[a]] if a in place else inner[axes.index(a)] for a in range(rank))


def _by_rows(
    low: Lowering,
    node: Node,
    array: ArrayValue,
    axes: Sequence[int],
    place: dict[int, int],
    shape: Index,
    op: str,
    start: Const,
) -> None:
    """Rows are added to rows: the axis along which memory runs stays innermost."""
    lens = low.target(Value(node), shape)
    with low.loops(shape) as at:
        low.store(lens, at, start)
    inmost = _order(array)[-1]
    order = [*(a for a in place if a != inmost), *axes, inmost]
    index_of: dict[int, Expr] = {}
    managers: list[Any] = []
    for a in order:
        kind = "accumulate" if a in axes else "parallel"
        managers.append(low.loop(array.shape[a], "ijklmnopq"[min(len(managers), 8)], kind))
        index_of[a] = managers[-1].__enter__()
    full = tuple(index_of[a] for a in range(len(array.shape)))
    spot: list[Expr] = [ZERO] * len(shape)
    for a, position in place.items():
        spot[position] = index_of[a]
    value = cast(array.at(full), start.dtype)
    low.store(lens, tuple(spot), Apply(op, (lens.at(tuple(spot)), value), start.dtype))
    for manager in reversed(managers):
        manager.__exit__(None, None, None)
    low.define(Value(node), lens)


# --- places of extremes ---------------------------------------------------------------------------


@rule("argmax", "argmin")
def _arg_extreme(low: Lowering, node: Node) -> None:
    array, axis = low.array(node.inputs[0]), node.attrs["axis"]
    length = array.shape[axis]
    if not (isinstance(length, Const) and length.value):
        mismatch(low, compare("equal", length, ZERO), node)
    kept = _others(array, (axis,))
    shape = low.dims(node.specs[0].shape, [array.shape[a] for a in kept])
    better = "greater" if node.op.name == "argmax" else "less"

    def place(at: Index) -> Expr:
        first = (*at[:axis], ZERO, *at[axis:])
        best = low.variable("best", array.at(first))
        where = low.variable("where", ZERO)
        with low.loop(length, "i", "serial") as i:
            x = low.let(array.at((*at[:axis], i, *at[axis:])), "x")
            wins = compare(better, x, best)
            if is_inexact(array.dtype):  # the first NaN wins over everything
                nan = Apply("isnan", (x,), BOOL)
                known = Apply("logical_not", (Apply("isnan", (best,), BOOL),), BOOL)
                wins = Apply("logical_and", (Apply("logical_or", (wins, nan), BOOL), known), BOOL)
            low.emit(If(wins, (Set(best, x), Set(where, i)), (), low.source))
        return where

    def place_by_lanes(at: Index) -> Expr:
        """The extreme, then the first place that holds it: two loops, but both in lanes."""
        op = "maximum" if node.op.name == "argmax" else "minimum"
        best = low.variable("best", identity_of(op, array.dtype))
        with low.loop(length, "i", "reduce") as i:
            low.emit(Reduce(best, op, array.at((*at[:axis], i, *at[axis:])), low.source))
        extreme = low.let(best, "best")
        where = low.variable("where", length)
        with low.loop(length, "i", "reduce") as i:
            x = array.at((*at[:axis], i, *at[axis:]))
            holds = compare("equal", x, extreme)
            if is_float(array.dtype):  # if there is a NaN, the first one
                holds = Apply("logical_or", (holds, Apply("isnan", (x,), BOOL)), BOOL)
            low.emit(Reduce(where, "minimum", select(holds, i, length), low.source))
        return where

    if isinstance(length, Const) and not length.value:
        raise Declined  # no first element to begin with, and no result either
    in_lanes = axis == len(array.shape) - 1 and not is_complex(array.dtype)
    low.fill(Value(node), shape, place_by_lanes if in_lanes else place)


# --- running totals -------------------------------------------------------------------------------

_RUNNING = {
    "cumsum": "add",
    "cumprod": "multiply",
    "cummax": "maximum",
    "cummin": "minimum",
}


@rule(*_RUNNING)
def _running(low: Lowering, node: Node) -> None:
    op, dtype = _RUNNING[node.op.name], node.specs[0].dtype
    array, axis = low.array(node.inputs[0]), node.attrs["axis"]
    lens = low.target(Value(node), array.shape)
    start = identity_of(op, dtype)
    if axis == len(array.shape) - 1:
        with low.loops(array.shape[:-1]) as at:
            total = low.variable("total", start)
            with low.loop(array.shape[-1], "j", "serial") as j:
                x = array.at((*at, j))
                low.emit(Set(total, Apply(op, (total, x), dtype)))
                low.store(lens, (*at, j), total)
    else:
        _running_rows(low, array, axis, lambda x, y, at: Apply(op, (y, x), dtype), lens)
    low.define(Value(node), lens)


def _running_rows(low: Lowering, array: ArrayValue, axis: int, step: Any, lens: Any) -> None:
    """The first row is copied; each other one is made of itself and the row before."""
    shape = array.shape
    first = (*shape[:axis], shape[axis], *shape[axis + 1 :])
    with low.loops(shape[:axis]) as lead, low.loop(first[axis], "i", "serial") as i:
        with low.loops(shape[axis + 1 :]) as rest:
            at = (*lead, i, *rest)
            before = (*lead, Apply("maximum", (plus(i, index(-1)), ZERO), INDEX), *rest)
            x = array.at(at)
            combined = step(x, lens.at(before), at)
            fresh = compare("equal", i, ZERO)
            low.store(lens, at, Apply("where", (fresh, x, combined), array.dtype))


@rule("recurrence")
def _recurrence(low: Lowering, node: Node) -> None:
    a, b = (low.array(value) for value in node.inputs)
    for x, y in zip(a.shape, b.shape, strict=True):
        if x != y:
            mismatch(low, compare("not_equal", x, y), node)
    axis, dtype = node.attrs["axis"], node.specs[0].dtype
    lens = low.target(Value(node), b.shape)

    def step(x: Expr, y: Expr, at: Index) -> Expr:
        return Apply("add", (x, Apply("multiply", (a.at(at), y), dtype)), dtype)

    if axis < len(b.shape) - 1:
        _running_rows(low, b, axis, step, lens)
    else:
        with low.loops(b.shape[:-1]) as at:
            before = low.variable("y", zero(dtype))
            with low.loop(b.shape[-1], "j", "serial") as j:
                x = b.at((*at, j))
                combined = step(x, before, (*at, j))
                fresh = compare("equal", j, ZERO)
                low.emit(Set(before, Apply("where", (fresh, x, combined), dtype)))
                low.store(lens, (*at, j), before)
    low.define(Value(node), lens)


@rule("sum_to")
def _sum_to(low: Lowering, node: Node) -> None:
    array, shape = low.array(node.inputs[0]), low.dims(node.attrs["shape"])
    lead = len(array.shape) - len(shape)
    axes, unsure = list(range(lead)), dict[int, Expr]()  # unsure: how many turns, by axis
    for a, target in enumerate(shape):
        length = array.shape[a + lead]
        if target == length:
            continue
        if target != ONE:  # whether this axis was repeated only the run knows
            _repeated_or_kept(low, length, target)
            repeated = compare("equal", target, ONE)
            unsure[a + lead] = low.let(select(repeated, length, ONE), "count")
        axes.append(a + lead)
    if not axes:
        low.define(Value(node), array)
        return
    start = identity_of("add", array.dtype)
    kept = [a for a in range(len(array.shape)) if a not in axes]

    if kept and _order(array)[-1] not in axes and not unsure:
        place = {a: a - lead for a in kept}
        _by_rows(low, node, array, axes, place, shape, "add", start)
        return

    def total(at: Index) -> Expr:
        accumulator = low.variable("total", start)
        with low.loops([unsure.get(a, array.shape[a]) for a in axes], "reduce") as inner:
            full = [at[a - lead] if a in kept else ZERO for a in range(len(array.shape))]
            for a, i in zip(axes, inner, strict=True):  # one of the two is 0 where unsure
                full[a] = plus(at[a - lead], i) if a in unsure else i
            low.emit(Reduce(accumulator, "add", array.at(tuple(full)), low.source))
        return accumulator

    low.fill(Value(node), shape, total)


def _repeated_or_kept(low: Lowering, length: Expr, target: Expr) -> None:
    wrong = Apply(
        "logical_and",
        (compare("not_equal", length, target), compare("not_equal", target, ONE)),
        BOOL,
    )
    text = "cannot sum an axis of length {} to one of length {}"
    low.fail(wrong, ValueError, text, length, target)
