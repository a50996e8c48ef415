"""Functions of Python's math: the value in line; where it is not finite, Python says what is wrong.

math_call(sqrt(x), x)   ->   y = sqrt(x)
                             if y is nan and x is not, or y is infinite and x is not: raise
"""

from __future__ import annotations

from graphify.engines.native.loops.program import BOOL, Apply, Expr
from graphify.engines.native.lower.checks import both, either
from graphify.engines.native.lower.effects import complain, negated
from graphify.engines.native.lower.lowering import Declined, Lowering, rule
from graphify.ir.graph import Node, Value
from graphify.ir.types import is_float
from graphify.ops.library import EXACT


@rule("math_call")
def _math_call(low: Lowering, node: Node) -> None:
    value, *args = node.inputs
    name = node.attrs["function"].partition(".")[2]
    if value.spec.shape or not is_float(value.spec.dtype) or name in EXACT or not name:
        raise Declined
    result = low.scalar(value)
    numbers = [low.scalar(arg) for arg in args if is_float(arg.spec.dtype)]
    fine: Expr = Apply("isfinite", (result,), BOOL)
    for number in numbers:  # what is not finite may come from what is not
        fine = either(fine, both(_nan(result), _nan(number)))
        fine = either(fine, both(_infinite(result), _infinite(number)))
    complain(low, node, fine)
    low.define(Value(node), result)


def _nan(x: Expr) -> Expr:
    return Apply("isnan", (x,), BOOL)


def _infinite(x: Expr) -> Expr:
    return both(negated(_nan(x)), negated(Apply("isfinite", (x,), BOOL)))
