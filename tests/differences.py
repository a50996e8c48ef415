"""Finite differences: what derivatives are checked against.

check_grads(f, x, y)             # reverse and forward mode, first and second order
check_grads(f, z, order=1)       # complex arguments are shifted along both parts
"""

from collections.abc import Callable
from typing import Any

import numpy as np

import graphify
from tests.tolerances import FINITE_DIFFERENCES

STEP = 1e-5


def numerical_gradient(f: Callable[..., Any], args: tuple[Any, ...], k: int) -> Any:
    """The gradient of a real scalar function by argument k, by central differences.

    For a complex argument, the derivative along the real part plus i times that along the
    imaginary part: TensorFlow's convention.
    """
    x = np.asarray(args[k])
    result = np.zeros(x.shape, x.dtype)
    directions = [1.0, 1j] if x.dtype.kind == "c" else [1.0]
    for place in np.ndindex(x.shape):
        for unit in directions:
            shift = np.zeros(x.shape, x.dtype)
            shift[place] = STEP * unit
            high, low = (f(*args[:k], v, *args[k + 1 :]) for v in (x + shift, x - shift))
            result[place] += unit * (float(high) - float(low)) / (2 * STEP)
    return result


def check_grads(
    f: Callable[..., Any], *args: Any, order: int = 2, forward: bool = True, staged: bool = True
) -> None:
    """Assert that the derivatives of `f`, made a scalar, are those of finite differences."""
    scalar = weighted(f)
    _check(scalar, args, order, forward)
    if staged:
        wanted = [graphify.grad(scalar, k)(*args) for k in range(len(args))]
        found = graphify.function(graphify.grad(scalar, tuple(range(len(args)))))(*args)
        for got, want in zip(found, wanted, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-12)


def weighted(f: Callable[..., Any]) -> Callable[..., Any]:
    """A scalar that depends on each element of the result in its own way."""

    def scalar(*args: Any) -> Any:
        y = f(*args)
        weights = np.cos(np.arange(y.size) + 1.0).reshape(y.shape)
        return (
            (y.real * weights).sum() + (y.imag * weights[::-1]).sum()
            if y.dtype.kind == "c"
            else (y * weights).sum()
        )

    return scalar


def _check(f: Callable[..., Any], args: tuple[Any, ...], order: int, forward: bool) -> None:
    rtol, atol = FINITE_DIFFERENCES[1]
    for k in range(len(args)):
        want = numerical_gradient(f, args, k)
        gradient = graphify.grad(f, k)(*args)
        assert gradient.dtype == want.dtype and gradient.shape == want.shape
        np.testing.assert_allclose(gradient, want, rtol=rtol, atol=atol)
        if forward:
            tangent = np.sin(np.arange(want.size) + 1.0).reshape(want.shape).astype(want.dtype)
            _, slope = graphify.jvp(
                lambda x, k=k: f(*args[:k], x, *args[k + 1 :]), (args[k],), (tangent,)
            )
            np.testing.assert_allclose(
                slope, (want.conj() * tangent).real.sum(), rtol=rtol, atol=10 * atol
            )
        if order > 1:
            along = weighted(graphify.grad(f, k))
            _check(along, args, order - 1, forward)
