"""Recursive functions as functions of the graph: their text, errors, effects, arrays, transforms.

What works is in tests/samples/recursion.py.
"""

import gc
import sys
import weakref

import numpy as np
import pytest

import graphify
from graphify.errors import DeepRecursion
from graphify.ir.check import check
from graphify.ir.graph import Graph
from graphify.ir.parse import parse
from graphify.ir.pretty import to_text
from graphify.ir.walk import functions_of
from tests import scaling

K = np.array(3)
ENGINES = ["reference", "native", pytest.param("tensorflow", marks=pytest.mark.tensorflow)]


def countdown(n):
    return n if n <= 0 else countdown(n - 1)


def fibonacci(n):
    if n < 2:
        return n
    return fibonacci(n - 1) + fibonacci(n - 2)


def product(x, n):
    return 1.0 if n <= 0 else x * product(x, n - 1)


def graph_of(function, *args):
    return graphify.function(function).get_concrete_function(*args).graph


# --- the graph -------------------------------------------------------------------------------


def test_the_function_is_written_once_and_calls_itself():
    graph = graph_of(countdown, K)
    text = to_text(graph)
    assert text.count("function @countdown(n: i64[]) -> (i64[]) {") == 1
    assert text.count("recursive_call(") == 2  # from outside and from inside
    assert len(functions_of(graph)) == 1


@pytest.mark.parametrize("function, args", [(fibonacci, (K,)), (product, (np.array(2.0), K))])
def test_the_text_reads_back(function, args):
    graph = graph_of(function, *args)
    check(graph)
    text = to_text(graph, full=True)
    again = parse(text)
    check(again)
    assert to_text(again, full=True) == text


def test_two_calls_share_a_function():
    assert len(functions_of(graph_of(fibonacci, K))) == 1


def test_a_graph_does_not_outlive_its_use():
    def forgotten(n):
        return n if n <= 0 else forgotten(n - 1)

    staged = graphify.function(forgotten, engine="reference")
    staged(K)
    graph = staged.get_concrete_function(K).graph
    references = [weakref.ref(f.graph) for f in functions_of(graph)]
    del staged, graph
    gc.collect()
    assert isinstance(references[0](), Graph | None)
    assert references[0]() is None


# --- depth -----------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
def test_depth(engine):
    staged = graphify.function(countdown, engine=engine)
    assert int(staged(np.array(900))) == 0
    with pytest.raises(RecursionError, match=r"countdown\(n - 1\)"):
        staged(np.array(100_000))


@pytest.mark.parametrize("engine", ENGINES)
def test_python_integers_overflow_as_elsewhere(engine):
    def power(n, base=10):
        return 1 if n <= 0 else base * power(n - 1, base)

    staged = graphify.function(lambda n: power(n, 10), engine=engine)
    assert int(staged(np.array(18))) == 10**18
    with pytest.raises(OverflowError):
        staged(np.array(19))


# --- effects ---------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
def test_prints_come_in_order(engine, capsys):
    def walk(n):
        print("down", n)
        if n > 0:
            walk(n - 1)
            print("up", n)

    walk(K)
    expected = capsys.readouterr().out
    graphify.function(walk, engine=engine)(K)
    assert capsys.readouterr().out == expected


@pytest.mark.parametrize("engine", ENGINES)
def test_raises_at_the_depth_that_is_reached(engine):
    def check_down(n):
        if n == 2:
            raise ValueError(f"met {n}")
        return n if n <= 0 else check_down(n - 3)

    staged = graphify.function(check_down, engine=engine)
    assert int(staged(np.array(6))) == 0
    with pytest.raises(ValueError, match="met 2"):
        staged(np.array(8))


def test_effects_are_not_repeated_by_the_derivative(capsys):
    def noisy(x, n):
        print("at", n)
        return x if n <= 0 else x * noisy(x, n - 1)

    grad = graphify.grad(graphify.function(noisy))(np.array(2.0), K)
    assert float(grad) == 32.0
    assert capsys.readouterr().out.count("at") == 4


def test_variables_are_assigned():
    total = graphify.Variable(0.0)

    @graphify.function
    def add(n):
        if n > 0:
            total.assign_add(1.5)
            add(n - 1)

    add(K)
    assert float(total.numpy()) == 4.5


# --- arrays ----------------------------------------------------------------------------------


def bump(a, b, n):
    if n > 0:
        a[0] += 1
        b[1] += a[0]
        bump(a, b, n - 1)


def test_one_array_by_two_names_is_refused():
    with pytest.raises(DeepRecursion, match="sees the same array by another name") as caught:
        graphify.function(lambda x, n: bump(x, x, n))(np.ones(3), K)
    assert "bump(a, b, n - 1)" in str(caught.value)
    assert caught.value.remedy == "give it an array of its own: a.copy()"


def test_two_arrays_are_both_updated():
    x, y = np.ones(3), np.zeros(3)
    want_x, want_y = x.copy(), y.copy()
    bump(want_x, want_y, 3)
    graphify.function(bump)(x, y, K)
    np.testing.assert_allclose([x, y], [want_x, want_y])


def test_an_updated_argument_that_is_seen_by_the_closure_is_refused():
    def f(x, n):
        def inner(a, m):
            if m > 0:
                a[0] += x[1]
                x[1] += 1
                inner(a, m - 1)

        inner(x, n)
        return x

    with pytest.raises(DeepRecursion, match="sees the same array by another name"):
        graphify.function(f)(np.ones(3), K)


def test_a_view_that_is_given_back_cannot_be_updated():
    def tail(a, n):
        return a[1:] if n <= 0 else tail(a, n - 1)

    def f(x, n):
        y = tail(x, n)
        y[0] = 5.0
        return x

    with pytest.raises(graphify.errors.TraceError, match="may, or may not, be the array"):
        graphify.function(f)(np.ones(3), K)
    reads = graphify.function(lambda x, n: tail(x, n) * 2)
    np.testing.assert_allclose(reads(np.ones(3), K), [2.0, 2.0])


def test_what_the_closure_holds_is_what_it_holds_at_the_call():
    def f(x, n):
        weights = x * 1.0

        def total(m):
            return 0.0 if m <= 0 else weights[0] + total(m - 1)

        first = total(n)
        weights += 10
        return first, total(n)

    x = np.array([1.0, 2.0])
    np.testing.assert_allclose(graphify.function(f)(x, K), f(x, 3))


# --- refusals --------------------------------------------------------------------------------


def test_kinds_that_change_from_call_to_call_are_refused():
    def f(x, n):
        return f((x, x), n - 1) if n > 0 else x

    with pytest.raises(DeepRecursion, match="f calls itself"):
        graphify.function(f)(np.ones(2), K)


def test_a_depth_that_python_needs_is_followed():
    """`names[depth]` needs the number itself: the recursion is inlined, and it ends."""
    names = ["a", "bb", "ccc", "dddd", "eeeee", "ffffff"]

    def f(x, depth):
        if depth == 0:
            return x
        if x > 0:
            return f(x - len(names[depth]), depth - 1)
        return x * 2

    staged = graphify.function(lambda x: f(x, 5))
    for x in (30.0, 3.0, -1.0):
        assert float(staged(np.array(x))) == f(x, 5)


@pytest.mark.tensorflow
def test_export_is_refused_with_a_remedy(tmp_path):
    class Model(graphify.Module):
        @graphify.function(input_signature=[graphify.TensorSpec((), np.int64)])
        def __call__(self, n):
            return fibonacci(n)

    with pytest.raises(graphify.errors.GraphifyError, match="fibonacci calls itself"):
        graphify.saved_model.save(Model(), str(tmp_path))


# --- derivatives and lanes -------------------------------------------------------------------


def test_derivatives_of_every_order():
    f = graphify.function(product)
    x, n = np.array(1.5), np.array(4)
    for order, want in enumerate([4 * 1.5**3, 12 * 1.5**2, 24 * 1.5], 1):
        g = f
        for _ in range(order):
            g = graphify.grad(g)
        np.testing.assert_allclose(float(g(x, n)), want)


def test_the_derivative_calls_itself():
    text = to_text(graph_of(graphify.grad(graphify.function(product)), np.array(1.5), K))
    assert "function @product_vjp(" in text and "function @product_vjp_1(" not in text


def test_forward_derivatives():
    f = graphify.function(lambda x: product(x, K))
    value, tangent = graphify.jvp(f, (np.array(2.0),), (np.array(1.0),))
    assert (float(value), float(tangent)) == (8.0, 12.0)


def test_lanes_recur_to_depths_of_their_own():
    lanes = graphify.function(graphify.vmap(product))
    np.testing.assert_allclose(lanes(np.array([2.0, 3.0, 5.0]), np.array([0, 2, 3])), [1, 9, 125])


def test_derivatives_of_lanes():
    grads = graphify.vmap(graphify.grad(graphify.function(product)))
    np.testing.assert_allclose(grads(np.array([2.0, 3.0]), np.array([2, 3])), [4.0, 27.0])


def test_a_fresh_list_that_the_function_changes_is_refused():
    def f(pair):
        pair[0] = pair[0] * 0.5
        if pair[1] <= 0:
            return pair[0]
        return f([pair[0], pair[1] - 1])

    with pytest.raises(DeepRecursion, match="is changed, or given back") as caught:
        graphify.function(lambda x, n: f([x, n]))(np.ones(2), K)
    assert caught.value.remedy == "pass a tuple, or the same list in every call"


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_a_list_that_is_given_back_is_no_copy(engine):
    def f(pair, n):
        return pair if n <= 0 else f(pair, n - 1)

    def outer(x, n):
        pair = [x, x + 1]
        same = f(pair, n)
        same[0] = x * 10
        return pair

    x = np.ones(2)
    got = graphify.function(outer, engine=engine)(x, K)
    np.testing.assert_allclose(got, outer(x, 3))


def test_long_chains_of_elif_are_no_recursion():
    limit = sys.getrecursionlimit()
    for name in ("elifs", "booleans"):
        function = scaling.function(scaling.PROGRAMS[name](130))
        got = graphify.function(function, engine="reference")(*scaling.arguments())
        np.testing.assert_array_equal(got, function(*scaling.arguments()))
    assert sys.getrecursionlimit() == limit
