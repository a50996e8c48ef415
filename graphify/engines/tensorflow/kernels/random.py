"""Random numbers: bits of a key, in the graph; draws from NumPy's generators, on the host."""

from __future__ import annotations

import functools
from typing import Any

from graphify.engines.tensorflow.frame import Frame
from graphify.engines.tensorflow.kernels.casting import cast_to
from graphify.engines.tensorflow.kernels.host import call_host
from graphify.engines.tensorflow.kernels.table import kernel
from graphify.ops import random as ops


class _Words:
    """uint32 tensors with the operators that `threefry` is written with."""

    def __init__(self, frame: Frame, tensor: Any) -> None:
        self.frame, self.tensor = frame, tensor

    def _with(self, op: str, other: Any) -> _Words:
        operand = (
            other.tensor
            if isinstance(other, _Words)
            else self.frame.constant(other, self.frame.tf.uint32)
        )
        return _Words(self.frame, getattr(self.frame.raw, op)(x=self.tensor, y=operand))

    def __add__(self, other: Any) -> _Words:
        return self._with("AddV2", other)

    def __xor__(self, other: Any) -> _Words:
        return self._with("BitwiseXor", other)

    def __or__(self, other: Any) -> _Words:
        return self._with("BitwiseOr", other)

    def __lshift__(self, other: Any) -> _Words:
        return self._with("LeftShift", other)

    def __rshift__(self, other: Any) -> _Words:
        return self._with("RightShift", other)


@kernel("random_bits")
def random_bits(frame: Frame, key: Any, start: Any, shape: Any, width: int) -> Any:
    tf, raw = frame.tf, frame.raw
    last = frame.constant(-1, tf.int32)
    count: Any = 1
    for dim in shape:
        count = count * frame.size(dim)
    zero, one = (frame.constant(n, tf.int64) for n in (0, 1))
    steps = raw.Range(start=zero, limit=frame.scalar(count), delta=one)
    counters = raw.ExpandDims(input=cast_to(frame, start, tf.int64), axis=last) + steps
    high = raw.RightShift(x=raw.Cast(x=counters, DstT=tf.uint64), y=frame.constant(32, tf.uint64))
    keys = [raw.ExpandDims(input=k, axis=last) for k in raw.Unpack(value=key, num=2, axis=-1)]
    words = [
        _Words(frame, k)
        for k in (*keys, cast_to(frame, high, tf.uint32), cast_to(frame, counters, tf.uint32))
    ]
    x0, x1 = ops.threefry(*words)
    if width == 64:
        upper, lower = (raw.Cast(x=w.tensor, DstT=tf.uint64) for w in (x0, x1))
        upper = raw.LeftShift(x=upper, y=frame.constant(32, tf.uint64))
        bits = raw.BitwiseOr(x=upper, y=lower)
    else:
        bits = cast_to(frame, (x0 ^ x1).tensor, getattr(tf, f"uint{width}"))
    lead = frame.shape_of(bits)[:-1]
    return raw.Reshape(tensor=bits, shape=frame.shape([*lead, *shape]))


@kernel("random_seed")
def random_seed(frame: Frame, *operands: Any, source: Any, **attrs: Any) -> None:
    assert ops.random_seed.eval is not None
    source = source.shared(frame.unit.generators)
    seed = functools.partial(ops.random_seed.eval, source=source, **attrs)
    frame.ran(call_host(frame, seed, operands))


@kernel("random_draw")
def random_draw(
    frame: Frame, *params: Any, source: Any, size: Any, shape: Any, dtype: Any, **attrs: Any
) -> Any:
    """A draw on the host; the lengths of its result are operands, as the run may decide them."""
    assert ops.random_draw.eval is not None
    lengths = frame.shape(shape)
    wanted = None if size is None else frame.shape(size if isinstance(size, tuple) else (size,))
    source = source.shared(frame.unit.generators)
    evaluate = functools.partial(ops.random_draw.eval, source=source)

    def draw(*arrays: Any) -> Any:
        taken = None if size is None else tuple(int(n) for n in arrays[0])
        given = arrays[0 if size is None else 1 :]
        return evaluate(*given, size=taken, shape=(), dtype=dtype, **attrs)

    operands = params if wanted is None else (wanted, *params)
    result = call_host(frame, draw, operands, frame.tf.as_dtype(dtype))
    frame.ran(result.op)
    return frame.raw.Reshape(tensor=result, shape=lengths)
