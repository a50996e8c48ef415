"""The law of graphs: each broken law is found, and the message shows the line that breaks it."""

import numpy as np
import pytest

from graphify.errors import InternalError
from graphify.ir.check import check
from graphify.ir.graph import Graph, Node, Value, as_size, param
from graphify.ir.op import REGISTRY
from graphify.ir.sizes import SizeVar, size
from graphify.ir.types import Spec
from graphify.ops import elementwise, indexing
from tests.ir.building import branch, build, call, cond, loop, map_, spec_of, while_

f8 = np.dtype("f8")


def changed(graph, position, **fields):
    """The graph with fields of one node changed; nodes after it follow."""
    nodes = list(graph.nodes)
    old = nodes[position]
    values = {name: getattr(old, name) for name in Node.__slots__} | fields
    new = nodes[position] = Node(**values)
    swap = {Value(old, i): Value(new, i) for i in range(len(old.specs))}
    for k in range(position + 1, len(nodes)):
        inputs = tuple(swap.get(v, v) for v in nodes[k].inputs)
        if inputs != nodes[k].inputs:
            node = nodes[k]
            nodes[k] = Node(node.op, inputs, node.attrs, node.specs, node.source, node.effects)
            swap |= {Value(node, i): Value(nodes[k], i) for i in range(len(node.specs))}
    return graph.replace(nodes=tuple(nodes), results=tuple(swap.get(v, v) for v in graph.results))


def with_attrs(graph, position, **attrs):
    return changed(graph, position, attrs={**graph.nodes[position].attrs, **attrs})


@pytest.fixture
def chain():
    return build(lambda x: elementwise.cos(elementwise.sin(x)) + x, x="f64[n]")


def refuse(graph, message):
    with pytest.raises(InternalError, match=message) as caught:
        check(graph)
    return str(caught.value)


def test_good_graphs_pass(chain):
    check(chain)


def test_the_message_shows_the_failing_line(chain):
    text = refuse(changed(chain, 1, specs=(Spec((3,), f8),)), r"node 1: specs: expected f64\[n\]")
    assert "   %0: f64[n] = sin(x)" in text
    assert ">> %1: f64[3] = cos(%0)" in text
    assert "add" not in text


def test_topological_order(chain):
    refuse(chain.replace(nodes=chain.nodes[::-1]), "input 0 is not known here")


def test_inputs_from_another_graph(chain):
    other = build(lambda x: x, x="f64[n]")
    refuse(changed(chain, 0, inputs=other.params), "input 0 is not known")


def test_results_from_another_graph(chain):
    other = build(lambda x: x, x="f64[n]")
    refuse(chain.replace(results=other.params), "result 0, .*, is no value of the graph")


def test_a_node_twice(chain):
    refuse(chain.replace(nodes=(*chain.nodes, chain.nodes[0])), "stands in the graph twice")


def test_parameters_are_parameters(chain):
    refuse(chain.replace(params=(Value(chain.nodes[0]),)), "is not a parameter")
    spec = Spec((), f8)
    stray = Node(param, (), {"spec": spec, "name": None}, (spec,))
    refuse(chain.replace(nodes=(stray, *chain.nodes)), "a parameter stands among the nodes")


def test_weakness_and_dtype_are_part_of_the_spec(chain):
    refuse(changed(chain, 0, specs=(Spec(chain.specs[0].shape, f8, True),)), "specs: expected")
    refuse(
        changed(chain, 0, specs=(Spec(chain.specs[0].shape, np.dtype("f4")),)), "specs: expected"
    )


def test_sizes_made_by_a_node_may_have_any_name_but_a_known_one():
    graph = build(lambda x: indexing.nonzero(x)[0], x="i64[n]")
    check(changed(graph, 0, specs=(Spec((size(SizeVar("other")),), np.dtype("i8")),)))
    n = graph.params[0].spec.shape
    refuse(changed(graph, 0, specs=(Spec(n, np.dtype("i8")),)), "specs: expected")


def test_sizes_are_bound_before_they_are_used():
    graph = build(lambda x, k: x[:k], x="f64[n]", k="i64[]")
    check(graph)
    (binder,) = [i for i, node in enumerate(graph.nodes) if node.op is as_size]
    nodes = graph.nodes[:binder] + graph.nodes[binder + 1 :]
    refuse(graph.replace(nodes=nodes), "size k is not bound before this node")


def test_attributes_are_hashable():
    graph = build(lambda x: x.T if hasattr(x, "T") else x[::-1], x="f64[2,3]")
    position = len(graph.nodes) - 1
    refuse(with_attrs(graph, position, axes=[1, 0]), "attribute axes: list is not hashable")


def test_spec_rules_that_refuse():
    graph = build(lambda x, y: x + y, x="f64[3]", y="f64[3]")
    four = build(lambda y: y, y="f64[4]").params[0]
    broken = changed(
        graph.replace(params=(graph.params[0], four)), 0, inputs=(graph.params[0], four)
    )
    refuse(broken, "its spec rule fails: ShapeError")


def test_effects(chain):
    refuse(changed(chain, 0, effects=True), "effects: expected False, got True")


# --- control flow ---------------------------------------------------------------------------------


@pytest.fixture
def branches():
    def function(c, x):
        return cond(c, lambda x: [x * 2.0], lambda x: [-x], x)

    return build(function, c="bool[]", x="f64[n]")


def test_branches_take_the_operands(branches):
    check(branches)
    two = build(lambda a, b: a, a="f64[n]", b="f64[n]")
    refuse(with_attrs(branches, 0, true=two), "expected 1 parameters, got 2")
    scalar = build(lambda a: a, a="f64[]")
    refuse(with_attrs(branches, 0, true=scalar), "parameter 0 of the sub-graph: expected")
    refuse(with_attrs(branches, 0, true=None), "attribute true: expected a graph, got NoneType")


def test_branches_give_as_many_results(branches):
    two = build(lambda a: [a, a], a="f64[n]")
    refuse(with_attrs(branches, 0, true=two), "branches give 2 and 1 results")


def test_predicates_are_scalars(branches):
    vector = build(lambda c: c, c="bool[2]").params[0]
    graph = branches.replace(params=(vector, branches.params[1]))
    refuse(
        changed(graph, 0, inputs=(vector, branches.params[1])), "the predicate: expected a scalar"
    )


def test_sub_graphs_are_closed(branches):
    x = branches.params[1]
    opened = Graph(branches.nodes[0].attrs["true"].params, (), (x,), "true")
    refuse(with_attrs(branches, 0, true=opened), "is no value of the graph")


def test_broken_nodes_inside_are_found(branches):
    inner = branches.nodes[0].attrs["true"]
    broken = changed(inner, len(inner.nodes) - 1, specs=(Spec((), f8),))
    refuse(with_attrs(branches, 0, true=broken), "graph body, node")


@pytest.fixture
def turns():
    def function(x, y):
        return while_(lambda i, *_: i < 3, lambda i, a, y: [i + 1, a + y], [0, x], y)

    return build(function, x="f64[n]", y="f64[n]")


def test_loops_give_what_they_carry(turns):
    check(turns)
    body = turns.nodes[-1].attrs["body"]
    last = len(turns.nodes) - 1
    refuse(with_attrs(turns, last, body=body.replace(results=body.results[:1])), "expected carry=2")
    swapped = body.replace(results=body.results[::-1])
    refuse(with_attrs(turns, last, body=swapped), "carried value 0: starts as i64")
    test = turns.nodes[-1].attrs["cond"]
    refuse(with_attrs(turns, last, cond=test.replace(results=())), "cond: expected 1 result, got 0")
    refuse(
        with_attrs(turns, last, cond=test.replace(results=(test.params[1],))),
        "what cond gives: expected a scalar",
    )


def test_axes_that_change_need_a_size_of_their_own():
    grown = build(lambda i, a: [i + 1, a[1:]], i="i64[]~", a="f64[5]")
    test = branch(lambda i, a: i < 3, *map(value_of, ("i64[]~", "f64[5]")), name="cond")
    graph = build(lambda x: while_(lambda i, a: i < 3, lambda i, a: [i + 1, a], [0, x]), x="f64[5]")
    check(graph)
    broken = with_attrs(graph, len(graph.nodes) - 1, body=grown, cond=test)
    refuse(broken, "axis of size 5 becomes 4; it needs a size of its own")


def value_of(text):
    """An eager tensor of this spec."""
    from graphify.ir.tensor import Tensor

    spec = spec_of(text, {})
    return Tensor(np.zeros(spec.shape, spec.dtype), weak=spec.weak)


def test_counted_loops():
    def function(x):
        return loop(x.dims[0], lambda i, a, row: [a + row, row], [0.0], [x])

    graph = build(function, x="f64[n]")
    check(graph)
    node = graph.nodes[-1]
    last = len(graph.nodes) - 1
    refuse(with_attrs(graph, last, length=node.attrs["length"] + 1), "has n rows: expected n")
    refuse(with_attrs(graph, last, carry=2, xs=0), "sub-graph|carry")
    body = node.attrs["body"]
    refuse(with_attrs(graph, last, body=body.replace(params=())), "expected the index|not known")
    refuse(with_attrs(graph, last, body=body.replace(results=())), "expected at least carry=1")


def test_maps_and_calls():
    def function(x):
        (y,) = map_(x.dims[0], lambda i, row: [row * row], [x])
        return call(lambda y: [y + 1.0], y)

    graph = build(function, x="f64[n]")
    check(graph)
    scalar = build(lambda a: a, a="f64[]")
    (position,) = [i for i, node in enumerate(graph.nodes) if node.op is REGISTRY["call"]]
    refuse(with_attrs(graph, position, body=scalar), "parameter 0 of the sub-graph")
    refuse(with_attrs(graph, position - 1, xs=2), "xs = 2 operands, got 1")
