"""What a product computes with: how a dtype is widened, multiplied, added and rounded back.

Sums are made in the `working` dtype: float16 and bfloat16 add up in float32 and are rounded once at
the end, as NumPy does; integers of 8 bits multiply in 16, which vector units have instructions for,
and wrap to the same result; a product of bools is "any of both".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from graphify.engines.native.elements.cast import cast
from graphify.engines.native.elements.element import Element, part_type, register_types
from graphify.engines.native.elements.memory import load, store
from graphify.engines.native.llvm import I64, PTR, Function, Type, V
from graphify.engines.native.target import Target
from graphify.ir.types import BOOL, DType, bfloat16, is_complex

_WORKING: dict[DType, DType] = {
    BOOL: np.dtype(np.int8),
    np.dtype(np.int8): np.dtype(np.int16),
    np.dtype(np.uint8): np.dtype(np.uint16),
    np.dtype(np.float16): np.dtype(np.float32),
    bfloat16: np.dtype(np.float32),
}


@dataclass(frozen=True, slots=True)
class Numbers:
    """A dtype on a target."""

    dtype: DType
    target: Target

    @property
    def working(self) -> DType:
        """The dtype of sums, and of packed operands."""
        return _WORKING.get(self.dtype, self.dtype)

    @property
    def rounds(self) -> bool:
        """Whether a sum must not pass through memory as `dtype` before it is complete."""
        return self.working.kind == "f" and self.working != self.dtype

    @property
    def parts(self) -> int:
        """Registers that hold one vector of numbers."""
        return 2 if is_complex(self.dtype) else 1

    @property
    def lanes(self) -> int:
        """Numbers in a vector."""
        return self.target.lanes(part_type(self.working))

    @property
    def masked(self) -> bool:
        """Whether the target loads and stores the first lanes of a vector of them alone."""
        return self.target.masked and (
            self.target.vector_bytes == 64 or part_type(self.dtype).bytes >= 4
        )

    # --- memory ---------------------------------------------------------------------------------

    def load(
        self, f: Function, pointer: V, lanes: int, mask: V | None = None, *, packed: bool = False
    ) -> Element:
        """Working numbers from memory: of the dtype itself, or packed ones."""
        source = self.working if packed else self.dtype
        return cast(f, load(f, source, pointer, lanes, mask=mask), self.working)

    def store(
        self, f: Function, x: Element, pointer: V, mask: V | None = None, *, packed: bool = False
    ) -> None:
        store(f, x if packed else cast(f, x, self.dtype), pointer, mask=mask)

    def first(self, f: Function, count: V, lanes: int) -> V:
        """The mask of the first `count` lanes, 1 <= count <= lanes."""
        bits = f.lshr(V(I64, "-1"), f.sub(V(I64, "64"), count))
        narrow = bits if lanes == 64 else f.convert("trunc", bits, Type(f"i{lanes}"))
        return f.convert("bitcast", narrow, Type("i1", lanes))

    # --- arithmetic -----------------------------------------------------------------------------

    def zero(self, f: Function, lanes: int) -> Element:
        types = register_types(self.working, lanes)
        return Element(self.working, tuple(f.const(type, 0) for type in types))

    def add(self, f: Function, a: Element, b: Element) -> Element:
        if self.dtype == BOOL:
            return Element(self.working, (f.or_(a.value, b.value),))
        add = f.fadd if a.parts[0].type.is_float else f.add
        return Element(self.working, tuple(map(add, a.parts, b.parts)))

    def multiply_add(self, f: Function, a: Element, b: Element, c: Element) -> Element:
        """c + a * b."""
        if self.dtype == BOOL:
            return Element(self.working, (f.or_(c.value, f.and_(a.value, b.value)),))
        if self.parts == 1:
            return Element(self.working, (self._fma(f, a.value, b.value, c.value),))
        (ar, ai), (br, bi), (cr, ci) = a.parts, b.parts, c.parts
        re = self._fma(f, f.fneg(ai), bi, self._fma(f, ar, br, cr))
        im = self._fma(f, ai, br, self._fma(f, ar, bi, ci))
        return Element(self.working, (re, im))

    def _fma(self, f: Function, a: V, b: V, c: V) -> V:
        if not a.type.is_float:
            return f.add(c, f.mul(a, b))
        return f.fma(a, b, c) if self.target.fma else f.fadd(c, f.fmul(a, b))

    def total(self, f: Function, x: Element) -> Element:
        """The sum of all lanes: of halves, of quarters, ..."""
        while x.lanes > 1:
            half = x.lanes // 2
            low, high = (
                Element(
                    self.working, tuple(_lanes(f, p, range(start, start + half)) for p in x.parts)
                )
                for start in (0, half)
            )
            x = self.add(f, low, high)
        return x


def spans(f: Function, numbers: Numbers, stop: V, body: Callable[[V, int, V | None], None]) -> None:
    """`body(at, lanes, mask)` for each vector of [0, stop), then for what is left at the end."""
    lanes = numbers.lanes
    whole = f.and_(stop, V(I64, str(-lanes)))
    with f.counting(V(I64, "0"), whole, lanes) as at:
        body(at, lanes, None)
    if not numbers.masked:
        with f.counting(whole, stop) as at:
            body(at, 1, None)
        return
    with f.when(f.icmp("slt", whole, stop)):
        body(whole, lanes, numbers.first(f, f.sub(stop, whole), lanes))


def _lanes(f: Function, x: V, which: range) -> V:
    """Some lanes of a vector; one alone becomes a scalar."""
    if len(which) == 1:
        return f.op(x.type.of(1), f"extractelement {x}, i32 {which[0]}")
    mask = ", ".join(f"i32 {i}" for i in which)
    type = x.type.of(len(which))
    return f.op(type, f"shufflevector {x}, {x.type} poison, <{len(which)} x i32> <{mask}>")


def cell(dtype: DType) -> Type:
    """A number's place in memory, for addresses."""
    return Type(f"[{dtype.itemsize} x i8]")


class Record:
    """Names for the words of a block of memory.

    record = Record("rows", "columns")
    record.get(f, block, "columns")
    """

    def __init__(self, *names: str) -> None:
        self.names = names

    def at(self, f: Function, block: V, name: str) -> V:
        return f.at(block, I64, self.names.index(name))

    def get(self, f: Function, block: V, name: str, type: Type = I64) -> V:
        return f.load(type, self.at(f, block, name))

    def pointer(self, f: Function, block: V, name: str) -> V:
        return self.get(f, block, name, PTR)

    def set(self, f: Function, block: V, **words: V) -> None:
        for name, word in words.items():
            f.store(word, self.at(f, block, name))

    def make(self, f: Function) -> V:
        """A block on the stack."""
        return f.alloca(I64, len(self.names))
