"""FunctionDefs: a tf.Graph as a function, named by the hash of what it does.

    definition = function_def(tf_graph, inputs, outputs, effects)
    definition.signature.name    # "graphify_2f9c41..."

Because equal functions have equal names and different ones different names, any number of graphs
can be imported into one process without clashing, and a branch that two graphs share is stored
once. Only public protocol buffers are used, so the form does not depend on TensorFlow's internals.

Source: tensorflow/core/framework/function.proto, on how a NodeDef of a function names its inputs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any

from graphify.engines.tensorflow.importing import tensorflow


def function_def(
    graph: Any,
    inputs: Sequence[Any],
    outputs: Sequence[Any],
    effects: Sequence[Any],
    inline: bool = True,
) -> Any:
    """The FunctionDef of a tf.Graph.

    Args:
        graph: the tf.Graph, filled.
        inputs: its placeholders, in order.
        outputs: tensors of it.
        effects: operations that must run even where no output needs them.
        inline: whether TensorFlow may put the nodes in the place of a call.
    """
    tf = tensorflow("a function of a GraphDef")
    definition = tf.compat.v1.GraphDef().library.function.add()
    names = _tensor_names(graph, inputs)
    signature = definition.signature
    for tensor in inputs:
        signature.input_arg.add(name=tensor.op.name, type=tensor.dtype.as_datatype_enum)
    for i, tensor in enumerate(outputs):
        signature.output_arg.add(name=f"output_{i}", type=tensor.dtype.as_datatype_enum)
        definition.ret[f"output_{i}"] = names[tensor.name]
    for i, operation in enumerate(effects):
        signature.control_output.append(f"effect_{i}")
        definition.control_ret[f"effect_{i}"] = operation.name
    signature.is_stateful = bool(effects)
    if not inline:
        definition.attr["_noinline"].b = True
    placeholders = {tensor.op.name for tensor in inputs}
    for operation in graph.get_operations():
        if operation.name not in placeholders:
            _add_node(definition, operation.node_def, names)
    content = definition.SerializeToString(deterministic=True)
    signature.name = f"graphify_{hashlib.sha256(content).hexdigest()[:24]}"
    return definition


def _add_node(definition: Any, node_def: Any, names: dict[str, str]) -> None:
    node = definition.node_def.add()
    node.CopyFrom(node_def)
    del node.input[:]
    for source in node_def.input:
        if source.startswith("^"):
            node.input.append(source)
        else:
            node.input.append(names[source if ":" in source else source + ":0"])


def _tensor_names(graph: Any, inputs: Sequence[Any]) -> dict[str, str]:
    """A graph names a tensor `node:index`; a function `argument` or `node:result:index`."""
    names = {tensor.name: tensor.op.name for tensor in inputs}
    for operation in graph.get_operations():
        for i, name in enumerate(_result_names(operation)):
            names.setdefault(f"{operation.name}:{i}", name)
    return names


def _result_names(operation: Any) -> Iterator[str]:
    for arg in operation.op_def.output_arg:
        count = 1
        if arg.number_attr:
            count = operation.get_attr(arg.number_attr)
        elif arg.type_list_attr:
            count = len(operation.get_attr(arg.type_list_attr))
        yield from (f"{operation.name}:{arg.name}:{i}" for i in range(count))
