"""Strings that may hold run-time values, so that what is done with them later knows it.

label = f"{x:.2f}"          label = ag.text(f"{x:.2f}")
"%5.2f" % x                 ag.percent("%5.2f", x)
", ".join(parts)            ag.text(", ".join(parts))
str(x), repr(x)             ag.text(str(x)), ag.text(repr(x))
print(f"{x:.2f}")           as it is: print, raise and assert take strings apart themselves
"""

from __future__ import annotations

from typing import Any

import gast

from graphify.autograph.converters import resolve
from graphify.autograph.converters.base import Context, Converter

JOINING = ("join", "format", "format_map")
SHOWING = ("str", "repr", "format")


def transform(tree: Any, ctx: Context) -> Any:
    """Convert f-strings, the operator % of a text, and what joins texts."""
    return _Texts(ctx).visit(tree)


class _Texts(Converter):
    def visit_JoinedStr(self, node: Any) -> Any:
        return self._text(self._inside(node))

    def visit_FormattedValue(self, node: Any) -> Any:
        """A text that is only inserted needs no marks of its own; nor does a format."""
        if node.conversion == ord("a") or node.conversion != -1 and node.format_spec is not None:
            show = gast.Constant(chr(node.conversion), kind=None)
            node.value = self.ctx.operator("shown", node, node.value, show)
            node.conversion = -1
        inserted = node.conversion == -1 and node.format_spec is None
        node.value = self._direct(node.value) if inserted else self.visit(node.value)
        node.format_spec = node.format_spec and self._inside(node.format_spec)
        return node

    def visit_BinOp(self, node: Any) -> Any:
        self.generic_visit(node)
        left = node.left
        if isinstance(node.op, gast.Mod) and _is_text(left):
            return self.ctx.operator("percent", node, left, node.right)
        return node

    def visit_Call(self, node: Any) -> Any:
        match node.func:
            case gast.Name(id="print"):
                node.args = [self._direct(a) for a in node.args]
                node.keywords = [self.visit(k) for k in node.keywords]
                return node
        self.generic_visit(node)
        match node:
            case gast.Call(func=gast.Name(id="ascii"), args=[shown], keywords=[]) if (
                resolve.is_builtin(self.value_of("ascii"))
            ):
                return self.ctx.operator("shown", node, shown, gast.Constant("a", kind=None))
        return self._text(node) if self._makes_text(node) else node

    def _makes_text(self, node: Any) -> bool:
        match node.func:
            case gast.Attribute(attr=attr):
                return attr in JOINING
            case gast.Name(id=name) if name in SHOWING:
                return resolve.is_builtin(self.value_of(name))
        return False

    def visit_Raise(self, node: Any) -> Any:
        if isinstance(node.exc, gast.Call):
            node.exc.func = self.visit(node.exc.func)
            node.exc.args = [self._direct(a) for a in node.exc.args]
            node.exc.keywords = [self.visit(k) for k in node.exc.keywords]
        return node

    def visit_Assert(self, node: Any) -> Any:
        node.test = self.visit(node.test)
        node.msg = node.msg and self._direct(node.msg)
        return node

    def _direct(self, node: Any) -> Any:
        """What is taken apart where it stands."""
        match node:
            case gast.JoinedStr():
                return self._inside(node)
            case gast.Call() if self._makes_text(node):
                return self.generic_visit(node)
        return self.visit(node)

    def _inside(self, node: Any) -> Any:
        return self.generic_visit(node)

    def _text(self, node: Any) -> Any:
        return self.ctx.operator("text", node, node)


def _is_text(node: Any) -> bool:
    return isinstance(node, gast.Constant) and isinstance(node.value, str)
