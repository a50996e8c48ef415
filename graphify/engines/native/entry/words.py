"""Arguments and results of compiled graphs as 64-bit words, and arrays on memory of our own.

Inputs, for each parameter: address of the data, dims, strides in elements.
Outputs, for each result: address of the data, dims; then the words of a failure (sites.py).

    layout = Layout(params, results)
    inputs = layout.inputs([x, y])        # array('q', ...)
"""

from __future__ import annotations

import ctypes
import functools
import math
from array import array
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from graphify.engines.native import library, memory
from graphify.engines.native.entry import capi, glue, sites
from graphify.ir.types import Spec

Array: TypeAlias = np.ndarray[Any, Any]
Words: TypeAlias = "array[int]"

# Results of so many bytes get recycled memory: below it, malloc does as well.
LARGE = 1 << 20


class Layout:
    """Where each parameter and result has its words.

    Attributes:
        result_at: for each result, the index of its address among the words of the outputs.
        failure_at: the index of the first word of a failure.
    """

    def __init__(self, params: Sequence[Spec], results: Sequence[Spec]) -> None:
        self.params, self.results = tuple(params), tuple(results)
        self.result_at, self.failure_at = [], 0
        for spec in results:
            self.result_at.append(self.failure_at)
            self.failure_at += 1 + spec.ndim
        self.output_words = self.failure_at + sites.WORDS
        self.input_words = sum(1 + 2 * spec.ndim for spec in params)
        self._blank = array("q", [0] * self.output_words)
        for at, spec in zip(self.result_at, results, strict=True):
            for axis, dim in enumerate(spec.shape):
                self._blank[at + 1 + axis] = dim if isinstance(dim, int) else -1

    def inputs(self, arrays: Sequence[Array]) -> Words:
        """The words of arrays that `plain` has seen."""
        words: list[int] = []
        for a in arrays:
            size = a.itemsize
            words.append(address_of(a))
            words += a.shape
            words += [stride // size for stride in a.strides]
        return array("q", words)

    def outputs(self) -> Words:
        """Words for the results: dims that are known beforehand, -1 for the others."""
        return self._blank[:]

    def dims(self, outputs: Words, index: int) -> tuple[int, ...]:
        """The dims of a result as they stand in the words; -1: not known yet."""
        first = self.result_at[index] + 1
        return tuple(outputs[first : first + self.results[index].ndim])


def address_of(a: Array) -> int:
    """Where the data of an array is."""
    if capi.understood():
        return capi.word(id(a) + capi.ARRAY_DATA)
    return a.ctypes.data  # some ten times slower


def plain(a: Array, in_order: bool) -> Array:
    """The array, or a copy that machine code can walk: aligned, steps of whole elements.

    Args:
        in_order: the graph was compiled for C order.
    """
    if in_order and not a.flags.c_contiguous or not a.flags.aligned:
        return np.array(a, order="C")
    if any(stride % a.itemsize for stride in a.strides):
        return np.array(a, order="C")
    return a


# --- arrays on memory of our own ------------------------------------------------------------------


def new_array(dims: Sequence[int], dtype: np.dtype[Any]) -> Array:
    """An array to be filled; a large one lies in recycled memory."""
    size = math.prod(dims) * dtype.itemsize
    if size < LARGE:
        return np.empty(dims, dtype)
    block = memory.allocate(size)
    if not block:
        return np.empty(dims, dtype)  # it knows what to raise
    return on_block(block, dims, dtype)


def on_block(block: int, dims: Sequence[int], dtype: np.dtype[Any]) -> Array:
    """An array on a block of `graphify_allocate`; the block is freed with it."""
    make, set_base, capsule = _array_functions()
    shape = array("q", dims or (0,))
    owner = capsule(block, None, library.need("graphify_release"))
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(dtype))  # the array takes a reference over
    address, _ = shape.buffer_info()
    made: Array = make(np.ndarray, dtype, len(dims), address, None, block, capi.CARRAY, None)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(owner))
    set_base(made, owner)
    return made


@functools.cache
def _array_functions() -> tuple[Any, Any, Any]:
    """PyArray_NewFromDescr, PyArray_SetBaseObject, PyCapsule_New."""
    thing, pointer, number = ctypes.py_object, ctypes.c_void_p, ctypes.c_int
    table = capi.numpy_table()
    make = ctypes.PYFUNCTYPE(
        thing, thing, thing, number, pointer, pointer, pointer, number, pointer
    )(table[capi.NUMPY_FUNCTIONS["PyArray_NewFromDescr"]])
    set_base = ctypes.PYFUNCTYPE(number, thing, thing)(
        table[capi.NUMPY_FUNCTIONS["PyArray_SetBaseObject"]]
    )
    capsule = ctypes.PYFUNCTYPE(thing, pointer, ctypes.c_char_p, pointer)(
        ("PyCapsule_New", ctypes.pythonapi)
    )
    return make, set_base, capsule


def view_of(address: int, dims: Sequence[int], strides: Sequence[int], dtype: Any) -> Array:
    """An array on foreign memory, valid as long as that is. `strides` in elements."""
    make, _, _ = _array_functions()
    shape = array("q", dims or (0,))
    steps = array("q", [stride * dtype.itemsize for stride in strides] or (0,))
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(dtype))
    where = (shape.buffer_info()[0], steps.buffer_info()[0], address)
    made: Array = make(np.ndarray, dtype, len(dims), *where, capi.CARRAY, None)
    return made


assert glue.NAMES  # provides graphify_release
