"""Powers and roots.

|x|^y = 2^(y log2 |x|). The exponent may be a thousand times a unit, so log2 |x| needs ten bits more
than the result: float is computed in double, double in sums of two doubles. What C's `pow` says of
zeros, infinities, NaN and negative x is put on top.
"""

from __future__ import annotations

import math

from graphify.engines.native.maths import coefficients as c
from graphify.engines.native.maths.formula import (
    X,
    exact_mad,
    horner,
    mad,
    ordered_total,
    product,
    rule,
)
from graphify.engines.native.maths.parts import (
    nearest,
    nearest_multiple,
    parts,
    power_of_two,
    scaled,
)

Pair = tuple[X, X]  # a sum of two, the second small


@rule("sqrt")
def sqrt(x: X) -> X:
    return x.sqrt()


@rule("square")
def square(x: X) -> X:
    return x * x


@rule("reciprocal")
def reciprocal(x: X) -> X:
    return 1.0 / x


@rule("cbrt")
def cbrt(x: X) -> X:
    """By Newton's iteration for m^(-1/3), which needs no division."""
    a = abs(x)
    e, m = parts(a)
    third = nearest(e * (1 / 3))
    left = mad(third, -3.0, e)  # -1, 0 or 1
    w = horner(m, c.CBRT)
    factor, shift = (
        by_sign(left, (2.0 ** (1 / 3), 1.0, 2.0 ** (-1 / 3))),
        by_sign(left, (0.5, 1.0, 2.0)),
    )
    w, m = w * factor, m * shift
    if x.type.scalar == "double":
        w = mad(w * (1 / 3), mad(-(w * w * w), m, 1.0), w)
    square = w * w
    y = m * square
    # y - (y^3 - m) / (3 y^2), the difference without rounding
    p, p_low = product(y, y)
    cube, cube_low = product(p, y)
    excess = (cube - m) + mad(p_low, y, cube_low)
    y = scaled(mad(excess * square, -1 / 3, y), third)
    return y.where((a > 0.0) & (a < math.inf), a).sign_of(x)


def by_sign(x: X, values: tuple[float, float, float]) -> X:
    """One of three numbers: for x < 0, x = 0, x > 0."""
    below, at, above = values
    return x.of(below).where(x < 0.0, x.of(above).where(x > 0.0, at))


@rule("hypot")
def hypot(x: X, y: X) -> X:
    """Infinite where one is, even if the other is NaN."""
    a, b = abs(x), abs(y)
    infinite = a.equals(math.inf) | b.equals(math.inf)
    size = _hypot_of_floats(a, b) if x.type.scalar == "float" else _hypot_of_doubles(a, b)
    return x.of(math.inf).where(infinite, size)


def _hypot_of_floats(a: X, b: X) -> X:
    a, b = a.widened(), b.widened()
    return mad(a, a, b * b).sqrt().narrowed()


def _hypot_of_doubles(a: X, b: X) -> X:
    """The larger scaled to about 1."""
    larger, smaller = a.where(a > b, b), b.where(a > b, a)
    e, _ = parts(larger)
    e = e.at_most(1023.0).at_least(-1074.0)
    larger, smaller = scaled(larger, -e), scaled(smaller, -e)
    return scaled(mad(larger, larger, smaller * smaller).sqrt(), e)


# --- powers ---------------------------------------------------------------------------------------


@rule("power")
def power(x: X, y: X) -> X:
    single = x.type.scalar == "float"
    return _with_special_cases(x, y, (_float_power if single else _double_power)(abs(x), y))


@rule("float_power")
def float_power(x: X, y: X) -> X:
    return power(x, y)


def _float_power(a: X, y: X) -> X:
    """a^y for a >= 0, through double."""
    e, m = parts(a.widened())
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    natural = mad(s * z, horner(z, c.ATANH_SHORT), s + s)
    exponent = y.widened() * mad(natural, 1 / math.log(2.0), e)
    exponent = exponent.at_most(200.0).at_least(-200.0)
    q, bits = nearest_multiple(exponent, 1.0)
    r = exponent - q
    return (mad(r, horner(r, c.EXP2_SHORT), 1.0) * power_of_two(bits)).narrowed()


def _double_power(a: X, y: X) -> X:
    """a^y for a >= 0."""
    high, low = _log2(a)
    exponent, rest = product(y, high)
    rest = mad(y, low, rest)
    # Infinite parts give NaN in `rest`, where it does not matter.
    rest = rest.where(abs(exponent) < 1100.0, 0.0)
    return _exp2(exponent.at_most(1100.0).at_least(-1100.0), rest)


def _log2(a: X) -> Pair:
    """log2(a) to some 64 bits: 2 atanh(s) log2(e) + e with s = (m - 1) / (m + 1)."""
    e, m = parts(a)
    below, below_low = ordered_total(a.of(1.0), m)
    above = m - 1.0
    inverse = 1.0 / below
    s = above * inverse
    s_low = mad(-s, below_low, exact_mad(-s, below, above)) * inverse
    high, low = _times(_twice_atanh(s, s_low), c.LOG2_E["double"])
    total, rest = ordered_total(e, high)
    return total, rest + low


def _twice_atanh(s: X, s_low: X) -> Pair:
    """2 s + 2/3 s^3 in pairs, the higher powers in one double."""
    z, z_low = product(s, s)
    z_low = mad(s + s, s_low, z_low)
    cube, cube_low = product(s, z)
    cube_low = mad(s, z_low, mad(s_low, z, cube_low))
    third, third_low = _times((cube, cube_low), c.TWO_THIRDS["double"])
    high, low = ordered_total(s + s, third)
    tail = mad(cube * z, horner(z, c.ATANH_TAIL), third_low)
    return ordered_total(high, low + (s_low + s_low + tail))


def _times(a: Pair, factor: tuple[float, ...]) -> Pair:
    high, low = product(a[0], a[0].of(factor[0]))
    return high, low + mad(a[0], factor[1], a[1] * factor[0])


def _exp2(x: X, rest: X) -> X:
    """2^(x + rest)"""
    q = nearest(x)
    r, rest = ordered_total(x - q, rest)
    first, first_low = _times((r, rest), c.LN2_LONG["double"])
    tail = mad(r * r, horner(r, {"double": c.EXP2["double"][:-1]}), first_low)
    high, low = ordered_total(x.of(1.0), first)
    return scaled(high + (low + tail), q)


def _with_special_cases(x: X, y: X, size: X) -> X:
    """x^y from |x|^y (C23, F.10.4.4)."""
    whole, half = _is_whole(y), _is_whole(y * 0.5)
    odd = whole & ~half
    size = size.of(1.0).where(abs(x).equals(1.0) & y.equals(y), size)
    signed = (-size).where(odd & x.bits().compare("slt", 0), size)
    undefined = (x < 0.0) & (x > -math.inf) & y.equals(y) & ~whole
    result = size.of(math.nan).where(undefined, signed)
    return size.of(1.0).where(x.equals(1.0) | y.equals(0.0), result)


def _is_whole(x: X) -> X:
    """Infinities are."""
    return x.intrinsic("trunc").equals(x)
