"""Arithmetic of Python numbers that are traced: exact, or an error; nothing wraps around.

A traced Python int is a weak int64 scalar. Where Python's result does not fit into 64 bits, the op
raises IntegerOverflow instead of NumPy's silent wrap-around; a float power does what Python's does.

    PYTHON["add"](np.int64(2**62), np.int64(2**62))     # IntegerOverflow
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from graphify.errors import IntegerOverflow

LOW, HIGH = -(2**63), 2**63


def _power(a: int, b: int) -> int:
    if b < 0:
        raise ValueError("Integers to negative integer powers are not allowed.")
    if b > 63 and abs(a) > 1:
        return HIGH  # too large, whatever it is
    return int(a**b)


def _left_shift(a: int, b: int) -> int:
    return HIGH if b > 64 and a else a << b


_EXACT: dict[str, tuple[Callable[..., int], str]] = {
    "add": (operator.add, "{} + {}"),
    "subtract": (operator.sub, "{} - {}"),
    "multiply": (operator.mul, "{} * {}"),
    "floor_divide": (operator.floordiv, "{} // {}"),
    "power": (_power, "{} ** {}"),
    "left_shift": (_left_shift, "{} << {}"),
    "right_shift": (operator.rshift, "{} >> {}"),
    "negative": (operator.neg, "-{}"),
    "absolute": (operator.abs, "abs({})"),
}


def _exact(ufunc: np.ufunc, function: Callable[..., int], text: str) -> Callable[..., Any]:
    """The ufunc, but with Python's integers in place of 64-bit ones."""
    elementwise = np.frompyfunc(function, ufunc.nin, 1)

    def evaluate(*arrays: Any) -> Any:
        dtype = arrays[0].dtype
        if dtype.kind not in "iu":
            return ufunc(*arrays)
        if any(array.ndim for array in arrays):  # batched
            results = np.asarray(elementwise(*arrays), object)
            if results.size and not (LOW <= results.min() and results.max() < HIGH):
                raise IntegerOverflow("a Python integer does not fit into 64 bits")
            return results.astype(dtype)
        values = [array.item() for array in arrays]
        result = function(*values)
        if not LOW <= result < HIGH:
            shown = text.format(*values)
            raise IntegerOverflow(
                f"the Python integer {shown} does not fit into the 64 bits of a traced one"
            )
        return np.asarray(result, dtype)

    return evaluate


def _float_power(integers: Callable[..., Any]) -> Callable[..., Any]:
    """Powers; those of floats raise where Python's do, or give a complex number."""

    def evaluate(a: Any, b: Any) -> Any:
        if a.dtype != np.float64 or a.ndim or b.ndim:
            return integers(a, b)
        result = a.item() ** b.item()  # ZeroDivisionError, OverflowError
        if isinstance(result, complex):
            raise ValueError(
                f"{a.item()} ** {b.item()} is complex in Python, where a float is staged"
            )
        return np.asarray(result)

    return evaluate


PYTHON: dict[str, Callable[..., Any]] = {
    name: _exact(getattr(np, name), function, text) for name, (function, text) in _EXACT.items()
}
PYTHON["power"] = _float_power(PYTHON["power"])
