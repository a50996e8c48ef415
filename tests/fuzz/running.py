"""Running a program: plainly, as eager tensors, and staged; and comparing what comes out.

    report = compare(program)          # None: all agree
    report = compare(program, engines=("reference", "tensorflow"))

Each way of running gives an `Outcome`: the result or the error, and the arguments as they are
afterwards. A program that graphify refuses with an error of its own that names the user's line
counts as refused, not as a difference.

Values agree within the tolerance that all tests have. Where they do not, the program is run again
with its rounding shaken (see rounding.py): only a difference that rounding explains is let pass.
"""

import ast
import contextlib
import re
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import graphify
from graphify.errors import GraphifyError, InternalError
from graphify.ir.tensor import Tensor
from tests.fuzz.generator import Program, load
from tests.fuzz.rounding import shaken_function
from tests.tolerances import assert_close

MAX_LINES = 4000  # of a plain run; longer programs are not worth their time
MAX_ELEMENTS = 20_000
SHAKES = 40  # runs with noise, where a difference is to be explained
SECONDS = 10  # of a staged run whose plain one ends with an error; twelve times that otherwise
MARGIN = 4  # times what the noise does


class Endless(KeyboardInterrupt):
    """A staged run that does not end: plain Python leaves the loop by an error of an element that
    nobody needs, which a graph does not look up."""


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise Endless after some time, and again every few seconds should a program have caught it;
    where the system can interrupt the main thread. Within another limit, that one goes on."""
    if not hasattr(signal, "SIGALRM") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: Any) -> None:
        raise Endless

    before, began = signal.signal(signal.SIGALRM, stop), time.monotonic()
    outer = signal.setitimer(signal.ITIMER_REAL, seconds, 5)[0]
    try:
        yield
    finally:
        left = max(outer - (time.monotonic() - began), 0.01) if outer else 0
        signal.setitimer(signal.ITIMER_REAL, left, 5 if outer else 0)
        signal.signal(signal.SIGALRM, before)


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
    def contents(self) -> dict[str, Any]:
        """What the run leaves behind."""
        return {"result": self.result, "arguments": self.arguments}

    @property
    def refused(self) -> str | None:
        """The message with which graphify declined the program, if it did."""
        if isinstance(self.error, InternalError):
            return None
        if isinstance(self.error, GraphifyError) and not _is_python_error(self.error):
            return f"{type(self.error).__name__}: {self.error.message}"
        if isinstance(self.error, OverflowError) and "64" in str(self.error):
            return "OverflowError: a Python integer of more than 64 bits"
        return None


def _is_python_error(error: BaseException) -> bool:
    """Errors of operands and shapes stand for NumPy's own TypeError and ValueError."""
    if "cannot be told while tracing" in str(error):
        return False
    return type(error).__name__ in (
        "SpecError",
        "DTypeError",
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
    rounding: int = 0  # results that differ no more than rounding explains
    meaningless: int = 0  # results of casts to integers that cannot hold what is cast
    overlapping: int = 0  # results of NumPy that reads, of an array, what it has just written to it
    wider: int = 0  # results of the dtype that two paths join to, where plain Python has one's own


# --- one run ---


def run_plain(program: Program, variant: int) -> Outcome:
    """Plain Python under NumPy, with a budget.

    Raises:
        TooLong: the budget is spent.
        ComplexWarning: it makes a complex number real, which is an error elsewhere.
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
    if isinstance(outcome.error, TooLong | np.exceptions.ComplexWarning):
        raise outcome.error
    return outcome


def run_eager(program: Program, variant: int) -> Outcome:
    """The undecorated function on eager tensors."""
    given = program.arguments(variant)
    wrapped = [graphify.numpy.asarray(v) if isinstance(v, np.ndarray) else v for v in given]
    return _run("eager", program.function, wrapped)


def _run(way: str, function: Callable[..., Any], args: list[Any]) -> Outcome:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if way == "plain":
            warnings.simplefilter("error", np.exceptions.ComplexWarning)
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
        with limited(2 * SECONDS):
            plain = [run_plain(program, variant) for variant in variants]
    except (TooLong, Endless):  # the latter of integers of a million digits
        return Verdict(skipped="too long")
    except np.exceptions.ComplexWarning:
        return Verdict(skipped="a complex number made real")
    verdict = Verdict()
    for outcome, variant in zip(plain, variants, strict=True):
        if _settle(program, verdict, outcome, run_eager(program, variant), variant):
            return verdict
    for engine in engines:
        staged = graphify.function(program.function, engine=engine)
        for call, (outcome, variant) in enumerate(zip(plain, variants, strict=True)):
            way = f"{engine}, call {call + 1}"
            try:
                with limited(SECONDS if outcome.error is not None else 12 * SECONDS):
                    got = _run(way, staged, program.arguments(variant))
            except Endless:
                if outcome.error is None:
                    verdict.difference = Difference(program, way, "no end", "a run took too long")
                    return verdict
                return Verdict(skipped="too long")
            if isinstance(got.error, MemoryError):  # e.g. of a power on a path that no run takes
                return Verdict(skipped="too large")
            if _settle(program, verdict, outcome, got, variant):
                return verdict
            if got.refused:
                break
    return verdict


def _settle(program: Program, verdict: Verdict, want: Outcome, got: Outcome, variant: int) -> bool:
    """Note how one run fared; True if it differs."""
    if _is_joined_dtype(got):
        verdict.refused = "DTypeError: an array that has another dtype on another path"
        return False
    if want.error is None and "boolean index did not match" in str(got.error):
        verdict.refused = "IndexError: an empty mask, which NumPy takes for an axis of any length"
        return False
    if got.way == "eager" and "unhashable type: 'Tensor'" in str(got.error):
        return False  # only a trace finds a tensor among the keys of a dict by its value
    if got.way == "eager" and "case float(" in program.source:
        return False  # NumPy's float64 is a float of Python's; only a trace takes a tensor for one
    both_overflow = isinstance(want.error, OverflowError) and isinstance(got.error, OverflowError)
    if got.refused and not both_overflow:
        verdict.refused = got.refused
        return False
    if want.error is not None and got.error is None:
        verdict.lazy += 1  # nobody needed the value that could not be had
        return False
    if _ends_by_raise(program, want, got) or _of_another_op(program, want, got):
        verdict.lazy += 1
        return False
    problem = difference_of(want, got, program.loose)
    if problem is None:
        verdict.wider += program.loose and difference_of(want, got, False) is not None
        return False
    if explained_by_rounding(program, variant, want, got):
        verdict.rounding += 1
        return False
    if casts_beyond_range(program, variant):
        verdict.meaningless += 1
        return False
    if reads_what_it_has_written(program, variant, got):
        verdict.overlapping += 1
        return False
    verdict.difference = Difference(program, got.way, *problem)
    return True


def _ends_by_raise(program: Program, want: Outcome, got: Outcome) -> bool:
    """Whether a graph ends by an exception of the program's own, and plain Python at an op before:
    once it is clear that the exception is raised, nobody needs what the op would have given."""
    own = type(got.error).__name__ in program.function.__globals__
    staged = got.way not in ("eager", "shaken")
    return staged and own and isinstance(want.error, IndexError | ValueError | ArithmeticError)


def _of_another_op(program: Program, want: Outcome, got: Outcome) -> bool:
    """Whether two ops fail and a graph, which waits until somebody needs what an op gives, ends by
    the later one. TensorFlow runs ops in any order: of those, by either. In one line, what shapes
    and dtypes tell is raised before an index that only the run knows; in a loop, it may be that of
    a later turn."""
    kinds = IndexError | ValueError | ArithmeticError
    if got.way == "eager" or not (isinstance(want.error, kinds) and isinstance(got.error, kinds)):
        return False
    place = re.search(r'File "<fuzz program \d+>", line (\d+)', str(got.error))
    shown = [int(place[1])] if place else _lines(got.error)
    lines = _lines(want.error)
    if not shown:
        return False
    if any(_is_in_loop_with(program, shown[-1], line) for line in lines):
        return True
    told = isinstance(got.error, ValueError | OverflowError) and isinstance(want.error, IndexError)
    if shown[-1] in lines:
        return told and shown[-1] == lines[-1]
    if told and "truth value of an array" in str(got.error):  # in a loop, lines come again
        return True
    return got.way.startswith("tensorflow") or shown[-1] > lines[0]


def _is_in_loop_with(program: Program, line: int, other: int) -> bool:
    loops = (n for n in ast.walk(ast.parse(program.source)) if isinstance(n, ast.For | ast.While))
    spans = [range(n.body[0].lineno, (n.end_lineno or 0) + 1) for n in loops]
    return any(line in span and other in span for span in spans)


def _lines(error: BaseException) -> list[int]:
    """The lines of the program that an exception came through."""
    frames = traceback.extract_tb(error.__traceback__)
    return [f.lineno or 0 for f in frames if f.filename.startswith("<fuzz program")]


def _is_joined_dtype(got: Outcome) -> bool:
    """Whether an update or index is refused that plain Python may take: where paths join, dtypes
    do, too, and an integer on one path is a float if it is one on the other."""
    text = str(got.error)
    wider = (
        "cannot cast the result",
        "used as indices must be of integer",
        "expected integers",
        "no rule for operands of dtype",
    )
    return got.way not in ("eager", "shaken") and any(part in text for part in wider)


def casts_beyond_range(program: Program, variant: int) -> bool:
    """Whether plain Python casts a NaN, or a number that is too large, to an integer: C leaves open
    what that gives, and NumPy's own answer depends on the place in the array."""
    with np.errstate(all="ignore", invalid="warn"), warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        with contextlib.suppress(Exception):
            program.function(*program.arguments(variant))
    return any("encountered in cast" in str(warning.message) for warning in seen)


def reads_what_it_has_written(program: Program, variant: int, got: Outcome) -> bool:
    """Whether it is NumPy that differs, for it stores an array of one dimension in a part of itself
    of other strides, `y[::2] = y[:3]`: it reads elements that it has just written, where ufuncs and
    graphs read all of them first. With copies on the right, NumPy does what the graph does."""
    source = ast.unparse(ast.fix_missing_locations(_Copying().visit(ast.parse(program.source))))
    function = load(source, program.name)
    function.__globals__["_copied"] = _copied
    want = _run("copying", function, program.arguments(variant))
    return want.error is None and difference_of(want, got, program.loose) is None


class _Copying(ast.NodeTransformer):
    """`y[key] = value` becomes `y[key] = _copied(value, y)`."""

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.targets[0], ast.Subscript):
            target = ast.parse(ast.unparse(node.targets[0].value), mode="eval").body
            node.value = ast.Call(ast.Name("_copied", ast.Load()), [node.value, target], [])
        return node


def _copied(value: Any, target: Any) -> Any:
    arrays = isinstance(value, np.ndarray) and isinstance(target, np.ndarray)
    return value.copy() if arrays and np.may_share_memory(value, target) else value


def explained_by_rounding(program: Program, variant: int, want: Outcome, got: Outcome) -> bool:
    """Whether runs with shaken rounding differ from the plain one as much as `got` does."""
    slack: Any = 0.0
    for seed in range(SHAKES):
        shaken = shaken_function(program.source, program.name, seed)
        other = _run("shaken", shaken, program.arguments(variant))
        if difference_of(other, got, program.loose) is None:
            return True
        if want.error is not None or other.error is not None:
            continue
        found = _apart(want.contents, other.contents)
        if found is None:  # rounding decides which way the program goes
            return True
        slack = tree_map(np.maximum, slack, found) if seed else found
    if want.error is not None or got.error is not None:
        return False
    return difference_of(want, got, program.loose, tree_map(lambda s: s * MARGIN, slack)) is None


def _apart(one: Any, other: Any) -> Any:
    """The distances of all leaves; infinite where only one is finite, None if shapes differ."""
    if isinstance(one, list | tuple | dict):
        keys = list(one) if isinstance(one, dict) else range(len(one))
        if type(one) is not type(other) or len(one) != len(other):
            return None
        if isinstance(one, dict) and list(one) != list(other):
            return None
        found = {key: _apart(one[key], other[key]) for key in keys}
        return None if any(f is None for f in found.values()) else found
    if not isinstance(one, np.ndarray | np.generic | int | float):
        return 0.0
    left, right = np.asarray(one), np.asarray(other)
    if left.shape != right.shape:
        return None
    same = (left == right) | (left != left) & (right != right)
    with np.errstate(all="ignore"):
        distance = np.abs(left.astype(np.longdouble) - right.astype(np.longdouble))
    exact = left.dtype.kind != "f" or right.dtype.kind != "f"  # a whole number, off by rounding
    return np.where(same, 0.0, np.where(np.isfinite(distance) & (not exact), distance, np.inf))


def tree_map(function: Callable[..., Any], first: Any, *rest: Any) -> Any:
    """A function of the leaves of trees that `_apart` makes."""
    if isinstance(first, dict):
        return {k: tree_map(function, v, *(r[k] for r in rest)) for k, v in first.items()}
    return function(first, *rest)


def difference_of(
    want: Outcome, got: Outcome, loose: bool, slack: Any = None
) -> tuple[str, str] | None:
    """What differs by more than `slack`, in words; None if nothing does."""
    if want.error is not None or got.error is not None:
        if got.error is None or want.error is None:
            return "error", f"expected {want.error!r}, got {got.error!r}"
        if not isinstance(got.error, _public_class(want.error)):
            return "error", f"expected {want.error!r}, got {got.error!r}"
        return None
    staged = got.way not in ("eager", "shaken")
    for part in ("result", "arguments"):
        allowed = None if slack is None else slack[part]
        try:
            assert_same(got.contents[part], want.contents[part], loose, part, allowed, staged)
        except AssertionError as error:
            return part, str(error)
    return None


def assert_same(
    got: Any, want: Any, loose: bool, path: str = "result", slack: Any = None, staged: bool = False
) -> None:
    """Equal structure; leaves of equal dtype, shape and, within tolerance and slack, value."""
    if want is None or isinstance(want, str):
        assert got == want, f"{path}: expected {want!r}, got {got!r}"
        return
    if isinstance(want, list | tuple | dict):
        assert type(got) is type(want), f"{path}: expected {want!r}, got {got!r}"
        assert len(got) == len(want), f"{path}: expected {want!r}, got {got!r}"
        if isinstance(want, dict):
            assert_same(list(got), list(want), True, f"{path}.keys()", None, staged)
        for key in want if isinstance(want, dict) else range(len(want)):
            inner = None if slack is None else slack[key]
            assert_same(got[key], want[key], loose, f"{path}[{key!r}]", inner, staged)
        return
    if want is None or isinstance(want, str):
        assert got == want, f"{path}: expected {want!r}, got {got!r}"
        return
    if isinstance(want, set | frozenset):
        assert type(got) is type(want), f"{path}: expected {want!r}, got {got!r}"
        assert_same(sorted(got), sorted(want), True, path, None, staged)
        return
    is_array = isinstance(want, np.ndarray | np.generic)
    got_array = isinstance(got, Tensor | np.ndarray | np.generic)
    # Where paths join, what is a Python number on one and an array on the other is a 0-d tensor.
    joined = isinstance(want, bool) or staged and isinstance(want, int | float)
    assert loose or joined or is_array == got_array, f"{path}: expected {want!r}, got {got!r}"
    # Where paths join, a Python int beside a float is a float.
    loose = loose or type(want) is int and (type(got) is float or joined)
    left, right = np.asarray(got), np.asarray(want)
    if (loose or joined) and left.dtype != right.dtype:
        wide = np.result_type(left, right)
        if right.dtype.kind in "iu" and left.shape == right.shape:  # NumPy's n // 0 is 0 for them
            left = np.where(np.isfinite(left), left, right)
        left, right = left.astype(wide), right.astype(wide)
    try:
        if slack is not None and left.shape == right.shape:
            with np.errstate(all="ignore"):
                near = np.abs(left.astype(np.longdouble) - right.astype(np.longdouble)) <= slack
            left = np.where(near | np.isinf(slack), right, left)
        assert_close(left, right)
    except AssertionError as error:
        raise AssertionError(f"{path}: expected {want!r}, got {got!r}: {error}") from None
