"""Convolutions against TensorFlow's, and against the sums that define them."""

import itertools
from typing import Any

import numpy as np
import pytest

import graphify
from graphify import nn
from graphify.errors import ShapeError, SpecError
from tests.nn.tensorflow_agrees import check, on_every_engine, slope_along
from tests.tolerances import assert_close

rng = np.random.default_rng(0)


def normal(*shape: int, dtype: str = "d") -> Any:
    return rng.normal(size=shape).astype(dtype)


def by_definition(x: Any, w: Any, strides: Any, before: Any, size: Any, dilations: Any) -> Any:
    """The sum of the definition, one place at a time."""
    groups = x.shape[-1] // w.shape[-2]
    y = np.zeros((len(x), *size, w.shape[-1]), x.dtype)
    share = w.shape[-1] // groups
    for o in itertools.product(*map(range, size)):
        for k in itertools.product(*map(range, w.shape[:-2])):
            at = [i * s + j * d - b for i, s, j, d, b in zip(o, strides, k, dilations, before)]
            if any(not 0 <= a < n for a, n in zip(at, x.shape[1:-1])):
                continue
            for r in range(groups):
                part = x[(slice(None), *at)][:, r * w.shape[-2] : (r + 1) * w.shape[-2]]
                kernel = w[k][:, r * share : (r + 1) * share]
                y[(slice(None), *o)][:, r * share : (r + 1) * share] += part @ kernel
    return y


# --- TensorFlow -------------------------------------------------------------------------------


@pytest.mark.tensorflow
@pytest.mark.parametrize("dtype", "fd")
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize(
    ("width", "window", "stride"), [(7, 3, 1), (8, 3, 2), (9, 2, 3), (5, 5, 4)]
)
def test_conv1d(width, window, stride, padding, dtype):
    check(
        lambda x, w: nn.conv1d(x, w, stride=stride, padding=padding),
        lambda tf, x, w: tf.nn.conv1d(x, w, stride=stride, padding=padding),
        [normal(2, width, 3, dtype=dtype), normal(window, 3, 4, dtype=dtype)],
    )


@pytest.mark.tensorflow
@pytest.mark.parametrize("padding", ["SAME", "VALID", [[0, 0], [1, 2], [0, 1], [0, 0]]])
@pytest.mark.parametrize("strides", [1, 2, [1, 2, 2, 1]])
def test_conv2d(strides, padding):
    check(
        lambda x, w: nn.conv2d(x, w, strides=strides, padding=padding),
        lambda tf, x, w: tf.nn.conv2d(x, w, strides=strides, padding=padding),
        [normal(2, 6, 7, 3), normal(3, 2, 3, 2)],
    )


@pytest.mark.tensorflow
@pytest.mark.parametrize("dilations", [2, [1, 3]])
def test_dilations_of_conv2d(dilations):
    x, w = normal(2, 9, 8, 2), normal(3, 2, 2, 3)
    for padding in ("SAME", "VALID"):
        check(
            lambda x, w, p=padding: nn.conv2d(x, w, padding=p, dilations=dilations),
            lambda tf, x, w, p=padding: tf.nn.conv2d(x, w, 1, p, dilations=dilations),
            [x, w],
            by=[],  # TensorFlow has no gradient of it for CPUs
        )


@pytest.mark.tensorflow
def test_conv3d():
    check(
        lambda x, w: nn.conv3d(x, w, strides=[1, 2, 1], padding="SAME"),
        lambda tf, x, w: tf.nn.conv3d(x, w, [1, 1, 2, 1, 1], "SAME"),
        [normal(2, 3, 4, 3, 2), normal(2, 3, 1, 2, 3)],
    )


@pytest.mark.tensorflow
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_depthwise_conv2d(padding):
    check(
        lambda x, w: nn.depthwise_conv2d(x, w, strides=2, padding=padding),
        lambda tf, x, w: tf.nn.depthwise_conv2d(x, w, [1, 2, 2, 1], padding),
        [normal(2, 6, 5, 3), normal(3, 2, 3, 2)],
    )


@pytest.mark.tensorflow
@pytest.mark.parametrize(("padding", "shape"), [("SAME", 8), ("SAME", 7), ("VALID", 9)])
def test_conv_transpose(padding, shape):
    check(
        lambda y, w: nn.conv_transpose(y, w, 2, padding, output_shape=[2, shape, 3]),
        lambda tf, y, w: tf.nn.conv1d_transpose(y, w, [2, shape, 3], 2, padding),
        [normal(2, 4, 2), normal(3, 3, 2)],
    )


@pytest.mark.tensorflow
def test_conv2d_transpose_chooses_the_shape_that_tensorflow_is_told():
    for padding, shape in (("SAME", [2, 6, 8, 3]), ("VALID", [2, 7, 9, 3])):
        check(
            lambda y, w, p=padding: nn.conv_transpose(y, w, 2, p),
            lambda tf, y, w, p=padding, s=shape: tf.nn.conv2d_transpose(y, w, s, 2, p),
            [normal(2, 3, 4, 2), normal(3, 3, 3, 2)],
        )


# --- the definition ---------------------------------------------------------------------------

GEOMETRIES = [
    # lengths, window, strides, padding, dilations, places before, lengths of the result
    ((7,), (3,), 2, [(2, 1)], 2, (2,), (3,)),
    ((5, 6), (2, 3), (2, 1), [(1, 0), (0, 2)], (2, 1), (1, 0), (2, 6)),
    ((4,), (1,), 1, "VALID", 1, (0,), (4,)),
    ((4,), (4,), 3, "SAME", 1, (1,), (2,)),
    ((3,), (2,), 1, [(3, 3)], 1, (3,), (8,)),
    ((0,), (2,), 1, "SAME", 1, (0,), (0,)),
    ((2,), (3,), 1, "VALID", 1, (0,), (0,)),
]


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_sums_are_those_of_the_definition(geometry, groups):
    lengths, window, strides, padding, dilations, before, size = geometry
    rank = len(lengths)
    x, w = normal(2, *lengths, 2 * groups), normal(*window, 2, 3 * groups)
    steps, gaps = (n if isinstance(n, tuple) else (n,) * rank for n in (strides, dilations))
    want = by_definition(x, w, steps, before, size, gaps)
    assert_close(nn.convolution(x, w, strides, padding, None, dilations).numpy(), want)


@pytest.mark.parametrize("dtype", ["float16", "int8", "uint64", "complex64", "float32"])
def test_every_dtype(dtype):
    x = (rng.normal(size=(2, 6, 2)) * 3).astype(dtype)
    w = (rng.normal(size=(3, 2, 2)) * 3).astype(dtype)
    want = by_definition(x, w, (1,), (1,), (6,), (1,))
    assert_close(nn.conv1d(x, w, padding="SAME").numpy(), want, loss=4)


def test_dtypes_are_promoted():
    assert nn.conv1d(np.ones((1, 3, 1), "f"), np.ones((2, 1, 1), "d")).dtype == np.float64
    assert nn.conv1d(np.ones((1, 3, 1), "i4"), np.ones((2, 1, 1), "f")).dtype == np.float64


def test_channels_first_and_samples_in_several_axes():
    x, w = normal(2, 3, 7, 2), normal(2, 2, 4)
    want = np.stack([nn.conv1d(part, w).numpy() for part in x])
    assert_close(nn.conv1d(x, w).numpy(), want)
    assert_close(nn.conv1d(x[0, 0], w).numpy(), want[0, 0])
    first = nn.conv1d(np.swapaxes(x, -1, -2), w, data_format="NCW").numpy()
    assert_close(np.swapaxes(first, -1, -2), want)
    back = nn.conv_transpose(np.swapaxes(want, -1, -2), w, 1, "VALID", data_format="NCW")
    assert back.shape == (2, 3, 2, 7)


# --- derivatives and batches ------------------------------------------------------------------


def test_derivatives_to_third_order():
    x, w = normal(1, 6, 2), normal(3, 2, 2)
    vs = [rng.normal(size=a.shape) for a in (x, w)]

    def loss(x, w):
        return (nn.conv1d(x, w, 2, [(1, 2)], dilations=2) ** 2).sum()

    def along(function):
        def slope(*xs):
            return graphify.jvp(function, xs, tuple(vs))[1]

        return slope

    for function in (loss, along(loss), along(along(loss))):
        want = slope_along(function, [x, w], vs)
        gs = graphify.grad(function, (0, 1))(x, w)
        got = sum(float((np.asarray(g) * v).sum()) for g, v in zip(gs, vs, strict=True))
        assert got == pytest.approx(want, rel=1e-5)
        assert float(along(function)(x, w)) == pytest.approx(want, rel=1e-5)


@pytest.mark.parametrize("in_axes", [(0, None), (None, 0), (0, 0), (1, 2)])
def test_batches_are_loops(in_axes):
    x, w = normal(2, 6, 4), normal(3, 2, 6)
    lanes = [
        np.stack([a + k for k in range(3)], axis) if axis is not None else a
        for a, axis in zip((x, w), in_axes, strict=True)
    ]
    pairs = [
        [np.take(a, k, axis) if axis is not None else a for a, axis in zip(lanes, in_axes)]
        for k in range(3)
    ]

    def gradients(x, w):
        return graphify.grad(lambda x, w: (nn.conv1d(x, w, 2, "SAME") ** 2).sum(), (0, 1))(x, w)

    for run in (nn.conv1d, gradients):
        loop = [run(*pair) for pair in pairs]
        for mapped in (graphify.vmap(run, in_axes), graphify.function(graphify.vmap(run, in_axes))):
            got = mapped(*lanes)
            if not isinstance(got, (tuple, list)):
                got, loop = [got], [[y] for y in loop]
            for place, y in enumerate(got):
                want = np.stack([np.asarray(lane[place]) for lane in loop])
                assert_close(np.asarray(y), want, loss=100)
            loop = [lane[0] if len(lane) == 1 else lane for lane in loop]


def test_batches_of_batches():
    xs, ws = normal(2, 1, 5, 2), normal(3, 2, 2, 2)
    over_kernels = graphify.vmap(nn.conv1d, (None, 0))
    got = graphify.vmap(over_kernels, (0, None))(xs, ws).numpy()
    want = np.stack([np.stack([nn.conv1d(x, w).numpy() for w in ws]) for x in xs])
    assert_close(got, want)
    both = graphify.vmap(graphify.vmap(nn.conv1d))(np.stack([xs] * 3), np.stack([ws[:2]] * 3))
    assert_close(both.numpy()[1, 1], nn.conv1d(xs[1], ws[1]).numpy())


# --- sizes known at run time ------------------------------------------------------------------


@pytest.mark.parametrize("padding", ["SAME", "VALID", [(2, 0)]])
@pytest.mark.parametrize("stride", [1, 3])
def test_one_graph_for_all_lengths(stride, padding):
    def value_and_gradients(x, w):
        def loss(x, w):
            return (nn.conv1d(x, w, stride, padding) ** 2).sum()

        return nn.conv1d(x, w, stride, padding), *graphify.grad(loss, (0, 1))(x, w)

    staged = graphify.function(value_and_gradients)
    for samples, width in [(2, 7), (3, 9), (1, 3), (4, 12), (2, 8)]:
        x, w = normal(samples, width, 2), normal(3, 2, 2)
        for got, want in zip(staged(x, w), value_and_gradients(x, w), strict=True):
            assert_close(got.numpy(), want.numpy(), loss=100)
    assert len(staged.traces()) == 2


@pytest.mark.tensorflow
def test_tensorflow_runs_a_graph_of_unknown_lengths():
    spec = [graphify.TensorSpec((None, None, 2), np.float64), graphify.TensorSpec((3, 2, 2), float)]

    @graphify.function(input_signature=spec, engine="tensorflow")
    def gradients(x, w):
        def loss(x, w):
            return (nn.conv1d(x, w, 2, "SAME") ** 2).sum()

        return graphify.grad(loss, (0, 1))(x, w)

    for samples, width in [(2, 7), (1, 4), (0, 5), (3, 0)]:
        x, w = normal(samples, width, 2), normal(3, 2, 2)
        want = graphify.grad(lambda x, w: (nn.conv1d(x, w, 2, "SAME") ** 2).sum(), (0, 1))(x, w)
        for got, value in zip(gradients(x, w), want, strict=True):
            assert_close(got.numpy(), value.numpy(), loss=100)


@pytest.mark.tensorflow
def test_engines_agree_on_transposes():
    y, w = normal(2, 3, 4, 2), normal(3, 2, 3, 2)
    mine, theirs = on_every_engine(lambda y, w: nn.conv_transpose(y, w, [2, 3]), [y, w])
    assert_close(theirs, mine, loss=10)


def test_numbers_that_change_are_traced_as_constants_or_sizes():
    @graphify.function
    def f(x, w, stride, before):
        return nn.conv1d(x, w, stride, [(before, 1)])

    x, w = normal(2, 9, 2), normal(3, 2, 2)
    for stride, before in [(1, 0), (2, 1), (3, 2), (4, 3), (4, 5), (4, 6)]:
        assert_close(
            f(x, w, stride, before).numpy(), nn.conv1d(x, w, stride, [(before, 1)]).numpy()
        )


def test_convolutions_are_hoisted_and_run_under_conditions():
    @graphify.function
    def f(x, w, n):
        total = np.zeros((1, 3, 2))
        for i in range(n):
            if x[0, 0, 0] > i:
                total = total + nn.conv1d(x, w)
        return total

    for x in (normal(1, 5, 2), np.abs(normal(1, 5, 2)) + 5):
        w = normal(3, 2, 2)
        times = min(max(int(np.ceil(x[0, 0, 0])), 0), 20)
        assert_close(f(x, w, np.array(20)).numpy(), times * nn.conv1d(x, w).numpy(), loss=20)


# --- refusals ---------------------------------------------------------------------------------

X, W = np.ones((2, 5, 3)), np.ones((3, 3, 4))
BACK = nn.conv_transpose


@pytest.mark.parametrize(
    ("error", "text", "call"),
    [
        (ShapeError, "'filters': expected 3 axes, got f64", lambda: nn.conv1d(X, W[0])),
        (ShapeError, "'input': expected 3 or more axes", lambda: nn.conv1d(X[0, 0], W)),
        (ShapeError, "expected 3 input channels, or a divisor", lambda: nn.conv1d(X, W[:, :2])),
        (ShapeError, "expected a window of at most 1 places", lambda: nn.conv1d(X[:, :1], W)),
        (ValueError, "'padding': expected 'SAME', 'VALID'", lambda: nn.conv1d(X, W, 1, "same")),
        (ValueError, "'padding': expected 'SAME'", lambda: nn.conv1d(X, W, 1, [(-1, 0)])),
        (ValueError, "'padding'.*samples and channels", lambda: nn.conv1d(X, W, 1, [(1, 0)] * 3)),
        (ValueError, "'strides': expected 1 positive integers", lambda: nn.conv1d(X, W, 0)),
        (ValueError, "'strides': expected 1 for samples and", lambda: nn.conv1d(X, W, [2, 1, 1])),
        (TypeError, "'strides': expected integers, got 1.5", lambda: nn.conv1d(X, W, 1.5)),
        (ValueError, "'data_format': expected 'NWC'", lambda: nn.conv1d(X, W, 1, "SAME", "NHWC")),
        (SpecError, "'input': expected numbers, got bool", lambda: nn.conv1d(X > 0, W)),
        (ShapeError, "'output_shape': its conv", lambda: BACK(X, W.T, 2, output_shape=[3])),
        (ShapeError, "'output_shape': expected 1", lambda: BACK(X, W.T, 2, output_shape=())),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(error, text, call):
    with pytest.raises(error, match=text):
        call()


def test_errors_name_the_users_line():
    @graphify.function
    def f(x, w):
        return nn.conv1d(x, w)  # the line

    with pytest.raises(ShapeError, match=r"in user code:\n.*test_convolution.py.*\n.*nn.conv1d"):
        f(X, W[:, :2])


@pytest.mark.parametrize(
    "engine", ["reference", pytest.param("tensorflow", marks=pytest.mark.tensorflow)]
)
def test_channels_known_at_run_time_are_checked_then(engine):
    spec = [graphify.TensorSpec((1, None, None), float), graphify.TensorSpec((2, None, 1), float)]

    @graphify.function(input_signature=spec, engine=engine)
    def f(x, w):
        return nn.conv1d(x, w)

    x, w = normal(1, 5, 4), normal(2, 4, 1)
    assert_close(f(x, w).numpy(), nn.conv1d(x, w).numpy())
    with pytest.raises(ValueError, match="channels"):
        f(x, w[:, :2])
    with pytest.raises(ValueError, match="fit"):
        f(x[:, :0], w)
