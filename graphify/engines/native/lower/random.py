"""Random bits from a key: Threefry-2x32 in registers, one counter for each element.

Source: Salmon, Moraes, Dror, Shaw 2011, "Parallel random numbers: as easy as 1, 2, 3".
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graphify.engines.native.loops.program import (
    ONE,
    ZERO,
    Apply,
    Const,
    Expr,
    compare,
    index,
    plus,
    times,
)
from graphify.engines.native.lower.arrays import ArrayValue, Delayed, Index, Lens, whole
from graphify.engines.native.lower.elementwise import broadcast_shape, cast, spread
from graphify.engines.native.lower.lowering import Declined, Lowering, rule
from graphify.engines.native.lower.views import reshaped
from graphify.ir.graph import Node, Value
from graphify.ops.random import PARITY, ROTATIONS

U32, U64 = np.dtype(np.uint32), np.dtype(np.uint64)
_SHORT = 64  # a last axis of fewer elements is not worth a loop in lanes of its own


def _op(name: str, *args: Expr) -> Expr:
    return Apply(name, args, args[0].dtype)


def _number(value: int, dtype: np.dtype[np.unsignedinteger] = U32) -> Const:
    return Const(value, dtype)


def threefry(low: Lowering, keys: Sequence[Expr], x0: Expr, x1: Expr) -> tuple[Expr, Expr]:
    """One block: 20 rounds on the two words of a counter, a key after each four."""
    x0, x1 = low.let(_op("add", x0, keys[0])), low.let(_op("add", x1, keys[1]))
    for group in range(5):
        for turn in ROTATIONS[group % 2]:
            x0 = low.let(_op("add", x0, x1))
            up = _op("left_shift", x1, _number(turn))
            down = _op("right_shift", x1, _number(32 - turn))
            x1 = low.let(_op("bitwise_xor", x0, _op("bitwise_or", up, down)))
        x0 = low.let(_op("add", x0, keys[(group + 1) % 3]))
        x1 = low.let(_op("add", _op("add", x1, keys[(group + 2) % 3]), _number(group + 1)))
    return x0, x1


def _keys(low: Lowering, key: ArrayValue, at: Index) -> list[Expr]:
    first, second = (low.let(key.at((*at, index(k))), "key") for k in (0, 1))
    third = _op("bitwise_xor", _op("bitwise_xor", first, second), _number(PARITY))
    return [first, second, low.let(third, "key")]


def _bits(low: Lowering, keys: Sequence[Expr], counter: Expr, width: int) -> Expr:
    """The bits of one element."""
    dtype = np.dtype(f"uint{width}")
    high = low.let(cast(_op("right_shift", counter, _number(32, U64)), U32))
    a, b = threefry(low, keys, high, low.let(cast(counter, U32)))
    if width == 64:
        shifted = _op("left_shift", cast(a, U64), _number(32, U64))
        return _op("bitwise_or", shifted, cast(b, U64))
    return cast(_op("bitwise_xor", a, b), dtype)


@rule("random_bits")
def _random_bits(low: Lowering, node: Node) -> None:
    key, start = low.memory(node.inputs[0]), low.array(node.inputs[1])
    if key.dtype != U32 or not key.shape or start.dtype.kind not in "iub":
        raise Declined
    if key.shape[-1] != index(2):
        wrong = compare("not_equal", key.shape[-1], index(2))
        low.fail(
            wrong, TypeError, "key: expected an array of two uint32 numbers, got {}", key.shape[-1]
        )
    outer = Delayed(U32, key.shape[:-1], lambda _: _number(0))
    lead = broadcast_shape(low, node, [outer, start])
    tail = low.dims(node.attrs["shape"])
    rows = spread(low, key, (*lead, key.shape[-1]))
    start = spread(low, start, lead)
    shape = (*lead, *tail)
    flat = not lead and len(tail) > 1 and _is_short(tail[-1])
    target = _line(low, node, shape) if flat else low.target(Value(node), shape)
    inner = target.shape if flat else tail
    with low.loops(lead) as at:
        keys = _keys(low, rows, at)
        first = low.let(cast(start.at(at), U64), "start")
        with low.loops(inner) as place:
            counter = low.let(_op("add", first, cast(_position(place, inner), U64)), "counter")
            low.store(target, (*at, *place), _bits(low, keys, counter, node.attrs["width"]))
    low.define(Value(node), reshaped(low, target, shape) if flat else target)


def _is_short(length: Expr) -> bool:
    return isinstance(length, Const) and length.value < _SHORT


def _line(low: Lowering, node: Node, shape: Index) -> Lens:
    """New memory as one line."""
    total: Expr = ONE
    for length in shape:
        total = times(total, length)
    return whole(low.buffer(node.specs[0].dtype, (low.let(total, "size"),)))


def _position(at: Index, shape: Index) -> Expr:
    """How many elements lie before one, in C order."""
    total: Expr = ZERO
    for place, length in zip(at, shape, strict=True):
        total = plus(times(total, length), place)
    return total
