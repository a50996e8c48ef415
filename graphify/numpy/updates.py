"""Functions that write into their argument: put, place, copyto, fill_diagonal, and `ufunc.at`."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphify.errors import DTypeError, ShapeError, SpecError
from graphify.ir.assign import assign
from graphify.ir.promotion import ufunc_dtypes
from graphify.ir.sizes import decide_equal, product, size_op
from graphify.ir.tensor import Tensor, resolve
from graphify.ir.types import BOOL, DType
from graphify.ir.wrapping import as_tensor
from graphify.numpy._table import (
    NAMES,
    Casting,
    astype,
    axis_of,
    check_written,
    implements,
    to_tensor,
)
from graphify.numpy.indexing import INT64, along_indices, in_mode, integers
from graphify.numpy.manipulation import ravel
from graphify.ops import core, mixed
from graphify.ops import elementwise as e
from graphify.ops import shape as ops
from graphify.ops.indexing import gather, scatter
from graphify.ops.keys import getitem, setitem, update_at, written
from graphify.ops.rules import operand
from graphify.ops.shape import iota


def _target(a: Any, *values: Any) -> Tensor:
    """An array argument that is written to, and what with."""
    if not isinstance(a, (Tensor, np.ndarray)):
        raise SpecError(f"argument 1 must be numpy.ndarray, not {type(a).__name__}")
    check_written(a, *values)
    target = resolve(as_tensor(a))
    mixed.refuse_floats(target, *values)
    return target


@implements(np.put_along_axis)
def put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> None:
    """`arr` updated in place at one index per lane."""
    x = _target(arr, values)
    if axis is None:
        if to_tensor(indices).ndim != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        put(x, to_tensor(indices), values)
        return
    axis = axis_of(axis, x.ndim)
    setitem(x, tuple(along_indices(x, indices, axis)), values)


def _cycled(values: Any, index: Tensor, dtype: Any) -> Tensor:
    """values[index], the values repeated as often as needed."""
    v = ravel(written(values, dtype))
    size = ops.size_value(size=v.dims[0])
    return gather(v, e.remainder(index, size), axes=(0,))


@implements(np.put)
def put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    """`a` updated in place at indices of its flattened form; `v` is repeated if it is short."""
    x = _target(a, v)
    index = ravel(integers(ind))
    total = product(x.dims)
    if isinstance(index.dims[0], int) and not index.dims[0]:
        return
    if decide_equal(product(as_tensor(v).dims), 0):
        return
    values = _cycled(v, iota(length=index.dims[0], dtype=INT64), x.dtype)
    flat = core.reshape(x, shape=(total,))
    index = in_mode(index, total, mode)
    assign(x, core.reshape(scatter(flat, values, index, axes=(0,), mode="set"), shape=x.dims))


@implements(np.place)
def place(arr: Any, mask: Any, vals: Any) -> None:
    """`arr` updated in place where a mask holds, with the first values in turn."""
    x = _target(arr, vals)
    chosen = astype(ravel(to_tensor(mask)), BOOL)
    if decide_equal(chosen.dims[0], product(x.dims)) is False:
        raise ValueError("place: mask and data must be the same size")
    if decide_equal(product(to_tensor(vals).dims), 0):
        raise ValueError("Cannot insert from an empty array!")
    _check_cast(vals, x.dtype)
    rank = NAMES["cumsum"](astype(chosen, INT64)) - 1
    values = _cycled(vals, e.maximum(rank, 0), x.dtype)
    _write_where(x, chosen, values)


@implements(np.putmask)
def putmask(a: Any, /, mask: Any, values: Any) -> None:
    """`a` updated in place where a mask holds, with the values at the same places."""
    x = _target(a, values)
    chosen = astype(ravel(to_tensor(mask)), BOOL)
    if decide_equal(chosen.dims[0], product(x.dims)) is False:
        raise ValueError("putmask: mask and data must be the same size")
    _check_cast(values, x.dtype)
    if decide_equal(product(to_tensor(values).dims), 0):
        return
    _write_where(x, chosen, _cycled(values, iota(length=product(x.dims), dtype=INT64), x.dtype))


def _check_cast(given: Any, dtype: DType, rule: Casting = "safe") -> None:
    """TypeError if an array's dtype does not cast by this rule; NumPy converts numbers, lists."""
    if isinstance(given, (Tensor, np.ndarray)):
        x = as_tensor(given)
        if not (x.spec.weak or x._scalar or np.can_cast(x.dtype, dtype, rule)):
            raise DTypeError(
                f"Cannot cast array data from {x.dtype!r} to {dtype!r} according to the rule "
                f"'{rule}'"
            )


def _write_where(x: Tensor, mask: Tensor, flat: Tensor) -> None:
    wide = (core.reshape(t, shape=x.dims) for t in (mask, flat))
    assign(x, e.where(*wide, x))


_LEAST = {"b": np.bool_, "i": np.uint8, "f": np.float16, "c": np.complex64}


def _casts(source: Tensor, dtype: DType, casting: Casting) -> bool:
    """Whether a rule lets an array have these values; to it, a Python number has no width."""
    if not source.spec.weak:
        return np.can_cast(source.dtype, dtype, casting)
    np.can_cast(dtype, dtype, casting)  # NumPy checks the rule
    rule: Casting = "unsafe" if casting == "unsafe" else "same_kind"
    return np.can_cast(_LEAST[source.dtype.kind], dtype, rule)


@implements(np.copyto)
def copyto(dst: Any, src: Any, casting: Casting = "same_kind", where: Any = True) -> None:
    """`dst` updated in place with the values of `src`, where a mask holds."""
    x, source = _target(dst, src), as_tensor(src)
    if not _casts(source, x.dtype, casting):
        raise DTypeError(
            f"Cannot cast array data from {source.dtype!r} to {x.dtype!r} "
            f"according to the rule '{casting}'"
        )
    if where is True:
        setitem(x, Ellipsis, astype(source, x.dtype))
        return
    _check_cast(where, BOOL)
    mask = to_tensor(where)
    new = e.where(mask, astype(source, x.dtype), x)
    if new.ndim > x.ndim or any(
        decide_equal(a, b) is False for a, b in zip(new.dims, x.dims, strict=True)
    ):
        raise ShapeError(
            f"could not broadcast input array from shape {new.dims} into shape {x.dims}"
        )
    assign(x, new)


@implements(np.fill_diagonal)
def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    """The main diagonal of `a` set in place."""
    x = _target(a, val)
    if x.ndim < 2:
        raise ValueError("array must be at least 2-d")
    rows = x.dims[0]
    if x.ndim == 2:
        columns = x.dims[1]
        whole = wrap and decide_equal(rows, columns) is not True
        total = product(x.dims)
        step = columns + 1
        end = total if whole else size_op("min", total, columns * columns)
    else:
        if any(decide_equal(rows, dim) is False for dim in x.dims[1:]):
            raise ValueError("All dimensions of input must be of equal length")
        total = end = product(x.dims)
        step = 1 + sum((product(x.dims[i + 1 :]) for i in range(x.ndim - 1)), 0)
    index = NAMES["arange"](0, as_tensor(end), as_tensor(step))
    put(x, index, val)


# --- ufunc.at -------------------------------------------------------------------------------------


_MODES = {
    "add": "add",
    "subtract": "add",
    "multiply": "multiply",
    "maximum": "maximum",
    "minimum": "minimum",
}


def _update_at(ufunc: np.ufunc, a: Any, indices: Any, b: Any) -> bool:
    """`ufunc.at(a, indices, b)` as a scatter; False if there is no scatter for it."""
    mode = _MODES.get(ufunc.__name__)
    if mode is None or b is None:
        return False
    x, new = _target(a, b), resolve(as_tensor(b))
    inputs, (result,) = ufunc_dtypes(ufunc, [x.dtype, operand(new)])
    if not np.can_cast(result, x.dtype, "same_kind"):
        raise DTypeError(
            f"{ufunc.__name__}.at: cannot cast the result from {result} to {x.dtype} "
            "with casting rule 'same_kind'"
        )
    if inputs[0] != x.dtype and mode in ("maximum", "minimum"):
        return False  # NumPy compares in the wider dtype
    signed = e.negative(astype(new, result)) if ufunc is np.subtract else new
    if not update_at(x, indices, astype(signed, x.dtype), mode):  # no index can repeat
        old = getitem(x, indices)
        if new.ndim > old.ndim:
            raise ShapeError("array is not broadcastable to correct shape")
        setitem(x, indices, NAMES[ufunc.__name__](old, astype(new, x.dtype)))
    return True


NAMES["_update_at"] = _update_at
