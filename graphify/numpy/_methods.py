"""ndarray's methods and attributes on tensors, and how NumPy and other libraries see a tensor.

A method is the function of the same name in `graphify.numpy`, looked up when it is called:
`t.sum(axis=0)` is `graphify.numpy.sum(t, axis=0)`. Imported once for its effect.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphify.errors import DTypeError, SpecError
from graphify.ir.assign import assign
from graphify.ir.context import check_leaving, current_builder, tracked
from graphify.ir.sizes import product
from graphify.ir.tensor import Tensor, refresh, resolve
from graphify.ir.types import is_complex
from graphify.ir.wrapping import as_tensor
from graphify.numpy._table import NAMES, Casting, array_function, named, to_tensor
from graphify.numpy._ufunc import array_ufunc
from graphify.numpy.manipulation import as_order
from graphify.ops import core
from graphify.ops import elementwise as e
from graphify.ops.shape import transpose as transpose_op
from graphify.tracing.capture import is_outer
from graphify.tracing.identity import is_viewed
from graphify.tracing.lists import List

DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0"

# Methods that are functions of graphify.numpy with the tensor first.
_SAME = (
    "all any argmax argmin argpartition argsort choose cumprod cumsum diagonal "
    "dot max mean min nonzero prod put ravel repeat round searchsorted squeeze std sum "
    "swapaxes take trace var"
).split()

_WRITES = "return the array, and write it outside the graphify.function"
_FIELDS = "use an array for each field"
_REFUSED = {  # why, and what to do instead
    "resize": (
        "an array keeps its size",
        "write x = np.resize(x, shape), which repeats its elements, or fill a new array",
    ),
    "setflags": ("the flags of a tensor cannot be set", "call it outside the graphify.function"),
    "setfield": ("a tensor has no fields", _FIELDS),
    "getfield": ("a tensor has no fields", _FIELDS),
    "byteswap": ("tensors are in native byte order", "swap outside the graphify.function"),
    "dump": ("a graph writes no files", _WRITES),
    "dumps": ("a tensor has no bytes while it is traced", _WRITES),
    "tofile": ("a graph writes no files", _WRITES),
}


def _method(name: str) -> Callable[..., Any]:
    def method(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        return NAMES[name](self, *args, **kwargs)

    method.__name__ = name
    method.__doc__ = f"`graphify.numpy.{name}` of this tensor."
    return method


def _refuse(name: str, why: str, remedy: str) -> Callable[..., Any]:
    def method(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        raise SpecError(f"Tensor.{name} is not supported: {why}", remedy=remedy)

    method.__name__ = name
    return method


# --- methods whose arguments differ from the function's ----------------------------------------


def _unpacked(args: tuple[Any, ...]) -> Any:
    """`x.reshape(2, 3)` and `x.reshape((2, 3))` are the same."""
    return args[0] if len(args) == 1 else args


def reshape(self: Tensor, *shape: Any, **options: Any) -> Tensor:
    """The same elements in another shape."""
    return named("reshape")(self, _unpacked(shape), **options)


def transpose(self: Tensor, *axes: Any) -> Tensor:
    """The axes permuted, reversed by default."""
    return named("transpose")(self, _unpacked(axes) if axes else None)


def copy(self: Tensor, order: str = "C") -> Tensor:
    """The same elements in storage of their own; of a NumPy scalar it is one, too."""
    return core.copy(self) if self._scalar else NAMES["copy"](self, order)


def flatten(self: Tensor, order: str = "C") -> Tensor:
    """A copy in one dimension."""
    return core.copy(NAMES["ravel"](self, order))


def clip(self: Tensor, min: Any = None, max: Any = None, out: Any = None) -> Tensor:
    """The elements limited to a range; None leaves an end open."""
    return named("clip")(self, min, max, out)


def compress(self: Tensor, condition: Any, axis: Any = None, out: Any = None) -> Tensor:
    """The slices where a one-dimensional condition holds."""
    return named("compress")(condition, self, axis, out)


def conj(self: Tensor) -> Tensor:
    """The complex conjugate; of real numbers, the tensor itself."""
    return NAMES["conjugate"](self) if is_complex(self.dtype) else self


def astype(
    self: Tensor,
    dtype: Any,
    order: str = "K",
    casting: Casting = "unsafe",
    subok: bool = True,
    copy: bool = True,
) -> Tensor:
    """A copy in another dtype."""
    from graphify.ir.types import canonical_dtype

    target = canonical_dtype(dtype)
    as_order(order)
    if not np.can_cast(self.dtype, target, casting):
        raise DTypeError(
            f"Cannot cast array data from {self.dtype!r} to {target!r} "
            f"according to the rule '{casting}'"
        )
    return named("astype")(self, target, copy=copy)


def sort(
    self: Tensor, axis: int = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> None:
    """Sort in place."""
    assign(self, NAMES["sort"](self, axis, kind=kind, order=order, stable=stable))


def partition(
    self: Tensor, kth: Any, axis: int = -1, kind: str = "introselect", order: Any = None
) -> None:
    """Partially sort in place."""
    assign(self, NAMES["partition"](self, kth, axis, kind, order))


def view(self: Tensor, dtype: Any = None, type: Any = None) -> Tensor:
    """The same elements; of the same dtype only."""
    if type not in (None, np.ndarray) or dtype not in (None, np.ndarray, self.dtype):
        raise SpecError(
            "Tensor.view is not supported in another dtype or class: a tensor has no bytes",
            remedy="convert with x.astype(dtype); x.real and x.imag are views of parts",
        )
    same: Tensor = core.copy(self) if self._scalar else self[...]
    return same


def fill(self: Tensor, value: Any) -> None:
    """Set every element to one number."""
    if not isinstance(value, (int, float, complex)) and as_tensor(value).ndim:
        raise ValueError("setting an array element with a sequence.")
    self[...] = value


def item(self: Tensor, *args: Any) -> Any:
    """One element as a Python number; of a symbolic tensor, a weak scalar tensor."""
    if not self.is_symbolic and not tracked(self):
        return self.numpy().item(*args)
    if len(args) == 1 and not isinstance(args[0], tuple):  # counted through all axes, in C order
        x = core.reshape(resolve(self), shape=(product(self.dims),))[args[0]]
    else:
        x = self[_unpacked(args)] if args else self
    if product(x.dims) != 1:
        raise ValueError("can only convert an array of size 1 to a Python scalar")
    scalar = core.reshape(x, shape=())
    return core.cast(scalar, dtype=_python_width(scalar.dtype), weak=True)


def _python_width(dtype: np.dtype[Any]) -> np.dtype[Any]:
    kinds = {"b": np.bool_, "i": np.int64, "u": np.int64, "c": np.complex128}
    return np.dtype(kinds.get(dtype.kind, np.float64))


def tolist(self: Tensor) -> Any:
    """Nested lists of Python numbers; the shape has to be known."""
    if not self.is_symbolic and not tracked(self):
        return self.numpy().tolist()
    if not self.dims:
        return item(self)
    rows = (tolist(row) for row in iter(self))
    return List(rows) if self.is_symbolic else list(rows)


def tobytes(self: Tensor, order: Any = "C") -> bytes:
    """The elements' bytes."""
    check_leaving(self, "tobytes()", lenient=True)
    return self.numpy().tobytes(order)


def numpy_array(self: Tensor, dtype: Any = None, copy: bool | None = None) -> Any:
    """The tensor as NumPy sees it: its buffer, shared."""
    refresh(self)
    check_leaving(self, "a NumPy array")
    if copy is None and self._scalar:  # it has no storage that an array could share
        copy = True
    return np.array(self.numpy(), dtype=dtype, copy=copy)


def to_device(self: Tensor, device: Any, /, *, stream: Any = None) -> Tensor:
    """The tensor on a device: there is one, the CPU."""
    if "cpu" not in str(device).lower():
        raise ValueError(f"to_device: device: expected 'cpu', got {device!r}")
    return self


# --- attributes --------------------------------------------------------------------------------


def _size(self: Tensor) -> Any:
    count = product(self.dims)
    return count if isinstance(count, int) else as_tensor(count)


def _times_itemsize(self: Tensor) -> Any:
    return _size(self) * self.dtype.itemsize


def _reversed_axes(self: Tensor) -> Tensor:
    x = resolve(self)
    return transpose_op(x, axes=tuple(reversed(range(x.ndim)))) if x.ndim > 1 else x


def _last_axes_swapped(self: Tensor) -> Tensor:
    x = resolve(self)
    if x.ndim < 2:
        raise ValueError("matrix transpose with ndim < 2 is undefined")
    return transpose_op(x, axes=(*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))


def _set_shape(self: Tensor, shape: Any) -> None:
    """`x.shape = shape`: the tensor becomes a view of what it was, for all names that it has."""
    builder = current_builder()
    if builder is None or self._home is not builder.home or is_outer(self):
        raise SpecError(
            "the shape of an array is set that was made outside of this function, branch or loop",
            remedy="write x = x.reshape(shape)",
        )
    if is_viewed(self):
        raise SpecError(
            "the shape of an array is set of which another name holds a view",
            remedy="write x = x.reshape(shape)",
        )
    refresh(self)
    before = Tensor(self._value, self._base, self._view, self._weak)
    before._seen, before._version = self._seen, self._version
    seen = named("reshape")(before, shape)
    if seen is before:
        return
    if seen._base is not before:
        raise AttributeError(
            "Incompatible shape for in-place modification. Use `.reshape()` to make a copy with "
            "the desired shape."
        )
    self._value, self._base, self._view = seen._value, before, seen._view
    self._seen, self._version = before._version, self._version + 1


def _no_deletion(self: Tensor, key: Any) -> None:
    raise ValueError("cannot delete array elements")


def _set_real(self: Tensor, value: Any) -> None:
    e.real(resolve(self))[...] = value


def _set_imag(self: Tensor, value: Any) -> None:
    if not is_complex(self.dtype):
        raise TypeError("array does not have imaginary part to set")
    e.imag(resolve(self))[...] = value


def _on_buffer(name: str) -> property:
    """An attribute of the NumPy buffer; of an eager tensor only."""

    def read(self: Tensor) -> Any:
        refresh(self)
        if self._scalar and name.startswith("__"):
            raise AttributeError(name)  # a number's storage is not shared: see `__array__`
        if self.is_symbolic and not name.startswith("__"):
            raise _no_buffer(self, name)
        check_leaving(self, f"`{name}`")
        return getattr(self.numpy(), name)

    return property(read, doc=f"`ndarray.{name}` of the buffer.")


def _no_buffer(x: Tensor, name: str) -> SpecError:
    return SpecError(
        f".{name} of a tensor {x.spec} is not known while tracing: where its elements are in "
        "memory is up to each run",
        remedy=f"read .{name} outside the graphify.function; for windows over an array use "
        "np.lib.stride_tricks.sliding_window_view",
    )


def _base_of(self: Tensor) -> Tensor | None:
    if self.is_symbolic:
        raise _no_buffer(self, "base")
    return self._base


_ATTRIBUTES = {
    "shape": vars(Tensor)["shape"].setter(_set_shape),
    "size": property(_size, doc="The number of elements."),
    "nbytes": property(_times_itemsize, doc="The bytes that the elements take."),
    "itemsize": property(lambda self: self.dtype.itemsize, doc="The bytes of one element."),
    "T": property(_reversed_axes, doc="The axes reversed."),
    "mT": property(_last_axes_swapped, doc="The last two axes swapped."),
    "real": property(lambda self: e.real(resolve(self)), _set_real, doc="The real part, a view."),
    "imag": property(lambda self: e.imag(resolve(self)), _set_imag, doc="The imaginary part."),
    "device": property(lambda self: DEVICE, doc="Where the tensor is."),
    "base": property(_base_of, doc="The tensor that this one is a view of, or None."),
    "flags": _on_buffer("flags"),
    "strides": _on_buffer("strides"),
    "data": _on_buffer("data"),
    "ctypes": _on_buffer("ctypes"),
    "__array_interface__": _on_buffer("__array_interface__"),
    "__array_struct__": _on_buffer("__array_struct__"),
}


def _namespace(self: Tensor, /, *, api_version: str | None = None) -> Any:
    """graphify.numpy, for the array API standard."""
    import graphify.numpy as gnp

    return gnp


def _dlpack(self: Tensor, **options: Any) -> Any:
    """A DLPack capsule that shares the buffer."""
    refresh(self)
    check_leaving(self, "DLPack")
    return self.numpy().__dlpack__(**options)


def _rounded(self: Tensor, ndigits: Any = None) -> Any:
    """`round(t)`: of a Python number a number, of an array the elements rounded."""
    result = NAMES["round"](self, 0 if ndigits is None else ndigits)
    if ndigits is None and self._scalar and self.dtype.kind in "iuf":
        return int(result)  # of a NumPy scalar, as of a float
    if ndigits is None and self.ndim == 0:
        return core.cast(result, dtype=np.dtype(np.int64), weak=True) if self.spec.weak else result
    return result


def _whole(op: Any) -> Callable[[Tensor], Tensor]:
    """math.floor, math.ceil, math.trunc of a scalar."""
    return lambda self: core.cast(op(to_tensor(self)), dtype=np.dtype(np.int64), weak=True)


def _install() -> None:
    for name in _SAME:
        setattr(Tensor, name, _method(name))
    for name, (why, remedy) in _REFUSED.items():
        setattr(Tensor, name, _refuse(name, why, remedy))
    own = (
        copy,
        reshape,
        transpose,
        flatten,
        clip,
        compress,
        conj,
        astype,
        sort,
        partition,
        fill,
        view,
        item,
        tolist,
        tobytes,
        to_device,
    )
    for function in own:
        setattr(Tensor, function.__name__, function)
    Tensor.conjugate = conj
    for name, attribute in _ATTRIBUTES.items():
        setattr(Tensor, name, attribute)
    special: dict[str, Any] = {
        "__array__": numpy_array,
        "__array_function__": array_function,
        "__array_ufunc__": array_ufunc,
        "__array_namespace__": _namespace,
        "__dlpack__": _dlpack,
        "__dlpack_device__": lambda self: (1, 0),
        "__delitem__": _no_deletion,
        "__contains__": lambda self, value: NAMES["any"](e.equal(self, value)),
        "__round__": _rounded,
        "__floor__": _whole(e.floor),
        "__ceil__": _whole(e.ceil),
        "__trunc__": _whole(e.trunc),
        "__copy__": copy,
        "__deepcopy__": lambda self, memo: copy(self),
    }
    for name, function in special.items():
        setattr(Tensor, name, function)


_install()
