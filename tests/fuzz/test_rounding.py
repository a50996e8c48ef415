"""The comparison of random programs: errors are seen, rounding is not taken for one."""

import numpy as np
import pytest

from tests.fuzz.generator import Argument, Program
from tests.fuzz.rounding import shaken_function
from tests.fuzz.running import (
    Outcome,
    compare,
    difference_of,
    explained_by_rounding,
    reads_what_it_has_written,
    run_plain,
)

WELL_CONDITIONED = """
def program(x):
    y = np.tanh(x) * 3.0
    for i in range(3):
        y = y / 1.5 + x.sum() / 7
    return y
"""
CANCELLATION = """
def program(x):
    rest = (x / 3 + 1e6) - 1e6 - x / 3
    return rest / np.abs(rest).max()
"""
OVERFLOW = """
def program(x):
    third = (x[0] / 3) * 3 - x[0] + (x / 7).sum() - x.sum() / 7
    return 1e30 / (third + 1e-40)
"""


OVERLAPPING = """
def program(x):
    part = x[::2]
    part[:] = x[: len(part)]
    return part
"""
TWO_NAMES = """
def program(x):
    rows = [x, x + 1]
    rows[1] = x
    rows[0][0] = 7.0
    return rows
"""


def make(source: str, dtype: str) -> Program:
    return Program(source.lstrip("\n"), [Argument("x", "vector", dtype)], seed=1)


def is_accepted(program: Program, got: np.ndarray) -> bool:
    want = run_plain(program, 0)
    other = Outcome("other", got, arguments=program.arguments(0))
    near = difference_of(want, other, False) is None
    return near or explained_by_rounding(program, 0, want, other)


@pytest.mark.parametrize(("dtype", "error"), [("float32", 1e-3), ("float64", 1e-10)])
def test_errors_are_seen(dtype: str, error: float) -> None:
    program = make(WELL_CONDITIONED, dtype)
    want = run_plain(program, 0).result
    assert is_accepted(program, want)
    assert is_accepted(program, want * np.asarray(1 + np.finfo(dtype).eps, dtype))
    assert not is_accepted(program, (want * (1 + error)).astype(dtype))
    assert not is_accepted(program, np.where(np.arange(5) == 2, np.nan, want).astype(dtype))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_cancellation_leaves_is_not_compared(dtype: str) -> None:
    program = make(CANCELLATION, dtype)
    want = run_plain(program, 0).result
    assert is_accepted(program, (want * 0.9).astype(dtype))
    assert not is_accepted(program, want[:-1])


def test_an_infinity_of_another_sign_can_be_rounding() -> None:
    program = make(OVERFLOW, "float64")
    want = run_plain(program, 0).result
    assert is_accepted(program, -want)
    exact = make("def program(x):\n    return x / 0.0\n", "float64")
    assert not is_accepted(exact, -run_plain(exact, 0).result)


def test_exact_steps_are_left_alone() -> None:
    source = "def program(x):\n    x[1:] += x[:-1] * 4\n    return x.sum() // 2, x % 3, x @ x\n"
    program = make(source, "float64")
    want = run_plain(program, 0)
    for seed in range(5):
        args = program.arguments(0)
        result = shaken_function(program.source, "program", seed)(*args)
        assert all(np.array_equal(a, b) for a, b in zip(result, want.result, strict=True))
        assert np.array_equal(args[0], want.arguments[0])


def test_numpy_reads_what_it_has_just_written() -> None:
    verdict = compare(make(OVERLAPPING, "float64"), ["reference", "native"])
    assert verdict.difference is None
    assert verdict.overlapping


def test_a_list_holds_the_array_itself() -> None:
    program = make(TWO_NAMES, "float64")
    copied = Outcome("other", [np.arange(3), np.arange(3)], arguments=program.arguments(0))
    assert not reads_what_it_has_written(program, 0, copied)
    assert reads_what_it_has_written(program, 0, run_plain(program, 0))
