"""Attributes in converted code.

attr(obj, "w")        # reads a field; what a trace reads is guarded, arrays are hidden inputs
setattr_(obj, "w", v) # writes it, logged so that staged branches and loops can carry it
"""

from __future__ import annotations

import sys
from types import BuiltinFunctionType, ModuleType
from typing import Any

import numpy as np

from graphify.autograph.operators.calls import AUGMENTED, OVERLOADS
from graphify.autograph.operators.choice import Choice
from graphify.autograph.operators.choosing import decide, over
from graphify.ir.bind import Tensor, current_builder
from graphify.location import is_library_module
from graphify.syntax.loader import is_marked
from graphify.tracing.capture import ABSENT, root_of
from graphify.tracing.guards import Place


def attr(obj: Any, name: str) -> Any:
    """`obj.name`, guarded where a trace reads the field of an object from outside."""
    if type(obj) is Choice:
        return over(obj, lambda chosen: attr(chosen, name))
    builder = current_builder()
    root = root_of(builder)
    if root is None or isinstance(obj, (Tensor, np.ndarray)) or _is_library(obj):
        return getattr(obj, name)
    value = getattr(obj, name)
    if _is_fixed(obj, value) or _was_written(builder, obj, name):
        return value
    return root.guard(Place(obj, name, "attribute"))


def _is_library(obj: Any) -> bool:
    """Whether an object is a module, or a class of a module, that is not the user's own."""
    if isinstance(obj, type):
        obj = sys.modules.get(obj.__module__)
    return isinstance(obj, ModuleType) and is_library_module(obj)


def _is_fixed(obj: Any, value: Any) -> bool:
    """Whether an attribute counts as part of the program: methods, modules, classes."""
    if isinstance(value, (ModuleType, type, BuiltinFunctionType)) or is_marked(value):
        return True
    return getattr(value, "__self__", None) is obj  # bound methods, decorated ones included


def getattr_(obj: Any, name: Any, *default: Any) -> Any:
    """The built-in getattr."""
    if type(obj) is Choice:
        return over(obj, lambda chosen: getattr_(chosen, name, *default))
    root = root_of(current_builder())
    if root is None or isinstance(obj, (Tensor, np.ndarray)) or not isinstance(name, str):
        return getattr(obj, name, *default)
    if default and not hasattr_(obj, name):
        return default[0]
    return attr(obj, name)


def hasattr_(obj: Any, name: Any) -> Any:
    """The built-in hasattr."""
    if type(obj) is Choice:
        return decide(obj, lambda chosen: hasattr_(chosen, name))
    root = root_of(current_builder())
    known = hasattr(obj, name)
    if root is None or isinstance(obj, (Tensor, np.ndarray)) or _is_library(obj):
        return known
    if _was_written(current_builder(), obj, name) or id(obj) in root.local_objects:
        return known
    return root.present(Place(obj, name, "attribute"), known)


def _was_written(builder: Any, obj: Any, name: str) -> bool:
    while builder is not None:
        if (id(obj), name) in builder.writes:
            return True
        builder = builder.parent
    return False


def setattr_(obj: Any, name: str, value: Any) -> None:
    """`obj.name = value`, logged."""
    if type(obj) is Choice:
        return over(obj, lambda chosen: setattr_(chosen, name, value))  # type: ignore[no-any-return]
    builder = current_builder()
    if builder is not None and not isinstance(obj, Tensor):
        local = root_of(builder)
        home = local.local_objects.get(id(obj), (None, None))[1] if local is not None else None
        if home is not builder.home or builder.section is not None:
            place, before = Place(obj, name, "attribute"), getattr(obj, name, ABSENT)
            builder.log_write(place.key, place, before, home is not builder.home)
    setattr(obj, name, value)


def augattr(obj: Any, name: str, sign: str, value: Any) -> None:
    """`obj.name += value`."""
    if type(obj) is Choice:
        return over(obj, lambda chosen: augattr(chosen, name, sign, value))  # type: ignore[no-any-return]
    setattr_(obj, name, AUGMENTED[sign](attr(obj, name), value))


OVERLOADS.update({getattr: getattr_, hasattr: hasattr_, setattr: setattr_})
