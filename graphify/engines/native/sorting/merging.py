"""Short lines: sorted by insertion, and merged; the choice of a merge is a `select`, not a branch.

Source: Knuth, The Art of Computer Programming, volume 3, 5.2.4.
"""

from __future__ import annotations

from graphify.engines.native.llvm import I64, PTR, VOID, Module, Parameter, V
from graphify.engines.native.sorting.keys import ONE, ZERO, Cell, Items, leave_unless, loop

RUN = 12  # numbers that are sorted by insertion

_SOURCE: Parameter = (PTR, "source")


def write_insertion(made: Module, items: Items, name: str) -> None:
    """name(items, count, source): in place."""
    f = made.function(name, VOID, [(PTR, "items"), (I64, "count"), _SOURCE], "internal")
    base = f.args["items"]
    with f.counting(ONE, f.args["count"]) as i:
        item = items.load(f, base, i)
        hole = Cell(f, i)
        with loop(f) as done:
            at = hole.get()
            leave_unless(f, f.icmp("sgt", at, ZERO), done)
            before = f.sub(at, ONE)
            other = items.load(f, base, before)
            leave_unless(f, items.less(f, item, other), done)
            items.store(f, other, base, at)
            hole.set(before)
        items.store(f, item, base, hole.get())
    f.ret()


def write_merge(made: Module, items: Items, name: str) -> None:
    """name(out, left, lefts, right, rights, source): of equal items the left ones come first."""
    params: list[Parameter] = [
        (PTR, "out"), (PTR, "left"), (I64, "lefts"), (PTR, "right"), (I64, "rights"), _SOURCE
    ]  # fmt: skip
    f = made.function(name, VOID, params, "internal")
    left, lefts, right, rights = (f.args[n] for n in ("left", "lefts", "right", "rights"))
    i, j = Cell(f, ZERO), Cell(f, ZERO)
    with loop(f) as done:
        a, b = i.get(), j.get()
        leave_unless(f, f.and_(f.icmp("slt", a, lefts), f.icmp("slt", b, rights)), done)
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


def write_merge_sort(made: Module, items: Items, name: str, parts: tuple[str, str]) -> None:
    """name(items, room, count, source): in place, with room for as many more."""
    insertion, merge = parts
    params: list[Parameter] = [(PTR, "items"), (PTR, "room"), (I64, "count"), _SOURCE]
    f = made.function(name, VOID, params, "internal")
    base, count, source = (f.args[n] for n in ("items", "count", "source"))
    with f.counting(ZERO, count, RUN) as low:
        length = f.intrinsic("smin", f.sub(count, low), V(I64, str(RUN)))
        f.call(insertion, VOID, [items.at(f, base, low), length, source])
    width, now, then = Cell(f, V(I64, str(RUN))), Cell(f, base), Cell(f, f.args["room"])
    with loop(f) as done:
        w, here, there = width.get(), now.get(), then.get()
        leave_unless(f, f.icmp("slt", w, count), done)
        start = Cell(f, ZERO)
        with loop(f) as merged:
            low = start.get()
            leave_unless(f, f.icmp("slt", low, count), merged)
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
