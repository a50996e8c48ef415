"""Containers that a run-time index or condition picks: changes reach the one that is named."""

import warnings

import numpy as np
import pytest

import graphify
from graphify.errors import TraceError

SEEDS = range(6)


def buckets(x, ks):
    rows = [[] for _ in range(3)]
    for v, k in zip(x, ks, strict=True):
        rows[int(k) % 3].append([v, 1.0])
    return rows


def by_index_until_it_fails(x, ks):
    rows, done = [[], []], 0
    try:
        for v, k in zip(x, ks, strict=True):
            rows[int(k)].append(v)
            done += 1
    except IndexError:
        done = -done
    return rows, done


def names_that_change_their_list(x, ks):
    rows = [[1.0], [2.0]]
    row = rows[0]
    if ks[0] % 2 == 1:
        row = rows[1]
    if x[0] > 0:
        row.append(x[0])
        if x[1] > 0:
            row = rows[0]
    row.append(7.0)
    return rows, row


def swapped_in_each_turn(x, ks):
    rows = [[], []]
    for v, k in zip(x, ks, strict=True):
        rows[int(k) % 2].append(v)
        rows[0], rows[1] = rows[1], rows[0]
    return rows


def swapped_under_a_condition(x, ks):
    first, second = [1.0], [2.0]
    rows = [first, second]
    if x[0] > 0:
        rows[0], rows[1] = rows[1], rows[0]
    rows[0].append(5.0)
    for v in x:
        rows[0], rows[1] = rows[1], rows[0]
        first.append(v)
    return first, second, rows


def rows_of_a_matrix_pivoted(x, ks):
    rows = [[v, v * v, 1.0] for v in x[:3]]
    for c in range(3):
        for r in range(c + 1, 3):
            if abs(rows[r][c]) > abs(rows[c][c]):
                rows[r], rows[c] = rows[c], rows[r]
            for j in range(3):
                rows[r][j] -= 0.5 * rows[c][j]
    return rows


def arrays_in_a_list(x, ks):
    first, second = x[:2].copy(), x[1:3].copy()
    rows = [first, second]
    for v, k in zip(x, ks, strict=True):
        rows[int(k) % 2][0] = v
        rows[(int(k) + 1) % 2] += 1
        row = rows[int(k) % 2]
        row *= 0.5
    return rows, first


def views_in_a_list(x, ks):
    rows = [x[:2], x[1:3]]
    rows[int(ks[0]) % 2][1] = 100.0
    return x.sum(), rows


def in_place_operators(x, ks):
    rows, table = [[1.0], [2.0]], [{"n": 1.0}, {"n": 2.0}]
    first, entry = rows[0], table[0]
    for v, k in zip(x, ks, strict=True):
        rows[int(k) % 2] += [float(np.sin(v))]
        rows[0 if v > 0 else 1] += [v, abs(v)]
        table[int(k) % 2] |= {"n": float(v)}
    return rows, first, table, entry


def read_by_another_index(x, ks):
    rows = [[0.0], [1.0]]
    total = 0.0
    for v, k in zip(x, ks, strict=True):
        rows[int(k) % 2].append(v)
        row = rows[(int(k) + 1) % 2]
        total = total + sum(row) * len(row) + row[-1]
    return total, rows


def arguments_of(seed):
    rng = np.random.default_rng(seed)
    count = (4, 5, 9, 3, 20, 7)[seed]
    return rng.normal(size=count) * 2, rng.integers(-3, 4, count)


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize(
    "function",
    [
        buckets,
        by_index_until_it_fails,
        names_that_change_their_list,
        swapped_in_each_turn,
        swapped_under_a_condition,
        rows_of_a_matrix_pivoted,
        arrays_in_a_list,
        views_in_a_list,
        in_place_operators,
        read_by_another_index,
    ],
)
def test_as_in_python(function, engine):
    staged = graphify.function(function, engine=engine)
    for seed in SEEDS:
        want = graphify.tree.flatten(function(*arguments_of(seed)))
        got = graphify.tree.flatten(staged(*arguments_of(seed)))
        assert got[1] == want[1]
        for one, other in zip(got[0], want[0], strict=True):
            np.testing.assert_allclose(one, other)


def test_caller_sees_the_change():
    rows = [[1.0], [2.0]]

    @graphify.function
    def add(rows, k, v):
        rows[k].append(v)

    add(rows, np.array(1), np.float64(3.0))
    add(rows, np.array(-2), np.float64(4.0))
    assert [[float(v) for v in row] for row in rows] == [[1.0, 4.0], [2.0, 3.0]]


def test_index_out_of_range_is_pythons_error():
    @graphify.function
    def add(k):
        rows = [[], []]
        rows[k].append(1.0)
        return len(rows[0])

    assert add(np.array(-2)) == 1
    with pytest.raises(IndexError, match="list index out of range"):
        add(np.array(2))


def test_known_indices_keep_lists_of_known_length():
    """Only a place whose copies were in the way tells containers apart."""

    @graphify.function
    def both(x, k):
        rows = [[] for _ in range(3)]
        for i in range(3):
            rows[i].append(x[i])
        sides = [[], []]
        sides[k].append(x[0])
        return np.array(rows), len(sides[0])

    stacked, count = both(np.arange(3.0), np.array(1))
    np.testing.assert_array_equal(stacked, [[0.0], [1.0], [2.0]])
    assert count == 0
    assert both.get_concrete_function(np.arange(3.0), np.array(1)).graph.results[0].spec.shape == (
        3,
        1,
    )


def test_loop_is_staged_without_a_warning():
    @graphify.function
    def split(x):
        sides = [[], []]
        for v in x:
            if v > 3:
                break
            sides[0 if v > 0 else 1].append(v)
        return len(sides[0]), len(sides[1])

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert split(np.linspace(-1, 1, 3001)) == (1500, 1501)


def many_lists(x, k):
    rows = [[0.0] for _ in range(20)]
    rows[k].append(x[0])
    return rows


def many_empty_lists(x, k):
    rows = [[] for _ in range(20)]
    rows[k].append(x[0])
    return rows


def many_lists_over_loops(x, k):
    rows = [[] for _ in range(20)]
    for i in range(len(x)):
        rows[k % 20].append(x[i])
        rows[(k + i) % 20].append(-x[i])
    return rows, [len(row) for row in rows]


def many_lists_changed_by_a_function(x, k):
    def push(rows, i, v):
        rows[i].append(v)

    rows = [list() for _ in range(9)]
    for i in range(9):
        rows[i].append(float(i))
    for i in range(len(x)):
        push(rows, (k * i) % 9, x[i])
    total = 0.0
    for row in rows:
        total += len(row) * row[0]
    rows[3] = [total]
    rows.append([1.0])
    del rows[0]
    return rows, len(rows)


def many_lists_of_different_lengths(x, k):
    rows = [[] for _ in range(9)]
    rows[2].append(5.0)
    for i in range(len(x)):
        rows[(k + i) % 9].append(x[i])
    return rows


@pytest.mark.parametrize(
    "function",
    [
        many_lists,
        many_empty_lists,
        many_lists_over_loops,
        many_lists_changed_by_a_function,
        many_lists_of_different_lengths,
    ],
)
def test_many_lists_are_rows_of_a_buffer(function):
    for k in (0, 3, 19):
        got, want = graphify.function(function)(np.ones(12), np.array(k)), function(np.ones(12), k)
        same = graphify.tree.map_structure(lambda a, b: float(a) == float(b), got, want)
        assert all(graphify.tree.leaves(same))


def many_lists_of_which_one_has_a_name(x, k):
    rows = [[] for _ in range(20)]
    first = rows[0]
    for v in x:
        rows[k % 20].append(v)
    return len(first), rows


def a_list_that_is_in_another_one_too(x, k):
    rows = [[] for _ in range(20)]
    others = {"some": rows[:3]}
    for v in x:
        rows[k % 20].append(v)
    return len(others["some"][0])


def one_list_at_many_places(x, k):
    rows = [[]] * 20
    for v in x:
        rows[k % 20].append(v)
    return [len(row) for row in rows]


def many_dicts(x, k):
    rows = [{"a": 0.0} for _ in range(20)]
    rows[k]["a"] = x[0]
    return rows


@pytest.mark.parametrize(
    "function",
    [
        many_dicts,
        many_lists_of_which_one_has_a_name,
        a_list_that_is_in_another_one_too,
        one_list_at_many_places,
    ],
)
def test_too_many_to_tell_apart(function):
    with pytest.raises(TraceError, match="in user code") as caught:
        graphify.function(function)(np.ones(12), np.array(0))
    assert "remedy" in str(caught.value)


def element_changes_after_it_was_appended(x):
    rows, element = [], [x[0], 1.0]
    if x[0] > 0:
        rows.append(element)
    element[0] = 7.0
    return rows


def array_in_an_element(x):
    rows, element = [], [x[:2].copy()]
    if x[0] > 0:
        rows.append(element)
    element[0][0] = 5.0
    return rows


@pytest.mark.parametrize("function", [element_changes_after_it_was_appended, array_in_an_element])
def test_copies_in_a_growing_list_do_not_change(function):
    with pytest.raises(TraceError):
        graphify.function(function)(np.ones(3))


def dict_in_place(x):
    d = {"n": 1.0}
    if x[0] > 0:
        d |= {"n": 5.0}
    return d["n"]


def dict_of_an_object(x):
    rows = [{"n": 1.0}]
    first = rows[0]
    if x[0] > 0:
        rows[0] |= {"n": x[0]}
    return rows, first


@pytest.mark.parametrize("function", [dict_in_place, dict_of_an_object])
def test_dicts_updated_in_place_under_a_condition(function):
    for x in (np.array([2.0]), np.array([-2.0])):
        want, got = function(x), graphify.function(function)(x)
        assert graphify.tree.leaves(got) == graphify.tree.leaves(want)


@pytest.mark.parametrize("sign", ["|=", "-=", "&=", "^="])
def test_sets_changed_in_place_under_a_condition(sign):
    change = f"s {sign} {{1, 3}}"
    source = f"def f(x):\n    s = {{1, 2}}\n    if x > 0:\n        {change}\n    return s, len(s)"
    space = {}
    exec(source, space)
    staged = graphify.function(space["f"], source=source)
    for x in (np.float64(1.0), np.float64(-1.0)):
        assert staged(x) == space["f"](x)


def names_of_one_set(x):
    s = {1}
    p = s
    if x[0] > 0:
        p = {1}
    p.add(2)
    return len(s)


class Alike:
    """All of its objects are equal, and none is another one."""

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return True

    def __iadd__(self, other):
        return self


def names_of_objects_that_are_equal(x):
    first = Alike(2.0)
    second = first
    if x[0] > 0:
        second = Alike(2.0)
    second += 1
    second.value = 4.0
    return first.value


@pytest.mark.parametrize("function", [names_of_one_set, names_of_objects_that_are_equal])
def test_what_is_equal_is_not_the_same(function):
    for x in (np.array([2.0]), np.array([-2.0])):
        assert float(graphify.function(function)(x)) == function(x)


def one_of_two_sets_of_texts(x):
    names = {"a", "b"} if x[0] > 0 else {"c"}
    return (x if "a" in names else -x) * len(names)


def one_of_two_sets_of_numbers(x):
    if x[0] > 0:
        chosen = {1, 2}
    else:
        chosen = {3}
    chosen.add(7)
    return 3 in chosen, len(chosen), sorted(chosen)


@pytest.mark.parametrize("function", [one_of_two_sets_of_texts, one_of_two_sets_of_numbers])
def test_one_of_two_sets(function):
    for x in (np.array([2.0]), np.array([-2.0])):
        want, got = function(x), graphify.function(function)(x)
        assert np.array_equal(graphify.tree.leaves(got), graphify.tree.leaves(want))
