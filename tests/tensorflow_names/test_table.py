"""Every function of TensorFlow's in the table gives what TensorFlow gives, on each engine."""

import re
from pathlib import Path

import numpy as np
import pytest

import graphify
from graphify import tree
from graphify.tensorflow.dispatch import OPS, api_names
from tests.tolerances import assert_close

tf = pytest.importorskip("tensorflow")

from tests.tensorflow_names.rows import ROWS  # noqa: E402  # needs TensorFlow

pytestmark = pytest.mark.tensorflow

# TensorFlow's own results are this much less precise than the dtype allows.
LOSS = 20.0

# What must be known while tracing: ranks, numbers of results and of indices.
NEEDS_SIZES = {
    "debugging.assert_rank", "gather_nd", "linalg.cross", "scatter_nd", "squeeze", "unstack",
    "tensor_scatter_nd_add", "tensor_scatter_nd_max", "tensor_scatter_nd_min",
    "tensor_scatter_nd_sub", "tensor_scatter_nd_update",
}  # fmt: skip

# TensorFlow halves their derivatives between the two triangles, of which the lower one is read.
SYMMETRIC = {"linalg.cholesky", "linalg.cholesky_solve", "linalg.logdet"}

CASES = [name for name in ROWS if ROWS[name]]


def arrays(values):
    return [np.asarray(v) for v in values]


def by_tensorflow(function, args):
    return [np.asarray(x) for x in tf.nest.flatten(function(*map(tf.constant, args)))]


def agree(got, want):
    got = tree.leaves(got)
    assert len(got) == len(want)
    for g, w in zip(got, want, strict=True):
        assert_close(g, w, loss=LOSS)


def test_every_entry_is_here():
    assert sorted(ROWS) == sorted(OPS)


@pytest.mark.parametrize("name", CASES)
def test_as_in_tensorflow(name):
    for function, given in ROWS[name]:
        args = arrays(given)
        staged = graphify.function(function, engine="reference")
        agree(staged(*args), by_tensorflow(function, args))


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("engine", ["native", "tensorflow"])
def test_on_the_other_engines(name, engine):
    function, given = ROWS[name][-1]
    args = arrays(given)
    agree(graphify.function(function, engine=engine)(*args), by_tensorflow(function, args))


@pytest.mark.parametrize("name", [n for n in CASES if n not in NEEDS_SIZES])
def test_of_sizes_that_the_run_tells(name):
    function, given = ROWS[name][0]
    args = arrays(given)
    specs = [graphify.TensorSpec((None,) * a.ndim, a.dtype) for a in args]
    staged = graphify.function(function, engine="reference").get_concrete_function(*specs)
    agree(staged(*args), by_tensorflow(function, args))


@pytest.mark.parametrize("name", CASES)
def test_under_vmap(name):
    function, given = ROWS[name][0]
    args = arrays(given)
    staged = graphify.function(function, engine="reference")
    lanes = graphify.vmap(staged)(*[np.stack([a, a]) for a in args])
    agree(tree.map_structure(lambda x: x[1], lanes), by_tensorflow(function, args))


@pytest.mark.parametrize("name", CASES)
def test_gradients(name):
    function, given = ROWS[name][0]
    args = arrays(given)
    places = [i for i, a in enumerate(args) if a.dtype == np.float64]
    tensors = [tf.constant(a) for a in args]
    with tf.GradientTape() as tape:
        tape.watch([tensors[i] for i in places])
        results = tf.nest.flatten(function(*tensors))
        floats = [x for x in results if x.dtype.is_floating or x.dtype.is_complex]
        total = sum(tf.reduce_sum(tf.sin(tf.cast(tf.math.real(x), tf.float64))) for x in floats)
    if not places or not floats:
        return  # only floats have derivatives
    expected = tape.gradient(total, [tensors[i] for i in places])

    def loss(*args):
        made = tree.leaves(graphify.function(function, engine="reference")(*args))
        return sum(np.sin(np.real(x).astype(float)).sum() for x in made if x.dtype.kind in "fc")

    got = graphify.grad(loss, argnums=tuple(places))(*args)
    for g, w, place in zip(got, expected, places, strict=True):
        want = np.zeros_like(args[place]) if w is None else np.asarray(tf.convert_to_tensor(w))
        if name in SYMMETRIC and place == 0:
            g, want = g + g.T, want + want.T
        np.testing.assert_allclose(g, want, rtol=1e-6, atol=1e-6)


def test_the_page_lists_every_name():
    page = (Path(__file__).parents[2] / "docs/tensorflow.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| ")]
    listed = re.findall(r"`tf\.([\w.]+)`", " ".join(rows))
    shortest = {min(names_of(name), key=len) for name in OPS}
    assert sorted(listed) == sorted(shortest)


def names_of(name):
    """TensorFlow's names of the function that an entry is for."""
    function = tf
    for part in name.split("."):
        function = getattr(function, part)
    assert name in api_names(function)
    return api_names(function)
