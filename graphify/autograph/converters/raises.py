"""Raising and catching: the operators decide whether to raise now or to record that the graph may,
and let no handler of the program take graphify's own refusals for errors of the program.

    raise E(x)               return ag.raise_(E(x), None)
    raise E(x) from cause    return ag.raise_(E(x), cause)
    except Exception:        except ag.catching(Exception):
    except KeyError:         as it is: no refusal is one

Nothing after a `raise` in its block can run, and the call never returns in plain Python; `return`
says so, and lets the operator around it (`ag.if_`, `ag.if_exp`, ...) see that this path raises.
A bare `raise` in a handler raises what is being handled and stays.
"""

from __future__ import annotations

from typing import Any

import gast

from graphify.autograph.converters.base import Context, Converter
from graphify.autograph.converters.resolve import is_exception
from graphify.errors import REFUSALS


def transform(tree: Any, ctx: Context) -> Any:
    """Convert `raise` and `except`; runs last, when every block that raises is a function's own."""
    return _Raises(ctx).visit(tree)


class _Raises(Converter):
    def visit_Raise(self, node: Any) -> Any:
        if node.exc is None:
            return node
        cause = node.cause if node.cause is not None else gast.Constant(None, None)
        return self.ctx.statements(
            "return ag.raise_(exception, cause)", node, exception=node.exc, cause=cause
        )

    def visit_ExceptHandler(self, node: Any) -> Any:
        if not getattr(node, "ours", False) and self._catches_refusals(node.type):
            kinds = [] if node.type is None else [node.type]
            node.type = self.ctx.operator("catching", node, *kinds)
        node.body = self.block(node.body)
        return node

    def _catches_refusals(self, kind: Any) -> bool:
        """Whether a refusal may be of this class, as far as the text tells."""
        if isinstance(kind, gast.Tuple):
            return any(self._catches_refusals(item) for item in kind.elts)
        known: Any = self.value_of(kind.id) if isinstance(kind, gast.Name) else None
        return not is_exception(known) or any(issubclass(refusal, known) for refusal in REFUSALS)
