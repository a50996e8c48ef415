"""Gradients of the guide's model: a dense layer with relu, then a linear one, squared loss."""

import numpy as np
from harness.record import Goal, Row, normal

GROUP, GOAL = "gradients", Goal(0.7)


def gradients(weights, inputs, labels):
    """By hand, as whoever has no transformations must write them."""
    w1, bias, w2 = weights
    before = inputs @ w1 + bias
    hidden = np.maximum(before, 0)
    error = 2 * (hidden @ w2 - labels)
    back = (error @ w2.T) * (before > 0)
    return inputs.T @ back, back.sum(axis=0), hidden.T @ error


def per_example(weights, inputs, labels):
    w1, bias, w2 = weights
    before = inputs @ w1 + bias
    hidden = np.maximum(before, 0)
    error = 2 * (hidden @ w2 - labels)
    back = (error @ w2.T) * (before > 0)
    return inputs[:, :, None] * back[:, None, :], back, hidden[:, :, None] * error[:, None, :]


def loss(weights, inputs, labels):
    w1, bias, w2 = weights
    hidden = np.maximum(np.matmul(inputs, w1) + bias, 0)
    return np.sum(np.square(np.matmul(hidden, w2) - labels))


def by_graphify():
    import graphify

    return graphify.grad(loss)


def per_example_by_graphify():
    import graphify

    def per_example(weights, inputs, labels):
        one = graphify.grad(loss)
        return graphify.vectorized_map(lambda pair: one(weights, *pair), (inputs, labels))

    return per_example


def loss_by_jax(weights, inputs, labels):
    import jax.numpy as jnp

    w1, bias, w2 = weights
    hidden = jnp.maximum(jnp.matmul(inputs, w1) + bias, 0)
    return jnp.sum(jnp.square(jnp.matmul(hidden, w2) - labels))


def by_jax():
    import jax

    return jax.grad(loss_by_jax)


def per_example_by_jax():
    import jax

    return jax.vmap(jax.grad(loss_by_jax), in_axes=(None, 0, 0))


def by_tensorflow():
    import tensorflow as tf

    def gradients(weights, inputs, labels):
        with tf.GradientTape() as tape:
            tape.watch(weights)
            w1, bias, w2 = weights
            hidden = tf.maximum(tf.matmul(inputs, w1) + bias, 0)
            loss = tf.reduce_sum(tf.square(tf.matmul(hidden, w2) - labels))
        return tape.gradient(loss, weights)

    return gradients


def per_example_by_tensorflow():
    import tensorflow as tf

    gradients = by_tensorflow()

    def per_example(weights, inputs, labels):
        def one(pair):
            return gradients(weights, tf.expand_dims(pair[0], 0), tf.expand_dims(pair[1], 0))

        return tf.vectorized_map(one, (inputs, labels))

    return per_example


def loss_by_torch(weights, inputs, labels):
    import torch

    w1, bias, w2 = weights
    hidden = torch.relu(torch.matmul(inputs, w1) + bias)
    return torch.sum(torch.square(torch.matmul(hidden, w2) - labels))


def by_torch():
    import torch

    return torch.func.grad(loss_by_torch)


def per_example_by_torch():
    import torch

    return torch.func.vmap(torch.func.grad(loss_by_torch), in_dims=(None, 0, 0))


def model_and_batch(rng, batch):
    w1 = normal(rng, 32, 64) / np.float32(np.sqrt(32))
    weights = (w1, normal(rng, 64), normal(rng, 64, 2) / np.float32(8))
    return weights, normal(rng, batch, 32), normal(rng, batch, 2)


ROWS = [
    Row(
        GROUP,
        "guide's model, batch 512",
        gradients,
        model_and_batch,
        size=512,
        quick=16,
        peers={"jax": by_jax, "tensorflow": by_tensorflow, "torch": by_torch},
        goal=GOAL,
        graphify=by_graphify,
        tolerance=1e-3,
    ),
    Row(
        GROUP,
        "guide's model, per example, 128",
        per_example,
        model_and_batch,
        size=128,
        quick=16,
        peers={
            "jax": per_example_by_jax,
            "tensorflow": per_example_by_tensorflow,
            "torch": per_example_by_torch,
        },
        goal=GOAL,
        graphify=per_example_by_graphify,
        tolerance=1e-3,
    ),
]
