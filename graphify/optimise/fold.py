"""Folding: pure ops on constants are computed now.

    y = sin(2.0)      ->  0.909...
    as_size(3, var=k) ->  every k is 3

Large results stay computations (an array of a million ones is better made than stored), and an op
that raises is left to raise when, and if, it runs.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphify.ir.graph import Graph, Node, Value, as_size, attr_sizes, constant
from graphify.ir.rebuild import Contradiction, Rebuild
from graphify.ir.walk import nested_graphs
from graphify.optimise.report import Report

MAX_RESULT = 4096  # elements of what is stored in the graph
MAX_OPERANDS = 65536  # elements of what is computed with: folding must not take long

# Folding would only turn a short node into a long constant; a recursion may take its time.
KEPT = {"broadcast_to", "iota", "copy", "recursive_call"}


def fold(graph: Graph, report: Report) -> Graph:
    """The graph with what is constant computed, inside its sub-graphs, too."""
    inner: dict[Graph, Graph] = {}
    for each in nested_graphs(graph):
        done = len(report.events)
        try:
            inner[each] = _fold(each, report, inner, sizes=True)
        except Contradiction:
            # A size that became a number shows that some op must fail. It shall do so when it
            # runs, which it may never do: that size stays symbolic.
            del report.events[done:]
            inner[each] = _fold(each, report, inner, sizes=False)
    return inner[graph]


def _fold(graph: Graph, report: Report, inner: dict[Graph, Graph], sizes: bool) -> Graph:
    again = Rebuild(graph, inner)
    for node in graph.nodes:
        now = again.current(node)
        if sizes and now.op is as_size and _is_size(now.inputs[0]):
            again.learn({now.attrs["var"]: int(_array(now.inputs[0]))})
            again.replace(node, now.inputs)
            report.note("folded", node, "the size is known")
            continue
        results = _evaluate(now) if _is_foldable(now) else None
        if results is None:
            again.keep(node, now)
            continue
        again.frame.source = node.source
        pairs = zip(results, now.specs, strict=True)
        again.replace(node, [again.frame.constant(a, spec.weak) for a, spec in pairs])
        report.note("folded", node, "its operands are constants")
    return again.finish()


def _is_size(value: Value) -> bool:
    return value.node.op is constant and int(_array(value)) >= 0


def _array(value: Value) -> Any:
    return value.node.attrs["value"].array


def _is_foldable(node: Node) -> bool:
    if node.effects or node.op.eval is None or node.op is constant or node.op.name in KEPT:
        return False
    if not all(value.node.op is constant for value in node.inputs) or not node.specs:
        return False
    if any(isinstance(a, Graph) for a in node.attrs.values()) or any(attr_sizes(node.attrs)):
        return False
    if not all(spec.is_static for spec in node.specs):
        return False
    given = sum(_array(value).size for value in node.inputs)
    made = sum(math.prod(d for d in spec.shape if isinstance(d, int)) for spec in node.specs)
    return given <= MAX_OPERANDS and made <= MAX_RESULT


def _evaluate(node: Node) -> list[Any] | None:
    """The node's results; None where it raises or does not do what its spec says."""
    meaning = node.op.meaning(node.specs[0].weak)
    assert meaning is not None
    try:
        with np.errstate(all="ignore"):
            result = meaning(*(_array(value) for value in node.inputs), **node.attrs)
    except Exception:  # noqa: BLE001  # whatever it is, it is raised again when the node runs
        return None
    outputs = result if isinstance(result, (tuple, list)) else (result,)
    arrays = [np.array(output) for output in outputs]
    if [(a.shape, a.dtype) for a in arrays] != [(s.shape, s.dtype) for s in node.specs]:
        return None
    return arrays
