"""Calls and item assignment in converted code; for attributes see attributes.py.

call(f, x)            # f converted if it is the user's own Python, NumPy's creation functions
                      # replaced by graphify's, everything else called as it is
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from types import (
    BuiltinFunctionType,
    CellType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    WrapperDescriptorType,
)
from typing import Any

import numpy as np

from graphify.autograph.converters.resolve import MUTATING
from graphify.autograph.operators import impure, testing, unconverted
from graphify.autograph.operators.asked import asked
from graphify.autograph.operators.choice import Choice
from graphify.autograph.operators.choosing import apply, has_choices, over
from graphify.autograph.operators.conditions import is_staged
from graphify.autograph.operators.dispatching import dispatched
from graphify.autograph.operators.elements import changing
from graphify.autograph.operators.generators import Generator, is_generator_function
from graphify.autograph.operators.inplace import AUGMENTED
from graphify.autograph.operators.listed import Listed
from graphify.autograph.operators.recursion import enter
from graphify.autograph.operators.tables import depends, holds_keys, refuse_new
from graphify.autograph.operators.undefined import certain
from graphify.ir.context import current_builder
from graphify.ir.sharing import storage
from graphify.ir.tensor import Tensor, resolve, value_needed
from graphify.ir.wrapping import as_tensor
from graphify.location import is_library, is_library_class
from graphify.numpy._table import FUNCTIONS
from graphify.numpy.random import as_generator
from graphify.ops import core
from graphify.syntax.loader import is_marked
from graphify.tracing import special
from graphify.tracing.capture import Root, root_of
from graphify.tracing.guards import SCALARS, Place
from graphify.tracing.lists import List, is_grown
from graphify.tracing.places import log_contents

EXACT = ("fractions", "decimal")  # modules whose numbers no graph has
DO_NOT_CONVERT = "__graphify_do_not_convert__"

# --- calls ---------------------------------------------------------------------------------------


def call(function: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Call a function from converted code."""
    builder = current_builder()
    take = asked() if builder is not None else None
    if take is not None:
        return take(function, args, kwargs)
    if builder is not None and type(function) is Choice:
        return over(function, lambda chosen: call(chosen, *args, **kwargs))
    if builder is not None and has_choices(args, kwargs) and not _passes_on(function, args):
        return apply(lambda *a, **k: call(function, *a, **k), args, kwargs)
    replacement = _replacement(function) if builder is not None else None
    if replacement is not None:
        return replacement(*args, **kwargs)
    library = _LIBRARIES.get(_home(function)) if builder is not None else None
    if library is not None:
        return unconverted.of_the_trace(library(function, args, kwargs))
    owner = getattr(function, "__self__", None)
    if builder is not None and isinstance(owner, (np.random.Generator, np.random.RandomState)):
        draw = getattr(as_generator(owner), function.__name__)  # the same stream, at each run
        return draw(*args, **kwargs)
    if isinstance(owner, List) and is_grown(owner):
        function = getattr(owner, function.__name__)  # it may be older than the kind of the list
    if isinstance(owner, List) and function.__name__ in ("__setitem__", "__delitem__"):
        return (setitem if function.__name__ == "__setitem__" else delitem)(owner, *args)
    if isinstance(owner, List) and function.__name__ in MUTATING:
        one = function.__name__ == "append" and len(args) == 1
        around = (lambda rows, places: rows.append_inside(places, args[0])) if one else None
        with changing(owner, around=around):
            return _call(function, args, kwargs)
    return _call(function, args, kwargs)


_OF_CLASSES = (MethodDescriptorType, WrapperDescriptorType)


def _call(function: Any, args: Any, kwargs: Any) -> Any:
    """Call what is no function of a library, by its kind."""
    builder, owner = current_builder(), getattr(function, "__self__", None)
    if isinstance(function, _OF_CLASSES) and args and isinstance(args[0], (List, Listed)):
        cls = function.__objclass__
        kind = args[0].standing_for if isinstance(args[0], Listed) else list
        if issubclass(kind, cls):  # list.append(rows, v)
            return call(getattr(args[0], function.__name__), *args[1:], **kwargs)
    wrapper = builder is not None and isinstance(function, MethodWrapperType)
    if wrapper and function.__name__ == "__setattr__":
        return OVERLOADS[object.__setattr__](owner, *args)  # super().__setattr__(name, value)
    if wrapper and function.__name__ in ("__str__", "__repr__") and isinstance(owner, _BUILT_IN):
        return OVERLOADS[repr](owner)
    if isinstance(function, MethodType):
        if isinstance(function.__func__, FunctionType):
            return call(function.__func__, function.__self__, *args, **kwargs)
        return unconverted.run(function, *args, **kwargs)
    if isinstance(function, functools.partial):
        return call(function.func, *function.args, *args, **{**function.keywords, **kwargs})
    if isinstance(function, FunctionType):
        if not is_convertible(function):
            return _plain(function, args, kwargs)
        if is_generator_function(function):
            return _generator(function, args, kwargs)
        code, given = function.__code__, len(args) + len(kwargs)
        made = converted(function, given < code.co_argcount + code.co_kwonlyargcount)
        return enter(function, made, args, kwargs)
    if isinstance(function, type):
        return _construct(function, args, kwargs)
    if builder is not None:
        impure.refuse_to_look(function, args)
    if isinstance(function, BuiltinFunctionType):
        return _call_builtin(function, args, kwargs)
    user_call = getattr(type(function), "__call__", None)  # noqa: B004
    if isinstance(function, np.vectorize):
        return OVERLOADS[user_call](function, *args, **kwargs)
    if isinstance(user_call, FunctionType) and is_convertible(user_call):
        return certain(converted(user_call)(function, *args, **kwargs))
    return unconverted.run(function, *args, **kwargs)


def _generator(function: FunctionType, args: Any, kwargs: Any) -> Any:
    if current_builder() is None:
        return converted(function, form="pull")(*args, **kwargs)
    return Generator(function, args, kwargs)


def _passes_on(function: Any, args: Any) -> bool:
    """Whether a callee only hands its arguments on: to the user's code, or into a container."""
    if isinstance(function, (FunctionType, MethodType)):
        owner = getattr(function, "__self__", args[0] if args else None)
        function = getattr(function, "__func__", function)
        if isinstance(function, FunctionType) and is_convertible(function):
            return True
        adds = getattr(function, "__name__", "") in ("append", "insert")
        return adds and isinstance(owner, List) and owner.may_hold_choices()
    if isinstance(function, type):
        return not is_library_class(function)
    owner = getattr(function, "__self__", None)
    user_call = getattr(type(function), "__call__", None)  # noqa: B004
    known = isinstance(user_call, FunctionType) and is_convertible(user_call)
    return isinstance(function, functools.partial) or isinstance(owner, (list, dict, set)) or known


def decorator(function: Any) -> Callable[[Any], Any]:
    """A decorator of a function that converted code defines: its call is one like any other."""
    return lambda decorated: call(function, decorated)


def _plain(function: FunctionType, args: Any, kwargs: Any) -> Any:
    method = special.original(function)
    if method is not function:  # Vector.__add__(v, w)
        return call(method, *args, **kwargs)
    chosen = dispatched(function, args, OVERLOADS[type])
    if chosen is not None:
        return call(chosen, *args, **kwargs)
    impure.refuse(function, *args[:1])
    if current_builder() is not None and testing.is_left_to_the_run(function, args, kwargs):
        return testing.record(function, args, kwargs)
    if is_marked(function) and not getattr(function, DO_NOT_CONVERT, False):
        return enter(function, function, args, kwargs)
    return unconverted.run(function, *args, **kwargs)


def _call_builtin(function: Any, args: Any, kwargs: Any) -> Any:
    owner = function.__self__
    if type(owner) is str and function.__name__ in ("format", "format_map"):
        return OVERLOADS[getattr(str, function.__name__)](owner, *args, **kwargs)
    if isinstance(owner, np.ufunc):
        args = _arrays_of(function.__name__, args)
    if isinstance(owner, (dict, set)) and is_library_class(type(owner)):
        own = OVERLOADS.get(getattr(type(owner), function.__name__, None))
        if own is not None:
            return own(owner, *args, **kwargs)
    if isinstance(owner, (dict, set)) and any(map(holds_keys, args)):
        refuse_new(owner)
    if isinstance(owner, (list, dict, set)):
        if function.__name__ in MUTATING:
            log_contents(owner)
        return function(*args, **kwargs)
    impure.refuse(function)
    return unconverted.run(function, *args, **kwargs)


def _arrays_of(method: str, args: Sequence[Any]) -> tuple[Any, ...]:
    """What a method of a ufunc gets: `np.add.reduce([x, y])` sees arrays, not what is in lists."""
    listed = [isinstance(a, (list, tuple)) for a in args]
    if method == "at" and len(args) > 1:
        listed[1] = False  # a key may have slices in it
        args = (_own_array(args[0]) if isinstance(args[0], np.ndarray) else args[0], *args[1:])
    return tuple(as_tensor(a) if is_list else a for a, is_list in zip(args, listed, strict=True))


def _construct(cls: type, args: Any, kwargs: Any) -> Any:
    if issubclass(cls, np.generic) and len(args) == 1 and isinstance(args[0], Tensor):
        scalar = core.copy(core.to_dtype(resolve(args[0]), cls))  # np.float32(x): never x itself
        scalar._scalar = not scalar.dims
        return scalar
    if cls.__module__ in EXACT and (staged := [a for a in args if is_staged(a)]):
        raise value_needed(resolve(staged[0]), "the number")
    root = root_of(current_builder())
    if root is not None:
        root.meet(cls)
    if current_builder() is not None and starts_bare(cls):
        bare: Any = object.__new__(cls)
        remember_local(bare)
        call(type(bare).__init__, bare, *args, **kwargs)
        return bare
    instance = cls(*args, **kwargs)
    remember_local(instance)
    return instance


def starts_bare(cls: Any) -> bool:
    """Whether an `__init__` of the user's does all that making an instance takes."""
    from graphify.autograph.operators.descriptors import is_own

    plain = type(cls).__call__ is type.__call__ and cls.__new__ is object.__new__
    return plain and is_own(cls.__init__)


def remember_local(instance: Any) -> None:
    """Note that the trace made this object itself: its fields need no guards."""
    builder = current_builder()
    root = root_of(builder)
    if root is not None and builder is not None:
        root.local_objects[id(instance)] = (instance, builder.home)


_BUILT_IN = (list, tuple, dict, set)

OVERLOADS: dict[Any, Callable[..., Any]] = {}  # Python's built-in functions, by builtins.py


def _replacement(function: Any) -> Callable[..., Any] | None:
    """graphify's own version of a NumPy or built-in function."""
    try:
        return OVERLOADS.get(function) or FUNCTIONS.get(function)
    except TypeError:  # not hashable, so not one of these
        return None


Library = Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]
_LIBRARIES: dict[str, Library] = {}


def set_library(package: str, takes: Library) -> None:
    """Who takes the calls, in a trace, of a package's functions, classes and objects."""
    _LIBRARIES[package] = takes


def _home(function: Any) -> str:
    """The package that a function or class, or the class of an object, comes from."""
    own = isinstance(function, (FunctionType, MethodType, type))
    module = getattr(function if own else type(function), "__module__", None)
    return module.partition(".")[0] if isinstance(module, str) else ""


# --- conversion of the user's functions ---------------------------------------------------------


def is_convertible(function: FunctionType) -> bool:
    """Whether a function is the user's own Python, to be converted when called in a trace."""
    if getattr(function, DO_NOT_CONVERT, False):
        return False
    if is_marked(function) and not is_generator_function(function):  # they are left alone
        return False
    return not is_library(function.__code__.co_filename)


def converted(
    function: FunctionType, defaults: bool = True, form: str = "", consumer: Any = None
) -> FunctionType:
    """The converted form of a function, its outside names as the current trace shall see them.

    Args:
        defaults: some arguments will be defaults.
        form, consumer: of a generator function, how it is to run and for whom; of one that is
            attempted, the classes that are caught.
    """
    from graphify.autograph import operators
    from graphify.autograph.pipeline import convert

    conversion = convert(function, form=form)
    root = root_of(current_builder())
    if root is None or root.made(function):
        return conversion.instantiate(function, None, None, operators, consumer)
    space = root.space(function.__globals__)
    for name in conversion.global_names | conversion.written_globals:
        space.lift(name, lambda place: _lifted(root, place))
    space.written |= conversion.written_globals
    cells = _lifted_cells(function, root)
    made = conversion.instantiate(function, space.twin, cells, operators, consumer)
    if defaults:
        _lift_defaults(function, made, root)
    return made


def _lifted_cells(function: FunctionType, root: Root) -> tuple[CellType, ...] | None:
    """The closure, with twins of the cells that come from outside the trace."""
    if not function.__closure__:
        return function.__closure__
    names = function.__code__.co_freevars
    return tuple(
        root.cell(cell, name, lambda place: _lifted(root, place)) if _is_set(cell) else cell
        for name, cell in zip(names, function.__closure__, strict=True)
    )


def _lift_defaults(function: FunctionType, made: FunctionType, root: Root) -> None:
    """Defaults that can change (lists, arrays) are read anew by each trace and run."""
    if any(not isinstance(v, (*SCALARS, type, FunctionType)) for v in function.__defaults__ or ()):
        made.__defaults__ = root.guard(Place(function, "__defaults__", "attribute"))
    if any(
        not isinstance(v, (*SCALARS, type, FunctionType))
        for v in (function.__kwdefaults__ or {}).values()
    ):
        made.__kwdefaults__ = root.guard(Place(function, "__kwdefaults__", "attribute"))


def _is_set(cell: CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def _lifted(root: Root, place: Place) -> Any:
    value = place.read()
    return value if is_marked(value) else root.guard(place)


# --- items --------------------------------------------------------------------------------------


def setitem(obj: Any, key: Any, value: Any) -> None:
    """`obj[key] = value`."""
    if type(obj) is Choice or type(key) is Choice:
        apply(lambda o, k: setitem(o, k, value), (obj, key), {})
        return
    if type(value) is Choice and isinstance(obj, (Tensor, np.ndarray)):
        over(value, lambda chosen: setitem(obj, key, chosen))
        return
    if isinstance(obj, dict) and depends(key):
        refuse_new(obj)
    if type(value) is Choice and type(obj) is List and value.is_at(key, obj):
        return  # `rows[k] += [v]` puts back what it has changed
    if isinstance(obj, (list, dict)):
        store = lambda each: setitem(each, key, value)
        is_one = not isinstance(value, (list, dict, tuple)) and not isinstance(key, slice)
        with changing(obj, store if is_one else None):
            _log_items(obj, key)
            obj[key] = value
        return
    if isinstance(obj, np.ndarray):
        obj = _own_array(obj)
    elif (own := special.method(obj, "__setitem__")) is not None:
        own(key, value)
        return
    elif not isinstance(obj, Tensor):
        impure.refuse_change(obj)
        unconverted.run(operator.setitem, obj, key, value)
        return
    obj[key] = value


def augitem(obj: Any, key: Any, sign: str, value: Any) -> None:
    """`obj[key] += value`; object and key are evaluated once."""
    if type(obj) is Choice or type(key) is Choice:
        apply(lambda o, k: augitem(o, k, sign, value), (obj, key), {})
        return
    if isinstance(obj, np.ndarray):
        obj = _own_array(obj)
    if isinstance(obj, dict) and isinstance(key, tuple) and depends(key):
        refuse_new(obj)
    if isinstance(obj, dict) and is_staged(key):
        lookups = _lookups()
        lookups.replace(obj, key, AUGMENTED[sign](lookups.item(obj, key), value))
        return
    item = obj[key]
    new = AUGMENTED[sign](item, value)
    if new is item and isinstance(obj, Tensor) and storage(item) is storage(resolve(obj)):
        return  # a view of it, updated in place: to store it again changes nothing
    setitem(obj, key, new)


def _lookups() -> Any:
    from graphify.autograph.operators import lookups  # not at the top: they call the user's code

    return lookups


def delitem(obj: Any, key: Any) -> None:
    """`del obj[key]`."""
    if type(obj) is Choice or type(key) is Choice:
        apply(delitem, (obj, key), {})
        return
    if isinstance(obj, dict) and depends(key):
        refuse_new(obj)
    with changing(obj):
        if isinstance(obj, (list, dict)):
            _log_items(obj, key)
        impure.refuse_change(obj)
        del obj[key]


def _log_items(obj: Any, key: Any) -> None:
    """Note that an item is about to change; a list does that itself, once it has found the item,
    where only the run knows the place."""
    if not (isinstance(obj, List) and is_staged(key)):
        log_contents(obj)


def _own_array(array: Any) -> Any:
    """In a trace, a NumPy array from outside is written through its hidden input."""
    builder = current_builder()
    return array if builder is None else builder.external(array)
