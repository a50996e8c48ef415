"""Recursive functions of scalars: functions of the machine code, which call themselves.

    r = recursive_call(n, function=@fib)

    routine fib(depth, n):        # once, however often and wherever it is called
        ...
    call routine 0(0, n) -> r

A function that needs memory, or Python, is left to its reference meaning; so is any where Python
itself allows calls nested deeper than the stack of a thread is sure to hold.
"""

from __future__ import annotations

from typing import cast

from graphify.engines.native.loops.numbers import zero
from graphify.engines.native.loops.program import (
    INDEX,
    Block,
    Call,
    Checked,
    Expr,
    Fail,
    If,
    Let,
    Note,
    Routine,
    Set,
    Var,
    While,
    compare,
    index,
    plus,
)
from graphify.engines.native.loops.walk import statements
from graphify.engines.native.lower.lowering import Declined, Lowering, rule
from graphify.ir.function import GraphFunction
from graphify.ir.graph import Graph, Node
from graphify.optimise.pipeline import optimise
from graphify.tracing.recursion import users_limit

DEEPEST = 2000  # calls inside each other
LARGEST = 200  # statements: what they keep on the stack, each call keeps
_PLAIN = (Let, Checked, Set, If, While, Fail, Note)


@rule("recursive_call")
def _recursive_call(low: Lowering, node: Node) -> None:
    values = (*node.inputs, *node.outputs)
    limit = users_limit()
    if limit > DEEPEST or any(value.spec.shape for value in values):
        raise Declined
    function: GraphFunction = node.attrs["function"]
    number = low.routine_numbers.get(function)
    if number is None:
        number = _routine(low, function)
    text = f"maximum recursion depth exceeded in {function.name}"
    low.fail(compare("greater_equal", low.depth, index(limit)), RecursionError, text)
    scalars: list[Expr] = [plus(low.depth, index(1)), *map(low.scalar, node.inputs)]
    results = [low.variable(low.hint, zero(value.spec.dtype)) for value in node.outputs]
    attrs = {"number": number}
    low.emit(Call("routine", (), (), tuple(scalars), tuple(results), attrs, 0, node.source))
    for value, var in zip(node.outputs, results, strict=True):
        low.define(value, var)


def _routine(low: Lowering, function: GraphFunction) -> int:
    """Lower a function; its number among the routines of the program.

    Raises:
        Declined: it is not a matter of scalars alone.
    """
    number, numbers, depth = len(low.routines), dict(low.routine_numbers), low.depth
    low.routines.append(None)
    low.routine_numbers[function] = number
    params = [Var(v.node.attrs.get("name") or "x", v.spec.dtype) for v in _graph(function).params]
    low.depth = Var("depth", INDEX)
    try:
        with low.inside() as block:
            found = low.run(_graph(function), params, {})
            results = [low.variable("r", zero(spec.dtype)) for spec in function.results]
            for var, result in zip(results, found, strict=True):
                low.emit(Set(var, cast(Expr, result)))  # a scalar
        _check_plain(tuple(block))
        routine = Routine(function.name, (low.depth, *params), tuple(results), tuple(block))
    except Declined:
        del low.routines[number:]
        low.routine_numbers = numbers
        raise
    finally:
        low.depth = depth
    low.routines[number] = routine
    return number


def _graph(function: GraphFunction) -> Graph:
    """The function's graph, optimised as that of a program is."""
    known = function.notes.get("optimised")
    if known is None:
        known = function.notes["optimised"] = optimise(function.graph).graph
    return known


def _check_plain(block: Block) -> None:
    found = list(statements(block))
    if len(found) > LARGEST:
        raise Declined
    for stmt in found:
        is_call = isinstance(stmt, Call) and stmt.function == "routine"
        if not is_call and not isinstance(stmt, _PLAIN):
            raise Declined
