"""What is a 0-d array on one path and a number on another: `w += 1` changes the array for all who
hold it, and rebinds the name of a number."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphify
from graphify.errors import TraceError


def by_expression(k: Any) -> Any:
    v = k if k > 5 else k + k
    w = v
    w += 1
    return v, w, k


def by_statement(k: Any) -> Any:
    if k > 5:
        v = k
    else:
        v = k + k
    w = v
    w += 1
    return v, w, k


def by_max(k: Any) -> Any:
    v = max(k, k + k)
    w = v
    w += 1
    return v, w, k


def by_or(k: Any) -> Any:
    v = k or 3
    w = v
    w += 1
    return v, w, k


def by_a_loop(k: Any) -> Any:
    v = k
    for i in range(3):
        if k > i:
            v = k * 2
    w = v
    w += 1
    return v, w, k


def by_a_while_loop(k: Any) -> Any:
    v = k + k
    i = 0
    while i < k:
        v = k
        i += 1
    w = v
    w += 1
    return v, w, k


def within_a_loop(k: Any) -> Any:
    v = k if k > 5 else k + k
    w = v
    for _ in range(abs(int(k))):
        w += 1
    return v, w, k


def in_a_list(k: Any) -> Any:
    v = k if k > 5 else k + k
    seen = [v]
    v += 1
    return seen[0], v, k


@pytest.mark.parametrize(
    "function",
    [by_expression, by_statement, by_max, by_or, by_a_loop, by_a_while_loop, within_a_loop,
     in_a_list],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_an_update_that_two_names_may_see_is_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(TraceError, match=r"one array on one path and a number on another[^$]*in "):
        graphify.function(function)(np.array(2))
    for value in (2, 7, 0):  # of numbers alone there is no doubt
        k = np.int64(value)
        assert tuple(map(int, graphify.function(function)(k))) == tuple(map(int, function(k)))


def taken_on_by_a_loop(k: Any) -> Any:
    v = max(k, k + k)
    for _ in range(abs(int(k))):
        k %= 3
        k = v
    return v, k


def taken_on_by_an_outer_loop(k: Any) -> Any:
    v = max(k, k + k)
    i, n = 0, abs(int(k))
    while i < n:
        i += 1
        for _ in range(i):
            k %= 3
        k = v
    return v, k


@pytest.mark.parametrize(
    "function", [taken_on_by_a_loop, taken_on_by_an_outer_loop], ids=lambda f: f.__name__
)
def test_what_a_turn_takes_on_may_be_a_number_for_another_name(
    function: Callable[..., Any],
) -> None:
    with pytest.raises(TraceError, match="an update|updated in place"):
        graphify.function(function)(np.array(2))
    for value in (2, 7, 0, -3):
        k = np.int64(value)
        assert tuple(map(int, graphify.function(function)(k))) == tuple(map(int, function(k)))


def a_number_first(k: Any) -> Any:
    v, total = k + k, 0
    for i in range(abs(int(k)) + 2):
        w = v
        v -= 1
        total += w
        v = np.array(k * i)
    return total


def a_plain_number_first(k: Any) -> Any:
    v, total = 2, 0
    for i in range(abs(int(k)) + 2):
        w = v
        if i > k:
            v -= 1
        total += w
        v = np.array(k * i)
    return total


def an_array_first(k: Any) -> Any:
    v, total, i = np.array(k), 0, 0
    while i < k + 2:
        w = v
        v -= 1
        total += w
        v = k * i
        i += 1
    return total


@pytest.mark.parametrize(
    "function", [a_number_first, a_plain_number_first, an_array_first], ids=lambda f: f.__name__
)
def test_an_array_in_the_first_turn_and_a_number_in_others(function: Callable[..., Any]) -> None:
    with pytest.raises(TraceError, match="one array on one path and a number on another"):
        graphify.function(function)(np.int64(2))


def counted_down(k: Any) -> Any:
    """A Python number first, and a number of NumPy's class in later turns: never an array."""
    total = 0
    for i in range(abs(int(k))):
        v = i
        while v > 0:
            w = v
            v -= k
            total += w
    return total


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_numbers_of_several_classes_are_no_arrays(engine: str) -> None:
    staged = graphify.function(counted_down, engine=engine)
    for value in (2, 7, 3):
        assert int(staged(np.int64(value))) == int(counted_down(np.int64(value)))


def alone(k: Any) -> Any:
    v = k if k > 5 else k + k
    v += 1
    return v, k


def counted(k: Any) -> Any:
    v = np.zeros((), np.int64)
    for i in range(5):
        if i > k:
            v = v + i
    v += 1
    for i in range(3):
        v += i * k
    return v, k


def passed_on(k: Any) -> Any:
    def bumped(a: Any) -> Any:
        a += 1
        return a * 2

    return bumped(k + 1 if k > 2 else k), k


@pytest.mark.parametrize("function", [alone, counted, passed_on], ids=lambda f: f.__name__)
@pytest.mark.parametrize("engine", ["reference", "native"])
def test_an_update_of_the_only_name_is_seen_as_in_plain_python(
    function: Callable[..., Any], engine: str
) -> None:
    staged = graphify.function(function, engine=engine)
    for value in (2, 7, 0, -3):
        want = [int(v) for v in function(np.array(value))]
        assert [int(v) for v in staged(np.array(value))] == want
