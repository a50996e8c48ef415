"""Python slices of axes whose length, or whose bounds, only the run knows.

    normalise_slice(slice(1, -1), n)  ->  (1, max(n - 2, 0), 1)

What comes out is `(start, count, step)`, as ints or symbolic sizes, all of it within the axis.
"""

from __future__ import annotations

from typing import Any

from graphify.ir.kinds import wrong_kind
from graphify.ir.sizes import Dim, decide_less, size_op
from graphify.ir.tensor import Tensor, value_needed
from graphify.ir.types import BOOL
from graphify.ir.wrapping import as_tensor
from graphify.ops.shape import as_dim

FAR = 2**62  # farther than any axis reaches; sums of it and of a length still have 64 bits
NO_INTEGER = "slice indices must be integers or None or have an __index__ method"
NO_INDEX = "only integer scalar arrays can be converted to a scalar index"


def normalise_slice(entry: slice, dim: Dim) -> tuple[Dim, Dim, int]:
    """A Python slice of an axis as (start, count, step), nothing negative, all in range.

    Raises:
        TypeError: something in it is no integer. ValueError: step zero.
        ConcreteValueNeeded: a traced step.
    """
    check_integers(entry)
    step = 1 if entry.step is None else _concrete_step(entry.step)
    if step == 0:
        raise ValueError("slice step cannot be zero")
    bounds = [None if b is None else _bound(b, dim, step) for b in (entry.start, entry.stop)]
    if all(isinstance(b, int | None) for b in bounds) and isinstance(dim, int):
        start, stop, _ = slice(bounds[0], bounds[1], step).indices(dim)
        return (start, len(range(start, stop, step)), step)
    return _symbolic_slice(bounds[0], bounds[1], step, dim)


def check_integers(entry: slice) -> None:
    """Let a slice have integers only, as Python and NumPy do.

    Raises:
        TypeError: it has a float, a bool of NumPy's, or an array of some rank.
    """
    for part in (entry.start, entry.stop, entry.step):
        if not isinstance(part, Tensor):
            continue
        of_python = part.spec.weak and part.dtype == BOOL
        if part.ndim or not (part.dtype.kind in "iu" or of_python):
            is_array = part.ndim or not part._scalar
            raise wrong_kind(TypeError(NO_INDEX if is_array else NO_INTEGER), part)


def _concrete_step(step: Any) -> int:
    if isinstance(step, Tensor) and step.is_symbolic:
        raise value_needed(step, "the slice step")
    known: int = in_reach(int(step.numpy()) if isinstance(step, Tensor) else step.__index__())
    return known


def in_reach(number: Any) -> Any:
    """A bound or step of a slice that means the same for every axis; sizes have 64 bits."""
    return max(-FAR, min(number, FAR)) if isinstance(number, int) else number


class _Settled:
    """A bound that needs no wrapping any more: -1 in it is the place before the first element."""

    def __init__(self, dim: Dim) -> None:
        self.dim = dim


def _bound(bound: Any, dim: Dim, step: int) -> Any:
    """A bound as an int or size; a traced integer of unknown sign is wrapped and clamped first."""
    if not isinstance(bound, Tensor) or not bound.is_symbolic:
        return in_reach(as_dim(bound, "slice bound"))
    from graphify.ops import elementwise as e
    from graphify.ops.shape import _size_of, as_int64

    known = _size_of(bound._value)
    if known is not None:
        return known
    bound = as_int64(bound)
    wrapped = e.where(e.less(bound, 0), bound + as_tensor(dim), bound)
    if step > 0:
        return _Settled(as_dim(e.maximum(wrapped, 0), "slice bound"))
    inside = e.minimum(e.maximum(wrapped, -1), FAR)
    return _Settled(as_dim(inside + 1, "slice bound") - 1)


def _symbolic_slice(start: Any, stop: Any, step: int, dim: Dim) -> tuple[Dim, Dim, int]:
    if step > 0:
        first = 0 if start is None else _maximum(_wrap(start, dim, 2), 0)
        last = dim if stop is None else _minimum(_maximum(_wrap(stop, dim, 2), 0), dim)
        span = last - first
    else:
        first = dim - 1 if start is None else _minimum(_wrap(start, dim, 1), dim - 1)
        last = -1 if stop is None else _maximum(_wrap(stop, dim, 1), -1)
        span = first - last
    stride = abs(step)
    count = span if stride == 1 else size_op("floordiv", span + (stride - 1), stride)
    return (_maximum(first, 0) if step < 0 else first, _maximum(count, 0), step)


def _wrap(bound: Dim | _Settled, dim: Dim, slack: int) -> Dim:
    """A bound that counts from the end if it is negative.

    A bound of `dim - slack` or more is negative only where wrapping does not change the slice:
    `dim - 2` is -1 for one element, which wraps to 0, as clamping does where the step is positive.
    """
    if isinstance(bound, _Settled):
        return bound.dim
    if decide_less(bound, 0):
        return bound + dim
    if dim - bound in range(slack + 1):
        return bound
    return size_op("wrap", bound, dim)


def _maximum(a: Dim, b: Dim) -> Dim:
    less = decide_less(a, b)
    return size_op("max", a, b) if less is None else (b if less else a)


def _minimum(a: Dim, b: Dim) -> Dim:
    less = decide_less(a, b)
    return size_op("min", a, b) if less is None else (a if less else b)
