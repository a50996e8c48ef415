"""An integer of one path that meets a float: what Python refuses floats for is no Python error."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphify
from graphify.errors import TraceError


def of_a_branch(x, k):
    n = 1
    if x[0] > k:
        n = 1.5
    return n


def of_a_loop(x, k):
    n = 1
    for v in x:
        if v > k:
            n = v
    return n


def of_a_list_that_may_be_empty(x, k):
    return sum([v for v in x if v > k])


def of_an_entry(x, k):
    d = {"u": 1}
    for v in x:
        if v > k:
            d["u"] = v
    return d["u"] + 0


def used_in_a_branch(x, k):
    n = of_a_branch(x, k)
    return n + 1 if x[1] > 1 else n


UNSURE = [of_a_branch, of_a_loop, of_a_list_that_may_be_empty, of_an_entry, used_in_a_branch]

USES: dict[str, Callable[[Any, Any], Any]] = {
    "index": lambda x, n: x[n],
    "index of a list": lambda x, n: [1.0, 2.0, 3.0][n],
    "index of a list that the run makes": lambda x, n: [v for v in x if v > 0][n],
    "insert": lambda x, n: [v for v in x if v > 0].insert(n, 1.0),
    "slice": lambda x, n: x[n:],
    "written slice": lambda x, n: x.__setitem__(slice(n), 0.0),
    "range": lambda x, n: sum(x[0] for _ in range(n)),
    "shape": lambda x, n: np.zeros(n),
    "reshape": lambda x, n: x[:2].reshape(n + 1, -1),
    "and": lambda x, n: n & 1,
    "shift": lambda x, n: 1 << n,
    "invert": lambda x, n: ~n,
    "islice": lambda x, n: np.array(list(itertools.islice(x, n))),
}


@pytest.mark.parametrize("unsure", UNSURE)
@pytest.mark.parametrize("use", USES)
def test_a_float_that_may_be_an_integer_is_refused(use: str, unsure: Any) -> None:
    """Plain Python takes the integer of this path: the refusal is graphify's own."""
    used = USES[use]

    def program(x, k):
        try:
            return used(x, unsure(x, k))
        except (TypeError, IndexError, ValueError):
            return -1.0

    x = np.arange(1.0, 6.0)
    program(x.copy(), 100.0)
    with pytest.raises(TraceError, match=r"may be an integer on one path and a float on another"):
        graphify.function(program)(x, 100.0)


@pytest.mark.parametrize("use", USES)
def test_a_float_for_sure_is_pythons_error(use: str) -> None:
    """It is caught where Python catches it, in branches and loops, too."""
    used = USES[use]

    def caught(x, k):
        n = x[0] * 2.0
        try:
            return used(x, n)
        except (TypeError, IndexError, ValueError):
            return -1.0

    def in_a_branch(x, k):
        return used(x, k) if x[0] > 0 else None

    x = np.arange(1.0, 6.0)
    assert caught(x, 1.0) == -1.0 and graphify.function(caught)(x, 1.0) == -1.0
    with pytest.raises((TypeError, IndexError, ValueError)) as plain:
        in_a_branch(x, np.float64(1.0))
    with pytest.raises(plain.type):
        graphify.function(in_a_branch)(x, np.float64(1.0))


def test_made_an_integer_it_is_one() -> None:
    def program(x, k):
        return x[int(of_a_branch(x, k)) :]

    x = np.arange(5.0)
    np.testing.assert_array_equal(graphify.function(program)(x, 9.0), program(x, 9.0))


@pytest.mark.parametrize(
    "bounds", [(-1,), (0, -1), (-1, 3), (0, 3, 0), (1, 5, 2), (5, 2), (0, 9, -2)]
)
def test_bounds_of_islice(bounds: tuple[int, ...]) -> None:
    """Known and traced: what Python refuses is refused."""

    def known(x):
        return np.array(list(itertools.islice(x, *bounds)))

    def traced(x, *bounds):
        return np.array(list(itertools.islice(x, *bounds)))

    x = np.arange(6.0)
    for plain, given in ((known, ()), (traced, bounds)):
        staged = graphify.function(plain)
        try:
            want = plain(x, *given)
        except ValueError as error:
            with pytest.raises(ValueError, match=str(error)[:8]):
                staged(x, *given)
        else:
            np.testing.assert_array_equal(staged(x, *given), want)


def of_two_scalars(x, k):
    return np.float32(1.5) if x[0] > k else x[1]


def of_a_flag(x, k):
    return True if x[0] > k else x[1] > 0


def of_an_array(x, k):
    return np.array(2.0) if x[0] > k else 1.0


def of_a_pattern(n):
    match n:
        case int():
            return 1
        case float():
            return 2
    return 3


ASKS: dict[str, tuple[Callable[[Any], Any], list[Any]]] = {
    "isinstance(n, int)": (lambda n: isinstance(n, int), UNSURE[:3]),
    "isinstance(n, float)": (lambda n: isinstance(n, float), [of_a_branch, of_two_scalars]),
    "isinstance(n, (bool, str))": (lambda n: isinstance(n, (bool, str)), [of_a_flag]),
    "isinstance(n, np.ndarray)": (lambda n: isinstance(n, np.ndarray), [of_an_array]),
    "type(n)": (lambda n: type(n) is float, [of_a_branch, of_a_loop, of_an_array]),
    "isinstance(n + 1, int)": (lambda n: isinstance(n + 1, int), [*UNSURE[:3], used_in_a_branch]),
    "isinstance(-n // 2, float)": (lambda n: isinstance(-n // 2, float), [of_a_branch, of_a_loop]),
    "isinstance(max(n, 3), int)": (lambda n: isinstance(max(n, 3), int), [of_a_branch, of_a_loop]),
    "case int()": (of_a_pattern, [of_a_branch, of_a_loop]),
}


@pytest.mark.parametrize(
    "ask, unsure", [(ask, unsure) for ask, (_, some) in ASKS.items() for unsure in some]
)
def test_a_class_that_depends_on_the_path_is_not_told(ask: str, unsure: Any) -> None:
    told = ASKS[ask][0]
    with pytest.raises(TraceError, match="the class of this .* is asked for, and it is"):
        graphify.function(lambda x, k: told(unsure(x, k)))(np.arange(1.0, 6.0), 100.0)


@pytest.mark.parametrize("unsure", [*UNSURE[:4], of_two_scalars, of_a_flag])
def test_what_holds_of_all_its_classes_is_told(unsure: Any) -> None:
    def told(x, k):
        n = unsure(x, k)
        return isinstance(n, (int, float, np.generic)), isinstance(n, (np.ndarray, str))

    x = np.arange(1.0, 6.0)
    assert graphify.function(told)(x, 100.0) == told(x, 100.0) == (True, False)


@pytest.mark.parametrize("unsure", [of_a_branch, of_a_loop])
def test_arithmetic_that_gives_one_class_settles_it(unsure: Any) -> None:
    def told(x, k):
        n = unsure(x, k)
        return (
            isinstance(n / 2, float),
            isinstance(n * 0.5, int),
            isinstance(n > 2, (bool, np.bool_)),
            isinstance(x * n, np.ndarray),
            isinstance(int(n) + 1, int),
        )

    x = np.arange(1.0, 6.0)
    assert graphify.function(told)(x, 100.0) == told(x, 100.0) == (True, False, True, True, True)


def test_the_larger_of_an_int_and_a_float_is_either() -> None:
    told = graphify.function(lambda x: isinstance(max(float(x[0]), 3), int))
    with pytest.raises(TraceError, match="the class of this .* is asked for, and it is"):
        told(np.arange(1.0, 6.0))


def test_a_loop_that_runs_settles_the_class() -> None:
    def told(x):
        n = 0
        for v in range(3):
            n = n + 0.5 * float(x[v])
        return isinstance(n, float), isinstance(n, int)

    x = np.arange(1.0, 6.0)
    assert graphify.function(told)(x) == told(x) == (True, False)


# --- what integers and floats do differently -----------------------------------------------------


def mixed(one: Any, other: Any, s: Any) -> Any:
    x = one
    if s > 0:
        x = other
    return x


OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "/": lambda a, b: a / b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "divmod": lambda a, b: sum(divmod(a, b)),
    "**": lambda a, b: a**b,
    "floor_divide": np.floor_divide,
    "remainder": np.remainder,
    "fmod": np.fmod,
    "power": np.power,
    "of an array": lambda a, b: np.arange(1, 4) // b + a % np.array([b, b]).max(),
    "caught": lambda a, b: caught(a, b),
    "of ints": lambda a, b: np.floor_divide(int(a), int(b)) + np.power(int(a), int(b)),
}


def caught(a: Any, b: Any) -> Any:
    try:
        return a // b
    except ZeroDivisionError:
        return -1.0


PAIRS = [
    (3, np.float32(0.5)),
    (np.int64(3), 0.5),
    (np.int64(-3), np.float64(0.5)),
    (0, np.int64(5)),
    (0.0, np.float64(-2.5)),
    (np.float32(2.0), 1),
    (3, 2.5),
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    ("name", "engine", "kind"),
    [
        *((n, "reference", kind) for n in OPERATIONS for kind in (int, float, np.int64)),
        *((n, "native", int) for n in OPERATIONS),
        *((n, "tensorflow", int) for n in ("//", "**", "fmod")),
    ],
)
def test_by_zero_and_negative_powers(name: str, kind: Any, engine: str) -> None:
    """The answer of the path, its exception, or a refusal where integers, floats, Python's numbers
    and NumPy's differ. (But for the sign of zero: that of an integer's remainder is lost.)"""
    operation = OPERATIONS[name]
    for one, other in PAIRS:

        def function(s: Any, y: Any, one: Any = one, other: Any = other) -> Any:
            return operation(mixed(one, other, s), kind(y))

        def divided(s: Any, y: Any, one: Any = one, other: Any = other) -> Any:
            return operation(kind(y), mixed(one - one, other, s))

        for plain in (function, divided):
            staged = graphify.function(plain, engine=engine)
            for s in (-1.0, 1.0):
                for y in (2, 0, -1):
                    given = np.float64(s), np.float64(y)
                    try:
                        expected = plain(*given)
                    except (ZeroDivisionError, ValueError, OverflowError) as error:
                        with pytest.raises((type(error), TraceError)):
                            staged(*given)
                        continue
                    special = (
                        y == 0 or plain is divided or y < 0 and name in ("**", "power", "of ints")
                    )
                    try:
                        found = staged(*given)
                    except (TraceError, ValueError) as error:
                        known = "on one path" in str(error) or "is complex in Python" in str(error)
                        assert special and known, (one, other, given)
                    else:
                        np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-6)


def test_which_mixed_numbers_are_refused() -> None:
    def function(s, y):
        return mixed(np.int64(3), 0.5, s) // y

    staged = graphify.function(function)
    assert float(staged(np.float64(1), np.float64(0.25))) == 2.0
    assert float(staged(np.float64(-1), np.int64(2))) == 1
    with pytest.raises(TraceError, match="a division by zero, of a number that is an integer"):
        staged(np.float64(-1), np.int64(0))
    both_floats = graphify.function(lambda s, y: mixed(np.float64(3), 0.5, s) // y)
    with np.errstate(all="ignore"):
        assert np.isinf(both_floats(np.float64(-1), np.float64(0)))
    with pytest.raises(TraceError, match="reciprocal of this f64"):
        graphify.function(lambda s: np.reciprocal(mixed(np.int64(3), 0.5, s)))(np.float64(1))


def test_mixed_divisors_have_gradients_and_lanes() -> None:
    def function(s, y):
        return mixed(3, 0.5, s) * 1.0 / mixed(np.int64(2), y, s) + y % mixed(np.int64(2), y * 2, s)

    gradient = graphify.grad(function, argnums=1)
    assert float(gradient(np.float64(1), np.float64(0.25))) == pytest.approx(-0.5 / 0.25**2 + 1)
    lanes = graphify.vmap(function)
    s, y = np.array([1.0, -1.0, 1.0]), np.array([0.5, 1.5, -0.25])
    expected = [function(*lane) for lane in zip(s, y, strict=True)]
    np.testing.assert_allclose(lanes(s, y), expected)
    refused = graphify.vmap(lambda s, y: mixed(np.int64(2), 0.5, s) // y)
    with pytest.raises(TraceError, match="division by zero"):
        refused(s, np.array([1, 0, 2]))
