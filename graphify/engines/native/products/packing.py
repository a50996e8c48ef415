"""Operands copied to where the innermost loop reads them in order.

    pack_<width>(ptr source, i64 wide, i64 long, i64 valid, i64 terms, ptr target)

writes a panel: for each term, `width` (working) numbers next to each other. `wide` and `long` are
the source's steps from number to number and from term to term. A panel at an edge, with fewer
`valid` numbers than its width, repeats the last one: the sums made of those are never looked at.
"""

from __future__ import annotations

from graphify.engines.native.elements.memory import memory_type
from graphify.engines.native.llvm import I64, PTR, VOID, Function, Module, Type, V
from graphify.engines.native.products.microkernel import ZERO, i64, smin
from graphify.engines.native.products.numbers import Numbers, cell
from graphify.ir.types import DType


def write_pack(
    made: Module, numbers: Numbers, width: int, *, working: bool = True, name: str = ""
) -> str:
    """The packing of panels of a width; the name of the function.

    Args:
        working: as working numbers, otherwise as they are.
    """
    params = [(PTR, "source"), (I64, "wide"), (I64, "long"), (I64, "valid"), (I64, "terms")]
    name = name or f"pack_{width}"
    f = made.function(name, VOID, [*params, (PTR, "target")], "internal", "noinline nounwind")
    widened = working and numbers.working != numbers.dtype
    whole = f.icmp("eq", f.args["valid"], i64(width))
    with f.when(f.and_(whole, f.icmp("eq", f.args["wide"], i64(1)))):
        _pack_lines(f, numbers, width, widened)
        f.ret()
    side = _side(numbers)
    if side and not widened:
        with f.when(f.icmp("eq", f.args["long"], i64(1))):
            _pack_across(f, numbers, width, side)
            f.ret()
    _pack_numbers(f, numbers, width, widened)
    f.ret()
    return f.name


def _target(numbers: Numbers, widened: bool) -> Type:
    return cell(numbers.working if widened else numbers.dtype)


def _pack_lines(f: Function, numbers: Numbers, width: int, widened: bool) -> None:
    """The numbers of a term lie next to each other already."""
    with f.counting(ZERO, f.args["terms"]) as t:
        line = f.at(f.args["source"], cell(numbers.dtype), f.mul(t, f.args["long"]))
        place = f.at(f.args["target"], _target(numbers, widened), f.mul(t, i64(width)))
        if widened:
            numbers.store(f, numbers.load(f, line, width), place, packed=True)
        else:
            type = _raw(numbers.dtype, width)
            f.store(f.load(type, line, type.bytes), place, type.bytes)


def _pack_numbers(f: Function, numbers: Numbers, width: int, widened: bool) -> None:
    one, own = cell(numbers.dtype), _target(numbers, widened)
    with f.counting(ZERO, i64(width)) as i:
        number = f.intrinsic("smin", i, f.sub(f.args["valid"], i64(1)))
        line = f.at(f.args["source"], one, f.mul(number, f.args["wide"]))
        column = f.at(f.args["target"], own, i)
        with f.folding(ZERO, f.args["terms"], [line, column]) as fold:
            read, write = fold.values
            if widened:
                numbers.store(f, numbers.load(f, read, 1), write, packed=True)
            else:
                type, align = _whole(numbers.dtype)
                f.store(f.load(type, read, align), write, align)
            fold.values = [f.at(read, one, f.args["long"]), f.at(write, own, width)]


def _pack_across(f: Function, numbers: Numbers, width: int, side: int) -> None:
    """The terms of a number lie next to each other."""
    one = cell(numbers.dtype)
    for first in range(0, width, side):
        rest = smin(f, f.sub(f.args["valid"], i64(first)), i64(min(side, width - first)))
        with f.when(f.icmp("sgt", rest, ZERO)):
            source = f.at(f.args["source"], one, f.mul(f.args["wide"], i64(first)))
            target = f.at(f.args["target"], one, first)
            args = [source, f.args["wide"], rest, f.args["terms"], target, i64(width)]
            f.call("transpose", VOID, args)


def _whole(dtype: DType) -> tuple[Type, int]:
    """An integer as large as a number, and what numbers are aligned to."""
    return Type(f"i{dtype.itemsize * 8}"), memory_type(dtype).bytes


def _raw(dtype: DType, width: int) -> Type:
    return memory_type(dtype).of(width * (2 if dtype.kind == "c" else 1))


def write_copy(made: Module, numbers: Numbers) -> None:
    """copy(source, row, column, rows, columns, target): as C-ordered rows, the dtype unchanged."""
    params = [(PTR, "source"), (I64, "row"), (I64, "column"), (I64, "rows"), (I64, "columns")]
    f = made.function("copy", VOID, [*params, (PTR, "target")], "internal", "noinline nounwind")
    rows, columns, step = f.args["rows"], f.args["columns"], f.args["column"]
    type, align = _whole(numbers.dtype)
    one, side = cell(numbers.dtype), _side(numbers)
    if side:
        with f.when(f.icmp("eq", f.args["row"], i64(1))):
            with f.counting(ZERO, columns, side) as j:
                source = f.at(f.args["source"], one, f.mul(j, step))
                some = smin(f, f.sub(columns, j), i64(side))
                target = f.at(f.args["target"], one, j)
                f.call("transpose", VOID, [source, step, some, rows, target, columns])
            f.ret()
    with f.counting(ZERO, columns) as j:
        start = f.at(f.args["source"], one, f.mul(j, step))
        target = f.at(f.args["target"], one, j)
        with f.folding(ZERO, rows, [start, target]) as fold:
            read, write = fold.values
            f.store(f.load(type, read, align), write, align)
            fold.values = [f.at(read, one, f.args["row"]), f.at(write, one, columns)]
    f.ret()


# --- transposing ----------------------------------------------------------------------------------


def _side(numbers: Numbers) -> int:
    """Numbers of a square that is transposed in registers; 0 where that is not done."""
    side = min(16, numbers.target.vector_bytes // numbers.dtype.itemsize)
    return side if numbers.masked and side >= 4 else 0


def write_transpose(made: Module, numbers: Numbers) -> None:
    """transpose(source, wide, valid, terms, target, pitch), for up to `_side` numbers.

    The terms of number i, which lie at source + i * wide, go to target + i + term * pitch.
    """
    side = _side(numbers)
    if not side:
        return
    params = [(PTR, "source"), (I64, "wide"), (I64, "valid"), (I64, "terms")]
    params += [(PTR, "target"), (I64, "pitch")]
    f = made.function("transpose", VOID, params, "internal", "noinline nounwind")
    one = cell(numbers.dtype)
    type, align = _whole(numbers.dtype)
    valid, terms, pitch = f.args["valid"], f.args["terms"], f.args["pitch"]
    last = f.sub(valid, i64(1))
    starts = [f.mul(smin(f, i64(i), last), f.args["wide"]) for i in range(side)]
    lines = [f.at(f.args["source"], one, start) for start in starts]
    mask = numbers.first(f, valid, side)
    whole = f.and_(terms, i64(-side))
    with f.counting(ZERO, whole, side) as term:
        rows = [f.load(type.of(side), f.at(line, one, term), align) for line in lines]
        for t, column in enumerate(_transposed(f, rows)):
            place = f.at(f.args["target"], one, f.mul(f.add(term, i64(t)), pitch))
            f.masked_store(column, place, mask, align)
    with f.counting(whole, terms) as term, f.counting(ZERO, valid) as i:
        x = f.load(
            type, f.at(f.at(f.args["source"], one, f.mul(i, f.args["wide"])), one, term), align
        )
        f.store(x, f.at(f.at(f.args["target"], one, i), one, f.mul(term, pitch)), align)
    f.ret()


def _transposed(f: Function, rows: list[V]) -> list[V]:
    """The columns of a square: quarters are exchanged at every scale."""
    side = len(rows)
    rows = list(rows)
    scale = 1
    while scale < side:
        for i in range(side):
            if i & scale:
                continue
            a, b = rows[i], rows[i + scale]
            upper = [x if not x & scale else x - scale + side for x in range(side)]
            lower = [x + scale if not x & scale else x + side for x in range(side)]
            rows[i], rows[i + scale] = _shuffled(f, a, b, upper), _shuffled(f, a, b, lower)
        scale *= 2
    return rows


def _shuffled(f: Function, a: V, b: V, lanes: list[int]) -> V:
    mask = ", ".join(f"i32 {x}" for x in lanes)
    return f.op(a.type, f"shufflevector {a}, {b}, <{len(lanes)} x i32> <{mask}>")
