"""Comprehensions that assign names with `:=`."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphify
from graphify.autograph.operators.calls import converted

ARRAYS = ([1.0, -2.0, 3.5, 0.25, -7.0, 4.0], [-1.0, -2.0], [9.0])
ENGINES = ["converted", "reference", "native"]


def filtered(x: Any, s: Any) -> Any:
    return [y for v in x if (y := v * s) > 0], y


def running_total(x: Any, s: Any) -> Any:
    total = 0
    parts = [total := total + v for v in x]
    return np.stack(parts), total


def first_hit(x: Any, s: Any) -> Any:
    if any((hit := v) > s for v in x):
        return hit
    return -1.0


def last_looked_at(x: Any, s: Any) -> Any:
    return all((last := v) > -3 * s for v in x), last


def next_of_squares(x: Any, s: Any) -> Any:
    return next((y for v in x if (y := v * v) > s), -1.0)


def next_without_default(x: Any, s: Any) -> Any:
    return next(y for v in x if (y := v * v) > s * 20)


def next_and_its_name(x: Any, s: Any) -> Any:
    v = next(u for e in x if (u := e * e) > s)
    return v + u


def next_or_none(x: Any, s: Any) -> Any:
    v = next((u for e in x for d in x if (u := e * d) > s), None)
    return 0.5 if v is None else v


def dict_of_places(x: Any, s: Any) -> Any:
    return {(j := i): y for i, v in enumerate(x) if (y := v * s) > 0}, j


def set_of_numbers(x: Any, s: Any) -> Any:
    return sorted({y for v in x if (y := abs(round(v))) > s})


def nested(x: Any, s: Any) -> Any:
    v = 3.0
    rows = [[y + v for v in (v, 1.0) if (y := v * u) > s] for u in x]
    return [sum(row) for row in rows], v


def own_names(x: Any, s: Any) -> Any:
    v = s
    most = max((y := v) * 2 for v in x)
    return most, v, y, [f(3.0) for f in [lambda v: v + y, lambda u: u * v]]


def several_loops(x: Any, s: Any) -> Any:
    return any((p := a) + (q := b) > s for a in x for b in x if a <= b), p, q


def summed(x: Any, s: Any) -> Any:
    k = sum((y := v) for v in x if v < 100 * s)
    return k, y, list(y for v in x if (y := v) > 0), tuple((y := -v) for v in x)


def before_and_after(x: Any, s: Any) -> Any:
    y = s
    return y + sum([(y := v) for v in x]) * y + y


def in_conditions(x: Any, s: Any) -> Any:
    if s > 1 and len(rows := [(y := v) for v in x if v > s]) > 0:
        return rows, y
    n = 0
    while n < 5 and len([(w := v + n) for v in x if v + n > s]) < 5:
        n += 1
    return (n, w) if s > 0 else ([(z := v) for v in x], z)


def under_an_expression(x: Any, s: Any) -> Any:
    y = 0.0
    rows = [(y := v * 2) for v in x] if s > 1 else [(y := v * 3) for v in x if v > 0]
    return rows, y


def in_a_lambda(x: Any, s: Any) -> Any:
    return (lambda z: max((y := v) * z + y for v in x))(s)


PROGRAMS = [f for f in list(vars().values()) if callable(f) and f.__module__ == __name__]


def outcome(function: Callable[..., Any], *args: Any) -> Any:
    try:
        return plain(function(*args))
    except Exception as error:
        return type(error).__name__


def plain(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(plain(each) for each in value)
    if isinstance(value, dict):
        return {float(key): plain(each) for key, each in value.items()}
    return np.asarray(value, float).round(9).tolist()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_program(function: Callable[..., Any], engine: str) -> None:
    if engine == "converted":
        other = converted(function)
    else:
        other = graphify.function(function, engine=engine)
    for values in ARRAYS:
        for s in (2.0, 0.5, 100.0):
            x = np.array(values)
            assert outcome(other, x, s) == outcome(function, x, s), (values, s)


def test_long_loops_are_staged() -> None:
    staged = graphify.function(running_total)
    assert len(staged.get_concrete_function(np.zeros(1000), 1.0).graph.nodes) < 10


def test_gradient() -> None:
    def total(x: Any) -> Any:
        return sum(y * y for v in x if (y := v * 2) > 0)

    x = np.array(ARRAYS[0])
    want = np.where(x > 0, 8 * x, 0)
    np.testing.assert_allclose(graphify.grad(graphify.function(total))(x), want)


def test_kept_generator_says_so() -> None:
    def kept(x: Any, s: Any) -> Any:
        items = ((y := v) for v in x)
        return sum(items) if s > 0 else y

    assert outcome(converted(kept), np.array([1.0, 2.0]), 1.0) == 3.0


def in_a_handler(y, k):
    try:
        raise KeyError(k)
    except Exception:
        v = u if any((u := e) > 1 for e in y) else k
        n = v % 3
    finally:
        pass
    return n


def in_a_body(y, k):
    try:
        m = (y[k] if (u := y[k + 1]) > 0 else y[k + 2]) + (y[k] if u > 1 else 3)
        n = 0 < (w := y[k + 1]) < y[0]
        m += 1 + n
        m = (z := y[k]) > 0 and z > w or m
    except IndexError:
        return -1
    finally:
        pass
    return m


@pytest.mark.parametrize("program", [in_a_handler, in_a_body])
def test_value_of_a_branch_that_may_raise(program: Any) -> None:
    staged = graphify.function(program)
    k = np.int64(1)
    for y in ([0] * 5, [1, -2, 0, 3, -3], [0, -2, 2, -3, -4, 3], [-1, 1, 3, 0], [3, 2], [3, 1]):
        assert int(staged(np.array(y), k)) == int(program(np.array(y), k))
