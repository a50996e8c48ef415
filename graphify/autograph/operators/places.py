"""np.ndindex, np.ndenumerate, np.nditer and `x.flat` as loops over the places of an array.

    for i, j in np.ndindex(x.shape):    # one staged loop over all places, in C order
        y[i, j] = x[i, j] + i * j

Imported once for its effect on calls: inside a trace, these NumPy classes give `Items`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphify.autograph.operators.calls import OVERLOADS
from graphify.autograph.operators.iteration import Items
from graphify.errors import SpecError
from graphify.ir.context import current_builder
from graphify.ir.sizes import Dim, Shape, decide_equal, product
from graphify.ir.tensor import Tensor, resolve
from graphify.ir.wrapping import as_tensor
from graphify.location import here
from graphify.numpy._table import broadcast_dims, shape_of, to_tensor
from graphify.numpy.flat import Flat
from graphify.ops import elementwise as e
from graphify.ops.effects import Raise, assert_
from graphify.ops.views import broadcast_view, in_c_order


def place_of(i: Any, shape: Shape) -> tuple[Any, ...]:
    """The indices of the i-th place of a shape, in C order; numbers as Python has them."""
    indices: list[Any] = []
    for axis, dim in enumerate(shape):
        inner = product(shape[axis + 1 :])
        index = i if inner == 1 else i // _number(inner)
        indices.append(index if axis == 0 else index % _number(dim))
    return tuple(indices)


def _number(dim: Dim) -> Any:
    return dim if isinstance(dim, int) else as_tensor(dim)


def ndindex(*shape: Any) -> Any:
    """`np.ndindex`: the indices of all places of a shape."""
    if len(shape) == 1 and not isinstance(shape[0], (int, np.integer)):
        given = shape[0]
        shape = given if isinstance(given, tuple) else (given,)
    dims = shape_of(tuple(shape))
    return Items(product(dims), lambda i: place_of(i, dims), optional=True)


def ndenumerate(arr: Any) -> Any:
    """`np.ndenumerate`: the indices of all places of an array, and what stands there."""
    x = resolve(as_tensor(arr))
    dims = x.dims

    def item(i: Any) -> Any:
        place = place_of(i, dims)
        return place, x[place]

    return Items(product(dims), item, optional=not x.is_symbolic, shown=(x,))


def elements_of(flat: Flat) -> Items:
    """What a loop over `x.flat` runs over: each element as it is when its turn comes."""
    x = resolve(flat.base)
    dims = x.dims
    item = lambda i: x[place_of(i, dims)]
    return Items(product(dims), item, optional=not x.is_symbolic, shown=(x,))


# --- nditer ---------------------------------------------------------------------------------------

_FLAGS = {"multi_index", "c_index", "refs_ok", "zerosize_ok"}
_OPERAND_FLAGS = {"readonly", "readwrite", "writeonly", "aligned", "contig", "nbo", "no_broadcast"}


class NdIter(Items):
    """`np.nditer`: the elements of arrays as arrays of no dimension, in C order."""

    def __init__(self, arrays: Sequence[Tensor], writable: Sequence[bool], single: bool) -> None:
        self.arrays, self.writable, self.single = arrays, writable, single
        self.dims = broadcast_dims(*(x.dims for x in arrays))
        self.multi_index: tuple[Any, ...] = ()
        self.index: Any = 0
        super().__init__(product(self.dims), self._item, shown=tuple(arrays))

    @property
    def itersize(self) -> Any:
        return _number(self.length)

    def _item(self, i: Any) -> Any:
        self.index, self.multi_index = i, place_of(i, self.dims)
        pairs = zip(self.arrays, self.writable, strict=True)
        parts = [self._element(x, writes) for x, writes in pairs]
        return parts[0] if self.single else tuple(parts)

    def _element(self, x: Tensor, writes: bool) -> Tensor:
        skipped = len(self.dims) - x.ndim
        place = [
            0 if decide_equal(dim, wide) is not True and dim == 1 else index
            for dim, wide, index in zip(
                x.dims, self.dims[skipped:], self.multi_index[skipped:], strict=True
            )
        ]
        element = x[(*place, ...)]
        return element if writes else broadcast_view(element, ())

    def __enter__(self) -> NdIter:
        return self

    def __exit__(self, *error: Any) -> None:
        pass


def nditer(
    op: Any,
    flags: Any = (),
    op_flags: Any = None,
    op_dtypes: Any = None,
    order: str = "K",
    **more: Any,
) -> Any:
    """`np.nditer` over the elements of one or more arrays.

    Raises:
        SpecError: a flag or option that is not supported; an order that is not that of C.
    """
    single = not isinstance(op, (tuple, list))
    arrays = [resolve(as_tensor(x)) for x in ((op,) if single else op)]
    _check_options([*flags, *more], op_dtypes)
    writable = _writable(op_flags, len(arrays))
    if order != "C" and not (order == "K" and all(map(in_c_order, arrays))):
        raise _refused(
            "the order of the elements in memory is not known while tracing, or not that of C",
            'write np.nditer(x, order="C") if their order is no matter',
        )
    turns = NdIter(arrays, writable, single)
    if "zerosize_ok" not in flags:
        message = "Iteration of zero-sized operands is not enabled"
        if turns.length == 0:
            raise ValueError(message)
        if not isinstance(turns.length, int):
            assert_(
                e.not_equal(as_tensor(turns.length), 0), exception=Raise(ValueError, (message,))
            )
    return turns


def _check_options(flags: Sequence[Any], op_dtypes: Any) -> None:
    unknown = [flag for flag in flags if flag not in _FLAGS]
    if op_dtypes is not None:
        unknown.append("op_dtypes")
    if unknown:
        raise _refused(
            f"{unknown[0]!r} is not supported",
            "loop over the indices, for place in np.ndindex(x.shape), or over x.flat",
        )


def _writable(op_flags: Any, count: int) -> list[bool]:
    if op_flags is None:
        return [False] * count
    flags = list(op_flags)
    each = [flags] * count if all(isinstance(flag, str) for flag in flags) else flags
    for flag in (flag for given in each for flag in given):
        if flag not in _OPERAND_FLAGS:
            raise _refused(f"the flag {flag!r} of an operand is not supported", "leave it out")
    return ["readwrite" in given or "writeonly" in given for given in each]


def _refused(why: str, remedy: str) -> SpecError:
    location = here() if current_builder() is not None else None
    return SpecError(
        f"nditer: {why}", location=location.resolve() if location else None, remedy=remedy
    )


class Broadcast(Items):
    """`np.broadcast`: the shape that arrays have together, and their elements side by side."""

    def __init__(self, *args: Any) -> None:
        arrays = [to_tensor(x) for x in args]
        self.dims = broadcast_dims(*(x.dims for x in arrays))
        self.ndim = self.nd = len(self.dims)
        self.numiter = len(arrays)
        wide = tuple(broadcast_view(x, self.dims) for x in arrays)
        item = lambda i: tuple(x[place_of(i, self.dims)] for x in wide)
        super().__init__(product(self.dims), item, shown=wide)

    @property
    def shape(self) -> tuple[Any, ...]:
        return tuple(map(_number, self.dims))

    @property
    def size(self) -> Any:
        return _number(self.length)


OVERLOADS.update({np.ndindex: ndindex, np.ndenumerate: ndenumerate, np.nditer: nditer})
OVERLOADS[np.broadcast] = Broadcast
