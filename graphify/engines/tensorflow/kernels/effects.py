"""Print, raise, assert, check.

While graphify runs a graph itself, they call back into Python, so that text goes to sys.stdout as
NumPy prints it and exceptions are the very objects the user wrote. In a graph that is to be
written out (`unit.portable`) they are PrintV2 and Assert, which any TensorFlow runs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from graphify.engines.tensorflow.frame import Frame
from graphify.engines.tensorflow.kernels.checks import all_true
from graphify.engines.tensorflow.kernels.host import call_host
from graphify.engines.tensorflow.kernels.table import KERNELS, kernel
from graphify.errors import InvalidArgumentError
from graphify.ir.op import Op
from graphify.ops import effects as ops
from graphify.ops.warn import warn as warning


def _unless(frame: Frame, holds: Any, function: Callable[..., Any], values: Sequence[Any]) -> Any:
    """Call a Python function only where `holds` is false."""
    dtypes, shapes = [v.dtype for v in values], [v.shape for v in values]

    def fail(inside: Frame, *arrays: Any) -> list[Any]:
        inside.ran(call_host(inside, function, arrays))
        return []

    nothing, _ = frame.unit.define(lambda inside, *arrays: [], dtypes, shapes, frame)
    raising, _ = frame.unit.define(fail, dtypes, shapes, frame)
    return frame.branch(holds, nothing, raising, values, ([], [], True))


def _evaluate(op: Op, *arrays: Any, **attrs: Any) -> None:
    """Run an op's own meaning, for its effect."""
    assert op.eval is not None
    op.eval(*arrays, **attrs)


# --- print ----------------------------------------------------------------------------------------


@kernel("print")
def print_(frame: Frame, *values: Any, text: ops.Text, end: str, stream: str) -> None:
    if not frame.unit.portable:
        write = functools.partial(_evaluate, ops.print_, text=text, end=end, stream=stream)
        frame.ran(call_host(frame, write, values))
        return
    gap = _placeholder(text)
    template = text.separator.join(
        piece if isinstance(piece, str) else gap for piece in text.pieces
    )
    line = frame.constant(template)
    if values:
        line = frame.raw.StringFormat(
            inputs=list(values), template=template, placeholder=gap, summarize=3
        )
    frame.ran(frame.raw.PrintV2(input=line, output_stream=stream, end=end))


def _placeholder(text: ops.Text) -> str:
    """A mark for values that no piece of the text contains."""
    mark = "{}"
    while any(mark in piece for piece in (*text.pieces, text.separator) if isinstance(piece, str)):
        mark = f"{{{mark}}}"
    return mark


@kernel("numpy_assert")
def numpy_assert(frame: Frame, *values: Any, **attrs: Any) -> None:
    frame.ran(call_host(frame, functools.partial(_evaluate, ops.numpy_assert, **attrs), values))


@kernel("warn")
def warn(frame: Frame, *values: Any, text: ops.Text, **attrs: Any) -> None:
    if frame.unit.portable:
        print_(frame, *values, text=text, end="\n", stream="stderr")
        return
    frame.ran(call_host(frame, functools.partial(_evaluate, warning, text=text, **attrs), values))


# --- raise and assert -----------------------------------------------------------------------------


def _fail_with(exception: ops.Raise) -> Callable[..., Any]:
    def fail(*arrays: Any) -> None:
        raise exception.build(arrays)

    return fail


def _described(exception: ops.Raise) -> str:
    """The message of an exception, `{}` for run-time values."""
    parts = []
    for arg in exception.args:
        if isinstance(arg, ops.Gap):
            parts.append("{}")
        elif isinstance(arg, ops.Text):
            parts.append(arg.separator.join(p if isinstance(p, str) else "{}" for p in arg.pieces))
        else:
            parts.append(str(arg))
    return ", ".join(parts)


@kernel("raise")
def raise_(frame: Frame, *values: Any, exception: ops.Raise) -> None:
    if frame.unit.portable:
        text = _described(exception)
        values = values[: len(values) - exception.lanes]
        frame.ran(frame.check(frame.constant(False), exception.kind, text, *values))
    else:
        frame.ran(call_host(frame, _fail_with(exception), values))


@kernel("assert")
def assert_(frame: Frame, condition: Any, *values: Any, exception: ops.Raise) -> None:
    holds = all_true(frame, condition)
    if frame.unit.portable:
        values = values[: len(values) - exception.lanes]
        frame.ran(frame.check(holds, exception.kind, _described(exception), *values))
    else:
        frame.ran(_unless(frame, holds, _fail_with(exception), values))


_KERNEL_OF = {
    "equal": "equal", "none_equal": "not_equal", "greater": "greater", "less": "less",
    "greater_equal": "greater_equal", "less_equal": "less_equal",
}  # fmt: skip


@kernel("check")
def check(frame: Frame, x: Any, y: Any, comparison: str, message: str) -> None:
    holds = all_true(frame, KERNELS[_KERNEL_OF[comparison]](frame, x, y))
    if frame.unit.portable:
        head = f"{message}: " if message else ""
        text = f"{head}assert_{comparison}: got x = {{}}, y = {{}}"
        frame.ran(frame.check(holds, InvalidArgumentError, text, x, y))
    else:
        again = functools.partial(_evaluate, ops.check, comparison=comparison, message=message)
        frame.ran(_unless(frame, holds, again, (x, y)))
