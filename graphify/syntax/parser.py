"""Function object -> tree, with the positions it has in its file.

The whole file is parsed once and the function looked up by its position, which settles decorators,
methods, indentation and several lambdas on one line alike. Source comes from `linecache`, so code
from a notebook, a REPL or `exec` works wherever its text is registered there, or provided by hand
(see sources.py).

    >>> import json
    >>> parse(json.dumps).node.name
    'dumps'
"""

from __future__ import annotations

import ast
import contextlib
import copy
import functools
import linecache
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any

import gast

from graphify.errors import SyntaxUnsupported
from graphify.location import SourceLoc
from graphify.syntax.sources import provide, provided

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(frozen=True)
class Parsed:
    """A function's tree: a gast FunctionDef without decorators, or a gast Lambda.

    `class_name` is the class whose body the function stands in, for names like `__private`.
    """

    node: Any
    filename: str
    class_name: str | None


def parse(function: Any) -> Parsed:
    """The tree of a function; a fresh copy on every call, so that it may be changed.

    Args:
        function: a Python function, method or lambda.

    Returns:
        The tree, its file and the class around it.

    Raises:
        SyntaxUnsupported: the function has no Python source, or the source cannot be found.
    """
    function = getattr(function, "__func__", function)
    if not isinstance(function, FunctionType):
        name = getattr(function, "__qualname__", repr(function))
        raise SyntaxUnsupported(
            f"{name} is not a Python function: {type(function).__name__} objects have no source",
            remedy="call it from a Python function, or mark it with do_not_convert",
        )
    found = _found(function)
    return Parsed(copy.deepcopy(found.node), found.filename, found.class_name)


def find_in(function: Any, source: str) -> None:
    """From now on a function, and others around it, are looked for in this text.

    Raises:
        SyntaxUnsupported: the text does not hold it.
    """
    function = getattr(function, "__func__", function)
    _find(function.__code__, function.__code__.co_filename, source)
    provide(function, source)


def _found(function: FunctionType) -> Parsed:
    """The function in a text that was provided for it, else in its file."""
    code = function.__code__
    for text in provided(function):
        with contextlib.suppress(SyntaxUnsupported):
            return _find(code, text.filename, text.source)
    return _find(code, code.co_filename, _source(function))


def _source(function: FunctionType) -> str:
    code = function.__code__
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename, function.__globals__)
    if not lines:
        raise _missing(code, "its source text is not available")
    return "".join(lines)


@functools.lru_cache(maxsize=64)
def _find(code: CodeType, filename: str, source: str) -> Parsed:
    """Look a code object up in the text of its file (which code objects do not compare by)."""
    try:
        definitions = _definitions(source, filename)
    except SyntaxError as error:
        raise _missing(code, f"its file does not parse ({error.msg})") from error
    nodes = [
        (node, owner)
        for node, owner in definitions.get(code.co_firstlineno, ())
        if _matches(node, code)
    ]
    if len(nodes) > 1:
        nodes = [min(nodes, key=lambda found: _distance(found[0], code))]
    if not nodes:
        raise _missing(code, "the file no longer holds it at that line")
    node, owner = nodes[0]
    tree = gast.ast_to_gast(node)
    if isinstance(tree, (gast.FunctionDef, gast.AsyncFunctionDef)):
        tree.decorator_list = []
    return Parsed(tree, filename, owner)


@functools.lru_cache(maxsize=16)
def _definitions(source: str, filename: str) -> dict[int, list[tuple[Definition, str | None]]]:
    """Every function and lambda of a file by first line, each with the class around it."""
    try:
        tree = ast.parse(source, filename)
    except IndentationError:  # a registered snippet may be an indented piece of a larger text
        tree = ast.parse(textwrap.dedent(source), filename)
    found: dict[int, list[tuple[Definition, str | None]]] = {}
    for node, owner in _walk(tree, None):
        decorators = getattr(node, "decorator_list", [])
        first = min([node.lineno, *(d.lineno for d in decorators)])
        found.setdefault(first, []).append((node, owner))
    return found


def _walk(root: ast.AST, owner: str | None) -> Iterator[tuple[Definition, str | None]]:
    """Definitions in source order, with an explicit stack: expressions may nest deeply."""
    stack: list[tuple[ast.AST, str | None]] = [(root, owner)]
    while stack:
        node, owner = stack.pop()
        if isinstance(node, Definition):
            yield node, owner
        inner = node.name if isinstance(node, ast.ClassDef) else owner
        stack += [(child, inner) for child in reversed(list(ast.iter_child_nodes(node)))]


def _matches(node: Definition, code: CodeType) -> bool:
    name = "<lambda>" if isinstance(node, ast.Lambda) else node.name
    arguments = node.args
    names = [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    count = code.co_argcount + code.co_kwonlyargcount
    return name == code.co_name and len(names) == count


def _distance(node: Definition, code: CodeType) -> tuple[bool, int, int]:
    """How badly a lambda, of several on one line, fits the columns in a code object.

    The right one is the smallest whose body holds every instruction.
    """
    body = node.body if isinstance(node, ast.Lambda) else node
    start, end = (body.lineno, body.col_offset), (body.end_lineno, body.end_col_offset)
    places = [p for p in code.co_positions() if None not in p and p[2:] != (0, 0)]
    inside = all(start <= (p[0], p[2]) and (p[1], p[3]) <= end for p in places)
    return not inside, (end[0] or 0) - start[0], (end[1] or 0) - start[1]


def _missing(code: CodeType, why: str) -> SyntaxUnsupported:
    return SyntaxUnsupported(
        f"cannot convert {code.co_qualname}: {why} ({code.co_filename}:{code.co_firstlineno})",
        location=SourceLoc(code.co_filename, code.co_firstlineno, code.co_name),
        remedy="define it in a file, pass the text as graphify.function(f, source=text), or mark "
        "it with graphify.autograph.do_not_convert",
    )
