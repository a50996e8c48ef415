"""Calling a compiled graph by way of Python.

    runner = Runner(code, [Spec((n, 3), float32)], [Spec((n,), float32)], sites)
    [y] = runner([x])

What machine code cannot do with Python objects alone (vectorcall.py), it leaves to this.
"""

from __future__ import annotations

import ctypes
import functools
from array import array
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from graphify.engines.native import library, memory
from graphify.engines.native.entry import host
from graphify.engines.native.entry.room import Quick
from graphify.engines.native.entry.sites import CanFail
from graphify.engines.native.entry.words import (
    Array,
    Layout,
    Words,
    address_of,
    new_array,
    on_block,
    plain,
)
from graphify.engines.native.jit import Code
from graphify.errors import InternalError
from graphify.ir.sizes import SizeVar
from graphify.ir.types import Spec
from graphify.tracing.tracebacks import show

# A call that touches so many bytes lets other Python threads run meanwhile. Shorter ones that loop
# let them in by `graphify_poll`.
RELEASE_BYTES = 1 << 18


class Runner:
    """A compiled graph as a function of arrays.

    Args:
        code: defines `run`, and `shapes` if the shape of a result follows from those of parameters
            (see the package's docstring for both).
        params, results: their specs; sizes may be symbolic.
        sites: what can fail. Number n of the machine code is sites[n - 1].
        names: of the parameters, for messages.
        in_order: positions of parameters that the code takes to be in C order.
        hosts: Python functions the code calls, kept alive here.
        effects: whether a call does more than give results.
    """

    def __init__(
        self,
        code: Code,
        params: Sequence[Spec],
        results: Sequence[Spec],
        sites: Sequence[CanFail] = (),
        *,
        names: Sequence[Any] = (),
        in_order: Collection[int] = (),
        hosts: Sequence[host.HostSite] = (),
        effects: bool = False,
    ) -> None:
        self.code, self.sites, self.effects = code, sites, effects
        self.params, self.results = tuple(params), tuple(results)
        self.names = tuple(names) or tuple(range(len(self.params)))
        self.in_order = frozenset(in_order)
        self.layout = Layout(params, results)
        self._hosts = tuple(hosts)
        self.run_address = code.address("run")
        self.shapes_address = code.address("shapes") if self.needs_shapes else 0
        self._shapes = _function(self.shapes_address) if self.shapes_address else None

    @property
    def needs_shapes(self) -> bool:
        """Whether anything about sizes is known only when the arguments are."""
        return not all(spec.is_static for spec in (*self.params, *self.results))

    def __call__(self, args: Sequence[Any]) -> list[Array]:
        """Run on arrays, one per parameter.

        Raises:
            TypeError, ValueError: arrays that do not fit the parameters.
            What the graph raises.
        """
        arrays = [np.asarray(arg) for arg in args]
        self._check(arrays)
        arrays = [plain(a, i in self.in_order) for i, a in enumerate(arrays)]
        inputs, outputs = self.layout.inputs(arrays), self.layout.outputs()
        if self._shapes is not None:
            self._finish(self._shapes(inputs.buffer_info()[0], outputs.buffer_info()[0]), outputs)
        given = self._allocate(outputs)
        bytes_touched = sum(a.nbytes for a in (*arrays, *given.values()))
        try:
            status = _enter()(
                self.run_address,
                inputs.buffer_info()[0],
                outputs.buffer_info()[0],
                bytes_touched >= RELEASE_BYTES,
            )
            self._finish(status, outputs)
        except BaseException:
            self._drop(outputs, given)
            raise
        return [
            given[i] if i in given else self._taken_over(i, outputs)
            for i in range(len(self.results))
        ]

    def quick(self, function: Any, description: Quick, compile: bool) -> bool:
        """Serve calls of a function straight from machine code, see vectorcall.py."""
        from graphify.engines.native.entry import vectorcall  # it imports this file

        return vectorcall.install(function, self, description, compile)

    def _check(self, arrays: Sequence[Array]) -> None:
        """Refuse arrays that do not fit the parameters."""
        if len(arrays) != len(self.params):
            raise TypeError(
                f"expected {len(self.params)} arrays, one per parameter, got {len(arrays)}"
            )
        sizes: dict[SizeVar, int] = {}
        for name, spec, a in zip(self.names, self.params, arrays, strict=True):
            if a.dtype != spec.dtype:
                raise TypeError(f"argument {name!r}: expected dtype {spec.dtype}, got {a.dtype}")
            if a.shape != spec.shape and not _fits(a.shape, spec, sizes):
                raise ValueError(f"argument {name!r}: expected shape {spec}, got {a.shape}")

    def _allocate(self, outputs: Words) -> dict[int, Array]:
        """Arrays for the results whose dims are known, their addresses put into the words."""
        given = {}
        for index, at in enumerate(self.layout.result_at):
            dims = self.layout.dims(outputs, index)
            if -1 in dims:
                continue
            given[index] = new_array(dims, self.results[index].dtype)
            outputs[at] = address_of(given[index])
        return given

    def _taken_over(self, index: int, outputs: Words) -> Array:
        """The array of a result that the graph allocated."""
        block, dims = outputs[self.layout.result_at[index]], self.layout.dims(outputs, index)
        if not block or min(dims, default=0) < 0:
            raise InternalError(f"native code {self.code.name} gave no result {index}")
        return on_block(block, dims, self.results[index].dtype)

    def _drop(self, outputs: Words, given: Collection[int]) -> None:
        """Free what the graph allocated before it failed."""
        for index, at in enumerate(self.layout.result_at):
            if index not in given and outputs[at]:
                memory.free(outputs[at])

    def failure(self, status: int, address: int) -> BaseException:
        """The exception for a status, from the words of the results, as the user is to see it:
        machine code raises it from here."""
        words = (ctypes.c_int64 * self.layout.output_words).from_address(address)
        error = self._error(status, array("q", words))
        show(error)
        return error

    def _finish(self, status: int, outputs: Words) -> None:
        """Raise what a status says."""
        if status:
            raise self._error(status, outputs)

    def _error(self, status: int, outputs: Words) -> BaseException:
        if status == len(self.sites) + 1:  # what translated code says where it gets no block
            return MemoryError("no memory for what is computed in between")
        if not 0 < status <= len(self.sites):
            return InternalError(f"native code {self.code.name} ended with status {status}")
        return self.sites[status - 1].error(outputs[self.layout.failure_at :])


def _fits(shape: tuple[int, ...], spec: Spec, sizes: dict[SizeVar, int]) -> bool:
    """Whether a shape is one of a spec's; `sizes` collects what its variables are."""
    if len(shape) != spec.ndim:
        return False
    for dim, length in zip(spec.shape, shape, strict=True):
        if isinstance(dim, int):
            known: int = dim
        else:
            variable = dim.as_variable()
            known = length if variable is None else sizes.setdefault(variable, length)
        if known != length:
            return False
    return True


@functools.cache
def _enter() -> Any:
    """`graphify_enter`; an exception that is pending afterwards is raised."""
    pointer, number = ctypes.c_void_p, ctypes.c_int32
    return ctypes.PYFUNCTYPE(number, pointer, pointer, pointer, number)(
        library.need("graphify_enter")
    )


def _function(address: int) -> Any:
    return ctypes.PYFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)(address)
