"""Activations: functions of one array, elementwise or along an axis.

    relu(x)     softmax(logits, axis=-1)

Integers become the default float where the result is none (`relu` keeps them). Gradients are finite
wherever the function is, also far from zero; at a kink they are TensorFlow's.
"""

from __future__ import annotations

import math
from typing import Any

from graphify.ir.tensor import Tensor
from graphify.nn._arguments import Ints, axes_of, floats, number, real, wide
from graphify.ops import core
from graphify.ops import elementwise as e
from graphify.ops.derivative import stop_gradient
from graphify.ops.reduction import reduce_max, reduce_sum, reduced_shape
from graphify.ops.special import erfc

# Source: Klambauer et al. 2017, "Self-normalizing neural networks".
SELU_SCALE, SELU_ALPHA = 1.0507009873554805, 1.6732632423543772

# The comparisons let NaN stay NaN, and decide which side's slope a kink has: TensorFlow's.


def relu(features: Any) -> Tensor:
    """`max(x, 0)`; the gradient at 0 is 0.

    Args:
        features: real numbers `[...]`.

    Returns:
        `[...]` in the same dtype.

    Raises:
        SpecError: complex numbers, or no numbers.

    Example:
        >>> graphify.nn.relu(np.array([-1.0, 0.0, 2.0])).numpy()
        array([0., 0., 2.])
    """
    x = real(features, "relu: argument 'features'")
    return e.where(x <= 0, 0, x)


def relu6(features: Any) -> Tensor:
    """`min(max(x, 0), 6)`; the gradient at 0 and at 6 is 0.

    Args:
        features: real numbers `[...]`.

    Returns:
        `[...]` in the same dtype.

    Raises:
        SpecError: complex numbers, or no numbers.

    Source: Krizhevsky 2010, "Convolutional deep belief networks on CIFAR-10".

    Example:
        >>> graphify.nn.relu6(np.array([-1.0, 0.0, 2.0])).numpy()
        array([0., 0., 2.])
    """
    x = real(features, "relu6: argument 'features'")
    return e.where(x <= 0, 0, e.where(x >= 6, 6, x))


def leaky_relu(features: Any, alpha: Any = 0.2) -> Tensor:
    """`x` where positive, else `alpha * x`.

    Args:
        features: real numbers `[...]`; bool and integers become floats.
        alpha: the slope left of 0.

    Returns:
        `[...]` in the same float dtype.

    Raises:
        SpecError: complex numbers, or no numbers.

    Source: Maas et al. 2013, "Rectifier nonlinearities improve neural network acoustic models".

    Example:
        >>> graphify.nn.leaky_relu(np.array([-1.0, 0.0, 2.0])).numpy().round(4)
        array([-0.2,  0. ,  2. ])
    """
    x = floats(features, "leaky_relu: argument 'features'")
    return e.where(x > 0, x, x * number(alpha, x))


def elu(features: Any, alpha: Any = 1.0) -> Tensor:
    """`x` where positive, else `alpha * (exp(x) - 1)`.

    Args:
        features: real numbers `[...]`; bool and integers become floats.
        alpha: minus the limit far left of 0.

    Returns:
        `[...]` in the same float dtype.

    Raises:
        SpecError: complex numbers, or no numbers.

    Source: Clevert et al. 2015, "Fast and accurate deep network learning by exponential linear
    units".

    Example:
        >>> graphify.nn.elu(np.array([-1.0, 0.0, 2.0])).numpy().round(4)
        array([-0.6321,  0.    ,  2.    ])
    """
    x = floats(features, "elu: argument 'features'")
    return e.where(x >= 0, x, _expm1_left(x) * number(alpha, x))


def selu(features: Any) -> Tensor:
    """`elu` scaled so that a network of it keeps mean 0 and variance 1.

    Args:
        features: real numbers `[...]`; bool and integers become floats.

    Returns:
        `[...]` in the same float dtype.

    Raises:
        SpecError: complex numbers, or no numbers.

    Source: Klambauer et al. 2017, "Self-normalizing neural networks".

    Example:
        >>> graphify.nn.selu(np.array([-1.0, 0.0, 2.0])).numpy().round(4)
        array([-1.1113,  0.    ,  2.1014])
    """
    x = floats(features, "selu: argument 'features'")
    negative = _expm1_left(x) * number(SELU_ALPHA, x)
    return e.where(x >= 0, x, negative) * number(SELU_SCALE, x)


def _expm1_left(x: Tensor) -> Tensor:
    """`exp(x) - 1` left of 0. Right of it exp could overflow, and spoil the gradient."""
    return e.expm1(e.where(x > 0, 0, x))


def sigmoid(x: Any) -> Tensor:
    """`1 / (1 + exp(-x))`, precise on both sides.

    Args:
        x: real numbers `[...]`; bool and integers become floats.

    Returns:
        `[...]` in the same float dtype.

    Raises:
        SpecError: complex numbers, or no numbers.

    Example:
        >>> graphify.nn.sigmoid(np.array([-1.0, 0.0, 2.0])).numpy().round(4)
        array([0.2689, 0.5   , 0.8808])
    """
    x = floats(x, "sigmoid: argument 'x'")
    small = e.exp(left(x))
    return e.where(x >= 0, 1, small) / (1 + small)


def left(x: Tensor) -> Tensor:
    """`-abs(x)`, with slope -1 at 0."""
    return e.where(x >= 0, -x, x)


def softplus(features: Any) -> Tensor:
    """`log(exp(x) + 1)`, without overflow.

    Args:
        features: real numbers `[...]`; bool and integers become floats.

    Returns:
        `[...]` in the same float dtype.

    Raises:
        SpecError: complex numbers, or no numbers.

    Example:
        >>> graphify.nn.softplus(np.array([-1.0, 0.0, 2.0])).numpy().round(4)
        array([0.3133, 0.6931, 2.1269])
    """
    x = floats(features, "softplus: argument 'features'")
    return e.where(x >= 0, x, 0) + e.log1p(e.exp(left(x)))


def silu(features: Any, beta: Any = 1.0) -> Tensor:
    """`x * sigmoid(beta * x)`; also known as swish.

    Args:
        features: real numbers `[...]`; bool and integers become floats.
        beta: a scalar, or an array that broadcasts.

    Returns:
        `[...]` in the same float dtype.

    Raises:
        SpecError: complex numbers, or no numbers.

    Source: Ramachandran et al. 2017, "Searching for activation functions".

    Example:
        >>> graphify.nn.silu(np.array([-1.0, 0.0, 2.0])).numpy().round(4)
        array([-0.2689,  0.    ,  1.7616])
    """
    x = floats(features, "silu: argument 'features'")
    return x * sigmoid(x * number(beta, x))


swish = silu


def gelu(features: Any, approximate: bool = False) -> Tensor:
    """`x` times the chance that a normal number is below `x`.

    Args:
        features: real numbers `[...]`; bool and integers become floats.
        approximate: use `0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)))`.

    Returns:
        `[...]` in the same float dtype.

    Raises:
        SpecError: complex numbers, or no numbers.

    Source: Hendrycks and Gimpel 2016, "Gaussian error linear units".

    Example:
        >>> graphify.nn.gelu(np.array([-1.0, 0.0, 2.0])).numpy().round(4)
        array([-0.1587,  0.    ,  1.9545])
    """
    x = floats(features, "gelu: argument 'features'")
    half = number(0.5, x)
    if approximate:
        inner = (x + x * x * x * number(0.044715, x)) * number(math.sqrt(2 / math.pi), x)
        return x * (e.tanh(inner) + 1) * half
    return x * erfc(x * number(-math.sqrt(0.5), x)) * half


# --- along axes -----------------------------------------------------------------------------------


def softmax(logits: Any, axis: Any = -1) -> Tensor:
    """`exp(x) / sum(exp(x))` along an axis (or several, as a tuple).

    Example:
        >>> graphify.nn.softmax([0.0, 0.0]).numpy()
        array([0.5, 0.5])
    """
    x = floats(logits, "softmax: argument 'logits'")
    axes = axes_of(axis, x.ndim)
    powers = e.exp(_shifted(x, axes))
    return powers / _sum(powers, axes)


def log_softmax(logits: Any, axis: Any = -1) -> Tensor:
    """The logarithm of `softmax`, precise where that is small.

    Args:
        logits: real numbers `[...]`; bool and integers become floats.
        axis: the axis, or axes, along which the exponentials add up to one.

    Returns:
        `[...]` in the same float dtype.

    Raises:
        SpecError: complex numbers, or no numbers.

    Example:
        >>> graphify.nn.log_softmax(np.array([-1.0, 0.0, 2.0])).numpy().round(4)
        array([-3.1698, -2.1698, -0.1698])
    """
    x = floats(logits, "log_softmax: argument 'logits'")
    axes = axes_of(axis, x.ndim)
    shifted = _shifted(x, axes)
    return shifted - e.log(_sum(e.exp(shifted), axes))


def logsumexp(a: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """`log(sum(exp(a)))` along axes, all of them if None; no overflow on the way.

    Example:
        >>> round(float(graphify.nn.logsumexp([1000.0, 1000.0])), 4)
        1000.6931
    """
    x = floats(a, "logsumexp: argument 'a'")
    axes = axes_of(axis, x.ndim)
    top = _top(x, axes)
    # The infinite maximum of -inf's alone, or of an inf, is no use as a shift.
    top = e.where(e.isfinite(top), top, 0)
    y = e.log(_sum(e.exp(x - top), axes)) + top
    return y if keepdims else core.reshape(y, shape=reduced_shape(x.dims, axes, False))


def _shifted(x: Tensor, axes: Ints) -> Tensor:
    """`x` less its maximum. What is subtracted changes no softmax, so it needs no derivative."""
    return x - _top(x, axes)


def _top(x: Tensor, axes: Ints) -> Tensor:
    if any(dim == 0 for dim in x.dims):  # nothing has no maximum
        return core.full(reduced_shape(x.dims, axes, True), 0, x.dtype)
    return stop_gradient(reduce_max(stop_gradient(x), axes=axes, keepdims=True))


def _sum(x: Tensor, axes: Ints) -> Tensor:
    """The sum, kept; that of half precision made in float32."""
    total = reduce_sum(core.to_dtype(x, wide(x.dtype)), axes=axes, keepdims=True)
    return core.to_dtype(total, x.dtype)
