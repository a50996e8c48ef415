"""Loops: `For` of every kind, `While`, and what they change.

A loop turns at its end, behind a test before the first turn:

    if 0 < n:           (unless n is known)
        spot            values that do not change in the loop
        do: body
        while ++i < n

Serial loops look now and then whether somebody has pressed Ctrl-C: outer ones every eighth turn,
innermost ones every 65,536 turns, between which the loop has no side exits; `While` every 1,024.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from graphify.engines.native.elements.element import Element
from graphify.engines.native.llvm import I32, I64, V
from graphify.engines.native.loops.pretty import block_text
from graphify.engines.native.loops.program import (
    INDEX,
    Allocate,
    Block,
    Buffer,
    Call,
    Checked,
    Const,
    Expr,
    Fail,
    For,
    Handle,
    Let,
    Point,
    Reduce,
    Set,
    Stmt,
    Swap,
    Var,
    While,
)
from graphify.engines.native.loops.walk import statements
from graphify.engines.native.translate import addresses, costs, outline, parallel, vectors
from graphify.engines.native.translate.scalars import scalar
from graphify.engines.native.translate.statements import block, rule
from graphify.engines.native.translate.writer import Writer, number

LIGHT = 300  # the size of a loop that LLVM looks at whatever is in it
POLLED, OUTER, WHILE = 1 << 16, 1 << 3, 1 << 10  # turns between two looks for Ctrl-C


def changes(body: Block) -> frozenset[Any]:
    """The mutable variables and handles that some statements change."""
    changed: set[Any] = set()
    for stmt in statements(body):
        match stmt:
            case Set(var) | Reduce(var):
                changed.add(var)
            case Let(var) if var.mutable:
                changed.add(var)
            case Allocate(Buffer(home=Handle()) as handle) | Point(handle):
                changed.add(handle)
            case Swap(a, b):
                changed |= {a, b}
            case Call():
                changed.update(stmt.variables)
                changed.update(b for b in stmt.outputs if isinstance(b.home, Handle))
    return frozenset(changed)


@rule(For)
def _for(w: Writer, stmt: For) -> None:
    w.f.comment(block_text((replace(stmt, body=()),)).splitlines()[0])
    if isinstance(stmt.extent, Const) and stmt.extent.value <= 1:
        _once(w, stmt)
    elif stmt.kind == "vector" and vectors.possible(w, stmt):
        vectors.write(w, stmt)
    elif stmt.kind == "parallel" and parallel.possible(w, stmt):
        parallel.write(w, stmt)
    else:
        serial(w, stmt)


def _once(w: Writer, stmt: For) -> None:
    """A loop of one turn or none."""
    assert isinstance(stmt.extent, Const)
    if stmt.extent.value == 1:
        w.unit.definitions[stmt.var] = Const(0, INDEX)
        with w.scope():
            w.define(stmt.var, Element(INDEX, (number(0),), 0))
            block(w, stmt.body)


def serial(w: Writer, stmt: For) -> None:
    """One turn after the other."""
    _note_scalar(w, stmt.body)
    extent = addresses.value(w, stmt.extent)
    if _is_inner(stmt.body) and not _is_short(stmt.extent):
        _polled(w, stmt, extent)
        return
    with turns(w, stmt.var, number(0), extent, changes(stmt.body)):
        if not _is_short(stmt.extent):
            every = OUTER if any(_is_long(s) for s in statements(stmt.body)) else WHILE
            poll_some(w, addresses.value(w, stmt.var), every)
        block(w, stmt.body)


def _note_scalar(w: Writer, body: Block) -> None:
    """Let LLVM look at a loop, unless it is long and its time goes into loops written for lanes."""
    in_lanes = any(isinstance(s, For) and s.kind != "serial" for s in statements(body))
    if not in_lanes or costs.size(body) <= LIGHT:
        w.f.scalar_loops = True


def poll_some(w: Writer, turn: V, every: int, poll: Callable[[], None] | None = None) -> None:
    """Look for Ctrl-C in every so many-th turn, by `poll` if that is given."""
    f = w.f
    due, on = f.label("due"), f.label("on")
    rest = f.and_(turn, V(turn.type, str(every - 1)))
    f.br_if(f.icmp("eq", rest, V(turn.type, str(every - 1))), due, on, w.unlikely)
    f.start(due)
    (poll or w.poll)()
    f.br(on)
    f.start(on)


def _is_long(stmt: Stmt) -> bool:
    return isinstance(stmt, For | While | Call)


def _is_inner(body: Block) -> bool:
    return not any(isinstance(s, For | While | Call | Fail | Checked) for s in statements(body))


def _is_short(extent: Expr) -> bool:
    return isinstance(extent, Const) and extent.value <= 1024


def _polled(w: Writer, stmt: For, extent: V) -> None:
    """An innermost loop in pieces, with a look for Ctrl-C before each."""
    changed, start = changes(stmt.body), Var("start", INDEX)
    f = w.f
    last = f.add(extent, number(POLLED - 1))
    pieces = f.ashr(last, number(POLLED.bit_length() - 1))
    with turns(w, start, number(0), pieces, changed) as piece:
        with f.when(f.icmp("ne", piece, number(0))):
            w.poll()
        begin = f.shl(piece, number(POLLED.bit_length() - 1))
        end = f.intrinsic("smin", f.add(begin, number(POLLED)), extent)
        with turns(w, stmt.var, begin, end, changed):
            block(w, stmt.body)


@contextmanager
def turns(
    w: Writer, var: Var | None, begin: V, end: V, changed: frozenset[Any], step: int = 1
) -> Iterator[V]:
    """`for var in range(begin, end, step)` around what is written inside; yields the index."""
    f = w.f
    body, done = f.label("for"), f.label("done")
    if not (_is_number(begin) and _is_number(end)):
        first = f.label("first")
        f.br_if(f.icmp("slt", begin, end), first, done)
        f.start(first)
    spot = f.spot("enter")
    before = f.block
    hint = body.replace("for", "i")
    i, following = V(I64, f"%{hint}"), V(I64, f"%{hint}.next")
    f.start(body)
    at = f.reserve()
    with w.scope(spot, changed):
        if var is not None:
            w.define(var, Element(INDEX, (i,)))
        yield i
    f.line(f"{following.text} = add nsw {i}, {step}")
    phi = f"{i.text} = phi i64 [{begin.text}, %{before}], [{following.text}, %{f.block}]"
    f.fill(at, phi)
    f.br_if(f.icmp("slt", following, end), body, done)
    f.start(done)


def _is_number(x: V) -> bool:
    return not x.text.startswith("%")


@rule(While)
def _while(w: Writer, stmt: While) -> None:
    f = w.f
    _note_scalar(w, (*stmt.test, *stmt.body))
    head, body, done = f.label("while"), f.label("do"), f.label("done")
    count = f.alloca(I32)
    f.store(V(I32, str(WHILE)), count)
    spot = f.spot("enter")
    f.start(head)
    with w.scope(spot, changes(stmt.test) | changes(stmt.body)):
        long = outline.is_long(w.unit, stmt.test)
        block(w, stmt.test, outline.needs(stmt.body, [stmt.condition]) if long else None)
        f.br_if(scalar(w, stmt.condition).value, body, done)
        f.start(body)
        left = f.sub(f.load(I32, count), V(I32, "1"))  # counted down: one instruction and a jump
        f.store(left, count)
        due, on = f.label("due"), f.label("on")
        f.br_if(f.icmp("eq", left, V(I32, "0")), due, on, w.unlikely)
        f.start(due)
        w.poll()
        f.store(V(I32, str(WHILE)), count)
        f.start(on)
        block(w, stmt.body)
        f.br(head)
    f.start(done)
