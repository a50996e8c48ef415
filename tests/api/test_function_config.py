"""The switches of `graphify.config` that change what a decorated function does."""

import numpy as np
import pytest

import graphify
from graphify import TensorSpec, config


def make():
    calls = []

    @graphify.function
    def f(x):
        calls.append(1)
        return x * 2 if x.sum() > 0 else x

    return f, calls


def test_run_functions_eagerly():
    f, calls = make()
    config.run_functions_eagerly(True)
    try:
        assert config.functions_run_eagerly()
        got = [f(np.ones(2)) for _ in range(3)]
        assert isinstance(got[0], np.ndarray) and len(calls) == 3
        assert f.concrete_functions == []
    finally:
        config.run_functions_eagerly(False)
    f(np.ones(2))
    f(np.ones(2))
    assert len(calls) == 4 and len(f.concrete_functions) == 1


def test_disable():
    f, calls = make()
    with config(disable=True):
        assert isinstance(f(np.ones(2)), np.ndarray)
    assert calls == [1] and f.concrete_functions == []


def test_debug_prints_traces(capsys):
    f, _ = make()
    with config(debug=1):
        f(np.ones(2))
    captured = capsys.readouterr()
    assert "first call" in captured.out + captured.err


def test_debug_prints_converted_code_and_graphs(capsys):
    f = graphify.function(lambda x: x * 2 if x.sum() > 0 else x)  # converted for the first time
    with config(debug=3):
        f(np.ones(2))
    captured = capsys.readouterr()
    text = captured.out + captured.err
    assert "ag." in text and "multiply" in text


def test_check_verifies_every_pass():
    f, _ = make()
    with config(check=True):
        assert f(np.ones(2)).numpy().tolist() == [2.0, 2.0]


def test_passes_and_engine_are_part_of_the_key():
    f, _ = make()
    f(np.ones(2))
    with config(passes="-fold,-algebra"):
        assert f(np.ones(2)).numpy().tolist() == [2.0, 2.0]
    assert len(f.concrete_functions) == 2
    f(np.ones(2))
    assert len(f.concrete_functions) == 2


def test_promotion_modes_retrace():
    f = graphify.function(lambda x, y: x + y)
    x, y = np.ones(2, np.int32), np.ones(2, np.float32)
    assert f(x, y).dtype == np.float64
    assert f(x, y).dtype == np.float64
    with config.dtype_promotion("all"):
        assert f(x, y).dtype == np.float32
    with config.dtype_promotion("strict"), pytest.raises(TypeError, match="strict"):
        f(x, y)
    assert f(x, y).dtype == np.float64


def test_dump(tmp_path):
    f, _ = make()
    with config(dump=str(tmp_path)):
        f(np.ones(2))
    assert list(tmp_path.iterdir())


@pytest.mark.parametrize("switch", [{"no_such": 1}, {"promotion": "loose"}])
def test_unknown_switches(switch):
    with pytest.raises(ValueError, match="no_such|promotion"), config(**switch):
        pass


@pytest.mark.tensorflow
def test_another_engine_gives_the_same():
    @graphify.function(engine="tensorflow")
    def f(x):
        total = x.sum() * 0
        for v in x:
            if v > 0:
                total = total + v
        return total, x * 2

    want = f.python_function(np.array([1.0, -2.0, 3.0]))
    got = f(np.array([1.0, -2.0, 3.0]))
    assert float(got[0]) == float(want[0]) and np.array_equal(got[1], want[1])


def test_concrete_functions_inside_functions():
    inner = graphify.function(lambda x: x * 3).get_concrete_function(
        TensorSpec((None,), np.float64)
    )

    @graphify.function
    def outer(x):
        return inner(x) + 1

    assert outer(np.ones(2)).numpy().tolist() == [4.0, 4.0]
