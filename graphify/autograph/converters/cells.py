"""Names that converted code must rebind where everyone sees it: in the cell of the user's function.

Most names travel through generated functions as parameters and results. That is not enough for

* a name that a function defined by the user reads or rebinds, now or later:

        i = 0                          def loop_body(next_i, i_in):
        for i in xs:                       nonlocal i
            fs.append(lambda: i)           i = i_in
                                           i = next_i

* a name bound inside a block when an exception leaves it, and read by a handler, a `finally`, or
  after a `with` whose context manager may swallow the exception.

Such names are state as well; the generated function copies its parameter into the cell first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gast

from graphify.autograph.converters import resolve
from graphify.autograph.converters.base import Context, chain_of
from graphify.syntax.analysis.activity import FUNCTIONS, Scope, names_of
from graphify.syntax.analysis.liveness import Liveness

BLOCKS = (gast.If, gast.While, gast.For)

# Libraries whose context managers let every exception through.
TRANSPARENT = frozenset(("graphify", "tensorflow", "keras", "numpy", "torch", "jax"))


def captured_names(scope: Scope) -> frozenset[str]:
    """Names that other functions share with this one."""
    return ((scope.captured | scope.remote) & scope.locals) | scope.nonlocals


def surviving_names(function: Any, scope: Scope, live: Liveness, ctx: Context) -> frozenset[str]:
    """Names whose value, bound in a block, may be read after an exception has left the block."""
    found: set[str] = set()
    for node in _statements(function.body):
        if isinstance(node, gast.Try) and getattr(node, "dispatch", None):
            # What follows depends on the exception; see exceptions.py.
            handling = node.dispatch
            needed = live.after(node) if handling is True else live.before(handling[0])
            found |= (_bound_in_blocks(node.body) & needed) - ctx.internal
        elif isinstance(node, (gast.Try, gast.TryStar)):
            handlers = [handler.body for handler in node.handlers if handler.body]
            read = {n for body in handlers for n in live.before(body[0])}
            found |= _bound_in_blocks(node.body) & read
            if node.finalbody:
                found |= _bound_in_blocks([node]) & live.before(node.finalbody[0])
        elif isinstance(node, gast.With) and not is_transparent(node, scope.locals, ctx):
            found |= _bound_in_blocks(node.body) & live.after(node)
    return frozenset(found & scope.locals)


def _statements(body: list[Any]) -> Iterator[Any]:
    """All statements of a function, without those of functions and classes in it."""
    stack = list(body)
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, (*FUNCTIONS, gast.ClassDef, gast.expr)):
            stack += gast.iter_child_nodes(node)


def _bound_in_blocks(body: list[Any]) -> set[str]:
    """Names that the generated functions for these statements bind or unbind."""
    blocks = names_of([node for node in _statements(body) if isinstance(node, BLOCKS)])
    return {*blocks.writes, *blocks.deletes}


def is_transparent(node: Any, locals_: frozenset[str], ctx: Context) -> bool:
    """Whether no context manager of a `with` can swallow an exception."""
    for item in node.items:
        call = item.context_expr
        if ctx.is_operator(call, "call"):
            call = call.args[0]
        chain = chain_of(call.func if isinstance(call, gast.Call) else call)
        if chain is None or chain[0] in locals_:
            return False
        found = resolve.attribute(ctx.resolver.value(chain[0]), chain[1:])
        module = getattr(found, "__module__", None) or ""
        if module.partition(".")[0] not in TRANSPARENT:
            return False
    return True
