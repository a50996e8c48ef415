"""The contents of a Python container as a place that staged control flow can read and write."""

from __future__ import annotations

import gc
import sys
from dataclasses import dataclass
from types import CellType
from typing import Any

from graphify.errors import TraceError
from graphify.ir.context import current_builder
from graphify.ir.graph import Builder
from graphify.location import here
from graphify.tracing import apart, identity


@dataclass(frozen=True, slots=True, eq=False)
class Contents:
    """The contents of a list, dict or set, as a place that can be written."""

    holder: Any

    @property
    def key(self) -> tuple[int, str]:
        return (id(self.holder), "contents")

    def read(self) -> Any:
        return getattr(self.holder, "snapshot", self.holder.copy)()

    def write(self, value: Any) -> None:
        become = getattr(self.holder, "become", None)  # a list that the trace itself made
        if become is not None:
            become(value)
        elif isinstance(self.holder, list):
            if type(value).__len__ is not list.__len__:
                raise TraceError(
                    "a list that converted code did not make has a length that is only known when "
                    "the graph runs",
                    location=here(),
                    remedy="work on a copy of it: rows = list(rows)",
                )
            self.holder[:] = value
        else:
            self.holder.clear()
            self.holder.update(value)

    def is_local(self) -> bool:
        """Whether only the log still knows the container: it was made and dropped in the frame."""
        return sys.getrefcount(self.holder) <= 2

    def __str__(self) -> str:
        return f"a {type(self.holder).__name__}"


def seal(thing: Any, around: Any = None) -> None:
    """From now on a container or object cannot change: what it holds was copied here."""
    identity.sealed()[id(thing)] = identity.Sealed(thing, here(), around=around)


def check_changeable(thing: Any) -> None:
    """Raise if a container or object is sealed, or is one of several (see identity.py)."""
    sealed = identity.sealed()
    if places := [sealed[key].place for key in identity.may_be(thing) if key in sealed]:
        error = TraceError(
            f"a {type(thing).__name__} changes that is, or was, an element of a list whose length "
            "is only known when the graph runs: the list holds a copy of it",
            location=here(),
            remedy="write to it by way of the list, rows[i][j] = value, without another name; or "
            "put a changed one in its place",
        )
        raise apart.instead_of(error, places)
    identity.check(thing)


def log_contents(container: Any) -> None:
    """Log that a container is about to change, so that staged control flow can carry it."""
    check_changeable(container)
    builder = current_builder()
    if builder is not None and (builder.parent is not None or builder.section is not None):
        place = Contents(container)
        builder.log_write(place.key, place, place.read(), builder.parent is not None)


def log_change(container: Any, before: Any) -> None:
    """Log that a container has changed, with a copy of what it was."""
    check_changeable(container)
    builder = current_builder()
    if builder is not None and (builder.parent is not None or builder.section is not None):
        place = Contents(container)
        builder.log_write(place.key, place, before, builder.parent is not None)


def forget_local(builder: Builder, thoroughly: bool = False) -> None:
    """Drop from the write log the containers and closure cells that the frame made and dropped.

    Args:
        thoroughly: find those in reference cycles, too: a recursive function that fills a table. An
            exception that was caught is in one with the frames that it went through.
    """
    _forget_dropped(builder)
    cycles = thoroughly or builder.outermost.has_caught
    if cycles and any(_can_be_local(target) for target, _ in builder.writes.values()):
        gc.collect()
        _forget_dropped(builder)


def _forget_dropped(builder: Builder) -> None:
    writes = builder.writes
    while local := [key for key, (target, _) in writes.items() if _is_local(target, builder)]:
        for key in local:  # a container may hold another one: look again
            del builder.writes[key]


def _can_be_local(target: Any) -> bool:
    return isinstance(target, Contents) or isinstance(getattr(target, "holder", None), CellType)


def _is_local(target: Any, builder: Builder) -> bool:
    if isinstance(target, Contents):
        own = getattr(target.holder, "home", None) is builder.home
        return own or identity.is_copy_of(target.holder, builder.home) or target.is_local()
    return _can_be_local(target) and sys.getrefcount(target.holder) <= 2
