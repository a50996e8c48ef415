"""copy.copy, copy.deepcopy and dataclasses.replace of objects in a trace.

    q = copy.copy(p)       # an object that the trace made, with the fields that it sees p have
    q.path.append(x)       # p.path is the same list

Imported for its effect: it tells `ag.call` what stands for what.
"""

from __future__ import annotations

import copy
import dataclasses
import operator
from collections.abc import Iterator
from types import FunctionType
from typing import Any

from graphify import tree
from graphify.autograph.operators.attributes import attr
from graphify.autograph.operators.calls import OVERLOADS, call, delitem, remember_local, setitem
from graphify.autograph.operators.choosing import choosing
from graphify.autograph.operators.descriptors import in_class
from graphify.autograph.operators.made import is_users
from graphify.autograph.operators.undefined import Maybe
from graphify.ir.context import current_builder
from graphify.ir.tensor import Tensor
from graphify.location import is_library_class
from graphify.tracing.identity import attributes_of

_OWN_WAYS = ("__reduce_ex__", "__reduce__", "__getstate__")  # of an object to be copied


def _copy(value: Any) -> Any:
    """copy.copy."""
    own = in_class(type(value), "__copy__")
    if current_builder() is not None and isinstance(own, FunctionType):
        return call(own, value)
    if not _is_plain(value):
        return _made_here(copy.copy(value))
    made = _bare(value)
    for name, field in _fields(value):
        object.__setattr__(made, name, field)
    return made


def _deepcopy(value: Any, memo: dict[int, Any] | None = None) -> Any:
    """copy.deepcopy: the objects inside are made here, the rest by Python."""
    own = in_class(type(value), "__deepcopy__")
    if current_builder() is not None and isinstance(own, FunctionType) and is_users(type(value)):
        return call(own, value, {} if memo is None else memo)
    known: dict[int, Any] = {} if memo is None else memo
    found: list[tuple[Any, list[tuple[str, Any]]]] = []
    pending, seen = [value], set[int]()
    while pending:
        each = pending.pop()
        if id(each) in seen or id(each) in known or isinstance(each, Tensor):
            continue
        seen.add(id(each))
        if _is_plain(each):
            fields = list(_fields(each))
            found.append((each, fields))
            pending += [field for _, field in fields]
        else:
            pending += tree.children_of(each) or ()
    for each, _ in found:
        known[id(each)] = _bare(each)
    for each, fields in found:
        for name, field in fields:
            object.__setattr__(known[id(each)], name, copy.deepcopy(field, known))
    return _made_here(copy.deepcopy(value, known))


def _made_here(copied: Any) -> Any:
    """A new dict or set, as one that the trace has made."""
    known = isinstance(copied, (dict, set)) and is_library_class(type(copied))
    if current_builder() is None or not known:
        return copied
    own = OVERLOADS.get(getattr(type(copied), "copy", None))
    return copied if own is None else own(copied)


def _replace(obj: Any, /, **changes: Any) -> Any:
    """dataclasses.replace."""
    fields = {} if isinstance(obj, type) else getattr(obj, "__dataclass_fields__", {})
    plain = [field for field in fields.values() if field in dataclasses.fields(obj)]
    known = all(field.init or field.name not in changes for field in plain)
    if current_builder() is None or not known or len(plain) < len(fields):
        return dataclasses.replace(obj, **changes)
    kept = {f.name: attr(obj, f.name) for f in plain if f.init and f.name not in changes}
    return call(type(obj), **kept, **changes)


def _is_plain(value: Any) -> bool:
    """Whether a trace copies an object of the user's field by field, as Python does."""
    kind = type(value)
    if current_builder() is None or isinstance(value, (Tensor, type)) or not is_users(kind):
        return False
    own = any(getattr(kind, w, None) is not getattr(object, w, None) for w in _OWN_WAYS)
    return not own and all(in_class(kind, f"__{w}__") is None for w in _HOOKS)


_HOOKS = ("copy", "deepcopy", "setstate", "getnewargs", "getnewargs_ex")


def _bare(value: Any) -> Any:
    made = object.__new__(type(value))
    remember_local(made)
    return made


def _fields(obj: Any) -> Iterator[tuple[str, Any]]:
    for name, raw in attributes_of(obj).items():
        yield name, raw if isinstance(raw, Maybe) else attr(obj, name)


OVERLOADS.update(
    {
        operator.setitem: setitem,
        operator.delitem: delitem,
        copy.copy: choosing(_copy),
        copy.deepcopy: choosing(_deepcopy),
        dataclasses.replace: choosing(_replace),
    }
)
