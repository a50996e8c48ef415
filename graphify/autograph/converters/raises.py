"""Raising: the operator decides whether to raise now or to record that the graph may.

    raise E(x)               return ag.raise_(E(x), None)
    raise E(x) from cause    return ag.raise_(E(x), cause)

Nothing after a `raise` in its block can run, and the call never returns in plain Python; `return`
says so, and lets the operator around it (`ag.if_`, `ag.if_exp`, ...) see that this path raises.
A bare `raise` in a handler raises what is being handled and stays.
"""

from __future__ import annotations

from typing import Any

import gast

from graphify.autograph.converters.base import Context, Converter


def transform(tree: Any, ctx: Context) -> Any:
    """Convert `raise` statements; runs last, when every block that raises is a function's own."""
    return _Raises(ctx).visit(tree)


class _Raises(Converter):
    def visit_Raise(self, node: Any) -> Any:
        if node.exc is None:
            return node
        cause = node.cause if node.cause is not None else gast.Constant(None, None)
        return self.ctx.statements(
            "return ag.raise_(exception, cause)", node, exception=node.exc, cause=cause
        )
