"""Which complex functions there are, and how an op calls them: out of line, in double.

z = called("exp", z)     # within a formula
FUNCTIONS["exp"]         # the rule
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from graphify.engines.native.elements import complex_functions as basic
from graphify.engines.native.elements import complex_inverse as inverse
from graphify.engines.native.elements.complexes import Z, formula, z_of
from graphify.engines.native.elements.element import Element
from graphify.engines.native.elements.rule import Rule, outlined
from graphify.engines.native.llvm import F64, VOID, Function, V
from graphify.engines.native.maths.formula import X, join, split
from graphify.ir.types import DType


def in_double(name: str) -> Rule:
    """A formula of `FORMULAS` as a rule for both complex dtypes."""

    def on_elements(f: Function, dtype: DType, *args: Element) -> Element:
        zs = [z_of(f, a) for a in args]
        if dtype == np.complex128:
            z = called(name, *zs)
        else:
            wide = called(name, *(Z(z.re.widened(), z.im.widened()) for z in zs))
            z = Z(wide.re.narrowed(), wide.im.narrowed())
        return Element(dtype, (z.re.v, z.im.v))

    return on_elements


def called(name: str, *zs: Z) -> Z:
    """A formula on double pairs: a function of the module's own, called per register of lanes.

    They are long; one copy of each, in lanes that the machine has, keeps modules small.
    """
    x = zs[0].re
    count = x.type.lanes // x.f.module.target.lanes(F64)
    if count < 2:
        return _call_formula(name, zs)
    pieces = [[Z(*p) for p in zip(split(z.re, count), split(z.im, count), strict=True)] for z in zs]
    results = [_call_formula(name, row) for row in zip(*pieces, strict=True)]
    return Z(join([z.re for z in results]), join([z.im for z in results]))


def _call_formula(name: str, zs: Sequence[Z]) -> Z:
    f, type = zs[0].re.f, zs[0].re.type
    outs = [f.alloca(type), f.alloca(type)]

    def write(g: Function, *args: V) -> V:
        parts = [X(g, a) for a in args[:-2]]
        z = FORMULAS[name](*(Z(*pair) for pair in zip(parts[::2], parts[1::2], strict=True)))
        for part, out in zip((z.re, z.im), args[-2:], strict=True):
            g.store(part.v, out)
        return V(VOID, "")

    parts = [part.v for z in zs for part in (z.re, z.im)]
    outlined(f, f"complex_{name}", [*parts, *outs], write, VOID)
    return Z(*(X(f, f.load(type, out)) for out in outs))


def _turned(function: Callable[[Z], Z]) -> Callable[[Z], Z]:
    """-i f(iz) for an odd f that commutes with conjugation: the parts change places."""

    def turned(z: Z) -> Z:
        w = function(Z(z.im, z.re))
        return Z(w.im, w.re)

    return turned


_TURNED = {
    "arcsinh": inverse.arcsin,
    "sin": basic.sinh,
    "tan": basic.tanh,
    "arctan": inverse.arctanh,
}

FORMULAS: dict[str, Callable[..., Z]] = {
    "exp": basic.exp,
    "exp2": basic.exp2,
    "log": basic.log,
    "log2": basic.scaled_log(1 / basic.LN2),
    "log10": basic.scaled_log(1 / math.log(10.0)),
    "sqrt": basic.sqrt,
    "sinh": basic.sinh,
    "cosh": basic.cosh,
    "tanh": basic.tanh,
    "cos": basic.cos,
    "arcsin": inverse.arcsin,
    "arccos": inverse.arccos,
    "arccosh": inverse.arccosh,
    "arctanh": inverse.arctanh,
    **{name: _turned(function) for name, function in _TURNED.items()},
}
FUNCTIONS: dict[str, Rule] = {
    **{name: in_double(name) for name in FORMULAS},
    "expm1": formula(basic.expm1),
    "log1p": formula(basic.log1p),
}
