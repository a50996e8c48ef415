"""Lists that are elements of a list of run-time length: changes reach that list, or are refused.

Each program does under Python what it says; none may give anything else.
"""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphify
from graphify.errors import TraceError

# --- that work -----------------------------------------------------------------------------------


def rows_from_rows_before(n, x):
    g = [[i, 0] for i in range(n)]
    for i in range(1, n):
        g[i][0] = g[i - 1][0] + 10
        g[i][1] += g[i][0]
    return [r[0] for r in g], [r[1] for r in g]


def one_or_the_other_row(n, x):
    g = [[i, 0] for i in range(n)]
    if x > 0:
        g[0][0] = 5
    else:
        g[1][0] = 6
    return [r[0] for r in g]


def twice_by_one_name(n, x):
    g = [[i, 0] for i in range(n)]
    a = g[0]
    a[0] = 5
    a[1] = 6
    del a
    g[0][1] += 3
    return [r[0] for r in g], [r[1] for r in g]


def lists_in_lists_by_names(n, x):
    g = [[[i, 0], [0, i]] for i in range(n)]
    a = g[0]
    b = a[1]
    b[0] = 77
    return a[1][0], g[0][1][0], b[0]


def table_of_two_lengths(n, x):
    g = [[0.0] * n for i in range(n)]
    for i in range(n):
        for j in range(n):
            if j > i:
                g[i][j] = i * x + j
            elif x > 0:
                g[j][i] -= 1
    return np.array(g)


def by_a_function(n, x):
    g = [[0] * n for _ in range(n)]

    def set_(t, i, j, v):
        t[i][j] = v

    for i in range(n):
        set_(g, i, i, i + 1)
    return np.array(g)


def first_by_an_iterator(n, x):
    g = [[0] * n for _ in range(n)]
    it = iter(g)
    r = next(it)
    r[0] = 4
    return np.array(g)


def by_a_method(n, x):
    class T:
        def __init__(self, n):
            self.t = [[0] * 2 for _ in range(n)]

        def put(self, i, v):
            self.t[i][0] = v
            return self.t[i]

    t = T(n)
    r = t.put(1, 4)
    r[1] = 9
    return np.array(t.t)


def beside_a_deep_copy(n, x):
    g = [[0, 1] for _ in range(n)]
    k = copy.deepcopy(g)
    g[0][0] = 4
    return np.array(g), np.array(k)


def beside_a_tuple(n, x):
    g = [[0, 1] for _ in range(n)]
    t = tuple(g[0])
    g[0][0] = 4
    return np.array(g), t[0]


def until_a_break(n, x):
    g = [[0, 1] for _ in range(n)]
    i = 0
    while i < n:
        g[i][0] = i * i
        if g[i][0] > 3:
            break
        i += 1
    return np.array(g), i


def by_a_lambda(n, x):
    g = [[0, 1] for _ in range(n)]
    f = lambda i: g[i]
    f(1)[0] = 3
    return np.array(g)


def after_other_changes(n, x):
    g = [[i, 1] for i in range(n)]
    g.reverse()
    g[0][0] = 100
    g.insert(0, [7, 7])
    g[1][1] = 3
    g.pop()
    g[0][1] = -1
    return np.array(g)


def two_names_of_one_row(n, x):
    g = [[i, 1] for i in range(n)]
    a = b = g[0]
    b[0] = 3
    return a[0], g[0][0]


def each_row_of_a_loop(n, x):
    g = [[0, 1] for _ in range(n)]
    for row in g:
        row[0] = 5
    return g[0][0], g[1][0]


def augmented(n, x):
    g = [[0, 1] for _ in range(n)]
    g[1][0] += 3
    g[0].append(4) if False else None
    return g[0][0], g[1][0]


def by_a_dict(n, x):
    g = [[0, 1] for _ in range(n)]
    d = {"a": g[0]}
    d["a"][1] = 9
    return g[0][1], d["a"][1]


def by_a_function_of_rows(n, x):
    g = [[0, 1] for _ in range(n)]

    def f(row):
        row[0] = 3

    f(g[1])
    return g[0][0], g[1][0]


def each_row_by_its_number(n, x):
    g = [[0] * n for _ in range(n)]
    for i, r in enumerate(g):
        r[i] = i
        r[0] += 1
    return np.array(g)


def at_an_index_of_the_run(n, x):
    g = [[0, i] for i in range(n)]
    for i in range(2 * n):
        g[i // 2][i % 2] += i
    return np.array(g)


# --- that would have to be seen by another name, or in another list -------------------------------


def sliced(n, x):
    g = [[0] * 3 for _ in range(n)]
    h = g[1:]
    h[0][0] = 5
    return [r[0] for r in g], [r[0] for r in h]


def listed(n, x):
    g = [[0] * 3 for _ in range(n)]
    h = list(g)
    h[0][0] = 5
    return g[0][0], h[0][0]


def repeated(n, x):
    g = [[0] * 3] * n
    g[0][0] = 5
    return [r[0] for r in g]


def one_row_at_all_places(n, x):
    row = [0, 0]
    g = [row for _ in range(n)]
    g[0][0] = 5
    return [r[0] for r in g], row[0]


def one_row_appended_often(n, x):
    row = [0, 0]
    g = []
    for i in range(n):
        g.append(row)
    del row
    g[0][0] = 5
    return [r[0] for r in g]


def appended_twice(n, x):
    g = []
    for i in range(n):
        row = [0, 0]
        g.append(row)
        g.append(row)
    g[0][0] = 5
    return [r[0] for r in g]


def comprehended(n, x):
    g = [[i, 0] for i in range(n)]
    h = [r for r in g]
    g[0][0] = 5
    return [r[0] for r in g], [r[0] for r in h]


def stored_elsewhere(n, x):
    g = [[i, 0] for i in range(n)]
    h = [[9, 9] for i in range(n)]
    for i in range(n):
        h[i] = g[i]
    g[0][0] = 5
    return [r[0] for r in g], [r[0] for r in h]


def sliced_on_a_path(n, x):
    g = [[i, 0] for i in range(n)]
    if x > 0:
        h = g[1:]
    else:
        h = [[7, 7]]
    g[1][0] = 50
    return [r[0] for r in g], [r[0] for r in h]


def of_one_of_two(n, x):
    g = [[i, 0] for i in range(n)]
    h = [[7, 7] for i in range(n)]
    if x > 0:
        t = g
    else:
        t = h
    t[0][0] = 99
    return g[0][0], h[0][0], t[0][0]


def at_two_places(n, x):
    g = [[i, 0] for i in range(n)]
    g[0] = g[1]
    g[1][0] = 7
    return [r[0] for r in g]


def swapped(n, x):
    g = [[i, 0] for i in range(n)]
    g[0], g[1] = g[1], g[0]
    g[1][0] = 7
    return [r[0] for r in g]


def the_row_before_has_a_name(n, x):
    g = [[i, 0] for i in range(n)]
    prev = g[0]
    for i in range(1, n):
        cur = g[i]
        cur[0] = prev[0] + 10
        prev = cur
    return [r[0] for r in g], prev[0]


def named_and_changed_on_a_path(n, x):
    g = [[i, 0] for i in range(n)]
    a = g[0]
    if x > 0:
        a[0] = 5
    g[0][1] = 3
    return [r[0] for r in g], [r[1] for r in g], a[0], a[1]


def of_two_lists(n, x):
    g = [[0, 1] for _ in range(n)]
    h = [[5, 6] for _ in range(n)]
    for a, b in zip(g, h):
        a[0] = b[1]
        b[0] = a[1]
    return np.array(g), np.array(h)


def shallow_copy(n, x):
    g = [[0, 1] for _ in range(n)]
    k = copy.copy(g)
    g[0][0] = 4
    return np.array(g), np.array(k)


def named_in_turn(n, x):
    g = [[0, 1] for _ in range(n)]
    r = g[0]
    for i in range(n):
        r[0] += 1
        r = g[i]
    return np.array(g)


def in_a_list(n, x):
    g = [[0, 1] for _ in range(n)]
    k = [g[0], g[1]]
    k[0][0] = 7
    g[1][0] = 8
    return np.array(g), k[0][0], k[1][0]


def the_last_has_a_name(n, x):
    z = [8, 8]
    g = [[0, 1] for _ in range(n)]
    g += [z]
    g[-1][1] = 4
    return np.array(g), z[1]


def still_named(n, x):
    z = [8, 8]
    g = [[0, 1] for _ in range(n)]
    g.append(z)
    z[0] = 5
    return np.array(g), z[1]


def in_a_dict(n, x):
    g = [{"k": [i, 2]} for i in range(n)]
    g[0]["k"][0] = 3
    return [t["k"][0] for t in g]


def two_names(n, x):
    g = [[i, 1] for i in range(n)]
    r = g[0]
    s = g[0]
    r[0] = 4
    return s[0]


def popped(n, x):
    g = [[i, 1] for i in range(n)]
    r = g.pop(0)
    g[0][0] = 12
    r[0] = 4
    return np.array(g), r[0]


def either_row(n, x):
    g = [[0, 1] for _ in range(n)]
    if x > 0:
        row = g[0]
    else:
        row = g[1]
    row[0] = 5
    return g[0][0], g[1][0]


def either_row_grows(n, x):
    g = [[0, 1] for _ in range(n)]
    row = g[0] if x > 0 else g[1]
    row.append(5)
    return len(g[0]), len(g[1])


def some_row_of_a_loop(n, x):
    g = [[0, 1] for _ in range(n)]
    row = g[0]
    for i in range(n):
        if i == 1:
            row = g[i]
    row[0] = 5
    return g[0][0], g[1][0]


def replaced(n, x):
    g = [[0, 1] for _ in range(n)]
    a = g[0]
    g[0] = [7, 8]
    a[0] = 3
    return g[0][0], g[1][0], a[0]


def moved_after_all_may_have_grown(n, x):
    rows = [[x, x], [x, x], [x, x]]
    for i in range(n % 3):
        if i % 2 == 0:
            rows[i].insert(0, float(len(rows[i])))
        if len(rows[n % 3]) <= 1:
            rows[0] = rows[i]
    return rows


def moved_and_left(n, x):
    g = [[i, 0] for i in range(n)]
    g[0] = g[n - 1]
    g[n - 1][1] = 3
    return np.array(g)


def moved_twice(n, x):
    g = [[i, 0] for i in range(n)]
    t = g[0]
    g[0] = g[1]
    g[1] = t
    g[n - 1] = t
    g[1][1] = 4
    return np.array(g)


def moved_to_another(n, x):
    g = [[i, 0] for i in range(n)]
    h = [[i, 5] for i in range(n)]
    g[0], h[1] = h[1], g[0]
    g[0][1] = 4
    return np.array(g), np.array(h)


def read_while_at_two_places(n, x):
    g = [[i, 0] for i in range(n)]
    g[0] = g[1]
    u = g[1]
    g[1] = [9, 9]
    g[n - 1] = u
    g[0][0] = 5
    return np.array(g)


def inserted_between(n, x):
    g = [[i, 0] for i in range(n)]
    g[0] = g[1]
    g.insert(1, [8, 8])
    g[1] = [9, 9]
    g[0][0] = 5
    return np.array(g)


def overwritten_on_a_path(n, x):
    g = [[i, 0] for i in range(n)]
    g[0] = g[1]
    if x > 0:
        g[1] = [7, 7]
    g[1][1] = 9
    return np.array(g)


def filled_row_by_row(n, x):
    g = [[0] * n for _ in range(n)]
    for i in range(n):
        row = g[i]
        for j in range(n):
            row[j] = i * j + 1
    return np.array(g)


def longest_common_subsequence(n, x):
    a, b = [i % 2 for i in range(n + 1)], [i % 3 for i in range(n)]
    t = [[0] * (n + 1) for _ in range(n + 2)]
    for i in range(1, n + 2):
        before, row = t[i - 1], t[i]
        for j in range(1, n + 1):
            if a[i - 1] == b[j - 1]:
                row[j] = before[j - 1] + 1
            else:
                row[j] = max(before[j], row[j - 1])
    return np.array(t), t[n + 1][n]


def counted_up_on_paths(n, x):
    g = [[0.0] * 3 for _ in range(n)]
    row = g[0]
    if x > 0:
        row[0] = x
        if n > 2:
            row[1] += row[0]
    else:
        row[2] = -x
    row[0] += 1
    return np.array(g), row[0]


def until_it_is_large(n, x):
    g = [[1, i] for i in range(n)]
    last = g[n - 1]
    while last[1] < 20:
        last[1] += last[0]
        last[0] += 1
        if last[1] > 15:
            break
    return np.array(g), last[0]


def row_and_cells_by_turns(n, x):
    """The row has a name outside of the loop, and other rows change beside it."""
    g = [[0, 1] for _ in range(n)]
    first = g[0]
    for i in range(1, n):
        first[0] += g[i][1]
        g[i][0] = first[0] + i
    return np.array(g), first[0]


def rows_of_two_tables(n, x):
    g = [[i, 0] for i in range(n)]
    h = [[0, i] for i in range(n)]
    for i in range(n):
        a, b = g[i], h[i]
        for j in range(2):
            a[j] += b[1 - j] + 1
            b[j] += a[j]
    return np.array(g), np.array(h)


def changed_before_a_return(n, x):
    g = [[0, 0] for _ in range(n)]
    row = g[0]
    for i in range(5):
        row[1] += i
        if row[1] > 3 * x:
            return np.array(g), i
    return np.array(g), -1


def elimination_with_pivots(n, x):
    a = [[(3 * i + 5 * j + i * j * j) % 7 + x for j in range(n)] for i in range(n)]
    sign = 1.0
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(a[i][k]) > abs(a[p][k]):
                p = i
        if p != k:
            a[k], a[p] = a[p], a[k]
            sign = -sign
        for i in range(k + 1, n):
            f = a[i][k] / a[k][k]
            for j in range(k, n):
                a[i][j] -= f * a[k][j]
    return np.array(a), sign


def rows_change_places(n, x):
    g = [[i, 0] for i in range(n)]
    k = n % 2
    g[k], g[-1] = g[-1], g[k]
    g[0][1] = 5
    for i in range(n - 1):
        g[i], g[i + 1] = g[i + 1], g[i]
        g[i][1] += i
    g[0], g[0] = g[0], g[0]
    g[k][1] += 1
    return np.array(g)


def changes_places_by_a_name(n, x):
    g = [[i, 0] for i in range(n)]
    i, j = n % 2, n - 1
    t = g[i]
    g[i] = g[j]
    g[j] = t
    g[j][1] = 4
    t[0] += 1
    return np.array(g), t[1]


def made_anew_of_other_kinds(n, x):
    w = np.arange(n * n) + x
    g = [[w[i + j] for j in range(n)] for i in range(n)]
    for k in range(n):
        new = [[0] * n for _ in range(n)]
        for i in range(n):
            new[i][k] = g[k][i] + 1
        g = new
    return np.array(g)


WORKING: list[Callable[..., Any]] = [
    made_anew_of_other_kinds,
    elimination_with_pivots,
    rows_change_places,
    changes_places_by_a_name,
    two_names,
    in_a_list,
    named_and_changed_on_a_path,
    swapped,
    filled_row_by_row,
    longest_common_subsequence,
    counted_up_on_paths,
    until_it_is_large,
    row_and_cells_by_turns,
    rows_of_two_tables,
    of_two_lists,
    changed_before_a_return,
    each_row_by_its_number,
    at_an_index_of_the_run,
    rows_from_rows_before,
    one_or_the_other_row,
    twice_by_one_name,
    lists_in_lists_by_names,
    table_of_two_lengths,
    by_a_function,
    first_by_an_iterator,
    by_a_method,
    beside_a_deep_copy,
    beside_a_tuple,
    until_a_break,
    by_a_lambda,
    after_other_changes,
    two_names_of_one_row,
    each_row_of_a_loop,
    augmented,
    by_a_dict,
    by_a_function_of_rows,
]
REFUSED: list[Callable[..., Any]] = [
    moved_after_all_may_have_grown,
    moved_and_left,
    moved_twice,
    moved_to_another,
    read_while_at_two_places,
    inserted_between,
    overwritten_on_a_path,
    sliced,
    listed,
    repeated,
    one_row_at_all_places,
    one_row_appended_often,
    appended_twice,
    comprehended,
    stored_elsewhere,
    sliced_on_a_path,
    of_one_of_two,
    at_two_places,
    the_row_before_has_a_name,
    shallow_copy,
    named_in_turn,
    the_last_has_a_name,
    still_named,
    in_a_dict,
    popped,
    either_row,
    either_row_grows,
    some_row_of_a_loop,
    replaced,
]
CALLS = [(3, 1.0), (4, -1.0), (2, 2.0)]


def same(want: Any, got: Any) -> None:
    for a, b in zip(graphify.tree.leaves(want), graphify.tree.leaves(got), strict=True):
        np.testing.assert_array_equal(np.asarray(b), a)


@pytest.mark.parametrize("program", WORKING)
def test_changes_reach_the_list(program: Callable[..., Any]) -> None:
    staged = graphify.function(program, engine="reference")
    for n, x in CALLS:
        same(program(n, x), staged(np.int64(n), np.float64(x)))


@pytest.mark.parametrize("program", REFUSED)
def test_what_others_would_see_is_refused(program: Callable[..., Any]) -> None:
    staged = graphify.function(program, engine="reference")
    for n, x in CALLS:
        program(n, x)
        with pytest.raises(TraceError, match="the list holds a copy|changes"):
            staged(np.int64(n), np.float64(x))


def test_two_names_may_show_two_rows_and_not_one() -> None:
    def program(g_rows, i, j):
        g = [[k, 0] for k in range(g_rows)]
        a, b = g[i], g[j]
        a[1] = b[0] + 5
        return [r[1] for r in g], b[1]

    for engine in ("reference", "native"):
        staged = graphify.function(program, engine=engine)
        for i, j in ((0, 2), (-1, 0), (1, -1), (0, 1)):
            same(program(3, i, j), staged(*map(np.int64, (3, i, j))))
        for i, j in ((0, 0), (-1, 2), (1, -2)):
            with pytest.raises(TraceError, match="another name shows that element"):
                staged(*map(np.int64, (3, i, j)))


def test_no_handler_takes_the_refusal_of_one_row_under_two_names() -> None:
    def change(a, b):
        a[1] = b[0] + 5

    @graphify.function
    def program(n, i, j):
        g = [[k, 0] for k in range(n)]
        a, b = g[i], g[j]
        try:
            change(a, b)
        except Exception:
            return -1
        return b[1]

    with pytest.raises(TraceError, match="another name shows that element|holds a copy"):
        program(np.int64(3), np.int64(1), np.int64(1))


def test_rows_filled_in_loops_are_not_put_back_as_a_whole() -> None:
    concrete = graphify.function(filled_row_by_row).get_concrete_function(np.int64(3), 1.0)
    assert "key=(('at', 0), ('at', 1))" in str(concrete.graph)
