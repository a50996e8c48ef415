"""Calls within a `try` as statements of their own, so that each can be attempted by itself.

    y = g(f(x)) + x[k]              value = f(x)
                                    value_1 = g(value)
                                    y = value_1 + x[k]

A callee may change things before it fails. Then it runs in a form of its own, ATTEMPTED, which
gives the exception as a value (see operators/attempts.py):

    def f(x):                       def f(x):
        body                            retval_ = ag.Undefined("what is returned")
                                        try:
                                            body            # as within a `try`: raise sets `raised`
                                        except BaseException as found: ...
                                        return raised, (error, error_1), retval_

What is evaluated before a call moves along, in Python's order; an operand that is evaluated under a
condition of its own stays.
"""

from __future__ import annotations

from typing import Any

import gast

from graphify.autograph.converters.base import Context
from graphify.autograph.converters.linear import Linear, targets_of
from graphify.syntax.analysis.activity import COMPREHENSIONS, FUNCTIONS, Scope

ATTEMPTED = "attempted"


def opened(node: Any, ctx: Context, scope: Scope) -> list[Any] | None:
    """A statement with the calls in it in statements before it; None if there are none."""
    linear = _Callees(ctx, scope, node)
    if isinstance(node, gast.For) and linear.moves(node.iter):
        node.iter = linear.rest(node.iter)
        return [*linear.statements, node]
    if getattr(node, "single", False) or not _is_open(node, linear):
        return None
    if isinstance(node, gast.Expr) and ctx.is_operator(node.value, "call"):
        node.value, node.single = linear.atoms(node.value), True
        return [*linear.statements, node]
    node.value = linear.rest(node.value)
    return [*linear.statements, node]


def _is_open(node: Any, linear: _Callees) -> bool:
    match node:
        case gast.AugAssign(target=gast.Name(id=name), value=value):
            return linear.moves(value) and not linear.varies(name)
        case gast.Assign(value=value) | gast.Expr(value=value):
            return linear.moves(value)
        case gast.AnnAssign(value=value) if value is not None:
            return linear.moves(value)
    return False


class _Callees(Linear):
    """Moves calls of functions that may be the user's own."""

    def __init__(self, ctx: Context, scope: Scope, at: Any) -> None:
        super().__init__(ctx, targets_of(at) | scope.remote)
        self.locals = scope.locals

    def varies(self, name: str) -> bool:
        """Whether a callee may rebind a name."""
        ours = name in self.locals or name in self.ctx.internal or name == self.ctx.ag
        return name in self.targets or not ours

    def moves(self, node: Any) -> bool:
        stack = [node]
        while stack:
            node = stack.pop()
            if self._is_moved(node):
                return True
            if not isinstance(node, (*FUNCTIONS, *COMPREHENSIONS)):
                stack += gast.iter_child_nodes(node)
        return False

    def _is_moved(self, node: Any) -> bool:
        return self.ctx.is_operator(node, "call") or self.ctx.is_operator(node, "next")

    def rest(self, node: Any) -> Any:
        if not self.moves(node):
            return node
        if not self._is_moved(node):
            return self.in_order(node)
        name = self.ctx.internal_name("value")
        self.assign(name, self.atoms(node), node)
        self.statements[-1].single = True
        return self.load(name, node)

    def atoms(self, call: Any) -> Any:
        """A call with every part that does something, or may fail, in a statement before it."""
        first = self._callee if self.ctx.is_operator(call, "call") else self.take
        call.args = [self.take(part) if k else first(part) for k, part in enumerate(call.args)]
        call.keywords = [self.take(keyword) for keyword in call.keywords]
        return call

    def _callee(self, node: Any) -> Any:
        """A function's name and a method of a name stay as they are."""
        if not isinstance(node, (gast.Attribute, gast.Name)):
            return self.take(node)
        if isinstance(node, gast.Attribute) and not isinstance(node.value, gast.Name):
            node.value = self.take(node.value)
        return node

    def take(self, node: Any) -> Any:
        match node:
            case gast.Attribute(value=gast.Name()):  # of the operators, of a module
                return node
            case gast.Name(id=name) if self.varies(name):
                self.targets.add(name)
        return super().take(node)
