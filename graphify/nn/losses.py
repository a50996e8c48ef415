"""Losses, and labels as vectors, by TensorFlow's names and arguments.

sparse_softmax_cross_entropy_with_logits(labels, logits)     # one number for each label
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphify.errors import ShapeError, SpecError
from graphify.ir.promotion import python_dtype, result_type
from graphify.ir.sizes import decide_equal
from graphify.ir.tensor import Tensor
from graphify.ir.types import DType, canonical_dtype, is_integer
from graphify.nn._arguments import axes_of, count_of, floats, number, same_shape, to_tensor, wide
from graphify.nn.activation import left, log_softmax
from graphify.ops import core
from graphify.ops import elementwise as e
from graphify.ops.reduction import pick_along, reduce_sum
from graphify.ops.shape import as_length, expand_dims, in_range, iota, size_value

INT64 = np.dtype(np.int64)


def softmax_cross_entropy_with_logits(labels: Any, logits: Any, axis: int = -1) -> Tensor:
    """`-sum(labels * log_softmax(logits))` along the axis of classes.

    Args:
        labels: the probability of each class, in the shape of `logits`.
        logits: what softmax makes probabilities of.

    Example:
        >>> float(softmax_cross_entropy_with_logits([0.0, 1.0], [0.0, 0.0]))
        0.6931471805599453
    """
    name = "softmax_cross_entropy_with_logits"
    p, x = _operands(name, labels, logits, "logits")
    same_shape(name, p, x)
    axes = axes_of(axis, x.ndim)
    terms = core.to_dtype(p * log_softmax(x, axis), wide(x.dtype))
    return core.to_dtype(-reduce_sum(terms, axes=axes), x.dtype)


def sparse_softmax_cross_entropy_with_logits(labels: Any, logits: Any) -> Tensor:
    """`-log_softmax(logits)` of the class that each label names.

    Args:
        labels: integers from 0 to the number of classes less one.
        logits: `[*labels.shape, classes]`.

    Raises:
        ShapeError: the shapes do not fit.
        ValueError: a label that names no class.

    Example:
        >>> float(sparse_softmax_cross_entropy_with_logits(1, [0.0, 0.0]))
        0.6931471805599453
    """
    name = "sparse_softmax_cross_entropy_with_logits"
    y, x = to_tensor(labels), floats(logits, f"{name}: argument 'logits'")
    if not is_integer(y.dtype):
        raise SpecError(f"{name}: argument 'labels': expected integers, got {y.spec}")
    lead = x.dims[:-1]
    if x.ndim == 0 or len(lead) != y.ndim or _differ(lead, y.dims):
        raise ShapeError(f"{name}: argument 'labels': expected shape {lead}, got {y.dims}")
    classes = size_value(size=x.dims[-1])
    index = in_range(
        core.to_dtype(y, INT64),
        0,
        classes,
        error="ValueError",
        message=f"{name}: argument 'labels': expected 0 <= label < {{high}}, got {{bad}}",
    )
    picked = pick_along(log_softmax(x), expand_dims(index, y.ndim), y.ndim)
    return -core.reshape(picked, shape=y.dims)


def sigmoid_cross_entropy_with_logits(labels: Any, logits: Any) -> Tensor:
    """`-labels * log(sigmoid(x)) - (1 - labels) * log(1 - sigmoid(x))`, elementwise.

    Example:
        >>> float(sigmoid_cross_entropy_with_logits(1.0, 1000.0))
        0.0
    """
    name = "sigmoid_cross_entropy_with_logits"
    p, x = _operands(name, labels, logits, "logits")
    same_shape(name, p, x)
    return e.where(x >= 0, x, 0) - x * p + e.log1p(e.exp(left(x)))


def mean_squared_error(labels: Any, predictions: Any, axis: Any = None) -> Tensor:
    """The mean of `(labels - predictions)**2` over axes, all of them if None.

    Example:
        >>> float(mean_squared_error([1.0, 2.0], [1.0, 4.0]))
        2.0
    """
    name = "mean_squared_error"
    a, b = _operands(name, labels, predictions, "predictions")
    same_shape(name, a, b)
    return mean(e.square(a - b), axis)


def huber(labels: Any, predictions: Any, delta: float = 1.0, axis: Any = None) -> Tensor:
    """The mean of a loss that is a parabola for errors up to `delta`, and a line beyond.

    Example:
        >>> float(huber([0.0], [3.0]))
        2.5
    """
    a, b = _operands("huber", labels, predictions, "predictions")
    same_shape("huber", a, b)
    error, edge, half = e.absolute(a - b), number(delta, a), number(0.5, a)
    return mean(e.where(error <= edge, error * error * half, (error - half * edge) * edge), axis)


def l2_loss(t: Any) -> Tensor:
    """`sum(t**2) / 2`.

    Example:
        >>> float(l2_loss([3.0, 4.0]))
        12.5
    """
    x = floats(t, "l2_loss: argument 't'")
    total = reduce_sum(e.square(core.to_dtype(x, wide(x.dtype))), axes=axes_of(None, x.ndim))
    return core.to_dtype(total * 0.5, x.dtype)


def one_hot(
    indices: Any,
    depth: Any,
    on_value: Any = 1,
    off_value: Any = 0,
    axis: int = -1,
    dtype: Any = None,
) -> Tensor:
    """A new axis of length `depth` that is `on_value` at the index and `off_value` elsewhere.

    Args:
        indices: integers; one that is negative, or `depth` or more, makes a row of `off_value`.
        axis: where the new axis is in the result.
        dtype: of the result; the default float if None.

    Raises:
        SpecError: indices that are no integers; values that the dtype cannot hold.
        ShapeError: an array of values.
        ValueError: a negative depth.

    Example:
        >>> one_hot([1, 0], 3, dtype=int).numpy()
        array([[0, 1, 0],
               [1, 0, 0]])
    """
    x = to_tensor(indices)
    if not is_integer(x.dtype):
        raise SpecError(f"one_hot: argument 'indices': expected integers, got {x.spec}")
    (at,) = axes_of(axis, x.ndim + 1)
    length = as_length(depth, "one_hot: argument 'depth'")
    target = python_dtype(float) if dtype is None else canonical_dtype(dtype)
    shape = tuple(length if a == at else 1 for a in range(x.ndim + 1))
    hit = e.equal(expand_dims(x, at), core.reshape(iota(length=length, dtype=INT64), shape=shape))
    on, off = (_level(value, target) for value in (on_value, off_value))
    return e.where(hit, on, off)


def _level(value: Any, dtype: DType) -> Tensor:
    """A value of `one_hot` in the dtype of the result."""
    x = to_tensor(value)
    if x.dims:
        raise ShapeError(f"one_hot: expected numbers as values, got {x.spec}")
    if x.dtype.kind in "fc" and not np.can_cast(x.dtype, dtype, "same_kind"):
        raise SpecError(f"one_hot: expected values that cast to {dtype}, got {x.spec}")
    return core.to_dtype(x, dtype)


# --- shared ---------------------------------------------------------------------------------------


def mean(x: Tensor, axis: Any, keepdims: bool = False) -> Tensor:
    """The mean over axes; that of half precision is made in float32."""
    axes = axes_of(axis, x.ndim)
    total = reduce_sum(core.to_dtype(x, wide(x.dtype)), axes=axes, keepdims=keepdims)
    return core.to_dtype(total / count_of([x.dims[a] for a in axes], total.dtype), x.dtype)


def _operands(name: str, labels: Any, other: Any, argument: str) -> tuple[Tensor, Tensor]:
    """Labels and predictions in their common dtype; labels may be integers."""
    a = floats(labels, f"{name}: argument 'labels'")
    b = floats(other, f"{name}: argument {argument!r}")
    given = to_tensor(labels).dtype
    dtype = b.dtype if is_integer(given) else result_type(a.dtype, b.dtype)
    return core.to_dtype(a, dtype), core.to_dtype(b, dtype)


def _differ(a: Any, b: Any) -> bool:
    return any(decide_equal(m, n) is False for m, n in zip(a, b, strict=True))
