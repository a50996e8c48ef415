"""Functions of Python's math and cmath on staged numbers; on everything else they are Python's own.

    math.sqrt(x)      # a Python float; ValueError: math domain error, where the run has x < 0
    math.floor(x)     # a Python int

Their results are what Python's are: floats, ints and bools, not NumPy's scalars.
"""

from __future__ import annotations

import cmath
import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from graphify.autograph.operators.calls import OVERLOADS, call
from graphify.autograph.operators.conditions import is_staged
from graphify.autograph.operators.loops import for_
from graphify.autograph.operators.numbers import float as float_of
from graphify.autograph.operators.numbers import index, scalar_of
from graphify.ir.tensor import Tensor, resolve
from graphify.ir.wrapping import as_tensor
from graphify.ops import core, effects, special
from graphify.ops import elementwise as e
from graphify.ops.convert import convert
from graphify.ops.library import fsum, integer_call, math_call
from graphify.ops.operators import to_int
from graphify.tracing.special import method as special_method

NOTHING_TO_REDUCE = "reduce() of empty iterable with no initial value"
FLOAT, COMPLEX, INT = np.dtype(np.float64), np.dtype(np.complex128), np.dtype(np.int64)


def overload(function: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Use another function where an argument, or an item of one, is staged."""

    def register(staged: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(staged)
        def chosen(*args: Any, **kwargs: Any) -> Any:
            args = tuple(_own_number(v, function.__name__) for v in args)
            given = [*args, *kwargs.values()]
            if not any(is_staged(v) or _holds_staged(v) for v in given):
                return function(*args, **kwargs)
            return staged(*args, **kwargs)

        OVERLOADS[function] = chosen
        return chosen

    return register


def _own_number(value: Any, function: str) -> Any:
    """The number that an object of the user's gives for itself, unless it has a method for the
    function."""
    if hasattr(type(value), f"__{function}__"):
        return value
    name = next((n for n in ("__float__", "__index__") if hasattr(type(value), n)), "")
    asks = special_method(value, name) is not None
    return (float_of if name == "__float__" else index)(value) if asks else value


def _holds_staged(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and any(is_staged(v) for v in value)


# --- arguments ----------------------------------------------------------------------------------


def _number(value: Any, dtype: Any, wanted: str) -> Tensor:
    """An argument as a Python number, for a function of floats or of complex numbers."""
    if isinstance(value, Tensor):
        tensor = scalar_of(value)
        if tensor.dtype.kind == "c" and dtype is FLOAT:
            raise TypeError(f"{wanted}, not complex")
        if tensor.dtype.kind in "iu" and tensor.dtype != INT or not tensor.spec.weak:
            kind = {"i": INT, "u": INT, "b": INT, "c": COMPLEX}.get(tensor.dtype.kind, FLOAT)
            tensor = core.cast(tensor, dtype=kind, weak=True)
        return tensor
    if not hasattr(value, "__float__" if dtype is FLOAT else "__complex__") and not hasattr(
        value, "__index__"
    ):
        raise TypeError(f"{wanted}, not {type(value).__name__}")
    return as_tensor(float(value) if dtype is FLOAT else complex(value))


def real(value: Any) -> Tensor:
    """An argument that Python takes for a float."""
    return _number(value, FLOAT, "must be real number")


def integer(value: Any) -> Tensor:
    """An argument that Python takes for an integer."""
    if isinstance(value, Tensor):
        tensor = scalar_of(value)
        if tensor.dtype.kind not in "iub":
            name = "float" if tensor.dtype.kind == "f" else "complex"
            raise TypeError(f"'{name}' object cannot be interpreted as an integer")
        return core.cast(tensor, dtype=INT, weak=True)
    if not hasattr(value, "__index__"):
        raise TypeError(f"'{type(value).__name__}' object cannot be interpreted as an integer")
    return as_tensor(value.__index__())


def _float(value: Any) -> Tensor:
    return core.cast(value, dtype=FLOAT, weak=True)


def _bool(value: Tensor) -> Tensor:
    return core.cast(value, dtype=np.dtype(np.bool_), weak=True)


# --- functions of real numbers --------------------------------------------------------------------


def _call(name: str, value: Any, *args: Tensor) -> Tensor:
    return math_call(_float(value), *args, function=f"math.{name}")


def _within(x: Tensor) -> Tensor:
    """TensorFlow's error function is nan for what is very large."""
    return e.minimum(e.maximum(x, -30.0), 30.0)


_REAL: dict[str, Callable[..., Any]] = {
    "acos": e.arccos,
    "acosh": e.arccosh,
    "asin": e.arcsin,
    "asinh": e.arcsinh,
    "atan": e.arctan,
    "atan2": e.arctan2,
    "atanh": e.arctanh,
    "cbrt": e.cbrt,
    "copysign": e.copysign,
    "cos": e.cos,
    "cosh": e.cosh,
    "degrees": e.rad2deg,
    "erf": lambda x: special.erf(_within(x)),
    "erfc": lambda x: special.erfc(_within(x)),
    "exp": e.exp,
    "exp2": e.exp2,
    "expm1": e.expm1,
    "fabs": e.fabs,
    "fmod": e.fmod,
    "log10": e.log10,
    "log1p": e.log1p,
    "log2": e.log2,
    "nextafter": e.nextafter,
    "pow": e.power,
    "radians": e.deg2rad,
    "remainder": lambda x, y: x - y * e.rint(x / e.where(e.equal(y, 0), 1, y)),
    "sin": e.sin,
    "sinh": e.sinh,
    "sqrt": e.sqrt,
    "tan": e.tan,
    "tanh": e.tanh,
    "ulp": lambda x: e.spacing(e.fabs(x)),
}


def _real_function(name: str, compute: Callable[..., Any]) -> None:
    original = getattr(math, name, None)
    if original is None:  # of a later Python
        return

    @overload(original)
    def function(*args: Any) -> Tensor:
        numbers = [real(a) for a in args]
        return _call(name, compute(*(core.strong(_float(n)) for n in numbers)), *numbers)


for _name, _compute in _REAL.items():
    _real_function(_name, _compute)


@overload(math.log)
def log(x: Any, *base: Any) -> Any:
    number = real(x)
    value = _call("log", e.log(core.strong(_float(number))), number)
    return value / (OVERLOADS[math.log](base[0])) if base else value


@overload(math.hypot)
def hypot(*coordinates: Any) -> Tensor:
    numbers = [real(c) for c in coordinates]
    value = functools.reduce(
        e.hypot,
        (core.strong(_float(n)) for n in numbers[1:]),
        e.fabs(core.strong(_float(numbers[0]))),
    )
    return _call("hypot", value, *numbers)


@overload(math.dist)
def dist(p: Any, q: Any) -> Any:
    p, q = list(p), list(q)
    if len(p) != len(q):
        raise ValueError("both points must have the same number of dimensions")
    return hypot(*(real(a) - real(b) for a, b in zip(p, q, strict=True)))


@overload(math.ldexp)
def ldexp(x: Any, exponent: Any) -> Tensor:
    number, power = real(x), integer(exponent)
    small = core.cast(e.minimum(e.maximum(power, -5000), 5000), dtype=np.dtype(np.int32))
    return _call("ldexp", e.ldexp(core.strong(_float(number)), small), number, power)


@overload(math.frexp)
def frexp(x: Any) -> tuple[Any, Any]:
    mantissa, exponent = e.frexp.several(core.strong(_float(real(x))))
    return _float(mantissa), core.cast(exponent, dtype=INT, weak=True)


@overload(math.modf)
def modf(x: Any) -> tuple[Any, Any]:
    number = core.strong(_float(real(x)))
    whole = e.trunc(number)
    part = e.copysign(e.where(e.isinf(number), 0.0, number - whole), number)
    return _float(part), _float(whole)


# --- questions ----------------------------------------------------------------------------------

for _question, _test in ((math.isnan, e.isnan), (math.isinf, e.isinf), (math.isfinite, e.isfinite)):
    overload(_question)(lambda x, test=_test: _bool(test(_float(real(x)))))


@overload(math.isclose)
def isclose(a: Any, b: Any, *, rel_tol: Any = 1e-09, abs_tol: Any = 0.0) -> Tensor:
    return _is_close(real(a), real(b), rel_tol, abs_tol)


def _is_close(a: Tensor, b: Tensor, rel_tol: Any, abs_tol: Any) -> Tensor:
    if not (is_staged(rel_tol) or is_staged(abs_tol)) and (rel_tol < 0 or abs_tol < 0):
        raise ValueError("tolerances must be non-negative")
    allowed = e.maximum(rel_tol * e.maximum(abs(a), abs(b)), abs_tol)
    near = e.logical_and(abs(a - b) <= allowed, e.logical_and(e.isfinite(a), e.isfinite(b)))
    return _bool(e.logical_or(near, e.equal(a, b)))


# --- integers -----------------------------------------------------------------------------------


def _rounded(name: str, rounding: Any) -> None:
    @overload(getattr(math, name))
    def function(x: Any) -> Tensor:
        if isinstance(x, Tensor) and x.dtype.kind in "iub":
            return integer(x)
        return to_int(rounding(_float(real(x))))


for _name, _rounding in (("floor", e.floor), ("ceil", e.ceil), ("trunc", e.trunc)):
    _rounded(_name, _rounding)


@overload(math.gcd)
def gcd(*numbers: Any) -> Any:
    return functools.reduce(lambda a, b: abs(_integers(e.gcd, a, b)), map(integer, (0, *numbers)))


@overload(math.lcm)
def lcm(*numbers: Any) -> Any:
    """a // gcd * b, so that what does not fit into 64 bits is an OverflowError."""

    def two(a: Any, b: Any) -> Any:
        divisor = _integers(e.gcd, a, b)
        return abs(a // (divisor + core.cast(divisor == 0, dtype=INT, weak=True)) * b)

    return functools.reduce(two, map(integer, (1, *numbers)))


def _integers(op: Any, *numbers: Tensor) -> Tensor:
    return core.cast(op(*map(core.strong, numbers)), dtype=INT, weak=True)


@overload(math.comb)
def comb(n: Any, k: Any) -> Tensor:
    return integer_call(integer(n), integer(k), function="math.comb")


@overload(math.perm)
def perm(n: Any, k: Any = None) -> Tensor:
    if k is None:
        return integer_call(integer(n), function="math.factorial")
    return integer_call(integer(n), integer(k), function="math.perm")


overload(math.factorial)(lambda x: integer_call(integer(x), function="math.factorial"))
overload(math.isqrt)(lambda n: integer_call(integer(n), function="math.isqrt"))

# --- of many numbers ------------------------------------------------------------------------------


@overload(math.fsum)
def exact_sum(values: Any) -> Any:
    items = values if isinstance(values, Tensor) else [real(v) for v in values]
    tensor = resolve(convert(items) if isinstance(items, list) else items)
    if tensor.ndim != 1:
        raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
    return fsum(core.to_dtype(core.strong(tensor), FLOAT))


@overload(math.prod)
def prod(values: Any, *, start: Any = 1) -> Any:
    if isinstance(values, Tensor):
        return for_(values, lambda v, total: (total * v,), (start,), ("the product",))[0]
    return functools.reduce(lambda total, v: total * v, values, start)


# --- cmath ------------------------------------------------------------------------------------


def complex_number(value: Any) -> Tensor:
    """An argument that Python takes for a complex number."""
    return _number(value, COMPLEX, "must be real or complex number")


def _complex_function(name: str, compute: Callable[..., Any]) -> None:
    @overload(getattr(cmath, name))
    def function(x: Any) -> Tensor:
        number = core.cast(complex_number(x), dtype=COMPLEX, weak=True)
        value = core.cast(compute(core.strong(number)), dtype=COMPLEX, weak=True)
        return math_call(value, number, function=f"cmath.{name}")


for _name, _compute in {
    "acos": e.arccos,
    "acosh": e.arccosh,
    "asin": e.arcsin,
    "asinh": e.arcsinh,
    "atan": e.arctan,
    "atanh": e.arctanh,
    "cos": e.cos,
    "cosh": e.cosh,
    "exp": e.exp,
    "log10": e.log10,
    "sin": e.sin,
    "sinh": e.sinh,
    "sqrt": e.sqrt,
    "tan": e.tan,
    "tanh": e.tanh,
}.items():
    _complex_function(_name, _compute)


@overload(cmath.log)
def complex_log(x: Any, *base: Any) -> Any:
    number = core.cast(complex_number(x), dtype=COMPLEX, weak=True)
    value = core.cast(e.log(core.strong(number)), dtype=COMPLEX, weak=True)
    value = math_call(value, number, function="cmath.log")
    return value / OVERLOADS[cmath.log](base[0]) if base else value


def _parts(x: Any) -> tuple[Tensor, Tensor]:
    number = core.strong(core.cast(complex_number(x), dtype=COMPLEX, weak=True))
    return e.real(number), e.imag(number)


@overload(cmath.phase)
def phase(x: Any) -> Tensor:
    re, im = _parts(x)
    return _float(e.arctan2(im, re))


@overload(cmath.polar)
def polar(x: Any) -> tuple[Any, Any]:
    re, im = _parts(x)
    return _float(e.hypot(re, im)), _float(e.arctan2(im, re))


@overload(cmath.rect)
def rect(r: Any, phi: Any) -> Tensor:
    radius, angle = (core.strong(_float(real(v))) for v in (r, phi))
    value = e.make_complex(radius * e.cos(angle), radius * e.sin(angle))
    return core.cast(value, dtype=COMPLEX, weak=True)


@overload(cmath.isclose)
def complex_isclose(a: Any, b: Any, *, rel_tol: Any = 1e-09, abs_tol: Any = 0.0) -> Tensor:
    return _is_close(complex_number(a), complex_number(b), rel_tol, abs_tol)


for _question, _test in (
    (cmath.isnan, e.isnan),
    (cmath.isinf, e.isinf),
):
    overload(_question)(
        lambda x, test=_test: _bool(e.logical_or(*(test(part) for part in _parts(x))))
    )
overload(cmath.isfinite)(lambda x: _bool(e.logical_and(*(e.isfinite(part) for part in _parts(x)))))


# --- functools ----------------------------------------------------------------------------------


def reduce_(function: Any, iterable: Any, *initial: Any) -> Any:
    """functools.reduce; over an array, or a list whose length only the run knows, a loop."""
    is_array = isinstance(iterable, Tensor)
    if not is_staged(iterable) or (is_array and not iterable.dims):
        return functools.reduce(lambda a, b: call(function, a, b), iterable, *initial)
    rest = iterable
    if not initial:
        length = iterable.dims[0] if is_array else iterable.size
        if isinstance(length, int) and not length:
            raise TypeError(NOTHING_TO_REDUCE)
        if not isinstance(length, int):
            error = effects.Raise(TypeError, (NOTHING_TO_REDUCE,))
            effects.assert_(as_tensor(length) > 0, exception=error)
        initial, rest = (iterable[0],), iterable[1:]
    return for_(rest, lambda v, total: (call(function, total, v),), initial, ("the result",))[0]


OVERLOADS[functools.reduce] = reduce_
