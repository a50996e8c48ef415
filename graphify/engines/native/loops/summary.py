"""What a statement reads, writes and defines: what decides whether two may change places or fuse.

a, b = summary(first), summary(second)
conflict(a, b)      # whether their order matters
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from graphify.engines.native.loops.program import (
    Allocate,
    Buffer,
    Call,
    Checked,
    Expr,
    Fail,
    For,
    Free,
    Let,
    Load,
    Note,
    Point,
    Reduce,
    Set,
    Stmt,
    Store,
    Swap,
    Var,
    View,
)
from graphify.engines.native.loops.walk import (
    address_expressions,
    blocks_of,
    expressions_of,
    map_expr,
    parts,
)

Access = tuple[Buffer, tuple[Expr, ...] | None]  # None: anywhere in the buffer


@dataclass(slots=True)
class Summary:
    """Reads and writes by root buffer; variables; whether its place among effects matters."""

    reads: dict[Buffer, list[Access]] = field(default_factory=dict)
    writes: dict[Buffer, list[Access]] = field(default_factory=dict)
    uses: set[Var] = field(default_factory=set)
    defines: set[Var] = field(default_factory=set)
    changes: set[Var] = field(default_factory=set)  # mutable variables set, declared or not here
    effects: bool = False  # calls Python
    fails: bool = False
    allocates: set[Buffer] = field(default_factory=set)
    size: int = 0  # how many statements
    guards: bool = False  # ends the run where what follows would go wrong

    def add(self, stmt: Stmt) -> None:
        """Take a statement in, with all that is nested in it."""
        self.size += 1
        for expr in expressions_of(stmt):
            self.expression(expr)
        match stmt:
            case Let(var) | Checked(var):
                self.defines.add(var)
                self.fails |= isinstance(stmt, Checked)
            case Set(var):
                self.changes.add(var)
            case Reduce(var):
                self.changes.add(var)
                self.uses.add(var)
            case Store(buffer, index):
                self.writes.setdefault(buffer.root, []).append((buffer, index))
                self.address(buffer)
            case For(var):
                self.defines.add(var)
            case Fail():
                self.fails = self.guards = True
            case Call():
                self.call(stmt)
            case Allocate(buffer):
                self.allocates.add(buffer)
                self.address(buffer)
                self.uses.update(_variables(buffer.shape))
            case Free(buffer):
                self.writes.setdefault(buffer.root, []).append((buffer, None))
            case Point(handle, target):
                self.writes.setdefault(handle.root, []).append((handle, None))
                self.reads.setdefault(target.root, []).append((target, None))
            case Swap(a, b):
                for buffer in (a, b):
                    self.writes.setdefault(buffer.root, []).append((buffer, None))
            case Note():
                self.size -= 1
        for block in blocks_of(stmt):
            for inner in block:
                self.add(inner)

    def expression(self, expr: Expr) -> None:
        for part in parts(expr):
            if isinstance(part, Var):
                self.uses.add(part)
            elif isinstance(part, Load):
                self.reads.setdefault(part.buffer.root, []).append((part.buffer, part.index))
                self.address(part.buffer)

    def address(self, buffer: Buffer) -> None:
        if buffer.strides is not None or isinstance(buffer.home, View) or buffer.ndim > 1:
            for expr in address_expressions(buffer):
                self.uses.update(_variables((expr,)))

    def take_in(self, other: Summary, renamed: Mapping[Var, Var]) -> None:
        """Become the summary of both, with variables of the other one renamed.

        Cheaper than a new summary of a large loop that a small one is fused with.
        """
        for mine, theirs in ((self.reads, other.reads), (self.writes, other.writes)):
            for root, accesses in theirs.items():
                mine.setdefault(root, []).extend(_renamed(a, renamed) for a in accesses)
        self.uses |= {renamed.get(v, v) for v in other.uses}
        self.defines |= {v for v in other.defines if v not in renamed}
        self.changes |= other.changes
        self.effects |= other.effects
        self.fails |= other.fails
        self.guards |= other.guards
        self.allocates |= other.allocates
        self.size += other.size

    def call(self, call: Call) -> None:
        for buffer in call.inputs:
            self.reads.setdefault(buffer.root, []).append((buffer, None))
        for buffer in call.outputs:
            self.writes.setdefault(buffer.root, []).append((buffer, None))
        for buffer in (*call.inputs, *call.outputs):
            self.address(buffer)
            self.uses.update(_variables(buffer.shape))
        self.defines.update(call.turn)
        self.changes.update(call.variables)
        dims = (d for b in call.outputs for d in b.shape)
        self.changes.update(d for d in dims if isinstance(d, Var) and d.mutable)
        outside = call.function in ("host", "routine", "draw", "lock", "unlock")
        self.effects |= outside
        self.fails |= outside
        self.guards |= outside


def _renamed(access: Access, names: Mapping[Var, Var]) -> Access:
    buffer, index = access
    if index is None:
        return access

    def leaf(expr: Expr) -> Expr:
        return names.get(expr, expr) if isinstance(expr, Var) else expr

    return buffer, tuple(map_expr(e, leaf) for e in index)


def summary(stmt: Stmt | Iterable[Stmt]) -> Summary:
    """The summary of a statement, or of several in a row."""
    result = Summary()
    for one in stmt if isinstance(stmt, (tuple, list)) else (stmt,):
        result.add(one)
    return result


def conflict(a: Summary, b: Summary) -> bool:
    """Whether the order of two statements, `a` before `b`, matters."""
    if a.guards and (b.reads or b.writes):
        return True  # what b touches may not be there
    if (a.effects or a.fails) and (b.effects or b.fails):
        return True
    return meet(a, b)


def meet(a: Summary, b: Summary) -> bool:
    """Whether one of two statements changes what the other one reads or changes."""
    if not a.defines.isdisjoint(b.uses) or not b.defines.isdisjoint(a.uses):
        return True
    if not a.changes.isdisjoint(b.uses | b.changes) or not b.changes.isdisjoint(a.uses):
        return True
    if not a.defines.isdisjoint(b.changes) or not b.defines.isdisjoint(a.changes):
        return True
    if a.allocates or b.allocates:
        touched = b.reads.keys() | b.writes.keys() | {x.root for x in b.allocates}
        if any(x in touched for x in a.allocates):
            return True
        touched = a.reads.keys() | a.writes.keys()
        if any(x in touched for x in b.allocates):
            return True
    return any(root in b.reads or root in b.writes for root in a.writes) or any(
        root in a.reads for root in b.writes
    )


def _variables(exprs: Iterable[Expr]) -> Iterable[Var]:
    return (p for e in exprs for p in parts(e) if isinstance(p, Var))
