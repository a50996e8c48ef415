"""A row of a buffer in which a list of run-time length keeps its elements: what it is, how wide.

row_of(leaf, dtype, shape)        # checked, or padded where it is itself a list
widened(buffer, 1, width)         # for lists that are longer than those before
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from graphify.autograph.operators.state import Unstageable, placeholder
from graphify.errors import TraceError
from graphify.ir.context import in_bounds
from graphify.ir.kinds import may_cut_off
from graphify.ir.sharing import link, links, observers
from graphify.ir.sizes import Dim, Shape, Size, decide_equal, decide_less, size_op
from graphify.ir.tensor import Tensor, resolve
from graphify.ir.types import DType, Spec
from graphify.ir.wrapping import as_tensor
from graphify.location import here, user_frame
from graphify.ops import core, effects, elementwise
from graphify.ops.indexing import slice_update
from graphify.ops.shape import as_dim, concatenate
from graphify.tracing.lists import List

EXACT, OWED, DOUBLING = "exact", "owed", "doubling"
# What a leaf is in Python; mixed: scalars that have several dtypes, and wrap around apart; either:
# arrays of which some have integers and some have floats.
NUMBER, SCALAR, MIXED, ARRAY, EITHER = "number", "scalar", "mixed", "array", "integers or floats"
KINDS = (NUMBER, SCALAR, MIXED, ARRAY, EITHER)
ARRAYS = (ARRAY, EITHER)
INT = np.dtype(np.int64)

Count: TypeAlias = "Dim | Tensor"


@dataclass(slots=True, eq=False)
class Peak:
    """The least room a list had in a turn of a loop, at whose end another may stand there."""

    free: Dim = 0

    def note(self, free: Dim) -> None:
        self.free = size_op("min", self.free, free)


@dataclass(frozen=True, slots=True)
class Room:
    """What is known of the room in the buffers.

    Attributes:
        mode: EXACT, OWED or DOUBLING.
        free: so many elements fit in any case; of a list that is OWED less than none.
        added: how many elements more there are than when the frame began, where that is certain.
        peaks: of the carried lists that this may be, where it is OWED.
    """

    mode: str = EXACT
    free: Dim = 0
    added: Dim | None = None
    peaks: tuple[Peak, ...] = field(default=(), compare=False)

    def less(self, count: Dim) -> Room:
        """After appending some elements, which the peaks note."""
        added = None if self.added is None else self.added + count
        for peak in self.peaks:
            peak.note(self.free - count)
        return replace(self, free=self.free - count, added=added)


REFUSED = "the length of a list is only known when the graph runs, and "


def refused(why: str, remedy: str) -> Unstageable:
    return Unstageable(
        f"{REFUSED}{why}",
        location=here(),
        remedy=remedy,
    )


def kind_of(leaf: Any) -> str:
    if not isinstance(leaf, Tensor):
        return ARRAY if isinstance(leaf, np.ndarray) else SCALAR if _is_scalar(leaf) else NUMBER
    if leaf.spec.weak or leaf._scalar and not leaf.dims:
        return NUMBER if leaf.spec.weak else SCALAR
    return EITHER if may_cut_off(leaf) else ARRAY


def has_arrays(kinds: Sequence[str]) -> bool:
    return any(kind in ARRAYS for kind in kinds)


def _is_scalar(leaf: Any) -> bool:
    return isinstance(leaf, np.generic)


def wider(one: str, other: str) -> str:
    return max(one, other, key=KINDS.index)


def wrap_apart(one: DType, other: DType) -> bool:
    """Whether sums wrap around in one dtype where they do not in another; those of 32 signed bits
    and more do so too late to count."""
    return one != other and any(
        dtype.kind == "u" or dtype.kind == "i" and dtype.itemsize < 4 for dtype in (one, other)
    )


def join_dtypes(one: DType, other: DType) -> DType:
    return one if one == other else np.result_type(one, other)


def number(count: Count) -> Tensor:
    """A count as a tensor."""
    return core.strong(as_tensor(count))


def zeros(shape: Shape, dtype: DType) -> Tensor:
    return placeholder(Spec(shape, dtype))


def inherit(changed: Tensor, buffer: Tensor) -> None:
    """What shares arrays with a buffer does so with what has become of it."""
    for other, _ in list(links(buffer)):
        link(changed, other, None)
    for seer, _ in list(observers(buffer)):
        link(seer, changed, None)


# --- shapes ---------------------------------------------------------------------------------------


def row_of(
    leaf: Any, dtype: DType, shape: Sequence[Dim], whose: List | None = None, padded: int = 0
) -> Tensor:
    """A leaf as a row of a buffer.

    Args:
        whose: the list, for errors.
        padded: so many first axes may be shorter: anything fills them up.

    Raises:
        Unstageable: it has another shape than the other rows.
    """
    tensor = core.to_dtype(core.strong(resolve(as_tensor(leaf))), dtype)
    shape, free = tuple(shape), min(padded, tensor.ndim)
    if decide_shapes(tensor.dims[:free], shape[:free]) is not True:
        key = tuple((0, dim, 1) for dim in tensor.dims[:free])
        wide = zeros((*shape[:free], *tensor.dims[free:]), dtype)
        with in_bounds():
            tensor = slice_update(wide, tensor, key=key)
    same = decide_shapes(tensor.dims, shape)
    if same is False:
        pieces = _differing(tensor.dims[padded:], shape[padded:], whose)
        raise refused("".join(map(str, pieces)), PAD)
    if same:
        return tensor
    _check_shape(tensor.dims, shape, whose)
    return core.reshape(tensor, shape=shape)


def decide_shapes(one: Shape, other: Shape) -> bool | None:
    """Whether two shapes are one in every run, or in none."""
    if len(one) != len(other):
        return False
    same = [decide_equal(a, b) for a, b in zip(one, other, strict=True)]
    return False if False in same else None if None in same else True


def widened(buffer: Tensor, axis: int, width: Count) -> Tensor:
    """A buffer in which an axis has some length at least; twice its length if it has to grow."""
    from graphify.autograph.operators.updates import branch  # which joins values, as lists do

    have = buffer.dims[axis]
    if not isinstance(width, Tensor) and decide_less(have, width) is False:
        return buffer

    def longer() -> list[Tensor]:
        if isinstance(width, int) and isinstance(have, int):
            missing: Dim = width - have
        else:
            twice = elementwise.maximum(number(width), number(have * 2))
            missing = as_dim(elementwise.maximum(twice - number(have), 0))
        dims = (*buffer.dims[:axis], missing, *buffer.dims[axis + 1 :])
        return [concatenate(buffer, zeros(dims, buffer.dtype), axis=axis)]

    if isinstance(width, int) and isinstance(have, int):
        (made,) = longer()
    else:
        full = elementwise.greater(number(width), number(have))
        (made,) = branch(full, longer, lambda: [buffer])
    inherit(made, buffer)
    return made


PAD = "make them of one shape, e.g. by padding, or keep them in one array after the other"


def _differing(here: Shape, before: Shape, whose: List | None) -> list[Any]:
    """What to say of an element whose shape differs: words, and lengths."""
    lines = {} if whose is None else whose.lines
    others = [str(at) for shape, at in lines.items() if shape != here]
    elements = f"the elements of '{name}'" if (name := _name_of(whose)) else "its elements"
    seen = f" ({', '.join(dict.fromkeys(others))})" if others else ""
    return [f"{elements} differ in shape: ", *_words(before), seen, " and ", *_words(here)]


def _words(shape: Shape) -> list[Any]:
    """A shape as Python shows it, in words and lengths."""
    between: list[Any] = [part for dim in shape for part in (", ", dim)][1:]
    return ["(", *between, ",)" if len(shape) == 1 else ")"]


def _name_of(whose: List | None) -> str | None:
    """What the user calls a list in the line at hand."""
    frame = None if whose is None else user_frame()
    names = {} if frame is None else frame.f_locals
    return next((name for name, value in names.items() if value is whose), None)


def _check_shape(here: Shape, before: Shape, whose: List | None) -> None:
    """Let the run find out whether an element is shaped as the others are."""
    pairs = [pair for pair in zip(here, before, strict=True) if decide_equal(*pair) is None]
    same = [elementwise.equal(number(one), number(other)) for one, other in pairs]
    words = [REFUSED, *_differing(here, before, whose)]
    pieces = tuple(None if isinstance(word, Size) else str(word) for word in words)
    values = [number(word) for word in words if isinstance(word, Size)]
    error = effects.Raise(TraceError, (effects.Text(pieces, ""),), remedy=PAD)
    effects.assert_(functools.reduce(elementwise.logical_and, same), *values, exception=error)
