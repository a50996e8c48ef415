"""Comparison of lists, sets and dicts whose length, or which of them it is, only the run knows."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from typing import Any

import numpy as np
import pytest

import graphify
from graphify.errors import TraceError

VECTORS = [[1.0, 2], [1.0, 2, 3], [-1.0, -2], [2.0, 1], [1.0, -3, 2]]


def compared_lists(x, y):
    a, b = [v for v in x if v > 0], [v for v in y if v > 0]
    c, d = [(v, 1) for v in x if v > 0], [(v, 1) for v in y if v > 0]
    e, f = [[v, 1] for v in x if v > 0], [[v, 1] for v in y if v > 0]
    return [
        *(a == b, a != b, a < b, a <= b, a > b, a >= b, c == d, c < d, e == f, e < f, a == a),
        *(a == [1.0, 2.0], [1.0, 2.0] == a, [1.0] < a, a < [1.0], a == [], [] == a, a != []),
        *(a == 3, a == (1.0, 2.0), (a, 1) == (b, 1), sorted(a) == sorted(b), not a == b),
        len(a) == 2 and a == b,
    ]


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_lists_of_run_time_length_are_compared(engine: str) -> None:
    staged = graphify.function(compared_lists, engine=engine)
    for x in map(np.array, VECTORS):
        for y in map(np.array, VECTORS):
            assert list(map(bool, staged(x, y))) == compared_lists(x, y)


def test_lists_of_equal_nans_and_of_arrays_are_refused() -> None:
    """Python asks first whether two elements are one object."""

    def of_numbers(x, y):
        return [v for v in x if v != 0] == [v for v in y if v != 0]

    staged = graphify.function(of_numbers)
    assert not staged(np.array([1.0, np.nan]), np.array([np.nan, 1.0]))
    with pytest.raises(TraceError, match="two NaN of lists are compared"):
        staged(np.array([1.0, np.nan]), np.array([1.0, np.nan]))
    with pytest.raises(TraceError, match="lists of arrays are compared"):
        graphify.function(lambda x: [v for v in x if v[0]] == [v for v in x if v[1]])(np.eye(2))


def containers(x, c):
    """Of each kind one, and one that is one of two others by the path; it changes afterwards, so
    that it is not just a copy of one of them."""
    a, b = {int(v) for v in x if v > 1}, {int(v) + 1 for v in x}
    either = a if c > 0 else b
    d, e = {int(v): 2.0 for v in x if v > 1}, {int(v) + 1: 1.0 for v in x}
    mapping = d if c > 0 else e
    f, g = Counter([int(v) for v in x if v > 1]), Counter([int(v) + 1 for v in x])
    counts = f if c > 0 else g
    h, i = deque([v for v in x if v > 1]), deque([v + 1 for v in x])
    queue = h if c > 0 else i
    j, k = [v for v in x if v > 1], [v + 1 for v in x]
    rows = j if c > 0 else k
    either.add(9)
    mapping[9] = 1.0
    counts[9] = 1
    queue.append(9.0)
    rows.append(9.0)
    one = {int(v) for v in x}, {int(v): 1.0 for v in x}, Counter([int(v) for v in x])
    return *one, deque([v for v in x]), [v for v in x], either, mapping, counts, queue, rows


def of_sets(x, c):
    s, d, p, dq, li, t, h, w, q, rows = containers(x, c)
    return [
        *(s == t, t == s, s != t, s < t, s <= t, s > t, s >= t, t <= s, {1, 2} == t, {1, 2} <= t),
        *(s.issubset(t), s.isdisjoint(t), s.issuperset(t), frozenset({1}) == t, s == 3, s == [1]),
        *map(sorted, (s & t, s | t, s - t, s ^ t, t - s, t ^ s, {1, 2} & t, s.union(t))),
        *(s == d.keys(), s == h.keys(), d.keys() == s, t == d.keys(), d.keys() <= t),
        *({1, 2} == d.keys(), s == {1: 1, 2: 2}.keys(), s <= {1: 1, 2: 2, 0: 0}.keys(), s in [t]),
        *(sorted(s & {1: 1, 7: 2}.keys()), s == d.values(), set(d.values()) == d.values()),
    ]


def of_dicts(x, c):
    s, d, p, dq, li, t, h, w, q, rows = containers(x, c)
    return [
        *(d == h, h == d, d != h, dict(d) == h, {1: 1.0} == h, d == 3, p == d, d == p),
        *(d.keys() == h.keys(), d.keys() <= h.keys(), d == w, w == d, OrderedDict(d) == h),
        *(defaultdict(float, d) == h, sorted((d | h).items()), sorted((h | d).items())),
        *(sorted(d.keys() & h.keys()), sorted(h.keys() - d.keys()), {1: s} == {1: t}),
    ]


def of_counters(x, c):
    s, d, p, dq, li, t, h, w, q, rows = containers(x, c)
    sums = p + w, p - w, p | w, p & w, w & p
    return [
        *(p == w, w == p, p != w, p <= w, p < w, p > w, p >= w, w < p, p == 3),
        *(sorted(each.items()) for each in sums),
    ]


def of_sequences(x, c):
    s, d, p, dq, li, t, h, w, q, rows = containers(x, c)
    return [
        *(dq == q, q == dq, dq < q, dq != q, list(dq + q), list(q + dq), dq == 3),
        *(li == rows, rows == li, li < rows, rows < li, li + rows, rows + li),
    ]


@pytest.mark.parametrize("function", [of_sets, of_dicts, of_counters, of_sequences])
def test_containers_beside_one_of_several(function: Any) -> None:
    """It is asked what it is equal to, on either side of an operator."""
    staged = graphify.function(function, engine="reference")
    x = np.array([1.0, 2, 2, 0])
    for c in (np.float64(1), np.float64(-1)):
        for expected, found in zip(function(x, c), staged(x, c), strict=True):
            np.testing.assert_array_equal(np.array(found), np.array(expected))


def means_of_groups(k, v):
    groups = defaultdict(list)
    for i, w in zip(k, v, strict=True):
        groups[i].append(w)
    return [(key, sum(rows) / len(rows)) for key, rows in sorted(groups.items())]


def sorted_backwards(k, v):
    rows = [(i, w, [w] * 3, {"u": w}) for i, w in zip(k, v, strict=True) if w > 0]
    rows.sort(reverse=True)
    return [(i, w + d["u"]) for i, w, r, d in rows]


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("function", [means_of_groups, sorted_backwards])
def test_numbers_that_elements_begin_with_decide(function: Any, engine: str) -> None:
    staged = graphify.function(function, engine=engine)
    for k in ([3, 1, 2, 3], [3, 1, 2, 0], [2, 2, 2], [], [5]):
        given = np.array(k, int), np.arange(1.0, len(k) + 1)
        expected = function(*given)
        np.testing.assert_allclose(np.array(staged(*given), float), np.array(expected, float))


def test_elements_that_begin_with_the_same_numbers_are_not_sorted_by_the_rest() -> None:
    def by_dicts(k, v):
        return [d["u"] for _, d in sorted([(i, {"u": w}) for i, w in zip(k, v, strict=True) if w])]

    staged = graphify.function(by_dicts)
    assert [float(v) for v in staged(np.array([2, 1]), np.array([1.0, 2]))] == [2.0, 1.0]
    with pytest.raises(TraceError, match="begin with the same numbers"):
        staged(np.array([1, 1]), np.array([1.0, 2]))
    with pytest.raises(TraceError, match="sorted by what is no number"):
        graphify.function(lambda x: sorted([{"u": v} for v in x if v > 0]))(np.ones(3))
