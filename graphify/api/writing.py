"""What a trace gives and changes: results by origin, and writes to things outside it.

A run computes the new values of everything that the function updates; `check` refuses what cannot
be updated before anything runs, `store` and `put` make the changes afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphify import tree
from graphify.errors import TraceError
from graphify.ir.assign import assign
from graphify.ir.bind import bind
from graphify.ir.context import current_builder
from graphify.ir.op import Op
from graphify.ir.replay import substitute_attrs, unify
from graphify.ir.sizes import Dim, SizeVar
from graphify.ir.tensor import Tensor
from graphify.ir.types import Spec
from graphify.ir.wrapping import as_tensor
from graphify.tracing.capture import Hidden
from graphify.tracing.containers import Argument, container_ids, replace
from graphify.tracing.signature import Call

_EFFORT: Any = 10_000  # NumPy's stubs know the numbers 0 and -1 alone


@dataclass(frozen=True, slots=True, eq=False)
class Origin:
    """What a result is in Python: an argument (by position) or hidden input, seen through views.

    `specs` are those of the arguments, whose sizes the views may have among their attributes.
    """

    thing: Any
    views: tuple[tuple[Op, Mapping[str, Any]], ...]
    specs: tuple[Spec, ...] = ()

    def find(self, arrays: Sequence[Tensor]) -> Tensor:
        tensor = (
            arrays[self.thing] if isinstance(self.thing, int) else as_tensor(self.thing.current())
        )
        sizes: dict[SizeVar, Dim] = {}
        for spec, array in zip(self.specs, arrays, strict=False):
            unify(spec, array.dims, sizes)
        for op, attrs in self.views:
            here, again = substitute_attrs(attrs, sizes), op.extra.get("again")
            tensor = bind(op, (tensor,), here) if again is None else again(tensor, **here)
        return tensor


@dataclass(frozen=True, slots=True)
class Output:
    """A leaf of a function's result: a graph result, an argument, or a static Python value."""

    static: Any = None
    index: int | None = None  # position among the graph's results
    weak: bool = False  # give a Python number back
    origin: Origin | None = None  # the very object, or a view of it, that it is in Python


@dataclass(slots=True)
class Write:
    """Something from outside that the function changes: where, and which results it gets."""

    target: Any  # Hidden, the position of an argument, or the place of a field or container
    treedef: tree.TreeDef
    outputs: list[Output]
    container: bool = False  # the target is a list, dict, ... that gets new contents


# --- before the run -----------------------------------------------------------------------------


def check(name: str, traced: Any, inputs: Sequence[Tensor], call: Call | None) -> None:
    """Refuse inputs that the function's updates cannot reach, or would reach twice.

    Raises:
        TraceError: updated inputs share memory, or a container is passed twice.
        TypeError: an updated argument is an immutable foreign array.
        ValueError: an updated argument is read-only.
    """
    count = len(traced.params)
    where = [
        w.target if isinstance(w.target, int) else count + traced.hidden.index(w.target)
        for w in traced.writes
        if isinstance(w.target, (int, Hidden))
    ]
    if current_builder() is None:
        _check_overlap(name, [t.numpy() for t in inputs], where, count)
    elif any(not isinstance(w.target, (int, Hidden)) for w in traced.writes):
        raise TraceError(
            f"{name} changes fields or containers, "
            "which a concrete function cannot do inside a trace",
            remedy="call the function itself",
        )
    if call is not None:
        for position in where:
            if position < count:
                _check_writable(name, call, position)
    _check_containers(
        name, [w.target for w in traced.writes if isinstance(w.target, Argument)], call
    )


def _check_overlap(name: str, arrays: list[Any], written: Sequence[int], count: int) -> None:
    for i in written:
        for j, other in enumerate(arrays):
            if j != i and overlap(arrays[i], other):
                kinds = [f"argument {k}" if k < count else "a captured array" for k in (i, j)]
                raise TraceError(
                    f"{name}: {kinds[0]} is updated in place and shares memory with {kinds[1]}",
                    remedy="pass a copy of one of them",
                )


def overlap(a: Any, b: Any) -> bool:
    """Whether two arrays share memory, as far as can be told in reasonable time."""
    try:
        return np.shares_memory(a, b, max_work=_EFFORT)
    except np.exceptions.TooHardError:
        return True


def _check_writable(name: str, call: Call, position: int) -> None:
    leaf, tensor = call.leaves[call.positions[position]], call.arrays[position]
    if isinstance(leaf, np.ndarray) and not leaf.flags.writeable:
        raise ValueError(
            f"{name}: argument {call.name(call.positions[position])}: "
            "assignment destination is read-only"
        )
    if isinstance(leaf, (Tensor, np.ndarray, np.generic, bool, int, float, complex)):
        return
    assert isinstance(tensor, Tensor)
    if not np.may_share_memory(np.asarray(leaf), tensor.numpy()):
        raise TypeError(
            f"{name}: argument {call.name(call.positions[position])} is updated in place, but a "
            f"{type(leaf).__name__} gives away only copies of its elements"
        )


def _check_containers(name: str, written: list[Argument], call: Call | None) -> None:
    if not written:
        return
    if call is None:
        raise TraceError(
            f"{name} changes a container among its arguments, "
            "which a concrete function is not given",
            remedy="call the function itself",
        )
    seen = container_ids(call.bound)
    for place in written:
        if seen.count(id(place.read(call.bound))) > 1:
            raise TraceError(
                f"{name} changes a container that is passed twice",
                remedy="pass a copy in one of the two places",
            )


# --- after the run ------------------------------------------------------------------------------


def store(target: Hidden | int, new: Tensor, arrays: Sequence[Tensor], call: Call | None) -> None:
    """Update an array in place."""
    if isinstance(target, Hidden):
        assign(as_tensor(target.current()), new)
        return
    leaf = None if call is None else call.leaves[call.positions[target]]
    if isinstance(leaf, np.ndarray) and not leaf.dtype.isnative:
        leaf[...] = new.numpy()  # the tensor is a copy in native order
    else:
        assign(arrays[target], new)


def put(write: Write, value: Any, call: Call | None) -> None:
    """Give a field its new value, or a container its new contents."""
    if not write.container:
        write.target.write(value)
    elif isinstance(write.target, Argument):
        assert call is not None  # see check
        replace(write.target.read(call.bound), value)
    else:
        replace(write.target.read(), value)
