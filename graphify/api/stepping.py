"""A run of a graph by the reference that stops before nodes: where it is, and what it knows.

    stepping = Stepping(lambda: run(graph, arrays), "f", names)
    stepping.advance(lambda: True)     # to the first node
    stepping.frames[-1].node           # what comes next; None when the run is over
    stepping.close()

The run has a thread of its own, which waits whenever it has stopped: so ops with sub-graphs need
not know that somebody watches, and no node is computed before it is asked for.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from graphify.ir.function import GraphFunction
from graphify.ir.graph import Graph, Node, Value, param
from graphify.ir.interpret import observing
from graphify.ir.pretty import identifier, is_inline

Names = Mapping[Value, Mapping[tuple[str, str], None]]  # value -> (function, variable) pairs


def _always() -> bool:
    return True


class _Quit(BaseException):
    """Ends a run that nobody goes on with."""


@dataclass(slots=True, eq=False)
class Frame:
    """A graph that is being run: the function's own, or one inside a node of the frame before.

    Attributes:
        label: "body", "cond", "true", "false", or the name of a function.
        turn: how often the node has run this graph, counted from 1.
        values: the slots of the run.
        node: the node that comes next, or is being computed.
        inputs: what it gets.
        variables: (function, variable) -> value.
    """

    label: str
    turn: int
    values: list[Any]
    node: Node | None = None
    inputs: list[Any] = field(default_factory=list)
    turns: dict[str, int] = field(default_factory=dict)
    variables: dict[tuple[str, str], Any] = field(default_factory=dict)

    def label_of(self, params: tuple[Value, ...]) -> str | None:
        """What the node at hand calls the graph of these parameters."""
        for name, value in self.node.attrs.items() if self.node is not None else ():
            graph = value.graph if isinstance(value, GraphFunction) else value
            if isinstance(graph, Graph) and graph.params == params:
                return value.name if isinstance(value, GraphFunction) else name
        return None


class Stepping:
    """A run in steps.

    Args:
        job: runs the graph.
        name: of the function.
        names: the variables that values of the graph stand for.
    """

    def __init__(self, job: Callable[[], list[Any]], name: str, names: Names) -> None:
        self._job, self._name, self._names = job, name, names
        self.frames: list[Frame] = []
        self.outputs: list[Any] = []  # of the node before
        self.results: list[Any] | None = None
        self.error: Exception | None = None
        self.done = False
        self._stop: Callable[[], bool] = _always
        self._closing = False
        self._go, self._stopped = threading.Semaphore(0), threading.Semaphore(0)
        context = contextvars.copy_context()
        self._thread = threading.Thread(target=context.run, args=(self._main,), daemon=True)
        self._thread.start()

    # --- the side of the user ---

    def advance(self, stop: Callable[[], bool]) -> None:
        """Go on to the next node, and from there to the first before which `stop()` is true."""
        if self.done:
            return
        self._stop = stop
        self._go.release()
        try:
            self._stopped.acquire()
        except KeyboardInterrupt:
            self._stop = _always
            self._stopped.acquire()
        self._stop = _always  # whoever asked is free to go

    def close(self) -> None:
        """Give up the rest of the run."""
        if not self.done:
            self._closing = True
            self._go.release()
            self._thread.join()

    # --- the side of the run ---

    def _main(self) -> None:
        self._go.acquire()
        try:
            if not self._closing:
                with observing(self):
                    self.results = self._job()
        except _Quit:
            pass
        except Exception as error:
            self.error = error
        finally:
            self.done = True
            self._stopped.release()

    def enter(self, params: tuple[Value, ...], values: list[Any]) -> None:
        label, turn, variables = self._name, 1, dict[tuple[str, str], Any]()
        for depth in range(len(self.frames), 0, -1):
            parent = self.frames[depth - 1]
            found = parent.label_of(params)
            if found is not None:
                turn = parent.turns[found] = parent.turns.get(found, 0) + 1
                label, variables = found, dict(parent.variables)
                del self.frames[depth:]  # runs that are over
                break
        self.frames.append(Frame(label, turn, values, variables=variables))
        for value, array in zip(params, values, strict=False):
            self._name_value(value, array)

    def before(self, node: Node, inputs: list[Any], values: list[Any]) -> None:
        frame = self._back_to(values)
        frame.node, frame.inputs, frame.turns = node, inputs, {}
        if self._stop():
            self._stopped.release()
            self._go.acquire()
            if self._closing:
                raise _Quit

    def after(self, node: Node, outputs: list[Any], values: list[Any]) -> None:
        frame = self._back_to(values)
        frame.node = None
        if not is_inline(node):
            self.outputs = outputs
        for value, array in zip(node.outputs, outputs, strict=True):
            self._name_value(value, array)

    def _back_to(self, values: list[Any]) -> Frame:
        while self.frames[-1].values is not values:
            self.frames.pop()
        return self.frames[-1]

    def _name_value(self, value: Value, array: Any) -> None:
        """The variables that stand for a value have a new one."""
        names = self._names.get(value, {})
        if not names and value.node.op is param and len(self.frames) == 1:
            given = identifier(value.node.attrs.get("name"))
            names = {} if given is None else {(self._name, given): None}
        self.frames[-1].variables.update(dict.fromkeys(names, array))
