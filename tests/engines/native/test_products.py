"""Matrix products: every dtype, size class, layout and epilogue, against NumPy's."""

import ctypes
import itertools

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from graphify.config import config
from graphify.engines.native import products
from graphify.engines.native.target import describe, host
from graphify.ir.types import bfloat16
from tests.engines.native.product_calls import EPILOGUE, batched_matmul, matmul, on_target

FLOAT16 = np.dtype(np.float16)
NARROW = (FLOAT16, bfloat16)
LARGE = (0, 1, 2, 3, 5, 8, 13, 20, 31, 32, 33, 100, 257)


def numbers(rng, shape, dtype):
    """Numbers whose products are exact in every dtype: sums of any order are equal then."""
    if dtype == np.bool_:
        return rng.random(shape) < 0.2
    if dtype.kind in "iu":  # of the whole range: products wrap
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, shape, dtype, endpoint=True)
    x = rng.integers(-3, 4, shape)
    return (x + 1j * rng.integers(-3, 4, shape) if dtype.kind == "c" else x).astype(dtype)


def expected(a, b):
    if a.dtype in NARROW:
        return (a.astype(np.float32) @ b.astype(np.float32)).astype(a.dtype)
    return a @ b


def check(a, b, c=None):
    got = matmul(a, b, c)
    np.testing.assert_array_equal(got, expected(a, b), err_msg=f"{a.shape} @ {b.shape}")


def laid_out(x, order):
    """The same matrix in another layout."""
    match order:
        case "C":
            return np.ascontiguousarray(x)
        case "F":
            return np.ascontiguousarray(x.T).T
        case "apart":  # both steps larger than one
            room = np.zeros((x.shape[0] * 2, x.shape[1] * 3), x.dtype)
            room[::2, ::3] = x
            return room[::2, ::3]
        case "backwards":
            return np.ascontiguousarray(x[::-1, ::-1])[::-1, ::-1]
    raise AssertionError(order)


@pytest.fixture(autouse=True)
def threads():
    config.set_num_threads(3)
    yield
    config.set_num_threads(0)


@pytest.mark.parametrize("dtype", products.DTYPES, ids=str)
def test_small_sizes(dtype):
    rng = np.random.default_rng(1)
    for m, k, n in itertools.product(range(12), range(6), (*range(5), 9, 16, 17, 20)):
        check(numbers(rng, (m, k), dtype), numbers(rng, (k, n), dtype))


@pytest.mark.parametrize("dtype", products.DTYPES, ids=str)
def test_random_sizes_and_layouts(dtype):
    rng = np.random.default_rng(2)
    layouts = ("C", "F", "apart", "backwards")
    for _ in range(120):
        m, k, n = rng.choice(LARGE, 3)
        a, b, c = (
            laid_out(numbers(rng, shape, dtype), rng.choice(layouts))
            for shape in ((m, k), (k, n), (m, n))
        )
        check(a, b, c)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "int32", "int8", "bool"])
@pytest.mark.parametrize("order", ["CC", "CF", "FC", "FF"])
def test_every_large_size(dtype, order):
    rng = np.random.default_rng(3)
    for m, k, n in ((31, 32, 33), (33, 100, 257), (257, 33, 100), (300, 700, 400), (1, 257, 300)):
        a = laid_out(numbers(rng, (m, k), np.dtype(dtype)), order[0])
        b = laid_out(numbers(rng, (k, n), np.dtype(dtype)), order[1])
        check(a, b)


@pytest.mark.parametrize("dtype", products.DTYPES, ids=str)
def test_products_with_vectors(dtype):
    rng = np.random.default_rng(4)
    for k, n in ((1, 1), (7, 3), (100, 31), (129, 1025), (3000, 5), (70, 2000)):
        for order in ("C", "F", "apart"):
            matrix = laid_out(numbers(rng, (k, n), dtype), order)
            check(numbers(rng, (1, k), dtype), matrix)
            check(matrix.T, laid_out(numbers(rng, (k, 1), dtype), "apart"))
    x = numbers(rng, (1, 10_001), dtype)
    check(x, laid_out(x.T, "apart"))


def test_strides_of_zero():
    rng = np.random.default_rng(5)
    row = numbers(rng, (1, 70), np.dtype(np.float32))
    spread = np.broadcast_to(row, (50, 70))
    square = numbers(rng, (70, 70), np.dtype(np.float32))
    check(spread, square)
    check(square, np.broadcast_to(row.T, (70, 40)))
    check(np.broadcast_to(np.float32(3), (300, 400)), np.broadcast_to(np.float32(2), (400, 300)))


def test_any_byte_but_zero_is_true():
    rng = np.random.default_rng(6)
    for m, k, n in ((5, 6, 7), (1, 200, 30), (200, 1000, 200)):
        bytes_of = [rng.integers(0, 256, s, np.uint8) & 0xF0 for s in ((m, k), (k, n))]
        got = matmul(*(x.view(np.bool_) for x in bytes_of))
        truth = bytes_of[0].astype(bool) @ bytes_of[1].astype(bool)
        assert np.array_equal(got.view(np.uint8), truth.view(np.uint8))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("size", [10, 100, 600])
def test_accuracy(dtype, size):
    """As accurate as NumPy's, against a sum in more digits.

    BLAS adds the four products of complex numbers up apart: fewer roundings in short sums.
    """
    slack = 1.5 if dtype.startswith("complex") else 1.1
    rng = np.random.default_rng(7)
    shapes = ((size, size), (size, size))
    a, b = (rng.standard_normal(s) + 1j * rng.standard_normal(s) for s in shapes)
    if not dtype.startswith("complex"):
        a, b = a.real, b.real
    a, b = a.astype(dtype), b.astype(dtype)
    wide = np.longdouble if not dtype.startswith("complex") else np.clongdouble
    exact = a.astype(wide) @ b.astype(wide) if size <= 100 else a.astype("c16") @ b.astype("c16")
    if size > 100 and dtype in ("float64", "complex128"):
        pytest.skip("too long in more digits")

    def error(x):
        return float(np.sqrt(np.mean(np.abs(x - exact) ** 2)))

    assert error(matmul(a, b)) <= slack * error(a @ b)


@pytest.mark.parametrize("dtype", NARROW, ids=str)
def test_narrow_sums_are_rounded_once(dtype):
    rng = np.random.default_rng(8)
    for k in (40, 1000, 5000):
        a, b = (rng.standard_normal(s).astype(dtype) for s in ((60, k), (k, 70)))
        exact = (a.astype(np.float64) @ b.astype(np.float64)).astype(dtype)
        got = matmul(a, b)
        assert np.mean(got != exact) < 0.01
        apart = np.abs(got.astype(np.float64) - exact.astype(np.float64))
        assert np.all(apart <= 0.01 * np.abs(exact.astype(np.float64)) + 0.01)


def test_nothing_but_the_result_is_written():
    rng = np.random.default_rng(9)
    for m, k, n in ((3, 4, 5), (20, 30, 17), (150, 400, 170), (1, 500, 33)):
        for order in ("C", "F"):
            room = np.full((m + 6, n + 6), 77, np.float32)
            c = room[3:-3, 3:-3]
            if order == "F":
                room = np.full((n + 6, m + 6), 77, np.float32)
                c = room[3:-3, 3:-3].T
            a, b = (numbers(rng, s, np.dtype(np.float32)) for s in ((m, k), (k, n)))
            check(a, b, c)
            c[...] = 77
            assert np.all(room == 77)


# --- epilogues ------------------------------------------------------------------------------------


def recorder(c):
    """An epilogue that counts how often each element was finished, and checks the pointers."""
    seen = np.zeros(c.shape, np.int64)
    steps = tuple(s // c.itemsize for s in c.strides)
    faults = []

    @EPILOGUE
    def epilogue(context, tile, c_row, c_col, row, column, rows, columns):
        seen[row : row + rows, column : column + columns] += 1
        at = c.ctypes.data + (row * steps[0] + column * steps[1]) * c.itemsize
        if tile != at or (c_row, c_col) != steps:
            faults.append((row, column, tile - at, c_row, c_col))

    return epilogue, seen, faults


@pytest.mark.parametrize("order", ["C", "F", "apart"])
@pytest.mark.parametrize(
    "shape", [(10, 10, 10), (1, 70, 100), (100, 70, 1), (40, 0, 30), (700, 600, 500), (257, 3, 9)]
)
def test_the_epilogue_sees_each_element_once(shape, order):
    rng = np.random.default_rng(10)
    m, k, n = shape
    a, b = (numbers(rng, s, np.dtype(np.float32)) for s in ((m, k), (k, n)))
    c = laid_out(np.zeros((m, n), np.float32), order)
    epilogue, seen, faults = recorder(c)
    matmul(a, b, c, epilogue=epilogue)
    assert np.all(seen == 1)
    assert not faults


def test_the_epilogue_may_change_the_tile():
    rng = np.random.default_rng(11)

    @EPILOGUE
    def negate(context, tile, c_row, c_col, row, column, rows, columns):
        for i in range(rows):
            line = (ctypes.c_float * columns).from_address(tile + 4 * i * c_row)
            values = np.frombuffer(line, np.float32)
            np.negative(values, out=values)

    for m, k, n in ((10, 11, 12), (500, 1000, 300)):
        a, b = (numbers(rng, s, np.dtype(np.float32)) for s in ((m, k), (k, n)))
        np.testing.assert_array_equal(matmul(a, b, epilogue=negate), -(a @ b))


# --- batches --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", products.DTYPES, ids=str)
def test_batches(dtype):
    rng = np.random.default_rng(12)
    for count, m, k, n in ((0, 2, 3, 4), (1, 3, 2, 4), (100, 4, 5, 6), (9, 40, 30, 20)):
        a, b = (numbers(rng, s, dtype) for s in ((count, m, k), (count, k, n)))
        want = np.stack([expected(x, y) for x, y in zip(a, b)]) if count else np.zeros((0, m, n))
        np.testing.assert_array_equal(batched_matmul(a, b), want)


@pytest.mark.parametrize("count", [3, 20])
def test_batches_of_large_products(count):
    rng = np.random.default_rng(13)
    a, b = (numbers(rng, s, np.dtype(np.float32)) for s in ((count, 150, 160), (count, 160, 170)))
    np.testing.assert_array_equal(batched_matmul(a, b), a @ b)


def test_batches_that_share_an_operand():
    rng = np.random.default_rng(14)
    a, b = (numbers(rng, s, np.dtype(np.float64)) for s in ((30, 20, 10), (30, 10, 15)))
    for left, right in ((a, b[:1]), (a[:1], b), (a[:, ::-1], b[:1])):
        spread = [np.broadcast_to(x, (30, *x.shape[1:])) for x in (left, right)]
        np.testing.assert_array_equal(batched_matmul(*spread), left @ right)


@pytest.mark.parametrize("shared", [False, True])
def test_epilogues_of_batches(shared):
    rng = np.random.default_rng(15)
    a, b = (numbers(rng, s, np.dtype(np.float32)) for s in ((30, 20, 10), (30, 10, 15)))
    if shared:
        b = np.broadcast_to(b[:1], b.shape)
    c = np.zeros((600, 15), np.float32)
    epilogue, seen, faults = recorder(c)
    got = batched_matmul(a, b, epilogue=epilogue)
    np.testing.assert_array_equal(got, a @ b)
    assert np.all(seen == 1)
    assert {fault[3:] for fault in faults} <= {(15, 1)}


# --- other machines -------------------------------------------------------------------------------

MACHINES = {"avx2": "+avx,+avx2,+fma,+f16c,+sse4.2", "sse": "+sse2,+f16c"}


@pytest.mark.skipif("x86_64" not in host().triple, reason="made for x86-64")
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "int16", "bool", "float16"])
@pytest.mark.parametrize("machine", MACHINES)
def test_narrower_vectors(machine, dtype):
    """What other targets get, as far as it can be run here."""
    target = describe(host().triple, host().cpu, MACHINES[machine])
    function = on_target(np.dtype(dtype), target)
    rng = np.random.default_rng(16)
    for m, k, n in (
        (3, 4, 5),
        (10, 10, 10),
        (33, 100, 57),
        (1, 77, 50),
        (90, 1, 7),
        (200, 300, 130),
    ):
        a, b = (numbers(rng, s, np.dtype(dtype)) for s in ((m, k), (k, n)))
        np.testing.assert_array_equal(matmul(a, b, function=function), expected(a, b))
        right = laid_out(b, "F")
        np.testing.assert_array_equal(matmul(a, right, function=function), expected(a, b))
