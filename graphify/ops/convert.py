"""What becomes a tensor: lists (also of tensors), NumPy scalars, foreign array objects.

    asarray([x[0], 1.0])              # a list with tensors in it is stacked
    asarray(tf.constant([1.0, 2.0]))  # anything with __array__ or __dlpack__

Imported once for its effect: `graphify.ir.wrapping.as_tensor` asks it about everything that is
neither a tensor, a Python number nor a NumPy array. Inside a trace, lists of Python numbers are the
trace's own constants; arrays and tensors found in them are inputs of the trace like any others.
"""

from __future__ import annotations

import array
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from graphify.errors import ShapeError, SpecError
from graphify.ir.context import current_builder
from graphify.ir.kinds import of_elements
from graphify.ir.promotion import python_dtype, result_type
from graphify.ir.sizes import decide_equal
from graphify.ir.tensor import Tensor, resolve
from graphify.ir.types import DType, canonical_dtype
from graphify.ir.wrapping import as_tensor, set_asarray_hook, too_large
from graphify.ops import core
from graphify.ops.shape import stack

_NUMBERS = (bool, int, float, complex)
_BUFFERS = (array.array, memoryview)


_CONVERSIONS: dict[type, Callable[[Any], Tensor]] = {}


def set_conversion(kind: type, function: Callable[[Any], Tensor]) -> None:
    """How values of a class of ours become tensors."""
    _CONVERSIONS[kind] = function


def convert(value: Any) -> Tensor:
    """`value` as a tensor.

    Raises:
        SpecError: no array can be made of it, or its dtype is none of graphify's.
        ShapeError: nested sequences of unequal length.
        OverflowError: a Python int that no 64-bit integer holds.
    """
    if type(value) in _CONVERSIONS:
        return _CONVERSIONS[type(value)](value)
    if isinstance(value, np.generic):
        return Tensor(np.asarray(value).astype(_dtype_of(value), copy=True))
    if isinstance(value, (str, bytes, bytearray)) or value is None:
        raise _refused(value)
    if isinstance(value, _NUMBERS):  # subclasses of int and float: enum members and the like
        return as_tensor(_plain(value))
    if hasattr(value, "__array__") or hasattr(value, "__dlpack__"):
        return _foreign(value)
    if isinstance(value, _BUFFERS):
        return as_tensor(np.asarray(value))
    if isinstance(value, Sequence):
        return _from_sequence(list(value))
    raise _refused(value)


def _plain(value: Any) -> Any:
    """A Python number of the exact builtin class."""
    kind: Any
    for kind in _NUMBERS:
        if isinstance(value, kind):
            return kind(value)
    raise _refused(value)


def _refused(value: Any) -> SpecError:
    return SpecError(
        f"expected an array, a number or a nested sequence of numbers, got "
        f"{type(value).__name__} {value!r:.60}",
        remedy="test it with `is None`, or start from a number" if value is None else None,
    )


def _dtype_of(value: Any) -> DType:
    return canonical_dtype(value.dtype)


def _foreign(value: Any) -> Tensor:
    """An array of another library: shared where it can be, copied where it cannot.

    A trace takes the object itself as an input: what it holds may change from call to call.
    """
    builder = current_builder()
    known = value if builder is None else builder.external(value)
    if isinstance(known, Tensor):
        return known
    if hasattr(value, "__array__"):
        result = np.asarray(value)
    else:
        result = np.from_dlpack(value)
    return as_tensor(result)


# --- lists -------------------------------------------------------------------------------------


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _leaves(item)
    else:
        yield value


def _from_sequence(items: list[Any]) -> Tensor:
    if all(type(leaf) in _NUMBERS or isinstance(leaf, np.generic) for leaf in _leaves(items)):
        return Tensor(_numbers(items))
    leaves, shape = _flatten(items)
    dtype = result_type(*(_listed_dtype(leaf) for leaf in leaves))
    tensors = [core.to_dtype(core.strong(leaf), dtype) for leaf in leaves]
    return of_elements(_nest(tensors, shape), leaves)


def _numbers(items: list[Any]) -> np.ndarray[Any, Any]:
    """A nested list of numbers, as NumPy makes an array of it."""
    try:
        result = np.array(items)
    except ValueError:
        raise _ragged(items) from None
    if result.dtype == object:
        largest = max((abs(x) for x in _leaves(items) if isinstance(x, int)), default=0)
        raise too_large(largest)
    only_python = not any(isinstance(leaf, np.generic) for leaf in _leaves(items))
    if only_python and result.dtype.kind in "fc":
        return result.astype(
            python_dtype(complex if result.dtype.kind == "c" else float), copy=False
        )
    return result.astype(canonical_dtype(result.dtype), copy=False)


def _ragged(items: Any) -> ShapeError:
    return ShapeError(
        f"expected nested sequences of equal length, got {items!r:.60}; the array would be ragged"
    )


def _listed_dtype(tensor: Tensor) -> DType:
    """In a list a Python number counts as an array of its own dtype, as for numpy.array."""
    return tensor.dtype


def _flatten(items: Any) -> tuple[list[Tensor], tuple[int, ...]]:
    """The tensors of a nested list, and the shape in which the lists nest.

    Raises:
        ShapeError: the lists or the tensors in them differ in shape.
    """
    if isinstance(items, Sequence) and not isinstance(items, (str, bytes)):
        parts = [_flatten(item) for item in items]
        if not parts:
            return [], (0,)
        shapes = {shape for _, shape in parts}
        leaves = [leaf for leaf_list, _ in parts for leaf in leaf_list]
        if len(shapes) > 1:
            return _flatten_mixed(items)
        if len({leaf.ndim for leaf in leaves}) > 1 or not _fit(leaves):
            raise _ragged(items)
        return leaves, (len(parts), *shapes.pop())
    return [resolve(as_tensor(items))], ()


def _flatten_mixed(items: Sequence[Any]) -> tuple[list[Tensor], tuple[int, ...]]:
    """A list of both lists and arrays: `[[1, 2], x]`. The inner lists become arrays first."""
    tensors = [resolve(as_tensor(item)) for item in items]
    if len({t.ndim for t in tensors}) > 1 or not _fit(tensors):
        raise _ragged(items)
    return tensors, (len(tensors),)


def _fit(tensors: Sequence[Tensor]) -> bool:
    first = tensors[0].dims
    return not any(
        decide_equal(a, b) is False for t in tensors[1:] for a, b in zip(first, t.dims, strict=True)
    )


def _nest(tensors: list[Tensor], shape: tuple[int, ...]) -> Tensor:
    if shape == ():
        return core.copy(tensors[0])
    if not tensors:
        return Tensor(np.zeros(shape, python_dtype(float)))
    stacked = stack(tensors)
    return core.reshape(stacked, shape=(*shape, *tensors[0].dims)) if len(shape) > 1 else stacked


set_asarray_hook(convert)
