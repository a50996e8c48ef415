"""The library functions of convolutions, one module for a dtype.

    void graphify_convolution_<dtype>(ptr x, ptr w, ptr y, ptr geometry, ptr epilogue, ptr context)
    void graphify_convolution_input_<dtype>(ptr y, ptr w, ptr x, ptr geometry)
    void graphify_convolution_kernel_<dtype>(ptr x, ptr y, ptr w, ptr geometry)

The three ops of `graphify/ops/convolution.py`; the third argument is the result. All arrays are
C-ordered: x [N, S0, S1, S2, groups * C], w [K0, K1, K2, C, groups * Q], y [N, O0, O1, O2, groups * Q].
`geometry` is i64 words:

    N, groups, C, Q, then for each of three spatial axes: S, K, O, stride, dilation, padding

Fewer spatial axes are written as leading axes 1, 1, 1, 1, 1, 0 (`geometry` makes these words).
The epilogue (or null) is that of matrix products: rows are places of y from the first sample on,
columns its channels.

Nothing is unrolled into a matrix of windows: a line of places along the last axis is a matrix product
whose left operand overlaps itself, with one run of terms (see `microkernel.py`) for each stretch of
the window. Padding is a copy of the input with zeros around it. The gradient for a strided input is
one such product for each phase of its places, since each phase meets its own part of the kernel.
"""

from __future__ import annotations

from collections.abc import Sequence

from graphify.engines.native.llvm import I8, I32, I64, PTR, VOID, Function, Module, V
from graphify.engines.native.products import blocking, packing, tiles
from graphify.engines.native.products.blocking import parallel, upwards
from graphify.engines.native.products.microkernel import JOB, ZERO, i64, smin
from graphify.engines.native.products.model import Plan, plan
from graphify.engines.native.products.numbers import Numbers, Record, cell

AXES = 3
_AXIS = ("input", "kernel", "output", "stride", "dilation", "padding")


def _each(*words: str) -> list[str]:
    """The names of words that every axis has."""
    return [f"{word}{axis}" for word in words for axis in range(AXES)]


GEOMETRY = Record(
    *("samples", "groups", "channels", "features"),
    *(f"{word}{axis}" for axis in range(AXES) for word in _AXIS),
)
# A job of the strided kernels first, since that is what they get; then what is around it.
WORK = Record(
    *JOB.names,
    *("samples", "groups", "places_a", "places_c"),  # the two: where the first place lies
    *_each(
        "count", "a_step", "c_step"
    ),  # places of the result on each axis, and the way to the next
    *("a_sample", "c_sample", "a_group", "c_group"),
    *_each(
        "pitch", "taps", "tap", "tap_at"
    ),  # a tap: which place of the kernel, where in the input
    *("kernel1", "kernel2", "w", "w_tap", "w_wide", "w_long", "w_group", "each"),
    *("panels", "b_group", "blocks"),
    "part",  # of the runs, that is added in one go
    # Places of the last axis of the copy that are not padding, and whether to skip the others.
    *("inside", "outside", "skip"),
)
# The copy of an input with zeros around it.
ROOM = Record("source", "target", "samples", "bytes", *_each("length", "room", "low"))

_BLOCK = 8  # tiles of a line that are done together for each panel of the kernel
_NEAR = 256 << 10  # bytes of the operands of a gradient for the kernel that stay in a cache


def names(dtype_name: str) -> tuple[str, str, str]:
    return (
        f"graphify_convolution_{dtype_name}",
        f"graphify_convolution_input_{dtype_name}",
        f"graphify_convolution_kernel_{dtype_name}",
    )


def geometry(
    samples: int, groups: int, channels: int, features: int, axes: Sequence[Sequence[int]]
) -> list[int]:
    """The words of a geometry.

    Args:
        axes: (S, K, O, stride, dilation, padding) for each spatial axis, at most three.
    """
    missing = [(1, 1, 1, 1, 1, 0)] * (AXES - len(axes))
    return [samples, groups, channels, features, *(x for axis in (*missing, *axes) for x in axis)]


def module(numbers: Numbers) -> Module:
    """The convolutions of a dtype."""
    made = Module(f"convolution_{numbers.dtype}", numbers.target)
    tiling = plan(numbers)
    tiles.write_finished(made)
    tiles.write_take(made, numbers, packed=False)
    tiles.write_tile_at(made, numbers, tiling.strided)
    width = tiling.strided.vectors * numbers.lanes
    packing.write_transpose(made, numbers)
    packing.write_pack(made, numbers, width, working=False, name="pack")
    _write_pad(made)
    _write_pack_taps(made, numbers, width)
    _write_lines(made, numbers, width)
    _write_phase(made, numbers, tiling)
    forward, input, kernel = names(str(numbers.dtype))
    _write_forward(made, numbers, forward)
    _write_input(made, numbers, input)
    _write_taps(made, numbers, width)
    _write_kernel(made, numbers, tiling, kernel)
    return made


def _axes(f: Function, record: Record, block: V, word: str) -> list[V]:
    return [record.get(f, block, f"{word}{axis}") for axis in range(AXES)]


def _set_axes(f: Function, record: Record, block: V, **words: Sequence[V]) -> None:
    for word, values in words.items():
        record.set(f, block, **{f"{word}{axis}": value for axis, value in enumerate(values)})


def _product(f: Function, factors: Sequence[V]) -> V:
    result = factors[0]
    for factor in factors[1:]:
        result = f.mul(result, factor)
    return result


def _sum(f: Function, terms: Sequence[V]) -> V:
    result = terms[0]
    for term in terms[1:]:
        result = f.add(result, term)
    return result


def _pitches(f: Function, last: V, lengths: Sequence[V]) -> tuple[list[V], V]:
    """The step of each spatial axis, and from sample to sample."""
    pitch2 = last
    pitch1 = f.mul(pitch2, lengths[2])
    pitch0 = f.mul(pitch1, lengths[1])
    return [pitch0, pitch1, pitch2], f.mul(pitch0, lengths[0])


def _flag(f: Function, condition: V) -> V:
    return f.convert("zext", condition, I64)


# --- padding --------------------------------------------------------------------------------------


def _write_pad(made: Module) -> None:
    """pad(room, begin, end): lines of the copy, each with zeros before and after."""
    f = made.function("pad", VOID, [(PTR, "room"), (I64, "begin"), (I64, "end")], "internal")
    room = f.args["room"]
    length, lines, low = (_axes(f, ROOM, room, word) for word in ("length", "room", "low"))
    size = ROOM.get(f, room, "bytes")  # of the channels of one place
    source, target = ROOM.pointer(f, room, "source"), ROOM.pointer(f, room, "target")
    first = smin(f, f.intrinsic("smax", f.sub(ZERO, low[2]), ZERO), lines[2])
    last = f.intrinsic("smax", smin(f, f.sub(length[2], low[2]), lines[2]), first)
    line_size = f.mul(lines[2], size)
    with f.counting(f.args["begin"], f.args["end"]) as line:
        place1, rest = f.binary("urem", line, lines[1]), f.binary("udiv", line, lines[1])
        place0, sample = f.binary("urem", rest, lines[0]), f.binary("udiv", rest, lines[0])
        at = [f.add(place, shift) for place, shift in zip((place0, place1), low[:2], strict=True)]
        inside = f.and_(*(f.icmp("ult", a, n) for a, n in zip(at, length[:2], strict=True)))
        begin, end = f.select(inside, first, ZERO), f.select(inside, last, ZERO)
        to = f.at(target, I8, f.mul(line, line_size))
        row = f.add(f.mul(f.add(f.mul(sample, length[0]), at[0]), length[1]), at[1])
        column = f.add(f.mul(row, length[2]), f.add(begin, low[2]))
        data = f.mul(f.sub(end, begin), size)
        before, after = f.mul(begin, size), f.mul(end, size)
        zero = V(I32, "0")
        f.call("memset", PTR, [to, zero, before])
        with f.when(f.icmp("sgt", data, ZERO)):
            f.call(
                "memcpy", PTR, [f.at(to, I8, before), f.at(source, I8, f.mul(column, size)), data]
            )
        f.call("memset", PTR, [f.at(to, I8, after), zero, f.sub(line_size, after)])
    f.ret()


def _padded(
    f: Function,
    numbers: Numbers,
    x: V,
    samples: V,
    channels: V,
    length: Sequence[V],
    room: Sequence[V],
    low: Sequence[V],
    wanted: V,
) -> tuple[V, list[V], V, V]:
    """x with zeros around it if that is `wanted`: place v of the copy is place v + low of x.

    Returns:
        where it starts, its pitches, its step from sample to sample, what to free.
    """
    block = ROOM.make(f)
    slot = f.alloca(I64, 2)
    spare = f.at(slot, I64, 1)
    f.store(x, slot)
    f.store(V(PTR, "null"), spare)
    with f.when(wanted):
        size = f.mul(channels, i64(numbers.dtype.itemsize))
        count = _product(f, [samples, *room])
        copy = blocking.allocate(f, f.mul(count, size))
        f.store(copy, slot)
        f.store(copy, spare)
        ROOM.set(f, block, source=x, target=copy, samples=samples, bytes=size)
        _set_axes(f, ROOM, block, length=length, room=room, low=low)
        lines = _product(f, [samples, *room[:2]])
        grain = upwards(f, i64(100_000), f.add(f.mul(room[2], size), i64(64)))
        parallel(f, "pad", block, lines, grain)
    lengths = [f.select(wanted, r, n) for r, n in zip(room, length, strict=True)]
    pitches, step = _pitches(f, channels, lengths)
    return f.load(PTR, slot), pitches, step, f.load(PTR, spare)


# --- the kernel's numbers -------------------------------------------------------------------------


def _write_pack_taps(made: Module, numbers: Numbers, width: int) -> None:
    """pack_taps(work, begin, end): panels of the kernel, its taps in the order of the runs."""
    f = made.function("pack_taps", VOID, [(PTR, "work"), (I64, "begin"), (I64, "end")], "internal")
    work, one = f.args["work"], cell(numbers.dtype)
    panels, each = WORK.get(f, work, "panels"), WORK.get(f, work, "each")
    wide, long, step = (WORK.get(f, work, name) for name in ("w_wide", "w_long", "w_tap"))
    counts = _axes(f, WORK, work, "taps")
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


def _write_lines(made: Module, numbers: Numbers, width: int) -> None:
    """lines(work, begin, end): unit u is block u % blocks of a line, in a group, of a sample."""
    f = made.function("lines", VOID, [(PTR, "work"), (I64, "begin"), (I64, "end")], "internal")
    work, one = (
        WORK.make(f),
        cell(numbers.dtype),
    )  # a copy: each thread has terms of its own to skip
    f.call("memcpy", PTR, [work, f.args["work"], i64(8 * len(WORK.names))])
    depth = WORK.get(f, work, "depth")
    counts = _axes(f, WORK, work, "count")
    groups, blocks = WORK.get(f, work, "groups"), WORK.get(f, work, "blocks")
    height, columns = WORK.get(f, work, "tile_rows"), WORK.get(f, work, "columns")
    panels, skip = WORK.get(f, work, "panels"), WORK.get(f, work, "b_skip")
    with f.counting(f.args["begin"], f.args["end"]) as unit:
        parts, rest = [], unit
        for count in (blocks, groups, counts[1], counts[0]):
            parts.append(f.binary("urem", rest, count))
            rest = f.binary("udiv", rest, count)
        block, group, place1, place0 = parts
        a, c = (_line(f, work, side, (rest, place0, place1)) for side in "ac")
        row = f.binary("sdiv", c, WORK.get(f, work, "c_row"))
        left, target = (
            f.at(WORK.pointer(f, work, f"places_{side}"), one, f.add(at, f.mul(group, step)))
            for side, at, step in (
                ("a", a, WORK.get(f, work, "a_group")),
                ("c", c, WORK.get(f, work, "c_group")),
            )
        )
        right = f.at(WORK.pointer(f, work, "b"), one, f.mul(group, WORK.get(f, work, "b_group")))
        begin = f.mul(block, f.mul(height, i64(_BLOCK)))
        end = smin(f, f.add(begin, f.mul(height, i64(_BLOCK))), counts[2])
        first = f.mul(group, columns)
        with f.counting(ZERO, panels) as p:
            column = f.mul(p, i64(width))
            wide = smin(f, f.sub(columns, column), i64(width))
            b = f.at(right, one, f.mul(p, skip))
            with f.counting(ZERO, upwards(f, f.sub(end, begin), height)) as t:
                place = f.add(begin, f.mul(t, height))
                rows = smin(f, f.sub(end, place), height)
                at = f.at(left, one, f.mul(place, WORK.get(f, work, "a_row")))
                at, right_at = _skip_padding(f, numbers, work, width, depth, place, rows, at, b)
                to = f.add(f.mul(place, WORK.get(f, work, "c_row")), column)
                where = [f.add(row, place), f.add(first, column), rows, wide]
                f.call("tile_at", VOID, [work, at, right_at, f.at(target, one, to), *where])
    f.ret()


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
    return _sum(
        f, [f.mul(p, WORK.get(f, work, name)) for p, name in zip(places, names, strict=True)]
    )


def _write_phase(made: Module, numbers: Numbers, tiling: Plan) -> None:
    """phase(work): the places of a result that meet the same taps."""
    f = made.function("phase", VOID, [(PTR, "work")], "internal", "noinline nounwind")
    work = f.args["work"]
    taps, each = _axes(f, WORK, work, "taps"), WORK.get(f, work, "each")
    groups, columns = WORK.get(f, work, "groups"), WORK.get(f, work, "columns")
    width = tiling.strided.vectors * numbers.lanes
    with f.when(f.icmp("eq", _product(f, taps), ZERO)):
        _set_axes(f, WORK, work, taps=[ZERO] * AXES)
    taps = _axes(f, WORK, work, "taps")
    total = _product(f, taps)
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
    least = upwards(f, i64(50_000), f.add(skip, i64(64)))
    parallel(f, "pack_taps", work, f.mul(panels, groups), least)
    _join_lines(f, work)
    counts = _axes(f, WORK, work, "count")
    rows = upwards(f, counts[2], i64(tiling.strided.rows))
    height = upwards(f, counts[2], rows)
    blocks = upwards(f, counts[2], f.mul(height, i64(_BLOCK)))
    WORK.set(f, work, tile_rows=height, blocks=blocks)
    WORK.set(f, work, a_row=WORK.get(f, work, "a_step2"), c_row=WORK.get(f, work, "c_step2"))
    samples = WORK.get(f, work, "samples")
    units = _product(f, [samples, counts[0], counts[1], groups, blocks])
    terms = f.mul(WORK.get(f, work, "runs"), WORK.get(f, work, "depth"))
    cost = f.mul(smin(f, counts[2], i64(_BLOCK * tiling.strided.rows)), f.add(terms, i64(8)))
    cost = f.mul(cost, f.mul(panels, i64(width)))
    parallel(f, "lines", work, units, upwards(f, i64(blocking.grain(numbers)), cost))
    f.call("graphify_free", VOID, [offsets])
    f.call("graphify_free", VOID, [b])
    f.ret()


def _write_offsets(f: Function, work: V, offsets: V) -> None:
    """Where each run of terms begins. Taps that are neighbours in memory make one run."""
    taps, pitches = _axes(f, WORK, work, "taps"), _axes(f, WORK, work, "pitch")
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
    runs = _product(f, steps)
    none = f.icmp("eq", runs, ZERO)
    depth = f.select(none, ZERO, depth)
    WORK.set(f, work, runs=f.select(none, i64(1), runs), depth=depth)
    WORK.set(f, work, b_run=f.mul(depth, WORK.get(f, work, "b_row")))
    padded = f.icmp("ne", WORK.get(f, work, "skip"), ZERO)
    WORK.set(f, work, skip=_flag(f, f.and_(padded, f.and_(joined, f.not_(none)))))
    f.store(ZERO, offsets)
    with (
        f.counting(ZERO, steps[0]) as i,
        f.counting(ZERO, steps[1]) as j,
        f.counting(ZERO, steps[2]) as k,
    ):
        places = [f.load(I64, f.at(t, I64, x)) for t, x in zip(ats, (i, j, k), strict=True)]
        offset = _sum(f, [f.mul(p, pitch) for p, pitch in zip(places, pitches, strict=True)])
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


# --- the convolution, and the gradient for its input ----------------------------------------------


class _Sizes:
    """The words of a geometry, in registers."""

    def __init__(self, f: Function) -> None:
        block = f.args["geometry"]
        self.samples, self.groups, self.channels, self.features = (
            GEOMETRY.get(f, block, name) for name in ("samples", "groups", "channels", "features")
        )
        self.input, self.kernel, self.output, self.stride, self.dilation, self.padding = (
            _axes(f, GEOMETRY, block, word) for word in _AXIS
        )
        self.inputs = f.mul(self.groups, self.channels)  # channels of x and y
        self.outputs = f.mul(self.groups, self.features)


def _write_forward(made: Module, numbers: Numbers, name: str) -> None:
    params = [(PTR, word) for word in ("x", "w", "y", "geometry", "epilogue", "context")]
    f = made.function(name, VOID, params)
    g = _Sizes(f)
    with f.when(f.icmp("eq", _product(f, [g.samples, *g.output, g.outputs]), ZERO)):
        f.ret()
    work = WORK.make(f)
    lists = _tap_lists(f, g, work)
    for axis in range(AXES):
        with f.counting(ZERO, g.kernel[axis]) as k:
            f.store(k, f.at(lists[axis][0], I64, k))
            f.store(f.mul(k, g.dilation[axis]), f.at(lists[axis][1], I64, k))
    reach = _reach(f, g)
    low = [f.sub(ZERO, p) for p in g.padding]
    wanted = _any_outside(f, g.input, reach, low)
    x, pitches, a_sample, spare = _padded(
        f, numbers, f.args["x"], g.samples, g.inputs, g.input, reach, low, wanted
    )
    _say_inside(f, work, g.input[2], low[2], wanted)
    outs, c_sample = _pitches(f, g.outputs, g.output)
    steps = [f.mul(s, pitch) for s, pitch in zip(g.stride, pitches, strict=True)]
    _set_axes(
        f, WORK, work, count=g.output, a_step=steps, c_step=outs, pitch=pitches, taps=g.kernel
    )
    WORK.set(f, work, places_a=x, places_c=f.args["y"], a_sample=a_sample, c_sample=c_sample)
    WORK.set(f, work, a_group=g.channels, c_group=g.features, columns=g.features, each=g.channels)
    WORK.set(f, work, w_wide=i64(1), w_long=g.outputs, w_group=g.features)
    WORK.set(f, work, epilogue=f.args["epilogue"], context=f.args["context"])
    f.call("phase", VOID, [work])
    f.call("graphify_free", VOID, [spare])
    f.call("graphify_free", VOID, [lists[0][0]])
    f.ret()


def _say_inside(f: Function, work: V, length: V, low: V, wanted: V) -> None:
    """Which places of the copy's last axis come from the input."""
    WORK.set(f, work, inside=f.sub(ZERO, low), outside=f.sub(length, low), skip=_flag(f, wanted))


def _reach(f: Function, g: _Sizes) -> list[V]:
    """How many places of the input all windows together reach over, per axis."""
    return [
        f.add(
            f.add(f.mul(f.sub(o, i64(1)), s), f.mul(f.sub(k, i64(1)), d)),
            i64(1),
        )
        for o, s, k, d in zip(g.output, g.stride, g.kernel, g.dilation, strict=True)
    ]


def _any_outside(f: Function, length: Sequence[V], room: Sequence[V], low: Sequence[V]) -> V:
    """Whether a copy is needed: places before the first or after the last are read."""
    wrong = [f.icmp("ne", x, ZERO) for x in low]
    wrong += [f.icmp("sgt", r, n) for r, n in zip(room, length, strict=True)]
    result = wrong[0]
    for condition in wrong[1:]:
        result = f.or_(result, condition)
    empty = f.icmp("sle", smin(f, smin(f, room[0], room[1]), room[2]), ZERO)
    return f.and_(result, f.not_(empty))


def _tap_lists(f: Function, g: _Sizes, work: V) -> list[tuple[V, V]]:
    """Memory for the taps of each axis, and the words that all directions share."""
    WORK.set(f, work, samples=g.samples, groups=g.groups, w=f.args["w"])
    WORK.set(f, work, kernel1=g.kernel[1], kernel2=g.kernel[2])
    WORK.set(f, work, w_tap=f.mul(g.channels, g.outputs))
    words = [f.add(k, i64(1)) for k in g.kernel]
    block = blocking.allocate(f, f.mul(_sum(f, words), i64(16)))
    lists = []
    at = block
    for axis, count in enumerate(words):
        taps, places = at, f.at(at, I64, count)
        f.store(ZERO, places)
        at = f.at(places, I64, count)
        WORK.set(f, work, **{f"tap{axis}": taps, f"tap_at{axis}": places})
        lists.append((taps, places))
    return lists


def _write_input(made: Module, numbers: Numbers, name: str) -> None:
    """x[i] gets y[o] * w[k] from all o and k with o * stride + k * dilation - padding = i."""
    params = [(PTR, word) for word in ("y", "w", "x", "geometry")]
    f = made.function(name, VOID, params)
    g = _Sizes(f)
    with f.when(f.icmp("eq", _product(f, [g.samples, *g.input, g.inputs]), ZERO)):
        f.ret()
    work = WORK.make(f)
    lists = _tap_lists(f, g, work)
    one = i64(1)
    low, room = [], []
    for s, p, k, d, n in zip(g.stride, g.padding, g.kernel, g.dilation, g.input, strict=True):
        low.append(_floor_div(f, f.sub(p, f.mul(f.sub(k, one), d)), s))  # the first o, and all
        room.append(f.add(f.sub(_floor_div(f, f.sub(f.add(n, p), one), s), low[-1]), one))
    wanted = _any_outside(f, g.output, room, low)
    y, pitches, a_sample, spare = _padded(
        f, numbers, f.args["y"], g.samples, g.outputs, g.output, room, low, wanted
    )
    ins, c_sample = _pitches(f, g.inputs, g.input)
    WORK.set(f, work, places_a=y, a_sample=a_sample, epilogue=ZERO, context=ZERO)
    WORK.set(f, work, a_group=g.features, c_group=g.channels, columns=g.channels, each=g.features)
    WORK.set(f, work, w_wide=g.outputs, w_long=one, w_group=g.features)
    phases = [smin(f, s, n) for s, n in zip(g.stride, g.input, strict=True)]
    with (
        f.counting(ZERO, phases[0]) as i,
        f.counting(ZERO, phases[1]) as j,
        f.counting(ZERO, phases[2]) as k,
    ):
        start = (i, j, k)
        for axis in range(AXES):
            _taps_of_phase(f, g, work, axis, lists[axis], start[axis], low[axis])
        counts = [
            upwards(f, f.sub(n, at), s) for n, at, s in zip(g.input, start, g.stride, strict=True)
        ]
        steps = [f.mul(s, pitch) for s, pitch in zip(g.stride, ins, strict=True)]
        first = _sum(f, [f.mul(at, pitch) for at, pitch in zip(start, ins, strict=True)])
        place = f.at(f.args["x"], cell(numbers.dtype), first)
        _set_axes(f, WORK, work, count=counts, a_step=pitches, c_step=steps, pitch=pitches)
        WORK.set(f, work, places_c=place, samples=g.samples, c_sample=c_sample)
        _say_inside(f, work, g.output[2], low[2], wanted)
        f.call("phase", VOID, [work])
    f.call("graphify_free", VOID, [spare])
    f.call("graphify_free", VOID, [lists[0][0]])
    f.ret()


def _taps_of_phase(
    f: Function, g: _Sizes, work: V, axis: int, lists: tuple[V, V], start: V, low: V
) -> None:
    """The k, from the last to the first, for which o is whole; and that o, counted from `low`."""
    count = f.alloca(I64)
    f.store(ZERO, count)
    with f.counting(ZERO, g.kernel[axis]) as back:
        k = f.sub(f.sub(g.kernel[axis], i64(1)), back)
        times = f.sub(f.add(start, g.padding[axis]), f.mul(k, g.dilation[axis]))
        o = _floor_div(f, times, g.stride[axis])
        with f.when(f.icmp("eq", f.mul(o, g.stride[axis]), times)):
            number = f.load(I64, count)
            f.store(k, f.at(lists[0], I64, number))
            f.store(f.sub(o, low), f.at(lists[1], I64, number))
            f.store(f.add(number, i64(1)), count)
    WORK.set(f, work, **{f"taps{axis}": f.load(I64, count)})


def _floor_div(f: Function, a: V, b: V) -> V:
    """a / b rounded down, for b > 0."""
    quotient = f.binary("sdiv", a, b)
    below = f.icmp("slt", f.sub(a, f.mul(quotient, b)), ZERO)
    return f.sub(quotient, _flag(f, below))


# --- the gradient for the kernel ------------------------------------------------------------------

# Rows are (taps that are neighbours in memory, channel), columns features, terms all places of y.


def _write_taps(made: Module, numbers: Numbers, width: int) -> None:
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
    direct = _flag(f, whole) if numbers.masked else ZERO
    with f.counting(ZERO, parts) as number:
        first = f.mul(number, part)
        some = f.intrinsic("smax", smin(f, f.sub(runs, first), part), i64(1))
        WORK.set(f, work, runs=some, direct=direct)
        WORK.set(f, work, offsets=f.at(offsets, I64, first))
        WORK.set(f, work, adding=_flag(f, f.icmp("ne", number, ZERO)))
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
    taps, pitches = _axes(f, WORK, work, "taps"), _axes(f, WORK, work, "pitch")
    steps = _axes(f, WORK, work, "tap")
    parts, rest = [], unit
    for count in (upwards(f, rows, height), WORK.get(f, work, "groups"), taps[2], taps[1]):
        parts.append(f.binary("urem", rest, count))
        rest = f.binary("udiv", rest, count)
    tile, group, *places = parts
    tap = (rest, places[1], places[0])
    row = f.mul(tile, height)
    count = smin(f, f.sub(rows, row), height)
    offsets = [f.mul(t, f.mul(s, p)) for t, s, p in zip(tap, steps, pitches, strict=True)]
    a = f.add(_sum(f, offsets), f.add(f.mul(group, WORK.get(f, work, "a_group")), row))
    number = f.add(f.mul(f.add(f.mul(tap[0], taps[1]), tap[1]), taps[2]), tap[2])
    line = f.mul(f.add(f.mul(number, rows), row), WORK.get(f, work, "c_row"))
    c = f.add(line, f.add(f.mul(group, WORK.get(f, work, "c_group")), column))
    b = f.at(right, one, f.mul(group, WORK.get(f, work, "b_group")))
    left, target = (
        f.at(WORK.pointer(f, work, f"places_{side}"), one, at) for side, at in (("a", a), ("c", c))
    )
    f.call("tile_at", VOID, [work, left, b, target, row, column, count, wide])


def _write_kernel(made: Module, numbers: Numbers, tiling: Plan, name: str) -> None:
    params = [(PTR, word) for word in ("x", "y", "w", "geometry")]
    f = made.function(name, VOID, params)
    g = _Sizes(f)
    with f.when(f.icmp("eq", _product(f, [*g.kernel, g.channels, g.outputs]), ZERO)):
        f.ret()
    work = WORK.make(f)
    reach = _reach(f, g)
    low = [f.sub(ZERO, p) for p in g.padding]
    wanted = _any_outside(f, g.input, reach, low)
    x, pitches, a_sample, spare = _padded(
        f, numbers, f.args["x"], g.samples, g.inputs, g.input, reach, low, wanted
    )
    runs = _product(f, [g.samples, *g.output[:2]])
    offsets = blocking.allocate(f, f.mul(f.add(runs, i64(1)), i64(8)))
    f.store(ZERO, offsets)
    steps = [f.mul(s, pitch) for s, pitch in zip(g.stride, pitches, strict=True)]
    with (
        f.counting(ZERO, g.samples) as n,
        f.counting(ZERO, g.output[0]) as i,
        f.counting(ZERO, g.output[1]) as j,
    ):
        number = f.add(f.mul(f.add(f.mul(n, g.output[0]), i), g.output[1]), j)
        offset = _sum(f, [f.mul(n, a_sample), f.mul(i, steps[0]), f.mul(j, steps[1])])
        f.store(offset, f.at(offsets, I64, number))
    joined = f.icmp("eq", f.mul(g.dilation[2], pitches[2]), g.channels)
    rows = f.select(joined, f.mul(g.kernel[2], g.channels), g.channels)
    taps = [*g.kernel[:2], f.select(joined, i64(1), g.kernel[2])]
    height = upwards(f, rows, upwards(f, rows, i64(tiling.strided.rows)))
    width = tiling.strided.vectors * numbers.lanes
    panels = upwards(f, g.features, i64(width))
    _set_axes(f, WORK, work, taps=taps, tap=g.dilation, pitch=pitches)
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
    units = _product(f, [*taps, g.groups, upwards(f, rows, height)])
    cost = f.mul(f.mul(height, f.mul(panels, i64(width))), f.mul(runs, g.output[2]))
    least = upwards(f, i64(blocking.grain(numbers)), f.add(cost, i64(64)))
    parallel(f, "taps", work, units, least)
    for block in (packed, offsets, spare):
        f.call("graphify_free", VOID, [block])
    f.ret()


def _runs_at_once(f: Function, numbers: Numbers, g: _Sizes, step: V, runs: V) -> V:
    """How many runs of terms to add in one go: all where sums may not be cut."""
    if numbers.rounds:
        return f.intrinsic("smax", runs, i64(1))
    size = f.mul(f.mul(g.output[2], f.add(step, g.outputs)), i64(numbers.dtype.itemsize))
    return f.intrinsic("smax", f.binary("udiv", i64(_NEAR), f.add(size, i64(1))), i64(1))


def _right_operand(f: Function, numbers: Numbers, g: _Sizes, work: V, width: int) -> V:
    """y as the right operand; without masks, packed to whole panels. What to free."""
    if numbers.masked:
        WORK.set(f, work, b=f.args["y"], b_row=g.outputs, b_skip=i64(width), b_group=g.features)
        return V(PTR, "null")
    terms = _product(f, [g.samples, *g.output])
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
