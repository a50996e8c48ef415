"""Pruning: what goes, what stays, inside control flow as well."""

import io
import sys

import numpy as np

from graphify.ir.interpret import run
from graphify.ir.pretty import to_text
from graphify.ops import control, core, effects, elementwise, keys
from graphify.ops.effects import Text
from graphify.optimise.prune import prune
from graphify.optimise.report import Report
from tests.ir.building import build, call, cond, loop, map_, while_
from tests.optimise.passes import names, only, pruned

sin, cos, exp = elementwise.sin, elementwise.cos, elementwise.exp


X = np.linspace(-1, 1, 4)


def test_dead_nodes_go():
    def function(x):
        sin(cos(x))
        return exp(x)

    assert names(pruned(build(function, x="f64[n]"), X)) == ["exp"]


def test_a_graph_without_dead_nodes_is_the_same_object():
    graph = build(lambda x: exp(x), x="f64[n]")
    assert prune(graph, Report()) is graph


def test_parameters_stay():
    graph = pruned(build(lambda x, y: x, x="f64[n]", y="f64[n]"), X, X)
    assert len(graph.params) == 2


def test_effects_stay_in_order(monkeypatch):
    def function(x):
        for word in ("one", "two"):
            effects.print_(sin(x), text=Text((word, None)), end="\n", stream="stdout")
        return x

    graph = pruned(build(function, x="f64[]"))
    assert names(graph) == ["sin", "print", "print"]
    out = io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    run(graph, [np.asarray(0.0)])
    assert out.getvalue() == "one 0.0\ntwo 0.0\n"


def test_what_binds_a_size_in_use_stays():
    def function(x, k):
        mask = x > 0
        picked = keys.getitem(x, mask)
        return core.broadcast_to(x[0], shape=picked.dims)

    graph = pruned(build(function, x="f64[n]", k="i64[]"), X, np.asarray(1))
    assert "nonzero" in names(graph)
    assert "gather" not in names(graph)


def test_a_bound_size_nobody_uses_goes():
    graph = pruned(build(lambda x, k: (x[:k], x)[1], x="f64[n]", k="i64[]"), X, np.asarray(1))
    assert names(graph) == []


# --- cond ---------------------------------------------------------------------------------------


def test_unused_results_and_operands_of_branches_go():
    def function(c, x, y):
        out = cond(c, lambda a, b: [sin(a), exp(b)], lambda a, b: [cos(a), b], x, sin(y))
        return out[0]

    graph = pruned(build(function, c="bool[]", x="f64[n]", y="f64[n]"), np.asarray(True), X, X)
    assert names(graph) == ["cond"]
    node = only(graph, "cond")
    assert len(node.inputs) == 2
    assert len(node.specs) == 1
    assert names(node.attrs["true"]) == ["sin"]


def test_an_operand_that_one_branch_uses_stays():
    def function(c, x, y):
        return cond(c, lambda a, b: [a], lambda a, b: [b], x, y)

    node = only(build_pruned(function, c="bool[]", x="f64[n]", y="f64[n]"), "cond")
    assert len(node.inputs) == 3


def build_pruned(function, **params):
    return pruned(build(function, **params))


def test_what_both_branches_give_back_is_the_operand():
    def function(c, x, y):
        return cond(c, lambda a, b: [a, sin(b)], lambda a, b: [a, cos(b)], x, y)

    graph = pruned(build(function, c="bool[]", x="f64[n]", y="f64[n]"), np.asarray(False), X, X)
    assert graph.results[0] == graph.params[1]
    assert len(only(graph, "cond").inputs) == 2


def test_a_conditional_effect_stays():
    def shout(x):
        effects.print_(x, text=Text((None,)), end="\n", stream="stdout")
        return [x]

    def function(c, x):
        cond(c, shout, lambda x: [x], x)
        return x

    graph = build_pruned(function, c="bool[]", x="f64[]")
    node = only(graph, "cond")
    assert node.effects
    assert node.specs == ()


def test_sizes_of_results_stay_known():
    """The operand is used only for its size: without it the result's size would be unknown."""

    def function(c, x, y):
        (out,) = cond(
            c,
            lambda a, b: [core.broadcast_to(b, shape=a.dims)],
            lambda a, b: [core.broadcast_to(-b, shape=a.dims)],
            x,
            y,
        )
        return out

    graph = pruned(build(function, c="bool[]", x="f64[n]", y="f64[]"), np.asarray(True), X, X[0])
    assert graph.specs[0].shape == graph.params[1].spec.shape


def test_an_operand_is_not_kept_for_a_size_that_another_one_has():
    def function(c, x, y):
        (out,) = cond(
            c,
            lambda a, b: [b + core.broadcast_to(1.0, shape=a.dims)],
            lambda a, b: [b],
            x,
            y,
        )
        return out

    graph = pruned(build(function, c="bool[]", x="f64[n]", y="f64[n]"), np.asarray(True), X, X)
    assert only(graph, "cond").inputs[1:] == (graph.params[2],)


# --- loops --------------------------------------------------------------------------------------


def test_what_a_loop_carries_for_nothing_goes():
    def turn(i, used, unused, helper, k):
        return [i + 1, used + helper, exp(unused), cos(helper)]

    def function(x, k):
        start = [0, x, sin(x), x * 2.0]
        return while_(lambda i, *_: i < 3, turn, start, k)[1]

    graph = pruned(build(function, x="f64[n]", k="f64[]"), X, X[0])
    node = only(graph, "while")
    assert node.attrs["carry"] == 3, to_text(graph)
    assert names(node.attrs["body"]) == ["add", "add", "cos"]
    assert "sin" not in names(graph)


def test_what_the_test_depends_on_stays():
    def function(x):
        return while_(lambda a, b: b < 3.0, lambda a, b: [a + 1.0, b + 1.0], [x, x])[0]

    node = only(build_pruned(function, x="f64[]"), "while")
    assert node.attrs["carry"] == 2


def test_what_a_loop_never_changes_becomes_an_operand():
    def function(x, k):
        out = while_(lambda i, *_: i < 3, lambda i, a, k: [i + 1, a * k, k], [0, x, k])
        return out[1], out[2]

    graph = pruned(build(function, x="f64[n]", k="f64[]"), X, X[0])
    assert only(graph, "while").attrs["carry"] == 2
    assert graph.results[1] == graph.params[1]


def test_an_effect_in_a_loop_keeps_what_it_prints():
    def turn(i, a):
        effects.print_(a, text=Text((None,)), end="\n", stream="stdout")
        return [i + 1, a * 2.0]

    def function(x):
        while_(lambda i, a: i < 2, turn, [0, x])
        return x

    node = only(build_pruned(function, x="f64[]"), "while")
    assert node.attrs["carry"] == 2
    assert node.effects


def test_counted_loops_drop_rows_and_stacks():
    def turn(i, a, b, row, other, k):
        return [a + row, b + other, sin(row), exp(b)]

    def function(x, y, k):
        out = loop(3, turn, [0.0, 1.0], [x, y], k)
        return out[0], out[2]

    inputs = [np.ones(3), np.ones(3), np.asarray(1.0)]
    graph = pruned(build(function, x="f64[3]", y="f64[3]", k="f64[]"), *inputs)
    node = only(graph, "loop")
    assert (node.attrs["carry"], node.attrs["xs"], len(node.inputs)) == (1, 1, 2), to_text(graph)
    assert len(node.specs) == 2


def test_maps_drop_what_is_not_used():
    def function(x, y, k):
        return map_(x.dims[0], lambda i, a, b, k: [sin(a), exp(b) * k], [x, y], k)[0]

    graph = pruned(build(function, x="f64[n]", y="f64[n]", k="f64[]"), X, X, X[0])
    node = only(graph, "map")
    assert (node.attrs["xs"], len(node.inputs)) == (1, 1)


def test_calls_drop_what_is_not_used():
    def function(x, y):
        return call(lambda a, b: [sin(a), exp(b)], x, cos(y))[0]

    graph = pruned(build(function, x="f64[n]", y="f64[n]"), X, X)
    assert names(graph) == ["call"]


def test_nested_control_flow_is_pruned_from_the_inside_out():
    def turn(i, a, b):
        (c, _) = cond(a > 0.0, lambda a, b: [a - 1.0, sin(b)], lambda a, b: [a, exp(b)], a, b)
        return [i + 1, c, b * 2.0]

    def function(x, y):
        return while_(lambda i, *_: i < 3, turn, [0, x, y])[1]

    inputs = [np.asarray(X[0]), np.asarray(X[1])]
    # The first time finds the inner operand unused, the second what was carried for it.
    graph = pruned(pruned(build(function, x="f64[]", y="f64[]"), *inputs), *inputs)
    node = only(graph, "while")
    assert node.attrs["carry"] == 2, to_text(graph)
    assert len(only(node.attrs["body"], "cond").inputs) == 2


def test_the_report_says_what_went():
    report = Report()
    graph = build(lambda x: (sin(x), exp(x))[1], x="f64[n]")
    prune(graph, report)
    assert report.count("pruned") == 1
    assert "sin: nothing uses it" in str(report)


def test_deep_nesting_needs_no_recursion():
    graph = build(lambda x: x + 1.0, x="f64[]")
    for _ in range(1500):
        graph = build(lambda x, g=graph: [*control.call(x, body=g), sin(x)], x="f64[]")
        graph = graph.replace(results=graph.results[:1])
    assert names(pruned(graph)) == ["call"]
