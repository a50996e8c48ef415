"""Calls: functions whose source needs conversion are called through an operator.

    helper(x, k=1)        ag.call(helper, x, k=1)
    self.predict(x)       ag.call(self.predict, x)
    len(x)                ag.len(x)
    rows.append(x)        ag.call(rows.append, x)
    x.sum()               ag.call(x.sum): x may be the user's own
    np.sin(x).sum()       as they are: NumPy and its arrays dispatch by themselves
    @counted              @ag.decorator(counted)
    np.max([x, y])        ag.call(np.max, [x, y]): NumPy does not look into a list

See `resolve` for which callees count as safe. The attributes inside a callee are converted later.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import gast

from graphify.autograph.converters import resolve
from graphify.autograph.converters.base import Context, Converter, chain_of
from graphify.location import is_library_module

CONSUMERS = frozenset(["sum", "any", "all", "min", "max", "list", "tuple", "set", "dict", "sorted"])


LISTS = (gast.List, gast.Tuple, gast.ListComp)
KINDS = ("list", "tuple", "sorted", "list_of")
MAKE_LISTS = [[*prefix, kind] for prefix in ([], ["ag"]) for kind in KINDS]


def transform(tree: Any, ctx: Context) -> Any:
    """Convert calls."""
    return _Calls(ctx, set(_names_of_lists(tree))).visit(tree)


def _names_of_lists(tree: Any) -> Iterator[str]:
    """Names that somewhere in a function stand for a list or tuple that is made there."""
    for node in gast.walk(tree):
        if isinstance(node, gast.Assign) and _makes_list(node.value):
            yield from (target.id for target in node.targets if isinstance(target, gast.Name))


def _makes_list(node: Any) -> bool:
    if isinstance(node, gast.BinOp):  # [0.0] * n, rows + [row]
        return _makes_list(node.left) or _makes_list(node.right)
    if isinstance(node, gast.Call):
        return chain_of(node.func) in MAKE_LISTS
    return isinstance(node, LISTS)


class _Calls(Converter):
    def __init__(self, ctx: Context, lists: set[str]) -> None:
        super().__init__(ctx)
        self.lists = lists

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

    def visit_FunctionDef(self, node: Any) -> Any:
        """Decorators of a function inside are calls; those of the converted function were made."""
        how = [self._how_decorator(d) for d in node.decorator_list] if self.scopes else []
        node = super().visit_FunctionDef(node)
        for i, kind in enumerate(how):
            if kind == "call":
                decorator = node.decorator_list[i]
                node.decorator_list[i] = self.ctx.operator("decorator", decorator, decorator)
        return node

    def _how_decorator(self, decorator: Any) -> str:
        match decorator:
            case gast.Name(id=name):
                return "plain" if resolve.is_plain_callable(self.value_of(name)) else "call"
            case gast.Attribute():
                return self._how_attribute(decorator)
        return "call"

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
        if self._takes_list(node):
            return "call"
        match node.func:
            case gast.Name(id=name):
                return self._how_name(node, name)
            case gast.Attribute():
                return self._how_attribute(node.func)
            case gast.Lambda():
                return "plain"
        return "call"

    def _takes_list(self, node: Any) -> bool:
        """Whether a function of NumPy is given a list: it would not see the tensors inside."""
        chain = chain_of(node.func)
        if chain is None or len(chain) < 2 or not isinstance(self.value_of(chain[0]), ModuleType):
            return False
        found = resolve.attribute(self.value_of(chain[0]), chain[1:])
        if not resolve.is_of_numpy(found) or chain[-1] in resolve.JOINING:
            return False
        operands = [a for a in node.args if not isinstance(a, gast.Constant)]
        return any(map(self._is_list, operands))

    def _is_list(self, node: Any) -> bool:
        return _makes_list(node) or isinstance(node, gast.Name) and node.id in self.lists

    def _how_name(self, node: Any, name: str) -> str:
        if name in self.ctx.internal:
            return "plain"
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
            if isinstance(root, ModuleType) and is_library_module(root):
                found = resolve.attribute(root, chain[1:])
                return "plain" if resolve.is_plain_callable(found) else "call"
            if isinstance(root, type):  # list.copy(rows)
                return "call"
        known = resolve.ARRAY_METHODS | resolve.CONTAINER_METHODS
        return "plain" if callee.attr in known and self._is_array(callee.value) else "call"

    def _is_array(self, owner: Any) -> bool:
        """Whether the owner of a method is an array or a text, by the looks of the code: an object
        of the user's may have methods called as NumPy's are."""
        match owner:
            case gast.Constant() | gast.JoinedStr():
                return True
            case gast.Call(func=gast.Attribute() as callee):
                return self._how_attribute(callee) == "plain"
        return False

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
