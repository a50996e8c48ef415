"""Pooling: the maximum or the mean of each window, by TensorFlow's names and arguments.

max_pool(images, 2)                     # [n, h, w, c] -> [n, h / 2, w / 2, c]
avg_pool(signals, 3, 1, "SAME")         # [n, w, c] -> [n, w, c]
"""

from __future__ import annotations

from typing import Any

from graphify.errors import ShapeError
from graphify.ir.sizes import decide_less
from graphify.ir.tensor import Tensor
from graphify.nn._arguments import Geometry, Ints, channels_first, floats, per_axis, real, wide
from graphify.ops import core
from graphify.ops import windows as ops


def max_pool(
    input: Any,
    ksize: Any,
    strides: Any = None,
    padding: Any = "VALID",
    data_format: str | None = None,
) -> Tensor:
    """The maximum of each window of the spatial axes. The first one has the gradient.

    Args:
        input: `[samples, *spatial, channels]`, real numbers.
        ksize: the window's lengths, one for all spatial axes or one for each.
        strides: steps between windows; the window's lengths if None.
        padding: "VALID", "SAME" or a pair `(before, after)` for each spatial axis; what is padded
            is never the maximum.
        data_format: as in `convolution`.

    Raises:
        ShapeError: a window larger than the padded input.
        ValueError: a window that would lie in the padding altogether; a wrong number of entries.

    Example:
        >>> x = np.array([1.0, 3.0, 2.0, 0.0]).reshape(1, 4, 1)
        >>> graphify.nn.max_pool(x, 2).numpy().ravel()
        array([3., 2.])
    """
    x = real(input, "max_pool: argument 'input'")
    return _pool(ops.window_max, "max_pool", x, ksize, strides, padding, data_format)


def avg_pool(
    input: Any,
    ksize: Any,
    strides: Any = None,
    padding: Any = "VALID",
    data_format: str | None = None,
) -> Tensor:
    """The mean of each window of the spatial axes; what is padded does not count.

    Args:
        input: `[samples, *spatial, channels]`; integers become the default float.
        ksize, strides, padding, data_format: as in `max_pool`.

    Example:
        >>> x = np.array([1.0, 3.0, 2.0]).reshape(1, 3, 1)
        >>> graphify.nn.avg_pool(x, 2, 1, "SAME").numpy().ravel()
        array([2. , 2.5, 2. ])
    """
    x = floats(input, "avg_pool: argument 'input'")
    dtype = x.dtype
    x = core.to_dtype(x, wide(dtype))
    y = _pool(ops.window_sum, "avg_pool", x, ksize, strides, padding, data_format)
    # The same sums of ones say how many elements each window has.
    ones = core.full(_spatial_only(x, data_format), 1, x.dtype)
    y = y / _pool(ops.window_sum, "avg_pool", ones, ksize, strides, padding, data_format)
    return core.to_dtype(y, dtype)


def _spatial_only(x: Tensor, data_format: str | None) -> tuple[Any, ...]:
    """The shape with one sample and one channel."""
    rank = x.ndim - 2
    if channels_first("avg_pool", data_format, rank):
        return (1, 1, *x.dims[2:])
    return (1, *x.dims[1:-1], 1)


def _pool(
    op: Any, name: str, x: Tensor, ksize: Any, strides: Any, padding: Any, data_format: str | None
) -> Tensor:
    rank = x.ndim - 2
    if rank < 1:
        raise ShapeError(
            f"{name}: argument 'input': expected samples, spatial axes and channels, got {x.spec}"
        )
    first = channels_first(name, data_format, rank)
    start = 2 if first else 1
    window = per_axis(name, "ksize", ksize, rank, first)
    steps = window if strides is None else strides
    g = Geometry.of(name, x.dims[start : start + rank], window, steps, padding, None, first)
    _check_padding(name, window, g)
    for axis in reversed(range(rank)):  # so the first maximum is the first in C order
        x = op(
            x,
            axis=start + axis,
            window=window[axis],
            stride=g.strides[axis],
            dilation=1,
            padding=g.before[axis],
            size=g.size[axis],
        )
    return x


def _check_padding(name: str, window: Ints, g: Geometry) -> None:
    """Refuse windows of nothing but padding."""
    for axis, (length, before, after) in enumerate(zip(window, g.before, g.after, strict=True)):
        if decide_less(before, length) is False or decide_less(after, length) is False:
            raise ValueError(
                f"{name}: argument 'padding': expected less than the window's {length} places on "
                f"spatial axis {axis}, got {(before, after)}"
            )
