"""A small convolutional network that tells noisy signals apart, trained with Adam.

    python examples/signal_convnet.py [--steps 100]

Each signal is 140 samples of 2 channels: noise with a short chirp in it somewhere, which rises in
one class and falls in the other. Convolution, pooling, dropout and loss are graphify.nn's; one
`graphify.function` makes a training step, differentiates it and updates parameters and moments.
"""

from __future__ import annotations

import argparse

import numpy as np
from tqdm import tqdm

import graphify
from graphify import nn

LENGTH, CHANNELS, FILTERS, WINDOW, BATCH = 140, 2, 32, 16, 64


def signals(rng, count):
    """Noise with a chirp in it, and whether the chirp rises."""
    rises = rng.integers(0, 2, count)
    time = np.linspace(0, 1, 40)
    sweep = np.where(rises[:, None], 4 * time + 8 * time**2, 20 * time - 8 * time**2)
    chirp = np.hanning(40) * np.sin(2 * np.pi * (sweep + rng.uniform(size=(count, 1))))
    x = rng.normal(size=(count, LENGTH, CHANNELS)) * 0.3
    for row, start in enumerate(rng.integers(0, LENGTH - 40, count)):
        x[row, start : start + 40] += chirp[row, :, None]
    return x.astype(np.float32), rises


def network(params, x, key=None):
    """The logit of each signal; with a key, some features are dropped."""
    x = nn.relu(nn.conv1d(x, params["w1"], stride=2, padding="SAME") + params["b1"])
    x = nn.max_pool(x, 2)
    x = nn.relu(nn.conv1d(x, params["w2"], padding="SAME") + params["b2"])
    features = x.max(axis=1)
    if key is not None:
        features = nn.dropout(features, 0.3, key)
    return features @ params["w3"] + params["b3"]


def loss_of(params, x, labels, key):
    logits = network(params, x, key)
    return nn.sigmoid_cross_entropy_with_logits(labels.astype(np.float32), logits).mean()


@graphify.function
def train_step(params, first, second, x, labels, key, step):
    """One step of Adam on a mini-batch (Source: Kingma and Ba 2014)."""
    loss, slopes = graphify.value_and_grad(loss_of)(params, x, labels, key)
    rate = 3e-3 * np.sqrt(1 - 0.999**step) / (1 - 0.9**step)
    for name, slope in slopes.items():
        first[name] = 0.9 * first[name] + 0.1 * slope
        second[name] = 0.999 * second[name] + 0.001 * slope**2
        update = rate * first[name] / (np.sqrt(second[name]) + 1e-8)
        params[name] = params[name] - update.astype(np.float32)
    return loss


@graphify.function
def accuracy(params, x, labels):
    return ((network(params, x) > 0) == labels).mean()


def initial_params(rng):
    shapes = {"w1": (WINDOW, CHANNELS, FILTERS), "w2": (5, FILTERS, FILTERS), "w3": (FILTERS,)}
    params = {
        name: rng.normal(size=shape) / np.sqrt(np.prod(shape[:2])) for name, shape in shapes.items()
    }
    params |= {"b1": np.zeros(FILTERS), "b2": np.zeros(FILTERS), "b3": np.zeros(())}
    return {name: value.astype(np.float32) for name, value in params.items()}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=100)
    steps = parser.parse_args().steps
    rng = np.random.default_rng(0)
    params = initial_params(rng)
    first, second = ({name: np.zeros_like(p) for name, p in params.items()} for _ in range(2))
    key = graphify.random.key(0)

    progress = tqdm(range(1, steps + 1), unit="step")
    for step in progress:
        x, labels = signals(rng, BATCH)
        drop = graphify.random.fold_in(key, step)
        loss = train_step(params, first, second, x, labels, drop, np.asarray(float(step)))
        progress.set_postfix(loss=f"{float(loss):.4f}")

    print(f"{len(train_step.traces())} trace of train_step, {steps} steps")
    result = float(accuracy(params, *signals(rng, 1000)))
    print(f"accuracy on 1000 signals never trained on: {result:.1%}")
    assert result > 0.9, "the network should get at least 90 % right"


if __name__ == "__main__":
    main()
