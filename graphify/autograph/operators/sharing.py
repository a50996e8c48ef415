"""Which tensors may be one array once the paths of a staged statement have met again.

    if c:
        y = a           # the joined y is a where c holds: a write to y is one to a
    else:
        y = b * 2

    for i in range(n):
        y, z = z, y     # afterwards either may be either

The joined tensors are linked with what they may be (graphify.ir.sharing); a later update in place
then reaches all of it, or is refused where nobody can say when.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from graphify.ir.bind import Tensor
from graphify.ir.graph import Builder
from graphify.ir.sharing import is_live, link, links, storage
from graphify.ops import elementwise

Made: TypeAlias = tuple[Tensor, Sequence[Any]]  # a joined tensor, and its leaf on either side


def is_number(leaf: Any) -> bool:
    """Whether a leaf is a Python number or NumPy scalar, which no update in place can change."""
    return not isinstance(leaf, Tensor) or leaf._scalar or leaf.spec.weak


# --- branches -----------------------------------------------------------------------------------


def inner_conditions(leaves: Iterable[Any]) -> Iterator[Tensor]:
    """The conditions, of a branch just traced, under which its results are arrays from outside."""
    for leaf in leaves:
        if isinstance(leaf, Tensor) and leaf._base is None and not is_number(leaf):
            yield from (when for _, when in links(leaf) if when is not None and not is_live(when))


def link_joined(pred: Tensor, made: Sequence[Made], conditions: Mapping[int, Tensor]) -> None:
    """Link what comes out of a cond with what it may be, and with what else may be that.

    Args:
        conditions: those of `inner_conditions`, by id, as the cond gives them.
    """
    arrays = [(tensor, sides) for tensor, sides in made if not is_number(tensor)]
    if not arrays:
        return
    flags: list[Tensor] = [pred]
    for side in (0, 1):
        held: dict[
            int, list[Tensor]
        ] = {}  # id of a storage -> joined tensors that are it, or see it
        for tensor, sides in arrays:
            leaf = sides[side]
            if not isinstance(leaf, Tensor) or is_number(leaf):
                continue
            if side and len(flags) == 1:
                flags.append(elementwise.logical_not(pred))
            beside = held.setdefault(id(storage(leaf)), [])
            _link_side(tensor, leaf, flags[side], beside, conditions)


def _link_side(
    tensor: Tensor,
    leaf: Tensor,
    flag: Tensor,
    beside: list[Tensor],
    conditions: Mapping[int, Tensor],
) -> None:
    root = storage(leaf)
    for other in beside:
        link(tensor, other)
    beside.append(tensor)
    for other, when in list(links(root)):
        if id(when) in conditions and root is leaf:
            link(tensor, other, conditions[id(when)], elementwise.logical_or)
        elif when is not None and root is leaf and is_live(when):
            link(tensor, other, elementwise.logical_and(flag, when), elementwise.logical_or)
        else:
            link(tensor, other)
    if is_live(leaf):  # made before the branch
        link(tensor, root, flag if root is leaf else None, elementwise.logical_or)
    elif is_live(root):
        link(tensor, root)


def _link_with_all(tensor: Tensor, other: Tensor, flag: Tensor | None) -> None:
    """Link with a tensor and with what that one may be: it may soon be held by nobody."""
    for third, when in list(links(other)):
        known = flag is not None and when is not None and is_live(when)
        link(
            tensor,
            third,
            elementwise.logical_and(flag, when) if known else None,
            elementwise.logical_or,
        )
    link(tensor, other, flag, elementwise.logical_or)


# --- loops --------------------------------------------------------------------------------------


class LoopLinks:
    """What the carried leaves of a loop may be, found by looking at one turn.

    A place of the carry holds, after a turn, what another place held before it, an array from
    outside, or something new. The closure over all turns says which places may hold one array.
    """

    def __init__(self) -> None:
        self.pairs: set[tuple[int, int]] = set()  # places that may hold one array
        self.outer: list[tuple[int, Tensor]] = []  # places and arrays from outside
        self.later: list[set[Any]] = []  # per place: what it may hold after a turn or more
        self.tensors: dict[int, Tensor] = {}

    def apply(self, given: Sequence[Tensor]) -> None:
        """Link the parameters of a frame as far as is known."""
        for p, q in self.pairs:
            if max(p, q) < len(given):
                link(given[p], given[q])
        for p, other in self.outer:
            if p < len(given):
                link(given[p], other)

    def learn(
        self, initial: Sequence[Any], given: Sequence[Tensor], after: Sequence[Any], frame: Builder
    ) -> bool:
        """Look at a traced turn; True if there is news, and the body must be traced with it."""
        start = [self._outside(leaf) for leaf in initial]
        places = {id(tensor): place for place, tensor in enumerate(given)}
        sources = [self._sources(leaf, places, initial) for leaf in after]
        self.later = [set[Any]() for _ in sources]
        changed = True
        while changed:
            changed = False
            for held, source in zip(self.later, sources, strict=True):
                new = {s for s in source if not isinstance(s, _Place)}
                for s in source:
                    if isinstance(s, _Place):
                        new |= start[s] | self.later[s]
                changed |= not new <= held
                held |= new
        everything = [a | b for a, b in zip(start, self.later, strict=True)]
        pairs = set(_meeting(everything, unless=start))
        outer = [
            (p, self.tensors[t]) for p, held in enumerate(everything) for t in held - start[p]
            if self.tensors[t]._home is not frame.home
        ]  # fmt: skip
        known = {(p, id(t)) for p, t in self.outer}
        news = not pairs <= self.pairs or any((p, id(t)) not in known for p, t in outer)
        self.pairs |= pairs
        self.outer += [(p, t) for p, t in outer if (p, id(t)) not in known]
        self.start = start
        return news

    def finish(
        self,
        initial: Sequence[Any],
        results: Sequence[Tensor],
        runs: bool,
        first: Callable[[], Tensor] | None,
    ) -> None:
        """Link what comes out of the loop.

        Args:
            runs: there is one turn at least.
            first: gives the condition under which there is; None if that cannot be told.
        """
        held = self.later if runs else [a | b for a, b in zip(self.start, self.later, strict=True)]
        for p, q in _meeting(held):
            link(results[p], results[q])
        none: Tensor | None = None  # whether there is no turn
        for p, storages in enumerate(held):
            for key in storages:
                other = self.tensors[key]
                untouched = initial[p] is other and key not in self.later[p]
                flag: Tensor | None = None
                if untouched and first is not None and is_live(other):
                    none = elementwise.logical_not(first()) if none is None else none
                    flag = none
                _link_with_all(results[p], other, flag)

    def _outside(self, leaf: Any) -> set[Any]:
        if not isinstance(leaf, Tensor) or is_number(leaf):
            return set()
        root = storage(leaf)
        self.tensors[id(root)] = root
        return {id(root)}

    def _sources(self, leaf: Any, places: dict[int, int], initial: Sequence[Any]) -> set[Any]:
        if not isinstance(leaf, Tensor) or is_number(leaf):
            return set()
        seen = leaf
        while id(seen) not in places and seen._base is not None:
            seen = seen._base
        if id(seen) in places:
            return {_Place(places[id(seen)])}
        found = {id(t): t for t in (seen, *(storage(other) for other, _ in links(seen)))}
        self.tensors.update(found)
        same = [
            _Place(p) for p, first in enumerate(initial)
            if isinstance(first, Tensor) and id(storage(first)) in found
        ]  # fmt: skip
        return {*found, *same}


class _Place(int):
    """The number of a place of the carry, told from the id of a tensor."""

    __slots__ = ()

    def __hash__(self) -> int:
        return hash(("place", int(self)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Place) and int(self) == int(other)


def _meeting(
    held: Sequence[set[Any]], unless: Sequence[set[Any]] | None = None
) -> Iterable[tuple[int, int]]:
    """Pairs of places that may hold one array."""
    for p, first in enumerate(held):
        for q in range(p + 1, len(held)):
            if first & held[q] and not (unless and first == held[q] == unless[p] == unless[q]):
                yield p, q
