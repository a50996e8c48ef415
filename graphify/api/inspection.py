"""What a graph says of itself: text, report, pictures, GraphDef.

Attached to `Graph` here, because the graph lies below everything that can describe it.

    print(f.get_concrete_function(x).graph)
    graph.report()          # what optimiser and engine made of it, by the user's lines
    graph.to_mermaid()      # or to_dot(), to_svg(); notebooks show the picture
    graph.as_graph_def()    # TensorFlow's GraphDef
"""

from __future__ import annotations

import importlib
import weakref
from dataclasses import replace
from typing import Any

from graphify.config import config
from graphify.engines.base import get_engine
from graphify.ir import pretty
from graphify.ir.graph import Graph

_reports: weakref.WeakKeyDictionary[Graph, Any] = weakref.WeakKeyDictionary()
_engines: weakref.WeakKeyDictionary[Graph, str] = weakref.WeakKeyDictionary()


def remember_report(graph: Graph, report: Any) -> None:
    """Keep the optimiser's report for as long as its graph lives."""
    _reports[graph] = report


def remember_engine(graph: Graph, engine: str) -> None:
    """Keep the name of the engine that runs a graph."""
    _engines[graph] = engine


def report(graph: Graph) -> Any:
    """What became of a graph: optimised away, and made into kernels, by user line.

    The first part is the optimiser's: pruned, folded, shared, hoisted. The second, `.engine`, is
    told by the engine that runs the graph, if it has anything to tell. The native engine lists its
    kernels with the lines and operations fused into each, whether several threads share it, its
    flops and the bytes it moves, in the sizes of the arguments; then the buffers, and what Python
    runs for it.

    Raises:
        ValueError: the graph was not made by the optimiser.

    Example:
        >>> @graphify.function
        ... def scaled(x):
        ...     return np.exp(x) / np.exp(x).sum()
        >>> spec = graphify.TensorSpec((None,), np.float32)
        >>> report = scaled.get_concrete_function(spec).graph.report()
        >>> report.summary()
        'nodes: 3 -> 3, graphs: 1 -> 1, 1 round, ... ms'
        >>> [str(kernel.bytes) for kernel in report.engine.kernels]
        ['8*n', '8*n']
    """
    known = _reports.get(graph)
    if known is None:
        raise ValueError("report: this graph was not optimised; ask `concrete.graph.report()`")
    engine = get_engine(_engines.get(graph, config.engine))
    describe = getattr(engine, "report", None)
    return known if describe is None else replace(known, engine=describe(graph))


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
