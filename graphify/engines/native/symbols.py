"""Names that native code may use without defining them, and where in memory each one is.

    define("graphify_host", address)
    address("memcpy")                     # the C library's

A symbol is found, in this order, among those defined here, those a library module promised
(`promise`), and those of the C library and libm.
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
        _ask_for_promises()  # outside of the lock: it imports
    with lock:  # of two threads that ask at once, one makes it and the other waits
        if name not in _addresses and name in _promises:
            _promises[name]()
    return _addresses.get(name) or _of_c_library(name)


def _ask_for_promises() -> None:
    """Import what promises symbols: machine code of an earlier process may ask for one before
    anything is lowered here."""
    importlib.import_module("graphify.engines.native.lower")
    importlib.import_module("graphify.engines.native.translate.program")
    lapack = importlib.import_module("graphify.engines.native.lapack")
    if lapack.available():
        for routine in lapack.ROUTINES:
            lapack.symbol(routine)


@functools.cache
def _c_libraries() -> list[ctypes.CDLL]:
    """The libraries that make up C's run time."""
    if sys.platform == "win32":
        return [ctypes.CDLL("msvcrt")]
    from ctypes import util  # it takes long to import

    names = [None, util.find_library("m")]  # None: whatever the process has loaded
    return [ctypes.CDLL(name) for name in dict.fromkeys(names)]


@functools.cache
def _of_c_library(name: str) -> int | None:
    for library in _c_libraries():
        try:
            return ctypes.cast(getattr(library, name), ctypes.c_void_p).value
        except AttributeError:
            continue
    return None
