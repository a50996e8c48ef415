"""What code costs, roughly: weights of operations, in simple vector instructions.

Decides how often a short body is repeated, and from which extent on a loop is worth sharing between
threads. Not meant to be exact.
"""

from __future__ import annotations

from collections.abc import Callable

from graphify.engines.native.loops.program import (
    INDEX,
    Apply,
    Block,
    Call,
    Expr,
    For,
    If,
    Load,
    Stmt,
    While,
    index,
    plus,
    times,
)
from graphify.engines.native.loops.walk import blocks_of, expressions_of

_WEIGHTS = {
    **dict.fromkeys(
        ["exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "tanh", "sin", "cos", "sigmoid"],
        20,
    ),
    **dict.fromkeys(
        ["tan", "sinh", "cosh", "arcsin", "arccos", "arctan", "arctan2", "cbrt", "logaddexp"], 35
    ),
    **dict.fromkeys(
        ["arcsinh", "arccosh", "arctanh", "hypot", "power", "float_power", "logaddexp2"], 50
    ),
    **dict.fromkeys(["divide", "sqrt", "reciprocal"], 5),
    **dict.fromkeys(["floor_divide", "remainder", "fmod", "gcd", "lcm"], 20),
}
NANOSECOND = 8  # weight of what takes about a nanosecond in scalar code


def weight(expr: Expr) -> int:
    """The weight of one evaluation."""
    total, stack = 0, [expr]
    while stack:
        e = stack.pop()
        if isinstance(e, Apply):
            total += _WEIGHTS.get(e.op, 1) * (4 if e.dtype.kind == "c" else 1)
            stack += e.args
        elif isinstance(e, Load):
            total += 1 if all(i.dtype == INDEX for i in e.index) else 2
    return total


def weight_of_block(block: Block) -> int:
    """The weight of straight-line statements."""
    return sum(1 + sum(map(weight, expressions_of(stmt))) for stmt in block)


def size(block: Block) -> int:
    """How much code a block is: statements and operations in it, however often they run."""
    total, stack = 0, list(block)
    while stack:
        stmt = stack.pop()
        total += 1 + sum(map(weight, expressions_of(stmt)))
        for inner in blocks_of(stmt):
            stack += inner
    return total


def work(block: Block, visible: Callable[[Expr], Expr], lanes: int = 1) -> Expr:
    """The weight of running a block, in the sizes it depends on.

    Args:
        visible: gives for an extent one that may be asked for where the weight is wanted.
    """
    total: Expr = index(0)
    for stmt in block:
        total = plus(total, _work(stmt, visible, lanes))
    return total


def _work(stmt: Stmt, visible: Callable[[Expr], Expr], lanes: int) -> Expr:
    match stmt:
        case For(_, extent, body, kind):
            return times(visible(extent), work(body, visible, 8 if kind == "vector" else lanes))
        case While():
            return index(1000)
        case If(_, then, orelse):
            return plus(work(then, visible, lanes), work(orelse, visible, lanes))
        case Call():
            return index(10000)
    return index(max(1, 2 * weight_of_block((stmt,)) // lanes))
