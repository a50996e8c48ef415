"""Fewer and smaller buffers: one memory for two, rows instead of whole arrays.

`share`: a temporary whose elements are last read where the elements of another array are first
written, place by place, lives in that array's memory.

`contract`: a temporary of which each turn of a loop uses only its own part needs only that part.

    for i in n:                              for i in n:
        for j in m: e[i, j] = ...                for j in m: y[i, j] = ...
        for j in m: s += e[i, j]      ->         for j in m: s += y[i, j]
        for j in m: y[i, j] = e[i, j] / s        for j in m: y[i, j] = y[i, j] / s
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from graphify.engines.native.loops.program import (
    Allocate,
    Block,
    Buffer,
    Call,
    Expr,
    For,
    Free,
    Load,
    Point,
    Result,
    Stmt,
    Store,
    Swap,
    Temporary,
    Var,
)
from graphify.engines.native.loops.summary import summary
from graphify.engines.native.loops.walk import (
    blocks_of,
    buffers_of,
    expressions_of,
    map_block,
    map_blocks,
    parts,
    statements,
)


@dataclass(frozen=True, slots=True)
class Touch:
    """One access: where in the program, inside which statements, at which index."""

    position: int
    path: tuple[int, ...]  # identities of the statements and blocks around, outermost first
    loops: tuple[For, ...]
    index: tuple[Expr, ...] | None
    write: bool
    buffer: Buffer


def touches(block: Block) -> dict[Buffer, list[Touch]]:
    """Every access to every root buffer, in program order."""
    found: dict[Buffer, list[Touch]] = {}
    for touch in _touches(block, (), (), [0]):
        found.setdefault(touch.buffer.root, []).append(touch)
    return found


def _touches(
    block: Block, path: tuple[int, ...], loops: tuple[For, ...], count: list[int]
) -> Iterator[Touch]:
    here = (*path, id(block))
    for stmt in block:
        count[0] += 1
        at = count[0]
        for expr in expressions_of(stmt):
            for part in parts(expr):
                if isinstance(part, Load):
                    yield Touch(at, here, loops, part.index, False, part.buffer)
        if isinstance(stmt, Store):
            yield Touch(at, here, loops, stmt.index, True, stmt.buffer)
        elif isinstance(stmt, (Call, Point, Swap)):
            for buffer in _whole(stmt):
                yield Touch(at, here, loops, None, True, buffer)
        inner = (*loops, stmt) if isinstance(stmt, For) else loops
        for nested in blocks_of(stmt):
            yield from _touches(nested, (*here, id(stmt)), inner, count)


def _whole(stmt: Call | Point | Swap) -> list[Buffer]:
    match stmt:
        case Call():
            return [buffer for buffer, _ in buffers_of(stmt)]
        case Point(handle, target):
            return [handle, target]
        case Swap(a, b):
            return [a, b]


# --- share ----------------------------------------------------------------------------------------


def share(block: Block) -> Block:
    """Temporaries moved into the memory of results that replace them element by element."""
    found = touches(block)
    late = {s.buffer for s in statements(block) if isinstance(s, Allocate)}
    first_writers: dict[int, list[Buffer]] = {}
    for buffer, accesses in found.items():
        if isinstance(buffer.home, Result) and buffer not in late:
            first_writers.setdefault(accesses[0].path[-1], []).append(buffer)
    moved: dict[Buffer, tuple[Buffer, tuple[int, ...]]] = {}
    for old, accesses in found.items():
        if not isinstance(old.home, Temporary) or not old.shape:
            continue
        writers = first_writers.get(accesses[-1].path[-1], [])
        new = next((b for b in writers if _can_share(old, accesses, b, found[b])), None)
        if new is not None:
            writers.remove(new)
            moved[old] = (new, tuple(range(old.ndim)))
    return replace_buffers(block, moved) if moved else block


def _can_share(old: Buffer, a: list[Touch], new: Buffer, b: list[Touch]) -> bool:
    if old.dtype != new.dtype or old.shape != new.shape or old.strides != new.strides:
        return False
    if any(t.buffer is not old for t in a) or any(t.buffer is not new for t in b):
        return False
    if any(t.index is None for t in (*a, *b)):
        return False
    index, place, start = a[-1].index, a[-1].path, b[0].position
    if any(t.path != place or t.index != index for t in b):
        return False
    if any(t.position > start for t in a):
        return False
    if any(t.path == place and t.index != index for t in a):
        return False
    # What a turn of a loop around the writes overwrites, no other turn of it may read.
    return all(_axes_of(loop.var, [*_within(loop, a), *b]) for loop in b[0].loops)


def _within(loop: For, accesses: list[Touch]) -> list[Touch]:
    return [t for t in accesses if any(each.var is loop.var for each in t.loops)]


def _around(accesses: list[Touch]) -> list[For]:
    """The loops that are around all of them, outermost first."""
    common = set.intersection(*({loop.var for loop in t.loops} for t in accesses))
    return [loop for loop in accesses[0].loops if loop.var in common]


def _axes_of(var: Var, accesses: list[Touch]) -> set[int]:
    """The axes along which every access is at the loop's own index."""
    return set.intersection(
        *({k for k, e in enumerate(t.index or ()) if e is var} for t in accesses)
    )


# --- contract -------------------------------------------------------------------------------------


def contract(block: Block) -> Block:
    """Temporaries without the axes that only ever are at the index of a loop around them all."""
    moved: dict[Buffer, tuple[Buffer, tuple[int, ...]]] = {}
    inside: dict[Var, list[Buffer]] = {}
    for buffer, accesses in touches(block).items():
        if not isinstance(buffer.home, Temporary) or buffer.strides is not None:
            continue
        if any(t.buffer is not buffer or t.index is None for t in accesses):
            continue
        loop, dropped = _own_axes(accesses)
        kept = tuple(k for k in range(buffer.ndim) if k not in dropped)
        shape = tuple(buffer.shape[k] for k in kept)
        if loop is None or not _variables(shape).isdisjoint(summary(loop).defines):
            continue
        small = Buffer(buffer.name, buffer.dtype, shape, buffer.home)
        moved[buffer] = (small, kept)
        inside.setdefault(loop.var, []).append(small)
    return _allocated(replace_buffers(block, moved), inside) if moved else block


def _own_axes(accesses: list[Touch]) -> tuple[For | None, set[int]]:
    """The axes at which each turn of the loops around stays at its own place; the inmost such."""
    dropped: set[int] = set()
    inmost: For | None = None
    for loop in _around(accesses):
        axes = _axes_of(loop.var, accesses)
        if axes:
            dropped |= axes
            inmost = loop
        elif loop.kind == "serial":
            break  # the memory lives on from turn to turn
    return inmost, dropped


def _variables(shape: tuple[Expr, ...]) -> set[Var]:
    return {p for dim in shape for p in parts(dim) if isinstance(p, Var)}


def _allocated(block: Block, inside: dict[Var, list[Buffer]]) -> Block:
    """Allocations of contracted buffers, at the start of the loops they belong to."""
    result: list[Stmt] = []
    for stmt in block:
        stmt = map_blocks(stmt, lambda inner: _allocated(inner, inside))
        if isinstance(stmt, For) and stmt.var in inside:
            new = (*(Allocate(b) for b in inside[stmt.var]), *stmt.body)
            stmt = replace(stmt, body=new)
        result.append(stmt)
    return tuple(result)


def replace_buffers(block: Block, moved: Mapping[Buffer, tuple[Buffer, tuple[int, ...]]]) -> Block:
    """Accesses to buffers turned into accesses to others, with only the axes kept."""

    def load(expr: Expr) -> Expr:
        if isinstance(expr, Load) and expr.buffer in moved:
            new, kept = moved[expr.buffer]
            return Load(new, tuple(expr.index[k] for k in kept))
        return expr

    def statement(stmt: Stmt) -> Stmt:
        if isinstance(stmt, Store) and stmt.buffer in moved:
            new, kept = moved[stmt.buffer]
            return replace(stmt, buffer=new, index=tuple(stmt.index[k] for k in kept))
        return map_blocks(stmt, rewrite)

    def rewrite(inner: Block) -> Block:
        gone = (Allocate, Free)
        return tuple(statement(s) for s in inner if not (isinstance(s, gone) and s.buffer in moved))

    return map_block(rewrite(block), load)
