"""Expressions as statements, where an assignment in them depends on a condition.

    if a and (n := f(x)) > 1:        test = a
        body                         if test:
                                         n = f(x)
                                         test = n > 1
                                     if test:
                                         body

What is evaluated before the assignment moves along, in Python's order; the rest stays. See
spelled_out.py for comprehensions.
"""

from __future__ import annotations

from typing import Any

import gast

from graphify.autograph.converters.base import Context, find_walrus
from graphify.syntax import origin
from graphify.syntax.analysis.activity import COMPREHENSIONS


def needs_statements(node: Any, inside: bool = False) -> bool:
    """Whether an assignment expression stands where a thunk will be made."""
    if isinstance(node, gast.Lambda) or _is_kept(node):
        return False
    if isinstance(node, COMPREHENSIONS):
        return find_walrus(node) is not None
    if isinstance(node, gast.NamedExpr) and inside:
        return True
    return any(needs_statements(child, inside or later) for child, later in _parts(node))


def _parts(node: Any) -> list[tuple[Any, bool]]:
    """The expressions of an expression, and whether each is evaluated under a condition."""
    match node:
        case gast.BoolOp(values=values):
            return [(value, True) for value in values]
        case gast.IfExp(test=test, body=body, orelse=orelse):
            return [(test, False), (body, True), (orelse, True)]
        case gast.Compare(left=left, comparators=comparators) if len(comparators) > 1:
            return [(left, False), *((right, True) for right in comparators)]
    return [(child, False) for child in gast.iter_child_nodes(node)]


def _is_kept(node: Any) -> bool:
    """Whether somebody may keep a generator."""
    return isinstance(node, gast.GeneratorExp) and not getattr(node, "consumed", False)


def targets_of(node: Any) -> set[str]:
    """The names that an expression assigns."""
    return {n.target.id for n in gast.walk(node) if isinstance(n, gast.NamedExpr)}


class Linear:
    """The statements so far; a subclass may move other things than assignments."""

    def __init__(self, ctx: Context, targets: set[str]) -> None:
        self.ctx, self.targets = ctx, targets
        self.statements: list[Any] = []

    def inner(self) -> Linear:
        """Statements that are to stand inside of one."""
        return Linear(self.ctx, self.targets)

    def moves(self, node: Any) -> bool:
        """Whether something in an expression has to become a statement."""
        return find_walrus(node) is not None

    def rest(self, node: Any) -> Any:
        """The expression without assignments; what comes before it is in the statements."""
        if isinstance(node, (gast.Lambda, *COMPREHENSIONS)) or not self.moves(node):
            return node
        match node:
            case gast.NamedExpr():
                self.assign(node.target.id, self.rest(node.value), node)
                return self.load(node.target.id, node)
            case gast.BoolOp():
                name = self.ctx.internal_name("test")
                self._operands(name, node)
                return self.chosen(name, node)
            case gast.IfExp():
                name = self.ctx.internal_name("value")
                body, orelse = (self._branch(name, side) for side in (node.body, node.orelse))
                self.if_(self.rest(node.test), body, orelse, node)
                return self.chosen(name, node)
            case gast.Compare() if len(node.ops) > 1:
                name = self.ctx.internal_name("test")
                self._comparisons(name, node.left, node.ops, node.comparators, node)
                return self.chosen(name, node)
        return self.in_order(node)

    def _operands(self, name: str, node: Any) -> None:
        """`and`, `or`: the next operand is looked at under the last one."""
        first, *later = node.values
        self.assign(name, self.rest(first), node)
        if not later:
            return
        inner = self.inner()
        inner._operands(name, origin.inherit(gast.BoolOp(node.op, later), node))
        test = self.load(name, node)
        if isinstance(node.op, gast.Or):
            test = self.not_(test)
        self.if_(test, inner.statements, [], node)

    def _comparisons(self, name: str, left: Any, ops: Any, rights: Any, node: Any) -> None:
        left, right = self.take(left), self.rest(rights[0])
        if len(ops) > 1:
            right = self.take(right)
        self.assign(name, origin.inherit(gast.Compare(left, ops[:1], [right]), node), node)
        if len(ops) == 1:
            return
        inner = self.inner()
        inner._comparisons(name, right, ops[1:], rights[1:], node)
        self.if_(self.load(name, node), inner.statements, [], node)

    def _branch(self, name: str, value: Any) -> list[Any]:
        inner = self.inner()
        inner.assign(name, inner.rest(value), value)
        return inner.statements

    def in_order(self, node: Any) -> Any:
        """Any other expression: its parts from left to right, up to the last assignment."""
        places = [
            (field, index, child)
            for field, value in gast.iter_fields(node)
            for index, child in (enumerate(value) if isinstance(value, list) else [(None, value)])
            if isinstance(child, gast.AST) and not isinstance(child, gast.expr_context)
        ]
        if isinstance(node, gast.Dict):
            places.sort(key=lambda place: place[1] or 0)  # a key, its value, the next key
        last = max(i for i, (*_, child) in enumerate(places) if self.moves(child))
        for i, (field, index, child) in enumerate(places[: last + 1]):
            new = self.rest(child) if i == last else self.take(child)
            if index is None:
                setattr(node, field, new)
            else:
                getattr(node, field)[index] = new
        return node

    def take(self, node: Any) -> Any:
        """A part that is evaluated now: a name for its value."""
        match node:
            case gast.Constant() | gast.operator() | gast.unaryop() | gast.cmpop():
                return node
            case gast.Name(id=name) if name not in self.targets:
                return node
            case gast.Starred() | gast.keyword() | gast.Attribute() | gast.FormattedValue():
                node.value = self.take(node.value)
                return node
            case gast.Slice():
                for bound in ("lower", "upper", "step"):
                    part = getattr(node, bound)
                    setattr(node, bound, part and self.take(part))
                return node
        name = self.ctx.internal_name("value")
        self.assign(name, self.rest(node), node)
        return self.load(name, node)

    # --- statements ---

    def assign(self, name: str, value: Any, at: Any) -> None:
        self.statements += self.ctx.statements("name = value", at, name=name, value=value)

    def if_(self, test: Any, body: list[Any], orelse: list[Any], at: Any) -> None:
        self.statements.append(origin.inherit(gast.If(test, body, orelse), at))

    def chosen(self, name: str, at: Any) -> Any:
        """What a branch has bound a name of the converter's own to: it did, if it did not raise."""
        return self.ctx.operator("certain", at, self.load(name, at))

    def load(self, name: str, at: Any) -> Any:
        return origin.inherit(gast.Name(name, gast.Load(), None, None), at)

    def not_(self, test: Any) -> Any:
        return origin.inherit(gast.UnaryOp(gast.Not(), test), test)
