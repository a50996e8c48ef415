"""Variables and modules, eager and inside functions."""

import numpy as np
import pytest

import graphify
import graphify.numpy as gnp
from graphify import Module, Variable


def test_initial_values_are_copied():
    a = np.ones(2)
    v = Variable(a)
    a[0] = 5
    assert v.numpy().tolist() == [1.0, 1.0]
    w = Variable(v)
    v.assign([3.0, 3.0])
    assert w.numpy().tolist() == [1.0, 1.0]


def test_dtypes():
    assert Variable(1).dtype == np.int64 and Variable(1.5).dtype == np.float64
    assert Variable([1, 2], dtype=np.float32).dtype == np.float32
    assert Variable(np.float32(1)).dtype == np.float32


@pytest.mark.parametrize("bad", ["text", None, object(), [[1], [1, 2]], np.array(["a"])])
def test_bad_initial_values(bad):
    with pytest.raises((TypeError, ValueError)):
        Variable(bad)


def test_assignments():
    v = Variable(np.zeros(2))
    assert v.assign([1.0, 2.0]) is v
    assert v.assign_add(np.ones(2)).numpy().tolist() == [2.0, 3.0]
    assert v.assign_sub(1).numpy().tolist() == [1.0, 2.0]
    v[0] = 9.0
    assert v.numpy().tolist() == [9.0, 2.0]


@pytest.mark.parametrize(
    "value, error",
    [
        (np.ones(3), ValueError),
        (1.0, ValueError),
        (np.ones(2, complex), TypeError),
        ("x", TypeError),
    ],
)
def test_bad_assignments(value, error):
    v = Variable(np.zeros(2))
    with pytest.raises(error):
        v.assign(value)
    assert v.numpy().tolist() == [0.0, 0.0]
    with pytest.raises((TypeError, ValueError)):
        graphify.function(lambda x: v.assign(value))(np.ones(1))
    assert v.numpy().tolist() == [0.0, 0.0]


def test_values_are_snapshots():
    v = Variable(1.0)
    before = v.value()
    v.assign(2.0)
    assert float(before) == 1.0 and float(v.read_value()) == 2.0

    @graphify.function
    def f():
        old = v.value()
        v.assign_add(1.0)
        return old, v.value()

    assert [float(x) for x in f()] == [2.0, 3.0]
    assert [float(x) for x in f()] == [3.0, 4.0]


def test_variables_act_as_arrays():
    v = Variable(np.array([1.0, 2.0]))
    assert np.array_equal(v + 1, [2.0, 3.0]) and np.array_equal(np.sin(v), np.sin(v.numpy()))
    assert np.array_equal(gnp.sum(v), 3.0) and v.shape == (2,) and len(v) == 2
    assert "Variable" in repr(v)


def test_a_variable_as_argument_is_by_identity():
    a, b = Variable(1.0), Variable(2.0)

    @graphify.function
    def f(v, x):
        v.assign_add(x)
        return v * 10

    assert float(f(a, np.array(1.0))) == 20.0
    assert float(f(b, np.array(1.0))) == 30.0
    assert float(f(a, np.array(1.0))) == 30.0
    assert float(a) == 3.0 and float(b) == 3.0


def test_a_result_that_is_the_variable():
    v = Variable(1.0)

    @graphify.function
    def f(x):
        v.assign(x)
        return v

    assert float(f(np.array(5.0))) == 5.0


def test_rebinding_an_attribute_to_another_variable():
    class Holder:
        def __init__(self):
            self.v = Variable(1.0)

        @graphify.function
        def read(self):
            return self.v * 1

    h = Holder()
    assert float(h.read()) == 1.0
    h.v = Variable(5.0)
    assert float(h.read()) == 5.0
    h.v.assign(6.0)
    assert float(h.read()) == 6.0


def test_modules_name_and_list_their_variables():
    class Dense(Module):
        def __init__(self, n):
            self.w = Variable(np.ones((n, n)))
            self.b = Variable(np.zeros(n), trainable=False)

    class Net(Module):
        def __init__(self):
            self.layers = [Dense(2), Dense(2)]
            self.head = Dense(2)
            self.shared = self.head.w

    net = Net()
    paths = dict(net.named_variables())
    assert set(paths) == {
        "layers[0].w", "layers[0].b", "layers[1].w", "layers[1].b", "head.w", "head.b",
    }  # fmt: skip
    assert len(net.variables) == 6 and len(net.trainable_variables) == 3
    assert net.head.w.name == "w"


def test_variables_are_not_made_while_tracing():
    @graphify.function
    def f(x):
        v = Variable(0.0)
        v.assign_add(x)
        return v.value()

    with pytest.raises(graphify.errors.TraceError, match="Variable.*inside") as caught:
        f(np.array(1.0))
    assert "v = Variable(0.0)" in str(caught.value)
