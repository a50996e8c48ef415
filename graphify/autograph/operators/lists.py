"""Lists whose length only the run knows: Python's list, kept in the buffers of growing.py.

    rows = []
    for v in x:
        if v > 0:
            rows.append(v)     # from the second turn on, `rows` is a GrowingList
    return np.array(rows)      # its elements: a tensor of as many rows as there are

A plain list becomes one where paths meet on which it has different lengths (listjoin.py). What a
list does with its elements only inside converted code is here; an index that is out of range, or a
pop of an empty list, is an IndexError of the run. Elements read from such a list are copies: to
update one in place is refused, since the list would not see it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np

from graphify import tree
from graphify.autograph.operators import growing as g
from graphify.autograph.operators.conditions import set_truth
from graphify.autograph.operators.growing import Count, Grown
from graphify.autograph.operators.state import Unstageable
from graphify.errors import ShapeError
from graphify.ir.bind import Tensor, as_tensor, current_builder, resolve, value_needed
from graphify.ir.sizes import Dim, Size, decide_less
from graphify.location import here
from graphify.ops import core, elementwise
from graphify.ops.convert import set_conversion
from graphify.ops.indexing import gather
from graphify.ops.keys import getitem
from graphify.ops.shape import as_dim, in_range, iota
from graphify.tracing.lists import List, is_grown, set_growing_hook
from graphify.tracing.places import log_contents

RANGE = "list index out of range"


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

    def copy(self) -> GrowingList:
        return GrowingList.of(self.grown)

    # --- size ---

    @property
    def size(self) -> Any:
        """The number of elements as a Python int, known now or by the run."""
        count = self.grown.count
        return count if isinstance(count, int) else core.cast(
            as_tensor(count), dtype=g.INT, weak=True
        )  # fmt: skip

    @property
    def dim(self) -> Dim:
        """The number of elements as a size."""
        count = self.grown.count
        return as_dim(count) if isinstance(count, Tensor) else count

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
            return GrowingList.of(_mapped(self.grown, lambda rows: getitem(rows, key)))
        return g.element(self.grown, self._place(key))

    def _place(self, index: Any, message: str = RANGE) -> Any:
        """Where the element of an index is: the run checks that there is one."""
        if not isinstance(index, Tensor):
            index = operator.index(index)
        elif not index.is_symbolic:
            index = int(index)
        elif index.dtype.kind not in "iu" or index.ndim:
            raise TypeError(f"list indices must be integers or slices, not {index.spec}")
        count = self.grown.count
        if isinstance(index, int):
            place = index if index >= 0 else g.plus(count, index)
            known = decide_less(place, count) if not _staged(place, count) else None
            if known and decide_less(place, 0) is False:
                return place
        else:
            index = core.strong(index)
            wrapped = elementwise.add(index, g.number(count))
            place = elementwise.where(elementwise.less(index, 0), wrapped, index)
        low, high = g.number(0), g.number(count)
        return in_range(g.number(place), low, high, error="IndexError", message=message)

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, slice):
            refuse("a slice of it is assigned to", "assign to its elements one by one")
        treedef, leaves = g.take_apart(value)
        place = self._place(key, "list assignment index out of range")
        note_elements(value)
        self._change(g.put(g.fitted(self.grown, treedef, leaves), place, leaves))

    def __delitem__(self, key: Any) -> None:
        if isinstance(key, slice):
            refuse("a slice of it is deleted", "make a new list of what is left")
        self._remove(self._place(key, "list assignment index out of range"))

    # --- growing ---

    def append(self, value: Any) -> None:
        treedef, leaves = g.take_apart(value)
        note_elements(value)
        ready = g.with_room(g.fitted(self.grown, treedef, leaves), 1)
        done = g.put(ready, ready.count, leaves)
        self._change(replace(done, count=g.plus(ready.count, 1)))

    def insert(self, index: Any, value: Any) -> None:
        """`value` before the element at `index`, which counts as the nearest end out of range."""
        treedef, leaves = g.take_apart(value)
        note_elements(value)
        ready = g.with_room(g.fitted(self.grown, treedef, leaves), 1)
        count, at = g.number(ready.count), core.strong(as_tensor(index))
        place = elementwise.where(elementwise.less(at, 0), elementwise.add(at, count), at)
        place = elementwise.minimum(elementwise.maximum(place, 0), count)
        moved = _reordered(ready, lambda i: elementwise.maximum(i - (i > place), 0))
        self._change(replace(g.put(moved, place, leaves), count=g.plus(ready.count, 1)))

    def extend(self, values: Any) -> None:
        if is_grown(values):
            self._change(_joined(self.grown, values.grown))
        elif isinstance(values, Tensor) and not isinstance(values.dims[0], int):
            self._change(_joined(self.grown, rows_of(values)))
        else:
            for value in values:
                self.append(value)

    # --- shrinking ---

    def pop(self, index: Any = -1) -> Any:
        grown = self.grown
        count = g.checked(grown.count, 1, "pop from empty list")
        if isinstance(index, int) and index == -1:
            last = g.plus(count, -1)
            found = g.element(grown, last)
            self._change(replace(grown, count=last, room=grown.room.less(-1)))
            return found
        place = self._place(index, "pop index out of range")
        if isinstance(place, int) and isinstance(count, Tensor):  # fails as the pop does
            place = in_range(
                g.number(place), g.number(0), count, error="IndexError", message=RANGE
            )
        found = g.element(grown, place)
        self._remove(place)
        return found

    def _remove(self, place: Any) -> None:
        at = g.number(place)
        moved = _reordered(self.grown, lambda i: i + (i >= at))
        less = g.plus(self.grown.count, -1)
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
        inside = elementwise.less(_places(grown), g.number(grown.count))
        return elementwise.where(inside, elementwise.not_equal(grown.buffers[0], 0), beyond)

    def _matches(self, value: Any) -> Tensor:
        """Of each row, whether it is an element equal to a value."""
        grown = self.grown
        if grown.treedef.kind is not None or grown.buffers[0].ndim != 1:
            refuse("an element is searched for that is not a number", "loop over the list")
        inside = elementwise.less(_places(grown), g.number(grown.count))
        return elementwise.logical_and(elementwise.equal(grown.buffers[0], value), inside)

    def __contains__(self, value: Any) -> Any:
        raise value_needed(self._matches(value), "whether a list contains it")

    def contains(self, value: Any) -> Tensor:
        """`value in self`, a staged truth value."""
        return self._matches(value).any()  # type: ignore[no-any-return]

    def count(self, value: Any) -> Any:
        return core.cast(self._matches(value).sum(), dtype=g.INT, weak=True)

    def index(self, value: Any, *bounds: Any, message: str = "value is not in list") -> Any:
        if bounds:
            refuse("list.index is given bounds", "search a slice of it")
        matches = self._matches(value)
        longer = g.concatenate(matches, Tensor(np.asarray([True])), axis=0)
        first = longer.argmax()
        count = g.number(self.grown.capacity)
        found = in_range(first, g.number(0), count, error="ValueError", message=message)
        return core.cast(found, dtype=g.INT, weak=True)

    # --- order ---

    def reverse(self) -> None:
        last = g.number(g.plus(self.grown.count, -1))
        self._change(_reordered(self.grown, lambda i: abs(last - i)))

    def sort(self, *, key: Any = None, reverse: Any = False) -> None:
        if key is not None:
            refuse("it is sorted by a key", "take np.argsort of an array of the keys")
        if self.grown.treedef.kind is not None or self.grown.buffers[0].ndim != 1:
            refuse("elements that are no numbers are sorted", "sort an array of keys")
        self._change(_mapped(self.grown, lambda rows: _sorted(rows, bool(reverse))))

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
        made = GrowingList.of(replace(self.grown, count=0))
        for _ in range(operator.index(times)):
            made.extend(self)
        return made

    __rmul__ = __mul__

    def __imul__(self, times: Any) -> GrowingList:
        self._change((self * times).grown)
        return self

    def __eq__(self, other: object) -> Any:
        return self is other or refuse("it is compared with another", "compare arrays")

    def __ne__(self, other: object) -> Any:
        return self is not other and refuse("it is compared with another", "compare arrays")

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<list of {self.grown.count} elements>"

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


def _staged(*counts: Any) -> bool:
    return any(isinstance(count, Tensor) for count in counts)


def refuse(why: str, remedy: str) -> NoReturn:
    raise g.refused(why, remedy)


# --- rows -----------------------------------------------------------------------------------------


def stack_of(values: GrowingList, empty: bool = False, error: str | None = None) -> Tensor:
    """The elements as one tensor.

    Args:
        empty: no elements give no rows of the elements' dtype and shape.
        error: the message of the ValueError that no elements raise.
    """
    grown = values.grown
    if grown.treedef.kind not in (None, list, tuple):
        refuse("an array is made of elements that are no arrays", "keep their fields in lists")
    plain = grown.buffers[0].ndim == 1 and grown.buffers[0].dtype == np.float64
    if error is not None or not empty and not (plain and grown.treedef.kind is None):
        text = error or (
            "a list of which an array is made has no elements in this run: it would be an array "
            "of floats and shape (0,), and is another one in other runs; give np.array a dtype"
        )
        count = g.checked(grown.count, 1, text, "ValueError")
        grown = replace(grown, count=count)
    columns = [_exact(buffer, grown.count) for buffer in grown.buffers]
    return _nested(grown.treedef, iter(columns))


def _nested(treedef: tree.TreeDef, columns: Iterator[Tensor]) -> Tensor:
    if treedef.kind is None:
        return next(columns)
    parts = [_nested(child, columns) for child in treedef.children]
    if len({part.ndim for part in parts}) > 1:
        raise ShapeError("the elements of a list are ragged: no array can be made of them")
    dtype = np.result_type(*(part.dtype for part in parts))
    parts = [
        core.to_dtype(core.reshape(p, shape=(p.dims[0], 1, *p.dims[1:])), dtype) for p in parts
    ]
    return g.concatenate(*parts, axis=1)


def _exact(buffer: Tensor, count: Count) -> Tensor:
    """As many rows as there are elements."""
    dim = as_dim(count) if isinstance(count, Tensor) else count
    return buffer if dim == buffer.dims[0] else core.copy(g.bind(
        g.slice_, (buffer,), {"key": ((0, dim, 1),)}, view=False
    ))  # fmt: skip


def rows_of(rows: Tensor) -> Grown:
    """The rows of an array as elements."""
    kind = g.SCALAR if rows.ndim == 1 else g.ARRAY
    return Grown(tree.LEAF, (kind,), (core.copy(rows),), rows.dims[0])


def _mapped(grown: Grown, function: Callable[[Tensor], Tensor]) -> Grown:
    """What a function makes of the rows of elements, as a list of its own."""
    buffers = []
    for buffer in grown.buffers:
        rows = core.copy(function(_exact(buffer, grown.count)))
        g.inherit(rows, buffer)
        buffers.append(rows)
    room = grown.room if buffers[0].dims[0] == grown.capacity else g.Room(g.DOUBLING)
    if room.mode != g.DOUBLING and current_builder() is not None:
        room = replace(room, added=None)
    return replace(grown, buffers=tuple(buffers), count=buffers[0].dims[0], room=room)


def _places(grown: Grown) -> Tensor:
    return iota(length=grown.capacity, dtype=g.INT)


def _reordered(grown: Grown, place: Callable[[Tensor], Tensor]) -> Grown:
    """Row i is what was at `place(i)`, or anything where there is no such row."""
    most = elementwise.maximum(g.number(grown.capacity) - 1, 0)
    index = elementwise.minimum(place(_places(grown)), most)
    buffers = []
    for buffer in grown.buffers:
        moved = gather(buffer, index, axes=(0,))
        g.inherit(moved, buffer)
        buffers.append(moved)
    return replace(grown, buffers=tuple(buffers))


def _joined(grown: Grown, other: Grown) -> Grown:
    """With the elements of another list at the end."""
    examples = [g.row(buffer, 0) for buffer in other.buffers]
    ready = g.fitted(grown, other.treedef, examples)
    ready = replace(ready, kinds=tuple(map(g.wider, grown.kinds, other.kinds)))
    count = other.count
    more = as_dim(count) if isinstance(count, Tensor) else count
    ready = g.with_room(ready, more)
    start = as_dim(ready.count) if isinstance(ready.count, Tensor) else ready.count
    buffers = []
    for buffer, new in zip(ready.buffers, other.buffers, strict=True):
        rows = core.to_dtype(_exact(new, more), buffer.dtype)
        changed = g.slice_update(buffer, rows, key=((start, more, 1),))
        g.inherit(changed, buffer)
        g.inherit(changed, new)
        buffers.append(changed)
    return replace(ready, buffers=tuple(buffers), count=g.plus(ready.count, count))


def _sorted(rows: Tensor, backwards: bool) -> Tensor:
    ordered = core.copy(rows)
    ordered.sort()
    return getitem(ordered, slice(None, None, -1)) if backwards else ordered


def start(values: list[Any], model: Grown | None = None) -> Grown:
    """A list of known length as a growing one."""
    if isinstance(values, GrowingList):
        return values.grown
    for value in values:
        note_elements(value)
    return g.stacked(values, model)


def _growing(values: list[Any]) -> GrowingList:
    if not values:
        raise IndexError(RANGE)
    return GrowingList.of(start(values))


set_growing_hook(_growing)


# --- elements that can change ---------------------------------------------------------------------


def note_elements(value: Any) -> None:
    """Remember the containers inside an element: the list holds copies of what they hold now."""


# --- as a tree ------------------------------------------------------------------------------------


def _open(values: GrowingList) -> tuple[tuple[Any, ...], list[Any]]:
    grown = values.grown
    count = grown.count
    shown = as_tensor(count) if isinstance(count, Size) else count
    return (grown.treedef, grown.kinds, grown.room), [shown, *grown.buffers]


def _build(keys: tuple[Any, ...], children: list[Any]) -> Any:
    treedef, kinds, room = keys
    count, *buffers = children
    if current_builder() is None:
        return _finished(treedef, kinds, count, buffers)
    if isinstance(count, Tensor) and not count.is_symbolic and not count.dims:
        count = int(count.numpy())
    return GrowingList.of(Grown(treedef, kinds, tuple(buffers), count, room))


def _finished(treedef: tree.TreeDef, kinds: Any, count: Any, buffers: list[Any]) -> list[Any]:
    """The list as the caller gets it. The lanes of a vmap must have lists of one length."""
    counts = np.asarray(count)
    if counts.size and (counts != counts.flat[0]).any():
        raise Unstageable(
            f"the lanes of a vmap end with lists of different lengths: {counts.tolist()}",
            location=here() if current_builder() is not None else None,
            remedy="return an array of one shape in every lane",
        )
    length, lanes = int(counts.flat[0]) if counts.size else 0, counts.ndim
    where = (slice(None),) * lanes
    columns = []
    for kind, buffer in zip(kinds, buffers, strict=True):
        rows = [Tensor(np.array(np.asarray(buffer)[(*where, i)])) for i in range(length)]
        for row in rows:
            row._scalar = kind != g.ARRAY and not lanes
        columns.append([r.numpy().item() for r in rows] if kind == g.NUMBER and not lanes else rows)
    if not columns or not length:
        return []
    return [treedef.unflatten(leaves) for leaves in zip(*columns, strict=True)]


tree.register(GrowingList, _open, _build)
set_conversion(GrowingList, stack_of)
set_truth(GrowingList, lambda values: elementwise.greater(g.number(values.grown.count), 0))
