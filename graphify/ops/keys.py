"""NumPy's key language: any `x[key]` and `x[key] = v` on the four indexing ops.

Boolean masks become their nonzero positions; a mixed key becomes a slice, a gather and a transpose.

    x[1, :, mask]  ->  gather(slice(x, ...), nonzero(mask), axes=...)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphify import tree
from graphify.errors import ShapeError
from graphify.ir.assign import assign
from graphify.ir.context import active_tapes
from graphify.ir.kinds import wrong_kind
from graphify.ir.sizes import Shape, Size, decide_equal
from graphify.ir.tensor import Tensor, refresh, resolve, value_needed
from graphify.ir.types import BOOL, DType, is_complex
from graphify.ir.wrapping import as_index, as_tensor
from graphify.ops import core, mixed
from graphify.ops.indexing import (
    Entry,
    gather,
    index_shape,
    nonzero,
    numpy_key,
    other_dims,
    scatter,
    slice_,
    slice_shape,
)
from graphify.ops.shape import checked_dim, transpose
from graphify.ops.slices import normalise_slice
from graphify.ops.strides import picked, traced_step, without

_NUMBERS = (bool, int, float, complex)


def getitem(x: Tensor, key: Any) -> Tensor:
    """x[key] with NumPy's meaning. A basic key gives a view, except of a single element."""
    key = as_index(key)
    place = traced_step(key)
    if place is not None:
        return _strided(x, key, place)
    plan = _Plan(x, key)
    if not plan.arrays and _has_index_array(key):
        return _detached(slice_(x, *plan.scalars, key=plan.basic))
    if not plan.arrays:
        whole = any(item is Ellipsis for item in (key if type(key) is tuple else (key,)))
        if whole and x._scalar:
            return _view(core.as_array(x), plan)
        return _view(x, plan) if whole else _part(x, plan)
    part = slice_(x, *plan.scalars, key=plan.basic) if plan.basic else x
    picked = gather(part, *plan.arrays, axes=plan.axes)
    return _to_place(picked, plan)


def _strided(x: Tensor, key: Any, place: int) -> Tensor:
    """x[key] where the step of a slice is traced."""
    rest, part, axis = without(key, place)
    if any(isinstance(k, list) or getattr(k, "ndim", 0) for k in rest):
        raise value_needed(part.step, "the slice step, beside arrays of indices,")
    return picked(getitem(x, rest), part, axis)


def _has_index_array(key: Any) -> bool:
    """Whether an index is a 0-d integer array: NumPy then copies, where a number gives a view."""
    items = key if type(key) is tuple else (key,)
    return any(
        isinstance(item, (np.ndarray, Tensor))
        and item.ndim == 0
        and not (isinstance(item, Tensor) and (item._scalar or item.spec.weak))
        for item in items
    )


def _detached(part: Tensor) -> Tensor:
    if part.is_symbolic:
        part._base = part._view = None
        copied = part
    else:
        copied = core.copy(part)
    copied._scalar = not part.ndim
    return copied


def _part(x: Tensor, plan: _Plan) -> Tensor:
    part: Tensor = slice_(x, *plan.scalars, key=plan.basic)
    if part.is_symbolic and not part.ndim:
        part._base = part._view = None  # a scalar of NumPy's: later updates do not reach it
    part._scalar = not part.ndim
    return part


def _view(x: Tensor, plan: _Plan) -> Tensor:
    """The elements of a basic key as a view, even where NumPy's key gives a scalar."""
    x = resolve(x)
    refresh(x)
    if x.is_symbolic or any(i.is_symbolic for i in plan.scalars) or slice_shape(x.dims, plan.basic):
        return slice_(x, *plan.scalars, key=plan.basic)
    indices = [i.numpy() for i in plan.scalars]
    array = x.numpy()[(*numpy_key(plan.basic, indices), ...)]
    attrs = {"key": plan.basic}
    part = Tensor(array, x, (slice_, tuple(plan.scalars), attrs))
    for tape in active_tapes():
        tape.record(slice_, [x, *plan.scalars], attrs, [part])
    return part


def setitem(x: Tensor, key: Any, value: Any) -> None:
    """x[key] = value with NumPy's meaning: `value` is cast and broadcast."""
    mask = _whole_mask(x, key)
    new = value if _is_view_of(x, value) else written(value, x.dtype)
    new = mixed.whole(x, value, new)
    if mask is not None and new.ndim == 0:
        from graphify.ops.elementwise import where

        wide = core.reshape(mask, shape=(*mask.dims, *(1,) * (x.ndim - mask.ndim)))
        assign(x, where(wide, new, x))
        return
    key = as_index(key)
    place = traced_step(key)
    if place is not None:
        view = _strided(x, key, place)
        assign(view, _fit(new, view))
        return
    plan = _Plan(x, key)
    if not plan.arrays:
        view = _view(x, plan)
        assign(view, _fit(_whole_number(value, new), view))
        return
    view = slice_(x, *plan.scalars, key=plan.basic) if plan.basic else x
    new = _from_place(_fit_rank(new, view, plan), plan)
    assign(view, scatter(view, new, *plan.arrays, axes=plan.axes, mode="set"))


def written(value: Any, dtype: DType) -> Tensor:
    """A value as an array of this dtype takes it: Python's numbers, in lists too, have to fit.

    Raises:
        TypeError: a complex number for real ones.
        ValueError: NaN for integers.
        OverflowError: an infinity for integers, or an integer out of bounds.
    """
    if isinstance(value, (list, tuple)):
        leaves, treedef = tree.flatten(value, is_leaf=lambda part: hasattr(part, "__tensor__"))
        if leaves and all(type(leaf) in _NUMBERS for leaf in leaves):
            return Tensor(np.asarray(value, dtype))
        value = treedef.unflatten([written(x, dtype) if _is_number(x) else x for x in leaves])
    new = as_tensor(value)
    if new.spec.weak and is_complex(new.dtype) and not is_complex(dtype):
        raise TypeError(f"expected a real number for {dtype}, got a complex one")
    return core.to_dtype(new, dtype)


def _is_number(leaf: Any) -> bool:
    """Whether it is a Python number, known or not."""
    return type(leaf) in _NUMBERS or isinstance(leaf, Tensor) and leaf.spec.weak


def _whole_number(value: Any, new: Tensor) -> Tensor:
    """What a NumPy scalar becomes in an array of signed integers: NumPy takes its `int`, which has
    to be a number and to fit, where an array of such values is cast."""
    scalar = isinstance(value, Tensor) and value._scalar and not value.spec.weak
    number = as_tensor(value) if scalar or isinstance(value, np.number) else None
    if number is None or new.dtype.kind != "i" or np.can_cast(number.dtype, new.dtype):
        return new
    if is_complex(number.dtype):
        from graphify.ops.elementwise import real

        number = real(number)
    return core.cast(core.fitting(number, new.dtype), dtype=new.dtype)


def update_at(x: Tensor, key: Any, new: Tensor, mode: str) -> bool:
    """x[key] combined with `new` in place, repeated indices counted every time.

    Returns:
        False, and nothing done, if no index of the key can repeat.
    """
    plan = _Plan(x, key)
    if not plan.arrays:
        return False
    view = slice_(x, *plan.scalars, key=plan.basic) if plan.basic else x
    new = _from_place(_fit_rank(new, view, plan), plan)
    assign(view, scatter(view, new, *plan.arrays, axes=plan.axes, mode=mode))
    return True


def _is_view_of(x: Tensor, value: Any) -> bool:
    return isinstance(value, Tensor) and value.dtype == x.dtype and not value.spec.weak


def _fit(new: Tensor, view: Tensor) -> Tensor:
    return _fit_shape(new, view.dims)


def _fit_shape(new: Tensor, shape: Shape) -> Tensor:
    """`new` broadcast to a shape, extra leading axes of length one dropped, as assignment does."""
    # A leading axis of unknown length must turn out to be one: reshape checks it when run.
    while new.ndim > len(shape) and (new.dims[0] == 1 or not isinstance(new.dims[0], int)):
        new = core.reshape(new, shape=new.dims[1:])
    if new.dims == shape:
        return new
    try:
        return core.broadcast_to(new, shape=shape)
    except (ShapeError, ValueError):
        raise ShapeError(
            f"could not broadcast input array from shape {new.dims} into shape {shape}"
        ) from None


def _fit_rank(new: Tensor, view: Tensor, plan: _Plan) -> Tensor:
    """`new` with the rank of the indexed elements; `scatter` broadcasts it, and checks lengths."""
    shape = _result_shape(view, plan)
    # A leading axis of unknown length must turn out to be one: reshape checks it when run.
    while new.ndim > len(shape) and (new.dims[0] == 1 or not isinstance(new.dims[0], int)):
        new = core.reshape(new, shape=new.dims[1:])
    padded = (1,) * (len(shape) - new.ndim) + new.dims
    fits = len(padded) == len(shape) and all(
        a == 1 or decide_equal(a, b) is not False for a, b in zip(padded, shape, strict=True)
    )
    if not fits:
        raise ShapeError(
            f"shape mismatch: value array of shape {new.dims} could not be "
            "broadcast to indexing result "
            f"of shape {shape}"
        )
    return new if padded == new.dims else core.reshape(new, shape=padded)


class _Plan:
    """A key taken apart: a basic key and its traced integers, then arrays on axes of its result."""

    def __init__(self, x: Tensor, key: Any) -> None:
        entries = _expand(x, key)
        self.scalars: list[Tensor] = []
        self.arrays: list[Tensor] = []
        self.axes: tuple[int, ...] = ()
        basic: list[Entry] = []
        advanced = any(isinstance(e, Tensor) and (e.ndim or e.dtype == BOOL) for e in entries)
        axes: list[int] = []
        positions: list[int] = []
        known: list[tuple[Tensor, int]] = []
        axis = out = 0
        for position, entry in enumerate(entries):
            if entry is None:
                basic.append(None)
                out += 1
                continue
            if isinstance(entry, slice):
                basic.append(normalise_slice(entry, x.dims[axis]))
                out += 1
            elif isinstance(entry, Tensor) and entry.dtype == BOOL:  # a new axis, kept or dropped
                self.arrays += nonzero(core.reshape(entry, shape=(1,)))
                basic.append(None)
                axes.append(out)
                positions.append(position)
                out += 1
                continue
            elif advanced:  # integers take part in advanced indexing
                self.arrays.append(as_tensor(entry))
                known.append((self.arrays[-1], axis))
                basic.append((0, x.dims[axis], 1))
                axes.append(out)
                positions.append(position)
                out += 1
            elif isinstance(entry, Tensor):
                basic.append(("at", len(self.scalars)))
                self.scalars.append(entry)
            else:
                basic.append(entry)
            axis += 1
        self.axes = tuple(axes)
        self.basic = tuple(basic)
        _check_known(x.dims, known)
        if (
            advanced
            and len(basic) == x.ndim
            and all(e == (0, d, 1) for e, d in zip(basic, x.dims, strict=True))
        ):
            self.basic = ()
        adjacent = (
            positions == list(range(positions[0], positions[0] + len(positions)))
            if positions
            else True
        )
        self.place = axes[0] if axes and adjacent else 0
        self.rank = max((a.ndim for a in self.arrays), default=0)


def _check_known(dims: Shape, indices: Sequence[tuple[Tensor, int]]) -> None:
    """IndexError at once, where it needs no run to tell: of no elements, any index will do."""
    some = all(isinstance(dim, int) and dim for array, _ in indices for dim in (*dims, *array.dims))
    if not some or any(resolve(array).is_symbolic for array, _ in indices):
        return
    for tensor, axis in indices:
        array, length = tensor.numpy(), dims[axis]
        outside = array[(array < -length) | (array >= length)]
        if outside.size:
            raise IndexError(
                f"index {outside[0]} is out of bounds for axis {axis} with size {length}"
            )


def _to_place(picked: Tensor, plan: _Plan) -> Tensor:
    """Index axes from the front to where NumPy puts them."""
    if not plan.place or not plan.rank:
        return picked
    lead = list(range(plan.rank))
    rest = list(range(plan.rank, picked.ndim))
    return transpose(picked, axes=(*rest[: plan.place], *lead, *rest[plan.place :]))


def _from_place(new: Tensor, plan: _Plan) -> Tensor:
    if not plan.place or not plan.rank:
        return new
    lead = list(range(plan.place, plan.place + plan.rank))
    rest = [a for a in range(new.ndim) if a not in lead]
    return transpose(new, axes=(*lead, *rest))


def _result_shape(view: Tensor, plan: _Plan) -> Shape:
    lead = index_shape([a.dims for a in plan.arrays])
    rest = other_dims(view.dims, plan.axes)
    return (*rest[: plan.place], *lead, *rest[plan.place :])


def _whole_mask(x: Tensor, key: Any) -> Tensor | None:
    """The key as one traced or eager boolean mask over the leading axes, if it is that."""
    if isinstance(key, np.ndarray) and key.dtype == BOOL and key.ndim:
        key = as_tensor(key)
    if isinstance(key, Tensor) and key.dtype == BOOL and 0 < key.ndim <= x.ndim:
        return None if 0 in key.dims else _checked_mask(x, key, 0)
    return None


def _checked_mask(x: Tensor, mask: Tensor, axis: int) -> Tensor:
    """A mask of the lengths of the axes it stands for; IndexError, now or in the run, if not."""
    dims = []
    for a, dim in enumerate(mask.dims):
        if axis + a >= x.ndim:
            return mask  # too many indices: reported with the whole key
        message = (
            f"boolean index did not match indexed array along axis {axis + a}; "
            f"size of axis is {x.dims[axis + a]} but size of corresponding boolean axis is {dim}"
        )
        empty = dim == 0  # NumPy lets an empty mask stand for an axis of any length
        dims.append(dim if empty else checked_dim(dim, x.dims[axis + a], message, IndexError))
    return mask if tuple(dims) == mask.dims else core.reshape(mask, shape=tuple(dims))


def _expand(x: Tensor, key: Any) -> list[Any]:
    """One entry per axis or newaxis: None, slice, int or size, integer Tensor."""
    raw = list(key) if type(key) is tuple else [key]
    entries: list[Any] = []
    for item in raw:
        entries.append(_entry(item))
    consumed = sum(_consumes(e) for e in entries)
    if sum(e is Ellipsis for e in entries) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    if consumed > x.ndim:
        raise IndexError(
            f"too many indices for array: array is {x.ndim}-dimensional, but "
            f"{consumed} were indexed"
        )
    fill = [slice(None)] * (x.ndim - consumed)
    if Ellipsis not in [e for e in entries if not isinstance(e, Tensor)]:
        entries.append(Ellipsis)
    result: list[Any] = []
    axis = 0
    for entry in entries:
        if entry is Ellipsis:
            result += fill
            axis += len(fill)
        elif isinstance(entry, Tensor) and entry.dtype == BOOL:
            result += nonzero(_checked_mask(x, entry, axis)) if entry.ndim else [entry]
            axis += entry.ndim
        else:
            result.append(entry)
            axis += _consumes(entry)
    return result


def _consumes(entry: Any) -> int:
    if entry is None or entry is Ellipsis:
        return 0
    if isinstance(entry, Tensor) and entry.dtype == BOOL:
        return entry.ndim
    return 1


def _entry(item: Any) -> Any:
    """One item of a key: checked; lists and arrays as tensors, scalars as ints or 0-d tensors."""
    if item is None or item is Ellipsis or isinstance(item, slice):
        return item
    if isinstance(item, Tensor):
        tensor = item
    elif isinstance(item, (int, Size)) and not isinstance(item, bool):
        return item
    elif hasattr(item, "__tensor__"):  # of run-time length
        tensor = item.__tensor__(np.int64)
    elif isinstance(item, (np.ndarray, np.generic, bool, list, tuple)) or hasattr(
        item, "__array__"
    ):
        tensor = as_tensor(
            np.asarray(item, np.int64)
            if isinstance(item, (list, tuple)) and not len(item)
            else item
        )
    elif hasattr(item, "__index__"):
        return item.__index__()
    else:
        raise _bad_index(item)
    if tensor.dtype.kind not in "iub":
        error = IndexError("arrays used as indices must be of integer (or boolean) type")
        raise wrong_kind(error, tensor)
    if tensor.ndim == 0 and tensor.dtype != BOOL and not resolve(tensor).is_symbolic:
        return int(tensor.numpy())
    return tensor


def _bad_index(item: Any) -> IndexError:
    return IndexError(
        "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) "
        "and integer or boolean "
        f"arrays are valid indices, got {type(item).__name__}"
    )
