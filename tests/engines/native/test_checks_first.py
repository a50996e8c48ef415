"""Nothing is read before the check that it is there."""

import numpy as np
import pytest

import graphify
from graphify.engines.native.engine import loops
from graphify.engines.native.loops.program import Fail, For, Load
from graphify.engines.native.loops.walk import expressions_of, parts, statements

S = graphify.TensorSpec
F32 = np.float32


def concrete(function, *specs):
    return graphify.function(function, engine="native").get_concrete_function(*specs)


def scaled_rows(x, scale, shift):
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / np.sqrt((centred * centred).mean(axis=-1, keepdims=True)) * scale + shift


ROWS = (S((None, None), F32), S((None,), F32), S((None,), F32))


def test_lengths_are_checked_before_anything_is_read():
    body = loops(concrete(scaled_rows, *ROWS).graph).body
    fails = [i for i, stmt in enumerate(body) if isinstance(stmt, Fail)]
    work = [i for i, stmt in enumerate(body) if isinstance(stmt, For)]
    assert fails and max(fails) < min(work)


def test_the_loops_are_fused_all_the_same():
    def middle(x):
        return x[1:-1] + x[:-2] * 2 + x[2:]

    body = loops(concrete(middle, S((None,), F32)).graph).body
    reading = [
        stmt
        for stmt in body
        if isinstance(stmt, For)
        and any(
            isinstance(p, Load)
            for s in statements((stmt,))
            for e in expressions_of(s)
            for p in parts(e)
        )
    ]
    assert len(reading) == 1


def test_a_short_operand_is_refused_where_reading_it_would_end_the_process():
    x, short = np.ones((2, 30_000_000), F32), np.ones(3, F32)
    with pytest.raises(ValueError, match="could not be broadcast together"):
        concrete(scaled_rows, *ROWS)(x, short, short)


def test_places_are_checked_in_all_turns_first():
    def backwards(x, at):
        return np.exp(x)[at][::-1] + np.log(at)

    one = concrete(backwards, S((None,), F32), S((None,), np.int64))
    with pytest.raises(IndexError):
        one(np.ones(5, F32), np.array([0, 1, 2, 1 << 40]))
