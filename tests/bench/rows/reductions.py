"""Reductions, and what is made of them: softmax, layer norm, mean and variance."""

import numpy as np
from harness.record import Goal, Row, normal

GROUP, GOAL = "reductions", Goal(0.7)


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def softmax_by_numba():
    from numba import prange

    def softmax(x):
        result = np.empty_like(x)
        for i in prange(x.shape[0]):
            most = x[i].max()
            total = np.float32(0)
            for j in range(x.shape[1]):
                e = np.exp(x[i, j] - most)
                result[i, j] = e
                total += e
            for j in range(x.shape[1]):
                result[i, j] /= total
        return result

    return softmax


def softmax_by_jax():
    import jax

    return lambda x: jax.nn.softmax(x, axis=-1)


def softmax_by_tensorflow():
    import tensorflow as tf

    return lambda x: tf.nn.softmax(x, axis=-1)


def softmax_by_torch():
    import torch

    return lambda x: torch.softmax(x, dim=-1)


def layer_norm(x, gain, bias):
    mean = x.mean(axis=-1, keepdims=True)
    centred = x - mean
    variance = (centred * centred).mean(axis=-1, keepdims=True)
    return centred / np.sqrt(variance + np.float32(1e-5)) * gain + bias


def layer_norm_by_numba():
    from numba import prange

    def layer_norm(x, gain, bias):
        result = np.empty_like(x)
        n = x.shape[1]
        for i in prange(x.shape[0]):
            mean = np.float32(0)
            for j in range(n):
                mean += x[i, j]
            mean /= n
            variance = np.float32(0)
            for j in range(n):
                d = x[i, j] - np.float32(mean)
                variance += d * d
            scale = np.float32(1 / np.sqrt(variance / n + 1e-5))
            for j in range(n):
                result[i, j] = (x[i, j] - np.float32(mean)) * scale * gain[j] + bias[j]
        return result

    return layer_norm


def layer_norm_by_jax():
    import jax.numpy as jnp

    def layer_norm(x, gain, bias):
        mean = x.mean(axis=-1, keepdims=True)
        variance = x.var(axis=-1, keepdims=True)
        return (x - mean) / jnp.sqrt(variance + jnp.float32(1e-5)) * gain + bias

    return layer_norm


def layer_norm_by_tensorflow():
    import tensorflow as tf

    def layer_norm(x, gain, bias):
        mean, variance = tf.nn.moments(x, axes=[-1], keepdims=True)
        return tf.nn.batch_normalization(x, mean, variance, bias, gain, 1e-5)

    return layer_norm


def layer_norm_by_torch():
    import torch

    return lambda x, gain, bias: torch.nn.functional.layer_norm(x, x.shape[-1:], gain, bias, 1e-5)


def moments(x):
    return x.mean(), x.var()


def moments_by_numba():
    from numba import prange

    def moments(x):
        total = np.float32(0)
        for i in prange(x.size):
            total += x[i]
        mean = np.float32(total / x.size)
        squares = np.float32(0)
        for i in prange(x.size):
            squares += (x[i] - mean) * (x[i] - mean)
        return mean, np.float32(squares / x.size)

    return moments


def moments_by_jax():
    return lambda x: (x.mean(), x.var())


def moments_by_tensorflow():
    import tensorflow as tf

    return lambda x: tf.nn.moments(x, axes=[0])


def moments_by_torch():
    import torch

    return lambda x: torch.var_mean(x, correction=0)[::-1]


SOFTMAX = {
    "numba": softmax_by_numba,
    "jax": softmax_by_jax,
    "tensorflow": softmax_by_tensorflow,
    "torch": softmax_by_torch,
}
LAYER_NORM = {
    "numba": layer_norm_by_numba,
    "jax": layer_norm_by_jax,
    "tensorflow": layer_norm_by_tensorflow,
    "torch": layer_norm_by_torch,
}
MOMENTS = {
    "numba": moments_by_numba,
    "jax": moments_by_jax,
    "tensorflow": moments_by_tensorflow,
    "torch": moments_by_torch,
}


def matrix(rng, n):
    return (normal(rng, n, n),)


def matrix_gain_bias(rng, n):
    return normal(rng, n, n), normal(rng, n), normal(rng, n)


def vector(rng, n):
    return (normal(rng, n) + np.float32(0.5),)


def sizes(name, function, inputs, peers, numbers):
    """A row of each size."""
    return [
        Row(
            GROUP, f"{name} {text}", function, inputs, n, min(n, small), peers, GOAL, tolerance=1e-3
        )
        for text, n, small in numbers
    ]


SQUARES = [(f"{n} x {n}", n, 32) for n in (32, 1024, 4096)]
LENGTHS = [(f"2^{power}", 1 << power, 1024) for power in (10, 15, 20, 24)]

ROWS = [
    *sizes("softmax", softmax, matrix, SOFTMAX, SQUARES),
    *sizes("layer norm", layer_norm, matrix_gain_bias, LAYER_NORM, SQUARES[1:]),
    *sizes("mean and variance", moments, vector, MOMENTS, LENGTHS),
]
