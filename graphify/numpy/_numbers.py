"""What numbers have and arrays lack: `n.bit_length()`, `x.is_integer()`.

Imported once for its effect: it attaches them to `Tensor`, for the kinds of value that have them;
`real` and `imag` of a number are numbers of the same kind.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphify.ir.context import check_leaving
from graphify.ir.tensor import Tensor, resolve, value_needed
from graphify.ir.types import BOOL, is_complex, real_dtype
from graphify.ops import core
from graphify.ops import elementwise as e
from graphify.ops.library import integer_call

_INT = np.dtype(np.int64)


def _python_int(x: Tensor) -> Tensor:
    """A bool counts as the integer that it is."""
    return core.cast(x, dtype=_INT, weak=True) if x.dtype == BOOL else x


def _bit_length(x: Tensor) -> Tensor:
    return integer_call(_python_int(x), function="int.bit_length")


def _bit_count(x: Tensor) -> Tensor:
    """NumPy's scalars, too, give a Python int."""
    return core.cast(e.bitwise_count(core.strong(_python_int(x))), dtype=_INT, weak=True)


def _is_integer(x: Tensor) -> Tensor:
    if x.dtype.kind != "f":
        return core.cast(e.equal(x, x), dtype=BOOL, weak=True)
    whole = e.logical_and(e.isfinite(x), e.equal(e.trunc(x), x))
    return core.cast(whole, dtype=BOOL, weak=True)


def _denominator(x: Tensor) -> Tensor:
    return x * 0 + 1 if x.spec.weak else e.where(e.equal(x, x), 1, 1)


def _of_known(name: str, what: str) -> Callable[[Tensor], Any]:
    """A method of Python's numbers, for what is known."""

    def compute(x: Tensor) -> Any:
        if x.is_symbolic:
            raise value_needed(x, what)
        check_leaving(x, f"{name}()", lenient=True)
        return getattr(x.numpy().item(), name)()

    return compute


# Of each: the kinds of dtype that have it, as Python's numbers and as NumPy's scalars.
_METHODS: dict[str, tuple[Callable[[Tensor], Any], str, str]] = {
    "bit_length": (_bit_length, "ib", ""),
    "bit_count": (_bit_count, "ib", "iu"),
    "is_integer": (_is_integer, "f", "fiu"),
    "as_integer_ratio": (_of_known("as_integer_ratio", "the exact ratio"), "fib", "f"),
    "hex": (_of_known("hex", "the hexadecimal text"), "f", "f"),
}
_FIELDS: dict[str, tuple[Callable[[Tensor], Any], str, str]] = {
    "numerator": (_python_int, "ib", "iu"),
    "denominator": (lambda x: _denominator(_python_int(x)), "ib", ""),
}


def _number(self: Tensor, name: str, python: str, numpy: str) -> Tensor:
    """The tensor, if values of its kind have an attribute of this name."""
    tensor = resolve(self)
    kinds = python if tensor.spec.weak else numpy if tensor._scalar else ""
    if tensor.dtype.kind not in kinds:
        raise AttributeError(f"'Tensor' object has no attribute '{name}' for {tensor.spec}")
    return tensor


def _method(name: str) -> property:
    compute, *kinds = _METHODS[name]

    def bound(self: Tensor) -> Callable[[], Any]:
        tensor = _number(self, name, *kinds)
        return lambda: compute(tensor)

    return property(bound, doc=f"`{name}()` of a Python number or a NumPy scalar.")


def _field(name: str) -> property:
    compute, *kinds = _FIELDS[name]
    return property(lambda self: compute(_number(self, name, *kinds)), doc=f"`{name}` of an int.")


def _part(array: property, op: Callable[[Tensor], Tensor]) -> property:
    """real or imag: of an array a view, of a number a number."""
    assert array.fget is not None
    view = array.fget

    def read(self: Tensor) -> Any:
        tensor = resolve(self)
        if not (tensor.spec.weak or tensor._scalar):
            return view(self)
        tensor = _python_int(tensor) if tensor.spec.weak else tensor
        part = core.copy(op(core.strong(tensor)))
        if tensor.spec.weak:
            return core.cast(part, dtype=real_dtype(part.dtype), weak=True)
        part._scalar = True
        return part

    return property(read, array.fset, doc=array.__doc__)


def _conjugate(array: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    def conjugate(self: Tensor) -> Tensor:
        """The complex conjugate; of real numbers, the number itself."""
        if not self.spec.weak:
            return array(self)
        number = _python_int(resolve(self))
        if not is_complex(number.dtype):
            return number
        return core.cast(e.conjugate(core.strong(number)), dtype=number.dtype, weak=True)

    return conjugate


def _install() -> None:
    for name in _METHODS:
        setattr(Tensor, name, _method(name))
    for name in _FIELDS:
        setattr(Tensor, name, _field(name))
    parts: Any = Tensor
    parts.real, parts.imag = _part(parts.real, e.real), _part(parts.imag, e.imag)
    parts.conjugate = _conjugate(parts.conjugate)


_install()
