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
from typing import Any, TypeAlias

import numpy as np

from graphify import tree
from graphify.autograph.operators.state import Unstageable, is_dynamic, placeholder
from graphify.errors import TraceError
from graphify.ir.bind import bind
from graphify.ir.sharing import link, links, observers
from graphify.ir.sharing import storage as storage_of
from graphify.ir.sizes import Dim, Shape, Size, decide_equal, decide_less, size_op
from graphify.ir.tensor import Tensor, resolve
from graphify.ir.types import DType, Spec
from graphify.ir.wrapping import as_tensor
from graphify.location import here, user_frame
from graphify.ops import core, effects, elementwise
from graphify.ops.indexing import slice_, slice_update
from graphify.ops.shape import RANGE_ERRORS, as_dim, concatenate, in_range
from graphify.tracing.lists import List

EXACT, OWED, DOUBLING = "exact", "owed", "doubling"
NUMBER, SCALAR, ARRAY = "number", "scalar", "array"  # what a leaf is in Python
KINDS = (NUMBER, SCALAR, ARRAY)
INT = np.dtype(np.int64)

Count: TypeAlias = "Dim | Tensor"


@dataclass(frozen=True, slots=True)
class Room:
    """What is known of the room in the buffers.

    Attributes:
        mode: EXACT, OWED or DOUBLING.
        free: so many elements fit in any case; of a list that is OWED less than none.
        added: how many elements more there are than when the frame began, where that is certain.
    """

    mode: str = EXACT
    free: Dim = 0
    added: Dim | None = None

    def less(self, count: Dim) -> Room:
        """After appending some elements."""
        added = None if self.added is None else self.added + count
        return Room(self.mode, self.free - count, added)


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
        buffers = tuple(_as_number(buffer, kind != ARRAY) for buffer, kind in rows)
        object.__setattr__(self, "buffers", buffers)

    @property
    def capacity(self) -> Dim:
        return self.buffers[0].dims[0]


# --- elements -------------------------------------------------------------------------------------


def _as_number(buffer: Tensor, number: bool) -> Tensor:
    if not isinstance(buffer, Tensor) or buffer._scalar is number:
        return buffer
    made = Tensor(resolve(buffer)._value)
    made._scalar, made._home = number, buffer._home
    return made


def kind_of(leaf: Any) -> str:
    if not isinstance(leaf, Tensor):
        return ARRAY if isinstance(leaf, np.ndarray) else SCALAR if _is_scalar(leaf) else NUMBER
    return NUMBER if leaf.spec.weak else SCALAR if leaf._scalar and not leaf.dims else ARRAY


def _is_scalar(leaf: Any) -> bool:
    return isinstance(leaf, np.generic)


def apart(grown: Grown) -> Grown:
    """The same elements in a list that no loop makes room for."""
    return replace(grown, room=Room(DOUBLING)) if grown.room.mode == OWED else grown


def wider(one: str, other: str) -> str:
    return max(one, other, key=KINDS.index)


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
    if not leaves:
        raise refused("its elements hold nothing that a graph could carry", "append numbers")
    return treedef, leaves


REFUSED = "the length of a list is only known when the graph runs, and "


def refused(why: str, remedy: str) -> Unstageable:
    return Unstageable(
        f"{REFUSED}{why}",
        location=here(),
        remedy=remedy,
    )


def join_dtypes(one: DType, other: DType) -> DType:
    return one if one == other else np.result_type(one, other)


def row_of(leaf: Any, dtype: DType, shape: Sequence[Dim], whose: List | None = None) -> Tensor:
    """A leaf as a row of a buffer.

    Args:
        whose: the list, for errors.

    Raises:
        Unstageable: it has another shape than the other rows.
    """
    tensor = core.to_dtype(core.strong(resolve(as_tensor(leaf))), dtype)
    same = [decide_equal(a, b) for a, b in zip(tensor.dims, shape, strict=False)]
    if tensor.ndim != len(shape) or False in same:
        pieces = _differing(tensor.dims, tuple(shape), whose)
        raise refused("".join(map(str, pieces)), PAD)
    if all(same):
        return tensor
    _check_shape(tensor.dims, tuple(shape), whose)
    return core.reshape(tensor, shape=tuple(shape))


PAD = "make them of one shape, e.g. by padding, or keep them in one array after the other"


def _differing(here: Shape, before: Shape, whose: List | None) -> list[Any]:
    """What to say of an element whose shape differs: words, and lengths."""
    lines = {} if whose is None else whose.lines
    others = [str(at) for shape, at in lines.items() if shape != here]
    elements = f"the elements of '{name}'" if (name := _name_of(whose)) else "its elements"
    seen = f" ({', '.join(dict.fromkeys(others))})" if others else ""
    return [f"{elements} differ in shape: ", *_words(before), seen, " and ", *_words(here)]


def _words(shape: Shape) -> list[Any]:
    """A shape as Python shows it, in words and lengths."""
    between: list[Any] = [part for dim in shape for part in (", ", dim)][1:]
    return ["(", *between, ",)" if len(shape) == 1 else ")"]


def _name_of(whose: List | None) -> str | None:
    """What the user calls a list in the line at hand."""
    frame = None if whose is None else user_frame()
    names = {} if frame is None else frame.f_locals
    return next((name for name, value in names.items() if value is whose), None)


def _check_shape(here: Shape, before: Shape, whose: List | None) -> None:
    """Let the run find out whether an element is shaped as the others are."""
    pairs = [pair for pair in zip(here, before, strict=True) if decide_equal(*pair) is None]
    same = [elementwise.equal(number(one), number(other)) for one, other in pairs]
    words = [REFUSED, *_differing(here, before, whose)]
    pieces = tuple(None if isinstance(word, Size) else str(word) for word in words)
    values = [number(word) for word in words if isinstance(word, Size)]
    error = effects.Raise(TraceError, (effects.Text(pieces, ""),), remedy=PAD)
    effects.assert_(functools.reduce(elementwise.logical_and, same), *values, exception=error)


def element(grown: Grown, index: Any) -> Any:
    """The element at an index that is in range."""
    leaves = []
    for kind, buffer in zip(grown.kinds, grown.buffers, strict=True):
        leaf = row(buffer, index)
        if kind == NUMBER:
            leaf = core.cast(leaf, dtype=leaf.dtype, weak=True)
        leaf._scalar = kind != ARRAY
        if kind == ARRAY:
            link(leaf, buffer, None)  # the very array that the list holds
        leaves.append(leaf)
    return grown.treedef.unflatten(leaves)


def row(buffer: Tensor, index: Any) -> Tensor:
    operands, entry = _place(index)
    made: Tensor = bind(slice_, (buffer, *operands), {"key": (entry,)}, view=False)
    return made


def _place(index: Any) -> tuple[list[Tensor], Any]:
    """An index as operands of a slice, and as an entry of its key."""
    if isinstance(index, (int, Size)):
        return [], index
    return [core.strong(index)], ("at", 0)


def put(grown: Grown, index: Any, leaves: Sequence[Any], whose: List | None = None) -> Grown:
    """With another element at an index that is in the buffers; `whose`: the list, for errors."""
    operands, entry = _place(index)
    buffers = []
    for buffer, kind, leaf in zip(grown.buffers, grown.kinds, leaves, strict=True):
        new = row_of(leaf, buffer.dtype, buffer.dims[1:], whose)
        changed = slice_update(buffer, new, *operands, key=(entry,))
        inherit(changed, buffer)
        if kind == ARRAY and isinstance(leaf, Tensor):
            link(changed, storage_of(leaf), None)
        buffers.append(changed)
    return replace(grown, buffers=tuple(buffers))


def inherit(changed: Tensor, buffer: Tensor) -> None:
    """What shares arrays with a buffer does so with what has become of it."""
    for other, _ in list(links(buffer)):
        link(changed, other, None)
    for seer, _ in list(observers(buffer)):
        link(seer, changed, None)


def fitted(grown: Grown, treedef: tree.TreeDef, leaves: Sequence[Any]) -> Grown:
    """Ready to take another element: its dtypes may be wider than those of the buffers.

    Raises:
        Unstageable: the element has another structure.
    """
    treedef = alike(grown.treedef, treedef)
    kinds = tuple(wider(k, kind_of(leaf)) for k, leaf in zip(grown.kinds, leaves, strict=True))
    dtypes = [
        join_dtypes(buffer.dtype, resolve(as_tensor(leaf)).dtype)
        for buffer, leaf in zip(grown.buffers, leaves, strict=True)
    ]
    return replace(recast(grown, dtypes), treedef=treedef, kinds=kinds)


def alike(one: tree.TreeDef, other: tree.TreeDef) -> tree.TreeDef:
    """The structure of elements that have the one or the other: lists of numbers in them may hold
    numbers of several kinds.

    Raises:
        Unstageable: they differ in more than that.
    """
    found = wider_structure(one, other)
    if found is None:
        example, second = (each.unflatten(["..."] * each.num_leaves) for each in (one, other))
        raise refused(
            f"its elements differ in structure: {example} and {second}",
            "give all elements the same structure",
        )
    return found


def wider_structure(one: tree.TreeDef, other: tree.TreeDef) -> tree.TreeDef | None:
    """What `alike` gives; None if they differ in more."""
    if one == other:
        return one
    if one.kind is not other.kind or len(one.children) != len(other.children):
        return None
    keys: tuple[Any, ...] | None = one.keys
    if one.keys != other.keys:
        keys = _alike_lists(one.keys, other.keys) if issubclass(one.kind or object, List) else None
    pairs = zip(one.children, other.children, strict=True)
    children = [wider_structure(child, second) for child, second in pairs]
    if keys is None or None in children:
        return None
    return tree.TreeDef(one.kind, keys, tuple(child for child in children if child is not None))


def _alike_lists(one: tuple[Any, ...], other: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """The same for the keys of lists of run-time length: structure, kinds and room."""
    treedef = wider_structure(one[0], other[0])
    if treedef is None:
        return None
    kinds = tuple(map(wider, one[1], other[1]))
    return treedef, kinds, one[2] if one[2] == other[2] else Room(DOUBLING)


def recast(grown: Grown, dtypes: Sequence[DType]) -> Grown:
    pairs = zip(grown.buffers, dtypes, strict=True)
    buffers = [b if b.dtype == d else core.cast(b, dtype=d) for b, d in pairs]
    return replace(grown, buffers=tuple(buffers))


# --- counts ---------------------------------------------------------------------------------------


def plus(count: Count, more: Dim | Tensor) -> Count:
    """A count and some more, as a size where both are."""
    if isinstance(count, Tensor) or isinstance(more, Tensor):
        return elementwise.add(number(count), number(more))
    return count + more


def number(count: Count) -> Tensor:
    """A count as a tensor."""
    return core.strong(as_tensor(count))


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
    first = parts[0]
    tensors = [resolve(as_tensor(leaf)) for leaf in first[1]]
    empty = tuple(zeros((0, *t.dims), t.dtype) for t in tensors)
    grown = Grown(first[0], tuple(map(kind_of, first[1])), empty, 0)
    for treedef, leaves in parts:
        grown = fitted(grown, treedef, leaves)
    buffers = []
    for position, model_ in enumerate(grown.buffers):
        column = [leaves[position] for _, leaves in parts]
        rows = [row_of(leaf, model_.dtype, model_.dims[1:]) for leaf in column]
        buffer = concatenate(*(core.reshape(r, shape=(1, *r.dims)) for r in rows), axis=0)
        if grown.kinds[position] == ARRAY:
            for leaf in column:
                if isinstance(leaf, Tensor):
                    link(buffer, storage_of(leaf), None)
        buffers.append(buffer)
    return replace(grown, buffers=tuple(buffers), count=len(values))


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


def zeros(shape: Shape, dtype: DType) -> Tensor:
    return placeholder(Spec(shape, dtype))


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
