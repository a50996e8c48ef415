"""Loops over what is known while tracing: long ones are run by the engine, short ones turn by
turn; either gives what plain Python gives, and numbers of Python's."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphify


def sum_of_squares(n):
    total = 0.0
    for i in range(n):
        total += 1 / (i * i + 1)
    return total


def table(n):
    made = np.zeros((n // 50 + 1, n // 50 + 2))
    for i in range(made.shape[0]):
        for j in range(made.shape[1]):
            made[i, j] = i * j + made[i - 1, j - 1]
    return made


def over_an_array(n):
    total = 0.0
    for v in np.linspace(0, 1, n):
        if v > 0.5:
            total += v
    return total


def counted_down(n):
    total = 0
    while n > 0:
        total += n * n % 7
        n -= 1
    return total, n


def until_it_is_large(n):
    x, total, i = np.linspace(0, 1, n), 0.0, 0
    while i < n and total < 300:
        total += x[i]
        i += 1
    return total, i


def longer_than_64_bits(n):
    product = 1
    for i in range(1, n):
        product *= i
    return product % 1_000_003, product.bit_length()


def powers_in_a_while(n):
    k, power = 0, 1
    while k < n:
        power *= 3
        k += 1
    return power


def list_filled(n):
    rows, i = [], 0
    while i < n:
        rows.append(i * i)
        i += 1
    return {rows[5]: len(rows)}[25], sum(rows), rows[3]


def text_made(n):
    text, i = "", 0
    while i < n:
        i += 1
        if i % 1000 == 0:
            text += f"{i},"
    return text


def keys_and_texts(n):
    total = 0
    for i in range(n):
        total += i
    return {total: 1}[total], f"{total:04d}", "abc"[total % 3], isinstance(total, int)


def collatz_by_table(n):
    lengths = {1: 0}

    def length(k):
        if k not in lengths:
            lengths[k] = 1 + length(k // 2 if k % 2 == 0 else 3 * k + 1)
        return lengths[k]

    return max(length(k) for k in range(1, min(n, 200)))


def primes(n):
    found = []
    for k in range(2, n // 5):
        for p in found:
            if k % p == 0:
                break
        else:
            found.append(k)
    return found


def index_out_of_range_late(n):
    x, total = np.ones(n - 3), 0.0
    for i in range(n):
        total += x[i]
    return total


def division_by_zero_late(n):
    k, total = n, 0
    while True:
        k -= 1
        total += 100 // k


def pairwise(n):
    rows = np.arange(3 * n).reshape(n, 3) % 7
    return np.array([[np.sum((a - b) ** 2) for a in rows[:20]] for b in rows[::50]])


FUNCTIONS = [
    sum_of_squares, table, over_an_array, counted_down, until_it_is_large, longer_than_64_bits,
    powers_in_a_while, list_filled, text_made, keys_and_texts, collatz_by_table, primes,
    index_out_of_range_late,
    division_by_zero_late, pairwise,
]  # fmt: skip


def outcome(function: Callable[..., Any], n: int) -> Any:
    try:
        return graphify.tree.leaves(function(n))
    except Exception as error:
        return type(error), str(error).split("\n")[0]


@pytest.mark.filterwarnings("ignore:.*turns unrolled")
@pytest.mark.parametrize("engine", ["native", "reference"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_known_loops(function: Callable[..., Any], engine: str) -> None:
    for n in (12, 2500):
        want, got = outcome(function, n), outcome(graphify.function(function, engine=engine), n)
        assert len(got) == len(want)
        for one, other in zip(got, want, strict=True):
            if isinstance(other, float | np.ndarray):
                np.testing.assert_allclose(one, other, rtol=1e-12)
            else:
                assert type(one) is type(other) and one == other


def test_a_long_loop_takes_no_long_trace() -> None:
    graphify.function(sum_of_squares)(10)
    start = time.perf_counter()
    got = graphify.function(sum_of_squares)(1_000_000)  # op by op this takes a minute
    assert time.perf_counter() - start < 15
    np.testing.assert_allclose(got, sum_of_squares(1_000_000))


def test_a_loop_over_a_known_array_is_staged_once() -> None:
    weights = np.linspace(0, 1, 1000)

    def plain(x):
        total = 0 * x
        for w in weights * 1.0:
            total += w * x
        for w in np.linspace(0, 2, 500):
            total = total * 0.5 + w * x
        return total

    x, weighted = np.array([1.0, -2.0]), graphify.function(plain)
    np.testing.assert_allclose(weighted(x), plain(x))
    assert len(str(weighted.get_concrete_function(x).graph).splitlines()) < 40
