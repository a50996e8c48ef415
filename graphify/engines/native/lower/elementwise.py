"""Elementwise ops: one loop nest over the broadcast shape, one scalar operation inside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import graphify.ops.elementwise  # noqa: F401  (fills the registry)
from graphify.engines.native.loops.program import (
    INDEX,
    ONE,
    ZERO,
    Apply,
    Checked,
    Const,
    Expr,
    Var,
    compare,
    select,
)
from graphify.engines.native.lower.arrays import ArrayValue, Index, affine
from graphify.engines.native.lower.effects import Meaning
from graphify.engines.native.lower.lowering import Declined, Lowering, rule
from graphify.errors import IntegerOverflow
from graphify.ir.graph import Node, Value
from graphify.ir.op import REGISTRY
from graphify.ir.types import BOOL, is_integer


class Dummy:
    """Raises what the reference meaning of a node raises for arrays of given shapes, of which the
    lengths that are None are told when it comes to that."""

    def __init__(self, node: Node, shapes: Sequence[Sequence[int | None]]) -> None:
        self.node, self.shapes = node, shapes

    def __call__(self, values: Sequence[Any]) -> BaseException:
        rest, arrays = iter(values), []
        for lengths, value in zip(self.shapes, self.node.inputs, strict=True):
            shape = tuple(int(next(rest)) if n is None else n for n in lengths)
            arrays.append(np.broadcast_to(np.zeros((), value.spec.dtype), shape))
        try:
            assert self.node.op.eval is not None
            self.node.op.eval(*arrays, **self.node.attrs)
        except Exception as error:  # noqa: BLE001 - whatever it raises is the answer
            return error
        return ValueError(f"{self.node.op.name}: operands of shapes that do not fit")


def mismatch(low: Lowering, condition: Expr, node: Node) -> None:
    """Fails as the reference does on operands of these shapes, if `condition` holds."""
    if condition == Const(False, np.dtype(np.bool_)):
        return
    shapes = [low.array(value).shape for value in node.inputs]
    lengths = [d for shape in shapes for d in shape if not isinstance(d, Const)]
    if len(lengths) > 8:
        raise Declined
    known = [[int(d.value) if isinstance(d, Const) else None for d in shape] for shape in shapes]
    raiser = Dummy(node, known)
    low.fail(condition, ValueError, "", *lengths, raiser=raiser)


def broadcast_shape(low: Lowering, node: Node, arrays: Sequence[ArrayValue]) -> Index:
    """The shape operands broadcast to, with checks of what only the run knows."""
    rank = max((len(a.shape) for a in arrays), default=0)
    result: list[Expr] = []
    for axis in range(rank):
        lengths = [
            a.shape[axis - rank + len(a.shape)] for a in arrays if axis - rank + len(a.shape) >= 0
        ]
        distinct = [d for d in dict.fromkeys(lengths) if d != ONE]
        known = [d for d in distinct if isinstance(d, Const)]
        if not distinct:
            result.append(ONE)
        elif known:
            result.append(known[0])
        elif len(distinct) == 1:
            result.append(distinct[0])
        else:
            total: Expr = distinct[0]
            for other in distinct[1:]:
                total = low.let(select(compare("equal", total, ONE), other, total), "b")
            result.append(total)
        if len(distinct) > 1:
            for d in distinct:
                if d != result[-1]:
                    wrong = Apply(
                        "logical_and",
                        (
                            compare("not_equal", d, ONE),
                            compare("not_equal", d, result[-1]),
                        ),
                        np.dtype(np.bool_),
                    )
                    mismatch(low, wrong, node)
    return tuple(result)


def misfit(length: Expr, target: Expr) -> Expr:
    """Whether an axis does not broadcast to a length."""
    wrong = (compare("not_equal", length, ONE), compare("not_equal", length, target))
    return Apply("logical_and", wrong, BOOL)


def spread(low: Lowering, array: ArrayValue, shape: Sequence[Expr]) -> ArrayValue:
    """An array seen in a shape that it broadcasts to."""
    rank, own = len(shape), len(array.shape)
    if low.same_shape(array.shape, shape):
        return array
    axes = []
    for axis, length in enumerate(array.shape):
        target = shape[axis + rank - own]
        if length == target:
            axes.append(affine((axis + rank - own, ONE)))
        elif isinstance(length, Const):
            # a length that is not 1 equals the target, or a check has failed
            axes.append(affine() if length == ONE else affine((axis + rank - own, ONE)))
        else:
            step = low.let(select(compare("equal", length, ONE), ZERO, ONE), "step")
            axes.append(affine((axis + rank - own, step)))
    return array.remap(tuple(shape), axes)


def _elementwise(low: Lowering, node: Node) -> None:
    from graphify.engines.native.elements.table import SCALARS

    spec = node.specs[0]
    if len(node.specs) != 1 or node.op.name not in SCALARS:
        raise Declined
    if spec.weak and node.op.extra.get("python") and is_integer(spec.dtype):
        _exact(low, node)
        return
    if spec.weak and node.op.name == "power":
        _exact(low, node)  # Python's float power raises where NumPy's does not
        return
    arrays = [low.array(value) for value in node.inputs]
    shape = broadcast_shape(low, node, arrays)
    spread_out = [spread(low, a, shape) for a in arrays]
    if node.op.name == "power" and is_integer(spec.dtype):
        with low.unless_empty(() if low.same_shape(arrays[1].shape, shape) else shape):
            _no_negative_powers(low, arrays[1])
    value = Value(node)
    shape = low.dims(spec.shape, shape)
    low.fill(
        value,
        shape,
        lambda at: Apply(node.op.name, tuple(a.at(at) for a in spread_out), spec.dtype),
        spread_out,
    )


def _exact(low: Lowering, node: Node) -> None:
    """Arithmetic of Python integers: overflow is an error."""
    if node.specs[0].shape:
        raise Declined
    args = tuple(low.scalar(value) for value in node.inputs)
    dtypes = [a.dtype for a in args]
    site = low.site(IntegerOverflow, "", dtypes, Meaning(node))
    var = Var(low.hint, node.specs[0].dtype)
    low.emit(Checked(var, node.op.name, args, site, node.source))
    low.define(Value(node), var)


def _no_negative_powers(low: Lowering, exponent: ArrayValue) -> None:
    if exponent.dtype.kind == "u" or exponent.dtype.kind == "b":
        return
    if not exponent.shape:
        value = exponent.at(())
        if isinstance(value, Const) and value.value >= 0:
            return
    with low.loops(exponent.shape, "serial") as at:
        value = exponent.at(at)
        low.fail(
            compare("less", value, Const(0, value.dtype)),
            ValueError,
            "Integers to negative integer powers are not allowed.",
        )


@rule("cast")
def _cast(low: Lowering, node: Node) -> None:
    array, dtype = low.array(node.inputs[0]), node.specs[0].dtype
    if array.dtype == dtype:
        low.define(Value(node), array)
        return
    low.fill(Value(node), array.shape, lambda at: cast(array.at(at), dtype), [array])


def cast(x: Expr, dtype: np.dtype[Any]) -> Expr:
    """A scalar in another dtype."""
    if x.dtype == dtype:
        return x
    if isinstance(x, Const) and not isinstance(x.value, complex):
        with np.errstate(all="ignore"):
            return Const(np.asarray(x.value, x.dtype).astype(dtype).item(), dtype)
    return Apply("cast", (x,), dtype)


def as_index(x: Expr) -> Expr:
    return cast(x, INDEX)


_ALREADY = {"cast", "real", "imag"}


def _register() -> None:
    for name, op in list(REGISTRY.items()):
        if op.extra.get("elementwise") and name not in _ALREADY:
            rule(name)(_elementwise)


_register()
