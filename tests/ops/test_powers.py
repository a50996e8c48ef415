"""`x ** number` is what ndarray.__pow__ makes of it: some exponents are functions of their own."""

from typing import Any

import numpy as np
import pytest

import graphify

PARTS = [0.0, -0.0, 1.0, -1.5, 4.0, np.inf, -np.inf, np.nan, 1e200, -1e-200, 3e38]
EXPONENTS = [2, -1, 0.5, 2.0, -1.0, 1, 0, 3, True]


def numbers(dtype: str) -> Any:
    with np.errstate(all="ignore"):
        if np.dtype(dtype).kind != "c":
            return np.array(PARTS).astype(dtype)
        z = np.empty((len(PARTS), len(PARTS)), dtype)
        z.real, z.imag = np.meshgrid(PARTS, PARTS)
        return z.ravel()


def same(got: Any, want: Any) -> None:
    """Infinities, NaN, zeros and their signs alike; the rest to some bits."""
    assert got.dtype == want.dtype
    for a, b in ((got.real, want.real), (got.imag, want.imag)):
        np.testing.assert_allclose(a, b, rtol=16 * np.finfo(b.dtype).eps)
        zero = b == 0
        np.testing.assert_array_equal(np.signbit(a[zero]), np.signbit(b[zero]))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("engine", ["native", "reference"])
@pytest.mark.parametrize("exponent", EXPONENTS, ids=repr)
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8", "c16"])
def test_exponents_of_pythons(dtype: str, exponent: Any, engine: str) -> None:
    x = numbers(dtype)
    if dtype[0] == "c":  # where NumPy's own depends on whether its CPU fuses a product and a sum
        x = x[np.isnan(x) | (np.abs(x.real) < 1e19) & (np.abs(x.imag) < 1e19) | (exponent == 0.5)]
    want = x**exponent
    with graphify.config(engine=engine):
        same(np.asarray(graphify.function(lambda x: x**exponent)(x)), want)

        def updated(x: Any) -> Any:
            x = x.copy()
            x **= exponent
            return x

        same(np.asarray(graphify.function(updated)(x)), want)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("x", [-np.inf, -0.0, 4.0])
def test_scalars_take_the_power(x: float) -> None:
    root = graphify.function(lambda x: x**0.5)
    for number in (np.float64(x), np.float32(x)):
        want = number**0.5
        got = np.asarray(root(number))
        np.testing.assert_array_equal(got, want)
        assert np.signbit(got) == np.signbit(want)
    for array in (np.array(x), np.array([x])):
        np.testing.assert_array_equal(np.asarray(root(array)), array**0.5)


def test_derivatives() -> None:
    x = np.array([0.5, 2.0, 9.0])
    np.testing.assert_allclose(graphify.grad(lambda x: (x**0.5).sum())(x), 0.5 / np.sqrt(x))
    twice = graphify.grad(lambda x: graphify.grad(lambda x: (x**0.5).sum())(x).sum())(x)
    np.testing.assert_allclose(twice, -0.25 * x**-1.5)
