"""Control flow, effects and errors on the TensorFlow engine, on graphs built by hand."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import graphify
from graphify.engines.base import get_engine
from graphify.engines.tensorflow.graph_def import as_graph_def, graph_def_inputs, graph_def_outputs
from graphify.errors import InvalidArgumentError, LoweringError
from graphify.ir.graph import Graph
from graphify.ir.op import REGISTRY, defop
from graphify.ir.sizes import fresh
from graphify.ir.types import Spec
from graphify.ops.control import call, cond, loop, map_, while_
from graphify.ops.core import reshape
from graphify.ops.effects import Raise, Text, assert_, check, print_, raise_
from graphify.ops.elementwise import add, greater, less, multiply, negative
from graphify.ops.indexing import gather, nonzero, slice_
from graphify.ops.operators import nonzero_divisor
from graphify.ops.shape import concatenate, expand_dims, size_value
from tests.engines.graphs import F64, I64, graph_of, scalar
from tests.tolerances import assert_close

pytestmark = pytest.mark.tensorflow


def both(graph: Graph, *inputs: Any) -> list[Any]:
    """TensorFlow's results, which equal the reference's."""
    arrays = [np.asarray(i) for i in inputs]
    want = get_engine("reference").compile(graph)(arrays)
    got = get_engine("tensorflow").compile(graph)(arrays)
    for g, w in zip(got, want, strict=True):
        assert_close(g, w)
    return got


def error_of(engine: str, graph: Graph, *inputs: Any) -> BaseException:
    with pytest.raises(Exception) as caught:  # any class: the caller compares it
        get_engine(engine).compile(graph)([np.asarray(i) for i in inputs])
    return caught.value


def same_error(graph: Graph, *inputs: Any) -> BaseException:
    """TensorFlow's error, which is of the reference's class, with its message and line."""
    want, got = (error_of(engine, graph, *inputs) for engine in ("reference", "tensorflow"))
    assert type(got) is type(want), got
    assert str(got) == str(want)
    assert __file__ in str(got)
    return got


# --- cond -----------------------------------------------------------------------------------------


def relu_graph() -> Graph:
    true = graph_of(lambda x: x, scalar())
    false = graph_of(lambda x: multiply(x, 0.0), scalar())
    return graph_of(
        lambda x: cond(greater(x, 0.0), x, true=true, false=false), scalar(), names=("x",)
    )


def test_cond_takes_one_branch() -> None:
    assert both(relu_graph(), 3.5) == [3.5]
    assert both(relu_graph(), -3.5) == [0.0]


def test_graph_def_of_cond_has_one_function_per_branch() -> None:
    import tensorflow as tf

    graph = relu_graph()
    graph_def = as_graph_def(graph)
    assert isinstance(graph_def, tf.compat.v1.GraphDef)
    assert [node.op for node in graph_def.node].count("StatelessIf") == 1
    assert len(graph_def.library.function) == 2
    assert graph_def_inputs(graph) == ["x:0"]
    (output,) = graph_def_outputs(graph)
    assert output == "Identity:0"
    pruned = tf.compat.v1.wrap_function(
        lambda: tf.graph_util.import_graph_def(graph_def, name=""), []
    ).prune("x:0", output)
    assert float(pruned(tf.constant(7.0, tf.float64))) == 7.0
    assert float(pruned(tf.constant(-7.0, tf.float64))) == 0.0


def test_functions_are_named_by_content() -> None:
    names = [
        {f.signature.name for f in as_graph_def(g).library.function}
        for g in (relu_graph(), relu_graph())
    ]
    assert names[0] == names[1]
    other = graph_of(
        lambda x: cond(
            greater(x, 0.0),
            x,
            true=graph_of(negative, scalar()),
            false=graph_of(lambda x: multiply(x, 0.0), scalar()),
        ),
        scalar(),
    )
    functions = {f.signature.name for f in as_graph_def(other).library.function}
    assert functions != names[0]
    assert both(relu_graph(), 2.0) + both(other, 2.0) + both(relu_graph(), 2.0) == [2.0, -2.0, 2.0]


def test_nested_cond() -> None:
    inner = relu_graph()
    outer = graph_of(
        lambda x: cond(
            less(x, 10.0),
            x,
            true=graph_of(lambda x: call(x, body=inner), scalar()),
            false=graph_of(lambda x: multiply(x, 2.0), scalar()),
        ),
        scalar(),
    )
    assert [both(outer, v)[0] for v in (-1.0, 3.0, 20.0)] == [0.0, 3.0, 40.0]


def test_an_error_in_the_other_branch_does_not_happen() -> None:
    x = Spec((3,), F64)
    true = graph_of(lambda x, i: gather(x, i, axes=(0,)), x, scalar(I64))
    false = graph_of(lambda x, i: multiply(gather(x, 0, axes=(0,)), 0.0), x, scalar(I64))
    graph = graph_of(lambda x, i: cond(less(i, 3), x, i, true=true, false=false), x, scalar(I64))
    assert both(graph, np.arange(3.0), 2) == [2.0]
    assert both(graph, np.arange(3.0), 7) == [0.0]
    same_error(graph, np.arange(3.0), -7)


# --- while, loop, map, call -----------------------------------------------------------------------


def test_while_with_constants() -> None:
    two = (scalar(), scalar())
    graph = graph_of(
        lambda x, limit: while_(
            x,
            limit,
            cond=graph_of(less, *two),
            body=graph_of(lambda x, limit: multiply(x, 2.0), *two),
            carry=1,
        ),
        *two,
    )
    assert both(graph, 1.0, 100.0) == [128.0]
    assert both(graph, 200.0, 100.0) == [200.0]


def test_while_that_grows_an_array() -> None:
    inside = Spec((fresh("k"),), F64)
    body = graph_of(lambda n, x: (add(n, 1), concatenate(x, x, axis=0)), scalar(I64), inside)
    test = graph_of(lambda n, x: less(n, 3), scalar(I64), inside)
    graph = graph_of(
        lambda n, x: while_(n, x, cond=test, body=body, carry=2), scalar(I64), Spec((2,), F64)
    )
    count, grown = both(graph, 0, np.array([1.0, 2.0]))
    assert count == 3
    assert grown.shape == (16,)


def test_loop_carries_and_stacks() -> None:
    row = Spec((4,), F64)
    body = graph_of(
        lambda i, total, x, c: (add(total, x), multiply(add(total, x), c)),
        scalar(I64),
        row,
        row,
        scalar(),
    )
    n = fresh("n")
    graph = graph_of(
        lambda t, xs, c: loop(t, xs, c, length=n, body=body, carry=1, xs=1),
        row,
        Spec((n, 4), F64),
        scalar(),
    )
    for rows in (3, 1, 0):
        xs = np.arange(4.0 * rows).reshape(rows, 4)
        _, stacked = both(graph, np.ones(4), xs, 2.0)
        assert stacked.shape == (rows, 4)


def test_loop_of_no_turns_knows_the_length_of_its_rows() -> None:
    n, inner = fresh("n"), fresh("m")
    body = graph_of(lambda i, c: negative(c), scalar(I64), Spec((inner,), F64))
    graph = graph_of(
        lambda c, k: loop(c, length=k.dims[0], body=body, carry=0, xs=0),
        Spec((fresh("m"),), F64),
        Spec((n,), F64),
    )
    (rows,) = get_engine("tensorflow").compile(graph)([np.ones(5), np.ones(0)])
    assert rows.shape == (0, 5)


def test_map_over_rows() -> None:
    body = graph_of(lambda i, x: multiply(x, add(i, 1)), scalar(I64), Spec((3,), F64))
    graph = graph_of(lambda xs: map_(xs, length=2, body=body, xs=1), Spec((2, 3), F64))
    both(graph, np.arange(6.0).reshape(2, 3))


# --- sizes ----------------------------------------------------------------------------------------


def test_one_graph_serves_every_size() -> None:
    n, m = fresh("n"), fresh("m")

    def function(x: Any) -> Any:
        n, m = x.dims
        half = slice_(x, key=((n // 2, n - n // 2, 1), (m - 1, m, -1)))
        return reshape(half, shape=(m * (n - n // 2),)), size_value(size=n * m - 3)

    graph = graph_of(function, Spec((n, m), F64))
    executables = [get_engine(e).compile(graph) for e in ("reference", "tensorflow")]
    for shape in [(4, 3), (1, 1), (5, 2), (7, 4)]:
        x = np.arange(float(np.prod(shape))).reshape(shape)
        want, got = (e([x]) for e in executables)
        for g, w in zip(got, want, strict=True):
            assert_close(g, w)


def test_a_size_known_only_at_run_time() -> None:
    def function(x: Any) -> Any:
        (where,) = nonzero(x)
        return reshape(where, shape=(1, *where.dims)), size_value(size=where.dims[0] * 2)

    graph = graph_of(function, Spec((fresh("n"),), F64))
    found, twice = both(graph, np.array([0.0, 2.0, 0.0, 5.0]))
    assert found.tolist() == [[1, 3]]
    assert twice == 4


def test_a_graph_without_results() -> None:
    assert both(graph_of(lambda x: None, scalar()), 1.0) == []


def test_arguments_that_do_not_fit_are_refused() -> None:
    n = fresh("n")
    executable = get_engine("tensorflow").compile(graph_of(add, Spec((n,), F64), Spec((n,), F64)))
    with pytest.raises(ValueError, match="expected shape"):
        executable([np.ones(3), np.ones(4)])
    with pytest.raises(TypeError, match="expected dtype float64, got int64"):
        executable([np.ones(3), np.ones(3, np.int64)])
    with pytest.raises(TypeError, match="expected 2 arrays"):
        executable([np.ones(3)])


# --- errors ---------------------------------------------------------------------------------------


def test_index_out_of_bounds() -> None:
    graph = graph_of(lambda x, i: gather(x, i, axes=(1,)), Spec((2, 3), F64), Spec((2,), I64))
    both(graph, np.ones((2, 3)), [-3, 2])
    same_error(graph, np.ones((2, 3)), [0, 3])
    same_error(graph, np.ones((2, 3)), [-4, 9])
    scalar_key = graph_of(
        lambda x, i: slice_(x, i, key=(("at", 0),)), Spec((fresh("n"),), F64), scalar(I64)
    )
    both(scalar_key, np.arange(3.0), -1)
    same_error(scalar_key, np.arange(3.0), 3)
    same_error(scalar_key, np.zeros(0), -1)


def test_what_nobody_needs_does_not_fail() -> None:
    def function(x: Any) -> Any:
        nonzero_divisor(x)
        return negative(x)

    assert both(graph_of(function, scalar()), 0.0) == [0.0]


def test_python_errors_inside_loops() -> None:
    body = graph_of(lambda i, x: nonzero_divisor(add(x, -1.0)), scalar(I64), scalar())
    graph = graph_of(lambda x: loop(x, length=5, body=body, carry=1, xs=0), scalar())
    assert both(graph, 9.0) == [4.0]
    error = same_error(graph, 3.0)
    assert isinstance(error, ZeroDivisionError)


def test_integer_powers() -> None:
    graph = graph_of(lambda a, b: REGISTRY["power"](a, b), scalar(I64), scalar(I64))
    assert both(graph, 3, 39) == [3**39]
    same_error(graph, 3, -1)


def test_shapes_that_do_not_fit_at_run_time() -> None:
    graph = graph_of(lambda x, y: add(x, y), Spec((fresh("n"),), F64), Spec((fresh("m"),), F64))
    both(graph, np.ones(3), np.ones(1))
    error = error_of("tensorflow", graph, np.ones(3), np.ones(2))
    assert isinstance(error, ValueError)
    assert __file__ in str(error)


def test_singular_matrix() -> None:
    graph = graph_of(lambda a: REGISTRY["inv"](a), Spec((2, 2), F64))
    same_error(graph, np.ones((2, 2)))


def test_an_op_without_a_form_is_refused() -> None:
    op = defop("test_no_form", spec=lambda x: x, eval=lambda x: x)
    try:
        graph = graph_of(lambda x: op(x), scalar())
        with pytest.raises(LoweringError, match="test_no_form") as caught:
            get_engine("tensorflow").compile(graph)
        assert __file__ in str(caught.value)
    finally:
        del REGISTRY["test_no_form"]


# --- effects --------------------------------------------------------------------------------------


class CustomError(Exception):
    """An exception with more than a message."""


def test_print_in_program_order(capsys: pytest.CaptureFixture[str]) -> None:
    def function(x: Any) -> None:
        print_(x, text=Text(("x is", None)), end="\n", stream="stdout")
        print_(add(x, 1.0), text=Text((None, "after"), "-"), end="!\n", stream="stdout")

    graph = graph_of(function, Spec((2,), F64))
    for engine in ("reference", "tensorflow"):
        get_engine(engine).compile(graph)([np.array([0.5, 2.0])])
        assert capsys.readouterr().out == "x is [0.5 2. ]\n[1.5 3. ]-after!\n"


def test_print_only_on_the_taken_branch_and_each_turn(capsys: pytest.CaptureFixture[str]) -> None:
    def shout(i: Any, x: Any) -> Any:
        print_(i, text=Text(("turn", None)), end="\n", stream="stdout")
        return add(x, 1.0)

    body = graph_of(shout, scalar(I64), scalar())
    looped = graph_of(lambda x: loop(x, length=3, body=body, carry=1, xs=0), scalar())
    graph = graph_of(
        lambda x: cond(
            greater(x, 0.0), x, true=looped, false=graph_of(lambda x: multiply(x, 1.0), scalar())
        ),
        scalar(),
    )
    assert get_engine("tensorflow").compile(graph)([np.asarray(1.0)]) == [4.0]
    assert capsys.readouterr().out == "turn 0\nturn 1\nturn 2\n"
    assert get_engine("tensorflow").compile(graph)([np.asarray(-1.0)]) == [-1.0]
    assert capsys.readouterr().out == ""


def test_raise_gives_the_users_own_exception() -> None:
    def fail(x: Any) -> Any:
        raise_(x, exception=Raise(CustomError, (Text(("bad", None)), 7)))
        return x

    graph = graph_of(
        lambda x: cond(
            less(x, 0.0), x, true=graph_of(fail, scalar()), false=graph_of(negative, scalar())
        ),
        scalar(),
    )
    assert get_engine("tensorflow").compile(graph)([np.asarray(2.0)]) == [-2.0]
    error = same_error(graph, -2.0)
    assert type(error) is CustomError
    assert "bad -2.0" in str(error)


def test_assert_and_check() -> None:
    def function(x: Any) -> Any:
        assert_(
            greater(x, 0.0), x, exception=Raise(AssertionError, (Text(("not positive:", None)),))
        )
        check(x, 10.0, comparison="less", message="too large")
        return negative(x)

    graph = graph_of(function, Spec((2,), F64))
    both(graph, [1.0, 2.0])
    assert isinstance(same_error(graph, [1.0, -2.0]), AssertionError)
    assert isinstance(same_error(graph, [1.0, 12.0]), InvalidArgumentError)


def test_effects_leave_for_stock_tensorflow(capfd: pytest.CaptureFixture[str]) -> None:
    import tensorflow as tf

    def function(x: Any) -> Any:
        print_(x, text=Text(("got", None)), end="\n", stream="stderr")
        assert_(
            greater(x, 0.0), x, exception=Raise(AssertionError, (Text(("not positive:", None)),))
        )
        return negative(x)

    graph = graph_of(function, scalar(), names=("x",))
    pruned = tf.compat.v1.wrap_function(
        lambda: tf.graph_util.import_graph_def(as_graph_def(graph), name=""), []
    ).prune("x:0", graph_def_outputs(graph))
    assert float(pruned(tf.constant(2.0, tf.float64))[0]) == -2.0
    assert capfd.readouterr().err.strip().endswith("got 2")
    with pytest.raises(tf.errors.InvalidArgumentError, match="AssertionError at .*not positive"):
        pruned(tf.constant(-2.0, tf.float64))


def test_random_draws_in_order_and_refused_for_export() -> None:
    from graphify.ops.random import Source, random_draw

    def function(generator: Any) -> Graph:
        source = Source(generator)
        attrs = {"source": source, "method": "normal", "size": (2,), "shape": (2,), "dtype": F64}
        return graph_of(
            lambda m, s: [random_draw(m, s, **attrs), random_draw(m, s, **attrs)],
            scalar(),
            scalar(),
        )

    graph = function(np.random.default_rng(3))
    first, second = get_engine("tensorflow").compile(graph)([np.asarray(1.0), np.asarray(2.0)])
    rng = np.random.default_rng(3)
    assert_close(first, rng.normal(1.0, 2.0, 2))
    assert_close(second, rng.normal(1.0, 2.0, 2))
    with pytest.raises(LoweringError, match="cannot be written out"):
        as_graph_def(graph)


def test_two_threads_share_an_executable() -> None:
    executable = get_engine("tensorflow").compile(graph_of(lambda x: nonzero_divisor(x), scalar()))
    results: dict[int, Any] = {}

    def work(k: int) -> None:
        try:
            results[k] = float(executable([np.asarray(float(k))])[0])
        except ZeroDivisionError:
            results[k] = "zero"

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {0: "zero", **{k: float(k) for k in range(1, 8)}}


def test_empty_rows_and_new_axes() -> None:
    graph = graph_of(lambda x: expand_dims(x, 1), Spec((fresh("n"),), F64))
    both(graph, np.zeros(0))


def test_generators_made_in_a_run_are_of_that_run() -> None:
    """Host functions run in threads of TensorFlow's own; two runs at once have two generators."""

    def program(seed: Any, n: Any) -> Any:
        rng = np.random.default_rng(seed)
        total = 0.0
        for _ in range(n):
            total = total + rng.random() + rng.choice(3, p=[0.2, 0.3, 0.5])
        return total

    function = graphify.function(program, engine="tensorflow")
    expected = [program(seed, 20) for seed in range(8)]
    function(np.int64(0), np.int64(20))
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda seed: float(function(np.int64(seed), np.int64(20))), range(8)))
    assert found == expected
