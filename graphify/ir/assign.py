"""In-place updates: `x[i] = y` rebinds what `x` stands for.

    assign(x, new)              # x, its base, its views and what may be the same array see `new`

An eager array is written to; a symbolic tensor takes a new value of the graph, and the frame notes
the write, so that staged control flow knows what its branches and bodies change.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphify.errors import LeakedTracer
from graphify.ir.context import FRAME, TAPES, tell_tapes
from graphify.ir.graph import Builder, Value
from graphify.ir.sharing import is_shared, storage, updates
from graphify.ir.tensor import Tensor, refresh, resolve, value_in, viewing
from graphify.ir.types import Array


def assign(target: Tensor, new: Tensor) -> None:
    """Rebind all of `target` to `new` (same shape and dtype), as seen by its base, its views and
    what may be the same array (see ir/sharing.py).

    Raises:
        ValueError: the target is a read-only array.
        TraceError: only the run will tell who else sees the update.
    """
    target = resolve(target)
    builder = FRAME.get()
    refresh(target)
    if type(target._value) is not Value and type(new._value) is not Value:
        if builder is None or _home_is(target, builder) and not is_shared(storage(target)):
            if builder is not None and builder.section is not None:
                _note(target._value, builder.section)
            _assign_eager(target, new)
            return
    if target._base is not None:
        _assign_through_base(target, new)
        return
    if builder is None:
        raise LeakedTracer("a symbolic tensor is assigned outside the trace that made it")
    follow = updates(target)
    store(target, new, builder)
    for update in follow:
        changed = _select_hook(update.when, update.changed, update.tensor)
        if update.tensor._base is not None:
            _assign_through_base(update.tensor, changed)
        else:
            store(resolve(update.tensor), changed, builder)


def store(target: Tensor, new: Tensor, builder: Builder) -> None:
    builder.log_write(id(target), target, target._value, not _home_is(target, builder))
    if target._made is None:
        target._made = target._value
    target._value = value_in(new, builder)
    target._version += 1


def _assign_through_base(view: Tensor, new: Tensor) -> None:
    op, operands, attrs = viewing(view)
    assert op.put is not None and view._base is not None
    assign(view._base, op.put(view._base, new, *operands, **attrs))
    refresh(view)


def _assign_eager(target: Tensor, new: Tensor) -> None:
    array: Array = target._value
    if not array.flags.writeable:
        raise ValueError("assignment destination is read-only")
    tapes = TAPES.get()
    if tapes and target._base is not None:
        _assign_through_base(target, new)
        return
    tell_tapes(array, new._value)
    array[...] = new._value
    target._version += bool(tapes)


class _Buffer:
    """The memory of an array, as something that a section of a trace has written."""

    def __init__(self, array: Array) -> None:
        self.array = array

    def write(self, before: Array) -> None:
        self.array[...] = before


def _note(array: Array, section: dict[Any, Any]) -> None:
    """Keep what is in the memory of an array, in case that the section is taken back."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    if id(array) not in section:
        section[id(array)] = (_Buffer(array), array.copy())


def _home_is(tensor: Tensor, builder: Builder) -> bool:
    """Whether the storage of `tensor` belongs to this frame, so that updating it stays inside."""
    while tensor._base is not None:
        tensor = tensor._base
    return tensor._home is builder.home


_select_hook: Callable[[Any, Any, Any], Tensor] = lambda pred, a, b: a  # noqa: E731


def set_select_hook(hook: Callable[[Any, Any, Any], Tensor]) -> None:
    """How to choose, by a condition, between what a tensor becomes and what it is: see
    graphify.autograph.operators.updates."""
    global _select_hook
    _select_hook = hook
