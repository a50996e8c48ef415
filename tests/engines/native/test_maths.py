"""Float functions of the native engine: units in the last place against exact values, edge cases.

Every function is run as float and double, one lane at a time and in whole registers, and in the
forms for CPUs without AVX-512 and without multiply-add.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from graphify.engines.native import maths
from graphify.engines.native.elements.element import Element
from graphify.engines.native.llvm import F64 as DOUBLE
from graphify.engines.native.llvm import Function, Module, V
from graphify.engines.native.target import Target, describe, host
from tests.engines.native import references
from tests.engines.native.kernels import Kernels

Array = np.ndarray[Any, Any]
F32, F64 = np.dtype(np.float32), np.dtype(np.float64)
SHAPES = [
    (d, lanes) for d, all_lanes in ((F32, (1, 8, 16)), (F64, (1, 4, 8))) for lanes in all_lanes
]
LONG_DOUBLE = np.finfo(np.longdouble).nmant >= 60

# Largest error in units of the last place: float32, float64.
BOUNDS = {
    "exp": (1.1, 1.1),
    "exp2": (1.0, 1.0),
    "expm1": (1.1, 1.2),
    "log": (1.0, 1.0),
    "log2": (1.2, 1.2),
    "log10": (1.1, 1.1),
    "log1p": (1.0, 1.0),
    "cbrt": (0.6, 0.6),
    "sin": (1.0, 1.0),
    "cos": (1.0, 1.0),
    "tan": (1.3, 1.3),
    "arcsin": (0.8, 0.8),
    "arccos": (0.8, 0.8),
    "arctan": (1.3, 1.3),
    "arctan2": (1.3, 1.3),
    "sinh": (0.9, 0.9),
    "cosh": (0.9, 0.9),
    "tanh": (1.1, 1.3),
    "arcsinh": (1.0, 1.0),
    "arccosh": (1.0, 1.0),
    "arctanh": (1.0, 1.0),
    "sigmoid": (1.6, 1.6),
    "erf": (1.4, 1.8),
    "erfc": (0.6, 2.0),
    "hypot": (0.6, 1.1),
    "power": (0.6, 1.5),
    "float_power": (0.6, 1.5),
    "logaddexp": (1.5, 1.5),
    "logaddexp2": (1.5, 1.5),
}
# Equal to NumPy's, bit for bit.
EXACT = (
    "sqrt floor ceil trunc rint fmod remainder floor_divide copysign nextafter spacing maximum "
    "minimum fmax fmin heaviside sign fabs reciprocal square deg2rad rad2deg"
).split()
TWO = {"arctan2", "hypot", "power", "float_power", "logaddexp", "logaddexp2", "fmod", "remainder"}
TWO |= {"floor_divide", "copysign", "nextafter", "maximum", "minimum", "fmax", "fmin", "heaviside"}


def _sigmoid(x: Array) -> Array:
    e = np.exp(-abs(x))
    return np.where(x < 0, e, 1) / (1 + e)


REFERENCE: dict[str, Callable[..., Array]] = {
    name: getattr(np, name) for name in [*BOUNDS, *EXACT] if hasattr(np, name)
}
REFERENCE |= {"sigmoid": _sigmoid, "float_power": np.power}
REFERENCE |= {"erf": references.erf, "erfc": references.erfc}


def without(*names: str) -> Target:
    """The host, had it not these features."""
    features = [f for f in host().features.split(",") if not f.startswith(tuple(names))]
    return describe(host().triple, host().cpu, ",".join(features))


TARGETS = {
    "host": lambda: None,
    "no AVX-512": lambda: without("+avx512"),
    "no multiply-add": lambda: without("+avx512", "+fma"),
}


@functools.cache
def kernels(dtype: np.dtype[Any], lanes: int, target: str) -> Kernels:
    """Every function for one type and number of lanes, in one module."""
    made = Kernels("maths", TARGETS[target]())
    for name in [*BOUNDS, *EXACT]:
        made.add(name, lanes, [dtype] * (1 + (name in TWO)), [dtype], _body(name, dtype))
    return made


def _body(name: str, dtype: np.dtype[Any]) -> Callable[..., list[Element]]:
    def body(f: Function, *elements: Element) -> list[Element]:
        return [Element(dtype, (maths.call(f, name, *(e.parts[0] for e in elements)),))]

    return body


# --- samples --------------------------------------------------------------------------------------


@functools.cache
def edges(dtype: np.dtype[Any]) -> Array:
    """Special values, powers, and their neighbours."""
    info = np.finfo(dtype)
    limits = [info.max, info.tiny, info.smallest_subnormal, info.tiny / 2, info.eps, 1 - info.eps]
    turns = [
        np.pi,
        np.pi / 2,
        np.pi / 4,
        88.72,
        88.73,
        709.78,
        709.79,
        103.97,
        745.1,
        89.42,
        710.48,
    ]
    plain = [0, 1, 0.5, 2, 3, 10, 100, 1000, 0.75, 1.5, 1e5, 1e9, 1e22, np.inf, np.nan]
    x = np.array([*limits, *turns, *plain], dtype)
    x = np.concatenate([x, np.nextafter(x, dtype.type(np.inf)), np.nextafter(x, dtype.type(0))])
    return np.concatenate([x, -x])


def anything(dtype: np.dtype[Any], rng: np.random.Generator, count: int) -> Array:
    """Any bits: all exponents alike, some NaN."""
    kind = np.dtype(f"u{dtype.itemsize}")
    return rng.integers(0, 2 ** (8 * dtype.itemsize) - 1, count, kind, endpoint=True).view(dtype)


def samples(name: str, dtype: np.dtype[Any], count: int = 20_000) -> Iterator[tuple[Array, ...]]:
    rng = np.random.default_rng(7)
    sizes = (1, 10, 100, 800, 1e6)
    if name not in TWO:
        yield (edges(dtype),)
        yield (anything(dtype, rng, 5 * count),)
        for size in sizes:
            yield (rng.uniform(-size, size, count).astype(dtype),)
        yield (rng.uniform(0.5, 2, count).astype(dtype),)
        yield ((10 ** rng.uniform(-9, 0, count) * rng.choice([-1, 1], count)).astype(dtype),)
        return
    a, b = np.meshgrid(edges(dtype), edges(dtype))
    yield a.ravel(), b.ravel()
    yield anything(dtype, rng, count), anything(dtype, rng, count)
    for size in sizes:
        x, y = rng.uniform(-size, size, (2, count)).astype(dtype)
        yield x, y
        yield np.rint(x), np.rint(y)
        yield np.rint(x) * y, y  # (nearly) multiples
    base = np.exp(rng.uniform(-60, 60, count)).astype(dtype)
    near = (1 + rng.uniform(-1, 1, count) * 10 ** rng.uniform(-8, -1, count)).astype(dtype)
    for x in (base, near):  # powers over the whole range of results
        exponent = rng.uniform(-700, 700, count) if dtype == F64 else rng.uniform(-87, 87, count)
        with np.errstate(all="ignore"):
            yield x, (exponent / np.log(x.astype(float))).astype(dtype)


# --- accuracy -------------------------------------------------------------------------------------


def check_close(name: str, y: Array, xs: tuple[Array, ...], bound: float) -> None:
    wide = np.longdouble if y.dtype == F64 else np.float64
    exact = REFERENCE[name](*(x.astype(wide) for x in xs))
    rounded = exact.astype(y.dtype)
    scale = abs(rounded)
    if name.startswith("logaddexp"):  # the terms of a sum that may cancel
        scale = np.maximum(scale, np.maximum(*map(abs, xs))).clip(min=y.dtype.type(np.log(2)))
    finite = np.isfinite(rounded) & np.isfinite(y)
    _none(name, xs, y, rounded, np.isnan(y) != np.isnan(rounded))
    _none(name, xs, y, rounded, (np.isinf(y) | np.isinf(rounded)) & (y != rounded))
    if not name.startswith("logaddexp"):
        zeros = (y == 0) & (rounded == 0)
        _none(name, xs, y, rounded, zeros & (np.signbit(y) != np.signbit(rounded)))
    error = np.where(finite, abs(y.astype(wide) - exact) / np.spacing(scale).astype(wide), 0)
    _none(name, xs, y, rounded, error > bound)


def check_equal(name: str, y: Array, xs: tuple[Array, ...]) -> None:
    expected = REFERENCE[name](*xs)
    same = (y == expected) & (np.signbit(y) == np.signbit(expected))
    _none(name, xs, y, expected, ~(same | (np.isnan(y) & np.isnan(expected))))


def _none(name: str, xs: tuple[Array, ...], y: Array, expected: Array, wrong: Array) -> None:
    assert not wrong.any(), [
        f"{name}({', '.join(repr(x[i].item()) for x in xs)}) = {y[i]!r}, not {expected[i]!r}"
        for i in np.flatnonzero(wrong)[:5]
    ]


def check(name: str, dtype: np.dtype[Any], lanes: int, target: str, slack: float = 1.0) -> None:
    if name in BOUNDS and dtype == F64 and not LONG_DOUBLE:
        pytest.skip("no wider type to compare with")
    run = kernels(dtype, lanes, target).run
    with np.errstate(all="ignore"):
        for xs in samples(name, dtype):
            (y,) = run(name, *xs)
            if name in EXACT:
                check_equal(name, y, xs)
            else:
                check_close(name, y, xs, BOUNDS[name][dtype == F64] * slack)


@pytest.mark.parametrize("name", [*BOUNDS, *EXACT])
@pytest.mark.parametrize(("dtype", "lanes"), SHAPES, ids=lambda p: str(p))
def test_function(name: str, dtype: np.dtype[Any], lanes: int) -> None:
    check(name, dtype, lanes, "host")


@pytest.mark.parametrize("name", [*BOUNDS, *EXACT])
@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
@pytest.mark.parametrize("target", list(TARGETS)[1:])
def test_function_on_lesser_machines(name: str, dtype: np.dtype[Any], target: str) -> None:
    slack = 1.9 if target == "no multiply-add" else 1.0
    check(name, dtype, 4, target, slack)


@pytest.mark.parametrize("name", ["exp", "log", "sin", "power", "fmod"])
@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
@pytest.mark.parametrize("lanes", [2, 32])
def test_lanes_that_fill_no_register_or_several(
    name: str, dtype: np.dtype[Any], lanes: int
) -> None:
    check(name, dtype, lanes, "host")


@pytest.mark.parametrize("name", [n for n in BOUNDS if n not in TWO])
def test_every_float_with_a_stride(name: str) -> None:
    """All sizes of float32, every 20,011th number."""
    x = np.arange(0, 2**32, 20_011, dtype=np.uint64).astype(np.uint32).view(np.float32)
    with np.errstate(all="ignore"):
        (y,) = kernels(F32, 16, "host").run(name, x)
        check_close(name, y, (x,), BOUNDS[name][0])


@pytest.mark.parametrize(
    "x", [6381956970095103 * 2.0**797, 1e300, 2.0**1023, 1e22, 16367173 * 2.0**72]
)
def test_sine_of_huge_numbers(x: float) -> None:
    """Among them the double and the float that come closest to a multiple of pi/2."""
    xs = (np.array([x, -x, 1.0, np.inf]),)
    with np.errstate(all="ignore"):
        for name in ("sin", "cos", "tan"):
            (y,) = kernels(F64, 4, "host").run(name, *xs)
            check_close(name, y, xs, 1.3)


# --- functions of integers ------------------------------------------------------------------------


@functools.cache
def integer_kernels(target: str) -> Kernels:
    made = Kernels("exponents", TARGETS[target]())
    for dtype in (F32, F64):
        for lanes in (1, 8):
            for kind in (np.dtype(np.int32), np.dtype(np.int64)):
                name = f"ldexp {dtype} {kind} {lanes}".replace(" ", "_")
                made.add(name, lanes, [dtype, kind], [dtype], _body("ldexp", dtype))
            outputs = [dtype, np.dtype(np.int32)]
            made.add(f"frexp_{dtype}_{lanes}", lanes, [dtype], outputs, _frexp(dtype))
    return made


def _frexp(dtype: np.dtype[Any]) -> Callable[..., list[Element]]:
    def body(f: Function, x: Element) -> list[Element]:
        parts: tuple[V, V] = maths.frexp(f, x.parts[0])
        return [Element(dtype, parts[:1]), Element(np.dtype(np.int32), parts[1:])]

    return body


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
@pytest.mark.parametrize("lanes", [1, 8])
def test_ldexp_and_frexp(dtype: np.dtype[Any], lanes: int, target: str) -> None:
    rng = np.random.default_rng(1)
    run = integer_kernels(target).run
    x = np.concatenate([edges(dtype), anything(dtype, rng, 20_000)])
    with np.errstate(all="ignore"):
        m, e = run(f"frexp_{dtype}_{lanes}", x)
        expected = np.frexp(x)
        finite = np.isfinite(x)
        assert np.array_equal(m, expected[0], equal_nan=True)
        assert np.array_equal(e[finite], expected[1][finite])
        for kind in (np.dtype(np.int32), np.dtype(np.int64)):
            n = rng.integers(-2200, 2200, x.size).astype(kind)
            n[::3] = rng.integers(-160, 160, n[::3].size)
            n[::50] = rng.choice([np.iinfo(kind).min, np.iinfo(kind).max], n[::50].size)
            (y,) = run(f"ldexp_{dtype}_{kind}_{lanes}", x, n)
            check_equal_values(y, np.ldexp(x, np.clip(n, -5000, 5000).astype(np.int32)))


def check_equal_values(y: Array, expected: Array) -> None:
    same = (y == expected) & (np.signbit(y) == np.signbit(expected))
    assert (same | (np.isnan(y) & np.isnan(expected))).all()


# --- the way they are written ---------------------------------------------------------------------


def test_a_function_stands_once_in_a_module() -> None:
    made = kernels(F32, 16, "host")
    text = made.module.text()
    assert text.count("define internal <16 x float> @maths.exp.v16f32(") == 1
    assert set(maths.FUNCTIONS) >= {*BOUNDS, *EXACT, "ldexp"}


def test_many_calls_are_not_inlined() -> None:
    module = Module("calls")
    f = module.function("f", DOUBLE, [(DOUBLE, "x")])
    y = maths.call(f, "power", f.args["x"], f.args["x"])
    power = module.functions["maths.power.f64"]
    assert "alwaysinline" in power.attributes
    for _ in range(5):
        y = maths.call(f, "power", y, y)
    assert "noinline" in power.attributes
    f.ret(y)
    assert module.text().count("call double @maths.power.f64(") == 6
