"""Ops that only look at memory in another way: no statements, but the checks they need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphify.engines.native.loops.program import (
    ONE,
    ZERO,
    Apply,
    Buffer,
    Const,
    Expr,
    Literal,
    View,
    compare,
    index,
    minus,
    plus,
    times,
)
from graphify.engines.native.lower.arrays import (
    Affine,
    ArrayValue,
    Delayed,
    Lens,
    affine,
    identity,
    whole,
)
from graphify.engines.native.lower.elementwise import as_index, cast, misfit, spread
from graphify.engines.native.lower.lowering import Lowering, rule
from graphify.ir.graph import Node, Value
from graphify.ir.sizes import not_negative

_NEGATIVE = "all elements of broadcast shape must be non-negative"

BOOL = np.dtype(np.bool_)


@rule("constant")
def _constant(low: Lowering, node: Node) -> None:
    array = node.attrs["value"].array
    if array.ndim == 0 or _is_fill(array):
        number = Const(array.reshape(-1)[0].item(), array.dtype)
        shape = tuple(index(d) for d in array.shape)
        low.define(
            Value(node),
            Delayed(array.dtype, shape, lambda _: number) if shape else number,
        )
        return
    shape = tuple(index(d) for d in array.shape)
    data = np.ascontiguousarray(array)
    low.define(Value(node), whole(Buffer(low.hint, array.dtype, shape, Literal(data))))


def _is_fill(array: np.ndarray[Any, Any]) -> bool:
    """Whether all elements are one and the same, to the last bit."""
    if array.size < 2:
        return bool(array.size)
    first = array.reshape(-1)[:1]
    if array.reshape(-1)[-1:].tobytes() != first.tobytes():
        return False
    return np.ascontiguousarray(array).tobytes() == first.tobytes() * array.size


@rule("as_size")
def _as_size(low: Lowering, node: Node) -> None:
    value = low.scalar(node.inputs[0])
    low.define(Value(node), value)
    low.frame.sizes.setdefault(node.attrs["var"], low.let(as_index(value), node.attrs["var"].name))


@rule("size_value")
def _size_value(low: Lowering, node: Node) -> None:
    low.define(Value(node), low.dim(node.attrs["size"]))


@rule("identity", "stop_gradient", "copy", "positive_view")
def _same(low: Lowering, node: Node) -> None:
    low.define(Value(node), low.frame.values[node.inputs[0]])


@rule("transpose")
def _transpose(low: Lowering, node: Node) -> None:
    array, axes = low.array(node.inputs[0]), node.attrs["axes"]
    shape = tuple(array.shape[a] for a in axes)
    inner = [affine((axes.index(a), ONE)) for a in range(len(axes))]
    low.define(Value(node), array.remap(shape, inner))


@rule("flip")
def _flip(low: Lowering, node: Node) -> None:
    array = low.array(node.inputs[0])
    inner = [
        affine((a, index(-1)), offset=plus(length, index(-1)))
        if a in node.attrs["axes"]
        else affine((a, ONE))
        for a, length in enumerate(array.shape)
    ]
    low.define(Value(node), array.remap(array.shape, inner))


@rule("broadcast_to")
def _broadcast_to(low: Lowering, node: Node) -> None:
    array = low.array(node.inputs[0])
    shape = low.dims(node.attrs["shape"])
    lead = len(shape) - len(array.shape)
    for dim, target in zip(node.attrs["shape"], shape, strict=True):
        if dim not in node.inputs[0].spec.shape and not not_negative(dim):
            low.fail(compare("less", target, ZERO), ValueError, _NEGATIVE)
    for length, target in zip(array.shape, shape[lead:], strict=True):
        if length not in (target, ONE):
            wrong = misfit(length, target)
            low.fail(wrong, ValueError, "", length, target, raiser=_NoBroadcast(node))
    low.define(Value(node), spread(low, array, shape))


class _NoBroadcast:
    def __init__(self, node: Node) -> None:
        self.node = node

    def __call__(self, values: Sequence[int]) -> BaseException:
        return ValueError(
            "operands could not be broadcast together with remapped shapes [original->remapped]: "
            f"an axis of length {values[0]} does not fit one of length {values[1]}"
        )


@rule("reshape")
def _reshape(low: Lowering, node: Node) -> None:
    array, shape = low.array(node.inputs[0]), low.dims(node.attrs["shape"])
    before, after = _total(array.shape), _total(shape)
    if before != after:
        before, after = low.let(before, "size"), low.let(after, "size")
        lengths = [*array.shape, *shape]
        if len(lengths) <= 8:
            low.fail(
                compare("not_equal", before, after),
                ValueError,
                "",
                *lengths,
                raiser=_NoReshape(len(array.shape)),
            )
        else:
            low.fail(
                compare("not_equal", before, after),
                ValueError,
                "cannot reshape array of size {} into shape of size {}",
                before,
                after,
            )
    low.define(Value(node), reshaped(low, array, shape))


class _NoReshape:
    def __init__(self, rank: int) -> None:
        self.rank = rank

    def __call__(self, values: Sequence[int]) -> BaseException:
        lengths = [int(v) for v in values]
        try:
            np.broadcast_to(np.zeros(()), lengths[: self.rank]).reshape(lengths[self.rank :])
        except ValueError as error:
            return error
        return ValueError("cannot reshape array")


def _total(shape: Sequence[Expr]) -> Expr:
    total: Expr = ONE
    for dim in shape:
        total = times(total, dim)
    return total


def reshaped(low: Lowering, array: ArrayValue, shape: tuple[Expr, ...]) -> ArrayValue:
    """The elements in C order under another shape: a view where the memory allows."""
    kept = _unit_axes(array, shape)
    if kept is not None:
        return array.remap(shape, kept)
    if isinstance(array, Delayed) and not array.shape:
        number = array.at(())
        return Delayed(array.dtype, shape, lambda _: number)
    buffer = low.contiguous(array)
    return whole(Buffer(buffer.name, buffer.dtype, shape, View(buffer, ZERO)))


def _unit_axes(array: ArrayValue, shape: Sequence[Expr]) -> list[Affine] | None:
    """The index map of a reshape that only adds or drops axes of length one."""
    old = [(a, d) for a, d in enumerate(array.shape) if d != ONE]
    new = [(a, d) for a, d in enumerate(shape) if d != ONE]
    if [d for _, d in old] != [d for _, d in new]:
        return None
    place = {a: b for (a, _), (b, _) in zip(old, new, strict=True)}
    return [affine((place[a], ONE)) if a in place else affine() for a in range(len(array.shape))]


@rule("diagonal")
def _diagonal(low: Lowering, node: Node) -> None:
    array, attrs = low.array(node.inputs[0]), node.attrs
    offset, first, second = attrs["offset"], attrs["axis1"], attrs["axis2"]
    rest = [a for a in range(len(array.shape)) if a not in (first, second)]
    shape = low.dims(node.specs[0].shape)
    inner = []
    for a in range(len(array.shape)):
        if a == first:
            inner.append(affine((len(rest), ONE), offset=index(max(-offset, 0))))
        elif a == second:
            inner.append(affine((len(rest), ONE), offset=index(max(offset, 0))))
        else:
            inner.append(affine((rest.index(a), ONE)))
    low.define(Value(node), array.remap(shape, inner))


@rule("sliding_windows")
def _windows(low: Lowering, node: Node) -> None:
    array, axis = low.array(node.inputs[0]), node.attrs["axis"]
    window = low.dim(node.attrs["window"])
    length, rank = array.shape[axis], len(array.shape)
    low.fail(
        compare("less", length, window),
        ValueError,
        "window shape cannot be larger than input array shape",
    )
    count = plus(minus(length, window), ONE)
    count = low.dims(node.specs[0].shape, [*array.shape[:axis], count, *array.shape[axis:]])[axis]
    shape = (
        *array.shape[:axis],
        low.let(count, "count"),
        *array.shape[axis + 1 :],
        window,
    )
    inner = list(identity(rank))
    inner[axis] = affine((axis, ONE), (rank, ONE))
    low.define(Value(node), array.remap(shape, inner))


@rule("real", "imag")
def _part(low: Lowering, node: Node) -> None:
    array, dtype = low.array(node.inputs[0]), node.specs[0].dtype
    if array.dtype == dtype and node.op.name == "real":
        low.define(Value(node), array)
        return
    if not isinstance(array, Lens) or array.buffer.strides is not None or array.dtype.kind != "c":
        name = node.op.name
        low.fill(Value(node), array.shape, lambda at: Apply(name, (array.at(at),), dtype))
        return
    buffer = array.buffer  # (re, im) pairs: one more axis, of length two
    pairs = Buffer(buffer.name, dtype, (*buffer.shape, index(2)), View(buffer, ZERO))
    which = affine(offset=index(1 if node.op.name == "imag" else 0))
    low.define(Value(node), Lens(pairs, array.shape, (*array.axes, which)))


@rule("iota")
def _iota(low: Lowering, node: Node) -> None:
    dtype = node.attrs["dtype"]
    shape = (low.dim(node.attrs["length"]),)
    low.define(Value(node), Delayed(dtype, shape, lambda at: cast(at[0], dtype)))
