"""Descriptions of quick calls in memory, for the entry point.

A table: the Python function for all other calls; how many entries follow; their addresses.

An entry is a block of words, laid out by `ENTRY_WORDS`; what it points to are rows of words:
names of keywords, containers to open (`OPENED_WORDS`), inputs and checks (a read's words and what
is to be found there), results (`RESULT_WORDS`).
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np

from graphify.engines.native.entry import capi
from graphify.engines.native.entry.python_call import Runner
from graphify.engines.native.entry.room import ABSENT, Input, Opened, Quick, Read, Same, Word
from graphify.ir.sizes import SizeVar
from graphify.ir.types import Spec

MOST_ENTRIES = 16  # of one function: tried in order at each call
MOST_MADE = 64  # in a function's life: replaced ones stay in memory, a call may be in them
MOST_VALUES = 64  # parameters, results, size variables
MOST_WORDS = 384  # of inputs, and of outputs
MOST_THINGS = 192  # arguments and elements of containers among them

ENTRY_WORDS = (
    "count",  # positional arguments
    "names",  # keyword arguments
    "name_rows",
    "opened",
    "opened_rows",
    "variables",  # of size
    "arguments",  # how many of the inputs are arguments: the first ones
    "inputs",  # how many, and the address of their rows
    "input_rows",
    "checks",
    "check_rows",
    "results",
    "result_rows",
    "outputs",  # leaves of the function's result: how many, and which results
    "output_rows",
    "structure",  # see STRUCTURES, FINISHED and WITH_INPUTS
    "finish",
    "run",
    "shapes",  # 0: no sizes to find out
    "ask",  # 0, or what says whether the trace holds
    "failure",  # 0, or what makes the exception where the graph must not run again
    "output_words",  # how many, and what stands in them before a call
    "output_start",
)
READ_WORDS = ("kind", "holder", "key")
INPUT_WORDS = (*READ_WORDS, "number", "type", "dtype", "ndim", "flags", "shift", "dims")
OPENED_WORDS = (*READ_WORDS, "type", "sort", "count", "key_rows")
CHECK_WORDS = (*READ_WORDS, "number", "type", "expected", "value", "imaginary")
RESULT_WORDS = ("number", "dtype", "ndim", "itemsize", "first")

KINDS = {"argument": 0, "fixed": 1, "item": 2, "word": 3, "element": 4}
STRUCTURES: dict[Any, int] = {None: 0, tuple: 1, list: 2}
FINISHED = 3  # what `finish` makes of a list of the leaves
WITH_INPUTS = 4  # the same, of the leaves and the arguments
NUMBERS: dict[Any, int] = {float: 1, int: 2, complex: 3}  # 0: an array
SORTS = (tuple, list, dict)


class Entry:
    """The words of one trace, and all that they refer to, kept alive."""

    def __init__(self, runner: Runner, quick: Quick) -> None:
        self.quick, self.runner = quick, runner
        self._alive: list[Any] = [quick, runner]
        variables: dict[SizeVar, int] = {}
        inputs = [
            self._input(input, spec, input.in_order or index in runner.in_order, variables)
            for index, (input, spec) in enumerate(zip(quick.inputs, runner.params, strict=True))
        ]
        checks = [self._check(same) for same in quick.same]
        numbers = [NUMBERS.get(quick.numbers.get(i), 0) for i in range(len(runner.results))]
        results = [
            [number, self._dtype(spec), spec.ndim, spec.dtype.itemsize, first]
            for spec, first, number in zip(
                runner.results, runner.layout.result_at, numbers, strict=True
            )
        ]
        arguments = sum(input.read.kind == "argument" for input in quick.inputs)
        start = runner.layout.outputs()
        self.words = self._rows(
            [
                [
                    quick.count,
                    len(quick.names),
                    self._rows([[id(name) for name in quick.names]]),
                    len(quick.opened),
                    self._rows([self._opened(each) for each in quick.opened]),
                    len(variables),
                    arguments,
                    len(inputs),
                    self._rows(inputs),
                    len(checks),
                    self._rows(checks),
                    len(results),
                    self._rows(results),
                    len(quick.outputs),
                    self._rows([list(quick.outputs)]),
                    WITH_INPUTS if quick.with_inputs else STRUCTURES.get(quick.structure, FINISHED),
                    id(quick.structure),
                    runner.run_address,
                    runner.shapes_address,
                    id(quick.ask) if quick.ask is not None else 0,
                    self._failure(runner),
                    len(start),
                    self._rows([start]),
                ]
            ]
        )

    def _rows(self, rows: Sequence[Sequence[int]]) -> int:
        """The address of rows of words."""
        words = array("q", [word for row in rows for word in row] or [0])
        self._alive.append(words)
        return words.buffer_info()[0]

    def _dtype(self, spec: Spec) -> int:
        """The address of the dtype object that arrays usually have, one for all."""
        dtype = np.dtype(spec.dtype.type)
        self._alive.append(dtype)
        return id(dtype)

    def _failure(self, runner: Runner) -> int:
        if not runner.effects:
            return 0
        self._alive.append(runner.failure)
        return id(self._alive[-1])

    def _check(self, same: Same) -> list[int]:
        """An object, or an equal number: what stands in memory may be no object at all."""
        expected, sort, value = same.expected, 0, (0, 0)
        if same.read.kind != "word":
            sort, value = _number_words(expected)
        address = _address(expected)
        return [*_read(same.read), sort, id(type(expected)), address, *value]

    def _opened(self, opened: Opened) -> list[int]:
        sort = next(i for i, kind in enumerate(SORTS) if issubclass(opened.kind, kind))
        keys = self._rows([[id(key) for key in opened.keys]])
        return [*_read(opened.read), id(opened.kind), sort, opened.count, keys]

    def _input(
        self, input: Input, spec: Spec, in_order: bool, variables: dict[SizeVar, int]
    ) -> list[int]:
        dims: list[int] = []
        for dim in spec.shape:
            if isinstance(dim, int):
                dims.append(dim)
            else:
                variable = dim.as_variable()
                assert variable is not None  # `fits` has seen to it
                dims.append(-1 - variables.setdefault(variable, len(variables)))
        flags = capi.ALIGNED | (capi.C_ORDER if in_order else 0)
        shift = spec.dtype.itemsize.bit_length() - 1
        return [
            *_read(input.read),
            _number(input.kind, spec),
            id(input.kind),
            self._dtype(spec),
            spec.ndim,
            flags,
            shift,
            self._rows([dims]),
        ]


def _address(expected: Any) -> int:
    if isinstance(expected, Word):
        return expected.value
    return 0 if expected is ABSENT else id(expected)


def _number_words(thing: Any) -> tuple[int, tuple[int, int]]:
    """Which number something is, if any, and its value as words."""
    sort = NUMBERS.get(type(thing), 0)
    if not sort or isinstance(thing, int):
        return (sort, (thing, 0)) if sort and -(1 << 63) <= thing < 1 << 63 else (0, (0, 0))
    real, imag = struct.unpack("2q", struct.pack("2d", thing.real, thing.imag))
    return sort, (real, 0 if sort == NUMBERS[float] else imag)


def _read(read: Read) -> list[int]:
    kind = KINDS[read.kind]
    match read.kind:
        case "argument" | "element":
            return [kind, 0, read.key]
        case "fixed":
            return [kind, id(read.holder), 0]
        case "item":
            return [kind, id(read.holder), id(read.key)]
        case _:
            return [kind, 0, read.key]


def _number(kind: type, spec: Spec) -> int:
    """How a number is read; 0: an array. NumPy's scalars lie in memory as floats or complex do."""
    if issubclass(kind, np.generic):
        return NUMBERS[float if spec.dtype.itemsize <= 8 else complex]
    return NUMBERS.get(kind, 0)


def fits(runner: Runner, quick: Quick) -> bool:
    """Whether the entry point can serve a trace at all."""
    variables = {d for spec in runner.params for d in spec.shape if not isinstance(d, int)}
    sizes = (len(runner.params), len(runner.results), len(variables))
    things = quick.count + len(quick.names) + sum(each.count for each in quick.opened)
    return (
        max(sizes) <= MOST_VALUES
        and things <= MOST_THINGS
        and max(runner.layout.input_words, runner.layout.output_words) <= MOST_WORDS
        and all(variable.as_variable() is not None for variable in variables)
        and sorted(quick.outputs) == list(range(len(runner.results)))
    )


class Table:
    """The entries of one function, newest first."""

    def __init__(self, slow: Any) -> None:
        self._slow = slow
        self._entries: list[Entry] = []
        self._alive: list[Any] = []  # a running call may be in any of them

    def add(self, entry: Entry) -> int | None:
        """The address of the table with another entry; None if there were enough."""
        if len(self._alive) >= MOST_MADE:
            return None
        self._entries = [entry, *self._entries][:MOST_ENTRIES]
        words = array("q", [id(self._slow), len(self._entries), *(e.words for e in self._entries)])
        self._alive.append((entry, words))
        return words.buffer_info()[0]
