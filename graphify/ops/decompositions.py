"""Matrix decompositions: qr and svd.

    q, r = qr(a, mode="reduced")
    u, s, vh = svd(a, full=False)

Sources of the derivatives: Seeger et al. 2018, "Auto-differentiating linear algebra", and
Roberts and Roberts 2020, "QR and LQ decomposition matrix backpropagation" (qr); Wan and Zhang
2019, "Automatic differentiation for complex valued SVD" (svd).

Vectors of equal singular values are only known up to a rotation. What does not depend on it has
a derivative, and gets it; the ambiguous part counts as zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphify.errors import SpecError
from graphify.ir.op import defop
from graphify.ir.sizes import Dim, decide_equal, decide_less, size_op
from graphify.ir.tensor import Tensor
from graphify.ir.types import Spec, is_complex, real_dtype
from graphify.ops import core
from graphify.ops.factor import (
    check_matrix,
    column,
    diagonal_of,
    diagonal_part,
    given,
    imaginary_part,
    inexact,
    over_matrices,
    real_part,
    row,
    solve,
    triangle,
)
from graphify.ops.linalg import adjoint, matmul
from graphify.ops.shape import concatenate


def smaller(m: Dim, n: Dim) -> Dim:
    return size_op("min", m, n)


def _tall(x: Tensor) -> bool:
    """Whether matrices have at least as many rows as columns.

    Raises:
        SpecError: only the run can tell.
    """
    wide = decide_less(x.dims[-2], x.dims[-1])
    if wide is None and decide_equal(x.dims[-2], x.dims[-1]) is None:
        raise SpecError(
            f"derivative of a decomposition: cannot tell which side of a matrix {x.spec} is longer",
            remedy="trace with a known shape (input_signature, or dynamic=False)",
        )
    return not wide


def cast_like(x: Tensor, like: Tensor) -> Tensor:
    return core.cast(x, dtype=like.dtype) if x.dtype != like.dtype else x


def rectangles(dtypes: str = "dD", attrs: Any = ({},)) -> Any:
    def sample() -> Any:
        rng = np.random.default_rng(0)
        cases = []
        for d in dtypes:
            for shape in [(4, 3), (3, 3), (2, 4), (2, 3, 2)]:
                x = rng.uniform(-1, 1, shape) + (1j * rng.uniform(-1, 1, shape) if d in "FD" else 0)
                cases += [((x.astype(d),), dict(a)) for a in attrs]
        return cases

    return sample


# --- qr -------------------------------------------------------------------------------------------


def _qr_spec(a: Spec, mode: str) -> tuple[Spec, Spec]:
    check_matrix(a)
    *lead, m, n = a.shape
    if mode == "raw":
        return Spec((*lead, n, m), a.dtype), Spec((*lead, smaller(m, n)), a.dtype)
    k = m if mode == "complete" else smaller(m, n)
    return Spec((*lead, m, k), a.dtype), Spec((*lead, k, n), a.dtype)


def _qr_eval(a: Any, mode: Any) -> Any:
    return tuple(np.linalg.qr(a, mode))


def _check_qr(a: Tensor, mode: str) -> None:
    square = decide_equal(a.dims[-1], a.dims[-2])
    if mode == "raw" or (mode == "complete" and not square and _tall(a)):
        raise SpecError(
            f"qr: mode {mode!r} has no derivative: the columns of q beyond those "
            "of the matrix are arbitrary",
            remedy="use mode='reduced'",
        )


def _qr_square_vjp(gq: Tensor, gr: Tensor, q: Tensor, r: Tensor) -> Tensor:
    m = matmul(r, adjoint(gr)) - matmul(adjoint(gq), q)
    whole = triangle(m, True, True)
    whole = whole + adjoint(whole) + real_part(diagonal_part(m))
    back = gq + matmul(q, whole)
    return adjoint(solve(r, adjoint(back)))


def _left(x: Tensor, count: Dim) -> Tensor:
    from graphify.ops.indexing import take_slice

    return take_slice(x, 0, count, x.ndim - 1)


def _right(x: Tensor, count: Dim) -> Tensor:
    from graphify.ops.indexing import take_slice

    return take_slice(x, count, x.dims[-1], x.ndim - 1)


def _qr_vjp(g: Any, y: Any, a: Tensor, mode: str) -> list[Tensor]:
    _check_qr(a, mode)
    gq, gr = given(g, y)
    q, r = y
    if _tall(a):
        return [_qr_square_vjp(gq, gr, q, r)]
    m = a.dims[-2]
    tail, g_tail = _right(a, m), _right(gr, m)
    gq = gq + matmul(tail, adjoint(g_tail))
    head = _qr_square_vjp(gq, _left(gr, m), q, _left(r, m))
    return [concatenate(head, matmul(q, g_tail), axis=a.ndim - 1)]


def _qr_square_jvp(t: Tensor, q: Tensor, r: Tensor) -> tuple[Tensor, Tensor]:
    scaled = adjoint(solve(adjoint(r), adjoint(t)))  # t r^-1
    inner = matmul(adjoint(q), scaled)
    low = triangle(inner, True, True)
    turn = low - adjoint(low) + imaginary_part(diagonal_part(inner))
    return matmul(q, turn - inner) + scaled, matmul(inner - turn, r)


def _qr_jvp(ts: Any, y: Any, a: Tensor, mode: str) -> tuple[Tensor, Tensor]:
    _check_qr(a, mode)
    q, r = y
    if _tall(a):
        return _qr_square_jvp(ts[0], q, r)
    m = a.dims[-2]
    tq, tr = _qr_square_jvp(_left(ts[0], m), q, _left(r, m))
    rest = matmul(adjoint(q), _right(ts[0], m) - matmul(tq, _right(r, m)))
    return tq, concatenate(tr, rest, axis=a.ndim - 1)


qr = defop(
    "qr",
    spec=_qr_spec,
    eval=_qr_eval,
    convert=inexact,
    vjp=_qr_vjp,
    jvp=_qr_jvp,
    vmap=over_matrices("qr"),
    tf="linalg.qr",
    sample=rectangles(attrs=({"mode": "reduced"},)),
    doc="numpy.linalg.qr",
)

# --- svd ------------------------------------------------------------------------------------------


def _svd_spec(a: Spec, full: bool) -> tuple[Spec, Spec, Spec]:
    check_matrix(a)
    *lead, m, n = a.shape
    k = smaller(m, n)
    return (
        Spec((*lead, m, m if full else k), a.dtype),
        Spec((*lead, k), real_dtype(a.dtype)),
        Spec((*lead, n if full else k, n), a.dtype),
    )


def _check_svd(a: Tensor, full: bool) -> None:
    if full and not decide_equal(a.dims[-1], a.dims[-2]):
        raise SpecError(
            "svd: full_matrices=True has no derivative: the vectors beyond the "
            "shorter side are arbitrary",
            remedy="use full_matrices=False",
        )


def _gaps(s: Tensor) -> Tensor:
    """1 / (s_k^2 - s_j^2) at [j, k]; zero where they are equal, the diagonal included."""
    return safe_inverse((row(s) - column(s)) * (row(s) + column(s)))


def safe_inverse(x: Tensor) -> Tensor:
    from graphify.ops import elementwise as e

    zero = e.equal(x, 0)
    return e.where(zero, core.zeros_like(x), 1 / e.where(zero, core.ones_like(x), x))


def _orthogonal(u: Tensor, x: Tensor) -> Tensor:
    """The part of the columns of `x` that is orthogonal to the columns of `u`."""
    return x - matmul(u, matmul(adjoint(u), x))


def _svd_vjp(g: Any, y: Any, a: Tensor, full: bool) -> list[Tensor]:
    _check_svd(a, full)
    u, s, vh = y
    gs = core.zeros_like(s) if g[1] is None else g[1]
    inner = diagonal_part(core.broadcast_to(row(cast_like(gs, a)), shape=(*s.dims, s.dims[-1])))
    if g[0] is None and g[2] is None:
        return [matmul(u, matmul(inner, vh))]
    gu, _, gvh = given(g, y)
    v, gv, sc = adjoint(vh), adjoint(gvh), cast_like(s, a)
    a_u, a_v, gaps = matmul(adjoint(u), gu), matmul(vh, gv), cast_like(_gaps(s), a)
    inner = (
        inner + (a_u - adjoint(a_u)) * gaps * row(sc) + column(sc) * ((a_v - adjoint(a_v)) * gaps)
    )
    if is_complex(a.dtype):
        inner = inner + imaginary_part(diagonal_part(a_u - a_v)) / (2 * row(sc))
    back = matmul(u, matmul(inner, vh))
    back = back + matmul(_orthogonal(u, gu) / row(sc), vh)
    return [back + matmul(u / row(sc), adjoint(_orthogonal(v, gv)))]


def _svd_jvp(ts: Any, y: Any, a: Tensor, full: bool) -> tuple[Tensor, Tensor, Tensor]:
    from graphify.ops import elementwise as e

    _check_svd(a, full)
    u, s, vh = y
    t, v, sc = ts[0], adjoint(vh), cast_like(s, a)
    inner = matmul(matmul(adjoint(u), t), v)
    gaps = cast_like(_gaps(s), a)
    right, left = inner * row(sc), column(sc) * inner
    turn_u, turn_v = (right + adjoint(right)) * gaps, (left + adjoint(left)) * gaps
    if is_complex(a.dtype):
        phase = imaginary_part(diagonal_part(inner)) / (2 * row(sc))
        turn_u, turn_v = turn_u + phase, turn_v - phase
    tu = matmul(u, turn_u) + _orthogonal(u, matmul(t, v)) / row(sc)
    tv = matmul(v, turn_v) + _orthogonal(v, matmul(adjoint(t), u)) / row(sc)
    return tu, e.real(diagonal_of(inner)), adjoint(tv)


svd = defop(
    "svd",
    spec=_svd_spec,
    eval=lambda a, full: tuple(np.linalg.svd(a, full)),
    convert=inexact,
    vjp=_svd_vjp,
    jvp=_svd_jvp,
    vmap=over_matrices("svd"),
    tf="linalg.svd",
    sample=rectangles("d", ({"full": False},)),
    doc="numpy.linalg.svd",
)


def _svdvals_spec(a: Spec) -> Spec:
    check_matrix(a)
    return Spec((*a.shape[:-2], smaller(*a.shape[-2:])), real_dtype(a.dtype))


def _svdvals_vjp(g: Tensor, y: Tensor, a: Tensor) -> list[Tensor]:
    u, _, vh = svd.several(a, full=False)
    return [matmul(u * row(cast_like(g, a)), vh)]


def _svdvals_jvp(ts: Any, y: Tensor, a: Tensor) -> Tensor:
    from graphify.ops import elementwise as e

    u, _, vh = svd.several(a, full=False)
    return e.real(diagonal_of(matmul(matmul(adjoint(u), ts[0]), adjoint(vh))))


svdvals = defop(
    "svdvals",
    spec=_svdvals_spec,
    eval=lambda a: np.linalg.svd(a, compute_uv=False),
    convert=inexact,
    vjp=_svdvals_vjp,
    jvp=_svdvals_jvp,
    vmap=over_matrices("svdvals"),
    tf="linalg.svdvals",
    sample=rectangles(),
    doc="numpy.linalg.svdvals: singular values in descending order",
)
