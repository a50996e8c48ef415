"""Derivatives and batching where axis lengths are known only at run time."""

import numpy as np
import pytest

import graphify
from tests.differences import numerical_gradient, weighted


def doubled_while(x):
    y = np.concatenate([x, x * 2.0])
    while np.sum(y) < 20.0:
        y = y * 1.5 + np.sin(y)
    return y[1:]


def joined_for(x):
    y = np.concatenate([x[1:], x * 2.0])
    for i in range(12):
        y = y * 0.9 + np.cos(y) * 0.1 * i
    return y


def shortened_branch(x):
    y = x[1:] * x[:-1]
    if y[0] > 0:
        z = y * 2.0
    else:
        z = np.sin(y)
    return z * y


def masked_for(x):
    y = x[x > 0.35]
    for _ in range(12):
        y = y * 0.9 + np.cos(y)
    return np.sum(y) * x


def masked_branch(x):
    y = x[x > 0.15]
    if y[-1] > 0.55:
        y = y * y
    return np.sum(y) * x


def by_rows(x):
    total = 0.0
    for row in np.outer(x, x):
        total = total + np.max(row) * row[0]
    return total * x


def turns_by_size(x):
    w, h = np.outer(x, x), x
    for i in range(x.shape[0]):
        h = np.tanh(w @ h) + x[i]
    return h


def shrinking_slices(x):
    y = x * 1.0
    for i in range(x.shape[0] - 1):
        y[i + 1 :] += y[i] * x[i]
    return y


def reshaped(x):
    y = np.concatenate([x, x]).reshape(2, -1)
    for _ in range(10):
        y = y * 0.5 + y[::-1] * 0.1
    return y.sum(axis=0) * x


PROGRAMS = [
    doubled_while,
    joined_for,
    shortened_branch,
    masked_for,
    masked_branch,
    by_rows,
    turns_by_size,
    shrinking_slices,
    reshaped,
]
VECTOR = [graphify.TensorSpec(("n",), "float64")]
MATRIX = [graphify.TensorSpec(("b", "n"), "float64")]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_first_and_second_derivatives(f):
    scalar = weighted(f)
    along = weighted(graphify.function(graphify.grad(scalar)))
    first = graphify.function(graphify.grad(scalar), input_signature=VECTOR)
    second = graphify.function(
        graphify.grad(weighted(graphify.grad(scalar))), input_signature=VECTOR
    )
    for n in (3, 5):
        x = np.linspace(0.3, 0.9, n)
        want = numerical_gradient(weighted(graphify.function(f)), (x,), 0)
        np.testing.assert_allclose(first(x), want, rtol=1e-5, atol=1e-6)
        want = numerical_gradient(along, (x,), 0)
        np.testing.assert_allclose(second(x), want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_batches(f):
    def wider(m):
        return graphify.vmap(f)(np.concatenate([m, m[1:]]))

    m = np.linspace(0.2, 0.9, 12).reshape(3, 4)
    gradient = graphify.grad(weighted(f))
    for transform, lane, rows in (
        (graphify.vmap(f), f, m),
        (wider, f, np.concatenate([m, m[1:]])),
        (graphify.vmap(gradient), gradient, m),
    ):
        got = graphify.function(transform, input_signature=MATRIX)(m)
        want = np.stack([graphify.function(lane)(row) for row in rows])
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9)
