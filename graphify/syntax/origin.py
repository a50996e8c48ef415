"""Origins: every generated node carries the place of the user's code it stands for.

Converters build nodes without a position and then say what they replaced. Compiling the result
under the user's own file name then makes tracebacks, `pdb` and frame inspection show user lines.

    >>> import gast
    >>> old = gast.parse("a = b").body[0]
    >>> new = gast.Expr(gast.Constant(1, None))
    >>> inherit(new, old).lineno
    1
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

import gast

from graphify.location import SourceLoc

POSITION = ("lineno", "col_offset", "end_lineno", "end_col_offset")
T = TypeVar("T")


def inherit(new: T, old: Any) -> T:
    """Give `new`, and every node below it that has no position yet, the position of `old`.

    A node that already has a position is the user's; it is left alone, and so is all below it.
    """
    for node in new if isinstance(new, list) else [new]:
        _fill(node, old)
    return new


def _fill(node: Any, old: Any) -> None:
    if getattr(node, "lineno", None) is not None:
        return
    if "lineno" in node._attributes:
        line, column, *end = _span(old)
        if isinstance(node, gast.Attribute) and line is not None and end[0] != line:
            end = [line, column + 1]  # NOTE: CPython would take the call's line from its end
        for name, value in zip(POSITION, (line, column, *end), strict=True):
            setattr(node, name, value)
    for child in gast.iter_child_nodes(node):
        _fill(child, old)


def _span(old: Any) -> tuple[Any, ...]:
    """The position of a node; of a statement with a block, that of its header.

    NOTE: CPython takes the line of a method call from the END of `ag.while_`, which would be the
    last line of the loop.
    """
    start = (getattr(old, "lineno", None), getattr(old, "col_offset", None))
    header = next(
        (h for name in ("test", "iter") if (h := getattr(old, name, None)) is not None), None
    )
    if hasattr(old, "body") and isinstance(old.body, list):
        end = header if getattr(header, "end_lineno", None) is not None else None
        if end is None or end.end_lineno != start[0]:
            return (*start, start[0], None if start[1] is None else start[1] + 1)
        return (*start, end.end_lineno, end.end_col_offset)
    return (*start, getattr(old, "end_lineno", None), getattr(old, "end_col_offset", None))


def strip(tree: Any) -> None:
    """Remove every position below `tree` (used on freshly parsed templates)."""
    for node in gast.walk(tree):
        for name in POSITION:
            if hasattr(node, name):
                setattr(node, name, None)


def shift(nodes: Iterable[Any], lines: int) -> None:
    """Move nodes down by a number of lines."""
    for node in nodes:
        if getattr(node, "lineno", None) is not None:
            node.lineno += lines
            node.end_lineno += lines


def place(node: Any, filename: str, function: str) -> SourceLoc:
    """The source location of a node, for error messages."""
    line = getattr(node, "lineno", None) or 1
    (_, start), last, end = (None, None), None, None
    if getattr(node, "end_lineno", None) is not None:
        (_, start, last, end) = _span(node)
        if isinstance(node, (gast.FunctionDef, gast.AsyncFunctionDef)):
            word = "def " if isinstance(node, gast.FunctionDef) else "async def "
            end = start + len(word) + len(node.name)
    return SourceLoc(filename, line, function, start, end, None if last == line else last)
