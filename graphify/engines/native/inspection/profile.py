"""How long each kernel of a graph takes, beside what the machine could do.

    profile = executable.profile(arrays)
    print(profile)
    profile.kernels[0].seconds, profile.kernels[0].share

A kernel's limit is the roofline: the time its operations take at the machine's best rate, or the
time its bytes take to go through the cache level that they fit into, whichever is longer.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from graphify.engines.native.inspection.amounts import short
from graphify.engines.native.inspection.kernels import Kernel, describe, shown_lines
from graphify.engines.native.inspection.machine import Machine, measured
from graphify.engines.native.inspection.tables import table
from graphify.engines.native.inspection.timing import Timed
from graphify.engines.native.loops.lines import quoted
from graphify.engines.native.loops.program import Const, Expr, Let, Load, Program, Var
from graphify.engines.native.loops.walk import parts, statements
from graphify.ir.graph import Graph

SECONDS = 0.3  # how long to measure where the number of runs is not given
MOST = 1000  # runs

Sizes = dict[Hashable, float]


@dataclass(frozen=True, slots=True)
class KernelTime:
    """What one kernel took.

    Attributes:
        kernel: which.
        seconds: the median of all runs.
        least: the shortest run.
        flops, bytes: its work in these runs; None where only the run knows it (turns of a `while`).
        limit: seconds that the machine needs at least; None where the work is unknown.
    """

    kernel: Kernel
    seconds: float
    least: float
    flops: float | None
    bytes: float | None
    limit: float | None

    @property
    def share(self) -> float | None:
        """How much of what is possible was reached: 1 is the roofline."""
        return None if self.limit is None else self.limit / max(self.seconds, 1e-9)


@dataclass(frozen=True, slots=True)
class Profile:
    """Times of all kernels of a graph. `str` gives them as a table.

    Attributes:
        name: the function's.
        kernels: in the order in which they ran.
        runs: how many runs the times are medians of.
        machine: the limits that they are held against.
    """

    name: str
    kernels: tuple[KernelTime, ...]
    runs: int
    machine: Machine

    @property
    def seconds(self) -> float:
        """All kernels together, the call around them left out."""
        return sum(each.seconds for each in self.kernels)

    def __str__(self) -> str:
        head = ["#", "kernel", "lines", "time", "of all", "flop/s", "B/s", "limit", "of limit"]
        rows = [self._row(number, each) for number, each in enumerate(self.kernels)]
        places = {(p.file, p.line): p for each in self.kernels for p in each.kernel.lines}
        machine = self.machine
        flops = ", ".join(f"{short(v)}flop/s ({8 * k} bits)" for k, v in machine.flops.items())
        rates = ", ".join(f"{short(v)}B/s ({short(k, 'B')})" for k, v in machine.rates.items())
        count = f"{len(rows)} kernel{'s' * (len(rows) != 1)}"
        return "\n".join(
            [
                f"{self.name}: {short(self.seconds, 's')} in {count}, median of {self.runs} runs",
                "",
                table(head, rows, right=set(range(3, 9))),
                *(f"    {line}" for line in quoted(places.values())),
                "",
                f"this machine, {machine.threads} threads: {flops}",
                f"    {rates}",
            ]
        )

    def _row(self, number: int, each: KernelTime) -> list[str]:
        def rate(amount: float | None) -> str:
            return "-" if not amount else short(amount / max(each.seconds, 1e-9))

        return [
            str(number),
            each.kernel.head,
            shown_lines(each.kernel),
            short(each.seconds, "s"),
            f"{100 * each.seconds / max(self.seconds, 1e-12):.0f} %",
            rate(each.flops),
            rate(each.bytes),
            "-" if each.limit is None else short(each.limit, "s"),
            "-" if each.share is None else f"{100 * each.share:.0f} %",
        ]


def profile(graph: Graph, arrays: Sequence[Any], repeat: int | None = None) -> Profile:
    """Time the kernels of a graph on these arrays, which are in C order.

    Args:
        repeat: how many runs; without it about 0.3 s of them, or one where the graph has effects.
    """
    timed, machine = Timed(graph, arrays), measured()
    runs = list(_runs(timed, 1 if graph.effects and repeat is None else repeat))
    report = describe(timed.program)
    sizes = _sizes(timed.program, arrays)
    kernels = [
        _timed(kernel, [run[i] for run in runs], sizes, machine)
        for i, kernel in enumerate(report.kernels)
    ]
    return Profile(report.name, tuple(kernels), len(runs), machine)


def _runs(timed: Timed, repeat: int | None) -> Iterator[list[float]]:
    if repeat is None:
        timed.run()  # caches, threads, memory
    end = time.perf_counter() + SECONDS
    for number in range(repeat if repeat is not None else MOST):
        yield timed.run()
        if repeat is None and number >= 4 and time.perf_counter() > end:
            return


def _timed(kernel: Kernel, seconds: Sequence[float], sizes: Sizes, machine: Machine) -> KernelTime:
    flops, moved = kernel.flops.value(sizes.get), kernel.bytes.value(sizes.get)
    limit = None
    if flops is not None and moved is not None:
        limit = machine.seconds(flops, moved, 8 if _wide(kernel) else 4)
    return KernelTime(kernel, statistics.median(seconds), min(seconds), flops, moved, limit)


def _wide(kernel: Kernel) -> bool:
    """Whether it computes in 64 bits."""
    return any(
        buffer.dtype.itemsize // (2 if buffer.dtype.kind == "c" else 1) == 8
        for buffer in kernel.buffers
    )


# --- sizes ----------------------------------------------------------------------------------------

_OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "floor_divide": lambda a, b: a // b,
    "remainder": lambda a, b: a % b,
    "minimum": min,
    "maximum": max,
    "equal": lambda a, b: a == b,
    "not_equal": lambda a, b: a != b,
    "less": lambda a, b: a < b,
    "where": lambda c, a, b: a if c else b,
}


def _sizes(program: Program, arrays: Sequence[Any]) -> Sizes:
    """The values of the variables that follow from the shapes of the arguments."""
    known: Sizes = {}
    for buffer, array in zip(program.params, arrays, strict=True):
        known.update(zip(buffer.shape, array.shape, strict=True))
    for stmt in statements((*program.sizes, *program.body)):
        if isinstance(stmt, Let):
            value = _evaluated(stmt.value, known)
            if value is not None:
                known.setdefault(stmt.var, value)
    return known


def _evaluated(expr: Expr, known: Sizes) -> Any:
    """The value of an index expression, or None."""
    if isinstance(expr, Const):
        return expr.value if expr.dtype.kind in "ib" else None
    if isinstance(expr, Var):
        return known.get(expr)
    if isinstance(expr, Load) or expr.op not in _OPERATIONS:
        return None
    if any(isinstance(p, Load) for p in parts(expr)):
        return None
    args = [_evaluated(arg, known) for arg in expr.args]
    return None if None in args else _OPERATIONS[expr.op](*args)
