"""Derivatives through staged branches, calls and loops, with fixed and with symbolic sizes.

Each program is plain NumPy code; staged, its control flow depends on `n` or on values.
"""

import numpy as np
import pytest

import graphify
import graphify.numpy as gnp
from tests.differences import check_grads, numerical_gradient, weighted

X = np.array([0.5, -1.25, 0.8, 0.75])
N = np.array(11)


def branch(x, n):
    if n > 3:
        y = np.sin(x) * x[0]
    else:
        y = x * 2.0
    return y * x


def branch_by_value(x, n):
    if np.sum(x) > 0:
        y = x * x
    else:
        y = x
    if x[1] > 0:
        y = y * 100.0
    return y


def branch_constant_side(x, n):
    if n > 100:
        y = np.ones(4)
    else:
        y = x**3
    return y


def counted(x, n):
    total = np.zeros(4)
    for i in range(n):
        total = total * x + np.cos(x) * i
    return total


def until(x, n):
    y = x * 1.0
    turns = 0
    while np.sum(y * y) < 50.0:
        y = y * 1.5 + np.sin(y) * x
        turns += 1
    return y * turns


def elementwise_loop(x, n):
    out = np.zeros(4)
    for i in range(n):
        k = i % 4
        out[k] = out[k - 1] * x[k] + x[k] * x[k]
    return out


def rows(x, n):
    total = np.zeros(())
    for v in x:
        total = total * 0.5 + v * v
    return total * x


def early_exit(x, n):
    y = x * 1.0
    for i in range(n):
        if np.sum(y) > 3.0:
            break
        y = y + x * x
    return y


def nested(x, n):
    y = x * 1.0
    for i in range(n):
        j = 0
        while j < 2:
            if y[j] > 1.0:
                y = y * 0.5
            else:
                y = y + x * x[j]
            j += 1
    return y


def dead_carry(x, n):
    noise = np.zeros(4)
    y = x
    for i in range(n):
        noise = noise + np.exp(x)
        y = np.tanh(y + x)
    return y


def no_turns(x, n):
    y = x * 3.0
    while n > 100:
        y = np.sin(y)
        n = n - 1
    return y * x


PROGRAMS = [
    branch, branch_by_value, branch_constant_side, counted, until, elementwise_loop, rows,
    early_exit, nested, dead_carry, no_turns,
]  # fmt: skip


def plain(f):
    return lambda x: f(np.asarray(x), int(N))


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradient_of_a_staged_function(f):
    staged = graphify.function(f)
    scalar = weighted(staged)
    want = numerical_gradient(weighted(plain(f)), (X,), 0)
    np.testing.assert_allclose(graphify.grad(scalar)(X, N), want, rtol=1e-5, atol=1e-6)
    tangent = np.array([0.3, -1.0, 2.0, 0.1])
    _, slope = graphify.jvp(lambda x: scalar(x, N), (X,), (tangent,))
    np.testing.assert_allclose(slope, (want * tangent).sum(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradient_inside_a_staged_function(f):
    scalar = weighted(f)
    want = numerical_gradient(weighted(plain(f)), (X,), 0)
    got = graphify.function(graphify.grad(scalar))(X, N)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_second_order(f):
    scalar = weighted(f)
    gradient = weighted(graphify.grad(scalar))
    want = numerical_gradient(lambda x: graphify.function(gradient)(x, N), (X,), 0)
    staged = graphify.function(graphify.grad(gradient))
    np.testing.assert_allclose(staged(X, N), want, rtol=1e-4, atol=1e-5)
    # forward over reverse
    forward = graphify.function(
        lambda x, n, t: graphify.jvp(lambda v: gradient(v, n), (x,), (t,))[1]
    )
    tangent = np.array([0.3, -1.0, 2.0, 0.1])
    np.testing.assert_allclose(forward(X, N, tangent), (want * tangent).sum(), rtol=1e-4, atol=1e-5)


def scaled(x, n):
    """Shapes that follow the argument's."""
    y = x * 1.0
    while np.sum(y) < n:
        y = y + np.abs(x)
    if y[0] > 2.0:
        y = y * x
    for i in range(n):
        y = y * 0.9 + x / (i + 1)
    return y


def test_symbolic_sizes():
    @graphify.function(
        input_signature=[graphify.TensorSpec(("m",), "float64"), graphify.TensorSpec((), "int64")]
    )
    def gradient(x, n):
        return graphify.grad(weighted(scaled))(x, n)

    for size in (3, 5):
        x = np.linspace(0.3, 1.1, size)
        want = numerical_gradient(weighted(lambda v: scaled(v, 9)), (x,), 0)
        np.testing.assert_allclose(gradient(x, np.array(9)), want, rtol=1e-5, atol=1e-6)
    assert len(gradient.concrete_functions) == 1


def test_symbolic_sizes_second_order_and_zero_turns():
    @graphify.function(
        input_signature=[graphify.TensorSpec(("m",), "float64"), graphify.TensorSpec((), "int64")]
    )
    def curvature(x, n):
        return graphify.grad(weighted(graphify.grad(weighted(scaled))))(x, n)

    for n in (9, 0):
        x = np.linspace(0.3, 1.1, 4)
        inner = weighted(graphify.grad(weighted(scaled)))
        want = numerical_gradient(lambda v, n=n, inner=inner: inner(v, n), (x,), 0)
        np.testing.assert_allclose(curvature(x, np.array(n)), want, rtol=1e-4, atol=1e-5)


def test_map_and_call():
    @graphify.function
    def half(v, w):
        return gnp.sum(gnp.sin(v) * w)

    def f(m, w):
        return graphify.map_fn(lambda v: half(v, w) * v[0], m)

    m = np.arange(6.0).reshape(3, 2) / 5
    check_grads(f, m, np.array([0.7, -0.2]))
    staged = graphify.function(f)
    check_grads(staged, m, np.array([0.7, -0.2]))


def test_scan_and_functional_loops():
    def f(x):
        c, ys = graphify.scan(lambda c, v: (c * v + 1.0, c * c), 0.5, x)
        z = graphify.fori_loop(0, 10, lambda i, s: s * 0.9 + gnp.sin(x) * i, x)
        return ys * c + z

    check_grads(f, X)


def test_only_what_the_backward_loop_reads_is_kept():
    from graphify.transforms import loops

    kept = []
    original = loops._Reverse.saved

    def saved(self):
        kept.append(sum(self.uses[0]))
        return original(self)

    @graphify.function
    def f(x, n):
        big, small = x * 1.0, np.sum(x)
        for _ in range(n):
            big = big + x  # linear: the backward pass reads nothing of it
            small = np.sin(small)
        return np.sum(big) + small

    loops._Reverse.saved = saved
    try:
        gradient = graphify.grad(f)(X, N)
    finally:
        loops._Reverse.saved = original
    assert kept == [1]
    want = numerical_gradient(lambda x: float(f(x, N)), (X,), 0)
    np.testing.assert_allclose(gradient, want, rtol=1e-5)


def test_effects_are_not_repeated(capsys):
    @graphify.function
    def f(x, n):
        for i in range(n):
            if i == 3:
                graphify.print("three")
            x = np.sin(x)
        return np.sum(x)

    graphify.grad(f)(X, N)
    graphify.function(lambda x, n: graphify.grad(f)(x, n))(X, N)
    assert capsys.readouterr().out == "three\n" * 2


def growing(x, n):
    y = x
    for i in range(n):
        y = np.concatenate([y, np.sin(y[-1:]) * x[:1] + i])
    return y


def shrinking(x, n):
    y = np.concatenate([x, x, x * x, x])
    while y.shape[0] > 3:
        y = np.tanh(y[1:] * y[:-1]) + y[1:]
    return y


@pytest.mark.parametrize("f", [growing, shrinking], ids=lambda f: f.__name__)
def test_carried_arrays_that_change_their_shape(f):
    staged = graphify.function(f)
    scalar = weighted(f)
    want = numerical_gradient(weighted(staged), (X, N), 0)
    np.testing.assert_allclose(graphify.grad(weighted(staged))(X, N), want, rtol=1e-5, atol=1e-6)
    gradient = graphify.function(graphify.grad(scalar))
    np.testing.assert_allclose(gradient(X, N), want, rtol=1e-5, atol=1e-6)
    tangent = np.array([0.3, -1.0, 2.0, 0.1])
    slope = graphify.function(lambda x, n, t: graphify.jvp(lambda v: scalar(v, n), (x,), (t,))[1])
    np.testing.assert_allclose(slope(X, N, tangent), (want * tangent).sum(), rtol=1e-5)
    along = weighted(graphify.grad(scalar))
    want = numerical_gradient(lambda x: graphify.function(along)(x, N), (X,), 0)
    np.testing.assert_allclose(
        graphify.function(graphify.grad(along))(X, N), want, rtol=1e-4, atol=1e-5
    )


def test_integer_carries_have_no_gradient_but_are_replayed():
    @graphify.function
    def f(x, n):
        k, y = 0, x
        while k < n:
            k = k + 1 + k % 2
            y = y * x + k
        return np.sum(y) + k

    def g(x):
        k, y = 0, x
        while k < 11:
            k = k + 1 + k % 2
            y = y * x + k
        return float(np.sum(y) + k)

    np.testing.assert_allclose(graphify.grad(f)(X, N), numerical_gradient(g, (X,), 0), rtol=1e-5)
