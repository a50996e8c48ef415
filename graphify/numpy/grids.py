"""Objects that are indexed to make arrays: r_, c_, mgrid, ogrid.

    r_[x, 0, 1:5]        # end to end
    c_[x, y]             # vectors as columns
    mgrid[0:n, 0:1:5j]   # bounds and, where they are no number of points, steps may be traced

`np.r_[x, s]` in a staged function calls the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphify import tree
from graphify.errors import SpecError
from graphify.ir.promotion import result_type
from graphify.ir.tensor import Tensor, resolve
from graphify.ir.types import DType
from graphify.ir.wrapping import as_tensor
from graphify.numpy._table import FUNCTIONS, astype, broadcast_dims, publish, to_tensor
from graphify.numpy.joining import concatenate
from graphify.numpy.manipulation import transpose
from graphify.numpy.ranges import arange, linspace
from graphify.ops import core
from graphify.ops import elementwise as e
from graphify.ops import shape as ops
from graphify.ops.rules import operand


class Joiner:
    """`r_` and `c_`: arrays, numbers and ranges joined along an axis.

    Args:
        axis: that they are joined along.
        ndmin: the least number of axes they are given.
        first: where the axes of an array that has fewer go among those.
    """

    def __init__(self, axis: int = 0, ndmin: int = 1, first: int = -1) -> None:
        self.directives = (axis, ndmin, first)

    def __getitem__(self, key: Any) -> Tensor:
        items = list(key) if isinstance(key, tuple) else [key]
        axis, ndmin, first = self.directives
        if items and isinstance(items[0], str):
            axis, ndmin, first = _directives(items.pop(0), self.directives)
        if any(isinstance(item, str) for item in items):
            raise ValueError("special directives must be the first entry.")
        pieces = [_piece(item) for item in items]
        dtype = result_type(*(operand(x) for x in pieces)) if pieces else None
        arrays = [_widened(astype(x, dtype), ndmin, first) for x in pieces]
        return concatenate(arrays, axis=axis)


def _directives(text: str, given: tuple[int, int, int]) -> tuple[int, int, int]:
    """What "axis", "axis,ndmin" or "axis,ndmin,first" asks for."""
    if text in ("r", "c"):
        raise SpecError(
            f"r_ and c_: {text!r} asks for a matrix: graphify has arrays only",
            remedy="use np.r_[x, y][None, :] for a row, np.c_[...] or np.r_[x, y][:, None] for a "
            "column",
        )
    parts = text.split(",")
    try:
        numbers = tuple(map(int, parts))
    except ValueError:
        raise ValueError(f"unknown special directive {text!r}") from None
    axis, ndmin, first, *_ = (*numbers, *given[len(numbers) :])
    return axis, ndmin, first


def _piece(item: Any) -> Tensor:
    if not isinstance(item, slice):
        return resolve(as_tensor(item))
    step = 1 if item.step is None else item.step
    start = 0 if item.start is None else item.start
    if isinstance(step, complex):
        points: Tensor = linspace(start, item.stop, int(abs(step)))
        return points
    return arange(start, item.stop, step)


def _widened(x: Tensor, ndmin: int, first: int) -> Tensor:
    """At least `ndmin` axes: new ones in front, and those of the array moved to `first`."""
    missing = ndmin - x.ndim
    if missing <= 0:
        return x
    wide = core.reshape(x, shape=(1,) * missing + x.dims)
    if first == -1:
        return wide
    place = first + missing + 1 if first < 0 else first
    axes = list(range(ndmin))
    return transpose(wide, axes[:place] + axes[missing:] + axes[place:missing])


class Grid:
    """`mgrid` and `ogrid`: coordinates of the points of a grid, one slice for each axis."""

    def __init__(self, grid: Any, sparse: bool) -> None:
        self.grid, self.sparse = grid, sparse

    def __getitem__(self, key: Any) -> Any:
        slices = key if isinstance(key, tuple) else (key,)
        bounds = [bound for each in slices for bound in (each.start, each.stop, each.step)]
        if not any(isinstance(bound, Tensor) for bound in bounds):
            leaves, treedef = tree.flatten(self.grid[key])
            return treedef.unflatten([to_tensor(leaf) for leaf in leaves])
        dtype = _dtype_of(bounds)
        lines = [_line(each, dtype) for each in slices]
        if not isinstance(key, tuple):
            return lines[0]
        rank = len(lines)
        places = [(1,) * k + x.dims + (1,) * (rank - k - 1) for k, x in enumerate(lines)]
        open_ = tuple(core.reshape(x, shape=s) for x, s in zip(lines, places, strict=True))
        if self.sparse:
            return open_
        shape = broadcast_dims(*places)
        return ops.stack([core.broadcast_to(x, shape=shape) for x in open_])


def _dtype_of(bounds: list[Any]) -> DType:
    """The dtype of all coordinates; a number of points makes them floats."""
    numbers = [0.0 if isinstance(b, complex) else 0 if b is None else b for b in bounds]
    return result_type(*(operand(resolve(as_tensor(b))) for b in numbers))


def _line(bounds: slice, dtype: DType) -> Tensor:
    """The coordinates along one axis, as NumPy computes them: the place times the step."""
    start = 0 if bounds.start is None else bounds.start
    step = 1 if bounds.step is None else bounds.step
    if isinstance(step, complex):
        length: Any = int(abs(step))
        step = (bounds.stop - start) / float(length - 1) if length != 1 else 1
    else:
        length = arange(start, bounds.stop, step).dims[0]
    return astype(e.add(e.multiply(ops.iota(length=length, dtype=dtype), step), start), dtype)


r_, c_ = Joiner(), Joiner(axis=-1, ndmin=2, first=0)
mgrid, ogrid = Grid(np.mgrid, sparse=False), Grid(np.ogrid, sparse=True)
publish(r_=r_, c_=c_, mgrid=mgrid, ogrid=ogrid)
FUNCTIONS.update({np.r_: r_, np.c_: c_, np.mgrid: mgrid, np.ogrid: ogrid})
