"""Eigenvalues and eigenvectors: eigh of Hermitian matrices, eig of any.

    w, v = eigh(a, lower=True)

Source of the derivatives: Giles 2008, "An extended collection of matrix derivative results".

Vectors of equal eigenvalues are only known up to a rotation. What does not depend on it has a
derivative, and gets it; the ambiguous part counts as zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphify.errors import SpecError
from graphify.ir.op import defop
from graphify.ir.tensor import Tensor
from graphify.ir.types import Spec, is_complex, real_dtype
from graphify.ops import core
from graphify.ops.decompositions import (
    cast_like,
    safe_inverse,
)
from graphify.ops.elementwise import conjugate, equal
from graphify.ops.factor import (
    check_square,
    column,
    diagonal_of,
    hermitian_of,
    inexact,
    over_matrices,
    row,
    solve,
    square_samples,
    triangle_gradient,
)
from graphify.ops.linalg import adjoint, matmul
from graphify.ops.shape import iota

# --- eigh -----------------------------------------------------------------------------------------


def _eigh_spec(a: Spec, lower: bool) -> tuple[Spec, Spec]:
    check_square(a)
    return Spec(a.shape[:-1], real_dtype(a.dtype)), a


def _uplo(lower: bool) -> Any:
    return "L" if lower else "U"


def _eigen_gaps(w: Tensor, v: Tensor) -> Tensor:
    return cast_like(safe_inverse(row(w) - column(w)), v)


def _eigh_vjp(g: Any, y: Any, a: Tensor, lower: bool) -> list[Tensor]:
    w, v = y
    back = core.zeros_like(a) if g[0] is None else matmul(v * row(cast_like(g[0], v)), adjoint(v))
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
    for (a,), _ in square_samples(
        "d"
    )():  # vectors of complex matrices turn freely: tested elsewhere
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

# --- eig ------------------------------------------------------------------------------------------


def _complex_only(a: Spec) -> None:
    check_square(a)
    if not is_complex(a.dtype):
        raise SpecError(
            f"eig: the eigenvalues of a {a.dtype.name} matrix are real or "
            "complex, as its values say, "
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
        inner = inner + column(g[0]) * _unit_matrix(a)
    return [solve(vh, matmul(inner, vh))]


def _eigensystem_jvp(ts: Any, y: Any, a: Tensor) -> tuple[Tensor, Tensor]:
    w, v = y
    inner = solve(v, matmul(ts[0], v))
    return diagonal_of(inner), matmul(v, _eigen_gaps(w, v) * inner)


def _unit_matrix(a: Tensor) -> Tensor:
    """The identity, as large as the matrices of `a`."""
    places = iota(length=a.dims[-1], dtype=np.dtype(np.int64))
    return core.cast(equal(column(places), places), dtype=a.dtype)


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
    return [solve(vh, column(g) * vh)]


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
