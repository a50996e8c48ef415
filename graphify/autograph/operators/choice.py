"""Values of which only the run knows what kind they are: None or a number, one string or another,
arrays of different rank, one function or another.

    best = None
    for v in x:                        # after the loop: Choice(tag, (None, v)), and the staged
        if best is None or v < best:   # tag says which of the two alternatives holds
            best = v

A choice appears where paths meet and their values have no common form (`unite`). It is a container
of its tag and its alternatives, so branches and loops carry it leaf by leaf; the leaves of the
alternatives that do not hold are zeros that nobody reads (`Absent`). What is done to a choice is
done to the alternative that holds: see choosing.py. A test such as `best is None` tells the code
under it which alternatives are left (`Verdict`, `assuming`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from graphify import tree
from graphify.autograph.operators.listed import Listed
from graphify.autograph.operators.listjoin import unite_lists
from graphify.autograph.operators.references import is_reference
from graphify.autograph.operators.sharing import is_number
from graphify.autograph.operators.state import (
    NUMBERS,
    Absent,
    DifferentKinds,
    Entry,
    Unstageable,
    carried_spec,
    describe,
    is_dynamic,
    joinable,
    structure_error,
)
from graphify.ir.context import recording
from graphify.ir.graph import Builder, Value, param
from graphify.ir.tensor import Tensor, resolve
from graphify.ir.types import BOOL
from graphify.ir.wrapping import as_tensor
from graphify.location import here
from graphify.ops import core, elementwise
from graphify.tracing import apart, identity
from graphify.tracing.identity import called

MOST = 6  # alternatives of one value

Leaves: TypeAlias = list[Any]


class Choice:
    """A value that is one of several alternatives; a staged integer tells which.

    `key`: the index that took it from a list of the alternatives.
    """

    __slots__ = ("tag", "alternatives", "key")

    def __init__(self, tag: Any, alternatives: Sequence[Any], key: Any = None) -> None:
        self.tag, self.alternatives, self.key = tag, tuple(alternatives), key

    def is_at(self, key: Any, values: list[Any]) -> bool:
        """Whether it is what a list has at an index."""
        same = key is self.key and len(values) == len(self.alternatives)
        return same and all(a is b for a, b in zip(values, self.alternatives, strict=True))


def _open(choice: Any) -> tuple[tuple[Any, ...], list[Any]]:
    return (), [choice.tag, *choice.alternatives]


def _build(keys: tuple[Any, ...], children: list[Any]) -> Any:
    """The alternative that holds, where it is known."""
    tag, *alternatives = children
    if isinstance(tag, Tensor) and not resolve(tag).is_symbolic:
        tag = tag.numpy()
    if tag.ndim if isinstance(tag, Tensor) else np.ndim(tag):
        raise Unstageable(
            "the lanes of a vmap end with values of different kinds, such as None and an array",
            location=here(),
            remedy="return a value of one kind in every lane",
        )
    if isinstance(tag, (int, np.ndarray, np.generic)):
        return alternatives[int(tag)]
    return Choice(tag, alternatives)


tree.register(Choice, _open, _build)
identity.transparent.add(Choice)


def has_choice(treedef: tree.TreeDef) -> bool:
    """Whether there is a choice somewhere in a tree."""
    return treedef.kind is Choice or any(map(has_choice, treedef.children))


def has_choices(value: Any) -> bool:
    """Whether there is a choice somewhere in a value."""
    return has_choice(tree.flatten(value)[1])


# --- what a test tells ----------------------------------------------------------------------------

Facts: TypeAlias = tuple[tuple[Value, frozenset[int]], ...]  # a tag, and what it can be

_known: ContextVar[Facts] = ContextVar("graphify_known_choices", default=())


class Verdict(Tensor):
    """A staged truth value, and what is known of choices where it holds and where it does not."""

    __slots__ = ("if_true", "if_false")

    if_true: Facts
    if_false: Facts

    def __init__(self, test: Tensor, if_true: Facts = (), if_false: Facts = ()) -> None:
        super().__init__(test._value, weak=test._weak)
        self._scalar = test._scalar
        self.if_true, self.if_false = if_true, if_false

    def opposite(self, test: Tensor) -> Verdict:
        return Verdict(test, self.if_false, self.if_true)


def facts(test: Any, holds: bool) -> Facts:
    """What a truth value tells of choices, where it holds or does not."""
    if not isinstance(test, Verdict):
        return ()
    return test.if_true if holds else test.if_false


def telling(whole: Any, parts: Sequence[Any], way: bool) -> Any:
    """The value of `and` (`way` True) or `or`: where it holds, or does not, so does each part."""
    told = tuple(fact for part in parts for fact in facts(part, way))
    if not told or not isinstance(whole, Tensor) or whole.dtype != BOOL or whole.ndim:
        return whole
    return Verdict(whole, told, ()) if way else Verdict(whole, (), told)


@contextlib.contextmanager
def assuming(told: Facts) -> Iterator[None]:
    """While a path is traced that the run takes only where these facts hold."""
    token = _known.set((*_known.get(), *told))
    try:
        yield
    finally:
        _known.reset(token)


def possible(choice: Choice) -> list[int]:
    """The alternatives that can hold here."""
    left = set(range(len(choice.alternatives)))
    for value, allowed in _known.get():
        if value == choice.tag._value:
            left &= allowed
    return sorted(left)


def narrowed(value: Any) -> Any:
    """A value with the alternative in place of each choice that has but one left here."""
    if not _known.get() or not has_choices(value):
        return value
    leaves, treedef = tree.flatten(value, is_leaf=lambda v: isinstance(v, Choice))
    return treedef.unflatten([_single(leaf) for leaf in leaves])


def _single(leaf: Any) -> Any:
    left = possible(leaf) if isinstance(leaf, Choice) else ()
    return narrowed(leaf.alternatives[left[0]]) if len(left) == 1 else leaf


def holds_one_of(choice: Choice, wanted: Sequence[int]) -> Any:
    """Whether one of some alternatives holds: a truth value that tells as much."""
    left = possible(choice)
    inside, outside = (frozenset(i for i in left if (i in wanted) is w) for w in (True, False))
    if not inside or not outside:
        return bool(inside)
    few, swapped = (inside, False) if len(inside) <= len(outside) else (outside, True)
    tests = [elementwise.equal(choice.tag, i) for i in sorted(few)]
    test = tests[0]
    for other in tests[1:]:
        test = elementwise.logical_or(test, other)
    if swapped:
        test = elementwise.logical_not(test)
    value = choice.tag._value
    weak = core.cast(test, dtype=BOOL, weak=True)
    return Verdict(weak, ((value, inside),), ((value, outside),))


# --- where paths meet -----------------------------------------------------------------------------


@dataclass(slots=True)
class Side:
    """A value taken apart, on one of two paths; `frozen` are its leaves as the path left them, and
    `holder` what it is the contents of."""

    treedef: tree.TreeDef
    leaves: Leaves
    frozen: Leaves
    builder: Builder | None  # the frame of the path
    holder: Any = None

    @classmethod
    def of(cls, entry: Entry, builder: Builder | None) -> Side:
        frozen = entry.frozen or entry.leaves
        return cls(entry.treedef, entry.leaves, frozen, builder, entry.holder)

    def children(self) -> list[Side]:
        """The children of a container."""
        found, start = [], 0
        for child in self.treedef.children:
            stop = start + child.num_leaves
            part = slice(start, stop)
            found.append(Side(child, self.leaves[part], self.frozen[part], self.builder))
            start = stop
        return found

    @property
    def is_reference(self) -> bool:
        return is_reference(self.treedef, self.leaves)

    def opened(self) -> Side:
        """What a list holds, if this is one from outside."""
        if not self.is_reference:
            return self
        now, then = self.leaves[0], self.frozen[0]
        return Side(now.treedef, now.leaves, then.leaves, self.builder)

    @property
    def is_choice(self) -> bool:
        return self.treedef.kind is Choice

    def alternatives(self) -> list[Side]:
        return self.children()[1:] if self.is_choice else [self]

    @property
    def holds_references(self) -> bool:
        """Whether it is a choice of lists from outside, which stay what they are."""
        return self.is_choice and any(each.is_reference for each in self.alternatives())

    def retagged(self, places: list[int]) -> tuple[Any, Any]:
        """The tag, when the alternatives have new places."""
        if not self.is_choice:
            return places[0], places[0]
        if places == list(range(len(places))):
            return self.leaves[0], self.frozen[0]
        with recording(self.builder):
            tag = retagged(self.frozen[0], places)
        return tag, tag


def retagged(tag: Any, places: list[int]) -> Any:
    """A tag for alternatives that have moved to these places."""
    if isinstance(tag, int):
        return places[tag]
    result = as_tensor(places[-1])
    for old, new in enumerate(places[:-1]):
        result = elementwise.where(elementwise.equal(tag, old), as_tensor(new), result)
    return core.cast(result, dtype=result.dtype, weak=True)


def unite(a: Entry, b: Entry, frames: tuple[Builder | None, Builder | None]) -> tuple[Entry, Entry]:
    """Two values of one variable in a common form: choices where they have none of their own.

    Raises:
        Unstageable: too many alternatives.
    """
    tables = [e.treedef.kind is not None and issubclass(e.treedef.kind, Listed) for e in (a, b)]
    sets = [isinstance(e.leaves[0], set) for e in (a, b) if e.leaves]
    if any(tables) or sets == [True, True]:
        error = structure_error(a.name, a, b, ("on one path", "on another"))
        if apart.helps(error):  # the other one, or both of them, could be tables
            raise error
    treedef, one, two = _unite(a.name, Side.of(a, frames[0]), Side.of(b, frames[1]))
    return _entry(a, treedef, one), _entry(b, treedef, two)


def _entry(entry: Entry, treedef: tree.TreeDef, leaves: Sequence[tuple[Any, Any]]) -> Entry:
    frozen = [frozen for _, frozen in leaves]
    given = [leaf for leaf, _ in leaves]
    return replace(entry, treedef=treedef, leaves=given, unreachable=False, frozen=frozen)


Pairs: TypeAlias = list[tuple[Any, Any]]  # leaves, and what they are at the end of their path
United: TypeAlias = tuple[tree.TreeDef, Pairs, Pairs]


def _unite(name: str, a: Side, b: Side) -> United:
    if _fit(a, b):
        return a.treedef, _pairs(a), _pairs(b)
    if a.is_reference or b.is_reference:
        if apart.is_kept() or a.holds_references or b.holds_references:
            return _as_choice(name, a, b)
        return _unite(name, a.opened(), b.opened())
    grown = unite_lists(a, b)
    if grown is not None:
        return grown
    one, two = a.treedef, b.treedef
    inside = one.kind not in (None, Choice) and len(one.children) == len(two.children)
    inside = inside and not (one.kind and issubclass(one.kind, Listed) and apart.is_kept())
    if inside and one.kind is two.kind and one.keys == two.keys:
        parts = [_unite(name, x, y) for x, y in zip(a.children(), b.children(), strict=True)]
        treedef = tree.TreeDef(one.kind, one.keys, tuple(part[0] for part in parts))
        return treedef, [p for part in parts for p in part[1]], [p for q in parts for p in q[2]]
    return _as_choice(name, a, b)


def _pairs(side: Side) -> Pairs:
    return list(zip(side.leaves, side.frozen, strict=True))


def _fit(a: Side, b: Side) -> bool:
    """Whether two values join as they are."""
    return a.treedef == b.treedef and all(map(joinable, a.leaves, b.leaves))


def _as_choice(name: str, a: Side, b: Side) -> United:
    merged: list[tuple[Side | None, Side | None]] = [(each, None) for each in a.alternatives()]
    places = []
    for each in b.alternatives():
        free = [k for k, (x, y) in enumerate(merged) if y is None and x and _fit(x, each)]
        places.append(free[0] if free else len(merged))
        merged[places[-1] : places[-1] + 1] = [(merged[free[0]][0] if free else None, each)]
    if len(merged) > MOST:
        raise DifferentKinds(
            f"{called(name)} has more than {MOST} kinds of value, depending on the path: "
            f"{_described(merged[0])}, {_described(merged[1])}, ..., {_described(merged[-1])}",
            location=here(),
            remedy=f"give {called(name)} the same structure on every path",
        )
    one, two = [a.retagged(list(range(len(merged))))], [b.retagged(places)]
    children = [tree.LEAF]
    for x, y in merged:
        model = x or y
        assert model is not None
        children.append(model.treedef)
        one += _pairs(x) if x else _absent(model)
        two += _pairs(y) if y else _absent(model)
    return tree.TreeDef(Choice, (), tuple(children)), one, two


def _described(pair: tuple[Side | None, Side | None]) -> str:
    """An alternative and the line where it was made, as far as the graph knows."""
    side = pair[0] or pair[1]
    assert side is not None
    text = describe(side.treedef.unflatten(side.leaves))
    values = [x._value for x in side.leaves if isinstance(x, Tensor) and x.is_symbolic]
    source = values[0].node.source if values and values[0].node.op is not param else None
    return f"{text} (line {source.resolve().line})" if source is not None else text


def _absent(side: Side) -> Pairs:
    """Stand-ins for the leaves of an alternative that does not hold."""
    leaves = [
        leaf if _is_known(leaf) else Absent(carried_spec(leaf), is_number(leaf))
        for leaf in side.leaves
    ]
    return [(leaf, leaf) for leaf in leaves]


def _is_known(leaf: Any) -> bool:
    """Whether a leaf needs no stand-in, since it is the same whatever the run does."""
    return not is_dynamic(leaf) or type(leaf) in NUMBERS or isinstance(leaf, Absent)
