"""Functions that make indices: grids, triangles, and positions in a flattened array."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from graphify.errors import DTypeError
from graphify.ir.sizes import decide_equal, product
from graphify.ir.tensor import Tensor
from graphify.ir.types import BOOL
from graphify.ir.wrapping import as_tensor
from graphify.numpy._table import astype, implements, publish, shape_of, to_tensor
from graphify.numpy.creation import tri
from graphify.numpy.indexing import INT64, in_mode
from graphify.numpy.manipulation import as_order
from graphify.numpy.ranges import arange
from graphify.ops import core
from graphify.ops import elementwise as e
from graphify.ops import shape as ops
from graphify.ops.indexing import nonzero


@implements(np.ix_)
def ix_(*args: Any) -> tuple[Tensor, ...]:
    """Index arrays that form the grid of their elements."""
    results = []
    for k, arg in enumerate(args):
        x = to_tensor(arg)
        if x.ndim != 1:
            raise ValueError("Cross index must be 1 dimensional")
        if decide_equal(x.dims[0], 0) and not isinstance(arg, (Tensor, np.ndarray)):
            x = astype(x, INT64)
        if x.dtype == BOOL:
            (x,) = nonzero.several(x)
        results.append(core.reshape(x, shape=(1,) * k + x.dims + (1,) * (len(args) - k - 1)))
    return tuple(results)


def _index_integers(x: Tensor, name: str) -> Tensor:
    if x.dtype.kind not in "iu":
        raise DTypeError(f"{name}: only int indices permitted, got {x.dtype.name}")
    return astype(x, INT64)


@implements(np.unravel_index)
def unravel_index(indices: Any, shape: Any, order: str = "C") -> tuple[Tensor, ...]:
    """Indices into the flattened array as one index per axis."""
    index = _index_integers(to_tensor(indices), "unravel_index")
    dims, order = shape_of(shape), as_order(order, "CF")
    message = f"index {{bad}} is out of bounds for array with size {product(dims)}"
    index = ops.in_range(
        index, 0, ops.size_value(size=product(dims)), error="ValueError", message=message
    )
    results = []
    for dim in reversed(dims) if order == "C" else dims:
        size = ops.size_value(size=dim)
        results.append(core.strong(e.remainder(index, size)))
        index = e.floor_divide(index, size)
    return tuple(reversed(results)) if order == "C" else tuple(results)


@implements(np.ravel_multi_index)
def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: str = "C") -> Tensor:
    """One index per axis as indices into the flattened array."""
    parts = [_index_integers(to_tensor(part), "ravel_multi_index") for part in multi_index]
    shape, order = shape_of(dims), as_order(order, "CF")
    if len(parts) != len(shape):
        raise ValueError(f"parameter multi_index must be a sequence of length {len(shape)}")
    modes = (mode,) * len(shape) if isinstance(mode, str) else tuple(mode)
    total: Any = 0
    axes = range(len(shape)) if order == "C" else reversed(range(len(shape)))
    for axis in axes:
        size, part = ops.size_value(size=shape[axis]), parts[axis]
        if modes[axis] == "raise":
            part = ops.in_range(
                part, 0, size, error="ValueError", message="invalid entry in coordinates array"
            )
        total = total * size + in_mode(part, shape[axis], modes[axis])
    return core.strong(total)


@implements(np.diag_indices)
def diag_indices(n: Any, ndim: int = 2) -> tuple[Tensor, ...]:
    """The indices of the main diagonal."""
    return (arange(n),) * operator.index(ndim)


@implements(np.diag_indices_from)
def diag_indices_from(arr: Any) -> tuple[Tensor, ...]:
    """The indices of the main diagonal of an array."""
    x = to_tensor(arr)
    if x.ndim < 2:
        raise ValueError("input array must be at least 2-d")
    if any(decide_equal(x.dims[0], dim) is False for dim in x.dims):
        raise ValueError("All dimensions of input must be of equal length")
    return diag_indices(as_tensor(x.dims[0]), x.ndim)


@implements(np.tril_indices)
def tril_indices(n: Any, k: int = 0, m: Any = None) -> tuple[Tensor, ...]:
    """The indices of the lower triangle."""
    return tuple(nonzero.several(tri(n, m, k=k, dtype=bool)))


@implements(np.triu_indices)
def triu_indices(n: Any, k: int = 0, m: Any = None) -> tuple[Tensor, ...]:
    """The indices of the upper triangle."""
    return tuple(nonzero.several(e.logical_not(tri(n, m, k=k - 1, dtype=bool))))


@implements(np.tril_indices_from)
def tril_indices_from(arr: Any, k: int = 0) -> tuple[Tensor, ...]:
    """The indices of the lower triangle of an array."""
    return tril_indices(*_sides(arr, k))


@implements(np.triu_indices_from)
def triu_indices_from(arr: Any, k: int = 0) -> tuple[Tensor, ...]:
    """The indices of the upper triangle of an array."""
    return triu_indices(*_sides(arr, k))


def _sides(arr: Any, k: int) -> tuple[Any, int, Any]:
    x = to_tensor(arr)
    if x.ndim != 2:
        raise ValueError("input array must be 2-d")
    return as_tensor(x.dims[0]), k, as_tensor(x.dims[1])


publish(index_exp=np.index_exp, s_=np.s_)
