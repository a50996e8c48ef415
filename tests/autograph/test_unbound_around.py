"""Functions converted apart from the one around them, and the names they read of it.

A generator, and a method of a local class, is converted when it is used. A name of the function
around it may be bound on some paths only by then: reading it is reading an unbound name.
"""

import numpy as np
import pytest

import graphify


def consumed(x, k):
    if k > 0:
        first = x[0]

    def shifted(values):
        for v in values:
            yield v + first

    total = 0
    for e in shifted(x):
        total += e
    return total


def listed(x, k):
    if k > 0:
        first = x[0]

    def shifted(values):
        for v in values:
            yield v + first

    return list(shifted(x))


def pulled(x, k):
    if k > 0:
        first = x[0]

    def shifted(values):
        for v in values:
            yield v + first

    source = shifted(x)
    return next(source) + next(source)


def rebound(x, k):
    if k > 0:
        total = 0

    def sums(values):
        nonlocal total
        for v in values:
            total += v
            yield total

    best = 0
    for e in sums(x):
        best += e
    return best + total


def called_inside(x, k):
    if k > 0:
        first = x[0]

    def shifted(values):
        def add(v):
            return v + first

        for v in values:
            yield add(v) + (lambda: first)() + sum([first for _ in values])

    total = 0
    for e in shifted(x):
        total += e
    return total


def method(x, k):
    if k > 0:
        first = x[0]

    class Shift:
        def add(self, v):
            return v + first

    return Shift().add(x)


def generator_method(x, k):
    if k > 0:
        first = x[0]

    class Shift:
        def each(self, values):
            for v in values:
                yield v + first

    total = 0
    for e in Shift().each(x):
        total += e
    return total


def caught(x, k):
    if k > 0:
        first = x[0]

    class Shift:
        def add(self, v):
            try:
                return v + first
            except NameError:
                return -v

    return Shift().add(x)


def as_it_is(x, k):
    if k > 0:
        first = x[0]

    class Shift:
        def get(self):
            return first

        other = lambda self: first

    return Shift().get() + Shift().other()


def class_body(x, k):
    if k > 0:
        first = x[0]

    class Shift:
        three = 3
        if three > 2:
            more = first + three

    return Shift.more


def defaults(x, k):
    if k > 0:
        first = x[0]

    class Shift:
        def add(self, v, by=first, *, twice=first):
            return v + by + twice

    return Shift().add(x)


def class_in_class(x, k):
    if k > 0:
        first = x[0]

    class Outer:
        class Inner:
            own = first

    return Outer.Inner.own


def bound_in_the_class(x, k):
    if k > 0:
        first = x[0]

    class Shift:
        first = 3
        own = first

    return Shift.own + x * first if k > 0 else Shift.own + x


PROGRAMS = [
    as_it_is,
    class_body,
    defaults,
    class_in_class,
    bound_in_the_class,
    consumed,
    listed,
    pulled,
    rebound,
    called_inside,
    method,
    generator_method,
    caught,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_a_name_that_may_be_unbound_is_checked_where_it_is_read(program):
    x = np.arange(3.0) + 1
    for k in (1, -1):  # where it is bound, and where not
        staged = graphify.function(program)
        try:
            want = program(x, k)
        except NameError:
            with pytest.raises(NameError, match="not associated with a value") as caught:
                staged(x, np.int64(k))
            assert "in user code" in str(caught.value) and "test_unbound_around" in str(
                caught.value
            )
            continue
        got = staged(x, np.int64(k))
        for a, b in zip(graphify.tree.leaves(want), graphify.tree.leaves(got), strict=True):
            np.testing.assert_allclose(np.asarray(b), a)


def test_a_conversion_for_a_bound_name_is_not_used_where_it_is_unbound():
    """The same code, with the name bound for certain first and on one path only then."""

    def program(x, k, sure):
        if sure or k > 0:
            first = x[0]

        def shifted(values):
            for v in values:
                yield v + first

        total = 0
        for e in shifted(x):
            total += e
        return total

    x, staged = np.arange(3.0), graphify.function(program)
    for sure in (True, False):
        assert staged(x, np.int64(1), sure) == program(x, 1, sure)
    with pytest.raises(NameError, match="not associated with a value"):
        staged(x, np.int64(-1), False)


def test_the_code_of_a_closure_over_bound_names_has_no_checks():
    n = 3

    def scaled(x):
        return x * n

    assert "defined" not in graphify.autograph.to_code(scaled)
