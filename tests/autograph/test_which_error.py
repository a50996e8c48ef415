"""An error that is certain to come does not hide one that the run may meet before it, nor what is
printed before."""

from typing import Any

import numpy as np
import pytest

import graphify


class Missing(Exception):
    pass


def in_the_second_turn(x: Any) -> Any:
    for i in range(2):
        y = x[: 3 - i] + np.ones(3)
        if x.sum() < 0:
            raise Missing(i)
    return y


def after_an_index(x: Any, k: Any) -> Any:
    if x[k] > 3:
        raise Missing
    return x.reshape(2, 2)


def by_name(x: Any) -> Any:
    assert x.sum() > 0, "none"
    return x + undefined  # type: ignore[name-defined]  # noqa: F821


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_the_first_error_is_raised(engine: str) -> None:
    for function, args, kind in [
        (in_the_second_turn, (np.ones(3),), ValueError),
        (in_the_second_turn, (-np.ones(3),), Missing),
        (after_an_index, (np.ones(3), np.array(1)), ValueError),
        (after_an_index, (np.ones(3) * 4, np.array(1)), Missing),
        (by_name, (np.ones(3),), NameError),
        (by_name, (-np.ones(3),), AssertionError),
    ]:
        with pytest.raises(kind):
            function(*args)
        staged = graphify.function(function, engine=engine)
        for _ in range(2):
            with pytest.raises(kind) as caught:
                staged(*args)
        text = "".join([str(caught.value), *getattr(caught.value, "__notes__", [])])
        assert f"in {function.__name__}" in text


def test_what_is_printed_before_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    @graphify.function
    def f(x: Any) -> Any:
        print("before", x[0])
        return x @ np.ones(5)

    with pytest.raises(ValueError, match="matmul"):
        f(np.ones(3))
    assert capsys.readouterr().out == "before 1.0\n"


def test_sizes_that_are_general_do_not_decide() -> None:
    """Where a trace for any size fails, the one for the size of the call decides."""

    @graphify.function
    def f(x: Any) -> Any:
        print("n")
        return np.linalg.cross(x, x) if len(x) == 3 else x

    for n in (2, 3, 4, 3, 5):
        assert f(np.ones(n)).shape == (n,)


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_a_refusal_of_the_run_is_not_caught(engine: str) -> None:
    @graphify.function(engine=engine)
    def added(x: Any, k: Any) -> Any:
        try:
            total = sum(x[None][k:])  # of no rows, Python gives the number 0
        except Exception:
            total = 1.0
        return total

    x = np.arange(3.0)
    np.testing.assert_array_equal(added(x, np.array(0)), x)
    with pytest.raises(graphify.errors.TraceError, match="of no rows"):
        added(x, np.array(1))
