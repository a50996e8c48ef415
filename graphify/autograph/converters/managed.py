"""The generator of a `@contextmanager`, as a function that enters and one that leaves.

    MANAGED
    before                          before
    try:                            def leave(raised, pending):
        yield v                         nonlocal ...
        after                           try:
    except E as e:                          if raised: raise pending    # in the place of `yield`
        handle                              after
    finally:                            except E as e:
        last                                handle
                                        finally:
                                            last
                                    return v, leave

So what the body of a `with` raises comes up where the generator has its `yield`, also where only
the run knows whether it does. `leave` runs in the ATTEMPTED form (see `callees`): whether something
is still pending afterwards, and what, are values.
"""

from __future__ import annotations

import copy
from typing import Any

import gast

from graphify.autograph.converters.base import Context
from graphify.syntax import origin
from graphify.syntax.analysis.activity import YIELDS, any_node, names_of, parameters

MANAGED = "managed"


def transform(tree: Any, ctx: Context) -> Any:
    """Split the generator function at its only `yield`.

    Raises:
        SyntaxUnsupported: there are several, or one within something else than a `try`.
    """
    yields = sum(isinstance(node, YIELDS) for node in gast.walk(tree))
    if yields != 1:
        _refuse(tree, ctx)
    return _Split(ctx, tree).function()


def _refuse(node: Any, ctx: Context) -> None:
    ctx.unsupported(
        node,
        "a context manager made of a generator that does more than to yield once",
        "write a class with __enter__ and __exit__",
    )


class _Split:
    def __init__(self, ctx: Context, tree: Any) -> None:
        self.ctx, self.tree = ctx, tree
        self.raised, self.pending = ctx.internal_name("raised"), ctx.internal_name("pending")
        self.value: Any = None

    def function(self) -> Any:
        names = names_of(self.tree.body)
        enter, leave = self._parts(self.tree.body)
        if any_node(enter, [gast.Return]) is not None:
            _refuse(self.tree, self.ctx)
        own = {*parameters(self.tree.args), *names_of(enter).writes} - names.globals
        writes = names_of(leave).writes.keys() | names_of(leave).deletes
        declared: list[Any] = []
        for kind, shared in (
            (gast.Global, writes & names.globals),
            (gast.Nonlocal, writes & (own | names.nonlocals)),
        ):
            declared += [origin.inherit(kind(sorted(shared)), self.tree)] * bool(shared)
        name = self.ctx.internal_name("leave")
        new = self.ctx.statements(
            "def leave(raised, pending):\n    body\nreturn value, leave",
            self.tree,
            leave=name,
            raised=self.raised,
            pending=self.pending,
            body=[*declared, *leave],
            value=self.value,
        )
        new[0].attempted = True
        self.tree.body = [*enter, *new]
        return self.tree

    def _parts(self, body: list[Any]) -> tuple[list[Any], list[Any]]:
        """What of a block comes before the `yield`, and the block from there on."""
        (index,) = (i for i, node in enumerate(body) if any_node(node, YIELDS) is not None)
        node, before, after = body[index], body[:index], body[index + 1 :]
        match node:
            case gast.Expr(value=gast.Yield(value=value)):
                return before, [*self._yielded(value, node), *after]
            case gast.Assign(value=gast.Yield(value=value)):
                node.value = origin.inherit(gast.Constant(None, None), node)
                return before, [*self._yielded(value, node), node, *after]
            case gast.Try() if any_node(node.body, YIELDS) is not None:
                first, rest = self._parts(node.body)
                entered = [*before, *self._guarded(first, node)]
                new = gast.Try(rest, node.handlers, node.orelse, node.finalbody)
                return entered, [origin.inherit(new, node), *after]
        _refuse(node, self.ctx)
        raise AssertionError("refused")

    def _yielded(self, value: Any, at: Any) -> list[Any]:
        self.value = value or origin.inherit(gast.Constant(None, None), at)
        (new,) = self.ctx.statements(
            "if raised:\n    raise pending", at, raised=self.raised, pending=self.pending
        )
        new.body[0].again = True
        return [new]

    def _guarded(self, first: list[Any], node: Any) -> list[Any]:
        """The start of a `try` body; if it fails, nothing is entered."""
        if not first:
            return []
        handlers = copy.deepcopy(node.handlers)
        for handler in handlers:
            handler.body += self.ctx.statements(
                'raise RuntimeError("generator didn\'t yield")', handler
            )
        if handlers:
            first = [origin.inherit(gast.Try(first, handlers, [], []), node)]
        if node.finalbody:
            last = [*copy.deepcopy(node.finalbody), gast.Raise(None, None)]
            handler = gast.ExceptHandler(None, None, last)
            first = [origin.inherit(gast.Try(first, [handler], [], []), node)]
        return first
