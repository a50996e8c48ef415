"""What the optimiser did, told by the user's lines.

print(optimise(graph).report)

nodes: 7 -> 3, graphs: 1 -> 1, 2 rounds, 0.4 ms
demo.py:3  y = x * 2 + 0
    simplified  add: add(x, 0)
demo.py:4  unused = np.sin(x)
    pruned      sin: nothing uses it
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from graphify.ir.graph import Graph, Node
from graphify.ir.walk import nested_graphs
from graphify.location import LazyLoc, SourceLoc


@dataclass(frozen=True, slots=True)
class Event:
    """One thing a pass did: pruned, folded, simplified, shared, hoisted, inlined.

    Attributes:
        what: the op and why, such as "sin: nothing uses it".
        source: the user's line that the op came from.
    """

    kind: str
    what: str
    source: LazyLoc | None


@dataclass(slots=True)
class Report:
    """Everything that was done to one graph. `str(report)` tells it line by line.

    Attributes:
        engine: what the engine made of the optimised graph, if it says (the native one does:
            `.kernels`, `.buffers`, `.in_python`); its text follows.
    """

    events: list[Event] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)  # by pass, all rounds together
    passes: list[str] = field(default_factory=list)  # in the order they ran
    rounds: int = 0
    before: tuple[int, int] = (0, 0)  # nodes, graphs
    after: tuple[int, int] = (0, 0)
    engine: Any = None

    def note(self, kind: str, node: Node, why: str) -> None:
        """Record what happened to a node."""
        self.events.append(Event(kind, f"{node.op.name}: {why}", node.source))

    def count(self, kind: str) -> int:
        """How many events there are of a kind."""
        return sum(event.kind == kind for event in self.events)

    def by_line(self) -> dict[SourceLoc | None, Counter[tuple[str, str]]]:
        """Events counted by (kind, what) for each user line, in the order of the source."""
        lines: dict[SourceLoc | None, Counter[tuple[str, str]]] = {}
        for event in self.events:
            place = _line(event.source)
            lines.setdefault(place, Counter())[event.kind, event.what] += 1
        order = sorted(lines, key=lambda p: ("", 0) if p is None else (p.file, p.line))
        return {place: lines[place] for place in order}

    def __str__(self) -> str:
        lines = [self.summary()]
        for place, counts in self.by_line().items():
            lines.append("no line of yours" if place is None else f"{place}  {place.text}".rstrip())
            for (kind, what), count in counts.items():
                times = f" ({count} times)" if count > 1 else ""
                lines.append(f"    {kind:<10}  {what}{times}")
        if self.engine is not None:
            lines += ["", str(self.engine)]
        return "\n".join(lines)

    def summary(self) -> str:
        """Counts and time on one line."""
        (nodes, graphs), (nodes_after, graphs_after) = self.before, self.after
        rounds = f"{self.rounds} round" + ("s" if self.rounds != 1 else "")
        milliseconds = 1e3 * sum(self.seconds.values())
        return (
            f"nodes: {nodes} -> {nodes_after}, graphs: {graphs} -> {graphs_after}, "
            f"{rounds}, {milliseconds:.1f} ms"
        )


def _line(source: LazyLoc | None) -> SourceLoc | None:
    """The place without its columns, so that all events of one line meet."""
    if source is None:
        return None
    here = source.resolve()
    return SourceLoc(here.file, here.line, here.function)


def measure(graph: Graph) -> tuple[int, int]:
    """Nodes and graphs, inner ones included."""
    graphs = nested_graphs(graph)
    return sum(len(inner.nodes) for inner in graphs), len(graphs)
