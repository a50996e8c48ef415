"""Checks of sizes stand before the loops that rely on them, and out of the way of fusion.

    for i in n:                     b = m if k == 1 else k
        t[i] = exp(x[i])            fail 1 if m != 1 and m != b
    b = m if k == 1 else k    ->    for i in n:
    fail 1 if m != 1 and m != b         t[i] = exp(x[i])
    for i in b: ...                 for i in b: ...

A loop never moves up past a check: what it reads may not be there. So the checks move up, with the
sizes that they compare, past loops that have no effect but on memory.
"""

from __future__ import annotations

from graphify.engines.native.loops.program import (
    Allocate,
    Block,
    Expr,
    Fail,
    For,
    Let,
    Load,
    Note,
    Stmt,
    Var,
)
from graphify.engines.native.loops.summary import summary
from graphify.engines.native.loops.walk import expressions_of, map_blocks, parts


def raise_checks(block: Block) -> Block:
    """The block, and those nested in it, with checks and sizes moved up."""
    result: list[Stmt] = []
    top = 0  # where what moves up is put
    below: set[Var] = set()  # declared or changed behind that place
    for stmt in block:
        stmt = map_blocks(stmt, raise_checks)
        if _floats(stmt) and _variables(stmt).isdisjoint(below):
            result.insert(top, stmt)
            top += 1
            continue
        result.append(stmt)
        fact = summary(stmt)
        if isinstance(stmt, (For, Allocate, Let, Note)) and not (fact.fails or fact.effects):
            below |= fact.defines | fact.changes
        else:
            top, below = len(result), set()
    return tuple(result)


def _floats(stmt: Stmt) -> bool:
    """Whether a statement computes or checks sizes only."""
    if isinstance(stmt, Let) and stmt.var.mutable or not isinstance(stmt, (Let, Fail)):
        return False
    exprs = expressions_of(stmt)
    return not any(isinstance(p, Load) or _changes(p) for e in exprs for p in parts(e))


def _changes(part: Expr) -> bool:
    return isinstance(part, Var) and part.mutable


def _variables(stmt: Stmt) -> set[Var]:
    return {p for e in expressions_of(stmt) for p in parts(e) if isinstance(p, Var)}
