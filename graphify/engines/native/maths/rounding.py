"""Rounding to integers, remainders and division with remainder; exact, as NumPy's are."""

from __future__ import annotations

import math
from collections.abc import Callable

from graphify.engines.native.maths.formula import X, exact_mad, format_of, rule
from graphify.engines.native.maths.rare import patched, provide_lanes


def _intrinsic(name: str) -> Callable[[X], X]:
    return lambda x: x.intrinsic(name)


for _name in ("floor", "ceil", "trunc", "rint"):
    rule(_name)(_intrinsic(_name))


def _far(a: X, b: X) -> X:
    """Whether a / b has more digits than a float, or some where `exact_mad` may overflow."""
    digits = format_of(a).stored if a.f.module.target.fma else 0
    return (a >= b * 2.0**digits) & (a < math.inf) & (b > 0.0)


@rule("fmod")
def fmod(x: X, y: X) -> X:
    """x - y trunc(x / y), with the sign of x."""
    a, b = abs(x), abs(y)
    # The rounded quotient is the true one or, just below an integer, one too large; both
    # remainders are multiples of b's last bit that fit a float.
    left = exact_mad(-(a / b).intrinsic("trunc"), b, a)
    left = (left + b).where(left < 0.0, left)
    left = a.where(a < b, patched("fmod", _far(a, b), left, a, b))
    undefined = ~(a < math.inf) | ~(b > 0.0)
    return x.of(math.nan).where(undefined, left).sign_of(x)


def _fmod_by_library(a: X, b: X) -> X:
    """C's, which is exact; a loop of as many steps as the exponents differ."""
    return X(a.f, a.f.call("fmod", a.type, [a.v, b.v]))


provide_lanes("fmod", 2, lambda a, b: a >= b, _fmod_by_library)


def _opposed(left: X, y: X) -> X:
    """Whether a remainder is to move to the divisor's side of zero."""
    signs = (left < 0.0) ^ (y < 0.0)
    return left.compare("one", 0.0) & signs


@rule("remainder")
def remainder(x: X, y: X) -> X:
    """With the sign of y, zero too."""
    left = fmod(x, y)
    moved = (left + y).where(_opposed(left, y), left)
    return left.of(0.0).sign_of(y).where(left.equals(0.0), moved)


@rule("floor_divide")
def floor_divide(x: X, y: X) -> X:
    """(x - remainder) / y, which is an integer but for rounding."""
    left = fmod(x, y)
    quotient = (x - left) / y
    quotient = (quotient - 1.0).where(_opposed(left, y), quotient)
    below = quotient.intrinsic("floor")
    nearest = (below + 1.0).where(quotient - below > 0.5, below)
    ratio = x / y
    result = nearest.where(quotient.differs(0.0), x.of(0.0).sign_of(ratio))
    return ratio.where(y.equals(0.0), result)
