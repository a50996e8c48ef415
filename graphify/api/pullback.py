"""Derivatives of a finished tape as arrays: whole Jacobians, one batched sweep each.

The sweep for one cotangent (or tangent) is traced to a graph, and that graph is batched over the
rows of an identity matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from graphify.ir.sizes import Dim, product
from graphify.ir.tensor import Tensor
from graphify.ir.types import DType, Spec
from graphify.ops import core
from graphify.ops.elementwise import equal
from graphify.ops.shape import iota, transpose
from graphify.tracing.capture import subgraph
from graphify.transforms.jvp import pushforward
from graphify.transforms.tape import Key, Tape, tensor_of
from graphify.transforms.vjp import backprop
from graphify.transforms.vmap import batch_graph, spread_lanes

Rows = list[Tensor | None]


def unit_vectors(dims: Sequence[Dim], dtype: DType) -> Tensor:
    """Every unit vector of a shape: `[count, *dims]`."""
    count = product(dims)
    index = iota(length=count, dtype=np.dtype(np.int64))
    eye = equal(core.reshape(index, shape=(count, 1)), core.reshape(index, shape=(1, count)))
    return core.reshape(core.cast(eye, dtype=dtype), shape=(count, *dims))


def _sweep(function: Callable[[Tensor], Rows], basis: Tensor) -> Rows:
    """`function` of each row of `basis`, stacked at axis 0."""
    mask: list[bool] = []

    def present(vector: Tensor) -> list[Tensor]:
        rows = function(vector)
        mask[:] = [row is not None for row in rows]
        return [row for row in rows if row is not None]

    sub = subgraph(present, [Spec(basis.dims[1:], basis.dtype)], "sweep")
    size = basis.dims[0]
    operands, batched = [basis, *sub.captures], [True, *[False] * len(sub.captures)]
    results = iter(spread_lanes(*batch_graph(sub.graph, operands, batched, size), size))
    return [next(results) if on else None for on in mask]


def reverse_jacobian(tape: Tape, target: Key, sources: Sequence[Key]) -> Rows:
    """Jacobians `[*target, *source]`, by one backward sweep for each element of the target."""
    dims = tensor_of(target).dims

    def pull(g: Tensor) -> Rows:
        return backprop(tape.records, [target], [g], sources)

    rows = _sweep(pull, unit_vectors(dims, tensor_of(target).dtype))
    return [
        None if row is None else core.reshape(row, shape=(*dims, *row.dims[1:])) for row in rows
    ]


def forward_jacobian(tape: Tape, targets: Sequence[Key], source: Key) -> Rows:
    """Jacobians `[*target, *source]`, by one forward sweep for each element of the source."""
    dims = tensor_of(source).dims

    def push(t: Tensor) -> Rows:
        return pushforward(tape.records, [source], [t], targets)

    rows = _sweep(push, unit_vectors(dims, tensor_of(source).dtype))
    return [None if row is None else _columns(row, dims) for row in rows]


def _columns(row: Tensor, dims: Sequence[Dim]) -> Tensor:
    """`[count, *target]` as `[*target, *source]`."""
    moved = transpose(row, axes=(*range(1, row.ndim), 0))
    return core.reshape(moved, shape=(*moved.dims[:-1], *dims))


def batch_rows(tape: Tape, target: Key, source: Key) -> Tensor | None:
    """`[batch, *target, *source]` where example i of the target depends on example i alone."""
    batch, *dims = tensor_of(target).dims

    def pull(g: Tensor) -> Rows:
        wide = core.broadcast_to(g, shape=(batch, *dims))
        return backprop(tape.records, [target], [wide], [source])

    (rows,) = _sweep(pull, unit_vectors(dims, tensor_of(target).dtype))
    if rows is None:
        return None
    moved = transpose(rows, axes=(1, 0, *range(2, rows.ndim)))
    return core.reshape(moved, shape=(batch, *dims, *moved.dims[2:]))
