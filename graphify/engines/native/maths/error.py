"""The error function and its complement.

erf(x) is x times a polynomial of x^2 up to 1. Beyond, erfc(x) = exp(-x^2) g(x) / (1 + 2 x) with a
g that hardly varies: a polynomial of t = (x - 3.75) / (x + 3.75).
"""

from __future__ import annotations

from graphify.engines.native.maths import coefficients as c
from graphify.engines.native.maths.exponential import exp, exp_parts
from graphify.engines.native.maths.formula import (
    X,
    exact_mad,
    horner,
    mad,
    ordered_total,
    product,
    rule,
    total_of,
)
from graphify.engines.native.maths.parts import scaled

CENTRE = 3.75


def _below_one(a: X) -> tuple[X, X]:
    """erf(a) in two parts, for 0 <= a <= 1."""
    high, low, _ = c.TWO_OVER_ROOT_PI[a.type.scalar]
    z = a * a
    top, rest = product(a, a.of(high))
    return ordered_total(top, rest + a * mad(z, horner(z, c.ERF), low))


@rule("erf")
def erf(x: X) -> X:
    a = abs(x)
    high, low, _ = c.TWO_OVER_ROOT_PI[x.type.scalar]
    z = a * a
    small = mad(a, high, a * mad(z, horner(z, c.ERF), low))
    b = a.at_most(6.0)
    tail = exp(-(b * b)) * horner((b - CENTRE) / (b + CENTRE), c.ERFC_NEAR) / mad(b, 2.0, 1.0)
    return small.where(a < 1.0, 1.0 - tail).sign_of(x)


@rule("erfc")
def erfc(x: X) -> X:
    """float through double, where the tail needs more digits than float has."""
    if x.type.scalar == "float":
        return _erfc(x.widened()).narrowed()
    return _erfc(x)


def _erfc(x: X) -> X:
    a = abs(x)
    high, low = _below_one(a)
    high, low = high.sign_of(x), low.where(x > 0.0, -low)
    top, rest = ordered_total(x.of(1.0), -high)
    near = top + (rest - low)
    tail = _tail(a.at_most(28.0).at_least(0.5))
    far = tail.where(x > 0.0, 2.0 - tail)
    return near.where(a < 0.5, far)


def _tail(b: X) -> X:
    """erfc(b) for 0.5 <= b <= 28. An error in the exponent is one relative to the result."""
    square, square_low = product(b, b)
    q, _, high, low = exp_parts(-square)
    high, low = ordered_total(high, low)
    low = mad(high, -square_low, low)
    t = (b - CENTRE) / (b + CENTRE)
    *higher, first = c.ERFC["double"]
    g, g_low = ordered_total(b.of(first), t * horner(t, {"double": tuple(higher)}))
    above, above_low = product(high, g)
    above_low = mad(low, g, mad(high, g_low, above_low))
    below, below_low = total_of(b + b, 1.0)
    y = above / below
    left = mad(-y, below_low, exact_mad(-y, below, above) + above_low)
    return scaled(y + left / below, q)
