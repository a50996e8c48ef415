"""Every elementwise op on every dtype, in one lane and in many: NumPy's results.

Integers and bools bit for bit; floats bit for bit where one rounding is all there is, otherwise
within `ULPS` of the exact value (NumPy's result in more precision); complex numbers by distance.
"""

from __future__ import annotations

import functools
import itertools
import warnings
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import graphify  # noqa: F401  (fills the registry)
from graphify.engines.native.elements.element import Element, constant
from graphify.engines.native.elements.table import SCALARS, apply, loop_dtypes
from graphify.errors import InternalError
from graphify.ir.op import REGISTRY
from graphify.ir.types import BOOL, DTYPES, DType, bfloat16, is_complex, is_float, real_dtype
from tests.engines.native import references
from tests.engines.native.kernels import Kernels

ALL = [name for name, op in REGISTRY.items() if op.extra.get("elementwise")]
OPS = [name for name in ALL if name in SCALARS]
ULPS = 2.0
COMPLEX_EPS = 4.0  # of the size of the exact result

# Ops whose floats are not rounded once: compared with the exact value.
_NAMES = """power float_power exp exp2 expm1 log log2 log10 log1p cbrt logaddexp logaddexp2 sin cos
    tan arcsin arccos arctan arctan2 hypot sinh cosh tanh arcsinh arccosh arctanh deg2rad rad2deg
    erf erfc"""
APPROXIMATE = frozenset(_NAMES.split())
MANY = {1: 64, 2: 32, 4: 16, 8: 8}  # itemsize of a part -> lanes of a 64-byte register


def special(dtype: DType) -> list[Any]:
    """Values where things go wrong."""
    if dtype == BOOL:
        return [False, True]
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        values = [0, 1, 2, 3, 7, 31, 63, 64, limits.max, limits.max - 1, limits.max // 2 + 1]
        return values + ([-1, -2, -3, -7, -31, limits.min, limits.min + 1] if limits.min else [])
    info: Any = ml_dtypes.finfo(dtype)
    positive = [0.0, 1.0, 0.5, 2.0, 3.0, 1.5, 10.0, 0.1, 100.0, np.inf]
    positive += [float(info.max), float(info.tiny), float(info.smallest_subnormal)]
    return [np.nan, *positive, *(-x for x in positive)]


def values(dtype: DType, count: int = 300) -> Any:
    """Special values, then random ones of all sizes."""
    rng = np.random.default_rng(0)
    if is_complex(dtype):
        part = special(np.dtype(f"f{dtype.itemsize // 2}"))
        pairs = np.array(list(itertools.product(part, part)))
        near = rng.normal(size=(count, 2)) * 10.0 ** rng.integers(-3, 3, (count, 2))
        pairs = np.concatenate([pairs, near])
        out = np.empty(len(pairs), dtype)
        out.real, out.imag = pairs[:, 0], pairs[:, 1]
        return out
    if dtype.kind in "biu":
        low, high = (0, 1) if dtype == BOOL else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        rest = rng.integers(
            low, high, count, endpoint=True, dtype=np.int8 if dtype == BOOL else dtype
        )
        small = rng.integers(0, 2 if dtype == BOOL else 12, count)
        return np.concatenate(
            [np.array(special(dtype), dtype), rest.astype(dtype), small.astype(dtype)]
        )
    most = np.log10(float(ml_dtypes.finfo(dtype).max))
    rest = rng.normal(size=count) * 10.0 ** rng.uniform(-most, most - 1, count)
    near = rng.normal(size=count) * 3
    return np.concatenate([np.array(special(dtype)), rest, near]).astype(dtype)


def operands(dtypes: tuple[DType, ...]) -> list[Any]:
    """All pairs of special values, then random ones side by side."""
    columns = [values(d) for d in dtypes]
    if len(columns) == 1:
        return columns
    heads = [len(special(d)) ** (2 if is_complex(d) else 1) for d in dtypes]
    heads = [min(h, 80) for h in heads]
    pairs = np.array(list(itertools.product(*(range(h) for h in heads)))).T
    count = min(len(c) for c in columns)
    rng = np.random.default_rng(1)
    return [
        np.concatenate([c[p], rng.permutation(c)[:count]])
        for c, p in zip(columns, pairs, strict=True)
    ]


@functools.cache
def cases(name: str) -> list[tuple[DType, ...]]:
    """The operand dtypes to try an op with."""
    op = REGISTRY[name]
    ufunc = op.extra.get("ufunc")
    if ufunc is None:
        return {
            "where": [(BOOL, d, d) for d in DTYPES],
            "complex": [(np.dtype(d),) * 2 for d in ("f4", "f8")],
            "real": [(d,) for d in DTYPES],
            "imag": [(d,) for d in DTYPES],
        }.get(name, [(d,) for d in DTYPES if is_float(d)])
    candidates = [(d,) * ufunc.nin for d in DTYPES]
    if name == "ldexp":
        floats = [d for d in DTYPES if is_float(d)]
        candidates = [(d, np.dtype(k)) for d in floats for k in ("i4", "i8")]
    if name in ("less", "equal", "greater_equal", "not_equal", "greater", "less_equal"):
        candidates += [(np.dtype("i8"), np.dtype("u8")), (np.dtype("u8"), np.dtype("i8"))]
    return [c for c in candidates if _accepts(ufunc, c)]


def _accepts(ufunc: Any, dtypes: tuple[DType, ...]) -> bool:
    try:
        return bool(loop_dtypes(ufunc, dtypes))
    except InternalError:
        return False


def results(name: str, dtypes: tuple[DType, ...]) -> tuple[DType, ...]:
    ufunc = REGISTRY[name].extra.get("ufunc")
    if ufunc is not None:
        return loop_dtypes(ufunc, dtypes)[1]
    if name == "complex":
        return (np.dtype(np.complex64 if dtypes[0] == np.float32 else np.complex128),)
    return (real_dtype(dtypes[-1]) if name != "where" else dtypes[-1],)


def lanes_of(name: str, dtypes: tuple[DType, ...]) -> tuple[int, ...]:
    """One and a register full; only the latter where the op just converts its operands."""
    ufunc = REGISTRY[name].extra.get("ufunc")
    converts = ufunc is not None and loop_dtypes(ufunc, dtypes)[0] != dtypes
    full = many((*dtypes, *results(name, dtypes)))
    return (full,) if converts else (1, full)


def many(dtypes: tuple[DType, ...]) -> int:
    return min(MANY.get(d.itemsize // (2 if is_complex(d) else 1), 8) for d in dtypes)


@functools.cache
def kernels(name: str) -> Kernels:
    """All cases of an op in one module."""
    module = Kernels(name)
    for dtypes in cases(name):
        outs = results(name, dtypes)
        for lanes in lanes_of(name, dtypes):

            def body(f: Any, *args: Any, out: DType = outs[0]) -> Any:
                y = apply(f, name, args, out)
                return y if isinstance(y, tuple) else (y,)

            module.add(kernel_name(dtypes, lanes), lanes, dtypes, outs, body)
    return module


def kernel_name(dtypes: tuple[DType, ...], lanes: int) -> str:
    return f"{'_'.join(d.name for d in dtypes)}_{lanes}"


def evaluate(name: str, arrays: Any) -> tuple[Any, ...]:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        y = REGISTRY[name].eval(*arrays)  # type: ignore[misc]
    return y if isinstance(y, tuple) else (np.asarray(y),)


def exact(name: str, arrays: Any) -> Any:
    """The op in more precision, where there is more."""
    more = {"e": "f8", "f": "f8", "d": "g", "F": "D", "D": "G"}
    if name in ("erf", "erfc"):
        return getattr(references, name)(arrays[0].astype(float))
    wide = [
        a.astype("f8" if a.dtype == bfloat16 else more.get(a.dtype.char, a.dtype)) for a in arrays
    ]
    return evaluate(name, wide)[0]


def distance(got: Any, wanted: Any) -> Any:
    """In units of the last place of the wanted value; 0 where both are the same NaN or infinity."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        target = wanted.astype(got.dtype)
        info: Any = ml_dtypes.finfo(got.dtype)
        size = np.maximum(np.abs(wanted).astype(np.longdouble), np.longdouble(info.tiny))
        ulp = np.ldexp(np.longdouble(info.eps), np.frexp(size)[1] - 1)
        error = np.abs(got.astype(np.longdouble) - wanted.astype(np.longdouble)) / ulp
    same = (got == target) | (np.isnan(got) & np.isnan(target))
    return np.where(same, 0.0, np.where(np.isnan(error), np.inf, error))


def identical(got: Any, wanted: Any) -> Any:
    """Bit for bit, but for the bits of NaN."""
    if is_complex(got.dtype):
        return identical(got.real, wanted.real) & identical(got.imag, wanted.imag)
    if not is_float(got.dtype):
        return got == wanted
    both = np.isnan(got) & np.isnan(wanted)
    return both | ((got == wanted) & (np.signbit(got) == np.signbit(wanted)))


def check(name: str, arrays: Any, got: Any, wanted: Any) -> Any:
    """Per element, whether a result will do."""
    composed = is_complex(arrays[0].dtype) and name in ("absolute", "sqrt", "sign")
    if got.dtype.kind in "biu" or (name not in APPROXIMATE and not composed):
        return identical(got, wanted)
    if is_complex(got.dtype):
        return close(name, arrays, got, wanted)
    true = exact(name, arrays)
    near = (distance(got, true) <= ULPS) | identical(got, wanted)
    if name in ("logaddexp", "logaddexp2"):  # they cancel: accurate beside the larger operand
        with np.errstate(all="ignore"):
            bound = np.finfo(np.float16 if got.dtype.itemsize == 2 else got.dtype).eps
            near |= np.abs(got - true) <= 2 * bound * np.maximum(*np.abs(arrays))
    return near


def close(name: str, arrays: Any, got: Any, wanted: Any) -> Any:
    """Complex results near the exact one, or near NumPy's; infinities and NaN where NumPy's are."""
    info = np.finfo(got.dtype)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        true = wanted if name in ("log1p", "expm1") else exact(name, arrays)
        size, judged = np.abs(true), np.ones(got.shape, bool)
        if name in ("log1p", "expm1"):  # NumPy's own formulas, which cancel
            size = size + 1
        if name in ("power", "float_power"):  # their error grows with |b log(a)|, as NumPy's does
            a, b = (x.astype(np.complex128) for x in arrays)
            size = size * (1 + np.nan_to_num(np.abs(b * np.log(a)), posinf=1))
            judged = np.isfinite(a) & np.isfinite(b) & (np.abs(true) < info.max / 4)
        bound = COMPLEX_EPS * info.eps * size + 4 * float(info.smallest_subnormal)
        near = (np.abs(got - true) <= bound) | (np.abs(got - wanted) <= bound)
    return near | parts_close(got, wanted) | ~judged


def parts_close(got: Any, wanted: Any) -> Any:
    eps = COMPLEX_EPS * np.finfo(got.dtype).eps
    with np.errstate(all="ignore"):
        return (
            identical(got.real, wanted.real)
            | (abs(got.real - wanted.real) <= eps * abs(wanted.real))
        ) & (
            identical(got.imag, wanted.imag)
            | (abs(got.imag - wanted.imag) <= eps * abs(wanted.imag))
        )


CASES = [(name, dtypes) for name in OPS for dtypes in cases(name)]


@pytest.mark.parametrize(
    ("name", "dtypes"), CASES, ids=[f"{n}-{'-'.join(d.name for d in ds)}" for n, ds in CASES]
)
def test_op(name: str, dtypes: tuple[DType, ...]) -> None:
    arrays = operands(dtypes)
    if name == "power" and dtypes[0].kind == "i":
        arrays[1] = np.where(arrays[1] < 0, 3, arrays[1]).astype(arrays[1].dtype)
    wanted = evaluate(name, arrays)
    for lanes in lanes_of(name, dtypes):
        got = kernels(name).run(kernel_name(dtypes, lanes), *arrays)
        for y, w in zip(got, wanted, strict=True):
            wrong = np.flatnonzero(~check(name, arrays, y, w))
            shown = [(*(a[i] for a in arrays), y[i], w[i]) for i in wrong[:8]]
            assert not wrong.size, f"{lanes} lanes: {wrong.size} wrong, {shown}"


def test_every_elementwise_op_has_a_rule() -> None:
    assert set(ALL) - set(OPS) <= {"erf", "erfc"}  # those run on the host where `maths` lacks them


# op, the constant second operands to try
CONSTANTS = {
    "power": (0, 1, 2, 3, 4, 5, 17, 63, 64, 65, 99, 100),
    "floor_divide": (1, 2, 3, 7, 0, -1, -3),
    "remainder": (1, 2, 3, 7, 0, -1, -3),
    "left_shift": (0, 1, 7, 8, 31, 64, -1),
    "right_shift": (0, 1, 7, 8, 31, 64, -1),
    "multiply": (0, 2, -1),
}


@pytest.mark.parametrize("name", CONSTANTS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_constant_operand(name: str, dtype: DType) -> None:
    numbers = [n for n in CONSTANTS[name] if n >= 0 or dtype.kind not in "bu"]
    numbers = [n for n in numbers if n <= 1 or dtype != BOOL]
    if name == "power" and not is_complex(dtype):
        numbers += [0.5, -1, -2] if is_float(dtype) else []
    module = Kernels("constants")
    if (dtype, dtype) not in cases(name):
        return
    (out,) = results(name, (dtype, dtype))
    for number in numbers:

        def body(f: Any, x: Element, number: Any = number) -> list[Element]:
            y = apply(f, name, [x, constant(f, dtype, number, x.lanes)], out)
            assert isinstance(y, Element)
            return [y]

        for lanes in (1, 8):
            module.add(f"by_{numbers.index(number)}_{lanes}", lanes, [dtype], [out], body)
    x = values(dtype)
    x = x[np.isfinite(x)] if is_complex(dtype) else x
    for number in numbers:
        arrays = [x, np.full_like(x, number)]
        (wanted,) = evaluate(name, arrays)
        for lanes in (1, 8):
            (got,) = module.run(f"by_{numbers.index(number)}_{lanes}", x)
            wrong = np.flatnonzero(~check(name, arrays, got, wanted))
            shown = [(x[i], got[i], wanted[i]) for i in wrong[:8]]
            assert not wrong.size, f"{number}, {lanes} lanes: {wrong.size} wrong, {shown}"
