"""Slices whose step only the run knows: `x[::k]`, `x[a:b:k]`.

    picked(x, slice(None, None, k), axis=0)    # the places are counted, and gathered

The step may be negative. As with any other slice, what comes out is a view: an update of it reaches
the array. There the elements at these places are replaced.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from graphify.ir.sizes import Dim
from graphify.ir.tensor import Tensor
from graphify.ir.wrapping import as_tensor
from graphify.ops import effects
from graphify.ops import elementwise as e
from graphify.ops.indexing import gather, scatter
from graphify.ops.shape import as_dim, as_int64, iota, transpose
from graphify.ops.slices import FAR, check_integers, in_reach

INT64 = np.dtype(np.int64)


def traced_step(key: Any) -> int | None:
    """Which part of a key is a slice with a traced step."""
    for place, part in enumerate(key if isinstance(key, tuple) else (key,)):
        if isinstance(part, slice) and isinstance(part.step, Tensor) and part.step.is_symbolic:
            return place
    return None


def without(key: Any, place: int) -> tuple[tuple[Any, ...], slice, int]:
    """A key with all of an axis in the place of a slice, that slice, and its axis in the result,
    from the end if there is an ellipsis before it."""
    parts = key if isinstance(key, tuple) else (key,)
    before, after = parts[:place], parts[place + 1 :]
    if any(part is Ellipsis for part in before):
        axis = -1 - sum(map(_stays, after))
    else:
        axis = sum(map(_stays, before))
    return (*before, slice(None), *after), parts[place], axis


def _stays(part: Any) -> bool:
    return part is None or isinstance(part, slice)


def picked(x: Tensor, part: slice, axis: int) -> Tensor:
    """The elements of a slice along an axis, as a view."""
    axis %= x.ndim
    front: Tensor = _PICKED(x, _places(part, x.dims[axis]), axes=(axis,))
    order = [*range(1, axis + 1), 0, *range(axis + 1, x.ndim)]
    return transpose(front, axes=tuple(order)) if axis else front


def _put(base: Tensor, new: Tensor, indices: Tensor, axes: tuple[int, ...]) -> Any:
    return scatter(base, new, indices, axes=axes, mode="set")


_PICKED = dataclasses.replace(gather, put=_put)


def _places(part: slice, dim: Dim) -> Tensor:
    """The places along an axis of this length, in the order of the slice."""
    first, step, count = start_step_count(part, dim)
    result: Tensor = first + step * iota(length=as_dim(count, "slice length"), dtype=INT64)
    return result


def start_step_count(part: slice, dim: Dim) -> tuple[Tensor, Tensor, Tensor]:
    """The first place of a slice of so many items, the step to the next one, and how many."""
    check_integers(part)
    step, size = _integer(1 if part.step is None else part.step), _integer(dim)
    error = effects.Raise(ValueError, ("slice step cannot be zero",))
    effects.assert_(e.not_equal(step, 0), exception=error)
    step = e.minimum(e.maximum(e.where(e.equal(step, 0), 1, step), -FAR), FAR)
    forward = e.greater(step, 0)
    low, high = e.where(forward, 0, -1), e.where(forward, size, size - 1)
    first = _bound(part.start, size, low, high, e.where(forward, low, high))
    last = _bound(part.stop, size, low, high, e.where(forward, high, low))
    stride, span = e.absolute(step), e.where(forward, last - first, first - last)
    count = e.maximum(e.floor_divide(span - 1, stride) + 1, 0)
    return first, step, count


def _bound(bound: Any, size: Tensor, low: Tensor, high: Tensor, default: Tensor) -> Tensor:
    if bound is None:
        return default
    bound = _integer(bound)
    wrapped = e.where(e.less(bound, 0), bound + size, bound)
    result: Tensor = e.minimum(e.maximum(wrapped, low), high)
    return result


def _integer(value: Any) -> Tensor:
    if not isinstance(value, Tensor):
        value = in_reach(as_dim(value, "slice bound"))
    return as_int64(as_tensor(value))
