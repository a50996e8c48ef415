"""A name that holds one container on one path and another on the other: right, or refused."""

import dataclasses

import numpy as np
import pytest

import graphify
from graphify.errors import TraceError


@dataclasses.dataclass
class Box:
    a: object
    b: object = 0.0


def appended_to_either(x, s):
    a, b = [1.0], [2.0]
    y = a if s > 0 else b
    y.append(x.sum())
    return a, b, y


def list_set(x, s):
    a = [1.0, 2.0]
    y = a
    if s > 0:
        y = [3.0, 4.0]
    y[0] = x.sum()
    return a, y


def field_set(x, s):
    a = Box(1.0)
    y = a
    if s > 0:
        y = Box(2.0)
    y.a = x.sum()
    return a.a, y.a


def dict_in_a_loop(x):
    a = {"k": 1.0}
    y = a
    for v in x:
        if v > 0:
            y = {"k": v}
        y["k"] = y["k"] + 1
    return a, y


def field_in_a_loop(x):
    a = Box(1.0)
    y = a
    for v in x:
        y.a = y.a + v
        if v > 3:
            y = Box(0.0)
    return a.a, y.a


def original_changes(x, s):
    a, b = {"k": 1.0}, {"k": 2.0}
    c = a if s > 0 else b
    a["k"] = 7.0
    return c


def argument_or_a_new_one(x, d):
    for v in x:
        if v > 3:
            d = {"k": v}
        d["k"] = d["k"] + 1
    return d


def two_names_for_either(x, s):
    a, b = {"k": x.sum()}, {"k": 2.0}
    c = a if s > 0 else b
    d = b if s < 2 else a
    del a, b  # c and d may still be one
    c["k"] = 7.0
    return c, d


def copy_of_a_copy(x, s):
    a, b, other = [1.0], [2.0], [3.0]
    c = other
    if s > 0:
        c = b
        if x[0] >= 0:
            c = a  # what c is after this if is seen by nobody else
    del b, other
    c.append(x.sum())
    return a, c


def arguments_of(function, sign):
    values = {"x": np.arange(12.0) * sign, "s": np.float64(sign), "d": {"k": 0.0}}
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    return [values[name] for name in names]


@pytest.mark.parametrize(
    "function",
    [
        field_set,
        dict_in_a_loop,
        field_in_a_loop,
        original_changes,
        argument_or_a_new_one,
        two_names_for_either,
    ],
)
def test_refused(function):
    for sign in (1, -1):
        with pytest.raises(TraceError, match="through another name") as caught:
            graphify.function(function)(*arguments_of(function, sign))
        assert "test_identity.py" in str(caught.value)


def new_dict_in_each_turn(x):
    p = {"w": x, "n": 0}
    for _ in range(20):
        p = {"w": p["w"] * 0.9, "n": p["n"] + 1}
    return p


def best_of_many(x):
    best = p = {"w": x, "l": 10.0}
    for _ in range(20):
        p = {"w": p["w"] * 0.9, "l": (p["w"] ** 2).sum()}
        if p["l"] < best["l"]:
            best = p
    return best, p


def replaced_then_changed(x):
    q = Box(x)
    for _ in range(20):
        q = dataclasses.replace(q, a=q.a * 0.9)
        q.b += 1
    return q.a, q.b


def changed_by_a_callee(x):
    def step(q):
        q.a = q.a * 0.5
        return q

    first = q = Box(x)
    for _ in range(20):
        q = step(q)
    return q.a, first.a


def rebound_then_changed(x, s):
    d = {"k": 1.0}
    if s > 0:
        d = {"k": 2.0}
    d["k"] = d["k"] + s
    return d


def handed_through(x):
    def update(d, v):
        d["k"] = d["k"] + v
        return d

    d = {"k": 0.0}
    for v in x:
        d = update(d, v)
    return d


def picked_from_a_list(x, s):
    a, b = {"k": 1.0}, Box({"k": 2.0})
    c = [a, b.a][0 if s > 0 else 1]
    c["k"] = 7.0
    for v in x:
        c["k"] += v
    return a, b.a, c


@pytest.mark.parametrize(
    "function",
    [
        new_dict_in_each_turn,
        best_of_many,
        replaced_then_changed,
        changed_by_a_callee,
        rebound_then_changed,
        handed_through,
        appended_to_either,
        list_set,
        copy_of_a_copy,
        picked_from_a_list,
    ],
)
def test_right(function):
    for sign in (1, -1):
        want = graphify.tree.leaves(function(*arguments_of(function, sign)))
        got = graphify.function(function)(*arguments_of(function, sign))
        for one, other in zip(graphify.tree.leaves(got), want, strict=True):
            np.testing.assert_allclose(one, other)
