"""What this machine can do at most: operations and bytes per second, measured once.

    machine = measured()
    machine.flops[4], machine.bandwidth(1 << 20)

Measured with the engine itself: matrix products for the one, `x + x` over arrays of several lengths
for the other. The numbers are kept on disk beside the machine code.
"""

from __future__ import annotations

import functools
import json
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphify.config import config
from graphify.engines.native import cache, pool
from graphify.ir.graph import Builder
from graphify.ir.types import Spec

SIDE = 384  # of the matrices: many short runs, of which one is undisturbed
SECONDS = 0.12  # for each number
FOOTPRINTS = tuple(1 << k for k in (15, 18, 21, 24, 27))  # bytes: from the first cache to memory
_VERSION = 2


@dataclass(frozen=True, slots=True)
class Machine:
    """The limits of this machine.

    Attributes:
        threads: how many were at work.
        flops: operations per second, by the bytes of an element: 4 or 8.
        rates: bytes per second when a kernel goes through so many bytes.
    """

    threads: int
    flops: dict[int, float]
    rates: dict[int, float]

    def bandwidth(self, footprint: float) -> float:
        """Bytes per second for a kernel that goes through `footprint` bytes."""
        fitting = [rate for size, rate in self.rates.items() if size >= footprint]
        return fitting[0] if fitting else self.rates[max(self.rates)]

    def seconds(self, flops: float, moved: float, itemsize: int) -> float:
        """The least time for so many operations and bytes."""
        return max(flops / self.flops[itemsize], moved / self.bandwidth(moved))


def measured() -> Machine:
    """The limits, from this process, from an earlier one, or measured now (in about a second)."""
    return _measured(config.num_threads or pool.default_threads())


@functools.cache
def _measured(threads: int) -> Machine:
    key = cache.key(f"limits {_VERSION}, {threads} threads", "none")
    known = cache.load(key)
    if known is None:
        known = json.dumps([_flops(), _rates()]).encode()
        cache.store(key, known)
    flops, rates = json.loads(known)
    return Machine(threads, _by_number(flops), _by_number(rates))


def _by_number(pairs: list[list[float]]) -> dict[int, float]:
    return {int(key): value for key, value in pairs}


def _flops() -> list[list[float]]:
    pairs = []
    for dtype in (np.float32, np.float64):
        a = np.ones((SIDE, SIDE), dtype)
        seconds = _least("matmul", a)
        pairs.append([a.itemsize, 2 * SIDE**3 / seconds])
    return pairs


def _rates() -> list[list[float]]:
    pairs = []
    for footprint in FOOTPRINTS:
        a = np.ones(footprint // 8, np.float32)  # half is read, half is written
        pairs.append([footprint, footprint / _least("add", a)])
    return pairs


def _least(op: str, a: Any) -> float:
    """Seconds of `a op a`, at best."""
    from graphify.engines.native.inspection.timing import Timed
    from graphify.ir.op import REGISTRY

    builder = Builder(name=f"limit_{op}")
    x = builder.param(Spec(a.shape, a.dtype), "x")
    graph = builder.finish([*builder.add(REGISTRY[op], [x, x], {})])
    timed = Timed(graph, [a])
    best, end = sum(timed.run()), time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        best = min(best, sum(timed.run()))
    return best
