"""Losses and labels against TensorFlow's."""

import numpy as np
import pytest

import graphify
from graphify import nn
from graphify.errors import ShapeError, SpecError
from tests.nn.tensorflow_agrees import check
from tests.tolerances import assert_close

rng = np.random.default_rng(0)
LOGITS = rng.normal(size=(5, 4)) * 3
CLASSES = np.array([0, 3, 1, 1, 2])
SOFTMAX = nn.softmax_cross_entropy_with_logits
SPARSE = nn.sparse_softmax_cross_entropy_with_logits
SHARES = rng.dirichlet(np.ones(4), 5)


@pytest.mark.tensorflow
@pytest.mark.parametrize("scale", [1.0, 300.0])
def test_softmax_cross_entropy(scale):
    check(
        lambda p, x: nn.softmax_cross_entropy_with_logits(p, x),
        lambda tf, p, x: tf.nn.softmax_cross_entropy_with_logits(p, x),
        [SHARES, LOGITS * scale],
    )
    check(
        lambda p, x: nn.softmax_cross_entropy_with_logits(labels=p, logits=x, axis=0),
        lambda tf, p, x: tf.nn.softmax_cross_entropy_with_logits(labels=p, logits=x, axis=0),
        [SHARES.T, LOGITS.T * scale],
    )


@pytest.mark.tensorflow
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sparse_softmax_cross_entropy(dtype):
    for labels in (CLASSES, CLASSES.astype(np.int32)):
        check(
            lambda y, x: nn.sparse_softmax_cross_entropy_with_logits(y, x),
            lambda tf, y, x: tf.nn.sparse_softmax_cross_entropy_with_logits(y, x),
            [labels, LOGITS.astype(dtype)],
        )


@pytest.mark.tensorflow
def test_sigmoid_cross_entropy():
    x = np.array([-1000.0, -40.0, -1.0, 0.0, 2.0, 40.0, 1000.0])
    for p in (np.zeros(7), np.ones(7), rng.uniform(size=7)):
        check(
            lambda p, x: nn.sigmoid_cross_entropy_with_logits(p, x),
            lambda tf, p, x: tf.nn.sigmoid_cross_entropy_with_logits(p, x),
            [p, x],
        )


@pytest.mark.tensorflow
def test_regression_losses():
    a, b = rng.normal(size=(3, 4)), rng.normal(size=(3, 4)) * 3
    check(
        lambda a, b: nn.mean_squared_error(a, b, axis=-1),
        lambda tf, a, b: tf.reduce_mean(tf.math.squared_difference(a, b), axis=-1),
        [a, b],
    )
    check(
        lambda a, b: nn.huber(a, b, 1.5),
        lambda tf, a, b: tf.reduce_mean(
            tf.where(abs(a - b) <= 1.5, (a - b) ** 2 / 2, 1.5 * (abs(a - b) - 0.75))
        ),
        [a, b],
    )
    check(lambda a: nn.l2_loss(a), lambda tf, a: tf.nn.l2_loss(a), [a])


@pytest.mark.tensorflow
@pytest.mark.parametrize("axis", [-1, 0, 1])
def test_one_hot(axis):
    indices = np.array([[0, 2, -1], [3, 1, 1]])
    check(
        lambda i: nn.one_hot(i, 3, 5.0, -1.0, axis, np.float32),
        lambda tf, i: tf.one_hot(i, 3, 5.0, -1.0, axis, tf.float32),
        [indices],
    )


def test_one_hot_of_a_depth_known_at_run_time():
    staged = graphify.function(lambda i, like: nn.one_hot(i, like.shape[0]))
    for depth in (2, 4, 7):
        assert_close(staged(np.array([1, 0]), np.zeros(depth)).numpy(), np.eye(depth)[[1, 0]])
    assert nn.one_hot(1, 3, dtype=bool).numpy().tolist() == [False, True, False]


def test_integer_labels_take_the_dtype_of_the_logits():
    labels = np.eye(4, dtype=int)[CLASSES]
    x = LOGITS.astype(np.float32)
    assert nn.softmax_cross_entropy_with_logits(labels, x).dtype == np.float32
    assert_close(
        nn.softmax_cross_entropy_with_logits(labels, LOGITS).numpy(),
        nn.sparse_softmax_cross_entropy_with_logits(CLASSES, LOGITS).numpy(),
    )


@pytest.mark.parametrize("bad", [-1, 4])
def test_labels_out_of_range_are_errors(bad):
    labels = np.array([0, bad, 1, 1, 2])
    staged = graphify.function(nn.sparse_softmax_cross_entropy_with_logits)
    for run in (nn.sparse_softmax_cross_entropy_with_logits, staged):
        with pytest.raises(ValueError, match=f"expected 0 <= label < 4, got {bad}"):
            run(labels, LOGITS)


def test_batches_are_loops():
    def loss(y, x):
        return nn.sparse_softmax_cross_entropy_with_logits(y, x)

    assert_close(graphify.vmap(loss)(CLASSES, LOGITS).numpy(), loss(CLASSES, LOGITS).numpy())
    slopes = graphify.vmap(graphify.grad(loss, 1))(CLASSES, LOGITS).numpy()
    assert_close(slopes, (nn.softmax(LOGITS) - np.eye(4)[CLASSES]).numpy(), loss=10)


def test_means_of_halves_are_made_in_float32():
    a = np.full(5000, 4.0, np.float16)
    assert nn.mean_squared_error(a, np.zeros(5000, np.float16)).numpy() == 16
    assert nn.l2_loss(np.ones(5000, np.float16)).numpy() == 2500


@pytest.mark.parametrize(
    ("error", "text", "call"),
    [
        (ShapeError, "'labels': expected shape", lambda: nn.mean_squared_error([1.0], [1.0, 2.0])),
        (ShapeError, "'labels': expected shape", lambda: SOFTMAX(CLASSES, LOGITS)),
        (ShapeError, "'labels': expected shape", lambda: SPARSE(SHARES.astype(int), LOGITS)),
        (SpecError, "'labels': expected integers", lambda: SPARSE(CLASSES * 1.0, LOGITS)),
        (SpecError, "'indices': expected integers", lambda: nn.one_hot([0.5], 2)),
        (SpecError, "'t': expected real numbers", lambda: nn.l2_loss([1j])),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(error, text, call):
    with pytest.raises(error, match=text):
        call()


def test_one_hot_takes_what_its_dtype_holds():
    assert nn.one_hot([1, 0], 2, True, False, dtype=bool).numpy().tolist() == [
        [False, True],
        [True, False],
    ]
    assert nn.one_hot([1], 2, 1, 0, dtype=np.uint8).numpy().tolist() == [[0, 1]]
    with pytest.raises(TypeError, match="cast to float64"):
        nn.one_hot([1, 0], 2, on_value=1j)
    with pytest.raises(TypeError, match="cast to int64"):
        nn.one_hot([1, 0], 2, on_value=0.5, dtype=int)
    with pytest.raises(ValueError, match="expected numbers"):
        nn.one_hot([1, 0], 2, on_value=np.ones((3, 1, 1)))
    with pytest.raises(ValueError, match="negative dimensions"):
        nn.one_hot([1, 0], -2)


def test_a_bound_of_huber_is_real():
    with pytest.raises(TypeError, match="expected real numbers"):
        nn.huber([0.0], [3.0], delta=1j)
