"""NumPy generators in functions: every run draws anew, from the same stream plain Python would."""

import numpy as np

import graphify

module_rng = np.random.default_rng(0)


def from_global(x):
    return x + module_rng.normal(size=3)


def from_argument(x, rng):
    for i in range(20):
        x = x + rng.uniform() * i
    return x


def from_legacy_state(x):
    np.random.seed(7)
    return x * np.random.rand(3)


def test_a_generator_from_outside_is_drawn_from_at_each_run():
    global module_rng
    module_rng = np.random.default_rng(1)
    staged = graphify.function(from_global)
    drawn = [staged(np.zeros(3)).numpy() for _ in range(3)]
    module_rng = np.random.default_rng(1)
    np.testing.assert_array_equal(drawn, [from_global(np.zeros(3)) for _ in range(3)])


def test_a_generator_argument_in_a_staged_loop():
    staged = graphify.function(from_argument)
    ours, theirs = np.random.default_rng(5), np.random.default_rng(5)
    for _ in range(2):
        got = staged(np.zeros(2), ours)
        np.testing.assert_array_equal(got, from_argument(np.zeros(2), theirs))
    assert len(staged.traces()) == 1


def test_the_legacy_state_is_numpys_own():
    got = graphify.function(from_legacy_state)(np.ones(3))
    np.testing.assert_array_equal(got, from_legacy_state(np.ones(3)))
