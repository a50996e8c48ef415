"""Elementwise ops: arithmetic, exponentials, trigonometry, rounding, comparison, logic, bits.

Each is one call: name, NumPy ufunc, partial derivatives, lowerings, samples.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphify.ir.op import Op, defop
from graphify.ir.promotion import result_type
from graphify.ir.tensor import Tensor
from graphify.ir.types import BOOL, DType, Spec, is_complex, is_integer, real_dtype
from graphify.ir.wrapping import as_tensor
from graphify.ops import core
from graphify.ops.mixed import division, powers, reciprocals
from graphify.ops.rules import (
    align,
    booleans,
    both,
    elementwise,
    numbers,
    operand,
    reals,
)

LN2, LN10 = float(np.log(2.0)), float(np.log(10.0))
PI = float(np.pi)
complexes = reals(-2, 2, 1, "FD")
INTS = "bhilBHIL"  # for ops with kinks and ties, where floats would have no derivative to compare

# --- arithmetic --------------------------------------------------------------------------------

add: Op = elementwise("add", np.add, [1, 1], weak=True, tf="math.add", sample=numbers(2))
subtract: Op = elementwise(
    "subtract", np.subtract, [1, -1], weak=True, tf="math.subtract", sample=numbers(2)
)
multiply: Op = elementwise(
    "multiply",
    np.multiply,
    [lambda y, a, b: b, lambda y, a, b: a],
    weak=True,
    tf="math.multiply",
    sample=both(numbers(2), reals(-2, 2, 2, "FD")),
)
divide: Op = elementwise(
    "divide",
    np.divide,
    [lambda y, a, b: 1 / b, lambda y, a, b: -a / (b * b)],
    weak=True,
    tf="divide",
    sample=reals(0.5, 3, 2, "fdD"),
)
negative: Op = elementwise(
    "negative", np.negative, [-1], weak=True, tf="math.negative", sample=numbers()
)
positive: Op = elementwise("positive", np.positive, [1], weak=True, tf="identity", sample=numbers())
floor_divide: Op = elementwise(
    "floor_divide",
    np.floor_divide,
    weak=True,
    convert=division(np.floor_divide),
    tf="floor_divide",
    sample=both(numbers(2), reals(-9, 9, 2)),
)
remainder: Op = elementwise(
    "remainder",
    np.remainder,
    [1, lambda y, a, b: -floor_divide(a, b)],
    weak=True,
    convert=division(np.remainder),
    tf="remainder",
    sample=both(numbers(2, dtypes=INTS), reals(1, 4, 2)),
)
fmod: Op = elementwise(
    "fmod",
    np.fmod,
    [1, lambda y, a, b: -trunc(a / b)],
    convert=division(np.fmod),
    tf="fmod",
    sample=both(numbers(2, dtypes=INTS), reals(1, 4, 2)),
)
power: Op = elementwise(
    "power",
    np.power,
    [
        lambda y, a, b: b * power(a, where(equal(b, 0), 1, b) - 1),
        lambda y, a, b: y * log(where(equal(a, 0), 1, a)),
    ],
    weak=True,
    convert=powers(np.power),
    tf="power",
    sample=both(reals(0.3, 2, 2, "fdD"), numbers(2, 0, 4, "ilIL")),
)
float_power: Op = elementwise(
    "float_power",
    np.float_power,
    [
        lambda y, a, b: b * float_power(a, where(equal(b, 0), 1, b) - 1),
        lambda y, a, b: y * log(where(equal(a, 0), 1, a)),
    ],
    tf="math.pow",
    sample=reals(0.3, 2, 2, "dD"),
)
square: Op = elementwise(
    "square", np.square, [lambda y, x: 2 * x], tf="math.square", sample=both(numbers(), complexes)
)
reciprocal: Op = elementwise(
    "reciprocal",
    np.reciprocal,
    [lambda y, x: -y * y],
    convert=reciprocals(np.reciprocal),
    tf="reciprocal",
    sample=reals(0.5, 3, 1, "fdD"),
)


def _direction(y: Tensor, x: Tensor) -> Any:
    """x / |x|, 0 at 0. The sign of a complex number has derivatives of its own."""
    return x / where(equal(y, 0), 1, y) if is_complex(x.dtype) else sign(x)


def _absolute_jvp(t: Any, y: Tensor, x: Tensor) -> Any:
    # Not holomorphic: along a tangent t, |x| grows by the real part of t * conj(x / |x|).
    return real(t * conjugate(_direction(y, x))) if is_complex(x.dtype) else t * sign(x)


absolute: Op = elementwise(
    "absolute",
    np.absolute,
    [lambda y, x: sign(x)],
    vjp=lambda g, y, x, **options: [g * _direction(y, x)],
    jvp=lambda ts, y, x: _absolute_jvp(ts[0], y, x),
    weak=True,
    tf="math.abs",
    sample=both(numbers(dtypes=INTS), reals(-3, 3), complexes),
)
fabs: Op = elementwise("fabs", np.fabs, [lambda y, x: sign(x)], tf="math.abs", sample=reals(-2, 2))
sign: Op = elementwise("sign", np.sign, tf="math.sign", sample=numbers())
heaviside: Op = elementwise("heaviside", np.heaviside, tf="heaviside", sample=reals(-2, 2, 2))

# --- exponentials and logarithms ---------------------------------------------------------------

exp: Op = elementwise("exp", np.exp, [lambda y, x: y], tf="math.exp", sample=reals(-3, 3, 1, "fdD"))
exp2: Op = elementwise("exp2", np.exp2, [lambda y, x: LN2 * y], tf="exp2", sample=reals(-3, 3))
expm1: Op = elementwise(
    "expm1", np.expm1, [lambda y, x: y + 1], tf="math.expm1", sample=reals(-3, 3)
)
log: Op = elementwise(
    "log", np.log, [lambda y, x: 1 / x], tf="math.log", sample=reals(0.1, 5, 1, "fdD")
)
log2: Op = elementwise(
    "log2", np.log2, [lambda y, x: 1 / (LN2 * x)], tf="log2", sample=reals(0.1, 5)
)
log10: Op = elementwise(
    "log10", np.log10, [lambda y, x: 1 / (LN10 * x)], tf="log10", sample=reals(0.1, 5)
)
log1p: Op = elementwise(
    "log1p", np.log1p, [lambda y, x: 1 / (1 + x)], tf="math.log1p", sample=reals(-0.9, 3)
)
sqrt: Op = elementwise(
    "sqrt", np.sqrt, [lambda y, x: 0.5 / y], tf="math.sqrt", sample=reals(0.1, 5, 1, "fdD")
)
cbrt: Op = elementwise(
    "cbrt", np.cbrt, [lambda y, x: 1 / (3 * y * y)], tf="cbrt", sample=reals(0.1, 5)
)
logaddexp: Op = elementwise(
    "logaddexp",
    np.logaddexp,
    [lambda y, a, b: exp(a - y), lambda y, a, b: exp(b - y)],
    tf="logaddexp",
    sample=reals(-3, 3, 2),
)
logaddexp2: Op = elementwise(
    "logaddexp2",
    np.logaddexp2,
    [lambda y, a, b: exp2(a - y), lambda y, a, b: exp2(b - y)],
    tf="logaddexp2",
    sample=reals(-3, 3, 2),
)

# --- trigonometry ------------------------------------------------------------------------------

sin: Op = elementwise(
    "sin", np.sin, [lambda y, x: cos(x)], tf="math.sin", sample=reals(-3, 3, 1, "fdD")
)
cos: Op = elementwise(
    "cos", np.cos, [lambda y, x: -sin(x)], tf="math.cos", sample=reals(-3, 3, 1, "fdD")
)
tan: Op = elementwise("tan", np.tan, [lambda y, x: 1 + y * y], tf="math.tan", sample=reals(-1, 1))
arcsin: Op = elementwise(
    "arcsin", np.arcsin, [lambda y, x: 1 / sqrt(1 - x * x)], tf="math.asin", sample=reals(-0.9, 0.9)
)
arccos: Op = elementwise(
    "arccos",
    np.arccos,
    [lambda y, x: -1 / sqrt(1 - x * x)],
    tf="math.acos",
    sample=reals(-0.9, 0.9),
)
arctan: Op = elementwise(
    "arctan", np.arctan, [lambda y, x: 1 / (1 + x * x)], tf="math.atan", sample=reals(-3, 3)
)
arctan2: Op = elementwise(
    "arctan2",
    np.arctan2,
    [lambda y, a, b: b / (a * a + b * b), lambda y, a, b: -a / (a * a + b * b)],
    tf="math.atan2",
    sample=reals(0.5, 3, 2),
)
hypot: Op = elementwise(
    "hypot",
    np.hypot,
    [lambda y, a, b: a / y, lambda y, a, b: b / y],
    tf="hypot",
    sample=reals(0.5, 3, 2),
)
sinh: Op = elementwise("sinh", np.sinh, [lambda y, x: cosh(x)], tf="math.sinh", sample=reals(-3, 3))
cosh: Op = elementwise("cosh", np.cosh, [lambda y, x: sinh(x)], tf="math.cosh", sample=reals(-3, 3))
tanh: Op = elementwise(
    "tanh", np.tanh, [lambda y, x: 1 - y * y], tf="math.tanh", sample=reals(-3, 3, 1, "fdD")
)
arcsinh: Op = elementwise(
    "arcsinh", np.arcsinh, [lambda y, x: 1 / sqrt(x * x + 1)], tf="math.asinh", sample=reals(-3, 3)
)
arccosh: Op = elementwise(
    "arccosh", np.arccosh, [lambda y, x: 1 / sqrt(x * x - 1)], tf="math.acosh", sample=reals(1.1, 3)
)
arctanh: Op = elementwise(
    "arctanh", np.arctanh, [lambda y, x: 1 / (1 - x * x)], tf="math.atanh", sample=reals(-0.9, 0.9)
)
deg2rad: Op = elementwise(
    "deg2rad", np.deg2rad, [lambda y, x: PI / 180], tf="deg2rad", sample=reals(-90, 90)
)
rad2deg: Op = elementwise(
    "rad2deg", np.rad2deg, [lambda y, x: 180 / PI], tf="rad2deg", sample=reals(-3, 3)
)

# --- rounding and parts ------------------------------------------------------------------------

floor: Op = elementwise("floor", np.floor, tf="math.floor", sample=reals(-3, 3))
ceil: Op = elementwise("ceil", np.ceil, tf="math.ceil", sample=reals(-3, 3))
trunc: Op = elementwise("trunc", np.trunc, tf="trunc", sample=reals(-3, 3))
rint: Op = elementwise("rint", np.rint, tf="math.rint", sample=reals(-3, 3))
copysign: Op = elementwise(
    "copysign",
    np.copysign,
    [lambda y, a, b: sign(a) * sign(y), None],
    tf="copysign",
    sample=reals(-3, 3, 2),
)
nextafter: Op = elementwise("nextafter", np.nextafter, tf="nextafter", sample=reals(-3, 3, 2))
spacing: Op = elementwise("spacing", np.spacing, tf="spacing", sample=reals(0.5, 3))
conjugate: Op = elementwise(
    "conjugate",
    np.conjugate,
    [lambda y, x: 1],
    vjp=lambda g, y, x, **options: [conjugate(g)],
    jvp=lambda ts, y, x: conjugate(ts[0]),
    tf="math.conj",
    sample=both(numbers(), reals(-2, 2), complexes),
)


def _with_exponents() -> Any:
    x = np.random.default_rng(0).uniform(-3, 3, (3, 4))
    return [((x.astype(d), np.array([-2, 0, 1, 3], np.int32)), {}) for d in "fd"]


ldexp: Op = elementwise(
    "ldexp",
    np.ldexp,
    [lambda y, x, k: ldexp(core.ones_like(x), k), None],
    tf="ldexp",
    sample=_with_exponents,
)
frexp: Op = elementwise(
    "frexp",
    np.frexp,
    vjp=lambda g, y, x, **options: [ldexp(g[0], negative(y[1]))],
    jvp=lambda ts, y, x: (ldexp(ts[0], negative(y[1])), None),
    tf="frexp",
    sample=reals(-9, 9),
)

# --- choice ------------------------------------------------------------------------------------


def _winner(y: Tensor, chosen: Tensor, other: Tensor) -> Any:
    """1 where this operand is the result, 1/2 at ties, 0 elsewhere."""
    wins = core.cast(equal(chosen, y), dtype=real_dtype(y.dtype))
    ties = core.cast(equal(chosen, other), dtype=real_dtype(y.dtype))
    return wins * (1 - 0.5 * ties)


_CHOICES = both(numbers(2, dtypes=INTS), reals(-3, 3, 2))
_CHOICE = [lambda y, a, b: _winner(y, a, b), lambda y, a, b: _winner(y, b, a)]
maximum: Op = elementwise("maximum", np.maximum, _CHOICE, tf="maximum", sample=_CHOICES)
minimum: Op = elementwise("minimum", np.minimum, _CHOICE, tf="minimum", sample=_CHOICES)
fmax: Op = elementwise("fmax", np.fmax, _CHOICE, tf="fmax", sample=_CHOICES)
fmin: Op = elementwise("fmin", np.fmin, _CHOICE, tf="fmin", sample=_CHOICES)


def _where_convert(condition: Any, a: Any, b: Any) -> list[Tensor]:
    c, x, y = as_tensor(condition), as_tensor(a), as_tensor(b)
    dtype = result_type(operand(x), operand(y))
    c = c if c.dtype == BOOL else not_equal(c, 0)
    if x.spec.weak and y.spec.weak:
        return [
            c,
            *(t if t.dtype == dtype else core.cast(t, dtype=dtype, weak=True) for t in (x, y)),
        ]
    return [c, _as_choice(x, dtype), _as_choice(y, dtype)]


def _as_choice(x: Tensor, dtype: DType) -> Tensor:
    """An operand of where in the result's dtype: in NumPy, too, Python integers wrap here."""
    if x.spec.weak and is_integer(x.dtype) and is_integer(dtype):
        return core.cast(x, dtype=dtype)
    return core.to_dtype(x, dtype)


def _where_spec(c: Spec, x: Spec, y: Spec) -> Spec:
    return Spec(core.broadcast_shapes(c.shape, x.shape, y.shape), x.dtype)


def _where_vjp(g: Tensor, out: Tensor, c: Tensor, x: Tensor, y: Tensor) -> list[Tensor | None]:
    zero = core.zeros_like(g)
    return [None, core.unbroadcast(where(c, g, zero), x), core.unbroadcast(where(c, zero, g), y)]


def _where_jvp(ts: Any, out: Tensor, c: Tensor, x: Tensor, y: Tensor) -> Tensor:
    tx = core.zeros_like(x) if ts[1] is None else ts[1]
    ty = core.zeros_like(y) if ts[2] is None else ts[2]
    return core.like(where(c, tx, ty), out)


def _where_vmap(args: Any, batched: Any) -> Tensor:
    rank = max(a.ndim - b for a, b in zip(args, batched, strict=True))
    return where(*(align(a, rank) if b else a for a, b in zip(args, batched, strict=True)))


def _where_samples() -> Any:
    c = np.array([[True, False, True]])
    return [
        ((c, np.arange(6.0).reshape(2, 3).astype(d), np.array(9).astype(d)), {}) for d in "?ilfdD"
    ]


where: Op = defop(
    "where",
    spec=_where_spec,
    eval=np.where,
    convert=_where_convert,
    vjp=_where_vjp,
    jvp=_where_jvp,
    vmap=_where_vmap,
    tf="where",
    sample=_where_samples,
    extra={"elementwise": True},
    doc="numpy.where with three arguments: elements of the second where true, else of the third",
)

# --- comparison and logic ----------------------------------------------------------------------

_equality = both(numbers(2), reals(-2, 2, 2, "FD"))
equal: Op = elementwise("equal", np.equal, weak=True, tf="math.equal", sample=_equality)
not_equal: Op = elementwise(
    "not_equal", np.not_equal, weak=True, tf="math.not_equal", sample=_equality
)
less: Op = elementwise("less", np.less, weak=True, tf="math.less", sample=numbers(2))
less_equal: Op = elementwise(
    "less_equal", np.less_equal, weak=True, tf="math.less_equal", sample=numbers(2)
)
greater: Op = elementwise("greater", np.greater, weak=True, tf="math.greater", sample=numbers(2))
greater_equal: Op = elementwise(
    "greater_equal", np.greater_equal, weak=True, tf="math.greater_equal", sample=numbers(2)
)
_logic = both(booleans(2), numbers(2, -1, 2, "if"))
logical_and: Op = elementwise("logical_and", np.logical_and, tf="logical_and", sample=_logic)
logical_or: Op = elementwise("logical_or", np.logical_or, tf="logical_or", sample=_logic)
logical_xor: Op = elementwise("logical_xor", np.logical_xor, tf="logical_xor", sample=_logic)
logical_not: Op = elementwise(
    "logical_not",
    np.logical_not,
    weak=True,
    tf="logical_not",
    sample=both(booleans(), numbers(1, -1, 2, "if")),
)


def _special() -> Any:
    values = np.array([1.0, np.nan, np.inf, -np.inf, -0.0])
    return [((values.astype(d),), {}) for d in "fd"]


isnan: Op = elementwise("isnan", np.isnan, tf="math.is_nan", sample=_special)
isinf: Op = elementwise("isinf", np.isinf, tf="math.is_inf", sample=_special)
isfinite: Op = elementwise("isfinite", np.isfinite, tf="math.is_finite", sample=_special)
signbit: Op = elementwise("signbit", np.signbit, tf="signbit", sample=_special)

# --- bits and integers -------------------------------------------------------------------------

_ints = "bhilBHIL"
_bits = both(booleans(2), numbers(2, -4, 5, _ints))
bitwise_and: Op = elementwise(
    "bitwise_and", np.bitwise_and, weak=True, tf="bitwise_and", sample=_bits
)
bitwise_or: Op = elementwise("bitwise_or", np.bitwise_or, weak=True, tf="bitwise_or", sample=_bits)
bitwise_xor: Op = elementwise(
    "bitwise_xor", np.bitwise_xor, weak=True, tf="bitwise_xor", sample=_bits
)
invert: Op = elementwise(
    "invert", np.invert, weak=True, tf="invert", sample=both(booleans(), numbers(1, -4, 5, _ints))
)
left_shift: Op = elementwise(
    "left_shift", np.left_shift, weak=True, tf="left_shift", sample=numbers(2, 0, 5, _ints)
)
right_shift: Op = elementwise(
    "right_shift", np.right_shift, weak=True, tf="right_shift", sample=numbers(2, 0, 5, _ints)
)
bitwise_count: Op = elementwise(
    "bitwise_count", np.bitwise_count, tf="bitwise_count", sample=numbers(1, -9, 9, _ints)
)
gcd: Op = elementwise("gcd", np.gcd, tf="gcd", sample=numbers(2, 0, 30, "ilIL"))
lcm: Op = elementwise("lcm", np.lcm, tf="lcm", sample=numbers(2, 0, 30, "ilIL"))

# --- real and imaginary parts ------------------------------------------------------------------


def _part_spec(x: Spec) -> Spec:
    return Spec(x.shape, real_dtype(x.dtype))


def _complex_of(re: Tensor, im: Tensor) -> Tensor:
    return make_complex(re, im)


real: Op = defop(
    "real",
    spec=_part_spec,
    eval=lambda x: np.real(x),
    vjp=lambda g, y, x: [_complex_of(g, core.zeros_like(g)) if is_complex(x.dtype) else g],
    jvp=lambda ts, y, x: real(ts[0]),
    vmap=lambda args, batched: real(args[0]),
    put=lambda base, new: make_complex(new, imag(base)) if is_complex(base.dtype) else new,
    tf="math.real",
    sample=both(complexes, reals(-2, 2)),
    extra={"elementwise": True},
    doc="numpy.real",
)
imag: Op = defop(
    "imag",
    spec=_part_spec,
    eval=lambda x: np.imag(x),
    vjp=lambda g, y, x: [
        _complex_of(core.zeros_like(g), g) if is_complex(x.dtype) else core.zeros_like(g)
    ],
    jvp=lambda ts, y, x: imag(ts[0]),
    vmap=lambda args, batched: imag(args[0]),
    put=lambda base, new: make_complex(real(base), new),
    tf="imag",
    sample=both(complexes, reals(-2, 2)),
    extra={"elementwise": True},
    doc="numpy.imag",
)


def _make_complex_spec(re: Spec, im: Spec) -> Spec:
    dtype = np.dtype(np.complex64 if re.dtype == np.float32 else np.complex128)
    return Spec(core.broadcast_shapes(re.shape, im.shape), dtype)


def _make_complex_eval(re: Any, im: Any) -> Any:
    re, im = np.broadcast_arrays(re, im)
    out = np.empty(re.shape, np.complex64 if re.dtype == np.float32 else np.complex128)
    out.real, out.imag = re, im
    return out


make_complex: Op = defop(
    "complex",
    spec=_make_complex_spec,
    eval=_make_complex_eval,
    vjp=lambda g, y, re, im: [core.unbroadcast(real(g), re), core.unbroadcast(imag(g), im)],
    jvp=lambda ts, y, re, im: core.like(
        make_complex(
            *(core.zeros_like(x) if t is None else t for t, x in zip(ts, (re, im), strict=True))
        ),
        y,
    ),
    vmap=lambda args, batched: make_complex(
        *(
            align(a, max(x.ndim - z for x, z in zip(args, batched, strict=True))) if b else a
            for a, b in zip(args, batched, strict=True)
        )
    ),
    tf="complex",
    sample=reals(-2, 2, 2),
    extra={"elementwise": True},
    doc="a complex array of real and imaginary parts",
)
