"""Differences, gradients, integrals and interpolation of sampled functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphify.errors import ShapeError, SpecError
from graphify.ir.promotion import result_type
from graphify.ir.sizes import Dim
from graphify.ir.tensor import Tensor
from graphify.ir.types import BOOL, DType, Spec, is_complex, is_inexact
from graphify.ir.wrapping import as_tensor
from graphify.numpy._table import (
    NO_VALUE,
    at_least,
    axes_of,
    axis_of,
    implements,
    of_shape,
    to_tensor,
)
from graphify.numpy.creation import INT64
from graphify.numpy.reduction import sum_
from graphify.numpy.sorting import flat, slice_axis
from graphify.ops import control, core, indexing
from graphify.ops import elementwise as e
from graphify.ops import sorting as s
from graphify.ops.core import to_dtype
from graphify.ops.rules import operand
from graphify.ops.shape import concatenate
from graphify.tracing.capture import subgraph


@implements(np.diff)
def diff(
    a: Any, n: int = 1, axis: int = -1, prepend: Any = NO_VALUE, append: Any = NO_VALUE
) -> Tensor:
    """The n-th difference along an axis."""
    if n == 0:
        return to_tensor(a)
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n!r}")
    x = to_tensor(a)
    if x.ndim == 0:
        raise ValueError("diff requires input that is at least one dimensional")
    place = axis_of(axis, x.ndim)
    ends = [_end(v, x, place) for v in (prepend, append)]
    if any(end is not None for end in ends):
        parts = [p for p in (ends[0], x, ends[1]) if p is not None]
        dtype = np.result_type(*(p.dtype for p in parts))
        x = concatenate(*(to_dtype(p, dtype) for p in parts), axis=place)
    for _ in range(n):
        length = x.dims[place]
        if isinstance(length, int) and length == 0:
            return core.copy(x)
        later, earlier = slice_axis(x, 1, length, place), slice_axis(x, 0, length - 1, place)
        x = e.not_equal(later, earlier) if x.dtype == BOOL else e.subtract(later, earlier)
    return x


def _end(value: Any, x: Tensor, axis: int) -> Tensor | None:
    if value is NO_VALUE:
        return None
    end = to_tensor(value)
    if end.ndim == 0:
        end = core.broadcast_to(end, shape=(*x.dims[:axis], 1, *x.dims[axis + 1 :]))
    return end


@implements(np.ediff1d)
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Tensor:
    """Differences of the flattened array, with optional ends."""
    x = flat(ary)
    n = x.dims[0]
    middle = x if n == 0 else e.subtract(slice_axis(x, 1, n, 0), slice_axis(x, 0, n - 1, 0))
    parts = [middle]
    for end, first in ((to_begin, True), (to_end, False)):
        if end is None:
            continue
        if not np.can_cast(to_tensor(end).dtype, x.dtype, "same_kind"):
            name = "to_begin" if first else "to_end"
            raise TypeError(
                f"dtype of `{name}` must be compatible with input `ary` under the `same_kind` rule."
            )
        piece = to_dtype(flat(end), x.dtype)
        parts = [piece, *parts] if first else [*parts, piece]
    return concatenate(*parts, axis=0) if len(parts) > 1 else middle


# --- gradient ----------------------------------------------------------------------------------


@implements(np.gradient)
def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Second-order central differences, one-sided at the borders.

    Source: the formulas of numpy.gradient.
    """
    x = to_tensor(f)
    axes = axes_of(axis, x.ndim)
    spacings = _spacings(varargs, axes, x)
    if edge_order not in (1, 2):
        raise ValueError("'edge_order' greater than 2 not supported")
    if x.dtype == BOOL and axes:
        e.subtract(x, x)  # raises, as NumPy's does
    x = to_dtype(x, _float_of(x.dtype))
    results = []
    for place, spacing in zip(axes, spacings, strict=True):
        at_least(
            x.dims[place],
            edge_order + 1,
            "Shape of array too small to calculate a numerical gradient, "
            "at least (edge_order + 1) elements are required.",
        )
        results.append(_gradient_along(x, spacing, place, edge_order))
    return results[0] if len(axes) == 1 else tuple(results)


def _float_of(dtype: DType) -> DType:
    return dtype if is_inexact(dtype) else np.dtype(np.float64)


def _spacings(given: tuple[Any, ...], axes: tuple[int, ...], x: Tensor) -> list[Tensor]:
    """For each axis a scalar step, or the differences of coordinates."""
    if not given:
        return [as_tensor(1.0)] * len(axes)
    if len(given) == 1 and as_tensor(given[0]).ndim == 0:
        return [as_tensor(given[0])] * len(axes)
    if len(given) != len(axes):
        raise TypeError("invalid number of arguments")
    steps = []
    for item, place in zip(given, axes, strict=True):
        line = as_tensor(item)
        if line.ndim > 1:
            raise ValueError("distances must be either scalars or 1d")
        if line.ndim == 1:
            message = "when 1d, distances must match the length of the corresponding dimension"
            line = of_shape(line, (x.dims[place],), message)
            line = line if line.dtype == BOOL else to_dtype(line, _float_of(line.dtype))
            line = to_dtype(diff(line), _float_of(line.dtype))
        steps.append(line)
    return steps


def _gradient_along(x: Tensor, h: Tensor, axis: int, edge_order: int) -> Tensor:
    def cut(start: Dim, stop: Dim) -> Tensor:
        return slice_axis(x, start, stop, axis)

    n = x.dims[axis]
    if h.ndim == 0:
        inner = e.divide(e.subtract(cut(2, n), cut(0, n - 2)), e.multiply(2.0, h))
        steps = (h, h)
    else:
        inner = _uneven(cut, h, n, axis, x.ndim)
        steps = (h[0], h[-1])
    if edge_order == 1:
        first = e.divide(e.subtract(cut(1, 2), cut(0, 1)), steps[0])
        last = e.divide(e.subtract(cut(n - 1, n), cut(n - 2, n - 1)), steps[1])
    else:
        first, last = _second_order_edges(cut, h, n)
    parts = [to_dtype(p, x.dtype) for p in (first, inner, last)]
    return concatenate(*parts, axis=axis)


def _uneven(cut: Any, h: Tensor, n: Dim, axis: int, rank: int) -> Tensor:
    d1, d2 = slice_axis(h, 0, n - 2, 0), slice_axis(h, 1, n - 1, 0)
    shape = tuple(n - 2 if a == axis else 1 for a in range(rank))
    weights = (
        e.divide(e.negative(d2), e.multiply(d1, e.add(d1, d2))),
        e.divide(e.subtract(d2, d1), e.multiply(d1, d2)),
        e.divide(d1, e.multiply(d2, e.add(d1, d2))),
    )
    a, b, c = (core.reshape(w, shape=shape) for w in weights)
    terms = (e.multiply(a, cut(0, n - 2)), e.multiply(b, cut(1, n - 1)), e.multiply(c, cut(2, n)))
    return e.add(e.add(terms[0], terms[1]), terms[2])


def _second_order_edges(cut: Any, h: Tensor, n: Dim) -> tuple[Tensor, Tensor]:
    if h.ndim == 0:
        start = (e.divide(-1.5, h), e.divide(2.0, h), e.divide(-0.5, h))
        end = (e.divide(0.5, h), e.divide(-2.0, h), e.divide(1.5, h))
    else:
        p, q = h[0], h[1]
        start = (-(2.0 * p + q) / (p * (p + q)), (p + q) / (p * q), -p / (q * (p + q)))
        p, q = h[-2], h[-1]
        end = (q / (p * (p + q)), -(q + p) / (p * q), (2.0 * q + p) / (q * (p + q)))
    first = start[0] * cut(0, 1) + start[1] * cut(1, 2) + start[2] * cut(2, 3)
    last = end[0] * cut(n - 3, n - 2) + end[1] * cut(n - 2, n - 1) + end[2] * cut(n - 1, n)
    return first, last


@implements(np.trapezoid)
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Tensor:
    """The integral by the trapezoidal rule."""
    f = to_tensor(y)
    place = axis_of(axis, f.ndim)
    n = f.dims[place]
    if x is None:
        step: Any = as_tensor(dx)
    else:
        points = to_tensor(x)
        step = diff(points, axis=-1 if points.ndim == 1 else axis)
        if points.ndim == 1:
            step = core.reshape(
                step, shape=(*(1,) * place, step.dims[0], *(1,) * (f.ndim - place - 1))
            )
    pairs = e.add(slice_axis(f, 1, n, place), slice_axis(f, 0, n - 1, place))
    return sum_(e.divide(e.multiply(step, pairs), 2.0), axis=place)


@implements(np.polyval)
def polyval(p: Any, x: Any) -> Tensor:
    """The polynomial with coefficients `p`, the highest power first, at `x`."""
    coefficients, points = to_tensor(p), to_tensor(x)
    count = coefficients.dims[0] if coefficients.ndim else None
    if _is_long(coefficients, points):
        return _horner(coefficients, points)
    if not isinstance(count, int):
        raise SpecError(
            "polyval: p: expected coefficients along an axis of a length known while tracing, "
            f"got {coefficients.spec}"
        )
    y: Tensor = core.zeros_like(points)
    for i in range(count):  # Horner's rule, as NumPy has it
        y = e.add(e.multiply(y, points), indexing.slice_(coefficients, key=(i,)))
    return y


SHORT = 8  # coefficients, up to which Horner's rule is written out


def _is_long(coefficients: Tensor, points: Tensor) -> bool:
    """Whether Horner's rule is to be a loop, which must keep the dtype of the points."""
    if coefficients.ndim != 1 or not (coefficients.is_symbolic or points.is_symbolic):
        return False
    count = coefficients.dims[0]
    same = result_type(operand(points), operand(coefficients)) == points.dtype
    return same and not (isinstance(count, int) and count <= SHORT)


def _horner(coefficients: Tensor, points: Tensor) -> Tensor:
    def turn(i: Tensor, y: Tensor, coefficient: Tensor, at: Tensor) -> Tensor:
        return e.add(e.multiply(y, at), coefficient)

    scalar = Spec((), coefficients.dtype)
    specs = [Spec((), np.dtype(np.int64)), points.spec, scalar, points.spec]
    body = subgraph(turn, specs, "body").graph
    operands = (core.zeros_like(points), coefficients, points)
    length = coefficients.dims[0]
    return control.loop.several(*operands, length=length, body=body, carry=1, xs=1)[0]


# --- interpolation -----------------------------------------------------------------------------


@implements(np.interp)
def interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Tensor:
    """Piecewise linear interpolation of the points `(xp, fp)` at `x`.

    Source: the formula of numpy.interp, so that NaN and infinities come out alike.
    """
    f64 = np.dtype(np.float64)
    for t in (to_tensor(x), to_tensor(xp)):
        if is_complex(t.dtype):
            raise TypeError(
                f"Cannot cast array data from {t.dtype!r} to {f64!r} according to the rule 'safe'"
            )
    points, knots = to_dtype(to_tensor(x), f64), to_dtype(to_tensor(xp), f64)
    values = to_tensor(fp)
    values = to_dtype(values, np.complex128 if is_complex(values.dtype) else f64)
    if knots.ndim != 1 or values.ndim != 1:
        raise ShapeError("Data points must be 1-D sequences")
    values = of_shape(values, knots.dims, "fp and xp are not of the same length.")
    if knots.dims[0] == 0:
        raise ValueError("array of sample points is empty")
    if period is not None:
        if period == 0:
            raise ValueError("period must be a non-zero value")
        points, knots, values = _periodic(points, knots, values, abs(period))
        left = right = None
    left, right = (_outside(end, values) for end in (left, right))
    return _interpolate(points, knots, values, left, right)


def _outside(value: Any, values: Tensor) -> Any:
    """What interp gives on one side of the points: a number that is complex only if they are."""
    if value is None:
        return None
    number = as_tensor(value)
    if number.ndim or is_complex(number.dtype) and not is_complex(values.dtype):
        kind = "a number" if is_complex(values.dtype) else "a real number"
        raise SpecError(f"interp: left, right: expected {kind}, got {number.spec}")
    return value


def _periodic(x: Tensor, xp: Tensor, fp: Tensor, period: Any) -> tuple[Tensor, Tensor, Tensor]:
    x, xp = e.remainder(x, period), e.remainder(xp, period)
    order = s.argsort(xp, axis=0, stable=True)
    xp, fp = (indexing.gather(line, order, axes=(0,)) for line in (xp, fp))
    n = xp.dims[0]
    wide = (
        e.subtract(slice_axis(xp, n - 1, n, 0), period),
        xp,
        e.add(slice_axis(xp, 0, 1, 0), period),
    )
    ends = (slice_axis(fp, n - 1, n, 0), fp, slice_axis(fp, 0, 1, 0))
    return x, concatenate(*wide, axis=0), concatenate(*ends, axis=0)


def _interpolate(x: Tensor, xp: Tensor, fp: Tensor, left: Any, right: Any) -> Tensor:
    n = as_tensor(xp.dims[0])
    place = e.subtract(s.searchsorted(xp, x, side="right"), 1)
    last = e.maximum(e.subtract(n, 2), 0)
    j = core.cast(e.minimum(e.maximum(place, 0), last), dtype=INT64)
    k = e.minimum(e.add(j, 1), e.subtract(n, 1))
    x0, x1, y0, y1 = (
        indexing.gather(line, i, axes=(0,)) for line, i in ((xp, j), (xp, k), (fp, j), (fp, k))
    )
    width = e.subtract(x1, x0)
    slope = e.divide(e.subtract(y1, y0), e.where(e.equal(width, 0), 1.0, width))
    result = e.add(e.multiply(slope, e.subtract(x, x0)), y0)
    other = e.add(e.multiply(slope, e.subtract(x, x1)), y1)
    result = e.where(
        e.isnan(result), e.where(e.logical_and(e.isnan(other), e.equal(y0, y1)), y0, other), result
    )
    result = e.where(e.equal(x, x0), y0, result)
    first, final = fp[0], fp[-1]
    result = e.where(e.equal(x, xp[-1]), final, result)
    result = e.where(e.less(x, xp[0]), first if left is None else left, result)
    result = e.where(e.greater(x, xp[-1]), final if right is None else right, result)
    keeps = e.logical_and(e.isnan(x), e.not_equal(n, 1))  # one point is given for NaN, too
    return e.where(keeps, x, result)
