"""Functions of Python's math and cmath on traced Python numbers: their values, and their errors.

    math_call(sqrt(x), x, function="math.sqrt")    # math.sqrt(x): ValueError where x is negative

The first operand is the value by graphify's own ops: engines compute that one, and derivatives go
through it. What the op means is what Python's function gives for the other operands; where the
value is not finite the engines ask it, since it knows which error to raise.
"""

from __future__ import annotations

import builtins
import cmath
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from graphify.errors import IntegerOverflow
from graphify.ir.op import Op, defop
from graphify.ir.types import Spec
from graphify.ops import core
from graphify.ops.python_numbers import HIGH, LOW
from graphify.ops.rules import align
from graphify.ops.shape import expand_dims

_MODULES = {"math": math, "cmath": cmath, "": builtins}
# Where these are infinite for finite arguments, Python's math says "domain", not "range".
POLES = frozenset(["log", "log2", "log10", "log1p", "atanh", "pow"])
# Their values by other ops are off by more than rounding: only Python's own are good enough.
EXACT = frozenset(["remainder", "round", "ulp"])


def function_of(name: str) -> Callable[..., Any]:
    """The function of a dotted name such as "math.sqrt"."""
    module, _, member = name.rpartition(".")
    function: Callable[..., Any] = getattr(_MODULES[module], member)
    return function


def _over_batch(call: Callable[..., Any], arrays: Any, dtype: Any) -> Any:
    """One call, or one for each number of a batch."""
    if not any(np.ndim(a) for a in arrays):
        return np.asarray(call(*(a.item() for a in arrays)), dtype)
    rows = np.broadcast_arrays(*arrays)
    results = [call(*(v.item() for v in row)) for row in zip(*(r.flat for r in rows), strict=True)]
    return np.asarray(results, dtype).reshape(rows[0].shape)


def _math_eval(value: Any, *args: Any, function: str) -> Any:
    return _over_batch(function_of(function), args, value.dtype)


def _vmap(cell: list[Op]) -> Callable[..., Any]:
    def batched_call(args: Any, batched: Any, **attrs: Any) -> Any:
        rank = max(a.ndim - b for a, b in zip(args, batched, strict=True))
        rows = [align(a, rank) if b else a for a, b in zip(args, batched, strict=True)]
        return core.strong(cell[0](*rows, **attrs))

    return batched_call


def _shape(*args: Spec) -> Any:
    return core.broadcast_shapes(*(arg.shape for arg in args))


def _lazily(cell: list[Op], op: Op) -> Op:
    cell.append(op)
    return op


_math: list[Op] = []
math_call: Op = _lazily(
    _math,
    defop(
        "math_call",
        spec=lambda value, *args, function: Spec(_shape(value, *args), value.dtype, True),
        eval=_math_eval,
        vjp=lambda g, y, value, *args, function: [
            core.unbroadcast(g, value),
            *(None for _ in args),
        ],
        jvp=lambda ts, y, value, *args, function: (
            core.zeros_like(y) if ts[0] is None else core.like(core.strong(ts[0]), y)
        ),
        vmap=_vmap(_math),
        tf="math_call",
        sample=lambda: [],  # moving the value alone moves nothing: see test_library.py instead
        differentiable=(0,),
        extra={"weak": True},
        doc="a function of math or cmath of Python numbers; operand 1 is the value",
    ),
)

# --- integers -----------------------------------------------------------------------------------


def _integers_eval(*args: Any, function: str) -> Any:
    def call(*values: Any) -> int:
        result = INTEGERS[function](*values)
        if not LOW <= result < HIGH:
            shown = ", ".join(map(repr, values))
            raise IntegerOverflow(
                f"the Python integer {function}({shown}) does not fit into the 64 bits of a "
                "traced one"
            )
        return result

    return _over_batch(call, args, np.int64)


INTEGERS: dict[str, Callable[..., int]] = {
    "math.comb": math.comb,
    "math.factorial": math.factorial,
    "math.isqrt": math.isqrt,
    "math.perm": math.perm,
    "pow": pow,
    "int.bit_length": int.bit_length,
    "round": round,
}

_integer: list[Op] = []
integer_call: Op = _lazily(
    _integer,
    defop(
        "integer_call",
        spec=lambda *args, function: Spec(_shape(*args), np.dtype(np.int64), True),
        eval=_integers_eval,
        vmap=_vmap(_integer),
        tf="integer_call",
        sample=lambda: [((np.asarray(9), np.asarray(3)), {"function": "math.comb"})],
        differentiable=(),
        extra={"weak": True},
        doc="a function of Python's integers that gives one: math.comb, pow with a modulus",
    ),
)


# --- exact sums ---------------------------------------------------------------------------------


def _fsum_eval(x: Any) -> Any:
    rows = x.reshape(-1, x.shape[-1]) if x.ndim > 1 else x[None]
    return np.asarray([math.fsum(row.tolist()) for row in rows]).reshape(x.shape[:-1])


fsum: Op = defop(
    "fsum",
    spec=lambda x: Spec(x.shape[:-1], np.dtype(np.float64), True),
    eval=_fsum_eval,
    vjp=lambda g, y, x: [core.broadcast_to(expand_dims(g, g.ndim), shape=x.dims)],
    jvp=lambda ts, y, x: core.strong(fsum(ts[0])),
    vmap=lambda args, batched: core.strong(fsum(args[0])),
    tf="fsum",
    sample=lambda: [((np.array([0.1] * 10),), {}), ((np.array([[1e3, 1.0], [-0.5, 3.0]]),), {})],
    extra={"weak": True},
    doc="math.fsum of the last axis: the sum with one rounding",
)


# --- order --------------------------------------------------------------------------------------


def _argsort_eval(*keys: Any, reverse: bool) -> Any:
    rows = list(zip(*(key.tolist() for key in keys), strict=True))
    order = sorted(range(len(rows)), key=rows.__getitem__, reverse=reverse)
    return np.asarray(order, np.int64)


python_argsort: Op = defop(
    "python_argsort",
    spec=lambda *keys, reverse: Spec(keys[0].shape, np.dtype(np.int64)),
    eval=_argsort_eval,
    tf="python_argsort",
    sample=lambda: [
        ((np.array([2.0, 1.0, 2.0]), np.array([0, 5, -1])), {"reverse": reverse})
        for reverse in (False, True)
    ],
    differentiable=(),
    doc="the order in which Python's sorted puts items, by keys of one or more numbers",
)
