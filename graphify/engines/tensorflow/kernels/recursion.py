"""Recursive functions: TensorFlow has none, so a call leaves for Python and its reference meaning.

Such a graph runs in this process only; it cannot be written out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphify.engines.tensorflow.frame import Frame
from graphify.engines.tensorflow.kernels.host import call_host
from graphify.engines.tensorflow.kernels.table import kernel
from graphify.engines.tensorflow.lower import dtype_of
from graphify.errors import LoweringError
from graphify.ir.function import GraphFunction
from graphify.ops import recursion


@kernel("recursive_call")
def recursive_call(frame: Frame, *operands: Any, function: GraphFunction) -> Sequence[Any]:
    if frame.unit.portable:
        raise LoweringError(
            f"tensorflow: {function.name} calls itself, which functions of TensorFlow cannot; the "
            "graph runs in the process that made it, but cannot be written out",
            remedy=f"write {function.name} as a while loop",
        )
    meaning = recursion.recursive_call.eval
    assert meaning is not None

    def run(*arrays: Any) -> Any:
        return list(meaning(*arrays, function=function))

    dtypes = [dtype_of(frame, spec) for spec in frame.specs]
    results = call_host(frame, run, operands, dtypes or None)
    frame.ran(results[0].op if dtypes else results)
    return results if dtypes else []
