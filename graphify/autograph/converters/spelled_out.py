"""Comprehensions that assign names, spelled out as loops.

    last = [y for v in x if (y := f(v))]         made = []
                                                 for v in x:
                                                     y = f(v)
                                                     if y:
                                                         made.append(y)
                                                 last = made

    any((y := v) > s for v in x)                 found = False
                                                 for v in x:
                                                     y = v
                                                     if y > s:
                                                         found = True
                                                         break

The variables of a comprehension get other names where the function has them already. A generator
expression is a loop where a builtin consumes it, which asks for all items, or for the first that
tells; another one stays, since somebody may keep it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import gast

from graphify.autograph.converters.base import Context
from graphify.autograph.converters.linear import Linear, targets_of
from graphify.syntax import origin
from graphify.syntax.analysis.activity import target_names
from graphify.syntax.renaming import rename


def linearise(node: Any, ctx: Context, taken: Iterable[str]) -> tuple[list[Any], Any]:
    """Statements to run first, and the expression that is left.

    Args:
        taken: the names of the function.
    """
    linear = SpelledOut(ctx, targets_of(node), set(taken))
    rest = linear.rest(node)
    return linear.statements, rest


class SpelledOut(Linear):
    """Moves assignments out of comprehensions, too."""

    def __init__(self, ctx: Context, targets: set[str], taken: set[str]) -> None:
        super().__init__(ctx, targets)
        self.taken = taken

    def inner(self) -> SpelledOut:
        return SpelledOut(self.ctx, self.targets, self.taken)

    def rest(self, node: Any) -> Any:
        if self.moves(node):
            match node:
                case gast.ListComp() | gast.SetComp() | gast.DictComp():
                    return self._collected(node)
                case gast.Call(args=[gast.GeneratorExp(consumed=True) as items, *others]):
                    return self._consumed(node, items, others)
        return super().rest(node)

    def _collected(self, node: Any) -> Any:
        """What a comprehension makes is filled by a loop."""
        made, key = self.ctx.internal_name("made"), self.ctx.internal_name("key")
        empty = self.ctx.expression("[]", node)
        parts, add = ["elt"], "made.append(elt)"
        match node:
            case gast.SetComp():
                empty, add = self.ctx.operator("set", node, empty), "made.add(elt)"
            case gast.DictComp():
                empty = self.ctx.expression("{}", node)
                parts, add = ["key", "value"], "name = key\nmade[name] = value"
        self.assign(made, empty, node)

        def fill(inner: Linear) -> None:
            values = {part: inner.rest(getattr(node, part)) for part in parts}
            inner.statements += self.ctx.statements(add, node, made=made, name=key, **values)

        self._loops(node, fill)
        return self.load(made, node)

    def _consumed(self, node: Any, items: Any, others: list[Any]) -> Any:
        """What a builtin makes of a generator expression."""
        name = node.func.id
        if name in ("any", "all"):
            return self._found(items, name == "any")
        if name == "next":
            return self._next(items, others)
        node.args[0] = origin.inherit(gast.ListComp(items.elt, items.generators), items)
        return self.in_order(node)

    def _found(self, items: Any, wanted: bool) -> Any:
        """`any` and `all`: whether there is an item that is, or is not, true."""
        found = self.ctx.internal_name("found")
        self._set(found, not wanted, items)

        def look_at(inner: Linear) -> None:
            test = inner.rest(items.elt)
            end = inner.inner()
            self._leave(end, found, wanted, items)
            inner.if_(test if wanted else self.not_(test), end.statements, [], items)

        self._loops(items, look_at, (found, wanted))
        return self.load(found, items)

    def _next(self, items: Any, default: list[Any]) -> Any:
        """The first item; without one the default, or the error of `next`."""
        found = self.ctx.internal_name("found")
        first = self.ctx.namer.fresh("first")  # not internal: it may be unbound where it is read
        if default:
            self.assign(first, self.take(default[0]), items)
        self._set(found, False, items)

        def take(inner: Linear) -> None:
            inner.assign(first, inner.rest(items.elt), items)
            self._leave(inner, found, True, items)

        self._loops(items, take, (found, True))
        if not default:
            end = self.ctx.statements("raise StopIteration", items)
            self.if_(self.not_(self.load(found, items)), end, [], items)
        return self.load(first, items)

    def _set(self, name: str, value: bool, at: Any) -> None:
        self.assign(name, origin.inherit(gast.Constant(value, None), at), at)

    def _leave(self, inner: Linear, found: str, value: bool, at: Any) -> None:
        constant = origin.inherit(gast.Constant(value, None), at)
        inner.statements += self.ctx.statements(
            "found = value\nbreak", at, found=found, value=constant
        )

    def _loops(
        self, node: Any, innermost: Callable[[Linear], None], leave: tuple[str, bool] | None = None
    ) -> None:
        """The loops of a comprehension; all are left as soon as a name has a truth value."""
        own = {name for clause in node.generators for name in target_names(clause.target)}
        self._rename({name: self.ctx.internal_name(name) for name in own & self.taken}, node)
        self.taken |= own
        inner = self.inner()
        innermost(inner)
        for clause in reversed(node.generators):
            for test in reversed(clause.ifs):
                body, inner = inner.statements, self.inner()
                inner.if_(inner.rest(test), body, [], test)
            body, inner = inner.statements, self.inner()
            loop = gast.For(clause.target, clause.iter, body, [], None)
            inner.statements.append(origin.inherit(loop, clause.iter))
            if leave is not None and clause is not node.generators[0]:
                name, value = leave
                test = self.load(name, clause.iter)
                end = self.ctx.statements("break", clause.iter)
                inner.if_(test if value else self.not_(test), end, [], clause.iter)
        self.statements += inner.statements

    @staticmethod
    def _rename(names: dict[str, str], node: Any) -> None:
        first, *others = node.generators
        parts = [node.key, node.value] if isinstance(node, gast.DictComp) else [node.elt]
        rename([*parts, first.target, *first.ifs, *others], names)
