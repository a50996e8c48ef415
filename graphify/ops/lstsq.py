"""Pseudo-inverse and least squares.

    x = lstsq(a, b, rcond)    # b[m, k]

Source of the derivatives: Golub and Pereyra 1973, "The differentiation of pseudo-inverses and
nonlinear least squares problems whose variables separate".
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphify.ir.op import defop
from graphify.ir.sizes import Dim, decide_equal, decide_less, fresh
from graphify.ir.tensor import Tensor
from graphify.ir.types import Spec, real_dtype
from graphify.ops import core
from graphify.ops.decompositions import (
    rectangles,
)
from graphify.ops.factor import (
    check_matrix,
    given,
    inexact,
)
from graphify.ops.linalg import adjoint, matmul


def _pinv_spec(a: Spec, rcond: Spec, hermitian: bool = False) -> Spec:
    check_matrix(a)
    *lead, m, n = a.shape
    return Spec((*lead, n, m), a.dtype)


def _pinv_convert(a: Any, rcond: Any) -> list[Tensor]:
    return [*inexact(a), core.strong(rcond)]


def _pinv_change(t: Tensor, p: Tensor, a: Tensor) -> Tensor:
    th, ph = adjoint(t), adjoint(p)
    first = matmul(p, matmul(t, p))
    second = matmul(p, matmul(ph, th))
    third = matmul(th, matmul(ph, p))
    return second - matmul(second, matmul(a, p)) + third - matmul(p, matmul(a, third)) - first


def _pinv_vjp(g: Tensor, y: Tensor, a: Tensor, rcond: Tensor, hermitian: bool = False) -> list[Any]:
    ph = adjoint(y)
    first = matmul(ph, matmul(g, ph))
    second = matmul(y, matmul(ph, g))
    third = matmul(g, matmul(ph, y))
    back = second - matmul(second, matmul(a, y)) + third - matmul(y, matmul(a, third))
    return [adjoint(back) - first, None]


def _pinv_vmap(args: Any, batched: Any, hermitian: bool = False) -> Any:
    a, rcond = args
    if batched[1] and not batched[0]:
        a = core.broadcast_to(a, shape=(rcond.dims[0], *a.dims))
    if batched[1]:
        rank = a.ndim - 3
        rcond = core.reshape(
            rcond, shape=(rcond.dims[0], *(1,) * (rank - rcond.ndim + 1), *rcond.dims[1:])
        )
    return pinv(a, rcond, hermitian=hermitian)


def _pinv_samples() -> Any:
    return [((a, np.asarray(1e-15)), {}) for (a,), _ in rectangles()()]


pinv = defop(
    "pinv",
    spec=_pinv_spec,
    eval=lambda a, rcond, hermitian=False: np.linalg.pinv(a, rcond, hermitian),
    convert=_pinv_convert,
    vjp=_pinv_vjp,
    jvp=lambda ts, y, a, rcond, hermitian=False: _pinv_change(ts[0], y, a),
    vmap=_pinv_vmap,
    tf="pinv",
    sample=_pinv_samples,
    differentiable=(0,),
    doc="numpy.linalg.pinv",
)


def _lstsq_check(a: Spec, b: Spec) -> None:
    for x in (a, b):
        if x.ndim != 2:
            raise np.linalg.LinAlgError(
                f"{x.ndim}-dimensional array given. Array must be two-dimensional"
            )
    if decide_equal(a.shape[0], b.shape[0]) is False:
        raise np.linalg.LinAlgError("Incompatible dimensions")


def _lstsq_spec(a: Spec, b: Spec, rcond: Spec) -> Spec:
    _lstsq_check(a, b)
    return Spec((a.shape[1], b.shape[1]), a.dtype)


def _lstsq_vjp(g: Tensor, y: Tensor, a: Tensor, b: Tensor, rcond: Tensor) -> list[Any]:
    p = pinv(a, rcond)
    ga, _ = _pinv_vjp(matmul(g, adjoint(b)), p, a, rcond)
    return [ga, matmul(adjoint(p), g), None]


def _lstsq_jvp(ts: Any, y: Tensor, a: Tensor, b: Tensor, rcond: Tensor) -> Tensor:
    p = pinv(a, rcond)
    ta, tb = given(ts[:2], (a, b))
    return matmul(_pinv_change(ta, p, a), b) + matmul(p, tb)


def _lstsq_convert(a: Any, b: Any, rcond: Any) -> list[Tensor]:
    return [*inexact(a, b), core.strong(rcond)]


def _lstsq_samples() -> Any:
    rng = np.random.default_rng(0)
    shapes = [((4, 2), (4, 3)), ((2, 3), (2, 1))]
    return [((rng.normal(size=s), rng.normal(size=t), np.asarray(1e-15)), {}) for s, t in shapes]


# The minimiser has derivatives; the sums of squares, empty or not as the rank says, have none.
lstsq = defop(
    "lstsq",
    spec=_lstsq_spec,
    eval=lambda a, b, rcond: np.linalg.lstsq(a, b, float(rcond))[0],
    convert=_lstsq_convert,
    vjp=_lstsq_vjp,
    jvp=_lstsq_jvp,
    tf="lstsq",
    sample=_lstsq_samples,
    differentiable=(0, 1),
    doc="numpy.linalg.lstsq: the solution, with matrices on the right",
)


def _residuals_spec(a: Spec, b: Spec, rcond: Spec) -> tuple[Spec, Spec]:
    _lstsq_check(a, b)
    (m, n) = a.shape
    count: Dim = 0 if decide_less(n, m) is False else fresh("residuals")
    return Spec((count,), real_dtype(a.dtype)), Spec((), np.dtype(np.int32))


def _residuals_eval(a: Any, b: Any, rcond: Any) -> Any:
    _, residuals, rank, _ = np.linalg.lstsq(a, b, float(rcond))
    return residuals, np.asarray(rank, np.int32)


lstsq_residuals = defop(
    "lstsq_residuals",
    spec=_residuals_spec,
    eval=_residuals_eval,
    convert=_lstsq_convert,
    tf="lstsq_residuals",
    sample=_lstsq_samples,
    differentiable=(),
    doc="numpy.linalg.lstsq: sums of squared residuals (none where the rank is "
    "short), and the rank",
)
