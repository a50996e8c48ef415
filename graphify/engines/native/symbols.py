"""Names that native code may use without defining them, and where in memory each one is.

    define("graphify_host", address)
    address("memcpy")                     # the C library's

A symbol is found, in this order, among those defined here, those a library module promised
(`promise`), and those of the C library and libm. What promises one is imported when it is needed.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import sys
import threading
from collections.abc import Callable
from typing import Any

_addresses: dict[str, int] = {}
_alive: dict[str, Any] = {}
_promises: dict[str, Callable[[], None]] = {}
lock = threading.RLock()

# Symbols by how their names begin, and what promises them.
_PROVIDERS = {
    ("graphify_allocate", "graphify_free", "graphify_recycle", "graphify_unlock_memory"): "memory",
    ("graphify_parallel", "graphify_sections", "graphify_set_threads"): "pool",
    ("graphify_stop_threads", "graphify_forked"): "pool",
    ("graphify_matmul_", "graphify_batched_matmul_", "graphify_convolution_"): "products",
    ("graphify_sort_", "graphify_argsort_"): "sorting",
    ("graphify_large_",): "maths",
    ("graphify_legacy_",): "legacy_draws",
    ("graphify_lapack_", "graphify_blas_threads"): "lapack",
    ("graphify_vectorcall",): "entry.vectorcall",
    ("graphify_host_handler",): "entry.host",
    ("graphify_",): "entry.glue",
}


def define(name: str, address: int, alive: Any = None) -> None:
    """Say where a symbol is, for the rest of the process.

    Args:
        alive: an object that must live as long as the address is used (a ctypes callback).
    """
    with lock:
        _addresses[name] = address
        _alive[name] = alive


def promise(name: str, keep: Callable[[], None]) -> None:
    """`keep()` will `define` the symbol; called when somebody first asks for it."""
    _promises[name] = keep


def known(name: str) -> int | None:
    """The address of a symbol that is defined already."""
    return _addresses.get(name)


def address(name: str) -> int | None:
    """The address of a symbol, or None if nobody defines it."""
    found = _addresses.get(name)
    if found is not None:
        return found
    if name.startswith("graphify_") and name not in _promises:
        _import_provider(name)  # outside of the lock
    with lock:  # of two threads that ask at once, one makes it and the other waits
        if name not in _addresses and name in _promises:
            _promises[name]()
    return _addresses.get(name) or _of_c_library(name)


def _import_provider(name: str) -> None:
    """Import what promises a symbol: machine code of an earlier process may ask for one before
    anything is lowered here."""
    module = next(m for starts, m in _PROVIDERS.items() if name.startswith(starts))
    provider = importlib.import_module(f"graphify.engines.native.{module}")
    if module == "lapack" and provider.available():
        for routine in provider.ROUTINES:
            provider.symbol(routine)


@functools.cache
def _process() -> ctypes.CDLL:
    """Whatever the process has loaded, which is C's run time on most systems."""
    return ctypes.CDLL("msvcrt" if sys.platform == "win32" else None)


@functools.cache
def _libm() -> ctypes.CDLL:
    if sys.platform == "win32":
        return _process()
    from ctypes import util  # it takes long to import, and to find something

    return ctypes.CDLL(util.find_library("m"))


@functools.cache
def _of_c_library(name: str) -> int | None:
    for library in (_process, _libm):
        try:
            return ctypes.cast(getattr(library(), name), ctypes.c_void_p).value
        except AttributeError:
            continue
    return None
