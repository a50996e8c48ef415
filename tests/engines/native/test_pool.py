"""The thread pool: every item exactly once, whoever calls, also after a fork."""

import ctypes
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from graphify.config import config
from graphify.engines.native import jit, library, pool
from graphify.engines.native.llvm import I64, PTR, VOID, Module, V
from graphify.engines.native.target import host

SIGNATURE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)


def increment_module() -> Module:
    """increment(data, begin, end) adds one to each; nested(data, ...) does so through the pool."""
    made = Module("increment")
    f = made.function("increment", VOID, [(PTR, "data"), (I64, "begin"), (I64, "end")])
    with f.counting(f.args["begin"], f.args["end"]) as i:
        at = f.at(f.args["data"], I64, i)
        f.store(f.add(f.load(I64, at), V(I64, "1")), at)
    f.ret()
    f = made.function("nested", VOID, [(PTR, "data"), (I64, "begin"), (I64, "end")])
    with f.counting(f.args["begin"], f.args["end"]) as i:
        row = f.at(f.args["data"], I64, f.mul(i, V(I64, "50")))
        args = [V(PTR, "@increment"), row, V(I64, "50"), V(I64, "1")]
        f.call("graphify_parallel", VOID, args)
    f.ret()
    return made


@pytest.fixture(scope="module")
def work():
    return jit.compile(increment_module().text(), ["increment", "nested"])


@pytest.fixture(scope="module")
def parallel():
    return SIGNATURE(library.need("graphify_parallel"))


@pytest.fixture(autouse=True, params=[2, 5])
def threads(request):
    """More threads than there may be CPUs: whatever the interleaving, results are the same."""
    config.set_num_threads(request.param)
    yield request.param
    config.set_num_threads(0)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 64, 1000])
@pytest.mark.parametrize("grain", [0, 1, 3, 10_000])
def test_each_item_once(parallel, work, count, grain):
    data = np.zeros(count + 2, np.int64)
    parallel(work.address("increment"), data[1:].ctypes.data, count, grain)
    assert data[1:-1].tolist() == [1] * count
    assert data[0] == data[-1] == 0


def test_many_small_jobs(parallel, work):
    data = np.zeros(64, np.int64)
    address = work.address("increment")
    for _ in range(20_000):
        parallel(address, data.ctypes.data, 64, 1)
    assert data.tolist() == [20_000] * 64


def test_workers_that_slept(parallel, work):
    data = np.zeros(64, np.int64)
    for _ in range(20):
        time.sleep(0.003)
        parallel(work.address("increment"), data.ctypes.data, 64, 1)
    assert data.tolist() == [20] * 64


def test_jobs_inside_jobs(parallel, work):
    data = np.zeros((40, 50), np.int64)
    for _ in range(200):
        parallel(work.address("nested"), data.ctypes.data, 40, 1)
    assert np.all(data == 200)


def test_callers_side_by_side(parallel, work):
    data = np.zeros((4, 300), np.int64)

    def call(row):
        for _ in range(2000):
            parallel(work.address("increment"), row.ctypes.data, 300, 1)

    callers = [threading.Thread(target=call, args=(row,)) for row in data]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert np.all(data == 2000)


def test_several_threads_take_part(parallel, threads):
    seen = set()

    def note(context, begin, end):
        seen.add(threading.get_ident())
        time.sleep(0.002)

    def work():
        parallel(ctypes.cast(CALLBACK(note), ctypes.c_void_p), None, 4 * threads, 1)

    work()  # in which workers that were on their way when there were more may still take part
    seen.clear()
    for _ in range(20):
        work()
        if len(seen) == threads:
            break
    assert 2 <= len(seen) <= threads


def test_fewer_threads(parallel):
    config.set_num_threads(1)
    seen = set()
    note = CALLBACK(lambda context, begin, end: seen.add((begin, end, threading.get_ident())))
    parallel(ctypes.cast(note, ctypes.c_void_p), None, 100, 1)
    assert seen == {(0, 100, threading.get_ident())}


@pytest.mark.parametrize("count", [-1, 2.5])
def test_impossible_numbers_of_threads(count):
    with pytest.raises((ValueError, TypeError), match="num_threads: expected"):
        config.set_num_threads(count)


def test_the_number_is_of_the_process():
    with pytest.raises(ValueError, match="set_num_threads"), config(num_threads=2):
        pass


# --- forks ----------------------------------------------------------------------------------------

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
quiet_fork = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


def child_works(parallel, work):
    """Whether a job succeeds in a child made now."""
    child = os.fork()
    if child == 0:
        data = np.zeros(1000, np.int64)
        for _ in range(100):
            parallel(work.address("increment"), data.ctypes.data, 1000, 1)
        os._exit(0 if np.all(data == 100) else 1)
    for _ in range(2000):
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status == 0
        time.sleep(0.01)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return False


@needs_fork
@quiet_fork
def test_fork_after_jobs(parallel, work):
    test_many_small_jobs(parallel, work)
    assert all(child_works(parallel, work) for _ in range(5))
    test_many_small_jobs(parallel, work)


@needs_fork
@quiet_fork
def test_fork_while_a_job_runs(parallel, work):
    data = np.zeros(100_000, np.int64)
    stop = threading.Event()

    def keep_busy():
        while not stop.is_set():
            parallel(work.address("increment"), data.ctypes.data, len(data), 100)

    busy = threading.Thread(target=keep_busy)
    busy.start()
    try:
        assert all(child_works(parallel, work) for _ in range(10))
    finally:
        stop.set()
        busy.join()
    assert len(set(data.tolist())) == 1


# --- processes of their own ----------------------------------------------------------------------

PROGRAM = """
import ctypes
from graphify.engines.native import library, pool
parallel = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)(
    library.need("graphify_parallel"))
pieces = []
note = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)(
    lambda context, begin, end: pieces.append((begin, end)))
parallel(ctypes.cast(note, ctypes.c_void_p), None, 100, 1)
print(len(pieces))
"""


def run(**environment):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def test_the_environment_says_how_many():
    assert run(GRAPHIFY_NUM_THREADS="3") == 20
    assert run(GRAPHIFY_NUM_THREADS="1") == 1
    assert run(OMP_NUM_THREADS="1") == 1  # what a worker process of joblib or Dask sees


# --- other systems --------------------------------------------------------------------------------


def test_condition_variables(work):
    """What systems without futex use, here where it can be run."""
    here = pool.system(host())
    if here.wait is None:
        pytest.skip("this system has no threads")
    made = pool.module(pool.System("condition", here.cpu), threads=3)
    code = jit.compile(made.text(), pool.NAMES, name="other pool")
    other = SIGNATURE(code.address("graphify_parallel"))
    test_each_item_once(other, work, 1000, 1)
    test_workers_that_slept(other, work)
    test_many_small_jobs(other, work)
    ctypes.CFUNCTYPE(None)(code.address("graphify_stop_threads"))()
    test_many_small_jobs(other, work)


def test_systems_without_threads(work):
    code = jit.compile(pool.module(pool.System(None, ""), 1).text(), pool.NAMES, name="no pool")
    test_each_item_once(SIGNATURE(code.address("graphify_parallel")), work, 1000, 1)
