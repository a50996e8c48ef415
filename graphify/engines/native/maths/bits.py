"""Functions of the bits: signs, neighbours, exponents; and choosing between two numbers."""

from __future__ import annotations

import math

import numpy as np

from graphify.engines.native.llvm import Function, V
from graphify.engines.native.maths.formula import X, by_type, format_of, rule
from graphify.engines.native.maths.parts import has_avx512, power_of_two, scaled

# --- signs ----------------------------------------------------------------------------------------


@rule("fabs")
def fabs(x: X) -> X:
    return abs(x)


@rule("copysign")
def copysign(x: X, y: X) -> X:
    return x.sign_of(y)


@rule("sign")
def sign(x: X) -> X:
    """NaN and zero (not its sign) stay."""
    size = x.of(1.0).where(x > 0.0, x.of(-1.0).where(x < 0.0, 0.0))
    return x.where(x.is_nan(), size)


@rule("heaviside")
def heaviside(x: X, middle: X) -> X:
    step = x.of(1.0).where(x > 0.0, middle.where(x.equals(0.0), 0.0))
    return x.where(x.is_nan(), step)


@rule("deg2rad")
def deg2rad(x: X) -> X:
    return x * (math.pi / 180)


@rule("rad2deg")
def rad2deg(x: X) -> X:
    """By the factor NumPy has for float, which is not the nearest."""
    return x * by_type(x, float(np.float32(180) / np.float32(math.pi)), 180 / math.pi)


# --- the larger, the smaller ----------------------------------------------------------------------


@rule("maximum")
def maximum(x: X, y: X) -> X:
    """NaN if one is. Of equal numbers the second, as NumPy's vector code has it for +0 and -0."""
    return x.where((x > y) | x.is_nan(), y)


@rule("minimum")
def minimum(x: X, y: X) -> X:
    return x.where((x < y) | x.is_nan(), y)


@rule("fmax")
def fmax(x: X, y: X) -> X:
    """The number if the other is NaN."""
    return x.where((x > y) | y.is_nan(), y)


@rule("fmin")
def fmin(x: X, y: X) -> X:
    return x.where((x < y) | y.is_nan(), y)


# --- neighbours -----------------------------------------------------------------------------------


def _step(x: X, up: X) -> X:
    """The float next to x, greater where `up`; x is neither NaN nor the infinity ahead."""
    bits = x.bits()
    away = up ^ bits.compare("slt", 0)  # from zero
    stepped = (bits + bits.of(1).where(away, -1)).floating()
    smallest = bits.of(1).where(up, -(2 ** (8 * x.type.bytes - 1)) + 1).floating()
    return smallest.where(x.equals(0.0), stepped)


@rule("nextafter")
def nextafter(x: X, y: X) -> X:
    stepped = y.where(x.equals(y), _step(x, x < y))
    return (x + y).where(x.compare("uno", y), stepped)


@rule("spacing")
def spacing(x: X) -> X:
    """The distance to the next float away from zero, with the sign of x."""
    distance = _step(x, ~(x < 0.0)) - x
    return x.of(math.nan).where(~(abs(x) < math.inf), distance)


# --- exponents ------------------------------------------------------------------------------------


def _as_wide(n: X, x: X, bound: int) -> X:
    """An integer of any width, bounded, in the width of a float."""
    n = n.of(-bound).where(n < -bound, n.of(bound).where(n > bound, n))
    if n.type.bytes == x.type.bytes:
        return n
    return n.convert("trunc" if n.type.bytes > x.type.bytes else "sext", x.integer)


@rule("ldexp")
def ldexp(x: X, n: X) -> X:
    """x 2^n rounded once: the large steps come first, and leave the last one all the digits."""
    n = _as_wide(n, x, 3 * format_of(x).bias)
    if has_avx512(x):
        return scaled(x, n.number(x))
    form = format_of(x)
    most, least = form.bias, 1 - form.bias
    fall = least + form.precision
    for _ in range(2):
        over, under = n > most, n < least
        step = n.of(most).where(over, n.of(fall).where(under, 0))
        x, n = x * power_of_two(step), n - step
    n = n.of(least).where(n < least, n.of(most).where(n > most, n))
    return x * power_of_two(n)


def frexp(f: Function, v: V) -> tuple[V, V]:
    """(m, e) with x = m 2^e, 0.5 <= |m| < 1, e int32; zero, infinities and NaN as m with e = 0."""
    x = X(f, v)
    form = format_of(x)
    tiny = abs(x) < form.smallest_normal
    bits = (x * 2.0**form.stored).where(tiny, x).bits()
    field = (bits >> form.stored) & (2 * form.bias + 1)
    exponent = field - (form.bias - 1)
    exponent = (exponent - form.stored).where(tiny, exponent)
    rest = ~((2 * form.bias + 1) << form.stored)
    mantissa = ((bits & rest) | ((form.bias - 1) << form.stored)).floating()
    ordinary = (abs(x) > 0.0) & (abs(x) < math.inf)
    mantissa, exponent = mantissa.where(ordinary, x), exponent.where(ordinary, 0)
    narrow = exponent if exponent.type.bytes == 4 else exponent.convert("trunc", x.type.like("i32"))
    return mantissa.v, narrow.v
