"""Lists whose length only the run knows: Python's list, kept in the buffers of growing.py.

    rows = []
    for v in x:
        if v > 0:
            rows.append(v)     # from the second turn on, `rows` is a GrowingList
    return np.array(rows)      # its elements: a tensor of as many rows as there are

A plain list becomes one where paths meet on which it has different lengths (listjoin.py). What a
list does with its elements only inside converted code is here; an index that is out of range, or a
pop of an empty list, is an IndexError of the run. Elements read from such a list are copies: where
one is updated in place the list takes it back, or the update is refused (elements.py).
"""

from __future__ import annotations

import operator
from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np

from graphify import tree
from graphify.autograph.operators import elements, listforms
from graphify.autograph.operators import growing as g
from graphify.autograph.operators import listcells as cells
from graphify.autograph.operators import listrows as rows
from graphify.autograph.operators.conditions import set_truth
from graphify.autograph.operators.growing import Grown
from graphify.autograph.operators.listcells import Count
from graphify.autograph.operators.state import as_number
from graphify.ir.context import current_builder
from graphify.ir.kinds import wrong_kind
from graphify.ir.sizes import Dim, decide_less
from graphify.ir.tensor import Tensor, resolve, value_needed
from graphify.ir.wrapping import as_tensor
from graphify.ops import core, elementwise
from graphify.ops.convert import set_conversion
from graphify.ops.effects import Gap
from graphify.ops.keys import getitem
from graphify.ops.shape import concatenate, in_range
from graphify.tracing import identity
from graphify.tracing.lists import List, is_grown, set_growing_hooks
from graphify.tracing.places import log_contents, seal

RANGE = "list index out of range"
_BY_INTEGERS = "a list is multiplied by integers"


class GrowingList(List):
    """A list of run-time length. Other lists become one by `List.become`."""

    __slots__ = ()

    grown: Grown

    @classmethod
    def of(cls, grown: Grown) -> GrowingList:
        made = cls()
        made.grown = grown
        return made

    def _change(self, grown: Grown) -> None:
        log_contents(self)
        self.grown = grown

    def snapshot(self) -> GrowingList:
        return GrowingList.of(self.grown)

    def copy(self) -> GrowingList:
        elements.share(self.grown.treedef)
        return GrowingList.of(g.apart(self.grown))

    def __deepcopy__(self, memo: dict[int, Any]) -> GrowingList:
        return GrowingList.of(g.apart(self.grown))

    # --- size ---

    @property
    def size(self) -> Any:
        """The number of elements as a Python int, known now or by the run."""
        count = self.grown.count
        return count if isinstance(count, int) else core.cast(
            as_tensor(count), dtype=cells.INT, weak=True
        )  # fmt: skip

    @property
    def dim(self) -> Dim:
        """The number of elements as a size."""
        return self.grown.dim

    def __len__(self) -> int:
        count = self.grown.count
        if not isinstance(count, int):
            raise value_needed(resolve(as_tensor(count)), "the length of a list, which is that")
        return count

    def __bool__(self) -> bool:
        return len(self) > 0

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __reversed__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self) - 1, -1, -1))

    # --- elements ---

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            elements.share(self.grown.treedef)
            return GrowingList.of(rows.mapped(g.apart(self.grown), lambda x: getitem(x, key)))
        place = self._place(key)
        found = None if self.grown.treedef.kind is None else elements.named_at(self, place)
        if found is None:
            found = self.element(place)
            elements.note_origin(found, self, place)
        return found

    def element(self, place: Any) -> Any:
        """The element at a place that is in range."""
        found = g.element(self.grown, place)
        if self.grown.treedef.kind is not None:
            note_elements(found)
        return as_number(found)

    def _place(self, index: Any, message: str = RANGE) -> Any:
        """Where the element of an index is: the run checks that there is one."""
        index = integer(index)
        count = self.grown.count
        if isinstance(index, int):
            place = index if index >= 0 else g.plus(count, index)
            if _is_inside(place, count):
                return place
        else:
            index = core.strong(index)
            wrapped = elementwise.add(index, cells.number(count))
            place = elementwise.where(elementwise.less(index, 0), wrapped, index)
        low, high = cells.number(0), cells.number(count)
        return in_range(cells.number(place), low, high, error="IndexError", message=message)

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, slice):
            if key != slice(None):
                refuse("a slice of it is assigned to", "assign to its elements one by one")
            elements.share(self.grown.treedef)
            self._change(g.apart(start(list_of(value), self.grown)))
            return
        g.take_apart(value)  # says what it cannot hold
        place = self._place(key, "list assignment index out of range")
        known = elements.put_at(self, place, value)
        self.put(place, value, known)
        if known:
            elements.is_at(self, place, value)

    def put(self, place: Any, value: Any, known: Container[int] = ()) -> None:
        """`value` in place of the element at a place that is in range; `known`: ids of what the
        list has there already."""
        treedef, leaves = g.take_apart(value)
        note_elements(value, known)
        ready, leaves = g.fitted(self.grown, treedef, leaves)
        self._change(g.put(ready, place, leaves, self))

    def put_back(self, place: Any, value: Any, known: Container[int]) -> None:
        """The same for an element that was changed, maybe at an index of the run: if the elements
        are lists of one length, it is taken apart again."""
        if self.grown.treedef.kind is list and is_grown(value):
            value = List(value) if isinstance(value.grown.count, int) else value
        self.put(place, value, known)

    def append_inside(self, places: Sequence[Any], value: Any) -> bool:
        changed = g.appended_inside(self.grown, places, *g.take_apart(value))
        if changed is not None:
            self._change(changed)
        return changed is not None

    def __delitem__(self, key: Any) -> None:
        if isinstance(key, slice):
            refuse("a slice of it is deleted", "make a new list of what is left")
        self._remove(self._place(key, "list assignment index out of range"))

    # --- growing ---

    def may_hold_choices(self) -> bool:
        """Whether the others are such values, too, if there are any."""
        from graphify.autograph.operators.choice import Choice  # not at the top: it imports this

        return self.grown.treedef.kind is Choice or self.grown.treedef == listforms.NOTHING

    def append(self, value: Any) -> None:
        treedef, leaves = g.take_apart(value)
        note_elements(value)
        ready, leaves = g.fitted(self.grown, treedef, leaves)
        ready = g.with_room(ready, 1)
        self.note(value)
        done = g.put(ready, ready.count, leaves, self)
        self._change(replace(done, count=g.plus(ready.count, 1)))

    def insert(self, index: Any, value: Any) -> None:
        """`value` before the element at `index`, which counts as the nearest end out of range."""
        treedef, leaves = g.take_apart(value)
        note_elements(value)
        ready, leaves = g.fitted(self.grown, treedef, leaves)
        ready = g.with_room(ready, 1)
        count, at = cells.number(ready.count), core.strong(as_tensor(integer(index)))
        place = elementwise.where(elementwise.less(at, 0), elementwise.add(at, count), at)
        place = elementwise.minimum(elementwise.maximum(place, 0), count)
        moved = rows.reordered(ready, lambda i: elementwise.maximum(i - (i > place), 0))
        self._change(replace(g.put(moved, place, leaves, self), count=g.plus(ready.count, 1)))

    def extend(self, values: Any) -> None:
        if is_grown(values):
            elements.share(values.grown.treedef)
            self._change(rows.joined(self.grown, values.grown))
        elif isinstance(values, Tensor) and not isinstance(values.dims[0], int):
            self._change(rows.joined(self.grown, rows.of_array(values)))
        else:
            for value in values:
                self.append(value)

    # --- shrinking ---

    def pop(self, index: Any = -1) -> Any:
        grown = self.grown
        count = g.checked(grown.count, 1, "pop from empty list")
        if isinstance(index, int) and index == -1:
            return self.take_last(count)
        place = self._place(index, "pop index out of range")
        if isinstance(place, int) and isinstance(count, Tensor):  # fails as the pop does
            place = in_range(
                cells.number(place), cells.number(0), count, error="IndexError", message=RANGE
            )
        found = self.element(place)
        elements.note_taken(found)
        self._remove(place)
        return found

    def take_last(self, count: Count) -> Any:
        """The last of `count` elements, which is no longer there."""
        last = g.plus(count, -1)
        found = self.element(last)
        elements.note_taken(found)
        self._change(replace(self.grown, count=last, room=self.grown.room.less(-1)))
        return found

    def _remove(self, place: Any) -> None:
        at = cells.number(place)
        moved = rows.reordered(self.grown, lambda i: i + (i >= at))
        less = g.plus(self.grown.count, -1)
        if isinstance(place, Tensor):  # no length without an element there
            less = elementwise.where(elementwise.less(at, 0), 0, cells.number(less))
        self._change(replace(moved, count=less, room=self.grown.room.less(-1)))

    def remove(self, value: Any) -> None:
        self._remove(self.index(value, message="list.remove(x): x not in list"))

    def clear(self) -> None:
        grown = self.grown
        self._change(replace(grown, count=0, room=replace(grown.room, added=None)))

    # --- searching ---

    def truths(self, beyond: bool) -> Tensor:
        """Of each row, whether the element is true; `beyond`: of rows that hold none."""
        grown = self.grown
        if grown.treedef.kind is not None or grown.buffers[0].ndim != 1:
            refuse("its elements are tested that are no numbers", "loop over the list")
        inside = elementwise.less(rows.places(grown), cells.number(grown.count))
        return elementwise.where(inside, elementwise.not_equal(grown.buffers[0], 0), beyond)

    def _matches(self, value: Any) -> Tensor:
        """Of each row, whether it is an element equal to a value."""
        grown = self.grown
        if grown.treedef.kind is not None or grown.buffers[0].ndim != 1:
            refuse("an element is searched for that is not a number", "loop over the list")
        inside = elementwise.less(rows.places(grown), cells.number(grown.count))
        return elementwise.logical_and(elementwise.equal(grown.buffers[0], value), inside)

    def __contains__(self, value: Any) -> Any:
        raise value_needed(self._matches(value), "whether a list contains it")

    def contains(self, value: Any) -> Tensor:
        """`value in self`, a staged truth value."""
        found: Tensor = self._matches(value).any()
        return found

    def count(self, value: Any) -> Any:
        return core.cast(self._matches(value).sum(), dtype=cells.INT, weak=True)

    def index(self, value: Any, *bounds: Any, message: str = "value is not in list") -> Any:
        if bounds:
            refuse("list.index is given bounds", "search a slice of it")
        matches = self._matches(value)
        longer = concatenate(matches, Tensor(np.asarray([True])), axis=0)
        first = longer.argmax()
        count = cells.number(self.grown.capacity)
        found = in_range(first, cells.number(0), count, error="ValueError", message=message)
        return core.cast(found, dtype=cells.INT, weak=True)

    # --- order ---

    def reverse(self) -> None:
        last = cells.number(g.plus(self.grown.count, -1))
        self._change(rows.reordered(self.grown, lambda i: abs(last - i)))

    def sort(self, *, key: Any = None, reverse: Any = False) -> None:
        if isinstance(self.grown.count, int):
            from graphify.autograph.operators import ordering  # not at the top: it calls functions

            values = ordering.sorted_(list(self), key=key, reverse=reverse)
            self._change(start(values, self.grown))
            return
        if key is None and self.grown.treedef.kind is None and self.grown.buffers[0].ndim == 1:
            self._change(rows.mapped(self.grown, lambda x: rows.ordered(x, bool(reverse))))
            return
        # not at the top: they import this
        from graphify.autograph.operators import comprehensions, dicts

        keys = self if key is None else comprehensions.mapped(dicts.by_value(key), self)
        self._change(rows.sorted_by(self.grown, start(_joined(keys)), bool(reverse)))

    # --- operators ---

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, list):
            return NotImplemented
        made = self.copy()
        made.extend(other)
        return made

    def __radd__(self, other: Any) -> Any:
        return GrowingList.of(start(other, self.grown)) + self if isinstance(other, list) else (
            NotImplemented
        )  # fmt: skip

    def __iadd__(self, other: Any) -> GrowingList:
        self.extend(other)
        return self

    def __mul__(self, times: Any) -> GrowingList:
        elements.share(self.grown.treedef)
        if isinstance(times, Tensor) and times.is_symbolic:
            return GrowingList.of(rows.repeated(self.grown, integer(times, _BY_INTEGERS)))
        made = GrowingList.of(replace(g.apart(self.grown), count=0))
        for _ in range(operator.index(times)):
            made.extend(self)
        return made

    __rmul__ = __mul__

    def __imul__(self, times: Any) -> GrowingList:
        self._change((self * times).grown)
        return self

    def _compare(self, sign: str, other: Any) -> Any:
        from graphify.autograph.operators.ordering import compared  # not at the top: it calls

        return compared(sign, self, other) if isinstance(other, list) else NotImplemented

    def __eq__(self, other: object) -> Any:
        return self._compare("==", other)

    def __ne__(self, other: object) -> Any:
        return self._compare("!=", other)

    def __lt__(self, other: Any) -> Any:
        return self._compare("<", other)

    def __le__(self, other: Any) -> Any:
        return self._compare("<=", other)

    def __gt__(self, other: Any) -> Any:
        return self._compare(">", other)

    def __ge__(self, other: Any) -> Any:
        return self._compare(">=", other)

    __hash__ = None  # type: ignore[assignment]  # object has a method; lists have none

    def __repr__(self) -> str:
        from graphify.autograph.operators import texts  # not at the top: it knows of lists

        return self.marked() if texts.asked_by_user(2) else f"<list of {self.grown.count} elements>"

    def marked(self) -> str:
        """The mark of its text, where its length is known or its elements are numbers."""
        from graphify.autograph.operators import texts

        if isinstance(self.grown.count, int):
            return texts.staged(texts.marked_text(list(self)))
        kinds = {cells.NUMBER: "numbers", cells.SCALAR: "scalars"}
        kind = None if self.grown.treedef.kind is not None else kinds.get(self.grown.kinds[0])
        if kind is None:
            refuse("it is shown as text", "print its elements in a loop, or an array of them")
        return texts.gap_mark(Gap("", True, kind), stack_of(self, empty=True))

    # --- arrays ---

    def __tensor__(self, dtype: Any = None) -> Tensor:
        """The elements stacked, as `np.array` does it."""
        return stack_of(self, empty=dtype is not None)

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise value_needed(resolve(as_tensor(self.size)), "the elements of a list, of that length")

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """A function of NumPy takes the elements as an array."""
        return function(*map(_as_array, args), **{k: _as_array(v) for k, v in kwargs.items()})


def _as_array(value: Any) -> Any:
    return value.__tensor__() if isinstance(value, GrowingList) else value


def integer(index: Any, wanted: str = "list indices must be integers or slices") -> Any:
    """An index as an int, or as a tensor that the run makes one of."""
    if not isinstance(index, Tensor) or not index.is_symbolic:
        return operator.index(index)
    if index.spec.weak and index.dtype.kind == "b":  # Python's True is the integer 1
        return core.cast(index, dtype=np.dtype(np.int64), weak=True)
    if index.dtype.kind not in "iu" or index.ndim:
        error = TypeError(f"{wanted}, not {index.spec}")
        raise wrong_kind(error, index)
    return index


def _is_inside(place: Count, count: Count) -> bool:
    """Whether every run has an element there."""
    if isinstance(place, Tensor) or isinstance(count, Tensor):
        return False
    return decide_less(place, count) is True and decide_less(place, 0) is False


def refuse(why: str, remedy: str) -> NoReturn:
    raise cells.refused(why, remedy)


def stack_of(values: GrowingList, empty: bool = False, error: str | None = None) -> Tensor:
    """The elements as one tensor: see `listrows.stack`."""
    return rows.stack(start(_joined(values)), empty, error)


def _joined(values: list[Any]) -> list[Any]:
    """The same where elements are numbers of one dtype or another: of one that holds each."""
    from graphify.autograph.operators.choice import has_choice  # not at the top: they import this
    from graphify.autograph.operators.choosing import joined
    from graphify.autograph.operators.comprehensions import each, list_of

    if not isinstance(values, GrowingList) or not has_choice(values.grown.treedef):
        return values
    made: list[Any] = list_of(lambda add: each(values, lambda value: add(joined(value))))
    return made


def start(values: list[Any], model: Grown | None = None, seals: bool = True) -> Grown:
    """A list of known length as a growing one; `seals`: which holds copies of its elements."""
    if isinstance(values, GrowingList):
        return values.grown
    for value in values if seals else ():
        note_elements(value)
    return g.stacked(values, model)


def moved(value: Any, name: str) -> Any:
    """A list that goes into another one, if a variable shows it that nobody reads any more: where
    nothing else shows it, a copy, so that the list is none that must not change."""
    if current_builder() is None or not isinstance(value, List):
        return value
    if identity.is_seen_beside(value, name):
        return value
    return GrowingList.of(g.apart(value.grown)) if is_grown(value) else value.snapshot()


def list_of(values: Any) -> list[Any]:
    return values if isinstance(values, list) else list(values)


def _growing(values: list[Any]) -> GrowingList:
    if not values:
        raise IndexError(RANGE)
    return GrowingList.of(start(values))


# --- elements that can change ---------------------------------------------------------------------


def note_elements(value: Any, known: Container[int] = ()) -> None:
    """Seal the containers inside an element: the list holds copies of what they hold now.

    Args:
        known: ids of those that no other list gets by that.
    """
    for part in _containers(value):
        if id(part) not in known:
            elements.share_again(part)
        seal(part)


def _seal_elements(values: List) -> None:
    """Seal what a list holds whose length the run knows from now on. It may have been so before:
    of a branch that made it longer, the other one knows nothing."""
    own = {key for key, entry in identity.sealed().items() if entry.around is values}
    for part in _containers(tuple(values)):
        if id(part) in own:
            own.remove(id(part))  # if it is there twice, it is shared
        else:
            elements.share_again(part, values)
        seal(part, values)


def _containers(value: Any) -> Iterator[Any]:
    """What is a list or another container, and not a tuple, in a value."""
    pending = [value]
    while pending:
        part = pending.pop()
        opened = tree.children_of(part)
        if opened is not None and not isinstance(part, GrowingList):
            pending += opened
            if isinstance(part, tuple):
                continue
        elif not isinstance(part, GrowingList):
            continue
        yield part


GrowingList.__name__ = GrowingList.__qualname__ = "list"  # for messages
set_growing_hooks(_growing, _seal_elements)
set_conversion(GrowingList, stack_of)
set_truth(GrowingList, lambda values: elementwise.greater(cells.number(values.grown.count), 0))
