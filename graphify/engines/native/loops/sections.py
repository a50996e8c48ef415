"""What one thread does alone, and does not wait for each other, side by side.

    a, w, info = lapack(a, ...)          allocate v
    fail 1 if info != 0                  side by side:
    allocate v                               section:
    b, v, status = lapack(b, ...)   ->           a, w, info = lapack(a, ...)
    fail 2 if status != 0                        fail 1 if info != 0
    for i in n: y[i] = v[i] + w[i]           section:
                                                 b, v, status = lapack(b, ...)
                                                 fail 2 if status != 0
                                         for i in n: y[i] = v[i] + w[i]

A *task* is a call of LAPACK, a sort, or a loop that no pass could divide between threads. From the
first task of a block on, each statement goes to the section that it depends on, if a later task
depends on it in turn or it may fail; what depends on no section moves up before all of them, and
what depends on several, or calls Python, stays behind. Checks of one section keep their order among
those of the others, and what relies on a check stays behind it. Whether threads are worth it is
seen at run time (translate/sections.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import Any

from graphify.engines.native.loops.program import (
    Allocate,
    Apply,
    Block,
    Buffer,
    Call,
    Const,
    Expr,
    Fail,
    For,
    Handle,
    If,
    Let,
    Load,
    Result,
    Section,
    Sections,
    Stmt,
    Var,
    View,
    While,
)
from graphify.engines.native.loops.summary import Summary, summary
from graphify.engines.native.loops.walk import map_blocks, parts, statements

ALONE = frozenset(["lapack", "library"])  # functions that one thread runs
MOST = 150  # statements from the first task of a block to the last one
LEAST = 50_000_000  # picoseconds of a task whose size is known
DIVISIONS = frozenset(["floor_divide", "remainder", "floordiv", "mod", "fmod"])

Atoms = AbstractSet[Any]  # variables, and buffers that own memory


def gather(block: Block) -> Block:
    """The block with independent calls one behind the other: loops between them do not fuse."""
    return _run(block, _of_calls, lambda sections: tuple(s for part in sections for s in part))


def side_by_side(block: Block) -> Block:
    """The block with independent tasks in sections."""
    return _run(block, _of_all, lambda sections: (Sections(tuple(map(Section, sections))),))


Task = Callable[[Stmt, bool], bool]  # (statement, whether it is in a loop)
Joined = Callable[[list[Block]], Block]


def _run(block: Block, is_task: Task, join: Joined) -> Block:
    if sum(is_task(stmt, False) for stmt in statements(block)) < 2:
        return block
    return _Pass(Body(block), is_task, join).block(block, looped=False)


@dataclass(frozen=True, slots=True)
class _Pass:
    """What is a task, and what becomes of several."""

    body: Body
    is_task: Task
    join: Joined

    def block(self, block: Block, looped: bool) -> Block:
        """A block, and those in it."""
        inner: list[Stmt] = []
        for stmt in block:
            match stmt:
                case If():
                    stmt = map_blocks(stmt, lambda b: self.block(b, looped))
                case For(kind="serial", body=body):
                    stmt = replace(stmt, body=self.block(body, True))
                case While(body=body):
                    stmt = replace(stmt, body=self.block(body, True))
            inner.append(stmt)
        return self.grouped(tuple(inner), looped)

    def grouped(self, block: Block, looped: bool) -> Block:
        tasks = [k for k, stmt in enumerate(block) if self.is_task(stmt, looped)]
        if len(tasks) < 2:
            return block
        first, last = tasks[0], max(k for k in tasks if k <= tasks[0] + MOST)
        window, rest = block[first : last + 1], block[last + 1 :]
        plan = _planned(window, rest, {k - first for k in tasks if k <= last}, self.body)
        if plan is None:
            return (*block[: first + 1], *self.grouped(block[first + 1 :], looped))
        behind = self.grouped((*plan.behind, *rest), looped)
        return (*block[:first], *plan.before, *self.join(plan.sections), *behind)


# --- tasks ----------------------------------------------------------------------------------------


def _of_calls(stmt: Stmt, looped: bool) -> bool:
    """Whether a call keeps one thread busy, as far as can be seen."""
    if not isinstance(stmt, Call) or stmt.function not in ALONE:
        return False  # nor one that asks for the room that a routine needs
    return not any(isinstance(s, Const) and s.value == -1 for s in stmt.scalars)


def _of_all(stmt: Stmt, looped: bool) -> bool:
    """Whether one thread may be busy with a statement for long. In a loop, calls only are."""
    if isinstance(stmt, For) and stmt.kind == "serial" or isinstance(stmt, While):
        shared = any(_uses_threads(s) for s in statements((stmt,)))
        return not (looped or shared) and _may_be_long(stmt)
    return _of_calls(stmt, looped)


def _uses_threads(stmt: Stmt) -> bool:
    match stmt:
        case For(kind=kind):
            return kind == "parallel"
        case Call(function=function):
            return function not in ALONE
        case Sections():
            return True
    return False


def _may_be_long(stmt: Stmt) -> bool:
    """Whether sizes that are not known, or are large, decide how long a loop takes."""
    from graphify.engines.native.translate import costs

    known = costs.work((stmt,), costs.Sight(lambda extent: extent, lambda loop: 8))
    return not isinstance(known, Const) or known.value >= LEAST


# --- what depends on what -------------------------------------------------------------------------


@dataclass(slots=True)
class Fact:
    """A statement, and what decides where it may stand.

    Attributes:
        checked: what it says something about, if it is a check: whatever uses that relies on it.
        basis: what the values that it uses are made of.
        own: what it declares or allocates.
    """

    stmt: Stmt
    about: Summary
    reads: Atoms
    writes: Atoms
    checked: Atoms
    basis: Atoms
    own: Atoms

    @property
    def is_fit(self) -> bool:
        """Whether it may stand in a section."""
        handles = any(isinstance(b.home, Handle) for b in self.writes if isinstance(b, Buffer))
        results = any(isinstance(b.home, Result) for b in self.about.allocates)
        return not (self.about.effects or handles or results)


class Body:
    """A program's body: how often variables are declared in it, and what it is made of."""

    def __init__(self, block: Block) -> None:
        self.lets = Counter(s.var for s in statements(block) if isinstance(s, Let))
        self._origins: dict[Var, Atoms] = {}
        self._facts: dict[int, Fact] = {}
        for stmt in statements(block):
            if isinstance(stmt, Let) and not stmt.var.mutable:
                self._origins[stmt.var] = self.origin(_atoms(stmt.value))

    def origin(self, atoms: Atoms) -> Atoms:
        """Atoms, with those that variables among them are made of."""
        return {origin for atom in atoms for origin in (atom, *self._origins.get(atom, ()))}

    def fact(self, stmt: Stmt) -> Fact:
        known = self._facts.get(id(stmt))  # which keeps the statement
        if known is None:
            known = self._facts[id(stmt)] = self._fact(stmt)
        return known

    def _fact(self, stmt: Stmt) -> Fact:
        about = summary(stmt)
        buffers = {b for places in (about.reads, about.writes) for b in _views(places.values())}
        buffers |= about.allocates
        dims = {v for b in buffers for d in _dims(b) for v in _atoms(d)}
        own = {*about.defines, *about.allocates}
        reads = {*about.reads, *about.uses, *dims}
        writes = {*about.writes, *about.changes, *own}
        basis: Atoms = set()
        if not self._is_safe(stmt):
            basis = self.origin({*reads, *about.writes, *about.allocates})
        checked = self.origin(_atoms(stmt.condition)) if isinstance(stmt, Fail) else set()
        return Fact(stmt, about, reads, writes, checked, basis, own)

    def _is_safe(self, stmt: Stmt) -> bool:
        """Whether nothing can go wrong in a statement, whatever checks before it would say."""
        match stmt:
            case Let(_, value):
                return not any(isinstance(p, Load) or _divides(p) for p in parts(value))
            case Allocate(buffer):  # of lengths that arguments have
                dims = [d for d in buffer.shape if not isinstance(d, Const)]
                return all(isinstance(d, Var) and not self.lets[d] for d in dims)
        return False


def _divides(part: Expr) -> bool:
    return isinstance(part, Apply) and part.op in DIVISIONS and part.dtype.kind in "iu"


def _views(places: Iterable[Sequence[tuple[Buffer, Any]]]) -> Iterable[Buffer]:
    for accesses in places:
        for buffer, _ in accesses:
            yield buffer
            while isinstance(buffer.home, View):
                buffer = buffer.home.base
                yield buffer


def _dims(buffer: Buffer) -> tuple[Expr, ...]:
    return (*buffer.shape, *(buffer.strides or ()))


def _atoms(expr: Expr) -> Atoms:
    found: set[Any] = set()
    for part in parts(expr):
        if isinstance(part, Var):
            found.add(part)
        elif isinstance(part, Load):
            found.add(part.buffer.root)
    return found


def _depends(later: Fact, earlier: Fact) -> bool:
    """Whether a statement must stay behind an earlier one, whatever may fail."""
    return not (
        earlier.writes.isdisjoint(later.reads)
        and later.writes.isdisjoint(earlier.reads)
        and later.writes.isdisjoint(earlier.writes)
        and earlier.checked.isdisjoint(later.basis)
    )


# --- plans ----------------------------------------------------------------------------------------


@dataclass(slots=True)
class Group:
    """The positions of the statements of a section, in order."""

    members: list[int]
    has_task: bool = False


@dataclass(slots=True)
class Plan:
    """Where the statements of a window go."""

    before: list[Stmt] = field(default_factory=list)
    sections: list[Block] = field(default_factory=list)
    behind: list[Stmt] = field(default_factory=list)


def _planned(window: Block, rest: Block, tasks: AbstractSet[int], body: Body) -> Plan | None:
    """A plan with several sections, if there is one."""
    facts = [body.fact(stmt) for stmt in window]
    leads = _leading(facts, tasks)
    used_in_rest = {a for s in rest for a in (*body.fact(s).reads, *body.fact(s).writes)}
    out = {k for k, fact in enumerate(facts) if not fact.is_fit}
    while True:  # until no section declares what others use
        before, groups, behind = _distributed(facts, tasks, leads, out)
        if len(groups) < 2:
            return None
        outside = {a for k in (*before, *behind) for a in (*facts[k].reads, *facts[k].writes)}
        outside |= used_in_rest
        seen = {k for g in groups for k in g.members if not facts[k].own.isdisjoint(outside)}
        seen |= _declared_elsewhere(facts, groups, body.lets)
        if not seen:
            break
        out |= seen
    return Plan(
        [window[k] for k in before],
        [tuple(window[k] for k in group.members) for group in groups],
        [window[k] for k in behind],
    )


def _leading(facts: Sequence[Fact], tasks: AbstractSet[int]) -> set[int]:
    """The statements that a later task depends on."""
    found = set(tasks)
    for k in range(len(facts) - 1, -1, -1):
        if k not in found and any(j > k and _depends(facts[j], facts[k]) for j in found):
            found.add(k)
    return found


def _declared_elsewhere(
    facts: Sequence[Fact], groups: Sequence[Group], lets: Counter[Var]
) -> set[int]:
    """Statements of sections that declare a variable again, which is declared outside, too."""
    found: set[int] = set()
    for group in groups:
        here = Counter(
            s.var
            for k in group.members
            for s in statements((facts[k].stmt,))
            if isinstance(s, Let) and s.var.mutable
        )
        again = {var for var, count in here.items() if count < lets[var]}
        found |= {k for k in group.members if not again.isdisjoint(facts[k].own)}
    return found


def _distributed(
    facts: Sequence[Fact], tasks: AbstractSet[int], leads: AbstractSet[int], out: AbstractSet[int]
) -> tuple[list[int], list[Group], list[int]]:
    """What stands before the sections, the sections, what stands behind them."""
    before: list[int] = []
    groups: list[Group] = []
    behind: list[int] = []
    for k, fact in enumerate(facts):
        met = [g for g in groups if any(_depends(fact, facts[j]) for j in g.members)]
        late = any(_depends(fact, facts[j]) or _in_order(fact, facts[j]) for j in behind)
        task, fails = k in tasks, fact.about.fails
        several = sum(g.has_task for g in met) > 1
        if late or several or fact.about.effects or (k in out and (met or task or fails)):
            behind.append(k)
        elif not met and not task and not fails:
            before.append(k)
        elif met and not (task or fails or k in leads):
            behind.append(k)
        else:
            joined = sorted([k, *(j for g in met for j in g.members)])
            groups = [g for g in groups if g not in met]
            groups.append(Group(joined, task or any(g.has_task for g in met)))
    ordered = _ordered(facts, groups)
    return (before, ordered, behind) if ordered is not None else ([], [], [])


def _in_order(later: Fact, earlier: Fact) -> bool:
    """Whether two statements may fail, or do what is seen."""
    a, b = earlier.about, later.about
    return (a.effects or a.fails) and (b.effects or b.fails)


def _ordered(facts: Sequence[Fact], groups: list[Group]) -> list[Group] | None:
    """Sections in the order of what may fail in them; None if that is interleaved.

    Checks without a task join the section before them, or the one behind.
    """

    def failing(group: Group) -> list[int]:
        return [k for k in group.members if facts[k].about.fails]

    groups = sorted(groups, key=lambda g: (failing(g) or g.members)[0])
    result: list[Group] = []
    waiting: list[int] = []
    for group in groups:
        if group.has_task:
            result.append(Group(sorted([*waiting, *group.members]), True))
            waiting = []
        elif result:
            result[-1].members = sorted([*result[-1].members, *group.members])
        else:
            waiting += group.members
    last = -1
    for group in result:
        places = failing(group)
        if places and places[0] < last:
            return None
        last = places[-1] if places else last
    return result
