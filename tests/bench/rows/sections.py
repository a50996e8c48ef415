"""Independent parts that one thread runs each. TensorFlow and XLA may run them at once, too."""

import numpy as np
from harness.record import Goal, Row, just

GROUP, GOAL = "side by side", Goal(1.0)


def symmetric(rng, n):
    a, b = rng.random((n, n)), rng.random((n, n))
    return a + a.T, b + b.T


def decompositions(a, b):
    return np.linalg.eigvalsh(a), np.linalg.eigvalsh(b)


def decompositions_by_jax():
    import jax.numpy as jnp

    return lambda a, b: (jnp.linalg.eigvalsh(a), jnp.linalg.eigvalsh(b))


def decompositions_by_tensorflow():
    import tensorflow as tf

    return lambda a, b: (tf.linalg.eigvalsh(a), tf.linalg.eigvalsh(b))


# --- recurrences of unequal lengths: equal ones run as one loop ---


def series(rng, n):
    return rng.random(n), rng.random(n + n // 8)


def smoothed(x, y):
    u, v = np.empty_like(x), np.empty_like(y)
    s = 0.0
    for i in range(len(x)):
        s = s * 0.5 + x[i]
        u[i] = s
    t = 0.0
    for i in range(len(y)):
        t = t * 0.25 + y[i]
        v[i] = t
    return u, v


def smoothed_by_jax():
    import jax

    def smooth(x, factor):
        def step(s, value):
            s = s * factor + value
            return s, s

        return jax.lax.scan(step, 0.0, x)[1]

    return lambda x, y: (smooth(x, 0.5), smooth(y, 0.25))


# --- sorts ---


def sorts(x, y):
    return np.sort(x), np.argsort(y)


def sorts_by_jax():
    import jax.numpy as jnp

    return lambda x, y: (jnp.sort(x), jnp.argsort(y))


def sorts_by_tensorflow():
    import tensorflow as tf

    return lambda x, y: (tf.sort(x), tf.argsort(y))


ROWS = [
    Row(
        GROUP,
        "eigenvalues, two of 300 x 300",
        decompositions,
        symmetric,
        size=300,
        quick=20,
        peers={
            "numba": just(decompositions),
            "jax": decompositions_by_jax,
            "tensorflow": decompositions_by_tensorflow,
        },
        goal=GOAL,
    ),
    Row(
        GROUP,
        "recurrences, two of 2^20",
        smoothed,
        series,
        size=1 << 20,
        quick=100,
        peers={"numba": just(smoothed), "jax": smoothed_by_jax},
        goal=GOAL,
    ),
    Row(
        GROUP,
        "sorts, two of 2^18",
        sorts,
        series,
        size=1 << 18,
        quick=100,
        peers={
            "numba": just(sorts),
            "jax": sorts_by_jax,
            "tensorflow": sorts_by_tensorflow,
        },
        goal=GOAL,
    ),
]
