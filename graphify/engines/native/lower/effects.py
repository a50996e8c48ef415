"""Checks and exceptions: a test in line, the reference meaning where it fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

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
from graphify.engines.native.lower.host import Host, Ordered, operands
from graphify.engines.native.lower.lowering import Declined, Lowering, rule
from graphify.errors import InternalError
from graphify.ir.graph import Node, Value, attr_sizes

MOST = 8  # values that a failure can keep


def complain(low: Lowering, node: Node, unless: Expr) -> None:
    """Unless the condition holds, do what the node's meaning does: raise."""
    if any(True for _ in attr_sizes(node.attrs)):
        raise Declined
    if len(node.inputs) <= MOST and not any(
        value.spec.shape or value.spec.dtype.kind == "c" for value in node.inputs
    ):
        scalars = [low.scalar(value) for value in node.inputs]
        low.fail(negated(unless), RuntimeError, "", *scalars, raiser=Meaning(node))
        return
    inputs, scalars, described = operands(low, node.inputs)
    host = Host(node, tuple(described), ())
    low.hosts.append(Ordered(host, node))
    attrs = {"number": len(low.hosts) - 1}
    call = Call("host", (), tuple(inputs), tuple(scalars), (), attrs, 0, node.source)
    low.emit(If(negated(unless), (call,), (), node.source))


def negated(condition: Expr) -> Expr:
    match condition:
        case Const(value):
            return Const(not value, BOOL)
        case Apply("logical_not", (inner,)):
            return inner
    return Apply("logical_not", (condition,), BOOL)


@dataclass(frozen=True, slots=True)
class Meaning:
    """Raises what the node's reference meaning raises for numbers that a failure has kept."""

    node: Node

    def __call__(self, values: Sequence[Any]) -> BaseException:
        pairs = zip(values, self.node.inputs, strict=True)
        arrays = [np.asarray(number, value.spec.dtype) for number, value in pairs]
        try:
            Host(self.node, (), ()).call(arrays)
        except Exception as error:  # noqa: BLE001  # the exception is the answer
            return error
        return InternalError(f"native code: {self.node.op.name} failed for {values}")


@rule("raise")
def _raise(low: Lowering, node: Node) -> None:
    if any(value.spec.shape for value in node.inputs):
        raise Declined
    complain(low, node, Const(False, BOOL))


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
    complain(low, node, compare("not_equal", x, Const(0, x.dtype)))
    low.define(Value(node), x)
