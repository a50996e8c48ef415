"""Running a program: plainly, as eager tensors, and staged; and comparing what comes out.

    report = compare(program)          # None: all agree
    report = compare(program, engines=("reference", "tensorflow"))

Each way of running gives an `Outcome`: the result or the error, and the arguments as they are
afterwards. A program that graphify refuses with an error of its own that names the user's line
counts as refused, not as a difference.
"""

import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import graphify
from graphify.errors import GraphifyError
from graphify.ir.bind import Tensor
from tests.fuzz.generator import Program
from tests.tolerances import assert_close

MAX_LINES = 4000  # of a plain run; longer programs are not worth their time
MAX_ELEMENTS = 20_000
LOSS = 1e4  # sums over and over, in another order


class TooLong(Exception):
    """The program runs too many lines, or its arrays grow too large."""


@dataclass
class Outcome:
    """What one run gives."""

    way: str
    result: Any = None
    error: BaseException | None = None
    arguments: Any = None

    @property
    def refused(self) -> str | None:
        """The message with which graphify declined the program, if it did."""
        if isinstance(self.error, GraphifyError) and not _is_python_error(self.error):
            return f"{type(self.error).__name__}: {self.error.message}"
        return None


def _is_python_error(error: BaseException) -> bool:
    """Errors of operands and shapes stand for NumPy's own TypeError and ValueError."""
    if "cannot be told while tracing" in str(error):
        return False
    return type(error).__name__ in (
        "SpecError",
        "ShapeError",
        "InvalidArgumentError",
        "LeakedTracer",
    )


def _public_class(error: BaseException) -> type[BaseException]:
    """The class users catch: NumPy's own ones stand for the built-in they derive from."""
    return next(c for c in type(error).__mro__ if c.__module__ == "builtins")


@dataclass
class Difference:
    """A program that does not do the same everywhere."""

    program: Program
    way: str
    kind: str  # "result", "error", "missing error", "crash"
    text: str

    def __str__(self) -> str:
        return (
            f"seed {self.program.seed}, {self.way}: {self.kind}: {self.text}\n{self.program.source}"
        )


@dataclass
class Verdict:
    """How a program fared."""

    difference: Difference | None = None
    refused: str | None = None
    skipped: str | None = None
    lazy: int = 0  # errors of values that nobody needs, which graphs do not raise


# --- one run ---


def run_plain(program: Program, variant: int) -> Outcome:
    """Plain Python under NumPy, with a budget.

    Raises:
        TooLong: the budget is spent.
    """
    lines = 0
    filename = program.function.__code__.co_filename

    def watch(frame: Any, event: str, arg: Any) -> Any:
        nonlocal lines
        if frame.f_code.co_filename != filename:
            return None
        lines += 1
        sizes = (v.size for v in frame.f_locals.values() if isinstance(v, np.ndarray))
        if lines > MAX_LINES or max(sizes, default=0) > MAX_ELEMENTS:
            raise TooLong
        return watch

    sys.settrace(watch)
    try:
        outcome = _run("plain", program.function, program.arguments(variant))
    finally:
        sys.settrace(None)
    if isinstance(outcome.error, TooLong):
        raise outcome.error
    return outcome


def run_eager(program: Program, variant: int) -> Outcome:
    """The undecorated function on eager tensors."""
    wrap = lambda v: graphify.numpy.asarray(v) if isinstance(v, np.ndarray) else v  # noqa: E731
    return _run("eager", program.function, [wrap(a) for a in program.arguments(variant)])


def _run(way: str, function: Callable[..., Any], args: list[Any]) -> Outcome:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = function(*args)
        except Exception as error:
            return Outcome(way, error=error, arguments=args)
    return Outcome(way, result, arguments=args)


# --- comparison ---


def compare(
    program: Program,
    engines: Sequence[str] = ("reference",),
    variants: Sequence[int] = (0, 1, 2, 3),
) -> Verdict:
    """Run a program every way and compare with NumPy; the first difference is reported."""
    try:
        plain = [run_plain(program, variant) for variant in variants]
    except TooLong:
        return Verdict(skipped="too long")
    verdict = Verdict()
    for outcome, variant in zip(plain, variants, strict=True):
        if _settle(program, verdict, outcome, run_eager(program, variant)):
            return verdict
    for engine in engines:
        staged = graphify.function(program.function, engine=engine)
        for call, (outcome, variant) in enumerate(zip(plain, variants, strict=True)):
            way = f"{engine}, call {call + 1}"
            got = _run(way, staged, program.arguments(variant))
            if _settle(program, verdict, outcome, got):
                return verdict
            if got.refused:
                break
    return verdict


def _settle(program: Program, verdict: Verdict, want: Outcome, got: Outcome) -> bool:
    """Note how one run fared; True if it differs."""
    if got.refused:
        verdict.refused = got.refused
        return False
    if want.error is not None and got.error is None:
        verdict.lazy += 1  # nobody needed the value that could not be had
        return False
    problem = difference_of(want, got, program.loose)
    if problem is not None:
        verdict.difference = Difference(program, got.way, *problem)
    return problem is not None


def difference_of(want: Outcome, got: Outcome, loose: bool) -> tuple[str, str] | None:
    """What differs, in words; None if nothing does."""
    if want.error is not None or got.error is not None:
        if got.error is None or want.error is None:
            return "error", f"expected {want.error!r}, got {got.error!r}"
        if not isinstance(got.error, _public_class(want.error)):
            return "error", f"expected {want.error!r}, got {got.error!r}"
        return None
    try:
        assert_same(got.result, want.result, loose)
    except AssertionError as error:
        return "result", str(error)
    try:
        assert_same(got.arguments, want.arguments, loose)
    except AssertionError as error:
        return "arguments", str(error)
    return None


def assert_same(got: Any, want: Any, loose: bool, path: str = "result") -> None:
    """Equal structure; leaves of equal dtype, shape and, within tolerance, value."""
    if isinstance(want, list | tuple | dict):
        assert type(got) is type(want), f"{path}: expected {want!r}, got {got!r}"
        assert len(got) == len(want), f"{path}: expected {want!r}, got {got!r}"
        for key in want if isinstance(want, dict) else range(len(want)):
            assert_same(got[key], want[key], loose, f"{path}[{key!r}]")
        return
    is_array = isinstance(want, np.ndarray | np.generic)
    got_array = isinstance(got, Tensor | np.ndarray | np.generic)
    plain_bool = isinstance(want, bool)  # where paths join, a truth value is a tensor
    assert loose or plain_bool or is_array == got_array, f"{path}: expected {want!r}, got {got!r}"
    # Where paths join, a Python int beside a float is a float.
    loose = loose or type(want) is int and type(got) is float
    left, right = np.asarray(got), np.asarray(want)
    if loose and left.dtype != right.dtype:
        wide = np.result_type(left, right)
        left, right = left.astype(wide), right.astype(wide)
    try:
        assert_close(left, right, loss=LOSS)
    except AssertionError as error:
        raise AssertionError(f"{path}: expected {want!r}, got {got!r}: {error}") from None
