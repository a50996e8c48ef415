"""Calls: functions whose source needs conversion are called through an operator.

    helper(x, k=1)        ag.call(helper, x, k=1)
    self.predict(x)       ag.call(self.predict, x)
    len(x)                ag.len(x)
    rows.append(x)        ag.call(rows.append, x)
    np.sin(x), x.sum()    as they are: NumPy and the array dispatch by themselves

See `resolve` for which callees count as safe. The attributes inside a callee are converted later.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import gast

from graphify.autograph.converters import resolve
from graphify.autograph.converters.base import Context, Converter, chain_of

CONSUMERS = frozenset(["sum", "any", "all", "min", "max", "list", "tuple", "set", "dict", "sorted"])


def transform(tree: Any, ctx: Context) -> Any:
    """Convert calls."""
    return _Calls(ctx).visit(tree)


class _Calls(Converter):
    def visit_Call(self, node: Any) -> Any:
        if self.ctx.is_operator(node):
            node.args = [self.visit(a) for a in node.args]
            node.keywords = [self.visit(k) for k in node.keywords]
            return node
        how = self._how(node)
        self._mark_consumed(node, how)
        self.generic_visit(node)
        if how == "plain":
            return node
        if how == "overloaded":
            new = self.ctx.expression(f"ag.{node.func.id}()", node)
            new.args = node.args
        else:
            new = self.ctx.expression("ag.call(callee)", node, callee=node.func)
            new.args += node.args
        new.keywords = node.keywords
        return new

    def _mark_consumed(self, node: Any, how: str) -> None:
        """A generator expression that the call exhausts captures nothing for later."""
        name = (
            getattr(node.func, "attr", None) if how == "plain" else getattr(node.func, "id", None)
        )
        if name in (CONSUMERS if how == "overloaded" else {"join"}):
            for argument in node.args:
                argument.consumed = isinstance(argument, gast.GeneratorExp)

    def _how(self, node: Any) -> str:
        """Whether to leave a call "plain", to use an "overloaded" builtin, or to "call"."""
        if any(k.arg == "out" for k in node.keywords):
            return "call"
        match node.func:
            case gast.Name(id=name):
                return self._how_name(node, name)
            case gast.Attribute():
                return self._how_attribute(node.func)
            case gast.Lambda():
                return "plain"
        return "call"

    def _how_name(self, node: Any, name: str) -> str:
        value = self.value_of(name)
        if name in resolve.OVERLOADED and resolve.is_builtin(value):
            return "overloaded"
        if name in resolve.FORBIDDEN and resolve.is_builtin(value):
            self.ctx.unsupported(
                node,
                f"{name}() cannot be used in converted code",
                "name the variables directly, or mark the function with "
                "graphify.autograph.do_not_convert",
            )
        return "plain" if resolve.is_plain_callable(value) else "call"

    def _how_attribute(self, callee: Any) -> str:
        chain = chain_of(callee)
        if chain is not None and chain[0] not in ("self", "cls"):
            root = self.value_of(chain[0])
            if isinstance(root, ModuleType):
                found = resolve.attribute(root, chain[1:])
                return "plain" if resolve.is_plain_callable(found) else "call"
        known = resolve.ARRAY_METHODS | resolve.CONTAINER_METHODS
        if callee.attr in known and (chain is None or chain[0] not in ("self", "cls")):
            return "plain"
        return "call"

    def visit_Raise(self, node: Any) -> Any:
        """The constructor of an exception that is being raised stays as it is."""
        for part in ("exc", "cause"):
            value = getattr(node, part)
            if isinstance(value, gast.Call) and self._is_exception(value.func):
                self.generic_visit(value)
            elif value is not None:
                setattr(node, part, self.visit(value))
        return node

    def _is_exception(self, callee: Any) -> bool:
        chain = chain_of(callee)
        if chain is None:
            return False
        return resolve.is_exception(resolve.attribute(self.value_of(chain[0]), chain[1:]))
