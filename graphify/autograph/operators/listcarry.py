"""The growing lists in the state of a loop: how much room they need, and who makes it.

    for v in x:
        if v > 0:
            rows.append(v)      # at most one more in each turn: len(x) rows are made beforehand

The body is traced with lists that owe their room (growing.OWED). What they owe after a turn, times
the turns, the loop reserves before the first one, so that no buffer changes its length from turn to
turn. Where nobody knows how often the loop turns, its lists double when they are full.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from graphify import tree
from graphify.autograph.operators import growing as g
from graphify.autograph.operators import listcells as cells
from graphify.autograph.operators import listjoin, listtrees, references
from graphify.autograph.operators.iteration import length_of
from graphify.autograph.operators.listcells import Room
from graphify.autograph.operators.state import Absent, Entry
from graphify.ir.graph import Builder
from graphify.ir.sizes import Dim, fresh, not_negative
from graphify.ir.tensor import Tensor
from graphify.ir.types import Spec
from graphify.ir.wrapping import as_tensor
from graphify.ops.shape import _size_of as size_of


@dataclass(slots=True)
class CarriedLists:
    """What a `Carry` knows of the growing lists in its entries, by the number of the entry.

    Attributes:
        frame: the one that the loop is in.
        length: how many turns there are at most; None: nobody knows.
        every: whether there are as many turns as that.
        watched: lists that the loop goes over.
        constant: whether the loop starts with nothing that only the run knows.
        rows: the lengths of buffers in a turn, each for itself.
    """

    frame: Builder | None
    length: Dim | None = None
    every: bool = False
    watched: Sequence[Any] = ()
    before: dict[int, list[Room]] = field(default_factory=dict)  # rooms, in the frame of the loop
    after: dict[int, list[Room]] = field(default_factory=dict)  # at the end of a turn
    doubling: set[int] = field(default_factory=set)
    known: set[int] = field(default_factory=set)
    constant: bool = True
    rows: set[Dim] = field(default_factory=set)

    def lengths(self) -> list[Any]:
        """What is another thing once a list that the loop goes over has another length."""
        return list(map(length_of, self.watched))

    # --- before a turn is traced ---

    def enter(self, k: int, entry: Entry) -> None:
        """Give the lists of an entry the room that they have at the start of a turn."""
        rooms = listtrees.rooms_of(entry.treedef)
        if k not in self.known:
            self.known.add(k)
            self.constant = self.constant and not rooms and not _is_symbolic(entry.leaves)
        if entry.frozen is None and listjoin.has_lists(entry):
            entry.freeze()  # its arrays may be updated in the body
        if rooms:
            self.before[k] = rooms
            if any(isinstance(leaf, Absent) for leaf in entry.leaves):
                self.doubling.add(k)
            self._reset(k, entry)

    def _reset(self, k: int, entry: Entry) -> None:
        if k in self.doubling:
            rooms = [Room(cells.DOUBLING)] * len(self.before[k])
        else:
            rooms = [Room(cells.OWED, 0, 0, (cells.Peak(),)) for _ in self.before[k]]
        entry.treedef = listtrees.with_rooms(entry.treedef, iter(rooms))

    def specs(self, treedef: tree.TreeDef, specs: Sequence[Spec | None]) -> list[Spec | None]:
        """Specs of leaves: the lengths of buffers are sizes of their own, the counts vary."""
        found = list(specs)
        for place in listtrees.counts_at(treedef):
            if found[place] is not None:
                found[place] = Spec((), cells.INT)
        for places in listtrees.buffers_at(treedef):
            rows = fresh("rows")
            self.rows.add(rows)
            for place in places:
                spec = found[place]
                if spec is not None:
                    found[place] = Spec((rows, *spec.shape[1:]), spec.dtype, spec.weak)
        return found

    # --- after it was traced ---

    def promoted(self, k: int, entry: Entry, new: Entry) -> Entry | None:
        """An entry in which the loop can carry lists of other lengths; None: as it is."""
        rooms = self.before.get(k, [])
        treedef = listtrees.with_rooms(entry.treedef, iter(rooms))
        frozen = entry.frozen or entry.leaves
        before = listjoin.Part(treedef, entry.leaves, frozen, entry.holder)
        after = listjoin.Part(new.treedef, new.leaves, new.leaves)
        found = listjoin.promoted(before, after, self.frame)
        if found is None:
            return None
        made = Entry(
            entry.name,
            found.treedef,
            found.leaves,
            entry.bound,
            frozen=found.frozen,
            made=entry.made,
        )
        made.contents, made.held, made.holder = entry.contents, entry.held, entry.holder
        return made

    def leave(self, k: int, entry: Entry, new: Entry, specs: Sequence[Spec | None]) -> bool:
        """Look at the lists of an entry after a turn; True if they have to be traced otherwise.

        Args:
            specs: of the entry's leaves, as the body was given them.
        """
        rooms = listtrees.rooms_of(entry.treedef)
        if k not in self.before or entry.treedef == new.treedef and not _any_peaks(rooms, rooms):
            self.after[k] = rooms
            return False
        new.treedef, new.leaves = listjoin.as_grown(new.treedef, new.leaves, entry.treedef, specs)
        self._refill(entry, new, specs)
        rooms, before = listtrees.rooms_of(new.treedef), listtrees.rooms_of(entry.treedef)
        as_before = len(rooms) == len(before)
        same = listtrees.with_rooms(new.treedef, iter(before)) if as_before else new.treedef
        if not listjoin.has_form(same, entry.treedef):
            return False  # another structure: for others to see
        fits = all(map(self._fits, rooms)) and not _any_peaks(before, rooms)
        if k not in self.doubling and not fits:
            self.doubling.add(k)
            self._reset(k, entry)
            return True
        self.after[k], new.treedef = rooms, entry.treedef
        return False

    def _fits(self, room: Room) -> bool:
        """Whether what is owed after a turn can be reserved before the first one."""
        if room.mode != cells.OWED:
            return False
        if not_negative(room.free):
            return True
        return self.length is not None and listjoin.is_known(room.free, self.frame)

    def _refill(self, entry: Entry, new: Entry, specs: Sequence[Spec | None]) -> None:
        """Lists that the body made are put into buffers of the length that is carried."""
        before, after = listtrees.buffers_at(entry.treedef), listtrees.buffers_at(new.treedef)
        rooms = listtrees.rooms_of(new.treedef)
        if len(before) != len(after) or len(specs) != len(entry.leaves):
            return
        for number, (old, places, room) in enumerate(zip(before, after, rooms, strict=True)):
            owes = listtrees.rooms_of(entry.treedef)[number].mode == cells.OWED
            if not places:
                continue
            first = new.leaves[places[0]]
            if not owes or room.mode != cells.EXACT or not isinstance(first.dims[0], int):
                continue
            for old_place, place in zip(old, places, strict=True):
                made = g.Grown(tree.LEAF, (cells.SCALAR,), (new.leaves[place],), 0, room)
                spec = specs[old_place]
                if spec is None:
                    return
                full = listjoin.fill(made, spec.shape[0])
                new.leaves[place], rooms[number] = full.buffers[0], full.room
        new.treedef = listtrees.with_rooms(new.treedef, iter(rooms))

    # --- around the loop ---

    def _owed(self, k: int) -> Iterator[Dim]:
        """What the loop adds to each list, at most."""
        for room in self.after.get(k, ()):
            free = room.free if room.mode == cells.OWED else 0
            yield 0 if not_negative(free) or self.length is None else -free * self.length

    def reserve(self, k: int, entry: Entry) -> Entry:
        """An entry with room for what the loop adds to its lists."""
        leaves = list(entry.leaves)
        if k not in self.before or k in self.doubling:
            return entry
        rows = zip(listtrees.buffers_at(entry.treedef), self.before[k], self._owed(k), strict=True)
        for places, room, owed in rows:
            if owed == 0 or room.mode == cells.OWED or not places:
                continue
            buffers = tuple(leaves[place] for place in places)
            kinds = (cells.ARRAY,) * len(buffers)
            grown = g.Grown(tree.LEAF, kinds, buffers, leaves[places[0] - 1], room)
            for place, buffer in zip(places, g.reserved(grown, owed).buffers, strict=True):
                leaves[place] = buffer
        return entry.replaced(leaves, entry.bound)

    def finish(self, k: int, entry: Entry) -> dict[int, Any]:
        """Give the lists of an entry the room that they have after the loop.

        Returns:
            Counts that are certain, by the position of the leaf.
        """
        known: dict[int, Any] = {}
        if k not in self.before:
            return known
        rooms = []
        counts = listtrees.counts_at(entry.treedef)
        steps = zip(counts, self.before[k], self.after[k], self._owed(k), strict=True)
        for place, before, after, owed in steps:
            rooms.append(self._room(k, before, after, owed))
            count = entry.leaves[place]
            more = self._added(after)
            if more is not None and after.added != 0 and k not in self.doubling:
                known[place] = as_tensor(g.plus(_dim(count), more))
        entry.treedef = listtrees.with_rooms(entry.treedef, iter(rooms))
        return known

    def _added(self, after: Room) -> Dim | None:
        """How many elements the loop adds, where that is certain."""
        if after.added is None or self.length is None or not self.every:
            return None
        return after.added * self.length

    def _room(self, k: int, before: Room, after: Room, owed: Dim) -> Room:
        if k in self.doubling or before.mode == cells.DOUBLING:
            return Room(cells.DOUBLING)
        more = 0 if after.added == 0 else self._added(after)
        added = None if more is None or before.added is None else before.added + more
        if before.mode == cells.OWED:
            return replace(before.less(owed), added=added)
        return replace(before, added=added)


def _any_peaks(before: Sequence[Room], after: Sequence[Room]) -> bool:
    """Whether a list had less room in a turn than what stands in its place has in the end."""
    rows = zip(before, after, strict=True)
    return any(not not_negative(p.free - now.free) for room, now in rows for p in room.peaks)


def _is_symbolic(leaves: Sequence[Any]) -> bool:
    """Whether only the run knows some leaf."""
    return any(
        _is_symbolic(leaf.leaves)
        if isinstance(leaf, references.Reference)
        else isinstance(leaf, Tensor) and leaf.is_symbolic
        for leaf in leaves
    )


def _dim(count: Any) -> Any:
    """A count as a size, where it is one."""
    if not isinstance(count, Tensor):
        return count
    if not count.is_symbolic:
        return int(count.numpy())
    known = size_of(count._value)
    return count if known is None else known
