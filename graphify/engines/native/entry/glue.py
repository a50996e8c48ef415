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
there. Only threads that Python knows may call `graphify_host`, never the pool's. enter.py writes
the code.
"""

from __future__ import annotations

import ctypes
import os
import threading
from typing import TYPE_CHECKING

from graphify.engines.native import library, symbols

if TYPE_CHECKING:
    from graphify.engines.native.llvm import Module

NAMES = ("graphify_enter", "graphify_poll", "graphify_host", "graphify_unlock", "graphify_release")

_main_thread = ctypes.c_uint64(threading.main_thread().ident or 0)


def _module() -> Module:
    from graphify.engines.native.entry import enter

    return enter.module()


def _in_child() -> None:
    _main_thread.value = threading.main_thread().ident or 0


symbols.define("graphify_main_thread", ctypes.addressof(_main_thread), alive=_main_thread)
library.provide(NAMES, _module)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
