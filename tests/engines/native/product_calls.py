"""The library functions of products, called with arrays."""

import ctypes
import functools

import numpy as np

from graphify.engines.native import jit, library, products
from graphify.engines.native.products import convolution as convolutions
from graphify.engines.native.products import matmul as matmuls
from graphify.engines.native.products.convolution import geometry
from graphify.engines.native.products.interface import convolution_names, matmul_names
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
def made_for(kind, dtype, target):
    """A module of library functions for another machine than this one."""
    made = kind.module(Numbers(dtype, target))
    names = (matmul_names if kind is matmuls else convolution_names)(str(dtype))
    return jit.compile(made.text(), names, name=f"{target.vector_bytes} {dtype}")


def on_target(dtype, target):
    """graphify_matmul_<dtype> made for another machine than this one."""
    code = made_for(matmuls, dtype, target)
    return ctypes.CFUNCTYPE(None, *_SIGNATURE)(code.address(f"graphify_matmul_{dtype}"))


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


# --- convolutions ---------------------------------------------------------------------------------


def convolve(kind, a, b, size, strides, dilations, padding, groups, epilogue=None, target=None):
    """The op of that name on C-ordered arrays; `size` as the op has it."""
    rank = len(size)
    x_like = {"convolution": a, "convolution_input": None, "convolution_kernel": a}[kind]
    y_like = {"convolution": None, "convolution_input": a, "convolution_kernel": b}[kind]
    w_like = {"convolution": b, "convolution_input": b, "convolution_kernel": None}[kind]
    n, lengths = a.shape[0], dict(zip("iko", (x_like, w_like, y_like), strict=True))
    spatial = {
        "i": lengths["i"].shape[1:-1] if lengths["i"] is not None else size,
        "k": lengths["k"].shape[:-2] if lengths["k"] is not None else size,
        "o": lengths["o"].shape[1:-1] if lengths["o"] is not None else size,
    }
    if kind == "convolution_kernel":
        channels, features = a.shape[-1] // groups, b.shape[-1] // groups
        shape = (*size, channels, b.shape[-1])
    else:
        channels, features = b.shape[-2], b.shape[-1] // groups
        last = b.shape[-1] if kind == "convolution" else channels * groups
        shape = (n, *size, last)
    axes = list(zip(*spatial.values(), strides, dilations, padding, strict=True))
    words = np.array(geometry(n, groups, channels, features, axes), np.int64)
    assert len(axes) == rank
    c = np.empty(shape, a.dtype)
    c.view(np.uint8).fill(0xA5)
    pointers = [a.ctypes.data, b.ctypes.data, c.ctypes.data, words.ctypes.data]
    if kind == "convolution":
        pointers += [ctypes.cast(epilogue, ctypes.c_void_p) if epilogue else None, None]
    name = f"graphify_{kind}_{a.dtype}"
    if target is None:
        address = library.need(name)
    else:
        address = made_for(convolutions, a.dtype, target).address(name)
    ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(pointers))(address)(*pointers)
    return c


assert products.DTYPES
