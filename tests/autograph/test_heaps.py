"""heapq and bisect: random sequences of operations, compared with Python's own."""

import bisect
import copy
import heapq
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import graphify
from graphify.errors import TraceError

ENGINES = ["reference", "native"]


def of_numbers(x, k):
    heap, taken = [], []
    for i, v in enumerate(x):
        if i % 3 == 2 and v > 0:
            taken.append(heapq.heappop(heap))
        heapq.heappush(heap, v)
        if v < -1:
            taken.append(heapq.heappushpop(heap, v * k))
    taken.append(heapq.heapreplace(heap, x[0]))
    return heap, taken, len(heap)


def of_tuples(x, k):
    heap = []
    for i, v in enumerate(x):
        heapq.heappush(heap, (v // 1, i, v * 2))
        if v > k:
            heapq.heappop(heap)
    return [heapq.heappop(heap) for _ in range(2)], heap


def made_a_heap(x, k):
    heap = [v for v in x if v > -k]
    heapq.heapify(heap)
    return heap


def of_known_length(x, k):
    heap = list(x)
    heapq.heapify(heap)
    least = heapq.heappop(heap)
    return least, heap, heapq.nsmallest(2, x), heapq.nlargest(3, x), heapq.nlargest(k, list(x))


def of_what_is_known(x, k):
    heap = []
    for v in (5, 1, 4, 1, 3):
        heapq.heappush(heap, v)
    if x[0] > 0:
        heapq.heappush(heap, 0)
    return heap


def of_arrays(x, k):
    heap, taken = [], []
    for row in x[:, None]:
        if row > -k:
            heapq.heappush(heap, row)
    taken.append(heapq.heappop(heap))
    heapq.heapify(heap)
    while len(heap) > k:
        taken.append(heapq.heappop(heap) * 2)
    return heap, taken


def turned(x, k):
    """A name is bound to two elements of a list in a turn, with a loop over it in between."""
    rows = [row for row in x[:, None] if row > -k]
    for i in range(len(rows)):
        place, row = i, rows[i]
        while place > 0:
            rows[place] = rows[place - 1]
            place -= k
        rows[place] = row
        row = rows[place]
        rows[place] = row
    return rows


def emptied(x, k):
    heap = [v for v in x if v > k]
    heapq.heapify(heap)
    total = 0.0
    while heap:
        total = total * 2 + heapq.heappop(heap)
    return total


def places(x, k):
    known, row = [1.0, 2.0, 2.0, 4.0], np.sort(x)
    found = [v for v in row if v > -k]
    return (
        [bisect.bisect(known, v) for v in x],
        bisect.bisect_left(known, x[0]), bisect.bisect_right((0, k, 3), 2),
        bisect.bisect(range(9), k),
        bisect.bisect_left(row, x[1]), bisect.bisect(row, x[1], 1, len(x) - 1),
        bisect.bisect_left(found, x[2]), bisect.bisect(found, 0.5, lo=k),
        bisect.bisect_left(known, -x[0], key=lambda v: -v),
    )  # fmt: skip


def inserted(x, k):
    rows = []
    for v in x:
        if v > -k:
            bisect.insort(rows, v)
    bisect.insort_left(rows, x[1], 0, k)
    by_size = [0.0, 2.0]
    bisect.insort_right(by_size, x[0], key=abs)
    return rows, by_size


def replaced_where_there_is_one(x, k):
    heap, total = [], 0.0
    try:
        for v in x:
            if v > k:
                heapq.heappush(heap, v)
            elif v > 0:
                total = total * 2 + heapq.heappushpop(heap, v)
            else:
                total = total * 2 + heapq.heapreplace(heap, -v)
    except IndexError:
        return total, -len(heap)
    heapq.heapify(heap)
    return total, len(heap)


PROGRAMS = [
    of_numbers, of_tuples, made_a_heap, of_known_length, of_what_is_known, emptied, places,
    inserted, of_arrays, turned, replaced_where_there_is_one,
]  # fmt: skip


def plain(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return np.asarray(value).tolist()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_as_python_has_it(function: Any, engine: str) -> None:
    """The same elements in the same order, for one trace and many arguments."""
    staged = graphify.function(function, engine=engine)
    rng = np.random.default_rng(len(function.__name__))
    for k in (1, 2, 1, 3):
        x = rng.normal(size=12).round(1) * 3
        want = function(copy.copy(x), np.int64(k))
        assert plain(staged(x, np.int64(k))) == plain(want)


def test_a_name_for_what_was_popped_and_updated_is_refused() -> None:
    """Nobody can say whether the array that was pushed has another name."""

    def f(x):
        heap = []
        for row in x[:, None]:
            if row > 0:
                heapq.heappush(heap, row)
        least = heapq.heappop(heap)
        least += 1
        return x

    with pytest.raises(TraceError, match="may, or may not, be the array that another name"):
        graphify.function(f)(np.ones(3))


@pytest.mark.parametrize("engine", ENGINES)
def test_errors(engine: str) -> None:
    @graphify.function(engine=engine)
    def popped(x):
        return heapq.heappop([v for v in x if v > 9])

    with pytest.raises(IndexError, match="index out of range"):
        popped(np.ones(3))
    with pytest.raises(ValueError, match="lo must be non-negative"):
        graphify.function(lambda x, k: bisect.bisect(x, 1.0, k), engine=engine)(np.ones(3), -1)


def test_a_heap_from_outside_is_changed_when_the_call_is_over() -> None:
    outside = [3.0, 5.0]

    @graphify.function
    def f(x):
        heapq.heappush(outside, 1.0)
        return outside[0] * x

    assert float(f(2.0)) == 2.0 and outside == [1.0, 5.0, 3.0]


def test_heaps_are_lists() -> None:
    with pytest.raises(TypeError, match="heap argument must be a list, not"):
        graphify.function(lambda x: heapq.heapify(x))(np.ones(3))


@dataclass
class Job:
    kind: int

    def __lt__(self, other):
        return RANKS[self.kind] < RANKS[other.kind]


RANKS = np.array([2, 0, 1])


def compared_by_the_users_class(x, k):
    """Whose comparison may fail, after the push has changed the list."""
    heap = [Job(0), Job(1)]
    try:
        heapq.heappush(heap, Job(k + 1))
    except IndexError:
        return -1
    return heap[0].kind


def test_a_comparison_that_may_fail_is_refused() -> None:
    """It would be known too late: the push has changed the list."""
    with pytest.raises(TraceError, match="changes a list of its caller before it may fail"):
        graphify.function(compared_by_the_users_class)(np.ones(3), np.int64(1))
