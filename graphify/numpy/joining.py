"""Joining and splitting arrays: concatenate and its family, block, split and its family.

Parts of a split are views, as in NumPy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphify.errors import DTypeError, SpecError
from graphify.ir.kinds import of_elements
from graphify.ir.promotion import result_type
from graphify.ir.sizes import decide_equal, decide_less, size_op
from graphify.ir.tensor import Tensor
from graphify.ir.wrapping import as_tensor
from graphify.numpy._table import Casting, astype, axis_of, finish, implements, to_tensor
from graphify.numpy.manipulation import atleast_1d, atleast_2d, atleast_3d, matrix_transpose, ravel
from graphify.ops import core
from graphify.ops import shape as ops
from graphify.ops.keys import getitem
from graphify.ops.rules import operand

ALL = slice(None)

# --- joining --------------------------------------------------------------------------------------


def sequence(arrays: Any, name: str) -> list[Tensor]:
    """A sequence of arrays (an array counts as the sequence of its rows) as tensors."""
    if isinstance(arrays, (str, bytes)) or not hasattr(arrays, "__iter__"):
        raise TypeError(f"{name}: expected a sequence of arrays, got {type(arrays).__name__}")
    if isinstance(arrays, (Tensor, np.ndarray)) and not arrays.ndim:
        raise TypeError(f"{name}: expected a sequence of arrays, got a 0-d array")
    if not isinstance(arrays, (list, tuple, Tensor, np.ndarray)):
        raise TypeError(
            'arrays to stack must be passed as a "sequence" type such as list or tuple.'
        )
    rows: Any = arrays
    return [to_tensor(array) for array in rows]


def join_dtype(xs: Sequence[Tensor], dtype: Any, casting: Casting) -> list[Tensor]:
    """Arrays in their common dtype, or in the one asked for."""
    target = result_type(*(operand(x) for x in xs)) if dtype is None else np.dtype(dtype)
    for x in xs:
        if not np.can_cast(x.dtype, target, casting):
            raise DTypeError(
                f"Cannot cast array data from {x.dtype!r} to {target!r} according "
                f"to the rule '{casting}'"
            )
    return [astype(x, target) for x in xs]


@implements(np.concatenate, names=("concat",))
def concatenate(
    arrays: Any,
    /,
    axis: Any = 0,
    out: Any = None,
    *,
    dtype: Any = None,
    casting: Casting = "same_kind",
) -> Tensor:
    """Arrays joined along an axis they have; `axis=None` flattens them first."""
    xs = sequence(arrays, "concatenate")
    if not xs:
        raise ValueError("need at least one array to concatenate")
    if axis is None:
        if dtype is None:  # Python numbers adapt to the arrays here, unlike in append
            given = [as_tensor(x) for x in arrays]
            target = result_type(*(operand(x) for x in given))
            xs = [to_tensor(astype(x, target)) for x in given]
        xs, axis = [ravel(x) for x in xs], 0
    if any(x.ndim == 0 for x in xs):
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    axis = axis_of(axis, xs[0].ndim)
    if dtype is None and out is not None:
        dtype = out.dtype
    made = ops.concatenate(*join_dtype(xs, dtype, casting), axis=axis)
    return finish(of_elements(made, xs) if dtype is None else made, out)


@implements(np.stack)
def stack(
    arrays: Any,
    axis: int = 0,
    out: Any = None,
    *,
    dtype: Any = None,
    casting: Casting = "same_kind",
) -> Tensor:
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
    return concatenate(
        [ops.expand_dims(x, axis) for x in xs], axis, out, dtype=dtype, casting=casting
    )


@implements(np.vstack, names=("row_stack",))
def vstack(tup: Any, *, dtype: Any = None, casting: Casting = "same_kind") -> Tensor:
    """Arrays stacked row-wise."""
    xs = [atleast_2d(x) for x in sequence(tup, "vstack")]
    return concatenate(xs, 0, dtype=dtype, casting=casting)


@implements(np.hstack)
def hstack(tup: Any, *, dtype: Any = None, casting: Casting = "same_kind") -> Tensor:
    """Arrays stacked column-wise (1-d arrays end to end)."""
    xs = [atleast_1d(x) for x in sequence(tup, "hstack")]
    axis = 0 if xs and xs[0].ndim == 1 else 1
    return concatenate(xs, axis, dtype=dtype, casting=casting)


@implements(np.dstack)
def dstack(tup: Any) -> Tensor:
    """Arrays stacked along the third axis."""
    return concatenate([atleast_3d(x) for x in sequence(tup, "dstack")], 2)


@implements(np.column_stack)
def column_stack(tup: Any) -> Tensor:
    """1-d arrays as columns of a matrix."""
    xs = sequence(tup, "column_stack")
    return concatenate([matrix_transpose(atleast_2d(x)) if x.ndim < 2 else x for x in xs], 1)


@implements(np.block, zero_d="array")
def block(arrays: Any) -> Tensor:
    """Nested lists of blocks: the innermost lists join along the last axis, and so on outwards."""
    depth = _depth(arrays)
    rank = max(depth, _widest(arrays))
    return _joined(arrays, depth, rank)


def _depth(arrays: Any) -> int:
    if isinstance(arrays, tuple):
        raise TypeError(
            "np.block: only lists can be used to arrange blocks; np.block does "
            "not allow implicit conversion from tuple to ndarray."
        )
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
        return core.copy(full)
    parts = [_joined(item, depth - 1, rank) for item in arrays]
    return concatenate(parts, rank - depth)


# --- splitting ------------------------------------------------------------------------------------


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
    length, uneven = x.dims[axis], "array split does not result in an equal division"
    if count == 0:
        raise ZeroDivisionError("integer modulo by zero")
    if count < 0:
        raise ValueError("number sections must be larger than 0.")
    if decide_equal(size_op("mod", length, count), 0) is False:
        raise ValueError(uneven)
    if count != indices_or_sections and not (
        isinstance(length, int) and length % indices_or_sections == 0
    ):
        raise ValueError(uneven)
    if isinstance(length, int) or decide_less(length, count) is True:
        return array_split(x, count, axis)
    each = size_op("floordiv", length, count)
    rows = core.reshape(
        x, shape=(*x.dims[:axis], count, each, *x.dims[axis + 1 :])
    )  # fails unless equal
    return [getitem(rows, (ALL,) * axis + (i,)) for i in range(count)]


def _split_along(
    x: Any, indices_or_sections: Any, axis: int, least: int, name: str
) -> list[Tensor]:
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
