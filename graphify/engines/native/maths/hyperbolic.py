"""Hyperbolic functions."""

from __future__ import annotations

from graphify.engines.native.maths import coefficients as c
from graphify.engines.native.maths.exponential import exp_near_one, exp_parts
from graphify.engines.native.maths.formula import X, by_type, horner, mad, ordered_total, rule
from graphify.engines.native.maths.parts import power_of_two

# Where tanh rounds to 1.
FLAT = (9.1, 19.1)


@rule("tanh")
def tanh(x: X) -> X:
    """A polynomial below 1, 1 - 2 / (exp(2 x) + 1) above."""
    a = abs(x)
    z = a * a
    small = mad(a * z, horner(z, c.TANH), a)
    _, bits, near_one = exp_near_one(a.at_most(by_type(x, *FLAT)) * 2.0)
    large = 1.0 - 2.0 / mad(near_one, power_of_two(bits), 1.0)
    return small.where(a < 1.0, large).sign_of(x)


def _halves(a: X) -> tuple[X, X, X]:
    """exp(a) / 4 in two parts, and exp(-a) / 4; never infinite: the caller doubles."""
    _, bits, high, low = exp_parts(a.at_most(by_type(a, 89.6, 710.6)))
    quarter = power_of_two(bits - 2)
    high, low = high * quarter, low * quarter
    return high, low, 0.0625 / (high + low)


@rule("cosh")
def cosh(x: X) -> X:
    high, low, falling = _halves(abs(x))
    top, rest = ordered_total(high, falling)
    return (top + (rest + low)) * 2.0


@rule("sinh")
def sinh(x: X) -> X:
    """A polynomial below 1."""
    a = abs(x)
    z = a * a
    small = mad(a * z, horner(z, c.SINH), a)
    high, low, falling = _halves(a)
    top, rest = ordered_total(high, -falling)
    return small.where(a < 1.0, (top + (rest + low)) * 2.0).sign_of(x)
