"""The library functions that sort, one module for a dtype.

    i64 graphify_sort_<dtype>(ptr out, ptr in, i64 lines, i64 length)
    i64 graphify_argsort_<dtype>(ptr out, ptr in, i64 lines, i64 length)

Lines of `length` numbers, one after the other in C order; the order is stable and NumPy's: NaN last,
-0.0 beside 0.0, complex numbers by their real and then by their imaginary parts. `out` holds numbers,
or places as int64, and does not overlap `in`. The result is 0, or 1 where there was no memory.

What is compared is a number's key, an unsigned integer in the same order. Short lines
are sorted by insertion and merged (the choice of a merge is a `select`, not a branch); long ones
are dealt out by the digits of their keys, the last digit first (Knuth, The Art of Computer
Programming, volume 3, 5.2.4 and 5.2.5). Digits that all keys share cost nothing, and so does a line
that is in order already.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import numpy as np

from graphify.engines.native import library, memory, pool
from graphify.engines.native.llvm import (
    BIT,
    F32,
    F64,
    I8,
    I32,
    I64,
    PTR,
    VOID,
    Function,
    Module,
    Parameter,
    Type,
    V,
)
from graphify.engines.native.products.numbers import Record
from graphify.ir.types import BOOL, DType, bfloat16, is_complex, is_float, real_dtype

assert memory.NAMES, pool.NAMES  # they provide graphify_allocate and graphify_parallel

RUN = 12  # numbers that are sorted by insertion
_RADIX = 256  # values of a digit
_ENOUGH = 14  # numbers of a line, for each digit, that make it worth dealing them out
_GRAIN = 400  # numbers that take about 5 us

_JOB = Record("out", "in", "length", "failed")
ZERO, ONE = V(I64, "0"), V(I64, "1")


def names(dtype: DType) -> tuple[str, str]:
    return f"graphify_sort_{dtype}", f"graphify_argsort_{dtype}"


# --- keys -----------------------------------------------------------------------------------------


def _constant(type: Type, value: int) -> V:
    bits = type.bytes * 8
    return V(type, str(value - (1 << bits) if value >> (bits - 1) else value))


def _integer(bits: int) -> Type:
    return Type(f"i{bits}")


def _float_key(f: Function, x: V, infinity: int) -> V:
    """The key of the bits of a float: all ones for NaN, and one for both zeros."""
    type, bits = x.type, x.type.bytes * 8
    sign = _constant(type, 1 << (bits - 1))
    size = f.and_(x, _constant(type, (1 << (bits - 1)) - 1))
    positive = f.select(f.icmp("eq", size, V(type, "0")), V(type, "0"), x)
    flips = f.or_(f.ashr(positive, V(type, str(bits - 1))), sign)
    is_nan = f.icmp("ugt", size, _constant(type, infinity))
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
            return f.xor(x, _constant(x.type, 1 << (8 * dtype.itemsize - 1)))
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
def _loop(f: Function) -> Iterator[str]:
    """What is written inside runs again and again; yields the label to go to when all is done."""
    head, done = f.label("head"), f.label("done")
    f.start(head)
    yield done
    f.br(head)
    f.start(done)


def _leave_unless(f: Function, condition: V, done: str) -> None:
    on = f.label("on")
    f.br_if(condition, on, done)
    f.start(on)


# --- merging --------------------------------------------------------------------------------------

_SOURCE: Parameter = (PTR, "source")


def _write_insertion(made: Module, items: Items, name: str) -> None:
    """name(items, count, source): in place."""
    f = made.function(name, VOID, [(PTR, "items"), (I64, "count"), _SOURCE], "internal")
    base = f.args["items"]
    with f.counting(ONE, f.args["count"]) as i:
        item = items.load(f, base, i)
        hole = Cell(f, i)
        with _loop(f) as done:
            at = hole.get()
            _leave_unless(f, f.icmp("sgt", at, ZERO), done)
            before = f.sub(at, ONE)
            other = items.load(f, base, before)
            _leave_unless(f, items.less(f, item, other), done)
            items.store(f, other, base, at)
            hole.set(before)
        items.store(f, item, base, hole.get())
    f.ret()


def _write_merge(made: Module, items: Items, name: str) -> None:
    """name(out, left, lefts, right, rights, source): of equal items the left ones come first."""
    params: list[Parameter] = [
        (PTR, "out"), (PTR, "left"), (I64, "lefts"), (PTR, "right"), (I64, "rights"), _SOURCE
    ]  # fmt: skip
    f = made.function(name, VOID, params, "internal")
    left, lefts, right, rights = (f.args[n] for n in ("left", "lefts", "right", "rights"))
    i, j = Cell(f, ZERO), Cell(f, ZERO)
    with _loop(f) as done:
        a, b = i.get(), j.get()
        _leave_unless(f, f.and_(f.icmp("slt", a, lefts), f.icmp("slt", b, rights)), done)
        mine, theirs = items.load(f, left, a), items.load(f, right, b)
        later = items.less(f, theirs, mine)
        items.store(f, f.select(later, theirs, mine), f.args["out"], f.add(a, b))
        step = f.convert("zext", later, I64)
        i.set(f.add(a, f.sub(ONE, step)))
        j.set(f.add(b, step))
    a, b = i.get(), j.get()
    rest, tail = f.sub(lefts, a), f.add(a, b)
    items.copy(f, items.at(f, f.args["out"], tail), items.at(f, left, a), rest)
    tail = f.add(tail, rest)
    items.copy(f, items.at(f, f.args["out"], tail), items.at(f, right, b), f.sub(rights, b))
    f.ret()


def _write_merge_sort(made: Module, items: Items, name: str, parts: tuple[str, str]) -> None:
    """name(items, room, count, source): in place, with room for as many more."""
    insertion, merge = parts
    params: list[Parameter] = [(PTR, "items"), (PTR, "room"), (I64, "count"), _SOURCE]
    f = made.function(name, VOID, params, "internal")
    base, count, source = (f.args[n] for n in ("items", "count", "source"))
    with f.counting(ZERO, count, RUN) as low:
        length = f.intrinsic("smin", f.sub(count, low), V(I64, str(RUN)))
        f.call(insertion, VOID, [items.at(f, base, low), length, source])
    width, now, then = Cell(f, V(I64, str(RUN))), Cell(f, base), Cell(f, f.args["room"])
    with _loop(f) as done:
        w, here, there = width.get(), now.get(), then.get()
        _leave_unless(f, f.icmp("slt", w, count), done)
        start = Cell(f, ZERO)
        with _loop(f) as merged:
            low = start.get()
            _leave_unless(f, f.icmp("slt", low, count), merged)
            middle = f.intrinsic("smin", f.add(low, w), count)
            high = f.intrinsic("smin", f.add(middle, w), count)
            out, left, right = (
                items.at(f, *p) for p in ((there, low), (here, low), (here, middle))
            )
            sizes = f.sub(middle, low), f.sub(high, middle)
            f.call(merge, VOID, [out, left, sizes[0], right, sizes[1], source])
            start.set(high)
        now.set(there)
        then.set(here)
        width.set(f.shl(w, ONE))
    with f.when(f.icmp("ne", now.get(), base)):
        items.copy(f, base, now.get(), count)
    f.ret()


# --- dealing out ----------------------------------------------------------------------------------
# The digits of a complex number are those of its imaginary part, then those of its real part; at
# last it is said which of them is NaN.


def _digit(f: Function, key: V, shift: V) -> V:
    """Eight bits of a key."""
    digit = f.and_(f.lshr(key, shift), _constant(key.type, 255)) if key.type.bytes > 1 else key
    return digit if digit.type == I64 else f.convert("zext", digit, I64)


def _part_key(f: Function, keys: Keys, numbers: V, index: V, offset: V) -> V:
    """The key of the part of a number that lies `offset` bytes after its start."""
    place = f.at(f.at(numbers, keys.type, index), I8, offset)
    return keys.key(f, f.load(keys.part_type, place, align=keys.part_type.bytes))


def _nan_digit(f: Function, keys: Keys, numbers: V, index: V) -> V:
    """2 if the real part is NaN, and 1 if the imaginary one is."""
    half, ones = keys.part.itemsize, V(keys.part_type, "-1")
    parts = (_part_key(f, keys, numbers, index, V(I64, str(k * half))) for k in (0, 1))
    re, im = (f.convert("zext", f.icmp("eq", key, ones), I64) for key in parts)
    return f.or_(f.shl(re, ONE), im)


def _add_one(f: Function, counts: V, digit: V) -> V:
    """counts[digit] += 1; gives what it was."""
    place = f.at(counts, I64, digit)
    before = f.load(I64, place)
    f.store(f.add(before, ONE), place)
    return before


def _write_count(made: Module, keys: Keys, name: str) -> None:
    """name(numbers, count, counts): how often each digit has each value."""
    f = made.function(name, VOID, [(PTR, "numbers"), (I64, "count"), (PTR, "counts")], "internal")
    counts, numbers, width = f.args["counts"], f.args["numbers"], keys.part.itemsize
    size = 8 * _RADIX * (keys.digits + 1)
    f.call("memset", PTR, [counts, V(I32, "0"), V(I64, str(size))])
    with f.counting(ZERO, f.args["count"]) as i:
        for first in range(0, keys.digits, width):
            offset = keys.digits - width - first
            key = _part_key(f, keys, numbers, i, V(I64, str(offset)))
            for digit in range(width):
                row = f.at(counts, I64, (first + digit) * _RADIX)
                _add_one(f, row, _digit(f, key, V(key.type, str(8 * digit))))
        if is_complex(keys.dtype):
            _add_one(f, f.at(counts, I64, keys.digits * _RADIX), _nan_digit(f, keys, numbers, i))
    f.ret()


def _offsets(f: Function, counts: V) -> None:
    """Counts become the places of the first item of each value."""
    with f.folding(ZERO, V(I64, str(_RADIX)), [ZERO]) as fold:
        place = f.at(counts, I64, fold.index)
        count = f.load(I64, place)
        f.store(fold.values[0], place)
        fold.values = [f.add(fold.values[0], count)]


def _write_deal(made: Module, items: Items, name: str, by_nan: bool) -> None:
    """name(items, numbers, new_items, new_numbers, count, counts, offset, shift): by one digit.

    Without places, items are the numbers. Nothing is done if all have the same digit.
    """
    keys, moved = items.keys, Items(items.keys, places=False)
    names = ("items", "numbers", "new_items", "new_numbers", "counts")
    params: list[Parameter] = [*((PTR, n) for n in names), (I64, "count")]
    params += [(I64, "offset"), (keys.part_type, "shift")]
    f = made.function(name, BIT, params, "internal")
    here, numbers, there, new_numbers, counts = (f.args[n] for n in names)
    count = f.args["count"]

    def digit(index: V) -> V:
        if by_nan:
            return _nan_digit(f, keys, numbers, index)
        key = _part_key(f, keys, numbers, index, f.args["offset"])
        return _digit(f, key, f.args["shift"])

    shared = f.load(I64, f.at(counts, I64, digit(ZERO)))
    with f.when(f.icmp("eq", shared, count)):
        f.ret(V(BIT, "false"))
    _offsets(f, counts)
    with f.counting(ZERO, count) as i:
        at = _add_one(f, counts, digit(i))
        items.store(f, items.load(f, here, i), there, at)
        if items.places:
            moved.store(f, moved.load(f, numbers, i), new_numbers, at)
    f.ret(V(BIT, "true"))


class _Pair:
    """Two arrays: what is there now, and where it goes."""

    def __init__(self, f: Function, now: V, then: V) -> None:
        self.now, self.then = Cell(f, now), Cell(f, then)

    def swap(self, new: V | None = None) -> None:
        """What was written is there now; `new`: where it goes next, if not to where it came from."""
        before = self.now.get()
        self.now.set(self.then.get())
        self.then.set(before if new is None else new)


def _write_radix(
    made: Module, items: Items, name: str, count_name: str, deal: Sequence[str]
) -> None:
    """name(out, in, count, room): sorts `in` to `out`.

    With places, the numbers travel with them: room is for the places and for numbers twice.
    """
    keys = items.keys
    width = keys.part.itemsize
    params: list[Parameter] = [(PTR, "out"), (PTR, "in"), (I64, "count"), (PTR, "room")]
    f = made.function(name, VOID, params, "internal")
    out, source, count, room = (f.args[n] for n in ("out", "in", "count", "room"))
    counts = f.alloca(I64, (keys.digits + 1) * _RADIX)
    f.call(count_name, VOID, [source, count, counts])
    if items.places:
        with f.counting(ZERO, count) as i:
            items.store(f, i, out, i)
        first, second = _rooms(f, items, room, count)
        moving, numbers = _Pair(f, out, room), _Pair(f, source, first)
    else:
        moving = numbers = _Pair(f, source, out)

    def pass_(index: V, name: str, offset: V, shift: V) -> None:
        arrays = [moving.now, numbers.now, moving.then, numbers.then]
        mine = f.at(counts, I64, f.mul(index, V(I64, str(_RADIX))))
        args = [*(a.get() for a in arrays), mine, count, offset, shift]
        with f.when(f.call(name, BIT, args)):
            target = moving.then.get()
            if items.places:
                moving.swap()
                target, other = numbers.then.get(), second
                numbers.swap(f.select(f.icmp("eq", target, first), other, first))
            else:
                moving.swap(f.select(f.icmp("eq", target, out), room, out))

    with f.counting(ZERO, V(I64, str(keys.digits))) as digit:
        inside = f.and_(digit, V(I64, str(width - 1)))
        offset = f.sub(V(I64, str(keys.digits - width)), f.sub(digit, inside))
        shift = f.shl(inside, V(I64, "3"))
        pass_(digit, deal[0], offset, _narrow(f, shift, keys.part_type))
    if is_complex(keys.dtype):
        pass_(V(I64, str(keys.digits)), deal[1], ZERO, V(keys.part_type, "0"))
    with f.when(f.icmp("ne", moving.now.get(), out)):
        items.copy(f, out, moving.now.get(), count)
    f.ret()


def _narrow(f: Function, x: V, type: Type) -> V:
    return x if type == I64 else f.convert("trunc", x, type)


def _rooms(f: Function, items: Items, room: V, count: V) -> tuple[V, V]:
    """Two arrays of numbers behind the room for places."""
    first = items.at(f, room, count)
    return first, f.at(first, items.keys.type, count)


# --- lines ----------------------------------------------------------------------------------------


def _write_line(made: Module, items: Items, name: str, merge_sort: str, radix: str) -> None:
    """name(out, source, count, room): one line."""
    params: list[Parameter] = [(PTR, "out"), _SOURCE, (I64, "count"), (PTR, "room")]
    f = made.function(name, VOID, params, "internal")
    out, source, count, room = (f.args[n] for n in ("out", "source", "count", "room"))
    enough = _ENOUGH * (items.keys.digits + 4)
    with f.when(f.icmp("sge", count, V(I64, str(enough)))):
        f.call(radix, VOID, [out, source, count, room])
        f.ret()
    if items.places:
        with f.counting(ZERO, count) as i:
            items.store(f, i, out, i)
    else:
        items.copy(f, out, source, count)
    f.call(merge_sort, VOID, [out, room, count, source])
    f.ret()


def _write_is_sorted(made: Module, keys: Keys, name: str) -> None:
    """name(numbers, count): whether they are in order."""
    f = made.function(name, BIT, [(PTR, "numbers"), (I64, "count")], "internal")
    numbers, base = Items(keys, places=False), f.args["numbers"]
    with f.counting(ONE, f.args["count"]) as i:
        before, here = (numbers.load(f, base, at) for at in (f.sub(i, ONE), i))
        with f.when(keys.less(f, here, before)):
            f.ret(V(BIT, "false"))
    f.ret(V(BIT, "true"))


def _write_lines(made: Module, items: Items, name: str, line: str, is_sorted: str) -> None:
    """name(job, begin, end): some of the lines."""
    f = made.function(name, VOID, [(PTR, "job"), (I64, "begin"), (I64, "end")], "internal")
    job, keys = f.args["job"], items.keys
    length = _JOB.get(f, job, "length")
    each = items.bytes + (2 * keys.type.bytes if items.places else 0)
    room = f.call("graphify_allocate", PTR, [f.mul(length, V(I64, str(each)))])
    with f.when(f.icmp("eq", room, V(PTR, "null"))):
        _JOB.set(f, job, failed=ONE)
        f.ret()
    numbers = Items(keys, places=False)
    bases = [f.convert("inttoptr", _JOB.get(f, job, n), PTR) for n in ("out", "in")]
    with f.counting(f.args["begin"], f.args["end"]) as i:
        start = f.mul(i, length)
        out, source = items.at(f, bases[0], start), numbers.at(f, bases[1], start)
        sorted_, unsorted, after = f.label("sorted"), f.label("unsorted"), f.label("after")
        f.br_if(f.call(is_sorted, BIT, [source, length]), sorted_, unsorted)
        f.start(sorted_)
        if items.places:
            with f.counting(ZERO, length) as k:
                items.store(f, k, out, k)
        else:
            items.copy(f, out, source, length)
        f.br(after)
        f.start(unsorted)
        f.call(line, VOID, [out, source, length, room])
        f.start(after)
    f.call("graphify_free", VOID, [room])
    f.ret()


def _write_entry(made: Module, name: str, lines: str) -> None:
    params: list[Parameter] = [(PTR, "out"), (PTR, "in"), (I64, "lines"), (I64, "length")]
    f = made.function(name, I64, params)
    length = f.args["length"]
    job = f.alloca(I64, len(_JOB.names))
    addresses = {n: f.convert("ptrtoint", f.args[n], I64) for n in ("out", "in")}
    _JOB.set(f, job, **addresses, length=length, failed=ZERO)
    positive = f.intrinsic("smax", length, ONE)
    grain = f.add(f.binary("sdiv", V(I64, str(_GRAIN)), positive), ONE)
    target = V(PTR, f"@{lines}")
    f.call("graphify_parallel", VOID, [target, job, f.args["lines"], grain])
    f.ret(_JOB.get(f, job, "failed"))


def module(dtype: DType) -> Module:
    """The sorts of a dtype."""
    made, keys = Module(f"sorting_{dtype}"), Keys(dtype)
    _write_is_sorted(made, keys, "is_sorted")
    _write_count(made, keys, "count")
    for name, places in zip(names(dtype), (False, True), strict=True):
        items, prefix = Items(keys, places), "places" if places else "numbers"
        insertion, merge, merge_sort, radix, line, lines = (
            f"{prefix}_{part}"
            for part in ("insertion", "merge", "merge_sort", "radix", "line", "lines")
        )
        _write_insertion(made, items, insertion)
        _write_merge(made, items, merge)
        _write_merge_sort(made, items, merge_sort, (insertion, merge))
        deal = [f"{prefix}_deal", f"{prefix}_deal_nan"][: 1 + is_complex(dtype)]
        for by_nan, deal_name in enumerate(deal):
            _write_deal(made, items, deal_name, bool(by_nan))
        _write_radix(made, items, radix, "count", deal)
        _write_line(made, items, line, merge_sort, radix)
        _write_lines(made, items, lines, line, "is_sorted")
        _write_entry(made, name, lines)
    return made


DTYPES: Sequence[DType] = (
    *(np.dtype(t) for t in "?bhilBHILefdFD"),
    *(np.dtype(t) for t in ("int64", "uint64")),
    bfloat16,
)
for _dtype in dict.fromkeys(DTYPES):
    library.provide(names(_dtype), partial(module, _dtype), opt="full")
