"""Logarithms.

x = m 2^e with m near 1, f = m - 1, and log(1 + f) = f + small. The sum of e log(2), f and `small`
is made from the smallest up, so that one rounding dominates.
"""

from __future__ import annotations

from graphify.engines.native.maths import coefficients as c
from graphify.engines.native.maths.formula import X, horner, mad, rule
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
