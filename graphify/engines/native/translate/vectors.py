"""Loops in vector lanes.

    vector for i in n:  y[i] = exp(x[i]) * a

becomes a loop over whole vectors and one over what remains, whose lanes are masked:

    for i in range(0, n - n % 16, 16):  y[i : i + 16] = exp(x[i : i + 16]) * splat(a)
    for i in range(n - n % 16, n, 16):  the same where i + lane < n

Each expression is looked at with the loop's variable in mind (`lanes.py`): what does not depend on
it is computed once in front of the loop; an address that moves by one element is a vector load, by
minus one a reversed one, by anything else a gather. Short bodies are written several times per
turn, so that memory and adders are kept busy (`COPIES`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from graphify.engines.native.llvm import Type, V
from graphify.engines.native.loops.program import (
    INDEX,
    Apply,
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
)
from graphify.engines.native.loops.walk import (
    address_expressions,
    expressions_of,
    parts,
    statements,
)
from graphify.engines.native.translate import addresses, reductions
from graphify.engines.native.translate.arithmetic import is_arithmetic
from graphify.engines.native.translate.copies import Copy
from graphify.engines.native.translate.costs import weight_of_block
from graphify.engines.native.translate.lanes import VectorLoop, accesses
from graphify.engines.native.translate.writer import Writer, number
from graphify.ir.types import DType, bfloat16, real_dtype

# Weight of a body up to which it is written so many times per turn: without, with reductions.
COPIES = ((2, 4, 8), (10, 2, 4), (30, 1, 2))
BLOCK = 16  # turns after which float sums are added to wider ones
LONG = 300  # weight of a program from which on bodies without reductions are not repeated
HEAVY = 4000  # weight of a program from which on there is one loop only, masked throughout


def possible(w: Writer, stmt: For) -> bool:
    """Whether the body has a form in lanes; otherwise it runs turn by turn."""
    inner = list(statements(stmt.body))
    own = {s.var for s in inner if isinstance(s, Let)}
    for s in inner:
        match s:
            case Set(var) if var not in own:
                return False
            case Reduce(_, op) if op not in reductions.OPS:
                return False
            case Let() | Set() | Store() | Reduce() | Note() | If() | For() | While():
                pass
            case _:
                return False
    varying = _varying(stmt, inner)
    for s in inner:
        if isinstance(s, For) and any(_varies(p, varying) for p in parts(s.extent)):
            return False
    return not any(_is_hard(buffer, varying) for buffer, _ in accesses(stmt.body))


def _varying(stmt: For, inner: Sequence[Stmt]) -> set[Var]:
    """Variables that may differ from lane to lane, and those that are reduced into."""
    found = {stmt.var, *(s.var for s in inner if isinstance(s, Reduce))}
    for s in inner:
        if isinstance(s, Let) and (s.var.mutable or any(_varies(p, found) for p in parts(s.value))):
            found.add(s.var)
    return found


def _varies(part: Expr, varying: set[Var]) -> bool:
    if isinstance(part, Load):
        return any(p in varying for e in address_expressions(part.buffer) for p in _vars(e))
    return isinstance(part, Var) and part in varying


def _vars(expr: Expr) -> Iterator[Var]:
    return (p for p in parts(expr) if isinstance(p, Var))


def _is_hard(buffer: Buffer, varying: set[Var]) -> bool:
    """A view that moves with the loop and counts in another dtype than its base."""
    while isinstance(buffer.home, View):
        base = buffer.home.base
        if base.dtype != buffer.dtype and any(v in varying for v in _vars(buffer.home.offset)):
            return True
        buffer = base
    return False


# --- how many lanes -------------------------------------------------------------------------------


def lanes_for(w: Writer, stmt: For) -> int:
    """As many as fill a register with the widest dtype computed with; 1: not worth it."""
    sizes, with_index = {0}, False
    for inner in statements(stmt.body):
        for expr in _values(inner):
            size, uses = _widest(expr)
            sizes.add(size)
            with_index = with_index or uses
    widest = max(sizes) or 8
    lanes = max(1, w.unit.target.vector_bytes // widest)
    if with_index or any(map(_gathers, statements(stmt.body))):
        lanes = min(lanes, w.unit.target.vector_bytes // 4)
    if isinstance(stmt.extent, Const):
        lanes = min(lanes, 1 << max(0, stmt.extent.value - 1).bit_length())
    return lanes


def _values(stmt: Stmt) -> list[Expr]:
    """Expressions computed in lanes: not those that only say where."""
    match stmt:
        case Store(_, _, value):
            return [value]
        case For():
            return []
        case Let(var, value) if var.dtype == INDEX and is_arithmetic(value):
            return []
    return list(expressions_of(stmt))


def _widest(expr: Expr) -> tuple[int, bool]:
    """The bytes of the widest part in an expression, and whether indices are among its values."""
    widest, uses = 0, False
    stack = [expr]
    while stack:
        e = stack.pop()
        if e.dtype == INDEX and is_arithmetic(e):
            uses = uses or not isinstance(e, Const)
            continue
        widest = max(widest, part_bytes(e.dtype))
        if isinstance(e, Apply):
            stack += e.args
    return widest, uses


def part_bytes(dtype: DType) -> int:
    """Bytes of a part while it is computed with: 16-bit floats are widened."""
    if dtype == bfloat16 or dtype.name == "float16":
        return 4
    return real_dtype(dtype).itemsize if dtype.kind == "c" else dtype.itemsize


def _gathers(stmt: Stmt) -> bool:
    for expr in expressions_of(stmt):
        for part in parts(expr):
            if isinstance(part, Load) and not all(map(is_arithmetic, part.index)):
                return True
    return False


# --- the loops ------------------------------------------------------------------------------------


def write(w: Writer, stmt: For) -> None:
    """The loop over whole vectors and the masked one."""
    extent = addresses.value(w, stmt.extent)
    with _if_any(w, stmt.extent, extent):
        steps = _unknown_steps(w, stmt)
        if not steps:
            _version(w, stmt, extent, frozenset())
            return
        f = w.f
        near, far, after = f.label("near"), f.label("far"), f.label("after")
        f.br_if(_all_one(w, steps), near, far)
        for label, assumed in ((near, steps), (far, frozenset[Expr]())):
            f.start(label)
            with w.scope():
                _version(w, stmt, extent, assumed)
            f.br(after)
        f.start(after)


def _unknown_steps(w: Writer, stmt: For) -> frozenset[Expr]:
    """Steps that decide between loads of neighbours and gathers, and that only the run knows."""
    if w.unit.compact:
        return frozenset()
    spot = w.f.spot("steps")
    with w.scope(spot):
        return VectorLoop(w, stmt, spot, 1, frozenset()).unknown_steps()


def _all_one(w: Writer, steps: frozenset[Expr]) -> V:
    f, holds = w.f, V(Type("i1"), "true")
    for step in sorted(steps, key=repr_of):
        holds = f.and_(holds, f.icmp("eq", addresses.value(w, step), number(1)))
    return holds


def repr_of(expr: Expr) -> str:
    """An order of expressions that does not change from run to run."""
    return expr.name if isinstance(expr, Var) else str(expr)


def _version(w: Writer, stmt: For, extent: V, assumed: frozenset[Expr]) -> None:
    from graphify.engines.native.translate.loops import changes

    f, width = w.f, lanes_for(w, stmt)
    spot = f.spot("vector")
    with w.scope(spot, changes(stmt.body)):
        copies = _copies(w, stmt, width)
        loop = VectorLoop(w, stmt, spot, width, assumed)
        loop.collect(copies)
        whole = number(0)
        if not w.unit.compact:
            whole = _whole(w, stmt.extent, extent, width * copies)
            _main(w, loop, whole, copies)
        if w.unit.compact or not _divides(stmt.extent, width * copies):
            _rest(w, loop, whole, extent, copies)
        loop.finish()


@contextmanager
def _if_any(w: Writer, extent: Expr, value: V) -> Iterator[None]:
    if isinstance(extent, Const):
        yield
        return
    with w.f.when(w.f.icmp("sgt", value, number(0)), "some"), w.scope():
        yield


def _copies(w: Writer, stmt: For, width: int) -> int:
    """How often the body is written in a turn of the main loop."""
    reducing = any(isinstance(s, Reduce) for s in stmt.body)
    if w.unit.compact or any(isinstance(s, For | While | If) for s in stmt.body):
        return 1
    if w.unit.long and not reducing:
        return 1
    weight, most = weight_of_block(stmt.body), 1
    for limit, plain, summing in COPIES:
        if weight <= limit:
            most = summing if reducing else plain
            break
    if isinstance(stmt.extent, Const):
        while most > 1 and most * width > stmt.extent.value:
            most //= 2
    return most


def _divides(extent: Expr, step: int) -> bool:
    return isinstance(extent, Const) and extent.value % step == 0


def _whole(w: Writer, extent: Expr, value: V, step: int) -> V:
    """The turns that fill whole vectors."""
    if isinstance(extent, Const):
        return number(extent.value // step * step)
    return w.f.and_(value, number(-step))


def _main(w: Writer, loop: VectorLoop, whole: V, copies: int) -> None:
    """All lanes, in blocks if there are float sums to be added up between them."""
    from graphify.engines.native.translate.loops import turns

    f, step = w.f, loop.lanes * copies
    if whole.text == "0":
        return

    def body(start: V) -> None:
        for k in range(copies):
            at = f.add(start, number(k * loop.lanes)) if k else start
            Copy(loop, at, None, k).write()

    if not loop.has_blocks:
        with turns(w, None, number(0), whole, frozenset(), step) as i:
            body(i)
        return
    size = step * BLOCK
    with turns(w, None, number(0), whole, frozenset(), size) as first:
        last = f.intrinsic("smin", f.add(first, number(size)), whole)
        with turns(w, None, first, last, frozenset(), step) as i:
            body(i)
        loop.fold()


def _rest(w: Writer, loop: VectorLoop, begin: V, end: V, copies: int) -> None:
    """What does not fill a vector."""
    from graphify.engines.native.translate.loops import turns

    if begin.text == end.text:
        return
    if copies == 1 and not w.unit.compact:
        with w.f.when(w.f.icmp("slt", begin, end), "rest"), w.scope():
            Copy(loop, begin, mask(w, loop, begin, end), 0).write()
        return
    if not loop.has_blocks or not w.unit.compact:
        with turns(w, None, begin, end, frozenset(), loop.lanes) as i:
            Copy(loop, i, mask(w, loop, i, end), 0).write()
        return
    size, f = loop.lanes * BLOCK, w.f
    with turns(w, None, begin, end, frozenset(), size) as first:
        last = f.intrinsic("smin", f.add(first, number(size)), end)
        with turns(w, None, first, last, frozenset(), loop.lanes) as i:
            Copy(loop, i, mask(w, loop, i, end), 0).write()
        loop.fold()


def mask(w: Writer, loop: VectorLoop, start: V, end: V) -> V | None:
    """The lanes that are before the end."""
    if loop.lanes == 1:
        return None
    f = w.f
    bits = max(8, min(64, 8 * w.unit.target.vector_bytes // loop.lanes))
    type = Type(f"i{bits}", loop.lanes)
    left = f.intrinsic("smin", f.sub(end, start), number(loop.lanes))
    if bits < 64:
        left = f.convert("trunc", left, Type(f"i{bits}"))
    return f.icmp("ult", f.iota(type), f.splat(left, loop.lanes))
