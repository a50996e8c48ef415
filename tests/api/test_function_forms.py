"""Everything that can be decorated, and what the decorated thing still is."""

import copy
import functools
import pickle
import traceback

import numpy as np
import pytest

import graphify
from graphify import TensorSpec


def test_a_function():
    @graphify.function
    def double(x):
        """Twice x."""
        return x * 2

    assert np.array_equal(double(np.arange(3)), [0, 2, 4])
    assert double.__name__ == "double" and double.__doc__ == "Twice x."
    assert double.python_function(3) == 6
    assert "double" in repr(double)


def test_with_empty_arguments():
    @graphify.function()
    def f(x):
        return x + 1

    assert f(np.ones(2)).numpy().tolist() == [2.0, 2.0]


def test_results_are_tensors_and_python_values():
    @graphify.function
    def f(x):
        return {"y": x * 2, "n": 3, "name": "f", "none": None}

    got = f(np.ones(2))
    assert isinstance(got["y"], graphify.Tensor)
    assert (got["n"], got["name"], got["none"]) == (3, "f", None)


def test_a_lambda():
    f = graphify.function(lambda x: x + 1)
    assert f(np.ones(2)).numpy().tolist() == [2.0, 2.0]


def test_a_partial():
    def add(x, y, *, scale=1):
        return (x + y) * scale

    f = graphify.function(functools.partial(add, np.ones(2), scale=3))
    assert f(np.ones(2)).numpy().tolist() == [6.0, 6.0]


def test_a_callable_object():
    class Scale:
        def __init__(self, by):
            self.by = by

        def __call__(self, x):
            if x.sum() > 0:
                return x * self.by
            return x

    f = graphify.function(Scale(np.array(3.0)))
    assert f(np.ones(2)).numpy().tolist() == [3.0, 3.0]
    assert f(-np.ones(2)).numpy().tolist() == [-1.0, -1.0]


class Model:
    def __init__(self, scale):
        self.scale = scale

    @graphify.function
    def method(self, x):
        if x.sum() > 0:
            return x * self.scale
        return x - self.scale

    @graphify.function
    @classmethod
    def of_class(cls, x):
        return x + len(cls.__name__)

    @classmethod
    @graphify.function
    def of_class_inside(cls, x):
        return x + len(cls.__name__)

    @staticmethod
    @graphify.function
    def static(x):
        return x * 10

    @graphify.function
    @staticmethod
    def static_outside(x):
        return x * 10


def test_methods_know_their_instance():
    a, b = Model(2.0), Model(3.0)
    x = np.ones(2)
    assert a.method(x).numpy().tolist() == [2.0, 2.0]
    assert b.method(x).numpy().tolist() == [3.0, 3.0]
    assert a.method(-x).numpy().tolist() == [-3.0, -3.0]
    assert Model.method(a, x).numpy().tolist() == [2.0, 2.0]


def test_class_and_static_methods():
    x = np.ones(2)
    assert Model.of_class(x).numpy().tolist() == [6.0, 6.0]
    assert Model(1).of_class(x).numpy().tolist() == [6.0, 6.0]
    assert Model.of_class_inside(x).numpy().tolist() == [6.0, 6.0]
    assert Model.static(x).numpy().tolist() == [10.0, 10.0]
    assert Model(1).static_outside(x).numpy().tolist() == [10.0, 10.0]


def test_a_bound_method_given_to_function():
    class Counter:
        def __init__(self):
            self.w = np.array([1.0, 2.0])

        def predict(self, x):
            return x @ self.w

    f = graphify.function(Counter().predict)
    assert float(f(np.ones(2))) == 3.0


def test_a_method_in_a_subclass_and_super():
    class Base:
        def scale(self, x):
            return x * 2

        @graphify.function
        def run(self, x):
            return self.scale(x) + 1

    class Derived(Base):
        def scale(self, x):
            return super().scale(x) * 5

    assert Base().run(np.ones(1)).numpy().tolist() == [3.0]
    assert Derived().run(np.ones(1)).numpy().tolist() == [11.0]


def test_nested_functions_inline():
    @graphify.function
    def inner(x):
        while x.sum() < 10:
            x = x * 2
        return x

    @graphify.function
    def outer(x):
        return inner(x) + inner(x + 1)

    assert outer(np.array([1.0])).numpy().tolist() == [32.0]
    assert inner.concrete_functions == []
    assert len(outer.concrete_functions) == 1


def test_functions_defined_inside():
    @graphify.function
    def f(x):
        def g(y):
            if y.sum() > 0:
                return y
            return -y

        return g(x) + g(-x)

    assert f(np.array([2.0])).numpy().tolist() == [4.0]


def test_keyword_only_defaults_and_stars():
    @graphify.function
    def f(x, /, y=1, *rest, z, **options):
        total = x + y + z
        for r in rest:
            total = total + r
        return total + options.get("w", 0)

    x = np.ones(1)
    assert f(x, z=1).numpy().tolist() == [3.0]
    assert f(x, 2, x, x, z=x, w=5).numpy().tolist() == [11.0]


def test_wrong_arguments_are_the_functions_own_type_error():
    @graphify.function
    def f(x, y):
        return x + y

    with pytest.raises(TypeError, match="missing 1 required positional argument: 'y'"):
        f(np.ones(1))
    with pytest.raises(TypeError, match="unexpected keyword argument 'w'"):
        f(np.ones(1), np.ones(1), w=2)


def test_mutable_default_array_is_shared_with_the_caller():
    default = np.zeros(2)

    @graphify.function
    def f(x, total=default):
        total += x
        return total.copy()

    f(np.ones(2))
    assert f(np.ones(2)).numpy().tolist() == [2.0, 2.0]
    assert default.tolist() == [2.0, 2.0]


def test_recursion_with_a_static_bound():
    @graphify.function
    def power(x, n):
        if n == 0:
            return x * 0 + 1
        return x * power(x, n - 1)

    assert power(np.array([2.0]), 5).numpy().tolist() == [32.0]
    assert len(power.concrete_functions) == 1


def fact(n):
    if n <= 1:
        return n
    return n * fact(n - 1)


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def is_even(n):
    return True if n == 0 else is_odd(n - 1)


def is_odd(n):
    return False if n == 0 else is_even(n - 1)


def doubled_in_a_loop(x):
    for i in range(20):
        x = x + doubled_in_a_loop(x * i)
    return x


def guarded_fact(n):
    try:
        return n if n <= 1 else n * guarded_fact(n - 1)
    except Exception:
        return n * 0 - 1


@pytest.mark.parametrize("function", [fact, fibonacci, is_even, guarded_fact])
def test_recursion_on_a_traced_value(function):
    assert graphify.function(function)(np.array(4)) == function(4)


def test_a_recursion_that_does_not_end_fails_at_the_run():
    with pytest.raises(RecursionError, match="x = x \\+ doubled_in_a_loop"):
        graphify.function(doubled_in_a_loop)(np.array(4))


def never(n):
    return n * never(n - 1)


def on_every_path(n):
    return on_every_path(n - 1) if n > 0 else on_every_path(n + 1)


@pytest.mark.parametrize(
    "function, line, where",
    [
        (never, "return n * never(n - 1)", "in never"),
        (on_every_path, "else on_every_path(n + 1)", "in on_every_path"),
    ],
)
def test_recursion_without_end_names_the_line(function, line, where):
    with pytest.raises(graphify.errors.DeepRecursion) as caught:
        graphify.function(function)(np.array(4))
    error = caught.value
    assert isinstance(error, RecursionError)
    assert error.message.startswith(f"{function.__name__} calls itself")
    assert line in str(error) and where in str(error)
    assert "write it as a while loop" in error.remedy
    assert len("".join(traceback.format_exception(error)).splitlines()) < 40


def test_recursion_on_the_number_of_a_loop_unrolls_it():
    @graphify.function
    def f(x):
        for _ in range(9):
            for i in range(12):
                x = x + fact(i)
        return x

    assert int(f(np.array(1))) == 1 + 9 * sum(fact(i) for i in range(12))


def test_autograph_false_leaves_the_python_alone():
    @graphify.function(autograph=False)
    def f(x):
        return x * 2 if x.ndim == 1 else x

    assert f(np.ones(2)).numpy().tolist() == [2.0, 2.0]

    @graphify.function(autograph=False)
    def g(x):
        return x * 2 if x.sum() > 0 else x

    with pytest.raises(graphify.errors.ConcreteValueNeeded, match="bool"):
        g(np.ones(2))


@pytest.mark.parametrize("bad", [3, "f", None.__class__, [1]])
def test_what_cannot_be_decorated(bad):
    if callable(bad):
        pytest.skip("a class is callable")
    with pytest.raises(TypeError, match="expected a callable"):
        graphify.Function(bad)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"input_signature": TensorSpec((3,))}, "input_signature"),
        ({"input_signature": [3]}, "input_signature"),
        ({"max_traces": "many"}, "max_traces"),
        ({"max_traces": 0}, "max_traces"),
        ({"on_retrace": "explode"}, "on_retrace"),
        ({"dynamic": "yes"}, "dynamic"),
        ({"engine": 3}, "engine"),
        ({"engine": "abacus"}, "engine"),
        ({"autograph": 1.5}, "autograph"),
        ({"reduce_retracing": "x"}, "reduce_retracing"),
    ],
)
def test_bad_options_are_refused_at_once(options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        graphify.function(lambda x: x, **options)


def test_unknown_option():
    with pytest.raises(TypeError, match="unexpected keyword"):
        graphify.function(lambda x: x, jit=True)


def test_get_concrete_function_of_a_method():
    concrete = Model(2.0).method.get_concrete_function(TensorSpec((2,), np.float64))
    assert concrete(np.ones(2)).numpy().tolist() == [2.0, 2.0]


@graphify.function
def named(x):
    return x[1:], x * 2


class _Holder:
    def __init__(self, w):
        self.w = w
        self.step = graphify.function(self.plain, engine="reference")
        self.other, self.scaled = named, self.staged

    def plain(self, x):
        return x * self.w

    @graphify.function
    def staged(self, x):
        return x + self.w


def test_functions_are_copied_and_pickled_as_those_of_python():
    named(np.ones(3))
    assert copy.copy(named) is copy.deepcopy(named) is pickle.loads(pickle.dumps(named)) is named
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(graphify.function(lambda x: x))
    first = _Holder(np.ones(2))
    first.step(1.0), first.scaled(1.0), first.staged(1.0)
    second = copy.deepcopy(first)
    second.w[:] = 5  # and what is bound to the copy is bound to this
    assert second.other is named and second.step.engine == "reference"
    assert second.step(1.0).numpy().tolist() == [5.0, 5.0]
    assert second.scaled(1.0).numpy().tolist() == [6.0, 6.0]
    assert first.step(1.0).numpy().tolist() == [1.0, 1.0]
    del first.step
    third = pickle.loads(pickle.dumps(first))
    assert third.other is named and third.scaled(1.0).numpy().tolist() == [2.0, 2.0]
    assert third.scaled.__self__ is third


def test_results_can_be_pickled():
    x = np.arange(3.0)
    view, new = named(x)
    again, _ = pickle.loads(pickle.dumps((view, new)))
    view[0] = 7
    assert again.numpy().tolist() == [1.0, 2.0] and x[1] == 7
    assert pickle.loads(pickle.dumps(view)).numpy().tolist() == [7.0, 2.0]
    weights = graphify.Variable(np.ones(2), name="w")
    assert pickle.loads(pickle.dumps(weights)).name == "w"
