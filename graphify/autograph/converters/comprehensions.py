"""Comprehensions become loops that an operator runs, so that they can be staged.

    [v * 2 for v in x if v > 0]      ag.list_of(lambda add: ag.each(x, lambda v: add(v * 2),
                                                                    lambda v: v > 0))
    {k: d[k] for k in d}             ag.dict_of(lambda add: ag.each(d, lambda k: add(k, d[k])))
    [a * b for a in x for b in y]    ag.list_of(lambda add: ag.each(x, lambda a:
                                                            ag.each(y, lambda b: add(a * b))))
    [a * b for a, b in z]            ag.list_of(lambda add: ag.each(z, ag.unpacked(2, lambda a, b:
                                                                    add(a * b))))

Left as they are: those of all items of displays and constants, and those that make functions, which
would see each turn's own variables. Those that assign names with `:=` are statements by now (see
spelled_out.py), save those in lambdas.
"""

from __future__ import annotations

from typing import Any

import gast

from graphify.autograph.converters.base import Context, Converter
from graphify.syntax import origin
from graphify.syntax.analysis.activity import any_node


def transform(tree: Any, ctx: Context) -> Any:
    """Convert comprehensions; runs before thunks are made."""
    return _Comprehensions(ctx).visit(tree)


class _Comprehensions(Converter):
    def visit_ListComp(self, node: Any) -> Any:
        self._comprehension(node)
        return self._made("list_of", node, [node.elt])

    def visit_SetComp(self, node: Any) -> Any:
        self._comprehension(node)
        return self._made("set_of", node, [node.elt])

    def visit_DictComp(self, node: Any) -> Any:
        self._comprehension(node)
        return self._made("dict_of", node, [node.key, node.value])

    def _made(self, operator: str, node: Any, values: list[Any]) -> Any:
        if _stays(node):
            return node
        add = self.ctx.internal_name("add")
        inner = self.ctx.expression("add(values)", node, add=add, values=values)
        inner.keeps = True
        for generator in reversed(node.generators):
            inner = self._each(generator, inner)
        return self.ctx.operator(operator, node, self._function([add], inner))

    def _each(self, generator: Any, inner: Any) -> Any:
        """One `for` of a comprehension, with its `if`s."""
        parts = [generator.iter, self._taking(generator.target, inner)]
        if generator.ifs:
            test = generator.ifs[0]
            if len(generator.ifs) > 1:
                test = origin.inherit(gast.BoolOp(gast.And(), generator.ifs), test)
            parts.append(self._taking(generator.target, test))
        return self.ctx.operator("each", generator.iter, *parts)

    def _taking(self, target: Any, body: Any) -> Any:
        """`lambda target: body`, also for targets that are no names."""
        if isinstance(target, gast.Name):
            return self._function([target.id], body)
        names: list[str] = []
        for element in target.elts:
            if isinstance(element, gast.Name):
                names.append(element.id)
                continue
            names.append(self.ctx.internal_name("part"))
            inner = self._taking(element, body)
            body = self.ctx.expression("f(part)", body, f=inner, part=names[-1])
        count = gast.Constant(len(names), None)
        return self.ctx.operator("unpacked", body, count, self._function(names, body))

    def _function(self, names: list[str], body: Any) -> Any:
        new = self.ctx.expression("lambda names: body", body, names=names, body=body)
        new.thunk = True
        return new


def _stays(node: Any) -> bool:
    """Whether a comprehension stays Python's own."""
    for generator in node.generators:
        if generator.is_async or not _is_plain_target(generator.target):
            return True
    if any_node(node, [gast.NamedExpr]) is not None or _makes_functions(node):
        return True
    return all(_is_display(g.iter) and not g.ifs for g in node.generators)


def _makes_functions(node: Any) -> bool:
    """Whether functions are made that would keep the variables: the operators' own do not, nor do
    those of the first iterable, which are made before there are any."""
    first, *others = node.generators
    pending = [n for n in gast.iter_child_nodes(node) if n not in node.generators]
    pending += [*first.ifs, *others]
    while pending:
        inner = pending.pop()
        own = getattr(inner, "thunk", False)
        if isinstance(inner, gast.Lambda) and not own:
            return True
        if isinstance(inner, gast.GeneratorExp) and inner is not node:
            return True
        pending += gast.iter_child_nodes(inner)
    return False


def _is_plain_target(target: Any) -> bool:
    if isinstance(target, (gast.Tuple, gast.List)):
        return all(map(_is_plain_target, target.elts))
    return isinstance(target, gast.Name)


def _is_display(node: Any) -> bool:
    return isinstance(node, (gast.Constant, gast.Tuple, gast.List, gast.Set, gast.Dict))
