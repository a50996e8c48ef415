"""Lists that a block got from outside: it holds the object, not a copy of what is in it.

    rows = []
    for v in x:
        rows += [v]        # the name is bound to the very list that it was bound to before

The leaves of such a value are `Reference`s: nothing is carried for the name, since the contents of
the list are carried as its own. Where paths hold different lists, a reference is opened: what the
list held at the end of the path then joins like any other value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from graphify import tree
from graphify.autograph.operators.texts import StagedText, taken_apart
from graphify.ir.context import current_builder
from graphify.tracing.lists import List


@dataclass(slots=True, eq=False)
class Reference:
    """A list, and its contents when the reference was made."""

    target: List
    treedef: tree.TreeDef
    leaves: list[Any]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and other.target is self.target

    def __hash__(self) -> int:
        return id(self.target)

    def frozen(self, snapshot: Callable[[Any], Any]) -> Reference:
        """With the values that the contents have now."""
        return Reference(self.target, self.treedef, [snapshot(leaf) for leaf in self.leaves])


def flatten(
    value: Any, contents: bool = False, ahead: bool = False
) -> tuple[list[Any], tree.TreeDef]:
    """Leaves and shape of a value, lists from outside the current frame being leaves.

    Args:
        contents: the value stands for what a list holds, and not for the list.
        ahead: it is for a frame that is yet to come.
    """
    builder = current_builder()
    if builder is None:
        return tree.flatten(value)

    def is_outer(part: Any) -> bool:
        if not isinstance(part, List) or contents and part is value:
            return False
        return ahead or part.home is not builder.home

    leaves, treedef = tree.flatten(value, is_outer)
    if any(type(leaf) is StagedText for leaf in leaves):
        leaves, treedef = _with_texts(iter(leaves), treedef)
    lists = [isinstance(leaf, List) for leaf in leaves]
    pairs = zip(leaves, lists, strict=True)
    return [_reference(leaf, ahead) if is_list else leaf for leaf, is_list in pairs], treedef


def _with_texts(leaves: Iterator[Any], treedef: tree.TreeDef) -> tuple[list[Any], tree.TreeDef]:
    """Leaves and shape, with the values in a text as leaves of their own."""
    if treedef.kind is None:
        leaf = next(leaves)
        if type(leaf) is not StagedText:
            return [leaf], treedef
        shape, values = taken_apart(leaf)
        return values, shape
    parts = [_with_texts(leaves, child) for child in treedef.children]
    children = tuple(shape for _, shape in parts)
    found = [leaf for values, _ in parts for leaf in values]
    return found, tree.TreeDef(treedef.kind, treedef.keys, children)


def _reference(target: List, ahead: bool) -> Reference:
    leaves, treedef = flatten(target, True, ahead)
    return Reference(target, treedef, leaves)


def targets(leaves: list[Any]) -> list[Any]:
    """Leaves with the lists themselves."""
    return [leaf.target if type(leaf) is Reference else leaf for leaf in leaves]


def is_reference(treedef: tree.TreeDef, leaves: list[Any]) -> bool:
    return treedef.kind is None and type(leaves[0]) is Reference
