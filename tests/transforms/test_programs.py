"""Larger programs: training loops, meta-gradients, functions that update their arguments."""

import numpy as np
import pytest

import graphify
import graphify.numpy as gnp
from tests.differences import numerical_gradient

X = np.array([0.5, -1.25, 2.0])


def fit(rate, target, steps):
    """Gradient descent, each step with a tape of its own."""
    w = np.zeros(3)
    for _ in range(steps):
        with graphify.GradientTape() as tape:
            tape.watch(w)
            loss = np.sum((np.tanh(w) - target) ** 2)
        w = w - rate * tape.gradient(loss, w)
    return w


def plain_fit(rate, target, steps):
    w = np.zeros(3)
    for _ in range(steps):
        w = w - rate * 2 * (np.tanh(w) - target) * (1 - np.tanh(w) ** 2)
    return w


def test_a_training_loop_in_one_graph():
    target = np.array([0.3, -0.4, 0.1])
    staged = graphify.function(fit)
    np.testing.assert_allclose(
        staged(np.array(0.1), target, np.array(40)), plain_fit(0.1, target, 40)
    )


def test_the_gradient_of_a_training_loop():
    target = np.array([0.3, -0.4, 0.1])

    def final_loss(rate, target):
        return np.sum((np.tanh(fit(rate, target, np.array(15))) - target) ** 2)

    def plain(rate, target):
        return np.sum((np.tanh(plain_fit(rate, target, 15)) - target) ** 2)

    gradient = graphify.function(graphify.grad(final_loss, argnums=(0, 1)))
    found = gradient(np.array(0.1), target)
    for k, got in enumerate(found):
        want = numerical_gradient(plain, (np.array(0.1), target), k)
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-7)


def test_a_batch_of_training_loops():
    targets = np.array([[0.3, -0.4, 0.1], [0.0, 0.2, 0.5]])
    run = graphify.function(lambda m: graphify.vmap(lambda t: fit(0.1, t, np.array(20)))(m))
    want = np.stack([plain_fit(0.1, target, 20) for target in targets])
    np.testing.assert_allclose(run(targets), want)


def test_newton_with_a_condition():
    @graphify.function
    def root(a):
        x = a
        while np.abs(x**3 - a) > 1e-12:
            x = x - (x**3 - a) / graphify.grad(lambda v: v**3)(x)
        return x

    np.testing.assert_allclose(root(np.array(5.0)), np.cbrt(5.0))
    np.testing.assert_allclose(graphify.grad(root)(np.array(5.0)), 5.0 ** (-2 / 3) / 3, rtol=1e-5)
    both = graphify.vmap(graphify.grad(root))(np.array([5.0, 2.0]))
    np.testing.assert_allclose(both, np.array([5.0, 2.0]) ** (-2 / 3) / 3, rtol=1e-5)


@graphify.function
def doubled_in_place(x):
    x *= 2.0
    return np.sum(x * x)


def test_a_staged_function_that_updates_its_argument():
    x = X.copy()
    np.testing.assert_allclose(graphify.grad(doubled_in_place)(x), 8 * X)
    np.testing.assert_array_equal(x, 2 * X)
    y = gnp.asarray(X.copy())
    with graphify.GradientTape() as tape:
        tape.watch(y)
        z = doubled_in_place(y) + gnp.sum(y)
    np.testing.assert_allclose(tape.gradient(z, y), 8 * X + 2)
    np.testing.assert_allclose(
        graphify.function(lambda v: graphify.grad(lambda u: doubled_in_place(u) + np.sum(u))(v))(
            X.copy()
        ),
        8 * X + 2,
    )


def test_a_staged_function_that_updates_a_variable():
    total = graphify.Variable(np.zeros(3))

    @graphify.function
    def add(x):
        total.assign_add(x * x)
        return np.sum(total * x)

    with graphify.GradientTape(persistent=True) as tape:
        x = gnp.asarray(X.copy())
        tape.watch(x)
        y = add(x) + add(x)
    np.testing.assert_allclose(total.numpy(), 2 * X * X)
    # x * x**2 + x * 2 x**2
    np.testing.assert_allclose(tape.gradient(y, x), 9 * X * X)
    np.testing.assert_allclose(tape.gradient(y, total), 2 * X)


@pytest.mark.parametrize("staged", [False, True])
def test_power_iteration(staged):
    def largest(m):
        v = gnp.ones(3)
        for _ in range(60):
            v = m @ v
            v = v / gnp.linalg.norm(v)
        return v @ m @ v

    a = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 1.0]])
    run = graphify.function(graphify.grad(largest)) if staged else graphify.grad(largest)
    values, vectors = np.linalg.eigh(a)
    np.testing.assert_allclose(run(a), np.outer(vectors[:, -1], vectors[:, -1]), atol=1e-6)


def test_k_means_objective_per_point():
    points = np.random.default_rng(0).normal(size=(12, 2))
    centres = np.array([[1.0, 0.0], [-1.0, 0.5]])

    def cost(centres, point):
        distances = np.sum((centres - point) ** 2, axis=1)
        return distances[np.argmin(distances)]

    gradients = graphify.function(
        lambda c, p: graphify.vmap(graphify.grad(cost), in_axes=(None, 0))(c, p)
    )
    got = gradients(centres, points)
    for row, point in zip(got, points, strict=True):
        nearest = np.argmin(np.sum((centres - point) ** 2, axis=1))
        want = np.zeros((2, 2))
        want[nearest] = 2 * (centres[nearest] - point)
        np.testing.assert_allclose(row, want)
