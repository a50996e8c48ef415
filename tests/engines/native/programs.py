"""Loop-level programs for tests: run as machine code, and by a plain interpreter in Python.

    results = run(program, [x, y])            # compiled
    results = interpret(program, [x, y])      # meant

Both raise `Failure(site, words)` where the program fails.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from graphify.engines.native import jit, target
from graphify.engines.native.entry import glue, host
from graphify.engines.native.loops.program import (
    Allocate,
    Apply,
    Block,
    Buffer,
    Call,
    Checked,
    Const,
    Expr,
    Fail,
    For,
    Free,
    Handle,
    If,
    Let,
    Literal,
    Load,
    Note,
    Param,
    Point,
    Program,
    Reduce,
    Result,
    Set,
    Store,
    Swap,
    Var,
    View,
    While,
    strides_of,
)
from graphify.engines.native.translate import translate
from graphify.ir.op import REGISTRY

assert glue and host  # they provide what programs call

WORDS = 8


class Failure(Exception):
    """A failure site was reached."""

    def __init__(self, site: int, words: Sequence[int]) -> None:
        super().__init__(site, list(words))
        self.site, self.words = site, list(words)


def aligned(shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
    """Zeros in memory that starts a cache line."""
    size = int(np.prod(shape)) * dtype.itemsize
    room = np.zeros(size + 64, np.uint8)
    first = -room.ctypes.data % 64
    return room[first : first + size].view(dtype).reshape(shape)


class Compiled:
    """A program as machine code."""

    def __init__(self, program: Program, opt: Any = "light", **symbols: int) -> None:
        self.program = program
        self.text = translate(program, target.host()).text()
        self.code = jit.compile(self.text, ["shapes", "run"], opt=opt, symbols=symbols)
        kind = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)
        self.shapes, self.run = (kind(self.code.address(n)) for n in ("shapes", "run"))

    def words(self, arrays: Sequence[np.ndarray]) -> tuple[Any, Any, list[np.ndarray]]:
        """The words of a call, and the results that its caller allocates."""
        inputs: list[int] = []
        for a in arrays:
            inputs += [a.ctypes.data, *a.shape, *(s // a.itemsize for s in a.strides)]
        given = (ctypes.c_int64 * max(1, len(inputs)))(*inputs)
        count = sum(1 + r.ndim for r in self.program.results) + WORDS
        outputs = (ctypes.c_int64 * count)()
        self._raise(self.shapes(given, outputs), outputs)
        results, word = [], 0
        for r in self.program.results:
            dims = list(outputs[word + 1 : word + 1 + r.ndim])
            result = aligned([max(d, 0) for d in dims], r.dtype)
            outputs[word] = 0 if any(d < 0 for d in dims) else result.ctypes.data
            results.append(result)
            word += 1 + r.ndim
        return given, outputs, results

    def _raise(self, status: int, outputs: Any) -> None:
        if status:
            raise Failure(status, outputs[len(outputs) - WORDS :])

    def __call__(self, *arrays: np.ndarray) -> list[np.ndarray]:
        given, outputs, results = self.words(arrays)
        self._raise(self.run(given, outputs), outputs)
        word = 0
        for k, r in enumerate(self.program.results):
            dims = tuple(outputs[word + 1 : word + 1 + r.ndim])
            if outputs[word] != results[k].ctypes.data:
                size = int(np.prod(dims)) * r.dtype.itemsize
                data = ctypes.string_at(outputs[word], size)
                results[k] = np.frombuffer(data, r.dtype).reshape(dims).copy()
                from graphify.engines.native import memory

                memory.free(outputs[word])
            word += 1 + r.ndim
        return results


def run(program: Program, arrays: Sequence[np.ndarray], **options: Any) -> list[np.ndarray]:
    return Compiled(program, **options)(*arrays)


# --- the interpreter ------------------------------------------------------------------------------


def interpret(program: Program, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    """What a program means."""
    state = _State()
    with np.errstate(all="ignore"):
        for buffer, array in zip(program.params, arrays, strict=True):
            state.enter(buffer, array)
        state.block(program.sizes)
        for buffer, dims in zip(program.results, program.dims, strict=True):
            if dims is not None:
                shape = [int(state.value(d)) for d in dims]
                state.memory[buffer] = np.zeros(int(np.prod(shape)), buffer.dtype)
        state.block(program.body)
        return [
            state.memory[b][: int(np.prod(s))].reshape(s)
            for b in program.results
            for s in [[int(state.value(d)) for d in b.shape]]
        ]


class _State:
    def __init__(self) -> None:
        self.values: dict[Var, Any] = {}
        self.memory: dict[Buffer, np.ndarray] = {}
        self.first: dict[Buffer, int] = {}  # where the first element of a parameter lies

    def enter(self, buffer: Buffer, array: np.ndarray) -> None:
        if buffer.strides is None:
            self.memory[buffer] = np.ascontiguousarray(array).reshape(-1)
        else:
            span = array
            while span.base is not None:
                span = span.base
            first = (array.ctypes.data - span.ctypes.data) // array.itemsize
            self.memory[buffer] = span.reshape(-1)
            self.first[buffer] = first
            for var, stride in zip(buffer.strides, array.strides, strict=True):
                if isinstance(var, Var):
                    self.values[var] = np.int64(stride // array.itemsize)
        for var, dim in zip(buffer.shape, array.shape, strict=True):
            if isinstance(var, Var):
                self.values[var] = np.int64(dim)

    def value(self, expr: Expr) -> Any:
        match expr:
            case Const(value, dtype):
                return np.asarray(value).astype(dtype)[()]
            case Var():
                return self.values[expr]
            case Load(buffer, index):
                memory, at = self.place(buffer, index)
                return memory[at]
            case Apply("where", (c, a, b)):
                return self.value(a if self.value(c) else b)
            case Apply("cast", (x,), dtype):
                return np.asarray(self.value(x)).astype(dtype)[()]
            case Apply(op, args, dtype):
                result = REGISTRY[op].eval(*(self.value(a) for a in args))
                return np.asarray(result).astype(dtype)[()]
        raise TypeError(expr)

    def place(self, buffer: Buffer, index: Sequence[Expr]) -> tuple[np.ndarray, int]:
        at = 0
        for i, stride in zip(index, strides_of(buffer), strict=True):
            at += int(self.value(i)) * int(self.value(stride))
        while isinstance(buffer.home, View):
            at += int(self.value(buffer.home.offset))
            buffer = buffer.home.base
        if isinstance(buffer.home, Literal):
            return np.ascontiguousarray(buffer.home.array).reshape(-1), at
        return self.memory[buffer], at + self.first.get(buffer, 0)

    def block(self, block: Block) -> None:
        for stmt in block:
            self.statement(stmt)

    def statement(self, stmt: Any) -> None:
        match stmt:
            case Let(var, value) | Set(var, value):
                self.values[var] = self.value(value)
            case Store(buffer, index, value):
                memory, at = self.place(buffer, index)
                memory[at] = self.value(value)
            case Reduce(var, op, value):
                new = REGISTRY[op].eval(self.values[var], self.value(value))
                self.values[var] = np.asarray(new).astype(var.dtype)[()]
            case For(var, extent, body):
                for i in range(int(self.value(extent))):
                    self.values[var] = np.int64(i)
                    self.block(body)
            case While(test, condition, body):
                self.block(test)
                while self.value(condition):
                    self.block(body)
                    self.block(test)
            case If(condition, then, orelse):
                self.block(then if self.value(condition) else orelse)
            case Allocate(buffer):
                size = int(np.prod([int(self.value(d)) for d in buffer.shape]))
                self.memory[buffer] = np.zeros(size, buffer.dtype)
            case Free(buffer):
                self.memory.pop(buffer, None)
            case Point(handle, target):
                memory, at = self.place(target, [Const(0, np.dtype(np.int64))] * target.ndim)
                self.memory[handle] = memory[at:]
            case Swap(a, b):
                self.memory[a], self.memory[b] = self.memory[b], self.memory[a]
            case Fail(condition, site, values):
                if self.value(condition):
                    raise Failure(site, [int(self.value(v)) for v in values])
            case Note():
                pass
            case _:
                raise TypeError(stmt)


__all__ = ["Call", "Checked", "Compiled", "Handle", "Param", "Result", "interpret", "run"]
