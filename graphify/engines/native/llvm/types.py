"""Types and values of LLVM IR.

>>> x = V(F64.of(4), "%x")
>>> str(x), x.type.suffix
('<4 x double> %x', 'v4f64')
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

_SUFFIX = {"half": "f16", "bfloat": "bf16", "float": "f32", "double": "f64", "ptr": "p0"}
_BYTES = {"half": 2, "bfloat": 2, "float": 4, "double": 8, "ptr": 8, "i1": 1}


@dataclass(frozen=True, slots=True)
class Type:
    """A scalar type, or a vector of `lanes` of them.

    >>> str(Type("float", 8)), Type("float", 8).suffix
    ('<8 x float>', 'v8f32')
    """

    scalar: str
    lanes: int = 1

    def __str__(self) -> str:
        return self.scalar if self.lanes == 1 else f"<{self.lanes} x {self.scalar}>"

    @property
    def suffix(self) -> str:
        """How intrinsics name the type."""
        one = _SUFFIX.get(self.scalar, self.scalar)
        return one if self.lanes == 1 else f"v{self.lanes}{one}"

    @property
    def is_float(self) -> bool:
        return self.scalar in ("half", "bfloat", "float", "double")

    @property
    def bytes(self) -> int:
        """Bytes of one scalar in memory."""
        return _BYTES.get(self.scalar) or int(self.scalar[1:]) // 8

    def of(self, lanes: int) -> Type:
        """The same scalar in `lanes` lanes."""
        return Type(self.scalar, lanes)

    def like(self, scalar: str) -> Type:
        """Another scalar in as many lanes."""
        return Type(scalar, self.lanes)


VOID, BIT, PTR = Type("void"), Type("i1"), Type("ptr")
I8, I16, I32, I64 = Type("i8"), Type("i16"), Type("i32"), Type("i64")
F16, BF16, F32, F64 = Type("half"), Type("bfloat"), Type("float"), Type("double")


@dataclass(frozen=True, slots=True)
class V:
    """A value: its type and how the text names it ("%v7", "42")."""

    type: Type
    text: str

    def __str__(self) -> str:
        """With the type, as operands are written."""
        return f"{self.type} {self.text}"


Parameter = tuple[Type, str] | tuple[Type, str, str]  # type, name, attributes ("noalias readonly")


def float_literal(scalar: str, number: Any) -> str:
    """A float constant as LLVM writes it exactly.

    >>> float_literal("double", 0.5), float_literal("half", 1.0)
    ('0x3FE0000000000000', '0xH3C00')
    """
    if scalar == "half":
        return f"0xH{struct.unpack('<H', struct.pack('<e', number))[0]:04X}"
    if scalar == "bfloat":
        import ml_dtypes
        import numpy as np

        return f"0xR{int(np.asarray(number, ml_dtypes.bfloat16).view(np.uint16)):04X}"
    if scalar == "float":  # written as the double of the same value
        import numpy as np

        number = float(np.float32(number))
    return f"0x{struct.unpack('<Q', struct.pack('<d', number))[0]:016X}"
