"""The table of kernels: from the name in an op's `tf` field to a function that lowers it.

    @kernel("sign")
    def sign(frame, x): ...

A kernel takes the frame to lower into, the operands as tensors of that frame and the op's
attributes, and gives the result, or one result per spec. It may assume that operands have the
dtypes of the op's spec and a known rank; it must give NumPy's answer.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

from graphify.errors import LoweringError
from graphify.ir.op import Op

Kernel = Callable[..., Any]

KERNELS: dict[str, Kernel] = {}
PYTHON_KERNELS: dict[str, Kernel] = {}  # by the op's name, where the result is a Python number
FAMILIES = (
    "casting",
    "elementwise",
    "comparison",
    "integers",
    "exponents",
    "python_numbers",
    "library",
    "arrays",
    "checks",
    "views",
    "indexing",
    "reductions",
    "sorting",
    "einsum",
    "windows",
    "convolution",
    "linalg",
    "fourier",
    "random",
    "control",
    "effects",
    "failing",
    "recursion",
)


def kernel(*names: str) -> Callable[[Kernel], Kernel]:
    """Register a kernel under the names that ops use for it."""

    def register(function: Kernel) -> Kernel:
        for name in names:
            KERNELS[name] = function
        return function

    return register


def python_kernel(name: str) -> Callable[[Kernel], Kernel]:
    """Register what an op does where its result is a Python number."""

    def register(function: Kernel) -> Kernel:
        PYTHON_KERNELS[name] = function
        return function

    return register


def kernel_of(op: Op, weak: bool = False) -> Kernel:
    """The kernel of an op; `weak`: where its result is a Python number.

    Raises:
        LoweringError: there is none; or none for Python numbers, where those mean something else.
    """
    found = find(op)
    if weak and "python" in op.extra:
        found = PYTHON_KERNELS.get(op.name)
    if found is None:
        raise LoweringError(f"tensorflow: no form for the op {op.name}")
    return found


def find(op: Op) -> Kernel | None:
    load()
    return KERNELS.get(op.tf) or KERNELS.get(op.name)


@functools.cache
def load() -> None:
    """Import the families of kernels, each of which registers its own."""
    for family in FAMILIES:
        importlib.import_module(f"{__package__}.{family}")
