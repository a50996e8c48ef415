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
    f_strides,
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

    @property
    def order(self) -> tuple[int, ...] | None:
        """The axes in the order of memory, the one it runs along last; None if that is not clear.

        A view that leaves out elements still has an order, one that repeats or joins axes has none.
        """
        along: list[int] = []
        places = self.axes[::-1] if _in_fortran_order(self.buffer) else self.axes
        for place in places:
            if len(place.terms) > 1 or any(axis in along for axis, _ in place.terms):
                return None
            along += [axis for axis, _ in place.terms]
        units = [a for a, d in enumerate(self.shape) if d == ONE and a not in along]
        order = (*units, *along)
        return order if sorted(order) == list(range(len(self.shape))) else None

    @property
    def covers(self) -> bool:
        """Whether it has every element of the buffer once, in whatever order of axes."""
        axes = [place.terms[0][0] for place in self.axes if place.terms]
        if sorted(axes) != list(range(len(self.shape))) or len(axes) != self.buffer.ndim:
            return False
        return self.remap_back(axes).is_whole

    def remap_back(self, axes: Sequence[int]) -> Lens:
        """The view with its axes in the order of the buffer's."""
        inner = [affine((axes.index(a), ONE)) for a in range(len(axes))]
        return self.remap(tuple(self.shape[a] for a in axes), inner)

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


def _in_fortran_order(buffer: Buffer) -> bool:
    return buffer.strides is not None and buffer.strides == f_strides(buffer.shape)


def in_order(buffer: Buffer, order: Sequence[int]) -> Lens:
    """A buffer seen with its axes permuted: `order[k]` is the view's axis for axis k."""
    shape = tuple(buffer.shape[order.index(a)] for a in range(len(order)))
    return Lens(buffer, shape, tuple(affine((a, ONE)) for a in order))


def whole(buffer: Buffer) -> Lens:
    """A buffer as it is."""
    return Lens(buffer, buffer.shape, identity(buffer.ndim))
