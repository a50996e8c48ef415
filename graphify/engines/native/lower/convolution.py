"""Convolutions and their two transposes: calls of the library's functions."""

from __future__ import annotations

from collections.abc import Sequence

from graphify.engines.native.loops.program import (
    INDEX,
    ONE,
    ZERO,
    Apply,
    Call,
    Const,
    Expr,
    compare,
    index,
    times,
)
from graphify.engines.native.lower.arrays import Index, whole
from graphify.engines.native.lower.lowering import Declined, Lowering, rule
from graphify.engines.native.products.interface import AXES
from graphify.errors import ShapeError
from graphify.ir.graph import Node, Value

_OPS = ("convolution", "convolution_input", "convolution_kernel")


@rule(*_OPS)
def _convolution(low: Lowering, node: Node) -> None:
    which, given, value = _OPS.index(node.op.name), node.attrs, Value(node)
    a, b = (low.array(operand) for operand in node.inputs)
    size, groups = low.dims(given["size"]), low.dim(given.get("groups", 1))
    if len(size) > AXES or a.dtype != b.dtype:
        raise Declined
    for length in size:
        _need(low, node, compare("less", length, ZERO), "a size of {} is negative", length)
    forward = which == 0
    if which == 2:  # b is y
        axes = [a.shape[1:-1], size, b.shape[1:-1]]
        channels, features = _part(low, a.shape[-1], groups), _part(low, b.shape[-1], groups)
        _equal(low, node, "samples of argument 2", b.shape[0], a.shape[0])
        shape: Index = (*size, channels, b.shape[-1])
    else:  # b is w
        axes = (
            [a.shape[1:-1], b.shape[:-2], size] if forward else [size, b.shape[:-2], a.shape[1:-1]]
        )
        channels, features = b.shape[-2], _part(low, b.shape[-1], groups)
        inputs = low.let(times(channels, groups), "inputs")
        if forward:
            _equal(low, node, "channels of the input", a.shape[-1], inputs)
        else:
            _equal(low, node, "channels of argument 1", a.shape[-1], b.shape[-1])
        shape = (a.shape[0], *size, b.shape[-1] if forward else inputs)
    left, right = low.contiguous(a), low.contiguous(b)
    lens = low.target(value, low.dims(node.specs[0].shape, shape))
    if not lens.is_whole or lens.buffer.strides is not None:
        lens = whole(low.buffer(a.dtype, lens.shape))
    words = [a.shape[0], groups, channels, features, *_geometry(low, node, axes)]
    scalars = tuple(low.let(word, "word") for word in words)
    attrs = {"which": which}
    arrays = ((lens.buffer,), (left, right))
    low.emit(Call("convolution", *arrays, scalars, (), attrs, 0, low.source))
    low.define(value, lens)


def _geometry(low: Lowering, node: Node, axes: Sequence[Sequence[Expr]]) -> list[Expr]:
    """Six words for each of the axes; missing ones have length one."""
    words = [
        *axes,
        [index(s) for s in node.attrs["strides"]],
        [index(d) for d in node.attrs["dilations"]],
        low.dims(node.attrs["padding"]),
    ]
    count = len(words[0])
    missing = [ONE, ONE, ONE, ONE, ONE, ZERO] * (AXES - count)
    return [*missing, *(word[axis] for axis in range(count) for word in words)]


def _part(low: Lowering, length: Expr, groups: Expr) -> Expr:
    """The channels of a group."""
    if groups == ONE:
        return length
    if isinstance(groups, Const) and isinstance(length, Const) and groups.value > 0:
        return index(length.value // groups.value)
    some = Apply("maximum", (groups, ONE), INDEX)
    return low.let(Apply("floor_divide", (length, some), INDEX), "part")


def _equal(low: Lowering, node: Node, what: str, got: Expr, want: Expr) -> None:
    if got != want:
        text = f"{what}: expected {{}}, got {{}}"
        _need(low, node, compare("not_equal", got, want), text, want, got)


def _need(low: Lowering, node: Node, wrong: Expr, text: str, *values: Expr) -> None:
    low.fail(wrong, ShapeError, f"{node.op.name}: {text}", *values)
