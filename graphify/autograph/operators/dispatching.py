"""functools.singledispatch: the function for the class that a staged value has in plain Python.

@singledispatch
def area(shape): ...
area(x)                          # call(area.dispatch(np.ndarray), x)
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any


def dispatched(
    function: FunctionType, args: tuple[Any, ...], kind_of: Callable[[Any], type]
) -> Callable[..., Any] | None:
    """What a function made by singledispatch, or a method by singledispatchmethod, calls.

    Args:
        kind_of: tells the class of a value.
    """
    if not args or "register" not in vars(function):
        return None
    code, kind = function.__code__, kind_of(args[0])
    if code in _FUNCTIONS:
        found: Callable[..., Any] = vars(function)["dispatch"](kind)
        return found
    if code in _METHODS:
        cells = zip(code.co_freevars, function.__closure__ or (), strict=True)
        held = {name: cell.cell_contents for name, cell in cells}
        found = held["self"].dispatcher.dispatch(kind).__get__(held["obj"], held["cls"])
        return found
    return None


def _inner(function: Any) -> list[CodeType]:
    """The functions that a function of functools defines."""
    return [c for c in function.__code__.co_consts if isinstance(c, CodeType)]


_FUNCTIONS = _inner(functools.singledispatch)
_METHODS = _inner(functools.singledispatchmethod.__get__)
