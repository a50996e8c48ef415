"""Where the boxes of a picture go: a simple layered layout with graphs nested inside nodes.

    area = place(graph)      # boxes with x, y, width, height; paths of points between them

Layers follow the data from the parameters down to the results. An edge that spans several layers
gets a waypoint in each, so that it goes around the boxes between; all edges from one node share
theirs. Two sweeps move boxes towards the middle of what they are connected to.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from graphify.ir.graph import Graph, Node, SizeBinding, Value, attr_sizes, constant, param
from graphify.ir.pretty import Printer, is_inline, value_names
from graphify.ir.sizes import SizeVar
from graphify.ir.walk import Call, trampoline

CHARACTER, LINE, PAD = 6.7, 15.0, 8.0  # width of a letter, height of a line, space around text
GAP_X, GAP_Y, MARGIN = 18.0, 30.0, 14.0
WAYPOINT = 6.0
LONGEST = 44  # letters of a line; longer ones are cut
FARTHEST = 24  # layers that an edge gets waypoints for


@dataclass(slots=True)
class Box:
    """A box of the picture, or a waypoint of an edge (without lines).

    Attributes:
        lines: the text in it: name, op, spec.
        node: what it stands for; None for results and waypoints.
        areas: sub-graphs drawn inside, each with its heading.
    """

    lines: list[str]
    node: Node | None = None
    kind: str = "node"
    x: float = 0.0
    y: float = 0.0
    width: float = 0.0
    height: float = 0.0
    areas: list[tuple[str, Area]] = field(default_factory=list)

    @property
    def middle(self) -> float:
        return self.x + self.width / 2


@dataclass(frozen=True, slots=True)
class Edge:
    """From a box to one that uses its value, or only (`dashed`) a size that it binds."""

    source: Box
    target: Box
    dashed: bool = False


@dataclass(slots=True)
class Area:
    """A graph laid out: boxes relative to its upper left corner, edges between them."""

    boxes: list[Box] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    width: float = 0.0
    height: float = 0.0


def place(graph: Graph) -> Area:
    """The layout of a graph and of all graphs inside it."""
    return trampoline(_place(graph, Printer()))


def _place(graph: Graph, printer: Printer) -> Call[Area]:
    names = value_names(graph)
    boxes: dict[Node, Box] = {}
    for value in graph.params:
        boxes[value.node] = Box([names[value], printer.sizes.spec(value.spec)], value.node, "param")
    for node in graph.nodes:
        if not is_inline(node):
            box = boxes[node] = Box(_label(node, names, printer), node)
            for head, inner in node.subgraphs:
                area = yield _place(inner, printer)
                box.areas.append((head, area))
    results = [_result(i, value, printer, names) for i, value in enumerate(graph.results)]
    for box in (*boxes.values(), *results):
        _measure(box)
    return _arrange(graph, boxes, results)


def size_sources(node: Node, bindings: Mapping[SizeVar, SizeBinding]) -> list[Value]:
    """The computed values that bind sizes a node's attributes use (parameters are left out)."""
    values = dict.fromkeys(bindings[v][0] for v in attr_sizes(node.attrs) if v in bindings)
    return [v for v in values if v.node.op is not param and v not in node.inputs]


def _label(node: Node, names: Mapping[Value, str], printer: Printer) -> list[str]:
    title = ", ".join(names[value] for value in node.outputs)
    call = printer.head(node, names).split(" = ", 1)[-1]
    specs = ", ".join(printer.sizes.spec(spec) for spec in node.specs)
    if node.op is constant:
        call = f"constant {call.removeprefix('constant')}"
    return [_cut(line) for line in (title, call, specs) if line]


def _result(i: int, value: Value, printer: Printer, names: Mapping[Value, str]) -> Box:
    text = f"return {printer.operand(value, names)}"
    return Box([_cut(text)], None, "result")


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _measure(box: Box) -> None:
    """The size of a box: its text, and its sub-graphs side by side."""
    box.width = max(len(line) for line in box.lines) * CHARACTER + 2 * PAD
    box.height = len(box.lines) * LINE + 2 * PAD
    if box.areas:
        inside = sum(max(a.width, len(h) * CHARACTER) + PAD for h, a in box.areas) + PAD
        box.width = max(box.width, inside)
        box.height += LINE + max(area.height for _, area in box.areas) + PAD


# --- layers ---------------------------------------------------------------------------------


def _arrange(graph: Graph, boxes: dict[Node, Box], results: list[Box]) -> Area:
    layer_of: dict[Node, int] = {value.node: 0 for value in graph.params}
    bindings = graph.size_bindings()
    for node in graph.nodes:
        if node in boxes:
            sources = [*node.inputs, *size_sources(node, bindings)]
            above = [layer_of[v.node] for v in sources if v.node in layer_of]
            layer_of[node] = 1 + max(above, default=0)
    last = 1 + max(layer_of.values(), default=0)
    layers: list[list[Box]] = [[] for _ in range(last + 1)]
    for node, box in boxes.items():
        layers[layer_of[node]].append(box)
    layers[last] = results
    area = Area()
    wires = _Wires(area, layers, boxes, layer_of)
    for node, box in boxes.items():
        for source in dict.fromkeys(value.node for value in node.inputs):
            wires.connect(source, box, layer_of[node])
        for value in size_sources(node, bindings):
            wires.connect(value.node, box, layer_of[node], dashed=True)
    for value, box in zip(graph.results, results, strict=True):
        wires.connect(value.node, box, last)
    _coordinates(area, layers)
    return area


class _Wires:
    """Draws edges through the layers, one waypoint per layer for all edges of one node."""

    def __init__(
        self,
        area: Area,
        layers: list[list[Box]],
        boxes: dict[Node, Box],
        layer_of: dict[Node, int],
    ) -> None:
        self.area, self.layers, self.boxes, self.layer_of = area, layers, boxes, layer_of
        self.points: dict[tuple[Node, int], Box] = {}

    def connect(self, source: Node, target: Box, layer: int, dashed: bool = False) -> None:
        if source not in self.boxes:
            return  # a scalar constant stands in the text of the box
        start = self.layer_of[source]
        box = self.boxes[source]
        if layer - start <= FARTHEST:
            for level in range(start + 1, layer):
                box = self._waypoint(source, box, level)
        self.area.edges.append(Edge(box, target, dashed))

    def _waypoint(self, source: Node, before: Box, level: int) -> Box:
        known = self.points.get((source, level))
        if known is None:
            known = self.points[source, level] = Box([], None, "waypoint", width=WAYPOINT)
            self.layers[level].append(known)
            self.area.edges.append(Edge(before, known))
        return known


# --- coordinates ------------------------------------------------------------------------------


def _coordinates(area: Area, layers: list[list[Box]]) -> None:
    above: dict[int, list[Box]] = {}
    below: dict[int, list[Box]] = {}
    for edge in area.edges:
        above.setdefault(id(edge.target), []).append(edge.source)
        below.setdefault(id(edge.source), []).append(edge.target)
    for layer in layers:
        _sweep(layer, above)
    for layer in reversed(layers):
        _sweep(layer, below)
    for layer in layers:
        _sweep(layer, above)
    y = MARGIN
    for layer in layers:
        height = max((box.height for box in layer), default=0.0)
        for box in layer:
            box.y = y
            if box.kind == "waypoint":
                box.height = height
        y += height + (GAP_Y if layer else 0.0)
    area.boxes = [box for layer in layers for box in layer]
    left = min((box.x for box in area.boxes), default=0.0) - MARGIN
    for box in area.boxes:
        box.x -= left
    area.width = max((box.x + box.width for box in area.boxes), default=0.0) + MARGIN
    area.height = y - GAP_Y + MARGIN


def _sweep(layer: list[Box], neighbours: dict[int, list[Box]]) -> None:
    """Order a layer by where its neighbours are, and put each box as near to them as can be."""
    wanted: dict[int, float] = {}
    for box in layer:
        near = neighbours.get(id(box), [])
        wanted[id(box)] = sum(b.middle for b in near) / len(near) if near else box.middle
    layer.sort(key=lambda box: wanted[id(box)])
    right = float("-inf")
    for box in layer:
        box.x = max(wanted[id(box)] - box.width / 2, right)
        right = box.x + box.width + GAP_X
    # Boxes that had to give way went right: move the layer back by half of what it was pushed.
    if layer:
        shift = sum(box.middle - wanted[id(box)] for box in layer) / len(layer)
        for box in layer:
            box.x -= shift
