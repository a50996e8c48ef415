"""Results whose size is counted first: nonzero, repeat_indices.

    count = 0                               count = 0
    for i in n: count += x[i] != 0     ->   for i in n: count += x[i] != 0
    y = nonzero(x)                          y = allocate(count + 1)
                                            for i in n: y[at] = i; at += x[i] != 0

What is found is written without a branch, each place over the one before that was none: hence the
room for one more.
"""

from __future__ import annotations

import numpy as np

from graphify.engines.native.loops.program import (
    BOOL,
    INDEX,
    ONE,
    ZERO,
    Apply,
    Const,
    Expr,
    Reduce,
    Set,
    Store,
    compare,
    index,
    plus,
)
from graphify.engines.native.lower.arrays import Lens, affine, whole
from graphify.engines.native.lower.effects import complain
from graphify.engines.native.lower.elementwise import cast
from graphify.engines.native.lower.lowering import Declined, Lowering, rule
from graphify.ir.graph import Node, Value

FLOAT64 = np.dtype(np.float64)
_AT_ONCE = 4  # places that are written without asking how many there are
_MOST = 2.0**59  # elements; more of them than any memory holds


def first_of(lens: Lens, count: Expr) -> Lens:
    """The first elements of a line."""
    return lens.remap((count,), [affine((0, ONE))])


@rule("nonzero")
def _nonzero(low: Lowering, node: Node) -> None:
    array = low.array(node.inputs[0])
    if not array.shape:
        raise Declined
    total = low.variable("count", ZERO)
    with low.loops(array.shape, "reduce") as at:
        found = cast(cast(array.at(at), BOOL), INDEX)
        low.emit(Reduce(total, "add", found, node.source))
    count = low.let(total, "count")
    room = low.let(plus(count, ONE), "room")
    lines = [low.buffer(INDEX, (room,)) for _ in array.shape]
    place = low.variable("place", ZERO)
    with low.loops(array.shape, "serial") as at:
        here = low.let(place, "here")
        for line, position in zip(lines, at, strict=True):
            low.emit(Store(line, (here,), position, node.source))
        found = cast(cast(array.at(at), BOOL), INDEX)
        low.emit(Set(place, plus(here, found)))
    for value, line in zip(node.outputs, lines, strict=True):
        low.define(value, first_of(whole(line), count))


@rule("repeat_indices")
def _repeat_indices(low: Lowering, node: Node) -> None:
    counts = low.array(node.inputs[0])
    if len(counts.shape) != 1 or not np.can_cast(counts.dtype, INDEX, "safe"):
        raise Declined
    total, size = low.variable("count", ZERO), low.variable("size", Const(0.0, FLOAT64))
    least = low.variable("least", ZERO)
    with low.loops(counts.shape, "reduce") as (i,):
        count = low.let(cast(counts.at((i,)), INDEX), "times")
        low.emit(Reduce(total, "add", count, node.source))
        low.emit(Reduce(size, "add", cast(count, FLOAT64), node.source))
        low.emit(Reduce(least, "minimum", count, node.source))
    complain(low, node, compare("equal", least, ZERO))
    # the sum of the counts may have overflowed: NumPy writes anywhere then
    impossible = compare("greater_equal", size, Const(_MOST, FLOAT64))
    low.fail(impossible, MemoryError, "repeat: a result of {:.3g} elements", size)
    length = low.let(total, "count")
    line = low.buffer(INDEX, (low.let(plus(length, index(_AT_ONCE)), "room"),))
    start = low.variable("start", ZERO)
    with low.loops(counts.shape, "serial") as (i,):
        here = low.let(start, "here")
        times = low.let(cast(counts.at((i,)), INDEX), "times")
        for further in range(_AT_ONCE):  # what is too much the next one overwrites
            low.emit(Store(line, (plus(here, index(further)),), i, node.source))
        rest = Apply("maximum", (plus(times, index(-_AT_ONCE)), ZERO), INDEX)
        with low.loop(low.let(rest, "rest"), "k") as k:
            low.emit(Store(line, (plus(plus(here, index(_AT_ONCE)), k),), i, node.source))
        low.emit(Set(start, plus(here, times)))
    low.define(Value(node), first_of(whole(line), length))
