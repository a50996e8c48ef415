"""What one square matrix gives: solve, inverse, determinant, Cholesky factor.

All ops take stacks of matrices on the last two axes, in one inexact dtype (`inexact` converts).

    x = solve(a, b)    # b[..., m, k]

Source of the derivatives: Giles 2008, "An extended collection of matrix derivative results".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphify.errors import ShapeError, SpecError
from graphify.ir.op import REGISTRY, Op, defop
from graphify.ir.promotion import result_type
from graphify.ir.sizes import decide_equal
from graphify.ir.tensor import Tensor
from graphify.ir.types import DType, Spec, bfloat16, is_complex, is_inexact, real_dtype
from graphify.ir.wrapping import as_tensor
from graphify.ops import core
from graphify.ops.linalg import adjoint, matmul, matrix_transpose
from graphify.ops.rules import align, operand
from graphify.ops.shape import iota

FLOAT64 = np.dtype(np.float64)

# --- operands -------------------------------------------------------------------------------------


def linalg_dtype(dtype: DType) -> DType:
    """The dtype in which linear algebra computes: integers and bools become float64.

    Raises:
        SpecError: float16 and bfloat16, which LAPACK does not have.
    """
    if dtype in (np.float16, bfloat16):
        raise SpecError(f"array type {dtype.name} is unsupported in linalg")
    return dtype if is_inexact(dtype) else FLOAT64


def inexact(*args: Any) -> list[Tensor]:
    """A convert rule: operands in one dtype of linear algebra."""
    tensors = [as_tensor(arg) for arg in args]
    dtype = linalg_dtype(result_type(*(operand(t) for t in tensors)))
    return [core.to_dtype(t, dtype) for t in tensors]


def check_matrix(x: Spec) -> None:
    if x.ndim < 2:
        raise np.linalg.LinAlgError(
            f"{x.ndim}-dimensional array given. Array must be at least two-dimensional"
        )


def check_square(x: Spec) -> None:
    check_matrix(x)
    if decide_equal(x.shape[-1], x.shape[-2]) is False:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")


def square_spec(x: Spec, **attrs: Any) -> Spec:
    check_square(x)
    return x


def batch_first(rank: int, args: Sequence[Tensor], batched: Sequence[bool]) -> list[Tensor]:
    """Batched operands with ones behind the batch axis, so that stacks of any depth broadcast."""
    depth = max(a.ndim - b for a, b in zip(args, batched, strict=True))
    return [align(a, max(depth, rank)) if b else a for a, b in zip(args, batched, strict=True)]


def over_matrices(name: str) -> Callable[..., Any]:
    """The batching rule of ops of one stack of matrices: the batch is one more of its axes."""
    return lambda args, batched, **attrs: REGISTRY[name](*args, **attrs)


def well_conditioned(*shapes: tuple[int, ...], dtypes: str = "dD") -> Callable[[], Any]:
    """Samples of square matrices far from singular, and further operands."""

    def sample() -> Any:
        rng = np.random.default_rng(0)
        return [
            (
                tuple(
                    _random(rng, s, d) + (3 * np.eye(s[-1], dtype=d) if not k else 0)
                    for k, s in enumerate(shapes)
                ),
                {},
            )
            for d in dtypes
        ]

    return sample


def _random(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Any:
    x = rng.uniform(-1, 1, shape)
    return (x + 1j * rng.uniform(-1, 1, shape) if dtype in "FD" else x).astype(dtype)


def square_samples(dtypes: str = "fdD") -> Any:
    def sample() -> Any:
        return [
            *well_conditioned((3, 3), dtypes=dtypes)(),
            *well_conditioned((2, 3, 3), dtypes=dtypes[-1])(),
        ]

    return sample


# --- diagonals and triangles ----------------------------------------------------------------------


def _rows_columns(x: Tensor) -> tuple[Tensor, Tensor]:
    int64 = np.dtype(np.int64)
    rows, columns = iota(length=x.dims[-2], dtype=int64), iota(length=x.dims[-1], dtype=int64)
    return core.reshape(rows, shape=(x.dims[-2], 1)), columns


def triangle(x: Tensor, lower: bool, strict: bool = False) -> Tensor:
    """The lower or upper triangle of matrices, zero elsewhere."""
    from graphify.ops import elementwise as e

    i, j = _rows_columns(x)
    i, j = (i, j) if lower else (j, i)
    return e.where(e.greater(i, j) if strict else e.greater_equal(i, j), x, core.zeros_like(x))


def diagonal_part(x: Tensor) -> Tensor:
    """Matrices with everything off the diagonal set to zero."""
    from graphify.ops import elementwise as e

    i, j = _rows_columns(x)
    return e.where(e.equal(i, j), x, core.zeros_like(x))


def real_part(x: Tensor) -> Tensor:
    """The real part, in the dtype of `x`."""
    from graphify.ops import elementwise as e

    return core.cast(e.real(x), dtype=x.dtype) if is_complex(x.dtype) else x


def imaginary_part(x: Tensor) -> Tensor:
    """i times the imaginary part, in the dtype of `x`; zero for real `x`."""
    return x - real_part(x)


def row(x: Tensor) -> Tensor:
    """[..., n] as [..., 1, n]."""
    return core.reshape(x, shape=(*x.dims[:-1], 1, x.dims[-1]))


def column(x: Tensor) -> Tensor:
    """[..., n] as [..., n, 1]."""
    return core.reshape(x, shape=(*x.dims, 1))


def diagonal_of(x: Tensor) -> Tensor:
    """The diagonals [..., n] of square matrices [..., n, n]."""
    from graphify.ops.einsum import einsum

    lead = "abcdefghijklmnopqrstuvw"[: x.ndim - 2]
    return einsum(x, subscripts=f"{lead}zz->{lead}z")


def trace_of(x: Tensor) -> Tensor:
    """The sum of the diagonal, as [..., 1, 1]."""
    total = core.sum_to(diagonal_part(x), shape=(*x.dims[:-2], 1, 1))
    return total


def scalar_of(x: Tensor) -> Tensor:
    """[..., 1, 1] as [...]."""
    return core.reshape(x, shape=x.dims[:-2])


def matrix_of(x: Tensor) -> Tensor:
    """[...] as [..., 1, 1]."""
    return core.reshape(x, shape=(*x.dims, 1, 1))


def given(g: Sequence[Tensor | None], y: Sequence[Tensor]) -> list[Tensor]:
    """Cotangents or tangents with zeros for the missing ones."""
    return [core.zeros_like(b) if a is None else a for a, b in zip(g, y, strict=True)]


# --- solve, inv -----------------------------------------------------------------------------------


def _solve_spec(a: Spec, b: Spec) -> Spec:
    check_square(a)
    check_matrix(b)
    if decide_equal(a.shape[-1], b.shape[-2]) is False:
        raise ShapeError(
            "solve: Input operand 1 has a mismatch in its core dimension 0: "
            f"expected size {a.shape[-1]}, "
            f"got {b.shape[-2]} (shapes {a.shape} and {b.shape})"
        )
    return Spec((*core.broadcast_shapes(a.shape[:-2], b.shape[:-2]), *b.shape[-2:]), a.dtype)


def _solve_vjp(g: Tensor, y: Tensor, a: Tensor, b: Tensor) -> list[Tensor]:
    gb = solve(adjoint(a), g)
    return [core.unbroadcast(-matmul(gb, adjoint(y)), a), core.unbroadcast(gb, b)]


def _solve_jvp(ts: Any, y: Tensor, a: Tensor, b: Tensor) -> Tensor:
    ta, tb = given(ts, (a, b))
    return solve(a, tb - matmul(ta, y))


solve: Op = defop(
    "solve",
    spec=_solve_spec,
    eval=lambda a, b: np.linalg.solve(a, b),
    convert=inexact,
    vjp=_solve_vjp,
    jvp=_solve_jvp,
    vmap=lambda args, batched: solve(*batch_first(2, args, batched)),
    tf="linalg.solve",
    sample=lambda: [
        *well_conditioned((3, 3), (3, 2), dtypes="fdD")(),
        *well_conditioned((2, 3, 3), (3, 1), dtypes="d")(),
    ],
    doc="numpy.linalg.solve with matrices on the right",
)


def _inv_eval(a: Any, check: bool = True) -> Any:
    if check:
        return np.linalg.inv(a)
    try:
        return np.linalg.inv(a)
    except np.linalg.LinAlgError:
        flat = a.reshape(-1, *a.shape[-2:])
        return np.stack([_inv_or_nan(m) for m in flat]).reshape(a.shape)


def _inv_or_nan(a: Any) -> Any:
    try:
        return np.linalg.inv(a)
    except np.linalg.LinAlgError:
        return np.full_like(a, np.nan)


inv = defop(
    "inv",
    spec=square_spec,
    eval=_inv_eval,
    convert=inexact,
    vjp=lambda g, y, a, **attrs: [-matmul(adjoint(y), matmul(g, adjoint(y)))],
    jvp=lambda ts, y, a, **attrs: -matmul(y, matmul(ts[0], y)),
    vmap=over_matrices("inv"),
    tf="linalg.inv",
    sample=square_samples(),
    doc="numpy.linalg.inv; check=False gives NaN for singular matrices",
)

# --- determinants ---------------------------------------------------------------------------------


def _adjugate_eval(a: Any) -> Any:
    """det(a) inv(a) without the inverse: right for singular matrices, too."""
    u, s, vh = np.linalg.svd(a)
    n = s.shape[-1]
    others = np.stack([np.prod(np.delete(s, i, -1), -1) for i in range(n)], -1) if n else s
    phase = (np.linalg.det(u) * np.linalg.det(vh))[..., None, None]
    left, right = np.swapaxes(vh, -1, -2).conj(), np.swapaxes(u, -1, -2).conj()
    return phase * ((left * others[..., None, :]) @ right)


def _adjugate_vjp(g: Tensor, y: Tensor, a: Tensor) -> list[Tensor]:
    d, ai = matrix_of(det(a)), inv(a)
    wh = adjoint(ai)
    g_det = trace_of(matmul(wh, g))
    back = matmul(wh, matmul(g, wh))
    conj = matrix_transpose(adjoint(d))
    return [conj * (g_det * wh - back)]


def _adjugate_jvp(ts: Any, y: Tensor, a: Tensor) -> Tensor:
    ai = inv(a)
    rate = matmul(ts[0], ai)
    return matrix_of(det(a)) * (trace_of(rate) * ai - matmul(ai, rate))


adjugate = defop(
    "adjugate",
    spec=square_spec,
    eval=_adjugate_eval,
    convert=inexact,
    vjp=_adjugate_vjp,
    jvp=_adjugate_jvp,
    vmap=over_matrices("adjugate"),
    tf="adjugate",
    sample=square_samples("dD"),
    doc="the transposed matrix of cofactors: the derivative of the determinant",
)


def _det_spec(a: Spec) -> Spec:
    check_square(a)
    return Spec(a.shape[:-2], a.dtype)


det = defop(
    "det",
    spec=_det_spec,
    eval=lambda a: np.linalg.det(a),
    convert=inexact,
    vjp=lambda g, y, a: [matrix_of(g) * adjoint(adjugate(a))],
    jvp=lambda ts, y, a: scalar_of(trace_of(matmul(adjugate(a), ts[0]))),
    vmap=over_matrices("det"),
    tf="linalg.det",
    sample=square_samples(),
    doc="numpy.linalg.det",
)


def _slogdet_spec(a: Spec) -> tuple[Spec, Spec]:
    check_square(a)
    return Spec(a.shape[:-2], a.dtype), Spec(a.shape[:-2], real_dtype(a.dtype))


def _slogdet_vjp(g: Any, y: Any, a: Tensor) -> list[Tensor]:
    from graphify.ops import elementwise as e

    g_sign, g_log = given(g, y)
    rate = core.cast(g_log, dtype=a.dtype)
    if is_complex(a.dtype):  # the sign turns as the imaginary part of trace(inv(a) da) says
        turn = e.real(e.conjugate(g_sign) * y[0] * 1j)
        rate = e.make_complex(g_log, turn)
    return [matrix_of(rate) * adjoint(inv(a))]


def _slogdet_jvp(ts: Any, y: Any, a: Tensor) -> tuple[Tensor, Tensor]:
    from graphify.ops import elementwise as e

    rate = scalar_of(trace_of(matmul(inv(a), ts[0])))
    if not is_complex(a.dtype):
        return core.zeros_like(y[0]), rate
    return imaginary_part(rate) * y[0], e.real(rate)


slogdet = defop(
    "slogdet",
    spec=_slogdet_spec,
    eval=lambda a: tuple(np.linalg.slogdet(a)),
    convert=inexact,
    vjp=_slogdet_vjp,
    jvp=_slogdet_jvp,
    vmap=over_matrices("slogdet"),
    tf="linalg.slogdet",
    sample=square_samples(),
    doc="numpy.linalg.slogdet: sign and logarithm of the determinant",
)

# --- Cholesky -------------------------------------------------------------------------------------


def hermitian_of(t: Tensor, lower: bool) -> Tensor:
    """The Hermitian matrix that LAPACK reads from one triangle of `t`."""
    off = triangle(t, lower, True)
    return real_part(diagonal_part(t)) + off + adjoint(off)


def triangle_gradient(g: Tensor, lower: bool) -> Tensor:
    """The transpose of `hermitian_of`: a cotangent of the whole matrix, brought to the triangle."""
    off = triangle(g, lower, True), triangle(adjoint(g), lower, True)
    return real_part(diagonal_part(g)) + off[0] + off[1]


def _half_lower(x: Tensor) -> Tensor:
    """The lower triangle with its diagonal halved."""
    return triangle(x, True, True) + real_part(diagonal_part(x)) / 2


def _cholesky_vjp(g: Tensor, y: Tensor, a: Tensor) -> list[Tensor]:
    inner = _half_lower(matmul(adjoint(y), g))
    left = solve(adjoint(y), inner)  # L^-H inner
    whole = adjoint(solve(adjoint(y), adjoint(left)))  # L^-H inner L^-1
    return [triangle_gradient((whole + adjoint(whole)) / 2, True)]


def _cholesky_jvp(ts: Any, y: Tensor, a: Tensor) -> Tensor:
    t = hermitian_of(ts[0], True)
    left = solve(y, t)
    inner = adjoint(solve(y, adjoint(left)))  # L^-1 t L^-H
    return matmul(y, _half_lower(inner))


def _positive_samples() -> Any:
    cases = []
    for (a,), attrs in square_samples()():
        cases.append(((a @ np.swapaxes(a, -1, -2).conj(),), attrs))
    return cases


cholesky = defop(
    "cholesky",
    spec=square_spec,
    eval=lambda a: np.linalg.cholesky(a),
    convert=inexact,
    vjp=_cholesky_vjp,
    jvp=_cholesky_jvp,
    vmap=over_matrices("cholesky"),
    tf="linalg.cholesky",
    sample=_positive_samples,
    doc="numpy.linalg.cholesky: the lower factor; reads the lower triangle only",
)
