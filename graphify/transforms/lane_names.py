"""Which lane of a vmap acts: what raises, prints or warns gets the lane's number as an operand.

    map(i, x_i) { cond(x_i > 1) { print(x_i) } }     becomes
    map(i, x_i) { cond(x_i > 1) { print(i, x_i) } }  so that it can print "lane 2: ..."

Errors say "in lane 2 of a vmap" in a note, warnings at the end of their text, where filters do not
look. The number travels into sub-graphs as their last parameter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from graphify.ir.graph import Graph, Node
from graphify.ir.replay import Rule, bind_at, replay
from graphify.ir.tensor import Tensor
from graphify.ir.types import Spec
from graphify.ops.effects import Text
from graphify.transforms import build

_PASSING = ("cond", "call", "while", "loop", "map")  # take more operands, which do not change
_NUMBER = Spec((), np.dtype(np.int64))


def replay_in_lane(graph: Graph, args: Sequence[Tensor], lane: Tensor) -> list[Tensor]:
    """The results of a graph, whose effects name the lane."""
    return replay(graph, args, _rule(lane) if _acts(graph) else None)


def _acts(graph: Graph) -> bool:
    return any(
        node.op.name in _NAMING or any(_acts(inner) for _, inner in node.subgraphs)
        for node in graph.nodes
        if node.effects
    )


def _rule(lane: Tensor) -> Rule:
    def rule(node: Node, inputs: list[Tensor], attrs: dict[str, Any]) -> Any:
        if not node.effects:
            return NotImplemented
        if node.op.name in _NAMING:
            return _NAMING[node.op.name](node, inputs, attrs, lane)
        graphs = dict(node.subgraphs)
        if node.op.name not in _PASSING or not any(map(_acts, graphs.values())):
            return NotImplemented
        named = {name: _named(graph) for name, graph in graphs.items()}
        return bind_at(node, [*inputs, lane], {**attrs, **named})

    return rule


def _error(node: Node, inputs: list[Tensor], attrs: dict[str, Any], lane: Tensor) -> Any:
    error = attrs["exception"]
    attrs = {**attrs, "exception": replace(error, lanes=error.lanes + 1)}
    return bind_at(node, [*inputs, lane], attrs)


def _print(node: Node, inputs: list[Tensor], attrs: dict[str, Any], lane: Tensor) -> Any:
    text = Text(("lane ", None, ": ", *_joined(attrs["text"])), "")
    return bind_at(node, [lane, *inputs], {**attrs, "text": text})


def _warn(node: Node, inputs: list[Tensor], attrs: dict[str, Any], lane: Tensor) -> Any:
    text = Text((*_joined(attrs["text"]), " (in lane ", None, " of a vmap)"), "")
    return bind_at(node, [*inputs, lane], {**attrs, "text": text})


def _joined(text: Text) -> Iterator[Any]:
    """The pieces of a text with its separators between them."""
    for k, piece in enumerate(text.pieces):
        if k and text.separator:
            yield text.separator
        yield piece


_NAMING = {"raise": _error, "assert": _error, "print": _print, "warn": _warn}


def _named(graph: Graph) -> Graph:
    """A sub-graph that takes the number of the lane, too."""
    specs = [*build.param_specs(graph), _NUMBER]
    return build.trace(lambda *args: replay_in_lane(graph, args[:-1], args[-1]), specs, graph.name)
