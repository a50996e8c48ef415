"""Inverse trigonometric and inverse hyperbolic functions."""

from __future__ import annotations

import math

from graphify.engines.native.maths import coefficients as c
from graphify.engines.native.maths.formula import (
    X,
    by_type,
    exact_mad,
    horner,
    mad,
    ordered_total,
    product,
    rule,
    total_of,
)
from graphify.engines.native.maths.logarithm import log_of_sum

# --- arcsin, arccos -------------------------------------------------------------------------------


def _half_angle(a: X) -> tuple[X, X, X, X]:
    """(big, s, s's rest, t): arcsin(s) = s + t for s = a, or s = sqrt((1 - a) / 2) where a > 1/2.

    arcsin(a) = pi/2 - 2 arcsin(sqrt((1 - a) / 2)); the subtraction is exact there.
    """
    big = a > 0.5
    z = ((1.0 - a) * 0.5).where(big, a * a)
    root = z.sqrt()
    s = root.where(big, a)
    rest = exact_mad(-root, root, z) / (root + root)
    rest = rest.where(big & (z > 0.0), 0.0)
    return big, s, rest, s * z * horner(z, c.ARCSIN)


@rule("arcsin")
def arcsin(x: X) -> X:
    high, low, _ = c.HALF_PI[x.type.scalar]
    big, s, rest, t = _half_angle(abs(x))
    twice = s + s
    top, error = ordered_total(x.of(high), -twice)
    large = top + (error + (low - (rest + t) * 2.0))
    return large.where(big, s + t).sign_of(x)


@rule("arccos")
def arccos(x: X) -> X:
    """2 arcsin(...) for x > 1/2, pi - 2 arcsin(...) for x < -1/2, pi/2 - arcsin(x) between."""
    high, low, _ = c.HALF_PI[x.type.scalar]
    big, s, rest, t = _half_angle(abs(x))
    negative = x < 0.0
    factor = x.of(2.0).where(big, 1.0)
    s, t = s * factor, (t + rest) * factor
    minus = big ^ negative  # whether s + t is added
    s, t = s.where(minus, -s), t.where(minus, -t)
    count = x.of(2.0).where(negative, 0.0).where(big, 1.0)  # of pi/2
    top, error = ordered_total(count * high, s)
    return top + (error + mad(count, low, t))


# --- arctan ---------------------------------------------------------------------------------------


def _arctan_from(t: X, rest: X, count: X, negative: X) -> X:
    """count pi/2 + arctan(t + rest), or minus it where `negative`; 0 <= t <= 1."""
    high, low, _ = c.HALF_PI[t.type.scalar]
    z = t * t
    small = mad(t * z, horner(z, c.ARCTAN), rest)
    t, small = (-t).where(negative, t), (-small).where(negative, small)
    top, error = ordered_total(count * high, t)
    return top + (error + mad(count, low, small))


def _if_small(rest: X) -> X:
    """A rounding error; 0 instead of what zeros, infinities and overflow made of it."""
    return rest.where(abs(rest) < 1.0, 0.0)


@rule("arctan")
def arctan(x: X) -> X:
    """arctan(a) = pi/2 - arctan(1 / a)"""
    a = abs(x)
    inverted = a > 1.0
    inverse = 1.0 / a
    t = inverse.where(inverted, a)
    rest = exact_mad(-inverse, a, 1.0) * inverse
    rest = _if_small(rest).where(inverted, 0.0)
    count = x.of(1.0).where(inverted, 0.0)
    return _arctan_from(t, rest, count, inverted).sign_of(x)


@rule("arctan2")
def arctan2(y: X, x: X) -> X:
    """Octant by octant: arctan(min / max), counted from the nearest axis."""
    a, b = abs(y), abs(x)
    steep = a > b
    above, below = b.where(steep, a), a.where(steep, b)
    t = above / below
    rest = t.of(0.0)
    if t.f.module.target.fma:  # elsewhere subnormal numbers would give nonsense
        rest = _if_small(exact_mad(-t, below, above) / below)
    t = t.of(1.0).where(above.equals(below), t)
    t = t.of(0.0).where(below.equals(0.0), t)
    left = x.bits().compare("slt", 0)
    count = x.of(1.0).where(steep, x.of(2.0).where(left, 0.0))
    result = _arctan_from(t, rest, count, steep ^ left).sign_of(y)
    return x.of(math.nan).where(x.compare("uno", y), result)


# --- inverse hyperbolic ---------------------------------------------------------------------------


def _root_of_square_and(a: X, one: float) -> tuple[X, X]:
    """sqrt(a^2 + one) in two parts."""
    square, square_low = product(a, a)
    total, rest = total_of(square, one)
    root = total.sqrt()
    rest = exact_mad(-root, root, total) + (rest + square_low)
    return root, rest.where(root > 0.0, 0.0) / (root + root).where(root > 0.0, 1.0)


def _log_of_sum_with_root(a: X, one: float) -> X:
    """log(a + sqrt(a^2 + one)); log(2 a) where a^2 is huge."""
    huge = a > by_type(a, 2.0**30, 2.0**60)
    bounded = a.at_most(by_type(a, 2.0**30, 2.0**60))
    root, root_low = _root_of_square_and(bounded, one)
    high, low = total_of(bounded, root)
    high, low = ordered_total(high, low + root_low)
    return log_of_sum(a.where(huge, high), a.of(0.0).where(huge, low), a.of(1.0).where(huge, 0.0))


@rule("arcsinh")
def arcsinh(x: X) -> X:
    a = abs(x)
    tiny = a < by_type(a, 2.0**-13, 2.0**-28)
    return a.where(tiny, _log_of_sum_with_root(a, 1.0)).sign_of(x)


@rule("arccosh")
def arccosh(x: X) -> X:
    return x.of(math.nan).where(~(x >= 1.0), _log_of_sum_with_root(x, -1.0))


@rule("arctanh")
def arctanh(x: X) -> X:
    """log((1 + a) / (1 - a)) / 2"""
    a = abs(x)
    above, above_low = ordered_total(x.of(1.0), a)
    below, below_low = ordered_total(x.of(1.0), -a)
    t = above / below
    rest = mad(-t, below_low, exact_mad(-t, below, above) + above_low) / below
    y = log_of_sum(t, rest, x.of(0.0)) * 0.5
    tiny = a < by_type(a, 2.0**-13, 2.0**-28)
    return a.where(tiny, y).sign_of(x)
