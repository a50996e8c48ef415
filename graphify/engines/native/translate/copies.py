"""The body of a vector loop, written for as many turns as there are lanes.

    copy = Copy(loop, start, mask, 0)     # turns start, start + 1, ... in the lanes
    copy.write()                          # the body's statements

Branches and inner loops are run by all lanes together: a lane that is not concerned takes part with
its mask off, which keeps its variables and memory as they are. `While` goes on while any lane does.
A load under a `where` is masked by its condition, unless the condition compares floats.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from graphify.engines.native.elements.cast import truth
from graphify.engines.native.elements.element import Element, constant, select, splat
from graphify.engines.native.elements.memory import gather, load, scatter, shuffle, store
from graphify.engines.native.elements.rule import any_lane
from graphify.engines.native.llvm import BIT, I32, I64, V
from graphify.engines.native.loops.lines import quote
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
    If,
    Let,
    Load,
    Note,
    Reduce,
    Set,
    Stmt,
    Store,
    Var,
    While,
)
from graphify.engines.native.translate import addresses, cells, costs, scalars
from graphify.engines.native.translate.cells import Cell
from graphify.engines.native.translate.lanes import Place, VectorLoop
from graphify.engines.native.translate.reductions import neutral
from graphify.engines.native.translate.writer import number

WORTH_A_BRANCH = 8  # weight of a branch that is jumped over if no lane takes it


@dataclass
class Copy:
    """The body for the turns from `start` on, one per lane.

    Attributes:
        mask: the lanes that are before the loop's end; None: all.
        active: the lanes on the path that is being written; None: all.
        depth: how many branches and loops stand around the statement.
    """

    loop: VectorLoop
    start: V
    mask: V | None
    number: int
    active: V | None = None
    depth: int = 0
    values: dict[Var, Element] = field(default_factory=dict)
    # By identity; with the expression, so that the identity stays its own.
    _known: dict[tuple[int, str | None], tuple[Expr, Element]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.w, self.f, self.lanes = self.loop.w, self.loop.w.f, self.loop.lanes

    # --- statements -----------------------------------------------------------------------------

    def write(self) -> None:
        """The whole body."""
        self.block(self.loop.stmt.body)

    def block(self, block: Block) -> None:
        line = None
        for stmt in block:
            source = getattr(stmt, "source", None)
            if source is not None and source is not line and not self.number:
                self.f.comment(quote(source))
                line = source
            self._known.clear()
            self.statement(stmt)

    def statement(self, stmt: Stmt) -> None:
        match stmt:
            case Let(var, value):
                self._let(var, value)
            case Set(var, value):
                self._write(self.loop.cells[var], self.here(value))
            case Store(buffer, at, value):
                self.store(buffer, at, self.here(value))
            case Reduce(var, op, value):
                self._reduce(var, op, self.here(value))
            case If():
                self._if(stmt)
            case For():
                self._for(stmt)
            case While():
                self._while(stmt)
            case Note():
                pass
            case _:
                raise TypeError(f"not a statement of a vector loop: {stmt!r}")

    def _let(self, var: Var, value: Expr) -> None:
        if var.mutable:
            if var not in self.loop.cells:
                make = cells.wide if var in self.w.unit.wide else cells.plain
                self.loop.cells[var] = make(self.f, var.dtype, self.lanes)
            self._write(self.loop.cells[var], self.here(value))
        elif not self.loop.varies(value):
            if self.loop.is_early(value, self.depth > 0):
                self.loop.define_early(var, value)
            else:
                self.w.define(var, self._scalar(value, self.active))
        elif not self._only_says_where(var, value):
            self.values[var] = self.here(value)

    def _only_says_where(self, var: Var, value: Expr) -> bool:
        """An even index is computed where it is used as a value, if ever."""
        return var.dtype == INDEX and self.loop.step(value) is not None

    def _write(self, cell: Cell, x: Element) -> None:
        """Change a variable of the body in the active lanes."""
        if self.active is None:
            cell.write(self.f, x)
            return
        before = cell.raw(self.f)
        cell.write(self.f, x)
        pairs = zip(cell.raw(self.f), before, strict=True)
        cell.set_raw(self.f, [self.f.select(self.active, new, old) for new, old in pairs])

    def _reduce(self, var: Var, op: str, x: Element) -> None:
        if var in self.loop.accumulators:
            self.loop.accumulators[var].take(x, self.number, self._masked(self.active))
            return
        f, cell = self.f, self.loop.cells[var]
        if cell.kind != "plain":
            if self.active is not None:
                x = select(f, self.active, x, neutral(f, op, x.dtype, self.lanes))
            cell.add(f, cells.as_doubles(f, x))
        else:
            self._write(cell, scalars.operate(self.w, op, [cell.read(f), x], var.dtype))

    # --- branches and loops ---------------------------------------------------------------------

    @contextmanager
    def _inside(self, active: V | None) -> Iterator[None]:
        """What is written inside is run on a path that need not be taken."""
        outer, self.active = self.active, active
        self.depth += 1
        with self.w.scope():
            yield
        self.depth -= 1
        self.active = outer
        self._known.clear()

    def _if(self, stmt: If) -> None:
        if not self.loop.varies(stmt.condition):
            self._uniform_if(stmt)
            return
        holds = truth(self.f, self.here(stmt.condition))
        self._branch(holds, stmt.then)
        if stmt.orelse:
            self._branch(self.f.not_(holds), stmt.orelse)

    def _branch(self, holds: V, block: Block) -> None:
        f = self.f
        active = holds if self.active is None else f.and_(self.active, holds)
        if costs.size(block) <= WORTH_A_BRANCH:
            with self._inside(active):
                self.block(block)
            return
        with f.when(any_lane(f, self._masked(active) or active)), self._inside(active):
            self.block(block)

    def _uniform_if(self, stmt: If) -> None:
        f = self.f
        condition = self._scalar(stmt.condition, self.active).value
        yes, no, after = f.label("then"), f.label("else"), f.label("after")
        f.br_if(condition, yes, no)
        for label, block in ((yes, stmt.then), (no, stmt.orelse)):
            f.start(label)
            with self._inside(self.active):
                self.block(block)
            f.br(after)
        f.start(after)

    def _for(self, stmt: For) -> None:
        from graphify.engines.native.translate.loops import POLLED, changes, poll_some, turns

        extent = addresses.value(self.w, self.loop.settled(stmt.extent))
        loop = turns(self.w, stmt.var, number(0), extent, changes(stmt.body))
        self.f.scalar_loops = True
        with loop as turn, self._inside(self.active):
            poll_some(self.w, turn, POLLED)
            self.block(stmt.body)

    def _while(self, stmt: While) -> None:
        from graphify.engines.native.translate.loops import WHILE, changes, poll_some

        f, type = self.f, BIT.of(self.lanes)
        going, count = f.alloca(type), f.alloca(I32)
        f.store(self._masked(self.active) or f.const(type, True), going)
        f.store(V(I32, "0"), count)
        head, body, done = f.label("while"), f.label("do"), f.label("done")
        spot = f.spot("enter")
        f.start(head)
        changed = changes(stmt.test) | changes(stmt.body)
        with self.w.scope(spot, changed), self._inside(f.load(type, going)):
            self.block(stmt.test)
            holds = truth(f, self.here(stmt.condition))
            assert self.active is not None
            active = f.and_(self.active, holds)
            f.store(active, going)
            f.br_if(any_lane(f, active), body, done)
            f.start(body)
            turn = f.add(f.load(I32, count), V(I32, "1"))
            f.store(turn, count)
            poll_some(self.w, turn, WHILE)
            self.active = active
            self._known.clear()
            self.block(stmt.body)
            f.br(head)
        f.start(done)

    # --- values ---------------------------------------------------------------------------------

    def here(self, expr: Expr) -> Element:
        """An expression in the active lanes."""
        return self.value(expr, self.active)

    def value(self, expr: Expr, guard: V | None = None) -> Element:
        """An expression in the lanes; loads happen where `guard` holds only."""
        if not self.loop.varies(expr):
            return self._uniform(expr, guard)
        key = (id(expr), guard.text if guard else None)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = (expr, self._varying(expr, guard))
        return known[1]

    def _uniform(self, expr: Expr, guard: V | None) -> Element:
        guarded = guard is not None and has_load(expr)
        if isinstance(expr, Const):
            return constant(self.f, expr.dtype, expr.value, self.lanes)
        if not guarded and self.loop.is_early(expr, self.depth > 0):
            return self.loop.early(expr)
        return splat(self.f, self._scalar(expr, guard), self.lanes)

    def _scalar(self, expr: Expr, guard: V | None) -> Element:
        """A uniform value, right here; its loads may be legal in some turns only."""
        inside = None
        if guard is not None and has_load(expr):
            inside = any_lane(self.f, self._masked(guard) or guard)
        return scalars.scalar(self.w, self.loop.settled(expr), inside)

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
        if not self.depth:  # otherwise it may not be there where it is asked for next
            self.values[var] = result
        return result

    def _where(self, condition: Expr, yes: Expr, no: Expr, guard: V | None) -> Element:
        holds = truth(self.f, self.value(condition, guard))
        if self._is_data(condition):
            inside = outside = guard
        else:
            inside = self._both(guard, holds, yes)
            outside = self._both(guard, self.f.not_(holds), no) if has_load(no) else guard
        return select(self.f, holds, self.value(yes, inside), self.value(no, outside))

    def _is_data(self, condition: Expr) -> bool:
        if isinstance(condition, Var):
            value = self.loop.own.get(condition)
            if value is not None:
                return self._is_data(value)
        return scalars.is_data(self.w, condition)

    def _both(self, guard: V | None, holds: V, side: Expr) -> V | None:
        if not has_load(side):
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
        place, f, mask = self.loop.place(buffer, at), self.f, self._masked(self.active)
        if not place.uneven and place.step == ONE:
            store(f, x, self._neighbours(place), mask=mask)
        elif not place.uneven and place.step == Const(-1, INDEX):
            pointer, mask = self._backwards(place, mask)
            store(f, self._reversed(x), pointer, mask=mask)
        else:
            base, index = self._apart(place, self.active)
            scatter(f, x, base, index, mask)

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
                term = f.mul(term, self._uniform(stride, None).value)
            distance = term if distance is None else f.add(distance, term)
        if distance is None:
            distance = f.const(I64.of(self.lanes), 0)
        return base, distance


def has_load(expr: Expr) -> bool:
    stack = [expr]
    while stack:
        e = stack.pop()
        if isinstance(e, Load):
            return True
        if isinstance(e, Apply):
            stack += e.args
    return False
