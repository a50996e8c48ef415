"""What the public transformations share: arguments as trees, checks, calls of the user's function.

Paths name a leaf as Python would write it, so that errors can say which one is meant.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphify import tree
from graphify.autograph.operators.calls import call as converted_call
from graphify.autograph.operators.choosing import joined
from graphify.autograph.operators.undefined import Unreachable
from graphify.autograph.operators.unknown import ending
from graphify.errors import SpecError, TraceError, TransformError
from graphify.ir.assign import assign
from graphify.ir.context import current_builder
from graphify.ir.graph import Value
from graphify.ir.sharing import storage
from graphify.ir.sizes import decide_equal
from graphify.ir.tensor import Tensor, resolve
from graphify.ir.types import is_complex, is_inexact
from graphify.ir.wrapping import as_tensor
from graphify.ops import core


def apply(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call the user's function; inside a trace, converted like any function of the user's."""
    if current_builder() is None:
        return function(*args, **kwargs)
    return converted_call(function, *args, **kwargs)


def result_of(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The same for a function that is traced by itself: of one that always raises, as recorded in
    its graph, a number that no run gets to; of numbers whose dtype depends on the run, in the one
    that an array of several results has."""
    outcome = ending(apply, function, *args, **kwargs)
    if isinstance(outcome, Unreachable):
        return as_tensor(np.float64(np.nan))
    return joined(outcome)


def masked(error: BaseException | None) -> TransformError | None:
    """What NumPy hides: of a tensor that cannot be put into a NumPy array it says no more than
    "setting an array element with a sequence"."""
    cause = error.__cause__ if isinstance(error, ValueError) else None
    return cause if isinstance(cause, TransformError) else None


def parameter_name(function: Callable[..., Any], position: int) -> str:
    """How to speak of a positional argument: "argument 0 'x'"."""
    try:
        names = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        names = []
    return (
        f"argument {position} {names[position]!r}"
        if position < len(names)
        else f"argument {position}"
    )


def is_array(leaf: Any) -> bool:
    """Whether a leaf is an array or a number."""
    return isinstance(leaf, (Tensor, np.ndarray, np.generic, int, float, complex)) or hasattr(
        leaf, "__array__"
    )


def array_leaf(leaf: Any, what: str) -> Tensor:
    """A leaf as a tensor of the current trace.

    Raises:
        SpecError: the leaf is no array.
    """
    if not is_array(leaf):
        raise SpecError(f"{what}: expected an array, got {type(leaf).__name__} {leaf!r:.60}")
    try:
        return resolve(as_tensor(leaf))
    except SpecError as error:
        raise SpecError(f"{what}: {error.message}", remedy=error.remedy) from error


def inexact_leaf(leaf: Any, what: str) -> Tensor:
    """A leaf as a float or complex tensor.

    Raises:
        SpecError: it is neither; there is no derivative by an integer.
    """
    tensor = array_leaf(leaf, what)
    if not is_inexact(tensor.dtype):
        raise SpecError(
            f"{what}: expected a float or complex dtype, got {tensor.dtype.name}",
            remedy="derivatives by integers and booleans do not exist; convert with .astype(float)",
        )
    return tensor


def real_scalar(value: Any, what: str) -> Tensor:
    """A function's result as a real float scalar.

    Raises:
        SpecError: it is an array, complex, an integer, or no array at all.
    """
    tensor = array_leaf(value, what)
    if tensor.ndim:
        raise SpecError(
            f"{what}: expected a scalar, got shape {tensor.dims}",
            remedy="sum the result, or use graphify.jacobian",
        )
    if not is_inexact(tensor.dtype) or is_complex(tensor.dtype):
        raise SpecError(f"{what}: expected a real float result, got {tensor.dtype.name}")
    return tensor


def prefix_leaves(prefix: Any, value: Any, what: str) -> list[Any]:
    """One entry of `prefix` per leaf of `value`; an int or None of the prefix stands for a subtree.

    Raises:
        ValueError: the prefix has another structure.
    """
    if prefix is None or isinstance(prefix, int):
        return [prefix] * len(tree.flatten_arrays(value)[0])
    if not tree.is_container(prefix):
        raise TypeError(f"{what}: expected an int, None or a container of them, got {prefix!r}")
    parts, values = _children(prefix), _children(value)
    if values is None or parts is None or parts.keys() != values.keys():
        raise ValueError(f"{what}: expected the structure of the value, got {prefix!r}")
    return [axis for key, v in values.items() for axis in prefix_leaves(parts[key], v, what)]


def _children(value: Any) -> dict[str, Any] | None:
    """What a container holds, by the path of one step that leads to it."""
    if not tree.is_container(value):
        return None
    children, treedef = tree.flatten(value, is_leaf=lambda item: item is not value)
    return dict(zip(treedef.paths(), children, strict=True))


def normal_axis(axis: Any, rank: int, what: str) -> int:
    """An axis counted from the front.

    Raises:
        TypeError: not an int. ValueError: out of range.
    """
    if isinstance(axis, bool) or not isinstance(axis, int):
        raise TypeError(f"{what}: expected an int or None, got {axis!r}")
    if not -rank <= axis < rank:
        raise ValueError(f"{what}: axis {axis} is out of range for an array of {rank} dimensions")
    return axis % rank


def check_real(tensor: Tensor, model: Tensor, what: str) -> None:
    """Raises SpecError where a tangent or cotangent is complex and its value is real."""
    if is_complex(tensor.dtype) and not is_complex(model.dtype):
        raise SpecError(f"{what}: expected a real array, got {tensor.dtype.name}")


def check_callable(function: Any, what: str) -> None:
    """Raises TypeError where the first argument is no function."""
    if not callable(function):
        raise TypeError(f"{what}: argument 0: expected a function, got {type(function).__name__}")


def differ(a: Tensor, b: Tensor) -> bool:
    """Whether the shapes are known to differ."""
    if a.ndim != b.ndim:
        return True
    return any(decide_equal(d, e) is False for d, e in zip(a.dims, b.dims, strict=True))


def released(results: Sequence[Tensor | None], given: Sequence[Tensor | None] = ()) -> list[Any]:
    """Results that the user may update in place: each with storage of its own.

    Args:
        given: tensors of the user's, whose storage a result must not share.
    """
    taken = [t.numpy() for t in given if t is not None and not t.is_symbolic]
    own: list[Tensor | None] = []
    for result in results:
        if result is not None and result.is_symbolic:
            result = Tensor(result._value)
        elif result is not None:
            array = result._value
            if not array.flags.writeable or any(
                np.may_share_memory(array, other) for other in taken
            ):
                result = core.copy(result)
            taken.append(result._value)
        own.append(result)
    return own


def each(function: Callable[[Any], Any], value: Any) -> Any:
    """`function` of every leaf; None stays."""
    leaves, treedef = tree.flatten_arrays(value)
    return treedef.unflatten([function(leaf) for leaf in leaves])


def mark_rows(examples: Sequence[Tensor]) -> None:
    """Let examples be what a loop over the rows gives: those of a vector are NumPy's scalars."""
    for example in examples:
        example._scalar = not example.dims


def updated(tensors: Sequence[Tensor], before: Sequence[Any]) -> list[int]:
    """Positions of the tensors that a traced function updated in place.

    Args:
        before: their values when it started.
    """
    return [k for k, (t, v) in enumerate(zip(tensors, before, strict=True)) if t._value is not v]


def write_back(what: str, place: int, new: Tensor, arrays: Sequence[Tensor]) -> None:
    """Give an array the values that the function, which works on a copy, gave it in place.

    Args:
        place: the position of the array in `arrays`, all that the function uses.

    Raises:
        TraceError: the array shares memory with another one.
        ValueError: the array is read-only.
    """
    target = arrays[place]
    if any(_overlap(target, other) for k, other in enumerate(arrays) if k != place):
        raise TraceError(
            f"{what}: the function updates an argument in place that shares memory with another "
            "array it uses",
            remedy="pass a copy of one of them",
        )
    assign(target, new)


def _overlap(a: Tensor, b: Tensor) -> bool:
    if a.is_symbolic or b.is_symbolic:
        return _origin(a) is _origin(b)
    return np.may_share_memory(a.numpy(), b.numpy())


def _origin(tensor: Tensor) -> Any:
    """The value that a tensor, or what a trace captures of it, is a view of."""
    value = storage(tensor)._value
    while isinstance(value, Value) and value.node.op.put is not None:
        value = value.node.inputs[0]
    return value


def shape_text(dims: Sequence[object]) -> str:
    """A shape as Python writes it; sizes by name."""
    return "(" + ", ".join(map(str, dims)) + ("," if len(dims) == 1 else "") + ")"
