"""Histograms: how many elements lie between edges.

    counts, edges = gnp.histogram(x, bins=10)

Elements are sorted, and the edges searched among them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphify.errors import ShapeError, SpecError
from graphify.ir.sizes import Dim, decide_equal, product
from graphify.ir.tensor import Tensor, dims_of
from graphify.ir.types import DType, is_float
from graphify.numpy._table import NAMES, implements, of_shape, to_tensor
from graphify.numpy.ranges import linspace
from graphify.numpy.reduction import max_, min_, sum_
from graphify.numpy.sorting import flat, searchsorted, slice_axis
from graphify.ops import core, indexing
from graphify.ops import elementwise as e
from graphify.ops import reduction as r
from graphify.ops import sorting as s
from graphify.ops.core import to_dtype
from graphify.ops.effects import Raise, Text, assert_
from graphify.ops.keys import getitem
from graphify.ops.shape import concatenate


@implements(np.histogram_bin_edges)
def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Tensor:
    """The edges of a histogram's bins."""
    _as_weights(a, weights)
    if isinstance(bins, str):
        raise SpecError(
            "histogram: automatic bins are not supported: the run would tell how many there are",
            remedy="give the number of bins, or their edges",
        )
    edges = to_tensor(bins)
    if edges.ndim == 1:
        message: Any = "`bins` must increase monotonically, when an array"
        steps = getitem(edges, slice(None, -1)), getitem(edges, slice(1, None))
        rising = e.logical_not(NAMES["any"](e.greater(*steps)))
        assert_(rising, exception=Raise(ValueError, (message,)))
        return edges
    if edges.ndim > 1:
        raise ShapeError("`bins` must be 1d, when an array")
    x = flat(a)
    kind = (
        np.result_type(x.dtype, np.float64)
        if not is_float(x.dtype)
        else np.result_type(x.dtype, np.float32)
    )
    low, high = _outer_edges(x, range)
    spaced: Tensor = linspace(low, high, _bin_count(bins) + 1, dtype=kind)
    return spaced


def _bin_count(bins: Any) -> Dim:
    from graphify.ops.shape import as_length

    try:
        return as_length(bins, "bins", 1, "`bins` must be positive, when an integer")
    except TypeError:
        raise TypeError("`bins` must be an integer, a string, or an array") from None


def _outer_edges(x: Tensor, range: Any) -> tuple[Any, Any]:
    if range is not None:
        low, high = range
        if any(dims_of(end) for end in (low, high)):
            raise ShapeError("histogram: range: expected two numbers")
        if not isinstance(low, Tensor) and not isinstance(high, Tensor):
            if low > high:
                raise ValueError("max must be larger than min in range parameter.")
            if not (np.isfinite(low) and np.isfinite(high)):
                raise ValueError(f"supplied range of [{low}, {high}] is not finite")
            return (low - 0.5, high + 0.5) if low == high else (low, high)
        message: Any = "max must be larger than min in range parameter."
        assert_(e.less_equal(low, high), exception=Raise(ValueError, (message,)))
        _check_finite("supplied", low, high)
    elif isinstance(x.dims[0], int) and x.dims[0] == 0:
        return 0, 1
    else:
        low, high = min_(x), max_(x)
        _check_finite("autodetected", low, high)
    flat_range = e.equal(low, high)
    return e.where(flat_range, e.subtract(low, 0.5), low), e.where(
        flat_range, e.add(high, 0.5), high
    )


def _check_finite(which: str, low: Any, high: Any) -> None:
    text = Text((f"{which} range of [", None, ", ", None, "] is not finite"), "")
    finite = e.isfinite(e.add(low, high))
    assert_(finite, to_tensor(low), to_tensor(high), exception=Raise(ValueError, (text,)))


@implements(np.histogram)
def histogram(
    a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[Tensor, Tensor]:
    """How many elements fall in each bin, and the edges of the bins."""
    x = flat(a)
    edges = histogram_bin_edges(x, bins, range)
    n = edges.dims[0]
    counted = _as_weights(a, weights)
    left, right = (searchsorted(s.sort(x, axis=0), edges, side) for side in ("left", "right"))
    if counted is None:
        marks = concatenate(slice_axis(left, 0, n - 1, 0), slice_axis(right, n - 1, n, 0), axis=0)
        counts = NAMES["diff"](marks)
    else:
        counts = _weighted(x, counted, edges, n)
    if not density:
        return counts, edges
    widths = to_dtype(NAMES["diff"](edges), np.float64)
    return e.divide(e.divide(counts, widths), sum_(counts)), edges


def _as_weights(a: Any, weights: Any) -> Tensor | None:
    """The weights of the flattened data.

    Raises:
        ShapeError: a shape that is not the data's.
    """
    if weights is None:
        return None
    x, w = to_tensor(a), to_tensor(weights)
    return flat(of_shape(w, x.dims, "weights should have the same shape as a."))


def _weighted(x: Tensor, weights: Tensor, edges: Tensor, n: Dim) -> Tensor:
    order = s.argsort(x, axis=0, stable=True)
    line = indexing.gather(x, order, axes=(0,))
    dtype: DType = np.result_type(weights.dtype, np.float64)
    total = r.cumsum(to_dtype(indexing.gather(weights, order, axes=(0,)), dtype), axis=0)
    total = concatenate(core.full((1,), 0, dtype), total, axis=0)
    left = searchsorted(line, slice_axis(edges, 0, n - 1, 0), "left")
    right = searchsorted(line, slice_axis(edges, n - 1, n, 0), "right")
    marks = concatenate(left, right, axis=0)
    return to_dtype(NAMES["diff"](indexing.gather(total, marks, axes=(0,))), weights.dtype)


# --- of several dimensions ------------------------------------------------------------------------


@implements(np.histogramdd)
def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[Tensor, list[Tensor]]:
    """How many points fall in each cell of a grid, and the edges of its bins on each axis."""
    columns = _columns(sample)
    rank = len(columns)
    each = [bins] * rank if _length(bins) is None else list(bins)
    if len(each) != rank:
        raise ValueError("The dimension of bins must be equal to the dimension of the sample x.")
    ranges = [None] * rank if range is None else list(range)
    if len(ranges) != rank:
        raise ValueError("range argument must have one entry per dimension")
    edges = [histogram_bin_edges(x, n, r) for x, n, r in zip(columns, each, ranges, strict=True)]
    places = [_cell(x, line) for x, line in zip(columns, edges, strict=True)]
    shape = tuple(line.dims[0] + 1 for line in edges)  # with what is below and above
    flat_places = NAMES["ravel_multi_index"](tuple(places), shape)
    counted = None if weights is None else flat(weights)
    counts = NAMES["bincount"](flat_places, counted, product(shape))
    table = core.reshape(to_dtype(counts, np.float64), shape=shape)
    inner = getitem(table, (slice(1, -1),) * rank)
    if not density:
        return core.copy(inner), edges
    total = sum_(inner)
    for axis, line in enumerate(edges):
        widths = NAMES["diff"](line)
        ones = (*(1,) * axis, widths.dims[0], *(1,) * (rank - axis - 1))
        inner = e.divide(inner, core.reshape(widths, shape=ones))
    return e.divide(inner, total), edges


def _length(bins: Any) -> int | None:
    """How many bins are given, as NumPy tells edges of both axes from one entry for each."""
    if not isinstance(bins, (Tensor, np.ndarray)):
        return len(bins) if hasattr(bins, "__len__") else None
    if not bins.ndim:
        return None
    length = to_tensor(bins).dims[0]
    if not isinstance(length, int):
        raise SpecError(
            f"histogram: bins: how many there are is only known when the graph runs, got {length}: "
            "two are the bins of each axis",
            remedy="pass a list of the edges on each axis: bins=[edges, edges]",
        )
    return length


def _columns(sample: Any) -> list[Tensor]:
    """The coordinates on each axis, of the rows of a matrix or of a list of them."""
    if not isinstance(sample, (Tensor, np.ndarray)):
        lines = [to_tensor(column) for column in sample]
        return [of_shape(x, lines[0].dims, "x and y must have the same length.") for x in lines]
    points = to_tensor(sample)
    points = points if points.ndim == 2 else core.reshape(points, shape=(points.dims[0], 1))
    if not isinstance(points.dims[1], int):
        raise SpecError(
            f"histogramdd: how many coordinates the points {points.spec} have is only known when "
            "the graph runs",
            remedy="pass a list of them: np.histogramdd([x, y])",
        )
    return list(NAMES["unstack"](points, axis=1))


def _cell(x: Tensor, edges: Tensor) -> Tensor:
    """Which bin an element is in, counted from 1; the last edge belongs to the last bin."""
    place = searchsorted(edges, x, "right")
    last = getitem(edges, -1)
    return e.subtract(place, e.equal(x, last))


@implements(np.histogram2d)
def histogram2d(
    x: Any,
    y: Any,
    bins: Any = 10,
    range: Any = None,
    density: Any = None,
    weights: Any = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """How many points fall in each cell of a grid, and the edges of its bins."""
    a, b = to_tensor(x), to_tensor(y)
    if decide_equal(a.dims[0], b.dims[0]) is False:
        raise ValueError("x and y must have the same length.")
    both = bins if _length(bins) in (None, 1, 2) else [to_tensor(bins)] * 2
    counts, (first, second) = histogramdd([a, b], both, range, density, weights)
    return counts, first, second
