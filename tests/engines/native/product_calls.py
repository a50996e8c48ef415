"""The library functions of products, called with arrays."""

import ctypes
import functools

import numpy as np

from graphify.engines.native import jit, library, products
from graphify.engines.native.products import matmul as module_of_products
from graphify.engines.native.products.numbers import Numbers

EPILOGUE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, *[ctypes.c_int64] * 6)
_OPERAND = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64]
_SIGNATURE = [*_OPERAND * 3, *[ctypes.c_int64] * 3, ctypes.c_void_p, ctypes.c_void_p]


@functools.cache
def single(name):
    """graphify_matmul_<name>."""
    return ctypes.CFUNCTYPE(None, *_SIGNATURE)(library.need(f"graphify_matmul_{name}"))


@functools.cache
def batched(name):
    kind = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 4, *_SIGNATURE)
    return kind(library.need(f"graphify_batched_matmul_{name}"))


@functools.cache
def on_target(dtype, target):
    """graphify_matmul_<dtype> made for another machine than this one."""
    made = module_of_products.module(Numbers(dtype, target))
    names = module_of_products.names(str(dtype))
    code = jit.compile(made.text(), names, name=f"{target.vector_bytes} {dtype}")
    function = ctypes.CFUNCTYPE(None, *_SIGNATURE)(code.address(names[0]))
    function.code = code
    return function


def operand(x):
    row, column = (s // x.itemsize for s in x.strides)
    return x.ctypes.data, row, column


def matmul(a, b, c=None, epilogue=None, function=None):
    """a @ b, into c if that is given."""
    (m, k), n = a.shape, b.shape[1]
    if c is None:
        c = np.empty((m, n), a.dtype)
        c.view(np.uint8).fill(0xA5)  # whatever is not written shows
    function = function or single(str(a.dtype))
    pointer = ctypes.cast(epilogue, ctypes.c_void_p) if epilogue else None
    function(*operand(a), *operand(b), *operand(c), m, n, k, pointer, None)
    return c


def batched_matmul(a, b, epilogue=None):
    """a @ b for three axes; strides of zero stay zero."""
    (count, m, k), n = a.shape, b.shape[2]
    c = np.empty((count, m, n), a.dtype)
    steps = [x.strides[0] // x.itemsize for x in (a, b, c)]
    pointer = ctypes.cast(epilogue, ctypes.c_void_p) if epilogue else None
    operands = [
        word
        for x in (a, b, c)
        for word in (x.ctypes.data, *(s // x.itemsize for s in x.strides[1:]))
    ]
    batched(str(a.dtype))(count, *steps, *operands, m, n, k, pointer, None)
    return c


assert products.DTYPES
