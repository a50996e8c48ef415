"""What of an error the user gets to see: their own frames, the operands by name, a remedy.

    try:
        run()
    except BaseException as error:
        show(error)
        raise                   # bare: this frame is not added to the traceback again

`show` takes graphify's frames out of the traceback. An error of the run has none of the frames that
were there when its line was traced: stand-ins for them are made, so that the traceback, `pdb`'s
post mortem and an editor show the chain of the user's calls down to the line that failed.
`GRAPHIFY_FULL_TRACEBACK=1` leaves the traceback as it is.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any, TypeVar, cast

import gast

from graphify.config import config
from graphify.errors import GraphifyError, compose, note
from graphify.ir.context import current_builder
from graphify.location import LazyLoc, SourceLoc, is_internal
from graphify.syntax.loader import is_part
from graphify.tracing.operands import operands_of
from graphify.tracing.remedies import remedy_for

F = TypeVar("F", bound=Callable[..., Any])
MACHINERY = (ast.__file__, gast.__file__, inspect.__file__)  # what conversion runs on
DEEP = 100  # calls of the user's that a stand-in traceback shows
_UNBOUND = re.compile(r"[\w.<>]+\(\) (missing|takes|got (an unexpected|multiple values|some)) ")


def user_facing(function: F) -> F:
    """A function of the public interface: errors leave it as the user gets to see them. In a trace
    they are on their way still, and left as they are."""

    @functools.wraps(function)
    def shown(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except BaseException as error:
            if current_builder() is None:
                show(error)
            raise

    return cast(F, shown)


def show(error: BaseException) -> None:
    """Make an error what the user gets to see; once more changes nothing."""
    entries = list(_entries(error.__traceback__))
    if isinstance(error, Exception):
        _complete(error)
    if config.full_traceback:
        return
    chain = _stand_ins(error, entries)
    for kept in reversed(_of_users(entries)):
        chain = TracebackType(chain, kept.tb_frame, kept.tb_lasti, kept.tb_lineno)
    error.__traceback__ = chain
    _show_causes(error)


def _entries(traceback: TracebackType | None) -> Iterator[TracebackType]:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


def _is_users(entry: TracebackType) -> bool:
    filename = entry.tb_frame.f_code.co_filename
    return not is_internal(filename) and not filename.startswith(MACHINERY)


def _of_users(entries: Sequence[TracebackType]) -> list[TracebackType]:
    """The entries to show: of a function and the parts that converters made of it, the innermost
    alone."""
    kept: list[TracebackType] = []
    for entry in filter(_is_users, entries):
        if kept and is_part(entry.tb_frame.f_code):
            kept.pop()
        kept.append(entry)
    return kept


# --- the text -----------------------------------------------------------------------------------


def _complete(error: Exception) -> None:
    """Add operands and a remedy to the text of an error that names the user's line."""
    if is_users(error):
        return
    place, message = place_of(error), getattr(error, "message", None)
    if place is None or message is None and getattr(error, "location", None) is not None:
        return
    if message is None:
        message = str(error)
    note(error, location=place, message=message)
    remedy = getattr(error, "remedy", None) or remedy_for(error, message)
    text = compose(message, place, remedy)
    if isinstance(error, GraphifyError):
        error.remedy = remedy
    if hasattr(error, "_msg"):  # NumPy's AxisError, which keeps its text there
        error._msg = text
    before, error.args = error.args, (text, *error.args[1:])
    if str(error) != text:  # a class that makes its text of other things
        error.args = before
        note(error, message=None)
        error.add_note(compose("", place, remedy).lstrip("\n"))


def place_of(error: BaseException) -> SourceLoc | None:
    """The user's line that an error came from: the one it names, or the innermost of its
    traceback. With the operands, if the frame of that line is still there."""
    users = _of_users(list(_entries(error.__traceback__)))
    place = getattr(error, "location", None)
    if not isinstance(place, SourceLoc):
        if not users:
            return None
        place = _place(users[-1])
    for entry in reversed(users):
        if _is_at(entry, place) and (inputs := operands_of(entry.tb_frame, place)):
            return replace(place, inputs=inputs)
    return place


def is_users(error: BaseException) -> bool:
    """Whether the user's own code raised an error, or Python did for it."""
    if hasattr(error, "users_own") or getattr(error, "message", None) is not None:
        return hasattr(error, "users_own")
    if type(error) is TypeError and _UNBOUND.match(str(error)):
        return True  # a call whose arguments do not fit, wherever it was made from
    entries = list(_entries(error.__traceback__))
    return not entries or _is_users(entries[-1])


def _place(entry: TracebackType) -> SourceLoc:
    return LazyLoc(entry.tb_frame.f_code, entry.tb_lasti, entry.tb_lineno).resolve()


def _is_at(entry: TracebackType, place: SourceLoc) -> bool:
    code = entry.tb_frame.f_code
    return (code.co_filename, entry.tb_lineno) == (place.file, place.line)


# --- the traceback ------------------------------------------------------------------------------


def _stand_ins(error: BaseException, entries: Sequence[TracebackType]) -> TracebackType | None:
    """Frames for the lines that an error of the run came from; None if the real ones are there."""
    place = getattr(error, "location", None)
    users = [entry for entry in entries if _is_users(entry)]
    if not isinstance(place, SourceLoc) or any(_is_at(entry, place) for entry in users):
        return None
    chain = None
    for caller in reversed(place.chain[-DEEP:]):
        entry = _stand_in(caller)
        chain = TracebackType(chain, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return chain


def _stand_in(place: SourceLoc) -> TracebackType:
    """The traceback of a `raise` at a place of the user's code, in a function of that name."""
    what = ast.Name("error", ast.Load())
    statement = ast.Raise(what, None)
    for node in (statement, what):
        node.lineno, node.end_lineno = place.line, place.last or place.line
        node.col_offset, node.end_col_offset = place.start or 0, place.end or 0
    code = compile(ast.Module([statement], []), place.file, "exec", dont_inherit=True)
    code = code.replace(co_name=place.function, co_qualname=place.function)
    try:
        exec(code, {"error": _Here})
    except _Here as error:
        (*_, entry) = _entries(error.__traceback__)
        return entry
    raise AssertionError("a raise does not raise")


class _Here(Exception):
    """Raised for its traceback."""


def _show_causes(error: BaseException) -> None:
    """Likewise for what an error came from; what failed in graphify alone is left out."""
    seen = {id(error)}
    while True:
        cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        if cause is None or id(cause) in seen:
            return
        seen.add(id(cause))
        if not is_users(error) and not is_users(cause):
            with contextlib.suppress(AttributeError):
                error.__cause__ = cause.__cause__
                error.__context__ = cause.__context__
                error.__suppress_context__ = cause.__suppress_context__
            continue
        show(cause)
        return
