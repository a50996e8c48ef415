"""Moments, normalisation and dropout, by TensorFlow's names and arguments.

mean, variance = moments(x, axes=0)
y = batch_normalization(x, mean, variance, offset, scale)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphify.errors import SpecError
from graphify.ir.sizes import Shape, decide_equal
from graphify.ir.tensor import Tensor
from graphify.ir.types import is_complex, is_float
from graphify.ir.wrapping import as_tensor
from graphify.nn._arguments import floats, number, to_tensor, wide
from graphify.nn.losses import mean as mean_of
from graphify.ops import core
from graphify.ops import elementwise as e
from graphify.ops.random import random_bits
from graphify.ops.shape import as_dim, in_range


def moments(x: Any, axes: Any, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """The mean and the variance over axes; those of half precision are made in float32.

    Example:
        >>> mean, variance = moments([1.0, 3.0], axes=0)
        >>> float(mean), float(variance)
        (2.0, 1.0)
    """
    t = floats(x, "moments: argument 'x'")
    precise = core.to_dtype(t, wide(t.dtype))
    center = mean_of(precise, axes, keepdims=True)
    variance = mean_of(e.square(precise - center), axes, keepdims)
    if not keepdims:
        center = core.reshape(center, shape=variance.dims)
    return core.to_dtype(center, t.dtype), core.to_dtype(variance, t.dtype)


def batch_normalization(
    x: Any, mean: Any, variance: Any, offset: Any, scale: Any, variance_epsilon: Any = 1e-3
) -> Tensor:
    """`(x - mean) / sqrt(variance + variance_epsilon) * scale + offset`, shapes broadcast.

    Args:
        offset, scale: None for none.

    Example:
        >>> float(batch_normalization(3.0, 1.0, 4.0, None, None, variance_epsilon=0.0))
        1.0
    """
    t = floats(x, "batch_normalization: argument 'x'")
    center = floats(mean, "batch_normalization: argument 'mean'")
    spread = floats(variance, "batch_normalization: argument 'variance'")
    factor = 1 / e.sqrt(spread + number(variance_epsilon, spread))
    if scale is not None:
        factor = factor * floats(scale, "batch_normalization: argument 'scale'")
    y = (t - center) * factor
    if offset is not None:
        y = y + floats(offset, "batch_normalization: argument 'offset'")
    return y


def layer_norm(
    x: Any, axis: Any = -1, offset: Any = None, scale: Any = None, variance_epsilon: Any = 1e-3
) -> Tensor:
    """`batch_normalization` of each sample by its own moments over an axis or several.

    Example:
        >>> layer_norm([1.0, 3.0], variance_epsilon=0.0).numpy()
        array([-1.,  1.])
    """
    t = floats(x, "layer_norm: argument 'x'")
    center, variance = moments(t, axis, keepdims=True)
    return batch_normalization(t, center, variance, offset, scale, variance_epsilon)


_RATE = "dropout: argument 'rate': expected 0 <= rate < 1"


def dropout(x: Any, rate: Any, key: Any, noise_shape: Any = None) -> Tensor:
    """Zero in place of a part of the elements, chosen at random; the others grow to make up for it.

    Args:
        x: floats.
        rate: the chance of an element to become zero, `0 <= rate < 1`.
        key: of `graphify.random`; the same key always picks the same elements.
        noise_shape: a shape that broadcasts to that of x: elements along an axis of length 1 share
            one choice. An entry None is the axis of x.

    Raises:
        SpecError: x is not of floats, or the key is none.
        ValueError: a rate out of range.

    Example:
        >>> y = dropout(np.ones(1000), 0.5, graphify.random.key(0))
        >>> sorted(set(y.numpy().tolist()))
        [0.0, 2.0]
    """
    t = to_tensor(x)
    if not is_float(t.dtype):
        raise SpecError(f"dropout: argument 'x': expected floats, got {t.spec}")
    chance = as_tensor(rate)
    if is_complex(chance.dtype):
        raise SpecError(f"{_RATE}, got {chance.spec}")
    if not chance.is_symbolic and not np.all((chance.numpy() >= 0) & (chance.numpy() < 1)):
        raise ValueError(f"{_RATE}, got {rate!r}")
    k = to_tensor(key)
    if k.dtype != np.uint32 or k.dims != (2,):
        raise SpecError(
            f"dropout: argument 'key': expected a key, made by graphify.random.key, got {k.spec}"
        )
    bits = random_bits(k, np.uint64(0), shape=_noise(t, noise_shape), width=32)
    # 24 random bits are a float32 in [0, 1), as TensorFlow's choice is.
    unit = core.cast(e.right_shift(bits, np.uint32(8)), dtype=np.dtype(np.float32)) * 2.0**-24
    limits = {"error": "ValueError", "message": f"{_RATE}, got {{bad}}"}
    checked = in_range(core.to_dtype(chance, np.float32), np.float32(0), np.float32(1), **limits)
    kept = e.greater_equal(unit, checked)
    return e.where(kept, t / core.to_dtype(1 - chance, t.dtype), 0)


def _noise(x: Tensor, shape: Any) -> Shape:
    if shape is None:
        return x.dims
    if len(shape) != x.ndim:
        raise ValueError(
            f"dropout: argument 'noise_shape': expected {x.ndim} entries, got {shape!r}"
        )
    noise = tuple(
        dim if entry is None else as_dim(entry, "noise_shape")
        for entry, dim in zip(shape, x.dims, strict=True)
    )
    for n, dim in zip(noise, x.dims, strict=True):
        if decide_equal(n, 1) is False and decide_equal(n, dim) is False:
            raise ValueError(
                f"dropout: argument 'noise_shape': expected a shape that broadcasts to {x.dims}, "
                f"got {shape!r}"
            )
    return noise
