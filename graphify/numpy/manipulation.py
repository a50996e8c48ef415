"""Shapes: reshape, transpose, axes added and dropped, broadcasting.

What NumPy gives as a view is a view here, too: writing through it writes to its base.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphify.errors import ConcreteValueNeeded, ShapeError, SpecError
from graphify.ir.sizes import Dim, Shape, Size, decide_equal, product, size_op
from graphify.ir.tensor import Tensor
from graphify.ir.wrapping import as_tensor
from graphify.location import here
from graphify.numpy._table import (
    axes_of,
    axis_of,
    broadcast_dims,
    equal_lengths,
    implements,
    reduced_axes,
    shape_of,
    to_tensor,
)
from graphify.ops import core, views
from graphify.ops import shape as ops

# --- reshape --------------------------------------------------------------------------------------


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
    if (
        isinstance(total, Size)
        and isinstance(rest, Size)
        and len(rest.terms) == 1
        and len(total.terms) == 1
    ):
        (top, a), (bottom, b) = total.terms[0], rest.terms[0]
        powers = dict(top)
        if a % b == 0 and all(powers.get(atom, 0) >= power for atom, power in bottom):
            left = {atom: power - dict(bottom).get(atom, 0) for atom, power in powers.items()}
            kept = tuple((atom, left[atom]) for atom, _ in top if left[atom])
            return Size(((kept, a // b),)) if kept else a // b
    return size_op("floordiv", total, rest)


def _text(shape: Shape) -> str:
    return str(tuple(shape)).replace(" ", "")


def _reversed(x: Tensor) -> Tensor:
    return ops.transpose(x, axes=tuple(reversed(range(x.ndim)))) if x.ndim > 1 else x


def as_order(order: Any, known: str = "CFAK") -> str:
    """The capital letter of an order argument; None is "C"."""
    if order is None:
        return "C"
    if not isinstance(order, str):
        raise TypeError(f"order must be str, not {type(order).__name__}")
    if len(order) != 1 or order.upper() not in known:
        raise ValueError(f"order must be one of {', '.join(map(repr, known))} (got {order!r})")
    return order.upper()


def _check_memory(x: Tensor, order: str) -> None:
    """Refuse orders that ask how an array lies in memory where a graph cannot know it."""
    if order in ("A", "K") and x.is_symbolic and x.ndim > 1 and not views.in_c_order(x):
        raise SpecError(
            f"order {order!r}: how the array lies in memory is not known while tracing",
            remedy="use order='C' or order='F'",
        )


def _fortran(x: Tensor, order: str) -> bool:
    """Whether an order asks for Fortran's; "A" does if the array is stored so."""
    _check_memory(x, order)
    if order in ("A", "K") and not x.is_symbolic:
        return bool(x.numpy().flags.fnc)
    return order == "F"


def _array(a: Any) -> Tensor:
    """An argument as a tensor; a Python number as a 0-d array."""
    number = type(a) in (bool, int, float, complex) or isinstance(a, Tensor) and a.spec.weak
    return core.as_array(to_tensor(a)) if number else to_tensor(a)


@implements(np.reshape)
def reshape(
    a: Any, /, shape: Any = None, order: str = "C", *, newshape: Any = None, copy: Any = None
) -> Tensor:
    """The same elements under another shape; one axis may be -1."""
    x = _array(a)
    target = shape if shape is not None else newshape
    if target is None:
        raise TypeError("reshape() missing 1 required positional argument: 'shape'")
    dims = _target(target, x)
    order = as_order(order)
    if order == "K":
        raise ValueError("order 'K' is not permitted for reshaping")
    if isinstance(copy, str):
        raise ValueError("strings are not allowed for 'copy' keyword. Use True/False/None instead.")
    if _fortran(x, order):
        result = _reversed(views.reshape(_reversed(x), dims[::-1]))
    else:
        result = views.reshape(x, dims)
    if copy:
        return core.copy(result)
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
        return (
            not item.is_symbolic
            and item.ndim == 0
            and item.dtype.kind == "i"
            and int(item.numpy()) == -1
        )
    return isinstance(item, (int, np.integer)) and int(item) == -1


def _memory_order(x: Tensor) -> tuple[int, ...]:
    """The axes as they lie in memory, the slowest first; of a graph's array, as they are."""
    if x.is_symbolic:
        return tuple(range(x.ndim))
    strides = [abs(s) for s in x.numpy().strides]
    return tuple(sorted(range(x.ndim), key=lambda axis: -strides[axis]))


@implements(np.ravel)
def ravel(a: Any, order: str = "C") -> Tensor:
    """One dimension: a view of what lies in that order, else a copy."""
    x = to_tensor(a)
    order = as_order(order)
    if order == "K":
        _check_memory(x, order)
        x = ops.transpose(x, axes=_memory_order(x)) if x.ndim > 1 else x
        return views.reshape(x, (product(x.dims),))
    x = _reversed(x) if _fortran(x, order) else x
    return views.ravel(x)


# --- transpose ------------------------------------------------------------------------------------


@implements(np.transpose, names=("permute_dims",))
def transpose(a: Any, axes: Any = None) -> Tensor:
    """The axes permuted; reversed by default."""
    x = _array(a)
    if axes is None:
        return ops.transpose(x, axes=tuple(reversed(range(x.ndim))))
    axes = tuple(axes) if isinstance(axes, (list, tuple, np.ndarray)) else (axes,)
    if len(axes) != x.ndim:
        raise ValueError("axes don't match array")
    order = tuple(axis_of(axis, x.ndim, "axes") for axis in axes)
    if len(set(order)) != len(order):
        raise ValueError("repeated axis in transpose")
    return ops.transpose(x, axes=order)


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
    return ops.transpose(x, axes=tuple(axes))


@implements(np.moveaxis)
def moveaxis(a: Any, source: Any, destination: Any) -> Tensor:
    """Axes moved to other places; the others keep their order."""
    x = to_tensor(a)
    start, stop = axes_of(source, x.ndim, "source"), axes_of(destination, x.ndim, "destination")
    if len(start) != len(stop):
        raise ValueError(
            "`source` and `destination` arguments must have the same number of elements"
        )
    order = [axis for axis in range(x.ndim) if axis not in start]
    for to, axis in sorted(zip(stop, start, strict=True)):
        order.insert(to, axis)
    return ops.transpose(x, axes=tuple(order))


@implements(np.rollaxis)
def rollaxis(a: Any, axis: int, start: int = 0) -> Tensor:
    """One axis rolled back to before another."""
    x = to_tensor(a)
    axis = axis_of(axis, x.ndim)
    if not -x.ndim <= start <= x.ndim:
        raise np.exceptions.AxisError(
            f"'start' arg requires {-x.ndim} <= start < {x.ndim + 1}, but {start} was passed in"
        )
    start = start + x.ndim if start < 0 else start
    order = [i for i in range(x.ndim) if i != axis]
    order.insert(start - (axis < start), axis)
    return ops.transpose(x, axes=tuple(order))


# --- axes of length one ---------------------------------------------------------------------------


@implements(np.squeeze)
def squeeze(a: Any, axis: Any = None) -> Tensor:
    """Without axes of length one."""
    x = _array(a)
    if axis is None:
        if any(isinstance(dim, Size) for dim in x.dims):
            raise ConcreteValueNeeded(
                f"squeeze: which axes of {x.spec} have length one is only known when the graph "
                "runs, and with them the rank of the result",
                location=here(),
                remedy="name the axes, np.squeeze(x, axis=...): then the run checks their lengths",
            )
        drop = tuple(i for i, dim in enumerate(x.dims) if dim == 1)
    else:
        drop = reduced_axes(axis, x.ndim)
        for i in drop:
            message = "cannot select an axis to squeeze out which has size not equal to one"
            equal_lengths(x.dims[i], 1, message, ValueError)
    return core.reshape(x, shape=tuple(d for i, d in enumerate(x.dims) if i not in drop))


@implements(np.expand_dims)
def expand_dims(a: Any, axis: Any) -> Tensor:
    """New axes of length one, at these places of the result."""
    x = to_tensor(a)
    items = axis if isinstance(axis, (tuple, list)) else (axis,)
    count = len(items)
    places = axes_of(items, x.ndim + count)
    dims = iter(x.dims)
    return core.reshape(
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


# --- broadcasting ---------------------------------------------------------------------------------


@implements(np.broadcast_to)
def broadcast_to(array: Any, shape: Any, subok: bool = False) -> Tensor:
    """A read-only view under a larger shape."""
    x = to_tensor(array)
    dims = shape_of(shape)
    if any(isinstance(dim, int) and dim < 0 for dim in dims):
        raise ValueError("all elements of broadcast shape must be non-negative")
    core._broadcast_spec(x.spec, dims)
    return views.broadcast_view(x, dims)


@implements(np.broadcast_arrays, zero_d="array")
def broadcast_arrays(*args: Any, subok: bool = False) -> tuple[Tensor, ...]:
    """Arrays broadcast against each other."""
    xs = [to_tensor(arg) for arg in args]
    shape = broadcast_dims(*(x.dims for x in xs))
    return tuple(x if x.dims == shape else views.broadcast_view(x, shape) for x in xs)


@implements(np.broadcast_shapes)
def broadcast_shapes(*args: Any) -> tuple[Any, ...]:
    """The shape to which shapes broadcast."""
    dims = broadcast_dims(*(shape_of(arg) for arg in args))
    return tuple(dim if isinstance(dim, int) else as_tensor(dim) for dim in dims)
