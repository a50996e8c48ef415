"""Text with run-time values in it: f-strings, str() and containers in print, raise and assert.

The text of a symbolic tensor is a mark, which print, raise and assert take apart again:

    print(f"sum {x.sum()}")     # "sum \\ue0000\\ue001" -> the pieces "sum " and a gap for the sum

A mark that ends anywhere else (in a comparison, a dict key, a result) would be a wrong string, so
a trace that leaves one over raises ConcreteValueNeeded (`check_marks`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphify import tree
from graphify.ir.bind import Tensor, current_builder, value_needed
from graphify.ir.graph import Builder
from graphify.location import here
from graphify.ops import operators
from graphify.ops.effects import Gap, render

OPEN, CLOSE = "\ue000", "\ue001"
_MARK = re.compile(f"{OPEN}([0-9]+){CLOSE}")


@dataclass(slots=True)
class Mark:
    """A symbolic tensor whose text was asked for: where, and whether the text was used."""

    tensor: Tensor
    gap: Gap | None
    location: Any
    used: bool = False


def _outermost(builder: Builder) -> Builder:
    while builder.parent is not None:
        builder = builder.parent
    return builder


def mark(tensor: Tensor, spec: str = "", as_repr: bool = False) -> str:
    """The mark that stands for the text of a symbolic tensor."""
    builder = current_builder()
    if builder is None:
        return repr(tensor)
    marks = _outermost(builder).marks
    gap = Gap(spec, as_repr, kind_of(tensor)) if spec or as_repr else None
    marks.append(Mark(tensor, gap, here()))
    return f"{OPEN}{len(marks) - 1}{CLOSE}"


def kind_of(tensor: Tensor) -> str:
    """What Python would hold in the place of a symbolic tensor (see Gap)."""
    return "number" if tensor.spec.weak else "scalar" if tensor._scalar else "array"


operators.set_text_hook(mark)


def pieces_of(value: Any) -> tuple[list[str | Gap | None], list[Tensor]]:
    """A value's text as pieces: strings, and gaps for the tensors that come with them."""
    if isinstance(value, Tensor):
        return [None], [value]
    builder = current_builder()
    text = value if isinstance(value, str) else str(_marked(value))
    if builder is None or OPEN not in text:
        return [text], []
    marks = _outermost(builder).marks
    pieces: list[str | Gap | None] = []
    tensors = []
    for position, part in enumerate(_MARK.split(text)):
        if position % 2:
            found = marks[int(part)]
            found.used = True
            pieces.append(found.gap)
            tensors.append(found.tensor)
        elif part:
            pieces.append(part)
    return pieces, tensors


def joined(pieces: Sequence[str | Gap | None], tensors: Sequence[Any]) -> str:
    """The text of pieces again, with new marks in it."""
    rest = iter(tensors)
    return "".join(p if isinstance(p, str) else _mark_of(next(rest), p) for p in pieces)


def _mark_of(value: Any, gap: Gap | None) -> str:
    builder = current_builder()
    if builder is None or not (isinstance(value, Tensor) and value.is_symbolic):
        array = np.asarray(value)
        return render(array) if gap is None else gap.show(array)
    marks = _outermost(builder).marks
    marks.append(Mark(value, gap, here()))
    return f"{OPEN}{len(marks) - 1}{CLOSE}"


def plain(value: Any) -> Any:
    """A string without marks: for messages of errors that tracing itself raises."""
    builder = current_builder()
    if not isinstance(value, str) or builder is None or OPEN not in value:
        return value
    marks = _outermost(builder).marks
    for found in marks:
        found.used = True
    return _MARK.sub(lambda match: repr(marks[int(match.group(1))].tensor), value)


class _Shown:
    """An element of a container, whose repr is a mark."""

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor

    def __repr__(self) -> str:
        return mark(self.tensor, as_repr=True)


def _marked(value: Any) -> Any:
    """A container with marks in place of its symbolic tensors."""
    if not tree.is_container(value):
        return value
    leaves, treedef = tree.flatten(value)
    return treedef.unflatten(
        [
            _Shown(leaf) if isinstance(leaf, Tensor) and leaf.is_symbolic else _eager(leaf)
            for leaf in leaves
        ]
    )


def _eager(leaf: Any) -> Any:
    return np.asarray(leaf)[()] if isinstance(leaf, Tensor) else leaf


def has_symbols(value: Any) -> bool:
    """Whether printing a value needs the run: tensors in containers, or marks in a string."""
    if isinstance(value, str):
        return OPEN in value and current_builder() is not None
    if isinstance(value, BaseException):
        value = value.args
    if getattr(type(value), "known_at_run", False):
        return True
    if isinstance(value, Tensor) or not tree.is_container(value):
        return False
    return any(
        isinstance(leaf, Tensor) and leaf.is_symbolic or has_symbols(leaf)
        for leaf in tree.leaves(value)
    )


def check_marks(builder: Builder) -> None:
    """Refuse a trace in which the text of a symbolic tensor went somewhere else.

    Raises:
        ConcreteValueNeeded: it did.
    """
    for found in builder.marks:
        if not found.used:
            error = value_needed(found.tensor, "the text")
            raise type(error)(
                error.message,
                location=found.location,
                remedy="print it, raise it or assert with it: "
                "print(f'{x}') is staged, other strings are not",
            )
