"""heapq and bisect, written out: as plain functions, which are converted like anyone's.

    heapq.heappush(rows, (d, i))     # rows.append, and a loop that lets it rise
    bisect.bisect_left(x, v)         # a loop that halves

Python's own are written in C, and see neither the elements of a list that grows in the run nor a
comparison of what only the run knows. These leave a list exactly as Python's do.
"""

from __future__ import annotations

import bisect
import heapq
from collections.abc import Callable
from typing import Any

from graphify.autograph.operators.builtins import sorted as sorted_
from graphify.autograph.operators.calls import OVERLOADS
from graphify.autograph.operators.iterators import run
from graphify.autograph.operators.lookups import item
from graphify.autograph.operators.numbers import type_name
from graphify.autograph.operators.ordering import compared
from graphify.ir.context import current_builder, in_bounds

# --- heaps ----------------------------------------------------------------------------------------


def _less(one: Any, other: Any) -> Any:
    with in_bounds(False):  # it may be the user's own comparison
        return compared("<", one, other)


def _risen(heap: Any, first: Any, place: Any) -> None:
    """Move the element at a place up, not above `first`, until its parent is no larger."""
    rising = heap[place]
    while place > first:
        parent = (place - 1) // 2
        if not _less(rising, heap[parent]):
            break
        heap[place] = heap[parent]
        place = parent
    heap[place] = rising


def _sunk(heap: Any, first: Any) -> None:
    """Move the element at a place down to a leaf, smaller children up, and let it rise from there:
    it is seldom small, so that most elements are compared but once."""
    place, end, sinking = first, len(heap), heap[first]
    child = 2 * place + 1
    while child < end:
        if child + 1 < end:
            if not _less(heap[child], heap[child + 1]):
                child += 1
        heap[place] = heap[child]
        place = child
        child = 2 * place + 1
    heap[place] = sinking
    rise(heap, first, place)


def rise(heap: Any, first: Any, place: Any) -> None:
    run(_risen, heap, first, place)


def sink(heap: Any, first: Any) -> None:
    run(_sunk, heap, first)


def _heappush(heap: Any, item: Any) -> None:
    heap.append(item)
    rise(heap, 0, len(heap) - 1)


def _heappop(heap: Any) -> Any:
    if not heap:
        raise IndexError("index out of range")
    last = heap.pop()
    least = last
    if heap:
        least = heap[0]
        heap[0] = last
        sink(heap, 0)
    return least


def _heapreplace(heap: Any, item: Any) -> Any:
    if not heap:
        raise IndexError("index out of range")
    least = heap[0]
    heap[0] = item
    sink(heap, 0)
    return least


def _heappushpop(heap: Any, item: Any) -> Any:
    least = item
    if heap:
        if _less(heap[0], item):
            least = heap[0]
            heap[0] = item
            sink(heap, 0)
    return least


def _heapify(heap: Any) -> None:
    for place in range(len(heap) // 2 - 1, -1, -1):
        sink(heap, place)


def _nsmallest(n: Any, iterable: Any, key: Any = None) -> Any:
    return sorted_(iterable, key=key)[: max(n, 0)]


def _nlargest(n: Any, iterable: Any, key: Any = None) -> Any:
    return sorted_(iterable, key=key, reverse=True)[: max(n, 0)]


# --- places in what is sorted ---------------------------------------------------------------------


def _place(a: Any, x: Any, lo: Any, hi: Any, key: Any, after: bool) -> Any:
    """Where `x` belongs: before the elements equal to it, or after them."""
    if lo < 0:
        raise ValueError("lo must be non-negative")
    end = len(a) if hi is None else hi
    while lo < end:
        middle = (lo + end) // 2
        other = item(a, middle) if key is None else key(item(a, middle))
        if compared("<", x, other) if after else not compared("<", other, x):
            end = middle
        else:
            lo = middle + 1
    return lo


def _bisect_left(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> Any:
    return run(_place, a, x, lo, hi, key, False)


def _bisect_right(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> Any:
    return run(_place, a, x, lo, hi, key, True)


def _insort_left(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> None:
    a.insert(bisect.bisect_left(a, x if key is None else key(x), lo, hi, key=key), x)


def _insort_right(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> None:
    a.insert(bisect.bisect_right(a, x if key is None else key(x), lo, hi, key=key), x)


def _written_out(plain: Any, function: Any) -> Callable[..., Any]:
    def overload(*args: Any, **kwargs: Any) -> Any:
        if current_builder() is None:
            return plain(*args, **kwargs)
        if plain not in _OF_HEAPS:
            return run(function, *args, **kwargs)
        if args and not isinstance(args[0], list):
            raise TypeError(f"heap argument must be a list, not {type_name(args[0])}")
        with in_bounds():
            return run(function, *args, **kwargs)

    return overload


_OF_HEAPS: dict[Any, Any] = {
    heapq.heapify: _heapify,
    heapq.heappop: _heappop,
    heapq.heappush: _heappush,
    heapq.heappushpop: _heappushpop,
    heapq.heapreplace: _heapreplace,
}
_FUNCTIONS: dict[Any, Any] = {
    **_OF_HEAPS,
    heapq.nlargest: _nlargest,
    heapq.nsmallest: _nsmallest,
    bisect.bisect_left: _bisect_left,
    bisect.bisect_right: _bisect_right,
    bisect.insort_left: _insort_left,
    bisect.insort_right: _insort_right,
}
OVERLOADS.update({plain: _written_out(plain, own) for plain, own in _FUNCTIONS.items()})
