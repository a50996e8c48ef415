"""A convolution's result, line by line: products of overlapping windows and the kernel.

    phase(ptr work)

does all places that meet the same taps of the kernel: all places of a convolution, every so many of
a gradient for a strided input. The kernel is packed to panels first, its taps in the order in which
the runs of terms come.
"""

from __future__ import annotations

from collections.abc import Sequence

from graphify.engines.native.llvm import I64, PTR, VOID, Function, Module, V
from graphify.engines.native.products import blocking
from graphify.engines.native.products.blocking import parallel, upwards
from graphify.engines.native.products.interface import AXES
from graphify.engines.native.products.microkernel import ZERO, i64, smin
from graphify.engines.native.products.model import Plan
from graphify.engines.native.products.numbers import Numbers, cell
from graphify.engines.native.products.windows import (
    NEAR,
    WORK,
    axes,
    digits_of,
    flag,
    product_of,
    set_axes,
    sum_of,
)

_BLOCK = 8  # tiles of a line that are done together for each panel of the kernel


# --- the kernel's numbers -------------------------------------------------------------------------


def write_pack_taps(made: Module, numbers: Numbers, width: int) -> None:
    """pack_taps(work, begin, end): panels of the kernel, its taps in the order of the runs."""
    f = made.function("pack_taps", VOID, [(PTR, "work"), (I64, "begin"), (I64, "end")], "internal")
    work, one = f.args["work"], cell(numbers.dtype)
    panels, each = WORK.get(f, work, "panels"), WORK.get(f, work, "each")
    wide, long, step = (WORK.get(f, work, name) for name in ("w_wide", "w_long", "w_tap"))
    counts = axes(f, WORK, work, "taps")
    lists = [WORK.pointer(f, work, f"tap{axis}") for axis in range(AXES)]
    kernel1, kernel2 = WORK.get(f, work, "kernel1"), WORK.get(f, work, "kernel2")
    with f.counting(f.args["begin"], f.args["end"]) as unit:
        panel, group = f.binary("urem", unit, panels), f.binary("udiv", unit, panels)
        column = f.mul(panel, i64(width))
        valid = smin(f, f.sub(WORK.get(f, work, "columns"), column), i64(width))
        source = f.at(WORK.pointer(f, work, "w"), one, f.mul(column, wide))
        source = f.at(source, one, f.mul(group, WORK.get(f, work, "w_group")))
        target = f.at(WORK.pointer(f, work, "b"), one, f.mul(unit, WORK.get(f, work, "b_skip")))
        with (
            f.counting(ZERO, counts[0]) as i,
            f.counting(ZERO, counts[1]) as j,
            f.counting(ZERO, counts[2]) as k,
        ):
            taps = [f.load(I64, f.at(t, I64, x)) for t, x in zip(lists, (i, j, k), strict=True)]
            tap = f.add(f.mul(f.add(f.mul(taps[0], kernel1), taps[1]), kernel2), taps[2])
            number = f.add(f.mul(f.add(f.mul(i, counts[1]), j), counts[2]), k)
            at = f.at(target, one, f.mul(f.mul(number, each), i64(width)))
            start = f.at(source, one, f.mul(tap, step))
            f.call("pack", VOID, [start, wide, long, valid, each, at])
    f.ret()


# --- lines of places ------------------------------------------------------------------------------


def write_lines(made: Module, numbers: Numbers, width: int) -> None:
    """lines(work, begin, end): unit u is block u % blocks of a line, in a group, of a sample.

    A small kernel meets one unit after the other. Of a large one each panel, while it is in the
    second cache, meets all units.
    """
    f = made.function("lines", VOID, [(PTR, "work"), (I64, "begin"), (I64, "end")], "internal")
    work = WORK.make(f)  # a copy: each thread has terms of its own to skip
    f.call("memcpy", PTR, [work, f.args["work"], i64(8 * len(WORK.names))])
    depth, at_once = WORK.get(f, work, "depth"), WORK.get(f, work, "at_once")
    count = upwards(f, f.sub(f.args["end"], f.args["begin"]), at_once)
    with f.counting(ZERO, count) as part:
        first = f.add(f.args["begin"], f.mul(part, at_once))
        last = smin(f, f.add(first, at_once), f.args["end"])
        with f.counting(ZERO, WORK.get(f, work, "panels")) as p, f.counting(first, last) as unit:
            _unit(f, numbers, work, width, depth, unit, p)
    f.ret()


def _unit(f: Function, numbers: Numbers, work: V, width: int, depth: V, unit: V, panel: V) -> None:
    """The tiles of one block of a line with one panel of the kernel."""
    one = cell(numbers.dtype)
    counts = axes(f, WORK, work, "count")
    groups, blocks = WORK.get(f, work, "groups"), WORK.get(f, work, "blocks")
    height, columns = WORK.get(f, work, "tile_rows"), WORK.get(f, work, "columns")
    (block, group, place1, place0), sample = digits_of(
        f, unit, (blocks, groups, counts[1], counts[0])
    )
    a, c = (_line(f, work, side, (sample, place0, place1)) for side in "ac")
    row = f.binary("sdiv", c, WORK.get(f, work, "c_row"))
    left, target = (
        f.at(
            WORK.pointer(f, work, f"places_{side}"),
            one,
            f.add(at, f.mul(group, WORK.get(f, work, f"{side}_group"))),
        )
        for side, at in (("a", a), ("c", c))
    )
    start = f.add(
        f.mul(group, WORK.get(f, work, "b_group")), f.mul(panel, WORK.get(f, work, "b_skip"))
    )
    b = f.at(WORK.pointer(f, work, "b"), one, start)
    begin = f.mul(block, f.mul(height, i64(_BLOCK)))
    end = smin(f, f.add(begin, f.mul(height, i64(_BLOCK))), counts[2])
    column = f.mul(panel, i64(width))
    wide = smin(f, f.sub(columns, column), i64(width))
    with f.counting(ZERO, upwards(f, f.sub(end, begin), height)) as t:
        place = f.add(begin, f.mul(t, height))
        rows = smin(f, f.sub(end, place), height)
        at = f.at(left, one, f.mul(place, WORK.get(f, work, "a_row")))
        at, right = _skip_padding(f, numbers, work, width, depth, place, rows, at, b)
        to = f.at(target, one, f.add(f.mul(place, WORK.get(f, work, "c_row")), column))
        where = [f.add(row, place), f.add(f.mul(group, columns), column), rows, wide]
        f.call("tile_at", VOID, [work, at, right, to, *where])


def _skip_padding(
    f: Function, numbers: Numbers, work: V, width: int, depth: V, place: V, rows: V, a: V, b: V
) -> tuple[V, V]:
    """The operands of a tile less the terms at both ends of its runs that all rows have in padding.

    With a kernel longer than the input, most of them.
    """
    one, each = cell(numbers.dtype), WORK.get(f, work, "each")
    one_or_more = [f.intrinsic("smax", x, i64(1)) for x in (WORK.get(f, work, "pitch2"), each)]
    step = f.binary("sdiv", WORK.get(f, work, "a_row"), one_or_more[0])
    taps = f.binary("udiv", depth, one_or_more[1])
    base = f.load(I64, WORK.pointer(f, work, "tap_at2"))
    first = f.add(base, f.mul(place, step))
    last = f.add(base, f.mul(f.sub(f.add(place, rows), i64(1)), step))
    begin = f.intrinsic("smax", f.sub(WORK.get(f, work, "inside"), last), ZERO)
    end = smin(f, f.sub(WORK.get(f, work, "outside"), first), taps)
    skip = f.icmp("ne", WORK.get(f, work, "skip"), ZERO)
    begin = f.select(skip, begin, ZERO)
    terms = f.mul(f.intrinsic("smax", f.sub(end, begin), ZERO), each)
    WORK.set(f, work, depth=f.select(skip, terms, depth))
    start = f.mul(begin, each)
    return f.at(a, one, start), f.at(b, one, f.mul(start, i64(width)))


def _line(f: Function, work: V, side: str, places: Sequence[V]) -> V:
    """Where the line of a sample and two places begins."""
    names = (f"{side}_sample", f"{side}_step0", f"{side}_step1")
    return sum_of(
        f, [f.mul(p, WORK.get(f, work, name)) for p, name in zip(places, names, strict=True)]
    )


def write_phase(made: Module, numbers: Numbers, tiling: Plan) -> None:
    """phase(work): the places of a result that meet the same taps."""
    f = made.function("phase", VOID, [(PTR, "work")], "internal", "noinline nounwind")
    work = f.args["work"]
    taps, each = axes(f, WORK, work, "taps"), WORK.get(f, work, "each")
    groups, columns = WORK.get(f, work, "groups"), WORK.get(f, work, "columns")
    width = tiling.strided.vectors * numbers.lanes
    with f.when(f.icmp("eq", product_of(f, taps), ZERO)):
        set_axes(f, WORK, work, taps=[ZERO] * AXES)
    taps = axes(f, WORK, work, "taps")
    total = product_of(f, taps)
    offsets = blocking.allocate(f, f.mul(f.add(total, i64(1)), i64(8)))
    WORK.set(f, work, b_row=i64(width))
    _write_offsets(f, work, offsets)
    panels = upwards(f, columns, i64(width))
    skip = f.mul(f.mul(total, each), i64(width))
    size = f.mul(f.mul(skip, panels), f.mul(groups, i64(numbers.dtype.itemsize)))
    b = blocking.allocate(f, f.add(size, i64(64)))
    WORK.set(f, work, b=b, offsets=offsets, panels=panels, b_skip=skip)
    WORK.set(f, work, b_group=f.mul(skip, panels), a_col=i64(1), c_col=i64(1), adding=ZERO)
    WORK.set(f, work, direct=i64(int(numbers.masked)), turned=ZERO, last=i64(1))
    parallel(f, "pack_taps", work, f.mul(panels, groups), f.add(skip, i64(64)), 50_000)
    large = f.icmp("sgt", size, i64(NEAR))
    WORK.set(f, work, at_once=f.select(large, i64(1 << 40), i64(1)))
    _join_lines(f, work)
    counts = axes(f, WORK, work, "count")
    rows = upwards(f, counts[2], i64(tiling.strided.rows))
    height = upwards(f, counts[2], rows)
    blocks = upwards(f, counts[2], f.mul(height, i64(_BLOCK)))
    WORK.set(f, work, tile_rows=height, blocks=blocks)
    WORK.set(f, work, a_row=WORK.get(f, work, "a_step2"), c_row=WORK.get(f, work, "c_step2"))
    samples = WORK.get(f, work, "samples")
    units = product_of(f, [samples, counts[0], counts[1], groups, blocks])
    terms = f.mul(WORK.get(f, work, "runs"), WORK.get(f, work, "depth"))
    cost = f.mul(smin(f, counts[2], i64(_BLOCK * tiling.strided.rows)), f.add(terms, i64(8)))
    cost = f.mul(cost, f.mul(panels, i64(width)))
    parallel(f, "lines", work, units, cost, blocking.enough(numbers))
    f.call("graphify_free", VOID, [offsets])
    f.call("graphify_free", VOID, [b])
    f.ret()


def _write_offsets(f: Function, work: V, offsets: V) -> None:
    """Where each run of terms begins. Taps that are neighbours in memory make one run."""
    taps, pitches = axes(f, WORK, work, "taps"), axes(f, WORK, work, "pitch")
    each = WORK.get(f, work, "each")
    ats = [WORK.pointer(f, work, f"tap_at{axis}") for axis in range(AXES)]
    several = f.icmp("sgt", taps[2], i64(1))
    apart = f.sub(
        f.load(I64, f.at(ats[2], I64, f.select(several, i64(1), ZERO))), f.load(I64, ats[2])
    )
    near = f.icmp("eq", f.mul(apart, pitches[2]), each)
    joined = f.and_(several, near)
    steps = [taps[0], taps[1], f.select(joined, i64(1), taps[2])]
    depth = f.select(joined, f.mul(each, taps[2]), each)
    runs = product_of(f, steps)
    none = f.icmp("eq", runs, ZERO)
    depth = f.select(none, ZERO, depth)
    WORK.set(f, work, runs=f.select(none, i64(1), runs), depth=depth)
    WORK.set(f, work, b_run=f.mul(depth, WORK.get(f, work, "b_row")))
    padded = f.icmp("ne", WORK.get(f, work, "skip"), ZERO)
    WORK.set(f, work, skip=flag(f, f.and_(padded, f.and_(joined, f.not_(none)))))
    f.store(ZERO, offsets)
    with (
        f.counting(ZERO, steps[0]) as i,
        f.counting(ZERO, steps[1]) as j,
        f.counting(ZERO, steps[2]) as k,
    ):
        places = [f.load(I64, f.at(t, I64, x)) for t, x in zip(ats, (i, j, k), strict=True)]
        offset = sum_of(f, [f.mul(p, pitch) for p, pitch in zip(places, pitches, strict=True)])
        number = f.add(f.mul(f.add(f.mul(i, steps[1]), j), steps[2]), k)
        f.store(offset, f.at(offsets, I64, number))


def _join_lines(f: Function, work: V) -> None:
    """Lines that continue each other, in both arrays, become one: of a pointwise kernel, all."""
    outer = (("count1", "a_step1", "c_step1"), ("count0", "a_step0", "c_step0"))
    for count, *steps in (*outer, ("samples", "a_sample", "c_sample")):
        length, several = WORK.get(f, work, "count2"), WORK.get(f, work, count)
        follows = [
            f.icmp("eq", WORK.get(f, work, step), f.mul(length, WORK.get(f, work, inner)))
            for step, inner in zip(steps, ("a_step2", "c_step2"), strict=True)
        ]
        with f.when(f.and_(*follows)):
            WORK.set(f, work, **{"count2": f.mul(length, several), count: i64(1), "skip": ZERO})
