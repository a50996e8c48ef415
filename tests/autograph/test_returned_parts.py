"""Parts of an array returned by the loop that fills it: no turn begins once a value is returned."""

import numpy as np
import pytest

import graphify
from graphify.errors import TraceError

ENGINES = ["reference", "native"]
X = np.arange(12.0)


def filled_up_to(x, bound):
    done = np.zeros(len(x))
    for i in range(len(x)):
        done[i] = 2 * x[i]
        if done[i] > bound:
            return done[:i]
    return done


def of_an_argument(x, bound):
    i = 0
    while i < len(x):
        x[i] *= 2
        if x[i] > bound:
            return x[:i], i
        i += 1
    return x, -1


def from_nested_loops(x, bound):
    table = np.zeros((len(x), 3))
    for i in range(len(x)):
        for j in range(i % 3 + 1):
            table[i, j] = x[i] * j
            if table[i, j] > bound:
                return table[: i + 1, :j]
    return table


def of_several_kinds(x, bound):
    done = np.zeros(len(x))
    for i in range(len(x)):
        done[i] = x[i]
        if done[i] == 4:
            return None
        if done[i] > bound:
            return done[:i]
    return 0.0


def by_a_callee(x, bound):
    head = filled_up_to(x, bound)
    part, n = of_an_argument(x, bound)
    return head, part.sum(), n


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "function",
    [filled_up_to, of_an_argument, from_nested_loops, of_several_kinds, by_a_callee],
)
def test_a_part_is_returned(function, engine):
    staged = graphify.function(function, engine=engine)
    for x in (X, -X, X[:10], X[1:2], X[:0]):
        for bound in (1.0, 5.0, 99.0):
            plain, given = x.copy(), x.copy()
            want, got = function(plain, np.float64(bound)), staged(given, np.float64(bound))
            want, got = graphify.tree.leaves(want), graphify.tree.leaves(got)
            for a, b in zip([*want, plain], [*got, given], strict=True):
                np.testing.assert_equal(None if b is None else np.asarray(b), a)


@pytest.mark.parametrize("change", [0, 1])
def test_a_part_that_the_caller_changes_is_refused(change):
    @graphify.function
    def f(x, bound):
        both = (of_an_argument(x, bound)[0], x)
        both[change][0] = 7.0
        return both

    with pytest.raises(TraceError, match="may, or may not, be the array"):
        f(X.copy(), np.float64(5.0))
