"""Python's tools for iterators, written out: as plain functions, which are converted like anyone's.

    sum(g)             for item in g: start = start + item
    enumerate(g)       for item in g: yield start, item; start += 1

What a trace makes of `for`, `if` and `yield` is all that these need to work on generators, arrays
of any length and whatever else a `for` statement goes over; iterators.py says when they are used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from graphify.autograph.operators import cursors
from graphify.autograph.operators.ordering import compared

# --- generator expressions ------------------------------------------------------------------------


def generate(
    iterable: Any, value: Callable[[Any], Any], wanted: Callable[[Any], Any] | None = None
) -> Iterator[Any]:
    """(value(item) for item in iterable if wanted(item))"""
    for item in cursors.spread(iterable, value, wanted):
        if wanted is None:
            yield value(item)
        elif wanted(item):
            yield value(item)


def flatten(iterables: Any) -> Iterator[Any]:
    """(item for iterable in iterables for item in iterable)"""
    for iterable in iterables:
        yield from iterable


# --- built-in functions that give iterators -------------------------------------------------------


def enumerated(iterable: Any, start: Any = 0) -> Iterator[Any]:
    """enumerate(iterable, start)"""
    number = cursors.whole(start)
    for item in iterable:
        yield number, item
        number = number + 1


def mapped(function: Callable[..., Any], iterable: Any) -> Iterator[Any]:
    """map(function, iterable)"""
    for item in iterable:
        yield function(item)


def starmapped(function: Callable[..., Any], iterable: Any) -> Iterator[Any]:
    """itertools.starmap(function, iterable)"""
    for item in iterable:
        yield function(*item)


def filtered(function: Callable[[Any], Any] | None, iterable: Any) -> Iterator[Any]:
    """filter(function, iterable)"""
    for item in iterable:
        if function is None:
            if item:
                yield item
        elif function(item):
            yield item


def zipped(before: Any, generator: Any, after: Any) -> Iterator[Any]:
    """zip(*before, generator, *after), the others being known by their items."""
    i = 0
    if cursors.reach(before, i):
        for item in generator:
            if not cursors.reach(after, i):
                return
            yield (*cursors.items_at(before, i), item, *cursors.items_at(after, i))
            i += 1
            if not cursors.reach(before, i):
                return


def called_until(function: Callable[[], Any], sentinel: Any) -> Iterator[Any]:
    """iter(function, sentinel)"""
    value = function()
    while value != sentinel:
        yield value
        value = function()


# --- iterators ------------------------------------------------------------------------------------


def rest_of(cursor: Any) -> Iterator[Any]:
    """What an iterator over a sequence has not given yet; the loop's body may take from it, too."""
    cursor.start_loop()
    while cursor.position < cursor.length():
        cursor.position += 1
        yield cursor.item(cursor.position - 1)


def drained(iterator: Any) -> Iterator[Any]:
    """What an object with a `__next__` of the user's gives."""
    while True:
        try:
            item = iterator.__next__()
        except StopIteration:
            return
        yield item


def next_or(iterator: Any, default: Any) -> Any:
    """next(iterator, default) of an object with a `__next__` of the user's"""
    try:
        return iterator.__next__()
    except StopIteration:
        return default


# --- itertools ------------------------------------------------------------------------------------


def count(start: Any = 0, step: Any = 1) -> Iterator[Any]:
    while True:
        yield start
        start = start + step  # which may be an array of the caller


def repeat(value: Any, times: Any = None) -> Iterator[Any]:
    if times is None:
        while True:
            yield value
    for _ in range(times):
        yield value


def cycle(iterable: Any) -> Iterator[Any]:
    items = []
    for item in iterable:
        items.append(item)
        yield item
    while len(items) > 0:
        yield from items


def chain(*iterables: Any) -> Iterator[Any]:
    for iterable in iterables:
        yield from iterable


def islice(iterable: Any, start: Any, stop: Any, step: Any) -> Iterator[Any]:
    """islice with all its arguments; `stop` None for no end."""
    i = 0
    wanted = start
    if stop is None or i < stop:
        for item in iterable:
            if i == wanted:
                wanted = wanted + step
                yield item
            i += 1
            if stop is not None:
                if i >= stop:
                    return


def takewhile(predicate: Callable[[Any], Any], iterable: Any) -> Iterator[Any]:
    for item in iterable:
        if not predicate(item):
            return
        yield item


def dropwhile(predicate: Callable[[Any], Any], iterable: Any) -> Iterator[Any]:
    dropping = True
    for item in iterable:
        if dropping:
            dropping = bool(predicate(item))
        if not dropping:
            yield item


def filterfalse(predicate: Callable[[Any], Any] | None, iterable: Any) -> Iterator[Any]:
    for item in iterable:
        if predicate is None:
            if not item:
                yield item
        elif not predicate(item):
            yield item


def compress(data: Any, selectors: Any) -> Iterator[Any]:
    for item, selected in zip(data, selectors, strict=False):
        if selected:
            yield item


def accumulate(
    iterable: Any, function: Callable[[Any, Any], Any] | None = None, *, initial: Any = None
) -> Iterator[Any]:
    first = initial is None
    total = initial
    if not first:
        yield total
    for item in iterable:
        if first:
            total = item
            first = False
        elif function is None:
            total = total + item
        else:
            total = function(total, item)
        yield total


def pairwise(iterable: Any) -> Iterator[Any]:
    first = True
    before = None
    for item in iterable:
        if not first:
            yield before, item
        before = item
        first = False


# --- what takes all of an iterator ----------------------------------------------------------------


def sum_of(iterable: Any, start: Any = 0) -> Any:
    for item in iterable:
        start = start + item
    return start


def contains(iterable: Any, wanted: Any) -> Any:
    for item in iterable:
        if item is wanted or item == wanted:
            return True
    return False


def any_of(iterable: Any) -> Any:
    for item in iterable:
        if item:
            return True
    return False


def all_of(iterable: Any) -> Any:
    for item in iterable:
        if not item:
            return False
    return True


def best_of(
    iterable: Any, sign: str, key: Callable[[Any], Any] | None, empty: Callable[[], Any]
) -> Any:
    """max() where the sign is ">", min() where it is "<"."""
    found = False
    for item in iterable:
        rank = item if key is None else key(item)
        if not found:
            best, best_rank = item, rank
        elif compared(sign, rank, best_rank):
            best, best_rank = item, rank
        found = True
    return best if found else empty()


def first_of(iterable: Any, otherwise: Callable[[], Any]) -> Any:
    """next() of a new generator."""
    for item in iterable:
        return item
    return otherwise()
