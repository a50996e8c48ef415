"""Text with run-time values in it: f-strings, str() and containers in print, raise and assert.

The text of a symbolic tensor is a mark, which print, raise and assert take apart again:

    print(f"sum {x.sum()}")     # "sum \\ue0000\\ue001" -> the pieces "sum " and a gap for the sum

A mark that ends anywhere else (in a comparison, a dict key, a result) would be a wrong string, so
a trace after which a text is still held somewhere raises ConcreteValueNeeded (`check_texts`), and
so does one in which code that is not converted may have copied a mark (`check_marks`). Branches
and loops carry a text as its pieces and their values (`taken_apart`).
"""

from __future__ import annotations

import gc
import re
import sys
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NoReturn

import numpy as np

from graphify import tree
from graphify.ir.context import current_builder
from graphify.ir.graph import Builder
from graphify.ir.tensor import Tensor, not_known
from graphify.location import here, is_internal, is_library
from graphify.ops import operators
from graphify.ops.effects import Gap, Text, render, takes
from graphify.syntax.loader import is_marked_code

OPEN, CLOSE = "\ue000", "\ue001"
_MARK = re.compile(f"{OPEN}([0-9]+){CLOSE}")


@dataclass(slots=True)
class Mark:
    """A symbolic tensor whose text was asked for: where, and whether it is known what became of the
    text: it was printed, say."""

    tensor: Tensor
    gap: Gap | None
    location: Any
    used: bool = False
    more: tuple[Tensor, ...] = ()  # further values that go into the gap


def mark(tensor: Tensor, spec: str = "", as_repr: bool = False, formatted: bool = False) -> str:
    """The mark that stands for the text of a symbolic tensor; `formatted`: as `format` gives it,
    which shows NumPy's shorter floats in full."""
    if current_builder() is None:
        return repr(tensor)
    if OPEN in exact(spec):  # its width, say, is known at the run
        pieces, others = pieces_of(spec)
        return gap_mark(Gap(Text(tuple(pieces), ""), False, kind_of(tensor)), tensor, *others)
    short = tensor.dtype.kind in "fc" and tensor.dtype != np.result_type(tensor.dtype, np.float64)
    full = formatted and short and kind_of(tensor) == "scalar"
    gap = Gap(spec, as_repr, kind_of(tensor)) if spec or as_repr or full else None
    return gap_mark(gap, tensor)


def exact(text: str) -> str:
    """The string itself, marks and all, as a plain one."""
    return str.__str__(text)


def gap_mark(gap: Gap | None, tensor: Tensor, *more: Tensor, used: bool = False) -> str:
    """The mark of a gap and of the values that go into it."""
    builder = current_builder()
    assert builder is not None
    marks = builder.outermost.marks
    marks.append(Mark(tensor, gap, here(), used or is_asked_by_converted_code(), more))
    return staged(f"{OPEN}{len(marks) - 1}{CLOSE}")


def kind_of(tensor: Tensor) -> str:
    """What Python would hold in the place of a symbolic tensor (see Gap)."""
    return "number" if tensor.spec.weak else "scalar" if tensor._scalar else "array"


operators.set_text_hook(mark)


def pieces_of(value: Any) -> tuple[list[str | Gap | None], list[Tensor]]:
    """A value's text as pieces: strings, and gaps for the tensors that come with them."""
    if isinstance(value, Tensor):
        return [None], [value]
    text = exact(value if isinstance(value, str) else marked_text(value))
    pieces: list[str | Gap | None] = []
    tensors = []
    for part in _parts(text):
        if isinstance(part, Mark):
            part.used = True
            pieces.append(part.gap)
            tensors += [part.tensor, *part.more]
        else:
            pieces.append(part)
    return pieces, tensors


def _parts(text: str) -> list[str | Mark]:
    """The strings and the marks that a text consists of."""
    builder = current_builder()
    if builder is None or OPEN not in text:
        return [text]
    marks = builder.outermost.marks
    parts = [marks[int(p)] if k % 2 else p for k, p in enumerate(_MARK.split(text))]
    return [part for part in parts if part != ""]


def joined(pieces: Sequence[str | Gap | None], tensors: Sequence[Any]) -> str:
    """The text of pieces again, with new marks in it, which nobody has to use."""
    rest = iter(tensors)
    text = "".join(p if isinstance(p, str) else _mark_of(rest, p) for p in pieces)
    return staged(text) if OPEN in text else text


def _mark_of(rest: Iterator[Any], gap: Gap | None) -> str:
    values = [next(rest) for _ in range(takes(gap))]
    if current_builder() is None or not any(
        isinstance(v, Tensor) and v.is_symbolic for v in values
    ):
        arrays = [np.asarray(value) for value in values]
        return render(arrays[0]) if gap is None else gap.show(*arrays)
    return gap_mark(gap, *values, used=True)


# --- in branches and loops -----------------------------------------------------------------------


class Carried:
    """What a text is in the state of a branch or loop: a tree of its run-time values."""


def _build(keys: tuple[Any, ...], children: list[Any]) -> str:
    return joined(keys[0], children)


tree.register(Carried, lambda _: ((), []), _build)


def taken_apart(text: str) -> tuple[tree.TreeDef, list[Any]]:
    """A text as a tree; only texts that differ in nothing but their values have one shape."""
    pieces, tensors = pieces_of(text)
    kinds = tuple((tensor.dtype, tensor.ndim, kind_of(tensor)) for tensor in tensors)
    return tree.TreeDef(Carried, (tuple(pieces), kinds), (tree.LEAF,) * len(tensors)), tensors


# --- containers -----------------------------------------------------------------------------------


class _Shown:
    """An element of a container, whose repr is a mark."""

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor

    def __repr__(self) -> str:
        return mark(self.tensor, as_repr=True)


def _marked(value: Any) -> Any:
    """A container with marks in place of its symbolic tensors."""
    if isinstance(value, BaseException):
        return _marked_error(value) if has_symbols(value) else value
    if marks_itself(value):
        return value.marked()
    if not tree.is_container(value):
        return value
    leaves, treedef = tree.flatten(value, is_leaf=marks_itself)
    return treedef.unflatten([_shown(leaf) for leaf in leaves])


def _marked_error(error: BaseException) -> BaseException:
    """An exception with its values as plain Python holds them, but for symbolic tensors."""
    leaves, treedef = tree.flatten((error.args, own_fields(error)), is_leaf=marks_itself)
    args, fields = treedef.unflatten([_marked_leaf(leaf) for leaf in leaves])
    shown = type(error).__new__(type(error), *args)
    shown.args = args
    vars(shown).update(fields)
    return shown


def own_fields(error: BaseException) -> dict[str, Any]:
    """The attributes that the user's own class gave an exception."""
    notes = ("location", "users_own", "message", "remedy", "hidden_fields", "__notes__")
    return {
        name: value
        for name, value in getattr(error, "__dict__", {}).items()
        if name not in notes or name == "message" and getattr(error, "location", None) is None
    }


def _marked_leaf(leaf: Any) -> Any:
    if isinstance(leaf, Tensor) and leaf.is_symbolic:
        return leaf
    return _marked(leaf) if isinstance(leaf, BaseException) else _eager(leaf)


def marked_text(value: Any) -> str:
    """The text of a value, with marks."""
    return shown_to_user(str, value if marks_itself(value) else _marked(value))


_for_user = ContextVar("the text is for the user", default=False)


def shown_to_user(show: Callable[[Any], str], value: Any) -> str:
    """`str` or `repr` of a value, with a mark for any symbolic tensor that it shows."""
    before = _for_user.set(True)
    try:
        return show(value)
    finally:
        _for_user.reset(before)


def marks_itself(value: Any) -> bool:
    """Whether a value of ours, such as a list whose length the run knows, makes its own mark."""
    return hasattr(type(value), "marked")


def _shown(leaf: Any) -> Any:
    if marks_itself(leaf):
        return _Text(leaf.marked())
    if isinstance(leaf, BaseException):
        return _marked(leaf)
    return _Shown(leaf) if isinstance(leaf, Tensor) and leaf.is_symbolic else _eager(leaf)


class _Text:
    """An element of a container, of which the text is known."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def _eager(leaf: Any) -> Any:
    if not isinstance(leaf, Tensor):
        return leaf
    value = np.asarray(leaf.numpy())[()]
    return value.item() if leaf.spec.weak else value


def known(value: Any) -> Any:
    """What tracing knows, as plain Python would print it."""
    if not (tree.is_container(value) and any(isinstance(v, Tensor) for v in tree.leaves(value))):
        return value
    return _marked(value)


def has_symbols(value: Any) -> bool:
    """Whether printing a value needs the run: tensors in containers, or marks in a string."""
    if isinstance(value, str):
        return OPEN in exact(value) and current_builder() is not None
    if isinstance(value, BaseException):
        value = (value.args, own_fields(value))
    if marks_itself(value):
        return True
    if isinstance(value, Tensor):
        return False
    if tree.is_container(value):
        leaves = tree.flatten(value, is_leaf=marks_itself)[0]
    elif isinstance(value, SimpleNamespace):
        leaves = list(vars(value).values())
    else:
        leaves = [each for _, each in tree.held(value)]
    return any(isinstance(v, Tensor) and v.is_symbolic or has_symbols(v) for v in leaves)


_ON_THE_WAY = ("dataclasses.py", "reprlib.py", "collections/__init__.py", "pprint.py", "typing.py")


def asked_by_user(depth: int) -> bool:
    """Whether user code asks for a text, `depth` frames out: graphify's own messages and debuggers
    show what a value is, not a mark."""
    if current_builder() is None or _for_user.get():
        return _for_user.get()
    frame: Any = sys._getframe(depth)
    while frame is not None:
        filename = frame.f_code.co_filename
        if filename != "<string>" and not filename.endswith(_ON_THE_WAY):
            return not (is_library(filename) or is_internal(filename))
        frame = frame.f_back
    return False


class StagedText(str):
    """A string with marks in it: what Python makes of such a string is one, too, or is refused.

    Further behaviour is added by `strings`.
    """

    __slots__ = ("__weakref__",)


def staged(text: str) -> StagedText:
    """A string with marks as one that knows it: it must not outlive the trace."""
    made = StagedText(text)
    builder = current_builder()
    if builder is not None:
        builder.outermost.texts.append(weakref.ref(made))
    return made


def is_asked_by_converted_code() -> bool:
    """Whether a text stays in code that knows of marks: any string it makes of it is a StagedText.

    Such a text may be left unused, and is only refused where it outlives the trace.
    """
    frame: Any = sys._getframe(1)
    while is_internal(frame.f_code.co_filename):
        frame = frame.f_back
    return is_marked_code(frame.f_code)


def expect_use(value: Any, use: bool = True) -> None:
    """Whether the texts in a value have to be printed, raised or asserted with later on: those that
    other code may have put into strings of its own."""
    for leaf in tree.leaves(value):
        if isinstance(leaf, str) and OPEN in exact(leaf):
            for part in _parts(exact(leaf)):
                if isinstance(part, Mark):
                    part.used = not use


def refuse_text(value: str) -> NoReturn:
    """The error for Python needing a text that only the run knows."""
    tensors = pieces_of(value)[1]
    error = not_known(tensors[0], "the text")
    raise type(error)(
        error.message,
        location=error.location,
        remedy="print it, raise it or assert with it; to decide by it, compare numbers",
    )


def refuse_as_result(value: Any) -> None:
    """Refuse a text that only the run knows as a result of the function."""
    if isinstance(value, str) and has_symbols(value):
        _refuse_kept(value)


def check_marks(builder: Builder) -> None:
    """Refuse a trace in which the text of a symbolic tensor may have gone somewhere else.

    Raises:
        ConcreteValueNeeded: it did.
    """
    for found in builder.marks:
        if not found.used:
            _refuse(found, "other strings are not")


def check_texts(builder: Builder) -> None:
    """Refuse a trace of which a text is still held, say by an attribute or a global list.

    Raises:
        ConcreteValueNeeded: it is.
    """
    root: Any = builder
    for _, contents in root.logs:
        for leaf in tree.leaves(contents):
            refuse_as_result(leaf)
    if any(text() is not None for text in builder.texts):
        root.twins.clear()
        root.tracked.clear()
        _forget_guards(root)
        gc.collect()
    for reference in builder.texts:
        text = reference()
        if text is not None:
            _refuse_kept(text)


def _forget_guards(root: Any) -> None:
    """Drop the guards of what has texts in it, which the trace itself has made: exceptions."""
    for key, guard in list(root.guards.items()):
        if _holds_text(guard):
            del root.guards[key]


def _holds_text(guard: Any) -> bool:
    thing = guard
    for name in ("place", "base", "holder", "thing"):
        thing = getattr(thing, name, thing)
    parts = [] if isinstance(thing, BaseException) else [thing]
    while isinstance(thing, BaseException):
        parts.append((thing.args, own_fields(thing)))
        thing = thing.__cause__ or thing.__context__
    return any(isinstance(leaf, StagedText) for leaf in tree.leaves(parts))


def _refuse_kept(text: str) -> NoReturn:
    found = next(part for part in _parts(exact(text)) if isinstance(part, Mark))
    _refuse(found, "a string that outlives the call is not")


def _refuse(found: Mark, other: str) -> NoReturn:
    error = not_known(found.tensor, "the text")
    remedy = f"print it, raise it or assert with it: print(f'{{x}}') is staged, {other}"
    raise type(error)(error.message, location=found.location, remedy=remedy)
