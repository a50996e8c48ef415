"""Other names for the variables of an expression, where they are these variables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gast

from graphify.syntax.analysis.activity import scope_of, target_names


def rename(nodes: list[Any], names: Mapping[str, str]) -> None:
    """Rename variables in expressions in place; lambdas and comprehensions keep their own.

    >>> import gast
    >>> call = gast.parse("f(v, lambda v: v, [v for v in v])").body[0].value
    >>> rename(call.args, {"v": "u"})
    >>> print(gast.unparse(call).strip())
    f(u, lambda v: v, [v for v in u])
    """
    for node in nodes:
        _Renaming(names).visit(node)


class _Renaming(gast.NodeTransformer):  # type: ignore[misc]  # its base is untyped
    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def _without(self, own: set[str] | frozenset[str]) -> _Renaming:
        return _Renaming({old: new for old, new in self.names.items() if old not in own})

    def visit_Name(self, node: Any) -> Any:
        node.id = self.names.get(node.id, node.id)
        return node

    def visit_Lambda(self, node: Any) -> Any:
        for default in [*node.args.defaults, *node.args.kw_defaults]:
            if default is not None:
                self.visit(default)
        self._without(scope_of(node).locals).visit(node.body)
        return node

    def _comprehension(self, node: Any) -> Any:
        first = node.generators[0]
        self.visit(first.iter)  # evaluated where the comprehension stands
        own = {name for clause in node.generators for name in target_names(clause.target)}
        inner = self._without(own)
        for child in gast.iter_child_nodes(node):
            if child is not first:
                inner.visit(child)
        for test in first.ifs:
            inner.visit(test)
        return node

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension
