"""Whether an array can be seen by one name alone, so that nobody notices when it is another one.

y = x * 2
for i in range(n):
    y += 1          # nobody else sees y: the loop may carry it like a number
"""

from __future__ import annotations

import sys
from types import FrameType, FunctionType, ModuleType
from typing import Any

from graphify.autograph.operators.iteration import Items
from graphify.ir.context import current_builder
from graphify.ir.sharing import is_shared, storage
from graphify.ir.tensor import Tensor
from graphify.location import is_internal
from graphify.tracing.capture import root_of

MOST = 1000  # objects looked at for others that show a tensor's storage


def _show(values: list[Any], tensor: Tensor) -> bool:
    """Whether views of a tensor, or containers and objects with it inside, are among values."""
    pending = [(value, False) for value in values]
    seen: set[int] = set()
    while pending:
        value, inside = pending.pop()
        if isinstance(value, Tensor):
            if storage(value) is tensor and (inside or value is not tensor):
                return True
            continue
        if id(value) in seen or isinstance(value, (ModuleType, FunctionType, type)):
            continue
        seen.add(id(value))
        if len(seen) > MOST:
            return True  # who knows
        if isinstance(value, (list, tuple, set)):
            pending += [(item, True) for item in value]
        elif isinstance(value, dict):
            pending += [(item, True) for item in value.values()]
        elif hasattr(value, "__dict__"):
            pending += [(item, True) for item in vars(value).values()]
    return False


def is_private(tensor: Tensor) -> bool:
    """Whether no argument, captured array, view or other name shows this tensor's storage."""
    root = root_of(current_builder())
    if tensor._base is not None or root is None or is_shared(tensor):
        return False
    outside = [twin for _, twin in root.outside.values()]
    if any(storage(twin) is tensor for twin in (*outside, *root.arguments.values())):
        return False
    frame_: FrameType | None = sys._getframe(1)
    while frame_ is not None:
        values = list(frame_.f_locals.values())
        if is_internal(frame_.f_code.co_filename):
            values = [t for items in values if isinstance(items, Items) for t in items.shown]
            if any(storage(shown) is tensor for shown in values):
                return False  # what the loop goes over
        elif sum(value is tensor for value in values) > 1 or _show(values, tensor):
            return False
        frame_ = frame_.f_back
    return True
