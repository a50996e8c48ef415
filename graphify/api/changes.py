"""What is left to do by Python when machine code has run a graph that changes things outside it.

    finish = finisher(concrete)
    finish(results, arguments)      # the function's result, everything updated

A graph computes the new values of all that the function updates and changes nothing itself, so the
checks of `writing` may as well come after it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphify.api import writing
from graphify.api.concrete import ConcreteFunction
from graphify.api.passed import NotQuick
from graphify.errors import TraceError
from graphify.ir.bind import Tensor, as_tensor
from graphify.tracing.containers import Argument


def finisher(concrete: ConcreteFunction) -> Callable[[list[Any], list[Any]], Any]:
    """What makes the changes of a trace, and the function's result.

    The function gives NotImplemented where it would raise: the whole call, made again by way of
    Python, raises that.
    """
    traced = concrete._traced
    if any(isinstance(write.target, Argument) for write in traced.writes):
        raise NotQuick
    updated = [write.target for write in traced.writes if isinstance(write.target, int)]

    def finish(results: list[Any], arguments: list[Any]) -> Any:
        arrays = [as_tensor(argument) for argument in arguments]
        if traced.writes:
            if not all(map(_is_writable, [arguments[i] for i in updated])):
                return NotImplemented
            inputs = [*arrays, *(as_tensor(h.current()) for h in traced.hidden)]
            try:
                writing.check(concrete.name, traced, inputs, None)
            except (TraceError, TypeError, ValueError):
                return NotImplemented
        return concrete.finish(results, arrays)

    return finish


def _is_writable(argument: Any) -> bool:
    """Whether an argument is an array that lets itself be updated."""
    array = argument._value if type(argument) is Tensor else argument
    return isinstance(array, np.ndarray) and array.flags.writeable
