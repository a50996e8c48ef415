"""Tensors that may be one and the same array, which only the run will tell.

After `y = a if c else b`, a write to `y` is a write to `a` or to `b`. Such tensors are linked, by
weak references: what nobody holds any more cannot be seen to change. A link has a condition (a
truth value of the graph), or None where none is known and a write has to be refused.

    link(y, a, c)
    list(links(y))      # [(a, c)]
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from graphify.errors import TraceError
from graphify.location import here

if TYPE_CHECKING:
    from graphify.ir.bind import Tensor

Links = list[tuple["weakref.ref[Tensor]", "Tensor | None"]]


def link(
    one: Tensor,
    other: Tensor,
    when: Tensor | None = None,
    either: Callable[[Tensor, Tensor], Tensor] | None = None,
) -> None:
    """From now on the two may be one array: if `when` holds, or who knows when.

    Args:
        either: joins `when` with the condition of a link that is there already (logical or).
    """
    if one is other:
        return
    known = [w for t, w in links(one) if t is other]
    if known and known[0] is None:
        return
    if known:
        before = known[0]
        joined = either is not None and when is not None and before is not None
        when = either(before, when) if joined else None  # type: ignore[misc, arg-type]
    for a, b in ((one, other), (other, one)):
        kept = [
            entry for entry in a._shared or () if entry[0]() is not None and entry[0]() is not b
        ]
        a._shared = [*kept, (weakref.ref(b), when)]


def links(tensor: Tensor) -> Iterator[tuple[Tensor, Tensor | None]]:
    """The tensors linked with this one that somebody still holds, of frames still recorded."""
    for reference, when in tensor._shared or ():
        other = reference()
        if other is not None and is_live(other):
            yield other, when


def is_live(tensor: Tensor) -> bool:
    """Whether the frame that made the tensor is still being recorded."""
    return tensor._home is None or tensor._home.recording


def storage(tensor: Tensor) -> Tensor:
    """The tensor that a view, or a view of a view, looks at."""
    while tensor._base is not None:
        tensor = tensor._base
    return tensor


def followers(target: Tensor, done: Iterable[int]) -> list[tuple[Tensor, Tensor]]:
    """What has to change with `target`, and when.

    Raises:
        TraceError: the condition is not known, or the two differ in dtype or shape.
    """
    found = []
    for other, when in links(target):
        if id(other) in done:
            continue
        if when is None or other.dtype != target.dtype or other.dims != target.dims:
            raise TraceError(
                "an array is updated in place that may, or may not, be the array that another name "
                "holds; which one is only known when the graph runs",
                location=here(),
                remedy="give the name an array of its own before: y = y.copy()",
            )
        found.append((other, when))
    return found
