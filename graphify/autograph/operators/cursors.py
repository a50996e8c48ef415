"""Iterators over sequences: a position in one, which staged control flow can carry.

it = iter(x)               # Cursor(x), position 0
first = next(it)           # x[0], position 1
for v in it: ...           # from position 1 on
"""

from __future__ import annotations

import operator
from collections.abc import Callable, ItemsView, KeysView, Mapping, Sequence, Set, ValuesView
from typing import Any

from graphify.autograph.operators import iteration
from graphify.autograph.operators.attributes import setattr_
from graphify.autograph.operators.branches import if_exp
from graphify.autograph.operators.calls import remember_local
from graphify.autograph.operators.conditions import is_staged
from graphify.autograph.operators.generators import Generator
from graphify.autograph.operators.iteration import Items, items_of
from graphify.autograph.operators.unknown import Ended
from graphify.ir.context import current_builder
from graphify.ir.tensor import Tensor, value_in
from graphify.ir.wrapping import as_tensor
from graphify.ops import effects
from graphify.tracing.capture import frame

LONG = 8  # ranges of more items are worth a staged loop


class Cursor:
    """An iterator over a list, an array or anything else whose items have positions.

    Args:
        sequence: what it goes over; a list may grow meanwhile.
    """

    def __init__(self, sequence: Sequence[Any] | Items) -> None:
        self.sequence = sequence
        self.position: Any = 0
        remember_local(self)

    def length(self) -> Any:
        return iteration.len(self.sequence)

    def item(self, position: Any) -> Any:
        """The item at a position that there is."""
        return _item(self.sequence, position)

    def start_loop(self) -> None:
        """A loop over a long array is worth staging, even where its length is known."""
        builder, left = current_builder(), self.length() - self.position
        long = not is_staged(left) and left > LONG and isinstance(self.sequence, Items)
        if long and builder is not None:
            position = value_in(as_tensor(self.position), builder)
            setattr_(self, "position", Tensor(position, weak=True))

    def __iter__(self) -> Cursor:
        return self

    def __next__(self) -> Any:
        return self.take()

    def take(self, *default: Any) -> Any:
        """The next item; the default where there is none."""
        position, length = self.position, self.length()
        more = position < length
        if not is_staged(more):
            return self._take_known(position, more, default)
        if not default:
            effects.assert_(as_tensor(more), exception=effects.Raise(StopIteration, ()))
            setattr_(self, "position", position + 1)
            return self.item(position)
        value = if_exp(more, lambda: self.item(position), lambda: default[0])
        setattr_(self, "position", if_exp(more, lambda: position + 1, lambda: position))
        return value

    def _take_known(self, position: Any, more: Any, default: tuple[Any, ...]) -> Any:
        if more:
            setattr_(self, "position", position + 1)
            return self.item(position)
        if default:
            return default[0]
        raise StopIteration


# --- what prelude.py calls ------------------------------------------------------------------------


def spread(iterable: Any, value: Callable[[Any], Any], wanted: Callable[[Any], Any] | None) -> Any:
    """What a generator expression goes over: a range item by item where its values are Python's,
    so that they stay so (`sum(i for i in range(10))` is a number)."""
    if not isinstance(iterable, range) or len(iterable) <= LONG or current_builder() is None:
        return iterable
    with frame("trial") as builder:
        try:
            results = [value(iterable[0]) if wanted is None or wanted(iterable[0]) else None]
        except (Exception, Ended):
            return iterable  # the loop will say what is wrong
        plain = not builder.nodes and not any(isinstance(r, Tensor) for r in results)
    return list(iterable) if plain else iterable


def whole(number: Any) -> Any:
    """A start to count from, as the Python int that it becomes."""
    return iteration._weak(number) if isinstance(number, Tensor) else operator.index(number)


def reach(others: Sequence[Any], position: Any) -> Any:
    """Whether all of these have an item at a position."""
    from graphify.autograph.operators.logical import and_

    tests = [lambda it=it: position < iteration.len(it) for it in others if not is_endless(it)]
    return and_(*tests) if tests else True


def items_at(others: Sequence[Any], position: Any) -> tuple[Any, ...]:
    """Their items there."""
    return tuple(_item(it, position) for it in others)


def _item(iterable: Any, position: Any) -> Any:
    if is_endless(iterable):
        start, step = iterable.args
        return start + position * step
    if isinstance(iterable, Items):
        return iterable.item(position)
    if is_staged(position):
        return iteration._of_sequence(iterable).item(position)
    return iterable[position]


def is_endless(iterable: Any) -> bool:
    """Whether this is itertools.count(), of which each item is known."""
    return isinstance(iterable, Generator) and iterable.counts


def sequence_of_items(iterable: Any) -> Any:
    """An iterable as something with a length and items at positions; None if it has not."""
    items = items_of(iterable)
    if items is not None:
        return items
    if isinstance(iterable, (list, tuple, str, bytes)):
        return iterable
    views = (Mapping, Set, KeysView, ValuesView, ItemsView)
    return list(iterable) if isinstance(iterable, views) else None
