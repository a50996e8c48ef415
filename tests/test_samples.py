"""Functions as users write them: plain, converted without tracing, and staged on both engines.

The arguments follow from the names of the parameters, as in tests/fuzz/regressions.py. Samples of
tests/samples/refused.py raise the error that a comment names, at the line of the comment.
"""

import inspect
import re
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import graphify
from graphify.autograph.operators.calls import converted
from tests.fuzz.generator import Program
from tests.fuzz.regressions import PARAMETERS
from tests.fuzz.running import _run, difference_of
from tests.samples import branches, functions, loops, refused, updates

VARIANTS = (0, 1, 2, 3)


def functions_of(*modules: ModuleType) -> list[Callable[..., Any]]:
    return [
        value
        for module in modules
        for name, value in vars(module).items()
        if inspect.isfunction(value) and value.__module__ == module.__name__ and name[0] != "_"
    ]


SAMPLES = functions_of(branches, loops, updates, functions)


def program_of(function: Callable[..., Any]) -> Program:
    parameters = [PARAMETERS[name] for name in inspect.signature(function).parameters]
    return Program("", parameters, seed=5, _function=function)


def check(function: Callable[..., Any], other: Callable[..., Any]) -> None:
    """Both do the same on all variants of the arguments."""
    program = program_of(function)
    for variant in VARIANTS:
        want = _run("plain", function, program.arguments(variant))
        assert want.error is None, want.error
        got = _run("other", other, program.arguments(variant))
        if got.error is not None:
            raise got.error
        problem = difference_of(want, got, loose=False)
        assert problem is None, problem


@pytest.mark.parametrize("function", SAMPLES, ids=lambda f: f.__name__)
def test_converted(function: Callable[..., Any]) -> None:
    check(function, converted(function))


@pytest.mark.parametrize("function", SAMPLES, ids=lambda f: f.__name__)
def test_reference(function: Callable[..., Any]) -> None:
    check(function, graphify.function(function, engine="reference"))


@pytest.mark.parametrize("function", SAMPLES, ids=lambda f: f.__name__)
def test_optimised_is_checked(function: Callable[..., Any]) -> None:
    with graphify.config(check=True):
        check(function, graphify.function(function, dynamic=True))


@pytest.mark.tensorflow
@pytest.mark.parametrize("function", SAMPLES, ids=lambda f: f.__name__)
def test_tensorflow(function: Callable[..., Any]) -> None:
    check(function, graphify.function(function, engine="tensorflow"))


def expected_error(function: Callable[..., Any]) -> tuple[str, int]:
    """The class in the comment, and the line it stands at."""
    lines, first = inspect.getsourcelines(function)
    for number, line in enumerate(lines):
        found = re.search(r"  # (\w+)$", line.rstrip())
        if found:
            return found[1], first + number
    raise AssertionError("no comment names the error")


@pytest.mark.parametrize("function", functions_of(refused), ids=lambda f: f.__name__)
def test_refused(function: Callable[..., Any]) -> None:
    name, line = expected_error(function)
    program = program_of(function)
    with pytest.raises(Exception) as caught:
        graphify.function(function)(*program.arguments(0))
    classes = [c.__name__ for c in type(caught.value).__mro__]
    assert name in classes, repr(caught.value)
    assert f'refused.py", line {line}' in str(caught.value), str(caught.value)


def test_there_are_many() -> None:
    assert len(SAMPLES) >= 60
    assert np.__name__ == "numpy"
