"""cond, switch, while_loop, fori_loop, scan: eager, staged, and with Python's own answer."""

import doctest

import numpy as np
import pytest

import graphify
import graphify.numpy as gnp
from graphify.api import control as module
from tests.tolerances import assert_close

X = np.array([0.5, -1.25, 2.0])


def test_examples():
    result = doctest.testmod(module, globs={"np": np, "gnp": gnp, **vars(module)})
    assert result.attempted and not result.failed


@pytest.fixture(params=[False, True], ids=["eager", "staged"])
def run(request):
    return graphify.function if request.param else (lambda f: f)


def test_cond(run):
    def f(p, x):
        return graphify.cond(p, lambda x: {"y": x * 2, "n": 1}, lambda x: {"y": x, "n": 2.5}, x)

    for p in (True, False):
        got = run(f)(np.array(p), X)
        assert_close(got["y"], X * 2 if p else X)
        assert float(got["n"]) == (1 if p else 2.5)


def test_only_the_chosen_branch_runs(run, capsys):
    def f(p, x):
        return graphify.cond(p, lambda: graphify.print("taken") or x[0], lambda: x[7])

    assert float(run(f)(np.array(True), X)) == 0.5
    assert capsys.readouterr().out == "taken\n"
    with pytest.raises(IndexError):
        run(f)(np.array(False), X)


def test_switch(run):
    branches = [lambda x: x, lambda x: x * 10, lambda x: x + 1]
    f = run(lambda i, x: graphify.switch(i, branches, x))
    for i in (0, 1, 2, -1, -3):
        assert_close(f(np.array(i), X), branches[i](X))
    for i in (3, -4):
        with pytest.raises(IndexError):
            f(np.array(i), X)


def test_while_loop(run):
    def f(x):
        return graphify.while_loop(
            lambda s: gnp.sum(s["x"]) < 100.0,
            lambda s: {"x": s["x"] * 2 + 1, "n": s["n"] + 1},
            {"x": x, "n": 0},
        )

    x, n = X, 0
    while np.sum(x) < 100.0:
        x, n = x * 2 + 1, n + 1
    got = run(f)(X)
    assert_close(got["x"], x)
    assert int(got["n"]) == n


def test_fori_loop(run):
    f = run(lambda lower, upper, x: graphify.fori_loop(lower, upper, lambda i, v: v * 0.5 + i, x))
    for lower, upper in ((0, 12), (3, 5), (4, 4), (5, 2)):
        want = X
        for i in range(lower, upper):
            want = want * 0.5 + i
        assert_close(f(np.array(lower), np.array(upper), X), want)


@pytest.mark.parametrize("reverse", [False, True])
def test_scan(run, reverse):
    rows = np.arange(8.0).reshape(4, 2)

    def step(carry, row):
        carry = {"a": carry["a"] * 0.5 + row["r"], "k": carry["k"] + 1}
        return carry, (carry["a"] * 2, row["r"][0])

    def f(r):
        return graphify.scan(step, {"a": gnp.zeros(2), "k": 0}, {"r": r}, reverse=reverse)

    carry, (ys, firsts) = run(f)(rows)
    a, want = np.zeros(2), np.zeros((4, 2))
    for i in range(4)[:: -1 if reverse else 1]:
        a = a * 0.5 + rows[i]
        want[i] = a * 2
    assert_close(carry["a"], a)
    assert int(carry["k"]) == 4
    assert_close(ys, want)
    assert_close(firsts, rows[:, 0])


def test_scan_without_rows_and_without_steps(run):
    f = run(lambda x: graphify.scan(lambda c, _: (c * 2, c), x, None, length=3))
    carry, ys = f(X)
    assert_close(carry, X * 8)
    assert_close(ys, np.stack([X, X * 2, X * 4]))
    g = run(lambda x, r: graphify.scan(lambda c, v: (c + v, c * v), x, r))
    carry, ys = g(np.array(1.0), np.zeros((0,)))
    assert float(carry) == 1.0 and ys.shape == (0,)


def test_scan_fills_a_buffer_in_place(run):
    def step(carry, x):
        carry["buffer"][carry["at"]] = x * 2
        carry["at"] += 1
        return carry, carry["buffer"]

    def f(x, buffer):
        return graphify.scan(step, {"buffer": buffer, "at": 0}, x)

    buffer = np.zeros(3)
    carry, ys = run(f)(X, buffer)
    assert_close(carry["buffer"], X * 2)
    assert_close(buffer, X * 2)
    assert_close(ys, np.tri(3) * (X * 2))


def test_scan_refuses_to_update_the_first_carry_alone():
    def step(carry, x):
        carry[0] = x
        return carry * 2, x

    f = graphify.function(lambda x, start: graphify.scan(step, start, x))
    with pytest.raises(graphify.errors.TraceError, match="gives back another one"):
        f(X, np.zeros(2))


def test_scan_without_results_of_the_steps(run):
    """None stands for no array, in the carry, the rows and the results."""

    def f(rows):
        def step(carry, row):
            return {"sum": carry["sum"] + row[0], "bias": carry["bias"]}, (row[0] * 2, None)

        start = {"sum": 0.0, "bias": None}
        return graphify.scan(step, start, (rows, None)), graphify.scan(
            lambda c, row: (c * row, None), 1.0, rows
        )

    (carry, ys), (product, nothing) = run(f)(X)
    assert carry["bias"] is None and ys[1] is None and nothing is None
    assert_close(carry["sum"], X.sum())
    assert_close(ys[0], X * 2)
    assert_close(product, X.prod())


def test_a_growing_dtype_is_joined():
    carry, _ = graphify.function(lambda r: graphify.scan(lambda c, v: (c + v, v), 0, r))(X)
    assert_close(carry, np.asarray(X.sum()))


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (
            lambda: graphify.cond(True, 1, 2),
            TypeError,
            "cond: argument 'true_fun': expected a function",
        ),
        (
            lambda: graphify.cond(X, lambda: 1, lambda: 2),
            ValueError,
            r"argument 'pred': expected a scalar, got shape",
        ),
        (lambda: graphify.cond("yes", lambda: 1, lambda: 2), TypeError, "pred.*str"),
        (lambda: graphify.switch(0, []), ValueError, "at least one"),
        (
            lambda: graphify.switch(1.0, [abs, abs], 1),
            TypeError,
            "expected an integer, got float64",
        ),
        (lambda: graphify.switch(5, [abs], 1), IndexError, "5 is out of range for 1"),
        (
            lambda: graphify.while_loop(lambda x: x, lambda x: x, X),
            ValueError,
            "the condition: expected a scalar",
        ),
        (lambda: graphify.fori_loop(0, 1.5, lambda i, x: x, 0), TypeError, "integer"),
        (lambda: graphify.fori_loop("a", 2, lambda i, x: x, 0), TypeError, "argument 'lower'"),
        (lambda: graphify.scan(lambda c, x: c, 0.0, X), TypeError, r"\(carry, y\)"),
        (
            lambda: graphify.scan(lambda c, x: (c, c), 0.0, None, length=-1),
            ValueError,
            "argument 'length': expected an int of 0 or more",
        ),
        (lambda: graphify.switch(0, np.sin, X), TypeError, "expected a list of functions"),
        (
            lambda: graphify.scan(lambda c, x: (c, x), 0.0, (X, X[:2])),
            ValueError,
            "one number of rows",
        ),
        (lambda: graphify.scan(lambda c, x: (c, x), 0.0, None), ValueError, "length"),
        (lambda: graphify.scan(lambda c, x: (c, x), 0.0, 3.0), ValueError, "scalar"),
    ],
)
def test_bad_input(call, kind, text):
    with pytest.raises(kind, match=text):
        call()
