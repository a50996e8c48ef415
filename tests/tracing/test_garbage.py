"""What exists when a trace begins is left alone by its collections, and given back afterwards."""

import gc

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
