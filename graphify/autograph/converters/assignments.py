"""Stores into objects: every write that staged code makes to the heap goes through an operator.

    obj.x = v          ag.setattr_(obj, "x", v)
    a[i] = v           ag.setitem(a, i, v)
    a[1:n] += v        ag.augitem(a, slice(1, n), "+=", v)
    obj.x += v         ag.augattr(obj, "x", "+=", v)
    del a[i]           ag.delitem(a, i)
    del obj.x          ag.delattr_(obj, "x")
    a[i], y = v        item, y = v; ag.setitem(a, i, item)
    d |= v             d = ag.in_place("|=", d, v)

Other assignments to plain names stay. Python evaluates the right side first: where the order could
be seen (a call on either side), the value gets a name of its own before the target is looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gast

from graphify.autograph.converters import resolve
from graphify.autograph.converters.base import Context, Converter
from graphify.syntax import origin
from graphify.syntax.analysis.activity import any_node, names_of

SIGNS = {
    gast.Add: "+=",
    gast.Sub: "-=",
    gast.Mult: "*=",
    gast.Div: "/=",
    gast.FloorDiv: "//=",
    gast.Mod: "%=",
    gast.Pow: "**=",
    gast.MatMult: "@=",
    gast.BitAnd: "&=",
    gast.BitOr: "|=",
    gast.BitXor: "^=",
    gast.LShift: "<<=",
    gast.RShift: ">>=",
}


def transform(tree: Any, ctx: Context) -> Any:
    """Convert assignments to attributes and items."""
    return _Assignments(ctx, set(_names_of_sets(tree))).visit(tree)


def _names_of_sets(tree: Any) -> Iterator[str]:
    """Names that somewhere in a function stand for a set."""
    for node in gast.walk(tree):
        match node:
            case gast.Assign(targets=targets, value=value) if _is_set(value):
                yield from (target.id for target in targets if isinstance(target, gast.Name))
            case gast.Attribute(value=gast.Name(id=name), attr="add" | "discard"):
                yield name


def _is_set(node: Any) -> bool:
    called = isinstance(node, gast.Call) and getattr(node.func, "id", None) in ("set", "frozenset")
    return called or isinstance(node, (gast.Set, gast.SetComp))


class _Assignments(Converter):
    def __init__(self, ctx: Context, sets: set[str]) -> None:
        super().__init__(ctx)
        self.sets = sets

    def visit_Assign(self, node: Any) -> Any:
        node.value = self.visit(node.value)
        if all(_is_local_target(t) for t in node.targets):
            return node
        if len(node.targets) == 1 and isinstance(node.targets[0], (gast.Attribute, gast.Subscript)):
            target = node.targets[0]
            if _is_simple(target) or _is_simple(node.value):
                return self._store(target, node.value, node)
        return self._in_steps(node)

    def _in_steps(self, node: Any) -> list[Any]:
        """Name the value, then assign it to each target from left to right."""
        if len(node.targets) == 1 and isinstance(node.targets[0], (gast.Tuple, gast.List)):
            before = set(self.ctx.internal)
            target, stores = self._split(node.targets[0], node)
            node.targets = [target]
            names = sorted(set(self.ctx.internal) - before)  # nobody is to find values there
            gone = (
                [gast.Delete([gast.Name(n, gast.Del(), None, None) for n in names])]
                if names
                else []
            )
            return [node, *stores, *(origin.inherit(each, node) for each in gone)]
        name = self.ctx.internal_name("value")
        new = self.ctx.statements("name = value", node, name=name, value=node.value)
        for target in node.targets:
            target, stores = self._split(target, node)
            if isinstance(target, gast.Name) and target.id in self.ctx.internal:
                stores[-1].value.args[-1].id = name  # stored directly, without a second name
            else:
                new += self.ctx.statements("target = name", node, target=target, name=name)
            new += stores
        return new

    def _split(
        self, target: Any, at: Any, late: frozenset[str] | None = None
    ) -> tuple[Any, list[Any]]:
        """A target of plain names, and the stores that put the values where they belong.

        A name that the target also reads (`a[i], i = ...`) is bound in its turn among the stores.
        """
        late = frozenset(names_of(target).reads) if late is None else late
        match target:
            case gast.Attribute() | gast.Subscript():
                stored, value = self._item(at)
                return stored, self._store(target, value, at)
            case gast.Name(id=name) if name in late:
                stored, value = self._item(at)
                return stored, self.ctx.statements("name = value", at, name=name, value=value)
            case gast.Tuple() | gast.List():
                parts = [self._split(element, at, late) for element in target.elts]
                target.elts = [part for part, _ in parts]
                return target, [store for _, stores in parts for store in stores]
            case gast.Starred():
                target.value, stores = self._split(target.value, at, late)
                return target, stores
        return target, []

    def _item(self, at: Any) -> tuple[Any, Any]:
        """A fresh name, to store and to load."""
        name = self.ctx.internal_name("item")
        both = gast.Name(name, gast.Store(), None, None), gast.Name(name, gast.Load(), None, None)
        return origin.inherit(both[0], at), origin.inherit(both[1], at)

    def _store(self, target: Any, value: Any, at: Any) -> list[Any]:
        owner = self.visit(target.value)
        if isinstance(target, gast.Attribute):
            return self.ctx.statements(
                "ag.setattr_(owner, name, value)",
                at,
                owner=owner,
                name=gast.Constant(target.attr, None),
                value=value,
            )
        return self.ctx.statements(
            "ag.setitem(owner, key, value)",
            at,
            owner=owner,
            key=self._key(target.slice),
            value=value,
        )

    def visit_AnnAssign(self, node: Any) -> Any:
        if node.value is None:
            return node if isinstance(node.target, gast.Name) else []
        plain = gast.Assign([node.target], node.value, None)
        return self.visit(origin.inherit(plain, node))

    def visit_AugAssign(self, node: Any) -> Any:
        node.value = self.visit(node.value)
        if isinstance(node.target, gast.Name):
            return self._named(node)
        if any_node(node.value, [gast.Call, gast.NamedExpr]) is not None:
            return self._in_place(node)
        owner, sign = self.visit(node.target.value), gast.Constant(SIGNS[type(node.op)], None)
        if isinstance(node.target, gast.Attribute):
            return self.ctx.statements(
                "ag.augattr(owner, name, sign, value)",
                node,
                owner=owner,
                name=gast.Constant(node.target.attr, None),
                sign=sign,
                value=node.value,
            )
        return self.ctx.statements(
            "ag.augitem(owner, key, sign, value)",
            node,
            owner=owner,
            key=self._key(node.target.slice),
            sign=sign,
            value=node.value,
        )

    def _in_place(self, node: Any) -> list[Any]:
        """Python reads the old value before it evaluates the right side, which may change it."""
        target, new = node.target, []
        for part in ("value", "slice"):
            inner = getattr(target, part, None)
            if inner is not None and not isinstance(inner, (gast.Name, gast.Constant)):
                name = self.ctx.internal_name("owner" if part == "value" else "key")
                key = self._key(inner) if part == "slice" else self.visit(inner)
                new += self.ctx.statements("name = value", node, name=name, value=key)
                loaded = gast.Name(name, gast.Load(), None, None)
                setattr(target, part, origin.inherit(loaded, node))
        value = self.ctx.internal_name("value")
        if isinstance(target, gast.Attribute):
            old = self.ctx.expression("owner.x", node, owner=target.value)
            old.attr = target.attr
        else:
            old = self.ctx.expression(
                "owner[key]", node, owner=_copy(target.value), key=_copy(target.slice)
            )
        new += self.ctx.statements("name = old", node, name=value, old=old)
        changed = gast.AugAssign(gast.Name(value, gast.Store(), None, None), node.op, node.value)
        stored = origin.inherit(gast.Name(value, gast.Load(), None, None), node)
        changed = self._named(origin.inherit(changed, node))
        changes = changed if isinstance(changed, list) else [changed]
        return [*new, *changes, *self._store(_copy(target), stored, node)]

    def _named(self, node: Any) -> Any:
        """`name += value` stays, unless it may change a dict or set in place."""
        match node:
            case gast.AugAssign(op=gast.BitOr() | gast.BitAnd() | gast.BitXor()):
                pass
            case gast.AugAssign(op=gast.Sub(), target=name, value=value):
                if name.id not in self.sets and not _is_set(value):
                    return node
            case _:
                return node
        sign, name = gast.Constant(SIGNS[type(node.op)], None), node.target.id
        statement = "name = ag.in_place(sign, name, value)"
        return self.ctx.statements(statement, node, name=name, sign=sign, value=node.value)

    def visit_Delete(self, node: Any) -> Any:
        new: list[Any] = []
        for target in node.targets:
            if isinstance(target, gast.Subscript):
                new += self.ctx.statements(
                    "ag.delitem(owner, key)",
                    node,
                    owner=self.visit(target.value),
                    key=self._key(target.slice),
                )
            elif isinstance(target, gast.Attribute):
                name, owner = gast.Constant(target.attr, None), self.visit(target.value)
                new += self.ctx.statements("ag.delattr_(owner, name)", node, owner=owner, name=name)
            else:
                new.append(origin.inherit(gast.Delete([target]), node))
        return new

    def visit_For(self, node: Any) -> Any:
        node.target, stores = self._split(node.target, node)
        node.iter = self.visit(node.iter)
        node.body = [*stores, *self.block(node.body)]
        node.orelse = self.block(node.orelse)
        return node

    def visit_With(self, node: Any) -> Any:
        stores: list[Any] = []
        for item in node.items:
            item.context_expr = self.visit(item.context_expr)
            if item.optional_vars is not None:
                item.optional_vars, more = self._split(item.optional_vars, node)
                stores += more
        node.body = [*stores, *self.block(node.body)]
        return node

    def visit_comprehension(self, node: Any) -> Any:
        if not _is_local_target(node.target):
            self.ctx.unsupported(
                node.target, "a comprehension that assigns to an object", "use a for statement"
            )
        return self.generic_visit(node)

    def _key(self, key: Any) -> Any:
        """An index as an expression: slices are only syntax inside brackets."""
        match key:
            case gast.Slice():
                return self._slice(key)
            case gast.Tuple():
                key.elts = [self._key(element) for element in key.elts]
                return key
        return self.visit(key)

    def _slice(self, node: Any) -> Any:
        if not resolve.is_builtin(self.value_of("slice")):
            self.ctx.unsupported(
                node, "`slice` has another meaning here", "rename the variable called slice"
            )
        none = gast.Constant(None, None)
        parts = [none if p is None else self.visit(p) for p in (node.lower, node.upper, node.step)]
        if node.lower is None and node.step is None:
            parts = parts[1:2]
        elif node.step is None:
            parts = parts[:2]
        return self.ctx.expression(
            "slice(parts)", node.lower or node.upper or node.step or node, parts=parts
        )


def _is_local_target(target: Any) -> bool:
    """Whether a target binds names only."""
    return any_node(target, [gast.Attribute, gast.Subscript]) is None


def _is_simple(node: Any) -> bool:
    """Whether evaluating an expression earlier or later makes no difference."""
    return any_node(node, [gast.Call, gast.NamedExpr, gast.Await]) is None


def _copy(node: Any) -> Any:
    """A second use of a name or constant."""
    new = type(node)()
    for name in (*node._fields, *origin.POSITION):
        setattr(new, name, getattr(node, name, None))
    return new
