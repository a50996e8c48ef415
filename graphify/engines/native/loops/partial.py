"""Sums of rows in parts: each thread adds up some rows, then the parts are added.

    for i in n:                            count = min(8, ceil(n / 32))
        for j in m:                        parallel for c in count:
            r[j] = r[j] + x[i, j]     ->       for j in m: p[c, j] = 0
                                               for i in its share of n:
                                                   for j in m: p[c, j] = p[c, j] + x[i, j]
                                           for c in count:
                                               for j in m: r[j] = r[j] + p[c, j]

The parts depend on the length only, not on the number of threads, so the result does not either;
and it is more accurate than one long sum.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from graphify.engines.native.loops.numbers import identity_of
from graphify.engines.native.loops.program import (
    INDEX,
    Allocate,
    Apply,
    Block,
    Buffer,
    Const,
    Expr,
    For,
    If,
    Let,
    Load,
    Note,
    Stmt,
    Store,
    Temporary,
    Var,
    While,
    index,
    minus,
    plus,
    times,
)
from graphify.engines.native.loops.summary import Access, Summary, summary
from graphify.engines.native.loops.walk import (
    map_block,
    map_blocks,
    parts,
    statements,
    substitute,
    uses,
)

PARTS, ROWS = 8, 32  # the most parts, and the fewest rows of one
OPERATIONS = frozenset(
    "add multiply maximum minimum fmax fmin logical_or logical_and bitwise_or bitwise_and".split()
)


def in_parts(block: Block) -> Block:
    """The block with its outermost sums of many rows made in parts."""
    result: list[Stmt] = []
    for stmt in block:
        if isinstance(stmt, (While, If)):
            stmt = map_blocks(stmt, in_parts)
        found = _accumulators(stmt) if isinstance(stmt, For) else {}
        if found:
            assert isinstance(stmt, For)
            result += _in_parts(stmt, found)
        else:
            result.append(stmt)
    return tuple(result)


def _accumulators(loop: For) -> dict[Buffer, str]:
    """The arrays that a loop does nothing to but combine, and by what; none if it does more."""
    if loop.kind != "accumulate" or not _many(loop.extent):
        return {}
    found: dict[Buffer, str] = {}
    for stmt in statements(loop.body):
        match stmt:
            case Store(buffer, place, Apply(op, (Load(same, where), value))) if (
                same is buffer and where == place and op in OPERATIONS
            ):
                if not any(uses(e, loop.var) for e in place):
                    if found.setdefault(buffer, op) != op or _reads(value, buffer):
                        return {}
            case Let() | Store() | For() | Note():
                pass
            case _:
                return {}
    return found if _only_accumulates(loop, summary(loop), found) else {}


def _many(extent: Expr) -> bool:
    return not isinstance(extent, Const) or extent.value >= PARTS * ROWS


def _reads(value: Expr, buffer: Buffer) -> bool:
    return any(isinstance(p, Load) and p.buffer.root is buffer.root for p in parts(value))


def _only_accumulates(loop: For, fact: Summary, found: dict[Buffer, str]) -> bool:
    """Whether turns are independent but for the accumulators, which nothing else touches."""
    for buffer in found:
        reads, writes = fact.reads.get(buffer.root, []), fact.writes[buffer.root]
        if len(reads) != len(writes) or any(b is not buffer for b, _ in (*reads, *writes)):
            return False
        if not fact.defines.isdisjoint(p for d in buffer.shape for p in parts(d)):
            return False
    roots = {buffer.root for buffer in found}
    others = [root for root in fact.writes if root not in roots]
    return not fact.changes and all(
        _at_own_turn(loop.var, [*fact.reads.get(root, ()), *fact.writes[root]]) for root in others
    )


def _at_own_turn(var: Var, accesses: list[Access]) -> bool:
    if len({buffer for buffer, _ in accesses}) != 1:
        return False
    axes = [{k for k, e in enumerate(place or ()) if e is var} for _, place in accesses]
    return bool(set.intersection(*axes))


def _in_parts(loop: For, found: dict[Buffer, str]) -> list[Stmt]:
    most, rows = index(PARTS), plus(loop.extent, index(ROWS - 1))
    count = Var("count", INDEX)
    shares = Apply("minimum", (Apply("floor_divide", (rows, index(ROWS)), INDEX), most), INDEX)
    part, start, stop, turn = (Var(name, INDEX) for name in ("part", "start", "stop", "i"))
    new = {old: Buffer(old.name, old.dtype, (count, *old.shape), Temporary()) for old in found}
    body = _moved(substitute(loop.body, {loop.var: plus(start, turn)}), new, part)
    setting = [_over(old, partial(_clear, new[old], part, found[old])) for old in found]
    adding = [_over(old, partial(_add, old, new[old], part, found[old])) for old in found]
    share = (
        *setting,
        Let(start, Apply("floor_divide", (times(loop.extent, part), count), INDEX)),
        Let(stop, Apply("floor_divide", (times(loop.extent, plus(part, index(1))), count), INDEX)),
        For(turn, minus(stop, start), body, "serial", loop.source),
    )
    return [
        Let(count, shares),
        *(Allocate(buffer) for buffer in new.values()),
        For(part, count, share, "parallel", loop.source),
        For(part, count, tuple(adding), "serial", loop.source),
    ]


def _clear(new: Buffer, part: Var, op: str, at: tuple[Var, ...]) -> Stmt:
    return Store(new, (part, *at), identity_of(op, new.dtype))


def _add(old: Buffer, new: Buffer, part: Var, op: str, at: tuple[Var, ...]) -> Stmt:
    both = (Load(old, at), Load(new, (part, *at)))
    return Store(old, at, Apply(op, both, old.dtype))


def _over(buffer: Buffer, element: Callable[[tuple[Var, ...]], Stmt]) -> Stmt:
    """A statement for every element of a buffer."""
    at = tuple(Var(name, INDEX) for name in "jklmnopq"[: buffer.ndim])
    stmt = element(at)
    for var, length in zip(reversed(at), reversed(buffer.shape), strict=True):
        stmt = For(var, length, (stmt,), "parallel")
    return stmt


def _moved(block: Block, new: dict[Buffer, Buffer], part: Var) -> Block:
    """A block that works on its own part of the accumulators."""

    def leaf(expr: Expr) -> Expr:
        if isinstance(expr, Load) and expr.buffer in new:
            return Load(new[expr.buffer], (part, *expr.index))
        return expr

    def stores(inner: Block) -> Block:
        return tuple(
            replace(s, buffer=new[s.buffer], index=(part, *s.index))
            if isinstance(s, Store) and s.buffer in new
            else map_blocks(s, stores)
            for s in inner
        )

    return stores(map_block(block, leaf))
