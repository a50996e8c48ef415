"""A loop that meets itself in one turn is split there, so that the turns on either side are free.

for j in n:                               for j in k:           a[i, j] = f(a[i, k], a[i, j])
    a[i, j] = f(a[i, k], a[i, j])   ->    a[i, k] = f(a[i, k], a[i, k])
                                          for j in n - k - 1:   at = j + k + 1;  a[i, at] = ...

Turn k alone writes what all turns read: before it, the others see the old value, after it the new.
"""

from __future__ import annotations

from dataclasses import replace

from graphify.engines.native.loops.knowledge import ONE as UNIT
from graphify.engines.native.loops.knowledge import Knowledge
from graphify.engines.native.loops.knowledge import plus as combined
from graphify.engines.native.loops.program import (
    INDEX,
    ONE,
    Block,
    Expr,
    For,
    If,
    Let,
    Load,
    Note,
    Set,
    Stmt,
    Store,
    Var,
    minus,
    plus,
)
from graphify.engines.native.loops.tidy import tidy
from graphify.engines.native.loops.walk import (
    expressions_of,
    parts,
    statements,
    substitute,
    uses,
)


def split(loop: For, known: Knowledge) -> tuple[For, For, For] | None:
    """The turns before the one that a loop meets itself in, that one, and those after it; None if
    there is no such turn, or more than one."""
    if not all(isinstance(s, (Let, Set, Store, If, Note)) for s in statements(loop.body)):
        return None
    (tidied,) = tidy((loop,))  # indices by their own names
    assert isinstance(tidied, For)
    loop = tidied
    places = _meetings(loop)
    if len(places) != 1:
        return None
    place = places.pop()
    extent, at = known.form(loop.extent), known.form(place)
    if extent is None or at is None:
        return None
    room = combined(combined(extent, at, -1), {UNIT: -1})
    if not (known.proves(at) and known.proves(room)):
        return None
    before, after = Var(loop.var.name, INDEX), Var(loop.var.name, INDEX)
    rest = minus(minus(loop.extent, place), ONE)
    return (
        _part(loop, before, place, before),
        _part(loop, Var(loop.var.name, INDEX), ONE, place),
        _part(loop, after, rest, plus(plus(after, place), ONE)),
    )


def _meetings(loop: For) -> set[Expr]:
    """The turns that write what every turn reads, as far as one axis tells."""
    inside = list(statements(loop.body))
    own = {s.var for s in inside if isinstance(s, Let)}
    stores = [s for s in inside if isinstance(s, Store)]
    return {
        theirs
        for load in (load for stmt in inside for load in _loads(stmt))
        for store in stores
        if load.buffer is store.buffer
        for mine, theirs in zip(store.index, load.index, strict=True)
        if mine is loop.var and not uses(theirs, loop.var) and _plain(theirs, own)
    }


def _loads(stmt: Stmt) -> list[Load]:
    return [p for e in expressions_of(stmt) for p in parts(e) if isinstance(p, Load)]


def _plain(place: Expr, own: set[Var]) -> bool:
    """Whether an index is the same in all turns."""
    inside = list(parts(place))
    return not any(
        isinstance(p, Load) or (isinstance(p, Var) and (p.mutable or p in own)) for p in inside
    )


def _part(loop: For, var: Var, extent: Expr, turn: Expr) -> For:
    """Some turns of a loop."""
    return For(var, extent, _copied(loop.body, {loop.var: turn}), "serial", loop.source)


def _copied(block: Block, names: dict[Var, Expr]) -> Block:
    """Statements with names of their own for what they declare."""
    result: list[Stmt] = []
    for stmt in block:
        if isinstance(stmt, If):
            then, orelse = (_copied(part, dict(names)) for part in (stmt.then, stmt.orelse))
            (head,) = substitute((replace(stmt, then=(), orelse=()),), names)
            assert isinstance(head, If)
            result.append(replace(head, then=then, orelse=orelse))
            continue
        (moved,) = substitute((stmt,), names)
        if isinstance(moved, Let):
            names[moved.var] = fresh = replace(moved.var)
            moved = replace(moved, var=fresh)
        elif isinstance(moved, Set):
            target = names.get(moved.var, moved.var)
            assert isinstance(target, Var)
            moved = replace(moved, var=target)
        result.append(moved)
    return tuple(result)
