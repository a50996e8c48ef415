"""Containers that change through a name of which only the run knows which one it stands for.

    m = a if c else b      # at first a third list, with the elements of one of them
    m.append(v)            # cannot be had of a copy: the trace is given up, and made again, and
                           # now m is a choice of a and b: the append is a branch for each

Copies are what most code is best off with, so a place keeps containers apart only once a trace has
failed for the copies that were made there. Lists that are too many to be kept apart become rows of
one buffer, where they are made:

    near = [[] for _ in range(100)]
    near[k].append(v)

And a dict or set that gets a key which only the run knows becomes a table (operators/tables.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextvars import ContextVar
from typing import Any, TypeVar

from graphify.errors import GraphifyError, note
from graphify.ir.tensor import Tensor
from graphify.location import LazyLoc, here

T = TypeVar("T")

ROWS = "rows"  # of places where lists are made that are to be rows
TABLES = "tables"  # of places where dicts and sets are made whose keys only the run knows

_places: ContextVar[frozenset[Any]] = ContextVar("graphify_kept_apart", default=frozenset())


def is_kept() -> bool:
    """Whether containers of which the code at hand picks one are kept apart."""
    places = _places.get()
    place = here() if places else None
    return place is not None and place.resolve() in places


def are_rows() -> bool:
    """Whether lists in a list that the code at hand makes are the rows of a buffer."""
    return _are(ROWS)


def are_tables() -> bool:
    """Whether the run knows the keys of a dict or set that the code at hand makes."""
    return _are(TABLES)


def _are(what: str) -> bool:
    places = _places.get()
    place = here() if places else None
    return place is not None and (what, place.resolve()) in places


def instead_of(error: GraphifyError, copied: Iterable[LazyLoc | None]) -> GraphifyError:
    """An error that there would not be if no containers had been copied at these places."""
    note(error, copied=frozenset(place.resolve() for place in copied if place is not None))
    return error


def instead_of_lists(error: GraphifyError, made: LazyLoc) -> GraphifyError:
    """An error that there would not be if the lists in a list, made at a place, were rows."""
    note(error, copied=frozenset([(ROWS, made.resolve())]))
    return error


def instead_of_dicts(error: GraphifyError, made: Iterable[LazyLoc]) -> GraphifyError:
    """An error that there would not be if dicts or sets, made at these places, were tables."""
    note(error, copied=frozenset((TABLES, place.resolve()) for place in made))
    return error


def _missing(error: Exception) -> frozenset[Any]:
    copied: frozenset[Any] = getattr(error, "copied", frozenset())
    return copied - _places.get()


def helps(error: Exception) -> bool:
    """Whether a trace that keeps more containers apart may do without an error."""
    return bool(_missing(error))


def retracing(trace: Callable[[], T]) -> T:
    """A trace, made again with containers kept apart wherever that may do without its error."""
    token = _places.set(_places.get())
    try:
        while True:
            try:
                return trace()
            except Exception as error:
                more = _missing(error)
                if not more:
                    raise
                _places.set(_places.get() | more)
    finally:
        _places.reset(token)


def can_change(values: Iterable[Any]) -> bool:
    """Whether one of some values is an array or container, or holds one."""
    from graphify.tracing import identity  # it raises the errors

    arrays = any(isinstance(v, Tensor) and v.ndim > 0 for v in values)
    return arrays or any(True for value in values for _ in identity.parts(value))
