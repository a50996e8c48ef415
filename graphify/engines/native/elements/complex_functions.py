"""Exponentials, logarithms, roots and trigonometry of complex numbers.

All are computed in double: those of complex64 are rounded once at the end. Infinities, NaN, signed
zeros and branch cuts are those of C99's annex G, which NumPy follows.

Sources: Kahan, Branch cuts for complex elementary functions (1987); Hull, Fairgrieve, Tang,
Implementing the complex arcsine and arccosine functions (1997).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from graphify.engines.native.elements.complexes import (
    INFINITY,
    NAN,
    Z,
    call,
    copysign,
    formula,
    z_of,
)
from graphify.engines.native.elements.element import Element
from graphify.engines.native.elements.rule import Rule, outlined
from graphify.engines.native.llvm import F64, VOID, Function, V
from graphify.engines.native.maths.formula import X, join, product, split, total_of
from graphify.ir.types import DType

LN2 = math.log(2.0)


def in_double(name: str) -> Rule:
    """A formula of `FORMULAS` as a rule for both complex dtypes."""

    def on_elements(f: Function, dtype: DType, *args: Element) -> Element:
        zs = [z_of(f, a) for a in args]
        if dtype == np.complex128:
            z = called(name, *zs)
        else:
            wide = called(name, *(Z(z.re.widened(), z.im.widened()) for z in zs))
            z = Z(wide.re.narrowed(), wide.im.narrowed())
        return Element(dtype, (z.re.v, z.im.v))

    return on_elements


def called(name: str, *zs: Z) -> Z:
    """A formula on double pairs: a function of the module's own, called per register of lanes.

    They are long; one copy of each, in lanes that the machine has, keeps modules small.
    """
    x = zs[0].re
    count = x.type.lanes // x.f.module.target.lanes(F64)
    if count < 2:
        return _call_formula(name, zs)
    pieces = [[Z(*p) for p in zip(split(z.re, count), split(z.im, count), strict=True)] for z in zs]
    results = [_call_formula(name, row) for row in zip(*pieces, strict=True)]
    return Z(join([z.re for z in results]), join([z.im for z in results]))


def _call_formula(name: str, zs: Sequence[Z]) -> Z:
    f, type = zs[0].re.f, zs[0].re.type
    outs = [f.alloca(type), f.alloca(type)]

    def write(g: Function, *args: V) -> V:
        parts = [X(g, a) for a in args[:-2]]
        z = FORMULAS[name](*(Z(*pair) for pair in zip(parts[::2], parts[1::2], strict=True)))
        for part, out in zip((z.re, z.im), args[-2:], strict=True):
            g.store(part.v, out)
        return V(VOID, "")

    parts = [part.v for z in zs for part in (z.re, z.im)]
    outlined(f, f"complex_{name}", [*parts, *outs], write, VOID)
    return Z(*(X(f, f.load(type, out)) for out in outs))


def finite(x: X) -> X:
    return abs(x) < INFINITY


def infinite(x: X) -> X:
    return abs(x).equals(INFINITY)


# --- exponentials -------------------------------------------------------------------------------

_LARGE = 700.0  # beyond it (in magnitude) e^x is taken as the product of two equal factors


def _exponential(x: X) -> tuple[X, X]:
    """Two factors of e^x; the second is 1 unless e^x may overflow or lose bits."""
    large = abs(x) > _LARGE
    root = call("exp", (x * 0.5).where(large, x))
    return root, root.where(large, x.of(1.0))


def exp(z: Z) -> Z:
    x, y = z.re, z.im
    first, second = _exponential(x)
    re, im = first * call("cos", y) * second, first * call("sin", y) * second
    wild = ~finite(y)
    vanishing, growing = wild & x.equals(-INFINITY), wild & x.equals(INFINITY)
    re = x.of(0.0).where(vanishing, x.of(INFINITY).where(growing, re))
    im = copysign(0.0, y).where(vanishing, im)
    on_axis = y.equals(0.0)
    return Z(re, y.where(on_axis, im))


def exp2(z: Z) -> Z:
    return exp(Z(z.re * LN2, z.im * LN2))


def _hyperbolics(x: X) -> tuple[X, X, X]:
    """sinh and cosh of x as two factors: (sinh / scale, cosh / scale, scale)."""
    large = abs(x) > _LARGE
    root = call("exp", (abs(x) * 0.5).where(large, x.of(0.0)))
    inner = x.of(1.0).where(large, x)
    half = root * 0.5
    sine = half.sign_of(x).where(large, call("sinh", inner))
    return sine, half.where(large, call("cosh", inner)), root


def sinh(z: Z) -> Z:
    x, y = z.re, z.im
    sine, cosine, scale = _hyperbolics(x)
    re, im = sine * call("cos", y) * scale, cosine * call("sin", y) * scale
    wild = ~finite(y) & (x.equals(0.0) | infinite(x))
    return Z(x.where(wild, re), y.where(y.equals(0.0), im))


def cosh(z: Z) -> Z:
    x, y = z.re, z.im
    sine, cosine, scale = _hyperbolics(x)
    re, im = cosine * call("cos", y) * scale, sine * call("sin", y) * scale
    re = abs(x).where(~finite(y) & infinite(x), re)
    im = x.of(0.0).where(~finite(y) & x.equals(0.0), im)
    turned = y.where(x.is_nan(), y * copysign(1.0, x))
    return Z(re, turned.where(y.equals(0.0), im))


_TANH_IS_ONE = 22.0  # tanh(22) rounds to 1


def tanh(z: Z) -> Z:
    """By sinh and cosh of x: their squares add up without cancelling."""
    x, y = z.re, z.im
    near = abs(x) <= _TANH_IS_ONE
    inner = x.where(near, x.of(1.0))
    sine, cosine = call("sin", y), call("cos", y)
    sh, ch = call("sinh", inner), call("cosh", inner)
    below = sh * sh + cosine * cosine
    tail = call("exp", abs(x) * -2.0) * 4.0
    far = Z(copysign(1.0, x), sine * cosine * tail)
    result = Z(sh * ch / below, sine * cosine / below).where(near, far)
    return _tanh_edges(z, result)


def _tanh_edges(z: Z, result: Z) -> Z:
    x, y = z.re, z.im
    nan = x.of(NAN)
    wild = ~finite(y)
    result = Z(x.where(x.equals(0.0), nan), nan).where(wild, result)
    result = Z(copysign(1.0, x), copysign(0.0, y)).where(wild & infinite(x), result)
    result = Z(x, nan).where(x.is_nan(), result)
    return Z(result.re, y.where(y.equals(0.0), result.im))


# --- logarithms ---------------------------------------------------------------------------------


def _larger_smaller(x: X, y: X) -> tuple[X, X]:
    x, y = abs(x), abs(y)
    return x.where(x > y, y), y.where(x > y, x)


def log_size(x: X, y: X) -> X:
    """log |x + iy|, to the last bits near |z| = 1 and without overflow."""
    large, small = _larger_smaller(x, y)
    huge, tiny = large > 2.0**1000, large < 2.0**-900
    scale = x.of(2.0**-600).where(huge, x.of(2.0**600).where(tiny, x.of(1.0)))
    shift = x.of(600 * LN2).where(huge, x.of(-600 * LN2).where(tiny, x.of(0.0)))
    far = call("log", call("hypot", x * scale, y * scale)) + shift
    near = (large >= 0.35) & (large <= 2.0)
    return _log_near_one(large, small).where(near, far)


def _log_near_one(large: X, small: X) -> X:
    """log1p(large^2 + small^2 - 1) / 2, the argument in twice the precision."""
    (a, a_rest), (b, b_rest) = product(large, large), product(small, small)
    first, first_rest = total_of(a, a.of(-1.0))
    total, rest = total_of(first, b)
    return call("log1p", total + (rest + first_rest + a_rest + b_rest)) * 0.5


def log(z: Z) -> Z:
    return Z(log_size(z.re, z.im), call("arctan2", z.im, z.re))


# --- the square root ----------------------------------------------------------------------------


def sqrt(z: Z) -> Z:
    large, _ = _larger_smaller(z.re, z.im)
    huge, tiny = large > 2.0**1020, large < 2.0**-900
    scale = large.of(0.25).where(huge, large.of(2.0**108).where(tiny, large.of(1.0)))
    back = large.of(2.0).where(huge, large.of(2.0**-54).where(tiny, large.of(1.0)))
    x, y = z.re * scale, z.im * scale
    root = ((abs(x) + call("hypot", x, y)) * 0.5).sqrt()
    other = abs(y) / (root * 2.0)
    right = Z(root, other.sign_of(y))
    left = Z(other, root.sign_of(y))
    result = right.where(x.compare("oge", 0.0), left)
    result = Z(result.re * back, result.im * back)
    return _sqrt_edges(z, result)


def _sqrt_edges(z: Z, result: Z) -> Z:
    x, y = z.re, z.im
    zero = x.equals(0.0) & y.equals(0.0)
    to_right, to_left = x.equals(INFINITY), x.equals(-INFINITY)
    result = Z(x.of(0.0), y).where(zero, result)
    result = Z(x, y.where(y.is_nan(), copysign(0.0, y))).where(to_right, result)
    left = Z(y.where(y.is_nan(), x.of(0.0)), copysign(INFINITY, y))
    result = left.where(to_left, result)
    result = Z(x, x).where(x.is_nan(), result)
    return Z(abs(y), y).where(infinite(y), result)


# --- inverse functions --------------------------------------------------------------------------

_FAR = 2.0**28  # beyond it 1 / z^2 is below the last bit
_FLAT = 2.0**-460  # a y below it would underflow when squared
_CROSSOVER = 0.6417  # arcsin and arccos lose bits above it


def _arcs(z: Z) -> tuple[X, X, X]:
    """arcsin's real part, arccos's and their imaginary part, for |x| and |y|."""
    x, y = abs(z.re), abs(z.im)
    large, _ = _larger_smaller(x, y)
    is_far = ~(large <= _FAR)  # NaN too
    x1, y1 = x.of(0.5).where(is_far, x), x.of(0.5).where(is_far, y)
    sine, cosine = _arc_angles(x1, y1)
    height = _arc_height(x1, y1)
    far_height = log_size(x, y) + LN2
    return (
        call("arctan2", x, y).where(is_far, sine),
        call("arctan2", y, x).where(is_far, cosine),
        far_height.where(is_far, height),
    )


def _distances(x: X, y: X) -> tuple[X, X, X]:
    """From -1, from 1, and half their sum."""
    r, s = call("hypot", x + 1.0, y), call("hypot", x - 1.0, y)
    return r, s, (r + s) * 0.5


def _arc_angles(x: X, y: X) -> tuple[X, X]:
    r, s, a = _distances(x, y)
    ratio = x / a
    inside = x <= 1.0
    plus = a + x
    near = (plus * 0.5 * (y * y / (r + (x + 1.0)) + (s + (x.of(1.0) - x)))).sqrt()
    beyond = (plus / (r + (x + 1.0)) + plus / (s + (x - 1.0))) * 0.5
    across = near.where(inside, y * beyond.sqrt())
    direct = ratio <= _CROSSOVER
    sine = call("arcsin", ratio).where(direct, call("arctan2", x, across))
    cosine = call("arccos", ratio).where(direct, call("arctan2", across, x))
    return sine, cosine


def _arc_height(x: X, y: X) -> X:
    r, s, a = _distances(x, y)
    one = x.of(1.0)
    square = y * y
    left = square / (r + (x + 1.0))
    right = (square / (s + (one - x))).where(x < 1.0, s + (x - 1.0))
    above = (left + right) * 0.5  # a - 1
    height = call("log1p", above + (above * (a + 1.0)).sqrt())
    height = height.where(a <= 1.5, call("log", a + (a * a - 1.0).sqrt()))
    return _flat_height(x, y).where(y < _FLAT, height)


def _flat_height(x: X, y: X) -> X:
    """Where y squared vanishes."""
    beside = (abs(x - 1.0) * (x + 1.0)).sqrt()
    outside = call("log1p", (x - 1.0) + beside)
    flat = (y / beside).where(x < 1.0, outside)
    return y.sqrt().where(x.equals(1.0), flat)


def arcsin(z: Z) -> Z:
    x, y = z.re, z.im
    sine, _, height = _arcs(z)
    result = Z(sine.sign_of(x), height.sign_of(y))
    result = Z(x, y).where(x.equals(0.0) & y.is_nan(), result)
    nan = x.of(NAN)
    mixed = Z(x + y, copysign(INFINITY, y)).where(infinite(y), Z(nan, copysign(INFINITY, y)))
    mixed = mixed.where(infinite(x) | infinite(y), Z(nan, nan))
    unknown = (x.is_nan() | y.is_nan()) & ~x.equals(0.0)
    return mixed.where(unknown, result)


def arccos(z: Z) -> Z:
    x, y = z.re, z.im
    _, cosine, height = _arcs(z)
    behind = x.bits() < 0
    re = (x.of(math.pi) - cosine).where(behind, cosine)
    result = Z(re, height.sign_of(-y))
    nan = x.of(NAN)
    mixed = Z(x.of(math.pi / 2).where(x.equals(0.0), nan), nan)
    mixed = Z(nan, copysign(INFINITY, -y)).where(infinite(x) | infinite(y), mixed)
    return mixed.where(x.is_nan() | y.is_nan(), result)


def arccosh(z: Z) -> Z:
    """i arccos(z) or -i arccos(z), whichever lies on the right."""
    angle = arccos(z)
    return Z(abs(angle.im), angle.re.sign_of(z.im))


def _turned(function: Callable[[Z], Z]) -> Callable[[Z], Z]:
    """-i f(iz) for an odd f that commutes with conjugation: the parts change places."""

    def turned(z: Z) -> Z:
        w = function(Z(z.im, z.re))
        return Z(w.im, w.re)

    return turned


def arctanh(z: Z) -> Z:
    x, y = abs(z.re), abs(z.im)
    large, _ = _larger_smaller(x, y)
    is_far = ~(large <= _FAR)
    x1, y1 = x.of(0.5).where(is_far, x), x.of(0.5).where(is_far, y)
    one = x.of(1.0)
    beside = (one - x1) * (one - x1) + y1 * y1
    re = call("log1p", x1 * 4.0 / beside) * 0.25
    pole = (x.of(LN2) - call("log", y1)) * 0.5
    re = pole.where(x1.equals(1.0) & (y1 < _FLAT), re)
    im = call("arctan2", y1 * 2.0, (one - x1) * (one + x1) - y1 * y1) * 0.5
    size = call("hypot", x * 2.0**-10, y * 2.0**-10)
    far_re = (x * 2.0**-10 / size) / size * 2.0**-10
    far_re = x.of(0.0).where(infinite(x) | infinite(y), far_re)
    far_im = x.of(math.pi / 2)
    nan = x.of(NAN)
    re = far_re.where(is_far, re)
    im = far_im.where(is_far, im)
    unknown = x.is_nan() | y.is_nan()
    re = nan.where(unknown & ~infinite(x) & ~infinite(y) & ~x.equals(0.0), re)
    re = x.of(0.0).where(x.equals(0.0), re)
    im = nan.where(unknown & ~infinite(y), im)
    return Z(re.sign_of(z.re), im.sign_of(z.im))


_TURNED = {"arcsinh": arcsin, "sin": sinh, "tan": tanh, "arctan": arctanh}


def cos(z: Z) -> Z:
    """cosh(iz)."""
    return cosh(Z(-z.im, z.re))


# --- as NumPy composes them, in the dtype itself ------------------------------------------------


def log1p(z: Z) -> Z:
    x = z.re + 1.0
    return Z(call("log", call("hypot", x, z.im)), call("arctan2", z.im, x))


def expm1(z: Z) -> Z:
    x, y = z.re, z.im
    half = call("sin", y * 0.5)
    re = call("expm1", x) * call("cos", y) - half * 2.0 * half
    return Z(re, call("exp", x) * call("sin", y))


def _scaled_log(factor: float) -> Callable[[Z], Z]:
    def scaled(z: Z) -> Z:
        w = log(z)
        return Z(w.re * factor, w.im * factor)

    return scaled


FORMULAS: dict[str, Callable[..., Z]] = {
    "exp": exp,
    "exp2": exp2,
    "log": log,
    "log2": _scaled_log(1 / LN2),
    "log10": _scaled_log(1 / math.log(10.0)),
    "sqrt": sqrt,
    "sinh": sinh,
    "cosh": cosh,
    "tanh": tanh,
    "cos": cos,
    "arcsin": arcsin,
    "arccos": arccos,
    "arccosh": arccosh,
    "arctanh": arctanh,
    **{name: _turned(function) for name, function in _TURNED.items()},
}
FUNCTIONS: dict[str, Rule] = {
    **{name: in_double(name) for name in FORMULAS},
    "expm1": formula(expm1),
    "log1p": formula(log1p),
}
