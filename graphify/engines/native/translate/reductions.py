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
from graphify.engines.native.elements.rule import any_lane
from graphify.engines.native.llvm import BIT, Function, V
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
        wide: what float sums are added to between blocks, or at once if there are no blocks.
        deep: the reduction stands in an inner loop, so a block may be of any length.
    """

    def __init__(self, w: Writer, var: Var, op: str, lanes: int, copies: int, deep: bool) -> None:
        self.w, self.f, self.op, self.lanes, self.deep = w, w.f, op, lanes, deep
        found = w.values[var]
        assert isinstance(found, Cell)
        self.target = found
        is_sum = is_wide(op, var.dtype)
        self.dtype = _summed_in(var.dtype) if is_sum else var.dtype
        self.start = self._start()
        self.wide = cells.wide(w.f, self.dtype, lanes) if is_sum else None
        if self.wide is not None:
            self.wide.write(w.f, self.start)
        self.cells = [cells.plain(w.f, self.dtype, lanes) for _ in range(copies)]
        for cell in self.cells:
            cell.write(w.f, self.start)
        self.nan = _NanMasks(w.f, lanes, copies) if _is_extreme(op, var.dtype) else None

    def _start(self) -> Element:
        """What changes nothing: the variable itself, or the operation's neutral number."""
        if self.op in IDEMPOTENT:
            return splat(self.f, self.target.read(self.f), self.lanes)
        return neutral(self.f, self.op, self.dtype, self.lanes)

    def take(self, x: Element, copy: int, mask: V | None) -> None:
        """Reduce one vector into the accumulator of a copy of the body."""
        f, cell = self.f, self.cells[copy]
        x = cast(f, x, self.dtype)
        mask = mask if self.lanes > 1 else None
        if self.deep and self.wide is not None:
            if mask is not None:
                x = select(f, mask, x, self.start)
            self.wide.add(f, cells.as_doubles(f, x))
            return
        now = cell.read(f)
        if self.nan is not None:
            self.nan.take(x.value, copy, mask)
            better = f.fcmp("ogt" if self.op == "maximum" else "olt", now.value, x.value)
            new = select(f, better, now, x)
        else:
            new = operate(self.w, self.op, [now, x], self.dtype)
        cell.write(f, new if mask is None else select(f, mask, new, now))

    def _together(self) -> Element:
        """The accumulators of all copies."""
        values = [cell.read(self.f) for cell in self.cells]
        while len(values) > 1:
            pairs = zip(values[::2], values[1::2], strict=True)
            values = [operate(self.w, self.op, [a, b], self.dtype) for a, b in pairs]
        return values[0]

    def fold(self) -> None:
        """The end of a block: move float sums to the wider ones."""
        if self.wide is None or self.deep:
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
        if self.nan is not None:
            nan = constant(f, self.dtype, float("nan"), 1)
            x = select(f, self.nan.any(), nan, x)
            x = operate(self.w, self.op, [self.target.read(f), x], self.dtype)
        if self.op in IDEMPOTENT:
            self.target.write(f, x)
        else:
            combine(self.w, self.target, self.op, x)


class _NanMasks:
    """The lanes that have seen a NaN: a `maximum` that need not look for it is one instruction."""

    def __init__(self, f: Function, lanes: int, copies: int) -> None:
        self.f, self.type = f, BIT.of(lanes)
        self.places = [f.alloca(self.type) for _ in range(copies)]
        for place in self.places:
            f.store(f.const(self.type, False), place)

    def take(self, x: V, copy: int, mask: V | None) -> None:
        f, place = self.f, self.places[copy]
        here = f.fcmp("uno", x, x)
        here = here if mask is None else f.and_(here, mask)
        f.store(f.or_(f.load(self.type, place), here), place)

    def any(self) -> V:
        f = self.f
        seen = [f.load(self.type, place) for place in self.places]
        together = seen[0]
        for other in seen[1:]:
            together = f.or_(together, other)
        return any_lane(f, together)


def _is_extreme(op: str, dtype: DType) -> bool:
    return op in ("maximum", "minimum") and dtype.kind == "f" and dtype.itemsize > 2


def is_wide(op: str, dtype: DType) -> bool:
    """Whether a reduction is a sum that is taken in a wider number."""
    return op == "add" and is_inexact(dtype)


def neutral(f: Function, op: str, dtype: DType, lanes: int) -> Element:
    """The number that changes nothing; -0.0, so that a sum of negative zeros is one."""
    if is_wide(op, dtype):
        zero = complex(-0.0, -0.0) if is_complex(dtype) else -0.0
        return constant(f, dtype, zero, lanes)
    return constant(f, dtype, NEUTRAL[op], lanes)


def _summed_in(dtype: DType) -> DType:
    """16-bit floats are summed as float32."""
    if is_complex(dtype) or dtype.itemsize > 2:
        return dtype
    return np.dtype(np.float32)


def halves(f: Function, x: Element) -> tuple[Element, Element]:
    """The lower and the upper lanes."""
    low, high = list(range(x.lanes // 2)), list(range(x.lanes // 2, x.lanes))
    return _part(f, x, low), _part(f, x, high)


def _part(f: Function, x: Element, order: list[int]) -> Element:
    return Element(x.dtype, tuple(_lanes(f, p, order) for p in x.parts))


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
