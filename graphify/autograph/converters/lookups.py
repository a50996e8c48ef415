"""Items of dicts, tuples and ranges, whose key may be known only when the graph runs.

    table[k]                 ag.item(table, k)        # table: a dict or tuple, as far as one sees
    self.names[k]            ag.item(self.names, k)
    counts.get(k, 0)         ag.get(counts, k, 0)
    np.r_[x, 0:3]            ag.indexed(np.r_)[x, 0:3]

What may as well be an array stays as it is: arrays and lists look after themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gast

from graphify.autograph.converters.base import Context, Converter

DICT_METHODS = frozenset(["items", "keys", "values", "get", "setdefault"])
MAKERS = frozenset(["dict", "tuple", "range", "defaultdict", "OrderedDict", "Counter"])
JOINERS = frozenset(["r_", "c_", "mgrid", "ogrid"])  # NumPy's, which take arrays in their index
MADE = (gast.Dict, gast.DictComp, gast.Tuple)


def transform(tree: Any, ctx: Context) -> Any:
    """Convert lookups; runs before the calls, and after the assignments have seen their targets."""
    return _Lookups(ctx, set(_names_of_tables(tree))).visit(tree)


def _names_of_tables(tree: Any) -> Iterator[str]:
    """Names that somewhere in a function stand for a dict or a tuple."""
    for node in gast.walk(tree):
        match node:
            case gast.Assign(targets=[gast.Tuple(elts=targets)], value=gast.Tuple(elts=values)):
                pairs = zip(targets, values, strict=False)
                yield from (t.id for t, v in pairs if isinstance(t, gast.Name) and _is_made(v))
            case gast.Assign(targets=targets, value=value) if _is_made(value):
                yield from (target.id for target in targets if isinstance(target, gast.Name))
            case gast.Attribute(value=gast.Name(id=name), attr=method) if method in DICT_METHODS:
                yield name


def _is_made(node: Any) -> bool:
    if not isinstance(node, gast.Call):
        return isinstance(node, MADE)
    return getattr(node.func, "id", getattr(node.func, "attr", None)) in MAKERS


class _Lookups(Converter):
    def __init__(self, ctx: Context, tables: set[str]) -> None:
        super().__init__(ctx)
        self.tables = tables

    def visit_Subscript(self, node: Any) -> Any:
        is_lookup = isinstance(node.ctx, gast.Load) and self._is_table(node.value)
        self.generic_visit(node)
        if getattr(node.value, "attr", getattr(node.value, "id", None)) in JOINERS:
            node.value = self.ctx.operator("indexed", node.value, node.value)
            return node
        named = isinstance(node.value, gast.Name)  # of an attribute, `a[i, j]` is an array's
        if not is_lookup or _is_known(node.slice, named):
            return node
        return self.ctx.operator("item", node, node.value, node.slice)

    def visit_Call(self, node: Any) -> Any:
        self.generic_visit(node)
        match node:
            case gast.Call(func=gast.Attribute(value=owner, attr="get"), keywords=[]):
                if len(node.args) in (1, 2) and self._may_own(owner):
                    return self.ctx.operator("get", node, owner, *node.args)
        return node

    def _may_own(self, owner: Any) -> bool:
        """Whether `owner.get` may be a dict's: of a module it is a function."""
        return not isinstance(owner, gast.Name) or owner.id in self.tables

    def _is_table(self, node: Any) -> bool:
        match node:
            case gast.Name(id=name):
                return name in self.tables or isinstance(self.value_of(name), (dict, tuple))
            case gast.Subscript(value=value):
                return self._is_table(value)
        return isinstance(node, gast.Attribute) or _is_made(node)


def _is_known(key: Any, pairs: bool) -> bool:
    """Whether a key is a slice, or one that is known; `pairs`: it may be a tuple."""
    if isinstance(key, gast.UnaryOp):
        key = key.operand
    if isinstance(key, gast.Tuple):
        return not pairs or all(_is_known(element, False) for element in key.elts)
    return isinstance(key, (gast.Constant, gast.Slice))
