"""What the elements of one list have in common, and how an element is given that form.

    [1, 2]  and  [3.0]       lists of different lengths: rows that say how long they are

The form of an element is a tree, and what its leaves are. Elements that are lists of one length
have a column for each place. Where lengths differ, or only the run knows them, a list is a row of
a buffer that is as wide as the longest, and beside it how many elements it has.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, TypeAlias

from graphify import tree
from graphify.autograph.operators.listcells import (
    ARRAY,
    ARRAYS,
    DOUBLING,
    EITHER,
    INT,
    MIXED,
    NUMBER,
    Room,
    inherit,
    join_dtypes,
    row_of,
    wider,
    wrap_apart,
    zeros,
)
from graphify.ir.sharing import link
from graphify.ir.sharing import storage as storage_of
from graphify.ir.sizes import Dim, Shape, product, size_op
from graphify.ir.tensor import Tensor, resolve
from graphify.ir.types import DType, is_inexact
from graphify.ir.wrapping import as_tensor
from graphify.ops import core
from graphify.ops.shape import as_dim, concatenate
from graphify.tracing.lists import List


@dataclass(frozen=True, slots=True)
class Leaf:
    """A leaf of an element. `cell` is its shape, less the axes along which lists are kept."""

    kind: str
    dtype: DType
    cell: Shape


@dataclass(frozen=True, slots=True)
class Form:
    """What an element is: a tree, and its leaves."""

    treedef: tree.TreeDef
    leaves: tuple[Leaf, ...]

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(leaf.kind for leaf in self.leaves)


def form_of(treedef: tree.TreeDef, kinds: Sequence[str], columns: Sequence[Any], lead: int) -> Form:
    """The form of elements in columns, which have `lead` axes for the lists around them."""
    leaves = []
    for kind, column, depth in zip(kinds, columns, depths(treedef), strict=True):
        tensor = resolve(as_tensor(column))
        leaves.append(Leaf(kind, tensor.dtype, tensor.dims[lead + depth :]))
    return Form(treedef, tuple(leaves))


def depths(treedef: tree.TreeDef) -> list[int]:
    """Of each leaf, in how many lists of run-time length it is: so many of its axes are rows."""
    if treedef.kind is None:
        return [0]
    if is_rows(treedef):
        return [0, *(1 + depth for depth in depths(treedef.keys[0]))]
    return [depth for child in treedef.children for depth in depths(child)]


def is_rows(treedef: tree.TreeDef) -> bool:
    """Whether an element is a list of which only the run knows the length."""
    kind = treedef.kind
    return kind is not None and kind is not List and issubclass(kind, List)


def example_of(treedef: tree.TreeDef) -> Any:
    """An element of a structure, for messages."""
    if treedef.kind is None:
        return "..."
    if is_rows(treedef):
        return [example_of(treedef.keys[0]), "..."]
    children = [example_of(child) for child in treedef.children]
    return replace(treedef, children=(tree.LEAF,) * len(children)).unflatten(children)


# --- what two elements have in common -------------------------------------------------------------

NOTHING = tree.flatten(())[1]  # of the elements that a list does not have yet

Found: TypeAlias = "tuple[tree.TreeDef, list[Leaf]] | None"


def common(one: Form, other: Form) -> Form | None:
    """The form of elements that have the one or the other; None if they differ too much."""
    if NOTHING in (one.treedef, other.treedef):
        return one if other.treedef == NOTHING else other
    found = _common(one.treedef, iter(one.leaves), other.treedef, iter(other.leaves))
    return None if found is None else Form(found[0], tuple(found[1]))


def _common(one: tree.TreeDef, a: Iterator[Leaf], other: tree.TreeDef, b: Iterator[Leaf]) -> Found:
    mine, theirs = list(islice(a, one.num_leaves)), list(islice(b, other.num_leaves))
    if one == other:
        return one, list(map(_either, mine, theirs))
    lists = all(is_rows(each) or each.kind is list for each in (one, other))
    if lists and (one.kind is not list or len(one.children) != len(other.children)):
        return _rows(one, mine, other, theirs)
    if lists and other.kind is not list:
        return _rows(one, mine, other, theirs)
    same = one.kind is other.kind and one.keys == other.keys
    if one.kind is None or not same or len(one.children) != len(other.children):
        return None
    children, leaves = [], list[Leaf]()
    a, b = iter(mine), iter(theirs)
    for child, second in zip(one.children, other.children, strict=True):
        found = _common(child, a, second, b)
        if found is None:
            return None
        children.append(found[0])
        leaves += found[1]
    return replace(one, children=tuple(children)), leaves


def _either(one: Leaf, other: Leaf) -> Leaf:
    kind = wider(one.kind, other.kind)
    if kind not in ARRAYS and wrap_apart(one.dtype, other.dtype):
        kind = MIXED
    if kind == ARRAY and is_inexact(one.dtype) != is_inexact(other.dtype):
        kind = EITHER
    return Leaf(kind, join_dtypes(one.dtype, other.dtype), one.cell)


def _rows(one: tree.TreeDef, a: list[Leaf], other: tree.TreeDef, b: list[Leaf]) -> Found:
    """The same for two lists of different lengths, or of such as only the run knows."""
    from graphify.autograph.operators.lists import GrowingList  # not at the top: it imports this

    inside: Form | None = None
    for form in (*_elements(one, a), *_elements(other, b)):
        inside = form if inside is None else common(inside, form)
        if inside is None:
            return None
    assert inside is not None
    rooms = {each.keys[2] for each in (one, other) if is_rows(each)}
    room = rooms.pop() if is_rows(one) and is_rows(other) and len(rooms) == 1 else Room(DOUBLING)
    count = _either(a[0], b[0]) if is_rows(one) and is_rows(other) else Leaf(NUMBER, INT, ())
    leaves = [count, *(replace(leaf, kind=ARRAY) for leaf in inside.leaves)]
    keys = (inside.treedef, inside.kinds, room)
    return tree.TreeDef(GrowingList, keys, (tree.LEAF,) * len(leaves)), leaves


def _elements(treedef: tree.TreeDef, leaves: list[Leaf]) -> Iterator[Form]:
    """The forms of what is in a list."""
    if is_rows(treedef):
        yield Form(treedef.keys[0], _of_kinds(leaves[1:], treedef.keys[1]))
        return
    rest = iter(leaves)
    for child in treedef.children:
        yield Form(child, tuple(islice(rest, child.num_leaves)))


def of_rows(form: Form) -> Form | None:
    """The form of what is in elements that are lists of run-time length; None of others."""
    if not is_rows(form.treedef):
        return None
    return next(_elements(form.treedef, list(form.leaves)))


def _of_kinds(leaves: Sequence[Leaf], kinds: Sequence[str]) -> tuple[Leaf, ...]:
    """Leaves in a list: it knows of what kind they are, once they are read from it."""
    return tuple(replace(leaf, kind=kind) for leaf, kind in zip(leaves, kinds, strict=True))


# --- giving elements a form -----------------------------------------------------------------------


def shaped(
    columns: Sequence[Any], treedef: tree.TreeDef, form: Form, lead: Shape = ()
) -> list[Any]:
    """Columns of elements, in the form that `common` found for these and others.

    Args:
        lead: the first axes of all columns.
    """
    if treedef == NOTHING:
        return side_by_side([], form, lead[:-1])
    return _shaped(treedef, iter(columns), form.treedef, iter(form.leaves), lead)


def _shaped(
    treedef: tree.TreeDef,
    columns: Iterator[Any],
    target: tree.TreeDef,
    leaves: Iterator[Leaf],
    lead: Shape,
) -> list[Any]:
    wanted = list(islice(leaves, target.num_leaves))
    if treedef == target:
        return list(islice(columns, treedef.num_leaves))
    if not is_rows(target):
        rest, made = iter(wanted), list[Any]()
        for child, second in zip(treedef.children, target.children, strict=True):
            made += _shaped(child, columns, second, rest, lead)
        return made
    inside = Form(target.keys[0], _of_kinds(wanted[1:], target.keys[1]))
    if is_rows(treedef):
        count, *own = islice(columns, treedef.num_leaves)
        width = own[0].dims[len(lead)] if own else _most(count)
        return [count, *shaped(own, treedef.keys[0], inside, (*lead, width))]
    parts = [
        shaped(list(islice(columns, child.num_leaves)), child, inside, lead)
        for child in treedef.children
    ]
    count = core.broadcast_to(core.strong(as_tensor(len(parts))), shape=lead)
    return [count, *side_by_side(parts, inside, lead)]


def _most(counts: Any) -> Dim:
    """The length of the longest of some lists."""
    if isinstance(counts, int):
        return counts
    if not counts.dims:
        return as_dim(counts)
    flat = core.reshape(core.strong(counts), shape=(product(counts.dims),))
    return as_dim(concatenate(flat, core.strong(as_tensor([0])), axis=0).max())


def side_by_side(
    parts: Sequence[Sequence[Any]], form: Form, lead: Shape = (), whose: List | None = None
) -> list[Tensor]:
    """Elements of one form as the rows of lists; each part holds the columns of one place."""
    made = []
    for position, (leaf, depth) in enumerate(zip(form.leaves, depths(form.treedef), strict=True)):
        column = [resolve(as_tensor(part[position])) for part in parts]
        axes = len(lead) + depth
        if not column:
            made.append(zeros((*lead, 0, *(0,) * depth, *leaf.cell), leaf.dtype))
            continue
        widths = [_widest([t.dims[axis] for t in column]) for axis in range(len(lead), axes)]
        dims = (*lead, *widths, *leaf.cell)
        rows = [row_of(tensor, leaf.dtype, dims, whose, axes) for tensor in column]
        apart = [core.reshape(row, shape=(*lead, 1, *row.dims[len(lead) :])) for row in rows]
        whole = concatenate(*apart, axis=len(lead))
        if leaf.kind in ARRAYS:
            for tensor, given in zip(column, (part[position] for part in parts), strict=True):
                inherit(whole, tensor)
                if isinstance(given, Tensor):
                    link(whole, storage_of(given), None)
        made.append(whole)
    return made


def _widest(dims: Sequence[Dim]) -> Dim:
    return functools.reduce(lambda one, other: size_op("max", one, other), dims)
