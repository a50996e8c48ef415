"""Python functions that compiled graphs call.

    site = HostSite(function, params, results)   # keep it as long as the machine code
    site.number                                  # for graphify_host(number, words)

`words`: as the inputs of a graph for each parameter (address, dims, strides in elements), then as
the outputs for each result (address, dims). The function gets a list of arrays and gives a list of
arrays. Where the graph left an address for a result, the result is copied there and must have the
dims that stand beside it; otherwise (address 0) it gets a block of its own, which the graph frees.
"""

from __future__ import annotations

import ctypes
import itertools
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphify.engines.native import memory, symbols
from graphify.engines.native.entry import capi
from graphify.engines.native.entry.words import Array, view_of
from graphify.errors import InternalError, at
from graphify.ir.types import Spec

_numbers = itertools.count(1)
_sites: weakref.WeakValueDictionary[int, HostSite] = weakref.WeakValueDictionary()


class HostSite:
    """A Python function as a compiled graph sees it.

    Args:
        function: list of arrays (the caller's own copies) to list of arrays.
        location: the user's line, for exceptions.
    """

    def __init__(
        self,
        function: Callable[[list[Array]], Sequence[Any]],
        params: Sequence[Spec],
        results: Sequence[Spec],
        location: Any = None,
    ) -> None:
        self.function, self.params, self.results = function, tuple(params), tuple(results)
        self.location = location
        self.number = next(_numbers)
        _sites[self.number] = self

    def run(self, address: int) -> None:
        """Call the function on what the words at an address say, and fill in the results."""
        arguments = []
        for spec in self.params:
            data, *rest = _words(address, 1 + 2 * spec.ndim)
            dims, strides = rest[: spec.ndim], rest[spec.ndim :]
            # A copy: the function may keep it, and the graph reuse its memory.
            arguments.append(np.array(view_of(data, dims, strides, spec.dtype)))
            address += 8 * (1 + 2 * spec.ndim)
        try:
            results = self.function(arguments)
        except Exception as error:
            located = at(error, self.location)
            raise located from (error.__cause__ if located is error else error)
        if len(results) != len(self.results):
            raise InternalError(f"expected {len(self.results)} results, got {len(results)}")
        for spec, result in zip(self.results, results, strict=True):
            _give(address, spec, np.asarray(result))
            address += 8 * (1 + spec.ndim)


def _give(address: int, spec: Spec, result: Array) -> None:
    """Put a result where the words at an address say."""
    if result.dtype != spec.dtype or result.ndim != spec.ndim:
        raise TypeError(f"expected a result {spec}, got {result.dtype}{list(result.shape)}")
    data, *dims = _words(address, 1 + spec.ndim)
    if data:
        if tuple(dims) != result.shape:
            raise ValueError(f"expected a result of shape {tuple(dims)}, got {result.shape}")
        view_of(data, dims, _steps(dims), spec.dtype)[...] = result
        return
    block = memory.allocate(result.nbytes)
    if not block:
        raise MemoryError(f"a result of {result.nbytes} bytes")
    view_of(block, result.shape, _steps(result.shape), spec.dtype)[...] = result
    for index, word in enumerate((block, *result.shape)):
        capi.set_word(address + 8 * index, word)


def _steps(dims: Sequence[int]) -> list[int]:
    """Strides of C order, in elements."""
    return [int(np.prod(dims[axis + 1 :], dtype=np.int64)) for axis in range(len(dims))]


def _words(address: int, count: int) -> list[int]:
    return list((ctypes.c_int64 * count).from_address(address))


def _handler(number: int, address: int) -> None:
    """What `graphify_host` calls."""
    site = _sites.get(number)
    if site is None:
        raise InternalError(f"native code called the host site {number}, which is gone")
    site.run(address)


symbols.define("graphify_host_handler", id(_handler), alive=_handler)
