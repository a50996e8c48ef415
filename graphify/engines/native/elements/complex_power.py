"""Complex powers as NumPy takes them: small whole exponents by multiplication, others by logarithm.

(1 + 1j) ** 2 is exactly 2j that way. Exponents -99 to 99 are whole numbers in this sense; 1, 2 and
3 are multiplied out without a leading factor of one, so that infinities survive.
"""

from __future__ import annotations

from graphify.engines.native.elements.complex_calls import called
from graphify.engines.native.elements.complexes import (
    NAN,
    Z,
    divide,
    plain_multiply,
    z_of,
)
from graphify.engines.native.elements.element import Element
from graphify.engines.native.elements.rule import any_lane, outlined, repeat
from graphify.engines.native.llvm import VOID, Function, V
from graphify.engines.native.maths.formula import X
from graphify.ir.types import DType

_LIMIT = 100  # exponents from here on go by the logarithm


def power(f: Function, dtype: DType, a: Element, b: Element) -> Element:
    za, zb = z_of(f, a), z_of(f, b)
    number = b.number
    if number is not None and number.imag == 0 and number.real in (1, 2, 3):
        z = _edges(za, zb, _few(za, int(number.real)))
        return Element(dtype, (z.re.v, z.im.v))
    parts = [*a.parts, *b.parts]
    outs = [f.alloca(p.type) for p in a.parts]
    outlined(f, "complex_power", [*parts, *outs], _write, VOID)
    return Element(dtype, tuple(f.load(p.type, out) for p, out in zip(a.parts, outs, strict=True)))


def _few(a: Z, count: int) -> Z:
    if count == 1:
        return a
    square = plain_multiply(a, a)
    return square if count == 2 else plain_multiply(a, square)


def _write(f: Function, *args: V) -> V:
    """The body: both ways, each only where some lane needs it."""
    a, b = Z(X(f, args[0]), X(f, args[1])), Z(X(f, args[2]), X(f, args[3]))
    whole = _is_whole(b)
    for kind, write in ((whole, _by_multiplication), (~whole, _by_logarithm)):
        with f.when(any_lane(f, kind.v)):
            z = write(a, b)
            for part, out in ((z.re, args[4]), (z.im, args[5])):
                old = X(f, f.load(part.type, out))
                f.store(part.where(kind, old).v, out)
    result = Z(*(X(f, f.load(a.re.type, out)) for out in args[4:]))
    result = _edges(a, b, result)
    f.store(result.re.v, args[4])
    f.store(result.im.v, args[5])
    return V(VOID, "")


def _is_whole(b: Z) -> X:
    small = b.im.equals(0.0) & (abs(b.re) < float(_LIMIT))
    return small & b.re.intrinsic("trunc").equals(b.re)


def _edges(a: Z, b: Z, result: Z) -> Z:
    """Zero exponents give 1; powers of zero are zero, or undefined."""
    zero, one, nan = a.re.of(0.0), a.re.of(1.0), a.re.of(NAN)
    of_zero = a.re.equals(0.0) & a.im.equals(0.0)
    result = Z(zero, zero).where(of_zero & (b.re > 0.0), result)
    result = Z(nan, nan).where(of_zero & ~(b.re > 0.0), result)
    return Z(one, zero).where(b.re.equals(0.0) & b.im.equals(0.0), result)


def _by_multiplication(a: Z, b: Z) -> Z:
    f, type = a.re.f, a.re.type
    # NaN and fractions take the other way: their count here is zero.
    whole = abs(b.re).where(_is_whole(b), a.re.of(0.0))
    count = whole.convert("fptosi", type.like("i32"))
    one, zero = a.re.of(1.0), a.re.of(0.0)

    def step(f: Function, *state: V) -> list[V]:
        rr, ri, pr, pi = (X(f, v) for v in state[:4])
        left = X(f, state[4])
        result, p = Z(rr, ri), Z(pr, pi)
        odd = (left & 1).differs(0)
        result = plain_multiply(result, p).where(odd, result)
        p = plain_multiply(p, p)
        return [result.re.v, result.im.v, p.re.v, p.im.v, (left >> 1).v]

    start = [one.v, zero.v, a.re.v, a.im.v, count.v]
    done = repeat(f, start, lambda f, *s: X(f, s[4]).differs(0).v, step)
    result = Z(X(f, done[0]), X(f, done[1]))
    for few in (1, 2, 3):
        result = _few(a, few).where(count.equals(few), result)
    return divide(Z(one, zero), result).where(b.re < 0.0, result)


def _by_logarithm(a: Z, b: Z) -> Z:
    single = a.re.type.scalar == "float"
    if single:
        a, b = (Z(z.re.widened(), z.im.widened()) for z in (a, b))
    z = called("exp", plain_multiply(b, called("log", a)))
    return Z(z.re.narrowed(), z.im.narrowed()) if single else z
