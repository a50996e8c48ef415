"""Mantissa and exponent of floats, and the bits of integers.

ldexp(frame, x, k)    # x * 2 ** k without overflow on the way
"""

from __future__ import annotations

from typing import Any

from graphify.engines.tensorflow.frame import Frame
from graphify.engines.tensorflow.kernels.casting import cast_to, nonzero
from graphify.engines.tensorflow.kernels.elementwise import bits, choose
from graphify.engines.tensorflow.kernels.table import kernel

LARGEST = 1000  # 2 ** 1000 and 2 ** -1000 are doubles
BIAS, WIDTH, FRACTION = 1022, 52, (1 << 52) - 1  # of a double whose mantissa is in [0.5, 1)


@kernel("ldexp")
def ldexp(frame: Frame, x: Any, k: Any) -> Any:
    tf, raw = frame.tf, frame.raw
    y, left = cast_to(frame, x, tf.float64), cast_to(frame, k, tf.int64)
    for _ in range(3):  # from the smallest double to the largest takes about 2100
        part = raw.Maximum(
            x=raw.Minimum(x=left, y=frame.like(LARGEST, left)), y=frame.like(-LARGEST, left)
        )
        y, left = y * raw.Pow(x=frame.like(2, y), y=cast_to(frame, part, tf.float64)), left - part
    return cast_to(frame, y, x.dtype)


@kernel("frexp")
def frexp(frame: Frame, x: Any) -> list[Any]:
    tf, raw = frame.tf, frame.raw
    wide = cast_to(frame, x, tf.float64)
    tiny = raw.Abs(x=wide) < frame.constant(2.0**-1022, tf.float64)  # subnormal: lift it first
    lifted = choose(frame, tiny, wide * frame.constant(2.0**54, tf.float64), wide)
    whole = bits(frame, lifted)
    shift = frame.constant(WIDTH, tf.int64)
    field = raw.BitwiseAnd(x=raw.RightShift(x=whole, y=shift), y=frame.constant(0x7FF, tf.int64))
    exponent = field - choose(frame, tiny, frame.constant(BIAS + 54, tf.int64), BIAS)
    kept = raw.BitwiseAnd(x=whole, y=frame.constant(FRACTION - (1 << 63), tf.int64))
    mantissa = raw.Bitcast(
        input=raw.BitwiseOr(x=kept, y=frame.constant(BIAS << WIDTH, tf.int64)), type=tf.float64
    )
    plain = raw.LogicalAnd(x=nonzero(frame, wide), y=raw.IsFinite(x=wide))
    exponent = choose(frame, plain, exponent, 0)
    return [
        cast_to(frame, choose(frame, plain, mantissa, wide), x.dtype),
        cast_to(frame, exponent, tf.int32),
    ]


@kernel("bitwise_count")
def bitwise_count(frame: Frame, x: Any) -> Any:
    return frame.raw.PopulationCount(x=x if x.dtype.is_unsigned else frame.raw.Abs(x=x))
