"""The main things, once each, in a few seconds: what to run after every edit."""

import numpy as np
import pytest

import graphify
import graphify.numpy as gnp


@graphify.function
def double_until(x, limit):
    while x.sum() < limit:
        x = x * 2
    return x


def test_decorate_and_trace():
    x = np.array([1.0, 2.0])
    np.testing.assert_array_equal(double_until(x, np.array(10.0)), [4.0, 8.0])
    double_until(np.ones(3), np.array(10.0))
    double_until(np.ones(9), np.array(10.0))
    assert len(double_until.traces()) == 2  # the second one has an axis of any size
    assert "while" in str(double_until.get_concrete_function(x, np.array(1.0)).graph)


def test_eager_and_numpy_dispatch():
    t = gnp.asarray([1.0, 4.0])
    assert isinstance(np.sqrt(t), graphify.Tensor)
    np.testing.assert_array_equal(np.sqrt(t), [1.0, 2.0])


def test_updates_reach_the_caller():
    @graphify.function
    def clip(x):
        x[x < 0] = 0

    x = np.array([-1.0, 2.0])
    clip(x)
    np.testing.assert_array_equal(x, [0.0, 2.0])


def test_shapes_of_views_and_branches():
    @graphify.function
    def f(x, k):
        head = x[:k]
        if head.sum() > 2:
            head = head * 10
        return head.sum()

    assert float(f(np.arange(5.0), np.array(3))) == 30.0
    assert float(f(np.arange(7.0), np.array(2))) == 1.0


def test_generated_code_is_short():
    code = graphify.autograph.to_code(double_until.python_function)
    assert "while_" in code and len(code.splitlines()) < 15


def test_errors_name_the_line():
    @graphify.function
    def f(x, k):
        return x[k]

    with pytest.raises(IndexError, match="test_tiny.py"):
        f(np.arange(3.0), np.array(7))


def test_grad():
    gradient = graphify.grad(lambda x: (x * x).sum())
    np.testing.assert_allclose(gradient(np.array([1.0, 3.0])), [2.0, 6.0])


def test_grad_through_a_loop():
    @graphify.function
    def power(x, k):
        y = x * 0 + 1
        for _ in range(k):
            y = y * x
        return y

    gradient = graphify.grad(power)
    np.testing.assert_allclose(gradient(np.array(2.0), np.array(5)), 80.0)


def test_gradient_tape():
    x = gnp.asarray([3.0])
    with graphify.GradientTape() as tape:
        tape.watch(x)
        y = x**2
    np.testing.assert_allclose(tape.gradient(y, x), [6.0])


def test_vmap():
    f = graphify.vmap(lambda v: v / np.sqrt((v * v).sum()))
    x = np.array([[3.0, 4.0], [0.0, 2.0]])
    np.testing.assert_allclose(f(x), [[0.6, 0.8], [0.0, 1.0]])


def test_variable():
    total = graphify.Variable(0.0)

    @graphify.function
    def add(x):
        total.assign_add(x)

    add(np.array(2.0))
    add(np.array(3.0))
    assert float(total) == 5.0


@pytest.mark.tensorflow
def test_tensorflow_engine_and_export(tmp_path):
    f = graphify.function(double_until.python_function, engine="tensorflow")
    np.testing.assert_array_equal(f(np.array([1.0, 2.0]), np.array(10.0)), [4.0, 8.0])

    class Model(graphify.Module):
        @graphify.function(input_signature=[graphify.TensorSpec((None,), np.float64)])
        def scale(self, x):
            return x * 2

    graphify.saved_model.save(Model(), str(tmp_path / "model"))
    loaded = graphify.saved_model.load(str(tmp_path / "model"))
    np.testing.assert_allclose(loaded.scale(np.array([1.0, 2.0])), [2.0, 4.0])
