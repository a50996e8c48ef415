"""What expressions are in the lanes of a vector loop: uniform, evenly spaced, or anything.

loop.varies(expr)       whether it differs from lane to lane
loop.step(index)        by how much an index grows from lane to lane
loop.place(x, at)       where the elements are that the lanes touch
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from graphify.engines.native.elements.element import Element, constant, splat
from graphify.engines.native.llvm import Spot, V
from graphify.engines.native.loops.program import (
    INDEX,
    ONE,
    ZERO,
    Apply,
    Block,
    Buffer,
    Const,
    Expr,
    For,
    Let,
    Load,
    Reduce,
    Stmt,
    Store,
    Var,
    View,
    While,
    minus,
    plus,
    times,
)
from graphify.engines.native.loops.walk import (
    address_expressions,
    expressions_of,
    parts,
    statements,
)
from graphify.engines.native.translate import addresses, scalars
from graphify.engines.native.translate.cells import Cell
from graphify.engines.native.translate.reductions import Accumulator
from graphify.engines.native.translate.writer import Writer

HEAVIEST = 64  # terms of an index that is followed from lane to lane


class VectorLoop:
    """What the copies of a body share.

    Attributes:
        own: the variables of the body, with what they stand for if that varies and never changes.
        assumed: steps that are taken to be one: the code stands behind a test of them.
        level: the scope in front of which what is uniform is computed.
    """

    def __init__(
        self, w: Writer, stmt: For, spot: Spot, lanes: int, assumed: frozenset[Expr]
    ) -> None:
        self.w, self.stmt, self.spot, self.lanes = w, stmt, spot, lanes
        self.assumed = assumed
        self.level = len(w.scopes) - 1
        self.own: dict[Var, Expr | None] = {stmt.var: None}
        for s in statements(stmt.body):
            if isinstance(s, Let):
                self.own[s.var] = None if s.var.mutable else s.value
                w.values.pop(s.var, None)  # as another version of the loop left it
        nested = [s for s in stmt.body if isinstance(s, For | While)]
        self.rewrites = any(isinstance(s, Store) for s in statements(tuple(nested)))
        self.cells: dict[Var, Cell] = {}
        self.accumulators: dict[Var, Accumulator] = {}
        # By identity; kept with what they are of, so that an identity stays its own.
        self._varying: dict[int, tuple[Expr, bool]] = {}
        self._splats: dict[int, tuple[Expr, Element]] = {}
        self._weights: dict[Var, int] = {}

    # --- reductions -----------------------------------------------------------------------------

    def collect(self, copies: int) -> None:
        """Accumulators for the variables of the outside that the body reduces into."""
        for s in sums_of(self.stmt.body):
            if s.var not in self.accumulators:
                deep = s not in self.stmt.body
                made = Accumulator(self.w, s.var, s.op, self.lanes, copies, deep)
                self.accumulators[s.var] = made

    @property
    def has_blocks(self) -> bool:
        """Whether there are float sums to be added up now and then."""
        return any(a.wide is not None and not a.deep for a in self.accumulators.values())

    def fold(self) -> None:
        for accumulator in self.accumulators.values():
            accumulator.fold()

    def finish(self) -> None:
        for accumulator in self.accumulators.values():
            accumulator.finish()

    # --- uniform values -------------------------------------------------------------------------

    def varies(self, expr: Expr) -> bool:
        """Whether an expression differs from lane to lane."""
        match expr:
            case Const():
                return False
            case Var():
                if expr not in self.own:
                    return False
                value = self.own[expr]
                return value is None or self.varies(value)
        known = self._varying.get(id(expr))
        if known is None:
            inner = expr.args if isinstance(expr, Apply) else (*expr.index, *_offsets(expr.buffer))
            known = self._varying[id(expr)] = (expr, any(map(self.varies, inner)))
        return known[1]

    def is_early(self, expr: Expr, conditional: bool) -> bool:
        """Whether a uniform expression may be computed in front of the loop.

        Args:
            conditional: it is not certain to be reached: then it must not load.
        """
        for part in parts(expr):
            if isinstance(part, Load) and (conditional or self.rewrites):
                return False
            if isinstance(part, Var) and not self._is_outer(part):
                return False
        return True

    def _is_outer(self, var: Var) -> bool:
        if var not in self.w.values:  # stands for an expression
            value = self.own[var]
            return value is not None and self.is_early(value, False)
        return self.w.level_of_thing(var) < self.level

    def early(self, expr: Expr) -> Element:
        """A uniform value computed in front of the loop, in all lanes."""
        f = self.w.f
        if isinstance(expr, Const):
            return constant(f, expr.dtype, expr.value, self.lanes)
        known = self._splats.get(id(expr))
        if known is None:
            with f.writing_at(self.spot):
                x = splat(f, scalars.scalar(self.w, self.settled(expr)), self.lanes)
            known = self._splats[id(expr)] = (expr, x)
        return known[1]

    def define_early(self, var: Var, value: Expr) -> None:
        """A variable of the body that is uniform and known in front of the loop."""
        if var in self.w.values:
            return
        with self.w.f.writing_at(self.spot):
            x = scalars.scalar(self.w, self.settled(value))
        self.w.define(var, x)
        self.w.levels[var] = self.level - 1

    def settled(self, expr: Expr) -> Expr:
        """Without the body's own names: what stands for them instead."""
        match expr:
            case Var():
                value = None if expr in self.w.values else self.own.get(expr)
                return expr if value is None else self.settled(value)
            case Apply(op, args, dtype):
                new = tuple(map(self.settled, args))
                same = all(a is b for a, b in zip(new, args, strict=True))
                return expr if same else Apply(op, new, dtype)
            case Load(buffer, at):
                new = tuple(map(self.settled, at))
                same = all(a is b for a, b in zip(new, at, strict=True))
                return expr if same else Load(buffer, new)
        return expr

    # --- addresses ------------------------------------------------------------------------------

    def step(self, expr: Expr) -> Expr | None:
        """By how much an index grows from lane to lane; None: not evenly."""
        if not self.varies(expr):
            return ZERO
        match expr:
            case Var():
                value = self.own[expr]
                if value is not None:
                    return self.step(value) if self._weight(expr) <= HEAVIEST else None
                return ONE if expr is self.stmt.var else None
            case Apply("add" | "subtract" as op, (a, b), dtype) if dtype == INDEX:
                first, second = self.step(a), self.step(b)
                if first is None or second is None:
                    return None
                return plus(first, second) if op == "add" else minus(first, second)
            case Apply("multiply", (a, b), dtype) if dtype == INDEX:
                if self.varies(a) and self.varies(b):
                    return None
                x, y = (a, b) if self.varies(a) else (b, a)
                inner = self.step(x)
                return None if inner is None else times(inner, self.settled(y))
        return None

    def _weight(self, expr: Expr) -> int:
        """How many terms an index has, with what its names stand for written out: `y = x + x`,
        `z = y + y`, ... are twice as many each."""
        if isinstance(expr, Var):
            if expr not in self._weights:
                value = self.own.get(expr)
                self._weights[expr] = 1 if value is None else self._weight(value)
            return self._weights[expr]
        inner = expr.args if isinstance(expr, Apply) else ()
        return min(sum(map(self._weight, inner)) or 1, HEAVIEST + 1)

    def at_start(self, expr: Expr) -> Expr:
        """An even index in the loop's first turn."""
        if not self.varies(expr):
            return self.settled(expr)
        match expr:
            case Var():
                value = self.own[expr]
                return ZERO if value is None else self.at_start(value)
            case Apply(op, (a, b)):
                combine = {"add": plus, "subtract": minus, "multiply": times}[op]
                return combine(self.at_start(a), self.at_start(b))
        raise AssertionError(expr)

    def place(self, buffer: Buffer, at: tuple[Expr, ...]) -> Place:
        """Where the elements that the lanes touch are."""
        buffer, terms = self._terms(buffer, at)
        start, uneven = [], []
        for i, stride in terms:
            if self.step(i) is None:
                uneven.append((i, stride))
            else:
                start.append((self.at_start(i), stride))
        base = addresses.sum_of(self.w, buffer, start)
        return Place(base, buffer, self._step(terms), tuple(uneven))

    def _terms(
        self, buffer: Buffer, at: tuple[Expr, ...]
    ) -> tuple[Buffer, list[tuple[Expr, Expr]]]:
        """A buffer whose address is uniform, and the products whose sum is the distance from it."""
        terms = [(i, self.settled(s)) for i, s in zip(at, self.w.strides(buffer), strict=True)]
        while isinstance(buffer.home, View) and self.varies(buffer.home.offset):
            terms.append((buffer.home.offset, ONE))
            buffer = buffer.home.base
        return buffer, terms

    def _step(self, terms: Sequence[tuple[Expr, Expr]]) -> Expr:
        """The distance from lane to lane, as far as it is even."""
        total: Expr = ZERO
        for i, stride in terms:
            inner = self.step(i)
            if inner is not None:
                total = plus(total, times(inner, stride))
        return ONE if total in self.assumed else total

    def unknown_steps(self) -> frozenset[Expr]:
        """Distances of neighbours that only the run knows."""
        found = set()
        for buffer, at in accesses(self.stmt.body):
            _, terms = self._terms(buffer, at)
            step = self._step(terms)
            even = all(self.step(i) is not None for i, _ in terms)
            if even and not isinstance(step, Const) and self.is_early(step, True):
                found.add(step)
        return frozenset(found)


def accesses(block: Block) -> Iterator[tuple[Buffer, tuple[Expr, ...]]]:
    """The elements that statements touch."""
    for stmt in statements(block):
        for expr in expressions_of(stmt):
            for part in parts(expr):
                if isinstance(part, Load):
                    yield part.buffer, part.index
        if isinstance(stmt, Store):
            yield stmt.buffer, stmt.index


def sums_of(block: Block) -> list[Reduce]:
    """The reductions into variables of the outside."""
    inner: list[Stmt] = list(statements(block))
    own = {s.var for s in inner if isinstance(s, Let)}
    return [s for s in inner if isinstance(s, Reduce) and s.var not in own]


def _offsets(buffer: Buffer) -> list[Expr]:
    return [e for e in address_expressions(buffer) if not isinstance(e, Const)]


@dataclass(slots=True)
class Place:
    """`base` in the loop's first turn; `step` elements further each turn; and uneven distances."""

    base: V
    buffer: Buffer
    step: Expr
    uneven: tuple[tuple[Expr, Expr], ...]
