"""Draws inside native code: NumPy's stream bit for bit, the generator left as NumPy leaves it."""

from __future__ import annotations

import io
import signal
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphify
from graphify.errors import TransformError

BITS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")
TURNS = 200

# Programs of a Generator: each is staged, run on the generator's copy, and compared.
NEW: dict[str, Callable[[Any, Any], Any]] = {
    "random": lambda rng, t: rng.random(),
    "random32": lambda rng, t: rng.random(dtype=np.float32),
    "standard_normal": lambda rng, t: rng.standard_normal(),
    "standard_normal32": lambda rng, t: rng.standard_normal(dtype=np.float32),
    "standard_exponential": lambda rng, t: rng.standard_exponential(),
    "standard_exponential32": lambda rng, t: rng.standard_exponential(dtype=np.float32),
    "normal": lambda rng, t: rng.normal(t, 2.0),
    "normal_of_integers": lambda rng, t: rng.normal(3, 2),
    "uniform": lambda rng, t: rng.uniform(-1.0, t),
    "exponential": lambda rng, t: rng.exponential(t),
    "laplace": lambda rng, t: rng.laplace(t, 0.5),
    "gumbel": lambda rng, t: rng.gumbel(0.0, t),
    "logistic": lambda rng, t: rng.logistic(),
    "lognormal": lambda rng, t: rng.lognormal(0.1, 0.5),
    "rayleigh": lambda rng, t: rng.rayleigh(t),
    "standard_cauchy": lambda rng, t: rng.standard_cauchy(),
    "standard_gamma": lambda rng, t: rng.standard_gamma(t),
    "gamma": lambda rng, t: rng.gamma(t, 2.0),
    "beta": lambda rng, t: rng.beta(t, 0.5),
    "chisquare": lambda rng, t: rng.chisquare(3),
    "noncentral_chisquare": lambda rng, t: rng.noncentral_chisquare(3.0, t),
    "f": lambda rng, t: rng.f(3.0, 4.0),
    "noncentral_f": lambda rng, t: rng.noncentral_f(3.0, 4.0, t),
    "pareto": lambda rng, t: rng.pareto(t),
    "weibull": lambda rng, t: rng.weibull(t),
    "power": lambda rng, t: rng.power(t),
    "standard_t": lambda rng, t: rng.standard_t(t),
    "wald": lambda rng, t: rng.wald(t, 1.0),
    "vonmises": lambda rng, t: rng.vonmises(0.0, t),
    "poisson": lambda rng, t: rng.poisson(20 * t) * 1.0,
    "geometric": lambda rng, t: rng.geometric(0.2) * 1.0,
    "integers": lambda rng, t: rng.integers(6) * 1.0,
    "integers_of_two": lambda rng, t: rng.integers(-3, 1000) * 1.0,
    "integers_closed": lambda rng, t: rng.integers(1, 6, endpoint=True) * 1.0,
    "integers_of_one": lambda rng, t: rng.integers(4, 5) * 1.0,
    "integers_large": lambda rng, t: rng.integers(0, 2**40) * 1.0,
    "integers_32_bits": lambda rng, t: rng.integers(0, 2**32) * 1.0,
    "integers_wide": lambda rng, t: rng.integers(-(2**63), 2**63 - 1, endpoint=True) * 1.0,
    "int32": lambda rng, t: rng.integers(-5, 70000, dtype=np.int32) * 1.0,
    "int16": lambda rng, t: rng.integers(-300, 300, dtype=np.int16) * 1.0,
    "int8": lambda rng, t: rng.integers(-128, 127, dtype=np.int8, endpoint=True) * 1.0,
    "uint8": lambda rng, t: rng.integers(0, 256, dtype=np.uint8) * 1.0,
    "uint16": lambda rng, t: rng.integers(0, 300, dtype=np.uint16) * 1.0,
    "uint32": lambda rng, t: rng.integers(1, 2**32, dtype=np.uint32) * 1.0,
    "uint64": lambda rng, t: rng.integers(1, 2**62, dtype=np.uint64) * 1.0,
    "coin": lambda rng, t: rng.integers(0, 2, dtype=bool) * 1.0,
    "several": lambda rng, t: np.max(rng.random(3)),
    "several_normal": lambda rng, t: np.max(rng.normal(t, 1.0, size=(2, 2))),
    "several_bytes": lambda rng, t: np.sum(rng.integers(0, 100, 5, dtype=np.uint8)) * 1.0,
    "none": lambda rng, t: np.sum(rng.random((0, 3))),
}
OLD: dict[str, Callable[[Any, Any], Any]] = {
    "random_sample": lambda rng, t: rng.random_sample(),
    "rand": lambda rng, t: rng.rand(),
    "uniform": lambda rng, t: rng.uniform(-1.0, t),
    "uniform_backwards": lambda rng, t: rng.uniform(t, -1.0),
    "randn": lambda rng, t: rng.randn(),
    "standard_normal": lambda rng, t: rng.standard_normal(),
    "normal": lambda rng, t: rng.normal(t, 2.0),
    "standard_exponential": lambda rng, t: rng.standard_exponential(),
    "exponential": lambda rng, t: rng.exponential(t),
    "laplace": lambda rng, t: rng.laplace(t, 0.5),
    "gumbel": lambda rng, t: rng.gumbel(0.0, t),
    "logistic": lambda rng, t: rng.logistic(t, 1.0),
    "randint": lambda rng, t: rng.randint(6) * 1.0,
    "randint_of_two": lambda rng, t: rng.randint(-3, 1000) * 1.0,
    "randint_large": lambda rng, t: rng.randint(0, 2**40) * 1.0,
    "randint_32_bits": lambda rng, t: rng.randint(0, 2**32) * 1.0,
    "randint_bytes": lambda rng, t: rng.randint(0, 200, dtype=np.uint8) * 1.0,
    "randint_short": lambda rng, t: rng.randint(-300, 300, dtype=np.int16) * 1.0,
    "randint_coin": lambda rng, t: rng.randint(0, 2, dtype=bool) * 1.0,
    "randn_of_three": lambda rng, t: np.max(rng.randn(3)),
    "rand_of_three": lambda rng, t: np.max(rng.rand(3)),
    "randint_of_five": lambda rng, t: np.sum(rng.randint(0, 9, 5)) * 1.0,
}
# Draws that Python makes, in the same loop as the others.
PYTHONS: dict[str, Callable[[Any, Any], Any]] = {
    "permutation": lambda rng, t: rng.permutation(5)[0] * 1.0,
    "choice": lambda rng, t: rng.choice(5) * 1.0,
    "binomial": lambda rng, t: rng.binomial(10, 0.5) * 1.0,
    "triangular": lambda rng, t: rng.triangular(0.0, 1.0, 2.0),
}


def generator(bits: str, legacy: bool = False, seed: int = 5) -> Any:
    made = getattr(np.random, bits)(seed)
    return np.random.RandomState(made) if legacy else np.random.Generator(made)


def state_of(rng: Any) -> str:
    state = rng.get_state(legacy=False) if hasattr(rng, "get_state") else rng.bit_generator.state
    with np.printoptions(threshold=10_000):
        return repr(state)


def agrees(program: Callable[[Any], Any], make: Callable[[], Any], native: bool = True) -> None:
    """Staged and plain: the same numbers, and the same generator afterwards."""
    plain, staged = make(), make()
    expected = program(plain)
    function = graphify.function(lambda: program(staged))
    for _ in range(2):
        result = function()
        np.testing.assert_array_equal(np.asarray(result), np.asarray(expected), strict=False)
        assert state_of(staged) == state_of(plain)
        expected = program(plain)
    report = str(function.get_concrete_function().report().engine)
    assert ("Python runs nothing" in report) == native, report


def summed(draw: Callable[[Any, Any], Any], turns: int = TURNS) -> Callable[[Any], Any]:
    """A staged loop that draws once a turn, and hands out every number."""

    def program(rng: Any) -> Any:
        found = np.zeros(turns)
        for i in range(turns):
            found[i] = draw(rng, 0.5 + i / 100)
        return found

    return program


@pytest.mark.parametrize("name", NEW)
def test_methods_of_a_generator(name: str) -> None:
    agrees(summed(NEW[name]), lambda: generator("PCG64"))


@pytest.mark.parametrize("name", OLD)
def test_methods_of_a_random_state(name: str) -> None:
    agrees(summed(OLD[name]), lambda: generator("MT19937", legacy=True))


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("legacy", [False, True])
def test_all_bit_generators_with_methods_in_turn(bits: str, legacy: bool) -> None:
    """32-bit draws leave half a word behind: what follows must find it."""
    names = [
        "random",
        "random32",
        "integers",
        "int16",
        "normal",
        "uint32",
        "standard_gamma",
        "coin",
    ]
    draws = [OLD[name] for name in list(OLD)[:18]] if legacy else [NEW[name] for name in names]

    def program(rng: Any) -> Any:
        found = np.zeros((TURNS, len(draws)))
        for i in range(TURNS):
            for k, draw in enumerate(draws):
                found[i, k] = draw(rng, 1.0)
        return found

    agrees(program, lambda: generator(bits, legacy))


@pytest.mark.parametrize("name", PYTHONS)
def test_draws_of_python_between_native_ones(name: str) -> None:
    def program(rng: Any) -> Any:
        total = 0.0
        for _ in range(20):
            total = total + rng.random()
            total = 2 * total + PYTHONS[name](rng, 0.5)
            total = total + rng.integers(9) * rng.random()
        return total

    agrees(program, lambda: generator("SFC64"), native=False)


def test_legacy_normal_numbers_come_in_pairs() -> None:
    """The second of a pair is found by whoever draws next: native code, Python, or NumPy."""

    def program(rng: Any) -> Any:
        total = rng.randn()
        for i in range(7):
            total = total + rng.randn()
            if i % 3 == 0:
                total = total * 2 + rng.standard_gamma(2.0) + rng.normal(1.0, 3.0)
            for _ in range(3):
                total = total + rng.rand() * rng.standard_normal()
        return total - rng.exponential()

    for taken in range(3):
        makers = [generator("MT19937", legacy=True, seed=9) for _ in range(6)]
        for rng in makers:
            rng.randn(taken)
        made = iter(makers)
        agrees(program, lambda made=made: next(made), native=False)


def test_a_seed_drops_the_second_of_a_pair() -> None:
    def program(n: Any) -> Any:
        total = 0.0
        for i in range(n):
            total = total + np.random.randn()
            np.random.seed(i)
            total = 3 * total + np.random.randn()
        return total

    np.random.seed(4)
    expected = program(5)
    np.random.seed(4)
    assert float(graphify.function(program)(np.int64(5))) == expected


# --- control flow ---------------------------------------------------------------------------------


def test_a_while_loop_draws_in_its_test() -> None:
    def program(rng: Any) -> Any:
        count, total = 0, 0.0
        while rng.random() < 0.95:
            count += 1
            if rng.integers(2) == 0:
                total += rng.normal()
            else:
                total -= rng.exponential(2.0)
                if rng.random() < 0.1:
                    continue
            if rng.random() < 0.01:
                break
        return count, total

    for seed in range(20):
        plain, staged = generator("PCG64", seed=seed), generator("PCG64", seed=seed)
        function = graphify.function(lambda rng=staged: program(rng))
        expected, found = program(plain), function()
        assert (int(found[0]), float(found[1])) == expected
        assert state_of(plain) == state_of(staged)


def test_two_generators_in_one_loop_and_one_for_two() -> None:
    bits = np.random.PCG64(3)
    first, second, third = (
        np.random.Generator(bits),
        np.random.RandomState(bits),
        generator("SFC64"),
    )

    def program() -> Any:
        total = 0.0
        for i in range(50):
            total += first.random() * third.normal()
            if i % 3 == 0:
                total -= second.rand()
        return total

    states = bits.state, third.bit_generator.state
    expected = program()
    after = state_of(first), state_of(third)
    bits.state, third.bit_generator.state = states
    assert float(graphify.function(program)()) == expected
    assert (state_of(first), state_of(third)) == after


def test_a_generator_made_in_the_function() -> None:
    def program(seed: Any, n: Any) -> Any:
        rng = np.random.default_rng(seed)
        old = np.random.RandomState(seed)
        total = 0.0
        for _ in range(n):
            total = total + rng.random() - old.random_sample()
        return total

    function = graphify.function(program)
    for seed in (3, 4, 3):
        assert float(function(np.int64(seed), np.int64(30))) == program(seed, 30)
        assert float(function(np.int64(seed), np.int64(0))) == 0.0


def test_a_generator_made_in_every_turn() -> None:
    def program(n: Any) -> Any:
        total = 0.0
        for seed in range(n):
            rng = np.random.default_rng(seed)
            for _ in range(3):
                total = total + rng.random()
        return total

    assert float(graphify.function(program)(np.int64(9))) == program(9)


def test_a_generator_made_on_one_of_two_paths() -> None:
    def program(k: Any) -> Any:
        if k > 0:
            rng = np.random.default_rng(3)
        else:
            rng = np.random.default_rng(4)
        total = 0.0
        for _ in range(5):
            total = total + rng.random()
        return total

    function = graphify.function(program)
    for k in (1, -1, 1):
        assert float(function(np.int64(k))) == program(k)


def test_seeding_in_a_loop() -> None:
    def program(n: Any) -> Any:
        total = 0.0
        for i in range(n):
            np.random.seed(i)
            total = 3 * total + np.random.rand() + np.random.randint(7)
        return total

    assert float(graphify.function(program)(np.int64(9))) == program(9)


def test_the_state_is_the_one_of_the_call() -> None:
    """Another bit generator behind np.random, set after the function was compiled."""
    function = graphify.function(summed(lambda _, t: np.random.rand(), 10))
    kept = np.random.get_bit_generator()
    try:
        for bits in (np.random.PCG64, np.random.Philox):
            np.random.set_bit_generator(bits(3))
            expected = np.random.RandomState(bits(3)).random_sample(10)
            np.testing.assert_array_equal(function(None), expected)
    finally:
        np.random.set_bit_generator(kept)


@pytest.mark.parametrize("n", [0, 1, 5])
def test_arrays_of_any_size(n: int) -> None:
    rng, plain = generator("PCG64"), generator("PCG64")

    def program(rng: Any, x: Any, mean: Any) -> Any:
        for _ in range(3):
            x = x + rng.normal(mean, 2.0, size=x.shape) * rng.random(x.shape[0])
            x = x - rng.integers(0, 1000, x.shape[0])
        return x

    spec = graphify.TensorSpec((None,), np.float64)
    function = graphify.function(lambda x, m: program(rng, x, m))
    concrete = function.get_concrete_function(spec, graphify.TensorSpec((), np.float64))
    expected = program(plain, np.ones(n), 0.5)
    np.testing.assert_array_equal(concrete(np.ones(n), np.float64(0.5)), expected)
    assert state_of(rng) == state_of(plain)


def test_unused_draws_are_drawn() -> None:
    def program(rng: Any) -> Any:
        total = 0.0
        for i in range(20):
            rng.random()
            rng.random(3)
            if i % 2 == 0:
                rng.integers(3)
            total = total + 1.0
        return total

    agrees(program, lambda: generator("PCG64"))


def test_lanes_of_vmap_draw_one_after_the_other() -> None:
    rng, plain = generator("PCG64"), generator("PCG64")

    def program(rng: Any, x: Any) -> Any:
        for _ in range(4):
            x = x + rng.random()
        return x

    xs = np.arange(6.0)
    expected = np.array([program(plain, x) for x in xs])
    mapped = graphify.function(lambda v: graphify.vmap(lambda x: program(rng, x))(v))
    np.testing.assert_array_equal(mapped(xs), expected)
    assert state_of(rng) == state_of(plain)


def test_gradients_through_normal_draws() -> None:
    rng, plain = generator("PCG64"), generator("PCG64")

    def program(mean: Any, deviation: Any) -> Any:
        return rng.normal(mean, deviation) + rng.normal(mean, deviation) * 2

    slopes = graphify.function(graphify.grad(program, argnums=(0, 1)))(1.0, 2.0)
    standard = plain.standard_normal() + 2 * plain.standard_normal()
    np.testing.assert_allclose(slopes, (3.0, standard), rtol=1e-12)
    assert state_of(rng) == state_of(plain)


def test_draws_in_a_loop_are_not_repeated_for_a_derivative() -> None:
    rng = generator("PCG64")

    def program(mean: Any) -> Any:
        total = 0.0
        for _ in range(10):
            total = total + rng.normal(mean, 1.0)
        return total

    with pytest.raises(TransformError, match="its effect cannot be repeated"):
        graphify.function(graphify.grad(program))(1.0)


def test_a_long_program_in_parts() -> None:
    """Machine code cuts long blocks: the lock is found from every part."""

    def program(rng: Any) -> Any:
        total = 0.0
        for i in range(400):  # unrolled: the list makes every turn another
            total = total * 0.5 + rng.random() * [1.0, 2.0][i % 2] - rng.normal(0.0, 1.0 + i)
        for _ in range(10):
            total = total + rng.random()
        return total

    agrees(program, lambda: generator("PCG64"))


# --- errors and locks -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("normal", -1.0),
        ("exponential", -0.0),
        ("gamma", -2.0),
        ("beta", 0.0),
        ("poisson", -1.0),
        ("poisson", np.nan),
        ("poisson", 1e19),
        ("geometric", 1.5),
        ("geometric", 0.0),
        ("uniform", np.inf),
        ("uniform", -3.0),
        ("integers", 0),
        ("integers", -7),
        ("bytes", 300),
    ],
)
def test_what_numpy_refuses(name: str, value: Any) -> None:
    draws: dict[str, Callable[[Any, Any], Any]] = {
        "normal": lambda rng, x: rng.normal(0.0, x),
        "exponential": lambda rng, x: rng.exponential(x),
        "gamma": lambda rng, x: rng.gamma(x, 1.0),
        "beta": lambda rng, x: rng.beta(1.0, x),
        "poisson": lambda rng, x: rng.poisson(x) * 1.0,
        "geometric": lambda rng, x: rng.geometric(x) * 1.0,
        "uniform": lambda rng, x: rng.uniform(0.0, x),
        "integers": lambda rng, x: rng.integers(x) * 1.0,
        "bytes": lambda rng, x: rng.integers(0, x, dtype=np.uint8) * 1.0,
    }
    rng, plain = generator("PCG64"), generator("PCG64")

    def program(rng: Any, good: Any, x: Any) -> Any:
        total = 0.0
        for i in range(5):
            total = total + rng.random() + draws[name](rng, x if i == 3 else good)
        return total

    good = 1 if isinstance(value, int) else 0.5
    with pytest.raises((ValueError, OverflowError)) as expected:
        program(plain, good, value)
    function = graphify.function(lambda good, x: program(rng, good, x))
    kind = np.int64 if isinstance(value, int) else np.float64
    with pytest.raises(expected.type, match=str(expected.value).partition("(")[0]):
        function(kind(good), kind(value))
    assert state_of(rng) == state_of(plain)
    assert is_free(rng)


@pytest.mark.parametrize("value", [np.nan, -0.0, 0.0])
def test_parameters_at_the_edge_that_numpy_takes(value: float) -> None:
    draws = {
        "normal": lambda rng, x: rng.normal(0.0, abs(x)),
        "mean": lambda rng, x: rng.normal(x, 1.0),
        "exponential": lambda rng, x: rng.exponential(abs(x)),
        "laplace": lambda rng, x: rng.laplace(x, 1.0),
    }
    for draw in draws.values():
        plain, rng = generator("PCG64"), generator("PCG64")
        expected = [draw(plain, value) for _ in range(4)]
        staged = graphify.function(
            lambda x, draw=draw, rng=rng: summed(lambda r, _: draw(r, x), 4)(rng)
        )
        np.testing.assert_array_equal(staged(np.float64(value)), expected)


def is_free(rng: Any) -> bool:
    """Whether another thread can have the generator's lock."""
    found: list[bool] = []

    def take() -> None:
        lock = rng.bit_generator.lock
        found.append(lock.acquire(timeout=5))
        if found[-1]:
            lock.release()

    thread = threading.Thread(target=take)
    thread.start()
    thread.join()
    return found[0]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers that send signals")
@pytest.mark.parametrize("size", [1, 1 << 16], ids=["keeps the GIL", "releases it"])
def test_ctrl_c_gives_the_lock_back(size: int) -> None:
    rng = generator("PCG64")

    def program(x: Any, n: Any) -> Any:
        for _ in range(n):
            x[0] += rng.random()
        return x

    function = graphify.function(program)
    function(np.zeros(size), np.int64(3))
    previous = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(KeyboardInterrupt):
            function(np.zeros(size), np.int64(1 << 60))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    assert is_free(rng)


def test_a_storm_of_signals_leaves_no_lock_taken() -> None:
    """A handler may raise between any two lines of Python: those that lock are Python."""
    if not hasattr(signal, "setitimer"):
        pytest.skip("needs timers that send signals")
    rng, other = generator("PCG64"), generator("Philox")

    def program(n: Any) -> Any:
        total = 0.0
        for _ in range(n):
            total = total + rng.random() * other.random()
        return total

    function = graphify.function(program)
    function(np.int64(3))
    previous = signal.signal(signal.SIGALRM, signal.default_int_handler)
    struck = 0
    try:
        for turn in range(400):
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.00001 * (1 + turn % 20))
                for _ in range(40):
                    function(np.int64(1))
                signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:
                struck += 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    assert struck
    assert is_free(rng) and is_free(other)


def test_failures_give_the_lock_back() -> None:
    rng = generator("PCG64")

    def program(x: Any) -> Any:
        total = 0.0
        for i in range(10):
            total = total + rng.random()
            assert x[i] > 0, "not positive"
        return total

    function = graphify.function(program)
    x = np.ones(10)
    function(x)
    assert is_free(rng)
    x[6] = -1.0
    with pytest.raises(AssertionError, match="not positive"):
        function(x)
    assert is_free(rng)
    with pytest.raises(IndexError):
        function(np.ones(5))
    assert is_free(rng)


def test_python_finds_the_lock_free(monkeypatch: pytest.MonkeyPatch) -> None:
    """What runs between draws may wait for a thread that draws from the same generator."""
    rng, plain = generator("PCG64"), generator("PCG64")
    found: list[bool] = []

    class Output(io.StringIO):
        def write(self, text: str) -> int:
            found.append(is_free(rng))
            return super().write(text)

    def program(rng: Any, n: Any) -> Any:
        total = 0.0
        for _ in range(n):
            total = total + rng.random()
            print(total)
            total = total + rng.random()
        return total

    expected = program(plain, 3)
    monkeypatch.setattr("sys.stdout", Output())
    assert float(graphify.function(lambda n: program(rng, n))(np.int64(3))) == expected
    assert found and all(found)


def test_threads_share_a_generator() -> None:
    """Every number is drawn once, by somebody; nobody waits for two generators in a circle."""
    first, second, plain = generator("PCG64"), generator("Philox"), generator("PCG64")

    def program(a: Any, b: Any) -> Any:
        found = np.zeros(1000)
        for i in range(1000):
            found[i] = a.random() + 0 * b.random()
        return found

    functions = [
        graphify.function(lambda: program(first, second)),
        graphify.function(lambda: program(first, generator("PCG64", seed=8))),
        graphify.function(lambda: program(first, second)),
    ]
    results: list[Any] = []

    def work(function: Any) -> None:
        for _ in range(20):
            results.append(np.asarray(function()))

    def with_numpy() -> None:
        for _ in range(20):
            results.append(first.random(1000))

    targets = [(work, (f,)) for f in functions] + [(with_numpy, ())]
    threads = [threading.Thread(target=t, args=a) for t, a in targets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
        assert not thread.is_alive()
    everything = np.sort(np.concatenate(results))
    np.testing.assert_array_equal(everything, np.sort(plain.random(80 * 1000)))
