"""Order statistics: medians, quantiles and percentiles.

    gnp.quantile(x, [0.25, 0.75], axis=0)     # [2, ...]

Elements are sorted along the axes, and a quantile lies between two of them, as NumPy's `method`
says.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphify.errors import SpecError
from graphify.ir.tensor import Tensor
from graphify.ir.types import BOOL, is_complex, is_float, is_inexact, is_integer
from graphify.ir.wrapping import as_tensor
from graphify.numpy._table import axes_of, finish, implements, to_tensor
from graphify.numpy.ranges import INT64
from graphify.numpy.reduction import any_, flag, mean
from graphify.numpy.sorting import flat, zero_unless
from graphify.ops import core, indexing
from graphify.ops import elementwise as e
from graphify.ops import reduction as r
from graphify.ops import sorting as s
from graphify.ops.core import to_dtype
from graphify.ops.shape import concatenate, move_axis, stack


def _ordered(a: Any, axis: Any) -> tuple[Tensor, tuple[int, ...], Tensor]:
    """The data; its axes; the data sorted along them, joined to one last axis."""
    x = to_tensor(a)
    axes = axes_of(axis, x.ndim)
    joined, _ = r.flat_axes(x, axes)
    return x, axes, s.sort(joined, axis=joined.ndim - 1)


def _kept(result: Tensor, x: Tensor, axes: tuple[int, ...], keepdims: Any) -> Tensor:
    if not flag(keepdims):
        return result
    return core.reshape(result, shape=r.reduced_shape(x.dims, axes, True))


def _at(line: Tensor, index: Any) -> Tensor:
    """Elements at an index of the last axis."""
    last = line.ndim - 1
    return indexing.gather(line, to_dtype(core.strong(index), INT64), axes=(last,))


@implements(np.median)
def median(
    a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: Any = False
) -> Any:
    """The middle element, or the mean of the two in the middle; NaN if there is a NaN."""
    x, axes, line = _ordered(a, axis)
    count = line.dims[-1]
    if isinstance(count, int) and count == 0:
        return finish(mean(x, axis, keepdims=keepdims), out)
    size = as_tensor(count)
    high = e.floor_divide(size, 2)
    low = e.floor_divide(e.subtract(size, 1), 2)
    middle = _pair(line, low, high)
    result = (
        mean(middle, axis=0) if middle.dtype != BOOL else mean(to_dtype(middle, np.float64), axis=0)
    )
    if is_inexact(x.dtype):
        result = e.where(
            any_(e.isnan(line), axis=-1), Tensor(np.asarray(np.nan, result.dtype)), result
        )
    return finish(_kept(result, x, axes, keepdims), out)


def _pair(line: Tensor, low: Any, high: Any) -> Tensor:
    """Two elements of the last axis, stacked in front; the same one twice has itself as mean."""
    return stack([_at(line, low), _at(line, high)])


_CONTINUOUS = {  # method -> (alpha, beta) of the virtual index. Source: numpy.quantile's notes
    "weibull": (0.0, 0.0),
    "linear": (1.0, 1.0),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
    "hazen": (0.5, 0.5),
    "interpolated_inverted_cdf": (0.0, 1.0),
}

_PICKS = {"lower", "higher", "nearest"}  # elements as they are
_METHODS = {*_CONTINUOUS, *_PICKS, "midpoint"}


def _virtual_index(count: Any, q: Tensor, method: str) -> Tensor:
    """Where in the sorted data the quantile lies, in elements."""
    size = core.strong(as_tensor(count))
    size = to_dtype(size, q.dtype)
    if method in ("linear", "lower", "higher", "midpoint", "nearest"):
        return e.multiply(e.subtract(size, 1), q)
    alpha, beta = _CONTINUOUS[method]
    scaled = e.multiply(size, q)
    offset = e.subtract(e.add(alpha, e.multiply(q, 1 - alpha - beta)), 1)
    return e.add(scaled, offset)


def _quantile(
    a: Any,
    given: Any,
    percent: bool,
    axis: Any,
    out: Any,
    method: str,
    keepdims: Any,
    ignore_nan: bool,
) -> Any:
    x, axes, line = _ordered(a, axis)
    if is_complex(x.dtype):
        raise TypeError("a must be an array of real numbers")
    if method not in _METHODS:
        raise ValueError(f"method: expected one of {sorted(_METHODS)}, got {method!r}")
    q, weak = _fractions(given, percent)
    q = _in_range(q, percent)
    exact = method == "linear" and is_integer(q.dtype)  # the least or the largest element
    q = q if exact or is_inexact(q.dtype) else to_dtype(q, np.float64)
    if x.dtype == BOOL and not exact and method not in _PICKS:
        raise TypeError("quantile: a boolean array has no quantiles, convert it with .astype")
    if line.dims[-1] == 0 and not ignore_nan:
        raise IndexError("index -1 is out of bounds for axis 0 with size 0")
    fractions = flat(q)
    if ignore_nan and is_inexact(x.dtype):
        present = r.reduce_sum(
            core.cast(e.logical_not(e.isnan(line)), dtype=INT64),
            axes=(line.ndim - 1,),
            keepdims=True,
        )
        counts = core.reshape(present, shape=(1, *line.dims[:-1]))
        points = core.reshape(fractions, shape=(fractions.dims[0], *(1,) * (line.ndim - 1)))
    else:
        counts, points = as_tensor(line.dims[-1]), fractions
    position = _virtual_index(counts, points, method)
    if exact:
        values = _pick(line, position, e.subtract(core.strong(counts), 1))
    else:
        values = _between(line, position, counts, method, weak)
    if is_inexact(x.dtype) and not ignore_nan:
        bad = any_(e.isnan(line), axis=-1)
        values = e.where(bad, Tensor(np.asarray(np.nan, values.dtype)), values)
    if ignore_nan and is_inexact(x.dtype):
        empty = core.reshape(e.equal(counts, 0), shape=(1, *line.dims[:-1]))
        values = e.where(empty, Tensor(np.asarray(np.nan, values.dtype)), values)
    shape = r.reduced_shape(x.dims, axes, flag(keepdims))
    return finish(core.reshape(values, shape=(*q.dims, *shape)), out)


def _in_range(q: Tensor, percent: bool) -> Tensor:
    """`q`; ValueError, if need be when the program runs, where it is not from 0 to 1."""
    text = (
        "Percentiles must be in the range [0, 100]"
        if percent
        else "Quantiles must be in the range [0, 1]"
    )
    inside = e.logical_and(e.greater_equal(q, 0), e.less_equal(q, 1))  # not so for NaN
    if not inside.is_symbolic:
        if not np.all(inside.numpy()):
            raise ValueError(text)
        return q
    zero = zero_unless(any_(e.logical_not(inside)), text)
    return e.add(q, core.cast(zero, dtype=q.dtype))


def _between(line: Tensor, position: Tensor, count: Any, method: str, weak: bool) -> Tensor:
    """The data at fractional positions: quantiles in front, then the other axes.

    Args:
        weak: the quantile is a Python number, so the result has the dtype of float data.
    """
    last = e.subtract(core.strong(count), 1)
    if method == "nearest":
        return _pick(line, e.rint(position), last)
    low = e.floor(position)
    if method == "lower":
        return _pick(line, low, last)
    if method == "higher":
        return _pick(line, e.ceil(position), last)
    before, after = _pick(line, low, last), _pick(line, e.add(low, 1.0), last)
    if method == "midpoint":
        share = core.cast(e.where(e.equal(position, low), 0.0, 0.5), dtype=position.dtype)
    else:
        share = e.subtract(position, low)
    share = core.strong(
        e.where(e.logical_or(e.less(position, 0), e.greater_equal(position, last)), 0.0, share)
    )
    wide = (
        (*share.dims, *(1,) * (before.ndim - share.ndim))
        if share.ndim < before.ndim
        else share.dims
    )
    share = to_dtype(share, line.dtype) if weak and is_float(line.dtype) else share
    return _lerp(before, after, core.reshape(share, shape=wide))


def _pick(line: Tensor, index: Tensor, last: Tensor) -> Tensor:
    """Elements of the last axis; the index has the quantiles, or quantiles and the other axes."""
    place = e.minimum(e.maximum(core.cast(index, dtype=INT64), 0), e.maximum(last, 0))
    if place.ndim == 1:
        return _at(line, place)
    axis = line.ndim - 1
    moved = move_axis(place, 0, axis)
    return move_axis(r.pick_along(line, moved, axis), axis, 0)


def _lerp(a: Tensor, b: Tensor, t: Tensor) -> Tensor:
    """Linear interpolation, exact at both ends. Source: numpy's `_lerp`."""
    difference = e.subtract(b, a)
    up = e.add(a, e.multiply(difference, t))
    down = e.subtract(b, e.multiply(difference, e.subtract(1, t)))
    return e.where(e.greater_equal(t, 0.5), down, up)


def _fractions(q: Any, percent: bool) -> tuple[Tensor, bool]:
    """The quantiles, as integers where they are some; and whether they are a Python number."""
    points = as_tensor(q)
    weak = points.spec.weak and points.dtype != BOOL
    points = core.strong(points)
    points = core.cast(points, dtype=INT64) if points.dtype == BOOL else points
    return (e.divide(points, 100) if percent else points), weak


def _quantile_functions(percent: bool, ignore_nan: bool, doc: str) -> Any:
    def function(
        a: Any,
        q: Any,
        axis: Any = None,
        out: Any = None,
        overwrite_input: bool = False,
        method: str = "linear",
        keepdims: Any = False,
        *,
        weights: Any = None,
    ) -> Any:
        if weights is not None:
            raise SpecError(
                "quantile: weights are not supported",
                remedy="sort the elements and take the one where np.cumsum(weights) gets there",
            )
        return _quantile(a, q, percent, axis, out, method, keepdims, ignore_nan)

    function.__doc__ = doc
    return function


quantile = implements(np.quantile)(
    _quantile_functions(False, False, "Quantiles of the data over axes.")
)
percentile = implements(np.percentile)(
    _quantile_functions(True, False, "Percentiles of the data over axes.")
)
nanquantile = implements(np.nanquantile)(
    _quantile_functions(False, True, "Quantiles, NaN left out.")
)
nanpercentile = implements(np.nanpercentile)(
    _quantile_functions(True, True, "Percentiles, NaN left out.")
)


@implements(np.nanmedian)
def nanmedian(
    a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: Any = False
) -> Any:
    """The median of the elements that are no NaN."""
    x, axes, line = _ordered(a, axis)
    if not is_inexact(x.dtype):
        return median(x, axis, out, keepdims=keepdims)
    place = line.ndim - 1
    if line.dims[place] == 0:
        return finish(mean(x, axis, keepdims=keepdims), out)
    count = r.reduce_sum(
        core.cast(e.logical_not(e.isnan(line)), dtype=INT64), axes=(place,), keepdims=True
    )
    low = e.maximum(e.floor_divide(e.subtract(count, 1), 2), 0)
    high = e.minimum(e.floor_divide(count, 2), e.maximum(e.subtract(count, 1), 0))
    pair = concatenate(r.pick_along(line, low, place), r.pick_along(line, high, place), axis=place)
    return finish(_kept(mean(pair, axis=-1), x, axes, keepdims), out)
