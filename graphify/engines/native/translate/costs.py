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
    Const,
    Expr,
    For,
    If,
    Load,
    Section,
    Sections,
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
TURNS = 16  # of a `while`, for all we know
# Picoseconds of library functions: for each element of an array that is sorted, and of LAPACK's
# routines for each of the m * n * min(m, n) steps that they take some of.
SORTED = 10_000
LAPACK = {
    "potrf": 20,
    "getrf": 40,
    "gesv": 40,
    "geqrf": 60,
    "orgqr": 60,
    "ungqr": 60,
    "gelsd": 300,
    "syevd": 300,
    "heevd": 500,
    "gesdd": 500,
    "geev": 1000,
}


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
        case While(test, _, body):
            turn = work((*test, *body), sight, lanes)
            some = index(0) if isinstance(turn, Const) else times(turn, index(TURNS))
            return plus(some, index(UNKNOWN))
        case Section(inner) | Sections(inner):
            return work(inner, sight, lanes)
        case If(_, then, orelse):
            return plus(work(then, sight, lanes), work(orelse, sight, lanes))
        case Call():
            return plus(_call(stmt, sight), index(UNKNOWN))
    operation = OPERATION if lanes == 1 else max(1, IN_LANES // lanes)
    return index(weight_of_block((stmt,)) * operation + _accesses(stmt) * ACCESS)


def _call(stmt: Call, sight: Sight) -> Expr:
    """The picoseconds of a function of the library, as far as its operands tell."""
    if not stmt.outputs:
        return index(0)
    dims = [sight.extent(d) for d in stmt.outputs[0].shape]
    if stmt.function == "library":
        total: Expr = index(SORTED)
        for dim in dims:
            total = times(total, dim)
        return total
    if stmt.function == "lapack" and len(dims) == 2:
        least = dims[0] if dims[0] == dims[1] else Apply("minimum", (dims[0], dims[1]), INDEX)
        rate = LAPACK.get(stmt.attrs["routine"][1:], 0)
        return times(times(times(dims[0], dims[1]), least), index(rate))
    return index(0)


def _accesses(stmt: Stmt) -> int:
    """How many elements a statement reads and writes."""
    found = isinstance(stmt, Store)
    return found + sum(isinstance(p, Load) for e in expressions_of(stmt) for p in parts(e))
