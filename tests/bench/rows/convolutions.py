"""A convolution along one axis, and its gradients: 32 signals of 1400 steps and 30 channels."""

import numpy as np
from harness.record import Goal, Row, normal

GROUP, GOAL = "convolutions", Goal(1.05)
SIGNALS, CHANNELS, OUTPUTS, WINDOW = 32, 30, 64, 20


def windows(x):
    """[signal, place, tap, channel]"""
    return np.moveaxis(np.lib.stride_tricks.sliding_window_view(x, WINDOW, axis=1), -1, 2)


def conv1d(x, w):
    return np.tensordot(windows(x), w, axes=2)


def conv1d_gradients(x, w, g):
    by_w = np.tensordot(windows(x), g, axes=([0, 1], [0, 1]))
    by_x = np.zeros_like(x)
    for tap in range(WINDOW):
        by_x[:, tap : tap + g.shape[1]] += g @ w[tap].T
    return by_x, by_w


def conv1d_by_graphify():
    import graphify

    def conv1d(x, w):
        return graphify.nn.conv1d(x, w)

    return conv1d


def gradients_by_graphify():
    import graphify

    def gradients(x, w, g):
        _, pullback = graphify.vjp(graphify.nn.conv1d, x, w)
        return pullback(g)

    return gradients


def conv1d_by_jax():
    import jax

    def conv1d(x, w):
        form = ("NWC", "WIO", "NWC")
        return jax.lax.conv_general_dilated(x, w, (1,), "VALID", dimension_numbers=form)

    return conv1d


def gradients_by_jax():
    import jax

    def gradients(x, w, g):
        _, pullback = jax.vjp(conv1d_by_jax(), x, w)
        return pullback(g)

    return gradients


def conv1d_by_tensorflow():
    import tensorflow as tf

    return lambda x, w: tf.nn.conv1d(x, w, 1, "VALID")


def gradients_by_tensorflow():
    import tensorflow as tf

    def gradients(x, w, g):
        with tf.GradientTape() as tape:
            tape.watch((x, w))
            y = tf.nn.conv1d(x, w, 1, "VALID")
        return tape.gradient(y, (x, w), output_gradients=g)

    return gradients


def conv1d_by_torch():
    import torch

    return lambda x, w: torch.nn.functional.conv1d(x, w)


def gradients_by_torch():
    import torch

    def gradients(x, w, g):
        by_x = torch.nn.grad.conv1d_input(x.shape, w, g)
        return by_x, torch.nn.grad.conv1d_weight(x, w.shape, g)

    return gradients


def channels_first(x, w, *g):
    """PyTorch's order: [signal, channel, place] and [output, channel, tap]."""
    parts = [x.transpose(0, 2, 1), w.transpose(2, 1, 0), *(each.transpose(0, 2, 1) for each in g)]
    return tuple(np.ascontiguousarray(part) for part in parts)


def channels_last(y):
    return y.numpy().transpose(0, 2, 1)


def gradients_last(pair):
    return channels_last(pair[0]), pair[1].numpy().transpose(2, 1, 0)


def signals(rng, steps):
    x = normal(rng, SIGNALS if steps > 100 else 2, steps, CHANNELS)
    return x, normal(rng, WINDOW, CHANNELS, OUTPUTS)


def signals_and_gradient(rng, steps):
    x, w = signals(rng, steps)
    return x, w, normal(rng, x.shape[0], steps - WINDOW + 1, OUTPUTS)


ROWS = [
    Row(
        GROUP,
        "conv1d 32 x 1400 x 30 -> 64, window 20",
        conv1d,
        signals,
        size=1400,
        quick=60,
        peers={
            "jax": conv1d_by_jax,
            "tensorflow": conv1d_by_tensorflow,
            "torch": conv1d_by_torch,
        },
        goal=GOAL,
        graphify=conv1d_by_graphify,
        tolerance=1e-3,
        arguments={"torch": channels_first},
        results={"torch": channels_last},
    ),
    Row(
        GROUP,
        "both gradients of that",
        conv1d_gradients,
        signals_and_gradient,
        size=1400,
        quick=60,
        peers={
            "jax": gradients_by_jax,
            "tensorflow": gradients_by_tensorflow,
            "torch": gradients_by_torch,
        },
        goal=GOAL,
        graphify=gradients_by_graphify,
        tolerance=1e-3,
        arguments={"torch": channels_first},
        results={"torch": gradients_last},
    ),
]
