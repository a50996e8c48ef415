"""Sorting, searching, counting and sets.

Results whose length depends on the data (`unique`, `nonzero`, `bincount`) have a symbolic size in a
graph. Ties of an unstable `argsort` come in NumPy's order on the reference engine only; ask for
`stable=True` where the order matters.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphify.errors import DTypeError, ShapeError, SpecError
from graphify.ir.sizes import Dim, not_negative, product, size_op
from graphify.ir.tensor import Tensor
from graphify.ir.types import BOOL, DType, is_complex, is_integer
from graphify.ir.wrapping import as_tensor
from graphify.numpy._table import (
    NAMES,
    axis_of,
    cast_operand,
    implements,
    named,
    of_shape,
    to_tensor,
)
from graphify.ops import core, indexing
from graphify.ops import elementwise as e
from graphify.ops import reduction as r
from graphify.ops import sorting as s
from graphify.ops.core import to_dtype
from graphify.ops.shape import (
    as_dim,
    as_length,
    checked_dim,
    concatenate,
    flip,
    in_range,
    iota,
    move_axis,
    stack,
)

INT64 = np.dtype(np.int64)
LARGEST = np.iinfo(np.int64).max


def flat(x: Any) -> Tensor:
    """Any array in one dimension."""
    x = to_tensor(x)
    return x if x.ndim == 1 else core.reshape(x, shape=(product(x.dims),))


def slice_axis(x: Tensor, start: Any, stop: Any, axis: int) -> Tensor:
    """`x[..., start:stop, ...]` for bounds in range; nothing if there is nothing between them."""
    count = stop - start
    if not not_negative(count):  # 0:n-1 of an axis that may be empty
        count = size_op("max", count, 0)
    key: list[Any] = [(0, dim, 1) for dim in x.dims]
    key[axis] = (start, count, 1)
    return indexing.slice_(x, key=tuple(key))


NAMES["_slice_axis"] = slice_axis


def zero_unless(wrong: Any, message: str) -> Tensor:
    """An int64 zero; ValueError where `wrong`, a bool scalar, is true when the program runs."""
    return in_range(core.cast(wrong, dtype=INT64), 0, 1, error="ValueError", message=message)


# --- sort --------------------------------------------------------------------------------------


def _sorted_args(a: Any, axis: Any, order: Any) -> tuple[Tensor, int]:
    if order is not None:
        raise ValueError("Cannot specify order when the array has no fields.")
    x = to_tensor(a)
    if axis is None:
        return flat(x), 0
    return x, axis_of(axis, x.ndim)


def _stable(kind: Any, stable: Any) -> bool:
    if kind is not None and stable is not None:
        raise ValueError("`kind` and keyword parameters can't be provided at the same time.")
    np.empty(0).sort(kind=kind)  # NumPy checks it
    return bool(stable) or str(kind)[:1] in "sSmM"


@implements(np.sort)
def sort(
    a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> Tensor:
    """A sorted copy."""
    _stable(kind, stable)
    if axis is not None and to_tensor(a).ndim == 0:
        raise np.exceptions.AxisError(axis, 0)
    x, place = _sorted_args(a, axis, order)
    return s.sort(x, axis=place)


@implements(np.argsort)
def argsort(
    a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> Tensor:
    """The indices that sort an array."""
    x, place = _sorted_args(a if to_tensor(a).ndim else flat(a), axis, order)
    return s.argsort(x, axis=place, stable=_stable(kind, stable))


@implements(np.sort_complex)
def sort_complex(a: Any) -> Tensor:
    """A sorted copy along the last axis, as complex numbers."""
    x = sort(a)
    if is_complex(x.dtype):
        return x
    return to_dtype(x, np.complex64 if x.dtype.char in "bhBH" else np.complex128)


@implements(np.lexsort, zero_d="scalar")
def lexsort(keys: Any, axis: int = -1) -> Tensor:
    """The indices that sort by several keys, the last one first."""
    rows = list(keys) if isinstance(keys, (list, tuple)) else _rows(to_tensor(keys))
    if not rows:
        raise TypeError("need sequence of keys with len > 0 in lexsort")
    first, *others = [to_tensor(key) for key in rows]
    message = "all keys need to be the same shape"
    tensors = [first, *(of_shape(key, first.dims, message) for key in others)]
    if tensors[0].ndim == 0:
        return Tensor(np.asarray(0))
    place = axis_of(axis, tensors[0].ndim)
    order: Tensor = s.argsort(tensors[0], axis=place, stable=True)
    for key in tensors[1:]:
        order = r.pick_along(
            order, s.argsort(r.pick_along(key, order, place), axis=place, stable=True), place
        )
    return order


def _rows(keys: Tensor) -> list[Tensor]:
    count = keys.dims[0]
    if not isinstance(count, int):
        raise SpecError(f"lexsort: the number of keys must be known while tracing, got {count}")
    return [indexing.slice_(keys, key=(i,)) for i in range(count)]


@implements(np.partition)
def partition(
    a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None
) -> Tensor:
    """A copy with the kth element in its sorted place: fully sorted, which is one valid answer."""
    np.empty(1).partition(0, kind=kind)  # NumPy checks it
    return _with_kth(sort(a, axis, order=order), kth, axis)


@implements(np.argpartition)
def argpartition(
    a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None
) -> Tensor:
    """The indices of a partition: those that sort."""
    np.empty(1).partition(0, kind=kind)
    return _with_kth(argsort(a, axis, order=order, stable=True), kth, axis)


def _with_kth(ordered: Tensor, kth: Any, axis: Any) -> Tensor:
    """The result of a partition once its positions are known to be some."""
    places = to_tensor(kth)
    if places.dtype == BOOL:
        raise ValueError("Booleans unacceptable as partition index")
    if not is_integer(places.dtype):
        raise TypeError("Partition index must be integer")
    if places.ndim > 1:
        raise ValueError("object too deep for desired array")
    axis = 0 if axis is None else axis_of(axis, ordered.ndim)
    length = ordered.dims[axis]
    places = core.cast(places, dtype=INT64)
    total = as_tensor(product(ordered.dims))
    limit = e.where(e.equal(total, 0), LARGEST, as_tensor(length))  # of nothing, any will do
    outside = e.logical_or(e.less(places, e.negative(limit)), e.greater_equal(places, limit))
    if not outside.is_symbolic:
        if np.any(outside.numpy()):
            bad = np.extract(outside.numpy(), places.numpy())[0]
            raise ValueError(f"kth(={bad}) out of bounds ({length})")
        return ordered
    zero = zero_unless(NAMES["any"](outside), f"kth: out of bounds ({length})")
    order = e.add(iota(length=length, dtype=INT64), zero)
    return move_axis(indexing.gather(ordered, order, axes=(axis,)), 0, axis)


# --- search ------------------------------------------------------------------------------------


@implements(np.searchsorted)
def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Tensor:
    """Where to insert `v` into the sorted `a` to keep it sorted."""
    if side not in ("left", "right"):
        raise ValueError(f"search side must be 'left' or 'right' (got '{side}')")
    line = to_tensor(a)
    if sorter is not None:
        places = to_tensor(sorter)
        if not is_integer(places.dtype):
            raise TypeError("sorter must only contain integers")
        if places.ndim == line.ndim == 1:
            length = checked_dim(places.dims[0], line.dims[0], "sorter.size must equal a.size")
            places = core.reshape(places, shape=(length,))
        line = indexing.gather(line, places, axes=(0,))
    return s.searchsorted(line, as_tensor(v), side=side)


@implements(np.digitize)
def digitize(x: Any, bins: Any, right: bool = False) -> Tensor:
    """The number of the bin that each element falls in."""
    edges = to_tensor(bins)
    if edges.ndim != 1:
        raise ShapeError("object too deep for desired array")
    points = to_tensor(x)
    if is_complex(points.dtype):
        raise TypeError("x may not be complex")
    if is_complex(edges.dtype):
        raise TypeError("bins may not be complex")
    if isinstance(edges.dims[0], int) and edges.dims[0] == 0:
        return searchsorted(edges, points, "left" if right else "right")
    falling, zero = _monotonic(edges)
    known = None if falling.is_symbolic else bool(falling.numpy())
    place = back = zero
    if known is not True:
        place = searchsorted(edges, points, "left" if right else "right")
    if known is not False:
        back = searchsorted(flip(edges, axes=(0,)), points, "left" if right else "right")
        back = e.subtract(as_tensor(edges.dims[0]), back)
    if known is None:
        place = e.where(falling, back, place)
    return core.strong(e.add(back if known else place, zero))


def _monotonic(edges: Tensor) -> tuple[Tensor, Tensor]:
    """Whether the bins fall; and a zero that is an error where they do both.

    Source: check_array_monotonic in numpy/_core/src/multiarray/compiled_base.c. The first two
    unequal ones decide, so that with NaN among them the answer is NumPy's, too.
    """
    n = edges.dims[0]
    later, earlier = slice_axis(edges, 1, n, 0), slice_axis(edges, 0, n - 1, 0)
    up, down = e.less(earlier, later), e.greater(earlier, later)
    end = core.full((1,), False, BOOL)
    first = NAMES["argmax"](concatenate(e.not_equal(earlier, later), end, axis=0))
    starts = (concatenate(e.not_equal(earlier, later), end, axis=0), concatenate(up, end, axis=0))
    unequal, rises = (indexing.gather(line, first, axes=(0,)) for line in starts)
    falling = e.logical_and(unequal, e.logical_not(rises))
    wrong = e.where(falling, NAMES["any"](up), NAMES["any"](down))
    return falling, zero_unless(wrong, "bins must be monotonically increasing or decreasing")


@implements(np.nonzero)
def nonzero(a: Any) -> tuple[Tensor, ...]:
    """The indices of the elements that are not zero, one array for each axis."""
    x = to_tensor(a)
    if x.ndim == 0:
        raise ValueError(
            "Calling nonzero on 0d arrays is not allowed. "
            "Use np.atleast_1d(scalar).nonzero() instead."
        )
    return tuple(indexing.nonzero(x))


@implements(np.flatnonzero)
def flatnonzero(a: Any) -> Tensor:
    """The indices of the elements of the flattened array that are not zero."""
    return indexing.nonzero(flat(a))[0]


@implements(np.argwhere)
def argwhere(a: Any) -> Tensor:
    """The indices of the elements that are not zero, one row for each element."""
    x = to_tensor(a)
    if x.ndim == 0:
        found = as_tensor(nonzero(core.reshape(x, shape=(1,)))[0])
        return core.reshape(found, shape=(found.dims[0], 1))[:, :0]
    return stack(list(nonzero(x)), axis=1)


@implements(np.extract)
def extract(condition: Any, arr: Any) -> Tensor:
    """The elements where the condition holds."""
    return indexing.gather(flat(arr), flatnonzero(condition), axes=(0,))


# --- sets --------------------------------------------------------------------------------------


@implements(np.unique)
def unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: Any = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> Any:
    """The sorted distinct elements, or slices along an axis."""
    x = to_tensor(ar)
    place = 0 if axis is None else axis_of(axis, x.ndim)
    source = flat(x) if axis is None else x
    values, first, inverse, counts = s.unique.several(source, axis=place, equal_nan=equal_nan)
    if axis is None:
        inverse = core.reshape(inverse, shape=x.dims)
    wanted = (return_index, return_inverse, return_counts)
    extra = [part for part, asked in zip((first, inverse, counts), wanted, strict=True) if asked]
    return (values, *extra) if extra else values


def _distinct(x: Any, equal_nan: bool = True) -> Tensor:
    values: Tensor = unique(x, equal_nan=equal_nan)
    return values


@implements(np.unique_values)
def unique_values(x: Any, /) -> Tensor:
    """The distinct elements."""
    return _distinct(x, equal_nan=False)


@implements(np.unique_counts)
def unique_counts(x: Any, /) -> Any:
    """The distinct elements and how often they occur."""
    return np.lib._arraysetops_impl.UniqueCountsResult(
        *unique(x, return_counts=True, equal_nan=False)
    )


@implements(np.unique_inverse)
def unique_inverse(x: Any, /) -> Any:
    """The distinct elements and which of them each element is."""
    return np.lib._arraysetops_impl.UniqueInverseResult(
        *unique(x, return_inverse=True, equal_nan=False)
    )


@implements(np.unique_all)
def unique_all(x: Any, /) -> Any:
    """The distinct elements, first indices, inverse and counts."""
    return np.lib._arraysetops_impl.UniqueAllResult(*unique(x, True, True, True, equal_nan=False))


def _joined(*parts: Any) -> Tensor:
    tensors = [flat(part) for part in parts]
    dtype = np.result_type(*(t.dtype for t in tensors))
    return concatenate(*(to_dtype(t, dtype) for t in tensors), axis=0)


@implements(np.isin, names=("in1d",), zero_d="array")
def isin(
    element: Any,
    test_elements: Any,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    kind: Any = None,
) -> Tensor:
    """Which elements occur among `test_elements`."""
    if kind not in (None, "sort", "table"):
        raise ValueError(f"Invalid kind: '{kind}'. Please use None, 'sort' or 'table'.")
    x, members = to_tensor(element), s.sort(flat(test_elements), axis=0)
    low = searchsorted(members, x, "left")
    high = searchsorted(members, x, "right")
    found = e.greater(high, low)
    if not is_integer(x.dtype) and x.dtype != BOOL:
        found = e.logical_and(found, e.equal(x, x))  # NaN is no member of anything
    return e.logical_not(found) if invert else found


@implements(np.union1d)
def union1d(ar1: Any, ar2: Any) -> Tensor:
    """The sorted distinct elements of either array."""
    return _distinct(named("concatenate")((ar1, ar2), None))


@implements(np.intersect1d)
def intersect1d(
    ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False
) -> Any:
    """The sorted distinct elements of both arrays."""
    if return_indices:
        return _intersect_indices(flat(ar1), flat(ar2), assume_unique)
    first, second = (flat(a) if assume_unique else unique(a) for a in (ar1, ar2))
    line = s.sort(_joined(first, second), axis=0)
    count = line.dims[0]
    twice = e.equal(slice_axis(line, 1, count, 0), slice_axis(line, 0, count - 1, 0))
    return extract(twice, slice_axis(line, 0, count - 1, 0))


def _intersect_indices(a: Tensor, b: Tensor, assume_unique: bool) -> Any:
    (first, ia), (second, ib) = (unique(x, return_index=True) for x in (a, b))
    kept = flatnonzero(isin(first, second))
    values = indexing.gather(first, kept, axes=(0,))
    values = to_dtype(values, np.result_type(first.dtype, second.dtype))
    place = searchsorted(second, values)
    return values, indexing.gather(ia, kept, axes=(0,)), indexing.gather(ib, place, axes=(0,))


@implements(np.setdiff1d)
def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Tensor:
    """The distinct elements of the first array that are not in the second."""
    first = flat(ar1) if assume_unique else unique(ar1)
    return extract(isin(first, ar2, invert=True), first)


@implements(np.setxor1d)
def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Tensor:
    """The sorted distinct elements of exactly one of two arrays."""
    first, second = (flat(a) if assume_unique else unique(a) for a in (ar1, ar2))
    values, _, _, counts = s.unique.several(_joined(first, second), axis=0, equal_nan=False)
    return extract(e.equal(counts, 1), values)


# --- counting ----------------------------------------------------------------------------------


@implements(np.bincount)
def bincount(x: Any, /, weights: Any = None, minlength: Any = 0) -> Tensor:
    """How often each of 0, 1, 2, ... occurs."""
    values = to_tensor(x)
    if values.ndim != 1:
        raise ShapeError(
            "object too deep for desired array"
            if values.ndim
            else "object of too small depth for desired array"
        )
    if not (is_integer(values.dtype) or values.dtype == BOOL) or values.dtype == np.uint64:
        array = isinstance(x, (Tensor, np.ndarray))
        if array or values.dims[0] != 0:  # an empty list has no dtype of its own
            raise DTypeError(
                f"Cannot cast array data from {values.dtype!r} to {INT64!r} "
                "according to the rule 'safe'"
            )
    if isinstance(minlength, bool):
        raise TypeError("minlength: an integer is required")
    least = as_length(minlength, "minlength", message="'minlength' must not be negative")
    values = core.cast(values, dtype=INT64)
    largest = NAMES["max"](values, initial=-1)
    size: Dim = as_dim(e.maximum(e.add(largest, 1), as_tensor(least)), "minlength")
    dtype: DType = INT64
    if weights is None:
        ones = core.full(values.dims, 1, INT64)
    else:
        dtype = np.dtype(np.float64)
        ones = cast_operand("bincount", to_tensor(weights), dtype, "safe")
        message = "The weights and list don't have the same length."
        ones = of_shape(ones, values.dims, message)
    places = s.at_least_zero(values)
    return indexing.scatter(core.full((size,), 0, dtype), ones, places, axes=(0,), mode="add")
