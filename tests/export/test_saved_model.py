"""SavedModels: written, run by stock TensorFlow in a process of its own, and read back."""

import dataclasses
import json
import subprocess
import sys
from collections import OrderedDict, namedtuple
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphify
import graphify.numpy as gnp
from graphify import TensorSpec
from graphify.errors import ExportError
from graphify.export import check
from graphify.export.saved_model import load, save
from graphify.export.structures import (
    argument_names,
    leaf_names,
    treedef_from_json,
    treedef_to_json,
)
from graphify.tree import flatten

pytestmark = pytest.mark.tensorflow

Pair = namedtuple("Pair", ["low", "high"])


@dataclasses.dataclass
class Fit:
    slope: Any
    offset: Any


ROWS = TensorSpec((None, 3), np.float64)


class Counter(graphify.Module):
    """State that two functions share."""

    def __init__(self) -> None:
        self.count = graphify.Variable(0)
        self.layers = [graphify.Variable(np.ones(3), name="w")]
        self.scale = 2.0

    @graphify.function(input_signature=[ROWS])
    def predict(self, x: Any) -> Any:
        self.count.assign_add(1)
        return {"y": x @ self.layers[0] * self.scale, "calls": self.count.value()}

    @graphify.function(input_signature=[TensorSpec((3,), np.float64)])
    def train(self, g: Any) -> Any:
        self.layers[0].assign_sub(g * 0.5)
        return self.layers[0].value()

    @graphify.function(input_signature=[])
    def reset(self) -> None:
        self.count.assign(0)


def run_elsewhere(code: str, *args: str) -> str:
    """What a fresh process with stock TensorFlow prints."""
    done = subprocess.run(
        [sys.executable, "-c", code, *args], capture_output=True, text=True, check=False, cwd="/"
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


# --- functions ------------------------------------------------------------------------------------


def test_concrete_function_with_unknown_size(tmp_path: Path) -> None:
    @graphify.function
    def f(x: Any, k: Any) -> Any:
        total = 0.0
        for row in range(x.shape[0]):
            total = total + (x[row] * k).sum()
        return {"total": total, "shifted": (x + 1, [x.shape[0], "text", None, 7])}

    concrete = f.get_concrete_function(ROWS, TensorSpec((), np.float64))
    x = np.arange(6.0).reshape(2, 3)
    save(concrete, tmp_path / "m", examples=[(x, np.array(2.0)), (x[:1], np.array(0.5))])
    again = load(tmp_path / "m")
    for rows in (1, 5):
        x = np.arange(3.0 * rows).reshape(rows, 3)
        want, got = f(x, np.array(3.0)), again(x, 3.0)
        assert list(got) == ["total", "shifted"]
        np.testing.assert_allclose(got["total"], want["total"])
        np.testing.assert_array_equal(got["shifted"][0], want["shifted"][0])
        assert got["shifted"][1] == [rows, "text", None, 7]
    assert isinstance(got["total"], graphify.Tensor)


def test_stock_tensorflow_runs_it_in_a_fresh_process(tmp_path: Path) -> None:
    @graphify.function
    def search(values: Any, target: Any) -> Any:
        low, high = 0, values.shape[0]
        while low < high:
            middle = (low + high) // 2
            if values[middle] < target:
                low = middle + 1
            else:
                high = middle
        return low

    concrete = search.get_concrete_function(
        TensorSpec(("n",), np.float64), TensorSpec((), np.float64)
    )
    save(concrete, tmp_path / "m", examples=[(np.arange(10.0), np.array(4.5))])
    code = """
import sys, json, tensorflow as tf
f = tf.saved_model.load(sys.argv[1]).signatures["serving_default"]
for n, t in [(10, 4.5), (1, 9.0), (100, 63.0)]:
    r = f(values=tf.range(n, dtype=tf.float64), target=tf.constant(t, tf.float64))
    print(sorted(r), int(r["output_0"]))
assert "graphify" not in sys.modules
"""
    lines = run_elsewhere(code, str(tmp_path / "m")).splitlines()
    assert lines == ["['output_0'] 5", "['output_0'] 1", "['output_0'] 63"]


def test_saved_model_cli_runs_it(tmp_path: Path) -> None:
    f = graphify.function(lambda x: {"twice": x * 2}, input_signature=[ROWS])
    save(f, tmp_path / "m")
    np.save(tmp_path / "x.npy", np.arange(6.0).reshape(2, 3))
    command = (
        "import sys; from tensorflow.python.tools.saved_model_cli import main; sys.exit(main())"
    )
    done = subprocess.run(
        [
            *(sys.executable, "-c", command, "run", "--dir", str(tmp_path / "m")),
            *("--tag_set", "serve", "--signature_def", "serving_default"),
            *("--inputs", f"x={tmp_path / 'x.npy'}", "--outdir", str(tmp_path)),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    np.testing.assert_array_equal(np.load(tmp_path / "twice.npy"), np.arange(6.0).reshape(2, 3) * 2)


def test_a_function_is_traced_by_its_example(tmp_path: Path) -> None:
    f = graphify.function(lambda x: np.sin(x))
    with pytest.raises(ExportError, match="no trace yet"):
        save(f, tmp_path / "m")
    save(f, tmp_path / "m", examples=[(np.ones(4),)])
    np.testing.assert_allclose(load(tmp_path / "m")(np.zeros(4)), np.zeros(4))


def test_the_most_general_trace_is_taken(tmp_path: Path) -> None:
    f = graphify.function(lambda x: x * 2)
    f(np.ones(3)), f(np.ones(4))
    save(f, tmp_path / "m")
    assert load(tmp_path / "m")(np.ones(9)).shape == (9,)
    f(np.ones((2, 2)))
    with pytest.raises(ExportError, match="got one with 3 traces"):
        save(f, tmp_path / "m")


def test_several_named_signatures(tmp_path: Path) -> None:
    up = graphify.function(lambda x: x + 1, input_signature=[ROWS])
    down = graphify.function(lambda x: x - 1, input_signature=[ROWS])
    save(
        up,
        tmp_path / "m",
        signatures={"up": up, "down": down},
        examples={"down": [np.ones((1, 3))]},
    )
    again = load(tmp_path / "m")
    assert sorted(again.signatures) == ["down", "up"]
    np.testing.assert_array_equal(again.up(np.zeros((1, 3))), np.ones((1, 3)))
    np.testing.assert_array_equal(again.down(x=np.zeros((1, 3))), -np.ones((1, 3)))


# --- state ----------------------------------------------------------------------------------------


def test_state_is_kept_across_calls(tmp_path: Path) -> None:
    model = Counter()
    save(
        model,
        tmp_path / "m",
        examples={"predict": [(np.ones((4, 3)),)] * 3, "train": [(np.ones(3),)]},
    )
    assert int(model.count.numpy()) == 0, "saving and its examples leave the module alone"
    again = load(tmp_path / "m")
    x = np.arange(6.0).reshape(2, 3)
    for _ in range(3):
        got, want = again.predict(x), model.predict(x)
        np.testing.assert_array_equal(got["y"], want["y"])
        assert int(got["calls"]) == int(want["calls"])
        np.testing.assert_array_equal(again.train(np.ones(3)), model.train(np.ones(3)))
    values = {name: value.tolist() for name, value in again.variables.items()}
    assert values == {"count": 3, "layers[0]": [-0.5] * 3}
    assert again.reset() is None
    assert int(again.predict(x)["calls"]) == 1
    assert int(load(tmp_path / "m").predict(x)["calls"]) == 1, "each loaded copy has its own state"


def test_state_is_kept_in_stock_tensorflow(tmp_path: Path) -> None:
    save(Counter(), tmp_path / "m")
    code = """
import sys, tensorflow as tf
model = tf.saved_model.load(sys.argv[1])
x = tf.ones([1, 3], tf.float64)
predict = model.signatures["predict"]
print([int(predict(x=x)["calls"]) for _ in range(3)], int(model.predict(x)["calls"]))
model.train(tf.ones([3], tf.float64))
print(float(predict(x=x)["y"][0]), sorted(model.signatures))
"""
    lines = run_elsewhere(code, str(tmp_path / "m")).splitlines()
    assert lines == ["[1, 2, 3] 4", "3.0 ['predict', 'reset', 'train']"]


def test_captured_arrays_are_constants_unless_changed(tmp_path: Path) -> None:
    weights, tally = np.array([1.0, 2.0, 3.0]), np.zeros(2)

    @graphify.function(input_signature=[ROWS])
    def f(x: Any) -> Any:
        tally[0] += x.shape[0]
        return x @ weights, gnp.copy(tally)

    save(f, tmp_path / "m", examples=[(np.ones((2, 3)),), (np.ones((1, 3)),)])
    assert tally.tolist() == [0.0, 0.0]
    weights[:] = 0  # the model keeps what it was written with
    again = load(tmp_path / "m")
    for calls in (1, 2):
        y, count = again(np.ones((2, 3)))
        assert y.numpy().tolist() == [6.0, 6.0]
        assert count.numpy().tolist() == [2.0 * calls, 0.0]


def test_methods_of_two_instances(tmp_path: Path) -> None:
    one, two = Counter(), Counter()
    two.layers[0].assign(np.zeros(3))
    one.predict(np.ones((1, 3))), two.predict(np.ones((1, 3)))
    save(two, tmp_path / "m", signatures=two.predict)
    assert load(tmp_path / "m")(np.ones((1, 3)))["y"].numpy().tolist() == [0.0]


# --- structures -----------------------------------------------------------------------------------


def test_structures_come_back(tmp_path: Path) -> None:
    f = graphify.function(
        lambda x: Fit(Pair(x, x + 1), OrderedDict(a=[x * 2], b={"c": (x * 3,)})),
        input_signature=[TensorSpec((), np.float32)],
    )
    save(f, tmp_path / "m")
    got = load(tmp_path / "m")(np.float32(2))
    assert type(got) is Fit
    assert type(got.slope) is Pair
    assert float(got.slope.high) == 3.0
    assert float(got.offset["b"]["c"][0]) == 6.0
    data = json.loads((tmp_path / "m" / "assets.extra" / "graphify.json").read_text())
    names = [leaf["name"] for leaf in data["signatures"]["serving_default"]["outputs"]]
    assert names == ["slope_low", "slope_high", "offset_a_0", "offset_b_c_0"]


def test_names_of_leaves() -> None:
    for value, names in [
        (1, ["output_0"]),
        ((1, 2), ["output_0", "output_1"]),
        ({"a": 1, "b": [2, 3]}, ["a", "b_0", "b_1"]),
        ([{"a b": 1}, {"a-b": 2}], ["output_0_a_b", "output_1_a_b"]),
        ({"A": 1, "a": 2}, ["A", "a_1"]),
    ]:
        _, treedef = flatten(value)
        assert leaf_names(treedef) == names
        assert treedef_from_json(json.loads(json.dumps(treedef_to_json(treedef)))) == treedef
    assert argument_names(["x", "x[0]", "model['w']", "2"]) == ["x", "x_0", "model_w", "arg_2"]


def test_names_that_tensorflow_does_not_take(tmp_path: Path) -> None:
    scale = graphify.Variable(np.ones(2), name="масштаб")

    @graphify.function
    def f(α: Any) -> Any:
        return {"β": α * scale, "two words": α + 1}

    save(f, tmp_path / "m", signatures={"signatures": f}, examples=[(np.ones(2),)])
    again = load(tmp_path / "m").signatures["signatures"](np.ones(2))
    assert list(again) == ["β", "two words"]
    assert again["two words"].numpy().tolist() == [2.0, 2.0]


def test_host_calls_are_refused_with_their_line(tmp_path: Path) -> None:
    f = graphify.function(lambda x: x + np.random.normal())
    with pytest.raises(ExportError, match=r"np\.random\.normal") as caught:
        save(f, tmp_path / "m", examples=[(np.ones(2),)])
    assert "graphify.random with a key" in str(caught.value)


def test_structures_no_other_process_can_build_are_refused(tmp_path: Path) -> None:
    Local = namedtuple("Local", ["a"])
    Local.__qualname__ = "here.<locals>.Local"
    f = graphify.function(lambda x: Local(x), input_signature=[ROWS])
    with pytest.raises(ExportError, match="local to a function"):
        save(f, tmp_path / "m")
    g = graphify.function(lambda x: {(1, 2): x}, input_signature=[ROWS])
    with pytest.raises(ExportError, match="expected keys of str"):
        save(g, tmp_path / "m")
    assert not list(tmp_path.iterdir()), "nothing half-written is left"


# --- refusals -------------------------------------------------------------------------------------


def test_an_example_with_another_result_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    f = graphify.function(lambda x: x * 2, input_signature=[ROWS])

    class Wrong:
        def compile(self, graph: Any) -> Any:
            return lambda args: [args[0] * 2 + 1e-3]

    monkeypatch.setattr(check, "get_engine", lambda name: Wrong())
    with pytest.raises(
        ExportError, match="output 'output_0': the written model gives another result"
    ):
        save(f, tmp_path / "m", examples=[(np.ones((1, 3)),)])
    assert not list(tmp_path.iterdir())


def test_what_a_saved_model_cannot_hold(tmp_path: Path) -> None:
    def in_place(x: Any) -> Any:
        x[0] = 0
        return x

    f = graphify.function(in_place, input_signature=[ROWS])
    with pytest.raises(ExportError, match="changes argument 'x' in place"):
        save(f, tmp_path / "m")
    g = graphify.function(lambda x: x + np.random.normal(size=3), input_signature=[ROWS])
    with pytest.raises(ExportError, match="cannot be written out"):
        save(g, tmp_path / "m")


def test_state_in_attributes_is_refused(tmp_path: Path) -> None:
    class Box:
        def __init__(self) -> None:
            self.last = np.zeros(3)

        @graphify.function(input_signature=[ROWS])
        def step(self, x: Any) -> Any:
            self.last = x.sum(axis=0)
            return self.last * 2

    with pytest.raises(ExportError, match="changes Box.last"):
        save(Box(), tmp_path / "m")


def test_bad_arguments(tmp_path: Path) -> None:
    f = graphify.function(lambda x: x * 2, input_signature=[ROWS])
    with pytest.raises(ExportError, match="expected a graphify function"):
        save(object(), tmp_path / "m")
    with pytest.raises(TypeError, match="expected a graphify function"):
        save(f, tmp_path / "m", signatures={"a": np.sin})
    with pytest.raises(ValueError, match="expected names of signatures"):
        save(f, tmp_path / "m", examples={"other": []})
    with pytest.raises(ExportError, match="expected 1 arrays, got 2"):
        save(f, tmp_path / "m", examples=[(np.ones((1, 3)), np.ones(2))])
    with pytest.raises(ExportError, match="argument 'x': expected"):
        save(f, tmp_path / "m", examples=[(np.ones((1, 3), np.float32),)])
    (tmp_path / "taken").write_text("mine")
    with pytest.raises(ExportError, match="is no SavedModel"):
        save(f, tmp_path / "taken")
    with pytest.raises(FileNotFoundError, match="expected a SavedModel"):
        load(tmp_path / "nothing")


def test_bad_paths_and_examples(tmp_path: Path) -> None:
    f = graphify.function(lambda x: x * 2, input_signature=[ROWS])
    for path in (3, None, ""):
        with pytest.raises(TypeError, match="argument 'path': expected the path"):
            save(f, path)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="argument 'path': expected the path"):
            load(path)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="expected at least one function"):
        save(f, tmp_path / "m", signatures={})
    for examples in (3, {"serving_default": np.ones((1, 3))}):
        with pytest.raises(TypeError, match="expected a list of argument tuples"):
            save(f, tmp_path / "m", examples=examples)
    save(f, tmp_path / "m")
    (tmp_path / "m" / "assets.extra" / "graphify.json").write_text("{")
    with pytest.raises(ExportError, match="is damaged"):
        load(tmp_path / "m")


class Doubler(graphify.Module):
    @graphify.function
    def __call__(self, x: Any) -> Any:
        return x * 2


class Tripler:
    @graphify.function
    def triple(self, x: Any) -> Any:
        return x * 3


def test_the_objects_own_call_is_the_default_signature(tmp_path: Path) -> None:
    save(Doubler(), tmp_path / "m", examples=[(np.ones(2),)])
    assert load(tmp_path / "m")(np.ones(2)).numpy().tolist() == [2.0, 2.0]
    # A single method has two names; an example under either says how to trace it.
    save(Tripler(), tmp_path / "t", examples={"triple": [(np.ones(2),)]})
    again = load(tmp_path / "t")
    assert again(np.ones(2)).numpy().tolist() == again.triple(np.ones(2)).numpy().tolist()


def test_saving_again_replaces(tmp_path: Path) -> None:
    for factor in (2, 3):
        save(
            graphify.function(lambda x, k=factor: x * k).get_concrete_function(ROWS), tmp_path / "m"
        )
    assert load(tmp_path / "m")(np.ones((1, 3))).numpy().tolist() == [[3.0] * 3]
    assert [p.name for p in tmp_path.iterdir()] == ["m"]


def test_arguments_of_a_loaded_function(tmp_path: Path) -> None:
    f = graphify.function(lambda x, i: x[i], input_signature=[ROWS, TensorSpec((), np.int64)])
    save(f, tmp_path / "m")
    again = load(tmp_path / "m")
    x = np.arange(6.0).reshape(2, 3)
    assert again(x, i=1).numpy().tolist() == [3.0, 4.0, 5.0]
    with pytest.raises(IndexError, match="index 5 is out of bounds for axis 0 with size 2"):
        again(x, 5)
    with pytest.raises(TypeError, match="'i' is missing"):
        again(x)
    with pytest.raises(TypeError, match="expected arguments"):
        again(x, 1, j=2)
    with pytest.raises(TypeError, match="expected dtype float64, got int64"):
        again(x.astype(np.int64), 1)
    with pytest.raises(ValueError, match="expected shape"):
        again(x.T, 1)


def test_a_model_that_graphify_did_not_write(tmp_path: Path) -> None:
    import tensorflow as tf

    module = tf.Module()
    module.f = tf.function(
        lambda x: {"y": x + 1}, input_signature=[tf.TensorSpec([None], tf.float32)]
    )
    tf.saved_model.save(module, str(tmp_path / "m"), signatures=module.f.get_concrete_function())
    got = load(tmp_path / "m")(np.zeros(2, np.float32))
    assert got["y"].numpy().tolist() == [1.0, 1.0]
