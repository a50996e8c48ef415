"""Machine code found by the graph: that of the same graph, and of no other; errors too."""

import ctypes
import subprocess
import sys

import numpy as np
import pytest

import graphify
from graphify.engines.native import cache, known, library, symbols
from graphify.engines.native.llvm import I64, Module


@pytest.fixture(autouse=True)
def own_cache(tmp_path):
    with graphify.config(cache=True, cache_dir=str(tmp_path), check=False, debug=0):
        yield


def compiled(function, *args):
    staged = graphify.function(function, engine="native")
    result = staged(*args)
    return staged.get_concrete_function(*args).lower(), result


def taken(row, i):
    return row[i] * 2.0


def looped(x):
    total = 0.0
    for i in range(len(x) - 1):
        total += x[i] * x[i + 1]
    return total


def test_the_second_function_of_a_graph_is_loaded_without_being_lowered(monkeypatch):
    x = np.arange(20.0)
    first, want = compiled(looped, x)
    assert not first.code.cached
    monkeypatch.setattr("graphify.engines.native.engine.loops", None)
    again, got = compiled(looped, x)
    assert again.code.cached
    np.testing.assert_array_equal(got, want)


def test_what_was_loaded_can_be_read():
    x = np.arange(20.0)
    first, _ = compiled(looped, x)
    again, _ = compiled(looped, x)
    assert again.text == first.text
    assert again.llvm_ir == first.llvm_ir
    assert str(again.report()) == str(first.report())


def test_a_loaded_function_fails_with_the_same_error():
    row = np.arange(5.0)
    for _ in range(2):
        staged = graphify.function(taken, engine="native")
        assert staged(row, np.asarray(4)) == 8.0
        with pytest.raises(IndexError, match="index 7 is out of bounds") as caught:
            staged(row, np.asarray(7))
        assert "row[i] * 2.0" in str(caught.value)
    assert staged.get_concrete_function(row, np.asarray(4)).lower().code.cached


def names(*functions, args):
    graphs = [graphify.function(f).get_concrete_function(*args).graph for f in functions]
    layouts = ("C",) * len(args)
    return [known.name_of(graph, layouts) for graph in graphs]


def test_every_constant_and_attribute_counts():
    x = np.arange(6.0).reshape(2, 3)
    found = names(
        lambda x: x + 1.0,
        lambda x: x + 2.0,
        lambda x: x * -0.0,
        lambda x: x * 0.0,
        lambda x: x + np.nan,
        lambda x: x + np.array([1.0, 2.0, 3.0]),
        lambda x: x + np.array([1.0, 2.0, 4.0]),
        lambda x: x.sum(axis=0),
        lambda x: x.sum(axis=1),
        lambda x: x.astype(np.float32),
        lambda x: x.astype(np.int32),
        lambda x: x[1],
        lambda x: x[0],
        lambda x: x[:, ::2],
        lambda x: x[:, ::-1],
        args=(x,),
    )
    assert None not in found
    assert len(set(found)) == len(found)


def test_layouts_and_sizes_count():
    x = np.zeros((2, 3))
    staged = graphify.function(lambda x: x * 2)
    graph = staged.get_concrete_function(x).graph
    spec = graphify.TensorSpec((None, 3), np.float64)
    wide = graphify.function(lambda x: x * 2, input_signature=[spec])
    general = wide.get_concrete_function(x).graph
    found = [known.name_of(g, layout) for g in (graph, general) for layout in (("C",), ("F",))]
    assert len(set(found)) == 4


def test_a_graph_with_a_function_in_it_has_no_name():
    def printed(x):
        graphify.print("x is", x)
        return x

    program, _ = compiled(printed, np.zeros(3))
    again, _ = compiled(printed, np.zeros(3))
    assert program.report() is not None and again.report() is not None


def test_no_name_without_a_cache():
    graph = graphify.function(lambda x: x + 1).get_concrete_function(np.zeros(3)).graph
    with graphify.config(cache=False):
        assert known.name_of(graph, ("C",)) is None


def test_a_lost_object_file_is_made_again():
    x = np.arange(20.0)
    compiled(looped, x)
    largest = max(cache.directory().iterdir(), key=lambda file: file.stat().st_size)
    largest.unlink()
    again, got = compiled(looped, x)
    assert got == looped(x)
    assert not again.code.cached


PROGRAM = """
import numpy as np, graphify
@graphify.function
def f(x, k):
    s = 0.0
    for i in range(k):
        s += x[i] ** 2
    return s
x = np.arange(9.0)
assert f(x, np.asarray(9)) == 204.0
try:
    f(x, np.asarray(10))
except IndexError as error:
    assert "s += x[i] ** 2" in str(error), error
else:
    raise SystemExit("no error")
print(f.get_concrete_function(x, np.asarray(9)).lower().code.cached)
"""


def test_another_process_loads_it(tmp_path):
    run_twice(tmp_path, PROGRAM)


def run_twice(folder, text):
    """A program in two processes, of which the second finds the code of the first."""
    file = folder / "program.py"
    file.write_text(text)
    environment = {"GRAPHIFY_CACHE_DIR": str(folder / "cache"), "PATH": ""}
    command = [sys.executable, str(file)]
    runs = [
        subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        for _ in range(2)
    ]
    assert [run.stdout.strip() for run in runs] == ["False", "True"], [run.stderr for run in runs]


ASKING = """
import numpy as np, graphify
@graphify.function
def f(a, x):
    return np.linalg.solve(a, np.sin(x * 1e9)) + np.sort(x)
a, x = np.eye(3) * 2, np.arange(3.0)
np.testing.assert_allclose(f(a, x), np.sin(x * 1e9) / 2 + x, rtol=1e-6, atol=1e-6)
print(f.get_concrete_function(a, x).lower().code.cached)
"""


def test_what_another_process_promised_is_found(tmp_path):
    """Routines of LAPACK, rare cases of sin and the like are functions that the code asks for."""
    run_twice(tmp_path, ASKING)


MODULES = """
import sys, numpy as np, graphify
@graphify.function
def f(x):
    return 1 / (1 + np.exp(-x))
x = np.arange(9.0)
y = f(x)
rooms = ("llvm", "lower", "loops", "translate", "elements", "maths", "products", "sorting", "pool")
loaded = [room for room in rooms if f"graphify.engines.native.{room}" in sys.modules]
np.testing.assert_allclose([y, f(x)], [1 / (1 + np.exp(-x))] * 2)
print(not loaded)
"""


def test_what_is_loaded_needs_nothing_that_makes_code(tmp_path):
    """Neither the graph nor the library modules around a call are written again."""
    run_twice(tmp_path, MODULES)


def providing(number):
    """A library module whose function gives a number; how often it was written."""
    made = []

    def maker(given):
        made.append(given)
        module = Module("test")
        function = module.function("graphify_test_given", I64, [])
        function.ret(function.const(I64, given))
        return module

    library.provide("graphify_test_given", maker, lambda: (number,))
    symbols._addresses.pop("graphify_test_given", None)
    return made


def given():
    return ctypes.CFUNCTYPE(ctypes.c_int64)(library.need("graphify_test_given"))()


def test_library_modules_are_found_by_what_they_depend_on():
    assert (providing(3), given()) == ([3], 3)
    assert (providing(4), given()) == ([4], 4)
    for number in (3, 4):
        made = providing(number)
        assert library.at_hand("graphify_test_given")
        assert (made, given()) == ([], number)
    providing(5)
    assert not library.at_hand("graphify_test_given")
    with graphify.config(cache=False):
        made = providing(3)
        assert not library.at_hand("graphify_test_given")
        assert (given(), made) == (3, [3])


def test_a_lost_or_damaged_library_module_is_made_again():
    def objects():
        return set(cache.directory().iterdir())

    for spoil in (lambda file: file.unlink(), lambda file: file.write_bytes(b"\x00" * 500)):
        before = objects()
        providing(7), given()
        files = objects() - before
        assert len(files) == 2  # the entry, and the object file
        for file in files:
            spoil(file)
            made = providing(7)
            assert (given(), made) == (7, [7])
        for file in files:
            file.unlink()


def test_every_symbol_is_promised_by_the_module_that_is_imported_for_it():
    import graphify.engines.native.lower
    import graphify.engines.native.translate.program  # noqa: F401

    symbols._import_provider("graphify_vectorcall")  # promised when the first function is called

    def provider(name):
        return next(m for starts, m in symbols._PROVIDERS.items() if name.startswith(starts))

    promised = [n for n in symbols._promises if n.startswith("graphify_")]
    promised = [n for n in promised if not n.startswith(("graphify_test_", "graphify_numpy_"))]
    by_module = {provider(name): name for name in promised}
    assert set(by_module) == {*symbols._PROVIDERS.values()} - {"entry.host"}
    for name in by_module.values():
        text = f"""
import sys, graphify.engines.native.symbols as symbols
symbols._import_provider({name!r})
assert {name!r} in symbols._promises or "lapack" in {name!r}
"""
        subprocess.run([sys.executable, "-c", text], check=True)


def test_no_name_where_a_source_was_edited_while_it_was_in_memory(monkeypatch):
    graph = graphify.function(lambda x: x + 1).get_concrete_function(np.zeros(3)).graph
    known._sources.cache_clear()
    monkeypatch.setattr(known, "BEGAN", 0)
    assert known.name_of(graph, ("C",)) is None
    assert known.name_of_library(("graphify_enter",), ()) is None
    monkeypatch.undo()
    known._sources.cache_clear()
    assert known.name_of(graph, ("C",)) is not None
