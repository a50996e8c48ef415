"""Calls back into Python from a running graph, for what only this process can do."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from graphify.engines.tensorflow.frame import MARKER, Frame
from graphify.errors import LoweringError

_tokens = itertools.count()


def call_host(
    frame: Frame, function: Callable[..., Any], values: Sequence[Any], dtype: Any = None
) -> Any:
    """Call a Python function on arrays each time the graph runs, in order of effects.

    Args:
        dtype: of the array that the function gives; None if it gives nothing.

    Returns:
        The result tensor, or the operation if there is no result.

    Raises:
        LoweringError: the graph is to be written out.
    """
    if frame.unit.portable:
        raise LoweringError(
            "tensorflow: this op runs in the process that made it, so it cannot be written out",
            remedy="make the value outside and pass it as an argument; for random numbers use "
            "graphify.random with a key",
        )
    pending = frame.unit.pending

    def guarded(*arrays: Any) -> Any:
        try:
            result = function(*arrays)
        except BaseException as error:  # the runtime raises it in the caller's thread
            token = f"{MARKER}-host-{next(_tokens)}"
            pending[token] = error
            raise RuntimeError(token) from None
        return True if dtype is None else result

    tf = frame.tf
    result = tf.numpy_function(
        guarded, list(values), tf.bool if dtype is None else dtype, stateful=True
    )
    return result.op if dtype is None else result
