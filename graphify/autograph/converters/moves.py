"""A list that goes into another list and that its name does not show any more.

    rows.append(row)         rows.append(ag.moved(row, "row"))    # nobody reads `row` before it is
    row = []                 row = []                             # bound again

Elements of a list of run-time length are copies of what was put there, so a list that was put there
cannot change. One that nobody sees again need not be that list. Names that are bound once show a
new list each time anyway.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import gast

from graphify.autograph.converters.base import Context, Converter
from graphify.syntax.analysis.activity import target_names
from graphify.syntax.analysis.liveness import Liveness


def transform(tree: Any, ctx: Context) -> Any:
    """Mark what is moved; runs while the statements are still the user's."""
    return _Moves(ctx).visit(tree)


class _Moves(Converter):
    def __init__(self, ctx: Context) -> None:
        super().__init__(ctx)
        self.live: list[Liveness] = []
        self.bound: list[Counter[str]] = []  # how often a function assigns to a name

    def visit_FunctionDef(self, node: Any) -> Any:
        self.live.append(Liveness(node))
        self.bound.append(Counter(_assigned(node)))
        node = super().visit_FunctionDef(node)
        self.live.pop()
        self.bound.pop()
        return node

    def visit_Expr(self, node: Any) -> Any:
        self.generic_visit(node)
        match node.value:
            case gast.Call(
                func=gast.Attribute(attr="append" | "appendleft"),
                args=[gast.Name(id=name) as moved],
                keywords=[],
            ) if self._is_moved(name, node):
                text = gast.Constant(name, None)
                node.value.args = [self.ctx.operator("moved", moved, moved, text)]
        return node

    def _is_moved(self, name: str, statement: Any) -> bool:
        scope = self.scopes[-1] if self.live else None
        if scope is None or name not in scope.locals or name in scope.captured | scope.remote:
            return False
        return self.bound[-1][name] > 1 and name not in self.live[-1].after(statement)


def _assigned(function: Any) -> Iterator[str]:
    for node in gast.walk(function):
        if isinstance(node, gast.Assign):
            yield from (name for target in node.targets for name in target_names(target))
