"""Dicts and sets that copies, methods and operators make of known ones, and that get keys which
only the run knows."""

import copy
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphify

ENGINES = ["reference", "native"]
TABLE = {0: 1.0, 3: 2.0}
ELEMENTS = {0, 3}
PROGRAMS = []


def program(function: Any) -> Any:
    PROGRAMS.append(function)
    return function


@program
def copied_dict(x, k):
    d = {0: 1.0}
    e = d.copy()
    e[k] = x[0]
    return sorted(e.items()), len(d)


@program
def copied_from_outside(x, k):
    d, e, s = TABLE.copy(), copy.copy(TABLE), ELEMENTS.copy()
    d[k] = e[k] = x[0]
    s.discard(k)
    return sorted(d.items()), sorted(e.items()), sorted(s), len(TABLE), len(ELEMENTS)


@program
def deeply_copied(x, k):
    d, s = copy.deepcopy({0: 1.0}), copy.deepcopy(ELEMENTS)
    d[k] = x[0]
    s.add(k)
    return sorted(d.items()), sorted(s)


@program
def copies_of_kinds(x, k):
    counts, groups, ordered = Counter([1, 2]), defaultdict(int), OrderedDict()
    groups[1] = ordered[1] = 2
    more, others, later = counts.copy(), groups.copy(), ordered.copy()
    more[k] += 1
    others[k] += 3
    later[k] = 1
    found = sorted(more.items()), sorted(others.items()), list(later.items())
    return found, len(counts), len(groups), len(ordered)


@program
def operators_of_sets(x, k):
    s, t = {1, 2, 7}, {2, 7, 9}
    union, common, rest, either = s | t, s & t, s - t, s ^ t
    for made in (union, common, rest, either):
        made.add(k)
    return sorted(union), sorted(common), sorted(rest), sorted(either), len(s), len(t)


@program
def operators_with_what_is_outside(x, k):
    union, common, rest, d = ELEMENTS | {1}, {3, 5} & ELEMENTS, ELEMENTS - {3}, TABLE | {7: 2.0}
    for made in (union, common, rest):
        made.add(k)
    d[k] = x[0]
    return sorted(union), sorted(common), sorted(rest), sorted(d.items())


@program
def methods_of_sets(x, k):
    made = [
        ELEMENTS.union([5], {7}), ELEMENTS.intersection([3, 5]),
        ELEMENTS.difference([3]), ELEMENTS.symmetric_difference([3, 5]), set.union({1}, {2}),
    ]  # fmt: skip
    for s in made:
        s.add(k)
    return [sorted(s) for s in made], sorted(ELEMENTS.union({k})), len(ELEMENTS)


@program
def made_anew_in_a_loop(x, k):
    s = set()
    t = s.copy()
    for i in range(3):
        s = s | {i}
    n = 0
    while n < k:
        n += 1
        t = s - t
    t.add(k + 5)
    return sorted(s), sorted(t)


@program
def taken_away_in_a_branch(x, k):
    """A set that a loop has left changes in a branch of another one."""
    i, s = 0, set()
    t = s.copy()
    while i < k + 2:
        i += 1
        s = t - s
    while i < k + 4:
        i += 1
        if len(s) > 2:
            s -= {int(x[1])}
    return sorted(s), len(t)


def plain(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return np.asarray(value).tolist()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_as_python_has_them(function: Callable[..., Any], engine: str) -> None:
    staged = graphify.function(function, engine=engine)
    for k in (2, 1, 3, 0):
        x = np.arange(4.0) + k
        assert plain(staged(x, np.int64(k))) == plain(function(x, np.int64(k)))


class Own(dict):
    pass


class Elements(set):
    pass


class Counts(Counter):
    pass


def test_copies_are_of_the_class_that_python_gives_them() -> None:
    def classes(x):
        made = [
            Own(a=1).copy(), copy.copy(Own(a=1)), Elements([1]).copy(), Elements([1]).union([2]),
            copy.copy(Elements([1])), Counts([1]).copy(), copy.deepcopy(Counts([1])),
            defaultdict(int).copy(), OrderedDict().copy(), Counter().copy(), frozenset().union([2]),
        ]  # fmt: skip
        return ", ".join([type(each).__name__ for each in made]), x

    x = np.ones(2)
    assert graphify.function(classes)(x)[0] == classes(x)[0]


def test_wrong_arguments_of_methods() -> None:
    for wrong in (lambda x: {1}.union(3), lambda x: {1: 2}.copy(3), lambda x: {1}.copy(3)):
        with pytest.raises(TypeError):
            graphify.function(wrong)(np.ones(2))
