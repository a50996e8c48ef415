"""What a for loop runs over, when it is staged: a length and a way to the item of a turn.

`range`, `enumerate`, `zip` and `reversed` of Python values stay Python's own; of tensors, and of
traced integers, they give `Items`.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphify.autograph.operators.conditions import own_length
from graphify.autograph.operators.deques import Deque
from graphify.autograph.operators.listed import Listed
from graphify.autograph.operators.lists import GrowingList
from graphify.autograph.operators.state import Unstageable
from graphify.ir.context import current_builder
from graphify.ir.kinds import wrong_kind
from graphify.ir.sizes import Dim, Size, size_op
from graphify.ir.tensor import Tensor, resolve
from graphify.ir.types import BOOL
from graphify.ir.wrapping import as_index, as_tensor
from graphify.location import here
from graphify.numpy.flat import Flat
from graphify.ops import core, effects, elementwise
from graphify.ops.shape import as_dim, checked_dim
from graphify.ops.strides import start_step_count
from graphify.tracing.capture import root_of
from graphify.tracing.lists import List

INT = np.dtype(np.int64)


class ListChanges(Unstageable):
    """A list that a loop goes over changes in the loop."""

    def __init__(self, location: Any = None) -> None:
        super().__init__(
            "a list gets longer or shorter while a loop goes over it and something else, or "
            "backwards; or a deque does, which Python refuses where the loop goes on",
            location=location,
            remedy="go over a copy of it, list(rows), or over the list alone",
        )


@dataclass(slots=True)
class Items:
    """A sequence known by its length and by its item at a staged position.

    `optional` sequences are Python's own: a loop over them need not be staged.
    """

    length: Dim
    item: Callable[[Any], Any]
    python: Any = None
    optional: bool = False
    shown: tuple[Tensor, ...] = ()  # the tensors that the items are views of
    lists: tuple[List, ...] = ()  # where the items are; their lengths must not change meanwhile
    line: tuple[Any, Any] | None = None  # of a range: its start and its step

    def concrete(self) -> Iterator[Any]:
        """The items, for loops of known length; each is looked up when its turn comes."""
        if self.python is not None:
            return builtins.iter(self.python)
        assert isinstance(self.length, int)
        return self._each(self.length)

    def _each(self, length: int) -> Iterator[Any]:
        before = builtins.list(builtins.map(length_of, self.lists))
        for i in builtins.range(length):
            yield self.item(i)
        if any(a is not length_of(b) for a, b in builtins.zip(before, self.lists, strict=True)):
            raise ListChanges(location=here())

    def without_first(self) -> Items:
        """The items after the first one, of a sequence of known length."""
        assert isinstance(self.length, int)
        later = None if self.python is None else self.python[1:]
        return Items(
            self.length - 1,
            lambda i: self.item(i + 1),
            later,
            self.optional,
            self.shown,
            self.lists,
        )

    def contains(self, value: Any) -> Any:
        """`value in range(...)`, by arithmetic."""
        from graphify.ops.shape import as_int64

        if self.line is None:
            raise Unstageable(
                "`in` looks through what only the run knows the length of",
                location=here(),
                remedy="look through an array or a list of the items",
            )
        if not isinstance(value, (Tensor, np.ndarray, np.generic, int, float)):
            return False
        start, step = self.line
        item = as_tensor(value)
        if item.dtype.kind in "biu" and item.dtype != np.int64:
            item = as_int64(item)
        offset = item - start
        place = elementwise.floor_divide(offset, step)
        inside = elementwise.logical_and(place >= 0, place < as_tensor(self.length))
        return elementwise.logical_and(inside, elementwise.equal(place * step, offset))

    def __getitem__(self, key: Any) -> Any:
        """`range(...)[key]`, with the key checked when the run gets here."""
        if self.line is None:
            raise TypeError("an iterator is not subscriptable")
        if isinstance(key, slice):
            return self._part(key)
        place = as_tensor(key if isinstance(key, Tensor) else operator.index(key))
        if place.ndim or not (place.dtype.kind in "iu" or place.spec.weak and place.dtype == BOOL):
            raise TypeError(f"range indices must be integers or slices, not {place.spec}")
        place, count = core.cast(place, dtype=INT, weak=True), as_tensor(self.length)
        place = elementwise.where(place < 0, place + count, place)
        inside = elementwise.logical_and(place >= 0, place < count)
        out_of_range = effects.Raise(IndexError, ("range object index out of range",))
        effects.assert_(inside, exception=out_of_range)
        return self.item(_weak(place))

    def _part(self, key: slice) -> Items:
        """`range(...)[a:b:c]`."""
        assert self.line is not None
        start, step = self.line
        first, stride, count = start_step_count(key, self.length)
        return _items(as_dim(count), _weak(start + first * step), _weak(stride * step))

    def __iter__(self) -> Iterator[Any]:
        if not isinstance(self.length, int):
            from graphify.ir.tensor import value_needed

            raise value_needed(resolve(as_tensor(self.length)), "the length")
        return self.concrete()

    def __len__(self) -> int:
        return builtins.len(list(iter(self)))


def length_of(values: List) -> Any:
    """What is another thing once a list has another length, or a deque another first element."""
    return values.grown.count if values.grown else list.__getitem__(values, 0)


def items_of(iterable: Any) -> Items | None:
    """The staged view of an iterable; None where Python iterates it itself."""
    if isinstance(iterable, Items):
        return iterable
    if isinstance(iterable, builtins.range):
        if current_builder() is None:
            return None
        start, step = iterable.start, iterable.step
        return Items(
            builtins.len(iterable), lambda i: _affine(i, start, step), iterable, optional=True
        )
    if isinstance(iterable, (Tensor, np.ndarray)):
        return _rows(iterable)
    if isinstance(iterable, Flat):
        from graphify.autograph.operators.places import elements_of

        return elements_of(iterable)
    if isinstance(iterable, Deque) and not iterable.is_known:
        lists = (iterable.rows, iterable.gone)
        return Items(as_dim(as_tensor(iterable.size)), iterable.reader(), lists=lists)
    if isinstance(iterable, Listed) and not isinstance(iterable, Deque):
        return items_of(iterable.line())
    if isinstance(iterable, GrowingList):
        return Items(iterable.dim, iterable.__getitem__, lists=(iterable,))
    note_read(iterable)
    return None


def rest_of(values: GrowingList, position: int) -> Items:
    """The elements of a list from a position on."""
    if position == 0:
        return Items(values.dim, values.__getitem__, lists=(values,))
    length = size_op("max", values.dim - position, 0)
    return Items(length, lambda i: values[i + position], lists=(values,))


def _affine(i: Any, start: Any, step: Any) -> Any:
    scaled = i if isinstance(step, int) and step == 1 else i * step
    return scaled if isinstance(start, int) and start == 0 else scaled + start


def _rows(array: Tensor | np.ndarray[Any, Any]) -> Items | None:
    tensor = resolve(as_tensor(array))
    known = not tensor.is_symbolic
    if known and (current_builder() is None or tensor.ndim == 0):
        return None
    if known:
        return Items(tensor.dims[0], lambda i: tensor[i], array, optional=True)
    if tensor.ndim == 0:
        raise TypeError("iteration over a 0-d array")
    return Items(tensor.dims[0], lambda i: tensor[i], shown=(tensor,))


def range(*args: Any) -> Any:
    """`range` that takes traced integers, too."""
    bounds = [resolve(a) if isinstance(a, Tensor) else a for a in map(as_index, args)]
    if not any(isinstance(b, Size) or isinstance(b, Tensor) and b.is_symbolic for b in bounds):
        return builtins.range(*(int(b) if isinstance(b, Tensor) else b for b in bounds))
    if builtins.len(bounds) > 3:
        raise TypeError(f"range expected at most 3 arguments, got {builtins.len(bounds)}")
    for bound in bounds:
        if isinstance(bound, Tensor) and (bound.dtype.kind not in "iu" or bound.ndim):
            raise wrong_kind(TypeError(f"range: expected integers, got {bound.spec}"), bound)
    bounds = [b if isinstance(b, (Tensor, Size)) else operator.index(b) for b in bounds]
    bounds = [_weak(bound) for bound in bounds]  # with room for the difference of two
    start, stop = (0, bounds[0]) if builtins.len(bounds) == 1 else bounds[:2]
    step = bounds[2] if builtins.len(bounds) == 3 else 1
    if isinstance(step, Tensor):
        return _range_with_traced_step(start, stop, step)
    if step == 0:
        raise ValueError("range() arg 3 must not be zero")
    span = as_tensor(stop) - as_tensor(start) if step > 0 else as_tensor(start) - as_tensor(stop)
    stride = abs(step)
    count = span if stride == 1 else elementwise.floor_divide(span + (stride - 1), stride)
    return _items(_not_negative(count), start, step)


def _weak(value: Any) -> Any:
    """A bound as a Python integer: range yields Python ints, whatever dtype the bounds had."""
    from graphify.ops.shape import as_int64

    if isinstance(value, Tensor) and not value.spec.weak:
        return as_int64(value, weak=True)
    return as_tensor(value) if isinstance(value, Size) else value


def _not_negative(count: Any) -> Dim:
    tensor = as_tensor(count)
    from graphify.ops.shape import _size_of

    known = _size_of(tensor._value) if tensor.is_symbolic else int(tensor.numpy())
    if known is not None:
        return size_op("max", known, 0)
    return as_dim(elementwise.maximum(tensor, 0))


def _range_with_traced_step(start: Any, stop: Any, step: Tensor) -> Items:
    zero = effects.Raise(ValueError, ("range() arg 3 must not be zero",))
    effects.assert_(step != 0, exception=zero)
    span = as_tensor(stop) - as_tensor(start)
    sign = elementwise.where(step > 0, 1, -1)
    runs = elementwise.where(step > 0, span > 0, span < 0)
    count = elementwise.where(runs, elementwise.floor_divide(span - sign, step) + 1, 0)
    return _items(as_dim(elementwise.maximum(count, 0)), start, step)


def line_of(numbers: builtins.range) -> Items:
    """A range that is indexed by what only the run knows."""
    return _items(builtins.len(numbers), numbers.start, numbers.step)


def _items(length: Dim, start: Any, step: Any) -> Items:
    return Items(length, lambda i: _affine(i, start, step), line=(start, step))


def len(value: Any) -> Any:
    """`len` that gives a traced length for an axis of symbolic size."""
    if isinstance(value, Tensor):
        if value.ndim == 0:
            raise TypeError("len() of unsized object")
        return value.shape[0]
    if isinstance(value, Items):
        return value.length if isinstance(value.length, int) else as_tensor(value.length)
    if isinstance(value, (GrowingList, Listed)):
        return value.size
    note_read(value)
    length = own_length(value)
    return builtins.len(value) if length is None else length


def note_read(value: Any) -> None:
    root = root_of(current_builder()) if isinstance(value, (list, set)) else None
    if root is not None:
        root.note_read(value)


def _all_items(iterables: tuple[Any, ...]) -> list[Items] | None:
    """Items for each iterable if one of them must be staged, else None."""
    found = [items_of(it) for it in iterables]
    if not any(items is not None and not items.optional for items in found):
        return None
    return [
        items if items is not None else _of_sequence(it)
        for items, it in builtins.zip(found, iterables, strict=True)
    ]


def _of_sequence(iterable: Any) -> Items:
    """What Python iterates, beside something staged: rows of an array, or a sequence stacked."""
    from graphify.ops.convert import convert

    if isinstance(iterable, (Tensor, np.ndarray)) and iterable.ndim:
        rows = resolve(as_tensor(iterable))  # views: what is written to them is written to it
        return Items(rows.dims[0], lambda i: rows[i], shown=(rows,))
    values = list(iterable)

    def item(i: Any) -> Any:
        if not (isinstance(i, Tensor) and resolve(i).is_symbolic):
            return values[int(i)]
        return resolve(convert(values))[i]

    return Items(builtins.len(values), item, values)


def enumerate(iterable: Any, start: Any = 0) -> Any:
    items = _all_items((iterable,))
    if items is None:
        return builtins.enumerate(iterable, start)
    only = items[0]
    return Items(
        only.length,
        lambda i: (_affine(i, start, 1), only.item(i)),
        shown=only.shown,
        lists=only.lists,
    )


def _unequal(place: int, length: Dim, other: Items) -> str:
    """What zip says of an argument of another length than those before it."""
    if not (isinstance(length, int) and isinstance(other.length, int)):
        return "zip() arguments have different lengths"
    size = "shorter" if other.length < length else "longer"
    return (
        f"zip() argument {place} is {size} than argument{'s 1-' if place > 2 else ' '}{place - 1}"
    )


def zip(*iterables: Any, strict: bool = False) -> Any:
    items = _all_items(iterables)
    if items is None:
        return builtins.zip(*iterables, strict=strict)
    length = items[0].length
    for place, other in builtins.enumerate(items[1:], 2):
        if strict:
            length = checked_dim(length, other.length, _unequal(place, length, other), ValueError)
        length = length if other.length == length else size_op("min", length, other.length)
    shown = tuple(tensor for each in items for tensor in each.shown)
    lists = tuple(values for each in items for values in each.lists)
    return Items(length, lambda i: tuple(each.item(i) for each in items), shown=shown, lists=lists)


def reversed(iterable: Any) -> Any:
    items = _all_items((iterable,))
    if items is None:
        return builtins.reversed(iterable)
    only = items[0]
    last = only.length - 1 if isinstance(only.length, int) else as_tensor(only.length) - 1
    return Items(only.length, lambda i: only.item(last - i), shown=only.shown, lists=only.lists)
