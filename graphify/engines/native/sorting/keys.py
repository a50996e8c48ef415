"""What is sorted: how numbers of a dtype lie in memory and compare, and places of such numbers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from graphify.engines.native.llvm import BIT, F32, F64, I64, PTR, Function, Type, V
from graphify.ir.types import BOOL, DType, is_complex, is_float, real_dtype

ZERO, ONE = V(I64, "0"), V(I64, "1")

STOPPED = "stopped"  # the function that says whether a job is to be left
POLLED = 1 << 16  # numbers between two looks for Ctrl-C


def constant(type: Type, value: int) -> V:
    bits = type.bytes * 8
    return V(type, str(value - (1 << bits) if value >> (bits - 1) else value))


def _integer(bits: int) -> Type:
    return Type(f"i{bits}")


def _float_key(f: Function, x: V, infinity: int) -> V:
    """The key of the bits of a float: all ones for NaN, and one for both zeros."""
    type, bits = x.type, x.type.bytes * 8
    sign = constant(type, 1 << (bits - 1))
    size = f.and_(x, constant(type, (1 << (bits - 1)) - 1))
    positive = f.select(f.icmp("eq", size, V(type, "0")), V(type, "0"), x)
    flips = f.or_(f.ashr(positive, V(type, str(bits - 1))), sign)
    is_nan = f.icmp("ugt", size, constant(type, infinity))
    return f.select(is_nan, V(type, "-1"), f.xor(positive, flips))


def _infinity(dtype: DType) -> int:
    """The bits of infinity."""
    unsigned = np.dtype(f"u{dtype.itemsize}")
    return int(np.array(np.inf).astype(dtype).view(unsigned))


def _complex_less(f: Function, x: V, y: V) -> V:
    """Whether one complex number, given as its bits, comes before another.

    First come numbers, then those with NaN in the imaginary part, in the real part, in both; each
    of these by the parts that are numbers.
    """
    half = x.type.bytes * 4
    parts = []
    for number in (x, y):
        for shift in (0, half):
            bits = f.convert("trunc", f.lshr(number, V(x.type, str(shift))), _integer(half))
            parts.append(f.convert("bitcast", bits, F64 if half == 64 else F32))
    xr, xi, yr, yi = parts
    numbers = {p: f.fcmp("ord", p, p) for p in parts}
    later = f.and_(numbers[xi], f.not_(numbers[yi]))  # NaN makes it so
    both_nan = f.not_(f.or_(numbers[xr], numbers[yr]))
    equal = f.or_(f.fcmp("oeq", xr, yr), both_nan)
    below = f.or_(numbers[xi], f.not_(numbers[yi]))
    on_tie = f.or_(f.fcmp("olt", xi, yi), later)
    rest = f.select(equal, on_tie, f.not_(numbers[yr]))
    above = f.select(f.fcmp("ogt", xr, yr), later, rest)
    return f.select(f.fcmp("olt", xr, yr), below, above)


@dataclass(frozen=True, slots=True)
class Keys:
    """How numbers of a dtype lie in memory, as integers, and how these compare."""

    dtype: DType

    @property
    def type(self) -> Type:
        return _integer(8 * self.dtype.itemsize)

    @property
    def part(self) -> DType:
        """The dtype of what has a key of its own: of complex numbers each part."""
        return real_dtype(self.dtype) if is_complex(self.dtype) else self.dtype

    @property
    def part_type(self) -> Type:
        return _integer(8 * self.part.itemsize)

    @property
    def digits(self) -> int:
        """Bytes of a number that are dealt out, those of the last part first."""
        return self.dtype.itemsize

    def key(self, f: Function, x: V) -> V:
        """The key of the bits of a part."""
        dtype = self.part
        if is_float(dtype):
            return _float_key(f, x, _infinity(dtype))
        if dtype == BOOL:
            return f.convert("zext", f.icmp("ne", x, V(x.type, "0")), x.type)
        if dtype.kind == "i":
            return f.xor(x, constant(x.type, 1 << (8 * dtype.itemsize - 1)))
        return x

    def less(self, f: Function, x: V, y: V) -> V:
        if is_complex(self.dtype):
            return _complex_less(f, x, y)
        return f.icmp("ult", self.key(f, x), self.key(f, y))


@dataclass(frozen=True, slots=True)
class Items:
    """What is moved while sorting: the numbers themselves, or places of `source`."""

    keys: Keys
    places: bool

    @property
    def type(self) -> Type:
        return I64 if self.places else self.keys.type

    @property
    def bytes(self) -> int:
        return self.type.bytes

    def load(self, f: Function, base: V, index: V) -> V:
        return f.load(self.type, f.at(base, self.type, index), align=self._align)

    def store(self, f: Function, item: V, base: V, index: V) -> None:
        f.store(item, f.at(base, self.type, index), align=self._align)

    @property
    def _align(self) -> int:
        return min(8, self.bytes)

    def less(self, f: Function, a: V, b: V) -> V:
        """Whether one item comes before another; `source` is an argument of the function."""
        if self.places:
            numbers = Items(self.keys, places=False)
            a, b = (numbers.load(f, f.args["source"], place) for place in (a, b))
        return self.keys.less(f, a, b)

    def copy(self, f: Function, target: V, source: V, count: V) -> None:
        size = f.mul(count, V(I64, str(self.bytes)))
        f.call("memcpy", PTR, [target, source, size])

    def at(self, f: Function, base: V, index: V) -> V:
        return f.at(base, self.type, index)


# --- writing loops --------------------------------------------------------------------------------


class Cell:
    """A variable on the stack, which LLVM makes a register."""

    def __init__(self, f: Function, value: V) -> None:
        self.f, self.type, self.place = f, value.type, f.alloca(value.type)
        self.set(value)

    def get(self) -> V:
        return self.f.load(self.type, self.place)

    def set(self, value: V) -> None:
        self.f.store(value, self.place)


@contextmanager
def loop(f: Function) -> Iterator[str]:
    """What is written inside runs again and again; yields the label to go to when all is done."""
    head, done = f.label("head"), f.label("done")
    f.start(head)
    yield done
    f.br(head)
    f.start(done)


@contextmanager
def pieces(f: Function, count: V, left: V) -> Iterator[V]:
    """`for i in range(count)`, with a look for Ctrl-C now and then, on which f gives `left`.

    Whether it was pressed says `stopped`, of the function's `job`.
    """
    with f.counting(ZERO, count, POLLED) as start:
        with f.when(f.icmp("ne", start, ZERO)):
            with f.when(f.call(STOPPED, BIT, [f.args["job"]])):
                f.ret(left)
        stop = f.intrinsic("smin", f.add(start, V(I64, str(POLLED))), count)
        with f.counting(start, stop) as i:
            yield i


def leave_unless(f: Function, condition: V, done: str) -> None:
    on = f.label("on")
    f.br_if(condition, on, done)
    f.start(on)
