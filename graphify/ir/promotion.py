"""Which dtype an operation computes in: NumPy's rule, and the three stricter or looser modes.

Operands are described by their dtype, or by a Python type (`int`, `float`, `complex`, `bool`)
when they are weak. In the "numpy" mode the answer is asked of NumPy's own ufuncs
(`np.ufunc.resolve_dtypes`, NEP 50). The other modes use the lattice of JAX
(Source: JAX documentation, "Type promotion semantics").
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from graphify.config import config
from graphify.errors import DTypeError, SpecError
from graphify.ir.types import BOOL, DType, bfloat16, canonical_dtype, is_inexact

Operand: TypeAlias = DType | type  # a weak operand is its Python type

_PYTHON_DTYPE: dict[type, Any] = {
    bool: np.bool_,
    int: np.int64,
    float: np.float64,
    complex: np.complex128,
}
_KIND = {"b": bool, "i": int, "u": int, "f": float, "V": float, "c": complex}


def weak_type(dtype: DType) -> type:
    """The Python type a weak value of this dtype stands for."""
    return _KIND[dtype.kind]


def python_dtype(kind: type) -> DType:
    """The dtype a Python number gets on its own: int64, float64 (or float32 if preferred), ..."""
    dtype: DType = np.dtype(_PYTHON_DTYPE[kind])
    if config.prefer_float32 and kind in (float, complex):
        return np.dtype(np.float32 if kind is float else np.complex64)
    return dtype


def result_type(*operands: Operand) -> DType:
    """The common dtype of operands, in the current mode.

    Raises:
        SpecError: the mode refuses this mix.
    """
    return _common(config.promotion, config.prefer_float32, operands)


def ufunc_dtypes(
    ufunc: np.ufunc, operands: Sequence[Operand]
) -> tuple[tuple[DType, ...], tuple[DType, ...]]:
    """Dtypes a ufunc computes in and returns for these operands, in the current mode.

    Raises:
        SpecError: the ufunc has no loop for these operands, or the mode refuses the mix.
    """
    return _ufunc_dtypes(ufunc, config.promotion, config.prefer_float32, tuple(operands))


@functools.lru_cache(maxsize=8192)
def _ufunc_dtypes(
    ufunc: np.ufunc, mode: str, prefer_float32: bool, operands: tuple[Operand, ...]
) -> tuple[tuple[DType, ...], tuple[DType, ...]]:
    if mode != "numpy" or prefer_float32:
        if len(operands) > 1:
            operands = (_common(mode, prefer_float32, operands),) * len(operands)
        elif isinstance(operands[0], type):
            operands = (_alone(operands[0], prefer_float32),)
    weak = [op for op in operands if isinstance(op, type)]
    if len(weak) == len(operands):  # comparisons of two ints would resolve to object
        operands = tuple(_alone(op, prefer_float32) for op in weak)
    try:
        resolved = ufunc.resolve_dtypes((*operands, *[None] * ufunc.nout))
    except TypeError as error:
        given = ", ".join(op.__name__ if isinstance(op, type) else op.name for op in operands)
        raise DTypeError(f"{ufunc.__name__}: no rule for operands of dtype {given}") from error
    dtypes = tuple(canonical_dtype(dtype) for dtype in resolved)
    return dtypes[: ufunc.nin], dtypes[ufunc.nin :]


@functools.lru_cache(maxsize=8192)
def _common(mode: str, prefer_float32: bool, operands: tuple[Operand, ...]) -> DType:
    strong = [op for op in operands if not isinstance(op, type)]
    weak = [op for op in operands if isinstance(op, type)]
    if mode == "strict" and len(set(strong)) > 1:
        raise SpecError(
            f"dtype promotion 'strict': operands of dtype {_names(strong)} may not mix",
            remedy="convert one of them with .astype(...)",
        )
    if mode == "numpy":
        joined = _numpy_common(strong)
    else:
        joined = functools.reduce(functools.partial(_lattice, mode), strong) if strong else None
    for kind in sorted(weak, key=[bool, int, float, complex].index):
        joined = _with_weak(mode, joined, kind, prefer_float32)
    assert joined is not None
    return joined


def _numpy_common(strong: Sequence[DType]) -> DType | None:
    return functools.reduce(np.promote_types, strong) if strong else None


_CATEGORY = {"b": 0, "i": 1, "u": 1, "f": 2, "V": 2, "c": 3}
_RANK: dict[type, int] = {bool: 0, int: 1, float: 2, complex: 3}


def _with_weak(mode: str, dtype: DType | None, kind: type, prefer_float32: bool) -> DType:
    """A dtype joined with a Python scalar: it wins unless the scalar is of a higher kind."""
    if dtype is None:
        return _alone(kind, prefer_float32)
    if _RANK[kind] <= _CATEGORY[dtype.kind]:
        return dtype
    if mode == "strict" or (
        mode == "safe" and not is_inexact(dtype) and kind is not int and dtype != BOOL
    ):
        raise SpecError(
            f"dtype promotion '{mode}': {dtype.name} may not mix with a Python {kind.__name__}"
        )
    if kind is complex and dtype in (np.float32, np.float16, bfloat16):
        return np.dtype(np.complex64)
    return _alone(kind, prefer_float32)


def _alone(kind: type, prefer_float32: bool) -> DType:
    if prefer_float32 and kind in (float, complex):
        return np.dtype(np.float32 if kind is float else np.complex64)
    dtype: DType = np.dtype(_PYTHON_DTYPE[kind])
    return dtype


def _lattice(mode: str, a: DType, b: DType) -> DType:
    """JAX's least upper bound of two dtypes; "safe" refuses bounds that may lose bits."""
    if a == b:
        return a
    low, high = sorted((a, b), key=lambda d: (_CATEGORY[d.kind], d.itemsize))
    if _CATEGORY[low.kind] < 2 <= _CATEGORY[high.kind]:
        joined = high  # an integer gives way to any float
    elif {low, high} == {np.dtype(np.float16), bfloat16}:
        joined = np.dtype(np.float32)
    elif bfloat16 in (low, high):
        other = high if low == bfloat16 else low
        joined = np.dtype(np.complex64) if other == np.complex64 else other
    else:
        joined = np.promote_types(low, high)
        if _CATEGORY[joined.kind] == 2 and _CATEGORY[high.kind] == 1:
            if mode == "safe":
                raise SpecError(
                    f"dtype promotion 'safe': {a.name} and {b.name} have no common integer"
                )
            joined = np.dtype(np.float32)  # uint64 with a signed integer, in JAX's lattice
    if mode == "safe" and not _is_safe(low, joined):
        raise SpecError(
            f"dtype promotion 'safe': {a.name} with {b.name} may lose bits",
            remedy="convert one of them with .astype(...)",
        )
    return joined


def _is_safe(source: DType, target: DType) -> bool:
    if target == bfloat16:
        return source == BOOL
    return bool(np.can_cast(source, target, "safe"))


def _names(dtypes: Sequence[DType]) -> str:
    return " and ".join(sorted({dtype.name for dtype in dtypes}))
