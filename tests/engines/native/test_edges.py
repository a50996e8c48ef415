"""Inputs at the edges of what dtypes, shapes and layouts allow: what NumPy gives, or an error."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphify


def native(f: Callable[..., Any]) -> Any:
    return graphify.function(f, engine="native")


# --- indices of uint64 ----------------------------------------------------------------------------


def rows_at(x: Any, i: Any) -> Any:
    return x[i]


def put_at(x: Any, i: Any) -> Any:
    x[i] = 7
    return x


@pytest.mark.parametrize("f", [rows_at, put_at])
def test_uint64_indices_from_2_to_the_63_on(f: Any) -> None:
    # NumPy takes the bits of an array of uint64 for int64: 2**64 - 1 is the last place.
    staged = native(f)
    for first in (0, 4, 2**64 - 1, 2**64 - 5):
        i = np.array([first, 2], np.uint64)
        got = staged(np.arange(5) * 10, i)
        np.testing.assert_array_equal(got, f(np.arange(5) * 10, i))
    for first in (5, 2**63, 2**64 - 6):
        with pytest.raises(IndexError, match="out of bounds for axis 0 with size 5"):
            staged(np.arange(5), np.array([first, 2], np.uint64))


@pytest.mark.parametrize("f", [rows_at, put_at])
def test_a_uint64_scalar_index_does_not_wrap_around(f: Any) -> None:
    staged = native(f)
    for i in (0, 4):
        np.testing.assert_array_equal(staged(np.arange(5), np.uint64(i)), f(np.arange(5), i))
    for i in (5, 2**63, 2**64 - 1):
        with pytest.raises(IndexError, match=f"index {i} is out of bounds"):
            staged(np.arange(5), np.uint64(i))


# --- negative powers of integers ------------------------------------------------------------------


def to_the_power(x: Any, y: Any) -> Any:
    return x**y


@pytest.mark.parametrize(
    ("x", "y"), [((0,), (1,)), ((0, 3), (3,)), ((1, 0), (5, 1)), ((0,), ()), ((0, 2), (0, 2))]
)
def test_nothing_to_a_negative_power_is_nothing(x: Any, y: Any) -> None:
    base, exponent = np.ones(x, np.int64), np.full(y, -1)
    got = native(to_the_power)(base, exponent)
    np.testing.assert_array_equal(got, base**exponent)


def test_negative_powers_of_some_rows() -> None:
    staged, exponent = native(to_the_power), np.full(3, -1)
    for n in (2, 0, 5, 0):
        base = np.full((n, 3), 2)
        if n:
            with pytest.raises(ValueError, match="negative integer powers"):
                staged(base, exponent)
        else:
            assert staged(base, exponent).shape == (0, 3)
        np.testing.assert_array_equal(staged(base, -exponent), base)


# --- indices are looked at before what they point at ----------------------------------------------


def by_two(x: Any, a: Any, b: Any) -> Any:
    return x[b, a]


def put_by_two(x: Any, a: Any, b: Any) -> Any:
    y, n = x * 2, 0
    while n < 3:
        y[b, a] = n
        n += 1
    return y


@pytest.mark.parametrize("f", [by_two, put_by_two])
def test_an_index_far_out_of_range_in_the_last_row(f: Any) -> None:
    # Each turn of the loop over the places needs all rows of `a`, which is checked row by row.
    n = 6
    x, b = np.arange(36.0).reshape(n, n), np.arange(n)[:, None, None]
    a = np.arange(36).reshape(n, n) * 5 % n
    staged = native(f)
    np.testing.assert_array_equal(staged(x.copy(), a, b), f(x.copy(), a, b))
    a[-1, -1] = 10**12
    with pytest.raises(IndexError, match=f"index {10**12} is out of bounds for axis 1"):
        staged(x.copy(), a, b)


# --- integers that wrap around prove nothing ------------------------------------------------------


def at_sum(x: Any, a: Any, b: Any) -> Any:
    found = -1.0
    if a - b >= 0:
        if b >= 0:
            if a < len(x):
                found = x[a]
    return found


def not_below_zero(x: Any, a: Any, b: Any) -> Any:
    total = 0
    if a >= 0:
        if b >= 0:
            total = np.maximum(a + b, 0)
    return total


def first_from(x: Any, a: Any, b: Any) -> Any:
    found, i, turns = -1.0, a, 0
    while turns < 5 and i < b:
        i = i + 2**62
        if i >= a and i < len(x):
            found = x[i]
        turns += 1
    return found


@pytest.mark.parametrize("f", [at_sum, not_below_zero, first_from])
def test_what_wraps_around_is_not_taken_for_a_larger_number(f: Any) -> None:
    x, staged = np.arange(10.0), native(f)
    low, high = -(2**63), 2**63 - 1
    ends = [low, low + 5, low + 2**62, -3, 0, 2, 5, 2**62, high - 9, high]
    for a in ends:
        for b in ends:
            arguments = x, np.int64(a), np.int64(b)
            with np.errstate(all="ignore"):
                try:
                    want = f(*arguments)
                except IndexError as error:
                    with pytest.raises(type(error)):
                        staged(*arguments)
                    continue
            assert staged(*arguments) == want, (a, b)


# --- results of lengths that the run tells --------------------------------------------------------


def returned_half_way(x: Any, k: Any, s: Any) -> Any:
    again, v = s, x[k:] * 2
    for _ in range(3):
        if again > 0:
            if x[0] == 0.5:
                return v
            v[1:] += k
        again = 1
    return v


def test_memory_that_waits_for_a_result_keeps_its_length() -> None:
    """What is to be returned, of no length yet, moved into memory that was to hold `v`."""
    staged = native(returned_half_way)
    for k in (0, 1, 3):
        for s in (0.0, 1.0):
            for first in (0.5, 1.0):
                x = np.array([first, 2.0, 3.0])
                got = staged(x.copy(), np.array(k), np.array(s))
                np.testing.assert_array_equal(got, returned_half_way(x.copy(), k, s))
