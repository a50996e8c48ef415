"""Activations against TensorFlow's: values and gradients, at kinks and far out, too."""

import numpy as np
import pytest

import graphify
from graphify import nn
from graphify.errors import SpecError
from graphify.ir.types import bfloat16
from tests.nn.tensorflow_agrees import check, slope_along
from tests.tolerances import assert_close

rng = np.random.default_rng(0)
# Kinks, ordinary numbers, and numbers whose exponentials overflow or vanish.
POINTS = np.array([-1e4, -800.0, -90.0, -6.0, -1.5, -1e-3, 0.0, 1e-3, 2.0, 6.0, 90.0, 800.0, 1e4])
ELEMENTWISE = [
    "relu",
    "relu6",
    "leaky_relu",
    "elu",
    "selu",
    "sigmoid",
    "softplus",
    "silu",
    "swish",
    "gelu",
]
# TensorFlow keeps the constants of some activations in float32.
LOSS = {"float32": 50, "float64": 1e6}
ALL = [getattr(nn, name) for name in ELEMENTWISE]


@pytest.mark.tensorflow
@pytest.mark.parametrize("name", ELEMENTWISE)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_tensorflow_agrees(name, dtype):
    x = np.where(np.abs(POINTS) > 700, np.sign(POINTS) * 80, POINTS).astype(dtype)
    ours = getattr(nn, name)
    check(lambda x: ours(x), lambda tf, x: getattr(tf.nn, name)(x), [x], loss=LOSS[dtype])


@pytest.mark.tensorflow
def test_options():
    pairs = [
        (lambda x: nn.gelu(x, approximate=True), lambda tf, x: tf.nn.gelu(x, approximate=True)),
        (lambda x: nn.leaky_relu(x, 0.3), lambda tf, x: tf.nn.leaky_relu(x, 0.3)),
        (lambda x: nn.silu(x, 2.0), lambda tf, x: tf.nn.silu(x, 2.0)),
    ]
    for ours, theirs in pairs:
        check(ours, theirs, [rng.normal(size=20) * 3], loss=LOSS["float64"])


@pytest.mark.parametrize("function", ALL, ids=ELEMENTWISE)
def test_gradients_are_finite_everywhere(function):
    with np.errstate(over="ignore", under="ignore"):
        first = graphify.grad(lambda x: function(x).sum())
        second = graphify.grad(lambda x: first(x).sum())
        for run in (function, first, second):
            assert np.all(np.isfinite(run(POINTS).numpy()))


@pytest.mark.parametrize("function", ALL, ids=ELEMENTWISE)
def test_gradients_are_slopes(function):
    x, v = rng.normal(size=8) * 2, rng.normal(size=8)
    want = slope_along(lambda x: function(x).sum(), [x], [v])
    assert float((graphify.grad(lambda x: function(x).sum())(x) * v).sum()) == pytest.approx(
        want, rel=1e-5
    )


@pytest.mark.parametrize("function", ALL, ids=ELEMENTWISE)
def test_nan_stays(function):
    assert np.isnan(function(np.array([np.nan])).numpy()[0])


def test_small_results_are_precise():
    x = np.array([-40.0, -700.0])
    assert_close(nn.sigmoid(x).numpy(), np.exp(x))
    assert_close(nn.softplus(x).numpy(), np.exp(x))
    assert_close(graphify.grad(lambda x: nn.sigmoid(x).sum())(-x).numpy(), np.exp(x))
    assert nn.gelu(np.array(-10.0)).numpy() == pytest.approx(-7.619853024160527e-23, rel=1e-10)


def test_dtypes():
    assert nn.relu(np.array([-1, 2], np.int8)).dtype == np.int8
    assert nn.sigmoid(np.array([1], np.int8)).dtype == np.float64
    for function in ALL:
        for dtype in (np.float16, bfloat16):
            x = np.ones(2, dtype)
            assert function(x).dtype == dtype
            assert graphify.grad(lambda x, f=function: f(x).sum())(x).dtype == dtype
        with pytest.raises(SpecError, match="expected real numbers, got c"):
            function(np.ones(2, complex))


# --- along axes -------------------------------------------------------------------------------


@pytest.mark.tensorflow
@pytest.mark.parametrize("axis", [-1, 0, 1])
@pytest.mark.parametrize("scale", [1.0, 1000.0])
def test_softmax(axis, scale):
    x = rng.normal(size=(3, 4)) * scale
    for name in ("softmax", "log_softmax"):
        ours = getattr(nn, name)
        check(
            lambda x, f=ours: f(x, axis=axis),
            lambda tf, x, n=name: getattr(tf.nn, n)(x, axis=axis),
            [x],
        )


@pytest.mark.tensorflow
@pytest.mark.parametrize("axis", [None, 0, (0, 1)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_logsumexp(axis, keepdims):
    x = rng.normal(size=(3, 4)) * 500
    check(
        lambda x: nn.logsumexp(x, axis, keepdims),
        lambda tf, x: tf.reduce_logsumexp(x, axis, keepdims),
        [x],
    )


def test_infinite_and_missing_logits():
    x = np.array([0.0, -np.inf, 1.0])
    assert_close(nn.softmax(x).numpy(), nn.softmax(x[[0, 2]]).numpy()[[0, 1, 1]] * [1, 0, 1])
    with np.errstate(divide="ignore"):
        assert nn.logsumexp(np.full(3, -np.inf)).numpy() == -np.inf
        assert nn.logsumexp(np.zeros(0)).numpy() == -np.inf
    assert nn.logsumexp(np.array([np.inf, 0.0])).numpy() == np.inf
    assert nn.softmax(np.zeros((2, 0))).shape == (2, 0)


def test_second_derivatives_of_softmax():
    x, v = rng.normal(size=5), rng.normal(size=5)

    def slope(x):
        return (graphify.grad(lambda x: (nn.softmax(x) ** 2).sum())(x) * v).sum()

    want = slope_along(slope, [x], [v])
    assert float((graphify.grad(slope)(x) * v).sum()) == pytest.approx(want, rel=1e-5)


def test_sums_of_halves_are_made_in_float32():
    x = np.zeros(4096, np.float16)
    assert nn.softmax(x).numpy()[0] == np.float16(1 / 4096)
    assert nn.logsumexp(x).numpy() == np.float16(np.log(4096))


def test_one_graph_for_all_lengths():
    staged = graphify.function(lambda x: (nn.log_softmax(x), nn.softmax(x, axis=0)))
    for shape in [(2, 3), (4, 5), (1, 1)]:
        x = rng.normal(size=shape)
        for got, want in zip(staged(x), (nn.log_softmax(x), nn.softmax(x, axis=0)), strict=True):
            assert_close(got.numpy(), want.numpy())
    assert len(staged.traces()) == 2
    with pytest.raises(np.exceptions.AxisError):
        nn.softmax(np.zeros((2, 2)), axis=2)


@pytest.mark.parametrize("function", [nn.leaky_relu, nn.elu, nn.silu])
def test_slopes_are_real(function):
    for slope in (1j, np.array([1j, 2.0, 3.0])):
        with pytest.raises(SpecError, match="expected real numbers"):
            function(np.array([-1.0, 0.0, 2.0]), slope)
