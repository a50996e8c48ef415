"""Growing lists as trees: a count and buffers, under a structure that tells what the elements are.

    leaves, treedef = tree.flatten(rows)      # [count, buffer, ...]
    rooms_of(treedef)                         # what is known of the room in the buffers

Outside of a trace the leaves make a plain list: that is how a function returns one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np

from graphify import tree
from graphify.autograph.operators import listcells as cells
from graphify.autograph.operators.growing import Grown
from graphify.autograph.operators.listcells import Room
from graphify.autograph.operators.lists import GrowingList
from graphify.autograph.operators.state import Unstageable
from graphify.ir.context import current_builder, tracked
from graphify.ir.sizes import Size
from graphify.ir.tensor import Tensor
from graphify.ir.wrapping import as_tensor
from graphify.location import here
from graphify.ops import core
from graphify.ops.keys import getitem


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
    if isinstance(count, Tensor) and count.dims:
        return OfLanes(keys, children)
    if isinstance(count, Tensor) and not count.is_symbolic:
        count = int(count.numpy())
    return GrowingList.of(Grown(treedef, kinds, tuple(buffers), count, room))


class OfLanes:
    """The lists that the lanes of a vmap give inside a trace: it may return them, no more."""

    __slots__ = ("keys", "children")

    def __init__(self, keys: tuple[Any, ...], children: list[Any]) -> None:
        self.keys, self.children = keys, children

    def __iter__(self) -> NoReturn:
        raise cells.refused("it is what each lane of a vmap gives", "return an array in every lane")

    __len__ = __getitem__ = __iter__


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
    columns = [
        _column(cells.ARRAY if lanes else kind, as_tensor(buffer), length, lanes)
        for kind, buffer in zip(kinds, buffers, strict=True)
    ]
    if not columns:
        return [treedef.unflatten([]) for _ in range(length)]
    return [treedef.unflatten(leaves) for leaves in zip(*columns, strict=True)]


def _column(kind: Any, buffer: Tensor, length: int, lanes: int) -> list[Any]:
    """The first elements of a buffer, copied, each along the axis behind those of the lanes."""
    if not tracked(buffer):
        array = np.moveaxis(buffer.numpy(), lanes, 0)[:length]
        if kind == cells.NUMBER:
            numbers: list[Any] = array.tolist()
            return numbers
        rows = [Tensor(np.array(row), weak=buffer._weak) for row in array]
    else:
        where: Any = (slice(None),) * lanes
        rows = [core.copy(getitem(buffer, (*where, i))) for i in range(length)]
        if kind == cells.NUMBER:
            return [row.numpy().item() for row in rows]
    for row in rows:
        row._scalar = kind not in cells.ARRAYS
    return rows


tree.register(GrowingList, _open, _build)
tree.register(OfLanes, lambda lists: (lists.keys, lists.children), _build)


# --- treedefs -------------------------------------------------------------------------------------


def rooms_of(treedef: tree.TreeDef) -> list[Room]:
    """The rooms of the growing lists in a tree, in order."""
    return [node.keys[2] for node in _growing(treedef)]


def _growing(treedef: tree.TreeDef) -> Iterator[tree.TreeDef]:
    if treedef.kind is GrowingList:
        yield treedef
    else:
        for child in treedef.children:
            yield from _growing(child)


def with_rooms(treedef: tree.TreeDef, rooms: Iterator[Room]) -> tree.TreeDef:
    """The same tree, its growing lists with other rooms."""
    if treedef.kind is GrowingList:
        return replace(treedef, keys=(*treedef.keys[:2], next(rooms)))
    if not rooms_of(treedef):
        return treedef
    children = tuple(with_rooms(child, rooms) for child in treedef.children)
    return replace(treedef, children=children)


def counts_at(treedef: tree.TreeDef) -> list[int]:
    """The positions, among the leaves of a tree, of the counts of its growing lists: the buffers
    of each follow."""
    found, position = [], 0
    pending = [treedef]
    while pending:
        node = pending.pop()
        if node.kind is GrowingList:
            found.append(position)
        if node.kind is None or node.kind is GrowingList:
            position += node.num_leaves
        else:
            pending += reversed(node.children)
    return found


def buffers_at(treedef: tree.TreeDef) -> list[range]:
    """Likewise, those of the buffers of each growing list."""
    widths = [len(node.children) for node in _growing(treedef)]
    return [range(c + 1, c + w) for c, w in zip(counts_at(treedef), widths, strict=True)]


def numbers_at(treedef: tree.TreeDef) -> set[int]:
    """Likewise, those of what is nobody's but a growing list's: its count and its numbers."""
    found = set(counts_at(treedef))
    for node, places in zip(_growing(treedef), buffers_at(treedef), strict=True):
        kinds = zip(places, node.keys[1], strict=True)
        found.update(place for place, kind in kinds if kind not in cells.ARRAYS)
    return found
