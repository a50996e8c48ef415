"""Ops that rearrange elements, make them from sizes, or multiply matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphify.engines.tensorflow.frame import Frame
from graphify.engines.tensorflow.kernels.casting import cast_to, nonzero, widened, wider
from graphify.engines.tensorflow.kernels.table import kernel


@kernel("size_value")
def size_value(frame: Frame, size: Any) -> Any:
    return frame.scalar(size)


@kernel("reshape")
def reshape(frame: Frame, x: Any, shape: Any) -> Any:
    return frame.raw.Reshape(tensor=x, shape=frame.shape(shape))


@kernel("broadcast_to")
def broadcast_to(frame: Frame, x: Any, shape: Any) -> Any:
    return frame.raw.BroadcastTo(input=x, shape=frame.shape(shape))


@kernel("transpose")
def transpose(frame: Frame, x: Any, axes: Any) -> Any:
    return frame.raw.Transpose(x=x, perm=frame.constant(np.asarray(axes, np.int32)))


@kernel("concat", "concatenate")
def concatenate(frame: Frame, *xs: Any, axis: int) -> Any:
    if len(xs) == 1:
        return frame.raw.Identity(input=xs[0])
    return frame.raw.ConcatV2(values=list(xs), axis=frame.constant(axis, frame.tf.int32))


@kernel("reverse", "flip")
def flip(frame: Frame, x: Any, axes: Any) -> Any:
    return frame.raw.ReverseV2(tensor=x, axis=frame.constant(np.asarray(axes, np.int32)))


@kernel("range", "iota")
def iota(frame: Frame, length: Any, dtype: Any) -> Any:
    zero, one = (frame.constant(v, frame.tf.int64) for v in (0, 1))
    stop = frame.raw.Maximum(x=frame.scalar(length), y=zero)
    return cast_to(frame, frame.raw.Range(start=zero, limit=stop, delta=one), dtype)


@kernel("sum_to")
def sum_to(frame: Frame, x: Any, shape: Any) -> Any:
    """Sums away the leading axes that `shape` lacks and those that it has with length one.

    An axis of one in `shape` whose length in `x` is one, too, is summed as well, to no effect.
    """
    lead = len(x.shape) - len(shape)
    axes = [
        *range(lead),
        *(i + lead for i, dim in enumerate(shape) if isinstance(dim, int) and dim == 1),
    ]
    if axes:
        x = sum_axes(frame, x, axes)
    return frame.raw.Reshape(tensor=x, shape=frame.shape(shape))


def sum_axes(frame: Frame, x: Any, axes: Any) -> Any:
    """The sum over axes in the dtype of `x`; halves are added up in float32, as NumPy does."""
    axis = frame.constant(np.asarray(axes, np.int32))
    if x.dtype.is_bool:
        return frame.raw.Any(input=x, axis=axis)
    if x.dtype.size == 2 and x.dtype.is_floating:
        return widened(frame, lambda v: frame.raw.Sum(input=v, axis=axis), x)
    return frame.raw.Sum(input=x, axis=axis)


# --- matmul ---------------------------------------------------------------------------------------


@kernel("matmul")
def matmul(frame: Frame, a: Any, b: Any) -> Any:
    left, right = len(a.shape) == 1, len(b.shape) == 1
    a = expand(frame, a, 0) if left else a
    b = expand(frame, b, 1) if right else b
    wide = wider(frame, a.dtype)
    y = _matrices(frame, cast_to(frame, a, wide), cast_to(frame, b, wide))
    y = nonzero(frame, y) if a.dtype.is_bool else cast_to(frame, y, a.dtype)
    axes = [i for i, vector in ((-1, right), (-2, left)) if vector]
    return frame.raw.Squeeze(input=y, axis=axes) if axes else y


def _matrices(frame: Frame, a: Any, b: Any) -> Any:
    if len(a.shape) == len(b.shape) == 2:
        return frame.raw.MatMul(a=a, b=b)
    return frame.raw.BatchMatMulV2(x=a, y=b)


def expand(frame: Frame, x: Any, axis: int) -> Any:
    return frame.raw.ExpandDims(input=x, axis=frame.constant(axis, frame.tf.int32))
