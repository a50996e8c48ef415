"""NumPy functions of a list whose length only the run knows: the elements as one array.

np.array(rows), np.stack(rows), np.concatenate(rows)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphify.autograph.operators.calls import OVERLOADS
from graphify.autograph.operators.choosing import over_leaves
from graphify.autograph.operators.deques import Deque
from graphify.autograph.operators.listcells import NUMBER, refused
from graphify.autograph.operators.lists import GrowingList, stack_of, start
from graphify.ir.sizes import product
from graphify.ir.tensor import Tensor
from graphify.ir.types import canonical_dtype
from graphify.numpy._table import FUNCTIONS
from graphify.ops import core
from graphify.ops.shape import move_axis

STACK = "need at least one array to stack"
JOIN = "need at least one array to concatenate"


def _opened(values: Any) -> Any:
    """A list of lists of run-time length as one of those itself."""
    values = values.members() if isinstance(values, Deque) else values
    if isinstance(values, list) and not isinstance(values, GrowingList):
        if any(isinstance(value, GrowingList) for value in values):
            return GrowingList.of(start(values))
    return values


def _creation(function: Any) -> Callable[..., Any]:
    def make(values: Any, dtype: Any = None, *args: Any, **kwargs: Any) -> Any:
        values = _opened(values)
        if isinstance(values, GrowingList):
            numbers = values.grown.kinds == (NUMBER,)
            values = stack_of(values, empty=dtype is not None)
            if numbers and dtype is not None:
                values = core.fitting(values, canonical_dtype(dtype))
        return FUNCTIONS[function](values, dtype, *args, **kwargs)

    return make


def _joining(function: Any, whole: Callable[..., Tensor]) -> Callable[..., Any]:
    """A function that joins arrays; `whole` does it for those that are one array already."""

    def join(values: Any, *args: Any, **kwargs: Any) -> Any:
        values = _opened(values)
        if not isinstance(values, GrowingList):
            return over_leaves(FUNCTIONS[function], (values, *args), kwargs)
        name = function.__name__
        if kwargs.keys() - {"axis"}:
            raise refused(f"np.{name} is given {min(kwargs)}", "use np.array(rows, dtype)")
        rows = stack_of(values, error=STACK if function is np.stack else JOIN)
        return whole(rows, *args, **kwargs)

    return join


def _stack(rows: Tensor, axis: int = 0) -> Tensor:
    return move_axis(rows, 0, axis % rows.ndim)


def _concatenate(rows: Tensor, axis: int | None = 0) -> Tensor:
    if axis is None:
        return core.reshape(rows, shape=(product(rows.dims),))
    if rows.ndim == 1:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    axis %= rows.ndim - 1
    moved = move_axis(rows, 0, axis)
    dims = moved.dims
    return core.reshape(moved, shape=(*dims[:axis], dims[axis] * dims[axis + 1], *dims[axis + 2 :]))


def _vstack(rows: Tensor) -> Tensor:
    if rows.ndim == 1:
        return core.reshape(rows, shape=(rows.dims[0], 1))
    return rows if rows.ndim == 2 else _concatenate(rows)


def _hstack(rows: Tensor) -> Tensor:
    return rows if rows.ndim == 1 else _concatenate(rows, 0 if rows.ndim == 2 else 1)


def _column_stack(rows: Tensor) -> Tensor:
    if rows.ndim == 1:
        return core.reshape(rows, shape=(1, rows.dims[0]))
    return move_axis(rows, 0, 1) if rows.ndim == 2 else _concatenate(rows, 1)


for _function in (np.array, np.asarray):
    OVERLOADS[_function] = _creation(_function)
for _name, _whole in {
    "stack": _stack,
    "concatenate": _concatenate,
    "vstack": _vstack,
    "hstack": _hstack,
    "column_stack": _column_stack,
}.items():
    _function = getattr(np, _name)
    OVERLOADS[_function] = _joining(_function, _whole)
