"""The library functions of convolutions, one module for a dtype.

    void graphify_convolution_<dtype>(ptr x, ptr w, ptr y, ptr geometry, ptr epilogue, ptr context)
    void graphify_convolution_input_<dtype>(ptr y, ptr w, ptr x, ptr geometry)
    void graphify_convolution_kernel_<dtype>(ptr x, ptr y, ptr w, ptr geometry)

The three ops of `graphify/ops/convolution.py`; the third argument is the result. All arrays are
C-ordered: x [N, S0, S1, S2, groups * C], w [K0, K1, K2, C, groups * Q], y [N, O0, O1, O2, groups *
Q]. `geometry` is i64 words:

    N, groups, C, Q, then for each of three spatial axes: S, K, O, stride, dilation, padding

Fewer spatial axes are written as leading axes 1, 1, 1, 1, 1, 0 (`geometry` makes these words).
The epilogue (or null) is that of matrix products: rows are places of y from the first sample on,
columns its channels.

Nothing is unrolled into a matrix of windows: a line of places along the last axis is a matrix
product whose left operand overlaps itself, with one run of terms (see `microkernel.py`) for each
stretch of the window. Padding is a copy of the input with zeros around it. The gradient for a
strided input is one such product for each phase of its places, since each phase meets its own part
of the kernel.
"""

from __future__ import annotations

from collections.abc import Sequence

from graphify.engines.native.llvm import I64, PTR, VOID, Function, Module, V
from graphify.engines.native.products import blocking, packing, tiles
from graphify.engines.native.products.blocking import upwards
from graphify.engines.native.products.interface import AXES, convolution_names
from graphify.engines.native.products.kernel_gradient import write_kernel, write_taps
from graphify.engines.native.products.lines import write_lines, write_pack_taps, write_phase
from graphify.engines.native.products.microkernel import ZERO, i64, smin
from graphify.engines.native.products.model import plan
from graphify.engines.native.products.numbers import Numbers, cell
from graphify.engines.native.products.windows import (
    WORK,
    Sizes,
    any_outside,
    flag,
    padded_copy,
    pitches_of,
    product_of,
    reach_of,
    set_axes,
    sum_of,
    write_pad,
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
    write_pad(made)
    write_pack_taps(made, numbers, width)
    write_lines(made, numbers, width)
    write_phase(made, numbers, tiling)
    forward, input, kernel = convolution_names(str(numbers.dtype))
    _write_forward(made, numbers, forward)
    _write_input(made, numbers, input)
    write_taps(made, numbers, width)
    write_kernel(made, numbers, tiling, kernel)
    return made


# --- the convolution, and the gradient for its input ----------------------------------------------


def _write_forward(made: Module, numbers: Numbers, name: str) -> None:
    params = [(PTR, word) for word in ("x", "w", "y", "geometry", "epilogue", "context")]
    f = made.function(name, VOID, params)
    g = Sizes(f)
    with f.when(f.icmp("eq", product_of(f, [g.samples, *g.output, g.outputs]), ZERO)):
        f.ret()
    work = WORK.make(f)
    lists = _tap_lists(f, g, work)
    for axis in range(AXES):
        with f.counting(ZERO, g.kernel[axis]) as k:
            f.store(k, f.at(lists[axis][0], I64, k))
            f.store(f.mul(k, g.dilation[axis]), f.at(lists[axis][1], I64, k))
    reach = reach_of(f, g)
    low = [f.sub(ZERO, p) for p in g.padding]
    wanted = any_outside(f, g.input, reach, low)
    x, pitches, a_sample, spare = padded_copy(
        f, numbers, f.args["x"], g.samples, g.inputs, g.input, reach, low, wanted
    )
    _say_inside(f, work, g.input[2], low[2], wanted)
    outs, c_sample = pitches_of(f, g.outputs, g.output)
    steps = [f.mul(s, pitch) for s, pitch in zip(g.stride, pitches, strict=True)]
    set_axes(f, WORK, work, count=g.output, a_step=steps, c_step=outs, pitch=pitches, taps=g.kernel)
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
    WORK.set(f, work, inside=f.sub(ZERO, low), outside=f.sub(length, low), skip=flag(f, wanted))


def _tap_lists(f: Function, g: Sizes, work: V) -> list[tuple[V, V]]:
    """Memory for the taps of each axis, and the words that all directions share."""
    WORK.set(f, work, samples=g.samples, groups=g.groups, w=f.args["w"])
    WORK.set(f, work, kernel1=g.kernel[1], kernel2=g.kernel[2])
    WORK.set(f, work, w_tap=f.mul(g.channels, g.outputs))
    words = [f.add(k, i64(1)) for k in g.kernel]
    block = blocking.allocate(f, f.mul(sum_of(f, words), i64(16)))
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
    g = Sizes(f)
    with f.when(f.icmp("eq", product_of(f, [g.samples, *g.input, g.inputs]), ZERO)):
        f.ret()
    work = WORK.make(f)
    lists = _tap_lists(f, g, work)
    one = i64(1)
    low, room = [], []
    for s, p, k, d, n in zip(g.stride, g.padding, g.kernel, g.dilation, g.input, strict=True):
        low.append(_floor_div(f, f.sub(p, f.mul(f.sub(k, one), d)), s))  # the first o, and all
        room.append(f.add(f.sub(_floor_div(f, f.sub(f.add(n, p), one), s), low[-1]), one))
    wanted = any_outside(f, g.output, room, low)
    y, pitches, a_sample, spare = padded_copy(
        f, numbers, f.args["y"], g.samples, g.outputs, g.output, room, low, wanted
    )
    ins, c_sample = pitches_of(f, g.inputs, g.input)
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
        first = sum_of(f, [f.mul(at, pitch) for at, pitch in zip(start, ins, strict=True)])
        place = f.at(f.args["x"], cell(numbers.dtype), first)
        set_axes(f, WORK, work, count=counts, a_step=pitches, c_step=steps, pitch=pitches)
        WORK.set(f, work, places_c=place, samples=g.samples, c_sample=c_sample)
        _say_inside(f, work, g.output[2], low[2], wanted)
        f.call("phase", VOID, [work])
    f.call("graphify_free", VOID, [spare])
    f.call("graphify_free", VOID, [lists[0][0]])
    f.ret()


def _taps_of_phase(
    f: Function, g: Sizes, work: V, axis: int, lists: tuple[V, V], start: V, low: V
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
    return f.sub(quotient, flag(f, below))
