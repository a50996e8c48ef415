"""Rules for checks, results of counted size, random bits, and the order of complex numbers."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from graphify.engines.base import get_engine
from graphify.engines.native.lower import RULES
from graphify.ir.context import recording
from graphify.ir.graph import Builder
from graphify.ir.op import REGISTRY
from graphify.ir.sizes import fresh
from graphify.ir.tensor import Tensor
from graphify.ir.types import Spec
from tests.engines.native.lowered import agree, complains, graph_of

BF16 = np.dtype(ml_dtypes.bfloat16)
NAN, INF = np.nan, np.inf


# --- checks ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("x", [-2.7, 2.0**62, -(2.0**63), 0.0, -0.0])
@pytest.mark.parametrize("dtype", ["f", "d", "e", BF16])
def test_to_int_truncates(x: float, dtype: Any) -> None:
    with np.errstate(all="ignore"):
        array = np.asarray(x).astype(dtype)
    if np.isfinite(array):
        agree(REGISTRY["to_int"], [array])


@pytest.mark.parametrize("x", [2**63 - 1, -(2**63), 2**53 + 1])
def test_to_int_of_large_integers(x: int) -> None:
    agree(REGISTRY["to_int"], [np.asarray(x)], host=False)


@pytest.mark.parametrize("x", [NAN, INF, -INF, 2.0**63, -(2.0**64)])
@pytest.mark.parametrize("dtype", ["f", "d"])
def test_to_int_fails(x: float, dtype: str) -> None:
    complains(REGISTRY["to_int"], [np.asarray(x, dtype)])


@pytest.mark.parametrize("dtype", ["b", "i", "l", "Q", "?"])
def test_at_least_zero(dtype: str) -> None:
    agree(REGISTRY["at_least_zero"], [np.array([[0, 1], [3, 0]], dtype)])
    agree(REGISTRY["at_least_zero"], [np.zeros((0, 3), dtype)])


def test_at_least_zero_fails() -> None:
    complains(REGISTRY["at_least_zero"], [np.arange(100) - np.eye(100, dtype=int)[0]])


def test_not_all() -> None:
    agree(REGISTRY["not_all"], [np.zeros((3, 0), bool)])
    complains(REGISTRY["not_all"], [np.arange(50) == 49])


def test_in_range_broadcasts_limits() -> None:
    attrs = {"error": "IndexError", "message": "{bad} is not below {high}"}
    x = np.array([[0, 1, 2], [3, 4, 5]])
    agree(REGISTRY["in_range"], [x, np.array([[0], [3]]), np.array([[3], [6]])], **attrs)
    agree(REGISTRY["in_range"], [np.array([NAN]), np.array(0.0), np.array(1.0)], **attrs)
    complains(REGISTRY["in_range"], [x, np.array(0), np.array(5)], **attrs)
    complains(REGISTRY["in_range"], [x, np.array(1), np.array(9)], **attrs)


@pytest.mark.parametrize("comparison", ["equal", "none_equal", "greater", "less_equal"])
def test_check(comparison: str) -> None:
    x, y = np.array([[1.0, 2.0]]), np.array([[1.0], [2.0]])
    holds = {"equal": (x, x), "none_equal": (x, -y), "greater": (x, -y), "less_equal": (-x, y)}
    attrs = {"comparison": comparison, "message": "here"}
    agree(REGISTRY["check"], list(holds[comparison]), **attrs)
    complains(REGISTRY["check"], [x, np.where(y > 1, NAN, y)], **attrs)


# --- counted sizes --------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["?", "b", "H", "l", "f", "d", "e", "D", BF16])
@pytest.mark.parametrize("shape", [(7,), (3, 4), (2, 3, 4), (0,), (0, 3), (3000,)])
def test_nonzero(dtype: Any, shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(0).integers(0, 2, shape).astype(dtype)
    agree(REGISTRY["nonzero"], [x])


def test_nonzero_of_nan_zeros_and_everything() -> None:
    agree(REGISTRY["nonzero"], [np.array([NAN, -0.0, 0.0, INF])])
    agree(REGISTRY["nonzero"], [np.array([1j, 0, complex(NAN, 0)])])
    agree(REGISTRY["nonzero"], [np.ones((5, 5))])
    agree(REGISTRY["nonzero"], [np.zeros((5, 5))])


@pytest.mark.parametrize("dtype", ["?", "b", "i", "l", "I"])
@pytest.mark.parametrize("counts", [[2, 0, 3], [], [0, 0], [100, 1, 70], [5]])
def test_repeat_indices(dtype: str, counts: list[int]) -> None:
    agree(REGISTRY["repeat_indices"], [np.array(counts).astype(dtype)])


@pytest.mark.parametrize("counts", [[1, -1], [-5]])
def test_repeat_indices_fails(counts: list[int]) -> None:
    complains(REGISTRY["repeat_indices"], [np.array(counts)])


def test_repeat_indices_beyond_memory() -> None:
    graph = Builder()
    with recording(graph):
        counts = Tensor(graph.param(Spec((fresh("n"),), np.dtype(np.int64))))
        result = REGISTRY["repeat_indices"](counts)
    executable = get_engine("native").compile(graph.finish([result._value]))
    with pytest.raises(MemoryError, match="9.22e\\+18|1.84e\\+19"):
        executable([np.full(4, 1 << 62)])


# --- random bits ----------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [8, 16, 32, 64])
@pytest.mark.parametrize("shape", [(), (5,), (300, 3), (2, 100), (0,), (4, 0)])
def test_random_bits(width: int, shape: tuple[int, ...]) -> None:
    op, keys = REGISTRY["random_bits"], np.array([[1, 2], [2**32 - 1, 7], [0, 0]], np.uint32)
    start = np.array(2**32 - 3, np.uint64)
    for operands in ([keys[0], start], [keys, start], [keys, np.arange(3, dtype=np.uint64)]):
        graph = graph_of(op, operands, False, {"shape": shape, "width": width})
        want = get_engine("reference").compile(graph)(operands)
        got = get_engine("native").compile(graph)(operands)
        np.testing.assert_array_equal(got[0], want[0])
        assert got[0].dtype == want[0].dtype


# --- the order of numbers -------------------------------------------------------------------------

COMPLEX = np.array(
    [[1 + 2j, 1 + 3j, 1 - 1j], [0.5 + 9j, 1 + 3j, 0.5 - 9j], [2, complex(NAN, 1), complex(0, NAN)]]
)


@pytest.mark.parametrize("rows", [slice(0, 2), slice(0, 3)])
@pytest.mark.parametrize("axis", [0, 1])
def test_extremes_of_complex_numbers(rows: slice, axis: int) -> None:
    for dtype in ("F", "D"):
        x = COMPLEX[rows].astype(dtype)
        for name in ("reduce_max", "reduce_min"):
            agree(REGISTRY[name], [x], axes=(axis,))
            agree(REGISTRY[name], [x], axes=(0, 1))
        for name in ("argmax", "argmin", "cummax", "cummin"):
            agree(REGISTRY[name], [x], axis=axis)


@pytest.mark.parametrize("dtype", ["e", BF16])
def test_places_of_extremes_of_small_floats(dtype: Any) -> None:
    for row in ([1, 3, 3, 2], [1, NAN, 5, NAN], [-INF, INF, -0.0, 0.0], [-0.0, 0.0, -0.0, 0.0]):
        x = np.array([row, row[::-1]]).astype(dtype)
        for name in ("argmax", "argmin"):
            for axis in (0, 1):
                agree(REGISTRY[name], [x], axis=axis)


# --- sums to a shape that only the run knows ------------------------------------------------------


@pytest.mark.parametrize("dtype", ["e", "f", "d", "l", "D", BF16])
@pytest.mark.parametrize("target", [(1, 4), (3, 1), (1, 1), (3, 4)])
def test_sum_to_a_shape_of_the_run(dtype: Any, target: tuple[int, int]) -> None:
    builder, dtype = Builder(), np.dtype(dtype)
    with recording(builder):
        a, b, c, d = (fresh("n") for _ in range(4))
        x = Tensor(builder.param(Spec((2, a, b), dtype)))
        like = Tensor(builder.param(Spec((c, d), dtype)))
        y = REGISTRY["sum_to"](x, shape=(c, d))
        values = [y._value, like._value]
    graph = builder.finish(values)
    rng = np.random.default_rng(0)
    feeds = [(rng.normal(size=(2, 3, 4)) * 4).astype(dtype), np.zeros(target, dtype)]
    executable = get_engine("native").compile(graph)
    assert "host" not in executable.lowered().text
    want = get_engine("reference").compile(graph)(feeds)
    np.testing.assert_allclose(
        executable(feeds)[0].astype(complex), want[0].astype(complex), rtol=2e-2, atol=1e-1
    )


def test_there_are_rules() -> None:
    names = "to_int at_least_zero not_all check in_range nonzero repeat_indices random_bits"
    assert set(names.split()) <= RULES.keys()
