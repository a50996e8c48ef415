"""Random loop-level programs: machine code gives what the interpreter gives.

Integers and bools only, so that every difference is an error: int32 and int64 arithmetic wraps.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from graphify.engines.native.loops.check import check as law
from graphify.engines.native.loops.pretty import text
from graphify.engines.native.loops.program import (
    BOOL,
    INDEX,
    ONE,
    ZERO,
    Allocate,
    Apply,
    Buffer,
    Const,
    Expr,
    Fail,
    For,
    Free,
    If,
    Let,
    Load,
    Note,
    Param,
    Program,
    Reduce,
    Result,
    Set,
    Site,
    Stmt,
    Store,
    Temporary,
    Var,
    View,
    While,
    compare,
    index,
    minus,
    plus,
    select,
    times,
)
from graphify.engines.native.translate import outline, vectors
from tests.engines.native.programs import Compiled, Failure, interpret

I16, I32 = np.dtype(np.int16), np.dtype(np.int32)
DTYPES = (I16, I32, INDEX)
BINARY = ("add", "subtract", "multiply", "maximum", "minimum", "bitwise_xor", "bitwise_and")
REDUCE = ("add", "maximum", "minimum", "bitwise_xor", "bitwise_or", "multiply")


class Writer:
    """One random program. Parameters: a matrix of any strides and a vector, of each dtype."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.n, self.m = Var("n", INDEX), Var("m", INDEX)
        self.params: list[Buffer] = []
        self.same: list[Stmt] = []
        for position, dtype in enumerate(DTYPES):
            shape = (Var(f"n{position}", INDEX), Var(f"m{position}", INDEX))
            strides = (Var(f"s{position}", INDEX), Var(f"t{position}", INDEX))
            name = f"x{position}"
            self.params.append(Buffer(name, dtype, shape, Param(position), strides))
        self.n, self.m = self.params[0].shape  # type: ignore[assignment]
        self.results = [
            Buffer(f"y{k}", dtype, (self.n, self.m), Result(k)) for k, dtype in enumerate(DTYPES)
        ]
        self.vars: list[Var] = []
        self.mutable: list[Var] = []
        self.loops: list[tuple[Var, Expr]] = []

    # --- expressions ----------------------------------------------------------------------------

    def expr(self, dtype: Any, depth: int = 3) -> Expr:
        pick = self.random.random()
        if depth == 0 or pick < 0.15:
            return self.leaf(dtype)
        if dtype == BOOL:
            return self.condition(depth)
        if pick < 0.3:
            return self.load(dtype, depth)
        if pick < 0.42:
            return select(self.condition(depth - 1), self.load(dtype, depth - 1), self.leaf(dtype))
        if pick < 0.5:
            other = self.random.choice(DTYPES)
            return Apply("cast", (self.expr(other, depth - 1),), dtype)
        if pick < 0.58:
            args = (self.condition(depth - 1), self.expr(dtype, depth - 1), self.leaf(dtype))
            return Apply("where", args, dtype)
        op = self.random.choice(BINARY)
        return Apply(op, (self.expr(dtype, depth - 1), self.expr(dtype, depth - 1)), dtype)

    def leaf(self, dtype: Any) -> Expr:
        known = [v for v in (*self.vars, *self.mutable) if v.dtype == dtype]
        if dtype == INDEX:
            known += [v for v, _ in self.loops]
        if known and self.random.random() < 0.7:
            return self.random.choice(known)
        if dtype == BOOL:
            return Const(self.random.random() < 0.5, BOOL)
        return Const(self.random.randint(-5, 100), dtype)

    def condition(self, depth: int) -> Expr:
        if depth and self.random.random() < 0.3:
            op = self.random.choice(("logical_and", "logical_or"))
            return Apply(op, (self.condition(depth - 1), self.condition(depth - 1)), BOOL)
        dtype = self.random.choice(DTYPES)
        op = self.random.choice(("less", "greater_equal", "equal", "not_equal"))
        return compare(op, self.expr(dtype, max(0, depth - 1)), self.leaf(dtype))

    def place(self, extent: Expr, depth: int) -> Expr:
        """An index below an extent: a loop's own, an even one, or anything."""
        fitting = [v for v, e in self.loops if e is extent]
        pick = self.random.random()
        if fitting and pick < 0.6:
            return self.random.choice(fitting)
        if fitting and pick < 0.75:
            return minus(minus(extent, ONE), self.random.choice(fitting))
        if pick < 0.85:
            return ZERO
        any_ = self.expr(INDEX, max(0, depth - 1))
        if self.random.random() < 0.5:
            any_ = plus(times(self.leaf(INDEX), index(2)), ONE)
        return Apply("remainder", (any_, extent), INDEX)

    def load(self, dtype: Any, depth: int) -> Expr:
        buffer = self.random.choice([b for b in self.sources() if b.dtype == dtype])
        extents = (self.n, self.m)[-buffer.ndim :]
        return Load(buffer, tuple(self.place(e, depth - 1) for e in extents))

    def sources(self) -> list[Buffer]:
        rows = []
        for buffer in self.params:
            rows.append(buffer)
            first = [v for v, e in self.loops if e is self.n]
            if first and buffer.strides:
                offset = times(first[0], buffer.strides[0])
                view = View(buffer, offset)
                rows.append(Buffer("row", buffer.dtype, (self.m,), view, (buffer.strides[1],)))
        return rows

    # --- statements -----------------------------------------------------------------------------

    def straight(self, count: int) -> list[Stmt]:
        """Declarations and changes of variables, branches, small loops."""
        body: list[Stmt] = []
        own = len(self.mutable)
        for _ in range(count):
            dtype = self.random.choice(DTYPES)
            pick = self.random.random()
            if pick < 0.35:
                var = Var("v", dtype)
                body.append(Let(var, self.expr(dtype)))
                self.vars.append(var)
            elif pick < 0.55:
                var = Var("w", dtype, True)
                body.append(Let(var, self.expr(dtype)))
                self.mutable.append(var)
            elif pick < 0.75 and len(self.mutable) > own:
                var = self.random.choice(self.mutable[own:])
                body.append(Set(var, self.expr(var.dtype)))
            elif pick < 0.9:
                body.append(self.nested(own))
            else:
                body.append(Note("nothing"))
        return body

    def nested(self, own: int) -> Stmt:
        kept = len(self.vars), len(self.mutable)
        pick = self.random.random()
        settable = self.mutable[own:]

        def changes() -> tuple[Stmt, ...]:
            var = self.random.choice(settable) if settable else None
            given: list[Stmt] = []
            if var is not None:
                given.append(Set(var, self.expr(var.dtype)))
                if self.random.random() < 0.5:
                    op = self.random.choice(REDUCE)
                    given.append(Reduce(var, op, self.expr(var.dtype)))
            return tuple(given)

        if pick < 0.6:
            stmt: Stmt = If(self.condition(2), changes(), changes())
        elif pick < 0.8:
            k = Var("k", INDEX)
            self.loops.append((k, index(3)))
            stmt = For(k, self.random.choice((index(3), self.m)), changes())
            self.loops.pop()
        else:
            count = Var("count", INDEX, True)
            limit = Apply("bitwise_and", (self.leaf(INDEX), index(3)), INDEX)
            turn = (*changes(), Set(count, plus(count, ONE)))
            stmt = If(
                Const(True, BOOL),
                (Let(count, ZERO), While((), compare("less", count, limit), turn)),
            )
        del self.vars[kept[0] :], self.mutable[kept[1] :]
        return stmt

    def program(self) -> Program:
        """A nest over the results, with reductions; the inner loop in lanes."""
        totals = [Var(f"total{k}", d, True) for k, d in enumerate(DTYPES)]
        ops = [self.random.choice(REDUCE) for _ in DTYPES]
        i, j = Var("i", INDEX), Var("j", INDEX)
        body: list[Stmt] = [Let(t, Const(1, t.dtype)) for t in totals]
        temporary = Buffer("t", I32, (self.m,), Temporary())
        self.loops.append((i, self.n))
        outer = self.straight(2)
        self.loops.append((j, self.m))
        inner = self.straight(4)
        for k, y in enumerate(self.results):
            inner.append(Store(y, (i, j), self.expr(y.dtype)))
            if self.random.random() < 0.4:
                inner.append(Reduce(totals[k], ops[k], self.expr(y.dtype, 2)))
        inner.append(Store(temporary, (j,), self.expr(I32, 2)))
        self.loops.pop()
        second = Var("j", INDEX)
        after = Store(
            self.results[1],
            (i, second),
            Apply("add", (Load(temporary, (second,)), Load(self.results[1], (i, second))), I32),
        )
        kind = self.random.choice(("vector", "vector", "vector", "serial"))
        fail = Fail(compare("equal", Load(temporary, (ZERO,)), Const(3, I32)), 1, (i,))
        turn = (
            Allocate(temporary),
            *outer,
            For(j, self.m, tuple(inner), kind),
            If(compare("greater", self.m, ZERO), (fail,)),
            For(second, self.m, (after,), "vector"),
            Free(temporary),
        )
        outer_kind = self.random.choice(("serial", "parallel"))
        self.loops.pop()
        body.append(For(i, self.n, turn, outer_kind))
        results = [*self.results]
        for k, total in enumerate(totals):
            results.append(Buffer(f"r{k}", total.dtype, (), Result(len(results))))
            body.append(Store(results[-1], (), total))
        dims = tuple(b.shape for b in results)
        sites = (Site(ValueError, "{}"),)
        return Program("p", tuple(self.params), tuple(results), (), dims, tuple(body), sites)


def arguments(seed: int, shape: tuple[int, int]) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    arrays = []
    for dtype in DTYPES:
        whole = rng.integers(-5, 100, (shape[0] * 2 + 1, shape[1] * 2 + 1)).astype(dtype)
        views = [
            whole[: shape[0], : shape[1]],
            whole[::2, ::2][: shape[0], : shape[1]],
            whole[: shape[0], : shape[1]][::-1],
            whole.reshape(-1)[: shape[0] * shape[1]].reshape(shape[::-1]).T,
        ]
        arrays.append(views[rng.integers(len(views))])
    return arrays


@pytest.mark.parametrize("seed", range(40))
def test_random_program(seed: int) -> None:
    _agree(seed)


@pytest.mark.parametrize("seed", range(40, 60))
def test_as_part_of_a_large_program(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Large programs have one masked loop each, and their blocks are functions."""
    monkeypatch.setattr(vectors, "HEAVY", 0)
    monkeypatch.setattr(outline, "LONG", 40)
    monkeypatch.setattr(outline, "PART", 20)
    _agree(seed)


@pytest.mark.parametrize("seed", range(60, 80))
def test_as_part_of_a_long_program(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Long programs write a body without sums once, and what is left over without a loop."""
    monkeypatch.setattr(vectors, "LONG", 0)
    _agree(seed)


@pytest.mark.parametrize("length", [1, 2, 8, 16, 17, 64, 1000])
@pytest.mark.parametrize(("long", "heavy"), [(0, 0), (0, 4000), (300, 4000)])
def test_loops_of_known_length(
    length: int, long: int, heavy: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "LONG", long)
    monkeypatch.setattr(vectors, "HEAVY", heavy)
    i, n = Var("i", INDEX), index(length)
    x, y = Buffer("x", I32, (n,), Param(0)), Buffer("y", I32, (n,), Result(0))
    turn = Store(y, (i,), Apply("add", (Load(x, (i,)), Const(1, I32)), I32))
    program = Program("p", (x,), (y,), (), ((n,),), (For(i, n, (turn,), "vector"),))
    array = np.arange(length, dtype=np.int32)
    (got,) = Compiled(program)(array)
    np.testing.assert_array_equal(got, array + 1)


def test_sizes_are_never_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outline, "LONG", 1)
    n, i = Var("n", INDEX), Var("i", INDEX)
    half, more = Var("half", INDEX), Var("more", INDEX)
    sizes = (
        Let(half, Apply("floor_divide", (n, index(2)), INDEX)),
        Let(more, plus(half, index(3))),
    )
    x, y = Buffer("x", I32, (n,), Param(0)), Buffer("y", I32, (more,), Result(0))
    turns = (For(i, more, (Store(y, (i,), Load(x, (ZERO,))),)), Note("nothing"))
    (got,) = Compiled(Program("p", (x,), (y,), sizes, ((more,),), turns))(
        np.arange(7, 17, dtype=I32)
    )
    np.testing.assert_array_equal(got, np.full(8, 7))


def _agree(seed: int) -> None:
    program = Writer(seed).program()
    law(program)
    compiled = Compiled(program)
    for shape in ((1, 1), (3, 5), (2, 40), (0, 2)):
        arrays = arguments(seed, shape)
        try:
            meant: Any = interpret(program, arrays)
        except Failure as failure:
            meant = failure
        try:
            got: Any = compiled(*arrays)
        except Failure as failure:
            got = failure
        if isinstance(meant, Failure) or isinstance(got, Failure):
            assert isinstance(meant, Failure) and isinstance(got, Failure), (meant, got)
            assert (meant.site, meant.words[0]) == (got.site, got.words[0])
            continue
        for mine, theirs in zip(got, meant, strict=True):
            np.testing.assert_array_equal(mine, theirs, err_msg=text(program))
