"""The meaning of a graph: non-strict evaluation with NumPy.

`run(graph, args)` computes what the results and the effects need, each node at most once and in
program order; an op nobody asks for is not run, so it cannot fail. This is the reference engine's
whole semantics and the `eval` of control-flow ops.

A graph is looked at once: its `Program` lists the needed nodes as steps on numbered slots.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol

import numpy as np

from graphify.errors import at
from graphify.ir.graph import Graph, Node, Value, attr_sizes
from graphify.ir.op import Op
from graphify.ir.sizes import SizeVar, substitute
from graphify.location import LazyLoc


def run(graph: Graph, args: Sequence[Any]) -> list[Any]:
    """The results of `graph` on arrays `args`, one per parameter."""
    program = _programs.get(graph)
    if program is None:
        program = _programs[graph] = Program.of(graph)
    return program.run(args)


@dataclass(frozen=True, slots=True)
class Step:
    """One node: what computes it, the slots it reads and writes."""

    op: Op
    meaning: Callable[..., Any]
    inputs: tuple[int, ...]
    attrs: Mapping[str, Any]
    sizes: tuple[tuple[SizeVar, int, int | None], ...]  # variable, slot, axis (None: the value)
    first: int  # slot of the first result
    count: int
    source: LazyLoc | None
    node: Node

    def concrete_attrs(self, values: Sequence[Any]) -> Mapping[str, Any]:
        """The attributes with run-time sizes filled in."""
        sizes = {
            variable: int(values[slot]) if axis is None else int(values[slot].shape[axis])
            for variable, slot, axis in self.sizes
        }
        return {
            name: value if name == "var" else substitute(value, sizes)
            for name, value in self.attrs.items()
        }

    def take(self, values: list[Any], attrs: Mapping[str, Any]) -> None:
        """Compute the node."""
        inputs = self.begin(values)
        try:
            result = self.meaning(*inputs, **attrs)
        except Exception as error:
            self.fail(error)
        self.put(values, result)

    def begin(self, values: list[Any]) -> list[Any]:
        """What the node takes."""
        inputs = [values[slot] for slot in self.inputs]
        observer = _observer.get()
        if observer is not None:
            observer.before(self.node, inputs, values)
        return inputs

    def fail(self, error: Exception) -> NoReturn:
        """Raise the error, naming the user's line."""
        located = at(error, self.source.resolve() if self.source else None)
        raise located from (error.__cause__ if located is error else error)

    def put(self, values: list[Any], result: Any) -> None:
        """The node's results into their slots."""
        if self.count == 1:
            result = result[0] if isinstance(result, (tuple, list)) else result
            values[self.first] = np.asarray(result)
        else:
            for offset, output in enumerate(result if self.count else ()):
                values[self.first + offset] = np.asarray(output)
        observer = _observer.get()
        if observer is not None:
            observer.after(self.node, values[self.first : self.first + self.count], values)


@dataclass(frozen=True, slots=True)
class Program:
    """The steps of a graph that its results and effects need, in program order."""

    steps: tuple[Step, ...]
    params: tuple[Value, ...]
    slots: int
    results: tuple[int, ...]

    @classmethod
    def of(cls, graph: Graph) -> Program:
        bindings = graph.size_bindings()
        slot_of = {value: slot for slot, value in enumerate(graph.params)}
        needed = _needed(graph, bindings)
        steps: list[Step] = []
        total = len(graph.params)
        for node in graph.nodes:
            if node not in needed:
                continue
            sizes = tuple(
                (variable, slot_of[bindings[variable][0]], bindings[variable][1])
                for variable in dict.fromkeys(attr_sizes(node.attrs))
            )
            meaning = node.op.meaning(bool(node.specs) and node.specs[0].weak)
            assert meaning is not None, node.op
            inputs = tuple(slot_of[value] for value in node.inputs)
            steps.append(
                Step(
                    node.op,
                    meaning,
                    inputs,
                    node.attrs,
                    sizes,
                    total,
                    len(node.specs),
                    node.source,
                    node,
                )
            )
            for value in node.outputs:
                slot_of[value] = total
                total += 1
        results = tuple(slot_of[value] for value in graph.results)
        return cls(tuple(steps), graph.params, total, results)

    def run(self, args: Sequence[Any]) -> list[Any]:
        values = self.start(args)
        with np.errstate(all="ignore"):
            for step in self.steps:
                attrs = step.concrete_attrs(values) if step.sizes else step.attrs
                step.take(values, attrs)
        return [values[slot] for slot in self.results]

    def start(self, args: Sequence[Any]) -> list[Any]:
        """The slots, with the arguments in theirs."""
        count = len(self.params)
        if len(args) != count:
            raise ValueError(f"expected {count} arrays, one per parameter, got {len(args)}")
        values = [*args, *[None] * (self.slots - count)]
        observer = _observer.get()
        if observer is not None:
            observer.enter(self.params, values)
        return values


def _needed(graph: Graph, bindings: Mapping[SizeVar, tuple[Value, int | None]]) -> set[Node]:
    """The nodes that the results and effects depend on, through data or through sizes."""
    stack = [value.node for value in graph.results]
    stack += [node for node in graph.nodes if node.effects]
    params = {value.node for value in graph.params}
    needed: set[Node] = set()
    while stack:
        node = stack.pop()
        if node in needed or node in params:
            continue
        needed.add(node)
        stack += [value.node for value in node.inputs]
        stack += [bindings[variable][0].node for variable in attr_sizes(node.attrs)]
    return needed


# --- watching a run -----------------------------------------------------------------------------


class Observer(Protocol):
    """Who watches a run. `values` are the slots of the graph at hand: one list for each time that a
    graph is run, so they tell which run of which graph a node belongs to."""

    def enter(self, params: tuple[Value, ...], values: list[Any]) -> None: ...

    def before(self, node: Node, inputs: list[Any], values: list[Any]) -> None: ...

    def after(self, node: Node, outputs: list[Any], values: list[Any]) -> None: ...


_observer: ContextVar[Observer | None] = ContextVar("graphify_observer", default=None)


@contextlib.contextmanager
def observing(observer: Observer | None) -> Iterator[None]:
    """`observer` hears of every node that is computed in the block, in sub-graphs, too."""
    token = _observer.set(observer)
    try:
        yield
    finally:
        _observer.reset(token)


_programs: weakref.WeakKeyDictionary[Graph, Program] = weakref.WeakKeyDictionary()
