"""Arrays: made, shaped, joined, indexed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphify.autograph.operators import calls
from graphify.autograph.operators.lists import GrowingList
from graphify.errors import ShapeError, SpecError
from graphify.ir.tensor import Tensor
from graphify.numpy._table import axis_of
from graphify.ops import core, effects
from graphify.tensorflow import values as v
from graphify.tensorflow.values import (
    INT32,
    dtype_of,
    gnp,
    nn,
    plain,
    same,
    sizes,
    tensor,
)

# --- made -----------------------------------------------------------------------------------------


def _constant(value: Any, dtype: Any = None, shape: Any = None) -> Any:
    wanted = None if dtype is None else dtype_of(dtype)
    x = tensor(value, wanted)
    if wanted is not None:
        v.one_dtype(x, wanted)
    if shape is None:
        return x
    return gnp.reshape(x, sizes(shape)) if x.ndim else gnp.broadcast_to(x, sizes(shape))


def _filled(number: int) -> Callable[..., Tensor]:
    return lambda shape, dtype=None, layout=None: gnp.full(
        sizes(shape), number, dtype_of(dtype, np.float32)
    )


def _filled_like(number: int) -> Callable[..., Tensor]:
    def entry(input: Any, dtype: Any = None, layout: Any = None) -> Any:
        x = tensor(input)
        return gnp.full(v.lengths(x), number, dtype_of(dtype, x.dtype))

    return entry


def _fill(dims: Any, value: Any, layout: Any = None) -> Any:
    filling = tensor(value)
    if filling.ndim:
        raise ShapeError(f"fill: expected a scalar value, got {filling.spec}")
    return gnp.broadcast_to(filling, sizes(dims))


def _eye(num_rows: Any, num_columns: Any, batch_shape: Any, dtype: Any) -> Any:
    matrix = gnp.eye(num_rows, num_columns, dtype=dtype_of(dtype))
    if batch_shape is None:
        return matrix
    return gnp.broadcast_to(matrix, [*sizes(batch_shape), *v.lengths(matrix)])


_RANGES = ("int32", "int64", "float32", "float64")


def _range(start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None) -> Any:
    if limit is None:
        start, limit = 0, start
    names = [tensor(n).dtype.name for n in (start, limit, delta)]
    if dtype is None and any(name not in _RANGES for name in names):
        raise SpecError(f"range: expected int32, int64, float32 or float64, got {names}")
    wanted = dtype_of(dtype, _RANGES[max(map(_RANGES.index, names))] if dtype is None else None)
    return gnp.arange(start, limit, delta, dtype=wanted)


def _linspace(start: Any, stop: Any, num: Any, axis: Any = 0) -> Any:
    first, last = same("fiu", start, stop)
    dtype = np.dtype(np.float64) if first.dtype.kind in "iu" else first.dtype
    return gnp.linspace(first, last, num, dtype=dtype, axis=plain(axis, "axis"))


def _one_hot(indices: Any, depth: Any, on_value: Any, off_value: Any, axis: Any, dtype: Any) -> Any:
    given = [n for n in (on_value, off_value) if n is not None]
    wanted = dtype_of(dtype) if dtype is not None else None
    if wanted is None:
        wanted = same(v.ANY, *given)[0].dtype if given else np.dtype(np.float32)
    on, off = (
        tensor(default if n is None else n, wanted)
        for n, default in ((on_value, 1), (off_value, 0))
    )
    for n in (on, off):
        v.one_dtype(n, wanted)
    place = -1 if axis is None else plain(axis, "axis")
    return nn.one_hot(tensor(indices, kinds="iu"), depth, on, off, place, wanted)


def _sequence_mask(lengths: Any, maxlen: Any, dtype: Any) -> Tensor:
    counts = tensor(lengths, kinds="iu")
    places = gnp.arange(gnp.max(counts) if maxlen is None else maxlen)
    return core.cast(gnp.less(places, counts[..., None]), dtype=dtype_of(dtype))


def _meshgrid(*args: Any, indexing: str = "xy", **_: Any) -> list[Tensor]:
    return list(gnp.meshgrid(*map(tensor, args), indexing=indexing))


# --- shapes ---------------------------------------------------------------------------------------


def _shape(input: Any, out_type: Any = None) -> Any:
    x, dtype = tensor(input), dtype_of(out_type, np.int32)
    if all(isinstance(n, int) for n in x.dims):
        return Tensor(np.array(x.dims, dtype))
    return gnp.stack([gnp.asarray(n, dtype) for n in x.shape])


def _size(input: Any, out_type: Any = None) -> Any:
    return gnp.asarray(gnp.size(tensor(input)), dtype_of(out_type, np.int32))


def _squeeze(input: Any, axis: Any = None) -> Any:
    x = tensor(input)
    places = v.axes(axis, x) if axis is not None else ()
    return gnp.squeeze(x, axis=places or None)


def _expand_dims(input: Any, axis: Any) -> Any:
    place = plain(axis, "axis")
    return gnp.expand_dims(tensor(input), place[0] if isinstance(place, list) else place)


def _transpose(a: Any, perm: Any = None, conjugate: Any = False) -> Any:
    x = gnp.transpose(tensor(a), None if perm is None else plain(perm, "perm"))
    return gnp.conjugate(x) if conjugate else x


def _items(values: Any) -> Any:
    """The tensors of a list, of one dtype; a list of run-time length, and an array, as they are."""
    known = isinstance(values, (list, tuple)) and not isinstance(values, GrowingList)
    return same(v.ANY, *values) if known else values


def _stack(values: Any, axis: Any = 0) -> Any:
    return calls.call(np.stack, _items(values), axis=plain(axis, "axis"))


def _concat(values: Any, axis: Any) -> Any:
    return calls.call(np.concatenate, _items(values), axis=plain(axis, "axis"))


def _unstack(value: Any, num: Any = None, axis: Any = 0) -> list[Tensor]:
    return list(gnp.unstack(tensor(value), axis=plain(axis, "axis")))


def _split(value: Any, num_or_size_splits: Any, axis: Any = 0, num: Any = None) -> list[Tensor]:
    x, parts = tensor(value), plain(num_or_size_splits, "num_or_size_splits")
    place = axis_of(plain(axis, "axis"), x.ndim)
    if not isinstance(parts, list):
        return list(gnp.split(x, parts, axis=place))
    known = sum(n for n in parts if n >= 0)
    rest = x.shape[place] - known
    complete = [rest if n < 0 else n for n in parts]
    whole = isinstance(rest, int) and (rest < 0 or rest > 0 and -1 not in parts)
    if whole or sum(n < 0 for n in parts) > 1:
        raise ShapeError(f"split: the sizes {parts} do not make up the length {x.dims[place]}")
    if -1 not in parts and not isinstance(rest, int):
        _check(rest, "equal", 0, "split: the sizes do not make up the length")
    ends = [sum(complete[:i]) for i in range(1, len(parts))]
    return list(gnp.split(x, ends, axis=place))


def _check(x: Any, comparison: str, y: Any, message: str) -> None:
    """Lengths and places are as they must be, when the run gets there."""
    sides = (core.cast(gnp.asarray(n), dtype=v.INT64) for n in (x, y))
    effects.check(*sides, comparison=comparison, message=message)


def _tile(input: Any, multiples: Any) -> Any:
    x, times = tensor(input), sizes(multiples)
    if len(times) != x.ndim:
        raise ShapeError(f"tile: multiples: expected {x.ndim} entries, got {len(times)}")
    return gnp.tile(x, times)


def _repeat(input: Any, repeats: Any, axis: Any = None) -> Any:
    counts = repeats if isinstance(repeats, int) else tensor(repeats, kinds="iu")
    return gnp.repeat(tensor(input), counts, axis=plain(axis, "axis"))


_MODES = {"CONSTANT": "constant", "REFLECT": "reflect", "SYMMETRIC": "symmetric"}


def _pad(tensor_: Any, paddings: Any, mode: Any = "CONSTANT", constant_values: Any = 0) -> Any:
    x, known = tensor(tensor_), _MODES.get(str(mode).upper())
    if known is None:
        raise ValueError(f"pad: mode: expected one of {sorted(_MODES)}, got {mode!r}")
    pairs = plain(paddings, "paddings") if isinstance(paddings, Tensor) else list(paddings)
    if len(pairs) != x.ndim:
        raise ShapeError(f"pad: paddings: expected {x.ndim} pairs, got {len(pairs)}")
    if known != "constant" or not pairs:
        return gnp.pad(x, pairs, mode=known) if pairs else x
    return gnp.pad(x, pairs, constant_values=tensor(constant_values, x.dtype))


def _roll(input: Any, shift: Any, axis: Any) -> Any:
    return gnp.roll(tensor(input), shift, axis=plain(axis, "axis"))


def _reverse(tensor_: Any, axis: Any) -> Any:
    x = tensor(tensor_)
    return gnp.flip(x, axis=v.axes(axis, x))


# --- indexing -------------------------------------------------------------------------------------


def _indices(indices: Any) -> Tensor:
    """Places, from 0: TensorFlow counts none from the end.

    Raises:
        InvalidArgumentError: a negative one, when the run gets there.
    """
    index = tensor(indices, kinds="iu")
    if index.dtype.kind == "i":
        zero = core.full((), 0, index.dtype)
        effects.check(index, zero, comparison="greater_equal", message="indices")
    return core.cast(index, dtype=v.INT64)


def _batch(index: Tensor, count: int) -> tuple[Tensor, ...]:
    """For each of the first axes, its places, in the shape of an index."""
    return tuple(
        gnp.reshape(gnp.arange(index.shape[i]), [-1 if j == i else 1 for j in range(index.ndim)])
        for i in range(count)
    )


def _gather(
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    axis: Any = None,
    batch_dims: Any = 0,
) -> Any:
    x, index = tensor(params), _indices(indices)
    count = axis_of(plain(batch_dims, "batch_dims"), index.ndim + 1)
    place = count if axis is None else axis_of(plain(axis, "axis"), x.ndim)
    if not count:
        return gnp.take(x, index, axis=place)
    picked = gnp.moveaxis(x, place, count)[(*_batch(index, count), index)]
    middle = range(index.ndim, index.ndim + place - count)  # axes of x before the gathered one
    order = [*range(count), *middle, *range(count, index.ndim)]
    return gnp.transpose(picked, [*order, *range(index.ndim + place - count, picked.ndim)])


def _key(indices: Any, batch_dims: int = 0) -> tuple[Tensor, ...]:
    index = _indices(indices)
    depth = index.dims[-1]
    if not isinstance(depth, int):
        raise ShapeError(f"indices: the last axis must be known while tracing, got {index.spec}")
    columns = tuple(index[..., i] for i in range(depth))
    return (*_batch(columns[0], batch_dims), *columns) if columns else ()


def _gather_nd(
    params: Any, indices: Any, batch_dims: Any = 0, bad_indices_policy: Any = ""
) -> Tensor:
    return tensor(params)[_key(indices, plain(batch_dims, "batch_dims"))]


def _boolean_mask(tensor_: Any, mask: Any, axis: Any = None) -> Tensor:
    x, chosen = tensor(tensor_), tensor(mask, kinds="b")
    place = 0 if axis is None else axis_of(plain(axis, "axis"), x.ndim)
    return x[(slice(None),) * place + (chosen,)]


def _where(condition: Any, x: Any = None, y: Any = None) -> Any:
    if x is None and y is None:
        return gnp.argwhere(tensor(condition))
    if x is None or y is None:
        raise ValueError("where: x and y must both be given, or neither")
    return gnp.where(tensor(condition, kinds="b"), *same(v.ANY, x, y))


def _slice(input_: Any, begin: Any, size: Any) -> Tensor:
    x = tensor(input_)
    starts, counts = sizes(begin), sizes(size)
    if not len(starts) == len(counts) == x.ndim:
        raise ShapeError(f"slice: begin, size: expected {x.ndim} entries each")
    for axis, (start, count) in enumerate(zip(starts, counts, strict=True)):
        length = x.shape[axis]
        if isinstance(count, int) and count == -1:
            count = length - start
        _check(start + count, "less_equal", length, "slice: begin + size")
        for least in (start, count):
            _check(least, "greater_equal", 0, "slice: begin, size")
        if isinstance(count, int) and not isinstance(start, int):  # a length that is known stays so
            x = gnp.take(x, start + np.arange(count), axis=axis)
        else:
            x = x[(slice(None),) * axis + (slice(start, start + count),)]
    return x


_UPDATES: dict[str, Any] = {
    "add": np.add, "sub": np.subtract, "max": np.maximum, "min": np.minimum
}  # fmt: skip


def _scatter(name: str) -> Callable[..., Tensor]:
    def entry(tensor_: Any, indices: Any, updates: Any, bad_indices_policy: Any = "") -> Tensor:
        x, new = same(v.ANY, tensor_, updates)
        result, key = core.copy(x), _key(indices)
        if name == "update":
            result[key] = new
        else:
            _UPDATES[name].at(result, key, new)
        return result

    return entry


def _scatter_nd(indices: Any, updates: Any, shape: Any, bad_indices_policy: Any = "") -> Tensor:
    new = tensor(updates)
    return _scatter("add")(gnp.zeros(sizes(shape), new.dtype), indices, new)


# --- segments -------------------------------------------------------------------------------------


def _lowest(dtype: Any, sign: int) -> Any:
    if dtype.kind in "iu":
        return np.iinfo(dtype).min if sign < 0 else np.iinfo(dtype).max
    return gnp.finfo(dtype).min if sign < 0 else gnp.finfo(dtype).max


_SEGMENTS: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "sum": (np.add, lambda dtype: 0),
    "prod": (np.multiply, lambda dtype: 1),
    "max": (np.maximum, lambda dtype: _lowest(dtype, -1)),
    "min": (np.minimum, lambda dtype: _lowest(dtype, 1)),
}


def _segments(name: str) -> Callable[..., Tensor]:
    """What falls into each segment, joined; what has a negative number falls into none."""
    ufunc, neutral = _SEGMENTS[name]

    def entry(data: Any, segment_ids: Any, num_segments: Any) -> Tensor:
        x, ids = tensor(data, kinds="fiuc"), tensor(segment_ids, kinds="i")
        [count] = sizes(num_segments)
        rows = gnp.reshape(x, [-1, *x.shape[ids.ndim :]]) if ids.ndim != 1 else x
        places = gnp.where(ids < 0, count, ids).reshape(-1)
        start = core.full((), neutral(x.dtype), x.dtype)
        total = core.copy(gnp.broadcast_to(start, [count + 1, *rows.shape[1:]]))
        above = gnp.asarray(count, ids.dtype)
        effects.check(ids, above, comparison="less", message="segment_ids")
        ufunc.at(total, places, rows)
        return total[:-1]

    return entry


def _segment_mean(data: Any, segment_ids: Any, num_segments: Any) -> Any:
    x, ids = tensor(data, kinds="fc"), tensor(segment_ids, kinds="i")
    total = _segments("sum")(x, ids, num_segments)
    counts = _segments("sum")(gnp.ones(v.lengths(ids), x.dtype), ids, num_segments)
    counts = gnp.reshape(counts, [-1, *[1] * (total.ndim - 1)])
    return total / gnp.where(gnp.equal(counts, 0), gnp.ones_like(counts), counts)


def _ensure_shape(x: Any, shape: Any) -> Tensor:
    value, wanted = tensor(x), list(plain(_as_list(shape), "shape"))
    if len(wanted) != value.ndim:
        raise ShapeError(f"ensure_shape: expected {wanted}, got {value.dims}")
    for n, length in zip(wanted, value.shape, strict=True):
        if n is not None and n != -1:
            _check(length, "equal", n, "ensure_shape")
    return value


def _as_list(shape: Any) -> Any:
    return shape.as_list() if hasattr(shape, "as_list") else shape


OPS: dict[str, Callable[..., Any]] = {
    "constant": _constant,
    "convert_to_tensor": lambda value, dtype=None, dtype_hint=None: _constant(value, dtype),
    "eye": _eye,
    "fill": _fill,
    "linspace": _linspace,
    "meshgrid": _meshgrid,
    "one_hot": _one_hot,
    "ones": _filled(1),
    "ones_like": _filled_like(1),
    "range": _range,
    "sequence_mask": _sequence_mask,
    "zeros": _filled(0),
    "zeros_like": _filled_like(0),
    "broadcast_to": lambda input, shape: gnp.broadcast_to(tensor(input), sizes(shape)),
    "concat": _concat,
    "ensure_shape": _ensure_shape,
    "expand_dims": _expand_dims,
    "identity": tensor,
    "pad": _pad,
    "rank": lambda input: Tensor(np.array(tensor(input).ndim, INT32)),
    "repeat": _repeat,
    "reshape": lambda x, shape: gnp.reshape(tensor(x), sizes(shape)),
    "reverse": _reverse,
    "roll": _roll,
    "shape": _shape,
    "size": _size,
    "split": _split,
    "squeeze": _squeeze,
    "stack": _stack,
    "tile": _tile,
    "transpose": _transpose,
    "unstack": _unstack,
    "boolean_mask": _boolean_mask,
    "gather": _gather,
    "gather_nd": _gather_nd,
    "nn.embedding_lookup": lambda params, ids, max_norm=None: _gather(params, ids),
    "scatter_nd": _scatter_nd,
    "slice": _slice,
    "tensor_scatter_nd_add": _scatter("add"),
    "tensor_scatter_nd_max": _scatter("max"),
    "tensor_scatter_nd_min": _scatter("min"),
    "tensor_scatter_nd_sub": _scatter("sub"),
    "tensor_scatter_nd_update": _scatter("update"),
    "where": _where,
    "math.unsorted_segment_max": _segments("max"),
    "math.unsorted_segment_mean": _segment_mean,
    "math.unsorted_segment_min": _segments("min"),
    "math.unsorted_segment_prod": _segments("prod"),
    "math.unsorted_segment_sum": _segments("sum"),
}
