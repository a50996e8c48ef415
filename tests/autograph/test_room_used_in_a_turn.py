"""Lists that a turn of a loop fills and then replaces: their room is counted all the same.

What a turn appends to a list that is another one, or shorter, at the turn's end needs a buffer
of the list's greatest length in the turn, not of the length it has in the end.
"""

import numpy as np
import pytest

import graphify


def rebound_to_none(x, k):
    part, total = [x[0]], 0
    for v in x:
        part.append(v)
        total += part[0]
        part = []
    return total


def popped(x, k):
    part, total = [x[0]], 0
    for v in x:
        part.append(v)
        part.append(2 * v)
        total += part[k % 2]
        part.pop()
        part.pop()
    return total


def cleared(x, k):
    part, total = [x[0]], 0
    for v in x:
        part.append(v)
        part.append(2 * v)
        total += part[0]
        part.clear()
    return total


def cut(x, k):
    part, total = [x[0]], 0
    for v in x:
        part.append(v)
        part.append(2 * v)
        total += part[-1]
        part = part[:1]
    return total


def cut_in_place(x, k):
    part, total = [x[0]], 0
    for v in x:
        part += [v, v + 1]
        total += part[-1]
        part[:] = []
    return total


def deleted(x, k):
    part, total = [x[0]], 0
    for v in x:
        part.append(v)
        part.append(2 * v)
        total += part[-1]
        del part[:2]
    return total


def exchanged(x, k):
    part, other, total = [x[0]], [x[0], 2.0], 0
    for v in x:
        part.append(v)
        part.append(v)
        total += part[k % 3] + other[0]
        part, other = other, part
    return total


def rebound_to_more(x, k):
    part, total = [x[0]], 0
    for v in x:
        part.append(v)
        part.append(v)
        total += part[-1]
        part = [v, v, v]
    return total


def rebuilt(x, k):
    part, total = [x[0]], 0
    for v in x:
        new = []
        for w in part:
            new.append(w + v)
            new.append(w)
        part = new[:3]
        total += part[-1]
    return total


def filled_by_a_loop(x, k):
    part, total = [x[0]], 0
    for v in x:
        for w in x:
            part.append(w + v)
        total += part[-1]
        part = []
    return total


def replaced_on_paths(x, k):
    part, total = [x[0]], 0
    for v in x:
        if v > 2:
            part.append(v)
        part.append(1.0)
        total += part[-1]
        if v > 3:
            part = [v]
        else:
            part = []
    return total


def nested(x, k):
    part, total = [[x[0]]], 0
    for v in x:
        part[0].append(v)
        part.append([v])
        total += part[-1][0] + part[0][-1]
        part = [[v]]
    return total


def replaced_inside(x, k):
    part, total = [x[0]], 0
    for v in x:
        for w in x:
            part.append(w + v)
            total += part[k % 2]
            part = [w]
            part.append(w)
    return total


def counted(x, k):
    part, total = [x[0]], 0
    for i in range(k):
        part.append(x[i % 2])
        total += part[0] + len(part)
        part = []
    return total, len(part)


PROGRAMS = [
    rebound_to_none,
    popped,
    cleared,
    cut,
    cut_in_place,
    deleted,
    exchanged,
    rebound_to_more,
    rebuilt,
    filled_by_a_loop,
    replaced_on_paths,
    nested,
    replaced_inside,
    counted,
]


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_the_greatest_length_in_a_turn_counts(program, engine):
    staged = graphify.function(program, engine=engine)
    for size in (5, 7, 3, 6, 2):  # after the second, the size is a symbol
        x = np.arange(size) + 1.0
        want = program(x, 3)
        got = staged(x, np.int64(3))
        for a, b in zip(graphify.tree.leaves(want), graphify.tree.leaves(got), strict=True):
            np.testing.assert_array_equal(np.asarray(b), a)


# What is the same in every turn is computed before the loop, and fails there where it has no turn.


def made_anew(x, k):
    part = [x[0]]
    for i in range(k):
        part = [1.5]
        part.append(2.0)
    return part


def longer_from_turn_to_turn(x, k):
    part, other = [x[0]], [x[1], 2.0, 3.0]
    for i in range(k):
        part = other + [x[0]]
        part.extend(other)
    return part, len(part)


def made_anew_while(x, k):
    part, i = [], 0
    while i < k:
        part = [x[0], x[1]]
        part.insert(0, 3.0)
        i += 1
    return part, sum(part)


def row_made_anew(x, k):
    rows = [[x[0]]]
    for i in range(k):
        row = [0.5, 1.5]
        row.append(2.5)
        rows.append(row)
    return rows


def one_of_two(x, k):
    part = [x[0]]
    for i in range(k):
        if x[1] > 0:
            part = [1.5, 2.5, 3.5]
            part.append(2.0)
    return part


NO_TURNS = [made_anew, longer_from_turn_to_turn, made_anew_while, row_made_anew, one_of_two]


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("program", NO_TURNS, ids=lambda f: f.__name__)
def test_a_loop_of_no_turns_needs_no_room(program, engine):
    staged = graphify.function(program, engine=engine)
    for k in (0, 1, 0, 3):
        x = np.arange(5) + 1.0
        want, got = program(x, k), staged(x, np.int64(k))
        want, got = map(graphify.tree.leaves, (want, got))
        assert [np.asarray(v).tolist() for v in got] == [np.asarray(v).tolist() for v in want]
