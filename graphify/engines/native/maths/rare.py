"""Lanes that need a long way: functions out of line that redo them one by one.

    y = patched("sin", a > limit, y, a)

A library module, compiled only where some graph needs it, has `graphify_large_<name>_<type>`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from graphify.engines.native.library import provide
from graphify.engines.native.llvm import F32, F64, I64, PTR, VOID, Function, Module, Type, V
from graphify.engines.native.maths.formula import X

Condition = Callable[..., X]
Body = Callable[..., X]


def patched(name: str, rare: X, y: X, *args: X) -> X:
    """`y`, and where `rare` holds in some lane, what the library function makes of it."""
    f = y.f
    before, cold, after = f.block, f.label("rare"), f.label("rare")
    places = [f.alloca(v.type) for v in (*args, y)]
    f.br_if(rare.any().v, cold, after)
    f.start(cold)
    for x, place in zip((*args, y), places, strict=True):
        f.store(x.v, place)
    f.call(_symbol(name, y.type), VOID, [*places, V(I64, str(y.type.lanes))])
    fixed = f.load(y.type, places[-1])
    f.start(after)
    return X(f, f.phi(y.type, [(y.v, before), (fixed, cold)]))


def provide_lanes(name: str, count: int, condition: Condition, body: Body) -> None:
    """Promise the library functions of a name.

    Args:
        count: of operands.
        condition: of the operands, which lanes are redone.
        body: the result for operands in double; float is computed in double too.
    """
    make = functools.partial(_library, name, count, condition, body)
    provide([_symbol(name, type) for type in (F32, F64)], make)


def _symbol(name: str, type: Type) -> str:
    return f"graphify_large_{name}_{type.scalar}"


def _library(name: str, count: int, condition: Condition, body: Body) -> Module:
    """void (ptr operand, ..., ptr results, i64 count) for float and for double."""
    module = Module(f"large_{name}")
    names = [f"x{i}" for i in range(count)]
    g = module.function("body", F64, [(F64, n) for n in names], "internal", "noinline nounwind")
    g.ret(body(*(X(g, g.args[n]) for n in names)).v)
    for type in (F32, F64):
        params = [(PTR, n) for n in [*names, "results"]]
        f = module.function(_symbol(name, type), VOID, [*params, (I64, "count")])
        with f.counting(V(I64, "0"), f.args["count"]) as i:
            _lane(f, type, names, i, condition)
        f.ret()
    return module


def _lane(f: Function, type: Type, names: list[str], i: V, condition: Condition) -> None:
    operands = [X(f, f.load(type, f.at(f.args[n], type, i))) for n in names]
    with f.when(condition(*operands).v):
        wide = operands if type == F64 else [x.widened() for x in operands]
        y = X(f, f.call("body", F64, [x.v for x in wide]))
        f.store((y if type == F64 else y.narrowed()).v, f.at(f.args["results"], type, i))
