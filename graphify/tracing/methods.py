"""Guards of what Python finds in classes: methods, properties, descriptors.

Model.predict = faster      # after a call of a function that uses one: a new trace
model.predict = another     # this one hides the method of the class
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from graphify.location import is_library_class
from graphify.tracing import special


@dataclass(frozen=True, slots=True, eq=False)
class Methods:
    """What a class of the user's, and those of the user's that it derives from, define."""

    kind: type
    expected: dict[str, Any]

    def holds(self, read: object = None) -> bool:
        return not self._changed()

    def explain(self) -> str:
        return ", ".join(f"{self.kind.__name__}.{n}" for n in self._changed()) + " changed"

    def _changed(self) -> list[str]:
        found = methods_of(self.kind)
        names = dict.fromkeys((*self.expected, *found))
        return [n for n in names if found.get(n) is not self.expected.get(n)]


@dataclass(frozen=True, slots=True, eq=False)
class NotHidden:
    """An object has no field of its own that hides a method."""

    thing: Any
    name: str

    def holds(self, read: object = None) -> bool:
        return self.name not in vars(self.thing)

    def explain(self) -> str:
        return f"{type(self.thing).__name__}.{self.name} is a field of the object now"


def methods_of(kind: type) -> dict[str, Any]:
    """By name, what the user's classes among those of a class define as code."""
    found = {}
    for each in reversed(kind.__mro__):
        if not is_library_class(each):
            for name, value in dict(vars(each)).items():
                method = special.original(value)
                if hasattr(type(method), "__get__") and method is not object.__ne__:
                    found[name] = method
    return found


def functions_of(kind: type) -> Iterator[FunctionType]:
    """The functions that a class itself defines, those of properties and class methods included."""
    for value in dict(vars(kind)).values():
        method = special.original(value)
        part = getattr(method, "__func__", getattr(method, "fget", method))
        if isinstance(part, FunctionType):
            yield part
