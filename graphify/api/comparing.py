"""Whether two answers are the same, up to what engines may differ in, and by how much they do not.

    difference_of(np.array([1.0, 2.0]), np.array([1.0, 2.5]))
    # "1 of 2 elements differ, by up to 0.5 (25%) at [1]: 2.0 and 2.5"

Two engines may sum in another order and fuse a multiply with an add; nothing else may differ.
Integers, booleans and strings must be equal.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphify import tree
from graphify.ir.tensor import Tensor

# dtype name -> (relative, absolute); the absolute one is for results of size one, and grows with
# the largest element.
TOLERANCES: dict[str, tuple[float, float]] = {
    "bfloat16": (2e-2, 1e-2),
    "float16": (4e-3, 2e-3),
    "float32": (2e-5, 1e-6),
    "float64": (1e-12, 1e-13),
    "longdouble": (1e-12, 1e-13),
    "complex64": (2e-5, 1e-6),
    "complex128": (1e-12, 1e-13),
}
SHOWN = 120  # characters of a value


def plain(value: Any) -> Any:
    """A leaf as NumPy has it."""
    return value.numpy() if isinstance(value, Tensor) and not value.is_symbolic else value


def is_numeric(value: Any) -> bool:
    return isinstance(plain(value), (np.ndarray, np.generic, bool, int, float, complex))


def difference_of(left: Any, right: Any) -> str | None:
    """How two leaves differ; None where they agree."""
    left, right = plain(left), plain(right)
    if not (is_numeric(left) and is_numeric(right)):
        same = left is right or type(left) is type(right) and _equal(left, right)
        return None if same else f"{show(left)} and {show(right)}"
    a, b = np.asarray(left), np.asarray(right)
    if a.dtype != b.dtype:
        return f"dtypes {a.dtype} and {b.dtype}"
    if a.shape != b.shape:
        return f"shapes {a.shape} and {b.shape}"
    if a.dtype.kind not in "fcV" or a.dtype.names:
        wrong = a != b
    else:
        wrong = ~_close(a, b)
    return _told(a, b, np.asarray(wrong)) if np.any(wrong) else None


def _close(a: Any, b: Any) -> Any:
    relative, absolute = TOLERANCES.get(a.dtype.name, (1e-12, 1e-13))
    wide = np.complex128 if a.dtype.kind == "c" else np.float64
    a, b = a.astype(wide), b.astype(wide)
    finite = np.abs(a[np.isfinite(a)])
    scale = max(1.0, float(finite.max())) if finite.size else 1.0
    return np.isclose(b, a, rtol=relative, atol=absolute * scale, equal_nan=True)


def _told(a: Any, b: Any, wrong: Any) -> str:
    at = np.unravel_index(int(np.argmax(wrong)), wrong.shape) if wrong.shape else ()
    if not a.shape:
        return f"they differ by {_off(a, b):.3g}" if a.dtype.kind in "fciu" else f"{a} and {b}"
    count = int(wrong.sum())
    place = ", ".join(str(int(i)) for i in at)
    text = f"{count} of {a.size} elements differ, first at [{place}]: {a[at]} and {b[at]}"
    return f"{text}; by up to {_off(a[wrong], b[wrong]):.3g}" if a.dtype.kind in "fciu" else text


def _off(a: Any, b: Any) -> float:
    """How far apart numbers are; infinite if one of them is no number."""
    with np.errstate(all="ignore"):
        off = np.abs(a.astype(np.complex128) - b.astype(np.complex128))
    return float(np.max(np.where(np.isnan(off), np.inf, off)))


def _equal(left: Any, right: Any) -> bool:
    try:
        return bool(left == right)
    except (TypeError, ValueError):
        return False


def show(value: Any) -> str:
    """A value in one line."""
    text = " ".join(repr(plain(value)).split())
    return text if len(text) <= SHOWN else text[: SHOWN - 4] + " ..."


def first_difference(left: Any, right: Any, root: str) -> tuple[str, Any, Any, str] | None:
    """The first leaves of two trees that differ: path, both values, how."""
    lefts, shape = tree.flatten(left, is_leaf=is_numeric)
    rights, other = tree.flatten(right, is_leaf=is_numeric)
    if shape != other:
        return root, left, right, f"structures {show(left)} and {show(right)}"
    for path, a, b in zip(shape.paths(root), lefts, rights, strict=True):
        told = difference_of(a, b)
        if told is not None:
            return path, a, b, told
    return None
