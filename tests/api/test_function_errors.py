"""Errors: the user's class, the user's file and line, and no frames of graphify in between."""

import traceback
import warnings

import numpy as np
import pytest

import graphify
from graphify.errors import ConcreteValueNeeded, GraphifyError, InvalidArgumentError
from tests.api.agree import agree

HERE = "test_function_errors.py"


class Custom(Exception):
    """An exception class of the user's own."""


class Coded(Exception):
    def __init__(self, code, text):
        super().__init__(code, text)
        self.code, self.text = code, text


def raised(function, *args, plain=True):
    """What a staged call raises; the plain function must raise the same class."""
    if plain:
        with pytest.raises(Exception) as want:
            function(*args)
    with pytest.raises(Exception) as got:
        graphify.function(function)(*args)
    if plain:
        assert isinstance(got.value, want.type), f"plain {want.value!r}, staged {got.value!r}"
    return got.value


def names_the_line(error, text):
    assert HERE in str(error) or any(HERE in note for note in getattr(error, "__notes__", ())), (
        error
    )
    assert text in str(error) or any(text in note for note in getattr(error, "__notes__", ())), (
        error
    )


# --- errors of the run --------------------------------------------------------------------------


def index_error(x, i):
    y = x * 2
    return y[i]


def put_out_of_range(x, i):
    x[i] = 1.0
    return x


def fancy_index(x, i):
    return x[np.stack([i, i])]


def reshape_error(x, i):
    return x[: int(i)].reshape(7)


def value_error(x, i):
    return x + np.ones(i.shape[0] + 5)


def division(x, i):
    n = x.shape[0] - 3
    return 10 // n


def conversion(x, i):
    return int(x.sum() * np.inf)


@pytest.mark.parametrize("function", [index_error, put_out_of_range, fancy_index])
def test_indices_are_not_clamped(function):
    for i in (3, -4, 100):
        error = raised(function, np.arange(3.0), np.array(i))
        assert isinstance(error, IndexError) and "out of bounds" in str(error)
        names_the_line(error, "[")


def test_errors_of_shapes():
    f = graphify.function(lambda x, y: x @ y)
    with pytest.raises(ValueError, match="shape|core dimension|mismatch") as caught:
        f(np.ones((2, 3)), np.ones((4, 5)))
    names_the_line(caught.value, "x @ y")


def test_errors_of_shapes_known_only_when_it_runs():
    @graphify.function
    def f(x, y):
        return x + y

    f(np.ones(3), np.ones(3))
    f(np.ones(4), np.ones(4))
    f(np.ones(2), np.ones(1))
    with pytest.raises(ValueError) as caught:
        f(np.ones(4), np.ones(5))
    names_the_line(caught.value, "x + y")


def test_zero_division():
    error = raised(division, np.ones(3), np.ones(1))
    assert isinstance(error, ZeroDivisionError)


def test_conversion_of_infinity():
    error = raised(conversion, np.ones(3), 0)
    assert isinstance(error, OverflowError)


def test_dtype_errors():
    error = raised(lambda x: x << 1.5, np.ones(3, int))
    assert isinstance(error, TypeError)
    names_the_line(error, "x << 1.5")
    error = raised(lambda x: x.__iadd__(1.5), np.ones(3, int), plain=False)
    assert isinstance(error, TypeError)


def test_unknown_attributes_and_methods():
    with pytest.raises(AttributeError, match="no_such"):
        graphify.function(lambda x: x.no_such())(np.ones(2))


# --- raise and assert ---------------------------------------------------------------------------


def raises_custom(x):
    if x.sum() > 10:
        raise Custom("too large")
    return x * 2


def raises_with_value(x):
    total = x.sum()
    if total > 10:
        raise ValueError(f"sum is {total}")
    return total


def raises_coded(x):
    if x.sum() > 10:
        raise Coded(7, "too large")
    return x


def raises_in_loop(x):
    total = 0.0
    for v in x:
        if v < 0:
            raise Custom("negative")
        total = total + v
    return total


def raises_in_while(x):
    while x.sum() < 100:
        x = x * 2
        if x.max() > 50:
            raise Custom("overshot")
    return x


def raises_class_only(x):
    if x.sum() > 10:
        raise Custom
    return x


def asserts(x):
    assert x.sum() < 10, "too large"
    return x


def asserts_with_value(x):
    assert x.sum() < 10, f"sum {x.sum()}"
    return x


def asserts_static(x):
    assert x.ndim == 2, "two axes, please"
    return x


def raises_from_callee(x):
    return helper(x) + 1


def helper(x):
    if x.sum() > 10:
        raise Custom("from the helper")
    return x


@pytest.mark.parametrize(
    "function",
    [
        raises_custom,
        raises_with_value,
        raises_coded,
        raises_in_loop,
        raises_in_while,
        raises_class_only,
        asserts,
        asserts_with_value,
        asserts_static,
        raises_from_callee,
    ],
)
@pytest.mark.parametrize(
    "x", [np.ones(3), np.full(3, 20.0), -np.ones(3), np.full(20, 30.0), np.full(3, 7.0)], ids=str
)
def test_raise_and_assert(function, x):
    if function is raises_in_while and x.sum() <= 0:
        pytest.skip("plain Python does not end")
    agree(function, x)


def catches_all(x):
    try:
        return x.tobytes()
    except Exception:
        return x * 0


def catches_bare(x):
    try:
        return np.real_if_close(x)
    except:  # noqa: E722
        return x * 0


def catches_several(x):
    try:
        return x.tobytes()
    except (KeyError, TypeError):
        return x * 0


def catches_group(x):
    y = x * 0
    try:
        y = x.tobytes()
    except* TypeError:
        y = x * 0
    return y


@pytest.mark.parametrize("function", [catches_all, catches_bare, catches_several, catches_group])
def test_a_handler_does_not_take_a_refusal_for_an_error_of_the_program(function):
    error = raised(function, np.ones(3), plain=False)
    assert isinstance(error, GraphifyError)


def test_a_handler_catches_errors_of_the_program_and_refusals_it_names():
    @graphify.function
    def missing(x, table):
        try:
            return x * table["scale"]
        except (KeyError, TypeError):
            return x

    assert missing(np.ones(2), {}).numpy().tolist() == [1, 1]
    assert missing(np.ones(2), {"scale": 3}).numpy().tolist() == [3, 3]

    @graphify.function
    def named(x):
        try:
            return x.tobytes()
        except ConcreteValueNeeded:
            return x

    assert named(np.ones(2)).numpy().tolist() == [1, 1]


def test_messages_and_lines_of_raised_errors():
    error = raised(raises_custom, np.full(3, 20.0))
    assert type(error) is Custom and str(error).startswith("too large")
    names_the_line(error, 'raise Custom("too large")')
    error = raised(raises_with_value, np.full(3, 20.0))
    assert str(error).startswith("sum is 60.0")
    error = raised(raises_coded, np.full(3, 20.0))
    assert type(error) is Coded and (error.code, error.text) == (7, "too large")
    names_the_line(error, "raise Coded")
    error = raised(asserts_with_value, np.full(3, 20.0))
    assert str(error).startswith("sum 60.0")
    names_the_line(error, "assert x.sum() < 10")
    error = raised(raises_from_callee, np.full(3, 20.0))
    names_the_line(error, 'raise Custom("from the helper")')


def test_unbound_names():
    def f(x):
        if x.sum() > 0:
            y = x
        return y

    agree(f, np.ones(2))
    error = raised(f, -np.ones(2))
    assert isinstance(error, UnboundLocalError) and "'y'" in str(error)
    names_the_line(error, "return y")

    def g(x):
        for v in x:
            last = v
        return last

    agree(g, np.ones(2))
    assert isinstance(raised(g, np.ones(0)), UnboundLocalError)


def test_checks_of_debugging():
    @graphify.function
    def f(x):
        graphify.debugging.assert_greater(x, 0.0)
        return x

    f(np.ones(2))
    with pytest.raises(InvalidArgumentError, match="assert_greater"):
        f(-np.ones(2))


def test_an_error_that_nobody_needs_is_not_raised():
    @graphify.function
    def f(x, i):
        x[i]
        return x.sum()

    assert float(f(np.ones(3), np.array(7))) == 3.0


# --- tracebacks ---------------------------------------------------------------------------------


def frames_of(error):
    return [frame.filename for frame in traceback.extract_tb(error.__traceback__)]


def test_internal_frames_are_hidden():
    error = raised(raises_custom, np.full(3, 20.0))
    inside = [name for name in frames_of(error) if "/graphify/" in name]
    assert len(inside) <= 1
    with graphify.config(full_traceback=True):
        error = raised(raises_custom, np.full(3, 20.0))
    assert len([name for name in frames_of(error) if "/graphify/" in name]) > 3


def test_errors_while_tracing_show_the_users_frames():
    def deep(x):
        return x.reshape(5)

    def f(x):
        return deep(x) * 2

    with pytest.raises(ValueError, match="reshape") as caught:
        graphify.function(f)(np.ones(3))
    functions = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert "deep" in functions and "f" in functions


def test_an_error_can_be_raised_again_by_the_next_call():
    f = graphify.function(index_error)
    for _ in range(3):
        with pytest.raises(IndexError):
            f(np.ones(3), np.array(5))
    assert float(f(np.ones(3), np.array(1))) == 2.0
    assert len(f.concrete_functions) == 1


# --- values that Python needs -------------------------------------------------------------------


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.zeros(int(x.sum())).shape[0] and "text"[int(x.sum())],
        lambda x: f"{x.sum():.2f}",
        lambda x: "%d" % x.sum(),  # noqa: UP031
        lambda x: "a" * int(x.sum()),
        lambda x: x.tobytes(),
        lambda x: f"{x.sum()}" == "1.0",
        lambda x: str(x),
        lambda x: {f"{x.sum()}": 1},
        lambda x: hash(float(x.sum())),
    ],
)
def test_values_that_python_needs(function):
    with pytest.raises((ConcreteValueNeeded, TypeError)) as caught:
        graphify.function(function)(np.ones(1))
    last = frames_of(caught.value)[-1]
    assert HERE in last or HERE in str(caught.value)


def test_none_on_one_side_fails_where_it_is_used():
    def f(x):
        y = None
        if x.sum() > 0:
            y = x
        return y + 1

    staged = graphify.function(f)
    np.testing.assert_array_equal(staged(np.ones(2)), [2.0, 2.0])
    with pytest.raises(TypeError, match="unsupported operand") as caught:
        staged(-np.ones(2))
    assert HERE in str(caught.value) and "return y + 1" in str(caught.value)


def test_results_of_different_kinds():
    def f(x):
        name = "positive" if x.sum() > 0 else "negative"
        if x.sum() > 1:
            return x, name
        return name

    staged = graphify.function(f)
    assert staged(np.ones(2))[1] == "positive" and staged(-np.ones(2)) == "negative"


def test_no_warnings_of_numpy_leak():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        f = graphify.function(lambda x: (x / 0, np.log(-x), x.astype(int) // 1, np.float32(1) * x))
        f(np.ones(2))


# --- syntax -------------------------------------------------------------------------------------


def test_generators_that_leave_the_function_are_refused_with_a_line():
    def f(x):
        yield x

    with pytest.raises(graphify.errors.TraceError) as caught:
        graphify.function(f)(np.ones(1))
    assert HERE in str(caught.value) and "remedy" in str(caught.value)
