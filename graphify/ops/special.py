"""Special functions that NumPy lacks: erf, erfc.

    erf(x)     # SciPy's, in the dtype of x

Integers and booleans are computed in the default float, half precision in float32.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from graphify.errors import SpecError
from graphify.ir.op import Op, defop
from graphify.ir.promotion import python_dtype
from graphify.ir.tensor import Tensor
from graphify.ir.types import Spec, is_complex, is_float
from graphify.ops import core
from graphify.ops.elementwise import exp, multiply, square
from graphify.ops.rules import reals


def _evaluate(name: str) -> Callable[[Any], Any]:
    def evaluate(x: Any) -> Any:
        import scipy.special  # takes longer to import than graphify itself

        wide = x.astype(np.float32) if x.dtype.itemsize == 2 else x
        return getattr(scipy.special, name)(wide).astype(x.dtype)

    return evaluate


def _special(name: str, slope: float, doc: str) -> Op:
    """A function of real numbers with the derivative `slope * exp(-x * x)`."""
    cell: list[Op] = []

    def convert(x: Any) -> list[Tensor]:
        tensor = core.strong(x)
        if is_complex(tensor.dtype):
            raise SpecError(f"{name}: argument 1: expected real numbers, got {tensor.spec}")
        return [tensor if is_float(tensor.dtype) else core.to_dtype(tensor, python_dtype(float))]

    def derivative(x: Tensor) -> Tensor:
        return multiply(exp(-square(x)), slope)

    op = defop(
        name,
        spec=lambda x: Spec(x.shape, x.dtype),
        eval=_evaluate(name),
        convert=convert,
        vjp=lambda g, y, x: [multiply(g, derivative(x))],
        jvp=lambda ts, y, x: multiply(ts[0], derivative(x)),
        vmap=lambda args, batched: cell[0](args[0]),
        tf=f"math.{name}",
        sample=reals(-3, 3),
        doc=doc,
        extra={"elementwise": True},
    )
    cell.append(op)
    return op


erf: Op = _special("erf", 2 / math.sqrt(math.pi), "the error function (scipy.special.erf)")
erfc: Op = _special("erfc", -2 / math.sqrt(math.pi), "1 - erf(x), precise for large x")
