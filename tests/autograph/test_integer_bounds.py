"""Bounds, shifts and indices of every integer dtype, up to its ends: what Python and NumPy make of
them is as wide as it needs to be."""

import itertools
from typing import Any

import numpy as np
import pytest

import graphify

DTYPES = [np.uint8, np.int8, np.int16, np.uint64, np.int64]


def by_range(x, u, v):
    total, turns = 0, 0
    for i in range(u, v):
        total += i
        turns += 1
    for i in range(v, u, -7):
        total -= i
        turns += 1
    return total, turns, u in range(v), v // 2 in range(u, v, 3), 2.5 not in range(u)


def by_slices(x, u, v):
    return x[u:v], x[v:u:-2], len(x[u:]), x[:v:3]


def by_functions(x, u, v):
    taken = np.take(x, u, mode="wrap") + np.take(x, [0, 1], mode="clip")
    return np.roll(x, u)[:4], np.roll(x, v)[:4], taken, np.clip(x, u, v).sum(), x[v]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("function", [by_range, by_slices, by_functions])
@pytest.mark.parametrize("engine", ["reference", "native"])
def test_bounds_at_the_ends_of_a_dtype(function, dtype, engine):
    x, staged = np.arange(300.0), graphify.function(function, engine=engine)
    low, high = max(np.iinfo(dtype).min, -250), min(np.iinfo(dtype).max, 250)
    for u, v in itertools.product((low, low + 3, 3, 5, high - 2, high), repeat=2):
        bounds = np.array(u, dtype), np.array(v, dtype)
        want = graphify.tree.leaves(function(x, *map(int, bounds)))
        if function is by_functions:
            want = graphify.tree.leaves(function(x, *bounds))
        got = graphify.tree.leaves(staged(x, *bounds))
        for a, b in zip(got, want, strict=True):
            np.testing.assert_array_equal(np.asarray(a), np.asarray(b), strict=True)


def test_in_a_range_of_a_traced_step():
    @graphify.function
    def f(u, v, s, q):
        return q in range(u, v, s)

    steps, items = (1, 2, -2), (-3, -1, 0, 1, 2, 5, 8, 2.0, 2.5, float("nan"))
    for u, v, s, q in itertools.product((-3, 0, 2, 9), (-3, 0, 2, 9), steps, items):
        assert bool(f(*map(np.array, (u, v, s, q)))) == (q in range(u, v, s))


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_in_sequences_that_loops_go_over(engine):
    def f(x, k):
        ends = (3.0 in reversed(x), 9.0 in reversed(x), (1, x[1]) in enumerate(x), 3.0 in zip(x))
        kinds = (None in range(k), "a" in range(k), True in range(k), np.float32(2) in range(k))
        return ends, kinds, k in range(9), 7 in range(k), k in range(k, 9, 2)

    args = np.arange(5.0), np.array(4)
    got = graphify.function(f, engine=engine)(*args)
    assert list(map(bool, graphify.tree.leaves(got))) == graphify.tree.leaves(f(*args))


def test_in_what_only_the_run_knows_the_length_of():
    with pytest.raises(graphify.errors.TraceError, match="`in` looks through"):
        graphify.function(lambda x, k: 1.0 in reversed(x[:k]))(np.arange(5.0), np.array(3))


def turns_from_to(u, v, step):
    turns, last = 0, u
    for i in range(u, v):
        turns, last = turns + 1, i
        if turns == 3:
            break
    for i in range(u, v, step):
        turns, last = turns + 10, i
        if turns > 30:
            break
    return turns, last


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_range_between_bounds_that_are_far_apart(engine):
    staged = graphify.function(turns_from_to, engine=engine)
    low, high = -(2**63), 2**63 - 1
    ends = (low, low + 2, -(2**62), -2, 0, 3, 2**62, high - 2, high)
    for u, v, step in itertools.product(ends, ends, (low, -3, 5, high)):
        try:
            got = staged(np.array(u), np.array(v), np.array(step))
        except OverflowError as error:  # what 64 bits do not hold
            assert not low + 1 < v - u < high, (u, v, step)
            assert "for i in range(" in str(error)
            continue
        assert tuple(map(int, got)) == turns_from_to(u, v, step), (u, v, step)


COMPARISONS = {
    "<": lambda k, u: (int(k) < u, u < int(k)),
    "<=": lambda k, u: (int(k) <= u, u <= int(k)),
    "==": lambda k, u: (int(k) == u, u == int(k)),
    "!=": lambda k, u: (int(k) != u, u != int(k)),
    "in turn": lambda k, u: (0 <= int(k) < u, np.greater(u, int(k))),
}


@pytest.mark.parametrize("engine", ["reference", "native", "tensorflow"])
@pytest.mark.parametrize("dtype", [np.uint64, np.int64, np.uint8, np.int8])
@pytest.mark.parametrize("sign", COMPARISONS)
def test_an_int_of_the_run_compares_with_any_integer(sign: str, dtype: Any, engine: str) -> None:
    """By value, as Python's int does, whatever the dtype of the other can hold."""
    plain = COMPARISONS[sign]
    staged = graphify.function(plain, engine=engine)
    limits = np.iinfo(dtype)
    ends = [limits.min, limits.max, min(limits.max, 2**63 - 1), min(limits.max, 2**63), 1]
    for k in (-(2**63), -1, 0, 1, 127, 2**62, 2**63 - 1):
        for u in (np.array(ends, dtype), *map(dtype, ends)):
            for got, want in zip(staged(np.int64(k), u), plain(np.int64(k), u), strict=True):
                np.testing.assert_array_equal(got, want)
