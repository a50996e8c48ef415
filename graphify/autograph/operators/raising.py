"""assert, raise and except: at once where Python decides, as effects where the run does."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from graphify.autograph.operators import texts
from graphify.autograph.operators.conditions import is_staged, truth
from graphify.autograph.operators.undefined import UNREACHABLE
from graphify.errors import REFUSALS, GraphifyError, at, own
from graphify.ir.bind import Tensor, current_builder
from graphify.location import here
from graphify.ops import effects


def assert_(test: Any, message: Callable[[], Any] | None = None) -> None:
    """The assert statement; a staged one raises AssertionError when the run gets there."""
    if is_staged(test):
        pieces, values = _message(() if message is None else (message(),))
        error = effects.Raise(AssertionError, pieces, own=True)
        effects.assert_(truth(test), *values, exception=error)
    elif not test:
        raise AssertionError(*(() if message is None else (texts.plain(message()),)))


def raise_(exception: Any, cause: Any = None) -> Any:
    """The raise statement. Under a staged branch the error is raised only if the branch runs."""
    builder = current_builder()
    if builder is None or builder.parent is None:
        error = exception() if isinstance(exception, type) else exception
        if isinstance(error, BaseException):
            error.args = tuple(map(texts.plain, error.args))
            own(error)
        location = here()
        error = (
            at(error, location.resolve() if location else None)
            if builder is not None and isinstance(error, BaseException)
            else error
        )
        raise error from cause
    kind, args = (
        (exception, ()) if isinstance(exception, type) else (type(exception), exception.args)
    )
    pieces, values = _message(args)
    effects.raise_(*values, exception=effects.Raise(kind, pieces, own=True))
    return UNREACHABLE


def catching(kinds: Any = BaseException) -> Any:
    """What an `except` clause of these classes catches: no refusal to go on with the trace, unless
    it asks for errors of graphify. Plain Python might not have failed there at all."""
    if current_builder() is None or not isinstance(sys.exception(), REFUSALS):
        return kinds
    asked_for = any(issubclass(kind, GraphifyError) for kind in _classes(kinds))
    return kinds if asked_for else ()


def _classes(kinds: Any) -> list[type]:
    """The classes in an `except` clause, whose tuples may be nested; what is no class is Python's
    to complain about."""
    if isinstance(kinds, tuple):
        return [kind for item in kinds for kind in _classes(item)]
    return [kinds] if isinstance(kinds, type) else []


def _message(args: tuple[Any, ...]) -> tuple[tuple[Any, ...], list[Tensor]]:
    """An exception's arguments with gaps where run-time values go, and those values."""
    values: list[Tensor] = []
    pieces: list[Any] = []
    for arg in args:
        if isinstance(arg, Tensor) and arg.is_symbolic:
            values.append(arg)
            pieces.append(effects.Text((None,), ""))
        elif texts.has_symbols(arg) and isinstance(arg, str):
            found, shown = texts.pieces_of(arg)
            values += shown
            pieces.append(effects.Text(tuple(found), ""))
        else:
            pieces.append(arg)
    return tuple(pieces), values
