"""Effects keep program order, happen on taken branches only, and survive pruning."""

import numpy as np
import pytest

import graphify
from graphify import Variable


def printed(capsys, function, *args):
    """What the plain function prints, and what two staged calls print."""
    function(*args)
    want = capsys.readouterr().out
    staged = graphify.function(function)
    texts = []
    for _ in range(2):
        staged(*args)
        texts.append(capsys.readouterr().out)
    return want, texts


def prints_value(x):
    y = x * 2
    print("y is", y)
    print(y.sum(), x.dtype, sep=", ", end="!\n")
    return y


def prints_in_branch(x):
    if x.sum() > 0:
        print("positive", x.sum())
    else:
        print("negative")
    return x


def prints_in_loop(x):
    for i, v in enumerate(x):
        print(i, v)
    return x


def prints_in_long_loop(x):
    for i in range(20):
        x = x + i
        print(i, x.sum())
    return x


def prints_in_while(x):
    n = 0
    while x.sum() < 100:
        x = x * 2
        n += 1
        print("turn", n, "sum", x.sum())
    return n


def prints_in_callee(x):
    def note(v):
        print("note:", v)

    note(x.sum())
    if x.sum() > 0:
        note(x.max())
    return x


def prints_formatted(x):
    print(f"sum={x.sum()} max={x.max()}")
    print("list", [x.sum(), 1], (x.max(),), {"k": x.min()}, [x])
    print(f"{x.sum():.3f} and {x.max():>10}", str(x.sum()) + "!", len(x))
    if x.sum() > 0:
        print(f"{x.min():6.2f}|", [len(x), x.shape])
    return x


def prints_unused(x):
    y = x + 1
    print(y)
    return 3


def prints_python_numbers(x):
    for i in range(12):
        if i % 3 == 0:
            print(i, i / 2, i > 3, x[0] > 0)
    return x


FUNCTIONS = [
    prints_value,
    prints_in_branch,
    prints_in_loop,
    prints_in_long_loop,
    prints_in_while,
    prints_in_callee,
    prints_unused,
    prints_python_numbers,
    prints_formatted,
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize(
    "x", [np.array([1.0, 2.5, 3.0]), np.arange(1.0, 11.0)], ids=["short", "long"]
)
def test_print(capsys, function, x):
    want, texts = printed(capsys, function, x)
    assert texts == [want, want]


def test_print_on_the_other_branch(capsys):
    want, texts = printed(capsys, prints_in_branch, -np.ones(2))
    assert texts == [want, want] == ["negative\n"] * 2


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "?", "c16", "f2"])
def test_print_of_dtypes(capsys, dtype):
    def f(x):
        print(x, x[0], x.T, x.reshape(1, -1))
        return x

    want, texts = printed(capsys, f, np.array([1, 0, 3]).astype(dtype))
    assert texts == [want, want]


def test_effects_in_order(capsys):
    v = Variable(0.0)

    @graphify.function
    def f(x):
        print("before", v.value())
        v.assign_add(x)
        print("after", v.value())
        if x > 1:
            v.assign(v * 2)
            print("doubled", v.value())
        assert v.value() < 100, "too much"
        print("end", x)
        return v.value()

    assert float(f(np.array(2.0))) == 4.0
    assert capsys.readouterr().out == "before 0.0\nafter 2.0\ndoubled 4.0\nend 2.0\n"
    assert float(f(np.array(1.0))) == 5.0
    assert capsys.readouterr().out == "before 4.0\nafter 5.0\nend 1.0\n"
    with pytest.raises(AssertionError, match="too much"):
        f(np.array(99.0))
    assert "end" not in capsys.readouterr().out


def test_print_before_an_error(capsys):
    @graphify.function
    def f(x):
        print("first")
        if x.sum() > 0:
            print("second", x.sum())
            raise ValueError("stop")
        print("third")
        return x

    with pytest.raises(ValueError, match="stop"):
        f(np.ones(2))
    assert capsys.readouterr().out.endswith("second 2.0\n")


def test_graphify_print_runs_each_time(capsys):
    @graphify.function
    def f(x):
        graphify.print("static")
        print("while tracing")
        return x

    f(np.ones(1))
    f(np.ones(1))
    assert capsys.readouterr().out.count("static\n") == 2


def test_variables_in_branches_and_loops():
    v = Variable(np.zeros(2))

    @graphify.function
    def f(x, n):
        for i in range(n):
            if x[i % 2] > 0:
                v.assign_add(x)
        while v.value().sum() > 10:
            v.assign_sub(np.ones(2))
        return v.value()

    assert f(np.array([1.0, -1.0]), 3).numpy().tolist() == [2.0, -2.0]
    assert f(np.array([10.0, 10.0]), 20).numpy().sum() <= 10


def test_an_assert_that_holds_is_not_lost_with_its_result():
    @graphify.function
    def f(x):
        assert x.sum() > 0
        return 1

    assert f(np.ones(2)) == 1
    with pytest.raises(AssertionError):
        f(-np.ones(2))


def test_warnings_warn():
    import warnings

    @graphify.function
    def f(x):
        if x.sum() > 0:
            warnings.warn("large", stacklevel=1)
        return x

    try:
        with pytest.warns(UserWarning, match="large"):
            f(np.ones(2))
    except graphify.errors.GraphifyError:
        pytest.skip("refused with an error")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        f(-np.ones(2))


def test_impure_python_functions_in_staged_branches_are_refused_or_right():
    import random

    @graphify.function
    def f(x):
        if x.sum() > 0:
            return x + random.random()
        return x

    with pytest.raises(graphify.errors.GraphifyError):
        f(np.ones(1))
