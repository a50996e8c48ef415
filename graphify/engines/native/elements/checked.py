"""Ops that may fail: a result, and for each way to fail a bit that says whether it happened.

    y, failures = apply_checked(f, "add", [a, b], a.dtype)     # Python's a + b, or IntegerOverflow

Weak scalars stand for Python's numbers, whose arithmetic is exact or an error (what the op's
`meaning(True)` is, see `graphify.ops.python_numbers`). Of plain arrays only negative powers of
integers fail. Failures are listed in the order in which they are to be reported; the result is of
no use where one happened.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from graphify.engines.native.elements import integers
from graphify.engines.native.elements.cast import cast, to_signed, truth
from graphify.engines.native.elements.comparison import compare
from graphify.engines.native.elements.element import Element
from graphify.engines.native.elements.rule import any_lane, outlined, repeat
from graphify.engines.native.elements.table import apply, loop_dtypes
from graphify.engines.native.llvm import Function, Type, V
from graphify.engines.native.maths.formula import X
from graphify.errors import IntegerOverflow
from graphify.ir.types import DType

_LOWEST = -(2**63)


@dataclass(frozen=True, slots=True)
class Failure:
    """One way in which an op fails.

    Attributes:
        condition: i1 (a vector of them in several lanes), true where it happened.
        error: the class of the exception.
        message: its text, a template for `str.format` with `values` in order.
        values: elements of the lane that failed, shown as NumPy scalars of their dtypes.
    """

    condition: V
    error: type[Exception]
    message: str
    values: tuple[Element, ...] = ()


Outcome = tuple[Element, tuple[Failure, ...]]
CheckedRule = Callable[..., Outcome]


def _raised(function: Callable[[], object]) -> tuple[type[Exception], str]:
    """What this Python raises, and in what words."""
    try:
        function()
    except (ArithmeticError, ValueError) as error:
        return type(error), str(error)
    raise AssertionError("expected an exception")


_ZERO, _ONE = 0, 1.0
_DIVISION = _raised(lambda: 1 // _ZERO)
_SHIFT = _raised(lambda: 1 << (_ZERO - 1))
_ZERO_POWER = _raised(lambda: (_ONE - 1.0) ** -_ONE)
_LARGE_POWER = _raised(lambda: (_ONE * 1e300) ** 2.0)
_NEGATIVE_POWER = "Integers to negative integer powers are not allowed."
_COMPLEX_POWER = "{} ** {} is complex in Python, where a float is staged"

# op -> how its operands are shown where the result does not fit
_SHOWN = {
    "add": "{} + {}",
    "subtract": "{} - {}",
    "multiply": "{} * {}",
    "floor_divide": "{} // {}",
    "power": "{} ** {}",
    "left_shift": "{} << {}",
    "negative": "-{}",
    "absolute": "abs({})",
}


def _overflow(name: str, condition: V, args: Sequence[Element]) -> Failure:
    text = f"the Python integer {_SHOWN[name]} does not fit into the 64 bits of a traced one"
    return Failure(condition, IntegerOverflow, text, tuple(args))


# --- integers -----------------------------------------------------------------------------------


def _with_overflow(name: str, instruction: str) -> CheckedRule:
    def rule(f: Function, a: Element, b: Element) -> Outcome:
        if name == "multiply" and (within := _bounds(f, a, b)) is not None:
            # a comparison beside the product, not after it
            return Element(a.dtype, (f.mul(a.value, b.value),)), (_overflow(name, within, (a, b)),)
        result, over = _pair(f, instruction, a.value, b.value)
        return Element(a.dtype, (result,)), (_overflow(name, over, (a, b)),)

    return rule


def _bounds(f: Function, a: Element, b: Element) -> V | None:
    """Whether a product with a known positive number does not fit."""
    x, number = (a, b.number) if b.number is not None else (b, a.number)
    if number is None or x.number is not None or number < 2:
        return None
    low, high = -(2**63 // int(number)), (2**63 - 1) // int(number)
    moved = f.sub(x.value, f.const(x.value.type, low))
    return f.icmp("ugt", moved, f.const(x.value.type, high - low))


def _pair(f: Function, instruction: str, a: V, b: V) -> tuple[V, V]:
    """A wrapped result and whether it wrapped: sadd, ssub, smul."""
    bit = a.type.like("i1")
    both = Type(f"{{ {a.type}, {bit} }}")
    pair = f.intrinsic(f"{instruction}.with.overflow", a, b, result=both)
    return f.op(a.type, f"extractvalue {pair}, 0"), f.op(bit, f"extractvalue {pair}, 1")


def _of_lowest(name: str, rule: Callable[[Function, bool, V], V]) -> CheckedRule:
    """An op whose result fits unless the operand is the lowest integer."""

    def checked(f: Function, x: Element) -> Outcome:
        lowest = f.icmp("eq", x.value, f.const(x.value.type, _LOWEST))
        return Element(x.dtype, (rule(f, True, x.value),)), (_overflow(name, lowest, (x,)),)

    return checked


def _floor_divide(f: Function, a: Element, b: Element) -> Outcome:
    by_zero = f.icmp("eq", b.value, f.const(b.value.type, 0))
    lowest = f.icmp("eq", a.value, f.const(a.value.type, _LOWEST))
    wraps = f.and_(lowest, f.icmp("eq", b.value, f.const(b.value.type, -1)))
    result = integers.floor_divide(f, True, a.value, b.value)
    failures = (Failure(by_zero, *_DIVISION), _overflow("floor_divide", wraps, (a, b)))
    return Element(a.dtype, (result,)), failures


def _negative(f: Function, x: Element) -> V:
    return f.icmp("slt", x.value, f.const(x.value.type, 0))


def _left_shift(f: Function, a: Element, b: Element) -> Outcome:
    result = integers.left_shift(f, True, a.value, b.value)
    back = integers.right_shift(f, True, result, b.value)
    wraps = f.icmp("ne", back, a.value)
    failures = (Failure(_negative(f, b), *_SHIFT), _overflow("left_shift", wraps, (a, b)))
    return Element(a.dtype, (result,)), failures


def _right_shift(f: Function, a: Element, b: Element) -> Outcome:
    result = integers.right_shift(f, True, a.value, b.value)
    return Element(a.dtype, (result,)), (Failure(_negative(f, b), *_SHIFT),)


def _power(f: Function, a: Element, b: Element) -> Outcome:
    over = f.alloca(a.value.type.like("i1"))
    result = outlined(f, "checked_power", [a.value, b.value, over], _power_loop, a.value.type)
    wraps = f.load(a.value.type.like("i1"), over)
    failures = (Failure(_negative(f, b), ValueError, _NEGATIVE_POWER),)
    return Element(a.dtype, (result,)), (*failures, _overflow("power", wraps, (a, b)))


def _power_loop(f: Function, a: V, b: V, over: V) -> V:
    """Square and multiply; a square that wrapped counts once it is multiplied with."""

    def step(f: Function, *state: V) -> list[V]:
        result, base, left, wrapped, square_wrapped = state
        odd = f.convert("trunc", left, left.type.like("i1"))
        product, product_wraps = _pair(f, "smul", result, base)
        square, square_wraps = _pair(f, "smul", base, base)
        wraps = f.and_(odd, f.or_(product_wraps, square_wrapped))
        return [
            f.select(odd, product, result),
            square,
            f.lshr(left, f.const(left.type, 1)),
            f.or_(wrapped, wraps),
            f.or_(square_wrapped, square_wraps),
        ]

    no = f.const(a.type.like("i1"), False)
    start = [f.const(a.type, 1), a, b, no, no]
    done = repeat(f, start, lambda f, *s: f.icmp("ne", s[2], f.const(s[2].type, 0)), step)
    f.store(done[3], over)
    return done[0]


# --- floats -------------------------------------------------------------------------------------


def _float_power(f: Function, a: Element, b: Element) -> Outcome:
    """Python's: zero to a negative power, what does not fit, complex results: errors."""
    result = apply(f, "power", [a, b], a.dtype)
    assert isinstance(result, Element)
    x, y, z = (X(f, e.value) for e in (a, b, result))
    finite = (abs(x) < np.inf) & (abs(y) < np.inf)
    of_zero = x.equals(0.0) & (y < 0.0) & finite
    unreal = (x < 0.0) & y.intrinsic("floor").differs(y) & finite
    large = finite & abs(z).equals(np.inf) & ~of_zero
    return result, (
        Failure(of_zero.v, *_ZERO_POWER),
        Failure(unreal.v, ValueError, _COMPLEX_POWER, (a, b)),
        Failure(large.v, *_LARGE_POWER),
    )


# --- conversions and checks of Python's numbers -------------------------------------------------


def _nonzero_divisor(f: Function, x: Element) -> Outcome:
    zero = f.not_(truth(f, x))
    return x, (Failure(zero, ZeroDivisionError, "division by zero"),)


def _to_int(f: Function, x: Element) -> Outcome:
    """int(x): cut off; NaN, infinities and what 64 bits do not hold are errors."""
    int64 = np.dtype(np.int64)
    if x.dtype.kind in "biu":
        return cast(f, x, int64), ()
    wide = X(f, cast(f, x, np.dtype(np.float64)).value)
    outside = (wide < -(2.0**63)) | (wide >= 2.0**63)
    text = "the Python integer int({}) does not fit into 64 bits"
    return Element(int64, (to_signed(f, wide.v, 64),)), (
        Failure(wide.is_nan().v, ValueError, "cannot convert float NaN to integer"),
        Failure(
            abs(wide).equals(np.inf).v, OverflowError, "cannot convert float infinity to integer"
        ),
        Failure(outside.v, IntegerOverflow, text, (x,)),
    )


def in_range(
    f: Function, x: Element, low: Element, high: Element, error: type[Exception], message: str
) -> Failure:
    """The failure of the op `in_range`; its message names {bad} and {high}."""
    outside = f.or_(compare(f, "lt", x, low), compare(f, "ge", x, high))
    template = message.replace("{bad}", "{0}").replace("{high}", "{1}")
    return Failure(outside, error, template, (x, high))


# --- the table ----------------------------------------------------------------------------------

CHECKED: dict[str, CheckedRule] = {
    "add": _with_overflow("add", "sadd"),
    "subtract": _with_overflow("subtract", "ssub"),
    "multiply": _with_overflow("multiply", "smul"),
    "floor_divide": _floor_divide,
    "power": _power,
    "left_shift": _left_shift,
    "right_shift": _right_shift,
    "negative": _of_lowest("negative", integers.negative),
    "absolute": _of_lowest("absolute", integers.absolute),
}
_CONVERSIONS: dict[str, CheckedRule] = {"nonzero_divisor": _nonzero_divisor, "to_int": _to_int}


def apply_checked(
    f: Function, name: str, args: Sequence[Element], dtype: DType, *, batched: bool = False
) -> Outcome:
    """Write an op of Python's numbers, or nonzero_divisor or to_int of any.

    Args:
        batched: they are a batch of such numbers (vmap), where messages do not name the numbers
            and powers of floats are NumPy's.
    """
    if name in _CONVERSIONS:
        return _CONVERSIONS[name](f, *args)
    if args[0].dtype == np.int64 and name in CHECKED:
        y, failures = CHECKED[name](f, *args)
        return y, tuple(_unnamed(x) for x in failures) if batched else failures
    if name == "power" and args[0].dtype == np.float64 and not batched:
        return _float_power(f, *args)
    result = apply(f, name, args, dtype)
    assert isinstance(result, Element), name
    return result, failures_of(f, name, args)


def _unnamed(failure: Failure) -> Failure:
    if failure.error is not IntegerOverflow:
        return failure
    text = "a Python integer does not fit into 64 bits"
    return Failure(failure.condition, IntegerOverflow, text)


def failures_of(f: Function, name: str, args: Sequence[Element]) -> tuple[Failure, ...]:
    """How an op on arrays fails, whose result `apply` gives: negative powers of integers."""
    if name != "power" or loop_dtypes(np.power, tuple(a.dtype for a in args))[0][1].kind != "i":
        return ()
    if args[1].number is not None and args[1].number >= 0:
        return ()
    return (Failure(_negative(f, args[1]), ValueError, _NEGATIVE_POWER),)


def failed(f: Function, failure: Failure) -> V:
    """Whether a failure happened in any lane."""
    return any_lane(f, failure.condition)
