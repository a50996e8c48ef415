"""What the names in a failing expression stand for, for error messages.

    operands_of(frame, place)     # (("x", "f64[3]"), ("k", "= 2")): "x: f64[3], k = 2"

Arrays are told by dtype and shape, numbers and short strings by value. Functions, modules and other
objects are left out: they are seldom what is wrong.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from types import FrameType
from typing import Any

import numpy as np

from graphify.errors import text_of
from graphify.ir.tensor import Tensor
from graphify.ir.types import short_name
from graphify.location import Inputs, SourceLoc

LONGEST = 40  # characters of a value's text
ITEMS = 4  # of a list that are told one by one
_MISSING = object()
_PATH = re.compile(r"(?<![\w.])[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")


def operands_of(frame: FrameType, place: SourceLoc) -> Inputs:
    """The names in the expression at a place, each with what it stands for in a frame."""
    found = {}
    for path in _paths(place.expression or place.text):
        for name, value in _values(frame, path):
            text = _text(value)
            if text is not None:
                found[name] = text
    return tuple(found.items())


def _paths(expression: str) -> Iterator[list[str]]:
    """The names that an expression reads, with the attributes behind them: `self.w` is one."""
    try:
        tree = ast.parse(f"({expression}\n)", mode="eval")
    except SyntaxError:  # the head of a statement
        yield from (path.split(".") for path in _PATH.findall(expression))
        return
    for node in _in_order(tree):
        names: list[str] = []
        while isinstance(node, ast.Attribute):
            names.append(node.attr)
            node = node.value
        if isinstance(node, ast.Name):
            yield [node.id, *reversed(names)]


def _in_order(node: ast.AST) -> Iterator[ast.AST]:
    """Names and attributes from left to right; of an attribute, not what lies inside."""
    stack = [node]
    while stack:
        node = stack.pop()
        if isinstance(node, (ast.Name, ast.Attribute)):
            yield node
        inside = getattr(node, "value", None) if isinstance(node, ast.Attribute) else None
        if not isinstance(inside, (ast.Name, ast.Attribute)):
            stack += reversed(list(ast.iter_child_nodes(node)))


def _values(frame: FrameType, path: list[str]) -> Iterator[tuple[str, Any]]:
    """The first thing along a path that is a value, with its text: `x` of `x.sum`."""
    value = frame.f_locals.get(path[0], frame.f_globals.get(path[0], _MISSING))
    for length in range(1, len(path) + 1):
        if _text(value) is not None:
            yield ".".join(path[:length]), value
            return
        if length < len(path):
            value = getattr(value, "__dict__", {}).get(path[length], _MISSING)


def _text(value: Any) -> str | None:
    if isinstance(value, Tensor):
        return str(value.spec)
    if isinstance(value, (np.ndarray, np.generic)):
        return f"{short_name(value.dtype)}{list(value.shape)}".replace(" ", "")
    if value is None or isinstance(value, (bool, int, float, complex, str)):
        text = text_of(value)
        return f"= {text}" if len(text) <= LONGEST else None
    if type(value) in (list, tuple):
        texts = [_text(item) for item in value[:ITEMS]]
        if not texts or None in texts:
            return None
        told = [text.removeprefix("= ") for text in texts if text is not None]
        return "[" + ", ".join([*told, "..."] if len(value) > ITEMS else told) + "]"
    return None
