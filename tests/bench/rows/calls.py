"""What a call costs when there is next to nothing to compute."""

import numpy as np
from harness.record import Goal, Row, just, normal


def one(x):
    return x * 2 + 1


def three(x, y, z):
    return x * y + z


def named(arrays):
    return arrays["x"] * arrays["y"] + arrays["z"]


def one_by_numexpr():
    import numexpr

    return lambda x: numexpr.evaluate("x * 2 + 1", {"x": x})


def three_by_numexpr():
    import numexpr

    return lambda x, y, z: numexpr.evaluate("x * y + z", {"x": x, "y": y, "z": z})


def arrays(count, *shape):
    """So many small arrays."""
    return lambda rng, _: tuple(np.asarray(normal(rng, *shape)) for _ in range(count))


def with_everyone(function, numexpr=None):
    """Arithmetic reads alike in all libraries."""
    makers = {name: just(function) for name in ("numba", "jax", "tensorflow", "torch")}
    return {**makers, "numexpr": numexpr} if numexpr else makers


GROUP, FAST = "call overhead", Goal(1.0, seconds=0.2e-6)
ONE, THREE = with_everyone(one, one_by_numexpr), with_everyone(three, three_by_numexpr)

ROWS = [
    Row(GROUP, "0-d array, 1 argument", one, arrays(1), 0, 0, ONE, FAST),
    Row(GROUP, "0-d arrays, 3 arguments", three, arrays(3), 0, 0, THREE, FAST),
    Row(GROUP, "10 elements, 1 argument", one, arrays(1, 10), 10, 10, ONE, FAST),
    Row(GROUP, "10 elements, 3 arguments", three, arrays(3, 10), 10, 10, THREE, FAST),
    Row(
        GROUP,
        "10 elements, a dict of 3",
        named,
        lambda rng, n: ({key: normal(rng, n) for key in "xyz"},),
        10,
        10,
        with_everyone(named),
    ),
]
