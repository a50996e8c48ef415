"""Paths of a trace that end in something not known yet: the result of a recursive call.

reached(lambda: fact(n - 1))     # UNKNOWN where `fact` is being traced for the first time
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphify.autograph.operators.undefined import Unreachable


class Unknown(BaseException):
    """A recursive call is met whose result nobody knows yet: this path is left out for now.

    No `Exception`: the user's own handlers, and loops that may be unrolled, are not concerned.
    """


class UnknownPath(Unreachable):
    """What a path left out for now gives; joins with anything."""

    __slots__ = ()


UNKNOWN = UnknownPath()


def reached(run: Callable[..., Any], *args: Any) -> Any:
    """What a path gives, UNKNOWN if it is left out."""
    try:
        return run(*args)
    except Unknown:
        return UNKNOWN
