"""Names that may be unbound: reading one goes through a check.

    if c:                 y, = ag.if_(c, lambda y: (1,), lambda y: (y,), (ag.Undefined("y"),), ...)
        y = 1             return ag.defined(y)
    return y

Converted code passes names as values, so "not bound" has to be a value too: `ag.Undefined`. Reads
that the definitions analysis cannot prove safe are marked before control flow is converted; those
of names that an Undefined may have reached are wrapped afterwards.
"""

from __future__ import annotations

from typing import Any

import gast

from graphify.autograph.converters.base import Context
from graphify.syntax.analysis.activity import FUNCTIONS, Scope, is_thunk, scope_of
from graphify.syntax.analysis.definitions import Definitions

BLOCKS = ("body", "orelse", "finalbody", "handlers")


def mark_loads(function: Any, scope: Scope, definitions: Definitions, ctx: Context) -> set[str]:
    """Mark, with their function, the loads of its locals that may find them unbound, and those of
    names that are unbound in the converted function around it.

    Returns:
        The names that have such loads.
    """
    marker = _Marker(function, scope, definitions, ctx)
    marker.block(function.body)
    return marker.found


def check_lambda(function: Any, ctx: Context) -> None:
    """Check the loads of names that are unbound in the converted function around a lambda."""
    if ctx.unbound:
        marker = _Marker(function, scope_of(function), None, ctx)
        marker.captured(function)
        function.body = _Wrapper(function, marker.found, ctx).visit(function.body)


def wrap_loads(function: Any, names: set[str], ctx: Context) -> None:
    """Check the marked loads of some names of a function."""
    if names:
        wrapper = _Wrapper(function, names, ctx)
        function.body = [new for node in function.body for new in wrapper.statement(node)]


class _Marker:
    def __init__(
        self, function: Any, scope: Scope, definitions: Definitions | None, ctx: Context
    ) -> None:
        self.function, self.definitions = function, definitions
        self.found: set[str] = set()
        self.locals = (scope.locals - ctx.internal) | (scope.free & ctx.unbound)

    def block(self, body: list[Any]) -> None:
        assert self.definitions is not None
        for node in body:
            bound = self.definitions.bound_before(node)
            if bound is None or getattr(node, "settles", False):
                continue
            tested = self.definitions.bound_at_test(node) if isinstance(node, gast.While) else bound
            for name, value in gast.iter_fields(node):
                if name not in BLOCKS:
                    self.loads(value, tested)
            if isinstance(node, FUNCTIONS):
                self.captured(node)
            elif isinstance(node, gast.ClassDef):
                self.class_body(node, bound)
            else:
                self.inside(node, tested)
            if isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Name):
                self.mark(node.target, bound)

    def inside(self, node: Any, bound: frozenset[str]) -> None:
        for name in ("body", "orelse", "finalbody"):
            self.block(getattr(node, name, None) or [])
        for handler in getattr(node, "handlers", []):
            self.loads(handler.type, bound)
            self.block(handler.body)

    def class_body(self, node: Any, bound: frozenset[str]) -> None:
        """Mark what the body of a local class reads when it runs; its methods run later."""
        for child in node.body:
            if isinstance(child, gast.FunctionDef):
                self.loads(child.decorator_list, bound)
                self.loads([*child.args.defaults, *child.args.kw_defaults], bound)
            elif isinstance(child, gast.ClassDef):
                self.loads([*child.decorator_list, *child.bases, *child.keywords], bound)
                self.class_body(child, bound)
            else:
                self.loads(child, bound)

    def loads(self, value: Any, bound: frozenset[str]) -> None:
        """Mark the loads in an expression, looking into thunks but not into other functions."""
        for node in value if isinstance(value, list) else [value]:
            if isinstance(node, gast.Name):
                if not isinstance(node.ctx, (gast.Store, gast.Param)):
                    self.mark(node, bound)
            elif isinstance(node, gast.Lambda) and not is_thunk(node):
                self.loads([*node.args.defaults, *node.args.kw_defaults], bound)
                self.captured(node)
            elif isinstance(node, gast.GeneratorExp) and not getattr(node, "consumed", False):
                self.loads(node.generators[0].iter, bound)
                self.loads([node.elt, *node.generators[0].ifs, *node.generators[1:]], frozenset())
            elif isinstance(node, gast.AST):
                for child in gast.iter_child_nodes(node):
                    self.loads(child, bound)

    def captured(self, function: Any) -> None:
        """Functions in this one run later: their reads of its names are never certain."""
        free = scope_of(function).free & self.locals
        for node in gast.walk(function):
            target = node.target if isinstance(node, gast.AugAssign) else node
            if (
                isinstance(target, gast.Name)
                and target.id in free
                and (target is not node or isinstance(node.ctx, gast.Load))
            ):
                self.mark(target, frozenset())

    def mark(self, name: Any, bound: frozenset[str]) -> None:
        if name.id in self.locals and name.id not in bound:
            name.maybe_unbound = self.function
            self.found.add(name.id)


class _Wrapper(gast.NodeTransformer):  # type: ignore[misc]  # its base is untyped
    def __init__(self, function: Any, names: set[str], ctx: Context) -> None:
        self.function, self.names, self.ctx = function, names, ctx

    def statement(self, node: Any) -> list[Any]:
        result = self.visit(node)
        return result if isinstance(result, list) else [result]

    def _applies(self, name: Any) -> bool:
        return name.id in self.names and getattr(name, "maybe_unbound", None) is self.function

    def visit_Name(self, node: Any) -> Any:
        if not isinstance(node.ctx, gast.Load) or not self._applies(node):
            return node
        node.maybe_unbound = None
        return self.ctx.operator("defined", node, node)

    def visit_AugAssign(self, node: Any) -> Any:
        self.generic_visit(node)
        if isinstance(node.target, gast.Name) and self._applies(node.target):
            check = self.ctx.statements("name = ag.defined(name)", node, name=node.target.id)
            return [*check, node]
        return node
