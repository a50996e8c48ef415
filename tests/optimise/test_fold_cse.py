"""Folding of constants, and sharing of equal work."""

import numpy as np
import pytest

from graphify.ir.check import check
from graphify.ir.interpret import run
from graphify.ops import core, effects, elementwise, keys, linalg, reduction, shape
from graphify.ops.effects import Text
from graphify.optimise.cse import cse
from graphify.optimise.fold import fold
from graphify.optimise.pipeline import optimise
from graphify.optimise.report import Report
from tests.ir.building import assert_same, build, cond
from tests.optimise.passes import after, const, names

X = np.linspace(-1, 1, 4)


def test_constants_are_computed():
    graph = build(lambda x: x * elementwise.sin(const(2.0) + const(1.0)), x="f64[n]")
    assert names(after(fold, graph, X)) == ["multiply"]


def test_python_numbers_stay_python_numbers():
    from graphify.ir.context import current_builder
    from graphify.ir.tensor import Tensor, value_in

    def function(x):
        two = Tensor(value_in(Tensor(np.asarray(2), weak=True), current_builder()))
        return elementwise.add(two, two)

    graph = build(function, x="f32[n]")
    result = after(fold, graph, np.ones(2, "f4"))
    assert result.specs == graph.specs
    assert result.specs[0].weak


def test_an_op_that_raises_is_left_to_raise_when_it_runs():
    def function(x, c):
        def bad(x):
            return [x + linalg.matmul(const(np.ones((2, 2))), const(np.ones((2, 2))))[0, 0]]

        def worse(x):
            return [x + elementwise.power(const(2), const(-1))]

        return cond(c, bad, worse, x)

    graph = build(function, x="f64[]", c="bool[]")
    result = after(fold, graph, np.asarray(1.0), np.asarray(True))
    with pytest.raises(ValueError, match="negative integer power"):
        run(result, [np.asarray(1.0), np.asarray(False)])


def test_large_results_stay_computations():
    graph = build(
        lambda x: x + linalg.matmul(const(np.ones((99, 1))), const(np.ones((1, 99)))), x="f64[99]"
    )
    assert "matmul" in names(after(fold, graph))


def test_broadcasts_stay_small():
    graph = build(lambda x: x + core.broadcast_to(const(1.0), shape=(50,)), x="f64[50]")
    assert "broadcast_to" in names(after(fold, graph))


def test_sizes_that_become_known():
    def function(x):
        count = const(2) + const(1)
        return x[:count], core.full((shape.as_dim(count),), 7.0, "f8")

    graph = build(function, x="f64[8]")
    result = optimise(graph).graph
    check(result)
    assert [spec.shape for spec in result.specs] == [(3,), (3,)]
    assert_same(run(result, [np.arange(8.0)]), run(graph, [np.arange(8.0)]))


def test_a_size_that_shows_an_error_leaves_it_to_the_run():
    def function(x, c):
        count = const(2) + const(1)
        size = shape.as_dim(count)
        return cond(
            c,
            lambda x: [core.reshape(x, shape=(2, 2))],
            lambda x: [core.reshape(x, shape=(4, 1))],
            core.broadcast_to(x, shape=(size,)),
        )

    graph = build(function, x="f64[]", c="bool[]")
    optimised = optimise(graph).graph
    with pytest.raises(ValueError, match="reshape"):
        run(optimised, [np.asarray(1.0), np.asarray(True)])


# --- sharing -------------------------------------------------------------------------------------


def test_equal_work_is_done_once():
    def function(x, y):
        a = elementwise.sin(x) + y
        b = y + elementwise.sin(x)
        return a * b

    from graphify.ir.graph import Builder

    assert Builder  # the builder shares equal nodes already, but not x + y with y + x
    graph = build(function, x="f64[n]", y="f64[n]")
    result = after(cse, graph, X, X[::-1])
    assert names(result) == ["sin", "add", "multiply"]


def test_the_order_of_maximum_matters():
    graph = build(
        lambda x, y: elementwise.maximum(x, y) + elementwise.maximum(y, x), x="f64[n]", y="f64[n]"
    )
    zeros = [np.array([0.0, -0.0]), np.array([-0.0, 0.0])]
    assert names(after(cse, graph, *zeros)).count("maximum") == 2


def test_equal_masks_have_one_size():
    def function(x):
        plus, minus = x + const(1.0), const(1.0) + x
        first, second = keys.getitem(x, plus > 0), keys.getitem(x, minus > 0)
        return first + second, core.broadcast_to(x[0], shape=second.dims)

    graph = build(function, x="f64[n]")
    assert names(graph).count("nonzero") == 2
    result = after(cse, graph, X)
    assert names(result).count("nonzero") == 1
    assert result.specs[0].shape == result.specs[1].shape


def test_equal_bound_sizes_are_one():
    def function(x, k, j):
        return x[: k + j], x[: j + k]

    graph = build(function, x="f64[n]", k="i64[]", j="i64[]")
    result = after(cse, graph, X, np.asarray(1), np.asarray(1))
    assert names(result).count("as_size") == 1
    assert result.results[0] == result.results[1]


def test_zeros_of_different_sign_are_not_shared():
    graph = build(lambda x: (x + const(0.0), x + const(-0.0)), x="f64[n]")
    after(cse, graph, np.array([-0.0, 0.0]))


def test_effects_are_never_shared():
    def function(x):
        for _ in range(2):
            effects.print_(x, text=Text((None,)), end="\n", stream="stdout")
        return x

    graph = build(function, x="f64[]")
    assert names(after(cse, graph)) == ["print", "print"]


def test_sharing_is_reported_by_line():
    report = Report()
    cse(build(lambda x, y: (x + y) * (y + x), x="f64[n]", y="f64[n]"), report)
    assert report.count("shared") == 1
    assert "add: the same as at test_fold_cse.py" in str(report)


def test_reductions_are_shared():
    def function(x, y):
        total = reduction.reduce_sum(x + y, axes=(0,))
        return total - reduction.reduce_sum(y + x, axes=(0,))

    result = after(cse, build(function, x="f64[n]", y="f64[n]"), X, X)
    assert names(result) == ["add", "reduce_sum", "subtract"]
