"""Statements, each written by the rule of its class.

    block(w, statements)

Rules for loops, memory and calls are in the files of those names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from graphify.engines.native.elements.element import Element
from graphify.engines.native.elements.memory import store
from graphify.engines.native.llvm import I32, I64, V
from graphify.engines.native.loops.lines import quote
from graphify.engines.native.loops.program import (
    Block,
    Checked,
    Fail,
    If,
    Let,
    Note,
    Reduce,
    Set,
    Store,
)
from graphify.engines.native.translate import addresses, cells, outline
from graphify.engines.native.translate.cells import Cell
from graphify.engines.native.translate.scalars import operate, scalar
from graphify.engines.native.translate.writer import Writer
from graphify.ir.types import is_inexact

RULES: dict[type, Callable[[Writer, Any], None]] = {}
FAILURE_WORDS = 8

Rule = Callable[[Writer, Any], None]


def rule(kind: type) -> Callable[[Rule], Rule]:
    """Register how a class of statements is written."""

    def register(function: Rule) -> Rule:
        RULES[kind] = function
        return function

    return register


def block(w: Writer, statements: Block, after: outline.Needs | None = None) -> None:
    """Some statements, one after the other; as calls of functions if there are very many.

    Args:
        after: what is used behind the block, if anything.
    """
    if outline.is_long(w.unit, statements):
        outline.in_parts(w, statements, after)
    else:
        in_line(w, statements)


def in_line(w: Writer, statements: Block) -> None:
    """Some statements, right here."""
    line = None
    for stmt in statements:
        source = getattr(stmt, "source", None)
        if source is not None and source is not line:
            w.f.comment(quote(source))
            line = source
        RULES[type(stmt)](w, stmt)


@rule(Let)
def _let(w: Writer, stmt: Let) -> None:
    x = scalar(w, stmt.value)
    if not stmt.var.mutable:
        w.unit.definitions[stmt.var] = stmt.value
        w.define(stmt.var, x)
        return
    if stmt.var not in w.values:
        make = cells.wide if stmt.var in w.unit.wide else cells.plain
        w.define(stmt.var, make(w.f, stmt.var.dtype))
    cell = w.values[stmt.var]
    assert isinstance(cell, Cell)
    cell.write(w.f, x)


@rule(Checked)
def _checked(w: Writer, stmt: Checked) -> None:
    from graphify.engines.native.elements.checked import apply_checked

    args = [scalar(w, a) for a in stmt.args]
    x, failures = apply_checked(w.f, stmt.op, args, stmt.var.dtype)
    counts = None if stmt.when is None else scalar(w, stmt.when).value
    for failure in failures:
        site = V(I32, str(stmt.site))
        w.leave_if(failure.condition, site, lambda: _keep(w, args), counts)
    w.define(stmt.var, x)


@rule(Set)
def _set(w: Writer, stmt: Set) -> None:
    cell = w.values[stmt.var]
    assert isinstance(cell, Cell)
    cell.write(w.f, scalar(w, stmt.value))


@rule(Store)
def _store(w: Writer, stmt: Store) -> None:
    x = scalar(w, stmt.value)
    store(w.f, x, addresses.element(w, stmt.buffer, stmt.index))


@rule(Reduce)
def _reduce(w: Writer, stmt: Reduce) -> None:
    x = scalar(w, stmt.value)
    cell = w.values[stmt.var]
    assert isinstance(cell, Cell)
    combine(w, cell, stmt.op, x)


def combine(w: Writer, cell: Cell, op: str, x: Element) -> None:
    """cell = op(cell, x)"""
    assert cell.dtype is not None
    if op == "add" and cell.kind != "plain":
        cell.add(w.f, cells.as_doubles(w.f, x))
    else:
        cell.write(w.f, operate(w, op, [cell.read(w.f), x], cell.dtype))


@rule(If)
def _if(w: Writer, stmt: If) -> None:
    f = w.f
    condition = scalar(w, stmt.condition).value
    yes, no, after = f.label("then"), f.label("else"), f.label("after")
    f.br_if(condition, yes, no if stmt.orelse else after)
    for label, statements in ((yes, stmt.then), (no, stmt.orelse)):
        if label == yes or statements:
            f.start(label)
            with w.scope():
                block(w, statements)
            f.br(after)
    f.start(after)


@rule(Fail)
def _fail(w: Writer, stmt: Fail) -> None:
    condition = scalar(w, stmt.condition).value
    w.leave_if(
        condition, V(I32, str(stmt.site)), lambda: _keep(w, [scalar(w, e) for e in stmt.values])
    )


def _keep(w: Writer, values: Sequence[Element]) -> None:
    """The values of a failure's text: integers as i64, floats as doubles."""
    word = 0
    for value in values:
        for part in words(w, value):
            if word < FAILURE_WORDS:
                w.f.store(part, w.f.at(w.home.words, I64, word))
            word += 1


def words(w: Writer, x: Element) -> list[V]:
    """An element as 64-bit words."""
    f = w.f
    if is_inexact(x.dtype):
        return [f.bits(part) for part in cells.as_doubles(f, x)]
    part = x.value
    if part.type == I64:
        return [part]
    return [f.convert("sext" if x.dtype.kind == "i" else "zext", part, I64)]


@rule(Note)
def _note(w: Writer, stmt: Note) -> None:
    w.f.comment(stmt.text.replace("\n", " "))
