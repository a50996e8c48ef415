"""What one square matrix gives: solve, inv, determinants, the Cholesky factor."""

from __future__ import annotations

import numpy as np

from graphify.engines.native.loops.numbers import one, zero
from graphify.engines.native.loops.program import (
    BOOL,
    INDEX,
    ZERO,
    Apply,
    Buffer,
    Const,
    Expr,
    Load,
    Set,
    Var,
    compare,
    index,
    plus,
    select,
)
from graphify.engines.native.lower.arrays import ArrayValue, Delayed, Index
from graphify.engines.native.lower.elementwise import (
    broadcast_shape,
    cast,
    mismatch,
    spread,
)
from graphify.engines.native.lower.lapack import (
    FLOAT64,
    INT32,
    Element,
    at_least_one,
    call,
    columns,
    element_of,
    fail_if,
    fill,
    matrix_at,
    over_stack,
    square,
    working_dtype,
)
from graphify.engines.native.lower.lowering import Lowering, rule
from graphify.ir.graph import Node
from graphify.ir.types import DType, is_complex

_SINGULAR = "Singular matrix"


def _lead(low: Lowering, node: Node, *arrays: ArrayValue) -> Index:
    """The shape that the stacks of operands broadcast to."""
    stacks = [Delayed(BOOL, x.shape[:-2], lambda _: Const(True, BOOL)) for x in arrays]
    return broadcast_shape(low, node, stacks)


@rule("solve")
def _solve(low: Lowering, node: Node) -> None:
    dtype = working_dtype(node.specs[0].dtype)
    a, b = (low.array(value) for value in node.inputs)
    n, (rows, count) = square(low, node, a), b.shape[-2:]
    if n != rows:
        mismatch(low, compare("not_equal", n, rows), node)
    lead = _lead(low, node, a, b)
    a, b = (spread(low, x, (*lead, *x.shape[-2:])) for x in (a, b))

    def solution(at: Index) -> list[Element]:
        x = columns(low, matrix_at(b, at), dtype, "b")
        info = _gesv(low, columns(low, matrix_at(a, at), dtype), x, n, count)
        fail_if(low, info, _SINGULAR)
        return [element_of(x)]

    over_stack(low, node, lead, [(n, count)], solution)


def _gesv(low: Lowering, a: Buffer, b: Buffer, n: Expr, count: Expr) -> Var:
    pivots, side = low.buffer(INT32, (n,), "pivots"), at_least_one(n)
    return call(low, a.dtype, "gesv", n, count, a, side, pivots, b, side)


@rule("inv")
def _inv(low: Lowering, node: Node) -> None:
    dtype, checked = working_dtype(node.specs[0].dtype), node.attrs.get("check", True)
    a = low.array(node.inputs[0])
    n, lead = square(low, node, a), a.shape[:-2]

    def inverse(at: Index) -> list[Element]:
        x = low.buffer(dtype, (n, n), "b")
        fill(low, x, lambda ij: select(compare("equal", *ij), one(dtype), zero(dtype)))
        info = _gesv(low, columns(low, matrix_at(a, at), dtype), x, n, n)
        if checked:
            fail_if(low, info, _SINGULAR)
            return [element_of(x)]
        fails = low.let(compare("not_equal", info, ZERO), "fails")
        nan = Const(complex(np.nan, 0) if is_complex(dtype) else np.nan, dtype)
        return [lambda ij: select(fails, nan, element_of(x)(ij))]

    over_stack(low, node, lead, [(n, n)], inverse)


@rule("cholesky")
def _cholesky(low: Lowering, node: Node) -> None:
    dtype = working_dtype(node.specs[0].dtype)
    a = low.array(node.inputs[0])
    n, lead = square(low, node, a), a.shape[:-2]

    def factor(at: Index) -> list[Element]:
        x = columns(low, matrix_at(a, at), dtype)
        info = call(low, dtype, "potrf", "L", n, x, at_least_one(n))
        fail_if(low, info, "Matrix is not positive definite")
        return [lambda ij: select(compare("less", *ij), zero(dtype), element_of(x)(ij))]

    over_stack(low, node, lead, [(n, n)], factor)


# --- determinants ---------------------------------------------------------------------------------


@rule("det")
def _det(low: Lowering, node: Node) -> None:
    dtype = working_dtype(node.inputs[0].spec.dtype)
    a = low.array(node.inputs[0])
    n, lead = square(low, node, a), a.shape[:-2]

    def determinant(at: Index) -> list[Element]:
        sign, log = sign_and_log(low, matrix_at(a, at), n, dtype)
        size = low.let(cast(Apply("exp", (log,), FLOAT64), dtype))
        value = low.let(Apply("multiply", (sign, size), dtype))
        return [lambda _: value]

    over_stack(low, node, lead, [()], determinant)


@rule("slogdet")
def _slogdet(low: Lowering, node: Node) -> None:
    dtype = working_dtype(node.inputs[0].spec.dtype)
    a = low.array(node.inputs[0])
    n, lead = square(low, node, a), a.shape[:-2]

    def parts(at: Index) -> list[Element]:
        sign, log = sign_and_log(low, matrix_at(a, at), n, dtype)
        return [lambda _: sign, lambda _: log]

    over_stack(low, node, lead, [(), ()], parts)


def sign_and_log(low: Lowering, a: ArrayValue, n: Expr, dtype: DType) -> tuple[Expr, Expr]:
    """Of a determinant, from the diagonal of the triangular factor, as NumPy does it."""
    x, pivots = columns(low, a, dtype), low.buffer(INT32, (n,), "pivots")
    info = call(low, dtype, "getrf", n, n, x, at_least_one(n), pivots)
    sign, log = low.variable("sign", one(dtype)), low.variable("log", zero(FLOAT64))
    with low.loop(n, "i", "serial") as i:
        pivot = cast(Load(pivots, (i,)), INDEX)
        swapped = compare("not_equal", pivot, plus(i, index(1)))
        turned = select(swapped, Apply("negative", (sign,), dtype), sign)
        number = low.let(Load(x, (i, i)), "d")
        size = low.let(Apply("absolute", (number,), FLOAT64), "size")
        low.emit(Set(sign, Apply("multiply", (turned, _direction(number, size)), dtype)))
        low.emit(Set(log, Apply("add", (log, Apply("log", (size,), FLOAT64)), FLOAT64)))
    singular = low.let(compare("not_equal", info, ZERO), "singular")
    return (
        low.let(select(singular, zero(dtype), sign), "sign"),
        low.let(select(singular, Const(-np.inf, FLOAT64), log), "log"),
    )


def _direction(number: Expr, size: Expr) -> Expr:
    """number / |number|"""
    if is_complex(number.dtype):
        return Apply("divide", (number, cast(size, number.dtype)), number.dtype)
    negative = compare("less", number, zero(FLOAT64))
    return select(negative, Const(-1.0, FLOAT64), Const(1.0, FLOAT64))
