"""Derivatives, batches and errors of numpy.fft; its values are in test_staged_namespace.py."""

from typing import Any

import numpy as np
import pytest

import graphify
import graphify.numpy as gnp

RNG = np.random.default_rng(7)
X = RNG.normal(size=(3, 5))

LOSSES = [
    lambda x: gnp.sum(gnp.abs(np.fft.fft(x, axis=0)) ** 3),
    lambda x: gnp.sum(gnp.abs(np.fft.rfft(x, 8)) ** 3),
    lambda x: gnp.sum(np.fft.irfft(x, 7, norm="ortho") ** 3),
    lambda x: gnp.sum(np.fft.irfft(x, norm="forward") ** 3),
    lambda x: gnp.sum(np.fft.irfft2(np.fft.rfft2(x) * (1 + 2j), s=(3, 5)) ** 3),
    lambda x: gnp.sum(np.fft.hfft(x) ** 3 + np.fft.hfft(x[::-1]).sum() ** 2),
    lambda x: gnp.sum(gnp.real(np.fft.fftshift(np.fft.fftn(x, s=(2, 6), axes=(0, 1))) ** 3)),
]


@pytest.mark.parametrize("loss", LOSSES)
def test_gradients(loss: Any) -> None:
    got = np.asarray(graphify.grad(loss)(X))
    staged = np.asarray(graphify.function(graphify.grad(loss))(X))
    want, step = np.zeros_like(X), 1e-5
    for place in np.ndindex(X.shape):
        sides = [X.copy(), X.copy()]
        sides[0][place] += step
        sides[1][place] -= step
        up, down = (float(np.asarray(loss(side))) for side in sides)
        want[place] = (up - down) / (2 * step)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(staged, got, rtol=1e-10)


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
def test_batches(name: str) -> None:
    transform = getattr(np.fft, name)
    got = graphify.vmap(lambda x: transform(x, norm="ortho"))(X)
    want = np.stack([transform(x, norm="ortho") for x in X])
    np.testing.assert_allclose(np.asarray(got), want, rtol=1e-12)


CALLS = {
    "no points": lambda x: np.fft.fft(x, 0),
    "no points as given": lambda x: np.fft.rfft(x[:0]),
    "a norm that is none": lambda x: np.fft.fft(x, norm="max"),
    "no such axis": lambda x: np.fft.fft(x, axis=1),
    "real of complex": lambda x: np.fft.rfft(x + 1j),
    "too many lengths": lambda x: np.fft.fftn(x, s=(2, 2), axes=(0,)),
    "no integer": lambda x: np.fft.fftfreq(2.5) * x,
}


@pytest.mark.parametrize("unknown", [False, True])
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_errors_are_those_of_numpy(call: Any, unknown: bool) -> None:
    x = np.arange(4.0)
    with pytest.raises(Exception) as plain:
        call(x)
    spec = graphify.TensorSpec((None,), np.float64)
    options: dict[str, Any] = {"input_signature": [spec]} if unknown else {}
    with pytest.raises(plain.type) as staged:
        graphify.function(call, **options)(x)
    if plain.type is ValueError:
        assert str(staged.value).startswith(str(plain.value).split("(")[0])
