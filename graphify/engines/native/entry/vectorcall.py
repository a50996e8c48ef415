"""The entry point: calls of a `graphify.Function` that CPython makes straight into machine code.

    install(function, runner, quick)      # from now on calls that `quick` describes take no Python

`graphify_vectorcall` (point.py) is made once per process and serves all functions: it works by the
table whose address stands in the function (`room.py`, `table.py`). What the table does not describe
(other types or sizes, tapes or a trace in progress, something guarded that changed) goes to the
Python method, as does a call that fails: that one raises the exception.
"""

from __future__ import annotations

import ctypes
import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from graphify.config import config
from graphify.engines.native import library, symbols
from graphify.engines.native.entry import capi, room, table
from graphify.engines.native.entry.python_call import Runner
from graphify.engines.native.entry.room import Quick
from graphify.ir import float_errors
from graphify.ir.context import FRAME, TAPES, recording
from graphify.ir.tensor import Tensor

if TYPE_CHECKING:
    from graphify.engines.native.llvm import Module

NAME = "graphify_vectorcall"


def install(function: Any, runner: Runner, quick: Quick, compile: bool) -> bool:
    """Let calls that `quick` describes go straight to a compiled graph.

    Args:
        compile: whether the entry point may be compiled for this, which takes longer than most
            graphs do; otherwise it is used if this process or the disk cache has it.

    Returns:
        Whether they do; if not, they go on by way of Python.
    """
    kind: Any = type(function)
    if not table.fits(runner, quick) or not (compile or library.at_hand(NAME)):
        return False
    if not _enabled(kind):
        return False
    tables = function.__dict__.setdefault("_quick_table", table.Table(kind.__call__))
    address = tables.add(table.Entry(runner, quick))
    if address is None:
        return False
    capi.set_word(id(function) + room.TABLE, address)
    capi.set_word(id(function) + room.ENTRY, library.need(NAME))
    return True


@functools.cache
def _enabled(kind: Any) -> bool:
    """Make instances of a class called at the address that stands in them, if that is possible."""
    if not issubclass(kind, room.Room) or room.Room is object or not capi.understood():
        return False
    fields = _tensor_fields()
    sample = _model()
    if not capi.slots_fit(Tensor, tuple(fields), sample):
        return False
    flags = capi.word(id(kind) + capi.TYPE_FLAGS)
    if flags & capi.HAVE_VECTORCALL or capi.word(id(kind) + capi.TYPE_VECTORCALL_OFFSET):
        return False
    library.need(NAME)
    # Python classes have no way of saying this themselves.
    flags |= capi.HAVE_VECTORCALL | capi.METHOD_DESCRIPTOR
    capi.set_word(id(kind) + capi.TYPE_VECTORCALL_OFFSET, room.ENTRY)
    capi.set_word(id(kind) + capi.TYPE_FLAGS, flags)
    return True


def _tensor_fields() -> dict[str, int]:
    """Where a Tensor keeps each slot."""
    names = [name for name in Tensor.__slots__ if name != "__weakref__"]
    return {name: capi.slot_offset(Tensor, name) for name in names}


@functools.cache
def _model() -> Tensor:
    """A tensor as they come out of functions; its slots are copied into others."""
    with recording(None):
        return Tensor(np.empty(0))


def _define_symbols() -> None:
    usual = {"builder": None, "tapes": (), "settings": None}
    variables = {"builder": FRAME, "tapes": TAPES, "settings": config._local}
    objects = {
        "numpy_float_errors": float_errors.STATE,
        "numpy_ndarray": np.ndarray,
        "python_exception": Exception,
        "python_str": str,
        "python_true": True,
        "python_not_implemented": NotImplemented,
        "graphify_false": False,
        "graphify_tensor_type": Tensor,
        "graphify_tensor_model": _model(),
        **{f"graphify_usual_{name}": value for name, value in usual.items()},
        **{f"graphify_context_{name}": value for name, value in variables.items()},
    }
    for name, thing in objects.items():
        symbols.define(name, id(thing), alive=thing)
    harmless = float_errors.HARMLESS
    symbols.define("graphify_harmless_float_errors", ctypes.addressof(harmless), alive=harmless)


def _module(fields: dict[str, int]) -> Module:
    from graphify.engines.native.entry import point

    return point.module(NAME, fields)


_define_symbols()
library.provide(NAME, _module, lambda: (_tensor_fields(),))
