"""A Python int on one path and a NumPy integer that wraps around early on another: each is what it
is, wherever it goes."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphify


def picked(y: Any, c: Any) -> Any:
    return y[0] if c > 0 else 1


def below(y: Any, c: Any) -> Any:
    b = picked(y, c)
    return b - 2, b + 100, -b, ~b, b * 100, b - 2 < 0


def beyond(y: Any, c: Any) -> Any:
    b = picked(y, c)
    return b + 300 if c <= 0 else b


def sum_of_some(y: Any, c: Any) -> Any:
    return sum([v for v in y if v > 1 and v < c]) - 1


def greatest(y: Any, c: Any) -> Any:
    best = place = 0
    for i, v in enumerate(y):
        if v > best + c:
            best, place = v, i
    return best - 1, place, y[place]


def spread(y: Any, c: Any) -> Any:
    low = high = 0
    for v in y:
        low, high = min(low, v), max(high, v)
    return low - 1, high, high - low


def bits(y: Any, c: Any) -> Any:
    found = 0
    for v in y:
        if v != c:
            found = found * 2 + (v & 1)
    return found


def last_seen(y: Any, c: Any) -> Any:
    last, runs = 0, 0
    for v in y:
        if v != last:
            runs += 1
        if v > c:
            last = v
    return runs, last + 1


def turned_down(y: Any, c: Any) -> Any:
    k, total = picked(y, c), 0.0
    while k > 0:
        total += k
        k -= 1
    return total, k - 1


def as_index(y: Any, c: Any) -> Any:
    b = picked(y, c)
    return y[b], [1.0, 2.0, 3.0][b], (1.0, 2.0, 3.0)[b], {1: 2.0, 2: 4.0}[b], range(5)[b]


def as_bound(y: Any, c: Any) -> Any:
    b = picked(y, c)
    table = np.arange(12.0).reshape(3, 4)
    return y[:b], y[b:], y[::b], [1.0, 2.0, 3.0][b:], y[b - 1 : b], table[b, :b], table[b:, b]


def as_place(y: Any, c: Any) -> Any:
    b = picked(y, c)
    numbers, zeros = [1.0, 2.0, 3.0, 4.0], np.zeros(4)
    numbers[b] = 7.0
    zeros[b] += b
    zeros[b + 1 :] = 0.5
    numbers.insert(b, 5.0)
    first = numbers.pop(b)
    del numbers[b]
    return numbers, zeros, first


def as_count(y: Any, c: Any) -> Any:
    b, total = picked(y, c), 0.0
    for i in range(b):
        total += i + 1
    return total, [0.5] * b, np.zeros(b), np.ones((b, 2))


def as_operand(y: Any, c: Any) -> Any:
    b = picked(y, c)
    return np.minimum(b, 2), np.maximum(y, b), np.where(y > b, y, b), np.stack([b, b]), y + b


FUNCTIONS = [
    below, beyond, sum_of_some, greatest, spread, bits, last_seen,
    turned_down, as_index, as_bound, as_place, as_count, as_operand,
]  # fmt: skip


def same(found: Any, wanted: Any) -> None:
    if isinstance(wanted, (tuple, list)):
        assert type(found) is type(wanted) and len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            same(one, other)
        return
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("dtype", ["uint8", "int16", "int32", "uint64", "int64"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_each_is_what_it_is(function: Callable[..., Any], dtype: str, engine: str) -> None:
    staged = graphify.function(function, engine=engine)
    for numbers in ([1, 2, 1], [2, 1, 0, 2]):
        for c in (-1.0, 0.0, 1.0, 2.5):
            y, c = np.array(numbers, dtype), np.float64(c)
            with np.errstate(all="ignore"):
                try:
                    wanted = function(y.copy(), c)
                except (OverflowError, IndexError) as error:
                    with pytest.raises(type(error)):
                        staged(y, c)
                    continue
                same(staged(y.copy(), c), wanted)


def test_an_index_that_no_axis_reaches_is_out_of_range() -> None:
    @graphify.function
    def f(x: Any, k: Any, c: Any) -> Any:
        return [1.0, 2.0][k if c > 0 else 1], x[: k if c > 0 else 1]

    x, far = np.arange(3.0), np.uint64(2**64 - 1)
    same(f(x, far, np.float64(0)), (2.0, x[:1]))
    with pytest.raises(IndexError):
        f(x, far, np.float64(1))


def test_an_array_of_such_numbers_holds_those_of_its_path() -> None:
    @graphify.function
    def f(y: Any, n: int, c: Any) -> Any:
        b = y[0] if c > 0 else n - 3
        return np.array([b, b])

    y = np.array([7], np.uint8)
    assert list(f(y, np.int64(5), np.float64(0)).numpy()) == [2, 2]
    assert list(f(y, np.int64(1), np.float64(0)).numpy()) == [-2, -2]
