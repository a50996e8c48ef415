"""Ops that give back their operand, or fail."""

from __future__ import annotations

import re
from typing import Any

from graphify.engines.tensorflow.frame import Frame
from graphify.engines.tensorflow.kernels.casting import cast_to, nonzero
from graphify.engines.tensorflow.kernels.table import kernel
from graphify.errors import IntegerOverflow
from graphify.ops.shape import RANGE_ERRORS


def all_axes(frame: Frame, x: Any) -> Any:
    return frame.constant(list(range(len(x.shape))), frame.tf.int32)


def all_true(frame: Frame, condition: Any) -> Any:
    return frame.raw.All(input=nonzero(frame, condition), axis=all_axes(frame, condition))


def first_false(frame: Frame, x: Any, good: Any) -> Any:
    """The first element of `x` where `good` is false (any number if there is none)."""
    raw = frame.raw
    minus, axis = frame.constant([-1], frame.tf.int32), frame.constant(0, frame.tf.int32)
    zero, one = frame.constant([0], frame.tf.int64), frame.constant([True])
    flat = [raw.Reshape(tensor=x, shape=minus), cast_to(frame, zero, x.dtype)]
    marks = raw.ConcatV2(values=[raw.Reshape(tensor=good, shape=minus), one], axis=axis)
    first = raw.ArgMin(input=raw.Cast(x=marks, DstT=frame.tf.int32), dimension=axis)
    return raw.GatherV2(params=raw.ConcatV2(values=flat, axis=axis), indices=first, axis=axis)


@kernel("nonzero_divisor")
def nonzero_divisor(frame: Frame, x: Any, message: str = "division by zero") -> Any:
    return frame.after(x, frame.check(all_true(frame, x), ZeroDivisionError, message))


@kernel("at_least_zero")
def at_least_zero(frame: Frame, x: Any) -> Any:
    holds = all_true(frame, x >= frame.like(0, x))
    text = "'list' argument must have no negative elements"
    return frame.after(x, frame.check(holds, ValueError, text))


@kernel("in_range")
def in_range(frame: Frame, x: Any, low: Any, high: Any, error: str, message: str) -> Any:
    low, high = (cast_to(frame, bound, x.dtype) for bound in (low, high))
    good = frame.raw.LogicalAnd(x=x >= low, y=x < high)
    values = {"bad": first_false(frame, x, good), "high": high}
    text = re.sub(r"\{\w+\}", "{}", message)
    named = [values[name] for name in re.findall(r"\{(\w+)\}", message)]
    return frame.after(x, frame.check(all_true(frame, good), RANGE_ERRORS[error], text, *named))


@kernel("to_int")
def to_int(frame: Frame, x: Any) -> Any:
    """int(x) of a scalar, or of every number of a batch."""
    if not x.dtype.is_floating:
        return cast_to(frame, x, frame.tf.int64)
    raw = frame.raw

    def check(good: Any, kind: type[BaseException], text: str, *values: Any) -> Any:
        return frame.check(all_true(frame, good), kind, text, *values)

    number = check(
        raw.LogicalNot(x=raw.IsNan(x=x)), ValueError, "cannot convert float NaN to integer"
    )
    finite = check(
        raw.LogicalNot(x=raw.IsInf(x=x)), OverflowError, "cannot convert float infinity to integer"
    )
    bound = frame.like(2.0**63, x)
    inside = raw.LogicalOr(
        x=raw.LogicalAnd(x=x >= -bound, y=x < bound), y=raw.LogicalNot(x=raw.IsFinite(x=x))
    )
    bad = first_false(frame, x, inside)
    text = "the Python integer int({}) does not fit into 64 bits"
    return frame.after(
        cast_to(frame, x, frame.tf.int64), number, finite, check(inside, IntegerOverflow, text, bad)
    )


@kernel("not_all")
def not_all(frame: Frame, x: Any) -> Any:
    good = frame.raw.LogicalNot(x=nonzero(frame, x))
    check = frame.check(all_true(frame, good), ValueError, "All-NaN slice encountered")
    return frame.after(good, check)
