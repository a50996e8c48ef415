"""The graph: immutable nodes, and the builder that makes them.

    builder = Builder()
    x = builder.param(Spec((3,), float64), "x")
    (y,) = builder.add(add, (x, x), {})
    graph = builder.finish([y])

A `Node` applies an op to values; a `Value` is one result of a node. A `Graph` lists its nodes in
topological order; effectful nodes stand in program order. Sub-graphs (branches, loop bodies) are
attributes of nodes and closed: what they use from outside is a parameter. Size variables are bound
by the first bare occurrence in a parameter's or result's shape, or by the op `as_size`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from graphify.errors import InternalError, LeakedTracer, at
from graphify.ir.function import GraphFunction
from graphify.ir.op import Op, defop
from graphify.ir.sizes import SizeVar, dim_variables
from graphify.ir.types import Spec
from graphify.location import LazyLoc, here


@dataclass(frozen=True, eq=False, slots=True)
class Literal:
    """An array as a hashable attribute: small ones compare by content, large ones by identity."""

    array: np.ndarray[Any, Any]

    def __post_init__(self) -> None:
        frozen = self.array.view()  # a result that is a constant is copied before it is given out
        frozen.flags.writeable = False
        object.__setattr__(self, "array", frozen)

    def _key(self) -> Any:
        a = self.array
        if a.size > 64:
            return (a.__array_interface__["data"][0], a.shape, a.strides, a.dtype.name)
        return (a.dtype.name, a.shape, a.tobytes())

    def __hash__(self) -> int:
        return hash(self._key())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Literal) and self._key() == other._key()

    def __repr__(self) -> str:
        if self.array.size > 8:
            return f"<{self.array.size} elements>"
        return str(self.array.tolist())


@dataclass(frozen=True, eq=False, slots=True)
class Node:
    """One application of an op. `attrs` is never changed after construction.

    Attributes:
        in_bounds: what recorded it has seen to it that it does not fail where it runs.
    """

    op: Op
    inputs: tuple[Value, ...]
    attrs: Mapping[str, Any]
    specs: tuple[Spec, ...]
    source: LazyLoc | None = None
    effects: bool = False
    in_bounds: bool = False

    @property
    def outputs(self) -> tuple[Value, ...]:
        return tuple(Value(self, i) for i in range(len(self.specs)))

    @property
    def subgraphs(self) -> Iterator[tuple[str, Graph]]:
        return ((name, value) for name, value in self.attrs.items() if isinstance(value, Graph))

    def __repr__(self) -> str:
        return f"<node {self.op.name}>"


@dataclass(frozen=True, slots=True)
class Value:
    """Result `index` of `node`."""

    node: Node
    index: int = 0

    @property
    def spec(self) -> Spec:
        return self.node.specs[self.index]

    def __repr__(self) -> str:
        return f"<value {self.node.op.name}.{self.index}: {self.spec}>"


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True)
class Graph:
    """Parameters, nodes in topological order (parameters not among them), results."""

    params: tuple[Value, ...]
    nodes: tuple[Node, ...]
    results: tuple[Value, ...]
    name: str = "graph"

    @property
    def specs(self) -> tuple[Spec, ...]:
        """The specs of the results."""
        return tuple(value.spec for value in self.results)

    @property
    def effects(self) -> bool:
        return any(node.effects for node in self.nodes)

    def replace(self, **changes: Any) -> Graph:
        return replace(self, **changes)

    def size_bindings(self) -> dict[SizeVar, SizeBinding]:
        """Where each size variable of the graph gets its value."""
        bindings: dict[SizeVar, SizeBinding] = {}
        for value in self.params:
            bind_sizes(value, bindings)
        for node in self.nodes:
            for value in node.outputs:
                bind_sizes(value, bindings)
        return bindings


SizeBinding: TypeAlias = tuple[Value, int | None]  # value and axis; None: the scalar value itself


def bind_sizes(value: Value, bindings: dict[SizeVar, SizeBinding]) -> None:
    """Add the size variables that `value` binds."""
    if value.node.op is as_size:
        bindings.setdefault(value.node.attrs["var"], (value, None))
    for axis, dim in enumerate(value.spec.shape):
        if not isinstance(dim, int) and (variable := dim.as_variable()) is not None:
            bindings.setdefault(variable, (value, axis))


def attr_sizes(attrs: Mapping[str, Any]) -> Iterator[SizeVar]:
    """The size variables that a node's attributes use (sub-graphs are closed, so not theirs)."""
    for name, value in attrs.items():
        if name != "var":
            yield from dim_variables(_open_slices(value))


def _open_slices(value: Any) -> Any:
    if isinstance(value, slice):
        return (value.start, value.stop, value.step)
    if type(value) is tuple:
        return tuple(_open_slices(item) for item in value)
    return value


def has_effects(op: Op, attrs: Mapping[str, Any]) -> bool:
    """Whether applying the op prints, checks or the like: by itself, or by what it runs."""
    if op.extra.get("contained"):  # what it runs only tells whether it fails
        return False
    inner = (v for v in attrs.values() if isinstance(v, (Graph, GraphFunction)))
    return op.effects or any(v.effects for v in inner)


def freeze(value: Any) -> Any:
    """A hashable key for an attribute."""
    if isinstance(value, slice):
        return ("slice", value.start, value.stop, value.step)
    if type(value) is tuple:
        return tuple(freeze(item) for item in value)
    return (type(value), value) if isinstance(value, (bool, int, float, complex)) else value


param = defop("param", spec=lambda **attrs: attrs["spec"], doc="a parameter of a graph")
constant = defop(
    "constant",
    spec=lambda value, weak=False: Spec(value.array.shape, value.array.dtype, weak),
    eval=lambda value, weak=False: value.array,
    doc="a literal array",
)
as_size = defop(
    "as_size",
    spec=lambda spec, var: Spec((), spec.dtype, spec.weak),
    eval=lambda x, var: x,
    doc="binds a size variable to a run-time integer",
)


class Home:
    """Marks the tensors that a frame made; `open` while the whole trace is being recorded."""

    __slots__ = ("_open", "_parent")

    def __init__(self, parent: Home | None) -> None:
        self._open, self._parent = True, parent

    @property
    def open(self) -> bool:
        return self._open if self._parent is None else self._parent.open

    @property
    def recording(self) -> bool:
        """Whether the frame itself is still being recorded."""
        return self._open and (self._parent is None or self._parent.recording)

    def close(self) -> None:
        self._open = False


@dataclass(slots=True)
class History:
    """What had been written when a node was recorded, for who asks (see tracing/section.py).

    Attributes:
        order: of each node, by id, what was written before it; None while nobody asks.
        written: keys of the tensors and fields that were written so far on this path.
        turns: for each loop around, what a turn writes: the next turn begins after that. For each
            call around, what it writes: of a name that it rebinds, nobody knows when.
    """

    order: dict[int, tuple[frozenset[Any], tuple[set[Any], ...]]] | None = None
    written: frozenset[Any] = frozenset()
    turns: tuple[set[Any], ...] = ()

    def inside(self, name: str) -> History:
        """That of a frame within."""
        if self.order is None:
            return History()
        turns = (*self.turns, set()) if name == "body" else self.turns
        return History(self.order, self.written, turns)

    def write(self, key: Any) -> None:
        if self.order is not None:
            self.written |= {key}
            for turn in self.turns:
                turn.add(key)

    @contextlib.contextmanager
    def call(self) -> Iterator[None]:
        """What is written until the end of a call may be written before anything in it."""
        around, self.turns = self.turns, (*self.turns, set())
        try:
            yield
        finally:
            self.turns = around

    def record(self, node: Node) -> None:
        if self.order is not None:
            self.order[id(node)] = (self.written, self.turns)

    def forget(self, node: Node) -> None:
        """A view is brought up to date: that cannot fail where it was made."""
        if self.order is not None:
            self.order.pop(id(node), None)


def leaked(value: Value) -> LeakedTracer:
    """The error for a symbolic tensor that outlived the frame of its trace: it names the tensor,
    the line that made it and the line that uses it."""
    source = value.node.source
    made = None if source is None else source.resolve()
    name = None if made is None else made.variable
    what = f"'{name}', a symbolic tensor" if name else "a symbolic tensor"
    line = "" if made is None else f" made by `{made.text}` ({made})"
    used = here()
    return LeakedTracer(
        f"{what} {value.spec}{line}, is used outside the trace that made it",
        location=made if used is None else used.resolve(),
        remedy="return it from the function or block that makes it, instead of keeping it in a "
        "global, an attribute, a container or a closure",
    )


class Builder:
    """Records nodes; the only mutable thing of the IR. One builder is one frame of tracing.

    Pure nodes are interned on (op, inputs, attrs), so equal work is recorded once. A value of an
    enclosing builder becomes a parameter of this one the first time it is used.
    """

    def __init__(self, parent: Builder | None = None, name: str = "graph") -> None:
        self.parent, self.name = parent, name
        self.home: Home = Home(parent.home if parent is not None else None)
        self.params: list[Value] = []
        self.nodes: list[Node] = []
        self.captures: dict[Value, Value] = {}  # outer value -> parameter here
        self.captured: dict[Value, Value] = {}  # the other way round
        self.bindings: dict[SizeVar, SizeBinding] = {}
        self.sizes_of: dict[Value, Any] = {}  # integer value -> the size variable bound to it
        self.writes: dict[Any, Any] = {}  # tensors and fields of outer frames written in this one,
        self.writes_done: dict[Any, Any] = {}  # each with its value before; kept once restored
        self.section: dict[Any, Any] | None = None  # writes that may have to be taken back
        self.history: History = History() if parent is None else parent.history.inside(name)
        self.parts: list[Any] = []  # what runs in every lane of a vmap (api.lane_errors)
        self.marks: list[Any] = []  # texts of symbolic tensors (autograph.operators.texts),
        self.texts: list[Any] = []  # and weak references to the strings that hold them
        # What is recorded does not fail where it runs: see context.in_bounds.
        self.in_bounds: bool = parent is not None and parent.in_bounds
        self.nest: Any = None  # of the loop whose body this is (autograph.operators.nests)
        self.has_caught = False  # an exception, which may hold frames of code that is done
        self.suspended: tuple[Any, ...] | None = None  # tapes of the enclosing frame meanwhile
        self.scattered: set[Value] = set()  # parameters whose arrays do not lie in C order,
        self.needs_order: set[Value] = set()  # and those that the trace takes to do so
        self._own: set[int] = set()  # ids of the nodes made here; the nodes are kept alive below
        self._kept: list[Node] = []
        self._interned: dict[Any, Node] = {}

    @property
    def outermost(self) -> Builder:
        """The frame of the whole trace."""
        builder = self
        while builder.parent is not None:
            builder = builder.parent
        return builder

    def param(self, spec: Spec, name: str | None = None) -> Value:
        """A new parameter."""
        node = Node(param, (), {"spec": spec, "name": name}, (spec,), here())
        self._keep(node)
        value = Value(node)
        self.params.append(value)
        bind_sizes(value, self.bindings)
        return value

    def add(
        self,
        op: Op,
        inputs: Sequence[Value],
        attrs: Mapping[str, Any],
        source: LazyLoc | None = None,
        intern: bool = True,
    ) -> tuple[Value, ...]:
        """Record an op; returns its results. Raises what the op's spec rule raises.

        `intern=False` records it anew: a derivative must tell a value from its equal twin.
        """
        values = tuple(self.own(value) for value in inputs)
        for variable in attr_sizes(attrs):
            self.ensure_size(variable)
        effects = has_effects(op, attrs)
        key = None
        if not effects:
            key = (op, values, tuple((name, freeze(attrs[name])) for name in sorted(attrs)))
            known = self._interned.get(key)
            if known is not None and intern:
                return known.outputs
        source = source if source is not None else here()
        try:
            specs = op.spec(*(value.spec for value in values), **attrs)
        except (TypeError, ValueError, IndexError) as error:
            raise at(error, source.resolve() if source is not None else None) from error
        specs = (specs,) if isinstance(specs, Spec) else tuple(specs)
        node = Node(op, values, attrs, specs, source, effects, self.in_bounds)
        self._keep(node)
        self.nodes.append(node)
        self.history.record(node)
        if key is not None:
            self._interned[key] = node
        outputs = node.outputs
        for value in outputs:
            bind_sizes(value, self.bindings)
        return outputs

    def forget(self, nodes: Iterable[Node]) -> None:
        """Record equal work anew from now on: nobody may rely on these nodes."""
        gone = set(nodes)
        self._interned = {key: node for key, node in self._interned.items() if node not in gone}

    def log_write(self, key: Any, target: Any, before: Any, outer: bool = True) -> None:
        """Note that a tensor or field is about to change; `outer`: one of an enclosing frame."""
        if self.section is not None:
            self.section.setdefault(key, (target, before))
        if outer:
            self.writes.setdefault(key, (target, before))
            self.history.write(key)

    def external(self, thing: Any) -> Any:
        """What stands in this trace for an array or tensor from outside: a hidden input in a
        trace (see graphify.tracing.capture), the thing itself as a constant otherwise."""
        return thing if self.parent is None else self.parent.external(thing)

    def owns(self, value: Value) -> bool:
        return id(value.node) in self._own

    def own(self, value: Value) -> Value:
        """`value` as a value of this builder: itself, or the parameter that captures it.

        Raises:
            LeakedTracer: the value belongs to no enclosing builder.
        """
        if self.owns(value):
            return value
        captured = self.captures.get(value)
        if captured is not None:
            return captured
        if self.parent is None:
            raise leaked(value)
        self.parent.own(value)  # raises if nobody owns it
        if value.node.op is constant:
            (inner,) = self.add(constant, (), value.node.attrs, value.node.source)
        else:
            inner = self.param(value.spec, _name(value))
        self.captures[value], self.captured[inner] = inner, value
        return inner

    def has_size(self, variable: SizeVar) -> bool:
        """Whether a size variable is bound here, or in a frame around this one."""
        builder: Builder | None = self
        while builder is not None and variable not in builder.bindings:
            builder = builder.parent
        return builder is not None

    def ensure_size(self, variable: SizeVar) -> None:
        """Make a size variable computable here, capturing the value that binds it if need be."""
        if variable in self.bindings:
            return
        builder: Builder | None = self.parent
        while builder is not None:
            if variable in builder.bindings:
                value, axis = builder.bindings[variable]
                inner = self.own(value)
                self.bindings.setdefault(variable, (inner, axis))
                if axis is None and inner.node.op is not as_size:
                    (bound,) = self.add(as_size, (inner,), {"var": variable})
                    self.bindings[variable] = (bound, None)
                return
            builder = builder.parent
        raise InternalError(f"size variable {variable} is bound nowhere")

    def finish(self, results: Iterable[Value], name: str | None = None) -> Graph:
        """The graph recorded so far, with these results. Captures follow the own parameters."""
        return Graph(
            tuple(self.params),
            tuple(self.nodes),
            tuple(self.own(value) for value in results),
            name or self.name,
        )

    def _keep(self, node: Node) -> None:
        self._own.add(id(node))
        self._kept.append(node)


def origin(value: Value) -> LazyLoc | str | None:
    """The name of a parameter; where any other value was made."""
    return value.node.attrs["name"] if value.node.op is param else value.node.source


def _name(value: Value) -> str | None:
    if value.node.op is param:
        name: str | None = value.node.attrs["name"]
        return name
    return value.node.source.resolve().variable if value.node.source else None
