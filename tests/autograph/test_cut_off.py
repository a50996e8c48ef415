"""Arrays that have integers on one path and floats on another: those of integers cut off what is
stored in them. The graph has floats for both; where that could show, the run ends with an error.
"""

import bisect

import numpy as np
import pytest

import graphify
from graphify.errors import TraceError

X = np.array([1.0, 3.0, 5.0])


def arrays(x, k):
    v = np.array([1, 2, 3])
    if k > 0:
        v = x * 0.5
    return v


# --- what is the same on both paths ---------------------------------------------------------------


def whole_numbers_stored(x, k):
    v = arrays(x, k)
    v[1:] = 2.0
    w = v + 1
    w[0] = k
    w[w > 2] = 7
    return v, w


def moved_within(x, k):
    v = arrays(x, k)
    v[[0, 1]] = v[[1, 0]]
    v[0], v[2] = v[2], v[0]
    v += v[::-1]
    return v


def swapped_in_a_loop(x, k):
    v = arrays(x, k).copy()
    for i in range(len(v)):
        for j in range(len(v) - 1):
            if v[j] < v[j + 1]:
                v[j], v[j + 1] = v[j + 1], v[j]
    return v


def made_floats(x, k):
    v = arrays(x, k).astype(float)
    v[0] = 0.5
    v += 0.25
    u = np.array(arrays(x, k), dtype=float)
    u[1] = 0.1
    return v, u


def computed_with_floats(x, k):
    v = arrays(x, k) + x
    v[0] = 0.7
    w = np.sqrt(arrays(x, k))
    w[1] = 0.7
    u = arrays(x, k) / 2
    u /= 3
    return v, w, u


def floats_after_a_turn(x, k):
    v = np.array([1, 2, 3])
    for i in range(k):
        v = v * 0.5
        v[0] = 0.7
        v -= 0.5
    return v


def integers_in_place(x, k):
    v = arrays(x, k)
    v += 1
    v *= k + 2
    np.add.at(v, [0, 0], 3)
    np.put(v, [1], [4])
    return v


def elements(x, k):
    v = arrays(x, k)
    v[0] = v[1] + v[2]
    return v, v[0] // 2, v.sum() / 3, v.max() % 2


SAME = [
    whole_numbers_stored,
    moved_within,
    swapped_in_a_loop,
    made_floats,
    computed_with_floats,
    floats_after_a_turn,
    integers_in_place,
    elements,
]


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("program", SAME, ids=lambda f: f.__name__)
def test_is_as_in_numpy(program, engine):
    staged = graphify.function(program, engine=engine)
    for k in (0, 2, 1):
        want = graphify.tree.leaves(program(X.copy(), k))
        got = graphify.tree.leaves(staged(X.copy(), np.int64(k)))
        for a, b in zip(want, got, strict=True):
            np.testing.assert_allclose(np.asarray(b), a)


# --- what is not ----------------------------------------------------------------------------------


def stored(x, k):
    v = arrays(x, k)
    v[0] = 2.7
    return v


def stored_from_the_arguments(x, k):
    v = arrays(x, k)
    v[1] = x[0] + 0.5
    return v


def stored_in_what_was_computed(x, k):
    v = arrays(x, k) * 2
    v[1:] = x[:2] + 0.5
    return v


def stored_through_a_view(x, k):
    v = arrays(x, k)
    part = v[1:]
    part[x[1:] > 2] = 0.5
    return v


def stored_in_a_loop(x, k):
    v = np.arange(11)
    if k > 0:
        v = v * 0.5
    v = v.copy()
    for i in range(len(v)):
        v[i] = v[i] + x[0] / 2
    return v


def stored_after_a_loop(x, k):
    v = np.array([1, 2, 3])
    for i in range(k):
        v = v * 0.5
    v[0] = 0.7
    return v


def stored_in_one_made_alike(x, k):
    z = np.zeros_like(arrays(x, k))
    z[0] = 0.5
    return z


def stored_not_a_number(x, k):
    v = arrays(x, k)
    v[0] = x[0] * np.inf
    return v


def stored_from_another(x, k):
    v, u = np.arange(3), np.arange(3)
    if k > 0:
        v = v * 0.5
    if k < 2:
        u = u * 0.5
    v[:] = u
    return v


def stored_of_a_list(x, k):
    rows = []
    for i in range(k + 1):
        rows.append(np.arange(3) if i % 2 == 0 else x)
    v = rows[k % 2].copy()
    v[0] = 0.7
    return v


def stored_of_one_of_two(x, k):
    v = [np.arange(3), x * 1.0][k % 2].copy()
    v[0] = 0.7
    return v


def joined(x, k):
    v = np.concatenate([np.arange(3), arrays(x, k)])
    v[0] = 0.7
    return v


def padded(x, k):
    v = np.pad(arrays(x, k), 1)
    v[1] = 0.7
    return v


def stacked(x, k):
    v = np.stack([arrays(x, k), np.arange(3)])
    v[1, 1] = 0.7
    return v


def selected(x, k):
    v = np.select([x > 1], [arrays(x, k)], 2)
    v[1] = 0.7
    return v


def stored_of_a_number(x, k):
    n = 1
    if k > 0:
        n = 0.5
    v = np.array([n, 2])
    v[1] = 0.7
    return v


def divided_by_zero(x, k):
    return arrays(x, k) // (k - k)


def updated_by_floats(x, k):
    v = arrays(x, k)
    v -= 0.5
    return v


def divided_in_place(x, k):
    v = arrays(x, k)
    v /= 2
    return v


def copied_to(x, k):
    v = arrays(x, k)
    np.copyto(v, x)
    return v


def out(x, k):
    v = arrays(x, k)
    np.add(x, 0.5, out=v)
    return v


def added_at(x, k):
    v = arrays(x, k)
    np.add.at(v, [0, 0], 0.5)
    return v


def roots_at(x, k):
    v = arrays(x, k)
    np.sqrt.at(v, [1])
    return v


def divided_at(x, k):
    v = arrays(x, k)
    np.divide.at(v, [1], 2)
    return v


DIFFERENT = [
    stored,
    stored_from_the_arguments,
    stored_in_what_was_computed,
    stored_through_a_view,
    stored_in_a_loop,
    stored_after_a_loop,
    stored_in_one_made_alike,
    stored_not_a_number,
    stored_from_another,
    stored_of_a_list,
    stored_of_one_of_two,
    joined,
    padded,
    stacked,
    selected,
    stored_of_a_number,
    divided_by_zero,
    updated_by_floats,
    divided_in_place,
    copied_to,
    out,
    added_at,
    roots_at,
    divided_at,
]


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("program", DIFFERENT, ids=lambda f: f.__name__)
def test_ends_with_an_error(program, engine):
    staged = graphify.function(program, engine=engine)
    with pytest.raises(TraceError, match="on one path") as caught:
        staged(X.copy(), np.int64(0))
    assert "test_cut_off.py" in str(caught.value)


def test_a_list_is_indexed_by_what_is_of_two_kinds():
    @graphify.function
    def taken(x, k):
        found = []
        try:
            for v in x:
                bisect.insort(found, v)
            last = found[np.uint64(k) % len(found)]
        except IndexError:
            last = -1
        return last

    x = np.array([3, 5, 7])
    for k in (0, 1, 2, 4):
        assert taken(x, k) == x[k % 3]


def test_what_is_not_reached_is_no_error():
    @graphify.function
    def guarded(x, k):
        v = arrays(x, k)
        if k > 5:
            v[0] = x[0] + 0.5
        return v

    np.testing.assert_array_equal(guarded(X, np.int64(0)), [1, 2, 3])
    np.testing.assert_array_equal(guarded(X, np.int64(1)), X * 0.5)
    with pytest.raises(TraceError, match="no whole number"):
        guarded(X, np.int64(6))


def test_its_class_is_that_of_an_array():
    @graphify.function
    def kind(x, k):
        v = arrays(x, k)
        return type(v) is np.ndarray, isinstance(v, np.ndarray), isinstance(v, float)

    assert kind(X, np.int64(1)) == (True, True, False)
