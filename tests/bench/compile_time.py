"""How compile time grows: building, optimising, printing, parsing and running 1k to 100k nodes.

    python tests/bench/compile_time.py [nodes ... | --quick]

Prints seconds and microseconds per node. Each column should stay about the same from row to row.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from graphify.ir.context import recording
from graphify.ir.graph import Builder, Graph
from graphify.ir.interpret import run
from graphify.ir.parse import parse
from graphify.ir.pretty import to_text
from graphify.ir.tensor import Tensor, value_in
from graphify.ir.types import Spec
from graphify.ops import elementwise
from graphify.optimise.pipeline import optimise

SIZES = (1_000, 10_000, 100_000)


def straight_line(nodes: int) -> Graph:
    """A chain in which a third of the work is dead, equal to other work, or an identity."""
    builder = Builder()
    x = Tensor(builder.param(Spec((4,), np.dtype(np.float64)), "x"))
    one = np.asarray(1.0)
    with recording(builder):
        y = x
        while len(builder.nodes) < nodes:
            y = elementwise.sin(y) + x
            elementwise.cos(y)  # dead
            y = elementwise.multiply(elementwise.negative(elementwise.negative(y)), one)
        result = value_in(y, builder)
    return builder.finish([result])


def timed(function: Callable[..., Any], *args: Any) -> tuple[float, Any]:
    start = time.perf_counter()
    result = function(*args)
    return time.perf_counter() - start, result


def measure(nodes: int) -> dict[str, float]:
    """Seconds for each step on a graph of so many nodes."""
    seconds: dict[str, float] = {}
    seconds["build"], graph = timed(straight_line, nodes)
    seconds["optimise"], (optimised, _) = timed(optimise, graph)
    seconds["print"], text = timed(to_text, graph)
    seconds["parse"], _ = timed(parse, text)
    seconds["run"], _ = timed(run, optimised, [np.ones(4)])
    return seconds


def main(sizes: list[int]) -> None:
    names = ("build", "optimise", "print", "parse", "run")
    print(f"{'nodes':>8}" + "".join(f"{name:>20}" for name in names))
    for nodes in sizes:
        seconds = measure(nodes)
        cells = [f"{seconds[n]:9.3f} s {1e6 * seconds[n] / nodes:5.1f} us" for n in names]
        print(f"{nodes:>8}" + "".join(f"{cell:>20}" for cell in cells))


if __name__ == "__main__":
    quick = sys.argv[1:] == ["--quick"]
    main([SIZES[0]] if quick else [int(text) for text in sys.argv[1:]] or list(SIZES))
