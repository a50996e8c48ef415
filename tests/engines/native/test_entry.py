"""Calling machine code: arrays to words and back, failures, callbacks, signals, and fast calls.

The compiled graphs here are written by hand after the ABI, so nothing else of the engine is needed.
"""

import ctypes
import gc
import signal
import threading
import time

import numpy as np
import pytest

from graphify.engines.native.entry import capi
from graphify.engines.native.entry.host import HostSite
from graphify.engines.native.entry.python_call import Runner
from graphify.engines.native.entry.sites import Site
from graphify.engines.native.llvm import F64, I32, I64, PTR, Module, V
from graphify.errors import ShapeError
from graphify.ir.sizes import SizeVar, size
from graphify.ir.types import Spec
from tests.engines.native.handmade import WORDS, ZERO, affine, failing, put, runner, word

FLOAT = np.dtype(np.float64)
N, M = size(SizeVar("n")), size(SizeVar("m"))


@pytest.fixture(scope="module")
def fixed() -> Runner:
    return runner(affine(False), [Spec((10,), FLOAT)], [Spec((10,), FLOAT)])


@pytest.fixture(scope="module")
def sized() -> Runner:
    return runner(affine(True), [Spec((N,), FLOAT)], [Spec((N,), FLOAT)])


# --- arrays ---------------------------------------------------------------------------------------


def test_fixed_sizes(fixed):
    x = np.arange(10.0)
    [y] = fixed([x])
    np.testing.assert_array_equal(y, 2 * x + 1)
    assert y.flags.owndata and y.flags.writeable


@pytest.mark.parametrize("n", [0, 1, 7, 1 << 18])
def test_sizes_from_arguments(sized, n):
    x = np.arange(float(n))
    [y] = sized([x])
    np.testing.assert_array_equal(y, 2 * x + 1)


@pytest.mark.parametrize(
    "x",
    [
        np.arange(20.0)[::2],
        np.arange(10.0)[::-1],
        np.broadcast_to(3.0, 10),
        np.frombuffer(b"x" + np.arange(10.0).tobytes(), np.uint8)[1:].view(np.float64),
        np.zeros(10, [("a", np.int8), ("b", np.float64)])["b"] + 0,
        np.zeros(
            10, np.dtype({"names": ["b"], "formats": ["<f8"], "offsets": [3], "itemsize": 12})
        )["b"],
    ],
    ids=["strided", "reversed", "broadcast", "unaligned", "copied", "odd steps"],
)
def test_any_memory_order(fixed, x):
    np.testing.assert_array_equal(fixed([x])[0], 2 * x + 1)


def test_parameters_in_c_order_are_copied():
    module = Module("m")
    f = module.function("run", I32, WORDS)
    x, y = word(f, "inputs", 0, PTR), word(f, "outputs", 0, PTR)
    with f.counting(ZERO, V(I64, "6")) as i:
        f.store(f.load(F64, f.at(x, F64, i)), f.at(y, F64, i))
    f.ret(V(I32, "0"))
    copy = runner(module.text(), [Spec((2, 3), FLOAT)], [Spec((2, 3), FLOAT)], in_order={0})
    x = np.arange(6.0).reshape(3, 2).T
    np.testing.assert_array_equal(copy([x])[0], x)


def test_large_results_lie_in_recycled_memory(sized):
    x = np.arange(float(1 << 20))
    [y] = sized([x])
    where = y.ctypes.data
    assert where % 64 == 0 and y.base is not None and y.flags.writeable
    part = y[5:]
    del y
    gc.collect()
    assert sized([x])[0].ctypes.data != where  # still in use by its view
    np.testing.assert_array_equal(part, 2 * x[5:] + 1)
    del part
    gc.collect()
    assert sized([x])[0].ctypes.data == where


def test_results_the_graph_allocates():
    module = Module("positive")
    f = module.function("run", I32, WORDS)
    x, n = word(f, "inputs", 0, PTR), word(f, "inputs", 1)
    y = f.call("graphify_allocate", PTR, [f.mul(n, V(I64, "8"))])
    put(f, 0, y)
    put(f, 1, ZERO)
    with f.counting(ZERO, n) as i:
        value = f.load(F64, f.at(x, F64, i))
        with f.when(f.fcmp("ogt", value, f.const(F64, 0.0))):
            count = word(f, "outputs", 1)
            f.store(value, f.at(y, F64, count))
            put(f, 1, f.add(count, V(I64, "1")))
    f.ret(V(I32, "0"))
    text = module.text() + "define i32 @shapes(ptr %i, ptr %o) {\n  ret i32 0\n}\n"
    positive = runner(text, [Spec((N,), FLOAT)], [Spec((M,), FLOAT)])
    for x in (np.array([1.0, -2, 3]), np.array([]), np.full(1 << 18, 2.0)):
        np.testing.assert_array_equal(positive([x])[0], x[x > 0])


@pytest.mark.parametrize(
    ("args", "error", "message"),
    [
        ([], TypeError, "expected 1 arrays, one per parameter, got 0"),
        ([np.zeros(10, np.float32)], TypeError, "argument 0: expected dtype float64, got float32"),
        ([np.zeros(9)], ValueError, r"argument 0: expected shape f64\[10\], got \(9,\)"),
        ([np.zeros((10, 1))], ValueError, "argument 0: expected shape"),
    ],
)
def test_arrays_that_do_not_fit(fixed, args, error, message):
    with pytest.raises(error, match=message):
        fixed(args)


# --- failures -------------------------------------------------------------------------------------


class HomeMade(Exception):
    def __init__(self, message):
        super().__init__(message)


@pytest.mark.parametrize(
    ("site", "message"),
    [
        (Site(IndexError, "index {0} is out of bounds for size {1}", None, "iu"), "index -3 .* 7"),
        (Site(ShapeError, "got {0}", None, "i", remedy="do"), "got -3\nremedy: do"),
        (Site(HomeMade, "{2}: {3}", None, "iufb"), "0.5: True"),
        (Site(ZeroDivisionError, "division by {zero}"), "division by {zero}"),
    ],
)
def test_a_failure_is_the_exception_of_its_site(site, message):
    values = V(I64, "-3"), V(I64, "7"), V(F64, "0x3FE0000000000000"), V(I64, "1")
    run = runner(failing(2, *values), [], [], [Site(KeyError, "not this"), site])
    with pytest.raises(site.kind, match=message):
        run([])


def test_a_failure_frees_what_the_graph_allocated():
    module = Module("m")
    f = module.function("run", I32, WORDS)
    put(f, 0, f.call("graphify_allocate", PTR, [V(I64, str(8 << 20))]))
    f.ret(V(I32, "1"))
    text = module.text() + "define i32 @shapes(ptr %i, ptr %o) {\n  ret i32 0\n}\n"
    run = runner(text, [], [Spec((N,), FLOAT)], [Site(ValueError, "no")])
    with pytest.raises(ValueError, match="no"):
        run([])
    from graphify.engines.native import memory

    block = memory.allocate(8 << 20)
    with pytest.raises(ValueError, match="no"):
        run([])
    again = memory.allocate(8 << 20)  # the one that the call gave back
    memory.free(block)
    memory.free(again)


# --- callbacks ------------------------------------------------------------------------------------


def calling(site: HostSite, given: bool) -> str:
    """y = site(x) for f64[4]; `given`: y's memory is given to the site."""
    module = Module("calling")
    f = module.function("run", I32, WORDS)
    words = f.alloca(I64, 5)
    for index in range(3):
        f.store(word(f, "inputs", index), f.at(words, I64, index))
    f.store(word(f, "outputs", 0) if given else ZERO, f.at(words, I64, 3))
    f.store(V(I64, "4"), f.at(words, I64, 4))
    status = f.call("graphify_host", I32, [V(I64, str(site.number)), words])
    if not given:
        put(f, 0, f.load(I64, f.at(words, I64, 3)))
        put(f, 1, f.load(I64, f.at(words, I64, 4)))
    f.ret(status)
    return module.text()


def hosting(function, given=True) -> Runner:
    spec = Spec((4,), FLOAT)
    site = HostSite(function, [spec], [spec])
    if given:
        return runner(calling(site, True), [spec], [spec], hosts=[site])
    text = calling(site, False) + "define i32 @shapes(ptr %i, ptr %o) {\n  ret i32 0\n}\n"
    return runner(text, [spec], [Spec((M,), FLOAT)], hosts=[site])


@pytest.mark.parametrize("given", [True, False])
def test_graphs_call_python(given):
    x = np.arange(4.0)
    run = hosting(lambda args: [np.sort(args[0])[::-1]], given)
    np.testing.assert_array_equal(run([x])[0], x[::-1])
    np.testing.assert_array_equal(run([x[::-1]])[0], x[::-1])


def test_an_exception_in_python_comes_through():
    def fail(args):
        raise HomeMade("from inside")

    with pytest.raises(HomeMade, match="from inside"):
        hosting(fail)([np.zeros(4)])
    with pytest.raises(TypeError, match=r"expected a result f64\[4\], got float32"):
        hosting(lambda args: [args[0].astype(np.float32)])([np.zeros(4)])
    with pytest.raises(ValueError, match=r"expected a result of shape \(4,\), got \(3,\)"):
        hosting(lambda args: [args[0][1:]])([np.zeros(4)])
    assert not ctypes.pythonapi.PyErr_Occurred()


def test_calls_nest():
    inner = hosting(lambda args: [args[0] + 1])
    outer = hosting(lambda args: inner([args[0] * 2]))
    np.testing.assert_array_equal(outer([np.arange(4.0)])[0], 2 * np.arange(4.0) + 1)


def test_threads_call_at_once(sized):
    echo = hosting(lambda args: [args[0] + 1])
    wrong = []

    def work(seed: int) -> None:
        x = np.full(100_000, float(seed))
        for _ in range(20):
            wrong.extend(sized([x])[0] != 2 * x + 1)
            wrong.extend(echo([x[:4]])[0] != x[:4] + 1)

    threads = [threading.Thread(target=work, args=[seed]) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not any(wrong)


# --- long runs ------------------------------------------------------------------------------------


def endless() -> str:
    """Loops until the int64 it is given is not 0, or something comes up."""
    module = Module("endless")
    f = module.function("run", I32, WORDS)
    x = word(f, "inputs", 0, PTR)
    head, check, done = f.label("head"), f.label("check"), f.label("done")
    f.start(head)
    stop = f.op(I64, f"load volatile i64, {x}")
    f.br_if(f.icmp("ne", stop, ZERO), done, check)
    f.start(check)
    status = f.call("graphify_poll", I32, [])
    with f.when(f.icmp("ne", status, V(I32, "0"))):
        f.ret(V(I32, "-1"))
    f.br(head)
    f.start(done)
    f.ret(V(I32, "0"))
    return module.text()


@pytest.mark.parametrize("big", [False, True], ids=["keeps the GIL", "releases it"])
def test_other_threads_run_during_a_long_run(big):
    flags = np.zeros(1 << 16 if big else 1, np.int64)
    run = runner(endless(), [Spec(flags.shape, flags.dtype)], [])

    def stop() -> None:
        time.sleep(0.05)
        flags[0] = 1

    thread = threading.Thread(target=stop)
    thread.start()
    run([flags])  # ends only if the other thread gets its turn
    thread.join()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers that send signals")
@pytest.mark.parametrize("big", [False, True], ids=["keeps the GIL", "releases it"])
def test_a_signal_ends_a_long_run(big):
    flags = np.zeros(1 << 16 if big else 1, np.int64)
    run = runner(endless(), [Spec(flags.shape, flags.dtype)], [])
    previous = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    began = time.perf_counter()
    try:
        with pytest.raises(KeyboardInterrupt):
            run([flags])
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    assert time.perf_counter() - began < 1


def test_the_layouts_are_understood():
    if capi.is_cpython():
        assert capi.understood()
