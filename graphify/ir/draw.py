"""Pictures of graphs: SVG and HTML drawn here, DOT and Mermaid text for other programs.

    open("graph.svg", "w").write(to_svg(graph))

Colours say what kind of op a box is; the tooltip of a box gives the user's line. Sub-graphs stand
inside the box of the node that holds them.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from typing import Any

from graphify.ir.graph import Graph, Node, Value, constant, param
from graphify.ir.layout import LINE, PAD, Area, Box, Edge, place, size_sources
from graphify.ir.pretty import Printer, is_inline, to_text, value_names
from graphify.ir.walk import count_nodes

# kind -> fill and border
COLOURS = {
    "param": ("#e8f0fe", "#4a74c9"),
    "constant": ("#f3f3f3", "#8a8a8a"),
    "elementwise": ("#eaf7ea", "#4f9d58"),
    "movement": ("#fdf3dc", "#c79a3b"),
    "reduction": ("#fbe8e6", "#c2625a"),
    "control": ("#f7f4fd", "#8467c4"),
    "effect": ("#ffe9f3", "#c9437f"),
    "other": ("#e6f6f7", "#3d949b"),
    "result": ("#34495e", "#34495e"),
}
_MOVEMENT = {"broadcast_to", "concatenate", "cast", "copy", "slice_update", "gather", "scatter"}
_MOVEMENT |= {"size_value", "as_size", "iota"}
MAX_DRAWN = 400  # nodes; a larger picture is of no use, so notebooks get the text


def kind_of(node: Node) -> str:
    """What sort of op a node is, for its colour."""
    op = node.op
    if op.extra.get("control"):
        return "control"
    if node.effects:
        return "effect"
    if op is param or op is constant:
        return op.name
    if op.extra.get("elementwise"):
        return "elementwise"
    if op.put is not None or op.name in _MOVEMENT:
        return "movement"
    return "reduction" if op.name.startswith(("reduce_", "cum", "arg")) else "other"


def tooltip(node: Node) -> str:
    """The user's place and line."""
    if node.source is None:
        return node.op.name
    here = node.source.resolve()
    return f"{node.source}: {here.text}" if here.text else str(node.source)


# --- SVG ----------------------------------------------------------------------------------------

_STYLE = (
    "text{font:11px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#222}"
    ".name{font-weight:bold}.spec{fill:#667}.head{fill:#8467c4;font-weight:bold}"
    ".result{fill:#fff}.edge{fill:none;stroke:#99a;stroke-width:1.1}.size{stroke-dasharray:4 3}"
)
_ARROW = (
    '<marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" '
    'orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="#99a"/></marker>'
)


def to_svg(graph: Graph) -> str:
    """A picture of the graph as an SVG document."""
    area = place(graph)
    width, height = round(area.width), round(area.height)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" aria-label="graph {html.escape(graph.name)}">',
        f"<style>{_STYLE}</style><defs>{_ARROW}</defs>",
        '<rect width="100%" height="100%" fill="#ffffff"/>',
    ]
    return "\n".join([*lines, *_drained(_draw_area(area, 0.0, 0.0)), "</svg>"]) + "\n"


def _draw_area(area: Area, x: float, y: float) -> Iterator[Any]:
    """Lines of SVG, and iterators of lines for the graphs inside."""
    for edge in area.edges:
        yield _edge(edge, x, y)
    for box in area.boxes:
        if box.kind == "waypoint":
            middle = x + box.middle
            yield f'<path class="edge" d="M{middle:.1f},{y + box.y:.1f} v{box.height:.1f}"/>'
        else:
            yield from _draw_box(box, x + box.x, y + box.y)


def _edge(edge: Edge, x: float, y: float) -> str:
    source, target = edge.source, edge.target
    x0, y0 = x + source.middle, y + source.y + source.height
    x1, y1 = x + target.middle, y + target.y
    bend = max(12.0, (y1 - y0) / 2)
    arrow = "" if target.kind == "waypoint" else ' marker-end="url(#arrow)"'
    style = "edge size" if edge.dashed else "edge"
    return (
        f'<path class="{style}" d="M{x0:.1f},{y0:.1f} C{x0:.1f},{y0 + bend:.1f} '
        f'{x1:.1f},{y1 - bend:.1f} {x1:.1f},{y1:.1f}"{arrow}/>'
    )


def _draw_box(box: Box, x: float, y: float) -> Iterator[Any]:
    kind = box.kind if box.node is None else kind_of(box.node)
    fill, border = COLOURS[kind]
    round_corners = 10 if kind in ("param", "result") else 3
    title = f"<title>{html.escape(tooltip(box.node))}</title>" if box.node is not None else ""
    yield (
        f'<g>{title}<rect x="{x:.1f}" y="{y:.1f}" width="{box.width:.1f}" '
        f'height="{box.height:.1f}" rx="{round_corners}" fill="{fill}" stroke="{border}"/>'
    )
    for i, line in enumerate(box.lines):
        style = kind if kind == "result" else _line_style(i, len(box.lines))
        yield _text(line, x + PAD, y + PAD + (i + 0.75) * LINE, style)
    yield "</g>"
    left, top = x + PAD, y + PAD + len(box.lines) * LINE
    for head, area in box.areas:
        yield (
            f'<rect x="{left:.1f}" y="{top + LINE:.1f}" width="{area.width:.1f}" '
            f'height="{area.height:.1f}" rx="3" fill="#ffffff" stroke="#c9bdea"/>'
        )
        yield _text(head, left + 2, top + 0.75 * LINE, "head")
        yield _draw_area(area, left, top + LINE)
        left += max(area.width, len(head) * 6.7) + PAD


def _line_style(i: int, count: int) -> str:
    return "name" if i == 0 else "spec" if i == count - 1 else ""


def _text(text: str, x: float, y: float, style: str) -> str:
    kind = f' class="{style}"' if style else ""
    return f'<text x="{x:.1f}" y="{y:.1f}"{kind}>{html.escape(text)}</text>'


# --- HTML, notebooks ------------------------------------------------------------------------------


def to_html(graph: Graph) -> str:
    """The picture and, folded away, the text; for notebooks and web pages."""
    picture = ""
    if count_nodes(graph) <= MAX_DRAWN:
        picture = f'<div style="overflow:auto;max-height:640px">{to_svg(graph)}</div>'
    shown = "" if picture else " open"
    text = html.escape(to_text(graph))
    return (
        f"<div>{picture}<details{shown}><summary>graph {html.escape(graph.name)}, "
        f"{count_nodes(graph)} nodes</summary><pre>{text}</pre></details></div>"
    )


def mimebundle(graph: Graph) -> dict[str, str]:
    """What a notebook shows: for `_repr_mimebundle_`."""
    bundle = {"text/plain": to_text(graph), "text/html": to_html(graph)}
    if count_nodes(graph) <= MAX_DRAWN:
        bundle["image/svg+xml"] = to_svg(graph)
    return bundle


# --- DOT and Mermaid -----------------------------------------------------------------------------


class _Names:
    """An identifier for each node, and its label, over all nested graphs."""

    def __init__(self) -> None:
        self.printer = Printer()
        self._ids: dict[Node, str] = {}

    def id(self, node: Node) -> str:
        return self._ids.setdefault(node, f"n{len(self._ids)}")

    def label(self, node: Node, names: Mapping[Value, str]) -> list[str]:
        if node.op is param:
            return [names[Value(node)], self.printer.sizes.spec(node.specs[0])]
        call = self.printer.head(node, names).split(" = ", 1)[-1]
        title = ", ".join(names[value] for value in node.outputs)
        return [line for line in (title, call) if line]


def to_dot(graph: Graph) -> str:
    """The graph in Graphviz's DOT language; sub-graphs are clusters."""
    lines = [f"digraph {_quoted(graph.name)} {{"]
    lines.append('  node [shape=box, style=filled, fontname="monospace", fontsize=10];')
    lines += _drained(_dot(graph, _Names(), "  "))
    return "\n".join([*lines, "}"]) + "\n"


def _dot(graph: Graph, ids: _Names, pad: str) -> Iterator[Any]:
    names, bindings = value_names(graph), graph.size_bindings()
    for node in _shown(graph):
        fill, border = COLOURS[kind_of(node)]
        label = "\\n".join(_escaped(line) for line in ids.label(node, names))
        yield (
            f'{pad}{ids.id(node)} [label="{label}", fillcolor="{fill}", color="{border}", '
            f"tooltip={_quoted(tooltip(node))}];"
        )
        for source in dict.fromkeys(v.node for v in node.inputs if not is_inline(v.node)):
            yield f"{pad}{ids.id(source)} -> {ids.id(node)};"
        for value in size_sources(node, bindings):
            yield f"{pad}{ids.id(value.node)} -> {ids.id(node)} [style=dashed];"
        for head, inner in node.subgraphs:
            yield f"{pad}subgraph cluster_{ids.id(node)}_{head} {{"
            yield f"{pad}  label={_quoted(head)}; color={_quoted(COLOURS['control'][1])};"
            yield _dot(inner, ids, pad + "  ")
            yield f"{pad}}}"
            yield from _into(inner, node, ids, f"{pad}{{}} -> {{}} [style=dotted];")
    yield from _returns(graph, ids, names, pad)


def _returns(graph: Graph, ids: _Names, names: Mapping[Value, str], pad: str) -> Iterator[str]:
    for i, value in enumerate(graph.results):
        place = f"r{i}_{ids.id(value.node)}_{ids.id(graph.params[0].node) if graph.params else 0}"
        label = _quoted(f"return {ids.printer.operand(value, names)}")
        yield f'{pad}{place} [label={label}, shape=oval, fillcolor="#dde3ea"];'
        if not is_inline(value.node):
            yield f"{pad}{ids.id(value.node)} -> {place};"


def _into(inner: Graph, node: Node, ids: _Names, form: str) -> Iterator[str]:
    """An edge from a sub-graph's first node, so that layouts keep it near its owner."""
    first = next(_shown(inner), None)
    if first is not None:
        yield form.format(ids.id(node), ids.id(first))


def to_mermaid(graph: Graph) -> str:
    """The graph as a Mermaid flowchart, which Markdown viewers draw."""
    lines = ["flowchart TD", *_drained(_mermaid(graph, _Names(), "  "))]
    for kind, (fill, border) in COLOURS.items():
        ink = ",color:#fff" if kind == "result" else ""
        lines.append(f"  classDef {kind} fill:{fill},stroke:{border}{ink}")
    return "\n".join(lines) + "\n"


def _mermaid(graph: Graph, ids: _Names, pad: str) -> Iterator[Any]:
    names, bindings = value_names(graph), graph.size_bindings()
    for node in _shown(graph):
        label = "<br/>".join(_mermaid_text(line) for line in ids.label(node, names))
        yield f'{pad}{ids.id(node)}["{label}"]:::{kind_of(node)}'
        for source in dict.fromkeys(v.node for v in node.inputs if not is_inline(v.node)):
            yield f"{pad}{ids.id(source)} --> {ids.id(node)}"
        for value in size_sources(node, bindings):
            yield f"{pad}{ids.id(value.node)} -.-> {ids.id(node)}"
        for head, inner in node.subgraphs:
            yield f"{pad}subgraph {ids.id(node)}_{head} [{head}]"
            yield _mermaid(inner, ids, pad + "  ")
            yield f"{pad}end"
            yield from _into(inner, node, ids, f"{pad}{{}} -.-> {{}}")
    for i, value in enumerate(graph.results):
        owner = ids.id(graph.params[0].node) if graph.params else "0"
        place = f"r{i}_{ids.id(value.node)}_{owner}"
        text = _mermaid_text(f"return {ids.printer.operand(value, names)}")
        yield f'{pad}{place}(["{text}"]):::result'
        if not is_inline(value.node):
            yield f"{pad}{ids.id(value.node)} --> {place}"


def _shown(graph: Graph) -> Iterator[Node]:
    """Parameters and nodes that get a box of their own."""
    yield from (value.node for value in graph.params)
    yield from (node for node in graph.nodes if not is_inline(node))


def _drained(lines: Iterator[Any]) -> list[str]:
    """The lines that an iterator gives, and those that it gives iterators of, in order."""
    stack, found = [lines], []
    while stack:
        item = next(stack[-1], None)
        if item is None:
            stack.pop()
        elif isinstance(item, str):
            found.append(item)
        else:
            stack.append(item)
    return found


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")


def _quoted(text: str) -> str:
    return f'"{_escaped(text)}"'


def _mermaid_text(text: str) -> str:
    """Text that Mermaid takes literally inside quotes."""
    return "".join(f"#{ord(c)};" if c in '"#<>;' else c for c in text)
