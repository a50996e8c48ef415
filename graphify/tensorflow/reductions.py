"""tf.reduce_*, extremes and their places, running sums, sorting."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np

from graphify.ir.tensor import Tensor
from graphify.numpy._table import axis_of
from graphify.ops import core
from graphify.tensorflow.values import (
    ANY,
    INT32,
    axes,
    dtype_of,
    gnp,
    nn,
    plain,
    same,
    tensor,
)

TopKV2 = namedtuple("TopKV2", ["values", "indices"])
Unique = namedtuple("Unique", ["y", "idx"])
UniqueWithCounts = namedtuple("UniqueWithCounts", ["y", "idx", "count"])


def _reduction(function: Callable[..., Any], kinds: str, **options: Any) -> Callable[..., Tensor]:
    """The result has the dtype of the operand."""

    def entry(input_tensor: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
        x = tensor(input_tensor, kinds=kinds)
        result = function(x, axis=axes(axis, x), keepdims=bool(keepdims), **options)
        return core.to_dtype(core.strong(result), x.dtype)

    return entry


def _sum(x: Tensor, **options: Any) -> Any:
    return gnp.sum(x, dtype=x.dtype, **options)


def _prod(x: Tensor, **options: Any) -> Any:
    return gnp.prod(x, dtype=x.dtype, **options)


def _mean(x: Tensor, **options: Any) -> Any:
    """Of integers it is one: what the division leaves is dropped, towards 0."""
    if x.dtype.kind not in "iu":
        return gnp.mean(x, **options)
    total = _sum(x, **options)
    count = _sum(gnp.ones_like(x), **options)
    quotient = gnp.floor_divide(total, count)
    return quotient + gnp.astype((quotient < 0) & (quotient * count != total), x.dtype)


def _euclidean(x: Tensor, **options: Any) -> Any:
    squares = _sum(gnp.real(x * gnp.conjugate(x)), **options)
    return gnp.sqrt(squares)


def _real(function: Callable[..., Any], kinds: str) -> Callable[..., Tensor]:
    """A reduction whose result is of real numbers."""

    def entry(input_tensor: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
        x = tensor(input_tensor, kinds=kinds)
        result = function(x, axis=axes(axis, x), keepdims=bool(keepdims))
        return core.to_dtype(core.strong(result), gnp.real(x).dtype)

    return entry


def _place(function: Callable[..., Any], worst: float) -> Callable[..., Tensor]:
    """argmax, argmin: of nan, TensorFlow takes no notice."""

    def entry(input: Any, axis: Any = None, output_type: Any = None) -> Tensor:
        x = tensor(input, kinds="fiub")
        if x.dtype.kind not in "iub":
            x = gnp.where(gnp.isnan(x), core.full((), worst, x.dtype), x)
        place = 0 if axis is None else plain(axis, "axis")
        found = function(x, axis=axis_of(place, x.ndim))
        return core.cast(found, dtype=dtype_of(output_type, np.int64))

    return entry


def _running(function: Callable[..., Any], neutral: int) -> Callable[..., Tensor]:
    def entry(x: Any, axis: Any = 0, exclusive: Any = False, reverse: Any = False) -> Any:
        value = tensor(x, kinds="fiuc")
        place = axis_of(plain(axis, "axis"), value.ndim)
        if reverse:
            value = gnp.flip(value, axis=place)
        if exclusive:
            ends = [(0, 0)] * value.ndim
            ends[place] = (1, 0)
            value = gnp.pad(value, ends, constant_values=neutral)
            value = value[(slice(None),) * place + (slice(None, -1),)]
        result = function(value, axis=place, dtype=value.dtype)
        return gnp.flip(result, axis=place) if reverse else result

    return entry


def _count_nonzero(input: Any, axis: Any, keepdims: Any, dtype: Any) -> Tensor:
    x = tensor(input, kinds=ANY)
    found = gnp.count_nonzero(x, axis=axes(axis, x), keepdims=bool(keepdims))
    return core.to_dtype(core.strong(found), dtype_of(dtype))


def _zero_fraction(value: Any) -> Any:
    return gnp.mean(gnp.astype(gnp.equal(tensor(value), 0), np.float32))


# --- order ----------------------------------------------------------------------------------------


def _argsort(values: Any, axis: Any, direction: Any, stable: Any = False) -> Tensor:
    x = tensor(values, kinds="fiu")
    place = axis_of(plain(axis, "axis"), x.ndim)
    if direction == "ASCENDING":
        return core.cast(gnp.argsort(x, axis=place, stable=True), dtype=INT32)
    if direction != "DESCENDING":
        raise ValueError(f"direction: expected 'ASCENDING' or 'DESCENDING', got {direction!r}")
    order = gnp.argsort(gnp.flip(x, axis=place), axis=place, stable=True)  # the first of equals
    return core.cast(x.shape[place] - 1 - gnp.flip(order, axis=place), dtype=INT32)


def _sort(values: Any, axis: Any, direction: Any) -> Any:
    x = tensor(values, kinds="fiu")
    place = axis_of(plain(axis, "axis"), x.ndim)
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(f"direction: expected 'ASCENDING' or 'DESCENDING', got {direction!r}")
    ordered = gnp.sort(x, axis=place)
    return ordered if direction == "ASCENDING" else gnp.flip(ordered, axis=place)


def _top_k(input: Any, k: Any = 1, sorted: Any = True, index_type: Any = None) -> Any:
    x = tensor(input, kinds="fiu")
    found = _argsort(x, -1, "DESCENDING")[..., :k]
    values = gnp.take_along_axis(x, found, axis=-1)
    return TopKV2(values, core.cast(found, dtype=dtype_of(index_type, np.int32)))


def _in_order_of_appearance(x: Any, out_idx: Any) -> tuple[Tensor, Tensor, Tensor]:
    value = tensor(x, kinds=ANY)
    if value.ndim != 1:
        raise ValueError(f"unique: expected one axis, got {value.spec}")
    _, first, inverse, counts = gnp.unique(
        value, return_index=True, return_inverse=True, return_counts=True
    )
    order = gnp.argsort(first)
    rank = gnp.argsort(order)
    dtype = dtype_of(out_idx)
    return (
        value[first[order]],
        core.cast(rank[inverse], dtype=dtype),
        core.cast(counts[order], dtype=dtype),
    )


def _searchsorted(sorted_sequence: Any, values: Any, side: Any, out_type: Any) -> Tensor:
    a, v = same("fiu", sorted_sequence, values)
    if a.ndim != 1:
        raise ValueError(f"searchsorted: expected sorted_sequence with one axis, got {a.spec}")
    return core.cast(gnp.searchsorted(a, v, side=side), dtype=dtype_of(out_type))


OPS: dict[str, Callable[..., Any]] = {
    "math.reduce_all": _reduction(gnp.all, "b"),
    "math.reduce_any": _reduction(gnp.any, "b"),
    "math.reduce_euclidean_norm": _reduction(_euclidean, "fiuc"),
    "math.reduce_logsumexp": _reduction(nn.logsumexp, "f"),
    "math.reduce_max": _reduction(gnp.max, "fiu"),
    "math.reduce_mean": _reduction(_mean, "fiuc"),
    "math.reduce_min": _reduction(gnp.min, "fiu"),
    "math.reduce_prod": _reduction(_prod, "fiuc"),
    "math.reduce_std": _real(gnp.std, "fc"),
    "math.reduce_sum": _reduction(_sum, "fiuc"),
    "math.reduce_variance": _real(gnp.var, "fc"),
    "math.argmax": _place(gnp.argmax, -np.inf),
    "math.argmin": _place(gnp.argmin, np.inf),
    "math.count_nonzero": _count_nonzero,
    "math.zero_fraction": _zero_fraction,
    "math.cumsum": _running(gnp.cumsum, 0),
    "math.cumprod": _running(gnp.cumprod, 1),
    "math.top_k": _top_k,
    "argsort": _argsort,
    "sort": _sort,
    "searchsorted": _searchsorted,
    "unique": lambda x, out_idx: Unique(*_in_order_of_appearance(x, out_idx)[:2]),
    "unique_with_counts": lambda x, out_idx: UniqueWithCounts(*_in_order_of_appearance(x, out_idx)),
}
