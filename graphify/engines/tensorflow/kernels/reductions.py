"""Reductions and running totals. NaN is the greatest and the least number; empty extremes fail."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphify.engines.tensorflow.frame import Frame
from graphify.engines.tensorflow.kernels.arrays import sum_axes
from graphify.engines.tensorflow.kernels.casting import (
    cast_to,
    imaginary_part,
    nonzero,
    real_part,
    widened,
)
from graphify.engines.tensorflow.kernels.elementwise import choose, is_nan
from graphify.engines.tensorflow.kernels.table import KERNELS, kernel


def vector(frame: Frame, values: Sequence[int]) -> Any:
    return frame.constant(np.asarray(values, np.int32))


def _kept(frame: Frame, x: Any, axes: Sequence[int], keepdims: bool) -> list[Any]:
    """The shape that a reduction leaves."""
    shape = frame.shape_of(x)
    if keepdims:
        return [1 if a in axes else d for a, d in enumerate(shape)]
    return [d for a, d in enumerate(shape) if a not in axes]


# --- sum, prod, any, all --------------------------------------------------------------------------


@kernel("reduce_sum")
def reduce_sum(frame: Frame, x: Any, axes: Any, keepdims: bool = False) -> Any:
    y = sum_axes(frame, x, axes)
    return frame.raw.Reshape(tensor=y, shape=frame.shape(_kept(frame, x, axes, keepdims)))


@kernel("reduce_prod")
def reduce_prod(frame: Frame, x: Any, axes: Any, keepdims: bool = False) -> Any:
    axis = vector(frame, axes)
    if x.dtype.is_bool:
        return frame.raw.All(input=x, axis=axis, keep_dims=keepdims)
    if x.dtype.is_floating and x.dtype.size == 2:
        return widened(frame, lambda v: frame.raw.Prod(input=v, axis=axis, keep_dims=keepdims), x)
    return frame.raw.Prod(input=x, axis=axis, keep_dims=keepdims)


@kernel("reduce_any")
def reduce_any(frame: Frame, x: Any, axes: Any, keepdims: bool = False) -> Any:
    return frame.raw.Any(input=nonzero(frame, x), axis=vector(frame, axes), keep_dims=keepdims)


@kernel("reduce_all")
def reduce_all(frame: Frame, x: Any, axes: Any, keepdims: bool = False) -> Any:
    return frame.raw.All(input=nonzero(frame, x), axis=vector(frame, axes), keep_dims=keepdims)


# --- max and min ----------------------------------------------------------------------------------


def _size(frame: Frame, dims: Sequence[Any]) -> Any:
    total: Any = 1
    for dim in dims:
        total = total * dim
    return total


def _not_empty(frame: Frame, x: Any, axes: Sequence[int], name: str) -> Any:
    """`x`, if there is something to reduce wherever there is a result."""
    shape = frame.shape_of(x)
    reduced = _size(frame, [shape[a] for a in axes])
    kept = _size(frame, [d for a, d in enumerate(shape) if a not in axes])
    if isinstance(reduced, int) and reduced > 0:
        return x
    zero = frame.constant(0, frame.tf.int64)
    holds = frame.raw.LogicalOr(
        x=frame.raw.Greater(x=frame.scalar(reduced), y=zero),
        y=frame.raw.Equal(x=frame.scalar(kept), y=zero),
    )
    text = f"zero-size array to reduction operation {name} which has no identity"
    return frame.after(x, frame.check(holds, ValueError, text))


def _extreme(name: str) -> Callable[..., Any]:
    greatest = name == "maximum"

    def kernel_(frame: Frame, x: Any, axes: Any, keepdims: bool = False) -> Any:
        raw = frame.raw
        x = _not_empty(frame, x, axes, name)
        axis = vector(frame, axes)
        if x.dtype.is_bool:
            return (raw.Any if greatest else raw.All)(input=x, axis=axis, keep_dims=keepdims)
        if x.dtype.is_complex:
            return _complex_extreme(frame, x, axes, keepdims, greatest)
        y = (raw.Max if greatest else raw.Min)(input=x, axis=axis, keep_dims=keepdims)
        if not x.dtype.is_floating:
            return y
        nan = raw.Any(input=is_nan(frame, x), axis=axis, keep_dims=keepdims)
        return choose(frame, nan, math.nan, y)

    return kernel_


KERNELS["reduce_max"], KERNELS["reduce_min"] = _extreme("maximum"), _extreme("minimum")


def flat_axes(frame: Frame, x: Any, axes: Sequence[int]) -> Any:
    """`x` with the reduced axes joined to one and last."""
    shape = frame.shape_of(x)
    kept = [a for a in range(len(shape)) if a not in axes]
    moved = frame.raw.Transpose(x=x, perm=vector(frame, [*kept, *axes]))
    last = _size(frame, [shape[a] for a in axes])
    return frame.raw.Reshape(tensor=moved, shape=frame.shape([*(shape[a] for a in kept), last]))


def _complex_extreme(frame: Frame, x: Any, axes: Any, keepdims: bool, greatest: bool) -> Any:
    flat = flat_axes(frame, x, axes)
    index = first_extreme(frame, flat, greatest)
    y = frame.tf.gather(flat, index, axis=len(flat.shape) - 1, batch_dims=len(flat.shape) - 1)
    return frame.raw.Reshape(tensor=y, shape=frame.shape(_kept(frame, x, axes, keepdims)))


# --- argmax and argmin ----------------------------------------------------------------------------


def first_extreme(frame: Frame, x: Any, greatest: bool) -> Any:
    """The index, along the last axis, of the first NaN or else of the first extreme."""
    raw = frame.raw
    axis = vector(frame, [len(x.shape) - 1])
    reduce = raw.Max if greatest else raw.Min

    def attains(part: Any, among: Any) -> Any:
        worst = part.dtype.min if greatest else part.dtype.max
        if part.dtype.is_floating:
            worst = -math.inf if greatest else math.inf
        tried = part if among is None else choose(frame, among, part, worst)
        best = reduce(input=tried, axis=axis, keep_dims=True)
        hit = raw.Equal(x=tried, y=best)
        return hit if among is None else raw.LogicalAnd(x=hit, y=among)

    if x.dtype.is_bool:
        x = raw.Cast(x=x, DstT=frame.tf.int32)
    nan = is_nan(frame, x)
    # NaN would win or lose the comparison as the kernel pleases, so it takes no part.
    valid = None if x.dtype.is_integer else raw.LogicalNot(x=nan)
    if x.dtype.is_complex:
        hit = attains(imaginary_part(frame, x), attains(real_part(frame, x), valid))
    else:
        hit = attains(x, valid)
    if valid is not None:
        any_nan = raw.Any(input=nan, axis=axis, keep_dims=True)
        hit = choose(frame, any_nan, nan, hit)
    length = frame.scalar(frame.shape_of(x)[-1])
    places = raw.Range(
        start=frame.constant(0, frame.tf.int64),
        limit=length,
        delta=frame.constant(1, frame.tf.int64),
    )
    return raw.Min(input=choose(frame, hit, places, length), axis=axis)


def _arg_extreme(name: str, greatest: bool) -> Callable[..., Any]:
    def kernel_(frame: Frame, x: Any, axis: int) -> Any:
        length = frame.shape_of(x)[axis]
        if not isinstance(length, int) or length == 0:
            holds = frame.raw.Greater(x=frame.scalar(length), y=frame.constant(0, frame.tf.int64))
            text = f"attempt to get {name} of an empty sequence"
            x = frame.after(x, frame.check(holds, ValueError, text))
        return first_extreme(frame, last_axis(frame, x, axis), greatest)

    return kernel_


KERNELS["argmax"], KERNELS["argmin"] = _arg_extreme("argmax", True), _arg_extreme("argmin", False)


def last_axis(frame: Frame, x: Any, axis: int) -> Any:
    """`x` with an axis moved to the end."""
    rank = len(x.shape)
    if axis == rank - 1:
        return x
    return frame.raw.Transpose(
        x=x, perm=vector(frame, [*(a for a in range(rank) if a != axis), axis])
    )


def from_last(frame: Frame, x: Any, axis: int) -> Any:
    """The inverse of `last_axis`."""
    rank = len(x.shape)
    if axis == rank - 1:
        return x
    order = list(range(rank - 1))
    order.insert(axis, rank - 1)
    return frame.raw.Transpose(x=x, perm=vector(frame, order))


# --- cumulative -----------------------------------------------------------------------------------


def _cumulative(op: str) -> Callable[..., Any]:
    def kernel_(frame: Frame, x: Any, axis: int) -> Any:
        if x.dtype.is_bool:
            wide = kernel_(frame, cast_to(frame, x, frame.tf.int64), axis)
            return nonzero(frame, wide)
        return getattr(frame.raw, op)(x=x, axis=frame.constant(axis, frame.tf.int32))

    return kernel_


KERNELS["cumsum"], KERNELS["cumprod"] = _cumulative("Cumsum"), _cumulative("Cumprod")


def _running(name: str) -> Callable[..., Any]:
    """A running extreme in log2(n) steps: each element is joined with the one `shift` before it."""

    def kernel_(frame: Frame, x: Any, axis: int) -> Any:
        tf = frame.tf
        length = frame.scalar(frame.shape_of(x)[axis])

        def go_on(inside: Frame, shift: Any, n: Any, y: Any) -> Any:
            return shift < n

        def step(inside: Frame, shift: Any, n: Any, y: Any) -> list[Any]:
            zero, one = inside.constant(0, tf.int64), inside.constant(1, tf.int64)
            places = inside.raw.Range(start=zero, limit=n, delta=one) - shift
            # Below the start the first element stands in: it is part of every running extreme.
            places = inside.raw.Maximum(x=places, y=zero)
            before = inside.raw.GatherV2(
                params=y, indices=places, axis=inside.constant(axis, tf.int32)
            )
            return [shift * inside.constant(2, tf.int64), n, KERNELS[name](inside, y, before)]

        return frame.repeat(go_on, step, [frame.constant(1, tf.int64), length, x])[2]

    return kernel_


KERNELS["cummax"], KERNELS["cummin"] = _running("maximum"), _running("minimum")


@kernel("recurrence")
def recurrence(frame: Frame, a: Any, b: Any, axis: int) -> Any:
    """y[i] = a[i] * y[i - 1] + b[i], one step after the other.

    A scan in log2(n) steps would multiply the a's together, which overflows where y does not.
    """
    tf = frame.tf
    rank = len(b.shape)
    order = [axis, *(d for d in range(rank) if d != axis)]
    back = [int(i) for i in np.argsort(order)]
    a, b = (frame.raw.Transpose(x=x, perm=vector(frame, order)) for x in (a, b))
    shape = frame.shape_of(b)
    count = frame.scalar(shape[0])
    rows = frame.raw.TensorListReserve(
        element_shape=frame.constant(-1, tf.int32),
        num_elements=frame.raw.Cast(x=count, DstT=tf.int32),
        element_dtype=b.dtype,
    )
    first = frame.raw.Fill(dims=frame.shape(shape[1:]), value=frame.like(0, b))

    def go_on(inside: Frame, i: Any, y: Any, ys: Any, a_: Any, b_: Any, n: Any) -> Any:
        return i < n

    def step(inside: Frame, i: Any, y: Any, ys: Any, a_: Any, b_: Any, n: Any) -> list[Any]:
        zero = inside.constant(0, tf.int32)
        ai, bi = (inside.raw.GatherV2(params=x, indices=i, axis=zero) for x in (a_, b_))
        start = inside.raw.Equal(x=i, y=inside.constant(0, tf.int64))
        y = choose(inside, start, bi, ai * y + bi)
        at = inside.raw.Cast(x=i, DstT=tf.int32)
        ys = inside.raw.TensorListSetItem(input_handle=ys, index=at, item=y)
        return [i + inside.constant(1, tf.int64), y, ys, a_, b_, n]

    state = [frame.constant(0, tf.int64), first, rows, a, b, count]
    rows = frame.repeat(go_on, step, state)[2]
    y = frame.raw.TensorListStack(
        input_handle=rows,
        element_shape=frame.raw.Cast(x=frame.shape(shape[1:]), DstT=tf.int32),
        element_dtype=b.dtype,
        num_elements=-1,
    )
    y = frame.raw.Reshape(tensor=y, shape=frame.shape(shape))
    return frame.raw.Transpose(x=y, perm=vector(frame, back))
