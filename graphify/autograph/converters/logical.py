"""Logical expressions: thunks keep Python's short circuit.

    a and b            ag.and_(lambda: a, lambda: b)
    not a              ag.not_(a)
    a < b <= c         ag.compare(a, "<", lambda: b, "<=", lambda: c)
    x in xs            ag.contains(xs, x)
    x not in xs        ag.not_(ag.contains(xs, x))

    x is None          ag.is_(x, None)

    (a, b) < best      ag.compare((a, b), "<", lambda: best)
    t < u              ag.compare(t, "<", lambda: u)    # where t or u is assigned a tuple or list

Any other single comparison stays `a < b`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gast

from graphify.autograph.converters.base import Context, Converter
from graphify.syntax import origin
from graphify.syntax.analysis.activity import any_node

SIGNS = {
    gast.Eq: "==",
    gast.NotEq: "!=",
    gast.Lt: "<",
    gast.LtE: "<=",
    gast.Gt: ">",
    gast.GtE: ">=",
    gast.Is: "is",
    gast.IsNot: "is not",
    gast.In: "in",
    gast.NotIn: "not in",
}

DISPLAYS = (gast.Tuple, gast.List, gast.Dict)


def transform(tree: Any, ctx: Context) -> Any:
    """Convert `and`, `or`, `not`, chained comparisons and membership tests."""
    return _Logical(ctx, set(_names_of_displays(tree))).visit(tree)


def _names_of_displays(tree: Any) -> Iterator[str]:
    """Names that somewhere in a function stand for a tuple, list or dict that is written out."""
    for node in gast.walk(tree):
        for target in node.targets if isinstance(node, gast.Assign) else ():
            pairs = [(target, node.value)]
            if isinstance(target, gast.Tuple) and isinstance(node.value, gast.Tuple):
                pairs = list(zip(target.elts, node.value.elts, strict=False))
            for name, value in pairs:
                if isinstance(name, gast.Name) and isinstance(value, DISPLAYS):
                    yield name.id


class _Logical(Converter):
    def __init__(self, ctx: Context, sequences: set[str]) -> None:
        super().__init__(ctx)
        self.sequences = sequences

    def visit_BoolOp(self, node: Any) -> Any:
        self.generic_visit(node)
        name = "and_" if isinstance(node.op, gast.And) else "or_"
        return self.ctx.operator(name, node, *map(self.ctx.thunk, node.values))

    def visit_UnaryOp(self, node: Any) -> Any:
        self.generic_visit(node)
        if isinstance(node.op, gast.Not):
            return self.ctx.operator("not_", node, node.operand)
        return node

    def visit_Compare(self, node: Any) -> Any:
        self.generic_visit(node)
        if len(node.ops) > 1:
            rest: list[Any] = []
            for op, right in zip(node.ops, node.comparators, strict=True):
                rest += [gast.Constant(SIGNS[type(op)], None), self.ctx.thunk(right)]
            return self.ctx.operator("compare", node, node.left, *rest)
        if isinstance(node.ops[0], (gast.Is, gast.IsNot)):
            same = self.ctx.operator("is_", node, node.left, node.comparators[0])
            negated = isinstance(node.ops[0], gast.IsNot)
            return self.ctx.operator("not_", node, same) if negated else same
        if not isinstance(node.ops[0], (gast.In, gast.NotIn)):
            return self._of_sequences(node)
        found = self._contains(node, node.left, node.comparators[0])
        if isinstance(node.ops[0], gast.NotIn):
            return self.ctx.operator("not_", node, found)
        return found

    def _of_sequences(self, node: Any) -> Any:
        """A display holds what may be staged: its items are compared one by one."""
        sides = (node.left, node.comparators[0])
        if not any(isinstance(s, DISPLAYS) or self._is_sequence(s) for s in sides):
            return node
        sign = gast.Constant(SIGNS[type(node.ops[0])], None)
        return self.ctx.operator("compare", node, sides[0], sign, self.ctx.thunk(sides[1]))

    def _is_sequence(self, node: Any) -> bool:
        return isinstance(node, gast.Name) and node.id in self.sequences

    def _contains(self, node: Any, item: Any, container: Any) -> Any:
        if any_node(item, [gast.Call]) is None or any_node(container, [gast.Call]) is None:
            return self.ctx.operator("contains", node, container, item)
        # Python evaluates the item first: keywords keep that order.
        found = self.ctx.operator("contains", node)
        found.keywords = [gast.keyword("item", item), gast.keyword("container", container)]
        return origin.inherit(found, node)
