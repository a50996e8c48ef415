"""Transposed access in tiles that stay in the cache, and loops in the order of memory.

    for i in n:                             for a in ceil(n / 16), b in ceil(m / 16):
        for j in m:                             for i in 16:
            y[i, j] = x[j, i]       ->              for j in 16:
                                                        y[16*a+i, 16*b+j] = x[16*b+j, 16*a+i]

Along the inmost loop x jumps from row to row; a cache line of it is used again in the next turn of
the loop around, if it is still there. Where no access runs along the inmost index but others run
along that of a loop around it, the loops change places instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from graphify.engines.native.loops.program import (
    INDEX,
    Apply,
    Block,
    Const,
    Expr,
    For,
    Let,
    Load,
    Note,
    Stmt,
    Store,
    Var,
    index,
    minus,
    plus,
    times,
)
from graphify.engines.native.loops.walk import expressions_of, parts, substitute, uses

SIDE = 16  # turns of either loop in a tile


def in_tiles(loop: For) -> For:
    """A perfect nest of independent loops, reordered or in tiles if its accesses ask for it."""
    nest, body = _nest(loop)
    if len(nest) < 2:
        return loop
    inmost, places = nest[-1], _places(body)
    across = {_runs_along(p) for p in places if any(uses(e, inmost.var) for e in p[:-1])}
    outer = next((x for x in nest[:-1] if x.var in across), None)
    if outer is None:
        return loop
    others = [x for x in nest[:-1] if x is not outer]
    if not any(_runs_along(place) is inmost.var for place in places):
        return _rebuilt([*others, inmost, outer], body)
    if _short(outer.extent) or _short(inmost.extent):
        return loop
    return _rebuilt(others, (_tile(outer, inmost, body),)) if others else _tile(outer, inmost, body)


def _nest(loop: For) -> tuple[list[For], Block]:
    """The loops of a perfect nest with plain assignments inside; none if it is another."""
    nest: list[For] = []
    block: Block = (loop,)
    while len(block) == 1 and isinstance(inner := block[0], For) and inner.kind == "parallel":
        if any(uses(inner.extent, outer.var) for outer in nest):
            return [], ()
        nest.append(inner)
        block = inner.body
    plain = all(
        isinstance(s, (Store, Note)) or (isinstance(s, Let) and not s.var.mutable) for s in block
    )
    return (nest, block) if plain else ([], ())


def _places(body: Block) -> list[tuple[Expr, ...]]:
    """The indices of all accesses."""
    found: list[tuple[Expr, ...]] = []
    for stmt in body:
        if isinstance(stmt, Store):
            found.append(stmt.index)
        found += [p.index for e in expressions_of(stmt) for p in parts(e) if isinstance(p, Load)]
    return [place for place in found if place]


def _runs_along(place: Sequence[Expr]) -> Var | None:
    """The variable along which neighbouring elements are met."""
    last = place[-1]
    if isinstance(last, Apply) and last.op == "add" and isinstance(last.args[1], Const):
        last = last.args[0]
    return last if isinstance(last, Var) else None


def _short(extent: Expr) -> bool:
    return isinstance(extent, Const) and extent.value <= SIDE


def _rebuilt(nest: Sequence[For], body: Block) -> For:
    for loop in reversed(nest):
        body = (replace(loop, body=body),)
    outermost = body[0]
    assert isinstance(outermost, For)
    return outermost


def _tile(outer: For, inner: For, body: Block) -> For:
    """Both loops in blocks, the blocks of both outside."""
    blocks, starts, turns = [], [], []
    moved: dict[Var, Expr] = {}
    for loop, name in ((outer, "a"), (inner, "b")):
        block, start, turn = Var(name, INDEX), Var("start", INDEX), Var(loop.var.name, INDEX)
        blocks.append((block, _blocks(loop.extent)))
        starts.append(Let(start, times(block, index(SIDE))))
        rest = Apply("minimum", (minus(loop.extent, start), index(SIDE)), INDEX)
        turns.append(replace(loop, var=turn, extent=rest))
        moved[loop.var] = plus(start, turn)
    inside: list[Stmt] = [*starts, _rebuilt(turns, substitute(body, moved))]
    (a, many), (b, others) = blocks
    columns = For(b, others, tuple(inside), "parallel", inner.source)
    return For(a, many, (columns,), "parallel", outer.source)


def _blocks(extent: Expr) -> Expr:
    if isinstance(extent, Const):
        return index(-(-extent.value // SIDE))
    return Apply("floor_divide", (plus(extent, index(SIDE - 1)), index(SIDE)), INDEX)
