"""Windows of an axis: their sums, maxima and places, for any sizes, known or not."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphify.engines.tensorflow.frame import Frame
from graphify.engines.tensorflow.kernels.arrays import sum_axes
from graphify.engines.tensorflow.kernels.casting import cast_to, nonzero, wider
from graphify.engines.tensorflow.kernels.elementwise import choose
from graphify.engines.tensorflow.kernels.reductions import first_extreme, last_axis, vector
from graphify.engines.tensorflow.kernels.table import KERNELS, kernel

# --- places of windows ----------------------------------------------------------------------------


def _range(frame: Frame, n: Any) -> Any:
    zero, one = (frame.constant(v, frame.tf.int64) for v in (0, 1))
    return frame.raw.Range(start=zero, limit=frame.scalar(n), delta=one)


def fits(frame: Frame, size: Any) -> Any:
    """A length of the result, checked: negative where a window does not fit."""
    if isinstance(size, int):
        return size
    text = "size: the window does not fit into the operand, got {}"
    check = frame.check(size >= frame.constant(0, frame.tf.int64), ValueError, text, size)
    return frame.after(size, check)


def places(frame: Frame, size: Any, window: Any, stride: int, dilation: int, padding: Any) -> Any:
    """[size, window]: the place along the axis of each element of each window."""
    starts = _range(frame, size) * frame.constant(stride, frame.tf.int64) - frame.scalar(padding)
    steps = _range(frame, window) * frame.constant(dilation, frame.tf.int64)
    return frame.raw.ExpandDims(input=starts, axis=frame.constant(1, frame.tf.int32)) + steps


def _inside(frame: Frame, found: Any, length: Any) -> Any:
    zero = frame.constant(0, frame.tf.int64)
    return frame.raw.LogicalAnd(x=found >= zero, y=found < frame.scalar(length))


def _gather(frame: Frame, x: Any, index: Any, axis: int) -> Any:
    return frame.raw.GatherV2(params=x, indices=index, axis=frame.constant(axis, frame.tf.int32))


def take_windows(frame: Frame, x: Any, found: Any, axis: int) -> Any:
    """Elements at places along an axis, whose two axes take its place; zero for places outside."""
    length = frame.shape_of(x)[axis]
    # An element of zeros at the end stands for all that is outside.
    pads = np.zeros((len(x.shape), 2), np.int32)
    pads[axis, 1] = 1
    longer = frame.raw.Pad(input=x, paddings=frame.constant(pads))
    index = choose(frame, _inside(frame, found, length), found, frame.scalar(length))
    return _gather(frame, longer, index, axis)


def add_windows(frame: Frame, x: Any, found: Any, axis: int, length: Any) -> Any:
    """The transpose of `take_windows`: two axes, from `axis` on, added up into one of `length`."""
    rank = len(x.shape)
    front = frame.raw.Transpose(
        x=x,
        perm=vector(
            frame, [axis, axis + 1, *(a for a in range(rank) if a not in (axis, axis + 1))]
        ),
    )
    outside = frame.constant(-1, frame.tf.int64)
    ids = choose(frame, _inside(frame, found, length), found, outside)
    y = frame.raw.UnsortedSegmentSum(data=front, segment_ids=ids, num_segments=frame.scalar(length))
    order = list(range(1, rank - 1))
    order.insert(axis, 0)
    return frame.raw.Transpose(x=y, perm=vector(frame, order))


# --- windows of one axis --------------------------------------------------------------------------


@kernel("window_sum")
def window_sum(frame: Frame, x: Any, axis: int, size: Any, window: int, **steps: Any) -> Any:
    dtype = x.dtype
    wide = cast_to(frame, x, wider(frame, dtype))
    found = places(frame, fits(frame, frame.size(size)), window, **steps)
    y = sum_axes(frame, take_windows(frame, wide, found, axis), [axis + 1])
    return nonzero(frame, y) if dtype.is_bool else cast_to(frame, y, dtype)


@kernel("window_spread")
def window_spread(frame: Frame, x: Any, axis: int, size: Any, window: int, **steps: Any) -> Any:
    dtype = x.dtype
    wide = cast_to(frame, x, wider(frame, dtype))
    shape = frame.shape_of(wide)
    found = places(frame, shape[axis], window, **steps)
    spread = frame.raw.BroadcastTo(
        input=frame.raw.ExpandDims(input=wide, axis=frame.constant(axis + 1, frame.tf.int32)),
        shape=frame.shape([*shape[: axis + 1], window, *shape[axis + 1 :]]),
    )
    y = add_windows(frame, spread, found, axis, fits(frame, frame.size(size)))
    return nonzero(frame, y) if dtype.is_bool else cast_to(frame, y, dtype)


def _existing(frame: Frame, x: Any, axis: int, size: Any, window: int, steps: Any) -> Any:
    """Places in windows; the first that exists stands for those that do not."""
    raw = frame.raw
    length = frame.shape_of(x)[axis]
    found = places(frame, fits(frame, frame.size(size)), window, **steps)
    inside = _inside(frame, found, length)
    one = frame.constant(1, frame.tf.int32)
    check = frame.check(
        raw.All(input=raw.Any(input=inside, axis=one), axis=frame.constant(0, frame.tf.int32)),
        ValueError,
        "window_max: a window lies outside the operand altogether",
    )
    first = raw.Min(input=choose(frame, inside, found, found.dtype.max), axis=one, keep_dims=True)
    return frame.after(choose(frame, inside, found, first), check)


@kernel("window_max")
def window_max(frame: Frame, x: Any, axis: int, size: Any, window: int, **steps: Any) -> Any:
    found = _existing(frame, x, axis, size, window, steps)
    return KERNELS["reduce_max"](frame, _gather(frame, x, found, axis), (axis + 1,))


@kernel("window_argmax")
def window_argmax(frame: Frame, x: Any, axis: int, size: Any, window: int, **steps: Any) -> Any:
    raw = frame.raw
    found = _existing(frame, x, axis, size, window, steps)
    taken = last_axis(frame, _gather(frame, x, found, axis), axis + 1)
    which = first_extreme(frame, taken, True)  # of each window, [..., size, ...]
    flat = raw.Reshape(tensor=found, shape=frame.constant([-1]))
    shape: list[Any] = [1] * len(x.shape)
    shape[axis] = frame.shape_of(found)[0]
    rows = raw.Reshape(tensor=_range(frame, shape[axis]), shape=frame.shape(shape))
    index = rows * frame.constant(window, frame.tf.int64) + which
    return _gather(frame, flat, index, 0)
