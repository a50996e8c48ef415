"""Where in the user's source something happened.

A location is a code object and an instruction offset, so taking one while tracing costs a frame
walk and no more; file, line, columns and text are read when somebody asks.

    here().resolve().function    # "f", where f is the user's
"""

from __future__ import annotations

import functools
import linecache
import os
import re
import site
import sys
import sysconfig
from dataclasses import dataclass
from types import CodeType, FrameType, ModuleType

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


@dataclass(frozen=True, slots=True)
class SourceLoc:
    """A place in the user's code: `file:line`, the function, and the columns of the expression."""

    file: str
    line: int
    function: str
    start: int | None = None
    end: int | None = None

    @property
    def text(self) -> str:
        """The source line, without its indentation ('' where the source is not to be had)."""
        return linecache.getline(self.file, self.line).strip()

    @property
    def variable(self) -> str | None:
        """The name that the line assigns to, if it is a plain assignment."""
        match = _ASSIGNMENT.match(self.text)
        return match.group(1) if match else None

    def describe(self) -> str:
        """File, line and function, then the source line with a caret under the expression."""
        head = f'File "{self.file}", line {self.line}, in {self.function}'
        raw = linecache.getline(self.file, self.line).rstrip("\n")
        if not raw.strip():
            return head
        indent = len(raw) - len(raw.lstrip())
        lines = [head, "  " + raw.strip()]
        if self.start is not None and self.end is not None and self.end > self.start >= indent:
            lines.append("  " + " " * (self.start - indent) + "^" * (self.end - self.start))
        return "\n".join(lines)

    def __str__(self) -> str:
        return f"{os.path.basename(self.file)}:{self.line}"


class LazyLoc:
    """A location not yet looked up; `resolve()` gives the `SourceLoc`."""

    __slots__ = ("_code", "_offset", "_line")

    def __init__(self, code: CodeType, offset: int, line: int) -> None:
        self._code, self._offset, self._line = code, offset, line

    def resolve(self) -> SourceLoc:
        return _resolve(self._code, self._offset, self._line)

    def describe(self) -> str:
        return self.resolve().describe()

    def __str__(self) -> str:
        return str(self.resolve())


@functools.lru_cache(maxsize=4096)
def _resolve(code: CodeType, offset: int, line: int) -> SourceLoc:
    positions = list(code.co_positions())
    entry = positions[offset // 2] if offset // 2 < len(positions) else (None,) * 4
    start, end = (entry[2], entry[3]) if entry[0] == entry[1] == line else (None, None)
    return SourceLoc(code.co_filename, line, code.co_name, start, end)


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
            if not is_library(filename):
                return frame
            library = library or frame
        frame = frame.f_back
    return library


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


def here() -> LazyLoc | None:
    """The user's current location, or None outside any user code."""
    frame = user_frame()
    return None if frame is None else LazyLoc(frame.f_code, frame.f_lasti, frame.f_lineno)
