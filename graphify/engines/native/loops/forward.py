"""Stored values are used from their register, and what nobody reads is not stored.

t[i] = exp(x[i])                t = exp(x[i])
y[i] = t[i] + 1          ->     y[i] = t + 1
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from graphify.engines.native.loops.program import (
    Allocate,
    Block,
    Buffer,
    Call,
    Const,
    Expr,
    For,
    Free,
    If,
    Let,
    Load,
    Reduce,
    Set,
    Stmt,
    Store,
    Temporary,
    Var,
    While,
)
from graphify.engines.native.loops.summary import summary
from graphify.engines.native.loops.walk import (
    buffers_of,
    expressions_of,
    map_blocks,
    map_expr,
    map_statement,
    parts,
    statements,
)

Known = dict[tuple[Buffer, tuple[Expr, ...]], Expr]


def forward(block: Block) -> Block:
    """Loads of what has just been stored become uses of the stored value."""
    return _forward(block, {})


def _forward(block: Block, known: Known) -> Block:
    known, result = dict(known), list[Stmt]()

    def leaf(expr: Expr) -> Expr:
        return known.get((expr.buffer, expr.index), expr) if isinstance(expr, Load) else expr

    for stmt in block:
        match stmt:
            case For() | While() | If():
                lasting = _surviving(known, stmt)
                inner: dict[str, Any] = {
                    name: _forward(getattr(stmt, name), lasting) for name in _names(stmt)
                }
                kept = lasting if not isinstance(stmt, If) else known
                stmt = _head(stmt, kept)
                result.append(replace(stmt, **inner))
                known = lasting
            case Store(buffer, source=source):
                moved = map_statement(stmt, leaf)
                assert isinstance(moved, Store)
                value = moved.value
                if not isinstance(value, Const) and not (
                    isinstance(value, Var) and not value.mutable
                ):
                    var = Var(buffer.name, value.dtype)
                    result.append(Let(var, value, source))
                    value = var
                result.append(Store(buffer, moved.index, value, source))
                known = {k: v for k, v in known.items() if k[0].root is not buffer.root}
                if value.dtype == buffer.dtype:
                    known[buffer, moved.index] = value
            case _:
                if known:
                    stmt = map_statement(stmt, leaf)
                result.append(stmt)
                if known:
                    known = _surviving(known, stmt)
    return tuple(result)


def _names(stmt: Stmt) -> tuple[str, ...]:
    return {For: ("body",), While: ("test", "body"), If: ("then", "orelse")}[type(stmt)]


def _head(stmt: Stmt, known: Known) -> Stmt:
    """The extent or condition of a statement with known loads replaced."""
    if isinstance(stmt, (For, If)) and known:
        name = "extent" if isinstance(stmt, For) else "condition"
        old = getattr(stmt, name)
        new: Any = map_expr(
            old,
            lambda e: known.get((e.buffer, e.index), e) if isinstance(e, Load) else e,
        )
        return replace(stmt, **{name: new})
    return stmt


def _surviving(known: Known, stmt: Stmt) -> Known:
    """What is still known after, and at every moment of, a statement."""
    if not known:
        return {}
    fact = summary(stmt)
    return {
        (buffer, index): value
        for (buffer, index), value in known.items()
        if buffer.root not in fact.writes
        and not any(isinstance(p, Var) and p in fact.changes for i in index for p in parts(i))
    }


def drop_dead(block: Block) -> Block:
    """Without stores to temporaries that are never read, values never used, and empty loops."""
    while True:
        read: set[Buffer] = set()
        used: set[Var] = set()
        for stmt in statements(block):
            for buffer, written in buffers_of(stmt):
                if not written or not isinstance(stmt, Store):
                    read.add(buffer.root)
            fact = _variables(stmt)
            used |= fact
        smaller = _without(block, read, used)
        if smaller is block:
            return block
        block = smaller


def _variables(stmt: Stmt) -> set[Var]:
    """The variables a statement itself reads, addresses included."""
    from graphify.engines.native.loops.summary import Summary

    fact = Summary()
    for expr in expressions_of(stmt):
        fact.expression(expr)
    for buffer, _ in buffers_of(stmt):
        fact.address(buffer)
    if isinstance(stmt, (Allocate, Call)):
        fact.add(stmt)
    if isinstance(stmt, Call):  # what it sets must be declared
        fact.uses.update(stmt.variables)
        fact.uses.update(v for b in stmt.outputs for v in b.shape if isinstance(v, Var))
    return fact.uses


def _without(block: Block, read: set[Buffer], used: set[Var]) -> Block:
    """The block with what is dead taken out; itself if nothing is."""
    kept = [
        map_blocks(stmt, lambda inner: _without(inner, read, used))
        for stmt in block
        if not _dead(stmt, read, used)
    ]
    same = len(kept) == len(block) and all(a is b for a, b in zip(kept, block, strict=True))
    return block if same else tuple(kept)


def _dead(stmt: Stmt, read: set[Buffer], used: set[Var]) -> bool:
    match stmt:
        case Let(var):
            return var not in used
        case Store(buffer) | Allocate(buffer) | Free(buffer):
            return isinstance(buffer.root.home, Temporary) and buffer.root not in read
        case For(body=()) | If(then=(), orelse=()):
            return True
        case Set(var) | Reduce(var):
            return var not in used
    return False
