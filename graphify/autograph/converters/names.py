"""Names that mean something only inside a class body are written out.

    self.__rate         self._Model__rate
    super()             super(__class__, self)

Python does both while it compiles a method in its class; a converted method is compiled alone, and
its code may end up in functions that have no `self`.
"""

from __future__ import annotations

from typing import Any

import gast

from graphify.autograph.converters import resolve
from graphify.autograph.converters.base import Context, Converter


def transform(tree: Any, ctx: Context) -> Any:
    """Write out private names and the arguments of `super()`."""
    return _Names(ctx).visit(tree)


class _Names(Converter):
    def visit_Call(self, node: Any) -> Any:
        self.generic_visit(node)
        match node:
            case gast.Call(func=gast.Name(id="super"), args=[], keywords=[]):
                if resolve.is_builtin(self.value_of("super")) and self.scopes[0].params:
                    first = self.scopes[0].params[0]
                    return self.ctx.expression("super(__class__, first)", node, first=first)
        return node

    def visit_Attribute(self, node: Any) -> Any:
        node.attr = self._mangled(node.attr)
        return self.generic_visit(node)

    def visit_Name(self, node: Any) -> Any:
        node.id = self._mangled(node.id)
        return node

    def visit_FunctionDef(self, node: Any) -> Any:
        if self.scopes:
            node.name = self._mangled(node.name)
        super().visit_FunctionDef(node)
        for argument in gast.iter_child_nodes(node.args):
            if isinstance(argument, gast.Name):
                argument.id = self._mangled(argument.id)
        return node

    def _mangled(self, name: str) -> str:
        owner = (self.ctx.class_name or "").lstrip("_")
        private = name.startswith("__") and not name.endswith("__") and "." not in name
        return f"_{owner}{name}" if private and owner else name
