"""Arrays that branches in branches, loops in branches, and loops in loops update are updated in
place."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphify
from tests.tolerances import assert_close


def branch_in_a_branch(x, w):
    for i in range(len(x)):
        if x[i] > 0:
            if x[i] > 1:
                w[i, 0] = x[i]
            else:
                w[i, 1] += w[i - 1, 1]
    return w


def branch_on_both_sides(x, w):
    for i in range(len(x)):
        if x[i] > 0:
            if x[i] > 1:
                w[i] += 1.0
        elif x[i] < -1:
            w[:, i % 3] -= x[i]
        else:
            w[0, 0] = i
    return w


def loop_in_a_branch(x, w):
    for i in range(len(x)):
        if x[i] > 0:
            for j in range(9):
                if j != i:
                    w[i, j % 3] += w[j, 0]
    return w


def while_in_a_branch(x, w):
    for i in range(len(x)):
        if x[i] > 0:
            j = i
            while w[j, 0] < 3 and j > 0:
                w[j, 0] += 1
                j -= 1
    return w


def another_array_on_one_side(x, w):
    for i in range(len(x)):
        if x[i] > 0:
            if x[i] > 1:
                w = w * 2.0
            else:
                w[i, 1] = x[i]
        w[0, 0] += w[1, 1]
    return w


def old_row_looked_at_in_a_loop(x, w):
    for i in range(len(x)):
        old = w[i].copy()
        for j in range(len(x)):
            w[j] -= 0.1 * old
            w[j, 0] += old[j % 3] * x[j]
    return w


def old_array_looked_at_later(x, w):
    for i in range(len(x)):
        old = w.copy()
        if x[i] > 0:
            if x[i] > 1:
                w[i, 0] = old[i, 2]
            else:
                w[0] = old[:, 0].sum()
        w[1] += old[0]
    return w


PROGRAMS = [
    branch_in_a_branch,
    branch_on_both_sides,
    loop_in_a_branch,
    while_in_a_branch,
    old_row_looked_at_in_a_loop,
    another_array_on_one_side,
    old_array_looked_at_later,
]


def arguments() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    return 1.5 * rng.normal(size=12), rng.normal(size=(12, 3))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
@pytest.mark.parametrize("dynamic", [False, True])
def test_same_as_plain(program: Callable[..., Any], dynamic: bool) -> None:
    x, w = arguments()
    want = program(x, w)
    y, v = arguments()
    assert_close(graphify.function(program, dynamic=dynamic)(y, v), want)
    assert_close(v, w)


@pytest.mark.parametrize("program", PROGRAMS[:5], ids=lambda p: p.__name__)
def test_no_temporary(program: Callable[..., Any]) -> None:
    x, w = arguments()
    concrete = graphify.function(program, dynamic=False).get_concrete_function(x, w)
    made = [line for line in str(concrete.report().engine).splitlines() if "f64[12, 3]" in line]
    assert not any("temporary" in line for line in made), made
