"""Objects that a staged branch or loop makes: their fields are carried, like those of containers.

    p = Vector(0.0, 0.0)
    for v in x:
        p = Vector(p.x + v, p.y)      # after a turn: an object made there, with these two fields

An object from outside keeps its identity, so a name that holds it on one path and a new one on the
other is a choice (see choice.py). A new object that two names hold would become two: it is refused.
"""

from __future__ import annotations

import operator
from typing import Any

from graphify import tree
from graphify.autograph.operators.choice import Choice, retagged
from graphify.autograph.operators.state import Unstageable
from graphify.autograph.operators.undefined import Maybe
from graphify.ir.context import current_builder
from graphify.ir.graph import Builder
from graphify.ir.tensor import Tensor
from graphify.location import here, is_library_class
from graphify.ops import elementwise
from graphify.tracing.capture import root_of
from graphify.tracing.identity import attributes_of
from graphify.tracing.lists import List


class Made:
    """An object of the user's as a container of its fields."""

    __slots__ = ("kind", "fields")

    def __init__(self, kind: type, fields: dict[str, Any]) -> None:
        self.kind, self.fields = kind, fields


def _open(made: Any) -> tuple[tuple[Any, ...], list[Any]]:
    names = sorted(made.fields)
    return (made.kind, *names), [made.fields[name] for name in names]


def _build(keys: tuple[Any, ...], children: list[Any]) -> Any:
    instance = object.__new__(keys[0])
    for name, child in zip(keys[1:], children, strict=True):
        object.__setattr__(instance, name, child)
    builder = current_builder()
    root = root_of(builder)
    if root is not None and builder is not None:
        root.local_objects[id(instance)] = (instance, builder.home)
    return instance


tree.register(Made, _open, _build)


class Unsure:
    """A field that is there on some paths only, as a container of its value and of the verdict."""

    __slots__ = ("field",)

    def __init__(self, field: Maybe) -> None:
        self.field = field


tree.register(
    Unsure,
    lambda unsure: ((unsure.field.name,), [unsure.field.value, unsure.field.bound]),
    lambda keys, children: Maybe(keys[0], *children),
)


class Opener:
    """Opens the objects that a frame made, in the values that leave it."""

    def __init__(self, builder: Builder) -> None:
        self.builder, self.seen = builder, dict[int, Any]()

    def __call__(self, value: Any) -> Any:
        if isinstance(value, Maybe):
            return Maybe(value.name, self(value.value), value.bound)
        leaves, treedef = tree.flatten(value, self._is_leaf)
        opened = [self._leaf(leaf) for leaf in leaves]
        return treedef.unflatten(opened) if any(map(operator.is_not, opened, leaves)) else value

    def inside(self, contents: Any) -> Any:
        """What a list or dict holds, with the objects among it opened."""
        table = isinstance(contents, dict) and tree.is_container(contents)
        if not table and type(contents) is not List:
            return contents  # of a kind that keeps its elements in arrays, or that nobody opens
        keys = list(contents) if table else range(len(contents))
        held = [contents[key] for key in keys]
        opened = list(map(self, held))
        if not any(map(operator.is_not, opened, held)):
            return contents
        if table:
            return tree.flatten(contents, lambda v: v is not contents)[1].unflatten(opened)
        copy = List(opened)
        copy.home = contents.home
        return copy

    def _is_leaf(self, part: Any) -> bool:
        outer = isinstance(part, List) and part.home is not self.builder.home
        return outer or isinstance(part, Choice)

    def _leaf(self, leaf: Any) -> Any:
        if not isinstance(leaf, Choice):
            return self._opened(leaf) if self._is_made(leaf) else leaf
        alternatives = [self(each) for each in leaf.alternatives]
        if not any(map(operator.is_not, alternatives, leaf.alternatives)):
            return leaf
        return _merged(leaf.tag, alternatives)

    def _is_made(self, leaf: Any) -> bool:
        kind = type(leaf)
        if isinstance(leaf, (Tensor, type)) or not is_users(kind):
            return False
        root = root_of(self.builder)
        home = None if root is None else root.local_objects.get(id(leaf), (None, None))[1]
        if home is not None:
            return home is self.builder.home
        return any(  # made by code that was not converted, such as an operator of the class
            isinstance(value, Tensor)
            and value.is_symbolic
            and self.builder.owns(value._value)
            and (id(leaf), name) not in self.builder.writes
            for name, value in attributes_of(leaf).items()
        )

    def _opened(self, leaf: Any) -> Made:
        if id(leaf) in self.seen:
            raise Unstageable(
                f"two names hold one {type(leaf).__name__} that was made under a staged condition "
                "or in a staged loop",
                location=here(),
                remedy="keep it under one name, or make it before",
            )
        self.seen[id(leaf)] = leaf
        fields = {name: self(value) for name, value in attributes_of(leaf).items()}
        unsure = {name: Unsure(v) for name, v in fields.items() if isinstance(v, Maybe)}
        return Made(type(leaf), fields | unsure)


def _either(holds: Tensor, a: Any, b: Any) -> Any:
    from graphify.autograph.operators.branches import if_exp

    return if_exp(holds, lambda: a, lambda: b)


def _merged(tag: Any, alternatives: list[Any]) -> Any:
    """A choice in which objects of one class are one alternative."""
    left: list[Any] = []
    places = []
    for number, value in enumerate(alternatives):
        known = [k for k, other in enumerate(left) if _alike(other, value)]
        places.append(known[0] if known else len(left))
        if not known:
            left.append(value)
            continue
        other, holds = left[known[0]], elementwise.equal(tag, number)
        pairs = [(name, value.fields[name], other.fields[name]) for name in value.fields]
        fields = {name: _either(holds, a, b) for name, a, b in pairs}
        left[known[0]] = Made(value.kind, fields)
    return Choice(retagged(tag, places), left) if len(left) > 1 else left[0]


def _alike(a: Any, b: Any) -> bool:
    both = isinstance(a, Made) and isinstance(b, Made)
    return both and a.kind is b.kind and a.fields.keys() == b.fields.keys()


def is_users(kind: type) -> bool:
    """Whether instances of a class are bare objects with fields."""
    new: Any = kind.__new__
    if new is not object.__new__ or kind.__module__.partition(".")[0] == "graphify":
        return False
    return not is_library_class(kind)
