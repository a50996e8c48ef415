"""Which lane of a vmap an error came from: looked for when there is one.

All lanes are computed at once, so an op that fails cannot tell for which of them. As lanes do not
depend on each other, the same work on half of them, a quarter of them, ... finds the first lane
that fails; run alone, it raises what a loop over the lanes would have raised:

    vmap(lambda row, i: row[i])(rows, np.array([0, 7]))
    IndexError: index 7 is out of bounds for axis 0 with size 3 ... in lane 1 of a vmap

Nothing is done twice that shows: prints and warnings are left out, and where a lane draws random
numbers or the like, the error stays as it was.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphify.engines.base import all_graphs, get_engine
from graphify.errors import REFUSALS
from graphify.ir.function import GraphFunction
from graphify.ir.graph import Graph, Node, Value
from graphify.ir.replay import bind_at, replay
from graphify.ir.sizes import fresh
from graphify.ir.tensor import Tensor
from graphify.location import SourceLoc
from graphify.ops.effects import name_lanes
from graphify.optimise.pipeline import optimise
from graphify.tracing.recursion import deep_stack
from graphify.transforms import build
from graphify.transforms.lanes import batched_specs
from graphify.transforms.vmap import map_graph

Run = Callable[[Sequence[Any]], list[Any]]
_KEPT = ("raise", "assert", "check", "numpy_assert")  # effects that a second run may have


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A graph that another one runs in every lane.

    Attributes:
        args: values of the graph around it, or arrays where there is none.
        batched: which of them have the lanes at axis 0.
        parts: of `graph` itself.
    """

    graph: Graph
    args: tuple[Any, ...]
    batched: tuple[bool, ...]
    parts: tuple[Part, ...]


def in_lane(
    error: Exception, graph: Graph, parts: Sequence[Part], arrays: Sequence[Any], engine: str
) -> Exception:
    """What the first lane that fails raises, with its number in a note; the error where no lane of
    a part is known to fail.

    Args:
        graph: what failed, as it was recorded, on `arrays`.
    """
    if isinstance(error, REFUSALS) or not parts or hasattr(error, "lanes"):
        return error
    try:
        found, lanes = _search(error, graph, parts, arrays, engine)
    except _Unknown:
        return error
    if lanes:
        name_lanes(found, lanes)
    return found


class _Unknown(Exception):
    """The lane cannot be told."""


Found = tuple[Exception, list[int]]  # the error, and its lanes, the outermost first


def _search(
    error: Exception, graph: Graph, parts: Sequence[Part], arrays: Sequence[Any], engine: str
) -> Found:
    place = getattr(error, "location", None)
    for part in parts:
        if place is not None and place not in _places(part.graph):
            continue
        args = _operands(graph, part, arrays, engine)
        lane = _first_failing(part, args, engine)
        if lane is None:
            continue
        alone = _row(part, args, lane)
        failed = _error(_compiled(_quiet(part.graph), engine), alone)
        if failed is None:
            continue
        failed, inside = _search(failed, part.graph, part.parts, alone, engine)
        return failed, [lane, *inside]
    return error, []


def _operands(graph: Graph, part: Part, arrays: Sequence[Any], engine: str) -> list[Any]:
    """The arrays that a part runs on."""
    known = dict(zip(graph.params, arrays, strict=True))
    missing = [a for a in part.args if isinstance(a, Value) and a not in known]
    if missing:
        own = set(graph.nodes)
        if any(value.node not in own for value in missing):
            raise _Unknown  # recorded and given up
        needed = build.prune(graph.replace(results=tuple(missing)))
        results = _compiled(_quiet(needed), engine)(arrays)
        known |= zip(missing, results, strict=True)
    return [np.asarray(known[a] if isinstance(a, Value) else a) for a in part.args]


def _first_failing(part: Part, args: Sequence[Any], engine: str) -> int | None:
    count = next(len(a) for a, on in zip(args, part.batched, strict=True) if on)
    run = _compiled(_lane_after_lane(part), engine)

    def fails(lanes: int) -> bool:
        some = [a[:lanes] if on else a for a, on in zip(args, part.batched, strict=True)]
        return _error(run, some) is not None

    lane = bisect.bisect_left(range(1, count + 1), True, key=fails)
    return lane if lane < count else None


def _row(part: Part, args: Sequence[Any], lane: int) -> list[Any]:
    return [np.asarray(a[lane]) if on else a for a, on in zip(args, part.batched, strict=True)]


def _lane_after_lane(part: Part) -> Graph:
    """The work of a part on any number of lanes."""
    count, graph = fresh("lanes"), _quiet(part.graph)
    specs = batched_specs(build.param_specs(graph), part.batched, count)
    return build.trace(lambda *args: map_graph(graph, args, part.batched, count)[0], specs, "lanes")


def _compiled(graph: Graph, engine: str) -> Run:
    try:
        with deep_stack():
            return get_engine(engine).compile(optimise(graph).graph)
    except REFUSALS as error:
        raise _Unknown from error


def _error(run: Run, arrays: Sequence[Any]) -> Exception | None:
    try:
        run(arrays)
    except Exception as error:  # noqa: BLE001 - whether there is one is the answer
        return error
    return None


def _places(graph: Graph) -> set[SourceLoc]:
    """The lines that the nodes of a graph stand for."""
    graphs = [inner for known in _with_functions(graph, set()) for inner in all_graphs(known)]
    nodes = (node for inner in graphs for node in inner.nodes)
    return {node.source.resolve() for node in nodes if node.source is not None}


def _with_functions(graph: Graph, seen: set[int]) -> Iterator[Graph]:
    """A graph and those of the recursive functions that it calls."""
    yield graph
    for inner in all_graphs(graph):
        for node in inner.nodes:
            for value in node.attrs.values():
                if isinstance(value, GraphFunction) and id(value) not in seen:
                    seen.add(id(value))
                    yield from _with_functions(value.graph, seen)


def _quiet(graph: Graph) -> Graph:
    """The graph without what it prints and warns of."""
    if not graph.effects:
        return graph
    specs = build.param_specs(graph)
    return build.trace(lambda *args: replay(graph, args, _silenced), specs, graph.name)


def _silenced(node: Node, inputs: list[Tensor], attrs: dict[str, Any]) -> Any:
    if not node.effects or node.op.name in _KEPT:
        return NotImplemented
    if node.op.name in ("print", "warn"):
        return []
    graphs = {name: _quiet(graph) for name, graph in node.subgraphs}
    if not graphs:
        raise _Unknown  # a second run would not give the same
    return bind_at(node, inputs, {**attrs, **graphs})
