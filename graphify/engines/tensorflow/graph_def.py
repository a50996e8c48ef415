"""A graph as a GraphDef, and the names of its results in it.

    graph_def = as_graph_def(graph)
    outputs = graph_def_outputs(graph)            # ["Identity:0"]
    pruned = tf.compat.v1.wrap_function(
        lambda: tf.graph_util.import_graph_def(graph_def, name=""), []
    ).prune("x:0", outputs)

The GraphDef stands alone: its functions are named by their content, so any number of graphs can be
imported into one process.
"""

from __future__ import annotations

import functools
from typing import Any

from graphify.engines.tensorflow.lower import Lowered, lower
from graphify.ir.graph import Graph


def as_graph_def(graph: Graph) -> Any:
    """The graph as a `tf.compat.v1.GraphDef`.

    Raises:
        LoweringError: an op that TensorFlow has no form for; TensorFlow is not installed.
    """
    return graph_def_of(_lowered(graph))


def graph_def_outputs(graph: Graph) -> list[str]:
    """The tensors of `as_graph_def(graph)` that are the results, by name."""
    return [tensor.name for tensor in _lowered(graph).outputs]


def graph_def_inputs(graph: Graph) -> list[str]:
    """The placeholders of `as_graph_def(graph)`, one per parameter, as tensor names."""
    return [tensor.name for tensor in _lowered(graph).inputs]


def graph_def_effects(graph: Graph) -> list[str]:
    """The operation of `as_graph_def(graph)` that the last effect waits for, if there are any."""
    return [operation.name for operation in _lowered(graph).frame.effects[-1:]]


def graph_def_of(lowered: Lowered) -> Any:
    """The GraphDef of a lowered graph, functions included."""
    graph_def = lowered.frame.graph.as_graph_def()
    library = lowered.frame.unit.library
    graph_def.library.function.extend(library[name] for name in sorted(library))
    return graph_def


@functools.lru_cache(maxsize=16)
def _lowered(graph: Graph) -> Lowered:
    return lower(graph, portable=True)
