"""pad: arrays with more elements at their edges.

Modes that copy elements are one gather per axis, so they work for sizes known at run time, too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphify.errors import SpecError
from graphify.ir.kinds import of_elements
from graphify.ir.sizes import Dim, Size, decide_equal
from graphify.ir.tensor import Tensor
from graphify.ir.wrapping import as_tensor
from graphify.numpy._table import NAMES, astype, implements, to_tensor
from graphify.numpy.rearrange import take_axis
from graphify.ops import core
from graphify.ops import elementwise as e
from graphify.ops import shape as ops
from graphify.ops.keys import getitem
from graphify.ops.shape import as_length, iota

INT64 = np.dtype(np.int64)
_KEYWORDS = {
    "empty": [],
    "edge": [],
    "wrap": [],
    "constant": ["constant_values"],
    "linear_ramp": ["end_values"],
    "maximum": ["stat_length"],
    "mean": ["stat_length"],
    "median": ["stat_length"],
    "minimum": ["stat_length"],
    "reflect": ["reflect_type"],
    "symmetric": ["reflect_type"],
}


def pairs(value: Any, ndim: int, name: str) -> list[tuple[Any, Any]]:
    """A (before, after) pair for each axis, from a number, a pair, or a pair per axis."""
    if isinstance(value, dict):
        rows: list[tuple[Any, Any]] = [(0, 0)] * ndim
        for axis, item in value.items():
            rows[axis] = tuple(item) if np.ndim(item) else (item, item)
        return rows
    if isinstance(value, (Tensor, np.ndarray)) and value.ndim == 0 or not hasattr(value, "__len__"):
        return [(value, value)] * ndim
    items = list(value)
    if all(not hasattr(item, "__len__") or np.ndim(item) == 0 for item in items):
        if len(items) == 1:
            return [(items[0], items[0])] * ndim
        if len(items) == 2:
            return [(items[0], items[1])] * ndim
        raise ValueError(
            f"operands could not be broadcast together: {name} {value} for {ndim} axes"
        )
    rows = [(item[0], item[-1]) for item in items]
    if len(rows) not in (1, ndim) or any(len(item) > 2 for item in items):
        raise ValueError(
            f"operands could not be broadcast together: {name} {value} for {ndim} axes"
        )
    return rows * ndim if len(rows) == 1 else rows


def _widths(pad_width: Any, ndim: int) -> list[tuple[Dim, Dim]]:
    result = []
    for before, after in pairs(pad_width, ndim, "pad_width"):
        for width in (before, after):
            if not isinstance(width, Size) and as_tensor(width).dtype.kind != "i":
                raise TypeError("`pad_width` must be of integral type.")
        message = "index can't contain negative values"
        first, last = (as_length(n, "pad_width", message=message) for n in (before, after))
        result.append((first, last))
    return result


@implements(np.pad, zero_d="array")
def pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Tensor:
    """The array with elements added before and after along each axis."""
    x = to_tensor(array)
    if callable(mode):
        raise SpecError(
            "pad: a function as mode is not supported",
            remedy="pad with zeros, then update the edges",
        )
    if mode not in _KEYWORDS:
        raise ValueError(f"mode '{mode}' is not supported")
    unknown = sorted(set(kwargs) - set(_KEYWORDS[mode]))
    if unknown:
        raise ValueError(f"unsupported keyword arguments for mode '{mode}': {unknown}")
    widths = _widths(pad_width, x.ndim)
    if mode in ("constant", "empty"):
        given = pairs(kwargs.get("constant_values", 0), x.ndim, "constant_values")
        return of_elements(_constant(x, widths, given), [x])
    for axis, (before, after) in enumerate(widths):
        if before == after == 0:
            continue
        if decide_equal(x.dims[axis], 0):
            raise ValueError(
                f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'"
            )
        x = of_elements(_pad_axis(x, axis, before, after, mode, kwargs), [x])
    return core.copy(x)


def _constant(x: Tensor, widths: list[tuple[Dim, Dim]], values: list[tuple[Any, Any]]) -> Tensor:
    """Constants, the later axes over the earlier ones, as NumPy fills the corners."""
    shape = tuple(d + before + after for d, (before, after) in zip(x.dims, widths, strict=True))
    for axis, (before, after) in enumerate(widths):
        inner = (*shape[:axis], x.dims[axis], *x.dims[axis + 1 :])
        parts = [
            _filled(x, inner, axis, before, values[axis][0]),
            x,
            _filled(x, inner, axis, after, values[axis][1]),
        ]
        x = ops.concatenate(*(p for p in parts if p.dims[axis] != 0 or p is x), axis=axis)
    return core.copy(x) if not x.ndim else x


def _filled(x: Tensor, shape: tuple[Dim, ...], axis: int, width: Dim, value: Any) -> Tensor:
    scalar = to_tensor(value)
    if scalar.ndim:
        raise ValueError("setting an array element with a sequence. (constant_values)")
    scalar = astype(scalar, x.dtype)
    return core.broadcast_to(scalar, shape=(*shape[:axis], width, *shape[axis + 1 :]))


def _pad_axis(
    x: Tensor, axis: int, before: Dim, after: Dim, mode: str, options: dict[str, Any]
) -> Tensor:
    if mode in ("maximum", "minimum", "mean", "median"):
        return _statistic(
            x, axis, before, after, mode, pairs(options.get("stat_length"), x.ndim, "stat_length")
        )
    if mode == "linear_ramp":
        return _ramp(
            x, axis, before, after, pairs(options.get("end_values", 0), x.ndim, "end_values")[axis]
        )
    if options.get("reflect_type", "even") == "odd":
        return _odd(x, axis, before, after, mode)
    length = ops.size_value(size=x.dims[axis])
    place = iota(length=x.dims[axis] + before + after, dtype=INT64) - ops.size_value(size=before)
    return take_axis(x, _source(place, length, mode), axis)


def _source(place: Tensor, length: Tensor, mode: str) -> Tensor:
    """Which element stands at a place relative to the array's start."""
    last = length - 1
    if mode == "edge":
        return e.minimum(e.maximum(place, 0), last)
    if mode == "wrap":
        return e.remainder(place, length)
    if mode == "symmetric":
        turn = e.remainder(place, length * 2)
        return e.where(turn < length, turn, length * 2 - 1 - turn)
    turn = e.remainder(place, e.maximum(last * 2, 1))
    return e.where(turn <= last, turn, last * 2 - turn)


def _odd(x: Tensor, axis: int, before: Dim, after: Dim, mode: str) -> Tensor:
    """Reflection that goes on with the slope: twice the edge less the reflected element."""
    length = x.dims[axis]
    if not (isinstance(length, int) and isinstance(before, int) and isinstance(after, int)):
        raise SpecError("pad: reflect_type='odd' needs sizes known while tracing")
    period = length if mode == "symmetric" else max(length - 1, 1)
    if length == 1 and mode == "reflect":
        return _pad_axis(x, axis, before, after, "edge", {})
    lead = (slice(None),) * axis
    while before > 0 or after > 0:
        left, right = min(before, period), min(after, period)
        skip, size = int(mode == "reflect"), x.dims[axis]
        assert isinstance(size, int)
        first, last = getitem(x, (*lead, slice(0, 1))), getitem(x, (*lead, slice(size - 1, size)))
        head = ops.flip(getitem(x, (*lead, slice(skip, skip + left))), axes=(axis,))
        tail = ops.flip(getitem(x, (*lead, slice(size - skip - right, size - skip))), axes=(axis,))
        sides = (astype(2 * edge - part, x.dtype) for edge, part in ((first, head), (last, tail)))
        x = ops.concatenate(next(sides), x, next(sides), axis=axis)
        before, after = before - left, after - right
    return x


def _statistic(
    x: Tensor, axis: int, before: Dim, after: Dim, mode: str, lengths: list[tuple[Any, Any]]
) -> Tensor:
    lead, size = (slice(None),) * axis, x.dims[axis]
    parts = [x]
    for side, width in ((0, before), (1, after)):
        count = lengths[axis][side]
        if isinstance(count, int) and count <= 0:
            if count < 0:
                raise ValueError("index can't contain negative values")
            if mode in ("maximum", "minimum"):
                raise ValueError("stat_length of 0 yields no value for padding")
        whole = count is None or (isinstance(size, int) and count >= size)
        piece = (
            x
            if whole
            else getitem(x, (*lead, slice(0, count) if side == 0 else slice(size - count, None)))
        )
        value = NAMES[{"maximum": "max", "minimum": "min"}.get(mode, mode)](
            piece, axis=axis, keepdims=True
        )
        if x.dtype.kind in "iu" and mode in ("mean", "median"):
            value = e.rint(value)
        value = core.broadcast_to(
            astype(value, x.dtype), shape=(*x.dims[:axis], width, *x.dims[axis + 1 :])
        )
        parts = [value, *parts] if side == 0 else [*parts, value]
    return ops.concatenate(*parts, axis=axis)


def _ramp(x: Tensor, axis: int, before: Dim, after: Dim, ends: tuple[Any, Any]) -> Tensor:
    if not (isinstance(before, int) and isinstance(after, int)):
        raise SpecError("pad: mode 'linear_ramp' needs widths known while tracing")
    lead = (slice(None),) * axis
    size = x.dims[axis]
    edges = (getitem(x, (*lead, 0)), getitem(x, (*lead, -1 if isinstance(size, int) else size - 1)))
    linspace = NAMES["linspace"]
    left = linspace(ends[0], edges[0], before, endpoint=False, dtype=x.dtype, axis=axis)
    right = ops.flip(
        linspace(ends[1], edges[1], after, endpoint=False, dtype=x.dtype, axis=axis), axes=(axis,)
    )
    return ops.concatenate(left, x, right, axis=axis)
