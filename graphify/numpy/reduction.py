"""Reductions: sum, prod, extremes, any, all, means and variances, cumulative functions.

All take axis (None, an int, a tuple), keepdims, out, and where they make sense dtype, initial,
where. Small integers are summed as 64-bit ones, float16 means in float32, as in NumPy.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from graphify.errors import SpecError
from graphify.ir.sizes import Dim, Shape, Size, decide_equal, product, size_op
from graphify.ir.tensor import Tensor
from graphify.ir.types import BOOL, DType, canonical_dtype, is_complex, is_inexact, real_dtype
from graphify.ir.wrapping import as_tensor
from graphify.numpy._table import (
    NAMES,
    NO_VALUE,
    axes_of,
    axis_of,
    default_float,
    dtype_or,
    finish,
    implements,
    may_equal,
    of_shape,
    reduced_axes,
    to_tensor,
)
from graphify.ops import core
from graphify.ops import elementwise as e
from graphify.ops import reduction as r
from graphify.ops.core import to_dtype
from graphify.ops.effects import Raise, assert_
from graphify.ops.shape import concatenate, transpose

FLOAT16, FLOAT32 = np.dtype(np.float16), np.dtype(np.float32)


def flag(keepdims: Any) -> bool:
    return keepdims is not NO_VALUE and bool(keepdims)


def given(value: Any) -> bool:
    """Whether an argument was given at all."""
    return value is not NO_VALUE and value is not None


def limited(where: Any) -> bool:
    """Whether a `where=` argument leaves anything out."""
    return where is not True and where is not NO_VALUE


def keep(x: Tensor, where: Any, otherwise: Any) -> Tensor:
    """`x` with a neutral value where `where` does not hold."""
    if not limited(where):
        return x
    neutral = otherwise if isinstance(otherwise, Tensor) else np.asarray(otherwise, x.dtype)
    return e.where(mask_of(where, x), x, as_tensor(neutral))


def mask_of(where: Any, x: Tensor) -> Tensor:
    """The boolean array of a `where=`, which must not be larger than the data.

    Raises:
        SpecError: no booleans.
        ShapeError: it does not broadcast to the data.
    """
    mask = to_tensor(where)
    if mask.dtype != BOOL:
        raise SpecError(f"where: expected a boolean array, got {mask.dtype}")
    core._broadcast_spec(mask.spec, x.dims)
    ends = zip(reversed(mask.dims), reversed(x.dims), strict=False)
    fits = all(n == 1 or decide_equal(n, m) for n, m in ends)
    return mask if fits else core.broadcast_to(mask, shape=x.dims)


def _initial(value: Any, dtype: DType) -> Tensor:
    """The `initial=` of a reduction, a number.

    Raises:
        ValueError: an array of one dimension or more.
    """
    first: Tensor = core.strong(core.to_dtype(as_tensor(value), dtype))
    if first.ndim:
        raise ValueError("setting an array element with a sequence. (initial)")
    return first


def sum_dtype(x: Tensor, dtype: Any) -> DType:
    """The dtype of a sum or product: integers narrower than 64 bits are widened."""
    if dtype is not None and dtype is not NO_VALUE:
        return canonical_dtype(dtype)
    if x.dtype == BOOL or x.dtype.kind == "i":
        return np.dtype(np.int64)
    return np.dtype(np.uint64) if x.dtype.kind == "u" else x.dtype


# --- sum and prod ------------------------------------------------------------------------------


def _total(op: Any, neutral: int, combine: Any, doc: str) -> Callable[..., Tensor]:
    def function(
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = NO_VALUE,
        where: Any = True,
    ) -> Tensor:
        x = to_tensor(a)
        x = keep(to_dtype(x, sum_dtype(x, dtype)), where, neutral)
        result = op(x, axes=reduced_axes(axis, x.ndim), keepdims=flag(keepdims))
        if given(initial):
            result = combine(result, _initial(initial, x.dtype))
        return finish(result, out)

    function.__doc__ = doc
    return function


sum_ = implements(np.sum)(_total(r.reduce_sum, 0, e.add, "The sum over axes."))
prod = implements(np.prod)(_total(r.reduce_prod, 1, e.multiply, "The product over axes."))


# --- max and min -------------------------------------------------------------------------------


def _extreme(op: Any, doc: str) -> Callable[..., Tensor]:
    def function(
        a: Any,
        axis: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = NO_VALUE,
        where: Any = True,
    ) -> Tensor:
        x = to_tensor(a)
        axes = reduced_axes(axis, x.ndim)
        if limited(where) and not given(initial):
            raise ValueError(
                "reduction operation 'maximum' or 'minimum' does not have an identity, "
                "so to use a where mask one has to specify 'initial'"
            )
        if not given(initial):
            return finish(op(x, axes=axes, keepdims=flag(keepdims)), out)
        first = _initial(initial, x.dtype)
        x = keep(x, where, first)
        return finish(_with_initial(op, x, axes, flag(keepdims), first), out)

    function.__doc__ = doc
    return function


def _with_initial(
    op: Any, x: Tensor, axes: tuple[int, ...], keepdims: bool, initial: Tensor
) -> Tensor:
    """The extreme of the elements and of one more, so that there may be no elements."""
    flat, shape = r.flat_axes(x, axes)
    one = core.broadcast_to(initial, shape=(*shape, 1))
    result = op(concatenate(one, flat, axis=len(shape)), axes=(len(shape),), keepdims=False)
    return core.reshape(result, shape=r.reduced_shape(x.dims, axes, keepdims))


max_ = implements(np.max, np.amax)(_extreme(r.reduce_max, "The largest element over axes."))
min_ = implements(np.min, np.amin)(_extreme(r.reduce_min, "The smallest element over axes."))


@implements(np.ptp)
def ptp(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False) -> Tensor:
    """The range from the smallest to the largest element."""
    x = to_tensor(a)
    return finish(
        e.subtract(max_(x, axis, keepdims=keepdims), min_(x, axis, keepdims=keepdims)), out
    )


# --- any and all -------------------------------------------------------------------------------


def _truth(
    op: Any, neutral: bool, a: Any, axis: Any, out: Any, keepdims: Any, where: Any
) -> Tensor:
    x = to_tensor(a)
    x = keep(x if x.dtype == BOOL else e.not_equal(x, 0), where, neutral)
    result = op(x, axes=reduced_axes(axis, x.ndim), keepdims=flag(keepdims))
    return finish(result, out, "unsafe")


@implements(np.any)
def any_(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = True
) -> Any:
    """Whether any element over axes is true."""
    return _truth(r.reduce_any, False, a, axis, out, keepdims, where)


@implements(np.all)
def all_(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = True
) -> Any:
    """Whether all elements over axes are true."""
    return _truth(r.reduce_all, True, a, axis, out, keepdims, where)


# --- positions ---------------------------------------------------------------------------------


def _position(op: Any, a: Any, axis: Any, out: Any, keepdims: Any) -> Tensor:
    x = to_tensor(a)
    shape: Shape = (1,) * x.ndim
    if axis is None:
        result = op(core.reshape(x, shape=(product(x.dims),)), axis=0)
    else:
        index = axis_of(axis, max(x.ndim, 1))
        result = op(x if x.ndim else core.reshape(x, shape=(1,)), axis=index)
        shape = r.reduced_shape(x.dims, (index,), True)
    return finish(core.reshape(result, shape=shape) if flag(keepdims) else result, out)


@implements(np.argmax)
def argmax(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Tensor:
    """The index of the first largest element."""
    return _position(r.argmax, a, axis, out, keepdims)


@implements(np.argmin)
def argmin(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Tensor:
    """The index of the first smallest element."""
    return _position(r.argmin, a, axis, out, keepdims)


@implements(np.count_nonzero)
def count_nonzero(a: Any, axis: Any = None, *, keepdims: Any = False) -> Tensor:
    """The number of elements that are not zero."""
    x = to_tensor(a)
    true = x if x.dtype == BOOL else e.not_equal(x, 0)
    return sum_(true, axis, dtype=np.int64, keepdims=keepdims)


# --- mean and variance -------------------------------------------------------------------------


def count_along(x: Tensor, axes: tuple[int, ...], where: Any, keepdims: bool) -> Any:
    """How many elements go into each result: a number, or an array under a `where`."""
    if not limited(where):
        return product(x.dims[a] for a in axes)
    mask = core.broadcast_to(to_tensor(where), shape=x.dims)
    return r.reduce_sum(core.cast(mask, dtype=np.dtype(np.int64)), axes=axes, keepdims=keepdims)


def _inner_dtype(x: Tensor, dtype: Any) -> tuple[DType, DType]:
    """The dtypes in which a mean is summed and returned."""
    if given(dtype):
        target = canonical_dtype(dtype)
        return (FLOAT32 if target == FLOAT16 and x.dtype == FLOAT16 else target), target
    if not is_inexact(x.dtype):
        return default_float(), default_float()
    return (FLOAT32 if x.dtype == FLOAT16 else x.dtype), x.dtype


@implements(np.mean)
def mean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    *,
    where: Any = True,
) -> Tensor:
    """The arithmetic mean over axes; of no elements, NaN."""
    x = to_tensor(a)
    axes = axes_of(axis, x.ndim)
    inner, target = _inner_dtype(x, dtype)
    if given(dtype):
        inner, target = (canonical_dtype(dtype),) * 2
    total = r.reduce_sum(keep(to_dtype(x, inner), where, 0), axes=axes, keepdims=flag(keepdims))
    return finish(_divided(total, count_along(x, axes, where, flag(keepdims)), target), out)


def _divided(total: Tensor, count: Any, dtype: DType) -> Tensor:
    counts = as_tensor(count)
    if not counts.spec.weak and is_inexact(total.dtype):
        counts = to_dtype(counts, real_dtype(total.dtype))
    return to_dtype(e.divide(total, counts), dtype)


def _deviations(x: Tensor, axes: tuple[int, ...], inner: DType, where: Any, mean: Any) -> Tensor:
    """The squares of the distances to the mean."""
    if given(mean):
        centre = to_tensor(mean)
    else:
        total = r.reduce_sum(keep(to_dtype(x, inner), where, 0), axes=axes, keepdims=True)
        total = to_dtype(total, np.dtype(np.float64)) if inner == FLOAT16 else total
        centre = _divided(total, count_along(x, axes, where, True), inner)
    distance = e.subtract(to_dtype(x, inner) if not is_inexact(x.dtype) else x, centre)
    if is_complex(distance.dtype):
        return e.add(e.square(e.real(distance)), e.square(e.imag(distance)))
    return e.multiply(distance, distance)


def _freedom(count: Any, ddof: Any) -> Any:
    """`max(count - ddof, 0)` for a number, a size or an array."""
    if isinstance(count, Tensor):
        return e.maximum(e.subtract(count, ddof), 0)
    if isinstance(count, Size):
        return (
            size_op("max", count - ddof, 0)
            if isinstance(ddof, int)
            else e.maximum(as_tensor(count) - ddof, 0)
        )
    return max(count - ddof, 0)


def _ddof(ddof: Any, correction: Any) -> Any:
    if correction is NO_VALUE:
        return ddof
    if ddof != 0:
        raise ValueError("ddof and correction can't be provided simultaneously.")
    return correction


def _variance(
    x: Tensor, axis: Any, dtype: Any, ddof: Any, keepdims: bool, where: Any, mean: Any
) -> Tensor:
    axes = axes_of(axis, x.ndim)
    inner, target = _inner_dtype(x, dtype)
    if x.dtype == target == FLOAT16:  # unlike a mean's, these sums are float16
        inner = FLOAT16
    squares = _deviations(x, axes, inner, where, mean)
    total = r.reduce_sum(keep(squares, where, 0), axes=axes, keepdims=keepdims)
    count = _freedom(count_along(x, axes, where, keepdims), ddof)
    if total.dtype == FLOAT16:
        total = to_dtype(total, np.dtype(np.float64))  # as NumPy divides by an integer
    return to_dtype(_divided(total, count, total.dtype), real_dtype(target))


@implements(np.var)
def var(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
    *,
    where: Any = True,
    mean: Any = NO_VALUE,
    correction: Any = NO_VALUE,
) -> Tensor:
    """The variance over axes; `ddof` is taken from the number of elements."""
    ddof = _ddof(ddof, correction)
    return finish(_variance(to_tensor(a), axis, dtype, ddof, flag(keepdims), where, mean), out)


def root_of(variance: Callable[..., Any], doc: str) -> Callable[..., Tensor]:
    """The standard deviation: a function that takes what the variance takes."""

    @functools.wraps(variance)
    def function(
        a: Any, axis: Any = None, dtype: Any = None, out: Any = None, *args: Any, **kwargs: Any
    ) -> Tensor:
        return finish(e.sqrt(variance(a, axis, dtype, None, *args, **kwargs)), out)

    function.__doc__ = doc
    return function


std = implements(np.std)(root_of(var, "The standard deviation over axes."))


@implements(np.average)
def average(
    a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: Any = False
) -> Any:
    """The weighted mean over axes."""
    x = to_tensor(a)
    axes = axes_of(axis, x.ndim)
    if weights is None:
        result = mean(x, axis, keepdims=keepdims)
        count = as_tensor(product(x.dims[i] for i in axes))
        total = e.multiply(core.full(result.dims, 1, result.dtype), count)
        return (result, core.strong(total)) if returned else result
    w = _weights(x, to_tensor(weights), axis, axes)
    kind = np.result_type(x.dtype, w.dtype)
    kind = np.result_type(kind, np.float64) if not is_inexact(x.dtype) else kind
    total = sum_(w, axis, dtype=kind, keepdims=keepdims)
    message: Any = "Weights sum to zero, can't be normalized"
    assert_(e.not_equal(total, 0), exception=Raise(ZeroDivisionError, (message,)))
    weighted = sum_(e.multiply(x, to_dtype(w, kind)), axis, dtype=kind, keepdims=keepdims)
    result = e.divide(weighted, total)
    return (result, core.copy(core.broadcast_to(total, shape=result.dims))) if returned else result


def _weights(x: Tensor, w: Tensor, axis: Any, axes: tuple[int, ...]) -> Tensor:
    """Weights in the shape of the data; those of one axis are repeated over the others."""
    message = "Shape of weights must be consistent with shape of a along specified axis."
    if may_equal(w.dims, x.dims):
        return of_shape(w, x.dims, message)
    if axis is None:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    w = of_shape(w, tuple(x.dims[i] for i in axes), message)
    order = [axes.index(i) for i in sorted(axes)]
    w = transpose(w, axes=tuple(order)) if order != sorted(order) else w
    rest = iter(w.dims)
    shape = tuple(next(rest) if i in axes else 1 for i in range(x.ndim))
    return core.broadcast_to(core.reshape(w, shape=shape), shape=x.dims)


# --- cumulative --------------------------------------------------------------------------------


def _running(
    op: Callable[..., Any], a: Any, axis: Any, dtype: Any, out: Any, widen: bool = True
) -> Tensor:
    x = to_tensor(a)
    x = to_dtype(x, sum_dtype(x, dtype) if widen else dtype_or(dtype, x.dtype))
    if axis is None:
        flat = core.reshape(x, shape=(product(x.dims),))
        return finish(op(flat, axis=0), out)
    x = x if x.ndim else core.reshape(x, shape=(1,))
    return finish(op(x, axis=axis_of(axis, x.ndim)), out)


@implements(np.cumsum)
def cumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Tensor:
    """The sums of the elements up to each one."""
    return _running(r.cumsum, a, axis, dtype, out)


@implements(np.cumprod)
def cumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Tensor:
    """The products of the elements up to each one."""
    return _running(r.cumprod, a, axis, dtype, out)


def _cumulative(plain: Callable[..., Any], neutral: int) -> Callable[..., Tensor]:
    def function(
        x: Any,
        /,
        *,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        include_initial: bool = False,
    ) -> Tensor:
        x = to_tensor(x)
        x = x if x.ndim else core.reshape(x, shape=(1,))
        if axis is None and x.ndim > 1:
            raise ValueError(
                "For arrays which have more than one dimension ``axis`` argument is required."
            )
        place = axis_of(0 if axis is None else axis, x.ndim)
        result = plain(x, place, dtype)
        if include_initial:
            first: tuple[Dim, ...] = (*x.dims[:place], 1, *x.dims[place + 1 :])
            result = concatenate(core.full(first, neutral, result.dtype), result, axis=place)
        return finish(result, out)

    function.__doc__ = f"`{plain.__name__}` with an option to start from the neutral element."
    return function


cumulative_sum = implements(np.cumulative_sum)(_cumulative(cumsum, 0))
cumulative_prod = implements(np.cumulative_prod)(_cumulative(cumprod, 1))
NAMES["_cummax"] = lambda a, axis=0, dtype=None, out=None: _running(
    r.cummax, a, axis, dtype, out, False
)
NAMES["_cummin"] = lambda a, axis=0, dtype=None, out=None: _running(
    r.cummin, a, axis, dtype, out, False
)
