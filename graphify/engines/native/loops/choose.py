"""Small branches as choices: both sides are computed, one is taken. No jump to guess wrong.

    if c:                        a = x // 2
        k := x // 2              b = exactly 3 * x when not c
    else:                  ->    k := a if c else b
        b = exactly 3 * x
        k := b

Only cheap arithmetic of scalars in registers is computed in vain: no loads (an index may be in
range only where the condition holds), no calls, nothing that may fail but for exact arithmetic,
whose failure then counts only on the side that is taken.
"""

from __future__ import annotations

from dataclasses import replace

from graphify.engines.native.loops.program import (
    BOOL,
    Apply,
    Block,
    Checked,
    Expr,
    If,
    Let,
    Load,
    Note,
    Set,
    Stmt,
    Var,
)
from graphify.engines.native.loops.walk import (
    expressions_of,
    map_blocks,
    parts,
    statements,
)

LARGEST = 8  # statements of a branch
CHEAP = frozenset(
    """add subtract multiply negative absolute maximum minimum where cast equal not_equal less
    less_equal greater greater_equal logical_and logical_or logical_not logical_xor bitwise_and
    bitwise_or bitwise_xor invert left_shift right_shift isnan isinf isfinite square""".split()
)


def choose(block: Block) -> Block:
    """The block with its small branches turned into choices, in nested blocks too."""
    result: list[Stmt] = []
    for stmt in block:
        stmt = map_blocks(stmt, choose)
        if isinstance(stmt, If) and _cheap(stmt.then) and _cheap(stmt.orelse):
            result += _chosen(stmt)
        else:
            result.append(stmt)
    return tuple(result)


def _cheap(block: Block) -> bool:
    own = {s.var for s in block if isinstance(s, (Let, Checked))}
    changed: set[Var] = set()
    for stmt in block:
        match stmt:
            case Let(var):
                if var.mutable:
                    return False
            case Checked(op=op):
                if op not in CHEAP and not _simple_division(stmt):
                    return False
            case Set(var):
                if var in own or var in changed:
                    return False
                changed.add(var)
            case Note():
                continue
            case _:
                return False
        if not all(_light(e) for e in expressions_of(stmt)):
            return False
    read_after = {p for s in statements(block) for e in expressions_of(s) for p in parts(e)}
    return len(block) <= LARGEST and changed.isdisjoint(read_after)


def _light(expr: Expr) -> bool:
    return all(
        not isinstance(p, Load) and (not isinstance(p, Apply) or p.op in CHEAP or _by_constant(p))
        for p in parts(expr)
    )


def _by_constant(expr: Apply) -> bool:
    """Integer division by a known power of two is a shift."""
    if expr.op not in ("floor_divide", "remainder") or expr.dtype.kind not in "iu":
        return False
    value = getattr(expr.args[1], "value", 0)
    return isinstance(value, int) and value > 0 and value & (value - 1) == 0


def _simple_division(stmt: Checked) -> bool:
    return _by_constant(Apply(stmt.op, stmt.args, stmt.var.dtype))


def _chosen(stmt: If) -> list[Stmt]:
    """The statements of both sides, and the choices between what they set."""
    condition = stmt.condition
    otherwise = Apply("logical_not", (condition,), BOOL)
    result: list[Stmt] = []
    if not isinstance(condition, Var):
        name = Var("taken", BOOL)
        result.append(Let(name, condition, stmt.source))
        condition, otherwise = name, Apply("logical_not", (name,), BOOL)
    values: dict[Var, list[Expr]] = {}
    sides: list[tuple[Block, Expr]] = [(stmt.then, condition), (stmt.orelse, otherwise)]
    for side, (block, holds) in enumerate(sides):
        for inner in block:
            match inner:
                case Checked(when=when):
                    both = holds if when is None else Apply("logical_and", (holds, when), BOOL)
                    result.append(replace(inner, when=both))
                case Set(var, value):
                    values.setdefault(var, [var, var])[side] = value
                case _:
                    result.append(inner)
    settled = [
        (var, Apply("where", (condition, yes, no), var.dtype)) for var, (yes, no) in values.items()
    ]
    if len(settled) > 1:  # all at once: one choice may read what another one sets
        named = [(var, Var(var.name, var.dtype), choice) for var, choice in settled]
        result += [Let(name, choice, stmt.source) for _, name, choice in named]
        return result + [Set(var, name) for var, name, _ in named]
    return result + [Set(var, choice) for var, choice in settled]
