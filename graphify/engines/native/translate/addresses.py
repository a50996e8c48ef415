"""Where elements are: index arithmetic, addresses of buffers, of rows and of elements.

    n = value(w, times(i, stride))            # i64, in front of the loops it does not depend on
    p = element(w, buffer, (i, j))            # base + i * rows + j, each part at its own loop

An address is a sum of terms. Terms are added from the outermost loop's to the innermost's, each
partial sum in front of the next loop, so that an inner loop adds its own index and no more.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from graphify.engines.native.elements.element import Element
from graphify.engines.native.elements.memory import memory_type
from graphify.engines.native.llvm import I64, Type, V
from graphify.engines.native.loops.program import (
    INDEX,
    Apply,
    Buffer,
    Const,
    Expr,
    Handle,
    Literal,
    Var,
    View,
    index,
    plus,
    times,
)
from graphify.engines.native.translate.arithmetic import COMPARE, DIVIDE, SUM, is_arithmetic
from graphify.engines.native.translate.cells import Cell
from graphify.engines.native.translate.writer import Writer, number
from graphify.ir.types import DType, is_complex


def element_type(dtype: DType) -> Type:
    """What addresses of a dtype are counted in."""
    type = memory_type(dtype)
    return Type(f"[2 x {type.scalar}]") if is_complex(dtype) else type


# --- index arithmetic -----------------------------------------------------------------------------


def value(w: Writer, expr: Expr) -> V:
    """An int64 or bool expression as one V, computed as early as can be."""
    match expr:
        case Const(number_, dtype):
            return w.f.const(Type("i1") if dtype.kind == "b" else I64, number_)
        case Var() if not expr.mutable:
            found = w.values[expr]
            assert not isinstance(found, Cell)
            return found.value
    if not is_arithmetic(expr):
        from graphify.engines.native.translate.scalars import scalar

        return scalar(w, expr).value
    return w.placed(expr, w.level(expr), lambda: _compute(w, expr), w.is_fixed(expr))


def _compute(w: Writer, expr: Expr) -> V:
    f = w.f
    if isinstance(expr, Var):
        cell = w.values[expr]
        assert isinstance(cell, Cell)
        return cell.read(f).value
    assert isinstance(expr, Apply)
    op, args = expr.op, [value(w, a) for a in expr.args]
    if op in SUM:
        return f.binary(SUM[op], *args)
    if op in COMPARE:
        return f.icmp(COMPARE[op], *args)
    if op in DIVIDE:
        return _divided(w, op in ("floor_divide", "floordiv"), *args)
    match op:
        case "maximum" | "minimum":
            return f.intrinsic("smax" if op == "maximum" else "smin", *args)
        case "negative":
            return f.sub(number(0), args[0])
        case "where":
            return f.select(*args)
        case "logical_not":
            return f.not_(args[0])
    return f.binary("and" if op == "logical_and" else "or", *args)


def _divided(w: Writer, quotient: bool, a: V, b: V) -> V:
    """By a known positive number, or by anything: zero, too, divides without a trap."""
    if not b.text.startswith(("%", "-", "0")):
        return (_floor_divide if quotient else _remainder)(w, a, int(b.text))
    from graphify.engines.native.elements.table import apply

    op = "floor_divide" if quotient else "remainder"
    result = apply(w.f, op, [Element(INDEX, (a,)), Element(INDEX, (b,))], INDEX)
    assert isinstance(result, Element)
    return result.value


def _floor_divide(w: Writer, a: V, divisor: int) -> V:
    """Rounds down, also below zero."""
    f = w.f
    if divisor & (divisor - 1) == 0:
        return f.ashr(a, number(divisor.bit_length() - 1))
    quotient = f.binary("sdiv", a, number(divisor))
    over = f.icmp("slt", f.sub(a, f.mul(quotient, number(divisor))), number(0))
    return f.add(quotient, f.convert("sext", over, I64))


def _remainder(w: Writer, a: V, divisor: int) -> V:
    """Never negative."""
    f = w.f
    if divisor & (divisor - 1) == 0:
        return f.and_(a, number(divisor - 1))
    rest = f.binary("srem", a, number(divisor))
    return f.select(f.icmp("slt", rest, number(0)), f.add(rest, number(divisor)), rest)


# --- buffers --------------------------------------------------------------------------------------


def base(w: Writer, buffer: Buffer) -> V:
    """The address of a buffer's first element."""
    home = buffer.home
    if isinstance(home, View):
        return w.placed(
            ("base", buffer),
            w.buffer_level(buffer),
            lambda: _offset(w, base(w, home.base), buffer.dtype, home.offset),
            _stays(w, buffer),
        )
    if isinstance(home, Literal) and buffer not in w.pointers:
        return _literal(w, buffer)
    found = w.pointers[buffer]
    if not isinstance(found, Cell):
        return found
    level = w.level_of_thing(buffer)
    return w.placed(("base", buffer), level, lambda: found.raw(w.f)[0], keep=False)


def _offset(w: Writer, pointer: V, dtype: DType, offset: Expr) -> V:
    if offset == Const(0, INDEX):
        return pointer
    return w.f.at(pointer, element_type(dtype), value(w, offset))


def _stays(w: Writer, buffer: Buffer) -> bool:
    """Whether the address of a buffer can never change in its scope."""
    while isinstance(buffer.home, View):
        if not w.is_fixed(buffer.home.offset):
            return False
        buffer = buffer.home.base
    return not isinstance(buffer.home, Handle)


def _literal(w: Writer, buffer: Buffer) -> V:
    """Constant data of the module."""
    known = w.unit.literals.get(buffer)
    if known is None:
        assert isinstance(buffer.home, Literal)
        array = np.ascontiguousarray(buffer.home.array, buffer.dtype)
        name = f"literal.{len(w.unit.literals)}"
        known = w.unit.module.constant_bytes(name, array.tobytes() or b"\0")
        w.unit.literals[buffer] = known
    return known


# --- elements -------------------------------------------------------------------------------------


def element(w: Writer, buffer: Buffer, at: tuple[Expr, ...]) -> V:
    """The address of an element."""
    return sum_of(w, buffer, list(zip(at, w.strides(buffer), strict=True)))


def sum_of(w: Writer, buffer: Buffer, products: Sequence[tuple[Expr, Expr]]) -> V:
    """The address so many elements after the first: a sum of indices times strides."""
    groups: dict[int, Expr] = defaultdict(lambda: index(0))
    constant = 0
    for term in (term for i, stride in products for term in _scaled(i, stride)):
        if isinstance(term, Const):
            constant += term.value
        else:
            depth = w.level(term)
            groups[depth] = plus(groups[depth], term)
    pointer, depth = base(w, buffer), w.buffer_level(buffer)
    keep, type = _stays(w, buffer), element_type(buffer.dtype)
    for term_depth in sorted(groups):
        depth = max(depth, term_depth)
        pointer, keep = _step(w, pointer, type, groups[term_depth], depth, keep)
    return w.f.at(pointer, type, constant) if constant else pointer


def _step(w: Writer, pointer: V, type: Type, term: Expr, depth: int, keep: bool) -> tuple[V, bool]:
    """`term` elements further; and whether that stays so."""
    keep = keep and w.is_fixed(term)
    distance = value(w, term)
    key = ("at", pointer.text, type.scalar, distance.text)
    return w.placed(key, depth, lambda: w.f.at(pointer, type, distance), keep), keep


def _scaled(expr: Expr, scale: Expr) -> Iterator[Expr]:
    """expr * scale as a sum of products, sums taken apart."""
    if isinstance(expr, Apply) and expr.dtype == INDEX:
        a = expr.args
        if expr.op == "add":
            yield from _scaled(a[0], scale)
            yield from _scaled(a[1], scale)
            return
        if expr.op == "subtract":
            yield from _scaled(a[0], scale)
            yield from _scaled(a[1], times(scale, index(-1)))
            return
        if expr.op == "multiply" and isinstance(a[1], Const):
            yield from _scaled(a[0], times(scale, a[1]))
            return
    product = times(expr, scale)
    if product != index(0):
        yield product
