"""Nothing leaks out of a trace, and what the outside world does is not staged as one turn."""

import datetime
import io
import os
import random
import time
import uuid
import warnings

import numpy as np
import pytest

import graphify
from graphify.errors import ConcreteValueNeeded, LeakedTracer, TraceError

KEPT = []


class Box:
    pass


BOX = Box()


@graphify.autograph.do_not_convert
def keep(value):
    KEPT[:] = [value]
    BOX.field = value


def leaks(x):
    doubled = x * 2
    keep(doubled)
    return x


def leaks_from_a_branch(x):
    if x.sum() > 0:
        inner = x * 2
        keep(inner)
    return BOX.field + 1


def leaks_from_a_loop(x):
    for v in x:
        inner = v * 2
        keep(inner)
    return BOX.field + 1


@pytest.mark.parametrize(
    "use",
    [
        lambda t: t + 1,
        lambda t: np.asarray(t),
        lambda t: float(t),
        lambda t: t.numpy(),
        lambda t: bool(t),
        lambda t: graphify.function(lambda x: x + t)(np.ones(2)),
    ],
)
def test_a_leaked_tensor_names_itself_and_both_lines(use):
    graphify.function(leaks)(np.ones(2))
    with pytest.raises(LeakedTracer) as caught:
        use(KEPT[0])
    text = str(caught.value)
    assert "'doubled'" in text and "`doubled = x * 2`" in text  # where it was made
    assert text.count("test_leaks.py") >= 2  # there and here


@pytest.mark.parametrize("function", [leaks_from_a_branch, leaks_from_a_loop])
def test_leaks_from_blocks(function):
    with pytest.raises(LeakedTracer) as caught:
        graphify.function(function)(np.ones(12))
    assert "'inner'" in str(caught.value) and " + 1" in str(caught.value)


def gives_closure(x):
    y = x * 2
    return lambda: y


def gives_default(x):
    def inner(a=x * 2):
        return a

    return inner


def gives_object(x):
    box = Box()
    box.y = x * 2
    return box


@pytest.mark.parametrize("function", [gives_closure, gives_default, gives_object])
def test_what_the_graph_computes_is_not_given_away_inside_of_something(function):
    with pytest.raises(TraceError, match="computed by the graph") as caught:
        graphify.function(function)(np.ones(2))
    assert "test_leaks.py" in str(caught.value)


def outside(kind):
    return {
        "time": lambda: time.time(),
        "random": lambda: random.random(),
        "urandom": lambda: os.urandom(1)[0],
        "now": lambda: datetime.datetime.now().year,
        "uuid": lambda: uuid.uuid4().int % 3,
        "file": io.StringIO("1\n" * 100).readline,
    }[kind]


@pytest.mark.parametrize("kind", ["time", "random", "urandom", "now", "uuid", "file"])
def test_loops_with_calls_of_the_outside_world_are_unrolled(kind):
    read = outside(kind)

    def f(x):
        for _ in range(20):
            read()
            x = x + 1
        return x

    staged = graphify.function(f)
    np.testing.assert_array_equal(staged(np.ones(2)), np.ones(2) + 20)
    assert "unrolled" in staged.explain(np.ones(2))


@pytest.mark.parametrize("kind", ["time", "random", "urandom", "now", "uuid", "file"])
def test_calls_of_the_outside_world_in_staged_blocks_are_refused(kind):
    read = outside(kind)

    def branch(x):
        if x.sum() > 0:
            read()
            x = x + 1
        return x

    def loop(x):
        while x.sum() < 10:
            read()
            x = x + 1
        return x

    for function in (branch, loop):
        with pytest.raises(TraceError, match="traced once for all runs") as caught:
            graphify.function(function)(np.ones(2))
        assert "test_leaks.py" in str(caught.value)


def test_each_turn_makes_its_own_call():
    lines = io.StringIO("".join(f"{i}\n" for i in range(12)))

    def f(x):
        for _ in range(12):
            x = x + float(lines.readline())
        return x

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_array_equal(graphify.function(f)(np.zeros(2)), np.full(2, 66.0))


def test_a_view_of_what_another_branch_wrote_to_has_not_leaked():
    """Its length is asked for where it still has the value of that branch."""

    def f(y, k):
        part = y[k:]
        if y.sum() > 1:
            part[k:] = 2.0
        else:
            first, *rest = part
        return y

    with pytest.raises(ConcreteValueNeeded, match="Python needs the length"):
        graphify.function(f)(np.arange(5.0), np.int64(2))
