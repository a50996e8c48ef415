"""Control flow that is none, and work that leaves loops."""

import numpy as np
import pytest

from graphify.ir.check import check
from graphify.ir.interpret import run
from graphify.ir.parse import parse
from graphify.ir.pretty import to_text
from graphify.ops import core, effects, elementwise, keys
from graphify.ops.effects import Text
from graphify.optimise.control import control
from graphify.optimise.hoist import hoist
from graphify.optimise.pipeline import optimise
from graphify.optimise.prune import prune
from graphify.optimise.report import Report
from tests.ir.building import assert_same, build, call, cond, loop, map_, while_
from tests.optimise.passes import after, const, names, only

sin, cos, exp = elementwise.sin, elementwise.cos, elementwise.exp
X = np.linspace(-1, 1, 4)


# --- branches ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("flag", "left"), [(True, ["sin"]), (False, ["cos"])])
def test_a_known_branch_is_inlined(flag, left):
    def function(x):
        return cond(const(flag), lambda x: [sin(x)], lambda x: [cos(x)], x)

    assert names(after(control, build(function, x="f64[n]"), X)) == left


def test_sizes_of_the_branch_become_known():
    def function(x):
        (y,) = cond(const(True), lambda x: [x[:3]], lambda x: [x], x)
        return y * 2.0, core.reshape(y, shape=(y.dims[0], 1))

    graph = build(function, x="f64[8]")
    result = after(control, graph, np.arange(8.0))
    assert [spec.shape for spec in result.specs] == [(3,), (3, 1)]


def test_a_branch_with_a_size_of_its_own():
    def function(x):
        (y,) = cond(const(True), lambda x: [x[x > 0]], lambda x: [x], x)
        (z,) = cond(const(True), lambda x: [x[x > 0]], lambda x: [x], -x)
        return y, z, core.broadcast_to(x[0], shape=y.dims)

    result = after(control, build(function, x="f64[n]"), X)
    assert "cond" not in names(result)
    assert len({spec.shape for spec in result.specs}) == 2


def test_effects_of_the_inlined_branch_stay_in_order(capsys):
    def say(word):
        effects.print_(text=Text((word,)), end="\n", stream="stdout")

    def function(x):
        say("before")
        (y,) = cond(const(True), lambda x: [say("inside"), x][1:], lambda x: [x], x)
        say("after")
        return y

    graph = build(function, x="f64[]")
    result = after(control, graph)
    assert names(result) == ["print"] * 3
    run(result, [np.asarray(1.0)])
    assert capsys.readouterr().out == "before\ninside\nafter\n"


def test_a_branch_that_must_fail_fails_only_when_it_runs():
    """With the size known, the reshape is seen to be wrong: the graph still is made."""

    def inner(x):
        (y,) = cond(const(True), lambda x: [x[:3]], lambda x: [x], x)
        return [core.reshape(y, shape=(2, 2))]

    def function(c, x):
        return cond(c, inner, lambda x: [core.reshape(x[:4], shape=(2, 2))], x)

    graph = build(function, c="bool[]", x="f64[8]")
    optimised = optimise(graph).graph
    assert_same(run(optimised, [np.asarray(False), np.arange(8.0)]), [np.arange(4.0).reshape(2, 2)])
    with pytest.raises(ValueError, match="reshape"):
        run(optimised, [np.asarray(True), np.arange(8.0)])


# --- loops ------------------------------------------------------------------------------------


def test_a_loop_that_makes_no_turn():
    def function(x):
        return while_(lambda i, *_: i < 0, lambda i, a: [i + 1, a * 2.0], [const(0), x])[1]

    assert names(after(control, build(function, x="f64[n]"), X)) == []


def test_a_loop_that_may_make_turns_stays():
    def function(x, n):
        return while_(lambda i, *_: i < 0, lambda i, a: [i + 1, a * 2.0], [n, x])[1]

    graph = build(function, x="f64[n]", n="i64[]")
    assert names(after(control, graph, X, np.asarray(-2))) == ["while"]


@pytest.mark.parametrize("length", [0, 1])
def test_loops_of_no_turn_and_of_one(length):
    def function(x):
        # Of no rows nothing can be said but their number, so only the sum is asked for.
        return loop(length, lambda i, a, row: [a + row, sin(row) * 1.0], [0.0], [x])[
            : 2 if length else 1
        ]

    graph = build(function, x=f"f64[{length}]")
    graph = prune(graph, Report())
    assert "loop" not in names(after(control, graph, np.full(length, 0.5)))


def test_a_map_of_one_row():
    graph = build(lambda x: map_(1, lambda i, row: [row * 2.0], [x]), x="f64[1,3]")
    assert "map" not in names(after(control, graph, np.ones((1, 3))))


def test_small_calls_are_inlined_and_large_ones_are_not():
    def large(x):
        for _ in range(100):
            x = sin(x)
        return [x]

    assert names(after(control, build(lambda x: call(lambda x: [x + 1.0], x), x="f64[n]"), X)) == [
        "add"
    ]
    assert names(after(control, build(lambda x: call(large, x), x="f64[n]"), X)) == ["call"]


def test_constants_go_into_sub_graphs_and_fold_there():
    def function(x, c):
        k = const(3.0)
        return cond(c, lambda x, k: [x * sin(k)], lambda x, k: [x], x, k)

    graph = build(function, x="f64[n]", c="bool[]")
    result = optimise(graph).graph
    check(result)
    assert names(only(result, "cond").attrs["true"]) == ["multiply"]
    assert_same(run(result, [X, np.asarray(True)]), run(graph, [X, np.asarray(True)]))


# --- hoisting ----------------------------------------------------------------------------------


def test_invariant_work_leaves_a_while_loop():
    def function(x, k):
        return while_(lambda i, *_: i < 3, lambda i, a, k: [i + 1, a + exp(k) * 2.0], [0, x], k)[1]

    graph = after(hoist, build(function, x="f64[n]", k="f64[]"), X, np.asarray(0.3))
    assert names(graph)[:2] == ["exp", "multiply"]
    assert names(only(graph, "while").attrs["body"]) == ["add", "add"]


def test_invariant_work_leaves_the_test_and_nested_loops():
    def inner(j, b, k):
        return [j + 1, b + sin(k)]

    def turn(i, a, k):
        return [i + 1, while_(lambda j, *_: j < 2, inner, [0, a], k)[1]]

    def function(x, k):
        return while_(lambda i, a, k: i < exp(k), turn, [0.0, x], k)[1]

    graph = after(hoist, build(function, x="f64[]", k="f64[]"), np.asarray(1.0), np.asarray(0.9))
    assert sorted(names(graph)) == ["exp", "sin", "while"]


def test_work_on_rows_and_carried_values_stays():
    def turn(i, a, row, k):
        return [a * 2.0 + sin(row), cos(a), exp(k)]

    def function(x, k):
        return loop(3, turn, [0.0], [x], k)

    graph = after(hoist, build(function, x="f64[3]", k="f64[]"), np.ones(3), np.asarray(1.0))
    assert names(graph) == ["exp", "loop"]


def test_sizes_are_followed_out_of_the_loop():
    def turn(i, a, k):
        return [
            a + core.broadcast_to(exp(k), shape=a.dims),
            core.broadcast_to(cos(k), shape=k.dims),
        ]

    def function(x, k):
        return loop(3, turn, [x], [], k)

    graph = after(hoist, build(function, x="f64[n,3]", k="f64[3]"), np.ones((2, 3)), np.ones(3))
    assert sorted(names(graph)) == ["cos", "exp", "loop"]


def test_what_may_fail_stays_in_the_loop():
    """x[5] would fail before a loop that makes no turn, and whose answer does not need it."""

    def turn(i, a, x):
        return [i + 1, a + keys.getitem(x, 5)]

    def function(n, x):
        return while_(lambda i, a, x: i < 0, turn, [n, 0.0], x)[1]

    graph = after(hoist, build(function, n="i64[]", x="f64[m]"), np.asarray(1), np.ones(3))
    assert names(graph) == ["while"]
    assert "slice" in names(only(graph, "while").attrs["body"])


def test_integer_powers_may_fail():
    def function(n, k):
        return while_(
            lambda i, *_: i < 0, lambda i, a, k: [i + 1, a + elementwise.power(2, k)], [n, n], k
        )[1]

    graph = build(function, n="i64[]", k="i64[]")
    assert names(after(hoist, graph, np.asarray(1), np.asarray(-3))) == ["while"]


def test_effects_stay_in_the_loop():
    def turn(i, k):
        effects.print_(k, text=Text((None,)), end="\n", stream="stdout")
        return [i + 1]

    graph = build(lambda k: while_(lambda i, k: i < 2, turn, [0], k), k="f64[]")
    assert names(after(hoist, graph)) == ["while"]


def test_the_report_names_what_was_hoisted():
    def function(x, k):
        return while_(lambda i, *_: i < 3, lambda i, a, k: [i + 1, a + exp(k)], [0, x], k)[1]

    report = optimise(build(function, x="f64[n]", k="f64[]")).report
    assert report.count("hoisted") == 1
    assert "hoisted     exp: the same in every turn of while" in str(report)


def test_shared_bodies_are_inlined_under_sizes_of_their_own():
    def twice(x):
        body = build(lambda x: x[x > 0], x="f64[n]")
        from graphify.ops.control import call as call_op

        return call_op(x, body=body)[0], call_op(-x, body=body)[0]

    graph = build(twice, x="f64[n]")
    result = after(control, graph, X)
    first, second = (spec.shape for spec in result.specs)
    assert first != second, to_text(result)


# --- sizes that specs tell before a node binds them -----------------------------------------------

BOUND_LATE = """
graph late(n: i64[], x: f64[k+1]) {
  %0: i64[] = INNER
  %1: i64[] = as_size(n, var=k)
  %2: f64[k] = slice(x, key=((0, k, 1),))
  return %0, %2
}
"""
TURNS = """while(0, x, n, carry=1) {
    cond(i: i64[], a: f64[rows], n: i64[]) {
      %0: bool[] = less(i, n)
      return %0
    }
    body(i: i64[], a: f64[rows], n: i64[]) {
      %0: i64[]~ = size_value(size=rows)
      %1: i64[] = cast(%0, dtype=i64)
      %2: i64[] = multiply(%1, %1)
      %3: i64[] = add(i, %2)
      return %3
    }
  }"""
BRANCHES = """cond(True, x) {
    true(a: f64[rows]) {
      %0: i64[]~ = size_value(size=rows)
      %1: i64[] = cast(%0, dtype=i64)
      return %1
    }
    false(a: f64[rows]) {
      return 0
    }
  }"""


@pytest.mark.parametrize(("step", "inner"), [(hoist, TURNS), (control, BRANCHES)])
def test_no_size_is_used_before_it_is_bound(step, inner):
    graph = parse(BOUND_LATE.replace("INNER", inner))
    after(step, graph, np.asarray(3), np.arange(4.0))
