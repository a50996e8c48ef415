"""Calls of a function that may call itself.

    recursive_call(*operands; function)      # the results of function.graph on the operands

The function is a `GraphFunction`: a name for a graph, so the graph may hold calls to itself. The
meaning is Python's, the limit of `sys.setrecursionlimit` included, but runs on a stack of its own:
a call takes several frames here where plain Python takes one.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from graphify.ir.function import GraphFunction
from graphify.ir.graph import Graph
from graphify.ir.interpret import Program, Step
from graphify.ir.op import defop
from graphify.ir.types import Spec
from graphify.ir.walk import Call, nested_graphs, trampoline
from graphify.ops.control import TURNS, outer_spec, set_later, size_map


def _call_spec(*operands: Spec, function: GraphFunction) -> tuple[Spec, ...]:
    mapping = size_map(function.params, operands)
    return tuple(outer_spec(spec, mapping) for spec in function.results)


# --- meaning --------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Programs:
    """The steps of the graphs that calls run through. The function keeps them: by the graphs, as
    `interpret.run` does, they would keep each other alive."""

    known: dict[Graph, Program] = field(default_factory=dict)
    calling: dict[Graph, bool] = field(default_factory=dict)

    def of(self, graph: Graph) -> Program:
        program = self.known.get(graph)
        if program is None:
            program = self.known[graph] = Program.of(graph)
        return program

    def calls(self, graph: Graph) -> bool:
        """Whether a graph, or one inside it, calls a function."""
        found = self.calling.get(graph)
        if found is None:
            graphs = nested_graphs(graph)
            found = any(n.op is recursive_call for inner in graphs for n in inner.nodes)
            self.calling[graph] = found
        return found


def _call_eval(*operands: Any, function: GraphFunction) -> tuple[Any, ...]:
    with np.errstate(all="ignore"):
        return tuple(trampoline(_call(function, operands, 0)))


def _call(function: GraphFunction, operands: Sequence[Any], depth: int) -> Call[list[Any]]:
    programs = function.notes.setdefault("programs", _Programs())
    return _run(programs, function.graph, operands, depth)


def _run(programs: _Programs, graph: Graph, args: Sequence[Any], depth: int) -> Call[list[Any]]:
    """The results of a graph; yields the calls in it."""
    program = programs.of(graph)
    values = program.start(args)
    for step in program.steps:
        attrs = step.concrete_attrs(values) if step.sizes else step.attrs
        if not _needs_calls(programs, attrs):
            step.take(values, attrs)
            continue
        inputs = step.begin(values)
        results = yield _step(programs, step, inputs, attrs, depth)
        step.put(values, results)
    return [values[slot] for slot in program.results]


def _needs_calls(programs: _Programs, attrs: Mapping[str, Any]) -> bool:
    return any(
        isinstance(v, GraphFunction) or isinstance(v, Graph) and programs.calls(v)
        for v in attrs.values()
    )


def _step(
    programs: _Programs, step: Step, inputs: Sequence[Any], attrs: Mapping[str, Any], depth: int
) -> Call[Sequence[Any]]:
    """What a node gives that calls a function, or has a sub-graph that does."""
    if step.op is recursive_call:
        if depth >= sys.getrecursionlimit():
            name = attrs["function"].name
            step.fail(RecursionError(f"maximum recursion depth exceeded in {name}"))
        results: Sequence[Any] = yield _call(attrs["function"], inputs, depth + 1)
        return results
    job, answer = TURNS[step.op.name](*inputs, **attrs), None
    while True:
        try:
            graph, args = next(job) if answer is None else job.send(answer)
        except StopIteration as stop:
            given: Sequence[Any] = stop.value
            return given
        except Exception as error:
            step.fail(error)
        answer = yield _run(programs, graph, args, depth)


recursive_call = defop(
    "recursive_call",
    spec=_call_spec,
    eval=_call_eval,
    **set_later("recursive_call"),
    tf="recursive_call",
    doc="a call of a function that may call itself",
)
