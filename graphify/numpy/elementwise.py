"""Elementwise functions: every ufunc of NumPy, and the functions made of them.

The ufuncs come from the ops' own records: an op whose record names a NumPy ufunc is published as
that ufunc. Python numbers count as arrays of their own dtype: `add(1, 2)` is an int64 tensor.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from graphify.errors import ShapeError
from graphify.ir.op import REGISTRY
from graphify.ir.promotion import result_type
from graphify.ir.sizes import Shape, decide_equal, product
from graphify.ir.tensor import Tensor, resolve
from graphify.ir.types import BOOL, finfo, is_complex, is_float, is_inexact, is_integer
from graphify.ir.wrapping import as_tensor
from graphify.numpy._table import (
    FUNCTIONS,
    NAMES,
    NO_VALUE,
    finish,
    implements,
    named,
    publish,
    store,
    to_tensor,
)
from graphify.numpy._ufunc import Ufunc
from graphify.ops import core
from graphify.ops import elementwise as e
from graphify.ops.elementwise import where as choose
from graphify.ops.indexing import gather, slice_
from graphify.ops.rules import operand, promoted
from graphify.ops.shape import concatenate, iota, size_value

INT64 = np.dtype(np.int64)

# --- ufuncs ------------------------------------------------------------------------------------

_ALIASES = {
    "absolute": ["abs"],
    "arccos": ["acos"],
    "arccosh": ["acosh"],
    "arcsin": ["asin"],
    "arcsinh": ["asinh"],
    "arctan": ["atan"],
    "arctan2": ["atan2"],
    "arctanh": ["atanh"],
    "conjugate": ["conj"],
    "deg2rad": ["radians"],
    "rad2deg": ["degrees"],
    "divide": ["true_divide"],
    "invert": ["bitwise_invert", "bitwise_not"],
    "left_shift": ["bitwise_left_shift"],
    "power": ["pow"],
    "remainder": ["mod"],
    "right_shift": ["bitwise_right_shift"],
}


def _publish_ufunc(ufunc: np.ufunc, compute: Any) -> Ufunc:
    name = ufunc.__name__
    function = FUNCTIONS[ufunc] = Ufunc(ufunc, compute)
    for alias in (name, *_ALIASES.get(name, ())):
        NAMES[alias] = function
    return function


for _op in list(REGISTRY.values()):
    if "ufunc" in _op.extra:
        _publish_ufunc(_op.extra["ufunc"], _op)
for _same, _as in ((np.degrees, np.rad2deg), (np.radians, np.deg2rad)):
    FUNCTIONS[_same] = FUNCTIONS[_as]


def _divmod(a: Any, b: Any) -> tuple[Tensor, Tensor]:
    return core.strong(e.floor_divide(a, b)), core.strong(e.remainder(a, b))


def _modf(x: Any) -> tuple[Tensor, Tensor]:
    (x,) = promoted(np.modf)(x)
    whole = e.trunc(x)
    infinite, zero = e.isinf(x), core.zeros_like(x)
    rest = e.subtract(choose(infinite, zero, x), choose(infinite, zero, whole))
    return e.copysign(rest, x), whole


_publish_ufunc(np.divmod, _divmod)
_publish_ufunc(np.modf, _modf)

# --- choice and rounding -----------------------------------------------------------------------


@implements(np.where, zero_d="array")
def where(condition: Any, x: Any = None, y: Any = None, /) -> Any:
    """Elements of `x` where the condition holds, else of `y`; alone, the indices that hold."""
    if x is None and y is None:
        return NAMES["nonzero"](condition)
    if x is None or y is None:
        raise ValueError("either both or neither of x and y should be given")
    return core.strong(choose(resolve(as_tensor(condition)), x, y))


@implements(np.clip)
def clip(
    a: Any,
    a_min: Any = NO_VALUE,
    a_max: Any = NO_VALUE,
    out: Any = None,
    *,
    min: Any = NO_VALUE,
    max: Any = NO_VALUE,
) -> Tensor:
    """`a` limited to the range from `a_min` to `a_max`; None leaves an end open."""
    if a_min is NO_VALUE and a_max is NO_VALUE:
        a_min, a_max = (None if m is NO_VALUE else m for m in (min, max))
    elif min is not NO_VALUE or max is not NO_VALUE:
        raise ValueError(
            "Passing `min` or `max` keyword argument when `a_min` and `a_max` are provided"
        )
    elif a_min is NO_VALUE or a_max is NO_VALUE:
        missing = "a_min" if a_min is NO_VALUE else "a_max"
        raise TypeError(f"clip() missing 1 required positional argument: '{missing}'")
    result = as_tensor(a)
    a_min, a_max = (
        _reachable(bound, result, side) for bound, side in ((a_min, "min"), (a_max, "max"))
    )
    if a_min is None and a_max is None:
        return _into(out, core.strong(e.positive(result)))
    if a_min is not None:
        result = e.maximum(result, a_min)
    if a_max is not None:
        result = e.minimum(result, a_max)
    return _into(out, core.strong(result))


def _into(out: Any, result: Tensor) -> Tensor:
    """The result, or `out=` with the result broadcast to it, as ufuncs have it."""
    return finish(result, None) if out is None else store(out, result)


def _reachable(bound: Any, x: Tensor, side: str) -> Any:
    """A bound; None for a Python int beyond what the dtype of `x` holds, which limits nothing."""
    if type(bound) is not int or not is_integer(x.dtype) or x.spec.weak:
        return bound
    limits = np.iinfo(x.dtype)
    beyond = bound <= limits.min if side == "min" else bound >= limits.max
    return None if beyond else bound


@implements(np.round, np.around)
def round_(a: Any, decimals: int = 0, out: Any = None) -> Tensor:
    """`a` rounded to `decimals` places, halves to even."""
    x = to_tensor(a)
    return finish(_round(x, operator.index(decimals)), out)


def _round(x: Tensor, decimals: int) -> Tensor:
    if is_complex(x.dtype):
        return e.make_complex(_round(e.real(x), decimals), _round(e.imag(x), decimals))
    if x.dtype == BOOL:
        return core.cast(x, dtype=np.dtype(np.float16)) if decimals == 0 else _round_bool()
    if is_integer(x.dtype):
        return _round_integer(x, decimals)
    if decimals == 0:
        return e.rint(x)
    power = 10.0 ** abs(decimals)
    if decimals > 0:
        return e.divide(e.rint(e.multiply(x, power)), power)
    return e.multiply(e.rint(e.divide(x, power)), power)


def _round_bool() -> Tensor:
    raise TypeError("round: a boolean array cannot be rounded to decimals")


def _round_integer(x: Tensor, decimals: int) -> Tensor:
    if decimals >= 0:
        return core.copy(x)
    power = 10.0**-decimals
    return core.cast(e.multiply(e.rint(e.divide(x, power)), power), dtype=x.dtype)


@implements(np.fix)
def fix(x: Any, out: Any = None) -> Tensor:
    """`x` rounded to the nearest integer towards zero."""
    return _into(out, e.trunc(to_tensor(x)))


@implements(np.nan_to_num, zero_d="scalar")
def nan_to_num(
    x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None
) -> Tensor:
    """`x` with NaN and infinities replaced by numbers."""
    tensor = to_tensor(x)
    if is_complex(tensor.dtype):
        parts = [nan_to_num(part(tensor), True, nan, posinf, neginf) for part in (e.real, e.imag)]
        result: Tensor = e.make_complex(*parts)
    elif is_float(tensor.dtype):
        result = _finite(tensor, nan, posinf, neginf)
    else:
        result = core.copy(tensor)
    return result if copy or not isinstance(x, (Tensor, np.ndarray)) else finish(result, x)


def _finite(x: Tensor, nan: Any, posinf: Any, neginf: Any) -> Tensor:
    limits = finfo(x.dtype)
    high = float(limits.max) if posinf is None else posinf
    low = float(limits.min) if neginf is None else neginf
    nan, high, low = (_filling(value, x) for value in (nan, high, low))
    x = choose(e.isnan(x), nan, x)
    x = choose(e.equal(x, np.inf), high, x)
    return choose(e.equal(x, -np.inf), low, x)


def _filling(value: Any, x: Tensor) -> Tensor:
    """What replaces elements of `x`, in its dtype and of a shape that broadcasts to its own."""
    filling = resolve(as_tensor(value))
    if not np.can_cast(filling.dtype, x.dtype, "same_kind"):
        raise TypeError(
            f"nan_to_num: cannot cast a replacement from {filling.dtype} to {x.dtype} according "
            "to the rule 'same_kind'"
        )
    return core.like(filling, x) if filling.dims else core.to_dtype(filling, x.dtype)


# --- complex numbers ---------------------------------------------------------------------------


@implements(np.real)
def real(val: Any) -> Tensor:
    """The real part; a view of an array."""
    return e.real(to_tensor(_number(val)))


@implements(np.imag)
def imag(val: Any) -> Tensor:
    """The imaginary part; a view of a complex array."""
    return e.imag(to_tensor(_number(val)))


def _number(val: Any) -> Any:
    """The parts of Python's bools are integers."""
    return int(val) if type(val) is bool else val


@implements(np.angle)
def angle(z: Any, deg: bool = False) -> Tensor:
    """The angle of complex numbers, in (-pi, pi]."""
    x = to_tensor(z)
    result = (
        e.arctan2(e.imag(x), e.real(x)) if is_complex(x.dtype) else core.strong(e.arctan2(0, x))
    )
    return e.multiply(result, 180 / np.pi) if deg else result


@implements(np.iscomplexobj)
def iscomplexobj(x: Any) -> bool:
    """Whether the dtype is complex."""
    return is_complex(as_tensor(x).dtype)


@implements(np.isrealobj)
def isrealobj(x: Any) -> bool:
    """Whether the dtype is not complex."""
    return not iscomplexobj(x)


@implements(np.iscomplex)
def iscomplex(x: Any) -> Tensor:
    """Where the imaginary part is not zero."""
    return e.not_equal(e.imag(to_tensor(x)), 0)


@implements(np.isreal)
def isreal(x: Any) -> Tensor:
    """Where the imaginary part is zero."""
    return e.equal(e.imag(to_tensor(x)), 0)


# --- comparison --------------------------------------------------------------------------------


@implements(np.isclose)
def isclose(a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> Tensor:
    """Where `abs(a - b) <= atol + rtol * abs(b)`."""
    x, y = to_tensor(a), to_tensor(b)
    if not is_inexact(y.dtype):
        y = core.to_dtype(y, np.result_type(y.dtype, 1.0))
    with np.errstate(invalid="ignore"):  # inf - inf; equality settles those
        distance = e.absolute(e.subtract(x, y))
    near = e.less_equal(distance, e.add(atol, e.multiply(rtol, e.absolute(y))))
    result = e.logical_or(e.logical_and(near, e.isfinite(y)), e.equal(x, y))
    if equal_nan:
        result = e.logical_or(result, e.logical_and(e.isnan(x), e.isnan(y)))
    return result


@implements(np.allclose)
def allclose(a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> Tensor:
    """Whether all elements are close: a Python bool, as in NumPy."""
    return _python_bool(named("all")(isclose(a, b, rtol, atol, equal_nan)))


def _python_bool(x: Tensor) -> Tensor:
    return core.cast(x, dtype=BOOL, weak=True)


@implements(np.array_equal)
def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Tensor:
    """Whether two arrays have the same shape and elements: a Python bool, as in NumPy."""
    x, y = to_tensor(a1), to_tensor(a2)
    if x.ndim != y.ndim:
        return Tensor(np.asarray(False), weak=True)
    sizes = list(zip(x.dims, y.dims, strict=True))
    known = [decide_equal(a, b) for a, b in sizes]
    if False in known:
        return Tensor(np.asarray(False), weak=True)
    if None in known:
        y = _in_shape(y, x.dims)
    same = e.equal(x, y)
    if equal_nan and is_inexact(x.dtype) and is_inexact(y.dtype):
        same = e.logical_or(same, e.logical_and(e.isnan(x), e.isnan(y)))
    result = named("all")(same)
    for a, b in sizes:
        result = e.logical_and(result, e.equal(size_value(size=a), size_value(size=b)))
    return _python_bool(result)


def _in_shape(x: Tensor, dims: Shape) -> Tensor:
    """The elements in another shape: cut off where they are too many, else zeros after them."""
    count = product(x.dims)
    padded = concatenate(core.reshape(x, shape=(count,)), core.full((1,), 0, x.dtype), axis=0)
    places = e.minimum(iota(length=product(dims), dtype=INT64), size_value(size=count))
    return core.reshape(gather(padded, places, axes=(0,)), shape=dims)


@implements(np.array_equiv)
def array_equiv(a1: Any, a2: Any) -> Tensor:
    """Whether two arrays are equal after broadcasting."""
    x, y = to_tensor(a1), to_tensor(a2)
    try:
        core.broadcast_shapes(x.dims, y.dims)
    except ShapeError:
        return Tensor(np.asarray(False), weak=True)
    return _python_bool(named("all")(e.equal(x, y)))


@implements(np.isposinf)
def isposinf(x: Any, out: Any = None) -> Tensor:
    """Where `x` is positive infinity."""
    x = to_tensor(x)
    return _into(out, e.logical_and(e.isinf(x), e.logical_not(e.signbit(x))))


@implements(np.isneginf)
def isneginf(x: Any, out: Any = None) -> Tensor:
    """Where `x` is negative infinity."""
    x = to_tensor(x)
    return _into(out, e.logical_and(e.isinf(x), e.signbit(x)))


@implements(np.isscalar)
def isscalar(element: Any) -> bool:
    """Whether `element` is a number rather than an array."""
    return bool(np.isscalar(element)) or _is_number(element)


def _is_number(element: Any) -> bool:
    """Whether a tensor stands for a Python number or a NumPy scalar."""
    return isinstance(element, Tensor) and (resolve(element).spec.weak or element._scalar)


@implements(np.iterable)
def iterable(y: Any) -> bool:
    """Whether `y` can be iterated over."""
    return y.ndim > 0 if isinstance(y, Tensor) else bool(np.iterable(y))


# --- special functions -------------------------------------------------------------------------


@implements(np.sinc)
def sinc(x: Any) -> Tensor:
    """`sin(pi x) / (pi x)`, and 1 at 0."""
    y = e.multiply(np.pi, to_tensor(x))
    y = choose(e.equal(y, 0), float(finfo(y.dtype).eps), y)
    return e.divide(e.sin(y), y)


@implements(np.unwrap)
def unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: float = 2 * np.pi) -> Tensor:
    """Angles with jumps larger than `discont` taken out by multiples of `period`."""
    x = to_tensor(p)
    discont = period / 2 if discont is None else discont
    steps = NAMES["diff"](x, axis=axis)
    whole = is_integer(result_type(operand(steps), operand(resolve(as_tensor(period)))))
    high = period // 2 if whole else period / 2
    ambiguous = e.equal(e.remainder(period, 2), 0) if whole else True
    low = -high
    wrapped = e.add(e.remainder(e.subtract(steps, low), period), low)
    half = e.logical_and(e.equal(wrapped, low), e.greater(steps, 0))
    wrapped = choose(e.logical_and(half, ambiguous), high, wrapped)
    correct = choose(e.less(e.absolute(steps), discont), 0, e.subtract(wrapped, steps))
    total = NAMES["cumsum"](correct, axis=axis)
    position = axis % x.ndim
    first = tuple((0, dim if i != position else 1, 1) for i, dim in enumerate(x.dims))
    head = core.zeros_like(slice_(x, key=first), total.dtype)
    return core.strong(e.add(x, concatenate(head, total, axis=position)))


publish(pi=np.pi, e=np.e, inf=np.inf, nan=np.nan, euler_gamma=np.euler_gamma, newaxis=None)
