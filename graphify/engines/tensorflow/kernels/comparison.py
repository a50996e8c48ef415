"""Choice, comparison and logic: NaN, complex numbers and mixed signs as NumPy has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphify.engines.tensorflow.frame import Frame
from graphify.engines.tensorflow.kernels.casting import (
    cast_to,
    imaginary_part,
    nonzero,
    real_part,
)
from graphify.engines.tensorflow.kernels.elementwise import choose, is_nan, with_nan
from graphify.engines.tensorflow.kernels.table import KERNELS, kernel

# --- choice ---------------------------------------------------------------------------------------


def _extreme(greatest: bool, ignore_nan: bool) -> Callable[..., Any]:
    def kernel_(frame: Frame, a: Any, b: Any) -> Any:
        if a.dtype.is_bool:
            return frame.raw.LogicalOr(x=a, y=b) if greatest else frame.raw.LogicalAnd(x=a, y=b)
        if a.dtype.is_complex:
            order = greater_equal if greatest else less_equal
            y = choose(frame, order(frame, a, b), a, b)
        else:
            y = (frame.raw.Maximum if greatest else frame.raw.Minimum)(x=a, y=b)
        if a.dtype.is_integer:
            return y
        if ignore_nan:
            y = choose(frame, is_nan(frame, b), a, y)
            return choose(frame, is_nan(frame, a), b, y)
        return with_nan(frame, a, b, y)

    return kernel_


KERNELS["maximum"], KERNELS["minimum"] = _extreme(True, False), _extreme(False, False)
KERNELS["fmax"], KERNELS["fmin"] = _extreme(True, True), _extreme(False, True)


@kernel("where")
def where(frame: Frame, condition: Any, a: Any, b: Any) -> Any:
    return frame.raw.SelectV2(condition=condition, t=a, e=b)


# --- comparison and logic -------------------------------------------------------------------------


def _comparison(op: str) -> Callable[..., Any]:
    def kernel_(frame: Frame, a: Any, b: Any) -> Any:
        compare = getattr(frame.raw, op)
        if a.dtype != b.dtype:
            return _compare_signs(frame, compare, a, b)
        if a.dtype.is_bool:
            a, b = (frame.raw.Cast(x=v, DstT=frame.tf.uint8) for v in (a, b))
        if not a.dtype.is_complex or op in ("Equal", "NotEqual"):
            return compare(x=a, y=b)
        ra, rb = real_part(frame, a), real_part(frame, b)
        by_imag = compare(x=imaginary_part(frame, a), y=imaginary_part(frame, b))
        strict = getattr(frame.raw, op.removesuffix("Equal"))(x=ra, y=rb)
        tie = frame.raw.LogicalAnd(x=frame.raw.Equal(x=ra, y=rb), y=by_imag)
        strict = frame.raw.LogicalAnd(x=strict, y=_no_nan_imag(frame, a, b))
        return frame.raw.LogicalOr(x=strict, y=tie)

    return kernel_


def _no_nan_imag(frame: Frame, a: Any, b: Any) -> Any:
    """NumPy's order of complex numbers holds only where neither imaginary part is NaN."""
    nan = frame.raw.LogicalOr(
        x=is_nan(frame, imaginary_part(frame, a)), y=is_nan(frame, imaginary_part(frame, b))
    )
    return frame.raw.LogicalNot(x=nan)


def _compare_signs(frame: Frame, compare: Any, a: Any, b: Any) -> Any:
    """int64 against uint64, which NumPy compares by value."""
    tf = frame.tf
    low = frame.constant(-(2**63), tf.int64)

    def key(x: Any) -> tuple[Any, Any]:
        """A class (0 for negative, else 1) and, within it, the value as int64, both in order."""
        if x.dtype == tf.int64:
            return cast_to(frame, x >= 0, tf.int64), frame.raw.BitwiseXor(x=x, y=low)
        flipped = frame.raw.BitwiseXor(x=frame.raw.Bitcast(input=x, type=tf.int64), y=low)
        return cast_to(frame, frame.raw.Equal(x=x, y=x), tf.int64), flipped

    (ca, va), (cb, vb) = key(a), key(b)
    same = frame.raw.Equal(x=ca, y=cb)
    return choose(frame, same, compare(x=va, y=vb), compare(x=ca, y=cb))


for _name in ("Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual"):
    _snake = "".join("_" + c.lower() if c.isupper() else c for c in _name).lstrip("_")
    KERNELS["math." + _snake] = KERNELS[_snake] = _comparison(_name)
greater_equal, less_equal = KERNELS["greater_equal"], KERNELS["less_equal"]


def _logical(op: str) -> Callable[..., Any]:
    def kernel_(frame: Frame, a: Any, b: Any) -> Any:
        return getattr(frame.raw, op)(x=nonzero(frame, a), y=nonzero(frame, b))

    return kernel_


KERNELS["logical_and"], KERNELS["logical_or"] = _logical("LogicalAnd"), _logical("LogicalOr")
KERNELS["logical_xor"] = _logical("NotEqual")


@kernel("logical_not", "math.logical_not")
def logical_not(frame: Frame, x: Any) -> Any:
    return frame.raw.LogicalNot(x=nonzero(frame, x))


def _float_test(op: str, of_integers: bool, join: str) -> Callable[..., Any]:
    def test(frame: Frame, x: Any) -> Any:
        if x.dtype.is_complex:
            parts = [test(frame, real_part(frame, x)), test(frame, imaginary_part(frame, x))]
            return getattr(frame.raw, join)(x=parts[0], y=parts[1])
        if x.dtype.is_floating:
            return getattr(frame.raw, op)(x=x)
        return (frame.raw.Equal if of_integers else frame.raw.NotEqual)(x=x, y=x)

    return test


KERNELS["math.is_nan"] = KERNELS["isnan"] = _float_test("IsNan", False, "LogicalOr")
KERNELS["math.is_inf"] = KERNELS["isinf"] = _float_test("IsInf", False, "LogicalOr")
KERNELS["math.is_finite"] = KERNELS["isfinite"] = _float_test("IsFinite", True, "LogicalAnd")
