"""What TensorFlow makes of its arguments: tensors of one dtype, axes, shapes.

    same("fc", x, 2)     # [x, 2 in the dtype of x]; DTypeError if x is of integers

Kinds of dtypes are letters: f floats, c complex, i and u integers, b bool.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import graphify.numpy
import graphify.numpy.fft
import graphify.numpy.linalg
from graphify import nn as _nn
from graphify.errors import ConcreteValueNeeded, DTypeError, ShapeError
from graphify.ir.sizes import Dim
from graphify.ir.tensor import Tensor, resolve
from graphify.ir.types import DType, canonical_dtype, is_float
from graphify.ir.wrapping import as_tensor
from graphify.numpy._table import axis_of
from graphify.ops import core
from graphify.ops.convert import convert

# Some of these functions are made when they are imported: the type checker does not see them.
gnp: Any = graphify.numpy
fft: Any = graphify.numpy.fft
la: Any = graphify.numpy.linalg
nn: Any = _nn

INT32, INT64, FLOAT32 = np.dtype(np.int32), np.dtype(np.int64), np.dtype(np.float32)
_DEFAULTS: dict[type, DType] = {
    int: INT32,
    float: FLOAT32,
    complex: np.dtype(np.complex128),
    bool: np.dtype(bool),
}
_WORDS = {
    "f": "floats",
    "c": "complex numbers",
    "i": "integers",
    "u": "unsigned",
    "b": "bools",
}
ANY = "fciub"


def kind_of(dtype: DType) -> str:
    """The letter of a dtype; bfloat16 is a float."""
    return "f" if is_float(dtype) else dtype.kind


def only(kinds: str, x: Tensor) -> Tensor:
    """The tensor, if its dtype is of these kinds.

    Raises:
        DTypeError: it is of another kind.
    """
    if kind_of(x.dtype) not in kinds:
        words = [_WORDS[kind] for kind in kinds]
        wanted = " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
        raise DTypeError(
            f"TensorFlow's function takes {wanted}, got {x.spec}",
            remedy="convert it first: tf.cast(x, dtype)",
        )
    return x


def tensor(value: Any, dtype: Any = None, kinds: str = ANY) -> Tensor:
    """A tensor as TensorFlow makes one: Python's numbers take `dtype`, or are of 32 bits.

    Raises:
        DTypeError: a number that the dtype does not take, or the wrong kind of dtype.
    """
    if not isinstance(value, Tensor) and isinstance(value, (bool, int, float, complex)):
        return only(kinds, core.full((), value, _number_dtype(type(value), dtype)))
    if isinstance(value, (list, tuple)):
        return only(kinds, _listed(value, dtype))
    x = resolve(as_tensor(value))
    if x.spec.weak:
        kind = {"i": int, "f": float, "c": complex, "b": bool}[x.dtype.kind]
        x = core.cast(x, dtype=_number_dtype(kind, dtype))
    return only(kinds, x)


def _number_dtype(kind: type, dtype: Any) -> DType:
    """The dtype that a Python number of a class gets beside a dtype."""
    if dtype is None:
        return _DEFAULTS[
            next(base for base in (bool, int, float, complex) if issubclass(kind, base))
        ]
    order = "biufc"
    least = "i" if issubclass(kind, int) else "f" if issubclass(kind, float) else "c"
    own = kind_of(dtype)
    if (own == "b") != issubclass(kind, bool) or order.index(own) < order.index(least) * (
        not issubclass(kind, bool)
    ):
        raise DTypeError(
            f"TensorFlow does not convert a Python {kind.__name__} to {dtype}",
            remedy="convert the tensor first: tf.cast(x, dtype)",
        )
    return canonical_dtype(dtype)


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in _leaves(item)]
    return [value]


def _listed(value: Any, dtype: Any) -> Tensor:
    """A list, of tensors too: Python's numbers in it take the dtype of those."""
    leaves = _leaves(value)
    found = dtype if dtype is not None else next(filter(None, map(_strong, leaves)), None)
    if found is None:
        order = (complex, float, int, bool)
        kinds = [kind for kind in order if any(isinstance(_sample(v), kind) for v in leaves)]
        found = _DEFAULTS[kinds[0]] if kinds else FLOAT32
    for leaf in leaves:
        one_dtype(tensor(leaf, found), found)
    return core.to_dtype(core.strong(convert(value)), found)


def _sample(value: Any) -> Any:
    """A Python number of the kind that a weak tensor stands for."""
    return value.dtype.type(0).item() if isinstance(value, Tensor) else value


def _strong(value: Any) -> DType | None:
    """The dtype that a value brings along; None for Python's numbers, and lists of those."""
    if value is None or type(value) in _DEFAULTS or isinstance(value, (bool, int, float, complex)):
        return None if not isinstance(value, np.generic) else value.dtype
    if isinstance(value, (list, tuple)):
        return next(filter(None, map(_strong, value)), None)
    spec = as_tensor(value).spec
    return None if spec.weak else spec.dtype


def one_dtype(x: Tensor, dtype: Any) -> None:
    """Refuse a tensor of another dtype.

    Raises:
        DTypeError: TensorFlow, unlike NumPy, does not mix dtypes.
    """
    if x.dtype != dtype:
        raise DTypeError(
            f"TensorFlow does not mix dtypes: got {dtype} and {x.dtype}",
            remedy="convert one of them: tf.cast(x, dtype)",
        )


def same(kinds: str, *values: Any) -> list[Tensor]:
    """Operands of one dtype: that of the first tensor among them.

    Raises:
        DTypeError: they differ in dtype, or it is of the wrong kind.
    """
    dtype = next(filter(None, map(_strong, values)), None)
    if dtype is None:
        dtype = next((tensor(v).dtype for v in values if tensor(v).dtype.kind in "fc"), None)
    made = [tensor(value, dtype, kinds) for value in values]
    for x in made[1:]:
        one_dtype(x, made[0].dtype)
    return made


def dtype_of(dtype: Any, default: Any = None) -> DType:
    """A dtype argument, TensorFlow's or NumPy's."""
    return canonical_dtype(default if dtype is None else dtype)


def plain(value: Any, argument: str) -> Any:
    """An argument that must be known while tracing: axes, flags, as Python's numbers and lists.

    Raises:
        ConcreteValueNeeded: it is a tensor that only the run knows.
    """
    if isinstance(value, (list, tuple)):
        return [plain(item, argument) for item in value]
    if isinstance(value, Tensor):
        known = resolve(value)
        if known.is_symbolic:
            raise ConcreteValueNeeded(
                f"{argument}: expected numbers that are known while tracing, got {known.spec}",
                remedy="pass them as Python numbers, or write the line with functions of NumPy",
            )
        return known.numpy().tolist()
    array = value if isinstance(value, (np.ndarray, np.generic)) else None
    return value if array is None else array.tolist()


def axes(axis: Any, x: Tensor, argument: str = "axis") -> tuple[int, ...]:
    """Axes as a tuple, not negative; None is all of them.

    Raises:
        numpy.exceptions.AxisError: out of range.
        ValueError: one of them twice.
    """
    if axis is None:
        return tuple(range(x.ndim))
    found = plain(axis, argument)
    items = found if isinstance(found, list) else [found]
    places = tuple(axis_of(item, x.ndim, argument) for item in items)
    if len(set(places)) != len(places):
        raise ValueError(f"{argument}: an axis is named twice: {items}")
    return places


def sizes(shape: Any) -> list[Any]:
    """The lengths in a shape: of a list, of an integer tensor with one axis, or of one number."""
    if isinstance(shape, (list, tuple)):
        return [_size(item) for item in shape]
    if hasattr(shape, "as_list"):  # a TensorShape
        return list(shape.as_list())
    x = resolve(as_tensor(shape))
    if x.ndim == 0:
        return [_size(shape)]
    if x.ndim > 1 or not isinstance(x.dims[0], int):
        raise ShapeError(f"shape: expected a list of lengths, got {x.spec}")
    if not x.is_symbolic:
        return [int(n) for n in x.numpy()]
    return [x[i] for i in range(x.dims[0])]


def _size(item: Any) -> Any:
    if isinstance(item, Tensor) and item.ndim:
        item = core.reshape(resolve(item), shape=())
    return item


def lengths(x: Tensor) -> list[Dim]:
    """The shape of a tensor, as ints and sizes that functions of NumPy take."""
    return list(x.shape)


def table(kinds: str, rows: dict[str, Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
    """Entries for functions of operands of one dtype, of these kinds."""

    def entry(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *values: function(*same(kinds, *values))

    return {name: entry(function) for name, function in rows.items()}
