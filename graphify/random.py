"""Random numbers as pure functions of a key: the same in every engine, and in exported graphs.

    key = graphify.random.key(0)
    key, sub = graphify.random.split(key)
    x = graphify.random.normal(sub, (3,))

The same key always gives the same numbers; split it to get others. The bits are Threefry-2x32 of a
key and a counter, as in JAX (`jax_threefry_partitionable`).

Source: Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3".
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphify.errors import SpecError
from graphify.ir.sizes import Dim, Shape, decide_less, product
from graphify.ir.tensor import Tensor
from graphify.ir.types import DType, canonical_dtype, is_float
from graphify.numpy._table import axis_of, shape_of, to_tensor
from graphify.numpy.indexing import take
from graphify.numpy.manipulation import moveaxis
from graphify.numpy.ranges import arange
from graphify.numpy.reduction import argmax, cumsum
from graphify.numpy.sorting import argsort, searchsorted
from graphify.ops import core
from graphify.ops import elementwise as e
from graphify.ops.keys import getitem
from graphify.ops.random import random_bits
from graphify.ops.shape import as_dim, in_range, size_value, stack

__all__ = [
    "bernoulli",
    "bits",
    "categorical",
    "choice",
    "exponential",
    "fold_in",
    "key",
    "normal",
    "permutation",
    "randint",
    "split",
    "uniform",
]

# dtype -> (unsigned integer of the same width, bits of the fraction)
_FRACTION = {"float16": (16, 10), "float32": (32, 23), "float64": (64, 52)}


def key(seed: Any) -> Tensor:
    """A key from an integer seed: two uint32 numbers, the seed's high and low half.

    Args:
        seed: an integer, of any integer dtype; a negative one counts modulo 2**64.

    Returns:
        The key, uint32 `[2]`.

    Raises:
        SpecError: the seed is not an integer scalar.

    Example:
        >>> graphify.random.key(7)
        Tensor([0, 7], shape=(2,), dtype=uint32)
    """
    x = to_tensor(seed)
    if x.dtype.kind not in "iu" or x.ndim:
        raise SpecError(f"seed: expected an integer, got {x.spec}")
    whole = core.cast(x, dtype=np.dtype(np.uint64))
    return stack([_half(whole, 32), _half(whole, 0)])


def _half(x: Tensor, shift: int) -> Tensor:
    moved = e.right_shift(x, np.uint64(shift)) if shift else x
    low = e.bitwise_and(moved, np.uint64(0xFFFFFFFF))
    return core.cast(low, dtype=np.dtype(np.uint32))


def _random(key: Any, shape: Shape, width: int, start: Any = 0) -> Tensor:
    k, first = to_tensor(key), core.cast(to_tensor(start), dtype=np.dtype(np.uint64))
    return random_bits(k, first, shape=shape, width=width)


def split(key: Any, num: Any = 2) -> Tensor:
    """New keys, as rows: independent of each other and of the old one, which is used up.

    Args:
        key: uint32 `[2]`.
        num: how many, or a shape of keys.

    Returns:
        uint32 `[*num, 2]`.

    Raises:
        SpecError: the key is none.
        ValueError: a negative number.

    Example:
        >>> key, sub = graphify.random.split(graphify.random.key(0))
        >>> sub
        Tensor([ 928981903, 3453687069], shape=(2,), dtype=uint32)
    """
    blocks = _random(key, shape_of(num, "num"), 64)
    return stack([_half(blocks, 32), _half(blocks, 0)], axis=blocks.ndim)


def fold_in(key: Any, data: Any) -> Tensor:
    """A new key from a key and an integer, such as the number of a step.

    Args:
        key: uint32 `[2]`.
        data: an integer scalar; it counts modulo 2**32.

    Returns:
        The key, uint32 `[2]`.

    Raises:
        SpecError: the key is none, or the data no integer.

    Example:
        >>> graphify.random.fold_in(graphify.random.key(0), 1)
        Tensor([ 928981903, 3453687069], shape=(2,), dtype=uint32)
    """
    number = to_tensor(data)
    if number.dtype.kind not in "iub":
        raise SpecError(f"fold_in: argument 'data': expected an integer, got {number.dtype.name}")
    number = core.cast(number, dtype=np.dtype(np.uint32))
    block = _random(key, (), 64, number)
    return stack([_half(block, 32), _half(block, 0)], axis=block.ndim)


def bits(key: Any, shape: Any = (), dtype: Any = np.uint32) -> Tensor:
    """Uniform random bits as unsigned integers.

    Args:
        key: uint32 `[2]`.
        shape: ints or traced sizes.
        dtype: an unsigned integer dtype.

    Returns:
        `[*shape]` of the dtype.

    Raises:
        SpecError: another dtype; the key is none.
        ValueError: a negative length.

    Example:
        >>> graphify.random.bits(graphify.random.key(0), (2,))
        Tensor([4070199207, 4202968722], shape=(2,), dtype=uint32)
    """
    target = canonical_dtype(dtype)
    if target.kind != "u":
        raise SpecError(f"dtype: expected an unsigned integer, got {target.name}")
    return _random(key, shape_of(shape), target.itemsize * 8)


def _float_dtype(dtype: Any) -> DType:
    target = canonical_dtype(dtype)
    if not is_float(target) or target.name not in _FRACTION:
        raise SpecError(f"dtype: expected float16, float32 or float64, got {target.name}")
    return target


def uniform(
    key: Any, shape: Any = (), dtype: Any = float, minval: Any = 0.0, maxval: Any = 1.0
) -> Tensor:
    """Uniform in [minval, maxval).

    Args:
        key: uint32 `[2]`.
        shape: ints or traced sizes.
        dtype: float16, float32 or float64.
        minval, maxval: scalars, or arrays that broadcast to the shape.

    Returns:
        `[*shape]` of the dtype: multiples of 2**-10, 2**-23 or 2**-52 in [0, 1), scaled.

    Raises:
        SpecError: another dtype; the key is none.
        ValueError: a negative length; bounds that do not broadcast.

    Example:
        >>> graphify.random.uniform(graphify.random.key(0), (2,))
        Tensor([0.41845711, 0.21629545], shape=(2,), dtype=float64)
    """
    target = _float_dtype(dtype)
    unit = _unit(key, shape_of(shape), target)
    low, high = (core.to_dtype(to_tensor(v), target) for v in (minval, maxval))
    # Rounding may carry a number up to maxval, which is outside.
    return e.where(unit * (high - low) + low < high, unit * (high - low) + low, low)


def _unit(key: Any, shape: Shape, dtype: DType) -> Tensor:
    """Uniform in [0, 1): as many random bits as the fraction has."""
    width, fraction = _FRACTION[dtype.name]
    whole = e.right_shift(
        _random(key, shape, width), np.dtype(f"uint{width}").type(width - fraction)
    )
    return e.multiply(core.cast(whole, dtype=dtype), dtype.type(2.0**-fraction))


def normal(key: Any, shape: Any = (), dtype: Any = float) -> Tensor:
    """Normal of mean 0 and deviation 1.

    Args:
        key: uint32 `[2]`.
        shape: ints or traced sizes.
        dtype: float16 (drawn as float32), float32 or float64.

    Returns:
        `[*shape]` of the dtype.

    Raises:
        SpecError: another dtype; the key is none.
        ValueError: a negative length.

    Source: Box and Muller 1958, "A note on the generation of random normal deviates":
    `sqrt(-2 * log(1 - u)) * cos(2 * pi * v)` for uniform u and v.

    Example:
        >>> graphify.random.normal(graphify.random.key(0), (2,))
        Tensor([ 1.01660169, -0.62306887], shape=(2,), dtype=float64)
    """
    target = _float_dtype(dtype)
    wide = np.dtype(np.float64) if target == np.float64 else np.dtype(np.float32)
    dims = shape_of(shape)
    both = _unit(key, (2, *dims), wide) if to_tensor(key).ndim == 1 else _unit_pair(key, dims, wide)
    radius = e.sqrt(-2 * e.log1p(-getitem(both, 0)))
    turn = getitem(both, 1) * wide.type(2 * np.pi)
    return core.to_dtype(radius * e.cos(turn), target)


def _unit_pair(key: Any, shape: Shape, dtype: DType) -> Tensor:
    rows = _unit(key, (2, *shape), dtype)
    lead = to_tensor(key).ndim - 1
    return moveaxis(rows, lead, 0)


def exponential(key: Any, shape: Any = (), dtype: Any = float) -> Tensor:
    """Exponential of scale 1: `-log(1 - u)` for uniform u.

    Args:
        key: uint32 `[2]`.
        shape: ints or traced sizes.
        dtype: float16, float32 or float64.

    Returns:
        `[*shape]` of the dtype.

    Raises:
        SpecError: another dtype; the key is none.
        ValueError: a negative length.

    Example:
        >>> graphify.random.exponential(graphify.random.key(0), (2,))
        Tensor([0.54207056, 0.24372319], shape=(2,), dtype=float64)
    """
    return -e.log1p(-_unit(key, shape_of(shape), _float_dtype(dtype)))


def bernoulli(key: Any, p: Any = 0.5, shape: Any = None) -> Tensor:
    """True with probability `p`.

    Args:
        key: uint32 `[2]`.
        p: probabilities, a scalar or an array.
        shape: ints or traced sizes that `p` broadcasts to; without it, the shape of `p`.

    Returns:
        bool `[*shape]`.

    Raises:
        SpecError: the key is none.
        ValueError: a negative length; `p` does not broadcast to the shape.

    Example:
        >>> graphify.random.bernoulli(graphify.random.key(0), 0.5, (4,)).numpy()
        array([ True,  True, False, False])
    """
    chance = to_tensor(p)
    target = chance.dtype if chance.dtype.name in _FRACTION else np.dtype(np.float64)
    dims = chance.dims if shape is None else shape_of(shape)
    return e.less(_unit(key, dims, target), chance)


def randint(key: Any, shape: Any, minval: Any, maxval: Any, dtype: Any = np.int64) -> Tensor:
    """Integers in [minval, maxval), which must not be empty.

    Args:
        key: uint32 `[2]`.
        shape: ints or traced sizes.
        minval, maxval: integers, or arrays of them that broadcast to the shape.
        dtype: an integer dtype.

    Returns:
        `[*shape]` of the dtype: the remainders of 64 random bits, so that numbers differ in
        probability by less than one part in `2**64 / (maxval - minval)`.

    Raises:
        SpecError: another dtype; the key is none.
        ValueError: an empty range whose bounds are known while tracing; a negative length.

    Example:
        >>> graphify.random.randint(graphify.random.key(0), (4,), 0, 10).numpy()
        array([0, 7, 9, 6])
    """
    target = canonical_dtype(dtype)
    if target.kind not in "iu":
        raise SpecError(f"dtype: expected an integer dtype, got {target.name}")
    low, high = (core.cast(to_tensor(v), dtype=np.dtype(np.int64)) for v in (minval, maxval))
    _check_bounds(low, high)
    span = core.cast(high - low, dtype=np.dtype(np.uint64))
    place = e.remainder(_random(key, shape_of(shape), 64), span)
    return core.cast(core.cast(place, dtype=np.dtype(np.int64)) + low, dtype=target)


def _check_bounds(low: Tensor, high: Tensor) -> None:
    if not low.is_symbolic and not high.is_symbolic and np.any(low.numpy() >= high.numpy()):
        raise ValueError("randint: expected minval < maxval")


def permutation(key: Any, x: Any, axis: int = 0) -> Tensor:
    """A copy with the slices along an axis in random order, or a shuffled arange(x).

    Args:
        key: uint32 `[2]`.
        x: an array `[...]`, or an integer.
        axis: the axis whose slices change places.

    Returns:
        An array of the shape and dtype of `x`, or int64 `[x]`.

    Raises:
        SpecError: the key is none.
        AxisError: no such axis.

    Example:
        >>> graphify.random.permutation(graphify.random.key(0), 5).numpy()
        array([1, 0, 4, 3, 2])
    """
    t = to_tensor(x)
    if not t.ndim:
        t = arange(x)
    at = axis_of(axis, t.ndim)
    order = argsort(_random(key, (t.dims[at],), 64), stable=True)
    return take(t, order, axis=at)


def choice(key: Any, a: Any, shape: Any = (), replace: bool = True, p: Any = None) -> Tensor:
    """Random elements of an array, or of arange(a).

    Args:
        key: uint32 `[2]`.
        a: an array `[n, *rest]`, of which rows are drawn, or the integer n.
        shape: how many, as ints or traced sizes.
        replace: whether a row may be drawn more than once.
        p: probabilities `[n]`, equal ones by default; what they are relative to their sum counts.

    Returns:
        `[*shape, *rest]` in the dtype of `a`.

    Raises:
        SpecError: `replace=False` with `p`; the key is none.
        ValueError: more rows without replacement than there are; a negative length.

    Example:
        >>> a = np.array([10, 20, 30])
        >>> graphify.random.choice(graphify.random.key(0), a, (4,)).numpy()
        array([10, 20, 10, 10])
    """
    t = to_tensor(a)
    t = t if t.ndim else arange(a)
    dims = shape_of(shape)
    count = product(dims)
    if not replace:
        if p is not None:
            raise SpecError("choice: replace=False with p is not supported")
        count = _at_most(count, t.dims[0])
        return core.reshape(permutation(key, t)[:count], shape=(*dims, *t.dims[1:]))
    if p is not None:
        chances = cumsum(to_tensor(p))
        unit: Any = _unit(key, dims, chances.dtype)
        place = searchsorted(chances, e.multiply(getitem(chances, -1), 1 - unit))
    else:
        place = randint(key, dims, 0, t.shape[0])
    return take(t, place, axis=0)


def _at_most(count: Dim, rows: Dim) -> Dim:
    """How many rows are drawn without replacement: found now, or by the run, to be there."""
    message = "Cannot take a larger sample than population when replace is False"
    larger = decide_less(rows, count)
    if larger:
        raise ValueError(message)
    if larger is False:
        return count
    end = e.add(size_value(size=rows), 1)
    return as_dim(in_range(size_value(size=count), 0, end, error="ValueError", message=message))


def categorical(key: Any, logits: Any, axis: int = -1) -> Tensor:
    """Indices drawn with probabilities softmax(logits).

    Args:
        key: uint32 `[2]`.
        logits: logarithms of probabilities up to a constant, float `[...]`.
        axis: the axis of the choices.

    Returns:
        int64, the shape of the logits without the axis.

    Raises:
        SpecError: the key is none, or the logits are no floats.
        AxisError: no such axis.

    Source: Gumbel 1954; the largest of `logits - log(-log(u))` for uniform u is at k with
    probability softmax(logits)[k].

    Example:
        >>> logits = np.log(np.array([[0.1, 0.9], [1.0, 0.0]]) + 1e-9)
        >>> graphify.random.categorical(graphify.random.key(0), logits).numpy()
        array([1, 0])
    """
    t = to_tensor(logits)
    noise = -e.log(-e.log1p(-_unit(key, t.dims, _float_dtype(t.dtype))))
    return argmax(t + noise, axis=axis)
