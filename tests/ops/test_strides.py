"""Slices whose step is traced, against NumPy's, for every combination of bounds and signs."""

import itertools

import numpy as np
import pytest

import graphify


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("n", [0, 1, 5])
def test_slices_with_traced_steps(engine, n):
    def read(x, a, b, k):
        return x[a:b:k], x[::k], x[a::k], x[:b:k]

    def write(x, a, b, k):
        x[a:b:k] = 9
        return x

    bounds = [np.array(v) for v in (-7, -5, -1, 0, 2, 4, 8)]
    steps = [np.array(v) for v in (-7, -2, -1, 1, 3)]
    reading = graphify.function(read, engine=engine)
    writing = graphify.function(write, engine=engine)
    for a, b, k in itertools.product(
        bounds[:: 1 if n else 3], bounds[:: 1 if n == 5 else 3], steps
    ):
        x = np.arange(n)
        for found, expected in zip(reading(x, a, b, k), read(x, a, b, k), strict=True):
            np.testing.assert_array_equal(np.asarray(found), expected)
        np.testing.assert_array_equal(
            np.asarray(writing(x.copy(), a, b, k)), write(x.copy(), a, b, k)
        )
    with pytest.raises(ValueError, match="slice step cannot be zero"):
        reading(np.arange(n), bounds[0], bounds[1], np.array(0))


def test_a_traced_step_beside_an_array_of_indices_is_refused():
    @graphify.function
    def f(w, k):
        return w[[0, 1], ::k]

    with pytest.raises(graphify.errors.GraphifyError, match="beside arrays of indices"):
        f(np.ones((3, 4)), np.array(2))
