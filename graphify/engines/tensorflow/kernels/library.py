"""Functions of Python's math: TensorFlow's value, and a check that says what Python would.

What TensorFlow cannot compute as Python does runs in this process, by its reference meaning.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphify.engines.tensorflow.frame import Frame
from graphify.engines.tensorflow.kernels.checks import all_true
from graphify.engines.tensorflow.kernels.host import call_host
from graphify.engines.tensorflow.kernels.table import kernel
from graphify.ir.op import Op
from graphify.ops import library as ops


@kernel("math_call")
def math_call(frame: Frame, value: Any, *args: Any, function: str) -> Any:
    name = function.partition(".")[2]
    if not value.dtype.is_floating or name in ops.EXACT or not name:
        return _by_meaning(ops.math_call, frame, value.dtype, value, *args, function=function)
    raw = frame.raw

    def given(test: Any) -> Any:
        """Where an argument is nan, or infinite, the value may be."""
        found = raw.IsFinite(x=frame.like(0, value))
        found = raw.LogicalNot(x=found)
        for arg in args:
            if arg.dtype.is_floating:
                found = raw.LogicalOr(x=found, y=test(x=arg))
        return found

    def fine(test: Any) -> Any:
        return all_true(frame, raw.LogicalOr(x=raw.LogicalNot(x=test(x=value)), y=given(test)))

    error = (ValueError, "domain") if name in ops.POLES else (OverflowError, "range")
    return frame.after(
        value,
        frame.check(fine(raw.IsNan), ValueError, "math domain error"),
        frame.check(fine(raw.IsInf), error[0], f"math {error[1]} error"),
    )


@kernel("integer_call")
def integer_call(frame: Frame, *args: Any, function: str) -> Any:
    return _by_meaning(ops.integer_call, frame, frame.tf.int64, *args, function=function)


@kernel("fsum")
def fsum(frame: Frame, x: Any) -> Any:
    return _by_meaning(ops.fsum, frame, x.dtype, x)


def _by_meaning(op: Op, frame: Frame, dtype: Any, *args: Any, **attrs: Any) -> Any:
    meaning: Callable[..., Any] | None = op.eval
    assert meaning is not None
    return call_host(frame, lambda *arrays: meaning(*arrays, **attrs), args, dtype)


@kernel("python_argsort")
def python_argsort(frame: Frame, *keys: Any, reverse: bool) -> Any:
    return _by_meaning(ops.python_argsort, frame, frame.tf.int64, *keys, reverse=reverse)
