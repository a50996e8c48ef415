"""Truth values: Python's own, or known only when the graph runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphify.ir.sizes import product
from graphify.ir.tensor import Tensor, resolve
from graphify.ir.types import BOOL
from graphify.ir.wrapping import as_tensor
from graphify.ops import core, effects, elementwise

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
