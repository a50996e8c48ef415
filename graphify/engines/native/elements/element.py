"""A value of a NumPy dtype in LLVM registers: one element, or a vector of them.

    one = constant(f, np.dtype(np.complex64), 1, lanes=8)     # parts: two <8 x float>

What lies in registers is not always what lies in memory: a bool is an i1, a complex number two
floats. bfloat16 is its 16 bits, since LLVM's own bfloat conversions become library calls.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from graphify.engines.native.llvm import BIT, F16, F32, F64, I16, Function, Type, V
from graphify.ir.types import BOOL, DType, bfloat16, is_complex, real_dtype

_FLOATS = {2: F16, 4: F32, 8: F64}


@dataclass(frozen=True, slots=True)
class Element:
    """An element of a dtype, in each of `lanes` lanes.

    Attributes:
        dtype: the NumPy dtype.
        parts: bool (i1,), integers (iN,), floats (half | float | double,), bfloat16 (i16,) holding
            the bits, complex (real, imaginary).
        number: the number that every lane holds, where it is known; rules simplify with it.
    """

    dtype: DType
    parts: tuple[V, ...]
    number: Any = field(default=None, compare=False)

    @property
    def lanes(self) -> int:
        return self.parts[0].type.lanes

    @property
    def value(self) -> V:
        """The only part of an element that is not complex."""
        assert len(self.parts) == 1, self.dtype
        return self.parts[0]


def part_type(dtype: DType) -> Type:
    """The scalar type of one part in registers."""
    if dtype == BOOL:
        return BIT
    if dtype == bfloat16:
        return I16
    if dtype.kind in "iu":
        return Type(f"i{dtype.itemsize * 8}")
    return _FLOATS[real_dtype(dtype).itemsize]


def register_types(dtype: DType, lanes: int) -> tuple[Type, ...]:
    """The types of an element's parts.

    >>> [str(t) for t in register_types(np.dtype(np.complex64), 8)]
    ['<8 x float>', '<8 x float>']
    """
    return (part_type(dtype).of(lanes),) * (2 if is_complex(dtype) else 1)


def bits_number(dtype: DType, number: Any) -> Any:
    """The number that stands for `number` of a dtype in an LLVM constant of its part type."""
    if dtype == bfloat16:
        return int(np.asarray(number, dtype).view(np.uint16))
    if dtype == BOOL:
        return bool(number)
    if dtype.kind in "iu":
        return int(np.asarray(number, dtype).view(f"i{dtype.itemsize}"))
    return float(number)


def constant(f: Function, dtype: DType, number: Any, lanes: int) -> Element:
    """The same number in every lane. It must be representable; floats are rounded."""
    type = part_type(dtype).of(lanes)
    with np.errstate(over="ignore"):
        rounded = np.asarray(number, dtype)
    number = float(rounded) if dtype == bfloat16 else rounded.item()
    if is_complex(dtype):
        parts = tuple(f.const(type, x) for x in (number.real, number.imag))
    else:
        parts = (f.const(type, bits_number(dtype, number)),)
    return Element(dtype, parts, number)


def splat(f: Function, x: Element, lanes: int) -> Element:
    """A scalar element in every lane."""
    return Element(x.dtype, tuple(f.splat(p, lanes) for p in x.parts), x.number)


def select(f: Function, mask: V, a: Element, b: Element) -> Element:
    """Per lane, `a` where the mask holds, else `b`. Both have one dtype."""
    assert a.dtype == b.dtype, (a.dtype, b.dtype)
    pairs = zip(a.parts, b.parts, strict=True)
    return Element(a.dtype, tuple(f.select(mask, x, y) for x, y in pairs))
