"""Operators between numbers of every kind: Python's own, traced and written out, and NumPy's."""

import itertools

import numpy as np
import pytest

import graphify
from tests.autograph.test_library import outcome

KINDS = {  # how to make one of a 0-d array; its values
    "int": (int, [3, -2, 0]),
    "float": (float, [2.5, -1.0, 0.0]),
    "bool": (bool, [True, False]),
    "int64": (lambda a: np.int64(a), [3, 0]),
    "float64": (lambda a: np.float64(a), [2.5, 0.0]),
    "bool_": (lambda a: np.bool_(a), [True, False]),
    "uint8": (lambda a: np.uint8(a), [200, 3]),
}
OPERATORS = {
    "arithmetic": lambda a, b: [a + b, a * b],
    "difference": lambda a, b: a - b,
    "quotient": lambda a, b: a / b,
    "whole quotient": lambda a, b: (a // b, a % b),
    "bits": lambda a, b: (a & b, a | b, a ^ b),
    "order": lambda a, b: (a < b, a <= b, a > b, a >= b),
    "equality": lambda a, b: (a == b, a != b),
}


def compare(function, *arguments):
    want, got = outcome(function, *arguments), outcome(graphify.function(function), *arguments)
    if isinstance(want, tuple) or isinstance(got, tuple):
        assert isinstance(want, tuple) and isinstance(got, tuple), (arguments, want, got)
        assert set(got[0]) >= set(want[0]), (arguments, want, got)
    else:
        assert got == want, (arguments, want, got)


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("kinds", [*itertools.product(KINDS, KINDS)], ids="-".join)
def test_of_two(kinds, name):
    (first, left), (second, right) = KINDS[kinds[0]], KINDS[kinds[1]]

    def shown(a, b):
        print([OPERATORS[name](first(a), second(b))])

    with np.errstate(all="ignore"):
        for x, y in itertools.product(left, right):
            compare(shown, np.asarray(x), np.asarray(y))


@pytest.mark.parametrize("name", ["arithmetic", "bits", "order", "equality"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("number", [True, 2, 1.5])
def test_with_one_that_is_written_out(kind, number, name):
    make, values = KINDS[kind]

    def shown(a):
        print([OPERATORS[name](make(a), number), OPERATORS[name](number, make(a))])

    for value in values:
        compare(shown, np.asarray(value))


@pytest.mark.parametrize("kind", KINDS)
def test_of_one(kind):
    make, values = KINDS[kind]

    def shown(a):
        v = make(a)
        print([+v if kind != "bool_" else v, not v, abs(v), v * True, v**2])

    for value in values:
        compare(shown, np.asarray(value))
