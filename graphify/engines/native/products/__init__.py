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

Importing this provides the library functions; each dtype's are compiled when first needed.
"""

from __future__ import annotations

from functools import partial
from types import ModuleType

import numpy as np

from graphify.engines.native import library, memory, pool
from graphify.engines.native.entry import host as callbacks
from graphify.engines.native.llvm import Module
from graphify.engines.native.products import convolution, matmul
from graphify.engines.native.products.numbers import Numbers
from graphify.engines.native.target import host
from graphify.ir.types import DType, bfloat16

# They provide graphify_allocate, graphify_parallel and graphify_poll.
assert memory.NAMES, pool.NAMES
assert callbacks

DTYPES: tuple[DType, ...] = (
    *(np.dtype(t) for t in ("bool", "int8", "int16", "int32", "int64")),
    *(np.dtype(t) for t in ("uint8", "uint16", "uint32", "uint64")),
    *(bfloat16, *(np.dtype(t) for t in ("float16", "float32", "float64"))),
    *(np.dtype(t) for t in ("complex64", "complex128")),
)


def _provide(dtype: DType) -> None:
    for kind in (matmul, convolution):
        library.provide(kind.names(str(dtype)), partial(_module, kind, dtype))


def _module(kind: ModuleType, dtype: DType) -> Module:
    made: Module = kind.module(Numbers(dtype, host()))
    return made


for _dtype in DTYPES:
    _provide(_dtype)
