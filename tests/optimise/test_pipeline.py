"""The driver: order, switches, checking, printing, the report, and time that grows with size."""

import time

import numpy as np
import pytest

from graphify.config import config
from graphify.errors import PassError
from graphify.ir.interpret import run
from graphify.ops import control, elementwise
from graphify.optimise import pipeline
from graphify.optimise.pipeline import PASSES, optimise, selected
from tests.bench.compile_time import straight_line
from tests.ir.building import build, cond, symbolic, while_


def names(graph):
    return [node.op.name for node in graph.nodes if node.op.name != "constant"]


def example():
    def function(x):
        dead = elementwise.cos(x)  # noqa: F841
        y = elementwise.negative(-x) * 1.0
        return y + elementwise.sin(x) * symbolic(np.asarray(2.0))

    return build(function, x="f64[n]")


def test_the_result_is_a_graph_and_a_report():
    optimised = optimise(example())
    assert names(optimised.graph) == ["sin", "multiply", "add"]
    graph, report = optimised
    assert report.before == (9, 1)
    assert report.after == (4, 1)
    assert report.rounds == 2
    assert report.passes[: len(PASSES)] == [name for name, _ in PASSES]


def test_optimising_twice_changes_nothing():
    graph = optimise(example()).graph
    assert optimise(graph).graph is graph


def test_the_report_is_readable(golden):
    report = optimise(example()).report
    first, *rest = str(report).splitlines()
    assert first.startswith("nodes: 9 -> 4, graphs: 1 -> 1, 2 rounds, ")
    assert first.endswith(" ms")
    golden("graphs/report.txt", "\n".join(rest))


def test_passes_can_be_left_out():
    with config(passes="-algebra,-fuse"):
        assert "negative" in names(optimise(example()).graph)
    with config(passes="prune"):
        report = optimise(example()).report
    assert set(report.passes) == {"prune"}
    with config(passes=",".join(f"-{name}" for name, _ in PASSES)):
        graph = example()
        assert optimise(graph).graph is graph


def test_unknown_passes_are_refused():
    with pytest.raises(ValueError, match="expected names of .*'fold'.*, got '-flod'"):
        selected("-flod")


def test_debug_prints_the_graph_after_each_pass(capsys):
    with config(debug=3):
        optimise(example())
    text = capsys.readouterr().err
    assert "--- after prune ---\ngraph graph(x: f64[n]) {" in text
    assert "--- after algebra ---" in text


def test_a_failing_pass_is_named_with_those_before_it(monkeypatch):
    def broken(graph, report):
        raise KeyError("oops")

    monkeypatch.setattr(pipeline, "PASSES", [PASSES[0], ("broken", broken)])
    with pytest.raises(PassError, match="pass broken, after prune: KeyError: 'oops'") as caught:
        optimise(example())
    assert isinstance(caught.value.__cause__, KeyError)


def test_a_pass_that_breaks_the_law_is_caught_when_checking(monkeypatch):
    def broken(graph, report):
        return graph.replace(nodes=graph.nodes[::-1])

    monkeypatch.setattr(pipeline, "PASSES", [PASSES[0], ("broken", broken)])
    with config(check=True), pytest.raises(PassError, match="pass broken.*is not known here"):
        optimise(example())


def test_rounds_let_passes_help_each_other():
    """The branch is known only after its predicate folds, its loop only after it is inlined."""

    def inner(x):
        return [while_(lambda i, *_: i < 0, lambda i, a: [i + 1, a], [0, x])[1]]

    def function(x):
        return cond(symbolic(np.asarray(2.0)) > 1.0, inner, lambda x: [-x], x)

    assert names(optimise(build(function, x="f64[n]")).graph) == []


def test_deep_chains_need_no_recursion():
    def function(x):
        for _ in range(20_000):
            x = elementwise.sin(x)
        return x

    graph = build(function, x="f64[]")
    optimised = optimise(graph).graph
    assert len(optimised.nodes) == 20_000
    run(optimised, [np.asarray(1.0)])


def test_deep_nesting_needs_no_recursion():
    graph = build(lambda x: elementwise.sin(x), x="f64[]")
    for _ in range(1200):
        graph = build(
            lambda c, x, g=graph: (
                control.cond(c, c, x, true=g, false=g)
                if len(g.params) == 2
                else cond(c, lambda c, x: [x], lambda c, x: [-x], c, x)
            ),
            c="bool[]",
            x="f64[]",
        )
    optimised = optimise(graph).graph
    assert len(optimised.nodes) >= 1


def test_time_grows_with_size_and_no_faster():
    def seconds(nodes):
        graph = straight_line(nodes)
        start = time.perf_counter()
        optimise(graph)
        return time.perf_counter() - start

    seconds(500)
    small = min(seconds(1_000) for _ in range(3))
    large = min(seconds(10_000) for _ in range(2))
    assert large < 25 * small  # 10 times the nodes; 100 times the time would be quadratic
