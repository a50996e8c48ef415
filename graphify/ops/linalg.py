"""Products and linear algebra."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphify.errors import ShapeError
from graphify.ir.op import defop
from graphify.ir.promotion import result_type
from graphify.ir.sizes import decide_equal
from graphify.ir.tensor import Tensor
from graphify.ir.types import Spec
from graphify.ir.wrapping import as_tensor
from graphify.ops import core
from graphify.ops.rules import operand
from graphify.ops.shape import expand_dims

# --- matmul ---------------------------------------------------------------------------------------


def common(*args: Any) -> list[Tensor]:
    """A convert rule: all operands in their common dtype."""
    tensors = [as_tensor(arg) for arg in args]
    dtype = result_type(*(operand(t) for t in tensors))
    return [core.to_dtype(t, dtype) for t in tensors]


def _matmul_spec(a: Spec, b: Spec) -> Spec:
    if not a.ndim or not b.ndim:
        raise ShapeError("matmul: operands must have at least one dimension; use * for scalars")
    left = a.shape if a.ndim > 1 else (1, *a.shape)
    right = b.shape if b.ndim > 1 else (*b.shape, 1)
    if decide_equal(left[-1], right[-2]) is False:
        raise ShapeError(
            f"matmul: operand 2 has a mismatch in its core dimension 0: expected size {left[-1]}, "
            f"got {right[-2]} (shapes {a.shape} and {b.shape})"
        )
    lead = core.broadcast_shapes(left[:-2], right[:-2])
    rows = left[-2:-1] if a.ndim > 1 else ()
    columns = right[-1:] if b.ndim > 1 else ()
    return Spec((*lead, *rows, *columns), a.dtype)


def matrix_transpose(x: Tensor) -> Tensor:
    """The last two axes swapped."""
    from graphify.ops.shape import transpose

    rank = x.ndim
    return transpose(x, axes=(*range(rank - 2), rank - 1, rank - 2))


def adjoint(x: Tensor) -> Tensor:
    """The conjugate transpose of the last two axes."""
    swapped = matrix_transpose(x)
    return swapped.conj() if x.dtype.kind == "c" else swapped


def _matmul_vjp(g: Tensor, y: Tensor, a: Tensor, b: Tensor) -> list[Tensor]:
    left = a if a.ndim > 1 else expand_dims(a, 0)
    right = b if b.ndim > 1 else expand_dims(b, 1)
    if b.ndim == 1:
        g = expand_dims(g, g.ndim)
    if a.ndim == 1:
        g = expand_dims(g, g.ndim - 1)
    ga, gb = matmul(g, adjoint(right)), matmul(adjoint(left), g)
    return [
        core.reshape(core.unbroadcast(ga, left), shape=a.dims)
        if a.ndim == 1
        else core.unbroadcast(ga, a),
        core.reshape(core.unbroadcast(gb, right), shape=b.dims)
        if b.ndim == 1
        else core.unbroadcast(gb, b),
    ]


def _matmul_vmap(args: Any, batched: Any) -> Any:
    a, b = args
    a_vector, b_vector = a.ndim - batched[0] == 1, b.ndim - batched[1] == 1
    if a_vector:
        a = expand_dims(a, a.ndim - 1)
    if b_vector:
        b = expand_dims(b, b.ndim)
    rank = max(a.ndim - batched[0], b.ndim - batched[1])
    from graphify.ops.rules import align

    a = align(a, rank) if batched[0] else a
    b = align(b, rank) if batched[1] else b
    y = matmul(a, b)
    if b_vector:
        y = core.reshape(y, shape=y.dims[:-1])
    if a_vector:
        y = core.reshape(y, shape=(*y.dims[:-2], *y.dims[-1:]) if not b_vector else y.dims[:-1])
    return y


def _matmul_samples() -> Any:
    rng = np.random.default_rng(0)
    shapes = [((2, 3), (3, 4)), ((3,), (3, 4)), ((2, 3), (3,)), ((3,), (3,)), ((5, 2, 3), (3, 4))]
    cases: list[Any] = [((rng.normal(size=s), rng.normal(size=t)), {}) for s, t in shapes]
    cases += [
        ((rng.integers(-5, 5, (2, 3)).astype(d), rng.integers(-5, 5, (3, 2)).astype(d)), {})
        for d in "il"
    ]
    return [*cases, ((rng.normal(size=(2, 3)) + 1j, rng.normal(size=(3, 2)) - 1j), {})]


matmul = defop(
    "matmul",
    spec=_matmul_spec,
    eval=np.matmul,
    convert=common,
    vjp=_matmul_vjp,
    jvp="multilinear",
    vmap=_matmul_vmap,
    tf="matmul",
    sample=_matmul_samples,
    doc="numpy.matmul",
)
