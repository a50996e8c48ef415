"""Values of several kinds: programs that put them to uses that the samples do not, on all paths."""

import numpy as np
import pytest

import graphify
from graphify.errors import TraceError


def nearest_above(x, s):
    best = None
    for v in x:
        cur = None
        for u in x:
            if u > v and (cur is None or u < cur):
                cur = u
        if cur is not None and (best is None or cur > best):
            best = cur
    return best


def two_searches(x, s):
    def first(a, t):
        for v in a:
            if v > t:
                return v

    r = first(x, s)
    q = first(-x, s)
    if r is None and q is None:
        return 0.0
    if r is None:
        return q
    if q is None:
        return r
    return r * q


def dict_or_none(x, s):
    m = None
    i = 0
    while i < len(x):
        if m is None:
            m = {"v": x[i], "i": i}
        elif x[i] > m["v"]:
            m = {"v": x[i], "i": i}
        i += 1
    return m


def rank_and_update(x, s):
    y = x if s > 0 else x[:, None]
    z = y + 1
    z[0] = 5.0
    return z.shape[0], z.sum(), y.ndim


def inside_containers(x, s):
    y = x if s > 0 else None
    z = [y, x]
    d = {"a": y}
    t = (y, 1)
    if z[0] is None:
        return d["a"] is None, t[1]
    return z[0].sum() + d["a"][0] + t[0][1], 2


def three_texts(x, s):
    kind = "a"
    for v in x:
        if kind == "a" and v > 0:
            kind = "b"
        elif kind == "b" and v < 0:
            kind = "c"
        elif kind == "c":
            kind = "a"
    return kind


def function_found_on_the_way(x, s):
    f = None
    for v in x:
        if f is None:
            f = np.sin if v > 0 else np.cos
        else:
            x = f(x)
    return x


def none_of_a_handler(x, s):
    val = None
    try:
        if s > 0:
            val = x[100]
        else:
            val = x[0]
    except IndexError:
        val = None
    return val


def part_of_a_tuple(x, s):
    y = (x, None)
    if s > 0:
        y = (x, x)
    a, b = y
    return a if b is None else a + b


def number_or_text(x, s):
    y = 1 if s > 0 else "one"
    return y == 1, y == "one", y != 1, isinstance(y, str), isinstance(y, int)


def operands_of_or_and_and(x, s):
    y = None if s > 0 else 3
    z = y or 5
    w = y and 7
    return z, w is None


def counter_from_none(x, s):
    n = None
    for _ in x:
        n = 1 if n is None else n + 1
    return n


def bounds_from_none(x, s):
    lo, hi = None, None
    for v in x:
        lo = v if lo is None else min(lo, v)
        hi = v if hi is None else max(hi, v)
    return lo, hi


def left_or_none(x, s):
    last = None
    for v in x:
        if last is None:
            last = v
            continue
        if v < last:
            break
        last = v
    else:
        last = None
    return last


def rows_of_either_rank(x, s):
    y = np.zeros(3) if s > 0 else np.zeros((3, 2))
    for i in range(3):
        y[i] = i
    return y


def sum_from_none(x, s):
    acc = None
    for v in x:
        term = v * x
        acc = term if acc is None else acc + term
    return acc


def true_or_array(x, s):
    r = True if s > 0 else x
    return r is True, np.all(r)


def given_to_a_callee(x, s):
    def g(opt=None):
        return opt

    y = g(x if s > 0 else None)
    print("y is", y is None)
    return y is None


def methods_of_texts(x, s):
    y = "abc" if s > 0 else "de"
    return len(y), y.upper(), y + "z", y[0], "b" in y, y.startswith("a")


def tuples(x, s):
    y = (1, 2, 3) if s > 0 else (4.0,)
    t = 0
    for v in y:
        t += v
    return t, len(y), sum(y), max(y), y[-1], 2 in y


def loop_over_none(x, s):
    y = None
    while y is None or y < 5:
        y = s if y is None else y * 2 + 6
    return y


def either_is_none(x, s):
    y = None if s > 0 else x
    z = None if s > 1 else x
    return np.stack([x, x]) if y is None or z is None else np.stack([y, z])


def array_updated_by_either(x, s):
    y = None if s > 0 else 1.5
    x += 1 if y is None else y
    x[0] = 3 if y is None else y
    return x


def array_updated_by_number_or_array(x, s):
    y = x[0] if s > 0 else x
    x += y
    return x


PROGRAMS = [f for f in list(globals().values()) if getattr(f, "__module__", None) == __name__]


def plainly(value):
    """A result to compare: texts and None as they are, numbers rounded, with their kind."""

    def leaf(v):
        if v is None or isinstance(v, str | bool):
            return v
        array = np.asarray(v, np.float64)
        return np.round(array, 8).tolist()

    return graphify.tree.map_structure(leaf, value)


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_program(function, engine):
    staged, rng = graphify.function(function, engine=engine), np.random.default_rng(1)
    for s in (0.7, -1.0, 1.5, -0.1):
        for n in (12, 4, 1, 0):
            x = rng.normal(size=n)
            try:
                want = function(x.copy(), np.float64(s))
            except Exception as error:
                with pytest.raises(type(error)):
                    staged(x.copy(), np.float64(s))
            else:
                assert plainly(staged(x.copy(), np.float64(s))) == plainly(want)


def test_lanes_of_different_kinds_are_refused():
    def f(s):
        return None if s > 0 else s

    with pytest.raises(TraceError, match="lanes of a vmap") as caught:
        graphify.vmap(f)(np.array([1.0, -1.0]))
    assert "remedy" in str(caught.value)


def test_identity_with_an_array_is_refused():
    def f(x):
        y = None if x.sum() > 0 else x
        return y is x

    with pytest.raises(TraceError, match="`is` compares"):
        graphify.function(f)(np.ones(2))


def test_a_key_of_several_kinds():
    def f(x, table):
        name = "a" if x.sum() > 0 else "b"
        return {"a": x, "b": -x}[name] * table.get(name, 3.0)

    staged = graphify.function(f)
    assert staged(np.ones(2), {"a": 2.0}).numpy().tolist() == [2.0, 2.0]
    assert staged(-np.ones(2), {"a": 2.0}).numpy().tolist() == [3.0, 3.0]


def test_a_key_of_several_kinds_of_what_may_be_an_array_is_refused():
    def f(x, table):
        return x * table["a" if x.sum() > 0 else "b"]

    with pytest.raises(TraceError, match="is used as a key") as caught:
        graphify.function(f)(np.ones(2), {"a": 2.0, "b": 3.0})
    assert "test_choices.py" in str(caught.value)


def test_the_graph_of_a_search_stays_small():
    def f(x):
        best = None
        for v in x:
            if v > 0 and (best is None or v < best):
                best = v
        return best

    sizes = []
    for n in (50, 500):
        graph = graphify.function(f).get_concrete_function(np.ones(n)).graph
        sizes.append(len(str(graph)))
    assert abs(sizes[0] - sizes[1]) < 100


class Bare:
    def __init__(self, v):
        self.v = v


def field_of_one_branch(x):
    o = Bare(x)
    if x > 0:
        o.f = x
    if x > 1:
        o.v = 3.0
    return o.f if x > 0 else o.v


def field_read_where_it_may_be_missing(x):
    if x > -9:
        o = Bare(x)
        if x > 1:
            o.f = x
    else:
        o = Bare(-x)
    try:
        return o.f
    except AttributeError:
        return -1.0


def field_asked_for(x):
    o = Bare(x)
    if x > 1:
        o.f = x
    return getattr(o, "f", 5.0), hasattr(o, "f"), getattr(o, "g", 6.0), hasattr(o, "v")


def field_of_one_of_two_objects(x):
    if x > 0:
        o = Bare(x)
        if x > 1:
            o.f = x
    else:
        o = Bare(1.0)
        o.f = 1.0
    return getattr(o, "f", 5.0), hasattr(o, "f"), o.v


def field_of_a_loop(x):
    o, lazy = Bare(x), 0.0
    for i in range(20):
        if i > x:
            o.f = i * 1.0
        if not hasattr(o, "cached"):
            o.cached = x * 2
        lazy += o.cached
    return o.f, lazy


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize(
    "program",
    [
        *(field_of_one_branch, field_read_where_it_may_be_missing, field_asked_for),
        *(field_of_one_of_two_objects, field_of_a_loop),
    ],
    ids=lambda f: f.__name__,
)
def test_fields_of_some_paths(program, engine):
    staged = graphify.function(program, engine=engine)
    for x in (2.0, 0.5, -1.0, 7.0):
        want, got = program(np.float64(x)), staged(np.float64(x))
        np.testing.assert_array_equal(np.asarray(got), np.asarray(want), str(x))
