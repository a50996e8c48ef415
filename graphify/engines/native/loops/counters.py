"""Counters cannot overflow: they would have to count for years.

    total = exactly total + 1        ->        total = total + 1

A variable counts if all it ever gets is a small constant, another counter, a choice between
counters, or a counter plus or minus a small constant. After 2 ** 54 additions, which take months at
one in a nanosecond, it is still far from what 64 bits hold.
"""

from __future__ import annotations

from collections.abc import Container

from graphify.engines.native.loops.program import (
    INDEX,
    Apply,
    Block,
    Call,
    Checked,
    Const,
    Expr,
    For,
    Let,
    Reduce,
    Set,
    Stmt,
    Var,
)
from graphify.engines.native.loops.walk import map_blocks, statements

STEP = 256  # the largest constant added
START = 1 << 61  # the largest constant begun with


def trust_counters(block: Block) -> Block:
    """The block with exact additions to counters made plain ones."""
    counters = _counters(block)
    return _plain(block, counters) if counters else block


def _counters(block: Block) -> set[Var]:
    """The variables that count: those left when all that get something else are taken out."""
    given: dict[Var, list[Expr]] = {}
    foreign: set[Var] = set()
    for stmt in statements(block):
        match stmt:
            case Let(var, value) | Set(var, value) if var.dtype == INDEX:
                given.setdefault(var, []).append(value)
            case Checked(var, op, args) if var.dtype == INDEX:
                given.setdefault(var, []).append(Apply(op, args, INDEX))
            case Reduce(var) | For(var):
                foreign.add(var)
            case Call(variables=variables):
                foreign.update(variables)
    counters = set(given) - foreign
    while True:
        kept = {v for v in counters if all(_counts(e, counters) for e in given[v])}
        if len(kept) == len(counters):
            return kept
        counters = kept


def _counts(expr: Expr, counters: Container[Var]) -> bool:
    match expr:
        case Const(value):
            return bool(abs(value) < START)
        case Var():
            return expr in counters
        case Apply("where", (_, yes, no)):
            return _counts(yes, counters) and _counts(no, counters)
        case Apply("add" | "subtract", (a, Const(step))):
            return bool(abs(step) <= STEP) and isinstance(a, Var) and a in counters
        case Apply("add", (Const(step), a)):
            return bool(abs(step) <= STEP) and isinstance(a, Var) and a in counters
    return False


def _plain(block: Block, counters: set[Var]) -> Block:
    return tuple(_statement(stmt, counters) for stmt in block)


def _statement(stmt: Stmt, counters: set[Var]) -> Stmt:
    if isinstance(stmt, Checked) and stmt.var in counters:
        return Let(stmt.var, Apply(stmt.op, stmt.args, INDEX), stmt.source)
    return map_blocks(stmt, lambda inner: _plain(inner, counters))
