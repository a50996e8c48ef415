"""Polynomials as arrays of coefficients, the highest power first: polyfit, polyadd, polymul, ...

    gnp.polyfit(x, y, 2)        # three coefficients
    gnp.polyder([3.0, 2.0, 1.0])

NumPy drops leading zeros from products and quotients, so the lengths of these depend on values. In
a graph they do not: a leading coefficient that turns out to be zero is an error of the run.
"""

from __future__ import annotations

import operator
from typing import Any, NoReturn

import numpy as np

from graphify import tree
from graphify.errors import ConcreteValueNeeded, SpecError
from graphify.ir.sizes import decide_equal, decide_less, size_op
from graphify.ir.tensor import Tensor
from graphify.ir.types import finfo, is_complex
from graphify.ir.wrapping import as_tensor
from graphify.numpy import linalg, products
from graphify.numpy._table import (
    FUNCTIONS,
    NAMES,
    astype,
    at_least,
    equal_lengths,
    implements,
    to_tensor,
)
from graphify.numpy.manipulation import atleast_1d
from graphify.numpy.rearrange import trim_zeros
from graphify.numpy.reduction import sum_
from graphify.ops import core
from graphify.ops import elementwise as e
from graphify.ops.effects import Raise, assert_
from graphify.ops.fourier import resized
from graphify.ops.keys import getitem
from graphify.ops.shape import concatenate, flip, size_value

LEADING = "polymul: the leading coefficient is zero: NumPy drops it, which a graph cannot"
KEEP = "np.convolve(p, q) is the product with its leading zeros"


def _line(p: Any) -> Tensor:
    x: Tensor = atleast_1d(p)
    if x.ndim != 1:
        raise ValueError("Polynomial must be 1d only.")
    return x


# --- fitting --------------------------------------------------------------------------------------


@implements(np.polyfit)
def polyfit(
    x: Any, y: Any, deg: Any, rcond: Any = None, full: bool = False, w: Any = None, cov: Any = False
) -> Any:
    """The coefficients of the polynomial of a degree that fits points best.

    Points that do not determine it are not warned of.
    """
    order = operator.index(deg) + 1
    points, values = e.add(to_tensor(x), 0.0), e.add(to_tensor(y), 0.0)
    _check_points(points, values, order)
    if decide_equal(points.dims[0], values.dims[0]) is None:
        # The run has them equal: a decomposition might fail before the check above is seen to.
        rows = slice(size_op("min", points.dims[0], values.dims[0]))
        points, values = getitem(points, rows), getitem(values, rows)
    if rcond is None:
        eps = Tensor(np.asarray(finfo(points.dtype).eps))
        rcond = e.multiply(size_value(size=points.dims[0]), eps)
    lhs: Tensor = NAMES["vander"](points, order)
    if w is not None:
        weights = e.add(to_tensor(w), 0.0)
        if weights.ndim != 1:
            raise TypeError("expected a 1-d array for weights")
        message = "expected w and y to have the same length"
        equal_lengths(weights.dims[0], values.dims[0], message, TypeError)
        lhs = e.multiply(lhs, getitem(weights, (slice(None), None)))
        column = getitem(weights, (slice(None), *(None,) * (values.ndim - 1)))
        values = e.multiply(values, column)
    scale = e.sqrt(sum_(e.multiply(lhs, lhs), axis=0))
    lhs = e.divide(lhs, scale)
    tall = getitem(scale, (slice(None), *(None,) * (values.ndim - 1)))
    solution, residuals, rank, singular = linalg.lstsq(lhs, values, rcond)
    fitted = e.divide(solution, tall)
    if full:
        return fitted, residuals, rank, singular, rcond
    return (fitted, _covariance(lhs, scale, residuals, values, order, cov)) if cov else fitted


def _check_points(points: Tensor, values: Tensor, order: int) -> None:
    if order < 1:
        raise ValueError("expected deg >= 0")
    if points.ndim != 1:
        raise TypeError("expected 1D vector for x")
    at_least(points.dims[0], 1, "expected non-empty vector for x", TypeError)
    if values.ndim not in (1, 2):
        raise TypeError("expected 1D or 2D array for y")
    message = "expected x and y to have same length"
    equal_lengths(points.dims[0], values.dims[0], message, TypeError)


def _covariance(
    lhs: Tensor, scale: Tensor, residuals: Tensor, values: Tensor, order: int, cov: Any
) -> Tensor:
    base = linalg.inv(products.dot(NAMES["transpose"](lhs), lhs))
    base = e.divide(base, products.outer(scale, scale))
    count = values.dims[0]
    if isinstance(cov, str) and cov == "unscaled":
        return base
    if decide_less(order, count) is not True:
        message: Any = "the number of data points must exceed order to scale the covariance matrix"
        many = e.greater(size_value(size=count), order)
        assert_(many, exception=Raise(ValueError, (message,)))
    columns = values.dims[1:] or (1,)
    spread = core.reshape(residuals, shape=columns)
    factor = e.divide(spread, size_value(size=count - order))
    if values.ndim == 1:
        return e.multiply(base, factor)
    return e.multiply(getitem(base, (Ellipsis, None)), factor)


@implements(np.poly)
def poly(seq_of_zeros: Any) -> Any:
    """The polynomial with these roots, or the characteristic one of a matrix."""
    roots = atleast_1d(seq_of_zeros)
    if roots.ndim == 2 and decide_equal(*roots.dims) is not False and roots.dims[0] != 0:
        roots = linalg.eigvals(roots)
    elif roots.ndim != 1:
        raise ValueError("input must be 1d or non-empty square 2d array.")
    if is_complex(roots.dtype):
        raise SpecError(
            "poly: of complex roots the coefficients are real or complex, as their values say",
            remedy="multiply the factors: np.convolve(p, [1, -root]) for each root",
        )
    count = roots.dims[0]
    if not isinstance(count, int):
        raise SpecError(
            f"poly: the number of roots {roots.spec} is only known when the graph runs",
            remedy="trace with a known length, or multiply the factors in a loop",
        )
    if not count:
        return as_tensor(1.0)
    kind = np.dtype(np.float32 if roots.dtype == np.float32 else np.float64)
    roots, result = astype(roots, kind), core.full((1,), 1, kind)
    for i in range(count):
        factor = concatenate(core.full((1,), 1, kind), -getitem(roots, slice(i, i + 1)), axis=0)
        result = NAMES["convolve"](result, factor)
    return result


# --- arithmetic -----------------------------------------------------------------------------------


def _summed(a1: Any, a2: Any, ufunc: Any) -> Tensor:
    """Coefficients of the same powers added, or the like: the shorter one has zeros in front."""
    one, two = _line(a1), _line(a2)
    length = size_op("max", one.dims[0], two.dims[0])
    one, two = (flip(resized(flip(x, axes=(0,)), length), axes=(0,)) for x in (one, two))
    result: Tensor = NAMES[ufunc](one, two)
    return result


@implements(np.polyadd)
def polyadd(a1: Any, a2: Any) -> Tensor:
    """The sum of two polynomials."""
    return _summed(a1, a2, "add")


@implements(np.polysub)
def polysub(a1: Any, a2: Any) -> Tensor:
    """The difference of two polynomials."""
    return _summed(a1, a2, "subtract")


def _led(p: Any) -> Tensor:
    """The coefficients, of which the first is not zero."""
    x = _line(p)
    if not x.is_symbolic:
        trimmed = trim_zeros(x, "f")
        return trimmed if trimmed.dims[0] != 0 else core.full((1,), 0, x.dtype)
    first = getitem(x, slice(0, 1))
    only = e.less_equal(size_value(size=x.dims[0]), 1)
    wrong = Raise(SpecError, (LEADING,), remedy=KEEP)
    assert_(e.logical_or(e.not_equal(first, 0), only), exception=wrong)
    return x


@implements(np.polymul)
def polymul(a1: Any, a2: Any) -> Tensor:
    """The product of two polynomials, of which the leading coefficients are not zero."""
    result: Tensor = NAMES["convolve"](_led(a1), _led(a2))
    return result


@implements(np.polydiv)
def polydiv(u: Any, v: Any) -> tuple[Tensor, Tensor]:
    """The quotient and the remainder of polynomials, of lengths known while tracing."""
    one, two = (e.add(_line(x), 0.0) for x in (u, v))
    m, n = (_known(x) - 1 for x in (one, two))
    rest = astype(one, np.result_type(one.dtype, two.dtype))
    scale = e.divide(1.0, getitem(two, 0))
    factors = []
    for k in range(m - n + 1):
        factors.append(e.multiply(scale, getitem(rest, slice(k, k + 1))))
        part = e.multiply(factors[-1], two)
        ends = (core.full((count,), 0, part.dtype) for count in (k, m - n - k))
        rest = e.subtract(rest, concatenate(next(ends), part, next(ends), axis=0))
    none = core.full((1,), 0, rest.dtype)
    quotient = concatenate(*(astype(d, rest.dtype) for d in factors), axis=0) if factors else none
    kept = e.logical_not(NAMES["isclose"](rest, 0, rtol=1e-14))
    first = e.where(NAMES["any"](kept), NAMES["argmax"](kept), m)
    return quotient, core.copy(getitem(rest, slice(first, None)))


def _known(x: Tensor) -> int:
    length = x.dims[0]
    if not isinstance(length, int):
        raise SpecError(
            f"polydiv: the number of coefficients {x.spec} is only known when the graph runs",
            remedy="trace with known lengths",
        )
    return length


@implements(np.polyder)
def polyder(p: Any, m: Any = 1) -> Tensor:
    """The m-th derivative of a polynomial."""
    times, x = operator.index(m), to_tensor(p)
    if times < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    for _ in range(times):
        powers = NAMES["arange"](size_value(size=x.dims[0]) - 1, 0, -1)
        x = e.multiply(getitem(x, slice(None, -1)), powers)
    return x


@implements(np.polyint)
def polyint(p: Any, m: Any = 1, k: Any = None) -> Tensor:
    """The m-th integral of a polynomial, with the constants `k`."""
    times, x = operator.index(m), to_tensor(p)
    if times < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    given = core.full((times,), 0, np.float64) if k is None else atleast_1d(k)
    if given.dims[0] == 1 and times > 1:
        given = e.multiply(given, core.full((times,), 1, np.float64))
    message: Any = "k must be a scalar or a rank-1 array of length 1 or >m."
    short = decide_less(given.dims[0], times)
    if short is True:
        raise ValueError(message)
    if short is None:  # of one, which is for every turn, or enough, as the run tells
        length = size_value(size=given.dims[0])
        enough = e.logical_or(e.equal(length, 1), e.greater_equal(length, times))
        assert_(enough, exception=Raise(ValueError, (message,)))
        given = getitem(given, NAMES["minimum"](np.arange(times), length - 1))
    for i in range(times):
        powers = NAMES["arange"](size_value(size=x.dims[0]), 0, -1)
        x = NAMES["concatenate"]((e.divide(x, powers), getitem(given, slice(i, i + 1))))
    return x


# --- what depends on values -----------------------------------------------------------------------


@implements(np.roots)
def roots(p: Any) -> NoReturn:
    """Refused: eigenvalues are real or complex as values say."""
    raise SpecError(
        "roots: the roots are real or complex, and how many there are depends on leading zeros, "
        "as the values say",
        remedy="take np.linalg.eigvals of the companion matrix as complex numbers, or call "
        "np.roots outside the graphify.function",
    )


def poly1d(c_or_r: Any, r: bool = False, variable: str | None = None) -> np.poly1d:
    """NumPy's own, of coefficients that are known while tracing."""
    if any(isinstance(leaf, Tensor) and leaf.is_symbolic for leaf in tree.leaves(c_or_r)):
        raise ConcreteValueNeeded(
            "np.poly1d drops leading zeros: how many coefficients it has is only known when the "
            "graph runs",
            remedy="keep the coefficients in an array: np.polyval(c, x), np.polyder(c), "
            "np.polymul(c, d)",
        )
    return np.poly1d(c_or_r, r, variable)


FUNCTIONS[np.poly1d] = poly1d
