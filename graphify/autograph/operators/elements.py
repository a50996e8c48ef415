"""Changes of a list inside a list whose length only the run knows: they reach the list around it.

    table = [[0] * m for _ in range(n)]
    table[i][j] = 5              # table[i] is read from buffers: what has changed goes back there

What was read is as good as the element as long as nothing else shows that. Where another name may,
or another list may have it, or the list around has changed since, it is refused (see places.py).
"""

from __future__ import annotations

import contextlib
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from graphify import tree
from graphify.ir.context import current_builder
from graphify.tracing import identity
from graphify.tracing.identity import Sealed
from graphify.tracing.lists import List, is_grown

UNSEEN = 2  # references to what nobody has: that of `Sealed`, and one to ask for their number


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an element was read.

    Attributes:
        around: the list that has it.
        place: its index there.
        grown: what the list around held then; None: its length is known, and it has the very list.
    """

    around: Any
    place: Any
    grown: Any

    def has(self, element: List) -> bool:
        """Whether the element is still there."""
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


def share(treedef: tree.TreeDef) -> None:
    """From now on several lists may have elements, of this structure, in common."""
    if treedef.kind not in (None, tuple):
        _share_all()
    for child in treedef.children:
        share(child)


def share_again(element: Any) -> None:
    """As `share`, if an element of a list may be one of others, or at other places."""
    if not isinstance(element, list):
        return
    builder = current_builder()
    known = id(element) in identity.sealed() or list(identity.may_be(element)) != [id(element)]
    if known or builder is None or getattr(element, "home", None) is not builder.home:
        _share_all()


def _share_all() -> None:
    builder = current_builder()
    if builder is not None:
        root: Any = builder.outermost
        root.shared_elements = True


def _are_shared() -> bool:
    builder = current_builder()
    return builder is None or getattr(builder.outermost, "shared_elements", False)


@contextlib.contextmanager
def changing(element: Any) -> Iterator[None]:
    """While a container changes: what it is an element of changes with it, if that can be."""
    way = _way_up(element) if isinstance(element, List) else []
    if not way:
        yield
        return
    sealed = identity.sealed()
    inside = {key: entry for key, entry in sealed.items() if _is_inside(entry, way)}
    for key in (*(id(entry.thing) for entry in way), *inside):
        sealed.pop(key, None)
    try:
        yield
        for entry in way:
            if entry.origin.grown is not None:
                entry.origin.around.put_back(entry.origin.place, entry.thing)
    finally:
        sealed.update(inside)
        for entry in way:
            grown = entry.origin.around.grown
            origin = replace(entry.origin, grown=grown)
            sealed[id(entry.thing)] = replace(entry, origin=origin)
            _forget_writes(entry.thing)


def _is_inside(entry: Sealed, way: list[Sealed]) -> bool:
    """Whether a list is in one of these, which have known lengths."""
    around = None if entry.origin is None or entry.origin.grown is not None else entry.origin.around
    return around is not None and any(around is each.thing for each in way)


def _forget_writes(element: List) -> None:
    """Drop an element from the write log of the frame that read it: it is not seen outside."""
    builder = current_builder()
    if builder is not None and element.home is builder.home:
        builder.writes.pop((id(element), "contents"), None)


def _way_up(element: List) -> list[Sealed]:
    """A sealed element, the one around it, and so on, if all of them can change."""
    sealed, way = identity.sealed(), list[Sealed]()
    while (entry := sealed.get(id(element))) is not None:
        if entry.origin is None or not entry.origin.has(element):
            return []
        way.append(entry)
        element = entry.origin.around
    if not way or _are_shared() or identity.shows_elements():
        return []
    return [] if _seen_elsewhere({id(entry.thing) for entry in way}) else way


def _seen_elsewhere(way: set[int]) -> bool:
    """Whether something else still has a list that was read as an element, or became one."""
    sealed = identity.sealed()
    origins = [entry.origin for entry in sealed.values() if entry.origin is not None]
    known = Counter(id(origin.around) for origin in origins)  # references that count for nothing
    for key in list(sealed):  # what holds others comes before them, and is dropped first
        entry = sealed[key]
        if key in way or not isinstance(entry.thing, List):
            continue
        inside = entry.origin is not None and entry.origin.grown is None
        if sys.getrefcount(entry.thing) > UNSEEN + known[key] + inside:
            return True
        if not inside:
            del sealed[key]
    return False
