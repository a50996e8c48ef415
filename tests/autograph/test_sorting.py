"""The order of Python's sorted, where NaNs are: they stay where its algorithm leaves them, and what
is beside them with them."""

import bisect
import heapq
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphify

VALUES = np.array([np.nan, 1.0, 2.0, -0.0, 0.0, np.inf, -np.inf, 7.0, 3.0])


def of_an_array(x: Any) -> Any:
    return sorted(x), sorted(x, reverse=True)


def of_a_part(x: Any) -> Any:
    return sorted(x[x != 7.0]), sorted(x[x != 7.0], reverse=True)


def of_a_list(x: Any) -> Any:
    rows = []
    for v in x:
        if v != 7.0:
            rows.append(v)
    rows.sort()
    return rows, sorted(rows, reverse=True)


def by_keys(x: Any) -> Any:
    rows = [v for v in x if v != 7.0]
    rows.sort(key=lambda v: -v)
    first = list(rows)
    rows.sort(key=lambda v: (v > 1, v), reverse=True)
    return first, rows


def of_pairs(x: Any) -> Any:
    rows = [(v, i) for i, v in enumerate(x) if v != 7.0]
    return sorted(rows, key=lambda row: row[0]), sorted(rows, key=lambda row: (row[0], -row[1]))


def least_and_greatest(x: Any) -> Any:
    rows = [0.5] + [v for v in x if v != 7.0]
    return min(rows), max(rows), min(rows, key=lambda v: -v), max(rows, key=abs)


def in_a_heap(x: Any) -> Any:
    heap: list[Any] = []
    for v in x:
        if v != 7.0:
            heapq.heappush(heap, v)
    found = []
    while heap:
        found.append(heapq.heappop(heap))
    return found


def by_halves(x: Any) -> Any:
    rows = [v for v in x if v != 7.0]
    bisect.insort(rows, 7.0)
    return bisect.bisect(rows, 0.5), bisect.bisect_left(rows, 2.0), rows


def numbers(value: Any) -> Any:
    """A result in plain numbers, in which zeros have a sign."""
    if isinstance(value, (tuple, list)):
        return [numbers(each) for each in value]
    number = np.asarray(value).item()
    return repr(float(number))


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize(
    "function",
    [
        of_an_array, of_a_part, of_a_list, by_keys,
        of_pairs, least_and_greatest, in_a_heap, by_halves,
    ],
)  # fmt: skip
def test_nans_lie_where_python_leaves_them(function: Callable[[Any], Any], engine: str) -> None:
    generator = np.random.default_rng(0)
    staged = graphify.function(function, engine=engine)
    for length in (0, 1, 2, 5, 8, 12, 40, 90):
        for _ in range(4):
            x = generator.choice(VALUES, length)
            assert numbers(staged(x)) == numbers(function(x)), x


def test_a_sort_with_nans_has_gradients_and_lanes() -> None:
    @graphify.function
    def weighed(x: Any) -> Any:
        total = 0.0
        for k, v in enumerate(sorted(x)):
            total += v * v * k
        return total

    x = np.random.default_rng(0).normal(size=(3, 5))
    order = np.argsort(np.argsort(x[0]))
    np.testing.assert_allclose(graphify.grad(weighed)(x[0]), 2 * x[0] * order)
    x[1, 2] = np.nan
    found = graphify.vmap(weighed)(x)
    np.testing.assert_allclose(found, [weighed.python_function(row) for row in x])
