"""Calls that differ from turn to turn: the clock, chance, files, the user at the keyboard.

    for i in range(20):
        x = x + random.random()     # twenty numbers: the loop is unrolled, not staged

A staged block is traced once for all its runs, so such a call in it is refused; a loop of known
length is unrolled then. At the top level of a function it runs once, while tracing.
"""

from __future__ import annotations

import array
import builtins
import contextlib
from collections import ChainMap, UserDict, UserList, deque
from types import BuiltinFunctionType, MethodDescriptorType
from typing import Any

from graphify.autograph.converters.resolve import MUTATING
from graphify.autograph.operators.state import Unstageable
from graphify.ir.context import current_builder
from graphify.location import here
from graphify.tracing.capture import root_of
from graphify.tracing.lists import is_grown

_MODULES = frozenset(
    "random _random time io _io socket _socket os posix nt secrets uuid subprocess getpass "
    "tempfile shutil glob pathlib genericpath select selectors urllib.request http.client "
    "logging queue threading _thread multiprocessing sched signal platform _queue "
    "numpy.random.mtrand".split()
)
_FUNCTIONS = {builtins.input: "input", builtins.open: "open"}
_ENTERING = ("callback", "enter_context", "push", "pop_all", "close")
_CLOCKS = ("now", "today", "utcnow")  # of datetime, whose other methods give the same at any time
# Containers that staged blocks do not carry.
_UNLOGGED = (deque, bytearray, array.array, UserList, UserDict, ChainMap)


def refuse(function: Any, owner: Any = None) -> None:
    """Refuse a call that a staged block cannot make on behalf of each run.

    Args:
        owner: of a method that is called as a function.

    Raises:
        Unstageable: it is such a call, and there is such a block.
    """
    builder = current_builder()
    if builder is None or builder.parent is None:
        return
    name, owner = getattr(function, "__name__", "?"), getattr(function, "__self__", owner)
    if _is_unlogged(owner) and name in MUTATING:
        refuse_change(owner)
    if isinstance(owner, contextlib.ExitStack) and name in _ENTERING:
        _refuse_outer(owner)
    kind = owner if isinstance(owner, type) else type(owner)
    module = getattr(function, "__module__", None) or kind.__module__
    clock = module == "datetime" and name in _CLOCKS
    if clock or module in _MODULES or function in _FUNCTIONS:
        raise Unstageable(
            f"{name} of module {module!r} is called in staged control flow, which is traced once "
            "for all runs",
            location=here(),
            remedy="call it before, or use graphify.random for random numbers",
        )


def _is_unlogged(container: Any) -> bool:
    return issubclass(type(container), _UNLOGGED)  # deques of a trace only say that they are


def _refuse_outer(stack: contextlib.ExitStack) -> None:
    """Refuse to add to a stack of contexts that another block leaves."""
    builder = current_builder()
    root = root_of(builder)
    made = None if root is None else root.local_objects.get(id(stack), (None, None))[1]
    if builder is not None and made is not builder.home:
        raise Unstageable(
            "staged control flow adds to an ExitStack that was made before it",
            location=here(),
            remedy="write a with statement of its own",
        )


def refuse_to_look(function: Any, args: tuple[Any, ...]) -> None:
    """Refuse a function that looks into a list behind the back of what only the run knows of it:
    `marshal.dumps(rows)`.

    Raises:
        Unstageable: it is given such a list.
    """
    if not args or not isinstance(args[0], list) or not is_grown(args[0]):
        return
    behind = isinstance(function, (BuiltinFunctionType, MethodDescriptorType))
    if behind and getattr(function, "__module__", "") != "_operator":
        name = getattr(function, "__name__", "")
        raise Unstageable(
            f"{name} is given a list of which only the run knows the length",
            location=here(),
            remedy="use the methods of the list, or an array",
        )


def refuse_change(container: Any) -> None:
    """Refuse to change a container that staged blocks do not carry.

    Raises:
        Unstageable: it is one, and there is such a block.
    """
    builder = current_builder()
    if builder is not None and builder.parent is not None and _is_unlogged(container):
        raise Unstageable(
            f"a {type(container).__name__} is changed in staged control flow",
            location=here(),
            remedy="use a list or an array",
        )
