"""Ops that rearrange elements: transpose, concatenate, pad, flip; and sizes as values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphify.errors import ShapeError, TraceError
from graphify.ir.context import current_builder, recording
from graphify.ir.graph import Builder, Value, as_size, attr_sizes
from graphify.ir.kinds import wrong_kind
from graphify.ir.op import Op, defop
from graphify.ir.sizes import Dim, Size, SizeVar, decide_equal, decide_less, fresh, size, size_op
from graphify.ir.tensor import Tensor, set_dim_hook, set_size_hook
from graphify.ir.types import Spec
from graphify.ir.wrapping import as_index
from graphify.ops import core

# --- sizes as values ------------------------------------------------------------------------------

size_value: Op = defop(
    "size_value",
    spec=lambda size: Spec((), np.dtype(np.int64), True),
    eval=lambda size: np.asarray(size, np.int64),
    vmap=lambda args, batched, size: size_value(size=size),
    tf="size_value",
    sample=lambda: [((), {"size": 3})],
    doc="a symbolic size as a Python integer",
)
set_size_hook(lambda dim: size_value(size=dim))


_MOST = np.iinfo(np.int64).max
_NEVER_FAILING = {"constant", "cast", "add", "subtract", "multiply", "negative"}
_NEVER_FAILING |= {"maximum", "minimum", "size_value"}
_FEW = 32  # operations, of which a size is made: one that is doubled in every turn is none


def as_dim(value: Any, argument: str = "size") -> Dim:
    """An int or size for any integer: a Python int, a size, or a traced integer scalar.

    A traced scalar that is arithmetic of sizes gives back that size; any other one gets a fresh
    size variable bound to it.

    Raises:
        TypeError: not an integer.
    """
    value = as_index(value)
    if isinstance(value, Size):
        return value
    if not isinstance(value, Tensor):
        try:
            index: int = value.__index__()
            return index
        except AttributeError:
            kind = type(value).__name__
            raise TypeError(
                f"'{kind}' object cannot be interpreted as an integer ({argument})"
            ) from None
    if value.dtype.kind not in "iu" or value.ndim:
        error = TypeError(f"{argument}: expected an integer scalar, got {value.spec}")
        raise wrong_kind(error, value)
    if not value.is_symbolic:
        return int(value.numpy())
    found, builder = _lifted(value._value)
    known = _size_of(found)
    if known is not None:
        return known
    bound = builder.sizes_of.get(found)
    if bound is None:
        variable = SizeVar("k")
        with recording(builder):
            number = Tensor(found)
            as_size(as_int64(number) if value.dtype == np.uint64 else number, var=variable)
        builder.sizes_of[found] = bound = size(variable)
    return bound


def _lifted(value: Value) -> tuple[Value, Builder]:
    """An integer in the outermost frame that can compute it without failing, and that frame: a
    length that no turn of a loop changes is one for all of them."""
    builder = current_builder()
    assert builder is not None
    while builder.parent is not None:
        outer = _outside(value, builder, {})
        if outer is None:
            break
        value, builder = outer, builder.parent
    return value, builder


def _outside(value: Value, builder: Builder, known: dict[Value, Value | None]) -> Value | None:
    """An integer of a frame as one of the frame around it, if few operations give it."""
    if value not in known:
        known[value] = None
        if len(known) <= _FEW:
            known[value] = _recorded_outside(value, builder, known)
    return known[value]


def _recorded_outside(
    value: Value, builder: Builder, known: dict[Value, Value | None]
) -> Value | None:
    node, around = value.node, builder.parent
    if not builder.owns(value):
        return value
    if value in builder.captured:
        return builder.captured[value]
    if around is None or value.spec.shape or node.op.name not in _NEVER_FAILING:
        return None
    if not all(map(around.has_size, attr_sizes(node.attrs))):
        return None
    inputs = [_outside(each, builder, known) for each in node.inputs]
    outer = [each for each in inputs if each is not None]
    return around.add(node.op, outer, node.attrs, node.source)[0] if outer == inputs else None


def as_int64(value: Tensor, weak: bool = False) -> Tensor:
    """Integers as int64: the largest one for those beyond, which no axis reaches."""
    from graphify.ops.elementwise import minimum

    if value.dtype == np.uint64:
        value = minimum(value, np.uint64(_MOST))
    return core.cast(value, dtype=np.dtype(np.int64), **({"weak": True} if weak else {}))


def as_length(
    value: Any,
    argument: str = "size",
    least: int = 0,
    message: str = "negative dimensions are not allowed",
) -> Dim:
    """The length of a new axis; that of a traced scalar is checked by the run.

    Raises:
        TypeError: not an integer.
        ValueError: known to be less than `least`, with this message.
    """
    if isinstance(value, Tensor) and value.is_symbolic and _size_of(value._value) is None:
        whole = value.dtype.kind in "iu" and not value.ndim
        if whole:
            checks = {"error": "ValueError", "message": message}
            value = in_range(as_int64(value), least, _MOST, **checks)
        return as_dim(value, argument)
    dim = as_dim(value, argument)
    short = decide_less(dim, least)
    if short:
        raise ValueError(message.format(bad=dim))
    if short is None:
        _check_length(dim, least, message)
    return dim


def _check_length(dim: Dim, least: int, message: str) -> None:
    """ValueError where a size turns out to be less than `least`."""
    from graphify.ops.effects import Raise, Text, assert_
    from graphify.ops.elementwise import greater_equal

    before, bad, after = message.partition("{bad}")
    length = size_value(size=dim)
    gaps = [length] if bad else []
    text: Any = Text((before, None, after), "") if bad else message
    assert_(greater_equal(length, least), *gaps, exception=Raise(ValueError, (text,)))


def _size_of(value: Value, known: dict[Value, Dim | None] | None = None) -> Dim | None:
    """The size that a graph value computes, if it is arithmetic of a few sizes and integers.

    Args:
        known: those of the values on the way, each of which may be an operand many times.
    """
    known = {} if known is None else known
    if value not in known:
        known[value] = None
        if len(known) <= _FEW:
            known[value] = _size_by_rule(value, known)
    return known[value]


def _size_by_rule(value: Value, known: dict[Value, Dim | None]) -> Dim | None:
    node, spec = value.node, value.spec
    if node.op is size_value:
        size: Dim = node.attrs["size"]
        return size
    if not spec.weak or spec.dtype.kind != "i":
        return None
    if node.op.name == "constant":
        return int(node.attrs["value"].array)
    if node.op.name not in _SIZE_RULES:
        return None
    dims = [_size_of(each, known) for each in node.inputs]
    return None if None in dims else _SIZE_RULES[node.op.name](*dims)


_SIZE_RULES: dict[str, Callable[..., Dim | None]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "floor_divide": lambda a, b: size_op("floordiv", a, b) if b != 0 else None,
    "remainder": lambda a, b: size_op("mod", a, b) if b != 0 else None,
    "negative": lambda a: -a,
    "maximum": lambda a, b: size_op("max", a, b),
    "minimum": lambda a, b: size_op("min", a, b),
}

set_dim_hook(as_dim)


def are_equal(one: Dim, other: Dim, message: str, error: type[Exception] = ShapeError) -> bool:
    """Whether two lengths are equal in every run; if not, the run has to see to it.

    Raises:
        error: they differ in every run.
    """
    same = decide_equal(one, other)
    if same is False:
        raise error(message)
    return bool(same)


def checked_dim(dim: Dim, other: Dim, message: str, error: type[Exception] = ShapeError) -> Dim:
    """`dim`, which must equal `other`: checked now, or by the run that uses the result.

    Raises:
        error: they differ in every run.
    """
    if are_equal(dim, other, message, error):
        return dim
    want, kind = size_value(size=other), "IndexError" if error is IndexError else "ValueError"
    return as_dim(in_range(size_value(size=dim), want, want + 1, error=kind, message=message))


# --- transpose ------------------------------------------------------------------------------------


def _inverse(axes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(i) for i in np.argsort(axes))


transpose: Op = defop(
    "transpose",
    spec=lambda x, axes: Spec(tuple(x.shape[a] for a in axes), x.dtype),
    eval=lambda x, axes: x.transpose(axes),
    vjp=lambda g, y, x, axes: [transpose(g, axes=_inverse(axes))],
    jvp="linear",
    vmap=lambda args, batched, axes: transpose(args[0], axes=(0, *(a + 1 for a in axes))),
    put=lambda base, new, axes: transpose(new, axes=_inverse(axes)),
    tf="transpose",
    sample=lambda: [((np.arange(24.0).reshape(2, 3, 4),), {"axes": (2, 0, 1)})],
    doc="permutes the axes",
)


def move_axis(x: Tensor, source: int, target: int) -> Tensor:
    """`x` with one axis moved; the others keep their order."""
    if source == target:
        return x
    axes = [a for a in range(x.ndim) if a != source]
    axes.insert(target, source)
    return transpose(x, axes=tuple(axes))


# --- concatenate ----------------------------------------------------------------------------------


def _concatenate_spec(*specs: Spec, axis: int) -> Spec:
    first = specs[0]
    total: Dim = 0
    for s in specs:
        if s.ndim != first.ndim:
            raise ShapeError(
                "concatenate: all arrays must have the same number of "
                f"dimensions, got {first.shape}, {s.shape}"
            )
        for a in range(s.ndim):
            if a != axis and decide_equal(s.shape[a], first.shape[a]) is False:
                raise ShapeError(
                    f"concatenate: all dimensions except axis {axis} must match, "
                    f"got {first.shape}, {s.shape}"
                )
        total = total + s.shape[axis]
    return Spec((*first.shape[:axis], total, *first.shape[axis + 1 :]), first.dtype)


def _concatenate_vjp(g: Tensor, y: Tensor, *xs: Tensor, axis: int) -> list[Tensor]:
    from graphify.ops.indexing import take_slice

    grads: list[Tensor] = []
    start: Dim = 0
    for x in xs:
        stop = start + x.dims[axis]
        grads.append(take_slice(g, start, stop, axis))
        start = stop
    return grads


def _concatenate_jvp(ts: Any, y: Tensor, *xs: Tensor, axis: int) -> Tensor:
    parts = [core.zeros_like(x) if t is None else t for t, x in zip(ts, xs, strict=True)]
    return concatenate(*parts, axis=axis)


def _concatenate_vmap(args: Any, batched: Any, axis: int) -> Tensor:
    count = next(a.dims[0] for a, b in zip(args, batched, strict=True) if b)
    full = [
        a if b else core.broadcast_to(a, shape=(count, *a.dims))
        for a, b in zip(args, batched, strict=True)
    ]
    return concatenate(*full, axis=axis + 1)


concatenate = defop(
    "concatenate",
    spec=_concatenate_spec,
    eval=lambda *xs, axis: np.concatenate(xs, axis),
    vjp=_concatenate_vjp,
    jvp=_concatenate_jvp,
    vmap=_concatenate_vmap,
    tf="concat",
    sample=lambda: [((np.ones((2, 3)), np.zeros((2, 1))), {"axis": 1})],
    doc="numpy.concatenate of operands of one dtype",
)


def expand_dims(x: Tensor, axis: int) -> Tensor:
    """A new axis of length one at `axis` (of the result, not negative)."""
    return core.reshape(x, shape=(*x.dims[:axis], 1, *x.dims[axis:]))


def stack(tensors: list[Tensor], axis: int = 0) -> Tensor:
    """Tensors of one shape and dtype along a new axis."""
    return concatenate(*(expand_dims(t, axis) for t in tensors), axis=axis)


# --- flip -----------------------------------------------------------------------------------------

flip: Op = defop(
    "flip",
    spec=lambda x, axes: Spec(x.shape, x.dtype),
    eval=lambda x, axes: np.flip(x, axes),
    vjp=lambda g, y, x, axes: [flip(g, axes=axes)],
    jvp="linear",
    vmap=lambda args, batched, axes: flip(args[0], axes=tuple(a + 1 for a in axes)),
    put=lambda base, new, axes: flip(new, axes=axes),
    tf="reverse",
    sample=lambda: [((np.arange(6.0).reshape(2, 3),), {"axes": (0, 1)})],
    doc="reverses the order of elements along axes",
)

# --- iota -----------------------------------------------------------------------------------------


iota: Op = defop(
    "iota",
    spec=lambda length, dtype: Spec((length,), dtype),
    eval=lambda length, dtype: np.arange(length, dtype=dtype),
    vmap=lambda args, batched, **attrs: iota(**attrs),
    tf="range",
    sample=lambda: [((), {"length": 4, "dtype": np.dtype("int64")})],
    doc="0, 1, ..., length - 1",
)

# --- repeat, checks -------------------------------------------------------------------------------


def _repeats_eval(counts: Any) -> Any:
    return np.repeat(np.arange(len(counts), dtype=np.int64), counts)


repeat_indices = defop(
    "repeat_indices",
    spec=lambda counts: Spec((fresh("repeated"),), np.dtype(np.int64)),
    eval=_repeats_eval,
    tf="repeat_indices",
    sample=lambda: [((np.array([2, 0, 3]),), {})],
    differentiable=(),
    doc="each position as often as its count says: numpy.repeat of 0, 1, 2, ...",
)


RANGE_ERRORS: dict[str, type[Exception]] = {
    error.__name__: error for error in (IndexError, ValueError, OverflowError, TraceError)
}


def _in_range_eval(x: Any, low: Any, high: Any, error: str, message: str) -> Any:
    if np.any(x < low) or np.any(x >= high):
        bad = x[(x < low) | (x >= high)]
        raise RANGE_ERRORS[error](message.format(bad=bad.flat[0], high=high))
    return x


def _in_range_vmap(args: Any, batched: Any, **attrs: Any) -> Tensor:
    x, *limits = args
    if not batched[0]:
        count = next(a.dims[0] for a, b in zip(args, batched, strict=True) if b)
        x = core.broadcast_to(x, shape=(count, *x.dims))
    ones = (1,) * (x.ndim - 1)
    aligned = [
        core.reshape(limit, shape=(*limit.dims, *ones)) if b else limit
        for limit, b in zip(limits, batched[1:], strict=True)
    ]
    return in_range(x, *aligned, **attrs)


in_range: Op = defop(
    "in_range",
    spec=lambda x, low, high, error, message: x,
    eval=_in_range_eval,
    vmap=_in_range_vmap,
    tf="in_range",
    sample=lambda: [
        (
            (np.array([0, 2]), np.array(0), np.array(3)),
            {"error": "ValueError", "message": "{bad} is not below {high}"},
        )
    ],
    differentiable=(),
    doc="the operand; an error if an element is not in low <= x < high",
)
