"""Paths of a trace that do not get to their end: in an error, or in a call not yet traced itself.

reached(lambda: fact(n - 1))     # UNKNOWN where `fact` is being traced for the first time
raising(lambda: x[7])            # UNREACHABLE where x is shorter; recorded: the run raises it
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphify.autograph.operators.undefined import UNREACHABLE, Unreachable
from graphify.errors import REFUSALS
from graphify.ir.context import current_builder
from graphify.ops import effects
from graphify.tracing.tracebacks import is_users, place_of


class Unknown(BaseException):
    """A recursive call is met whose result nobody knows yet: this path is left out for now.

    No `Exception`: the user's own handlers, and loops that may be unrolled, are not concerned.

    Args:
        raises: whether the path leaves out no more than such calls, and the others raise.
    """

    def __init__(self, raises: bool = False) -> None:
        self.raises = raises


class Ended(BaseException):
    """Every path of a statement raises, as recorded: what comes after it is not traced.

    No `Exception`: no handler of the user's catches it.
    """

    def __init__(self) -> None:
        self.builder = current_builder()


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


def ending(run: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What a path gives, UNREACHABLE if all its branches raise."""
    try:
        return run(*args, **kwargs)
    except Ended as ended:
        if ended.builder is not current_builder():
            raise
        return UNREACHABLE


def raising(run: Callable[..., Any], *args: Any) -> Any:
    """What a path gives. An error in it is the program's own, to be raised if the run takes the
    path; one that says that the path cannot be traced is raised now."""
    try:
        return ending(run, *args)
    except REFUSALS:
        raise
    except Exception as error:
        effects.raise_at(error, place_of(error), is_users(error))
        return UNREACHABLE
