"""Which arrays the results of a recursive function may be.

def sort(a):
    ...
    return a        # GivenBack(0): the caller gets the very array it passed

A result that may be an argument, a view of one, or an array from outside is linked with those (see
ir/sharing.py): reading it is fine, and an update in place, of which nobody could say whom it
reaches, is refused.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from graphify.autograph.operators.sharing import is_number
from graphify.ir.graph import Builder
from graphify.ir.sharing import link, links, storage
from graphify.ir.tensor import Tensor


@dataclass(frozen=True, slots=True)
class GivenBack:
    """The array that was passed as leaf `index` of the arguments; see `given_back`."""

    index: int


@functools.cache
def given_back(index: int) -> GivenBack:
    """Each of them is one object: they are compared by identity."""
    return GivenBack(index)


@dataclass(slots=True, eq=False)
class Shown:
    """What a result may be a view of: arguments, by number, and arrays from outside."""

    arguments: set[int] = field(default_factory=set)
    others: list[Tensor] = field(default_factory=list)

    @classmethod
    def by(cls, leaf: Any, given: Sequence[Any], builder: Builder) -> Shown:
        """What a leaf at the end of the function of this frame may be."""
        found = cls()
        if not isinstance(leaf, Tensor) or is_number(leaf):
            return found
        outside = {id(home) for home in _homes(builder)}
        pending, seen = [leaf], set[int]()
        while pending:
            tensor = storage(pending.pop())
            if id(tensor) in seen:
                continue
            seen.add(id(tensor))
            pending += [other for other, _ in links(tensor)]
            found.arguments.update(i for i, other in enumerate(given) if other is tensor)
            if id(tensor._home) in outside:
                found.others.append(tensor)
        return found

    def widen(self, other: Shown) -> bool:
        """Include what the other one has; True if that is more."""
        new = [t for t in other.others if all(t is not known for known in self.others)]
        more = bool(new) or not other.arguments <= self.arguments
        self.others += new
        self.arguments |= other.arguments
        return more

    def link(self, result: Tensor, leaves: Sequence[Any]) -> None:
        """Link a result of a call with these arguments to what it may be."""
        for other in [*(leaves[i] for i in sorted(self.arguments)), *self.others]:
            if isinstance(other, Tensor):
                link(result, storage(other), None)


def _homes(builder: Builder) -> list[Any]:
    homes = []
    parent = builder.parent
    while parent is not None:
        homes.append(parent.home)
        parent = parent.parent
    return homes
