"""Least squares, the pseudo-inverse and the adjugate: what singular values are good for."""

from __future__ import annotations

from collections.abc import Callable

from graphify.engines.native.loops.numbers import zero
from graphify.engines.native.loops.program import (
    INDEX,
    ONE,
    ZERO,
    Apply,
    Buffer,
    Call,
    Const,
    Expr,
    Load,
    Set,
    compare,
    plus,
    select,
)
from graphify.engines.native.lower.arrays import ArrayValue, Index, whole
from graphify.engines.native.lower.checks import both
from graphify.engines.native.lower.counted import first_of
from graphify.engines.native.lower.elementwise import cast, mismatch, spread
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
    square,
    transposed,
    working_dtype,
)
from graphify.engines.native.lower.lowering import Declined, Lowering, rule
from graphify.engines.native.lower.solving import sign_and_log
from graphify.engines.native.lower.spectral import singular_values
from graphify.ir.graph import Node
from graphify.ir.types import DType, is_complex

# --- least squares --------------------------------------------------------------------------------


def _solved(low: Lowering, node: Node) -> tuple[Buffer, Expr]:
    """Solutions, with what is left over below them, in Fortran order; the rank."""
    a, b = (low.array(value) for value in node.inputs[:2])
    dtype = working_dtype(a.dtype)
    (m, n), (rows, count) = a.shape, b.shape
    if m != rows:
        mismatch(low, compare("not_equal", m, rows), node)
    longer = low.let(Apply("maximum", (m, n), INDEX), "rows")
    given = at_least_one(count)  # LAPACK wants one
    sides = at_least_one(m), at_least_one(longer)
    kinds = [Work(dtype), *[Work(FLOAT64, False)] * is_complex(dtype), Work(INT32, False)]
    cutoff, rank = low.buffer(FLOAT64, (ONE,), "cutoff"), low.buffer(INT32, (ONE,), "rank")
    fill(low, cutoff, lambda _: low.scalar(node.inputs[2]))
    head: list[Expr] = [m, n, given]
    room = room_for(
        low, dtype, "gelsd", *head, ..., sides[0], ..., sides[1], ..., cutoff, rank, *kinds
    )
    x = low.buffer(dtype, (given, longer), "x")
    fill(low, x, lambda at: _inside(b, (at[1], at[0]), dtype))
    s = low.buffer(FLOAT64, (at_least_one(Apply("minimum", (m, n), INDEX)),), "s")
    args: list[Argument] = [columns(low, a, dtype), sides[0], x, sides[1], s, cutoff, rank]
    info = call(low, dtype, "gelsd", *head, *args, *room())
    fail_if(low, info, "SVD did not converge in Linear Least Squares")
    return x, low.let(Load(rank, (ZERO,)), "rank")


def _inside(b: ArrayValue, at: Index, dtype: DType) -> Expr:
    """An element of a matrix, zero outside."""
    inside = both(*(compare("less", i, n) for i, n in zip(at, b.shape, strict=True)))
    return select(inside, cast(b.at(at), dtype), zero(dtype))


@rule("lstsq")
def _lstsq(low: Lowering, node: Node) -> None:
    a, b = (low.array(value) for value in node.inputs[:2])
    x, _ = _solved(low, node)
    over_stack(low, node, (), [(a.shape[1], b.shape[1])], lambda at: [element_of(x)])


@rule("lstsq_residuals")
def _lstsq_residuals(low: Lowering, node: Node) -> None:
    a, b = (low.array(value) for value in node.inputs[:2])
    (m, n), count = a.shape, b.shape[1]
    x, rank = _solved(low, node)
    full = both(compare("equal", cast(rank, INDEX), n), compare("greater", m, n))
    given = low.let(select(full, count, ZERO), "given")
    residuals, dtype = node.outputs[0], node.specs[0].dtype
    out = low.buffer(dtype, (count,), "residuals")
    with low.loop(given, "k") as k:
        total = low.variable("total", zero(FLOAT64))
        with low.loop(Apply("subtract", (m, n), INDEX), "i", "serial") as i:
            size = _square(Load(x, (k, plus(n, i))))
            low.emit(Set(total, Apply("add", (total, size), FLOAT64)))
        low.store(whole(out), (k,), cast(total, dtype))
    low.define(residuals, first_of(whole(out), low.dims(node.specs[0].shape, [given])[0]))
    low.define(node.outputs[1], cast(rank, node.specs[1].dtype))


def _square(x: Expr) -> Expr:
    """|x|**2"""
    if not is_complex(x.dtype):
        return Apply("square", (x,), FLOAT64)
    parts = [Apply("square", (Apply(p, (x,), FLOAT64),), FLOAT64) for p in ("real", "imag")]
    return Apply("add", tuple(parts), FLOAT64)


# --- products of singular vectors -----------------------------------------------------------------


def _weighted(
    low: Lowering, u: Buffer, vh: Buffer, weight: Callable[[Expr], Expr], conjugate: bool
) -> Buffer:
    """vh.T @ diag(weights) @ u.T, or the same of conjugates."""
    dtype = u.dtype

    def turned(x: Expr) -> Expr:
        return Apply("conjugate", (x,), dtype) if conjugate and is_complex(dtype) else x

    left, right = (low.buffer(dtype, x.shape, "side") for x in (vh, u))
    weights = low.buffer(dtype, vh.shape[1:], "weights")
    fill(low, weights, lambda at: weight(at[0]))
    fill(
        low,
        left,
        lambda at: Apply("multiply", (turned(Load(vh, at)), Load(weights, at[1:])), dtype),
    )
    fill(low, right, lambda at: turned(Load(u, at)))
    product = low.buffer(dtype, (vh.shape[0], u.shape[1]), "product")
    low.emit(Call("matmul", (product,), (left, right), source=low.source))
    return product


@rule("pinv")
def _pinv(low: Lowering, node: Node) -> None:
    dtype = working_dtype(node.specs[0].dtype)
    if node.attrs.get("hermitian", False):
        raise Declined
    a, rcond = (low.array(value) for value in node.inputs)
    lead, (m, n) = a.shape[:-2], a.shape[-2:]
    if len(rcond.shape) > len(lead):
        raise Declined
    rcond = spread(low, rcond, lead)
    decompose = singular_values(low, dtype, m, n)

    def inverse(at: Index) -> list[Element]:
        x = columns(low, matrix_at(a, at), dtype)
        if is_complex(dtype):
            fill(low, x, lambda ji: Apply("conjugate", (Load(x, ji),), dtype))
        u, s, vh = decompose(x)
        some = compare("greater", s.shape[0], ZERO)
        largest = low.let(select(some, Load(s, (ZERO,)), zero(FLOAT64)), "largest")
        factor = cast(rcond.at(at), FLOAT64)
        cutoff = low.let(Apply("multiply", (factor, largest), FLOAT64), "cutoff")

        def weight(k: Expr) -> Expr:
            value = low.let(Load(s, (k,)), "s")
            over = Apply("divide", (Const(1.0, FLOAT64), value), FLOAT64)
            return select(compare("greater", value, cutoff), over, zero(FLOAT64))

        product = _weighted(low, u, vh, weight, conjugate=False)
        return [lambda ij: Load(product, ij)]

    over_stack(low, node, lead, [(n, m)], inverse)


@rule("adjugate")
def _adjugate(low: Lowering, node: Node) -> None:
    """det(a) times the inverse: of singular values, the product of all others."""
    dtype = working_dtype(node.specs[0].dtype)
    a = low.array(node.inputs[0])
    n = square(low, node, a)
    decompose = singular_values(low, dtype, n, n)

    def cofactors(at: Index) -> list[Element]:
        u, s, vh = decompose(columns(low, matrix_at(a, at), dtype))
        phase = low.let(Apply("multiply", (_det(low, u, n), _det(low, vh, n)), dtype), "phase")

        def others(k: Expr) -> Expr:
            total = low.variable("total", Const(1.0, FLOAT64))
            with low.loop(n, "j", "serial") as j:
                factor = select(compare("equal", j, k), Const(1.0, FLOAT64), Load(s, (j,)))
                low.emit(Set(total, Apply("multiply", (total, factor), FLOAT64)))
            return total

        product = _weighted(low, u, vh, others, conjugate=True)
        return [lambda ij: Apply("multiply", (phase, Load(product, ij)), dtype)]

    over_stack(low, node, a.shape[:-2], [(n, n)], cofactors)


def _det(low: Lowering, x: Buffer, n: Expr) -> Expr:
    """The determinant of a matrix of vectors: of size one."""
    sign, log = sign_and_log(low, transposed(whole(x)), n, x.dtype)
    size = cast(Apply("exp", (log,), FLOAT64), x.dtype)
    return low.let(Apply("multiply", (sign, size), x.dtype), "det")
