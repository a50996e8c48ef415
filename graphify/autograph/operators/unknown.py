"""Paths of a trace that do not get to their end: in an error, or in a call not yet traced itself.

reached(lambda: fact(n - 1))     # UNKNOWN where `fact` is being traced for the first time
raising(lambda: x[7])            # UNREACHABLE where x is shorter; recorded: the run raises it
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphify.autograph.operators.undefined import UNREACHABLE, Unreachable
from graphify.errors import REFUSALS
from graphify.ops import effects
from graphify.tracing.tracebacks import is_users, place_of


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


def raising(run: Callable[..., Any], *args: Any) -> Any:
    """What a path gives. An error in it is the program's own, to be raised if the run takes the
    path; one that says that the path cannot be traced is raised now."""
    try:
        return run(*args)
    except REFUSALS:
        raise
    except Exception as error:
        effects.raise_at(error, place_of(error), is_users(error))
        return UNREACHABLE
