"""Basic keys, integer arrays and masks: bounds are checked, duplicates follow NumPy's order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphify.engines.tensorflow.frame import Frame
from graphify.engines.tensorflow.kernels.casting import cast_to, nonzero
from graphify.engines.tensorflow.kernels.checks import all_true, first_false
from graphify.engines.tensorflow.kernels.elementwise import choose, is_nan
from graphify.engines.tensorflow.kernels.table import kernel

# --- bounds ---------------------------------------------------------------------------------------


def checked(frame: Frame, index: Any, length: Any, axis: int) -> Any:
    """Indices as int64 in [0, length): negative ones count from the end, others fail."""
    raw = frame.raw
    index, length = _whole(frame, index), frame.scalar(length)
    inside = raw.LogicalAnd(x=index >= -length, y=index < length)
    text = f"index {{}} is out of bounds for axis {axis} with size {{}}"
    holds = all_true(frame, inside)
    check = frame.check(holds, IndexError, text, first_false(frame, index, inside), length)
    wrapped = choose(frame, index < frame.like(0, index), index + length, index)
    # Where the check fails no kernel may see the bad index: it might read foreign memory.
    return frame.after(choose(frame, inside, wrapped, 0), check)


def _whole(frame: Frame, index: Any) -> Any:
    """Integers as int64; one that is too large for it is as far out of bounds as can be."""
    whole = cast_to(frame, index, frame.tf.int64)
    if index.dtype != frame.tf.uint64:
        return whole
    return choose(frame, whole < frame.like(0, whole), 2**63 - 1, whole)


# --- basic keys -----------------------------------------------------------------------------------


class _Basic:
    """A basic key in terms of StridedSlice: begin, end and positive stride per axis of x."""

    def __init__(self, frame: Frame, x: Any, key: Any, indices: Sequence[Any]) -> None:
        self.frame = frame
        self.lengths = frame.shape_of(x)
        self.begin: list[Any] = []
        self.end: list[Any] = []
        self.strides: list[int] = []
        self.kept: list[Any] = []  # shape of the selection, axes of x only, integers as 1
        self.shape: list[Any] = []  # shape of NumPy's result
        self.reversed: list[int] = []  # axes of x that run backwards
        for entry in key:
            if entry is None:
                self.shape.append(1)
            elif type(entry) is tuple and entry[0] != "at":
                self._range(*entry)
            else:
                self._integer(indices[entry[1]] if type(entry) is tuple else entry)
        for axis in range(len(self.begin), len(self.lengths)):
            self._range(0, self.lengths[axis], 1)

    def _range(self, start: Any, count: Any, step: int) -> None:
        start, count = self._value(start), self._value(count)
        if step < 0:
            self.reversed.append(len(self.begin))
            start = self._at_least_0(start + step * (count - 1))
        self.begin.append(start)
        self.end.append(start + count * abs(step))
        self.strides.append(abs(step))
        self.kept.append(count)
        self.shape.append(count)

    def _integer(self, index: Any) -> None:
        axis = len(self.begin)
        length = self.lengths[axis]
        value = self._value(index)
        if isinstance(value, int) and isinstance(length, int) and -length <= value < length:
            value %= length
        else:
            value = checked(self.frame, self.frame.scalar(value), length, axis)
        self.begin.append(value)
        self.end.append(value + 1)
        self.strides.append(1)
        self.kept.append(1)

    def _value(self, value: Any) -> Any:
        """An int or an int64 scalar."""
        if hasattr(value, "op"):
            return _whole(self.frame, value)
        return self.frame.size(value)

    def _at_least_0(self, value: Any) -> Any:
        if isinstance(value, int):
            return max(value, 0)
        return self.frame.raw.Maximum(x=value, y=self.frame.constant(0, self.frame.tf.int64))

    def bounds(self) -> dict[str, Any]:
        frame = self.frame
        strides = frame.constant(np.asarray(self.strides, np.int64))
        return {"begin": frame.shape(self.begin), "end": frame.shape(self.end), "strides": strides}

    def reverse(self, part: Any) -> Any:
        if not self.reversed:
            return part
        return self.frame.raw.ReverseV2(
            tensor=part, axis=self.frame.constant(self.reversed, self.frame.tf.int32)
        )


@kernel("slice")
def slice_(frame: Frame, x: Any, *indices: Any, key: Any) -> Any:
    basic = _Basic(frame, x, key, indices)
    part = x
    if basic.begin:
        part = basic.reverse(frame.raw.StridedSlice(input=x, **basic.bounds()))
    return frame.raw.Reshape(tensor=part, shape=frame.shape(basic.shape))


@kernel("slice_update")
def slice_update(frame: Frame, x: Any, new: Any, *indices: Any, key: Any) -> Any:
    basic = _Basic(frame, x, key, indices)
    new = frame.raw.BroadcastTo(input=new, shape=frame.shape(basic.shape))
    if not basic.begin:
        return frame.raw.Reshape(tensor=new, shape=frame.shape([]))
    new = basic.reverse(frame.raw.Reshape(tensor=new, shape=frame.shape(basic.kept)))
    return frame.raw.TensorStridedSliceUpdate(input=x, value=new, **basic.bounds())


# --- integer arrays -------------------------------------------------------------------------------


def _permute(frame: Frame, x: Any, order: Sequence[int]) -> Any:
    if list(order) == list(range(len(order))):
        return x
    return frame.raw.Transpose(x=x, perm=frame.constant(np.asarray(order, np.int32)))


def _front(axes: Sequence[int], rank: int) -> list[int]:
    return [*axes, *(a for a in range(rank) if a not in axes)]


class _Places:
    """Index arrays as flat positions in the indexed axes of x, which stand in front."""

    def __init__(self, frame: Frame, x: Any, indices: Sequence[Any], axes: Sequence[int]) -> None:
        raw = frame.raw
        lengths = frame.shape_of(x)
        self.order = _front(axes, len(lengths))
        self.indexed = [frame.scalar(lengths[a]) for a in axes]
        self.rest = [lengths[a] for a in self.order[len(axes) :]]
        self.front = _permute(frame, x, self.order)
        parts = [
            checked(frame, index, length, axis)
            for index, length, axis in zip(indices, self.indexed, axes, strict=True)
        ]
        flat = parts[0]
        for part, length in zip(parts[1:], self.indexed[1:], strict=True):
            flat = flat * length + part
        self.positions = flat  # in the common shape of the indices
        self.count = self.indexed[0]
        for length in self.indexed[1:]:
            self.count = self.count * length
        self.rows = raw.Reshape(tensor=self.front, shape=frame.shape([self.count, *self.rest]))


@kernel("gather")
def gather(frame: Frame, x: Any, *indices: Any, axes: Any) -> Any:
    places = _Places(frame, x, indices, axes)
    axis = frame.constant(0, frame.tf.int32)
    return frame.raw.GatherV2(params=places.rows, indices=places.positions, axis=axis)


@kernel("scatter")
def scatter(frame: Frame, x: Any, new: Any, *indices: Any, axes: Any, mode: str) -> Any:
    raw = frame.raw
    places = _Places(frame, x, indices, axes)
    lead = frame.shape_of(places.positions)
    new = raw.BroadcastTo(input=new, shape=frame.shape([*lead, *places.rest]))
    count = raw.Size(input=places.positions, out_type=frame.tf.int64)
    updates = raw.Reshape(tensor=new, shape=frame.shape([count, *places.rest]))
    at = raw.Reshape(tensor=places.positions, shape=frame.shape([count]))
    rows = _COMBINE[mode](frame, places.rows, updates, at, places.count)
    front = raw.Reshape(tensor=rows, shape=raw.Shape(input=places.front, out_type=frame.tf.int64))
    back = [int(i) for i in np.argsort(places.order)]
    return _permute(frame, front, back)


def _column(frame: Frame, at: Any) -> Any:
    return frame.raw.ExpandDims(input=at, axis=frame.constant(1, frame.tf.int32))


def _set(frame: Frame, rows: Any, updates: Any, at: Any, count: Any) -> Any:
    """The last write to a place wins, whatever order the device works in: every write to a place
    is given the value of the last one first."""
    raw, tf = frame.raw, frame.tf
    column = _column(frame, at)
    writes = raw.Size(input=at, out_type=tf.int64)
    order = raw.Range(
        start=frame.constant(0, tf.int64), limit=writes, delta=frame.constant(1, tf.int64)
    )
    none = raw.Fill(dims=frame.shape([count]), value=frame.constant(-1, tf.int64))
    last = raw.TensorScatterMax(tensor=none, indices=column, updates=order)
    axis = frame.constant(0, tf.int32)
    winner = raw.GatherV2(params=last, indices=at, axis=axis)
    updates = raw.GatherV2(params=updates, indices=winner, axis=axis)
    return raw.TensorScatterUpdate(tensor=rows, indices=column, updates=updates)


def _add(frame: Frame, rows: Any, updates: Any, at: Any, count: Any) -> Any:
    if rows.dtype.is_bool:
        rows, updates = (cast_to(frame, v, frame.tf.int64) for v in (rows, updates))
        return nonzero(frame, _add(frame, rows, updates, at, count))
    column = _column(frame, at)
    return frame.raw.TensorScatterAdd(tensor=rows, indices=column, updates=updates)


def _multiply(frame: Frame, rows: Any, updates: Any, at: Any, count: Any) -> Any:
    if rows.dtype.is_bool:
        rows, updates = (cast_to(frame, v, frame.tf.int32) for v in (rows, updates))
        return nonzero(frame, _multiply(frame, rows, updates, at, count))
    return rows * frame.raw.UnsortedSegmentProd(data=updates, segment_ids=at, num_segments=count)


def _extreme(greatest: bool) -> Any:
    def combine(frame: Frame, rows: Any, updates: Any, at: Any, count: Any) -> Any:
        if rows.dtype.is_bool:
            rows, updates = (cast_to(frame, v, frame.tf.int32) for v in (rows, updates))
            return nonzero(frame, combine(frame, rows, updates, at, count))
        op = frame.raw.TensorScatterMax if greatest else frame.raw.TensorScatterMin
        column = _column(frame, at)
        y = op(tensor=rows, indices=column, updates=updates)
        if not rows.dtype.is_floating:
            return y
        # NaN wins, but the kernels' comparisons do not see it: mark it beside.
        marks = [cast_to(frame, is_nan(frame, v), frame.tf.int32) for v in (rows, updates)]
        marked = frame.raw.TensorScatterMax(tensor=marks[0], indices=column, updates=marks[1])
        return choose(frame, nonzero(frame, marked), np.nan, y)

    return combine


_COMBINE = {
    "set": _set,
    "add": _add,
    "multiply": _multiply,
    "maximum": _extreme(True),
    "minimum": _extreme(False),
}


# --- masks ----------------------------------------------------------------------------------------


@kernel("nonzero")
def nonzero_(frame: Frame, x: Any) -> Any:
    places = frame.raw.Where(condition=nonzero(frame, x))
    axis = frame.constant(1, frame.tf.int32)
    return [
        frame.raw.GatherV2(params=places, indices=frame.constant(a, frame.tf.int32), axis=axis)
        for a in range(len(x.shape))
    ]
