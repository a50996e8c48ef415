"""Loop fusion: neighbouring loops over the same range become one.

    for i in n:                     for i in n:
        t[i] = exp(x[i])                t[i] = exp(x[i])
    for i in n:               ->        y[i] = t[i] + 1
        y[i] = t[i] + 1

Two loops may fuse if no turn of the second needs what a later turn of the first does: where they
share memory that one of them writes, both touch it in turn i only at places whose index, along one
and the same axis, is i. Fused bodies are fused inside in the same way.
"""

from __future__ import annotations

from dataclasses import replace

from graphify.engines.native.loops.program import (
    Allocate,
    Block,
    Buffer,
    Checked,
    Expr,
    For,
    If,
    Let,
    Load,
    Stmt,
    Var,
    While,
)
from graphify.engines.native.loops.summary import Access, Summary, conflict, summary
from graphify.engines.native.loops.walk import (
    address_expressions,
    parts,
    statements,
    substitute,
)

REACH = 24  # how many statements back a partner is looked for
LARGEST = 160  # statements in a fused loop: compile time stays linear

_KINDS = {
    ("parallel", "parallel"): "parallel",
    ("parallel", "reduce"): "reduce",
    ("reduce", "parallel"): "reduce",
    ("reduce", "reduce"): "reduce",
    ("parallel", "accumulate"): "accumulate",
    ("accumulate", "parallel"): "accumulate",
    ("accumulate", "accumulate"): "accumulate",
}


def fuse(block: Block) -> Block:
    """The block with its loops fused, in nested blocks too."""
    kept: list[Stmt] = []
    facts: list[Summary] = []
    for stmt in block:
        if isinstance(stmt, For) and _join(kept, facts, stmt):
            continue
        kept.append(stmt)
        facts.append(summary(stmt))
    return tuple(_inside(stmt) for stmt in kept)


def _inside(stmt: Stmt) -> Stmt:
    match stmt:
        case For(body=body):
            return replace(stmt, body=fuse(body))
        case While(test, _, body):
            return replace(stmt, test=fuse(test), body=fuse(body))
        case If(_, then, orelse):
            return replace(stmt, then=fuse(then), orelse=fuse(orelse))
    return stmt


def _join(kept: list[Stmt], facts: list[Summary], loop: For) -> bool:
    """Fuse `loop` with an earlier one, if either may move to the other; says whether it did."""
    own = alone = summary(loop)
    blocked: list[int] = []  # statements in between that would have to move up as well
    moves_up = True
    for place in range(len(kept) - 1, max(-1, len(kept) - 1 - REACH), -1):
        partner, fact = kept[place], facts[place]
        if isinstance(partner, For) and _may_fuse(partner, fact, loop, alone):
            if moves_up and all(_may_move(kept, facts, b, place) for b in blocked):
                _merge(kept, facts, place, blocked, loop, alone)
                return True
            if not any(conflict(fact, other) for other in facts[place + 1 :]):
                kept.append(kept.pop(place))
                facts.append(facts.pop(place))
                _merge(kept, facts, len(kept) - 1, [], loop, alone)
                return True
        if moves_up and conflict(fact, own):
            if isinstance(partner, (Let, Allocate)):
                blocked.insert(0, place)
                own = _with(own, fact)
            else:
                moves_up = False
    return False


def _with(own: Summary, fact: Summary) -> Summary:
    """What must move together: the loop, and the declarations it needs."""
    return Summary(
        {**own.reads, **fact.reads},
        own.writes,
        own.uses | fact.uses,
        own.defines | fact.defines,
        own.changes,
        own.effects or fact.effects,
        own.fails or fact.fails,
        own.allocates | fact.allocates,
        own.size,
        own.guards or fact.guards,
    )


def _may_move(kept: list[Stmt], facts: list[Summary], place: int, to: int) -> bool:
    """Whether a declaration may move up before statement `to`, whose fellows move with it."""
    stmt = kept[place]
    if isinstance(stmt, Let) and any(isinstance(p, Load) for p in parts(stmt.value)):
        written = [f.writes for f in facts[to:place]]
        if any(root in w for w in written for root in facts[place].reads):
            return False
    changed = set().union(*(f.changes for f in facts[to:place]))
    return changed.isdisjoint(facts[place].uses) and facts[to].defines.isdisjoint(facts[place].uses)


def _merge(
    kept: list[Stmt],
    facts: list[Summary],
    place: int,
    moved: list[int],
    loop: For,
    own: Summary,
) -> None:
    partner = kept[place]
    assert isinstance(partner, For)
    declarations = [kept[i] for i in moved]
    about = [facts[i] for i in moved]
    for i in reversed(moved):
        del kept[i], facts[i]
    body = (*partner.body, *substitute(loop.body, {loop.var: partner.var}))
    both = (partner.kind, loop.kind)
    fused = replace(partner, body=body, kind=_KINDS.get(both, "serial"))
    kept[place : place + 1] = [*declarations, fused]
    facts[place].take_in(own, {loop.var: partner.var})
    facts[place:place] = about


def _may_fuse(first: For, a: Summary, second: For, b: Summary) -> bool:
    if first.extent != second.extent or a.size + b.size > LARGEST:
        return False
    if first.kind != second.kind and not {first.kind, second.kind} <= {"parallel", "reduce"}:
        if not _same_depth(first, second):
            return False
    if first.kind == second.kind == "serial" and (a.fails or b.fails):
        return False
    if (a.effects or a.fails) and (b.effects or b.fails):
        return False
    if not (a.changes - a.defines).isdisjoint(b.uses | b.changes):
        return False
    if not (b.changes - b.defines).isdisjoint(a.uses):
        return False
    shared = [r for r in a.writes if r in b.reads or r in b.writes]
    shared += [r for r in b.writes if r in a.reads]
    if a.guards:  # what says where it reads or writes may be checked in a later turn
        shared += [r for r in _pointing(second, b) if r in a.reads]
    return all(_in_step(root, first.var, a, second.var, b) for root in shared)


def _pointing(loop: For, fact: Summary) -> set[Buffer]:
    """The memories that hold the places at which a loop reads or writes."""
    made_of: dict[Var, set[Buffer]] = {}

    def roots(expr: Expr) -> set[Buffer]:
        found: set[Buffer] = set()
        for part in parts(expr):
            if isinstance(part, Load):
                found.add(part.buffer.root)
            elif isinstance(part, Var) and part in fact.changes:
                return set(fact.reads)  # whatever it has been set to
            elif isinstance(part, Var):
                found |= made_of.get(part, set())
        return found

    for stmt in statements((loop,)):
        if isinstance(stmt, Let):
            made_of[stmt.var] = roots(stmt.value)
        elif isinstance(stmt, Checked):
            made_of[stmt.var] = set().union(*map(roots, stmt.args))
    accesses = [a for found in (fact.reads, fact.writes) for each in found.values() for a in each]
    places = (
        i for buffer, index in accesses for i in (*(index or ()), *address_expressions(buffer))
    )
    return set().union(*map(roots, places))


def _same_depth(first: For, second: For) -> bool:
    """A loop in order may take in an independent one that goes on inside as it does itself."""
    return bool(_inner(first)) == bool(_inner(second))


def _inner(loop: For) -> list[Stmt]:
    return [s for s in loop.body if isinstance(s, For)]


def _in_step(root: Buffer, i: Var, a: Summary, j: Var, b: Summary) -> bool:
    """Whether turn i of one loop meets in this memory only turn i of the other."""
    mine = [*a.reads.get(root, ()), *a.writes.get(root, ())]
    yours = [*b.reads.get(root, ()), *b.writes.get(root, ())]
    buffers = {buffer for buffer, _ in (*mine, *yours)}
    if len(buffers) != 1 or any(index is None for _, index in (*mine, *yours)):
        return False
    return bool(_axes_of(i, mine) & _axes_of(j, yours))


def _axes_of(var: Var, accesses: list[Access]) -> set[int]:
    """The axes along which every access is at the loop's own index."""
    found: set[int] | None = None
    for _, index in accesses:
        assert index is not None
        here = {axis for axis, place in enumerate(index) if place is var}
        found = here if found is None else found & here
    return found or set()
