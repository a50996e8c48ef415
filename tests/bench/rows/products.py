"""Matrix products of many sizes, and a hundred small ones in a row."""

import numpy as np
from harness.record import Goal, Row, normal

GROUP, GOAL = "products", Goal(1.05)


def matmul(a, b):
    return np.matmul(a, b)


def float_matmul_by_numba():
    return lambda a, b: np.dot(a, b)


def int_matmul_by_numba():
    from numba import prange

    def matmul(a, b):  # np.dot calls BLAS, which has no integers
        result = np.zeros((a.shape[0], b.shape[1]), a.dtype)
        for i in prange(a.shape[0]):
            for k in range(a.shape[1]):
                for j in range(b.shape[1]):
                    result[i, j] += a[i, k] * b[k, j]
        return result

    return matmul


def matmul_by_jax():
    import jax.numpy as jnp

    return lambda a, b: jnp.matmul(a, b)


def matmul_by_tensorflow():
    import tensorflow as tf

    return lambda a, b: tf.matmul(a, b)


def matmul_by_torch():
    import torch

    return lambda a, b: torch.matmul(a, b)


MATMUL = {
    "jax": matmul_by_jax,
    "tensorflow": matmul_by_tensorflow,
    "torch": matmul_by_torch,
}


def power(x):
    result = np.eye(10, dtype=np.int32)
    for _ in range(100):
        result = np.matmul(x, result)
    return result


def power_by_numba():
    def power(x):
        n = x.shape[0]
        result = np.zeros_like(x)
        for i in range(n):
            result[i, i] = 1
        for _ in range(100):
            product = np.zeros_like(x)
            for i in range(n):
                for k in range(n):
                    for j in range(n):
                        product[i, j] += x[i, k] * result[k, j]
            result = product
        return result

    return power


def power_by_jax():
    import jax
    import jax.numpy as jnp

    def power(x):
        start = jnp.eye(10, dtype=jnp.int32)
        return jax.lax.fori_loop(0, 100, lambda _, result: jnp.matmul(x, result), start)

    return power


def power_by_tensorflow():
    import tensorflow as tf

    def power(x):
        result = tf.eye(10, dtype=tf.int32)
        for _ in range(100):
            result = tf.matmul(x, result)
        return result

    return power


def power_by_torch():
    import torch

    def power(x):
        result = torch.eye(10, dtype=torch.int32)
        for _ in range(100):
            result = torch.matmul(x, result)
        return result

    return power


POWER = {
    "numba": power_by_numba,
    "jax": power_by_jax,
    "tensorflow": power_by_tensorflow,
    "torch": power_by_torch,
}


def small_integers(rng, *shape):
    """As in the guide: -1, 0 and 1."""
    return rng.integers(-1, 2, shape, dtype=np.int32)


def float32s(rng, n):
    return normal(rng, n, n), normal(rng, n, n)


def float64s(rng, n):
    return normal(rng, n, n, dtype="float64"), normal(rng, n, n, dtype="float64")


def int32s(rng, n):
    return small_integers(rng, n, n), small_integers(rng, n, n)


def exact(a, b):
    """The product of small integers."""
    return np.matmul(a.astype(np.float64), b.astype(np.float64)).astype(np.int32)


KINDS = {
    "float32": (float32s, float_matmul_by_numba),
    "float64": (float64s, float_matmul_by_numba),
    "int32": (int32s, int_matmul_by_numba),
}


def matmul_row(n, dtype):
    inputs, numba = KINDS[dtype]
    goal = Goal(1.05, numpy=0.6) if (n, dtype) == (1024, "float32") else GOAL
    large = (n, dtype) == (2048, "int32")  # NumPy takes more than a minute
    return Row(
        GROUP,
        f"matmul {n} {dtype}",
        matmul,
        inputs,
        size=n,
        quick=min(n, 32),
        peers={"numba": numba, **MATMUL},
        goal=goal,
        reference=exact if large else None,
        without=("NumPy",) if large else (),
    )


SIZES = (32, 64, 128, 256, 512, 1024, 2048)

ROWS = [
    *(matmul_row(n, dtype) for dtype in KINDS for n in SIZES),
    Row(
        GROUP,
        "100 products 10 x 10 int32",
        power,
        lambda rng, n: (small_integers(rng, n, n),),
        size=10,
        quick=10,
        peers=POWER,
        goal=GOAL,
    ),
]
