"""What the lowering knows of a graph before it starts: who is needed, who is the last to look.

    facts = Facts.of(graph)
    facts.dies_at(value, position)    # nothing after node number `position` reads it or a view

Views share their operand's memory, so a value lives as long as any view of it.
"""

from __future__ import annotations

from dataclasses import dataclass

from graphify.ir.graph import Graph, Node, Value, attr_sizes

# Ops whose result is, or may be, their first operand's memory.
VIEWS = frozenset(
    [
        "identity",
        "stop_gradient",
        "copy",
        "transpose",
        "slice",
        "flip",
        "broadcast_to",
        "reshape",
        "diagonal",
        "sliding_windows",
        "real",
        "imag",
        "in_range",
        "at_least_zero",
    ]
)
# Ops that change a copy of their first operand; in place if nobody else reads it any more.
UPDATES = frozenset({"slice_update", "scatter"})
FOREVER = 1 << 60


@dataclass(frozen=True, slots=True)
class Facts:
    """A graph's needed nodes in program order, and when each value is last looked at."""

    nodes: tuple[Node, ...]
    position: dict[Node, int]
    roots: dict[Value, Value]  # view -> the value whose memory it shares
    last: dict[Value, int]  # root -> position of the last node that reads it
    used: dict[Value, int]  # value -> position of the last node that it is an operand of

    @classmethod
    def of(cls, graph: Graph) -> Facts:
        nodes = needed(graph)
        position = {node: i for i, node in enumerate(nodes)}
        roots: dict[Value, Value] = {}
        last: dict[Value, int] = {}
        used: dict[Value, int] = {}
        for i, node in enumerate(nodes):
            for value in node.inputs:
                used[value] = i
                last[roots.get(value, value)] = i
            if node.op.name in VIEWS and node.specs:
                roots[Value(node)] = roots.get(node.inputs[0], node.inputs[0])
        for value in graph.results:
            used[value] = FOREVER
            last[roots.get(value, value)] = FOREVER
        return cls(nodes, position, roots, last, used)

    def root(self, value: Value) -> Value:
        return self.roots.get(value, value)

    def dies_at(self, value: Value, node: Node) -> bool:
        """Whether `node` is the last to read `value` or anything that shares its memory."""
        return self.last.get(self.root(value), -1) <= self.position[node]


def needed(graph: Graph) -> tuple[Node, ...]:
    """The nodes that the results and the effects depend on, through data or sizes, in order."""
    bindings = graph.size_bindings()
    params = {value.node for value in graph.params}
    stack = [value.node for value in graph.results]
    stack += [node for node in graph.nodes if node.effects]
    found: set[Node] = set()
    while stack:
        node = stack.pop()
        if node in found or node in params:
            continue
        found.add(node)
        stack += [value.node for value in node.inputs]
        stack += [bindings[variable][0].node for variable in attr_sizes(node.attrs)]
    return tuple(node for node in graph.nodes if node in found)
