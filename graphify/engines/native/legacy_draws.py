"""What RandomState draws with functions of its own, which NumPy does not export.

    double graphify_legacy_standard_normal(ptr rng)
    double graphify_legacy_normal(ptr rng, double loc, double scale)
    double graphify_legacy_standard_exponential(ptr rng)
    double graphify_legacy_exponential(ptr rng, double scale)

Their streams are frozen: NumPy promises that they never change. Normal numbers come in pairs, of
which RandomState keeps the second; `place()` finds where, and `agree()` compares what is written
here with what NumPy gives. Where either fails, the draws are left to Python.

Source: numpy/random/src/legacy/legacy-distributions.c.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any

import numpy as np

from graphify.engines.native import library
from graphify.engines.native.entry import capi
from graphify.engines.native.llvm import F64, I8, PTR, Function, Module, V

# method -> how many parameters
METHODS = {"standard_normal": 0, "normal": 2, "standard_exponential": 0, "exponential": 1}
# A RandomState keeps a bitgen_t of its own, and behind it the address of that, whether there is a
# number left (in the first byte of a word), and the number.
BITGEN = 40
NEXT_DOUBLE, HAS_LEFT, LEFT = 24, BITGEN + 8, BITGEN + 16


def symbol(method: str) -> str:
    """The name of a function in native code."""
    return f"graphify_legacy_{method}"


def module() -> Module:
    """The functions above."""
    made = Module("legacy_draws")
    _write_standard_normal(made)
    _write_standard_exponential(made)
    f = made.function(symbol("normal"), F64, [(PTR, "rng"), (F64, "loc"), (F64, "scale")])
    drawn = f.call(symbol("standard_normal"), F64, [f.args["rng"]])
    f.ret(f.fadd(f.args["loc"], f.fmul(f.args["scale"], drawn)))
    f = made.function(symbol("exponential"), F64, [(PTR, "rng"), (F64, "scale")])
    drawn = f.call(symbol("standard_exponential"), F64, [f.args["rng"]])
    f.ret(f.fmul(f.args["scale"], drawn))
    return made


library.provide([symbol(method) for method in METHODS], module)


def next_double(f: Function, rng: V) -> V:
    """A number of the bitgen_t at an address, uniform in [0, 1)."""
    own = f.load(PTR, f.at(rng, I8, NEXT_DOUBLE))
    return f.call_pointer(own, F64, [f.load(PTR, rng)])


def _write_standard_normal(made: Module) -> None:
    """Marsaglia's polar method."""
    f = made.function(symbol("standard_normal"), F64, [(PTR, "rng")])
    rng = f.args["rng"]
    has_left, left = f.at(rng, I8, HAS_LEFT), f.at(rng, I8, LEFT)
    zero, one, two = (f.const(F64, number) for number in (0.0, 1.0, 2.0))
    with f.when(f.icmp("ne", f.load(I8, has_left), V(I8, "0"))):
        drawn = f.load(F64, left)
        f.store(V(I8, "0"), has_left)
        f.store(zero, left)
        f.ret(drawn)
    again, done = f.label("again"), f.label("done")
    f.br(again)
    f.start(again)
    x, y = (f.fsub(f.fmul(two, next_double(f, rng)), one) for _ in range(2))
    square = f.fadd(f.fmul(x, x), f.fmul(y, y))
    outside = f.or_(f.fcmp("oge", square, one), f.fcmp("oeq", square, zero))
    f.br_if(outside, again, done)
    f.start(done)
    ratio = f.fdiv(f.fmul(f.const(F64, -2.0), f.call("log", F64, [square])), square)
    factor = f.intrinsic("sqrt", ratio)
    f.store(f.fmul(factor, x), left)
    f.store(V(I8, "1"), has_left)
    f.ret(f.fmul(factor, y))


def _write_standard_exponential(made: Module) -> None:
    f = made.function(symbol("standard_exponential"), F64, [(PTR, "rng")])
    rest = f.fsub(f.const(F64, 1.0), next_double(f, f.args["rng"]))
    f.ret(f.fneg(f.call("log", F64, [rest])))


# --- the memory of a RandomState ------------------------------------------------------------------


@functools.cache
def place() -> int:
    """How many bytes into a RandomState its bitgen_t is (0: not found)."""
    sample: Any = np.random.RandomState(1)
    sample.standard_normal()
    left = sample.get_state(legacy=False)["gauss"]
    found = [
        at for at in range(16, type(sample).__basicsize__ - LEFT, 8) if _fits(sample, at, left)
    ]
    return found[0] if len(found) == 1 and capi.understood() else 0


def _fits(sample: Any, at: int, left: float) -> bool:
    start = id(sample) + at
    return (
        capi.word(start + BITGEN) == start
        and ctypes.c_uint8.from_address(start + HAS_LEFT).value == 1
        and ctypes.c_double.from_address(start + LEFT).value == left
    )


@functools.cache
def agree() -> bool:
    """Whether the functions above give what NumPy gives, and leave what it leaves."""
    if not place():
        return False
    ours, numpys = np.random.RandomState(2), np.random.RandomState(2)
    for turn in range(40):
        for method, count in METHODS.items():
            numbers = [0.3 + turn, 1.7][2 - count :]
            if _drawn(ours, method, numbers) != getattr(numpys, method)(*numbers):
                return False
    return repr(ours.get_state()) == repr(numpys.get_state())


def _drawn(state: Any, method: str, numbers: list[float]) -> float:
    kinds = [ctypes.c_void_p, *[ctypes.c_double] * len(numbers)]
    function = ctypes.CFUNCTYPE(ctypes.c_double, *kinds)(library.need(symbol(method)))
    return float(function(id(state) + place(), *numbers))
