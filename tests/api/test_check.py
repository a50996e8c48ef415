"""`Function.check`: plain Python, graph and engine side by side."""

import numpy as np
import pytest

import graphify
from graphify.api.comparing import TOLERANCES, difference_of, first_difference
from graphify.engines import base
from graphify.ir import interpret
from graphify.ir.interpret import observing
from tests import tolerances

HERE = __file__


def staged(value):
    """Whether a trace is under way: what a function should never ask."""
    return hasattr(value, "is_symbolic")


class Bend:
    """Makes cosines of sines, wherever they are computed."""

    def enter(self, params, values):
        pass

    def before(self, node, inputs, values):
        self.inputs = inputs

    def after(self, node, outputs, values):
        if node.op.name == "sin":
            place = next(i for i, value in enumerate(values) if value is outputs[0])
            values[place] = np.cos(self.inputs[0])


class Wrong:
    """The reference engine, but for one op."""

    name = "wrong"

    def supports(self, op):
        return True

    def compile(self, graph):
        def run(arrays):
            with observing(Bend()):
                return interpret.run(graph, arrays)

        return run


@pytest.fixture
def wrong():
    base.register_engine(Wrong())
    yield "wrong"
    del base._engines["wrong"]


# --- what agrees --------------------------------------------------------------------------------


def straight(x, y):
    z = np.sin(x) + y
    return z @ y


def looped(x, n):
    total = x * 0
    for i in range(n):
        step = x * i
        if step.sum() > 20:
            total = total + step
        else:
            total -= step
    return total


def updates(x, w):
    for i in range(40):
        w[i % 3] += x[0] * i
    return w.sum()


def returns_several(x, k):
    y = {"a": x[k], "b": [x * 2, 3]}
    return y, "text", None


def prints(x):
    print("sum", x.sum())
    return x * 2


def gcd(a, b):
    while b > 0:
        a, b = b, a % b
    return a


def square(v):
    w = v * v
    return w


def calls(x):
    for _ in range(60):
        x = square(x) / (1 + square(x))
    return x


@pytest.mark.parametrize(
    "function, args",
    [
        (straight, (np.ones(3), np.arange(3.0))),
        (looped, (np.arange(3.0), 100)),
        (looped, (np.arange(3.0), 0)),
        (looped, (np.ones(0), 30)),
        (updates, (np.ones(2), np.zeros(3))),
        (returns_several, (np.arange(3.0), np.array(1))),
        (prints, (np.arange(3.0),)),
        (gcd, (np.array(48), np.array(18))),
        (calls, (np.ones(4, np.float32),)),
    ],
)
@pytest.mark.parametrize("engine", ["reference", "native"])
def test_agreed(function, args, engine, capsys):
    f = graphify.function(function, engine=engine)
    before = [np.array(a) for a in args]
    report = f.check(*args)
    assert report and report.agreed and report.differences == []
    assert str(report).startswith(f"{function.__name__}: plain Python, graph and engine {engine}")
    assert all(np.array_equal(a, b) for a, b in zip(args, before, strict=True))
    assert capsys.readouterr().out == "", "what the runs print is compared, not shown"


def test_values_of_variables_are_compared_turn_by_turn():
    report = graphify.function(looped).check(np.arange(3.0), 100)
    assert report.values >= 201 and report.nodes > 300


def test_the_world_is_as_it_was():
    class Model:
        def __init__(self):
            self.count, self.w, self.log = 0, np.ones(2), []

        @graphify.function
        def step(self, x):
            self.count += 1
            self.w[0] = x.sum()
            self.log.append(x * 2)
            return self.w * self.count

    model = Model()
    assert model.step.check(np.ones(3)).agreed
    assert (model.count, model.w.tolist(), model.log) == (0, [1, 1], [])
    variable = graphify.Variable(np.zeros(2))
    f = graphify.function(lambda x: variable.assign_add(x))
    assert f.check(np.ones(2)).agreed
    assert variable.numpy().tolist() == [0, 0]


def test_random_numbers_are_the_same_in_all_runs():
    np.random.seed(3)
    before = np.random.get_state()[1].copy()
    assert graphify.function(lambda x: x + np.random.rand(3)).check(np.ones(3)).agreed
    assert (np.random.get_state()[1] == before).all()


def test_errors_of_one_class_agree():
    def f(x, i):
        y = x * 2
        return y[i]

    report = graphify.function(f).check(np.ones(3), np.array(7))
    assert report.agreed and isinstance(report.error, IndexError)
    assert "all raise IndexError" in str(report)


# --- what parts ---------------------------------------------------------------------------------


def two_faced(v):
    k = 2.0 if staged(v) else 3.0
    return v * k


def parts_in_a_callee(x):
    total = 0.0
    for i in range(50):
        y = x + i
        z = two_faced(y) if i > 5 else y
        total = total + z.sum()
    return total


def parts_in_a_turn(x):
    y = x
    for i in range(50):
        if staged(x):
            y = y + 1
        else:
            y = y + (2 if i == 7 else 1)
    return y


def parts_in_an_argument(x):
    if not staged(x):
        x[1] = 9.0
    return 1


def parts_in_text(x):
    print("staged" if staged(x) else "plain")
    return x


def parts_in_an_error(x):
    if not staged(x):
        raise ValueError("only in plain Python")
    return x


def test_the_first_line_and_variable():
    report = graphify.function(parts_in_a_callee).check(np.arange(3.0))
    assert not report and not report.agreed
    assert (report.line.name, report.line.file) == ("k", HERE)
    assert report.line.source == "k = 2.0 if staged(v) else 3.0"
    assert report.line.values[0] == 3.0 and report.line.values[1] == 2.0
    assert report.differences[0].what == "result" and report.node is None
    text = str(report)
    assert "first line to part: variable k: plain Python and graph differ" in text


def test_a_turn_of_a_loop():
    def f(x):
        y = x
        for i in range(50):
            bump = np.where(i == 7, 1.0 if staged(x) else 2.0, 1.0)
            y = y + bump
        return y

    report = graphify.function(f).check(np.zeros(2))
    assert report.line.name == "bump" and report.line.turn == 8
    assert [float(v) for v in report.line.values] == [2.0, 1.0]


@pytest.mark.parametrize(
    "function, what",
    [
        (parts_in_an_argument, "argument"),
        (parts_in_text, "output"),
        (parts_in_an_error, "error"),
        (parts_in_a_turn, "result"),
    ],
)
def test_what_else_parts(function, what):
    report = graphify.function(function).check(np.zeros(3))
    assert [d.what for d in report.differences] == [what]
    assert "plain Python and graph differ" in str(report)


def test_the_first_node_of_an_engine(wrong):
    def f(x):
        y = x * 2
        z = np.sin(y)
        return z + y

    report = graphify.function(f, engine=wrong).check(np.ones(2))
    assert report.line is None and report.differences[0].sides == ("reference", "engine wrong")
    node = report.node
    assert (node.op, node.name, node.source) == ("sin", "z", "z = np.sin(y)")
    assert node.node == "z: f64[2] = sin(y)"
    np.testing.assert_allclose(node.values, [np.sin([2.0, 2.0]), np.cos([2.0, 2.0])])
    assert "first node to part: node z: reference and engine wrong differ" in str(report)


def test_the_first_node_is_found_in_loops_and_branches(wrong):
    def f(x):
        for i in range(100):
            if i == 60:
                x = x + np.sin(x)
            else:
                x = x * 1.0
        return x

    report = graphify.function(f, engine=wrong).check(np.full(2, 0.5))
    assert (report.node.op, report.node.source) == ("sin", "x = x + np.sin(x)")


def test_a_wrong_loop_names_the_turn(wrong):
    def f(x):
        y = x
        for i in range(30):
            y = np.sin(y * 0) + i
        return y

    report = graphify.function(f, engine=wrong).check(np.ones(2))
    assert (report.node.op, report.node.turn) == ("sin", 1)


# --- tolerances ---------------------------------------------------------------------------------


def test_the_tolerances_are_those_of_the_tests():
    assert TOLERANCES == tolerances.TOLERANCES


def test_differences():
    assert difference_of(1.0, np.float64(1.0)) is None
    assert difference_of(np.array([np.nan, 1.0]), np.array([np.nan, 1.0])) is None
    assert difference_of(np.array([1e300, 1.0]), np.array([1e300, 1.0 + 1e280])) is None
    assert "dtypes" in difference_of(1, 1.0)
    assert "shapes (2,) and (3,)" in difference_of(np.ones(2), np.ones(3))
    assert "first at [1]: 2 and 3" in difference_of(np.array([1, 2]), np.array([1, 3]))
    assert difference_of("a", "a") is None and difference_of(None, 1) is not None
    assert first_difference((1, [2]), (1, [2]), "r") is None
    assert first_difference((1, [2]), (1, [3]), "r")[0] == "r[1][0]"
    assert first_difference((1, 2), [1, 2], "r")[0] == "r"
