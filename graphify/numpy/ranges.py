"""Ranges, evenly spaced numbers and grids of coordinates; their lengths may be traced."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphify.errors import ShapeError, SpecError
from graphify.ir.promotion import result_type
from graphify.ir.sizes import Dim, Size, product, size_op
from graphify.ir.tensor import Tensor, resolve
from graphify.ir.types import DType, canonical_dtype, is_complex, is_integer
from graphify.ir.wrapping import as_tensor
from graphify.numpy._table import (
    NAMES,
    axis_of,
    broadcast_dims,
    default_float,
    implements,
    shape_of,
    to_tensor,
)
from graphify.ops import core
from graphify.ops import elementwise as e
from graphify.ops import shape as shapes
from graphify.ops.effects import Raise, assert_
from graphify.ops.rules import operand

INT64 = np.dtype(np.int64)

# --- ranges ------------------------------------------------------------------------------------


@implements(np.arange)
def arange(
    start: Any = None,
    stop: Any = None,
    step: Any = None,
    dtype: Any = None,
    *,
    device: Any = None,
    like: Any = None,
) -> Tensor:
    """Numbers from `start` up to, not including, `stop`."""
    if start is None and stop is None:
        raise TypeError("arange() requires stop to be specified.")
    if stop is None:
        start, stop = 0, start
    ends = [0 if start is None else start, stop, 1 if step is None else step]
    tensors = [resolve(as_tensor(end)) for end in ends]
    if any(t.ndim for t in tensors):
        raise ShapeError("arange: expected scalars")
    if not any(t.is_symbolic for t in tensors):
        numbers: list[Any] = [t.numpy().item() if t.spec.weak else t.numpy()[()] for t in tensors]
        options: dict[str, Any] = {} if dtype is None else {"dtype": canonical_dtype(dtype)}
        made = np.arange(*numbers, **options)
        floating = dtype is None and all(t.spec.weak for t in tensors) and made.dtype.kind == "f"
        return Tensor(made.astype(default_float(), copy=False) if floating else made)
    kind = (
        canonical_dtype(dtype)
        if dtype is not None
        else np.result_type(INT64, *(t.dtype for t in tensors))
    )
    return _traced_range(tensors[0], tensors[1], tensors[2], kind)


def _traced_range(start: Tensor, stop: Tensor, step: Tensor, dtype: DType) -> Tensor:
    if all(is_integer(t.dtype) for t in (start, stop, step)):
        length = _range_length(start, stop, step)
    else:
        count = core.strong(e.ceil(e.divide(e.subtract(stop, start), step)))
        _check_run(e.logical_not(e.isnan(count)), ValueError, "arange: cannot compute length")
        _check_run(e.less(count, 2.0**62), ValueError, "Maximum allowed size exceeded")
        length = shapes.as_dim(e.maximum(core.cast(count, dtype=INT64), 0), "arange")
    turns = shapes.iota(length=length, dtype=dtype)
    first, by = (core.to_dtype(core.strong(t), dtype) for t in (start, step))
    return e.add(first, e.multiply(turns, by))


def _range_length(start: Tensor, stop: Tensor, step: Tensor) -> Dim:
    """The number of turns: a size if the bounds are sizes, so that `arange(n)` has length n."""
    if not step.is_symbolic:
        stride = int(step.numpy())
        if stride == 0:
            raise ZeroDivisionError("arange: step must not be zero")
        bounds = [_known_size(t) for t in (start, stop)]
        if bounds[0] is not None and bounds[1] is not None:
            span = bounds[1] - bounds[0] if stride > 0 else bounds[0] - bounds[1]
            return size_op("max", size_op("floordiv", span + (abs(stride) - 1), abs(stride)), 0)
    wide = [core.to_dtype(core.strong(t), INT64) for t in (start, stop, step)]
    if all(t.spec.weak for t in (start, stop, step)):  # Python's numbers, or NumPy's
        _check_run(e.not_equal(wide[2], 0), ZeroDivisionError, "division by zero")
    else:
        _check_run(e.not_equal(wide[2], 0), ValueError, "Maximum allowed size exceeded")
    way = e.subtract(wide[1], wide[0])
    turns = e.negative(e.floor_divide(e.negative(way), wide[2]))  # ceil(way / step)
    return shapes.as_dim(e.maximum(turns, 0), "arange")


def _check_run(condition: Tensor, error: type[Exception], message: str) -> None:
    """Raise an error where the condition does not hold, when the program runs."""
    text: Any = message
    assert_(condition, exception=Raise(error, (text,)))


def _known_size(t: Tensor) -> Dim | None:
    if t.is_symbolic:
        return shapes._size_of(t._value)
    return int(t.numpy())


@implements(np.linspace)
def linspace(
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    *,
    device: Any = None,
) -> Any:
    """`num` evenly spaced numbers from `start` to `stop`.

    Source: the steps of numpy.linspace, so that the numbers are equal to the last bit.
    """
    count = shapes.as_length(num, "num", message="Number of samples, {bad}, must be non-negative.")
    first, last = (resolve(as_tensor(end)) for end in (start, stop))
    kind = result_type(operand(first), operand(last), float)
    first, last = (e.multiply(core.strong(end), 1.0) for end in (first, last))
    first, last = core.to_dtype(first, kind), core.to_dtype(last, kind)
    target = kind if dtype is None else canonical_dtype(dtype)
    delta = e.subtract(last, first)
    turns = core.reshape(shapes.iota(length=count, dtype=kind), shape=(count, *(1,) * delta.ndim))
    result, step = _spaced(first, delta, turns, count, endpoint)
    if endpoint and not (isinstance(count, int) and count <= 1):
        is_last = e.equal(turns, as_tensor(count - 1))
        keep = (
            e.logical_and(is_last, e.greater(as_tensor(count), 1))
            if isinstance(count, Size)
            else is_last
        )
        result = e.where(keep, last, result)
    if is_integer(target):
        result = e.floor(result)
    result = core.strong(core.to_dtype(result, target))
    result = shapes.move_axis(result, 0, axis_of(axis, result.ndim))
    return (result, step) if retstep else result


def _spaced(
    first: Tensor, delta: Tensor, turns: Tensor, count: Dim, endpoint: bool
) -> tuple[Tensor, Tensor]:
    parts = count - 1 if endpoint else count
    if isinstance(parts, int) and parts <= 0:
        step = Tensor(np.full((), np.nan, delta.dtype))
        return e.add(e.multiply(turns, delta), first), step
    divisor = as_tensor(parts)
    step = e.divide(delta, divisor)
    direct = e.multiply(turns, step)
    underflow = NAMES["any"](e.equal(step, 0))  # then divide first, as NumPy does
    result = e.where(underflow, e.multiply(e.divide(turns, divisor), delta), direct)
    if isinstance(parts, Size):
        result = e.where(e.greater(divisor, 0), result, e.multiply(turns, delta))
    return e.add(result, first), step


@implements(np.logspace)
def logspace(
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: Any = None,
    axis: int = 0,
) -> Tensor:
    """Numbers evenly spaced on a logarithmic scale."""
    b = as_tensor(base)
    if b.ndim:
        raise SpecError(f"logspace: base: expected a number, got an array of shape {b.dims}")
    y = linspace(start, stop, num, endpoint, axis=axis)
    result = e.power(b, y)
    return core.strong(result) if dtype is None else core.to_dtype(result, canonical_dtype(dtype))


@implements(np.geomspace)
def geomspace(
    start: Any, stop: Any, num: Any = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0
) -> Tensor:
    """Numbers evenly spaced as a geometric progression."""
    first, last = (resolve(as_tensor(end)) for end in (start, stop))
    # As in NumPy, whose result has the precision of `dtype`, float64 by default, or more.
    given = canonical_dtype(np.float64 if dtype is None else dtype)
    kind = result_type(operand(first), operand(last), given, float)
    target = kind if dtype is None else given
    first, last = (core.to_dtype(core.strong(end), kind) for end in (first, last))
    if is_complex(kind):
        raise SpecError(
            "geomspace: complex bounds are not supported",
            remedy="write start * (stop / start) ** np.linspace(0, 1, num)",
        )
    for end in (first, last):
        _check_run(e.not_equal(end, 0), ValueError, "Geometric sequence cannot include zero")
    out_sign = e.sign(first)
    low, high = e.divide(first, out_sign), e.divide(last, out_sign)
    result = logspace(e.log10(low), e.log10(high), num, endpoint, 10.0)
    count = result.dims[0]
    turns = core.reshape(
        shapes.iota(length=count, dtype=INT64), shape=(count, *(1,) * (result.ndim - 1))
    )
    if endpoint:
        result = e.where(e.equal(turns, as_tensor(count - 1)), high, result)
    result = e.multiply(e.where(e.equal(turns, 0), low, result), out_sign)
    result = shapes.move_axis(result, 0, axis_of(axis, result.ndim))
    return core.strong(core.to_dtype(result, target))


# --- grids -------------------------------------------------------------------------------------


@implements(np.meshgrid)
def meshgrid(
    *xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy"
) -> tuple[Tensor, ...]:
    """Coordinate arrays from coordinate vectors."""
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    rank = len(xi)
    places = list(range(rank))
    if indexing == "xy" and rank > 1:
        places[0], places[1] = 1, 0
    grids = []
    for x, place in zip(map(to_tensor, xi), places, strict=True):
        length = product(x.dims)
        grids.append(core.reshape(x, shape=tuple(length if a == place else 1 for a in range(rank))))
    if sparse:
        return tuple(core.copy(g) for g in grids)
    shape = broadcast_dims(*(g.dims for g in grids))
    return tuple(core.copy(core.broadcast_to(g, shape=shape)) for g in grids)


@implements(np.indices)
def indices(dimensions: Sequence[Any], dtype: Any = int, sparse: bool = False) -> Any:
    """The index of every element along each axis."""
    dims = shape_of(dimensions, "dimensions")
    kind = canonical_dtype(dtype)
    lines = [
        core.reshape(
            shapes.iota(length=dim, dtype=kind),
            shape=tuple(dim if b == a else 1 for b in range(len(dims))),
        )
        for a, dim in enumerate(dims)
    ]
    if sparse:
        return tuple(lines)
    if not lines:
        return Tensor(np.empty((0,), kind))
    return shapes.stack([core.broadcast_to(line, shape=dims) for line in lines])


@implements(np.fromfunction)
def fromfunction(
    function: Callable[..., Any], shape: Any, *, dtype: Any = float, like: Any = None, **kwargs: Any
) -> Any:
    """`function` of the coordinates of every element."""
    return function(*indices(shape, dtype), **kwargs)
