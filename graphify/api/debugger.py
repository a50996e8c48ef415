"""`f.debug(*args)`: a run of the graph, node by node, beside the user's lines.

    debugger = f.debug(x)
    debugger.step()            # to the next node: Stop(line=3, source="y = x * 2", ...)
    debugger.values            # {"x": array([1., 2.])}
    debugger.until(7)          # to line 7
    debugger.where()           # prints the line with a marker, and the node
    debugger.run()             # to the end: the function's result

A node is shown before it is computed, as in pdb. What is run is the graph as it was traced, by its
meaning (the reference engine), in the order of the user's lines; what nobody needs is not run.
"""

from __future__ import annotations

import linecache
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphify.api.comparing import show
from graphify.api.concrete import Traced
from graphify.api.stepping import Frame, Names, Stepping
from graphify.api.writing import Output
from graphify.ir.graph import Graph, Node
from graphify.ir.interpret import run
from graphify.ir.pretty import Printer, is_inline, value_names
from graphify.ir.tensor import Tensor
from graphify.ir.wrapping import as_tensor
from graphify.location import SourceLoc
from graphify.tracing.signature import Call

AROUND = 2  # lines shown before and after the one at hand


@dataclass(frozen=True, slots=True)
class Stop:
    """Where a run has stopped: before a node.

    Attributes:
        file, line, function, source: the user's line; None and "" for a node from nowhere.
        node, op: the node's text form, and its op.
        path: the loops and branches around it: "loop turn 3, true".
        depth: how many graphs the node lies in, 1 at the outermost.
    """

    file: str | None
    line: int | None
    function: str
    source: str
    node: str
    op: str
    path: str
    depth: int

    def __str__(self) -> str:
        place = f"{os.path.basename(self.file)}:{self.line}" if self.file else "?"
        path = f" [{self.path}]" if self.path else ""
        return f"{place} in {self.function}{path}: {self.source}\n    {self.node}"


class Debugger:
    """A run in steps, made by `Function.debug`. Iterate over it, or ask for one step at a time.

    Attributes:
        result: the function's result, once the run is over.
        error: what the run raised.
        done: whether the run is over.
    """

    def __init__(
        self,
        name: str,
        graph: Graph,
        job: Callable[[], list[Any]],
        names: Names,
        finish: Callable[[list[Any]], Any],
    ) -> None:
        self.name, self.graph = name, graph
        self._finish, self._result = finish, None
        self._stepping = Stepping(job, name, names)
        self._texts = dict[int, dict[Any, str]]()
        self._finished = False

    # --- going on ---

    def step(self) -> Stop | None:
        """To the next node, inside loops and branches, too.

        Returns:
            Where the run stands then; None if it is over.
        """
        self._stepping.advance(self._shown)
        return self.stop

    def next(self) -> Stop | None:
        """To the next node that is not inside the one at hand."""
        depth = max(1, len(self._stepping.frames))
        self._stepping.advance(lambda: self._shown() and len(self._stepping.frames) <= depth)
        return self.stop

    def until(self, line: int, file: str | None = None) -> Stop | None:
        """To where the run comes to a line of the user's next.

        Args:
            line: its number.
            file: the end of the file's name; any file that the graph comes from if None.
        """

        start = self._stepping.frames[-1].values if self._stepping.frames else None
        left = False

        def reached() -> bool:
            nonlocal left
            place = self._place
            there = place is not None and place.line == line
            there = there and (file is None or place is not None and place.file.endswith(file))
            if not (there and self._stepping.frames[-1].values is start):
                left = True
            return there and left and self._shown()

        self._stepping.advance(reached)
        return self.stop

    def run(self) -> Any:
        """To the end.

        Returns:
            The function's result.

        Raises:
            What the run raises.
        """
        self._stepping.advance(lambda: False)
        if self.error is not None:
            raise self.error
        return self.result

    def close(self) -> None:
        """Give up the rest of the run."""
        self._stepping.close()

    def __del__(self) -> None:
        self.close()

    def __iter__(self) -> Iterator[Stop]:
        while (stop := self.step()) is not None:
            yield stop

    # --- looking ---

    @property
    def done(self) -> bool:
        return self._stepping.done

    @property
    def error(self) -> Exception | None:
        return self._stepping.error

    @property
    def result(self) -> Any:
        if self._stepping.results is not None and not self._finished:
            self._result, self._finished = self._finish(self._stepping.results), True
        return self._result

    @property
    def stop(self) -> Stop | None:
        """Where the run stands; None before it starts and when it is over."""
        return None if self.done or self._node is None else self._described()

    @property
    def values(self) -> dict[str, Any]:
        """The variables of the function at hand that the graph has a value for."""
        if not self._stepping.frames:
            return {}
        place = self._place
        function = place.function if place is not None else self.name
        variables = self._stepping.frames[-1].variables
        return {name: value for (where, name), value in variables.items() if where == function}

    @property
    def inputs(self) -> list[Any]:
        """What the node at hand gets."""
        return list(self._stepping.frames[-1].inputs) if self._node is not None else []

    @property
    def outputs(self) -> list[Any]:
        """What the node before gave."""
        return list(self._stepping.outputs)

    def where(self) -> None:
        """Print the line at hand with those around it, and the node."""
        print(self)

    def __str__(self) -> str:
        if self._node is None or self.done and self.error is None:
            return f"{self.name}: {'over' if self.done else 'not started'}"
        stop = self._described()
        path = f" [{stop.path}]" if stop.path else ""
        lines = [f"> {stop.file}:{stop.line} in {stop.function}{path}", *self._listing(stop)]
        lines.append(f"node: {stop.node}")
        if self.error is not None:
            lines.append(f"{type(self.error).__name__}: {str(self.error).splitlines()[0]}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<debugger of {self.name}: {self.stop or ('over' if self.done else 'not started')}>"

    def prompt(self, commands: Iterable[str] | None = None, output: Any = None) -> None:
        """Ask for commands until the user quits; `help` lists them.

        Args:
            commands: lines to take for the user's, such as a list or a file.
            output: where to print; sys.stdout if None.
        """
        from graphify.api.prompt import Prompt

        Prompt(self, commands, output or sys.stdout).cmdloop()

    # --- the node at hand ---

    @property
    def _node(self) -> Node | None:
        return self._stepping.frames[-1].node if self._stepping.frames else None

    @property
    def _place(self) -> SourceLoc | None:
        node = self._node
        return None if node is None or node.source is None else node.source.resolve()

    def _shown(self) -> bool:
        """Whether the node at hand is one to stop at: scalars are written where they are used."""
        node = self._node
        return node is not None and not is_inline(node)

    def _described(self) -> Stop:
        node, place = self._node, self._place
        assert node is not None
        frames = self._stepping.frames
        text = Printer().head(node, self._names_in(frames))
        path = ", ".join(_told(frames[i - 1], frames[i]) for i in range(1, len(frames)))
        if place is None:
            return Stop(None, None, self.name, "", text, node.op.name, path, len(frames))
        return Stop(
            place.file,
            place.line,
            place.function,
            place.text,
            text,
            node.op.name,
            path,
            len(frames),
        )

    def _names_in(self, frames: list[Frame]) -> dict[Any, str]:
        """What the values around the node at hand are called in the text of their graph."""
        graph = self.graph
        for outer, inner in zip(frames, frames[1:], strict=False):
            node = outer.node
            found = None if node is None else _graph_of(node, inner.label)
            if found is None:
                break
            graph = found
        if id(graph) not in self._texts:
            self._texts[id(graph)] = dict(value_names(graph))
        return self._texts[id(graph)]

    def _listing(self, stop: Stop) -> Iterator[str]:
        if stop.file is None or stop.line is None:
            return
        for number in range(max(1, stop.line - AROUND), stop.line + AROUND + 1):
            line = linecache.getline(stop.file, number).rstrip("\n")
            if line or number <= stop.line:
                yield f"{number:5d} {'->' if number == stop.line else '  '} {line}".rstrip()

    def table(self) -> str:
        """The values by variable, one a line."""
        return "\n".join(f"{name} = {show(value)}" for name, value in self.values.items())


def of_trace(name: str, traced: Traced, call: Call, names: Names) -> Debugger:
    """A debugger of a traced call. What the function changes outside is not written back."""
    tensors = [*call.arrays, *(hidden.current() for hidden in traced.hidden)]
    arrays = [np.array(as_tensor(tensor).numpy()) for tensor in tensors]

    def result(results: list[Any]) -> Any:
        leaves = [
            output.static if output.index is None else _leaf(output, results[output.index])
            for output in traced.outputs
        ]
        return traced.treedef.unflatten(leaves)

    return Debugger(name, traced.graph, lambda: run(traced.graph, arrays), names, result)


def _leaf(output: Output, result: Any) -> Any:
    array = np.asarray(result)
    return array.item() if output.weak else Tensor(array)


def _graph_of(node: Node, label: str) -> Graph | None:
    for name, value in node.attrs.items():
        if isinstance(value, Graph) and name == label:
            return value
        if getattr(value, "name", None) == label and hasattr(value, "graph"):
            graph: Graph = value.graph
            return graph
    return None


def _told(outer: Frame, inner: Frame) -> str:
    """What a frame is: which turn of a loop, which branch."""
    op = outer.node.op.name if outer.node is not None else ""
    if op == "cond":
        return f"if: {inner.label}"
    if inner.label in ("body", "cond"):
        test = " test" if inner.label == "cond" else ""
        return f"{op}{test} turn {inner.turn}"
    return inner.label
