"""The storage of a list whose length only the run knows: stacked elements, and how many there are.

    grown = stacked([x, x + 1])             # one buffer of two rows for each leaf of an element
    grown = appended(grown, x * 2)
    element(grown, 0)

A `Grown` is a value: what changes it gives another one. Elements are trees of one structure, and
each of their leaves is a row of a buffer; rows from the count on hold anything. How a buffer gets
room for more depends on where the list is:

* EXACT: outside of loops, as many rows as can be needed at most;
* OWED: in a loop that does not do so itself: the loop sees to it before its first turn (`Carry`);
* DOUBLING: in a loop of which nobody knows how much it appends: twice as many rows when full.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from graphify import tree
from graphify.autograph.operators import listforms
from graphify.autograph.operators.listcells import (
    ARRAYS,
    DOUBLING,
    EITHER,
    EXACT,
    MIXED,
    NUMBER,
    OWED,
    Count,
    Room,
    inherit,
    kind_of,
    number,
    refused,
    row_of,
    widened,
    zeros,
)
from graphify.autograph.operators.listforms import Form
from graphify.autograph.operators.state import is_dynamic
from graphify.ir.bind import bind
from graphify.ir.context import in_bounds
from graphify.ir.kinds import OF_EITHER
from graphify.ir.sharing import link
from graphify.ir.sharing import storage as storage_of
from graphify.ir.sizes import Dim, Size, decide_less, size_op
from graphify.ir.tensor import Tensor, resolve
from graphify.ops import core, elementwise
from graphify.ops.indexing import slice_, slice_update
from graphify.ops.shape import RANGE_ERRORS, as_dim, concatenate, in_range
from graphify.tracing.lists import List


@dataclass(frozen=True, slots=True)
class Grown:
    """The elements of a list. `treedef` and `kinds` are those of an element and of its leaves.

    Buffers of numbers count as numbers: nobody holds what is in them, so where they go through
    branches and loops nobody needs to know which is which.
    """

    treedef: tree.TreeDef
    kinds: tuple[str, ...]
    buffers: tuple[Tensor, ...]
    count: Count
    room: Room = Room()

    def __post_init__(self) -> None:
        rows = zip(self.buffers, self.kinds, strict=True)
        buffers = tuple(_as_number(buffer, kind not in ARRAYS) for buffer, kind in rows)
        object.__setattr__(self, "buffers", buffers)

    @property
    def capacity(self) -> Dim:
        """How many elements there is room for; 0 if they hold nothing, as empty lists do."""
        return self.buffers[0].dims[0] if self.buffers else 0

    @property
    def dim(self) -> Dim:
        """The number of elements as a size."""
        return as_dim(self.count) if isinstance(self.count, Tensor) else self.count

    @property
    def form(self) -> Form:
        return listforms.form_of(self.treedef, self.kinds, self.buffers, 1)


# --- elements -------------------------------------------------------------------------------------


def _as_number(buffer: Tensor, number: bool) -> Tensor:
    if not isinstance(buffer, Tensor) or buffer._scalar is number:
        return buffer
    made = Tensor(resolve(buffer)._value)
    made._scalar, made._home = number, buffer._home
    return made


def apart(grown: Grown) -> Grown:
    """The same elements in a list that no loop makes room for."""
    return replace(grown, room=Room(DOUBLING)) if grown.room.mode == OWED else grown


def take_apart(value: Any) -> tuple[tree.TreeDef, list[Any]]:
    """An element's structure and leaves.

    Raises:
        Unstageable: it holds what no graph can carry.
    """
    leaves, treedef = tree.flatten(value)
    for leaf in leaves:
        if not is_dynamic(leaf):
            raise refused(
                f"its elements hold {leaf!r:.40}",
                "keep numbers and arrays in it, and other things in a list of fixed length",
            )
    return treedef, leaves


def element(grown: Grown, index: Any) -> Any:
    """The element at an index that is in range.

    Raises:
        Unstageable: a number in it has one of several dtypes.
    """
    leaves = []
    for kind, buffer in zip(grown.kinds, grown.buffers, strict=True):
        if kind == MIXED:
            raise refused(
                f"it holds numbers of several dtypes, some of which wrap around earlier than "
                f"{buffer.dtype}, and one of them is read",
                "keep numbers of one dtype in it, e.g. append(float(v))",
            )
        leaf = row(buffer, index)
        if kind == NUMBER:
            leaf = core.cast(leaf, dtype=leaf.dtype, weak=True)
        leaf._scalar = kind not in ARRAYS
        if kind in ARRAYS:
            leaf._kinds = OF_EITHER if kind == EITHER else frozenset()
            link(leaf, buffer, None)  # the very array that the list holds
        leaves.append(leaf)
    return grown.treedef.unflatten(leaves)


@in_bounds()
def row(buffer: Tensor, *places: Any) -> Tensor:
    """What is at a place of a buffer, at one in that, and so on."""
    operands, key = _places(places)
    made: Tensor = bind(slice_, (buffer, *operands), {"key": key}, view=False)
    return made


def _places(places: Sequence[Any]) -> tuple[list[Tensor], tuple[Any, ...]]:
    """Places as operands of a slice, and as its key."""
    operands: list[Tensor] = []
    key: list[Any] = []
    for place in places:
        known = isinstance(place, (int, Size))
        key.append(place if known else ("at", len(operands)))
        operands += [] if known else [core.strong(place)]
    return operands, tuple(key)


def put(grown: Grown, index: Any, leaves: Sequence[Any], whose: List | None = None) -> Grown:
    """With another element at an index that is in the buffers; `whose`: the list, for errors."""
    buffers, deep = [], listforms.depths(grown.treedef)
    for buffer, kind, leaf, depth in zip(grown.buffers, grown.kinds, leaves, deep, strict=True):
        buffers.append(_put(buffer, kind, leaf, (index,), depth, whose))
    return replace(grown, buffers=tuple(buffers))


def _put(
    buffer: Tensor, kind: str, leaf: Any, places: Sequence[Any], padded: int, whose: Any = None
) -> Tensor:
    """A buffer with another leaf at a place, or at one in a list in it, and so on."""
    operands, key = _places(places)
    new = row_of(leaf, buffer.dtype, buffer.dims[len(places) :], whose, padded)
    with in_bounds():
        changed = slice_update(buffer, new, *operands, key=key)
    inherit(changed, buffer)
    if kind in ARRAYS and isinstance(leaf, Tensor):
        link(changed, storage_of(leaf), None)
    return changed


def appended_inside(
    grown: Grown, places: Sequence[Any], treedef: tree.TreeDef, leaves: Sequence[Any]
) -> Grown | None:
    """With one more element, of some structure, in the list at a place, or in one at a place in
    that, and so on. None if lists are not kept as rows all the way: they are put back whole."""
    inside: Form | None = grown.form
    for _ in places:
        inside = None if inside is None else listforms.of_rows(inside)
    depth = len(places)
    if inside is None or not inside.leaves:
        return None
    new = listforms.form_of(treedef, list(map(kind_of, leaves)), leaves, 0)
    form = listforms.common(inside, new)
    if form is None or form.treedef != inside.treedef or form.kinds != inside.kinds:
        return None
    if [leaf.dtype for leaf in form.leaves] != [leaf.dtype for leaf in inside.leaves]:
        return None
    leaves = listforms.shaped(leaves, treedef, form)
    counts = grown.buffers[depth - 1]
    count = row(counts, *places)
    buffers = list(grown.buffers)
    buffers[depth - 1] = _put(counts, NUMBER, elementwise.add(count, 1), places, 0)
    rows = zip(leaves, form.kinds, listforms.depths(form.treedef), strict=True)
    for k, (leaf, kind, padded) in enumerate(rows, depth):
        buffer = widened(buffers[k], depth, elementwise.add(count, 1))
        for axis in range(padded):
            buffer = widened(buffer, depth + 1 + axis, leaf.dims[axis])
        buffers[k] = _put(buffer, kind, leaf, (*places, count), padded)
    return replace(grown, buffers=tuple(buffers))


def fitted(grown: Grown, treedef: tree.TreeDef, leaves: Sequence[Any]) -> tuple[Grown, list[Any]]:
    """A list that is ready to take another element, and the leaves of that in its form.

    Raises:
        Unstageable: the element has another structure.
    """
    new = listforms.form_of(treedef, list(map(kind_of, leaves)), leaves, 0)
    form = alike(grown.form, new)
    ready, made = of_form(grown, form), listforms.shaped(leaves, treedef, form)
    buffers = list(ready.buffers)
    for k, depth in enumerate(listforms.depths(form.treedef)):
        for axis in range(depth):
            buffers[k] = widened(buffers[k], axis + 1, made[k].dims[axis])
    return replace(ready, buffers=tuple(buffers)), made


def alike(one: Form, other: Form) -> Form:
    """The form of elements that have the one or the other.

    Raises:
        Unstageable: there is none.
    """
    found = listforms.common(one, other)
    if found is None:
        trees = map(listforms.example_of, (one.treedef, other.treedef))
        raise refused(
            f"its elements differ in structure: {' and '.join(map(str, trees))}",
            "give all elements the same structure",
        )
    return found


def of_form(grown: Grown, form: Form) -> Grown:
    """The list with its elements in a form that is theirs and that of others."""
    rows = grown.capacity if grown.buffers or not form.leaves else grown.dim
    buffers = listforms.shaped(grown.buffers, grown.treedef, form, (rows,))
    pairs = zip(buffers, form.leaves, strict=True)
    made = tuple(b if b.dtype == f.dtype else core.cast(b, dtype=f.dtype) for b, f in pairs)
    room = grown.room if grown.buffers else replace(grown.room, free=least(grown.room.free, 0))
    return replace(grown, treedef=form.treedef, kinds=form.kinds, buffers=made, room=room)


# --- counts ---------------------------------------------------------------------------------------


def plus(count: Count, more: Dim | Tensor) -> Count:
    """A count and some more, as a size where both are."""
    if isinstance(count, Tensor) or isinstance(more, Tensor):
        return elementwise.add(number(count), number(more))
    return count + more


def checked(count: Count, low: int, message: str, error: str = "IndexError") -> Count:
    """A count that the run finds to be `low` at least."""
    if not isinstance(count, Tensor):
        less = decide_less(count, low)
        if less is False:
            return count
        if less:
            raise RANGE_ERRORS[error](message)
    most = number(np.iinfo(np.int64).max)
    return in_range(number(count), number(low), most, error=error, message=message)


def stacked(values: Sequence[Any], model: Grown | None = None) -> Grown:
    """The elements of a list of known length; `model` says what they are where there are none."""
    if not values:
        assert model is not None
        buffers = [zeros((0, *b.dims[1:]), b.dtype) for b in model.buffers]
        return Grown(model.treedef, model.kinds, tuple(buffers), 0)
    parts = [take_apart(value) for value in values]
    forms = [listforms.form_of(t, list(map(kind_of, leaves)), leaves, 0) for t, leaves in parts]
    form = functools.reduce(alike, forms)
    columns = [listforms.shaped(leaves, treedef, form) for treedef, leaves in parts]
    buffers = listforms.side_by_side(columns, form)
    return Grown(form.treedef, form.kinds, tuple(buffers), len(values))


def empty() -> Grown:
    """No elements yet, and nothing known of them."""
    return Grown(listforms.NOTHING, (), (), 0)


# --- room -----------------------------------------------------------------------------------------


def with_room(grown: Grown, more: Dim) -> Grown:
    """With room for some more elements, which are about to be added."""
    room = grown.room
    if room.mode == OWED or decide_less(room.free, more) is False:
        return replace(grown, room=room.less(more))
    if room.mode == EXACT:
        missing = more - room.free
        wide = _longer(grown, missing)
        return replace(wide, room=replace(room.less(more), free=0))
    doubled = _doubled(grown, plus(grown.count, more))
    return replace(doubled, room=replace(room.less(more), free=0))


def reserved(grown: Grown, more: Dim) -> Grown:
    """With room for some more elements that a loop will add."""
    if grown.room.mode == DOUBLING:
        return _doubled(grown, plus(grown.count, more))
    return _longer(grown, more)


def _longer(grown: Grown, rows: Dim) -> Grown:
    if rows == 0:
        return grown
    buffers = []
    for buffer in grown.buffers:
        new = zeros((rows, *buffer.dims[1:]), buffer.dtype)
        changed = concatenate(buffer, new, axis=0) if grown.capacity != 0 else new
        inherit(changed, buffer)
        buffers.append(changed)
    return replace(grown, buffers=tuple(buffers))


def _doubled(grown: Grown, needed: Count) -> Grown:
    """Buffers of twice the length, and of what is needed at least, where they are too short."""
    from graphify.autograph.operators.updates import branch  # which joins values, as lists do

    if not grown.buffers:
        return grown
    have = grown.capacity
    need = number(needed)

    def longer() -> list[Tensor]:
        twice = elementwise.maximum(need, number(have * 2 + 4))
        missing = as_dim(elementwise.maximum(elementwise.subtract(twice, number(have)), 0))
        return list(_longer(grown, missing).buffers)

    full = elementwise.greater(need, number(have))
    found = branch(full, longer, lambda: list(grown.buffers))
    for changed, buffer in zip(found, grown.buffers, strict=True):
        inherit(changed, buffer)
    return replace(grown, buffers=tuple(found))


def padded(grown: Grown, capacity: Dim) -> Grown:
    """With so many rows, all of them of no meaning beyond the count."""
    missing = capacity - grown.capacity
    room = replace(grown.room, free=grown.room.free + missing)
    return replace(_longer(grown, missing), room=room)


def least(one: Dim, other: Dim) -> Dim:
    return size_op("min", one, other)
