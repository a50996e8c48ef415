"""What is going on while ops are bound: the frame that is recorded, the tapes that listen.

    with recording(builder):           # ops on symbolic tensors become nodes of `builder`
        with taping(tape):             # and `tape` hears of each of them
            y = sin(x)

Both are context variables, so that threads and nested traces do not mix.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol

from graphify.errors import TransformError
from graphify.ir.graph import Builder
from graphify.ir.op import Op
from graphify.ir.types import Array
from graphify.location import here

if TYPE_CHECKING:
    from graphify.ir.tensor import Tensor

FRAME: ContextVar[Builder | None] = ContextVar("graphify_builder", default=None)
TAPES: ContextVar[tuple[Tape, ...]] = ContextVar("graphify_tapes", default=())
# Tapes that refer to eager arrays: they hear of updates also when they no longer record.
_keepers: weakref.WeakSet[Tape] = weakref.WeakSet()


class Tape(Protocol):
    """What wants to hear of every op bound while it is active (see transforms/tape.py)."""

    strict: bool  # values it tracks may not leave for Python at all

    def record(
        self, op: Op, inputs: Sequence[Tensor], attrs: dict[str, Any], outputs: Sequence[Tensor]
    ) -> None: ...

    def tracks(self, tensor: Tensor) -> bool: ...  # its value depends on a watched one

    # `buffer` is about to be overwritten with `new`; `copies` shares snapshots between tapes.
    def rebind(self, buffer: Array, new: Array, copies: dict[int, Array]) -> None: ...


def current_builder() -> Builder | None:
    """The builder of the innermost frame being traced, None outside a trace."""
    return FRAME.get()


@contextlib.contextmanager
def in_bounds(certain: bool = True) -> Iterator[None]:
    """What is recorded meanwhile does not fail where it runs, or may do so again: for code that has
    compared its indices with a length, and goes on to change what a `try` around it sees."""
    builder = FRAME.get()
    if builder is None:
        yield
        return
    before, builder.in_bounds = builder.in_bounds, certain
    try:
        yield
    finally:
        builder.in_bounds = before


@contextlib.contextmanager
def recording(builder: Builder | None) -> Iterator[None]:
    """Make `builder` the current frame."""
    token = FRAME.set(builder)
    try:
        yield
    finally:
        FRAME.reset(token)


def active_tapes() -> tuple[Tape, ...]:
    return TAPES.get()


@contextlib.contextmanager
def taping(*tapes: Tape) -> Iterator[None]:
    """Add tapes to the active ones."""
    token = TAPES.set((*TAPES.get(), *tapes))
    try:
        yield
    finally:
        TAPES.reset(token)


@contextlib.contextmanager
def not_taping() -> Iterator[None]:
    """No tape hears of what is bound inside."""
    builder = FRAME.get()
    if builder is not None and builder.suspended is None:
        builder.suspended = TAPES.get()
    token = TAPES.set(())
    try:
        yield
    finally:
        TAPES.reset(token)


@contextlib.contextmanager
def taping_in(frame: Builder | None) -> Iterator[None]:
    """The tapes that listen to an enclosing frame, while a frame inside it is recorded."""
    builder, tapes = FRAME.get(), TAPES.get()
    while builder is not None and builder is not frame:
        if builder.suspended is not None:
            tapes = builder.suspended
        builder = builder.parent
    token = TAPES.set(tapes)
    try:
        yield
    finally:
        TAPES.reset(token)


def tracked(tensor: Tensor) -> bool:
    """Whether a derivative is being taken with respect to something the tensor depends on."""
    return any(tape.tracks(tensor) for tape in TAPES.get())


def check_leaving(tensor: Tensor, how: str, lenient: bool = False) -> None:
    """Raise if a derivative would be lost when the tensor's value leaves for NumPy or Python.

    Args:
        lenient: a tape that the user runs lets it pass: they may only want to look at it.

    Raises:
        TransformError: the value is being differentiated.
    """
    if any((tape.strict or not lenient) and tape.tracks(tensor) for tape in TAPES.get()):
        # NOTE: no TypeError. NumPy would swallow it and go on to complain about a sequence.
        raise TransformError(
            f"{how} takes the value of a tensor {tensor.spec} whose derivative is being computed; "
            "the derivative would be lost",
            location=here(),
            remedy="create arrays with graphify.numpy, or decorate the function with "
            "graphify.function; t.numpy() and graphify.stop_gradient(t) take the value alone",
        )


def keep_for(tape: Tape) -> None:
    """From now on the tape refers to eager arrays."""
    _keepers.add(tape)


def tell_tapes(buffer: Array, new: Array) -> None:
    """Tell every tape that `buffer` is about to become `new`. With `new` the buffer itself, tapes
    stop relying on it: whoever owns it may then write to it unseen."""
    if _keepers:
        copies: dict[int, Array] = {}
        for tape in list(_keepers):
            tape.rebind(buffer, new, copies)
