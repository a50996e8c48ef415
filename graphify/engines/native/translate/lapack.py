"""Calls of LAPACK: every argument by reference, numbers and letters from the stack.

    Call("lapack", buffers, buffers, (n, ld), (info,), {"routine": "dpotrf",
         "args": ("'L", "s0", "b0", "s1")})

`args` says what is passed in which order: a letter, a scalar or a buffer by its number. The status
that LAPACK gives as its last argument goes to the variable. Routines know no way to stop them:
Ctrl-C is looked for when each is done.
"""

from __future__ import annotations

from graphify.engines.native import lapack
from graphify.engines.native.elements.element import Element
from graphify.engines.native.llvm import I8, I32, I64, VOID, V
from graphify.engines.native.loops.program import INDEX, Call
from graphify.engines.native.translate import addresses
from graphify.engines.native.translate.calls import function
from graphify.engines.native.translate.cells import Cell
from graphify.engines.native.translate.writer import Writer


@function("lapack")
def _lapack(w: Writer, stmt: Call) -> None:
    f = w.f
    args = [_argument(w, stmt, word[0], word[1:]) for word in stmt.attrs["args"]]
    status = f.alloca(I32)
    f.store(V(I32, "0"), status)
    f.call(lapack.symbol(stmt.attrs["routine"]), VOID, [*args, status])
    w.poll()
    (info,) = stmt.variables
    cell = w.values[info]
    assert isinstance(cell, Cell), info.name
    cell.write(f, Element(INDEX, (f.convert("sext", f.load(I32, status), I64),)))


def _argument(w: Writer, stmt: Call, kind: str, rest: str) -> V:
    """The address of an argument."""
    f = w.f
    if kind == "b":
        return addresses.base(w, stmt.outputs[int(rest)])
    if kind == "s":
        number = f.convert("trunc", addresses.value(w, stmt.scalars[int(rest)]), I32)
    else:
        number = V(I8, str(ord(rest)))
    place = f.alloca(number.type)
    f.store(number, place)
    return place
