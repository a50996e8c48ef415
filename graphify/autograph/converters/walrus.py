"""Assignment expressions are moved in front of the statement where they would land in a thunk.

    if (n := f(x)) and n > 2:        n = f(x)
                                     if n and n > 2:

    while (n := f(x)) > 2:           while True:
        body                             if (n := f(x)) > 2:
                                             body
                                         else:
                                             break

A loop whose test calls a function may likewise rebind names, where functions defined nearby declare
names nonlocal; its test moves into the body too. The loop's own test only sees its state.

A walrus that is evaluated first and always is moved; one that depends on a condition, or stands in
a comprehension, becomes statements (see linear.py). Another one outside `and`, `or` and chained
comparisons stays.
"""

from __future__ import annotations

from typing import Any

import gast

from graphify.autograph.converters.base import Context, Converter, find_walrus
from graphify.autograph.converters.linear import needs_statements
from graphify.autograph.converters.spelled_out import linearise
from graphify.syntax import origin
from graphify.syntax.analysis.activity import any_node, names_of


def transform(tree: Any, ctx: Context) -> Any:
    """Move assignment expressions out of the places that become thunks."""
    return _Walrus(ctx).visit(tree)


class _Walrus(Converter):
    def visit_While(self, node: Any) -> Any:
        self.generic_visit(node)
        # A test may also rebind names by calling a function that declares them nonlocal.
        rebinds = self.scopes[-1].remote and names_of(node.test).calls
        if find_walrus(node.test) is None and not rebinds:
            return node
        if any_node(node.orelse, [gast.Break, gast.Continue]) is not None:
            self.ctx.unsupported(
                node,
                "`:=` in the test of a loop whose `else` leaves a loop",
                "assign the name in the loop body",
            )
        leave = [*node.orelse, gast.Break()]
        inner = origin.inherit(gast.If(node.test, node.body, leave), node)
        loop = origin.inherit(gast.While(gast.Constant(True, None), [], []), node)
        loop.body = self._hoist(inner, "test")
        return loop

    def visit_If(self, node: Any) -> Any:
        return self._hoist(self.generic_visit(node), "test")

    def visit_Assign(self, node: Any) -> Any:
        return self._hoist(self.generic_visit(node), "value")

    visit_Return = visit_Expr = visit_AugAssign = visit_Assign

    def visit_AnnAssign(self, node: Any) -> Any:
        return self._hoist(super().visit_AnnAssign(node), "value")

    def visit_For(self, node: Any) -> Any:
        return self._hoist(self.generic_visit(node), "iter")

    def visit_Assert(self, node: Any) -> Any:
        return self._hoist(self.generic_visit(node), "test")

    def _hoist(self, statement: Any, field: str) -> list[Any]:
        """The statement, after assignments for each walrus that would end in a thunk."""
        new: list[Any] = []
        expression = getattr(statement, field)
        while expression is not None:
            place = _first_walrus(expression)
            if place is None:
                break
            parent, name, index = place
            walrus = getattr(parent, name) if index is None else getattr(parent, name)[index]
            new += self.ctx.statements(
                "name = value", walrus, name=walrus.target.id, value=walrus.value
            )
            loaded = origin.inherit(gast.Name(walrus.target.id, gast.Load(), None, None), walrus)
            if index is None:
                setattr(parent, name, loaded)
            else:
                getattr(parent, name)[index] = loaded
        rest = getattr(statement, field)
        if rest is not None and needs_statements(rest):
            names = self.scopes[-1].locals | self.scopes[-1].free
            first, rest = linearise(rest, self.ctx, names)
            setattr(statement, field, rest)
            new += first
        return [*new, statement]


def _first_walrus(node: Any, thunk: bool = False) -> tuple[Any, str, int | None] | None:
    """Where the first thing evaluated in an expression is a walrus that would be in a thunk."""
    here: tuple[str, int | None]
    match node:
        case gast.BoolOp():
            here, inside = ("values", 0), True
        case gast.Compare():
            here, inside = ("left", None), thunk
        case gast.BinOp():
            here, inside = ("left", None), thunk
        case gast.UnaryOp():
            here, inside = ("operand", None), thunk
        case gast.IfExp():
            here, inside = ("test", None), thunk
        case gast.Attribute() | gast.Subscript() | gast.NamedExpr():
            here, inside = ("value", None), thunk
        case gast.Call(args=[]):
            here, inside = ("func", None), thunk
        case gast.Call(func=gast.Name()):
            here, inside = ("args", 0), thunk
        case _:
            return None
    child = getattr(node, here[0]) if here[1] is None else getattr(node, here[0])[here[1]]
    if isinstance(child, gast.NamedExpr) and inside and not isinstance(node, gast.NamedExpr):
        return node, here[0], here[1]
    return _first_walrus(child, inside)
