"""Names that functions share, closure variables and globals, rebound twice in one path of a branch.

What a path did to such a name is undone before the next path is traced: the name is again what it
was before the branch, also where the path ends with the very value that it began with.
"""

import numpy as np
import pytest

import graphify


def positive_or_first(values):
    for v in values:
        if v > 0:
            yield v
        else:
            yield values[0]


def all_or_first(values, k):
    if k >= 0:
        yield from values
    else:
        yield values[0]


def exchanged_in_a_consumer(x, y, k):
    shared = y
    for _ in positive_or_first(x):
        after = lambda: shared + 1
        after()
        shared = y % 3
        for _ in all_or_first(shared, k):
            y, shared = shared, y
    return shared


def exchanged_and_read(x, y, k):
    shared, total = y, 0
    for _ in positive_or_first(x):
        after = lambda: shared + 1
        total = total + after()
        shared = y % 3
        for _ in all_or_first(shared, k):
            y, shared = shared, y
        total = total + after()
    return shared, total


def back_in_a_branch(x, y, k):
    shared, total = y, 0

    def change():
        nonlocal shared
        first, shared = shared, y % 3
        if k >= 0:
            shared = shared + 1
        change_back(first)

    def change_back(first):
        nonlocal shared
        shared = first

    for v in x:
        if v > 0:
            change()
            total = total + shared
        else:
            total = total - shared
    return shared, total


LEVEL = 0


def set_level(value):
    global LEVEL
    LEVEL = value


def change_level(y, k):
    global LEVEL
    first, LEVEL = LEVEL, y % 3
    if k >= 0:
        LEVEL = LEVEL + 1
    set_level(first)


def global_back_in_a_branch(x, y, k):
    global LEVEL
    LEVEL, total = y, 0
    for v in x:
        if v > 0:
            change_level(y, k)
            total = total + LEVEL
        else:
            total = total - LEVEL
    return total + LEVEL


PROGRAMS = [
    exchanged_in_a_consumer,
    exchanged_and_read,
    back_in_a_branch,
    global_back_in_a_branch,
]


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("k", [1, -1])
def test_a_path_begins_with_what_the_name_was_before_the_branch(program, engine, k):
    staged = graphify.function(program, engine=engine)
    y = np.array([7, 2, 5, 1, 3], np.int16)
    for x in (np.arange(5.0) - 1, -np.arange(5.0), np.ones(5)):
        want, got = program(x, y, k), staged(x, y, np.int64(k))
        for a, b in zip(graphify.tree.leaves(want), graphify.tree.leaves(got), strict=True):
            assert np.asarray(b).dtype == np.asarray(a).dtype
            np.testing.assert_array_equal(np.asarray(b), a)
