"""Shapes: reshape, transpose, axes added and dropped, joining and splitting.

What NumPy gives as a view is a view here, too: writing through it writes to its base.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphify.errors import ShapeError, SpecError
from graphify.ir.bind import Tensor, as_tensor
from graphify.ir.promotion import result_type
from graphify.ir.sizes import Dim, Shape, Size, decide_equal, decide_less, product, size_op
from graphify.numpy._table import (
    astype,
    axes_of,
    axis_of,
    finish,
    implements,
    shape_of,
    to_tensor,
)
from graphify.ops import core, views
from graphify.ops import shape as ops
from graphify.ops.indexing import getitem
from graphify.ops.rules import operand

ALL = slice(None)

# --- reshape ----------------------------------------------------------------------------------------


def known_minus_one(shape: Shape, total: Dim) -> Shape:
    """A shape with its -1 replaced by the size that is left.

    Raises:
        ValueError: more than one -1, or the rest does not divide the number of elements.
    """
    unknown = [axis for axis, dim in enumerate(shape) if dim == -1]
    if not unknown:
        return shape
    if len(unknown) > 1:
        raise ValueError("can only specify one unknown dimension")
    rest = product(dim for dim in shape if dim != -1)
    if isinstance(total, int) and isinstance(rest, int) and (not rest or total % rest):
        raise ShapeError(f"cannot reshape array of size {total} into shape {_text(shape)}")
    return tuple(_quotient(total, rest) if dim == -1 else dim for dim in shape)


def _quotient(total: Dim, rest: Dim) -> Dim:
    """total / rest; exact for products that share factors, such as 6*n / n."""
    if rest == 1:
        return total
    if isinstance(total, Size) and isinstance(rest, Size) and len(rest.terms) == 1 and len(total.terms) == 1:
        (top, a), (bottom, b) = total.terms[0], rest.terms[0]
        powers = dict(top)
        if a % b == 0 and all(powers.get(atom, 0) >= power for atom, power in bottom):
            left = {atom: power - dict(bottom).get(atom, 0) for atom, power in powers.items()}
            kept = tuple((atom, power) for atom, power in top if (power := left[atom]))
            return Size(((kept, a // b),)) if kept else a // b
    return size_op("floordiv", total, rest)


def _text(shape: Shape) -> str:
    return str(tuple(shape)).replace(" ", "")


def _reversed(x: Tensor) -> Tensor:
    return ops.transpose(x, axes=tuple(reversed(range(x.ndim)))) if x.ndim > 1 else x


def _order(order: Any) -> str:
    if order not in ("C", "F", "A", "K"):
        raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got {order!r})")
    return str(order)


def _fortran(x: Tensor, order: str) -> bool:
    """Whether an order asks for Fortran's; "A" does if the array is stored so."""
    if order in ("A", "K") and not x.is_symbolic:
        return bool(x.numpy().flags.fnc)
    return order == "F"


@implements(np.reshape)
def reshape(a: Any, /, shape: Any = None, order: str = "C", *, newshape: Any = None, copy: Any = None) -> Tensor:
    """The same elements under another shape; one axis may be -1."""
    x = to_tensor(a)
    target = shape if shape is not None else newshape
    if target is None:
        raise TypeError("reshape() missing 1 required positional argument: 'shape'")
    dims = _target(target, x)
    if _order(order) == "K":
        raise ValueError("order 'K' is not permitted for reshaping")
    if _fortran(x, order):
        result = _reversed(views.reshape(_reversed(x), dims[::-1]))
    else:
        result = views.reshape(x, dims)
    if copy:
        return core.copy(result)  # type: ignore[no-any-return]
    if copy is False and result is not x and result._base is None:
        raise ValueError("Unable to avoid creating a copy while reshaping.")
    return result


def _target(shape: Any, x: Tensor) -> Shape:
    items = list(shape) if isinstance(shape, (list, tuple)) else None
    if items is not None:
        dims = tuple(-1 if _is_minus_one(i) else shape_of((i,))[0] for i in items)
    else:
        dims = (-1,) if _is_minus_one(shape) else shape_of(shape)
    dims = known_minus_one(dims, product(x.dims))
    if decide_equal(product(dims), product(x.dims)) is False:
        raise ShapeError(f"cannot reshape array of size {product(x.dims)} into shape {_text(dims)}")
    return dims


def _is_minus_one(item: Any) -> bool:
    if isinstance(item, Tensor):
        return not item.is_symbolic and item.ndim == 0 and item.dtype.kind == "i" and int(item.numpy()) == -1
    return isinstance(item, (int, np.integer)) and int(item) == -1


@implements(np.ravel)
def ravel(a: Any, order: str = "C") -> Tensor:
    """One dimension: a view where that is possible."""
    x = to_tensor(a)
    order = _order(order)
    if order == "K" and not x.is_symbolic:
        return Tensor(x.numpy().ravel("K")) if x.ndim > 1 and not x.numpy().flags.c_contiguous else ravel(x)
    return views.reshape(_reversed(x) if _fortran(x, order) else x, (product(x.dims),))


# --- transpose ----------------------------------------------------------------------------------------


@implements(np.transpose, names=("permute_dims",))
def transpose(a: Any, axes: Any = None) -> Tensor:
    """The axes permuted; reversed by default."""
    x = to_tensor(a)
    if axes is None:
        return ops.transpose(x, axes=tuple(reversed(range(x.ndim))))  # type: ignore[no-any-return]
    axes = tuple(axes) if isinstance(axes, (list, tuple, np.ndarray)) else (axes,)
    if len(axes) != x.ndim:
        raise ValueError("axes don't match array")
    order = tuple(axis_of(axis, x.ndim, "axes") for axis in axes)
    if len(set(order)) != len(order):
        raise ValueError("repeated axis in transpose")
    return ops.transpose(x, axes=order)  # type: ignore[no-any-return]


@implements(np.matrix_transpose)
def matrix_transpose(x: Any, /) -> Tensor:
    """The last two axes swapped."""
    t = to_tensor(x)
    if t.ndim < 2:
        raise ValueError(f"Input array must be at least 2-dimensional, but it is {t.ndim}")
    return swapaxes(t, -1, -2)


@implements(np.swapaxes)
def swapaxes(a: Any, axis1: int, axis2: int) -> Tensor:
    """Two axes exchanged."""
    x = to_tensor(a)
    axes = list(range(x.ndim))
    i, j = axis_of(axis1, x.ndim, "axis1"), axis_of(axis2, x.ndim, "axis2")
    axes[i], axes[j] = axes[j], axes[i]
    return ops.transpose(x, axes=tuple(axes))  # type: ignore[no-any-return]


@implements(np.moveaxis)
def moveaxis(a: Any, source: Any, destination: Any) -> Tensor:
    """Axes moved to other places; the others keep their order."""
    x = to_tensor(a)
    start, stop = axes_of(source, x.ndim, "source"), axes_of(destination, x.ndim, "destination")
    if len(start) != len(stop):
        raise ValueError("`source` and `destination` arguments must have the same number of elements")
    order = [axis for axis in range(x.ndim) if axis not in start]
    for to, axis in sorted(zip(stop, start, strict=True)):
        order.insert(to, axis)
    return ops.transpose(x, axes=tuple(order))  # type: ignore[no-any-return]


@implements(np.rollaxis)
def rollaxis(a: Any, axis: int, start: int = 0) -> Tensor:
    """One axis rolled back to before another."""
    x = to_tensor(a)
    axis = axis_of(axis, x.ndim)
    if not -x.ndim <= start <= x.ndim:
        raise np.exceptions.AxisError(f"'start' arg requires {-x.ndim} <= start < {x.ndim + 1}, but {start} was passed in")
    start = start + x.ndim if start < 0 else start
    order = [i for i in range(x.ndim) if i != axis]
    order.insert(start - (axis < start), axis)
    return ops.transpose(x, axes=tuple(order))  # type: ignore[no-any-return]


# --- axes of length one ---------------------------------------------------------------------------------


@implements(np.squeeze)
def squeeze(a: Any, axis: Any = None) -> Tensor:
    """Without axes of length one."""
    x = to_tensor(a)
    if axis is None:
        drop = tuple(i for i, dim in enumerate(x.dims) if dim == 1)
        if any(isinstance(dim, Size) for dim in x.dims):
            raise SpecError(
                f"squeeze: whether an axis of {x.spec} has length one is only known at run time",
                remedy="name the axis, squeeze(x, axis=...)",
            )
    else:
        drop = axes_of(axis, x.ndim)
        if any(decide_equal(x.dims[i], 1) is False for i in drop):
            raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    return core.reshape(x, shape=tuple(d for i, d in enumerate(x.dims) if i not in drop))  # type: ignore[no-any-return]


@implements(np.expand_dims)
def expand_dims(a: Any, axis: Any) -> Tensor:
    """New axes of length one, at these places of the result."""
    x = to_tensor(a)
    count = len(axis) if isinstance(axis, (tuple, list)) else 1
    places = axes_of(axis, x.ndim + count)
    dims = iter(x.dims)
    return core.reshape(  # type: ignore[no-any-return]
        x, shape=tuple(1 if i in places else next(dims) for i in range(x.ndim + count))
    )


def _at_least(arrays: Sequence[Any], rank: int) -> Any:
    results = []
    for array in arrays:
        x = to_tensor(array)
        if x.ndim < rank:
            lead = 1 if rank == 3 and x.ndim == 1 else rank - x.ndim
            lead = 0 if rank == 3 and x.ndim == 2 else lead
            shape = ((1,) * lead + x.dims + (1,) * rank)[:rank]
            x = core.reshape(x, shape=shape)
        results.append(x)
    return results[0] if len(results) == 1 else tuple(results)


@implements(np.atleast_1d)
def atleast_1d(*arys: Any) -> Any:
    """Arrays with one axis or more."""
    return _at_least(arys, 1)


@implements(np.atleast_2d)
def atleast_2d(*arys: Any) -> Any:
    """Arrays with two axes or more; new ones in front."""
    return _at_least(arys, 2)


@implements(np.atleast_3d)
def atleast_3d(*arys: Any) -> Any:
    """Arrays with three axes or more."""
    return _at_least(arys, 3)


# --- broadcasting ---------------------------------------------------------------------------------------


@implements(np.broadcast_to)
def broadcast_to(array: Any, shape: Any, subok: bool = False) -> Tensor:
    """A read-only view under a larger shape."""
    x = to_tensor(array)
    dims = shape_of(shape)
    if any(isinstance(dim, int) and dim < 0 for dim in dims):
        raise ValueError("all elements of broadcast shape must be non-negative")
    core._broadcast_spec(x.spec, dims)
    return views.broadcast_view(x, dims)


@implements(np.broadcast_arrays)
def broadcast_arrays(*args: Any, subok: bool = False) -> tuple[Tensor, ...]:
    """Arrays broadcast against each other."""
    xs = [to_tensor(arg) for arg in args]
    shape = core.broadcast_shapes(*(x.dims for x in xs))
    return tuple(x if x.dims == shape else views.broadcast_view(x, shape) for x in xs)


@implements(np.broadcast_shapes)
def broadcast_shapes(*args: Any) -> tuple[Any, ...]:
    """The shape to which shapes broadcast."""
    dims = core.broadcast_shapes(*(shape_of(arg) for arg in args))
    return tuple(dim if isinstance(dim, int) else as_tensor(dim) for dim in dims)


# --- joining --------------------------------------------------------------------------------------------


def sequence(arrays: Any, name: str) -> list[Tensor]:
    """A sequence of arrays (an array counts as the sequence of its rows) as tensors."""
    if isinstance(arrays, (str, bytes)) or not hasattr(arrays, "__iter__"):
        raise TypeError(f"{name}: expected a sequence of arrays, got {type(arrays).__name__}")
    if isinstance(arrays, (Tensor, np.ndarray)) and not arrays.ndim:
        raise TypeError(f"{name}: expected a sequence of arrays, got a 0-d array")
    if not isinstance(arrays, (list, tuple, Tensor, np.ndarray)):
        raise TypeError('arrays to stack must be passed as a "sequence" type such as list or tuple.')
    return [to_tensor(array) for array in arrays]


def join_dtype(xs: Sequence[Tensor], dtype: Any, casting: str) -> list[Tensor]:
    """Arrays in their common dtype, or in the one asked for."""
    if dtype is None:
        target = result_type(*(operand(x) for x in xs))
        return [astype(x, target) for x in xs]
    target = np.dtype(dtype)
    for x in xs:
        if not np.can_cast(x.dtype, target, casting):  # type: ignore[arg-type]
            raise SpecError(f"Cannot cast array data from {x.dtype!r} to {target!r} according to the rule '{casting}'")
    return [astype(x, target) for x in xs]


@implements(np.concatenate, names=("concat",))
def concatenate(
    arrays: Any, /, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind"
) -> Any:
    """Arrays joined along an axis they have; `axis=None` flattens them first."""
    xs = sequence(arrays, "concatenate")
    if not xs:
        raise ValueError("need at least one array to concatenate")
    if axis is None:
        xs, axis = [ravel(x) for x in xs], 0
    if any(x.ndim == 0 for x in xs):
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    axis = axis_of(axis, xs[0].ndim)
    if dtype is None and out is not None:
        dtype = out.dtype
    return finish(ops.concatenate(*join_dtype(xs, dtype, casting), axis=axis), out)


@implements(np.stack)
def stack(
    arrays: Any, axis: int = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind"
) -> Any:
    """Arrays of one shape joined along a new axis."""
    xs = sequence(arrays, "stack")
    if not xs:
        raise ValueError("need at least one array to stack")
    for x in xs:
        if x.ndim != xs[0].ndim or any(
            decide_equal(a, b) is False for a, b in zip(x.dims, xs[0].dims, strict=True)
        ):
            raise ValueError("all input arrays must have the same shape")
    axis = axis_of(axis, xs[0].ndim + 1)
    return concatenate([ops.expand_dims(x, axis) for x in xs], axis, out, dtype=dtype, casting=casting)


@implements(np.vstack, names=("row_stack",))
def vstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Tensor:
    """Arrays stacked row-wise."""
    xs = [atleast_2d(x) for x in sequence(tup, "vstack")]
    return concatenate(xs, 0, dtype=dtype, casting=casting)  # type: ignore[no-any-return]


@implements(np.hstack)
def hstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Tensor:
    """Arrays stacked column-wise (1-d arrays end to end)."""
    xs = [atleast_1d(x) for x in sequence(tup, "hstack")]
    axis = 0 if xs and xs[0].ndim == 1 else 1
    return concatenate(xs, axis, dtype=dtype, casting=casting)  # type: ignore[no-any-return]


@implements(np.dstack)
def dstack(tup: Any) -> Tensor:
    """Arrays stacked along the third axis."""
    return concatenate([atleast_3d(x) for x in sequence(tup, "dstack")], 2)  # type: ignore[no-any-return]


@implements(np.column_stack)
def column_stack(tup: Any) -> Tensor:
    """1-d arrays as columns of a matrix."""
    xs = sequence(tup, "column_stack")
    return concatenate([matrix_transpose(atleast_2d(x)) if x.ndim < 2 else x for x in xs], 1)  # type: ignore[no-any-return]


@implements(np.block)
def block(arrays: Any) -> Tensor:
    """Nested lists of blocks: the innermost lists join along the last axis, and so on outwards."""
    depth = _depth(arrays)
    rank = max(depth, _widest(arrays))
    return _joined(arrays, depth, rank)


def _depth(arrays: Any) -> int:
    if isinstance(arrays, tuple):
        raise TypeError("np.block: only lists can be used to arrange blocks; np.block does not allow implicit conversion from tuple to ndarray.")
    if not isinstance(arrays, list):
        return 0
    if not arrays:
        raise ValueError("List at arrays cannot be empty")
    depths = {_depth(item) for item in arrays}
    if len(depths) > 1:
        raise ValueError("List depths are mismatched in np.block")
    return 1 + depths.pop()


def _widest(arrays: Any) -> int:
    return max(map(_widest, arrays)) if isinstance(arrays, list) else to_tensor(arrays).ndim


def _joined(arrays: Any, depth: int, rank: int) -> Tensor:
    if not depth:
        x = to_tensor(arrays)
        full = core.reshape(x, shape=(1,) * (rank - x.ndim) + x.dims)
        return core.copy(full)  # type: ignore[no-any-return]
    parts = [_joined(item, depth - 1, rank) for item in arrays]
    return concatenate(parts, rank - depth)  # type: ignore[no-any-return]


# --- splitting ------------------------------------------------------------------------------------------


def _part(x: Tensor, axis: int, start: Any, stop: Any) -> Tensor:
    return getitem(x, (ALL,) * axis + (slice(start, stop),))


@implements(np.array_split)
def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Tensor]:
    """Views of parts along an axis: so many, as equal as may be, or cut at these indices."""
    x = to_tensor(ary)
    axis = axis_of(axis, x.ndim)
    try:
        cuts = [0, *list(indices_or_sections)]
    except TypeError:
        count = int(indices_or_sections)
        if count <= 0:
            raise ValueError("number sections must be larger than 0.") from None
        return _equal_parts(x, count, axis)
    stops = [*cuts[1:], None]
    return [_part(x, axis, start, stop) for start, stop in zip(cuts, stops, strict=True)]


def _equal_parts(x: Tensor, count: int, axis: int) -> list[Tensor]:
    length = x.dims[axis]
    each, extra = size_op("floordiv", length, count), size_op("mod", length, count)
    cuts = [each * i + size_op("min", extra, i) for i in range(count + 1)]
    return [_part(x, axis, a, b) for a, b in zip(cuts, cuts[1:], strict=False)]


@implements(np.split)
def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Tensor]:
    """Views of equal parts along an axis, or of parts cut at these indices."""
    x = to_tensor(ary)
    if hasattr(indices_or_sections, "__len__") and np.ndim(indices_or_sections):
        return array_split(x, indices_or_sections, axis)
    axis, count = axis_of(axis, x.ndim), int(indices_or_sections)
    if count <= 0:
        raise ValueError("number sections must be larger than 0.")
    length = x.dims[axis]
    if decide_equal(size_op("mod", length, count), 0) is False:
        raise ValueError("array split does not result in an equal division")
    if isinstance(length, int) or decide_less(length, count) is True:
        return array_split(x, count, axis)
    each = size_op("floordiv", length, count)
    rows = core.reshape(x, shape=(*x.dims[:axis], count, each, *x.dims[axis + 1 :]))  # fails unless equal
    return [getitem(rows, (ALL,) * axis + (i,)) for i in range(count)]


def _split_along(x: Any, indices_or_sections: Any, axis: int, least: int, name: str) -> list[Tensor]:
    if to_tensor(x).ndim < least:
        raise ValueError(f"{name} only works on arrays of {least} or more dimensions")
    return split(x, indices_or_sections, axis)


@implements(np.hsplit)
def hsplit(ary: Any, indices_or_sections: Any) -> list[Tensor]:
    """Parts column-wise."""
    x = to_tensor(ary)
    return _split_along(x, indices_or_sections, 1 if x.ndim > 1 else 0, 1, "hsplit")


@implements(np.vsplit)
def vsplit(ary: Any, indices_or_sections: Any) -> list[Tensor]:
    """Parts row-wise."""
    return _split_along(ary, indices_or_sections, 0, 2, "vsplit")


@implements(np.dsplit)
def dsplit(ary: Any, indices_or_sections: Any) -> list[Tensor]:
    """Parts along the third axis."""
    return _split_along(ary, indices_or_sections, 2, 3, "dsplit")


@implements(np.unstack)
def unstack(x: Any, /, *, axis: int = 0) -> tuple[Tensor, ...]:
    """The parts of an array along an axis, without that axis."""
    t = to_tensor(x)
    if not t.ndim:
        raise ValueError("Input array must be at least 1-d.")
    axis = axis_of(axis, t.ndim)
    length = t.dims[axis]
    if not isinstance(length, int):
        raise SpecError(f"unstack: axis {axis} of {t.spec} has a length only known at run time")
    return tuple(getitem(t, (ALL,) * axis + (i,)) for i in range(length))
