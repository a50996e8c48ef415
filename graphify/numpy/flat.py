"""`x.flat`: the elements of an array one after the other, in C order, whatever its layout.

x.flat[0] = 9.0           # an update of x
x.flat[2:4] = [1.0, 2.0]  # values are repeated if they are too few, as in NumPy
for v in x.flat: ...      # reads x as it is in that turn
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from graphify.errors import SpecError
from graphify.ir.assign import assign
from graphify.ir.sizes import Dim, product
from graphify.ir.tensor import Tensor, resolve, value_needed
from graphify.ir.types import BOOL
from graphify.ir.wrapping import as_tensor
from graphify.numpy.updates import _cycled
from graphify.ops import core
from graphify.ops.convert import set_conversion
from graphify.ops.indexing import scatter
from graphify.ops.keys import getitem, setitem
from graphify.ops.shape import iota

INT64 = np.dtype(np.int64)


class Flat:
    """What `x.flat` gives: read and written by one-dimensional keys."""

    __slots__ = ("base",)

    def __init__(self, base: Tensor) -> None:
        self.base = base

    @property
    def length(self) -> Dim:
        return product(self.base.dims)

    def _elements(self) -> Tensor:
        """The elements in one dimension, as a value of its own."""
        x = resolve(self.base)
        flat = core.reshape(x if x.is_symbolic else core.copy(x), shape=(product(x.dims),))
        flat._base = flat._view = None
        return flat

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self._elements(), dtype=dtype)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        return function(*map(_values, args), **{k: _values(v) for k, v in options.items()})

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *args: Any, **options: Any) -> Any:
        return getattr(ufunc, method)(*map(_values, args), **options)

    def copy(self) -> Tensor:
        """The elements as an array of one dimension."""
        return self._elements()

    def __len__(self) -> int:
        if not isinstance(self.length, int):
            raise value_needed(as_tensor(self.length), "the number of elements")
        return self.length

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, key: Any) -> Tensor:
        _check(key)
        part = getitem(self._elements(), key)
        part._base = part._view = None  # NumPy gives a copy, of slices too
        return part

    def __setitem__(self, key: Any, value: Any) -> None:
        _check(key)
        flat, new = self._elements(), as_tensor(value)
        if new.ndim == 0:
            setitem(flat, key, value)
        else:
            positions = getitem(iota(length=self.length, dtype=INT64), key)
            if not positions.ndim:
                raise ValueError("setting a single element of `flat` with a sequence")
            values = _cycled(value, iota(length=product(positions.dims), dtype=INT64), flat.dtype)
            positions = core.reshape(positions, shape=values.dims)
            flat = scatter(flat, values, positions, axes=(0,), mode="set")
        x = resolve(self.base)
        assign(x, core.reshape(flat, shape=x.dims))


def _values(value: Any) -> Any:
    return value.copy() if isinstance(value, Flat) else value


def _check(key: Any) -> None:
    if isinstance(key, tuple) and len(key) != 1:
        raise IndexError("unsupported iterator index: `flat` has one dimension")
    if isinstance(key, bool) or getattr(key, "dtype", None) == BOOL and not key.ndim:
        raise IndexError("`flat` takes no single bool as an index, whose meaning is ambiguous")
    if key is None:
        raise SpecError("flat: expected an integer, a slice or an array as the index, got None")


def _flat(self: Tensor) -> Flat:
    """The elements in one dimension."""
    return Flat(self)


def _set_flat(self: Tensor, value: Any) -> None:
    Flat(self)[:] = value


set_conversion(Flat, Flat.copy)
Tensor.flat = property(_flat, _set_flat)
