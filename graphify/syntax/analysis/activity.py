"""Activity: the names that a node reads and binds, and the names of a whole scope.

    >>> import gast
    >>> names = names_of(gast.parse("total += a[i]").body[0])
    >>> sorted(names.reads), sorted(names.writes)
    (['a', 'i', 'total'], ['total'])

Nested functions, lambdas and classes are other scopes: of them only the free names count, as reads
(`captures`), and the names they rebind through `nonlocal` (`remote`). A comprehension runs where it
stands, so its free names are plain reads.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import gast

FUNCTIONS = (gast.FunctionDef, gast.AsyncFunctionDef, gast.Lambda)
COMPOUND = (gast.If, gast.For, gast.While, gast.With, gast.Try, gast.Match)
YIELDS = (gast.Yield, gast.YieldFrom)
COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)


@dataclass
class Names:
    """Names by what happens to them; `writes` is in order of first binding.

    The flags tell whether something is called, and whether a `return` or `yield` is met.
    """

    reads: set[str] = field(default_factory=set)
    writes: dict[str, None] = field(default_factory=dict)
    deletes: set[str] = field(default_factory=set)
    captures: set[str] = field(default_factory=set)
    remote: set[str] = field(default_factory=set)
    globals: set[str] = field(default_factory=set)
    nonlocals: set[str] = field(default_factory=set)
    calls: bool = False
    returns: bool = False
    yields: bool = False

    def include(self, other: Names) -> None:
        """Add what happens to names in a part."""
        self.reads |= other.reads
        self.writes |= other.writes
        self.deletes |= other.deletes
        self.captures |= other.captures
        self.remote |= other.remote
        self.globals |= other.globals
        self.nonlocals |= other.nonlocals
        self.calls |= other.calls
        self.returns |= other.returns
        self.yields |= other.yields


# Of nodes that contain others, what was found in them: who asks for the names of each of several
# nodes inside one another keeps these, so that each is looked at once. They hold while the tree is
# as it was.
Known: TypeAlias = dict[Any, Names]


@dataclass(frozen=True)
class Scope:
    """The names of one function.

    Attributes:
        params: parameter names, in order.
        locals: parameters and every name bound in the function itself.
        free: names it reads or rebinds that are bound outside: enclosing, global or builtin.
        captured: its own or enclosing names that functions nested in it use.
        remote: names that functions nested in it rebind through `nonlocal`.
    """

    params: tuple[str, ...]
    locals: frozenset[str]
    free: frozenset[str]
    captured: frozenset[str]
    remote: frozenset[str]
    globals: frozenset[str]
    nonlocals: frozenset[str]


def names_of(nodes: Any, known: Known | None = None) -> Names:
    """The names that a node, or a list of nodes, reads and binds in its own scope.

    Args:
        known: names of compound statements and of bodies of functions; new ones are added.
    """
    collector = _Collector(known)
    collector.many(nodes)
    return collector.names


def header_names(statement: Any) -> Names:
    """The names of a compound statement's own expressions, without the statements inside it."""
    collector = _Collector()
    for name, value in gast.iter_fields(statement):
        if name not in ("body", "orelse", "finalbody", "handlers", "cases"):
            collector.many(value)
    return collector.names


def scope_of(function: Any, known: Known | None = None) -> Scope:
    """The names of a FunctionDef or Lambda; `known`: see `names_of`."""
    return _scope(function, _names_in(function, {} if known is None else known))


def _names_in(function: Any, known: Known) -> Names:
    """The names in the body of a function."""
    if function not in known:
        known[function] = names_of(function.body, known)
    return known[function]


def _scope(function: Any, names: Names) -> Scope:
    params = parameters(function.args)
    outer = names.globals | names.nonlocals
    bound = (set(params) | set(names.writes) | names.deletes) - outer
    free = (names.reads | names.captures | outer | names.remote) - bound
    return Scope(
        params,
        frozenset(bound),
        frozenset(free),
        frozenset(names.captures),
        frozenset(names.remote),
        frozenset(names.globals),
        frozenset(names.nonlocals),
    )


def parameters(args: Any) -> tuple[str, ...]:
    """Names of all parameters of a gast `arguments`, in order."""
    single = [a for a in (args.vararg, args.kwarg) if a is not None]
    every = [*(args.posonlyargs or []), *args.args, *args.kwonlyargs, *single]
    return tuple(a.id for a in every)


def target_names(target: Any) -> list[str]:
    """Names bound by an assignment target."""
    return list(names_of(target).writes)


def handler_name(handler: Any) -> list[str]:
    """The name an `except ... as name` binds, and unbinds at its end."""
    if handler.name is None:
        return []
    return [handler.name if isinstance(handler.name, str) else handler.name.id]


def is_thunk(node: Any) -> bool:
    """Whether a lambda was made by a converter, to be called on the spot."""
    return getattr(node, "thunk", False)


class _Collector(gast.NodeVisitor):  # type: ignore[misc]  # its base is untyped
    def __init__(self, known: Known | None = None) -> None:
        self.names = Names()
        self.known: Known = {} if known is None else known

    def visit(self, node: Any) -> None:
        if not isinstance(node, COMPOUND):
            super().visit(node)
            return
        if node not in self.known:
            inner = _Collector(self.known)
            super(_Collector, inner).visit(node)
            self.known[node] = inner.names
        self.names.include(self.known[node])

    def many(self, nodes: Any) -> None:
        for node in nodes if isinstance(nodes, (list, tuple)) else [nodes]:
            if isinstance(node, gast.AST):
                self.visit(node)

    def bind(self, name: str | None) -> None:
        if name:
            self.names.writes.setdefault(name)

    def visit_Name(self, node: Any) -> None:
        if isinstance(node.ctx, (gast.Store, gast.Param)):
            self.bind(node.id)
        elif isinstance(node.ctx, gast.Del):
            self.names.deletes.add(node.id)
            self.names.reads.add(node.id)
        else:
            self.names.reads.add(node.id)

    def visit_Assign(self, node: Any) -> None:
        self.visit(node.value)
        self.many(node.targets)

    def visit_AugAssign(self, node: Any) -> None:
        self.many([node.target, node.value])
        if isinstance(node.target, gast.Name):
            self.names.reads.add(node.target.id)

    def visit_AnnAssign(self, node: Any) -> None:
        self.many([node.value])
        if node.value is not None or not isinstance(node.target, gast.Name):
            self.visit(node.target)

    def visit_NamedExpr(self, node: Any) -> None:
        self.many([node.value, node.target])

    def visit_For(self, node: Any) -> None:
        self.many([node.iter, node.target, getattr(node, "exit_test", None)])
        self.many(node.body)
        self.many(node.orelse)

    visit_AsyncFor = visit_For

    def visit_Call(self, node: Any) -> None:
        self.names.calls = True
        self.generic_visit(node)

    def visit_Return(self, node: Any) -> None:
        self.names.returns = True
        self.generic_visit(node)

    def visit_Yield(self, node: Any) -> None:
        self.names.yields = True
        self.generic_visit(node)

    visit_YieldFrom = visit_Yield

    def visit_ExceptHandler(self, node: Any) -> None:
        self.many([node.type])
        for name in handler_name(node):
            self.bind(name)
        self.many(node.body)

    def visit_Import(self, node: Any) -> None:
        for alias in node.names:
            self.bind(alias.asname or alias.name.split(".")[0])

    visit_ImportFrom = visit_Import

    def visit_Global(self, node: Any) -> None:
        self.names.globals.update(node.names)

    def visit_Nonlocal(self, node: Any) -> None:
        self.names.nonlocals.update(node.names)

    def visit_MatchAs(self, node: Any) -> None:
        self.bind(node.name)
        self.many([node.pattern])

    def visit_MatchStar(self, node: Any) -> None:
        self.bind(node.name)

    def visit_MatchMapping(self, node: Any) -> None:
        self.many([*node.keys, *node.patterns])
        self.bind(node.rest)

    def visit_FunctionDef(self, node: Any) -> None:
        self.many(node.decorator_list)
        self._signature(node.args)
        self.many([node.returns])
        self._nested(scope_of(node, self.known))
        self.bind(node.name)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: Any) -> None:
        self._signature(node.args)
        inner = _names_in(node, self.known)
        scope = _scope(node, inner)
        if is_thunk(node):
            self.names.reads |= scope.free
            self.names.captures |= inner.captures - scope.locals
            self.names.remote |= inner.remote
            self.names.calls |= inner.calls
        else:
            self._nested(scope)

    def _signature(self, args: Any) -> None:
        self.many([*args.defaults, *args.kw_defaults])
        single = [a for a in (args.vararg, args.kwarg) if a is not None]
        for argument in [*(args.posonlyargs or []), *args.args, *args.kwonlyargs, *single]:
            self.many([argument.annotation])

    def _nested(self, scope: Scope) -> None:
        free = scope.free - scope.globals
        self.names.captures |= free
        self.names.reads |= free
        self.names.remote |= scope.nonlocals | (scope.remote - scope.locals)

    def visit_ClassDef(self, node: Any) -> None:
        self.many([*node.decorator_list, *node.bases, *[k.value for k in node.keywords]])
        inner = names_of(node.body, self.known)
        self.names.captures |= inner.reads | inner.captures
        self.names.reads |= inner.reads | inner.captures
        self.names.remote |= inner.remote
        self.bind(node.name)

    def _comprehension(self, node: Any) -> None:
        first, *others = node.generators
        self.visit(first.iter)  # evaluated where the comprehension stands
        bound = {name for generator in node.generators for name in target_names(generator.target)}
        inner = _Collector(self.known)
        inner.many([node.key, node.value] if isinstance(node, gast.DictComp) else [node.elt])
        inner.many([first.target, *first.ifs])
        for generator in others:
            inner.many([generator.iter, generator.target, *generator.ifs])
        found = inner.names
        lazy = isinstance(node, gast.GeneratorExp) and not getattr(node, "consumed", False)
        self.names.reads |= found.reads - bound
        self.names.captures |= (found.reads if lazy else found.captures) - bound
        self.names.remote |= found.remote
        self.names.calls |= found.calls or lazy
        for name in found.writes:
            if name not in bound:
                self.bind(name)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension


def free_names(function: Any) -> frozenset[str]:
    """Names a function takes from outside, `global` declarations included."""
    return scope_of(function).free


def any_node(nodes: Any, kinds: Iterable[type]) -> Any:
    """The first node of some kinds in a tree or list, not looking into nested functions."""
    stack = list(reversed(nodes)) if isinstance(nodes, (list, tuple)) else [nodes]
    wanted = tuple(kinds)
    while stack:
        node = stack.pop()
        if isinstance(node, wanted):
            return node
        if not isinstance(node, (*FUNCTIONS, gast.ClassDef)):
            stack += reversed(list(gast.iter_child_nodes(node)))
    return None


def is_generator(function: Any) -> bool:
    """Whether a FunctionDef yields."""
    return any_node(function.body, YIELDS) is not None
