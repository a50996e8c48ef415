"""Where two things are wrong with a statement, the error is the one that NumPy raises."""

from typing import Any

import numpy as np
import pytest

import graphify
import graphify.numpy as gnp


def divided(x: Any, w: Any) -> Any:
    x //= w
    return x


def subtracted(x: Any, w: Any) -> Any:
    x -= w * 0.5
    return x


@pytest.mark.parametrize("function", [divided, subtracted])
@pytest.mark.parametrize("dtype", ["int64", "float64", "bool", "complex128"])
@pytest.mark.parametrize("length", [2, 5])
def test_updates_of_another_dtype_and_shape(function: Any, dtype: str, length: int) -> None:
    def outcome(run: Any, wrap: Any) -> Any:
        with np.errstate(all="ignore"):
            try:
                return np.asarray(run(wrap(np.arange(5)), wrap(np.ones(length, dtype)))).tolist()
            except (TypeError, ValueError) as error:
                return TypeError if isinstance(error, TypeError) else ValueError

    want = outcome(function, np.array)
    assert outcome(function, gnp.asarray) == want
    assert outcome(graphify.function(function), np.array) == want


def test_complex_numbers_are_sorted_as_numpys_are() -> None:
    def f(y: Any) -> Any:
        rows = sorted((v * 2, i) for i, v in enumerate(y))
        return sorted([v * 3 for v in y]), [i for _, i in rows], sorted(y, reverse=True)

    y = np.array([1 + 2j, 1 - 1j, 0.5, 1 + 2j, -3j])
    for array in (y, y.astype(np.complex64)):
        want, got = f(array), graphify.function(f)(array)
        for a, b in zip(want, got, strict=True):
            np.testing.assert_array_equal(np.array(list(map(complex, a))), list(map(complex, b)))
