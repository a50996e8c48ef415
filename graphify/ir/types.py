"""Dtypes and specs.

A dtype is NumPy's own `np.dtype`; bfloat16 comes from `ml_dtypes`. A `Spec` is what is known of a
value before it is computed: shape, dtype, and whether it is weak, i.e. stands for a Python scalar
and follows Python's arithmetic and NEP 50's promotion rather than an array's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np

from graphify.errors import SpecError
from graphify.ir.sizes import Shape, Size

Array: TypeAlias = np.ndarray[Any, Any]
DType: TypeAlias = np.dtype[Any]

bfloat16 = np.dtype(ml_dtypes.bfloat16)
finfo: Any = ml_dtypes.finfo  # NumPy's, for bfloat16 as well
BOOL = np.dtype(np.bool_)
INTEGERS = tuple(np.dtype(f"int{bits}") for bits in (8, 16, 32, 64))
UNSIGNED = tuple(np.dtype(f"uint{bits}") for bits in (8, 16, 32, 64))
FLOATS = (np.dtype(np.float16), bfloat16, np.dtype(np.float32), np.dtype(np.float64))
COMPLEX = (np.dtype(np.complex64), np.dtype(np.complex128))
DTYPES = (BOOL, *INTEGERS, *UNSIGNED, *FLOATS, *COMPLEX)
_KNOWN = frozenset(DTYPES)


@dataclass(frozen=True, slots=True)
class Spec:
    """Shape, dtype and weakness of a value.

    >>> str(Spec((2, 3), np.dtype(np.float32)))
    'f32[2,3]'
    """

    shape: Shape
    dtype: DType
    weak: bool = False

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def is_static(self) -> bool:
        return not any(isinstance(dim, Size) for dim in self.shape)

    def with_shape(self, shape: Shape) -> Spec:
        return Spec(shape, self.dtype)

    def with_dtype(self, dtype: DType) -> Spec:
        return Spec(self.shape, dtype)

    def __str__(self) -> str:
        dims = ",".join(str(dim).replace(" ", "") for dim in self.shape)
        return f"{short_name(self.dtype)}[{dims}]" + ("~" if self.weak else "")


_SHORT = {"bool": "bool", "bfloat16": "bf16"}
_PREFIX = {"i": "i", "u": "u", "f": "f", "c": "c"}


def short_name(dtype: DType) -> str:
    """The dtype's name in the text form: f32, i64, u8, c64, bool, bf16."""
    return _SHORT.get(dtype.name) or f"{_PREFIX[dtype.kind]}{dtype.itemsize * 8}"


DTYPE_OF_SHORT_NAME = {short_name(dtype): dtype for dtype in DTYPES}


def canonical_dtype(dtype: Any) -> DType:
    """The supported, native-order dtype that `dtype` names.

    Raises:
        SpecError: object, string, structured, datetime, longdouble and other foreign dtypes.
    """
    try:
        result: DType = np.dtype(getattr(dtype, "as_numpy_dtype", dtype))  # of TensorFlow's
    except TypeError as error:
        raise SpecError(f"dtype: expected a NumPy dtype, got {dtype!r}") from error
    if not result.isnative:
        result = result.newbyteorder("=")
    if result == np.dtype(np.longlong):
        result = np.dtype(np.int64)
    elif result == np.dtype(np.ulonglong):
        result = np.dtype(np.uint64)
    if result not in _KNOWN:
        raise SpecError(
            f"dtype: expected bool, an integer, float or complex dtype, got {result}",
            remedy="convert the data to one of " + ", ".join(d.name for d in DTYPES),
        )
    return result


def in_c_order(array: Any) -> bool:
    """Whether an array's elements lie in memory in C order, so that reshapes of it are views."""
    flags = getattr(array, "flags", None)
    return flags is None or array.ndim < 2 or bool(flags.c_contiguous)


def is_float(dtype: DType) -> bool:
    return dtype.kind == "f" or dtype == bfloat16


def is_complex(dtype: DType) -> bool:
    return dtype.kind == "c"


def is_inexact(dtype: DType) -> bool:
    return is_float(dtype) or is_complex(dtype)


def is_integer(dtype: DType) -> bool:
    return dtype.kind in "iu"


def real_dtype(dtype: DType) -> DType:
    """The dtype of the real part."""
    return (
        np.dtype(np.float32 if dtype == np.complex64 else np.float64)
        if is_complex(dtype)
        else dtype
    )
