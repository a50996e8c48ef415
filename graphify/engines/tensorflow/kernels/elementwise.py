"""Elementwise ops on real and complex numbers, NaN and all."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from graphify.engines.tensorflow.frame import Frame
from graphify.engines.tensorflow.kernels.casting import (
    cast_to,
    imaginary_part,
    nonzero,
    real_part,
    widened,
)
from graphify.engines.tensorflow.kernels.table import KERNELS, kernel

# --- one kernel of TensorFlow's each --------------------------------------------------------------

_UNARY = {
    "exp": "Exp", "expm1": "Expm1", "log": "Log", "sqrt": "Sqrt", "sin": "Sin",
    "cos": "Cos", "tan": "Tan", "asin": "Asin", "acos": "Acos", "atan": "Atan", "sinh": "Sinh",
    "cosh": "Cosh", "tanh": "Tanh", "asinh": "Asinh", "acosh": "Acosh", "atanh": "Atanh",
    "erf": "Erf", "erfc": "Erfc",
}  # fmt: skip


def _unary(op: str) -> Callable[..., Any]:
    return lambda frame, x: getattr(frame.raw, op)(x=x)


for _name, _op in _UNARY.items():
    KERNELS["math." + _name] = _unary(_op)


def _by_parts(frame: Frame, x: Any, function: Callable[[Any], Any]) -> Any:
    """A function of the real and of the imaginary part."""
    re, im = (function(part) for part in (real_part(frame, x), imaginary_part(frame, x)))
    return frame.raw.Complex(real=re, imag=im, Tout=x.dtype)


def _integers_stay(op: str) -> Callable[..., Any]:
    def rounding(frame: Frame, x: Any) -> Any:
        if x.dtype.is_complex:
            return _by_parts(frame, x, lambda part: getattr(frame.raw, op)(x=part))
        if not x.dtype.is_floating:
            return frame.raw.Identity(input=x)
        return widened(frame, lambda v: getattr(frame.raw, op)(x=v), x)

    return rounding


for _name, _op in {"math.floor": "Floor", "math.ceil": "Ceil", "math.rint": "Rint"}.items():
    KERNELS[_name] = _integers_stay(_op)


def choose(frame: Frame, condition: Any, yes: Any, no: Any) -> Any:
    """Elements of `yes` where true, of `no` elsewhere; numbers take the dtype of the other."""
    if not hasattr(yes, "dtype"):
        yes = frame.like(yes, no)
    if not hasattr(no, "dtype"):
        no = frame.like(no, yes)
    return frame.raw.SelectV2(condition=condition, t=yes, e=no)


def with_nan(frame: Frame, a: Any, b: Any, y: Any) -> Any:
    """`y`, and NaN where an operand is NaN."""
    return choose(frame, is_nan(frame, a), a, choose(frame, is_nan(frame, b), b, y))


def is_nan(frame: Frame, x: Any) -> Any:
    """NaN in either part of a complex number; never for integers."""
    if x.dtype.is_complex:
        parts = (real_part(frame, x), imaginary_part(frame, x))
        return frame.raw.LogicalOr(x=frame.raw.IsNan(x=parts[0]), y=frame.raw.IsNan(x=parts[1]))
    if x.dtype.is_floating:
        return frame.raw.IsNan(x=x)
    return frame.raw.NotEqual(x=x, y=x)


# --- arithmetic -----------------------------------------------------------------------------------


@kernel("math.add", "add")
def add(frame: Frame, a: Any, b: Any) -> Any:
    return frame.raw.LogicalOr(x=a, y=b) if a.dtype.is_bool else frame.raw.AddV2(x=a, y=b)


@kernel("math.subtract", "subtract")
def subtract(frame: Frame, a: Any, b: Any) -> Any:
    return frame.raw.Sub(x=a, y=b)


@kernel("math.multiply", "multiply")
def multiply(frame: Frame, a: Any, b: Any) -> Any:
    return frame.raw.LogicalAnd(x=a, y=b) if a.dtype.is_bool else frame.raw.Mul(x=a, y=b)


@kernel("divide", "math.divide")
def divide(frame: Frame, a: Any, b: Any) -> Any:
    return _divide_complex(frame, a, b) if a.dtype.is_complex else frame.raw.RealDiv(x=a, y=b)


def _divide_complex(frame: Frame, a: Any, b: Any) -> Any:
    """Smith's algorithm, as NumPy has it (numpy/_core/src/umath/loops.c.src, divide)."""
    (ar, ai), (br, bi) = ((real_part(frame, x), imaginary_part(frame, x)) for x in (a, b))
    size_r, size_i = frame.raw.Abs(x=br), frame.raw.Abs(x=bi)
    by_real = size_r >= size_i
    zero = frame.raw.LogicalAnd(
        x=frame.raw.Equal(x=size_r, y=frame.like(0, br)),
        y=frame.raw.Equal(x=size_i, y=frame.like(0, br)),
    )
    high, low = choose(frame, by_real, br, bi), choose(frame, by_real, bi, br)
    ratio = low / high
    scale = frame.like(1, br) / (high + low * ratio)
    re = choose(frame, by_real, ar + ai * ratio, ar * ratio + ai) * scale
    im = choose(frame, by_real, ai - ar * ratio, ai * ratio - ar) * scale
    re, im = choose(frame, zero, ar / size_r, re), choose(frame, zero, ai / size_r, im)
    return frame.raw.Complex(real=re, imag=im, Tout=a.dtype)


@kernel("math.negative", "negative")
def negative(frame: Frame, x: Any) -> Any:
    if x.dtype.is_integer and x.dtype.is_unsigned:
        # NOTE: not 0 - x, which TensorFlow's optimiser turns into a Neg that it does not have.
        return frame.raw.AddV2(x=frame.raw.Invert(x=x), y=frame.like(1, x))
    return frame.raw.Neg(x=x)


@kernel("math.square", "square")
def square(frame: Frame, x: Any) -> Any:
    return multiply(frame, x, x)


@kernel("reciprocal", "math.reciprocal")
def reciprocal(frame: Frame, x: Any) -> Any:
    if x.dtype.is_integer:
        one = frame.constant(1.0, frame.tf.float64)
        return cast_to(frame, one / cast_to(frame, x, frame.tf.float64), x.dtype)
    return divide(frame, frame.like(1, x), x)


@kernel("math.log1p")
def log1p(frame: Frame, x: Any) -> Any:
    if not x.dtype.is_complex:
        return frame.raw.Log1p(x=x)
    re, im = real_part(frame, x) + frame.like(1, real_part(frame, x)), imaginary_part(frame, x)
    size, angle = frame.raw.Log(x=hypot(frame, re, im)), frame.raw.Atan2(y=im, x=re)
    return frame.raw.Complex(real=size, imag=angle, Tout=x.dtype)


@kernel("math.abs", "abs", "fabs", "absolute")
def absolute(frame: Frame, x: Any) -> Any:
    if x.dtype.is_complex:
        return frame.raw.ComplexAbs(x=x, Tout=x.dtype.real_dtype)
    if x.dtype.is_bool or x.dtype.is_unsigned:
        return frame.raw.Identity(input=x)
    return frame.raw.Abs(x=x)


@kernel("math.sign", "sign")
def sign(frame: Frame, x: Any) -> Any:
    if x.dtype.is_integer and x.dtype.is_unsigned:
        return cast_to(frame, nonzero(frame, x), x.dtype)
    if x.dtype.is_complex:
        return _complex_sign(frame, x)
    y = frame.raw.Sign(x=x)
    return y if x.dtype.is_integer else choose(frame, is_nan(frame, x), x, y)


def _complex_sign(frame: Frame, x: Any) -> Any:
    """x / |x|; of one infinite part, the direction of that part."""
    re, im = real_part(frame, x), imaginary_part(frame, x)
    size = hypot(frame, re, im)
    infinite = frame.raw.IsInf(x=size)
    parts = []
    for part, other in ((re, im), (im, re)):
        ratio = part / choose(frame, nonzero(frame, size), size, 1)
        axis = choose(frame, frame.raw.IsInf(x=part), frame.raw.Sign(x=part), 0)
        both = frame.raw.LogicalAnd(x=frame.raw.IsInf(x=part), y=frame.raw.IsInf(x=other))
        parts.append(choose(frame, infinite, choose(frame, both, math.nan, axis), ratio))
    re, im = (choose(frame, is_nan(frame, size), math.nan, part) for part in parts)
    return frame.raw.Complex(real=re, imag=im, Tout=x.dtype)


@kernel("heaviside")
def heaviside(frame: Frame, x: Any, h: Any) -> Any:
    y = choose(frame, x > frame.like(0, x), 1, choose(frame, x < frame.like(0, x), 0, h))
    return choose(frame, is_nan(frame, x), x, y)


@kernel("math.conj", "conjugate")
def conjugate(frame: Frame, x: Any) -> Any:
    return frame.raw.Conj(input=x) if x.dtype.is_complex else frame.raw.Identity(input=x)


# --- division with remainder, of floats (integers: kernels/integers.py) ---------------------------


def fmod_float(frame: Frame, a: Any, b: Any) -> Any:
    return widened(frame, lambda x, y: frame.raw.TruncateMod(x=x, y=y), a, b)


def remainder_float(frame: Frame, a: Any, b: Any) -> Any:
    """Source: npy_divmod in numpy/_core/src/npymath/npy_math_internal.h.src."""
    zero = frame.like(0, a)
    rest = fmod_float(frame, a, b)
    other_sign = frame.raw.LogicalAnd(
        x=nonzero(frame, rest), y=frame.raw.NotEqual(x=b < zero, y=rest < zero)
    )
    y = choose(
        frame,
        other_sign,
        rest + b,
        choose(frame, nonzero(frame, rest), rest, copysign(frame, zero, b)),
    )
    return choose(frame, nonzero(frame, b), y, rest)


def floor_divide_float(frame: Frame, a: Any, b: Any) -> Any:
    """Source: as remainder_float. Unlike floor(a / b), 1 // 0.1 is 9, as 1 % 0.1 wants it."""
    quotient = frame.raw.RealDiv(x=a, y=b)
    rest = fmod_float(frame, a, b)
    zero = frame.like(0, a)
    other_sign = frame.raw.LogicalAnd(
        x=nonzero(frame, rest), y=frame.raw.NotEqual(x=b < zero, y=rest < zero)
    )
    exact = (a - rest) / b
    exact = choose(frame, other_sign, exact - frame.like(1, a), exact)
    floor = frame.raw.Floor(x=exact)
    floor = choose(frame, exact - floor > frame.like(0.5, a), floor + frame.like(1, a), floor)
    y = choose(frame, nonzero(frame, exact), floor, copysign(frame, zero, quotient))
    return choose(frame, nonzero(frame, b), y, quotient)


# --- exponentials and logarithms ------------------------------------------------------------------


@kernel("exp2", "math.exp2")
def exp2(frame: Frame, x: Any) -> Any:
    if x.dtype.is_complex:
        scaled = _by_parts(frame, x, lambda part: part * frame.like(math.log(2), part))
        return frame.raw.Exp(x=scaled)
    return frame.raw.Pow(x=frame.like(2, x), y=x)


def _logarithm(base: float) -> Callable[..., Any]:
    """log(x) / log(base), made exact where x is a power of the base."""

    def kernel_(frame: Frame, x: Any) -> Any:
        def compute(v: Any) -> Any:
            y = frame.raw.Log(x=v)
            if v.dtype.is_complex:  # part by part: a complex product makes NaN of infinities
                return _by_parts(frame, y, lambda p: p * frame.like(1 / math.log(base), p))
            y = y * frame.like(1 / math.log(base), v)
            whole = frame.raw.Rint(x=y)
            hit = frame.raw.Equal(x=frame.raw.Pow(x=frame.like(base, v), y=whole), y=v)
            return choose(frame, hit, whole, y)

        return widened(frame, compute, x)

    return kernel_


KERNELS["log2"] = KERNELS["math.log2"] = _logarithm(2.0)
KERNELS["log10"] = KERNELS["math.log10"] = _logarithm(10.0)


@kernel("cbrt", "math.cbrt")
def cbrt(frame: Frame, x: Any) -> Any:
    def compute(v: Any) -> Any:
        size = frame.raw.Abs(x=v)
        y = frame.raw.Pow(x=size, y=frame.like(1 / 3, v))
        whole = frame.raw.Rint(x=y)
        y = choose(frame, frame.raw.Equal(x=whole * whole * whole, y=size), whole, y)
        return copysign(frame, y, v)

    return widened(frame, compute, x)


@kernel("logaddexp", "math.logaddexp")
def logaddexp(frame: Frame, a: Any, b: Any) -> Any:
    gap = frame.raw.Abs(x=a - b)
    y = frame.raw.Maximum(x=a, y=b) + frame.raw.Log1p(x=frame.raw.Exp(x=-gap))
    y = choose(frame, frame.raw.Equal(x=a, y=b), a + frame.like(math.log(2), a), y)
    return with_nan(frame, a, b, y)


@kernel("logaddexp2", "math.logaddexp2")
def logaddexp2(frame: Frame, a: Any, b: Any) -> Any:
    gap = frame.raw.Abs(x=a - b)
    tail = frame.raw.Log1p(x=exp2(frame, -gap)) * frame.like(1 / math.log(2), a)
    y = frame.raw.Maximum(x=a, y=b) + tail
    y = choose(frame, frame.raw.Equal(x=a, y=b), a + frame.like(1, a), y)
    return with_nan(frame, a, b, y)


@kernel("math.pow", "power_float")
def power_float(frame: Frame, a: Any, b: Any) -> Any:
    y = frame.raw.Pow(x=a, y=b)
    if a.dtype.is_complex:  # std::pow gives NaN for 0 ** 0
        y = choose(frame, frame.raw.Equal(x=b, y=frame.like(0, b)), 1, y)
        y = choose(frame, frame.raw.Equal(x=b, y=frame.like(1, b)), a, y)
    return y


# --- trigonometry ---------------------------------------------------------------------------------


@kernel("math.atan2", "arctan2")
def arctan2(frame: Frame, a: Any, b: Any) -> Any:
    return frame.raw.Atan2(y=a, x=b)


@kernel("hypot", "math.hypot")
def hypot(frame: Frame, a: Any, b: Any) -> Any:
    a, b = frame.raw.Abs(x=a), frame.raw.Abs(x=b)
    high, low = frame.raw.Maximum(x=a, y=b), frame.raw.Minimum(x=a, y=b)
    ratio = low / choose(frame, nonzero(frame, high), high, 1)  # in [0, 1]: squares do not overflow
    y = high * frame.raw.Sqrt(x=frame.like(1, a) + ratio * ratio)
    infinite = frame.raw.LogicalOr(x=frame.raw.IsInf(x=a), y=frame.raw.IsInf(x=b))
    return choose(frame, infinite, math.inf, with_nan(frame, a, b, y))


@kernel("deg2rad")
def deg2rad(frame: Frame, x: Any) -> Any:
    return x * frame.like(math.pi / 180, x)


@kernel("rad2deg")
def rad2deg(frame: Frame, x: Any) -> Any:
    return x * frame.like(180 / math.pi, x)


# --- rounding and parts of floats -----------------------------------------------------------------


@kernel("trunc", "math.trunc")
def trunc(frame: Frame, x: Any) -> Any:
    if not x.dtype.is_floating:
        return frame.raw.Identity(input=x)
    return choose(frame, x < frame.like(0, x), frame.raw.Ceil(x=x), frame.raw.Floor(x=x))


def bits(frame: Frame, x: Any) -> Any:
    """The bits of floats as integers of that size."""
    tf = frame.tf
    of_size = {2: tf.int16, 4: tf.int32, 8: tf.int64}
    return frame.raw.Bitcast(input=x, type=of_size[x.dtype.size])


@kernel("signbit", "math.signbit")
def signbit(frame: Frame, x: Any) -> Any:
    if x.dtype.is_floating:
        x = bits(frame, x)
    if x.dtype.is_bool or x.dtype.is_unsigned:
        return frame.raw.NotEqual(x=x, y=x)
    return x < frame.like(0, x)


@kernel("copysign", "math.copysign")
def copysign(frame: Frame, a: Any, b: Any) -> Any:
    size = frame.raw.Abs(x=a)
    return choose(frame, signbit(frame, b), frame.raw.Neg(x=size), size)


@kernel("nextafter", "math.nextafter")
def nextafter(frame: Frame, a: Any, b: Any) -> Any:
    if a.dtype in (frame.tf.float32, frame.tf.float64):
        return frame.raw.NextAfter(x1=a, x2=b)
    whole = bits(frame, a)  # neighbours of one sign are neighbours as integers, too
    one = frame.like(1, whole)
    up = frame.raw.Equal(x=b > a, y=a > frame.like(0, a))
    moved = frame.raw.Bitcast(input=choose(frame, up, whole + one, whole - one), type=a.dtype)
    smallest = frame.raw.Bitcast(
        input=frame.raw.BroadcastTo(input=one, shape=frame.shape(frame.shape_of(whole))),
        type=a.dtype,
    )
    y = choose(frame, nonzero(frame, a), moved, copysign(frame, smallest, b))
    y = choose(frame, frame.raw.Equal(x=a, y=b), b, y)
    return with_nan(frame, a, b, y)


@kernel("spacing")
def spacing(frame: Frame, x: Any) -> Any:
    infinity = frame.like(math.inf, x)
    # Of float16 NumPy always takes the neighbour above, of the others the one away from zero.
    towards = infinity if x.dtype == frame.tf.float16 else copysign(frame, infinity, x)
    gap = nextafter(frame, x, towards) - x
    return choose(frame, frame.raw.IsInf(x=x), math.nan, gap)
