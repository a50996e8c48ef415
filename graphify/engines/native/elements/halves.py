"""float16 to float and back, on CPUs with instructions for it and on those without.

LLVM would call a library function per lane where the CPU has none; integer arithmetic is
branch-free and exact, and vectors do it at once.
"""

from __future__ import annotations

from graphify.engines.native.llvm import F16, F32, I16, I32, Function, V

_NORMAL = 0x38800000  # 2**-14, the smallest normal float16, as bits of a float
_TOO_LARGE = 0x477FF000  # 65520, from which on rounding gives infinity
_INFINITY = 0x7F800000
_REBIAS = 112 << 23  # the difference of the exponents' biases


def has_instructions(f: Function) -> bool:
    target = f.module.target
    return (
        target.has("f16c")
        or target.has("avx512f")
        or target.triple.startswith(("aarch64", "arm64"))
    )


def to_float(f: Function, x: V) -> V:
    """A vector of half as float."""
    if has_instructions(f):
        return f.convert("fpext", x, F32.of(x.type.lanes))
    type = I32.of(x.type.lanes)
    bits = f.convert("zext", f.convert("bitcast", x, I16.of(x.type.lanes)), type)
    sign = f.shl(f.and_(bits, f.const(type, 0x8000)), f.const(type, 16))
    magnitude = f.shl(f.and_(bits, f.const(type, 0x7FFF)), f.const(type, 13))
    # Taken for a float the number is too small by the biases; the product also makes subnormal
    # numbers normal.
    small = f.convert("bitcast", magnitude, F32.of(x.type.lanes))
    scaled = f.bits(f.fmul(small, f.const(small.type, 2.0**112)))
    special = f.icmp("uge", magnitude, f.const(type, 0x7C00 << 13))
    value = f.select(special, f.or_(magnitude, f.const(type, _INFINITY)), scaled)
    return f.convert("bitcast", f.or_(value, sign), small.type)


def from_float(f: Function, x: V) -> V:
    """A vector of float rounded to half, ties to even."""
    if has_instructions(f):
        return f.convert("fptrunc", x, F16.of(x.type.lanes))
    bits = f.bits(x)
    type = bits.type
    magnitude = f.and_(bits, f.const(type, 0x7FFFFFFF))
    result = f.select(
        f.icmp("ult", magnitude, f.const(type, _NORMAL)),
        _subnormal(f, magnitude),
        _normal(f, magnitude),
    )
    large = f.icmp("uge", magnitude, f.const(type, _TOO_LARGE))
    result = f.select(large, f.const(type, 0x7C00), result)
    result = f.select(f.fcmp("uno", x, x), f.const(type, 0x7E00), result)
    sign = f.and_(f.lshr(bits, f.const(type, 16)), f.const(type, 0x8000))
    short = f.convert("trunc", f.or_(result, sign), I16.of(type.lanes))
    return f.convert("bitcast", short, F16.of(type.lanes))


def _normal(f: Function, magnitude: V) -> V:
    type = magnitude.type
    odd = f.and_(f.lshr(magnitude, f.const(type, 13)), f.const(type, 1))
    rounded = f.add(f.add(magnitude, f.const(type, 0xFFF)), odd)
    return f.lshr(f.sub(rounded, f.const(type, _REBIAS)), f.const(type, 13))


def _subnormal(f: Function, magnitude: V) -> V:
    """Adding 1/2 leaves the multiple of 2**-24, rounded, in the low bits."""
    half = f.const(magnitude.type.like("float"), 0.5)
    value = f.convert("bitcast", magnitude, half.type)
    return f.sub(f.bits(f.fadd(value, half)), f.bits(half))
