"""Numbers that reductions start with."""

from __future__ import annotations

import numpy as np

from graphify.engines.native.loops.program import BOOL, Const
from graphify.ir.types import DType, is_complex, is_float


def zero(dtype: DType) -> Const:
    return Const(False if dtype == BOOL else dtype.type(0).item(), dtype)


def one(dtype: DType) -> Const:
    return Const(True if dtype == BOOL else dtype.type(1).item(), dtype)


def identity_of(op: str, dtype: DType) -> Const:
    """What changes nothing when combined by `op`."""
    if op in ("add", "logical_or", "bitwise_or", "bitwise_xor"):
        return zero(dtype)
    if op in ("multiply", "logical_and"):
        return one(dtype)
    largest = op in ("minimum", "fmin")
    if dtype == BOOL:
        return Const(largest, dtype)
    if is_float(dtype):
        return Const(np.inf if largest else -np.inf, dtype)
    if is_complex(dtype):  # ordered by the real parts, then by the imaginary ones
        end = np.inf if largest else -np.inf
        return Const(complex(end, end), dtype)
    limits = np.iinfo(dtype)
    return Const(int(limits.max if largest else limits.min), dtype)
