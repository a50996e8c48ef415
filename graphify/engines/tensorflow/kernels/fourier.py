"""Fourier transforms of the last axis, by TensorFlow's own."""

from __future__ import annotations

from typing import Any

from graphify.engines.tensorflow.frame import Frame
from graphify.engines.tensorflow.kernels.table import kernel
from graphify.ir.sizes import Dim


def _scaled(frame: Frame, y: Any, length: Any, norm: str, divides: str) -> Any:
    """A transform divided as its norm says; `divides` is the norm under which TensorFlow's does."""
    if norm == divides:
        return y
    raw, real = frame.raw, y.dtype.real_dtype
    points = raw.Cast(x=frame.scalar(length), DstT=real)
    if norm == "ortho":
        points = raw.Sqrt(x=points)
    factor = points if divides == "backward" else raw.Reciprocal(x=points)
    return raw.Mul(x=y, y=raw.Cast(x=factor, DstT=y.dtype))


@kernel("fft")
def fft(frame: Frame, x: Any, inverse: bool, norm: str) -> Any:
    length = frame.shape_of(x)[-1]
    if inverse:  # TensorFlow divides here, and not forward
        return _scaled(frame, frame.raw.IFFT(input=x), length, norm, "backward")
    y = frame.raw.FFT(input=x)
    return y if norm == "backward" else _scaled(frame, y, length, norm, "")


@kernel("rfft")
def rfft(frame: Frame, x: Any, norm: str) -> Any:
    length = frame.shape_of(x)[-1]
    points = frame.raw.Cast(x=frame.shape([length]), DstT=frame.tf.int32)
    tcomplex = frame.tf.complex64 if x.dtype == frame.tf.float32 else frame.tf.complex128
    y = frame.raw.RFFT(input=x, fft_length=points, Tcomplex=tcomplex)
    return y if norm == "backward" else _scaled(frame, y, length, norm, "")


@kernel("irfft")
def irfft(frame: Frame, x: Any, length: Dim, norm: str) -> Any:
    points = frame.raw.Cast(x=frame.shape([length]), DstT=frame.tf.int32)
    y = frame.raw.IRFFT(input=x, fft_length=points, Treal=x.dtype.real_dtype)
    return _scaled(frame, y, length, norm, "backward")
