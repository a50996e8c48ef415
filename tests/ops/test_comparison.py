"""Complex numbers by size: NumPy's scalars are compared part by part, arrays with an eye on NaN."""

import itertools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphify

PARTS = (0.0, -0.0, 1.0, np.nan, np.inf, -np.inf)
NUMBERS = [complex(a, b) for a in PARTS for b in (0.0, -2.0, np.nan)]
PAIRS = np.array(list(itertools.product(NUMBERS, NUMBERS)))
ORDER = [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne]


@pytest.mark.parametrize("engine", ["native", "reference"])
@pytest.mark.parametrize("compare", ORDER)
def test_complex_scalars_and_arrays(compare: Callable[..., Any], engine: str) -> None:
    def of_scalars(x, y, out):
        for i in range(len(x)):
            out[i] = compare(x[i], y[i])
        return out, compare(x[0], 1.0), compare(2, y[1]), compare(x[1].real, y[1])

    def of_arrays(x, y):
        return compare(x, y), compare(x[:, None], y[0])

    x, y = PAIRS.T
    with np.errstate(invalid="ignore"):
        for kind in (np.complex128, np.complex64):
            given = x.astype(kind), y.astype(kind)
            flags = np.zeros(len(x), bool)
            got = graphify.function(of_scalars, engine=engine)(*given, flags.copy())
            for mine, plain in zip(got, of_scalars(*given, flags.copy()), strict=True):
                np.testing.assert_array_equal(mine, plain)
            got = graphify.function(of_arrays, engine=engine)(*given)
            for mine, plain in zip(got, of_arrays(*given), strict=True):
                np.testing.assert_array_equal(mine, plain)


@pytest.mark.parametrize("compare", ORDER)
def test_complex_scalars_outside_of_functions(compare: Callable[..., Any]) -> None:
    numbers = PAIRS[::7]
    with np.errstate(invalid="ignore"):
        tensor = graphify.numpy.asarray(numbers)
        got = [bool(compare(tensor[i, 0], tensor[i, 1])) for i in range(len(numbers))]
        assert got == [bool(compare(a, b)) for a, b in numbers]
