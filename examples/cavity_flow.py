"""Flow in a box under a moving lid: one plain NumPy program, staged, timed, and drawn.

    python examples/cavity_flow.py [--output DIRECTORY] [--points 81] [--steps 600]

The program is `cavity_flow` of examples/numerics/fluids.py: loops over time around pressure
iterations to a tolerance, updates through slices. Prints how long it takes plain and staged, checks
that both agree, and writes the stream lines as a picture.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import graphify

sys.path.insert(0, str(Path(__file__).parents[1]))

from examples.numerics.fluids import cavity_flow  # noqa: E402


def flow(function: Callable[..., Any], points: int, steps: int) -> tuple[Any, ...]:
    """Velocities and pressure after some steps from rest, and the seconds it took."""
    u, v, p = np.zeros((3, points, points))
    start = time.perf_counter()
    sweeps = function(u, v, p, steps, 0.0005, 1.0, 0.02)
    return u, v, p, int(sweeps), time.perf_counter() - start


def draw(u: Any, v: Any, path: Path) -> None:
    """Stream lines over the speed."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    x = np.linspace(0.0, 2.0, len(u))
    figure, axes = pyplot.subplots(figsize=(6, 5.4))
    speed = axes.contourf(x, x, np.hypot(u, v), 20, cmap="viridis")
    axes.streamplot(x, x, u, v, color="white", linewidth=0.7, density=1.4, arrowsize=0.7)
    axes.set(title="Flow under a moving lid", xlabel="x", ylabel="y", xlim=(0, 2), ylim=(0, 2))
    figure.colorbar(speed, label="speed")
    figure.savefig(path, dpi=120, bbox_inches="tight")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path(__file__).with_name("output"))
    parser.add_argument("--points", type=int, default=81)
    parser.add_argument("--steps", type=int, default=600)
    options = parser.parse_args()
    staged = graphify.function(cavity_flow)
    flow(staged, options.points, options.steps)  # traces and compiles
    *want, seconds = flow(cavity_flow, options.points, options.steps)
    *got, faster = flow(staged, options.points, options.steps)
    print(f"{options.points} x {options.points} points, {want[3]} sweeps for the pressure")
    print(
        f"plain NumPy {seconds:.2f} s, staged {faster:.2f} s: {seconds / faster:.1f} times as fast"
    )
    for one, other in zip(got, want, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
    options.output.mkdir(parents=True, exist_ok=True)
    draw(got[0], got[1], options.output / "cavity_flow.png")
    print(f"stream lines: {options.output / 'cavity_flow.png'}")


if __name__ == "__main__":
    main()
