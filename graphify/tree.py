"""Containers as trees: lists, tuples, dicts, namedtuples, dataclasses, attrs classes.

    >>> leaves, treedef = flatten({"a": 1, "b": (2, 3)})
    >>> leaves
    [1, 2, 3]
    >>> treedef.unflatten([10, 20, 30])
    {'a': 10, 'b': (20, 30)}

Everything that is not one of these containers, None included, is a leaf. `flatten_arrays` takes
None for the absence of an array, as the transformations do: it stays where it is.

    >>> flatten_arrays((1, None))[0]
    [1]
"""

from __future__ import annotations

import dataclasses
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, ItemsView, Iterable, Iterator, Sequence, ValuesView
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any


@dataclass(frozen=True, slots=True)
class TreeDef:
    """The shape of a tree: container type, its static keys, its children. Hashable."""

    kind: type | None
    keys: tuple[Any, ...] = ()
    children: tuple[TreeDef, ...] = ()

    @property
    def num_leaves(self) -> int:
        return 1 if self.kind is None else sum(child.num_leaves for child in self.children)

    def unflatten(self, leaves: Sequence[Any]) -> Any:
        """The container of this shape with the given leaves."""
        return self._build(iter(leaves))

    def _build(self, leaves: Iterator[Any]) -> Any:
        if self.kind is None:
            return next(leaves)
        return _rebuild(self.kind, self.keys, [child._build(leaves) for child in self.children])

    def paths(self, prefix: str = "") -> list[str]:
        """One path per leaf, written as Python would: `x[0]['w'].bias`."""
        if self.kind is None:
            return [prefix]
        steps = _steps(self.kind, self.keys, len(self.children))
        return [
            path
            for step, child in zip(steps, self.children, strict=True)
            for path in child.paths(prefix + step)
        ]


LEAF = TreeDef(None)
MAPPINGS = (dict, OrderedDict, Counter)
EMPTY = TreeDef(type(None))  # see flatten_arrays

Opened = tuple[tuple[Any, ...], list[Any]]  # static keys, children
_REGISTERED: dict[type, tuple[Callable[[Any], Opened], Callable[..., Any]]] = {}
_SAME: dict[type, type] = {}  # classes that make the trees of another one


def register(
    kind: type, open_: Callable[[Any], Opened], build: Callable[[tuple[Any, ...], list[Any]], Any]
) -> None:
    """Make a class a container: `open_` gives static keys and children, `build` the instance."""
    _REGISTERED[kind] = (open_, build)


def register_same(kind: type, other: type) -> None:
    """Make the trees of a subclass those of the class it stands in for."""
    _SAME[kind] = other
    _REGISTERED[kind] = _REGISTERED[other]


def flatten(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list[Any], TreeDef]:
    """The leaves of a tree in order, and its shape."""
    leaves: list[Any] = []
    return leaves, _flatten(tree, leaves, is_leaf)


def flatten_arrays(tree: Any) -> tuple[list[Any], TreeDef]:
    """As `flatten`, but None is a container without leaves, and dataclasses have their fields only:
    derivatives and lanes are those of fields."""
    leaves: list[Any] = []
    return leaves, _flatten(tree, leaves, None, none_is_leaf=False)


def flatten_like(tree: Any, model: TreeDef) -> list[Any] | None:
    """The leaves of a tree in the order of `model`, from which only the order of keys may differ.

    Returns:
        None where it has another shape. A leaf may be None.
    """
    if model.kind is None or model == EMPTY:
        fits = not is_container(tree) if model.kind is None else tree is None
        return [tree] * model.num_leaves if fits else None
    opened = _open(tree, further=False)
    if opened is None or _SAME.get(type(tree), type(tree)) is not model.kind:
        return None
    keys, children = opened
    if issubclass(model.kind, dict) and set(keys) == set(model.keys):
        order = model.keys[len(keys) - len(children) :]  # less the factory of a defaultdict
        by_key = dict(zip(keys[len(keys) - len(children) :], children, strict=True))
        children = [by_key[key] for key in order]
    elif keys != model.keys or len(children) != len(model.children):
        return None
    parts = [flatten_like(c, m) for c, m in zip(children, model.children, strict=True)]
    return None if None in parts else [leaf for part in parts for leaf in part or ()]


def leaves(tree: Any) -> list[Any]:
    return flatten(tree)[0]


def map_structure(function: Callable[..., Any], tree: Any, *rest: Any) -> Any:
    """`function` applied leaf by leaf; the trees must have one shape.

    Raises:
        ValueError: the trees differ in shape.
    """
    first, treedef = flatten(tree)
    others = []
    for other in rest:
        flat, other_def = flatten(other)
        if other_def != treedef:
            raise ValueError(f"map_structure: expected the same structure, got {tree!r}, {other!r}")
        others.append(flat)
    return treedef.unflatten([function(*args) for args in zip(first, *others, strict=True)])


def children_of(value: Any) -> list[Any] | None:
    """What is inside a container; None for a leaf."""
    opened = _open(value)
    return None if opened is None else opened[1]


def is_container(value: Any) -> bool:
    """Whether `flatten` opens this value."""
    return _open(value) is not None


def held(value: Any) -> Iterable[tuple[str, Any]]:
    """Names and elements of a container that is no tree: a class of one's own, a view, a slice."""
    match value:
        case dict():
            return ((str(key), each) for key, each in dict.items(value))
        case list():
            return ((str(place), each) for place, each in enumerate(list.__iter__(value)))
        case tuple():
            return ((str(place), each) for place, each in enumerate(tuple.__iter__(value)))
        case ValuesView() | ItemsView():
            return ((str(place), each) for place, each in enumerate(value))
        case MappingProxyType():
            return ((str(key), each) for key, each in value.items())
        case slice():
            return ("start", value.start), ("stop", value.stop), ("step", value.step)
    return ()


def is_record(kind: type) -> bool:
    """Whether instances of a class are containers of their fields: a dataclass, an attrs class."""
    return _field_names(kind) is not None


def _flatten(
    tree: Any, out: list[Any], is_leaf: Callable[[Any], bool] | None, none_is_leaf: bool = True
) -> TreeDef:
    if tree is None and not none_is_leaf:
        return EMPTY
    leaf = is_leaf is not None and is_leaf(tree)
    opened = None if leaf else _open(tree, further=none_is_leaf)
    if opened is None:
        out.append(tree)
        return LEAF
    keys, children = opened
    inside = tuple(_flatten(child, out, is_leaf, none_is_leaf) for child in children)
    return TreeDef(_SAME.get(type(tree), type(tree)), keys, inside)


def _open(value: Any, further: bool = True) -> Opened | None:
    """Static keys and children of a container; None for a leaf. `further`: with the attributes of a
    dataclass instance that are no fields."""
    kind = type(value)
    if kind in _REGISTERED:
        return _REGISTERED[kind][0](value)
    if kind is list or kind is tuple:
        return (), list(value)
    if kind in MAPPINGS:
        return tuple(value), list(value.values())
    if kind is defaultdict:
        return (value.default_factory, *value), list(value.values())
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return tuple(value._fields), list(value)
    names = _field_names(kind)
    if names is not None:
        names += further_names(value, names) if further else ()
        return names, [getattr(value, name) for name in names]
    return None


def further_names(value: Any, fields: tuple[str, ...]) -> tuple[str, ...]:
    """Attributes of a dataclass instance that are no fields: those that a `__post_init__` sets, but
    not what it has cached."""
    kind = type(value)
    return tuple(
        name
        for name in getattr(value, "__dict__", ())
        if name not in fields and not isinstance(getattr(kind, name, None), cached_property)
    )


def _field_names(kind: type) -> tuple[str, ...] | None:
    """Field names of a dataclass or attrs class."""
    if dataclasses.is_dataclass(kind):
        return tuple(field.name for field in dataclasses.fields(kind))
    attrs = kind.__dict__.get("__attrs_attrs__")
    return None if attrs is None else tuple(attribute.name for attribute in attrs)


def _rebuild(kind: type, keys: tuple[Any, ...], children: list[Any]) -> Any:
    if kind in _REGISTERED:
        return _REGISTERED[kind][1](keys, children)
    if kind is list:
        return children
    if kind is type(None):
        return None
    if kind is tuple:
        return tuple(children)
    if kind in MAPPINGS:
        return kind(dict(zip(keys, children, strict=True)))
    if kind is defaultdict:
        return defaultdict(keys[0], zip(keys[1:], children, strict=True))
    if issubclass(kind, tuple):
        return kind(*children)
    # A dataclass: __init__ may not take every field, so fill a bare instance.
    instance = object.__new__(kind)
    for name, child in zip(keys, children, strict=True):
        object.__setattr__(instance, name, child)
    return instance


def _steps(kind: type, keys: tuple[Any, ...], count: int) -> list[str]:
    if kind is list or kind is tuple:
        return [f"[{i}]" for i in range(count)]
    if kind in MAPPINGS:
        return [f"[{key!r}]" for key in keys]
    if kind is defaultdict:
        return [f"[{key!r}]" for key in keys[1:]]
    return [f".{key}" for key in keys]
