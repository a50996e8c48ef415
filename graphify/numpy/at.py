"""`ufunc.at` of ufuncs that no scatter combines: one element after the other, as one loop.

    np.negative.at(x, [0, 1, 1])      # x[1] is itself again
    np.power.at(x, i, 2.0)

The loop carries the elements in one dimension; its turns go over the places that the key names.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphify.errors import SpecError
from graphify.ir.assign import assign
from graphify.ir.promotion import ufunc_dtypes
from graphify.ir.sizes import product
from graphify.ir.tensor import Tensor, resolve
from graphify.ir.types import Spec
from graphify.ir.wrapping import as_tensor
from graphify.numpy._table import NAMES
from graphify.ops import control, core
from graphify.ops.indexing import slice_, slice_update
from graphify.ops.keys import getitem
from graphify.ops.rules import operand
from graphify.ops.shape import iota
from graphify.tracing.capture import subgraph

INT64 = np.dtype(np.int64)


def update_in_turn(ufunc: np.ufunc, a: Any, indices: Any, b: Any) -> None:
    """`ufunc.at(a, indices, b)`, whatever the ufunc."""
    x = resolve(as_tensor(a))
    second = [] if b is None else [resolve(as_tensor(b))]
    inputs, (result,) = ufunc_dtypes(ufunc, [operand(t) for t in (x, *second)])
    if not np.can_cast(result, x.dtype, "same_kind"):
        raise SpecError(
            f"{ufunc.__name__}.at: cannot cast the result from {result} to {x.dtype} "
            "with casting rule 'same_kind'"
        )
    second = [core.strong(core.to_dtype(t, d)) for t, d in zip(second, inputs[1:], strict=True)]
    total = product(x.dims)
    places = getitem(core.reshape(iota(length=total, dtype=INT64), shape=x.dims), indices)
    count = product(places.dims)
    rows = [places, *(core.broadcast_to(t, shape=places.dims) for t in second)]
    rows = [core.reshape(t, shape=(count,)) for t in rows]
    body = _turn(ufunc, x.dtype, total, [t.dtype for t in second])
    flat = core.reshape(x, shape=(total,))
    (new,) = control.loop.several(flat, *rows, length=count, body=body, carry=1, xs=len(rows))
    assign(x, core.reshape(new, shape=x.dims))


def _turn(ufunc: np.ufunc, dtype: Any, total: Any, second: list[Any]) -> Any:
    def turn(i: Tensor, flat: Tensor, place: Tensor, *others: Tensor) -> Tensor:
        old = slice_(flat, place, key=(("at", 0),))
        old._base = old._view = None
        new = core.to_dtype(core.strong(NAMES[ufunc.__name__](old, *others)), dtype)
        return slice_update(flat, new, place, key=(("at", 0),))

    scalars = [Spec((), d) for d in (INT64, *second)]
    return subgraph(turn, [Spec((), INT64), Spec((total,), dtype), *scalars], "body").graph


NAMES["_update_in_turn"] = update_in_turn
