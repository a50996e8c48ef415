"""Elements in other places: tile, repeat, flip, roll, pad, insert, delete."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from graphify.errors import DTypeError, SpecError
from graphify.ir.sizes import Dim, decide_equal, product
from graphify.ir.tensor import Tensor
from graphify.ir.types import BOOL
from graphify.numpy._table import astype, axes_of, axis_of, implements, shape_of, to_tensor
from graphify.numpy.creation import ones, zeros
from graphify.numpy.joining import concatenate
from graphify.numpy.manipulation import ravel, swapaxes
from graphify.numpy.reduction import any_, max_, min_
from graphify.numpy.sorting import argsort, flatnonzero
from graphify.ops import core
from graphify.ops import elementwise as e
from graphify.ops import shape as ops
from graphify.ops.indexing import gather
from graphify.ops.keys import getitem, setitem, written
from graphify.ops.shape import as_int64, as_length, iota, move_axis

INT64 = np.dtype(np.int64)
ALL = slice(None)


def take_axis(x: Tensor, index: Tensor, axis: int) -> Tensor:
    """The slices at integer indices along an axis, the indices' axes in its place."""
    picked = gather(x, index, axes=(axis,))
    if not axis or not index.ndim:
        return picked
    lead = list(range(index.ndim))
    rest = list(range(index.ndim, picked.ndim))
    return ops.transpose(picked, axes=(*rest[:axis], *lead, *rest[axis:]))


def fresh_array(x: Tensor) -> Tensor:
    """A copy that nothing else can be seen through."""
    return core.copy(x)


# --- repetition -----------------------------------------------------------------------------------


@implements(np.tile)
def tile(A: Any, reps: Any) -> Tensor:
    """The array repeated so many times along each axis."""
    x = to_tensor(A)
    counts = shape_of(reps, "reps")
    rank = max(x.ndim, len(counts))
    counts = (1,) * (rank - len(counts)) + counts
    dims = (1,) * (rank - x.ndim) + x.dims
    woven = core.reshape(x, shape=tuple(d for dim in dims for d in (1, dim)))
    wide = core.broadcast_to(
        woven, shape=tuple(d for pair in zip(counts, dims, strict=True) for d in pair)
    )
    return fresh_array(
        core.reshape(wide, shape=tuple(c * d for c, d in zip(counts, dims, strict=True)))
    )


@implements(np.repeat)
def repeat(a: Any, repeats: Any, axis: Any = None) -> Tensor:
    """Each element repeated: so many times, or as often as an array of counts says."""
    x = to_tensor(a)
    if axis is None:
        x, axis = ravel(x), 0
    if x.ndim == 0:
        x = core.reshape(x, shape=(1,))
    axis = axis_of(axis, x.ndim)
    counts = to_tensor(repeats)
    if not isinstance(
        repeats, (Tensor, np.ndarray, np.generic)
    ):  # NumPy converts numbers and lists
        counts = written(repeats, INT64)
    elif counts.dtype.kind not in "iub":
        raise DTypeError(
            f"Cannot cast array data from {counts.dtype!r} to dtype('int64') "
            "according to the rule 'safe'"
        )
    if counts.ndim > 1:
        raise ValueError("object too deep for desired array")
    if counts.ndim == 1 and counts.dims[0] == 1:
        counts = core.reshape(counts, shape=())
    if counts.ndim == 0:
        message = "repeats may not contain negative values."
        return _repeat_all(x, as_length(counts, "repeats", message=message), axis)
    if decide_equal(counts.dims[0], x.dims[axis]) is False:
        raise ValueError(
            "operands could not be broadcast together with shape "
            f"({x.dims[axis]},) ({counts.dims[0]},)"
        )
    counts = core.broadcast_to(counts, shape=(x.dims[axis],))  # one count is for all elements
    return take_axis(x, ops.repeat_indices(counts), axis)


def _repeat_all(x: Tensor, count: Dim, axis: int) -> Tensor:
    before, after = x.dims[: axis + 1], x.dims[axis + 1 :]
    column = core.reshape(x, shape=(*before, 1, *after))
    wide = core.broadcast_to(column, shape=(*before, count, *after))
    return fresh_array(core.reshape(wide, shape=(*x.dims[:axis], x.dims[axis] * count, *after)))


@implements(np.resize)
def resize(a: Any, new_shape: Any) -> Tensor:
    """The elements over and over, until the new shape is full."""
    x, shape = ravel(a), shape_of(new_shape)
    total, have = product(shape), x.dims[0]
    if have == 0 or total == 0:
        return zeros(shape, x.dtype)
    index = e.remainder(iota(length=total, dtype=INT64), ops.size_value(size=have))
    return core.reshape(gather(x, index, axes=(0,)), shape=shape)


# --- order ----------------------------------------------------------------------------------------


@implements(np.flip, zero_d="scalar")
def flip(m: Any, axis: Any = None) -> Tensor:
    """A view with the order along axes reversed."""
    x = to_tensor(m)
    return ops.flip(x, axes=axes_of(axis, x.ndim))


@implements(np.fliplr)
def fliplr(m: Any) -> Tensor:
    """A view with the second axis reversed."""
    x = to_tensor(m)
    if x.ndim < 2:
        raise ValueError("Input must be >= 2-d.")
    return flip(x, 1)


@implements(np.flipud)
def flipud(m: Any) -> Tensor:
    """A view with the first axis reversed."""
    x = to_tensor(m)
    if x.ndim < 1:
        raise ValueError("Input must be >= 1-d.")
    return flip(x, 0)


@implements(np.rot90)
def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> Tensor:
    """A plane turned by 90 degrees, `k` times."""
    x = to_tensor(m)
    if len(axes) != 2:
        raise ValueError("len(axes) must be 2.")
    a, b = (axis_of(axis, x.ndim) for axis in axes)
    if a == b:
        raise ValueError("Axes must be different.")
    k = k % 4
    if k == 0:
        return getitem(x, (Ellipsis,))
    if k == 2:
        return flip(x, (a, b))
    return swapaxes(flip(x, b), a, b) if k == 1 else flip(swapaxes(x, a, b), b)


@implements(np.roll)
def roll(a: Any, shift: Any, axis: Any = None) -> Tensor:
    """Elements moved along axes; what falls off one end comes in at the other."""
    x = to_tensor(a)
    if axis is None:
        return core.reshape(roll(ravel(x), shift, 0), shape=x.dims)
    shifts = _shifts(shift)
    given = axis if isinstance(axis, (tuple, list)) else [axis]
    axes = [axis_of(ax, x.ndim) for ax in given]
    if len(shifts) != len(axes) and 1 not in (len(shifts), len(axes)):
        raise ValueError("'shift' and 'axis' should be scalars or 1D sequences")
    count = max(len(shifts), len(axes)) if shifts and axes else 0
    result = fresh_array(x)
    for step, ax in zip(_spread(shifts, count), _spread(axes, count), strict=True):
        result = _roll_one(result, step, ax)
    return result


def _shifts(shift: Any) -> list[Any]:
    """The steps of `roll`: truncated where they are Python's or NumPy's."""
    if isinstance(shift, Tensor) and shift.is_symbolic:
        if not shift.ndim:
            return [shift]
        count = shift.dims[0]
        if shift.ndim > 1 or not isinstance(count, int):
            raise SpecError(f"roll: shift: expected a known number of them, got {shift.spec}")
        return [shift[i] for i in range(count)]
    if isinstance(shift, (tuple, list)) and any(isinstance(s, Tensor) for s in shift):
        if any(isinstance(s, Tensor) and s.ndim for s in shift):
            raise ValueError("'shift' and 'axis' should be scalars or 1D sequences")
        return list(shift)
    steps = np.asarray(shift.numpy() if isinstance(shift, Tensor) else shift)
    if steps.ndim > 1:
        raise ValueError("'shift' and 'axis' should be scalars or 1D sequences")
    return [int(step) for step in np.atleast_1d(steps)]


def _spread(items: list[Any], count: int) -> list[Any]:
    return items * count if len(items) == 1 else items[:count]


def _roll_one(x: Tensor, shift: Any, axis: int) -> Tensor:
    length = x.dims[axis]
    if isinstance(length, int) and not isinstance(shift, Tensor):
        if not length:
            return x
        cut = -operator.index(shift) % length
        if not cut:
            return x
        lead = (ALL,) * axis
        parts = [getitem(x, (*lead, slice(cut, None))), getitem(x, (*lead, slice(0, cut)))]
        return ops.concatenate(*parts, axis=axis)
    size = ops.size_value(size=length)
    if isinstance(shift, Tensor):  # of any integer dtype: nothing may wrap around
        if shift.dtype == np.uint64:
            shift = e.remainder(shift, astype(e.maximum(size, 1), np.uint64))
        shift = core.cast(shift, dtype=INT64)
    index = e.remainder(iota(length=length, dtype=INT64) - shift, size)
    return take_axis(x, index, axis)


# --- insertion and removal ------------------------------------------------------------------------


@implements(np.append)
def append(arr: Any, values: Any, axis: Any = None) -> Tensor:
    """The array with values after its end."""
    if axis is None:
        return concatenate([ravel(arr), ravel(values)], 0)
    return concatenate([to_tensor(arr), to_tensor(values)], axis)


def _is_integer(obj: Any) -> bool:
    if isinstance(obj, Tensor):
        return obj.ndim == 0 and obj.dtype.kind in "iu"
    return isinstance(obj, (int, np.integer)) and not isinstance(obj, bool)


def _place(obj: Any, length: Dim, past: int, axis: int) -> Tensor:
    """An index as a scalar tensor that counts from the start; IndexError if it is out of bounds.

    Args:
        past: 1 if the end of the axis is a place, too.
    """
    size = ops.size_value(size=length)
    message = f"index {{bad}} is out of bounds for axis {axis} with size {length}"
    index = as_int64(to_tensor(obj))
    index = ops.in_range(index, -size, size + past, error="IndexError", message=message)
    return e.where(index < 0, index + size, index)


@implements(np.delete)
def delete(arr: Any, obj: Any, axis: Any = None) -> Tensor:
    """The array without the slices at these indices."""
    x = to_tensor(arr)
    if axis is None:
        x, axis = ravel(x), 0
    axis = axis_of(axis, x.ndim)
    if _is_integer(obj):
        steps = iota(length=x.dims[axis] - 1, dtype=INT64)
        at = _place(obj, x.dims[axis], 0, axis)
        return take_axis(x, steps + astype(steps >= at, INT64), axis)
    keep = ones((x.dims[axis],), bool)
    if isinstance(obj, (slice, Tensor, np.ndarray)) or np.size(obj):
        index = obj if isinstance(obj, slice) else _mask_or_indices(obj, "delete", x.dims[axis])
        setitem(keep, index, False)
    return getitem(x, (ALL,) * axis + (keep,))


def _mask_or_indices(obj: Any, name: str, length: Dim | None = None) -> Tensor:
    """What `delete` and `insert` take beside integers and slices; a mask has one dimension."""
    index = to_tensor(obj)
    if index.dtype == BOOL:
        if index.ndim != 1:
            raise ValueError(f"boolean array argument obj to {name} must be one dimensional")
        if length is not None and decide_equal(index.dims[0], length) is False:
            raise ValueError(
                f"boolean array argument obj to {name} must match the axis length of {length}"
            )
    return index


@implements(np.insert)
def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Tensor:
    """The array with values before these indices."""
    x = to_tensor(arr)
    if axis is None:
        x, axis = ravel(x), 0
    elif x.ndim == 0:
        raise np.exceptions.AxisError(axis, 0)
    axis = axis_of(axis, x.ndim)
    length = x.dims[axis]
    if _is_integer(obj):
        return _insert_one(x, obj, values, axis)
    if isinstance(obj, slice):
        at = e.add(iota(length=length, dtype=INT64), 0)[obj]
    else:
        at = _mask_or_indices(obj, "insert")
        plain = not isinstance(obj, (Tensor, np.ndarray))
        at = astype(at, INT64) if plain and 0 in at.dims else at
    if at.dtype == BOOL:
        at = flatnonzero(at)
    if at.dtype.kind not in "iu":
        kind = TypeError if decide_equal(product(at.dims), 1) else IndexError
        raise kind("insert: arrays used as indices must be of integer (or boolean) type")
    if at.ndim == 1 and at.dims[0] == 1:
        return _insert_one(x, at[0], values, axis, scalar=False)
    at = _place(at, length, 1, axis)
    order = argsort(at, kind="stable")
    moved = fresh_array(at)
    setitem(moved, order, getitem(at, order) + iota(length=at.dims[0], dtype=INT64))
    total = length + at.dims[0]
    old = ones((total,), bool)
    setitem(old, moved, False)
    result = zeros((*x.dims[:axis], total, *x.dims[axis + 1 :]), x.dtype)
    lead = (ALL,) * axis
    setitem(result, (*lead, moved), written(values, x.dtype))
    setitem(result, (*lead, old), x)
    return result


def _insert_one(x: Tensor, obj: Any, values: Any, axis: int, scalar: bool = True) -> Tensor:
    """Values before one index: an integer takes `values[i]` for slices, a list of one does not."""
    new = written(values, x.dtype)
    if new.ndim < x.ndim:
        new = core.reshape(new, shape=(1,) * (x.ndim - new.ndim) + new.dims)
    new = move_axis(new, 0, axis) if scalar else new
    shape = tuple(new.dims[a] if a == axis else d for a, d in enumerate(x.dims))
    new = core.broadcast_to(new, shape=shape) if new.dims != shape else new
    length, count = (ops.size_value(size=d) for d in (x.dims[axis], new.dims[axis]))
    at = _place(obj, x.dims[axis], 1, axis)
    j = iota(length=x.dims[axis] + new.dims[axis], dtype=INT64)
    index = e.where(j < at, j, e.where(j < at + count, length + j - at, j - count))
    return take_axis(ops.concatenate(x, new, axis=axis), index, axis)


@implements(np.trim_zeros)
def trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Tensor:
    """Without the zeros at the front and the back, along every axis or these."""
    x = to_tensor(filt)
    text = trim.lower()
    if text not in ("fb", "bf", "f", "b"):
        raise ValueError(f"unexpected character(s) in `trim`: {trim!r}")
    key: list[Any] = []
    for a in range(x.ndim):
        if a not in axes_of(axis, x.ndim):
            key.append(ALL)
            continue
        others = tuple(b for b in range(x.ndim) if b != a)
        used = any_(e.not_equal(x, 0), axis=others)
        key.append(_used_range(used, text))
    return getitem(x, tuple(key))


def _used_range(used: Tensor, trim: str) -> slice:
    size = ops.size_value(size=used.dims[0])
    places = iota(length=used.dims[0], dtype=INT64)
    reduce: Callable[..., Tensor] = min_
    first = reduce(e.where(used, places, size), initial=np.iinfo(np.int64).max)
    first = e.minimum(first, size)
    last = max_(e.where(used, places, -1), initial=-1) + 1
    return slice(first if "f" in trim else None, e.maximum(last, first) if "b" in trim else None)
