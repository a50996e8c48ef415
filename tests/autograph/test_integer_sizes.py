"""Bounds, steps, sizes and counts that the run tells, in every integer dtype, as NumPy takes them:
arithmetic wraps around in the dtype, and what then is no length is an error."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphify

DTYPES = [f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)]


def from_the_end(x: Any, k: Any) -> Any:
    return x[-k:]


def up_to_the_end(x: Any, k: Any) -> Any:
    return x[:-k]


def difference(x: Any, k: Any) -> Any:
    return x[k - 3 :]


def product(x: Any, k: Any) -> Any:
    return x[: k * 100]


def inverted(x: Any, k: Any) -> Any:
    return x[~k:]


def magnitude(x: Any, k: Any) -> Any:
    return x[abs(-k) :]


def step(x: Any, k: Any) -> Any:
    return x[::-k]


def step_within(x: Any, k: Any) -> Any:
    return x[1 : k * 2 : k]


def floored(x: Any, k: Any) -> Any:
    return x[max(k - 4, 0) :]


def rolled(x: Any, k: Any) -> Any:
    return np.roll(x, -k)


def turns(x: Any, k: Any) -> Any:
    count = 0
    for _ in range(k, -k):
        count += 1
        if count > 5:
            break
    return count


def zeros(x: Any, k: Any) -> Any:
    return np.zeros(k - 3)


def summed(x: Any, k: Any) -> Any:
    return np.ones((k - 3, k - 3)).sum()


def empty_rows(x: Any, k: Any) -> Any:
    return np.full((k - 3, 0), 7)


def repeated(x: Any, k: Any) -> Any:
    return np.repeat(x, k - 3)


def tiled(x: Any, k: Any) -> Any:
    return np.tile(x, k - 3)


def spaced(x: Any, k: Any) -> Any:
    return np.linspace(0, 1, k - 3)


def handled(x: Any, k: Any) -> Any:
    try:
        a = np.zeros(k - 3) + 2
    except ValueError:
        a = np.ones(1)
    return a


def of_the_length(x: Any, k: Any) -> Any:
    return np.zeros(len(x) - 12 - k % 1)


FUNCTIONS = [
    from_the_end, up_to_the_end, difference, product, inverted, magnitude, step, step_within,
    floored, rolled, turns, zeros, summed, empty_rows, repeated, tiled, spaced, handled,
    of_the_length,
]  # fmt: skip
HUGE = (zeros, summed, empty_rows, repeated, tiled, spaced, handled)  # of unsigned differences


def outcome(function: Callable[..., Any], *args: Any) -> Any:
    with np.errstate(all="ignore"):
        try:
            return np.asarray(function(*args))
        except ValueError:
            return ValueError


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("engine", ["reference", "native"])
def test_in_every_dtype(function: Callable[..., Any], engine: str) -> None:
    for dtype in DTYPES:
        staged = graphify.function(function, engine=engine)
        for value in (3, 2, 4):
            k = np.dtype(dtype).type(value)
            if function in HUGE and dtype[0] == "u" and value < 3:
                continue
            want, got = (outcome(f, np.arange(12.0), k) for f in (function, staged))
            if want is ValueError or got is ValueError:
                assert got is want, (dtype, value)
            else:
                np.testing.assert_array_equal(got, want, err_msg=f"{dtype} {value}", strict=True)


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_a_size_may_be_shorter_than_nothing(engine: str) -> None:
    """Arithmetic of the sizes of arrays, which may be negative for short ones."""

    @graphify.function(engine=engine)
    def f(x: Any) -> Any:
        return np.zeros((len(x) - 3, len(x) - 3)).sum(), np.ones(3)

    for n in (5, 4, 3):
        assert f(np.zeros(n))[0] == 0
    with pytest.raises(ValueError, match=r"negative dimensions[^$]*test_integer_sizes"):
        f(np.zeros(2))


def test_the_error_names_the_line() -> None:
    with pytest.raises(ValueError, match=r"negative dimensions are not allowed[^$]*in zeros"):
        graphify.function(zeros)(np.zeros(3), np.int64(1))


@pytest.mark.tensorflow
def test_an_index_beyond_int64_is_out_of_bounds() -> None:
    pick = graphify.function(lambda x, k: x[-k], engine="tensorflow")
    with np.errstate(all="ignore"), pytest.raises(IndexError):
        pick(np.arange(12.0), np.uint64(2))


@pytest.mark.parametrize("dtype", DTYPES)
def test_ranges_of_known_and_traced_bounds(dtype: str) -> None:
    known = np.dtype(dtype).type(2)

    def f(k: Any) -> Any:
        total = 0
        for i in range(known, k):
            total += i
        for i in range(k, known, -1):
            total += 10 * i
        for i in range(k, 9, known):
            total += 100 * i
        return total

    for other in DTYPES:
        staged = graphify.function(f, engine="reference")
        for value in (0, 5):
            k = np.array(value, other)
            assert staged(k) == f(k), (other, value)


def test_a_range_to_a_float() -> None:
    @graphify.function
    def f(k: Any) -> Any:
        return sum(i for i in range(0.5, k))  # type: ignore[call-overload]

    with pytest.raises(TypeError, match="'float' object cannot be interpreted as an integer"):
        f(np.array(3))
