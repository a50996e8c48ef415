"""A Python int on one path and an integer of fewer bits on another: never a value that wraps."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphify
from graphify.errors import TraceError

DTYPES = [np.uint8, np.int8, np.int16, np.uint64, np.int32, np.int64]


def largest_above_minus_one(k, a):
    best = -1
    for v in a:
        if v > best:
            best = v
    return best


def least_below_a_large_number(k, a):
    best = 300
    for v in a:
        if v < best:
            best = v
    return best


def sum_of_integers(k, a):
    s = 0
    for v in a:
        s = s + v
    return s


def number_of_one_path(k, a):
    y = a[0]
    if k > 0:
        y = -1
    return y


def computed_on_one_path(k, a):
    return int(k) * 100 if k < 3 else a[0]


def carried(k, a):
    m = a[0]
    while k < 5:
        m = int(k) * 100
        k = k + 1
    return m


def place_or_value(k, a):
    last = -1
    for i, v in enumerate(a):
        if v > 1:
            last = v
        elif v == 1:
            last = i * 1000
    return last


def least_of_two(k, a):
    return min(int(k), a[0])


def largest_of_two(k, a):
    return max(a[0], int(k) * 100)


def used_afterwards(k, a):
    y = a[0]
    if k > 0:
        y = -1
    return (y + 1) * 2


FUNCTIONS: list[Callable[[Any, Any], Any]] = [
    largest_above_minus_one, least_below_a_large_number, sum_of_integers, number_of_one_path,
    computed_on_one_path, carried, place_or_value, least_of_two, largest_of_two, used_afterwards,
]  # fmt: skip
EXACT = {  # what tracing knows not to fit is a kind of its own, and no refusal is needed
    largest_above_minus_one, least_below_a_large_number, sum_of_integers, number_of_one_path,
    used_afterwards,
}  # fmt: skip


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_value_of_the_path_or_a_refusal(function, dtype, engine):
    staged = graphify.function(function, engine=engine)
    high = min(np.iinfo(dtype).max, 250)
    for k in (-3, 0, 4):
        for a in ([1, 3, 2], [0, 0], [1, high], []):
            args = np.int64(k), np.array(a, dtype)
            want, got = outcome(function, *args), outcome(staged, *args)
            if isinstance(got, OverflowError) and dtype is np.uint64:
                assert k < 0  # no dtype holds both, so that they cannot be compared
            elif isinstance(got, TraceError) and function not in EXACT:
                assert "int(...)" in str(got) and dtype is not np.int64
            elif isinstance(want, Exception):
                assert isinstance(got, type(want)), got
            else:
                assert not isinstance(got, Exception), got
                assert int(got) == int(want)


def outcome(function, *args):
    with np.errstate(all="ignore"):
        try:
            return function(*args)
        except Exception as error:
            return error
