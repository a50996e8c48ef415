"""Which tensors of a staged loop's state may be one array, from turn to turn and after the loop.

    for i in range(n):
        y, z = z, y     # from the second turn on, y may be what z was, and the other way round

A place of the state holds, after a turn, what a place held before it, an array from outside, or
something new. Where it may be an array that others see, the loop carries a truth value that says
whether it is, a flag; the tensors of the state are linked under these flags (graphify.ir.sharing).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from graphify.autograph.operators.sharing import (
    ALIAS,
    Origin,
    all_of,
    is_number,
    origins,
    unknown_sizes,
)
from graphify.ir.graph import Builder
from graphify.ir.sharing import View, is_live, link
from graphify.ir.tensor import Tensor
from graphify.ops import elementwise

Place: TypeAlias = tuple[int, int]  # which variable, and which of its leaves
Key: TypeAlias = tuple[int, Any]  # id of an array, and how it is seen; None: nobody can say how


@dataclass(slots=True, eq=False)
class _Source:
    """What a place holds at the end of a turn, maybe: an array, or what a place held before."""

    origin: Origin
    place: Place | None
    key: Key
    outer: bool  # made before the loop


@dataclass(frozen=True, slots=True)
class _Flag:
    """Says whether a place holds an array from outside, seen in one way, or that of a place."""

    place: Place
    key: Key | None
    beside: Place | None = None


@dataclass(slots=True)
class LoopLinks:
    """What the state of a loop may be, found by looking at one turn."""

    flags: list[_Flag] = field(default_factory=list)
    unknown: set[tuple[Place, Place | int]] = field(default_factory=set)  # pairs; ids of arrays
    ambiguous: set[Place] = field(default_factory=set)  # what flags, or nothing, can tell
    tensors: dict[int, Tensor] = field(default_factory=dict)
    views: dict[Key, View] = field(default_factory=dict)
    start: dict[Place, Key] = field(default_factory=dict)
    sources: dict[Place, list[_Source]] = field(default_factory=dict)
    values: dict[_Flag, Tensor] = field(default_factory=dict)  # in the frame traced last

    def separate(self, place: Place) -> None:
        """From now on the loop carries a flag: whether a place still holds what it held first."""
        self.ambiguous.add(place)

    def separate_all(self) -> bool:
        """Carry flags for all places, as nothing else tells whether there is a turn; True if that
        is news."""
        news = not self.start.keys() <= self.ambiguous
        self.ambiguous |= self.start.keys()
        return news

    # --- the turn to be traced ---

    def begin(self, initial: Mapping[Place, Any]) -> None:
        """Note what the places hold before the first turn."""
        self.start = {}
        for place, leaf in initial.items():
            if isinstance(leaf, Tensor) and not is_number(leaf):
                origin = origins(leaf, lambda _: True)[0]
                self.start[place] = self._key(origin, None)
        for place in sorted(self.ambiguous & self.start.keys()):
            self._add(_Flag(place, self.start[place]))

    def apply(self, given: Mapping[Place, Tensor], values: Sequence[Tensor]) -> None:
        """Link the state that a frame gets."""
        self.values = dict(zip(self.flags, values, strict=True))
        self._link(given, self.values)

    def _link(self, tensors: Mapping[Place, Tensor], values: Mapping[_Flag, Tensor]) -> None:
        for flag, when in values.items():
            seen: tuple[Tensor, View] | None = None
            if flag.key is not None:
                seen = self.tensors[flag.key[0]], self.views[flag.key]
            elif flag.beside is not None and flag.beside in tensors:
                seen = tensors[flag.beside], ()
            if flag.place in tensors and seen is not None:
                _link(tensors[flag.place], seen[0], when, seen[1])
        for place, beside in self.unknown:
            other = tensors.get(beside) if isinstance(beside, tuple) else self.tensors[beside]
            if other is not None and place in tensors:
                _link(tensors[place], other, None)

    # --- the turn that was traced ---

    def learn(
        self, given: Mapping[Place, Tensor], after: Mapping[Place, Any], frame: Builder
    ) -> bool:
        """Look at a traced turn; True if there is news, and the body must be traced with it."""
        places = {id(tensor): place for place, tensor in given.items()}
        self.sources = {
            place: list(self._sources(leaf, places, frame))
            for place, leaf in after.items()
            if isinstance(leaf, Tensor) and not is_number(leaf)
        }
        before = (len(self.flags), len(self.unknown), len(self.ambiguous))
        held = self._held()
        for place, keys in held.items():
            for array, seen in keys:
                if not self._is_outer(array):
                    continue
                self.ambiguous.add(place)
                if seen is None:
                    self.unknown.add((place, array))
                else:
                    self._add(_Flag(place, (array, seen)))
        self._learn_pairs(held)
        self._spread()
        return before != (len(self.flags), len(self.unknown), len(self.ambiguous))

    def _sources(
        self, leaf: Tensor, places: Mapping[int, Place], frame: Builder
    ) -> Iterator[_Source]:
        def is_end(tensor: Tensor) -> bool:
            return id(tensor) in places or tensor._home is not frame.home

        for origin in origins(leaf, is_end):
            key = self._key(origin, frame)
            outer = origin.root._home is not frame.home
            yield _Source(origin, places.get(id(origin.root)), key, outer)

    def _key(self, origin: Origin, frame: Builder | None) -> Key:
        """Equal for equal views of one array, in whatever turn they are made."""
        self.tensors[id(origin.root)] = origin.root
        seen = _view_key(origin.view, frame) if origin.conditions is not None else None
        key = (id(origin.root), seen)
        self.views.setdefault(key, origin.view)
        return key

    def _held(self) -> dict[Place, set[Key]]:
        """Per place, what it may hold after a turn or more."""
        held: dict[Place, set[Key]] = {place: set() for place in self.sources}
        changed = True
        while changed:
            changed = False
            for place, sources in self.sources.items():
                new = {key for source in sources for key in self._held_by(source, held)}
                changed |= not new <= held[place]
                held[place] |= new
        return held

    def _held_by(self, source: _Source, held: Mapping[Place, set[Key]]) -> set[Key]:
        if source.place is None:
            return {source.key}
        start = {self.start[source.place]} if source.place in self.start else set()
        before = start | held.get(source.place, set())
        return before if source.key[1] == () else {(array, None) for array, _ in before}

    def _is_outer(self, array: int) -> bool:
        return any(array == key[0] for key in self.start.values()) or any(
            source.outer and source.place is None and source.key[0] == array
            for sources in self.sources.values()
            for source in sources
        )

    def _learn_pairs(self, held: Mapping[Place, set[Key]]) -> None:
        """Places that may hold one array made in the loop, or one array nobody knows how."""
        order = sorted(held)
        for number, one in enumerate(order):
            for other in order[number + 1 :]:
                for array in {a for a, _ in held[one]} & {a for a, _ in held[other]}:
                    ways = {seen for a, seen in held[one] | held[other] if a == array}
                    if None in ways or len(ways) > 1 and not self._is_outer(array):
                        self.unknown.add((one, other))
                    elif not self._is_outer(array):
                        self._add(_Flag(one, None, other))
                    else:
                        continue  # each is linked with the array itself
                    self.ambiguous |= {one, other}

    def _spread(self) -> None:
        """What an ambiguous place takes from another one is as ambiguous there."""
        pending = list(self.ambiguous)
        while pending:
            place = pending.pop()
            if place in self.start:
                self._add(_Flag(place, self.start[place]))
            for source in self.sources.get(place, ()):
                if source.place is not None and source.place not in self.ambiguous:
                    self.ambiguous.add(source.place)
                    pending.append(source.place)

    def _add(self, flag: _Flag) -> None:
        if flag not in self.flags:
            self.flags.append(flag)

    # --- the flags ---

    def initial(self) -> list[Tensor]:
        """The flags before the first turn."""
        return [
            Tensor(np.asarray(flag.key is not None and self.start.get(flag.place) == flag.key))
            for flag in self.flags
        ]

    def results(self) -> list[Tensor]:
        """The flags after the turn, recorded in its frame."""
        return [_any_of(self._ways(flag)) for flag in self.flags]

    def _ways(self, flag: _Flag) -> Iterator[list[Tensor]]:
        """Each way in which a flag holds after the turn: conditions, all of which must."""
        for source in self.sources.get(flag.place, ()):
            conditions = source.origin.conditions
            if conditions is None:
                continue
            if flag.beside is not None:
                yield from ([*conditions, *ways] for ways in self._meetings(source, flag.beside))
            elif source.place is None:
                if source.key == flag.key:
                    yield list(conditions)
            elif source.key[1] == () and (before := _Flag(source.place, flag.key)) in self.values:
                yield [*conditions, self.values[before]]

    def _meetings(self, source: _Source, beside: Place) -> Iterator[list[Tensor]]:
        """The ways in which a place holds what a source of another place is."""
        for other in self.sources.get(beside, ()):
            same = self._same(source, other)
            if same is not None and other.origin.conditions is not None:
                yield [*other.origin.conditions, *same]

    def _same(self, one: _Source, other: _Source) -> list[Tensor] | None:
        """The conditions under which two sources are one array; None: they are not."""
        if one.key == other.key:
            return []
        if one.place is None or other.place is None or (one.key[1], other.key[1]) != ((), ()):
            return None
        first, second = sorted((one.place, other.place))
        pair = _Flag(first, None, second)
        return [self.values[pair]] if pair in self.values else None

    # --- the end ---

    def finish(
        self,
        tensors: Mapping[Place, Tensor],
        flags: Sequence[Tensor],
        runs: bool,
        first: Callable[[], Tensor] | None,
    ) -> None:
        """Link what comes out of the loop.

        Args:
            runs: there is one turn at least.
            first: gives the condition under which there is; None if that cannot be told.
        """
        self._link(tensors, dict(zip(self.flags, flags, strict=True)))
        none: Tensor | None = None  # whether there is no turn
        for place, key in self.start.items():
            if runs or place in self.ambiguous or place not in tensors:
                continue
            if first is not None and none is None:
                none = elementwise.logical_not(first())
            _link(tensors[place], self.tensors[key[0]], none, self.views[key])


def _link(tensor: Tensor, other: Tensor, when: Tensor | None, view: View = ()) -> None:
    if not is_number(tensor) and is_live(other):
        link(tensor, other, when, view)


def _any_of(ways: Iterator[list[Tensor]]) -> Tensor:
    found = [all_of(conditions) if conditions else None for conditions in ways]
    known = [way for way in found if way is not None]
    if len(known) < len(found):
        return Tensor(np.asarray(True))
    if not known:
        return Tensor(np.asarray(False))
    return functools.reduce(lambda a, b: elementwise.logical_or(a, b), known)


def _view_key(view: View, frame: Builder | None) -> Any:
    """What tells views apart; None if only the turn that makes the view knows what it sees."""
    if frame is not None and unknown_sizes(view, frame.parent):
        return None
    steps: list[Any] = []
    for op, operands, attrs in view:
        if op is ALIAS:
            continue
        keys: list[Any] = []
        for operand in operands:
            if isinstance(operand, Tensor) and operand.is_symbolic:
                if frame is not None and operand._home is frame.home:
                    return None
                keys.append((id(operand._value.node), operand._value.index))
            else:
                array = operand._value if isinstance(operand, Tensor) else np.asarray(operand)
                keys.append((array.dtype.str, array.shape, array.tobytes()))
        steps.append((op.name, tuple(keys), tuple(sorted(attrs.items()))))
    return tuple(steps)
