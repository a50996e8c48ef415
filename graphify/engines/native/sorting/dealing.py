"""Long lines: dealt out by the digits of their keys, the last digit first.

Digits that all keys share cost nothing. The digits of a complex number are those of its imaginary
part, then those of its real part; at last it is said which of them is NaN.

Source: Knuth, The Art of Computer Programming, volume 3, 5.2.5.
"""

from __future__ import annotations

from collections.abc import Sequence

from graphify.engines.native.llvm import (
    BIT,
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
from graphify.engines.native.sorting.keys import ONE, ZERO, Cell, Items, Keys, constant, pieces
from graphify.ir.types import is_complex

_RADIX = 256  # values of a digit
_FALSE, _TRUE = V(BIT, "false"), V(BIT, "true")


def _digit(f: Function, key: V, shift: V) -> V:
    """Eight bits of a key."""
    digit = f.and_(f.lshr(key, shift), constant(key.type, 255)) if key.type.bytes > 1 else key
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


def write_count(made: Module, keys: Keys, name: str) -> None:
    """name(numbers, count, counts, job): how often each digit has each value; false if stopped."""
    params: list[Parameter] = [(PTR, "numbers"), (I64, "count"), (PTR, "counts"), (PTR, "job")]
    f = made.function(name, BIT, params, "internal")
    counts, numbers, width = f.args["counts"], f.args["numbers"], keys.part.itemsize
    size = 8 * _RADIX * (keys.digits + 1)
    f.call("memset", PTR, [counts, V(I32, "0"), V(I64, str(size))])
    with pieces(f, f.args["count"], _FALSE) as i:
        for first in range(0, keys.digits, width):
            offset = keys.digits - width - first
            key = _part_key(f, keys, numbers, i, V(I64, str(offset)))
            for digit in range(width):
                row = f.at(counts, I64, (first + digit) * _RADIX)
                _add_one(f, row, _digit(f, key, V(key.type, str(8 * digit))))
        if is_complex(keys.dtype):
            _add_one(f, f.at(counts, I64, keys.digits * _RADIX), _nan_digit(f, keys, numbers, i))
    f.ret(_TRUE)


def _offsets(f: Function, counts: V) -> None:
    """Counts become the places of the first item of each value."""
    with f.folding(ZERO, V(I64, str(_RADIX)), [ZERO]) as fold:
        place = f.at(counts, I64, fold.index)
        count = f.load(I64, place)
        f.store(fold.values[0], place)
        fold.values = [f.add(fold.values[0], count)]


def write_deal(made: Module, items: Items, name: str, by_nan: bool) -> None:
    """name(items, numbers, new_items, new_numbers, count, counts, offset, shift, job): a digit.

    Without places, items are the numbers. Nothing is done if all have the same digit. Gives
    whether the new arrays hold all: not so if stopped.
    """
    keys, moved = items.keys, Items(items.keys, places=False)
    names = ("items", "numbers", "new_items", "new_numbers", "counts")
    params: list[Parameter] = [*((PTR, n) for n in names), (I64, "count")]
    params += [(I64, "offset"), (keys.part_type, "shift"), (PTR, "job")]
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
        f.ret(_FALSE)
    _offsets(f, counts)
    with pieces(f, count, _FALSE) as i:
        at = _add_one(f, counts, digit(i))
        items.store(f, items.load(f, here, i), there, at)
        if items.places:
            moved.store(f, moved.load(f, numbers, i), new_numbers, at)
    f.ret(_TRUE)


class _Pair:
    """Two arrays: what is there now, and where it goes."""

    def __init__(self, f: Function, now: V, then: V) -> None:
        self.now, self.then = Cell(f, now), Cell(f, then)

    def swap(self, new: V | None = None) -> None:
        """What was written is there now; `new`: where it goes next, if not where it came from."""
        before = self.now.get()
        self.now.set(self.then.get())
        self.then.set(before if new is None else new)


def write_radix(
    made: Module, items: Items, name: str, count_name: str, deal: Sequence[str]
) -> None:
    """name(out, in, count, room, job): sorts `in` to `out`.

    With places, the numbers travel with them: room is for the places and for numbers twice.
    """
    keys = items.keys
    width = keys.part.itemsize
    params: list[Parameter] = [(PTR, "out"), (PTR, "in"), (I64, "count"), (PTR, "room")]
    f = made.function(name, VOID, [*params, (PTR, "job")], "internal")
    out, source, count, room = (f.args[n] for n in ("out", "in", "count", "room"))
    counts = f.alloca(I64, (keys.digits + 1) * _RADIX)
    job = f.args["job"]
    with f.when(f.not_(f.call(count_name, BIT, [source, count, counts, job]))):
        f.ret()
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
        args = [*(a.get() for a in arrays), mine, count, offset, shift, job]
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
