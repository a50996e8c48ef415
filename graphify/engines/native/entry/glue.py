"""Native code around every call of a compiled graph.

    i32 graphify_enter(ptr run, ptr inputs, ptr outputs, i32 release)
        run(inputs, outputs), without the GIL if `release` is not 0
    i32 graphify_poll()
        for loops: lets other Python threads run and signal handlers, too; not 0: an exception is
        pending (Ctrl-C), and `run` must return -1. Costs some 10 ns: a loop of short turns calls it
        every thousand turns or so, one of long turns at each.
    i32 graphify_host(i64 site, ptr words)
        calls the Python function of a site (host.py); not 0: an exception is pending
    void graphify_unlock(ptr held)
        gives back the locks of random generators (generators.py), whatever exception is pending
    void graphify_release(ptr capsule)
        destructor of the capsules that own blocks of memory

An exception that comes up stays pending in the thread; whoever called `graphify_enter` finds it
there. Only threads that Python knows may call `graphify_host`, never the pool's.
"""

from __future__ import annotations

import ctypes
import os
import threading

from graphify.engines.native import library, memory, symbols  # noqa: F401  memory provides free
from graphify.engines.native.entry import capi
from graphify.engines.native.llvm import I32, I64, PTR, VOID, Function, Module, V
from graphify.engines.native.target import host

NAMES = ("graphify_enter", "graphify_poll", "graphify_host", "graphify_unlock", "graphify_release")
# Ticks between two looks at signals. A tick is a cycle on x86 (so some 5 ms) and that of a clock of
# 24 MHz to 1 GHz elsewhere.
_PERIOD = 20_000_000 if host().triple.startswith("x86_64") else 500_000
_TICKS = "readcyclecounter" if host().triple.startswith("x86_64") else "readsteadycounter"

_main_thread = ctypes.c_uint64(threading.main_thread().ident or 0)


def module() -> Module:
    """The functions above."""
    capi.define_all()
    made = Module("glue")
    made.variable("next", I64)
    _write_enter(made)
    _write_signals(made)
    _write_poll(made)
    _write_host(made)
    _write_unlock(made)
    _write_release(made)
    return made


def zero(type_bits: int = 32) -> V:
    return V(I32 if type_bits == 32 else I64, "0")


def _write_enter(made: Module) -> None:
    params = [(PTR, "run"), (PTR, "inputs"), (PTR, "outputs"), (I32, "release")]
    f = made.function("graphify_enter", I32, params)
    words = [f.args["inputs"], f.args["outputs"]]
    with f.when(f.icmp("ne", f.args["release"], zero())):
        state = f.call("PyEval_SaveThread", PTR, [])
        status = f.call_pointer(f.args["run"], I32, words)
        f.call("PyEval_RestoreThread", VOID, [state])
        f.ret(status)
    f.ret(f.call_pointer(f.args["run"], I32, words))


def _write_signals(made: Module) -> None:
    """What there is to do when some time has passed, in whatever state the thread is."""
    f = made.function("signals", I32, [(I64, "now")], "internal", "noinline nounwind")
    later = f.add(f.args["now"], V(I64, str(_PERIOD)))
    with f.when(f.icmp("ne", f.call("PyGILState_Check", I32, []), zero())):
        f.store(later, V(PTR, "@next"))
        status = f.call("PyErr_CheckSignals", I32, [])
        with f.when(f.icmp("ne", status, zero())):
            f.ret(status)
        # Whoever waits for the GIL gets it.
        f.call("PyEval_RestoreThread", VOID, [f.call("PyEval_SaveThread", PTR, [])])
        f.ret(zero())
    # Signal handlers run in the main thread only. Another thread must not ask for the GIL: one of
    # the pool's would wait for a caller that keeps it and waits for the pool. Nor does it count as
    # having looked: it may look more often than the main thread, which would never come to do so.
    main = f.load(I64, made.external("graphify_main_thread"))
    here = f.call("PyThread_get_thread_ident", I64, [])
    with f.when(f.icmp("eq", main, here)):
        f.store(later, V(PTR, "@next"))
        state = f.call("PyGILState_Ensure", I32, [])
        status = f.call("PyErr_CheckSignals", I32, [])
        f.call("PyGILState_Release", VOID, [state])
        f.ret(status)
    f.ret(zero())


def _write_poll(made: Module) -> None:
    f = made.function("graphify_poll", I32, [])
    made.declare(f"llvm.{_TICKS}", I64, [])
    now = f.op(I64, f"call i64 @llvm.{_TICKS}()")
    due = f.load(I64, V(PTR, "@next"))
    with f.when(f.icmp("slt", f.sub(now, due), zero(64))):
        f.ret(zero())
    f.ret(f.call("signals", I32, [now]))


def _write_host(made: Module) -> None:
    f = made.function("graphify_host", I32, [(I64, "site"), (PTR, "words")])
    arguments = f.alloca(PTR, 2)
    state = f.call("PyGILState_Ensure", I32, [])
    numbers = [
        f.call("PyLong_FromLongLong", PTR, [f.args["site"]]),
        f.call("PyLong_FromVoidPtr", PTR, [f.args["words"]]),
    ]
    for index, number in enumerate(numbers):
        f.store(number, f.at(arguments, PTR, index))
    handler = made.external("graphify_host_handler")
    count, none = V(I64, "2"), V(PTR, "null")
    result = f.call("PyObject_Vectorcall", PTR, [handler, arguments, count, none])
    for number in numbers:
        f.call("Py_DecRef", VOID, [number])
    failed = f.icmp("eq", result, none)
    with f.when(f.not_(failed)):
        f.call("Py_DecRef", VOID, [result])
    f.call("PyGILState_Release", VOID, [state])
    f.ret(f.convert("sext", failed, I32))


def _write_unlock(made: Module) -> None:
    f = made.function("graphify_unlock", VOID, [(PTR, "held")])
    held, none = f.args["held"], V(PTR, "null")
    state = f.call("PyGILState_Ensure", I32, [])
    pending = [f.alloca(PTR) for _ in range(3)]
    f.call("PyErr_Fetch", VOID, pending)
    result = f.call("PyObject_Vectorcall", PTR, [held, f.alloca(PTR), zero(64), none])
    failed = f.icmp("eq", result, none)
    with f.when(failed):
        f.call("PyErr_WriteUnraisable", VOID, [held])
    with f.when(f.not_(failed)):
        f.call("Py_DecRef", VOID, [result])
    f.call("Py_DecRef", VOID, [held])
    f.call("PyErr_Restore", VOID, [f.load(PTR, place) for place in pending])
    f.call("PyGILState_Release", VOID, [state])
    f.ret()


def _write_release(made: Module) -> None:
    f: Function = made.function("graphify_release", VOID, [(PTR, "capsule")])
    block = f.call("PyCapsule_GetPointer", PTR, [f.args["capsule"], V(PTR, "null")])
    f.call("graphify_free", VOID, [block])
    f.ret()


def _in_child() -> None:
    _main_thread.value = threading.main_thread().ident or 0


symbols.define("graphify_main_thread", ctypes.addressof(_main_thread), alive=_main_thread)
library.provide(NAMES, module)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
