"""Ops on real floats: 32 and 64 bits are the functions of `maths`, 16 bits go through float.

The few whose answer depends on a format's own bits (the next number, the distance to it) work on
the 16 bits themselves.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from graphify.engines.native import maths
from graphify.engines.native.elements.cast import FLOAT16, in_float, narrow, widen
from graphify.engines.native.elements.comparison import extreme_of_small
from graphify.engines.native.elements.element import Element
from graphify.engines.native.elements.rule import Rule
from graphify.engines.native.llvm import F16, I16, Function, V
from graphify.ir.types import DType, bfloat16

_SIGN, _INFINITY = 0x8000, {FLOAT16: 0x7C00, bfloat16: 0x7F80}


def function(name: str) -> Rule:
    """The function of `maths` on any real float dtype."""
    return in_float(lambda f, *args: maths.call(f, name, *args))


def _small_or(small: Rule, large: Rule) -> Rule:
    """One rule for floats of 16 bits, another for the rest."""

    def choose(f: Function, dtype: DType, *args: Element) -> Element | tuple[Element, ...]:
        return (small if args[0].dtype in _INFINITY else large)(f, dtype, *args)

    return choose


def _bfloat16_or(brain: Rule, other: Rule) -> Rule:
    def choose(f: Function, dtype: DType, *args: Element) -> Element | tuple[Element, ...]:
        return (brain if args[0].dtype == bfloat16 else other)(f, dtype, *args)

    return choose


# --- powers -------------------------------------------------------------------------------------

_POWERS: dict[float, Callable[[Function, V], V]] = {
    0.0: lambda f, x: f.const(x.type, 1.0),
    1.0: lambda f, x: x,
    2.0: lambda f, x: f.fmul(x, x),
    3.0: lambda f, x: f.fmul(f.fmul(x, x), x),
    -1.0: lambda f, x: f.fdiv(f.const(x.type, 1.0), x),
}


def power(f: Function, dtype: DType, a: Element, b: Element) -> Element:
    """A constant exponent for which one or two roundings do is multiplied out."""
    simple = None if b.number is None else _POWERS.get(b.number)
    if simple:
        return narrow(f, simple(f, widen(f, a)), dtype)
    return narrow(f, maths.call(f, "power", widen(f, a), widen(f, b)), dtype)


# --- numbers of other dtypes beside -------------------------------------------------------------


def ldexp(f: Function, dtype: DType, x: Element, exponent: Element) -> Element:
    return narrow(f, maths.call(f, "ldexp", widen(f, x), exponent.value), dtype)


def frexp(f: Function, dtype: DType, x: Element) -> tuple[Element, Element]:
    """The mantissa in x's dtype and the exponent as int32; 0, infinity and NaN have exponent 0."""
    mantissa, exponent = maths.frexp(f, widen(f, x))
    return narrow(f, mantissa, x.dtype), Element(np.dtype(np.int32), (exponent,))


# --- neighbours, in 16 bits ---------------------------------------------------------------------


def _bits(f: Function, x: Element) -> V:
    return x.value if x.dtype == bfloat16 else f.convert("bitcast", x.value, I16.of(x.lanes))


def _from_bits(f: Function, bits: V, dtype: DType) -> Element:
    value = bits if dtype == bfloat16 else f.convert("bitcast", bits, F16.of(bits.type.lanes))
    return Element(dtype, (value,))


def _next_small(f: Function, dtype: DType, a: Element, b: Element) -> Element:
    """The number after `a` towards `b`: one more or less in the bits, which count magnitudes."""
    x, y = _bits(f, a), _bits(f, b)
    one, none = f.const(x.type, 1), f.const(x.type, 0)
    sign, magnitude = f.const(x.type, -_SIGN), f.const(x.type, _SIGN - 1)
    wide = widen(f, a), widen(f, b)
    outwards = f.icmp("eq", f.fcmp("olt", *wide), f.icmp("sge", x, none))
    step = f.select(outwards, one, f.const(x.type, -1))
    smallest = f.or_(f.and_(y, sign), one)
    moved = f.select(f.icmp("eq", f.and_(x, magnitude), none), smallest, f.add(x, step))
    stays = x if dtype == FLOAT16 else y
    result = f.select(f.fcmp("oeq", *wide), stays, moved)
    nan = f.const(x.type, _INFINITY[dtype] | 0x40 | 0x200)
    return _from_bits(f, f.select(f.fcmp("uno", *wide), nan, result), dtype)


def _spacing_small(f: Function, dtype: DType, x: Element) -> Element:
    """float16: up to the next larger number; bfloat16: to the next away from zero."""
    away = f.const(I16.of(x.lanes), _INFINITY[dtype])
    if dtype == bfloat16:
        away = f.or_(away, f.and_(_bits(f, x), f.const(away.type, -_SIGN)))
    following = _next_small(f, dtype, x, _from_bits(f, away, dtype))
    wide = widen(f, x)
    distance = f.fsub(widen(f, following), wide)
    finite = f.fcmp("olt", f.intrinsic("fabs", wide), f.const(wide.type, float("inf")))
    return narrow(f, f.select(finite, distance, f.const(wide.type, float("nan"))), dtype)


def _sign_bfloat16(f: Function, x: V) -> V:
    """Keeps the sign of zero, which NumPy's own sign drops."""
    result = maths.call(f, "sign", x)
    return f.select(f.fcmp("oeq", x, f.const(x.type, 0.0)), x, result)


# --- the table ----------------------------------------------------------------------------------

_BY_NAME = (
    "exp exp2 expm1 log log2 log10 log1p sqrt cbrt logaddexp logaddexp2 sin cos tan arcsin arccos "
    "arctan arctan2 hypot sinh cosh tanh arcsinh arccosh arctanh deg2rad rad2deg floor ceil trunc "
    "rint copysign heaviside floor_divide remainder fmod erf erfc"
)


def _one_over(f: Function, x: V) -> V:
    return f.fdiv(f.const(x.type, 1.0), x)


FLOATS: dict[str, Rule] = {
    # An op that `maths` has no function for (yet) is left out; the engine runs it on the host.
    **{name: function(name) for name in _BY_NAME.split() if name in maths.FUNCTIONS},
    "add": in_float(Function.fadd),
    "subtract": in_float(Function.fsub),
    "multiply": in_float(Function.fmul),
    "divide": in_float(Function.fdiv),
    "negative": in_float(Function.fneg),
    "absolute": in_float(lambda f, x: f.intrinsic("fabs", x)),
    "fabs": in_float(lambda f, x: f.intrinsic("fabs", x)),
    "square": in_float(lambda f, x: f.fmul(x, x)),
    "reciprocal": in_float(_one_over),
    "power": power,
    "float_power": power,
    "ldexp": ldexp,
    "frexp": frexp,
    "sign": _bfloat16_or(in_float(_sign_bfloat16), function("sign")),
    "nextafter": _small_or(_next_small, function("nextafter")),
    "spacing": _small_or(_spacing_small, function("spacing")),
    "maximum": _small_or(extreme_of_small(True, False), function("maximum")),
    "minimum": _small_or(extreme_of_small(False, False), function("minimum")),
    "fmax": _small_or(extreme_of_small(True, True), function("fmax")),
    "fmin": _small_or(extreme_of_small(False, True), function("fmin")),
}
