"""Reductions of the windows of an axis: the places of a window one after the other, in registers.

for o in size:
    for c in n:                                 # a short window is written out: lanes over c
        total = 0
        total += x[o * s, c]     if o * s < length
        total += x[o * s + 1, c] if o * s + 1 < length
        y[o, c] = total
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from graphify.engines.native.loops.numbers import identity_of, zero
from graphify.engines.native.loops.program import (
    BOOL,
    INDEX,
    ZERO,
    Apply,
    Const,
    Expr,
    Set,
    compare,
    index,
    minus,
    plus,
    select,
    times,
)
from graphify.engines.native.lower.arrays import ArrayValue, Index
from graphify.engines.native.lower.checks import both, either
from graphify.engines.native.lower.effects import negated
from graphify.engines.native.lower.elementwise import cast
from graphify.engines.native.lower.lowering import Lowering, rule
from graphify.errors import ShapeError
from graphify.ir.graph import Node, Value
from graphify.ir.types import DType, is_inexact

FLOAT32 = np.dtype(np.float32)
_UNROLLED = 12  # places of a window that is written out

State = Sequence[Expr]
Place = Callable[[Expr], tuple[Expr, Expr]]  # k -> where in the operand, and whether that exists


def fold(low: Lowering, state: State, count: int, step: Callable[[State, Expr], State]) -> State:
    """`state = step(state, k)` for k = 0, 1, ..., written out if they are few."""
    if count <= _UNROLLED:
        for number in range(count):
            state = [low.let(part) for part in step(state, index(number))]
        return state
    cells = [low.variable("state", part) for part in state]
    with low.loop(index(count), "k", "serial") as k:
        after = [low.let(part) for part in step([low.let(c) for c in cells], k)]
        for cell, part in zip(cells, after, strict=True):
            low.emit(Set(cell, part))
    return cells


class Windows:
    """The windows of a node's axis."""

    def __init__(self, low: Lowering, node: Node) -> None:
        attrs = node.attrs
        self.low, self.node, self.axis = low, node, attrs["axis"]
        self.array: ArrayValue = low.array(node.inputs[0])
        self.length, self.size = self.array.shape[self.axis], low.dim(attrs["size"])
        self.window, self.stride = attrs["window"], index(attrs["stride"])
        self.dilation, self.padding = index(attrs["dilation"]), low.dim(attrs["padding"])
        text = f"window of {self.window}: it does not fit into an axis of length {{}}"
        low.fail(compare("less", self.size, ZERO), ShapeError, text, self.length)

    @property
    def shape(self) -> Index:
        shape, axis = self.array.shape, self.axis
        computed = (*shape[:axis], self.size, *shape[axis + 1 :])
        return self.low.dims(self.node.specs[0].shape, computed)

    def places(self, o: Expr) -> Place:
        """Of window number o."""
        start = self.low.let(minus(times(o, self.stride), self.padding), "start")

        def place(k: Expr) -> tuple[Expr, Expr]:
            at = self.low.let(plus(start, times(k, self.dilation)), "at")
            return at, self._inside(at, self.length)

        return place

    def sources(self, p: Expr) -> Place:
        """The windows that place p of the result belongs to, as its k-th."""
        first = self.low.let(plus(p, self.padding), "first")

        def source(k: Expr) -> tuple[Expr, Expr]:
            distance = self.low.let(minus(first, times(k, self.dilation)), "distance")
            if self.stride == index(1):
                return distance, self._inside(distance, self.length)
            o = self.low.let(Apply("floor_divide", (distance, self.stride), INDEX), "o")
            exact = compare("equal", times(o, self.stride), distance)
            return o, both(exact, self._inside(o, self.length))

        return source

    def _inside(self, at: Expr, length: Expr) -> Expr:
        if isinstance(at, Const) and isinstance(length, Const):
            return Const(0 <= at.value < length.value, BOOL)
        return both(compare("greater_equal", at, ZERO), compare("less", at, length))

    def number(self, index_: Index, at: Expr) -> Expr:
        return self.array.at((*index_[: self.axis], at, *index_[self.axis + 1 :]))

    def none_is_outside(self) -> None:
        """An extreme of a window that has no place in the operand is an error."""
        low = self.low
        with low.loop(self.size, "o", "serial") as o:
            place = self.places(o)
            (found,) = fold(
                low, [Const(False, BOOL)], self.window, lambda s, k: [either(s[0], place(k)[1])]
            )
            text = "window_max: a window lies outside the operand altogether"
            low.fail(negated(found), ShapeError, text)


def _sums(low: Lowering, node: Node, windows: Windows, of: Callable[[Expr], Place]) -> None:
    dtype = node.specs[0].dtype
    wide = FLOAT32 if is_inexact(dtype) and dtype.itemsize == 2 else dtype

    def total(at: Index) -> Expr:
        place = of(at[windows.axis])

        def step(state: State, k: Expr) -> State:
            where, exists = place(k)
            x = cast(select(exists, windows.number(at, where), zero(dtype)), wide)
            return [Apply("add", (state[0], x), wide)]

        return cast(fold(low, [zero(wide)], windows.window, step)[0], dtype)

    low.fill(Value(node), windows.shape, total)


@rule("window_sum")
def _window_sum(low: Lowering, node: Node) -> None:
    windows = Windows(low, node)
    _sums(low, node, windows, windows.places)


@rule("window_spread")
def _window_spread(low: Lowering, node: Node) -> None:
    windows = Windows(low, node)
    _sums(low, node, windows, windows.sources)


@rule("window_max")
def _window_max(low: Lowering, node: Node) -> None:
    windows, dtype = Windows(low, node), node.specs[0].dtype
    windows.none_is_outside()

    def largest(at: Index) -> Expr:
        place = windows.places(at[windows.axis])

        def step(state: State, k: Expr) -> State:
            where, exists = place(k)
            x = select(exists, windows.number(at, where), identity_of("maximum", dtype))
            return [Apply("maximum", (state[0], x), dtype)]

        return fold(low, [identity_of("maximum", dtype)], windows.window, step)[0]

    low.fill(Value(node), windows.shape, largest)


@rule("window_argmax")
def _window_argmax(low: Lowering, node: Node) -> None:
    windows, dtype = Windows(low, node), node.inputs[0].spec.dtype
    windows.none_is_outside()
    start = [identity_of("maximum", dtype), ZERO, Const(False, BOOL)]

    def first_place(at: Index) -> Expr:
        place = windows.places(at[windows.axis])

        def step(state: State, k: Expr) -> State:
            best, best_at, found = state
            where, exists = place(k)
            x = low.let(select(exists, windows.number(at, where), start[0]), "x")
            wins = low.let(both(exists, either(negated(found), _better(x, best, dtype))), "wins")
            return [select(wins, x, best), select(wins, where, best_at), either(found, exists)]

        return fold(low, start, windows.window, step)[1]

    low.fill(Value(node), windows.shape, first_place)


def _better(x: Expr, best: Expr, dtype: DType) -> Expr:
    """NaN is the greatest."""
    greater = compare("greater", x, best)
    if not is_inexact(dtype):
        return greater
    new, old = (Apply("isnan", (y,), BOOL) for y in (x, best))
    return either(greater, both(new, negated(old)))
