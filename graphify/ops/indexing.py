"""The four ops that all indexing is made of: slice, slice_update, gather, scatter; and nonzero.

`slice` and `slice_update` take basic keys (integers, slices, newaxis; integers may be traced);
`gather` and `scatter` take integer arrays on some axes.

    slice_(x, key=(2, (0, 3, 1)))          # x[2, 0:3]
    gather(x, rows, axes=(0,))             # x[rows]

An entry of a key is None (newaxis), an int or size, `("at", k)` for operand k, or a slice as
`(start, count, step)` with nothing negative. `graphify.ops.keys` makes such keys out of NumPy's.
Bounds of integers are checked when the graph runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from graphify.errors import ShapeError
from graphify.ir.op import Op, defop
from graphify.ir.sizes import Dim, Shape, fresh
from graphify.ir.tensor import Tensor
from graphify.ir.types import Spec
from graphify.ops import core
from graphify.ops.shape import iota, move_axis

Entry: TypeAlias = Any  # None: newaxis; Dim: integer; ("at", k): operand k; (start, count, step)
Key: TypeAlias = tuple[Entry, ...]

# --- slice ---------------------------------------------------------------------------------------


def _is_slice(entry: Entry) -> bool:
    return type(entry) is tuple and entry[0] != "at"


def _is_at(entry: Entry) -> bool:
    return type(entry) is tuple and entry[0] == "at"


def slice_shape(shape: Shape, key: Key) -> Shape:
    result: list[Dim] = []
    axis = 0
    for entry in key:
        if entry is None:
            result.append(1)
            continue
        if _is_slice(entry):
            result.append(entry[1])
        axis += 1
    return (*result, *shape[axis:])


def numpy_key(key: Key, indices: Sequence[Any]) -> tuple[Any, ...]:
    """The NumPy key of a concrete slice key."""
    entries: list[Any] = []
    for entry in key:
        if entry is None or not isinstance(entry, tuple):
            entries.append(entry)
        elif entry[0] == "at":
            entries.append(int(indices[entry[1]]))
        else:
            entries.append(_python_slice(*entry))
    return tuple(entries)


def _python_slice(start: int, count: int, step: int) -> slice:
    if count <= 0:
        return slice(0, 0)
    stop = start + step * (count - 1) + (1 if step > 0 else -1)
    return slice(start, None if stop < 0 else stop, step)


def _slice_vjp(g: Tensor, y: Tensor, x: Tensor, *indices: Tensor, key: Key) -> list[Any]:
    return [slice_update(core.zeros_like(x), g, *indices, key=key), *[None] * len(indices)]


def _batched_key(key: Key, count: Dim) -> Key:
    return ((0, count, 1), *key)


def _slice_vmap(args: Any, batched: Any, key: Key) -> Any:
    x, *indices = args
    if not any(batched[1:]):
        return slice_(x, *indices, key=_batched_key(key, x.dims[0]))
    x = x if batched[0] else core.broadcast_to(x, shape=(_count(args, batched), *x.dims))
    basic, axes, places = _split_at(key, batched[1:], x.dims[1:])
    others = [i for k, i in enumerate(indices) if not batched[1 + k]]
    part = slice_(x, *others, key=_batched_key(basic, x.dims[0]))
    rows = iota(length=x.dims[0], dtype=np.dtype(np.int64))
    chosen = [indices[k] for k in places]
    return gather(part, rows, *chosen, axes=(0, *(a + 1 for a in axes)))


def _count(args: Sequence[Tensor], batched: Sequence[bool]) -> Dim:
    return next(a.dims[0] for a, b in zip(args, batched, strict=True) if b)


def _split_at(key: Key, batched: Any, shape: Shape) -> tuple[Key, list[int], list[int]]:
    """A key with its batched integers widened to whole axes; where those axes end up; operands."""
    basic: list[Entry] = []
    axes: list[int] = []
    places: list[int] = []
    out = axis = kept = 0
    for entry in key:
        if _is_at(entry):
            if batched[entry[1]]:
                axes.append(out)
                places.append(entry[1])
                basic.append((0, shape[axis], 1))
                out += 1
            else:
                basic.append(("at", kept))
                kept += 1
        else:
            basic.append(entry)
            out += entry is None or _is_slice(entry)
        axis += entry is not None
    return tuple(basic), axes, places


_SLICE_SAMPLES = [
    ((np.arange(24.0).reshape(2, 3, 4),), {"key": ((0, 2, 1), (2, 2, -1), None, 1)}),
    ((np.arange(12.0).reshape(3, 4), np.array(2)), {"key": (("at", 0), (1, 2, 2))}),
]

slice_: Op = defop(
    "slice",
    spec=lambda x, *indices, key: Spec(slice_shape(x.shape, key), x.dtype),
    eval=lambda x, *indices, key: x[numpy_key(key, indices)],  # one element is a copy, as in NumPy
    vjp=_slice_vjp,
    jvp=lambda ts, y, x, *indices, key: slice_(ts[0], *indices, key=key),
    vmap=_slice_vmap,
    put=lambda base, new, *indices, key: slice_update(base, new, *indices, key=key),
    tf="slice",
    sample=lambda: _SLICE_SAMPLES,
    differentiable=(0,),
    doc="basic indexing: a view in NumPy",
)


def _slice_update_eval(x: Any, new: Any, *indices: Any, key: Any) -> Any:
    out = x.copy()
    out[numpy_key(key, indices)] = new
    return out


def _slice_update_spec(x: Spec, new: Spec, *indices: Spec, key: Key) -> Spec:
    return Spec(x.shape, x.dtype)


def _slice_update_vjp(
    g: Tensor, y: Tensor, x: Tensor, new: Tensor, *indices: Tensor, key: Key
) -> list[Any]:
    rest = slice_update(g, core.zeros_like(new), *indices, key=key)
    return [rest, core.unbroadcast(slice_(g, *indices, key=key), new), *[None] * len(indices)]


def _slice_update_jvp(
    ts: Any, y: Tensor, x: Tensor, new: Tensor, *indices: Tensor, key: Key
) -> Tensor:
    tx = core.zeros_like(x) if ts[0] is None else ts[0]
    tn = core.zeros_like(new) if ts[1] is None else ts[1]
    return slice_update(tx, tn, *indices, key=key)


def _slice_update_vmap(args: Any, batched: Any, key: Key) -> Any:
    x, new, *indices = args
    count = _count(args, batched)
    x = x if batched[0] else core.broadcast_to(x, shape=(count, *x.dims))
    new = new if batched[1] else core.broadcast_to(new, shape=(count, *new.dims))
    if not any(batched[2:]):
        return slice_update(x, new, *indices, key=_batched_key(key, count))
    basic, axes, places = _split_at(key, batched[2:], x.dims[1:])
    others = [i for k, i in enumerate(indices) if not batched[2 + k]]
    part = slice_(x, *others, key=_batched_key(basic, count))
    rows = iota(length=count, dtype=np.dtype(np.int64))
    chosen = [indices[k] for k in places]
    changed = scatter(part, new, rows, *chosen, axes=(0, *(a + 1 for a in axes)), mode="set")
    return slice_update(x, changed, *others, key=_batched_key(basic, count))


slice_update: Op = defop(
    "slice_update",
    spec=_slice_update_spec,
    eval=_slice_update_eval,
    vjp=_slice_update_vjp,
    jvp=_slice_update_jvp,
    vmap=_slice_update_vmap,
    tf="slice_update",
    sample=lambda: [
        (
            (np.arange(24.0).reshape(2, 3, 4), np.full((2, 2, 1), -1.0)),
            {"key": ((0, 2, 1), (2, 2, -1), None, 1)},
        ),
        (
            (np.arange(12.0).reshape(3, 4), np.array([-1.0, -2.0]), np.array(2)),
            {"key": (("at", 0), (1, 2, 2))},
        ),
    ],
    differentiable=(0, 1),
    doc="a copy of the first operand with the elements of a basic key replaced",
)

# --- gather and scatter --------------------------------------------------------------------------


def other_dims(shape: Shape, axes: tuple[int, ...]) -> Shape:
    return tuple(dim for a, dim in enumerate(shape) if a not in axes)


def index_shape(shapes: Sequence[Shape]) -> Shape:
    try:
        return core.broadcast_shapes(*shapes)
    except ShapeError as error:
        text = " ".join(str(shape).replace(" ", "") for shape in shapes)
        raise IndexError(
            f"shape mismatch: indexing arrays could not be broadcast together with shapes {text}"
        ) from error


def _gather_spec(x: Spec, *indices: Spec, axes: tuple[int, ...]) -> Spec:
    lead = index_shape([i.shape for i in indices])
    return Spec((*lead, *other_dims(x.shape, axes)), x.dtype)


def _front(x: Any, axes: tuple[int, ...]) -> Any:
    return x.transpose((*axes, *(a for a in range(x.ndim) if a not in axes)))


def _gather_eval(x: Any, *indices: Any, axes: tuple[int, ...]) -> Any:
    try:
        return _front(x, axes)[tuple(indices)]
    except IndexError as error:
        text = str(error)
        for place, axis in enumerate(axes):  # the message counts the axes from the front
            if f"axis {place} " in text:
                raise IndexError(text.replace(f"axis {place} ", f"axis {axis} ")) from None
        raise


def _gather_vjp(
    g: Tensor, y: Tensor, x: Tensor, *indices: Tensor, axes: tuple[int, ...]
) -> list[Any]:
    return [scatter(core.zeros_like(x), g, *indices, axes=axes, mode="add"), *[None] * len(indices)]


def _batch_indices(args: Sequence[Tensor], batched: Sequence[bool], count: Dim, axes: Any) -> Any:
    """Operands of a gather whose batch axis is indexed along: rows first, ranks aligned."""
    rank = max(i.ndim - b for i, b in zip(args, batched, strict=True))
    rows = iota(length=count, dtype=np.dtype(np.int64))
    rows = core.reshape(rows, shape=(count, *(1,) * rank))
    aligned = [
        core.reshape(i, shape=(count, *(1,) * (rank - i.ndim + 1), *i.dims[1:])) if b else i
        for i, b in zip(args, batched, strict=True)
    ]
    return [rows, *aligned], (0, *(a + 1 for a in axes))


def _gather_vmap(args: Any, batched: Any, axes: tuple[int, ...]) -> Any:
    x, *indices = args
    count = _count(args, batched)
    if batched[0] and not any(batched[1:]):
        rank = max(i.ndim for i in indices)
        return move_axis(gather(x, *indices, axes=tuple(a + 1 for a in axes)), rank, 0)
    if not batched[0]:
        rank = max(i.ndim - b for i, b in zip(indices, batched[1:], strict=True))
        return gather(x, *_batch_indices(indices, batched[1:], count, ())[0][1:], axes=axes)
    operands, all_axes = _batch_indices(indices, batched[1:], count, axes)
    return gather(x, *operands, axes=all_axes)


_GATHER_SAMPLES = [
    ((np.arange(12.0).reshape(3, 4), np.array([[2, 0], [1, -1]])), {"axes": (0,)}),
    ((np.arange(12.0).reshape(3, 4), np.array([1, 3])), {"axes": (1,)}),
    ((np.arange(24.0).reshape(2, 3, 4), np.array([0, 1]), np.array([[3], [2]])), {"axes": (0, 2)}),
]

gather: Op = defop(
    "gather",
    spec=_gather_spec,
    eval=_gather_eval,
    vjp=_gather_vjp,
    jvp=lambda ts, y, x, *indices, axes: gather(ts[0], *indices, axes=axes),
    vmap=_gather_vmap,
    tf="gather",
    sample=lambda: _GATHER_SAMPLES,
    differentiable=(0,),
    doc="elements at integer indices along axes; the indices' axes come first",
)


def _scatter_spec(x: Spec, new: Spec, *indices: Spec, axes: tuple[int, ...], mode: str) -> Spec:
    return Spec(x.shape, x.dtype)


_AT = {"add": np.add, "multiply": np.multiply, "maximum": np.maximum, "minimum": np.minimum}


def _scatter_eval(x: Any, new: Any, *indices: Any, axes: Any, mode: str) -> Any:
    out = x.copy()
    target = _front(out, axes)
    if mode == "set":
        target[tuple(indices)] = new
    else:
        _AT[mode].at(target, tuple(indices), new)
    return out


def _scatter_vjp(
    g: Tensor, y: Tensor, x: Tensor, new: Tensor, *indices: Tensor, axes: tuple[int, ...], mode: str
) -> list[Any]:
    nones = [None] * len(indices)
    if mode == "add":
        return [g, core.unbroadcast(gather(g, *indices, axes=axes), new), *nones]
    if mode != "set":
        return _scatter_extreme_vjp(g, y, x, new, *indices, axes=axes, mode=mode)
    zero = Tensor(np.zeros((), g.dtype))
    kept = scatter(g, zero, *indices, axes=axes, mode="set")
    back = _only_last(gather(g, *indices, axes=axes), x, indices, axes)
    return [kept, core.unbroadcast(back, new), *nones]


def _only_last(back: Tensor, x: Tensor, indices: Sequence[Tensor], axes: tuple[int, ...]) -> Tensor:
    """Zero the cotangents of writes that a later write to the same place replaced."""
    from graphify.ir.sizes import product
    from graphify.ops.elementwise import equal, where

    lead = core.broadcast_shapes(*(i.dims for i in indices))
    order = core.reshape(iota(length=product(lead), dtype=np.dtype(np.int64)), shape=lead)
    table = core.full(tuple(x.dims[a] for a in axes), -1, np.int64)
    table = scatter(table, order, *indices, axes=tuple(range(len(axes))), mode="set")
    last = equal(gather(table, *indices, axes=tuple(range(len(axes)))), order)
    mask = core.reshape(last, shape=(*lead, *(1,) * (back.ndim - len(lead))))
    return where(mask, back, core.zeros_like(back))


def _scatter_extreme_vjp(
    g: Tensor, y: Tensor, x: Tensor, new: Tensor, *indices: Tensor, axes: tuple[int, ...], mode: str
) -> list[Any]:
    """maximum.at, minimum.at: the gradient goes, in equal parts, to who attained the result."""
    from graphify.ops.elementwise import equal

    nones = [None] * len(indices)
    if mode == "multiply":
        return [g * y / x, core.unbroadcast(gather(g * y, *indices, axes=axes) / new, new), *nones]
    at_x = core.cast(equal(x, y), dtype=g.dtype)
    at_new = core.cast(equal(gather(y, *indices, axes=axes), new), dtype=g.dtype)
    ties = scatter(at_x, at_new, *indices, axes=axes, mode="add")
    share = g / ties
    back = gather(share, *indices, axes=axes) * at_new
    return [share * at_x, core.unbroadcast(back, new), *nones]


def _scatter_jvp(
    ts: Any, y: Tensor, x: Tensor, new: Tensor, *indices: Tensor, axes: tuple[int, ...], mode: str
) -> Tensor:
    from graphify.ops.elementwise import equal

    tx = core.zeros_like(x) if ts[0] is None else ts[0]
    tn = core.zeros_like(new) if ts[1] is None else ts[1]
    if mode in ("set", "add"):
        return scatter(tx, tn, *indices, axes=axes, mode=mode)
    if mode == "multiply":
        return y * scatter(tx / x, tn / new, *indices, axes=axes, mode="add")
    at_x = core.cast(equal(x, y), dtype=y.dtype)
    at_new = core.cast(equal(gather(y, *indices, axes=axes), new), dtype=y.dtype)
    ties = scatter(at_x, at_new, *indices, axes=axes, mode="add")
    total = scatter(tx * at_x, tn * at_new, *indices, axes=axes, mode="add")
    return total / ties


def _scatter_vmap(args: Any, batched: Any, axes: tuple[int, ...], mode: str) -> Any:
    x, new, *indices = args
    count = _count(args, batched)
    x = x if batched[0] else core.broadcast_to(x, shape=(count, *x.dims))
    operands, all_axes = _batch_indices(indices, batched[2:], count, axes)
    lead = core.broadcast_shapes(*(i.dims for i in operands))
    rank = len(lead) + x.ndim - len(all_axes) - 1  # of `new` without its batch axis
    if batched[1]:
        new = core.reshape(new, shape=(count, *(1,) * (rank - new.ndim + 1), *new.dims[1:]))
    return scatter(x, new, *operands, axes=all_axes, mode=mode)


def _scatter_samples() -> Any:
    x, index = np.arange(12.0).reshape(3, 4) + 1, np.array([2, 0, 2])
    new = np.arange(12.0).reshape(3, 4) * 0.5 + 0.25
    cases = [((x, new, index), {"axes": (0,), "mode": mode}) for mode in ("set", "add", "multiply")]
    cases += [
        ((x, new + 3.1, index), {"axes": (0,), "mode": mode}) for mode in ("maximum", "minimum")
    ]
    return [
        *cases,
        ((x, np.array(9.0), np.array([0, 2]), np.array([1, -1])), {"axes": (0, 1), "mode": "set"}),
    ]


scatter = defop(
    "scatter",
    spec=_scatter_spec,
    eval=_scatter_eval,
    vjp=_scatter_vjp,
    jvp=_scatter_jvp,
    vmap=_scatter_vmap,
    tf="scatter",
    sample=_scatter_samples,
    differentiable=(0, 1),
    doc="a copy with the elements at integer indices replaced (set; the last write "
    "wins) or combined",
)

# --- nonzero -------------------------------------------------------------------------------------


def _nonzero_spec(x: Spec) -> tuple[Spec, ...]:
    count = fresh("nz")
    return tuple(Spec((count,), np.dtype(np.int64)) for _ in range(x.ndim))


nonzero = defop(
    "nonzero",
    spec=_nonzero_spec,
    eval=lambda x: np.nonzero(x),
    tf="nonzero",
    sample=lambda: [((np.array([[1, 0, 2], [0, 3, 0]]),), {}), ((np.array([False, True]),), {})],
    differentiable=(),
    extra={"tuple": True},
    doc="numpy.nonzero: the indices of the true elements, one array per axis",
)


def take_slice(x: Tensor, start: Dim, stop: Dim, axis: int) -> Tensor:
    """x[..., start:stop, ...] along one axis, for bounds known to be in range."""
    key: list[Entry] = [(0, dim, 1) for dim in x.dims]
    key[axis] = (start, stop - start, 1)
    return slice_(x, key=tuple(key))
