"""Index arithmetic that cannot go wrong is not checked.

    for i in n:                            for i in n:
        at = i + n if i < 0 else i             x[i] = 0
        fail 1 if u64(at) >= u64(n)    ->
        x[at] = 0

Integers are followed as linear forms, `2*i - n + 1`, over loop indices, sizes and other variables.
What is known of them, "this form is not negative", comes from the loops around, from conditions,
and from the checks that have been passed. A check goes if the opposite of its condition follows
from that; exact arithmetic becomes plain where its result stays between such bounds. And a loop
whose turns never meet in memory is "parallel", however it was written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from graphify.engines.native.loops.counters import START, STEP
from graphify.engines.native.loops.independent import independent
from graphify.engines.native.loops.knowledge import FACTS, ONE, Form, Knowledge, plus
from graphify.engines.native.loops.program import (
    BOOL,
    INDEX,
    Apply,
    Block,
    Call,
    Checked,
    Const,
    Expr,
    Fail,
    For,
    If,
    Let,
    Program,
    Reduce,
    Stmt,
    Var,
    While,
)
from graphify.engines.native.loops.program import Set as Assign
from graphify.engines.native.loops.split import split
from graphify.engines.native.loops.summary import summary


def drop_checks(program: Program) -> Program:
    """The program without the checks that cannot fail."""
    known = Knowledge()
    known.axes = {d for b in program.params for d in b.shape if isinstance(d, Var)}
    _block(program.sizes, known)
    known.of_sizes, known.facts = known.facts[:FACTS], []
    return replace(program, body=_block(program.body, known))


def _block(block: Block, known: Knowledge) -> Block:
    """A block rewritten; `known` is what holds at its end afterwards."""
    result: list[Stmt] = []
    for stmt in block:
        new = _statement(stmt, known)
        if isinstance(new, For) and new.kind == "serial":
            result += _in_pieces(new, known)
        elif new is not None:
            result.append(new)
    return tuple(result)


def _in_pieces(loop: For, known: Knowledge) -> Sequence[Stmt]:
    """A loop whose turns are independent but for one, in three; or the loop as it is."""
    pieces = split(loop, known)
    if pieces is None:
        return [loop]
    first, middle, last = pieces
    done = [_for(piece, known) for piece in (first, last)]
    if not all(isinstance(piece, For) and piece.kind == "parallel" for piece in done):
        return [loop]
    return [done[0], middle, done[1]]


def _statement(stmt: Stmt, known: Knowledge) -> Stmt | None:
    match stmt:
        case Let(var, value):
            value = _settled(value, known)
            known.clipped.pop(var, None)
            _define(known, var, value)
            match value:
                case Apply("maximum", (a, Const(0))):
                    form = known.exact(a)
                    if form is not None:
                        known.clipped[var] = form
            return stmt if value is stmt.value else replace(stmt, value=value)
        case Assign(var, value):
            _define(known, var, value)
        case Reduce(var):
            known.current.pop(var, None)
        case Checked():
            return _checked(stmt, known)
        case Fail(condition):
            if known.never(condition):
                return None
            known.learn(condition, False)
        case Call():
            for var in summary((stmt,)).changes:  # the lengths of what it makes, too
                known.current.pop(var, None)
        case For():
            return _for(stmt, known)
        case While():
            return _while(stmt, known)
        case If():
            return _if(stmt, known)
    return stmt


def _define(known: Knowledge, var: Var, value: Expr) -> None:
    forms = known.current if var.mutable else known.forms
    forms.pop(var, None)
    if var.dtype == BOOL and not var.mutable and isinstance(value, Apply):
        known.implied[var] = (known.follows(value, True), known.follows(value, False))
    form = known.exact(value) if var.dtype == INDEX else None
    if form is not None:
        forms[var] = form


def _settled(value: Expr, known: Knowledge) -> Expr:
    """A choice whose outcome is known."""
    match value:
        case Apply("where", (condition, yes, no)):
            if known.never(condition):
                return no
            if known.always(condition):
                return yes
        case Apply("maximum", (a, Const(0))) if a.dtype == INDEX:
            form = known.form(a)
            if form is not None and known.proves(form):
                return a
    return value


def _checked(stmt: Checked, known: Knowledge) -> Stmt:
    var, op, args = stmt.var, stmt.op, stmt.args
    plain = Apply(op, args, var.dtype)
    if op in ("add", "subtract", "multiply", "negative"):
        form = known.form(plain)
        if form is not None:
            known.forms[var] = form
            if known.fits(form):
                return Let(var, plain, stmt.source)
    if known.products.get(args[0], 0) and _reaches(op, args, known.products[args[0]]):
        return Let(var, plain, stmt.source)
    match op, args:
        case (("floor_divide" | "right_shift"), (_, Const(value))) if value > 0:
            return Let(var, plain, stmt.source)
    factor = next((a.value for a in args if isinstance(a, Const)), 0)
    if op == "multiply" and factor > 1:
        known.products[var] = factor
    return stmt


def _reaches(op: str, args: Sequence[Expr], factor: int) -> bool:
    """Whether a multiple of `factor` that fits into 64 bits also does with a constant added.

    The largest multiple of 3 below 2**63 is 2**63 - 2, so 3*k + 1 fits if 3*k does.
    """
    match op, args:
        case (("add" | "subtract"), (_, Const(value))):
            step = value if op == "add" else -value
            room = (2**63 - 1) % factor if step > 0 else 2**63 % factor
            return bool(abs(step) <= room)
    return False


def _for(stmt: For, known: Knowledge) -> Stmt:
    inside = known.copy()
    _forget(inside, stmt.body)
    extent = _extent(stmt.extent, known)
    if extent is not None:
        last = plus(extent, {ONE: -1})
        known.loops[stmt.var] = last
        inside.facts.append(last)
    body = _block(stmt.body, inside)
    _forget(known, stmt.body)
    loop = replace(stmt, body=body)
    if loop.kind == "serial" and independent(loop, inside):
        return replace(loop, kind="parallel")
    return loop


def _extent(extent: Expr, known: Knowledge) -> Form | None:
    """How often a loop runs, if it runs at all: then maximum(x, 0) is x."""
    if isinstance(extent, Var) and extent in known.clipped:
        return known.clipped[extent]
    return known.form(extent)


def _while(stmt: While, known: Knowledge) -> Stmt:
    block = (*stmt.test, *stmt.body)
    first = {v: known.current.get(v) for v in summary(block).changes if v.dtype == INDEX}
    steps = _steps(stmt, known, first)
    inside = known.copy()
    _forget(inside, block)
    inside.facts += _course(inside, first, steps)
    test = _block(stmt.test, inside)
    inside.learn(_resolved(stmt.condition, test), True)
    body = _block(stmt.body, inside)
    _forget(known, block)
    known.facts += _course(known, first, steps)
    return replace(stmt, test=test, body=body)


Steps = dict[Var, tuple[int, Form | None]]  # what a turn adds, and what it was at most before that


def _steps(stmt: While, known: Knowledge, first: Mapping[Var, Form | None]) -> Steps:
    """The variables to which every turn adds the same constant: found by going through one turn."""
    if all(form is None for form in first.values()):
        return {}
    turn = replace(known.copy(), tries=True)
    _forget(turn, (*stmt.test, *stmt.body))
    atoms = {v: next(iter(turn.current[v])) for v in first}
    start = len(turn.facts)
    test = _block(stmt.test, turn)
    turn.learn(_resolved(stmt.condition, test), True)
    facts = turn.facts[start:]
    _block(stmt.body, turn)
    found: Steps = {}
    for var, atom in atoms.items():
        end, begin = turn.current.get(var, {}), first[var]
        if begin is None or end.get(atom) != 1 or not set(end) <= {atom, ONE}:
            continue
        if turn.fits(end) or _counts(begin, end.get(ONE, 0)):
            limits = (_limit(fact, atom, set(atoms.values())) for fact in facts)
            limit = next((x for x in limits if x is not None), None)
            found[var] = (end.get(ONE, 0), limit)
    return found


def _counts(begin: Form, step: int) -> bool:
    """Whether a variable that begins so needs years to get to where 64 bits end."""
    return set(begin) <= {ONE} and abs(begin.get(ONE, 0)) < START and abs(step) <= STEP


def _limit(fact: Form, atom: object, varying: AbstractSet[object]) -> Form | None:
    """The form that a fact says is not less than an atom, if nothing in it changes."""
    if fact.get(atom) != -1:
        return None
    rest = {a: c for a, c in fact.items() if a is not atom}
    fixed = all(a is ONE or (isinstance(a, Var) and a not in varying) for a in rest)
    return rest if fixed else None


def _course(known: Knowledge, first: Mapping[Var, Form | None], steps: Steps) -> list[Form]:
    """What holds of such variables before and after every turn."""
    facts: list[Form] = []
    for var, (step, limit) in steps.items():
        now, start = known.current.get(var), first[var]
        if now is None or start is None:
            continue
        if step >= 0:
            facts.append(plus(now, start, -1))  # it only grows
            if limit is not None:  # and only while it is not above the limit
                last = plus(limit, {ONE: step})
                if known.proves(plus(last, start, -1)):
                    facts.append(plus(last, now, -1))
        if step <= 0:
            facts.append(plus(start, now, -1))
    return facts


def _resolved(condition: Expr, block: Sequence[Stmt]) -> Expr:
    """A condition that has a name as what it stands for."""
    while isinstance(condition, Var):
        if condition.mutable:
            return _of_branches(condition, block)
        found = [s.value for s in block if isinstance(s, Let) and s.var is condition]
        if not found:
            return condition
        condition = found[0]
    if isinstance(condition, Apply) and condition.op.startswith("logical"):
        args = tuple(_resolved(a, block) for a in condition.args)
        return Apply(condition.op, args, condition.dtype)
    return condition


def _of_branches(condition: Var, block: Sequence[Stmt]) -> Expr:
    """`a and b`, where a branch on `a` sets the variable to `b`, or else to false or `a`."""
    for stmt in block:
        match stmt:
            case If(a, then, orelse):
                yes = [s.value for s in then if isinstance(s, Assign) and s.var is condition]
                no = [s.value for s in orelse if isinstance(s, Assign) and s.var is condition]
                if yes and no and no[0] in (a, Const(False, BOOL)):
                    inner = _resolved(yes[0], then)
                    return Apply("logical_and", (_resolved(a, block), inner), BOOL)
    return condition


def _if(stmt: If, known: Knowledge) -> Stmt:
    branches = []
    for block, holds in ((stmt.then, True), (stmt.orelse, False)):
        inside = known.copy()
        inside.learn(stmt.condition, holds)
        branches.append(_block(block, inside))
    _forget(known, (*stmt.then, *stmt.orelse))
    return replace(stmt, then=branches[0], orelse=branches[1])


def _forget(known: Knowledge, block: Sequence[Stmt]) -> None:
    """What is set in a block is not known any more: each variable gets a new atom."""
    for var in summary(tuple(block)).changes:
        known.current.pop(var, None)
        if var.dtype == INDEX:
            known.current[var] = {object(): 1}
