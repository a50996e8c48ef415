"""Containers that staged control flow copies where Python would hold one of two.

    a, b = {"n": 0}, {"n": 1}
    c = a if s > 0 else b      # in the graph: a third dict, with the numbers of one of them
    c["n"] = 5                 # would have to reach a or b: refused, as long as they can be seen

A copy is as good as what it was made of while nobody changes either, or nobody sees both.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import FrameType, FunctionType, MethodType, ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from graphify import tree
from graphify.errors import TraceError
from graphify.ir.bind import Tensor, current_builder
from graphify.ir.graph import Builder
from graphify.location import here, is_internal

MOST = 2000  # objects looked at for others that show a container


@dataclass(slots=True, eq=False)
class _Copy:
    """A container, of which variable, and the containers that it stands for."""

    name: str
    made: Any
    originals: list[Any]


_copies: WeakKeyDictionary[Builder, list[_Copy]] = WeakKeyDictionary()


def parts(value: Any) -> Iterator[Any]:
    """The containers in a value that can be changed."""
    pending = [value]
    while pending:
        value = pending.pop()
        if isinstance(value, (Tensor, str)) or not tree.is_container(value):
            continue
        parameters = getattr(type(value), "__dataclass_params__", None)
        if isinstance(value, (list, dict)) or parameters is not None and not parameters.frozen:
            yield value
        pending += tree.flatten(value, lambda part, whole=value: part is not whole)[0]  # type: ignore[misc]


def note(name: str, made: Any, ids: Iterable[int]) -> None:
    """Note that a variable is a copy of what had these ids on the paths that met."""
    copies = list(parts(made))
    wanted = set(ids) - set(map(id, copies))
    if not copies or not wanted:
        return
    originals = [seen for seen, _ in _seen() if id(seen) in wanted]
    if originals:
        known = _known()
        older = [o for c in known for o in c.originals if any(c.made is each for each in originals)]
        known += [_Copy(name, each, [*originals, *older]) for each in copies]


def check(thing: Any) -> None:
    """Refuse to change a copy, or what it is a copy of, where both can be seen.

    Raises:
        TraceError: they can.
    """
    for copy in _known():
        if copy.made is thing:
            others, name = copy.originals, copy.name
        elif any(original is thing for original in copy.originals):
            others, name = [copy.made], ""
        else:
            continue
        wanted = set(map(id, others))
        if any(id(seen) in wanted and where != name for seen, where in _seen()):
            what = "this value" if " " in copy.name else f"'{copy.name}'"
            raise TraceError(
                f"{what} is one {type(thing).__name__} or another, depending on the path, and a "
                "change of either would have to be seen through another name, too",
                location=here(),
                remedy="copy it where its name is bound: copy.copy(...)",
            )


def originals_of(ids: Iterable[int]) -> list[int]:
    """The ids of what the copies with these ids stand for."""
    wanted = set(ids)
    return [id(o) for copy in _known() if id(copy.made) in wanted for o in copy.originals]


def may_be_one(a: Any, b: Any) -> bool:
    """Whether two containers may be one in Python, as one is a copy made where paths met."""
    stands_for = [
        {id(thing), *(id(o) for copy in _known() if copy.made is thing for o in copy.originals)}
        for thing in (a, b)
    ]
    return a is not b and not stands_for[0].isdisjoint(stands_for[1])


def _root() -> Builder | None:
    builder = current_builder()
    while builder is not None and builder.parent is not None:
        builder = builder.parent
    return builder


def _known() -> list[_Copy]:
    root = _root()
    return [] if root is None else _copies.setdefault(root, [])


def _seen() -> Iterator[tuple[Any, str]]:
    """What the names of the functions being traced show, with the name if it is that itself."""
    for tracked in getattr(_root(), "tracked", ()):
        yield tracked.twin, ""  # a container of the caller's
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and not frame.f_code.co_filename.endswith("api/tracer.py"):
        if not is_internal(frame.f_code.co_filename):
            for name, value in list(frame.f_locals.items()):
                yield value, name
                yield from ((inside, "") for inside in _inside(value))
        frame = frame.f_back


def _inside(value: Any) -> Iterator[Any]:
    pending, seen = [value], set[int]()
    while pending and len(seen) < MOST:
        value = pending.pop()
        if id(value) in seen or isinstance(value, (Tensor, ModuleType, type, str, int, float)):
            continue
        seen.add(id(value))
        held: list[Any] = []
        if isinstance(value, (list, tuple, set)):
            held = list(value) if type(value).__len__ in _LENGTHS else []
        elif isinstance(value, dict):
            held = list(value.values())
        elif isinstance(value, FunctionType):
            cells = value.__closure__ or ()
            held = [cell.cell_contents for cell in cells if _is_bound(cell)]
        elif isinstance(value, MethodType):
            held = [value.__self__]
        elif hasattr(value, "__dict__"):
            held = list(vars(value).values())
        yield from held
        pending += held


_LENGTHS = (list.__len__, tuple.__len__, set.__len__)  # not those that only the run knows


def _is_bound(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True
