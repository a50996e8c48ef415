"""The tape: which op made which value, for values that depend on watched ones.

    tape = Tape()
    key = tape.watch(x)
    with taping(tape):
        y = sin(x)
    backprop(tape.records, [tape.key(y)], [ones], [key])

A value is known by its *key*, which never changes meaning. A symbolic tensor's key is its graph
`Value`. An eager tensor's key is a `Stored` entry, found by the array object; when an in-place
update is about to overwrite an array, the entries that share its memory keep a copy, and the
array's new content takes the key of what was written (see `graphify.ir.assign.assign`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from graphify.ir.context import keep_for
from graphify.ir.graph import Value
from graphify.ir.op import Op
from graphify.ir.tensor import Tensor, refresh
from graphify.ir.types import Array, is_inexact
from graphify.location import LazyLoc, here


class Stored:
    """The key of an eager value, and the value as it was."""

    __slots__ = ("tensor",)

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor


Key: TypeAlias = Value | Stored


def tensor_of(key: Key) -> Tensor:
    """The value that a key stands for."""
    return key.tensor if isinstance(key, Stored) else Tensor(key)


@dataclass(slots=True)
class Record:
    """One op applied while the tape ran."""

    op: Op
    inputs: tuple[Key, ...]
    attrs: dict[str, Any]
    outputs: tuple[Key, ...]
    source: LazyLoc | None

    def active(self) -> Iterator[Key]:
        """The inputs through which a derivative may flow."""
        positions = self.op.differentiable
        return (
            iter(self.inputs)
            if positions is None
            else (key for i, key in enumerate(self.inputs) if i in positions)
        )

    @property
    def several(self) -> bool:
        """Whether the op's rules see results as a tuple."""
        return len(self.outputs) > 1 or bool(self.op.extra.get("tuple"))


FOREIGN = 0  # the group of arrays over memory that no array owns


class Tape:
    """Records the ops that depend on watched tensors, in order."""

    def __init__(
        self, on_access: Callable[[Tensor], None] | None = None, strict: bool = False
    ) -> None:
        self.records: list[Record] = []
        self.strict = strict
        self.paused = False
        self.on_access = on_access  # told of each operand that is more than a plain Tensor
        self._live: set[Key] = set()  # keys that depend on a watched one, or are one
        self._known: dict[int, tuple[Array, Stored]] = {}  # id of an array -> itself, its key
        self._groups: dict[int, set[int]] = {}  # owner of memory -> ids in _known that use it

    def watch(self, tensor: Tensor) -> Key:
        """Start from this value too. Integers may be watched but have no derivative."""
        key = self.key(tensor)
        if is_inexact(tensor.dtype):
            self._live.add(key)
        return key

    def key(self, tensor: Tensor) -> Key:
        """The key of a tensor's present value."""
        refresh(tensor)
        value = tensor._value
        if type(value) is Value:
            return value
        entry = self._known.get(id(value))
        if entry is not None:
            return entry[1]
        return self._store(Stored(Tensor(value, weak=tensor._weak)), value)

    def follows(self, key: Key) -> bool:
        """Whether a value is watched or depends on one that is."""
        return key in self._live

    def tracks(self, tensor: Tensor) -> bool:
        """Whether the tensor's present value depends on a watched one, and the tape runs."""
        value = tensor._value
        if self.paused:
            return False
        if type(value) is Value:
            return value in self._live
        entry = self._known.get(id(value))
        return entry is not None and entry[1] in self._live

    # --- what bind tells ---

    def record(
        self, op: Op, inputs: Sequence[Tensor], attrs: dict[str, Any], outputs: Sequence[Tensor]
    ) -> None:
        if self.paused:
            return
        if self.on_access is not None:
            for t in inputs:
                if type(t) is not Tensor:
                    self.on_access(t)
        if op.differentiable == () or not any(map(self.tracks, inputs)):
            return
        positions = range(len(inputs)) if op.differentiable is None else op.differentiable
        if not any(i < len(inputs) and self.tracks(inputs[i]) for i in positions):
            return
        results = [t for t in outputs if is_inexact(t.dtype)]
        if not results:
            return
        keys = tuple(self.key(t) for t in inputs)
        made = tuple(self.key(t) for t in outputs)
        self.records.append(Record(op, keys, attrs, made, here()))
        self._live.update(self.key(t) for t in results)

    def rebind(self, buffer: Array, new: Array, copies: dict[int, Array]) -> None:
        """`buffer` is about to be overwritten with `new`, or, where both are one, may be unseen.

        Args:
            copies: snapshots by id of the array, shared by all tapes: a derivative computed from
                one tape's snapshot must be known to the others.
        """
        incoming = self._known.get(id(new))
        for number in self._sharing(buffer):
            array, stored = self._forget(number)
            if stored.tensor._value is array:
                if number not in copies:
                    copies[number] = array.copy()
                stored.tensor = Tensor(copies[number], weak=stored.tensor._weak)
                self._store(stored, copies[number])
            if new is buffer:  # not overwritten yet: the array still stands for what was recorded
                self._store(stored, array)
        if incoming is not None:
            self._store(incoming[1], buffer)

    # --- bookkeeping ---

    def _store(self, stored: Stored, array: Array) -> Stored:
        if not self._known:
            keep_for(self)
        self._known[id(array)] = (array, stored)
        self._groups.setdefault(_owner(array), set()).add(id(array))
        return stored

    def _forget(self, number: int) -> tuple[Array, Stored]:
        entry = self._known.pop(number)
        self._groups[_owner(entry[0])].discard(number)
        return entry

    def _sharing(self, buffer: Array) -> list[int]:
        """Known arrays that share memory with `buffer`."""
        owner = _owner(buffer)
        groups = (
            self._groups.values()
            if owner == FOREIGN
            else (self._groups.get(group, set()) for group in (owner, FOREIGN))
        )
        return [
            number
            for group in groups
            for number in group
            if np.may_share_memory(self._known[number][0], buffer)
        ]


def _owner(array: Array) -> int:
    """Which memory an array uses: the id of the array that owns it."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return id(array) if array.base is None else FOREIGN
