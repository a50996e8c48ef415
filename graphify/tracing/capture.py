"""From a Python function to a graph: frames of tracing and what they capture.

`subgraph` runs a function on symbolic tensors in a frame of its own. Inside a trace the frame is
a child: what it uses from outside becomes extra operands. Outside, it is a root that takes outside
arrays as hidden inputs.

    sub = subgraph(lambda x: x * 2, [Spec((3,), float64)])
    sub.graph, sub.captures
"""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from graphify import tree
from graphify.errors import TraceError
from graphify.ir.bind import bind
from graphify.ir.context import current_builder, not_taping, recording
from graphify.ir.function import GraphFunction
from graphify.ir.graph import Builder, Graph, Value
from graphify.ir.tensor import Tensor, resolve, value_in, viewing
from graphify.ir.types import Spec, canonical_dtype, in_c_order
from graphify.ir.wrapping import as_tensor, is_tensorflow
from graphify.location import LazyLoc, here, is_library_class
from graphify.tracing.apart import retracing
from graphify.tracing.containers import Tracked, elements, rebuilt
from graphify.tracing.guards import (
    MISSING,
    SCALARS,
    AnyGuard,
    Fields,
    Fixed,
    Guard,
    Number,
    Place,
    Presence,
    SameObject,
    Within,
    by_content,
    fingerprint,
    fits_64_bits,
    has_special_methods,
    is_numeric,
)
from graphify.tracing.identity import Sealed, attributes_of
from graphify.tracing.methods import Methods, NotHidden, functions_of, methods_of
from graphify.tracing.places import forget_local
from graphify.tracing.special import Met

AnyPlace = Place | Within
Run = Callable[[Graph, Sequence[Any]], Sequence[Any]]
ABSENT = object()  # what a name or field that does not exist holds


class Root(Builder):
    """The outermost frame of a trace: takes arrays and tensors from outside as hidden inputs."""

    def __init__(self, name: str = "graph", moving: frozenset[Any] = frozenset()) -> None:
        super().__init__(None, name)
        self.moving = moving  # keys of places whose Python number changes too often to guard
        self.scalars: dict[tuple[int, str], Tensor] = {}  # the hidden inputs for those
        self.outside: dict[int, tuple[Any, Tensor]] = {}  # id -> (thing, its twin in the trace)
        self.hidden: list[Hidden] = []
        self.guards: dict[Any, AnyGuard] = {}
        self.places: dict[int, AnyPlace] = {}  # id of an array -> the place it was read from
        self.tracked: list[Tracked] = []  # containers from outside, with their twins in the trace
        self.twins: dict[int, tuple[Any, Any]] = {}  # id -> (container from outside, its twin)
        self.cells: dict[int, tuple[CellType, CellType, Any]] = {}  # id -> (cell, its twin, value)
        self.logs: list[tuple[Any, Any]] = []  # containers that get these contents once
        self.spaces: dict[int, Space] = {}  # id of a module's globals -> their twin
        self.local_objects: dict[int, Any] = {}  # objects the trace itself constructed
        self.made_at: dict[int, LazyLoc] = {}  # id of a dict or set the trace made, maybe long gone
        self.makes: dict[type, list[LazyLoc]] = {}  # where it made dicts, and where sets
        self.sealed: dict[int, Sealed] = {}  # containers that must not change any more
        # Whether several lists, or places of one, may have one element; and those that have one at
        # two places for now (autograph.operators.elements).
        self.shared_elements = False
        self.twice: list[Any] = []
        self.arguments: dict[int, Tensor] = {}  # id -> tensors that stand for the caller's arrays
        self.functions: list[GraphFunction] = []  # made of recursive functions, each once
        self.inlined: dict[CodeType, Exception] = {}  # recursive functions no graph is made of: why
        self.notes: list[str] = []  # why a loop was unrolled and the like, for `explain`
        self.attempts = 0  # loops being staged that could be unrolled instead
        self.promoted: dict[str, str] = {}  # names that join two dtypes -> which
        self.run: Run | None = None  # runs a graph of what is known, by the function's engine
        self.streams = (sys.stdout, sys.stderr)  # and what else the function may set for a while
        self.warnings = warnings.filters
        self.met: Met | None = Met()  # classes with special methods; None: nothing is converted
        self.copies = 1  # how many times the loops being unrolled repeat what is traced now

    def close(self) -> None:
        """The trace is over."""
        self.home.close()
        if self.met is not None:
            self.met.leave()

    def external(self, thing: Any) -> Tensor:
        known = self.outside.get(id(thing))
        if known is None:
            with recording(self):
                twin = self._twin(thing)
            known = self.outside[id(thing)] = (thing, twin)
        return known[1]

    def _twin(self, thing: Any) -> Tensor:
        if (
            isinstance(thing, Tensor)
            and thing._base is not None
            and not self._differentiated(thing)
        ):
            op, operands, attrs = viewing(thing)
            twin: Tensor = bind(op, (self.external(thing._base), *operands), attrs)
            return twin
        array = thing._value if isinstance(thing, Tensor) else np.asarray(thing)
        place = self.places.get(id(thing))
        spec = Spec(array.shape, canonical_dtype(array.dtype))
        value = self.param(spec, place.name if place else "captured")
        if not in_c_order(array):
            self.scattered.add(value)
        self.hidden.append(Hidden(value, thing, place))
        if isinstance(thing, Tensor) and getattr(thing, "trainable", False):
            return VariableTwin(value, thing)
        return Tensor(value)

    def _differentiated(self, thing: Tensor) -> bool:
        """Whether a tape outside follows this very tensor: then its base will not do for it."""
        return any(tape.tracks(thing) for tape in self.suspended or ())

    def present(self, place: Place, expected: bool) -> bool:
        """Guard that an attribute exists, or does not."""
        self.guards.setdefault((place.key, "present"), Presence(place, expected))
        return expected

    def guard(self, place: Place) -> Any:
        """The value at a place, as the trace shall see it: arrays become hidden inputs."""
        value = place.read()
        if id(place.holder) in self.local_objects:
            owner = _class_with(place)
            return value if owner is None else self.guard(owner)
        if isinstance(value, Tensor) and value.is_symbolic:
            return value
        if place.key in self.moving and type(value) in (int, float, complex):
            if fits_64_bits(value):
                self.guards[place.key] = Number(place, type(value))
                return self._scalar(place, value)
        if place.key not in self.guards:
            self.guards[place.key] = Guard(place, fingerprint(value))
        return self._lift(value, place)

    def _scalar(self, place: AnyPlace, value: Any) -> Tensor:
        """A number as a hidden input that is read from its place at each call."""
        known = self.scalars.get(place.key)
        if known is None:
            with recording(self):
                tensor = as_tensor(value)
                param = self.param(tensor.spec, place.name)
                known = self.scalars[place.key] = Tensor(param)
                known._scalar = tensor._scalar
            self.hidden.append(Hidden(param, value, place))
        return known

    def _lift(self, value: Any, place: AnyPlace) -> Any:
        """A value from outside as the trace sees it: arrays are inputs, containers have twins."""
        if isinstance(value, np.generic):  # np.float64 is a float, too
            return self._scalar(place, value) if is_numeric(value) else value
        if isinstance(value, (*SCALARS, type, ModuleType)):
            return value
        if isinstance(value, (Tensor, np.ndarray)) or is_tensorflow(value):
            return value if _home_open(value) else self._array(value, place)
        self.meet(type(value))
        if id(value) in self.twins:
            return self.twins[id(value)][1]
        inside = elements(value)
        if inside is None and type(value) is not set:
            self.watch(value)
            return value
        base, steps = (place.base, place.steps) if isinstance(place, Within) else (place, ())
        children = [self._lift(child, Within(base, (*steps, step))) for step, child in inside or ()]
        if isinstance(value, tuple):
            same = all(a is b for a, (_, b) in zip(children, inside or (), strict=True))
            return value if same else rebuilt(value, children)
        with recording(self):  # whatever frame looks at it first
            twin = set(value) if type(value) is set else rebuilt(value, children)
        self.twins[id(value)] = (value, twin)
        self.tracked.append(Tracked(twin, place))
        return twin

    def _array(self, value: Any, place: AnyPlace) -> Any:
        if isinstance(value, Tensor) and value.is_symbolic:
            return value  # leaked from another trace: whatever uses it says so
        first = self.places.setdefault(id(value), place)
        if first.key != place.key:
            self.guards.setdefault((first.key, place.key), SameObject(first, place))
        variable = isinstance(value, Tensor) and hasattr(value, "assign")
        return value if variable else self.external(value)

    def cell(self, cell: CellType, name: str, lift: Callable[[Place], Any]) -> CellType:
        """The twin of a closure cell; the functions of the trace that share the cell share it."""
        known = self.cells.get(id(cell))
        if known is None:
            value = lift(Place(cell, name, "cell"))
            known = self.cells[id(cell)] = (cell, CellType(value), value)
        return known[1]

    def space(self, names: dict[str, Any]) -> Space:
        """The twin of a module's globals."""
        known = self.spaces.get(id(names))
        if known is None:
            known = self.spaces[id(names)] = Space(names, dict(names))
        return known

    def made(self, function: FunctionType) -> bool:
        """Whether the trace itself defined a function, whose cells and globals are fit to use."""
        return any(space.twin is function.__globals__ for space in self.spaces.values())

    def wrote_outside(self) -> bool:
        """Whether the trace updated an array that it took from outside."""
        return any(t._base is None and t._version for _, t in self.outside.values())

    def meet(self, kind: type) -> None:
        """See to it that the trace calls the special methods of a class converted, and guard what
        the class defines."""
        if self.met is not None:
            self.met.meet(kind)
        self._guard_methods(kind)

    def meet_method(self, thing: Any, name: str) -> None:
        """Guard that Python finds a method of an object or class where the trace found it."""
        kind = thing if isinstance(thing, type) else type(thing)
        self._guard_methods(kind)
        hides = hasattr(thing, "__dict__") and kind is not thing and not is_library_class(kind)
        if hides and id(thing) not in self.local_objects:
            self.guards.setdefault((id(thing), "hides", name), NotHidden(thing, name))

    def _guard_methods(self, kind: type) -> None:
        key = (id(kind), "methods")
        if key in self.guards or is_library_class(kind):
            return
        own = list(functions_of(kind))
        if any(map(self.made, own)) or not own and "<locals>" in kind.__qualname__:
            for base in kind.__bases__:  # the trace has defined the class, and must not keep it
                self._guard_methods(base)
        else:
            self.guards[key] = Methods(kind, methods_of(kind))

    def watch(self, thing: Any) -> None:
        """Guard the fields of an object with special methods of its own that are not converted
        (see `Fields`)."""
        kind: Any = type(thing)
        if hasattr(thing, "__dict__") and has_special_methods(kind, self.met is not None):
            key = (id(thing), "fields")
            if key not in self.guards:
                self.guards[key] = Fields(thing, by_content(vars(thing), copy=True))

    @contextlib.contextmanager
    def attempting(self) -> Iterator[None]:
        """While a loop is being staged that could be unrolled instead."""
        self.attempts += 1
        sealed, texts = dict(self.sealed), len(self.marks)
        try:
            yield
        except BaseException:
            self.sealed = sealed
            del self.marks[texts:]
            raise
        finally:
            self.attempts -= 1

    def note_read(self, container: Any) -> None:
        """Note that the program looks at a container: what the trace does to it is no mere log."""
        for tracked in self.tracked:
            tracked.seen = tracked.seen or tracked.twin is container

    def log(self, tracked: Tracked, contents: Any) -> None:
        """A list or set that the trace writes, once: from now on only its identity counts."""
        container = tracked.place.read()
        self.guards[tracked.place.key] = SameObject(tracked.place, Fixed(container))
        self.logs.append((container, contents))

    def rebound(self) -> Iterator[tuple[Place, Any]]:
        """Closure variables and globals that the trace assigned, with their new values."""
        for cell, twin, before in self.cells.values():
            value = Place(twin, "", "cell").read()
            if value is not before:
                yield Place(cell, "", "cell"), value
        for space in self.spaces.values():
            for name in sorted(space.written):
                value = space.twin.get(name, ABSENT)
                if value is not space.before.get(name, ABSENT):
                    yield Place(space.names, name, "global"), value


@dataclass(slots=True, eq=False)
class Space:
    """A module's globals and their twin, which the functions of a trace read and rebind."""

    names: dict[str, Any]
    twin: dict[str, Any]
    before: dict[str, Any] = field(default_factory=dict)  # values of the names that were lifted
    written: set[str] = field(default_factory=set)  # names declared global

    def lift(self, name: str, lift: Callable[[Place], Any]) -> None:
        """Make the trace see a name as it shall see it."""
        if name not in self.before and name in self.names:
            self.twin[name] = self.before[name] = lift(Place(self.names, name, "global"))


class VariableTwin(Tensor):
    """What stands in a trace for a trainable Variable: tapes watch it by themselves."""

    __slots__ = ("variable",)
    trainable = True

    def __init__(self, value: Value, variable: Any) -> None:
        super().__init__(value)
        self.variable = variable


def inherited(place: AnyPlace) -> Place | None:
    """Where a class has what is read as a field of an object, or of a class derived from it."""
    if not isinstance(place, Place) or place.kind != "attribute":
        return None
    holder, name = place.holder, place.name
    is_class = isinstance(holder, type)
    kinds = [k for k in (holder if is_class else type(holder)).__mro__ if name in vars(k)]
    if not kinds or kinds[0] is holder or hasattr(vars(kinds[0])[name], "__get__"):
        return None
    return (
        None
        if not is_class and name in attributes_of(holder)
        else Place(kinds[0], name, place.kind)
    )


def previous(place: Any) -> Any:
    """What undoing a write brings back; ABSENT where the object itself had nothing."""
    value = ABSENT if inherited(place) is not None else place.read()
    return ABSENT if value is MISSING else value


def _class_with(place: AnyPlace) -> Place | None:
    """Where a class has the field of an object from the trace, if no path wrote it there."""
    owner, builder = inherited(place), current_builder()
    while owner is not None and builder is not None and owner.key not in builder.writes:
        builder = builder.parent
    return owner if builder is None else None


def _home_open(value: Any) -> bool:
    return isinstance(value, Tensor) and value._home is not None and value._home.open


@dataclass(slots=True)
class Hidden:
    """A parameter that no caller passes: an array from outside, by reference or by place."""

    param: Value
    thing: Any
    place: AnyPlace | None

    def current(self) -> Any:
        """The object to feed now: what stands at the place, or the captured object."""
        return self.thing if self.place is None else self.place.read()


def root_of(builder: Builder | None) -> Root | None:
    """The root frame of the trace that `builder` belongs to, if it is one."""
    while builder is not None and builder.parent is not None:
        builder = builder.parent
    return builder if isinstance(builder, Root) else None


def is_outer(tensor: Tensor) -> bool:
    """Whether a tensor stands for an array of the caller's, or for one of a name outside."""
    root = root_of(current_builder())
    outside = () if root is None else (twin for _, twin in root.outside.values())
    return root is not None and id(tensor) in root.arguments or any(tensor is t for t in outside)


@dataclass(slots=True)
class SubGraph:
    """A traced function: its closed graph, the shape of its result, its extra operands."""

    graph: Graph
    treedef: tree.TreeDef
    captures: list[Tensor]
    writes: list[Tensor] = field(default_factory=list)  # outer tensors the function updates
    parts: tuple[Any, ...] = ()  # what runs in every lane of a vmap


@contextlib.contextmanager
def frame(name: str) -> Iterator[Builder]:
    """A frame of tracing: a child of the current one, or a root. Leaves no heap writes behind."""
    parent = current_builder()
    builder = Root(name) if parent is None else Builder(parent, name)
    with recording(builder), not_taping():
        try:
            yield builder
        finally:
            restore(builder)
            (builder if isinstance(builder, Root) else builder.home).close()


def restore(builder: Builder) -> None:
    """Give tensors and fields that the frame wrote the values they had before."""
    undo(builder.writes.values())
    builder.writes_done = dict(builder.writes)
    builder.writes.clear()


def undo(writes: Iterable[tuple[Any, Any]]) -> None:
    """Give tensors and fields the values they had before."""
    for target, before in writes:
        if isinstance(target, Tensor):
            target._value = before
            target._version += 1
        elif before is ABSENT and target.kind == "global":
            target.holder.pop(target.name, None)
        elif before is ABSENT:
            with contextlib.suppress(AttributeError):
                delattr(target.holder, target.name)
        else:
            target.write(before)


def captured(builder: Builder) -> list[Value]:
    """The outer values that a child frame uses as parameters, in the order of its parameters."""
    if isinstance(builder, Root):
        return []
    return [outer for outer, inner in builder.captures.items() if inner in builder.params]


def _drop_objects(builder: Builder) -> None:
    """Let go of the objects that a finished function constructed, and of what they hold."""
    root = root_of(builder)
    if root is not None:
        made = [key for key, (_, home) in root.local_objects.items() if home is builder.home]
        for key in made:
            del root.local_objects[key]


def _written(builder: Builder) -> str:
    """What the function of a frame updates outside of it."""
    targets = [target for target, _ in builder.writes.values() if not isinstance(target, Tensor)]
    return ", ".join(dict.fromkeys(map(str, targets))) or "a tensor"


def subgraph(
    function: Callable[..., Any], specs: Sequence[Spec], name: str = "body", what: str | None = None
) -> SubGraph:
    """Trace `function(*tensors)` with one symbolic tensor per spec.

    Args:
        name: of the graph.
        what: the function's role, as an error names it.

    Raises:
        TraceError: the function updates a tensor of an enclosing scope in place.
    """
    if current_builder() is None:
        return retracing(lambda: _subgraph(function, specs, name, what))
    return _subgraph(function, specs, name, what)


def _subgraph(
    function: Callable[..., Any], specs: Sequence[Spec], name: str, what: str | None
) -> SubGraph:
    with frame(name) as builder:
        args = [Tensor(builder.param(spec)) for spec in specs]
        leaves, treedef = tree.flatten_arrays(function(*args))
        results = [value_in(resolve(as_tensor(leaf)), builder) for leaf in leaves]
        _drop_objects(builder)
        forget_local(builder, thoroughly=True)
        if builder.writes or (isinstance(builder, Root) and builder.wrote_outside()):
            raise TraceError(
                f"{what or name}: the function updates {_written(builder)} of an enclosing scope",
                location=here(),
                remedy="return the new value instead",
            )
        graph = builder.finish(results)
    if isinstance(builder, Root):
        captures = [as_tensor(hidden.thing) for hidden in builder.hidden]
    else:
        captures = [Tensor(value) for value in captured(builder)]
    return SubGraph(graph, treedef, captures, parts=tuple(builder.parts))
