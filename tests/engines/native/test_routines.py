"""Recursive functions of scalars as functions of the machine code."""

import sys

import numpy as np
import pytest

import graphify
from graphify.engines.native.loops.interpret import interpret
from graphify.engines.native.loops.passes import optimise
from graphify.engines.native.lower import lower

K = np.array(5)


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def program_of(function, *args):
    concrete = graphify.function(function).get_concrete_function(*args)
    return optimise(lower(concrete.graph))


def is_native(function, *args):
    return not program_of(function, *args).hosts


def agree(function, *args):
    got = graphify.function(function, engine="native")(*args)
    want = function(*args)
    for g, w in zip(graphify.tree.leaves(got), graphify.tree.leaves(want), strict=True):
        np.testing.assert_allclose(np.asarray(g), w)


def test_one_routine_serves_all_calls():
    program = program_of(fibonacci, K)
    assert len(program.routines) == 1
    assert (
        "def routine 0(depth: i64, n"
        in graphify.function(fibonacci).get_concrete_function(K).lower().text
    )
    agree(fibonacci, np.array(15))


def test_the_loops_mean_the_same():
    program = program_of(fibonacci, K)
    (result,) = interpret(program, [np.array(10)])
    assert int(result) == 55


def steps(x, n):
    if n <= 0 or abs(x) > 10:
        return x
    return steps(x * x * 0.5 - 1, n - 1)


def flags(n, odd):
    return odd if n <= 0 else flags(n - 1, not odd)


def escape(z, n):
    return n if n <= 0 or abs(z) > 2 else escape(z * z + (0.1 + 0.5j), n - 1)


def several(a, b, n):
    if n <= 0:
        return a, b
    c, d = several(b, a + b, n - 1)
    return c - 1, d * 0.5


def loop_inside(n):
    total = 0
    while n > 3:
        n = n - 3
        total += n
    return total if n <= 0 else loop_inside(n - 1) + total


def nested(n):
    return 0 if n <= 0 else fibonacci(n) + nested(n - 1)


@pytest.mark.parametrize(
    "function, args",
    [
        (steps, (np.array(1.5), K)),
        (steps, (np.array(1.5, np.float32), K)),
        (flags, (K, np.array(True))),
        (escape, (np.array(0.3 + 0.2j), K)),
        (several, (np.array(1.0), np.array(2), K)),
        (loop_inside, (np.array(13),)),
        (nested, (K,)),
        (fibonacci, (np.array(9, np.int16),)),
        (fibonacci, (np.array(9, np.uint8),)),
    ],
)
def test_scalars_of_every_kind(function, args):
    assert is_native(function, *args)
    agree(function, *args)


def test_derivatives_are_native_too():
    def power(x, n):
        return 1.0 if n <= 0 else x * power(x, n - 1)

    grad = graphify.grad(graphify.function(power))
    assert is_native(grad, np.array(1.5), K)
    np.testing.assert_allclose(float(grad(np.array(1.5), K)), 5 * 1.5**4)


def test_arrays_are_left_to_the_reference():
    def f(v, n):
        return v if n <= 0 else f(v * 0.5, n - 1)

    assert not is_native(f, np.ones(3), K)
    agree(f, np.ones(3), K)


def test_arrays_inside_are_left_to_the_reference():
    def f(n):
        return n if n <= 0 else f(n - 1) + np.arange(3).sum() + np.sort(np.arange(n % 3)).sum()

    assert not is_native(f, K)
    agree(f, K)


def test_in_a_loop_and_over_lanes():
    def total(x, n):
        out = np.zeros(len(x))
        for i in range(len(x)):
            out[i] = steps(x[i], n) if i % 2 == 0 else fibonacci(i)
        return out

    x = np.linspace(-2, 2, 30)
    agree(total, x, K)
    lanes = graphify.function(graphify.vmap(fibonacci))(np.arange(12))
    np.testing.assert_array_equal(lanes, [fibonacci(n) for n in range(12)])


def test_failures_come_with_their_values_and_lines():
    def f(n):
        if n == 3:
            raise ValueError(f"met {n}")
        return 10 // (n + 1) if n < 2 else f(n - 2)

    staged = graphify.function(f)
    with pytest.raises(ValueError, match="met 3"):
        staged(np.array(9))
    assert int(staged(np.array(6))) == int(f(np.array(6)))


def test_depth_is_pythons():
    def down(n):
        return 0 if n <= 0 else 1 + down(n - 1)

    staged = graphify.function(down)
    assert int(staged(np.array(990))) == 990
    with pytest.raises(RecursionError, match=r"down\(n - 1\)"):
        staged(np.array(10_000))


def test_where_python_allows_more_than_the_stack_holds_the_reference_runs():
    def down(n):
        return 0 if n <= 0 else 1 + down(n - 1)

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    try:
        assert not is_native(down, K)
        assert int(graphify.function(down)(np.array(5000))) == 5000
    finally:
        sys.setrecursionlimit(limit)
