"""Reductions and cumulative ops: sum, prod, max, min, any, all, argmax, argmin, cumsum, cumprod.

    reduce_sum(x, axes=(0,), keepdims=False)

Axes are not negative and sorted; a reduction keeps the dtype of its operand (which sums of small
integers are widened is decided by graphify.numpy). An empty maximum fails when it runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphify.errors import ShapeError
from graphify.ir.op import Op, defop
from graphify.ir.sizes import Dim, Shape, decide_equal, product
from graphify.ir.tensor import Tensor
from graphify.ir.types import BOOL, DType, Spec
from graphify.ops import core
from graphify.ops.elementwise import add, conjugate, divide, equal, multiply, where
from graphify.ops.indexing import slice_
from graphify.ops.shape import concatenate, flip, iota, transpose

Axes = tuple[int, ...]
INT64 = np.dtype(np.int64)


def reduced_shape(shape: Shape, axes: Axes, keepdims: bool) -> Shape:
    """The shape that is left of `shape`."""
    if keepdims:
        return tuple(1 if a in axes else dim for a, dim in enumerate(shape))
    return tuple(dim for a, dim in enumerate(shape) if a not in axes)


def spread(y: Tensor, x: Tensor, axes: Axes) -> Tensor:
    """A reduction's result, or its cotangent, repeated over the axes reduced away."""
    kept = core.reshape(y, shape=reduced_shape(x.dims, axes, True))
    return core.broadcast_to(kept, shape=x.dims)


def _reduction(
    name: str,
    evaluate: Callable[..., Any],
    sample: Callable[[], Any],
    doc: str,
    dtype: DType | None = None,
    **fields: Any,
) -> Op:
    """Define a reduction over `axes`."""
    cell: list[Op] = []
    op = defop(
        name,
        spec=lambda x, axes, keepdims=False: Spec(
            reduced_shape(x.shape, axes, keepdims), dtype or x.dtype
        ),
        eval=evaluate,
        vmap=lambda args, batched, axes, keepdims=False: cell[0](
            args[0], axes=tuple(a + 1 for a in axes), keepdims=keepdims
        ),
        tf=name,
        sample=sample,
        doc=doc,
        **fields,
    )
    cell.append(op)
    return op


def _samples(values: Callable[[str], Any], dtypes: str) -> Callable[[], Any]:
    def sample() -> Any:
        cases = [((values(d),), {"axes": (1,), "keepdims": False}) for d in dtypes]
        cases += [((values(dtypes[-1]),), {"axes": (0, 2), "keepdims": True})]
        return [*cases, ((values(dtypes[-1]),), {"axes": (), "keepdims": False})]

    return sample


def _normal(d: str) -> Any:
    x = np.random.default_rng(0).normal(size=(2, 3, 4)) * 3
    return (x + 1j * x[::-1] if d in "FD" else x if d in "efd" else np.round(x)).astype(d)


def _bits(d: str) -> Any:
    return np.array([[True, False], [True, True]])


# --- sum ---------------------------------------------------------------------------------------

reduce_sum: Op = _reduction(
    "reduce_sum",
    lambda x, axes, keepdims=False: np.add.reduce(x, axis=axes, dtype=x.dtype, keepdims=keepdims),
    _samples(_normal, "ilfdD"),
    "numpy.sum in the dtype of the operand",
    vjp=lambda g, y, x, axes, keepdims=False: [spread(g, x, axes)],
    jvp="linear",
)

# --- prod --------------------------------------------------------------------------------------


def flat_axes(x: Tensor, axes: Axes) -> tuple[Tensor, Shape]:
    """`x` with the reduced axes last and joined to one; the shape of the others."""
    kept = tuple(a for a in range(x.ndim) if a not in axes)
    shape = tuple(x.dims[a] for a in kept)
    moved = transpose(x, axes=(*kept, *axes))
    return core.reshape(moved, shape=(*shape, product(x.dims[a] for a in axes))), shape


def unflat_axes(x: Tensor, shape: Shape, axes: Axes) -> Tensor:
    """The inverse of `flat_axes`, for the original `shape`."""
    kept = tuple(a for a in range(len(shape)) if a not in axes)
    order = (*kept, *axes)
    moved = core.reshape(x, shape=tuple(shape[a] for a in order))
    return transpose(moved, axes=tuple(int(i) for i in np.argsort(order)))


def _others(x: Tensor, axes: Axes) -> Tensor:
    """For each element, the product of the others along `axes`: no division, so zeros are fine."""
    flat, _ = flat_axes(x, axes)
    axis = flat.ndim - 1
    before = shifted(cumprod(flat, axis=axis), axis, 1)
    after = flip(shifted(cumprod(flip(flat, axes=(axis,)), axis=axis), axis, 1), axes=(axis,))
    return unflat_axes(multiply(before, after), x.dims, axes)


def shifted(x: Tensor, axis: int, fill: Any) -> Tensor:
    """`x` moved one place up along an axis, `fill` coming in."""
    length = x.dims[axis]
    first = core.full((*x.dims[:axis], 1, *x.dims[axis + 1 :]), fill, x.dtype)
    longer = concatenate(first, x, axis=axis)
    return slice_(longer, key=(*((0, dim, 1) for dim in x.dims[:axis]), (0, length, 1)))


def _prod_vjp(g: Tensor, y: Tensor, x: Tensor, axes: Axes, keepdims: bool = False) -> list[Tensor]:
    return [multiply(spread(g, x, axes), conjugate(_others(x, axes)))]


def _prod_jvp(ts: Any, y: Tensor, x: Tensor, axes: Axes, keepdims: bool = False) -> Tensor:
    return reduce_sum(ts[0] * _others(x, axes), axes=axes, keepdims=keepdims)


def _with_zero(d: str) -> Any:
    x = _normal(d)
    x[0, 1, 2] = x[1, 0, 0] = x[1, 2, 0] = 0
    return x


reduce_prod: Op = _reduction(
    "reduce_prod",
    lambda x, axes, keepdims=False: np.multiply.reduce(
        x, axis=axes, dtype=x.dtype, keepdims=keepdims
    ),
    _samples(_with_zero, "ilfDd"),
    "numpy.prod in the dtype of the operand",
    vjp=_prod_vjp,
    jvp=_prod_jvp,
)

# --- max and min -------------------------------------------------------------------------------


def _share(y: Tensor, x: Tensor, axes: Axes) -> Tensor:
    """The part of each element in the extreme: equal parts among those that attain it."""
    attains = core.cast(equal(x, spread(y, x, axes)), dtype=x.dtype)
    return divide(attains, reduce_sum(attains, axes=axes, keepdims=True))


def _extreme_vjp(
    g: Tensor, y: Tensor, x: Tensor, axes: Axes, keepdims: bool = False
) -> list[Tensor]:
    return [multiply(spread(g, x, axes), _share(y, x, axes))]


def _extreme_jvp(ts: Any, y: Tensor, x: Tensor, axes: Axes, keepdims: bool = False) -> Tensor:
    return reduce_sum(ts[0] * _share(y, x, axes), axes=axes, keepdims=keepdims)


reduce_max: Op = _reduction(
    "reduce_max",
    lambda x, axes, keepdims=False: np.maximum.reduce(x, axis=axes, keepdims=keepdims),
    _samples(_normal, "ilfd"),
    "numpy.max",
    vjp=_extreme_vjp,
    jvp=_extreme_jvp,
)
reduce_min: Op = _reduction(
    "reduce_min",
    lambda x, axes, keepdims=False: np.minimum.reduce(x, axis=axes, keepdims=keepdims),
    _samples(_normal, "ilfd"),
    "numpy.min",
    vjp=_extreme_vjp,
    jvp=_extreme_jvp,
)

# --- any and all -------------------------------------------------------------------------------


def _truths() -> Any:
    return [((_bits("?"),), {"axes": (1,), "keepdims": False}), ((_bits("?"),), {"axes": (0, 1)})]


reduce_any: Op = _reduction(
    "reduce_any",
    lambda x, axes, keepdims=False: np.logical_or.reduce(x, axis=axes, keepdims=keepdims),
    _truths,
    "numpy.any",
    BOOL,
    differentiable=(),
)
reduce_all: Op = _reduction(
    "reduce_all",
    lambda x, axes, keepdims=False: np.logical_and.reduce(x, axis=axes, keepdims=keepdims),
    _truths,
    "numpy.all",
    BOOL,
    differentiable=(),
)

# --- argmax and argmin -------------------------------------------------------------------------


def _arg_reduction(name: str, evaluate: Callable[..., Any]) -> Op:
    cell: list[Op] = []
    op = defop(
        name,
        spec=lambda x, axis: Spec((*x.shape[:axis], *x.shape[axis + 1 :]), INT64),
        eval=lambda x, axis: evaluate(x, axis=axis),
        vmap=lambda args, batched, axis: cell[0](args[0], axis=axis + 1),
        tf=name,
        sample=lambda: [((_normal(d),), {"axis": a}) for d, a in (("i", 0), ("f", 1), ("d", 2))],
        differentiable=(),
        doc=f"numpy.{name} along one axis",
    )
    cell.append(op)
    return op


argmax: Op = _arg_reduction("argmax", np.argmax)
argmin: Op = _arg_reduction("argmin", np.argmin)

# --- cumulative --------------------------------------------------------------------------------


def _along(values: Callable[[str], Any], dtypes: str) -> Callable[[], Any]:
    return lambda: [((values(d),), {"axis": i % 3}) for i, d in enumerate(dtypes)]


def _cumulative(
    name: str, evaluate: Callable[..., Any], sample: Callable[[], Any], **fields: Any
) -> Op:
    cell: list[Op] = []
    op = defop(
        name,
        spec=lambda x, axis: Spec(x.shape, x.dtype),
        eval=evaluate,
        vmap=lambda args, batched, axis: cell[0](args[0], axis=axis + 1),
        tf=name,
        sample=sample,
        **fields,
    )
    cell.append(op)
    return op


def _backwards(op: Callable[..., Tensor], x: Tensor, axis: int) -> Tensor:
    return flip(op(flip(x, axes=(axis,)), axis=axis), axes=(axis,))


cumsum: Op = _cumulative(
    "cumsum",
    lambda x, axis: np.add.accumulate(x, axis=axis, dtype=x.dtype),
    _along(_normal, "lfdD"),
    vjp=lambda g, y, x, axis: [_backwards(cumsum, g, axis)],
    jvp="linear",
    doc="numpy.cumsum in the dtype of the operand",
)


def _recurrence_eval(a: Any, b: Any, axis: int) -> Any:
    a, y = np.moveaxis(a, axis, 0), np.moveaxis(np.array(b, copy=True), axis, 0)
    for i in range(1, len(y)):
        y[i] += a[i] * y[i - 1]
    return np.moveaxis(y, 0, axis)


def _recurrence_spec(a: Spec, b: Spec, axis: int) -> Spec:
    if any(decide_equal(m, n) is False for m, n in zip(a.shape, b.shape, strict=True)):
        raise ShapeError(f"recurrence: expected operands of one shape, got {a.shape} and {b.shape}")
    return Spec(b.shape, b.dtype)


def backward_recurrence(a: Tensor, b: Tensor, axis: int) -> Tensor:
    """`y[i] = a[i + 1] * y[i + 1] + b[i]`: the transpose of `recurrence` in `b`."""
    following = shifted(flip(a, axes=(axis,)), axis, 0)
    return flip(recurrence(following, flip(b, axes=(axis,)), axis=axis), axes=(axis,))


def _recurrence_vjp(g: Tensor, y: Tensor, a: Tensor, b: Tensor, axis: int) -> list[Tensor]:
    gb = backward_recurrence(conjugate(a), g, axis)
    return [multiply(gb, conjugate(shifted(y, axis, 0))), gb]


def _recurrence_jvp(ts: Any, y: Tensor, a: Tensor, b: Tensor, axis: int) -> Tensor:
    parts = [None if ts[0] is None else ts[0] * shifted(y, axis, 0), ts[1]]
    given = [part for part in parts if part is not None]
    total = given[0] if len(given) == 1 else add(*given)
    return recurrence(a, total, axis=axis)


def _recurrence_vmap(args: Any, batched: Any, axis: int) -> Tensor:
    a, b = args
    count = (a if batched[0] else b).dims[0]
    a, b = (
        x if is_batched else core.broadcast_to(x, shape=(count, *x.dims))
        for x, is_batched in zip((a, b), batched, strict=True)
    )
    return recurrence(a, b, axis=axis + 1)


recurrence: Op = defop(
    "recurrence",
    spec=_recurrence_spec,
    eval=_recurrence_eval,
    vjp=_recurrence_vjp,
    jvp=_recurrence_jvp,
    vmap=_recurrence_vmap,
    tf="recurrence",
    sample=lambda: [((_normal(d), _normal(d)[::-1] / 2), {"axis": i}) for i, d in enumerate("fdD")],
    doc="y[i] = a[i] * y[i - 1] + b[i] along an axis: what the derivative of cumprod is made of",
)


def _cumprod_vjp(g: Tensor, y: Tensor, x: Tensor, axis: int) -> list[Tensor]:
    total = backward_recurrence(conjugate(x), g, axis)
    return [multiply(total, conjugate(shifted(y, axis, 1)))]


def _cumprod_jvp(ts: Any, y: Tensor, x: Tensor, axis: int) -> Tensor:
    return recurrence(x, ts[0] * shifted(y, axis, 1), axis=axis)


cumprod: Op = _cumulative(
    "cumprod",
    lambda x, axis: np.multiply.accumulate(x, axis=axis, dtype=x.dtype),
    _along(_with_zero, "lfdD"),
    vjp=_cumprod_vjp,
    jvp=_cumprod_jvp,
    doc="numpy.cumprod in the dtype of the operand",
)

# --- running extremes --------------------------------------------------------------------------


def _holders(y: Tensor, x: Tensor, axis: int) -> Tensor:
    """For each place, the place of the element that is the extreme up to there."""
    length: Dim = x.dims[axis]
    places = iota(length=length, dtype=INT64)
    places = core.reshape(places, shape=tuple(length if a == axis else 1 for a in range(x.ndim)))
    attained = where(equal(x, y), places, Tensor(np.asarray(0, np.int64)))
    return cummax(core.broadcast_to(attained, shape=x.dims), axis=axis)


def along_indices(index: Tensor, axis: int) -> list[Tensor]:
    """Index operands, one per axis, that pick `x[..., index, ...]` along one axis."""
    operands = []
    for a, dim in enumerate(index.dims):
        line = iota(length=dim, dtype=INT64)
        shape = tuple(dim if b == a else 1 for b in range(index.ndim))
        operands.append(index if a == axis else core.reshape(line, shape=shape))
    return operands


def pick_along(x: Tensor, index: Tensor, axis: int) -> Tensor:
    """numpy.take_along_axis, the other axes being of equal length."""
    from graphify.ops.indexing import gather

    return gather(x, *along_indices(index, axis), axes=tuple(range(x.ndim)))


def add_along(x: Tensor, index: Tensor, new: Tensor, axis: int) -> Tensor:
    """The transpose of `pick_along`: `new` added to `x` at the indices."""
    from graphify.ops.indexing import scatter

    operands = along_indices(index, axis)
    return scatter(x, new, *operands, axes=tuple(range(x.ndim)), mode="add")


def _running_vjp(g: Tensor, y: Tensor, x: Tensor, axis: int) -> list[Tensor]:
    return [add_along(core.zeros_like(x), _holders(y, x, axis), g, axis)]


def _running_jvp(ts: Any, y: Tensor, x: Tensor, axis: int) -> Tensor:
    return pick_along(ts[0], _holders(y, x, axis), axis)


cummax: Op = _cumulative(
    "cummax",
    lambda x, axis: np.maximum.accumulate(x, axis=axis),
    _along(_normal, "lfd"),
    vjp=_running_vjp,
    jvp=_running_jvp,
    doc="numpy.maximum.accumulate",
)
cummin: Op = _cumulative(
    "cummin",
    lambda x, axis: np.minimum.accumulate(x, axis=axis),
    _along(_normal, "lfd"),
    vjp=_running_vjp,
    jvp=_running_jvp,
    doc="numpy.minimum.accumulate",
)
