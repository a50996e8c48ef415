"""and, or, not, chained comparisons and `in`, with Python's order of evaluation.

and_(lambda: i < n, lambda: a[i] > 0)     # a[i] is looked at only where i < n
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from graphify.autograph.operators.branches import if_exp
from graphify.autograph.operators.conditions import is_staged, truth
from graphify.ir.bind import Tensor
from graphify.ir.types import BOOL
from graphify.ops import core, elementwise

Thunk = Callable[[], Any]

_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "is": operator.is_,
    "is not": operator.is_not,
}


def and_(*thunks: Thunk) -> Any:
    """`a and b and ...`: the first false operand, else the last one."""
    value = thunks[0]()
    for position, thunk in enumerate(thunks[1:], 1):
        if is_staged(value):
            rest = thunks[position:]
            return if_exp(value, lambda: and_(*rest), lambda value=value: value)  # type: ignore[misc]  # noqa: B023
        if not value:
            return value
        value = thunk()
    return value


def or_(*thunks: Thunk) -> Any:
    """`a or b or ...`: the first true operand, else the last one."""
    value = thunks[0]()
    for position, thunk in enumerate(thunks[1:], 1):
        if is_staged(value):
            rest = thunks[position:]
            return if_exp(value, lambda value=value: value, lambda: or_(*rest))  # type: ignore[misc]  # noqa: B023
        if value:
            return value
        value = thunk()
    return value


def not_(value: Any) -> Any:
    """`not a`."""
    return python_bool(elementwise.logical_not(truth(value))) if is_staged(value) else not value


def python_bool(value: Tensor) -> Tensor:
    """A truth value as the bool that Python makes of it: True + True is 2, not True."""
    return value if value.spec.weak else core.cast(value, dtype=BOOL, weak=True)


def compare(left: Any, *rest: Any) -> Any:
    """`a < b <= c`: rest is op, thunk, op, thunk, ...; each operand is evaluated once."""
    sign, right = rest[0], rest[1]()
    if sign in ("in", "not in"):
        verdict = contains(right, left)
        verdict = not_(verdict) if sign == "not in" else verdict
    else:
        verdict = _COMPARISONS[sign](left, right)
    if len(rest) == 2:
        return verdict
    return and_(lambda: verdict, lambda: compare(right, *rest[2:]))


def contains(container: Any, item: Any) -> Any:
    """`item in container`, also for arrays and for lists of tensors."""
    if isinstance(container, (Tensor, np.ndarray)):
        matches = container == item
        found = matches.any() if hasattr(matches, "any") else matches
        return python_bool(found) if is_staged(found) else bool(found)
    if isinstance(container, (list, tuple)) and any(
        isinstance(v, Tensor) for v in (*container, item)
    ):
        return or_(*(lambda v=v: v == item for v in container)) if container else False
    return item in container
