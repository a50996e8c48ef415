"""Decompositions: qr, singular values, eigenvalues of Hermitian and of other matrices."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from graphify.engines.native.loops.numbers import one, zero
from graphify.engines.native.loops.program import (
    BOOL,
    Apply,
    Buffer,
    Const,
    Expr,
    Load,
    Reduce,
    compare,
    index,
    plus,
    select,
    times,
)
from graphify.engines.native.lower.arrays import ArrayValue, Index, whole
from graphify.engines.native.lower.lapack import (
    FLOAT64,
    INT32,
    Argument,
    Element,
    Work,
    at_least_one,
    call,
    columns,
    element_of,
    fail_if,
    fill,
    matrix_at,
    over_stack,
    room_for,
    smaller,
    square,
    working_dtype,
)
from graphify.engines.native.lower.lowering import Declined, Lowering, rule
from graphify.ir.graph import Node
from graphify.ir.types import DType, is_complex

_EIGENVALUES = "Eigenvalues did not converge"

# --- qr -------------------------------------------------------------------------------------------


@rule("qr")
def _qr(low: Lowering, node: Node) -> None:
    dtype, mode = working_dtype(node.specs[0].dtype), node.attrs["mode"]
    if mode not in ("reduced", "complete"):
        raise Declined
    a = low.array(node.inputs[0])
    m, n = a.shape[-2:]
    k, rows = smaller(low, m, n), at_least_one(m)
    width = m if mode == "complete" else k
    multiply = "ungqr" if is_complex(dtype) else "orgqr"
    factor_room = room_for(low, dtype, "geqrf", m, n, ..., rows, ..., Work(dtype))
    q_room = room_for(low, dtype, multiply, m, width, k, ..., rows, ..., Work(dtype))

    def factors(at: Index) -> list[Element]:
        x, scales = columns(low, matrix_at(a, at), dtype), low.buffer(dtype, (k,), "scales")
        call(low, dtype, "geqrf", m, n, x, rows, scales, *factor_room())
        q = low.buffer(dtype, (width, m), "q")
        # columns that the matrix does not have are made from the reflections alone
        first = low.let(smaller(low, n, width), "first")
        with low.loops((first, m)) as place:
            low.store(whole(q), place, Load(x, place))
        with low.loop(plus(width, _negative(first)), "j") as j, low.loop(m, "i") as i:
            low.store(whole(q), (plus(first, j), i), zero(dtype))
        call(low, dtype, multiply, m, width, k, q, rows, scales, *q_room())
        return [
            element_of(q),
            lambda ij: select(compare("less", ij[1], ij[0]), zero(dtype), element_of(x)(ij)),
        ]

    over_stack(low, node, a.shape[:-2], [(m, width), (width, n)], factors)


def _negative(n: Expr) -> Expr:
    return times(n, index(-1))


# --- singular values ------------------------------------------------------------------------------


@rule("svd", "svdvals")
def _svd(low: Lowering, node: Node) -> None:
    dtype, vectors = working_dtype(node.inputs[0].spec.dtype), node.op.name == "svd"
    a = low.array(node.inputs[0])
    m, n = a.shape[-2:]
    k, full = smaller(low, m, n), node.attrs.get("full", False)
    height, width = (m, n) if full else (k, k)
    decompose = singular_values(low, dtype, m, n, full, vectors)

    def values(at: Index) -> list[Element]:
        u, s, vh = map(element_of, decompose(columns(low, matrix_at(a, at), dtype)))
        return [u, s, vh] if vectors else [s]

    cores = [(m, height), (k,), (width, n)] if vectors else [(k,)]
    over_stack(low, node, a.shape[:-2], cores, values)


def singular_values(
    low: Lowering, dtype: DType, m: Expr, n: Expr, full: bool = False, vectors: bool = True
) -> Callable[[Buffer], tuple[Buffer, Buffer, Buffer]]:
    """What decomposes a matrix in Fortran order: its u, s and vh, of which u and vh are so, too."""
    k = smaller(low, m, n)
    height, width = (m, n) if full else (k, k)
    sides: list[Argument] = [at_least_one(m), at_least_one(width)]
    job = ("A" if full else "S") if vectors else "N"
    fixed = _svd_room(low, dtype, m, n, k, vectors)
    room = room_for(
        low, dtype, "gesdd", job, m, n, ..., sides[0], ..., ..., sides[0], ..., sides[1],
        Work(dtype), *(... for _ in fixed),
    )  # fmt: skip

    def decompose(x: Buffer) -> tuple[Buffer, Buffer, Buffer]:
        s, u, vh = low.buffer(FLOAT64, (k,), "s"), x, x
        if vectors:
            u, vh = _identity(low, dtype, height, m, full), _identity(low, dtype, n, width, full)
        rest = [low.buffer(kind, (size,), "work") for kind, size in fixed]
        info = call(
            low, dtype, "gesdd", job, m, n, x, sides[0], s, u, sides[0], vh, sides[1],
            *room(), *rest,
        )  # fmt: skip
        fail_if(low, info, "SVD did not converge")
        return u, s, vh

    return decompose


def _identity(low: Lowering, dtype: DType, rows: Expr, columns: Expr, full: bool) -> Buffer:
    """Room for vectors; LAPACK leaves those of a matrix without elements as they are."""
    buffer = low.buffer(dtype, (rows, columns), "vectors")
    if full:
        fill(low, buffer, lambda ij: select(compare("equal", *ij), one(dtype), zero(dtype)))
    return buffer


def _svd_room(
    low: Lowering, dtype: DType, m: Expr, n: Expr, k: Expr, vectors: bool
) -> list[tuple[DType, Expr]]:
    """The room of fixed size that gesdd takes, from LAPACK's documentation."""
    integers = (INT32, low.let(plus(times(k, index(8)), index(1)), "size"))
    if not is_complex(dtype):
        return [integers]
    reals = plus(times(k, index(7)), index(1))
    if vectors:  # of max(m, n) = m + n - k
        longer = plus(plus(m, n), _negative(k))
        square = times(k, k)
        reals = plus(plus(times(square, index(7)), times(times(longer, k), index(2))), reals)
    return [(FLOAT64, low.let(reals, "size")), integers]


# --- eigenvalues ----------------------------------------------------------------------------------


@rule("eigh", "eigvalsh")
def _eigh(low: Lowering, node: Node) -> None:
    dtype, vectors = working_dtype(node.inputs[0].spec.dtype), node.op.name == "eigh"
    a = low.array(node.inputs[0])
    n, lead = square(low, node, a), a.shape[:-2]
    routine = "heevd" if is_complex(dtype) else "syevd"
    job, half, side = "V" if vectors else "N", "L" if node.attrs["lower"] else "U", at_least_one(n)
    kinds = [dtype, FLOAT64, INT32] if is_complex(dtype) else [dtype, INT32]
    room = room_for(low, dtype, routine, job, half, n, ..., side, ..., *map(Work, kinds))

    def system(at: Index) -> list[Element]:
        x, w = columns(low, matrix_at(a, at), dtype), low.buffer(FLOAT64, (n,), "w")
        info = call(low, dtype, routine, job, half, n, x, side, w, *room())
        fail_if(low, info, _EIGENVALUES)
        return [element_of(w), element_of(x)] if vectors else [element_of(w)]

    over_stack(low, node, lead, [(n,), (n, n)] if vectors else [(n,)], system)


@rule("eig", "eigensystem", "eigvals")
def _eig(low: Lowering, node: Node) -> None:
    dtype, vectors = working_dtype(node.inputs[0].spec.dtype), node.op.name != "eigvals"
    if not is_complex(dtype):
        raise Declined
    a = low.array(node.inputs[0])
    n, lead = square(low, node, a), a.shape[:-2]
    _finite(low, a)
    job, side = "V" if vectors else "N", at_least_one(n)
    reals = low.let(times(n, index(2)), "size")
    room = room_for(
        low, dtype, "geev", "N", job, n, ..., side, ..., ..., side, ..., side, Work(dtype), ...
    )

    def system(at: Index) -> list[Element]:
        x, w = columns(low, matrix_at(a, at), dtype), low.buffer(dtype, (n,), "w")
        v = low.buffer(dtype, (n, n), "v") if vectors else x
        rest = low.buffer(FLOAT64, (reals,), "work")
        info = call(low, dtype, "geev", "N", job, n, x, side, w, x, side, v, side, *room(), rest)
        fail_if(low, info, _EIGENVALUES)
        return [element_of(w), element_of(v)] if vectors else [element_of(w)]

    over_stack(low, node, lead, [(n,), (n, n)] if vectors else [(n,)], system)


def _finite(low: Lowering, a: ArrayValue) -> None:
    finite = low.variable("finite", Const(True, BOOL))
    with low.loops(a.shape, "reduce") as at:
        test = Apply("isfinite", (a.at(at),), BOOL)
        low.emit(Reduce(finite, "logical_and", test, low.source))
    text = "Array must not contain infs or NaNs"
    low.fail(Apply("logical_not", (finite,), BOOL), np.linalg.LinAlgError, text)
