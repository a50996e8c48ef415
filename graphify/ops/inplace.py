"""`a += b`: the array itself is updated, under NumPy's rules.

update_inplace(x, add, y)     # x += y, for all who hold x
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphify.errors import DTypeError
from graphify.ir.assign import assign
from graphify.ir.kinds import may_be_number, may_cut_off
from graphify.ir.tensor import Tensor, resolve
from graphify.ir.types import DType
from graphify.ir.wrapping import as_tensor
from graphify.ops import core, mixed

_check_either: Callable[[Tensor], None] = lambda tensor: None


def set_either_check(check: Callable[[Tensor], None]) -> None:
    """What is asked before a tensor is updated that is a number on some paths."""
    global _check_either
    _check_either = check


def update_inplace(target: Tensor, function: Callable[[Any, Any], Tensor], other: Any) -> None:
    """Store what an operation gives of `target` and another operand in `target`.

    Raises:
        TypeError: the result's dtype does not cast to the target's by the same-kind rule.
        ValueError: the shapes do not fit, or the result is larger than the target.
    """
    if may_be_number(target):
        _check_either(target)
    try:
        result = function(target, other)
    except ValueError:  # NumPy looks at the dtypes before the shapes
        _check_cast(function(_one(target), _one(other)).dtype, target.dtype)
        raise
    mixed.refuse_floats(target, *([other] if may_cut_off(result) else [result]))
    target = resolve(target)
    _check_cast(result.dtype, target.dtype)
    core._broadcast_spec(result.spec, target.dims)
    assign(target, core.like(result, target))


def _one(value: Any) -> Tensor:
    """A scalar of the dtype of an operand."""
    tensor = as_tensor(value)
    return Tensor(np.ones((), tensor.dtype), weak=tensor.spec.weak)


def _check_cast(result: DType, target: DType) -> None:
    if not np.can_cast(result, target, "same_kind"):
        raise DTypeError(
            f"in-place update: cannot cast the result from {result} to {target} "
            "with casting rule 'same_kind'",
            remedy="write x = x + y, or convert with .astype first",
        )
