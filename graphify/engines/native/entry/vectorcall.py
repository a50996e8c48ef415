"""The entry point: calls of a `graphify.Function` that CPython makes straight into machine code.

    install(function, runner, quick)      # from now on calls that `quick` describes take no Python

`graphify_vectorcall` is made once per process and serves all functions: it works by the table whose
address stands in the function (`room.py`, `table.py`). What the table does not describe (other
types or sizes, tapes or a trace in progress, something guarded that changed) goes to the Python
method, as does a call that fails: that one raises the exception.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any

import numpy as np

from graphify.config import config
from graphify.engines.native import library, symbols
from graphify.engines.native.entry import capi, glue, matching, opening, room, rows, running, table
from graphify.engines.native.entry.python_call import Runner
from graphify.engines.native.entry.room import Quick
from graphify.engines.native.entry.rows import NULL, number
from graphify.engines.native.llvm import BIT, I32, I64, PTR, Module, V
from graphify.ir import float_errors
from graphify.ir.context import FRAME, TAPES, recording
from graphify.ir.tensor import Tensor

assert glue.NAMES  # provides what running.py calls

NAME = "graphify_vectorcall"
_OFFSET_BIT = 63  # of the argument count: whether the word before the arguments may be used


def install(function: Any, runner: Runner, quick: Quick) -> bool:
    """Let calls that `quick` describes go straight to a compiled graph.

    Returns:
        Whether they do; if not, they go on by way of Python.
    """
    kind: Any = type(function)
    if not table.fits(runner, quick) or not _enabled(kind):
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


def module() -> Module:
    """`graphify_vectorcall` and what it needs."""
    capi.define_all()
    _define_symbols()
    made = Module("vectorcall")
    matching.write(made, _tensor_fields())
    running.write(made, _tensor_fields())
    _write_by_python(made)
    _write_entry(made)
    return made


def _write_by_python(made: Module) -> None:
    """ptr by_python(self, args, count, names): calls the Python method."""
    params = [(PTR, "self"), (PTR, "args"), (I64, "count"), (PTR, "names")]
    f = made.function("by_python", PTR, params, "internal", "noinline nounwind")
    count = f.args["count"]
    total = f.add(count, opening.count_names(f, f.args["names"]))
    room_for = f.add(total, number(1))
    arguments = f.op(PTR, f"alloca ptr, {room_for}")
    f.store(f.args["self"], arguments)
    with f.counting(number(0), total) as index:
        given = f.load(PTR, f.at(f.args["args"], PTR, index))
        f.store(given, f.at(arguments, PTR, f.add(index, number(1))))
    words = f.load(PTR, rows.at_byte(f, f.args["self"], room.TABLE))
    method = f.load(PTR, words)
    count = f.add(count, number(1))
    f.ret(f.call("PyObject_Vectorcall", PTR, [method, arguments, count, f.args["names"]]))


def _write_entry(made: Module) -> None:
    params = [(PTR, "self"), (PTR, "args"), (I64, "flags"), (PTR, "names")]
    f = made.function(NAME, PTR, params)
    args, names = f.args["args"], f.args["names"]
    slow = f.label("slow")
    scratch, status = f.alloca(I64, rows.SCRATCH_WORDS), f.alloca(I32)
    count = f.and_(f.args["flags"], number((1 << _OFFSET_BIT) - 1))
    rows.require(f, f.call("quiet", BIT, []), slow)
    words = f.load(PTR, rows.at_byte(f, f.args["self"], room.TABLE))
    entries = f.load(I64, f.at(words, I64, 1))
    with f.counting(number(0), entries) as index:
        entry = f.load(PTR, f.at(words, PTR, f.add(index, number(2))))
        size = f.call("match", I64, [entry, args, count, names, scratch])
        with f.when(f.icmp("sge", size, number(0))):
            result = f.call("invoke", PTR, [entry, scratch, size, status])
            with f.when(f.icmp("ne", result, NULL)):
                f.ret(result)
            pending = f.icmp("slt", f.load(I32, status), V(I32, "0"))
            with f.when(pending):
                f.ret(NULL)
            f.br(slow)
    f.start(slow)
    f.ret(f.call("by_python", PTR, [f.args["self"], args, count, names]))


library.provide(NAME, module)
