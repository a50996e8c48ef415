"""Conditional expressions.

a if test else b        ag.if_exp(test, lambda: a, lambda: b)
"""

from __future__ import annotations

from typing import Any

from graphify.autograph.converters.base import Context, Converter


def transform(tree: Any, ctx: Context) -> Any:
    """Convert `a if test else b`."""
    return _Conditional(ctx).visit(tree)


class _Conditional(Converter):
    def visit_IfExp(self, node: Any) -> Any:
        self.generic_visit(node)
        thunks = (self.ctx.thunk(node.body), self.ctx.thunk(node.orelse))
        return self.ctx.operator("if_exp", node, node.test, *thunks)
