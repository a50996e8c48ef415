"""Writing LLVM IR: types, values, and the functions of a module as text.

    module = Module("demo")
    f = module.function("twice", F32, [(F32, "x")])
    f.ret(f.fadd(f.args["x"], f.args["x"]))
    module.text()

A thin layer, which keeps to forms that several LLVM releases parse.

| file            | what it holds                                                       |
|-----------------|---------------------------------------------------------------------|
| types.py        | types, values, literals                                             |
| module.py       | a module: functions, declarations, globals, constants               |
| text.py         | a function's lines and blocks                                       |
| instructions.py | one method per instruction                                          |
| function.py     | loops and conditions around instructions                            |
"""

from __future__ import annotations

from graphify.engines.native.llvm.function import Function
from graphify.engines.native.llvm.module import Module
from graphify.engines.native.llvm.text import Spot
from graphify.engines.native.llvm.types import (
    BF16,
    BIT,
    F16,
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    PTR,
    VOID,
    Parameter,
    Type,
    V,
)

__all__ = [
    "BF16",
    "BIT",
    "F16",
    "F32",
    "F64",
    "Function",
    "I16",
    "I32",
    "I64",
    "I8",
    "Module",
    "PTR",
    "Parameter",
    "Spot",
    "Type",
    "V",
    "VOID",
]
