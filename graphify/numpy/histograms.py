"""Histograms: how many elements lie between edges.

    counts, edges = gnp.histogram(x, bins=10)

Elements are sorted, and the edges searched among them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphify.errors import ShapeError, SpecError
from graphify.ir.sizes import Dim
from graphify.ir.tensor import Tensor
from graphify.ir.types import DType, is_float
from graphify.numpy._table import NAMES, implements, to_tensor
from graphify.numpy.ranges import linspace
from graphify.numpy.reduction import max_, min_, sum_
from graphify.numpy.sorting import flat, searchsorted, slice_axis
from graphify.ops import core, indexing
from graphify.ops import elementwise as e
from graphify.ops import reduction as r
from graphify.ops import sorting as s
from graphify.ops.core import to_dtype
from graphify.ops.shape import concatenate


@implements(np.histogram_bin_edges)
def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Tensor:
    """The edges of a histogram's bins."""
    if isinstance(bins, str):
        raise SpecError(
            "histogram: automatic bins are not supported: the run would tell how many there are",
            remedy="give the number of bins, or their edges",
        )
    edges = to_tensor(bins)
    if edges.ndim == 1:
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
    from graphify.ops.shape import as_dim

    try:
        count = as_dim(bins, "bins")
    except TypeError:
        raise TypeError("`bins` must be an integer, a string, or an array") from None
    if isinstance(count, int) and count < 1:
        raise ValueError("`bins` must be positive, when an integer")
    return count


def _outer_edges(x: Tensor, range: Any) -> tuple[Any, Any]:
    if range is not None:
        low, high = range
        if not isinstance(low, Tensor) and not isinstance(high, Tensor):
            if low > high:
                raise ValueError("max must be larger than min in range parameter.")
            return (low - 0.5, high + 0.5) if low == high else (low, high)
    elif isinstance(x.dims[0], int) and x.dims[0] == 0:
        return 0, 1
    else:
        low, high = min_(x), max_(x)
    flat_range = e.equal(low, high)
    return e.where(flat_range, e.subtract(low, 0.5), low), e.where(
        flat_range, e.add(high, 0.5), high
    )


@implements(np.histogram)
def histogram(
    a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[Tensor, Tensor]:
    """How many elements fall in each bin, and the edges of the bins."""
    x = flat(a)
    edges = histogram_bin_edges(x, bins, range)
    n = edges.dims[0]
    counted = None if weights is None else flat(weights)
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
