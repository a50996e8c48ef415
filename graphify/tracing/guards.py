"""What a trace read from outside, and whether it is still so.

A guard names a place (a global, a closure cell, an attribute) and what was found there. Arrays are
not guarded by value: they are hidden inputs, read anew from their place at each call.

    guard = Guard(Place(model.__dict__, "scale"), 2.0)
    guard.holds()
"""

from __future__ import annotations

from dataclasses import dataclass
from types import CellType, FunctionType, MethodType
from typing import Any

import numpy as np

from graphify import tree
from graphify.ir.bind import Tensor

_MISSING = object()
SCALARS = (bool, int, float, complex, str, bytes, type(None))


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """Where a value was read: a key of a dict, a closure cell, or an attribute of an object."""

    holder: Any
    name: str
    kind: str  # "global", "cell", "attribute"

    def read(self) -> Any:
        if self.kind == "cell":
            cell: CellType = self.holder
            try:
                return cell.cell_contents
            except ValueError:
                return _MISSING
        if self.kind == "global":
            return self.holder.get(self.name, _MISSING)
        return getattr(self.holder, self.name, _MISSING)

    def write(self, value: Any) -> None:
        if self.kind == "cell":
            self.holder.cell_contents = value
        elif self.kind == "global":
            self.holder[self.name] = value
        else:
            setattr(self.holder, self.name, value)

    def same(self, other: Place) -> bool:
        return self.holder is other.holder and self.name == other.name

    @property
    def key(self) -> tuple[int, str]:
        return (id(self.holder), self.name)

    def __str__(self) -> str:
        if self.kind == "attribute":
            return f"{type(self.holder).__name__}.{self.name}"
        return f"global {self.name}" if self.kind == "global" else f"closure variable {self.name}"


@dataclass(frozen=True, slots=True, eq=False)
class Guard:
    """A place and the fingerprint of what a trace found there."""

    place: Place
    expected: Any

    def holds(self) -> bool:
        value = self.place.read()
        return value is not _MISSING and same(self.expected, fingerprint(value))

    def explain(self) -> str:
        return f"{self.place} changed from {self.expected!r:.60} to {self.place.read()!r:.60}"


@dataclass(frozen=True, slots=True, eq=False)
class Identity:
    """Fingerprint of an object that counts by identity; keeps it alive so that ids stay unique."""

    thing: Any


@dataclass(frozen=True, slots=True, eq=False)
class ArraySpec:
    """Fingerprint of an array: hidden inputs may change their values, not their kind."""

    shape: tuple[int, ...]
    dtype: Any


def fingerprint(value: Any) -> Any:
    """What two values must share for a trace of the one to serve the other."""
    if isinstance(value, SCALARS):
        return value
    if isinstance(value, Tensor):
        return Identity(value) if value.is_symbolic else ArraySpec(value._value.shape, value.dtype)
    if isinstance(value, (np.ndarray, np.generic)):
        return ArraySpec(value.shape, value.dtype)
    if isinstance(value, FunctionType):
        cells = tuple(map(_cell, value.__closure__ or ()))
        keyword_defaults = tuple((value.__kwdefaults__ or {}).items())
        return ("function", Identity(value.__code__), cells, _known(value.__defaults__), _known(keyword_defaults))
    if isinstance(value, MethodType):
        return ("method", Identity(value.__func__), Identity(value.__self__))
    if tree.is_container(value):
        leaves, treedef = tree.flatten(value)
        return (treedef, tuple(fingerprint(leaf) for leaf in leaves))
    return Identity(value)


def _cell(cell: CellType) -> Any:
    try:
        return _known(cell.cell_contents)
    except ValueError:
        return None


def _known(value: Any) -> Any:
    """Numbers, strings and tuples of them by value, anything else by identity."""
    if isinstance(value, SCALARS):
        return (type(value), value)
    return tuple(map(_known, value)) if type(value) is tuple else Identity(value)


def same(a: Any, b: Any) -> bool:
    """Whether two fingerprints agree. Numbers must agree in type, too; NaN agrees with NaN."""
    if isinstance(a, Identity):
        return isinstance(b, Identity) and a.thing is b.thing
    if isinstance(a, ArraySpec):
        return isinstance(b, ArraySpec) and a.shape == b.shape and a.dtype == b.dtype
    if type(a) is not type(b):
        return False
    if type(a) is tuple:
        return len(a) == len(b) and all(map(same, a, b))
    return bool(a == b) or (a != a and b != b)
