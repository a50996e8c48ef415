"""Every switch: what it takes, what it does, and that a block and a variable both set it."""

import dataclasses
import os
import subprocess
import sys
import traceback
from pathlib import Path

import numpy as np
import pytest

import graphify
from graphify.config import Settings, config
from graphify.engines import base
from graphify.errors import InternalError

X = np.array([1.0, 2.0])


def doubled():
    @graphify.function
    def f(x):
        if x.sum() > 0:
            x = x * 2.0
        return x * 1.0

    return f


def test_a_block_ends_and_an_update_stays():
    assert config.debug == 0
    with config(debug=2):
        assert config.debug == 2
        with config(check=True):
            assert (config.debug, config.check) == (2, True)
    assert config.debug == 0
    try:
        config.update(dump="somewhere")
        assert config.dump == "somewhere"
    finally:
        config.update(dump="")


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"debgu": 1}, ValueError, "unknown switch 'debgu'"),
        ({"debug": "1"}, TypeError, "debug: expected int, got '1'"),
        ({"check": "yes"}, TypeError, "check: expected bool, got 'yes'"),
        ({"engine": None}, TypeError, "engine: expected str, got None"),
        ({"promotion": "loose"}, ValueError, "promotion: expected one of .* got 'loose'"),
    ],
)
def test_bad_values_are_refused(changes, error, message):
    with pytest.raises(error, match=message):
        config.update(**changes)
    with pytest.raises(error, match=message), config(**changes):
        pass


def test_every_switch_starts_from_its_variable():
    values = {
        f"GRAPHIFY_{field.name.upper()}": {bool: "1", int: "3", str: "x"}[type(field.default)]
        for field in dataclasses.fields(Settings)
    }
    values["GRAPHIFY_PROMOTION"] = "safe"
    program = "from graphify.config import config; print(config.settings)"
    shown = in_new_process(program, values).stdout
    expected = Settings(3, True, True, "x", "x", "x", True, True, "safe", True, True, "x", 3, 3)
    assert shown.strip() == repr(expected)


@pytest.mark.parametrize("variable", ["GRAPHIFY_DEBUG", "GRAPHIFY_PROMOTION"])
def test_a_variable_that_cannot_be_read_is_refused(variable):
    result = in_new_process("import graphify", {variable: "loud"}, check=False)
    assert result.returncode and "ValueError" in result.stderr and "'loud'" in result.stderr


def in_new_process(program, variables, check=True):
    return subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **variables},
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=check,
    )


def test_each_level_of_debug_prints_more(capsys):
    said = []
    for level in range(4):
        with config(debug=level):
            doubled()(X)
        out, err = capsys.readouterr()
        assert out == ""
        said.append(err)
    assert said[0] == ""
    assert (
        "graphify: traced f:" in said[1] and f"graphify: compiled f for {config.engine}" in said[1]
    )
    assert "--- as traced ---" not in said[2]
    assert "--- as traced ---\ngraph f(x: f64[2]) {" in said[3]
    assert "--- after algebra ---" in said[3]


def test_level_two_prints_the_converted_source(capsys):
    with config(debug=2):
        graphify.function(converted_here)(X)
    assert "--- converted converted_here ---\ndef converted_here(x):" in capsys.readouterr().err


def converted_here(x):  # nowhere else, since a conversion is kept
    return x if x.sum() > 0 else -x


@pytest.mark.tensorflow
def test_level_four_prints_the_graph_def(capsys):
    with config(debug=4, engine="tensorflow"):
        doubled()(X)
    text = capsys.readouterr().err
    assert "--- GraphDef ---\n" in text and 'op: "Mul"' in text


def test_dump_writes_what_became_of_a_function(tmp_path):
    with config(dump=str(tmp_path / "deep")):
        doubled()(X)
        doubled()(X)
    found = {path.name for path in (tmp_path / "deep").iterdir()}
    assert {"f.traced.txt", "f.optimised.txt", "f-2.traced.txt", "f-2.optimised.txt"} <= found
    assert (tmp_path / "deep" / "f.optimised.txt").read_text().startswith("graph f(x: f64[2]) {")


def test_switches_that_change_the_graph_have_traces_of_their_own():
    f = doubled()
    f(X)
    with config(passes="-algebra"):
        f(X)
        f(X)
    f(X)
    assert [trace.cause for trace in f.traces()] == [
        "first call",
        "switch `passes`: '' -> '-algebra'",
    ]


class Wrong:
    name = "wrong"

    def supports(self, op):
        return True

    def compile(self, graph):
        run = base.get_engine("reference").compile(graph)
        return lambda arrays: [result * (1 + 1e-6) for result in run(arrays)]


def test_check_compares_an_engine_with_the_reference(monkeypatch):
    monkeypatch.setitem(base._engines, "wrong", Wrong())
    f = graphify.function(lambda x: np.sin(x) + 1, engine="wrong")
    f(X)
    with config(check=True), pytest.raises(InternalError, match="engine wrong: result 0: expected"):
        f(X)


def test_disable_and_eager_run_plain_python():
    f = doubled()
    for switch in ("disable", "eager"):
        with config(**{switch: True}):
            assert isinstance(f(X), np.ndarray)
    assert f.traces() == []


def test_full_traceback_keeps_our_frames():
    def failing(x):
        return x.reshape(7)

    def frames():
        with pytest.raises(ValueError, match="cannot reshape") as caught:
            graphify.function(failing)(X)
        return [frame.filename for frame in traceback.extract_tb(caught.value.__traceback__)]

    def ours(files):
        return [file for file in files if "/graphify/" in file.replace("\\", "/")]

    short = ours(frames())
    with config(full_traceback=True):
        full = ours(frames())
    assert len(short) <= 1 < len(full)


def test_floats_may_prefer_float32():
    with config(prefer_float32=True):
        assert graphify.numpy.asarray([1.5]).dtype == np.float32
    assert graphify.numpy.asarray([1.5]).dtype == np.float64
