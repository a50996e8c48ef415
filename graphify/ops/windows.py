"""Reductions of the windows of an axis: their sums and maxima, what pooling is made of.

    window_sum(x, axis=1, window=2, stride=2, dilation=1, padding=0, size=3)

Place o of the result is made of the places `o * stride + k * dilation - padding` of the operand,
for k = 0 ... window - 1; places outside the operand do not count. Attributes of all four ops:

    axis        the axis, not negative; a window of several axes is one op after the other
    window      how many places a window has: a positive int
    stride      steps between windows: a positive int
    dilation    steps between the places of a window: a positive int
    padding     how far the first window lies before the start: an int or size
    size        the length of the result's axis: an int or size

    window_sum          sums; 0 for a window that lies outside altogether
    window_spread       its transpose: each element of the operand added to all its window's places
    window_max          maxima, NaN counting as the greatest; an error for a window outside
    window_argmax       the place along the axis of the first maximum of each window, as int64

Maxima taken along the last axis first find the first one in C order, as one maximum of the whole
window would.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphify.errors import ShapeError, SpecError
from graphify.ir.op import Op, defop
from graphify.ir.sizes import Dim, decide_less
from graphify.ir.tensor import Tensor
from graphify.ir.types import DType, Spec, is_complex
from graphify.ops import core
from graphify.ops.reduction import INT64, add_along, pick_along

# --- spec -----------------------------------------------------------------------------------------


def _spec(name: str, dtype: DType | None = None, ordered: bool = False) -> Callable[..., Spec]:
    def spec(x: Spec, axis: int, size: Dim, **attrs: Any) -> Spec:
        if ordered and is_complex(x.dtype):
            raise SpecError(f"{name}: argument 1: expected real numbers, got {x}")
        if decide_less(size, 0):
            raise ShapeError(f"{name}: size: the window does not fit into the operand, got {size}")
        return Spec((*x.shape[:axis], size, *x.shape[axis + 1 :]), dtype or x.dtype)

    return spec


# --- meaning, in NumPy ----------------------------------------------------------------------------


def places(
    length: int, size: int, window: int, stride: int, dilation: int, padding: int
) -> tuple[Any, Any]:
    """The places of each window, [size, window], and which of them exist.

    Raises:
        ShapeError: the size is negative.
    """
    if size < 0:
        raise ShapeError(f"window of {window}: it does not fit into an axis of length {length}")
    starts = np.arange(size)[:, None] * stride - padding
    found = starts + np.arange(window) * dilation
    return found, (found >= 0) & (found < length)


def _lengths(x: Any, axis: int, size: int) -> tuple[int, ...]:
    return (*x.shape[:axis], size, *x.shape[axis + 1 :])


def _at(axis: int, index: Any) -> tuple[Any, ...]:
    return (*(slice(None),) * axis, index)


def _wide(dtype: DType) -> DType:
    return np.dtype(np.float32) if dtype.kind in "fV" and dtype.itemsize == 2 else dtype


def _sum_eval(x: Any, axis: int, size: int, **attrs: Any) -> Any:
    found, exist = places(x.shape[axis], size, **attrs)
    y = np.zeros(_lengths(x, axis, size), _wide(x.dtype))
    for k in range(found.shape[1]):
        y[_at(axis, exist[:, k])] += np.take(x, found[exist[:, k], k], axis)
    return y.astype(x.dtype, copy=False)


def _spread_eval(x: Any, axis: int, size: int, **attrs: Any) -> Any:
    found, exist = places(size, x.shape[axis], **attrs)
    y = np.zeros(_lengths(x, axis, size), _wide(x.dtype))
    for k in range(found.shape[1]):  # no place twice for one k
        y[_at(axis, found[exist[:, k], k])] += np.compress(exist[:, k], x, axis)
    return y.astype(x.dtype, copy=False)


def _existing(length: int, size: int, **attrs: Any) -> Any:
    """Places as `places` gives them, the first that exists standing for those that do not."""
    found, exist = places(length, size, **attrs)
    if not exist.any(axis=1).all():
        raise ShapeError("window_max: a window lies outside the operand altogether")
    first = np.take_along_axis(found, exist.argmax(axis=1)[:, None], 1)
    return np.where(exist, found, first)


def _max_eval(x: Any, axis: int, size: int, **attrs: Any) -> Any:
    found = _existing(x.shape[axis], size, **attrs)
    y = np.take(x, found[:, 0], axis)
    for k in range(1, found.shape[1]):
        np.maximum(y, np.take(x, found[:, k], axis), out=y)
    return y


def _argmax_eval(x: Any, axis: int, size: int, **attrs: Any) -> Any:
    found = _existing(x.shape[axis], size, **attrs)
    columns = found.T.reshape(found.shape[1], size, *(1,) * (x.ndim - axis - 1))
    best: Any = np.take(x, found[:, 0], axis)
    index = np.empty(best.shape, np.int64)
    index[...] = columns[0]
    for k in range(1, found.shape[1]):
        tried: Any = np.take(x, found[:, k], axis)
        better = (tried > best) | ((tried != tried) & (best == best))  # NaN is the greatest
        np.copyto(best, tried, where=better)
        np.copyto(index, columns[k], where=better)
    return index


# --- the ops --------------------------------------------------------------------------------------

# length of the axis, window, stride, dilation, padding, size of the result
_CASES = [
    (6, 2, 2, 1, 0, 3, "fdD"),
    (5, 3, 1, 1, 1, 5, "dile"),
    (5, 3, 2, 1, 1, 3, "d?"),
    (7, 3, 1, 2, 2, 7, "d"),
    (4, 1, 3, 1, 0, 2, "d"),
    (3, 3, 1, 1, 0, 1, "d"),
    (0, 2, 1, 1, 0, 0, "d"),
]


def _samples(transposed: bool = False, ordered: bool = False) -> Callable[[], Any]:
    def sample() -> Any:
        rng = np.random.default_rng(0)
        result = []
        for axis, (length, window, stride, dilation, padding, size, dtypes) in enumerate(_CASES):
            at = axis % 3
            shape = [2, 2, 2]
            shape[at] = size if transposed else length
            attrs = {"window": window, "stride": stride, "dilation": dilation, "padding": padding}
            lengths = {"axis": at, "size": length if transposed else size}
            for d in dtypes.replace("D", "") if ordered else dtypes:
                x: Any = rng.normal(size=shape) * 4
                x = x + 1j * x[::-1] if d == "D" else x > 0 if d == "?" else x
                result.append(((x.astype(d),), {**lengths, **attrs}))
        return result

    return sample


def _define(name: str, evaluate: Callable[..., Any], doc: str, **fields: Any) -> Op:
    cell: list[Op] = []
    op = defop(
        name,
        eval=evaluate,
        vmap=lambda args, batched, axis, **attrs: cell[0](args[0], axis=axis + 1, **attrs),
        tf=name,
        doc=doc,
        **fields,
    )
    cell.append(op)
    return op


window_sum: Op = _define(
    "window_sum",
    _sum_eval,
    "sums of the windows of an axis",
    spec=_spec("window_sum"),
    vjp=lambda g, y, x, axis, size, **attrs: [
        window_spread(g, axis=axis, size=x.dims[axis], **attrs)
    ],
    jvp="linear",
    sample=_samples(),
)
window_spread: Op = _define(
    "window_spread",
    _spread_eval,
    "each element added to all places of its window: the transpose of window_sum",
    spec=_spec("window_spread"),
    vjp=lambda g, y, x, axis, size, **attrs: [window_sum(g, axis=axis, size=x.dims[axis], **attrs)],
    jvp="linear",
    sample=_samples(transposed=True),
)
window_argmax: Op = _define(
    "window_argmax",
    _argmax_eval,
    "the place along the axis of the first maximum of each window",
    spec=_spec("window_argmax", INT64, ordered=True),
    differentiable=(),
    sample=_samples(ordered=True),
)


def _max_vjp(g: Tensor, y: Tensor, x: Tensor, axis: int, **attrs: Any) -> list[Tensor]:
    return [add_along(core.zeros_like(x), window_argmax(x, axis=axis, **attrs), g, axis)]


window_max: Op = _define(
    "window_max",
    _max_eval,
    "maxima of the windows of an axis; the first one of each has the derivative",
    spec=_spec("window_max", ordered=True),
    vjp=_max_vjp,
    jvp=lambda ts, y, x, axis, **attrs: pick_along(
        ts[0], window_argmax(x, axis=axis, **attrs), axis
    ),
    sample=_samples(ordered=True),
)
