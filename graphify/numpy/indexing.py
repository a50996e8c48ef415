"""Elements by index: take, choose, select.

Bounds are checked when the graph runs, and only where the result is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphify.errors import DTypeError, ShapeError, SpecError
from graphify.ir.kinds import of_elements
from graphify.ir.promotion import result_type
from graphify.ir.sizes import Dim, Size, product
from graphify.ir.tensor import Tensor, resolve
from graphify.ir.types import BOOL
from graphify.ir.wrapping import as_tensor
from graphify.numpy._table import (
    NAMES,
    astype,
    axis_of,
    broadcast_dims,
    finish,
    implements,
    to_tensor,
)
from graphify.numpy.manipulation import ravel
from graphify.numpy.rearrange import take_axis
from graphify.ops import core
from graphify.ops import elementwise as e
from graphify.ops import shape as ops
from graphify.ops.indexing import gather, nonzero
from graphify.ops.keys import getitem, setitem, written
from graphify.ops.rules import operand
from graphify.ops.shape import iota

INT64 = np.dtype(np.int64)
MODES = ("raise", "wrap", "clip")

# --- indices --------------------------------------------------------------------------------------


def integers(indices: Any, name: str = "indices", rule: Any = "safe") -> Tensor:
    """An array of indices as int64.

    Raises:
        TypeError: no cast to int64 by this rule.
    """
    x = to_tensor(indices)
    plain = not isinstance(indices, (Tensor, np.ndarray, np.generic))
    if plain and x.dtype.kind in "iuf":  # NumPy converts sequences, and checks arrays
        return written(indices, INT64)
    if not np.can_cast(x.dtype, INT64, rule):
        raise DTypeError(
            f"{name}: Cannot cast array data from {x.dtype!r} to dtype('int64') "
            f"according to the rule {rule!r}"
        )
    return astype(x, INT64)


def in_mode(index: Tensor, length: Dim, mode: str) -> Tensor:
    """Indices brought into an axis as `mode` says; "raise" leaves them to be checked."""
    if mode not in MODES:
        raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {mode!r})")
    size = ops.size_value(size=length)
    if mode == "clip":
        return e.minimum(e.maximum(index, 0), size - 1)
    if mode == "wrap":
        return e.remainder(index, size)
    return index


# --- take -----------------------------------------------------------------------------------------


@implements(np.take)
def take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise") -> Tensor:
    """The slices at these indices along an axis (of the flattened array by default)."""
    x = to_tensor(a)
    index = integers(indices, rule="same_kind")
    if axis is None:
        x, axis = ravel(x), 0
    elif x.ndim == 0:
        x = core.reshape(x, shape=(1,))
    axis = axis_of(axis, x.ndim)
    return finish(take_axis(x, in_mode(index, x.dims[axis], mode), axis), out)


def _along(x: Tensor, index: Tensor, axis: int) -> list[Tensor]:
    """Index arrays for every axis: `index` for one, positions for the others."""
    arrays = []
    for a in range(x.ndim):
        if a == axis:
            arrays.append(index)
            continue
        shape = tuple(x.dims[a] if b == a else 1 for b in range(x.ndim))
        arrays.append(core.reshape(iota(length=x.dims[a], dtype=INT64), shape=shape))
    return arrays


def along_indices(x: Tensor, indices: Any, axis: int) -> list[Tensor]:
    index = to_tensor(indices)
    if index.dtype.kind not in "iu":
        raise IndexError("`indices` must be an integer array")
    if index.ndim != x.ndim:
        raise ShapeError("`indices` and `arr` must have the same number of dimensions")
    return _along(x, index, axis)


@implements(np.take_along_axis)
def take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> Tensor:
    """One element per index, each from its own lane along the axis."""
    x = to_tensor(arr)
    if axis is None:
        index = to_tensor(indices)
        if index.ndim != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        x, axis = ravel(x), 0
    axis = axis_of(axis, x.ndim)
    return gather(x, *along_indices(x, indices, axis), axes=tuple(range(x.ndim)))


@implements(np.choose)
def choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Tensor:
    """Element by element from the array that an array of indices names."""
    index = integers(to_tensor(a), "choose: argument 1")
    options = [resolve(as_tensor(choice)) for choice in choices]
    dtype = result_type(*(operand(x) for x in options))
    shape = broadcast_dims(index.dims, *(x.dims for x in options))
    if mode == "raise":
        index = ops.in_range(
            index, 0, len(options), error="ValueError", message="invalid entry in choice array"
        )
    index = in_mode(index, len(options), mode)
    rows = ops.stack([core.broadcast_to(astype(x, dtype), shape=shape) for x in options])
    wide = core.broadcast_to(index, shape=(1, *shape))
    result = getitem(take_along_axis(rows, wide, 0), 0)
    return finish(of_elements(core.copy(result), options), out)


@implements(np.select, zero_d="array")
def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Tensor:
    """The elements of the first choice whose condition holds, `default` where none does."""
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if not condlist:
        raise ValueError("select with an empty condition list is not possible")
    choices = [as_tensor(choice) for choice in choicelist]
    other = as_tensor(default)
    dtype = result_type(*(operand(resolve(x)) for x in (*choices, other)))
    conditions = [to_tensor(cond) for cond in condlist]
    for i, cond in enumerate(conditions):
        if cond.dtype != BOOL:
            raise SpecError(f"invalid entry {i} in condlist: should be boolean ndarray")
    result = astype(other, dtype)
    for cond, choice in zip(reversed(conditions), reversed(choices), strict=True):
        result = e.where(cond, astype(choice, dtype), result)
    shape = broadcast_dims(*(x.dims for x in (*conditions, *choices, other)))
    made = result if result.dims == shape else core.copy(core.broadcast_to(result, shape=shape))
    return of_elements(made, (*choices, other))


@implements(np.compress)
def compress(condition: Any, a: Any, axis: Any = None, out: Any = None) -> Tensor:
    """The slices where a one-dimensional condition holds."""
    mask = to_tensor(condition)
    if mask.ndim != 1:
        raise ValueError("condition must be a 1-d array")
    mask = mask if mask.dtype == BOOL else e.not_equal(mask, 0)
    return take(a, nonzero(mask)[0], axis, out)


@implements(np.piecewise)
def piecewise(x: Any, condlist: Any, funclist: Sequence[Any], *args: Any, **kw: Any) -> Tensor:
    """Each element by the function (or number) of its condition; the last one is the default."""
    t = to_tensor(x)
    single = np.isscalar(condlist) or (
        not isinstance(condlist, list) and np.ndim(condlist) == t.ndim
    )
    if isinstance(condlist, list) and condlist and t.ndim and np.ndim(condlist[0]) == 0:
        single = True
    masks = [astype(to_tensor(c), BOOL) for c in ([condlist] if single else condlist)]
    if len(funclist) == len(masks) + 1:
        rest = masks[0]
        for mask in masks[1:]:
            rest = e.logical_or(rest, mask)
        masks.append(e.logical_not(rest))
    elif len(funclist) != len(masks):
        raise ValueError(
            f"with {len(masks)} condition(s), either {len(masks)} or "
            f"{len(masks) + 1} functions are expected"
        )
    result = core.copy(core.zeros_like(t))
    for mask, function in zip(masks, funclist, strict=True):
        if callable(function):
            setitem(result, mask, function(getitem(t, mask), *args, **kw))
        else:
            setitem(result, mask, function)
    return result


@implements(np.apply_over_axes)
def apply_over_axes(func: Callable[..., Any], a: Any, axes: Any) -> Tensor:
    """A function of an array and an axis applied to one axis after the other, which stay."""
    x = to_tensor(a)
    given = axes if isinstance(axes, (tuple, list)) else np.atleast_1d(axes)
    for axis in (axis_of(axis, x.ndim) for axis in given):
        result = to_tensor(func(x, axis))
        if result.ndim == x.ndim - 1:
            result = ops.expand_dims(result, axis)
        if result.ndim != x.ndim:
            raise ValueError("function is not returning an array of the correct shape")
        x = result
    return x


@implements(np.apply_along_axis)
def apply_along_axis(
    func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kwargs: Any
) -> Tensor:
    """A function of one dimension applied to every lane along an axis."""
    x = to_tensor(arr)
    axis = axis_of(axis, x.ndim)
    lanes = ops.move_axis(x, axis, x.ndim - 1)
    lead = lanes.dims[:-1]
    if any(isinstance(dim, Size) for dim in lead):
        raise SpecError(
            f"apply_along_axis: the number of lanes of {x.spec} is only known at run time",
            remedy="use graphify.vectorized_map, or trace with a known shape",
        )
    flat = core.reshape(lanes, shape=(product(lead), lanes.dims[-1]))
    count = flat.dims[0]
    assert isinstance(count, int)
    if not count:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    results = [to_tensor(func1d(getitem(flat, i), *args, **kwargs)) for i in range(count)]
    rows = NAMES["stack"](results)
    y = core.reshape(rows, shape=(*lead, *rows.dims[1:]))
    order = list(range(len(lead)))
    new = list(range(len(lead), y.ndim))
    return ops.transpose(y, axes=(*order[:axis], *new, *order[axis:]))
