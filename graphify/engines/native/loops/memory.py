"""When memory is taken and given back.

Allocations whose size does not change from turn to turn leave the loops they stand in (but not
parallel ones: each thread needs its own); memory is freed after the last statement, of the block
it is allocated in, that touches it.
"""

from __future__ import annotations

from dataclasses import replace

from graphify.engines.native.loops.program import (
    Allocate,
    Block,
    Buffer,
    Call,
    For,
    Free,
    Handle,
    Point,
    Result,
    Stmt,
    Temporary,
    Var,
    While,
)
from graphify.engines.native.loops.summary import summary
from graphify.engines.native.loops.walk import map_blocks, parts


def hoist_allocations(block: Block) -> Block:
    """Allocations moved out of serial loops, as far as their sizes allow."""
    result: list[Stmt] = []
    for stmt in block:
        stmt = map_blocks(stmt, hoist_allocations)
        if isinstance(stmt, While) or (isinstance(stmt, For) and stmt.kind == "serial"):
            body = stmt.body
            fact = summary(stmt)
            inside = fact.defines | fact.changes
            moved = [s for s in body if isinstance(s, Allocate) and _fixed(s.buffer, inside)]
            if moved:
                result += moved
                stmt = replace(stmt, body=tuple(s for s in body if s not in moved))
        result.append(stmt)
    return tuple(result)


def _fixed(buffer: Buffer, inside: set[Var]) -> bool:
    used = {p for dim in buffer.shape for p in parts(dim) if isinstance(p, Var)}
    return isinstance(buffer.home, Temporary) and used.isdisjoint(inside)


def free(block: Block) -> Block:
    """Each allocation with its `Free`, after the last statement that touches the memory."""
    block = tuple(map_blocks(stmt, free) for stmt in block)
    owned = {
        s.buffer for s in block if isinstance(s, Allocate) and not isinstance(s.buffer.home, Result)
    }
    for stmt in block:
        if isinstance(stmt, Call):
            owned |= {b for b in stmt.outputs if isinstance(b.home, Handle)}
    if not owned:
        return block
    aimed = {s.target.root for s in block if isinstance(s, Point)}
    handled = {s.handle for s in block if isinstance(s, Point)}
    last: dict[Buffer, int] = {}
    for i, stmt in enumerate(block):
        fact = summary(stmt)
        touched = {*fact.reads, *fact.writes, *fact.allocates}
        if not touched.isdisjoint(handled):
            touched |= aimed  # a handle may be any of the memories that handles are aimed at
        for root in touched & owned:
            last[root] = i
    ends: dict[int, list[Stmt]] = {}
    for buffer, i in last.items():
        ends.setdefault(i, []).append(Free(buffer))
    return tuple(s for i, stmt in enumerate(block) for s in (stmt, *ends.get(i, ())))
