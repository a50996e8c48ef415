"""Hoisting: what is the same in every turn of a loop is computed once, before it.

    while i < n:                 t = exp(k)
        s = s + exp(k)    ->     while i < n:
        i = i + 1                    s = s + t

Only ops that cannot fail leave the loop: it may make no turn at all, and then they would not have
run. Cheap ops (views, casts, sizes) leave it only in company of something that depends on them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from graphify.ir.graph import Graph, Node, Value, attr_sizes, param
from graphify.ir.rebuild import Frame, Rebuild, graft
from graphify.ir.safety import cannot_fail
from graphify.ir.sizes import Dim, Size, SizeVar, dim_variables
from graphify.ir.walk import nested_graphs
from graphify.optimise.report import Report

CHEAP = {"constant", "as_size", "size_value", "cast", "reshape", "transpose", "slice", "flip"}
CHEAP |= {"broadcast_to", "iota", "diagonal"}


def hoist(graph: Graph, report: Report) -> Graph:
    """The graph with invariant work moved out of its loops, the innermost first."""
    inner: dict[Graph, Graph] = {}
    for each in nested_graphs(graph):
        inner[each] = _hoist(each, report, inner)
    return inner[graph]


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the operands of a loop stand: turn-dependent ones first, then the constant ones."""

    index: int  # parameters before those of the operands: 1 where the body gets the turn's number
    carry: int
    xs: int

    @property
    def constants(self) -> int:
        """Where the parameters begin that no turn changes."""
        return self.index + self.carry + self.xs


_LAYOUTS = {
    "while": lambda node: Layout(0, node.attrs["carry"], 0),
    "loop": lambda node: Layout(1, node.attrs["carry"], node.attrs["xs"]),
    "map": lambda node: Layout(1, 0, node.attrs["xs"]),
}


def _hoist(graph: Graph, report: Report, inner: dict[Graph, Graph]) -> Graph:
    again = Rebuild(graph, inner)
    for node in graph.nodes:
        now = again.current(node)
        if now.op.name in _LAYOUTS:
            now = _lighten(again.frame, now, _LAYOUTS[now.op.name](now), report)
        again.keep(node, now)
    return again.finish()


def _lighten(frame: Frame, node: Node, layout: Layout, report: Report) -> Node:
    """The loop without invariant work, which is added to the frame."""
    inputs, attrs = list(node.inputs), dict(node.attrs)
    for name in [name for name, _ in node.subgraphs]:
        graph = attrs[name]
        sizes = _outer_sizes(graph, node, layout)
        sizes = {variable: dim for variable, dim in sizes.items() if frame.can_compute(dim)}
        moved = _worth_moving(graph, layout.constants, sizes)
        if not moved:
            continue
        outside = dict(zip(graph.params[layout.index :], node.inputs, strict=False))
        for each in _with_ancestors(graph, moved):
            outside.update(zip(each.outputs, graft(frame, each, outside, sizes), strict=True))
            if each in moved:
                report.note("hoisted", each, f"the same in every turn of {node.op.name}")
        values = [value for each in moved for value in each.outputs]
        params = [Value(Node(param, (), _param(v), (v.spec,), v.node.source)) for v in values]
        attrs[name] = _with_params(graph, values, params)
        for other, rest in node.subgraphs:
            if other != name:  # all sub-graphs of a loop take the same operands
                attrs[other] = _with_params(rest, [], _copies(params))
        inputs += [outside[value] for value in values]
        node = Node(node.op, tuple(inputs), attrs, node.specs, node.source, node.effects)
    return node


def _param(value: Value) -> dict[str, object]:
    return {"spec": value.spec, "name": None}


def _copies(params: list[Value]) -> list[Value]:
    return [Value(Node(param, (), p.node.attrs, p.node.specs, p.node.source)) for p in params]


def _with_params(graph: Graph, values: list[Value], params: list[Value]) -> Graph:
    """The graph with more parameters, used instead of some of its values."""
    replaced = dict(zip(values, params, strict=False))
    again = Rebuild(graph.replace(params=(*graph.params, *params)))
    for node in graph.nodes:
        if node.outputs and all(value in replaced for value in node.outputs):
            again.replace(node, [replaced[value] for value in node.outputs])
        else:
            again.keep(node)
    return again.finish()


# --- what may leave ---------------------------------------------------------------------------


def _worth_moving(graph: Graph, start: int, sizes: Mapping[SizeVar, Dim]) -> list[Node]:
    """Invariant nodes that do real work and are used by what stays, in order."""
    invariant = _invariant(graph, start, sizes)
    used: set[Value] = set(graph.results)
    moved: list[Node] = []
    for each in reversed(graph.nodes):
        if each not in invariant:
            used.update(each.inputs)
        elif used.intersection(each.outputs):
            if each.op.name in CHEAP:
                used.update(each.inputs)  # it stays, and what it depends on may be worth moving
            else:
                moved.append(each)
    return moved[::-1]


def _invariant(graph: Graph, start: int, sizes: Mapping[SizeVar, Dim]) -> set[Node]:
    """Nodes that depend only on the operands from `start` on, which no turn changes, on such
    sizes and on constants, and cannot fail."""
    known: set[Value] = set(graph.params[start:])
    found: set[Node] = set()
    for each in graph.nodes:
        if each.effects or any(isinstance(a, Graph) for a in each.attrs.values()):
            continue
        if not all(value in known for value in each.inputs) or not cannot_fail(each):
            continue
        shapes = (v for spec in each.specs for d in spec.shape for v in dim_variables(d))
        if all(v in sizes for v in shapes) and all(v in sizes for v in attr_sizes(each.attrs)):
            found.add(each)
            known.update(each.outputs)
    return found


def _outer_sizes(graph: Graph, node: Node, layout: Layout) -> dict[SizeVar, Dim]:
    """What size variables of a loop's sub-graph are outside: those that no turn changes."""
    sizes: dict[SizeVar, Dim] = {}
    changing: set[SizeVar] = set()
    body = node.attrs["body"]
    for k, (value, operand) in enumerate(
        zip(graph.params[layout.index :], node.inputs, strict=False)
    ):
        rows = layout.carry <= k < layout.carry + layout.xs
        outer = operand.spec.shape[1:] if rows else operand.spec.shape
        for axis, (inside, outside) in enumerate(zip(value.spec.shape, outer, strict=True)):
            variable = inside.as_variable() if isinstance(inside, Size) else None
            if variable is None:
                continue
            sizes.setdefault(variable, outside)
            if k < layout.carry:
                before = body.params[layout.index + k].spec.shape[axis]
                if before != body.results[k].spec.shape[axis]:
                    changing.add(variable)
    return {variable: dim for variable, dim in sizes.items() if variable not in changing}


def _with_ancestors(graph: Graph, nodes: list[Node]) -> list[Node]:
    """The nodes and all they depend on, parameters left out, in the graph's order."""
    found: set[Node] = set()
    stack = list(nodes)
    while stack:
        each = stack.pop()
        if each not in found:
            found.add(each)
            stack.extend(value.node for value in each.inputs)
    return [each for each in graph.nodes if each in found or each in nodes]
