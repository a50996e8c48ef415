"""Attribute loads: reading a field of an object goes through an operator.

    self.weight             ag.attr(self, "weight")
    self.layer.predict(x)   ag.call(ag.attr(self, "layer").predict, x)
    x.shape, np.pi          as they are

The operator sees what staged code reads from the heap, so that it can be guarded and carried.
Attributes of modules, the attributes every array has, and the last step of a callee stay.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import gast

from graphify.autograph.converters import resolve
from graphify.autograph.converters.base import Context, Converter, chain_of
from graphify.location import is_library_module


def transform(tree: Any, ctx: Context) -> Any:
    """Convert attribute loads; runs after the calls, whose callees it must recognise."""
    return _Attributes(ctx).visit(tree)


class _Attributes(Converter):
    def visit_Attribute(self, node: Any) -> Any:
        if not isinstance(node.ctx, gast.Load) or self._is_plain(node):
            return self._inner(node)
        value = self.visit(node.value)
        return self.ctx.operator("attr", node, value, gast.Constant(node.attr, None))

    def _inner(self, node: Any) -> Any:
        """Keep an attribute, convert what it is taken from."""
        chain = chain_of(node)
        if chain is None or not self._is_module(chain[0]):
            node.value = self.visit(node.value)
        return node

    def _is_plain(self, node: Any) -> bool:
        chain = chain_of(node)
        if chain is not None and self._is_module(chain[0]):
            return True
        known = node.attr in resolve.ARRAY_ATTRIBUTES
        return known and (chain is None or chain[0] not in ("self", "cls"))

    def _is_module(self, name: str) -> bool:
        value = self.value_of(name)
        return name == self.ctx.ag or isinstance(value, ModuleType) and is_library_module(value)

    def visit_Call(self, node: Any) -> Any:
        if self.ctx.is_operator(node, "call"):
            node.args = [self._called(node.args[0]), *map(self.visit, node.args[1:])]
        else:
            node.func = self._callee(node.func)
            node.args = [self.visit(a) for a in node.args]
        node.keywords = [self.visit(k) for k in node.keywords]
        return node

    def _called(self, node: Any) -> Any:
        """What `ag.call` calls: a field that holds a function or a layer may change."""
        if isinstance(node, gast.Attribute) and node.attr in resolve.MUTATING:
            return self._inner(node)
        return self.visit(node)

    def _callee(self, node: Any) -> Any:
        return self._inner(node) if isinstance(node, gast.Attribute) else self.visit(node)
