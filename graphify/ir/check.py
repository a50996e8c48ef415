"""The law of the graph, made executable.

    check(graph)      # raises InternalError and prints the lines around the node that breaks it

The law: nodes stand in topological order and appear once; inputs and results are known; specs are
what the op's rule infers; attributes are hashable; sizes that attributes use are bound before;
`effects` is set where an op or a sub-graph has effects; sub-graphs are closed and take and give
what the op that holds them says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from graphify.errors import InternalError
from graphify.ir.function import GraphFunction
from graphify.ir.graph import (
    Graph,
    Node,
    SizeBinding,
    Value,
    attr_sizes,
    bind_sizes,
    freeze,
    has_effects,
    param,
)
from graphify.ir.pretty import Printer, value_names
from graphify.ir.rebuild import infer, reconcile
from graphify.ir.sizes import Dim, Size, SizeVar, decide_equal
from graphify.ir.types import Spec
from graphify.ir.walk import functions_of, nested_graphs

WINDOW = 3  # lines shown before the failing node


class _Broken(Exception):
    """What is wrong with a node."""


def check(graph: Graph) -> None:
    """Verify a graph and all graphs inside it.

    Raises:
        InternalError: the graph breaks the law; the message shows the failing lines.
    """
    for inner in nested_graphs(graph):
        _check_graph(inner)
    for function in functions_of(graph):
        _check_function(function)
        for inner in nested_graphs(function.graph):
            _check_graph(inner)


def _check_function(function: GraphFunction) -> None:
    """What a function declares, which is all that its calls know, is what its graph does."""
    graph = function.graph
    declared = (function.params, function.results)
    for said, found in zip(declared, ([v.spec for v in graph.params], graph.specs), strict=True):
        same = [(a.dtype, a.ndim) == (b.dtype, b.ndim) for a, b in zip(said, found, strict=False)]
        if len(said) != len(found) or not all(same):
            raise InternalError(
                f"function {function.name}: expected {_specs(said)}, got {_specs(found)}"
            )
    if graph.effects and not function.effects:
        raise InternalError(f"function {function.name} has effects, and its calls do not know")


def _check_graph(graph: Graph) -> None:
    known: set[Value] = set()
    bindings: dict[SizeVar, SizeBinding] = {}
    for value in graph.params:
        if value.node.op is not param or value in known:
            raise InternalError(
                f"graph {graph.name}: parameter {value} is not a parameter of its own"
            )
        known.add(value)
        bind_sizes(value, bindings)
    for position, node in enumerate(graph.nodes):
        try:
            _check_node(node, known, bindings)
        except _Broken as broken:
            raise InternalError(_describe(graph, position, str(broken))) from None
        for value in node.outputs:
            known.add(value)
            bind_sizes(value, bindings)
    for position, value in enumerate(graph.results):
        if value not in known:
            text = f"result {position}, {value}, is no value of the graph"
            raise InternalError(_describe(graph, len(graph.nodes), text))


def _describe(graph: Graph, position: int, problem: str) -> str:
    """The problem, and the lines of the graph that lead to it."""
    printer, names = Printer(), value_names(graph)
    lines = [f"graph {graph.name}, node {position}: {problem}"]
    for i in range(max(0, position - WINDOW), min(len(graph.nodes), position + 1)):
        mark = ">>" if i == position else "  "
        lines.append(f"{mark} {printer.head(graph.nodes[i], names)}")
    return "\n".join(lines)


def _check_node(node: Node, known: set[Value], bindings: dict[SizeVar, SizeBinding]) -> None:
    if node.op is param:
        raise _Broken("a parameter stands among the nodes")
    for i, value in enumerate(node.inputs):
        if value not in known:
            raise _Broken(f"input {i} is not known here: {value}")
    if node.specs and Value(node) in known:
        raise _Broken("the node stands in the graph twice")
    _check_attrs(node, bindings)
    effects = has_effects(node.op, node.attrs)
    if node.effects != effects:
        raise _Broken(f"effects: expected {effects}, got {node.effects}")
    _CONTROL.get(node.op.name, _no_control)(node)
    _check_specs(node, bindings)


def _check_attrs(node: Node, bindings: dict[SizeVar, SizeBinding]) -> None:
    for name, value in node.attrs.items():
        try:
            hash(freeze(value))
        except TypeError:
            raise _Broken(f"attribute {name}: {type(value).__name__} is not hashable") from None
    for variable in attr_sizes(node.attrs):
        if variable not in bindings:
            raise _Broken(f"size {variable} is not bound before this node")


def _check_specs(node: Node, bindings: dict[SizeVar, SizeBinding]) -> None:
    try:
        inferred = infer(node.op, [value.spec for value in node.inputs], node.attrs)
    except Exception as error:
        raise _Broken(f"its spec rule fails: {type(error).__name__}: {error}") from error
    if len(inferred) != len(node.specs) or any(
        a.ndim != b.ndim for a, b in zip(inferred, node.specs, strict=True)
    ):
        raise _Broken(f"specs: expected {_specs(inferred)}, got {_specs(node.specs)}")
    inferred, learned = reconcile(node.specs, inferred, bindings)
    if inferred != node.specs or learned:
        raise _Broken(f"specs: expected {_specs(inferred)}, got {_specs(node.specs)}")


def _specs(specs: Sequence[Spec]) -> str:
    return ", ".join(str(spec) for spec in specs) or "none"


# --- control flow: what goes in and out of sub-graphs ------------------------


def _no_control(node: Node) -> None:
    pass


def _check_cond(node: Node) -> None:
    true, false = _graph(node, "true"), _graph(node, "false")
    _scalar("the predicate", node.inputs[0].spec)
    for graph in (true, false):
        _check_params(graph.params, [value.spec for value in node.inputs[1:]])
    if len(true.results) != len(false.results):
        raise _Broken(f"branches give {len(true.results)} and {len(false.results)} results")


def _check_while(node: Node) -> None:
    test, body, carry = _graph(node, "cond"), _graph(node, "body"), node.attrs["carry"]
    for graph in (test, body):
        _check_params(graph.params, [value.spec for value in node.inputs])
    if len(test.results) != 1:
        raise _Broken(f"cond: expected 1 result, got {len(test.results)}")
    _scalar("what cond gives", test.specs[0])
    if len(body.results) != carry:
        raise _Broken(f"body: expected carry={carry} results, got {len(body.results)}")
    _check_carried(body.params[:carry], body.results)


def _check_loop(node: Node) -> None:
    body, carry, xs = _graph(node, "body"), node.attrs["carry"], node.attrs["xs"]
    _check_rows(node, body, carry, xs)
    if len(body.results) < carry:
        raise _Broken(f"body: expected at least carry={carry} results, got {len(body.results)}")
    _check_carried(body.params[1 : 1 + carry], body.results[:carry])


def _check_map(node: Node) -> None:
    _check_rows(node, _graph(node, "body"), 0, node.attrs["xs"])


def _check_call(node: Node) -> None:
    _check_params(_graph(node, "body").params, [value.spec for value in node.inputs])


def _check_recursive(node: Node) -> None:
    function = node.attrs.get("function")
    if not isinstance(function, GraphFunction):
        raise _Broken(f"attribute function: expected a function, got {type(function).__name__}")
    if len(function.params) != len(node.inputs):
        raise _Broken(f"expected {len(function.params)} operands, got {len(node.inputs)}")
    for i, (inside, value) in enumerate(zip(function.params, node.inputs, strict=True)):
        if (inside.dtype, inside.ndim) != (value.spec.dtype, value.spec.ndim):
            raise _Broken(f"operand {i}: expected {inside}, got {value.spec}")


def _check_rows(node: Node, body: Graph, carry: int, xs: int) -> None:
    """Parameters of a body that takes an index, then rows of some operands."""
    specs = [value.spec for value in node.inputs]
    if len(specs) < carry + xs:
        raise _Broken(f"expected at least carry + xs = {carry + xs} operands, got {len(specs)}")
    for i, spec in enumerate(specs[carry : carry + xs]):
        if not spec.ndim:
            raise _Broken(f"operand {carry + i} is a scalar and has no rows")
        if decide_equal(spec.shape[0], node.attrs["length"]) is False:
            raise _Broken(
                f"operand {carry + i} has {spec.shape[0]} rows: expected {node.attrs['length']}"
            )
    rows = [Spec(s.shape[1:], s.dtype, s.weak) for s in specs[carry : carry + xs]]
    if not body.params:
        raise _Broken("body: expected the index as its first parameter")
    _scalar("the index", body.params[0].spec)
    _check_params(body.params[1:], [*specs[:carry], *rows, *specs[carry + xs :]])


_CONTROL: dict[str, Callable[[Node], None]] = {
    "cond": _check_cond,
    "while": _check_while,
    "loop": _check_loop,
    "map": _check_map,
    "call": _check_call,
    "recursive_call": _check_recursive,
}


def _graph(node: Node, name: str) -> Graph:
    graph = node.attrs.get(name)
    if not isinstance(graph, Graph):
        raise _Broken(f"attribute {name}: expected a graph, got {type(graph).__name__}")
    return graph


def _scalar(what: str, spec: Spec) -> None:
    if spec.ndim:
        raise _Broken(f"{what}: expected a scalar, got {spec}")


def _check_params(params: Sequence[Value], operands: Sequence[Spec]) -> None:
    if len(params) != len(operands):
        raise _Broken(f"sub-graph: expected {len(operands)} parameters, got {len(params)}")
    sizes: dict[SizeVar, Dim] = {}
    for i, (value, outside) in enumerate(zip(params, operands, strict=True)):
        inside = value.spec
        if inside.dtype != outside.dtype or inside.ndim != outside.ndim:
            raise _Broken(f"parameter {i} of the sub-graph: expected {outside}, got {inside}")
        for a, b in zip(inside.shape, outside.shape, strict=True):
            variable = a.as_variable() if isinstance(a, Size) else None
            known = sizes.setdefault(variable, b) if variable is not None else a
            if isinstance(known, int) and isinstance(b, int) and known != b:
                raise _Broken(f"parameter {i} of the sub-graph: expected {outside}, got {inside}")


def _check_carried(params: Sequence[Value], results: Sequence[Value]) -> None:
    for i, (before, after) in enumerate(zip(params, results, strict=True)):
        if before.spec.dtype != after.spec.dtype or before.spec.ndim != after.spec.ndim:
            raise _Broken(
                f"carried value {i}: starts as {before.spec}, the body gives {after.spec}"
            )
        for a, b in zip(before.spec.shape, after.spec.shape, strict=True):
            if a != b and (isinstance(a, int) or a.as_variable() is None):
                raise _Broken(
                    f"carried value {i}: axis of size {a} becomes {b}; it needs a size of its own"
                )
