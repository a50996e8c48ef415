"""Programs as users write them, each with the pass that it is there for, against plain Python.

Every program runs on several sizes, so that both exact and symbolic sizes are compiled.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphify
from graphify.engines.base import get_engine
from graphify.engines.native.loops.program import For, Swap
from graphify.engines.native.loops.walk import statements
from tests.tolerances import assert_close

CASES: list[tuple[Callable[..., Any], Callable[[Any, int], tuple[Any, ...]]]] = []


def case(arguments: Callable[[Any, int], tuple[Any, ...]]) -> Callable[..., Any]:
    """A program and its arguments for a generator and a size."""

    def keep(function: Callable[..., Any]) -> Callable[..., Any]:
        CASES.append((function, arguments))
        return function

    return keep


# --- fusion, sharing, sums in parts ---------------------------------------------------------------


@case(lambda r, n: (r.normal(size=(n, 41)),))
def standardised(x):
    return (x - x.mean(axis=0)) / (x.std(axis=0) + 1)


@case(lambda r, n: (r.normal(size=(n, 7, 3)), r.normal(size=(n, 7, 3))))
def root_mean_square(a, b):
    return np.sqrt(((a - b) ** 2).mean(axis=(0, 1)))


@case(lambda r, n: (r.normal(size=(n, 30)).astype("f"),))
def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@case(lambda r, n: (r.normal(size=(n + 1, 33)).astype("f"),))
def total_of_a_part(x):
    return x[1:, 2:].sum(), x.max(axis=0), x.min(axis=1)


@case(lambda r, n: (r.normal(size=n + 1),))
def outer_product_before_an_update(x):
    steps = np.diff(x)
    table = steps[:, None] * steps
    steps /= 1 + steps * steps  # must not overwrite what later rows of the table are made of
    return steps, table


@case(lambda r, n: (r.normal(size=n), np.asarray(5)))
def squared_differences_of_each_turn(x, k):
    total = np.zeros((len(x), len(x)))
    for i in range(k):
        moved = np.cumsum(x) + i
        total += (moved[:, None] - moved) ** 2
        x = np.sin(moved) * 2
    return total, x


@case(lambda r, n: (r.normal(size=(n, n)),))
def sums_of_rows_and_of_columns(w):
    e = np.exp(w - w.max())
    by_row, by_column = e / e.sum(axis=1, keepdims=True), e / e.sum(axis=0)
    return by_row, by_column, np.sqrt(e)


# --- arrays that loops carry ----------------------------------------------------------------------


@case(lambda r, n: (r.normal(size=n), np.asarray(7)))
def heat(u, steps):
    for _ in range(steps):
        v = u.copy()
        v[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
        u = v
    return u


@case(lambda r, n: (r.normal(size=(n, 9)) * 3,))
def relaxed(u):
    k = 0
    while abs(u).max() > 0.5 and k < 20:
        u = 0.25 * (np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1))
        k += 1
    return u, k


@case(lambda r, n: (r.normal(size=n), r.normal(size=n)))
def exchanged(a, b):
    for _ in range(30):
        a, b = b, a * 0.5 + b
    return a, b


@case(lambda r, n: (r.normal(size=n),))
def folded(u):
    for _ in range(31):
        u = u[::-1] * 0.5 + u * 0.5
    return u


@case(lambda r, n: (r.random((5, 5)) / 3, np.asarray(n % 4)))
def matrix_power(a, n):
    x = a
    for _ in range(n):
        x = x @ a
    return x


# --- index arithmetic and scalar loops ------------------------------------------------------------


@case(lambda r, n: (np.sort(r.normal(size=n)), r.normal(size=())))
def bisected(a, x):
    low, high = 0, len(a)
    while low < high:
        middle = (low + high) // 2
        if a[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low


@case(lambda r, n: (r.permutation(n).astype(float), np.asarray(1.0)))
def found(a, x):
    i = 0
    while i < len(a) and a[i] != x:
        i += 1
    return i


@case(lambda r, n: (r.normal(size=n),))
def reversed_in_place(a):
    i, j = 0, len(a) - 1
    while i < j:
        a[i], a[j] = a[j], a[i]
        i += 1
        j -= 1
    return a


@case(lambda r, n: (r.normal(size=(n, 13)), r.normal(size=(13, n + 3))))
def product(a, b):
    n, m = a.shape
    c = np.zeros((n, b.shape[1]))
    for i in range(n):
        for j in range(b.shape[1]):
            s = 0.0
            for k in range(m):
                s += a[i, k] * b[k, j]
            c[i, j] = s
    return c


@case(lambda r, n: (r.normal(size=n), r.integers(-10, 10, n)))
def histogram(x, k):
    h = np.zeros(10)
    for i in range(len(x)):
        h[k[i]] += x[i]
    return h


@case(lambda r, n: (r.normal(size=n),))
def leaky(x):
    y = np.empty_like(x)
    for i in range(len(x)):
        if x[i] > 0:
            y[i] = x[i]
        else:
            y[i] = 0.01 * x[i]
    return y


@case(lambda r, n: (np.linspace(-2, 1, n, dtype="f"), np.linspace(-1.5, 1.5, 9, dtype="f")))
def escape_times(xs, ys):
    times = np.zeros((len(ys), len(xs)), np.int32)
    for i in range(len(ys)):
        for j in range(len(xs)):
            zr = zi = xs[j] * 0
            steps = 0
            while steps < 30 and zr * zr + zi * zi <= 4:
                zr, zi = zr * zr - zi * zi + xs[j], 2 * zr * zi + ys[i]
                steps += 1
            times[i, j] = steps
    return times


@pytest.mark.parametrize("function, arguments", CASES, ids=[f.__name__ for f, _ in CASES])
def test_program(function: Callable[..., Any], arguments: Callable[..., Any]) -> None:
    staged = graphify.function(function, engine="native")
    for n in (12, 300, 31, 33, 64):
        args = arguments(np.random.default_rng(n), n)
        plain_args, our_args = ([np.array(a) for a in args] for _ in range(2))
        want, got = function(*plain_args), staged(*our_args)
        for w, g in zip(*(x if isinstance(x, tuple) else (x,) for x in (want, got)), strict=True):
            assert_close(np.asarray(g), np.asarray(w), loss=100)
        for w, g in zip(plain_args, our_args, strict=True):
            assert_close(g, w, loss=100)


def loops(function: Callable[..., Any], *args: Any) -> list[Any]:
    graph = graphify.function(function).get_concrete_function(*args).graph
    return list(statements(get_engine("native").compile(graph).lowered().program.body))


def test_lu_from_scalar_loops_runs_in_lanes_and_threads() -> None:
    def lu(a):
        n = a.shape[0]
        a = a.copy()
        for k in range(n):
            for i in range(k + 1, n):
                a[i, k] = a[i, k] / a[k, k]
                for j in range(k + 1, n):
                    a[i, j] -= a[i, k] * a[k, j]
        return a

    kinds = [s.kind for s in loops(lu, np.eye(40)) if isinstance(s, For)]
    assert kinds == ["parallel", "vector", "serial", "parallel", "vector"]


def test_a_loop_that_makes_its_array_anew_copies_nothing() -> None:
    assert any(isinstance(s, Swap) for s in loops(folded, np.ones(50)))
