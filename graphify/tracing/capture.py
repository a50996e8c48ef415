"""From a Python function to a graph: frames of tracing and what they capture.

`subgraph` runs a function on symbolic tensors in a frame of its own. Inside a trace the frame is
a child: what it uses from outside becomes extra operands. Outside, it is a root that takes outside
arrays as hidden inputs.

    sub = subgraph(lambda x: x * 2, [Spec((3,), float64)])
    sub.graph, sub.captures
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from graphify import tree
from graphify.errors import TraceError
from graphify.ir.bind import (
    Tensor,
    as_tensor,
    bind,
    current_builder,
    not_taping,
    recording,
    resolve,
    value_in,
)
from graphify.ir.graph import Builder, Graph, Value
from graphify.ir.types import Spec, canonical_dtype
from graphify.tracing.guards import SCALARS, Guard, Place, fingerprint


class Root(Builder):
    """The outermost frame of a trace: takes arrays and tensors from outside as hidden inputs."""

    def __init__(self, name: str = "graph", moving: frozenset[Any] = frozenset()) -> None:
        super().__init__(None, name)
        self.moving = moving  # keys of places whose Python number changes too often to guard
        self.scalars: dict[tuple[int, str], Tensor] = {}  # the hidden inputs for those
        self.outside: dict[int, tuple[Any, Tensor]] = {}  # id -> (thing, its twin in the trace)
        self.hidden: list[Hidden] = []
        self.guards: dict[tuple[int, str], Guard] = {}
        self.places: dict[int, Place] = {}  # id of an array -> the place it was read from
        self.local_objects: dict[int, Any] = {}  # objects the trace itself constructed
        self.arguments: dict[int, Tensor] = {}  # id -> tensors that stand for the caller's arrays
        self.notes: list[str] = []  # why a loop was unrolled and the like, for `explain`

    def external(self, thing: Any) -> Tensor:
        known = self.outside.get(id(thing))
        if known is None:
            with recording(self):
                twin = self._twin(thing)
            known = self.outside[id(thing)] = (thing, twin)
        return known[1]

    def _twin(self, thing: Any) -> Tensor:
        if isinstance(thing, Tensor) and thing._base is not None and not self._differentiated(thing):
            op, operands, attrs = thing._view  # type: ignore[misc]
            return bind(op, (self.external(thing._base), *operands), attrs)  # type: ignore[no-any-return]
        array = thing._value if isinstance(thing, Tensor) else thing
        place = self.places.get(id(thing))
        spec = Spec(array.shape, canonical_dtype(array.dtype))
        value = self.param(spec, place.name if place else "captured")
        self.hidden.append(Hidden(value, thing, place))
        return VariableTwin(value, thing) if getattr(thing, "trainable", False) else Tensor(value)

    def _differentiated(self, thing: Tensor) -> bool:
        """Whether a tape outside follows this very tensor: then its base will not do for it."""
        return any(tape.tracks(thing) for tape in self.suspended or ())

    def guard(self, place: Place) -> Any:
        """The value at a place, as the trace shall see it: arrays become hidden inputs."""
        value = place.read()
        if id(place.holder) in self.local_objects:
            return value
        if isinstance(value, Tensor) and value.is_symbolic:
            return value
        if place.key in self.moving and type(value) in (int, float, complex):
            return self._scalar(place, value)
        if place.key not in self.guards:
            self.guards[place.key] = Guard(place, fingerprint(value))
        return self._lift(value, place)

    def _scalar(self, place: Place, value: Any) -> Tensor:
        """A Python number as a hidden input that is read from its place at each call."""
        known = self.scalars.get(place.key)
        if known is None:
            with recording(self):
                param = self.param(as_tensor(value).spec, place.name)
                known = self.scalars[place.key] = Tensor(param)
            self.hidden.append(Hidden(param, value, place))
        return known

    def _lift(self, value: Any, place: Place | None) -> Any:
        if isinstance(value, (Tensor, np.ndarray)):
            if _home_open(value):
                return value
            if place is not None:
                self.places.setdefault(id(value), place)
            return value if hasattr(value, "assign") else self.external(value)
        if isinstance(value, SCALARS) or not tree.is_container(value):
            return value
        leaves, treedef = tree.flatten(value)
        if not any(isinstance(leaf, (Tensor, np.ndarray)) for leaf in leaves):
            return value
        return treedef.unflatten([self._lift(leaf, None) for leaf in leaves])

    def wrote_outside(self) -> bool:
        """Whether the trace updated an array that it took from outside."""
        return any(t._base is None and t._version for _, t in self.outside.values())

    def settle_guards(self) -> None:
        """Drop guards on containers that the trace itself changed: they are its own log."""
        for key, guard in list(self.guards.items()):
            if type(guard.expected) is tuple and not guard.holds():
                del self.guards[key]


class VariableTwin(Tensor):
    """What stands in a trace for a trainable Variable: tapes watch it by themselves."""

    __slots__ = ("variable",)
    trainable = True

    def __init__(self, value: Value, variable: Any) -> None:
        super().__init__(value)
        self.variable = variable


def _home_open(value: Any) -> bool:
    return isinstance(value, Tensor) and value._home is not None and value._home.open


@dataclass(slots=True)
class Hidden:
    """A parameter that no caller passes: an array from outside, by reference or by place."""

    param: Value
    thing: Any
    place: Place | None

    def current(self) -> Any:
        """The object to feed now: what stands at the place, or the captured object."""
        return self.thing if self.place is None else self.place.read()


def root_of(builder: Builder | None) -> Root | None:
    """The root frame of the trace that `builder` belongs to, if it is one."""
    while builder is not None and builder.parent is not None:
        builder = builder.parent
    return builder if isinstance(builder, Root) else None


@dataclass(slots=True)
class SubGraph:
    """A traced function: its closed graph, the shape of its result, its extra operands."""

    graph: Graph
    treedef: tree.TreeDef
    captures: list[Tensor]
    writes: list[Tensor] = field(default_factory=list)  # outer tensors the function updates


@contextlib.contextmanager
def frame(name: str) -> Iterator[Builder]:
    """A frame of tracing: a child of the current one, or a root. It leaves no heap writes behind."""
    parent = current_builder()
    builder = Root(name) if parent is None else Builder(parent, name)
    with recording(builder), not_taping():
        try:
            yield builder
        finally:
            restore(builder)
            builder.home.close()


def restore(builder: Builder) -> None:
    """Give tensors and fields that the frame wrote the values they had before."""
    for target, before in builder.writes.values():
        if isinstance(target, Tensor):
            target._value = before
            target._version += 1
        elif before is ABSENT:
            with contextlib.suppress(AttributeError):
                delattr(target.holder, target.name)
        else:
            target.write(before)
    builder.writes_done = dict(builder.writes)
    builder.writes.clear()


ABSENT = object()


def captured(builder: Builder) -> list[Value]:
    """The outer values that a child frame uses as parameters, in the order of its parameters."""
    if isinstance(builder, Root):
        return []
    return [outer for outer, inner in builder.captures.items() if inner in builder.params]


def subgraph(function: Callable[..., Any], specs: Sequence[Spec], name: str = "body") -> SubGraph:
    """Trace `function(*tensors)` with one symbolic tensor per spec.

    Raises:
        TraceError: the function updates a tensor of an enclosing scope in place.
    """
    with frame(name) as builder:
        args = [Tensor(builder.param(spec)) for spec in specs]
        leaves, treedef = tree.flatten(function(*args))
        results = [value_in(resolve(as_tensor(leaf)), builder) for leaf in leaves]
        if builder.writes or (isinstance(builder, Root) and builder.wrote_outside()):
            raise TraceError(
                f"{name}: the function updates a tensor or attribute of an enclosing scope",
                remedy="return the new value instead",
            )
        graph = builder.finish(results)
    if isinstance(builder, Root):
        return SubGraph(graph, treedef, [as_tensor(hidden.thing) for hidden in builder.hidden])
    return SubGraph(graph, treedef, [Tensor(value) for value in captured(builder)])
