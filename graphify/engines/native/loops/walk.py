"""Going through loop-level programs: children, rewriting, what is read and written.

loads(expr)                     # every Load in it
substitute(block, {i: j})       # variables replaced
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from graphify.engines.native.loops.program import (
    Apply,
    Block,
    Buffer,
    Call,
    Checked,
    Expr,
    Fail,
    For,
    If,
    Let,
    Load,
    Reduce,
    Section,
    Sections,
    Set,
    Stmt,
    Store,
    Var,
    View,
    While,
)

Rename = Callable[[Expr], Expr]


def map_expr(expr: Expr, leaf: Rename, whole: Rename | None = None) -> Expr:
    """`expr` with `leaf` applied to its variables, constants and (rewritten) loads.

    Args:
        whole: applied to operations when their operands are done.
    """
    if isinstance(expr, Apply):
        args = tuple(map_expr(arg, leaf, whole) for arg in expr.args)
        same = all(a is b for a, b in zip(args, expr.args, strict=True))
        new = expr if same else Apply(expr.op, args, expr.dtype)
        return new if whole is None else whole(new)
    if isinstance(expr, Load):
        index = tuple(map_expr(i, leaf, whole) for i in expr.index)
        same = all(a is b for a, b in zip(index, expr.index, strict=True))
        return leaf(expr if same else Load(expr.buffer, index))
    return leaf(expr)


def map_statement(stmt: Stmt, leaf: Rename) -> Stmt:
    """A statement with the expressions in it, nested ones too, rewritten."""
    changes: dict[str, Any] = {}
    for name in _EXPRESSIONS.get(type(stmt), ()):
        old = getattr(stmt, name)
        new = (
            tuple(map_expr(e, leaf) for e in old) if isinstance(old, tuple) else map_expr(old, leaf)
        )
        if new is not old and new != old:
            changes[name] = new
    for name in _BLOCKS.get(type(stmt), ()):
        changes[name] = map_block(getattr(stmt, name), leaf)
    if isinstance(stmt, Call):
        for name in ("outputs", "inputs"):
            buffers = getattr(stmt, name)
            moved = tuple(map_address(buffer, leaf) for buffer in buffers)
            if any(a is not b for a, b in zip(moved, buffers, strict=True)):
                changes[name] = moved
    return replace(stmt, **changes) if changes else stmt


def map_field(value: Any, leaf: Rename, whole: Rename | None = None) -> Any:
    """An expression, several, or none, rewritten."""
    if isinstance(value, tuple):
        return tuple(map_expr(e, leaf, whole) for e in value)
    return None if value is None else map_expr(value, leaf, whole)


def map_address(buffer: Buffer, leaf: Rename) -> Buffer:
    """A view with the expressions of its address rewritten; other buffers are what they are."""
    if not isinstance(buffer.home, View):
        return buffer
    offset = map_expr(buffer.home.offset, leaf)
    shape = tuple(map_expr(d, leaf) for d in buffer.shape)
    strides = buffer.strides and tuple(map_expr(s, leaf) for s in buffer.strides)
    base = map_address(buffer.home.base, leaf)
    if (offset, shape, strides) == (buffer.home.offset, buffer.shape, buffer.strides):
        if base is buffer.home.base:
            return buffer
    return Buffer(buffer.name, buffer.dtype, shape, View(base, offset), strides)


def map_block(block: Block, leaf: Rename) -> Block:
    return tuple(map_statement(stmt, leaf) for stmt in block)


def map_blocks(stmt: Stmt, change: Callable[[Block], Block]) -> Stmt:
    """A statement with its nested blocks changed."""
    changes: dict[str, Any] = {}
    for name in _BLOCKS.get(type(stmt), ()):
        old = getattr(stmt, name)
        new = change(old)
        if new is not old:
            changes[name] = new
    return replace(stmt, **changes) if changes else stmt


def substitute(block: Block, mapping: Mapping[Var, Expr]) -> Block:
    """`block` with variables replaced where they are read."""
    return map_block(block, lambda e: mapping.get(e, e) if isinstance(e, Var) else e)


_EXPRESSIONS: dict[type, tuple[str, ...]] = {
    Let: ("value",),
    Checked: ("args", "when"),
    Set: ("value",),
    Store: ("index", "value"),
    Reduce: ("value",),
    For: ("extent",),
    While: ("condition",),
    If: ("condition",),
    Call: ("scalars",),
    Fail: ("condition", "values"),
}
_BLOCKS: dict[type, tuple[str, ...]] = {
    For: ("body",),
    While: ("test", "body"),
    If: ("then", "orelse"),
    Section: ("body",),
    Sections: ("parts",),
    Call: ("body",),
}


def blocks_of(stmt: Stmt) -> Iterator[Block]:
    for name in _BLOCKS.get(type(stmt), ()):
        yield getattr(stmt, name)


def expressions_of(stmt: Stmt) -> Iterator[Expr]:
    """The expressions that stand directly in a statement (not those of nested blocks)."""
    for name in _EXPRESSIONS.get(type(stmt), ()):
        value = getattr(stmt, name)
        if isinstance(value, tuple):
            yield from value
        elif value is not None:
            yield value


def statements(block: Block) -> Iterator[Stmt]:
    """Every statement, nested ones after the one that holds them."""
    for stmt in block:
        yield stmt
        for inner in blocks_of(stmt):
            yield from statements(inner)


def parts(expr: Expr) -> Iterator[Expr]:
    """The expression and everything in it."""
    stack = [expr]
    while stack:
        e = stack.pop()
        yield e
        if isinstance(e, Apply):
            stack += e.args
        elif isinstance(e, Load):
            stack += e.index


def loads(stmt: Stmt) -> Iterator[Load]:
    """The loads in a statement and in its nested blocks."""
    for inner in statements((stmt,)):
        for expr in expressions_of(inner):
            for part in parts(expr):
                if isinstance(part, Load):
                    yield part


def uses(expr: Expr, var: Var) -> bool:
    return any(part is var for part in parts(expr))


def buffers_of(stmt: Stmt) -> Iterator[tuple[Buffer, bool]]:
    """The buffers a statement touches directly: (buffer, whether it is written)."""
    for expr in expressions_of(stmt):
        for part in parts(expr):
            if isinstance(part, Load):
                yield part.buffer, False
    if isinstance(stmt, Store):
        yield stmt.buffer, True
    elif isinstance(stmt, Call):
        for buffer in stmt.inputs:
            yield buffer, False
        for buffer in stmt.outputs:
            yield buffer, True


def address_expressions(buffer: Buffer) -> Iterator[Expr]:
    """What the address of an element depends on besides the index: offsets and strides."""
    yield from buffer.strides or buffer.shape[1:]
    while isinstance(buffer.home, View):
        yield buffer.home.offset
        buffer = buffer.home.base
