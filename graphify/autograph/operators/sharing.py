"""Which tensors may be one array once the paths of a staged `if` have met again.

    if c:
        y = a[1:]       # the joined y is a part of a where c holds: a write to y is one to a
    else:
        y = b * 2

The joined tensors are linked with what they may be (graphify.ir.sharing); a later update in place
then reaches all of it, or is refused where nobody can say when. Loops: see looplinks.py.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from graphify.autograph.operators.state import placeholder
from graphify.errors import InternalError
from graphify.ir.context import current_builder, recording
from graphify.ir.graph import Builder
from graphify.ir.kinds import is_array
from graphify.ir.sharing import (
    MOST,
    Link,
    View,
    cover,
    in_order,
    is_covered,
    is_live,
    link,
    same_view,
)
from graphify.ir.sizes import SizeVar, dim_variables, size, substitute
from graphify.ir.tensor import Tensor, resolve
from graphify.ir.wrapping import as_tensor
from graphify.ops import elementwise
from graphify.ops.indexing import slice_
from graphify.ops.shape import as_dim

# The view by which the body of a loop sees a tensor of its state (see carry.py). In the turns after
# the first it may be another tensor, so nobody looks through it.
ALIAS = dataclasses.replace(slice_)


def is_number(leaf: Any) -> bool:
    """Whether a leaf is a Python number or NumPy scalar, which no update in place can change."""
    return not isinstance(leaf, Tensor) or leaf._scalar or leaf.spec.weak


def mark(tensor: Tensor, kinds: frozenset[type]) -> None:
    """Note what a joined leaf is: a number, an array, or now this and now that."""
    tensor._scalar = not any(map(is_array, kinds))
    tensor._kinds = kinds if len(kinds) > 1 else frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class Origin:
    """A leaf is `view` of `root` where all conditions hold; None: nobody can say when."""

    root: Tensor
    view: View = ()
    conditions: tuple[Tensor, ...] | None = ()


def origins(leaf: Tensor, is_end: Callable[[Tensor], bool]) -> list[Origin]:
    """What a leaf is, or may be: links are followed as far as tensors that are an end.

    Each tensor on the way is looked at once, whatever the number of ways that lead to it.
    Conditions are recorded in the current frame.
    """
    start, view = _storage(leaf)
    ways: dict[int, list[Origin]] = {id(start): [Origin(start, view)]}
    found: dict[int, list[Origin]] = {}
    for tensor in _on_the_way(start, is_end):
        mine, end = ways[id(tensor)], is_end(tensor)
        for origin in mine if end or not is_covered(tensor) else ():
            _add(found, origin)
        for other, entry in () if end else _linked(tensor):
            root, rest = _storage(other)
            into = found if entry.through else ways
            for origin in mine:
                known = _also(origin.conditions, entry.when)
                _add(into, Origin(root, (*rest, *entry.view, *origin.view), known))
    return [origin for ways in found.values() for origin in ways]


def _storage(tensor: Tensor) -> tuple[Tensor, View]:
    """What a view looks at, as far as the frame knows it, and how."""
    view: View = ()
    while tensor._base is not None and tensor._view is not None and tensor._view[0] is not ALIAS:
        view = (tensor._view, *view)
        tensor = tensor._base
    return tensor, view


def _on_the_way(start: Tensor, is_end: Callable[[Tensor], bool]) -> list[Tensor]:
    """The tensors between one and the ends, each after all that lead to it."""

    def further(tensor: Tensor) -> Iterator[Tensor]:
        if not is_end(tensor):
            yield from (_storage(o)[0] for o, entry in _linked(tensor) if not entry.through)

    return in_order([start], further)[::-1]


def _linked(tensor: Tensor) -> Iterator[tuple[Tensor, Link]]:
    """What a tensor may be. What a branch or loop has made inside, that has been traced in the
    frame at hand, nobody sees any more: what comes out of it has links of its own."""
    builder = current_builder()
    for entry in tensor._shared.links if tensor._shared is not None else ():
        other = entry.reference()
        here = builder is not None and other is not None and other._home is builder.home
        if other is not None and (here or is_live(other)):
            yield other, entry


def _add(found: dict[int, list[Origin]], origin: Origin) -> None:
    known = found.setdefault(id(origin.root), [])
    for position, other in enumerate(known):
        if same_view(other.view, origin.view):
            either = _either(other.conditions, origin.conditions)
            known[position] = Origin(origin.root, origin.view, either)
            return
    known.append(origin)


def _also(conditions: tuple[Tensor, ...] | None, when: Tensor | None) -> tuple[Tensor, ...] | None:
    if conditions is None or when is None:
        return None
    return (all_of((*conditions, when)),)


def _either(
    one: tuple[Tensor, ...] | None, other: tuple[Tensor, ...] | None
) -> tuple[Tensor, ...] | None:
    if one is None or other is None:
        return None
    return (elementwise.logical_or(all_of(one), all_of(other)),) if one and other else ()


def all_of(conditions: Iterable[Tensor]) -> Tensor:
    """Their conjunction, recorded in the current frame."""
    return functools.reduce(lambda a, b: elementwise.logical_and(a, b), conditions)


def unknown_sizes(view: View, builder: Builder | None) -> list[SizeVar]:
    """The size variables in a view's attributes that a frame does not know."""
    attrs = [tuple(attrs.values()) for _, _, attrs in view]
    found = dict.fromkeys(variable for attr in attrs for variable in dim_variables(attr))
    return [variable for variable in found if builder and not _is_known(variable, builder)]


def _is_known(variable: SizeVar, builder: Builder) -> bool:
    try:
        builder.ensure_size(variable)
    except InternalError:
        return False
    return True


# --- branches -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Exported:
    """The number of a tensor that a branch gives beside its results."""

    number: int


@dataclass(slots=True)
class _Planned:
    """A joined leaf, by its position, or what a side gives out, will be a view of a root where one
    side is taken.

    The root: a tensor from before the branches, another joined leaf, or a tensor that the side
    gives out for this.
    """

    position: int | _Exported
    side: int
    root: Tensor | int | _Exported
    view: View
    sizes: dict[SizeVar, _Exported]  # in the view's attributes, known to the side alone
    when: Tensor | _Exported | None  # None: wherever the side is taken
    known: bool


class BranchLinks:
    """What joined leaves may be; looks at two traced branches before they become one op."""

    def __init__(self, leaves: Sequence[Sequence[Any]], builders: Sequence[Builder]) -> None:
        self.builders = builders
        self.exports: list[tuple[int, Tensor]] = []
        self.planned: list[_Planned] = []
        self.own = {  # positions of what may be an array of its own, made on one of the paths
            position
            for position, sides in enumerate(leaves)
            if any(leaf is not None and is_number(leaf) for leaf in sides)
        }
        for side in (0, 1):
            with recording(builders[side]):
                found = [
                    (position, origin)
                    for position, sides in enumerate(leaves)
                    if isinstance(sides[side], Tensor) and not is_number(sides[side])
                    for origin in origins(sides[side], is_live)
                ]
            self._plan(side, found)

    def _plan(self, side: int, found: Sequence[tuple[int, Origin]]) -> None:
        made: dict[int, list[tuple[int, Origin]]] = {}  # by root: what the branch itself made
        roots: dict[int, int | _Exported] = {}
        for position, origin in found:
            if is_live(origin.root):
                self._add(position, side, origin.root, origin)
            else:
                made.setdefault(id(origin.root), []).append((position, origin))
        for key, group in made.items():
            first, origin = group[0]  # all links go to earlier positions: there are no circles
            if len({position for position, _ in group}) < 2:
                self.own.add(first)
                continue
            whole = not origin.view and origin.conditions == ()
            root = roots[key] = first if whole else self._export(side, origin.root)
            self.own |= {first} if whole else set()
            for position, origin in group:
                if position != root:
                    self._add(position, side, root, origin)
        for root in list(roots.values()):
            if isinstance(root, _Exported):
                self._link_export(side, root, roots)

    def _link_export(self, side: int, export: _Exported, roots: dict[int, int | _Exported]) -> None:
        """Plan what a side gives out may be itself."""
        tensor = self.exports[export.number][1]
        with recording(self.builders[side]):
            found = [origin for origin in origins(tensor, is_live) if origin.root is not tensor]
        for origin in found:
            root = origin.root if is_live(origin.root) else roots.get(id(origin.root))
            if root is not None:
                self._add(export, side, root, origin)

    def _add(self, position: int | _Exported, side: int, root: Any, origin: Origin) -> None:
        known = origin.conditions is not None
        known = known and sum(plan.position == position for plan in self.planned) < MOST
        plan = _Planned(position, side, root, (), {}, None, known)
        self.planned.append(plan)
        if not known:
            return
        plan.view = tuple(
            (op, tuple(self._outside(side, x) for x in operands), attrs)
            for op, operands, attrs in origin.view
        )
        missing = unknown_sizes(origin.view, current_builder())
        with recording(self.builders[side]):
            plan.sizes = {v: self._export(side, as_tensor(size(v))) for v in missing}
            if origin.conditions:
                plan.when = self._export(side, all_of(origin.conditions))

    def _outside(self, side: int, operand: Any) -> Any:
        """An operand of a view as the code after the branches sees it."""
        local = isinstance(operand, Tensor) and operand.is_symbolic and not is_live(operand)
        return self._export(side, operand) if local else operand

    def _export(self, side: int, tensor: Tensor) -> _Exported:
        for number, (_, known) in enumerate(self.exports):
            if known is tensor:
                return _Exported(number)
        self.exports.append((side, tensor))
        return _Exported(len(self.exports) - 1)

    def outputs(self, side: int) -> list[Tensor]:
        """What a side gives out beside its results; runs in the side's frame."""
        return [
            resolve(tensor) if home == side else placeholder(tensor.spec)
            for home, tensor in self.exports
        ]

    def finish(self, pred: Tensor, joined: Sequence[Tensor], exported: Sequence[Tensor]) -> None:
        """Link what comes out of the cond."""
        flags = [pred]

        def get(value: Any) -> Any:
            return exported[value.number] if isinstance(value, _Exported) else value

        def tensor_of(place: Any) -> Tensor:
            found: Tensor = joined[place] if isinstance(place, int) else get(place)
            return found

        for plan in self.planned:
            tensor = tensor_of(plan.position)
            if is_number(tensor):
                continue
            if plan.side and len(flags) == 1:
                flags.append(elementwise.logical_not(pred))
            root = tensor_of(plan.root)
            when = get(plan.when) if plan.when is not None else flags[plan.side]
            sizes = {variable: as_dim(get(x)) for variable, x in plan.sizes.items()}
            view = tuple(
                (op, tuple(map(get, xs)), {k: substitute(v, sizes) for k, v in attrs.items()})
                for op, xs, attrs in plan.view
            )
            link(tensor, root, when if plan.known else None, view)
        for position in {plan.position for plan in self.planned} - self.own:
            if isinstance(position, int):
                cover(joined[position])
