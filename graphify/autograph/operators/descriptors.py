"""Attributes that are computed: properties, descriptors, `__getattr__`, `__setattr__`.

class Circle:
    @property
    def area(self):               # reader(circle, "area")() calls it, converted
        return np.pi * self.r ** 2
"""

from __future__ import annotations

import dataclasses
import functools
import linecache
import os
from collections.abc import Callable
from types import FunctionType, MemberDescriptorType
from typing import Any, TypeGuard

from graphify.autograph.operators.calls import OVERLOADS, call, is_convertible
from graphify.location import is_internal


def reader(obj: Any, name: str) -> Callable[[], Any] | None:
    """What reads an attribute by code of the user's; None where Python reads a plain field."""
    if isinstance(obj, type):
        return None
    kind = type(obj)
    found = in_class(kind, name)
    held = name in getattr(obj, "__dict__", ())
    if isinstance(found, property):
        getter = found.fget
        return functools.partial(call, getter, obj) if is_own(getter) else None
    if isinstance(found, functools.cached_property):
        return None if held or not is_own(found.func) else lambda: _cache(found, obj, name)
    get = in_class(type(found), "__get__")
    if found is not None and is_own(get) and (in_class(type(found), "__set__") or not held):
        return functools.partial(call, get, found, obj, kind)
    fallback = in_class(kind, "__getattr__")
    if found is None and not held and is_own(fallback):
        return functools.partial(call, fallback, obj, name)
    return None


def writer(obj: Any, name: str) -> Callable[[Any], Any] | None:
    """What writes an attribute by code of the user's; None where Python writes a plain field."""
    if isinstance(obj, type):
        return None
    own = in_class(type(obj), "__setattr__")
    return functools.partial(call, own, obj, name) if is_own(own) else written_by(obj, name)


def check_frozen(obj: Any, what: str, name: str) -> None:
    """Refuse to change an instance of a frozen dataclass, as its own `__setattr__` does.

    Raises:
        FrozenInstanceError: it is one.
    """
    params = getattr(type(obj), "__dataclass_params__", None)
    if params is not None and params.frozen:
        raise dataclasses.FrozenInstanceError(f"cannot {what} field {name!r}")


def written_by(obj: Any, name: str) -> Callable[[Any], Any] | None:
    """The user's code by which `object.__setattr__` writes a name."""
    found = in_class(type(obj), name)
    if isinstance(found, property):
        return functools.partial(call, found.fset, obj) if is_own(found.fset) else None
    put = in_class(type(found), "__set__")
    return functools.partial(call, put, found, obj) if is_own(put) else None


def is_plain(obj: Any, name: str) -> bool:
    """Whether a name is a plain field of an object."""
    found = None if isinstance(obj, type) else in_class(type(obj), name)
    return not hasattr(type(found), "__set__") or isinstance(found, MemberDescriptorType)


def _cache(found: Any, obj: Any, name: str) -> Any:
    """The value of a cached_property, which becomes a field."""
    value = call(found.func, obj)
    OVERLOADS[setattr](obj, name, value)
    return value


def in_class(kind: type, name: str) -> Any:
    """What a class, or one it derives from, says about a name; None if nothing does."""
    return next((vars(c)[name] for c in kind.__mro__ if name in vars(c)), None)


def is_own(function: Any) -> TypeGuard[FunctionType]:
    """Whether a function is the user's, with source text."""
    if not isinstance(function, FunctionType) or not is_convertible(function):
        return False
    filename = function.__code__.co_filename
    known = filename in linecache.cache or os.path.exists(filename)
    return known and not is_internal(filename)
