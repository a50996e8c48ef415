"""Integer arithmetic with NumPy's answers: it wraps around, and nothing traps.

Division by zero gives 0, the lowest integer by -1 gives itself, a shift by the width or more (or by
a negative number) shifts everything out. Rules are `(f, signed, *V) -> V`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from graphify.engines.native.elements.cast import to_signed
from graphify.engines.native.elements.element import Element
from graphify.engines.native.elements.rule import Rule, integer, is_constant, outlined, repeat
from graphify.engines.native.llvm import I8, Function, V
from graphify.ir.types import DType

T = TypeVar("T")
_UNROLLED = 64  # constant exponents up to this are multiplied out


def _zero(f: Function, x: V) -> V:
    return f.const(x.type, 0)


def _one(f: Function, x: V) -> V:
    return f.const(x.type, 1)


# --- signs --------------------------------------------------------------------------------------


def negative(f: Function, signed: bool, x: V) -> V:
    return f.sub(_zero(f, x), x)


def absolute(f: Function, signed: bool, x: V) -> V:
    """The lowest integer is its own absolute value."""
    return f.intrinsic("abs", x, extra="i1 false") if signed else x


def sign(f: Function, signed: bool, x: V) -> V:
    positive = f.convert("zext", f.icmp("sgt" if signed else "ne", x, _zero(f, x)), x.type)
    if not signed:
        return positive
    return f.or_(positive, f.ashr(x, f.const(x.type, x.type.bytes * 8 - 1)))


def square(f: Function, signed: bool, x: V) -> V:
    return f.mul(x, x)


def reciprocal(f: Function, signed: bool, x: V) -> V:
    """1 / x, cut off: zero but for 1 and -1; of zero, what infinity gives as an integer."""
    of_zero = -(2 ** (x.type.bytes * 8 - 1)) if signed and x.type.bytes >= 4 else 0
    least = f.const(x.type, -1 if signed else 1)
    unit = f.or_(f.icmp("eq", x, _one(f, x)), f.icmp("eq", x, least))
    result = f.select(unit, x, _zero(f, x))
    return f.select(f.icmp("eq", x, _zero(f, x)), f.const(x.type, of_zero), result)


def extreme(name: str) -> Rule:
    """maximum (name "max") or minimum ("min")."""
    return integer(lambda f, signed, a, b: f.intrinsic(("s" if signed else "u") + name, a, b))


# --- division -----------------------------------------------------------------------------------


def quotient(f: Function, signed: bool, a: V, b: V) -> V:
    """a / b towards zero; 0 where b is 0; the lowest integer by -1 wraps around."""
    zero = f.icmp("eq", b, _zero(f, b))
    if a.type.lanes > 1 and a.type.bytes <= 4 and not is_constant(b):
        whole = _by_floats(f, signed, a, b)
    else:
        whole = _by_division(f, signed, a, b, zero)
    return f.select(zero, _zero(f, a), whole)


def _by_floats(f: Function, signed: bool, a: V, b: V) -> V:
    """Machines do not divide vectors of integers, but of floats.

    With at most half as many bits as the float has, the rounded quotient cut off is exact: what
    lies just below an integer n lies below it by 1 / b or more, which is more than half an ulp.
    """
    wide = a.type.like("float" if a.type.bytes <= 2 else "double")
    opcode = "sitofp" if signed else "uitofp"
    ratio = f.fdiv(f.convert(opcode, a, wide), f.convert(opcode, b, wide))
    if a.type.bytes == 4 and not signed:
        return f.convert("fptoui", ratio, a.type)
    whole = to_signed(f, ratio, 32)
    return whole if a.type.bytes == 4 else f.convert("trunc", whole, a.type)


def _by_division(f: Function, signed: bool, a: V, b: V, zero: V) -> V:
    if not signed:
        return f.binary("udiv", a, f.select(zero, _one(f, b), b))
    opposite = f.icmp("eq", b, f.const(b.type, -1))
    safe = f.select(f.or_(zero, opposite), _one(f, b), b)
    return f.select(opposite, negative(f, True, a), f.binary("sdiv", a, safe))


def _rest(f: Function, a: V, b: V, whole: V) -> V:
    return f.sub(a, f.mul(whole, b))


def _signs_differ(f: Function, rest: V, b: V) -> V:
    """Where a remainder with the dividend's sign is to get the divisor's."""
    differ = f.icmp("slt", f.xor(rest, b), _zero(f, b))
    return f.and_(f.icmp("ne", rest, _zero(f, b)), differ)


def _shift(b: V) -> int | None:
    """How far to shift instead of dividing by `b`, if it is a known power of two."""
    text = b.text.strip("<>").split(",")[0].split()[-1] if b.text else ""
    if not text.isdigit() or b.text.startswith("%"):
        return None
    value = int(text)
    return value.bit_length() - 1 if value > 0 and value & (value - 1) == 0 else None


def floor_divide(f: Function, signed: bool, a: V, b: V) -> V:
    shift = _shift(b)
    if shift is not None:
        return (f.ashr if signed else f.lshr)(a, f.const(a.type, shift))
    whole = quotient(f, signed, a, b)
    if not signed:
        return whole
    below = _signs_differ(f, _rest(f, a, b, whole), b)
    below = f.and_(below, f.icmp("ne", b, _zero(f, b)))
    return f.sub(whole, f.convert("zext", below, a.type))


def fmod(f: Function, signed: bool, a: V, b: V) -> V:
    """The remainder with the dividend's sign."""
    rest = _rest(f, a, b, quotient(f, signed, a, b))
    return f.select(f.icmp("eq", b, _zero(f, b)), _zero(f, a), rest)


def remainder(f: Function, signed: bool, a: V, b: V) -> V:
    """The remainder with the divisor's sign."""
    shift = _shift(b)
    if shift is not None:
        return f.and_(a, f.const(a.type, (1 << shift) - 1))
    rest = fmod(f, signed, a, b)
    if not signed:
        return rest
    return f.select(_signs_differ(f, rest, b), f.add(rest, b), rest)


# --- powers -------------------------------------------------------------------------------------


def power(f: Function, dtype: DType, a: Element, b: Element) -> Element:
    """Negative exponents are an error of the op (`checked.failures`); what they give is open."""
    if b.number is not None and 0 <= b.number <= _UNROLLED:
        one = _one(f, a.value)
        product = multiplied_out(f, a.value, one, int(b.number), Function.mul)
        return Element(dtype, (product,))
    x = a.value
    return Element(dtype, (outlined(f, "power", [x, b.value], _power_loop, x.type),))


def multiplied_out(
    f: Function, x: T, one: T, count: int, multiply: Callable[[Function, T, T], T]
) -> T:
    """x ** count by squaring."""
    result = None
    while count:
        if count & 1:
            result = x if result is None else multiply(f, result, x)
        count >>= 1
        x = multiply(f, x, x) if count else x
    return one if result is None else result


def _power_loop(f: Function, a: V, b: V) -> V:
    """Square and multiply, bit by bit of the exponent."""

    def step(f: Function, result: V, base: V, left: V) -> list[V]:
        odd = f.convert("trunc", left, left.type.like("i1"))
        product = f.select(odd, f.mul(result, base), result)
        return [product, f.mul(base, base), f.lshr(left, _one(f, left))]

    start = [_one(f, a), a, b]
    return repeat(f, start, lambda f, r, x, left: f.icmp("ne", left, _zero(f, left)), step)[0]


# --- common divisors ----------------------------------------------------------------------------


def gcd(f: Function, signed: bool, a: V, b: V) -> V:
    a, b = absolute(f, signed, a), absolute(f, signed, b)
    return outlined(f, "gcd", [a, b], _binary_gcd, a.type)


def lcm(f: Function, signed: bool, a: V, b: V) -> V:
    a, b = absolute(f, signed, a), absolute(f, signed, b)
    divisor = outlined(f, "gcd", [a, b], _binary_gcd, a.type)
    return f.mul(quotient(f, False, a, divisor), b)


def _binary_gcd(f: Function, a: V, b: V) -> V:
    """Stein's algorithm: subtract odd numbers, shift out twos. No division, all lanes at once."""
    twos = _trailing_zeros(f, f.or_(a, b))
    none = f.icmp("eq", a, _zero(f, a))
    start = [_odd_part(f, f.select(none, b, a)), f.select(none, _zero(f, b), b)]

    def step(f: Function, u: V, v: V) -> list[V]:
        v = _odd_part(f, v)
        small, large = f.intrinsic("umin", u, v), f.intrinsic("umax", u, v)
        done = f.icmp("eq", v, _zero(f, v))
        return [f.select(done, u, small), f.select(done, v, f.sub(large, small))]

    odd = repeat(f, start, lambda f, u, v: f.icmp("ne", v, _zero(f, v)), step)[0]
    return f.shl(odd, twos)


def _odd_part(f: Function, x: V) -> V:
    return f.lshr(x, _trailing_zeros(f, x))


def _trailing_zeros(f: Function, x: V) -> V:
    """At most the width less one, which zero may be shifted by."""
    count = f.intrinsic("cttz", x, extra="i1 false")
    return f.intrinsic("umin", count, f.const(x.type, x.type.bytes * 8 - 1))


# --- bits ---------------------------------------------------------------------------------------


def left_shift(f: Function, signed: bool, a: V, b: V) -> V:
    inside = f.icmp("ult", b, f.const(b.type, b.type.bytes * 8))
    return f.select(inside, f.shl(a, b), _zero(f, a))


def right_shift(f: Function, signed: bool, a: V, b: V) -> V:
    last = f.const(b.type, b.type.bytes * 8 - 1)
    if signed:
        return f.ashr(a, f.intrinsic("umin", b, last))
    return f.select(f.icmp("ule", b, last), f.lshr(a, b), _zero(f, a))


def bitwise_count(f: Function, signed: bool, x: V) -> V:
    """The ones of the absolute value, as uint8."""
    ones = f.intrinsic("ctpop", absolute(f, signed, x))
    return f.convert("trunc", ones, I8.of(x.type.lanes)) if x.type.bytes > 1 else ones
