"""Arithmetic of complex numbers, operation by operation as NumPy does it.

Division is Smith's, the product has no special care for infinities, and is fused where NumPy fuses
it (on CPUs with multiply-add). A `Z` is a pair of real values of the formulas in `maths`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from graphify.engines.native import maths
from graphify.engines.native.elements import comparison
from graphify.engines.native.elements.element import Element
from graphify.engines.native.elements.rule import Rule
from graphify.engines.native.llvm import Function
from graphify.engines.native.maths.formula import X, mad
from graphify.ir.types import DType

INFINITY, NAN = float("inf"), float("nan")


@dataclass(frozen=True, slots=True)
class Z:
    """A complex value of a function being written."""

    re: X
    im: X

    def where(self, condition: X, other: Z) -> Z:
        """This where the condition holds, elsewhere `other`."""
        return Z(self.re.where(condition, other.re), self.im.where(condition, other.im))


def z_of(f: Function, x: Element) -> Z:
    """A complex element as a Z."""
    return Z(*(X(f, p) for p in x.parts))


def formula(write: Callable[..., Z]) -> Rule:
    """A formula `(*Z) -> Z` as a rule."""

    def on_elements(f: Function, dtype: DType, *args: Element) -> Element:
        z = write(*(z_of(f, a) for a in args))
        return Element(dtype, (z.re.v, z.im.v))

    return on_elements


def real_formula(write: Callable[..., X]) -> Rule:
    """A formula `(*Z) -> X` as a rule."""

    def on_elements(f: Function, dtype: DType, *args: Element) -> Element:
        return Element(dtype, (write(*(z_of(f, a) for a in args)).v,))

    return on_elements


def call(name: str, *args: X) -> X:
    """A function of `maths`."""
    return X(args[0].f, maths.call(args[0].f, name, *(a.v for a in args)))


def copysign(magnitude: float, sign: X) -> X:
    """A number with the sign of a value."""
    return sign.of(magnitude).sign_of(sign)


# --- formulas -----------------------------------------------------------------------------------


def multiply(a: Z, b: Z) -> Z:
    return Z(mad(a.re, b.re, -(a.im * b.im)), mad(a.re, b.im, a.im * b.re))


def plain_multiply(a: Z, b: Z) -> Z:
    """The product that NumPy's power takes: every operation rounded."""
    return Z(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re)


def divide(a: Z, b: Z) -> Z:
    """Smith (1962): by the ratio of the divisor's smaller part to its larger one."""
    first = abs(b.re) >= abs(b.im)
    large, small = b.re.where(first, b.im), b.im.where(first, b.re)
    ratio = small / large
    scale = large.of(1.0) / (large + small * ratio)
    re = (a.re + a.im * ratio).where(first, a.re * ratio + a.im) * scale
    im = (a.im - a.re * ratio).where(first, a.im * ratio - a.re) * scale
    by_zero = large.equals(0.0)
    zero = abs(b.re)
    return Z(a.re / zero, a.im / zero).where(by_zero, Z(re, im))


def reciprocal(z: Z) -> Z:
    first = abs(z.im) <= abs(z.re)
    large, small = z.re.where(first, z.im), z.im.where(first, z.re)
    ratio = small / large
    denominator = large + small * ratio
    one = large.of(1.0)
    return Z(
        one.where(first, ratio) / denominator,
        (-ratio).where(first, -one) / denominator,
    )


def absolute(z: Z) -> X:
    return call("hypot", z.re, z.im)


def sign(z: Z) -> Z:
    """z / |z|; of one infinite part its sign, of two NaN."""
    size = absolute(z)
    by_size = Z(z.re / size, z.im / size)
    across = abs(z.re).equals(INFINITY)
    both = across & abs(z.im).equals(INFINITY)
    zero, nan = size.of(0.0), size.of(NAN)
    # A size that overflowed counts as an infinite imaginary part, as in NumPy.
    unit = Z(copysign(1.0, z.re), zero).where(across, Z(zero, copysign(1.0, z.im)))
    result = unit.where(size.equals(INFINITY), by_size)
    result = Z(zero, zero).where(size.equals(0.0), result)
    return Z(nan, nan).where(both | size.is_nan(), result)


# --- the order of NumPy -------------------------------------------------------------------------


def extreme(name: str, skips_nan: bool) -> Rule:
    """The operand that compares `name` ("ge", "le") with the other in NumPy's order."""
    return comparison.extreme_by_order(name, skips_nan)


def _parts(write: Callable[[X], X]) -> Rule:
    """A formula on each part alone."""
    return formula(lambda z: Z(write(z.re), write(z.im)))


COMPLEXES: dict[str, Rule] = {
    "add": formula(lambda a, b: Z(a.re + b.re, a.im + b.im)),
    "subtract": formula(lambda a, b: Z(a.re - b.re, a.im - b.im)),
    "multiply": formula(multiply),
    "divide": formula(divide),
    "negative": _parts(lambda x: -x),
    "square": formula(lambda z: multiply(z, z)),
    "reciprocal": formula(reciprocal),
    "absolute": real_formula(absolute),
    "conjugate": formula(lambda z: Z(z.re, -z.im)),
    "sign": formula(sign),
    "rint": _parts(lambda x: call("rint", x)),
    "maximum": extreme("ge", False),
    "minimum": extreme("le", False),
    "fmax": extreme("ge", True),
    "fmin": extreme("le", True),
}
