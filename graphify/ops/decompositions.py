"""Matrix decompositions: qr, svd, eigh, eig, and what rests on them: pinv, lstsq.

    q, r = qr(a, mode="reduced")
    u, _, vh = svd(a, full=False)

Sources of the derivatives: Giles 2008, "An extended collection of matrix derivative results" (eigh);
Seeger et al. 2018, "Auto-differentiating linear algebra", and Roberts and Roberts 2020, "QR and LQ
decomposition matrix backpropagation" (qr); Wan and Zhang 2019, "Automatic differentiation for
complex valued SVD" (svd); Golub and Pereyra 1973 (pinv).

Vectors of equal eigenvalues or singular values are only known up to a rotation. What does not
depend on the rotation has a derivative, and gets it; the ambiguous part counts as zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphify.errors import SpecError
from graphify.ir.bind import Tensor
from graphify.ir.op import defop
from graphify.ir.sizes import Dim, decide_equal, decide_less, fresh, size_op
from graphify.ir.types import Spec, is_complex, real_dtype
from graphify.ops import core
from graphify.ops.elementwise import conjugate, equal
from graphify.ops.factor import (
    check_matrix,
    check_square,
    column,
    diagonal_of,
    diagonal_part,
    given,
    hermitian_of,
    imaginary_part,
    inexact,
    over_matrices,
    real_part,
    row,
    solve,
    square_samples,
    triangle,
    triangle_gradient,
)
from graphify.ops.linalg import adjoint, matmul
from graphify.ops.shape import concatenate, iota


def _smaller(m: Dim, n: Dim) -> Dim:
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


def _cast(x: Tensor, like: Tensor) -> Tensor:
    return core.cast(x, dtype=like.dtype) if x.dtype != like.dtype else x


def _rectangles(dtypes: str = "dD", attrs: Any = ({},)) -> Any:
    def sample() -> Any:
        rng = np.random.default_rng(0)
        cases = []
        for d in dtypes:
            for shape in [(4, 3), (3, 3), (2, 4), (2, 3, 2)]:
                x = rng.uniform(-1, 1, shape) + (1j * rng.uniform(-1, 1, shape) if d in "FD" else 0)
                cases += [((x.astype(d),), dict(a)) for a in attrs]
        return cases

    return sample


# --- qr ---------------------------------------------------------------------------------------------


def _qr_spec(a: Spec, mode: str) -> tuple[Spec, Spec]:
    check_matrix(a)
    *lead, m, n = a.shape
    if mode == "raw":
        return Spec((*lead, n, m), a.dtype), Spec((*lead, _smaller(m, n)), a.dtype)
    k = m if mode == "complete" else _smaller(m, n)
    return Spec((*lead, m, k), a.dtype), Spec((*lead, k, n), a.dtype)


def _qr_eval(a: Any, mode: str) -> Any:
    return tuple(np.linalg.qr(a, mode))


def _check_qr(a: Tensor, mode: str) -> None:
    square = decide_equal(a.dims[-1], a.dims[-2])
    if mode == "raw" or (mode == "complete" and not square and _tall(a)):
        raise SpecError(
            f"qr: mode {mode!r} has no derivative: the columns of q beyond those of the matrix are arbitrary",
            remedy="use mode='reduced'",
        )


def _qr_square_vjp(gq: Tensor, gr: Tensor, q: Tensor, r: Tensor) -> Tensor:
    m = matmul(r, adjoint(gr)) - matmul(adjoint(gq), q)
    whole = triangle(m, True, True)
    whole = whole + adjoint(whole) + real_part(diagonal_part(m))  # type: ignore[operator]
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
    turn = low - adjoint(low) + imaginary_part(diagonal_part(inner))  # type: ignore[operator]
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
    sample=_rectangles(attrs=({"mode": "reduced"},)),
    doc="numpy.linalg.qr",
)

# --- svd --------------------------------------------------------------------------------------------


def _svd_spec(a: Spec, full: bool) -> tuple[Spec, Spec, Spec]:
    check_matrix(a)
    *lead, m, n = a.shape
    k = _smaller(m, n)
    return (
        Spec((*lead, m, m if full else k), a.dtype),
        Spec((*lead, k), real_dtype(a.dtype)),
        Spec((*lead, n if full else k, n), a.dtype),
    )


def _check_svd(a: Tensor, full: bool) -> None:
    if full and not decide_equal(a.dims[-1], a.dims[-2]):
        raise SpecError(
            "svd: full_matrices=True has no derivative: the vectors beyond the shorter side are arbitrary",
            remedy="use full_matrices=False",
        )


def _gaps(s: Tensor) -> Tensor:
    """1 / (s_k^2 - s_j^2) at [j, k]; zero where they are equal, the diagonal included."""
    return _safe_inverse((row(s) - column(s)) * (row(s) + column(s)))  # type: ignore[operator]


def _safe_inverse(x: Tensor) -> Tensor:
    from graphify.ops import elementwise as e

    zero = e.equal(x, 0)
    return e.where(zero, core.zeros_like(x), 1 / e.where(zero, core.ones_like(x), x))  # type: ignore[no-any-return]


def _orthogonal(u: Tensor, x: Tensor) -> Tensor:
    """The part of the columns of `x` that is orthogonal to the columns of `u`."""
    return x - matmul(u, matmul(adjoint(u), x))  # type: ignore[no-any-return]


def _svd_vjp(g: Any, y: Any, a: Tensor, full: bool) -> list[Tensor]:
    _check_svd(a, full)
    u, s, vh = y
    gs = core.zeros_like(s) if g[1] is None else g[1]
    inner = diagonal_part(core.broadcast_to(row(_cast(gs, a)), shape=(*s.dims, s.dims[-1])))
    if g[0] is None and g[2] is None:
        return [matmul(u, matmul(inner, vh))]
    gu, _, gvh = given(g, y)
    v, gv, sc = adjoint(vh), adjoint(gvh), _cast(s, a)
    a_u, a_v, gaps = matmul(adjoint(u), gu), matmul(vh, gv), _cast(_gaps(s), a)
    inner = inner + (a_u - adjoint(a_u)) * gaps * row(sc) + column(sc) * ((a_v - adjoint(a_v)) * gaps)
    if is_complex(a.dtype):
        inner = inner + imaginary_part(diagonal_part(a_u - a_v)) / (2 * row(sc))  # type: ignore[operator]
    back = matmul(u, matmul(inner, vh))
    back = back + matmul(_orthogonal(u, gu) / row(sc), vh)  # type: ignore[operator]
    return [back + matmul(u / row(sc), adjoint(_orthogonal(v, gv)))]


def _svd_jvp(ts: Any, y: Any, a: Tensor, full: bool) -> tuple[Tensor, Tensor, Tensor]:
    from graphify.ops import elementwise as e

    _check_svd(a, full)
    u, s, vh = y
    t, v, sc = ts[0], adjoint(vh), _cast(s, a)
    inner = matmul(matmul(adjoint(u), t), v)
    gaps = _cast(_gaps(s), a)
    right, left = inner * row(sc), column(sc) * inner
    turn_u, turn_v = (right + adjoint(right)) * gaps, (left + adjoint(left)) * gaps
    if is_complex(a.dtype):
        phase = imaginary_part(diagonal_part(inner)) / (2 * row(sc))  # type: ignore[operator]
        turn_u, turn_v = turn_u + phase, turn_v - phase
    tu = matmul(u, turn_u) + _orthogonal(u, matmul(t, v)) / row(sc)  # type: ignore[operator]
    tv = matmul(v, turn_v) + _orthogonal(v, matmul(adjoint(t), u)) / row(sc)  # type: ignore[operator]
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
    sample=_rectangles("d", ({"full": False},)),
    doc="numpy.linalg.svd",
)


def _svdvals_spec(a: Spec) -> Spec:
    check_matrix(a)
    return Spec((*a.shape[:-2], _smaller(*a.shape[-2:])), real_dtype(a.dtype))


def _svdvals_vjp(g: Tensor, y: Tensor, a: Tensor) -> list[Tensor]:
    u, _, vh = svd(a, full=False)
    return [matmul(u * row(_cast(g, a)), vh)]


def _svdvals_jvp(ts: Any, y: Tensor, a: Tensor) -> Tensor:
    from graphify.ops import elementwise as e

    u, _, vh = svd(a, full=False)
    return e.real(diagonal_of(matmul(matmul(adjoint(u), ts[0]), adjoint(vh))))  # type: ignore[no-any-return]


svdvals = defop(
    "svdvals",
    spec=_svdvals_spec,
    eval=lambda a: np.linalg.svd(a, compute_uv=False),
    convert=inexact,
    vjp=_svdvals_vjp,
    jvp=_svdvals_jvp,
    vmap=over_matrices("svdvals"),
    tf="linalg.svdvals",
    sample=_rectangles(),
    doc="numpy.linalg.svdvals: singular values in descending order",
)

# --- eigh -------------------------------------------------------------------------------------------


def _eigh_spec(a: Spec, lower: bool) -> tuple[Spec, Spec]:
    check_square(a)
    return Spec(a.shape[:-1], real_dtype(a.dtype)), a


def _uplo(lower: bool) -> Any:
    return "L" if lower else "U"


def _eigen_gaps(w: Tensor, v: Tensor) -> Tensor:
    return _cast(_safe_inverse(row(w) - column(w)), v)  # type: ignore[operator]


def _eigh_vjp(g: Any, y: Any, a: Tensor, lower: bool) -> list[Tensor]:
    w, v = y
    back = core.zeros_like(a) if g[0] is None else matmul(v * row(_cast(g[0], v)), adjoint(v))
    if g[1] is not None:
        inner = _eigen_gaps(w, v) * matmul(adjoint(v), g[1])
        back = back + matmul(v, matmul(inner, adjoint(v)))
    # Only the Hermitian part acts on a Hermitian change of the matrix.
    return [triangle_gradient((back + adjoint(back)) / 2, lower)]


def _eigh_jvp(ts: Any, y: Any, a: Tensor, lower: bool) -> tuple[Tensor, Tensor]:
    from graphify.ops import elementwise as e

    w, v = y
    inner = matmul(adjoint(v), matmul(hermitian_of(ts[0], lower), v))
    return e.real(diagonal_of(inner)), matmul(v, _eigen_gaps(w, v) * inner)


def _hermitian_samples() -> Any:
    cases = []
    for (a,), _ in square_samples("d")():  # vectors of complex matrices turn freely: tested elsewhere
        h = a + np.swapaxes(a, -1, -2).conj()
        cases += [((h,), {"lower": lower}) for lower in (True, False)]
    return cases


eigh = defop(
    "eigh",
    spec=_eigh_spec,
    eval=lambda a, lower: tuple(np.linalg.eigh(a, _uplo(lower))),
    convert=inexact,
    vjp=_eigh_vjp,
    jvp=_eigh_jvp,
    vmap=over_matrices("eigh"),
    tf="linalg.eigh",
    sample=_hermitian_samples,
    doc="numpy.linalg.eigh; reads one triangle",
)

eigvalsh = defop(
    "eigvalsh",
    spec=lambda a, lower: _eigh_spec(a, lower)[0],
    eval=lambda a, lower: np.linalg.eigvalsh(a, _uplo(lower)),
    convert=inexact,
    vjp=lambda g, y, a, lower: _eigh_vjp((g, None), eigh(a, lower=lower), a, lower),
    jvp=lambda ts, y, a, lower: _eigh_jvp(ts, eigh(a, lower=lower), a, lower)[0],
    vmap=over_matrices("eigvalsh"),
    tf="linalg.eigvalsh",
    sample=_hermitian_samples,
    doc="numpy.linalg.eigvalsh; reads one triangle",
)

# --- eig --------------------------------------------------------------------------------------------


def _complex_only(a: Spec) -> None:
    check_square(a)
    if not is_complex(a.dtype):
        raise SpecError(
            f"eig: the eigenvalues of a {a.dtype.name} matrix are real or complex, as its values say, "
            "so a graph cannot know their dtype",
            remedy="pass a complex matrix, a.astype(complex), or use eigh for a symmetric one",
        )


def _eig_spec(a: Spec) -> tuple[Spec, Spec]:
    _complex_only(a)
    return Spec(a.shape[:-1], a.dtype), a


def _eigvals_spec(a: Spec) -> Spec:
    return _eig_spec(a)[0]


def _no_eig_derivative(*args: Any, **attrs: Any) -> Any:
    raise SpecError(
        "eig: eigenvectors have no derivative: each is known only up to a complex factor",
        remedy="use eigvals for eigenvalues alone, or eigh for a Hermitian matrix",
    )


def _eigensystem_vjp(g: Any, y: Any, a: Tensor) -> list[Tensor]:
    w, v = y
    vh = adjoint(v)
    inner = core.zeros_like(a) if g[1] is None else conjugate(_eigen_gaps(w, v)) * matmul(vh, g[1])
    if g[0] is not None:
        inner = inner + column(g[0]) * _unit_matrix(a)  # type: ignore[operator]
    return [solve(vh, matmul(inner, vh))]


def _eigensystem_jvp(ts: Any, y: Any, a: Tensor) -> tuple[Tensor, Tensor]:
    w, v = y
    inner = solve(v, matmul(ts[0], v))
    return diagonal_of(inner), matmul(v, _eigen_gaps(w, v) * inner)


def _unit_matrix(a: Tensor) -> Tensor:
    """The identity, as large as the matrices of `a`."""
    places = iota(length=a.dims[-1], dtype=np.dtype(np.int64))
    return core.cast(equal(column(places), places), dtype=a.dtype)  # type: ignore[no-any-return]


# What the derivative of `eigvals` is made of. Its vectors stand for directions only: how they scale
# along a change of the matrix is left open, which is enough wherever the scale drops out.
eigensystem = defop(
    "eigensystem",
    spec=_eig_spec,
    eval=lambda a: tuple(np.linalg.eig(a)),
    vjp=_eigensystem_vjp,
    jvp=_eigensystem_jvp,
    vmap=over_matrices("eigensystem"),
    tf="linalg.eig",
    sample=square_samples("D"),
    extra={"gauge": True},
    doc="eigenvalues, and eigenvectors up to a factor",
)


def _eigvals_vjp(g: Tensor, y: Tensor, a: Tensor) -> list[Tensor]:
    vh = adjoint(eigensystem(a)[1])
    return [solve(vh, column(g) * vh)]  # type: ignore[operator]


def _eigvals_jvp(ts: Any, y: Tensor, a: Tensor) -> Tensor:
    v = eigensystem(a)[1]
    return diagonal_of(solve(v, matmul(ts[0], v)))


eig = defop(
    "eig",
    spec=_eig_spec,
    eval=lambda a: tuple(np.linalg.eig(a)),
    convert=inexact,
    vjp=_no_eig_derivative,
    jvp=_no_eig_derivative,
    vmap=over_matrices("eig"),
    tf="linalg.eig",
    sample=square_samples("D"),
    extra={"gauge": True},  # the derivative raises
    doc="numpy.linalg.eig; in graphs of complex matrices",
)
eigvals = defop(
    "eigvals",
    spec=_eigvals_spec,
    eval=lambda a: np.linalg.eigvals(a),
    convert=inexact,
    vjp=_eigvals_vjp,
    jvp=_eigvals_jvp,
    vmap=over_matrices("eigvals"),
    tf="linalg.eigvals",
    sample=square_samples("D"),
    doc="numpy.linalg.eigvals; in graphs of complex matrices",
)

# --- pinv and lstsq -----------------------------------------------------------------------------------


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
    return second - matmul(second, matmul(a, p)) + third - matmul(p, matmul(a, third)) - first  # type: ignore[no-any-return]


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
        rcond = core.reshape(rcond, shape=(rcond.dims[0], *(1,) * (rank - rcond.ndim + 1), *rcond.dims[1:]))
    return pinv(a, rcond, hermitian=hermitian)


def _pinv_samples() -> Any:
    return [((a, np.asarray(1e-15)), {}) for (a,), _ in _rectangles()()]


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
            raise np.linalg.LinAlgError(f"{x.ndim}-dimensional array given. Array must be two-dimensional")
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
    return matmul(_pinv_change(ta, p, a), b) + matmul(p, tb)  # type: ignore[no-any-return]


def _lstsq_convert(a: Any, b: Any, rcond: Any) -> list[Tensor]:
    return [*inexact(a, b), core.strong(rcond)]


def _lstsq_samples() -> Any:
    rng = np.random.default_rng(0)
    shapes = [((4, 2), (4, 3)), ((2, 3), (2, 1))]
    return [((rng.normal(size=s), rng.normal(size=t), np.asarray(1e-15)), {}) for s, t in shapes]


# The minimiser has derivatives; the sums of squares, empty or not as the rank says, are an op apart.
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
    doc="numpy.linalg.lstsq: sums of squared residuals (none where the rank is short), and the rank",
)
