"""Arithmetic of traced Python numbers: what does not fit into 64 bits is an IntegerOverflow.

    add(frame, a, b)      # a + b, which fails where NumPy's would wrap around

These stand in for the kernels of the same ops where the result is a Python number; what they mean
is written down in graphify/ops/python_numbers.py. The checks are part of the graph, so that an
exported one fails as well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphify.engines.tensorflow.frame import Frame
from graphify.engines.tensorflow.kernels.casting import nonzero
from graphify.engines.tensorflow.kernels.checks import all_true
from graphify.engines.tensorflow.kernels.elementwise import choose
from graphify.engines.tensorflow.kernels.table import KERNELS, python_kernel
from graphify.errors import IntegerOverflow

LOW = -(2**63)
Fits = Callable[..., Any]  # (frame, y, *operands): where the wrapped `y` is the exact result


def _checked(name: str, text: str) -> Callable[[Fits], Fits]:
    """Register the kernel `name` followed by a check of its result."""

    def register(fits: Fits) -> Fits:
        @python_kernel(name)
        def kernel_(frame: Frame, *operands: Any) -> Any:
            y = KERNELS[name](frame, *operands)
            if operands[0].dtype != frame.tf.int64:
                return y
            return _after_fit(frame, y, fits(frame, y, *operands), text, operands)

        return fits

    return register


def _after_fit(frame: Frame, y: Any, fits: Any, text: str, operands: Any) -> Any:
    if len(fits.shape):  # batched: it would take a search to find which one it is
        message = "a Python integer does not fit into 64 bits"
        return frame.after(y, frame.check(all_true(frame, fits), IntegerOverflow, message))
    message = f"the Python integer {text} does not fit into the 64 bits of a traced one"
    return frame.after(y, frame.check(fits, IntegerOverflow, message, *operands))


def _demand(frame: Frame, x: Any, good: Any, met: Any, kind: type[BaseException], text: str) -> Any:
    """`x` once `good` holds wherever an element meets one of `met`."""
    met_by = frame.raw.LogicalOr(x=good, y=frame.raw.NotEqual(x=met, y=met))
    return frame.after(x, frame.check(all_true(frame, met_by), kind, text))


# --- integers -------------------------------------------------------------------------------------


def _not_both(frame: Frame, a: Any, b: Any) -> Any:
    """Where not both are negative."""
    return frame.raw.BitwiseAnd(x=a, y=b) >= frame.like(0, a)


def _xor(frame: Frame, a: Any, b: Any) -> Any:
    return frame.raw.BitwiseXor(x=a, y=b)


@_checked("add", "{} + {}")
def _sum_fits(frame: Frame, y: Any, a: Any, b: Any) -> Any:
    """The sign of a sum that wraps is that of neither operand."""
    return _not_both(frame, _xor(frame, a, y), _xor(frame, b, y))


@_checked("subtract", "{} - {}")
def _difference_fits(frame: Frame, y: Any, a: Any, b: Any) -> Any:
    return _not_both(frame, _xor(frame, a, b), _xor(frame, a, y))


@_checked("multiply", "{} * {}")
def _product_fits(frame: Frame, y: Any, a: Any, b: Any) -> Any:
    """What wraps is off by 2**64 or more, which no division by `a` takes back to `b`."""
    raw = frame.raw
    zero, one = frame.like(0, a), frame.like(1, a)
    minus = raw.Equal(x=a, y=-one)  # the least integer divided by it would fault
    plain = raw.LogicalAnd(x=nonzero(frame, a), y=raw.LogicalNot(x=minus))
    quotient = raw.FloorDiv(x=y, y=choose(frame, plain, a, one))
    divides = raw.Equal(x=quotient, y=b)
    of_minus = raw.NotEqual(x=b, y=frame.like(LOW, b))
    return choose(frame, plain, divides, raw.LogicalOr(x=raw.Equal(x=a, y=zero), y=of_minus))


@_checked("negative", "-{}")
def _negative_fits(frame: Frame, y: Any, x: Any) -> Any:
    return frame.raw.NotEqual(x=x, y=frame.like(LOW, x))


@_checked("absolute", "abs({})")
def _absolute_fits(frame: Frame, y: Any, x: Any) -> Any:
    return frame.raw.NotEqual(x=x, y=frame.like(LOW, x))


@python_kernel("floor_divide")
def floor_divide(frame: Frame, a: Any, b: Any) -> Any:
    divide = KERNELS["floor_divide"]
    if a.dtype != frame.tf.int64:
        return divide(frame, a, b)
    text = "integer division or modulo by zero"
    b = _demand(frame, b, nonzero(frame, b), a, ZeroDivisionError, text)
    fits = frame.raw.LogicalOr(
        x=frame.raw.NotEqual(x=a, y=frame.like(LOW, a)),
        y=frame.raw.NotEqual(x=b, y=frame.like(-1, b)),
    )
    return _after_fit(frame, divide(frame, a, b), fits, "{} // {}", (a, b))


def _shift_count(frame: Frame, a: Any, b: Any) -> Any:
    return _demand(frame, b, b >= frame.like(0, b), a, ValueError, "negative shift count")


@python_kernel("left_shift")
def left_shift(frame: Frame, a: Any, b: Any) -> Any:
    """It fits if the shift back gives the operand; past the width, only zero does."""
    if a.dtype != frame.tf.int64:
        return KERNELS["left_shift"](frame, a, b)
    b = _shift_count(frame, a, b)
    y = KERNELS["left_shift"](frame, a, b)
    back = KERNELS["right_shift"](frame, y, b)
    return _after_fit(frame, y, frame.raw.Equal(x=back, y=a), "{} << {}", (a, b))


@python_kernel("right_shift")
def right_shift(frame: Frame, a: Any, b: Any) -> Any:
    if a.dtype == frame.tf.int64:
        b = _shift_count(frame, a, b)
    return KERNELS["right_shift"](frame, a, b)


# --- powers ---------------------------------------------------------------------------------------


@python_kernel("power")
def power(frame: Frame, a: Any, b: Any) -> Any:
    y = KERNELS["power"](frame, a, b)
    if a.dtype == frame.tf.int64:
        return _after_fit(frame, y, _power_fits(frame, y, a, b), "{} ** {}", (a, b))
    if a.dtype == frame.tf.float64 and not len(a.shape) and not len(b.shape):
        return _float_power(frame, y, a, b)
    return y


def _power_fits(frame: Frame, y: Any, a: Any, b: Any) -> Any:
    """Near the power of doubles: what wraps is off by 2**64 or more."""
    raw, f64 = frame.raw, frame.tf.float64
    near, wide = raw.Pow(x=raw.Cast(x=a, DstT=f64), y=raw.Cast(x=b, DstT=f64)), frame.like
    off = raw.Abs(x=raw.Cast(x=y, DstT=f64) - near)
    size = raw.Abs(x=near)
    close = raw.LogicalAnd(
        x=off <= size * frame.constant(1e-9, f64), y=size < frame.constant(2.0**65, f64)
    )
    # 0, 1 and -1 stay what they are; doubles forget whether a large exponent is even.
    small = raw.LogicalAnd(x=a <= wide(1, a), y=a >= wide(-1, a))
    return raw.LogicalOr(x=small, y=close)


def _float_power(frame: Frame, y: Any, a: Any, b: Any) -> Any:
    """Source: float_pow in Objects/floatobject.c of CPython."""
    raw = frame.raw
    zero = frame.like(0, a)
    finite = raw.LogicalAnd(x=raw.IsFinite(x=a), y=raw.IsFinite(x=b))

    def never(*conditions: Any) -> Any:
        bad = finite
        for condition in conditions:
            bad = raw.LogicalAnd(x=bad, y=condition)
        return raw.LogicalNot(x=bad)

    pole = never(raw.Equal(x=a, y=zero), b < zero)
    fraction = raw.NotEqual(x=b, y=raw.Floor(x=b))
    large = never(raw.IsInf(x=y), raw.NotEqual(x=a, y=zero))
    text = "{} ** {} is complex in Python, where a float is staged"
    return frame.after(
        y,
        frame.check(pole, ZeroDivisionError, "zero to a negative power"),
        frame.check(never(a < zero, fraction), ValueError, text, a, b),
        frame.check(large, OverflowError, "Numerical result out of range"),
    )
