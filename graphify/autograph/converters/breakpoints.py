"""breakpoint() and pdb.set_trace(): called as they are, where the user's variables can be seen.

    breakpoint()          breakpoint()
                          lambda: (x, total, i)

A debugger looks at the frame of its caller, so the call is not to go through an operator. The body
of a loop becomes a function, in whose frame only what it mentions can be seen: the lambda, which
nobody calls, mentions every local name.
"""

from __future__ import annotations

from typing import Any

import gast

from graphify.autograph.converters import resolve
from graphify.autograph.converters.base import Context, Converter, chain_of


def transform(tree: Any, ctx: Context) -> Any:
    """Convert statements that stop in a debugger."""
    return _Breakpoints(ctx).visit(tree)


class _Breakpoints(Converter):
    def visit_Expr(self, node: Any) -> Any:
        if not self.scopes or not self._stops(node.value):
            return node
        names = sorted(self.scopes[-1].locals)
        mentioned = [gast.Name(name, gast.Load(), None, None) for name in names]
        return [node, *self.ctx.statements("lambda: (names,)", node, names=mentioned)]

    def _stops(self, call: Any) -> bool:
        chain = chain_of(call.func) if isinstance(call, gast.Call) else None
        if chain is None:
            return False
        callee = resolve.attribute(self.value_of(chain[0]), chain[1:])
        return resolve.is_debugger(callee)
