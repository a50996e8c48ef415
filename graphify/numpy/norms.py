"""Norms and condition numbers: the part of numpy.linalg that is made of reductions."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from graphify.ir.sizes import decide_equal, product
from graphify.ir.tensor import Tensor
from graphify.ir.types import is_complex, is_inexact
from graphify.ir.wrapping import as_tensor
from graphify.numpy import linalg
from graphify.numpy import reduction as n
from graphify.numpy._table import astype, at_least, axes_of, equal_lengths, to_tensor
from graphify.numpy.linalg import implements
from graphify.numpy.manipulation import ravel
from graphify.ops import core
from graphify.ops import decompositions as d
from graphify.ops import elementwise as e
from graphify.ops import factor as f
from graphify.ops.linalg import matmul
from graphify.ops.shape import transpose


def _sum(x: Tensor, axis: Any, keepdims: bool = False) -> Tensor:
    return n.sum_(x, axis=axis, keepdims=keepdims)


def _squares(x: Tensor) -> Tensor:
    if is_complex(x.dtype):
        return e.add(e.square(e.real(x)), e.square(e.imag(x)))
    return e.multiply(x, x)


def _flat_norm(x: Tensor) -> Tensor:
    """The 2-norm of all elements."""
    v = ravel(x)
    if not is_complex(x.dtype):
        return e.sqrt(matmul(v, v))
    re, im = e.real(v), e.imag(v)
    return e.sqrt(matmul(re, re) + matmul(im, im))


@implements(np.linalg.norm)
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Tensor:
    """A norm of vectors or matrices: every `ord` that NumPy has."""
    t = to_tensor(x)
    t = t if is_inexact(t.dtype) else astype(t, np.float64)
    if axis is None:
        if ord is None or (ord in ("f", "fro") and t.ndim == 2) or (ord == 2 and t.ndim == 1):
            value = _flat_norm(t)
            return core.reshape(value, shape=(1,) * t.ndim) if keepdims else value
        axes: tuple[int, ...] = tuple(range(t.ndim))
    else:
        if not isinstance(axis, (tuple, list)):
            try:
                axis = int(axis)
            except Exception as error:
                raise TypeError("'axis' must be None, an integer or a tuple of integers") from error
        axes = (
            axes_of(axis, t.ndim)
            if not isinstance(axis, (tuple, list)) or len(set(axis)) == len(axis)
            else ()
        )
        if not axes:
            raise ValueError("Duplicate axes given.")
    if len(axes) == 1:
        return _vector_norm(t, ord, axes[0], keepdims)
    if len(axes) == 2:
        return _matrix_norm(t, ord, axes, keepdims)
    raise ValueError("Improper number of dimensions to norm.")


def _vector_norm(x: Tensor, ord: Any, axis: int, keepdims: bool) -> Tensor:
    if isinstance(ord, str):
        raise ValueError(f"Invalid norm order '{ord}' for vectors")
    if ord == np.inf:
        return _largest(e.absolute(x), axis, keepdims)
    if ord == -np.inf:
        return n.min_(e.absolute(x), axis=axis, keepdims=keepdims)
    if ord is not None and ord == 0:
        real = e.real(x).dtype
        return _sum(astype(e.not_equal(x, 0), real), axis, keepdims)
    if ord is not None and ord == 1:
        return _sum(e.absolute(x), axis, keepdims)
    if ord is None or ord == 2:
        return e.sqrt(_sum(_squares(x), axis, keepdims))
    if is_complex(as_tensor(ord).dtype):
        raise TypeError(f"norm: expected an order that is real, got {ord!r:.40}")
    total = _sum(e.power(e.absolute(x), ord), axis, keepdims)
    return e.power(total, 1.0 / ord)


def _largest(x: Tensor, axis: Any, keepdims: bool = False) -> Tensor:
    """The largest of sizes, 0 of none."""
    return n.max_(x, axis=axis, keepdims=keepdims, initial=0)


def _matrix_norm(x: Tensor, ord: Any, axes: tuple[int, ...], keepdims: bool) -> Tensor:
    row, column = axes
    if row == column:
        raise ValueError("Duplicate axes given.")
    kept = tuple(1 if a in axes else dim for a, dim in enumerate(x.dims))
    value = _plain_matrix_norm(x, ord, row, column)
    return core.reshape(value, shape=kept) if keepdims else value


def _plain_matrix_norm(x: Tensor, ord: Any, row: int, column: int) -> Tensor:
    if ord in (2, -2, "nuc"):
        others = [a for a in range(x.ndim) if a not in (row, column)]
        s = d.svdvals(transpose(x, axes=(*others, row, column)))
        return {2: _largest, -2: n.min_, "nuc": n.sum_}[ord](s, axis=-1)
    if ord in (1, -1, np.inf, -np.inf):
        summed, rest = (row, column) if abs(ord) == 1 else (column, row)
        sums = _sum(e.absolute(x), summed)
        rest -= rest > summed
        return (_largest if ord > 0 else n.min_)(sums, axis=rest)
    if ord in (None, "fro", "f"):
        return e.sqrt(_sum(_squares(x), (row, column)))
    if isinstance(ord, str):
        raise ValueError(f"Invalid norm order '{ord}' for matrices")
    raise ValueError("Invalid norm order for matrices.")


@implements(np.linalg.vector_norm)
def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Tensor:
    """A norm of vectors along axes, all of them by default."""
    t = to_tensor(x)
    axes = axes_of(axis, t.ndim)
    rest = [a for a in range(t.ndim) if a not in axes]
    moved = transpose(t, axes=(*axes, *rest))
    flat = core.reshape(moved, shape=(product(t.dims[a] for a in axes), *(t.dims[a] for a in rest)))
    value = norm(flat, ord=ord, axis=0)
    shape = tuple(1 if a in axes else dim for a, dim in enumerate(t.dims))
    return core.reshape(value, shape=shape) if keepdims else value


@implements(np.linalg.matrix_norm)
def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Tensor:
    """A norm of the matrices on the last two axes."""
    return norm(x, ord=ord, axis=(-2, -1), keepdims=keepdims)


@implements(np.linalg.cond)
def cond(x: Any, p: Any = None) -> Tensor:
    """The condition number: how much solving can magnify errors."""
    t = to_tensor(x)
    for dim in t.dims[-2:]:
        at_least(dim, 1, "cond is not defined on empty arrays", np.linalg.LinAlgError)
    f.check_matrix(t.spec)
    if p is None or p in (2, -2):
        s = d.svdvals(t)
        # Sums of one: an index might fail before the check above is seen to.
        first, last = (n.sum_(part, axis=-1) for part in (s[..., :1], s[..., -1:]))
        ratio = e.divide(last, first) if p == -2 else e.divide(first, last)
    else:
        message = "Last 2 dimensions of the array must be square"
        equal_lengths(t.dims[-2], t.dims[-1], message, np.linalg.LinAlgError)
        t = astype(t, f.linalg_dtype(t.dtype))
        ratio = norm(t, p, (-2, -1)) * norm(f.inv(t, check=False), p, (-2, -1))
    given = functools.reduce(e.logical_or, [n.any_(e.isnan(t), axis=(-2, -1))])
    unbounded = e.logical_and(e.isnan(ratio), e.logical_not(given))
    return e.where(unbounded, np.inf, ratio)


@implements(np.linalg.tensorinv)
def tensorinv(a: Any, ind: int = 2) -> Tensor:
    """The inverse of a tensor under tensordot."""
    x = to_tensor(a)
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    rows = product(x.dims[ind:])
    inverse = linalg.inv(core.reshape(x, shape=(product(x.dims[:ind]), rows)))
    return core.reshape(inverse, shape=(*x.dims[ind:], *x.dims[:ind]))


@implements(np.linalg.tensorsolve)
def tensorsolve(a: Any, b: Any, axes: Any = None) -> Tensor:
    """The x with `tensordot(a, x, x.ndim) == b`."""
    x, y = to_tensor(a), to_tensor(b)
    if axes is not None:
        last = axes_of(tuple(axes), x.ndim)
        x = transpose(x, axes=(*(i for i in range(x.ndim) if i not in last), *last))
    shape = x.dims[y.ndim - x.ndim :] if y.ndim < x.ndim else ()
    rows = product(shape)
    if decide_equal(product(x.dims), rows * rows) is False:
        raise np.linalg.LinAlgError(
            "Input arrays must satisfy the requirement "
            "prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim])"
        )
    solution = linalg.solve(core.reshape(x, shape=(rows, rows)), ravel(y))
    return core.reshape(solution, shape=shape)


for _function in (norm, vector_norm, matrix_norm, cond, tensorinv, tensorsolve):
    setattr(linalg, _function.__name__, _function)
