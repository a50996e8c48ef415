"""Matrix products and convolutions, for every dtype.

    numbers.py       a dtype: how it is widened, multiplied, added, rounded
    model.py         which tiles and blocks, from registers and caches
    microkernel.py   the innermost loop
    tiles.py         what happens to a tile of sums then
    packing.py       operands in the order in which they are read
    blocking.py      small and large products
    vectors.py       products with a vector
    matmul.py        the library functions of matrix products
    convolution.py   the library functions of convolutions
    interface.py     what callers need to know of them

Importing this provides the library functions; each dtype's are compiled when first needed.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from graphify.engines.native import library
from graphify.engines.native.products.interface import convolution_names, matmul_names
from graphify.engines.native.target import host
from graphify.ir.types import DType, bfloat16

if TYPE_CHECKING:
    from graphify.engines.native.llvm import Module

DTYPES: tuple[DType, ...] = (
    *(np.dtype(t) for t in ("bool", "int8", "int16", "int32", "int64")),
    *(np.dtype(t) for t in ("uint8", "uint16", "uint32", "uint64")),
    *(bfloat16, *(np.dtype(t) for t in ("float16", "float32", "float64"))),
    *(np.dtype(t) for t in ("complex64", "complex128")),
)


def _matmul(dtype: DType) -> Module:
    from graphify.engines.native.products import matmul, numbers

    return matmul.module(numbers.Numbers(dtype, host()))


def _convolution(dtype: DType) -> Module:
    from graphify.engines.native.products import convolution, numbers

    return convolution.module(numbers.Numbers(dtype, host()))


for _dtype in DTYPES:
    library.provide(matmul_names(str(_dtype)), partial(_matmul, _dtype))
    library.provide(convolution_names(str(_dtype)), partial(_convolution, _dtype))
