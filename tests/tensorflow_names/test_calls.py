"""TensorFlow's functions, tensors and variables in staged functions: what is not one entry's."""

import numpy as np
import pytest

import graphify
from graphify.errors import DTypeError, GraphifyError, ShapeError, SpecError, TransformError
from tests.tolerances import assert_close

tf = pytest.importorskip("tensorflow")

pytestmark = pytest.mark.tensorflow

X = np.array([[0.5, -1.5], [2.0, 3.0]], np.float32)
K = np.array([[1, 2], [3, 4]], np.int32)


# --- what TensorFlow refuses ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "function",
    [
        lambda x, k: tf.add(x, k),
        lambda x, k: tf.add(k, 1.5),
        lambda x, k: tf.matmul(x, k),
        lambda x, k: tf.where(x > 0, x, k),
        lambda x, k: tf.where(k, x, x),
        lambda x, k: tf.concat([x, k], 0),
        lambda x, k: tf.stack([x, k]),
        lambda x, k: tf.sqrt(k),
        lambda x, k: tf.exp(k),
        lambda x, k: tf.floor(k),
        lambda x, k: tf.nn.softmax(k),
        lambda x, k: tf.sigmoid(k),
        lambda x, k: tf.reduce_all(k),
        lambda x, k: tf.reduce_sum(k > 1),
        lambda x, k: tf.logical_and(k, k),
        lambda x, k: tf.maximum(k, 2.5),
        lambda x, k: tf.math.is_nan(k),
        lambda x, k: tf.math.reduce_variance(k),
        lambda x, k: tf.signal.fft(x),
        lambda x, k: tf.gather(x, x),
        lambda x, k: tf.tensordot(x, k, 1),
        lambda x, k: tf.einsum("ij,jk->ik", x, k),
        lambda x, k: tf.abs(tf.cast(k, tf.uint8)),
        lambda x, k: tf.one_hot(x, 3),
    ],
)
def test_dtypes_that_tensorflow_does_not_take(function):
    with pytest.raises((tf.errors.InvalidArgumentError, TypeError, ValueError)):
        function(tf.constant(X), tf.constant(K))
    with pytest.raises(DTypeError, match="TensorFlow") as caught:
        graphify.function(function)(X, K)
    assert "lambda x, k: tf." in str(caught.value) and "remedy: " in str(caught.value)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: tf.matmul(x[0], x),
        lambda x: tf.reduce_sum(x, axis=5),
        lambda x: tf.reduce_sum(x, axis=[0, 0]),
        lambda x: tf.split(x, 3),
        lambda x: tf.split(x, [1, 2]),
        lambda x: tf.squeeze(x, axis=[0]),
        lambda x: tf.tile(x, [2]),
        lambda x: tf.slice(x, [0, 1], [2, 2]),
        lambda x: tf.reshape(x, [3, -1]),
        lambda x: tf.gather(x, [-1]),
        lambda x: tf.gather(x, [7]),
        lambda x: tf.math.floordiv(tf.cast(x, tf.int32), 0),
        lambda x: tf.pow(tf.cast(x, tf.int32), -1),
        lambda x: tf.ensure_shape(x, [2, 3]),
        lambda x: tf.math.unsorted_segment_sum(x, [0, 4], 2),
        lambda x: tf.debugging.assert_positive(x),
        lambda x: tf.debugging.assert_rank(x, 3),
        lambda x: tf.cast(x, dtpye=tf.int32),
        lambda x: tf.concat([x]),
    ],
)
def test_what_raises_in_tensorflow_raises(function):
    with pytest.raises(Exception) as theirs:  # noqa: B017  # of many classes
        function(tf.constant(X))
    with pytest.raises(Exception) as ours:  # noqa: B017
        graphify.function(function)(X)
    assert not isinstance(ours.value, (graphify.errors.InternalError, AttributeError))
    assert isinstance(ours.value, TypeError) == isinstance(theirs.value, TypeError)
    assert "lambda x: tf." in str(ours.value)


@pytest.mark.parametrize(
    "function, remedy",
    [
        (lambda x: tf.linalg.qr(x), "np.linalg.qr"),
        (lambda x: tf.linalg.eigh(x), "np.linalg.eigh"),
        (lambda x: tf.linalg.svd(x), "np.linalg.svd"),
        (lambda x: tf.math.segment_sum(x, [0, 1]), "tf.math.unsorted_segment_sum"),
        (lambda x: tf.math.lgamma(x), "docs/tensorflow.md"),
        (lambda x: tf.Variable(x), "graphify.Variable"),
        (lambda x: tf.random.normal([2]) + x, "graphify.random"),
        (lambda x: tf.nn.dropout(x, 0.5), "graphify.nn.dropout"),
        (lambda x: tf.TensorArray(tf.float32, 2).write(0, x), "np.stack"),
        (lambda x: tf.raw_ops.Exp(x=x), "docs/tensorflow.md"),
        (lambda x: tf.image.rot90(x), "np.rot90"),
    ],
)
def test_what_the_table_lacks_is_refused_with_a_remedy(function, remedy):
    with pytest.raises(SpecError, match="remedy: .*" + remedy) as caught:
        graphify.function(function)(X)
    assert "lambda x: tf." in str(caught.value)


# --- tensors, variables, dtypes ------------------------------------------------------------------

SCALE = tf.constant([[1.0, 2.0]])


class Model(tf.Module):
    def __init__(self):
        super().__init__()
        self.weights = tf.Variable([1.0, 2.0])
        self.parts = [tf.constant(2.0)]

    def __call__(self, x):
        return tf.reduce_sum(self.weights * x) * self.parts[0]


def test_tensors_from_outside_stand_on_either_side():
    f = graphify.function(
        lambda x: (SCALE * x, x * SCALE, SCALE > x, SCALE == x, SCALE @ x, SCALE[0, 1] - x)
    )
    scale = np.asarray(SCALE)
    expected = (scale * X, scale * X, scale > X, scale == X, scale @ X, scale[0, 1] - X)
    for got, want in zip(f(tf.constant(X)), expected, strict=True):
        assert_close(got, want)


def test_another_tensor_in_its_place_is_seen():
    holder = {"scale": tf.constant(2.0)}
    f = graphify.function(lambda x: holder["scale"] * x)
    assert_close(f(X), X * 2)
    holder["scale"] = tf.constant(3.0)
    assert_close(f(X), X * 3)
    assert len(f.traces()) == 1
    holder["scale"] = tf.constant([3.0, 4.0])
    assert_close(f(X), X * np.array([3, 4], np.float32))


@pytest.mark.parametrize("engine", ["reference", "native", "tensorflow"])
def test_variables_are_read_at_each_run(engine):
    model = Model()
    f = graphify.function(lambda x: model(x), engine=engine)
    assert float(f(X[0])) == float(model(X[0]))
    model.weights.assign([5.0, -1.0])
    assert float(f(X[0])) == float(model(X[0]))


def test_variables_that_a_call_gives_are_read_at_each_run():
    model = Model()

    def found():
        return model.trainable_variables[0]

    hidden = graphify.autograph.do_not_convert(found)
    f = graphify.function(lambda x: tf.reduce_sum(hidden()) + tf.reduce_sum([hidden(), x]))
    g = graphify.function(lambda x: [tf.square(v) * x for v in model.trainable_variables])
    for values in ([1.0, 2.0], [5.0, -1.0]):
        model.weights.assign(values)
        assert float(f(X[0])) == 2 * sum(values) + X[0].sum()
        assert_close(g(X[0])[0], np.square(np.array(values, np.float32)) * X[0])


def test_variables_are_not_changed_while_tracing():
    variable = tf.Variable([1.0, 2.0])

    def f(x):
        variable.assign_add([1.0, 1.0])
        return x

    with pytest.raises((GraphifyError, AttributeError)):
        graphify.function(f)(X)
    assert variable.numpy().tolist() == [1.0, 2.0]


def test_tensorflow_dtypes_are_dtypes():
    f = graphify.function(lambda x: (x.astype(tf.float64), np.zeros(2, dtype=tf.int8), np.sum(x)))
    doubles, zeros, _ = f(X)
    assert doubles.dtype == np.float64 and zeros.dtype == np.int8
    with pytest.raises(SpecError):
        graphify.function(lambda x: x.astype(tf.string))(X)


def test_results_share_nothing_with_the_operands():
    def f(x):
        same, flat, turned = tf.identity(x), tf.reshape(x, [-1]), tf.transpose(x)
        x[0, 0] = 100
        total = tf.reduce_sum(x)
        before = total
        total += 1
        return same, flat, turned, before, total

    same, flat, turned, before, total = graphify.function(f)(X.copy())
    assert_close(same, X)
    assert_close(flat, X.reshape(-1))
    assert_close(turned, X.T)
    assert float(total) == float(before) + 1


def test_an_array_of_numpy_keeps_its_dtype():
    with pytest.raises(DTypeError):
        graphify.function(lambda x: tf.add(x, np.ones(2)))(X)
    f = graphify.function(lambda x: tf.reduce_mean(x))
    assert f(X.astype(np.float64)).dtype == np.float64 and f(X).dtype == np.float32


# --- functions of functions -----------------------------------------------------------------------


class Layer:
    bias = 2.0

    @tf.function
    def method(self, x):
        if tf.reduce_sum(x) > 0:
            return x + self.bias
        return x - self.bias


@tf.function
def doubled(x):
    return tf.multiply(x, 2)


def test_what_tf_function_made_is_converted():
    layer = Layer()
    f = graphify.function(lambda x: doubled(layer.method(x)))
    for x in (X, -X):
        assert_close(f(x), np.asarray(doubled(layer.method(tf.constant(x)))))
    assert len(f.traces()) == 1


def test_loops_branches_and_lists():
    @graphify.function
    def f(x):
        rows = []
        for i in tf.range(tf.shape(x)[0]):
            if tf.greater(tf.reduce_sum(x[i]), 0):
                rows.append(x[i] * 2)
            else:
                rows.append(tf.zeros_like(x[i]))
        return tf.stack(rows)

    spec = graphify.TensorSpec((None, 2), np.float32)
    for staged in (f, f.get_concrete_function(spec)):
        assert_close(staged(X), np.where(X.sum(1, keepdims=True) > 0, X * 2, 0).astype(np.float32))


def test_sizes_that_the_run_tells():
    @graphify.function
    def f(x):
        n = tf.shape(x)[0]
        halves = tf.reshape(x, [n, -1]) / tf.cast(n, tf.float32)
        return halves, tf.zeros([n, 2]), tf.range(n), tf.fill([n], 1.5)

    staged = f.get_concrete_function(graphify.TensorSpec((None, 2), np.float32))
    for x in (X, np.concatenate([X, X])):
        n = len(x)
        halves, zeros, places, filled = staged(x)
        assert_close(halves, x / np.float32(n))
        assert_close(zeros, np.zeros((n, 2), np.float32))
        assert_close(places, np.arange(n, dtype=np.int32))
        assert_close(filled, np.full(n, 1.5, np.float32))


def test_print_is_made_by_each_run(capfd):
    @graphify.function
    def f(x):
        tf.print("sum", tf.reduce_sum(x), sep=": ")
        return x

    f(X)
    f(X)
    assert capfd.readouterr().err.count("sum: 4.0") == 2


def test_checks_are_made_by_each_run():
    @graphify.function
    def f(x):
        tf.debugging.assert_less(x, 4.0, message="small")
        return x

    assert_close(f(X), X)
    with pytest.raises(graphify.errors.InvalidArgumentError, match="small"):
        f(X * 2)


def test_mean_squared_error_differentiated_and_vectorised():
    def mse(y, z):
        return tf.reduce_mean(tf.pow(y - z, 2))

    y, z = X.astype(float), X[::-1].astype(float)
    staged = graphify.function(mse)
    assert_close(graphify.grad(staged)(y, z), 2 * (y - z) / 4)
    assert_close(graphify.vmap(staged)(y, z), np.square(y - z).mean(axis=1))
    with pytest.raises(TransformError, match="decorate the function"):
        graphify.grad(mse)(y, z)  # not converted: it would be TensorFlow's own result


def test_shapes_that_do_not_fit_name_the_line():
    with pytest.raises((ShapeError, ValueError), match="tf.add"):
        graphify.function(lambda x: tf.add(x, [1.0, 2.0, 3.0]))(X)
