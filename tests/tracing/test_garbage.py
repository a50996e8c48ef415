"""What exists when a trace begins is left alone by its collections, and given back afterwards."""

import gc
import weakref

import numpy as np
import pytest

import graphify
from graphify.tracing import garbage


def test_a_trace_freezes_once_and_gives_back():
    seen = []

    @graphify.autograph.do_not_convert
    def look():
        seen.append(gc.get_freeze_count() > 0)

    @graphify.function
    def inner(x):
        look()
        return x + 1

    @graphify.function
    def outer(x):
        look()
        y = inner(x)
        look()
        return y * 2

    assert gc.get_freeze_count() == 0
    assert outer(np.float64(1)) == 4
    assert seen and all(seen)
    assert gc.get_freeze_count() == 0


def test_a_trace_that_fails_gives_back():
    @graphify.function
    def fails(x):
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        fails(np.float64(1))
    assert gc.get_freeze_count() == 0


def test_what_the_user_froze_stays_frozen():
    gc.freeze()
    try:
        count = gc.get_freeze_count()
        assert graphify.function(lambda x: x + 1)(np.float64(1)) == 2
        with garbage.young():
            assert gc.get_freeze_count() >= count // 2
        assert gc.get_freeze_count() >= count // 2
    finally:
        gc.unfreeze()


def test_who_only_traces_is_collected_from(monkeypatch):
    """The interpreter loses count of what is frozen; functions in cycles would stay for ever."""
    alive = []

    def in_a_cycle():
        function = graphify.function(lambda x: x + 1, engine="reference")
        assert function(np.float64(1)) == 2
        function.python_function.itself = function
        alive.append(weakref.ref(function))

    in_a_cycle()  # its trace counts what the tests before this one have made
    monkeypatch.setattr(garbage, "_uncounted", 0)
    monkeypatch.setattr(garbage, "_many", garbage.FEW)  # as in a process that has little else
    alive.clear()
    for _ in range(3000):
        in_a_cycle()
        if alive[0]() is None:
            return
    raise AssertionError("no cycle of 3000 was collected")
