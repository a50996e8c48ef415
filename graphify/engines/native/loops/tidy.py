"""Fewer names: copies are what they copy, equal values have one name, a value used once has none.

at = i                       y[i] = x[i] * 0.2
s = x[at]             ->
t = s * 0.2
y[at] = t
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from graphify.engines.native.loops.program import (
    BOOL,
    Allocate,
    Apply,
    Block,
    Call,
    Const,
    Expr,
    If,
    Let,
    Load,
    Note,
    Reduce,
    Set,
    Stmt,
    Store,
    Var,
)
from graphify.engines.native.loops.summary import Summary, summary
from graphify.engines.native.loops.walk import (
    Rename,
    buffers_of,
    expressions_of,
    map_blocks,
    map_field,
    parts,
    statements,
)
from graphify.location import LazyLoc

Names = dict[Var, Expr]


def tidy(block: Block) -> Block:
    """The block with copies and repetitions of scalar values resolved."""
    return _resolve(block, {}, {}, _in_addresses(block))


def _in_addresses(block: Block) -> set[Var]:
    """Variables in shapes, strides and offsets of buffers: those keep their names."""
    fact = Summary()
    for stmt in statements(block):
        for buffer, _ in buffers_of(stmt):
            fact.address(buffer)
            for dim in buffer.shape:
                fact.uses.update(p for p in parts(dim) if isinstance(p, Var))
        if isinstance(stmt, Allocate):
            fact.add(stmt)
    return fact.uses


def _resolve(block: Block, names: Names, known: dict[Expr, Var], fixed: set[Var]) -> Block:
    """Replace copies, and values already computed, by what they are."""
    named, computed = len(names), len(known)

    def leaf(expr: Expr) -> Expr:
        return names.get(expr, expr) if isinstance(expr, Var) else expr

    result: list[Stmt] = []
    for stmt in block:
        stmt = _with_expressions(stmt, leaf)
        stmt = map_blocks(stmt, lambda inner: _resolve(inner, names, known, fixed))
        if isinstance(stmt, Let) and not stmt.var.mutable and stmt.var not in fixed:
            value = stmt.value
            if isinstance(value, Const) or (isinstance(value, Var) and not value.mutable):
                names[stmt.var] = value
                continue
            if value in known:
                names[stmt.var] = known[value]
                continue
            if _lasting(value):
                known[value] = stmt.var
        result.append(stmt)
    while len(names) > named:  # what is declared in a block is not known after it
        names.popitem()
    while len(known) > computed:
        known.popitem()
    return tuple(result)


def _simplified(expr: Expr) -> Expr:
    """An operation that leaves its operand as it is, to the last bit, is that operand."""
    match expr:
        case Apply("multiply", (Const(1), x)) | Apply("multiply" | "divide", (x, Const(1))):
            return x if x.dtype == expr.dtype and x.dtype.kind in "iuf" else expr
        case Apply("logical_not", (Apply("logical_not", (x,)),)):
            return x if x.dtype == BOOL else expr
        case Apply("where", (_, x, y)) if x == y:
            return x
    return expr


def _with_expressions(stmt: Stmt, leaf: Rename) -> Stmt:
    """A statement with its own expressions rewritten, those of nested blocks left for later."""
    from graphify.engines.native.loops.walk import _EXPRESSIONS

    changes: dict[str, Any] = {}
    for name in _EXPRESSIONS.get(type(stmt), ()):
        new = map_field(getattr(stmt, name), leaf, _simplified)
        changes[name] = new
    return replace(stmt, **changes) if changes else stmt


def _lasting(value: Expr) -> bool:
    """Whether a value is the same wherever it is computed again: no loads, nothing mutable."""
    return not any(isinstance(p, Load) or (isinstance(p, Var) and p.mutable) for p in parts(value))


# --- values used once -----------------------------------------------------------------------------


def inline(block: Block) -> Block:
    """Values used once, further down in their own block, stand where they are used."""
    counts: Counter[Var] = Counter()
    fixed = _in_addresses(block)
    for stmt in statements(block):
        for expr in expressions_of(stmt):
            counts.update(p for p in parts(expr) if isinstance(p, Var))
    return _inline(block, counts, fixed)


LARGEST = 12  # parts of an expression that is still put into another


def _inline(block: Block, counts: Counter[Var], fixed: set[Var]) -> Block:
    result: list[Stmt] = []
    waiting: dict[Var, tuple[Let, int]] = {}  # values that may move down, and where they stand

    def leaf(expr: Expr) -> Expr:
        if isinstance(expr, Var) and expr in waiting:
            let, place = waiting.pop(expr)
            result[place] = Note("")
            sources.append(let.source)
            return let.value
        return expr

    for stmt in block:
        stmt = map_blocks(stmt, lambda inner: _inline(inner, counts, fixed))
        if waiting and isinstance(stmt, (Let, Store, Set, Reduce, If, Call)):
            sources: list[LazyLoc | None] = []
            stmt = _with_expressions(stmt, leaf) if not isinstance(stmt, Call) else stmt
            if sources and isinstance(stmt, Set) and stmt.source is None:
                stmt = replace(stmt, source=sources[-1])  # whose line it now is
        if waiting and not isinstance(stmt, (Let, Note)):
            fact = summary(stmt)
            for var, (let, _) in list(waiting.items()):
                if not _moves_past(let, fact):
                    del waiting[var]
        if isinstance(stmt, Let) and not stmt.var.mutable and counts[stmt.var] == 1:
            size = sum(1 for _ in parts(stmt.value))
            if stmt.var not in fixed and size <= LARGEST and not _expensive(stmt.value):
                waiting[stmt.var] = (stmt, len(result))
        result.append(stmt)
    return tuple(s for s in result if s != Note(""))


def _expensive(value: Expr) -> bool:
    """Conditions are kept apart where both sides of a choice would be computed anyway."""
    return isinstance(value, Apply) and value.op == "where"


def _moves_past(let: Let, fact: Summary) -> bool:
    for part in parts(let.value):
        if isinstance(part, Load) and part.buffer.root in fact.writes:
            return False
        if isinstance(part, Var) and part in fact.changes:
            return False
    return True
