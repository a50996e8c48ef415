"""Dtypes, what is known of them, and of arrays' shapes; NumPy's error state."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from graphify.errors import SpecError
from graphify.ir.promotion import result_type as common_type
from graphify.ir.sizes import product
from graphify.ir.tensor import Tensor, resolve, value_needed
from graphify.ir.types import DTYPES, DType, canonical_dtype
from graphify.ir.wrapping import as_tensor
from graphify.numpy._table import axes_of, implements, publish, to_tensor
from graphify.ops.rules import operand

publish(**{dtype.name: dtype.type for dtype in DTYPES})
publish(
    ndarray=Tensor,
    bool_=np.bool_,
    int_=np.int64,
    intp=np.int64,
    uint=np.uint64,
    uintp=np.uint64,
    byte=np.int8,
    ubyte=np.uint8,
    short=np.int16,
    ushort=np.uint16,
    intc=np.int32,
    uintc=np.uint32,
    half=np.float16,
    single=np.float32,
    double=np.float64,
    csingle=np.complex64,
    cdouble=np.complex128,
    dtype=np.dtype,
    generic=np.generic,
    number=np.number,
    integer=np.integer,
    signedinteger=np.signedinteger,
    unsignedinteger=np.unsignedinteger,
    inexact=np.inexact,
    floating=np.floating,
    complexfloating=np.complexfloating,
    finfo=ml_dtypes.finfo,
    iinfo=ml_dtypes.iinfo,
    issubdtype=np.issubdtype,
    isdtype=np.isdtype,
    errstate=np.errstate,
    seterr=np.seterr,
    geterr=np.geterr,
    set_printoptions=np.set_printoptions,
    get_printoptions=np.get_printoptions,
    printoptions=np.printoptions,
    exceptions=np.exceptions,
)


@implements(np.result_type)
def result_type(*arrays_and_dtypes: Any) -> DType:
    """The dtype of arrays, numbers and dtypes together, in the current promotion mode."""
    return common_type(*(_promotes(item) for item in arrays_and_dtypes))


def _promotes(item: Any) -> Any:
    if isinstance(item, (np.dtype, type, str)):
        return canonical_dtype(item)
    return operand(as_tensor(item))


@implements(np.promote_types)
def promote_types(type1: Any, type2: Any) -> DType:
    """The common dtype of two dtypes, in the current promotion mode."""
    return common_type(canonical_dtype(type1), canonical_dtype(type2))


@implements(np.can_cast)
def can_cast(from_: Any, to: Any, casting: Any = "safe") -> bool:
    """Whether a dtype casts to another under a rule."""
    source = from_.dtype if isinstance(from_, Tensor) else from_
    return bool(np.can_cast(source, to, casting))


@implements(np.common_type)
def common_float(*arrays: Any) -> Any:
    """The scalar class that holds the inexact common dtype of arrays."""
    return np.common_type(*(np.empty(0, to_tensor(a).dtype) for a in arrays))


@implements(np.shape)
def shape(a: Any) -> Any:
    """The shape."""
    return to_tensor(a).shape


@implements(np.ndim)
def ndim(a: Any) -> int:
    """The number of axes."""
    return to_tensor(a).ndim


@implements(np.size)
def size(a: Any, axis: Any = None) -> Any:
    """The number of elements, or along axes."""
    x = to_tensor(a)
    count = product(x.dims[i] for i in axes_of(axis, x.ndim))
    return count if isinstance(count, int) else as_tensor(count)


@implements(np.array_repr)
def array_repr(arr: Any, *args: Any, **kwargs: Any) -> str:
    """The text of `repr`."""
    if isinstance(arr, Tensor) and arr.is_symbolic:
        raise value_needed(resolve(arr), "the text")
    return repr(arr)


@implements(np.array_str)
def array_str(a: Any, *args: Any, **kwargs: Any) -> str:
    """The text of `str`."""
    return str(a)


@implements(np.shares_memory, np.may_share_memory)
def shares_memory(a: Any, b: Any, max_work: Any = None) -> bool:
    """Whether two eager arrays share memory."""
    if any(isinstance(x, Tensor) and x.is_symbolic for x in (a, b)):
        raise SpecError(
            "shares_memory: where tensors of a graph are in memory is up to each run",
            remedy="call it outside the graphify.function",
        )
    return bool(np.shares_memory(np.asarray(a), np.asarray(b)))
