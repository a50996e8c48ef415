"""The TensorFlow engine: compiles a graph to one concrete function of TensorFlow's and calls it.

    get_engine("tensorflow").compile(graph)([np.arange(3.0)])

What fails while it runs is raised as the Python exception it stands for, with the user's line.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphify.config import config
from graphify.engines.base import Array, check_args, check_support
from graphify.engines.tensorflow.failures import translate
from graphify.engines.tensorflow.graph_def import graph_def_of
from graphify.engines.tensorflow.importing import tensorflow
from graphify.engines.tensorflow.kernels.table import find
from graphify.engines.tensorflow.lower import Lowered, lower
from graphify.ir.graph import Graph
from graphify.ir.op import Op


class TensorFlowExecutable:
    """A graph as a concrete function of TensorFlow's."""

    def __init__(self, graph: Graph) -> None:
        self.lowered = lower(graph, portable=False)
        self.function = import_function(self.lowered)

    def __call__(self, args: Sequence[Any]) -> list[Array]:
        tf = self.lowered.frame.tf
        arrays = [np.asarray(arg) for arg in args]
        check_args(self.lowered.graph.params, arrays)
        try:
            results = self.function(*(tf.constant(array) for array in arrays))
        except tf.errors.OpError as error:
            failure = translate(error, self.lowered.frame.unit)
            raise failure from None
        return [result.numpy() for result in results[:-1]]


def import_function(lowered: Lowered) -> Any:
    """A concrete function that runs a lowered graph's GraphDef.

    Its results are those of the graph and, last, one that is there when all effects are done.
    """
    tf = lowered.frame.tf
    graph_def = graph_def_of(lowered)
    config.log(4, f"--- GraphDef ---\n{graph_def}")
    names = [tensor.name for tensor in lowered.inputs]
    wanted = [tensor.name for tensor in lowered.outputs]
    effects = [operation.name for operation in lowered.frame.effects[-1:]]

    def run(*inputs: Any) -> list[Any]:
        mapping = dict(zip(names, inputs, strict=True))
        results = tf.graph_util.import_graph_def(
            graph_def, input_map=mapping, return_elements=wanted + effects, name=""
        )
        with tf.control_dependencies(results[len(wanted) :]):
            return [*results[: len(wanted)], tf.constant(0)]

    specs = [tf.TensorSpec(tensor.shape, tensor.dtype) for tensor in lowered.inputs]
    # NOTE: tf.function would do, but does not make the imported functions known to the runtime.
    return tf.compat.v1.wrap_function(run, specs)


class TensorFlowEngine:
    """Runs graphs on TensorFlow's runtime, on whatever devices it has."""

    name = "tensorflow"

    def supports(self, op: Op) -> bool:
        return op.name in ("param", "constant", "as_size") or find(op) is not None

    def compile(self, graph: Graph) -> TensorFlowExecutable:
        tensorflow("the tensorflow engine")  # say that it is missing before anything else
        check_support(self, graph)
        return TensorFlowExecutable(graph)


ENGINE = TensorFlowEngine()
