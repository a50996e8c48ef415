"""What converters share: the context of one conversion, and a transformer that knows its scopes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NoReturn

import gast

from graphify.autograph.converters.resolve import Resolver
from graphify.errors import SyntaxUnsupported
from graphify.syntax import origin, template
from graphify.syntax.analysis.activity import (
    Known,
    Scope,
    any_node,
    is_generator,
    scope_of,
    target_names,
)
from graphify.syntax.naming import Namer


@dataclass
class Context:
    """One conversion: its names, what its free names stand for, where its errors point.

    Attributes:
        namer: gives fresh names.
        resolver: the values of free names.
        filename, function: for error locations.
        class_name: the class around a method, for private names.
        ag: the name of the operators in generated code.
        internal: names made by converters, which users never read.
        results: those of them that hold what a function returns.
        form: of a generator function, how it is consumed (see `generators`).
        consumer: the name in generated code of what consumes it.
        unbound: names of a converted function around it that may be unbound there.
    """

    namer: Namer
    resolver: Resolver
    filename: str
    function: str
    class_name: str | None = None
    form: str = ""
    ag: str = ""
    consumer: str = ""
    unbound: frozenset[str] = frozenset()
    internal: set[str] = field(default_factory=set)
    results: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.ag = self.namer.fresh("ag")
        self.consumer = self.namer.fresh("consumer") if self.form else ""

    def expression(self, source: str, at: Any, **replacements: Any) -> Any:
        """A template of an expression; `ag` in it is the operators; it stands for `at`."""
        new = template.expression(source, ag=self.ag, **replacements)
        return origin.inherit(new, at)

    def statements(self, source: str, at: Any, **replacements: Any) -> list[Any]:
        """A template of statements, likewise."""
        new = template.statements(source, ag=self.ag, **replacements)
        return origin.inherit(new, at)

    def operator(self, name: str, at: Any, *args: Any) -> Any:
        """The call `ag.name(*args)`."""
        return self.expression(f"ag.{name}(args)", at, args=list(args))

    def thunk(self, value: Any) -> Any:
        """`lambda: value`, to be called where it stands."""
        walrus = find_walrus(value)
        if walrus is not None:
            self.unsupported(
                walrus,
                f"the assignment `{walrus.target.id} := ...` depends on a condition",
                "assign the name in a statement of its own before this one",
            )
        node = self.expression("lambda: value", value, value=value)
        node.thunk = True
        return node

    def internal_name(self, base: str) -> str:
        """A fresh name for a flag or a temporary."""
        name = self.namer.fresh(base)
        self.internal.add(name)
        return name

    def is_operator(self, node: Any, name: str | None = None) -> bool:
        """Whether a node is a call of an operator (of the one called `name`)."""
        match node:
            case gast.Call(func=gast.Attribute(value=gast.Name(id=root), attr=attr)):
                return root == self.ag and name in (None, attr)
        return False

    def unsupported(self, node: Any, message: str, remedy: str) -> NoReturn:
        """Refuse a construct, naming its line and what to write instead."""
        place = origin.place(node, self.filename, self.function)
        raise SyntaxUnsupported(message, location=place, remedy=remedy)


class Converter(gast.NodeTransformer):  # type: ignore[misc]  # its base is untyped
    """A transformer that keeps the stack of function scopes and leaves local classes alone.

    Methods of a local class are ordinary functions: they are converted when they are called.
    """

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self.scopes: list[Scope] = []
        self.known: Known = {}  # names in functions as they were before the pass
        self.shadows: list[set[str]] = []

    def is_local(self, name: str) -> bool:
        """Whether a name is bound in the function at hand or in a converted one around it."""
        return any(name in scope.locals for scope in self.scopes) or any(
            name in shadow for shadow in self.shadows
        )

    def value_of(self, name: str) -> Any:
        """What a free name stands for; `resolve.UNKNOWN` for a local."""
        return self.ctx.resolver.local() if self.is_local(name) else self.ctx.resolver.value(name)

    def visit_FunctionDef(self, node: Any) -> Any:
        node.decorator_list = [self.visit(d) for d in node.decorator_list]
        self._defaults(node.args)
        if self.scopes and is_generator(node):
            return node  # converted from its own source when it is consumed
        self.scopes.append(scope_of(node, self.known))
        node.body = self.block(node.body)
        self.scopes.pop()
        return node

    def visit_Lambda(self, node: Any) -> Any:
        self._defaults(node.args)
        self.scopes.append(scope_of(node, self.known))
        node.body = self.visit(node.body)
        self.scopes.pop()
        return node

    def _defaults(self, args: Any) -> None:
        # Not for the function being converted itself: its defaults are values already.
        if self.scopes:
            args.defaults = [self.visit(d) for d in args.defaults]
            args.kw_defaults = [d and self.visit(d) for d in args.kw_defaults]

    def block(self, body: list[Any]) -> list[Any]:
        """Visit statements; each may become several, or none."""
        new: list[Any] = []
        for statement in body:
            result = self.visit(statement)
            new += result if isinstance(result, list) else [] if result is None else [result]
        return new

    def visit_ClassDef(self, node: Any) -> Any:
        return node

    def visit_AnnAssign(self, node: Any) -> Any:
        node.target = self.visit(node.target)
        node.value = node.value and self.visit(node.value)
        return node

    def _comprehension(self, node: Any) -> Any:
        names = {n for g in node.generators for n in target_names(g.target)}
        self.shadows.append(names)
        self.generic_visit(node)
        self.shadows.pop()
        return node

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension


def find_walrus(node: Any) -> Any:
    """The first `:=` that would bind a name in the scope where `node` stands, or None."""
    return any_node(node, [gast.NamedExpr])


def chain_of(node: Any) -> list[str] | None:
    """`a.b.c` as ["a", "b", "c"]; None if the root is not a name."""
    names: list[str] = []
    while isinstance(node, gast.Attribute):
        names.append(node.attr)
        node = node.value
    return [node.id, *reversed(names)] if isinstance(node, gast.Name) else None
