"""Building closed graphs out of functions of tensors and out of other graphs.

trace(lambda x, y: [x + y], [spec, spec], "sum")     # a closed graph
prune(graph)                                         # what the results need
depends(graph, [True, False])                        # which results the first input reaches
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from graphify.errors import TransformError
from graphify.ir.context import current_builder, not_taping, recording
from graphify.ir.function import GraphFunction
from graphify.ir.graph import Builder, Graph, Node, Value, attr_sizes
from graphify.ir.replay import bind_at, replay
from graphify.ir.sizes import Dim, Shape, SizeVar, dim_variables, fresh
from graphify.ir.tensor import Tensor, value_in
from graphify.ir.types import Spec, is_inexact


def trace(
    function: Callable[..., Sequence[Tensor]], specs: Iterable[Spec], name: str = "graph"
) -> Graph:
    """The closed graph of a function that uses nothing but its tensors."""
    builder = Builder(None, name)
    with recording(builder), not_taping(), np.errstate(all="ignore"):
        args = [Tensor(builder.param(spec)) for spec in specs]
        results = [value_in(result, builder) for result in function(*args)]
        graph = builder.finish(results)
    builder.home.close()
    return graph


@functools.lru_cache(maxsize=512)
def _param_specs(graph: Graph) -> tuple[Spec, ...]:
    return tuple(closed([value.spec for value in graph.params]))


def closed(specs: Sequence[Spec]) -> list[Spec]:
    """Specs of parameters that bind every size they use."""
    bound = _bound(specs)
    names: dict[Dim, Dim] = {}
    return [Spec(_own_shape(s.shape, bound, names), s.dtype, s.weak) for s in specs]


def param_specs(graph: Graph) -> list[Spec]:
    """Specs of the parameters of a graph like this one.

    A branch or body may have a parameter of shape (2*n,) without knowing n, as long as it does not
    compute with n. Its derivative may have to, so there the axis gets a size of its own.
    """
    return list(_param_specs(graph))


def inexact(specs: Iterable[Spec]) -> tuple[bool, ...]:
    """Which specs have a derivative at all."""
    return tuple(is_inexact(spec.dtype) for spec in specs)


def strong_spec(spec: Spec) -> Spec:
    """The spec of an array where `spec` may stand for a Python number."""
    return Spec(spec.shape, spec.dtype)


def own_sizes(specs: Sequence[Spec], given: Sequence[Spec]) -> list[Spec]:
    """`specs` as parameters beside those of specs `given`: an axis whose size they do not bind
    gets a size of its own."""
    bound, names = _bound(given), dict[Dim, Dim]()
    return [Spec(_own_shape(spec.shape, bound, names), spec.dtype) for spec in specs]


def _bound(specs: Sequence[Spec]) -> set[SizeVar]:
    """The size variables that parameters of these specs bind."""
    dims = [dim for spec in specs for dim in spec.shape if not isinstance(dim, int)]
    return {variable for dim in dims if (variable := dim.as_variable()) is not None}


def _own_shape(shape: Shape, bound: set[SizeVar], names: dict[Dim, Dim]) -> Shape:
    return tuple(
        dim
        if all(variable in bound for variable in dim_variables(dim))
        else names.setdefault(dim, fresh("g"))
        for dim in shape
    )


# --- reachability ---------------------------------------------------------------------------------


def prune(graph: Graph) -> Graph:
    """The graph without nodes that no result needs. Parameters stay; effects do not."""
    needed = _needed(graph)
    return graph.replace(nodes=tuple(node for node in graph.nodes if node in needed))


def used_params(graph: Graph) -> tuple[bool, ...]:
    """Which parameters the results need, for their values or for the sizes they bind."""
    needed = _needed(graph)
    return tuple(value.node in needed for value in graph.params)


@functools.lru_cache(maxsize=512)
def _needed(graph: Graph) -> frozenset[Node]:
    bindings = graph.size_bindings()
    needed: set[Node] = set()
    waiting = [value.node for value in graph.results]
    # A result's own axes count: whoever replays the graph must know how long they are.
    for value in graph.results:
        waiting += [bindings[v][0].node for v in dim_variables(value.spec.shape) if v in bindings]
    while waiting:
        node = waiting.pop()
        if node in needed:
            continue
        needed.add(node)
        waiting += [value.node for value in node.inputs]
        waiting += [bindings[v][0].node for v in attr_sizes(node.attrs) if v in bindings]
    return frozenset(needed)


def depends(graph: Graph, active: Sequence[bool]) -> tuple[bool, ...]:
    """Which results a derivative by the `active` parameters can reach."""
    reached: set[Value] = {v for v, on in zip(graph.params, active, strict=True) if on}
    for node in graph.nodes:
        positions = (
            range(len(node.inputs)) if node.op.differentiable is None else node.op.differentiable
        )
        if any(i < len(node.inputs) and node.inputs[i] in reached for i in positions):
            reached.update(value for value in node.outputs if is_inexact(value.spec.dtype))
    return tuple(value in reached for value in graph.results)


# --- effects --------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=512)
def without_effects(graph: Graph) -> Graph:
    """The graph to run a second time: prints and checks were done the first time.

    Raises:
        TransformError: an effect gives a value, such as a random number, that a second run would
            not give again.
    """
    if not graph.effects:
        return graph
    specs = param_specs(graph)
    return trace(lambda *args: replay(graph, args, rule=drop_effects), specs, graph.name)


def pure(function: GraphFunction) -> GraphFunction:
    """The function without its effects."""
    if not function.effects:
        return function
    known = function.notes.get("pure")
    if known is None:
        known = GraphFunction(function.name, function.params, function.results)
        function.notes["pure"] = known
        known.complete(lambda: without_effects(function.graph))
    return known


def drop_effects(node: Node, inputs: list[Tensor], attrs: dict[str, Any]) -> Any:
    """A rule for `replay`: as it is, but effects."""
    if not node.effects:
        return NotImplemented
    if not node.specs and not node.op.extra.get("control"):
        return []
    graphs: dict[str, Any] = {name: without_effects(graph) for name, graph in node.subgraphs}
    graphs |= {name: pure(v) for name, v in attrs.items() if isinstance(v, GraphFunction)}
    if not graphs:
        raise TransformError(
            f"{node.op.name}: the derivative runs this part a second time, "
            "and its effect cannot be repeated",
            location=node.source.resolve() if node.source else None,
            remedy="do it before the branch or loop and pass its result in",
        )
    return bind_at(node, inputs, {**attrs, **graphs})


# --- graphs inside the current trace --------------------------------------------------------------


def trace_inside(
    function: Callable[..., Sequence[Tensor]], specs: Iterable[Spec], name: str
) -> tuple[Graph, list[Tensor]]:
    """A graph that may use sizes and values of the current frame, and those it captured."""
    builder = Builder(current_builder(), name)
    with recording(builder), not_taping(), np.errstate(all="ignore"):
        args = [Tensor(builder.param(spec)) for spec in specs]
        graph = builder.finish([value_in(result, builder) for result in function(*args)])
    builder.home.close()
    params = set(builder.params)
    return graph, [Tensor(outer) for outer, inner in builder.captures.items() if inner in params]
