"""Running a loop-level program in Python, statement by statement: slow, and what it means.

    results = interpret(program, [x, y])
    results = interpret(program, [x, y], order=reversed)      # of turns said to be independent

Fresh memory is filled with a pattern, so that what is read before it is written shows. Passes on
programs, and the translation to LLVM, are tested against this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from graphify.engines.native.loops import program as p
from graphify.engines.native.loops.program import Buffer, Expr, Program, Var
from graphify.engines.native.loops.walk import parts
from graphify.ir.op import REGISTRY

Array = np.ndarray[Any, Any]
Order = Callable[[range], Iterable[int]]


class Failed(Exception):
    """The program left at a failure site."""

    def __init__(self, site: int, values: tuple[Any, ...]) -> None:
        super().__init__(site, values)
        self.site, self.values = site, values


def interpret(program: Program, args: Sequence[Array], order: Order = iter) -> list[Array]:
    """The results of a program for arguments in C order (or of any strides it has variables for).

    Args:
        order: in which the turns of loops are run that may run in any order.

    Raises:
        Failed: a check did not hold. What the Python functions raise that the program calls.
    """
    run = _Run(program, order)
    for buffer, arg in zip(program.params, args, strict=True):
        run.bind(buffer, arg)
    run.block(program.sizes)
    for buffer, dims in zip(program.results, program.dims, strict=True):
        if dims is not None:
            run.memory[buffer] = _fresh(tuple(int(run.value(d)) for d in dims), buffer)
    run.block(program.body)
    return [run.array(buffer) for buffer in program.results]


def _fresh(shape: tuple[int, ...], buffer: Buffer) -> Array:
    """Memory that nobody has written to: its bytes are odd ones."""
    array = np.empty(shape, buffer.dtype)
    array.reshape(-1).view(np.uint8)[...] = 0x5B if buffer.dtype.kind != "b" else 1
    return array


class _Run:
    """Variables and memory of one run."""

    def __init__(self, program: Program, order: Order) -> None:
        self.program, self.order = program, order
        self.variables: dict[Var, Any] = {}
        self.memory: dict[Buffer, Array] = {}  # of roots

    def bind(self, buffer: Buffer, arg: Array) -> None:
        """An argument, with the variables of its shape and strides."""
        self.memory[buffer] = arg
        for dim, length in zip(buffer.shape, arg.shape, strict=True):
            if isinstance(dim, Var):
                self.variables[dim] = np.int64(length)
        for stride, step in zip(buffer.strides or (), arg.strides, strict=False):
            if isinstance(stride, Var):
                self.variables[stride] = np.int64(step // arg.itemsize)

    # --- memory ---------------------------------------------------------------------------------

    def array(self, buffer: Buffer) -> Array:
        """A buffer as a NumPy array that shares its memory."""
        if isinstance(buffer.home, p.Literal):
            return buffer.home.array.reshape(self.shape(buffer))
        if not isinstance(buffer.home, p.View):
            return self.memory[buffer]
        base = self.array(buffer.home.base)
        if base.dtype != buffer.dtype:
            base = base.reshape(-1).view(buffer.dtype)
        strides = [int(self.value(s)) * base.itemsize for s in p.strides_of(buffer)]
        start = int(self.value(buffer.home.offset))
        flat = np.lib.stride_tricks.as_strided(base, (1 << 40,), (base.itemsize,))
        shape = self.shape(buffer) if self.is_known(buffer.shape) else (1 << 30,) * buffer.ndim
        return np.lib.stride_tricks.as_strided(flat[start:], shape, strides)

    def is_known(self, shape: Sequence[Expr]) -> bool:
        """Whether there are the variables of a shape: who writes addresses needs strides only."""
        variables = (v for dim in shape for v in parts(dim) if isinstance(v, Var))
        return all(v in self.variables for v in variables)

    def shape(self, buffer: Buffer) -> tuple[int, ...]:
        return tuple(int(self.value(d)) for d in buffer.shape)

    def at(self, buffer: Buffer, index: Sequence[Expr]) -> tuple[Array, tuple[int, ...]]:
        place = tuple(int(self.value(i)) for i in index)
        array = self.array(buffer)
        for k, length in zip(place, array.shape, strict=True):
            assert 0 <= k < length, f"{buffer.name}{place}: out of range of {array.shape}"
        return array, place

    # --- expressions ----------------------------------------------------------------------------

    def value(self, expr: Expr) -> Any:
        match expr:
            case p.Const(number, dtype):
                return np.asarray(number, dtype)[()]
            case Var():
                return self.variables[expr]
            case p.Load(buffer, index):
                array, place = self.at(buffer, index)
                return array[place]
            case p.Apply("where", (condition, yes, no)):  # a side may be out of range
                return self.value(yes if self.value(condition) else no)
            case p.Apply(op, args, dtype):
                with np.errstate(all="ignore"):
                    values = [np.asarray(self.value(a)) for a in args]
                    attrs = {"dtype": dtype} if op == "cast" else {}
                    meaning = REGISTRY[op].eval
                    assert meaning is not None
                    return np.asarray(meaning(*values, **attrs)).astype(dtype)[()]
        raise TypeError(f"not an expression: {expr!r}")

    # --- statements -----------------------------------------------------------------------------

    def block(self, block: p.Block) -> None:
        for stmt in block:
            self.statement(stmt)

    def statement(self, stmt: p.Stmt) -> None:
        match stmt:
            case p.Let(var, value) | p.Set(var, value):
                self.variables[var] = self.value(value)
            case p.Checked():
                self.checked(stmt)
            case p.Store(buffer, index, value):
                result = self.value(value)
                array, place = self.at(buffer, index)
                array[place] = result
            case p.Reduce(var, op, value):
                self.variables[var] = self.value(p.Apply(op, (var, value), var.dtype))
            case p.For(var, extent, body, kind):
                turns = range(int(self.value(extent)))
                for i in turns if kind == "serial" else self.order(turns):
                    self.variables[var] = np.int64(i)
                    self.block(body)
            case p.While(test, condition, body):
                self.block(test)
                while self.value(condition):
                    self.block(body)
                    self.block(test)
            case p.If(condition, then, orelse):
                self.block(then if self.value(condition) else orelse)
            case p.Sections(parts):
                for k in self.order(range(len(parts))):
                    self.statement(parts[k])
            case p.Section(body):
                self.block(body)
            case p.Allocate(buffer):
                self.memory[buffer] = _fresh(self.shape(buffer), buffer)
            case p.Free(buffer):
                self.memory.pop(buffer, None)
            case p.Point(handle, target):
                self.memory[handle] = self.array(target)
            case p.Swap(a, b):
                self.memory[a], self.memory[b] = self.memory[b], self.memory[a]
            case p.Fail(condition, site, values):
                if self.value(condition):
                    raise Failed(site, tuple(self.value(v) for v in values))
            case p.Call():
                self.call(stmt)
            case p.Note():
                pass

    def checked(self, stmt: p.Checked) -> None:
        args = [np.asarray(self.value(a)) for a in stmt.args]
        meaning = REGISTRY[stmt.op].meaning(True)
        assert meaning is not None
        try:
            with np.errstate(all="ignore"):
                result = np.asarray(meaning(*args))[()]
        except (ArithmeticError, ValueError) as error:
            if stmt.when is None or self.value(stmt.when):
                raise Failed(stmt.site, tuple(args)) from error
            result = np.zeros((), stmt.var.dtype)[()]
        self.variables[stmt.var] = result

    def call(self, call: p.Call) -> None:
        inputs = [self.array(b) for b in call.inputs]
        if call.function == "matmul":
            self.array(call.outputs[0])[...] = np.matmul(*inputs)
        elif call.function == "copy":
            self.array(call.outputs[0])[...] = inputs[0]
        elif call.function in ("host", "lock", "draw"):
            count = len(call.scalars) - (call.function == "draw")  # the last is for machine code
            scalars = [np.asarray(self.value(s)) for s in call.scalars[:count]]
            given = [np.array(a) for a in inputs]
            results = self.program.hosts[call.attrs["number"]].call([*given, *scalars])
            self._take(call, results)
        elif call.function == "routine":
            self._routine(call)
        elif call.function == "unlock":
            pass
        else:
            raise NotImplementedError(call.function)
        if call.body:
            for turn in np.ndindex(self.array(call.outputs[0]).shape):
                self.variables.update(zip(call.turn, map(np.int64, turn), strict=True))
                self.block(call.body)

    def _routine(self, call: p.Call) -> None:
        routine, kept = self.program.routines[call.attrs["number"]], dict(self.variables)
        values = [self.value(s) for s in call.scalars]
        self.variables.update(zip(routine.params, values, strict=True))
        self.block(routine.body)
        results = [self.variables[var] for var in routine.results]
        self.variables = {**kept, **dict(zip(call.variables, results, strict=True))}

    def _take(self, call: p.Call, results: Sequence[Any]) -> None:
        for buffer, result in zip(call.outputs, results, strict=False):
            if isinstance(buffer.home, p.Handle):
                self.memory[buffer] = np.array(result)
                for dim, length in zip(buffer.shape, result.shape, strict=True):
                    if isinstance(dim, Var):
                        self.variables[dim] = np.int64(length)
            else:
                self.array(buffer)[...] = result
        for var, result in zip(call.variables, results[len(call.outputs) :], strict=True):
            self.variables[var] = np.asarray(result)[()]
