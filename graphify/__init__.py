"""graphify: Python numeric functions as graphs.

import graphify, numpy as np

@graphify.function
def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps

collatz(np.array(27))
"""

from graphify import autograph, debugging, errors, nn, numpy, random
from graphify import tensorflow as _tensorflow  # noqa: F401  # for its effect
from graphify.api.concrete import ConcreteFunction
from graphify.api.control import cond, fori_loop, scan, switch, while_loop
from graphify.api.custom import custom_gradient
from graphify.api.derivative import (
    grad,
    hessian,
    jacobian,
    jvp,
    stop_gradient,
    value_and_grad,
    vjp,
)
from graphify.api.devices import device
from graphify.api.function import Function, function
from graphify.api.mapping import map_fn, vectorized_map, vmap
from graphify.api.printing import print
from graphify.api.tape import GradientTape
from graphify.api.variable import Module, Variable
from graphify.config import config
from graphify.export import saved_model
from graphify.ir.tensor import Tensor
from graphify.tracing.signature import TensorSpec

__version__ = "0.1.0"
__all__ = [
    "ConcreteFunction",
    "Function",
    "GradientTape",
    "Module",
    "Tensor",
    "TensorSpec",
    "Variable",
    "autograph",
    "cond",
    "config",
    "custom_gradient",
    "debugging",
    "device",
    "errors",
    "fori_loop",
    "function",
    "grad",
    "hessian",
    "jacobian",
    "jvp",
    "map_fn",
    "nn",
    "numpy",
    "print",
    "random",
    "saved_model",
    "scan",
    "stop_gradient",
    "switch",
    "value_and_grad",
    "vectorized_map",
    "vjp",
    "vmap",
    "while_loop",
]
