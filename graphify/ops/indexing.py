"""Indexing: NumPy's whole key language on four ops.

`slice` and `slice_update` take basic keys (integers, slices, newaxis; integers may be traced);
`gather` and `scatter` take integer arrays on some axes. `getitem` and `setitem` decompose any key
into them: boolean masks become their nonzero positions, mixed keys become a slice, a gather and a
transpose.

    x[1, :, mask]  ->  gather(slice(x, ...), nonzero(mask), axes=...)

A slice entry is normalised while tracing to `(start, count, step)` with `start` and `count` not
negative, as ints or symbolic sizes. Bounds of integers are checked when the graph runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from graphify.errors import ShapeError
from graphify.ir import bind as binding
from graphify.ir.bind import Tensor, as_tensor
from graphify.ir.op import Op, defop
from graphify.ir.sizes import Dim, Shape, Size, decide_equal, decide_less, fresh, size_op
from graphify.ir.types import BOOL, Spec
from graphify.ops import core
from graphify.ops.shape import as_dim, checked_dim, iota, move_axis, transpose

Entry: TypeAlias = Any  # None: newaxis; Dim: integer; ("at", k): operand k; (start, count, step)
Key: TypeAlias = tuple[Entry, ...]

# --- slice ----------------------------------------------------------------------------------------


def _is_slice(entry: Entry) -> bool:
    return type(entry) is tuple and entry[0] != "at"


def _is_at(entry: Entry) -> bool:
    return type(entry) is tuple and entry[0] == "at"


def _slice_shape(shape: Shape, key: Key) -> Shape:
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


def _count(args: Any, batched: Any) -> Dim:
    return next(a.dims[0] for a, b in zip(args, batched, strict=True) if b)  # type: ignore[no-any-return]


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
    spec=lambda x, *indices, key: Spec(_slice_shape(x.shape, key), x.dtype),
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
    return slice_update(tx, tn, *indices, key=key)  # type: ignore[no-any-return]


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

# --- gather and scatter ---------------------------------------------------------------------------


def _rest(shape: Shape, axes: tuple[int, ...]) -> Shape:
    return tuple(dim for a, dim in enumerate(shape) if a not in axes)


def _index_shape(shapes: Sequence[Shape]) -> Shape:
    try:
        return core.broadcast_shapes(*shapes)
    except ShapeError as error:
        text = " ".join(str(shape).replace(" ", "") for shape in shapes)
        raise IndexError(
            f"shape mismatch: indexing arrays could not be broadcast together with shapes {text}"
        ) from error


def _gather_spec(x: Spec, *indices: Spec, axes: tuple[int, ...]) -> Spec:
    lead = _index_shape([i.shape for i in indices])
    return Spec((*lead, *_rest(x.shape, axes)), x.dtype)


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
    return where(mask, back, core.zeros_like(back))  # type: ignore[no-any-return]


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
        return scatter(tx, tn, *indices, axes=axes, mode=mode)  # type: ignore[no-any-return]
    if mode == "multiply":
        return y * scatter(tx / x, tn / new, *indices, axes=axes, mode="add")  # type: ignore[no-any-return]
    at_x = core.cast(equal(x, y), dtype=y.dtype)
    at_new = core.cast(equal(gather(y, *indices, axes=axes), new), dtype=y.dtype)
    ties = scatter(at_x, at_new, *indices, axes=axes, mode="add")
    total = scatter(tx * at_x, tn * at_new, *indices, axes=axes, mode="add")
    return total / ties  # type: ignore[no-any-return]


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

# --- nonzero --------------------------------------------------------------------------------------


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

# --- any key --------------------------------------------------------------------------------------


def take_slice(x: Tensor, start: Dim, stop: Dim, axis: int) -> Tensor:
    """x[..., start:stop, ...] along one axis, for bounds known to be in range."""
    key: list[Entry] = [(0, dim, 1) for dim in x.dims]
    key[axis] = (start, stop - start, 1)
    return slice_(x, key=tuple(key))  # type: ignore[no-any-return]


def getitem(x: Tensor, key: Any) -> Tensor:
    """x[key] with NumPy's meaning. A basic key gives a view, except of a single element."""
    plan = _Plan(x, key)
    if not plan.arrays:
        whole = any(item is Ellipsis for item in (key if type(key) is tuple else (key,)))
        return _view(x, plan) if whole else _part(x, plan)
    part = slice_(x, *plan.scalars, key=plan.basic) if plan.basic else x
    picked = gather(part, *plan.arrays, axes=plan.axes)
    return _to_place(picked, plan)


def _part(x: Tensor, plan: _Plan) -> Tensor:
    part: Tensor = slice_(x, *plan.scalars, key=plan.basic)
    if part.is_symbolic and not part.ndim:
        part._base = part._view = None  # a scalar of NumPy's: later updates do not reach it
    part._scalar = not part.ndim
    return part


def _view(x: Tensor, plan: _Plan) -> Tensor:
    """The elements of a basic key as a view, even where NumPy's key gives a scalar."""
    x = binding.resolve(x)
    binding.refresh(x)
    if (
        x.is_symbolic
        or any(i.is_symbolic for i in plan.scalars)
        or _slice_shape(x.dims, plan.basic)
    ):
        return slice_(x, *plan.scalars, key=plan.basic)  # type: ignore[no-any-return]
    indices = [i.numpy() for i in plan.scalars]
    array = x.numpy()[(*numpy_key(plan.basic, indices), ...)]
    attrs = {"key": plan.basic}
    part = Tensor(array, x, (slice_, tuple(plan.scalars), attrs))
    for tape in binding.active_tapes():
        tape.record(slice_, [x, *plan.scalars], attrs, [part])
    return part


def setitem(x: Tensor, key: Any, value: Any) -> None:
    """x[key] = value with NumPy's meaning: `value` is cast and broadcast."""
    mask = _whole_mask(x, key)
    new = core.to_dtype(as_tensor(value), x.dtype) if not _is_view_of(x, value) else value
    if mask is not None and new.ndim == 0:
        from graphify.ops.elementwise import where

        wide = core.reshape(mask, shape=(*mask.dims, *(1,) * (x.ndim - mask.ndim)))
        binding.assign(x, where(wide, new, x))
        return
    plan = _Plan(x, key)
    if not plan.arrays:
        view = _view(x, plan)
        binding.assign(view, _fit(new, view))
        return
    view = slice_(x, *plan.scalars, key=plan.basic) if plan.basic else x
    new = _from_place(_fit_rank(new, view, plan), plan)
    binding.assign(view, scatter(view, new, *plan.arrays, axes=plan.axes, mode="set"))


def update_at(x: Tensor, key: Any, new: Tensor, mode: str) -> bool:
    """x[key] combined with `new` in place, repeated indices counted every time.

    Returns:
        False, and nothing done, if no index of the key can repeat.
    """
    plan = _Plan(x, key)
    if not plan.arrays:
        return False
    view = slice_(x, *plan.scalars, key=plan.basic) if plan.basic else x
    new = _from_place(_fit_rank(new, view, plan), plan)
    binding.assign(view, scatter(view, new, *plan.arrays, axes=plan.axes, mode=mode))
    return True


def _is_view_of(x: Tensor, value: Any) -> bool:
    return isinstance(value, Tensor) and value.dtype == x.dtype and not value.spec.weak


def _fit(new: Tensor, view: Tensor) -> Tensor:
    return _fit_shape(new, view.dims)


def _fit_shape(new: Tensor, shape: Shape) -> Tensor:
    """`new` broadcast to a shape, extra leading axes of length one dropped, as assignment does."""
    while new.ndim > len(shape) and new.dims[0] == 1:
        new = core.reshape(new, shape=new.dims[1:])
    if new.dims == shape:
        return new
    try:
        return core.broadcast_to(new, shape=shape)  # type: ignore[no-any-return]
    except (ShapeError, ValueError):
        raise ShapeError(
            f"could not broadcast input array from shape {new.dims} into shape {shape}"
        ) from None


def _fit_rank(new: Tensor, view: Tensor, plan: _Plan) -> Tensor:
    """`new` with the rank of the indexed elements; `scatter` broadcasts it, and checks lengths."""
    shape = _result_shape(view, plan)
    while new.ndim > len(shape) and new.dims[0] == 1:
        new = core.reshape(new, shape=new.dims[1:])
    padded = (1,) * (len(shape) - new.ndim) + new.dims
    fits = len(padded) == len(shape) and all(
        a == 1 or decide_equal(a, b) is not False for a, b in zip(padded, shape, strict=True)
    )
    if not fits:
        raise ShapeError(
            f"shape mismatch: value array of shape {new.dims} could not be "
            "broadcast to indexing result "
            f"of shape {shape}"
        )
    return new if padded == new.dims else core.reshape(new, shape=padded)


class _Plan:
    """A key taken apart: a basic key and its traced integers, then arrays on axes of its result."""

    def __init__(self, x: Tensor, key: Any) -> None:
        entries = _expand(x, key)
        self.scalars: list[Tensor] = []
        self.arrays: list[Tensor] = []
        self.axes: tuple[int, ...] = ()
        basic: list[Entry] = []
        advanced = any(isinstance(e, Tensor) and (e.ndim or e.dtype == BOOL) for e in entries)
        axes: list[int] = []
        positions: list[int] = []
        axis = out = 0
        for position, entry in enumerate(entries):
            if entry is None:
                basic.append(None)
                out += 1
                continue
            if isinstance(entry, slice):
                basic.append(normalise_slice(entry, x.dims[axis]))
                out += 1
            elif isinstance(entry, Tensor) and entry.dtype == BOOL:  # a new axis, kept or dropped
                self.arrays += nonzero(core.reshape(entry, shape=(1,)))
                basic.append(None)
                axes.append(out)
                positions.append(position)
                out += 1
                continue
            elif advanced:  # integers take part in advanced indexing
                self.arrays.append(as_tensor(entry))
                basic.append((0, x.dims[axis], 1))
                axes.append(out)
                positions.append(position)
                out += 1
            elif isinstance(entry, Tensor):
                basic.append(("at", len(self.scalars)))
                self.scalars.append(entry)
            else:
                basic.append(entry)
            axis += 1
        self.axes = tuple(axes)
        self.basic = tuple(basic)
        if (
            advanced
            and len(basic) == x.ndim
            and all(e == (0, d, 1) for e, d in zip(basic, x.dims, strict=True))
        ):
            self.basic = ()
        adjacent = (
            positions == list(range(positions[0], positions[0] + len(positions)))
            if positions
            else True
        )
        self.place = axes[0] if axes and adjacent else 0
        self.rank = max((a.ndim for a in self.arrays), default=0)


def _to_place(picked: Tensor, plan: _Plan) -> Tensor:
    """Index axes from the front to where NumPy puts them."""
    if not plan.place or not plan.rank:
        return picked
    lead = list(range(plan.rank))
    rest = list(range(plan.rank, picked.ndim))
    return transpose(picked, axes=(*rest[: plan.place], *lead, *rest[plan.place :]))  # type: ignore[no-any-return]


def _from_place(new: Tensor, plan: _Plan) -> Tensor:
    if not plan.place or not plan.rank:
        return new
    lead = list(range(plan.place, plan.place + plan.rank))
    rest = [a for a in range(new.ndim) if a not in lead]
    return transpose(new, axes=(*lead, *rest))  # type: ignore[no-any-return]


def _result_shape(view: Tensor, plan: _Plan) -> Shape:
    lead = _index_shape([a.dims for a in plan.arrays])
    rest = _rest(view.dims, plan.axes)
    return (*rest[: plan.place], *lead, *rest[plan.place :])


def _whole_mask(x: Tensor, key: Any) -> Tensor | None:
    """The key as one traced or eager boolean mask over the leading axes, if it is that."""
    if isinstance(key, np.ndarray) and key.dtype == BOOL and key.ndim:
        key = as_tensor(key)
    if isinstance(key, Tensor) and key.dtype == BOOL and 0 < key.ndim <= x.ndim:
        return _checked_mask(x, key, 0)
    return None


def _checked_mask(x: Tensor, mask: Tensor, axis: int) -> Tensor:
    """A mask of the lengths of the axes it stands for; IndexError, now or in the run, if not."""
    dims = []
    for a, dim in enumerate(mask.dims):
        if axis + a >= x.ndim:
            return mask  # too many indices: reported with the whole key
        message = (
            f"boolean index did not match indexed array along axis {axis + a}; "
            f"size of axis is {x.dims[axis + a]} but size of corresponding boolean axis is {dim}"
        )
        dims.append(checked_dim(dim, x.dims[axis + a], message, IndexError))
    return mask if tuple(dims) == mask.dims else core.reshape(mask, shape=tuple(dims))


def _expand(x: Tensor, key: Any) -> list[Any]:
    """One entry per axis or newaxis: None, slice, int or size, integer Tensor."""
    raw = list(key) if type(key) is tuple else [key]
    entries: list[Any] = []
    for item in raw:
        entries.append(_entry(item))
    consumed = sum(_consumes(e) for e in entries)
    if sum(e is Ellipsis for e in entries) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    if consumed > x.ndim:
        raise IndexError(
            f"too many indices for array: array is {x.ndim}-dimensional, but "
            f"{consumed} were indexed"
        )
    fill = [slice(None)] * (x.ndim - consumed)
    if Ellipsis not in [e for e in entries if not isinstance(e, Tensor)]:
        entries.append(Ellipsis)
    result: list[Any] = []
    axis = 0
    for entry in entries:
        if entry is Ellipsis:
            result += fill
            axis += len(fill)
        elif isinstance(entry, Tensor) and entry.dtype == BOOL:
            result += nonzero(_checked_mask(x, entry, axis)) if entry.ndim else [entry]
            axis += entry.ndim
        else:
            result.append(entry)
            axis += _consumes(entry)
    return result


def _consumes(entry: Any) -> int:
    if entry is None or entry is Ellipsis:
        return 0
    if isinstance(entry, Tensor) and entry.dtype == BOOL:
        return entry.ndim
    return 1


def _entry(item: Any) -> Any:
    """One item of a key: checked; lists and arrays as tensors, scalars as ints or 0-d tensors."""
    if item is None or item is Ellipsis or isinstance(item, slice):
        return item
    if isinstance(item, Tensor):
        tensor = item
    elif isinstance(item, (int, Size)) and not isinstance(item, bool):
        return item
    elif isinstance(item, (np.ndarray, np.generic, bool, list, tuple)) or hasattr(
        item, "__array__"
    ):
        tensor = as_tensor(
            np.asarray(item, np.int64)
            if isinstance(item, (list, tuple)) and not len(item)
            else item
        )
    elif hasattr(item, "__index__"):
        return item.__index__()
    else:
        raise _bad_index(item)
    if tensor.dtype.kind not in "iub":
        raise IndexError("arrays used as indices must be of integer (or boolean) type")
    if tensor.ndim == 0 and tensor.dtype != BOOL and not binding.resolve(tensor).is_symbolic:
        return int(tensor.numpy())
    return tensor


def _bad_index(item: Any) -> IndexError:
    return IndexError(
        "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) "
        "and integer or boolean "
        f"arrays are valid indices, got {type(item).__name__}"
    )


def normalise_slice(entry: slice, dim: Dim) -> tuple[Dim, Dim, int]:
    """A Python slice of an axis as (start, count, step), nothing negative, all in range.

    Raises:
        ValueError: step zero. ConcreteValueNeeded: a traced step.
    """
    step = 1 if entry.step is None else _concrete_step(entry.step)
    if step == 0:
        raise ValueError("slice step cannot be zero")
    bounds = [None if b is None else _bound(b, dim, step) for b in (entry.start, entry.stop)]
    if all(isinstance(b, int | None) for b in bounds) and isinstance(dim, int):
        start, stop, _ = slice(bounds[0], bounds[1], step).indices(dim)
        return (start, len(range(start, stop, step)), step)
    return _symbolic_slice(bounds[0], bounds[1], step, dim)


def _concrete_step(step: Any) -> int:
    if isinstance(step, Tensor) and step.is_symbolic:
        raise binding.value_needed(step, "the slice step")
    return int(step.numpy()) if isinstance(step, Tensor) else step.__index__()


class _Settled:
    """A bound that needs no wrapping any more: -1 in it is the place before the first element."""

    def __init__(self, dim: Dim) -> None:
        self.dim = dim


def _bound(bound: Any, dim: Dim, step: int) -> Any:
    """A bound as an int or size; a traced integer of unknown sign is wrapped and clamped first."""
    if not isinstance(bound, Tensor):
        return as_dim(bound, "slice bound")
    if not bound.is_symbolic:
        return as_dim(bound, "slice bound")
    from graphify.ops import elementwise as e
    from graphify.ops.shape import _size_of

    known = _size_of(bound._value)
    if known is not None:
        return known
    bound = core.cast(bound, dtype=np.dtype(np.int64))
    wrapped = e.where(e.less(bound, 0), bound + as_tensor(dim), bound)
    if step > 0:
        return _Settled(as_dim(e.maximum(wrapped, 0), "slice bound"))
    return _Settled(as_dim(e.maximum(wrapped, -1) + 1, "slice bound") - 1)


def _symbolic_slice(start: Any, stop: Any, step: int, dim: Dim) -> tuple[Dim, Dim, int]:
    if step > 0:
        first = 0 if start is None else _maximum(_wrap(start, dim, 2), 0)
        last = dim if stop is None else _minimum(_maximum(_wrap(stop, dim, 2), 0), dim)
        span = last - first
    else:
        first = dim - 1 if start is None else _minimum(_wrap(start, dim, 1), dim - 1)
        last = -1 if stop is None else _maximum(_wrap(stop, dim, 1), -1)
        span = first - last
    stride = abs(step)
    count = span if stride == 1 else size_op("floordiv", span + (stride - 1), stride)
    return (_maximum(first, 0) if step < 0 else first, _maximum(count, 0), step)


def _wrap(bound: Any, dim: Dim, slack: int) -> Dim:
    """A bound that counts from the end if it is negative.

    A bound of `dim - slack` or more is negative only where wrapping does not change the slice:
    `dim - 2` is -1 for one element, which wraps to 0, as clamping does where the step is positive.
    """
    if isinstance(bound, _Settled):
        return bound.dim
    if decide_less(bound, 0):
        return bound + dim  # type: ignore[no-any-return]
    if dim - bound in range(slack + 1):
        return bound  # type: ignore[no-any-return]
    return size_op("wrap", bound, dim)


def _maximum(a: Dim, b: Dim) -> Dim:
    less = decide_less(a, b)
    return size_op("max", a, b) if less is None else (b if less else a)


def _minimum(a: Dim, b: Dim) -> Dim:
    less = decide_less(a, b)
    return size_op("min", a, b) if less is None else (a if less else b)
