"""The rows in which the elements of a growing list are kept: stacked, moved, joined, sorted.

stack(grown)                              # np.array of the list
joined(grown, other)                      # rows + others
reordered(grown, lambda i: i + 1)         # without the first element, and one row to spare
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from graphify import tree
from graphify.autograph.operators import growing as g
from graphify.autograph.operators import listcells as cells
from graphify.autograph.operators import listforms
from graphify.autograph.operators.growing import Grown
from graphify.autograph.operators.listcells import Count
from graphify.errors import ShapeError, TraceError
from graphify.ir.bind import bind
from graphify.ir.context import current_builder, in_bounds
from graphify.ir.sizes import Dim
from graphify.ir.tensor import Tensor
from graphify.ops import core, elementwise, reduction
from graphify.ops.effects import Raise, assert_
from graphify.ops.indexing import gather, slice_, slice_update
from graphify.ops.keys import getitem
from graphify.ops.library import python_argsort
from graphify.ops.shape import as_dim, concatenate, in_range, iota
from graphify.ops.sorting import argsort
from graphify.tracing.lists import List

RAGGED = (
    "setting an array element with a sequence. The requested array has an inhomogeneous shape: "
    "the lists in a list have different lengths"
)


def stack(grown: Grown, empty: bool = False, error: str | None = None) -> Tensor:
    """The elements as one tensor.

    Args:
        empty: no elements give no rows of the elements' dtype and shape.
        error: the message of the ValueError that no elements raise.
    """
    if not grown.buffers:
        raise cells.refused(
            "an array is made of elements that hold nothing", "append numbers to them"
        )
    plain = grown.buffers[0].ndim == 1 and grown.buffers[0].dtype == np.float64
    if error is not None or not empty and not (plain and grown.treedef.kind is None):
        text = error or (
            "a list of which an array is made has no elements in this run: it would be an array "
            "of floats and shape (0,), and is another one in other runs; give np.array a dtype"
        )
        count = g.checked(grown.count, 1, text, "ValueError" if error else "TraceError")
        grown = replace(grown, count=count)
    columns = [exact(buffer, grown.count) for buffer in grown.buffers]
    return _nested(grown.treedef, iter(columns))


def _nested(treedef: tree.TreeDef, columns: Iterator[Tensor], depth: int = 1) -> Tensor:
    """The elements as one array; the columns have `depth` axes for the lists around them."""
    kind = treedef.kind
    if kind is None:
        return next(columns)
    if issubclass(kind, List):
        return _of_lists(treedef, columns, depth)
    if kind not in (list, tuple):
        raise cells.refused(
            "an array is made of elements that are no arrays", "keep their fields in lists"
        )
    parts = [_nested(child, columns, depth) for child in treedef.children]
    if len({part.ndim for part in parts}) > 1:
        raise ShapeError("the elements of a list are ragged: no array can be made of them")
    dtype = np.result_type(*(part.dtype for part in parts))
    apart = [(*p.dims[:depth], 1, *p.dims[depth:]) for p in parts]
    parts = [
        core.to_dtype(core.reshape(p, shape=shape), dtype)
        for p, shape in zip(parts, apart, strict=True)
    ]
    return concatenate(*parts, axis=depth)


def _of_lists(treedef: tree.TreeDef, columns: Iterator[Tensor], depth: int) -> Tensor:
    """Elements that are lists of run-time length themselves, all of one length."""
    inside: tree.TreeDef = treedef.keys[0]
    counts = next(columns)
    first = getitem(counts, (0,) * counts.ndim)
    ragged = reduction.reduce_any(
        elementwise.not_equal(counts, first), axes=tuple(range(counts.ndim)), keepdims=False
    )
    same = in_range(
        core.cast(ragged, dtype=cells.INT),
        cells.number(0),
        cells.number(1),
        error="ValueError",
        message=RAGGED,
    )
    rows = _nested(inside, columns, depth + 1)
    length = as_dim(core.cast(first, dtype=cells.INT, weak=True) + same)
    whole = tuple((0, dim, 1) for dim in rows.dims[:depth])
    with in_bounds():
        cut = bind(slice_, (rows,), {"key": (*whole, (0, length, 1))}, view=False)
    return core.copy(cut)


def exact(buffer: Tensor, count: Count) -> Tensor:
    """As many rows as there are elements, in an array of its own."""
    dim = as_dim(count) if isinstance(count, Tensor) else count
    return core.copy(buffer if dim == buffer.dims[0] else _first(buffer, dim))


@in_bounds()
def _first(buffer: Tensor, dim: Dim) -> Tensor:
    """So many rows of a buffer that has them."""
    rows: Tensor = bind(slice_, (buffer,), {"key": ((0, dim, 1),)}, view=False)
    return rows


def of_array(rows: Tensor) -> Grown:
    """The rows of an array as elements."""
    kind = cells.SCALAR if rows.ndim == 1 else cells.ARRAY
    return Grown(tree.LEAF, (kind,), (core.copy(rows),), rows.dims[0])


def mapped(grown: Grown, function: Callable[[Tensor], Tensor]) -> Grown:
    """What a function makes of the rows of elements, as a list of its own."""
    buffers = []
    for buffer in grown.buffers:
        rows = core.copy(function(exact(buffer, grown.count)))
        cells.inherit(rows, buffer)
        buffers.append(rows)
    rows = buffers[0] if buffers else function(iota(length=grown.dim, dtype=cells.INT))
    length = rows.dims[0]
    room = grown.room if length == grown.capacity else cells.Room(cells.DOUBLING)
    if room.mode != cells.DOUBLING and current_builder() is not None:
        room = replace(room, added=None)
    return replace(grown, buffers=tuple(buffers), count=length, room=room)


def places(grown: Grown) -> Tensor:
    return iota(length=grown.capacity, dtype=cells.INT)


def found_at(grown: Grown, leaves: Sequence[Tensor]) -> Tensor:
    """The place of the one element of which these are the leaves, -1 if there is none."""
    hits: Tensor | None = None
    for buffer, leaf in zip(grown.buffers, leaves, strict=True):
        rows = _first(buffer, grown.dim)
        same = _equal(rows, leaf)
        hits = same if hits is None else elementwise.logical_and(hits, same)
    place = iota(length=grown.dim, dtype=cells.INT)
    found: Tensor = elementwise.where(hits, place + 1, 0).sum() - 1
    return found


def _equal(buffer: Tensor, leaf: Tensor) -> Tensor:
    """Integers and floats as Python compares them: exactly."""
    if {buffer.dtype.kind, leaf.dtype.kind} & {"i", "u"} and leaf.dtype.kind == "f":
        whole = core.cast(leaf, dtype=cells.INT)
        same = elementwise.equal(core.cast(whole, dtype=leaf.dtype), leaf)
        return elementwise.logical_and(elementwise.equal(buffer, whole), same)
    if buffer.dtype.kind == "f" and leaf.dtype.kind in "iu":
        near = core.cast(leaf, dtype=buffer.dtype)
        same = elementwise.equal(core.cast(near, dtype=leaf.dtype), leaf)
        return elementwise.logical_and(elementwise.equal(buffer, near), same)
    return elementwise.equal(buffer, leaf)


@in_bounds()
def reordered(grown: Grown, place: Callable[[Tensor], Tensor]) -> Grown:
    """Row i is what was at `place(i)`, or anything where there is no such row."""
    most = elementwise.maximum(cells.number(grown.capacity) - 1, 0)
    index = elementwise.minimum(place(places(grown)), most)
    buffers = []
    for buffer in grown.buffers:
        moved = gather(buffer, index, axes=(0,))
        cells.inherit(moved, buffer)
        buffers.append(moved)
    return replace(grown, buffers=tuple(buffers))


def repeated(grown: Grown, times: Tensor) -> Grown:
    """The elements so many times over, in a list of its own."""
    each, times = cells.number(grown.count), core.to_dtype(core.strong(times), cells.INT)
    index = iota(length=as_dim(each * elementwise.maximum(times, 0)), dtype=cells.INT)
    index = elementwise.remainder(index, elementwise.maximum(each, 1))
    buffers = []
    for buffer in grown.buffers:
        rows = gather(buffer, index, axes=(0,))
        cells.inherit(rows, buffer)
        buffers.append(rows)
    count = index.dims[0]
    return replace(grown, buffers=tuple(buffers), count=count, room=cells.Room(cells.DOUBLING))


def joined(grown: Grown, other: Grown) -> Grown:
    """With the elements of another list at the end."""
    form = g.alike(grown.form, other.form)
    ready, other = g.of_form(grown, form), g.of_form(other, form)
    deep, buffers = listforms.depths(form.treedef), []
    for buffer, new, depth in zip(ready.buffers, other.buffers, deep, strict=True):
        for axis in range(1, depth + 1):
            buffer = cells.widened(buffer, axis, new.dims[axis])
        cells.row_of(cells.zeros(new.dims[1:], new.dtype), new.dtype, buffer.dims[1:], None, depth)
        buffers.append(buffer)  # after a look at shapes
    ready = replace(ready, buffers=tuple(buffers))
    count, more = other.count, other.dim
    ready = g.with_room(ready, more)
    start = ready.dim
    buffers = []
    for buffer, new, depth in zip(ready.buffers, other.buffers, deep, strict=True):
        rows = core.to_dtype(exact(new, more), buffer.dtype)
        inside = [(0, dim, 1) for dim in rows.dims[1 : depth + 1]]
        with in_bounds():
            changed = slice_update(buffer, rows, key=((start, more, 1), *inside))
        cells.inherit(changed, buffer)
        cells.inherit(changed, new)
        buffers.append(changed)
    return replace(ready, buffers=tuple(buffers), count=g.plus(ready.count, count))


def has_order(treedef: tree.TreeDef) -> bool:
    """Whether an element is a number, or is made of such and compared one after the other."""
    if treedef.kind is None:
        return True
    is_sequence = issubclass(treedef.kind, (list, tuple)) and not listforms.is_rows(treedef)
    return is_sequence and all(map(has_order, treedef.children))


def _leading(treedef: tree.TreeDef) -> int:
    """How many numbers an element begins with, by which elements are in order if no two have the
    same ones."""
    if treedef.kind is None:
        return 1
    found = 0
    if issubclass(treedef.kind, (list, tuple)) and not listforms.is_rows(treedef):
        for child in treedef.children:
            found += _leading(child)
            if not has_order(child):
                break
    return found


def sorted_by(grown: Grown, keys: Grown, backwards: bool) -> Grown:
    """The elements in the order of their keys: by the first number of a key, then by the next."""
    if not keys.buffers:  # there are no elements, or nothing is in them
        return grown
    count = _leading(keys.treedef)
    leading = keys.buffers[:count]
    no_order = cells.has_arrays(keys.kinds[:count]) or any(b.dtype.kind == "c" for b in leading)
    if not count or no_order:
        raise cells.refused("it is sorted by what is no number", "sort by a key that is one")
    columns = [exact(buffer, keys.count) for buffer in leading]
    order = _order(columns, grown.dim, backwards)
    if not has_order(keys.treedef):
        _refuse_equal([gather(column, order, axes=(0,)) for column in columns])
    return mapped(grown, lambda rows: gather(rows, order, axes=(0,)))


def _refuse_equal(columns: Sequence[Tensor]) -> None:
    """The run raises if two neighbours are equal in all columns: what comes next is compared."""
    pairs = [(getitem(c, slice(1, None)), getitem(c, slice(None, -1))) for c in columns]
    equal = functools.reduce(elementwise.logical_and, [elementwise.equal(a, b) for a, b in pairs])
    text = (
        "elements that begin with the same numbers are sorted by what follows, which is no number"
    )
    error = Raise(TraceError, (text,), remedy="sort by a key that is a number: key=lambda v: v[0]")
    assert_(elementwise.logical_not(equal), exception=error)


def ordered(rows: Tensor, backwards: bool) -> Tensor:
    """Numbers in the order of Python's sorted."""
    turned = slice(None, None, -1 if backwards else 1)  # equal ones stay in their order

    def by_size() -> Tensor:
        made = core.copy(getitem(rows, turned))
        made.sort()
        return getitem(made, turned)

    def by_turns() -> Tensor:
        return gather(rows, python_argsort(rows, reverse=backwards), axes=(0,))

    return _unless_nan([rows], by_size, by_turns)


def _order(columns: Sequence[Tensor], length: Dim, backwards: bool) -> Tensor:
    """Where each element comes from when they are sorted by the first column, then by the next."""

    def by_size() -> Tensor:
        turned = slice(None, None, -1 if backwards else 1)
        order = iota(length=length, dtype=cells.INT)
        for column in reversed(columns):
            moved = gather(getitem(column, turned), order, axes=(0,))
            order = gather(order, argsort(moved, axis=0, stable=True), axes=(0,))
        if not backwards:
            return order
        return elementwise.subtract(cells.number(length) - 1, getitem(order, turned))

    return _unless_nan(columns, by_size, lambda: python_argsort(*columns, reverse=backwards))


def _unless_nan(
    columns: Sequence[Tensor], by_size: Callable[[], Tensor], by_turns: Callable[[], Tensor]
) -> Tensor:
    """A NaN is neither less nor more than anything: where Python's sorted leaves it, and what is
    beside it, only its algorithm tells."""
    floats = [column for column in columns if column.dtype.kind == "f"]
    if not floats:
        return by_size()
    from graphify.autograph.operators.branches import if_exp  # which joins lists

    nans = [reduction.reduce_any(elementwise.not_equal(c, c), axes=(0,)) for c in floats]
    found: Tensor = if_exp(functools.reduce(elementwise.logical_or, nans), by_turns, by_size)
    return found
