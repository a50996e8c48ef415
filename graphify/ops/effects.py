"""Ops that run for their effect, in program order: print, assert, raise, check.

Their results are nothing; pruning keeps them. State (variables, arguments updated in place) is not
here: updates are values of the graph, written back when the run is over.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

import numpy as np

from graphify import tree
from graphify.errors import GraphifyError, InvalidArgumentError, note, own
from graphify.ir.bind import bind
from graphify.ir.op import defop
from graphify.ir.types import Spec
from graphify.location import KnownLoc, SourceLoc


@dataclass(frozen=True, slots=True)
class Gap:
    """Where a run-time value goes that is not shown as `str` shows it.

    Attributes:
        spec: a format such as ".2f".
        as_repr: shown as in a list.
        kind: what Python would hold: a "number" of its own, a NumPy "scalar", or an "array", a list
            of "numbers" or "scalars"; "text"
            where the bytes of a text are the value (see failing.py).
        inner: the text that goes here, formatted as a whole: `f"{message:>20}"`.
        method: of that text, with its arguments: `message.upper()`.
        percent: the spec is one of `"%5.2f" % value`.
        options: what is shown, where the value is its number: of kind "choice". A text among them
            is shown as it is.

    A gap takes one value and those of its options, or those of its inner text, and then those of a
    spec that is a text.
    """

    spec: str | Text
    as_repr: bool
    kind: str
    inner: Text | None = None
    method: tuple[Any, ...] = ()
    percent: bool = False
    options: tuple[Any, ...] = ()

    @property
    def count(self) -> int:
        """How many values it takes."""
        return self._own + (self.spec.gaps if isinstance(self.spec, Text) else 0)

    @property
    def _own(self) -> int:
        return 1 + _gaps(self.options) if self.inner is None else self.inner.gaps

    def show(self, *values: Any) -> str:
        own = self._own
        python = self.value(values[0]) if self.inner is None else self.inner.format(values[:own])
        if isinstance(python, Text):
            first = 1 + _gaps(self.options[: int(values[0])])
            return python.format(values[first:own])
        spec = self.spec.format(values[own:]) if isinstance(self.spec, Text) else self.spec
        if self.method:
            return str(getattr(python, self.method[0])(*self.method[1:]))
        if self.percent:
            return spec % (python,)
        return repr(python) if self.as_repr else format(python, spec)

    def value(self, value: Any) -> Any:
        """A run-time value as Python would hold it."""
        array = np.asarray(value)
        if self.kind == "text":
            return bytes(array).rstrip(b"\0").decode()
        if self.kind in ("number", "numbers"):
            return array.tolist()
        if self.kind == "choice":
            return self.options[int(array)]
        if self.kind == "scalars":
            return list(array)
        return array if self.kind == "array" else array[()]


@dataclass(frozen=True, slots=True)
class Text:
    """Pieces of a message: strings, and None where the next operand's value goes."""

    pieces: tuple[str | Gap | None, ...]
    separator: str = " "

    def format(self, values: Sequence[Any]) -> str:
        rest = iter(values)
        parts = [p if isinstance(p, str) else _shown(p, rest) for p in self.pieces]
        return self.separator.join(parts)

    @property
    def gaps(self) -> int:
        """How many values the text takes."""
        return sum(takes(piece) for piece in self.pieces if not isinstance(piece, str))


def _gaps(options: Sequence[Any]) -> int:
    """How many values the texts among some options take."""
    return sum(option.gaps for option in options if isinstance(option, Text))


def takes(gap: Gap | None) -> int:
    """How many values go into a gap."""
    return 1 if gap is None else gap.count


def _shown(gap: Gap | None, values: Iterator[Any]) -> str:
    if gap is None:
        return render(next(values))
    return gap.show(*(next(values) for _ in range(gap.count)))


def render(value: Any) -> str:
    """A run-time value as Python's print shows it under NumPy."""
    array = np.asarray(value)
    return str(array[()] if array.ndim == 0 else array)


def no_result(*specs: Spec, **attrs: Any) -> tuple[Spec, ...]:
    return ()


_STREAMS = {"stdout": lambda: sys.stdout, "stderr": lambda: sys.stderr}


def _print_eval(*values: Any, text: Text, end: str, stream: str) -> tuple[()]:
    out = _STREAMS[stream]()
    out.write(text.format(values) + end)
    out.flush()
    return ()


print_ = defop(
    "print",
    spec=no_result,
    eval=_print_eval,
    effects=True,
    tf="print",
    extra={"tuple": True},
    doc="writes run-time values to Python's sys.stdout",
)


@dataclass(frozen=True, eq=False, slots=True)
class Raise:
    """An exception to raise at run time: its class, and its arguments with gaps for operands."""

    kind: type[BaseException]
    # A Text stands for a message with run-time values, a Gap for a value, a Nested for a container
    # and a Raise for an exception with such in them.
    args: tuple[Any, ...]
    # The user's own `raise` or `assert`, whose text stays as it is; an error of graphify's.
    own: bool = field(default=False, repr=False)
    remedy: str | None = field(default=None, repr=False)
    fields: tuple[tuple[str, Any], ...] = field(default=(), repr=False)  # attributes, likewise
    cause: Raise | None = field(default=None, repr=False)
    lanes: int = field(default=0, repr=False)  # so many operands at the end are numbers of lanes

    def build(self, values: Sequence[Any]) -> BaseException:
        error = self._build(iter(values))
        if self.lanes:
            name_lanes(error, [int(v) for v in reversed(values[-self.lanes :])])
        return error

    def _build(self, values: Iterator[Any]) -> BaseException:
        args = [_filled(arg, values) for arg in self.args]
        fields = {name: _filled(value, values) for name, value in self.fields}
        cause = None if self.cause is None else self.cause._build(values)
        if self.remedy is not None and issubclass(self.kind, GraphifyError):
            return self.kind(*args, remedy=self.remedy)
        error = self._instance(args)
        if fields:
            vars(error).update(fields)
        if cause is not None:
            error.__cause__ = cause
        return own(error) if self.own else error

    def _instance(self, args: list[Any]) -> BaseException:
        """The exception; where the user's own __init__ made it, that is not run again."""
        users_own = isinstance(self.kind.__init__, FunctionType)
        if not users_own or issubclass(self.kind, (GraphifyError, np.exceptions.AxisError)):
            return self.kind(*args)
        error = self.kind.__new__(self.kind, *args)
        error.args = tuple(args)
        return error


def name_lanes(error: BaseException, outermost_first: Sequence[int]) -> None:
    """Say in a note which lane of a vmap an error comes from."""
    error.add_note(f"in lane {', '.join(map(str, outermost_first))} of a vmap")
    note(error, lanes=tuple(outermost_first))


def _filled(part: Any, values: Iterator[Any]) -> Any:
    """A part of an exception with its run-time values."""
    if isinstance(part, Text):
        return part.format([next(values) for _ in range(part.gaps)])
    if isinstance(part, Nested):
        return part.treedef.unflatten([_filled(leaf, values) for leaf in part.parts])
    if isinstance(part, Raise):
        return part._build(values)
    return part.value(next(values)) if isinstance(part, Gap) else part


@dataclass(frozen=True, eq=False, slots=True)
class Nested:
    """A container among the arguments of an exception, with gaps in it."""

    treedef: tree.TreeDef
    parts: tuple[Any, ...]


def _raise_eval(*values: Any, exception: Raise) -> tuple[()]:
    raise exception.build(values)


raise_ = defop(
    "raise",
    spec=no_result,
    eval=_raise_eval,
    effects=True,
    tf="raise",
    extra={"tuple": True},
    doc="raises an exception when it is reached",
)


def raise_at(error: Exception, place: SourceLoc | None, users_own: bool) -> None:
    """Record that an error is raised, if the run gets here, as of another place."""
    message = getattr(error, "message", None)
    args = error.args if message is None else (message,)
    what = Raise(type(error), args, users_own, getattr(error, "remedy", None))
    bind(raise_, (), {"exception": what}, source=None if place is None else KnownLoc(place))


def _assert_eval(condition: Any, *values: Any, exception: Raise) -> tuple[()]:
    if not np.all(condition):
        raise exception.build(values)
    return ()


assert_ = defop(
    "assert",
    spec=no_result,
    eval=_assert_eval,
    effects=True,
    tf="assert",
    extra={"tuple": True},
    doc="raises an exception unless every element is true",
)


def _numpy_assert_eval(*values: Any, function: str, arguments: Nested) -> tuple[()]:
    args, kwargs = _filled(arguments, iter(values))
    getattr(np.testing, function)(*args, **kwargs)
    return ()


numpy_assert = defop(
    "numpy_assert",
    spec=no_result,
    eval=_numpy_assert_eval,
    effects=True,
    tf="numpy_assert",
    extra={"tuple": True},
    doc="an assertion of numpy.testing; its arguments, with gaps for the operands",
)

_COMPARISONS: dict[str, tuple[Callable[..., Any], str]] = {
    "equal": (np.equal, "=="),
    "none_equal": (np.not_equal, "!="),
    "greater": (np.greater, ">"),
    "greater_equal": (np.greater_equal, ">="),
    "less": (np.less, "<"),
    "less_equal": (np.less_equal, "<="),
}


def _check_eval(x: Any, y: Any, comparison: str, message: str) -> tuple[()]:
    holds, sign = _COMPARISONS[comparison]
    if not np.all(holds(x, y)):
        head = f"{message}: " if message else ""
        raise InvalidArgumentError(
            f"{head}assert_{comparison}: expected x {sign} y elementwise, "
            f"got x = {render(x)}, y = {render(y)}"
        )
    return ()


check = defop(
    "check",
    spec=no_result,
    eval=_check_eval,
    effects=True,
    tf="check",
    extra={"tuple": True},
    doc="graphify.debugging.assert_*: InvalidArgumentError unless a comparison holds everywhere",
)
