"""Diagonals and windows."""

from __future__ import annotations

from typing import Any

from graphify.engines.tensorflow.frame import Frame
from graphify.engines.tensorflow.kernels.reductions import vector
from graphify.engines.tensorflow.kernels.table import kernel


def _steps(frame: Frame, length: Any) -> Any:
    zero, one = (frame.constant(v, frame.tf.int64) for v in (0, 1))
    return frame.raw.Range(
        start=zero, limit=frame.raw.Maximum(x=frame.scalar(length), y=zero), delta=one
    )


@kernel("diagonal")
def diagonal(
    frame: Frame, x: Any, offset: int, axis1: int, axis2: int, writeable: bool = False
) -> Any:
    raw = frame.raw
    rank = len(x.shape)
    rest = [a for a in range(rank) if a not in (axis1, axis2)]
    front = raw.Transpose(x=x, perm=vector(frame, [axis1, axis2, *rest]))
    rows, columns = (frame.scalar(d) for d in frame.shape_of(front)[:2])
    down, right = max(-offset, 0), max(offset, 0)
    length = raw.Minimum(
        x=rows - frame.constant(down, rows.dtype), y=columns - frame.constant(right, rows.dtype)
    )
    steps = _steps(frame, length)
    places = raw.Pack(values=[steps + frame.constant(k, rows.dtype) for k in (down, right)], axis=1)
    picked = raw.GatherNd(params=front, indices=places)
    return raw.Transpose(x=picked, perm=vector(frame, [*range(1, rank - 1), 0]))


@kernel("sliding_windows")
def sliding_windows(frame: Frame, x: Any, axis: int, window: Any) -> Any:
    raw = frame.raw
    length, width = frame.scalar(frame.shape_of(x)[axis]), frame.scalar(window)
    text = "window shape cannot be larger than input array shape"
    check = frame.check(raw.GreaterEqual(x=length, y=width), ValueError, text)
    one = frame.constant(1, frame.tf.int64)
    starts = raw.ExpandDims(
        input=_steps(frame, length - width + one), axis=frame.constant(1, frame.tf.int32)
    )
    index = frame.after(starts, check) + _steps(frame, width)
    picked = raw.GatherV2(params=x, indices=index, axis=frame.constant(axis, frame.tf.int32))
    rank = len(x.shape) + 1
    order = [a for a in range(rank) if a != axis + 1]
    return raw.Transpose(x=picked, perm=vector(frame, [*order, axis + 1]))
