"""Lists, dicts, sets and dataclasses from outside, as a trace sees them.

A trace works on a twin of a caller's container, so that tracing changes nothing outside. When it is
over, what happened to the twin is written down as `Contents`; each run then does the same to the
caller's own container.

    tracked = Tracked(twin, place)     # place.read() gives the caller's container
    twin.append(y)
    tracked.contents()                 # [Old(0), Old(1), y]: two elements as they were, and y
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from graphify import tree
from graphify.errors import TraceError
from graphify.ir.tensor import Tensor
from graphify.location import here
from graphify.tracing.defaults import Defaults
from graphify.tracing.lists import List, is_grown

SEQUENCES = (list, List)
MAPPINGS = (*tree.MAPPINGS, defaultdict, Defaults)
COPIED = (*SEQUENCES, *MAPPINGS, set)


@dataclass(frozen=True, slots=True, eq=False)
class Old:
    """Stands for the element that a container had at a key before."""

    key: Any


@dataclass(frozen=True, slots=True, eq=False)
class Argument:
    """A container in the arguments of a call: the steps that lead to it."""

    steps: tuple[tuple[str, Any], ...]

    def read(self, bound: dict[str, Any]) -> Any:
        return follow(bound, self.steps)


def follow(value: Any, steps: tuple[tuple[str, Any], ...]) -> Any:
    """The element that steps lead to: ("item", key) or ("field", name)."""
    for kind, key in steps:
        value = value[key] if kind == "item" else getattr(value, key)
    return value


def elements(value: Any) -> list[tuple[tuple[str, Any], Any]] | None:
    """Steps to the elements of a container that traces look into, and the elements."""
    kind = type(value)
    if kind in SEQUENCES or kind is tuple:
        return [(("item", i), element) for i, element in enumerate(value)]
    if kind in MAPPINGS:
        return [(("item", key), element) for key, element in value.items()]
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return [
            (("field", name), element) for name, element in zip(value._fields, value, strict=True)
        ]
    return None


def fields_of(value: Any) -> list[tuple[tuple[str, Any], Any]]:
    """Steps to the attributes of a dataclass instance, and their values."""
    fields = tuple(field.name for field in dataclasses.fields(value))
    names = fields + tree.further_names(value, fields)
    return [(("field", name), getattr(value, name)) for name in names if hasattr(value, name)]


def is_record(value: Any) -> bool:
    return hasattr(type(value), "__dataclass_fields__")  # as dataclasses.is_dataclass looks


def container_ids(value: Any) -> list[int]:
    """The ids of all mutable containers inside a value, with repetitions."""
    found, stack = [], [value]
    while stack:
        value = stack.pop()
        if is_record(value) or type(value) in COPIED:
            found.append(id(value))
        inside = fields_of(value) if is_record(value) else elements(value)
        stack += [child for _, child in inside or ()]
    return found


def rebuilt(value: Any, children: list[Any]) -> Any:
    """A copy of a container (see `elements`) with other elements."""
    kind: Any = type(value)
    if kind in SEQUENCES:
        return List(children)
    if kind is tuple:
        return kind(children)
    if issubclass(kind, defaultdict):
        return Defaults(value.default_factory, dict(zip(value, children, strict=True)))
    if kind in MAPPINGS:
        return kind(zip(value, children, strict=True))
    return kind(*children)


@dataclass(slots=True, eq=False)
class Tracked:
    """A container of the caller and its twin in the trace."""

    twin: Any
    place: Any
    before: Any = None
    seen: bool = False  # its length was asked for, or it was iterated

    def __post_init__(self) -> None:
        self.before = _snapshot(self.twin)

    def contents(self) -> Any:
        """What the twin holds now; None if nothing happened to it."""
        if is_grown(self.twin):
            return self._grown()
        now = _snapshot(self.twin)
        if type(now) is set:
            return None if now == self.before else tuple(now)
        if list(now) == list(self.before) and all(now[k] is self.before[k] for k in now):
            return None
        marked = {key: self._marked(key, value) for key, value in now.items()}
        return list(marked.values()) if isinstance(self.twin, list) else marked

    def _grown(self) -> Any:
        """The twin, whose length only the run knows: all elements are new."""
        arrays = any(isinstance(v, Tensor) and v.ndim for v in self.before.values())
        if arrays or any(is_record(v) or elements(v) is not None for v in self.before.values()):
            raise TraceError(
                "a list from outside gets a length that is only known when the graph runs, and "
                "holds arrays or containers, which would become others",
                location=here(),
                remedy="work on a copy of it, rows = list(rows), and return that",
            )
        return self.twin

    def _marked(self, key: Any, value: Any) -> Any:
        if key in self.before and self.before[key] is value:
            return Old(key)
        if isinstance(value, (bool, int, float, complex, str, bytes, type(None))):
            return value
        return next((Old(k) for k, element in self.before.items() if element is value), value)

    def is_log(self, contents: Any) -> bool:
        """Whether a list or set only grew by Python values and was not looked at: such a log of the
        trace is written once, while tracing, as any Python side effect is."""
        if self.seen or type(self.twin) not in (list, List, set):
            return False
        if type(self.twin) is set:
            return bool(self.before <= set(contents))
        added = contents[len(self.before) :]
        kept = [v.key for v in contents[: len(self.before)] if isinstance(v, Old)]
        plain = all(isinstance(v, (bool, int, float, str)) for v in added)
        return bool(kept == list(self.before)) and plain


def _snapshot(container: Any) -> Any:
    """Elements by key; the elements themselves of a set."""
    if type(container) is set:
        return set(container)
    if isinstance(container, list):
        return dict(enumerate(container))
    if is_record(container):
        return {key: element for (_, key), element in fields_of(container)}
    return dict(container)


def replace(container: Any, contents: Any) -> None:
    """Give a container new contents, as `Tracked.contents` wrote them down."""
    if type(container) is set:
        container.clear()
        container.update(contents)
        return
    before = _snapshot(container)
    if isinstance(container, list):
        container[:] = [_actual(v, before) for v in contents]
        return
    now = {key: _actual(v, before) for key, v in contents.items()}
    if is_record(container):
        for key, value in now.items():
            if value is not before.get(key):
                object.__setattr__(container, key, value)
    else:
        container.clear()
        container.update(now)


def _actual(value: Any, before: Any) -> Any:
    return before[value.key] if isinstance(value, Old) else value
