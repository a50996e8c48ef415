"""What the free names of a function stand for, and which callees need no conversion.

`np.sin(x)` can stay as it is written, since NumPy itself dispatches on the argument; `helper(x)`
must go through `ag.call`, since `helper` has to be converted too. Deciding that takes a look at the
values of globals and closure variables. Every look is recorded as a fact, so that a cached
conversion is used again only where the same facts hold.
"""

from __future__ import annotations

import builtins
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

UNKNOWN = object()


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Builtins that the operators overload: `len(x)` becomes `ag.len(x)`.
OVERLOADED = _words("""
    print len range enumerate zip map filter abs min max sum any all int float bool complex
    round pow divmod sorted reversed list tuple dict set iter next isinstance type
""")
# Builtins that mean the same for a tensor as for anything else.
PLAIN_BUILTINS = _words("""
    issubclass id repr str callable super hash slice ord chr format
    bytes bytearray frozenset object ascii property staticmethod classmethod
    memoryview
""")
# Builtins that see the frame of their caller, or run text: conversion would change their answer.
FORBIDDEN = _words("""
    exec eval locals globals vars dir compile
""")

# Methods that change their object: those writes must be seen by the operators.
MUTATING = _words("""
    append extend insert pop popitem remove clear update setdefault sort reverse add discard
    move_to_end difference_update intersection_update symmetric_difference_update appendleft popleft
    extendleft rotate fill put partition resize setflags setfield byteswap itemset
""")
ARRAY_METHODS = frozenset(n for n in dir(np.ndarray) if not n.startswith("_")) - MUTATING
CONTAINER_METHODS = (
    frozenset(
        n
        for kind in (str, bytes, dict, tuple, frozenset)
        for n in dir(kind)
        if not n.startswith("_")
    )
    - MUTATING
    - {"format", "format_map"}  # what they are given may hold run-time values
)
# Attributes every array has; loading one never runs user code that needs conversion.
ARRAY_ATTRIBUTES = _words("""
    shape dtype ndim size T mT real imag flat itemsize nbytes
""")

# NumPy functions that make arrays out of nothing (there is no tensor to dispatch on) ...
CREATION = _words("""
    zeros ones full empty eye arange linspace logspace geomspace array asarray asanyarray
    ascontiguousarray asfortranarray identity tri fromfunction fromiter frombuffer fromfile
    fromstring loadtxt genfromtxt indices mgrid ogrid load
""")
# ... those that change an argument, take a list apart, and those that call a function of the user.
OTHER = _words("""
    stack vstack hstack dstack column_stack concatenate concat row_stack
    copyto put place putmask put_along_axis fill_diagonal apply_along_axis apply_over_axes
    piecewise poly roots
""")

# Functions of a list of arrays that look into the list for arrays of another kind than NumPy's.
JOINING = _words("""
    concatenate stack vstack hstack dstack column_stack block multi_dot
""")


class Resolver:
    """Looks up the free names of one function and remembers what it saw."""

    def __init__(self, function: FunctionType) -> None:
        self._globals = function.__globals__
        self._cells = dict(
            zip(function.__code__.co_freevars, function.__closure__ or (), strict=False)
        )
        self.facts: dict[str, Any] = {}

    def value(self, name: str) -> Any:
        """The value of a free name, or UNKNOWN."""
        found = self._look(name)
        self.facts[name] = _fact(found)
        return found

    def unbound(self) -> frozenset[str]:
        """Names of a converted function around this one that may be unbound there by now."""
        # Not at the top: the operators convert callees.
        from graphify.autograph.operators.undefined import Maybe, Undefined

        names = self._cells.keys()
        return frozenset(n for n in names if isinstance(self._look(n), (Maybe, Undefined)))

    def local(self) -> Any:
        """The value of a local name: never known."""
        return UNKNOWN

    def holds(self, facts: dict[str, Any]) -> bool:
        """Whether the facts of another conversion hold here."""
        return all(_fact(self._look(name)) is fact for name, fact in facts.items())

    def _look(self, name: str) -> Any:
        if name in self._cells:
            try:
                return self._cells[name].cell_contents
            except ValueError:  # not bound yet
                return UNKNOWN
        return self._globals.get(name, getattr(builtins, name, UNKNOWN))


def _fact(value: Any) -> Any:
    """What about a value conversion depends on: its identity, if it is of a known kind."""
    known = isinstance(value, ModuleType) or is_builtin(value) or is_exception(value)
    return value if known or is_plain_callable(value) else None


def is_builtin(value: Any) -> bool:
    """Whether a value is what a name of the builtins module stands for."""
    name = getattr(value, "__name__", None)
    return isinstance(name, str) and getattr(builtins, name, UNKNOWN) is value


def is_exception(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, BaseException)


def is_debugger(value: Any) -> bool:
    """Whether a callee stops in a debugger, at the frame of its caller."""
    return value is breakpoint or (
        getattr(value, "__module__", None) == "pdb" and value.__name__ == "set_trace"
    )


def is_plain_callable(value: Any) -> bool:
    """Whether a callee does the right thing with tensors without being converted."""
    if isinstance(value, np.ufunc) or is_debugger(value):
        return True
    if is_builtin(value):
        return value.__name__ in PLAIN_BUILTINS
    if _of_graphify(value):
        return True
    name = getattr(value, "__name__", "")
    module = getattr(value, "__module__", None) or ""
    return (
        is_of_numpy(value)
        and name not in CREATION | OTHER
        and not module.startswith("numpy.random")
    )


def is_of_numpy(value: Any) -> bool:
    """Whether a callee is a function of NumPy that dispatches on its arguments."""
    wrapped = hasattr(value, "__wrapped__") and type(value).__module__.startswith("numpy")
    return wrapped or isinstance(value, np.ufunc)


def _of_graphify(value: Any) -> bool:
    """Functions and classes of this package, and functions it has decorated."""
    for module in (getattr(value, "__module__", None), type(value).__module__):
        if isinstance(module, str) and module.partition(".")[0] == "graphify":
            return True
    return False


def attribute(value: Any, names: list[str]) -> Any:
    """Follow attributes from a module; UNKNOWN once it leaves modules, classes and ufuncs."""
    for name in names:
        if not isinstance(value, (ModuleType, type, np.ufunc)):
            return UNKNOWN
        value = getattr(value, name, UNKNOWN)
    return value
