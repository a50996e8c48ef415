"""Statistics of float16, which NumPy rounds half-way: the same numbers, not better ones."""

import numpy as np
import pytest

import graphify.numpy as gnp


@pytest.mark.parametrize("name", ["mean", "var", "std"])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_statistics_are_rounded_as_numpys_are(name: str, axis: int | None) -> None:
    rng = np.random.default_rng(3)
    for rows in (1, 2, 3, 7, 40, 300):
        x = rng.normal(size=(rows, 5)).astype(np.float16)
        got = getattr(gnp, name)(gnp.asarray(x), axis=axis)
        np.testing.assert_array_equal(got.numpy(), getattr(np, name)(x, axis=axis))
