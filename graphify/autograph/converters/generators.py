"""Generator functions: three forms of one, since who consumes it decides how it is to run.

    def squares(n):                 for v in squares(n):          # the loop's body is the consumer
        for i in range(n):              total += v
            yield i * i

    EACH    yield v                 ag.emit(consumer, v)
    UNTIL   yield v                 if ag.emit(consumer, v): return
    PULL    yield v                 yield v

A `for` statement pushes: the generator runs as a function that calls the loop's body wherever it
yields, so that its staged loops and branches take the body in, and it returns where the loop is
left. `next`, and whatever asks for one value at a time, pulls: the generator stays one of Python's,
and so do the statements around its yields; their tests have to be Python values.

In all these forms a yield becomes a statement of its own first:

    x = yield v                     yield v; x = None             # nobody sends anything
    yield from it                   for item in it: yield item
    x = yield from it               source = ag.iter(it)
                                    for item in source: yield item
                                    x = ag.returned(source)

where a pulled generator keeps its `yield from`.

What makes a context manager has a fourth form: see managed.py.

A generator function defined inside another function is left alone: it is converted from its own
source when somebody consumes it.
"""

from __future__ import annotations

from typing import Any

import gast

from graphify.autograph.converters import managed
from graphify.autograph.converters.base import Context, Converter
from graphify.syntax import origin
from graphify.syntax.analysis.activity import YIELDS, any_node, is_generator

PULL, EACH, UNTIL = "pull", "each", "until"


def transform(tree: Any, ctx: Context) -> Any:
    """Bring the yields of a generator function into the form that is asked for."""
    for node in gast.walk(tree):
        if isinstance(node, gast.Lambda) and any_node(node.body, YIELDS) is not None:
            ctx.unsupported(node, "a lambda that yields", "write a def with yield statements")
    if ctx.form == managed.MANAGED:
        return managed.transform(tree, ctx)
    if isinstance(tree, gast.FunctionDef) and is_generator(tree):
        return _Yields(ctx, tree).visit(tree)
    return tree


def consumed_whole(tree: Any) -> bool:
    """Whether a `for` statement may run a generator as a function: no `try` or `with` around a
    yield sees the errors of the loop's body, which are none of its business."""
    blocks = [n for n in gast.walk(tree) if isinstance(n, (gast.Try, gast.TryStar, gast.With))]
    return all(any_node(block, YIELDS) is None for block in blocks)


class _Yields(Converter):
    def __init__(self, ctx: Context, tree: Any) -> None:
        super().__init__(ctx)
        returns = [n for n in gast.walk(tree) if isinstance(n, gast.Return)]
        self.returns_value = any(node.value is not None for node in returns)

    def visit_Lambda(self, node: Any) -> Any:
        return node

    def visit_Expr(self, node: Any) -> Any:
        match node.value:
            case gast.Yield(value=value):
                return self._emit(value, node)
            case gast.YieldFrom(value=value):
                return self._all_of(value, node)
        return self.generic_visit(node)

    def visit_Assign(self, node: Any) -> Any:
        if isinstance(node.value, (gast.Yield, gast.YieldFrom)):
            new, node.value = self._value(node.value, node)
            return [*new, node]
        return self.generic_visit(node)

    visit_Return = visit_Assign

    def visit_Yield(self, node: Any) -> Any:
        self.ctx.unsupported(
            node,
            "`yield` inside an expression",
            "make it a statement of its own: nothing can be sent into a generator here",
        )

    visit_YieldFrom = visit_Yield

    def _value(self, value: Any, at: Any) -> tuple[list[Any], Any]:
        """Statements that yield, and what a `yield` expression gives then."""
        match value:
            case gast.Yield(value=sent):
                return self._emit(sent, at), origin.inherit(gast.Constant(None, None), at)
            case gast.YieldFrom() if self.ctx.form == PULL:
                return [], self._delegated(value, at)
            case gast.YieldFrom(value=iterable):
                name = self.ctx.internal_name("source")
                source = self.ctx.operator("iter", at, iterable)
                new = self.ctx.statements("name = iterator", at, name=name, iterator=source)
                new += self._all_of(self._name(name, at), at)
                return new, self.ctx.operator("returned", at, self._name(name, at))
        raise AssertionError("no yield")

    def _emit(self, value: Any, at: Any) -> list[Any]:
        value = value or origin.inherit(gast.Constant(None, None), at)
        if any_node(value, YIELDS) is not None:
            self.visit_Yield(value)
        if self.ctx.form == PULL:
            return [origin.inherit(gast.Expr(gast.Yield(value)), at)]
        call = self.ctx.operator("emit", at, self._name(self.ctx.consumer, at), value)
        if self.ctx.form == EACH:
            return [origin.inherit(gast.Expr(call), at)]
        leave = 'return ag.Undefined("its value")' if self.returns_value else "return"
        return self.ctx.statements(f"if call:\n    {leave}", at, call=call)

    def _delegated(self, value: Any, at: Any) -> Any:
        value.value = self.ctx.operator("known_items", at, value.value)
        return value

    def _all_of(self, iterable: Any, at: Any) -> list[Any]:
        if self.ctx.form == PULL:
            delegated = self._delegated(origin.inherit(gast.YieldFrom(iterable), at), at)
            return [origin.inherit(gast.Expr(delegated), at)]
        name = self.ctx.internal_name("item")
        body = self._emit(self._name(name, at), at)
        return self.ctx.statements(
            "for item in iterable:\n    body", at, item=name, iterable=iterable, body=body
        )

    def _name(self, name: str, at: Any) -> Any:
        return origin.inherit(gast.Name(name, gast.Load(), None, None), at)
