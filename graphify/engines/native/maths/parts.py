"""Significand and exponent: taking numbers apart and putting them together.

    e, m = parts(x)         # x = m * 2^e, sqrt(1/2) <= m < sqrt(2)
    y = scaled(m, e)

AVX-512 has instructions for both; elsewhere they are integer arithmetic on the bits.
"""

from __future__ import annotations

import math

from graphify.engines.native.llvm import I8, I16, I32, V
from graphify.engines.native.maths.formula import X, format_of, join, mad, split

_CURRENT_ROUNDING = V(I32, "4")
_NAN_IF_NEGATIVE = 0b1100  # of getmant, with 1 for -0.0


def power_of_two(n: X) -> X:
    """2^n for the exponent n of a normal number, in the low bits of an integer."""
    form = format_of(n)
    return ((n + form.bias) << form.stored).floating()


def nearest(x: X) -> X:
    """x rounded to an integer, for |x| < 2^(precision - 2)."""
    rounder = format_of(x).rounder
    return x + rounder - rounder


def nearest_multiple(x: X, factor: float) -> tuple[X, X]:
    """x * factor rounded to an integer: as a float, and in the low bits of an integer."""
    rounder = format_of(x).rounder
    shifted = mad(x, factor, rounder)
    return shifted - rounder, shifted.bits()


def scaled(x: X, q: X) -> X:
    """x * 2^q, rounded once, for x near 1 and an integral q within twice the exponent's range."""
    if has_avx512(x):
        return _avx512("scalef", x, q)
    whole = q.to_int()
    half = whole >> 1
    return x * power_of_two(half) * power_of_two(whole - half)


def parts(x: X) -> tuple[X, X]:
    """(e, m) with x = m * 2^e, sqrt(1/2) <= m < sqrt(2).

    e is infinite for zero (negatively) and infinity, m is NaN for negative numbers and NaN.
    """
    if has_avx512(x):
        e, m = _avx512("getexp", x), _avx512("getmant", x, immediate=_NAN_IF_NEGATIVE)
        above = m > math.sqrt(2.0)
        return (e + 1.0).where(above, e), (m * 0.5).where(above, m)
    form = format_of(x)
    tiny = x < form.smallest_normal
    bits = (x * 2.0**form.stored).where(tiny, x).bits()
    exponent = (bits - form.bits(math.sqrt(0.5))) >> form.stored
    m = (bits - (exponent << form.stored)).floating()
    e = exponent.number(x)
    e = (e - float(form.stored)).where(tiny, e)
    e = x.of(-math.inf).where(x.equals(0.0), x.of(math.inf).where(x.equals(math.inf), e))
    return e, x.of(math.nan).where(~(x >= 0.0), m)


# --- AVX-512 --------------------------------------------------------------------------------------


def has_avx512(x: X) -> bool:
    target, lanes = x.f.module.target, x.type.lanes
    return target.has("avx512f") and target.has("avx512vl") and lanes & (lanes - 1) == 0


def _avx512(name: str, *operands: X, immediate: int | None = None) -> X:
    """An instruction that LLVM offers for whole registers only, on any number of lanes."""
    x = operands[0]
    lanes, most, least = x.type.lanes, 64 // x.type.bytes, 16 // x.type.bytes
    if lanes > most:
        pieces = [split(o, lanes // most) for o in operands]
        return join([_avx512(name, *row, immediate=immediate) for row in zip(*pieces, strict=True)])
    if lanes < least:
        return _narrowed(
            _avx512(name, *(_padded(o, least) for o in operands), immediate=immediate), lanes
        )
    letter = "s" if x.type.bytes == 4 else "d"
    size = 8 * lanes * x.type.bytes
    arguments = [o.v for o in operands]
    if immediate is not None:
        arguments.append(V(I32, str(immediate)))
    arguments += [V(x.type, "zeroinitializer"), V(I16 if lanes == 16 else I8, "-1")]
    if size == 512:
        arguments.append(_CURRENT_ROUNDING)
    full = f"llvm.x86.avx512.mask.{name}.p{letter}.{size}"
    return X(x.f, x.f.call(full, x.type, arguments))


def _padded(x: X, lanes: int) -> X:
    type = x.type.of(lanes)
    if x.type.lanes == 1:
        return X(x.f, x.f.op(type, f"insertelement {type} poison, {x.v}, i32 0"))
    order = ", ".join(f"i32 {i if i < x.type.lanes else 0}" for i in range(lanes))
    return X(x.f, x.f.op(type, f"shufflevector {x.v}, {x.v}, <{lanes} x i32> <{order}>"))


def _narrowed(x: X, lanes: int) -> X:
    if lanes == 1:
        return X(x.f, x.f.op(x.type.of(1), f"extractelement {x.v}, i32 0"))
    order = ", ".join(f"i32 {i}" for i in range(lanes))
    return X(
        x.f, x.f.op(x.type.of(lanes), f"shufflevector {x.v}, {x.v}, <{lanes} x i32> <{order}>")
    )
