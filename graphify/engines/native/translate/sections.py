"""Sections: each becomes a function, which the pool runs beside the others.

    void @sections(ptr context, i64 begin, i64 end)     those from `begin` on; (-1, -1): stop

The context is that of a parallel loop (parallel.py) whose turns are the sections, so failures are
reported as there: that of the first section in order counts. A section leaves what it has changed
in the words of the context where it found it. Those that are too short, by an estimate that is made
at run time from the sizes, run one after the other on the caller's thread; so do routines of LAPACK
that use several threads by themselves: threads of two such calls would wait for each other.
"""

from __future__ import annotations

from graphify.engines.native import lapack, pool
from graphify.engines.native.elements.element import register_types
from graphify.engines.native.llvm import I32, I64, PTR, VOID, V
from graphify.engines.native.loops.program import Call, Let, Section, Sections
from graphify.engines.native.loops.walk import statements
from graphify.engines.native.translate import addresses, costs, outline, parallel, vectors
from graphify.engines.native.translate.cells import Cell
from graphify.engines.native.translate.loops import changes
from graphify.engines.native.translate.statements import FAILURE_WORDS, block, rule
from graphify.engines.native.translate.writer import PENDING, Writer, number

SECTIONS = pool.NAMES[1]
BESIDE = 50_000_000  # picoseconds beside the longest section that are worth waking a thread
BLAS = 1  # threads that a routine of LAPACK may use by itself beside others


@rule(Sections)
def _sections(w: Writer, stmt: Sections) -> None:
    if w.is_parallel:
        for part in stmt.parts:
            _in_line(w, part)
        return
    f = w.f
    apart = _worth_threads(w, stmt)
    context = outline.context_for(w, outline.needs(stmt.parts))
    base = f.alloca(I64, parallel.SHARED + context.size + 1)
    parallel.open_shared(f, base)
    words = outline.Words(f, base)
    words.count = parallel.SHARED
    words.put([w.home.outputs])
    outline.fill(w, words, context)
    name, count = _dispatcher(w, stmt, context), number(len(stmt.parts))
    together, alone, after = f.label("together"), f.label("alone"), f.label("after")
    f.br_if(apart, together, alone)
    f.start(together)
    f.call(SECTIONS, VOID, [V(PTR, f"@{name}"), base, count])
    f.br(after)
    f.start(alone)
    f.call(name, VOID, [base, number(0), count])
    f.br(after)
    f.start(after)
    parallel.leave_if_failed(w, base)
    back = _behind_values(outline.Words(f, base), context)
    for thing in context.cells:
        cell = outline.cell_of(w, thing)
        cell.set_raw(f, back.take(cell.types))


def _in_line(w: Writer, part: object) -> None:
    assert isinstance(part, Section)
    with w.scope():
        block(w, part.body)


def _worth_threads(w: Writer, stmt: Sections) -> V:
    """Whether there is enough to do beside the longest section."""
    f = w.f
    for s in statements(stmt.parts):
        if isinstance(s, Let) and not s.var.mutable:
            w.unit.inner[s.var] = s.value
    sight = costs.Sight(lambda e: parallel.bound(w, e), lambda loop: vectors.lanes_for(w, loop))
    works = [addresses.value(w, costs.work((part,), sight)) for part in stmt.parts]
    total = longest = works[0]
    for work in works[1:]:
        total, longest = f.add(total, work), f.intrinsic("smax", longest, work)
    worth = f.icmp("sge", f.sub(total, longest), number(BESIDE))
    if any(isinstance(s, Call) and s.function == "lapack" for s in statements(stmt.parts)):
        worth = f.and_(worth, f.icmp("sle", f.call(lapack.THREADS, I64, []), number(BLAS)))
    return worth


def _behind_values(words: outline.Words, context: outline.Context) -> outline.Words:
    """The words of a context from those of its cells on."""
    values = sum(len(register_types(v.dtype, 1)) for v in context.values)
    words.count = parallel.SHARED + 1 + values
    return words


def _dispatcher(w: Writer, stmt: Sections, context: outline.Context) -> str:
    """The function that runs some of the sections; its name."""
    unit = w.unit
    names = [_section(w, part, k, context) for k, part in enumerate(stmt.parts)]
    params = [(PTR, "context"), (I64, "begin"), (I64, "end")]
    f = unit.module.function(unit.name("sections"), VOID, params, "internal", "nounwind")
    base, begin, end = (f.args[name] for _, name in params)
    with f.when(f.icmp("slt", begin, number(0))):
        unsaid, status = f.alloca(I64, FAILURE_WORDS), V(I32, str(PENDING))
        stop = [base, number(parallel.BEFORE_ALL), status, unsaid]
        f.call(parallel.failure_report(unit), VOID, stop)
        f.ret()
    for k, name in enumerate(names):
        mine = f.and_(f.icmp("sle", begin, number(k)), f.icmp("slt", number(k), end))
        with f.when(mine):
            f.call(name, VOID, [base, number(k), number(k + 1)])
    f.ret()
    return f.name


def _section(w: Writer, part: object, k: int, context: outline.Context) -> str:
    assert isinstance(part, Section)
    inner, words, turn = parallel.open_pieces(w, context, "section")
    f = inner.f
    spot = f.spot("body")
    f.store(number(k), turn)
    outline.empty(inner, words, context)
    inner.watch = lambda: parallel.leave_if_stopped(inner)
    block(inner, part.body)
    _hand_back(inner, part, context)
    parallel.close_pieces(inner, turn, spot)
    return f.name


def _hand_back(w: Writer, part: Section, context: outline.Context) -> None:
    """What a section has changed, to where others look for it."""
    changed = changes(part.body)
    words = _behind_values(outline.Words(w.f, w.f.args["context"]), context)
    for thing in context.cells:
        cell: Cell = outline.cell_of(w, thing)
        if thing in changed:
            words.put(cell.raw(w.f))
        else:
            words.count += len(cell.types)
