"""Calls of functions outside the program: a table from their names to how they are called.

    "matmul"    graphify_matmul_<dtype>: a product of matrices, or of stacks of them, any strides;
                the call's body is done for each tile as soon as it is finished
    "copy"      an array into another of the same shape: memcpy where both are in C order
    "host"      a Python function; attrs["number"] is its number among the program's hosts

The number that the process knows a host function by is read from the table `graphify_hosts`, an
external symbol that whoever links the module provides: i64 words, one per host of the program. The
words of a host call are as entry/host.py has them: for each array, then each scalar (as an array
without axes): address, dims, strides; for each output, then each variable: address, dims.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from graphify.engines.native.elements.element import Element
from graphify.engines.native.elements.memory import load, store
from graphify.engines.native.llvm import I8, I32, I64, PTR, VOID, V
from graphify.engines.native.loops.program import (
    INDEX,
    Apply,
    Buffer,
    Call,
    Expr,
    For,
    Handle,
    Let,
    Load,
    Store,
    Var,
    index,
    minus,
    plus,
    times,
)
from graphify.engines.native.loops.walk import substitute
from graphify.engines.native.products.interface import matmul_names
from graphify.engines.native.translate import addresses, memory, outline
from graphify.engines.native.translate.cells import Cell
from graphify.engines.native.translate.scalars import scalar
from graphify.engines.native.translate.statements import RULES, block, rule
from graphify.engines.native.translate.writer import NULL, PENDING, Writer, number

FUNCTIONS: dict[str, Callable[[Writer, Call], None]] = {}
ELEMENT = 16  # bytes that hold any scalar

Writing = Callable[[Writer, Call], None]


def function(name: str) -> Callable[[Writing], Writing]:
    """Register how a function is called."""

    def register(writing: Writing) -> Writing:
        FUNCTIONS[name] = writing
        return writing

    return register


@rule(Call)
def _call(w: Writer, stmt: Call) -> None:
    FUNCTIONS[stmt.function](w, stmt)


# --- products -------------------------------------------------------------------------------------


@function("matmul")
def _matmul(w: Writer, stmt: Call) -> None:
    """Of two matrices, or of two stacks of them with one leading axis."""
    (c,), (a, b) = stmt.outputs, stmt.inputs
    single, batched = matmul_names(c.dtype.name)
    args, batches = [], [addresses.value(w, c.shape[0])]
    for matrix in (a, b, c):
        strides = [addresses.value(w, s) for s in w.strides(matrix)]
        args += [addresses.base(w, matrix), *strides[-2:]]
        batches += strides[:-2]
    args += [addresses.value(w, n) for n in (c.shape[-2], c.shape[-1], a.shape[-1])]
    args += epilogue(w, stmt)
    if c.ndim == 3:
        status = w.f.call(batched, I32, [*batches, *args])
    else:
        status = w.f.call(single, I32, args)
    w.leave_if(w.f.icmp("ne", status, V(I32, "0")), V(I32, str(PENDING)))


def epilogue(w: Writer, stmt: Call) -> tuple[V, V]:
    """A function for the tiles of a product, and the context that it is called with.

    The product is seen as a matrix: its columns are the last axis, its rows the others.
    """
    if not stmt.body:
        return NULL, NULL
    found = outline.needs(stmt.body, stmt.outputs[0].shape)
    found.declared.update(stmt.turn)
    context = outline.context_for(w, found)
    base = w.f.alloca(I64, context.size + 1)
    outline.fill(w, outline.Words(w.f, base), context)
    words = ("c_row", "c_col", "first_row", "first_col", "rows", "cols")
    params = [(PTR, "context"), (PTR, "tile"), *((I64, word) for word in words)]
    f = w.unit.module.function(w.unit.name("epilogue"), VOID, params, "internal")
    inner = outline.inner_writer(w, f)
    outline.empty(inner, outline.Words(f, f.args["context"]), context)
    first, count, turn = ([Var(f"{name}{k}", INDEX) for k in (0, 1)] for name in "fnt")
    for k, axis in enumerate(("row", "col")):
        inner.define(first[k], Element(INDEX, (f.args[f"first_{axis}"],)))
        inner.define(count[k], Element(INDEX, (f.args[f"{axis}s"],)))
    row, column = (plus(first[k], turn[k]) for k in (0, 1))
    *leading, last = stmt.turn
    places, lets = _unflattened(row, leading, stmt.outputs[0].shape[:-1])
    body = substitute(stmt.body, {**places, last: column})
    columns = For(turn[1], count[1], body, "vector")
    block(inner, (For(turn[0], count[0], (*lets, columns)),))
    f.br(inner.home.exit)
    f.start(inner.home.exit)
    f.ret()
    return V(PTR, f"@{f.name}"), base


def _unflattened(
    row: Expr, turn: Sequence[Var], shape: Sequence[Expr]
) -> tuple[dict[Var, Expr], list[Let]]:
    """The indices of the leading axes, from the number of the row: statements that find them."""
    if len(turn) == 1:
        return {turn[0]: row}, []
    places: dict[Var, Expr] = {}
    lets = []
    for var, length in zip(reversed(turn), reversed(shape), strict=True):
        rest, place = Var("row", INDEX), Var(var.name, INDEX)
        lets += [
            Let(rest, Apply("floor_divide", (row, length), INDEX)),
            Let(place, minus(row, times(rest, length))),
        ]
        places[var], row = place, rest
    return places, lets


# --- copies ---------------------------------------------------------------------------------------


@function("copy")
def _copy(w: Writer, stmt: Call) -> None:
    (target,), (source,) = stmt.outputs, stmt.inputs
    if target.strides is None and source.strides is None:
        total: Expr = index(target.dtype.itemsize)
        for dim in target.shape:
            total = times(total, dim)
        args = [addresses.base(w, target), addresses.base(w, source), addresses.value(w, total)]
        w.f.call("memmove", PTR, args)
        return
    at = tuple(Var(f"c{axis}", INDEX) for axis in range(target.ndim))
    loop: Store | For = Store(target, at, Load(source, at))
    for axis in reversed(range(target.ndim)):
        kind = "vector" if axis == target.ndim - 1 else "serial"
        loop = For(at[axis], target.shape[axis], (loop,), kind)
    RULES[type(loop)](w, loop)


# --- Python ---------------------------------------------------------------------------------------


@function("host")
def _host(w: Writer, stmt: Call) -> None:
    f = w.f
    words = _Words(w, stmt)
    for buffer in stmt.inputs:
        words.array(buffer, strides=True)
    for expr in stmt.scalars:
        words.scalar(scalar(w, expr))
    given = []
    for buffer in stmt.outputs:
        given.append(words.array(buffer, strides=False))
    slots = [words.scalar(_cell(w, var).read(f)) for var in stmt.variables]
    table = f.module.external("graphify_hosts")
    site = f.load(I64, f.at(table, I64, stmt.attrs["number"]))
    status = f.call("graphify_host", I32, [site, words.base])
    w.leave_if(f.icmp("ne", status, V(I32, "0")), V(I32, "-1"))
    for buffer, word in zip(stmt.outputs, given, strict=True):
        if isinstance(buffer.home, Handle):
            _take(w, buffer, words, word)
    for var, place in zip(stmt.variables, slots, strict=True):
        _cell(w, var).write(f, load(f, var.dtype, place, 1))


def _take(w: Writer, handle: Buffer, words: _Words, word: int) -> None:
    """The block that the function made, and its shape."""
    f = w.f
    f.call(memory.FREE, VOID, [f.load(PTR, memory.slot(w, handle))])
    memory.own(w, handle, f.load(PTR, f.at(words.base, I64, word)))
    for axis, dim in enumerate(handle.shape):
        if isinstance(dim, Var) and dim.mutable:
            length = f.load(I64, f.at(words.base, I64, word + 1 + axis))
            _cell(w, dim).write(f, Element(INDEX, (length,)))


def _cell(w: Writer, var: Var) -> Cell:
    cell = w.values[var]
    assert isinstance(cell, Cell), var.name
    return cell


class _Words:
    """The words of one call, and memory for its scalars, on the stack."""

    def __init__(self, w: Writer, stmt: Call) -> None:
        self.w, self.count = w, 0
        scalars = len(stmt.scalars) + len(stmt.variables)
        total = sum(1 + 2 * b.ndim for b in stmt.inputs) + scalars
        total += sum(1 + b.ndim for b in stmt.outputs)
        self.base = w.f.alloca(I64, max(1, total))
        self.elements = w.f.alloca(I8, max(1, scalars) * ELEMENT)
        self.used = 0

    def put(self, values: Sequence[V]) -> int:
        first = self.count
        for value in values:
            self.w.f.store(value, self.w.f.at(self.base, I64, self.count))
            self.count += 1
        return first

    def array(self, buffer: Buffer, strides: bool) -> int:
        w = self.w
        made = isinstance(buffer.home, Handle) and not strides
        values = [NULL if made else addresses.base(w, buffer)]
        values += [number(0) if made else addresses.value(w, d) for d in buffer.shape]
        if strides:
            values += [addresses.value(w, s) for s in w.strides(buffer)]
        return self.put(values)

    def scalar(self, x: Element) -> V:
        """A scalar as an array without axes; its place."""
        place = self.w.f.at(self.elements, I8, self.used * ELEMENT)
        self.used += 1
        store(self.w.f, x, place)
        self.put([place])
        return place
