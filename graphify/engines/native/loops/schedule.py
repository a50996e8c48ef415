"""How loops run: which in vector lanes, which on several threads.

    parallel for i in n:              parallel for b in ceil(n / 16384):
        y[i] = exp(x[i])       ->         vector for i in min(n - 16384 * b, 16384):
                                              y[16384 * b + i] = exp(x[16384 * b + i])

The lowering says of a loop what is true of it ("parallel": its turns are independent, "reduce":
but for sums and the like, "serial": neither); this pass says what is done: the inmost loop becomes
"vector" if it is simple enough, the outermost stays "parallel", the others run in order. Perfect
nests over whole arrays are first made one long loop.
"""

from __future__ import annotations

from dataclasses import replace

from graphify.engines.native.loops.numbers import identity_of
from graphify.engines.native.loops.program import (
    INDEX,
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
    Reduce,
    Set,
    Stmt,
    Store,
    Var,
    View,
    While,
    index,
    minus,
    plus,
    times,
)
from graphify.engines.native.loops.summary import summary
from graphify.engines.native.loops.tiles import in_tiles
from graphify.engines.native.loops.walk import (
    expressions_of,
    map_block,
    map_blocks,
    parts,
    statements,
    substitute,
    uses,
)

BLOCK = 16384  # turns of a simple loop that one thread does at once
HEAVY = 256  # and of one with loops inside


def schedule(block: Block) -> Block:
    """The block with the kinds of its loops decided."""
    return tuple(_statement(stmt, outermost=True) for stmt in block)


def _statement(stmt: Stmt, outermost: bool) -> Stmt:
    match stmt:
        case For():
            return _loop(in_tiles(collapse(stmt)), outermost)
        case While() | If():
            return map_blocks(stmt, lambda inner: tuple(_statement(s, outermost) for s in inner))
    return stmt


def _loop(loop: For, outermost: bool) -> For:
    simple = _simple(loop.body)
    independent = loop.kind in ("parallel", "reduce")
    if simple and not independent:
        return replace(loop, kind="serial")
    if simple or (independent and _in_lanes(loop)):
        vector = replace(loop, kind="vector")
        block = BLOCK if simple else HEAVY
        return _tiled(vector, block) if outermost and _worth_threads(loop, block) else vector
    kind = "parallel" if outermost and independent else "serial"
    below = outermost and kind != "parallel"
    body = tuple(_statement(s, outermost=below) for s in loop.body)
    return replace(loop, kind=kind, body=body)


def _simple(body: Block) -> bool:
    """Whether every statement can be done in lanes."""
    own = {s.var for s in body if isinstance(s, Let)}
    for stmt in body:
        match stmt:
            case Let(var):
                if var.mutable:
                    return False
            case Store() | Reduce() | Note():
                pass
            case Set(var) if var in own:
                pass
            case _:
                return False
    return True


def _in_lanes(loop: For) -> bool:
    """Whether a loop with branches and loops inside is better run in lanes than one by one.

    What runs inside must be the same for all lanes but for `While`, which goes on while any lane
    does; memory must be met side by side; and no loop inside is for lanes itself.
    """
    own = summary(loop).defines
    for stmt in statements(loop.body):
        match stmt:
            case Let() | Store() | Note() | If() | While():
                pass
            case Set(var) if var in own:
                pass
            case For(extent=extent, kind="serial"):
                if any(p in own for p in parts(extent) if isinstance(p, Var)):
                    return False
            case _:
                return False
        if not all(_side_by_side(place, loop.var) for _, place in _accesses(stmt)):
            return False
    return True


def _side_by_side(place: tuple[Expr, ...], var: Var) -> bool:
    """Whether neighbouring turns meet neighbouring elements, or all the same one."""
    if not any(uses(e, var) for e in place):
        return True
    last = place[-1]
    if isinstance(last, Apply) and last.op == "add":
        last = last.args[0] if isinstance(last.args[1], Const) else last
    return last is var and not any(uses(e, var) for e in place[:-1])


def _worth_threads(loop: For, block: int) -> bool:
    extent = loop.extent
    return not isinstance(extent, Const) or extent.value > block


def _tiled(loop: For, size: int) -> For:
    """A long loop as blocks of a fixed length; sums are made of the sums of blocks."""
    extent, block = loop.extent, Var("b", INDEX)
    start = Var("start", INDEX)
    inner = Var(loop.var.name, INDEX)
    count: Expr = Apply("floor_divide", (plus(extent, index(size - 1)), index(size)), INDEX)
    rest = Apply("minimum", (minus(extent, start), index(size)), INDEX)
    body = substitute(loop.body, {loop.var: plus(start, inner)})
    before: list[Stmt] = [Let(start, times(block, index(size)))]
    after: list[Stmt] = []
    changed: list[Stmt] = []
    for stmt in body:
        if isinstance(stmt, Reduce):
            part = Var("part", stmt.var.dtype, mutable=True)
            before.append(Let(part, identity_of(stmt.op, stmt.var.dtype)))
            after.append(Reduce(stmt.var, stmt.op, part, stmt.source))
            stmt = replace(stmt, var=part)
        changed.append(stmt)
    vector = replace(loop, var=inner, extent=rest, body=tuple(changed))
    if isinstance(extent, Const):
        count = index(-(-extent.value // size))
    return For(block, count, (*before, vector, *after), "parallel", loop.source)


# --- nests over whole arrays ----------------------------------------------------------------------


def collapse(loop: For) -> For:
    """Two perfectly nested loops over arrays in C order as one; again and again."""
    while len(loop.body) == 1 and isinstance(inner := loop.body[0], For):
        if not {loop.kind, inner.kind} <= {"parallel", "reduce"}:
            return loop
        if uses(inner.extent, loop.var):
            return loop
        merged = _merged(loop, inner)
        if merged is None:
            inner = collapse(inner)
            return loop if inner is loop.body[0] else replace(loop, body=(inner,))
        loop = merged
    return loop


def _merged(outer: For, inner: For) -> For | None:
    """The loop over both ranges, if every array is walked through without gaps."""
    body = inner.body
    i, j = outer.var, inner.var
    flat = Var(i.name, INDEX)
    renamed: dict[tuple[Buffer, tuple[Expr, ...]], tuple[Buffer, tuple[Expr, ...]]] = {}
    for stmt in statements(body):
        if not isinstance(stmt, (Let, Store, Set, Reduce, For, Note)):
            return None
        for buffer, place in _accesses(stmt):
            involved = any(uses(e, i) or uses(e, j) for e in place)
            if involved and (buffer, place) not in renamed:
                new = _flattened(buffer, place, i, j, inner.extent, flat, renamed)
                if new is None:
                    return None
                renamed[buffer, place] = new
        for expr in expressions_of(stmt):
            if any(p is i or p is j for p in _outside_loads(expr)):
                return None

    def leaf(expr: Expr) -> Expr:
        if isinstance(expr, Load):
            return Load(*renamed.get((expr.buffer, expr.index), (expr.buffer, expr.index)))
        return expr

    stores = _map_stores(body, renamed)
    merged = map_block(stores, leaf)
    kind = "reduce" if "reduce" in (outer.kind, inner.kind) else "parallel"
    return For(flat, times(outer.extent, inner.extent), merged, kind, outer.source)


def _accesses(stmt: Stmt) -> list[tuple[Buffer, tuple[Expr, ...]]]:
    found = [
        (p.buffer, p.index) for e in expressions_of(stmt) for p in parts(e) if isinstance(p, Load)
    ]
    if isinstance(stmt, Store):
        found.append((stmt.buffer, stmt.index))
    return found


def _outside_loads(expr: Expr) -> list[Expr]:
    """The parts of an expression that are not inside the index of a load."""
    stack, found = [expr], list[Expr]()
    while stack:
        e = stack.pop()
        found.append(e)
        if isinstance(e, Apply):
            stack += e.args
    return found


def _flattened(
    buffer: Buffer,
    place: tuple[Expr, ...],
    i: Var,
    j: Var,
    extent: Expr,
    flat: Var,
    known: dict[tuple[Buffer, tuple[Expr, ...]], tuple[Buffer, tuple[Expr, ...]]],
) -> tuple[Buffer, tuple[Expr, ...]] | None:
    """The buffer with axes i and j joined to one, if they are neighbours and j's is whole."""
    if buffer.strides is not None or len(place) < 2:
        return None
    for axis in range(len(place) - 1):
        if place[axis] is i and place[axis + 1] is j and buffer.shape[axis + 1] == extent:
            others = (*place[:axis], *place[axis + 2 :])
            if any(uses(e, i) or uses(e, j) for e in others):
                return None
            joined = next((b for (old, _), (b, _) in known.items() if old is buffer), None)
            if joined is None:
                total = times(buffer.shape[axis], buffer.shape[axis + 1])
                shape = (*buffer.shape[:axis], total, *buffer.shape[axis + 2 :])
                joined = Buffer(buffer.name, buffer.dtype, shape, View(buffer, index(0)))
            elif len(joined.shape) != len(place) - 1:
                return None
            return joined, (*place[:axis], flat, *place[axis + 2 :])
    return None


def _map_stores(
    body: Block,
    renamed: dict[tuple[Buffer, tuple[Expr, ...]], tuple[Buffer, tuple[Expr, ...]]],
) -> Block:
    result: list[Stmt] = []
    for stmt in body:
        if isinstance(stmt, Store):
            buffer, place = renamed.get((stmt.buffer, stmt.index), (stmt.buffer, stmt.index))
            stmt = replace(stmt, buffer=buffer, index=place)
        result.append(map_blocks(stmt, lambda inner: _map_stores(inner, renamed)))
    return tuple(result)
