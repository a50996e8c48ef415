"""In-place updates, aliases, views and odd arrays: a call leaves behind what Python would."""

import collections
import types

import numpy as np
import pytest

import graphify
from graphify.errors import GraphifyError
from tests.api.agree import agree, same


def put(x):
    x[0] = 9.0
    return x.sum()


def add_in_place(x, y):
    x += y
    return x


def loop_in_place(x):
    for i in range(len(x)):
        x[i] = x[i] * 2 + i
    return x[-1]


def branch_in_place(x):
    if x.sum() > 0:
        x[0] = -1.0
    else:
        x[1] = -2.0
    return x * 2


def masked(x):
    x[x > 1] = 0.0
    return x


def through_a_view(x):
    row = x[1:]
    row += 1
    row[0] = 7
    return row


def out_argument(x):
    np.multiply(x, 3, out=x)
    return x


def ufunc_at(x):
    np.add.at(x, [0, 0, 1], 1)
    return x


def swap(x, y):
    t = x.copy()
    x[:] = y
    y[:] = t
    return None


def transposed(x):
    x.T[0] = 5
    return x


def reshaped(x):
    flat = x.reshape(-1)
    flat[3] = 8
    return flat


def sorts(x):
    x.sort()
    return x[0]


def fills(x):
    x.fill(3)
    return x


def nested(d):
    d["x"][0] = 1
    d["list"][1] += 2
    return d["x"] + d["list"][1]


A = np.array([1.0, 2.0, 3.0, 4.0])


@pytest.mark.parametrize(
    "function, args",
    [
        (put, (A,)),
        (add_in_place, (A, A * 2)),
        (loop_in_place, (A,)),
        (loop_in_place, (np.arange(20.0),)),
        (branch_in_place, (A,)),
        (branch_in_place, (-A,)),
        (masked, (A,)),
        (through_a_view, (A,)),
        (out_argument, (A,)),
        (ufunc_at, (A,)),
        (swap, (A, A[::-1].copy())),
        (transposed, (A.reshape(2, 2),)),
        (reshaped, (A.reshape(2, 2),)),
        (sorts, (A[::-1].copy(),)),
        (fills, (A,)),
        (nested, ({"x": A, "list": [A, A.copy()]},)),
    ],
    ids=lambda v: getattr(v, "__name__", ""),
)
def test_updates_of_arguments(function, args):
    agree(function, *args)


ODD = {
    "reversed": lambda a: a[::-1],
    "strided": lambda a: np.repeat(a, 2)[::2],
    "fortran": lambda a: np.asfortranarray(a.reshape(2, 2)),
    "foreign order": lambda a: a.astype(">f8"),
    "empty": lambda a: a[:0],
    "zero axis": lambda a: np.zeros((2, 0, 3)),
    "scalar": lambda a: np.array(2.5),
    "generic": lambda a: np.float64(2.5),
    "nan": lambda a: np.array([np.nan, np.inf, -np.inf, -0.0]),
    "half": lambda a: a.astype(np.float16),
    "complex": lambda a: a + 1j,
    "bool": lambda a: a > 2,
    "small ints": lambda a: a.astype(np.int8),
    "unsigned": lambda a: a.astype(np.uint64),
    "subclass": lambda a: a.view(np.recarray) if False else np.asarray(a),
    "tensor": lambda a: a,
}


@pytest.mark.parametrize("kind", ODD)
def test_odd_arrays(kind):
    def f(x):
        return x + x, x * 2, x[...], x.T, x == x

    agree(f, ODD[kind](A.copy()))


@pytest.mark.parametrize("kind", ["reversed", "strided", "fortran"])
def test_odd_arrays_are_updated(kind):
    def f(x):
        x += 1
        x[0] = 5
        return x.sum()

    staged = graphify.function(f)
    plain_base, staged_base = A.copy(), A.copy()
    plain, other = ODD[kind](plain_base), ODD[kind](staged_base)
    same(staged(other), f(plain))
    same(other, plain)
    same(staged_base, plain_base)


def test_foreign_byte_order_is_updated_in_its_own_order():
    f = graphify.function(put)
    a = np.arange(3).astype(">f8")
    f(a)
    assert a.tolist() == [9.0, 1.0, 2.0] and a.dtype == ">f8"


def test_read_only_arguments():
    a = np.ones(3)
    a.flags.writeable = False
    f = graphify.function(put)
    with pytest.raises(ValueError, match="read-only"):
        f(a)
    assert a.tolist() == [1.0] * 3
    assert graphify.function(lambda x: x * 2)(a).numpy().tolist() == [2.0] * 3
    b = np.ones(3)
    assert float(f(b)) == 11.0
    with pytest.raises(ValueError, match="read-only"):
        f(a)


def test_read_only_captured():
    a = np.ones(3)
    a.flags.writeable = False

    @graphify.function
    def f(x):
        a[0] = 1.0
        return x

    with pytest.raises(ValueError, match="read-only"):
        f(np.ones(1))


def test_immutable_arguments_are_not_updated_in_silence():
    class Foreign:
        def __array__(self, dtype=None, copy=None):
            return np.ones(3)

    f = graphify.function(put)
    with pytest.raises((TypeError, ValueError)):
        f(Foreign())


def test_lists_as_arguments_are_containers():
    def f(xs):
        xs[0] = xs[0] + 1
        return xs[0]

    agree(f, [np.ones(2), np.ones(2)])


# --- results that are arguments -----------------------------------------------------------------


def test_a_result_that_is_an_argument_is_that_array():
    @graphify.function
    def f(x, y):
        return x, y, x

    a, b = np.ones(2), np.ones(2)
    p, q, r = f(a, b)
    assert np.shares_memory(p.numpy(), a) and np.shares_memory(q.numpy(), b)
    assert np.shares_memory(p.numpy(), r.numpy())
    p[0] = 5
    assert a.tolist() == [5.0, 1.0]


def test_a_result_that_is_a_view_of_an_argument():
    @graphify.function
    def f(x):
        return x[1:], x.T, x * 1

    a = np.ones((2, 2))
    tail, t, copied = f(a)
    assert np.shares_memory(tail.numpy(), a) and np.shares_memory(t.numpy(), a)
    assert not np.shares_memory(copied.numpy(), a)
    tail[0, 0] = 7
    assert a[1, 0] == 7


VIEWS = {
    "tail": lambda x: x[1:],
    "backwards": lambda x: x[::-2, :-1],
    "half": lambda x: x[len(x) // 2 :],
    "row": lambda x: x[-1],
    "flat": lambda x: x.reshape(-1),
    "raveled": lambda x: x.ravel(),
    "part of flat": lambda x: x.reshape(-1)[2:],
    "diagonal": lambda x: np.diagonal(x.T)[1:],
}


@pytest.mark.parametrize(
    "lay", [np.copy, lambda x: x[::-1], lambda x: x[:, ::2], np.asfortranarray]
)
@pytest.mark.parametrize("name", VIEWS)
def test_views_of_arguments_of_any_size_as_results(name, lay):
    f = graphify.function(VIEWS[name])
    for shape in [
        (3, 4),
        (5, 4),
        (4, 6),
        (4, 6),
        (7, 2),
    ]:  # sizes are known at the run from the second on
        plain, staged = (lay(np.arange(float(np.prod(shape))).reshape(shape)) for _ in range(2))
        want, found = VIEWS[name](plain), f(staged)
        assert np.array_equal(found.numpy(), want)
        assert np.shares_memory(found.numpy(), staged) == np.shares_memory(want, plain)
        if want.flags.writeable:
            want[...], found[...] = -1, -1
        assert np.array_equal(staged, plain)


def test_results_do_not_share_memory_by_accident():
    @graphify.function
    def f(x):
        y = x + 0
        return y, y.copy(), np.broadcast_to(x[0], (3,)), x.astype(x.dtype)

    a = np.ones(2)
    y, z, wide, cast = f(a)
    y[0] = 5
    assert a[0] == 1 and z.numpy()[0] == 1 and cast.numpy()[0] == 1


def test_results_of_two_calls_are_apart():
    @graphify.function
    def f():
        return np.zeros(3), np.arange(3)

    a, _ = f()
    a[0] = 5
    b, _ = f()
    assert b.numpy().tolist() == [0.0] * 3


def test_a_captured_array_as_result():
    w = np.zeros(2)

    @graphify.function
    def f(x):
        w[0] += x
        return w

    first = f(np.array(1.0))
    f(np.array(1.0))
    assert w.tolist() == [2.0, 0.0]
    assert first.numpy().tolist() == [2.0, 0.0]


# --- aliases ------------------------------------------------------------------------------------


def test_the_same_array_twice():
    agree_alias(lambda x, y: (x.__iadd__(1), y * 2)[1], lambda a: (a, a))


def agree_alias(function, make):
    plain, staged = make(A.copy()), make(A.copy())
    f = graphify.function(function)
    want = function(*plain)
    same(f(*staged), want)
    for p, s in zip(plain, staged, strict=True):
        same(s, p)


def test_overlapping_views_are_refused_when_updated():
    @graphify.function
    def f(x, y):
        x += 1
        return x + y

    a = np.zeros(4)
    with pytest.raises(GraphifyError, match="shares memory"):
        f(a[:3], a[1:])
    assert a.tolist() == [0.0] * 4
    assert f(a[:2], a[2:]).numpy().tolist() == [1.0, 1.0]


def test_overlapping_views_are_fine_when_only_read():
    f = graphify.function(lambda x, y: x + y)
    a = np.arange(4.0)
    assert f(a[:3], a[1:]).numpy().tolist() == [1.0, 3.0, 5.0]


def test_an_argument_that_is_also_captured():
    w = np.zeros(2)

    @graphify.function
    def f(x):
        x += 1
        return w * 1

    assert f(np.zeros(2)).numpy().tolist() == [0.0, 0.0]
    try:
        got = f(w).numpy().tolist()
    except GraphifyError:
        assert w.tolist() == [0.0, 0.0]
    else:
        assert got == [1.0, 1.0] and w.tolist() == [1.0, 1.0]


# --- what is outside ----------------------------------------------------------------------------


def test_captured_arrays_are_updated():
    total = np.zeros(2)

    @graphify.function
    def f(x):
        total[:] += x
        return total.sum()

    assert float(f(np.ones(2))) == 2.0
    assert float(f(np.ones(2))) == 4.0
    assert total.tolist() == [2.0, 2.0]


class Counter:
    def __init__(self):
        self.n = 0
        self.total = np.zeros(2)
        self.history = []
        self.stats = {"max": -np.inf}

    @graphify.function
    def step(self, x):
        self.n += 1
        self.total = self.total + x
        return self.total * self.n

    @graphify.function
    def branch(self, x):
        if x.sum() > 0:
            self.total += x
            self.n = self.n + 1
        return self.n

    @graphify.function
    def loop(self, x):
        for v in x:
            self.total = self.total + v
        while self.total.sum() < 100:
            self.total *= 2
        return self.total

    @graphify.function
    def record(self, x):
        self.stats["max"] = x.max()
        self.history.append(x.sum())
        return len(self.history)


def plain_counter():
    """A Counter whose methods are not staged."""
    counter = Counter()
    for name in ("step", "branch", "loop", "record"):
        method = getattr(Counter, name).python_function
        setattr(counter, name, method.__get__(counter))
    return counter


@pytest.mark.parametrize("name", ["step", "branch", "loop"])
def test_attributes_written(name):
    staged, plain = Counter(), plain_counter()
    for x in (np.ones(2), -np.ones(2), np.ones(2), np.full(2, 3.0)):
        got, want = getattr(staged, name)(x), getattr(plain, name)(x)
        same(got, want)
        same(staged.total, plain.total)
        assert int(staged.n) == plain.n


def test_containers_of_self_written():
    staged, plain = Counter(), plain_counter()
    for x in (np.ones(2), -np.ones(2), np.full(2, 3.0)):
        assert int(staged.record(x)) == plain.record(x)
        assert float(staged.stats["max"]) == float(plain.stats["max"])
        assert [float(h) for h in staged.history] == [float(h) for h in plain.history]


def test_nonlocal_and_global_writes():
    count, total = 0, np.zeros(1)

    @graphify.function
    def f(x):
        nonlocal count, total
        count += 1
        total = total + x
        return total

    for k in range(1, 4):
        assert float(f(np.ones(1))[0]) == k
        assert count == k and float(np.asarray(total)[0]) == k


def test_list_argument_appended():
    def f(xs, x):
        xs.append(x * 2)
        return len(xs)

    agree(f, [np.ones(1)], np.ones(1))


def test_dict_argument_updated():
    def f(d, x):
        d["new"] = x * 2
        d["old"] = d["old"] + 1
        return d

    agree(f, {"old": np.zeros(1)}, np.ones(1))


# --- when tracing fails -------------------------------------------------------------------------


def test_a_failed_trace_leaves_nothing_behind():
    class Model:
        def __init__(self):
            self.n = 0
            self.w = np.zeros(2)

    m = Model()
    fail = [True]

    @graphify.function
    def f(x):
        m.n = m.n + 1
        m.w += x
        x[0] = 5
        if fail[0]:
            raise KeyError("not yet")
        return x

    a = np.ones(2)
    with pytest.raises(KeyError, match="not yet"):
        f(a)
    assert isinstance(m.n, int) and isinstance(m.w, np.ndarray)
    assert f.concrete_functions == []
    assert graphify.ir.context.current_builder() is None
    fail[0] = False
    m.n, m.w, a = 0, np.zeros(2), np.ones(2)
    f(a)
    assert m.n == 1 and m.w.tolist() == [1.0, 1.0] and a.tolist() == [5.0, 1.0]


def test_a_failed_run_changes_nothing_after_the_failure():
    @graphify.function
    def f(x, i):
        x += 1
        return x[i]

    a = np.zeros(3)
    with pytest.raises(IndexError):
        f(a, np.array(7))
    assert f(np.zeros(3), np.array(1)) == 1.0


def test_leaked_tensors_say_where_they_came_from():
    kept = []

    @graphify.function
    def f(x):
        y = x * 2
        kept.append(y)
        return y

    f(np.ones(2))
    # a list from outside is written back with what the run computed
    assert [np.asarray(v).tolist() for v in kept] == [[2.0, 2.0]]

    class Box:
        pass

    box = {}

    @graphify.function
    @graphify.autograph.do_not_convert
    def g(x):
        box["y"] = x * 2
        return x

    g(np.ones(2))
    with pytest.raises(graphify.errors.LeakedTracer, match="outside the trace"):
        box["y"] + 1
    with pytest.raises(graphify.errors.LeakedTracer):
        graphify.function(lambda x: x + box["y"])(np.ones(2))


def test_tensors_as_arguments_and_results():
    f = graphify.function(lambda x: x * 2)
    y = f(f(graphify.numpy.ones(2)))
    assert y.numpy().tolist() == [4.0, 4.0]
    z = graphify.numpy.zeros(3)
    graphify.function(put)(z)
    assert z.numpy().tolist() == [9.0, 0.0, 0.0]


def test_objects_with_tensors_inside_are_not_given_out():
    class Result:
        def __init__(self, value):
            self.value = value

    @graphify.function
    def f(x):
        return Result(x * 2)

    with pytest.raises(GraphifyError, match="Result whose field 'value'") as caught:
        f(np.ones(2))
    assert "dataclass" in str(caught.value)


class Account:
    def __init__(self):
        self.total = np.float64(0.0)
        self.log = Holder()
        self.log.total = np.float64(1.0)

    @graphify.function
    def paid(self, x):
        self.total = self.total + x
        return self

    @graphify.function
    def logged(self, xs):
        for x in xs:
            if x > 0:
                self.log.total += x
        return [self], self.log


def test_an_object_from_outside_is_given_back_as_each_run_changes_it():
    one, two = Account(), Account()
    for account in (one, two, one):
        assert account.paid(np.float64(2.0)).paid(np.float64(1.0)) is account
        (same_one,), log = account.logged(np.array([1.0, -1.0, 3.0]))
        assert same_one is account and log is account.log
    assert float(one.total) == 6.0 and float(two.total) == 3.0
    assert float(one.log.total) == 9.0 and float(two.log.total) == 5.0


class Slots:
    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value


class Holder:
    pass


def holder(x):
    outer = Holder()
    outer.inner = Holder()
    outer.inner.value = [x]
    return outer


class Mapping(dict):
    pass


class Sequence(list):
    pass


class Row(tuple):
    pass


@pytest.mark.parametrize(
    "inside, text",
    [
        (Slots, "Slots whose field 'value'"),
        (holder, "Holder whose field 'value'"),
        (lambda x: Mapping(a=x), "Mapping whose element 'a'"),
        (lambda x: [Sequence([1, x])], "Sequence whose element '1'"),
        (lambda x: Row([x]), "Row whose element '0'"),
        (lambda x: {1: x}.items(), "dict_items whose element"),
        (lambda x: {1: x}.values(), "dict_values whose element"),
        (lambda x: types.MappingProxyType({1: x}), "mappingproxy whose element '1'"),
        (lambda x: slice(x, 2), "slice whose element 'start'"),
    ],
)
def test_no_tensor_of_the_trace_is_given_out_inside_something(inside, text):
    with pytest.raises(GraphifyError, match=text):
        graphify.function(lambda x: inside(x * 2))(np.float64(3))
    assert graphify.function(lambda x: (inside(1), x))(3.0)[1] == 3.0  # a known one is


def test_counters_are_given_out_with_their_numbers():
    @graphify.function
    def counted(x, k):
        d = collections.Counter()
        for i in range(5):
            d.update({i: i * k})
        d.subtract({1: k})
        return d, [collections.Counter({1: x[0]})], d.total()

    d, (other,), total = counted(np.ones(2), np.int64(3))
    assert type(d) is type(other) is collections.Counter
    assert {key: int(n) for key, n in d.items()} == {0: 0, 1: 0, 2: 6, 3: 9, 4: 12}
    assert int(total) == 27 and float(other[1]) == 1.0


def test_counters_may_be_arguments():
    @graphify.function
    def f(counts):
        counts[5] = counts[1] + 1
        return sorted(counts.items()), counts.most_common(1)

    counts = collections.Counter({1: 3, 2: 7})
    assert f(counts) == ([(1, 3), (2, 7), (5, 4)], [(2, 7)])
    assert counts == collections.Counter({1: 3, 2: 7, 5: 4})


def test_two_arrays_that_were_one_are_told_apart():
    class Model:
        def __init__(self):
            self.a = self.b = np.ones(2)

        @graphify.function
        def run(self, x):
            return x * self.a + self.b

    m = Model()
    assert m.run(np.ones(2)).numpy().tolist() == [2.0, 2.0]
    m.a = np.full(2, 5.0)
    assert m.run(np.ones(2)).numpy().tolist() == [6.0, 6.0]
    m.a = m.b
    assert m.run(np.ones(2)).numpy().tolist() == [2.0, 2.0]


def test_containers_passed_twice_are_not_changed_by_halves():
    def f(a, b):
        a.append(1)
        return len(b)

    xs = []
    with pytest.raises(GraphifyError, match="passed twice"):
        graphify.function(f)(xs, xs)
    assert xs == []
