"""Functions that make arrays: from data, filled, ranges, grids, triangles.

Shapes and lengths may be traced: `zeros((n, 3))`, `arange(n)`, `linspace(0, 1, n)`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from graphify.errors import ShapeError, SpecError
from graphify.ir.kinds import may_cut_off
from graphify.ir.sizes import Dim, Shape, Size, product
from graphify.ir.tensor import Tensor, resolve
from graphify.ir.types import BOOL, DType, canonical_dtype, is_inexact
from graphify.ir.wrapping import as_tensor
from graphify.numpy._table import (
    FUNCTIONS,
    NAMES,
    default_float,
    dtype_or,
    implements,
    named,
    shape_of,
    to_tensor,
)
from graphify.ops import core
from graphify.ops import elementwise as e
from graphify.ops import shape as shapes
from graphify.ops.effects import Raise, assert_
from graphify.ops.keys import written

INT64 = np.dtype(np.int64)


def _only_here(device: Any, like: Any, function: str, order: Any = None, new: bool = False) -> None:
    """Check what says where and how an array is stored, which graphify does as it likes.

    Raises:
        TypeError: `order` is no string.
        ValueError: an order that there is not, or not for a `new` array.
    """
    if order is not None and not isinstance(order, str):
        raise TypeError(f"order must be str, not {type(order).__name__}")
    if order is not None and order.upper() not in ("C", "F", "A", "K"):
        raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got {order!r})")
    if order is not None and new and order.upper() not in ("C", "F"):
        raise ValueError("only 'C' or 'F' order is permitted")
    if like is not None and not isinstance(like, (Tensor, np.ndarray)):
        raise SpecError(f"{function}: like: expected an array, got {type(like).__name__}")
    if device is not None and "cpu" not in str(device).lower():
        raise ValueError(f"{function}: device: expected 'cpu', got {device!r}")


# --- from data ---------------------------------------------------------------------------------


@implements(np.array)
def array(
    object: Any,
    dtype: Any = None,
    *,
    copy: bool | None = True,
    order: str = "K",
    subok: bool = False,
    ndmin: int = 0,
    like: Any = None,
    device: Any = None,
) -> Tensor:
    """An array of numbers, nested lists, or any object with `__array__` or `__dlpack__`.

    Args:
        copy: True copies; None copies where needed; False raises ValueError if a copy is needed.
    """
    _only_here(device, like, "array", order)
    known = isinstance(object, (Tensor, np.ndarray))
    source = resolve(_numbers(object, dtype))
    result = _as_dtype(source, dtype)
    if copy is False and (not known or _is_new(source, result, object)):
        raise ValueError("Unable to avoid copy while creating an array as requested.")
    if (
        copy
        and not _is_new(source, result, object)
        and not isinstance(object, (int, float, complex))
    ):
        result = core.copy(result)
    if ndmin > result.ndim:
        result = core.reshape(result, shape=(*(1,) * (ndmin - result.ndim), *result.dims))
    made = core.as_array(result)
    if copy and dtype is not None:
        made._kinds = frozenset()  # that dtype, on whatever path
    return made


def _numbers(object: Any, dtype: Any) -> Tensor:
    """Anything as a tensor; the numbers in a list fit the dtype, if one is given."""
    if dtype is not None and isinstance(object, (list, tuple)):
        return written(object, canonical_dtype(dtype))
    return as_tensor(object)


def _is_new(source: Tensor, result: Tensor, original: Any) -> bool:
    """Whether converting already made storage that nobody else has."""
    if result is not source:
        return True
    if isinstance(original, (Tensor, np.ndarray)) or source.is_symbolic:
        return False
    if isinstance(original, (list, tuple)):
        return True
    made = source.numpy()
    return made.flags.writeable and not np.may_share_memory(made, np.asarray(original))


def _as_dtype(x: Tensor, dtype: Any) -> Tensor:
    return core.strong(x) if dtype is None else core.to_dtype(x, canonical_dtype(dtype))


@implements(np.asarray, np.asanyarray)
def asarray(
    a: Any,
    dtype: Any = None,
    order: Any = None,
    *,
    device: Any = None,
    copy: Any = None,
    like: Any = None,
) -> Tensor:
    """`a` as an array; memory is shared where it can be."""
    return array(a, dtype, copy=copy, order=order, device=device, like=like)


@implements(np.ascontiguousarray)
def ascontiguousarray(a: Any, dtype: Any = None, *, like: Any = None) -> Tensor:
    """`a` as a contiguous array of at least one dimension."""
    return _contiguous(array(a, dtype, copy=None, ndmin=1), "C")


@implements(np.asfortranarray)
def asfortranarray(a: Any, dtype: Any = None, *, like: Any = None) -> Tensor:
    """`a` as a Fortran-contiguous array of at least one dimension."""
    return _contiguous(array(a, dtype, copy=None, ndmin=1), "F")


def _contiguous(x: Tensor, order: str) -> Tensor:
    flags = None if x.is_symbolic else x.numpy().flags
    if flags is not None and not (flags.c_contiguous if order == "C" else flags.f_contiguous):
        return core.copy(x)
    return x


@implements(np.asarray_chkfinite)
def asarray_chkfinite(a: Any, dtype: Any = None, order: Any = None) -> Tensor:
    """`asarray`, refusing NaN and infinities."""
    x = asarray(a, dtype, order)
    if is_inexact(x.dtype):
        message: Any = "array must not contain infs or NaNs"
        assert_(e.isfinite(x), exception=Raise(ValueError, (message,)))
    return x


@implements(np.copy)
def copy(a: Any, order: str = "K", subok: bool = False) -> Tensor:
    """A copy in storage of its own."""
    _only_here(None, None, "copy", order)
    tensor = to_tensor(a)
    return core.as_array(tensor) if tensor._scalar else core.copy(tensor)


@implements(np.astype)
def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Tensor:
    """A copy in another dtype."""
    tensor = to_tensor(x)
    target = canonical_dtype(dtype)
    if tensor.dtype == target:
        if not copy:
            return tensor
        made = core.copy(tensor)
        made._kinds = frozenset()  # that dtype, on whatever path
        return made
    return core.to_dtype(tensor, target)


# --- filled ------------------------------------------------------------------------------------


def filled(shape: Shape, value: Any, dtype: DType) -> Tensor:
    """A new array with one value everywhere; writable, unlike a broadcast one."""
    if all(isinstance(dim, int) for dim in shape):
        return Tensor(np.full(shape, value, dtype))
    return core.full(shape, value, dtype)


def _new(value: int, doc: str) -> Callable[..., Tensor]:
    def function(
        shape: Any, dtype: Any = None, order: str = "C", *, device: Any = None, like: Any = None
    ) -> Tensor:
        _only_here(device, like, function.__name__, order, new=True)
        return filled(shape_of(shape), value, dtype_or(dtype, default_float()))

    function.__doc__ = doc
    return function


zeros = implements(np.zeros)(_new(0, "An array of zeros."))
ones = implements(np.ones)(_new(1, "An array of ones."))
empty = implements(np.empty)(_new(0, "An array to be filled; its elements are zero."))


def ndarray(
    shape: Any,
    dtype: Any = float,
    buffer: Any = None,
    offset: int = 0,
    strides: Any = None,
    order: str | None = None,
) -> Tensor:
    """The constructor of arrays: one to be filled; its elements are zero."""
    if buffer is not None or offset or strides is not None:
        raise SpecError(
            "np.ndarray: an array over a buffer, or of given strides, has no place in a graph",
            remedy="use np.frombuffer before the call, or a view: x.reshape(shape)",
        )
    return filled(shape_of(shape), 0, canonical_dtype(dtype))


FUNCTIONS[np.ndarray] = ndarray


@implements(np.full)
def full(
    shape: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "C",
    *,
    device: Any = None,
    like: Any = None,
) -> Tensor:
    """An array filled with a value, which is broadcast to the shape."""
    _only_here(device, like, "full", order, new=True)
    value = resolve(as_tensor(fill_value))
    value = core.strong(value) if dtype is None else _cast(value, canonical_dtype(dtype))
    return core.copy(core.broadcast_to(value, shape=shape_of(shape)))


def _cast(value: Tensor, dtype: DType) -> Tensor:
    """A fill value in a dtype: integers have to fit, floats are cast as arrays are."""
    if value.spec.weak and is_inexact(value.dtype) and not is_inexact(dtype):
        return core.cast(core.strong(value), dtype=dtype)
    return core.to_dtype(value, dtype)


def _like(prototype: Any, dtype: Any, order: Any, shape: Any) -> tuple[Shape, DType]:
    _only_here(None, None, "like", order)
    x = to_tensor(prototype)
    return (x.dims if shape is None else shape_of(shape)), dtype_or(dtype, x.dtype)


def _of_kind(prototype: Any, dtype: Any, made: Tensor) -> Tensor:
    """A new array: one of integers where that is one that it is made like."""
    if dtype is None and isinstance(prototype, Tensor) and may_cut_off(prototype):
        made._kinds = prototype._kinds
    return made


def _new_like(value: int, doc: str) -> Callable[..., Tensor]:
    def function(
        a: Any,
        dtype: Any = None,
        order: str = "K",
        subok: bool = True,
        shape: Any = None,
        *,
        device: Any = None,
    ) -> Tensor:
        dims, kind = _like(a, dtype, order, shape)
        return _of_kind(a, dtype, filled(dims, value, kind))

    function.__doc__ = doc
    return function


zeros_like = implements(np.zeros_like)(_new_like(0, "Zeros in the shape and dtype of `a`."))
ones_like = implements(np.ones_like)(_new_like(1, "Ones in the shape and dtype of `a`."))


@implements(np.empty_like)
def empty_like(prototype: Any, *args: Any, **kwargs: Any) -> Tensor:
    """An array to be filled in the shape and dtype of `prototype`; its elements are zero."""
    return zeros_like(prototype, *args, **kwargs)


@implements(np.full_like)
def full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> Tensor:
    """A value everywhere, in the shape and dtype of `a`."""
    dims, kind = _like(a, dtype, order, shape)
    value = _cast(resolve(as_tensor(fill_value)), kind)
    return _of_kind(a, dtype, core.copy(core.broadcast_to(value, shape=dims)))


# --- diagonals and triangles -------------------------------------------------------------------


@implements(np.eye)
def eye(
    N: Any,
    M: Any = None,
    k: Any = 0,
    dtype: Any = float,
    order: str = "C",
    *,
    device: Any = None,
    like: Any = None,
) -> Tensor:
    """Ones on the k-th diagonal, zeros elsewhere."""
    _only_here(device, like, "eye", order, new=True)
    k = _diagonal(k)
    rows, columns = shape_of((N, N if M is None else M))
    kind = default_float() if dtype is None or dtype is float else canonical_dtype(dtype)
    return core.cast(_offsets(rows, columns, e.equal, k), dtype=kind)


def _diagonal(k: Any) -> Any:
    """Which diagonal: an integer, also one that only the run knows.

    Raises:
        TypeError: something else.
    """
    if not isinstance(k, Tensor):
        return k if isinstance(k, Size) else operator.index(k)
    whole = k.dtype.kind in "iu" or k.dtype == BOOL and k.spec.weak
    if k.ndim or not whole:
        raise TypeError(f"k: expected an integer, got {k.spec}")
    return k


def _bound(k: Any) -> Any:
    """The diagonal of a triangle: a whole number, which may be a float."""
    known = k.numpy()[()] if isinstance(k, Tensor) and not k.is_symbolic else k
    whole = isinstance(known, (float, np.floating)) and known == np.floor(known)
    return int(known) if whole else _diagonal(k)


def _offsets(rows: Dim, columns: Dim, compare: Callable[..., Tensor], k: Any) -> Tensor:
    """The boolean matrix of `compare(column - row, k)`."""
    i = core.reshape(shapes.iota(length=rows, dtype=INT64), shape=(rows, 1))
    j = shapes.iota(length=columns, dtype=INT64)
    return compare(e.subtract(j, i), k)


@implements(np.identity)
def identity(n: Any, dtype: Any = None, *, like: Any = None) -> Tensor:
    """The identity matrix."""
    return eye(n, dtype=float if dtype is None else dtype)


@implements(np.tri)
def tri(N: Any, M: Any = None, k: Any = 0, dtype: Any = float, *, like: Any = None) -> Tensor:
    """Ones at and below the k-th diagonal."""
    rows, columns = shape_of((N, N if M is None else M))
    kind = default_float() if dtype is None or dtype is float else canonical_dtype(dtype)
    return core.cast(_offsets(rows, columns, e.less_equal, _bound(k)), dtype=kind)


def _triangle(m: Any, k: Any, upper: bool) -> Tensor:
    x = to_tensor(m)
    if x.ndim == 1:  # as NumPy does: the row is repeated
        x = core.broadcast_to(x, shape=(x.dims[0], x.dims[0]))
    if x.ndim == 0:
        raise ShapeError("tril, triu: expected at least one dimension, got 0")
    mask = _offsets(x.dims[-2], x.dims[-1], e.greater_equal if upper else e.less_equal, _bound(k))
    return e.where(mask, x, core.zeros_like(x))


@implements(np.tril)
def tril(m: Any, k: Any = 0) -> Tensor:
    """The lower triangle, zeros above the k-th diagonal."""
    return _triangle(m, k, upper=False)


@implements(np.triu)
def triu(m: Any, k: Any = 0) -> Tensor:
    """The upper triangle, zeros below the k-th diagonal."""
    return _triangle(m, k, upper=True)


@implements(np.diag)
def diag(v: Any, k: int = 0) -> Tensor:
    """The k-th diagonal of a matrix, or the matrix with `v` on its k-th diagonal."""
    x, k = to_tensor(v), _diagonal(k)
    if x.ndim == 1:
        return _diagonal_matrix(x, k)
    if x.ndim == 2:
        return named("diagonal")(x, k)
    raise ShapeError("Input must be 1- or 2-d.")


def _diagonal_matrix(x: Tensor, k: int) -> Tensor:
    length = x.dims[0]
    size = length + abs(k)
    column = core.reshape(x, shape=(length, 1))
    square = core.cast(_offsets(length, length, e.equal, 0), dtype=x.dtype)
    block = e.where(_offsets(length, length, e.equal, 0), column, core.zeros_like(square))
    if k == 0:
        return block
    side = core.full((length, abs(k)), 0, x.dtype)
    wide = shapes.concatenate(*((side, block) if k > 0 else (block, side)), axis=1)
    end = core.full((abs(k), size), 0, x.dtype)
    return shapes.concatenate(*((wide, end) if k > 0 else (end, wide)), axis=0)


@implements(np.diagflat)
def diagflat(v: Any, k: int = 0) -> Tensor:
    """The matrix with the flattened `v` on its k-th diagonal."""
    x, k = to_tensor(v), _diagonal(k)
    return _diagonal_matrix(core.reshape(x, shape=(product(x.dims),)), k)


@implements(np.vander)
def vander(x: Any, N: Any = None, increasing: bool = False) -> Tensor:
    """The Vandermonde matrix: powers of `x` in the columns."""
    v = to_tensor(x)
    if v.ndim != 1:
        raise ShapeError("x must be a one-dimensional array or sequence.")
    columns = v.dims[0] if N is None else shapes.as_length(N, "N")
    dtype = np.promote_types(v.dtype, np.int64)
    base = core.broadcast_to(
        core.reshape(core.to_dtype(v, dtype), shape=(*v.dims, 1)), shape=(*v.dims, columns)
    )
    ones_ = core.full((*v.dims, 1), 1, dtype)
    powers = NAMES["cumprod"](shapes.concatenate(ones_, base, axis=1), axis=1)
    powers = NAMES["_slice_axis"](powers, 0, columns, 1)
    return powers if increasing else shapes.flip(powers, axes=(1,))


# --- readers -----------------------------------------------------------------------------------


def _eager_only(name: str) -> None:
    """A NumPy function that reads files, text or iterators: its array becomes a tensor."""
    original = getattr(np, name)

    @implements(original)
    def function(*args: Any, **kwargs: Any) -> Tensor:
        made = original(*args, **kwargs)
        return Tensor(made.astype(canonical_dtype(made.dtype), copy=False))

    function.__doc__ = (original.__doc__ or name).strip().splitlines()[0]


for _name in (
    "frombuffer",
    "fromiter",
    "fromstring",
    "loadtxt",
    "genfromtxt",
):
    _eager_only(_name)


@implements(np.from_dlpack)
def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """An array that shares the memory of any object with `__dlpack__`."""
    if isinstance(x, Tensor):
        return core.copy(x) if copy else x
    return as_tensor(np.from_dlpack(x, device=device, copy=copy))
