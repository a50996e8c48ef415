"""Integers that wrap around, beside floats or wider integers on another path: each path computes
with what it has, as NumPy does."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphify
from tests.tolerances import assert_close

pytestmark = pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")


def by_branch(v: Any, s: Any) -> Any:
    if s > 0:
        v = v * 0.5
    return v + v - 3


def by_expression(v: Any, s: Any) -> Any:
    w = v if s > 0 else 3.0
    return w - 5, -w, w * 100


def by_kind(v: Any, s: Any) -> Any:
    w = v if s > 0 else v.astype(np.int64)
    return w - 5, w << 7


def by_turns(v: Any, s: Any) -> Any:
    for i in range(9):
        if i > 3 + s:
            v = 3.5
        v = v - 1
    return v


def by_a_traced_loop(v: Any, s: Any) -> Any:
    for i in range(int(s * s) + 3):
        if i == 2:
            v = v / 2
        v = v + 100
    return v


def by_swaps(v: Any, s: Any) -> Any:
    a, b = v, 2.5
    for _ in range(int(s * s) + 11):
        a, b = b, a + v
    return a, b


def by_a_while_loop(v: Any, s: Any) -> Any:
    n = 0
    while n < s * s + 2 and v < 1e6:
        v = (v - 9) if n % 2 else v // 2 + 0.0
        n += 1
    return v, n


def by_attribute(v: Any, s: Any) -> Any:
    box = Box(v)
    for i in range(10):
        if i > s * 2:
            box.value = box.value / 3
        box.value = box.value + 100
    return box.value


def by_item(v: Any, s: Any) -> Any:
    d = {"a": v, "b": 0}
    for i in range(10):
        if i > s * 2:
            d["a"] = v * 1.5
        d["a"] = d["a"] + 30
        d["b"] += 1
    return d


def by_a_call(v: Any, s: Any) -> Any:
    def halved(w: Any) -> Any:
        if s > 0:
            return w / 2
        return w

    return halved(v) - 9 + halved(v + v)


class Box:
    def __init__(self, value: Any) -> None:
        self.value = value


NUMBERS = [value for name, value in list(vars().items()) if name.startswith("by_")]


def of_averages(a: Any, s: Any) -> Any:
    for _ in range(int(s * s)):
        a = (a + np.roll(a, 1)) / 2
    return a


def of_neighbours(a: Any, s: Any) -> Any:
    for _ in range(int(s * s)):
        a = (a[1:] + a[:-1]) // 2
        if s > 1:
            a = a * 1.5
    return a


def of_brightness(a: Any, s: Any) -> Any:
    b = a if s > 0 else a.astype(np.float64) / 255
    c = b + b
    c[0] = 3
    return c, c.max(), b[b > 0.5], c.mean()


def of_updates(a: Any, s: Any) -> Any:
    b = a.copy()
    for i in range(int(s * s) + 1):
        if i == 1:
            b = b / 2
        b += 100
        b[0] = 7
    return b


def of_pixels(a: Any, s: Any) -> Any:
    out = np.zeros(len(a))
    for i in range(len(a)):
        v = a[i]
        if v > 50:
            v = v * 0.5
        elif v > 20:
            v = np.int16(v) - 100
        out[i] = v + 120
    return out


def of_appended(a: Any, s: Any) -> Any:
    rows = []
    for v in a:
        if v > 50 * s:
            v = v * 0.5
        rows.append(v + 120)
    return np.array(rows) * 1.0


def of_sorted(a: Any, s: Any) -> Any:
    rows = [v if v > 50 * s else v / 2 for v in a]
    return np.array(sorted(rows)) * 1.0, max(rows), min(rows)


def of_sorted_and_filtered(a: Any, s: Any) -> Any:
    rows = []
    for v in a:
        w = v if v > 50 * s else v / 2
        if v != 55:
            rows.append(w)
    rows.sort(reverse=True)
    return rows[0] + 100, np.array(sorted(rows, key=lambda w: -w)) * 1.0


ARRAYS = [value for name, value in list(vars().items()) if name.startswith("of_")]
NARROW = ["uint8", "int16", "int32", "uint64"]


def check(function: Callable[..., Any], v: Any, engine: str) -> None:
    staged = graphify.function(function, engine=engine)
    for s in (-2.0, 0.0, 1.0, 2.0):
        want = function(copy.deepcopy(v), s)
        same(staged(copy.deepcopy(v), s), want)


def same(got: Any, want: Any) -> None:
    if isinstance(want, dict):
        assert list(got) == list(want)
        got, want = tuple(got.values()), tuple(want.values())
    if isinstance(want, tuple):
        for one, other in zip(got, want, strict=True):
            same(one, other)
        return
    assert type(want) in (int, float) or np.asarray(got).dtype == want.dtype
    assert_close(got, want)


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("function", NUMBERS, ids=lambda f: f.__name__)
def test_number(function: Callable[..., Any], engine: str, dtype: str) -> None:
    check(function, np.dtype(dtype).type(7), engine)
    check(function, np.dtype(dtype).type(np.iinfo(dtype).max), engine)


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("function", ARRAYS, ids=lambda f: f.__name__)
def test_array(function: Callable[..., Any], engine: str, dtype: str) -> None:
    largest = int(np.iinfo(dtype).max)
    values = [largest, 3, 0, 30, 60, largest - 5, largest // 2, 100, 17, 55, 21]
    check(function, np.array(values, dtype), engine)


@pytest.mark.parametrize("function", [by_branch, by_turns, by_a_call])
def test_lanes(function: Callable[..., Any]) -> None:
    """Numbers of several dtypes fit into one array, as those that a loop over the lanes stacks."""
    v, s = np.array([7, 250, 3], np.uint8), np.array([-2.0, 1.0, 2.0])
    want = np.array([function(a, b) for a, b in zip(v, s, strict=True)])
    np.testing.assert_array_equal(graphify.vmap(graphify.function(function))(v, s), want)


def test_recursion_says_what_differs() -> None:
    def halves(k: Any, n: Any) -> Any:
        if n <= 0:
            return k
        return halves(k, n - 1) / 2

    with pytest.raises(graphify.errors.GraphifyError, match="structure from call to call"):
        graphify.function(halves)(np.uint8(3), np.int64(4))
    assert graphify.function(halves)(np.float64(3), np.int64(4)) == 3 / 16


def filled(a: Any) -> Any:
    values = [0] * len(a)
    for i in range(len(a)):
        values[i] = a[i]
    return values[3] + 250


def of_two_kinds(a: Any, b: Any) -> Any:
    values = []
    for v in a:
        values.append(v)
        values.append(b)
    return values[0] + 250


def test_number_from_a_list_of_several_dtypes_is_refused() -> None:
    """In a list whose length the run knows, numbers have one dtype."""
    a = np.arange(20, dtype=np.uint8)
    for function, given in ((filled, (a,)), (of_two_kinds, (a, 2.5))):
        with pytest.raises(graphify.errors.GraphifyError, match="numbers of several dtypes"):
            graphify.function(function)(*given)
        wide = (a.astype(np.int64), *given[1:])
        assert graphify.function(function)(*wide) == function(*wide)


def test_dicts_and_lists_of_some_length_are_not_sorted() -> None:
    def smallest(x: Any) -> Any:
        rows = []
        for v in x:
            rows.append({"a": v})
        rows.sort()
        return rows[0]

    x = np.arange(12.0)
    with pytest.raises(TypeError):
        smallest(x)
    with pytest.raises(graphify.errors.TraceError, match="a key is no number"):
        graphify.function(smallest)(x)

    def first(x: Any) -> Any:
        rows = [[u for u in x if u < v] for v in x]
        return sorted(rows)[1]

    with pytest.raises(graphify.errors.GraphifyError, match="no number"):
        graphify.function(first)(x)
