"""The library functions that sort, one module for a dtype.

    i64 graphify_sort_<dtype>(ptr out, ptr in, i64 lines, i64 length)
    i64 graphify_argsort_<dtype>(ptr out, ptr in, i64 lines, i64 length)

Lines of `length` numbers, one after the other in C order; the order is stable and NumPy's: NaN
last, -0.0 beside 0.0, complex numbers by their real and then by their imaginary parts. `out` holds
numbers, or places as int64, and does not overlap `in`. The result is 0, 1 if there is no memory, or
-1 if an exception is pending: Ctrl-C was pressed.

    keys.py       how numbers compare, as unsigned integers in the same order
    merging.py    short lines
    dealing.py    long ones

A line that is in order already is copied.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from graphify.engines.native import library
from graphify.engines.native.llvm import BIT, I32, I64, PTR, VOID, Module, Parameter, V
from graphify.engines.native.products.numbers import Record
from graphify.engines.native.sorting import dealing, merging
from graphify.engines.native.sorting.keys import ONE, STOPPED, ZERO, Items, Keys
from graphify.ir.types import DType, bfloat16, is_complex

_ENOUGH = 14  # numbers of a line, for each digit, that make it worth dealing them out
_GRAIN = 400  # numbers that take about 5 us

_POLLED = 8  # lines between two looks for Ctrl-C

_JOB = Record("out", "in", "length", "failed", "stopped")


def names(dtype: DType) -> tuple[str, str]:
    return f"graphify_sort_{dtype}", f"graphify_argsort_{dtype}"


def _write_stopped(made: Module) -> None:
    """stopped(job): whether Ctrl-C was pressed. One thread sees it, and tells the others."""
    f = made.function(STOPPED, BIT, [(PTR, "job")], "internal", "noinline cold nounwind")
    flag = _JOB.at(f, f.args["job"], "stopped")
    with f.when(f.icmp("ne", f.call("graphify_poll", I32, []), V(I32, "0"))):
        f.atomic_store(ONE, flag, "monotonic")
    f.ret(f.icmp("ne", f.atomic_load(I64, flag, "monotonic"), ZERO))


# --- lines ----------------------------------------------------------------------------------------


def _write_line(made: Module, items: Items, name: str, merge_sort: str, radix: str) -> None:
    """name(out, source, count, room, job): one line."""
    params: list[Parameter] = [(PTR, "out"), (PTR, "source")]
    params += [(I64, "count"), (PTR, "room"), (PTR, "job")]
    f = made.function(name, VOID, params, "internal")
    out, source, count, room = (f.args[n] for n in ("out", "source", "count", "room"))
    enough = _ENOUGH * (items.keys.digits + 4)
    with f.when(f.icmp("sge", count, V(I64, str(enough)))):
        f.call(radix, VOID, [out, source, count, room, f.args["job"]])
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
        turn = f.and_(f.sub(i, f.args["begin"]), V(I64, str(_POLLED - 1)))
        with f.when(f.icmp("eq", turn, V(I64, str(_POLLED - 1)))):
            with f.when(f.call(STOPPED, BIT, [job])):
                f.call("graphify_free", VOID, [room])
                f.ret()
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
        f.call(line, VOID, [out, source, length, room, job])
        f.start(after)
    f.call("graphify_free", VOID, [room])
    f.ret()


def _write_entry(made: Module, name: str, lines: str) -> None:
    params: list[Parameter] = [(PTR, "out"), (PTR, "in"), (I64, "lines"), (I64, "length")]
    f = made.function(name, I64, params)
    length = f.args["length"]
    job = f.alloca(I64, len(_JOB.names))
    addresses = {n: f.convert("ptrtoint", f.args[n], I64) for n in ("out", "in")}
    _JOB.set(f, job, **addresses, length=length, failed=ZERO, stopped=ZERO)
    positive = f.intrinsic("smax", length, ONE)
    grain = f.add(f.binary("sdiv", V(I64, str(_GRAIN)), positive), ONE)
    target = V(PTR, f"@{lines}")
    f.call("graphify_parallel", VOID, [target, job, f.args["lines"], grain])
    stopped = f.icmp("ne", _JOB.get(f, job, "stopped"), ZERO)
    f.ret(f.select(stopped, V(I64, "-1"), _JOB.get(f, job, "failed")))


def module(dtype: DType) -> Module:
    """The sorts of a dtype."""
    made, keys = Module(f"sorting_{dtype}"), Keys(dtype)
    _write_stopped(made)
    _write_is_sorted(made, keys, "is_sorted")
    dealing.write_count(made, keys, "count")
    for name, places in zip(names(dtype), (False, True), strict=True):
        items, prefix = Items(keys, places), "places" if places else "numbers"
        insertion, merge, merge_sort, radix, line, lines = (
            f"{prefix}_{part}"
            for part in ("insertion", "merge", "merge_sort", "radix", "line", "lines")
        )
        merging.write_insertion(made, items, insertion)
        merging.write_merge(made, items, merge)
        merging.write_merge_sort(made, items, merge_sort, (insertion, merge))
        deal = [f"{prefix}_deal", f"{prefix}_deal_nan"][: 1 + is_complex(dtype)]
        for by_nan, deal_name in enumerate(deal):
            dealing.write_deal(made, items, deal_name, bool(by_nan))
        dealing.write_radix(made, items, radix, "count", deal)
        _write_line(made, items, line, merge_sort, radix)
        _write_lines(made, items, lines, line, "is_sorted")
        _write_entry(made, name, lines)
    for function in made.functions.values():
        function.scalar_loops = True
    return made


DTYPES: Sequence[DType] = (
    *(np.dtype(t) for t in "?bhilBHILefdFD"),
    *(np.dtype(t) for t in ("int64", "uint64")),
    bfloat16,
)
for _dtype in dict.fromkeys(DTYPES):
    library.provide(names(_dtype), partial(module, _dtype))
