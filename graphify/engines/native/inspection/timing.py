"""A graph compiled with a clock between its kernels.

timed = Timed(graph, arrays)
timed.run()                     # seconds of each kernel
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from graphify.engines.native.engine import compile_program, loops
from graphify.engines.native.inspection.kernels import divide
from graphify.engines.native.llvm import I32, I64, V
from graphify.engines.native.loops.program import Block, Call, Const, Program, Stmt, index
from graphify.engines.native.translate.calls import function
from graphify.engines.native.translate.writer import Writer
from graphify.ir.graph import Graph

TICKS = "graphify_ticks"  # two words of time for each tick
# Windows has neither; there the symbol is not found, and says so.
_CLOCK = getattr(time, "CLOCK_MONOTONIC", 1)


@function("tick")
def _tick(w: Writer, stmt: Call) -> None:
    """Keep the time of now."""
    number = stmt.scalars[0]
    assert isinstance(number, Const)
    place = w.f.at(w.f.module.external(TICKS), I64, 2 * int(number.value))
    w.f.call("clock_gettime", I32, [V(I32, str(_CLOCK)), place])


class Timed:
    """A compiled graph that takes the time.

    Attributes:
        program: its loops, without the clock.
        kernels: the statements of each kernel.
    """

    def __init__(self, graph: Graph, arrays: Sequence[Any]) -> None:
        self.program = loops(graph)
        self.kernels: list[Block] = divide(self.program)
        self._arrays = list(arrays)
        self._ticks = (ctypes.c_int64 * (2 * (len(self.kernels) + 1)))()
        layouts = ("C",) * len(graph.params)
        symbols = {TICKS: ctypes.addressof(self._ticks)}
        timed = _with_ticks(self.program, self.kernels)
        self._code = compile_program(graph, timed, layouts, symbols)

    def run(self) -> list[float]:
        """Run once; seconds of each kernel."""
        self._code.runner(self._arrays)
        times = [a * 1e9 + b for a, b in zip(self._ticks[::2], self._ticks[1::2], strict=True)]
        return [(after - before) * 1e-9 for before, after in zip(times, times[1:], strict=False)]


def _with_ticks(program: Program, kernels: Sequence[Block]) -> Program:
    return replace(program, body=tuple(_ticked(kernels)))


def _ticked(kernels: Sequence[Block]) -> Iterator[Stmt]:
    yield Call("tick", (), (), (index(0),))
    for number, kernel in enumerate(kernels):
        yield from kernel
        yield Call("tick", (), (), (index(number + 1),))
