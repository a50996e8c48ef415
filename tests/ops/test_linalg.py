"""Derivatives of linear algebra that the op table cannot see: complex vectors, ties, odd shapes.

Vectors of a complex matrix are known up to a phase, so their derivatives are tested through what
does not depend on the phase: a projector, the matrix itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphify.numpy as gnp
from graphify.errors import GraphifyError
from graphify.ir.tensor import Tensor
from graphify.ir.wrapping import as_tensor
from graphify.ops import decompositions as d
from graphify.ops import eigen
from graphify.ops import factor as f
from graphify.ops.einsum import canonical, einsum
from graphify.ops.linalg import adjoint, matmul

RNG = np.random.default_rng(5)


def complex_matrix(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape) + 1j * RNG.normal(size=shape)


def gradient(function: Callable[[Tensor], Tensor], x: np.ndarray) -> np.ndarray:
    return np.asarray(graph_gradient(function, x))


def graph_gradient(function: Callable[[Tensor], Tensor], x: np.ndarray) -> Any:
    import graphify

    t = as_tensor(x)
    with graphify.GradientTape() as tape:
        tape.watch(t)
        y = function(t)
    return tape.gradient(y, t)


def agrees(function: Callable[[Tensor], Tensor], x: np.ndarray, tolerance: float = 1e-5) -> None:
    """The gradient of a real function along a random direction, against central differences."""
    direction = RNG.normal(size=x.shape) + (
        1j * RNG.normal(size=x.shape) if x.dtype.kind == "c" else 0
    )
    h = 1e-6
    up, down = (float(np.asarray(function(as_tensor(x + s * h * direction)))) for s in (1, -1))
    slope = np.real(np.vdot(gradient(function, x), direction))
    np.testing.assert_allclose(slope, (up - down) / (2 * h), rtol=tolerance, atol=tolerance)


def weigh(x: Tensor, weights: np.ndarray) -> Tensor:
    """A real number that depends on every element."""
    return gnp.sum(gnp.real(x * weights))


@pytest.mark.parametrize("shape", [(4, 3), (3, 3), (2, 4)])
def test_complex_svd(shape: tuple[int, ...]) -> None:
    x = complex_matrix(*shape)
    k = min(shape)
    weights = complex_matrix(*shape)
    scale = np.arange(1.0, k + 1)

    def function(a: Tensor) -> Tensor:
        u, s, vh = d.svd(a, full=False)
        return weigh(matmul(u * scale * gnp.exp(-s), vh), weights)

    agrees(function, x)


@pytest.mark.parametrize("lower", [True, False])
def test_complex_eigh(lower: bool) -> None:
    x = complex_matrix(3, 3)
    weights = complex_matrix(3, 3)

    def function(a: Tensor) -> Tensor:
        w, v = eigen.eigh(a, lower=lower)
        return weigh(matmul(v * gnp.array([1.0, 2.0, 4.0]), adjoint(v)), weights) + gnp.sum(w * w)

    agrees(function, x)


def test_eigh_with_equal_eigenvalues() -> None:
    """What does not depend on the choice of vectors has its derivative even at a tie."""
    x = np.eye(3)

    def trace_of_inverse(a: Tensor) -> Tensor:
        w, v = eigen.eigh(a, lower=True)
        return gnp.trace(matmul(v / f.row(w), adjoint(v)))

    np.testing.assert_allclose(gradient(trace_of_inverse, x), -np.eye(3), atol=1e-12)


def test_eigenvalues_of_complex_matrices() -> None:
    weights = complex_matrix(3)
    agrees(
        lambda a: (
            weigh(eigen.eigvals(a) ** 2, np.asarray(1.0)) + 0 * gnp.real(gnp.sum(a * weights))
        ),
        complex_matrix(3, 3),
    )


def test_eigenvectors_refuse() -> None:
    with pytest.raises(GraphifyError, match="eigenvectors have no derivative|eig"):
        gradient(lambda a: gnp.sum(gnp.abs(eigen.eig(a)[1])), complex_matrix(3, 3))


def test_complete_qr_and_full_svd_refuse() -> None:
    with pytest.raises(GraphifyError, match="mode='reduced'"):
        gradient(lambda a: gnp.sum(gnp.linalg.qr(a, "complete")[0]), RNG.normal(size=(3, 2)))
    with pytest.raises(GraphifyError, match="full_matrices=False"):
        gradient(lambda a: gnp.sum(gnp.linalg.svd(a)[0]), RNG.normal(size=(3, 2)))
    assert gradient(lambda a: gnp.sum(gnp.linalg.svd(a)[0]), RNG.normal(size=(2, 2))).shape == (
        2,
        2,
    )


def test_the_determinant_of_a_singular_matrix() -> None:
    x = np.array([[1.0, 2.0], [2.0, 4.0]])
    np.testing.assert_allclose(gradient(gnp.linalg.det, x), [[4.0, -2.0], [-2.0, 1.0]], atol=1e-12)
    np.testing.assert_allclose(
        gradient(gnp.linalg.det, np.zeros((2, 2))), np.zeros((2, 2)), atol=1e-12
    )


@pytest.mark.parametrize(
    "function",
    [
        lambda a: gnp.linalg.norm(a),
        lambda a: gnp.linalg.norm(a, "nuc"),
        lambda a: gnp.linalg.norm(a, 2),
        lambda a: gnp.linalg.norm(a, 1),
        lambda a: gnp.sum(gnp.linalg.norm(a, axis=1)),
        lambda a: gnp.sum(gnp.linalg.norm(a, 3, axis=0)),
        lambda a: gnp.linalg.cond(a),
        lambda a: gnp.sum(gnp.linalg.pinv(a)),
        lambda a: gnp.sum(gnp.linalg.matrix_power(a, 3)),
        lambda a: gnp.sum(gnp.linalg.matrix_power(a, -2)),
        lambda a: gnp.sum(gnp.linalg.lstsq(a, np.array([1.0, 2.0, 3.0]))[0]),
        lambda a: gnp.sum(gnp.kron(a, a)),
        lambda a: gnp.sum(gnp.cross(a[0], a[1])),
        lambda a: gnp.sum(gnp.einsum("ij,jk,ki->k", a, a, a)),
        lambda a: gnp.linalg.slogdet(a)[1],
        lambda a: gnp.sum(gnp.linalg.svdvals(a) ** 3),
        lambda a: gnp.sum(gnp.convolve(a[0], a[1])),
        lambda a: gnp.sum(gnp.linalg.multi_dot([a, a, a])),
        lambda a: gnp.sum(gnp.linalg.cholesky(a @ a.T + 3 * gnp.eye(3))),
        lambda a: gnp.sum(gnp.linalg.solve(a, a.T)),
        lambda a: gnp.sum(gnp.lib.stride_tricks.sliding_window_view(a, (2, 2)) ** 2),
        lambda a: gnp.sum(gnp.pad(a, 2, "reflect") ** 2),
        lambda a: gnp.sum(gnp.insert(a, 1, a[0], axis=0) ** 2),
        lambda a: gnp.sum(gnp.take_along_axis(a, np.array([[0], [2], [2]]), 1) ** 2),
        lambda a: gnp.trace(a**2) + gnp.sum(gnp.diagonal(a, 1) ** 3),
    ],
)
def test_gradients_through_the_functions(function: Any) -> None:
    agrees(function, RNG.normal(size=(3, 3)) + 2 * np.eye(3), 1e-4)


def test_pinv_of_a_matrix_of_lower_rank() -> None:
    """Along changes that keep the rank, the derivative is the formula's."""
    a, b = RNG.normal(size=(4, 2)), RNG.normal(size=(2, 3))
    weights = RNG.normal(size=(3, 4))
    agrees(lambda t: gnp.sum(gnp.linalg.pinv(matmul(t, b), 1e-8) * weights), a, 1e-4)


@pytest.mark.parametrize(
    ("text", "ranks", "want"),
    [
        ("ij,jk", [2, 2], "ij,jk->ik"),
        ("ba", [2], "ba->ab"),
        ("...i->...", [3], "abi->ab"),
        ("...ij,...j", [3, 1], "aij,j->ai"),
        (" i , i -> ", [1, 1], "i,i->"),
    ],
)
def test_canonical_subscripts(text: str, ranks: list[int], want: str) -> None:
    assert canonical(text, ranks) == want


def test_einsum_with_symbols_of_one() -> None:
    """An axis of length one broadcasts, and its gradient sums."""
    x, y = np.ones((1, 3)), np.arange(6.0).reshape(2, 3)
    import graphify

    t = as_tensor(x)
    with graphify.GradientTape() as tape:
        tape.watch(t)
        z = gnp.sum(einsum(t, y, subscripts="ij,ij->i") ** 2)
    got = np.asarray(tape.gradient(z, t))
    np.testing.assert_allclose(got, 2 * (np.array([[3.0], [12.0]]) * y).sum(0, keepdims=True))
