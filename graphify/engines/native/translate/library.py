"""Calls of library functions that follow one pattern: addresses of C-ordered arrays, then numbers.

    Call("library", (y,), (x,), (n,), (status,), {"symbol": "graphify_sort_float64"})

is `status = graphify_sort_float64(y, x, n)`: outputs, inputs and scalars (int64) in this order, and
an int64 as result. One below zero says that an exception is pending: Ctrl-C was pressed.
"""

from __future__ import annotations

from graphify.engines.native.elements.element import Element
from graphify.engines.native.llvm import I32, I64, V
from graphify.engines.native.loops.program import INDEX, Call
from graphify.engines.native.translate import addresses
from graphify.engines.native.translate.calls import function
from graphify.engines.native.translate.cells import Cell
from graphify.engines.native.translate.writer import PENDING, Writer, number


@function("library")
def _library(w: Writer, stmt: Call) -> None:
    args = [addresses.base(w, buffer) for buffer in (*stmt.outputs, *stmt.inputs)]
    args += [addresses.value(w, expr) for expr in stmt.scalars]
    result = w.f.call(stmt.attrs["symbol"], I64, args)
    w.leave_if(w.f.icmp("slt", result, number(0)), V(I32, str(PENDING)))
    for var in stmt.variables:
        cell = w.values[var]
        assert isinstance(cell, Cell), var.name
        cell.write(w.f, Element(INDEX, (result,)))
