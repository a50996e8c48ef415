"""Convolutions, by TensorFlow's names and arguments, in any number of dimensions.

    conv1d(input, filters, stride=2, padding="SAME")     # [n, width, c] -> [n, width / 2, q]

Channels come last unless `data_format` says otherwise. Steps and dilations may be combined, and
lengths may be known at run time only.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphify.errors import ShapeError, SpecError
from graphify.ir.sizes import Dim, Shape, decide_equal, product
from graphify.ir.tensor import Tensor
from graphify.nn._arguments import Geometry, channels_first, per_axis, reach, to_tensor
from graphify.ops import convolution as ops
from graphify.ops import core
from graphify.ops.shape import as_dim, checked_dim, move_axis


def convolution(
    input: Any,
    filters: Any,
    strides: Any = None,
    padding: Any = "VALID",
    data_format: str | None = None,
    dilations: Any = None,
) -> Tensor:
    """The convolution (without flips: the correlation) of an array with a kernel.

    Args:
        input: `[..., *spatial, channels]`, with as many spatial axes as the kernel has.
        filters: the kernel, `[*window, channels / groups, outputs]`. Where the input has `groups`
            times as many channels, each group of them makes its share of the outputs.
        strides: steps between windows, one for all axes or one for each.
        padding: "VALID" for none; "SAME" for a result of length `ceil(length / stride)`; or a
            pair `(before, after)` for each spatial axis.
        data_format: None or "NWC", "NHWC", "NDHWC"; "NCW", "NCHW", "NCDHW" for channels that come
            before the spatial axes.
        dilations: steps between the places of a window.

    Returns:
        `[..., *places, outputs]` in the common dtype.

    Raises:
        ShapeError: axes or channels that do not fit; a window larger than the padded input.
        ValueError: a wrong number of strides, dilations or paddings, or an unknown one.

    Example:
        >>> x, w = np.arange(5.0).reshape(1, 5, 1), np.ones((3, 1, 1))
        >>> graphify.nn.convolution(x, w).numpy().ravel()
        array([3., 6., 9.])
    """
    return _convolution("convolution", input, filters, strides, padding, data_format, dilations)


conv = convolution


def conv1d(
    input: Any,
    filters: Any,
    stride: Any = 1,
    padding: Any = "VALID",
    data_format: str | None = "NWC",
    dilations: Any = None,
) -> Tensor:
    """`convolution` along one axis.

    Args:
        input: `[..., width, channels]`.
        filters: `[window, channels, outputs]`.
        stride: the step from window to window.
        padding: "VALID", "SAME" or pairs `(before, after)`, as for `convolution`.
        data_format: "NWC", or "NCW" with the channels first.
        dilations: steps between the places of a window.

    Returns:
        `[..., places, outputs]`, in the common dtype.

    Raises:
        ShapeError, ValueError: as `convolution` does.

    Example:
        >>> x, w = np.arange(5.0).reshape(1, 5, 1), np.ones((3, 1, 1))
        >>> graphify.nn.conv1d(x, w).numpy().ravel()
        array([3., 6., 9.])
    """
    return _convolution("conv1d", input, filters, stride, padding, data_format, dilations, 1)


def conv2d(
    input: Any,
    filters: Any,
    strides: Any = 1,
    padding: Any = "VALID",
    data_format: str | None = "NHWC",
    dilations: Any = None,
) -> Tensor:
    """`convolution` along two axes.

    Args:
        input: `[..., height, width, channels]`.
        filters: `[rows, columns, channels, outputs]`.
        strides: steps from window to window, one for all axes or one each.
        padding: "VALID", "SAME" or pairs `(before, after)`, as for `convolution`.
        data_format: "NHWC", or "NCHW" with the channels first.
        dilations: steps between the places of a window.

    Returns:
        `[..., *places, outputs]`, in the common dtype.

    Raises:
        ShapeError, ValueError: as `convolution` does.

    Example:
        >>> graphify.nn.conv2d(np.ones((1, 3, 3, 1)), np.ones((2, 2, 1, 1))).numpy()[0, :, :, 0]
        array([[4., 4.],
               [4., 4.]])
    """
    return _convolution("conv2d", input, filters, strides, padding, data_format, dilations, 2)


def conv3d(
    input: Any,
    filters: Any,
    strides: Any = 1,
    padding: Any = "VALID",
    data_format: str | None = "NDHWC",
    dilations: Any = None,
) -> Tensor:
    """`convolution` along three axes.

    Args:
        input: `[..., depth, height, width, channels]`.
        filters: `[layers, rows, columns, channels, outputs]`.
        strides: steps from window to window, one for all axes or one each.
        padding: "VALID", "SAME" or pairs `(before, after)`, as for `convolution`.
        data_format: "NDHWC", or "NCDHW" with the channels first.
        dilations: steps between the places of a window.

    Returns:
        `[..., *places, outputs]`, in the common dtype.

    Raises:
        ShapeError, ValueError: as `convolution` does.

    Example:
        >>> graphify.nn.conv3d(np.ones((1, 3, 3, 3, 1)), np.ones((2, 2, 2, 1, 1))).shape
        (1, 2, 2, 2, 1)
    """
    return _convolution("conv3d", input, filters, strides, padding, data_format, dilations, 3)


def depthwise_conv2d(
    input: Any,
    filter: Any,
    strides: Any = 1,
    padding: Any = "VALID",
    data_format: str | None = None,
    dilations: Any = None,
) -> Tensor:
    """Each channel convolved with kernels of its own.

    Args:
        input: `[..., height, width, channels]`.
        filter: `[rows, columns, channels, multiplier]`; channel c makes the outputs
            `c * multiplier ... (c + 1) * multiplier - 1`.
        strides: steps from window to window, one for all axes or one each.
        padding: "VALID", "SAME" or pairs `(before, after)`, as for `convolution`.
        data_format: "NHWC", or "NCHW" with the channels first.
        dilations: steps between the places of a window.

    Returns:
        `[..., *places, channels * multiplier]`, in the common dtype.

    Raises:
        ShapeError, ValueError: as `convolution` does.

    Example:
        >>> x, w = np.ones((1, 3, 3, 2)), np.ones((2, 2, 2, 3))
        >>> graphify.nn.depthwise_conv2d(x, w).shape
        (1, 2, 2, 6)
    """
    w = to_tensor(filter)
    if w.ndim != 4:
        raise ShapeError(f"depthwise_conv2d: argument 'filter': expected 4 axes, got {w.spec}")
    rows, columns, channels, multiplier = w.dims
    kernel = core.reshape(w, shape=(rows, columns, 1, channels * multiplier))
    arguments = (strides, padding, data_format, dilations)
    return _convolution("depthwise_conv2d", input, kernel, *arguments, rank=2, groups=channels)


def conv_transpose(
    input: Any,
    filters: Any,
    strides: Any = 1,
    padding: Any = "SAME",
    output_shape: Any = None,
    data_format: str | None = None,
    dilations: Any = None,
) -> Tensor:
    """The transpose of `convolution`: what its gradient does to the input.

    Args:
        input: `[..., *places, channels]`.
        filters: `[*window, outputs, channels]`: the kernel of the convolution that goes back.
        strides, padding, dilations: of that convolution.
        output_shape: lengths of the result's spatial axes, or its whole shape. None: for "SAME"
            the lengths times the strides, else the least ones that the windows fill.

    Raises:
        ShapeError: the convolution of an array of that shape is not of the input's shape.

    Example:
        >>> y, w = np.ones((1, 2, 1)), np.array([1.0, 2.0]).reshape(2, 1, 1)
        >>> graphify.nn.conv_transpose(y, w, strides=2).numpy().ravel()
        array([1., 2., 1., 2.])
    """
    name = "conv_transpose"
    y, w, rank = _operands(name, input, filters, None)
    first = channels_first(name, data_format, rank)
    y, lead = _flat(y, rank, first)
    y = _same_channels(name, y, w.dims[-1])
    shape = output_shape
    if shape is None:
        lengths = _grown(name, y.dims[1:-1], w.dims[:-2], strides, padding, dilations, first)
    else:
        lengths = _spatial_of(name, shape, rank, first)
    g = Geometry.of(name, lengths, w.dims[:-2], strides, padding, dilations, first)
    if shape is not None:
        text = f"{name}: argument 'output_shape': its convolution has lengths {g.size}, expected"
        dims = [
            checked_dim(n, o, f"{text} {y.dims[1:-1]}")
            for n, o in zip(y.dims[1:-1], g.size, strict=True)
        ]
        y = core.reshape(y, shape=(y.dims[0], *dims, y.dims[-1]))
    x = ops.convolution_input(y, w, size=lengths, groups=1, **g.attrs)
    return _unflat(x, lead, first)


# --- shared ---------------------------------------------------------------------------------------


def _convolution(
    name: str,
    input: Any,
    filters: Any,
    strides: Any,
    padding: Any,
    data_format: str | None,
    dilations: Any,
    rank: int | None = None,
    groups: Dim | None = None,
) -> Tensor:
    x, w, rank = _operands(name, input, filters, rank)
    first = channels_first(name, data_format, rank)
    x, lead = _flat(x, rank, first)
    if groups is None:
        groups = _groups(name, x.dims[-1], w.dims[-2], w.dims[-1])
    x = _same_channels(name, x, w.dims[-2] * groups)
    g = Geometry.of(name, x.dims[1:-1], w.dims[:-2], strides, padding, dilations, first)
    y = ops.convolution(x, w, size=g.size, groups=groups, **g.attrs)
    return _unflat(y, lead, first)


def _operands(name: str, input: Any, filters: Any, rank: int | None) -> tuple[Tensor, Tensor, int]:
    x, w = to_tensor(input), to_tensor(filters)
    for argument, tensor in (("input", x), ("filters", w)):
        if tensor.dtype.kind == "b":
            raise SpecError(f"{name}: argument {argument!r}: expected numbers, got {tensor.spec}")
    rank = max(w.ndim - 2, 0) if rank is None else rank
    if w.ndim != rank + 2:
        raise ShapeError(f"{name}: argument 'filters': expected {rank + 2} axes, got {w.spec}")
    if x.ndim < rank + 1:
        raise ShapeError(
            f"{name}: argument 'input': expected {rank + 2} or more axes, {rank} of them spatial, "
            f"got {x.spec}"
        )
    return x, w, rank


def _flat(x: Tensor, rank: int, first: bool) -> tuple[Tensor, Shape]:
    """`[samples, *spatial, channels]`, and the axes that the samples were."""
    lead = x.dims[: x.ndim - rank - 1]
    if first:
        x = move_axis(x, len(lead), x.ndim - 1)
    if len(lead) == 1:
        return x, lead
    return core.reshape(x, shape=(product(lead), *x.dims[len(lead) :])), lead


def _unflat(y: Tensor, lead: Shape, first: bool) -> Tensor:
    if len(lead) != 1:
        y = core.reshape(y, shape=(*lead, *y.dims[1:]))
    return move_axis(y, y.ndim - 1, len(lead)) if first else y


def _groups(name: str, channels: Dim, each: Dim, outputs: Dim) -> int:
    """How many groups of channels there are."""
    if not (isinstance(channels, int) and isinstance(each, int)) or channels == each:
        return 1
    groups, rest = divmod(channels, each) if each else (0, 1)
    if rest or not groups or (isinstance(outputs, int) and outputs % groups):
        raise ShapeError(
            f"{name}: argument 'filters': expected {channels} input channels, or a divisor of "
            f"them and outputs for each group, got {each} and {outputs} outputs"
        )
    return groups


def _same_channels(name: str, x: Tensor, expected: Dim) -> Tensor:
    """The input, its number of channels checked; by the run, if it is known only then."""
    if decide_equal(x.dims[-1], expected):
        return x
    text = f"{name}: argument 'input': expected {expected} channels, got {x.dims[-1]}"
    return core.reshape(x, shape=(*x.dims[:-1], checked_dim(x.dims[-1], expected, text)))


def _grown(
    name: str,
    lengths: Shape,
    window: Shape,
    strides: Any,
    padding: Any,
    dilations: Any,
    first: bool,
) -> Shape:
    """The lengths of a transposed convolution that go with an input's."""
    rank = len(window)
    steps = per_axis(name, "strides", strides, rank, first)
    gaps = per_axis(name, "dilations", 1 if dilations is None else dilations, rank, first)
    if padding == "SAME":
        return tuple(n * s for n, s in zip(lengths, steps, strict=True))
    full = tuple(
        (n - 1) * s + reach(k, d) for n, s, k, d in zip(lengths, steps, window, gaps, strict=True)
    )
    if padding == "VALID":
        return full
    # What padding an array of these very lengths adds to it, a transposed convolution takes away.
    padded = Geometry.of(name, full, (1,) * rank, 1, padding, None, first)
    return tuple(2 * n - p for n, p in zip(full, padded.size, strict=True))


def _spatial_of(name: str, shape: Any, rank: int, first: bool) -> Shape:
    """Spatial lengths of an output shape, which may be whole."""
    items = list(shape) if isinstance(shape, (tuple, list, np.ndarray)) else [shape]
    dims = tuple(as_dim(item, "output_shape") for item in items)
    if len(dims) > rank + 1:
        return dims[-rank:] if first else dims[-rank - 1 : -1]
    if len(dims) != rank:
        raise ShapeError(
            f"{name}: argument 'output_shape': expected {rank} spatial lengths, got {shape!r}"
        )
    return dims
