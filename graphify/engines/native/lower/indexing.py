"""Indexing: slices are views, gathers are loads at computed places, updates store in place when
nobody needs the old array."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graphify.engines.native.loops.program import (
    INDEX,
    ONE,
    ZERO,
    Apply,
    Const,
    Expr,
    compare,
    index,
    plus,
    select,
)
from graphify.engines.native.lower.arrays import (
    Affine,
    ArrayValue,
    Index,
    Lens,
    affine,
    whole,
)
from graphify.engines.native.lower.elementwise import (
    as_index,
    broadcast_shape,
    cast,
    misfit,
    mismatch,
    spread,
)
from graphify.engines.native.lower.liveness import UPDATES
from graphify.engines.native.lower.lowering import Declined, Lowering, rule
from graphify.ir.graph import Node, Value

BOOL, UINT64 = np.dtype(np.bool_), np.dtype(np.uint64)

# --- basic keys -----------------------------------------------------------------------------------


def key_view(
    low: Lowering, shape: Sequence[Expr], node: Node, indices: Sequence[Value]
) -> tuple[tuple[Expr, ...], list[Affine]]:
    """The shape of `x[key]` and, for each axis of x, where the elements lie. Checks integers."""
    result: list[Expr] = []
    places: list[Affine] = []
    axis = 0
    for entry in node.attrs["key"]:
        if entry is None:
            result.append(ONE)
            continue
        length = shape[axis]
        if isinstance(entry, tuple) and entry[0] != "at":
            start, count, step = (low.dim(part) for part in entry)
            places.append(affine((len(result), step), offset=start))
            result.append(count)
        else:
            known = low.dim(entry) if not isinstance(entry, tuple) else None
            at = known if known is not None else low.scalar(indices[entry[1]])
            places.append(affine(offset=in_axis(low, at, length, axis)))
        axis += 1
    for length in shape[axis:]:
        places.append(affine((len(result), ONE)))
        result.append(length)
    return tuple(result), places


def in_axis(low: Lowering, at: Expr, length: Expr, axis: int) -> Expr:
    """An integer index of an axis as a place in it; an error where it is out of range."""
    unsigned, at = at.dtype.kind == "u", low.let(as_index(at), "at")
    text = f"index {{}} is out of bounds for axis {axis} with size {{}}"
    if isinstance(at, Const) and not (unsigned and at.value < 0):
        if isinstance(length, Const) and -length.value <= at.value < length.value:
            return at if at.value >= 0 else index(at.value + length.value)
        if at.value >= 0:
            low.fail(compare("less_equal", length, at), IndexError, text, at, length)
            return at
    place = at if unsigned else low.let(wrapped(at, length), "at")
    shown = cast(at, UINT64) if unsigned else at
    # one unsigned comparison: a negative place is a huge one
    low.fail(out_of_range(place, length), IndexError, text, shown, length)
    return place


def wrapped(at: Expr, length: Expr) -> Expr:
    return select(compare("less", at, ZERO), plus(at, length), at)


def out_of_range(place: Expr, length: Expr) -> Expr:
    return compare(
        "greater_equal",
        Apply("cast", (place,), UINT64),
        Apply("cast", (length,), UINT64),
    )


@rule("slice")
def _slice(low: Lowering, node: Node) -> None:
    array = low.array(node.inputs[0])
    shape, places = key_view(low, array.shape, node, node.inputs[1:])
    shape = low.dims(node.specs[0].shape, shape)
    low.define(Value(node), array.remap(shape, places))


@rule("slice_update")
def _slice_update(low: Lowering, node: Node) -> None:
    value = Value(node)
    old, new = low.array(node.inputs[0]), low.array(node.inputs[1])
    shape, places = key_view(low, old.shape, node, node.inputs[2:])
    new = _fitted(low, node, new, shape)
    lens = changeable(low, node, new)
    if isinstance(new, Lens) and new.buffer.root is lens.buffer.root:
        new = whole(low.copy(new))
    part = lens.remap(shape, places)
    with low.loops(shape) as at:
        low.store(part, at, new.at(at))
    low.define(value, lens)
    _found_there(low, node, part)


LOOK = 40  # nodes that are looked through for the next update of an array


def _found_there(low: Lowering, node: Node, part: Lens) -> None:
    """New elements are read from the place they were put, and need no memory of their own.

    As long as nothing is put there again: the next update would then have to copy the array.
    """
    value, facts = node.inputs[1], low.frame.facts
    known = low.frame.values[value]
    if not isinstance(known, Lens) or known.buffer.root not in low.own:
        return
    if not known.is_whole or not low.same_shape(known.shape, part.shape):
        return
    first, last = facts.position[node] + 1, facts.used[value]
    if first > last or last > first + LOOK:
        return
    until = facts.nodes[first : last + 1]
    if any(Value(node) in later.inputs and _changes(later) for later in until):
        return
    low.define(value, part)


def _changes(node: Node) -> bool:
    return node.op.name in UPDATES or any(True for _ in node.subgraphs)


def _fitted(low: Lowering, node: Node, new: ArrayValue, shape: tuple[Expr, ...]) -> ArrayValue:
    """The new elements broadcast to the shape of the place they go to."""
    extra = len(new.shape) - len(shape)
    if extra > 0:  # NumPy drops leading axes of length one
        for length in new.shape[:extra]:
            low.fail(
                compare("not_equal", length, ONE),
                ValueError,
                "could not broadcast input array into the shape of the slice",
            )
        inner = [affine()] * extra + [affine((a, ONE)) for a in range(len(shape))]
        new = new.remap(tuple(new.shape[extra:]), inner)
    lead = len(shape) - len(new.shape)
    for length, target in zip(new.shape, shape[lead:], strict=True):
        if length not in (target, ONE):
            wrong = misfit(length, target)
            lengths = [*low.array(node.inputs[1]).shape, *shape]
            if len(lengths) > 8:
                raise Declined
            low.fail(wrong, ValueError, "", *lengths, raiser=_NoFit(node.inputs[1].spec.ndim))
    return spread(low, new, shape)


class _NoFit:
    """NumPy's words for a value that does not fit where it is assigned."""

    def __init__(self, rank: int) -> None:
        self.rank = rank

    def __call__(self, values: Sequence[int]) -> BaseException:
        lengths = [int(v) for v in values]
        try:
            np.zeros(lengths[self.rank :])[...] = np.zeros(lengths[: self.rank])
        except ValueError as error:
            return error
        return ValueError("could not broadcast input array")


def changeable(low: Lowering, node: Node, *operands: ArrayValue) -> Lens:
    """The first operand as memory that may be changed: its own if it is dead, else a copy."""
    lens = low.overwrites(node.inputs[0], node, alone=False)
    if lens is not None:
        return lens
    old = low.array(node.inputs[0])
    target = low.target(Value(node), old.shape)
    if any(isinstance(o, Lens) and o.buffer.root is target.buffer.root for o in (old, *operands)):
        target = whole(low.buffer(old.dtype, old.shape))
    low.assign(target, old)
    return target


# --- integer arrays -------------------------------------------------------------------------------


def lookup(
    low: Lowering,
    node: Node,
    array: ArrayValue,
    indices: Sequence[Value],
    axes: Sequence[int],
) -> tuple[tuple[Expr, ...], list[ArrayValue]]:
    """The broadcast shape of index arrays; each of them, checked and spread to it."""
    operands = [low.array(value) for value in indices]
    lead = broadcast_shape(low, node, operands)
    with low.unless_empty(lead):
        for operand, axis in zip(operands, axes, strict=True):
            _check(low, operand, array.shape[axis], axis)
    return lead, [spread(low, operand, lead) for operand in operands]


def _check(low: Lowering, operand: ArrayValue, length: Expr, axis: int) -> None:
    text = f"index {{}} is out of bounds for axis {axis} with size {{}}"
    with low.loops(operand.shape, "serial") as at:
        value = low.let(as_index(operand.at(at)), "k")
        low.fail(
            out_of_range(wrapped(value, length), length),
            IndexError,
            text,
            value,
            length,
        )


def looked_up(
    low: Lowering,
    array: ArrayValue,
    found: Sequence[ArrayValue],
    axes: Sequence[int],
    at: Index,
) -> Index:
    """Where the element at `at`, of the indices' axes and then the others, lies in the array."""
    lead = len(found[0].shape)
    places: list[Expr] = []
    rest = iter(at[lead:])
    for axis, length in enumerate(array.shape):
        if axis in axes:
            operand = found[axes.index(axis)]
            k = low.let(as_index(operand.at(at[:lead])), "k")
            # NumPy looks at the bits of uint64 as those of int64
            unsigned = operand.dtype.kind == "u" and operand.dtype.itemsize < INDEX.itemsize
            places.append(k if unsigned else low.let(wrapped(k, length), "k"))
        else:
            places.append(next(rest))
    return tuple(places)


@rule("gather")
def _gather(low: Lowering, node: Node) -> None:
    array, axes = low.memory(node.inputs[0]), node.attrs["axes"]
    lead, found = lookup(low, node, array, node.inputs[1:], axes)
    rest = tuple(d for a, d in enumerate(array.shape) if a not in axes)
    shape = low.dims(node.specs[0].shape, (*lead, *rest))
    low.fill(Value(node), shape, lambda at: array.at(looked_up(low, array, found, axes, at)))


_COMBINE = {
    "add": "add",
    "multiply": "multiply",
    "maximum": "maximum",
    "minimum": "minimum",
}


@rule("scatter")
def _scatter(low: Lowering, node: Node) -> None:
    axes, mode = node.attrs["axes"], node.attrs["mode"]
    old, new = low.array(node.inputs[0]), low.array(node.inputs[1])
    lead, found = lookup(low, node, old, node.inputs[2:], axes)
    rest = tuple(d for a, d in enumerate(old.shape) if a not in axes)
    new = _fitted(low, node, new, (*lead, *rest))
    lens = changeable(low, node, new)
    operands = [*found, new]
    if any(isinstance(o, Lens) and o.buffer.root is lens.buffer.root for o in operands):
        found = [whole(low.copy(o)) for o in found]
        new = whole(low.copy(new))
    with low.loops((*lead, *rest), "serial") as at:
        place = looked_up(low, lens, found, axes, at)
        value = new.at(at)
        if mode != "set":
            value = Apply(_COMBINE[mode], (lens.at(place), value), old.dtype)
        low.store(lens, place, value)
    low.define(Value(node), lens)


@rule("concatenate")
def _concatenate(low: Lowering, node: Node) -> None:
    axis = node.attrs["axis"]
    parts = [low.array(value) for value in node.inputs]
    first = parts[0]
    total: Expr = ZERO
    for part in parts:
        total = plus(total, part.shape[axis])
        for a, length in enumerate(part.shape):
            if a != axis and length != first.shape[a]:
                mismatch(low, compare("not_equal", length, first.shape[a]), node)
    computed = [*first.shape[:axis], total, *first.shape[axis + 1 :]]
    shape = tuple(low.let(d, "n") for d in low.dims(node.specs[0].shape, computed))
    lens = low.target(Value(node), shape)
    start: Expr = ZERO
    for part in parts:
        inner = [affine((a, ONE), offset=start if a == axis else ZERO) for a in range(len(shape))]
        low.assign(lens.remap(part.shape, inner), part)
        start = plus(start, part.shape[axis])
    low.define(Value(node), lens)
