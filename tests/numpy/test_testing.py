"""numpy.testing in staged functions: NumPy's assertions, when the run gets there."""

from typing import Any

import numpy as np
import pytest

import graphify


def close(x: Any) -> Any:
    np.testing.assert_allclose(x, [1.0, 2.0, 3.0], rtol=1e-6)
    return x * 2


def each_in_turn(x: Any) -> Any:
    for i in range(len(x)):
        np.testing.assert_equal(x[i] > 0, True, err_msg="sign")
    return x


def handled(x: Any) -> Any:
    try:
        np.testing.assert_array_less(x, 2.5)
    except AssertionError:
        return x * 0
    return x


def under_a_condition(x: Any) -> Any:
    if x[0] > 5:
        np.testing.assert_array_equal(x, x[::-1])
    return x + 1


def of_numbers(x: Any) -> Any:
    np.testing.assert_(x.sum() > 3, "too small")
    np.testing.assert_almost_equal(x.sum(), 6.0)
    np.testing.assert_approx_equal(float(x.max()), 3.0)
    return x


INPUTS = [[1.0, 2.0, 3.0], [1.0, 2.0, 2.25], [1.0, -2.0, 3.0], [6.0, 1.0, 2.0]]


def outcome(function: Any, x: Any) -> Any:
    try:
        return np.asarray(function(x)).tolist()
    except AssertionError as error:
        return str(error)


@pytest.mark.parametrize("unknown", [False, True])
@pytest.mark.parametrize(
    "engine", ["reference", "native", pytest.param("tensorflow", marks=pytest.mark.tensorflow)]
)
@pytest.mark.parametrize("function", [close, each_in_turn, handled, under_a_condition, of_numbers])
def test_assertions(function: Any, engine: str, unknown: bool) -> None:
    options: dict[str, Any] = {"engine": engine}
    if unknown:
        options["input_signature"] = [graphify.TensorSpec((None,), np.float64)]
    staged = graphify.function(function, **options)
    for x in map(np.array, INPUTS):
        want, got = outcome(function, x), outcome(staged, x)
        if isinstance(want, str):
            assert isinstance(got, str) and got.startswith(want.rstrip()), got
            assert "in user code" in got
        else:
            assert got == want


def test_derivatives_and_lanes() -> None:
    x = np.array([1.0, 2.0, 3.0])
    gradient = graphify.grad(lambda v: graphify.function(close)(v).sum())(x)
    np.testing.assert_array_equal(np.asarray(gradient), [2.0, 2.0, 2.0])
    with pytest.raises(AssertionError, match="ACTUAL: array"):
        graphify.vmap(close)(np.stack([x, x * 1.5]))
