"""Writes the native code around every call of a compiled graph, which glue.py describes."""

from __future__ import annotations

from graphify.engines.native.llvm import I32, I64, PTR, VOID, Function, Module, V
from graphify.engines.native.target import host

# Ticks between two looks at signals. A tick is a cycle on x86 (so some 5 ms) and that of a clock of
# 24 MHz to 1 GHz elsewhere.
_PERIOD = 20_000_000 if host().triple.startswith("x86_64") else 500_000
_TICKS = "readcyclecounter" if host().triple.startswith("x86_64") else "readsteadycounter"


def module() -> Module:
    """The functions of `glue.NAMES`."""
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
