"""Rules that call LAPACK: every dtype, stacks, nothing at all, and what fails."""

from typing import Any

import numpy as np
import pytest

from graphify.engines.base import get_engine
from graphify.engines.native import lapack
from graphify.ir.op import REGISTRY
from tests.engines.native.lowered import agree, complains, graph_of

pytest.importorskip("scipy")

DTYPES = ["f", "d", "F", "D"]
SHAPES = [(3, 3), (1, 1), (40, 40), (2, 3, 4, 4), (0, 3, 3), (2, 0, 0), (0, 0)]


def numbers(shape: tuple[int, ...], dtype: str, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=shape)
    return (x + 1j * rng.normal(size=shape) if dtype in "FD" else x).astype(dtype)


def hermitian(x: Any) -> Any:
    return x + np.swapaxes(x, -1, -2).conj()


def positive(x: Any) -> Any:
    return (x @ np.swapaxes(x, -1, -2).conj() + np.eye(x.shape[-1])).astype(x.dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_square(shape: tuple[int, ...], dtype: str) -> None:
    x = numbers(shape, dtype)
    for name in ("inv", "det", "slogdet"):
        agree(REGISTRY[name], [x], loss=1e4, static=False, host=False)
    agree(REGISTRY["cholesky"], [positive(x)], loss=1e3, static=False, host=False)
    agree(REGISTRY["eigvalsh"], [hermitian(x)], loss=1e3, static=False, host=False, lower=True)
    agree(REGISTRY["svdvals"], [x], loss=1e3, static=False, host=False)


@pytest.mark.parametrize("dtype", DTYPES)
def test_solve(dtype: str) -> None:
    op = REGISTRY["solve"]
    for a, b in [
        ((3, 3), (3, 2)),
        ((30, 30), (30, 1)),
        ((2, 3, 3), (3, 2)),
        ((4, 4), (5, 4, 1)),
        ((2, 1, 3, 3), (4, 3, 2)),
        ((3, 3), (3, 0)),
        ((0, 0), (0, 2)),
        ((0, 3, 3), (3, 2)),
    ]:
        operands = [numbers(a, dtype), numbers(b, dtype, 1)]
        agree(op, operands, loss=1e4, host=False, static=len(a) == 2)


@pytest.mark.parametrize("name", ["solve", "inv"])
def test_singular(name: str) -> None:
    stack = np.stack([np.eye(3), np.ones((3, 3)), np.eye(3)])
    complains(REGISTRY[name], [stack, stack][: 2 - (name == "inv")])
    complains(REGISTRY[name], [stack[1], stack[1]][: 2 - (name == "inv")])


def test_unchecked_inverse() -> None:
    stack = np.stack([np.eye(3) * 2, np.ones((3, 3)), np.eye(3)])
    agree(REGISTRY["inv"], [stack], host=False, check=False)
    agree(REGISTRY["inv"], [stack.astype("F")], host=False, check=False)


def test_singular_determinants() -> None:
    stack = np.stack([np.eye(3), np.ones((3, 3)), np.zeros((3, 3)), np.full((3, 3), np.nan)])
    for dtype in DTYPES:
        agree(REGISTRY["det"], [stack.astype(dtype)], host=False)
        agree(REGISTRY["slogdet"], [stack.astype(dtype)], host=False)


def test_determinants_of_extreme_size() -> None:
    agree(REGISTRY["det"], [np.diag([1e200, 1e200, 1e-300])], loss=1e4, host=False)
    agree(REGISTRY["slogdet"], [np.eye(200) * 1e300], loss=10, host=False)
    agree(REGISTRY["det"], [np.eye(200) * 1e3], host=False)


def test_failures() -> None:
    nan = np.full((3, 3), np.nan)
    complains(REGISTRY["cholesky"], [-np.eye(3)])
    complains(REGISTRY["cholesky"], [np.stack([np.eye(3), -np.eye(3)])])
    complains(REGISTRY["svdvals"], [nan])
    complains(REGISTRY["svd"], [nan], full=False)
    complains(REGISTRY["eig"], [nan.astype(complex)])


@pytest.mark.parametrize("name", ["inv", "det", "slogdet", "cholesky"])
def test_not_square(name: str) -> None:
    complains(REGISTRY[name], [np.ones((2, 3))])
    complains(REGISTRY[name], [np.ones((4, 2, 3))])


def test_solve_with_other_sizes() -> None:
    complains(REGISTRY["solve"], [np.eye(3), np.ones((2, 2))])
    complains(REGISTRY["solve"], [np.ones((2, 3)), np.ones((2, 2))])


def test_one_triangle_is_read() -> None:
    x = positive(numbers((4, 4), "D"))
    x[np.triu_indices(4, 1)] = np.nan
    agree(REGISTRY["cholesky"], [x], loss=100)
    for lower, read in ((True, x), (False, x.T.copy())):
        agree(REGISTRY["eigvalsh"], [read], loss=100, lower=lower)


# --- decompositions: what they are made for, since vectors may turn -------------------------------


def results(name: str, x: Any, **attrs: Any) -> list[Any]:
    graph = graph_of(REGISTRY[name], [x], True, attrs)
    executable = get_engine("native").compile(graph)
    assert "host" not in executable.lowered().text
    want = get_engine("reference").compile(graph)([x])
    got = executable([x])
    assert [(g.shape, g.dtype) for g in got] == [(w.shape, w.dtype) for w in want]
    return list(got)


RECTANGLES = [(4, 3), (3, 4), (3, 3), (30, 7), (2, 5, 2), (1, 1), (0, 3), (3, 0), (0, 2, 2)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", RECTANGLES)
def test_qr(shape: tuple[int, ...], dtype: str) -> None:
    x, close = numbers(shape, dtype), 1e-4 if dtype in "fF" else 1e-12
    for mode in ("reduced", "complete"):
        if 0 in shape and mode == "complete":
            continue
        q, r = results("qr", x, mode=mode)
        np.testing.assert_allclose(q @ r, x, atol=close)
        np.testing.assert_allclose(
            np.swapaxes(q, -1, -2).conj() @ q,
            np.broadcast_to(np.eye(q.shape[-1]), (*q.shape[:-2], *[q.shape[-1]] * 2)),
            atol=close,
        )
        np.testing.assert_array_equal(np.triu(r), r)
        want = np.linalg.qr(x, mode)
        np.testing.assert_allclose(q, want[0], atol=close)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", RECTANGLES)
def test_svd(shape: tuple[int, ...], dtype: str) -> None:
    x, close = numbers(shape, dtype), 1e-4 if dtype in "fF" else 1e-12
    for full in (False, True):
        u, s, vh = results("svd", x, full=full)
        k = s.shape[-1]
        product = (u[..., :k] * s[..., None, :]) @ vh[..., :k, :]
        np.testing.assert_allclose(product, x, atol=close)
        want = np.linalg.svd(x, full)
        np.testing.assert_allclose(s, want[1], atol=close)
        np.testing.assert_allclose(np.abs(u), np.abs(want[0]), atol=close)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("lower", [True, False])
def test_eigh(shape: tuple[int, ...], dtype: str, lower: bool) -> None:
    x, close = hermitian(numbers(shape, dtype)), 1e-4 if dtype in "fF" else 1e-11
    w, v = results("eigh", x, lower=lower)
    np.testing.assert_allclose((v * w[..., None, :]) @ np.swapaxes(v, -1, -2).conj(), x, atol=close)
    np.testing.assert_allclose(w, np.linalg.eigvalsh(x), atol=close)


@pytest.mark.parametrize("dtype", ["F", "D"])
@pytest.mark.parametrize("shape", SHAPES)
def test_eig(shape: tuple[int, ...], dtype: str) -> None:
    x, close = numbers(shape, dtype), 1e-4 if dtype == "F" else 1e-11
    w, v = results("eig", x)
    np.testing.assert_allclose(x @ v, v * w[..., None, :], atol=close)
    (alone,) = results("eigvals", x)
    np.testing.assert_allclose(np.sort(alone), np.sort(w), atol=close)


# --- least squares --------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("m", "n", "count"),
    [(5, 3, 2), (3, 5, 2), (3, 3, 1), (4, 2, 0), (0, 3, 2), (3, 0, 2), (30, 4, 3)],
)
def test_lstsq(m: int, n: int, count: int, dtype: str) -> None:
    a, b, rcond = numbers((m, n), dtype), numbers((m, count), dtype, 1), np.asarray(1e-10)
    agree(REGISTRY["lstsq"], [a, b, rcond], loss=1e4, host=False, static=False)
    agree(REGISTRY["lstsq_residuals"], [a, b, rcond], loss=1e4, host=False, static=False)


def test_lstsq_of_short_rank() -> None:
    a, b = np.ones((4, 3)), numbers((4, 2), "d")
    for name in ("lstsq", "lstsq_residuals"):
        agree(REGISTRY[name], [a, b, np.asarray(1e-10)], loss=1e3, host=False)
        complains(REGISTRY[name], [a * np.nan, b, np.asarray(1e-10)])
        complains(REGISTRY[name], [a, b[:3], np.asarray(1e-10)])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(4, 3), (3, 4), (2, 5, 2), (0, 3), (2, 0, 0)])
def test_pinv(shape: tuple[int, ...], dtype: str) -> None:
    x = numbers(shape, dtype)
    agree(REGISTRY["pinv"], [x, np.asarray(1e-15)], loss=1e4, host=False, static=False)


def test_pinv_of_short_rank() -> None:
    x = np.ones((2, 3, 3)) + np.eye(3)[[0]]
    agree(REGISTRY["pinv"], [x, np.array([1e-15, 10.0])], loss=1e3, host=False)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(3, 3), (1, 1), (2, 4, 4), (0, 0)])
def test_adjugate(shape: tuple[int, ...], dtype: str) -> None:
    agree(REGISTRY["adjugate"], [numbers(shape, dtype)], loss=1e4, host=False, static=False)


def test_adjugate_of_singular_matrices() -> None:
    x = np.stack([np.diag([1.0, 2.0, 0.0]), np.ones((3, 3)), np.zeros((3, 3))])
    agree(REGISTRY["adjugate"], [x], loss=1e3, host=False)


# --- without SciPy --------------------------------------------------------------------------------


def test_without_scipy_numpy_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lapack, "available", lambda: False)
    x = numbers((3, 3), "d")
    graph = graph_of(REGISTRY["inv"], [x], True, {})
    executable = get_engine("native").compile(graph)
    assert "host" in executable.lowered().text
    np.testing.assert_allclose(executable([x])[0], np.linalg.inv(x))
