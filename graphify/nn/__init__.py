"""Neural-network functions on tensors: convolutions, pooling, activations, losses.

    graphify.nn.softmax(graphify.nn.conv1d(signals, filters, stride=2, padding="SAME"))

Names, arguments and conventions are those of `tf.nn`: channels last, "SAME" and "VALID" padding,
gradients at kinks. Everything takes arrays or tensors, works eagerly and in graphs, for sizes known
at run time only, and under `grad`, `jvp` and `vmap` in any nesting.
"""

from __future__ import annotations

from graphify.nn.activation import (
    elu,
    gelu,
    leaky_relu,
    log_softmax,
    logsumexp,
    relu,
    relu6,
    selu,
    sigmoid,
    silu,
    softmax,
    softplus,
    swish,
)
from graphify.nn.convolution import (
    conv,
    conv1d,
    conv2d,
    conv3d,
    conv_transpose,
    convolution,
    depthwise_conv2d,
)
from graphify.nn.losses import (
    huber,
    l2_loss,
    mean_squared_error,
    one_hot,
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits,
)
from graphify.nn.normalization import batch_normalization, dropout, layer_norm, moments
from graphify.nn.pooling import avg_pool, max_pool

__all__ = [
    "avg_pool",
    "batch_normalization",
    "conv",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose",
    "convolution",
    "depthwise_conv2d",
    "dropout",
    "elu",
    "gelu",
    "huber",
    "l2_loss",
    "layer_norm",
    "leaky_relu",
    "log_softmax",
    "logsumexp",
    "max_pool",
    "mean_squared_error",
    "moments",
    "one_hot",
    "relu",
    "relu6",
    "selu",
    "sigmoid",
    "sigmoid_cross_entropy_with_logits",
    "silu",
    "softmax",
    "softmax_cross_entropy_with_logits",
    "softplus",
    "sparse_softmax_cross_entropy_with_logits",
    "swish",
]
