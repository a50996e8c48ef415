"""Lists of run-time length: errors, names for one list, costs, derivatives, batches, odd cases."""

from __future__ import annotations

import inspect
from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import graphify
from graphify.errors import TraceError
from tests.samples import lists as samples

ENGINES = ["reference", "native"]
X = np.array([1.0, -2.0, 3.0, 4.0, -5.0, 6.0, 7.0, 8.0, -9.0, 10.0, 11.0])


def same(function: Any, *args: Any, engine: str = "reference") -> None:
    """Staged and plain give the same, and do the same to the arguments."""
    plain, given = ([copied(a) for a in args] for _ in range(2))
    want = function(*plain)
    got = graphify.function(function, engine=engine)(*given)
    for a, b in ((want, got), (plain, given)):
        left, right = graphify.tree.leaves(a), graphify.tree.leaves(b)
        assert len(left) == len(right), (a, b)
        for x, y in zip(left, right, strict=True):
            np.testing.assert_allclose(np.asarray(y), np.asarray(x))


def copied(value: Any) -> Any:
    return graphify.tree.map_structure(lambda v: v.copy() if hasattr(v, "copy") else v, value)


# --- errors of the run ----------------------------------------------------------------------------


def pops_too_much(x):
    rows = [1.0]
    if x.sum() > 100:
        rows.append(2.0)
    rows.pop()
    rows.pop()
    return len(rows)


def out_of_range(x):
    rows = [v for v in x if v > 0]
    return rows[20]


def before_the_start(x):
    rows = [v for v in x if v > 0]
    return rows[-20]


def assigned_out_of_range(x):
    rows = [v for v in x if v > 0]
    rows[8] = 1.0
    return sum(rows)


def largest_of_none(x):
    return max([v for v in x if v > 100])


def stack_of_none(x):
    return np.stack([v * np.ones(2) for v in x if v > 100])


def removed_in_vain(x):
    rows = [v for v in x if v > 0]
    rows.remove(5.0)
    return len(rows)


def no_such_index(x):
    return [v for v in x if v > 0].index(5.0)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "function, error, text",
    [
        (pops_too_much, IndexError, "pop from empty list"),
        (out_of_range, IndexError, "list index out of range"),
        (before_the_start, IndexError, "list index out of range"),
        (assigned_out_of_range, IndexError, "list assignment index out of range"),
        (largest_of_none, ValueError, "empty"),
        (stack_of_none, ValueError, "need at least one array to stack"),
        (removed_in_vain, ValueError, "not in list"),
        (no_such_index, ValueError, "is not in list"),
    ],
)
def test_errors_are_those_of_python(function, error, text, engine):
    with pytest.raises(error, match=text):
        function(X)
    with pytest.raises(error, match=text) as caught:
        graphify.function(function, engine=engine)(X)
    assert function.__name__ in str(caught.value)


def found_in_nothing(x):
    rows = []
    try:
        rows.remove(x[0])
    except ValueError:
        return rows.count(x[0])
    return rows.index(x[0])


def test_an_empty_list_is_searched_for_a_value_of_the_run():
    same(found_in_nothing, X)


def empty_list_of_integers(x):
    return np.array([i for i in range(len(x)) if x[i] > 100])


def test_an_array_of_no_elements_is_one_of_floats():
    assert graphify.function(lambda x: np.array([v for v in x if v > 100]))(X).shape == (0,)
    with pytest.raises(TraceError, match="give np.array a dtype"):
        graphify.function(empty_list_of_integers)(X)


# --- refused --------------------------------------------------------------------------------------


@dataclass
class Point:
    x: float


def element_updated(x, s):
    rows = [x * 1]
    if s > 0:
        rows.append(x * 2)
    rows[0][0] = 9.0  # here
    return rows[0]


def array_updated_after_append(x, s):
    row, rows = x * 1, []
    if s > 0:
        rows.append(row)
    row[0] = 9.0  # here
    return rows[0]


def dict_changed_after_append(x, s):
    first = {"a": 1.0}
    rows = [first]
    if s > 0:
        rows.append({"a": 2.0})
    first["a"] = 3.0  # here
    return rows[0]["a"]


def field_of_an_element(x, s):
    rows = [Point(1.0)]
    if s > 0:
        rows.append(Point(2.0))
    rows[0].x = 3.0  # here
    return rows[0].x


def elements_of_two_shapes(x, s):
    rows = [x]
    if s > 0:
        rows.append(x[1:])  # here
    return len(rows)


def strings_by_chance(x, s):
    rows = [1.0]
    for v in x:
        if v > 0:
            rows.append(str(len(rows)))  # here
    return rows


def changed_while_enumerated(x):
    rows, total = [v for v in x if v > 0], 0.0
    for i, v in enumerate(rows):
        total = total + i * v
        if v > 8:
            rows.append(v / 2)
    return total


def made_a_tuple(x):
    return tuple([v for v in x if v > 0])


def compared(x):
    return [v for v in x if v > 0] == [1.0]


@pytest.mark.parametrize(
    "function",
    [
        element_updated,
        array_updated_after_append,
        dict_changed_after_append,
        field_of_an_element,
        elements_of_two_shapes,
        changed_while_enumerated,
        made_a_tuple,
    ],
)
def test_what_a_list_cannot_hold_is_refused(function):
    args = (X, np.array(1.0))[: function.__code__.co_argcount]
    with pytest.raises(TraceError) as caught:
        graphify.function(function)(*args)
    assert "test_lists.py" in str(caught.value) and "remedy" in str(caught.value)


def rows_of_two_lengths(x, s):
    kept = []
    for k in range(len(x)):
        if x[k] > s:
            kept.append(x[:2])  # one
        else:
            kept.append(x)  # other
    return len(kept), kept[0].sum()


def rows_that_grow(x, s):
    kept, n = [], 0
    while n < 10 and x[n] > s:
        kept.append(np.ones(n))
        n += 1
    return len(kept), kept[0]


def rows_of_two_branches(x, s):
    kept = []
    if x[0] > s:
        kept.append(x)  # one
    if x[1] > s:
        kept.append(x[:2])  # other
    return kept


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("function", "bound", "shapes"),
    [
        (rows_of_two_lengths, 0.0, "(2,) (test_lists.py:{one}) and (11,)"),
        (rows_that_grow, -3.0, "(0,) (test_lists.py:{}) and (1,)"),
        (rows_of_two_branches, 0.0, "(11,) (test_lists.py:{one}) and (2,)"),
    ],
)
def test_elements_of_several_shapes_are_named_with_their_lines(function, bound, shapes, engine):
    lines, first = inspect.getsourcelines(function)
    marked = {
        k: i for i, text in enumerate(lines, first) for k in ("one", "other") if "# " + k in text
    }
    grows = [i for i, text in enumerate(lines, first) if "np.ones" in text]
    with pytest.raises(TraceError) as caught:
        graphify.function(function, engine=engine)(X, np.array(bound))
    text = str(caught.value)
    assert f"the elements of 'kept' differ in shape: {shapes.format(*grows, **marked)}" in text
    assert f"line {marked.get('other') or grows[0]}" in text and "remedy: make them of one" in text


@pytest.mark.parametrize("function", [rows_of_two_lengths, rows_that_grow])
@pytest.mark.parametrize("engine", [*ENGINES, "tensorflow"])
def test_elements_that_turn_out_of_one_shape_are_taken(function, engine):
    x = np.array([3.0, -4.0])
    for bound in (2.0,) if function is rows_that_grow else (5.0, 2.0, -9.0):
        want, got = function(x, bound), graphify.function(function, engine=engine)(x, bound)
        assert want[0] == got[0]
        np.testing.assert_array_equal(got[1], want[1])


# --- names for one list ---------------------------------------------------------------------------


def other_name(x):
    rows = []
    other = rows
    for v in x:
        if v > 0:
            rows += [v]
    other.append(1.0)
    return rows, len(other), rows is other


def in_a_dict_and_a_name(x):
    table = {"rows": [], "n": 0}
    rows = table["rows"]
    for v in x:
        if v > 0:
            table["rows"].append(v)
            table["n"] += 1
    rows.append(5.0)
    return table, len(rows)


def rebound_in_the_loop(x):
    rows = [0.0]
    first = rows
    for v in x:
        if v > 0:
            rows = rows + [v]
    return len(first), rows


def argument_that_grows(rows, x):
    for v in x:
        if v > 0:
            rows.append(v)
    return len(rows)


def argument_in_a_dict(table, x):
    for v in x:
        if v > 0:
            table["rows"].insert(0, v)
    return len(table["rows"])


def one_of_two_lists(x, s):
    low, high = [1.0], [2.0]
    chosen = low if s > 0 else high
    if s > 0:
        low.append(s)
    return len(chosen), len(low)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("function", [other_name, in_a_dict_and_a_name, rebound_in_the_loop])
def test_names_for_one_list(function, engine):
    same(function, X, engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_lists_of_the_caller_grow(engine):
    same(argument_that_grows, [1.0, 2.0], X, engine=engine)
    same(argument_in_a_dict, {"rows": [1.0]}, X, engine=engine)


def test_a_list_of_a_module_grows():
    kept: list[Any] = [0.5]

    def remember(x):
        for v in x:
            if v > 0:
                kept.append(v)
        return len(kept)

    assert graphify.function(remember)(X) == 9
    np.testing.assert_allclose([float(v) for v in kept], [0.5, *X[X > 0]])


# --- loops over what grows ------------------------------------------------------------------------


def queue_by_for(w):
    n = w.shape[0]
    seen = np.zeros(n, dtype=bool)
    seen[0] = True
    queue, order = [0], 0
    for node in queue:
        order = order * n + node
        for other in range(n):
            if w[node, other] > 0 and not seen[other]:
                seen[other] = True
                queue.append(other)
    return order, len(queue)


def grows_under_a_condition(x):
    rows, total = [v for v in x if v > 0], 0.0
    for v in rows:
        total = total + v
        if v > 8:
            rows.append(v / 2)
    return total, len(rows)


def until_it_is_large(x):
    rows = [1.0]
    for v in rows:
        if v > x.sum():
            break
        rows.append(v * 1.5)
    return rows


@pytest.mark.parametrize("engine", ENGINES)
def test_loops_over_lists_that_grow(engine):
    same(grows_under_a_condition, X, engine=engine)
    same(until_it_is_large, X, engine=engine)
    rng = np.random.default_rng(0)
    for _ in range(3):
        same(queue_by_for, rng.normal(size=(6, 6)), engine=engine)


# --- what it costs --------------------------------------------------------------------------------


def nodes_of(function: Any, *args: Any) -> int:
    def count(graph: Any) -> int:
        return sum(1 + sum(count(g) for _, g in node.subgraphs) for node in graph.nodes)

    return count(graphify.function(function).get_concrete_function(*args).graph)


@pytest.mark.parametrize(
    "function", [samples.appended_if_positive, samples.every_turn_appends, samples.until_break]
)
def test_the_graph_is_as_small_for_a_long_array(function):
    more = (np.array(0.5),) * (function.__code__.co_argcount - 1)
    assert nodes_of(function, np.ones(20), *more) == nodes_of(function, np.ones(20_000), *more)


def test_room_is_made_before_the_loop():
    """No array of the loop changes its shape from turn to turn."""
    graph = graphify.function(samples.appended_if_positive).get_concrete_function(X).graph
    (loop,) = (node for node in graph.nodes if node.op.name == "loop")
    body = loop.attrs["body"]
    for param, result in zip(body.params[1:], body.results, strict=False):
        assert param.spec.shape == result.spec.shape


def test_a_list_that_every_turn_appends_to_has_a_known_length():
    graph = graphify.function(samples.every_turn_appends).get_concrete_function(X).graph
    assert graph.specs[0].shape == (11,)
    spec = graphify.TensorSpec(("n",), np.float64)
    graph = graphify.function(samples.every_turn_appends).get_concrete_function(spec).graph
    assert str(graph.specs[0].shape[0]) == "n"


# --- transformations ------------------------------------------------------------------------------


def returned_numbers(x):
    rows = []
    for v in x:
        if v > 0:
            rows.append(v * v)
    return rows


def test_derivative_of_a_returned_list():
    gradient = graphify.grad(lambda x: sum(returned_numbers(x)))
    np.testing.assert_allclose(gradient(X), np.where(X > 0, 2 * X, 0))
    np.testing.assert_allclose(graphify.function(gradient)(X), np.where(X > 0, 2 * X, 0))


def test_second_derivative():
    second = graphify.hessian(graphify.function(lambda x: sum(returned_numbers(x))))(X)
    np.testing.assert_allclose(second, np.diag(np.where(X > 0, 2.0, 0.0)))


def test_forward_derivative():
    value, tangent = graphify.jvp(
        graphify.function(lambda x: np.array(returned_numbers(x)).sum()), (X,), (np.ones(11),)
    )
    np.testing.assert_allclose(tangent, 2 * X[X > 0].sum())


def test_lanes_of_different_lengths():
    def total(x):
        rows = returned_numbers(x)
        return sum(rows) + len(rows)

    lanes = np.stack([X, -X, X * 0])
    got = graphify.vmap(graphify.function(total))(lanes)
    np.testing.assert_allclose(got, [total(lane) for lane in lanes])


def test_a_list_for_each_lane():
    lanes = np.stack([X, X[::-1]])
    got = graphify.vmap(graphify.function(returned_numbers))(lanes)
    assert len(got) == 8
    np.testing.assert_allclose(np.stack(got, axis=1)[1], returned_numbers(X[::-1]))
    with pytest.raises(TraceError, match="different lengths"):
        graphify.vmap(graphify.function(returned_numbers))(np.stack([X, -X]))


# --- odd cases ------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("size", [0, 1, 9, 30])
@pytest.mark.parametrize(
    "function",
    [samples.appended_if_positive, samples.every_turn_appends, samples.popped_sum],
)
def test_sizes(function, size, engine):
    rng = np.random.default_rng(size)
    traced = graphify.function(function, engine=engine, dynamic=True)
    for _ in range(3):
        x = rng.normal(size=size)
        np.testing.assert_allclose(traced(x), function(x))


def deep(x, w):
    found = []
    for row in w:
        if row.sum() > 0:
            inner = []
            for v in row:
                while v > 1:
                    inner.append(v)
                    v = v / 2
                if len(inner) > 3:
                    inner.pop(0)
            found.extend(inner)
            found.append(len(inner))
    return np.array(found)


@pytest.mark.parametrize("engine", ENGINES)
def test_lists_in_loops_in_branches_in_loops(engine):
    rng = np.random.default_rng(5)
    for _ in range(5):
        w = rng.normal(size=(4, 6)) * 4 + 1
        same(deep, X, w, engine=engine)


def mixed_numbers(x):
    rows = [1]
    for v in x:
        if v > 0:
            rows.append(v)
        else:
            rows.append(True)
    return rows


def test_numbers_of_several_kinds_join():
    same(mixed_numbers, X)


def assigned_as_a_whole(x):
    rows = [v for v in x if v > 0]
    other = rows
    rows[:] = [v * 2 for v in rows if v < 8]
    return other, len(rows)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_list_gets_other_contents(engine):
    same(assigned_as_a_whole, X, engine=engine)


def test_derivative_of_a_returned_list_on_a_tape():
    x = graphify.numpy.asarray(X)
    with graphify.GradientTape() as tape:
        tape.watch(x)
        total = sum(graphify.function(returned_numbers)(x))
    np.testing.assert_allclose(tape.gradient(total, x), np.where(X > 0, 2 * X, 0))


def test_a_list_that_another_name_shows_is_not_copied():
    def first_turn_changes_another(x):
        a = [1.5]
        b = a
        for v in x:
            a.append(v)
            a = [w for w in b if w > 2]
        return len(a), len(b)

    same(first_turn_changes_another, X)


def test_vmap_inside_a_function():
    @graphify.function
    def lanes(xs):
        return graphify.vmap(lambda x: sum(returned_numbers(x)))(xs)

    xs = np.stack([X, -X])
    np.testing.assert_allclose(lanes(xs), [sum(returned_numbers(x)) for x in xs])


def identity_in_the_run(x, s):
    a = [s]
    b = a
    if s > 0:
        a = [1.0, 2.0]
    return a is b


def test_is_of_lists_that_only_the_run_tells_apart():
    with pytest.raises(TraceError, match="whether they are one"):
        graphify.function(identity_in_the_run)(X, np.array(1.0))


def sizes_known_while_tracing(x):
    sizes = [2 * i for i in range(12)]
    names = []
    for i in range(10):
        names.append(f"layer {i}")
    table = [[0.0] * 10 for _ in range(10)]
    table[3][4] = x[0]
    return np.zeros(sizes[3]), len(names[-1]), table[3][4], type(sizes) is list


def test_what_needs_no_run_stays_pythons():
    same(sizes_known_while_tracing, X)
    graph = graphify.function(sizes_known_while_tracing).get_concrete_function(X).graph
    assert graph.specs[0].shape == (6,)
    assert all(node.op.name != "loop" for node in graph.nodes)


def arrays_made_of_a_list(x):
    rows = []
    for i in range(12):
        rows.append(x[0] * i)
    whole, joined = np.asarray(rows), np.hstack(rows)
    whole[0] = 7.0
    joined += 1
    return whole, joined, rows[0], rows[-1]


def test_an_array_made_of_a_list_is_its_own():
    same(arrays_made_of_a_list, X)


REPEATED = {
    "numbers": lambda x, n: [0] * n,
    "from the left": lambda x, n: n * [x[0], 2.0],
    "of run-time length": lambda x, n: [v for v in x if v > 0] * n,
    "tuples": lambda x, n: [(x[1], 1)] * (n + 1),
    "then written": lambda x, n: written([x[0]] * (n + 2), n),
    "in place": lambda x, n: tripled([v for v in x], n),
    "in place, of known length": lambda x, n: tripled([x[0], 1.0], n),
    "of nothing": lambda x, n: [] * n,
    "added to": lambda x, n: [1.5] * n + [x[0]] * 2,
    "as a table": lambda x, n: np.array([[0.0] * 3 for _ in range(2)]) + len([0] * n),
    "a truth value": lambda x, n: [2.5] * bool(n > 1),
}


def written(rows, n):
    rows[0] = rows[0] + 1
    rows[n] = rows[-1] * 2
    rows.append(7.0)
    return rows


def tripled(rows, n):
    other = rows
    rows *= n
    return rows, len(other)


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("name", REPEATED)
def test_a_list_times_an_int_of_the_run(name, engine):
    """Also none and less than none; of one trace."""
    plain = REPEATED[name]
    staged = graphify.function(plain, engine=engine)
    for n in (3, 1, 0, -2, 5):
        if name == "then written" and n < 0:
            continue
        x = np.array([1.5, -2.0, 3.0])
        assert_same(staged(x, np.int64(n)), plain(x, np.int64(n)))


def assert_same(got, want):
    if isinstance(want, (list, tuple)):
        assert isinstance(got, type(want)) and len(got) == len(want)
        for one, other in zip(got, want, strict=True):
            assert_same(one, other)
    else:
        np.testing.assert_array_equal(got, want)


NUMBERS = [np.int64(2), np.uint8(3), np.bool_(True), np.float64(2.0), np.array(2), 2, True]


@pytest.mark.parametrize("number", NUMBERS, ids=repr)
@pytest.mark.parametrize("sequence", [[1, 2], (1, 2)], ids=["list", "tuple"])
def test_numbers_times_sequences(sequence, number):
    """An integer repeats it, an array of no axes is a factor of each element, others cannot."""
    for plain in (lambda n: n * sequence, lambda n: sequence * n, lambda n: n + np.array(sequence)):
        staged = graphify.function(plain)
        try:
            want = plain(number)
        except TypeError:
            with pytest.raises(TypeError):
                staged(number)
            continue
        try:
            got = staged(number)
        except graphify.errors.ConcreteValueNeeded:
            assert isinstance(want, (tuple, list)) and want == sequence * int(number)
            continue
        assert isinstance(got, type(want)) or not isinstance(want, (list, tuple))
        np.testing.assert_array_equal(got, want)


def test_nothing_is_repeated_by_integers_only():
    for plain in (lambda x: [] * x[0], lambda x: [] * x[0].astype(int), lambda x: [] * (x[0] > 0)):
        try:
            want = plain(np.ones(2))
        except TypeError:
            with pytest.raises(TypeError):
                graphify.function(plain)(np.ones(2))
        else:
            assert graphify.function(plain)(np.ones(2)) == want


def test_an_element_of_what_is_sorted():
    @graphify.function
    def f(x, k):
        return sorted(x)[k], sorted([3, 1, 2])[k], sorted(x, key=lambda v: -v)[k], x.tolist()[k]

    x = np.array([3.0, 1.0, 2.0])
    for k in (0, 1, -1):
        want = (np.sort(x)[k], [1, 2, 3][k], -np.sort(-x)[k], x[k])
        assert_same(tuple(f(x, np.int64(k))), want)


# --- places in an array ---------------------------------------------------------------------------


def rows_and_columns(table, bound):
    rows, columns, queue = [], [], deque()
    for i in range(len(table)):
        if table[i, 0] > bound:
            rows.append(i)
            columns.append(i % 2)
            queue.append(i)
    table[rows, columns] += 1.0
    return table[rows], table[:, columns], table[queue], table[[v > bound for v in table[:, 0]]]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("bound", [3.0, 6.0, 99.0])
def test_a_list_indexes_an_array(bound, engine):
    same(rows_and_columns, np.arange(24.0).reshape(12, 2), np.float64(bound), engine=engine)


# --- loops over lists whose elements they replace -------------------------------------------------


def replaced_from_the_end(n):
    g = [i for i in range(n)]
    for i, r in enumerate(g):
        g[n - 1 - i] = r * 10
    return g


def summed_into_the_first(n):
    g = [i for i in range(n)]
    for r in reversed(g):
        g[0] += r
    return g


def of_a_deque(n):
    d = deque(i for i in range(n))
    s = 0
    for i, r in enumerate(d):
        d[n - 1 - i] = r * 10 + 1
        s += r
    return list(d), s


def last_of_a_deque(n):
    d = deque(i for i in range(n))
    s = 0
    for r in d:
        d[-1] = r * 10 + 1
        s += r
    return list(d), s


def of_two_lists_side_by_side(n):
    g = [i for i in range(n)]
    h = [2 * i for i in range(n)]
    for a, b in zip(g, h):
        g[-1] += b
        h[0] = a
        if g[-1] > 9:
            h[-1] = 0
    return g, h


def bound_anew_meanwhile(n):
    g = [i for i in range(n)]
    for i, r in enumerate(g):
        if i == 0:
            g = [7] * 5
        g[0] += r
    return g


def first_of_a_deque(n):
    d = deque(i for i in range(n))
    d.popleft()
    s = 0
    for r in d:
        d[0] += r
        s += r * d[0]
    return list(d), s


@pytest.mark.parametrize(
    "program",
    [
        replaced_from_the_end,
        summed_into_the_first,
        of_a_deque,
        last_of_a_deque,
        of_two_lists_side_by_side,
        bound_anew_meanwhile,
        first_of_a_deque,
    ],
)
def test_elements_are_replaced_while_a_loop_goes_over_them(program):
    staged = graphify.function(program, engine="reference")
    for n in (4, 3, 9):
        assert_same(staged(np.int64(n)), program(n))


# --- elements that change where the list has grown by a branch ------------------------------------


def run_lengths_from_nothing(x):
    out = []
    for v in x:
        if out and out[-1][0] == v:
            out[-1][1] += 1
        else:
            out.append([v, 1])
    return out


def run_lengths_the_other_way(x):
    out = []
    for v in x:
        if not out or out[-1][0] != v:
            out.append([int(v), 1])
        else:
            out[-1][1] += 1
    return out


def run_lengths_from_the_first(x):
    out = [[x[0], 0]]
    for v in x:
        if out[-1][0] == v:
            out[-1][1] += 1
        else:
            out.append([v, 1])
    return out


def run_lengths_by_a_name(x):
    out, n = [], 0
    while n < len(x):
        if out and out[-1][0] == x[n]:
            run = out[-1]
            run[1] = run[1] + 1
        elif x[n] >= 0:
            out.append([x[n], 1])
        n += 1
    return out, sum(run[1] for run in out)


def runs_of_places(x):
    out = [[x[0], [0]]]
    for i, v in enumerate(x):
        if out[-1][0] != v:
            out.append([v, [0]])
        else:
            out[-1][1].append(i)
    return out


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "program",
    [
        run_lengths_from_nothing,
        run_lengths_the_other_way,
        run_lengths_from_the_first,
        run_lengths_by_a_name,
        runs_of_places,
    ],
)
def test_last_element_changes_or_another_comes(program: Any, engine: str) -> None:
    for x in ([1.0, 1, 2, 2, 2, 3], [1.0, 1, 2, 2, 2, 3] * 4, [5.0]):
        same(program, np.array(x), engine=engine)


def shown_by_a_name(x):
    first = [x[0], 1]
    out = [first]
    for v in x:
        if out[-1][0] != v:
            out.append([v, 1])
        else:
            out[-1][1] += 1
    first[1] += 5
    return out


def in_two_lists(x):
    out = [[x[0], 1]]
    two = [out[0]]
    for v in x:
        if out[-1][0] != v:
            out.append([v, 1])
        else:
            out[-1][1] += 1
    return out, two


def twice_in_one(x):
    row = [x[0], 1]
    out = [row, row]
    for v in x:
        if out[-1][0] != v:
            out.append([v, 1])
        else:
            out[0][1] += 1
    return out


def of_a_list_made_each_turn(x):
    row, rows = [0.0, 1.0], []
    for v in x:
        out = [row]
        if v > 1:
            out.append([v, v])
        rows.append(out)
    rows[0][0][1] = 5.0
    return rows[-1][0][1] + row[1]


@pytest.mark.parametrize(
    "program", [shown_by_a_name, in_two_lists, twice_in_one, of_a_list_made_each_turn]
)
def test_elements_that_others_have_are_refused(program: Any) -> None:
    for x in ([1.0, 1, 2, 2, 2, 3], [1.0, 1, 2, 2, 2, 3] * 4):
        with pytest.raises(TraceError):
            graphify.function(program)(np.array(x))


def shown_by_an_attribute(x):
    box = Box([1.0, 2.0])
    a = [box.held]
    changed_or_longer(a, x)
    return sum(v[0] for v in a) + box.held[0]


def shown_by_a_closure(x):
    def made():
        row = [1.0, 2.0]
        return [row], lambda: row[0]

    a, show = made()
    changed_or_longer(a, x)
    return sum(v[0] for v in a) + show()


def shown_by_a_generator(x):
    def rows():
        row = [1.0, 2.0]
        yield row
        yield row[0]

    steps = rows()
    a = [next(steps)]
    changed_or_longer(a, x)
    return sum(v[0] for v in a) + next(steps)


def shown_by_an_iterator(x):
    a = [[1.0, 2.0]]
    values = iter(a[0])
    changed_or_longer(a, x)
    return sum(v[0] for v in a) + next(values)


def shown_by_a_dict(x):
    table = {"row": [1.0, 2.0]}
    a = [table["row"]]
    changed_or_longer(a, x)
    return sum(v[0] for v in a) + table["row"][0]


def copied_and_emptied(x):
    row = [1.0, 2.0]
    a, b = [row], []
    if x[0] > 0:
        a.append([x[0], 3.0])
        b = a.copy()
        a.clear()
    else:
        row[0] = 7.0
    row[0] += 5.0
    return row[0] + len(a) + sum(v[0] for v in b)


@dataclass
class Box:
    held: list[float]


def changed_or_longer(a, x):
    for v in x:
        if v > 2:
            a.append([v, 3.0])
        else:
            a[0][0] += v


@pytest.mark.parametrize(
    "program",
    [
        shown_by_an_attribute,
        shown_by_a_closure,
        shown_by_a_generator,
        shown_by_an_iterator,
        shown_by_a_dict,
        copied_and_emptied,
    ],
)
def test_whatever_else_shows_an_element_sees_it_change(program: Any) -> None:
    staged = graphify.function(program)
    for x in ([1.0, 3, 2, 5], [-1.0, 1, 5]):
        try:
            found = float(staged(np.array(x)))
        except TraceError as error:
            assert "that is, or was, an element" in str(error)
        else:
            assert found == program(np.array(x))
