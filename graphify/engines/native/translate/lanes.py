"""Expressions in the lanes of a vector loop: what is uniform, what is contiguous, what is gathered.

    copy = Copy(loop, start, mask, 0)     # turns start, start + 1, ... in the lanes
    copy.write()                          # the body's statements

A load under a `where` is masked by its condition, unless the condition compares floats.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from graphify.engines.native.elements.cast import truth
from graphify.engines.native.elements.element import Element, constant, select, splat
from graphify.engines.native.elements.memory import gather, load, scatter, shuffle, store
from graphify.engines.native.elements.rule import any_lane
from graphify.engines.native.llvm import I64, Spot, V
from graphify.engines.native.loops.program import (
    INDEX,
    ONE,
    ZERO,
    Apply,
    Buffer,
    Const,
    Expr,
    For,
    Let,
    Load,
    Reduce,
    Set,
    Store,
    Var,
    View,
    minus,
    plus,
    times,
)
from graphify.engines.native.loops.walk import address_expressions
from graphify.engines.native.translate import addresses, cells, scalars
from graphify.engines.native.translate.cells import Cell
from graphify.engines.native.translate.reductions import Accumulator
from graphify.engines.native.translate.writer import Writer, number


class VectorLoop:
    """What the copies of a body share."""

    def __init__(self, w: Writer, stmt: For, spot: Spot, lanes: int) -> None:
        self.w, self.stmt, self.spot, self.lanes = w, stmt, spot, lanes
        self.own: dict[Var, Expr | None] = {stmt.var: None}  # with what they are, if fixed
        for s in stmt.body:
            if isinstance(s, Let):
                self.own[s.var] = None if s.var.mutable else s.value
        self.cells: dict[Var, Cell] = {}
        self.accumulators: dict[Var, Accumulator] = {}
        self._varying: dict[int, bool] = {}
        self._splats: dict[object, Element] = {}

    # --- reductions -----------------------------------------------------------------------------

    def collect(self, sums: Sequence[Reduce], copies: int) -> None:
        """Accumulators for the variables that the body reduces into."""
        for s in sums:
            if s.var not in self.accumulators:
                self.accumulators[s.var] = Accumulator(self.w, s.var, s.op, self.lanes, copies)

    @property
    def has_blocks(self) -> bool:
        return any(a.wide is not None for a in self.accumulators.values())

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
            known = self._varying[id(expr)] = any(map(self.varies, inner))
        return known

    def uniform(self, expr: Expr) -> Element:
        """What is the same in all lanes: computed in front of the loop."""
        f = self.w.f
        if isinstance(expr, Const):
            return constant(f, expr.dtype, expr.value, self.lanes)
        key = expr if isinstance(expr, Var) else id(expr)
        known = self._splats.get(key)
        if known is None:
            with f.writing_at(self.spot):
                known = splat(f, scalars.scalar(self.w, self.settled(expr)), self.lanes)
            self._splats[key] = known
        return known

    def settled(self, expr: Expr) -> Expr:
        """Without the body's own names: what stands for them instead."""
        match expr:
            case Var():
                value = self.own.get(expr)
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
                    return self.step(value)
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
        terms = [(i, self.settled(s)) for i, s in zip(at, self.w.strides(buffer), strict=True)]
        while isinstance(buffer.home, View) and self.varies(buffer.home.offset):
            terms.append((buffer.home.offset, ONE))
            buffer = buffer.home.base
        step: Expr = ZERO
        start, uneven = [], []
        for i, stride in terms:
            inner = self.step(i)
            if inner is None:
                uneven.append((i, stride))
            else:
                step = plus(step, times(inner, stride))
                start.append((self.at_start(i), stride))
        return Place(addresses.sum_of(self.w, buffer, start), buffer, step, tuple(uneven))


def _offsets(buffer: Buffer) -> list[Expr]:
    return [e for e in address_expressions(buffer) if not isinstance(e, Const)]


@dataclass(slots=True)
class Place:
    """`base` in the loop's first turn; `step` elements further each turn; and uneven distances."""

    base: V
    buffer: Buffer
    step: Expr
    uneven: tuple[tuple[Expr, Expr], ...]


@dataclass
class Copy:
    """The body for the turns from `start` on, one per lane."""

    loop: VectorLoop
    start: V
    mask: V | None
    number: int
    values: dict[Var, Element] = field(default_factory=dict)
    _known: dict[tuple[int, str | None], Element] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.w, self.f, self.lanes = self.loop.w, self.loop.w.f, self.loop.lanes

    # --- statements -----------------------------------------------------------------------------

    def write(self) -> None:
        """All statements of the body."""
        line = None
        for stmt in self.loop.stmt.body:
            source = getattr(stmt, "source", None)
            if source is not None and source is not line and not self.number:
                self.f.comment(str(source))
                line = source
            self._known.clear()
            match stmt:
                case Let(var, value):
                    self._let(var, value)
                case Set(var, value):
                    self.loop.cells[var].write(self.f, self.value(value))
                case Store(buffer, at, value):
                    self.store(buffer, at, self.value(value))
                case Reduce(var, _, value):
                    x = self.value(value)
                    self.loop.accumulators[var].take(x, self.number, self.mask)

    def _let(self, var: Var, value: Expr) -> None:
        if var.mutable:
            if var not in self.loop.cells:
                self.loop.cells[var] = cells.plain(self.f, var.dtype, self.lanes)
            self.loop.cells[var].write(self.f, self.value(value))
        elif self.loop.varies(value) and not self._only_says_where(var, value):
            self.values[var] = self.value(value)

    def _only_says_where(self, var: Var, value: Expr) -> bool:
        """An even index is computed where it is used as a value, if ever."""
        return var.dtype == INDEX and self.loop.step(value) is not None

    # --- values ---------------------------------------------------------------------------------

    def value(self, expr: Expr, guard: V | None = None) -> Element:
        """An expression in the lanes; loads happen where `guard` holds only."""
        if not self.loop.varies(expr):
            return self._uniform(expr, guard)
        key = (id(expr), guard.text if guard else None)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._varying(expr, guard)
        return known

    def _uniform(self, expr: Expr, guard: V | None) -> Element:
        if guard is None or not _has_load(expr):
            return self.loop.uniform(expr)
        # It may be legal in some turns only: load if there is any such.
        inside = any_lane(self.f, self._masked(guard) or guard)
        return splat(self.f, scalars.scalar(self.w, self.loop.settled(expr), inside), self.lanes)

    def _varying(self, expr: Expr, guard: V | None) -> Element:
        match expr:
            case Var():
                return self._variable(expr)
            case Load(buffer, at):
                return self.load(self.loop.place(buffer, at), guard)
            case Apply("where", (condition, yes, no)):
                return self._where(condition, yes, no, guard)
            case Apply(op, args, dtype):
                return scalars.operate(self.w, op, [self.value(a, guard) for a in args], dtype)
        raise TypeError(f"not an expression: {expr!r}")

    def _variable(self, var: Var) -> Element:
        if var in self.loop.cells:
            return self.loop.cells[var].read(self.f)
        if var in self.values:
            return self.values[var]
        if var is self.loop.stmt.var:
            lanes = self.f.iota(I64.of(self.lanes))
            value = self.f.add(self.f.splat(self.start, self.lanes), lanes)
            result = Element(INDEX, (value,))
        else:
            definition = self.loop.own[var]
            assert definition is not None
            result = self.value(definition)
        self.values[var] = result
        return result

    def _where(self, condition: Expr, yes: Expr, no: Expr, guard: V | None) -> Element:
        holds = truth(self.f, self.value(condition, guard))
        if self._is_data(condition):
            inside = outside = guard
        else:
            inside = self._both(guard, holds, yes)
            outside = self._both(guard, self.f.not_(holds), no) if _has_load(no) else guard
        return select(self.f, holds, self.value(yes, inside), self.value(no, outside))

    def _is_data(self, condition: Expr) -> bool:
        if isinstance(condition, Var):
            value = self.loop.own.get(condition)
            if value is not None:
                return self._is_data(value)
        return scalars.is_data(self.w, condition)

    def _both(self, guard: V | None, holds: V, side: Expr) -> V | None:
        if not _has_load(side):
            return guard
        return holds if guard is None else self.f.and_(guard, holds)

    def _masked(self, guard: V | None) -> V | None:
        """The lanes that are inside the loop and the guard."""
        if guard is None or self.mask is None:
            return guard or self.mask
        return self.f.and_(guard, self.mask)

    # --- memory ---------------------------------------------------------------------------------

    def load(self, place: Place, guard: V | None) -> Element:
        f, dtype, mask = self.f, place.buffer.dtype, self._masked(guard)
        if not place.uneven and place.step == ZERO:
            inside = None if mask is None else any_lane(f, mask)
            pointer = place.base
            if inside is not None:
                pointer = f.select(inside, pointer, scalars.nothing(self.w))
            return splat(f, load(f, dtype, pointer, 1), self.lanes)
        if not place.uneven and place.step == ONE:
            return load(f, dtype, self._neighbours(place), self.lanes, mask=mask)
        if not place.uneven and place.step == Const(-1, INDEX):
            pointer, mask = self._backwards(place, mask)
            return self._reversed(load(f, dtype, pointer, self.lanes, mask=mask))
        base, index = self._apart(place, guard)
        return gather(f, dtype, base, index, mask)

    def store(self, buffer: Buffer, at: tuple[Expr, ...], x: Element) -> None:
        place, f = self.loop.place(buffer, at), self.f
        if not place.uneven and place.step == ONE:
            store(f, x, self._neighbours(place), mask=self.mask)
        elif not place.uneven and place.step == Const(-1, INDEX):
            pointer, mask = self._backwards(place, self.mask)
            store(f, self._reversed(x), pointer, mask=mask)
        else:
            base, index = self._apart(place, None)
            scatter(f, x, base, index, self.mask)

    def _neighbours(self, place: Place) -> V:
        return self.f.at(place.base, addresses.element_type(place.buffer.dtype), self.start)

    def _backwards(self, place: Place, mask: V | None) -> tuple[V, V | None]:
        """The lowest address of lanes that run downwards."""
        first = self.f.sub(number(1 - self.lanes), self.start)
        pointer = self.f.at(place.base, addresses.element_type(place.buffer.dtype), first)
        return pointer, None if mask is None else self._turned(mask)

    def _turned(self, x: V) -> V:
        return shuffle(self.f, x, x, list(reversed(range(self.lanes))))

    def _reversed(self, x: Element) -> Element:
        return Element(x.dtype, tuple(map(self._turned, x.parts)))

    def _apart(self, place: Place, guard: V | None) -> tuple[V, V]:
        """A base, and the distance of each lane from it."""
        f, w = self.f, self.w
        type = addresses.element_type(place.buffer.dtype)
        base, distance = place.base, None
        if place.step != ZERO:
            step = addresses.value(w, place.step)
            base = f.at(base, type, f.mul(self.start, step))
            distance = w.placed(
                ("lanes", step.text, self.lanes),
                w.level(place.step),
                lambda: f.mul(f.iota(I64.of(self.lanes)), f.splat(step, self.lanes)),
                w.is_fixed(place.step),
            )
        for expr, stride in place.uneven:
            term = self.value(expr, guard).value
            if stride != ONE:
                term = f.mul(term, self.loop.uniform(stride).value)
            distance = term if distance is None else f.add(distance, term)
        if distance is None:
            distance = f.const(I64.of(self.lanes), 0)
        return base, distance


def _has_load(expr: Expr) -> bool:
    stack = [expr]
    while stack:
        e = stack.pop()
        if isinstance(e, Load):
            return True
        if isinstance(e, Apply):
            stack += e.args
    return False
