"""graphify: Python numeric functions as graphs."""

from graphify import autograph, debugging, errors, numpy
from graphify.api.concrete import ConcreteFunction
from graphify.api.devices import device
from graphify.api.function import Function, function
from graphify.api.printing import print
from graphify.api.variable import Module, Variable
from graphify.config import config
from graphify.ir.bind import Tensor
from graphify.tracing.signature import TensorSpec

__version__ = "0.1.0"
__all__ = [
    "ConcreteFunction",
    "Function",
    "Module",
    "Tensor",
    "TensorSpec",
    "Variable",
    "autograph",
    "config",
    "debugging",
    "device",
    "errors",
    "function",
    "numpy",
    "print",
]
