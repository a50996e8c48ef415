"""The reference engine: NumPy, one op at a time, only what is needed. It defines the meaning.

get_engine("reference").compile(graph)([np.arange(3.0)])
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphify.engines.base import Array, check_args, check_support
from graphify.ir.graph import Graph
from graphify.ir.interpret import run
from graphify.ir.op import Op


@dataclass(frozen=True)
class ReferenceExecutable:
    """A graph, run by `graphify.ir.interpret`."""

    graph: Graph

    def __call__(self, args: Sequence[Any]) -> list[Array]:
        arrays = [np.asarray(arg) for arg in args]
        check_args(self.graph.params, arrays)
        return run(self.graph, arrays)


class ReferenceEngine:
    """Runs every op that has a meaning."""

    name = "reference"

    def supports(self, op: Op) -> bool:
        return op.eval is not None or op.name == "param"

    def compile(self, graph: Graph) -> ReferenceExecutable:
        check_support(self, graph)
        return ReferenceExecutable(graph)


ENGINE = ReferenceEngine()
