"""Checks and exceptions: a test in line, the reference meaning where it fails."""

from __future__ import annotations

import numpy as np

from graphify.engines.native.loops.program import (
    BOOL,
    Apply,
    Call,
    Const,
    Expr,
    If,
    Reduce,
    compare,
)
from graphify.engines.native.lower.host import Host, _Ordered, operands
from graphify.engines.native.lower.lowering import Declined, Lowering, rule
from graphify.ir.graph import Node, Value, attr_sizes


def complain(low: Lowering, node: Node, unless: Expr) -> None:
    """Unless the condition holds, run the node's meaning, which raises."""
    if any(True for _ in attr_sizes(node.attrs)):
        raise Declined
    inputs, scalars, described = operands(low, node.inputs)
    host = Host(node, tuple(described), ())
    low.hosts.append(_Ordered(host, node))
    attrs = {"number": len(low.hosts) - 1, "order": len(node.inputs)}
    call = Call("host", (), tuple(inputs), tuple(scalars), (), attrs, 0, node.source)
    low.emit(If(Apply("logical_not", (unless,), BOOL), (call,), (), node.source))


def _all(low: Lowering, node: Node, value: Value) -> Expr:
    array = low.array(value)
    if not array.shape:
        x = array.at(())
        return x if x.dtype == BOOL else compare("not_equal", x, Const(0, x.dtype))
    holds = low.variable("holds", Const(True, BOOL))
    with low.loops(array.shape, "reduce") as at:
        x = array.at(at)
        test = x if x.dtype == BOOL else Apply("cast", (x,), BOOL)
        low.emit(Reduce(holds, "logical_and", test, node.source))
    return holds


@rule("assert")
def _assert(low: Lowering, node: Node) -> None:
    complain(low, node, _all(low, node, node.inputs[0]))


@rule("nonzero_divisor")
def _nonzero_divisor(low: Lowering, node: Node) -> None:
    (value,) = node.inputs
    if value.spec.shape or value.spec.dtype.kind == "c":
        raise Declined
    x = low.scalar(value)
    _complain_here(low, node, compare("not_equal", x, Const(0, x.dtype)))
    low.define(Value(node), x)


def _complain_here(low: Lowering, node: Node, unless: Expr) -> None:
    """As `complain`, for a node that has a result."""
    inputs, scalars, described = operands(low, node.inputs)
    host = Host(node, tuple(described), tuple((s.dtype, s.ndim) for s in node.specs))
    low.hosts.append(_Ordered(host, node))
    attrs = {"number": len(low.hosts) - 1, "order": len(node.inputs)}
    results = tuple(low.variable("unused", _nothing(s.dtype)) for s in node.specs if not s.shape)
    call = Call("host", (), tuple(inputs), tuple(scalars), results, attrs, 0, node.source)
    low.emit(If(Apply("logical_not", (unless,), BOOL), (call,), (), node.source))


def _nothing(dtype: np.dtype) -> Const:
    return Const(dtype.type(0).item(), dtype)
