"""Control flow that is none: known branches, loops of no turns or one, small calls.

    cond(True, x)         ->  the nodes of the true branch
    while(0 < 0, ...)     ->  what it would carry
    loop(length=1, ...)   ->  the nodes of its body, with i = 0
    call(x, body=small)   ->  its nodes

and constants that are handed to a sub-graph stand inside it, where they can be folded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphify.ir.graph import Graph, Node, Value, constant
from graphify.ir.interpret import run
from graphify.ir.rebuild import Contradiction, Frame, Rebuild, inline
from graphify.ir.walk import Needed, nested_graphs
from graphify.ops.core import cast, reshape
from graphify.ops.indexing import slice_
from graphify.optimise.report import Report

SMALL_CALL = 40  # nodes of a body that is copied to where it is called
SMALL_TEST = 64  # nodes of a loop's test that is tried on constants
SMALL_CONSTANT = 64  # elements of a constant that is copied into a sub-graph


def control(graph: Graph, report: Report) -> Graph:
    """The graph with control flow resolved where it is known, inside its sub-graphs, too."""
    inner: dict[Graph, Graph] = {}
    for each in nested_graphs(graph):
        done = len(report.events)
        try:
            inner[each] = _resolve(each, report, inner, _RESOLVE)
        except Contradiction:
            # Inlined nodes know their sizes, and one of them must fail with these. It shall fail
            # when it runs, not here: what makes sizes known is left as it is.
            del report.events[done:]
            inner[each] = _resolve(each, report, inner, {})
    return inner[graph]


Resolve = Callable[[Frame, Node], "tuple[list[Value], str] | None"]


def _resolve(
    graph: Graph, report: Report, inner: dict[Graph, Graph], table: dict[str, Resolve]
) -> Graph:
    again = Rebuild(graph, inner)
    for node in graph.nodes:
        now = again.current(node)
        again.frame.source = node.source
        resolved = table[now.op.name](again.frame, now) if now.op.name in table else None
        if resolved is None:
            again.keep(node, _with_constants(now, report))
            continue
        values, why = resolved
        pairs = zip(values, now.specs, strict=True)
        again.replace(node, [_strong(again.frame, value, spec.weak) for value, spec in pairs])
        again.drop(node)
        report.note("inlined", node, why)
    return again.finish()


def _strong(frame: Frame, value: Value, weak: bool) -> Value:
    """A branch's Python number as an array, where the other branch gives an array."""
    if value.spec.weak == weak:
        return value
    attrs: dict[str, Any] = {"dtype": value.spec.dtype}
    return frame.add(cast, (value,), {**attrs, "weak": True} if weak else attrs)[0]


# --- what is known about each op of control flow -------------------------------------------


def _cond(frame: Frame, node: Node) -> tuple[list[Value], str] | None:
    pred = _known(node.inputs[0])
    if pred is None:
        return None
    name = "true" if pred else "false"
    values = inline(frame, node.attrs[name], node.inputs[1:])
    return None if values is None else (values, f"the predicate is always {bool(pred)}")


def _while(frame: Frame, node: Node) -> tuple[list[Value], str] | None:
    test, carry = node.attrs["cond"], node.attrs["carry"]
    if node.effects or not _never(test, node.inputs):
        return None
    return list(node.inputs[:carry]), "the loop makes no turn"


def _never(test: Graph, operands: Sequence[Value]) -> bool:
    """Whether a loop's test is known to be false at first."""
    if len(test.nodes) > SMALL_TEST or any(list(node.subgraphs) for node in test.nodes):
        return False
    reached = Needed(test, test.results)
    args: list[Any] = []
    for value, operand in zip(test.params, operands, strict=True):
        known = _known(operand)
        if value in reached and known is None:
            return False
        args.append(np.asarray(0) if known is None else known)
    try:
        return not run(test, args)[0]
    except Exception:  # noqa: BLE001  # it is raised again when the loop runs
        return False


def _loop(frame: Frame, node: Node) -> tuple[list[Value], str] | None:
    length, body = node.attrs["length"], node.attrs["body"]
    carry, xs = node.attrs.get("carry", 0), node.attrs["xs"]
    if length == 0 and len(node.specs) == carry:
        return list(node.inputs[:carry]), "the loop makes no turn"
    if length != 1:
        return None
    index = frame.constant(np.asarray(0, body.params[0].spec.dtype), body.params[0].spec.weak)
    rows = [frame.add(slice_, (x,), {"key": (0,)})[0] for x in node.inputs[carry : carry + xs]]
    operands = [index, *node.inputs[:carry], *rows, *node.inputs[carry + xs :]]
    values = inline(frame, body, operands)
    if values is None:
        return None
    stacked = [
        frame.add(reshape, (value,), {"shape": (1, *value.spec.shape)})[0]
        for value in values[carry:]
    ]
    return [*values[:carry], *stacked], "the loop makes one turn"


def _call(frame: Frame, node: Node) -> tuple[list[Value], str] | None:
    body = node.attrs["body"]
    if len(body.nodes) > SMALL_CALL:
        return None
    values = inline(frame, body, node.inputs)
    return None if values is None else (values, "a small function")


_RESOLVE: dict[str, Resolve] = {
    "cond": _cond,
    "while": _while,
    "loop": _loop,
    "map": _loop,
    "call": _call,
}


def _known(value: Value) -> Any:
    """The array of a constant, else None."""
    return value.node.attrs["value"].array if value.node.op is constant else None


# --- constants into sub-graphs --------------------------------------------------------------


def _with_constants(node: Node, report: Report) -> Node:
    """The node with small constant operands standing inside its sub-graphs instead.

    The parameters stay, unused; pruning takes them out.
    """
    start = _FIXED.get(node.op.name)
    if start is None:
        return node
    first, before = start(node)
    fixed = {
        k: value
        for k, value in enumerate(node.inputs)
        if k >= first
        and value.node.op is constant
        and value.node.attrs["value"].array.size <= SMALL_CONSTANT
    }
    if not fixed:
        return node
    attrs = dict(node.attrs)
    changed = False
    for name, graph in node.subgraphs:
        inside = {graph.params[k + before]: value for k, value in fixed.items()}
        attrs[name] = _substituted(graph, inside)
        changed = changed or attrs[name] is not graph
    if not changed:
        return node
    return Node(node.op, node.inputs, attrs, node.specs, node.source, node.effects)


# The first operand that is the same in every turn, and how much later its parameter stands.
_FIXED: dict[str, Callable[[Node], tuple[int, int]]] = {
    "cond": lambda node: (1, -1),
    "while": lambda node: (node.attrs["carry"], 0),
    "loop": lambda node: (node.attrs["carry"] + node.attrs["xs"], 1),
    "map": lambda node: (node.attrs["xs"], 1),
    "call": lambda node: (0, 0),
}


def _substituted(graph: Graph, constants: dict[Value, Value]) -> Graph:
    """The graph with constants used instead of parameters."""
    used = {value for node in graph.nodes for value in node.inputs} | set(graph.results)
    inside = {p: v for p, v in constants.items() if p in used and p.spec == v.spec}
    if not inside:
        return graph
    again = Rebuild(graph)
    for param, value in inside.items():
        again.frame.source = value.node.source
        (copied,) = again.frame.add(constant, (), value.node.attrs)
        again.substitute(param, copied)
    for node in graph.nodes:
        again.keep(node)
    return again.finish()
