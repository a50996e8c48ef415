"""sin, cos and tan.

|x| = q pi/2 + r with |r| <= pi/4; sin(r) and cos(r) are polynomials, q chooses between them and
gives the sign. pi/2 stands in three parts (Cody and Waite), so r keeps its digits up to LIMIT.
Lanes beyond it are rare and go a long way (`exact_reduction`).
"""

from __future__ import annotations

import math
from collections.abc import Callable

from graphify.engines.native.maths import coefficients as c
from graphify.engines.native.maths.exact_reduction import exactly_reduced
from graphify.engines.native.maths.formula import (
    X,
    by_type,
    exact_mad,
    horner,
    mad,
    ordered_total,
    product,
    rule,
)
from graphify.engines.native.maths.parts import nearest_multiple
from graphify.engines.native.maths.rare import patched, provide_lanes

LIMIT = (1e5, 1e9)  # of float, of double

Reduced = tuple[X, X, X]  # q in the low bits of an integer, r, what r lacks
Combination = Callable[[X, X, X], X]


def reduced(a: X) -> Reduced:
    """For 0 <= a <= LIMIT."""
    first, second, third = c.HALF_PI[a.type.scalar]
    q, bits = nearest_multiple(a, 2 / math.pi)
    top = exact_mad(q, -first, a)  # no rounding
    correction, error = product(q, q.of(-second))
    # `top` may be the smaller, but is a multiple of the last bit of the correction: still exact.
    r, rest = ordered_total(top, correction)
    return bits, r, mad(q, -third, rest + error)


def sine_parts(r: X, rest: X) -> tuple[X, X]:
    """sin(r + rest) in two parts."""
    z = r * r
    return r, mad(r * z, horner(z, c.SIN), rest)


def cosine_parts(r: X, rest: X) -> tuple[X, X]:
    """cos(r + rest) in two parts."""
    z = r * r
    half = z * 0.5
    high, low = ordered_total(r.of(1.0), -half)
    return high, low + mad(z * z, horner(z, c.COS), -(r * rest))


def _sine_at(q: X, r: X, rest: X) -> X:
    """sin(q pi/2 + r + rest)"""
    sine, cosine = sine_parts(r, rest), cosine_parts(r, rest)
    value = (cosine[0] + cosine[1]).where((q & 1).differs(0), sine[0] + sine[1])
    return _flipped(value, q << (q.type.bytes * 8 - 2))


def _flipped(x: X, sign: X) -> X:
    """x, negative where the top bit of an integer is set."""
    top = 1 << (sign.type.bytes * 8 - 1)
    return (x.bits() ^ (sign & -top)).floating()


def _sine(q: X, r: X, rest: X) -> X:
    return _sine_at(q, r, rest)


def _cosine(q: X, r: X, rest: X) -> X:
    return _sine_at(q + 1, r, rest)


def _tangent(q: X, r: X, rest: X) -> X:
    """A quotient of sine and cosine, corrected by what its rounding lost."""
    sine, cosine = (ordered_total(*p(r, rest)) for p in (sine_parts, cosine_parts))
    odd = (q & 1).differs(0)
    above, above_low = (a.where(odd, b) for a, b in zip(cosine, sine, strict=True))
    below, below_low = (a.where(odd, b) for a, b in zip(sine, cosine, strict=True))
    inverse = 1.0 / below
    y = above * inverse
    left = exact_mad(-y, below, above) + (above_low - y * below_low)
    return _flipped(mad(left, inverse, y), q << (q.type.bytes * 8 - 1))


@rule("sin")
def sin(x: X) -> X:
    a = abs(x)
    return _flipped(patched("sin", a > by_type(a, *LIMIT), _sine(*reduced(a)), a), x.bits())


@rule("cos")
def cos(x: X) -> X:
    a = abs(x)
    return patched("cos", a > by_type(a, *LIMIT), _cosine(*reduced(a)), a)


@rule("tan")
def tan(x: X) -> X:
    a = abs(x)
    return _flipped(patched("tan", a > by_type(a, *LIMIT), _tangent(*reduced(a)), a), x.bits())


# --- large arguments ------------------------------------------------------------------------------


def _large(a: X) -> X:
    return (a > by_type(a, *LIMIT)) & (a < math.inf)


def _exactly(combine: Combination) -> Callable[[X], X]:
    return lambda a: combine(*exactly_reduced(a))


for _name, _combine in (("sin", _sine), ("cos", _cosine), ("tan", _tangent)):
    provide_lanes(_name, 1, _large, _exactly(_combine))
