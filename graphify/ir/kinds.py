"""Whether the kind of a number, or of an array's elements, is sure.

    raise wrong_kind(TypeError("slice indices must be integers"), bound)
    kinds_of(x)       # {Integers, np.ndarray}: an array of integers on one path, not on another

Where an integer of one path meets a float of another, the graph goes on with a float, and Python
with the one or the other. What Python says of floats (that they are no index, that they have no
bits) holds for such a number in some runs only: the error is the graph's, which no handler takes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from graphify.errors import TraceError
from graphify.ir.context import FRAME
from graphify.ir.graph import Builder, Value, param
from graphify.ir.promotion import Operand
from graphify.ir.tensor import Tensor
from graphify.ir.types import DType, is_inexact, is_integer
from graphify.location import here

T = TypeVar("T")


_PYTHON: dict[str, type] = {"b": bool, "i": int, "f": float, "c": complex}


class Integers(np.ndarray[Any, Any]):
    """Among kinds, an array of integers, which cuts off what is stored in it; `np.ndarray` is one
    of anything else."""


_ARRAY: frozenset[type] = frozenset([np.ndarray])
OF_EITHER: frozenset[type] = frozenset([Integers, np.ndarray])


def class_of(tensor: Tensor) -> type:
    """The class of what stands in a tensor's place in plain Python, by its dtype."""
    spec = tensor.spec
    if spec.weak:
        return _PYTHON[spec.dtype.kind]
    return spec.dtype.type if tensor._scalar else np.ndarray


def kinds_of(leaf: Any) -> frozenset[type]:
    """The classes that a variable has on the paths to here; none if it is not bound."""
    if isinstance(leaf, Tensor):
        own = leaf._kinds or frozenset([class_of(leaf)])
        return frozenset([Integers]) if own == _ARRAY and is_integer(leaf.dtype) else own
    if isinstance(leaf, np.ndarray):
        return frozenset([Integers]) if is_integer(leaf.dtype) else _ARRAY
    is_number = isinstance(leaf, bool | int | float | complex | np.generic)
    return frozenset([type(leaf)] if is_number else [])


def operand_of_kind(kind: type, tensor: Tensor) -> Operand:
    """How a tensor takes part in promotion where it is of this kind."""
    if kind in _PYTHON.values():
        return kind
    if kind is Integers:
        return np.dtype(np.int64)
    dtype: DType = tensor.dtype if kind is np.ndarray else np.dtype(kind)
    return dtype


def is_array(kind: type) -> bool:
    return issubclass(kind, np.ndarray)


def may_be_number(tensor: Tensor) -> bool:
    """Whether it is a number on some paths, and an array on others."""
    return len({is_array(kind) for kind in tensor._kinds}) == 2


def may_cut_off(tensor: Tensor) -> bool:
    """Whether it is an array of integers on some paths, and of floats on others."""
    return Integers in tensor._kinds and not is_integer(tensor.dtype)


def of_all_kinds(tensor: Tensor, ask: Callable[[type], T]) -> T:
    """What `ask` answers for the class of a tensor.

    Raises:
        TraceError: the answers for the classes that it has on different paths differ.
    """
    found = {np.ndarray if is_array(kind) else kind for kind in kinds_of(tensor)}
    kinds = sorted(found, key=lambda kind: kind.__name__)
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


def may_be_integers(operands: Sequence[Tensor]) -> bool:
    """Whether the elements of some tensors together are integers on one path and not on another."""
    found = [{is_inexact(np.dtype(operand_of_kind(k, x))) for k in kinds_of(x)} for x in operands]
    return all(False in own for own in found) and any(True in own for own in found)


def of_elements(made: Tensor, parts: Sequence[Tensor]) -> Tensor:
    """Note that an array that was put together has integers where all of its parts have."""
    if is_inexact(made.dtype) and any(x._kinds for x in parts) and may_be_integers(parts):
        made._kinds = OF_EITHER
    return made


def is_integer_where(x: Tensor, other: Tensor) -> bool:
    """Whether the elements of two tensors are integers on the same paths and floats on the others:
    one of which this is unsure, and no other one, has gone into both."""
    if not (x.is_symbolic and other.is_symbolic):
        return False
    return may_be_integers([x]) and len(sources := _sources(x)) == 1 and sources == _sources(other)


def _sources(x: Tensor) -> set[Value]:
    """What comes from where paths meet, or from outside, and makes a tensor's elements."""
    outer = {inner: value for frame in _frames() for value, inner in frame.captures.items()}
    found: set[Value] = set()
    seen: set[Value] = set()
    pending = [x._value]
    while pending:
        value = pending.pop()
        if value in seen or not is_inexact(value.spec.dtype):
            continue
        seen.add(value)
        if value in outer:
            pending.append(outer[value])
        elif value.node.op is param or any(value.node.subgraphs):
            found.add(value)
        else:
            pending += value.node.inputs
    return found


def _frames() -> list[Builder]:
    """The frames of the trace that is open, the outermost one last."""
    frames, frame = [], FRAME.get()
    while frame is not None:
        frames.append(frame)
        frame = frame.parent
    return frames
