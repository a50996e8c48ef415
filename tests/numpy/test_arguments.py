"""Arguments that a table of values does not show: out=, where=, storage, odd arrays, bad input."""

import math
import warnings
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import graphify
import graphify.numpy as gnp
from graphify.errors import ConcreteValueNeeded, ShapeError, SpecError
from graphify.ir.context import recording
from graphify.ir.graph import Builder
from graphify.ir.interpret import run
from graphify.ir.tensor import Tensor, value_in
from graphify.ir.types import Spec
from tests.tolerances import assert_close


def traced(function: Any, *arrays: Any) -> Any:
    """A function recorded in a graph, and the graph run."""
    builder = Builder()
    with recording(builder):
        params = [Tensor(builder.param(Spec(a.shape, a.dtype))) for a in map(np.asarray, arrays)]
        results = function(*params)
        results = results if isinstance(results, tuple) else (results,)
        values = [value_in(r, builder) for r in results]
    got = run(builder.finish(values), [np.asarray(a) for a in arrays])
    return got[0] if len(got) == 1 else tuple(got)


BOTH = pytest.mark.parametrize(
    "way", [lambda f, *a: f(*[gnp.array(x) for x in a]), traced], ids=["eager", "traced"]
)

# --- out= and where= ---------------------------------------------------------------------------


def test_out_writes_in_place_and_is_the_result():
    x, out = gnp.arange(3.0), gnp.zeros(3)
    assert gnp.sin(x, out=out) is out
    assert np.add(x, 1, out=out) is out
    assert gnp.add(x, 2, out) is out
    assert_close(out, [2.0, 3.0, 4.0])
    assert gnp.sum(gnp.ones((2, 3)), axis=0, out=out) is out
    assert_close(out, [2.0, 2.0, 2.0])


def test_out_may_be_an_array_which_is_written():
    x, out = gnp.arange(3.0), np.zeros(3)
    result = gnp.multiply(x, 2, out=out)
    assert_close(out, [0.0, 2.0, 4.0])
    assert np.shares_memory(np.asarray(result), out)
    np.cumsum(x, out=out)
    assert_close(out, [0.0, 1.0, 3.0])


@BOTH
def test_out_in_a_trace(way):
    def function(x):
        out = gnp.zeros(3)
        np.add(x, 1, out=out)
        view = out[1:]
        np.multiply(view, 10, out=view)
        return out

    assert_close(way(function, np.arange(3.0)), [1.0, 20.0, 30.0])


def test_out_follows_numpys_casting():
    with pytest.raises(TypeError, match="same_kind"):
        gnp.add(gnp.ones(2), 1, out=gnp.zeros(2, dtype=gnp.int64))
    out = gnp.zeros(2, dtype=gnp.int64)
    gnp.add(gnp.ones(2), 1.6, out=out, casting="unsafe")
    assert_close(out, [2, 2])
    with pytest.raises(TypeError):
        gnp.sum(gnp.ones(2), out=gnp.zeros((), dtype=gnp.int64))


@pytest.mark.parametrize("out", [[0.0, 0.0], 1.0, "x"])
def test_out_must_be_an_array(out):
    with pytest.raises(TypeError, match="out"):
        gnp.add(gnp.ones(2), 1, out=out)


def test_out_of_another_shape():
    with pytest.raises(ValueError):
        gnp.add(gnp.ones(3), 1, out=gnp.zeros(2))
    with pytest.raises(ValueError):
        gnp.sum(gnp.ones((2, 3)), axis=0, out=gnp.zeros((2, 3)))
    wide = gnp.zeros((2, 3))
    assert_close(gnp.add(gnp.ones(3), 1, out=wide), np.full((2, 3), 2.0))


def test_two_results_two_outs():
    whole, rest = gnp.zeros(2), gnp.zeros(2)
    got = gnp.divmod(gnp.array([7.0, 8.0]), 3, out=(whole, rest))
    assert got[0] is whole and got[1] is rest
    assert_close(whole, [2.0, 2.0])
    assert_close(rest, [1.0, 2.0])


@BOTH
def test_where_keeps_out(way):
    def function(x, y):
        out = gnp.full(4, -1.0)
        return gnp.divide(x, y, out=out, where=y != 0)

    assert_close(way(function, np.ones(4), np.array([1.0, 0.0, 2.0, 0.0])), [1.0, -1.0, 0.5, -1.0])


def test_where_without_out_is_zero_elsewhere():
    assert_close(gnp.log(gnp.array([0.0, 1.0, math.e]), where=[False, True, True]), [0.0, 0.0, 1.0])


def test_gradient_through_where_is_finite():
    def loss(x):
        return gnp.log(x, where=x > 0, out=gnp.zeros(3)).sum()

    assert_close(graphify.grad(loss)(gnp.array([0.0, 1.0, 2.0])), [0.0, 1.0, 0.5])


# --- at ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "maximum", "minimum"])
def test_at_counts_repeated_indices(name):
    want, got = np.arange(4.0), gnp.arange(4.0)
    getattr(np, name).at(want, [0, 2, 2], [1.0, 5.0, -3.0])
    getattr(np, name).at(got, [0, 2, 2], [1.0, 5.0, -3.0])
    assert_close(got, want)


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "maximum", "minimum"])
def test_at_in_a_trace(name):
    def function(x, i):
        y = gnp.copy(x)
        getattr(gnp, name).at(y, i, 3.0)
        return y

    want, index = np.arange(4.0), np.array([0, 2, 2])
    got = traced(function, want, index)
    getattr(np, name).at(want, index, 3.0)
    assert_close(got, want)


def test_at_of_any_ufunc_on_known_tensors():
    x = gnp.arange(4.0)
    np.negative.at(x, [1, 1, 2])
    assert_close(x, [0.0, 1.0, -2.0, 3.0])


# --- storage -----------------------------------------------------------------------------------


def test_asarray_shares_and_array_copies():
    host = np.arange(3.0)
    assert np.shares_memory(np.asarray(gnp.asarray(host)), host)
    assert not np.shares_memory(np.asarray(gnp.array(host)), host)
    t = gnp.asarray(host)
    assert gnp.asarray(t) is t and gnp.array(t) is not t
    t[0] = 9
    assert host[0] == 9
    with pytest.raises(ValueError):
        gnp.array([1, 2], copy=False)


@pytest.mark.parametrize(
    "function",
    [
        gnp.copy,
        gnp.array,
        gnp.positive,
        gnp.round,
        gnp.nan_to_num,
        lambda x: gnp.clip(x, None, None),
        lambda x: x.astype(x.dtype),
        lambda x: x.flatten(),
        lambda x: gnp.sum(x, axis=()),
        lambda x: gnp.max(x, axis=()),
        lambda x: gnp.diff(x, prepend=0.0),
        lambda x: gnp.full_like(x, x),
        lambda x: gnp.meshgrid(x)[0],
        lambda x: gnp.sort(x),
        lambda x: gnp.stack([x])[0],
        lambda x: gnp.array([x])[0],
    ],
)
def test_results_have_storage_of_their_own(function):
    for x in (gnp.arange(3.0), gnp.arange(3)):
        y = function(x)
        before = x.numpy().copy()
        y[...] = 77
        assert_close(x, before)


@pytest.mark.parametrize("name", ["zeros", "ones", "empty", "full", "eye", "tri"])
def test_new_arrays_can_be_written(name):
    x = gnp.full((3, 3), 0) if name == "full" else getattr(gnp, name)(3)
    x[0] = 5
    assert int(np.asarray(x).ravel()[0]) == 5
    assert getattr(gnp, name)(*((3, 1) if name == "full" else (3,))).numpy().flags.writeable


def test_real_and_imag_are_views():
    z = gnp.array([1 + 2j, 3 + 4j])
    z.real[0] = 9
    z.imag = 0
    assert_close(z, [9 + 0j, 3 + 0j])
    with pytest.raises(TypeError):
        gnp.ones(2).imag = 1


def test_sort_method_sorts_in_place():
    x = gnp.array([[3, 1, 2], [9, 7, 8]])
    assert x.sort() is None
    assert_close(x, [[1, 2, 3], [7, 8, 9]])
    x[0].sort()
    x.fill(4)
    assert_close(x, np.full((2, 3), 4))


# --- unusual arrays ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["sum", "sort", "cumsum", "sin", "mean", "unique", "argmax", "diff"]
)
@pytest.mark.parametrize(
    "array",
    [
        np.arange(12.0).reshape(3, 4)[::2, ::-1],
        np.asfortranarray(np.arange(12.0).reshape(3, 4)),
        np.arange(6.0).astype(">f8"),
        np.arange(6).astype(">i4"),
        np.broadcast_to(np.arange(3.0), (2, 3)),
        np.lib.stride_tricks.sliding_window_view(np.arange(5.0), 3),
        np.arange(6, dtype=np.longlong),
    ],
    ids=["strided", "fortran", "big-endian", "big-endian int", "broadcast", "windows", "longlong"],
)
def test_any_memory_layout(name, array):
    want = getattr(np, name)(array)
    got = getattr(gnp, name)(array)
    assert_close(got, np.asarray(want).astype(np.asarray(want).dtype.newbyteorder("=")))
    assert np.asarray(got).dtype.isnative


def test_read_only_arrays_stay_read_only():
    array = np.arange(3.0)
    array.flags.writeable = False
    x = gnp.asarray(array)
    assert_close(x + 1, [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="read-only"):
        x[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        x += 1
    with pytest.raises(ValueError, match="read-only"):
        gnp.add(x, 1, out=x)


def test_a_converted_copy_cannot_be_written_by_mistake():
    """A foreign byte order needs a copy; writing to it would not reach the array."""
    array = np.arange(3.0).astype(">f8")
    with pytest.raises(ValueError, match="read-only"):
        gnp.asarray(array)[0] = 1
    gnp.array(array)[0] = 1


@pytest.mark.parametrize("kind", [np.matrix, np.ma.array])
def test_subclasses_with_another_meaning_are_refused(kind):
    with pytest.raises(TypeError, match="numpy"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            array = (
                np.zeros((2, 2)).view(np.matrix) if kind is np.matrix else kind([1, 2], mask=[0, 1])
            )
        gnp.sum(array)


def test_bfloat16():
    x = gnp.array([1.0, 2.0, 4.0], dtype=gnp.bfloat16)
    assert x.dtype == ml_dtypes.bfloat16
    for result in (
        x + x,
        gnp.sum(x),
        gnp.sqrt(x),
        x.max(),
        gnp.cumsum(x),
        x * 2,
        gnp.where(x > 1, x, 0),
    ):
        assert result.dtype == ml_dtypes.bfloat16
    assert float(gnp.sum(x)) == 7.0
    assert gnp.mean(x).dtype == ml_dtypes.bfloat16


# --- bad input ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [
        "abc",
        b"abc",
        None,
        {},
        {1, 2},
        object(),
        ["a", "b"],
        [None],
        np.array(["a"]),
        np.array([None]),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
@pytest.mark.parametrize("name", ["asarray", "sum", "sin", "sort", "zeros_like", "mean"])
def test_what_is_no_array_of_numbers_is_refused(name, value):
    with pytest.raises(TypeError):
        getattr(gnp, name)(value)


def test_ragged_lists_are_refused():
    with pytest.raises(ValueError, match="ragged"):
        gnp.array([[1, 2], [3]])
    with pytest.raises(ValueError, match="ragged"):
        gnp.array([gnp.ones(2), gnp.ones(3)])


@pytest.mark.parametrize("value", [2**64, -(2**63) - 1, 10**30])
def test_python_ints_too_large(value):
    for function in (
        gnp.asarray,
        gnp.sin,
        lambda v: gnp.array([v]),
        lambda v: gnp.ones(2, gnp.int8) + v,
    ):
        with pytest.raises(OverflowError):
            function(value)


def test_python_int_that_does_not_fit_the_dtype():
    with pytest.raises(OverflowError, match="int8"):
        gnp.add(gnp.ones(2, dtype=gnp.int8), 1000)
    with pytest.raises(OverflowError):
        gnp.array(300, dtype=gnp.uint8)
    with pytest.raises(OverflowError):
        gnp.full(2, -1, dtype=gnp.uint8)


@pytest.mark.parametrize("dtype", ["S3", "U2", object, "M8[s]", np.longdouble, [("a", int)]])
def test_dtypes_that_graphs_lack(dtype):
    for function in (lambda: gnp.zeros(3, dtype=dtype), lambda: gnp.ones(3).astype(dtype)):
        with pytest.raises(TypeError):
            function()


@pytest.mark.parametrize("shape", [-1, (2, -3), 2.5, "3", (2, None)])
def test_bad_shapes(shape):
    with pytest.raises((TypeError, ValueError)):
        gnp.zeros(shape)


@pytest.mark.parametrize("axis", [2, -3, "x", 1.5, (0, 0), (0, 5)])
@pytest.mark.parametrize("name", ["sum", "max", "mean", "any", "median"])
def test_bad_axes(name, axis):
    with pytest.raises((TypeError, ValueError, IndexError)):
        getattr(gnp, name)(gnp.ones((2, 3)), axis=axis)


def test_empty_extremes_fail_when_they_run():
    with pytest.raises(ValueError, match="no identity"):
        gnp.max(gnp.zeros((0,)))
    unused = traced(lambda x: (x.sum(), gnp.max(x))[0], np.zeros(0))
    assert float(unused) == 0.0


def test_where_of_a_reduction_must_be_boolean():
    with pytest.raises(TypeError, match="boolean"):
        gnp.sum(gnp.ones(3), where=[1, 0, 1])


# --- Python scalars ----------------------------------------------------------------------------


def test_functions_settle_the_dtype_of_python_numbers():
    for value, dtype in ((True, "bool"), (2, "int64"), (2.5, "float64"), (1j, "complex128")):
        result = gnp.asarray(value)
        assert result.dtype == dtype and not result.spec.weak
    assert gnp.add(1, 2).dtype == gnp.int64 and not gnp.add(1, 2).spec.weak
    assert (gnp.ones(2, gnp.float32) * gnp.multiply(2.0, 1.0)).dtype == gnp.float64
    assert (gnp.ones(2, gnp.float32) * 2.0).dtype == gnp.float32


def test_float32_may_be_preferred():
    with graphify.config.dtype_promotion(prefer_float32=True):
        for made in (
            gnp.zeros(2),
            gnp.arange(2.0),
            gnp.linspace(0, 1, 3),
            gnp.array([1.0, 2.0]),
            gnp.eye(2),
        ):
            assert made.dtype == gnp.float32
        assert gnp.array([1j]).dtype == gnp.complex64
        assert gnp.array(np.array([1.0])).dtype == gnp.float64  # an array has its dtype already


def test_item_and_friends():
    x = gnp.array([[1.5, 2.5]])
    assert x.item(1) == 2.5 and type(x.item(0)) is float
    assert x.tolist() == [[1.5, 2.5]]
    assert (x.size, x.nbytes, x.itemsize) == (2, 16, 8)
    assert math.floor(gnp.array(2.5)) == 2 and round(gnp.array(2.567), 2) == 2.57
    with pytest.raises(ValueError):
        x.item()


def test_membership_is_of_elements():
    x = gnp.array([[1, 2], [3, 4]])
    assert 3 in x and 7 not in x


# --- symbolic tensors --------------------------------------------------------------------------


def test_symbolic_tensors_do_not_leave_the_graph():
    def leaks(function):
        with pytest.raises(ConcreteValueNeeded):
            traced(lambda x: function(x), np.ones(2))

    leaks(lambda x: x.numpy())
    leaks(lambda x: float(x[0]))


def test_functions_without_a_version_here():
    assert_close(np.i0(gnp.array([0.0, 1.0])), np.i0(np.array([0.0, 1.0])))
    with pytest.raises(SpecError, match="numpy.i0"):
        traced(np.i0, np.ones(2))
    with pytest.raises(AttributeError, match="NumPy has it"):
        gnp.busday_count


def test_sizes_may_be_traced():
    def function(n):
        return (
            gnp.zeros((n, 2)),
            gnp.arange(n),
            gnp.linspace(0, 1, n),
            gnp.eye(n),
            gnp.full(n, 7),
            gnp.tri(n),
        )

    for n in (0, 1, 4):
        got = traced(function, np.array(n))
        want = (
            np.zeros((n, 2)),
            np.arange(n),
            np.linspace(0, 1, n),
            np.eye(n),
            np.full(n, 7),
            np.tri(n),
        )
        for g, w in zip(got, want, strict=True):
            assert_close(g, w)


def test_lists_of_tensors_are_stacked():
    for way in (lambda f, *a: f(*map(gnp.array, a)), traced):
        got = way(lambda x: gnp.array([[x[0], 1], [2.5, x.sum()]]), np.arange(3))
        assert_close(got, [[0.0, 1.0], [2.5, 3.0]])
        got = way(lambda x: gnp.sum([x, x * 2], axis=0), np.arange(3))
        assert_close(got, [0, 3, 6])


def test_error_names_argument_expected_and_got():
    with pytest.raises(ValueError, match=r"shapes \(2,\) \(3,\)"):
        gnp.add(gnp.ones(2), gnp.ones(3))
    with pytest.raises(ShapeError, match=r"shapes \(2,\) \(3,\)"):
        traced(gnp.add, np.ones(2), np.ones(3))


# --- arrays of other libraries -----------------------------------------------------------------


class Foreign:
    """An array object of a library graphify has never heard of."""

    def __init__(self, values: Any) -> None:
        self.values = np.array(values)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.values, dtype=dtype)


def test_foreign_arrays_are_read_anew_at_each_call():
    foreign = Foreign([1.0, 2.0])
    f = graphify.function(lambda x: x + gnp.sum(foreign))
    assert float(f(gnp.array(1.0))) == 4.0
    foreign.values = np.array([10.0, 20.0])
    assert float(f(gnp.array(1.0))) == 31.0


@pytest.mark.tensorflow
def test_tensorflow_tensors_and_variables():
    tf = pytest.importorskip("tensorflow")
    x = gnp.array(tf.constant([1.0, 2.0]))
    x[0] = 5
    assert_close(x, np.array([5.0, 2.0], np.float32))
    with pytest.raises(ValueError, match="read-only"):
        gnp.asarray(tf.constant([1.0, 2.0]))[0] = 1
    variable = tf.Variable([1.0, 2.0])
    f = graphify.function(lambda x: x * variable)
    assert_close(f(gnp.array(2.0, gnp.float32)), np.array([2.0, 4.0], np.float32))
    variable.assign([3.0, 4.0])
    assert_close(f(gnp.array(2.0, gnp.float32)), np.array([6.0, 8.0], np.float32))


@pytest.mark.parametrize("call", ["subtract", "divmod"])
def test_the_dtypes_of_out_are_looked_at_before_the_shapes(call: str) -> None:
    """Where both do not fit, the error is the one of NumPy."""

    def plain(x: Any, y: Any) -> Any:
        out = np.zeros(3, int)
        return getattr(np, call)(x, y, out=out if call == "subtract" else (out, None))

    for x, y in ((np.ones(3), np.ones(5)), (np.ones(3, int), np.ones(5, int))):
        with pytest.raises((TypeError, ValueError)) as wanted:
            plain(x, y)
        for compute in (graphify.function(plain), lambda x, y: plain(x, gnp.array(y))):
            with pytest.raises(TypeError if issubclass(wanted.type, TypeError) else ValueError):
                compute(x, y)


AT = {
    "column": lambda a, x, k: np.subtract.at(a, (slice(None), k), x),
    "row": lambda a, x, k: np.add.at(a, (k, slice(None)), x),
    "dots and a list": lambda a, x, k: np.add.at(a, (..., [0, 0]), 1.0),
    "list of a traced place": lambda a, x, k: np.multiply.at(a, (slice(None), [0, 0, k]), 2.0),
    "slices": lambda a, x, k: np.add.at(a, (slice(1, None), slice(None, k)), 2.0),
    "one operand": lambda a, x, k: np.negative.at(a, ([k, 0, k],)),
    "list of values": lambda a, x, k: np.maximum.at(a, ([k, 1], 0), [x[0], 90.0]),
}


@pytest.mark.parametrize("name", AT)
def test_keys_of_at(name: str) -> None:
    """Slices and lists in a key; of an argument, of an array made here, and of one outside."""
    outside = np.zeros((4, 4))

    def argument(a: Any, x: Any, k: Any) -> Any:
        AT[name](a, x, k)
        return a

    def made(a: Any, x: Any, k: Any) -> Any:
        z = np.arange(16.0).reshape(4, 4)
        AT[name](z, x, k)
        return z

    def global_(a: Any, x: Any, k: Any) -> Any:
        AT[name](outside, x, k)
        return outside

    for plain in (argument, made, global_):
        results = []
        for f in (plain, graphify.function(plain)):
            outside[:] = np.arange(16.0).reshape(4, 4) % 5.0
            a = np.arange(16.0).reshape(4, 4)
            results.append((np.array(f(a, np.arange(4.0), np.int64(2))), a, outside.copy()))
        for want, got in zip(*results, strict=True):
            np.testing.assert_array_equal(got, want)
