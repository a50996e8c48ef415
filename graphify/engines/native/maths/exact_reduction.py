"""x modulo pi/2 for huge x, by integer arithmetic with as many digits of 2/pi as matter.

x = M 2^k with an integer M of 53 bits. Of the bits of 2/pi, those whose product with M 2^k is a
multiple of 4 change nothing; the 192 bits after them give x 2/pi modulo 4 with 137 correct bits
behind the binary point, and no double is closer than 2^-62 to a multiple of pi/2.
Source: M. Payne and R. Hanek, Radian reduction for trigonometric functions, 1983.
"""

from __future__ import annotations

import functools
import itertools

from graphify.engines.native.llvm import F64, I64, Type
from graphify.engines.native.maths import coefficients as c
from graphify.engines.native.maths.formula import X, ordered_total, product

I128 = Type("i128")
WORDS = 21  # 64 zeros for small k, 1,024 bits for the largest, and the 192 that are used
GUARD = 64


def exactly_reduced(a: X) -> tuple[X, X, X]:
    """(q, r, rest): a = q pi/2 + r + rest modulo 2 pi, for one finite double a >= 2^16."""
    bits = a.bits()
    mantissa = (bits & (2**52 - 1)) | 2**52
    start = (bits >> 52) - (1075 + 2 - GUARD)
    turns = _product_modulo_4(mantissa, start)  # 126 bits behind the point
    q = (turns + 2**125).unsigned_shift(126)
    high, low = _in_two_doubles(turns - (q << 126))
    first, second, _ = c.HALF_PI["double"]
    r, error = product(high, high.of(first))
    r, rest = ordered_total(r, error + (high * second + low * first))
    return q.convert("trunc", I64), r, rest


def _product_modulo_4(mantissa: X, start: X) -> X:
    """The top 128 of the 192 low bits of the mantissa times the bits of 2/pi from `start` on."""
    f = mantissa.f
    table = X(f, f.module.constant_bytes("maths.two_over_pi", two_over_pi()))
    word, shift = start >> 6, start & 63
    words = [X(f, f.load(I64, f.at(table.v, I64, (word + i).v))) for i in range(4)]
    m = mantissa.convert("zext", I128)
    w0, w1, w2 = (
        X(f, f.intrinsic("fshl", high.v, low.v, shift.v)).convert("zext", I128)
        for high, low in itertools.pairwise(words)
    )
    return (m * w2).unsigned_shift(64) + m * w1 + ((m * w0) << 64)


def _in_two_doubles(n: X) -> tuple[X, X]:
    """n 2^-126 for a signed i128 n, as a sum."""
    negative = n < 0
    size = (-n).where(negative, n)
    zeros = size.intrinsic("ctlz", extra="i1 false")
    top = size << zeros
    high = top.unsigned_shift(75).convert("trunc", I64).convert("sitofp", F64)
    low = (top << 53).unsigned_shift(75).convert("trunc", I64).convert("sitofp", F64)
    exponent = zeros.convert("trunc", I64)
    scale = ((1023 - 126 + 75 - exponent) << 52).floating()
    scale = (-scale).where(negative, scale)
    return high * scale, low * scale * 2.0**-53


@functools.cache
def two_over_pi() -> bytes:
    """GUARD zeros and then the binary digits of 2/pi, in words of 64 bits."""
    digits = 64 * WORDS - GUARD
    spare = 64
    number = (2 << 2 * (digits + spare)) // _pi(digits + spare) >> spare
    words = [number >> 64 * i & (2**64 - 1) for i in reversed(range(WORDS))]
    return b"".join(word.to_bytes(8, "little") for word in words)


def _pi(bits: int) -> int:
    """pi 2^bits: 16 atan(1/5) - 4 atan(1/239) (Machin)."""
    one = 1 << bits + 16
    return (16 * _inverse_tangent(5, one) - 4 * _inverse_tangent(239, one)) >> 16


def _inverse_tangent(n: int, one: int) -> int:
    """atan(1/n) in units of 1 / one."""
    term, total, k = one // n, 0, 1
    while term:
        total += term // k if k % 4 == 1 else -(term // k)
        term //= n * n
        k += 2
    return total
