"""exp, exp2, expm1 and the logistic function.

x = q log(2) + r with an integer q and |r| <= log(2) / 2; then exp(x) = 2^q exp(r), and exp(r) is a
polynomial. `exp_parts` keeps the digits that one float cannot hold, for those who need them.
"""

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
    rule,
    total_of,
)
from graphify.engines.native.maths.parts import nearest, nearest_multiple, power_of_two, scaled

LOG2_E = 1 / math.log(2.0)
# Beyond these exp is 0 or infinite.
LOWEST, HIGHEST = (-104.0, -746.0), (89.0, 710.0)


def reduced(x: X) -> tuple[X, X, X, X]:
    """(q, q in the low bits of an integer, r, the rest of r) with x = q log(2) + r + rest."""
    high, low, _ = c.LN2[x.type.scalar]
    q, bits = nearest_multiple(x, LOG2_E)
    top = mad(q, -high, x)  # exact
    r = mad(q, -low, top)
    return q, bits, r, mad(q, -low, top - r)


def exp_parts(x: X) -> tuple[X, X, X, X]:
    """(q, its bits, high, low): exp(x) = 2^q (high + low), some bits more than a float holds.

    q is a float, and an integer whose low bits count. The caller keeps x in range.
    """
    q, bits, r, rest = reduced(x)
    high, low = ordered_total(x.of(1.0), r)
    return q, bits, high, low + mad(r * r, horner(r, c.EXP), rest)


def exp_near_one(x: X) -> tuple[X, X, X]:
    """(q, its bits, y): exp(x) = 2^q y, to one unit in the last place. For x in range."""
    high, low, _ = c.LN2[x.type.scalar]
    q, bits = nearest_multiple(x, LOG2_E)
    r = mad(q, -low, mad(q, -high, x))
    return q, bits, mad(r * r, horner(r, c.EXP), r) + 1.0


@rule("exp")
def exp(x: X) -> X:
    x = x.at_most(by_type(x, *HIGHEST)).at_least(by_type(x, *LOWEST))
    q, _, y = exp_near_one(x)
    return scaled(y, q)


@rule("exp2")
def exp2(x: X) -> X:
    x = x.at_most(by_type(x, 129.0, 1025.0)).at_least(by_type(x, -151.0, -1076.0))
    q = nearest(x)
    r = x - q
    return scaled(mad(r, horner(r, c.EXP2), 1.0), q)


@rule("expm1")
def expm1(x: X) -> X:
    """With half of 2^q, which is finite for every finite result."""
    bounded = x.at_most(by_type(x, *HIGHEST)).at_least(by_type(x, -30.0, -50.0))
    _, bits, r, rest = reduced(bounded)
    half = power_of_two(bits - 1)
    # half * (1 + r + rest + ...) - 1/2, the large terms with their rounding error
    offset = half - 0.5
    high, low = total_of(offset, half * r)
    low = mad(half, mad(r * r, horner(r, c.EXPM1), rest), low)
    tiny = abs(x) < by_type(x, 2.0**-25, 2.0**-54)
    return x.where(tiny, (high + low) * 2.0)


@rule("sigmoid")
def sigmoid(x: X) -> X:
    """1 / (1 + exp(-x)), by an exponential that cannot overflow; the quotient is corrected."""
    q, _, high, low = exp_parts((-abs(x)).at_least(by_type(x, *LOWEST)))
    e = scaled(high + low, q)
    below, below_low = ordered_total(x.of(1.0), e)
    above = e.where(x < 0.0, 1.0)
    inverse = 1.0 / below
    y = above * inverse
    left = mad(-y, below_low, exact_mad(-y, below, above))
    return mad(left, inverse, y)
