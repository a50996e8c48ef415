"""Calls that CPython makes straight into machine code, and all those that must not be."""

import copy
import sys
import threading

import numpy as np
import pytest

import graphify
from graphify.engines.base import register_engine
from graphify.engines.native.entry import capi
from graphify.engines.native.entry.python_call import Runner
from graphify.engines.native.entry.sites import Site
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


@needs_entry
def test_what_the_entry_does_not_know_goes_by_python(engine):
    f = affine_function()
    f(X), f(X)
    assert engine.calls == 1
    expected = 2 * X + 1
    np.testing.assert_array_equal(f(x=X), expected)
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
