"""Which lane of a vmap raised: `raise` and `assert` get the lane's number as a further operand.

    map(i, x_i) { cond(x_i > 1) { raise(x_i) } }     becomes
    map(i, x_i) { cond(x_i > 1) { raise(x_i, i) } }  so that the error can say "in lane 2"

The number travels into sub-graphs as their last parameter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from graphify.ir.bind import Tensor
from graphify.ir.graph import Graph, Node
from graphify.ir.replay import Rule, bind_at, replay
from graphify.ir.types import Spec
from graphify.transforms import build

_PASSING = ("cond", "call", "while", "loop", "map")  # take more operands, which do not change
_NUMBER = Spec((), np.dtype(np.int64))


def replay_in_lane(graph: Graph, args: Sequence[Tensor], lane: Tensor) -> list[Tensor]:
    """The results of a graph, whose errors name the lane."""
    return replay(graph, args, _rule(lane) if _raises(graph) else None)


def _raises(graph: Graph) -> bool:
    return any(
        node.op.name in ("raise", "assert") or any(_raises(inner) for _, inner in node.subgraphs)
        for node in graph.nodes
        if node.effects
    )


def _rule(lane: Tensor) -> Rule:
    def rule(node: Node, inputs: list[Tensor], attrs: dict[str, Any]) -> Any:
        if not node.effects:
            return NotImplemented
        if node.op.name in ("raise", "assert"):
            error = attrs["exception"]
            attrs = {**attrs, "exception": replace(error, lanes=error.lanes + 1)}
            return bind_at(node, [*inputs, lane], attrs)
        graphs = dict(node.subgraphs)
        if node.op.name not in _PASSING or not any(map(_raises, graphs.values())):
            return NotImplemented
        named = {name: _named(graph) for name, graph in graphs.items()}
        return bind_at(node, [*inputs, lane], {**attrs, **named})

    return rule


def _named(graph: Graph) -> Graph:
    """A sub-graph that takes the number of the lane, too."""
    specs = [*build.param_specs(graph), _NUMBER]
    return build.trace(lambda *args: replay_in_lane(graph, args[:-1], args[-1]), specs, graph.name)
