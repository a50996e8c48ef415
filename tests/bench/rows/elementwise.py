"""Elementwise functions: one of many sizes, and a chain of ten."""

import numpy as np
from harness.record import Goal, Row, normal

GROUP = "elementwise"


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def sigmoid_by_numba():
    from numba import prange

    def sigmoid(x):
        result = np.empty_like(x)
        for i in prange(x.size):
            result[i] = np.float32(1) / (np.float32(1) + np.exp(-x[i]))
        return result

    return sigmoid


def sigmoid_by_numexpr():
    import numexpr

    return lambda x: numexpr.evaluate("1 / (1 + exp(-x))", {"x": x})


def sigmoid_by_jax():
    import jax

    return jax.nn.sigmoid


def sigmoid_by_tensorflow():
    import tensorflow as tf

    return lambda x: tf.sigmoid(x)


def sigmoid_by_torch():
    import torch

    return lambda x: torch.sigmoid(x)


SIGMOID = {
    "numba": sigmoid_by_numba,
    "numexpr": sigmoid_by_numexpr,
    "jax": sigmoid_by_jax,
    "tensorflow": sigmoid_by_tensorflow,
    "torch": sigmoid_by_torch,
}


def chain(a, b):
    t = a + b
    u = np.exp(-t * t)
    v = np.log(1 + u)
    w = np.tanh(t) * v
    z = np.where(w > 0.1, w, u)
    return z * 2 - np.sqrt(np.abs(t))


def chain_by_numba():
    from numba import prange

    def chain(a, b):
        result = np.empty((a.shape[0], b.shape[1]), a.dtype)
        for i in prange(a.shape[0]):
            for j in range(b.shape[1]):
                t = a[i, 0] + b[0, j]
                u = np.exp(-t * t)
                v = np.log(np.float32(1) + u)
                w = np.tanh(t) * v
                z = w if w > np.float32(0.1) else u
                result[i, j] = z * np.float32(2) - np.sqrt(abs(t))
        return result

    return chain


def chain_by_numexpr():
    import numexpr

    def chain(a, b):
        t = numexpr.evaluate("a + b", {"a": a, "b": b})
        u = numexpr.evaluate("exp(-t * t)", {"t": t})
        w = numexpr.evaluate("tanh(t) * log(1 + u)", {"t": t, "u": u})
        # A number in the text would be float64, and so would the result.
        names = {"t": t, "u": u, "w": w, "least": np.float32(0.1)}
        return numexpr.evaluate("where(w > least, w, u) * 2 - sqrt(abs(t))", names)

    return chain


def chain_by_jax():
    import jax.numpy as jnp

    def chain(a, b):
        t = a + b
        u = jnp.exp(-t * t)
        v = jnp.log(1 + u)
        w = jnp.tanh(t) * v
        z = jnp.where(w > 0.1, w, u)
        return z * 2 - jnp.sqrt(jnp.abs(t))

    return chain


def chain_by_tensorflow():
    import tensorflow as tf

    def chain(a, b):
        t = a + b
        u = tf.exp(-t * t)
        v = tf.math.log(1 + u)
        w = tf.tanh(t) * v
        z = tf.where(w > 0.1, w, u)
        return z * 2 - tf.sqrt(tf.abs(t))

    return chain


def chain_by_torch():
    import torch

    def chain(a, b):
        t = a + b
        u = torch.exp(-t * t)
        v = torch.log(1 + u)
        w = torch.tanh(t) * v
        z = torch.where(w > 0.1, w, u)
        return z * 2 - torch.sqrt(torch.abs(t))

    return chain


CHAIN = {
    "numba": chain_by_numba,
    "numexpr": chain_by_numexpr,
    "jax": chain_by_jax,
    "tensorflow": chain_by_tensorflow,
    "torch": chain_by_torch,
}


def vector(rng, n):
    return (normal(rng, n),)


def column_and_row(rng, n):
    return normal(rng, n, 1), normal(rng, 1, n)


def sigmoid_row(power):
    size = 1 << power
    goal = Goal(0.7) if power >= 10 else Goal(1.0)
    return Row(GROUP, f"sigmoid 2^{power}", sigmoid, vector, size, min(size, 1024), SIGMOID, goal)


def chain_row(n):
    # Where w is 0.1 but for rounding, z may be either.
    return Row(
        GROUP,
        f"chain {n} x {n}",
        chain,
        column_and_row,
        n,
        min(n, 32),
        CHAIN,
        Goal(0.7),
        strays=1e-5,
    )


ROWS = [*map(sigmoid_row, (0, 5, 10, 15, 20, 24)), *map(chain_row, (32, 1024, 4096))]
