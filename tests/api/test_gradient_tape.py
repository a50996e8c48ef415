"""GradientTape: TensorFlow's behaviour, eager and inside graphify.function."""

import doctest

import numpy as np
import pytest

import graphify
import graphify.numpy as gnp
from graphify.api import tape as module
from tests.differences import numerical_gradient

X = np.array([0.5, -1.25, 2.0])


def test_examples():
    names = {"np": np, "gnp": gnp, "x": np.array(3.0), **vars(module)}
    result = doctest.testmod(module, globs=names)
    assert result.attempted and not result.failed


@pytest.fixture(params=[False, True], ids=["eager", "staged"])
def run(request):
    return graphify.function if request.param else eager


def eager(f):
    """The function on tensors: of plain arrays NumPy computes without telling anybody."""
    return lambda *args: f(*map(gnp.asarray, args))


def test_structures_of_targets_and_sources(run):
    def f(x, y):
        with graphify.GradientTape() as tape:
            tape.watch({"x": x, "pair": (y, x)})
            a, b = x * y, gnp.sum(y)
        return tape.gradient({"a": a, "b": b}, [x, (y,)])

    gx, (gy,) = run(f)(X, X + 1)
    np.testing.assert_allclose(gx, X + 1)
    np.testing.assert_allclose(gy, X + 1.0)


def test_output_gradients(run):
    def f(x):
        with graphify.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        return tape.gradient(y, x, output_gradients=gnp.asarray([1.0, 10.0, 100.0]))

    np.testing.assert_allclose(run(f)(X), 2 * X * [1, 10, 100])


def test_unconnected(run):
    def f(x, y, n):
        with graphify.GradientTape(persistent=True) as tape:
            tape.watch((x, y, n))
            z = gnp.sum(x) + n
        none = tape.gradient(z, [y, n])
        zero = tape.gradient(z, [x, y, n], unconnected_gradients="zero")
        assert none == [None, None]
        return zero

    gx, gy, gn = run(f)(X, X.copy(), np.array(3))
    np.testing.assert_array_equal(gx, np.ones(3))
    np.testing.assert_array_equal(gy, np.zeros(3))
    assert gn.dtype == np.int64 and int(gn) == 0


def test_unwatched_tensors_have_no_gradient():
    with graphify.GradientTape() as tape:
        y = gnp.sin(gnp.asarray(X))
    assert tape.gradient(y, gnp.asarray(X)) is None


def test_persistent_and_not():
    x = gnp.asarray(X)
    with graphify.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        z = gnp.sum(y * x)
    np.testing.assert_allclose(tape.gradient(z, x), 3 * X * X)
    np.testing.assert_allclose(tape.gradient(z, y), X)
    np.testing.assert_allclose(tape.jacobian(y, x), np.diag(2 * X))
    with graphify.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    tape.gradient(y, x)
    for ask in (tape.gradient, tape.jacobian, tape.batch_jacobian):
        with pytest.raises(RuntimeError, match="non-persistent"):
            ask(y, x)


def test_one_persistent_tape_gives_higher_orders():
    x = gnp.asarray(X)
    with graphify.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x**3
        first = tape.gradient(y, x)
    np.testing.assert_allclose(tape.gradient(first, x), 6 * X)


def test_tapes_in_tapes(run):
    def f(x):
        with graphify.GradientTape() as t3:
            t3.watch(x)
            with graphify.GradientTape() as t2:
                t2.watch(x)
                with graphify.GradientTape() as t1:
                    t1.watch(x)
                    y = gnp.sum(x**4)
                g1 = t1.gradient(y, x)
            g2 = t2.gradient(g1, x)
        return t3.gradient(g2, x)

    np.testing.assert_allclose(run(f)(X), 24 * X)


def test_stop_recording_and_reset(run):
    def f(x):
        with graphify.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = x * x
            with tape.stop_recording():
                frozen = gnp.sin(x)
            z = y * frozen
            first = tape.gradient(z, x)
            tape.reset()
            tape.watch(x)
            w = x * 5.0
        return first, tape.gradient(w, x), tape.gradient(z, x, unconnected_gradients="zero")

    first, second, third = run(f)(X)
    np.testing.assert_allclose(first, 2 * X * np.sin(X))
    np.testing.assert_allclose(second, np.full(3, 5.0))
    np.testing.assert_array_equal(third, np.zeros(3))


def test_misuse_of_recording():
    tape = graphify.GradientTape()
    with pytest.raises(RuntimeError, match="not recording"), tape.stop_recording():
        pass
    with tape, pytest.raises(RuntimeError, match="already recording"):
        tape.__enter__()


# --- Jacobians ------------------------------------------------------------------------------------


def test_jacobian_of_structures(run):
    def f(x, w):
        with graphify.GradientTape() as tape:
            tape.watch((x, w))
            y = gnp.tanh(w @ x)
        return tape.jacobian(y, {"x": x, "w": w})

    w = np.arange(6.0).reshape(2, 3) / 5
    jac = run(f)(X, w)
    assert jac["x"].shape == (2, 3) and jac["w"].shape == (2, 2, 3)
    for i in range(2):
        want = numerical_gradient(lambda v, i=i: np.tanh(w @ v)[i], (X,), 0)
        np.testing.assert_allclose(jac["x"][i], want, rtol=1e-6)


def test_batch_jacobian(run):
    def f(x):
        with graphify.GradientTape() as tape:
            tape.watch(x)
            y = gnp.stack([gnp.sum(x * x, axis=1), x[:, 0] * x[:, 1]], axis=1)
        return tape.batch_jacobian(y, x)

    x = np.arange(8.0).reshape(4, 2) + 1
    want = np.stack([2 * x, x[:, ::-1]], axis=1)
    np.testing.assert_allclose(run(f)(x), want)


def test_jacobians_of_jacobians():
    x = gnp.asarray(X)
    with graphify.GradientTape() as outer:
        outer.watch(x)
        with graphify.GradientTape() as inner:
            inner.watch(x)
            y = x**3
        jac = inner.jacobian(y, x)
    second = outer.jacobian(jac, x)
    want = np.zeros((3, 3, 3))
    want[np.arange(3), np.arange(3), np.arange(3)] = 6 * X
    np.testing.assert_allclose(second, want)


# --- Variables ------------------------------------------------------------------------------------


def test_variables_are_watched_when_used(run):
    w, b = graphify.Variable([1.0, 2.0, 3.0], name="w"), graphify.Variable(0.5)
    frozen = graphify.Variable([1.0, 1.0, 1.0], trainable=False)

    def f(x):
        with graphify.GradientTape() as tape:
            loss = gnp.sum(w * x * frozen) + b * b
        assert {v.name for v in tape.watched_variables()} == {"w", "Variable"}
        return tape.gradient(loss, [w, b, frozen], unconnected_gradients="zero")

    gw, gb, gf = run(f)(X)
    np.testing.assert_allclose(gw, X)
    np.testing.assert_allclose(gb, 1.0)
    np.testing.assert_array_equal(gf, np.zeros(3))


def test_variables_need_not_be_watched():
    w = graphify.Variable([1.0, 2.0])
    with graphify.GradientTape(watch_accessed_variables=False) as tape:
        y = gnp.sum(w * w)
    assert tape.gradient(y, w) is None
    with graphify.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(w)
        y = gnp.sum(w * w)
    assert tape.watched_variables() == (w,) or tape.watched_variables()[0] is w
    np.testing.assert_allclose(tape.gradient(y, w), [2.0, 4.0])


def test_a_training_step(run):
    w = graphify.Variable(np.zeros(3))
    data = np.arange(12.0).reshape(4, 3) / 6

    def step(x, y):
        with graphify.GradientTape() as tape:
            loss = gnp.mean((x @ w - y) ** 2)
        w.assign_sub(0.1 * tape.gradient(loss, w))
        return loss

    step = run(step)
    target = data @ np.array([1.0, -2.0, 0.5])
    losses = [float(step(data, target)) for _ in range(30)]
    assert losses[-1] < 0.05 * losses[0]


def test_gradient_after_the_variable_changed():
    w = graphify.Variable([1.0, 2.0])
    with graphify.GradientTape() as tape:
        y = gnp.sum(w * w)
    w.assign([100.0, 100.0])
    np.testing.assert_allclose(tape.gradient(y, w), [2.0, 4.0])


def test_gradients_through_a_staged_model():
    w = graphify.Variable([1.0, 2.0, 3.0])

    @graphify.function
    def predict(x):
        y = x
        for i in range(3):
            if np.sum(y) > 0:
                y = y * w
        return np.sum(y)

    with graphify.GradientTape() as tape:
        y = predict(X)
    np.testing.assert_allclose(tape.gradient(y, w), 3 * X * np.array([1.0, 2.0, 3.0]) ** 2)


# --- NumPy arrays and errors ----------------------------------------------------------------------


def test_numpy_arrays_can_be_watched():
    x = X.copy()
    with graphify.GradientTape() as tape:
        tape.watch(x)
        y = gnp.sum(gnp.sin(x))
    x[:] = 9.0
    np.testing.assert_allclose(tape.gradient(y, x), np.cos(X))


@pytest.mark.parametrize(
    ("ask", "kind", "text"),
    [
        (lambda t, x: t.watch(3.0), TypeError, "watch: argument 'tensor': .*got float"),
        (lambda t, x: t.watch({"a": "text"}), TypeError, "got str"),
        (
            lambda t, x: t.gradient(gnp.argmax(x), x),
            TypeError,
            "argument 'target': expected a float.*int64",
        ),
        (lambda t, x: t.gradient(X * X, x), TypeError, "argument 'target'.*NumPy computed it"),
        (lambda t, x: t.gradient(x, 3.0), TypeError, "argument 'sources'"),
        (
            lambda t, x: t.gradient(x, x, unconnected_gradients="no"),
            ValueError,
            "unconnected_gradients",
        ),
        (
            lambda t, x: t.gradient(x, x, output_gradients=[x]),
            ValueError,
            "output_gradients.*structure",
        ),
        (
            lambda t, x: t.gradient(x, x, output_gradients=np.ones(2)),
            ValueError,
            r"expected shape \(3,\), got \(2,\)",
        ),
        (lambda t, x: t.batch_jacobian(gnp.sum(x), x), ValueError, "batch axis"),
        (lambda t, x: t.batch_jacobian(gnp.ones((2, 3)) * x, x), ValueError, "batch axis"),
    ],
)
def test_bad_input(ask, kind, text):
    x = gnp.asarray(X)
    with graphify.GradientTape(persistent=True) as tape:
        tape.watch(x)
    with pytest.raises(kind, match=text):
        ask(tape, x)


# --- arrays that a trace knows --------------------------------------------------------------------


def _watches_a_new_array(k):
    x = gnp.array(3.0)
    with graphify.GradientTape() as tape:
        tape.watch(x)
        total = 0.0
        for _ in range(k):
            total = total + x * x
        total = total + x
    return tape.gradient(total, x), x


def _watches_a_view_of_one(k):
    x = gnp.array([3.0, 4.0])[1:]
    with graphify.GradientTape() as tape:
        tape.watch(x)
        total = x
        while k > 0:
            total = total + x * x
            k = k - 1
    return tape.gradient(total, x), x


def _watches_in_every_turn(k):
    x, found = gnp.array(3.0), 0.0
    while k > 0:
        with graphify.GradientTape() as tape:
            tape.watch(x)
            total = 0.0 * x
            for _ in range(k):
                total = total + x * x
        found = found + tape.gradient(total, x)
        k = k - 1
    return found, x


@pytest.mark.parametrize(
    "function", [_watches_a_new_array, _watches_a_view_of_one, _watches_in_every_turn]
)
def test_an_array_made_in_a_trace_counts_inside_staged_blocks(function):
    for one, other in zip(graphify.function(function)(np.array(4)), function(4), strict=True):
        np.testing.assert_allclose(one, other)
