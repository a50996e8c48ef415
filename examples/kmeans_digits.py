"""k-means on 1,797 handwritten digits: one plain NumPy function, traced, read, run, exported.

    python examples/kmeans_digits.py [--output DIRECTORY] [--full]

Prints the converted code, the graph before and after optimisation, the loops that were compiled,
and what optimiser and engine tell; checks the result against the undecorated function; writes the
centroids as a picture; exports a SavedModel, runs it in a fresh process with stock TensorFlow and
compares.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

import graphify

CLUSTERS = 10
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # TensorFlow's start-up notes are not ours


def kmeans(images, centroids, tolerance):
    """Lloyd's algorithm: moves the centroids in place; gives labels, turns and inertia."""
    shift = np.inf
    turns = 0
    while shift > tolerance:
        offsets = images[:, np.newaxis, :] - centroids
        distances = (offsets**2).sum(axis=2)
        labels = distances.argmin(axis=1)
        before = centroids.copy()
        for k in range(len(centroids)):
            members = labels == k
            if members.any():
                centroids[k] = images[members].mean(axis=0)
        shift = np.abs(centroids - before).max()
        turns += 1
    inertia = distances.min(axis=1).sum()
    return labels, turns, inertia


def fit(images, start):
    """The same for serving: leaves its arguments alone and gives everything back."""
    centroids = start.copy()
    labels, turns, inertia = kmeans(images, centroids, 1e-6)
    return {"centroids": centroids, "labels": labels, "turns": turns, "inertia": inertia}


# What the fresh process runs: TensorFlow and NumPy, nothing of graphify.
RELOAD = """
import sys
import numpy as np
import tensorflow as tf

path, data = sys.argv[1:]
arrays = np.load(data)
model = tf.saved_model.load(path)
result = model.signatures["serving_default"](
    images=tf.constant(arrays["images"]), start=tf.constant(arrays["start"])
)
assert "graphify" not in sys.modules
np.testing.assert_allclose(result["centroids"], arrays["centroids"], rtol=1e-9)
np.testing.assert_array_equal(result["labels"], arrays["labels"])
turns, inertia = int(result["turns"]), float(result["inertia"])
print(f"TensorFlow {tf.__version__}: {turns} turns, inertia {inertia:.6f}")
"""


def main() -> None:
    options = _options()
    options.output.mkdir(parents=True, exist_ok=True)
    images = load_digits().data
    rng = np.random.default_rng(0)
    start = images[rng.choice(len(images), CLUSTERS, replace=False)]

    title("The function as graphify converted it")
    print(graphify.autograph.to_code(kmeans))

    title("Running it")
    staged = graphify.function(kmeans)
    centroids, expected_centroids = start.copy(), start.copy()
    expected, plain_seconds = timed(kmeans, images, expected_centroids, 1e-6)
    (labels, turns, inertia), first_seconds = timed(staged, images, centroids, 1e-6)
    _, next_seconds = timed(staged, images, start.copy(), 1e-6)
    print(f"{len(images)} images, {CLUSTERS} clusters: {turns} turns, inertia {float(inertia):.6f}")
    print(
        f"plain NumPy {plain_seconds * 1e3:.0f} ms; "
        f"graphify first call {first_seconds * 1e3:.0f} ms, "
        f"then {next_seconds * 1e3:.0f} ms ({graphify.config.engine} engine)"
    )
    np.testing.assert_array_equal(labels, expected[0])
    np.testing.assert_allclose(centroids, expected_centroids, rtol=1e-12)
    assert turns == expected[1] and np.isclose(inertia, expected[2], rtol=1e-12)
    print(
        "labels, centroids (moved in place), turns and inertia are plain NumPy's but for rounding"
    )
    again, reference = start.copy(), graphify.function(kmeans, engine="reference")
    labels, turns, inertia = reference(images, again, 1e-6)
    np.testing.assert_array_equal(labels, expected[0])
    np.testing.assert_array_equal(again, expected_centroids)
    assert (turns, float(inertia)) == (expected[1], float(expected[2]))
    print("on the reference engine they are plain NumPy's bit for bit")

    (concrete,) = staged.concrete_functions
    title("The graph as traced")
    show(concrete.traced_graph, options.full)
    title("The graph after optimisation")
    show(concrete.graph, options.full)
    if concrete.engine == "native":
        title("The loops that were compiled")
        show(concrete.lower(), options.full)
    title("What optimiser and engine tell")
    print(concrete.graph.report())

    title("Pictures")
    draw(centroids, labels, options.output / "kmeans_centroids.png")
    picture = options.output / "kmeans_graph.svg"
    picture.write_text(concrete.graph.to_svg())
    print(f"wrote {picture}")

    title("Export")
    export(images, start, options.output / "kmeans_saved_model")


def export(images: np.ndarray, start: np.ndarray, path: Path) -> None:
    """Write a SavedModel and run it where graphify is not loaded."""
    if importlib.util.find_spec("tensorflow") is None:
        print("TensorFlow is not installed, so nothing is exported: pip install tensorflow")
        return
    rows = graphify.TensorSpec(("n", images.shape[1]), np.float64)
    signature = graphify.function(fit).get_concrete_function(
        rows, graphify.TensorSpec((CLUSTERS, images.shape[1]), np.float64)
    )
    graphify.saved_model.save(signature, path, examples=[(images, start)])
    print(f"wrote {path}")
    expected = fit(images, start)
    data = path.with_suffix(".npz")
    np.savez(
        data, images=images, start=start, centroids=expected["centroids"], labels=expected["labels"]
    )
    subprocess.run([sys.executable, "-c", RELOAD, str(path), str(data)], check=True)
    print("a fresh process with stock TensorFlow gives the same clusters")


def draw(centroids: np.ndarray, labels, path: Path) -> None:
    """The centroids as images, with the number of digits in each cluster."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    counts = np.bincount(np.asarray(labels), minlength=CLUSTERS)
    figure, axes = plt.subplots(2, CLUSTERS // 2, figsize=(8, 3.8))
    for axis, centroid, count in zip(axes.flat, centroids, counts, strict=True):
        axis.imshow(centroid.reshape(8, 8), cmap="gray_r")
        axis.set_title(f"{count} digits", fontsize=9)
        axis.set_axis_off()
    figure.suptitle("Centroids of 1,797 handwritten digits")
    figure.savefig(path, dpi=120, bbox_inches="tight")
    print(f"wrote {path}")


def show(graph, full: bool, lines: int = 40) -> None:
    """The text of a graph or of loops; its beginning only, unless all of it is wanted."""
    text = str(graph).splitlines()
    shown = (
        text
        if full or len(text) <= lines
        else [*text[:lines], f"  ... {len(text) - lines} more lines (--full)"]
    )
    print("\n".join(shown))


def timed(function, *args):
    start = time.perf_counter()
    return function(*args), time.perf_counter() - start


def title(text: str) -> None:
    print(f"\n=== {text} " + "=" * (75 - len(text)))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "output")
    parser.add_argument("--full", action="store_true", help="print graphs and loops whole")
    return parser.parse_args()


if __name__ == "__main__":
    main()
