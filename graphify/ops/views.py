"""Views beyond slices and transposes: diagonals, windows, read-only broadcasts, and reshape's
question whether NumPy would give a view or a copy.

    reshape(x, shape=(6,))     # a view where NumPy's memory layout allows one, else a copy

A graph has no memory layout. `strides_of` follows what NumPy would do: fresh results of
contiguous operands are contiguous, views change the strides. Where it cannot tell, reading
works; it raises when somebody writes through it or writes to its base.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from graphify.errors import ShapeError, SpecError
from graphify.ir.context import current_builder
from graphify.ir.graph import Value, constant, param
from graphify.ir.op import Op, defop
from graphify.ir.sizes import Dim, Shape, decide_equal, product, size_op
from graphify.ir.tensor import Tensor, is_number, viewing
from graphify.ir.types import Spec
from graphify.location import here
from graphify.ops import core
from graphify.ops.indexing import scatter, slice_update
from graphify.ops.shape import iota, move_axis

INT64 = np.dtype(np.int64)

# --- read-only views ------------------------------------------------------------------------------


def _read_only(*args: Any, **attrs: Any) -> Any:
    raise ValueError("assignment destination is read-only")


_BROADCAST_VIEW = dataclasses.replace(core.broadcast_to, put=_read_only)


def _as_view(y: Tensor, base: Tensor, op: Op, attrs: dict[str, Any]) -> Tensor:
    y._base, y._view, y._seen = base, (op, (), attrs), base._version
    return y


def broadcast_view(x: Tensor, shape: Shape) -> Tensor:
    """`x` broadcast to a shape: a view that may not be written to, as in NumPy."""
    y: Tensor = core.broadcast_to(x, shape=shape)
    return _as_view(y, x, _BROADCAST_VIEW, {"shape": shape})


# --- diagonal -------------------------------------------------------------------------------------


def _diagonal_length(x: Spec, offset: int, axis1: int, axis2: int) -> Dim:
    rows, columns = x.shape[axis1], x.shape[axis2]
    rows, columns = (rows, columns - offset) if offset >= 0 else (rows + offset, columns)
    return size_op("max", size_op("min", rows, columns), 0)


def _diagonal_spec(x: Spec, offset: int, axis1: int, axis2: int, writeable: bool = False) -> Spec:
    rest = tuple(d for a, d in enumerate(x.shape) if a not in (axis1, axis2))
    return Spec((*rest, _diagonal_length(x, offset, axis1, axis2)), x.dtype)


def _diagonal_eval(x: Any, offset: int, axis1: int, axis2: int, writeable: bool = False) -> Any:
    y = np.diagonal(x, offset, axis1, axis2)
    if writeable and x.flags.writeable:
        y.flags.writeable = True
    return y


def _diagonal_put(
    base: Tensor, new: Tensor, offset: int, axis1: int, axis2: int, writeable: bool = False
) -> Tensor:
    if not writeable:
        _read_only()
    steps = iota(length=_diagonal_length(base.spec, offset, axis1, axis2), dtype=INT64)
    rows, columns = (steps, steps + offset) if offset >= 0 else (steps - offset, steps)
    front = move_axis(new, new.ndim - 1, 0)
    return scatter(base, front, rows, columns, axes=(axis1, axis2), mode="set")


def _diagonal_vjp(g: Tensor, y: Tensor, x: Tensor, **attrs: Any) -> list[Tensor]:
    return [_diagonal_put(core.zeros_like(x), g, **{**attrs, "writeable": True})]


diagonal: Op = defop(
    "diagonal",
    spec=_diagonal_spec,
    eval=_diagonal_eval,
    vjp=_diagonal_vjp,
    jvp="linear",
    vmap=lambda args, batched, axis1, axis2, **attrs: diagonal(
        args[0], axis1=axis1 + 1, axis2=axis2 + 1, **attrs
    ),
    put=_diagonal_put,
    tf="diagonal",
    sample=lambda: [
        ((np.arange(24.0).reshape(2, 3, 4),), {"offset": k, "axis1": a, "axis2": b})
        for k, a, b in [(0, 0, 1), (1, 1, 2), (-1, 2, 0), (5, 0, 1)]
    ],
    doc="numpy.diagonal, with axes not negative",
)

# --- windows --------------------------------------------------------------------------------------


def _windows_spec(x: Spec, axis: int, window: Dim) -> Spec:
    count = x.shape[axis] - window + 1
    if isinstance(count, int) and count < 1:
        raise ShapeError(
            f"sliding_window_view: window shape cannot be larger than input array shape {x.shape}"
        )
    return Spec((*x.shape[:axis], count, *x.shape[axis + 1 :], window), x.dtype)


def _windows_vjp(g: Tensor, y: Tensor, x: Tensor, axis: int, window: Dim) -> list[Tensor]:
    starts = core.reshape(iota(length=g.dims[axis], dtype=INT64), shape=(g.dims[axis], 1))
    index = starts + iota(length=window, dtype=INT64)
    front = move_axis(move_axis(g, g.ndim - 1, 0), axis + 1, 0)
    return [scatter(core.zeros_like(x), front, index, axes=(axis,), mode="add")]


windows: Op = defop(
    "sliding_windows",
    spec=_windows_spec,
    eval=lambda x, axis, window: np.lib.stride_tricks.sliding_window_view(x, window, axis),
    vjp=_windows_vjp,
    jvp="linear",
    vmap=lambda args, batched, axis, window: windows(args[0], axis=axis + 1, window=window),
    put=_read_only,
    tf="sliding_windows",
    sample=lambda: [((np.arange(10.0).reshape(2, 5),), {"axis": 1, "window": 3})],
    doc="numpy.lib.stride_tricks.sliding_window_view along one axis; the window is the last axis",
)

# --- layout ---------------------------------------------------------------------------------------

Strides = tuple[Dim, ...]


def contiguous_strides(shape: Shape) -> Strides:
    """Strides, in elements, of a C-contiguous array."""
    return tuple(product(shape[axis + 1 :]) for axis in range(len(shape)))


def strides_of(x: Tensor, assumed: list[Any] | None = None) -> Strides | None:
    """The strides that NumPy's array would have, in elements; None where they are not known.

    Args:
        assumed: gets `(builder, parameter)` for each argument that is taken to lie in C order.
    """
    assumed = [] if assumed is None else assumed
    if not x.is_symbolic:
        array = x.numpy()
        return tuple(s // array.itemsize for s in array.strides)
    if x._base is None:
        made = x._value if x._made is None else x._made
        known = _made_contiguous(made, assumed) if type(made) is Value else _is_c_order(made)
        return contiguous_strides(x.dims) if known else None
    base = strides_of(x._base, assumed)
    if base is None:
        return None
    op, _, attrs = viewing(x)
    rule = _STRIDE_RULES.get(op.name)
    return None if rule is None else rule(base, x._base, attrs)


def _in_order(shape: Shape, strides: Strides) -> bool | None:
    if any(decide_equal(dim, 0) for dim in shape):
        return True
    axes = zip(shape, strides, contiguous_strides(shape), strict=True)
    fits = [decide_equal(s, c) for dim, s, c in axes if not decide_equal(dim, 1)]
    return None if None in fits else all(fits)


def in_c_order(x: Tensor) -> bool:
    """Whether NumPy's array lies in C order without gaps; arguments are taken to do so, and noted:
    for others there will be another trace."""
    assumed: list[Any] = []
    strides = strides_of(x, assumed)
    if strides is None or _in_order(x.dims, strides) is not True:
        return False
    _note(assumed)
    return True


def _root(value: Value) -> Value:
    """The value whose layout an updated array keeps."""
    while value.node.op in (slice_update, scatter):
        value = value.node.inputs[0]
    return value


def _given_contiguous(value: Value, assumed: list[Any]) -> bool:
    """Whether a parameter is: an argument says so itself, a captured value is what it captures.

    What a loop carries may be of another layout in each turn, so it is not known.
    """
    builder = current_builder()
    while builder is not None and not builder.owns(value):
        builder = builder.parent
    if builder is None or builder.parent is None:
        if builder is None or value in builder.scattered:
            return False
        if value.spec.ndim > 1:
            assumed.append((builder, value))
        return True
    outer = next((o for o, inner in builder.captures.items() if inner == value), None)
    return outer is not None and _made_contiguous(outer, assumed)


# Fancy indexing orders memory as suits it; sub-graphs hide what they do.
_UNKNOWN_LAYOUT = {"gather", "cond", "while", "loop", "map", "call", "transpose", "flip", "slice"}


def _made_contiguous(value: Value, assumed: list[Any], depth: int = 12) -> bool:
    """Whether NumPy's result is C-contiguous: so are results of contiguous operands."""
    value = _root(value)
    op = value.node.op
    if op is constant:
        return _is_c_order(value.node.attrs["value"].array)
    if op is param:
        return _given_contiguous(value, assumed)
    if op.name == "gather" and value.spec.ndim < 2:
        return True
    if op.name in _UNKNOWN_LAYOUT or not depth:
        return False
    return all(
        v.spec.ndim < 2 or _made_contiguous(v, assumed, depth - 1) for v in value.node.inputs
    )


def _is_c_order(array: Any) -> bool:
    return bool(array.flags.c_contiguous)


def _slice_strides(strides: Strides, base: Tensor, attrs: dict[str, Any]) -> Strides:
    result: list[Dim] = []
    axis = 0
    for entry in attrs["key"]:
        if entry is None:
            result.append(0)
            continue
        if type(entry) is tuple and entry[0] != "at":
            result.append(strides[axis] * entry[2])
        axis += 1
    return (*result, *strides[axis:])


def _view_strides(base: Tensor, strides: Strides, shape: Shape) -> Strides | None:
    known = reshaped_strides(base.dims, strides, shape)
    return known if isinstance(known, tuple) else None


_STRIDE_RULES: dict[str, Callable[[Strides, Tensor, dict[str, Any]], Strides | None]] = {
    "transpose": lambda s, base, attrs: tuple(s[a] for a in attrs["axes"]),
    "slice": _slice_strides,
    "flip": lambda s, base, attrs: tuple(-d if a in attrs["axes"] else d for a, d in enumerate(s)),
    "reshape": lambda s, base, attrs: _view_strides(base, s, attrs["shape"]),
    # A part of a complex array steps over the other part. The size of an element is no matter here.
    "real": lambda s, base, attrs: tuple(d * 2 for d in s) if base.dtype.kind == "c" else s,
    "imag": lambda s, base, attrs: tuple(d * 2 for d in s),
}


def reshaped_strides(shape: Shape, strides: Strides, new: Shape) -> Strides | bool | None:
    """Strides of the view that a reshape gives; False if it is a copy, None if that is not known.

    Runs of axes that lie together in memory can be cut anew; NumPy does the same
    (Source: numpy/_core/src/multiarray/shape.c, _attempt_nocopy_reshape).
    """
    if any(d == 0 for d in (*shape, *new)):
        return contiguous_strides(new)
    old = [(d, s) for d, s in zip(shape, strides, strict=True) if d != 1]
    result: list[Dim] = []
    i = j = 0
    while i < len(old) and j < len(new):
        i2, j2 = i + 1, j + 1
        left, right = old[i][0], new[j]
        while (same := decide_equal(left, right)) is not True:
            grow_new = _divides(right, left, same)
            if grow_new is None:
                return None
            if grow_new and j2 < len(new):
                right, j2 = right * new[j2], j2 + 1
            elif not grow_new and i2 < len(old):
                left, i2 = left * old[i2][0], i2 + 1
            else:
                return None
        for (_, outer), (inner_dim, inner) in zip(old[i : i2 - 1], old[i + 1 : i2], strict=True):
            joined = decide_equal(outer, inner_dim * inner)
            if joined is not True:
                return None if joined is None else False
        tail = contiguous_strides(new[j:j2])
        result += [t * old[i2 - 1][1] for t in tail]
        i, j = i2, j2
    return (*result, *(1 for _ in new[j:]))


def _divides(right: Dim, left: Dim, same: bool | None) -> bool | None:
    """Whether the new side is the shorter one, so that it takes the next axis."""
    if isinstance(left, int) and isinstance(right, int):
        return right < left
    difference = left - right
    if right == 1 or (not isinstance(difference, int) and all(c > 0 for _, c in difference.terms)):
        return True
    if left == 1 or (not isinstance(difference, int) and all(c < 0 for _, c in difference.terms)):
        return False
    return None


# --- reshape --------------------------------------------------------------------------------------


def _unsure(again: Callable[..., Tensor]) -> Op:
    """reshape as a view that must not be written through, as of the line where it is made.

    Args:
        again: makes it of an array of the call, which tells whether it is a view.
    """
    place = here()

    def refuse(*args: Any, **attrs: Any) -> Any:
        raise SpecError(
            "reshape: it cannot be told while tracing whether NumPy gives a view or a copy here, "
            "and the array or its reshaped form is written to",
            location=place.resolve() if place is not None else None,
            remedy="reshape a copy, x.copy().reshape(...), or write to the array before reshaping "
            "it",
        )

    extra = {**core.reshape.extra, "again": again}
    return dataclasses.replace(core.reshape, put=refuse, convert=refuse, extra=extra)


def _note(assumed: list[Any]) -> None:
    """Make a trace one for arguments that lie in C order."""
    for builder, value in assumed:
        builder.needs_order.add(value)


def _assuming(assumed: list[Any]) -> Op:
    """reshape as a view that is one only if arguments lie in C order: a write notes them."""

    def put(base: Tensor, new: Tensor, shape: Shape) -> Tensor:
        _note(assumed)
        return core.reshape(new, shape=base.dims)

    def convert(x: Any) -> list[Any]:
        _note(assumed)
        return [x]

    return dataclasses.replace(core.reshape, put=put, convert=convert)


def reshape(x: Tensor, shape: Shape) -> Tensor:
    """`x` under another shape in C order: a view where NumPy gives one, else a copy."""
    y: Tensor = core.reshape(x, shape=shape)
    if not y.is_symbolic or is_number(x):
        return y
    assumed: list[Any] = []
    strides = strides_of(x, assumed)
    view = None if strides is None else reshaped_strides(x.dims, strides, shape)
    if view is False:
        y._base = y._view = None
        _note(assumed)
    elif view is None:
        _as_view(y, x, _unsure(reshape), {"shape": shape})
    elif assumed:
        _as_view(y, x, _assuming(assumed), {"shape": shape})
    return y


def ravel(x: Tensor) -> Tensor:
    """`x` in one dimension: a view if it lies in C order without gaps, else a copy, also of one
    dimension with gaps, of which `reshape` gives a view."""
    flat = reshape(x, (product(x.dims),))
    if is_number(x):
        return flat
    assumed: list[Any] = []
    strides = strides_of(x, assumed)
    in_order = None if strides is None else _in_order(x.dims, strides)
    if in_order is None:
        _as_view(flat, x, _unsure(lambda x, shape: ravel(x)), {"shape": flat.dims})
    elif not in_order:
        _note(assumed)
        return core.copy(flat)
    return flat
