"""Discrete Fourier transforms of the last axis: fft, rfft, irfft.

    y = fft(x, inverse=False, norm="backward")      # y[k] = sum of x[j] * exp(-2 pi i j k / n)

`norm` says which direction divides by the length: "backward" the inverse one, "forward" the other,
"ortho" both by its square root. The transforms are linear: the adjoint of one is that of the other
direction, under the norm that divides there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphify.ir.op import Op, defop
from graphify.ir.promotion import python_dtype
from graphify.ir.sizes import Dim, decide_equal, size_op
from graphify.ir.tensor import Tensor
from graphify.ir.types import DType, Spec, is_complex, is_inexact, real_dtype
from graphify.ops import core
from graphify.ops import elementwise as e
from graphify.ops.indexing import take_slice
from graphify.ops.shape import concatenate, iota, size_value

ADJOINT = {"backward": "forward", "forward": "backward", "ortho": "ortho"}
COMPLEX = {np.dtype(np.float32): np.dtype(np.complex64)}  # of float64 it is complex128


def complex_dtype(dtype: DType) -> DType:
    """That of a transform; NumPy has no complex numbers of half precision."""
    if is_complex(dtype):
        return dtype
    real = dtype if is_inexact(dtype) else python_dtype(float)
    return np.dtype(np.complex64 if real.itemsize < 8 else np.complex128)


def resized(x: Tensor, length: Dim) -> Tensor:
    """The last axis cut off, or filled up with zeros, at a length."""
    axis, given = x.ndim - 1, x.dims[-1]
    if decide_equal(given, length):
        return x
    missing = size_op("max", length - given, 0)
    if missing != 0:
        x = concatenate(x, core.full((*x.dims[:-1], missing), 0, x.dtype), axis=axis)
    return x if decide_equal(x.dims[-1], length) else take_slice(x, 0, length, axis)


# --- of complex numbers ---------------------------------------------------------------------------


def _fft_eval(x: Any, inverse: bool, norm: Any) -> Any:
    return (np.fft.ifft if inverse else np.fft.fft)(x, norm=norm)


fft: Op = defop(
    "fft",
    spec=lambda x, inverse, norm: Spec(x.shape, complex_dtype(x.dtype)),
    eval=_fft_eval,
    convert=lambda x: [core.to_dtype(x, complex_dtype(x.dtype))],
    vjp=lambda g, y, x, inverse, norm: [fft(g, inverse=not inverse, norm=ADJOINT[norm])],
    jvp="linear",
    vmap=lambda args, batched, **attrs: fft(args[0], **attrs),
    tf="fft",
    sample=lambda: [
        ((x + 1j * x[::-1],), {"inverse": inverse, "norm": norm})
        for x in (np.arange(5.0) ** 2, np.cos(np.arange(8.0).reshape(2, 4)))
        for inverse, norm in ((False, "backward"), (True, "backward"), (False, "ortho"))
    ],
    doc="the discrete Fourier transform of the last axis, forward or inverse",
)

# --- of real numbers ------------------------------------------------------------------------------


def _rfft_vjp(g: Tensor, y: Tensor, x: Tensor, norm: str) -> list[Tensor]:
    back = fft(resized(g, x.dims[-1]), inverse=True, norm=ADJOINT[norm])
    return [e.real(back)]


rfft: Op = defop(
    "rfft",
    spec=lambda x, norm: Spec(
        (*x.shape[:-1], size_op("floordiv", x.shape[-1], 2) + 1), complex_dtype(x.dtype)
    ),
    eval=lambda x, norm: np.fft.rfft(x, norm=norm),
    vjp=_rfft_vjp,
    jvp="linear",
    vmap=lambda args, batched, **attrs: rfft(args[0], **attrs),
    tf="rfft",
    sample=lambda: [
        ((x,), {"norm": norm})
        for x in (np.arange(5.0) ** 2, np.cos(np.arange(8.0).reshape(2, 4)), np.array([2.0]))
        for norm in ADJOINT
    ],
    doc="the first half of the Fourier transform of real numbers: the other one mirrors it",
)


def _irfft_vjp(g: Tensor, y: Tensor, x: Tensor, length: Dim, norm: str) -> list[Tensor]:
    half = rfft(g, norm=ADJOINT[norm])
    places = iota(length=x.dims[-1], dtype=np.dtype(np.int64))
    once = e.logical_or(e.equal(places, 0), e.equal(places * 2, size_value(size=length)))
    return [half * core.cast(e.where(once, 1, 2), dtype=real_dtype(x.dtype))]


def _irfft_eval(x: Any, length: Any, norm: Any) -> Any:
    if not x.shape[-1]:  # NumPy leaves what was in memory
        return np.zeros((*x.shape[:-1], int(length)), real_dtype(x.dtype))
    return np.fft.irfft(x, int(length), norm=norm)


irfft: Op = defop(
    "irfft",
    spec=lambda x, length, norm: Spec((*x.shape[:-1], length), real_dtype(x.dtype)),
    eval=_irfft_eval,
    vjp=_irfft_vjp,
    jvp="linear",
    vmap=lambda args, batched, **attrs: irfft(args[0], **attrs),
    tf="irfft",
    sample=lambda: [
        ((np.fft.rfft(x) + 0.5,), {"length": x.shape[-1], "norm": norm})
        for x in (np.arange(5.0) ** 2, np.cos(np.arange(8.0).reshape(2, 4)))
        for norm in ADJOINT
    ],
    doc="real numbers from the first half of their Fourier transform",
)
