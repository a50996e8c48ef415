"""How a trace calls the special methods of the user's classes (see graphify.tracing.special).

v + w                  # call(Vector.__add__, v, w)
p == q, p < q          # of dataclasses: their fields are compared, as tuples are
a >= b                 # of functools.total_ordering: its own code, converted
"""

from __future__ import annotations

import functools
from dataclasses import fields
from types import FunctionType
from typing import Any

import numpy as np

from graphify.autograph.operators.attributes import attr
from graphify.autograph.operators.calls import DO_NOT_CONVERT, call, converted, remember_local
from graphify.autograph.operators.descriptors import is_own
from graphify.autograph.operators.logical import not_
from graphify.autograph.operators.ordering import METHODS, compared
from graphify.autograph.operators.recursion import enter
from graphify.ir.tensor import Tensor
from graphify.ops import core
from graphify.ops.operators import defers_to
from graphify.syntax.loader import is_marked
from graphify.tracing import special

_SIGNS = {name: sign for sign, name in METHODS.items()}


def _call_of(kind: type, name: str) -> special.Call | None:
    """How a trace calls a special method of a class; None where it is left as it is."""
    method = special.original(vars(kind).get(name))
    if name == "__ne__" and method is None and "__eq__" in vars(kind):
        inherits = special.original(kind.__ne__) is object.__ne__
        return _differ if inherits and _call_of(kind, "__eq__") else None
    if not isinstance(method, FunctionType):
        return None
    filename = method.__code__.co_filename
    inside = is_marked(method) and not hasattr(method, DO_NOT_CONVERT)  # of converted code
    if inside or is_own(method):
        if name == "__post_init__":
            return functools.partial(_finish, method)
        return functools.partial(_meet if name in special.REFLECTED else call, method)
    if filename == functools.__file__:  # written in Python, in terms of the user's own
        return lambda *args: enter(method, converted(method), args, {})
    if filename == "<string>" and "__dataclass_params__" in vars(kind) and name in _SIGNS:
        return functools.partial(_compare_fields, kind, _SIGNS[name])
    return None


def _compare_fields(kind: Any, sign: str, one: Any, other: Any) -> Any:
    """A comparison that dataclasses has written."""
    if other.__class__ is not one.__class__:
        return NotImplemented
    names = [field.name for field in fields(kind) if field.compare]
    return compared(sign, *(tuple(attr(thing, name) for name in names) for thing in (one, other)))


def _meet(method: FunctionType, own: Any, *others: Any) -> Any:
    """A method of the right operand: NumPy's scalars come to it as Python numbers, unless the class
    has said that NumPy leaves the operator to it."""
    if not defers_to(own):
        others = tuple(map(_python_number, others))
    return call(method, own, *others)


def _python_number(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if not isinstance(value, Tensor) or value.spec.weak or value.dims or value.dtype == np.uint64:
        return value
    kinds = {"b": bool, "i": int, "u": int, "c": complex}
    return core.cast(value, dtype=np.dtype(kinds.get(value.dtype.kind, float)), weak=True)


def _finish(method: FunctionType, made: Any, *args: Any) -> Any:
    """The end of what a dataclass does to make an instance."""
    remember_local(made)
    return call(method, made, *args)


def _differ(one: Any, other: Any) -> Any:
    """`one != other`, as Python has it where only `==` is defined."""
    equal = one.__eq__(other)
    return equal if equal is NotImplemented else not_(equal)


special.set_converter(_call_of)
