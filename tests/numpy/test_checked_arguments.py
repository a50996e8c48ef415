"""Arguments that NumPy checks are checked in graphs, too, when these run; on both engines."""

from typing import Any

import numpy as np
import pytest

import graphify
import graphify.numpy as gnp

ENGINES = ["reference", pytest.param("tensorflow", marks=pytest.mark.tensorflow)]
FLOATS = graphify.TensorSpec((None,), np.float64)
INTS = graphify.TensorSpec((None,), np.int64)


LINE = np.array([1.0, 2.0, 4.0, 7.0])
TABLE = np.arange(6.0).reshape(2, 3) ** 2
KINDS = (ValueError, IndexError, TypeError, ZeroDivisionError, RuntimeError)


def outcome(call: Any, *args: Any, **options: Any) -> Any:
    """The answer as an array, or the kind of the error."""
    try:
        with np.errstate(all="ignore"):
            return np.asarray(call(*args, **options))
    except KINDS as error:
        return next(kind for kind in KINDS if isinstance(error, kind))


def same(got: Any, want: Any) -> bool:
    if isinstance(want, type) or isinstance(got, type):
        return got is want
    close = np.allclose(got, want, rtol=1e-6 if got.dtype.itemsize > 2 else 1e-2, equal_nan=True)
    return bool(got.dtype == want.dtype and got.shape == want.shape and close)


BINS = [
    [1.0, 2.0, 3.0], [3.0, 2.0, 1.0], [1.0, 1.0, 1.0], [2.0], [1.0, 3.0, 2.0], [2.0, 1.0, 3.0],
    [1.0, 1.0, 0.0], [1.0, 1.0, 2.0, 0.0], [1.0, np.nan, 0.0], [np.nan, 1.0, 2.0],
    [1.0, 2.0, np.nan], [2.0, np.nan, 3.0], [-np.inf, 0.0, np.inf],
]  # fmt: skip


@pytest.mark.parametrize("right", [False, True])
def test_digitize(right: bool) -> None:
    x = np.array([0.5, 1.0, 2.5, 3.0, np.inf])
    for bins in map(np.array, BINS):
        want = outcome(np.digitize, x, bins, right)
        assert same(outcome(gnp.digitize, x, bins, right), want), bins


@pytest.mark.parametrize("engine", ENGINES)
def test_digitize_in_a_graph(engine: str) -> None:
    place = graphify.function(
        lambda x, b: gnp.digitize(x, b), input_signature=[FLOATS, FLOATS], engine=engine
    )
    x = np.array([0.5, 1.0, 2.5, 3.0, np.inf])
    for bins in map(np.array, BINS):
        if np.isnan(bins[1:-1]).any():
            continue  # NumPy takes such bins for sorted; where the search ends up is anyone's guess
        want = outcome(np.digitize, x, bins)
        assert same(outcome(place, x, bins), want), bins


@pytest.mark.parametrize("kth", [0, -1, 2, 3, -4, [0, 2], [0, 5], True, 1.0, [[0]], "x", None])
@pytest.mark.parametrize("name", ["partition", "argpartition"])
def test_positions_of_a_partition(name: str, kth: Any) -> None:
    x = np.array([3.0, 1.0, 2.0])
    got = outcome(getattr(gnp, name), x, kth)
    want = outcome(getattr(np, name), x, kth)
    assert isinstance(got, type) == isinstance(want, type)
    if isinstance(got, np.ndarray):
        done = got if name == "partition" else x[got]
        assert (done[kth] == np.sort(x)[kth]).all()


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("axis", [0, 1, -1, None])
def test_a_partition_along_an_axis_of_any_length(axis: Any, engine: str) -> None:
    def middle(x: Any, k: Any) -> Any:
        return gnp.partition(x, k, axis=axis), gnp.argpartition(x, k, axis=axis)

    table = graphify.TensorSpec((None, None), np.float64)
    staged = graphify.function(middle, input_signature=[table, INTS], engine=engine)
    for shape in ((3, 4), (5, 2), (7, 9)):
        x = np.random.default_rng(0).random(shape)
        got, places = (t.numpy() for t in staged(x, np.array([1])))
        np.testing.assert_array_equal(got, np.sort(x, axis))
        np.testing.assert_array_equal(places, np.argsort(x, axis))


def test_a_partition_of_nothing_has_any_position() -> None:
    assert gnp.partition(np.zeros((2, 0)), 4).numpy().shape == (2, 0)


@pytest.mark.parametrize("engine", ENGINES)
def test_positions_of_a_partition_in_a_graph(engine: str) -> None:
    traced = graphify.function(
        lambda x, k: gnp.partition(x, k), input_signature=[FLOATS, INTS], engine=engine
    )
    fixed = graphify.function(
        lambda x: gnp.argpartition(x, 2), input_signature=[FLOATS], engine=engine
    )
    x = np.array([3.0, 1.0, 2.0])
    assert traced(x, np.array([0, -1])).numpy().tolist() == [1, 2, 3]
    assert traced(np.zeros(0), np.array([7])).numpy().tolist() == []
    for bad in (3, -4):
        with pytest.raises(ValueError, match="out of bounds"):
            traced(x, np.array([0, bad]))
    assert fixed(x).numpy().tolist() == [1, 2, 0]
    with pytest.raises(ValueError, match="out of bounds"):
        fixed(x[:2])


DATA = [np.arange(4), np.arange(4, dtype=np.int8), np.array([3, 1, 2], np.float32)]
DATA += [np.array([1, 65504], np.float16), np.array([[5.0, np.nan, 1.0], [1.0, 2.0, 4.0]])]
POINTS = [0, 1, True, 0.3, 0.5, [0, 1], [0.3], np.array([True]), np.float32(0.3)]
POINTS += [np.array([0.3, 1], np.float32), [[0.1, 0.9]], [], -0.1, 2, np.nan]


@pytest.mark.parametrize("method", ["linear", "lower", "nearest", "midpoint", "hazen"])
@pytest.mark.parametrize("name", ["quantile", "percentile", "nanquantile", "nanpercentile"])
def test_quantiles_have_numpys_dtypes(name: str, method: str) -> None:
    for x in DATA:
        for q in POINTS:
            given = q if "quantile" in name or isinstance(q, list) else q * 100
            want = outcome(getattr(np, name), x, given, axis=-1, method=method)
            got = outcome(getattr(gnp, name), x, given, axis=-1, method=method)
            assert same(got, want), (x, q, got, want)


def test_quantiles_of_long_half_precision_data() -> None:
    x = np.arange(2000).astype(np.float16)
    assert gnp.quantile(x, 0.3333).numpy() == np.quantile(x, 0.3333)


@pytest.mark.parametrize("engine", ENGINES)
def test_quantiles_out_of_range_in_a_graph(engine: str) -> None:
    for name, good, bad in (("quantile", 0.5, 1.5), ("percentile", 50.0, -1.0)):
        staged = graphify.function(
            getattr(gnp, name), input_signature=[FLOATS, FLOATS], engine=engine
        )
        assert staged(np.array([1.0, 2.0]), np.array([good])).numpy().tolist() == [1.5]
        for wrong in (bad, np.nan):
            with pytest.raises(ValueError, match="must be in the range"):
                staged(np.array([1.0, 2.0]), np.array([good, wrong]))


def test_what_numpy_refuses() -> None:
    line, z = np.array([1.0, 2.0]), np.array([1j, 2.0])
    calls = {
        TypeError: [
            lambda n: n.interp(z, line, line),
            lambda n: n.interp(line, z, line),
            lambda n: n.expand_dims(np.float64(1.0), None),
            lambda n: n.gradient(np.array([True, False, True])),
        ],
        ValueError: [lambda n: n.correlate(line, 2.0), lambda n: n.correlate(2.0, line)],
        OverflowError: [
            lambda n: n.logical_and(line, 2**70),
            lambda n: n.logical_or(2**63, line),
            lambda n: n.logical_xor(line, -(2**63) - 1),
        ],
        IndexError: [
            lambda n: n.quantile(np.zeros(0), np.zeros(0)),
            lambda n: n.delete(line, np.zeros(0)),
        ],
    }
    for kind, cases in calls.items():
        for case in cases:
            for namespace in (np, gnp):
                with pytest.raises(kind):
                    case(namespace)


ANSWERS = [
    lambda n: n.interp([0.5], [0.0, 1.0], [0.0, 1 + 2j]),
    lambda n: n.union1d(np.array([1, 2], np.int8), 3),
    lambda n: n.concatenate((np.array([1, 2], np.float32), 3.0), axis=None),
    lambda n: n.append(np.array([1, 2], np.int8), 3),
    lambda n: n.nanmedian(np.zeros((2, 0, 3)), axis=1),
    lambda n: n.nanmedian(np.zeros((2, 0)), axis=1, keepdims=True),
    lambda n: n.nanmedian(np.zeros(0)),
    lambda n: n.cov(np.zeros((0, 3))),
    lambda n: n.corrcoef(np.zeros((0, 3))),
    lambda n: n.cumulative_sum(3, include_initial=True),
    lambda n: n.roll(np.arange(6), np.array([1, 2])),
    lambda n: n.roll(np.arange(6).reshape(2, 3), np.array([1, 2]), axis=(0, 1)),
    lambda n: n.roll(np.arange(6), 1.7),
    lambda n: n.roll(np.arange(6), []),
    lambda n: n.polyval(np.arange(6.0).reshape(2, 3), np.array([1.0, 2.0, 3.0])),
    lambda n: n.gradient(np.float64(1.0)),
    lambda n: n.real(True),
    lambda n: n.delete(np.arange(3), []),
    lambda n: n.clip(LINE[:1], 0, 2, out=np.zeros((2, 3))),
    lambda n: n.fix(LINE[:1], out=np.zeros(3)),
    lambda n: n.isneginf(-LINE[:1], out=np.ones(3, bool)),
    lambda n: n.cov(TABLE, bias=None),
    lambda n: n.cov(TABLE[:1], rowvar=False),
    lambda n: n.corrcoef(TABLE[:1], rowvar=False),
    lambda n: n.cov(TABLE[:, :1], TABLE[:1, :2], rowvar=False),
    lambda n: n.cov(TABLE, TABLE[:, :1], rowvar=False),
    lambda n: n.cov(TABLE[:, 0], TABLE[:, 1], rowvar=False),
    lambda n: n.average(TABLE, axis=(1, 0), weights=np.arange(6.0).reshape(3, 2)),
    lambda n: n.average(TABLE[:, :2], axis=(1, 0), weights=np.arange(4.0).reshape(2, 2)),
    lambda n: n.histogram2d(LINE, LINE, np.array([2, 3]))[0],
    lambda n: n.histogram2d(LINE, LINE, np.array([1.0, 2.0, 4.0]))[0],
    lambda n: n.histogramdd([LINE, LINE], np.array([2, 3]))[0],
    lambda n: n.gradient(LINE[:3], np.array([True, False, True])),
    lambda n: n.interp(np.nan, [1.0], [2.0]),
    lambda n: n.interp([0.0, 3.0], [1.0, 2.0], [1j, 2.0], left=1, right=2j),
    lambda n: n.tril(TABLE, 1.0),
    lambda n: n.triu(TABLE, np.float64(1)),
    lambda n: n.eye(3, k=np.int8(1)),
    lambda n: n.geomspace(1.0, [8.0, 27.0], 4),
    lambda n: n.geomspace([1.0, 2.0], 8.0, 4, axis=-1),
    lambda n: n.pad(LINE, 2, "reflect", reflect_type="Odd"),
    lambda n: n.pad(np.array([True, False, True]), 2, "symmetric", reflect_type="odd"),
    lambda n: n.quantile([1.0, np.inf, np.inf, np.inf], 0.6),
    lambda n: n.zeros(2, order="f") + n.ones(2, order=None),
]


@pytest.mark.parametrize("number", range(len(ANSWERS)))
@pytest.mark.filterwarnings("ignore")
def test_numpys_answers(number: int) -> None:
    want, got = (outcome(ANSWERS[number], n) for n in (np, gnp))
    assert isinstance(want, np.ndarray)
    assert same(got, want), (got, want)


REFUSED = [
    lambda n: n.bincount([0, 1], [1j, 2.0]),
    lambda n: n.bincount([0, 1], np.array([1.0, 2.0], np.complex64)),
    lambda n: n.average(TABLE, axis=1, weights=[1.0]),
    lambda n: n.average(TABLE, axis=1, weights=[[1.0], [2.0]]),
    lambda n: n.average(TABLE, weights=[1.0, 2.0, 3.0]),
    lambda n: n.average(TABLE, axis=0, weights=[1.0, -1.0]),
    lambda n: n.cov(TABLE, aweights=[1.0, -1.0, 1.0]),
    lambda n: n.cov(TABLE, fweights=[1, -1, 1]),
    lambda n: n.cov(TABLE, fweights=[1.5, 1.0, 1.0]),
    lambda n: n.cov(TABLE, aweights=[1.0, 1.0]),
    lambda n: n.cov(TABLE, ddof=1.5),
    lambda n: n.sum(TABLE, axis=1, initial=[0.0, 1.0]),
    lambda n: n.max(TABLE, axis=1, initial=[1.0]),
    lambda n: n.nanmin(TABLE, axis=1, initial=np.ones(2)),
    lambda n: n.max(TABLE, initial=0, where=np.array([1, 0, 1])),
    lambda n: n.nanmean(TABLE, where=np.array([1, 0, 1])),
    lambda n: n.sum(LINE[0], where=np.array([True, False])),
    lambda n: n.any(LINE[:1], where=np.array([True, False])),
    lambda n: n.max(LINE[:1], initial=0, where=np.array([True, False])),
    lambda n: n.histogram(LINE, 3, weights=np.ones(5)),
    lambda n: n.histogram(LINE, 3, weights=np.ones((2, 2))),
    lambda n: n.histogram_bin_edges(LINE, 3, weights=[1.0]),
    lambda n: n.histogram(LINE, 3, range=([0.0], [1.0, 2.0])),
    lambda n: n.histogram2d(LINE, LINE, np.array([3])),
    lambda n: n.histogramdd([LINE, LINE], np.array([3, 3, 3])),
    lambda n: n.interp(LINE, LINE, LINE, left=1j),
    lambda n: n.interp(LINE, LINE, LINE, right=[1.0]),
    lambda n: n.pad(LINE, True),
    lambda n: n.pad(LINE, 1.0),
    lambda n: n.pad(LINE, (1, -1)),
    lambda n: n.eye(3, k=1.0),
    lambda n: n.diag(TABLE, 1.0),
    lambda n: n.diagflat(LINE, 1.5),
    lambda n: n.diag(LINE, [1]),
    lambda n: n.tri(3, k=[1]),
    lambda n: n.tril(TABLE, [0]),
    lambda n: n.triu(TABLE, np.array([0])),
    lambda n: n.vander(LINE, [2]),
    lambda n: n.vander(LINE, -1),
    lambda n: n.linspace(0, 1, 5, axis=1),
    lambda n: n.linspace([0, 1], 2, 5, axis=-3),
    lambda n: n.geomspace(1, 2, 5, axis=1),
    lambda n: n.zeros(3, order="X"),
    lambda n: n.zeros(3, order="K"),
    lambda n: n.full(3, 1, order=1),
    lambda n: n.eye(3, order="A"),
    lambda n: n.asarray(LINE, order="row"),
    lambda n: n.copy(LINE, "Z"),
    lambda n: n.ones_like(LINE, order=0),
]


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_what_numpy_refuses_of_any_argument(number: int) -> None:
    want, got = (outcome(REFUSED[number], n) for n in (np, gnp))
    assert isinstance(want, type)
    assert got is want


IN_GRAPHS = [
    (lambda x, w: np.average(x, weights=w), [(LINE, LINE), (LINE, LINE * 0)]),
    (
        lambda x, w: np.average(x + x[:, None], 0, w),
        [(LINE, LINE), (LINE, LINE[:1]), (LINE, -LINE[:2])],
    ),
    (lambda x, w: np.cov(x, aweights=w), [(LINE, LINE), (LINE, -LINE)]),
    (lambda x, w: np.cov(x, fweights=w), [(LINE, LINE), (LINE, -LINE), (LINE, LINE / 3)]),
    (
        lambda x, w: np.histogram(x, 3, weights=w)[0],
        [(LINE, LINE), (LINE, LINE[:1]), (LINE[:3], LINE)],
    ),
    (
        lambda x, w: np.histogram(x, len(x) - 2)[0],
        [(LINE, LINE), (LINE[:2], LINE), (LINE[:1], LINE)],
    ),
    (lambda x, w: np.histogram2d(x, w, 2)[0], [(LINE, LINE), (LINE, LINE[:1])]),
    (lambda x, w: np.interp(1.5, x, w), [(LINE, LINE), (LINE, LINE[:2]), (LINE[:2], LINE)]),
    (lambda x, w: np.interp(w, x, x), [(LINE, LINE), (LINE[:1], LINE * np.nan)]),
    (lambda x, w: np.gradient(x, w), [(LINE, LINE), (LINE, LINE[:3]), (LINE, LINE[:2])]),
    (lambda x, w: np.geomspace(x, w, 3), [(LINE, LINE + 1), (LINE, LINE - 1)]),
    (lambda x, w: np.polyint(x, 2, w), [(LINE, LINE[:2]), (LINE, LINE[:1]), (LINE, LINE)]),
    (lambda x, w: np.sum(x, where=w > 1), [(LINE, LINE), (LINE, LINE[1:2]), (LINE[:1], LINE)]),
    (lambda x, w: np.max(x, initial=0, where=w > 1), [(LINE, LINE), (LINE[:1], LINE)]),
    (lambda x, w: np.linspace(0, 1, len(x) - 2), [(LINE, LINE), (LINE[:1], LINE)]),
    (lambda x, w: np.eye(len(x) - 2), [(LINE, LINE), (LINE[:1], LINE)]),
    (lambda x, w: np.pad(x, len(x) - 2, "edge"), [(LINE, LINE), (LINE[:1], LINE)]),
    (lambda x, w: np.pad(x, np.sum(w > 1) - 1), [(LINE, LINE), (LINE, LINE[:1])]),
    (lambda x, w: np.zeros(len(x) - 2), [(LINE, LINE), (LINE[:2], LINE), (LINE[:1], LINE)]),
    (lambda x, w: np.arange(0, 5, np.sum(w > 1)), [(LINE, LINE), (LINE, LINE[:1])]),
    (
        lambda x, w: np.repeat(x, w.astype(int)),
        [(LINE, LINE), (LINE, LINE[1:2]), (LINE[:1], LINE), (LINE[:3], LINE), (LINE, LINE[:0])],
    ),
    (
        lambda x, w: np.lexsort((x, w)),
        [(LINE, -LINE), (LINE, LINE[:3]), (LINE[:3], LINE), (LINE, LINE[:1])],
    ),
    (
        lambda x, w: np.bincount(x.astype(int), weights=w),
        [(LINE, LINE), (LINE, LINE[:1]), (LINE[:3], LINE)],
    ),
    (
        lambda x, w: np.polyfit(x, x, 1, w=w),
        [(LINE, LINE), (LINE, LINE[:1]), (LINE[:1], LINE), (LINE[:0], LINE[:0])],
    ),
    (lambda x, w: np.polyfit(x, w, 1), [(LINE, LINE), (LINE, LINE[:3]), (LINE[:1], LINE)]),
    (
        lambda x, w: np.vectorize(lambda a, b: a - b)(x, w),
        [(LINE, LINE), (LINE, LINE[:1]), (LINE[:1], LINE), (LINE, LINE[:3])],
    ),
    (
        lambda x, w: np.repeat(x, np.full(len(w), 2)),
        [(LINE, LINE), (LINE, LINE[:1]), (LINE[:1], LINE), (LINE, LINE[:3])],
    ),
    (
        lambda x, w: np.broadcast_to(np.ones(len(w)), x.shape) + 0,
        [(LINE, LINE), (LINE, LINE[:1]), (LINE[:1], LINE), (LINE, LINE[:3])],
    ),
    *(
        (call, [(LINE, LINE), (LINE[:1], LINE), (LINE, LINE[:1]), (LINE, LINE[:3])])
        for call in (
            lambda x, w: np.clip(x, 0, 2, out=w.copy()),
            lambda x, w: np.fix(x + 0.5, out=w.copy()),
            lambda x, w: np.isposinf(x / 0, out=w > 0),
        )
    ),
    (lambda x, w: np.gradient(x), [(LINE, LINE), (LINE[:2], LINE), (LINE[:1], LINE)]),
    (
        lambda x, w: np.gradient(x, edge_order=2),
        [(LINE, LINE), (LINE[:3], LINE), (LINE[:2], LINE), (LINE[:1], LINE)],
    ),
    (
        lambda x, w: np.cumsum(x, out=w.copy()),
        [(LINE, LINE), (LINE[:1], LINE), (LINE, LINE[:1]), (LINE[:3], LINE)],
    ),
    (
        lambda x, w: np.linalg.cond(x[:, None] + w**2, 1),
        [(LINE[:2], LINE[:2]), (LINE, LINE[:2]), (LINE[:0], LINE[:0]), (LINE[:1], LINE)],
    ),
    (lambda x, w: np.linalg.cond(x[:, None] + w**2), [(LINE[:2], LINE[:2]), (LINE, LINE[:0])]),
    (
        lambda x, w: np.convolve(x, w),
        [(LINE, LINE), (LINE[:0], LINE), (LINE, LINE[:0]), (LINE[:2], LINE)],
    ),
    (lambda x, w: np.correlate(x, w, "full"), [(LINE, LINE), (LINE[:0], LINE), (LINE, LINE[:0])]),
    (lambda x, w: np.einsum("ii->i", x[:, None] * w), [(LINE, LINE), (LINE, LINE[:3])]),
    (lambda x, w: np.einsum("...ii->...i", x[:, None] * w), [(LINE, LINE), (LINE[:1], LINE)]),
    (
        lambda x, w: np.nanargmin(x / x * w[:, None], axis=1),
        [(LINE, LINE), (LINE - 1, LINE), (LINE * 0, LINE)],
    ),
    (lambda x, w: np.nanargmax(x / w), [(LINE, LINE), (LINE * 0, LINE * 0)]),
    (
        lambda x, w: np.arange(0.0, w[0], x[0]),
        [(LINE, LINE), (LINE * np.nan, LINE), (LINE, LINE + np.inf)],
    ),
]


@pytest.mark.parametrize("engine", ["native", *ENGINES])
@pytest.mark.parametrize("number", range(len(IN_GRAPHS)))
@pytest.mark.filterwarnings("ignore")
def test_lengths_and_values_that_only_the_run_knows(number: int, engine: str) -> None:
    function, runs = IN_GRAPHS[number]
    staged = graphify.function(function, input_signature=[FLOATS, FLOATS], engine=engine)
    for x, w in runs:
        got, want = outcome(staged, x, w), outcome(function, x, w)
        assert same(got, want), (x, w, got, want)


ODD = [1.5, 1.0, -1, 0, 2, 300, np.nan, np.inf, 1j, [1], [1j], [0.5, np.nan], (0, 1), [1.5]]
ODD += [np.float64(0.5), np.bool_(True), np.array([1]), np.array(1), np.array(1.0)]
ODD += [np.zeros(0), np.array([True, False, True]), np.array([[True, False]]), np.array([1j, 2])]
TEXTS = ["C", "F", "c", "A", "K", "left", "stable", "QuickSort", "introselect", "wrap", "safe", "x"]
MASK = np.array([True, False, True, True])


def updated(call: Any) -> Any:
    """The array that a call has written to."""

    def update(n: Any, x: Any, odd: Any) -> Any:
        call(n, x, odd)
        return x

    return update


WRITTEN = {
    "put": updated(lambda n, x, odd: n.put(x, [0, 2], odd)),
    "putmask": updated(lambda n, x, odd: n.putmask(x, MASK, odd)),
    "place": updated(lambda n, x, odd: n.place(x, MASK, odd)),
    "copyto": updated(lambda n, x, odd: n.copyto(x, odd)),
    "copyto where": updated(lambda n, x, odd: n.copyto(x, 1, where=odd)),
    "fill": updated(lambda n, x, odd: x.fill(odd)),
    "an item": updated(lambda n, x, odd: x.__setitem__(slice(None), odd)),
    "an item of flat": updated(lambda n, x, odd: x.flat.__setitem__(0, odd)),
    "flat": updated(lambda n, x, odd: setattr(x, "flat", odd)),
    "insert": lambda n, x, odd: n.insert(x, 1, odd),
    "insert two": lambda n, x, odd: n.insert(x, [1, 2], odd),
}


def answers(call: Any, x: np.ndarray, odd: Any) -> tuple[Any, Any]:
    """What graphify and NumPy make of a call that may write to the array."""
    kinds = (TypeError, ValueError, IndexError, ArithmeticError)
    found: list[Any] = []
    for n, array in ((gnp, gnp.array(x)), (np, x.copy())):
        given = gnp.asarray(odd) if n is gnp and isinstance(odd, np.ndarray) else odd
        try:
            found.append(np.asarray(call(n, array, given)))
        except kinds as error:
            found.append(next(kind for kind in kinds if isinstance(error, kind)))
    return found[0], found[1]


@pytest.mark.parametrize("dtype", [np.float64, np.int64, np.int8, np.complex128])
@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.filterwarnings("ignore")
def test_what_is_written_has_to_fit(name: str, dtype: Any) -> None:
    for odd in ODD:
        got, want = answers(WRITTEN[name], np.arange(4).astype(dtype), odd)
        if isinstance(want, type):
            assert isinstance(got, type), (odd, got, want)
        elif not isinstance(got, type):  # what NumPy takes by accident may be refused
            assert same(got, want), (odd, got, want)


def test_what_is_written_is_refused_in_a_graph_too() -> None:
    for call in (lambda x: gnp.insert(x, 1, 1j), lambda x: gnp.insert(x, 1, [2.0, 1j])):
        with pytest.raises(TypeError):
            graphify.function(call)(np.arange(4.0))
    with pytest.raises(ValueError, match="NaN"):
        graphify.function(lambda x: gnp.insert(x, 1, np.nan))(np.arange(4))
    with pytest.raises(TypeError):
        call = graphify.function(
            lambda x: gnp.insert(x, 1, x.shape[0] * 1j), input_signature=[FLOATS]
        )
        call(np.arange(4.0))


CHECKED = {
    "insert": lambda n, x, odd: n.insert(x, odd, 1.0),
    "delete": lambda n, x, odd: n.delete(x, odd),
    "take": lambda n, x, odd: n.take(x, odd, mode="clip"),
    "choose": lambda n, x, odd: n.choose(odd, [x, -x, x + 1], mode="wrap"),
    "repeat": lambda n, x, odd: n.repeat(x, odd),
    "sorter": lambda n, x, odd: n.searchsorted(x, 1.5, sorter=odd),
    "keys": lambda n, x, odd: n.lexsort((x, odd)),
    "minlength": lambda n, x, odd: n.bincount(np.array([1, 2]), minlength=odd),
    "bins": lambda n, x, odd: n.digitize(x, odd),
    "turns": lambda n, x, odd: n.rot90(x.reshape(2, 2), odd),
    "shift": lambda n, x, odd: n.roll(x.reshape(2, 2), odd, axis=(0, 1)),
    "sections": lambda n, x, odd: n.split(x, odd)[0],
    "common": lambda n, x, odd: n.intersect1d(x, odd, return_indices=True)[0],
    "number of axes": lambda n, x, odd: len(n.diag_indices(3, odd)),
}


@pytest.mark.parametrize("name", CHECKED)
@pytest.mark.filterwarnings("ignore")
def test_numbers_that_numpy_refuses(name: str) -> None:
    for odd in ODD:
        got, want = answers(CHECKED[name], np.arange(4.0), odd)
        if isinstance(want, type):
            assert isinstance(got, type), (odd, got, want)
        elif not isinstance(got, type):
            assert same(got, want), (odd, got, want)


NAMED = {
    "sort": lambda n, x, text: n.sort(x, kind=text),
    "argsort": lambda n, x, text: n.argsort(x, kind=text),
    "partition": lambda n, x, text: n.partition(x, 0, kind=text)[:1],
    "argpartition": lambda n, x, text: n.argpartition(x, 0, kind=text)[:1],
    "a method": lambda n, x, text: x.partition(0, kind=text) or 0,
    "isin": lambda n, x, text: n.isin(x, [1.0], kind=text),
    "unravel_index": lambda n, x, text: n.unravel_index([1, 5], (2, 3), order=text)[1],
    "ravel_multi_index": lambda n, x, text: n.ravel_multi_index(
        ([0, 1], [1, 1]), (2, 3), order=text
    ),
    "reshape": lambda n, x, text: n.reshape(x, (2, 2), order=text),
    "copy": lambda n, x, text: n.reshape(x, (2, 2), copy=text),
    "astype": lambda n, x, text: x.astype(int, order=text),
    "casting": lambda n, x, text: n.concatenate((x, x), casting=text),
    "mixed": lambda n, x, text: n.concatenate((x, [1]), casting=text),
    "a cast": updated(lambda n, x, text: n.copyto(x, 2.5, casting=text)),
}


@pytest.mark.parametrize("name", NAMED)
def test_words_that_numpy_does_not_know(name: str) -> None:
    for text in [*TEXTS, None, 1, 1.0, True]:
        got, want = answers(NAMED[name], np.array([2.0, 0.0, 3.0, 1.0]), text)
        assert same(got, want), (text, got, want)


@pytest.mark.parametrize("engine", ENGINES)
def test_lengths_that_only_the_run_knows_are_checked(engine: str) -> None:
    number = graphify.TensorSpec((), np.int64)
    count = graphify.function(
        lambda x, n: gnp.bincount(x, minlength=n), input_signature=[INTS, number], engine=engine
    )
    assert count(np.array([1, 1]), 4).numpy().tolist() == [0, 2, 0, 0]
    assert count(np.array([1, 1]), 0).numpy().tolist() == [0, 2]
    with pytest.raises(ValueError, match="must not be negative"):
        count(np.array([1, 1]), -1)
    search = graphify.function(
        lambda x, s: gnp.searchsorted(x, 1.5, sorter=s),
        input_signature=[FLOATS, INTS],
        engine=engine,
    )
    assert search(np.array([2.0, 1.0]), np.array([1, 0])).numpy() == 1
    with pytest.raises(ValueError):
        search(np.array([2.0, 1.0]), np.array([1]))
