"""What a graph's array values are while it is lowered: memory seen through an index map, or nothing
but a rule for the elements.

    lens = whole(buffer)                                 # element (i, j) is buffer[i, j]
    lens.remap((n,), (affine((0, step)), affine()))      # element (i,) is buffer[step * i, 0]

Views (slices, transposes, broadcasts, ...) cost nothing: they change the map, and loads are of the
buffer that owns the memory, which is what lets loops over a value and over its views be fused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from graphify.engines.native.loops.program import (
    ONE,
    ZERO,
    Buffer,
    Expr,
    Load,
    View,
    plus,
    strides_of,
    times,
)
from graphify.ir.types import DType

Index = tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Affine:
    """offset + sum(step * index[axis]): where along one axis an element lies."""

    offset: Expr
    terms: tuple[tuple[int, Expr], ...]  # (axis, step)

    def at(self, index: Index) -> Expr:
        total: Expr = self.offset
        for axis, step in self.terms:
            total = plus(total, times(index[axis], step))
        return total

    def through(self, inner: Sequence[Affine]) -> Affine:
        """The map after `inner`, which gives the old index by the new one."""
        offset, terms = self.offset, dict[int, Expr]()
        for axis, step in self.terms:
            offset = plus(offset, times(inner[axis].offset, step))
            for new, factor in inner[axis].terms:
                product = times(factor, step)
                terms[new] = plus(terms[new], product) if new in terms else product
        return Affine(offset, tuple(terms.items()))


def affine(*terms: tuple[int, Expr], offset: Expr = ZERO) -> Affine:
    return Affine(offset, terms)


def identity(rank: int) -> tuple[Affine, ...]:
    return tuple(affine((axis, ONE)) for axis in range(rank))


@dataclass(frozen=True, slots=True)
class Lens:
    """Elements of a buffer: `axes` has, for each axis of the buffer, where the element lies."""

    buffer: Buffer
    shape: tuple[Expr, ...]
    axes: tuple[Affine, ...]

    @property
    def dtype(self) -> DType:
        return self.buffer.dtype

    def index(self, index: Index) -> Index:
        """The buffer's index of an element."""
        return tuple(a.at(index) for a in self.axes)

    def at(self, index: Index) -> Expr:
        return Load(self.buffer, self.index(index))

    def remap(self, shape: tuple[Expr, ...], inner: Sequence[Affine]) -> Lens:
        """A view: `inner` gives this array's index by the view's."""
        return Lens(self.buffer, shape, tuple(a.through(inner) for a in self.axes))

    @property
    def is_whole(self) -> bool:
        """Whether it is the buffer itself, element for element."""
        return self.shape == self.buffer.shape and self.axes == identity(self.buffer.ndim)

    def strided(self) -> Buffer:
        """The same elements as a buffer: an address and strides."""
        if self.is_whole:
            return self.buffer
        offset: Expr = ZERO
        strides: dict[int, Expr] = {}
        for place, stride in zip(self.axes, strides_of(self.buffer), strict=True):
            offset = plus(offset, times(place.offset, stride))
            for axis, step in place.terms:
                product = times(step, stride)
                strides[axis] = plus(strides[axis], product) if axis in strides else product
        steps = tuple(strides.get(axis, ZERO) for axis in range(len(self.shape)))
        name = self.buffer.name
        return Buffer(name, self.dtype, self.shape, View(self.buffer, offset), steps)


@dataclass(frozen=True, slots=True)
class Delayed:
    """Elements computed from their index, cheaply and from no memory: a fill, a count."""

    dtype: DType
    shape: tuple[Expr, ...]
    at: Callable[[Index], Expr]

    def remap(self, shape: tuple[Expr, ...], inner: Sequence[Affine]) -> Delayed:
        old = self.at
        return Delayed(self.dtype, shape, lambda index: old(tuple(a.at(index) for a in inner)))


ArrayValue = Lens | Delayed


def whole(buffer: Buffer) -> Lens:
    """A buffer as it is."""
    return Lens(buffer, buffer.shape, identity(buffer.ndim))
