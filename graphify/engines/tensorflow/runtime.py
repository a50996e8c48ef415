"""The TensorFlow engine: compiles a graph to one concrete function of TensorFlow's and calls it.

    get_engine("tensorflow").compile(graph)([np.arange(3.0)])

What fails while it runs is raised as the Python exception it stands for, with the user's line.

Results are NumPy's up to rounding, with three exceptions that lie in TensorFlow's kernels: its
threads take subnormal numbers for zero; factors that are unique only up to signs, phases or order
(svd, eigh, eig) may choose other ones; argsort is always stable.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from graphify.config import config
from graphify.engines.base import Array, check_args, check_support
from graphify.engines.tensorflow.failures import translate
from graphify.engines.tensorflow.functions import function_def
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
        # Host functions run in threads of TensorFlow's: what they make is not for two runs at once.
        shares = bool(self.lowered.frame.unit.generators)
        self._alone = threading.Lock() if shares else contextlib.nullcontext()

    def __call__(self, args: Sequence[Any]) -> list[Array]:
        tf = self.lowered.frame.tf
        arrays = [np.asarray(arg) for arg in args]
        check_args(self.lowered.graph.params, arrays)
        try:
            with self._alone:
                results = self.function(*(tf.constant(array) for array in arrays))
        except tf.errors.OpError as error:
            failure = translate(error, self.lowered.frame.unit)
            raise failure from failure.__cause__
        return [result.numpy() for result in results[:-1]]


def import_function(lowered: Lowered) -> Any:
    """A concrete function that runs a lowered graph as it stands.

    The graph is called as a function that is not optimised by TensorFlow: its optimiser reorders
    products and sums of floats, to other results where one of them overflows. Control flow and
    what nobody needs are dealt with all the same.

    Its results are those of the graph and, last, one that is there when all effects are done.
    """
    tf = lowered.frame.tf
    frame, outer = lowered.frame, tf.Graph()
    # Inlined, it would be optimised with its surroundings.
    body = function_def(frame.graph, lowered.inputs, lowered.outputs, frame.effects, inline=False)
    call = tf.raw_ops.StatefulPartitionedCall if frame.effects else tf.raw_ops.PartitionedCall
    with outer.as_default():
        inputs = [tf.raw_ops.Placeholder(dtype=t.dtype, shape=t.shape) for t in lowered.inputs]
        dtypes = [t.dtype for t in lowered.outputs]
        results = call(
            args=inputs, Tout=dtypes, f=body.signature.name, config_proto=_as_it_stands(tf)
        )
    graph_def = outer.as_graph_def()
    library = frame.unit.library
    graph_def.library.function.extend([body, *(library[name] for name in sorted(library))])
    config.log(4, f"--- GraphDef ---\n{graph_def}")
    wanted = [t.name for t in results] if dtypes else []
    if frame.effects and not dtypes:
        wanted = [results.name]  # the operation itself

    def run(*given: Any) -> list[Any]:
        mapping = dict(zip((t.name for t in inputs), given, strict=True))
        found = tf.graph_util.import_graph_def(
            graph_def, input_map=mapping, return_elements=wanted, name=""
        )
        with tf.control_dependencies(found[-1:]):
            return [*(found if dtypes else ()), tf.constant(0)]

    specs = [tf.TensorSpec(tensor.shape, tensor.dtype) for tensor in lowered.inputs]
    # NOTE: tf.function would do, but does not make the imported functions known to the runtime.
    return tf.compat.v1.wrap_function(run, specs)


def _as_it_stands(tf: Any) -> bytes:
    """The configuration under which a graph is not optimised."""
    config = tf.compat.v1.ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    return bytes(config.SerializeToString(deterministic=True))


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
