"""Inverse trigonometric and hyperbolic functions of complex numbers, on pairs of doubles.

Far from the origin, and where a square would underflow, simpler formulas take over; infinities and
NaN are those of C99's annex G.

Sources: Hull, Fairgrieve, Tang, Implementing the complex arcsine and arccosine functions (1997);
Kahan, Branch cuts for complex elementary functions (1987).
"""

from __future__ import annotations

import math

from graphify.engines.native.elements.complex_functions import (
    LN2,
    infinite,
    larger_smaller,
    log_size,
)
from graphify.engines.native.elements.complexes import INFINITY, NAN, Z, call, copysign
from graphify.engines.native.maths.formula import X

_FAR = 2.0**28  # beyond it 1 / z^2 is below the last bit
_FLAT = 2.0**-460  # a y below it would underflow when squared
_CROSSOVER = 0.6417  # arcsin and arccos lose bits above it


def _arcs(z: Z) -> tuple[X, X, X]:
    """arcsin's real part, arccos's and their imaginary part, for |x| and |y|."""
    x, y = abs(z.re), abs(z.im)
    large, _ = larger_smaller(x, y)
    is_far = ~(large <= _FAR)  # NaN too
    x1, y1 = x.of(0.5).where(is_far, x), x.of(0.5).where(is_far, y)
    sine, cosine = _arc_angles(x1, y1)
    height = _arc_height(x1, y1)
    far_height = log_size(x, y) + LN2
    return (
        call("arctan2", x, y).where(is_far, sine),
        call("arctan2", y, x).where(is_far, cosine),
        far_height.where(is_far, height),
    )


def _distances(x: X, y: X) -> tuple[X, X, X]:
    """From -1, from 1, and half their sum."""
    r, s = call("hypot", x + 1.0, y), call("hypot", x - 1.0, y)
    return r, s, (r + s) * 0.5


def _arc_angles(x: X, y: X) -> tuple[X, X]:
    r, s, a = _distances(x, y)
    ratio = x / a
    inside = x <= 1.0
    plus = a + x
    near = (plus * 0.5 * (y * y / (r + (x + 1.0)) + (s + (x.of(1.0) - x)))).sqrt()
    beyond = (plus / (r + (x + 1.0)) + plus / (s + (x - 1.0))) * 0.5
    across = near.where(inside, y * beyond.sqrt())
    direct = ratio <= _CROSSOVER
    sine = call("arcsin", ratio).where(direct, call("arctan2", x, across))
    cosine = call("arccos", ratio).where(direct, call("arctan2", across, x))
    return sine, cosine


def _arc_height(x: X, y: X) -> X:
    r, s, a = _distances(x, y)
    one = x.of(1.0)
    square = y * y
    left = square / (r + (x + 1.0))
    right = (square / (s + (one - x))).where(x < 1.0, s + (x - 1.0))
    above = (left + right) * 0.5  # a - 1
    height = call("log1p", above + (above * (a + 1.0)).sqrt())
    height = height.where(a <= 1.5, call("log", a + (a * a - 1.0).sqrt()))
    return _flat_height(x, y).where(y < _FLAT, height)


def _flat_height(x: X, y: X) -> X:
    """Where y squared vanishes."""
    beside = (abs(x - 1.0) * (x + 1.0)).sqrt()
    outside = call("log1p", (x - 1.0) + beside)
    flat = (y / beside).where(x < 1.0, outside)
    return y.sqrt().where(x.equals(1.0), flat)


def arcsin(z: Z) -> Z:
    x, y = z.re, z.im
    sine, _, height = _arcs(z)
    result = Z(sine.sign_of(x), height.sign_of(y))
    result = Z(x, y).where(x.equals(0.0) & y.is_nan(), result)
    nan = x.of(NAN)
    mixed = Z(x + y, copysign(INFINITY, y)).where(infinite(y), Z(nan, copysign(INFINITY, y)))
    mixed = mixed.where(infinite(x) | infinite(y), Z(nan, nan))
    unknown = (x.is_nan() | y.is_nan()) & ~x.equals(0.0)
    return mixed.where(unknown, result)


def arccos(z: Z) -> Z:
    x, y = z.re, z.im
    _, cosine, height = _arcs(z)
    behind = x.bits() < 0
    re = (x.of(math.pi) - cosine).where(behind, cosine)
    result = Z(re, height.sign_of(-y))
    nan = x.of(NAN)
    mixed = Z(x.of(math.pi / 2).where(x.equals(0.0), nan), nan)
    mixed = Z(nan, copysign(INFINITY, -y)).where(infinite(x) | infinite(y), mixed)
    return mixed.where(x.is_nan() | y.is_nan(), result)


def arccosh(z: Z) -> Z:
    """i arccos(z) or -i arccos(z), whichever lies on the right."""
    angle = arccos(z)
    return Z(abs(angle.im), angle.re.sign_of(z.im))


def arctanh(z: Z) -> Z:
    x, y = abs(z.re), abs(z.im)
    large, _ = larger_smaller(x, y)
    is_far = ~(large <= _FAR)
    x1, y1 = x.of(0.5).where(is_far, x), x.of(0.5).where(is_far, y)
    one = x.of(1.0)
    beside = (one - x1) * (one - x1) + y1 * y1
    re = call("log1p", x1 * 4.0 / beside) * 0.25
    pole = (x.of(LN2) - call("log", y1)) * 0.5
    re = pole.where(x1.equals(1.0) & (y1 < _FLAT), re)
    im = call("arctan2", y1 * 2.0, (one - x1) * (one + x1) - y1 * y1) * 0.5
    size = call("hypot", x * 2.0**-10, y * 2.0**-10)
    far_re = (x * 2.0**-10 / size) / size * 2.0**-10
    far_re = x.of(0.0).where(infinite(x) | infinite(y), far_re)
    far_im = x.of(math.pi / 2)
    nan = x.of(NAN)
    re = far_re.where(is_far, re)
    im = far_im.where(is_far, im)
    unknown = x.is_nan() | y.is_nan()
    re = nan.where(unknown & ~infinite(x) & ~infinite(y) & ~x.equals(0.0), re)
    re = x.of(0.0).where(x.equals(0.0), re)
    im = nan.where(unknown & ~infinite(y), im)
    return Z(re.sign_of(z.re), im.sign_of(z.im))
