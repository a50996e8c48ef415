"""Tensors that may be one and the same array, which only the run will tell.

After `y = a if c else b[1:]`, a write to `y` is a write to `a`, or to a part of `b`. So `y` is
linked with what it may be: each link says under which condition `y` is which view of which array.
A write to either end reaches the other one under that condition. Where the condition is not known,
the link is weak (what nobody holds any more cannot be seen to change) and a write is refused.

    link(y, a, c)
    link(y, b, not_c, view=((slice_, (), {"key": ((1, n - 1, 1),)}),))
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from graphify.errors import TraceError, note
from graphify.ir.op import REGISTRY
from graphify.location import LazyLoc, here

if TYPE_CHECKING:
    from graphify.ir.op import Op
    from graphify.ir.tensor import Tensor

MOST = 8  # links of a tensor with a condition; programs that shuffle names beyond that are refused

# What a tensor sees of another one: `(op, operands, attrs)` of each step, as in `Tensor._view`.
View: TypeAlias = tuple["tuple[Op, tuple[Any, ...], dict[str, Any]]", ...]


@dataclass(slots=True, eq=False)
class Link:
    """A tensor is `view` of `other` where `when` holds; None: nobody can say when."""

    reference: weakref.ref[Tensor]
    when: Tensor | None
    view: View
    kept: Tensor | None = None  # keeps `other` alive: several tensors meet there
    through: bool = False  # what `other` may be, the tensor has links to, too
    place: LazyLoc | None = None  # where they were linked, if nobody can say when


@dataclass(slots=True, eq=False)
class Sharing:
    """What a tensor may be a view of, and what may be a view of the tensor.

    Attributes:
        covered: the tensor is always one of those that it has links to, and never an array of its
            own: what may be this tensor is linked with those instead. However often names are
            swapped, the links lead straight to the arrays that were made once.
    """

    links: list[Link] = field(default_factory=list)
    seen_by: list[tuple[weakref.ref[Tensor], Link]] = field(default_factory=list)
    covered: bool = False


@dataclass(slots=True, eq=False)
class Update:
    """What a tensor becomes, under a condition, by a write to another one."""

    tensor: Tensor
    when: Tensor
    changed: Tensor | Callable[[], Tensor]  # or what makes it


def link(tensor: Tensor, other: Tensor, when: Tensor | None, view: View = ()) -> None:
    """From now on `tensor` may be (a view of) `other`: where `when` holds, or who knows when."""
    if tensor is other:
        return
    if is_covered(other):
        _link_beyond(tensor, other, when, view)
        return
    mine, theirs = _of(tensor), _of(other)
    _prune(mine)
    if len(mine.links) >= MOST:
        when, view = None, ()
    same = [
        known for known in mine.links
        if known.reference() is other and same_view(known.view, view)
    ]  # fmt: skip
    if same:
        entry = same[0]
        entry.when = _or(entry.when, when)
    else:
        place = here() if when is None else None
        beside = [known for seer, known in observers(other) if seer is not tensor]
        for known in beside:
            known.kept = other
        entry = Link(weakref.ref(other), when, view, other if beside else None, not beside, place)
        mine.links.append(entry)
        theirs.seen_by = [
            (ref, known)
            for ref, known in theirs.seen_by
            if (seer := ref()) is not None and is_live(seer)
        ]
        theirs.seen_by.append((weakref.ref(tensor), entry))
    if entry.through:  # nothing keeps it, and what it may be the tensor may be, too
        _link_beyond(tensor, other, when, view)


def _link_beyond(tensor: Tensor, other: Tensor, when: Tensor | None, view: View) -> None:
    for third, known in list(links(other)):
        link(tensor, third, _and(when, known.when), (*known.view, *view))


def cover(tensor: Tensor) -> None:
    """From now on the links of a tensor are all that it can be."""
    if tensor._shared is not None:
        tensor._shared.covered = all(known.when is not None for known in tensor._shared.links)


def is_covered(tensor: Tensor) -> bool:
    """Whether a tensor is, in every run, one of those that it may be."""
    shared = tensor._shared
    if shared is None or not shared.covered:
        return False
    _prune(shared)
    return shared.covered


def _prune(shared: Sharing) -> None:
    """Drop links to what nobody holds any more: where it was one of those, the tensor is now the
    only one of them."""
    alive = [known for known in shared.links if known.reference() is not None]
    if len(alive) < len(shared.links):
        shared.links, shared.covered = alive, False


def same_view(one: View, other: View) -> bool:
    """Whether two views see the same part of the same array."""
    return len(one) == len(other) and all(
        a[0] is b[0] and a[2] == b[2] and all(x is y for x, y in zip(a[1], b[1], strict=True))
        for a, b in zip(one, other, strict=True)
    )


def _and(one: Tensor | None, other: Tensor | None) -> Tensor | None:
    return None if one is None or other is None else REGISTRY["logical_and"](one, other)


def _or(one: Tensor | None, other: Tensor | None) -> Tensor | None:
    return None if one is None or other is None else REGISTRY["logical_or"](one, other)


def _of(tensor: Tensor) -> Sharing:
    if tensor._shared is None:
        tensor._shared = Sharing()
    return tensor._shared


def links(tensor: Tensor) -> Iterator[tuple[Tensor, Link]]:
    """What a tensor may be, of frames still recorded and as long as somebody holds it."""
    for entry in tensor._shared.links if tensor._shared is not None else ():
        other = entry.reference()
        if other is not None and is_live(other):
            yield other, entry


def observers(tensor: Tensor) -> Iterator[tuple[Tensor, Link]]:
    """The tensors that may be (a view of) this one."""
    for reference, entry in tensor._shared.seen_by if tensor._shared is not None else ():
        other = reference()
        if other is not None and is_live(other):
            yield other, entry


def is_shared(tensor: Tensor) -> bool:
    return next(links(tensor), None) is not None or next(observers(tensor), None) is not None


def is_live(tensor: Tensor) -> bool:
    """Whether the frame that made the tensor is still being recorded."""
    return tensor._home is None or tensor._home.recording


def storage(tensor: Tensor) -> Tensor:
    """The tensor that a view, or a view of a view, looks at."""
    while tensor._base is not None:
        tensor = tensor._base
    return tensor


def updates(target: Tensor) -> list[Update]:
    """What has to change with `target`, in this order: first what it may be (and what that may
    be), as far as the write reaches; then all that may be one of those.

    Raises:
        TraceError: the condition is not known, or the two differ in dtype.
    """
    if target._shared is None:
        return []
    from graphify.ir.kinds import may_be_number  # an upward look: kinds are those of tensors

    above = _reachable([target], links)
    reach: dict[int, Tensor | None] = {id(target): None}  # under which condition; None: always
    found: list[Update] = []
    for tensor in _ordered(above, observers):
        for other, entry in links(tensor):
            if may_be_number(other):  # which does not change with the target
                raise unknown(entry.place)
            when = _both(reach[id(tensor)], _when(entry, tensor, other))
            make = _putting(other, tensor, entry.view) if entry.view else tensor
            found.append(Update(other, when, make))
            before = reach.get(id(other))
            reach[id(other)] = when if before is None else REGISTRY["logical_or"](before, when)
    touched = _reachable(above, observers)
    known = {id(tensor) for tensor in touched}
    for tensor in _ordered(touched, links):
        for other, entry in links(tensor):
            if tensor is not target and id(other) in known:
                when = _when(entry, tensor, other)
                make = _seeing(other, entry.view) if entry.view else other
                found.append(Update(tensor, when, make))
    return found


Neighbours: TypeAlias = "Callable[[Tensor], Iterator[tuple[Tensor, Link]]]"


def _reachable(start: list[Tensor], neighbours: Neighbours) -> list[Tensor]:
    found = {id(tensor): tensor for tensor in start}
    pending = list(start)
    while pending:
        for other, _ in neighbours(pending.pop()):
            if id(other) not in found:
                found[id(other)] = other
                pending.append(other)
    return list(found.values())


def _ordered(tensors: list[Tensor], earlier: Neighbours) -> list[Tensor]:
    """The tensors, each after those of its neighbours that are among them."""
    among = {id(tensor) for tensor in tensors}
    return in_order(tensors, lambda t: [n for n, _ in earlier(t) if id(n) in among])


def in_order(
    tensors: Sequence[Tensor], before: Callable[[Tensor], Iterable[Tensor]]
) -> list[Tensor]:
    """The tensors, and what comes before them, each after all that comes before it."""
    done: dict[int, Tensor] = {}
    pending = [(tensor, False) for tensor in reversed(tensors)]
    while pending:
        tensor, ready = pending.pop()
        if id(tensor) in done:
            continue
        if ready:
            done[id(tensor)] = tensor
            continue
        pending.append((tensor, True))
        pending += [(t, False) for t in before(tensor) if id(t) not in done]
    return list(done.values())


def _both(one: Tensor | None, other: Tensor) -> Tensor:
    return other if one is None else REGISTRY["logical_and"](one, other)


def _when(entry: Link, target: Tensor, other: Tensor) -> Tensor:
    if entry.when is None or other.dtype != target.dtype:
        raise unknown(entry.place)
    return entry.when


def unknown(place: LazyLoc | None = None) -> TraceError:
    """The error for an update of which nobody can say whom it reaches.

    Args:
        place: where an element was copied out of several arrays (see graphify.tracing.apart).
    """
    error = TraceError(
        "an array is updated in place that may, or may not, be the array that another name "
        "holds; which one is only known when the graph runs",
        location=here(),
        remedy="give the name an array of its own before: y = y.copy()",
    )
    note(error, copied=frozenset() if place is None else frozenset([place.resolve()]))
    return error


def _seeing(base: Tensor, view: View) -> Callable[[], Tensor]:
    """Makes what a view shows of `base`."""

    def make() -> Tensor:
        seen = base
        for op, operands, attrs in view:
            seen = op(seen, *operands, **attrs)
        return seen

    return make


def _putting(base: Tensor, new: Tensor, view: View) -> Callable[[], Tensor]:
    """Makes `base` as it is once its view is `new`."""

    def put(base: Tensor, view: View) -> Tensor:
        (op, operands, attrs), *rest = view
        assert op.put is not None
        inner = op(base, *operands, **attrs)
        part = put(inner, tuple(rest)) if rest else _fitted(new, inner)
        new_base: Tensor = op.put(base, part, *operands, **attrs)
        return new_base

    return lambda: put(base, view)


def _fitted(tensor: Tensor, like: Tensor) -> Tensor:
    """The tensor in a shape that it has anyway, in terms of other sizes."""
    if tensor.dims == like.dims:
        return tensor
    return REGISTRY["reshape"](tensor, shape=like.dims)
