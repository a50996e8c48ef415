"""Logarithms.

x = m 2^e with m near 1, f = m - 1, and log(1 + f) = f + small. The sum of e log(2), f and `small`
is made from the smallest up, so that one rounding dominates.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from graphify.engines.native.maths import coefficients as c
from graphify.engines.native.maths.exponential import exp, exp2
from graphify.engines.native.maths.formula import (
    X,
    by_type,
    horner,
    mad,
    ordered_total,
    rule,
    total_of,
)
from graphify.engines.native.maths.parts import parts


def log_parts(x: X) -> tuple[X, X, X]:
    """(e, f, small): log(x) = e log(2) + f + small."""
    e, m = parts(x)
    f = m - 1.0
    return e, f, beyond_first(f)


def beyond_first(f: X) -> X:
    """log(1 + f) - f for sqrt(1/2) <= 1 + f <= sqrt(2)."""
    if f.type.scalar == "float":
        return f * f * mad(f, horner(f, c.LOG), -0.5)
    # With s = f / (2 + f): log(1 + f) = 2 atanh(s) = f - (h - s (h + atanh's higher terms)).
    s = f / (f + 2.0)
    z = s * s
    half = f * f * 0.5
    return mad(s, mad(z, horner(z, c.ATANH), half), -half)


@rule("log")
def log(x: X) -> X:
    high, low, _ = c.LN2[x.type.scalar]
    e, f, small = log_parts(x)
    return mad(e, high, f + mad(e, low, small))


@rule("log2")
def log2(x: X) -> X:
    high, low, _ = c.LOG2_E[x.type.scalar]
    e, f, small = log_parts(x)
    return e + mad(f, high, mad(f, low, small * high))


@rule("log10")
def log10(x: X) -> X:
    high, low, _ = c.LOG10_E[x.type.scalar]
    shift, rest, _ = c.LOG10_2[x.type.scalar]
    e, f, small = log_parts(x)
    return mad(e, shift, mad(f, high, mad(f, low, mad(e, rest, small * high))))


def log_of_sum(high: X, low: X, more: X) -> X:
    """log(high + low) + more log(2), for |low| less than the last bit of high.

    The first digits may cancel: near 1 the result keeps its relative accuracy.
    """
    first, second, _ = c.LN2[high.type.scalar]
    e, f, small = log_parts(high)
    e = e + more
    # An infinite quotient has no rest; it may be NaN by now.
    correction = (low / high).where(low.compare("one", 0.0), 0.0)
    return mad(e, first, f + mad(e, second, small + correction))


@rule("log1p")
def log1p(x: X) -> X:
    high, low = total_of(x, 1.0)
    tiny = abs(x) < by_type(x, 2.0**-25, 2.0**-54)
    return x.where(tiny, log_of_sum(high, low, x.of(0.0)))


@rule("logaddexp")
def logaddexp(x: X, y: X) -> X:
    return _log_of_added(x, y, exp, c.LN2[x.type.scalar], (1.0, 0.0))


@rule("logaddexp2")
def logaddexp2(x: X, y: X) -> X:
    return _log_of_added(x, y, exp2, (1.0, 0.0), c.LOG2_E[x.type.scalar])


Numbers = tuple[float, ...]


def _log_of_added(x: X, y: X, power: Callable[[X], X], of_two: Numbers, of_e: Numbers) -> X:
    """The larger plus log(1 + power(smaller - larger)); the logarithms of 2 and e are given."""
    larger, smaller = x.where(x > y, y), y.where(x > y, x)
    high, low = ordered_total(x.of(1.0), power(smaller - larger))
    e, f, small = log_parts(high)
    small = small + low / high
    top, rest = total_of(larger, e * of_two[0])
    natural = mad(f, of_e[0], mad(f, of_e[1], mad(e, of_two[1], small * of_e[0])))
    total = larger.where(abs(larger).equals(math.inf), top + (rest + natural))
    return x.of(math.nan).where(x.compare("uno", y), total)
