"""Where paths meet on which a list has different lengths: it becomes a growing list on both.

    if x > 0:
        rows.append(x)      # rows: [] on one path, [x] on the other

Rooms (see growing.py) join to what holds on either path.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from graphify import tree
from graphify.autograph.operators import growing as g
from graphify.autograph.operators import listcells as cells
from graphify.autograph.operators import listforms, lists, references
from graphify.autograph.operators.growing import Grown
from graphify.autograph.operators.listcells import Room
from graphify.autograph.operators.listforms import depths
from graphify.autograph.operators.state import Absent, Entry, Unstageable
from graphify.errors import InternalError
from graphify.ir.context import current_builder, in_bounds, not_taping, recording, taping_in
from graphify.ir.graph import Builder
from graphify.ir.sharing import link
from graphify.ir.sharing import storage as storage_of
from graphify.ir.sizes import Dim, dim_variables
from graphify.ir.tensor import Tensor
from graphify.ir.types import Spec
from graphify.ops.indexing import slice_update
from graphify.tracing import apart
from graphify.tracing.places import seal

if TYPE_CHECKING:
    from graphify.autograph.operators.choice import Pairs, Side, United

LISTS = (list, lists.GrowingList)


@contextlib.contextmanager
def within(frame: Builder | None) -> Iterator[None]:
    """Record in a frame: one around the current frame, or one inside it that is done."""
    around = current_builder()
    while around is not None and around is not frame:
        around = around.parent
    if around is frame:
        with taping_in(frame), recording(frame):
            yield
    else:
        with recording(frame), not_taping():
            yield


def unite_lists(a: Side, b: Side) -> United | None:
    """Two lists of different lengths in a common form; None: they are something else.

    Raises:
        Unstageable: only the run knows the length of one, and the elements do not go together.
    """
    if a.treedef.kind not in LISTS or b.treedef.kind not in LISTS:
        return None
    if a.treedef.kind is list and len(a.treedef.children) == len(b.treedef.children):
        if b.treedef.kind is list:
            return None
    try:
        one, two = _both(a, b)
    except Unstageable:
        if a.treedef.kind is b.treedef.kind is list:
            return None
        raise
    (treedef, pairs), (_, others) = _pairs(one), _pairs(two)
    return treedef, pairs, others


def _pairs(grown: Grown) -> tuple[tree.TreeDef, Pairs]:
    leaves, treedef = tree.flatten(lists.GrowingList.of(grown))
    return treedef, [(leaf, leaf) for leaf in leaves]


def _both(a: Side, b: Side) -> tuple[Grown, Grown]:
    first, second = (a, b) if a.treedef.children else (b, a)  # an empty list takes after the other
    with within(first.builder):
        one = _grown(first, None)
    with within(second.builder):
        two = _grown(second, one)
    one, two = merged(one, two, first.builder, second.builder)
    return (one, two) if first is a else (two, one)


def _grown(side: Side, model: Grown | None) -> Grown:
    """A list at the end of its path as a growing one."""
    values = side.treedef.unflatten([_inside(leaf, side.holder) for leaf in side.frozen])
    return _linked(lists.start(values, model), side)


def _inside(leaf: Any, around: Any = None) -> Any:
    """What an element that is a list of numbers from outside holds: it is copied into the list."""
    if type(leaf) is not references.Reference:
        return leaf
    held = [_inside(inner, around) for inner in leaf.leaves]
    if any(type(x) is references.Reference or cells.kind_of(x) in cells.ARRAYS for x in held):
        return leaf
    seal(leaf.target, around)
    return leaf.treedef.unflatten(held)


def _linked(grown: Grown, part: Side | Part) -> Grown:
    """The buffers hold the very arrays that were in a plain list."""
    if part.treedef.kind is not list:
        return grown
    for element in part.children():
        columns = list(enumerate(grown.buffers))
        same = element.treedef == grown.treedef
        for position, leaf in enumerate(element.leaves):
            if isinstance(leaf, Tensor) and cells.kind_of(leaf) in cells.ARRAYS:
                for _, buffer in columns[position : position + 1] if same else columns:
                    link(buffer, storage_of(leaf), None)
    return grown


def merged(one: Grown, two: Grown, first: Any, second: Any) -> tuple[Grown, Grown]:
    """Two lists with the same dtypes, kinds and room; each is changed in the frame of its own."""
    form = g.alike(one.form, two.form)
    with within(first):
        one = g.of_form(one, form)
    with within(second):
        two = g.of_form(two, form)
    capacity, mode = _common(one, two)
    done = []
    for grown, builder in ((one, first), (two, second)):
        with within(builder):
            done.append(fill(grown, capacity, mode) if mode != cells.DOUBLING else grown)
    for x, y, depth in zip(done[0].buffers, done[1].buffers, depths(form.treedef), strict=True):
        mine, theirs = x.dims[1 + depth :], y.dims[1 + depth :]
        if mine != theirs:
            cells.row_of(cells.zeros(theirs, y.dtype), x.dtype, mine)  # says why not
    room = _either(done[0].room, done[1].room, mode)
    return replace(done[0], room=room), replace(done[1], room=room)


def _common(one: Grown, two: Grown) -> tuple[Dim, str]:
    """How many rows both get, and how they get more."""
    capacities, modes = (one.capacity, two.capacity), {one.room.mode, two.room.mode}
    known = [c for c in capacities if isinstance(c, int)]
    if modes == {cells.EXACT} and len(known) == 2:
        return max(known), cells.EXACT
    if len(modes) == 1 and capacities[0] == capacities[1]:
        return capacities[0], modes.pop()
    if modes == {cells.EXACT, cells.OWED}:
        owed, other = (one, two) if one.room.mode == cells.OWED else (two, one)
        if isinstance(other.capacity, int):
            return owed.capacity, cells.OWED
    return 0, cells.DOUBLING


def fill(grown: Grown, capacity: Dim, mode: str = cells.OWED) -> Grown:
    """The list in buffers of another length.

    A list that does not owe room and comes to stand for one that does owes all its rows: the loop
    makes room for so many in each turn.
    """
    if grown.room.mode == mode:
        same = grown.capacity == capacity or not grown.buffers
        return grown if same else g.padded(grown, capacity)
    rows = grown.capacity
    buffers = []
    for buffer in grown.buffers:
        wide = cells.zeros((capacity, *buffer.dims[1:]), buffer.dtype)
        with in_bounds():
            changed = slice_update(wide, buffer, key=((0, rows, 1),)) if rows != 0 else wide
        cells.inherit(changed, buffer)
        buffers.append(changed)
    return replace(grown, buffers=tuple(buffers), room=Room(mode, -rows if rows else 0, None))


def _either(one: Room, two: Room, mode: str) -> Room:
    if mode == cells.DOUBLING:
        return Room(cells.DOUBLING)
    added = one.added if one.added == two.added else None
    peaks = tuple(dict.fromkeys((*one.peaks, *two.peaks)))
    return Room(mode, g.least(one.free, two.free), added, peaks)


def has_form(treedef: tree.TreeDef, like: tree.TreeDef) -> bool:
    """Whether a tree is, or holds growing lists that can be kept as, what another one holds."""
    forms = [_form_of_numbers(each) for each in (treedef, like)]
    found = listforms.common(*forms)
    return found is not None and found.treedef == like


def _form_of_numbers(treedef: tree.TreeDef) -> listforms.Form:
    return listforms.Form(
        treedef, (listforms.Leaf(cells.NUMBER, cells.INT, ()),) * treedef.num_leaves
    )


def as_grown(
    treedef: tree.TreeDef, leaves: list[Any], like: tree.TreeDef, specs: Sequence[Spec | None]
) -> tuple[tree.TreeDef, list[Any]]:
    """A tree in the current frame, its plain lists as growing ones where `like` has such.

    Args:
        specs: of the leaves of `like`.
    """
    if like.kind in LISTS and references.is_reference(treedef, leaves):
        treedef, leaves = leaves[0].treedef, leaves[0].leaves
    if like.kind is lists.GrowingList and treedef.kind is list:
        buffers = [cells.zeros((0, *s.shape[1:]), s.dtype) for s in specs[1:] if s is not None]
        if len(buffers) < len(like.children) - 1:
            return treedef, leaves
        model = Grown(like.keys[0], like.keys[1], tuple(buffers), 0)
        made = lists.start(treedef.unflatten(leaves), model)
        found, grown = tree.flatten(lists.GrowingList.of(made))
        return grown, found
    if like.kind is lists.GrowingList and treedef.kind is like.kind:
        return _of_elements(treedef, leaves, like, specs)
    if treedef.kind is not like.kind or len(treedef.children) != len(like.children):
        return treedef, leaves
    children, result, start, other = [], [], 0, 0
    for child, known in zip(treedef.children, like.children, strict=True):
        part = leaves[start : start + child.num_leaves]
        given = specs[other : other + known.num_leaves]
        new, found = as_grown(child, part, known, given)
        children.append(new)
        result += found
        start, other = start + child.num_leaves, other + known.num_leaves
    return (replace(treedef, children=tuple(children)), result) if children else (treedef, leaves)


def _of_elements(
    treedef: tree.TreeDef, leaves: list[Any], like: tree.TreeDef, specs: Sequence[Spec | None]
) -> tuple[tree.TreeDef, list[Any]]:
    """A growing list, its elements in the form in which another one has its own, if they can."""
    if treedef.keys[0] == like.keys[0] or None in specs:
        return treedef, leaves
    buffers = [cells.zeros((0, *s.shape[1:]), s.dtype) for s in specs[1:] if s is not None]
    model = Grown(like.keys[0], like.keys[1], tuple(buffers), 0)
    grown = treedef.unflatten(leaves).grown
    form = listforms.common(grown.form, model.form)
    if form is None or form.treedef != model.treedef:
        return treedef, leaves
    found, made = tree.flatten(lists.GrowingList.of(g.of_form(grown, form)))
    return made, found


@dataclass(slots=True)
class Part:
    """A value, or a part of one: its leaves, and what they were when the loop began. `holder`: what
    it is the contents of."""

    treedef: tree.TreeDef
    leaves: list[Any]
    frozen: list[Any]
    holder: Any = None

    def children(self) -> list[Part]:
        found, start = [], 0
        for child in self.treedef.children:
            part = slice(start, start + child.num_leaves)
            found.append(Part(child, self.leaves[part], self.frozen[part]))
            start += child.num_leaves
        return found

    @property
    def is_reference(self) -> bool:
        return references.is_reference(self.treedef, self.leaves)

    def opened(self) -> Part:
        """What a list from outside holds."""
        if not self.is_reference:
            return self
        return Part(self.leaves[0].treedef, self.leaves[0].leaves, self.frozen[0].leaves)


def promoted(before: Part, after: Part, frame: Any) -> Part | None:
    """What a loop starts with, in a form in which it can carry what a turn ends with.

    Args:
        frame: the one of the loop; the current frame is that of its body.

    Returns:
        None if there is nothing to change.
    """
    if before.is_reference or after.is_reference:
        if before.is_reference and after.is_reference and before.leaves[0] == after.leaves[0]:
            return None
        if apart.is_kept():
            return None
        opened = before.opened()
        found = promoted(opened, after.opened(), frame)
        return found or (opened if before.is_reference else None)
    old, new = before.treedef, after.treedef
    if old.kind in LISTS and new.kind in LISTS:
        differ = old.kind is not new.kind or len(old.children) != len(new.children)
        if old.kind is lists.GrowingList or differ:
            return _promoted(before, after, frame)
    if old.kind is None or old.kind is not new.kind or len(old.children) != len(new.children):
        return None
    parts, changed = [], False
    for child, other in zip(before.children(), after.children(), strict=True):
        kept = _is_choice(old) and (child.is_reference or other.is_reference)
        longer = None if kept else promoted(child, other, frame)
        changed |= longer is not None
        parts.append(longer or child)
    if not changed:
        return None
    treedef = replace(old, children=tuple(part.treedef for part in parts))
    leaves = [leaf for part in parts for leaf in part.leaves]
    return Part(treedef, leaves, [leaf for part in parts for leaf in part.frozen])


def _is_choice(treedef: tree.TreeDef) -> bool:
    from graphify.autograph.operators.choice import Choice  # not at the top: it imports this

    return treedef.kind is Choice


def _promoted(before: Part, after: Part, frame: Any) -> Part | None:
    old, new = before.treedef, after.treedef
    if any(isinstance(leaf, Absent) for leaf in before.leaves):
        return None
    model = None
    if new.kind is list and not new.children:  # emptied: whatever there was may come again
        if old.kind is lists.GrowingList:
            return None
    else:
        try:
            model = lists.start(new.unflatten(references.targets(after.leaves)), seals=False)
        except Unstageable:
            if old.kind is list and new.kind is list:
                return None  # of strings, say: for others to join
            raise
    with within(frame):
        held = old.unflatten([_inside(leaf, before.holder) for leaf in before.frozen])
        grown = _linked(lists.start(held, model), before)
        if model is not None:
            grown = g.of_form(grown, g.alike(grown.form, model.form))
        found, treedef = tree.flatten(lists.GrowingList.of(grown))
    if treedef == old and all(x is y for x, y in zip(found[1:], before.frozen[1:], strict=True)):
        return None
    return Part(treedef, found, found)


def has_lists(entry: Entry) -> bool:
    """Whether there are lists in a value, or names for such."""
    pending = [entry.treedef]
    while pending:
        node = pending.pop()
        if node.kind in LISTS:
            return True
        pending += node.children
    return any(type(leaf) is references.Reference for leaf in entry.leaves)


def is_known(dim: Dim, builder: Any = None) -> bool:
    """Whether a frame, the current one by default, can tell a size."""
    builder = builder or current_builder()
    try:
        for variable in dim_variables(dim):
            builder.ensure_size(variable)
    except InternalError:
        return False
    return True
