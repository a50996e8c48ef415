"""Arrays that the rows of the table are called with."""

from __future__ import annotations

from typing import Any

import numpy as np

Row = tuple[Any, tuple[Any, ...]]

rng = np.random.default_rng(0)
F = np.array([[0.3, -0.7, 1.9], [-2.4, 0.6, 3.2]])
G = np.array([[1.4, 0.8, -0.6], [2.1, -1.7, 0.9]])
F32 = F.astype(np.float32)
POSITIVE = np.abs(F) + 0.1
UNIT = F / 4
SHARES = POSITIVE / POSITIVE.sum(1, keepdims=True)
SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -1.5])
C = F + 1j * G
C64 = C.astype(np.complex64)
I = np.array([[3, -7, 2], [5, 1, -4]], np.int32)  # noqa: E741
J = np.array([[2, 3, -5], [-1, 4, 3]], np.int32)
I64 = I.astype(np.int64)
SMALL = np.array([1, 2, 1], np.int32)
U = np.array([3, 250, 7], np.uint8)
B = np.array([[True, False, True], [False, True, True]])
NO = ~B
SQUARE = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]])
STACK = np.stack([SQUARE, SQUARE + np.eye(3)])
CUBE = rng.normal(size=(2, 3, 4))
IMAGE = rng.normal(size=(2, 6, 5, 3))
SIGNAL = rng.normal(size=(2, 8, 3))
VOLUME = rng.normal(size=(1, 4, 4, 4, 2)).astype(np.float32)
VECTOR = np.array([0.5, -1.5, 2.5])


def each(function: Any, *arguments: Any) -> list[Row]:
    """One function, called with each of these arguments, or tuples of them."""
    return [(function, a if isinstance(a, tuple) else (a,)) for a in arguments]
