"""Containers that a trace keeps in lists: deques (deques.py), dicts and sets (tables.py).

Branches and loops make them anew of the same lists, which are carried and joined as any others
(lists.py). So a container is told from others by a list of its own.
"""

from __future__ import annotations

import contextlib
from typing import Any

from graphify.ir.context import current_builder
from graphify.ir.tensor import resolve, value_needed
from graphify.ir.wrapping import as_tensor
from graphify.tracing.capture import root_of
from graphify.tracing.identity import kept_in_lists
from graphify.tracing.lists import List


class Listed:
    """A container that is kept in lists.

    Attributes:
        standing_for: the class that it is an instance of in plain Python.
    """

    __slots__ = ("__weakref__",)

    standing_for: type

    def __init_subclass__(cls) -> None:
        kept_in_lists.add(cls)

    def __init__(self) -> None:
        builder = current_builder()
        root = root_of(builder)
        if root is not None and builder is not None:  # nobody else's: its fields need no guards
            root.local_objects[id(self)] = (self, builder.home)

    @property
    def whole(self) -> List:
        """The list that tells it from other containers."""
        raise NotImplementedError

    @property
    def size(self) -> Any:
        """The number of elements as a Python int, known now or by the run."""
        raise NotImplementedError

    def __len__(self) -> int:
        size = self.size
        if not isinstance(size, int):
            what = f"the length of a {self.standing_for.__name__}, which is that"
            raise value_needed(resolve(as_tensor(size)), what)
        return size

    def __bool__(self) -> bool:
        return len(self) > 0

    def members(self) -> Any:
        """Its elements, in a list of their own."""
        raise NotImplementedError

    def line(self) -> Any:
        """The same, for what goes over them one by one."""
        return self.members()

    def gone_over(self) -> contextlib.AbstractContextManager[None]:
        """While a loop goes over it."""
        return contextlib.nullcontext()


def identity(value: Any) -> Any:
    """What is one where containers are."""
    return value.whole if isinstance(value, Listed) else value


def opened(value: Any) -> Any:
    """A container as a list of its elements; anything else as it is."""
    return value.members() if isinstance(value, Listed) else value
