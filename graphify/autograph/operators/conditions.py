"""Truth values: Python's own, or known only when the graph runs."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from graphify.ir.sizes import product
from graphify.ir.tensor import Tensor, resolve
from graphify.ir.types import BOOL
from graphify.ir.wrapping import as_tensor
from graphify.ops import core, effects, elementwise
from graphify.tracing import special

# NumPy's words.
MANY = "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()"
EMPTY = (
    "The truth value of an empty array is ambiguous. "
    "Use `array.size > 0` to check that an array is not empty."
)


_TRUTHS: dict[type, tuple[Callable[[Any], Any], Callable[[Any], bool] | None]] = {}
_PLAIN: Any = (None, lambda value: False)  # of other values


def set_truth(
    kind: type, function: Callable[[Any], Any], staged: Callable[[Any], bool] | None = None
) -> None:
    """How values of a class that stands for run-time values are true or false; `staged` tells of
    one whether it does so."""
    _TRUTHS[kind] = function, staged


def is_staged(value: Any) -> bool:
    """Whether a truth value is only known when the graph runs."""
    if not isinstance(value, Tensor):
        _, staged = _TRUTHS.get(type(value), _PLAIN)
        return staged is None or staged(value)
    return value.is_symbolic or resolve(value).is_symbolic


def decider(value: Any) -> Any:
    """What decides whether a value is true: of an object what a `__bool__` of the user's gives, or
    else its `__len__`; of a list of run-time length whether it is true, so that nothing holds on to
    the list; of other values they themselves.

    Raises:
        TypeError: `__bool__` gives no bool, as Python has it.
    """
    if _TRUTHS.get(type(value), _PLAIN)[1] is None:
        return truth(value)
    ask = special.method(value, "__bool__")
    if ask is None:
        sized = not hasattr(type(value), "__bool__") and special.method(value, "__len__")
        return own_length(value) if sized else value
    answer = ask()
    weak = is_staged(answer) and answer.spec.weak and answer.dtype == BOOL
    if not weak and not isinstance(answer, bool):
        name = answer.spec if is_staged(answer) else type(answer).__name__
        raise TypeError(f"__bool__ should return bool, returned {name}")
    return answer


def has_decider(value: Any) -> bool:
    """Whether a method of the user's tells whether a value is true."""
    return any(special.method(value, name) is not None for name in ("__bool__", "__len__"))


def own_length(value: Any) -> Any:
    """The length that a `__len__` of the user's gives; None where a value has none.

    Raises:
        TypeError: it is no integer.
        ValueError: it is negative; at the run where only that tells.
    """
    count = special.method(value, "__len__")
    if count is None:
        return None
    length = count()
    message = "__len__() should return >= 0"
    if not is_staged(length):
        if (known := operator.index(length)) < 0:
            raise ValueError(message)
        return known
    length = resolve(length)
    whole = length.dtype.kind in "iu" or length.dtype == BOOL and length.spec.weak
    if length.dims or not whole:
        raise TypeError(f"'{length.spec}' object cannot be interpreted as an integer")
    negative = effects.Raise(ValueError, (message,))
    effects.assert_(elementwise.greater_equal(length, 0), exception=negative)
    return core.cast(length, dtype=np.dtype(np.int64), weak=True)


def truth(value: Any) -> Tensor:
    """A staged truth value as a boolean scalar.

    Raises:
        ValueError: no element, or more than one, as NumPy has it; at the run where only that tells.
    """
    kind = type(value)
    value = resolve(as_tensor(_TRUTHS[kind][0](value) if kind in _TRUTHS else value))
    if value.ndim:
        count = product(value.dims)
        if not isinstance(count, int):
            _check_single(as_tensor(count))
        elif count != 1:
            raise ValueError(f"{MANY if count else EMPTY} (shape {value.dims})")
        value = core.reshape(value, shape=())
    return value if value.dtype == BOOL else elementwise.not_equal(value, 0)


def _check_single(count: Tensor) -> None:
    for holds, message in ((count > 0, EMPTY), (count < 2, MANY)):
        effects.assert_(holds, exception=effects.Raise(ValueError, (message,)))
