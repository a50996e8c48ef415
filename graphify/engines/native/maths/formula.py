"""Formulas on registers, written as Python writes them.

    @rule("square")
    def square(x: X) -> X:
        return x * x

An `X` is a value of a function being written; its operators write instructions. Numbers beside it
become constants of its type. Comparisons are false for NaN and give masks; `~`, `&`, `|` join them.
Every formula holds for any number of lanes and, unless it says otherwise, for float and double.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from graphify.engines.native.llvm import F64, Function, Type, V
from graphify.engines.native.maths.coefficients import Coefficients

Operand = Any  # X, or a number that takes the type of the X beside it


@dataclass(frozen=True, slots=True)
class X:
    """A value `v` of the function `f`."""

    f: Function
    v: V

    @property
    def type(self) -> Type:
        return self.v.type

    def op(self, opcode: str, other: Operand) -> X:
        return X(self.f, self.f.binary(opcode, self.v, self.of(other).v))

    def _arithmetic(self, name: str, other: Operand) -> X:
        return self.op(f"f{name}" if self.type.is_float else name, other)

    def of(self, other: Operand) -> X:
        """`other` as a value of this type."""
        return other if isinstance(other, X) else X(self.f, self.f.const(self.type, other))

    def __add__(self, other: Operand) -> X:
        return self._arithmetic("add", other)

    def __sub__(self, other: Operand) -> X:
        return self._arithmetic("sub", other)

    def __mul__(self, other: Operand) -> X:
        return self._arithmetic("mul", other)

    def __truediv__(self, other: Operand) -> X:
        return self.op("fdiv", other)

    def __radd__(self, other: Operand) -> X:
        return self.of(other) + self

    def __rsub__(self, other: Operand) -> X:
        return self.of(other) - self

    def __rmul__(self, other: Operand) -> X:
        return self.of(other) * self

    def __rtruediv__(self, other: Operand) -> X:
        return self.of(other) / self

    def __neg__(self) -> X:
        return X(self.f, self.f.fneg(self.v)) if self.type.is_float else self.of(0) - self

    # --- bits and masks -------------------------------------------------------------------------

    def __and__(self, other: Operand) -> X:
        return self.op("and", other)

    def __or__(self, other: Operand) -> X:
        return self.op("or", other)

    def __xor__(self, other: Operand) -> X:
        return self.op("xor", other)

    def __lshift__(self, other: Operand) -> X:
        return self.op("shl", other)

    def __rshift__(self, other: Operand) -> X:
        """Arithmetic: the sign is kept."""
        return self.op("ashr", other)

    def unsigned_shift(self, count: Operand) -> X:
        return self.op("lshr", count)

    def __invert__(self) -> X:
        return X(self.f, self.f.not_(self.v))

    def compare(self, predicate: str, other: Operand) -> X:
        """A mask. `predicate` as LLVM names it for the type: "oeq", "une", "uno"; "eq", "ult"."""
        other = self.of(other)
        compare = self.f.fcmp if self.type.is_float else self.f.icmp
        return X(self.f, compare(predicate, self.v, other.v))

    def _order(self, name: str, other: Operand) -> X:
        return self.compare(("o" if self.type.is_float else "s") + name, other)

    def __lt__(self, other: Operand) -> X:
        return self._order("lt", other)

    def __le__(self, other: Operand) -> X:
        return self._order("le", other)

    def __gt__(self, other: Operand) -> X:
        return self._order("gt", other)

    def __ge__(self, other: Operand) -> X:
        return self._order("ge", other)

    def equals(self, other: Operand) -> X:
        return self.compare("oeq" if self.type.is_float else "eq", other)

    def differs(self, other: Operand) -> X:
        """True for NaN, as `!=` is."""
        return self.compare("une" if self.type.is_float else "ne", other)

    def is_nan(self) -> X:
        return self.compare("uno", self)

    def where(self, condition: X, other: Operand) -> X:
        """This where the condition holds, elsewhere `other`."""
        return X(self.f, self.f.select(condition.v, self.v, self.of(other).v))

    # --- conversions ----------------------------------------------------------------------------

    def intrinsic(self, name: str, *others: Operand, extra: str = "") -> X:
        operands = [self.v, *(self.of(o).v for o in others)]
        return X(self.f, self.f.intrinsic(name, *operands, extra=extra))

    def convert(self, opcode: str, type: Type) -> X:
        return X(self.f, self.f.convert(opcode, self.v, type))

    @property
    def integer(self) -> Type:
        """The integer type as wide as this float type."""
        return self.type.like(f"i{self.type.bytes * 8}")

    def bits(self) -> X:
        return self.convert("bitcast", self.integer)

    def floating(self) -> X:
        """The float with these bits."""
        return self.convert("bitcast", self.type.like({4: "float", 8: "double"}[self.type.bytes]))

    def to_int(self) -> X:
        """Truncated to an integer as wide; the caller knows that it fits."""
        return self.convert("fptosi", self.integer)

    def number(self, like: X) -> X:
        """This integer as a float of the type of `like`."""
        return self.convert("sitofp", like.type)

    def widened(self) -> X:
        return self.convert("fpext", F64.of(self.type.lanes))

    def narrowed(self) -> X:
        return self.convert("fptrunc", self.type.like("float"))

    def __abs__(self) -> X:
        return self.intrinsic("fabs")

    def sqrt(self) -> X:
        return self.intrinsic("sqrt")

    def sign_of(self, other: X) -> X:
        """This with the sign bit of `other`."""
        return self.intrinsic("copysign", other)

    # --- ranges ---------------------------------------------------------------------------------

    def at_most(self, bound: Operand) -> X:
        """NaN stays NaN."""
        limit = self.of(bound)
        return limit.where(self > limit, self)

    def at_least(self, bound: Operand) -> X:
        """NaN stays NaN."""
        limit = self.of(bound)
        return limit.where(self < limit, self)

    def any(self) -> X:
        """Whether any lane of a mask holds: one bit."""
        if self.type.lanes == 1:
            return self
        name = f"llvm.vector.reduce.or.{self.type.suffix}"
        return X(self.f, self.f.call(name, Type("i1"), [self.v]))


# --- what depends on the type ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Format:
    """A binary floating-point format.

    Attributes:
        precision: bits of the significand, the hidden one counted.
        bias: what the exponent field of 1.0 holds.
    """

    precision: int
    bias: int

    @property
    def stored(self) -> int:
        """Bits of the significand in memory."""
        return self.precision - 1

    @property
    def rounder(self) -> float:
        """x + rounder - rounder is x rounded to an integer, for |x| < 2^(precision - 2)."""
        return 1.5 * 2.0**self.stored

    @property
    def smallest_normal(self) -> float:
        return 2.0 ** (1 - self.bias)

    def bits(self, number: float) -> int:
        """The bits of a positive normal number."""
        fraction, exponent = math.frexp(number)
        return int((2 * fraction - 1) * 2**self.stored) + (
            (exponent - 1 + self.bias) << self.stored
        )


FORMATS = {4: Format(24, 127), 8: Format(53, 1023)}


def format_of(x: X) -> Format:
    """The format of a float, or of the float that an integer is the bits of."""
    return FORMATS[x.type.bytes]


def by_type(x: X, single: float, double: float) -> float:
    """What a formula chooses by the type."""
    return single if x.type.scalar == "float" else double


# --- multiply and add -----------------------------------------------------------------------------


def mad(a: X, b: Operand, c: Operand) -> X:
    """a * b + c, rounded once where that is one instruction, else twice."""
    if a.f.module.target.fma:
        return X(a.f, a.f.fma(a.v, a.of(b).v, a.of(c).v))
    total: X = a * b + c
    return total


def exact_mad(a: X, b: Operand, c: Operand) -> X:
    """a * b + c with the error of one rounding, where `mad` may lose the product's low half."""
    if a.f.module.target.fma:
        return X(a.f, a.f.fma(a.v, a.of(b).v, a.of(c).v))
    high, low = product(a, a.of(b))
    total, rest = total_of(high, c)
    return total + (rest + low)


def horner(x: X, coefficients: Coefficients) -> X:
    """A polynomial in x."""
    first, *others = coefficients[x.type.scalar]
    y = x.of(first)
    for c in others:
        y = mad(y, x, c)
    return y


# --- sums and products in two parts (Dekker 1971; Knuth, TAOCP 4.2.2) -----------------------------


def ordered_total(a: X, b: X) -> tuple[X, X]:
    """a + b and its rounding error, for |a| >= |b| or a = 0."""
    high = a + b
    return high, b - (high - a)


def total_of(a: X, b: Operand) -> tuple[X, X]:
    """a + b and its rounding error."""
    high = a + b
    part = high - a
    return high, (a - (high - part)) + (a.of(b) - part)


def product(a: X, b: X) -> tuple[X, X]:
    """a * b and its rounding error."""
    high = a * b
    if a.f.module.target.fma:
        return high, X(a.f, a.f.fma(a.v, b.v, (-high).v))
    a1, a0 = _halves(a)
    b1, b0 = _halves(b)
    return high, a0 * b0 - (((high - a1 * b1) - a0 * b1) - a1 * b0)


def _halves(a: X) -> tuple[X, X]:
    """`a` as a sum of two values of half the precision (Veltkamp's splitting)."""
    big = a * (2.0 ** ((format_of(a).precision + 1) // 2) + 1)
    high = big - (big - a)
    return high, a - high


# --- the table of rules ---------------------------------------------------------------------------

Rule = Callable[..., V]
FUNCTIONS: dict[str, Rule] = {}


def rule(name: str) -> Callable[[Callable[..., X]], Callable[..., X]]:
    """Enter a formula into the table, as a function of the open Function and registers."""

    def enter(formula: Callable[..., X]) -> Callable[..., X]:
        def written(f: Function, *args: V) -> V:
            return formula(*(X(f, a) for a in args)).v

        assert name not in FUNCTIONS, name
        written.__name__, written.__doc__ = name, formula.__doc__
        FUNCTIONS[name] = written
        return formula

    return enter


def split(x: X, count: int) -> list[X]:
    """A vector as `count` vectors of consecutive lanes."""
    lanes = x.type.lanes // count
    return [_shuffle(x, x, range(i * lanes, (i + 1) * lanes)) for i in range(count)]


def join(parts: Sequence[X]) -> X:
    """Vectors end to end; the number of them is a power of two."""
    while len(parts) > 1:
        pairs = zip(parts[::2], parts[1::2], strict=True)
        parts = [_shuffle(a, b, range(2 * a.type.lanes)) for a, b in pairs]
    return parts[0]


def _shuffle(a: X, b: X, order: Sequence[int]) -> X:
    mask = f"<{len(order)} x i32> <" + ", ".join(f"i32 {i}" for i in order) + ">"
    return X(a.f, a.f.op(a.type.of(len(order)), f"shufflevector {a.v}, {b.v}, {mask}"))
