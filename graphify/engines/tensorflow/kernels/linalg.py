"""Linear algebra. Factors unique only up to signs or phases may differ from LAPACK's there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from graphify.engines.tensorflow.frame import Frame
from graphify.engines.tensorflow.kernels.arrays import matmul
from graphify.engines.tensorflow.kernels.casting import cast_to, imaginary_part, real_part
from graphify.engines.tensorflow.kernels.elementwise import choose, is_nan
from graphify.engines.tensorflow.kernels.reductions import vector
from graphify.engines.tensorflow.kernels.table import kernel
from graphify.errors import LoweringError


def adjoint(frame: Frame, x: Any) -> Any:
    """The conjugate transpose of the last two axes."""
    rank = len(x.shape)
    perm = vector(frame, [*range(rank - 2), rank - 1, rank - 2])
    return (frame.raw.ConjugateTranspose if x.dtype.is_complex else frame.raw.Transpose)(
        x=x, perm=perm
    )


def _column(frame: Frame, x: Any, axis: int = -1) -> Any:
    return frame.raw.ExpandDims(input=x, axis=frame.constant(axis, frame.tf.int32))


# --- solve, inverse, determinants -----------------------------------------------------------------


def _with_nan(frame: Frame, a: Any) -> Any:
    """[..., 1, 1]: which matrices hold NaN. LAPACK gives NaN for them, TensorFlow an error."""
    return frame.raw.Any(input=is_nan(frame, a), axis=vector(frame, [-2, -1]), keep_dims=True)


@kernel("linalg.solve")
def solve(frame: Frame, a: Any, b: Any) -> Any:
    nan = _with_nan(frame, a)
    return choose(frame, nan, math.nan, _solve(frame, choose(frame, nan, _eye(frame, a), a), b))


def _solve(frame: Frame, a: Any, b: Any) -> Any:
    """MatrixSolve does not broadcast stacks, so they are broadcast first."""
    raw, tf = frame.raw, frame.tf
    if len(a.shape) == len(b.shape) == 2:
        return raw.MatrixSolve(matrix=a, rhs=b)
    shapes = [frame.shape_of(x) for x in (a, b)]
    leads = [frame.shape(shape[:-2]) for shape in shapes]
    lead = raw.BroadcastArgs(s0=leads[0], s1=leads[1])
    axis = frame.constant(0, tf.int32)
    wide = [
        raw.BroadcastTo(
            input=x, shape=raw.ConcatV2(values=[lead, frame.shape(shape[-2:])], axis=axis)
        )
        for x, shape in zip((a, b), shapes, strict=True)
    ]
    rank = max(len(a.shape), len(b.shape))
    for x in wide:
        x.set_shape([None] * rank)
    return raw.MatrixSolve(matrix=wide[0], rhs=wide[1])


@kernel("linalg.inv")
def inv(frame: Frame, a: Any, check: bool = True) -> Any:
    singular = _with_nan(frame, a)
    if not check:
        sign = frame.raw.LogMatrixDeterminant(input=a).sign
        zero = frame.raw.Equal(x=sign, y=frame.like(0, sign))
        singular = frame.raw.LogicalOr(x=singular, y=_column(frame, _column(frame, zero)))
    safe = choose(frame, singular, _eye(frame, a), a)
    return choose(frame, singular, math.nan, frame.raw.MatrixInverse(input=safe))


def _eye(frame: Frame, a: Any) -> Any:
    """The identity matrix in the shape and dtype of square matrices `a`."""
    shape = frame.shape_of(a)
    ones = frame.raw.Fill(dims=frame.shape(shape[:-1]), value=frame.like(1, a))
    zeros = frame.raw.ZerosLike(x=a)
    return frame.raw.MatrixSetDiag(input=zeros, diagonal=ones)


@kernel("linalg.det")
def det(frame: Frame, a: Any) -> Any:
    return frame.raw.MatrixDeterminant(input=a)


@kernel("linalg.slogdet")
def slogdet(frame: Frame, a: Any) -> list[Any]:
    result = frame.raw.LogMatrixDeterminant(input=a)
    return [result.sign, real_part(frame, result.log_abs_determinant)]


@kernel("adjugate")
def adjugate(frame: Frame, a: Any) -> Any:
    """det(a) inv(a) by the singular values, so that it holds for singular matrices, too."""
    s, u, v = _svd(frame, a, full=False)
    axis = frame.constant(-1, frame.tf.int32)
    others = frame.raw.Cumprod(x=s, axis=axis, exclusive=True) * frame.raw.Cumprod(
        x=s, axis=axis, exclusive=True, reverse=True
    )
    others = _column(frame, cast_to(frame, others, a.dtype), -2)
    phase = det(frame, u) * det(frame, adjoint(frame, v))
    return _column(frame, _column(frame, phase)) * matmul(frame, v * others, adjoint(frame, u))


@kernel("linalg.cholesky")
def cholesky(frame: Frame, a: Any) -> Any:
    y = frame.raw.Cholesky(input=a)
    diagonal = real_part(frame, frame.raw.MatrixDiagPart(input=y))
    # TensorFlow lets some matrices through, with NaN on the diagonal.
    holds = frame.raw.All(
        input=diagonal > frame.like(0, diagonal), axis=vector(frame, range(len(diagonal.shape)))
    )
    check = frame.check(holds, np.linalg.LinAlgError, "Matrix is not positive definite")
    return frame.after(y, check)


# --- orthogonal factors ---------------------------------------------------------------------------


@kernel("linalg.qr")
def qr(frame: Frame, a: Any, mode: str) -> list[Any]:
    if mode == "raw":
        raise LoweringError(
            "tensorflow: qr: no form for mode 'raw'", remedy="use mode='reduced' or 'complete'"
        )
    q, r = frame.raw.Qr(input=a, full_matrices=mode == "complete")
    return [q, r]


def _svd(frame: Frame, a: Any, full: bool) -> list[Any]:
    """Singular values, u and v (not its adjoint). NaN and inf do not converge, as in LAPACK."""
    real = real_part(frame, a), imaginary_part(frame, a)
    finite = frame.raw.LogicalAnd(x=frame.raw.IsFinite(x=real[0]), y=frame.raw.IsFinite(x=real[1]))
    holds = frame.raw.All(input=finite, axis=vector(frame, range(len(a.shape))))
    check = frame.check(holds, np.linalg.LinAlgError, "SVD did not converge")
    s, u, v = frame.raw.Svd(input=frame.after(a, check), compute_uv=True, full_matrices=full)
    return [real_part(frame, s), u, v]


@kernel("linalg.svd")
def svd(frame: Frame, a: Any, full: bool) -> list[Any]:
    s, u, v = _svd(frame, a, full)
    return [u, s, adjoint(frame, v)]


@kernel("linalg.svdvals")
def svdvals(frame: Frame, a: Any) -> Any:
    return _svd(frame, a, full=False)[0]


def _lower(frame: Frame, a: Any, lower: bool) -> Any:
    """The matrix whose lower triangle says what the named triangle of `a` says."""
    return a if lower else adjoint(frame, a)


@kernel("linalg.eigh")
def eigh(frame: Frame, a: Any, lower: bool) -> list[Any]:
    values, vectors = frame.raw.SelfAdjointEigV2(input=_lower(frame, a, lower), compute_v=True)
    return [real_part(frame, values), vectors]


@kernel("linalg.eigvalsh")
def eigvalsh(frame: Frame, a: Any, lower: bool) -> Any:
    values, _ = frame.raw.SelfAdjointEigV2(input=_lower(frame, a, lower), compute_v=False)
    return real_part(frame, values)


@kernel("linalg.eig")
def eig(frame: Frame, a: Any) -> list[Any]:
    values, vectors = frame.raw.Eig(input=a, compute_v=True, Tout=a.dtype)
    return [values, vectors]


@kernel("linalg.eigvals")
def eigvals(frame: Frame, a: Any) -> Any:
    return frame.raw.Eig(input=a, compute_v=False, Tout=a.dtype)[0]


# --- pinv and lstsq -------------------------------------------------------------------------------


def _inverted(frame: Frame, s: Any, rcond: Any) -> tuple[Any, Any]:
    """1 / s with 0 for singular values below rcond times the greatest; which ones are kept."""
    raw = frame.raw
    greatest = raw.Max(input=s, axis=vector(frame, [-1]), keep_dims=True)
    kept = raw.Greater(x=s, y=rcond * greatest)
    safe = choose(frame, kept, s, 1)
    return choose(frame, kept, raw.RealDiv(x=frame.like(1, s), y=safe), 0), kept


@kernel("pinv")
def pinv(frame: Frame, a: Any, rcond: Any, hermitian: bool = False) -> Any:
    if hermitian:  # NumPy reads the lower triangle only
        a = _hermitian(frame, a)
    s, u, v = _svd(frame, a, full=False)
    limit = _column(frame, cast_to(frame, rcond, s.dtype))
    inverse, _ = _inverted(frame, s, limit)
    scaled = v * _column(frame, cast_to(frame, inverse, a.dtype), -2)
    return matmul(frame, scaled, adjoint(frame, u))


def _hermitian(frame: Frame, a: Any) -> Any:
    zero, one = (frame.constant(n, frame.tf.int64) for n in (0, -1))
    lower = frame.raw.MatrixBandPart(input=a, num_lower=one, num_upper=zero)
    diagonal = frame.raw.MatrixBandPart(input=a, num_lower=zero, num_upper=zero)
    real_diagonal = cast_to(frame, real_part(frame, diagonal), a.dtype)
    strict = lower - diagonal
    return strict + adjoint(frame, strict) + real_diagonal


def _least_squares(frame: Frame, a: Any, b: Any, rcond: Any) -> tuple[Any, Any]:
    """The solution of least norm, and the rank."""
    s, u, v = _svd(frame, a, full=False)
    eps = np.finfo(s.dtype.as_numpy_dtype).eps
    limit = cast_to(frame, rcond, s.dtype)
    limit = choose(
        frame, limit < frame.like(0, limit), eps, limit
    )  # as LAPACK reads a negative one
    inverse, kept = _inverted(frame, s, limit)
    scaled = _column(frame, cast_to(frame, inverse, a.dtype)) * matmul(frame, adjoint(frame, u), b)
    rank = frame.raw.Sum(input=cast_to(frame, kept, frame.tf.int32), axis=vector(frame, [0]))
    return matmul(frame, v, scaled), rank


@kernel("lstsq")
def lstsq(frame: Frame, a: Any, b: Any, rcond: Any) -> Any:
    return _least_squares(frame, a, b, rcond)[0]


@kernel("lstsq_residuals")
def lstsq_residuals(frame: Frame, a: Any, b: Any, rcond: Any) -> list[Any]:
    """Sums of squared residuals; none unless of full rank with more rows than columns."""
    raw = frame.raw
    x, rank = _least_squares(frame, a, b, rcond)
    gap = b - matmul(frame, a, x)
    squares = real_part(frame, gap) ** 2 + imaginary_part(frame, gap) ** 2
    sums = raw.Sum(input=squares, axis=vector(frame, [0]))
    rows, columns = (frame.scalar(d) for d in _two(frame.shape_of(a)))
    full = raw.LogicalAnd(
        x=raw.Equal(x=cast_to(frame, rank, frame.tf.int64), y=columns),
        y=raw.Greater(x=rows, y=columns),
    )
    count = choose(frame, full, frame.scalar(frame.shape_of(b)[1]), 0)
    return [sums[:count], rank]


def _two(shape: Sequence[Any]) -> Sequence[Any]:
    return shape[:2]
