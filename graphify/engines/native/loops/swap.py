"""Arrays that a loop makes anew in each turn change places instead of being copied.

while ...:                            now -> x, new -> t
    for i in n: t[i] = f(x, i)   ->   while ...:
    for i in n: x[i] = t[i]               for i in n: new[i] = f(now, i)
                                          now <-> new
                                      for i in n: x[i] = now[i]
"""

from __future__ import annotations

from dataclasses import replace

from graphify.engines.native.loops.program import (
    Allocate,
    Block,
    Buffer,
    Expr,
    For,
    Handle,
    If,
    Load,
    Point,
    Stmt,
    Store,
    Swap,
    Temporary,
    Var,
    While,
)
from graphify.engines.native.loops.share import replace_buffers, touches
from graphify.engines.native.loops.summary import Summary, summary
from graphify.engines.native.loops.walk import map_blocks, parts


def swap(block: Block) -> Block:
    """The block with the copies at the ends of loops turned into exchanges."""
    result: list[Stmt] = []
    for stmt in block:
        if isinstance(stmt, If):
            stmt = map_blocks(stmt, swap)
        if isinstance(stmt, While) or (isinstance(stmt, For) and stmt.kind == "serial"):
            result += _exchanged(stmt)
        else:
            result.append(stmt)
    return tuple(result)


def _exchanged(loop: While | For) -> list[Stmt]:
    """A loop, with what stands before and after it if arrays are exchanged in it."""
    before: list[Stmt] = []
    after: list[Stmt] = []
    for position, stmt in enumerate(loop.body):
        pair = _copy(stmt)
        if pair is None or not _may_swap(loop, position, *pair):
            continue
        old, made = pair
        now = Buffer(old.name, old.dtype, old.shape, Handle())
        new = Buffer(made.name, made.dtype, made.shape, Handle())
        body = [
            Swap(now, new) if other is stmt else other
            for other in loop.body
            if not (isinstance(other, Allocate) and other.buffer is made)
        ]
        axes = tuple(range(old.ndim))
        moved = {old: (now, axes), made: (new, axes)}
        changed = replace(loop, body=replace_buffers(tuple(body), moved))
        if isinstance(changed, While):
            changed = replace(changed, test=replace_buffers(changed.test, moved))
        back = replace_buffers((stmt,), {made: (now, axes)})
        before = [Allocate(made), Point(now, old), Point(new, made)]
        after = list(back)
        loop = changed
        break  # one pair in a loop: more are rare
    return [*before, loop, *after]


def _copy(stmt: Stmt) -> tuple[Buffer, Buffer] | None:
    """The arrays of a loop nest that copies one, a temporary, to another, as a whole."""
    index: list[Var] = []
    extents: list[Expr] = []
    while isinstance(stmt, For) and len(stmt.body) == 1:
        index.append(stmt.var)
        extents.append(stmt.extent)
        stmt = stmt.body[0]
    match stmt:
        case Store(old, place, Load(made, where)) if place == where == tuple(index) and index:
            shapes = tuple(extents) == old.shape == made.shape
            plain = old.strides is None and made.strides is None and old.dtype == made.dtype
            if shapes and plain and isinstance(made.home, Temporary):
                return old, made
    return None


def _may_swap(loop: While | For, position: int, old: Buffer, made: Buffer) -> bool:
    """Whether the copy is the last that a turn does with either array, and all else is plain."""
    if not any(isinstance(s, Allocate) and s.buffer is made for s in loop.body):
        return False
    rest = summary(loop.body[position + 1 :])
    if any(b.root in accesses for b in (old, made) for accesses in (rest.reads, rest.writes)):
        return False
    whole = summary(loop)
    if any(not _plain(whole, buffer) for buffer in (old, made)):
        return False
    fixed = whole.defines | whole.changes
    sizes = {p for b in (old, made) for d in b.shape for p in parts(d) if isinstance(p, Var)}
    return fixed.isdisjoint(sizes) and _made_anew(loop, made)


def _plain(fact: Summary, buffer: Buffer) -> bool:
    """Whether a buffer is met element by element and under its own name only: a view of the same
    memory would not follow the exchange."""
    accesses = [*fact.reads.get(buffer.root, ()), *fact.writes.get(buffer.root, ())]
    return all(same is buffer and place is not None for same, place in accesses)


def _made_anew(loop: While | For, made: Buffer) -> bool:
    """Whether the first thing a turn does with the temporary is to write it."""
    first = touches(loop.body).get(made, [])
    return bool(first) and first[0].write
