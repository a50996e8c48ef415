"""What code costs, roughly: weights of operations, in simple vector instructions.

Decides how often a short body is repeated, and from which extent on a loop is worth sharing between
threads. Not meant to be exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

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
    Store,
    While,
    index,
    plus,
    times,
)
from graphify.engines.native.loops.walk import blocks_of, expressions_of, parts

WEIGHTS = {
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
# Picoseconds, measured on a CPU of 4 GHz: an operation, one for all lanes of a vector, an element
# from or to the second cache, the start of a loop, and what is not known.
OPERATION, IN_LANES, ACCESS, LOOP, UNKNOWN = 250, 100, 20, 5_000, 1_000_000


def weight(expr: Expr) -> int:
    """The weight of one evaluation."""
    total, stack = 0, [expr]
    while stack:
        e = stack.pop()
        if isinstance(e, Apply):
            total += WEIGHTS.get(e.op, 1) * (4 if e.dtype.kind == "c" else 1)
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


@dataclass(frozen=True, slots=True)
class Sight:
    """What is known where the cost of a block is asked for.

    Attributes:
        extent: gives for an extent one that can be computed there.
        lanes: the lanes of a vector loop.
    """

    extent: Callable[[Expr], Expr]
    lanes: Callable[[For], int]


def work(block: Block, sight: Sight, lanes: int = 1) -> Expr:
    """The picoseconds that a block takes, in the sizes it depends on.

    Args:
        lanes: in how many lanes the block runs.
    """
    total: Expr = index(0)
    for stmt in block:
        total = plus(total, _work(stmt, sight, lanes))
    return total


def _work(stmt: Stmt, sight: Sight, lanes: int) -> Expr:
    match stmt:
        case For(_, extent, body, kind):
            inside = sight.lanes(stmt) if kind == "vector" else lanes
            turns = times(sight.extent(extent), work(body, sight, inside))
            return plus(turns, index(LOOP))
        case While():
            return index(UNKNOWN)
        case If(_, then, orelse):
            return plus(work(then, sight, lanes), work(orelse, sight, lanes))
        case Call():
            return index(UNKNOWN)
    operation = OPERATION if lanes == 1 else max(1, IN_LANES // lanes)
    return index(weight_of_block((stmt,)) * operation + _accesses(stmt) * ACCESS)


def _accesses(stmt: Stmt) -> int:
    """How many elements a statement reads and writes."""
    found = isinstance(stmt, Store)
    return found + sum(isinstance(p, Load) for e in expressions_of(stmt) for p in parts(e))
