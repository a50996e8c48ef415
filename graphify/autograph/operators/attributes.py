"""Attributes in converted code.

attr(obj, "w")        # reads a field; what a trace reads is guarded, arrays are hidden inputs
setattr_(obj, "w", v) # writes it, logged so that staged branches and loops can carry it

Properties, descriptors, `__getattr__` and `__setattr__` of the user's are code like any other: they
are converted, and what they write is logged where they write it.
"""

from __future__ import annotations

from types import BuiltinFunctionType, ModuleType
from typing import Any

import numpy as np

from graphify.autograph.operators import descriptors
from graphify.autograph.operators.branches import if_exp
from graphify.autograph.operators.calls import OVERLOADS
from graphify.autograph.operators.choice import Choice
from graphify.autograph.operators.choosing import decide, over
from graphify.autograph.operators.inplace import AUGMENTED
from graphify.autograph.operators.logical import python_bool
from graphify.autograph.operators.thrown import refuse_hidden
from graphify.autograph.operators.undefined import Maybe
from graphify.ir.context import current_builder
from graphify.ir.tensor import Tensor, resolve
from graphify.location import is_library_class, is_library_module
from graphify.ops import effects
from graphify.syntax.loader import is_marked
from graphify.tracing.capture import previous, root_of
from graphify.tracing.guards import Place
from graphify.tracing.places import check_changeable


def attr(obj: Any, name: str) -> Any:
    """`obj.name`, guarded where a trace reads the field of an object from outside."""
    if type(obj) is Choice:
        return over(obj, lambda chosen: attr(chosen, name))
    builder = current_builder()
    root = root_of(builder)
    if root is None or isinstance(obj, (Tensor, np.ndarray)) or _is_library(obj):
        return getattr(obj, name)
    read = descriptors.reader(obj, name)
    if read is not None:
        return read()
    if isinstance(obj, BaseException):
        refuse_hidden(obj, name)
    value = getattr(obj, name)
    if _is_unsure(value):
        return _bound(value, obj, name)
    if isinstance(obj, tuple) and name in getattr(type(obj), "_fields", ()):
        return value  # an element, which the trace has seen
    if _was_written(builder, obj, name) or isinstance(value, BuiltinFunctionType):
        return value
    if _is_method(obj, name, value):
        root.meet_method(obj, name)
        return value
    if is_marked(value):
        return value
    return root.guard(Place(obj, name, "attribute"))


def _is_unsure(field: Any) -> bool:
    """Whether a field is there on some paths only, or one of several of which one is so."""
    several = type(field) is Choice and any(isinstance(f, Maybe) for f in field.alternatives)
    return several or isinstance(field, Maybe)


def _bound(field: Any, obj: Any, name: str) -> Any:
    """A field that is there on some paths only."""
    if type(field) is Choice:
        return over(field, lambda chosen: _bound(chosen, obj, name))
    if not isinstance(field, Maybe):
        return field
    message = f"'{type(obj).__name__}' object has no attribute '{name}'"
    effects.assert_(field.bound, exception=effects.Raise(AttributeError, (message,)))
    return field.value


def _is_library(obj: Any) -> bool:
    """Whether an object is a module, or a class of a module, that is not the user's own."""
    if isinstance(obj, type):
        return is_library_class(obj)
    return isinstance(obj, ModuleType) and is_library_module(obj)


def _is_method(obj: Any, name: str, value: Any) -> bool:
    """Whether a class has what was read: a bound method, decorated ones included."""
    bound = getattr(value, "__self__", None) is obj
    return bound and (isinstance(obj, type) or name not in getattr(obj, "__dict__", ()))


def getattr_(obj: Any, name: Any, *default: Any) -> Any:
    """The built-in getattr."""
    if type(obj) is Choice:
        return over(obj, lambda chosen: getattr_(chosen, name, *default))
    root = root_of(current_builder())
    if root is None or isinstance(obj, (Tensor, np.ndarray)) or not isinstance(name, str):
        return getattr(obj, name, *default)
    if not default:
        return attr(obj, name)
    return if_exp(hasattr_(obj, name), lambda: attr(obj, name), lambda: default[0])


def hasattr_(obj: Any, name: Any) -> Any:
    """The built-in hasattr."""
    if type(obj) is Choice:
        return decide(obj, lambda chosen: hasattr_(chosen, name))
    root = root_of(current_builder())
    known = hasattr(obj, name)
    field = getattr(obj, name) if known and descriptors.is_plain(obj, name) else None
    if _is_unsure(field):
        return _has(field)
    if root is None or isinstance(obj, (Tensor, np.ndarray)) or _is_library(obj):
        return known
    if _was_written(current_builder(), obj, name) or id(obj) in root.local_objects:
        return known
    return root.present(Place(obj, name, "attribute"), known)


def _has(field: Any) -> Any:
    if type(field) is Choice:
        return decide(field, _has)
    return python_bool(resolve(field.bound)) if isinstance(field, Maybe) else True


def _was_written(builder: Any, obj: Any, name: str) -> bool:
    while builder is not None:
        if (id(obj), name) in builder.writes:
            return True
        builder = builder.parent
    return False


def setattr_(obj: Any, name: str, value: Any) -> None:
    """`obj.name = value`, logged."""
    if type(obj) is Choice:
        over(obj, lambda chosen: setattr_(chosen, name, value))
        return
    if current_builder() is None or isinstance(obj, Tensor):
        setattr(obj, name, value)
        return
    descriptors.check_frozen(obj, "assign to", name)
    write = descriptors.writer(obj, name)
    if write is not None:
        write(value)
    else:
        store(obj, name, value)


def store(obj: Any, name: str, value: Any) -> None:
    """Write a field as `object.__setattr__` does, logged."""
    check_changeable(obj)
    place = Place(obj, name, "attribute")
    _log(place)
    place.write(value)


def object_setattr(obj: Any, name: str, value: Any) -> None:
    """`object.__setattr__`, which looks for descriptors, too."""
    (descriptors.written_by(obj, name) or (lambda value: store(obj, name, value)))(value)


def delattr_(obj: Any, name: str) -> None:
    """`del obj.name`, logged."""
    if type(obj) is Choice:
        over(obj, lambda chosen: delattr_(chosen, name))
        return
    descriptors.check_frozen(obj, "delete", name)
    if current_builder() is not None and descriptors.is_plain(obj, name):
        attr(obj, name)  # must be there
        _log(Place(obj, name, "attribute"))
    delattr(obj, name)


def _log(place: Place) -> None:
    """Note that a field is about to change."""
    builder, obj = current_builder(), place.holder
    if builder is None or isinstance(obj, Tensor):
        return
    local = root_of(builder)
    home = local.local_objects.get(id(obj), (None, None))[1] if local is not None else None
    if home is not builder.home or builder.section is not None:
        before = previous(place)
        builder.log_write(place.key, place, before, home is not builder.home)


def augattr(obj: Any, name: str, sign: str, value: Any) -> None:
    """`obj.name += value`."""
    if type(obj) is Choice:
        over(obj, lambda chosen: augattr(chosen, name, sign, value))
        return
    setattr_(obj, name, AUGMENTED[sign](attr(obj, name), value))


OVERLOADS[object.__setattr__] = object_setattr
OVERLOADS.update({getattr: getattr_, hasattr: hasattr_, setattr: setattr_, delattr: delattr_})
