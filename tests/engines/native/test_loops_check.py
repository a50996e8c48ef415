"""The checker of loop-level programs lets good ones pass and says what is wrong with others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from graphify.engines.native.loops.check import check
from graphify.engines.native.loops.program import (
    BOOL,
    INDEX,
    ZERO,
    Allocate,
    Apply,
    Buffer,
    Call,
    Checked,
    Const,
    Fail,
    For,
    Free,
    Handle,
    If,
    Let,
    Literal,
    Load,
    Param,
    Point,
    Program,
    Reduce,
    Result,
    Set,
    Site,
    Store,
    Swap,
    Temporary,
    Var,
    View,
    While,
    compare,
    index,
)
from graphify.errors import InternalError

F32 = np.dtype(np.float32)
n, i, j = (Var(name, INDEX) for name in "nij")
x = Buffer("x", F32, (n,), Param(0))
y = Buffer("y", F32, (n,), Result(0))
t = Buffer("t", F32, (n,), Temporary())
total, fixed, flag = Var("total", F32, True), Var("fixed", F32), Var("flag", BOOL)
a, b = (Buffer(name, F32, (n,), Handle()) for name in "ab")
ZERO32, HOLDS = Const(0.0, F32), Const(True, BOOL)


def program(*body: Any, sizes: Any = ()) -> Program:
    return Program("p", (x,), (y,), tuple(sizes), ((n,),), body, (Site(ValueError, "no"),))


GOOD = [
    [For(i, n, (Store(y, (i,), Load(x, (i,))),), "vector")],
    [Allocate(t), For(i, n, (Store(t, (i,), ZERO32),)), Free(t)],
    [Let(total, ZERO32), For(i, n, (Reduce(total, "add", Load(x, (i,))),), "parallel")],
    [Let(total, ZERO32), While((Let(flag, HOLDS),), flag, (Set(total, ZERO32),))],
    [If(HOLDS, (Let(fixed, ZERO32),), (Let(fixed, ZERO32),))],
    [Allocate(a), Point(b, x), Swap(a, b), Free(a)],
    [Fail(HOLDS, 1, (n,)), Checked(j, "add", (n, index(1)), 1)],
    [For(i, n, (Allocate(t), Store(t, (ZERO,), ZERO32), Free(t)))],
    [Call("copy", (y,), (x,))],
    [Call("host", (a,), (x,), (n,), (), {"number": 0}), Store(y, (ZERO,), Load(a, (ZERO,)))],
]


@pytest.mark.parametrize("body", GOOD)
def test_good_programs_pass(body: Any) -> None:
    good = program(*body)
    check(Program(**{f: getattr(good, f) for f in Program.__slots__ if f != "hosts"}, hosts=(1,)))


BAD = [
    ("'fixed' is not declared", [Store(y, (ZERO,), fixed)]),
    ("'i' is not declared", [For(i, n, ()), Store(y, (i,), ZERO32)]),
    ("'fixed' is declared already", [Let(fixed, ZERO32), Let(fixed, ZERO32)]),
    ("expected an expression of float32, got int64", [Let(fixed, ZERO)]),
    ("expected an expression of float32, got bool", [Store(y, (ZERO,), HOLDS)]),
    ("expected an expression of bool", [If(ZERO, ())]),
    ("expected an expression of int64", [For(i, ZERO32, ())]),
    ("y has 1 axes, and 2 indices", [Store(y, (ZERO, ZERO), ZERO32)]),
    ("an index of x is float32", [Store(y, (ZERO,), Load(x, (ZERO32,)))]),
    ("'t' has no memory", [Store(t, (ZERO,), ZERO32)]),
    ("'t' has no memory", [Allocate(t), Free(t), Store(t, (ZERO,), ZERO32)]),
    ("'t' has no memory", [If(HOLDS, (Allocate(t),)), Store(t, (ZERO,), ZERO32)]),
    ("'a' has no memory", [Swap(a, b)]),
    ("freed in the loop that allocated it", [Allocate(t), For(i, n, (Free(t),))]),
    ("x was allocated here", [Free(x)]),
    ("'fixed' may change", [Let(fixed, ZERO32), Set(fixed, ZERO32)]),
    ("'total' is not declared", [Reduce(total, "add", ZERO32)]),
    ("a vector loop holds no Fail", [For(i, n, (Fail(HOLDS, 1),), "vector")]),
    (
        "variables of its own only",
        [Let(total, ZERO32), For(i, n, (Set(total, ZERO32),), "vector")],
    ),
    (
        "a parallel loop sets the variable 'total'",
        [Let(total, ZERO32), For(i, n, (Set(total, ZERO32),), "parallel")],
    ),
    ("no failure site 2", [Fail(HOLDS, 2)]),
    ("no failure site 0", [Checked(j, "add", (n, n), 0)]),
    ("no operation 'frobnicate'", [Let(fixed, Apply("frobnicate", (ZERO32,), F32))]),
    ("operands of int64", [Let(j, Apply("add", (n, Const(1, np.dtype(np.int32))), INDEX))]),
    ("a bool and two values", [Let(fixed, Apply("where", (ZERO, ZERO32, ZERO32), F32))]),
    ("both sides", [Let(fixed, Apply("where", (HOLDS, ZERO, ZERO32), F32))]),
    ("no host function 3", [Call("host", (), (x,), attrs={"number": 3})]),
    ("not 'sideways'", [For(i, n, (), "sideways")]),
    ("handles are aimed", [Point(t, x)]),
    (
        "constant data does not change",
        [Store(Buffer("c", F32, (index(2),), Literal(np.zeros(2, F32))), (ZERO,), ZERO32)],
    ),
    (
        "'j' is not declared",
        [Store(Buffer("v", F32, (n,), View(y, j)), (ZERO,), ZERO32)],
    ),
]


@pytest.mark.parametrize("message, body", BAD, ids=[m for m, _ in BAD])
def test_bad_programs_are_shown(message: str, body: Any) -> None:
    with pytest.raises(InternalError) as caught:
        check(program(*body))
    assert message in str(caught.value)
    assert "\n    " in str(caught.value)  # the statement


def test_sizes_are_looked_at_too() -> None:
    with pytest.raises(InternalError, match="not declared"):
        check(program(sizes=[Fail(compare("less", j, n), 1)]))
