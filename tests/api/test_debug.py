"""`Function.debug`: a run of the graph, step by step, beside the user's lines."""

import doctest
import gc
import io
import linecache
import sys
import threading

import numpy as np
import pytest

import graphify
from graphify.api import examining

HERE = __file__


def straight(x):
    y = x * 2
    return y + 1


def helper(v, i):
    y = v[i] * 2
    return y


def looped(x, n):
    y = x * 3
    total = 0.0
    for i in range(n):
        if x[i] > 1:
            total = total + helper(x, i)
        else:
            total = total - 1
    print("total", total)
    return total + y


def line_of(function, text):
    first = function.__code__.co_firstlineno
    lines = linecache.getlines(HERE)
    return next(n for n in range(first, first + 20) if text in lines[n - 1])


def debugger_of(function, *args, **options):
    return graphify.function(function, **options).debug(*args)


def test_iterating_visits_every_node_in_the_order_of_the_lines():
    debugger = debugger_of(straight, np.ones(2))
    stops = list(debugger)
    assert [stop.source for stop in stops] == ["y = x * 2", "return y + 1"]
    assert [stop.node for stop in stops] == [
        "y: f64[2] = multiply(x, 2.0)",
        "%0: f64[2] = add(y, 1.0)",
    ]
    assert (stops[0].file, stops[0].function, stops[0].depth) == (HERE, "straight", 1)
    assert debugger.done and debugger.result.numpy().tolist() == [3, 3]


def test_values_inputs_and_outputs():
    debugger = debugger_of(straight, np.ones(2))
    assert debugger.stop is None and debugger.values == {}
    debugger.step()
    assert list(debugger.values) == ["x"] and debugger.inputs[0].tolist() == [1, 1]
    debugger.step()
    assert debugger.values["y"].tolist() == [2, 2] and debugger.outputs[0].tolist() == [2, 2]
    assert debugger.step() is None and debugger.done
    assert debugger.step() is None, "once more does nothing"


def test_loops_show_the_turn_and_branches_which_is_taken():
    debugger = debugger_of(looped, np.arange(3.0), np.array(3))
    paths = [stop.path for stop in debugger if "total" in stop.source and "=" in stop.source]
    assert paths == [
        "loop turn 1, if: false",
        "loop turn 2, if: false",
        "loop turn 3, if: true",
    ]


def test_callees_have_variables_of_their_own():
    debugger = debugger_of(looped, np.arange(3.0), np.array(3))
    line = line_of(helper, "y = v[i] * 2")
    stop = debugger.until(line)
    assert (stop.function, stop.line) == ("helper", line)
    assert {name: value.tolist() for name, value in debugger.values.items()} == {
        "v": [0, 1, 2],
        "i": 2,
    }
    debugger.until(line_of(looped, "total = total + helper"))
    assert debugger.values["y"].tolist() == [0, 3, 6] and debugger.values["total"] == -2.0


def test_next_steps_over_loops(capsys):
    debugger = debugger_of(looped, np.arange(3.0), np.array(3))
    depths = set()
    while (stop := debugger.next()) is not None:
        depths.add(stop.depth)
    assert depths == {1}
    assert capsys.readouterr().out == "total 2.0\n"
    assert debugger.result.numpy().tolist() == [2, 5, 8]


def test_until_comes_by_once_a_turn():
    debugger = debugger_of(looped, np.arange(3.0), np.array(3))
    line = line_of(looped, "if x[i] > 1")
    turns = []
    while (stop := debugger.until(line)) is not None:
        turns.append(stop.path)
    assert turns == ["loop turn 1", "loop turn 2", "loop turn 3"]


def test_effects_happen_when_they_are_stepped_over(capsys):
    debugger = debugger_of(looped, np.arange(3.0), np.array(1))
    debugger.until(line_of(looped, "print"))
    assert capsys.readouterr().out == ""
    debugger.step()
    assert capsys.readouterr().out == "total -1.0\n"


def test_run_goes_to_the_end():
    assert debugger_of(straight, np.ones(2)).run().numpy().tolist() == [3, 3]
    assert debugger_of(lambda x: (x + 1, {"a": 3}), np.ones(1)).run()[1] == {"a": 3}


def test_where_prints_the_line_with_a_marker(capsys):
    debugger = debugger_of(straight, np.ones(2))
    debugger.where()
    assert capsys.readouterr().out == "straight: not started\n"
    debugger.step()
    debugger.where()
    line = line_of(straight, "y = x * 2")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"> {HERE}:{line} in straight"
    assert f"{line:5d} ->     y = x * 2" in lines
    assert lines[-1].startswith("node: y: f64[2] = multiply(x, ")


def test_an_error_of_the_run_leaves_everything_to_look_at():
    debugger = debugger_of(looped, np.arange(3.0), np.array(5))
    with pytest.raises(IndexError, match="out of bounds"):
        debugger.run()
    assert isinstance(debugger.error, IndexError) and debugger.done
    assert debugger.values["i"] == 3 and debugger.values["total"] == 2.0
    text = str(debugger)
    assert "[loop turn 4]" in text and "->         if x[i] > 1:" in text and "IndexError" in text


def test_arguments_and_the_world_stay_as_they_are():
    class Model:
        def __init__(self):
            self.count = 0

        @graphify.function
        def step(self, x):
            x[0] = 7.0
            self.count += 1
            return x.sum()

    model, x = Model(), np.zeros(3)
    assert float(model.step.debug(x).run()) == 7.0
    assert (model.count, x.tolist()) == (0, [0, 0, 0])


def while_loop(x):
    while x.sum() < 100:
        x = x * 2
    return x


def test_while_loops():
    debugger = debugger_of(while_loop, np.ones(3))
    paths = [stop.path for stop in debugger if stop.source == "x = x * 2"]
    assert len(paths) == 6 and paths[-1] == "while turn 6"
    assert debugger.result.numpy().tolist() == [64] * 3


def test_zero_turns_and_empty_arrays():
    debugger = debugger_of(looped, np.ones(0), np.array(0))
    assert not any("turn" in stop.path for stop in debugger)
    assert debugger.result.shape == (0,)


def fact(n):
    if n <= 1:
        return n * 0 + 1
    return n * fact(n - 1)


def test_recursion():
    assert int(debugger_of(fact, np.array(5)).run()) == 120
    depths = [stop.depth for stop in debugger_of(fact, np.array(5))]
    assert max(depths) >= 5


def test_a_bound_method_and_lambdas():
    assert debugger_of(lambda x, k: x * k, np.ones(2), 3).run().numpy().tolist() == [3, 3]


# --- the prompt ---------------------------------------------------------------------------------


def session(function, args, commands):
    output = io.StringIO()
    debugger = graphify.function(function).debug(*args, commands=commands, output=output)
    return debugger, output.getvalue()


def test_commands():
    line = line_of(looped, "if x[i] > 1")
    commands = ["values", f"until {line}", "p x[i] + 1", "inputs", "where", "step", "run"]
    debugger, text = session(looped, (np.arange(3.0), np.array(3)), commands)
    assert "(debug) values\nx = array([0., 1., 2.])\nn = array(3)\n" in text
    assert f"(debug) until {line}\n> {HERE}:{line} in looped [loop turn 1]\n" in text
    assert "(debug) p x[i] + 1\nnp.float64(1.0)\n" in text
    assert text.endswith("looped: over\nresult: array([2., 5., 8.])\n(debug) \n")
    assert debugger.done


def test_commands_that_are_wrong():
    _, text = session(straight, (np.ones(2),), ["nonsense", "until x", "p undefined", "help", "q"])
    assert "unknown command 'nonsense': help lists them" in text
    assert "until: expected the number of a line, got 'x'" in text
    assert "NameError: name 'undefined' is not defined" in text
    assert "quit, q: give up the rest of the run" in text


def test_commands_may_come_from_a_file_and_end_early():
    debugger, text = session(straight, (np.ones(2),), io.StringIO("s\n"))
    assert not debugger.done and debugger.stop.source == "return y + 1"
    assert debugger.run().numpy().tolist() == [3, 3]


def test_errors_at_the_prompt():
    debugger, text = session(looped, (np.arange(3.0), np.array(5)), ["r", "p i", "q"])
    assert "IndexError: index 3 is out of bounds" in text and "(debug) p i\narray(3)" in text


def test_at_a_terminal_it_asks(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    answers = iter(["n", "r", "q"])
    monkeypatch.setattr("builtins.input", lambda prompt: next(answers))
    monkeypatch.setattr(sys, "stdin", Terminal())
    monkeypatch.setattr(sys, "stdout", output := Terminal())
    monkeypatch.delattr(sys, "ps1", raising=False)
    debugger = graphify.function(straight).debug(np.ones(2))
    assert debugger.done and "return y + 1" in output.getvalue()


def test_examples():
    result = doctest.testmod(examining)
    assert result.attempted >= 9 and result.failed == 0


# --- threads ------------------------------------------------------------------------------------


def test_a_run_that_is_given_up_leaves_no_thread():
    gc.collect()
    before = threading.active_count()
    debugger = debugger_of(looped, np.arange(3.0), np.array(3))
    debugger.step()
    debugger.close()
    assert debugger.done and debugger.result is None
    debugger = debugger_of(looped, np.arange(3.0), np.array(3))
    debugger.step()
    del debugger
    gc.collect()
    assert threading.active_count() == before
