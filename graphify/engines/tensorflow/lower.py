"""From a graphify graph to TensorFlow nodes: the walk, and what each op turns into.

    lowered = lower(graph)
    lowered.frame.graph.as_graph_def()

A node is lowered if a result or an effect needs it, after what it needs itself, by the kernel that
its op's `tf` entry names (see `kernels.table`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from graphify.engines.tensorflow.frame import Frame, Unit
from graphify.engines.tensorflow.kernels.table import kernel_of
from graphify.errors import GraphifyError, LoweringError, at
from graphify.ir.graph import Graph, Node, SizeBinding, Value, as_size, attr_sizes, constant
from graphify.ir.sizes import SizeVar
from graphify.ir.types import Spec


@dataclass(frozen=True)
class Lowered:
    """A graph in TensorFlow's terms.

    Attributes:
        frame: holds the tf.Graph; `frame.unit` holds the functions it calls.
        inputs: its placeholders, one per parameter.
        outputs: its results.
    """

    graph: Graph
    frame: Frame
    inputs: list[Any]
    outputs: list[Any]


def lower(graph: Graph, *, portable: bool = True) -> Lowered:
    """Lower a whole graph.

    Args:
        portable: see `Unit`.

    Raises:
        LoweringError: an op without a kernel, naming the user's line.
    """
    frame = Frame(Unit(portable))
    with frame.graph.as_default():
        inputs = [
            frame.raw.Placeholder(
                dtype=dtype_of(frame, value.spec), shape=static_shape(value.spec), name=name
            )
            for value, name in zip(graph.params, param_names(graph), strict=True)
        ]
        outputs = frame.results(lower_into(frame, graph, inputs))
    return Lowered(graph, frame, inputs, outputs)


def param_names(graph: Graph) -> list[str]:
    """A placeholder name per parameter: its own name where that is possible, all different."""
    names: list[str] = []
    for value in graph.params:
        raw = str(value.node.attrs.get("name") or "arg")
        clean = re.sub(r"[^A-Za-z0-9_]", "_", raw).lstrip("_") or "arg"
        name, count = clean, 0
        # TensorFlow compares names without regard to case, and results are called Identity.
        while name.lower() in {"identity", *(n.lower() for n in names)}:
            count += 1
            name = f"{clean}_{count}"
        names.append(name)
    return names


def dtype_of(frame: Frame, spec: Spec) -> Any:
    return frame.tf.as_dtype(spec.dtype)


def static_shape(spec: Spec) -> list[int | None]:
    """The shape with None for symbolic sizes."""
    return [dim if isinstance(dim, int) else None for dim in spec.shape]


def lower_into(frame: Frame, graph: Graph, inputs: Sequence[Any]) -> list[Any]:
    """Lower the nodes of a graph into a frame whose placeholders are `inputs`."""
    walk = _Walk(frame, graph, inputs)
    for node in graph.nodes:
        if node.effects:
            walk.demand(node)
    for value in graph.results:
        walk.demand(value.node)
    return [walk.known[value] for value in graph.results]


def lower_function(frame: Frame, graph: Graph) -> tuple[str, bool]:
    """A sub-graph as a function of the library: its name, and whether it has effects."""
    name, inner = frame.unit.define(
        lambda inside, *inputs: lower_into(inside, graph, inputs),
        [dtype_of(frame, value.spec) for value in graph.params],
        [static_shape(value.spec) for value in graph.params],
    )
    return name, bool(inner.effects)


class _Walk:
    """The lowering of one graph's nodes: the tensors known so far."""

    def __init__(self, frame: Frame, graph: Graph, inputs: Sequence[Any]) -> None:
        self.frame = frame
        self.known: dict[Value, Any] = dict(zip(graph.params, inputs, strict=True))
        self.done: set[Node] = {value.node for value in graph.params}
        self.bindings: dict[SizeVar, SizeBinding] = graph.size_bindings()
        frame.resolve = self._bind_size

    def demand(self, target: Node) -> None:
        """Lower `target` after everything it needs (an explicit stack: graphs are deep)."""
        stack = [target]
        while stack:
            node = stack[-1]
            missing = [v.node for v in self._needs(node) if v.node not in self.done]
            if node in self.done:
                stack.pop()
            elif missing:
                stack.extend(reversed(missing))
            else:
                stack.pop()
                self._lower(node)

    def _needs(self, node: Node) -> list[Value]:
        sizes = [self.bindings[variable][0] for variable in attr_sizes(node.attrs)]
        return [*node.inputs, *sizes]

    def _lower(self, node: Node) -> None:
        frame = self.frame
        scope = frame.unit.scope(node.source)
        frame.where = str(node.source) if node.source is not None else ""
        frame.specs, frame.scope = node.specs, scope
        before = frame.effects[-1:] if node.effects else []
        try:
            with frame.graph.name_scope(scope or None), frame.graph.control_dependencies(before):
                for variable in attr_sizes(node.attrs):
                    self._bind_size(variable)
                results = self._apply(node)
        except GraphifyError as error:
            located = at(error, node.source)
            raise located from (error.__cause__ if located is error else error)
        except Exception as error:
            raise at(
                LoweringError(f"tensorflow: the op {node.op.name} cannot be lowered: {error}"),
                node.source.resolve() if node.source is not None else None,
            ) from error
        self.done.add(node)
        for value, tensor in zip(node.outputs, results, strict=True):
            tensor.set_shape(static_shape(value.spec))
            self.known[value] = tensor

    def _apply(self, node: Node) -> Sequence[Any]:
        inputs = [self.known[value] for value in node.inputs]
        if node.op is constant:
            return [self.frame.constant(node.attrs["value"].array)]
        if node.op is as_size:
            return inputs
        weak = bool(node.specs) and node.specs[0].weak
        results = kernel_of(node.op, weak)(self.frame, *inputs, **node.attrs)
        if not node.specs:
            return []
        return results if isinstance(results, (list, tuple)) else [results]

    def _bind_size(self, variable: SizeVar) -> Any:
        """The size's value as an int64 scalar; None if what binds it is not lowered yet."""
        frame = self.frame
        if variable not in frame.sizes:
            value, axis = self.bindings[variable]
            tensor = self.known.get(value)
            if tensor is None:
                return None
            if axis is None:
                size = frame.tf.cast(tensor, frame.tf.int64)
            else:
                size = frame.raw.Shape(input=tensor, out_type=frame.tf.int64)[axis]
            frame.sizes[variable] = size
        return frame.sizes[variable]
