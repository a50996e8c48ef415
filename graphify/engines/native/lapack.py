"""LAPACK's routines as symbols of native code: those that SciPy brings, found when first needed.

    symbol("dgesv")        # "graphify_lapack_dgesv", void (int *n, int *nrhs, double *a, ...)

SciPy is imported when a graph needs one, not before. Integers are 32 bits wide.

    i64 graphify_blas_threads()     how many threads a routine uses by itself
"""

from __future__ import annotations

import ctypes
import functools
import importlib
from pathlib import Path

from graphify.engines.native import library, symbols
from graphify.engines.native.llvm import I32, I64, Module, V
from graphify.errors import InternalError

_NAMES = [
    "gesv",
    "getrf",
    "potrf",
    "geqrf",
    "orgqr",
    "ungqr",
    "gesdd",
    "syevd",
    "heevd",
    "geev",
    "gelsd",
]
THREADS = "graphify_blas_threads"
_SEVERAL = 1 << 10  # threads of a library that does not say
_COUNTERS = ("scipy_openblas_get_num_threads", "openblas_get_num_threads")
ROUTINES = frozenset(letter + name for letter in "dz" for name in _NAMES)


@functools.cache
def available() -> bool:
    """Whether there is a SciPy to take them from; imports it, outside of all locks."""
    try:
        importlib.import_module("scipy.linalg.cython_lapack")
    except ImportError:
        return False
    return True


def symbol(routine: str) -> str:
    """The name that native code calls a routine by; promised, so that linking finds it."""
    if routine not in ROUTINES:
        raise InternalError(f"native code: no LAPACK routine {routine!r}")
    name = f"graphify_lapack_{routine}"
    if symbols.known(name) is None:
        symbols.promise(name, functools.partial(_define, name, routine))
    return name


def _define(name: str, routine: str) -> None:
    from scipy.linalg import cython_lapack

    capsule = cython_lapack.__pyx_capi__[routine]
    symbols.define(name, _address(capsule), alive=capsule)


def _address(capsule: object) -> int:
    api = ctypes.pythonapi
    get_name = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", api))
    get_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", api)
    )
    address = get_pointer(capsule, get_name(capsule))
    assert isinstance(address, int)
    return address


# --- threads of its own ---------------------------------------------------------------------------


def _threads(counter: str | None) -> Module:
    """Asks the library; one that does not say is taken to use several."""
    made = Module("blas")
    f = made.function(THREADS, I64, [])
    if counter is None:
        f.ret(V(I64, str(_SEVERAL)))
    else:
        f.ret(f.convert("sext", f.call(counter, I32, []), I64))
    return made


@functools.cache
def _counter() -> str | None:
    """The symbol of the function that says how many threads SciPy's OpenBLAS uses."""
    scipy = importlib.import_module("scipy")
    home = Path(scipy.__file__ or "").parent
    for path in (*home.parent.glob("scipy.libs/*openblas*"), *home.glob(".dylibs/*openblas*")):
        loaded = ctypes.CDLL(str(path))
        for name in _COUNTERS:
            if hasattr(loaded, name):
                address = ctypes.cast(getattr(loaded, name), ctypes.c_void_p).value
                assert address is not None
                symbols.define(name, address, alive=loaded)
                return name
    return None


library.provide(THREADS, _threads, lambda: (_counter(),))
