"""Sums of several turns at once: bit for bit what one turn after the other gives."""

import itertools

import numpy as np
import pytest

pytest.importorskip("llvmlite")

import graphify
from graphify.config import config

VECTOR = graphify.TensorSpec((None,), np.float64)
MATRIX = graphify.TensorSpec((None, None), np.float64)
SIZES = [0, 1, 2, 3, 4, 5, 7, 8, 13, 33]


@pytest.fixture(autouse=True)
def fresh():
    with config(cache=False):
        yield


def staged(function, *specs):
    return graphify.function(function).get_concrete_function(*specs)


def is_jammed(concrete):
    return "for g in" in str(concrete.lower())


def definite(n):
    a = np.random.default_rng(n).random((n, n))
    return a @ a.T + n * np.eye(n)


def of_shapes(function, *args):
    """With the lengths in the graph: no check is left between what is done at once."""
    return staged(function, *(graphify.TensorSpec(a.shape, a.dtype) for a in args))


def same(concrete, function, *args):
    want = function(*(a.copy() for a in args))
    np.testing.assert_array_equal(np.asarray(concrete(*args)), want)


def cholesky(a, b):
    n = a.shape[0]
    factor = np.zeros_like(a)
    for i in range(n):
        for j in range(i + 1):
            total = a[i, j]
            for k in range(j):
                total -= factor[i, k] * factor[j, k]
            if i == j:
                factor[i, j] = np.sqrt(total)
            else:
                factor[i, j] = total / factor[j, j]
    return factor


def forward(a, b):
    """L x = b, the solution in place of b."""
    x = b.copy()
    for j in range(len(x)):
        total = x[j]
        for k in range(j):
            total -= a[j, k] * x[k]
        x[j] = total / a[j, j]
    return x


def backward(a, b):
    """L^T x = b, from the last unknown on."""
    n = len(b)
    x = np.zeros_like(b)
    for j in range(n):
        total = b[n - 1 - j]
        for k in range(j):
            total -= a[n - 1 - k, n - 1 - j] * x[n - 1 - k]
        x[n - 1 - j] = total / a[n - 1 - j, n - 1 - j]
    return x


def two_sums(a, b):
    """Two sums in one loop, of which one is rounded to another dtype."""
    x = np.zeros_like(b)
    for j in range(len(b)):
        total = b[j]
        weight = np.float32(1)
        for k in range(j):
            total += a[j, k] * x[k]
            weight += np.float32(a[j, k])
        x[j] = total / (weight + abs(total))
    return x


def gauss_seidel(a, b):
    """The sum of a row goes over all unknowns, new and old: what comes last is read at once."""
    x = b * 0.5
    for j in range(len(b)):
        total = b[j]
        for k in range(len(b)):
            total -= a[j, k] * x[k]
        x[j] += total / a[j, j]
    return x


@pytest.mark.parametrize("function", [cholesky, forward, backward, two_sums])
def test_triangular(function):
    symbolic = staged(function, MATRIX, VECTOR)
    for n in SIZES:
        args = definite(n), np.random.default_rng(n).random(n)
        concrete = of_shapes(function, *args)
        assert n <= 8 or is_jammed(concrete)
        same(concrete, function, *args)
        same(symbolic, function, *args)


def test_lengths_that_only_the_run_knows():
    """Where one argument has all of them."""
    concrete = staged(lambda a: cholesky(a, a), MATRIX)
    assert is_jammed(concrete)
    for n in SIZES:
        same(concrete, lambda a: cholesky(a, a), definite(n))


def test_turns_that_read_what_another_one_writes_stay_apart():
    for n in SIZES:
        args = definite(n), np.random.default_rng(n).random(n)
        concrete = of_shapes(gauss_seidel, *args)
        assert not is_jammed(concrete)
        same(concrete, gauss_seidel, *args)


# Where a turn reads x (in front of its sum, and in it), where it writes, how long its sum is.
OFFSETS = [
    (first, inner, out, more)
    for first, inner, out, more in itertools.product((0, 1, -1), (0, -1, 1, 2), (0, 1), (0, 1, -2))
    if (first, inner) != (0, 0) or out
]
PROGRAM = """
import numpy as np


def program(x):
    x = x.copy()
    n = len(x) - 8
    for j in range(n):
        total = x[j + 3 + {first}]
        for k in range(j + {more}):
            total = total * 0.5 - x[k + 3 + {inner}]
        x[j + 3 + {out}] = total + x[j + 2]
    return x
"""


@pytest.mark.parametrize("offsets", OFFSETS)
def test_offsets(offsets, tmp_path):
    """Whatever may be done at once, the result is the same."""
    first, inner, out, more = offsets
    path = tmp_path / "program.py"
    path.write_text(PROGRAM.format(first=first, inner=inner, out=out, more=more))
    space = {}
    exec(compile(path.read_text(), str(path), "exec"), space)
    concrete = staged(space["program"], VECTOR)
    for n in (8, 9, 11, 12, 13, 18, 30):
        same(concrete, space["program"], np.random.default_rng(n).random(n))


def test_some_offsets_are_jammed_and_some_are_not(tmp_path):
    found = set()
    for number, (inner, out) in enumerate([(0, 0), (2, 0), (0, 1), (1, 1)]):
        path = tmp_path / f"program_{number}.py"
        path.write_text(PROGRAM.format(first=0, inner=inner, out=out, more=0))
        space = {}
        exec(compile(path.read_text(), str(path), "exec"), space)
        found.add((inner, out, is_jammed(staged(space["program"], VECTOR))))
    assert found == {(0, 0, True), (2, 0, False), (0, 1, False), (1, 1, False)}


def test_the_first_turn_that_fails_counts():
    def looked_up(table, at):
        x = np.zeros(len(at))
        for j in range(len(at)):
            total = table[at[j]]
            for k in range(j):
                total -= 0.5 * x[k]
            x[j] = total
        return x

    concrete = staged(looked_up, VECTOR, graphify.TensorSpec((None,), np.int64))
    table = np.arange(5.0)
    same(concrete, looked_up, table, np.array([0, 4, 3, 2, 1, 0]))
    for n in (1, 3, 4, 6, 9):
        for bad in range(n):
            at = np.zeros(n, np.int64)
            at[bad:] = 7 + np.arange(n - bad)
            with pytest.raises(IndexError, match=f"index {at[bad]} "):
                concrete(table, at)


def test_integers_and_lanes_stay_as_they_are():
    def counts(x):
        y = np.zeros_like(x)
        for j in range(len(x)):
            total = x[j]
            for k in range(j):
                total -= y[k]
            y[j] = total
        return y

    concrete = of_shapes(counts, np.arange(20))
    assert not is_jammed(concrete)
    same(concrete, counts, np.arange(20) * 7)
    a = np.stack([definite(9) + k * np.eye(9) for k in range(6)])
    b = np.random.default_rng(0).random((6, 9))
    mapped = of_shapes(graphify.vmap(forward), a, b)
    want = np.stack([forward(x, y) for x, y in zip(a, b, strict=True)])
    np.testing.assert_allclose(np.asarray(mapped(a, b)), want, rtol=1e-12)


def test_gradient():
    def loss(b):
        return forward(definite_5, b).sum()

    definite_5 = definite(5)
    b = np.random.default_rng(1).random(5)
    got = np.asarray(graphify.grad(loss)(b))
    for k in range(5):
        step = np.zeros(5)
        step[k] = 1e-6
        want = (loss(b + step) - loss(b - step)) / 2e-6
        assert abs(got[k] - want) < 1e-6
