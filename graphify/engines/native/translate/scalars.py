"""Scalar expressions: one value in registers.

    x = scalar(w, expr)

A `where` evaluates both sides. A load under one is guarded: where the condition does not hold it
reads a zero of the module's own instead, so a condition on an index makes the load legal.
"""

from __future__ import annotations

from graphify.engines.native.elements.cast import cast, truth
from graphify.engines.native.elements.element import Element, constant, select
from graphify.engines.native.elements.memory import load
from graphify.engines.native.elements.table import apply
from graphify.engines.native.llvm import V
from graphify.engines.native.loops.program import INDEX, Apply, Const, Expr, Load, Var
from graphify.engines.native.translate import addresses
from graphify.engines.native.translate.arithmetic import is_arithmetic
from graphify.engines.native.translate.cells import Cell
from graphify.engines.native.translate.writer import Writer
from graphify.ir.types import DType, is_complex, is_float

_TRUTH = ("logical_and", "logical_or", "logical_not", "logical_xor")
_ORDER = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")


def scalar(w: Writer, expr: Expr, guard: V | None = None) -> Element:
    """The value of an expression.

    Args:
        guard: loads happen only if it holds.
    """
    match expr:
        case Const(value, dtype):
            return constant(w.f, dtype, value, 1)
        case Var():
            found = w.values[expr]
            return found.read(w.f) if isinstance(found, Cell) else found
        case Load(buffer, index):
            at = index if guard is None else guarded_index(w, index, guard)
            pointer = addresses.element(w, buffer, at)
            if guard is not None:
                pointer = w.f.select(guard, pointer, nothing(w))
            return load(w.f, buffer.dtype, pointer, 1)
        case Apply(op, args, dtype):
            if dtype == INDEX and is_arithmetic(expr):
                return Element(INDEX, (addresses.value(w, expr),))
            if op == "where":
                return choose(w, args, guard)
            operands = [scalar(w, a, guard) for a in args]
            return operate(w, op, operands, dtype)
    raise TypeError(f"not an expression: {expr!r}")


def operate(w: Writer, op: str, operands: list[Element], dtype: DType) -> Element:
    """An operation on elements of any number of lanes."""
    if op == "cast":
        return cast(w.f, operands[0], dtype)
    result = apply(w.f, op, operands, dtype)
    assert isinstance(result, Element), op
    return result


def choose(w: Writer, args: tuple[Expr, ...], guard: V | None) -> Element:
    """`where`: both sides, each loading only where it is chosen."""
    condition = truth(w.f, scalar(w, args[0], guard))
    if is_data(w, args[0]):
        yes = no = guard
    else:
        yes, no = both(w, guard, condition), both(w, guard, None, condition)
    return select(w.f, condition, scalar(w, args[1], yes), scalar(w, args[2], no))


def both(w: Writer, guard: V | None, condition: V | None, unless: V | None = None) -> V:
    """guard and condition and not unless."""
    if condition is None:
        assert unless is not None
        condition = w.f.not_(unless)
    return condition if guard is None else w.f.and_(guard, condition)


def guarded_index(w: Writer, index: tuple[Expr, ...], guard: V) -> tuple[Expr, ...]:
    """The index of a guarded load, whose own loads are guarded too."""
    return tuple(_guarded(w, i, guard) for i in index)


def _guarded(w: Writer, expr: Expr, guard: V) -> Expr:
    if is_arithmetic(expr):
        return expr
    var = Var("at", INDEX)
    w.define(var, scalar(w, expr, guard))
    return var


def is_data(w: Writer, expr: Expr) -> bool:
    """Whether a condition compares floats, so that it cannot be what keeps an index in range."""
    match expr:
        case Const():
            return True
        case Var():
            known = w.unit.definitions.get(expr)
            return known is not None and is_data(w, known)
        case Apply(op, args) if op in _TRUTH:
            return all(is_data(w, a) for a in args)
        case Apply(op, args) if op in _ORDER or op.startswith("is"):
            return all(is_float(a.dtype) or is_complex(a.dtype) for a in args)
    return False


def nothing(w: Writer) -> V:
    """Sixteen zero bytes to read from."""
    return w.unit.module.constant_bytes("nothing", bytes(16), align=16)
