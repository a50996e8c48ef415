"""Draws from NumPy's generators: NumPy's own C functions, called between `lock` and `unlock`.

    x = rng.random(); y = rng.normal(a, b)   ->   rng = lock()
                                                  x = random(rng)
                                                  fail if signbit(b) and not isnan(b)
                                                  y = normal(a, b, rng)
                                                  unlock()

What Python runs in between runs without the lock. Loops that draw stay serial, in program order.
Parameters that NumPy refuses are refused in line, by the draw's own meaning, before the draw.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from graphify.engines.native.generators import Locking, Recipe, recipe_of
from graphify.engines.native.loops.numbers import zero
from graphify.engines.native.loops.program import (
    BOOL,
    INDEX,
    Apply,
    Block,
    Call,
    Const,
    Expr,
    For,
    Let,
    Stmt,
    Var,
    compare,
)
from graphify.engines.native.loops.walk import map_blocks, statements
from graphify.engines.native.lower.checks import both, either
from graphify.engines.native.lower.effects import complain, negated
from graphify.engines.native.lower.elementwise import cast
from graphify.engines.native.lower.host import outsource
from graphify.engines.native.lower.lowering import Declined, Lowering, rule
from graphify.ir.graph import Node
from graphify.ir.types import DType
from graphify.ops.random import Source

FLOAT64 = np.dtype(np.float64)


@rule("random_draw")
def _random_draw(low: Lowering, node: Node) -> None:
    attrs, (spec,) = node.attrs, node.specs
    if any(v.spec.shape for v in node.inputs) or not all(low.bound(dim) for dim in spec.shape):
        raise Declined
    options, method = dict(attrs["options"]), attrs["method"]
    dtype = np.dtype(options.get("dtype", spec.dtype))  # a float may be drawn as float32
    recipe = recipe_of(attrs["source"], method, options, dtype, len(node.inputs))
    if recipe is None:
        raise Declined
    parameters = [low.scalar(value) for value in node.inputs]
    if recipe.integers:
        _check_range(low, node, recipe, parameters, dtype)
    else:
        _check_numbers(low, node, recipe, parameters)
    notes = {
        "recipe": recipe,
        "parameters": len(parameters),  # the first scalars; sizes may follow
        "method": method,
        "dtype": dtype,
        "symbol": recipe.symbol or "next_double",
        "source": attrs["source"],
    }
    outsource(low, node, "draw", notes)


# --- what NumPy demands of parameters -------------------------------------------------------------


def _check_numbers(low: Lowering, node: Node, recipe: Recipe, parameters: list[Expr]) -> None:
    if not all(p.dtype.kind in "iu" or p.dtype.char in "fd" for p in parameters):
        raise Declined
    numbers = [cast(p, FLOAT64) for p in parameters]
    if recipe.width:
        numbers[1] = low.let(_width(*numbers), "width")
    for limit, x in zip(recipe.limits, numbers, strict=True):
        if limit:
            _demand(low, node, _holds(limit, x))


def _width(low: Expr, high: Expr) -> Expr:
    if isinstance(low, Const) and isinstance(high, Const):
        return Const(high.value - low.value, FLOAT64)
    return Apply("subtract", (high, low), FLOAT64)


def _demand(low: Lowering, node: Node, holds: Expr) -> None:
    if holds != Const(True, BOOL):
        complain(low, node, holds)


def _holds(limit: str, x: Expr) -> Expr:
    """Whether a number is within a limit: the names are NumPy's constraints, NaN as it has them."""
    if isinstance(x, Const) and 0 < x.value < (1 if limit == "probability" else 1e18):
        return Const(True, BOOL)
    match limit:
        case "positive":
            return negated(_is(x, "less_equal", 0.0))
        case "not negative":
            return negated(both(Apply("signbit", (x,), BOOL), negated(Apply("isnan", (x,), BOOL))))
        case "finite":
            return Apply("isfinite", (x,), BOOL)
        case "finite, not negative":
            return both(_holds("finite", x), _holds("not negative", x))
        case "probability":
            return both(_is(x, "greater", 0.0), _is(x, "less_equal", 1.0))
        case "rate":
            return both(_is(x, "greater_equal", 0.0), _is(x, "less_equal", _LARGEST_RATE))
    raise AssertionError(limit)


_LONGEST = np.iinfo(np.dtype("l")).max
_LARGEST_RATE = float(_LONGEST - np.sqrt(_LONGEST) * 10)  # of a Poisson distribution in NumPy


def _is(x: Expr, op: str, number: float) -> Expr:
    return compare(op, x, Const(number, x.dtype))


def _check_range(
    low: Lowering, node: Node, recipe: Recipe, parameters: list[Expr], dtype: DType
) -> None:
    """Both ends in the dtype, and one number between them at least; an empty array is any."""
    if not all(p.dtype.kind in "iu" and p.dtype != np.uint64 for p in parameters):
        raise Declined
    if 0 in node.specs[0].shape:
        raise Declined
    first, last = _ends(parameters)
    least, most = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    outside = compare("greater" if recipe.closed else "greater_equal", first, last)
    if least > np.iinfo(np.int64).min:
        outside = _or(outside, compare("less", first, Const(int(least), INDEX)))
    if most < np.iinfo(np.int64).max:
        above = Const(int(most) + (not recipe.closed), INDEX)
        outside = _or(outside, compare("greater", last, above))
    _demand(low, node, negated(outside))


def _or(a: Expr, b: Expr) -> Expr:
    if isinstance(a, Const) and isinstance(b, Const):
        return Const(a.value or b.value, BOOL)
    return either(a, b)


def _ends(parameters: Iterable[Expr]) -> tuple[Expr, Expr]:
    """The ends of a range of integers, from one parameter or two."""
    *first, last = (cast(p, INDEX) for p in parameters)
    return (first[0] if first else Const(0, INDEX)), last


# --- where locks are taken ------------------------------------------------------------------------


def locked(block: Block, hosts: list[Any]) -> Block:
    """A block whose draws are native, between locks as far apart as Python's calls allow.

    Python may wait for another thread, which may wait for the generator: nothing is locked then.

    Args:
        hosts: the functions that calls of "host" and "lock" run; grows.
    """
    done: list[Stmt] = []
    waiting: list[Stmt] = []
    for stmt in block:
        if not _runs_python(stmt):
            waiting.append(stmt)
            continue
        done += _between_locks(waiting, hosts)
        waiting = []
        done.append(map_blocks(stmt, lambda inner: locked(inner, hosts)))
    done += _between_locks(waiting, hosts)
    return block if len(done) == len(block) and not _draws(block) else tuple(done)


def _runs_python(stmt: Stmt) -> bool:
    return any(isinstance(s, Call) and s.function == "host" for s in statements((stmt,)))


def _draws(block: Iterable[Stmt]) -> list[Call]:
    found = statements(tuple(block))
    return [s for s in found if isinstance(s, Call) and s.function == "draw"]


def _between_locks(block: list[Stmt], hosts: list[Any]) -> Iterator[Stmt]:
    """Statements that do not run Python, with a lock around those that draw."""
    with_draws = [place for place, stmt in enumerate(block) if _draws((stmt,))]
    if not with_draws:
        yield from block
        return
    first, last = with_draws[0], with_draws[-1] + 1
    sources = tuple(dict.fromkeys(call.attrs["source"] for call in _draws(block)))
    addresses = {source: Var("rng", INDEX, mutable=True) for source in sources}
    hosts.append(Locking(sources))
    attrs = {"number": len(hosts) - 1}
    yield from block[:first]
    for var in addresses.values():
        yield Let(var, zero(INDEX))
    yield Call("lock", (), (), (), tuple(addresses.values()), attrs)
    yield from (_with_address(stmt, addresses) for stmt in block[first:last])
    yield Call("unlock", (), ())
    yield from block[last:]


def _with_address(stmt: Stmt, addresses: dict[Source, Var]) -> Stmt:
    """A statement whose draws know their generator, and whose loops draw in order."""
    if isinstance(stmt, Call) and stmt.function == "draw":
        return replace(stmt, scalars=(*stmt.scalars, addresses[stmt.attrs["source"]]))
    if isinstance(stmt, For) and _draws((stmt,)):
        stmt = replace(stmt, kind="serial")
    return map_blocks(stmt, lambda block: tuple(_with_address(s, addresses) for s in block))
