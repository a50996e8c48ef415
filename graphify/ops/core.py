"""The few ops that rules themselves are written with: cast, reshape, broadcast_to, sum_to.

unbroadcast(g, x)    # a cotangent brought back to the shape and dtype of the operand x
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphify.errors import ShapeError
from graphify.ir.context import active_tapes
from graphify.ir.op import Op, defop
from graphify.ir.sizes import Dim, Shape, decide_equal, fresh, product
from graphify.ir.tensor import Tensor, resolve
from graphify.ir.types import (
    DType,
    Spec,
    canonical_dtype,
    is_complex,
    is_float,
    is_inexact,
    is_integer,
)
from graphify.ir.wrapping import as_tensor, constant_tensor

# --- cast --------------------------------------------------------------------------------------


def _cast_eval(x: Any, dtype: DType, weak: bool = False) -> Any:
    if is_complex(x.dtype) and not is_complex(dtype) and dtype.kind != "b":
        x = x.real
    return x.astype(dtype)


def _cast_vjp(g: Tensor, y: Tensor, x: Tensor, **attrs: Any) -> list[Tensor | None]:
    return [cast(g, dtype=x.dtype) if is_inexact(x.dtype) and is_inexact(y.dtype) else None]


def _cast_jvp(ts: tuple[Tensor, ...], y: Tensor, x: Tensor, **attrs: Any) -> Tensor | None:
    return cast(ts[0], dtype=y.dtype) if is_inexact(y.dtype) else None


cast: Op = defop(
    "cast",
    spec=lambda x, dtype, weak=False: Spec(x.shape, dtype, weak),
    eval=_cast_eval,
    vjp=_cast_vjp,
    jvp=_cast_jvp,
    vmap=lambda args, batched, **attrs: cast(*args, **attrs),
    tf="cast",
    sample=lambda: [
        ((np.array([-1.5, 0.0, 2.7]),), {"dtype": np.dtype(d)})
        for d in ("f4", "f8", "i4", "?", "c8", "c16")
    ],
    doc="converts to another dtype, as ndarray.astype does",
    extra={"zero_d": "same"},
)


def to_dtype(x: Tensor, dtype: Any) -> Tensor:
    """`x` in a dtype; itself where it already is (a weak tensor becomes a strong one)."""
    dtype, x = canonical_dtype(dtype), resolve(x)
    if x.dtype == dtype and not x.spec.weak:
        return x
    recorded = is_inexact(x.dtype) and is_inexact(dtype) and active_tapes()
    if x.spec.weak and not x.dims and not x.is_symbolic and not recorded:  # a number: it must fit
        value = x.numpy().item()
        return Tensor(np.asarray(value, dtype))
    return cast(fitting(x, dtype) if x.spec.weak else x, dtype=dtype)


def fitting(x: Tensor, dtype: DType) -> Tensor:
    """Python's numbers on their way into a dtype: NumPy raises where their `int` does not fit."""
    if is_float(x.dtype) and is_integer(dtype):
        from graphify.ops.operators import to_int

        x = to_int(x)
    if not (is_integer(x.dtype) and is_integer(dtype)) or dtype == x.dtype:
        return x
    return must_fit(x, dtype, "OverflowError", "Python integer {bad} out of bounds for {dtype}")


def must_fit(x: Tensor, dtype: DType, error: str, message: str) -> Tensor:
    """Integers on their way into a smaller dtype: the run raises where one does not fit."""
    from graphify.ops.shape import in_range

    limits, own = np.iinfo(dtype), np.iinfo(x.dtype)
    high = min(limits.max + 1, own.max)  # for uint64, the highest int64 itself is refused, too
    return in_range(
        x,
        constant_tensor(np.asarray(max(limits.min, own.min), x.dtype)),
        constant_tensor(np.asarray(high, x.dtype)),
        error=error,
        message=message.replace("{dtype}", dtype.name),
    )


# --- copy --------------------------------------------------------------------------------------

copy: Op = defop(
    "copy",
    spec=lambda x: Spec(x.shape, x.dtype),
    eval=lambda x: np.array(x, copy=True),
    vjp=lambda g, y, x: [g],
    jvp="linear",
    vmap=lambda args, batched: copy(args[0]),
    tf="identity",
    sample=lambda: [((np.arange(3.0),), {}), ((np.array(2),), {})],
    extra={"zero_d": "same"},
    doc="the same elements in storage of their own",
)

# --- reshape -----------------------------------------------------------------------------------


def _reshape_spec(x: Spec, shape: Shape) -> Spec:
    if decide_equal(product(x.shape), product(shape)) is False:
        raise ShapeError(
            f"reshape: argument 2 'shape': cannot reshape array of size {product(x.shape)} "
            f"into shape {shape}"
        )
    return Spec(shape, x.dtype)


def _reshape_vmap(args: Any, batched: Any, shape: Shape) -> Tensor:
    return reshape(args[0], shape=(args[0].dims[0], *shape))


reshape: Op = defop(
    "reshape",
    spec=_reshape_spec,
    eval=lambda x, shape: x.reshape(shape),
    vjp=lambda g, y, x, shape: [reshape(g, shape=x.dims)],
    jvp="linear",
    vmap=_reshape_vmap,
    put=lambda base, new, shape: reshape(new, shape=base.dims),
    tf="reshape",
    sample=lambda: [
        ((np.arange(6.0),), {"shape": (2, 3)}),
        ((np.ones((2, 0)),), {"shape": (0, 5)}),
    ],
    doc="the same elements in C order under another shape",
)


def as_array(x: Tensor) -> Tensor:
    """A NumPy scalar as a 0-d array, which can be updated in place; arrays as they are."""
    if not x._scalar:
        return x
    made: Tensor = copy(x)
    made._scalar = False
    return made


# --- broadcast_to and its transpose ------------------------------------------------------------


def broadcast_shapes(*shapes: Shape) -> Shape:
    """NumPy's broadcast shape; an axis that only the run can decide gets a fresh size.

    Raises:
        ShapeError: the shapes never fit.
    """
    rank = max((len(shape) for shape in shapes), default=0)
    padded = [(1,) * (rank - len(shape)) + tuple(shape) for shape in shapes]
    return tuple(_broadcast_dims([shape[axis] for shape in padded], shapes) for axis in range(rank))


def _broadcast_dims(dims: list[Dim], shapes: tuple[Shape, ...]) -> Dim:
    distinct = [dim for dim in dict.fromkeys(dims) if dim != 1]
    if not distinct:
        return 1
    known = [dim for dim in distinct if isinstance(dim, int)]
    if len(known) > 1:
        text = " ".join(str(shape).replace(" ", "") for shape in shapes)
        raise ShapeError(f"operands could not be broadcast together with shapes {text}")
    if known:
        return known[0]
    return distinct[0] if len(distinct) == 1 else fresh("b")


def _broadcast_spec(x: Spec, shape: Shape) -> Spec:
    if len(x.shape) > len(shape):
        raise ShapeError(
            f"broadcast_to: argument 2 'shape': expected rank >= {len(x.shape)}, got {shape}"
        )
    for dim, target in zip(reversed(x.shape), reversed(shape), strict=False):
        if dim != 1 and decide_equal(dim, target) is False:
            raise ShapeError(
                f"broadcast_to: operand of shape {x.shape} does not broadcast to {shape}"
            )
    return Spec(shape, x.dtype)


def _broadcast_vmap(args: Any, batched: Any, shape: Shape) -> Tensor:
    x = args[0]
    pad = (1,) * (len(shape) - (x.ndim - 1))
    aligned = reshape(x, shape=(x.dims[0], *pad, *x.dims[1:])) if pad else x
    return broadcast_to(aligned, shape=(x.dims[0], *shape))


broadcast_to: Op = defop(
    "broadcast_to",
    spec=_broadcast_spec,
    eval=lambda x, shape: np.broadcast_to(x, shape),
    vjp=lambda g, y, x, shape: [sum_to(g, shape=x.dims)],
    jvp="linear",
    vmap=_broadcast_vmap,
    tf="broadcast_to",
    sample=lambda: [
        ((np.arange(3.0),), {"shape": (2, 3)}),
        ((np.ones((3, 1)),), {"shape": (2, 3, 4)}),
    ],
    doc="repeats along new axes and axes of length one",
    extra={"zero_d": "array"},
)


def _sum_to_eval(x: Any, shape: Any) -> Any:
    lead = x.ndim - len(shape)
    axes = [i + lead for i, dim in enumerate(shape) if dim == 1 and x.shape[i + lead] != 1]
    summed = x.sum(axis=(*range(lead), *axes), keepdims=True, dtype=x.dtype)
    return summed.reshape(shape)


def _sum_to_vmap(args: Any, batched: Any, shape: Shape) -> Tensor:
    x = args[0]
    lead = x.ndim - 1 - len(shape)
    aligned = sum_to(x, shape=(x.dims[0], *(1,) * lead, *shape))
    return reshape(aligned, shape=(x.dims[0], *shape))


sum_to: Op = defop(
    "sum_to",
    spec=lambda x, shape: Spec(shape, x.dtype),
    eval=_sum_to_eval,
    vjp=lambda g, y, x, shape: [broadcast_to(g, shape=x.dims)],
    jvp="linear",
    vmap=_sum_to_vmap,
    tf="sum_to",
    sample=lambda: [((np.ones((2, 3)),), {"shape": (3,)}), ((np.ones((2, 3)),), {"shape": (2, 1)})],
    doc="sums over the axes that broadcasting had added: the transpose of broadcast_to",
)


# --- helpers of rules --------------------------------------------------------------------------


def unbroadcast(g: Tensor, x: Tensor) -> Tensor:
    """A cotangent summed back to the shape of an operand, in its dtype."""
    if g.dims != x.dims:
        g = sum_to(g, shape=x.dims)
    return cast(g, dtype=x.dtype) if g.dtype != x.dtype else g


def like(x: Tensor, y: Tensor) -> Tensor:
    """A tangent broadcast to the shape and dtype of a result."""
    if x.dims != y.dims:
        x = broadcast_to(x, shape=y.dims)
    return cast(x, dtype=y.dtype) if x.dtype != y.dtype else x


def full(shape: Shape, value: Any, dtype: Any) -> Tensor:
    """A tensor filled with one number; symbolic sizes allowed."""
    scalar = Tensor(np.asarray(value, canonical_dtype(dtype)))
    return broadcast_to(scalar, shape=tuple(shape)) if shape else scalar


def zeros_like(x: Any, dtype: Any = None) -> Tensor:
    return full(x.dims, 0, dtype or x.dtype)


def ones_like(x: Any) -> Tensor:
    return full(x.dims, 1, x.dtype)


def strong(x: Any) -> Tensor:
    """The tensor of any value, its dtype settled if it was a Python number."""
    tensor = as_tensor(x)
    return to_dtype(tensor, tensor.dtype) if tensor.spec.weak else tensor
