"""Algebra: identities that hold to the last bit, one rule per line.

    (P.subtract(x, 0.0), lambda x: x)      # x - 0.0 -> x

What floating point forbids is not here: x + 0.0 turns -0.0 into 0.0, x * 0.0 is NaN for inf, and
x - x for NaN. A rule may drop an operand whose computation would fail: only what results need is
run. It may not drop a check of the op it replaces, unless that check cannot fail.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphify.ir.graph import Graph, Node
from graphify.ir.match import P, Rules, Var, rewrite
from graphify.ir.safety import is_range, key_in_range, stretches
from graphify.ir.sizes import Shape, Size, decide_equal, product
from graphify.ir.tensor import Tensor
from graphify.ir.types import BOOL, DType, Spec, is_complex, is_float, is_integer
from graphify.ir.walk import nested_graphs
from graphify.ops import core, elementwise, indexing, shape
from graphify.ops.elementwise import (
    greater,
    greater_equal,
    less,
    less_equal,
    multiply,
    where,
)
from graphify.optimise.report import Report


def algebra(graph: Graph, report: Report) -> Graph:
    """The graph with identities applied, inside its sub-graphs, too."""
    inner: dict[Graph, Graph] = {}
    for each in nested_graphs(graph):
        inner[each] = rewrite(
            each, RULES, lambda node, why: report.note("simplified", node, why), inner
        )
    return inner[graph]


x, y, c = Var("x"), Var("y"), Var("c")
A, B = Var("a"), Var("b")  # attributes
i = Var("x", lambda spec: is_integer(spec.dtype))  # an integer
f = Var("x", lambda spec: is_float(spec.dtype))  # a real floating-point number
r = Var("x", lambda spec: not is_complex(spec.dtype))  # anything real
b = Var("x", lambda spec: spec.dtype == BOOL)
e = Var("x", lambda spec: spec.dtype == BOOL or is_integer(spec.dtype))  # exact

ARITHMETIC = Rules(
    [
        (P.add(e, 0), lambda x: x),  # x + 0 -> x, integers
        (P.add(b, False), lambda x: x),  # x + False -> x
        (P.add(f, -0.0), lambda x: x),  # x + -0.0 -> x; NOTE: x + 0.0 is 0.0 for x = -0.0
        (P.subtract(i, 0), lambda x: x),  # x - 0 -> x
        (P.subtract(f, 0.0), lambda x: x),  # x - 0.0 -> x
        (P.subtract(i, i), lambda x: 0),  # x - x -> 0, integers
        (P.multiply(i, 1), lambda x: x),  # x * 1 -> x
        (P.multiply(f, 1.0), lambda x: x),  # x * 1.0 -> x; NOTE: not complex, inf * 0i is NaN
        (P.multiply(b, True), lambda x: x),  # x * True -> x
        (P.multiply(i, 0), lambda x: 0),  # x * 0 -> 0, integers
        (P.divide(f, 1.0), lambda x: x),  # x / 1.0 -> x
        (P.floor_divide(i, 1), lambda x: x),  # x // 1 -> x
        (P.remainder(i, 1), lambda x: 0),  # x % 1 -> 0
        (P.power(i, 1), lambda x: x),  # x ** 1 -> x
        (P.power(f, 1.0), lambda x: x),  # x ** 1.0 -> x
        (P.power(i, 2), lambda x: multiply(x, x)),  # x ** 2 -> x * x
        (P.power(i, 3), lambda x: multiply(multiply(x, x), x)),  # x ** 3 -> x * x * x
        (P.power(f, 2.0), lambda x, node: squared(x, node)),  # x ** 2.0 -> x * x
        (P.negative(P.negative(x)), lambda x: x),  # -(-x) -> x
        (P.positive(x), lambda x: x),  # +x -> x
        (P.absolute(P.absolute(r)), lambda x: elementwise.absolute(x)),  # ||x|| -> |x|
        (P.absolute(P.negative(f)), lambda x: elementwise.absolute(x)),  # |-x| -> |x|
        (P.conjugate(r), lambda x: x),  # conj(x) -> x, x real
        (P.conjugate(P.conjugate(x)), lambda x: x),  # conj(conj(x)) -> x
        (P.real(r), lambda x: x),  # real(x) -> x, x real
        (P.maximum(x, x), lambda x: x),  # max(x, x) -> x
        (P.minimum(x, x), lambda x: x),  # min(x, x) -> x
    ]
)

LOGIC = Rules(
    [
        (P.logical_not(P.logical_not(b)), lambda x: x),  # not not x -> x
        (P.logical_and(b, True), lambda x: x),  # x and True -> x
        (P.logical_and(b, False), lambda x: False),  # x and False -> False
        (P.logical_and(b, b), lambda x: x),  # x and x -> x
        (P.logical_or(b, False), lambda x: x),  # x or False -> x
        (P.logical_or(b, True), lambda x: True),  # x or True -> True
        (P.logical_or(b, b), lambda x: x),  # x or x -> x
        (P.invert(P.invert(x)), lambda x: x),  # ~~x -> x
        (P.bitwise_and(x, x), lambda x: x),  # x & x -> x
        (P.bitwise_and(b, True), lambda x: x),  # x & True -> x
        (P.bitwise_and(b, False), lambda x: False),  # x & False -> False
        (P.bitwise_and(i, 0), lambda x: 0),  # x & 0 -> 0
        (P.bitwise_or(x, x), lambda x: x),  # x | x -> x
        (P.bitwise_or(b, False), lambda x: x),  # x | False -> x
        (P.bitwise_or(b, True), lambda x: True),  # x | True -> True
        (P.bitwise_or(i, 0), lambda x: x),  # x | 0 -> x
        (P.bitwise_xor(i, 0), lambda x: x),  # x ^ 0 -> x
        (P.bitwise_xor(b, False), lambda x: x),  # x ^ False -> x
        (P.left_shift(i, 0), lambda x: x),  # x << 0 -> x
        (P.right_shift(i, 0), lambda x: x),  # x >> 0 -> x
        (P.equal(e, e), lambda x: True),  # x == x -> True; NOTE: NaN differs from itself
        (P.not_equal(e, e), lambda x: False),  # x != x -> False
        (P.less(x, x), lambda x: False),  # x < x -> False
        (P.greater(x, x), lambda x: False),  # x > x -> False
        (P.less_equal(e, e), lambda x: True),  # x <= x -> True
        (P.greater_equal(e, e), lambda x: True),  # x >= x -> True
        (P.equal(b, True), lambda x: x),  # x == True -> x
        (P.not_equal(b, False), lambda x: x),  # x != False -> x
        (
            P.logical_not(P.equal(x, y)),
            lambda x, y: elementwise.not_equal(x, y),
        ),  # != holds for NaN
        (P.logical_not(P.not_equal(x, y)), lambda x, y: elementwise.equal(x, y)),
        (P.logical_not(P.less(e, y)), lambda x, y: greater_equal(x, y)),  # not x < y -> x >= y
        (P.logical_not(P.greater(e, y)), lambda x, y: less_equal(x, y)),  # exact: no NaN
        (P.logical_not(P.less_equal(e, y)), lambda x, y: greater(x, y)),
        (P.logical_not(P.greater_equal(e, y)), lambda x, y: less(x, y)),
        (P.where(True, x, y), lambda x: x),  # where(True, x, y) -> x
        (P.where(False, x, y), lambda y: y),  # where(False, x, y) -> y
        (P.where(c, x, x), lambda x: x),  # where(c, x, x) -> x
        (P.where(P.logical_not(c), x, y), lambda c, x, y: swapped(c, x, y)),
        (P.where(c, True, False), lambda c, out: c if out.dtype == BOOL else None),
    ]
)

MOVEMENT = Rules(
    [
        (P.copy(x), lambda x: x),  # values never change; results get storage of their own anyway
        (P.identity(x), lambda x: x),  # only derivatives tell the two apart
        (P.cast(x, dtype=A), lambda x, out: x if x.spec.dtype == out.dtype else None),
        (P.cast(P.cast(x, dtype=A), dtype=B), lambda x, a, out: cast_once(x, a, out)),
        (P.cast(P.broadcast_to(x, shape=A), dtype=B), lambda x, b: core.cast(x, dtype=b)),
        (P.transpose(x, axes=A), lambda x, a: x if a == tuple(range(len(a))) else None),
        (
            P.transpose(P.transpose(x, axes=A), axes=B),
            lambda x, a, b: shape.transpose(x, axes=tuple(a[k] for k in b)),
        ),
        (P.transpose(P.broadcast_to(x, shape=A), axes=B), lambda x: scalar(x)),
        (P.reshape(x, shape=A), lambda x, a: x if x.dims == a else None),
        (P.reshape(P.reshape(x, shape=A), shape=B), lambda x, a, b: reshape_once(x, a, b)),
        (P.reshape(P.broadcast_to(x, shape=A), shape=B), lambda x, a, b: spread(x, a, b)),
        (P.broadcast_to(x, shape=A), lambda x, a: x if x.dims == a else None),
        (
            P.broadcast_to(P.broadcast_to(x, shape=A), shape=B),
            lambda x, a, b: broadcast_once(x, a, b),
        ),
        (P.broadcast_to(P.reshape(x, shape=A), shape=B), lambda x, a, b: unpadded(x, a, b)),
        # NOTE: floats stay: a sum over no axes turns -0.0 into 0.0.
        (P.sum_to(i, shape=A), lambda x, a: x if x.dims == a else None),
        (P.flip(x, axes=()), lambda x: x),
        (P.flip(P.flip(x, axes=A), axes=A), lambda x: x),
        (P.concatenate(x, axis=A), lambda x: x),
        (P.slice(..., key=A), lambda node, a: sliced(node, a)),
        (P.slice_update(..., key=A), lambda node, a: updated(node, a)),
    ]
)


# --- what the longer rules do -------------------------------------------------------------


def squared(x: Tensor, node: Node) -> Tensor | None:
    """x * x for x ** 2.0.

    NumPy's power multiplies, to the bit, where the exponent is one number for all elements; for
    an array of exponents it calls pow, which is not always correctly rounded.
    """
    exponent = node.inputs[1]
    if node.specs[0].weak:
        return None  # Python's float power raises OverflowError
    return multiply(x, x) if not exponent.spec.shape else None


def swapped(c: Tensor, x: Tensor, y: Tensor) -> Tensor | None:
    return where(c, y, x) if c.dtype == BOOL else None


def scalar(x: Tensor) -> Tensor | None:
    """A number that was broadcast is the same however its axes are moved."""
    return x if not x.dims else None


def spread(x: Tensor, middle: Shape, out: Shape) -> Tensor | None:
    same = decide_equal(product(middle), product(out))
    return x if not x.dims and same else None


def cast_once(x: Tensor, middle: DType, out: Spec) -> Tensor | None:
    """cast(cast(x)) as one cast, where the first one loses nothing."""
    if not lossless(x.dtype, middle) or not same_family(x.dtype, middle, out.dtype):
        return None
    if x.dtype == out.dtype and x.spec.weak == out.weak:
        return x
    attrs: dict[str, Any] = {"weak": True} if out.weak else {}
    return core.cast(x, dtype=out.dtype, **attrs)


def lossless(source: DType, target: DType) -> bool:
    """Whether every value of a dtype is a value of another."""
    if is_integer(source) and target.kind == "f":
        # NumPy calls int64 -> float64 safe, but float64 has only 53 bits.
        return source.itemsize * 8 <= np.finfo(target).nmant + 1
    return source.kind in "biuf" and target.kind in "biuf" and bool(np.can_cast(source, target))


def same_family(source: DType, middle: DType, target: DType) -> bool:
    """Whether conversion to `target` is defined alike from both dtypes.

    A float out of an integer's range becomes whatever the hardware says, which may differ by dtype.
    """
    if target.kind == "b" or target.kind == "f":
        return True
    if target.kind in "iu":
        return source.kind in "biu" and (middle.kind in "biu" or lossless(source, target))
    return False


def reshape_once(x: Tensor, middle: Shape, out: Shape) -> Tensor | None:
    """reshape(reshape(x)) as one, where one of the two checks is known to hold."""
    count, between, last = product(x.dims), product(middle), product(out)
    if not decide_equal(count, between) and not decide_equal(between, last):
        return None
    return core.reshape(x, shape=out)


def broadcast_once(x: Tensor, middle: Shape, out: Shape) -> Tensor | None:
    """broadcast_to(broadcast_to(x)) as one, which checks all that the two check."""
    own = (*(None,) * (len(middle) - x.ndim), *x.dims)
    new = tuple(1 if n == m else m for n, m in zip(own, middle, strict=True))
    sure = stretches(x.dims, middle) and stretches(new, out)
    return core.broadcast_to(x, shape=out) if sure else None


def unpadded(x: Tensor, middle: Shape, out: Shape) -> Tensor | None:
    """A reshape that only adds leading ones is what broadcasting does by itself."""
    lead = len(middle) - x.ndim
    if lead <= 0 or middle != (*(1,) * lead, *x.dims):
        return None
    return core.broadcast_to(x, shape=out)


# --- slices -------------------------------------------------------------------------------


def sliced(node: Node, key: Any) -> Tensor | None:
    """A slice of everything; of a constant number; of a slice; of what was just stored there."""
    base, *indices = node.inputs
    if full_range(key, base.spec.shape):
        return Tensor(base)
    if base.node.op is core.broadcast_to and key_in_range(key, base.spec.shape):
        return scalar(Tensor(base.node.inputs[0]))
    if base.node.op is indexing.slice_ and not indices and len(base.node.inputs) == 1:
        return slice_once(Tensor(base.node.inputs[0]), base.node.attrs["key"], key, base.spec)
    if base.node.op is indexing.slice_update and base.node.attrs["key"] == key:
        stored = base.node.inputs[1]
        same = tuple(base.node.inputs[2:]) == tuple(indices)
        if same and key_in_range(key, base.spec.shape) and stored.spec == node.specs[0]:
            return Tensor(stored)
    return None


def updated(node: Node, key: Any) -> Tensor | None:
    """An update of everything; of a part of a row; an update that the next one overwrites."""
    base, new, *indices = node.inputs
    if full_range(key, base.spec.shape) and stretches(new.spec.shape, base.spec.shape):
        return Tensor(new)
    if new.node.op is indexing.slice_update and (part := new.node.inputs[0].node):
        same = part.op is indexing.slice_ and part.attrs["key"] == key
        if same and part.inputs == (base, *indices) and all(map(is_place, key)):
            return put_inside(node, new.node)
    if base.node.op is not indexing.slice_update or base.node.attrs["key"] != key:
        return None
    if tuple(base.node.inputs[2:]) != tuple(indices):
        return None
    first = base.node.inputs[1]
    if not stretches(first.spec.shape, indexing.slice_shape(base.spec.shape, key)):
        return None  # storing the first might fail
    again = [Tensor(value) for value in (base.node.inputs[0], new, *indices)]
    return indexing.slice_update(*again, key=key)


def put_inside(outer: Node, inner: Node) -> Tensor:
    """rows[i][j] = value, for a row that is changed at j and put back at i."""
    base, _, *places = outer.inputs
    _, value, *more = inner.inputs
    later = [
        ("at", entry[1] + len(places)) if type(entry) is tuple and entry[0] == "at" else entry
        for entry in inner.attrs["key"]
    ]
    operands = [Tensor(each) for each in (base, value, *places, *more)]
    made: Tensor = indexing.slice_update(*operands, key=(*outer.attrs["key"], *later))
    return made


def is_place(entry: Any) -> bool:
    """Whether an entry of a key is an integer, known or of the run."""
    return type(entry) is tuple and entry[0] == "at" or isinstance(entry, int | Size)


def full_range(key: Any, dims: Shape) -> bool:
    """Whether a key takes every element, in order, and adds no axis."""
    return len(key) <= len(dims) and all(
        is_range(entry) and entry == (0, dim, 1) for entry, dim in zip(key, dims, strict=False)
    )


def slice_once(x: Tensor, first: Any, second: Any, middle: Spec) -> Tensor | None:
    """slice(slice(x)) as one slice, where the second cannot fail."""
    if any(type(entry) is tuple and entry[0] == "at" for entry in (*first, *second)):
        return None
    if not key_in_range(second, middle.shape):
        return None
    given = len(x.dims) - sum(entry is not None for entry in first)
    whole = [(0, dim, 1) for dim in x.dims[len(x.dims) - given :]] if given else []
    source = [*first, *whole]
    result: list[Any] = []
    taken = iter(second)
    for entry in source:
        if entry is not None and not is_range(entry):
            result.append(entry)  # an integer: it makes no axis
            continue
        outer = next(taken, ())
        while outer is None:
            result.append(None)
            outer = next(taken, ())
        composed = compose(entry, outer)
        if composed is NotImplemented:
            return None
        result += composed
    result += list(taken)  # only new axes can be left
    return indexing.slice_(x, key=tuple(result))


def compose(inner: Any, outer: Any) -> Any:
    """One axis of a slice, sliced again; () where the second key has ended."""
    if outer == ():
        return [inner]
    if inner is None:  # a new axis: it stays or is indexed away
        return [None] if outer == (0, 1, 1) else [] if outer == 0 else NotImplemented
    start, _, step = inner
    if is_range(outer):
        return [(start + outer[0] * step, outer[1], step * outer[2])]
    return [start + outer * step]


# --- operands that need not be broadcast ------------------------------------------------------

# Ops whose elements come out the same to the bit however the operands lie in memory.
EXACT = {"add", "subtract", "multiply", "divide", "where", "maximum", "minimum"}
EXACT |= {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"}
EXACT |= {"logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor"}


def narrowed(node: Node) -> Tensor | None:
    """op(broadcast_to(x), y) -> op(x, y), where y has the shape of the result by itself."""
    out = node.specs[0].shape
    operands = list(node.inputs)
    wide = [k for k, v in enumerate(operands) if v.node.op is core.broadcast_to]
    others = any(v.spec.shape == out for k, v in enumerate(operands) if k not in wide)
    for k in wide[0 if others else 1 :]:
        source = operands[k].node.inputs[0]
        if stretches(source.spec.shape, out) and operands[k].spec.shape == out:
            operands[k] = source
    if operands == list(node.inputs):
        return None
    return node.op(*(Tensor(value) for value in operands))


BROADCASTS = Rules([(getattr(P, name)(...), lambda node: narrowed(node)) for name in sorted(EXACT)])

RULES = ARITHMETIC + LOGIC + MOVEMENT + BROADCASTS
