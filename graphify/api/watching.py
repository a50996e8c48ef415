"""What the user's variables hold after each line, told by Python itself (`sys.settrace`).

    with watched(lambda frame, line, before: print(line.number, line.names)):
        f(x)

Plain functions and converted ones run under the same file names and lines, so one watcher serves
both: it hears of arrays in the first and of symbolic tensors in the second.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import linecache
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Any

from graphify.ir.graph import Value
from graphify.ir.tensor import Tensor
from graphify.location import is_internal, is_library


@dataclass(frozen=True, slots=True)
class Line:
    """A statement of the user's, by its first line.

    Attributes:
        file, number: where it stands.
        names: the variables that it binds or updates.
    """

    file: str
    number: int
    names: tuple[str, ...]

    @property
    def text(self) -> str:
        return linecache.getline(self.file, self.number).strip()


Note = Callable[[FrameType, Line, tuple[Any, ...]], None]


@contextlib.contextmanager
def watched(note: Note, mark: Callable[[Any], Any] = lambda value: None) -> Iterator[None]:
    """While the block runs, `note(frame, line, before)` is called after each statement that changes
    variables, in functions of the user's; `before` has the marks of what they were before."""
    before = sys.gettrace()
    sys.settrace(lambda frame, event, arg: _follow(frame, note, mark))
    try:
        yield
    finally:
        sys.settrace(before)


def _follow(frame: FrameType, note: Note, mark: Callable[[Any], Any]) -> Any:
    """What watches one frame; None for frames that are nobody's business."""
    filename = frame.f_code.co_filename
    if is_internal(filename) or is_library(filename):
        return None
    lines = lines_of(filename)
    last: Line | None = None
    before: tuple[Any, ...] = ()

    def local(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal last, before
        if event == "exception":
            last = None
            return local
        now = lines.get(frame.f_lineno) if event == "line" else None
        if now is last and event == "line":
            return local
        if last is not None:
            note(frame, last, before)
        last = now
        if now is not None:
            before = tuple(mark(frame.f_locals.get(name)) for name in now.names)
        return local

    return local


@contextlib.contextmanager
def naming(names: dict[Value, dict[tuple[str, str], None]]) -> Iterator[None]:
    """While the block traces functions of the user's, note which values their variables stand for:
    value -> (function, variable) pairs."""

    def look(frame: FrameType, event: str, arg: Any) -> Any:
        filename = frame.f_code.co_filename
        if is_internal(filename) or is_library(filename):
            return None
        known = _identifiers(filename)
        for name, thing in frame.f_locals.items():
            if isinstance(thing, Tensor) and thing.is_symbolic and name in known:
                if is_fresh(thing):
                    names.setdefault(thing._value, {})[frame.f_code.co_name, name] = None
        return look

    before = sys.gettrace()
    sys.settrace(look)
    try:
        yield
    finally:
        sys.settrace(before)


def is_fresh(tensor: Tensor) -> bool:
    """Whether a tensor's value is up to date: a view of what was updated since is not."""
    return tensor._base is None or tensor._seen == tensor._base._version


def _identifiers(filename: str) -> frozenset[str]:
    """The names in a file, to tell the user's variables from those that conversion makes."""
    linecache.checkcache(filename)
    return _names(filename, "".join(linecache.getlines(filename)))


@functools.lru_cache(maxsize=32)
def _names(filename: str, source: str) -> frozenset[str]:
    return frozenset(re.findall(r"[^\W\d]\w*", source))


def lines_of(filename: str) -> dict[int, Line]:
    """The statements of a file that change variables, by every line they stand on."""
    linecache.checkcache(filename)
    return _lines(filename, "".join(linecache.getlines(filename)))


@functools.lru_cache(maxsize=32)
def _lines(filename: str, source: str) -> dict[int, Line]:
    try:
        tree = ast.parse(textwrap.dedent(source))
    except SyntaxError:
        return {}
    found: dict[int, Line] = {}
    for node in ast.walk(tree):
        if not isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = tuple(dict.fromkeys(n for target in targets for n in _bases(target)))
        line = Line(filename, node.lineno, names)
        for number in range(node.lineno, (node.end_lineno or node.lineno) + 1):
            if number in found:  # two statements on a line: which one ran cannot be told
                line = Line(filename, node.lineno, ())
            found[number] = line
    return found


def _bases(target: ast.expr) -> Iterator[str]:
    """The names that a target changes: `a` of `a`, `a[i]`, `a.b`; all of `a, *b`."""
    while isinstance(target, (ast.Subscript, ast.Attribute, ast.Starred)):
        target = target.value
    if isinstance(target, ast.Name):
        yield target.id
    for part in getattr(target, "elts", ()):
        yield from _bases(part)
