"""Where CPython's and NumPy's functions and fields are in memory, as far as native code uses them.

    if understood(): ...                  # the layouts are the ones known here
    symbols.address("PyArray_NewFromDescr")

The layout of objects is read off sample objects and compared; where anything differs (another
implementation, a free-threaded build, a later version), native code leaves objects alone and calls
go by way of Python.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import struct
import sys
import sysconfig
from typing import Any

import numpy as np

from graphify.engines.native import symbols

# Functions of CPython that native code calls by name.
FUNCTIONS = (
    "PyCapsule_GetPointer",
    "PyCapsule_New",
    "PyComplex_FromDoubles",
    "PyContextVar_Get",
    "PyDict_GetItemWithError",
    "PyDict_Next",
    "PyDict_Size",
    "PyErr_CheckSignals",
    "PyErr_Clear",
    "PyErr_ExceptionMatches",
    "PyErr_Fetch",
    "PyErr_Occurred",
    "PyErr_Restore",
    "PyErr_SetObject",
    "PyErr_WriteUnraisable",
    "PyEval_RestoreThread",
    "PyEval_SaveThread",
    "PyGILState_Check",
    "PyGILState_Ensure",
    "PyGILState_Release",
    "PyFloat_FromDouble",
    "PyList_GetItem",
    "PyList_New",
    "PyList_SetItem",
    "PyList_Size",
    "PyLong_AsLongLongAndOverflow",
    "PyLong_FromLongLong",
    "PyLong_FromVoidPtr",
    "PyObject_Vectorcall",
    "PyThread_get_thread_ident",
    "PyTuple_GetItem",
    "PyTuple_New",
    "PyTuple_SetItem",
    "PyTuple_Size",
    "PyType_GenericAlloc",
    "PyUnicode_Compare",
    "Py_DecRef",
    "Py_IncRef",
)
# Position of a function in NumPy's table of exported functions, part of its binary interface.
NUMPY_FUNCTIONS = {"PyArray_NewFromDescr": 94, "PyArray_SetBaseObject": 282}

# Fields of an object, and of an array.
OBJECT_TYPE = 8
ARRAY_DATA, ARRAY_NDIM, ARRAY_DIMS, ARRAY_STRIDES = 16, 24, 32, 40
ARRAY_DESCR, ARRAY_FLAGS = 56, 64
C_ORDER, ALIGNED, CARRAY = 0x1, 0x100, 0x501

FLOAT_VALUE, COMPLEX_VALUE = 16, 16

# Fields of a type.
TYPE_BASICSIZE, TYPE_VECTORCALL_OFFSET, TYPE_FLAGS = 32, 56, 168
HAVE_VECTORCALL = 1 << 11
METHOD_DESCRIPTOR = 1 << 17  # o.f(x) may be run as type(o).f(o, x), without binding


def word(address: int) -> int:
    """The 64-bit word at an address."""
    return ctypes.c_int64.from_address(address).value


def set_word(address: int, value: int) -> None:
    ctypes.c_int64.from_address(address).value = value


@functools.cache
def numpy_table() -> Any:
    """NumPy's exported functions."""
    core: Any = importlib.import_module("numpy._core._multiarray_umath")
    get = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi)
    )
    address = get(core._ARRAY_API, None)
    return ctypes.cast(address or 0, ctypes.POINTER(ctypes.c_void_p))


def _define(name: str) -> None:
    """Make a function known to native code by its name."""
    if name in NUMPY_FUNCTIONS:
        symbols.define(name, numpy_table()[NUMPY_FUNCTIONS[name]])
    else:
        function = getattr(ctypes.pythonapi, name)
        symbols.define(name, ctypes.cast(function, ctypes.c_void_p).value or 0)


for _name in (*FUNCTIONS, *NUMPY_FUNCTIONS):
    symbols.promise(_name, functools.partial(_define, _name))


def is_cpython() -> bool:
    """Whether this is CPython with a global lock, of 64 bits."""
    free_threaded = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
    return sys.implementation.name == "cpython" and not free_threaded and struct.calcsize("P") == 8


@functools.cache
def understood() -> bool:
    """Whether objects, arrays and types are laid out as the constants above say."""
    return is_cpython() and _objects_fit() and _arrays_fit() and _types_fit()


_HALF = 0.5


def _objects_fit() -> bool:
    thing = object()
    half = ctypes.c_double.from_address(id(_HALF) + FLOAT_VALUE).value
    number = complex(1, _HALF)
    pair = [ctypes.c_double.from_address(id(number) + COMPLEX_VALUE + at).value for at in (0, 8)]
    right = word(id(thing) + OBJECT_TYPE) == id(object) and (half, pair) == (_HALF, [1, _HALF])
    return object.__basicsize__ == 16 and right


def scalar_fits(scalar: Any) -> bool:
    """Whether a NumPy scalar keeps its value where a Python number does."""
    data = np.asarray(scalar).tobytes()
    if scalar.nbytes > 16 or type(scalar).__basicsize__ < FLOAT_VALUE + scalar.nbytes:
        return False
    return ctypes.string_at(id(scalar) + FLOAT_VALUE, len(data)) == data


def _arrays_fit() -> bool:
    if numpy_table()[2] != id(np.ndarray) or np.ndarray.__basicsize__ < ARRAY_FLAGS + 4:
        return False
    whole = np.arange(30, dtype=np.float32).reshape(5, 6)
    return all(map(_array_fits, (whole, whole[::2, 1::3], whole.T, np.zeros(()))))


def _array_fits(array: Any) -> bool:
    at = id(array)
    count = ctypes.c_int32.from_address(at + ARRAY_NDIM).value
    flags = ctypes.c_int32.from_address(at + ARRAY_FLAGS).value
    if count != array.ndim or word(at + ARRAY_DESCR) != id(array.dtype):
        return False
    dims, strides = word(at + ARRAY_DIMS), word(at + ARRAY_STRIDES)
    return (
        word(at + ARRAY_DATA) == array.ctypes.data
        and tuple(word(dims + 8 * i) for i in range(count)) == array.shape
        and tuple(word(strides + 8 * i) for i in range(count)) == array.strides
        and bool(flags & C_ORDER) == bool(array.flags.c_contiguous)
        and bool(flags & ALIGNED) == bool(array.flags.aligned)
    )


def _types_fit() -> bool:
    kinds = (type(_types_fit), type(len), type("Sample", (), {"__slots__": ("a",)}))
    for kind in kinds:
        if word(id(kind) + TYPE_BASICSIZE) != kind.__basicsize__:
            return False
        if word(id(kind) + TYPE_FLAGS) & 0xFFFFFFFF != kind.__flags__ & 0xFFFFFFFF:
            return False
        offset = word(id(kind) + TYPE_VECTORCALL_OFFSET)
        called = bool(kind.__flags__ & HAVE_VECTORCALL)
        if called != (16 <= offset < kind.__basicsize__):
            return False
    return True


def slot_offset(kind: type, name: str) -> int:
    """Where instances of a class keep a slot."""
    # A member descriptor: object, owner, name, qualified name, then the definition (name, type,
    # offset, ...).
    descriptor = kind.__dict__[name]
    definition = word(id(descriptor) + object.__basicsize__ + 24)
    return word(definition + 16)


def slots_fit(kind: type, names: tuple[str, ...], sample: Any) -> bool:
    """Whether the slots of a sample are where `slot_offset` says."""
    return all(word(id(sample) + slot_offset(kind, n)) == id(getattr(sample, n)) for n in names)


# --- fields that are found by looking -------------------------------------------------------------


@functools.cache
def function_fields() -> dict[str, int]:
    """Where a Python function keeps its code, defaults, keyword defaults and closure.

    Empty if they are not found.
    """
    captured = object()

    def sample(x: Any = captured, *, y: Any = captured) -> Any:
        return captured

    names = ("__code__", "__defaults__", "__kwdefaults__", "__closure__")
    words = [word(id(sample) + at) for at in range(0, type(sample).__basicsize__, 8)]
    wanted = {name: id(getattr(sample, name)) for name in names}
    if any(words.count(address) != 1 for address in wanted.values()):
        return {}
    return {name: 8 * words.index(address) for name, address in wanted.items()}


def cell_field(cell: Any) -> int:
    """The address of the word in which a closure's cell keeps its object (0: not found)."""
    found = word(id(cell) + 16) == id(cell.cell_contents)
    return id(cell) + 16 if found else 0


def dict_field(thing: Any) -> int:
    """The address of the word in which an object keeps its `__dict__` (0: not found)."""
    wanted = id(thing.__dict__)
    before = range(-24, 0, 8) if type(thing).__flags__ & _HEAPTYPE else range(0)
    places = [*before, *range(16, type(thing).__basicsize__, 8)]
    found = [id(thing) + at for at in places if word(id(thing) + at) == wanted]
    return found[0] if len(found) == 1 else 0


_HEAPTYPE = 1 << 9
_TYPE_VERSION = 384


def version_field(kind: type) -> int:
    """The address of the word that changes whenever a class or a base of it does (0: not found)."""
    hasattr(kind, "graphify_looks_here")  # a lookup gives the class a version
    at = id(kind) + _TYPE_VERSION
    return at if _versions_work() and word(at) & 0xFFFFFFFF else 0


@functools.cache
def _versions_work() -> bool:
    """Whether the word is where it is taken to be: it changes with a class, and not otherwise."""
    kind: Any = type("Sample", (), {})
    at, seen = id(kind) + _TYPE_VERSION, []
    for value in (1, 2):
        kind.attribute = value
        for _ in range(2):
            hasattr(kind, "attribute")
            seen.append(word(at))
    first, again, second, last = seen
    return first == again != second == last and all(value & 0xFFFFFFFF for value in seen)
