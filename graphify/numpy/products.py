"""Products of arrays: dot and its family, cross, kron, convolve."""

from __future__ import annotations

import operator
from types import SimpleNamespace
from typing import Any

import numpy as np

from graphify.errors import ShapeError, SpecError
from graphify.ir.promotion import result_type
from graphify.ir.sizes import Dim, decide_equal, decide_less, product
from graphify.ir.tensor import Tensor
from graphify.ir.types import BOOL, is_complex
from graphify.numpy._table import (
    FUNCTIONS,
    NAMES,
    Casting,
    astype,
    at_least,
    axis_of,
    cast_operand,
    check_options,
    finish,
    implements,
    integer_of,
    publish,
    to_tensor,
)
from graphify.numpy.manipulation import ravel
from graphify.numpy.reduction import sum_
from graphify.ops import core, views
from graphify.ops import elementwise as e
from graphify.ops import shape as ops
from graphify.ops.keys import getitem
from graphify.ops.linalg import common
from graphify.ops.linalg import matmul as matmul_op
from graphify.ops.rules import operand
from graphify.ops.shape import move_axis


def _matrix(x: Tensor, rows: Dim, columns: Dim) -> Tensor:
    return core.reshape(x, shape=(rows, columns))


def _aligned(a: Dim, b: Dim) -> bool:
    return decide_equal(a, b) is not False


@implements(np.matmul)
def matmul(
    x1: Any,
    x2: Any,
    /,
    out: Any = None,
    *,
    casting: Casting = "same_kind",
    order: str = "K",
    dtype: Any = None,
    subok: bool = True,
    signature: Any = None,
    axes: Any = None,
    axis: Any = None,
) -> Tensor:
    """The matrix product; stacks of matrices on leading axes."""
    if axes is not None or axis is not None or signature is not None:
        raise SpecError(
            "matmul: axes, axis and signature are not supported", remedy="move the axes first"
        )
    check_options(casting, order)
    a, b = (cast_operand("matmul", to_tensor(x), dtype, casting) for x in (x1, x2))
    return finish(core.strong(matmul_op(a, b)), out, casting)


@implements(np.vecdot)
def vecdot(
    x1: Any,
    x2: Any,
    /,
    out: Any = None,
    *,
    axis: int = -1,
    casting: Casting = "same_kind",
    order: str = "K",
    dtype: Any = None,
    subok: bool = True,
) -> Tensor:
    """Inner products along an axis, the first operand conjugated."""
    check_options(casting, order)
    a, b = common(*(cast_operand("vecdot", to_tensor(x), dtype, casting) for x in (x1, x2)))
    if not a.ndim or not b.ndim:
        raise ValueError("vecdot: Input operand 0 does not have enough dimensions")
    a = move_axis(a, axis_of(axis, a.ndim), a.ndim - 1)
    b = move_axis(b, axis_of(axis, b.ndim), b.ndim - 1)
    a = e.conjugate(a) if is_complex(a.dtype) else a
    rows, columns = (
        core.reshape(a, shape=(*a.dims[:-1], 1, a.dims[-1])),
        core.reshape(b, shape=(*b.dims, 1)),
    )
    y = matmul_op(rows, columns)
    return finish(core.reshape(y, shape=y.dims[:-2]), out, casting)


@implements(np.matvec)
def matvec(x1: Any, x2: Any, /, out: Any = None) -> Tensor:
    """Matrices times vectors, both in stacks."""
    a, b = common(to_tensor(x1), to_tensor(x2))
    if a.ndim < 2 or b.ndim < 1:
        raise ValueError("matvec: Input operand does not have enough dimensions")
    y = matmul_op(a, core.reshape(b, shape=(*b.dims, 1)))
    return finish(core.reshape(y, shape=y.dims[:-1]), out)


@implements(np.vecmat)
def vecmat(x1: Any, x2: Any, /, out: Any = None) -> Tensor:
    """Vectors, conjugated, times matrices, both in stacks."""
    a, b = common(to_tensor(x1), to_tensor(x2))
    if a.ndim < 1 or b.ndim < 2:
        raise ValueError("vecmat: Input operand does not have enough dimensions")
    a = e.conjugate(a) if is_complex(a.dtype) else a
    y = matmul_op(core.reshape(a, shape=(*a.dims[:-1], 1, a.dims[-1])), b)
    return finish(core.reshape(y, shape=(*y.dims[:-2], y.dims[-1])), out)


@implements(np.dot)
def dot(a: Any, b: Any, out: Any = None) -> Tensor:
    """The last axis of the first against the last but one of the second."""
    x, y = common(to_tensor(a), to_tensor(b))
    if not x.ndim or not y.ndim:
        return finish(core.strong(_multiply(x, y)), out)
    if x.ndim <= 2 and y.ndim <= 2:
        return finish(_dot2(x, y), out)
    axis = max(y.ndim - 2, 0)
    if not _aligned(x.dims[-1], y.dims[axis]):
        raise _misaligned(x, y, x.ndim - 1, axis)
    return finish(tensordot(x, y, ((x.ndim - 1,), (axis,))), out)


def _multiply(x: Tensor, y: Tensor) -> Tensor:
    return e.logical_and(x, y) if x.dtype == BOOL else e.multiply(x, y)


def _misaligned(x: Tensor, y: Tensor, i: int, j: int) -> ShapeError:
    return ShapeError(
        f"shapes {x.dims} and {y.dims} not aligned: {x.dims[i]} (dim {i}) != {y.dims[j]} (dim {j})"
    )


def _dot2(x: Tensor, y: Tensor) -> Tensor:
    if not _aligned(x.dims[-1], y.dims[0]):
        raise _misaligned(x, y, x.ndim - 1, 0)
    return matmul_op(x, y)


@implements(np.vdot)
def vdot(a: Any, b: Any, /) -> Tensor:
    """The inner product of two flattened arrays, the first conjugated."""
    x, y = common(ravel(a), ravel(b))
    if not _aligned(x.dims[0], y.dims[0]):
        raise ValueError(f"cannot reshape array of size {y.dims[0]} into shape ({x.dims[0]},)")
    return matmul_op(e.conjugate(x) if is_complex(x.dtype) else x, y)


@implements(np.inner, zero_d="scalar")
def inner(a: Any, b: Any, /) -> Tensor:
    """Products summed over the last axis of both."""
    x, y = common(to_tensor(a), to_tensor(b))
    if not x.ndim or not y.ndim:
        return core.strong(_multiply(x, y))
    if not _aligned(x.dims[-1], y.dims[-1]):
        raise _misaligned(x, y, x.ndim - 1, y.ndim - 1)
    return tensordot(x, y, ((x.ndim - 1,), (y.ndim - 1,)))


@implements(np.outer)
def outer(a: Any, b: Any, out: Any = None) -> Tensor:
    """Every element of the first times every one of the second."""
    x, y = ravel(a), ravel(b)
    columns = core.reshape(x, shape=(*x.dims, 1))
    return finish(core.strong(NAMES["multiply"](columns, y)), out)


@implements(np.tensordot)
def tensordot(a: Any, b: Any, axes: Any = 2) -> Tensor:
    """Products summed over some axes of both."""
    x, y = common(to_tensor(a), to_tensor(b))
    left, right = _summed_axes(x, y, axes)
    if len(left) != len(right) or not all(
        _aligned(x.dims[i], y.dims[j]) for i, j in zip(left, right, strict=True)
    ):
        raise ValueError("shape-mismatch for sum")
    kept_x = [i for i in range(x.ndim) if i not in left]
    kept_y = [j for j in range(y.ndim) if j not in right]
    summed = product(x.dims[i] for i in left)
    rows, columns = tuple(x.dims[i] for i in kept_x), tuple(y.dims[j] for j in kept_y)
    at = _matrix(ops.transpose(x, axes=(*kept_x, *left)), product(rows), summed)
    pairs = [(y.dims[j], x.dims[i]) for i, j in zip(left, right, strict=True)]
    same = product(ops.checked_dim(a, b, "shape-mismatch for sum") for a, b in pairs)
    bt = _matrix(ops.transpose(y, axes=(*right, *kept_y)), same, product(columns))
    return core.reshape(matmul_op(at, bt), shape=(*rows, *columns))


def _summed_axes(x: Tensor, y: Tensor, axes: Any) -> tuple[list[int], list[int]]:
    try:
        first, second = axes
    except TypeError:
        count = operator.index(axes)
        if count > min(x.ndim, y.ndim):
            raise IndexError("tuple index out of range") from None
        if count < 0:
            raise ValueError("shape-mismatch for sum") from None
        return list(range(x.ndim - count, x.ndim)), list(range(count))
    sides = [list(s) if isinstance(s, (list, tuple, np.ndarray)) else [s] for s in (first, second)]
    if len(sides[0]) != len(sides[1]):
        raise ValueError("shape-mismatch for sum")
    for side, t in zip(sides, (x, y), strict=True):
        for axis in side:
            if not -t.ndim <= axis < t.ndim:
                raise IndexError("tuple index out of range")
    left = [axis_of(a, x.ndim) for a in sides[0]]
    right = [axis_of(a, y.ndim) for a in sides[1]]
    if len(set(left)) < len(left) or len(set(right)) < len(right):
        raise ValueError("duplicate axes are not allowed in tensordot")
    return left, right


@implements(np.trace)
def trace(
    a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None
) -> Tensor:
    """The sum along a diagonal."""
    return sum_(diagonal(a, offset, axis1, axis2), axis=-1, dtype=dtype, out=out)


@implements(np.diagonal)
def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """A read-only view of a diagonal, as the last axis."""
    x = to_tensor(a)
    if x.ndim < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    i, j = axis_of(axis1, x.ndim, "axis1"), axis_of(axis2, x.ndim, "axis2")
    if i == j:
        raise ValueError("axis1 and axis2 cannot be the same")
    return views.diagonal(x, offset=operator.index(offset), axis1=i, axis2=j)


@implements(np.kron)
def kron(a: Any, b: Any) -> Tensor:
    """The Kronecker product."""
    x, y = to_tensor(a), to_tensor(b)
    rank = max(x.ndim, y.ndim)
    xd, yd = (1,) * (rank - x.ndim) + x.dims, (1,) * (rank - y.ndim) + y.dims
    wide = core.reshape(x, shape=tuple(d for dim in xd for d in (dim, 1)))
    other = core.reshape(y, shape=tuple(d for dim in yd for d in (1, dim)))
    y = core.strong(NAMES["multiply"](wide, other))
    return core.reshape(y, shape=tuple(p * q for p, q in zip(xd, yd, strict=True)))


@implements(np.cross, zero_d="array")
def cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None
) -> Tensor:
    """The cross product of vectors of three elements."""
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = to_tensor(a), to_tensor(b)
    if x.ndim < 1 or y.ndim < 1:
        raise ValueError("At least one array has zero dimension")
    x = move_axis(x, axis_of(axisa, x.ndim, "axisa"), x.ndim - 1)
    y = move_axis(y, axis_of(axisb, y.ndim, "axisb"), y.ndim - 1)
    sizes = (x.dims[-1], y.dims[-1])
    if sizes != (3, 3):
        if not all(isinstance(s, int) for s in sizes):
            raise SpecError(
                f"cross: whether vectors of {x.spec} and {y.spec} have two elements or three is "
                "only known when the graph runs",
                remedy="say how many there are: x.reshape(3), or x.reshape(-1, 3) for rows",
            )
        if any(s not in (2, 3) for s in sizes):
            raise ValueError(
                "incompatible dimensions for cross product\n(dimension must be 2 "
                f"or 3), got {sizes}"
            )
        return _flat_cross(x, y, axisc)
    u, v = ([getitem(t, (Ellipsis, i)) for i in range(3)] for t in (x, y))
    parts = [u[(i + 1) % 3] * v[(i + 2) % 3] - u[(i + 2) % 3] * v[(i + 1) % 3] for i in range(3)]
    result = NAMES["stack"](parts, axis=-1)
    return move_axis(result, result.ndim - 1, axis_of(axisc, result.ndim, "axisc"))


def _flat_cross(x: Tensor, y: Tensor, axisc: int) -> Tensor:
    """Vectors of two elements count as lying in a plane (which NumPy deprecates)."""
    (x0, x1), (y0, y1) = ([getitem(t, (Ellipsis, i)) for i in range(2)] for t in (x, y))
    last = x0 * y1 - x1 * y0
    if x.dims[-1] == y.dims[-1] == 2:
        return core.strong(last)
    if x.dims[-1] == 2:
        y2 = getitem(y, (Ellipsis, 2))
        parts = [x1 * y2, -(x0 * y2), last]
    else:
        x2 = getitem(x, (Ellipsis, 2))
        parts = [-(x2 * y1), x2 * y0, last]
    result = NAMES["stack"](parts, axis=-1)
    return move_axis(result, result.ndim - 1, axis_of(axisc, result.ndim, "axisc"))


# --- convolution ----------------------------------------------------------------------------------


def _vectors(a: Any, v: Any) -> tuple[Tensor, Tensor]:
    x, y = to_tensor(a), to_tensor(v)
    x, y = (core.reshape(t, shape=(1,)) if not t.ndim else t for t in (x, y))
    if x.ndim > 1 or y.ndim > 1:
        raise ValueError("object too deep for desired array")
    for t, name in ((x, "first"), (y, "second")):
        at_least(t.dims[0], 1, f"{name} array argument cannot be empty")
    dtype = result_type(operand(x), operand(y))
    return astype(x, dtype), astype(y, dtype)


def _mode(mode: Any) -> str:
    names = ("valid", "same", "full")
    if isinstance(mode, str):
        if mode not in names:
            raise ValueError(f"mode must be one of 'valid', 'same', or 'full' (got {mode!r})")
        return mode
    number = integer_of(mode, "convolve/correlate mode not understood")
    if not 0 <= number < len(names):
        raise ValueError("integer convolve/correlate mode must be 0, 1, or 2")
    return names[number]


def _slide(long: Tensor, short: Tensor, mode: str) -> Tensor:
    """sum_j long[i + j] short[j] at every i: inside (valid), or wherever the two touch (full)."""
    m = short.dims[0]
    before: Dim = 0 if mode == "valid" else m - 1
    after = before
    if mode == "same":
        from graphify.ir.sizes import size_op

        before = size_op("floordiv", m, 2)
        after = m - 1 - before
    zero = core.full((1,), 0, long.dtype)
    parts = [
        core.broadcast_to(zero, shape=(before,)),
        long,
        core.broadcast_to(zero, shape=(after,)),
    ]
    padded = ops.concatenate(*parts, axis=0) if mode != "valid" else long
    return matmul_op(views.windows(padded, axis=0, window=m), short)


def _swapped(x: Tensor, y: Tensor) -> bool:
    """Whether the second array is the longer one.

    Raises:
        SpecError: only the run can tell.
    """
    shorter = decide_less(x.dims[0], y.dims[0])
    if shorter is None:
        raise SpecError(
            f"convolve: cannot tell which of {x.spec} and {y.spec} is longer",
            remedy="trace with a known shape for one of them",
        )
    return shorter


@implements(np.convolve)
def convolve(a: Any, v: Any, mode: Any = "full") -> Tensor:
    """The discrete convolution of two sequences."""
    x, y = _vectors(a, v)
    mode = _mode(mode)
    if mode == "full":  # either may be slid over the other
        return _slide(x, ops.flip(y, axes=(0,)), mode)
    x, y = (y, x) if _swapped(x, y) else (x, y)
    return _slide(x, ops.flip(y, axes=(0,)), mode)


@implements(np.correlate)
def correlate(a: Any, v: Any, mode: Any = "valid") -> Tensor:
    """The cross-correlation of two sequences, the second conjugated."""
    if not to_tensor(a).ndim or not to_tensor(v).ndim:  # unlike convolve
        raise ValueError("object of too small depth for desired array")
    x, y = _vectors(a, v)
    y = e.conjugate(y) if is_complex(y.dtype) else y
    mode = _mode(mode)
    if mode == "full":
        return _slide(x, y, mode)
    if not _swapped(x, y):
        return _slide(x, y, mode)
    return ops.flip(_slide(y, x, mode), axes=(0,))


def sliding_window_view(
    x: Any, window_shape: Any, axis: Any = None, *, subok: bool = False, writeable: bool = False
) -> Tensor:
    """A read-only view of every window of a shape."""
    t = to_tensor(x)
    if writeable:
        raise SpecError(
            "sliding_window_view: writeable=True is not supported",
            remedy="update the array that the windows are views of",
        )
    sizes = tuple(window_shape) if np.iterable(window_shape) else (window_shape,)
    if axis is None:
        axes = tuple(range(t.ndim))
        if len(sizes) != t.ndim:
            raise ValueError(
                "Since axis is None, must provide window_shape for all dimensions of `x`; got "
                f"{len(sizes)} window_shape elements and `x.ndim` is {t.ndim}."
            )
    else:
        given = axis if isinstance(axis, (tuple, list)) else (axis,)
        axes = tuple(axis_of(a, t.ndim) for a in given)
        if len(axes) != len(sizes):
            raise ValueError("Must provide matching length window_shape and axis")
    for a, size in zip(axes, sizes, strict=True):
        window = ops.as_dim(size, "window_shape")
        if isinstance(window, int) and window < 0:
            raise ValueError("`window_shape` cannot contain negative values")
        if decide_less(t.dims[a], window):
            raise ValueError("window shape cannot be larger than input array shape")
        t = views.windows(t, axis=a, window=window)
    return t


FUNCTIONS[np.lib.stride_tricks.sliding_window_view] = sliding_window_view
publish(
    lib=SimpleNamespace(
        stride_tricks=SimpleNamespace(
            sliding_window_view=sliding_window_view,
            broadcast_to=NAMES["broadcast_to"],
            broadcast_arrays=NAMES["broadcast_arrays"],
        )
    )
)
