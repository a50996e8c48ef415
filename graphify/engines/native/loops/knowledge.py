"""What is known of integers at a place of a program, and what follows from it.

Integers are followed as linear forms, `2*i - n + 1`, over loop indices, sizes and other variables.
A fact is a form that is not negative. A form is proved not to be negative by its value at the worst
indices of the loops around, after taking away one or two facts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from graphify.engines.native.loops.program import (
    INDEX,
    Apply,
    Const,
    Expr,
    Var,
)

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
    tries: bool = (
        False  # whether arithmetic is taken for exact: what comes of it is looked at later
    )

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

    def exact(self, expr: Expr) -> Form | None:
        """The form of an expression that cannot have wrapped around: what is said of it is true of
        the form as well."""
        form = self.form(expr)
        if form is None or self.tries or not isinstance(expr, Apply) or self.fits(form):
            return form
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
        if any(atom is not ONE and atom not in self.axes for atom in form):
            return False
        longest = sum(c for atom, c in form.items() if atom is not ONE and c < 0)
        return form.get(ONE, 0) + longest * AXIS >= 0

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
        """Whether its value is known to be one that 64 bits hold."""
        return all(
            self._below(form, sign) or self.proves(plus({ONE: LIMIT}, form, -sign))
            for sign in (1, -1)
        )

    def _below(self, form: Form, sign: int) -> bool:
        """Whether sign * form is at most some size of an axis, or what a variable holds."""
        form = self._at_worst({atom: sign * c for atom, c in form.items()}, 1)
        total, others = form.get(ONE, 0), 0
        for atom, c in form.items():
            if atom is ONE:
                continue
            if atom in self.axes:
                total += max(c, 0) * AXIS
            elif c in (1, sign):
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
        x, y = self.exact(a), self.exact(b)
        if x is not None and y is not None:
            self.facts.append(plus(plus(x, y, -1), {ONE: offset}))

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
