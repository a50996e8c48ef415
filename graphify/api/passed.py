"""Where the leaves of a call's arguments are, for an entry point that takes arguments apart itself.

    passed = Passed(signature, call, args, kwargs)
    passed.leaves        # [(0, x), (2, weights["w"]), (None, 0.5)]: positions and what is there
    passed.opened        # the containers on the way

Positions count positional arguments, then those by keyword, then the elements of `opened`, in turn.
Nothing has a position that no caller passed.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from graphify import tree
from graphify.engines.native.entry.room import Opened, Read
from graphify.tracing.guards import SCALARS
from graphify.tracing.signature import Call, is_array


class NotQuick(Exception):
    """Something the entry point does not know how to do."""


class Passed:
    """The arguments of a call as they were passed.

    Attributes:
        leaves, opened: see above.
        sources: the position, or positions, of what is passed for each parameter.

    Raises:
        NotQuick: arguments were converted on the way, or containers are of other kinds than tuples,
            lists and dicts with strings as keys.
    """

    def __init__(
        self,
        signature: inspect.Signature,
        call: Call,
        args: Sequence[Any],
        kwargs: dict[str, Any],
    ) -> None:
        self.count, self.names = len(args), tuple(kwargs)
        self.leaves: list[tuple[int | None, Any]] = []
        self.opened: list[Opened] = []
        self._things: list[Any] = [*args, *kwargs.values()]
        by_name = {name: self.count + i for i, name in enumerate(self.names)}
        self.sources: dict[str, Any] = signature.bind(*range(self.count), **by_name).arguments
        for name, value in call.bound.items():
            self._parameter(value, self.sources.get(name))
        self.total = len(self._things)
        found = [leaf for _, leaf in self.leaves]
        if len(found) != len(call.leaves) or any(map(_differ, found, call.leaves)):
            raise NotQuick

    def _parameter(self, value: Any, source: Any) -> None:
        """The value of a parameter, and the position, or positions, that it comes from."""
        if isinstance(source, int):
            self._walk(value, source)
        elif isinstance(source, tuple):
            for element, position in zip(value, source, strict=True):
                self._walk(element, position)
        elif isinstance(source, dict):
            for name, element in value.items():
                self._walk(element, source[name])
        else:
            self._default(value)

    def _default(self, value: Any) -> None:
        """One that nobody passed: it is what it is, unless somebody can change it."""
        if type(value) is tuple:
            for element in value:
                self._default(element)
        elif type(value) in SCALARS:
            self.leaves.append((None, value))
        elif not (type(value) is dict and not value):  # no further keywords
            raise NotQuick

    def _walk(self, value: Any, position: int) -> None:
        if self._things[position] is not value:
            raise NotQuick
        if is_array(value) or not tree.is_container(value):
            self.leaves.append((position, value))
            return
        elements = elements_of(value)
        first = len(self._things)
        self._things += elements
        keys = tuple(value) if isinstance(value, dict) else ()
        read = Read("argument", None, position)
        self.opened.append(Opened(read, type(value), len(elements), keys))
        for index, element in enumerate(elements):
            self._walk(element, first + index)


def bound(sources: Mapping[str, Any], passed: Sequence[Any]) -> dict[str, Any]:
    """The parameters that get a value, in a call to which this is passed.

    Args:
        sources: see `Passed`.
    """
    return {name: _chosen(source, passed) for name, source in sources.items()}


def _chosen(source: Any, passed: Sequence[Any]) -> Any:
    if isinstance(source, dict):
        return {name: passed[position] for name, position in source.items()}
    if isinstance(source, tuple):
        return tuple(passed[position] for position in source)
    return passed[source]


def _differ(a: Any, b: Any) -> bool:
    return a is not b


def elements_of(value: Any) -> list[Any]:
    """What is in a container, if machine code can take it apart."""
    kind: Any = type(value)
    if kind is list or issubclass(kind, tuple) and kind.__iter__ is tuple.__iter__:
        return list(value)
    if kind is dict and all(type(key) is str for key in value):
        return list(value.values())
    raise NotQuick
