"""Python's and NumPy's values as tensors.

    >>> as_tensor(2.0).spec.weak, as_tensor(np.arange(3)).shape
    (True, (3,))

Arrays are shared, not copied; inside a trace, an array from outside is an input of the trace. What
is neither a number nor an array (lists, foreign array objects) is left to `graphify.ops.convert`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphify.errors import SpecError, text_of
from graphify.ir.context import FRAME
from graphify.ir.promotion import python_dtype
from graphify.ir.sizes import Size
from graphify.ir.tensor import Tensor, shown
from graphify.ir.types import Array, DType, canonical_dtype


def as_tensor(value: Any) -> Tensor:
    """`value` as a tensor; Python scalars become weak ones, arrays are shared.

    Raises:
        SpecError: object, string and other foreign dtypes; ragged lists.
        OverflowError: a Python int that no 64-bit integer holds.
    """
    if isinstance(value, Tensor):
        return value
    kind = type(value)
    if kind is bool:
        return Tensor(np.asarray(value))
    if kind is int or kind is float or kind is complex:
        return Tensor(_python_scalar(value), weak=True)
    if isinstance(value, Size):
        return shown(value)
    if isinstance(value, np.ndarray):
        return _wrap_array(value)
    tensor = _asarray_hook(value)
    tensor._scalar = isinstance(value, np.generic)
    return tensor


def _python_scalar(value: int | float | complex) -> Array:
    try:
        return np.asarray(value, python_dtype(type(value)))
    except OverflowError:
        assert isinstance(value, int)
        if 0 <= value < 2**64:
            return np.asarray(value, np.uint64)
        raise too_large(value) from None


def too_large(value: int) -> OverflowError:
    """The error of a Python integer that no dtype holds."""
    return OverflowError(f"Python integer {text_of(value)} is too large for a 64-bit integer")


def _wrap_array(array: Array) -> Tensor:
    if type(array) is not np.ndarray and isinstance(array, (np.matrix, np.ma.MaskedArray)):
        raise SpecError(
            f"a numpy {type(array).__name__} means other things by its operators "
            "than an array does",
            remedy="pass a plain array: np.asarray(matrix), masked.filled(value)",
        )
    dtype = canonical_dtype(array.dtype)
    builder = FRAME.get()
    if builder is not None:
        known = builder.external(array)
        if isinstance(known, Tensor):
            return known
    return Tensor(_native(array, dtype))


def _native(array: Array, dtype: DType) -> Array:
    """The array itself, shared. One of foreign byte order is copied; the copy cannot be written,
    because what is written there would not reach the array."""
    plain = np.asarray(array)
    if plain.dtype == dtype:
        return plain if plain.dtype.char == dtype.char else plain.view(dtype)
    converted = plain.astype(dtype)
    converted.flags.writeable = False
    return converted


def _asarray_concrete(value: Any) -> Tensor:
    if not isinstance(value, np.generic):
        raise SpecError(f"expected an array or a number, got {type(value).__name__} {value!r:.80}")
    array = np.asarray(value)
    return Tensor(array.astype(canonical_dtype(array.dtype), copy=False))


_asarray_hook: Callable[[Any], Tensor] = _asarray_concrete


def set_asarray_hook(hook: Callable[[Any], Tensor]) -> None:
    """How lists and foreign array objects become tensors (graphify.ops.convert)."""
    global _asarray_hook
    _asarray_hook = hook


def constant_tensor(array: Array, weak: bool = False) -> Tensor:
    """An eager tensor; inside a trace it counts as the trace's own constant."""
    return Tensor(array, weak=weak)


def is_tensorflow(value: Any) -> bool:
    """Whether a value is a tensor or a variable of TensorFlow's that holds numbers."""
    kind = type(value)
    if not kind.__module__.startswith("tensorflow.") or not hasattr(value, "__array__"):
        return False
    dtype = getattr(getattr(value, "dtype", None), "as_numpy_dtype", object)
    return np.dtype(dtype).kind in "biufcV"


_INDICES: dict[type, Callable[[Any], Any]] = {}


def set_index(kind: type, function: Callable[[Any], Any]) -> None:
    """How values of a class of ours become integers, where one is asked for."""
    _INDICES[kind] = function


def as_index(value: Any) -> Any:
    """An index, a size or the parts of a key: what is of a class of ours as an integer."""
    if type(value) is slice:
        return slice(as_index(value.start), as_index(value.stop), as_index(value.step))
    if type(value) is tuple:
        return tuple(map(as_index, value))
    function = _INDICES.get(type(value))
    return value if function is None else function(value)
