"""Exponentials, logarithms, roots and trigonometry of complex numbers, as formulas on pairs.

All but log1p and expm1 are for pairs of doubles (`complex_calls` rounds those of complex64 once, at
the end). Infinities, NaN, signed zeros and branch cuts are those of C99's annex G, as in NumPy.

Source: Kahan, Branch cuts for complex elementary functions (1987).
"""

from __future__ import annotations

import math
from collections.abc import Callable

from graphify.engines.native.elements.complexes import (
    INFINITY,
    NAN,
    Z,
    call,
    copysign,
)
from graphify.engines.native.maths.formula import X, product, total_of

LN2 = math.log(2.0)


def finite(x: X) -> X:
    return abs(x) < INFINITY


def infinite(x: X) -> X:
    return abs(x).equals(INFINITY)


# --- exponentials -------------------------------------------------------------------------------

_LARGE = 700.0  # beyond it (in magnitude) e^x is taken as the product of two equal factors


def _exponential(x: X) -> tuple[X, X]:
    """Two factors of e^x; the second is 1 unless e^x may overflow or lose bits."""
    large = abs(x) > _LARGE
    root = call("exp", (x * 0.5).where(large, x))
    return root, root.where(large, x.of(1.0))


def exp(z: Z) -> Z:
    x, y = z.re, z.im
    first, second = _exponential(x)
    re, im = first * call("cos", y) * second, first * call("sin", y) * second
    wild = ~finite(y)
    vanishing, growing = wild & x.equals(-INFINITY), wild & x.equals(INFINITY)
    re = x.of(0.0).where(vanishing, x.of(INFINITY).where(growing, re))
    im = copysign(0.0, y).where(vanishing, im)
    on_axis = y.equals(0.0)
    return Z(re, y.where(on_axis, im))


def exp2(z: Z) -> Z:
    return exp(Z(z.re * LN2, z.im * LN2))


def _hyperbolics(x: X) -> tuple[X, X, X]:
    """sinh and cosh of x as two factors: (sinh / scale, cosh / scale, scale)."""
    large = abs(x) > _LARGE
    root = call("exp", (abs(x) * 0.5).where(large, x.of(0.0)))
    inner = x.of(1.0).where(large, x)
    half = root * 0.5
    sine = half.sign_of(x).where(large, call("sinh", inner))
    return sine, half.where(large, call("cosh", inner)), root


def sinh(z: Z) -> Z:
    x, y = z.re, z.im
    sine, cosine, scale = _hyperbolics(x)
    re, im = sine * call("cos", y) * scale, cosine * call("sin", y) * scale
    wild = ~finite(y) & (x.equals(0.0) | infinite(x))
    return Z(x.where(wild, re), y.where(y.equals(0.0), im))


def cosh(z: Z) -> Z:
    x, y = z.re, z.im
    sine, cosine, scale = _hyperbolics(x)
    re, im = cosine * call("cos", y) * scale, sine * call("sin", y) * scale
    re = abs(x).where(~finite(y) & infinite(x), re)
    im = x.of(0.0).where(~finite(y) & x.equals(0.0), im)
    turned = y.where(x.is_nan(), y * copysign(1.0, x))
    return Z(re, turned.where(y.equals(0.0), im))


_TANH_IS_ONE = 22.0  # tanh(22) rounds to 1


def tanh(z: Z) -> Z:
    """By sinh and cosh of x: their squares add up without cancelling."""
    x, y = z.re, z.im
    near = abs(x) <= _TANH_IS_ONE
    inner = x.where(near, x.of(1.0))
    sine, cosine = call("sin", y), call("cos", y)
    sh, ch = call("sinh", inner), call("cosh", inner)
    below = sh * sh + cosine * cosine
    tail = call("exp", abs(x) * -2.0) * 4.0
    far = Z(copysign(1.0, x), sine * cosine * tail)
    result = Z(sh * ch / below, sine * cosine / below).where(near, far)
    return _tanh_edges(z, result)


def _tanh_edges(z: Z, result: Z) -> Z:
    x, y = z.re, z.im
    nan = x.of(NAN)
    wild = ~finite(y)
    result = Z(x.where(x.equals(0.0), nan), nan).where(wild, result)
    result = Z(copysign(1.0, x), copysign(0.0, y)).where(wild & infinite(x), result)
    result = Z(x, nan).where(x.is_nan(), result)
    return Z(result.re, y.where(y.equals(0.0), result.im))


def cos(z: Z) -> Z:
    """cosh(iz)."""
    return cosh(Z(-z.im, z.re))


# --- logarithms ---------------------------------------------------------------------------------


def larger_smaller(x: X, y: X) -> tuple[X, X]:
    x, y = abs(x), abs(y)
    return x.where(x > y, y), y.where(x > y, x)


def log_size(x: X, y: X) -> X:
    """log |x + iy|, to the last bits near |z| = 1 and without overflow."""
    large, small = larger_smaller(x, y)
    huge, tiny = large > 2.0**1000, large < 2.0**-900
    scale = x.of(2.0**-600).where(huge, x.of(2.0**600).where(tiny, x.of(1.0)))
    shift = x.of(600 * LN2).where(huge, x.of(-600 * LN2).where(tiny, x.of(0.0)))
    far = call("log", call("hypot", x * scale, y * scale)) + shift
    near = (large >= 0.35) & (large <= 2.0)
    return _log_near_one(large, small).where(near, far)


def _log_near_one(large: X, small: X) -> X:
    """log1p(large^2 + small^2 - 1) / 2, the argument in twice the precision."""
    (a, a_rest), (b, b_rest) = product(large, large), product(small, small)
    first, first_rest = total_of(a, a.of(-1.0))
    total, rest = total_of(first, b)
    return call("log1p", total + (rest + first_rest + a_rest + b_rest)) * 0.5


def log(z: Z) -> Z:
    return Z(log_size(z.re, z.im), call("arctan2", z.im, z.re))


# --- the square root ----------------------------------------------------------------------------


def sqrt(z: Z) -> Z:
    large, _ = larger_smaller(z.re, z.im)
    huge, tiny = large > 2.0**1020, large < 2.0**-900
    scale = large.of(0.25).where(huge, large.of(2.0**108).where(tiny, large.of(1.0)))
    back = large.of(2.0).where(huge, large.of(2.0**-54).where(tiny, large.of(1.0)))
    x, y = z.re * scale, z.im * scale
    root = ((abs(x) + call("hypot", x, y)) * 0.5).sqrt()
    other = abs(y) / (root * 2.0)
    right = Z(root, other.sign_of(y))
    left = Z(other, root.sign_of(y))
    result = right.where(x.compare("oge", 0.0), left)
    result = Z(result.re * back, result.im * back)
    return _sqrt_edges(z, result)


def _sqrt_edges(z: Z, result: Z) -> Z:
    x, y = z.re, z.im
    zero = x.equals(0.0) & y.equals(0.0)
    to_right, to_left = x.equals(INFINITY), x.equals(-INFINITY)
    result = Z(x.of(0.0), y).where(zero, result)
    result = Z(x, y.where(y.is_nan(), copysign(0.0, y))).where(to_right, result)
    left = Z(y.where(y.is_nan(), x.of(0.0)), copysign(INFINITY, y))
    result = left.where(to_left, result)
    result = Z(x, x).where(x.is_nan(), result)
    return Z(abs(y), y).where(infinite(y), result)


# --- as NumPy composes them, in the dtype itself ------------------------------------------------


def log1p(z: Z) -> Z:
    x = z.re + 1.0
    return Z(call("log", call("hypot", x, z.im)), call("arctan2", z.im, x))


def expm1(z: Z) -> Z:
    x, y = z.re, z.im
    half = call("sin", y * 0.5)
    re = call("expm1", x) * call("cos", y) - half * 2.0 * half
    return Z(re, call("exp", x) * call("sin", y))


def scaled_log(factor: float) -> Callable[[Z], Z]:
    def scaled(z: Z) -> Z:
        w = log(z)
        return Z(w.re * factor, w.im * factor)

    return scaled
