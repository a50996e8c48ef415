"""Loops that meet themselves in one turn: split there, in vector lanes, and the same to the bit."""

import numpy as np
import pytest

import graphify


def shortest_paths(a):
    n = a.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                a[i, j] = min(a[i, j], a[i, k] + a[k, j])
    return a


def gauss_jordan(a):
    n = a.shape[0]
    for k in range(n):
        for i in range(n):
            if i != k:
                for j in range(a.shape[1]):
                    a[i, j] = a[i, j] - a[i, k] * a[k, j]
    return a


def row_by_its_own_element(a):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] = a[i, j] / (1.0 + abs(a[i, 2]))
    return a


def column_by_its_own_element(a):
    for j in range(a.shape[1]):
        for i in range(a.shape[0]):
            if a[i, j] > 0:
                a[i, j] += a[1, j]
            else:
                a[i, j] = a[1, j] * 2
    return a


def two_meetings(a):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] = a[i, 1] + a[i, 2] * a[i, j]
    return a


def maybe_outside(a):
    for i in range(a.shape[0]):
        for j in range(a.shape[1] - 2):
            a[i, j] = a[i, i % 4] + a[i, j]
    return a


PROGRAMS = [
    shortest_paths,
    gauss_jordan,
    row_by_its_own_element,
    column_by_its_own_element,
    two_meetings,
    maybe_outside,
]


@pytest.mark.parametrize("check", [False, True])
@pytest.mark.parametrize("function", PROGRAMS)
def test_the_same_to_the_bit(function, check):
    with graphify.config(check=check):
        staged = graphify.function(function, engine="native")
        for n in (3, 4, 5, 9, 17):
            a = np.random.default_rng(n).normal(size=(n, n)) / n
            mine, theirs = a.copy(), a.copy()
            np.testing.assert_array_equal(staged(mine), function(theirs))
            np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("function", PROGRAMS[:3])
def test_split_and_in_lanes(function):
    a = np.zeros((9, 9))
    staged = graphify.function(function, engine="native")
    staged(a)
    text = str(staged.get_concrete_function(a).lower())
    assert "in 1:" in text
    assert text.count("vector for") >= 2


def test_what_meets_itself_twice_or_who_knows_where_stays_whole():
    for function in (two_meetings, maybe_outside):
        a = np.zeros((9, 9))
        staged = graphify.function(function, engine="native")
        staged(a)
        assert " in 1:" not in str(staged.get_concrete_function(a).lower())
