"""Calls that CPython makes straight into machine code, and all those that must not be."""

import copy
import gc
import os
import subprocess
import sys
import threading
import weakref
from collections import OrderedDict
from typing import Any, NamedTuple

import numpy as np
import pytest

import graphify
from graphify.engines.base import register_engine
from graphify.engines.native import library
from graphify.engines.native.entry import capi, vectorcall
from graphify.engines.native.entry.python_call import Runner
from graphify.engines.native.entry.sites import Site
from graphify.errors import ConcreteValueNeeded, TraceError
from tests.engines.native.handmade import affine, failing, halving, product, refusing, runner


class ByHand:
    """An engine that knows three graphs of one size or any: 2x + 1, its pair, and x * c."""

    name = "by hand"

    def __init__(self):
        self.calls = 0
        self.make = lambda specs, results: runner(
            affine(not specs[0].is_static), specs, results, in_order=()
        )

    def supports(self, op) -> bool:
        return True

    def compile(self, graph):
        specs = [value.spec for value in graph.params]
        results = [value.spec for value in graph.results]
        return Counted(self.make(specs, results), self)


class Counted:
    """A runner that knows how often it was called by way of Python."""

    def __init__(self, inner: Runner, engine: ByHand):
        self.inner, self.engine, self.quick = inner, engine, inner.quick

    def __call__(self, args):
        self.engine.calls += 1
        return self.inner(args)


@pytest.fixture(scope="module", autouse=True)
def entry_at_hand():
    """So that it serves functions from their first call on, whatever has run before."""
    if capi.understood():
        library.need(vectorcall.NAME)


@pytest.fixture
def engine():
    made = ByHand()
    register_engine(made)
    return made


needs_entry = pytest.mark.skipif(not capi.understood(), reason="objects are laid out otherwise")
X = np.arange(10.0)


def affine_function(**options):
    @graphify.function(engine="by hand", **options)
    def f(x):
        return 2 * x + 1

    return f


@needs_entry
@pytest.mark.parametrize("x", [X, X[::-1], graphify.numpy.asarray(X), np.arange(20.0)[::2]])
def test_calls_like_an_earlier_one_take_no_python(engine, x):
    f = affine_function()
    first, second = f(x), f(x)
    assert engine.calls == 1
    assert type(second) is type(first) is graphify.Tensor
    for name in graphify.Tensor.__slots__:
        if name not in ("_value", "__weakref__"):
            assert getattr(second, name) == getattr(first, name)
    np.testing.assert_array_equal(second.numpy(), 2 * np.asarray(x) + 1)
    assert second.numpy().flags.owndata and second.numpy().flags.writeable
    second[0] = 7.0  # a tensor like any other
    assert (second + 1)[0] == 8


FIRST_CALLS = """
import sys, numpy as np, graphify
from graphify.engines.native import symbols
from graphify.engines.native.entry import capi, room
assert "llvmlite" not in sys.modules
f, g, h = (graphify.function(lambda x, c=c: x * c) for c in (2, 3, 4))
x, seen = np.arange(5.0), []
def call(function, c):
    np.testing.assert_array_equal(function(x), x * c)
    known = symbols.known("graphify_vectorcall") is not None
    seen.append((known, capi.word(id(function) + room.ENTRY) > 0))
call(f, 2)
call(g, 3)
h.get_concrete_function(x)
call(h, 4)  # the trace is there, but this is the first call
call(h, 4)
call(f, 2)
call(graphify.function(lambda x: x * 5), 5)
print(seen)
"""


@needs_entry
def test_a_call_that_does_not_come_again_compiles_no_entry_point(tmp_path):
    """It is compiled at a function's second call. Where it is at hand the first one installs it."""

    def run(cache: str) -> str:
        environment = {**os.environ, "GRAPHIFY_CACHE": cache, "GRAPHIFY_CACHE_DIR": str(tmp_path)}
        return subprocess.run(
            [sys.executable, file], env=environment, capture_output=True, text=True, check=True
        ).stdout.strip()

    file = tmp_path / "program.py"
    file.write_text(FIRST_CALLS)
    cold = [(False, False)] * 3 + [(True, True)] * 3
    assert run(cache="0") == str(cold)
    assert run(cache="1") == str(cold)
    assert run(cache="1") == str([(True, True)] * 6)


@needs_entry
def test_what_the_entry_does_not_know_goes_by_python(engine):
    f = affine_function()
    f(X), f(X)
    assert engine.calls == 1
    expected = 2 * X + 1
    np.testing.assert_array_equal(f(x=X), expected)  # another way to pass it
    with graphify.config(check=True):
        np.testing.assert_array_equal(f(X), expected)
    with pytest.raises(TypeError):
        f()
    with pytest.raises(TypeError):
        f(X, X)
    assert isinstance(graphify.function(lambda x: f(x) * 2)(X), graphify.Tensor)
    with graphify.config(eager=True):
        assert type(f(X)) is np.ndarray
    np.testing.assert_allclose(graphify.grad(lambda x: f(x).sum())(X), 2.0)
    assert len(f.concrete_functions) >= 1


@needs_entry
def test_sizes_of_every_call_are_looked_at(engine):
    f = affine_function()
    for n in (10, 3, 4, 0, 5, 1 << 18):
        x = np.arange(float(n))
        for _ in range(2):
            np.testing.assert_array_equal(f(x).numpy(), 2 * x + 1)
    assert len(f.concrete_functions) == 2 and engine.calls == 2


@needs_entry
def test_dtype_rank_and_type_of_every_call_are_looked_at(engine):
    f = affine_function()
    f(X), f(X)
    engine.make = None
    for other in (X.astype(np.float32), X.reshape(2, 5), np.arange(10)):
        with pytest.raises(TypeError):  # a trace of its own, for which there is no code here
            f(other)


@needs_entry
def test_large_results_come_from_recycled_memory(engine):
    f = affine_function()
    x = np.zeros(1 << 18)
    f(x)
    where = f(x).numpy().ctypes.data
    assert where % 64 == 0 and f(x).numpy().ctypes.data == where
    assert engine.calls == 1


SCALE, OFFSET = 2, 1


def scaled(x, offset=OFFSET):
    return SCALE * x + offset


@needs_entry
def test_globals_cells_and_functions_are_looked_at(engine, monkeypatch):
    factor = 2

    @graphify.function(engine="by hand")
    def f(x):
        return scaled(x) if factor == 2 else x

    f(X), f(X)
    assert engine.calls == 1 and len(f.traces()) == 1
    monkeypatch.setattr(scaled, "__defaults__", (3,))
    f(X)
    assert len(f.traces()) == 2
    monkeypatch.setitem(globals(), "SCALE", 5)
    f(X)
    assert len(f.traces()) == 3
    monkeypatch.setitem(globals(), "scaled", lambda x: x)
    f(X)
    assert len(f.traces()) == 4
    monkeypatch.undo()
    calls = engine.calls
    f(X)
    assert engine.calls == calls and len(f.traces()) == 4
    factor = 3
    f(X)
    assert len(f.traces()) == 5


WEIGHT = np.ones(10)


@needs_entry
def test_hidden_inputs_are_read_at_each_call(engine):
    engine.make = lambda specs, results: runner(product(False), specs, results, in_order=(0, 1))

    @graphify.function(engine="by hand")
    def f(x):
        return x * WEIGHT

    f(X), f(X)
    WEIGHT[:] = 2
    np.testing.assert_array_equal(f(X).numpy(), 2 * X)
    globals()["WEIGHT"] = np.full(10, 5.0)
    np.testing.assert_array_equal(f(X).numpy(), 5 * X)

    class Model:
        def __init__(self):
            self.weight = graphify.Variable(np.full(10, 3.0))

        @graphify.function(engine="by hand")
        def apply(self, x):
            return x * self.weight

    model = Model()
    model.apply(X), model.apply(X)
    model.weight.assign(np.full(10, 4.0))
    np.testing.assert_array_equal(model.apply(X).numpy(), 4 * X)
    model.weight = graphify.Variable(np.full(10, 6.0))
    np.testing.assert_array_equal(model.apply(X).numpy(), 6 * X)
    assert engine.calls == 2
    model.__dict__ = {"weight": graphify.Variable(np.full(10, 7.0))}
    np.testing.assert_array_equal(model.apply(X).numpy(), 7 * X)
    Model.weight = property(lambda self: WEIGHT)
    np.testing.assert_array_equal(model.apply(X).numpy(), WEIGHT * X)


@needs_entry
@pytest.mark.parametrize("structure", [tuple, list])
def test_several_results(engine, structure):
    engine.make = lambda specs, results: runner(product(True), specs, results, in_order=(0, 1))

    @graphify.function(engine="by hand")
    def f(x, y):
        return structure([x * y, x + y])

    for _ in range(3):
        result = f(X, X + 1)
        assert type(result) is structure
        np.testing.assert_array_equal(result[0].numpy(), X * (X + 1))
        np.testing.assert_array_equal(result[1].numpy(), X + X + 1)
    assert engine.calls == 1
    np.testing.assert_array_equal(f(X.T, X + 1)[0].numpy(), X * (X + 1))


@needs_entry
def test_a_failing_call_raises_as_by_python(engine):
    sites = [Site(IndexError, "got {0}", None, "f")]
    engine.make = lambda specs, results: runner(refusing(), specs, results, sites, in_order=[0])
    f = affine_function()
    f(X), f(X)
    assert engine.calls == 1
    for _ in range(3):
        with pytest.raises(IndexError, match="got -2.5"):
            f(X - 2.5)
    np.testing.assert_array_equal(f(X).numpy(), X)
    assert engine.calls == 4


@needs_entry
def test_references_and_memory_balance(engine):
    f, x = affine_function(), np.zeros(10)
    f(x)
    before = [sys.getrefcount(thing) for thing in (x, x.dtype, f)]
    for _ in range(1000):
        f(x)
    assert [sys.getrefcount(thing) for thing in (x, x.dtype, f)] == before


@needs_entry
def test_threads_call_the_entry_at_once(engine):
    f, wrong = affine_function(dynamic=True), []
    f(X)

    def work(seed: int) -> None:
        x = np.full(60_000, float(seed))
        for _ in range(30):
            wrong.append((f(x).numpy() != 2 * x + 1).any())
            wrong.append((f(x[:7]).numpy() != 2 * x[:7] + 1).any())

    threads = [threading.Thread(target=work, args=[seed]) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not any(wrong) and engine.calls == 1


@needs_entry
def test_numbers_go_in_and_out(engine):
    # A number that is traced by value is no parameter; what these traces give is not looked at.
    engine.make = lambda specs, results: runner(halving() if specs else failing(0), specs, results)

    @graphify.function(engine="by hand")
    def f(x):
        return x / 2

    for x in (1.0, 2.0, 3.0):
        f(x)  # by value, until a third one comes
    calls = engine.calls
    for x in (4.0, -0.0, float("inf"), 1e300):
        assert type(f(x)) is float and str(f(x)) == str(x / 2)
    assert engine.calls == calls
    assert np.isnan(f(float("nan")))


@needs_entry
def test_results_of_any_structure(engine):
    engine.make = lambda specs, results: runner(product(True), specs, results, in_order=(0, 1))

    @graphify.function(engine="by hand")
    def f(x, y):
        return {"product": x * y, "rest": [x + y, "name", None]}

    for _ in range(3):
        result = f(X, X + 1)
        assert list(result) == ["product", "rest"] and result["rest"][1:] == ["name", None]
        np.testing.assert_array_equal(result["product"].numpy(), X * (X + 1))
        np.testing.assert_array_equal(result["rest"][0].numpy(), X + X + 1)
    assert engine.calls == 1


def test_functions_can_be_copied(engine):
    f = affine_function()
    f(X), f(X)
    np.testing.assert_array_equal(copy.copy(f)(X), 2 * X + 1)


# --- arguments taken apart ------------------------------------------------------------------------


def by_python(f):
    """How often a function is called by way of Python: a list that grows."""
    seen, usual = [], f._call

    def call(args, kwargs):
        seen.append(args)
        return usual(args, kwargs)

    f._call = call
    f._fast = Nothing()
    return seen


class Nothing(dict):
    def __setitem__(self, key, value):
        pass


class Pair(NamedTuple):
    a: Any
    b: Any


Y, Z = X + 1, X * 3
CONTAINERS = {
    "tuple": (lambda w: w[0] * w[1], (X, Y), (Y, Z)),
    "list": (lambda w: w[0] * w[1], [X, Y], [Y, Z]),
    "dict": (lambda w: w["a"] * w["b"], {"a": X, "b": Y}, {"a": Y, "b": Z}),
    "namedtuple": (lambda w: w.a * w.b, Pair(X, Y), Pair(Y, Z)),
    "nested": (
        lambda w: w["a"][0] * w["c"]["b"][1],
        {"a": (X, "x"), "c": {"b": [2, Y]}},
        {"a": (Y, "x"), "c": {"b": [2, Z]}},
    ),
    "tensors": (lambda w: w[0] * w[1], (graphify.numpy.asarray(X), Y), (X, Y)),
    "empty ones": (lambda w: w[1] * 2 + len(w[0]), ((), X, {}), ((), Y, {})),
}


@needs_entry
@pytest.mark.parametrize("name", CONTAINERS)
def test_containers_are_taken_apart_without_python(name):
    python_function, *values = CONTAINERS[name]
    f = graphify.function(python_function)
    for value in values:
        f(value)
    seen = by_python(f)
    for value in values:
        np.testing.assert_array_equal(f(value), np.asarray(python_function(value)))
    assert not seen and len(f.traces()) == 1


@needs_entry
def test_other_containers_are_other_calls():
    @graphify.function
    def f(w):
        return [a * 2 for a in (w.values() if isinstance(w, dict) else w)]

    known = [(X, Y), [X, Y], {"a": X, "b": Y}]
    for w in known:
        f(w)
    seen = by_python(f)
    for w in known:
        f(w)
    assert not seen
    others = [
        (X, Y, Z), [X], {"a": X}, {"b": Y, "a": X}, {"a": X, "c": Y}, {"a": X, "b": Y, "c": Z},
        Pair(X, Y), (X, X), [X, (Y,)], {1: X, "b": Y}, (X, 2), [X.astype(np.int8), Y], (), X,
        OrderedDict(a=X, b=Y),
    ]  # fmt: skip
    for n, w in enumerate(others, 1):
        values = list(w.values() if isinstance(w, dict) else w)
        if n == 9:
            values[1] = (Y, Y)  # a tuple doubled
            assert len(f(w)[1]) == 2
        else:
            for got, want in zip(f(w), values, strict=True):
                np.testing.assert_array_equal(got, np.asarray(want) * 2)
        assert len(seen) >= n, w
    key = "long keys".removesuffix("s")  # equal to one known, but another object
    f({"long key": X})
    calls = len(seen)
    np.testing.assert_array_equal(f({key: Y})[0], Y * 2)
    assert len(seen) == calls


@needs_entry
def test_keywords_take_no_python():
    @graphify.function
    def f(x, y=3, *rest, k=2, **more):
        return x * y + k - more.get("z", 0)

    def calls():
        return [f(X), f(X, Y), f(X, y=Y), f(x=X, y=Y), f(X, k=Y), f(X, z=Z, k=2), f(X, k=2, z=Z)]

    for _ in range(4):
        first = calls()
    f._offers.clear()  # each trace is offered in a few forms only
    first = calls()
    seen = by_python(f)
    for got, want in zip(calls(), first, strict=True):
        np.testing.assert_array_equal(got, want)
    assert not seen
    for wrong in ({"x": X}, {"y": Y, "x": X}):
        with pytest.raises(TypeError):
            f(X, **wrong)


@needs_entry
def test_complex_numbers_go_in_and_out():
    f = graphify.function(lambda c: c * 2 + 1)
    for c in (1j, 2j, 3j, 4j):
        f(c)
    seen = by_python(f)
    for c in (complex(0.5, -7), complex(1e300, 0.0), complex(-0.0, 3)):
        result = f(c)
        assert type(result) is complex and result == complex(np.complex128(c) * 2 + 1)
    assert not seen


class Meters(float):
    """A number of the user's own."""


EACH_BY_VALUE = [
    *(0.5, -0.0, 0.0, 1.0, float("nan"), float("inf"), 1e300),
    *(1, True, False, 0, -7, 1000, 2**63 - 1, -(2**63), 2**63, 2**70, -(2**64) + 5),
    *(1j, complex(-0.0, 1), complex(0.0, 1), complex(1, -0.0), complex(1, 0.0)),
    Meters(0.5),
]


def again(number: Any) -> Any:
    """Another object of the same type and value, where there may be one."""
    if isinstance(number, complex):
        return complex(number.real, number.imag)
    if isinstance(number, bool):
        return number
    return type(number)(repr(float(number)) if isinstance(number, float) else str(number))


def exactly(number: Any) -> tuple[type, str]:
    return type(number), repr(number)


@needs_entry
@pytest.mark.parametrize("first", EACH_BY_VALUE, ids=repr)
def test_a_number_that_is_traced_by_value_is_known_by_type_and_value(first):
    """The answer tells which trace was taken: `repr` runs while tracing."""

    @graphify.function(dynamic=False)
    def f(x, number):
        return x + 1, repr(number)

    plain = f.python_function
    for _ in range(2):
        assert f(X, first)[1] == plain(X, first)[1]
    seen = by_python(f)
    for _ in range(3):
        same = again(first)
        assert exactly(same) == exactly(first)
        y, text = f(X, same)
        np.testing.assert_array_equal(y, X + 1)
        assert text == plain(X, same)[1]
    if type(first) in (float, bool, complex) or type(first) is int and abs(first) < 1 << 63:
        assert not seen
    for other in EACH_BY_VALUE:
        assert f(X, again(other))[1] == plain(X, other)[1], other
    for array in (np.float64(0.5), np.int64(1000), np.array(1.0)):
        with pytest.raises(ConcreteValueNeeded):  # of an array: it is an input
            f(X, array)


@needs_entry
def test_numbers_outside_are_known_by_value(monkeypatch):
    monkeypatch.setitem(globals(), "SCALE", 2.5)

    @graphify.function
    def f(x):
        return x * SCALE  # noqa: F821

    f(X), f(X)
    seen = by_python(f)
    monkeypatch.setitem(globals(), "SCALE", float("2.5"))
    np.testing.assert_array_equal(f(X), X * 2.5)
    assert not seen
    monkeypatch.setitem(globals(), "SCALE", 2)
    np.testing.assert_array_equal(f(X), X * 2)
    assert seen


@needs_entry
def test_results_that_need_no_graph_take_no_python():
    """Numbers that are traced by value make plain Python of a function."""

    @graphify.function
    def newton(a, tolerance):
        x = a
        while abs(x * x - a) > tolerance:
            x = (a / x + x) * 0.5
        return x

    @graphify.function
    def parts(n):
        return [n, {"twice": (2 * n, None)}], "name"

    for f, calls in ((newton, [(2.0, 1e-10), (2, 1e-3)]), (parts, [(3,), (2.5,)])):
        for _ in range(2):
            for call in calls:
                f(*call)
        seen = by_python(f)
        for call in calls:
            results = [f(*map(again, call)) for _ in range(3)]
            assert exactly(results[0]) == exactly(f.python_function(*call))
            assert results[0] == results[1] == results[2]
        assert not seen
    fresh = parts(3)
    fresh[0].append(1)  # the caller's own
    fresh[0][1]["twice"] = None
    assert parts(3) == ([3, {"twice": (6, None)}], "name")


def test_a_default_that_changes_is_noticed():
    choices = [1, 2]

    @graphify.function
    def f(x, by=choices):
        return x * by[0]

    f(X), f(X)
    choices[0] = 5
    np.testing.assert_array_equal(f(X), X * 5)


# --- changes outside ------------------------------------------------------------------------------


@needs_entry
def test_arguments_are_updated_without_tracing_or_binding():
    @graphify.function
    def f(x, w):
        x += w[0]
        w[1][1:] = x[0]
        return x, w[0] * 2

    def fresh():
        return np.arange(4.0), (np.ones(4), graphify.numpy.zeros(4))

    for x, w in (fresh(), fresh()):
        f(x, w)
    seen = by_python(f)
    x, w = fresh()
    same, doubled = f(x, w)
    assert not seen
    assert same.numpy() is x or np.shares_memory(same.numpy(), x)
    np.testing.assert_array_equal(x, [1, 2, 3, 4])
    np.testing.assert_array_equal(w[1], [0, 1, 1, 1])
    np.testing.assert_array_equal(doubled, [2, 2, 2, 2])


@needs_entry
def test_updates_that_cannot_be_made_raise_as_by_python():
    @graphify.function
    def f(x, y):
        x[0] = y[0] + 1

    x, y = np.zeros(4), np.ones(4)
    f(x, y), f(x, y)
    locked = np.zeros(4)
    locked.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        f(locked, y)
    both = np.zeros(7)
    with pytest.raises(TraceError, match="shares memory"):
        f(both[:4], both[3:])
    assert not both.any()
    f(x, y)
    assert x[0] == 2


@needs_entry
def test_variables_and_fields_are_updated_without_tracing_or_binding():
    total = graphify.Variable(np.zeros(3))

    class Model:
        last = None

    model = Model()
    model.last = np.zeros(3)

    @graphify.function
    def f(x):
        total.assign_add(x)
        model.last = x * 2

    for _ in range(3):
        f(np.ones(3))
    seen = by_python(f)
    f(np.full(3, 4.0))
    assert not seen
    np.testing.assert_array_equal(total.numpy(), 7.0)
    np.testing.assert_array_equal(model.last, 8.0)


@needs_entry
def test_references_balance_when_arguments_are_taken_apart_and_updated():
    @graphify.function
    def f(w, x):
        w["a"] += x
        return w["a"], x

    w, x = {"a": np.zeros(10)}, np.ones(10)
    f(w, x=x), f(w, x=x)
    things = (w, w["a"], x, f, x.dtype, NotImplemented)
    before = [sys.getrefcount(thing) for thing in things]
    for _ in range(500):
        f(w, x=x)
    assert [sys.getrefcount(thing) for thing in things] == before
    locked = np.zeros(10)
    locked.flags.writeable = False
    for _ in range(20):
        with pytest.raises(ValueError, match="read-only"):
            f({"a": locked}, x=x)
    assert abs(sys.getrefcount(x) - before[2]) < 5


@needs_entry
def test_containers_may_change_while_other_threads_run():
    n = 1 << 16
    f = graphify.function(lambda w: w[0] * w[1])
    w = [np.full(n, 2.0), np.full(n, 3.0)]
    f(w), f(w)
    stop, wrong = threading.Event(), []

    def replace():
        while not stop.is_set():
            w[:] = [np.full(n, 2.0), np.full(n, 3.0)]

    thread = threading.Thread(target=replace)
    thread.start()
    for _ in range(200):
        wrong.append((f(w).numpy() != 6).any())
    stop.set()
    thread.join()
    assert not any(wrong)


# --- what is read from outside, effects -----------------------------------------------------------


@needs_entry
@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int8, np.bool_, np.complex128])
def test_numpy_scalars_take_no_python(kind):
    f = graphify.function(lambda x, s: x * s)
    values = [kind(value) for value in (0, 1, 1, 0)]
    for value in values[:2]:
        f(X, value)
    seen = by_python(f)
    for value in values:
        np.testing.assert_array_equal(f(X, value), X * value)
    assert not seen
    f(X, np.uint16(3))
    assert len(seen) == 1


@needs_entry
def test_arrays_in_containers_of_an_object_are_read_at_each_call():
    class Model:
        def __init__(self):
            self.weights = {"w": X, "rest": [Y, "relu"]}

        @graphify.function
        def __call__(self, x):
            return x * self.weights["w"] + self.weights["rest"][0]

    model = Model()
    model(X), model(X)
    seen = by_python(Model.__call__)
    model.weights["w"] = Z
    np.testing.assert_array_equal(model(X), X * Z + Y)
    model.weights["rest"] = [Z, "relu"]
    np.testing.assert_array_equal(model(X), X * Z + Z)
    model.weights = {"w": Y, "rest": [Y, "relu"]}
    np.testing.assert_array_equal(model(X), X * Y + Y)
    assert not seen
    model.weights["rest"][1] = "gelu"  # guarded, though it is not used
    np.testing.assert_array_equal(model(X), X * Y + Y)
    model.weights["more"] = Y
    np.testing.assert_array_equal(model(X), X * Y + Y)
    model.weights = [X]
    with pytest.raises((TypeError, IndexError)):
        model(X)
    assert len(seen) == 3


@needs_entry
def test_effects_happen_once_also_where_a_call_fails(capsys):
    @graphify.function
    def f(x, i):
        graphify.print("element", i)
        return x[i]

    def call(i):
        try:
            result = f(X, np.int64(i))
        except IndexError as error:
            result = str(error)
        return result, capsys.readouterr().out

    first = [call(i) for i in (1, 12, 2)]
    seen = by_python(f)
    again = [call(i) for i in (1, 12, 2)]
    assert not seen
    assert [out for _, out in again] == [out for _, out in first]
    assert [out.count("element") for _, out in again] == [1, 1, 1]
    assert again[1][0] == first[1][0] and "out of bounds" in again[1][0]


@needs_entry
def test_what_machine_code_cannot_look_at_is_asked_for_at_each_call():
    class Model(graphify.Module):
        def __init__(self):
            self.w, self.b = graphify.Variable(np.ones(3)), graphify.Variable(np.zeros(3))
            self.scales = {"used": np.ones(3), "other": np.ones(2)}
            self.factor = 2

        @property
        def double(self):
            return self.factor * 2

    model = Model()

    @graphify.function
    def step(x):
        with graphify.GradientTape() as tape:
            loss = np.sum(model.w * x + model.b) * model.double * model.scales["used"][0]
        variables = model.trainable_variables
        for variable, slope in zip(variables, tape.gradient(loss, variables), strict=True):
            variable.assign_sub(slope)
        return loss

    def expected(x, scale):
        w, b, k = model.w.numpy().copy(), model.b.numpy().copy(), model.double * scale
        return (w * x + b).sum() * k, w - x * k, b - k

    x = np.arange(3.0)
    step(x), step(x)
    seen = by_python(step)
    for factor in (2, 2, 3, 3):
        model.factor = factor
        loss, w, b = expected(x, 1.0)
        np.testing.assert_allclose(step(x), loss)
        np.testing.assert_allclose(model.w, w)
        np.testing.assert_allclose(model.b, b)
        assert bool(seen) is (factor == 3)
    model.scales["used"] = np.full(3, 0.5)
    loss, w, b = expected(x, 0.5)
    np.testing.assert_allclose(step(x), loss)
    np.testing.assert_allclose(model.w, w)


@needs_entry
def test_containers_are_updated_without_tracing_or_binding():
    @graphify.function
    def step(weights, slopes, *, rate):
        for name in weights:
            weights[name] = weights[name] - rate * slopes[name]
        slopes["seen"][:] = 1.0

    def fresh():
        slopes = {"a": np.ones(3), "b": np.full(2, 2.0), "seen": np.zeros(1)}
        return {"a": np.zeros(3), "b": np.zeros(2)}, slopes

    for _ in range(3):
        step(*fresh(), rate=0.5)
    seen = by_python(step)
    weights, slopes = fresh()
    for turn in (1, 2):
        step(weights, slopes, rate=0.5)
        np.testing.assert_array_equal(weights["a"], np.full(3, -0.5 * turn))
        np.testing.assert_array_equal(weights["b"], np.full(2, -1.0 * turn))
    assert not seen and slopes["seen"] == 1 and len(step.traces()) == 1
    with pytest.raises(TraceError, match="passed twice"):
        both = {"a": np.ones(3), "b": np.ones(2)}
        graphify.function(lambda p, q: p.update(a=q["b"]))(both, both)


@needs_entry
def test_nothing_that_was_passed_is_kept():
    @graphify.function
    def f(w, x):
        w["a"] = w["a"] + x
        return x * 2

    w, x = {"a": X + 1}, X + 0.5
    f(w, x), f(w, x)
    kept = [weakref.ref(w["a"]), weakref.ref(x)]
    del w, x
    gc.collect()
    assert [ref() is None for ref in kept] == [True, True]
