"""Sets of which only the run knows the elements (see tables.py).

    seen = set_()
    seen.add(v)
    len(seen | {w}), sorted(seen)

Python goes over a set in the order of hashes. That of these is another one, so that only what does
not depend on it goes over them: sorted, len, min, max, sum, comparisons.
"""

from __future__ import annotations

import builtins
import collections.abc
from collections.abc import Callable
from typing import Any

from graphify.autograph.operators import growing as g
from graphify.autograph.operators.branches import if_
from graphify.autograph.operators.dicts import View
from graphify.autograph.operators.tables import (
    Table,
    are_known,
    block,
    elements_of,
    grown_of,
    holds_keys,
    members_of,
    noted,
    refused,
    register,
    run,
)
from graphify.ir.context import current_builder
from graphify.tracing import apart

ORDER = "sort it: for v in sorted(seen)"


def _operator(name: str, backwards: bool = False) -> Any:
    """An operator that takes sets alone, from the method that takes any iterable."""

    def apply(self: Set, other: Any) -> Any:
        if not _is_set(other):
            return NotImplemented
        one, two = (as_set(other), self) if backwards else (self, other)
        return getattr(one, name)(two)

    return apply


def _changing(name: str) -> Any:
    """An operator that changes its left operand, from the method that does it."""

    def change(self: Set, other: Any) -> Any:
        if not _is_set(other):
            return NotImplemented
        getattr(self, name)(other)
        return self

    return change


class Set(Table):
    """A set of which only the run knows the elements."""

    __slots__ = ()
    standing_for = set

    def line(self) -> Any:
        if isinstance(self.size, int) and self.size < 2:
            return self.members()
        raise refused(
            "a set",
            "its elements are taken one by one: Python has them in the order of their hashes",
            ORDER,
        )

    def add(self, value: Any) -> None:
        self._add(value, lambda: None, self.contains(value), lambda: None)

    def discard(self, value: Any) -> None:
        place, found = self.find(value)
        self._loses()
        if found is not False:
            if_(found, block(lambda: self._remove(place)), lambda: (), (), ())

    def remove(self, value: Any) -> None:
        place, found = self.find(value)
        self._check_there(value, found)
        self._remove(place)

    def pop(self) -> Any:
        self._loses()
        if isinstance(self.size, int) and self.size == 1:
            return self.rows.pop()
        raise refused(
            "a set", "any one of its elements is popped: Python takes the first by hash",
            "take the least: v = min(seen), then seen.remove(v)",
        )  # fmt: skip

    def copy(self) -> Set:
        return Set(self.members())

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Set:
        made = memo[id(self)] = self.copy()
        return made

    # --- several sets ---

    def update(self, *others: Any) -> None:
        for other in others:
            run(_added, self, members_of(other))

    def intersection_update(self, *others: Any) -> None:
        self._become(self.intersection(*others))

    def difference_update(self, *others: Any) -> None:
        self._become(self.difference(*others))

    def symmetric_difference_update(self, other: Any) -> None:
        self._become(self.symmetric_difference(other))

    def _become(self, other: Set) -> None:
        self._loses()
        self.rows._change(g.apart(grown_of(other.rows)))

    def union(self, *others: Any) -> Set:
        made = self.copy()
        made.update(*others)
        return made

    def intersection(self, *others: Any) -> Set:
        made = self
        for other in others:
            made = made._common(other)
        return made.copy() if made is self else made

    def _common(self, other: Any) -> Any:
        """What is in both. Where equal elements have several dtypes, it matters whose are taken."""
        two = as_set(other)
        if _dtypes(self) == _dtypes(two):
            return run(_those_in, self.members(), two, Set())
        if _is_set(other):
            return run(_those_in_the_smaller, self, two, self.members(), two.members(), Set())
        return run(_those_in, two.members(), self, Set())

    def difference(self, *others: Any) -> Set:
        made = self
        for other in others:
            made = run(_those_not_in, made.members(), as_set(other), Set())
        return made.copy() if made is self else made

    def symmetric_difference(self, other: Any) -> Set:
        other = as_set(other)
        return self.difference(other).union(other.difference(self))

    def issubset(self, other: Any) -> Any:
        return run(_all_in, self.members(), as_set(other))

    def issuperset(self, other: Any) -> Any:
        return run(_all_in, members_of(other), self)

    def isdisjoint(self, other: Any) -> Any:
        return run(_none_in, members_of(other), self)

    __or__, __ror__ = _operator("union"), _operator("union", True)
    __and__, __rand__ = _operator("intersection"), _operator("intersection", True)
    __sub__, __rsub__ = _operator("difference"), _operator("difference", True)
    __xor__ = _operator("symmetric_difference")
    __rxor__ = _operator("symmetric_difference", True)
    __le__, __ge__ = _operator("issubset"), _operator("issuperset")
    __lt__, __gt__ = _operator("_is_less"), _operator("_is_less", True)

    def _is_less(self, other: Any) -> Any:
        return run(_less, self, as_set(other))

    def __eq__(self, other: object) -> Any:
        if not _is_set(other):
            return NotImplemented
        return run(_equal, self, as_set(other))

    __ior__, __iand__ = _changing("update"), _changing("intersection_update")
    __isub__, __ixor__ = _changing("difference_update"), _changing("symmetric_difference_update")


def _is_set(value: Any) -> bool:
    """Whether Python's sets take part in an operator with it: sets, and views of keys or items."""
    if isinstance(value, View):
        return value.what != "values"
    return isinstance(value, (collections.abc.Set, Set))


def _dtypes(table: Set) -> Any:
    """Which classes the elements of a set have."""
    held = grown_of(table.rows)
    return held.treedef, held.kinds, [(x.dtype, x.spec.weak) for x in held.buffers]


def as_set(value: Any) -> Set:
    """A set of these elements, in a trace."""
    if isinstance(value, Set):
        return value
    made = Set()
    made.update(value)
    return made


# --- written out: converted as anyone's functions are --------------------------------------------


def _added(table: Any, values: Any) -> None:
    for value in values:
        table.add(value)


def _those_in(values: Any, others: Any, made: Any) -> Any:
    for value in values:
        if value in others:
            made.add(value)
    return made


def _those_in_the_smaller(one: Any, other: Any, values: Any, others: Any, made: Any) -> Any:
    """As CPython does: those of the smaller set, or of the second of two that are as large."""
    if len(one) < len(other):
        for value in values:
            if value in other:
                made.add(value)
    else:
        for value in others:
            if value in one:
                made.add(value)
    return made


def _those_not_in(values: Any, others: Any, made: Any) -> Any:
    for value in values:
        if value not in others:
            made.add(value)
    return made


def _all_in(values: Any, others: Any) -> Any:
    for value in values:
        if value not in others:
            return False
    return True


def _none_in(values: Any, others: Any) -> Any:
    for value in values:
        if value in others:
            return False
    return True


def _less(one: Any, other: Any) -> Any:
    return len(one) < len(other) and one.issubset(other)


def _equal(one: Any, other: Any) -> Any:
    return len(one) == len(other) and one.issubset(other)


# --- how they are made ----------------------------------------------------------------------------


def set_(iterable: Any = ()) -> Any:
    """The built-in set, and set displays."""
    if current_builder() is None:
        return builtins.set(iterable)
    values = elements_of(iterable)
    if are_known(values) and not apart.are_tables():
        return noted(builtins.set(values))
    made = Set()
    made.update(values)
    return made


def _combining(name: str) -> Callable[..., Any]:
    """A method of Python's sets that gives a new one."""

    def combine(one: Any, *others: Any) -> Any:
        if current_builder() is None or isinstance(one, Set):
            return getattr(one, name)(*others)
        if apart.are_tables() or any(map(holds_keys, others)):
            return getattr(as_set(one), name)(*others)
        return noted(getattr(one, name)(*others))

    return combine


METHODS = {
    getattr(builtins.set, name): _combining(name)
    for name in ("union", "intersection", "difference", "symmetric_difference")
}
register(Set, ("rows",))
