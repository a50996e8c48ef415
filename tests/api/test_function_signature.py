"""Which calls share a trace: shapes, numbers, containers, objects, input_signature."""

import collections
import dataclasses
import threading

import numpy as np
import pytest

import graphify
from graphify import TensorSpec
from graphify.errors import GraphifyError, TraceError

Point = collections.namedtuple("Point", "x y")


@dataclasses.dataclass
class Pair:
    a: object
    b: object


def traces(f):
    return len(f.concrete_functions)


# --- shapes -------------------------------------------------------------------------------------


def test_a_second_shape_generalises_and_a_third_is_free():
    @graphify.function
    def f(x):
        return x.sum() * x.shape[0]

    for n in (3, 4, 5, 6, 1, 0):
        assert float(f(np.ones(n))) == n * n
    assert traces(f) == 2
    assert f.traces()[1].cause == "argument `x`, axis 0: 3 -> 4"


def test_only_the_axis_that_changed_is_symbolic():
    @graphify.function
    def f(x):
        return x @ x.T

    f(np.ones((2, 3)))
    f(np.ones((4, 3)))
    assert f.concrete_functions[1].pattern.dims[0][1] == 3
    f(np.ones((5, 3)))
    assert traces(f) == 2
    f(np.ones((5, 7)))
    f(np.ones((8, 9)))
    assert traces(f) == 3


def test_equal_axes_stay_equal_then_split():
    @graphify.function
    def f(x, y):
        return x.sum() + y.sum()

    f(np.ones(3), np.ones(3))
    f(np.ones(4), np.ones(4))
    assert f.concrete_functions[-1].pattern.dims == (("n",), ("n",))
    f(np.ones(5), np.ones(5))
    assert traces(f) == 2
    assert float(f(np.ones(5), np.ones(6))) == 11.0
    assert float(f(np.ones(7), np.ones(8))) == 15.0
    assert traces(f) == 3


def test_a_split_size_still_checks_what_must_be_equal():
    @graphify.function
    def f(x, y):
        return x + y

    f(np.ones(3), np.ones(3))
    f(np.ones(4), np.ones(4))
    with pytest.raises(ValueError, match="broadcast"):
        f(np.ones(4), np.ones(5))
    assert f(np.ones(4), np.ones(1)).shape == (4,)
    assert f(np.ones(1), np.ones(6)).shape == (6,)


def test_length_one_axes_broadcast_after_generalisation():
    @graphify.function
    def f(x, y):
        return x * y

    for n, m in [(3, 3), (4, 4), (1, 4), (4, 1), (1, 1), (0, 1), (0, 0)]:
        want = np.ones((n, 2)) * np.ones((m, 2))
        assert np.array_equal(f(np.ones((n, 2)), np.ones((m, 2))), want)


def test_dynamic_true_is_general_at_once():
    @graphify.function(dynamic=True)
    def f(x):
        return x.sum(axis=0)

    for shape in [(2, 3), (4, 5), (0, 3), (1, 1)]:
        assert np.array_equal(f(np.ones(shape)), np.ones(shape).sum(axis=0))
    assert traces(f) == 1


def test_dynamic_false_never_generalises():
    @graphify.function(dynamic=False)
    def f(x):
        return x * 2

    for n in (1, 2, 3):
        f(np.ones(n))
    assert traces(f) == 3
    assert all(c.pattern.is_exact for c in f.concrete_functions)


def test_a_function_that_needs_sizes_stays_exact_and_right():
    @graphify.function
    def f(x):
        return np.zeros(int(x.shape[0])) + len(list(range(x.shape[0])))

    for n in (2, 3, 4):
        assert np.array_equal(f(np.ones(n)), np.zeros(n) + n)


def test_rank_and_dtype_are_part_of_the_signature():
    @graphify.function
    def f(x):
        return x * 2

    for x in [np.ones(2), np.ones((2, 2)), np.ones(2, np.float32), np.ones(2, int), np.array(1.0)]:
        assert f(x).dtype == x.dtype and f(x).shape == x.shape
    assert traces(f) == 5
    assert "float64 of rank 1 -> " in f.traces()[1].cause or "of rank 2" in f.traces()[1].cause


# --- Python numbers -----------------------------------------------------------------------------


def test_numbers_are_static_until_the_third_value():
    @graphify.function
    def f(x, k):
        return x * k

    x = np.ones(2, np.float32)
    for k in (2, 3, 4, 5, 6, 7):
        got = f(x, k)
        assert got.dtype == np.float32 and got.numpy().tolist() == [k, k]
    assert traces(f) == 3


def test_a_generalised_number_is_weak_and_kinds_stay_apart():
    @graphify.function
    def f(x, k):
        return x * k, k + 1

    x = np.ones(2, np.int32)
    for k in (2, 3, 4, 5):
        got, more = f(x, k)
        assert got.dtype == np.int32 and type(more) is int and more == k + 1
    for k in (2.5, 3.5, 4.5, 5.5):
        got, more = f(x, k)
        assert got.dtype == np.float64 and type(more) is float and more == k + 1


def test_numbers_that_the_function_needs_stay_static():
    @graphify.function
    def f(x, n):
        return np.concatenate((x,) * n)

    for n in (1, 2, 3, 4, 5):
        assert f(np.ones(2), n).shape == (2 * n,)
    assert traces(f) == 5


def test_range_over_a_generalised_number():
    @graphify.function
    def f(x, n):
        for i in range(n):
            x = x + i
        return x

    for n in (1, 2, 3, 4, 0, 9):
        assert float(f(np.array(0.0), n)) == sum(range(n))


def test_reduce_retracing_generalises_at_the_second_value():
    @graphify.function(reduce_retracing=True)
    def f(x, k):
        return x + k

    for k in range(5):
        assert float(f(np.array(1.0), k)) == 1 + k
    assert traces(f) == 2


def test_booleans_and_numbers_are_told_apart():
    @graphify.function
    def f(x, flag):
        return x + 1 if flag is True else x - 1

    assert float(f(np.array(0.0), True)) == 1.0
    assert float(f(np.array(0.0), 1)) == -1.0
    assert float(f(np.array(0.0), 1.0)) == -1.0
    assert float(f(np.array(0.0), False)) == -1.0


def test_minus_zero_and_nan():
    @graphify.function
    def f(x, k):
        return np.copysign(x, k)

    assert float(f(np.array(1.0), 0.0)) == 1.0
    assert float(f(np.array(1.0), -0.0)) == -1.0
    g = graphify.function(lambda x, k: x + k)
    for _ in range(3):
        assert np.isnan(float(g(np.array(1.0), float("nan"))))
    assert traces(g) == 1


def test_huge_integers():
    @graphify.function
    def f(x, k):
        return x * (k % 7)

    for k in (2**70, 2**70 + 1, 2**70 + 2, 2**70 + 3, -(2**65)):
        assert float(f(np.array(1.0), k)) == k % 7

    g = graphify.function(lambda x, k: x + k)
    with pytest.raises(OverflowError):
        g(np.zeros(2, np.uint8), 300)
    with pytest.raises(OverflowError):
        g(np.zeros(2, np.int64), 2**70)
    assert g(np.zeros(2), 2**70).numpy().tolist() == [2.0**70] * 2
    for k in (1, 2, 3, 4):
        assert g(np.zeros(2, np.uint8), k).dtype == np.uint8
    for form in (np.asarray, lambda k: np.array([k, 1])):
        with pytest.raises(OverflowError, match="of 16610 bits> is too large"):
            graphify.numpy.asarray(form(10**5000).tolist())
    with pytest.raises(OverflowError):
        g(np.zeros(2, np.uint8), 300)  # not wrapped, now that the number is traced
    with pytest.raises(OverflowError):
        g(np.zeros(2, np.uint8), -1)
    with pytest.raises(OverflowError):
        g(np.zeros(2, np.int64), 2**70)


def test_numpy_scalars_are_arrays():
    @graphify.function
    def f(x, k):
        return x * k

    got = f(np.ones(2, np.float32), np.float64(2))
    assert got.dtype == np.float64
    assert f(np.ones(2, np.float32), np.float32(3)).dtype == np.float32
    f(np.ones(2, np.float32), np.float32(4))
    assert traces(f) == 2
    assert isinstance(f(np.float32(2), np.float32(2)), graphify.Tensor)


def test_strings_and_none_are_static():
    @graphify.function
    def f(x, mode, extra=None):
        if mode == "sum":
            return x.sum()
        return x if extra is None else x + extra

    assert float(f(np.ones(3), "sum")) == 3.0
    assert f(np.ones(3), "id").shape == (3,)
    assert f(np.ones(3), "id", np.ones(3)).numpy().tolist() == [2.0] * 3
    assert traces(f) == 3
    f(np.ones(3), "sum")
    assert traces(f) == 3


# --- containers and objects ---------------------------------------------------------------------


def test_containers_are_trees():
    @graphify.function
    def f(data):
        return {"sum": data["xs"][0] + data["xs"][1], "p": Point(data["p"].y, data["p"].x)}

    for n in (2, 3):
        got = f({"xs": [np.ones(n), np.ones(n)], "p": Point(1, np.zeros(n))})
        assert got["sum"].numpy().tolist() == [2.0] * n
        assert got["p"].y == 1 and isinstance(got["p"], Point)


def test_dataclasses():
    @graphify.function
    def f(pair):
        return Pair(pair.b * 2, pair.a)

    got = f(Pair(1, np.ones(2)))
    assert isinstance(got, Pair) and got.b == 1 and got.a.numpy().tolist() == [2.0, 2.0]
    got = f(Pair("k", np.ones(2)))
    assert got.b == "k"
    assert traces(f) == 2


def test_another_structure_is_another_trace():
    @graphify.function
    def f(xs):
        total = 0
        for x in xs:
            total = total + x
        return total

    assert float(f([np.array(1.0), np.array(2.0)])) == 3.0
    assert float(f((np.array(1.0), np.array(2.0)))) == 3.0
    assert float(f([np.array(1.0)] * 3)) == 3.0
    assert traces(f) == 3
    assert f.traces()[1].cause == "arguments of another structure"


def test_lists_of_numbers_are_static_numbers():
    @graphify.function
    def f(x, axes):
        return np.transpose(x, axes)

    assert f(np.ones((2, 3, 4)), [2, 0, 1]).shape == (4, 2, 3)
    assert f(np.ones((2, 3, 4)), [0, 1, 2]).shape == (2, 3, 4)


def test_empty_containers():
    @graphify.function
    def f(x, extras):
        return x + len(extras)

    assert float(f(np.array(1.0), [])) == 1.0
    assert float(f(np.array(1.0), {})) == 1.0
    assert float(f(np.array(1.0), ())) == 1.0


def test_dict_order_counts_as_python_has_it():
    @graphify.function
    def f(d):
        return [k for k in d], sum(d.values())

    assert f({"a": np.array(1.0), "b": np.array(2.0)})[0] == ["a", "b"]
    assert f({"b": np.array(2.0), "a": np.array(1.0)})[0] == ["b", "a"]


class Config:
    def __init__(self, k):
        self.k = k


def test_objects_by_identity():
    @graphify.function
    def f(x, c):
        return x * c.k

    one, two = Config(1), Config(2)
    for _ in range(2):
        assert float(f(np.array(1.0), one)) == 1.0
        assert float(f(np.array(1.0), two)) == 2.0
    assert traces(f) == 2
    one.k = 7
    assert float(f(np.array(1.0), one)) == 7.0


def test_functions_by_code_and_closure():
    def scaled(by):
        return lambda v: v * by

    @graphify.function
    def f(x, g):
        return g(x)

    assert float(f(np.array(1.0), scaled(2))) == 2.0
    assert float(f(np.array(1.0), scaled(2))) == 2.0
    assert traces(f) == 1
    assert float(f(np.array(1.0), scaled(3))) == 3.0
    assert traces(f) == 2


def test_functions_with_equal_code_and_other_defaults():
    def make(default):
        def g(v, k=default):
            return v * k

        return g

    @graphify.function
    def f(x, g):
        return g(x)

    assert float(f(np.array(1.0), make(2))) == 2.0
    assert float(f(np.array(1.0), make(3))) == 3.0


def test_functions_with_array_closures_are_by_reference():
    def scaled(w):
        return lambda v: v * w

    @graphify.function
    def f(x, g):
        return g(x)

    a, b = np.array(2.0), np.array(3.0)
    assert float(f(np.array(1.0), scaled(a))) == 2.0
    assert float(f(np.array(1.0), scaled(b))) == 3.0
    a[...] = 5.0
    assert float(f(np.array(1.0), scaled(a))) == 5.0


def test_types_and_modules_as_arguments():
    @graphify.function
    def f(x, dtype, xp):
        return xp.sin(x).astype(dtype)

    assert f(np.ones(2), np.float32, np).dtype == np.float32
    assert f(np.ones(2), np.float64, np).dtype == np.float64


def test_an_enum_argument():
    import enum

    class Mode(enum.Enum):
        ADD = 1
        SUB = 2

    class Level(enum.IntEnum):
        LOW = 1
        HIGH = 2

    @graphify.function
    def f(x, mode, level):
        return x + level if mode is Mode.ADD else x - level

    assert float(f(np.array(0.0), Mode.ADD, Level.LOW)) == 1.0
    assert float(f(np.array(0.0), Mode.SUB, Level.HIGH)) == -2.0


def test_a_generator_argument_is_refused():
    f = graphify.function(lambda xs: sum(xs))
    with pytest.raises(GraphifyError, match="xs.*generator"):
        f(np.ones(1) for _ in range(3))


@pytest.mark.parametrize(
    "bad",
    [
        np.array(["a"]),
        np.array([1, "x"], object),
        np.array("2020-01-01", "datetime64[D]"),
        np.zeros(1, "V8"),
    ],
)
def test_foreign_dtypes_are_refused_by_name(bad):
    f = graphify.function(lambda x: x)
    with pytest.raises(TypeError, match="argument x: .*dtype"):
        f(bad)


# --- input_signature ----------------------------------------------------------------------------


def test_input_signature_serves_all_sizes():
    @graphify.function(input_signature=[TensorSpec((None, 3), np.float64)])
    def f(x):
        return x.sum(axis=0)

    for n in (1, 2, 5, 0):
        assert f(np.ones((n, 3))).numpy().tolist() == [n] * 3
    assert traces(f) == 1


@pytest.mark.parametrize(
    "bad",
    [
        np.ones(3),
        np.ones((2, 4)),
        np.ones((2, 3, 1)),
        np.ones((2, 3), np.float32),
        "text",
        None,
        [[1, 2]],
    ],
)
def test_input_signature_refuses(bad):
    @graphify.function(input_signature=[TensorSpec((None, 3), np.float64, "data")])
    def f(x):
        return x

    with pytest.raises((TypeError, ValueError), match="argument.*expected"):
        f(bad)


def test_input_signature_converts_python_values():
    @graphify.function(
        input_signature=[TensorSpec((None,), np.float32), TensorSpec((), np.float32)]
    )
    def f(x, y):
        return x * y

    got = f([1, 2, 3], 2)
    assert got.dtype == np.float32 and got.numpy().tolist() == [2.0, 4.0, 6.0]
    assert f([1.5], 0.5).numpy().tolist() == [0.75]
    assert traces(f) == 1


def test_input_signature_does_not_truncate():
    f = graphify.function(lambda x: x, input_signature=[TensorSpec((), np.int64)])
    with pytest.raises((TypeError, ValueError), match="argument"):
        f(2.5)
    g = graphify.function(lambda x: x, input_signature=[TensorSpec((), np.uint8)])
    with pytest.raises((OverflowError, TypeError, ValueError)):
        g(300)


def test_input_signature_named_sizes():
    spec = [TensorSpec(("n",), np.float64), TensorSpec(("n",), np.float64)]
    f = graphify.function(lambda x, y: x + y, input_signature=spec)
    assert f(np.ones(3), np.ones(3)).shape == (3,)
    with pytest.raises((TypeError, ValueError), match="n"):
        f(np.ones(3), np.ones(4))


def test_input_signature_counts_arguments():
    f = graphify.function(lambda x, y: x + y, input_signature=[TensorSpec((2,))] * 2)
    with pytest.raises(TypeError, match="y"):
        f(np.ones(2, np.float32))
    g = graphify.function(lambda x, y, z: x, input_signature=[TensorSpec((2,))])
    with pytest.raises(TypeError, match="input_signature"):
        g(np.ones(2), np.ones(2), np.ones(2))


def test_input_signature_with_keywords_and_defaults():
    f = graphify.function(lambda x, k=2.0: x * k, input_signature=[TensorSpec((None,), np.float64)])
    assert f(x=np.ones(2)).numpy().tolist() == [2.0, 2.0]


def test_input_signature_of_a_method():
    class Net(graphify.Module):
        def __init__(self):
            self.w = graphify.Variable(np.ones(3))

        @graphify.function(input_signature=[TensorSpec((None, 3), np.float64)])
        def __call__(self, x):
            return x @ self.w

    net = Net()
    assert net(np.ones((2, 3))).numpy().tolist() == [3.0, 3.0]
    assert net(np.ones((4, 3))).shape == (4,)
    net.w.assign(np.zeros(3))
    assert net(np.ones((2, 3))).numpy().tolist() == [0.0, 0.0]


@pytest.mark.parametrize("shape", [(-1,), (1.5,), ("",), (True,), "n", 3])
def test_tensor_spec_shapes(shape):
    with pytest.raises((TypeError, ValueError), match="TensorSpec"):
        TensorSpec(shape)


def test_tensor_spec_dtypes():
    assert TensorSpec((2,), "int32").dtype == np.int32
    with pytest.raises(TypeError, match="dtype"):
        TensorSpec((2,), "U3")


# --- concrete functions -------------------------------------------------------------------------


def test_get_concrete_function_of_arrays_and_specs():
    @graphify.function
    def f(x, k):
        return x * k

    a = f.get_concrete_function(np.ones(3), 2)
    b = f.get_concrete_function(TensorSpec((3,), np.float64), 2)
    assert a is b
    general = f.get_concrete_function(TensorSpec((None,), np.float64), 2)
    assert general is not a
    for n in (0, 3, 5):
        assert general(np.ones(n)).numpy().tolist() == [2.0] * n
    assert f.concrete_functions == [a, general]


def test_a_concrete_function_refuses_other_arrays():
    concrete = graphify.function(lambda x: x * 2).get_concrete_function(np.ones(3))
    for bad in (np.ones(4), np.ones((3, 1)), np.ones(3, np.float32), "text", None):
        with pytest.raises((TypeError, ValueError)):
            concrete(bad)
    with pytest.raises(TypeError, match="1 arrays"):
        concrete()


def test_pretty_printed_signatures():
    @graphify.function
    def f(x, k):
        return {"y": x * k}

    f(np.ones((2, 3), np.float32), 2)
    text = f.pretty_printed_concrete_signatures()
    assert "f(x: float32(2, 3), k=2)" in text
    assert "result['y']: Tensor(shape=(2, 3), dtype=float32)" in text


# --- limits and reports -------------------------------------------------------------------------


def test_max_traces():
    @graphify.function(max_traces=2)
    def f(x, mode):
        return x

    f(np.ones(1), "a")
    f(np.ones(1), "b")
    with pytest.raises(TraceError, match="max_traces=2.*'b' -> 'c'"):
        f(np.ones(1), "c")
    f(np.ones(1), "a")
    assert traces(f) == 2


def test_on_retrace_warn():
    @graphify.function(on_retrace="warn")
    def f(x, mode):
        return x

    f(np.ones(1), "a")
    with pytest.warns(UserWarning, match="'a' -> 'b'") as caught:
        f(np.ones(1), "b")
    assert caught[0].filename == __file__


def test_on_retrace_error():
    @graphify.function(on_retrace="error")
    def f(x, mode):
        return x

    f(np.ones(1), "a")
    for _ in range(2):
        with pytest.raises(TraceError, match="'a' -> 'b'"):
            f(np.ones(1), "b")
    assert traces(f) == 1


def test_on_retrace_callable():
    records = []
    f = graphify.function(lambda x, mode: x, on_retrace=records.append)
    f(np.ones(1), "a")
    f(np.ones(1), "b")
    assert [r.cause for r in records] == ["argument `mode`: 'a' -> 'b'"]


def test_trace_records():
    @graphify.function
    def f(x):
        return x

    f(np.ones(3))
    (record,) = f.traces()
    assert record.cause == "first call" and record.seconds > 0
    assert record.location.startswith("test_function_signature.py:")
    assert record.signature == "x: float64(3,)"


def test_explain():
    @graphify.function
    def f(x, mode="a"):
        return x

    assert "first call" in f.explain(np.ones(3))
    assert traces(f) == 0
    f(np.ones(3))
    assert "hits trace 1 of 1" in f.explain(np.ones(3))
    assert "axis 0: 3 -> 4" in f.explain(np.ones(4))
    assert "'a' -> 'b'" in f.explain(np.ones(3), "b")
    assert traces(f) == 1


# --- threads ------------------------------------------------------------------------------------


def test_two_threads_trace_once():
    count = []
    barrier = threading.Barrier(8)

    @graphify.function
    def f(x):
        count.append(1)
        return x * 2

    results = []

    def work():
        barrier.wait()
        results.append(f(np.ones(3)).numpy().tolist())

    threads = [threading.Thread(target=work) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == [[2.0] * 3] * 8
    assert traces(f) == 1 and len(count) == 1


def test_the_same_array_twice_is_not_two_arrays():
    @graphify.function
    def f(x, y):
        x += 1
        return y * 2

    a = np.zeros(2)
    assert f(a, a).numpy().tolist() == [2.0, 2.0]
    assert a.tolist() == [1.0, 1.0]
    b = np.zeros(2)
    assert f(a, b).numpy().tolist() == [0.0, 0.0]
    assert a.tolist() == [2.0, 2.0]
