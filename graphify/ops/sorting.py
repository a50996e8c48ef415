"""Sorting and searching: sort, argsort, searchsorted, unique, bincount.

    order = argsort(x, axis=0, stable=True)
    values, first, inverse, counts = unique(x, equal_nan=True)

How many unique values there are is known at run time: the results of `unique` have a size of
their own. The order of complex numbers is NumPy's, by real and then by imaginary part; NaN is last.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphify.errors import ShapeError
from graphify.ir.op import Op, defop
from graphify.ir.promotion import result_type
from graphify.ir.sizes import fresh
from graphify.ir.tensor import Tensor
from graphify.ir.types import Spec, is_inexact
from graphify.ir.wrapping import as_tensor
from graphify.ops import core
from graphify.ops.elementwise import equal, less, logical_and, logical_not, logical_or, not_equal
from graphify.ops.reduction import INT64, add_along, pick_along, reduce_sum
from graphify.ops.rules import operand

_KIND: dict[bool, Any] = {True: "stable", False: None}


def _values(d: str) -> Any:
    x = np.random.default_rng(0).permutation(24).reshape(2, 3, 4) / 4
    return (x + 1j * x if d in "FD" else x * (1 if d in "fd" else 4)).astype(d)


def _samples(dtypes: str, **attrs: Any) -> Any:
    return lambda: [((_values(d),), {"axis": i % 3, **attrs}) for i, d in enumerate(dtypes)]


# --- argsort and sort --------------------------------------------------------------------------

argsort: Op = defop(
    "argsort",
    spec=lambda x, axis, stable=True: Spec(x.shape, INT64),
    eval=lambda x, axis, stable=True: np.argsort(x, axis=axis, kind=_KIND[stable]),
    vmap=lambda args, batched, axis, stable=True: argsort(args[0], axis=axis + 1, stable=stable),
    tf="argsort",
    sample=_samples("ilfd", stable=True),
    differentiable=(),
    doc="numpy.argsort",
)


def _sort_vjp(g: Tensor, y: Tensor, x: Tensor, axis: int) -> list[Tensor]:
    return [add_along(core.zeros_like(x), argsort(x, axis=axis, stable=True), g, axis)]


sort: Op = defop(
    "sort",
    spec=lambda x, axis: Spec(x.shape, x.dtype),
    eval=lambda x, axis: np.sort(x, axis=axis, kind="stable"),
    vjp=_sort_vjp,
    jvp=lambda ts, y, x, axis: pick_along(ts[0], argsort(x, axis=axis, stable=True), axis),
    vmap=lambda args, batched, axis: sort(args[0], axis=axis + 1),
    tf="sort",
    sample=_samples("ilfd"),
    doc="numpy.sort",
)

# --- searchsorted ------------------------------------------------------------------------------


def _searchsorted_convert(a: Any, v: Any) -> list[Tensor]:
    tensors = [as_tensor(a), as_tensor(v)]
    dtype = result_type(*(operand(t) for t in tensors))
    return [core.to_dtype(t, dtype) for t in tensors]


def _searchsorted_spec(a: Spec, v: Spec, side: str) -> Spec:
    if a.ndim != 1:
        raise ShapeError(
            "object too deep for desired array"
            if a.ndim
            else "object of too small depth for desired array"
        )
    return Spec(v.shape, INT64)


def _before(a: Tensor, b: Tensor) -> Tensor:
    """a < b in sorting order: NaN comes last."""
    if not is_inexact(a.dtype):
        return less(a, b)
    return logical_or(less(a, b), logical_and(equal(a, a), not_equal(b, b)))


def _searchsorted_vmap(args: Any, batched: Any, side: str) -> Tensor:
    a, v = args
    if not batched[0]:
        return searchsorted(a, v, side=side)
    rank = v.ndim - batched[1]
    line = core.reshape(a, shape=(a.dims[0], *(1,) * rank, a.dims[1]))
    points = core.reshape(v, shape=(*v.dims, 1) if batched[1] else (1, *v.dims, 1))
    passed = _before(line, points) if side == "left" else logical_not(_before(points, line))
    return reduce_sum(core.cast(passed, dtype=INT64), axes=(rank + 1,))


def _searchsorted_samples() -> Any:
    line, points = np.array([1.0, 2.0, 2.0, 5.0]), np.array([[0.0, 2.0, 9.0], [1.0, 5.0, 3.0]])
    cases = [
        ((line.astype(d), points.astype(d)), {"side": s}) for d in "ifd" for s in ("left", "right")
    ]
    return [*cases, ((line, np.array(2.0)), {"side": "right"})]


searchsorted: Op = defop(
    "searchsorted",
    spec=_searchsorted_spec,
    eval=lambda a, v, side: np.asarray(np.searchsorted(a, v, side=side)),
    convert=_searchsorted_convert,
    vmap=_searchsorted_vmap,
    tf="searchsorted",
    sample=_searchsorted_samples,
    differentiable=(),
    doc="numpy.searchsorted",
)

# --- unique ------------------------------------------------------------------------------------


def _unique_spec(x: Spec, axis: int, equal_nan: bool) -> tuple[Spec, ...]:
    count = fresh("u")
    values = Spec((*x.shape[:axis], count, *x.shape[axis + 1 :]), x.dtype)
    return values, Spec((count,), INT64), Spec((x.shape[axis],), INT64), Spec((count,), INT64)


def _unique_eval(x: Any, axis: int, equal_nan: bool) -> Any:
    along = None if x.ndim == 1 else axis
    values, first, inverse, counts = np.unique(x, True, True, True, axis=along, equal_nan=equal_nan)
    return values, first, inverse.reshape(-1), counts


def _unique_vjp(g: Any, y: Any, x: Tensor, axis: int, equal_nan: bool) -> list[Tensor | None]:
    from graphify.ops.indexing import scatter
    from graphify.ops.shape import move_axis

    if g[0] is None:
        return [None]
    back = scatter(
        move_axis(core.zeros_like(x), axis, 0),
        move_axis(g[0], axis, 0),
        y[1],
        axes=(0,),
        mode="add",
    )
    return [move_axis(back, 0, axis)]


def _unique_jvp(ts: Any, y: Any, x: Tensor, axis: int, equal_nan: bool) -> tuple[Any, ...]:
    from graphify.ops.indexing import gather
    from graphify.ops.shape import move_axis

    return move_axis(gather(ts[0], y[1], axes=(axis,)), 0, axis), None, None, None


unique: Op = defop(
    "unique",
    spec=_unique_spec,
    eval=_unique_eval,
    vjp=_unique_vjp,
    jvp=_unique_jvp,
    tf="unique",
    sample=lambda: [
        ((np.array(x).astype(d),), {"axis": 0, "equal_nan": True})
        for x, d in (
            ([3, 1, 3, 2, 1], "i"),
            ([3, 1, 3], "f"),
            ([3, 1, 2], "d"),
            ([[3, 1], [0, 2]], "d"),
        )
    ],
    extra={"tuple": True},
    doc="numpy.unique: sorted values, first indices, inverse, counts",
)

# --- checks ------------------------------------------------------------------------------------


def _at_least_zero(x: Any) -> Any:
    if x.size and x.min() < 0:
        raise ValueError("'list' argument must have no negative elements")
    return x


at_least_zero: Op = defop(
    "at_least_zero",
    spec=lambda x: Spec(x.shape, x.dtype),
    eval=_at_least_zero,
    vmap=lambda args, batched: at_least_zero(args[0]),
    tf="at_least_zero",
    differentiable=(),
    sample=lambda: [((np.array([0, 2, 1]),), {})],
    doc="the operand; ValueError if an element is negative",
)


def _not_all(x: Any) -> Any:
    if np.any(x):
        raise ValueError("All-NaN slice encountered")
    return np.logical_not(x)


not_all: Op = defop(
    "not_all",
    spec=lambda x: Spec(x.shape, x.dtype),
    eval=_not_all,
    vmap=lambda args, batched: not_all(args[0]),
    tf="not_all",
    differentiable=(),
    sample=lambda: [((np.array([False, False]),), {})],
    doc="logical_not of the operand; ValueError if an element is true",
)
