"""Staged control flow against plain Python: joins, loops, jumps, state of every kind, aliases."""

import numpy as np
import pytest

import graphify
from graphify.errors import GraphifyError
from tests.api.agree import agree

POSITIVE, NEGATIVE, MIXED = np.array([1.0, 2.0, 3.0]), -np.ones(3), np.array([3.0, -1.0, 2.0])
LONG = np.arange(12.0) - 3


# --- if -----------------------------------------------------------------------------------------


def join_dtypes(x):
    if x.sum() > 0:
        y = 1
    else:
        y = 2
    return x.astype(np.float32) * y


def join_new_names(x):
    if x.sum() > 0:
        a, b = x.max(), x.min()
    else:
        b, a = x.max(), x.min()
    return a - b


def elif_chain(x):
    if x.sum() > 5:
        kind = 0.5
    elif x.sum() > 0:
        kind = 1.5
    elif x.sum() > -5:
        kind = 2.5
    else:
        kind = 3.5
    return kind


def early_returns(x):
    if x.sum() > 5:
        return x * 2
    y = x + 1
    if y.max() > 0:
        return y
    return y - 1


def in_place_or_rebind(x):
    y = x.copy()
    z = y
    if x.sum() > 0:
        y += 1
    else:
        y = y * 2
    return y, z


def views_in_branches(x):
    v = x[1:]
    if x.sum() > 0:
        v[0] = 10.0
    else:
        x[1] = 20.0
    return v, x


def dict_state(x):
    d = {"a": x.sum(), "b": 0}
    if x.sum() > 0:
        d["a"] = d["a"] * 2
        d["b"] = d["b"] + 1
    return d


def list_state(x):
    xs = [x, x * 2]
    if x.sum() > 0:
        xs[0] = xs[0] + 1
    else:
        xs[1] = xs[1] - 1
    return xs


def tuple_state(x):
    pair = (x, 0)
    if x.sum() > 0:
        pair = (pair[0] * 2, pair[1] + 1)
    return pair


class Box:
    def __init__(self, value):
        self.value, self.count = value, 0


def object_state(x):
    box = Box(x)
    if x.sum() > 0:
        box.value = box.value * 2
        box.count += 1
    for i in range(10):
        if x[0] > i:
            box.count += 1
    return box.value, box.count


def nested_functions(x):
    total = 0.0

    def add(v):
        nonlocal total
        total = total + v

    add(x.sum())
    if x.sum() > 0:
        add(1.0)
    for v in x:
        add(v)
    return total


def conditional_expressions(x):
    return (x.max() if x.sum() > 0 else x.min()) + (1 if x[0] > 0 else 2.5)


def short_circuit(x):
    i = 5
    while i < x.shape[0] and x[i] > 0 or i < 3:
        i += 1
    return i


def chained(x):
    return 0 < x.sum() < 5, not (x.max() > 2 and x.min() < 0), 1 < 2 < x.sum()


def membership(x):
    return 2.0 in x, 3.0 in x or 4.0 in x, 100.0 not in x


def matches(x):
    match x.ndim:
        case 1:
            y = x * 2
        case _:
            y = x
    return y


# --- while --------------------------------------------------------------------------------------


def counts(x):
    n = 0
    while x.sum() < 50:
        x = x + 1
        n += 1
    return n, x


def updates_in_place(x):
    while x.sum() < 50:
        x += 1
    return x


def aliased(x):
    y = x
    while x.sum() < 50:
        x = x + 1
    return x, y


def aliased_in_place(x):
    y = x.copy()
    z = y
    n = 0
    while y.sum() < 50:
        y += 1
        n += 1
    return y, z, n


def grows_dtype(x):
    k = 1
    while x.sum() + k < 20:
        k = k * 1.5
    return k


def breaks(x):
    n = 0
    while True:
        n += 1
        if x.sum() + n > 10:
            break
        if n > 100:
            break
    else:
        n = -1
    return n


def continues(x):
    total = 0.0
    n = 0
    while n < x.shape[0]:
        n += 1
        if x[n - 1] < 0:
            continue
        total += x[n - 1]
    return total


def while_else(x):
    n = 0
    while n < 20:
        if x.sum() < n:
            break
        n += 1
    else:
        n = 1000
    return n


def returns_from_loop(x):
    n = 0
    while n < 30:
        if x.sum() + n > 12:
            return n, x * 2
        n += 1
    return -1, x


def nested_whiles(x):
    total = 0.0
    i = 0
    while i < 4 + x[0] * 0:
        j = 0
        while j < i + x[0] * 0:
            total += i * j
            j += 1
        i += 1
    return total


def collatz(x):
    n = int(abs(x[0])) + 6
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


# --- for ----------------------------------------------------------------------------------------


def over_rows(x):
    m = x.reshape(-1, 3)
    total = np.zeros(3)
    for row in m:
        total = total + row * 2
    return total


def over_rank_3(x):
    m = np.tile(x, 10).reshape(10, -1, 1)
    total = 0.0
    for plane in m:
        for row in plane:
            total += row[0]
    return total


def over_enumerate(x):
    best, at = -np.inf, -1
    for i, v in enumerate(x, 1):
        if v > best:
            best, at = v, i
    return best, at


def over_zip(x):
    total = 0.0
    for a, b in zip(x, x[::-1]):
        total += a * b
    return total


def over_reversed(x):
    y = 0.0
    for v in reversed(x):
        y = y * 0.5 + v
    return y


def over_range_step(x):
    total = 0.0
    for i in range(len(x) - 1, -1, -2):
        total = total * 0.5 + x[i]
    return total


def over_traced_range(x):
    n = int(x.max())
    total = 0
    for i in range(n, n + 15, 3):
        total += i
    for i in range(n, n - 12, -5):
        total -= i * 2
    return total, n


def long_for(x):
    for i in range(30):
        if i % 2 == 0:
            x = x * 1.1
        elif x.sum() > 10:
            x = x - i
    return x


def for_break(x):
    found = -1
    for i in range(20):
        if x.sum() < i:
            found = i
            break
    else:
        found = -5
    return found


def for_continue(x):
    total = 0.0
    for v in x:
        if v < 0:
            continue
        total += v
    return total


def for_return(x):
    for i, v in enumerate(x):
        if v < 0:
            return i, v
    return -1, x[0]


def loop_variable_after(x):
    for i in range(15):
        x = x + i
    return i, x


def loop_late_binding(x):
    for v in x:
        last = v * 2
    return last


def fills_array(x):
    y = np.zeros(12)
    for i in range(12):
        y[i] = x.sum() * i
        if i > 0:
            y[i] += y[i - 1]
    return y


def fills_matrix(x):
    m = np.zeros((4, 3))
    for i in range(4):
        for j in range(3):
            m[i, j] = x[j] * i
    return m


def appends_unrolled(x):
    out = []
    for i in range(4):
        out.append(x * i)
    return np.stack(out)


def swaps(x):
    a, b = x, x * 2
    for i in range(11):
        a, b = b, a + b
    return a, b


def dict_items(x):
    params = {"w": x, "b": x.sum()}
    total = 0.0
    for name, value in params.items():
        total = total + value.sum() * len(name)
    return total


def comprehension(x):
    ys = [v * i for i, v in enumerate([x, x + 1, x + 2])]
    return sum(y.sum() for y in ys), {k: x * k for k in (1, 2)}, [a for a in (1, 2, 3) if a > 1]


def shape_changes(x):
    y = x[:1]
    while y.shape[0] < 6:
        y = np.concatenate([y, y])
    return y


def scalar_in_loop_stays_float32(x):
    x = x.astype(np.float32)
    scale = 1.0
    for i in range(12):
        scale = scale * 0.9
        x = x * scale + i
    return x, scale


def newton(x):
    y = x.sum() * 0 + 2.0
    while abs(y * y - 2.0) > 1e-10:
        y = y - (y * y - 2.0) / (2.0 * y)
    return y


def builtin_functions(x):
    return (
        len(x),
        sum(x),
        max(x),
        min(x[0], x[1]),
        abs(x[0]),
        round(x[0] / 3, 2),
        any(x > 2),
        all(x > -10),
        float(x[0]) * 2,
        int(x[1]) // 2,
        bool(x[0] > 0),
        list(map(lambda v: v * 2, [x, x])),
        sorted([3, 1, 2]),
        divmod(int(x[0]) + 7, 3),
        pow(x[0], 2),
    )


PROGRAMS = [
    value
    for name, value in list(globals().items())
    if callable(value)
    and getattr(value, "__module__", "") == __name__
    and name not in ("agree", "Box")
]


# A Python number on one path and an array's element on the other: the join has one type.
JOINING = (continues, for_continue, grows_dtype)


def test_python_bools_add_up():
    def f(x):
        return (
            bool(x[0] > 0) + bool(x[1] > 0),
            (not x[0] > 0) + (not x[1] > 0),
            (2.0 in x) + (3.0 in x),
            any(x > 0) + all(x > 0),
        )

    for x in (POSITIVE, NEGATIVE, MIXED):
        agree(f, x)


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize(
    "x", [POSITIVE, NEGATIVE, MIXED, LONG], ids=["positive", "negative", "mixed", "long"]
)
def test_programs(function, x):
    if function is breaks and x.sum() < -80:
        pytest.skip("too long")
    agree(function, x, loose=function in JOINING)


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_programs_on_sizes_that_change(function):
    """One trace for every size gives the same answers."""
    from tests.api.agree import outcome, same

    staged = graphify.function(function)
    for n in (3, 6, 9, 12, 3):
        x = np.arange(float(n)) - 2
        want, want_args = outcome(function, (x,), {})
        got, got_args = outcome(staged, (x,), {})
        assert got[0] == want[0], f"size {n}: plain {want}, staged {got}"
        if want[0] == "returned":
            same(got[1], want[1], loose=function in JOINING)
            same(got_args, want_args)
        else:
            assert isinstance(got[1], type(want[1]))


# --- what is refused, by name -------------------------------------------------------------------


def none_in_loop(x):
    best = None
    for v in x:
        if best is None or v > best:
            best = v
    return best


def structure_changes(x):
    y = ()
    while x.sum() < 10:
        x = x + 1
        y = y + (x,)
    return y


def rank_changes(x):
    while x.sum() < 10:
        x = np.stack([x, x])
    return x


@pytest.mark.parametrize("function, name", [(structure_changes, "'y'"), (rank_changes, "'x'")])
def test_refusals_name_the_variable(function, name):
    with pytest.raises(GraphifyError, match=name) as caught:
        graphify.function(function)(np.ones(2))
    assert "remedy" in str(caught.value) and "test_operators_control.py" in str(caught.value)


def test_none_in_a_loop():
    for x in (np.array([1.0, 3.0, 2.0]), LONG):
        assert float(graphify.function(none_in_loop)(x)) == none_in_loop(x)


def test_globals_assigned_under_control_flow():
    staged = graphify.function(assigns_global)
    for x, want in ((-np.ones(1), 0), (np.ones(1), 1)):
        staged(x)
        assert want == COUNT


def assigns_global(x):
    global COUNT
    if x.sum() > 0:
        COUNT = 1
    return x


COUNT = 0


def test_traced_bounds_of_every_kind():
    def f(x, a, b, c):
        total = 0
        for i in range(a, b, c):
            total = total * 3 + i
        return total + x.sum() * 0

    staged = graphify.function(f)
    for a, b, c in [
        (0, 5, 1),
        (5, 0, -1),
        (2, 20, 3),
        (20, 2, -7),
        (3, 3, 1),
        (5, 0, 1),
        (0, 10, 2),
        (-3, 3, 2),
    ]:
        want = f(np.ones(1), a, b, c)
        assert float(staged(np.ones(1), a, b, c)) == want
        arrays = [np.array(v) for v in (a, b, c)]
        assert float(graphify.function(f)(np.ones(1), *arrays)) == want
    with pytest.raises(ValueError, match="zero"):
        staged(np.ones(1), 1, 2, 0)
    with pytest.raises(TypeError):
        graphify.function(f)(np.ones(1), np.array(0.5), np.array(2), np.array(1))


def test_effects_of_a_loop_over_constants_run_at_each_run(capsys):
    @graphify.function
    def counts(x):
        for i in range(12):
            graphify.print(i, end=" ")
        return x

    for _ in range(2):
        counts(np.ones(1))
        assert capsys.readouterr().out == "0 1 2 3 4 5 6 7 8 9 10 11 "


def test_masks_and_numbers_stay_what_they_are():
    def mask_or_numbers(x):
        m = x > 0
        if x.sum() > 3:
            m = m * 2
        return np.diff(m)

    for x in (np.arange(3.0), np.arange(4.0)):
        got, want = graphify.function(mask_or_numbers)(x), mask_or_numbers(x)
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)


def leaves_by_an_error(x):
    i = 0
    while x.shape[0] == 3:  # plain Python ends this by an IndexError
        x[i]
        i += 1
    return x


def counts_far(x):
    i, s = 0, x
    while i < 1500:
        s = s + x
        i += 1
    return s, i


def test_a_while_loop_of_very_many_turns_is_staged():
    x = np.arange(3.0)
    staged = graphify.function(leaves_by_an_error, engine="reference")
    np.testing.assert_array_equal(staged.get_concrete_function(x).graph.nodes, ())
    total, count = graphify.function(counts_far)(x)
    np.testing.assert_array_equal(total, 1501 * x)
    assert count == 1500


# --- conditions that change something -----------------------------------------------------------


def calls_that_count(x, k):
    n = 0

    def above(e):
        nonlocal n
        n = n + 1
        return e > k

    checks = [above]
    if x[0] > 0 and checks[0](x[1]):
        x = x * 2
    y = 3 if x[0] > 1 or above(x[2]) else 4
    return x, n, y


def counts_in_a_condition(x, k):
    n = 0

    def above(e):
        nonlocal n
        n = n + 1
        return e > k

    while n < 7 and not above(x[n % 3]):
        pass
    return n


class Patience:
    def __init__(self):
        self.asked = 0

    def left(self, k):
        self.asked += 1
        return self.asked < k


def asks_an_object(x, k):
    patience = Patience()
    while patience.left(k):
        x = x + 1
    return x, patience.asked


def asks_and_breaks(x, k):
    patience, i = Patience(), 0
    while patience.left(50):
        i += 1
        if x[i % 3] > k:
            break
    else:
        i = -1
    return x, patience.asked, i


def updates_in_a_condition(x, k):
    def more():
        x[0] += 1
        return x[0] < k

    while more():
        x[1] += 2
    return x


@pytest.mark.parametrize(
    "function",
    [
        calls_that_count,
        counts_in_a_condition,
        asks_an_object,
        asks_and_breaks,
        updates_in_a_condition,
    ],
)
@pytest.mark.parametrize("engine", ["reference", "native"])
def test_a_condition_may_change_something(function, engine):
    staged = graphify.function(function, engine=engine)
    for x in (np.array([1.0, 2.0, 3.0]), np.array([-1.0, 2.0, 0.5])):
        for k in (0, 1, 2, 9):
            mine, theirs = x.copy(), x.copy()
            got, want = staged(mine, np.asarray(k)), function(theirs, k)
            pairs = zip(got, want, strict=True) if isinstance(want, tuple) else [(got, want)]
            for one, other in pairs:
                np.testing.assert_array_equal(one, other)
            np.testing.assert_array_equal(mine, theirs)
