"""What the convolutions share: the words they work from, sizes, and copies with padding."""

from __future__ import annotations

from collections.abc import Sequence

from graphify.engines.native.llvm import I8, I32, I64, PTR, VOID, Function, Module, V
from graphify.engines.native.products import blocking
from graphify.engines.native.products.blocking import parallel
from graphify.engines.native.products.interface import AXES
from graphify.engines.native.products.microkernel import JOB, ZERO, i64, smin
from graphify.engines.native.products.numbers import Numbers, Record

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
    *("part", "at_once"),  # runs that are added in one go; units that a panel of the kernel meets
    # Places of the last axis of the copy that are not padding, and whether to skip the others.
    *("inside", "outside", "skip"),
)
# The copy of an input with zeros around it.
ROOM = Record("source", "target", "samples", "bytes", *_each("length", "room", "low"))

NEAR = 256 << 10  # bytes of a kernel, or of operands of its gradient, that stay in a cache


class Sizes:
    """The words of a geometry, in registers."""

    def __init__(self, f: Function) -> None:
        block = f.args["geometry"]
        self.samples, self.groups, self.channels, self.features = (
            GEOMETRY.get(f, block, name) for name in ("samples", "groups", "channels", "features")
        )
        self.input, self.kernel, self.output, self.stride, self.dilation, self.padding = (
            axes(f, GEOMETRY, block, word) for word in _AXIS
        )
        self.inputs = f.mul(self.groups, self.channels)  # channels of x and y
        self.outputs = f.mul(self.groups, self.features)


def axes(f: Function, record: Record, block: V, word: str) -> list[V]:
    return [record.get(f, block, f"{word}{axis}") for axis in range(AXES)]


def set_axes(f: Function, record: Record, block: V, **words: Sequence[V]) -> None:
    for word, values in words.items():
        record.set(f, block, **{f"{word}{axis}": value for axis, value in enumerate(values)})


def product_of(f: Function, factors: Sequence[V]) -> V:
    result = factors[0]
    for factor in factors[1:]:
        result = f.mul(result, factor)
    return result


def sum_of(f: Function, terms: Sequence[V]) -> V:
    result = terms[0]
    for term in terms[1:]:
        result = f.add(result, term)
    return result


def pitches_of(f: Function, last: V, lengths: Sequence[V]) -> tuple[list[V], V]:
    """The step of each spatial axis, and from sample to sample."""
    pitch2 = last
    pitch1 = f.mul(pitch2, lengths[2])
    pitch0 = f.mul(pitch1, lengths[1])
    return [pitch0, pitch1, pitch2], f.mul(pitch0, lengths[0])


def flag(f: Function, condition: V) -> V:
    return f.convert("zext", condition, I64)


def reach_of(f: Function, g: Sizes) -> list[V]:
    """How many places of the input all windows together reach over, per axis."""
    return [
        f.add(
            f.add(f.mul(f.sub(o, i64(1)), s), f.mul(f.sub(k, i64(1)), d)),
            i64(1),
        )
        for o, s, k, d in zip(g.output, g.stride, g.kernel, g.dilation, strict=True)
    ]


def any_outside(f: Function, length: Sequence[V], room: Sequence[V], low: Sequence[V]) -> V:
    """Whether a copy is needed: places before the first or after the last are read."""
    wrong = [f.icmp("ne", x, ZERO) for x in low]
    wrong += [f.icmp("sgt", r, n) for r, n in zip(room, length, strict=True)]
    result = wrong[0]
    for condition in wrong[1:]:
        result = f.or_(result, condition)
    empty = f.icmp("sle", smin(f, smin(f, room[0], room[1]), room[2]), ZERO)
    return f.and_(result, f.not_(empty))


def digits_of(f: Function, number: V, bases: Sequence[V]) -> tuple[list[V], V]:
    """A number's digits in mixed bases, the lowest first, and what is left."""
    digits = []
    for base in bases:
        digits.append(f.binary("urem", number, base))
        number = f.binary("udiv", number, base)
    return digits, number


# --- padding --------------------------------------------------------------------------------------


def write_pad(made: Module) -> None:
    """pad(room, begin, end): lines of the copy, each with zeros before and after."""
    f = made.function("pad", VOID, [(PTR, "room"), (I64, "begin"), (I64, "end")], "internal")
    room = f.args["room"]
    length, lines, low = (axes(f, ROOM, room, word) for word in ("length", "room", "low"))
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


def padded_copy(
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
        count = product_of(f, [samples, *room])
        copy = blocking.allocate(f, f.mul(count, size))
        f.store(copy, slot)
        f.store(copy, spare)
        ROOM.set(f, block, source=x, target=copy, samples=samples, bytes=size)
        set_axes(f, ROOM, block, length=length, room=room, low=low)
        lines = product_of(f, [samples, *room[:2]])
        parallel(f, "pad", block, lines, f.add(f.mul(room[2], size), i64(64)), 100_000)
    lengths = [f.select(wanted, r, n) for r, n in zip(room, length, strict=True)]
    pitches, step = pitches_of(f, channels, lengths)
    return f.load(PTR, slot), pitches, step, f.load(PTR, spare)
