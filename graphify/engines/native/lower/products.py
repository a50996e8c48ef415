"""Matrix products: calls of the library's kernels on strided operands; einsum through them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graphify.engines.native.loops.numbers import identity_of
from graphify.engines.native.loops.program import (
    ONE,
    ZERO,
    Apply,
    Call,
    Const,
    Expr,
    Reduce,
    compare,
)
from graphify.engines.native.lower.arrays import (
    ArrayValue,
    Delayed,
    Index,
    Lens,
    affine,
    whole,
)
from graphify.engines.native.lower.elementwise import broadcast_shape, mismatch, spread
from graphify.engines.native.lower.lowering import Declined, Lowering, rule
from graphify.ir.graph import Node, Value

BOOL = np.dtype(np.bool_)


@rule("matmul")
def _matmul(low: Lowering, node: Node) -> None:
    value = Value(node)
    a, b = (low.memory(operand) for operand in node.inputs)
    rows, columns = len(a.shape) > 1, len(b.shape) > 1
    if a.shape[-1] != b.shape[-2 if columns else 0]:
        wrong = compare("not_equal", a.shape[-1], b.shape[-2 if columns else 0])
        mismatch(low, wrong, node)
    left = a if rows else _with_axis(a, 0)
    right = b if columns else _with_axis(b, 1)
    lead = _broadcast_lead(low, node, left, right)
    full = (*lead, left.shape[-2], right.shape[-1])
    kept = (*lead, *full[-2:-1][: int(rows)], *full[-1:][: int(columns)])
    shape = low.dims(node.specs[0].shape, kept)
    target = low.target(value, shape) if shape else whole(low.buffer(a.dtype, (ONE,)))
    if not shape:
        view = target.remap((ONE, ONE), [affine()])
    else:
        inner = [affine((axis, ONE)) for axis in range(len(lead))]
        inner += [affine((len(lead), ONE))] * rows + [affine((len(lead) + 1, ONE))] * columns
        view = target.remap(full, inner)
    multiply(low, view, left, right, lead)
    low.define(value, target if shape else low.let(target.at((ZERO,))))


def _with_axis(x: Lens, position: int) -> Lens:
    """A vector as a matrix of one row or one column."""
    shape = (ONE, x.shape[0]) if position == 0 else (x.shape[0], ONE)
    return x.remap(shape, [affine((1 - position, ONE))])


def _broadcast_lead(low: Lowering, node: Node, a: Lens, b: Lens) -> Index:
    left, right = a.shape[:-2], b.shape[:-2]
    if not left or not right:
        return left or right
    arrays = [Delayed(BOOL, s, lambda _: Const(True, BOOL)) for s in (left, right)]
    return broadcast_shape(low, node, arrays)


def multiply(low: Lowering, target: Lens, a: Lens, b: Lens, lead: Index) -> None:
    """target = a @ b, matrix by matrix; as one product, or as loops, where that is what it is."""
    if len(lead) == 1 and a.shape[-2] == ONE and _is_one(b):
        target, a, lead = _stacked_rows(target), _stacked_rows(a), ()
        b = _matrix(b, (ZERO,) * (len(b.shape) - 2))
    elif len(lead) == 1 and b.shape[-1] == ONE and _is_one(a):
        a, b = _transposed(b), _transposed(_matrix(a, (ZERO,) * (len(a.shape) - 2)))
        target, a, lead = _stacked_rows(_transposed(target)), _stacked_rows(a), ()
    stacks = [spread(low, x, (*lead, *x.shape[-2:])) for x in (target, a, b)]
    if a.shape[-1] == ONE:
        _outer(low, *stacks)
        return
    with low.loops(lead) as at:
        operands = [_matrix(x, at).strided() for x in stacks if isinstance(x, Lens)]
        low.emit(Call("matmul", (operands[0],), tuple(operands[1:]), source=low.source))


def _is_one(x: Lens) -> bool:
    """Whether a stack holds one matrix only."""
    return all(length == ONE for length in x.shape[:-2])


def _stacked_rows(x: Lens) -> Lens:
    """Matrices of one row each as the rows of one matrix."""
    if len(x.shape) == 2:  # one row for all: spread over them later
        return x
    return x.remap((x.shape[0], x.shape[2]), [affine((0, ONE)), affine(), affine((1, ONE))])


def _transposed(x: Lens) -> Lens:
    rank = len(x.shape)
    inner = [affine((axis, ONE)) for axis in range(rank - 2)]
    inner += [affine((rank - 1, ONE)), affine((rank - 2, ONE))]
    return x.remap((*x.shape[:-2], x.shape[-1], x.shape[-2]), inner)


def _outer(low: Lowering, target: ArrayValue, a: ArrayValue, b: ArrayValue) -> None:
    """Products of columns by rows: nothing is summed, so they are elementwise."""
    assert isinstance(target, Lens)
    with low.loops(target.shape) as at:
        left, right = a.at((*at[:-1], ZERO)), b.at((*at[:-2], ZERO, at[-1]))
        op = "logical_and" if target.dtype == BOOL else "multiply"
        low.store(target, at, Apply(op, (left, right), target.dtype))


def _matrix(x: Lens, at: Index) -> Lens:
    """One matrix of a stack."""
    lead = len(at)
    inner = [affine(offset=place) for place in at]
    return x.remap(x.shape[lead:], [*inner, affine((0, ONE)), affine((1, ONE))])


# --- einsum ---------------------------------------------------------------------------------------


@rule("einsum")
def _einsum(low: Lowering, node: Node) -> None:
    left, _, result = node.attrs["subscripts"].partition("->")
    terms = left.split(",")
    arrays = [low.array(value) for value in node.inputs]
    lengths: dict[str, Expr] = {}
    for term, array in zip(terms, arrays, strict=True):
        own: dict[str, Expr] = {}
        for letter, length in zip(term, array.shape, strict=True):
            for known in (own.get(letter), lengths.get(letter)):
                if known is not None and known != length and ONE not in (known, length):
                    mismatch(low, compare("not_equal", known, length), node)
            own[letter] = length
            if lengths.get(letter, ONE) == ONE:
                lengths[letter] = length
    if any(
        not isinstance(a, Const) and a != lengths[c]
        for term, array in zip(terms, arrays, strict=True)
        for c, a in zip(term, array.shape, strict=True)
    ):
        raise Declined  # lengths that only the run can compare may also broadcast
    if _is_product(terms, result, arrays, lengths):
        _as_matmul(low, node, terms, result, lengths)
        return
    summed = [c for c in lengths if c not in result]
    dtype = node.specs[0].dtype
    start = identity_of("add", dtype)

    def element(at: Index) -> Expr:
        place = dict(zip(result, at, strict=True))
        if not summed:
            return product(place)
        total = low.variable("total", start)
        with low.loops([lengths[c] for c in summed], "reduce") as inner:
            place.update(zip(summed, inner, strict=True))
            low.emit(Reduce(total, "add", product(place), low.source))
        return total

    def product(place: dict[str, Expr]) -> Expr:
        factors = []
        for term, array in zip(terms, arrays, strict=True):
            at = tuple(
                ZERO if length == ONE else place[c]
                for c, length in zip(term, array.shape, strict=True)
            )
            factors.append(array.at(at))
        value = factors[0]
        for factor in factors[1:]:
            value = Apply("multiply", (value, factor), dtype)
        return value

    low.fill(
        Value(node),
        low.dims(node.specs[0].shape, [lengths[c] for c in result]),
        element,
    )


def _is_product(
    terms: list[str],
    result: str,
    arrays: Sequence[ArrayValue],
    lengths: dict[str, Expr],
) -> bool:
    """Whether it is a matrix product with one letter each for rows, sums and columns."""
    if len(terms) != 2 or any(len(set(t)) != len(t) for t in terms):
        return False
    a, b = terms
    if any(
        length != lengths[c]
        for term, array in zip(terms, arrays, strict=True)
        for c, length in zip(term, array.shape, strict=True)
    ):
        return False
    summed = [c for c in a if c in b and c not in result]
    rows = [c for c in a if c not in b]
    columns = [c for c in b if c not in a]
    return (
        len(summed) == 1
        and len(rows) <= 1
        and len(columns) <= 1
        and all(c in result for c in (*rows, *columns))
    )


def _as_matmul(
    low: Lowering, node: Node, terms: list[str], result: str, lengths: dict[str, Expr]
) -> None:
    value = Value(node)
    a, b = (low.memory(operand) for operand in node.inputs)
    batch = [c for c in terms[0] if c in terms[1] and c in result]
    (summed,) = [c for c in terms[0] if c in terms[1] and c not in result]
    rows = [c for c in terms[0] if c not in terms[1]]
    columns = [c for c in terms[1] if c not in terms[0]]
    shape = low.dims(node.specs[0].shape, [lengths[c] for c in result])
    target = low.target(value, shape) if shape else whole(low.buffer(a.dtype, (ONE,)))
    view = _letters(target, result, batch, rows, columns, lengths)
    left = _letters(a, terms[0], batch, rows, [summed], lengths)
    right = _letters(b, terms[1], batch, [summed], columns, lengths)
    multiply(low, view, left, right, tuple(lengths[c] for c in batch))
    low.define(value, target if shape else low.let(target.at((ZERO,))))


def _letters(
    x: Lens,
    term: str,
    batch: list[str],
    rows: list[str],
    columns: list[str],
    lengths: dict[str, Expr],
) -> Lens:
    """An operand with axes (batch..., rows, columns); a missing one has length one."""
    shape = [lengths[c] for c in batch]
    shape += [
        lengths[rows[0]] if rows else ONE,
        lengths[columns[0]] if columns else ONE,
    ]
    order = [*batch, rows[0] if rows else "", columns[0] if columns else ""]
    if not x.shape or not term:
        return x.remap(tuple(shape), [affine() for _ in x.shape])
    return x.remap(tuple(shape), [affine((order.index(c), ONE)) for c in term])
