"""Special methods of the user's classes: in a trace, Python's operators find them converted.

    v + w, -v, v < w, v[i], abs(v)     # Python calls type(v).__add__, ..., by itself

Python looks special methods up in the class and nowhere else. So a trace that meets an object puts
stand-ins into its class (and the classes it derives from) until it ends: in a trace they call the
method as converted code calls any other; in all other code, threads included, they do what the
method does. Operators, `sum`, `functools.reduce` and NumPy then come to the converted method by
Python's own rules, reflected methods and NotImplemented among them.

Python itself insists on a bool from `__bool__`, an int from `__len__`, a float from `__float__`.
Where converted code asks for these it calls them through `method`; where other code does, a value
that only the run knows is refused.
"""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable, MutableMapping, MutableSet
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

from graphify.errors import TraceError
from graphify.ir.context import current_builder
from graphify.ir.tensor import Tensor, resolve, value_needed
from graphify.location import here

_BINARY = "add sub mul truediv floordiv mod divmod pow matmul and or xor lshift rshift".split()
# What Python wants of these is no object of any kind.
EXACT = {
    "__bool__": "the truth value",
    "__len__": "the length",
    "__contains__": "the truth value",
    "__float__": "the number",
    "__int__": "the number",
    "__complex__": "the number",
    "__index__": "the number",
}
TEXTS = ("__str__", "__repr__", "__format__")
REFLECTED = frozenset(f"__r{name}__" for name in _BINARY)
NAMES = frozenset(
    [
        *REFLECTED,
        *(f"__{prefix}{name}__" for name in _BINARY for prefix in ("", "i")),
        *(f"__{name}__" for name in "neg pos abs invert round trunc floor ceil".split()),
        *(f"__{name}__" for name in "lt le eq ne gt ge".split()),
        *("__getitem__", "__setitem__", "__delitem__", "__missing__", "__post_init__"),
        *TEXTS,
        *EXACT,
    ]
)

Call = Callable[..., Any]
Converter = Callable[[type, str], Call | None]
_converter: list[Converter] = []


def set_converter(converter: Converter) -> None:
    """What tells how a trace calls a special method of a class; None for one that is left as it
    is."""
    _converter[:] = [converter]


@dataclass(slots=True)
class Standin:
    """What a stand-in stands for, and how a trace calls that."""

    method: Any
    call: Call


@dataclass(slots=True)
class _Replaced:
    """The methods of one class while traces go on that have met it."""

    traces: int = 0
    names: list[str] = field(default_factory=list)


# Weak, for a class that a function defines goes with what its methods close over.
_replaced: MutableMapping[type, _Replaced] = weakref.WeakKeyDictionary()
_lock = threading.Lock()


class Met:
    """The classes of which one trace has met objects."""

    def __init__(self) -> None:
        self.classes: MutableSet[type] = weakref.WeakSet()
        self._known: MutableSet[type] = weakref.WeakSet()

    def meet(self, kind: type) -> None:
        """Replace the special methods of a class and of those it derives from."""
        if kind in self._known or issubclass(kind, BaseException):  # whose texts errors show
            return
        self._known.add(kind)
        for each in kind.__mro__:
            if each not in self.classes and any(name in NAMES for name in vars(each)):
                self.classes.add(each)
                _replace(each)

    def leave(self) -> None:
        """The trace ends: the last one brings the methods back."""
        while self.classes:
            _bring_back(self.classes.pop())


def _replace(kind: type) -> None:
    with _lock:
        replaced = _replaced.setdefault(kind, _Replaced())
        replaced.traces += 1
        if replaced.traces > 1:
            return
        for name in NAMES & {*vars(kind), "__ne__"}:  # that one comes with `__eq__`
            call = _converter[0](kind, name)
            if call is not None:
                type.__setattr__(kind, name, _standin(kind, name, call))
                replaced.names.append(name)


def _bring_back(kind: type) -> None:
    with _lock:
        replaced = _replaced[kind]
        replaced.traces -= 1
        if replaced.traces:
            return
        del _replaced[kind]
        for name in replaced.names:
            found = vars(kind).get(name)
            method = original(found)
            if method is found:  # somebody has given the class another one
                continue
            if method is getattr(object, name, None):
                type.__delattr__(kind, name)
            else:
                type.__setattr__(kind, name, method)


def _standin(kind: type, name: str, call: Call) -> Call:
    method = original(getattr(kind, name))  # what it inherits may be a stand-in

    def standin(*args: Any, **kwargs: Any) -> Any:
        if current_builder() is None:
            return method(*args, **kwargs)
        return _taken(name, call(*args, **kwargs))

    standin.__name__, standin.__qualname__ = method.__name__, method.__qualname__
    vars(standin)[_KEY] = Standin(method, call)
    return standin


_KEY = "__graphify_stands_for__"


def _taken(name: str, result: Any) -> Any:
    """What Python's own code gets of a method.

    Raises:
        ConcreteValueNeeded: it needs a number that only the run knows.
        TraceError: it needs a text, and only the run knows which one.
    """
    if name in TEXTS and hasattr(type(result), "alternatives"):
        raise TraceError(
            f"{name} gives one of several texts, and only the run knows which one",
            location=here(),
            remedy="print the object in the branches of an if statement, each with its text",
        )
    if name not in EXACT or not isinstance(result, Tensor):
        return result
    if resolve(result).is_symbolic:
        raise value_needed(result, EXACT[name])
    value = result.numpy()[()]
    return value.item() if result.spec.weak else value


def original(function: Any) -> Any:
    """The method that a stand-in stands for; any other value as it is."""
    standin = vars(function).get(_KEY) if isinstance(function, FunctionType) else None
    return function if standin is None else standin.method


def method(value: Any, name: str) -> Call | None:
    """A special method of the user's by which the trace at hand asks a value; None where there is
    none, or no trace."""
    kind = type(value)
    if not _replaced or current_builder() is None:
        return None
    for each in kind.__mro__:
        if name in vars(each):
            standin = getattr(vars(each)[name], _KEY, None)
            return None if standin is None else functools.partial(standin.call, value)
    return None
