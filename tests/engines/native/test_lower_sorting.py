"""Sorting and searching: NumPy's order for every dtype, stable, along any axis."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from graphify.ir.op import REGISTRY
from tests.engines.native.lowered import agree, agree_in_sizes

DTYPES = ["?", "b", "h", "i", "l", "B", "H", "I", "L", "e", "f", "d", "F", "D"]
RNG = np.random.default_rng(0)
SPECIAL = [np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 1e-40]


def numbers(shape: tuple[int, ...], dtype: Any, special: bool = False) -> Any:
    """Numbers with ties; some of them NaN, infinite, or zeros with a sign."""
    dtype = np.dtype(dtype)

    def part() -> Any:
        if special:
            return RNG.choice(SPECIAL, shape)
        return np.round(RNG.normal(size=shape) * 20)

    x = np.empty(shape, dtype)
    with np.errstate(all="ignore"):
        if dtype.kind == "c":
            x.real, x.imag = part(), part()
        else:
            x[...] = np.abs(part()) if dtype.kind == "u" else part()
    return x


@pytest.mark.parametrize("dtype", DTYPES)
def test_sort_and_argsort(dtype: str) -> None:
    for shapes in ([(0,), (1,), (2,), (30,), (1500,)], [(5, 7), (3, 0), (0, 3), (40, 400)]):
        cases = [[numbers(shape, dtype)] for shape in shapes]
        for axis in range(len(shapes[0])):
            agree_in_sizes(REGISTRY["sort"], cases, axis=axis)
            agree_in_sizes(REGISTRY["argsort"], cases, axis=axis, stable=True)


def test_three_axes() -> None:
    x = numbers((2, 3, 40), "d")
    for axis in range(3):
        agree(REGISTRY["sort"], [x], host=False, axis=axis)
        agree(REGISTRY["argsort"], [x], host=False, axis=axis, stable=True)


@pytest.mark.parametrize("dtype", ["e", "f", "d", "F", "D"])
@pytest.mark.parametrize("size", [9, 40, 1000])
def test_special_numbers(dtype: str, size: int) -> None:
    x = numbers((size,), dtype, special=True)
    bits = dtype not in "FD"  # NumPy's own order of NaN with parts that differ is the same, too
    agree(REGISTRY["sort"], [x], exact=bits, axis=0)
    agree(REGISTRY["argsort"], [x], axis=0, stable=True)
    line, points = np.sort(x), numbers((60,), dtype, special=True)
    for side in ("left", "right"):
        agree(REGISTRY["searchsorted"], [line, points], host=False, side=side)
    for equal_nan in (True, False):
        agree(REGISTRY["unique"], [x], host=False, axis=0, equal_nan=equal_nan)


def test_bfloat16() -> None:
    x = numbers((300,), ml_dtypes.bfloat16)
    agree(REGISTRY["sort"], [x], axis=0)
    agree(REGISTRY["argsort"], [x], axis=0, stable=True)


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("size", [10, 200, 3000])
def test_lines_in_order(order: int, size: int) -> None:
    x = np.arange(size)[::order] // 3
    for dtype in "ld":
        agree(REGISTRY["sort"], [x.astype(dtype)], axis=0)
        agree(REGISTRY["argsort"], [x.astype(dtype)], axis=0, stable=True)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted(dtype: str, side: str) -> None:
    lines = [np.sort(numbers((size,), dtype)) for size in (0, 1, 2, 7, 100)]
    for shapes in ([()], [(0,), (50,)], [(3, 4)]):
        cases = [[line, numbers(shape, dtype)] for line in lines for shape in shapes]
        agree_in_sizes(REGISTRY["searchsorted"], cases, side=side)


@pytest.mark.parametrize("dtype", DTYPES)
def test_unique(dtype: str) -> None:
    cases = [[numbers((size,), dtype)] for size in (0, 1, 5, 300)]
    agree_in_sizes(REGISTRY["unique"], cases, axis=0, equal_nan=True)


def test_unique_rows() -> None:
    x = RNG.integers(0, 2, (20, 3))
    agree(REGISTRY["unique"], [x], axis=0, equal_nan=True)
    agree(REGISTRY["unique"], [x], axis=1, equal_nan=True)
