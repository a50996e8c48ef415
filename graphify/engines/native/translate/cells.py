"""Variables that change: stack memory that LLVM turns into registers.

    cell = plain(f, dtype, lanes)
    cell.write(f, x)
    x = cell.read(f)

A `sum` cell is wider than its dtype: float sums collected in it lose less than NumPy's. Up to
float32 it holds a double; a double is held as the sum of two (Knuth's TwoSum).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphify.engines.native.elements.cast import cast
from graphify.engines.native.elements.element import Element, register_types
from graphify.engines.native.llvm import F64, PTR, Function, Type, V
from graphify.ir.types import DType, is_complex, is_inexact, real_dtype

FLOAT64 = np.dtype(np.float64)


@dataclass(frozen=True, slots=True)
class Cell:
    """A mutable variable.

    Attributes:
        types, places: of the parts in memory.
        kind: "plain"; "sum", whose parts are doubles; "exact sum", each part two of them.
    """

    dtype: DType | None
    types: tuple[Type, ...]
    places: tuple[V, ...]
    kind: str = "plain"

    def raw(self, f: Function) -> list[V]:
        """What lies in the places."""
        return [f.load(t, p) for t, p in zip(self.types, self.places, strict=True)]

    def set_raw(self, f: Function, parts: list[V]) -> None:
        for part, place in zip(parts, self.places, strict=True):
            f.store(part, place)

    def read(self, f: Function) -> Element:
        """The value, as an element of the variable's dtype."""
        assert self.dtype is not None
        parts = self.raw(f)
        if self.kind == "plain":
            return Element(self.dtype, tuple(parts))
        if self.kind == "exact sum":
            parts = [total(f, high, low) for high, low in zip(parts[::2], parts[1::2], strict=True)]
            return Element(self.dtype, tuple(parts))
        real = real_dtype(self.dtype)
        return Element(
            self.dtype, tuple(cast(f, Element(FLOAT64, (p,)), real).value for p in parts)
        )

    def write(self, f: Function, x: Element) -> None:
        if self.kind == "plain":
            self.set_raw(f, list(x.parts))
            return
        parts = as_doubles(f, x)
        if self.kind == "exact sum":
            zero = f.const(parts[0].type, 0.0)
            parts = [v for part in parts for v in (part, zero)]
        self.set_raw(f, parts)

    def add(self, f: Function, parts: list[V]) -> None:
        """Add doubles, one for each part, to a sum."""
        now = self.raw(f)
        if self.kind == "sum":
            self.set_raw(f, [f.fadd(a, b) for a, b in zip(now, parts, strict=True)])
            return
        after = []
        for high, low, x in zip(now[::2], now[1::2], parts, strict=True):
            after += two_sum(f, high, low, x)
        self.set_raw(f, after)


def plain(f: Function, dtype: DType, lanes: int = 1) -> Cell:
    types = register_types(dtype, lanes)
    return Cell(dtype, types, tuple(f.alloca(t) for t in types))


def wide(f: Function, dtype: DType, lanes: int = 1) -> Cell:
    """A cell that collects a sum of floats or complex numbers."""
    exact = real_dtype(dtype) == FLOAT64
    count = (2 if is_complex(dtype) else 1) * (2 if exact else 1)
    types = (F64.of(lanes),) * count
    return Cell(dtype, types, tuple(f.alloca(t) for t in types), "exact sum" if exact else "sum")


def pointer(f: Function) -> Cell:
    """Where the memory of a handle is."""
    return Cell(None, (PTR,), (f.alloca(PTR),))


def as_doubles(f: Function, x: Element) -> list[V]:
    """The parts of a float or complex element as doubles."""
    real = real_dtype(x.dtype)
    return [cast(f, Element(real, (p,)), FLOAT64).value for p in x.parts]


def two_sum(f: Function, high: V, low: V, x: V) -> list[V]:
    """high + low + x, as a double and what rounding took from it.

    Knuth, The Art of Computer Programming, volume 2, 4.2.2, theorem B.
    """
    s = f.fadd(high, x)
    back = f.fsub(s, high)
    lost = f.fadd(f.fsub(high, f.fsub(s, back)), f.fsub(x, back))
    return [s, f.fadd(low, lost)]


def total(f: Function, high: V, low: V) -> V:
    """high + low; `high` itself where it is infinite (`low` is NaN then) or zero of either sign."""
    both = f.fadd(high, low)
    return f.select(f.fcmp("ueq", both, high), high, both)


def merge(f: Function, cell: Cell, parts: list[V]) -> None:
    """Add to a cell what another one of its kind holds."""
    if cell.kind == "plain":
        assert cell.dtype is not None and not is_inexact(cell.dtype)
        cell.set_raw(f, [f.add(a, b) for a, b in zip(cell.raw(f), parts, strict=True)])
    elif cell.kind == "sum":
        cell.add(f, parts)
    else:
        cell.add(f, parts[::2])
        cell.add(f, [_lower(f, low) for low in parts[1::2]])


def _lower(f: Function, low: V) -> V:
    """The lower half of a sum, to be added to an upper one.

    It is NaN beside an infinite upper half, which says it all; and 0.0 must not undo a sum of -0.0.
    """
    nothing = f.fcmp("ueq", low, f.const(low.type, 0.0))
    return f.select(nothing, f.const(low.type, -0.0), low)
