"""What plain NumPy code calls in a staged function: NumPy's answer, or a clear refusal.

Each row is an expression. It runs as it is and under graphify.function, with shapes known while
tracing and with lengths that only the run knows, on the engines. Answers must agree in value,
dtype, shape and, where Python would have one of its own numbers, kind.
"""

import math
from typing import Any

import numpy as np
import pytest

import graphify
from graphify.ir.tensor import Tensor
from tests.tolerances import assert_close

ARGUMENTS = {
    "v": np.array([0.5, -1.25, 2.0, 0.75]),
    "w": np.array([1.5, 0.25, -2.0, 3.0]),
    "A": np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, 0.25, 2.0]]),
    "B": np.arange(6.0).reshape(2, 3) + 0.5,
    "s": np.array(1.75),
    "r": np.float64(0.5),
    "i": np.array(2),
    "k": np.array([1, -2, 3, 3]),
    "f": np.array([0.5, 1.5, -2.5], np.float32),
    "b": np.array([True, False, True, True]),
    "z": np.array([1 + 2j, 0.5 - 1j, 2j, -1.0]),
}

EXPRESSIONS = [
    # numbers, not arrays
    "np.isscalar(r)", "np.isscalar(v[0])", "np.isscalar(v.sum())", "np.isscalar(v)",
    "np.isscalar(s)", "np.iterable(v)", "np.iterable(s)", "np.iterable(B)",
    "np.allclose(v, w)", "np.allclose(v, v)", "np.allclose(v, w, rtol=s)",
    "np.array_equal(v, w)", "np.array_equal(v, v)", "np.array_equal(v, [1.0, 2.0])",
    "np.array_equal(v, v / 0 * 0, equal_nan=True)", "np.array_equal(A, B)",
    "np.array_equal(v[:0], w[:0])", "np.array_equal(v, v[:2])", "np.array_equiv(v, s)",
    "-np.allclose(v, v) + np.array_equal(v, v)", "np.linalg.matrix_rank(v)",
    # shapes that only the run can decide
    "np.select([v < 0, v > 1], [v, w])", "np.select([b, ~b], [k, 1.5], 2)",
    "np.choose(k % 2, [v, w])", "np.broadcast_arrays(v, w)", "np.broadcast_arrays(A[:, :1], v)",
    "[p + q for p, q in np.nditer([v, w])]",
    # r_, c_, mgrid, ogrid
    "np.r_[v, s]", "np.r_[v, 0, w]", "np.r_[0:5, s]", "np.r_[0:i]", "np.r_[s:2.0:5j]",
    "np.r_['-1,2,0', v, w]", "np.r_['0,2', v, w]", "np.r_['0,3,1', A, A]", "np.r_['1', A, A]",
    "np.r_[True, b]", "np.r_[k, 1.5]", "np.r_[A, A]", "np.r_[f, 0.1]", "np.r_[f, r]",
    "np.r_[[s, r], 1]", "np.r_[r]", "np.c_[v, w]", "np.c_[A, v[:3]]", "np.c_[v]", "np.c_[s, r]",
    "np.c_[np.array([[1, 2, 3]]), s, r, v[:1]]", "np.c_[0:4, v]", "np.c_[f, f * 2]",
    "np.mgrid[0:i]", "np.mgrid[0:i, 0:2]", "np.mgrid[0:s:5j]", "np.mgrid[0:s:0.5, 0:i]",
    "np.mgrid[0:1:5j, 0:2] * s", "np.ogrid[0:i, 0:i]", "np.ogrid[0:s:3j]", "np.ogrid[1:s, 0:2]",
    # vectorize
    "np.vectorize(lambda q: q * 2)(v)", "np.vectorize(lambda q: q + 1)([s, r])",
    "np.vectorize(lambda q, t: q + t)(v, 2)", "np.vectorize(lambda q, t: q - t)(v[:3], A)",
    "np.vectorize(lambda q: q if q > 0 else 0.0)(v)", "np.vectorize(lambda q: q > 0 or s > 2)(v)",
    "np.vectorize(lambda q: 1 if q > 0 else 0)(A)", "np.vectorize(lambda q: (q, q > 0))(v)",
    "np.vectorize(lambda q: q * 2, otypes='f')(v)", "np.vectorize(lambda q: q // 2)(k)",
    "np.vectorize(lambda q: q if q > 0 else 0, otypes=[float])(v)",
    "np.vectorize(lambda q: q * 0.1, otypes=[np.float32])(f)", "np.vectorize(lambda q: q)(z)",
    "np.vectorize(lambda q: q + 0.75, otypes=[int])(v)", "np.vectorize(lambda q: q * 2)(s)",
    "np.vectorize(lambda q: (q, q), otypes=[int, float])(v)", "np.vectorize(lambda: s)()",
    "np.vectorize(lambda q: q, otypes=[float])(v[:0])", "np.vectorize(math.sin)(v)",
    "np.vectorize(lambda q: (q, q), otypes=[int, float])(v[:0])", "np.vectorize(np.sin)(A)",
    "np.vectorize(lambda q, p=2: q ** p)(np.abs(v), p=3)",
    "np.vectorize(lambda q, p: q * p[1], excluded=['p'])(v, p=w)",
    "np.vectorize(lambda q, p: q * p[1], excluded={1})(v, w)",
    "np.vectorize(lambda q: np.sum(q), signature='(n)->()')(A)",
    "np.vectorize(lambda q: q[::-1], signature='(n)->(n)')(B)",
    "np.vectorize(lambda q, t: q @ t, signature='(n),(n)->()')(A, v[:3])",
    "np.vectorize(lambda q, t: q @ t, signature='(m,n),(n)->(m)')(A, v[:3])",
    "np.vectorize(lambda q: (q[0], q * 2), signature='(n)->(),(n)')(A)",
    # functions that are called, and loops over places
    "np.apply_along_axis(np.sum, 0, A)", "np.apply_along_axis(lambda q: q * 2, 1, A)",
    "np.apply_along_axis(lambda q: np.outer(q, q), 1, A)", "np.apply_along_axis(sign_of, 0, B)",
    "np.apply_along_axis(lambda q, t: q.sum() * t, 1, A, s)", "np.apply_along_axis(np.sort, 1, -A)",
    "np.apply_along_axis(lambda q: 1 if q[0] > 1 else 0, 0, B)",
    "np.apply_over_axes(np.sum, A, [0, 1])", "np.apply_over_axes(np.max, B, 1)",
    "np.piecewise(v, [v < 0, v >= 0], [sign_of, 1])", "np.piecewise(v, [v < 0], [sign_of, s])",
    "np.fromfunction(lambda p, q: p + q * s, (2, 3))",
    "[p * q for p, q in np.broadcast(v, w)]", "np.broadcast(v, A[:, :1]).shape",
    "np.broadcast(v, s).ndim", "np.broadcast(A, s).size",
    # polynomials
    "np.polyfit(v, w, 1)", "np.polyfit(v, w, 2)", "np.polyfit(v, w, 1, w=np.abs(w))",
    "np.polyfit(v, w, 1, full=True)", "np.polyfit(v, w, 1, cov=True)",
    "np.polyfit(v, w, 1, cov='unscaled')", "np.polyfit(v[:3], A, 1)", "np.polyfit(k, v, 1)",
    "np.polyfit(v[:3], A, 1, w=w[:3], cov=True)", "np.polyval(np.polyfit(v, w, 3), v)",
    "np.poly(v)", "np.poly([s, 1])", "np.poly(k)", "np.poly([])", "np.polyadd(v, w[:2])",
    "np.polyadd(k, 1)", "np.polysub([s], v)", "np.polymul(v, w[:2])", "np.polymul([0, 0, 1], v)",
    "np.polymul([s, r], k)", "np.polydiv(v, w[:2])", "np.polydiv(v[:2], w)",
    "np.polydiv(k, [1, 2])", "np.polydiv(np.polymul(v, w), w)", "np.polyder(v)",
    "np.polyder(k, 2)", "np.polyder(v, 0)",
    "np.polyint(v)", "np.polyint(v, 2, k=[s, 3])", "np.polyint(k, 1, k=2)", "np.polyint(v, 2, 1)",
    "np.poly1d([1, 2, 3])(v)",
    # histograms and windows
    "np.histogram2d(v, w)", "np.histogram2d(v, w, bins=3)", "np.histogram2d(v, w, bins=[3, 2])",
    "np.histogram2d(v, w, bins=[np.array([-3.0, 0, 3]), 2], range=[[-1, 1], [0, 1]])",
    "np.histogram2d(v, w, bins=3, density=True, weights=v)", "np.histogram2d(v, w, [-1, 0, 1, 2])",
    "np.histogramdd(B, bins=2)", "np.histogramdd((v, w), bins=2)",
    "np.histogramdd([v, w], [2, 3], weights=v)", "np.histogram(v, 3, range=(-s, s))",
    "np.hanning(i + 3)", "np.hanning(len(v))", "np.hanning(0 * i)", "np.hamming(i - 1)",
    "np.bartlett(v.size)", "np.blackman(i + 4)", "np.hanning(5) * s",
    # fft
    *(f"np.fft.{name}({x})" for name in ("fft", "ifft", "rfft", "ihfft") for x in ("v", "f", "k")),
    *(f"np.fft.{name}({x})" for name in ("fft", "ifft", "irfft", "hfft") for x in ("z", "v", "f")),
    "np.fft.fft(v, 8)", "np.fft.fft(v, n=2, norm='ortho')", "np.fft.fft(A, axis=0)",
    "np.fft.fft(B, 5, 0, 'forward')", "np.fft.ifft(z, 3, norm='forward')", "np.fft.fft(b)",
    "np.fft.fft(v, i)", "np.fft.rfft(A, axis=0)", "np.fft.rfft(v, 3, norm='forward')",
    "np.fft.rfft(v, i + 3)", "np.fft.irfft(z, 5)", "np.fft.irfft(z, 4, norm='ortho')",
    "np.fft.irfft(np.fft.rfft(v), v.size)", "np.fft.irfft(z, i)", "np.fft.hfft(z, norm='ortho')",
    "np.fft.fft2(A)", "np.fft.ifft2(B)", "np.fft.fft2(A, s=(2, 4))", "np.fft.rfft2(A)",
    "np.fft.irfft2(np.fft.rfft2(B))", "np.fft.irfft2(A, s=(3, 3), norm='forward')",
    "np.fft.fftn(A)", "np.fft.ifftn(A, axes=(0,))", "np.fft.fftn(A, s=(2, 4), axes=(0, 1))",
    "np.fft.rfftn(v)", "np.fft.rfftn(A, norm='ortho')", "np.fft.irfftn(A)",
    "np.fft.fft([s, r])", "np.fft.fft(f.astype(np.float16))", "np.fft.irfft(f.astype(np.float16))",
    "np.fft.fft(v, out=np.zeros(4, complex))", "np.fft.fftfreq(4, s)", "np.fft.fftfreq(5) * s",
    "np.fft.fftfreq(v.size, d=0.1)", "np.fft.fftfreq(len(v))",
    "np.fft.rfftfreq(4, s)", "np.fft.rfftfreq(v.size, 0.5)", "np.fft.fftshift(v)",
    "np.fft.fftshift(A, axes=0)", "np.fft.ifftshift(A)", "np.fft.ifftshift(B, axes=(1,))",
    "np.abs(np.fft.rfft(v)) ** 2", "np.fft.ifft(np.fft.fft(v) * np.fft.fft(w)).real",
    # methods and attributes
    "v.compress(b)", "A.compress([True, False, True], axis=1)", "v.view()", "v.view(np.ndarray)",
    "z.view(complex)", "A.item(4)", "A.item(-1)", "A.item(i)", "A.item((1, 2))", "A.item(1, 2)",
    "v.item(1)", "np.asarray_chkfinite(v)", "np.asarray_chkfinite(k, float)",
    "np.fromiter([q for q in v if q > 0], float)", "np.fromiter(range(i), float)",
    "np.fromiter((q * 2 for q in v), float)", "np.fromiter([s, r], int)",
]  # fmt: skip


def sign_of(values: Any) -> Any:
    if values.sum() > 1:
        return values * 2
    return -values


REFUSED = {  # a part of the message that names what is not supported, of the remedy
    "np.r_['c', v]": ("asks for a matrix", "np.c_"),
    "np.asmatrix(A)": ("numpy.asmatrix needs the values of a tensor f64[3,3]", "outside"),
    "np.matrix(A)": ("numpy.matrix needs the values", "outside"),
    "np.ma.masked_invalid(v)": ("numpy.ma.masked_invalid needs the values", "outside"),
    "np.polynomial.Polynomial([1, 2])(v)": ("numpy.polynomial.Polynomial needs", "outside"),
    "np.lib.stride_tricks.as_strided(v, (2, 2), (8, 8))": ("as_strided needs", "outside"),
    "v.strides": (".strides of a tensor f64[4]", "sliding_window_view"),
    "v.flags.writeable": (".flags of a tensor f64[4]", "outside"),
    "v.base is None": (".base of a tensor f64[4]", "outside"),
    "v.data": (".data of a tensor f64[4]", "outside"),
    "v.tofile('x')": ("writes no files", "return the array"),
    "v.dump('x')": ("writes no files", "return the array"),
    "v.byteswap()": ("native byte order", "outside"),
    "v.view(np.int64)": ("view is not supported in another dtype", "astype"),
    "v.resize(2)": ("an array keeps its size", "np.resize"),
    "v.setflags(write=False)": ("cannot be set", "outside"),
    "np.savetxt('x', v)": ("numpy.savetxt", "return the array"),
    "np.array_repr(v)": ("the text of a tensor", "keep it a tensor"),
    "np.shares_memory(v, w)": ("up to each run", "outside"),
    "np.min_scalar_type(v)": ("numpy.min_scalar_type", "dtype"),
    "np.histogram(v, 'auto')": ("automatic bins", "the number of bins"),
    "np.quantile(v, 0.5, weights=w, method='inverted_cdf')": ("weights", "np.cumsum"),
    "np.vectorize(lambda q: q if q > 0 else 0)(v)": ("float64 on one path and int64", "otypes"),
    "np.vectorize(lambda q: q * 2)(f)": ("gives for a float32", "otypes"),
    "np.vectorize(lambda q: None)(v)": ("the function gives None", "give a number"),
    "np.vectorize(lambda q: w)(v)": ("the function gives an array", "signature"),
    "np.apply_along_axis(lambda q: 1 if q[0] > 1 else 0.5, 0, A)": ("int64 on one", "one kind"),
    "np.poly1d(v)(s)": ("drops leading zeros", "np.polyval"),
    "np.roots(v)": ("real or complex", "eigvals"),
    "np.frompyfunc(lambda q: q * 2, 1, 1)(v)": ("arrays of objects", "np.vectorize"),
    "np.random.default_rng(0).multivariate_hypergeometric([3, 4], 2)": ("hypergeom", "outside"),
    "np.linalg.matrix_power(A, i)": ("the integer of a tensor", "Python number"),
}


def make(expression: str, **options: Any) -> Any:
    source = f"def function({', '.join(ARGUMENTS)}):\n    return {expression}\n"
    space: dict[str, Any] = {"np": np, "math": math, "sign_of": sign_of}
    exec(source, space)
    return graphify.function(space["function"], source=source, **options), space["function"]


def same(got: Any, want: Any) -> None:
    if isinstance(want, (tuple, list)):
        assert isinstance(got, (tuple, list)) and len(got) == len(want)
        for a, b in zip(got, want, strict=True):
            same(a, b)
        return
    if type(want) in (bool, int, float) and isinstance(got, Tensor):
        assert got.spec.weak, "Python has a number of its own here"
    assert_close(got, want, loss=100)


def check(expression: str, **options: Any) -> None:
    arrays = [np.array(a) if a.ndim else a for a in ARGUMENTS.values()]
    staged, plain = make(expression, **options)
    with np.errstate(all="ignore"):
        same(staged(*arrays), plain(*ARGUMENTS.values()))


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_shapes_known_while_tracing(expression: str, engine: str) -> None:
    check(expression, engine=engine)


UNKNOWN = [
    graphify.TensorSpec((None,) * np.ndim(value), np.asarray(value).dtype)
    for value in ARGUMENTS.values()
]
NEEDS_SHAPES = {
    "np.isscalar(r)",  # a specification is that of an array
    "np.poly(v)", "np.poly(k)", "np.histogramdd(B, bins=2)",
    "np.polydiv(v, w[:2])", "np.polydiv(v[:2], w)", "np.polydiv(k, [1, 2])",
    "np.polydiv(np.polymul(v, w), w)",
}  # fmt: skip


@pytest.mark.parametrize("expression", [e for e in EXPRESSIONS if e not in NEEDS_SHAPES])
def test_lengths_that_only_the_run_knows(expression: str) -> None:
    check(expression, input_signature=UNKNOWN)


@pytest.mark.tensorflow
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_on_tensorflow(expression: str) -> None:
    check(expression, engine="tensorflow")


@pytest.mark.filterwarnings("ignore:the matrix subclass")
@pytest.mark.parametrize("expression", REFUSED)
def test_refusals_say_what_and_where_and_what_to_do(expression: str) -> None:
    staged, plain = make(expression)
    with pytest.raises(TypeError) as caught:
        staged(*ARGUMENTS.values())
    what, remedy = REFUSED[expression]
    text = str(caught.value)
    head, _, tail = text.partition("\nremedy: ")
    assert what in head.splitlines()[0], text
    assert f"return {expression}" in head, text
    assert remedy in tail, text


def _noisy(x: Any, otypes: Any, cache: bool) -> Any:
    rng = np.random.default_rng(3)

    def noise(q: float) -> float:
        return q + rng.normal()

    return np.vectorize(noise, otypes=otypes, cache=cache)(x), rng.random()


@pytest.mark.parametrize("otypes,cache", [(None, False), (None, True), ([float], False)])
def test_vectorize_calls_as_often_as_numpy_does(otypes: Any, cache: bool) -> None:
    x = np.arange(9.0)
    for values in (x, x[:2]):
        got = graphify.function(_noisy)(values, otypes, cache)
        same(got, _noisy(values, otypes, cache))


NOT_FINITE = {
    "of nan": lambda x: np.histogram(x),
    "of two": lambda x: np.histogram2d(x, x, bins=3),
    "a range": lambda x: np.histogram(x * 0 + 1, range=(0, x[-1])),
    "a range upside down": lambda x: np.histogram(x * 0, range=(x[1], x[0])),
    "checked to be finite": lambda x: np.asarray_chkfinite(x),
    "bins that fall": lambda x: np.histogram(x[:2], [2, 1, 0]),
    "bins that fall at the run": lambda x: np.histogram(x[:2], x[::-1]),
    "bins of two axes": lambda x: np.histogram2d(x[:2], x[:2], [[0, 1, 2], x[::-1]]),
    "too few points": lambda x: np.polyfit(x[:2], x[:2], 1, cov=True),
    "no degree": lambda x: np.polyfit(x, x, -1),
}


@pytest.mark.parametrize("unknown", [False, True])
@pytest.mark.parametrize("call", NOT_FINITE.values(), ids=NOT_FINITE)
def test_errors_of_the_run(call: Any, unknown: bool) -> None:
    x = np.array([0.0, 1.0, np.inf])
    options: dict[str, Any] = {}
    if unknown:
        options["input_signature"] = [graphify.TensorSpec((None,), np.float64)]
    with pytest.raises(ValueError, match="in user code"):
        graphify.function(call, **options)(x)


def test_a_product_of_which_the_run_knows_the_length() -> None:
    product = graphify.function(lambda p: np.polymul(p, [1.0, 2.0]))
    with pytest.raises(graphify.errors.SpecError, match="leading coefficient is zero") as caught:
        product(np.array([0.0, 1.0]))
    assert "np.convolve" in str(caught.value)


def test_what_may_be_a_view_names_the_line_that_makes_it() -> None:
    def both(x: Any) -> Any:
        rows = x.reshape(2, 2)
        return rows, x

    def written(x: Any) -> Any:
        rows = x.reshape(2, 2)
        x += 1
        return rows

    options: Any = {"input_signature": [graphify.TensorSpec((None,), np.float64)]}
    rows, x = graphify.function(both, **options)(np.arange(4.0))  # the call tells
    assert np.shares_memory(rows.numpy(), x.numpy())
    with pytest.raises(graphify.errors.SpecError, match="view or a copy") as caught:
        graphify.function(written, **options)(np.arange(4.0))
    assert "rows = x.reshape(2, 2)" in str(caught.value)
