"""What a trace reads from outside, for an entry point that reads it without Python.

    outside = Outside(first)
    outside.guard(guard, hidden)      # adds to .same and .opened
    outside.hidden(hidden)            # the Input of a parameter that no caller passes

Positions from `first` on are those of elements of containers.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from graphify.api.passed import NotQuick, elements_of
from graphify.engines.native.entry import capi
from graphify.engines.native.entry.room import ABSENT, Input, Opened, Read, Same, Word
from graphify.ir.tensor import Tensor
from graphify.tracing.capture import Hidden
from graphify.tracing.containers import elements
from graphify.tracing.guards import SCALARS, ArraySpec, Guard, Identity, Place, Within, fingerprint
from graphify.tracing.guards import same as agree
from graphify.tracing.methods import Methods, NotHidden


class Outside:
    """What must be so outside a function, and where its hidden inputs are.

    Attributes:
        same: objects that must be the very same.
        opened: containers that must have the same structure.
        asked: guards that only Python can tell to hold.
    """

    def __init__(self, first: int) -> None:
        self.same: list[Same] = []
        self.opened: list[Opened] = []
        self.asked: list[Any] = []
        self._next = first
        self._positions: dict[Any, int] = {}  # key of a place in a container -> position

    def guard(self, guard: Any, hidden: Sequence[Hidden]) -> None:
        """Add what must be so for a guard to hold.

        Raises:
            NotQuick: it does not: the call itself has changed something.
        """
        if not guard.holds():
            raise NotQuick
        before = len(self.same), len(self.opened), self._next
        try:
            self._look(guard, hidden)
        except NotQuick:
            del self.same[before[0] :], self.opened[before[1] :]
            self._next = before[2]
            self._positions = {k: p for k, p in self._positions.items() if p < self._next}
            self.asked.append(guard)

    def _look(self, guard: Any, hidden: Sequence[Hidden]) -> None:
        """The same, by machine code."""
        if type(guard) is Methods:
            self.same.append(_same_class(guard.kind))
            return
        if type(guard) is NotHidden:
            place = Place(guard.thing, guard.name, "attribute")
            self.same += _still_there(place)
            self.same.append(Same(Read("item", vars(guard.thing), guard.name), ABSENT))
            return
        if type(guard) is not Guard or type(guard.place) is not Place:
            raise NotQuick
        value = guard.place.read()
        if not agree(guard.expected, fingerprint(value)):
            raise NotQuick
        keys = {h.place.key for h in hidden if isinstance(h.place, (Place, Within))}
        read = _read(guard.place)
        self.same += _still_there(guard.place)
        self._value(read, guard.place.key, value, keys)

    def _value(self, read: Read, key: tuple[Any, ...], value: Any, hidden: set[Any]) -> None:
        """What stands at a place must be as it is now."""
        expected = fingerprint(value)
        if isinstance(expected, ArraySpec):
            # A hidden input's dtype and shape are looked at when it is taken.
            if key not in hidden:
                raise NotQuick
        elif isinstance(expected, Identity) or type(value) in SCALARS:
            self.same.append(Same(read, value))
        elif type(value) is FunctionType:
            self.same += [Same(read, value), *_function(value)]
        else:
            self._container(read, key, value, hidden)

    def _container(self, read: Read, key: tuple[Any, ...], value: Any, hidden: set[Any]) -> None:
        inside = elements(value)
        if inside is None:
            raise NotQuick
        count, first = len(elements_of(value)), self._next
        keys = tuple(value) if isinstance(value, dict) else ()
        self.opened.append(Opened(read, type(value), count, keys))
        self._next += count
        for index, ((how, step), element) in enumerate(inside):
            path, position = (*key, (how, type(step), step)), first + index
            self._positions[path] = position
            self._value(Read("element", None, position), path, element, hidden)

    def hidden(self, hidden: Hidden) -> Input:
        """A parameter that no caller passes."""
        place, current = hidden.place, hidden.current()
        if place is None:
            read = Read("fixed", hidden.thing, None)
        elif isinstance(place, Within):
            if place.key not in self._positions:
                raise NotQuick
            read = Read("element", None, self._positions[place.key])
        else:
            read = _read(place)
            self.same += _still_there(place)
        if not isinstance(current, (np.ndarray, Tensor)) or type(current) not in _array_types():
            raise NotQuick
        return Input(read, type(current), scattered=scattered(current))


def scattered(thing: Any) -> bool:
    """Whether an array lies in memory in another order than C's."""
    return not getattr(thing, "_value", thing).flags.c_contiguous


def _array_types() -> tuple[type, ...]:
    from graphify.api.variable import Variable  # it imports functions

    return np.ndarray, Tensor, Variable


def _read(place: Any) -> Read:
    """How to read a place without Python."""
    if type(place) is not Place:
        raise NotQuick
    if place.kind == "cell":
        address = capi.cell_field(place.holder)
        if not address:
            raise NotQuick
        return Read("word", place.holder, address)
    holder = place.holder if place.kind == "global" else _fields(place.holder, place.name)
    if type(holder) is not dict or type(place.name) is not str or place.name not in holder:
        raise NotQuick
    return Read("item", holder, place.name)


def _fields(holder: Any, name: str) -> Any:
    """The dict in which an attribute of an object stands."""
    kind: Any = type(holder)
    plain = kind.__getattribute__ in (object.__getattribute__, ModuleType.__getattribute__)
    if not plain or isinstance(holder, type) or not hasattr(holder, "__dict__"):
        raise NotQuick
    if any(name in vars(each) for each in kind.__mro__):
        raise NotQuick  # a property, or a default that instances hide
    return holder.__dict__


def _still_there(place: Any) -> list[Same]:
    """What must be so for a `_read` of an attribute to find what Python would: the object keeps its
    class and its dict, and the class is not changed."""
    if place is None or place.kind != "attribute":
        return []
    holder, kind = place.holder, type(place.holder)
    if kind is ModuleType:
        return []  # neither can change
    fields = capi.dict_field(holder)
    if not fields:
        raise NotQuick
    return [
        Same(Read("word", holder, id(holder) + capi.OBJECT_TYPE), kind),
        Same(Read("word", holder, fields), holder.__dict__),
        _same_class(kind),
    ]


def _same_class(kind: type) -> Same:
    """Neither a class nor one that it derives from is changed."""
    version = capi.version_field(kind)
    if not version:
        raise NotQuick
    return Same(Read("word", kind, version), Word(capi.word(version)))


def _function(function: FunctionType) -> list[Same]:
    """What a function is made of: its code, its defaults and what it closes over."""
    fields = capi.function_fields()
    if not fields:
        raise NotQuick
    same = []
    for name, at in fields.items():
        part = getattr(function, name)
        expected = ABSENT if part is None else part
        same.append(Same(Read("word", function, id(function) + at), expected))
    for cell in function.__closure__ or ():
        same.append(Same(_read(Place(cell, "cell", "cell")), cell.cell_contents))
    return same
