"""Generator expressions: functions of an item, for whoever consumes them.

    sum(v * v for v in x)            sum(ag.generate(x, lambda v: v * v))
    any(v > s for v in x if v < 9)   any(ag.generate(x, lambda v: v > s, lambda v: v < 9))
    (a * b for a in x for b in y)    ag.flatten(ag.generate(x, lambda a: ag.generate(y, ...)))
    (i * v for i, v in pairs)        ag.generate(pairs, ag.unpacked(2, lambda i, v: i * v))

So a loop over one may be staged, as that over a generator function. The functions of an expression
that a call exhausts at once see the names around them as they are (see `consumed` in calls.py).
"""

from __future__ import annotations

from typing import Any

import gast

from graphify.autograph.converters import resolve
from graphify.autograph.converters.base import Context, Converter, find_walrus
from graphify.autograph.converters.calls import CONSUMERS
from graphify.syntax import origin
from graphify.syntax.analysis.activity import is_thunk, scope_of, target_names


def transform(tree: Any, ctx: Context) -> Any:
    """Convert the generator expressions of a function."""
    return _Expressions(ctx).visit(tree)


class _Expressions(Converter):
    def visit_Call(self, node: Any) -> Any:
        name = getattr(node.func, "id", None)
        if name in (*CONSUMERS, "next") and resolve.is_builtin(self.value_of(name)):
            for argument in node.args:
                argument.consumed = isinstance(argument, gast.GeneratorExp) and (
                    name != "next" or find_walrus(argument) is not None  # whose rest nobody sees
                )
        return self.generic_visit(node)

    def visit_GeneratorExp(self, node: Any) -> Any:
        self._comprehension(node)
        clauses = node.generators
        if any(clause.is_async or not _is_plain(clause.target) for clause in clauses):
            return node
        parts = [node.elt, *(test for clause in clauses for test in clause.ifs)]
        if find_walrus(parts) is not None or _keeps_names(parts, clauses):
            return node
        return self._made(node, clauses, node.elt)

    def _made(self, node: Any, clauses: list[Any], value: Any) -> Any:
        first, *others = clauses
        if others:
            value = self._made(node, others, value)
        functions = [self._function(first.target, value, node)]
        if first.ifs:
            test = first.ifs[0] if len(first.ifs) == 1 else gast.BoolOp(gast.And(), first.ifs)
            target = _copied(first.target)
            functions.append(self._function(target, origin.inherit(test, node), node))
        made = self.ctx.operator("generate", node, first.iter, *functions)
        return self.ctx.operator("flatten", node, made) if others else made

    def _function(self, target: Any, value: Any, at: Any) -> Any:
        """A function of one item that binds a target to it and gives the value."""
        if isinstance(target, gast.Name):
            return self._lambda([target.id], value, at)
        names: list[str] = []
        for element in reversed(target.elts):
            if isinstance(element, gast.Name):
                taken = element.id in names
                name = self.ctx.internal_name(element.id) if taken else element.id
            else:
                name = self.ctx.internal_name("item")
                inner = self._function(element, value, at)
                loaded = gast.Name(name, gast.Load(), None, None)
                value = origin.inherit(gast.Call(inner, [loaded], []), at)
            names.insert(0, name)
        count = gast.Constant(len(names), None)
        return self.ctx.operator("unpacked", at, count, self._lambda(names, value, at))

    def _lambda(self, names: list[str], value: Any, at: Any) -> Any:
        made = self.ctx.expression("lambda names: value", at, names=names, value=value)
        made.thunk = getattr(at, "consumed", False)
        return made


def _is_plain(target: Any) -> bool:
    """Whether a target is made of names and tuples of them."""
    if isinstance(target, (gast.Tuple, gast.List)):
        return all(map(_is_plain, target.elts))
    return isinstance(target, gast.Name)


def _keeps_names(parts: list[Any], clauses: list[Any]) -> bool:
    """Whether functions are made that will see what the names of the expression become later."""
    names = {name for clause in clauses for name in target_names(clause.target)}
    return any(
        isinstance(node, gast.Lambda) and not is_thunk(node) and names & scope_of(node).free
        for part in parts
        for node in gast.walk(part)
    )


def _copied(target: Any) -> Any:
    if isinstance(target, gast.Name):
        return origin.inherit(gast.Name(target.id, target.ctx, None, None), target)
    elements = [_copied(element) for element in target.elts]
    return origin.inherit(type(target)(elements, target.ctx), target)
