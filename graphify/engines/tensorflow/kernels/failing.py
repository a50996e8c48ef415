"""What a part of the graph raises: found by running it in Python, where exceptions have classes.

Such a graph cannot be written out.
"""

from __future__ import annotations

import functools
from typing import Any

from graphify.engines.tensorflow.frame import Frame
from graphify.engines.tensorflow.kernels.host import call_host
from graphify.engines.tensorflow.kernels.table import kernel
from graphify.engines.tensorflow.lower import dtype_of, static_shape
from graphify.ir.graph import Graph
from graphify.ops import failing


@kernel("failure")
def failure(frame: Frame, *operands: Any, body: Graph, kinds: failing.Kinds) -> Any:
    return _found(frame, failing.failure, operands, body, kinds)


@kernel("failure_text")
def failure_text(frame: Frame, *operands: Any, body: Graph, kinds: failing.Kinds) -> Any:
    return _found(frame, failing.failure_text, operands, body, kinds)


def _found(frame: Frame, op: Any, operands: Any, body: Graph, kinds: failing.Kinds) -> Any:
    (spec,) = frame.specs
    meaning = functools.partial(op.eval, body=body, kinds=kinds)
    result = call_host(frame, meaning, operands, dtype_of(frame, spec))
    return frame.tf.ensure_shape(result, static_shape(spec))
