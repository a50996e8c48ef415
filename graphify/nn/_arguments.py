"""What the functions of graphify.nn make of their arguments.

same = Geometry.of("conv1d", (n,), (5,), strides=2, padding="SAME", dilations=None)
same.size      # lengths of the result's spatial axes
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphify.errors import ConcreteValueNeeded, ShapeError, SpecError
from graphify.ir.promotion import python_dtype
from graphify.ir.sizes import Dim, Shape, decide_equal, decide_less, product, size_op
from graphify.ir.tensor import Tensor, resolve
from graphify.ir.types import DType, is_complex, is_float
from graphify.ir.wrapping import as_tensor
from graphify.ops import core
from graphify.ops.shape import as_dim, size_value

Ints = tuple[int, ...]

# --- tensors --------------------------------------------------------------------------------------


def to_tensor(value: Any) -> Tensor:
    """Any array-like as a tensor of settled dtype; in a trace, its twin there."""
    return core.strong(resolve(as_tensor(value)))


def real(value: Any, what: str) -> Tensor:
    """A tensor of real numbers. `what` names function and argument: "relu: argument 'features'"."""
    x = to_tensor(value)
    if is_complex(x.dtype) or x.dtype.kind == "b":
        raise SpecError(f"{what}: expected real numbers, got {x.spec}")
    return x


def floats(value: Any, what: str) -> Tensor:
    """A tensor of floats; integers become the default float."""
    x = real(value, what)
    return x if is_float(x.dtype) else core.to_dtype(x, python_dtype(float))


def number(value: Any, x: Tensor) -> Tensor:
    """A Python number in the dtype of x: a bfloat16 would not stay one beside a Python float.

    Raises:
        SpecError: complex numbers, or no numbers.
    """
    if type(value) in (int, float):
        return core.full((), value, x.dtype)
    given = as_tensor(value)
    if is_complex(given.dtype):
        raise SpecError(f"expected real numbers beside {x.spec}, got {given.spec}")
    return given


def wide(dtype: DType) -> DType:
    """The dtype for sums of many numbers of a dtype: float32 for half precision."""
    return np.dtype(np.float32) if is_float(dtype) and dtype.itemsize == 2 else dtype


def count_of(dims: Sequence[Dim], dtype: DType) -> Any:
    """How many elements there are, as a number to divide by."""
    total = product(dims)
    return (
        float(total) if isinstance(total, int) else core.cast(size_value(size=total), dtype=dtype)
    )


def axes_of(axis: Any, ndim: int) -> Ints:
    """Axes as a sorted tuple, not negative; None is all of them.

    Raises:
        numpy.exceptions.AxisError: out of range.
    """
    if axis is None:
        return tuple(range(ndim))
    items = axis if isinstance(axis, (tuple, list)) else (axis,)
    axes = tuple(sorted(_axis(item, ndim) for item in items))
    if len(set(axes)) != len(axes):
        raise ValueError("duplicate value in 'axis'")
    return axes


def _integer(value: Any, wrong: str) -> int:
    """A Python int. A traced number raises ConcreteValueNeeded, so that it is traced as a constant.

    Raises:
        TypeError: no integer; `wrong` is the message.
    """
    try:
        return operator.index(value)
    except ConcreteValueNeeded:
        raise
    except TypeError:
        raise TypeError(wrong) from None


def _axis(axis: Any, ndim: int) -> int:
    index = _integer(axis, f"axis: expected an integer, got {type(axis).__name__} {axis!r:.40}")
    if not -ndim <= index < ndim:
        raise np.exceptions.AxisError(index, ndim)
    return index % ndim


# --- windows --------------------------------------------------------------------------------------

CHANNELS_LAST = {1: "NWC", 2: "NHWC", 3: "NDHWC"}
CHANNELS_FIRST = {1: "NCW", 2: "NCHW", 3: "NCDHW"}


def channels_first(name: str, data_format: Any, rank: int) -> bool:
    """Whether the channels come right after the samples.

    Raises:
        ValueError: the format is none for this number of spatial axes.
    """
    if data_format in (None, CHANNELS_LAST.get(rank)):
        return False
    if data_format == CHANNELS_FIRST.get(rank):
        return True
    known = [table[rank] for table in (CHANNELS_LAST, CHANNELS_FIRST) if rank in table]
    raise ValueError(
        f"{name}: argument 'data_format': expected {' or '.join(map(repr, known)) or None}, "
        f"got {data_format!r}"
    )


def per_axis(name: str, argument: str, value: Any, rank: int, first: bool = False) -> Ints:
    """A positive int for each spatial axis, from one for all, one each, or TensorFlow's full list.

    Args:
        first: in a full list, of `rank + 2`, the channels are the second entry.
    """
    given = list(value) if isinstance(value, (tuple, list, np.ndarray)) else [value]
    wrong = f"{name}: argument {argument!r}: expected integers, got {value!r:.60}"
    items = [_integer(item, wrong) for item in given]
    if len(items) == rank + 2:
        outer = (items.pop(0), items.pop(0 if first else -1))
        if outer != (1, 1):
            raise ValueError(
                f"{name}: argument {argument!r}: expected 1 for samples and channels, got {value!r}"
            )
    elif len(items) == 1:
        items = items * rank
    if len(items) != rank or any(item < 1 for item in items):
        raise ValueError(
            f"{name}: argument {argument!r}: expected {rank} positive integers, one for each "
            f"spatial axis, got {value!r:.60}"
        )
    return tuple(items)


def _pairs(name: str, padding: Any, rank: int, first: bool) -> list[tuple[Dim, Dim]]:
    """Explicit padding: a (before, after) pair for each spatial axis, or TensorFlow's full list."""
    wrong = (
        f"{name}: argument 'padding': expected 'SAME', 'VALID' or {rank} pairs (before, after) of "
        f"integers >= 0, got {padding!r:.80}"
    )
    if isinstance(padding, str) or not hasattr(padding, "__len__"):
        raise ValueError(wrong)
    rows = list(padding)
    if any(not hasattr(row, "__len__") or len(row) != 2 for row in rows):
        raise ValueError(wrong)
    if len(rows) == rank + 2:
        outer = (tuple(rows.pop(0)), tuple(rows.pop(0 if first else -1)))
        if outer != ((0, 0), (0, 0)):
            raise ValueError(f"{wrong}: samples and channels take no padding")
    pairs = [(as_dim(a, "padding"), as_dim(b, "padding")) for a, b in rows]
    if len(pairs) != rank or any(decide_less(n, 0) for pair in pairs for n in pair):
        raise ValueError(wrong)
    return pairs


@dataclass(frozen=True, slots=True)
class Geometry:
    """Windows over the spatial axes: how they lie, and how many there are."""

    strides: Ints
    dilations: Ints
    before: Shape
    after: Shape
    size: Shape

    @classmethod
    def of(
        cls,
        name: str,
        lengths: Shape,
        window: Shape,
        strides: Any,
        padding: Any,
        dilations: Any,
        first: bool = False,
    ) -> Geometry:
        """The windows that TensorFlow's arguments of the same names describe.

        Raises:
            ValueError: a wrong number of entries, an unknown padding, a window that does not fit.
        """
        rank = len(lengths)
        steps = per_axis(name, "strides", 1 if strides is None else strides, rank, first)
        gaps = per_axis(name, "dilations", 1 if dilations is None else dilations, rank, first)
        spans = [reach(k, d) for k, d in zip(window, gaps, strict=True)]
        if padding == "SAME":
            size = tuple(up(n, s) for n, s in zip(lengths, steps, strict=True))
            totals = [
                size_op("max", (o - 1) * s + span - n, 0)
                for o, s, span, n in zip(size, steps, spans, lengths, strict=True)
            ]
            before = tuple(down(total, 2) for total in totals)
            after = tuple(total - b for total, b in zip(totals, before, strict=True))
            return cls(steps, gaps, before, after, size)
        pairs = [(0, 0)] * rank if padding == "VALID" else _pairs(name, padding, rank, first)
        padded = [n + a + b for n, (a, b) in zip(lengths, pairs, strict=True)]
        size = tuple(down(n - span, s) + 1 for n, span, s in zip(padded, spans, steps, strict=True))
        for axis, (o, n, span) in enumerate(zip(size, padded, spans, strict=True)):
            if decide_less(o, 0):
                raise ShapeError(
                    f"{name}: spatial axis {axis}: expected a window of at most {n} places, the "
                    f"padded length, got one that spans {span}"
                )
        return cls(steps, gaps, tuple(a for a, _ in pairs), tuple(b for _, b in pairs), size)

    @property
    def attrs(self) -> dict[str, Any]:
        """Attributes of the convolution ops, but for size and groups."""
        return {"strides": self.strides, "dilations": self.dilations, "padding": self.before}


def reach(window: Dim, dilation: int) -> Dim:
    """How many places a window spans."""
    return (window - 1) * dilation + 1


def down(n: Dim, divisor: int) -> Dim:
    return size_op("floordiv", n, divisor)


def up(n: Dim, divisor: int) -> Dim:
    return down(n + (divisor - 1), divisor)


def same_shape(name: str, labels: Tensor, logits: Tensor) -> None:
    """Refuse labels and logits of different shapes.

    Raises:
        ShapeError: they differ in every run.
    """
    if labels.ndim != logits.ndim or any(
        decide_equal(a, b) is False for a, b in zip(labels.dims, logits.dims, strict=True)
    ):
        raise ShapeError(
            f"{name}: argument 'labels': expected shape {logits.dims}, got {labels.dims}"
        )
