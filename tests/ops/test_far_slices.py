"""Slices whose bounds and steps are farther than any axis reaches."""

import itertools
import sys

import numpy as np
import pytest

import graphify
from graphify import TensorSpec

ENGINES = ["reference", "native"]
FAR = [
    sys.maxsize,
    2**63,
    2**64 - 2,
    10**30,
    -(2**63),
    -(10**30),
    2**62,
    np.uint64(2**64 - 2),
    np.int64(-(2**63)),
    None,
    2,
    -2,
]
STEPS = [None, 1, -1, -3, 10**30, -(10**30), sys.maxsize, -(2**63)]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("step", STEPS)
def test_known_bounds(engine: str, step: int | None) -> None:
    """Also where the length of the axis is for the run to tell: sums of both have 64 bits."""

    def parts(x):
        return [x[a:b:step] for a in FAR for b in FAR]

    staged = graphify.function(
        parts, engine=engine, input_signature=[TensorSpec((None,), np.int64)]
    )
    for n in (0, 1, 6):
        x = np.arange(n)
        for want, got in zip(parts(x), staged(x), strict=True):
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("step", [1, -1, 3, None])
@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.int8])
def test_traced_bounds(engine: str, step: int | None, dtype: type) -> None:
    limits = np.iinfo(dtype)
    bounds = [limits.max, limits.min, limits.max - 1, limits.min + 1, 0, 2]
    steps = [1] if step is not None else [1, limits.max, limits.min or 3, 2]

    def part(x, a, b, c):
        return x[a : b : (c if step is None else step)]

    number = TensorSpec((), dtype)
    signature = [TensorSpec((None,), np.int64), number, number, number]
    staged = graphify.function(part, engine=engine, input_signature=signature)
    for n, a, b, c in itertools.product((0, 1, 5), bounds, bounds, steps):
        arguments = np.arange(n), dtype(a), dtype(b), dtype(c)
        np.testing.assert_array_equal(staged(*arguments), part(*arguments), str((n, a, b, c)))
