"""Several turns of a loop at once, where each waits for a long sum that only it needs.

    for j in n:                              for g in n // 4:
        t = a[j]                                 t0 = a[4*g]; ...; t3 = a[4*g + 3]
        for k in j:                    ->        for k in 4*g:
            t := t - l[j, k] * x[k]                  t0 := t0 - l[4*g, k] * x[k]; ...; t3 := ...
        x[j] = t / l[j, j]                       x[4*g] = t0 / l[4*g, 4*g]
                                                 for k in 1: t1 := t1 - l[4*g + 1, 4*g] * x[4*g]
                                                 x[4*g + 1] = ...

A sum of floats in the order of the program takes as long as its additions one behind the other;
four sums take no longer than one. Each keeps its order, so the result is what it was. The turns
may depend on each other, as they do above, if what all of them do first does not read what an
earlier one of the four writes last.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from graphify.engines.native.loops.knowledge import ONE as UNIT
from graphify.engines.native.loops.knowledge import Form, Knowledge
from graphify.engines.native.loops.knowledge import plus as combined
from graphify.engines.native.loops.program import (
    INDEX,
    Apply,
    Block,
    Const,
    Expr,
    Fail,
    For,
    If,
    Let,
    Load,
    Note,
    Set,
    Stmt,
    Store,
    Var,
    While,
    index,
    minus,
    plus,
    times,
)
from graphify.engines.native.loops.walk import (
    expressions_of,
    map_blocks,
    parts,
    statements,
    substitute,
)
from graphify.ir.types import is_float

TURNS = 4
MOST = 24  # statements of a loop


def jam(block: Block) -> Block:
    """The block with sums made several at once."""
    return _block(block, Knowledge())


def _block(block: Block, known: Knowledge) -> Block:
    result: list[Stmt] = []
    for stmt in block:
        match stmt:
            case Let():
                _define(stmt, known)
            case For(kind="serial"):
                shape = _shape(stmt)
                if shape is not None and (jammed := _jammed(shape, known)) is not None:
                    result += jammed
                    continue
                stmt = map_blocks(stmt, lambda inner: _block(inner, known))
            case For(kind="parallel" | "reduce") | While() | If():
                stmt = map_blocks(stmt, lambda inner: _block(inner, known))
        result.append(stmt)
    return tuple(result)


# --- which loops ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Shape:
    """A loop: what stands before the sum in it, the sum, and what stands behind.

    Attributes:
        grows: whether the sum is longer by one in each turn; else it is as long in all of them.
    """

    loop: For
    first: Block
    sum: For
    last: Block
    grows: bool = False


def _shape(loop: For) -> Shape | None:
    """The parts of a loop that is worth it, as far as statements tell."""
    inner = [k for k, stmt in enumerate(loop.body) if isinstance(stmt, For)]
    if len(inner) != 1 or sum(1 for _ in statements(loop.body)) > MOST:
        return None
    found = loop.body[inner[0]]
    assert isinstance(found, For)
    shape = Shape(loop, loop.body[: inner[0]], found, loop.body[inner[0] + 1 :])
    totals = {s.var for s in shape.first if isinstance(s, Let) and s.var.mutable}
    own = {s.var for s in found.body if isinstance(s, Let)}
    is_sum = (
        found.kind == "serial"
        and all(isinstance(s, (Let, Set, Note)) for s in found.body)
        and any(isinstance(s, Set) and is_float(s.var.dtype) for s in found.body)
        and all(s.var in totals | own for s in found.body if isinstance(s, Set))
    )
    begins = all(isinstance(s, (Let, Fail, Note)) for s in shape.first)
    declared = totals | {s.var for s in statements(shape.last) if isinstance(s, Let)}
    ends = all(
        isinstance(s, (Let, Store, If, Note)) or (isinstance(s, Set) and s.var in declared)
        for s in statements(shape.last)
    )
    return shape if is_sum and begins and ends else None


def _inside(shape: Shape, known: Knowledge) -> Knowledge:
    """What is known of indices in a loop, by the names that it gives them."""
    known = replace(known, forms=dict(known.forms), loops=dict(known.loops))
    for stmt in (*shape.first, *shape.sum.body, *shape.last):
        if isinstance(stmt, Let):
            _define(stmt, known)
    return known


def _define(stmt: Let, known: Knowledge) -> None:
    if stmt.var.dtype == INDEX and not stmt.var.mutable:
        form = known.form(stmt.value)
        if form is not None:
            known.forms[stmt.var] = form


def _growth(extent: Form | None, turn: Var) -> bool | None:
    """Whether a length grows by one in each turn, or is the same; None if neither is known.

    One that grows is not negative in any turn.
    """
    if extent is None or turn not in extent:
        return None if extent is None else False
    grows = extent[turn] == 1 and set(extent) <= {turn, UNIT} and extent.get(UNIT, 0) >= 0
    return True if grows else None


def _apart(shape: Shape, known: Knowledge) -> bool:
    """Whether what comes first in four turns reads nothing that three of them write last."""
    turn = shape.loop.var
    extent = known.form(shape.sum.extent)
    assert extent is not None
    earlier, gap = Var("earlier", INDEX), Var("gap", INDEX)  # of the turns turn + 0 ... turn + 3
    known.loops[earlier] = known.loops[gap] = {UNIT: TURNS - 2}
    known.loops[shape.sum.var] = combined(extent, {UNIT: -1})  # of the first of the turns
    stores = [s for s in statements(shape.last) if isinstance(s, Store)]
    steady = {turn, shape.sum.var} | _given(shape)
    for load in _loads((*shape.first, shape.sum)):
        for store in stores:
            if load.buffer.root is not store.buffer.root:
                continue
            if load.buffer is not store.buffer:
                return False
            pairs = zip(load.index, store.index, strict=True)
            moves = ({turn: 1, earlier: 1, gap: 1, UNIT: 1}, {turn: 1, earlier: 1})
            if not any(_never_meet(pair, moves, turn, steady, known) for pair in pairs):
                return False
    return True


def _given(shape: Shape) -> set[Var]:
    """Variables that are the same in all turns."""
    inside = {s.var for s in statements(shape.loop.body) if isinstance(s, (Let, For))}
    used = (p for s in statements(shape.loop.body) for e in expressions_of(s) for p in parts(e))
    return {p for p in used if isinstance(p, Var) and not p.mutable and p not in inside}


def _never_meet(
    pair: tuple[Expr, Expr],
    moves: tuple[Form, Form],
    turn: Var,
    steady: set[Var],
    known: Knowledge,
) -> bool:
    """Whether a place that a turn reads is never one that an earlier one of the four writes."""
    forms = [known.form(e) for e in pair]
    moved = []
    for form, move in zip(forms, moves, strict=True):
        if form is None or not all(atom is UNIT or atom in steady for atom in form):
            return False
        rest = {atom: c for atom, c in form.items() if atom is not turn}
        moved.append(combined(rest, move, form.get(turn, 0)))
    apart = combined(moved[0], moved[1], -1)
    return known.proves(combined(apart, {UNIT: -1})) or known.proves(
        combined({atom: -c for atom, c in apart.items()}, {UNIT: -1})
    )


def _loads(block: Sequence[Stmt]) -> Iterator[Load]:
    for stmt in statements(tuple(block)):
        for expr in expressions_of(stmt):
            yield from (p for p in parts(expr) if isinstance(p, Load))


# --- what becomes of them -------------------------------------------------------------------------


def _jammed(shape: Shape, known: Knowledge) -> Block | None:
    """The loop over groups of turns, and the one over those that are left, if that is right."""
    loop, turn = shape.loop, shape.loop.var
    known = _inside(shape, known)
    grows = _growth(known.form(shape.sum.extent), turn)
    if grows is None or not _apart(shape, known):
        return None
    shape = replace(shape, grows=grows)
    group, start = Var("g", INDEX), Var("start", INDEX)
    groups, before = _groups(loop)
    rest, left = Var(turn.name, INDEX), minus(loop.extent, times(groups, index(TURNS)))
    at = plus(rest, times(groups, index(TURNS)))
    body = (Let(start, times(group, index(TURNS))), *_group(shape, start))
    return (
        *before,
        For(group, groups, body, "serial", loop.source),
        For(rest, left, _copied(loop.body, {turn: at}), "serial", loop.source),
    )


def _groups(loop: For) -> tuple[Expr, Block]:
    """How many groups of turns there are, and the statements that say so."""
    if isinstance(loop.extent, Const):
        return index(loop.extent.value // TURNS), ()
    groups = Var("groups", INDEX)
    count = Apply("floor_divide", (loop.extent, index(TURNS)), INDEX)
    return groups, (Let(groups, count, loop.source),)


def _group(shape: Shape, start: Var) -> Block:
    """Some turns at once: what comes first, the sums as far as the shortest goes, the rests."""
    turn, inner = shape.loop.var, shape.sum
    names: list[dict[Var, Expr]] = [{turn: plus(start, index(t))} for t in range(TURNS)]
    result: list[Stmt] = []
    for each in names:
        result += _copied(shape.first, each)
    k = Var(inner.var.name, INDEX)
    together: list[Stmt] = []
    for each in names:
        together += _copied(inner.body, {**each, inner.var: k})
    shortest = _renamed(inner.extent, names[0])
    result.append(For(k, shortest, tuple(together), "serial", inner.source))
    for number, each in enumerate(names):
        if number and shape.grows:
            further = Var(inner.var.name, INDEX)
            body = _copied(inner.body, {**each, inner.var: plus(further, shortest)})
            result.append(For(further, index(number), body, "serial", inner.source))
        result += _copied(shape.last, each)
    return tuple(result)


def _renamed(expr: Expr, names: dict[Var, Expr]) -> Expr:
    (stmt,) = substitute((Let(Var("", expr.dtype), expr),), names)
    assert isinstance(stmt, Let)
    return stmt.value


def _copied(block: Block, names: dict[Var, Expr]) -> Block:
    """Statements with names of their own for what they declare, which `names` gets to know."""
    result: list[Stmt] = []
    for stmt in block:
        match stmt:
            case If() | For():
                if isinstance(stmt, For):
                    names[stmt.var] = fresh = replace(stmt.var)
                    stmt = replace(stmt, var=fresh)
                empty = map_blocks(stmt, lambda inner: ())
                (head,) = substitute((empty,), names)
                inner = iter([_copied(b, dict(names)) for b in _blocks(stmt)])
                result.append(map_blocks(head, partial(_next, inner)))
                continue
        (moved,) = substitute((stmt,), names)
        match moved:
            case Let(var):
                names[var] = own = replace(var)
                moved = replace(moved, var=own)
            case Set(var):
                target = names.get(var, var)
                assert isinstance(target, Var)
                moved = replace(moved, var=target)
        result.append(moved)
    return tuple(result)


def _next(blocks: Iterator[Block], _: Block) -> Block:
    return next(blocks)


def _blocks(stmt: If | For) -> Sequence[Block]:
    return (stmt.then, stmt.orelse) if isinstance(stmt, If) else (stmt.body,)
