"""Conversions between dtypes, as ndarray.astype does them; and computing in a wider dtype.

widened(frame, frame.raw.Neg, x)     # for a dtype that the TensorFlow kernel lacks
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphify.engines.tensorflow.frame import Frame
from graphify.engines.tensorflow.kernels.table import kernel


def cast_to(frame: Frame, x: Any, dtype: Any) -> Any:
    """`x` in another dtype, with NumPy's (that is, x86's) answers where a value does not fit."""
    tf = frame.tf
    target = tf.as_dtype(dtype)
    if x.dtype == target:
        return x
    if target.is_bool:
        return nonzero(frame, x)
    if x.dtype.is_complex and not target.is_complex:
        x = real_part(frame, x)
    if x.dtype.is_floating and target.is_integer:
        return _float_to_integer(frame, x, target)
    return frame.raw.Cast(x=x, DstT=target)


def _float_to_integer(frame: Frame, x: Any, target: Any) -> Any:
    """C's conversion on x86: through a wider signed integer, of which the low bits are kept."""
    tf, raw = frame.tf, frame.raw
    if x.dtype not in (tf.float32, tf.float64):
        x = raw.Cast(x=x, DstT=tf.float32)
        if target == tf.uint32:
            return raw.Cast(x=raw.Cast(x=x, DstT=tf.int64), DstT=target)
    if target in (tf.int32, tf.int64):
        return raw.Cast(x=x, DstT=target)
    if target in (tf.uint32, tf.uint64):
        return _float_to_unsigned(frame, x, target)
    return raw.Cast(x=raw.Cast(x=x, DstT=tf.int32), DstT=target)


def _float_to_unsigned(frame: Frame, x: Any, target: Any) -> Any:
    """The upper half of the range is moved down, converted as signed, and moved up again."""
    raw = frame.raw
    width = target.size * 8
    signed = getattr(frame.tf, f"int{width}")
    half = frame.like(2.0 ** (width - 1), x)
    large = x >= half
    low = raw.Cast(x=raw.SelectV2(condition=large, t=x - half, e=x), DstT=signed)
    zero, top = (frame.constant(n, signed) for n in (0, -(2 ** (width - 1))))
    moved = raw.BitwiseXor(x=low, y=raw.SelectV2(condition=large, t=top, e=zero))
    return raw.Bitcast(input=moved, type=target)


def nonzero(frame: Frame, x: Any) -> Any:
    """Where x is not zero; NaN is not zero."""
    if x.dtype.is_bool:
        return x
    return frame.raw.NotEqual(x=x, y=frame.like(0, x))


def real_part(frame: Frame, x: Any) -> Any:
    return frame.raw.Real(input=x, Tout=x.dtype.real_dtype) if x.dtype.is_complex else x


def imaginary_part(frame: Frame, x: Any) -> Any:
    if not x.dtype.is_complex:
        return frame.raw.ZerosLike(x=x)
    return frame.raw.Imag(input=x, Tout=x.dtype.real_dtype)


def wider(frame: Frame, dtype: Any) -> Any:
    """The dtype to compute in for kernels that have only the usual ones.

    Integer results are cut back to the narrow dtype's bits, so sums and products wrap around as
    NumPy's do, int64 standing in for uint64.
    """
    tf = frame.tf
    if dtype in (tf.float16, tf.bfloat16):
        return tf.float32
    if dtype.is_bool or dtype in (tf.int8, tf.uint8, tf.int16, tf.uint16):
        return tf.int32
    return tf.int64 if dtype in (tf.uint32, tf.uint64) else dtype


def widened(frame: Frame, function: Callable[..., Any], *operands: Any, **attrs: Any) -> Any:
    """`function` computed in the wider dtype, the result in the operands' own."""
    dtype = operands[0].dtype
    wide = wider(frame, dtype)
    y = function(*(cast_to(frame, x, wide) for x in operands), **attrs)
    return cast_to(frame, y, dtype)


@kernel("cast")
def cast(frame: Frame, x: Any, dtype: Any, weak: bool = False) -> Any:
    return cast_to(frame, x, dtype)


@kernel("math.real", "real")
def real(frame: Frame, x: Any) -> Any:
    return real_part(frame, x)


@kernel("imag", "math.imag")
def imag(frame: Frame, x: Any) -> Any:
    return imaginary_part(frame, x)


@kernel("complex")
def complex_(frame: Frame, re: Any, im: Any) -> Any:
    tf = frame.tf
    dtype = tf.complex64 if re.dtype == tf.float32 else tf.complex128
    return frame.raw.Complex(real=re, imag=im, Tout=dtype)


@kernel("identity", "stop_gradient", "copy")
def identity(frame: Frame, x: Any, **attrs: Any) -> Any:
    return frame.raw.Identity(input=x)
