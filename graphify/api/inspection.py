"""What a graph says of itself: text, report, pictures, GraphDef.

Attached to `Graph` here, because the graph lies below everything that can describe it.

    print(f.get_concrete_function(x).graph)
    graph.report()          # what the optimiser did, by the user's lines
    graph.to_mermaid()      # or to_dot(), to_svg(); notebooks show the picture
    graph.as_graph_def()    # TensorFlow's GraphDef
"""

from __future__ import annotations

import importlib
import weakref
from typing import Any

from graphify.ir import pretty
from graphify.ir.graph import Graph

_reports: weakref.WeakKeyDictionary[Graph, Any] = weakref.WeakKeyDictionary()


def remember_report(graph: Graph, report: Any) -> None:
    """Keep the optimiser's report for as long as its graph lives."""
    _reports[graph] = report


def report(graph: Graph) -> Any:
    """What the optimiser did to make this graph: pruned, folded, shared, hoisted, by user line.

    Raises:
        ValueError: the graph was not made by the optimiser.
    """
    known = _reports.get(graph)
    if known is None:
        raise ValueError("report: this graph was not optimised; ask `concrete.graph.report()`")
    return known


def as_graph_def(graph: Graph) -> Any:
    """The graph as a TensorFlow `GraphDef` that stock TensorFlow imports and runs.

    Control flow becomes StatelessIf and StatelessWhile (If and While with effects), with functions
    named by content.

    Raises:
        LoweringError: TensorFlow is not installed, or an op has no TensorFlow form.
    """
    from graphify.engines.tensorflow import graph_def

    return graph_def.as_graph_def(graph)


def graph_def_outputs(graph: Graph) -> list[str]:
    """The names of the GraphDef's result tensors, such as "Identity:0"."""
    from graphify.engines.tensorflow import graph_def

    return graph_def.graph_def_outputs(graph)


def _drawn(name: str) -> Any:
    """A function of graphify.ir.draw, imported when it is first asked for."""

    def draw(graph: Graph, *args: Any, **kwargs: Any) -> Any:
        pictures = importlib.import_module("graphify.ir.draw")
        return getattr(pictures, name)(graph, *args, **kwargs)

    draw.__name__ = name
    draw.__doc__ = f"See `graphify.ir.draw.{name}`."
    return draw


_METHODS: dict[str, Any] = {
    "__str__": pretty.to_text,
    "to_text": pretty.to_text,
    **{name: _drawn(name) for name in ("to_dot", "to_mermaid", "to_svg", "to_html")},
    "_repr_mimebundle_": _drawn("mimebundle"),
    "report": report,
    "as_graph_def": as_graph_def,
    "graph_def_outputs": property(graph_def_outputs),
}
for _name, _method in _METHODS.items():
    setattr(Graph, _name, _method)
