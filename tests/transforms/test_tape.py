"""The tape itself: keys, in-place updates, views, and what it leaves out."""

import numpy as np
import pytest

import graphify
import graphify.numpy as gnp
from graphify.errors import TransformError
from graphify.ir.context import taping
from graphify.ir.op import Op
from graphify.ir.tensor import Tensor
from graphify.ops import core, elementwise
from graphify.transforms.jvp import pushforward
from graphify.transforms.tape import Tape
from graphify.transforms.vjp import backprop
from tests.differences import check_grads

X = np.array([0.5, -1.25, 2.0, 0.75])


def test_only_what_depends_on_watched_tensors_is_recorded():
    x, other, tape = Tensor(X.copy()), Tensor(X.copy()), Tape()
    tape.watch(x)
    with taping(tape):
        elementwise.sin(other)
        elementwise.floor(x)
        elementwise.cos(x)
    assert [record.op.name for record in tape.records] == ["cos"]


def test_backprop_accumulates_over_every_use():
    x, tape = Tensor(X.copy()), Tape()
    key = tape.watch(x)
    with taping(tape):
        y = x * x + x
    (g,) = backprop(tape.records, [tape.key(y)], [core.ones_like(y)], [key])
    np.testing.assert_allclose(g.numpy(), 2 * X + 1)
    (t,) = pushforward(tape.records, [key], [core.ones_like(x)], [tape.key(y)])
    np.testing.assert_allclose(t.numpy(), 2 * X + 1)


def test_unconnected_sources_get_none():
    x, y, tape = Tensor(X.copy()), Tensor(X.copy()), Tape()
    keys = [tape.watch(x), tape.watch(y)]
    with taping(tape):
        z = elementwise.exp(x)
    found = backprop(tape.records, [tape.key(z)], [core.ones_like(z)], keys)
    assert found[0] is not None and found[1] is None


def test_an_op_without_rule_is_named_with_the_line():
    mystery = Op("mystery", spec=lambda x: x, eval=lambda x: x + 1.0)

    def f(x):
        return gnp.sum(mystery(x))  # the line

    with pytest.raises(TransformError, match="(?s)mystery: .*no gradient.*the line"):
        graphify.grad(f)(X)
    with pytest.raises(TransformError, match="(?s)mystery: .*no forward derivative.*the line"):
        graphify.jvp(f, (X,), (X,))


# --- in-place updates, eager ----------------------------------------------------------------------


def elements(x):
    y = x * 2.0
    y[0] = y[1] * x[0]
    y[1] = gnp.sin(y[0]) + y[3]
    return y


def views(x):
    y = x * x
    view = y[1:]
    view *= x[1:]
    y[::2] = gnp.cos(view[0]) * view[1:][::-1]
    return y + view.sum()


def view_of_a_view(x):
    y = x.reshape(2, 2) * 1.0
    row = y[0]
    last = row[1:]
    last += y[1, 0] * x[0]
    row[0] = last[0] * 3.0
    return y


def transposed(x):
    y = gnp.ones((2, 2)) * x[:2]
    turned = y.T
    turned[0] = x[2:] * turned[1]
    return y * y


def masks_and_indices(x):
    y = x * 1.0
    y[y > 0.6] = 2.0 * x[0]
    y[np.array([0, 3])] = y[np.array([3, 0])] * x[1]
    y[1:3] += y[0:2]
    return y


def overwritten_twice(x):
    y = gnp.exp(x)
    z = y * x
    y[...] = z
    y[...] = y[::-1] * x
    y += z
    return y * z


def swapped(x):
    y = x * 1.0
    y[0], y[1] = y[1] * 1.0, y[0] * 2.0
    return y * x


def argument_updated(x):
    x *= x
    x[0] = x[1] * 3.0
    return x


def accumulated(x):
    total = gnp.zeros(3)
    for i in range(3):
        total[i] = x[i] * x[i + 1] + (total[i - 1] if i else 0.0)
    return total


UPDATES = [
    elements, views, view_of_a_view, transposed, masks_and_indices, overwritten_twice, swapped,
    accumulated,
]  # fmt: skip


@pytest.mark.parametrize("f", UPDATES, ids=lambda f: f.__name__)
def test_gradients_through_updates(f):
    check_grads(f, X.copy())


def test_an_updated_argument_is_updated_for_the_caller():
    x = X.copy()
    g = graphify.grad(lambda v: gnp.sum(argument_updated(v)))(x)
    np.testing.assert_array_equal(x, argument_updated(X.copy()))
    np.testing.assert_allclose(g, 2 * X * np.array([0, 4, 1, 1]))


def test_a_tape_keeps_values_that_are_overwritten_afterwards():
    x = gnp.asarray(X.copy())
    with graphify.GradientTape() as tape:
        tape.watch(x)
        y = gnp.sin(x) * x
        x[:] = 100.0
        y[:2] = 5.0
    gradient = tape.gradient(gnp.sum(y), x)
    assert gradient is None  # the sum was taken after the tape
    with graphify.GradientTape() as tape:
        tape.watch(x)
        z = gnp.sum(gnp.square(x))
        x[:] = 0.0
    np.testing.assert_array_equal(tape.gradient(z, x), np.full(4, 200.0))


def test_second_order_through_updates_and_nested_tapes():
    x = gnp.asarray(X.copy())
    with graphify.GradientTape() as outer:
        outer.watch(x)
        with graphify.GradientTape() as inner:
            inner.watch(x)
            y = x * x
            y[1:] *= y[:-1]
            s = gnp.sum(y)
        g = inner.gradient(s, x)
        total = gnp.sum(g * g)

    def plain(v):
        return graphify.grad(
            lambda w: gnp.sum(w * w * gnp.concatenate([gnp.ones(1), (w * w)[:-1]]))
        )(v)

    want = graphify.grad(lambda v: gnp.sum(plain(v) ** 2))(X)
    np.testing.assert_allclose(outer.gradient(total, x), want)


def test_views_made_before_an_update_inside_a_staged_branch():
    @graphify.function
    def f(x, flag):
        y = x * 1.0
        view = y[1:]
        y[1] = x[0] * x[0]
        if flag > 0:
            result = gnp.sum(view * x[1:])
        else:
            result = gnp.sum(y)
        return result

    def loss(x):
        return f(x, np.array(1))

    want = [2 * X[0] * X[1], X[0] ** 2, 2 * X[2], 2 * X[3]]
    np.testing.assert_allclose(graphify.grad(loss)(X), want)

    @graphify.function
    def traced(x, flag):
        with graphify.GradientTape() as tape:
            tape.watch(x)
            y = x * 1.0
            view = y[1:]
            y[1] = x[0] * x[0]
            if flag > 0:
                result = gnp.sum(view * x[1:])
            else:
                result = gnp.sum(y)
        return tape.gradient(result, x)

    np.testing.assert_allclose(traced(X, np.array(1)), want)
    np.testing.assert_allclose(traced(X, np.array(-1)), [2 * X[0] + 1, 0, 1, 1])


# --- values that leave ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "leave",
    [
        lambda x: float(x[0]) * x,
        lambda x: np.asarray(x) * x,
        lambda x: np.from_dlpack(x) * x,
        lambda x: (
            np.trapezoid(x, x) * x
            if "trapezoid" not in gnp.__dict__
            else np.array([x[0], x[1]]) * x[:2]
        ),
        lambda x: np.frombuffer(x.tobytes()) * x,
        lambda x: float.fromhex(x[0].hex()) * x,
        lambda x: x[0].as_integer_ratio()[0] * x,
    ],
    ids=["float", "asarray", "dlpack", "numpy", "bytes", "hex", "ratio"],
)
def test_a_derivative_is_never_lost_in_silence(leave):
    with pytest.raises(TransformError, match="derivative would be lost"):
        graphify.grad(lambda x: gnp.sum(leave(x)))(X)


def test_lists_of_numbers_keep_derivatives():
    def f(x):
        (a, b), (c, d) = x.reshape(2, 2).tolist()
        return x * (a * b + c**2 * d)

    check_grads(f, X)


WRITES = {
    "out": lambda z, x: np.add(x, 1.0, out=z),
    "out of a product": lambda z, x: np.matmul(np.eye(4), x, out=z),
    "out of a sum": lambda z, x: np.cumsum(x, out=z),
    "add.at": lambda z, x: np.add.at(z, [0, 1, 1, 2], x),
    "maximum.at": lambda z, x: np.maximum.at(z, [0, 3], x[:2]),
    "copyto": lambda z, x: np.copyto(z, x),
    "put": lambda z, x: np.put(z, [0, 2], x[:2]),
    "put of a list": lambda z, x: np.put(z, [0, 2], [x[0], x[1]]),
    "putmask": lambda z, x: np.putmask(z, [True, False, True, True], x),
    "place": lambda z, x: np.place(z, [True, False, True, True], x),
    "put_along_axis": lambda z, x: np.put_along_axis(z, np.array([1]), x[:1], 0),
    "fill_diagonal": lambda z, x: np.fill_diagonal(z.reshape(2, 2), x[:2]),
    "fill": lambda z, x: z.fill(x[0]),
    "slice": lambda z, x: z.__setitem__(slice(None), x),
}


@pytest.mark.parametrize("write", WRITES)
def test_a_derivative_is_not_lost_in_an_array_that_is_written_to(write):
    """An array of NumPy's own keeps no derivative; in a staged function it is one of the graph."""

    def f(x):
        z = np.zeros(4)
        WRITES[write](z, x)
        return (z**3).sum()

    for transform in (
        lambda f: graphify.grad(f)(X),
        lambda f: graphify.jvp(f, (X,), (np.ones(4),)),
    ):
        with pytest.raises(TransformError, match="would be lost"):
            transform(f)
    check_grads(graphify.function(f), X)


def test_augmented_assignment_of_a_numpy_array_keeps_derivatives():
    """The name stands for what it gives from there on."""

    def f(x):
        z = np.zeros(4)
        z += x
        z *= z
        return z.sum()

    np.testing.assert_allclose(graphify.grad(f)(X), 2 * X)


def test_a_derivative_is_not_lost_in_a_numpy_array():
    def f(x):
        array = np.zeros(4)
        array[1] = x[1] * 2.0
        return gnp.sum(array * x)

    with pytest.raises(TransformError, match=r"(?s)would be lost.*array\[1\] = x\[1\]"):
        graphify.grad(f)(X)
    x = gnp.asarray(X)
    with (
        pytest.raises(TransformError, match="would be lost"),
        graphify.GradientTape() as tape,
    ):
        tape.watch(x)
        f(x)
    np.testing.assert_allclose(graphify.grad(graphify.function(f))(X), [0, 4 * X[1], 0, 0])


@pytest.mark.parametrize(
    "view",
    [lambda x: gnp.asarray(x), lambda x: gnp.reshape(x, (2, 2)), lambda x: gnp.flip(x)],
    ids=["itself", "reshape", "flip"],
)
def test_views_of_a_watched_numpy_array_stay_connected(view):
    x = X.copy()
    with graphify.GradientTape() as outer:
        outer.watch(x)
        y = view(x)
        with graphify.GradientTape(persistent=True) as tape:
            tape.watch(x)
            z = view(x)
        np.testing.assert_allclose(tape.gradient(z, x), np.ones(4))
        np.testing.assert_allclose(tape.jacobian(z, x).numpy().sum(), 4)
        w = gnp.sum(y * y)
    x *= 3  # unseen by the tapes
    np.testing.assert_allclose(tape.gradient(z, x), np.ones(4))
    np.testing.assert_allclose(outer.gradient(w, x), 2 * X)


def test_a_value_may_be_looked_at():
    def f(x):
        assert float(graphify.stop_gradient(x[0])) == 0.5 and x.numpy()[0] == 0.5
        return gnp.sum(x * x)

    np.testing.assert_allclose(graphify.grad(f)(X), 2 * X)
    x = gnp.asarray(X)
    with graphify.GradientTape() as tape:
        tape.watch(x)
        y = gnp.sum(x * x)
        assert float(y) > 0
    np.testing.assert_allclose(tape.gradient(y, x), 2 * X)


def test_items_are_differentiated():
    np.testing.assert_allclose(
        graphify.grad(lambda x: x.item(0) * x.item(1))(X), [X[1], X[0], 0, 0]
    )
