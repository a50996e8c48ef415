"""Floating-point functions as LLVM instructions, for float and double in any number of lanes.

    y = maths.call(f, "exp", x)          # x: V of F32 or F64; y: a V of the same type

`call` is what the rest of the engine uses: each function stands once in a module, is inlined
where it is called few times, and reads as one line in the text. `FUNCTIONS` has the rules.
NaN, infinities, signed zeros and subnormal numbers are treated as NumPy treats them.

    formula.py        registers with operators; sums and products in two parts; the table
    parts.py          significand and exponent
    coefficients.py   the polynomials, fitted by tests/engines/native/fit.py
    the other files   a family of functions each
"""

from __future__ import annotations

from graphify.engines.native.llvm import Function, Type, V
from graphify.engines.native.maths import bits as bits
from graphify.engines.native.maths import error as error
from graphify.engines.native.maths import exponential as exponential
from graphify.engines.native.maths import hyperbolic as hyperbolic
from graphify.engines.native.maths import inverse as inverse
from graphify.engines.native.maths import logarithm as logarithm
from graphify.engines.native.maths import powers as powers
from graphify.engines.native.maths import rounding as rounding
from graphify.engines.native.maths import trigonometric as trigonometric
from graphify.engines.native.maths.bits import frexp
from graphify.engines.native.maths.formula import FUNCTIONS

__all__ = ["FUNCTIONS", "call", "frexp"]

# Instructions that copies of one function may add to a module. Beyond, it is called: in an unrolled
# loop that takes a few per cent longer to run, and half the time to compile.
INLINED = 480


def call(f: Function, name: str, *args: V) -> V:
    """Write a call of a function of `FUNCTIONS`, and the function where the module lacks it."""
    types = [a.type for a in args]
    symbol = ".".join(["maths", name, *(t.suffix for t in dict.fromkeys(types))])
    if symbol not in f.module.functions:
        _define(f, symbol, name, types)
    function = f.module.functions[symbol]
    result = f.call(symbol, function.result, args)
    if function.calls * function.size > INLINED and function.calls > 1:
        function.attributes = "noinline nounwind"
    return result


def _define(f: Function, symbol: str, name: str, types: list[Type]) -> None:
    params = [(t, f"x{i}") for i, t in enumerate(types)]
    g = f.module.function(symbol, types[0], params, "internal", "alwaysinline nounwind")
    y = FUNCTIONS[name](g, *g.args.values())
    g.result = y.type
    g.ret(y)
