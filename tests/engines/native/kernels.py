"""Compiles elementwise kernels for tests: many functions in one module, called through ctypes.

kernels = Kernels("demo")
kernels.add("twice", 16, [F32], [F32], lambda f, x: [add(f, x, x)])
kernels.run("twice", x)
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphify.engines.native import jit
from graphify.engines.native.elements.element import Element
from graphify.engines.native.elements.memory import load, memory_type, store
from graphify.engines.native.llvm import I64, PTR, VOID, Function, Module, V
from graphify.engines.native.target import Target
from graphify.ir.types import DType, is_complex

PADDING = 64  # arrays are padded to a multiple of the most lanes

Body = Callable[..., Sequence[Element]]


class Kernels:
    """A module of kernels, compiled when the first one is run."""

    def __init__(self, name: str, target: Target | None = None) -> None:
        self.module = Module(name, target)
        self.signatures: dict[str, list[DType]] = {}
        self._code: Any = None

    def add(
        self, name: str, lanes: int, inputs: Sequence[DType], outputs: Sequence[DType], body: Body
    ) -> None:
        """`body(f, *elements)` gives the results of one step of `lanes` elements."""
        params = [(PTR, f"p{i}") for i in range(len(inputs) + len(outputs))]
        f = self.module.function(name, VOID, [*params, (I64, "n")])
        pointers = list(f.args.values())[:-1]
        with f.counting(V(I64, "0"), f.args["n"], lanes) as i:
            pairs = zip(pointers, inputs, strict=False)
            elements = [load(f, d, element_at(f, p, d, i), lanes) for p, d in pairs]
            results = body(f, *elements)
            for p, y, d in zip(pointers[len(inputs) :], results, outputs, strict=True):
                assert y.dtype == d, (name, y.dtype, d)
                store(f, y, element_at(f, p, d, i))
        f.ret()
        self.signatures[name] = list(outputs)

    def run(self, name: str, *arrays: Any) -> list[Any]:
        """The results of a kernel on 1-d arrays of one length."""
        if self._code is None:
            self._code = jit.compile(self.module.text(), list(self.signatures))
        count = arrays[0].size
        size = -(-count // PADDING) * PADDING
        padded = [np.concatenate([a, np.ones(size - count, a.dtype)]) for a in arrays]
        outs = [np.zeros(size, d) for d in self.signatures[name]]
        pointers = [ctypes.c_void_p(a.ctypes.data) for a in (*padded, *outs)]
        function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(pointers), ctypes.c_int64)
        function(self._code.address(name))(*pointers, size)
        return [out[:count] for out in outs]


def element_at(f: Function, pointer: V, dtype: DType, index: V) -> V:
    """The address of an element of an array."""
    type = memory_type(dtype)
    if is_complex(dtype):
        index = f.shl(index, f.const(I64, 1))
    return f.at(pointer, type, index)
