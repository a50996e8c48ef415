"""From a graph to a loop-level program: the machine that the rules of the ops are written with.

    program = lower(graph)

Node after node, in program order, becomes statements; fusing them is the business of the passes in
`loops/`. A scalar value is an expression, an array value a `Lens` or `Delayed` (see `arrays`).
Rules live in the other files of this folder, one per op:

    @rule("flip")
    def _flip(low, node): ...

An op without a rule, or one whose rule declines (`Declined`), is run by its reference meaning from
inside the compiled code.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

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
    If,
    Let,
    Result,
    Routine,
    Site,
    Stmt,
    Store,
    Temporary,
    Var,
    compare,
    index,
    plus,
    select,
    times,
)
from graphify.engines.native.lower.arrays import (
    ArrayValue,
    Delayed,
    Index,
    Lens,
    in_order,
    whole,
)
from graphify.engines.native.lower.liveness import UPDATES, Facts
from graphify.ir.function import GraphFunction
from graphify.ir.graph import Graph, Node, Value
from graphify.ir.sizes import Dim, Size, SizeOp, SizeVar
from graphify.ir.types import DType
from graphify.location import LazyLoc

Rule = Callable[["Lowering", Node], None]
RULES: dict[str, Rule] = {}
NAMED = 2000  # nodes up to which buffers are named after the user's variables


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Register the lowering of ops."""

    def register(function: Rule) -> Rule:
        for name in names:
            assert name not in RULES, name
            RULES[name] = function
        return function

    return register


class Declined(Exception):
    """A rule cannot lower this node; its reference meaning is run instead."""


@dataclass(slots=True)
class Frame:
    """One graph being lowered: the program's own, or the body of a control-flow op."""

    facts: Facts
    values: dict[Value, Expr | ArrayValue]
    sizes: dict[SizeVar, Expr]
    wanted: dict[Value, Lens]  # values to be computed right where they are wanted
    taken: set[Value]  # parameters whose memory may be overwritten when they are dead
    cache: dict[Any, Expr] = field(default_factory=dict)
    holders: dict[Buffer, list[Value]] = field(default_factory=dict)  # the values in a memory


class Lowering:
    """Statements under construction."""

    def __init__(self, name: str = "graph") -> None:
        self.name = name
        self.block: list[Stmt] = []
        self.frames: list[Frame] = []
        self.sites: list[Site] = []
        self.hosts: list[Any] = []
        self.routines: list[Routine | None] = []  # None: being lowered (see lower/recursion.py)
        self.routine_numbers: dict[GraphFunction, int] = {}
        self.depth: Expr = ZERO  # of calls inside each other
        self.own: set[Buffer] = set()  # buffers whose memory is the program's to overwrite
        self.pinned: set[object] = set()  # roots of memory that waits for results of its length
        self.results: list[Buffer] = []
        self.late: dict[Value, int] = {}  # positions of results whose shape only the run knows
        self.top = self.block
        self.source: LazyLoc | None = None
        self.hint = "t"

    @property
    def frame(self) -> Frame:
        return self.frames[-1]

    # --- statements -----------------------------------------------------------------------------

    def emit(self, stmt: Stmt) -> None:
        self.block.append(stmt)

    @contextmanager
    def inside(self) -> Iterator[list[Stmt]]:
        """Statements written meanwhile go to a block of their own."""
        outer, self.block = self.block, []
        names = (self.frame.cache, self.frame.sizes)
        lengths = [len(part) for part in names]
        try:
            yield self.block
        finally:
            self.block = outer
            _shorten(names, lengths)

    def let(self, value: Expr, hint: str | None = None) -> Expr:
        """A name for a value, unless it is one already."""
        if isinstance(value, Const) or (isinstance(value, Var) and not value.mutable):
            return value
        var = Var(hint or self.hint, value.dtype)
        self.emit(Let(var, value, self.source))
        return var

    def variable(self, hint: str, init: Expr) -> Var:
        """A new mutable variable."""
        var = Var(hint, init.dtype, mutable=True)
        self.emit(Let(var, init, self.source))
        return var

    @contextmanager
    def loop(self, extent: Expr, hint: str = "i", kind: str = "parallel") -> Iterator[Expr]:
        """`for i in extent` around the statements written meanwhile."""
        if extent == ONE:
            yield ZERO
            return
        var = Var(hint, INDEX)
        with self.inside() as body:
            yield var
        self.emit(For(var, extent, tuple(body), kind, self.source))

    @contextmanager
    def loops(self, shape: Sequence[Expr], kind: str = "parallel") -> Iterator[Index]:
        """Nested loops over a shape, in C order."""
        names = "ijklmnopq"
        index: list[Expr] = []
        pending: list[tuple[Any, Expr]] = []
        for position, extent in enumerate(shape):
            manager = self.loop(extent, names[min(position, 8)], kind)
            pending.append((manager, manager.__enter__()))
            index.append(pending[-1][1])
        yield tuple(index)
        for manager, _ in reversed(pending):
            manager.__exit__(None, None, None)

    def site(
        self,
        kind: type[BaseException],
        template: str = "",
        dtypes: Sequence[DType] = (),
        raiser: Any = None,
    ) -> int:
        """A new place of failure; its number."""
        self.sites.append(Site(kind, template, self.source, tuple(dtypes), raiser))
        return len(self.sites)

    def fail(
        self,
        condition: Expr,
        kind: type[BaseException],
        template: str,
        *values: Expr,
        raiser: Any = None,
    ) -> None:
        """`if condition: raise kind(template.format(*values))`."""
        if condition == Const(False, BOOL):
            return
        site = self.site(kind, template, [v.dtype for v in values], raiser)
        self.emit(Fail(condition, site, tuple(values), self.source))

    @contextmanager
    def unless_empty(self, shape: Sequence[Expr]) -> Iterator[None]:
        """Checks written meanwhile are made if an array of this shape has elements."""
        total: Expr = ONE
        for length in shape:
            total = times(total, length)
        with self.inside() as checks:
            yield
        if isinstance(total, Const) and total.value:
            self.block.extend(checks)
        elif checks:
            self.emit(If(compare("not_equal", total, ZERO), tuple(checks)))

    # --- sizes ----------------------------------------------------------------------------------

    def bound(self, dim: Dim) -> bool:
        return isinstance(dim, int) or all(v in self.frame.sizes for v in dim.variables())

    def dim(self, dim: Dim) -> Expr:
        """A size as an expression."""
        if isinstance(dim, (int, np.integer)):
            return index(int(dim))
        known = self.frame.cache.get(dim)
        if known is None:
            total: Expr = ZERO
            for monomial, coefficient in dim.terms:
                product: Expr = index(coefficient)
                for atom, power in monomial:
                    base = self._atom(atom)
                    for _ in range(power):
                        product = times(product, base)
                total = plus(total, product)
            known = self.frame.cache[dim] = self.let(total, "n")
        return known

    def _atom(self, atom: SizeVar | SizeOp) -> Expr:
        if isinstance(atom, SizeVar):
            return self.frame.sizes[atom]
        a, b = (self.dim(arg) for arg in atom.args)
        match atom.name:
            case "floordiv" | "mod":
                op = {"floordiv": "floor_divide", "mod": "remainder"}[atom.name]
                return self.let(Apply(op, (a, b), INDEX), "n")
            case "max" | "min":
                return self.let(Apply(f"{atom.name}imum", (a, b), INDEX), "n")
            case "wrap":
                return self.let(select(compare("less", a, ZERO), plus(a, b), a), "n")
        raise AssertionError(atom.name)

    def dims(self, shape: Sequence[Dim], computed: Sequence[Expr] | None = None) -> Index:
        """A shape as expressions: by its sizes where they are known, else as `computed`."""
        return tuple(
            self.dim(dim) if computed is None or self.bound(dim) else computed[axis]
            for axis, dim in enumerate(shape)
        )

    def bind(self, value: Value, shape: Sequence[Expr]) -> None:
        """Size variables that the axes of a value bind."""
        for dim, length in zip(value.spec.shape, shape, strict=True):
            if isinstance(dim, Size) and (variable := dim.as_variable()) is not None:
                if variable not in self.frame.sizes:
                    self.frame.sizes[variable] = self.let(length, variable.name)

    # --- values ---------------------------------------------------------------------------------

    def scalar(self, value: Value) -> Expr:
        """A 0-d value."""
        found = self.frame.values[value]
        assert not isinstance(found, (Lens, Delayed)), value
        return found

    def array(self, value: Value) -> ArrayValue:
        """Any value as an array; a scalar is an array without axes."""
        found = self.frame.values[value]
        if isinstance(found, (Lens, Delayed)):
            return found
        return Delayed(found.dtype, (), lambda _: found)

    def define(self, value: Value, result: Expr | ArrayValue) -> None:
        """What a value of the graph is from now on."""
        if isinstance(result, (Lens, Delayed)):
            if not value.spec.shape and not result.shape:
                result = self.let(result.at(()))
            else:
                self.bind(value, result.shape)
                if isinstance(result, Lens):
                    self.frame.holders.setdefault(result.buffer.root, []).append(value)
        elif not isinstance(result, (Const, Var)):
            result = self.let(result)
        self.frame.values[value] = result

    def buffer(
        self,
        dtype: DType,
        shape: Sequence[Expr],
        hint: str | None = None,
        scratch: bool = False,
    ) -> Buffer:
        """New memory in C order."""
        buffer = Buffer(hint or self.hint, dtype, tuple(shape), Temporary())
        self.emit(Allocate(buffer))
        self.own.add(buffer)
        return buffer

    def target(self, value: Value, shape: Sequence[Expr]) -> Lens:
        """Where the elements of a value go: where they are wanted, or new memory."""
        wanted = self.frame.wanted.get(value)
        if wanted is not None and self.same_shape(wanted.shape, shape):
            return wanted
        if value in self.late and self.block is self.top:
            return self.made(self.late[value], shape)
        return whole(self.buffer(value.spec.dtype, shape))

    def made(self, position: int, shape: Sequence[Expr]) -> Lens:
        """Memory for a result of the program, whose shape is known by now."""
        name, dtype = self.results[position].name, self.results[position].dtype
        buffer = self.results[position] = Buffer(name, dtype, tuple(shape), Result(position))
        self.emit(Allocate(buffer))
        self.own.add(buffer)
        return whole(buffer)

    def same_shape(self, a: Sequence[Expr], b: Sequence[Expr]) -> bool:
        return len(a) == len(b) and all(x == y for x, y in zip(a, b, strict=True))

    def fill(
        self,
        value: Value,
        shape: Sequence[Expr],
        element: Callable[[Index], Expr],
        operands: Sequence[ArrayValue] = (),
    ) -> None:
        """Compute every element of a value, independently.

        Args:
            operands: arrays of this shape: new memory is laid out as they are.
        """
        if not value.spec.shape:
            self.define(value, self.let(element(())))
            return
        plain = tuple(range(len(shape)))
        order = _common_order(operands, len(shape)) or plain
        if order == plain or value in self.frame.wanted or value in self.late:
            lens = self.target(value, shape)
        else:
            lens = in_order(self.buffer(value.spec.dtype, [shape[a] for a in order]), order)
        along = lens.order or plain
        with self.loops([shape[a] for a in along]) as turn:
            at = tuple(turn[along.index(a)] for a in plain)
            self.store(lens, at, element(at))
        self.define(value, lens)

    def store(self, lens: Lens, at: Index, value: Expr) -> None:
        self.emit(Store(lens.buffer, lens.index(at), value, self.source))

    def memory(self, value: Value | ArrayValue, hint: str | None = None) -> Lens:
        """A value as memory: itself, or a copy of what is computed on the fly."""
        array = self.array(value) if isinstance(value, Value) else value
        return array if isinstance(array, Lens) else whole(self.copy(array, hint))

    def contiguous(self, value: Value | ArrayValue) -> Buffer:
        """A value as a buffer in C order."""
        array = self.array(value) if isinstance(value, Value) else value
        if isinstance(array, Lens) and array.is_whole and array.buffer.strides is None:
            return array.buffer
        return self.copy(array)

    def copy(self, array: ArrayValue, hint: str | None = None) -> Buffer:
        """The elements in new memory of their own."""
        buffer = self.buffer(array.dtype, array.shape, hint)
        self.assign(whole(buffer), array)
        return buffer

    def detach(self, value: Value) -> None:
        """From now on a view has memory of its own."""
        view = self.frame.values[value]
        assert isinstance(view, Lens)
        self.frame.holders[view.buffer.root].remove(value)
        copied = self.copy(view, self.named(value.node))
        made = self.frame.values[value] = whole(copied)
        self.frame.holders[made.buffer] = [value]

    def assign(self, lens: Lens, array: ArrayValue) -> None:
        """Element by element; the memories do not overlap."""
        with self.loops(lens.shape) as at:
            self.store(lens, at, array.at(at))

    @contextlib.contextmanager
    def pinning(self, places: Iterable[object]) -> Iterator[None]:
        """While the parts of a node are lowered, the places of its results keep their lengths."""
        before = self.pinned
        roots = {place.buffer.root for place in places if isinstance(place, Lens)}
        self.pinned = before | roots
        try:
            yield
        finally:
            self.pinned = before

    def overwrites(self, value: Value, node: Node, *, alone: bool = True) -> Lens | None:
        """The memory of an operand that `node` may change in place: nobody reads it afterwards.

        Args:
            alone: no other operand of the node may be in that memory.
        """
        frame, array = self.frame, self.frame.values[value]
        if not isinstance(array, Lens) or not array.covers or array.buffer.root not in self.own:
            return None
        holders = frame.holders[array.buffer.root]
        if any(h.node.op.name == "param" and h not in frame.taken for h in holders):
            return None
        if alone and sum(operand in holders for operand in node.inputs) > 1:
            return None
        now = frame.facts.position[node]
        return array if all(frame.facts.used.get(h, -1) <= now for h in holders) else None

    # --- graphs ---------------------------------------------------------------------------------

    def run(
        self,
        graph: Graph,
        args: Sequence[Expr | ArrayValue],
        wanted: dict[int, Lens],
        taken: Sequence[int] = (),
    ) -> list[Expr | ArrayValue]:
        """The statements of a graph for these operands; its results.

        Args:
            wanted: where to put results, by their position, if that can be done.
            taken: positions of the operands whose memory may be overwritten.
        """
        facts = Facts.of(graph)
        frame = Frame(facts, {}, {}, {}, {graph.params[i] for i in taken})
        if self.frames:
            frame.cache = {}
        self.frames.append(frame)
        for value, arg in zip(graph.params, args, strict=True):
            self.define(value, arg)
        for position, lens in wanted.items():
            want(facts, graph.results[position], lens, frame.wanted)
        for node in facts.nodes:
            self.node(node)
        results = [frame.values[value] for value in graph.results]
        self.frames.pop()
        return results

    def node(self, node: Node) -> None:
        """Lower one node."""
        outer_source, outer_hint = self.source, self.hint
        self.source, self.hint = node.source, self.named(node)
        written: tuple[list[Any], ...] = (self.block, self.hosts, self.sites)
        named: tuple[dict[Any, Expr], ...] = (self.frame.cache, self.frame.sizes)
        lengths = [len(part) for part in (*written, *named)]
        try:
            rule = RULES.get(node.op.name)
            if rule is None:
                raise Declined
            rule(self, node)
        except Declined:
            for part, length in zip(written, lengths[:3], strict=True):
                del part[length:]
            _shorten(named, lengths[3:])  # their statements are gone
            RULES["host"](self, node)
        self.source, self.hint = outer_source, outer_hint

    def named(self, node: Node) -> str:
        """A name for what a node gives: the user's, or the op's."""
        if node.source is not None and len(self.frames[0].facts.nodes) < NAMED:
            name = node.source.resolve().variable
            if name:
                return name
        return node.op.name


def _shorten(names: Sequence[dict[Any, Expr]], lengths: Sequence[int]) -> None:
    """Forget the names given last: the statements that declare them cannot be seen any more."""
    for part, length in zip(names, lengths, strict=True):
        while len(part) > length:
            part.popitem()


def _common_order(arrays: Sequence[ArrayValue], rank: int) -> tuple[int, ...] | None:
    """The order of axes in memory that all operands of full rank agree on."""
    orders = {a.order for a in arrays if isinstance(a, Lens) and len(a.shape) == rank}
    orders.discard(None)
    return orders.pop() if len(orders) == 1 else None


def want(facts: Facts, value: Value, lens: Lens, wanted: dict[Value, Lens]) -> None:
    """Ask for a value at a place, and for what it is an update of, if nobody else needs that."""
    while value not in wanted:
        wanted[value] = lens
        node = value.node
        if node.op.name not in UPDATES or node not in facts.position:
            return
        base = node.inputs[0]
        if facts.root(base) != base or not facts.dies_at(base, node):
            return
        value = base
