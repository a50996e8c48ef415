"""The exceptions graphify raises, and how each comes to name the user's line.

    GraphifyError
     +- SyntaxUnsupported       (NotImplementedError)  a construct that cannot be converted
     +- TraceError              (RuntimeError)         tracing could not go on
     |   +- ConcreteValueNeeded (TypeError)            Python asked a symbolic tensor for its value
     |   +- LeakedTracer                               a symbolic tensor outlived its trace
     |   +- DeepRecursion       (RecursionError)       calls nest deeper than tracing can follow
     +- SpecError               (TypeError)            dtypes or operands an op cannot take
     +- DTypeError              (TypeError)            dtypes that NumPy does not take, either
     +- ShapeError              (ValueError)           shapes that do not fit together
     +- InvalidArgumentError    (ValueError)           a graphify.debugging check failed
     +- TransformError          (NotImplementedError)  an op has no derivative or batched form
     +- LoweringError           (NotImplementedError)  an engine has no form for an op
     +- PassError               (RuntimeError)         an optimiser pass broke the graph
     +- ExportError             (RuntimeError)         a graph cannot be written out
     +- InternalError           (RuntimeError)         graphify broke its own rule: please report

Errors of running ops keep the class NumPy or Python gives them (IndexError, ValueError,
ZeroDivisionError, ...); `at` adds the user's file and line to their message. What the user's own
`raise` raises keeps its text.
"""

from __future__ import annotations

import contextlib
from typing import Any


class GraphifyError(Exception):
    """Root of graphify's own errors.

    Args:
        message: what went wrong: argument, expected, got.
        location: the user's source location (`graphify.location.SourceLoc`), if known.
        remedy: one line that says what to write instead.
    """

    def __init__(self, message: str, *, location: Any = None, remedy: str | None = None) -> None:
        self.message, self.location, self.remedy = message, _resolved(location), remedy
        super().__init__(compose(message, self.location, remedy))


class SyntaxUnsupported(GraphifyError, NotImplementedError):
    """A Python construct that cannot be converted."""


class TraceError(GraphifyError, RuntimeError):
    """Tracing could not go on."""


class ConcreteValueNeeded(TraceError, TypeError):
    """Python asked for the value of a tensor that is only known at run time."""


class LeakedTracer(TraceError):
    """A symbolic tensor was used after, or outside, the trace that made it."""


class DeepRecursion(TraceError, RecursionError):
    """Calls of a function nest deeper than tracing can follow, usually without end."""


class IntegerOverflow(TraceError, OverflowError):
    """A traced Python integer is too large for 64 bits; Python's own are not bounded."""


class SpecError(GraphifyError, TypeError):
    """Operand dtypes or argument kinds an op cannot take."""


class DTypeError(GraphifyError, TypeError):
    """Operand dtypes that NumPy does not take, either."""


class ShapeError(GraphifyError, ValueError):
    """Shapes that do not fit together."""


class InvalidArgumentError(GraphifyError, ValueError):
    """A check of `graphify.debugging` failed."""


class TransformError(GraphifyError, NotImplementedError):
    """An op has no derivative, or no form for a batch of operands."""


class LoweringError(GraphifyError, NotImplementedError):
    """An engine or export format has no form for an op."""


class PassError(GraphifyError, RuntimeError):
    """An optimiser pass failed or broke the graph's law."""


class ExportError(GraphifyError, RuntimeError):
    """A function or module cannot be written out."""


class InternalError(GraphifyError, RuntimeError):
    """graphify broke one of its own rules."""


# What says that graphify cannot go on, where plain Python might have. The other classes are raised
# where NumPy raises, too.
REFUSALS: tuple[type[Exception], ...] = (
    SyntaxUnsupported,
    TraceError,
    SpecError,
    TransformError,
    LoweringError,
    PassError,
    InternalError,
    RecursionError,
)


def text_of(value: Any) -> str:
    """`repr` for messages, also of integers too long for Python to print."""
    if type(value) is int and value.bit_length() > 1024:
        return f"<integer of {value.bit_length()} bits>"
    return repr(value)


def compose(message: str, location: Any = None, remedy: str | None = None) -> str:
    """The full text of an error: message, user code, remedy."""
    lines = [message]
    if location is not None:
        lines += ["in user code:", *("    " + line for line in location.describe().splitlines())]
    if remedy:
        lines.append(f"remedy: {remedy}")
    return "\n".join(lines)


def _resolved(location: Any) -> Any:
    """A location with its file and line, whichever of the two forms of graphify.location it has."""
    return location.resolve() if hasattr(location, "resolve") else location


def at(error: BaseException, location: Any) -> BaseException:
    """`error` again, of the same class, its message naming the user's line.

    An error that already names a line is returned as it is. What the user's own `raise` or `assert`
    raises keeps its text and gets the line as a note, and so does a class whose constructor does
    not take one message.
    """
    if location is None or getattr(error, "location", None) is not None:
        return error
    location = _resolved(location)
    if isinstance(error, GraphifyError):
        again = type(error)(error.message, location=location, remedy=error.remedy)
        return again.with_traceback(error.__traceback__)
    located = error if getattr(error, "users_own", False) else _located(error, location)
    if located is error:
        error.add_note(compose("", location).lstrip("\n"))
    note(located, location=location)
    return located.with_traceback(error.__traceback__)


def _located(error: BaseException, location: Any) -> BaseException:
    """A new error of the class whose text names the line; the error itself where that cannot be."""
    message = str(error)
    try:
        located = type(error)(compose(message, location))
        if str(located) != compose(message, location):
            return error
    except TypeError:
        return error
    note(located, message=message)
    return located


def note(error: BaseException, **facts: Any) -> None:
    """Keep facts with an error, of whatever class, as attributes; one without a `__dict__` goes
    without."""
    with contextlib.suppress(AttributeError):
        for name, fact in facts.items():
            setattr(error, name, fact)


def own(error: BaseException) -> BaseException:
    """Note that the user's own code raises an error: its text is theirs."""
    if not isinstance(error, GraphifyError):
        note(error, users_own=True)
    return error
