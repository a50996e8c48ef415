"""assert, raise and except: at once where Python decides, as effects where the run does."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from graphify import tree
from graphify.autograph.operators import texts
from graphify.autograph.operators.branches import if_exp
from graphify.autograph.operators.choice import Choice
from graphify.autograph.operators.choosing import over
from graphify.autograph.operators.conditions import decider, is_staged, truth
from graphify.autograph.operators.thrown import (
    NO_EXCEPTION,
    Alternative,
    Catch,
    Pending,
    refuse_hidden,
    throw,
)
from graphify.autograph.operators.undefined import UNREACHABLE
from graphify.autograph.operators.unknown import Unknown
from graphify.errors import REFUSALS, GraphifyError, TraceError, at, own
from graphify.ir.bind import bind
from graphify.ir.context import current_builder
from graphify.ir.tensor import Tensor
from graphify.location import KnownLoc, SourceLoc, here
from graphify.ops import effects
from graphify.tracing.tracebacks import is_users


def assert_(test: Any, message: Callable[[], Any] | None = None) -> None:
    """The assert statement; a staged one raises AssertionError when the run gets there."""
    test = decider(test)
    if is_staged(test):
        pieces, values = _message(() if message is None else (message(),))
        error = effects.Raise(AssertionError, pieces, own=True)
        effects.assert_(truth(test), *values, exception=error)
    elif not test:
        raise own(AssertionError(*(() if message is None else (message(),))))


def assertion_error(*message: Any) -> AssertionError:
    """What an assert statement within a `try` raises, whatever its name stands for there."""
    return AssertionError(*message)


def raise_(exception: Any, cause: Any = None) -> Any:
    """The raise statement. Under a staged branch the error is raised only if the branch runs."""
    if isinstance(exception, Pending):
        return _raise_pending(exception.rest)
    if isinstance(exception, Catch) and exception.current is not None:
        return _raise_pending([exception.current])
    for part, again in (
        (exception, lambda one: raise_(one, cause)),
        (cause, lambda one: raise_(exception, one)),
    ):
        if type(part) is Choice:
            over(part, again)
            return UNREACHABLE
    builder = current_builder()
    if builder is None or builder.parent is None:
        error = exception() if isinstance(exception, type) else exception
        if isinstance(error, BaseException):
            own(error)
        location = here()
        error = (
            at(error, location.resolve() if location else None)
            if builder is not None and isinstance(error, BaseException)
            else error
        )
        throw(error, cause)
    error = exception() if isinstance(exception, type) else exception
    if isinstance(error, (*REFUSALS, Unknown, StopIteration)):  # the last: to who asked for an item
        throw(error, cause)
    if not isinstance(error, BaseException):
        error = TypeError(NO_EXCEPTION)
    values: list[Tensor] = []
    what = _what(error, cause, values)
    effects.raise_(*values, exception=what)
    return UNREACHABLE


def raised_at_the_run(error: Exception, place: SourceLoc | None, exact: bool) -> bool:
    """Record that a function always raises an exception, where only the run has its values or does
    what comes before; False for one that tracing may raise itself.

    Args:
        exact: the sizes and numbers are those of the call, so that an op fails as NumPy's does.
    """
    builder = current_builder()
    assert builder is not None
    own = getattr(error, "users_own", False) or isinstance(error, UnboundLocalError)
    before = (own or exact) and any(node.effects for node in builder.nodes)
    if isinstance(error, (*REFUSALS, Unknown)) or not (before or texts.has_symbols(error)):
        return False
    if not own and not texts.has_symbols(error):
        effects.raise_at(error, place, is_users(error))
        return True
    values: list[Tensor] = []
    what = _what(error, None, values)
    bind(effects.raise_, values, {"exception": what}, source=KnownLoc(place) if place else None)
    return True


def _raise_pending(alternatives: list[Alternative]) -> Any:
    """Raise again what is pending, each as of the line where it was raised."""
    if not alternatives:
        return UNREACHABLE
    first, *rest = alternatives
    if current_builder() is None:
        throw(first.build())
    if not rest or not is_staged(first.flag):
        return _raise_at(first)
    if_exp(first.flag, lambda: _raise_at(first), lambda: _raise_pending(rest))
    return UNREACHABLE


def _raise_at(alternative: Alternative) -> Any:
    """Raise again, from where it was raised first."""
    error, place = alternative.build(), alternative.location
    if place is None:
        return raise_(error)
    builder = current_builder()
    if builder is None or builder.parent is None or isinstance(error, (*REFUSALS, Unknown)):
        return raise_(at(own(error), place))
    values: list[Tensor] = []
    what = _what(error, None, values)
    bind(effects.raise_, values, {"exception": what}, source=place)
    return UNREACHABLE


def _what(error: BaseException, cause: Any, values: list[Tensor]) -> effects.Raise:
    """What to raise at the run; its run-time values are added to a list."""
    refuse_hidden(error)
    args = tuple(_part(arg, values) for arg in error.args)
    fields = tuple((name, _part(value, values)) for name, value in texts.own_fields(error).items())
    cause = error.__cause__ if cause is None else cause() if isinstance(cause, type) else cause
    because = None if cause is None else _what(cause, None, values)
    return effects.Raise(type(error), args, own=True, fields=fields, cause=because)


def catching(kinds: Any = BaseException) -> Any:
    """What an `except` clause of these classes catches: no refusal to go on with the trace, unless
    it asks for errors of graphify. Plain Python might not have failed there at all."""
    if current_builder() is not None and isinstance(sys.exception(), Unknown):
        return ()
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
    return tuple(_part(arg, values) for arg in args), values


def _part(arg: Any, values: list[Tensor]) -> Any:
    """An argument with gaps where run-time values go; these are added to a list."""
    if isinstance(arg, Tensor) and arg.is_symbolic:
        values.append(arg)
        return effects.Gap("", False, texts.kind_of(arg))
    if not texts.has_symbols(arg):
        return arg
    if isinstance(arg, BaseException):
        return _what(arg, None, values)
    if isinstance(arg, str):
        pieces, shown = texts.pieces_of(arg)
        values += shown
        return effects.Text(tuple(pieces), "")
    leaves, treedef = tree.flatten(arg)
    if treedef == tree.LEAF:
        raise TraceError(
            f"an exception or message holds a {type(arg).__name__} with values that only the run "
            "knows",
            location=here(),
            remedy="give it a list, tuple or dict of Python's own",
        )
    return effects.Nested(treedef, tuple(_part(leaf, values) for leaf in leaves))
