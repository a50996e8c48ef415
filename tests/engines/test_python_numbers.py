"""Traced Python numbers are exact or an error on every engine: nothing wraps around."""

import operator
from typing import Any

import numpy as np
import pytest

import graphify
from graphify.engines.base import get_engine
from graphify.errors import IntegerOverflow
from graphify.ir.op import REGISTRY
from graphify.ir.types import Spec
from tests.engines.graphs import F64, I64, graph_of

ENGINES = ["reference", pytest.param("tensorflow", marks=pytest.mark.tensorflow)]
LOW, HIGH = -(2**63), 2**63 - 1
INTEGERS = [LOW, LOW + 1, -(2**62), -(2**32), -3037000500, -7, -2, -1]
INTEGERS += [0, 1, 2, 3, 5, 31, 39, 40, 62, 63, 64, 2**31, 3037000499, 2**32, 2**62, HIGH]
BINARY = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "floor_divide": operator.floordiv,
    "left_shift": operator.lshift,
    "right_shift": operator.rshift,
    "power": operator.pow,
}


def in_python(name: str, a: int, b: int) -> Any:
    """The result, or the class of the error."""
    if name == "power" and b < 0:
        return ValueError
    if b > 64 and (name == "left_shift" or name == "power" and abs(a) > 1):
        return IntegerOverflow if a else 0
    if name == "power" and abs(a) <= 1:
        return a ** (b % 2 + 2) if b else 1
    try:
        exact = BINARY[name](a, b)
    except (ValueError, ZeroDivisionError, OverflowError) as error:
        return type(error)
    return exact if LOW <= exact <= HIGH else IntegerOverflow


def executable(name: str, engine: str, dtype: Any, count: int) -> Any:
    weak = Spec((), dtype, True)
    graph = graph_of(lambda *xs: REGISTRY[name](*xs), *[weak] * count)
    assert graph.specs[0].weak
    return get_engine(engine).compile(graph)


def outcome(run: Any, *values: Any) -> Any:
    try:
        (result,) = run([np.asarray(value) for value in values])
    except (ValueError, ArithmeticError) as error:
        return type(error)
    return result.item()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", BINARY)
def test_integers(name: str, engine: str) -> None:
    run = executable(name, engine, I64, 2)
    for a in INTEGERS:
        for b in INTEGERS:
            assert outcome(run, a, b) == in_python(name, a, b), (a, b)


@pytest.mark.parametrize("engine", ENGINES)
def test_negative_and_absolute(engine: str) -> None:
    for name, function in (("negative", operator.neg), ("absolute", abs)):
        run = executable(name, engine, I64, 1)
        for x in INTEGERS:
            want = IntegerOverflow if x == LOW else function(x)
            assert outcome(run, x) == want, (name, x)


@pytest.mark.parametrize("engine", ENGINES)
def test_float_powers(engine: str) -> None:
    run = executable("power", engine, F64, 2)
    values = [0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 3.0, 1e200, -1e200, np.inf, -np.inf, np.nan]
    for a in values:
        for b in values:
            try:
                want: Any = a**b
            except ArithmeticError as error:
                want = type(error)
            want = ValueError if isinstance(want, complex) else want
            got = outcome(run, a, b)
            both_nan = isinstance(want, float) and np.isnan(want) and np.isnan(got)
            assert both_nan or got == want, (a, b)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_error_names_the_numbers_and_the_line(engine: str) -> None:
    @graphify.function(engine=engine)
    def of_array(x: Any) -> Any:
        n = int(x[0])
        if n > 0:
            n = n + n
        return n

    assert int(of_array(np.array([2**61]))) == 2**62
    with pytest.raises(
        OverflowError, match=r"4611686018427387904 \+ 4611686018427387904"
    ) as caught:
        of_array(np.array([2**62]))
    assert "n = n + n" in "".join([str(caught.value), *getattr(caught.value, "__notes__", [])])


@pytest.mark.parametrize("engine", ENGINES)
def test_loops(engine: str) -> None:
    @graphify.function(engine=engine)
    def factorial(n: Any) -> Any:
        product, i = 1, 1
        while i <= n[0]:
            product = product * i
            i += 1
        return product

    assert int(factorial(np.array([20]))) == 2432902008176640000
    with pytest.raises(OverflowError):
        factorial(np.array([21]))


@pytest.mark.parametrize("engine", ENGINES)
def test_what_nobody_computes_does_not_overflow(engine: str) -> None:
    @graphify.function(engine=engine)
    def choose(x: Any) -> Any:
        n = int(x[0])
        return n * n if n < 10 else n

    assert int(choose(np.array([2**40]))) == 2**40


@pytest.mark.parametrize("engine", ENGINES)
def test_batches(engine: str) -> None:
    weak = Spec((3,), I64, True)
    graph = graph_of(lambda a, b: REGISTRY["multiply"](a, b), weak, weak)
    run = get_engine(engine).compile(graph)
    a = np.array([1, 2, 3])
    assert run([a, a])[0].tolist() == [1, 4, 9]
    with pytest.raises(OverflowError, match="does not fit into 64 bits"):
        run([np.array([1, 2**40, 3]), np.array([1, 2**40, 3])])


@pytest.mark.parametrize("engine", ENGINES)
def test_int_of_every_lane(engine: str) -> None:
    @graphify.function(engine=engine)
    def whole(x: Any) -> Any:
        return graphify.vmap(lambda row: int(row))(x)

    assert whole(np.array([3.7, -1.2])).numpy().tolist() == [3, -1]
    for bad, error in ((np.nan, ValueError), (np.inf, OverflowError), (1e20, OverflowError)):
        with pytest.raises(error):
            whole(np.array([1.0, bad]))


@pytest.mark.parametrize("engine", ENGINES)
def test_arrays_wrap_around_as_numpy_has_it(engine: str) -> None:
    add = graphify.function(lambda x: x + x, engine=engine)
    assert add(np.array([2**62])).numpy().tolist() == [-(2**63)]


@pytest.mark.tensorflow
def test_an_exported_graph_fails_too(tmp_path: Any) -> None:
    import tensorflow as tf

    class Model(graphify.Module):
        @graphify.function(input_signature=[graphify.TensorSpec((1,), np.int64)])
        def twice(self, x: Any) -> Any:
            n = int(x[0])
            return {"n": n + n}

    graphify.saved_model.save(Model(), str(tmp_path))
    twice = tf.saved_model.load(str(tmp_path)).twice
    assert int(twice(tf.constant([2**61]))["n"]) == 2**62
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not fit into the 64 bits"):
        twice(tf.constant([2**62]))


def _to_an_element(x, s):
    x[0] = s + 0.0
    return x


def _to_a_slice(x, s):
    x[:2] = np.square(s)
    return x


def _to_all(x, s):
    x[...] = -s
    return x


@pytest.mark.parametrize("program", [_to_an_element, _to_a_slice, _to_all])
@pytest.mark.parametrize("value", [2.75, -3e5, np.nan, np.inf, 1e30])
@pytest.mark.parametrize("engine", ["reference", "native", "eager"])
def test_numpys_floats_become_integers_of_an_array(program, value, engine) -> None:
    """NumPy takes the `int` of its own float numbers: NaN raises, where an array is cast."""
    staged = graphify.function(program, engine="reference" if engine == "eager" else engine)
    with graphify.config(eager=engine == "eager"):
        try:
            want = program(np.arange(4), np.float64(value))
        except (ValueError, OverflowError) as error:
            with pytest.raises(type(error)):
                staged(np.arange(4), np.float64(value))
        else:
            np.testing.assert_array_equal(staged(np.arange(4), np.float64(value)), want)


def float_to_complex(a, b):
    return float(a) ** complex(b)


def complex_to_int(a, b):
    return complex(a) ** int(b.real)


def complex_to_float(a, b):
    return complex(a) ** float(b.real)


def complex_to_complex(a, b):
    return complex(a) ** complex(b)


def complex_to_a_constant(a, b):
    return complex(a) ** -1 if b.real < 0 else complex(a) ** 2


def constant_to_complex(a, b):
    return 0.0 ** complex(b)


COMPLEX_POWERS = [
    *(float_to_complex, complex_to_int, complex_to_float, complex_to_complex),
    *(complex_to_a_constant, constant_to_complex),
]


@pytest.mark.parametrize("engine", ["reference", "native", "tensorflow"])
@pytest.mark.parametrize("f", COMPLEX_POWERS)
def test_zero_to_a_negative_or_complex_power(f, engine):
    staged = graphify.function(f, engine=engine)
    failed = 0
    for base in (0.0, -0.0, 1.5, -2.0):
        for power in (-2.0, -1.0, 0.0, 0.5, 3.0, 1j, 1 - 2j):
            args = np.float64(base), np.complex128(power)
            try:
                want = f(*args)
            except ZeroDivisionError as error:
                failed += 1
                with pytest.raises(ZeroDivisionError) as caught:
                    staged(*args)
                assert str(caught.value).splitlines()[0] == str(error)
            else:
                got = staged(*args)
                assert type(got) is complex
                np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)
    assert failed
