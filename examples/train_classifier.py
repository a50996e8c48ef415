"""A two-layer classifier of handwritten digits, trained with value_and_grad inside a function.

    python examples/train_classifier.py [--epochs 40] [--output DIRECTORY]

The loss is plain NumPy. One `graphify.function` takes a mini-batch, differentiates the loss and
updates parameters and momentum; it is traced once (and once more for the last, smaller batch).
Writes the loss curve as a picture and prints the accuracy on digits never trained on.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from tqdm import tqdm

import graphify

HIDDEN, CLASSES, BATCH = 64, 10, 64


def logits(params, images):
    hidden = np.tanh(images @ params["w1"] + params["b1"])
    return hidden @ params["w2"] + params["b2"]


def cross_entropy(params, images, labels):
    """Mean negative log-likelihood; the largest logit is taken out so that exp stays finite."""
    scores = logits(params, images)
    scores = scores - scores.max(axis=1, keepdims=True)
    log_likelihood = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
    rows = np.arange(len(labels))
    return -log_likelihood[rows, labels].mean()


@graphify.function
def train_step(params, momentum, images, labels, rate):
    """One step of gradient descent with momentum on a mini-batch."""
    loss, gradients = graphify.value_and_grad(cross_entropy)(params, images, labels)
    new_params, new_momentum = {}, {}
    for name in params:
        new_momentum[name] = 0.9 * momentum[name] - rate * gradients[name]
        new_params[name] = params[name] + new_momentum[name]
    return new_params, new_momentum, loss


@graphify.function
def accuracy(params, images, labels):
    return (logits(params, images).argmax(axis=1) == labels).mean()


def initial_params(rng):
    return {
        "w1": rng.normal(size=(64, HIDDEN)) / 8,
        "b1": np.zeros(HIDDEN),
        "w2": rng.normal(size=(HIDDEN, CLASSES)) / np.sqrt(HIDDEN),
        "b2": np.zeros(CLASSES),
    }


def main() -> None:
    options = _options()
    options.output.mkdir(parents=True, exist_ok=True)
    digits = load_digits()
    train_x, test_x, train_y, test_y = train_test_split(
        digits.data / 16.0, digits.target, test_size=0.25, random_state=0, stratify=digits.target
    )
    rng = np.random.default_rng(0)
    params = initial_params(rng)
    momentum = {name: np.zeros_like(value) for name, value in params.items()}
    rate = np.asarray(0.05)

    losses = []
    progress = tqdm(range(options.epochs), unit="epoch")
    for _ in progress:
        order = rng.permutation(len(train_x))
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            params, momentum, loss = train_step(
                params, momentum, train_x[batch], train_y[batch], rate
            )
            losses.append(float(loss))
        progress.set_postfix(loss=f"{losses[-1]:.4f}")

    print(f"{len(train_step.traces())} traces of train_step:")
    for trace in train_step.traces():
        print(f"  {trace.cause}: {trace.seconds * 1e3:.0f} ms")
    draw(losses, options.output / "training_loss.png")
    result = float(accuracy(params, test_x, test_y))
    print(f"accuracy on {len(test_x)} digits never trained on: {result:.1%}")
    assert result > 0.95, "the classifier should get at least 95 % right"


def draw(losses: list[float], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    smooth = np.convolve(losses, np.ones(20) / 20, mode="valid")
    figure, axis = plt.subplots(figsize=(7, 4))
    axis.semilogy(losses, color="0.8", linewidth=0.8, label="mini-batch")
    axis.semilogy(np.arange(len(smooth)) + 19, smooth, color="tab:blue", label="mean of 20")
    axis.set_xlabel("step")
    axis.set_ylabel("cross-entropy (nats)")
    axis.set_title("Training a two-layer classifier of handwritten digits")
    axis.legend()
    figure.savefig(path, dpi=120, bbox_inches="tight")
    print(f"wrote {path}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "output")
    return parser.parse_args()


if __name__ == "__main__":
    main()
