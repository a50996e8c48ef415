"""Moments, normalisation and dropout against TensorFlow's."""

import numpy as np
import pytest

import graphify
from graphify import nn
from graphify.errors import SpecError
from tests.nn.tensorflow_agrees import check, slope_along
from tests.tolerances import assert_close

rng = np.random.default_rng(0)
X = rng.normal(size=(6, 5, 3)) * 2 + 1
KEY = graphify.random.key(0)


@pytest.mark.tensorflow
@pytest.mark.parametrize(("axes", "keepdims"), [(0, False), ([0, 1], False), ([-1], True)])
def test_moments(axes, keepdims):
    axes_ = [axes] if isinstance(axes, int) else axes
    for place in (0, 1):
        check(
            lambda x, p=place: nn.moments(x, axes, keepdims=keepdims)[p],
            lambda tf, x, p=place: tf.nn.moments(x, axes_, keepdims=keepdims)[p],
            [X],
        )


@pytest.mark.tensorflow
@pytest.mark.parametrize("affine", [False, True])
def test_batch_normalization(affine):
    operands = [X, X.mean((0, 1)), X.var((0, 1)), rng.normal(size=3), rng.normal(size=3)]
    chosen = operands if affine else operands[:3]
    rest = () if affine else (None, None)
    check(
        lambda *xs: nn.batch_normalization(*xs, *rest, 1e-3),
        lambda tf, *xs: tf.nn.batch_normalization(*xs, *rest, 1e-3),
        chosen,
    )


def test_layer_norm():
    y = nn.layer_norm(X, axis=(1, 2)).numpy()
    assert_close(y.mean((1, 2)), np.zeros(6), loss=10)
    np.testing.assert_allclose(y.std((1, 2)), 1, atol=1e-3)
    scaled = nn.layer_norm(X, offset=[1.0, 2.0, 3.0], scale=[2.0, 2.0, 2.0]).numpy()
    assert_close(scaled, nn.layer_norm(X).numpy() * 2 + [1, 2, 3], loss=10)


def test_derivatives_of_layer_norm():
    x, v, w = X[0], rng.normal(size=X[0].shape), rng.normal(size=X[0].shape)

    def loss(x):
        return (nn.layer_norm(x) ** 3 * w).sum()

    def slope(x):
        return (graphify.grad(loss)(x) * v).sum()

    for function in (loss, slope):
        got = float((graphify.grad(function)(x) * v).sum())
        assert got == pytest.approx(slope_along(function, [x], [v]), rel=1e-5)


def test_moments_of_halves_are_precise():
    x = (rng.normal(size=20000) + 100).astype(np.float16)
    mean, variance = nn.moments(x, 0)
    assert mean.dtype == variance.dtype == np.float16
    np.testing.assert_allclose(variance.numpy(), x.astype(float).var(), rtol=1e-2)


def test_one_graph_for_all_lengths():
    staged = graphify.function(lambda x: (nn.layer_norm(x), *nn.moments(x, 0)))
    for shape in [(2, 3), (4, 5), (3, 1)]:
        x = rng.normal(size=shape)
        for got, want in zip(staged(x), (nn.layer_norm(x), *nn.moments(x, 0)), strict=True):
            assert_close(got.numpy(), want.numpy())
    assert len(staged.traces()) == 2


# --- dropout ----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_dropout_keeps_the_mean(dtype):
    y = nn.dropout(np.ones(100_000, dtype), 0.25, KEY).numpy()
    assert y.dtype == dtype
    assert set(np.unique(y)) == {
        0,
        np.dtype(dtype).type(np.ones((), dtype) / dtype_of(0.75, dtype)),
    }
    assert (y == 0).mean() == pytest.approx(0.25, abs=0.01)


def dtype_of(value, dtype):
    return np.dtype(dtype).type(value)


def test_the_key_decides():
    x = np.ones((20, 20))
    first = nn.dropout(x, 0.5, KEY).numpy()
    assert np.array_equal(nn.dropout(x, 0.5, KEY).numpy(), first)
    staged = graphify.function(lambda x, key, rate: nn.dropout(x, rate, key))
    assert np.array_equal(staged(x, KEY, 0.5).numpy(), first)
    assert np.array_equal(staged(x, KEY, np.array(0.5)).numpy(), first)
    other = graphify.random.split(KEY)[1]
    assert not np.array_equal(staged(x, other, 0.5).numpy(), first)


def test_choices_are_shared_along_axes_of_noise_shape():
    y = nn.dropout(np.ones((8, 5, 6)), 0.5, KEY, noise_shape=(None, 1, 6)).numpy()
    assert np.all(y == y[:, :1]) and 0 < (y == 0).mean() < 1


def test_the_gradient_is_the_mask():
    slope = graphify.grad(lambda x: nn.dropout(x, 0.5, KEY).sum())(X).numpy()
    assert_close(slope, nn.dropout(np.ones_like(X), 0.5, KEY).numpy())
    assert np.array_equal(nn.dropout(X, 0, KEY).numpy(), X)


def test_a_rate_known_at_run_time_is_checked_then():
    staged = graphify.function(lambda rate: nn.dropout(X, rate, KEY))
    staged(np.array(0.25))
    for rate in (-0.5, 1.0):
        with pytest.raises(ValueError, match=f"expected 0 <= rate < 1, got {rate}"):
            staged(np.array(rate))


def test_lanes_have_keys_of_their_own():
    keys = graphify.random.split(KEY, 4)
    got = graphify.vmap(lambda key: nn.dropout(np.ones(50), 0.5, key))(keys).numpy()
    want = np.stack([nn.dropout(np.ones(50), 0.5, keys[k]).numpy() for k in range(4)])
    assert np.array_equal(got, want) and len(np.unique(got, axis=0)) == 4


@pytest.mark.parametrize(
    ("error", "text", "call"),
    [
        (ValueError, "'rate': expected 0 <= rate < 1, got 1.0", lambda: nn.dropout(X, 1.0, KEY)),
        (ValueError, "'rate': expected 0 <= rate < 1, got -0.5", lambda: nn.dropout(X, -0.5, KEY)),
        (SpecError, "'key': expected a key", lambda: nn.dropout(X, 0.5, 3)),
        (SpecError, "'x': expected floats, got i64", lambda: nn.dropout([1, 2], 0.5, KEY)),
        (ValueError, "'noise_shape': expected 3 entries", lambda: nn.dropout(X, 0.5, KEY, (1,))),
        (SpecError, "'x': expected real numbers", lambda: nn.moments([1j], 0)),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(error, text, call):
    with pytest.raises(error, match=text):
        call()


def test_dropout_takes_a_real_rate_and_a_shape_that_broadcasts():
    with pytest.raises(SpecError, match="rate"):
        nn.dropout(X, 0.5j, KEY)
    for shape in ((2, 5, 3), (1, 1, -1), (6, 5, 4)):
        with pytest.raises(ValueError, match="noise_shape"):
            nn.dropout(X, 0.5, KEY, noise_shape=shape)
    with pytest.raises(ValueError, match="noise_shape"):
        nn.dropout(np.ones((1, 3)), 0.5, KEY, noise_shape=(2, 3))
    assert nn.dropout(X, 0.5, KEY, noise_shape=(6, 1, None)).shape == X.shape
