"""Products with a vector, which take as long as reading the matrix takes.

Both are for a left operand of one row, c[j] = sum over t of a[t] * b[t, j]:

    dots(job, begin, end)   columns of b contiguous: scalar products with the vector, four at a time
    sums(job, begin, end)   rows of b contiguous: multiples of rows added up, four at a time
"""

from __future__ import annotations

from functools import reduce

from graphify.engines.native.elements.element import Element, splat
from graphify.engines.native.llvm import I64, PTR, VOID, Function, Module, V
from graphify.engines.native.products.blocking import parallel, upwards
from graphify.engines.native.products.microkernel import JOB, ZERO, i64, smin
from graphify.engines.native.products.numbers import Numbers, cell, spans
from graphify.engines.native.products.tiles import when_last

_RANGE = [(PTR, "job"), (I64, "begin"), (I64, "end")]
_TOGETHER = 4  # columns, or rows, of b
_BLOCK = 64  # vectors of sums that stay in the first cache
_STRIP = 32  # vectors of a row that a thread reads at least: memory is read ahead along rows
_ENOUGH = 100_000  # bytes of b that take about 5 us to read


# --- scalar products ------------------------------------------------------------------------------


def write_dots(made: Module, numbers: Numbers) -> None:
    f = made.function("dots", VOID, _RANGE, "internal", "noinline nounwind")
    begin, end = f.args["begin"], f.args["end"]
    whole = f.add(begin, f.and_(f.sub(end, begin), i64(-_TOGETHER)))
    with f.counting(begin, whole, _TOGETHER) as j:
        _dots_at(f, numbers, j, columns=_TOGETHER, vectors=2)
    with f.counting(whole, end) as j:
        _dots_at(f, numbers, j, columns=1, vectors=8)
    step = JOB.get(f, f.args["job"], "c_col")
    c = f.at(JOB.pointer(f, f.args["job"], "c"), cell(numbers.dtype), f.mul(begin, step))
    when_last(f, c, ZERO, begin, i64(1), f.sub(end, begin))
    f.ret()


def _dots_at(f: Function, numbers: Numbers, first: V, columns: int, vectors: int) -> None:
    """Some scalar products side by side, each in several sums that do not wait for each other."""
    job, one, lanes = f.args["job"], cell(numbers.dtype), numbers.lanes
    terms, step = JOB.get(f, job, "terms"), JOB.get(f, job, "b_col")
    a, b, c = (JOB.pointer(f, job, name) for name in ("a", "b", "c"))
    lines = [f.at(b, one, f.mul(f.add(first, i64(x)), step)) for x in range(columns)]

    def more(at: V, sums: list[Element], lanes: int, mask: V | None = None) -> list[Element]:
        x = numbers.load(f, f.at(a, one, at), lanes, mask)
        ys = [numbers.load(f, f.at(line, one, at), lanes, mask) for line in lines]
        return [numbers.multiply_add(f, x, y, s) for y, s in zip(ys, sums, strict=True)]

    block, zero = lanes * vectors, numbers.zero(f, lanes)
    blocks, whole = f.and_(terms, i64(-block)), f.and_(terms, i64(-lanes))
    with f.folding(ZERO, blocks, _flat([zero] * columns * vectors), block) as fold:
        sums = _shaped(numbers, fold.values)
        for v in range(vectors):
            part = slice(v * columns, (v + 1) * columns)
            sums[part] = more(f.add(fold.index, i64(v * lanes)), sums[part], lanes)
        fold.values = _flat(sums)
    sums = _shaped(numbers, fold.results)
    sums = [
        reduce(lambda x, y: numbers.add(f, x, y), sums[column::columns])
        for column in range(columns)
    ]
    with f.folding(blocks, whole, _flat(sums), lanes) as fold:
        fold.values = _flat(more(fold.index, _shaped(numbers, fold.values), lanes))
    sums = _shaped(numbers, fold.results)
    if not numbers.masked:  # the rest one by one
        sums, lanes = [numbers.total(f, x) for x in sums], 1
    with f.folding(whole, terms, _flat(sums), lanes) as fold:
        mask = numbers.first(f, f.sub(terms, fold.index), lanes) if numbers.masked else None
        fold.values = _flat(more(fold.index, _shaped(numbers, fold.values), lanes, mask))
    apart = JOB.get(f, job, "c_col")
    for column, x in enumerate(_shaped(numbers, fold.results)):
        place = f.at(c, one, f.mul(f.add(first, i64(column)), apart))
        numbers.store(f, numbers.total(f, x), place)


def run_dots(f: Function, numbers: Numbers, job: V) -> None:
    """Needs the numbers of `a` next to each other."""
    size = f.mul(JOB.get(f, job, "terms"), i64(numbers.dtype.itemsize))
    parallel(f, "dots", job, JOB.get(f, job, "columns"), f.add(size, i64(64)), _ENOUGH)


def _flat(sums: list[Element]) -> list[V]:
    return [part for x in sums for part in x.parts]


def _shaped(numbers: Numbers, registers: list[V]) -> list[Element]:
    parts = numbers.parts
    return [
        Element(numbers.working, tuple(registers[k : k + parts]))
        for k in range(0, len(registers), parts)
    ]


# --- sums of rows ---------------------------------------------------------------------------------


def write_sums(made: Module, numbers: Numbers) -> None:
    """begin, end count strips of columns."""
    f = made.function("sums", VOID, _RANGE, "internal", "noinline nounwind")
    job, one, own = f.args["job"], cell(numbers.dtype), cell(numbers.working)
    terms, strip = JOB.get(f, job, "terms"), i64(_STRIP * numbers.lanes)
    scratch = f.alloca(own, _BLOCK * numbers.lanes)
    stop = smin(f, f.mul(f.args["end"], strip), JOB.get(f, job, "columns"))
    with f.counting(f.mul(f.args["begin"], strip), stop, _BLOCK * numbers.lanes) as first:
        count = smin(f, f.sub(stop, first), i64(_BLOCK * numbers.lanes))
        with f.counting(ZERO, count, numbers.lanes) as at:
            numbers.store(f, numbers.zero(f, numbers.lanes), f.at(scratch, own, at), packed=True)
        whole = f.and_(terms, i64(-_TOGETHER))
        with f.counting(ZERO, whole, _TOGETHER) as t:
            _add_rows(f, numbers, scratch, first, count, t, _TOGETHER)
        with f.counting(whole, terms) as t:
            _add_rows(f, numbers, scratch, first, count, t, 1)
        c = f.at(JOB.pointer(f, job, "c"), one, f.mul(first, JOB.get(f, job, "c_col")))
        f.call("take", VOID, [job, scratch, ZERO, c, i64(1), count])
        when_last(f, c, ZERO, first, i64(1), count)
    f.ret()


def _add_rows(
    f: Function, numbers: Numbers, scratch: V, first: V, count: V, term: V, rows: int
) -> None:
    """Multiples of neighbouring rows of b, added to the sums."""
    job, one, own = f.args["job"], cell(numbers.dtype), cell(numbers.working)
    a, b = JOB.pointer(f, job, "a"), JOB.pointer(f, job, "b")
    along, down = JOB.get(f, job, "a_col"), JOB.get(f, job, "b_row")
    terms = [f.add(term, i64(r)) for r in range(rows)]
    factors = [numbers.load(f, f.at(a, one, f.mul(t, along)), 1) for t in terms]
    vectors = [splat(f, x, numbers.lanes) for x in factors]
    lines = [f.at(b, one, f.add(f.mul(t, down), first)) for t in terms]

    def add(at: V, lanes: int, mask: V | None) -> None:
        place = f.at(scratch, own, at)
        x = numbers.load(f, place, lanes, mask, packed=True)
        for factor, line in zip(factors if lanes == 1 else vectors, lines, strict=True):
            y = numbers.load(f, f.at(line, one, at), lanes, mask)
            x = numbers.multiply_add(f, factor, y, x)
        numbers.store(f, x, place, mask, packed=True)

    spans(f, numbers, count, add)


def run_sums(f: Function, numbers: Numbers, job: V) -> None:
    strips = upwards(f, JOB.get(f, job, "columns"), i64(_STRIP * numbers.lanes))
    strip = i64(numbers.dtype.itemsize * numbers.lanes * _STRIP)
    size = f.mul(JOB.get(f, job, "terms"), strip)
    parallel(f, "sums", job, strips, f.add(size, i64(64)), _ENOUGH)
