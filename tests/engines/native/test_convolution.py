"""Convolutions and both their gradients, against the reference meaning of the ops."""

import functools

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from graphify.config import config
from graphify.engines.native import products
from graphify.engines.native.target import describe, host
from graphify.ir.types import bfloat16
from graphify.ops import unrolled
from tests.engines.native.product_calls import EPILOGUE, convolve
from tests.engines.native.test_products import MACHINES, numbers

KINDS = {
    "convolution": ("xw", unrolled.forward),
    "convolution_input": ("yw", unrolled.input),
    "convolution_kernel": ("xy", unrolled.kernel),
}
NARROW = (np.dtype(np.float16), bfloat16)


@pytest.fixture(autouse=True)
def threads():
    config.set_num_threads(3)
    yield
    config.set_num_threads(0)


def check(kind, dtype, samples, axes, groups, channels, features, rng, target=None):
    """One of the ops. Axes: (S, K, O, stride, dilation, padding) each."""
    lengths = list(zip(*axes, strict=True)) or [()] * 6
    s, k, o, strides, dilations, padding = lengths
    shapes = {
        "x": (samples, *s, groups * channels),
        "w": (*k, channels, groups * features),
        "y": (samples, *o, groups * features),
    }
    operands, meaning = KINDS[kind]
    a, b = (numbers(rng, shapes[name], dtype) for name in operands)
    size = {"convolution": o, "convolution_input": s, "convolution_kernel": k}[kind]
    got = convolve(kind, a, b, size, strides, dilations, padding, groups, target=target)
    want = meaning(
        a, b, size=size, strides=strides, dilations=dilations, padding=padding, groups=groups
    )
    text = f"{kind} {dtype} n={samples} g={groups} c={channels} q={features} {axes}"
    np.testing.assert_array_equal(got, want, err_msg=text)


def output_length(s, k, stride, dilation, before, after):
    return max(0, (s + before + after - (k - 1) * dilation - 1) // stride + 1)


def random_axis(rng):
    s, k = int(rng.integers(0, 9)), int(rng.integers(1, 4))
    stride, dilation = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    before, after = (int(p) for p in rng.integers(-1, 5, 2))
    return s, k, output_length(s, k, stride, dilation, before, after), stride, dilation, before


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rank", [0, 1, 2, 3])
@pytest.mark.parametrize("dtype", ["float32", "complex64", "int64", "bool"])
def test_random_geometries(kind, rank, dtype):
    rng = np.random.default_rng(rank)
    for _ in range(60):
        axes = [random_axis(rng) for _ in range(rank)]
        samples, groups = int(rng.integers(1, 4)), int(rng.choice([1, 1, 2, 3]))
        channels, features = (int(c) for c in rng.integers(1, 6, 2))
        check(kind, np.dtype(dtype), samples, axes, groups, channels, features, rng)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [d for d in products.DTYPES if d not in NARROW], ids=str)
def test_every_dtype(kind, dtype):
    rng = np.random.default_rng(4)
    check(kind, dtype, 2, [(9, 3, 7, 1, 1, 0), (20, 4, 10, 2, 1, 1)], 1, 3, 40, rng)
    check(kind, dtype, 3, [(50, 5, 23, 2, 1, 0)], 2, 17, 5, rng)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", NARROW, ids=str)
def test_narrow_dtypes_are_rounded_once(kind, dtype):
    """Small integers: sums are exact in float32, and fit the narrow type."""
    rng = np.random.default_rng(5)
    a, b = (rng.integers(-2, 3, s).astype(dtype) for s in ((2, 30, 4), (3, 4, 6)))
    shapes = {"x": (2, 30, 4), "w": (3, 4, 6), "y": (2, 28, 6)}
    operands, meaning = KINDS[kind]
    a, b = (rng.integers(-1, 2, shapes[name]).astype(dtype) for name in operands)
    attrs = {"strides": (1,), "dilations": (1,), "padding": (0,), "groups": 1}
    size = {"convolution": (28,), "convolution_input": (30,), "convolution_kernel": (3,)}[kind]
    got = convolve(kind, a, b, size, *attrs.values())
    want = meaning(a.astype(np.float32), b.astype(np.float32), size=size, **attrs).astype(dtype)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("kind", KINDS)
def test_large_ones(kind):
    """Many tiles, several parts of the sums, several panels, lines that join."""
    rng = np.random.default_rng(6)
    dtype = np.dtype(np.float32)
    check(kind, dtype, 4, [(1400, 20, 1381, 1, 1, 0)], 1, 30, 64, rng)
    check(kind, dtype, 2, [(28, 3, 28, 1, 1, 1), (28, 3, 28, 1, 1, 1)], 1, 32, 70, rng)
    check(kind, dtype, 2, [(28, 3, 14, 2, 1, 0), (28, 3, 14, 2, 1, 0)], 1, 32, 64, rng)
    check(kind, dtype, 3, [(14, 1, 14, 1, 1, 0), (14, 1, 14, 1, 1, 0)], 1, 64, 96, rng)
    check(kind, dtype, 2, [(14, 3, 14, 1, 1, 1), (14, 3, 14, 1, 1, 1)], 32, 1, 1, rng)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_to_add(kind):
    rng = np.random.default_rng(7)
    dtype = np.dtype(np.float32)
    for samples, axes, channels in (
        (0, [(5, 3, 3, 1, 1, 0)], 2),
        (2, [(0, 3, 2, 1, 1, 2)], 2),
        (2, [(2, 3, 0, 1, 1, 0)], 2),
        (2, [(5, 3, 3, 1, 1, 0)], 0),
        (2, [(5, 3, 5, 1, 1, 1)], 0),
        (2, [(4, 1, 2, 3, 1, 0), (3, 2, 2, 1, 1, 0)], 1),
        (1, [(3, 2, 9, 1, 1, 5)], 2),
    ):
        check(kind, dtype, samples, axes, 1, channels, 3, rng)


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize(
    "axes",
    [[(30, 3, 28, 1, 1, 0)], [(9, 3, 9, 1, 1, 1), (10, 2, 5, 2, 1, 0)], [(6, 1, 6, 1, 1, 0)]],
)
def test_the_epilogue_sees_each_place_once(axes, groups):
    rng = np.random.default_rng(8)
    s, k, o, strides, dilations, padding = zip(*axes, strict=True)
    x = numbers(rng, (2, *s, 3 * groups), np.dtype(np.float32))
    w = numbers(rng, (*k, 3, 40 * groups), np.dtype(np.float32))
    seen = np.zeros((2 * int(np.prod(o)), 40 * groups), np.int64)
    steps = set()

    @EPILOGUE
    def epilogue(context, tile, c_row, c_col, row, column, rows, columns):
        seen[row : row + rows, column : column + columns] += 1
        steps.add((c_row, c_col))

    convolve("convolution", x, w, o, strides, dilations, padding, groups, epilogue)
    assert np.all(seen == 1)
    assert steps == {(40 * groups, 1)}


@pytest.mark.skipif("x86_64" not in host().triple, reason="made for x86-64")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ["float32", "complex128", "int16", "bool"])
@pytest.mark.parametrize("machine", MACHINES)
def test_narrower_vectors(kind, dtype, machine):
    """What other targets get, as far as it can be run here."""
    target = describe(host().triple, host().cpu, MACHINES[machine])
    check_on = functools.partial(check, kind, np.dtype(dtype), target=target)
    rng = np.random.default_rng(9)
    check_on(2, [(9, 3, 7, 1, 1, 0), (20, 4, 10, 2, 1, 1)], 1, 3, 20, rng)
    check_on(3, [(50, 5, 23, 2, 1, 0)], 2, 17, 5, rng)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ["float32", "bool"])
def test_kernels_longer_than_the_input(kind, dtype):
    """Most terms are padding, and skipped."""
    rng = np.random.default_rng(10)
    for s, k, before, after in ((5, 40, 39, 39), (20, 33, 3, 32), (1, 9, 4, 4), (7, 30, 60, 60)):
        for stride in (1, 2):
            line = (s, k, output_length(s, k, stride, 1, before, after), stride, 1, before)
            check(kind, np.dtype(dtype), 2, [line], 1, 3, 5, rng)
            check(kind, np.dtype(dtype), 2, [(4, 3, 4, 1, 1, 1), line], 1, 3, 5, rng)
