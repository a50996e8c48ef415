"""Pooling against TensorFlow's, and against maxima and means of slices."""

from typing import Any

import numpy as np
import pytest

import graphify
from graphify import nn
from graphify.errors import ShapeError, SpecError
from tests.nn.tensorflow_agrees import check, on_every_engine
from tests.tolerances import assert_close

rng = np.random.default_rng(0)
X1, X2 = rng.normal(size=(2, 7, 3)), rng.normal(size=(2, 6, 7, 2))
POOLS = {
    "max": (nn.max_pool, lambda tf: tf.nn.max_pool),
    "avg": (nn.avg_pool, lambda tf: tf.nn.avg_pool),
}


@pytest.mark.tensorflow
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize(("ksize", "strides"), [(2, 2), (3, 1), (2, 3), (1, 2)])
@pytest.mark.parametrize("kind", POOLS)
def test_pools_of_one_and_two_axes(kind, ksize, strides, padding):
    mine, theirs = POOLS[kind]
    for x in (X1, X2.astype("f")):
        check(
            lambda x: mine(x, ksize, strides, padding),
            lambda tf, x: theirs(tf)(x, ksize, strides, padding),
            [x],
        )


@pytest.mark.tensorflow
def test_windows_that_are_not_square():
    check(
        lambda x: nn.max_pool(x, [1, 3, 2, 1], [1, 2, 1, 1], [[0, 0], [1, 2], [1, 0], [0, 0]]),
        lambda tf, x: tf.nn.max_pool(
            x, [1, 3, 2, 1], [1, 2, 1, 1], [[0, 0], [1, 2], [1, 0], [0, 0]]
        ),
        [X2],
    )


@pytest.mark.tensorflow
def test_the_first_of_equal_maxima_has_the_gradient():
    x = rng.integers(0, 2, (3, 6, 6, 2)).astype(float)
    for ksize, strides in ((2, 2), (3, 1), (3, 2)):
        check(
            lambda x, k=ksize, s=strides: nn.max_pool(x, k, s, "SAME"),
            lambda tf, x, k=ksize, s=strides: tf.nn.max_pool(x, k, s, "SAME"),
            [x],
        )


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "float16", "float64"])
def test_maxima_of_every_dtype(dtype):
    x = (rng.normal(size=(2, 6, 1)) * 50).astype(dtype)
    want = np.maximum(x[:, 0::2], x[:, 1::2])
    assert_close(nn.max_pool(x, 2).numpy(), want)


def test_means_leave_padding_out():
    x = np.array([1.0, 3.0, 8.0]).reshape(1, 3, 1)
    assert nn.avg_pool(x, 3, 1, [(2, 0)]).numpy().ravel().tolist() == [1.0, 2.0, 4.0]
    assert nn.avg_pool(x.astype(int), 3, 1).numpy().ravel().tolist() == [4.0]


def test_extremes_of_the_dtype_and_nan():
    x = np.array([-np.inf, np.nan, 1.0, -np.inf, -np.inf, -np.inf]).reshape(1, 6, 1)
    got = nn.max_pool(x, 2, 1, "SAME").numpy().ravel()
    np.testing.assert_array_equal(got, [np.nan, np.nan, 1.0, -np.inf, -np.inf, -np.inf])
    slope = graphify.grad(lambda x: nn.max_pool(x, 3, 3, [(1, 2)]).sum())(x).numpy().ravel()
    assert slope.tolist() == [0, 1, 1, 0, 0, 1]


def test_channels_first():
    got = nn.max_pool(np.swapaxes(X1, 1, 2), 2, 2, "SAME", "NCW").numpy()
    assert_close(np.swapaxes(got, 1, 2), nn.max_pool(X1, 2, 2, "SAME").numpy())
    got = nn.avg_pool(np.swapaxes(X1, 1, 2), 2, 2, "SAME", "NCW").numpy()
    assert_close(np.swapaxes(got, 1, 2), nn.avg_pool(X1, 2, 2, "SAME").numpy())


@pytest.mark.parametrize("padding", ["SAME", "VALID", [(1, 1)]])
@pytest.mark.parametrize("pool", [nn.max_pool, nn.avg_pool])
def test_one_graph_for_all_lengths(pool, padding):
    def both(x):
        return pool(x, 3, 2, padding), graphify.grad(lambda x: (pool(x, 3, 2, padding) ** 2).sum())(
            x
        )

    staged = graphify.function(both)
    for samples, length in [(2, 7), (1, 4), (3, 9), (2, 3)]:
        x = rng.normal(size=(samples, length, 2))
        for got, want in zip(staged(x), both(x), strict=True):
            assert_close(got.numpy(), want.numpy())
    assert len(staged.traces()) == 2


@pytest.mark.parametrize("pool", [nn.max_pool, nn.avg_pool])
def test_batches_are_loops(pool):
    xs = rng.normal(size=(4, *X1.shape))

    def gradient(x):
        return graphify.grad(lambda x: (pool(x, 2, 1, "SAME") ** 2).sum())(x)

    want = np.stack([gradient(x).numpy() for x in xs])
    assert_close(graphify.vmap(gradient)(xs).numpy(), want)


@pytest.mark.tensorflow
@pytest.mark.parametrize("pool", [nn.max_pool, nn.avg_pool])
def test_engines_agree(pool):
    def gradient(x):
        return graphify.grad(lambda x: (pool(x, [3, 2], 2, "SAME") ** 2).sum())(x)

    mine, theirs = on_every_engine(gradient, [X2])
    assert_close(theirs, mine, loss=10)


def refused() -> list[Any]:
    return [
        (ShapeError, "expected samples, spatial axes and channels", lambda: nn.max_pool([1.0], 2)),
        (ShapeError, "expected a window of at most 7 places", lambda: nn.max_pool(X1, 9, 1)),
        (ValueError, "less than the window's 2 places", lambda: nn.max_pool(X1, 2, 1, [(2, 0)])),
        (ValueError, "'ksize': expected 1 positive integers", lambda: nn.avg_pool(X1, [2, 2])),
        (ValueError, "'padding': expected 'SAME'", lambda: nn.avg_pool(X1, 2, 2, "FULL")),
        (SpecError, "expected real numbers, got c", lambda: nn.max_pool(X1 * 1j, 2)),
        (ValueError, "'data_format'", lambda: nn.max_pool(X1, 2, data_format="NHWC")),
    ]  # fmt: skip


@pytest.mark.parametrize(("error", "text", "call"), refused())
def test_what_does_not_fit_is_refused(error, text, call):
    with pytest.raises(error, match=text):
        call()
