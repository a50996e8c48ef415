"""Matrix products of every size from the two kernels.

Small products, and those with few terms, run the strided kernel over the operands where they lie.
Large ones are cut into blocks that fit the caches and packed, after Goto and van de Geijn, "Anatomy
of high-performance matrix multiplication" (2008): for each stretch of columns and of terms, the
right operand is packed, then the left one, and groups of tiles are shared among the threads.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from graphify.engines.native.llvm import I32, I64, PTR, VOID, Function, Module, V
from graphify.engines.native.products.microkernel import JOB, ZERO, i64, smin
from graphify.engines.native.products.model import Plan
from graphify.engines.native.products.numbers import Numbers, cell
from graphify.engines.native.products.tiles import when_last

_RANGE = [(PTR, "job"), (I64, "begin"), (I64, "end")]  # what graphify_parallel calls
_ENOUGH = 200_000  # multiplications of numbers in vectors of 16 that take about 5 us
_TASKS = 32  # at least, where there is so much to do
_SLENDER = 4  # panels of the narrowest stretch of columns


def upwards(f: Function, a: V, b: V) -> V:
    """a / b, rounded up; neither negative."""
    return f.binary("udiv", f.add(a, f.sub(b, i64(1))), b)


def parallel(f: Function, name: str, job: V, count: V, cost: V, enough: int) -> None:
    """name(job, begin, end) over [0, count), in pieces that are worth it.

    Args:
        cost: what an item costs, positive.
        enough: how much of that takes about 5 us.
    """
    alone, shared, done = f.label("alone"), f.label("shared"), f.label("done")
    f.br_if(f.icmp("sle", f.mul(count, cost), i64(enough)), alone, shared)
    f.start(alone)
    f.call(name, VOID, [job, ZERO, count])
    f.br(done)
    f.start(shared)
    grain = upwards(f, i64(enough), cost)
    f.call("graphify_parallel", VOID, [V(PTR, f"@{name}"), job, count, grain])
    f.start(done)


# --- where they lie -------------------------------------------------------------------------------


def write_strided_tiles(made: Module, numbers: Numbers, plan: Plan) -> None:
    """strided_rows(job, begin, end): tiles of rows, across all columns; or the other way."""
    width = i64(plan.strided.vectors * numbers.lanes)
    f = made.function("strided_rows", VOID, _RANGE, "internal")
    panels = upwards(f, JOB.get(f, f.args["job"], "columns"), width)
    _strided_block(f, numbers, width, (f.args["begin"], f.args["end"]), (ZERO, panels))
    f = made.function("strided_columns", VOID, _RANGE, "internal")
    job = f.args["job"]
    tiles = upwards(f, JOB.get(f, job, "rows"), JOB.get(f, job, "tile_rows"))
    _strided_block(f, numbers, width, (ZERO, tiles), (f.args["begin"], f.args["end"]))


def _strided_block(
    f: Function, numbers: Numbers, width: V, tiles: tuple[V, V], panels: tuple[V, V]
) -> None:
    """Each panel of columns with each tile of rows, so that the panel stays in the first cache."""
    job, one = f.args["job"], cell(numbers.dtype)
    a, b, c = (JOB.pointer(f, job, name) for name in ("a", "b", "c"))
    a_row, c_row, c_col, skip = (
        JOB.get(f, job, name) for name in ("a_row", "c_row", "c_col", "b_skip")
    )
    m, n, height = (JOB.get(f, job, name) for name in ("rows", "columns", "tile_rows"))
    with f.counting(*panels) as p:
        column = f.mul(p, width)
        columns = smin(f, f.sub(n, column), width)
        right = f.at(b, one, f.mul(p, skip))
        with f.counting(*tiles) as t:
            row = f.mul(t, height)
            rows = smin(f, f.sub(m, row), height)
            place = f.add(f.mul(row, c_row), f.mul(column, c_col))
            left, target = f.at(a, one, f.mul(row, a_row)), f.at(c, one, place)
            f.call("tile_at", VOID, [job, left, right, target, row, column, rows, columns])
    f.ret()


def run_strided(f: Function, numbers: Numbers, plan: Plan, job: V) -> None:
    """All tiles of a job, with rows balanced over them: 10 rows are 5 and 5."""
    m, n, k = (JOB.get(f, job, name) for name in ("rows", "columns", "terms"))
    width = plan.strided.vectors * numbers.lanes
    tiles = upwards(f, m, i64(plan.strided.rows))
    panels = upwards(f, n, i64(width))
    JOB.set(f, job, tile_rows=m)
    with f.when(f.icmp("sgt", tiles, i64(1))):
        JOB.set(f, job, tile_rows=upwards(f, m, tiles))
    height = JOB.get(f, job, "tile_rows")
    work = f.mul(f.mul(height, i64(width)), f.add(k, i64(8)))
    by_rows, by_columns, done = f.label("rows"), f.label("columns"), f.label("done")
    f.br_if(f.icmp("sge", tiles, panels), by_rows, by_columns)
    for label, name, count, other in (
        (by_rows, "strided_rows", tiles, panels),
        (by_columns, "strided_columns", panels, tiles),
    ):
        f.start(label)
        parallel(f, name, job, count, f.mul(work, other), enough(numbers))
        f.br(done)
    f.start(done)


def enough(numbers: Numbers) -> int:
    """Multiplications that take about 5 us."""
    return max(1, _ENOUGH * numbers.lanes // 16 // numbers.parts**2)


# --- packed ---------------------------------------------------------------------------------------


def write_pack_panels(made: Module, numbers: Numbers, plan: Plan, packs: tuple[str, str]) -> None:
    """pack_panels(job, begin, end): first those of the left operand, then of the right one."""
    f = made.function("pack_panels", VOID, _RANGE, "internal")
    job = f.args["job"]
    panels = JOB.get(f, job, "row_panels")
    width = plan.packed.vectors * numbers.lanes
    with f.counting(f.args["begin"], f.args["end"]) as p:
        left, right, done = f.label("left"), f.label("right"), f.label("done")
        f.br_if(f.icmp("slt", p, panels), left, right)
        f.start(left)
        names = ("a", "a_row", "a_col", "first_row", "block_rows", "a_packed")
        _pack_panel(f, numbers, packs[0], plan.packed.rows, p, names)
        f.br(done)
        f.start(right)
        names = ("b", "b_col", "b_row", "first_column", "block_columns", "b_packed")
        _pack_panel(f, numbers, packs[1], width, f.sub(p, panels), names)
        f.start(done)
    f.ret()


def _pack_panel(
    f: Function, numbers: Numbers, pack: str, width: int, panel: V, names: tuple[str, ...]
) -> None:
    job = f.args["job"]
    source, target = JOB.pointer(f, job, names[0]), JOB.pointer(f, job, names[-1])
    wide, long, first, count = (JOB.get(f, job, name) for name in names[1:-1])
    terms, start = JOB.get(f, job, "depth"), f.mul(panel, i64(width))
    across = f.mul(f.add(first, start), wide)
    place = f.add(across, f.mul(JOB.get(f, job, "first_term"), long))
    valid = smin(f, f.sub(count, start), i64(width))
    source = f.at(source, cell(numbers.dtype), place)
    target = f.at(target, cell(numbers.working), f.mul(start, terms))
    f.call(pack, VOID, [source, wide, long, valid, terms, target])


def write_multiply(made: Module, numbers: Numbers, plan: Plan, kernel: str) -> None:
    """multiply(job, begin, end): task t is stretch t % stretches of columns, group t // that."""
    f = made.function("multiply", VOID, _RANGE, "internal")
    job = f.args["job"]
    group, stretch = JOB.get(f, job, "group"), JOB.get(f, job, "stretch")
    row_panels, column_panels = (JOB.get(f, job, x) for x in ("row_panels", "column_panels"))
    stretches = upwards(f, column_panels, stretch)
    with f.counting(f.args["begin"], f.args["end"]) as t:
        top = f.mul(f.binary("udiv", t, stretches), group)
        left = f.mul(f.binary("urem", t, stretches), stretch)
        bottom = smin(f, f.add(top, group), row_panels)
        right = smin(f, f.add(left, stretch), column_panels)
        with f.counting(left, right) as column, f.counting(top, bottom) as row:
            _multiply_panels(f, numbers, plan, kernel, row, column)
    f.ret()


def _multiply_panels(
    f: Function, numbers: Numbers, plan: Plan, kernel: str, row_panel: V, column_panel: V
) -> None:
    job, tile = f.args["job"], plan.packed
    width = tile.vectors * numbers.lanes
    own, one = cell(numbers.working), cell(numbers.dtype)
    depth = JOB.get(f, job, "depth")
    scratch = f.alloca(own, tile.rows * width)
    i, j = f.mul(row_panel, i64(tile.rows)), f.mul(column_panel, i64(width))
    a = f.at(JOB.pointer(f, job, "a_packed"), own, f.mul(i, depth))
    b = f.at(JOB.pointer(f, job, "b_packed"), own, f.mul(j, depth))
    f.call(kernel, VOID, [job, a, b, scratch, ZERO, ZERO])
    rows = smin(f, f.sub(JOB.get(f, job, "block_rows"), i), i64(tile.rows))
    columns = smin(f, f.sub(JOB.get(f, job, "block_columns"), j), i64(width))
    row, column = (
        f.add(JOB.get(f, job, first), x) for first, x in (("first_row", i), ("first_column", j))
    )
    down, along = JOB.get(f, job, "c_row"), JOB.get(f, job, "c_col")
    c = f.at(JOB.pointer(f, job, "c"), one, f.add(f.mul(row, down), f.mul(column, along)))
    f.call("take", VOID, [job, scratch, i64(width), c, rows, columns])
    when_last(f, c, row, column, rows, columns)


def run_packed(f: Function, numbers: Numbers, plan: Plan, job: V) -> None:
    """The blocks of a job, one after the other; the threads share what is in a block.

    Between blocks signals are handled: Ctrl-C leaves the rest out, and `stopped` in the job.
    """
    m, n, k = (JOB.get(f, job, name) for name in ("rows", "columns", "terms"))
    width = plan.packed.vectors * numbers.lanes
    deepest = k if numbers.rounds else smin(f, k, i64(plan.depth))
    most_rows = _fitting(f, numbers, plan, plan.rows, plan.packed.rows, deepest)
    most_columns = _fitting(f, numbers, plan, plan.columns, width, deepest)
    a_packed = _room(f, numbers, smin(f, m, most_rows), plan.packed.rows, deepest)
    b_packed = _room(f, numbers, smin(f, n, most_columns), width, deepest)
    JOB.set(f, job, a_packed=a_packed, b_packed=b_packed, direct=ZERO, stopped=ZERO)
    with _blocks(f, n, most_columns) as (column, columns):
        JOB.set(f, job, first_column=column, block_columns=columns)
        with _blocks(f, k, deepest) as (term, depth):
            last = f.icmp("eq", f.add(term, depth), k)
            adding = f.icmp("ne", term, ZERO)
            JOB.set(f, job, first_term=term, depth=depth)
            JOB.set(f, job, last=f.convert("zext", last, I64))
            JOB.set(f, job, adding=f.convert("zext", adding, I64))
            with _blocks(f, m, most_rows) as (row, rows):
                JOB.set(f, job, first_row=row, block_rows=rows)
                with f.when(f.icmp("eq", JOB.get(f, job, "stopped"), ZERO)):
                    _run_block(f, plan, width, job, row, rows, columns)
                    status = f.call("graphify_poll", I32, [])
                    JOB.set(f, job, stopped=f.convert("sext", status, I64))
    f.call("graphify_free", VOID, [a_packed])
    f.call("graphify_free", VOID, [b_packed])


def _run_block(f: Function, plan: Plan, width: int, job: V, row: V, rows: V, columns: V) -> None:
    row_panels = upwards(f, rows, i64(plan.packed.rows))
    column_panels = upwards(f, columns, i64(width))
    groups = upwards(f, row_panels, i64(plan.group))
    group = upwards(f, row_panels, groups)
    slender = f.binary("udiv", column_panels, i64(_SLENDER))
    wanted = smin(f, upwards(f, i64(_TASKS), groups), slender)
    stretch = upwards(f, column_panels, f.intrinsic("smax", wanted, i64(1)))
    JOB.set(f, job, row_panels=row_panels, column_panels=column_panels)
    JOB.set(f, job, group=group, stretch=stretch)
    fresh = f.icmp("eq", row, ZERO)  # otherwise the right operand is packed already
    panels = f.add(row_panels, f.select(fresh, column_panels, ZERO))
    parallel(f, "pack_panels", job, panels, i64(1), 2)
    tasks = f.mul(groups, upwards(f, column_panels, stretch))
    parallel(f, "multiply", job, tasks, i64(1), 1)


@contextmanager
def _blocks(f: Function, stop: V, step: V) -> Iterator[tuple[V, V]]:
    """Blocks of [0, stop): where each begins and how long it is."""
    with f.counting(ZERO, upwards(f, stop, step)) as number:
        begin = f.mul(number, step)
        yield begin, smin(f, f.sub(stop, begin), step)


def _fitting(f: Function, numbers: Numbers, plan: Plan, most: int, width: int, depth: V) -> V:
    """How many rows or columns to pack at a time: fewer where sums may not be cut."""
    if not numbers.rounds:
        return i64(most)
    panels = f.binary("udiv", i64(most * plan.depth), f.mul(depth, i64(width)))
    least = f.intrinsic("smax", panels, i64(1))
    return f.mul(smin(f, least, i64(most // width)), i64(width))


def _room(f: Function, numbers: Numbers, count: V, width: int, depth: V) -> V:
    """Memory for so many rows or columns of packed numbers."""
    padded = f.mul(upwards(f, count, i64(width)), i64(width))
    size = f.mul(f.mul(padded, depth), i64(numbers.working.itemsize))
    return allocate(f, size)


def allocate(f: Function, size: V) -> V:
    """Memory for a while; the process ends where there is none."""
    block = f.call("graphify_allocate", PTR, [size])
    with f.when(f.icmp("eq", block, V(PTR, "null"))):
        f.call("abort", VOID, [])
    return block
