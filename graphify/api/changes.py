"""What is left to do by Python when machine code has run a graph that changes things outside it.

    finish = finisher(concrete)
    finish(results, given)      # the function's result, everything updated

A graph computes the new values of all that the function updates and changes nothing itself, so the
checks of `writing` may as well come after it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphify.api import writing
from graphify.api.building import builder
from graphify.api.concrete import ConcreteFunction
from graphify.api.passed import NotQuick, Passed, bound
from graphify.errors import TraceError
from graphify.ir.context import tell_tapes
from graphify.ir.tensor import Tensor
from graphify.ir.wrapping import as_tensor
from graphify.tracing.capture import Hidden
from graphify.tracing.containers import Argument

Finish = Callable[[list[Any], list[Any]], Any]


def finisher(concrete: ConcreteFunction, passed: Passed) -> Finish:
    """What makes the changes of a trace, and the function's result.

    The function gives NotImplemented where it would raise: the whole call, made again by way of
    Python, raises that.
    """
    targets = [write.target for write in concrete.writes]
    if all(isinstance(target, (int, Hidden)) for target in targets):
        return _storing(concrete)
    for target in targets:
        if isinstance(target, Argument) and target.steps[0][1] not in passed.sources:
            raise NotQuick  # a default
    sources = passed.sources  # and not the arguments themselves
    return lambda results, given: _finish(concrete, sources, results, given)


class Given:
    """What the checks and changes of `writing` must know of a call."""

    def __init__(self, arguments: list[Any], parameters: dict[str, Any]) -> None:
        self.leaves, self.positions = arguments, range(len(arguments))
        self.bound = parameters
        self.arrays = [as_tensor(argument) for argument in arguments]

    def name(self, position: int) -> str:
        return str(position)  # in messages that nobody sees


def _finish(
    concrete: ConcreteFunction, sources: dict[str, Any], results: list[Any], given: list[Any]
) -> Any:
    """All kinds of changes."""
    traced = concrete._traced
    count = len(traced.params)
    call: Any = Given(given[:count], bound(sources, given[count:]))
    inputs = [*call.arrays, *(as_tensor(h.current()) for h in traced.hidden)]
    try:
        writing.check(concrete.name, traced, inputs, call)
    except (TraceError, TypeError, ValueError):
        return NotImplemented
    return concrete.finish(results, call.arrays, call)


def _storing(concrete: ConcreteFunction) -> Finish:
    """For changes of arrays alone."""
    traced = concrete._traced
    count, hidden = len(traced.params), list(traced.hidden)
    stores = [
        (
            w.target if isinstance(w.target, int) else count + hidden.index(w.target),
            w.outputs[0].index or 0,
        )
        for w in traced.writes
    ]

    has_origins = any(output.origin is not None for output in concrete.outputs)
    build = builder(concrete.outputs, concrete.structured_outputs)

    def finish(results: list[Any], given: list[Any]) -> Any:
        arguments = given[:count]
        things = [*arguments, *(h.current() for h in hidden)] if stores else arguments
        buffers = []
        for place, index in stores:
            buffer = _writable(things[place])
            if buffer is None or _is_shared(buffer, place, things):
                return NotImplemented
            buffers.append((buffer, results[index]._value))
        for buffer, new in buffers:
            tell_tapes(buffer, new)
            buffer[...] = new
        if has_origins:
            return build(results, [as_tensor(argument) for argument in arguments])
        return build(results)

    return finish


def _writable(thing: Any) -> np.ndarray[Any, Any] | None:
    """The array of an argument or hidden input, if an update of it is an update of the thing."""
    if isinstance(thing, Tensor):
        thing = thing._value if thing._base is None else None
    return thing if type(thing) is np.ndarray and thing.flags.writeable else None


def _is_shared(buffer: np.ndarray[Any, Any], place: int, things: list[Any]) -> bool:
    """Whether an array shares memory with another input."""
    for other, thing in enumerate(things):
        array = getattr(thing, "_value", thing)
        if other == place or not isinstance(array, np.ndarray):
            continue
        apart = array is not buffer and array.flags.owndata and buffer.flags.owndata
        if not apart and writing.overlap(buffer, array):
            return True
    return False
