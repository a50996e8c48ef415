"""What a trace read from outside, and whether it is still so.

A guard names a place (a global, a closure cell, an attribute) and what was found there. Arrays are
not guarded by value: they are hidden inputs, read anew from their place at each call.

    guard = Guard(Place(model.__dict__, "scale"), 2.0)
    guard.holds()
"""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import CellType, FunctionType, MethodType
from typing import Any, TypeAlias

import numpy as np

from graphify.ir.tensor import Tensor
from graphify.ir.types import in_c_order
from graphify.ir.wrapping import is_tensorflow
from graphify.location import is_library
from graphify.tracing import special
from graphify.tracing.containers import elements, follow
from graphify.tracing.methods import Methods, NotHidden

Reader: TypeAlias = Callable[[Any], Any]  # reads a place

MISSING = object()
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
                return MISSING
        if self.kind == "global":
            return self.holder.get(self.name, MISSING)
        if hasattr(type(self.holder), "__getattr__") and not isinstance(self.holder, type):
            try:
                return object.__getattribute__(self.holder, self.name)
            except AttributeError:
                return MISSING
        value = getattr(self.holder, self.name, MISSING)
        return special.original(value) if isinstance(self.holder, type) else value

    def write(self, value: Any) -> None:
        if self.kind == "cell":
            self.holder.cell_contents = value
        elif self.kind == "global":
            self.holder[self.name] = value
        elif isinstance(type(self.holder).__setattr__, FunctionType):  # the user's own
            object.__setattr__(self.holder, self.name, value)
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
class Within:
    """A place inside a container that stands at a place: `self.params['w']`."""

    base: Place
    steps: tuple[tuple[str, Any], ...]  # see graphify.tracing.containers

    @property
    def holder(self) -> Any:
        return self.base.holder

    @property
    def key(self) -> tuple[Any, ...]:
        return (*self.base.key, *((kind, type(key), key) for kind, key in self.steps))

    @property
    def name(self) -> str:
        """A name for a parameter: the last key that is a name."""
        names = [key for _, key in self.steps if isinstance(key, str) and key.isidentifier()]
        return names[-1] if names else self.base.name

    def read(self) -> Any:
        return self.within(self.base.read())

    def within(self, value: Any) -> Any:
        """What stands at this place, given what stands at `base`."""
        try:
            return follow(value, self.steps)
        except (LookupError, AttributeError, TypeError):
            return MISSING

    def __str__(self) -> str:
        return str(self.base) + "".join(
            f"[{k!r}]" if kind == "item" else f".{k}" for kind, k in self.steps
        )


@dataclass(frozen=True, slots=True, eq=False)
class Fixed:
    """An object in the role of a place."""

    thing: Any

    def read(self) -> Any:
        return self.thing

    def __str__(self) -> str:
        return f"that {type(self.thing).__name__}"


def _read(place: Any) -> Any:
    return place.read()


@dataclass(frozen=True, slots=True, eq=False)
class SameObject:
    """Two places that held one object while tracing: the trace takes them for one."""

    place: Any
    other: Any

    def holds(self, read: Reader = _read) -> bool:
        return read(self.place) is read(self.other)

    def explain(self) -> str:
        return f"{self.place} and {self.other} are no longer the same object"


@dataclass(frozen=True, slots=True, eq=False)
class Presence:
    """Whether an attribute exists."""

    place: Any
    expected: bool

    def holds(self, read: Reader = _read) -> bool:
        return (read(self.place) is not MISSING) == self.expected

    def explain(self) -> str:
        return f"{self.place} " + ("is gone" if self.expected else "exists now")


@dataclass(frozen=True, slots=True, eq=False)
class Guard:
    """A place and the fingerprint of what a trace found there."""

    place: Place
    expected: Any

    def holds(self, read: Reader = _read) -> bool:
        value = read(self.place)
        return value is not MISSING and same(self.expected, fingerprint(value))

    def explain(self) -> str:
        return f"{self.place} changed from {self.expected!r:.60} to {self.place.read()!r:.60}"


def fits_64_bits(number: object) -> bool:
    """Whether a Python number can be traced as a scalar."""
    return not isinstance(number, int) or -(2**63) <= number < 2**63


def all_hold(guards: Sequence[AnyGuard]) -> Callable[[], bool]:
    """Whether guards hold, as a function that reads each attribute once, however many guards look
    into what is found there: it may be a property."""

    def ask() -> bool:
        found: dict[Any, Any] = {}

        def read(place: Any) -> Any:
            base = place.base if isinstance(place, Within) else place
            if not isinstance(base, Place):
                return place.read()
            if base.key not in found:
                found[base.key] = base.read()
            return place.within(found[base.key]) if base is not place else found[base.key]

        return all(guard.holds(read) for guard in guards)

    return ask


@dataclass(frozen=True, slots=True, eq=False)
class Number:
    """A place whose Python number is an input of the trace: another number of its kind will do."""

    place: Any
    kind: type

    def holds(self, read: Reader = _read) -> bool:
        value = read(self.place)
        return type(value) is self.kind and fits_64_bits(value)

    def explain(self) -> str:
        return f"{self.place} is no {self.kind.__name__} any more: {self.place.read()!r:.60}"


AnyGuard: TypeAlias = "Guard | SameObject | Presence | Number | Fields | Methods | NotHidden"


@dataclass(frozen=True, slots=True, eq=False)
class Identity:
    """Fingerprint of an object that counts by identity; keeps it alive so that ids stay unique."""

    thing: Any

    def __repr__(self) -> str:
        return repr(self.thing)


@dataclass(frozen=True, slots=True, eq=False)
class ArraySpec:
    """Fingerprint of an array: hidden inputs may change their values, not their kind."""

    shape: tuple[int, ...]
    dtype: Any
    ordered: bool = True  # lies in memory in C order


def _array_spec(array: Any) -> ArraySpec:
    return ArraySpec(array.shape, array.dtype, in_c_order(array))


def fingerprint(value: Any) -> Any:
    """What two values must share for a trace of the one to serve the other."""
    if isinstance(value, np.generic):  # np.float64 is a float, too
        return _numpy_scalar(value)
    if isinstance(value, SCALARS):
        return value
    if isinstance(value, Tensor):
        return Identity(value) if value.is_symbolic else _array_spec(value._value)
    if isinstance(value, np.ndarray):
        return _array_spec(value)
    if is_tensorflow(value):
        return ArraySpec(tuple(value.shape), np.dtype(value.dtype.as_numpy_dtype))
    if isinstance(value, FunctionType):
        cells = tuple(map(_cell, value.__closure__ or ()))
        keyword_defaults = tuple((value.__kwdefaults__ or {}).items())
        return (
            "function",
            Identity(value.__code__),
            cells,
            _known(value.__defaults__),
            _known(keyword_defaults),
        )
    if isinstance(value, MethodType) or "__func__" in getattr(value, "__dict__", ()):
        return ("method", Identity(value.__func__), Identity(value.__self__))
    inside = elements(value)
    if inside is not None:
        return (type(value), tuple((step, fingerprint(element)) for step, element in inside))
    if isinstance(value, (set, frozenset)):
        return (type(value), frozenset((type(v), v) for v in value))
    if isinstance(value, (list, dict, deque, bytearray)):  # a subclass, with its content as it is
        content = list(value.items()) if isinstance(value, dict) else list(value)
        return (Identity(value), _known(tuple(map(_frozen, content))))
    return Identity(value)


@dataclass(frozen=True, slots=True, eq=False)
class Fields:
    """The fields of an object whose special methods (`__getitem__`, `__add__`, ...) Python calls by
    itself: what those read is not seen one by one, so nothing in the object may change."""

    thing: Any
    expected: Any

    def holds(self, read: Reader = _read) -> bool:
        return same(self.expected, by_content(vars(self.thing)))

    def explain(self) -> str:
        return f"a field of a {type(self.thing).__name__} changed"


def by_content(value: Any, copy: bool = False) -> Any:
    """A fingerprint for which arrays count with their elements: NumPy alone computes with them."""
    if isinstance(value, np.generic):
        return (type(value), value.item())
    if isinstance(value, SCALARS):
        return value
    if isinstance(value, np.ndarray):
        return Snapshot(value, value.copy() if copy else value)
    inside = elements(value)
    if inside is None:
        return Identity(value)
    return (type(value), tuple((step, by_content(element, copy)) for step, element in inside))


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """Fingerprint of an array by identity and elements."""

    thing: Any
    elements: Any


_SEEN_ANYWAY = {
    "__init__",
    "__new__",
    "__post_init__",
    "__repr__",
    "__str__",
    "__call__",
    "__hash__",
}
_SEEN_ANYWAY |= {"__setattr__", "__init_subclass__", "__class_getitem__", "__del__"}


@functools.lru_cache(maxsize=4096)
def has_special_methods(kind: type, converted: bool) -> bool:
    """Whether a class of the user's has special methods that Python calls by itself.

    Args:
        converted: those that a trace converts do not count.
    """
    return any(
        isinstance(method, FunctionType)
        and name.startswith("__")
        and name.endswith("__")
        and name not in _SEEN_ANYWAY
        and not (converted and special.original(method) is not method)
        and not is_library(special.original(method).__code__.co_filename)
        and not method.__code__.co_filename.startswith("<")  # written by dataclasses
        for each in kind.__mro__
        for name, method in vars(each).items()
    )


def _numpy_scalar(value: np.generic) -> Any:
    if is_numeric(value):
        return ArraySpec((), value.dtype)
    return (type(value), value.item())


def is_numeric(value: np.generic) -> bool:
    """Whether a NumPy scalar is a number that a graph can hold."""
    return value.dtype.kind in "biufc" or value.dtype.name == "bfloat16"


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, (list, tuple)) else value


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
    if isinstance(a, Snapshot):
        if not isinstance(b, Snapshot) or a.thing is not b.thing:
            return False
        return np.array_equal(a.elements, b.elements, equal_nan=a.thing.dtype.kind in "fc")
    if isinstance(a, ArraySpec):
        return isinstance(b, ArraySpec) and a.shape == b.shape and a.dtype == b.dtype
    if type(a) is not type(b):
        return False
    if type(a) is tuple:
        return len(a) == len(b) and all(map(same, a, b))
    if type(a) in (float, complex):
        return repr(a) == repr(b)  # NaN is itself, 0.0 is not -0.0
    return bool(a == b) or (a != a and b != b)
