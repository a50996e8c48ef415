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
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

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
from graphify.engines.native.loops.summary import Access, summary
from graphify.engines.native.loops.walk import statements

Form = dict[Any, int]  # atom -> coefficient; the atom 1 stands for the constant
ONE = 1
FEW = 4  # of the facts that bear on a form, so many are tried together with another one
FACTS = 24  # of the facts at hand, the latest ones are tried
AXIS = 1 << 44  # no axis is longer: more would not fit into memory
LIMIT = 1 << 62


def plus(a: Form, b: Form, factor: int = 1) -> Form:
    """a + factor * b"""
    result = dict(a)
    for atom, coefficient in b.items():
        total = result.get(atom, 0) + factor * coefficient
        if total:
            result[atom] = total
        else:
            result.pop(atom, None)
    return result


def _bears(fact: Form, form: Form) -> bool:
    """Whether taking away a fact may bring a form nearer to one that is plainly not negative."""
    return any(atom is not ONE and c * fact.get(atom, 0) > 0 for atom, c in form.items())


@dataclass(slots=True)
class Knowledge:
    """What holds at one place of the program."""

    facts: list[Form] = field(default_factory=list)  # forms that are not negative
    of_sizes: list[Form] = field(default_factory=list)  # those that hold from the start
    current: dict[Var, Form] = field(default_factory=dict)  # of mutable variables, at this place
    # What holds wherever the variable can be seen:
    forms: dict[Var, Form] = field(default_factory=dict)  # of variables that are never changed
    loops: dict[Var, Form] = field(default_factory=dict)  # indices, outermost first: last values
    clipped: dict[Var, Form] = field(default_factory=dict)  # v -> x where v = maximum(x, 0)
    implied: dict[Var, tuple[list[Form], list[Form]]] = field(default_factory=dict)  # if a truth
    # value holds, and if it does not
    products: dict[Expr, int] = field(default_factory=dict)  # exact multiples of a constant
    axes: set[Var] = field(default_factory=set)  # lengths of axes: neither negative nor huge

    def copy(self) -> Knowledge:
        """For a nested block, where more facts hold and variables may change."""
        return replace(self, facts=self.facts[-FACTS:], current=dict(self.current))

    # --- forms ----------------------------------------------------------------------------------

    def form(self, expr: Expr) -> Form | None:
        """An integer expression as a linear form."""
        match expr:
            case Const(value) if isinstance(value, int):
                return {ONE: int(value)} if value else {}
            case Var():
                if expr.mutable:
                    return self.current.get(expr)
                return self.forms.get(expr, {expr: 1})
            case Apply("add" | "subtract" as op, (a, b)):
                return self._combined(a, b, 1 if op == "add" else -1)
            case Apply("multiply", (a, b)):
                x, y = self.form(a), self.form(b)
                if x is None or y is None:
                    return None
                if set(y) <= {ONE}:
                    return {atom: c * y.get(ONE, 0) for atom, c in x.items() if y}
                return (
                    {atom: c * x.get(ONE, 0) for atom, c in y.items()} if set(x) <= {ONE} else None
                )
            case Apply("negative", (a,)):
                x = self.form(a)
                return None if x is None else {atom: -c for atom, c in x.items()}
            case Apply("maximum", (a, Const(0))):
                x = self.form(a)
                return x if x is not None and self.proves(x) else None
        return None

    def _combined(self, a: Expr, b: Expr, factor: int) -> Form | None:
        x, y = self.form(a), self.form(b)
        return None if x is None or y is None else plus(x, y, factor)

    # --- proofs ---------------------------------------------------------------------------------

    def proves(self, form: Form) -> bool:
        """Whether the form is known not to be negative."""
        if self._plain(form):
            return True
        facts = [*reversed(self.facts[-FACTS:]), *self.of_sizes]
        useful = [fact for fact in facts if _bears(fact, form)]
        rests = [plus(form, fact, -1) for fact in useful]
        if any(self._plain(rest) for rest in rests):
            return True
        return any(
            self._plain(plus(rest, fact, -1))
            for rest in rests[:FEW]
            for fact in facts
            if _bears(fact, rest)
        )

    def _plain(self, form: Form) -> bool:
        """Whether it is not negative at the worst values of the loops' indices."""
        form = self._at_worst(form, -1)
        return form.get(ONE, 0) >= 0 and all(
            atom is ONE or (c > 0 and atom in self.axes) for atom, c in form.items()
        )

    def _at_worst(self, form: Form, sign: int) -> Form:
        """The largest (sign 1) or smallest (-1) a form gets as the indices of loops run."""
        if not any(atom in self.loops for atom in form):
            return form
        for var in reversed(self.loops):
            coefficient = form.get(var, 0)
            if coefficient:
                form = {atom: c for atom, c in form.items() if atom is not var}
                if coefficient * sign > 0:
                    form = plus(form, self.loops[var], coefficient)
        return form

    def fits(self, form: Form) -> bool:
        """Whether its value is known to be far from what 64 bits hold."""
        return all(self._below(form, sign) for sign in (1, -1))

    def _below(self, form: Form, sign: int) -> bool:
        """Whether sign * form is at most some size of an axis, or what a variable holds."""
        form = self._at_worst({atom: sign * c for atom, c in form.items()}, 1)
        total, others = form.get(ONE, 0), 0
        for atom, c in form.items():
            if atom is ONE:
                continue
            if atom in self.axes:
                total += max(c, 0) * AXIS
            elif c == 1:
                others += 1
            else:
                return False
        return total < LIMIT if not others else others == 1 and total <= 0

    def learn(self, condition: Expr, holds: bool) -> None:
        """Take note of a condition that is true, or false, from here on."""
        match condition, holds:
            case Var(), _:
                facts = self.implied.get(condition)
                if facts is not None:
                    self.facts += facts[0 if holds else 1]
            case Apply("logical_not", (inner,)), _:
                self.learn(inner, not holds)
            case Apply("logical_and", (a, b)), True:
                self.learn(a, True)
                self.learn(b, True)
            case Apply("logical_or", (a, b)), False:
                self.learn(a, False)
                self.learn(b, False)
            case Apply("greater_equal", (Apply("cast", (a,)), Apply("cast", (b,)))), False:
                if _unsigned(condition):
                    self._note(a, Const(0, INDEX), 0)  # a >= 0
                    self._note(b, a, -1)  # b - a - 1 >= 0
            case Apply(op, (a, b)), _ if op in _LESS and a.dtype.kind == b.dtype.kind == "i":
                swap, offset = _LESS[op] if holds else _LESS[_OPPOSITE[op]]
                self._note(*((a, b) if swap else (b, a)), offset)
            case (Apply("equal", (a, b)), True) | (Apply("not_equal", (a, b)), False):
                self._note(a, b, 0)
                self._note(b, a, 0)

    def follows(self, condition: Expr, holds: bool) -> list[Form]:
        """What would be known if a condition held, or did not."""
        other = replace(self, facts=[])
        other.learn(condition, holds)
        return other.facts

    def _note(self, a: Expr, b: Expr, offset: int) -> None:
        """a - b + offset >= 0"""
        form = self._combined(a, b, -1)
        if form is not None:
            self.facts.append(plus(form, {ONE: offset}))

    def never(self, condition: Expr) -> bool:
        """Whether a condition is known to be false."""
        match condition:
            case Const(value):
                return not value
            case Apply("logical_and", (a, b)):
                return self.never(a) or self.never(b)
            case Apply("logical_or", (a, b)):
                return self.never(a) and self.never(b)
            case Apply("logical_not", (inner,)):
                return self.always(inner)
            case Apply("greater_equal", (Apply("cast", (a,)), Apply("cast", (b,)))):
                return _unsigned(condition) and self._within(a, b)
            case Apply(op, (a, b)) if op in _LESS and a.dtype.kind == b.dtype.kind == "i":
                swap, offset = _LESS[_OPPOSITE[op]]
                return self._follows(*((a, b) if swap else (b, a)), offset)
            case Apply("not_equal", (a, b)):
                return self._follows(a, b, 0) and self._follows(b, a, 0)
        return False

    def always(self, condition: Expr) -> bool:
        match condition:
            case Apply(op, (a, b)) if op in _LESS and a.dtype.kind == b.dtype.kind == "i":
                swap, offset = _LESS[op]
                return self._follows(*((a, b) if swap else (b, a)), offset)
        return False

    def _within(self, a: Expr, b: Expr) -> bool:
        form = self.form(a)
        return form is not None and self.proves(form) and self._follows(b, a, -1)

    def _follows(self, a: Expr, b: Expr, offset: int) -> bool:
        form = self._combined(a, b, -1)
        return form is not None and self.proves(plus(form, {ONE: offset}))


# op -> whether it is of (a, b) rather than (b, a), and the offset: a >= b says a - b + 0 >= 0
_LESS: Mapping[str, tuple[bool, int]] = {
    "less": (False, -1),
    "less_equal": (False, 0),
    "greater": (True, -1),
    "greater_equal": (True, 0),
}
_OPPOSITE = {
    "less": "greater_equal",
    "less_equal": "greater",
    "greater": "less_equal",
    "greater_equal": "less",
}


def _unsigned(condition: Apply) -> bool:
    return condition.args[0].dtype == np.uint64 == condition.args[1].dtype


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
        if new is not None:
            result.append(new)
    return tuple(result)


def _statement(stmt: Stmt, known: Knowledge) -> Stmt | None:
    match stmt:
        case Let(var, value):
            value = _settled(value, known)
            _define(known, var, value)
            match value:
                case Apply("maximum", (a, Const(0))):
                    form = known.form(a)
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
        case Call(variables=variables):
            for var in variables:
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
    form = known.form(value) if var.dtype == INDEX else None
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
    turn = known.copy()
    _forget(turn, (*stmt.test, *stmt.body))
    atoms = {v: next(iter(turn.current[v])) for v in first}
    start = len(turn.facts)
    test = _block(stmt.test, turn)
    turn.learn(_resolved(stmt.condition, test), True)
    facts = turn.facts[start:]
    _block(stmt.body, turn)
    found: Steps = {}
    for var, atom in atoms.items():
        end = turn.current.get(var, {})
        if first[var] is not None and end.get(atom) == 1 and set(end) <= {atom, ONE}:
            limits = (_limit(fact, atom, set(atoms.values())) for fact in facts)
            limit = next((x for x in limits if x is not None), None)
            found[var] = (end.get(ONE, 0), limit)
    return found


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


# --- independent turns ----------------------------------------------------------------------------


def independent(loop: For, known: Knowledge) -> bool:
    """Whether no turn of a loop reads or writes what another one writes."""
    fact = summary(loop)
    if fact.effects or not fact.changes <= fact.defines:
        return False
    for root, writes in fact.writes.items():
        if root in fact.allocates:
            continue
        accesses = [*fact.reads.get(root, ()), *writes]
        inner = [*_loops_in(loop.body), loop.var]
        varying = fact.defines.difference(inner)
        if len(accesses) > 24 or not all(
            _apart(w, a, inner, varying, known) for w in writes for a in accesses
        ):
            return False
    return True


def _loops_in(block: Sequence[Stmt]) -> list[Var]:
    return [s.var for s in statements(tuple(block)) if isinstance(s, For)]


def _apart(
    write: Access,
    other: Access,
    inner: Sequence[Var],
    varying: AbstractSet[Var],
    known: Knowledge,
) -> bool:
    """Whether a write in one turn of loop inner[-1] never meets an access in another turn."""
    if write[0] is not other[0] or write[1] is None or other[1] is None:
        return False
    for e, f in zip(write[1], other[1], strict=True):
        a, b = known.form(e), known.form(f)
        if a is None or b is None or not _steady({*a, *b}, varying):
            continue
        if _in_step(a, b, inner) or _distinct(a, b, inner, known):
            return True
    return False


def _steady(atoms: AbstractSet[Any], varying: AbstractSet[Var]) -> bool:
    """Whether, but for loop indices, nothing in a form changes from turn to turn."""
    return all(atom is ONE or (isinstance(atom, Var) and atom not in varying) for atom in atoms)


def _in_step(a: Form, b: Form, inner: Sequence[Var]) -> bool:
    """Equal forms of the loop's index, and of nothing else that changes in a turn."""
    return a == b and inner[-1] in a and not any(v in a for v in inner[:-1])


def _distinct(a: Form, b: Form, inner: Sequence[Var], known: Knowledge) -> bool:
    """Never equal, whatever the two turns are."""
    twins = {v: object() for v in inner}
    for v in reversed(inner):  # outermost first
        if v in known.loops:
            known.loops[twins[v]] = _renamed(known.loops[v], twins)  # type: ignore[index]
    other = _renamed(b, twins)
    gap = plus(a, other, -1)
    apart = known.proves(plus(gap, {ONE: -1})) or known.proves(
        plus({atom: -c for atom, c in gap.items()}, {ONE: -1})
    )
    for twin in twins.values():
        known.loops.pop(twin, None)  # type: ignore[call-overload]
    return apart


def _renamed(form: Form, twins: Mapping[Var, object]) -> Form:
    return {twins.get(atom, atom) if atom is not ONE else ONE: c for atom, c in form.items()}
