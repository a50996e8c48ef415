"""Sorting and searching in NumPy's order: NaN last, complex numbers by real and imaginary part.

Numbers are mapped to int64 keys in the same order, which TopK sorts stably and whatever the dtype.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphify.engines.tensorflow.frame import Frame
from graphify.engines.tensorflow.kernels.casting import (
    cast_to,
    imaginary_part,
    real_part,
)
from graphify.engines.tensorflow.kernels.elementwise import bits, choose, is_nan
from graphify.engines.tensorflow.kernels.reductions import from_last, last_axis, vector
from graphify.engines.tensorflow.kernels.table import KERNELS, kernel

LAST = 2**63 - 1


def order_key(frame: Frame, x: Any) -> Any:
    """An int64 per real number, in the order of the numbers; equal numbers have equal keys."""
    tf, raw = frame.tf, frame.raw
    if x.dtype == tf.uint64:
        low = frame.constant(-(2**63), tf.int64)
        return raw.BitwiseXor(x=raw.Bitcast(input=x, type=tf.int64), y=low)
    if not x.dtype.is_floating:
        return cast_to(frame, x, tf.int64)
    # Floats of one sign are ordered as their bits; of negative ones all but the sign are flipped.
    whole = raw.Cast(x=bits(frame, x), DstT=tf.int64)
    zero = frame.constant(0, tf.int64)
    magnitude = frame.constant(2 ** (8 * x.dtype.size - 1) - 1, tf.int64)
    flipped = raw.BitwiseXor(x=whole, y=magnitude)
    key = choose(frame, whole < zero, flipped, whole)
    key = choose(frame, raw.Equal(x=key, y=frame.constant(-1, tf.int64)), zero, key)  # -0.0
    return choose(frame, is_nan(frame, x), frame.constant(LAST, tf.int64), key)


def order_keys(frame: Frame, x: Any) -> list[Any]:
    """The keys of numbers of any dtype, the least significant first."""
    if not x.dtype.is_complex:
        return [order_key(frame, x)]
    re, im = real_part(frame, x), imaginary_part(frame, x)
    kind = 2 * cast_to(frame, is_nan(frame, re), frame.tf.int64) + cast_to(
        frame, is_nan(frame, im), frame.tf.int64
    )
    return [order_key(frame, im), order_key(frame, re), kind]


def sorting_order(frame: Frame, keys: Sequence[Any]) -> Any:
    """The stable sorting permutation along the last axis; the least significant key first."""
    order = None
    batch = len(keys[0].shape) - 1
    count = cast_to(frame, frame.scalar(frame.shape_of(keys[0])[-1]), frame.tf.int32)
    for key in keys:
        if order is not None:
            key = frame.tf.gather(key, order, axis=batch, batch_dims=batch)
        # TopK takes the greatest first, so keys are complemented; ties keep their order.
        top = frame.raw.TopKV2(
            input=frame.raw.Invert(x=key), k=count, sorted=True, index_type=frame.tf.int64
        )
        step = top.indices
        order = (
            step if order is None else frame.tf.gather(order, step, axis=batch, batch_dims=batch)
        )
    return order


@kernel("argsort")
def argsort(frame: Frame, x: Any, axis: int, stable: bool = True) -> Any:
    order = sorting_order(frame, order_keys(frame, last_axis(frame, x, axis)))
    return from_last(frame, order, axis)


@kernel("sort")
def sort(frame: Frame, x: Any, axis: int) -> Any:
    moved = last_axis(frame, x, axis)
    batch = len(x.shape) - 1
    order = sorting_order(frame, order_keys(frame, moved))
    return from_last(frame, frame.tf.gather(moved, order, axis=batch, batch_dims=batch), axis)


# --- searchsorted ---------------------------------------------------------------------------------


@kernel("searchsorted")
def searchsorted(frame: Frame, a: Any, v: Any, side: str) -> Any:
    if a.dtype.is_complex:
        return _count_before(frame, a, v, side)
    line, points = (
        frame.raw.Reshape(tensor=order_key(frame, x), shape=vector(frame, [1, -1])) for x in (a, v)
    )
    bound = frame.raw.LowerBound if side == "left" else frame.raw.UpperBound
    y = bound(sorted_inputs=line, values=points, out_type=frame.tf.int64)
    return frame.raw.Reshape(tensor=y, shape=frame.shape(frame.shape_of(v)))


def _count_before(frame: Frame, a: Any, v: Any, side: str) -> Any:
    """How many elements of `a` stand before each of `v`, by comparing all pairs."""
    raw = frame.raw
    v = raw.ExpandDims(input=v, axis=frame.constant(-1, frame.tf.int32))
    pairs = list(zip(order_keys(frame, a), order_keys(frame, v), strict=True))
    low, high = (0, 1) if side == "left" else (1, 0)
    before = None
    for pair in pairs:  # from the least significant on: a greater key overrules
        less = raw.Less(x=pair[low], y=pair[high])
        same = raw.Equal(x=pair[low], y=pair[high])
        before = (
            less if before is None else raw.LogicalOr(x=less, y=raw.LogicalAnd(x=same, y=before))
        )
    passed = before if side == "left" else raw.LogicalNot(x=before)
    return raw.Sum(input=cast_to(frame, passed, frame.tf.int64), axis=vector(frame, [-1]))


# --- unique ---------------------------------------------------------------------------------------


@kernel("unique")
def unique(frame: Frame, x: Any, axis: int, equal_nan: bool) -> list[Any]:
    """Values, first indices, inverse and counts; rows are compared whole."""
    tf, raw = frame.tf, frame.raw
    rank = len(x.shape)
    order = [axis, *(a for a in range(rank) if a != axis)]
    front = raw.Transpose(x=x, perm=vector(frame, order))
    shape = frame.shape_of(front)
    rows = raw.Reshape(tensor=front, shape=frame.shape([shape[0], _product(shape[1:])]))
    sorted_by = _row_order(frame, rows)
    zero, one = frame.constant(0, tf.int64), frame.constant(1, tf.int64)
    axis0 = frame.constant(0, tf.int32)
    ordered = raw.GatherV2(params=rows, indices=sorted_by, axis=axis0)
    starts = _starts(frame, ordered, equal_nan and rank == 1)
    first = raw.Reshape(tensor=raw.Where(condition=starts), shape=vector(frame, [-1]))
    group = raw.Cumsum(x=cast_to(frame, starts, tf.int64), axis=axis0) - one
    count = frame.scalar(shape[0])
    blank = raw.Fill(dims=frame.shape([count]), value=zero)
    column = raw.ExpandDims(input=sorted_by, axis=frame.constant(1, tf.int32))
    inverse = raw.TensorScatterUpdate(tensor=blank, indices=column, updates=group)
    end = raw.ConcatV2(
        values=[first, raw.Reshape(tensor=count, shape=vector(frame, [1]))], axis=axis0
    )
    index = raw.GatherV2(params=sorted_by, indices=first, axis=axis0)
    values = raw.GatherV2(params=front, indices=index, axis=axis0)
    back = [int(i) for i in np.argsort(order)]
    return [raw.Transpose(x=values, perm=vector(frame, back)), index, inverse, end[1:] - end[:-1]]


def _product(dims: Sequence[Any]) -> Any:
    total: Any = 1
    for dim in dims:
        total = total * dim
    return total


def _row_order(frame: Frame, rows: Any) -> Any:
    """The stable lexicographic order of rows: sorted by each column, the last one first."""
    tf = frame.tf
    keys = frame.raw.Pack(values=order_keys(frame, rows), axis=2)  # [rows, columns, keys]
    keys = frame.raw.Reshape(
        tensor=keys,
        shape=frame.shape(
            [frame.shape_of(rows)[0], keys.shape[2] * frame.scalar(frame.shape_of(rows)[1])]
        ),
    )
    # Within a column the least significant key comes first, but columns count from the last.
    per = len(order_keys(frame, rows))
    total = frame.scalar(frame.shape_of(keys)[1])
    count = frame.scalar(frame.shape_of(keys)[0])
    start = frame.raw.Range(
        start=frame.constant(0, tf.int64), limit=count, delta=frame.constant(1, tf.int64)
    )

    def go_on(inside: Frame, i: Any, order: Any, all_keys: Any, n: Any) -> Any:
        return i < n

    def step(inside: Frame, i: Any, order: Any, all_keys: Any, n: Any) -> list[Any]:
        each = inside.constant(per, tf.int64)
        column = (
            n - each - (i - inside.raw.FloorMod(x=i, y=each)) + inside.raw.FloorMod(x=i, y=each)
        )
        key = inside.raw.GatherV2(
            params=all_keys, indices=column, axis=inside.constant(1, tf.int32)
        )
        axis0 = inside.constant(0, tf.int32)
        key = inside.raw.GatherV2(params=key, indices=order, axis=axis0)
        by = sorting_order(inside, [key])
        return [
            i + inside.constant(1, tf.int64),
            inside.raw.GatherV2(params=order, indices=by, axis=axis0),
            all_keys,
            n,
        ]

    return frame.repeat(go_on, step, [frame.constant(0, tf.int64), start, keys, total])[1]


def _starts(frame: Frame, ordered: Any, equal_nan: bool) -> Any:
    """Where a sorted row differs from the one before it."""
    raw = frame.raw
    later, earlier = ordered[1:], ordered[:-1]
    differs = raw.NotEqual(x=later, y=earlier)
    if not ordered.dtype.is_integer and not ordered.dtype.is_bool:
        nan = raw.LogicalOr(x=is_nan(frame, later), y=is_nan(frame, earlier))
        differs = raw.LogicalOr(x=differs, y=nan)
        if equal_nan:
            both = raw.LogicalAnd(x=is_nan(frame, later), y=is_nan(frame, earlier))
            differs = raw.LogicalAnd(x=differs, y=raw.LogicalNot(x=both))
    new = raw.Any(input=differs, axis=vector(frame, [1]))
    count = frame.scalar(frame.shape_of(ordered)[0])
    any_row = raw.Fill(dims=frame.shape([1]), value=frame.constant(True))
    whole = raw.ConcatV2(values=[any_row, new], axis=frame.constant(0, frame.tf.int32))
    return whole[:count]  # of no rows, none starts


@kernel("repeat_indices")
def repeat_indices(frame: Frame, counts: Any) -> Any:
    """Each position as often as its count says."""
    tf, raw = frame.tf, frame.raw
    counts = cast_to(frame, counts, tf.int64)
    zero = frame.constant(0, tf.int64)
    holds = raw.All(input=counts >= zero, axis=vector(frame, [0]))
    check = frame.check(holds, ValueError, "repeats may not contain negative values.")
    counts = frame.after(raw.Maximum(x=counts, y=zero), check)
    ends = raw.Cumsum(x=counts, axis=frame.constant(0, tf.int32))
    total = raw.Sum(input=counts, axis=vector(frame, [0]))
    places = raw.Range(start=zero, limit=total, delta=frame.constant(1, tf.int64))
    return KERNELS["searchsorted"](frame, ends, places, "right")
