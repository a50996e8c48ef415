"""Sorting and searching: library functions on lines of memory, binary search in registers.

An axis that is not the last one is moved there by a copy; the result is looked at from the side.
"""

from __future__ import annotations

from graphify.engines.native import sorting
from graphify.engines.native.loops.program import (
    BOOL,
    INDEX,
    ONE,
    ZERO,
    Apply,
    Buffer,
    Call,
    Expr,
    If,
    Load,
    Set,
    Store,
    While,
    compare,
    index,
    minus,
    plus,
    select,
    times,
)
from graphify.engines.native.lower.arrays import ArrayValue, Lens, affine, whole
from graphify.engines.native.lower.checks import both, either
from graphify.engines.native.lower.counted import first_of
from graphify.engines.native.lower.effects import negated
from graphify.engines.native.lower.lowering import Declined, Lowering, rule
from graphify.ir.graph import Node, Value
from graphify.ir.types import is_complex, is_inexact, real_dtype

SORT, ARGSORT = 0, 1  # which of the names of `sorting`


def _call(low: Lowering, which: int, out: Buffer, source: Buffer) -> None:
    """Sort each line of a buffer in C order."""
    lines: Expr = ONE
    for length in source.shape[:-1]:
        lines = times(lines, length)
    status = low.variable("status", ZERO)
    attrs = {"symbol": sorting.names(source.dtype)[which]}
    scalars = (low.let(lines, "lines"), source.shape[-1])
    low.emit(Call("library", (out,), (source,), scalars, (status,), attrs, 0, low.source))
    low.fail(compare("not_equal", status, ZERO), MemoryError, "no memory to sort in")


def _last(array: ArrayValue, axis: int) -> ArrayValue:
    """The array with one axis moved to the end."""
    rank = len(array.shape)
    order = [a for a in range(rank) if a != axis] + [axis]
    return array.remap(
        tuple(array.shape[a] for a in order), [affine((order.index(a), ONE)) for a in range(rank)]
    )


def _back(array: ArrayValue, axis: int) -> ArrayValue:
    """The inverse of `_last`."""
    rank = len(array.shape)
    order = list(range(rank - 1))
    order.insert(axis, rank - 1)
    return array.remap(
        tuple(array.shape[a] for a in order), [affine((order.index(a), ONE)) for a in range(rank)]
    )


def _sorted(low: Lowering, node: Node, which: int) -> None:
    array, axis = low.array(node.inputs[0]), node.attrs["axis"]
    value, dtype = Value(node), node.specs[0].dtype
    source = low.contiguous(_last(array, axis))
    if axis == len(array.shape) - 1:
        lens = low.target(value, array.shape)
        if lens.is_whole and lens.buffer.strides is None:
            _call(low, which, lens.buffer, source)
            low.define(value, lens)
            return
    out = low.buffer(dtype, source.shape)
    _call(low, which, out, source)
    low.define(value, _back(whole(out), axis))


@rule("sort")
def _sort(low: Lowering, node: Node) -> None:
    _sorted(low, node, SORT)


@rule("argsort")
def _argsort(low: Lowering, node: Node) -> None:
    _sorted(low, node, ARGSORT)


# --- order ----------------------------------------------------------------------------------------


def before(low: Lowering, x: Expr, y: Expr) -> Expr:
    """x < y in sorting order: NaN comes last."""
    if is_complex(x.dtype):
        return _complex_before(low, x, y)
    less = compare("less", x, y)
    if not is_inexact(x.dtype):
        return less
    return either(less, both(_is_nan(y), negated(_is_nan(x))))


def _is_nan(x: Expr) -> Expr:
    return Apply("isnan", (x,), BOOL)


def _complex_before(low: Lowering, x: Expr, y: Expr) -> Expr:
    """By the real parts, then the imaginary ones; after numbers NaN in one, the other, both."""
    part = real_dtype(x.dtype)
    (xr, xi), (yr, yi) = (
        [low.let(Apply(name, (z,), part)) for name in ("real", "imag")] for z in (x, y)
    )
    later = both(_is_nan(yi), negated(_is_nan(xi)))  # NaN makes it so
    equal = either(compare("equal", xr, yr), both(_is_nan(xr), _is_nan(yr)))
    on_tie = either(compare("less", xi, yi), later)
    rest = select(equal, on_tie, _is_nan(yr))
    above = select(compare("greater", xr, yr), later, rest)
    below = either(negated(_is_nan(xi)), _is_nan(yi))
    return select(compare("less", xr, yr), below, above)


# --- search ---------------------------------------------------------------------------------------


@rule("searchsorted")
def _searchsorted(low: Lowering, node: Node) -> None:
    line, points = low.memory(node.inputs[0]), low.array(node.inputs[1])
    if line.dtype != points.dtype:
        raise Declined
    right = node.attrs["side"] == "right"

    n = line.shape[0]

    def passed(point: Expr, at: Expr) -> Expr:
        here = low.let(line.at((at,)), "here")
        return negated(before(low, point, here)) if right else before(low, here, point)

    def place(point: Expr) -> Expr:
        """Halves the range without a branch; all points take the same number of steps."""
        start, count = low.variable("start", ZERO), low.variable("count", n)
        with low.inside() as body:
            half = low.let(Apply("right_shift", (count, ONE), INDEX), "half")
            middle = low.let(plus(start, half), "middle")
            goes_on = low.let(passed(point, plus(middle, index(-1))), "goes_on")
            low.emit(Set(start, select(goes_on, middle, start)))
            low.emit(Set(count, minus(count, half)))
        low.emit(While((), compare("greater", count, ONE), tuple(body), low.source))
        found = low.variable("found", ZERO)
        with low.inside() as last:
            more = select(low.let(passed(point, start), "more"), ONE, ZERO)
            low.emit(Set(found, plus(start, more)))
        low.emit(If(compare("greater", n, ZERO), tuple(last), (), low.source))
        return found

    low.fill(Value(node), points.shape, lambda at: place(low.let(points.at(at), "point")))


# --- unique ---------------------------------------------------------------------------------------


@rule("unique")
def _unique(low: Lowering, node: Node) -> None:
    array = low.array(node.inputs[0])
    if len(array.shape) != 1:
        raise Declined
    source = low.contiguous(array)
    (n,) = source.shape
    order = low.buffer(INDEX, (n,), "order")
    _call(low, ARGSORT, order, source)
    values, first, inverse, counts = (
        low.buffer(dtype, (n,), hint)
        for dtype, hint in (
            (source.dtype, "values"),
            (INDEX, "first"),
            (INDEX, "inverse"),
            (INDEX, "counts"),
        )
    )
    nan_is_one = node.attrs["equal_nan"] and source.dtype.kind in "fc"
    found = low.variable("found", index(-1))
    with low.loop(n, "i", "serial") as i:
        place = low.let(Load(order, (i,)), "place")
        x = low.let(Load(source, (place,)), "x")
        last = Apply("maximum", (plus(i, index(-1)), ZERO), INDEX)
        old = low.let(Load(source, (low.let(Load(order, (last,)), "last"),)), "old")
        differs: Expr = compare("not_equal", x, old)
        if nan_is_one:
            differs = both(differs, negated(both(_is_nan(x), _is_nan(old))))
        fresh = low.let(either(compare("equal", i, ZERO), differs), "fresh")
        low.emit(Set(found, plus(found, select(fresh, ONE, ZERO))))
        at = low.let(found, "at")
        new = (
            Store(values, (at,), x, node.source),
            Store(first, (at,), place, node.source),
            Store(counts, (at,), ZERO, node.source),
        )
        low.emit(If(fresh, new, (), node.source))
        low.emit(Store(counts, (at,), plus(Load(counts, (at,)), ONE), node.source))
        low.emit(Store(inverse, (place,), at, node.source))
    count = low.let(plus(found, ONE), "count")
    results: list[Lens] = [first_of(whole(b), count) for b in (values, first, counts)]
    for value, lens in zip(node.outputs, (*results[:2], whole(inverse), results[2]), strict=True):
        low.define(value, lens)
