"""Conversion between all dtypes, with the results of ndarray.astype on x86-64.

    y = cast(f, x, np.dtype(np.int8))

C leaves out-of-range conversions of floats to integers open; NumPy gives what the machine gives,
and all machines give that here: the lowest int32 or int64 for whatever does not fit (NaN included),
int8, int16, uint8, uint16 by way of int32, uint32 by way of int64.

NOTE: NumPy's own float -> uint32 of out-of-range values depends on an element's position in the
array (vector body or tail); the result here is that of its scalar loop.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from graphify.engines.native.elements import halves
from graphify.engines.native.elements.element import Element, constant, part_type
from graphify.engines.native.llvm import F32, I16, I32, Function, V
from graphify.ir.types import BOOL, DType, bfloat16, is_complex, real_dtype

FLOAT32 = np.dtype(np.float32)
FLOAT16 = np.dtype(np.float16)


def cast(f: Function, x: Element, dtype: DType) -> Element:
    """The element in another dtype."""
    if x.dtype == dtype:
        return x
    if x.number is not None:
        return _cast_constant(f, x, dtype)
    if dtype == BOOL:
        return Element(BOOL, (truth(f, x),))
    if is_complex(dtype):
        return Element(dtype, _complex_parts(f, x, dtype))
    if is_complex(x.dtype):  # drops the imaginary part
        return cast(f, Element(real_dtype(x.dtype), x.parts[:1]), dtype)
    return Element(dtype, (_number(f, x, dtype),))


def _cast_constant(f: Function, x: Element, dtype: DType) -> Element:
    with np.errstate(all="ignore"):
        value = np.asarray(x.number, x.dtype)
        value = (
            value.real if is_complex(x.dtype) and not is_complex(dtype) and dtype != BOOL else value
        )
        return constant(f, dtype, value.astype(dtype), x.lanes)


def _complex_parts(f: Function, x: Element, dtype: DType) -> tuple[V, V]:
    real = real_dtype(dtype)
    if is_complex(x.dtype):
        re, im = (cast(f, Element(real_dtype(x.dtype), (p,)), real).value for p in x.parts)
        return re, im
    re = cast(f, x, real).value
    return re, f.const(re.type, 0.0)


def _number(f: Function, x: Element, dtype: DType) -> V:
    """Between real dtypes."""
    source, target = x.dtype.kind, dtype.kind
    if target in "iu":
        return _to_integer(f, x, dtype) if source in "biu" else _truncated(f, x, dtype)
    if source in "biu":
        return _from_integer(f, x, dtype)
    return _to_float(f, x, dtype)


# --- truth --------------------------------------------------------------------------------------


def truth(f: Function, x: Element) -> V:
    """Whether the element differs from zero (NaN does), as i1."""
    if x.dtype == BOOL:
        return x.value
    if x.dtype == bfloat16:  # every bit but the sign
        magnitude = f.and_(x.value, f.const(x.value.type, 0x7FFF))
        return f.icmp("ne", magnitude, f.const(magnitude.type, 0))
    if x.dtype.kind in "iu":
        return f.icmp("ne", x.value, f.const(x.value.type, 0))
    tests = [f.fcmp("une", p, f.const(p.type, 0.0)) for p in x.parts]
    return tests[0] if len(tests) == 1 else f.or_(tests[0], tests[1])


# --- from integers ------------------------------------------------------------------------------


def _to_integer(f: Function, x: Element, dtype: DType) -> V:
    type = part_type(dtype).of(x.lanes)
    source = 0 if x.dtype == BOOL else x.value.type.bytes
    if source == type.bytes:
        return x.value
    if source > type.bytes:
        return f.convert("trunc", x.value, type)
    return f.convert("sext" if x.dtype.kind == "i" else "zext", x.value, type)


def _from_integer(f: Function, x: Element, dtype: DType) -> V:
    opcode = "sitofp" if x.dtype.kind == "i" else "uitofp"
    if dtype in (FLOAT16, bfloat16):  # by way of float32, as NumPy and ml_dtypes go
        wide = f.convert(opcode, x.value, F32.of(x.lanes))
        return narrow(f, wide, dtype).value
    return f.convert(opcode, x.value, part_type(dtype).of(x.lanes))


# --- floats to integers -------------------------------------------------------------------------


def _truncated(f: Function, x: Element, dtype: DType) -> V:
    """A float without its fraction, as an integer."""
    value = widen(f, x)
    if dtype == np.uint64:
        return _to_uint64(f, value)
    if dtype.itemsize == 8:
        return to_signed(f, value, 64)
    if dtype == np.uint32:
        return f.convert("trunc", to_signed(f, value, 64), I32.of(x.lanes))
    whole = to_signed(f, value, 32)
    type = part_type(dtype).of(x.lanes)
    return whole if dtype.itemsize == 4 else f.convert("trunc", whole, type)


def to_signed(f: Function, x: V, bits: int) -> V:
    """To int32 or int64; the lowest integer where it does not fit.

    The conversion of the others is poison in LLVM, which a select that does not choose it drops.
    """
    type = x.type.like(f"i{bits}")
    fits = f.fcmp("olt", f.intrinsic("fabs", x), f.const(x.type, 2.0 ** (bits - 1)))
    return f.select(fits, f.convert("fptosi", x, type), f.const(type, -(2 ** (bits - 1))))


def _to_uint64(f: Function, x: V) -> V:
    """Values from 2**63 on are converted less 2**63; negative ones wrap around."""
    limit = f.const(x.type, 2.0**63)
    high = f.fcmp("oge", x, limit)
    whole = to_signed(f, f.select(high, f.fsub(x, limit), x), 64)
    top = f.const(whole.type, -(2**63))
    return f.select(high, f.xor(whole, top), whole)


# --- between floats -----------------------------------------------------------------------------


def _to_float(f: Function, x: Element, dtype: DType) -> V:
    type = part_type(dtype).of(x.lanes)
    if x.dtype == np.float64:
        if dtype == FLOAT16:
            return halves.from_float(f, _round_to_odd(f, x.value))
        single = f.convert("fptrunc", x.value, F32.of(x.lanes))
        return single if dtype == FLOAT32 else narrow(f, single, dtype).value
    single = widen(f, x)
    if dtype == np.float64:
        return f.convert("fpext", single, type)
    return narrow(f, single, dtype).value


def _round_to_odd(f: Function, x: V) -> V:
    """A double as a float that rounds to half as the double itself does.

    Cut off, its last bit set where anything was cut: the float is then never a tie of halves
    unless the double is. (Boldo, Melquiond: Emulation of FMA and correctly rounded sums, 2008.)
    """
    nearest = f.convert("fptrunc", x, x.type.like("float"))
    back = f.convert("fpext", nearest, x.type)
    bits = f.bits(nearest)
    above = f.fcmp("ogt", f.intrinsic("fabs", back), f.intrinsic("fabs", x))
    cut = f.sub(bits, f.convert("zext", above, bits.type))
    inexact = f.convert("zext", f.fcmp("one", back, x), bits.type)
    return f.convert("bitcast", f.or_(cut, inexact), nearest.type)


def widen(f: Function, x: Element) -> V:
    """A real float element as float or double: those of 16 bits become float."""
    if x.dtype == bfloat16:
        bits = f.convert("zext", x.value, I32.of(x.lanes))
        return f.convert("bitcast", f.shl(bits, f.const(bits.type, 16)), F32.of(x.lanes))
    if x.dtype == FLOAT16:
        return halves.to_float(f, x.value)
    return x.value


def narrow(f: Function, x: V, dtype: DType) -> Element:
    """A float (or double) rounded to a float dtype, ties to even: the inverse of `widen`."""
    if dtype == bfloat16:
        return Element(dtype, (_bfloat16_bits(f, x),))
    if dtype == FLOAT16:
        return Element(dtype, (halves.from_float(f, x),))
    return Element(dtype, (x,))


def _bfloat16_bits(f: Function, x: V) -> V:
    bits = f.bits(x)
    sixteen = f.const(bits.type, 16)
    odd = f.and_(f.lshr(bits, sixteen), f.const(bits.type, 1))
    rounded = f.add(bits, f.add(odd, f.const(bits.type, 0x7FFF)))
    quiet = f.or_(f.and_(bits, f.const(bits.type, -(2**31))), f.const(bits.type, 0x7FC00000))
    chosen = f.select(f.fcmp("uno", x, x), quiet, rounded)
    return f.convert("trunc", f.lshr(chosen, sixteen), I16.of(x.type.lanes))


# --- rules on floats ----------------------------------------------------------------------------


def in_float(rule: Callable[..., V]) -> Callable[..., Element]:
    """A rule on V of float or double as one on elements of any real float dtype.

    float16 and bfloat16 are widened, computed in float, and rounded after every op, as NumPy does.
    """

    def on_elements(f: Function, dtype: DType, *args: Element) -> Element:
        return narrow(f, rule(f, *(widen(f, a) for a in args)), dtype)

    return on_elements
