"""Derivatives of functions made of several ops, against finite differences; finite at kinks."""

from typing import Any

import numpy as np
import pytest

import graphify.numpy as gnp
from graphify.api.derivative import grad, jvp
from tests.tolerances import FINITE_DIFFERENCES

X = np.random.default_rng(0).permutation(12).reshape(3, 4) / 3.0 + 0.4
MASK = np.array([[True, False, True, True]] * 3)

SMOOTH = {
    "mean": lambda x: gnp.mean(x, 0),
    "mean where": lambda x: gnp.mean(x, 1, where=MASK),
    "var": lambda x: gnp.var(x, axis=1, ddof=1),
    "std": lambda x: gnp.std(x, 0),
    "average": lambda x: gnp.average(x, axis=0, weights=x),
    "max initial": lambda x: gnp.max(x, axis=0, initial=1.0),
    "ptp": lambda x: gnp.ptp(x, 1),
    "prod": lambda x: gnp.prod(x, axis=(0, 1)),
    "cumprod": lambda x: gnp.cumprod(x, 1),
    "cummax": lambda x: gnp.maximum.accumulate(x, 1),
    "median": lambda x: gnp.median(x, axis=1),
    "percentile": lambda x: gnp.percentile(x, [10, 70], axis=0),
    "nanmean": lambda x: gnp.nanmean(gnp.where(x > 3, np.nan, x), 0),
    "nanvar": lambda x: gnp.nanvar(gnp.where(x > 3, np.nan, x)),
    "nanmedian": lambda x: gnp.nanmedian(gnp.where(x > 3, np.nan, x), 1),
    "clip": lambda x: gnp.clip(x, 0.9, 3.1),
    "sort": lambda x: gnp.sort(x, axis=None),
    "unique": lambda x: gnp.unique(x),
    "diff": lambda x: gnp.diff(x, 2, axis=1),
    "gradient": lambda x: gnp.gradient(x, 0.5, axis=1, edge_order=2),
    "trapezoid": lambda x: gnp.trapezoid(x, x * x, axis=1),
    "interp": lambda x: gnp.interp(x, np.arange(6.0), gnp.arange(6.0) ** 2),
    "interp values": lambda x: gnp.interp([0.5, 2.5], np.arange(4.0), x[0]),
    "cov": lambda x: gnp.cov(x),
    "corrcoef": lambda x: gnp.corrcoef(x),
    "linspace": lambda x: gnp.linspace(x[0], x[1], 5),
    "geomspace": lambda x: gnp.geomspace(x[0, 0], x[1, 1], 4),
    "vander": lambda x: gnp.vander(x[0], 3),
    "tril": lambda x: gnp.tril(x) + gnp.diag(x[0, :3], 1)[:3, :],
    "sinc": lambda x: gnp.sinc(x),
    "nan_to_num": lambda x: gnp.nan_to_num(x),
    "modf": lambda x: gnp.modf(x)[0],
    "frexp": lambda x: gnp.frexp(x)[0],
    "ldexp": lambda x: gnp.ldexp(x, 3),
    "divmod": lambda x: gnp.divmod(x, 0.9)[1],
    "angle": lambda x: gnp.angle(x + 1j),
    "where": lambda x: gnp.where(x > 2, x * x, x),
    "histogram weights": lambda x: gnp.histogram(np.arange(4.0), 3, weights=x[0])[0],
    "bincount weights": lambda x: gnp.bincount([0, 2, 2, 1], weights=x[1]),
    "reduce": lambda x: gnp.hypot.reduce(x, axis=1),
    "accumulate": lambda x: gnp.logaddexp.accumulate(x, axis=0),
    "outer": lambda x: gnp.multiply.outer(x[0], x[1]),
    "list": lambda x: gnp.array([x[0], 2 * x[1]]),
    "astype": lambda x: x.astype(gnp.float64) * 2,
    "sort method": lambda x: _sorted(x),
    "out": lambda x: gnp.exp(x, out=gnp.zeros((3, 4))),
    "at": lambda x: _added(x),
}


def _sorted(x: Any) -> Any:
    y = x * x
    y.sort(axis=0)
    return y


def _added(x: Any) -> Any:
    y = gnp.zeros(3)
    gnp.add.at(y, [0, 2, 2, 0], x[0] * x[1])
    return y


@pytest.mark.parametrize("name", SMOOTH)
def test_both_modes_agree_with_finite_differences(name: str) -> None:
    function = SMOOTH[name]
    weights = np.random.default_rng(1).normal(size=np.shape(np.asarray(function(gnp.array(X)))))

    def loss(x: Any) -> Any:
        return (function(x) * weights).sum()

    direction = np.random.default_rng(2).normal(size=X.shape)
    step = 1e-6
    ends = [np.asarray(loss(gnp.array(X + sign * step * direction))) for sign in (1, -1)]
    want = (ends[0] - ends[1]) / (2 * step)
    relative, absolute = FINITE_DIFFERENCES[1]
    reverse = np.sum(np.asarray(grad(loss)(gnp.array(X))) * direction)
    _, forward = jvp(loss, (gnp.array(X),), (gnp.array(direction),))
    np.testing.assert_allclose(
        [reverse, np.asarray(forward)], want, rtol=10 * relative, atol=10 * absolute
    )


@pytest.mark.parametrize(
    ("function", "x", "want"),
    [
        (lambda x: gnp.max(x), [2.0, 2.0, 1.0], [0.5, 0.5, 0.0]),
        (lambda x: gnp.maximum(x, 2.0).sum(), [2.0, 3.0, 1.0], [0.5, 1.0, 0.0]),
        (lambda x: gnp.prod(x), [0.0, 3.0, 2.0], [6.0, 0.0, 0.0]),
        (lambda x: gnp.prod(x), [0.0, 0.0, 2.0], [0.0, 0.0, 0.0]),
        (lambda x: gnp.abs(x).sum(), [0.0, -3.0, 2.0], [0.0, -1.0, 1.0]),
        (lambda x: gnp.sinc(x).sum(), [0.0, 0.0], [0.0, 0.0]),
        (lambda x: (x**0).sum(), [0.0, 2.0], [0.0, 0.0]),
        (lambda x: (x**2).sum(), [0.0, -2.0], [0.0, -4.0]),
        (lambda x: (0.0**x).sum(), [2.0, 1.0], [0.0, 0.0]),
        (lambda x: gnp.sum(x, where=[True, False]), [np.nan, np.inf], [1.0, 0.0]),
        (lambda x: gnp.nansum(x), [np.nan, 1.0], [0.0, 1.0]),
        (
            lambda x: gnp.where(x > 0, gnp.sqrt(gnp.where(x > 0, x, 1.0)), 0.0).sum(),
            [0.0, 4.0],
            [0.0, 0.25],
        ),
        (lambda x: gnp.floor(x).sum() + x.sum(), [0.5, 1.5], [1.0, 1.0]),
    ],
)
def test_at_kinks(function: Any, x: Any, want: Any) -> None:
    np.testing.assert_allclose(np.asarray(grad(function)(gnp.array(x))), want, atol=1e-12)
