"""Integer arithmetic with NumPy's answers: x // 0 is 0, shifts past the width, powers that wrap."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphify.engines.tensorflow.frame import Frame
from graphify.engines.tensorflow.kernels.casting import cast_to, nonzero
from graphify.engines.tensorflow.kernels.checks import all_axes, all_true
from graphify.engines.tensorflow.kernels.elementwise import (
    absolute,
    choose,
    floor_divide_float,
    fmod_float,
    negative,
    power_float,
    remainder_float,
)
from graphify.engines.tensorflow.kernels.table import KERNELS, kernel

# --- division -------------------------------------------------------------------------------------


def _safe_divisor(frame: Frame, b: Any) -> Any:
    """`b` with 1 for 0 and for -1, which fault: the one always, the other for the least integer."""
    b = choose(frame, nonzero(frame, b), b, 1)
    return (
        b if b.dtype.is_unsigned else choose(frame, frame.raw.Equal(x=b, y=frame.like(-1, b)), 1, b)
    )


@kernel("floor_divide", "math.floordiv")
def floor_divide(frame: Frame, a: Any, b: Any) -> Any:
    if a.dtype.is_floating:
        return floor_divide_float(frame, a, b)
    if a.dtype.is_bool:
        a, b = (cast_to(frame, x, frame.tf.int8) for x in (a, b))
    y = frame.raw.FloorDiv(x=a, y=_safe_divisor(frame, b))
    if not a.dtype.is_unsigned:
        y = choose(frame, frame.raw.Equal(x=b, y=frame.like(-1, b)), negative(frame, a), y)
    return choose(frame, nonzero(frame, b), y, 0)


@kernel("remainder", "math.floormod")
def remainder(frame: Frame, a: Any, b: Any) -> Any:
    if a.dtype.is_floating:
        return remainder_float(frame, a, b)
    if a.dtype.is_bool:
        a, b = (cast_to(frame, x, frame.tf.int8) for x in (a, b))
    return frame.raw.FloorMod(x=a, y=_safe_divisor(frame, b))


@kernel("fmod")
def fmod(frame: Frame, a: Any, b: Any) -> Any:
    if a.dtype.is_floating:
        return fmod_float(frame, a, b)
    rest = remainder(frame, a, b)
    if a.dtype.is_unsigned or a.dtype.is_bool:
        return rest
    other_sign = frame.raw.NotEqual(x=a < frame.like(0, a), y=b < frame.like(0, b))
    return choose(frame, frame.raw.LogicalAnd(x=nonzero(frame, rest), y=other_sign), rest - b, rest)


# --- powers ---------------------------------------------------------------------------------------


@kernel("power")
def power(frame: Frame, a: Any, b: Any) -> Any:
    if not a.dtype.is_integer:
        return power_float(frame, a, b)
    tf = frame.tf
    dtype = a.dtype
    if not dtype.is_unsigned:
        # Of the broadcast operands: NumPy does not look at exponents that meet no base.
        met = frame.raw.LogicalOr(x=b >= frame.like(0, b), y=frame.raw.NotEqual(x=a, y=a))
        holds = all_true(frame, met)
        check = frame.check(
            holds, ValueError, "Integers to negative integer powers are not allowed."
        )
        b = frame.after(choose(frame, b < frame.like(0, b), 0, b), check)
    a, b = (frame.raw.Cast(x=x, DstT=tf.int64) for x in (a, b))
    if dtype == tf.uint64:  # exponents of 2**63 and more look negative: a ** 2**63 is 1 or 0
        huge = b < 0
        odd = nonzero(frame, frame.raw.BitwiseAnd(x=a, y=frame.like(1, a)))
        b = choose(frame, huge, frame.raw.BitwiseXor(x=b, y=frame.constant(-(2**63), tf.int64)), b)
        y = frame.raw.Pow(x=a, y=b)
        y = choose(frame, frame.raw.LogicalAnd(x=huge, y=frame.raw.LogicalNot(x=odd)), 0, y)
        return frame.raw.Cast(x=y, DstT=dtype)
    return frame.raw.Cast(x=frame.raw.Pow(x=a, y=b), DstT=dtype)


# --- bits -----------------------------------------------------------------------------------------


def _bitwise(of_bools: str, of_integers: str) -> Callable[..., Any]:
    def kernel_(frame: Frame, a: Any, b: Any) -> Any:
        return getattr(frame.raw, of_bools if a.dtype.is_bool else of_integers)(x=a, y=b)

    return kernel_


KERNELS["bitwise_and"] = _bitwise("LogicalAnd", "BitwiseAnd")
KERNELS["bitwise_or"] = _bitwise("LogicalOr", "BitwiseOr")
KERNELS["bitwise_xor"] = _bitwise("NotEqual", "BitwiseXor")


@kernel("invert")
def invert(frame: Frame, x: Any) -> Any:
    return frame.raw.LogicalNot(x=x) if x.dtype.is_bool else frame.raw.Invert(x=x)


def _in_width(frame: Frame, a: Any, b: Any) -> Any:
    """Where a shift is by fewer bits than there are, and not negative."""
    inside = b < frame.like(a.dtype.size * 8, b)
    if b.dtype.is_unsigned:
        return inside
    return frame.raw.LogicalAnd(x=inside, y=b >= frame.like(0, b))


@kernel("left_shift")
def left_shift(frame: Frame, a: Any, b: Any) -> Any:
    inside = _in_width(frame, a, b)
    y = frame.raw.LeftShift(x=a, y=choose(frame, inside, b, 0))
    return choose(frame, inside, y, 0)


@kernel("right_shift")
def right_shift(frame: Frame, a: Any, b: Any) -> Any:
    """Past the width nothing is left but the sign."""
    inside = _in_width(frame, a, b)
    y = frame.raw.RightShift(x=a, y=choose(frame, inside, b, 0))
    if a.dtype.is_unsigned:
        return choose(frame, inside, y, 0)
    return choose(
        frame, inside, y, choose(frame, a < frame.like(0, a), -1, frame.raw.ZerosLike(x=a))
    )


# --- gcd and lcm ----------------------------------------------------------------------------------


def _magnitude(frame: Frame, x: Any) -> Any:
    """|x| in the unsigned dtype, which holds that of the least integer, too."""
    unsigned = getattr(frame.tf, f"uint{x.dtype.size * 8}")
    return frame.raw.Cast(x=absolute(frame, x), DstT=unsigned)


def _euclid(frame: Frame, a: Any, b: Any) -> Any:
    """Euclid's algorithm on all elements at once, until every remainder is zero."""
    zeros = frame.raw.ZerosLike(x=a) + frame.raw.ZerosLike(x=b)
    a, b = a + zeros, b + zeros

    def go_on(inside: Frame, x: Any, y: Any) -> Any:
        return inside.raw.Any(input=nonzero(inside, y), axis=all_axes(inside, y))

    def step(inside: Frame, x: Any, y: Any) -> list[Any]:
        left = nonzero(inside, y)
        rest = remainder(inside, x, y)
        return [choose(inside, left, y, x), choose(inside, left, rest, 0)]

    return frame.repeat(go_on, step, [a, b])[0]


@kernel("gcd")
def gcd(frame: Frame, a: Any, b: Any) -> Any:
    dtype = a.dtype
    return frame.raw.Cast(x=_euclid(frame, _magnitude(frame, a), _magnitude(frame, b)), DstT=dtype)


@kernel("lcm")
def lcm(frame: Frame, a: Any, b: Any) -> Any:
    dtype = a.dtype
    a, b = _magnitude(frame, a), _magnitude(frame, b)
    multiple = floor_divide(frame, a, _euclid(frame, a, b)) * b
    return frame.raw.Cast(x=multiple, DstT=dtype)
