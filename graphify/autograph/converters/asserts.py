"""Assertions: the message is built only if it is needed.

assert test, message        ag.assert_(test, lambda: message)
assert test                 ag.assert_(test, None)
"""

from __future__ import annotations

from typing import Any

import gast

from graphify.autograph.converters.base import Context, Converter


def transform(tree: Any, ctx: Context) -> Any:
    """Convert `assert` statements."""
    return _Asserts(ctx).visit(tree)


class _Asserts(Converter):
    def visit_Assert(self, node: Any) -> Any:
        message = gast.Constant(None, None) if node.msg is None else self.ctx.thunk(node.msg)
        return self.ctx.statements(
            "ag.assert_(test, message)", node, test=node.test, message=message
        )
