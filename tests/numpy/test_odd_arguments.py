"""Arguments of a wrong kind: NumPy's answer or NumPy's error, eagerly and in graphs."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphify
import graphify.numpy as gnp
from tests.numpy.test_checked_arguments import outcome, same

VECTOR = np.array([1.5, -2.0, 0.5, 3.0, 1.0])
MATRIX = np.array([[2.0, 1.5, 0.5], [1.0, 3.0, -1.0], [0.5, 1.0, 4.0]])
COUNTS = [1, 1.0, 1.5, 2, -1, 7, True, None, "a", 1j, np.int8(1), np.float64(1), np.bool_(True)]
AXES = [count for count in COUNTS if count != -1]  # NumPy takes -1 for 0
MODES = [0, 1, 2, 3, -1, 1.0, True, None, "full", "same", "valid", "v", "f", "", "some"]
NUMBERS = [0.5, 2, True, 1j, None, "a", np.float64(2), np.float32(2), np.zeros((2, 5)), VECTOR]
DTYPES = [int, float, "f", complex, bool, np.int8]

# of a module (NumPy or graphify.numpy), a vector, a matrix and an odd argument
CALLS: dict[str, tuple[Callable[..., Any], list[Any]]] = {
    "tensordot": (lambda n, v, m, x: n.tensordot(m, m, x), AXES),
    "linalg.tensordot": (lambda n, v, m, x: n.linalg.tensordot(m, m, axes=x), AXES),
    "diagonal": (lambda n, v, m, x: n.diagonal(m, x), COUNTS),
    "trace": (lambda n, v, m, x: n.trace(m, x), COUNTS),
    "linalg.trace": (lambda n, v, m, x: n.linalg.trace(m, offset=x), COUNTS),
    "einsum label": (lambda n, v, m, x: n.einsum(m, [0, x], [0]), [*COUNTS, 51, 52]),
    "einsum rule": (
        lambda n, v, m, x: n.einsum("ij,jk", m, m, casting=x),
        ["no", "safe", "unsafe", "some", 1],
    ),
    "einsum order": (lambda n, v, m, x: n.einsum("ij,jk", m, m, order=x), ["C", "F", "Z", 1]),
    "einsum dtype": (lambda n, v, m, x: n.einsum("ij,jk", m, m, dtype=x), DTYPES),
    "einsum dtype unsafe": (
        lambda n, v, m, x: n.einsum("ij,jk", m, m, dtype=x, casting="unsafe"),
        [int, "f", complex],
    ),
    "einsum dtype optimized": (
        lambda n, v, m, x: n.einsum("ij,jk", m, m, dtype=x, optimize=True),
        [int, "f", complex],
    ),
    "einsum view": (lambda n, v, m, x: n.einsum("ij->ji", m, dtype=x), DTYPES),
    "einsum keyword": (lambda n, v, m, x: n.einsum("ij->i", m, **{x: 1}), ["foo"]),
    "matmul": (lambda n, v, m, x: n.matmul(m, m, dtype=x), DTYPES),
    "matmul rule": (lambda n, v, m, x: n.matmul(m, m, casting=x), ["no", "some"]),
    "vecdot": (lambda n, v, m, x: n.vecdot(m, m, dtype=x), DTYPES),
    "add rule": (lambda n, v, m, x: n.add(m, m, casting=x), ["no", "some", 1]),
    "add order": (lambda n, v, m, x: n.add(m, m, order=x), ["C", "K", "some", 1]),
    "convolve": (lambda n, v, m, x: n.convolve(v, v[:2], x), MODES),
    "correlate": (lambda n, v, m, x: n.correlate(v, v[:2], x), MODES),
    "norm": (lambda n, v, m, x: n.linalg.norm(v, x), [1, 2, 0.5, 3, 1j, "a", np.complex64(1)]),
    "tensorsolve": (lambda n, v, m, x: n.linalg.tensorsolve(m, v[:3], x), [None, (1,), (0,), 1]),
    "fftfreq": (lambda n, v, m, x: n.fft.fftfreq(x), [5, 1, -1, -7, 2.5, "a", None]),
    "rfftfreq": (lambda n, v, m, x: n.fft.rfftfreq(x), [5, 1, -1, 2.5, "a", None]),
    "rfftn": (lambda n, v, m, x: n.fft.rfftn(m, axes=x), [(0,), (1, 0), ()]),
    "nan_to_num": (lambda n, v, m, x: n.nan_to_num(n.log(v), nan=x), NUMBERS),
    "nan_to_num float32": (
        lambda n, v, m, x: n.nan_to_num(n.log(v).astype("f"), nan=x, posinf=x),
        NUMBERS,
    ),
    "unwrap": (
        lambda n, v, m, x: n.unwrap(v > 0, period=x) + n.unwrap(n.round(v).astype(int), period=x),
        [4, 3, 6.0, np.int8(4), np.float64(4)],
    ),
    "array_equiv": (
        lambda n, v, m, x: n.array_equiv(v, x),
        [[1.5], 1.5, VECTOR, MATRIX, VECTOR[:2], [], [VECTOR, VECTOR]],
    ),
    "subtract.reduce": (lambda n, v, m, x: n.subtract.reduce(m, x), [0, 1, -1, (1,), None, (0, 1)]),
    "subtract.reduce initial": (
        lambda n, v, m, x: n.subtract.reduce(n.round(v).astype(int), initial=x),
        [1, 1.5, True, 1j, np.float64(2.5)],
    ),
    "subtract.reduce dtype": (lambda n, v, m, x: n.subtract.reduce(m, dtype=x), DTYPES),
    "logical_and.reduce": (lambda n, v, m, x: n.logical_and.reduce(m, initial=x), [0, 1, 2.5, 0j]),
    "logical_or.reduce": (
        lambda n, v, m, x: n.logical_or.reduce(m * 0, axis=1, initial=x, keepdims=True),
        [0, 1, 2.5, 0j],
    ),
    "logical_and.reduce dtype": (lambda n, v, m, x: n.logical_and.reduce(m, dtype=x), DTYPES),
    "maximum.reduce dtype": (lambda n, v, m, x: n.maximum.reduce(m, dtype=x), DTYPES),
    "hypot.reduce of none": (lambda n, v, m, x: n.hypot.reduce(m[:x]), [0, 1]),
    "less.reduce": (lambda n, v, m, x: n.less.reduce(m > 0 if x else m), [True, False]),
    "logical_xor.reduce": (lambda n, v, m, x: n.logical_xor.reduce(m[:x]), [1, 2]),
    "bitwise_or.reduce": (lambda n, v, m, x: n.bitwise_or.reduce(m[:0].astype(x)), [int, float]),
    "maximum.accumulate": (lambda n, v, m, x: n.maximum.accumulate(m, x), [0, -1, None, 5, (0,)]),
    "arctan2.accumulate": (
        lambda n, v, m, x: n.arctan2.accumulate(n.round(v).astype(int)[:x]),
        [0, 1, 3],
    ),
    "unary accumulate": (lambda n, v, m, x: getattr(n, x).accumulate(v), ["sin", "invert", "modf"]),
}
CASES = [(name, i) for name, (_, odd) in CALLS.items() for i in range(len(odd))]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "i"), CASES, ids=[f"{name} {i}" for name, i in CASES])
def test_numpys_answer_or_error(name: str, i: int) -> None:
    call, odd = CALLS[name]
    want = outcome(call, np, VECTOR, MATRIX, odd[i])
    eager = outcome(lambda: call(gnp, gnp.array(VECTOR), gnp.array(MATRIX), odd[i]))
    assert same(eager, want), (eager, want)
    if isinstance(odd[i], (np.ndarray, np.generic)):
        return  # in a graph these are known when it runs
    staged = graphify.function(lambda v, m: call(gnp, v, m, odd[i]), engine="reference")
    got = outcome(staged, VECTOR, MATRIX)
    assert same(got, want), (got, want)


@pytest.mark.filterwarnings("ignore")
def test_integers_known_at_run_time_stay_arguments() -> None:
    @graphify.function
    def f(v: Any, n: Any) -> Any:
        return gnp.fft.fftfreq(n), gnp.nan_to_num(gnp.log(v), nan=n), gnp.unwrap(v > 0, period=n)

    for n in (3, 4):
        filled = np.nan_to_num(np.log(VECTOR), nan=n)
        want = np.fft.fftfreq(n), filled, np.unwrap(VECTOR > 0, period=n)
        for a, b in zip(f(VECTOR, np.int64(n)), want, strict=True):
            assert same(np.asarray(a), b)
    with pytest.raises(ValueError, match="negative dimensions"):
        f(VECTOR, np.int64(-3))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("value", [1j, np.array([1.0, 1j])])
def test_parameters_of_distributions_are_real(value: Any) -> None:
    draws: list[Callable[[Any], Any]] = [
        lambda r: r.normal(value),
        lambda r: r.uniform(0.0, value),
        lambda r: r.poisson(value),
        lambda r: r.binomial(5, value),
        lambda r: r.standard_gamma(value),
        lambda r: r.dirichlet([1.0, value]) if np.ndim(value) == 0 else r.dirichlet(value),
    ]
    for draw in draws:
        with pytest.raises(TypeError):
            draw(np.random.default_rng(0))
        with pytest.raises(TypeError, match="real"):
            draw(gnp.random.default_rng(0))
        with pytest.raises(TypeError, match="real"):
            graphify.function(lambda draw=draw: draw(gnp.random.default_rng(0)))()
    elements = np.array([1j, 2.0])
    want = np.random.default_rng(0).choice(elements, 5)
    np.testing.assert_array_equal(gnp.random.default_rng(0).choice(elements, 5).numpy(), want)
