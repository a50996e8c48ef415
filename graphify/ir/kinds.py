"""Whether a number's kind is sure.

    raise wrong_kind(TypeError("slice indices must be integers"), bound)

Where an integer of one path meets a float of another, the graph goes on with a float, and Python
with the one or the other. What Python says of floats (that they are no index, that they have no
bits) holds for such a number in some runs only: the error is the graph's, which no handler takes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from graphify.errors import TraceError
from graphify.ir.context import FRAME
from graphify.ir.graph import Builder, Value, param
from graphify.ir.tensor import Tensor
from graphify.location import here

T = TypeVar("T")


_PYTHON: dict[str, type] = {"b": bool, "i": int, "f": float, "c": complex}


def class_of(tensor: Tensor) -> type:
    """The class of what stands in a tensor's place in plain Python, by its dtype."""
    spec = tensor.spec
    if spec.weak:
        return _PYTHON[spec.dtype.kind]
    return spec.dtype.type if tensor._scalar else np.ndarray


def kinds_of(leaf: Any) -> frozenset[type]:
    """The classes that a variable has on the paths to here; none if it is not bound."""
    if isinstance(leaf, Tensor):
        return leaf._kinds or frozenset([class_of(leaf)])
    is_number = isinstance(leaf, bool | int | float | complex | np.generic)
    return frozenset([type(leaf)] if is_number else [])


def of_all_kinds(tensor: Tensor, ask: Callable[[type], T]) -> T:
    """What `ask` answers for the class of a tensor.

    Raises:
        TraceError: the answers for the classes that it has on different paths differ.
    """
    kinds = sorted(kinds_of(tensor), key=lambda kind: kind.__name__)
    answers = [ask(kind) for kind in kinds]
    if any(answer != answers[0] for answer in answers):
        names = " and ".join(f"{kind.__name__} on one path" for kind in kinds)
        raise TraceError(
            f"the class of this {tensor.spec} is asked for, and it is {names}",
            location=here(),
            remedy="make it a number of one class on each path, e.g. 0.0 for 0",
        )
    return answers[0]


def wrong_kind(error: Exception, *operands: Any) -> Exception:
    """The error for floats where Python takes integers, or a TraceError if one of them may stand
    for an integer."""
    for x in operands:
        if isinstance(x, Tensor) and x.is_symbolic and x.dtype.kind == "f" and _may_be_integer(x):
            return TraceError(
                f"{error}; and this {x.spec} may be an integer on one path and a float on another, "
                "for which the graph has a float",
                location=here(),
                remedy="make it an integer on each path: int(x), 0 for 0.0",
            )
    return error


def _may_be_integer(x: Tensor) -> bool:
    """Whether a branch, a loop or a call has to do with it: that is where kinds meet."""
    frames = _frames()
    outer = {inner: value for frame in frames for value, inner in frame.captures.items()}
    seen: set[Value] = set()
    pending = [x._value]
    while pending:
        value = pending.pop()
        if value in seen:
            continue
        seen.add(value)
        node = value.node
        if value in outer:
            pending.append(outer[value])
        elif node.op is param and not frames[-1].owns(value) or any(node.subgraphs):
            return True
        pending += node.inputs
    return False


def _frames() -> list[Builder]:
    """The frames of the trace that is open, the outermost one last."""
    frames, frame = [], FRAME.get()
    while frame is not None:
        frames.append(frame)
        frame = frame.parent
    return frames
