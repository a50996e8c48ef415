"""Checks that hand on their operand: a test of all elements in line, the reference meaning where it
fails, which knows what to say.

    at_least_zero(counts)   ->   holds = true
                                 for i in n: holds = holds and not counts[i] < 0
                                 if not holds: host(at_least_zero, counts)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from graphify.engines.native.loops.program import (
    BOOL,
    INDEX,
    Apply,
    Const,
    Expr,
    Reduce,
    compare,
)
from graphify.engines.native.lower.arrays import ArrayValue
from graphify.engines.native.lower.effects import complain, negated
from graphify.engines.native.lower.elementwise import broadcast_shape, cast, spread
from graphify.engines.native.lower.lowering import Declined, Lowering, rule
from graphify.ir.graph import Node, Value
from graphify.ir.types import is_complex, is_integer

FLOAT64 = np.dtype(np.float64)
_LIMIT = 2.0**63  # int64 ends here

Test = Callable[..., Expr]


def both(a: Expr, b: Expr) -> Expr:
    return Apply("logical_and", (a, b), BOOL)


def either(a: Expr, b: Expr) -> Expr:
    return Apply("logical_or", (a, b), BOOL)


def every(low: Lowering, node: Node, arrays: Sequence[ArrayValue], test: Test) -> Expr:
    """Whether a test holds for all elements of operands, broadcast against each other."""
    shape = broadcast_shape(low, node, arrays)
    arrays = [spread(low, array, shape) for array in arrays]
    if not shape:
        return test(*(a.at(()) for a in arrays))
    holds = low.variable("holds", Const(True, BOOL))
    with low.loops(shape, "reduce") as at:
        low.emit(Reduce(holds, "logical_and", test(*(a.at(at) for a in arrays)), node.source))
    return holds


def _operands(low: Lowering, node: Node) -> list[ArrayValue]:
    return [low.array(value) for value in node.inputs]


@rule("at_least_zero")
def _at_least_zero(low: Lowering, node: Node) -> None:
    (value,) = node.inputs
    dtype = value.spec.dtype
    if not is_integer(dtype) and dtype != BOOL:
        raise Declined
    if dtype.kind == "i":
        zero = Const(0, dtype)
        complain(
            low,
            node,
            every(low, node, _operands(low, node), lambda x: compare("greater_equal", x, zero)),
        )
    low.define(Value(node), low.frame.values[value])


@rule("not_all")
def _not_all(low: Lowering, node: Node) -> None:
    (value,) = node.inputs
    if value.spec.dtype != BOOL:
        raise Declined
    complain(low, node, every(low, node, _operands(low, node), negated))
    array = low.array(value)
    low.fill(Value(node), array.shape, lambda at: negated(array.at(at)))


@rule("in_range")
def _in_range(low: Lowering, node: Node) -> None:
    """NaN is in every range, as it is for the reference."""
    complain(
        low,
        node,
        every(
            low,
            node,
            _operands(low, node),
            lambda x, first, end: negated(
                either(compare("less", x, first), compare("greater_equal", x, end))
            ),
        ),
    )
    low.define(Value(node), low.frame.values[node.inputs[0]])


_COMPARISONS = {"none_equal": "not_equal"}


@rule("check")
def _check(low: Lowering, node: Node) -> None:
    name = node.attrs["comparison"]
    op = _COMPARISONS.get(name, name)
    complain(
        low, node, every(low, node, _operands(low, node), lambda x, y: Apply(op, (x, y), BOOL))
    )


@rule("to_int")
def _to_int(low: Lowering, node: Node) -> None:
    (value,) = node.inputs
    dtype = value.spec.dtype
    if is_complex(dtype) or dtype == np.uint64:
        raise Declined
    if not is_integer(dtype) and dtype != BOOL:
        complain(low, node, every(low, node, _operands(low, node), _fits))
    array = low.array(value)
    low.fill(Value(node), array.shape, lambda at: cast(array.at(at), INDEX))


def _fits(x: Expr) -> Expr:
    """Whether a float is a number that fits into int64 when it is truncated."""
    wide = cast(x, FLOAT64)
    return both(
        compare("greater_equal", wide, Const(-_LIMIT, FLOAT64)),
        compare("less", wide, Const(_LIMIT, FLOAT64)),
    )
