"""Convolution in any number of dimensions, and its two transposes: one trilinear form, three ops.

Everything here is a view of one sum, over samples n, places o of the result, places k of the
kernel, groups r, channels c and q inside a group:

    total = sum  y[n, o, r, q] * x[n, o * strides + k * dilations - padding, r, c] * w[k, r, c, q]

    convolution(x, w)          its derivative by y: the convolution itself
    convolution_input(y, w)    its derivative by x: the gradient for x, a transposed convolution
    convolution_kernel(x, y)   its derivative by w: the gradient for w

So the three are closed under differentiation, to any order, without flips or transposes. Layout
(channels last, C-contiguous when made), with `S`, `O`, `K` standing for one or more axes each:

    x   [N, *S, groups * C]      group r has the channels r * C ... r * C + C - 1
    w   [*K, C, groups * Q]      group r has the channels r * Q ... r * Q + Q - 1 of the last axis
    y   [N, *O, groups * Q]

Attributes of all three, one entry for each spatial axis:

    size        lengths of the result's spatial axes: O, S and K respectively; ints or sizes
    strides     steps between places of y, counted in x: positive ints
    dilations   steps between places of w, counted in x: positive ints
    padding     how far the first place of y lies before the start of x: ints or sizes
    groups      an int or size, the only one that is not a tuple

Where `o * strides + k * dilations - padding` is no place of x, nothing is added: x is zero outside.
So "padding after" is not said; `size` says how far y reaches. Parts of x that no window reaches are
not read, and get zero from `convolution_input`. A length of `size` that turns out negative is an
error; axes of length zero are fine. Sums of half precision are made in float32.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphify.errors import ShapeError, SpecError
from graphify.ir.op import Op, defop
from graphify.ir.sizes import Dim, Shape, decide_equal, decide_less
from graphify.ir.tensor import Tensor
from graphify.ir.types import Spec, is_complex
from graphify.ops import core, unrolled
from graphify.ops.linalg import common
from graphify.ops.shape import move_axis

Ints = tuple[int, ...]

# --- spec -----------------------------------------------------------------------------------------


def _same(name: str, what: str, a: Dim, b: Dim) -> None:
    if decide_equal(a, b) is False:
        raise ShapeError(f"{name}: {what}: expected {b}, got {a}")


def _check_geometry(name: str, a: Spec, b: Spec, size: Shape, rest: dict[str, Any]) -> None:
    rank = len(size)
    for place, operand in enumerate((a, b), 1):
        if operand.ndim != rank + 2:
            raise ShapeError(
                f"{name}: argument {place}: expected {rank + 2} axes ({rank} spatial ones), "
                f"got {operand}"
            )
    for key in ("strides", "dilations", "padding"):
        if len(rest[key]) != rank:
            raise SpecError(f"{name}: {key}: expected {rank} entries, got {rest[key]}")
    for dim in size:
        if decide_less(dim, 0):
            raise ShapeError(f"{name}: size: the kernel does not fit into the input, got {size}")


def _forward_spec(x: Spec, w: Spec, size: Shape, groups: Dim = 1, **rest: Any) -> Spec:
    _check_geometry("convolution", x, w, size, rest)
    _same("convolution", "channels of the input", x.shape[-1], w.shape[-2] * groups)
    return Spec((x.shape[0], *size, w.shape[-1]), x.dtype)


def _input_spec(y: Spec, w: Spec, size: Shape, groups: Dim = 1, **rest: Any) -> Spec:
    _check_geometry("convolution_input", y, w, size, rest)
    _same("convolution_input", "channels of argument 1", y.shape[-1], w.shape[-1])
    return Spec((y.shape[0], *size, w.shape[-2] * groups), y.dtype)


def _kernel_spec(x: Spec, y: Spec, size: Shape, groups: Dim = 1, **rest: Any) -> Spec:
    _check_geometry("convolution_kernel", x, y, size, rest)
    _same("convolution_kernel", "samples of argument 2", y.shape[0], x.shape[0])
    return Spec((*size, x.shape[-1] // groups, y.shape[-1]), x.dtype)


# --- derivatives ----------------------------------------------------------------------------------


def _conjugate(x: Tensor) -> Tensor:
    return x.conj() if is_complex(x.dtype) else x


def _spatial(x: Tensor) -> Shape:
    return x.dims[1:-1]


def _forward_vjp(
    g: Tensor, y: Tensor, x: Tensor, w: Tensor, wanted: Any = None, size: Any = None, **attrs: Any
) -> list[Tensor | None]:
    gx, gw = wanted or (True, True)
    return [
        convolution_input(g, _conjugate(w), size=_spatial(x), **attrs) if gx else None,
        convolution_kernel(_conjugate(x), g, size=w.dims[:-2], **attrs) if gw else None,
    ]


def _input_vjp(
    g: Tensor, x: Tensor, y: Tensor, w: Tensor, wanted: Any = None, size: Any = None, **attrs: Any
) -> list[Tensor | None]:
    gy, gw = wanted or (True, True)
    return [
        convolution(g, _conjugate(w), size=_spatial(y), **attrs) if gy else None,
        convolution_kernel(g, _conjugate(y), size=w.dims[:-2], **attrs) if gw else None,
    ]


def _kernel_vjp(
    g: Tensor, w: Tensor, x: Tensor, y: Tensor, wanted: Any = None, size: Any = None, **attrs: Any
) -> list[Tensor | None]:
    gx, gy = wanted or (True, True)
    return [
        convolution_input(_conjugate(y), g, size=_spatial(x), **attrs) if gx else None,
        convolution(_conjugate(x), g, size=_spatial(y), **attrs) if gy else None,
    ]


# --- batching -------------------------------------------------------------------------------------
# Lanes become samples, channels or groups, whichever the batched operands leave free.


def _join(x: Tensor, axis: int) -> Tensor:
    """A batched tensor with its lanes joined to an axis (negative, or 0: the samples), in front."""
    count, at = x.dims[0], axis % (x.ndim - 1)
    moved = move_axis(x, 0, at)
    return core.reshape(
        moved, shape=(*moved.dims[:at], count * moved.dims[at + 1], *moved.dims[at + 2 :])
    )


def _part(y: Tensor, axis: int, count: Dim, length: Dim) -> Tensor:
    """The inverse of `_join`: `count` lanes, each of which had `length` places on that axis."""
    at = axis % y.ndim
    split = core.reshape(y, shape=(*y.dims[:at], count, length, *y.dims[at + 1 :]))
    return move_axis(split, at, 0)


def _join_inside(x: Tensor, groups: Dim) -> Tensor:
    """A batched tensor with its lanes joined to the channels of each group."""
    if decide_equal(groups, 1):
        return _join(x, -1)
    split = core.reshape(x, shape=(*x.dims[:-1], groups, x.dims[-1] // groups))
    joined = _join(split, -1)
    return core.reshape(joined, shape=(*joined.dims[:-2], groups * joined.dims[-1]))


def _part_inside(y: Tensor, groups: Dim, count: Dim, length: Dim) -> Tensor:
    """The inverse of `_join_inside`, for `length` channels in a group."""
    if decide_equal(groups, 1):
        return _part(y, -1, count, length)
    split = core.reshape(y, shape=(*y.dims[:-1], groups, count * length))
    parted = _part(split, -1, count, length)
    return core.reshape(parted, shape=(*parted.dims[:-2], groups * length))


def _forward_vmap(args: Any, batched: Any, groups: Dim = 1, **attrs: Any) -> Tensor:
    x, w = args
    if all(batched):
        return _as_groups(convolution, x, w, w.dims[-1], groups, attrs)
    if batched[0]:
        y = convolution(_join(x, 0), w, groups=groups, **attrs)
        return _part(y, 0, x.dims[0], x.dims[1])
    y = convolution(x, _join_inside(w, groups), groups=groups, **attrs)
    return _part_inside(y, groups, w.dims[0], w.dims[-1] // groups)


def _input_vmap(args: Any, batched: Any, groups: Dim = 1, **attrs: Any) -> Tensor:
    y, w = args
    if all(batched):
        return _as_groups(convolution_input, y, w, w.dims[-2] * groups, groups, attrs)
    if batched[0]:
        x = convolution_input(_join(y, 0), w, groups=groups, **attrs)
        return _part(x, 0, y.dims[0], y.dims[1])
    x = convolution_input(y, _join(w, -2), groups=groups, **attrs)
    return _part_inside(x, groups, w.dims[0], w.dims[-2])


def _kernel_vmap(args: Any, batched: Any, groups: Dim = 1, **attrs: Any) -> Tensor:
    x, y = args
    if all(batched):
        return _as_groups(convolution_kernel, x, y, y.dims[-1], groups, attrs)
    if batched[0]:
        w = convolution_kernel(_join_inside(x, groups), y, groups=groups, **attrs)
        return _part(w, -2, x.dims[0], x.dims[-1] // groups)
    w = convolution_kernel(x, _join_inside(y, groups), groups=groups, **attrs)
    return _part_inside(w, groups, y.dims[0], y.dims[-1] // groups)


def _as_groups(
    op: Op, a: Tensor, b: Tensor, length: Dim, groups: Dim, attrs: dict[str, Any]
) -> Tensor:
    """Each lane a group of its own; `length`: of the last axis of a lane's result."""
    count = a.dims[0]
    result = op(_join(a, -1), _join(b, -1), groups=count * groups, **attrs)
    return _part(result, -1, count, length)


# --- the ops --------------------------------------------------------------------------------------

# spatial lengths of x, kernel, strides, dilations, padding, size of y, groups, C, Q
_CASES: list[tuple[Sequence[Any], str]] = [
    (((5,), (3,), (1,), (1,), (0,), (3,), 1, 2, 3), "d"),
    (((6,), (3,), (2,), (1,), (1,), (3,), 1, 2, 2), "fD"),
    (((7,), (2,), (1,), (3,), (2,), (7,), 2, 2, 1), "d"),
    (((4,), (1,), (3,), (1,), (0,), (2,), 1, 1, 1), "li?"),
    (((3,), (2,), (1,), (1,), (3,), (8,), 1, 1, 2), "d"),
    (((6,), (2,), (1,), (1,), (-2,), (2,), 1, 1, 2), "d"),
    (((4, 3), (2, 2), (1, 1), (1, 1), (0, 0), (3, 2), 1, 2, 2), "dFe"),
    (((5, 4), (3, 2), (2, 1), (1, 2), (1, 1), (3, 4), 3, 1, 2), "d"),
    (((0, 3), (2, 1), (1, 1), (1, 1), (1, 0), (1, 3), 1, 2, 1), "d"),
    (((2, 3), (1, 2), (1, 1), (1, 1), (0, 0), (0, 2), 1, 2, 1), "d"),
    (((2, 3, 3), (1, 2, 2), (1, 2, 1), (1, 1, 1), (0, 1, 0), (2, 2, 2), 1, 1, 2), "d"),
    (((), (), (), (), (), (), 1, 2, 3), "d"),
]


def _samples(operands: str) -> Callable[[], Any]:
    """Samples of one of the ops: which two of x, w, y it takes."""

    def sample() -> Any:
        rng = np.random.default_rng(0)
        result: list[Any] = []
        for (n, k, strides, dilations, padding, out, groups, c, q), dtypes in _CASES:
            shapes = {
                "x": (2, *n, groups * c),
                "w": (*k, c, groups * q),
                "y": (2, *out, groups * q),
            }
            lengths = {"xw": out, "yw": n, "xy": k}[operands]
            attrs = {"size": lengths, "strides": strides, "dilations": dilations}
            for d in dtypes:
                arrays = tuple(_values(rng, shapes[name], d) for name in operands)
                result.append((arrays, {**attrs, "padding": padding, "groups": groups}))
        return result

    return sample


def _values(rng: np.random.Generator, shape: Ints, dtype: str) -> Any:
    if dtype in "li?":
        return rng.integers(0 if dtype == "?" else -4, 2, shape).astype(dtype)
    x = rng.normal(size=shape)
    return (x + 1j * rng.normal(size=shape) if dtype in "FD" else x).astype(dtype)


def _trilinear(name: str, operands: str, doc: str, **rules: Any) -> Op:
    return defop(
        name,
        convert=common,
        jvp="multilinear",
        tf=name,
        sample=_samples(operands),
        doc=doc,
        extra={"wanted": True},
        **rules,
    )


convolution: Op = _trilinear(
    "convolution",
    "xw",
    "sums of an array's windows, weighted by a kernel, in any number of dimensions",
    spec=_forward_spec,
    eval=unrolled.forward,
    vjp=_forward_vjp,
    vmap=_forward_vmap,
)
convolution_input: Op = _trilinear(
    "convolution_input",
    "yw",
    "the transpose of convolution in its first operand: its gradient, a transposed convolution",
    spec=_input_spec,
    eval=unrolled.input,
    vjp=_input_vjp,
    vmap=_input_vmap,
)
convolution_kernel: Op = _trilinear(
    "convolution_kernel",
    "xy",
    "the transpose of convolution in its second operand: the gradient for the kernel",
    spec=_kernel_spec,
    eval=unrolled.kernel,
    vjp=_kernel_vjp,
    vmap=_kernel_vmap,
)
