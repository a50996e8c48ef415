"""Where in the user's source something happened.

A location is a code object and an instruction offset, so taking one while tracing costs a frame
walk and no more; file, line, columns and text are read when somebody asks.

    here().resolve().function    # "f", where f is the user's
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import linecache
import os
import re
import site
import sys
import sysconfig
from collections.abc import Iterator
from contextvars import ContextVar, Token
from dataclasses import dataclass, field, replace
from types import CodeType, FrameType, ModuleType
from typing import Any, TypeAlias

import numpy

PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
NUMPY = os.path.dirname(os.path.abspath(numpy.__file__)) + os.sep
LIBRARIES = tuple(
    {
        PACKAGE,
        *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")),
        *site.getsitepackages(),
        site.getusersitepackages(),
    }
)
_ASSIGNMENT = re.compile(r"^\s*([A-Za-z_]\w*)\s*(?:[-+*/@%&|^]|//|\*\*|<<|>>)?=(?!=)")


QUOTED = 4  # lines of an expression that an error quotes

# What Python numbers are called; "~" marks a tensor that stands for one.
_NUMBERS = {"i64[]~": "int", "f64[]~": "float", "c128[]~": "complex", "bool[]~": "bool"}

Inputs: TypeAlias = "tuple[tuple[LazyLoc | str | None, Any], ...]"


@dataclass(frozen=True, slots=True)
class SourceLoc:
    """A place in the user's code: `file:line`, the function, and the columns of the expression.

    Attributes:
        start: column of the first character.
        end: column behind the last one, on `last` where the expression goes on to another line.
        caller: where the function was called from, as far as the trace knows.
        inputs: of each operand its name, or where it was made, and what it is.
    """

    file: str
    line: int
    function: str
    start: int | None = None
    end: int | None = None
    last: int | None = None
    caller: SourceLoc | None = field(default=None, compare=False, repr=False)
    inputs: Inputs = field(default=(), compare=False, repr=False)

    @property
    def text(self) -> str:
        """The source line, without its indentation ('' where the source is not to be had)."""
        return linecache.getline(self.file, self.line).strip()

    @property
    def variable(self) -> str | None:
        """The name that the line assigns to, if it is a plain assignment."""
        match = _ASSIGNMENT.match(self.text)
        return match.group(1) if match else None

    @property
    def operands(self) -> str:
        """The operands that the expression calls by name: "x: f64[3], y: f64[4]"."""
        if not self.inputs:
            return ""
        expression = self.expression or self.text
        found: dict[str, str] = {}
        waiting = list(self.inputs)
        while waiting:
            origin, what = waiting.pop(0)
            place = origin.resolve() if isinstance(origin, LazyLoc) else None
            name = origin if place is None else place.variable
            if place == self and place is not None:  # a step of the same expression
                waiting[:0] = place.inputs
            elif name and (said := _said(str(name), expression)):
                kind = _kind(what)
                text = f"{said} {kind}" if kind.startswith("=") else f"{said}: {kind}"
                found.setdefault(said, text)
        return ", ".join(found.values())

    @property
    def chain(self) -> list[SourceLoc]:
        """The calls that lead here, outermost first, this place last."""
        found: list[SourceLoc] = []
        place: SourceLoc | None = self
        while place is not None:
            found.append(place)
            place = place.caller
        return found[::-1]

    @property
    def expression(self) -> str:
        """The text of the expression ('' where its columns or its source are not known)."""
        if self.start is None or self.end is None:
            return ""
        lines = [linecache.getline(self.file, n).rstrip("\n") for n in self._lines()]
        lines[-1] = _columns(lines[-1], 0, self.end)
        lines[0] = _columns(lines[0], self.start, None)
        return "\n".join(lines)

    def _lines(self) -> range:
        return range(self.line, (self.last or self.line) + 1)

    def describe(self) -> str:
        """File, line and function, the lines of the expression with carets, its operands."""
        lines = [f'File "{self.file}", line {self.line}, in {self.function}']
        lines += ["  " + line for line in self._quoted()]
        if operands := self.operands:
            lines.append("  " + operands)
        return "\n".join(lines)

    def _quoted(self) -> Iterator[str]:
        raw = [linecache.getline(self.file, n).rstrip("\n") for n in self._lines()]
        if not raw[0].strip():
            return
        indent = min(len(line) - len(line.lstrip()) for line in raw if line.strip())
        for number, line in enumerate(raw[:QUOTED]):
            text = line.rstrip()
            yield text[indent:]
            if self.start is None or self.end is None:
                continue
            first = len(_columns(line, 0, self.start)) if number == 0 else 0
            first = max(first, len(text) - len(text.lstrip()))
            after = len(_columns(line, 0, self.end)) if number == len(raw) - 1 else len(text)
            if after > first >= indent:
                yield " " * (first - indent) + "^" * (after - first)
        if len(raw) > QUOTED:
            yield "..."

    def __str__(self) -> str:
        return f"{os.path.basename(self.file)}:{self.line}"


def _said(name: str, expression: str) -> str | None:
    """How an expression calls a variable or a field: `w`, or `self.w`."""
    found = re.search(rf"(?<![\w.])(?:\w+\.)*{re.escape(name)}(?!\w)", expression)
    return found.group() if found else None


def _kind(what: Any) -> str:
    text = str(what)
    return _NUMBERS.get(text, text.removesuffix("~"))


def _columns(line: str, start: int, end: int | None) -> str:
    """A part of a line by columns, which Python counts in bytes of UTF-8."""
    return line.encode()[start:end].decode(errors="replace")


class LazyLoc:
    """A location not yet looked up; `resolve()` gives the `SourceLoc`."""

    __slots__ = ("_code", "_offset", "_line", "_caller", "_inputs")

    def __init__(
        self, code: CodeType, offset: int, line: int, caller: LazyLoc | None = None
    ) -> None:
        self._code, self._offset, self._line, self._caller = code, offset, line, caller
        self._inputs: Inputs = ()

    def note_inputs(self, inputs: Inputs) -> None:
        """What the op made here takes: of each operand its name, or where it was made, and its
        spec."""
        self._inputs = inputs

    def resolve(self) -> SourceLoc:
        place = _resolve(self._code, self._code.co_filename, self._offset, self._line)
        if self._caller is None and not self._inputs:
            return place
        caller = None if self._caller is None else self._caller.resolve()
        return replace(place, caller=caller, inputs=self._inputs)

    def describe(self) -> str:
        return self.resolve().describe()

    def __str__(self) -> str:
        return str(_resolve(self._code, self._code.co_filename, self._offset, self._line))


class KnownLoc(LazyLoc):
    """A location that was looked up already."""

    __slots__ = ("_place",)

    def __init__(self, place: SourceLoc) -> None:
        super().__init__(_NO_CODE, 0, place.line)
        self._place = place

    def resolve(self) -> SourceLoc:
        return self._place

    def __str__(self) -> str:
        return str(self._place)


_NO_CODE = compile("", "", "exec")


@functools.lru_cache(maxsize=4096)
def _resolve(code: CodeType, filename: str, offset: int, line: int) -> SourceLoc:
    """The place of an instruction. Codes of two files may be equal, so the file counts, too."""
    positions = list(code.co_positions())
    entry = positions[offset // 2] if offset // 2 < len(positions) else (None,) * 4
    first, last, start, end = entry
    if first != line or last is None or last < line:
        last = start = end = None
    return SourceLoc(filename, line, code.co_name, start, end, None if last == line else last)


def user_frame() -> FrameType | None:
    """The innermost frame of the user's own code.

    Frames of installed libraries between the user and graphify are passed over; where there is
    nothing else (a library that uses graphify), the innermost of those is taken.
    """
    frame: FrameType | None = sys._getframe(1)
    library: FrameType | None = None
    while frame is not None:
        filename = frame.f_code.co_filename
        if not is_internal(filename):
            if not is_library(filename) and not _is_generated(frame):
                return frame
            library = library or frame
        frame = frame.f_back
    return library


def _is_generated(frame: FrameType) -> bool:
    """Whether a frame runs a method that the dataclasses module has written."""
    code = frame.f_code
    return code.co_filename == "<string>" and code.co_name.startswith("__")


def library_call() -> str | None:
    """The function of a library, not graphify's, that the user's code stands in: "numpy.poly1d"."""
    frame: FrameType | None = sys._getframe(1)
    called: FrameType | None = None
    while frame is not None:
        filename = frame.f_code.co_filename
        if not is_library(filename) and not filename.startswith("<__array_function__"):
            return None if called is None else _full_name(called)
        if not filename.startswith((PACKAGE, "<")):
            called = frame
        frame = frame.f_back
    return None


def _full_name(frame: FrameType) -> str:
    """The public name of the function that a frame runs, as far as can be told."""
    name = frame.f_code.co_qualname.partition(".<locals>")[0]
    owner, _, method = name.partition(".")
    if method and "self" in frame.f_locals:
        owner = type(frame.f_locals["self"]).__name__
    if method:
        name = owner if method.startswith("__") else f"{owner}.{method}"
    module = getattr(frame.f_globals.get(owner), "__module__", None) or frame.f_globals["__name__"]
    public = itertools.takewhile(lambda part: part[0] != "_" and part != "core", module.split("."))
    return ".".join([*public, name])


@functools.lru_cache(maxsize=4096)
def is_internal(filename: str) -> bool:
    """Whether a code file belongs to graphify or to NumPy's dispatch machinery."""
    return filename.startswith((PACKAGE, NUMPY, "<__array_function__"))


@functools.lru_cache(maxsize=4096)
def is_library(filename: str) -> bool:
    """Whether a code file belongs to Python itself or to an installed package."""
    return filename.startswith(LIBRARIES) or filename.startswith("<frozen")


def is_library_module(module: ModuleType) -> bool:
    """Whether a module belongs to Python itself or to an installed package."""
    return module.__name__ in sys.builtin_module_names or is_library(
        getattr(module, "__file__", None) or ""
    )


_HEAP_TYPE = 1 << 9  # CPython's flag of a class that a class statement made


def is_library_class(kind: type) -> bool:
    """Whether a class belongs to Python itself or to an installed package."""
    if kind.__module__ == "builtins":  # of exec in a namespace without a name, too
        return not kind.__flags__ & _HEAP_TYPE
    module = sys.modules.get(kind.__module__)
    return module is not None and is_library_module(module)


def here() -> LazyLoc | None:
    """The user's current location, or None outside any user code."""
    standing = _standing.get()
    if standing is not None:
        return standing
    frame = user_frame()
    return None if frame is None else location_of(frame)


@contextlib.contextmanager
def standing_at(place: LazyLoc | None) -> Iterator[None]:
    """What is recorded meanwhile stands for an op of this place: a transformation's work."""
    token = _standing.set(place or _standing.get())
    try:
        yield
    finally:
        _standing.reset(token)


def is_standing() -> bool:
    """Whether ops are recorded for a place of their own, see `standing_at`."""
    return _standing.get() is not None


_standing: ContextVar[LazyLoc | None] = ContextVar("graphify_standing", default=None)


def location_of(frame: FrameType) -> LazyLoc:
    """Where a frame of the user's stands now."""
    caller = _caller.get()
    known = None if caller is _OUTSIDE else caller
    return LazyLoc(frame.f_code, frame.f_lasti, frame.f_lineno, known)


# --- calls of one function of the user's by another, while both are traced ----------------------

# Where the function at hand was called from. Frames cannot tell once the trace is over.
_caller: ContextVar[LazyLoc | None] = ContextVar("graphify_caller", default=None)
_OUTSIDE = LazyLoc(_NO_CODE, 0, 0)


def enter_call() -> Token[LazyLoc | None]:
    """From now on, until `leave_call`, locations know that they were reached from here."""
    return _caller.set(None if _caller.get() is _OUTSIDE else here())


def start_trace() -> Token[LazyLoc | None]:
    """The next call is that of the traced function: who calls it is the business of each run."""
    return _caller.set(_OUTSIDE)


def leave_call(token: Token[LazyLoc | None]) -> None:
    _caller.reset(token)
