"""Operands copied to where the innermost loop reads them in order.

    pack_<width>(ptr source, i64 wide, i64 long, i64 valid, i64 terms, ptr target)

writes a panel: for each term, `width` (working) numbers next to each other. `wide` and `long` are the
source's steps from number to number and from term to term. A panel at an edge, with fewer `valid`
numbers than its width, repeats the last one: the sums made of those are never looked at.
"""

from __future__ import annotations

from graphify.engines.native.elements.memory import memory_type
from graphify.engines.native.llvm import I64, PTR, VOID, Function, Module, Type
from graphify.engines.native.products.microkernel import ZERO, i64
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


def _whole(dtype: DType) -> tuple[Type, int]:
    """An integer as large as a number, and what numbers are aligned to."""
    return Type(f"i{dtype.itemsize * 8}"), memory_type(dtype).bytes


def _raw(dtype: DType, width: int) -> Type:
    return memory_type(dtype).of(width * (2 if dtype.kind == "c" else 1))


def write_copy(made: Module, numbers: Numbers) -> None:
    """copy(source, row, column, rows, columns, target): as C-ordered rows, the dtype unchanged."""
    params = [(PTR, "source"), (I64, "row"), (I64, "column"), (I64, "rows"), (I64, "columns")]
    f = made.function("copy", VOID, [*params, (PTR, "target")], "internal", "noinline nounwind")
    type, align = _whole(numbers.dtype)
    one = cell(numbers.dtype)
    with f.counting(ZERO, f.args["columns"]) as j:
        start = f.at(f.args["source"], one, f.mul(j, f.args["column"]))
        target = f.at(f.args["target"], one, j)
        with f.folding(ZERO, f.args["rows"], [start, target]) as fold:
            read, write = fold.values
            f.store(f.load(type, read, align), write, align)
            fold.values = [f.at(read, one, f.args["row"]), f.at(write, one, f.args["columns"])]
    f.ret()
