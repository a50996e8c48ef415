"""tf.math, element by element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphify.ir.tensor import Tensor
from graphify.ops import core, effects, special
from graphify.ops.elementwise import make_complex
from graphify.tensorflow.values import ANY, dtype_of, gnp, nn, only, same, table, tensor


def _not_zero(y: Tensor) -> Tensor:
    """A divisor: TensorFlow raises where an integer is divided by zero.

    Raises:
        InvalidArgumentError: when the run gets there.
    """
    if y.dtype.kind in "iu":
        effects.check(
            y,
            core.full((), 0, y.dtype),
            comparison="none_equal",
            message="division by zero",
        )
    return y


def _divide(x: Tensor, y: Tensor) -> Any:
    """Integers are divided as floats: of 32 bits where they have up to 16, of 64 beyond."""
    if x.dtype.kind in "iu":
        wide = np.dtype(np.float32 if x.dtype.itemsize < 4 else np.float64)
        x, y = core.cast(x, dtype=wide), core.cast(y, dtype=wide)
    return gnp.divide(x, y)


def _floor_divide(x: Tensor, y: Tensor) -> Any:
    if x.dtype.kind in "iu":
        return gnp.floor_divide(x, _not_zero(y))
    return gnp.floor(gnp.divide(x, y))


def _truncate_divide(x: Tensor, y: Tensor) -> Any:
    if x.dtype.kind not in "iu":
        return gnp.trunc(gnp.divide(x, y))
    quotient = gnp.floor_divide(x, _not_zero(y))
    return quotient + gnp.astype((quotient < 0) & (quotient * y != x), x.dtype)


def _unless_zero(y: Tensor, value: Callable[[Tensor], Tensor]) -> Any:
    """A function of y where y is not 0, and 0 there; so are the derivatives."""
    zero = gnp.equal(y, 0)
    result = value(gnp.where(zero, gnp.ones_like(y), y))
    return gnp.where(zero, gnp.zeros_like(result), result)


def _times_of(function: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    """x * function(y), 0 where x is, whatever y."""

    def times(x: Any, y: Any) -> Any:
        zero = gnp.equal(x, 0)
        product = x * function(gnp.where(zero, gnp.ones_like(y), y))
        return gnp.where(zero, gnp.zeros_like(product), product)

    return times


def _times(x: Tensor, y: Tensor) -> Any:
    """x * y, 0 where y is, whatever x."""
    zero = gnp.equal(y, 0)
    return gnp.where(zero, gnp.zeros_like(y), gnp.where(zero, gnp.zeros_like(x), x) * y)


def _clip(x: Any, low: Any, high: Any) -> Any:
    x, low, high = same("fiu", x, low, high)
    return gnp.where(gnp.less(x, low), low, gnp.where(gnp.greater(x, high), high, x))


def _erf(function: Any) -> Callable[[Tensor], Tensor]:
    # The error function of TensorFlow's runtime is nan for what is very large.
    return lambda x: function(gnp.clip(x, *(core.full((), n, x.dtype) for n in (-30, 30))))


def _angle(x: Tensor) -> Tensor:
    return core.cast(gnp.angle(x), dtype=gnp.real(x).dtype)


def _cast(x: Any, dtype: Any) -> Tensor:
    value = core.strong(tensor(x))
    wanted = dtype_of(dtype)
    if value.dtype.kind == "c" and wanted.kind not in "cb":
        value = gnp.real(value)
    return core.cast(value, dtype=wanted)


def _add_n(inputs: Any) -> Tensor:
    first, *rest = same("fiuc", *(inputs if isinstance(inputs, (list, tuple)) else [inputs]))
    for other in rest:
        first = first + other
    return first


def _scalar_mul(scalar: Any, x: Any) -> Any:
    return gnp.multiply(*same("fiuc", scalar, x))


def _complex(real: Any, imag: Any) -> Tensor:
    return make_complex(*same("f", real, imag))


OPS: dict[str, Callable[..., Any]] = {
    **table(
        "fc",
        {
            "math.acos": gnp.arccos,
            "math.acosh": gnp.arccosh,
            "math.asin": gnp.arcsin,
            "math.asinh": gnp.arcsinh,
            "math.atan": gnp.arctan,
            "math.atanh": gnp.arctanh,
            "math.cos": gnp.cos,
            "math.cosh": gnp.cosh,
            "math.exp": gnp.exp,
            "math.expm1": gnp.expm1,
            "math.log": gnp.log,
            "math.log1p": gnp.log1p,
            "math.reciprocal": lambda x: gnp.divide(gnp.ones_like(x), x),
            "math.reciprocal_no_nan": lambda x: _unless_zero(x, lambda y: 1 / y),
            "math.rsqrt": lambda x: gnp.divide(gnp.ones_like(x), gnp.sqrt(x)),
            "math.sin": gnp.sin,
            "math.sinh": gnp.sinh,
            "math.sqrt": gnp.sqrt,
            "math.tan": gnp.tan,
            "math.tanh": gnp.tanh,
            "math.divide_no_nan": lambda x, y: _unless_zero(y, lambda d: x / d),
            "math.multiply_no_nan": _times,
            "realdiv": gnp.divide,
            "math.xdivy": _times_of(lambda y: 1 / y),
            "math.xlogy": _times_of(gnp.log),
            "math.xlog1py": _times_of(gnp.log1p),
        },
    ),
    **table(
        "f",
        {
            "math.atan2": gnp.arctan2,
            "math.ceil": gnp.ceil,
            "math.erf": _erf(special.erf),
            "math.erfc": _erf(special.erfc),
            "math.floor": gnp.floor,
            "math.is_finite": gnp.isfinite,
            "math.is_inf": gnp.isinf,
            "math.is_nan": gnp.isnan,
            "math.log_sigmoid": lambda x: -nn.softplus(-x),
            "math.rint": gnp.rint,
        },
    ),
    **table(
        "fiuc",
        {
            "math.add": gnp.add,
            "math.divide": _divide,
            "math.multiply": gnp.multiply,
            "math.pow": gnp.power,
            "math.square": gnp.square,
            "math.subtract": gnp.subtract,
            "math.truediv": _divide,
        },
    ),
    **table(
        "fic",
        {
            "math.negative": gnp.negative,
            "math.sign": gnp.sign,
            "math.squared_difference": lambda x, y: (x - y) * gnp.conjugate(x - y),
        },
    ),
    **table(
        "fiu",
        {
            "math.floordiv": _floor_divide,
            "math.floormod": lambda x, y: gnp.remainder(x, _not_zero(y)),
            "math.greater": gnp.greater,
            "math.greater_equal": gnp.greater_equal,
            "math.less": gnp.less,
            "math.less_equal": gnp.less_equal,
            "math.maximum": gnp.maximum,
            "math.minimum": gnp.minimum,
            "math.round": gnp.round,
            "truncatediv": _truncate_divide,
            "truncatemod": lambda x, y: gnp.fmod(x, _not_zero(y)),
        },
    ),
    **table("fic", {"math.abs": gnp.absolute}),
    **table(ANY, {"math.equal": gnp.equal, "math.not_equal": gnp.not_equal}),
    **table(
        "fciu",
        {
            "math.angle": _angle,
            "math.conj": gnp.conjugate,
            "math.imag": gnp.imag,
            "math.real": gnp.real,
        },
    ),
    **table(
        "b",
        {
            "math.logical_and": gnp.logical_and,
            "math.logical_not": gnp.logical_not,
            "math.logical_or": gnp.logical_or,
            "math.logical_xor": gnp.logical_xor,
        },
    ),
    "cast": _cast,
    "clip_by_value": _clip,
    "dtypes.complex": _complex,
    "math.add_n": _add_n,
    "math.scalar_mul": _scalar_mul,
    "math.polyval": lambda coeffs, x: _horner([*coeffs], x),
}


def _horner(coefficients: list[Any], x: Any) -> Tensor:
    x, *ordered = same("fic", x, *coefficients)
    total = gnp.zeros_like(x)
    for coefficient in ordered:
        total = total * x + coefficient
    return only("fic", total)
