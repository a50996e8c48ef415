"""Changes of a list inside a list whose length only the run knows: they reach the list around it.

    table = [[0] * m for _ in range(n)]
    table[i][j] = 5              # table[i] is read from buffers: what has changed goes back there

What was read is as good as the element as long as nothing else shows that. Where another list may
have it, or the list around has changed since, it is refused (see places.py); where another name
has an element, it must be another one, which the run checks. Branches and loops keep what holds on
all paths (`Kept`).
"""

from __future__ import annotations

import contextlib
import sys
from collections import Counter
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from graphify import tree
from graphify.errors import TraceError
from graphify.ir.context import current_builder
from graphify.ir.graph import Home, Value
from graphify.ir.tensor import Tensor, resolve
from graphify.ops import elementwise
from graphify.ops.effects import Raise, assert_
from graphify.ops.shape import in_range
from graphify.tracing import identity
from graphify.tracing.identity import Sealed
from graphify.tracing.lists import List, is_grown

ONE_NAME = "write to it by way of the list, rows[i][j] = value, while another name shows it"
UNSEEN = 2  # references to what nobody has: that of `Sealed`, and one to ask for their number


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an element was read.

    Attributes:
        around: the list that has it.
        place: its index there.
        grown: what the list around holds as long as it has the element; None: its length is known,
            and it has the very list.
        token: of this reading, whatever becomes of the rest.
    """

    around: Any
    place: Any
    grown: Any
    token: object = field(default_factory=object)

    def has(self, element: List) -> bool:
        """Whether the element is still there, at a place that can be told here, and holds what is
        known here."""
        homes = [element.home, self.place._home if isinstance(self.place, Tensor) else None]
        if any(home is not None and not home.recording for home in homes):
            return False
        if self.grown is not None:
            return self.around.grown is self.grown
        return (
            len(self.around) > self.place and list.__getitem__(self.around, self.place) is element
        )


def note_origin(element: Any, around: Any, place: Any) -> None:
    """Note where an element was read that is a list, sealed as a copy; and lists in it."""
    sealed = identity.sealed()
    pending = [(element, Origin(around, place, around.grown))]
    while pending:
        part, origin = pending.pop()
        if isinstance(part, List) and id(part) in sealed:
            sealed[id(part)] = replace(sealed[id(part)], origin=origin)
            if not is_grown(part):
                pending += [(inner, Origin(part, k, None)) for k, inner in enumerate(part)]


def note_taken(element: Any) -> None:
    """Note that an element has just been taken out of its list."""
    sealed, pending = identity.sealed(), [element]
    while pending:
        part = pending.pop()
        if isinstance(part, List) and id(part) in sealed:
            origin = Origin(_NOWHERE, 0, _NOWHERE)
            sealed[id(part)] = replace(sealed[id(part)], origin=origin)
            pending += () if is_grown(part) else part


class _Nowhere:
    grown: Any = None


_NOWHERE = _Nowhere()


def named_at(around: List, place: Any) -> Any:
    """The element at a place, if a name shows it already; else None."""
    seen = _seen_elsewhere(set())
    return next((entry.thing for entry in seen if _is_there(entry, around, place)), None)


@dataclass(frozen=True, slots=True)
class _Taken:
    """What a list holds in place of an element that was overwritten, and that a name still shows:
    in the frame that did it, it may be put somewhere once."""

    home: Home


@dataclass(slots=True)
class Twice:
    """An element that was put somewhere in its list is also at the place where it was; `grown`:
    what the list holds then."""

    around: Any
    place: Any
    home: Home
    grown: Any = None


def put_at(around: List, place: Any, element: Any) -> Container[int]:
    """Follow elements that change places, rows[i], rows[j] = rows[j], rows[i]: an element goes
    somewhere in a list; the id of it if no list has it twice by that, or will once the place is
    overwritten where it was. `is_at` comes next."""
    builder, sealed = current_builder(), identity.sealed()
    if builder is None:
        return ()
    root: Any = builder.outermost
    home, entry = builder.home, sealed.get(id(element))
    origin = None if entry is None else entry.origin
    known: Container[int] = ()
    left = [twice for twice in root.twice if not _is_left(twice, around, place, home)]
    if len(left) == len(root.twice):  # nobody has what is overwritten but by its names
        for key, other in list(sealed.items()):
            if key != id(element) and _is_there(other, around, place):
                sealed[key] = replace(other, origin=replace(other.origin, grown=_Taken(home)))
    root.twice = left
    if origin is not None and isinstance(origin.grown, _Taken):
        known = {id(element)} if origin.grown.home is home else ()
    elif origin is not None and origin.around is around and origin.has(element):
        known = {id(element)}
        if not _is_same(origin.place, place):
            left.append(Twice(around, origin.place, home))
    return known


def is_at(around: List, place: Any, element: Any) -> None:
    """Note where an element is that has just been put there, and has not been shared by that."""
    entry, builder = identity.sealed()[id(element)], current_builder()
    origin = Origin(around, place, around.grown)
    identity.sealed()[id(element)] = replace(entry, origin=origin)
    root: Any = None if builder is None else builder.outermost
    if root is not None and root.twice and root.twice[-1].grown is None:
        root.twice[-1].grown = around.grown


def _is_left(twice: Twice, around: List, place: Any, home: Home) -> bool:
    """Whether what is put at a place comes next, and overwrites one of the two elements."""
    next_ = twice.around is around and twice.home is home and twice.grown is around.grown
    return next_ and _is_same(twice.place, place)


def _is_there(entry: Sealed, around: List, place: Any) -> bool:
    """Whether what was read of a list is what it has at a place."""
    origin = entry.origin
    if origin is None or origin.around is not around or origin.grown is None:
        return False
    return origin.has(entry.thing) and _is_same(origin.place, place)


def _is_same(place: Any, other: Any) -> bool:
    """Whether two places in a list are one for sure."""
    if not (isinstance(place, Tensor) and isinstance(other, Tensor)):
        return isinstance(place, int) and isinstance(other, int) and place == other
    return _unchecked(place) is _unchecked(other)


def _unchecked(place: Tensor) -> Any:
    value = resolve(place)._value
    while type(value) is Value and value.node.op is in_range:
        value = value.node.inputs[0]
    return value.node if type(value) is Value else value


def share(treedef: tree.TreeDef) -> None:
    """From now on several lists may have elements, of this structure, in common."""
    if treedef.kind not in (None, tuple):
        _share_all()
    for child in treedef.children:
        share(child)


def share_again(element: Any, around: Any = None) -> None:
    """As `share`, if an element of a list may be one of others, or at other places.

    Args:
        around: the list, if the element is in it already.
    """
    if not isinstance(element, list):
        return
    frame = current_builder() if around is None else around
    known = id(element) in identity.sealed() or list(identity.may_be(element)) != [id(element)]
    if known or getattr(element, "home", None) is not getattr(frame, "home", None):
        _share_all()


def _share_all() -> None:
    builder = current_builder()
    if builder is not None:
        root: Any = builder.outermost
        root.shared_elements = True


def _are_shared() -> bool:
    builder = current_builder()
    if builder is None:
        return True
    root: Any = builder.outermost
    return bool(root.shared_elements or root.twice)


@contextlib.contextmanager
def changing(
    element: Any,
    again: Callable[[Any], None] | None = None,
    around: Callable[[Any, list[Any]], bool] | None = None,
) -> Iterator[None]:
    """While a container changes: what it is an element of changes with it, if that can be.

    Args:
        again: makes the change once more, of what is read anew. Where the element was read outside
            of the block that is traced, that costs less than to put the whole of it back.
        around: makes it in a list around, of what is at these places, if it can.
    """
    way = _way_up(element) if isinstance(element, List) else []
    others = _others(way) if way else None
    if others is None:
        yield
        return
    sealed, on_way = identity.sealed(), {id(entry.thing) for entry in way}
    inside = {key: entry for key, entry in sealed.items() if _is_inside(entry, way)}
    for key in (*on_way, *inside):
        sealed.pop(key, None)
    try:
        yield
        places = list[Any]()
        for entry in way:
            places.insert(0, entry.origin.place)
            if around is not None and around(entry.origin.around, places):
                continue
            around = None
            if entry.origin.grown is not None:
                changed = entry.thing
                if again is not None and changed is element and not _is_own(element):
                    changed = entry.origin.around.element(entry.origin.place)
                    del sealed[id(changed)]
                    again(changed)
                    _forget_writes(changed)
                entry.origin.around.put_back(entry.origin.place, changed, {*on_way, id(changed)})
    finally:
        sealed.update(inside)
        sealed.update((id(entry.thing), entry) for entry in way)
        for entry in (*way, *others):
            _renew(entry)
        for entry in way:
            _forget_writes(entry.thing)


def _is_inside(entry: Sealed, way: list[Sealed]) -> bool:
    """Whether a list is in one of these, which have known lengths."""
    around = None if entry.origin is None or entry.origin.grown is not None else entry.origin.around
    return around is not None and any(around is each.thing for each in way)


def _forget_writes(element: List) -> None:
    """Drop an element from the write log of the frame that read it: it is not seen outside."""
    builder = current_builder()
    if builder is not None and _is_own(element):
        builder.writes.pop((id(element), "contents"), None)


def _is_own(element: List) -> bool:
    """Whether the frame itself read an element."""
    builder = current_builder()
    return builder is not None and element.home is builder.home


def _way_up(element: List) -> list[Sealed]:
    """A sealed element, the one around it, and so on, if all of them can change."""
    sealed, way = identity.sealed(), list[Sealed]()
    while (entry := sealed.get(id(element))) is not None:
        if entry.origin is None or not entry.origin.has(element):
            return []
        way.append(entry)
        element = entry.origin.around
    return [] if not way or _are_shared() or identity.shows_elements() else way


def _others(way: list[Sealed]) -> list[Sealed] | None:
    """What else was read of the same lists and can still be seen: the run checks that it was
    another element. None if it need not be one."""
    others: dict[int, Sealed] = {}
    for seen in _seen_elsewhere({id(entry.thing) for entry in way}):
        pair = _meeting(seen, way)
        if pair is None:
            return None
        other, entry = pair
        if entry is None or id(other.thing) in others:
            continue
        if other.origin.grown is None or not other.origin.has(other.thing):
            return None
        if not _are_apart(entry.origin.place, other.origin.place):
            return None
        others[id(other.thing)] = other
    return list(others.values())


def _meeting(seen: Sealed, way: list[Sealed]) -> tuple[Sealed, Sealed | None] | None:
    """What has a list in it, or is that list, and is an element of the same list as an entry of the
    way, with that entry. None for the entry if no list has both; None if nobody can say."""
    other: Sealed | None = seen
    while other is not None:
        if other.origin is None or any(other.origin.around is each.thing for each in way):
            return None
        for entry in way:
            if entry.origin.around is other.origin.around:
                return other, entry
        other = identity.sealed().get(id(other.origin.around))
    return seen, None


def _are_apart(place: Any, other: Any) -> bool:
    """Whether two places in a list are not one; the run says so, unless it is known."""
    if place is other or isinstance(place, int) and isinstance(other, int):
        return place is not other and place != other
    text = "a list changes that is an element of another list, and another name shows that element"
    error = Raise(TraceError, (text,), remedy=ONE_NAME)
    assert_(elementwise.not_equal(place, other), exception=error)
    return True


def _seen_elsewhere(way: set[int]) -> list[Sealed]:
    """The lists that were read as an element, or became one, and that something else still has."""
    sealed, found = identity.sealed(), []
    origins = [entry.origin for entry in sealed.values() if entry.origin is not None]
    known = Counter(id(origin.around) for origin in origins)  # references that count for nothing
    shown = set[int]()
    for key in list(sealed):  # what holds others comes before them, and is dropped first
        entry = sealed[key]
        if key in way or not isinstance(entry.thing, List):
            continue
        inside = entry.origin is not None and entry.origin.grown is None
        if sys.getrefcount(entry.thing) > UNSEEN + known[key] + inside:
            if entry.around is not None and entry.origin is None:  # the trace itself has it, too
                shown = shown or {id(seen) for seen in identity.all_seen()}
                if not shown & {key, id(identity.REST)}:
                    continue
            found.append(entry)
        elif not inside:
            del sealed[key]
    return found


def forget_unseen() -> None:
    """Drop what was read and nobody has any more: a copy of what is sealed would hold on to it."""
    _seen_elsewhere(set())


# --- where paths meet -----------------------------------------------------------------------------


class Kept:
    """The elements that are, when a branch or loop begins, what the lists around them have.

    kept = Kept()
    ...                  # each path: it begins with renew(), and at its end comes narrow()
    kept.renew()         # once the lists hold what the paths have in common
    """

    def __init__(self) -> None:
        self.tokens = {entry.origin.token for entry in self._valid()}

    def narrow(self) -> bool:
        """Drop what does not hold at the end of a path; True if there is such."""
        before, self.tokens = self.tokens, self.tokens & {e.origin.token for e in self._valid()}
        return before != self.tokens

    def renew(self) -> None:
        """The lists have been written to; each has its elements, as before."""
        for entry in list(identity.sealed().values()):
            if entry.origin is not None and entry.origin.token in self.tokens:
                _renew(entry)

    @staticmethod
    def _valid() -> Iterator[Sealed]:
        for entry in identity.sealed().values():
            origin = entry.origin
            if origin is not None and origin.grown is not None and origin.has(entry.thing):
                yield entry


def _renew(entry: Sealed) -> None:
    """Note that the list around an element has it, with what that holds now."""
    if entry.origin.grown is not None:
        origin = replace(entry.origin, grown=entry.origin.around.grown)
        identity.sealed()[id(entry.thing)] = replace(entry, origin=origin)
