"""Sharing: equal work is done once (common subexpression elimination).

    a = sin(x) + 1
    b = sin(x) + 2      # the same sin(x)

Two nodes are equal if they have the same op, inputs and attributes; the order of operands does not
matter to ops like add. Where equal nodes made sizes of their own (two `nonzero` of one mask), the
second one's sizes become the first one's. Effects are never shared.
"""

from __future__ import annotations

from typing import Any

from graphify.ir.graph import Graph, Node, Value, as_size, freeze
from graphify.ir.match import COMMUTATIVE
from graphify.ir.rebuild import Contradiction, Rebuild
from graphify.ir.sizes import size
from graphify.ir.walk import nested_graphs
from graphify.optimise.report import Report


def cse(graph: Graph, report: Report) -> Graph:
    """The graph with equal pure nodes made one, inside its sub-graphs, too."""
    inner: dict[Graph, Graph] = {}
    for each in nested_graphs(graph):
        done = len(report.events)
        try:
            inner[each] = _share(each, report, inner, sizes=True)
        except Contradiction:  # sizes that are now the same show that an op must fail
            del report.events[done:]
            inner[each] = _share(each, report, inner, sizes=False)
    return inner[graph]


def _share(graph: Graph, report: Report, inner: dict[Graph, Graph], sizes: bool) -> Graph:
    again = Rebuild(graph, inner)
    first: dict[Any, Node] = {}
    for node in graph.nodes:
        now = again.current(node)
        if now.effects or not now.specs:
            again.keep(node, now)
            continue
        known = first.setdefault(_key(now), now)
        if known is now or (known.specs != now.specs and not sizes):
            again.keep(node, now)
            continue
        if now.op is as_size:
            if not sizes:
                again.keep(node, now)
                continue
            again.learn({now.attrs["var"]: _size(known)})
        again.replace(node, known.outputs)
        if node.inputs:
            report.note("shared", node, f"the same as at {_place(known)}")
    return again.finish()


def _size(node: Node) -> Any:
    return size(node.attrs["var"])


def _place(node: Node) -> str:
    return str(node.source) if node.source is not None else "another node"


def _key(node: Node) -> Any:
    """What equal nodes have in common."""
    inputs: tuple[Value, ...] | frozenset[Value] = node.inputs
    if node.op.name in COMMUTATIVE and len(node.inputs) == 2:
        inputs = frozenset(node.inputs)
    attrs = tuple(
        (name, exact(freeze(node.attrs[name])))
        for name in sorted(node.attrs)
        if not (node.op is as_size and name == "var")
    )
    return (node.op, inputs, attrs)


def exact(key: Any) -> Any:
    """A key under which 0.0 and -0.0 are different."""
    if type(key) is tuple:
        return tuple(exact(item) for item in key)
    return (key, str(key)) if isinstance(key, (float, complex)) else key
