"""`x.shape = shape`: the array itself gets another shape, or that is refused."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphify
from graphify.errors import SpecError

ENGINES = pytest.mark.parametrize("engine", ["reference", "native"])
OUTER = np.arange(6.0)


def for_all_names(x: Any) -> Any:
    y = x * 2
    z = y
    y.shape = (2, 3)
    y[0, 1] = 7
    z[1] += 1
    return y, z, x


def of_a_view(x: Any) -> Any:
    b = x + 1
    y = b[2:]
    y.shape = 2, 2
    y += 10
    b[2] = 0
    return y, b


def of_the_length(x: Any) -> Any:
    y = np.zeros(2 * len(x))
    y.shape = (-1, 2)
    y[:, 1] = x
    return y


def as_it_is(x: Any) -> Any:
    y = x + 1
    y.shape = y.shape
    y[0] = 3
    return y


@pytest.mark.parametrize("function", [for_all_names, of_a_view, of_the_length, as_it_is])
@ENGINES
def test_as_numpy_does(function: Callable[..., Any], engine: str) -> None:
    staged = graphify.function(function, engine=engine)
    for _ in range(2):
        want = graphify.tree.leaves(function(np.arange(6.0)))
        for a, b in zip(graphify.tree.leaves(staged(np.arange(6.0))), want, strict=True):
            np.testing.assert_array_equal(np.asarray(a), b, strict=True)


def argument(x: Any) -> Any:
    x.shape = (2, 3)
    return x


def outer(x: Any) -> Any:
    OUTER.shape = (2, 3)
    return OUTER


def in_a_branch(x: Any) -> Any:
    y = x + 1
    if x[0] > 3:
        y.shape = (2, 3)
    return y.sum()


def under_a_view(x: Any) -> Any:
    y = x + 1
    v = y[1:]
    y.shape = (2, 3)
    v[0] = 5
    return y


@pytest.mark.parametrize("function", [argument, outer, in_a_branch, under_a_view])
def test_refused_with_the_line(function: Callable[..., Any]) -> None:
    with pytest.raises(SpecError, match=r"shape of an array is set[^$]*\.shape = \(2, 3\)"):
        graphify.function(function)(np.arange(6.0))
    assert OUTER.shape == (6,)


def test_gaps_do_not_go_into_a_new_shape() -> None:
    @graphify.function
    def f(x: Any) -> Any:
        y = np.ones((2, 3)) * x[:3]
        y.T.shape = 6
        z = y.T
        z.shape = 6
        return z

    with pytest.raises(AttributeError, match="Incompatible shape for in-place modification"):
        f(np.arange(6.0))


@ENGINES
def test_arrays_by_their_constructor_are_new_in_each_call(engine: str) -> None:
    @graphify.function(engine=engine)
    def f(x: Any) -> Any:
        a = np.ndarray((3, 2), dtype=x.dtype)
        a[:] = x.reshape(3, 2)
        b = np.ndarray(len(x))
        b[:] = x[::-1]
        return a, b

    first, second = f(np.arange(6.0)), f(np.zeros(6))
    np.testing.assert_array_equal(first[0], np.arange(6.0).reshape(3, 2))
    np.testing.assert_array_equal(first[1], np.arange(6.0)[::-1])
    assert not np.any(second[0]) and not np.any(second[1])
    with pytest.raises(SpecError, match="buffer"):
        graphify.function(lambda x: np.ndarray(3, buffer=bytes(24)) + x)(np.zeros(3))
