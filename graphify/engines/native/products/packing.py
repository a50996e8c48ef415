"""Operands copied to where the innermost loop reads them in order.

    pack_<width>(ptr source, i64 wide, i64 long, i64 valid, i64 terms, ptr target)

writes a panel: for each term, `width` working numbers next to each other. `wide` and `long` are the
source's steps from number to number and from term to term. A panel at an edge, with fewer `valid`
numbers than its width, repeats the last one: the sums made of those are never looked at.
"""

from __future__ import annotations

from graphify.engines.native.elements.element import part_type
from graphify.engines.native.llvm import I64, PTR, VOID, Function, Module, Type
from graphify.engines.native.products.microkernel import ZERO, i64
from graphify.engines.native.products.numbers import Numbers, cell
from graphify.ir.types import DType


def write_pack(made: Module, numbers: Numbers, width: int) -> str:
    """The packing of panels of a width; the name of the function."""
    params = [(PTR, "source"), (I64, "wide"), (I64, "long"), (I64, "valid"), (I64, "terms")]
    f = made.function(
        f"pack_{width}", VOID, [*params, (PTR, "target")], "internal", "noinline nounwind"
    )
    whole = f.icmp("eq", f.args["valid"], i64(width))
    with f.when(f.and_(whole, f.icmp("eq", f.args["wide"], i64(1)))):
        _pack_lines(f, numbers, width)
        f.ret()
    _pack_numbers(f, numbers, width)
    f.ret()
    return f.name


def _pack_lines(f: Function, numbers: Numbers, width: int) -> None:
    """The numbers of a term lie next to each other already."""
    source, target = cell(numbers.dtype), cell(numbers.working)
    with f.counting(ZERO, f.args["terms"]) as t:
        line = f.at(f.args["source"], source, f.mul(t, f.args["long"]))
        place = f.at(f.args["target"], target, f.mul(t, i64(width)))
        if numbers.working == numbers.dtype:
            type = _raw(numbers.dtype, width)
            f.store(f.load(type, line, type.bytes), place, type.bytes)
        else:
            numbers.store(f, numbers.load(f, line, width), place, packed=True)


def _raw(dtype: DType, width: int) -> Type:
    return part_type(dtype).of(width * (2 if dtype.kind == "c" else 1))


def _pack_numbers(f: Function, numbers: Numbers, width: int) -> None:
    one, own = cell(numbers.dtype), cell(numbers.working)
    with f.counting(ZERO, i64(width)) as i:
        number = f.intrinsic("smin", i, f.sub(f.args["valid"], i64(1)))
        line = f.at(f.args["source"], one, f.mul(number, f.args["wide"]))
        column = f.at(f.args["target"], own, i)
        with f.folding(ZERO, f.args["terms"], [line, column]) as fold:
            read, write = fold.values
            numbers.store(f, numbers.load(f, read, 1), write, packed=True)
            fold.values = [f.at(read, one, f.args["long"]), f.at(write, own, width)]


def write_copy(made: Module, numbers: Numbers) -> None:
    """copy(source, row, column, rows, columns, target): as C-ordered rows, the dtype unchanged."""
    params = [(PTR, "source"), (I64, "row"), (I64, "column"), (I64, "rows"), (I64, "columns")]
    f = made.function("copy", VOID, [*params, (PTR, "target")], "internal", "noinline nounwind")
    type = Type(f"i{numbers.dtype.itemsize * 8}")
    one = cell(numbers.dtype)
    align = part_type(numbers.dtype).bytes
    with f.counting(ZERO, f.args["columns"]) as j:
        start = f.at(f.args["source"], one, f.mul(j, f.args["column"]))
        target = f.at(f.args["target"], one, j)
        with f.folding(ZERO, f.args["rows"], [start, target]) as fold:
            read, write = fold.values
            f.store(f.load(type, read, align), write, align)
            fold.values = [f.at(read, one, f.args["row"]), f.at(write, one, f.args["columns"])]
    f.ret()
