"""Displays that are kept: a trace makes lists that can change their length in the run, and dicts
and sets that can get keys which only the run knows.

    rows = []              rows = ag.list()
    return [x, y]          return ag.list([x, y])
    [*rows, x]             ag.list(rows) + ag.list([x])
    np.stack([x, y])       as it is: the list is used up where it stands
    counts = {}            counts = ag.dict()
    {u: 0.0}               ag.dict([(u, 0.0)])
    {**d, u: x}            ag.dict(d) | ag.dict([(u, x)])
    {"a": x}               as it is: whoever writes texts as keys knows them all
    seen = {u}             seen = ag.set([u])

A display is used up as an argument of a function that is called as it is, as an index, as what a
loop or a comprehension goes over, in a test of membership, and as the right side of `+=`. Runs
after the calls, which tell those functions from the others.
"""

from __future__ import annotations

import itertools
from typing import Any

import gast

from graphify.autograph.converters.base import Context, Converter
from graphify.syntax import origin

# Operators that keep their arguments; the others only look at them.
KEEPERS = frozenset(["call", "setattr_", "setitem", "list", "tuple", "dict", "zip", "enumerate"])


def transform(tree: Any, ctx: Context) -> Any:
    """Convert list displays; runs after the calls."""
    return _Displays(ctx).visit(tree)


class _Displays(Converter):
    def visit_List(self, node: Any) -> Any:
        self.generic_visit(node)
        if not isinstance(node.ctx, gast.Load):
            return node
        if any(isinstance(element, gast.Starred) for element in node.elts):
            return self._starred(node)
        return self._made(node)

    def _made(self, node: Any) -> Any:
        return self.ctx.operator("list", node, *([node] if node.elts else []))

    def _starred(self, node: Any) -> Any:
        """The sum of the lists that are unpacked and of those between them."""
        parts: list[Any] = []
        between: list[Any] = []
        for element in [*node.elts, None]:
            if element is not None and not isinstance(element, gast.Starred):
                between.append(element)
                continue
            if between:
                display = gast.List(between, gast.Load())
                parts.append(self._made(origin.inherit(display, node)))
                between = []
            if element is not None:
                parts.append(self.ctx.operator("list", element, element.value))
        whole = parts[0]
        for part in parts[1:]:
            whole = origin.inherit(gast.BinOp(whole, gast.Add(), part), node)
        return whole

    def visit_Set(self, node: Any) -> Any:
        self.generic_visit(node)
        if any(isinstance(element, gast.Starred) for element in node.elts):
            return node
        return self.ctx.operator("set", node, self._sequence(gast.List, node.elts, node))

    def visit_Dict(self, node: Any) -> Any:
        self.generic_visit(node)
        if None in node.keys:
            return self._merged(node)
        if not all(map(_may_be_of_the_run, node.keys)):
            return node
        return self._mapping(node.keys, node.values, node)

    def _mapping(self, keys: Any, values: Any, node: Any) -> Any:
        pairs = [self._sequence(gast.Tuple, pair, node) for pair in zip(keys, values, strict=True)]
        whole = [self._sequence(gast.List, pairs, node)] if pairs else []
        return self.ctx.operator("dict", node, *whole)

    def _merged(self, node: Any) -> Any:
        """The dicts that are unpacked, and those between them: the last one that has a key gives
        its value."""
        parts: list[Any] = []
        pairs = zip(node.keys, node.values, strict=True)
        for unpacked, group in itertools.groupby(pairs, lambda pair: pair[0] is None):
            keys, values = zip(*group, strict=True)
            if unpacked:
                parts += [self.ctx.operator("dict", value, value) for value in values]
            else:
                parts.append(self._mapping(keys, values, node))
        whole = parts[0]
        for part in parts[1:]:
            whole = origin.inherit(gast.BinOp(whole, gast.BitOr(), part), node)
        return whole

    @staticmethod
    def _sequence(kind: Any, elements: Any, node: Any) -> Any:
        return origin.inherit(kind([*elements], gast.Load()), node)

    def _inside(self, node: Any) -> Any:
        """A display that is used up, with those inside of it."""
        if isinstance(node, gast.Set) and all(isinstance(e, gast.Constant) for e in node.elts):
            return node
        if not isinstance(node, (gast.List, gast.Tuple)):
            return node if node is None else self.visit(node)
        node.elts = [self._inside(element) for element in node.elts]
        return node

    def visit_Call(self, node: Any) -> Any:
        node.func = self.visit(node.func)
        keeps = getattr(node, "keeps", False)  # the element of a comprehension
        keeps |= self.ctx.is_operator(node) and node.func.attr in KEEPERS
        if self.ctx.is_operator(node, "list") and len(node.args) == 1:
            keeps = False  # it makes one already
        visit = self.visit if keeps else self._inside
        node.args = [visit(argument) for argument in node.args]
        for keyword in node.keywords:
            keyword.value = visit(keyword.value)
        return node

    def visit_Subscript(self, node: Any) -> Any:
        node.value = self.visit(node.value)
        node.slice = self._inside(node.slice)
        return node

    def visit_Compare(self, node: Any) -> Any:
        node.left = self._inside(node.left)
        node.comparators = [self._inside(value) for value in node.comparators]
        return node

    def visit_Starred(self, node: Any) -> Any:
        node.value = self._inside(node.value)
        return node

    def visit_AugAssign(self, node: Any) -> Any:
        node.target = self.visit(node.target)
        node.value = self._inside(node.value)
        return node

    def visit_For(self, node: Any) -> Any:
        node.target = self.visit(node.target)
        node.iter = self._inside(node.iter)
        node.body, node.orelse = self.block(node.body), self.block(node.orelse)
        return node

    def visit_comprehension(self, node: Any) -> Any:
        node.target = self.visit(node.target)
        node.iter = self._inside(node.iter)
        node.ifs = [self.visit(test) for test in node.ifs]
        return node

    def visit_Assign(self, node: Any) -> Any:
        """`a, b = [b, a]` makes no list that anybody sees."""
        unpacked = all(isinstance(target, (gast.Tuple, gast.List)) for target in node.targets)
        node.targets = [self.visit(target) for target in node.targets]
        if unpacked and isinstance(node.value, gast.List):
            node.value.elts = [self.visit(element) for element in node.value.elts]
        else:
            node.value = self.visit(node.value)
        return node


def _may_be_of_the_run(key: Any) -> bool:
    """Whether a key of a dict display may be one of several that only the run knows."""
    return key is not None and not (isinstance(key, gast.Constant) and isinstance(key.value, str))
