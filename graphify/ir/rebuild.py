"""Making a graph again with some values replaced: what every pass is written with.

    again = Rebuild(graph)
    for node in graph.nodes:
        if is_double_negation(node):
            again.replace(node, [again(node.inputs[0].node.inputs[0])])
        else:
            again.keep(node)
    return again.finish()

A node whose inputs did not change is kept as the very same object, and a graph in which nothing
changed is returned as the very same object, so a pass with nothing to do costs one walk.

Specs follow: where a replacement knows more than the value it replaces (a size that has become a
number), the nodes after it are inferred again and size variables stand for what they turned out
to be.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from graphify.errors import InternalError, ShapeError, SpecError
from graphify.ir.graph import (
    Builder,
    Graph,
    Literal,
    Node,
    SizeBinding,
    Value,
    as_size,
    attr_sizes,
    bind_sizes,
    constant,
    freeze,
    has_effects,
)
from graphify.ir.op import Op
from graphify.ir.sizes import Dim, Size, SizeVar, dim_variables, size, substitute
from graphify.ir.types import Spec
from graphify.location import LazyLoc


class UnboundSize(InternalError):
    """A node would use a size that nothing before it binds."""


class Frame(Builder):
    """A builder whose nodes come from rules as well as from the graph that is made again.

    Attributes:
        source: where the node being replaced comes from; nodes made now say they come from there.
    """

    def __init__(self, params: Sequence[Value], name: str = "graph") -> None:
        super().__init__(name=name)
        self.source: LazyLoc | None = None
        self.params = list(params)
        self._keys: dict[Node, Any] = {}
        for value in params:
            bind_sizes(value, self.bindings)

    def owns(self, value: Value) -> bool:
        return True  # rules only ever see values of this graph

    def add(
        self,
        op: Op,
        inputs: Sequence[Value],
        attrs: Mapping[str, Any],
        source: LazyLoc | None = None,
        intern: bool = True,
    ) -> tuple[Value, ...]:
        effects = has_effects(op, attrs)
        key = None
        if not effects:
            items = tuple((name, freeze(attrs[name])) for name in sorted(attrs))
            key = (op, tuple(inputs), items)
            if intern and key in self._interned:
                return self._interned[key].outputs
        for variable in attr_sizes(attrs):
            self.ensure_size(variable)
        specs = infer(op, [value.spec for value in inputs], attrs)
        node = Node(op, tuple(inputs), attrs, specs, self.source, effects)
        if key is not None:
            self._interned[key] = node
            self._keys[node] = key
        self.append(node)
        return node.outputs

    def append(self, node: Node) -> None:
        """Take a finished node as it is."""
        self.nodes.append(node)
        if node.op is as_size or any(type(d) is Size for s in node.specs for d in s.shape):
            for value in node.outputs:
                bind_sizes(value, self.bindings)

    def rollback(self, length: int) -> None:
        """Forget the nodes made since there were `length` of them."""
        gone = set(self.nodes[length:])
        del self.nodes[length:]
        for node in gone & self._keys.keys():
            del self._interned[self._keys.pop(node)]
        for node in gone:
            bound: dict[SizeVar, SizeBinding] = {}
            for value in node.outputs:
                bind_sizes(value, bound)
            for variable in bound:
                if self.bindings[variable][0].node is node:
                    del self.bindings[variable]

    def ensure_size(self, variable: SizeVar) -> None:
        if variable not in self.bindings:
            raise UnboundSize(f"size variable {variable} is bound nowhere")

    def can_compute(self, dim: Dim) -> bool:
        """Whether nodes added now may use a size: specs tell some before they are bound."""
        return all(variable in self.bindings for variable in dim_variables(dim))

    def constant(self, array: Any, weak: bool = False) -> Value:
        """A literal array as a value."""
        attrs: dict[str, Any] = {"value": Literal(array)}
        if weak:
            attrs["weak"] = True
        return self.add(constant, (), attrs)[0]


class Contradiction(InternalError):
    """What became known of sizes shows that an op must fail: it shall do so when it runs."""


def infer_again(op: Op, specs: Iterable[Spec], attrs: Mapping[str, Any]) -> tuple[Spec, ...]:
    """`infer` for a node that was inferred before, with less known of its sizes.

    Raises:
        Contradiction: its spec rule refuses what is known now.
    """
    try:
        return infer(op, specs, attrs)
    except (ShapeError, SpecError) as error:
        raise Contradiction(f"{op.name}: {error}") from error


def infer(op: Op, specs: Iterable[Spec], attrs: Mapping[str, Any]) -> tuple[Spec, ...]:
    """What the op's spec rule says, always as a tuple."""
    result = op.spec(*specs, **attrs)
    return (result,) if isinstance(result, Spec) else tuple(result)


class Rebuild:
    """One walk over a graph that makes it again.

    Args:
        inner: what graphs inside this one have become.
    """

    def __init__(self, graph: Graph, inner: Mapping[Graph, Graph] | None = None) -> None:
        self.graph = graph
        self.inner = inner or {}
        self.frame = Frame(graph.params, graph.name)
        self.sizes: dict[SizeVar, Dim] = {}  # what size variables of the old graph have become
        self._values: dict[Value, Value] = {}
        self._changed = False

    def __call__(self, value: Value) -> Value:
        """What a value of the old graph has become."""
        return self._values.get(value, value)

    def map(self, values: Iterable[Value]) -> list[Value]:
        return [self._values.get(value, value) for value in values]

    def current(self, node: Node) -> Node:
        """The node on what its inputs have become; the same object if nothing changed."""
        inputs = node.inputs
        if self._values:
            inputs = tuple([self._values.get(value, value) for value in inputs])
        attrs = self._attrs(node)
        if attrs is node.attrs and inputs == node.inputs:
            return node
        specs = self._specs(node, inputs, attrs)
        effects = node.effects and has_effects(node.op, attrs)
        return Node(node.op, inputs, attrs, specs, node.source, effects, node.in_bounds)

    def _attrs(self, node: Node) -> Mapping[str, Any]:
        sizes = self.sizes and any(v in self.sizes for v in attr_sizes(node.attrs))
        graphs = self.inner and any(self.inner.get(g, g) is not g for _, g in node.subgraphs)
        if not sizes and not graphs:
            return node.attrs
        return {name: self._attr(value) for name, value in node.attrs.items()}

    def _attr(self, value: Any) -> Any:
        if isinstance(value, Graph):
            return self.inner.get(value, value)
        return substitute(value, self.sizes) if self.sizes else value

    def _specs(
        self, node: Node, inputs: Sequence[Value], attrs: Mapping[str, Any]
    ) -> tuple[Spec, ...]:
        """The specs, inferred again if what they follow from changed."""
        specs = [value.spec for value in inputs]
        if attrs is node.attrs and specs == [value.spec for value in node.inputs]:
            return substitute_specs(node.specs, self.sizes) if self.sizes else node.specs
        found, learned = reconcile(
            node.specs, infer_again(node.op, specs, attrs), self.frame.bindings
        )
        self.learn(learned)
        return found

    def keep(self, node: Node, now: Node | None = None) -> Node:
        """Take the node over, or `now`, what `current` made of it."""
        if now is None:
            now = self.current(node)
        self.frame.append(now)
        if now is not node:
            self._changed = True
            for old, new in zip(node.outputs, now.outputs, strict=True):
                self._values[old] = new
        return now

    def replace(self, node: Node, values: Sequence[Value]) -> None:
        """Use these values of the new graph instead of the node's results."""
        for old, new in zip(node.outputs, values, strict=True):
            self.substitute(old, new)

    def substitute(self, old: Value, new: Value) -> None:
        """Use a value of the new graph instead of one of the old."""
        self._changed = True
        self._values[old] = new
        if old.spec == new.spec:
            return
        for before, after in zip(old.spec.shape, new.spec.shape, strict=True):
            variable = before.as_variable() if isinstance(before, Size) else None
            if variable is None or before == after or variable in self.frame.bindings:
                continue
            self.learn({variable: after})

    def learn(self, sizes: Mapping[SizeVar, Dim]) -> None:
        """Size variables of the old graph that have become something else."""
        for variable, dim in sizes.items():
            self.sizes.setdefault(variable, dim)

    def drop(self, node: Node) -> None:
        """Leave a node out."""
        self._changed = True

    @property
    def changed(self) -> bool:
        return self._changed

    def finish(self) -> Graph:
        """The new graph; the old one itself if nothing changed."""
        if not self._changed and len(self.frame.nodes) == len(self.graph.nodes):
            return self.graph
        results = tuple(self.map(self.graph.results))
        return self.graph.replace(nodes=tuple(self.frame.nodes), results=results)


def substitute_specs(specs: tuple[Spec, ...], sizes: Mapping[SizeVar, Dim]) -> tuple[Spec, ...]:
    """Specs with size variables replaced."""
    return tuple(Spec(substitute(s.shape, sizes), s.dtype, s.weak) for s in specs)


def reconcile(
    recorded: Sequence[Spec], inferred: Sequence[Spec], bound: Mapping[SizeVar, Any]
) -> tuple[tuple[Spec, ...], dict[SizeVar, Dim]]:
    """Inferred specs under the size names that were recorded, and what recorded sizes have become.

    A spec rule makes a fresh size variable for an axis that only the run can know. Inferring a
    second time makes another one: it is given the recorded name here. Where inference now knows
    more than was recorded, the recorded variable is said to have become what is known.

    Args:
        bound: size variables that were bound before this node.
    """
    rename: dict[SizeVar, Dim] = {}
    learned: dict[SizeVar, Dim] = {}
    for old, new in _dims(recorded, inferred):
        variable = old.as_variable() if isinstance(old, Size) else None
        if old == new or variable is None or variable in bound or variable in learned:
            continue
        fresh = new.as_variable() if isinstance(new, Size) else None
        if fresh is not None and fresh not in bound:
            rename.setdefault(fresh, size(variable))
        else:
            learned[variable] = new
    return (substitute_specs(tuple(inferred), rename) if rename else tuple(inferred)), learned


def _dims(recorded: Sequence[Spec], inferred: Sequence[Spec]) -> Iterator[tuple[Dim, Dim]]:
    for old, new in zip(recorded, inferred, strict=True):
        yield from zip(old.shape, new.shape, strict=True)


# --- one graph inside another ---------------------------------------


def inline(frame: Frame, graph: Graph, operands: Sequence[Value]) -> list[Value] | None:
    """The results of a closed graph on values of the frame, its nodes added to the frame.

    Size variables that the graph binds inside get fresh names, since it may be inlined twice.
    None, and nothing added, where a size of the graph is known only by a polynomial of it, or is
    not bound yet in the frame.
    """
    sizes = operand_sizes(graph, operands)
    if sizes is None:
        return None
    used = {variable for node in graph.nodes for variable in attr_sizes(node.attrs)}
    if not all(frame.can_compute(sizes[variable]) for variable in used & sizes.keys()):
        return None
    values = dict(zip(graph.params, operands, strict=True))
    for node in graph.nodes:
        for old, new in zip(node.outputs, graft(frame, node, values, sizes), strict=True):
            values[old] = new
    return [values[value] for value in graph.results]


def operand_sizes(graph: Graph, operands: Sequence[Value]) -> dict[SizeVar, Dim] | None:
    """What the size variables of a graph's parameters are outside; None where that is not clear."""
    sizes: dict[SizeVar, Dim] = {}
    pairs = list(_dims([v.spec for v in graph.params], [v.spec for v in operands]))
    for inside, outside in pairs:
        if isinstance(inside, Size) and (variable := inside.as_variable()) is not None:
            sizes.setdefault(variable, outside)
    for inside, outside in pairs:
        if any(variable not in sizes for variable in dim_variables(inside)) and inside != outside:
            return None
    return sizes


def graft(
    frame: Frame, node: Node, values: Mapping[Value, Value], sizes: dict[SizeVar, Dim]
) -> tuple[Value, ...]:
    """A node of another graph added to the frame; adds to `sizes` what it binds."""
    inputs = tuple(values[value] for value in node.inputs)
    attrs = {
        name: value if isinstance(value, Graph) else substitute(value, sizes)
        for name, value in node.attrs.items()
    }
    if node.op is as_size:
        old = node.attrs["var"]
        new = SizeVar(old.name)
        sizes[old] = size(new)
        attrs["var"] = new
    specs = infer_again(node.op, [value.spec for value in inputs], attrs)
    for inside, outside in _dims(node.specs, specs):
        if isinstance(inside, Size) and (variable := inside.as_variable()) is not None:
            sizes.setdefault(variable, outside)
    added = Node(node.op, inputs, attrs, specs, node.source, node.effects, node.in_bounds)
    frame.append(added)
    return added.outputs
