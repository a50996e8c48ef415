"""Calls, attributes and item assignment in converted code.

    call(f, x)            # f converted if it is the user's own Python, NumPy's creation functions
                          # replaced by graphify's, everything else called as it is
    attr(obj, "w")        # reads a field; what a trace reads is guarded, arrays are hidden inputs
    setattr_(obj, "w", v) # writes it, logged so that staged branches and loops can carry it
"""

from __future__ import annotations

import builtins
import functools
import operator
from collections.abc import Callable
from types import BuiltinFunctionType, CellType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from graphify.autograph.operators.places import Contents
from graphify.autograph.operators.state import Unstageable
from graphify.autograph.operators.undefined import certain
from graphify.ir.bind import Tensor, current_builder, resolve
from graphify.location import here, is_library
from graphify.numpy._table import FUNCTIONS
from graphify.ops import core
from graphify.syntax.loader import is_marked
from graphify.tracing.capture import ABSENT, Root, root_of
from graphify.tracing.guards import Place

DO_NOT_CONVERT = "__graphify_do_not_convert__"
_AUGMENTED: dict[str, Callable[[Any, Any], Any]] = {
    "+=": operator.iadd,
    "-=": operator.isub,
    "*=": operator.imul,
    "/=": operator.itruediv,
    "//=": operator.ifloordiv,
    "%=": operator.imod,
    "**=": operator.ipow,
    "@=": operator.imatmul,
    "&=": operator.iand,
    "|=": operator.ior,
    "^=": operator.ixor,
    "<<=": operator.ilshift,
    ">>=": operator.irshift,
}

# --- calls ----------------------------------------------------------------------------------------------


def call(function: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Call a function from converted code."""
    builder = current_builder()
    replacement = _replacement(function) if builder is not None else None
    if replacement is not None:
        return replacement(*args, **kwargs)
    if isinstance(function, MethodType):
        if isinstance(function.__func__, FunctionType):
            return call(function.__func__, function.__self__, *args, **kwargs)
        return function(*args, **kwargs)
    if isinstance(function, functools.partial):
        return call(function.func, *function.args, *args, **{**function.keywords, **kwargs})
    if isinstance(function, FunctionType):
        if not is_convertible(function):
            return _plain(function, args, kwargs)
        return certain(converted(function)(*args, **kwargs))
    if isinstance(function, type):
        return _construct(function, args, kwargs)
    if isinstance(function, BuiltinFunctionType):
        return _call_builtin(function, args, kwargs)
    user_call = getattr(type(function), "__call__", None)
    if isinstance(user_call, FunctionType) and is_convertible(user_call):
        return certain(converted(user_call)(function, *args, **kwargs))
    return function(*args, **kwargs)


_IMPURE_MODULES = {"random", "time", "io", "socket", "os", "secrets", "uuid", "datetime", "subprocess"}


def _plain(function: FunctionType, args: Any, kwargs: Any) -> Any:
    _refuse_impure(function)
    return function(*args, **kwargs)


def _refuse_impure(function: Any) -> None:
    """Functions of the outside world run once per turn: a loop that calls them is not staged."""
    builder = current_builder()
    module = getattr(function, "__module__", None) or type(getattr(function, "__self__", None)).__module__
    impure = module in _IMPURE_MODULES or function in (builtins.input, builtins.open)
    if impure and builder is not None and builder.parent is not None:
        raise Unstageable(
            f"{function.__name__} of module {module!r} is called inside staged control flow",
            location=here(),
            remedy="call it before, or use graphify.random for random numbers",
        )


def _call_builtin(function: Any, args: Any, kwargs: Any) -> Any:
    owner = function.__self__
    if isinstance(owner, (list, dict, set)):
        _log_container(owner)
    else:
        _refuse_impure(function)
    return function(*args, **kwargs)


def _construct(cls: type, args: Any, kwargs: Any) -> Any:
    if issubclass(cls, np.generic) and len(args) == 1 and isinstance(args[0], Tensor):
        return core.to_dtype(resolve(args[0]), cls)  # np.float32(x)
    instance = cls(*args, **kwargs)
    remember_local(instance)
    return instance


def remember_local(instance: Any) -> None:
    """Note that the trace made this object itself: its fields need no guards."""
    builder = current_builder()
    root = root_of(builder)
    if root is not None and builder is not None:
        root.local_objects[id(instance)] = (instance, builder.home)


OVERLOADS: dict[Any, Callable[..., Any]] = {}  # Python's built-in functions, by builtins.py


def _replacement(function: Any) -> Callable[..., Any] | None:
    """graphify's own version of a NumPy or built-in function."""
    try:
        return OVERLOADS.get(function) or FUNCTIONS.get(function)
    except TypeError:  # not hashable, so not one of these
        return None


# --- conversion of the user's functions ------------------------------------------------------------------

def is_convertible(function: FunctionType) -> bool:
    """Whether a function is the user's own Python, to be converted when called in a trace."""
    if is_marked(function) or getattr(function, DO_NOT_CONVERT, False):
        return False
    return not is_library(function.__code__.co_filename)


def converted(function: FunctionType) -> FunctionType:
    """The converted form of a function, its outside names as the current trace shall see them."""
    from graphify.autograph import operators
    from graphify.autograph.pipeline import convert

    conversion = convert(function)
    namespace = dict(function.__globals__)
    root = root_of(current_builder())
    if root is not None:
        for name in conversion.global_names:
            if name in namespace:
                namespace[name] = _lifted(root, Place(function.__globals__, name, "global"), namespace[name])
    namespace["ag"] = operators
    cells = _lifted_cells(function, conversion, root)
    return conversion.instantiate(function, namespace, cells)


def _lifted_cells(function: FunctionType, conversion: Any, root: Root | None) -> tuple[CellType, ...] | None:
    cells = function.__closure__
    if root is None or not cells:
        return cells
    written = set(conversion.written_names)
    lifted = []
    for name, cell in zip(function.__code__.co_freevars, cells, strict=True):
        place = Place(cell, name, "cell")
        value = place.read()
        keep = name in written or not _is_set(cell)
        new = value if keep else _lifted(root, place, value)
        lifted.append(cell if keep or new is value else CellType(new))
    return tuple(lifted)


def _is_set(cell: CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def _lifted(root: Root, place: Place, value: Any) -> Any:
    if isinstance(value, (ModuleType, type)) or is_marked(value):
        return value
    return root.guard(place)


# --- attributes ---------------------------------------------------------------------------------------------


def attr(obj: Any, name: str) -> Any:
    """`obj.name`, guarded where a trace reads the field of an object from outside."""
    builder = current_builder()
    root = root_of(builder)
    if root is None or isinstance(obj, (Tensor, np.ndarray, ModuleType)):
        return getattr(obj, name)
    value = getattr(obj, name)
    if callable(value) and not isinstance(value, Tensor) or _was_written(builder, obj, name):
        return value
    return root.guard(Place(obj, name, "attribute"))


def _was_written(builder: Any, obj: Any, name: str) -> bool:
    while builder is not None:
        if (id(obj), name) in builder.writes:
            return True
        builder = builder.parent
    return False


def setattr_(obj: Any, name: str, value: Any) -> None:
    """`obj.name = value`, logged."""
    builder = current_builder()
    if builder is not None and not isinstance(obj, Tensor):
        local = root_of(builder)
        home = local.local_objects.get(id(obj), (None, None))[1] if local is not None else None
        if home is not builder.home:
            place = Place(obj, name, "attribute")
            builder.writes.setdefault(place.key, (place, getattr(obj, name, ABSENT)))
    setattr(obj, name, value)


def augattr(obj: Any, name: str, sign: str, value: Any) -> None:
    """`obj.name += value`."""
    setattr_(obj, name, _AUGMENTED[sign](attr(obj, name), value))


# --- items --------------------------------------------------------------------------------------------------


def setitem(obj: Any, key: Any, value: Any) -> None:
    """`obj[key] = value`."""
    if isinstance(obj, (list, dict)):
        _log_container(obj)
    elif isinstance(obj, np.ndarray):
        obj = _own_array(obj)
    obj[key] = value


def augitem(obj: Any, key: Any, sign: str, value: Any) -> None:
    """`obj[key] += value`; object and key are evaluated once."""
    if isinstance(obj, np.ndarray):
        obj = _own_array(obj)
    setitem(obj, key, _AUGMENTED[sign](obj[key], value))


def delitem(obj: Any, key: Any) -> None:
    """`del obj[key]`."""
    if isinstance(obj, (list, dict)):
        _log_container(obj)
    del obj[key]


def _own_array(array: Any) -> Any:
    """In a trace, a NumPy array from outside is written through its hidden input."""
    builder = current_builder()
    return array if builder is None else builder.external(array)


def _log_container(container: Any) -> None:
    """Log that a list or dict is about to change, so that staged control flow can carry it."""
    builder = current_builder()
    if builder is not None and builder.parent is not None:
        place = Contents(container)
        builder.writes.setdefault(place.key, (place, place.read()))
