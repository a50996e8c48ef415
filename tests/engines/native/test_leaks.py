"""Nothing is kept for ever: memory of calls, of failed calls, of code; and what threads, forks,
signals and calls from inside calls do to it.

Each test runs some hundreds of times what `make test-all` runs many thousand times.
"""

import contextlib
import gc
import io
import os
import signal
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphify
from graphify.engines.native import jit, memory

MIB = 1 << 20
LARGE = 1 << 17  # float64 numbers: a MiB
X = np.random.default_rng(7).normal(size=LARGE)

needs_statm = pytest.mark.skipif(
    not Path("/proc/self/statm").exists(), reason="reads Linux's own figures"
)
native = graphify.function(engine="native")


def resident() -> int:
    """Bytes of memory that the process has."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def grows_by(work: Callable[[], Any], times: int) -> int:
    """The bytes by which the process grows, after it has got used to the work."""
    for _ in range(30):
        work()
    before = resident()
    for _ in range(times):
        work()
    return resident() - before


# --- calls ----------------------------------------------------------------------------------------


@native
def scaled(x):
    return np.exp(x) * 2 + 1


@native
def places(x):
    return np.nonzero(x > 0)[0], x[x > 0] * 2


@native
def rotated(x, n):
    while n > 0:
        x = np.concatenate([x[1:], x[:1]])
        n = n - 1
    return x


@native
def fails_late(x, i):
    y = np.sort(x) * 2
    return (y[::-1] + y)[i] + np.nonzero(y > 0)[0].sum()


@native
def fails_in_threads(x, places):
    y = np.exp(x)
    return y[places] + np.sort(y)


@native
def divides(x, n, m):
    return np.sort(x) * (n // m)


@native
def prints(x):
    y = np.sort(x)
    print("sum", y.sum())
    return y * 2


@native
def needs_much(x, n):
    y = np.sort(x)
    return np.sort(np.broadcast_to(y[:, None], (len(y), n)), axis=0)[0] + y[0]


class Refusing(io.StringIO):
    def write(self, text: str) -> int:
        raise OSError("the disk is full")


class Calling(io.StringIO):
    """Runs other compiled functions whenever something is printed."""

    def write(self, text: str) -> int:
        assert float(scaled(np.zeros(3))[0]) == 3.0
        assert len(places(X[:1000])[0]) == (X[:1000] > 0).sum()
        return super().write(text)


def fails(error: type[Exception], work: Callable[[], Any]) -> Callable[[], None]:
    def run() -> None:
        with pytest.raises(error):
            work()

    return run


def printing(stream: Callable[[], io.StringIO]) -> Callable[[], None]:
    def run() -> None:
        with contextlib.redirect_stdout(stream()):
            prints(X)

    return run


FAR = np.int64(1 << 40)
WRONG = np.arange(LARGE)
WRONG[LARGE // 3] = LARGE
SMALL_CASES = {
    "a few numbers": lambda: scaled(X[:10]),
    "results of unknown length": lambda: places(X[:1000]),
    "handles": lambda: rotated(X[:100], np.int64(5)),
}
LARGE_CASES = {
    "large results": lambda: scaled(X),
    "large results of unknown length": lambda: places(X),
    "large handles": lambda: rotated(X, np.int64(3)),
    "a late failure": fails(IndexError, lambda: fails_late(X, FAR)),
    "a failure in threads": fails(IndexError, lambda: fails_in_threads(X, WRONG)),
    "no memory": fails(MemoryError, lambda: needs_much(X, FAR)),
    "Python fails": fails(OSError, printing(Refusing)),
    "Python calls compiled code": printing(Calling),
}


@needs_statm
@pytest.mark.parametrize("case", SMALL_CASES)
def test_calls(case: str) -> None:
    assert grows_by(SMALL_CASES[case], 2000) < MIB  # one forgotten object of each call: more


@needs_statm
@pytest.mark.parametrize("case", LARGE_CASES)
def test_large_calls(case: str) -> None:
    assert grows_by(LARGE_CASES[case], 60) < 20 * MIB  # one forgotten array of each call: 60


@needs_statm
@pytest.mark.slow
@pytest.mark.parametrize("case", SMALL_CASES)
def test_very_many_calls(case: str) -> None:
    assert grows_by(SMALL_CASES[case], 100_000) < 2 * MIB


@needs_statm
@pytest.mark.slow
@pytest.mark.parametrize("case", LARGE_CASES)
def test_very_many_large_calls(case: str) -> None:
    assert grows_by(LARGE_CASES[case], 1000) < 20 * MIB


# --- code -----------------------------------------------------------------------------------------


def compile_one(number: int) -> weakref.ref[jit.Code]:
    """Trace, compile and run a function that is then dropped."""

    def shifted(x):
        return np.sqrt(x) + number

    function = graphify.function(shifted, engine="native")
    assert float(function(np.ones(3))[0]) == number + 1
    return weakref.ref(function.concrete_functions[0]._executable.lowered().code)


def test_code_goes_with_its_function() -> None:
    codes = [compile_one(number) for number in range(20)]
    gc.collect()
    assert not any(code() for code in codes)


def test_code_of_retraces_stays_as_long_as_the_function() -> None:
    @graphify.function(engine="native", dynamic=False)
    def doubled(x):
        return x * 2

    for n in range(1, 9):
        doubled(np.ones(n))
    codes = [weakref.ref(c._executable.lowered().code) for c in doubled.concrete_functions]
    gc.collect()
    assert len(codes) == 8 and all(code() for code in codes)
    del doubled
    gc.collect()
    assert not any(code() for code in codes)


def compilations_grow_by(times: int) -> int:
    numbers = iter(range(10**9))
    with graphify.config(cache=False):
        return grows_by(lambda: compile_one(next(numbers) % 1000), times)


@needs_statm
def test_compilations() -> None:
    assert compilations_grow_by(100) < 8 * MIB


@needs_statm
@pytest.mark.slow
def test_very_many_compilations() -> None:
    compilations_grow_by(1000)  # linkers come and go by the hundred
    assert compilations_grow_by(9000) < 32 * MIB


# --- threads and processes ------------------------------------------------------------------------


def at_once(*works: Callable[[], Any], seconds: float = 0.0) -> None:
    """Run all in threads of their own; the first error is raised here."""
    errors: list[BaseException] = []

    def run(work: Callable[[], Any]) -> None:
        try:
            work()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=[work]) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def test_threads_call_and_compile_at_once() -> None:
    def work(number: int) -> Callable[[], None]:
        def run() -> None:
            for turn in range(4):
                compile_one(number)
                n = 1000 * number + 50_000 * turn + 10
                np.testing.assert_allclose(scaled(X[:n]).numpy(), np.exp(X[:n]) * 2 + 1)
                assert len(places(X[:n])[0]) == (X[:n] > 0).sum()
                with pytest.raises(IndexError):
                    fails_late(X[:n], FAR)
                np.testing.assert_array_equal(rotated(X[:n], np.int64(2)), np.roll(X[:n], -2))

        return run

    at_once(*(work(number) for number in range(6)))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_fork_during_work() -> None:
    over = threading.Event()

    def work() -> None:
        while not over.is_set():
            scaled(X), places(X), fails_in_threads(X, WRONG % LARGE)

    def fork() -> None:
        try:
            for _ in range(4):
                time.sleep(0.05)
                child = os.fork()
                if not child:
                    try:
                        assert len(places(X)[0]) == (X > 0).sum()
                        scaled(X), compile_one(77)
                        os._exit(0)
                    finally:
                        os._exit(1)
                assert os.waitpid(child, 0)[1] == 0
        finally:
            over.set()

    at_once(work, work, fork)


# --- Ctrl-C ---------------------------------------------------------------------------------------


@native
def counts(n):
    i = 0
    while i < n:
        i += 1
    return i


@native
def sums(n, s):
    for i in range(n):
        s = s * 0.999 + i
    return s


@native
def steps(x, n):
    for i in range(n):
        x = x * 0.5 + x[::-1]
    return x


@native
def squares(a, n):
    for i in range(n):
        a = a @ a * 1e-3
    return a


@native
def product(a):
    return a @ a


@native
def pairs(x):
    return np.exp(np.sin(x[:, None] * x[None, :])).sum(axis=1)


@native
def in_order(x):
    return np.sort(x)


@native
def order(x):
    return np.argsort(x)


@native
def lines_in_order(x):
    return np.sort(x[: len(x) // 64 * 64].reshape(-1, 64))


@native
def spectra(a):
    return np.linalg.eigvalsh(a)


MANY = np.int64(1 << 40)
SQUARE = np.ones((4000, 4000))
NOISE = np.random.default_rng(0).random(1 << 24)
STACK = np.broadcast_to(SQUARE[:300, :300], (400, 300, 300))
INTERRUPTED: dict[str, tuple[Any, tuple[Any, ...], tuple[Any, ...]]] = {
    "while": (counts, (np.int64(3),), (MANY,)),
    "for": (sums, (np.int64(3), 1.0), (MANY, 1.0)),
    "a loop of arrays": (steps, (X[:10], np.int64(3)), (X[:10], MANY)),
    "a loop of products": (squares, (SQUARE[:9, :9], np.int64(3)), (SQUARE[:300, :300], MANY)),
    "one product": (product, (SQUARE[:9, :9],), (SQUARE,)),
    "a parallel loop": (pairs, (X[:10],), (X[:60_000],)),
    "a sort": (in_order, (NOISE[:1000],), (NOISE,)),
    "an argsort": (order, (NOISE[:1000],), (NOISE[: 1 << 23],)),
    "sorts of short lines": (lines_in_order, (NOISE[:1000],), (NOISE,)),
    "a stack of decompositions": (spectra, (STACK[:3, :9, :9],), (STACK,)),
}


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="needs signals to threads")
@pytest.mark.parametrize("case", INTERRUPTED)
def test_ctrl_c(case: str) -> None:
    function, few, many = INTERRUPTED[case]
    function(*few)  # compiled
    function(*(a[(slice(-1),) * a.ndim] if getattr(a, "ndim", 0) else a for a in few))
    sent = [0.0]
    main = threading.get_ident()

    def interrupt() -> None:
        time.sleep(0.15)
        sent[0] = time.perf_counter()
        signal.pthread_kill(main, signal.SIGINT)

    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    thread = threading.Thread(target=interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            thread.start()
            function(*many)
            thread.join()  # a machine of great speed: the signal comes here
        assert time.perf_counter() - sent[0] < 2  # a second, on a machine with nothing else to do
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # it may still come, if something else failed
        thread.join()
        signal.signal(signal.SIGINT, previous)
    function(*few)  # it works as before


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers that send signals")
def test_signals_while_other_code_runs() -> None:
    """Handlers run in the middle of compiled code, with and without the GIL, and may call it."""
    seen = []

    def handler(number: int, frame: Any) -> None:
        seen.append(float(scaled(np.zeros(3))[0]))

    for n in (10, 11):  # all is compiled: the handler must not be called while it runs
        scaled(np.zeros(n)), rotated(X[:n], np.int64(3)), sums(np.int64(n), 1.0)
    previous = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
    try:
        end = time.perf_counter() + 0.6
        while time.perf_counter() < end:
            np.testing.assert_array_equal(rotated(X, np.int64(20)), np.roll(X, -20))
            sums(np.int64(3_000_000), 1.0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    assert seen and set(seen) == {3.0}


# --- large ----------------------------------------------------------------------------------------


@native
def four_places(x, i):
    return x[i], x[-1], x[2**31 : 2**31 + 3] * 2, x[:: 2**30]


@native
def measures(x):
    return x.sum(), x.max(), x.argmax()


@native
def gathered(x, at):
    return x[at]


@pytest.mark.slow
def test_places_beyond_two_to_the_31() -> None:
    x = np.zeros((1 << 31) + 1000, np.int8)  # untouched pages take no memory
    x[7], x[1 << 31], x[-1] = 1, 3, 5
    one, last, some, few = four_places(x, np.int64(1 << 31))
    assert (int(one), int(last)) == (3, 5)
    assert some.numpy().tolist() == [6, 0, 0] and few.numpy().tolist() == [0, 0, 3]
    assert [int(m) for m in measures(x)] == [9, 5, len(x) - 1]
    assert gathered(x, np.array([7, 1 << 31, len(x) - 1, -1])).numpy().tolist() == [1, 3, 5, 5]


@pytest.mark.parametrize("n", [1 << 32, (1 << 32) + 1, 1 << 41, (1 << 61) + 1])
def test_sizes_that_nobody_has_memory_for(n: int) -> None:
    @native
    def square(x, n):
        return np.sort(np.broadcast_to(x[:, None], (len(x), n)), axis=0)[0, 0], np.zeros((n, n))

    for few in (2, 3):
        square(np.ones(few), np.int64(few))
    with pytest.raises((MemoryError, ValueError)):
        square(np.ones(1 << 20), np.int64(n))


# --- failed calls free each block once ------------------------------------------------------------


STACK = graphify.TensorSpec((None, 3, 3), np.float64)


@graphify.function(engine="native", input_signature=[STACK, STACK])
def solutions(a, b):  # how long the result is, is known only after the run has begun
    return np.linalg.solve(a, b)


def blocks_of(size: int, count: int) -> list[int]:
    """The addresses of so many blocks that are in use at the same time."""
    blocks = [memory.allocate(size) for _ in range(count)]
    for block in blocks:
        memory.free(block)
    return blocks


@pytest.mark.parametrize("route", ["machine code", "Python"])
def test_results_of_a_failed_run_are_freed_once(route: str) -> None:
    """A block freed twice would be given out twice: two arrays in one place."""
    singular = np.zeros((5, 3, 3))
    call: Callable[..., Any] = solutions
    if route == "Python":
        call = solutions.get_concrete_function()
    for _ in range(3):
        with pytest.raises(np.linalg.LinAlgError):
            call(singular, singular)
        assert len(set(blocks_of(singular.nbytes, 5))) == 5
