"""Templates: generated code written as the Python it will be.

Names in a template that are keys of the replacements are placeholders:

* a `str` renames (variables, functions, parameters);
* a node takes the place of the name;
* a list of statements takes the place of an expression statement that is just the name;
* a list of names or nodes is spliced into the tuple, call, list or parameters the name stands in.

    >>> import gast
    >>> call = expression("ag.not_(test)", test=expression("x"))
    >>> call.args[0].id
    'x'
    >>> [type(s).__name__ for s in statements("while t: body", t="t", body=[gast.Pass()])]
    ['While']
"""

from __future__ import annotations

import functools
import textwrap
from typing import Any

import gast

from graphify.syntax import origin

Replacement = Any


def statements(source: str, **replacements: Replacement) -> list[Any]:
    """The statements of a template, without positions."""
    fill = _Fill(replacements)
    return [new for old in _parsed(source) for new in fill.many(old)]


def statement(source: str, **replacements: Replacement) -> Any:
    """A template of exactly one statement."""
    (only,) = statements(source, **replacements)
    return only


def expression(source: str, **replacements: Replacement) -> Any:
    """A template of one expression."""
    return statement(source, **replacements).value


@functools.lru_cache(maxsize=512)
def _parsed(source: str) -> tuple[Any, ...]:
    tree = gast.parse(textwrap.dedent(source))
    origin.strip(tree)
    return tuple(tree.body)


class _Fill:
    """Copies a template while it puts the replacements in."""

    def __init__(self, replacements: dict[str, Replacement]) -> None:
        self.replacements = replacements

    def many(self, node: Any) -> list[Any]:
        """A node, or what is spliced in its place."""
        name = _placeholder(node)
        value = self.replacements.get(name) if name else None
        if isinstance(value, (list, tuple)):
            return [_named(v, node) for v in value]
        return [self.one(node)]

    def one(self, node: Any) -> Any:
        if isinstance(node, gast.Name) and node.id in self.replacements:
            return _named(self.replacements[node.id], node)
        new = type(node)()
        for field in node._fields:
            setattr(new, field, self.field(getattr(node, field, None)))
        if isinstance(new, gast.FunctionDef) and new.name in self.replacements:
            new.name = self.replacements[new.name]
        if isinstance(new, (gast.Nonlocal, gast.Global)):
            new.names = [n for old in new.names for n in self.names(old)]
        return new

    def field(self, value: Any) -> Any:
        if isinstance(value, list):
            return [
                new
                for item in value
                for new in (self.many(item) if isinstance(item, gast.AST) else [item])
            ]
        return self.one(value) if isinstance(value, gast.AST) else value

    def names(self, old: str) -> list[str]:
        new = self.replacements.get(old, old)
        return [new] if isinstance(new, str) else list(new)


def _placeholder(node: Any) -> str | None:
    inner = node.value if isinstance(node, gast.Expr) else node
    return inner.id if isinstance(inner, gast.Name) else None


def _named(value: Replacement, pattern: Any) -> Any:
    """A replacement as a node, in the context of the name it replaces."""
    if not isinstance(value, str):
        return value
    ctx = pattern.ctx if isinstance(pattern, gast.Name) else gast.Load()
    return gast.Name(value, type(ctx)(), None, None)
