"""Python's own numbers in registers: the exact result, or the reference's error and words."""

from __future__ import annotations

import functools
import itertools
import math
from typing import Any

import numpy as np
import pytest

import graphify  # noqa: F401  (fills the registry)
from graphify.engines.native.elements.checked import Failure, apply_checked, failures_of
from graphify.engines.native.elements.element import Element, splat
from graphify.engines.native.elements.table import loop_dtypes
from graphify.ir.op import REGISTRY
from graphify.ir.types import BOOL, DType
from tests.engines.native.kernels import Kernels

I64, F64 = np.dtype(np.int64), np.dtype(np.float64)
LOW, HIGH = -(2**63), 2**63 - 1
INTEGERS = [LOW, LOW + 1, -(2**62), -(2**32), -3037000500, -7, -2, -1, 0, 1, 2, 3, 5, 31, 39, 40]
INTEGERS += [62, 63, 64, 65, 2**31, 3037000499, 2**32, 2**62, HIGH]
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 3.0, 1e200, -1e200, 1e-200, np.inf, -np.inf, np.nan]
FLOATS += [-2.5, 2.0**63, -(2.0**63), 2.0**63 - 1024, 1e300]
CASES: list[tuple[str, DType, int]] = [
    *((name, I64, 2) for name in ("add", "subtract", "multiply", "floor_divide", "power")),
    *((name, I64, 2) for name in ("left_shift", "right_shift", "remainder")),
    *((name, I64, 1) for name in ("negative", "absolute", "nonzero_divisor", "positive")),
    ("power", F64, 2),
    ("divide", F64, 2),
    ("nonzero_divisor", F64, 1),
    ("to_int", F64, 1),
]


@functools.cache
def compiled(name: str, dtype: DType, count: int, lanes: int) -> tuple[Kernels, list[Failure]]:
    """A kernel that gives the result, then for every failure whether it happened."""
    found: list[Failure] = []

    def body(f: Any, *args: Element) -> list[Element]:
        y, failures = apply_checked(f, name, args, result)
        found.extend(failures)
        flags = [Element(BOOL, (x.condition,)) for x in failures]
        return [y, *flags, *(splat(f, constant_false(f), lanes) for _ in range(3 - len(flags)))]

    def constant_false(f: Any) -> Element:
        from graphify.engines.native.elements.element import constant

        return constant(f, BOOL, False, 1)

    result = I64 if name == "to_int" else F64 if name == "divide" else dtype
    kernels = Kernels("checked")
    kernels.add("k", lanes, [dtype] * count, [result, BOOL, BOOL, BOOL], body)
    return kernels, found


def reference(name: str, values: tuple[Any, ...], dtype: DType) -> Any:
    meaning = REGISTRY[name].meaning(True)
    assert meaning is not None
    try:
        with np.errstate(all="ignore"):
            return meaning(*(np.asarray(v, dtype) for v in values)).item()
    except (ArithmeticError, ValueError) as error:
        return type(error), str(error)


@pytest.mark.parametrize("lanes", [1, 8])
@pytest.mark.parametrize(("name", "dtype", "count"), CASES)
def test_checked(name: str, dtype: DType, count: int, lanes: int) -> None:
    cases = list(itertools.product(INTEGERS if dtype == I64 else FLOATS, repeat=count))
    arrays = [np.array(column, dtype) for column in zip(*cases, strict=True)]
    kernels, failures = compiled(name, dtype, count, lanes)
    result, *flags = kernels.run("k", *arrays)
    for i, values in enumerate(cases):
        happened = [x for x, flag in zip(failures, flags, strict=False) if flag[i]]
        if happened:
            first = happened[0]
            got: Any = first.error, first.message.format(*values[: len(first.values)])
        else:
            got = result[i].item()
        want = reference(name, values, dtype)
        assert alike(got, want), values


def alike(got: Any, want: Any) -> bool:
    """Equal, floats to the last bits."""
    if not isinstance(want, float) or not isinstance(got, float):
        return bool(got == want)
    return (np.isnan(want) and np.isnan(got)) or math.isclose(got, want, rel_tol=4.5e-16)


def test_only_negative_powers_of_integers_fail_in_arrays() -> None:
    def count_of(name: str, *dtypes: Any) -> int:
        seen: list[int] = []

        def body(f: Any, *args: Element) -> list[Element]:
            seen.append(len(failures_of(f, name, args)))
            return []

        Kernels("failures").add("k", 8, [np.dtype(d) for d in dtypes], [], body)
        return seen[0]

    assert count_of("power", "i4", "i4") == 1
    assert count_of("power", "u8", "i8") == count_of("power", "f8", "i8") == 0
    assert count_of("power", "u8", "u8") == count_of("floor_divide", "i4", "i4") == 0
    assert loop_dtypes(np.power, (np.dtype("u8"), I64))[0][1] == F64
