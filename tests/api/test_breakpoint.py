"""breakpoint() and pdb in a staged function: the user's source, the user's variables."""

import io
import linecache
import pdb
import sys

import numpy as np
import pytest

import graphify


@pytest.fixture
def stopped(monkeypatch):
    """Text of a debugger at each stop, driven by these commands."""
    texts = []

    def hook():
        output = io.StringIO()
        commands = io.StringIO(
            "l\np sorted(k for k in dir() if k in 'x y i total limit'.split())\nc\n"
        )
        debugger = pdb.Pdb(stdin=commands, stdout=output, nosigint=True)
        debugger.use_rawinput = False
        texts.append((output, sys._getframe().f_back))
        debugger.set_trace(sys._getframe().f_back)

    monkeypatch.setattr(sys, "breakpointhook", hook)
    before = sys.gettrace()
    yield lambda: [(output.getvalue(), frame) for output, frame in texts]
    sys.settrace(before)


def straight(x):
    y = x * 2
    breakpoint()
    return y + 1


def in_a_loop(x, limit):
    total = 0.0
    y = x * 3
    for i in range(100):
        total = total + x[0]
        breakpoint()
        if total > limit:
            total = total * 2
    return total + y


def with_set_trace(x):
    y = x * 2
    pdb.set_trace()
    return y


def test_it_stops_at_the_users_line(stopped):
    assert graphify.function(straight)(np.ones(2)).numpy().tolist() == [3, 3]
    ((text, frame),) = stopped()
    assert "->" in text and "return y + 1" in text
    assert "['x', 'y']" in text
    assert frame.f_code.co_filename == __file__ and frame.f_code.co_name == "straight"


def test_all_variables_are_seen_in_a_loop(stopped):
    graphify.function(in_a_loop)(np.ones(2), np.array(5.0))
    for text, frame in stopped():
        assert "['i', 'limit', 'total', 'x', 'y']" in text
        assert "if total > limit:" in text
        assert frame.f_code.co_name == "in_a_loop"
    assert len(stopped()) < 10, "the body is traced, not run a hundred times"


def test_pdb_set_trace_is_called_from_the_users_frame(monkeypatch):
    frames = []

    def set_trace():
        frames.append(sys._getframe().f_back)

    set_trace.__module__ = "pdb"
    monkeypatch.setattr(pdb, "set_trace", set_trace)
    graphify.function(with_set_trace)(np.ones(2))
    assert [f.f_code.co_name for f in frames] == ["with_set_trace"]
    assert set(frames[0].f_locals) >= {"x", "y"}


def test_a_breakpoint_changes_no_answer(stopped):
    got = graphify.function(in_a_loop)(np.ones(1), np.array(1e9))
    assert got.numpy().tolist() == [103.0]


def test_source_of_a_cell_is_shown():
    """As notebooks do it: the text is registered under a name that is no file."""
    name = "<cell 12>"
    source = "def f(x, y):\n    z = x * 2\n    return z + y\n"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    space: dict = {}
    exec(compile(source, name, "exec"), space)
    with pytest.raises(ValueError) as caught:
        graphify.function(space["f"])(np.ones(3), np.ones(4))
    assert "      return z + y\n             ^^^^^\n      z: f64[3], y: f64[4]" in str(caught.value)
    last = caught.traceback[-1]
    assert str(last.path) == name and last.lineno == 2
    linecache.checkcache()  # what editors and debuggers do now and then
    with pytest.raises(ValueError, match="z: f64"):
        graphify.function(space["f"])(np.ones(3), np.ones(4))


def test_post_mortem_of_an_error_of_the_run_has_the_users_lines():
    def inner(x, i):
        return x[i]

    def outer(x, i):
        y = inner(x, i)
        return y * 2

    with pytest.raises(IndexError) as caught:
        graphify.function(outer)(np.ones(3), np.array(9))
    output = io.StringIO()
    debugger = pdb.Pdb(stdin=io.StringIO("w\nq\n"), stdout=output, nosigint=True)
    debugger.use_rawinput = False
    debugger.reset()
    debugger.interaction(None, caught.value.__traceback__)
    text = output.getvalue()
    assert "outer()" in text and "inner()" in text and "-> return x[i]" in text
    assert "graphify/" not in text.split("outer()")[1]
