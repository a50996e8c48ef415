"""Calls of the library's convolutions: three arrays in C order, and the words of their geometry."""

from __future__ import annotations

from graphify.engines.native.llvm import I64, VOID
from graphify.engines.native.loops.program import Call
from graphify.engines.native.products.interface import convolution_names
from graphify.engines.native.translate import addresses
from graphify.engines.native.translate.calls import epilogue, function
from graphify.engines.native.translate.writer import Writer

FORWARD = 0  # which of the three takes an epilogue


@function("convolution")
def _convolution(w: Writer, stmt: Call) -> None:
    """attrs["which"]: the convolution itself, its gradient for the input, for the kernel."""
    (out,), which, f = stmt.outputs, stmt.attrs["which"], w.f
    geometry = f.alloca(I64, len(stmt.scalars))
    for word, expr in enumerate(stmt.scalars):
        f.store(addresses.value(w, expr), f.at(geometry, I64, word))
    arrays = [addresses.base(w, buffer) for buffer in (*stmt.inputs, out)]
    rest = epilogue(w, stmt) if which == FORWARD else []
    f.call(convolution_names(out.dtype.name)[which], VOID, [*arrays, geometry, *rest])
