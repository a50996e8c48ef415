"""Random numbers: NumPy's own streams, eager and in graphs; and `graphify.random` with keys."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphify
import graphify.numpy as gnp
import graphify.random as gr
from graphify.errors import SpecError
from graphify.ir.context import recording
from graphify.ir.graph import Builder, Graph
from graphify.ir.interpret import run
from graphify.ir.sizes import fresh
from graphify.ir.tensor import Tensor, value_in
from graphify.ir.types import Spec
from graphify.ir.wrapping import as_tensor
from graphify.ops.random import threefry

# --- NumPy's generators ---------------------------------------------------------------------------

# What NumPy gives where nothing has a shape: a Python number, or one of its own.
SINGLE: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("uniform", (0.0, 1.0), {}),
    ("normal", (np.float32(1.0), 2), {}),
    ("standard_normal", (), {}),
    ("standard_exponential", (), {}),
    ("standard_gamma", (2.0,), {}),
    ("gamma", (2.0,), {}),
    ("poisson", (3.0,), {}),
    ("binomial", (5, 0.5), {}),
    ("geometric", (0.5,), {}),
    ("hypergeometric", (5, 5, 3), {}),
    ("choice", (5,), {}),
    ("choice", (3,), {"p": [0.2, 0.3, 0.5]}),
    ("choice", (np.array([1.5, 2.5]),), {}),
    ("random", (), {"size": ()}),
    ("normal", (0.0, 1.0), {"size": ()}),
]
SINGLE_LEGACY = [
    ("rand", (), {}),
    ("randn", (), {}),
    ("random_sample", (), {}),
    ("randint", (9,), {}),
    ("randint", (9,), {"dtype": np.int64}),
    ("randint", (9,), {"dtype": np.int8}),
    ("randint", (2,), {"dtype": bool}),
    ("randint", (2,), {"dtype": np.bool_}),
]
SINGLE_NEW = [
    ("random", (), {}),
    ("random", (), {"dtype": np.float32}),
    ("standard_normal", (), {"dtype": np.float32}),
    ("integers", (9,), {}),
    ("integers", (9,), {"dtype": int}),
    ("integers", (9,), {"dtype": np.uint8}),
    ("integers", (2,), {"dtype": bool}),
]

LEGACY: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("rand", (), {}),
    ("rand", (2, 3), {}),
    ("randn", (), {}),
    ("randn", (4,), {}),
    ("randint", (10,), {}),
    ("randint", (2, 10, (3, 2)), {}),
    ("randint", (0, 200, 5), {"dtype": np.uint8}),
    ("randint", (0, 2, 5), {"dtype": bool}),
    ("randint", (np.array([1, 5, 100]),), {}),
    ("random", (3,), {}),
    ("random_sample", ((2, 2),), {}),
    ("uniform", (), {}),
    ("uniform", (-1, np.array([1.0, 2.0])), {}),
    ("uniform", (2.0, 3.0, 4), {}),
    ("normal", (), {}),
    ("normal", (1.0, 2.0), {"size": (2, 3)}),
    ("normal", (), {"loc": np.array([0.0, 10.0]), "scale": 0.1}),
    ("standard_normal", (3,), {}),
    ("standard_exponential", (3,), {}),
    ("standard_gamma", (2.0, 3), {}),
    ("exponential", (2.0, 3), {}),
    ("gamma", (2.0,), {"size": 3}),
    ("beta", (1.0, 2.0, 3), {}),
    ("binomial", (10, 0.3, 5), {}),
    ("poisson", (3.0, 5), {}),
    ("geometric", (0.3, 5), {}),
    ("chisquare", (3, 2), {}),
    ("laplace", (0.0, 1.0, 3), {}),
    ("logistic", (), {"size": 3}),
    ("gumbel", (), {"size": 3}),
    ("triangular", (0.0, 1.0, 2.0, 3), {}),
    ("weibull", (2.0, 3), {}),
    ("standard_t", (3.0, 2), {}),
    ("permutation", (6,), {}),
    ("permutation", (np.arange(6.0).reshape(3, 2),), {}),
    ("choice", (5,), {}),
    ("choice", (5, 3), {}),
    ("choice", (np.array([1.5, 2.5, 3.5]), (2, 2)), {}),
    ("choice", (5, 3, False), {}),
    ("choice", (3, 4), {"p": [0.2, 0.3, 0.5]}),
    ("multinomial", (10, [0.2, 0.8]), {"size": 3}),
    ("dirichlet", ([1.0, 2.0],), {"size": 3}),
    ("multivariate_normal", ([0.0, 1.0], [[1.0, 0.1], [0.1, 1.0]], 3), {}),
]
GENERATOR: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("random", (), {}),
    ("random", (3,), {"dtype": np.float32}),
    ("standard_normal", ((2, 2),), {}),
    ("standard_exponential", (3,), {"method": "inv"}),
    ("standard_gamma", (2.0, 3), {}),
    ("integers", (10,), {}),
    ("integers", (2, 10, (3, 2)), {}),
    ("integers", (0, 9, 5), {"endpoint": True, "dtype": np.int16}),
    ("normal", (0.0, [1.0, 2.0]), {}),
    ("uniform", (1.0, 2.0, 3), {}),
    ("poisson", (2.0, 4), {}),
    ("permutation", (6,), {}),
    ("permutation", (np.arange(6.0).reshape(3, 2),), {"axis": 1}),
    ("permuted", (np.arange(6.0).reshape(3, 2),), {"axis": 0}),
    ("choice", (np.arange(6.0).reshape(2, 3), 2), {"axis": 1}),
    ("choice", (5, 3), {"replace": False, "shuffle": False}),
    ("choice", (3, 4), {"p": [0.2, 0.3, 0.5]}),
]


def label(case: Any) -> str:
    return f"{case[0]}{str(case[1]).replace(chr(10), '')}"[:40]


def same(got: Any, want: Any) -> None:
    got = np.asarray(got)
    np.testing.assert_array_equal(got, want)
    assert got.dtype == np.asarray(want).dtype
    assert got.shape == np.shape(want)


def record(function: Any, *specs: Spec) -> Graph:
    builder = Builder()
    with recording(builder):
        results = function(*(Tensor(builder.param(spec)) for spec in specs))
        results = results if isinstance(results, (list, tuple)) else [results]
        values = [value_in(as_tensor(r), builder) for r in results]
    return builder.finish(values)


@pytest.mark.parametrize("case", LEGACY, ids=label)
def test_legacy_stream(case: Any) -> None:
    name, args, kwargs = case
    state = np.random.RandomState(7)
    want = [getattr(state, name)(*args, **kwargs) for _ in range(3)]
    gnp.random.seed(7)
    same(getattr(gnp.random, name)(*args, **kwargs), want[0])
    graph = record(lambda: getattr(gnp.random, name)(*args, **kwargs))
    for expected in want[1:]:  # the same graph draws anew, and goes on where eager drawing stopped
        same(run(graph, [])[0], expected)


@pytest.mark.parametrize("case", GENERATOR, ids=label)
def test_generator_stream(case: Any) -> None:
    name, args, kwargs = case
    plain, rng = np.random.default_rng(7), gnp.random.default_rng(7)
    want = [getattr(plain, name)(*args, **kwargs) for _ in range(3)]
    same(getattr(rng, name)(*args, **kwargs), want[0])
    graph = record(lambda: getattr(rng, name)(*args, **kwargs))
    for expected in want[1:]:
        same(run(graph, [])[0], expected)


def test_the_global_state_is_numpys() -> None:
    np.random.seed(5)
    want = np.random.rand(4)
    np.random.seed(5)
    got = [gnp.random.rand(2), np.random.rand(1), gnp.random.rand(1)]
    same(np.concatenate([np.asarray(g) for g in got]), want)
    gnp.random.seed(5)
    same(np.random.rand(4), want)
    state = gnp.random.get_state()
    first = gnp.random.rand(2)
    gnp.random.set_state(state)
    same(gnp.random.rand(2), np.asarray(first))


def test_draws_keep_program_order() -> None:
    def draws() -> list[Tensor]:
        a = gnp.random.rand(2)
        b = gnp.random.randn(2)
        c = gnp.random.randint(0, 10, 2)
        return [c, a, b]

    np.random.seed(3)
    a, b, c = np.random.rand(2), np.random.randn(2), np.random.randint(0, 10, 2)
    graph = record(draws)
    gnp.random.seed(3)
    for got, want in zip(run(graph, []), (c, a, b), strict=True):
        same(got, want)


def test_an_unused_draw_still_advances_the_state() -> None:
    graph = record(lambda: [gnp.random.rand(3), gnp.random.rand(1)][1:])
    np.random.seed(1)
    want = np.random.rand(4)[3:]
    gnp.random.seed(1)
    same(run(graph, [])[0], want)


def test_seeding_inside_a_graph() -> None:
    def function(seed: Any) -> list[Tensor]:
        gnp.random.seed(11)
        a = gnp.random.rand(2)
        gnp.random.seed(seed)
        return [a, gnp.random.rand(2)]

    graph = record(function, Spec((), np.dtype(np.int64)))
    for seed in (0, 1):
        results = run(graph, [np.asarray(seed)])
        same(results[0], np.random.RandomState(11).rand(2))
        same(results[1], np.random.RandomState(seed).rand(2))


def test_a_generator_made_in_a_graph_starts_anew_each_run() -> None:
    def function() -> list[Tensor]:
        rng = gnp.random.default_rng(4)
        old = gnp.random.RandomState(4)
        return [rng.normal(size=3), rng.normal(size=3), old.rand(2)]

    plain = np.random.default_rng(4)
    want = [plain.normal(size=3), plain.normal(size=3), np.random.RandomState(4).rand(2)]
    graph = record(function)
    for _ in range(2):
        for got, expected in zip(run(graph, []), want, strict=True):
            same(got, expected)


def test_numpys_own_generator_is_shared() -> None:
    plain, twin = np.random.default_rng(9), np.random.default_rng(9)
    rng = gnp.random.as_generator(plain)
    assert gnp.random.as_generator(plain) is rng
    graph = record(lambda: rng.normal(size=2))
    same(run(graph, [])[0], twin.normal(size=2))
    same(plain.normal(size=2), twin.normal(size=2))
    same(gnp.random.default_rng(plain).random(), twin.random())
    assert gnp.random.as_generator(np.random.mtrand._rand).rand.__self__ is gnp.random._legacy
    with pytest.raises(TypeError, match="Generator"):
        gnp.random.as_generator(3)


def test_sizes_known_at_run_time() -> None:
    def function(x: Any) -> list[Tensor]:
        return [gnp.random.rand(*x.shape), gnp.random.permutation(x), gnp.random.normal(x, 1.0)]

    graph = record(function, Spec((fresh("n"), 2), np.dtype(float)))
    for n in (0, 3, 5):
        x = np.arange(2.0 * n).reshape(n, 2)
        gnp.random.seed(2)
        results = run(graph, [x])
        np.random.seed(2)
        for got, want in zip(
            results,
            (np.random.rand(n, 2), np.random.permutation(x), np.random.normal(x, 1.0)),
            strict=True,
        ):
            same(got, want)


def test_shuffle_in_place() -> None:
    x = np.arange(8)
    want = x.copy()
    np.random.RandomState(1).shuffle(want)
    gnp.random.seed(1)
    gnp.random.shuffle(x)
    same(x, want)
    items = list(range(8))
    gnp.random.seed(1)
    gnp.random.shuffle(items)
    assert items == want.tolist()

    def function(t: Any) -> Tensor:
        t = t * 1
        gnp.random.default_rng(3).shuffle(t, axis=1)
        return t

    y = np.arange(12).reshape(3, 4)
    graph = record(function, Spec((3, 4), np.dtype(np.int64)))
    want = y.copy()
    np.random.default_rng(3).shuffle(want, axis=1)
    same(run(graph, [y])[0], want)


def test_bad_parameters_raise_as_numpys_do() -> None:
    for call in (
        lambda r: r.normal(0.0, -1.0),
        lambda r: r.randint(5, 2),
        lambda r: r.choice(3, 5, replace=False),
        lambda r: r.rand(-1),
        lambda r: r.poisson(-1.0),
        lambda r: r.choice(0),
    ):
        with pytest.raises(ValueError):
            call(np.random)
        with pytest.raises(ValueError):
            call(gnp.random)
    for call in (
        lambda r: r.rand(1.5),
        lambda r: r.normal(size=2.5),
        lambda r: r.gamma(),
        lambda r: r.normal(sd=1),
    ):
        with pytest.raises(TypeError):
            call(np.random)
        with pytest.raises(TypeError):
            call(gnp.random)
    graph = record(lambda s: gnp.random.normal(0.0, s), Spec((), np.dtype(float)))
    with pytest.raises(ValueError, match="scale < 0"):
        run(graph, [np.asarray(-1.0)])


def test_host_state_is_refused_in_graphs() -> None:
    with pytest.raises(SpecError, match="get_state"):
        record(lambda: gnp.random.get_state())


# --- graphify.random ------------------------------------------------------------------------------


def test_threefry_known_answers() -> None:
    """From the distribution of the generator's authors (Random123, kat_vectors)."""
    zero, ones = np.zeros(1, np.uint32), np.full(1, 0xFFFFFFFF, np.uint32)
    assert [int(v[0]) for v in threefry(zero, zero, zero, zero)] == [0x6B200159, 0x99BA4EFE]
    assert [int(v[0]) for v in threefry(ones, ones, ones, ones)] == [0x1CB996FC, 0xBB002BE7]
    pi = [np.full(1, v, np.uint32) for v in (0x13198A2E, 0x03707344, 0x243F6A88, 0x85A308D3)]
    assert [int(v[0]) for v in threefry(*pi)] == [0xC4923A9C, 0x483DF7A0]


def test_keys() -> None:
    key = gr.key(42)
    same(key, np.array([0, 42], np.uint32))
    same(gr.key(2**40 + 1), np.array([256, 1], np.uint32))
    same(gr.key(-1), np.array([2**32 - 1, 2**32 - 1], np.uint32))
    keys = np.asarray(gr.split(key, 5))
    assert keys.shape == (5, 2)
    assert len({tuple(k) for k in keys}) == 5
    same(keys[:2], np.asarray(gr.split(key)))
    assert not np.array_equal(np.asarray(gr.fold_in(key, 1)), np.asarray(gr.fold_in(key, 2)))
    with pytest.raises(TypeError, match="seed"):
        gr.key(1.5)
    with pytest.raises(TypeError, match="key"):
        gr.uniform(gnp.zeros(2))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_distributions_have_their_moments(dtype: str) -> None:
    key, n = gr.key(0), 20_000
    uniform = np.asarray(gr.uniform(key, (n,), dtype)).astype(float)
    assert 0 <= uniform.min()
    assert uniform.max() < 1
    assert abs(uniform.mean() - 0.5) < 0.02
    assert abs(uniform.var() - 1 / 12) < 0.01
    normal = np.asarray(gr.normal(key, (n,), dtype)).astype(float)
    assert normal.shape == (n,)
    assert abs(normal.mean()) < 0.03
    assert abs(normal.std() - 1) < 0.03
    assert abs((normal**4).mean() - 3) < 0.3
    assert gr.normal(key, (2,), dtype).dtype == dtype


def test_discrete_distributions() -> None:
    key = gr.key(3)
    numbers = np.asarray(gr.randint(key, (5000,), -2, 3))
    assert sorted(set(numbers.tolist())) == [-2, -1, 0, 1, 2]
    assert np.bincount(numbers + 2).min() > 800
    assert gr.randint(key, (2,), 0, 9, np.int8).dtype == np.int8
    assert abs(np.asarray(gr.bernoulli(key, 0.3, (5000,))).mean() - 0.3) < 0.03
    assert sorted(np.asarray(gr.permutation(key, 10)).tolist()) == list(range(10))
    rows = np.asarray(gr.permutation(key, np.arange(6).reshape(3, 2)))
    assert sorted(rows.tolist()) == [[0, 1], [2, 3], [4, 5]]
    assert len(set(np.asarray(gr.choice(key, 10, (5,), replace=False)).tolist())) == 5
    chosen = np.asarray(gr.choice(key, np.array([1.0, 2.0]), (2000,), p=[0.9, 0.1]))
    assert abs((chosen == 1.0).mean() - 0.9) < 0.03
    picks = np.asarray(gr.categorical(key, np.log(np.array([[0.8, 0.2]] * 2000))))
    assert abs((picks == 0).mean() - 0.8) < 0.04
    with pytest.raises(ValueError, match="minval < maxval"):
        gr.randint(key, (2,), 3, 3)


def test_logits_are_floats() -> None:
    with pytest.raises(SpecError, match="expected float16, float32 or float64, got int64"):
        gr.categorical(gr.key(0), np.array([1, 2]))


def test_the_same_in_a_graph_and_under_sizes() -> None:
    def function(key: Any, x: Any) -> list[Tensor]:
        key, sub = gr.split(key)
        return [gr.normal(sub, x.shape), gr.randint(key, (2,), 0, 100), gr.permutation(key, x)]

    graph = record(function, Spec((2,), np.dtype(np.uint32)), Spec((fresh("n"),), np.dtype(float)))
    for n in (0, 3):
        key, x = np.array([1, 2], np.uint32), np.arange(float(n))
        for got, want in zip(
            run(graph, [key, x]), function(as_tensor(key), as_tensor(x)), strict=True
        ):
            same(got, np.asarray(want))
    assert not graph.effects


def test_keys_in_batches() -> None:
    keys = gr.split(gr.key(0), 4)
    rows = [np.asarray(gr.normal(keys[i], (3,))) for i in range(4)]
    same(gr.normal(keys, (3,)), np.stack(rows))
    same(
        gr.uniform(keys, (2, 2)),
        np.stack([np.asarray(gr.uniform(keys[i], (2, 2))) for i in range(4)]),
    )


@pytest.mark.parametrize(("name", "args", "kwargs"), [*SINGLE, *SINGLE_LEGACY])
def test_single_numbers_are_pythons_where_numpy_says_so(
    name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    _check_single(np.random.RandomState(3), gnp.random.RandomState(3), name, args, kwargs)


@pytest.mark.parametrize(("name", "args", "kwargs"), [*SINGLE, *SINGLE_NEW])
def test_single_numbers_of_a_generator_are_pythons_where_numpy_says_so(
    name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    _check_single(np.random.default_rng(3), gnp.random.default_rng(3), name, args, kwargs)


def _check_single(plain: Any, ours: Any, name: str, args: Any, kwargs: Any) -> None:
    want = getattr(plain, name)(*args, **kwargs)
    got = getattr(ours, name)(*args, **kwargs)
    assert got.spec.weak == (type(want) in (bool, int, float))
    assert got.dtype == np.asarray(want).dtype
    assert got.numpy() == want
    small = np.array([1, 2], np.float16)
    np.testing.assert_array_equal(gnp.asarray(small) * got, small * want, strict=True)


@pytest.mark.parametrize("data", [1.5, np.float64(2.0), 1j])
def test_a_key_is_folded_with_integers_only(data):
    for f in (gr.fold_in, graphify.function(gr.fold_in)):
        with pytest.raises(TypeError, match="fold_in: argument 'data': expected an integer, got"):
            f(gr.key(0), data)


@pytest.mark.parametrize("engine", ["plain", "reference", "native", "tensorflow"])
def test_more_rows_without_replacement_than_there_are(engine):
    def above(x, low, count):
        return gr.choice(gr.key(3), x[x > low], (int(count),), False)

    def rows(x, low, count):
        return gr.choice(gr.key(3), x, (2, 3), replace=False)

    x = np.arange(5.0)
    run = (lambda f: f) if engine == "plain" else (lambda f: graphify.function(f, engine=engine))
    text = "Cannot take a larger sample than population when replace is False"
    with pytest.raises(ValueError, match=text):
        np.random.default_rng(0).choice(x, (2, 3), replace=False)
    for f, low, count in ((above, 1.5, 4), (above, 9.0, 1), (rows, 0.0, 6)):
        with pytest.raises(ValueError, match=text):
            run(f)(x, np.array(low), np.array(count))
    for low, count in ((1.5, 3), (1.5, 2), (9.0, 0)):
        drawn = np.asarray(run(above)(x, np.array(low), np.array(count)))
        assert len(set(drawn)) == count and set(drawn) <= set(x[x > low])
