"""Reductions in vector loops: accumulators in lanes, and what becomes of them at the end.

Float sums are taken in blocks: each lane adds some sixteen terms in the dtype itself, then adds
them to a wider lane (double; for double a pair, see cells.py). That is no slower than plain sums
and more accurate than NumPy's, whose pairwise sums add sixteen terms per lane as well and then only
halve the number of terms with each rounding.
"""

from __future__ import annotations

import numpy as np

from graphify.engines.native.elements.cast import cast
from graphify.engines.native.elements.element import Element, constant, select, splat
from graphify.engines.native.elements.memory import shuffle
from graphify.engines.native.llvm import Function, V
from graphify.engines.native.loops.program import Var
from graphify.engines.native.translate import cells
from graphify.engines.native.translate.cells import Cell
from graphify.engines.native.translate.scalars import operate
from graphify.engines.native.translate.statements import combine
from graphify.engines.native.translate.writer import Writer
from graphify.ir.types import DType, is_complex, is_inexact

IDEMPOTENT = frozenset(
    ["maximum", "minimum", "fmax", "fmin", "logical_and", "logical_or", "bitwise_and", "bitwise_or"]
)
NEUTRAL = {"add": 0, "multiply": 1, "bitwise_xor": 0, "logical_xor": 0}
OPS = IDEMPOTENT | set(NEUTRAL)


class Accumulator:
    """The lanes that one variable is reduced in.

    Attributes:
        wide: what float sums are added to between blocks.
    """

    def __init__(self, w: Writer, var: Var, op: str, lanes: int, copies: int) -> None:
        self.w, self.f, self.op, self.lanes = w, w.f, op, lanes
        found = w.values[var]
        assert isinstance(found, Cell)
        self.target = found
        self.is_sum = op == "add" and is_inexact(var.dtype)
        self.dtype = _summed_in(var.dtype) if self.is_sum else var.dtype
        start = self._start(var.dtype)
        self.cells = [cells.plain(w.f, self.dtype, lanes) for _ in range(copies)]
        for cell in self.cells:
            cell.write(w.f, start)
        self.start = start
        self.wide = cells.wide(w.f, self.dtype, lanes) if self.is_sum else None
        if self.wide is not None:
            self.wide.write(w.f, start)

    def _start(self, dtype: DType) -> Element:
        """What changes nothing: the variable itself, or the operation's neutral number."""
        if self.op in IDEMPOTENT:
            return splat(self.f, self.target.read(self.f), self.lanes)
        if self.is_sum:  # -0.0, so that a sum of negative zeros is one
            zero = complex(-0.0, -0.0) if is_complex(dtype) else -0.0
            return constant(self.f, self.dtype, zero, self.lanes)
        return constant(self.f, dtype, NEUTRAL[self.op], self.lanes)

    def take(self, x: Element, copy: int, mask: V | None) -> None:
        """Reduce one vector into the accumulator of a copy of the body."""
        f, cell = self.f, self.cells[copy]
        now = cell.read(f)
        new = operate(self.w, self.op, [now, cast(f, x, self.dtype)], self.dtype)
        if mask is not None and self.lanes > 1:
            new = select(f, mask, new, now)
        cell.write(f, new)

    def _together(self) -> Element:
        """The accumulators of all copies."""
        values = [cell.read(self.f) for cell in self.cells]
        while len(values) > 1:
            pairs = zip(values[::2], values[1::2], strict=True)
            values = [operate(self.w, self.op, [a, b], self.dtype) for a, b in pairs]
        return values[0]

    def fold(self) -> None:
        """The end of a block: move float sums to the wider ones."""
        if self.wide is None:
            return
        self.wide.add(self.f, cells.as_doubles(self.f, self._together()))
        for cell in self.cells:
            cell.write(self.f, self.start)

    def finish(self) -> None:
        """Bring the lanes together in the variable."""
        f = self.f
        if self.wide is not None:
            self.fold()
            _add_lanes(f, self.wide, self.target)
            return
        x = self._together()
        while x.lanes > 1:
            x = operate(self.w, self.op, list(halves(f, x)), self.dtype)
        if self.op in IDEMPOTENT:
            self.target.write(f, x)
        else:
            combine(self.w, self.target, self.op, x)


def _summed_in(dtype: DType) -> DType:
    """16-bit floats are summed as float32."""
    if is_complex(dtype) or dtype.itemsize > 2:
        return dtype
    return np.dtype(np.float32)


def halves(f: Function, x: Element) -> tuple[Element, Element]:
    """The lower and the upper lanes."""
    low, high = list(range(x.lanes // 2)), list(range(x.lanes // 2, x.lanes))
    return tuple(  # type: ignore[return-value]
        Element(x.dtype, tuple(_lanes(f, p, order) for p in x.parts)) for order in (low, high)
    )


def _lanes(f: Function, x: V, order: list[int]) -> V:
    if len(order) == 1:
        return f.op(x.type.of(1), f"extractelement {x}, i64 {order[0]}")
    return shuffle(f, x, x, order)


def _add_lanes(f: Function, wide: Cell, target: Cell) -> None:
    """Add what all lanes of a sum hold to the variable."""
    parts = wide.raw(f)
    while parts[0].type.lanes > 1:
        count = parts[0].type.lanes // 2
        low = [_lanes(f, p, list(range(count))) for p in parts]
        high = [_lanes(f, p, list(range(count, 2 * count))) for p in parts]
        parts = _pairwise(f, wide, low, high)
    cells.merge(f, target, parts)


def _pairwise(f: Function, wide: Cell, a: list[V], b: list[V]) -> list[V]:
    if wide.kind == "sum":
        return [f.fadd(x, y) for x, y in zip(a, b, strict=True)]
    sums: list[V] = []
    for k in range(0, len(a), 2):
        sums += cells.two_sum(f, a[k], f.fadd(a[k + 1], b[k + 1]), b[k])
    return sums
