"""Elements of every dtype from memory, back to it, and into every other dtype."""

from __future__ import annotations

import ctypes
import functools
import warnings
from typing import Any

import numpy as np
import pytest

from graphify.engines.native import jit
from graphify.engines.native.elements.cast import cast
from graphify.engines.native.elements.element import Element, constant, select
from graphify.engines.native.elements.memory import (
    gather,
    lane_indices,
    load,
    load_splat,
    scatter,
    store,
)
from graphify.engines.native.llvm import I64, PTR, VOID, Module, V
from graphify.engines.native.target import describe, host
from graphify.ir.types import BOOL, DTYPES, DType, is_complex, is_float, short_name
from tests.engines.native.kernels import Kernels, element_at
from tests.engines.native.test_elements import identical, values

LANES = [1, 8, 16]
MOST = 16


def sample(dtype: DType) -> Any:
    """Values of a dtype; floats also at the limits of the integers and of the smaller floats."""
    base = values(dtype)
    if dtype.kind in "biu":
        return base
    edges = [6e-8, 2.98e-8, -6e-8, 65504, 65519.99, 65520, 65536, 3.4e38, 3.41e38]
    edges += [1 + 2**-11 + 2.0**-40, 1 + 2**-11, 1 + 3 * 2**-11, 1 + 2**-8 + 2.0**-40]
    powers = 2.0 ** np.arange(-30, 70)
    more = np.concatenate([edges, powers, -powers, powers - 0.5, np.arange(-300, 300) + 0.5])
    with np.errstate(over="ignore"):
        return np.concatenate([base, more.astype(dtype)])


@functools.cache
def casts() -> Kernels:
    kernels = Kernels("casts")
    for source in DTYPES:
        for target in DTYPES:
            for lanes in LANES:

                def body(f: Any, x: Element, target: DType = target) -> list[Element]:
                    return [cast(f, x, target)]

                kernels.add(f"{source}_{target}_{lanes}", lanes, [source], [target], body)
    return kernels


@pytest.mark.parametrize("target", DTYPES, ids=short_name)
@pytest.mark.parametrize("source", DTYPES, ids=short_name)
def test_cast(source: DType, target: DType) -> None:
    x = sample(source)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        drops = is_complex(source) and target.kind not in "bc"
        wanted = (x.real if drops else x).astype(target)
    judged = np.ones(x.shape, bool)
    if target == np.uint32 and (is_float(source) or is_complex(source)):
        # What does not fit depends in NumPy on where in the array it is.
        judged = np.abs(np.nan_to_num(x.real.astype(float), nan=2.0**40)) < 2.0**31
    for lanes in LANES:
        (got,) = casts().run(f"{source}_{target}_{lanes}", x)
        wrong = np.flatnonzero(~identical(got, wanted) & judged)
        assert not wrong.size, (lanes, x[wrong[:5]], got[wrong[:5]], wanted[wrong[:5]])


@pytest.mark.parametrize("target", DTYPES, ids=short_name)
def test_cast_of_a_constant(target: DType) -> None:
    kernels = Kernels("constants")
    for source in DTYPES:

        def body(f: Any, x: Element, source: DType = source) -> list[Element]:
            return [cast(f, constant(f, source, 1, x.lanes), target)]

        kernels.add(source.name, 8, [source], [target], body)
    for source in DTYPES:
        (got,) = kernels.run(source.name, np.zeros(8, source))
        assert (got == np.ones(8, target)).all()


def test_float16_without_instructions_for_it() -> None:
    plain = Kernels("halves", describe(host().triple, "x86-64", "+sse2"))
    half = np.dtype(np.float16)
    for lanes in (1, 8):
        for other in (np.dtype(np.float32), np.dtype(np.float64)):

            def to(f: Any, x: Element) -> list[Element]:
                return [cast(f, x, half)]

            def back(f: Any, x: Element, other: DType = other) -> list[Element]:
                return [cast(f, x, other)]

            plain.add(f"to_{other}_{lanes}", lanes, [other], [half], to)
            plain.add(f"from_{other}_{lanes}", lanes, [half], [other], back)
    every = np.arange(2**16, dtype=np.uint16).view(half)
    for lanes in (1, 8):
        for other in (np.dtype(np.float32), np.dtype(np.float64)):
            (got,) = plain.run(f"from_{other}_{lanes}", every)
            assert identical(got, every.astype(other)).all()
            near = every.astype(other)
            with np.errstate(invalid="ignore", over="ignore"):
                middle = (near[:-1] + near[1:]) / 2
                between = np.concatenate([near, middle, near * (1 + 2**-11 + 2**-20)])
            for x in (between, sample(other)):
                with np.errstate(over="ignore"):
                    want = x.astype(half)
                (got,) = plain.run(f"to_{other}_{lanes}", x)
                assert identical(got, want).all()


# --- memory -------------------------------------------------------------------------------------


@functools.cache
def memory() -> Any:
    """Per dtype and lanes: several ways of copying some lanes from `p` to `q`."""
    module = Module("memory")
    for dtype in DTYPES:
        for lanes in LANES:
            for way, write in WAYS.items():
                params = [(PTR, "p"), (PTR, "q"), (PTR, "m"), (PTR, "i")]
                f = module.function(f"{way}_{dtype}_{lanes}", VOID, params)
                p, q, m, i = f.args.values()
                mask = load(f, BOOL, m, lanes).value
                index = f.load(I64.of(lanes), i, align=8)
                write(f, dtype, lanes, p, q, mask, index)
                f.ret()
    return jit.compile(module.text(), list(module.functions))


def _contiguous(f: Any, d: DType, n: int, p: V, q: V, mask: V, index: V) -> None:
    store(f, load(f, d, element_at(f, p, d, V(I64, "1")), n), q)


def _masked(f: Any, d: DType, n: int, p: V, q: V, mask: V, index: V) -> None:
    store(f, load(f, d, p, n, mask=mask), q)


def _masked_store(f: Any, d: DType, n: int, p: V, q: V, mask: V, index: V) -> None:
    store(f, load(f, d, p, n), q, mask=mask)


def _nontemporal(f: Any, d: DType, n: int, p: V, q: V, mask: V, index: V) -> None:
    store(f, load(f, d, p, n), q, nontemporal=True)


def _gather(f: Any, d: DType, n: int, p: V, q: V, mask: V, index: V) -> None:
    store(f, gather(f, d, p, index), q)


def _masked_gather(f: Any, d: DType, n: int, p: V, q: V, mask: V, index: V) -> None:
    store(f, gather(f, d, p, index, mask), q)


def _scatter(f: Any, d: DType, n: int, p: V, q: V, mask: V, index: V) -> None:
    scatter(f, load(f, d, p, n), q, index)


def _masked_scatter(f: Any, d: DType, n: int, p: V, q: V, mask: V, index: V) -> None:
    scatter(f, load(f, d, p, n), q, index, mask)


def _strided(f: Any, d: DType, n: int, p: V, q: V, mask: V, index: V) -> None:
    store(f, gather(f, d, p, lane_indices(f, V(I64, "30"), -2, n)), q)


def _splat(f: Any, d: DType, n: int, p: V, q: V, mask: V, index: V) -> None:
    store(f, select(f, mask, load_splat(f, d, p, n), load(f, d, p, n)), q)


WAYS = {
    way.__name__: way
    for way in (
        _contiguous,
        _masked,
        _masked_store,
        _nontemporal,
        _gather,
        _masked_gather,
        _scatter,
        _masked_scatter,
        _strided,
        _splat,
    )
}


def expected(way: str, x: Any, y: Any, mask: Any, index: Any) -> Any:
    n = len(mask)
    y = y.copy()
    zero = np.zeros(n, x.dtype)
    match way:
        case "_contiguous":
            y[:n] = x[1 : n + 1]
        case "_masked":
            y[:n] = np.where(mask, x[:n], zero)
        case "_masked_store":
            y[:n] = np.where(mask, x[:n], y[:n])
        case "_nontemporal":
            y[:n] = x[:n]
        case "_gather":
            y[:n] = x[index]
        case "_masked_gather":
            y[:n] = np.where(mask, x[index], zero)
        case "_scatter":
            y[index] = x[:n]
        case "_masked_scatter":
            y[index[mask]] = x[:n][mask]
        case "_strided":
            y[:n] = x[30 - 2 * np.arange(n)]
        case "_splat":
            y[:n] = np.where(mask, x[0], x[:n])
    return y


def aligned(x: Any) -> Any:
    """A copy at a multiple of 64 bytes."""
    raw = np.zeros(x.nbytes + 64, np.uint8)
    start = -raw.ctypes.data % 64
    out = raw[start : start + x.nbytes].view(x.dtype)
    out[:] = x
    return out


@pytest.mark.parametrize("dtype", DTYPES, ids=short_name)
@pytest.mark.parametrize("way", WAYS)
def test_memory(way: str, dtype: DType) -> None:
    rng = np.random.default_rng(0)
    numbers = rng.integers(0, 2 if dtype == BOOL else 100, (2, 64)).astype(dtype)
    for lanes in LANES:
        x, y = aligned(numbers[0]), aligned(numbers[1])
        if is_complex(dtype):
            x.imag = numbers[1].real
        for _ in range(4):
            mask = rng.integers(0, 2, lanes).astype(bool)
            index = rng.permutation(60)[:lanes]
            want = expected(way, x, y, mask, index)
            address = memory().address(f"{way}_{dtype}_{lanes}")
            pointers = [ctypes.c_void_p(a.ctypes.data) for a in (x, y, mask, index)]
            ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)(address)(*pointers)
            assert (y == want).all(), (lanes, mask, index, y, want)


def test_any_byte_but_zero_is_true() -> None:
    kernels = Kernels("bytes")
    kernels.add("same", 16, [BOOL], [BOOL], lambda f, x: [x])
    (got,) = kernels.run("same", np.arange(256, dtype=np.uint8).view(bool))
    assert (got.view(np.uint8) == (np.arange(256) != 0)).all()
