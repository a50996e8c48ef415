"""What follows a product is done tile by tile, whatever the product: its size, layout, dtype."""

import numpy as np
import pytest

import graphify
from graphify import nn
from tests.tolerances import assert_close


def dense(x, w, b):
    return np.maximum(x @ w + b, 0) * 2


def affine(x, w, b):
    return x @ w * 2 + b


def scaled(x, w, b):
    y = x @ w
    return y / (1 + np.abs(y)) + b


def kept(x, w, b):
    y = x @ w
    return y, y * y + b


def two_layers(x, w, b):
    return np.tanh(np.maximum(x @ w + b, 0) @ w.T) - x


def by_rows(x, w, b):
    return x @ w - x[..., :1] * b


LOSS = 50  # differences of large products
PROGRAMS = [dense, scaled, kept, two_layers, by_rows]
SIZES = [(1, 1, 1), (3, 1, 2), (5, 0, 4), (0, 3, 2), (2, 3, 0), (17, 33, 9), (130, 70, 65)]


def arrays(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    n, k, m = shape
    made = [rng.normal(size=s) * 3 for s in ((n, k), (k, m), (m,))]
    if np.dtype(dtype).kind == "c":
        made = [a + 1j * rng.normal(size=a.shape) for a in made]
    return [a.astype(dtype) for a in made]


def agree(function, staged, args):
    got, want = staged(*args), function(*args)
    for one, other in zip(*(v if isinstance(v, tuple) else (v,) for v in (got, want)), strict=True):
        assert_close(np.asarray(one), other, loss=LOSS)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("function", PROGRAMS)
def test_floats_of_all_sizes(function, dtype):
    staged = graphify.function(function)
    for size in SIZES:
        if not (function is by_rows and size[1] == 0):
            agree(function, staged, arrays(size, dtype))


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8", "complex128", "float16"])
def test_other_dtypes(dtype):
    for size in SIZES:
        x, w, b = arrays(size, dtype)
        agree(affine, graphify.function(affine), (x, w, b))


@pytest.mark.parametrize("layout", ["F", "reversed", "every other"])
def test_layouts(layout):
    x, w, b = arrays((40, 30, 20), "float64")
    if layout == "F":
        x, w = np.asfortranarray(x), np.asfortranarray(w)
    elif layout == "reversed":
        x, w = x[::-1], w[:, ::-1]
    else:
        x, w, b = x[::2], w[:, ::2], b[::2]
    for function in PROGRAMS:
        agree(function, graphify.function(function), (x, w, b))


def test_stacks_of_products():
    rng = np.random.default_rng(1)
    x, w, b = rng.normal(size=(5, 7, 3)), rng.normal(size=(5, 3, 4)), rng.normal(size=(5, 1, 4))
    for function in (dense, scaled, kept):
        agree(function, graphify.function(function), (x, w, b))


def test_convolutions():
    rng = np.random.default_rng(2)
    x, w, b = rng.normal(size=(3, 20, 5)), rng.normal(size=(4, 5, 6)), rng.normal(size=6)

    def layer(x, w, b):
        return nn.relu(nn.conv(x, w, strides=2, padding="SAME") + b) * 3

    with graphify.config(engine="reference"):
        want = graphify.function(layer)(x, w, b)
    staged = graphify.function(layer)
    assert_close(np.asarray(staged(x, w, b)), np.asarray(want))
    assert "when it is done" in str(staged.get_concrete_function(x, w, b).lower())


def test_the_text_shows_it_and_the_product_needs_no_memory():
    x, w, b = arrays((64, 32, 16), "float64")
    staged = graphify.function(dense)
    staged(x, w, b)
    text = str(staged.get_concrete_function(x, w, b).lower())
    assert "for each i, j when it is done:" in text
    assert "allocate" not in text


def test_gradients_through_epilogues():
    x, w, b = arrays((9, 8, 7), "float64")
    loss = lambda w: (np.tanh(x @ w + b) ** 2).sum()  # noqa: E731
    got = graphify.grad(graphify.function(loss))(w)
    y = np.tanh(x @ w + b)
    assert_close(np.asarray(got), x.T @ (2 * y * (1 - y * y)))


def test_what_is_updated_in_between_is_not_passed():
    def between(x, w, b):
        y = x @ w
        b[0] = 5.0
        return y + b

    x, w, b = arrays((6, 5, 4), "float64")
    twin = b.copy()
    want = between(x, w, twin)
    np.testing.assert_allclose(graphify.function(between)(x, w, b), want)
    np.testing.assert_array_equal(b, twin)
