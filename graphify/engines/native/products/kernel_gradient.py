"""The gradient of a convolution for its kernel: one matrix product for each tap of the kernel.

Rows are channels (of all taps that are neighbours in memory), columns features, and the terms of
the sums all places of all samples, a run for each line. Long sums are cut into parts whose operands
fit the cache.
"""

from __future__ import annotations

from graphify.engines.native.llvm import I64, PTR, VOID, Function, Module, V
from graphify.engines.native.products import blocking
from graphify.engines.native.products.blocking import parallel, upwards
from graphify.engines.native.products.microkernel import ZERO, i64, smin
from graphify.engines.native.products.model import Plan
from graphify.engines.native.products.numbers import Numbers, cell
from graphify.engines.native.products.windows import (
    NEAR,
    WORK,
    Sizes,
    any_outside,
    axes,
    digits_of,
    flag,
    padded_copy,
    product_of,
    reach_of,
    set_axes,
    sum_of,
)

_LONG = 512  # terms that are added in one go at least


def write_taps(made: Module, numbers: Numbers, width: int) -> None:
    """taps(work, begin, end): unit u is a tile of rows, in a group, of a tap."""
    f = made.function("taps", VOID, [(PTR, "work"), (I64, "begin"), (I64, "end")], "internal")
    shared, one = f.args["work"], cell(numbers.dtype)
    work = WORK.make(f)  # each thread is at another part of the sums
    f.call("memcpy", PTR, [work, shared, i64(8 * len(WORK.names))])
    runs, part = WORK.get(f, shared, "runs"), WORK.get(f, work, "part")
    parts = f.intrinsic("smax", upwards(f, runs, part), i64(1))
    columns, offsets = WORK.get(f, work, "columns"), WORK.pointer(f, work, "offsets")
    places = f.mul(WORK.get(f, work, "depth"), WORK.get(f, work, "b_row"))
    whole = f.icmp("eq", parts, i64(1))
    direct = flag(f, whole) if numbers.masked else ZERO
    with f.counting(ZERO, parts) as number:
        first = f.mul(number, part)
        some = f.intrinsic("smax", smin(f, f.sub(runs, first), part), i64(1))
        WORK.set(f, work, runs=some, direct=direct)
        WORK.set(f, work, offsets=f.at(offsets, I64, first))
        WORK.set(f, work, adding=flag(f, f.icmp("ne", number, ZERO)))
        b = f.at(WORK.pointer(f, work, "b"), one, f.mul(first, places))
        with f.counting(ZERO, WORK.get(f, work, "panels")) as p:
            column = f.mul(p, i64(width))
            wide = smin(f, f.sub(columns, column), i64(width))
            right = f.at(b, one, f.mul(p, WORK.get(f, work, "b_skip")))
            with f.counting(f.args["begin"], f.args["end"]) as unit:
                _tap_tile(f, numbers, work, unit, right, column, wide)
    f.ret()


def _tap_tile(
    f: Function, numbers: Numbers, work: V, unit: V, right: V, column: V, wide: V
) -> None:
    one = cell(numbers.dtype)
    rows, height = WORK.get(f, work, "rows"), WORK.get(f, work, "tile_rows")
    taps, pitches = axes(f, WORK, work, "taps"), axes(f, WORK, work, "pitch")
    steps = axes(f, WORK, work, "tap")
    bases = (upwards(f, rows, height), WORK.get(f, work, "groups"), taps[2], taps[1])
    (tile, group, tap2, tap1), tap0 = digits_of(f, unit, bases)
    tap = (tap0, tap1, tap2)
    row = f.mul(tile, height)
    count = smin(f, f.sub(rows, row), height)
    offsets = [f.mul(t, f.mul(s, p)) for t, s, p in zip(tap, steps, pitches, strict=True)]
    a = f.add(sum_of(f, offsets), f.add(f.mul(group, WORK.get(f, work, "a_group")), row))
    number = f.add(f.mul(f.add(f.mul(tap[0], taps[1]), tap[1]), taps[2]), tap[2])
    line = f.mul(f.add(f.mul(number, rows), row), WORK.get(f, work, "c_row"))
    c = f.add(line, f.add(f.mul(group, WORK.get(f, work, "c_group")), column))
    b = f.at(right, one, f.mul(group, WORK.get(f, work, "b_group")))
    left, target = (
        f.at(WORK.pointer(f, work, f"places_{side}"), one, at) for side, at in (("a", a), ("c", c))
    )
    f.call("tile_at", VOID, [work, left, b, target, row, column, count, wide])


def write_kernel(made: Module, numbers: Numbers, tiling: Plan, name: str) -> None:
    params = [(PTR, word) for word in ("x", "y", "w", "geometry")]
    f = made.function(name, VOID, params)
    g = Sizes(f)
    with f.when(f.icmp("eq", product_of(f, [*g.kernel, g.channels, g.outputs]), ZERO)):
        f.ret()
    work = WORK.make(f)
    reach = reach_of(f, g)
    low = [f.sub(ZERO, p) for p in g.padding]
    wanted = any_outside(f, g.input, reach, low)
    x, pitches, a_sample, spare = padded_copy(
        f, numbers, f.args["x"], g.samples, g.inputs, g.input, reach, low, wanted
    )
    runs = product_of(f, [g.samples, *g.output[:2]])
    offsets = blocking.allocate(f, f.mul(f.add(runs, i64(1)), i64(8)))
    f.store(ZERO, offsets)
    steps = [f.mul(s, pitch) for s, pitch in zip(g.stride, pitches, strict=True)]
    with (
        f.counting(ZERO, g.samples) as n,
        f.counting(ZERO, g.output[0]) as i,
        f.counting(ZERO, g.output[1]) as j,
    ):
        number = f.add(f.mul(f.add(f.mul(n, g.output[0]), i), g.output[1]), j)
        offset = sum_of(f, [f.mul(n, a_sample), f.mul(i, steps[0]), f.mul(j, steps[1])])
        f.store(offset, f.at(offsets, I64, number))
    joined = f.icmp("eq", f.mul(g.dilation[2], pitches[2]), g.channels)
    rows = f.select(joined, f.mul(g.kernel[2], g.channels), g.channels)
    taps = [*g.kernel[:2], f.select(joined, i64(1), g.kernel[2])]
    height = upwards(f, rows, upwards(f, rows, i64(tiling.strided.rows)))
    width = tiling.strided.vectors * numbers.lanes
    panels = upwards(f, g.features, i64(width))
    set_axes(f, WORK, work, taps=taps, tap=g.dilation, pitch=pitches)
    WORK.set(f, work, groups=g.groups, rows=rows, columns=g.features, panels=panels)
    WORK.set(f, work, places_a=x, places_c=f.args["w"], a_group=g.channels, c_group=g.features)
    WORK.set(f, work, a_row=i64(1), a_col=steps[2], c_row=g.outputs, c_col=i64(1))
    WORK.set(f, work, runs=runs, offsets=offsets, tile_rows=height)
    depth = f.select(f.icmp("eq", runs, ZERO), ZERO, g.output[2])
    WORK.set(f, work, depth=depth)
    WORK.set(f, work, epilogue=ZERO, context=ZERO, turned=ZERO, last=i64(1))
    WORK.set(f, work, part=_runs_at_once(f, numbers, g, steps[2], runs))
    packed = _right_operand(f, numbers, g, work, width)
    WORK.set(f, work, b_run=f.mul(depth, WORK.get(f, work, "b_row")))
    units = product_of(f, [*taps, g.groups, upwards(f, rows, height)])
    cost = f.mul(f.mul(height, f.mul(panels, i64(width))), f.mul(runs, g.output[2]))
    parallel(f, "taps", work, units, f.add(cost, i64(64)), blocking.enough(numbers))
    for block in (packed, offsets, spare):
        f.call("graphify_free", VOID, [block])
    f.ret()


def _runs_at_once(f: Function, numbers: Numbers, g: Sizes, step: V, runs: V) -> V:
    """How many runs of terms to add in one go: all where sums may not be cut."""
    if numbers.rounds:
        return f.intrinsic("smax", runs, i64(1))
    size = f.mul(f.mul(g.output[2], f.add(step, g.outputs)), i64(numbers.dtype.itemsize))
    near = f.binary("udiv", i64(NEAR), f.add(size, i64(1)))
    long = upwards(f, i64(_LONG), f.intrinsic("smax", g.output[2], i64(1)))
    return f.intrinsic("smax", near, long)


def _right_operand(f: Function, numbers: Numbers, g: Sizes, work: V, width: int) -> V:
    """y as the right operand; without masks, packed to whole panels. What to free."""
    if numbers.masked:
        WORK.set(f, work, b=f.args["y"], b_row=g.outputs, b_skip=i64(width), b_group=g.features)
        return V(PTR, "null")
    terms = product_of(f, [g.samples, *g.output])
    skip, panels = f.mul(terms, i64(width)), WORK.get(f, work, "panels")
    group = f.mul(skip, panels)
    one = cell(numbers.dtype)
    size = f.mul(f.mul(group, g.groups), i64(numbers.dtype.itemsize))
    block = blocking.allocate(f, f.add(size, i64(64)))
    with f.counting(ZERO, g.groups) as number, f.counting(ZERO, panels) as p:
        column = f.mul(p, i64(width))
        source = f.at(f.args["y"], one, f.add(f.mul(number, g.features), column))
        target = f.at(block, one, f.add(f.mul(number, group), f.mul(p, skip)))
        valid = smin(f, f.sub(g.features, column), i64(width))
        f.call("pack", VOID, [source, i64(1), g.outputs, valid, terms, target])
    WORK.set(f, work, b=block, b_row=i64(width), b_skip=skip, b_group=group)
    return block
