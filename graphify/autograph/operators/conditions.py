"""Truth values: Python's own, or known only when the graph runs."""

from __future__ import annotations

from typing import Any

from graphify.ir.bind import Tensor, resolve
from graphify.ir.sizes import product
from graphify.ir.types import BOOL
from graphify.ops import core, elementwise


def is_staged(value: Any) -> bool:
    """Whether a truth value is only known when the graph runs."""
    if not isinstance(value, Tensor):
        return False
    return value.is_symbolic or resolve(value).is_symbolic


def truth(value: Tensor) -> Tensor:
    """A staged truth value as a boolean scalar.

    Raises:
        ValueError: more than one element, as NumPy has it.
    """
    value = resolve(value)
    if value.ndim:
        count = product(value.dims)
        if count != 1:
            raise ValueError(
                "The truth value of an array with more than one element is ambiguous. "
                f"Use a.any() or a.all() (shape {value.dims})"
            )
        value = core.reshape(value, shape=())
    return value if value.dtype == BOOL else elementwise.not_equal(value, 0)
