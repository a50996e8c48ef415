"""graphify.numpy.fft: numpy.fft on tensors.

    gnp.fft.rfft(x)        np.fft.rfft(tensor) is the same call

A length that only the run knows may be that of a transform, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphify.errors import DTypeError
from graphify.ir.sizes import Dim, size_op
from graphify.ir.tensor import Tensor
from graphify.ir.types import is_complex
from graphify.numpy import rearrange
from graphify.numpy._table import axis_of, finish, to_tensor
from graphify.numpy.linalg import implements
from graphify.numpy.ranges import arange
from graphify.ops import core
from graphify.ops import elementwise as e
from graphify.ops import fourier as ops
from graphify.ops.shape import as_dim, as_length, concatenate, in_range, move_axis, size_value

Transform = Callable[..., Tensor]


def _norm(norm: Any) -> str:
    if norm is not None and norm not in ops.ADJOINT:
        raise ValueError(f'Invalid norm value {norm}; should be "backward","ortho" or "forward".')
    return norm or "backward"


def _points(n: Any) -> Dim:
    """A number of points, one at least."""
    length = as_dim(n, "n")
    if isinstance(length, int):
        if length < 1:
            raise ValueError(f"Invalid number of FFT data points ({length}) specified.")
        return length
    message = "Invalid number of FFT data points ({bad}) specified."
    value = size_value(size=length)
    return as_dim(in_range(value, 1, 2**63 - 1, error="ValueError", message=message))


def _transformed(x: Tensor, n: Any, axis: Any, out: Any, transform: Transform) -> Any:
    """A transform of the last axis, done along another one that is cut or filled to a length."""
    place = axis_of(axis, x.ndim)
    moved = ops.resized(move_axis(x, place, x.ndim - 1), _points(n))
    return finish(move_axis(transform(moved), x.ndim - 1, place), out)


def _length(a: Any, n: Any, axis: Any) -> tuple[Tensor, Any]:
    x = to_tensor(a)
    return x, x.dims[axis_of(axis, x.ndim)] if n is None else n


def _even(a: Any, n: Any, axis: Any) -> tuple[Tensor, Any]:
    """The length of what has a given half."""
    x = to_tensor(a)
    return x, (x.dims[axis_of(axis, x.ndim)] - 1) * 2 if n is None else n


# --- along one axis -------------------------------------------------------------------------------


@implements(np.fft.fft)
def fft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    """The discrete Fourier transform along an axis."""
    x, n = _length(a, n, axis)
    kind = _norm(norm)
    return _transformed(x, n, axis, out, lambda t: ops.fft(t, inverse=False, norm=kind))


@implements(np.fft.ifft)
def ifft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    """The inverse of `fft`."""
    x, n = _length(a, n, axis)
    kind = _norm(norm)
    return _transformed(x, n, axis, out, lambda t: ops.fft(t, inverse=True, norm=kind))


@implements(np.fft.rfft)
def rfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    """The transform of real numbers: its first half."""
    x, n = _length(a, n, axis)
    if is_complex(x.dtype):
        raise DTypeError(
            f"rfft: expected real numbers, got {x.spec}",
            remedy="np.fft.fft takes complex numbers; x.real is the real part",
        )
    kind, real = _norm(norm), np.empty(0, ops.complex_dtype(x.dtype)).real.dtype
    return _transformed(core.to_dtype(x, real), n, axis, out, lambda t: ops.rfft(t, norm=kind))


@implements(np.fft.irfft)
def irfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    """The inverse of `rfft`: `n` real numbers."""
    x, n = _even(a, n, axis)
    kind, length = _norm(norm), _points(n)
    half = size_op("floordiv", length, 2) + 1
    wide = core.to_dtype(x, ops.complex_dtype(x.dtype))
    transform = lambda t: ops.irfft(t, length=length, norm=kind)
    if x.dtype == np.float16:  # of numbers in half precision NumPy gives such numbers
        return finish(core.to_dtype(_transformed(wide, half, axis, None, transform), x.dtype), out)
    return _transformed(wide, half, axis, out, transform)


@implements(np.fft.hfft)
def hfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    """The transform of what has a real one, from its first half."""
    x, n = _even(a, n, axis)
    return irfft(e.conjugate(x), n, axis, ops.ADJOINT[_norm(norm)], out)


@implements(np.fft.ihfft)
def ihfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    """The inverse of `hfft`."""
    return finish(e.conjugate(rfft(a, n, axis, ops.ADJOINT[_norm(norm)])), out)


# --- along several axes ---------------------------------------------------------------------------


def _several(
    a: Any, s: Any, axes: Any, halved: bool = False
) -> tuple[Tensor, list[tuple[Any, Any]]]:
    """The array, and of each axis to transform its length and which it is."""
    x = to_tensor(a)
    if axes is None:
        axes = range(-(x.ndim if s is None else len(s)), 0)
    places = [axis_of(axis, x.ndim) for axis in axes]
    lengths = [x.dims[place] for place in places] if s is None else list(s)
    if len(lengths) != len(places):
        raise ValueError("Shape and axes have different lengths.")
    if halved and s is None:
        lengths[-1] = (x.dims[places[-1]] - 1) * 2
    same = [isinstance(n, int) and n == -1 for n in lengths]
    sizes = [x.dims[p] if k else n for n, p, k in zip(lengths, places, same, strict=True)]
    return x, list(zip(sizes, places, strict=True))


def _through(x: Any, steps: Sequence[tuple[Any, Any]], transform: Transform, norm: Any) -> Any:
    for n, axis in steps:
        x = transform(x, n, axis, norm)
    return x


@implements(np.fft.fftn)
def fftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None) -> Any:
    """The transform along several axes."""
    x, steps = _several(a, s, axes)
    return finish(_through(x, steps[::-1], fft, norm), out)


@implements(np.fft.ifftn)
def ifftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None) -> Any:
    """The inverse of `fftn`."""
    x, steps = _several(a, s, axes)
    return finish(_through(x, steps[::-1], ifft, norm), out)


@implements(np.fft.rfftn)
def rfftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None) -> Any:
    """The transform of real numbers along several axes: the first half of the last one."""
    x, steps = _several(a, s, axes)
    first = rfft(x, *steps[-1], norm)
    return finish(_through(first, steps[-2::-1] if steps[1:] else [], fft, norm), out)


@implements(np.fft.irfftn)
def irfftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None) -> Any:
    """The inverse of `rfftn`."""
    x, steps = _several(a, s, axes, halved=True)
    return irfft(_through(x, steps[:-1], ifft, norm), *steps[-1], norm, out)


@implements(np.fft.fft2)
def fft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, out: Any = None) -> Any:
    """The transform along two axes."""
    return fftn(a, s, axes, norm, out)


@implements(np.fft.ifft2)
def ifft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, out: Any = None) -> Any:
    """The inverse of `fft2`."""
    return ifftn(a, s, axes, norm, out)


@implements(np.fft.rfft2)
def rfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, out: Any = None) -> Any:
    """The transform of real numbers along two axes."""
    return rfftn(a, s, axes, norm, out)


@implements(np.fft.irfft2)
def irfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, out: Any = None) -> Any:
    """The inverse of `rfft2`."""
    return irfftn(a, s, axes, norm, out)


# --- frequencies ----------------------------------------------------------------------------------


@implements(np.fft.fftfreq)
def fftfreq(n: Any, d: Any = 1.0, device: Any = None) -> Tensor:
    """The frequencies of the points of `fft`."""
    length = _integer(n, as_length)
    first = arange(_value(size_op("floordiv", length - 1, 2) + 1))
    last = arange(_value(-size_op("floordiv", length, 2)), 0)
    return e.multiply(concatenate(first, last, axis=0), 1.0 / (_value(length) * d))


@implements(np.fft.rfftfreq)
def rfftfreq(n: Any, d: Any = 1.0, device: Any = None) -> Tensor:
    """The frequencies of the points of `rfft`."""
    length = _integer(n, as_dim)
    points = arange(_value(size_op("floordiv", length, 2) + 1))
    return e.multiply(points, 1.0 / (_value(length) * d))


def _integer(n: Any, known: Callable[..., Dim]) -> Dim:
    try:
        return known(n, "n")
    except TypeError as error:
        raise ValueError("n should be an integer") from error


def _value(dim: Dim) -> Any:
    return dim if isinstance(dim, int) else size_value(size=dim)


def _half(x: Tensor, axes: Any) -> tuple[list[Any], tuple[int, ...]]:
    given = range(x.ndim) if axes is None else axes if isinstance(axes, (tuple, list)) else (axes,)
    places = tuple(axis_of(axis, x.ndim, "axes") for axis in given)
    return [_value(size_op("floordiv", x.dims[place], 2)) for place in places], places


@implements(np.fft.fftshift)
def fftshift(x: Any, axes: Any = None) -> Tensor:
    """The frequency zero moved to the middle."""
    t = to_tensor(x)
    shifts, places = _half(t, axes)
    return rearrange.roll(t, shifts, places)


@implements(np.fft.ifftshift)
def ifftshift(x: Any, axes: Any = None) -> Tensor:
    """The inverse of `fftshift`."""
    t = to_tensor(x)
    shifts, places = _half(t, axes)
    return rearrange.roll(t, [-shift for shift in shifts], places)
