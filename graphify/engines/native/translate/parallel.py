"""Loops on several threads: the body becomes a function that the pool runs over pieces.

    void @turns(ptr context, i64 begin, i64 end)

The context starts with what the pieces share: the first turn that failed, with its status and the
words of its message. A failure of an earlier turn replaces that of a later one, so the failure that
is reported does not depend on the threads. An exception that came up in between (Ctrl-C) counts as
the failure of a turn before all others: what has not been started is left out.

A loop that reduces into variables of the outside is cut into at most 64 chunks, whose number
depends on the extent alone; each reduces into its own copy, and the copies are combined in order.
"""

from __future__ import annotations

from dataclasses import dataclass

from graphify.engines.native import pool
from graphify.engines.native.elements.element import Element
from graphify.engines.native.llvm import BIT, I32, I64, PTR, VOID, Function, Spot, V
from graphify.engines.native.loops.program import (
    Allocate,
    Apply,
    Call,
    Const,
    Expr,
    For,
    Let,
    Reduce,
    Result,
    Var,
    index,
    times,
)
from graphify.engines.native.loops.sections import ALONE
from graphify.engines.native.loops.walk import parts, statements
from graphify.engines.native.translate import addresses, cells, costs, outline, vectors
from graphify.engines.native.translate.arithmetic import is_arithmetic
from graphify.engines.native.translate.cells import Cell
from graphify.engines.native.translate.reductions import IDEMPOTENT, NEUTRAL, neutral
from graphify.engines.native.translate.statements import FAILURE_WORDS, block, combine
from graphify.engines.native.translate.writer import PENDING, Domain, Home, Unit, Writer, number

PARALLEL = pool.NAMES[0]
CHUNKS = 64  # of a loop that reduces
GRAIN = 5_000_000  # picoseconds of work that are worth a thread
NO_TURN, BEFORE_ALL = (1 << 63) - 1, -1
# Words of the shared part: the failed turn, status, lock, and the words of the message.
TURN, STATUS, LOCK, WORDS = 0, 1, 2, 3
SHARED = WORDS + FAILURE_WORDS


def possible(w: Writer, stmt: For) -> bool:
    """Whether the turns may run on other threads, and whether that could ever be worth it."""
    from graphify.engines.native.translate.loops import changes

    if w.is_parallel:
        return False
    declared = {s.var for s in statements(stmt.body) if isinstance(s, Let)}
    reduced = {s.var for s in statements(stmt.body) if isinstance(s, Reduce)}
    for inner in statements(stmt.body):
        match inner:
            case Call(function="host" | "routine" | "draw" | "lock"):
                return False  # Python, and deep stacks, are for threads of the user's own
            case Allocate(buffer) if isinstance(buffer.home, Result):
                return False
            case Reduce(var, op) if var not in declared and op not in IDEMPOTENT | set(NEUTRAL):
                return False
    if any(c not in declared and c not in reduced for c in changes(stmt.body)):
        return False
    total = times(_work(w, stmt), stmt.extent)
    return not isinstance(total, Const) or total.value > GRAIN


def _work(w: Writer, stmt: For) -> Expr:
    """The picoseconds of one turn, in what is known in front of the loop."""
    sight = costs.Sight(lambda e: bound(w, e), lambda loop: vectors.lanes_for(w, loop))
    return costs.work(stmt.body, sight)


def bound(w: Writer, expr: Expr) -> Expr:
    """An upper bound or a guess of an extent, in variables that are there."""
    if all(p in w.values for p in parts(expr) if isinstance(p, Var)):
        return expr if is_arithmetic(expr) else index(64)
    match expr:
        case Apply("minimum", (a, b)):
            for side in (b, a):
                if isinstance(least := bound(w, side), Const):
                    return least
        case Var() if expr in w.unit.inner:
            return bound(w, w.unit.inner[expr])
    return index(64)


@dataclass(slots=True)
class Sum:
    """A variable of the outside that the body reduces into."""

    var: Var
    op: str
    place: V | None = None  # of the chunks' copies


def write(w: Writer, stmt: For) -> None:
    """Share the turns between threads, or run them here if they are few."""
    f = w.f
    for s in statements(stmt.body):
        if isinstance(s, Let) and not s.var.mutable:
            w.unit.inner[s.var] = s.value
    extent, work = addresses.value(w, stmt.extent), addresses.value(w, _work(w, stmt))
    found = outline.needs(stmt.body)
    found.declared.add(stmt.var)
    sums = _sums(stmt)
    found.declared |= {s.var for s in sums}
    context = outline.context_for(w, found)
    base = f.alloca(I64, SHARED + context.size + 4 * len(sums) + 4)
    words = outline.Words(f, base)
    words.count = SHARED
    words.put([w.home.outputs])
    outline.fill(w, words, context)
    if sums:
        _chunked(w, stmt, context, sums, base, words, extent, work)
    else:
        _leave_if(w, _run(w, _turns(w, stmt, context), base, extent, work), base)


def open_shared(f: Function, base: V) -> None:
    f.store(number(NO_TURN), f.at(base, I64, TURN))
    f.store(number(0), f.at(base, I64, STATUS))
    f.store(number(0), f.at(base, I64, LOCK))


def _run(w: Writer, name: str, base: V, count: V, work: V) -> V:
    """The status after so many pieces of so much work each."""
    return w.f.call(_share(w.unit), I32, [V(PTR, f"@{name}"), base, count, work])


def _share(unit: Unit) -> str:
    """The function that runs pieces, on several threads if they are worth it; its name."""
    name = "share"
    if name in unit.module.functions:
        return name
    params = [(PTR, "pieces"), (PTR, "shared"), (I64, "count"), (I64, "work")]
    f = unit.module.function(name, I32, params, "internal", "noinline nounwind")
    pieces, shared, count, work = (f.args[name] for _, name in params)
    open_shared(f, shared)
    work = f.intrinsic("smax", work, number(1))
    grain = f.add(f.binary("sdiv", number(GRAIN - 1), work), number(1))
    many, few, after = f.label("many"), f.label("few"), f.label("after")
    f.br_if(f.icmp("sgt", count, grain), many, few)
    f.start(many)
    f.call(PARALLEL, VOID, [pieces, shared, count, grain])
    f.br(after)
    f.start(few)
    f.call_pointer(pieces, VOID, [shared, number(0), count])
    f.br(after)
    f.start(after)
    f.ret(f.load(I32, f.at(shared, I64, STATUS)))
    return name


def leave_if_failed(w: Writer, base: V) -> None:
    """Leave if a turn has failed."""
    _leave_if(w, w.f.load(I32, w.f.at(base, I64, STATUS)), base)


def _leave_if(w: Writer, status: V, base: V) -> None:
    f = w.f

    def words() -> None:
        size, source = number(8 * FAILURE_WORDS), f.at(base, I64, WORDS)
        f.call("llvm.memcpy.p0.p0.i64", VOID, [w.home.words, source, size, V(BIT, "false")])

    w.leave_if(f.icmp("ne", status, V(I32, "0")), status, words)


# --- the function of the turns --------------------------------------------------------------------


def open_pieces(w: Writer, context: outline.Context, hint: str) -> tuple[Writer, outline.Words, V]:
    """A function of pieces, with what it finds in its context; and where its turn is noted."""
    unit = w.unit
    params = [(PTR, "context"), (I64, "begin"), (I64, "end")]
    f = unit.module.function(unit.name(hint), VOID, params, "internal", "noinline nounwind")
    base = f.args["context"]
    go, over = f.label("go"), f.label("over")
    failed = f.op(I64, f"load atomic i64, {f.at(base, I64, TURN)} monotonic, align 8")
    f.br_if(f.icmp("slt", failed, f.args["begin"]), over, go, w.unlikely)
    f.start(over)
    f.ret()
    f.start(go)
    status, turn = f.alloca(I32), f.alloca(I64)
    f.store(V(I32, "0"), status)
    words = outline.Words(f, base)
    words.count = SHARED
    (outputs,) = words.take([PTR])
    own = f.alloca(I64, FAILURE_WORDS)
    home = Home(Domain(), V(PTR, "%slots"), V(PTR, "%arena"), own, outputs, status, f.label("exit"))
    inner = Writer(unit, f, home)
    inner.is_parallel = True
    return inner, words, turn


def _body(w: Writer, stmt: For, turn: V, begin: V, end: V) -> None:
    from graphify.engines.native.translate.loops import OUTER, changes, poll_some, turns

    takes_long = any(isinstance(s, Call) and s.function in ALONE for s in statements(stmt.body))
    with turns(w, stmt.var, begin, end, changes(stmt.body)) as i:
        w.f.store(i, turn)
        poll_some(w, i, 1 if takes_long else OUTER, lambda: _poll(w))
        block(w, stmt.body)


def _poll(w: Writer) -> None:
    """Leave if somebody has pressed Ctrl-C, here or on another thread."""
    stop = w.f.call(_stopped(w.unit), BIT, [w.f.args["context"]])
    w.leave_if(stop, V(I32, str(PENDING)))


def _stopped(unit: Unit) -> str:
    """The function that says so; its name."""
    name = "stopped"
    if name in unit.module.functions:
        return name
    f = unit.module.function(name, BIT, [(PTR, "shared")], "internal", "noinline cold nounwind")
    pressed = f.icmp("ne", f.call("graphify_poll", I32, []), V(I32, "0"))
    f.ret(f.or_(pressed, _is_stopped(f, f.args["shared"])))
    return name


def _is_stopped(f: Function, shared: V) -> V:
    failed = f.op(I64, f"load atomic i64, {f.at(shared, I64, TURN)} monotonic, align 8")
    return f.icmp("eq", failed, number(BEFORE_ALL))


def leave_if_stopped(w: Writer) -> None:
    """Leave if another thread, the only one that sees signals, has seen one."""
    w.leave_if(_is_stopped(w.f, w.f.args["context"]), V(I32, str(PENDING)))


def close_pieces(w: Writer, turn: V, spot: Spot) -> None:
    """The way out: free what is left, and report a failure."""
    from graphify.engines.native.translate.program import leave_memory, reserve

    f = w.f
    f.br(w.home.exit)
    f.start(w.home.exit)
    status = f.load(I32, w.home.status)
    failed = f.icmp("ne", status, V(I32, "0"))
    leave_memory(w, failed)
    report, done = f.label("report"), f.label("reported")
    f.br_if(failed, report, done, w.unlikely)
    f.start(report)
    pending = f.icmp("eq", status, V(I32, str(PENDING)))
    failed_turn = f.select(pending, number(BEFORE_ALL), f.load(I64, turn))
    name = failure_report(w.unit)
    f.call(name, VOID, [f.args["context"], failed_turn, status, w.home.words])
    f.br(done)
    f.start(done)
    f.ret()
    with f.writing_at(spot):
        reserve(w)


def _turns(w: Writer, stmt: For, context: outline.Context) -> str:
    inner, words, turn = open_pieces(w, context, "turns")
    spot = inner.f.spot("body")
    outline.empty(inner, words, context)
    _body(inner, stmt, turn, inner.f.args["begin"], inner.f.args["end"])
    close_pieces(inner, turn, spot)
    return inner.f.name


def failure_report(unit: Unit) -> str:
    """The function that notes a failure, unless an earlier turn has failed; its name."""
    name = "report_failure"
    if name in unit.module.functions:
        return name
    params = [(PTR, "shared"), (I64, "turn"), (I32, "status"), (PTR, "words")]
    f = unit.module.function(name, VOID, params, "internal", "noinline cold nounwind")
    shared = f.args["shared"]
    lock = f.at(shared, I64, LOCK)
    wait, got = f.label("wait"), f.label("got")
    f.br(wait)
    f.start(wait)
    taken = f.op(I64, f"atomicrmw xchg {lock}, i64 1 acquire")
    f.br_if(f.icmp("eq", taken, number(0)), got, wait)
    f.start(got)
    first = f.at(shared, I64, TURN)
    with f.when(f.icmp("slt", f.args["turn"], f.load(I64, first))):
        f.line(f"store atomic {f.args['turn']}, {first} monotonic, align 8")
        f.store(f.convert("zext", f.args["status"], I64), f.at(shared, I64, STATUS))
        for word in range(FAILURE_WORDS):
            value = f.load(I64, f.at(f.args["words"], I64, word))
            f.store(value, f.at(shared, I64, WORDS + word))
    f.line(f"store atomic i64 0, {lock} release, align 8")
    f.ret()
    return name


# --- reductions -----------------------------------------------------------------------------------


def _sums(stmt: For) -> list[Sum]:
    declared = {s.var for s in statements(stmt.body) if isinstance(s, Let)}
    found: dict[Var, Sum] = {}
    for s in statements(stmt.body):
        if isinstance(s, Reduce) and s.var not in declared:
            found.setdefault(s.var, Sum(s.var, s.op))
    return list(found.values())


def _chunked(
    w: Writer,
    stmt: For,
    context: outline.Context,
    sums: list[Sum],
    base: V,
    words: outline.Words,
    extent: V,
    work: V,
) -> None:
    f = w.f
    size = f.binary("sdiv", f.add(extent, number(CHUNKS - 1)), number(CHUNKS))
    size = f.intrinsic("smax", size, number(1))
    chunks = f.binary("sdiv", f.add(extent, f.sub(size, number(1))), size)
    words.put([extent, size])
    for s in sums:
        cell = _cell(w, s.var)
        words.put(cell.raw(f))
        s.place = f.alloca(I64, CHUNKS * len(cell.places))
        words.put([s.place])
    name = _chunks(w, stmt, context, sums)
    status = _run(w, name, base, chunks, f.mul(work, size))
    _combine(w, sums, chunks)
    _leave_if(w, status, base)


def _cell(w: Writer, var: Var) -> Cell:
    cell = w.values[var]
    assert isinstance(cell, Cell), var.name
    return cell


def _chunks(w: Writer, stmt: For, context: outline.Context, sums: list[Sum]) -> str:
    """The function that runs chunks, each with its own copies of the variables."""
    from graphify.engines.native.translate.loops import turns

    inner, words, turn = open_pieces(w, context, "chunks")
    f = inner.f
    spot = f.spot("body")
    outline.empty(inner, words, context)
    extent, size = words.take([I64, I64])
    starts, places, own = [], [], []
    for s in sums:
        make = cells.wide if s.var in w.unit.wide else cells.plain
        cell = make(f, s.var.dtype)
        starts.append(words.take(cell.types))
        places.append(words.take([PTR])[0])
        own.append(cell)
        inner.define(s.var, cell)
    with turns(
        inner, None, f.args["begin"], f.args["end"], frozenset(s.var for s in sums)
    ) as chunk:
        for s, cell, start in zip(sums, own, starts, strict=True):
            _begin(inner, s, cell, start)
        first = f.mul(chunk, size)
        last = f.intrinsic("smin", f.add(first, size), extent)
        _body(inner, stmt, turn, first, last)
        for cell, place in zip(own, places, strict=True):
            count = len(cell.places)
            for k, part in enumerate(cell.raw(f)):
                at = f.add(f.mul(chunk, number(count)), number(k))
                f.store(part, f.at(place, I64, at), align=8)
    close_pieces(inner, turn, spot)
    return f.name


def _begin(w: Writer, s: Sum, cell: Cell, start: list[V]) -> None:
    """What the copy of a chunk starts with."""
    if s.op in IDEMPOTENT:
        cell.set_raw(w.f, start)
        return
    cell.write(w.f, neutral(w.f, s.op, s.var.dtype, 1))


def _combine(w: Writer, sums: list[Sum], chunks: V) -> None:
    """All copies into the variables, in order."""
    from graphify.engines.native.translate.loops import turns

    f = w.f
    with turns(w, None, number(0), chunks, frozenset(s.var for s in sums)) as chunk:
        for s in sums:
            cell, count = _cell(w, s.var), len(_cell(w, s.var).places)
            assert s.place is not None
            parts_ = []
            for k, type in enumerate(cell.types):
                at = f.add(f.mul(chunk, number(count)), number(k))
                parts_.append(f.load(type, f.at(s.place, I64, at), align=8))
            if s.op == "add":
                cells.merge(f, cell, parts_)
            else:
                assert cell.dtype is not None
                combine(w, cell, s.op, Element(cell.dtype, tuple(parts_)))
