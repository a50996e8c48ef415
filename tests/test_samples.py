"""Functions as users write them: plain, converted without tracing, staged on every engine, and,
where they are differentiable, differentiated and vectorised.

Each module of tests/samples is found by itself. The arguments follow from the names of the
parameters, as in tests/fuzz/regressions.py. A module may hold three tables, from a function's name
to why that check is not for it:

    NO_GRADIENT = {"collatz": "integers"}        # not compared with finite differences
    NO_VMAP = {"appends": "ragged results"}      # not compared with a loop over lanes
    NO_TENSORFLOW = {"gcd": "recursion"}         # not run on TensorFlow

Samples of tests/samples/refused.py raise the error that a comment names, at its line.
"""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import graphify
import tests.samples
from graphify.autograph.operators.calls import converted
from tests.fuzz.generator import Program
from tests.fuzz.regressions import PARAMETERS
from tests.fuzz.running import _run, difference_of
from tests.samples import refused
from tests.thinning import one_of_three
from tests.tolerances import assert_close

VARIANTS = (0, 1, 2, 3)
STEP = 1e-6  # of central differences
LANES = 3  # of a vmap
MODULES = [
    importlib.import_module(f"tests.samples.{module.name}")
    for module in pkgutil.iter_modules(tests.samples.__path__)
    if module.name != "refused"
]


def functions_of(*modules: ModuleType) -> list[Callable[..., Any]]:
    return [
        value
        for module in modules
        for name, value in vars(module).items()
        if inspect.isfunction(value) and value.__module__ == module.__name__ and name[0] != "_"
    ]


SAMPLES = functions_of(*MODULES)


def samples_but(table: str) -> list[Callable[..., Any]]:
    """The samples that their module's table does not except."""
    return [f for m in MODULES for f in functions_of(m) if f.__name__ not in vars(m).get(table, {})]


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
@pytest.mark.parametrize(
    "function", one_of_three(samples_but("NO_TENSORFLOW")), ids=lambda f: f.__name__
)
def test_tensorflow(function: Callable[..., Any]) -> None:
    check(function, graphify.function(function, engine="tensorflow"))


def is_float(leaf: Any) -> bool:
    return isinstance(leaf, float) or getattr(leaf, "dtype", np.dtype(int)).kind == "f"


@graphify.autograph.do_not_convert
def weighted(result: Any, weights: list[Any]) -> Any:
    """The sum of all float leaves, each element with a weight of its own."""
    leaves = [leaf for leaf in graphify.tree.leaves(result) if is_float(leaf)]
    return sum((leaf * w).sum() for leaf, w in zip(leaves, weights, strict=True))


@pytest.mark.parametrize("function", samples_but("NO_GRADIENT"), ids=lambda f: f.__name__)
def test_gradient(function: Callable[..., Any]) -> None:
    """The derivative is the one that central differences give."""
    program, rng = program_of(function), np.random.default_rng(3)
    given = program.arguments(0)
    places = [
        i for i, a in enumerate(given) if isinstance(a, np.ndarray | np.generic) and is_float(a)
    ]
    result = function(*program.arguments(0))
    weights = [rng.normal(size=np.shape(v)) for v in graphify.tree.leaves(result) if is_float(v)]
    assert places and weights, f"{function.__name__}: no floats go in or come out: NO_GRADIENT"
    tangents = [rng.normal(size=np.shape(given[i])) for i in places]

    def moved(step: float) -> Any:
        arguments = program.arguments(0)
        for i, tangent in zip(places, tangents, strict=True):
            arguments[i] = arguments[i] + step * tangent
        return weighted(function(*arguments), weights)

    @graphify.function
    def total(*values: Any) -> Any:
        return weighted(function(*values), weights)

    gradients = graphify.grad(total, argnums=tuple(places))(*program.arguments(0))
    got = sum((np.asarray(g) * t).sum() for g, t in zip(gradients, tangents, strict=True))
    np.testing.assert_allclose(got, (moved(STEP) - moved(-STEP)) / (2 * STEP), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("function", samples_but("NO_VMAP"), ids=lambda f: f.__name__)
def test_vmap(function: Callable[..., Any]) -> None:
    """Every lane gives what the function gives alone."""
    program = program_of(function)
    lanes = [replace(program, seed=5 + lane).arguments(0) for lane in range(LANES)]
    axes = tuple(0 if isinstance(a, np.ndarray | np.generic) else None for a in lanes[0])
    for lane in lanes:  # a Python number is the same in all lanes
        lane[:] = [a if axis == 0 else b for a, b, axis in zip(lane, lanes[0], axes, strict=True)]
    columns = [
        np.stack(values) if axis == 0 else values[0]
        for values, axis in zip(zip(*lanes, strict=True), axes, strict=True)
    ]
    got = graphify.tree.leaves(graphify.function(graphify.vmap(function, in_axes=axes))(*columns))
    alone = [graphify.tree.leaves(function(*lane)) for lane in lanes]
    for one, parts in zip(got, zip(*alone, strict=True), strict=True):
        want = np.stack([np.asarray(part) for part in parts])
        assert_close(np.broadcast_to(np.asarray(one), want.shape).astype(want.dtype), want)


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
    assert len(SAMPLES) >= 800
    assert np.__name__ == "numpy"
