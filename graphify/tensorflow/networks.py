"""tf.nn, by the functions of the same names in graphify.nn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphify.errors import ShapeError, SpecError
from graphify.ir.tensor import Tensor
from graphify.ops import core
from graphify.tensorflow import values as v
from graphify.tensorflow.values import gnp, nn, plain, same, table, tensor


def _first(count: int, function: Callable[..., Any], kinds: str = "f") -> Callable[..., Any]:
    """The first arguments are tensors of one dtype; the others go on as they are."""
    return lambda *args: function(*same(kinds, *args[:count]), *args[count:])


def _pool(function: Callable[..., Any], kinds: str) -> Callable[..., Any]:
    return _first(1, lambda x, size, strides, padding, data_format=None: function(
        x, plain(size, "ksize"), plain(strides, "strides"), padding, data_format
    ), kinds)  # fmt: skip


def _transposed(
    x: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: Any = "SAME",
    data_format: Any = None,
    dilations: Any = None,
) -> Any:
    a, b = same("f", x, filters)
    shape = v.sizes(output_shape)
    return nn.conv_transpose(a, b, strides, padding, shape, data_format, dilations)


def _softmax(function: Callable[..., Any]) -> Callable[..., Tensor]:
    def entry(logits: Any, axis: Any = None) -> Any:
        return function(tensor(logits, kinds="f"), -1 if axis is None else plain(axis, "axis"))

    return entry


def _leaky_relu(features: Any, alpha: Any = 0.2) -> Any:
    x = tensor(features, kinds="fiu")
    x = core.cast(x, dtype=v.FLOAT32) if x.dtype.kind in "iu" else x
    return nn.leaky_relu(x, float(np.float32(plain(alpha, "alpha"))))  # as TensorFlow keeps it


def _silu(features: Any, beta: Any = 1.0) -> Any:
    x = tensor(features, kinds="f")
    return nn.silu(x, tensor(beta, x.dtype))


def _moments(x: Any, axes: Any, shift: Any = None, keepdims: Any = False) -> Any:
    value = tensor(x, kinds="f")
    return nn.moments(value, v.axes(axes, value), bool(keepdims))


def _normalized(
    x: Any, mean: Any, variance: Any, offset: Any, scale: Any, variance_epsilon: Any
) -> Any:
    given = [n for n in (x, mean, variance, offset, scale) if n is not None]
    made = iter(same("f", *given))
    parts = [None if n is None else next(made) for n in (x, mean, variance, offset, scale)]
    return nn.batch_normalization(*parts, variance_epsilon)


def _bias_add(value: Any, bias: Any, data_format: Any = None) -> Tensor:
    x, b = same("fiuc", value, bias)
    if b.ndim != 1:
        raise ShapeError(f"bias_add: bias: expected one axis, got {b.spec}")
    if data_format is not None and str(data_format).startswith("NC"):
        b = gnp.reshape(b, [-1, *[1] * (x.ndim - 2)])
    return x + b


def _embedded(features: Any, axis: Any = -1) -> Any:
    x = tensor(features, kinds="fiu")
    return nn.relu(gnp.concatenate([x, -x], axis=plain(axis, "axis")))


def _sparse_entropy(labels: Any, logits: Any) -> Any:
    return nn.sparse_softmax_cross_entropy_with_logits(
        tensor(labels, kinds="iu"), tensor(logits, kinds="f")
    )


def _entropy(labels: Any, logits: Any, axis: Any = -1) -> Any:
    return nn.softmax_cross_entropy_with_logits(*same("f", labels, logits), plain(axis, "axis"))


def _sigmoid_entropy(labels: Any = None, logits: Any = None) -> Any:
    if labels is None or logits is None:
        raise SpecError("sigmoid_cross_entropy_with_logits: labels and logits must be given")
    return nn.sigmoid_cross_entropy_with_logits(*same("f", labels, logits))


OPS: dict[str, Callable[..., Any]] = {
    **table(
        "f",
        {
            "math.sigmoid": nn.sigmoid,
            "math.softplus": nn.softplus,
            "nn.elu": nn.elu,
            "nn.l2_loss": nn.l2_loss,
            "nn.selu": nn.selu,
            "nn.softsign": lambda x: x / (gnp.absolute(x) + 1),
        },
    ),
    **table("fiu", {"nn.relu": nn.relu, "nn.relu6": nn.relu6}),
    "nn.avg_pool": _pool(nn.avg_pool, "f"),
    "nn.avg_pool1d": _pool(nn.avg_pool, "f"),
    "nn.avg_pool2d": _pool(nn.avg_pool, "f"),
    "nn.avg_pool3d": _pool(nn.avg_pool, "f"),
    "nn.batch_normalization": _normalized,
    "nn.bias_add": _bias_add,
    "nn.conv1d": _first(2, nn.conv1d),
    "nn.conv1d_transpose": _transposed,
    "nn.conv2d": _first(2, nn.conv2d),
    "nn.conv2d_transpose": _transposed,
    "nn.conv3d": _first(2, nn.conv3d),
    "nn.conv3d_transpose": _transposed,
    "nn.convolution": _first(2, nn.convolution),
    "nn.crelu": _embedded,
    "nn.depthwise_conv2d": _first(2, nn.depthwise_conv2d),
    "nn.gelu": lambda x, approximate=False: nn.gelu(tensor(x, kinds="f"), bool(approximate)),
    "nn.leaky_relu": _leaky_relu,
    "nn.log_softmax": _softmax(nn.log_softmax),
    "nn.max_pool": _pool(nn.max_pool, "fiu"),
    "nn.max_pool1d": _pool(nn.max_pool, "fiu"),
    "nn.max_pool2d": _pool(nn.max_pool, "fiu"),
    "nn.max_pool3d": _pool(nn.max_pool, "fiu"),
    "nn.moments": _moments,
    "nn.sigmoid_cross_entropy_with_logits": _sigmoid_entropy,
    "nn.silu": _silu,
    "nn.softmax": _softmax(nn.softmax),
    "nn.softmax_cross_entropy_with_logits": _entropy,
    "nn.sparse_softmax_cross_entropy_with_logits": _sparse_entropy,
}
