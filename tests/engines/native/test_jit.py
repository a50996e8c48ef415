"""Machine code comes and goes with its `Code`; symbols, library modules and recycled memory."""

import ctypes
import gc
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from graphify.config import config
from graphify.engines.native import jit, library, memory, symbols
from graphify.engines.native.llvm import F64, I64, Module
from graphify.errors import InternalError

ROOT = Path(__file__).parents[3]
NUMBER = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


@pytest.fixture(autouse=True)
def no_cache():
    with config(cache=False):
        yield


def adding(number: int, scalar_loops: bool = False) -> str:
    """A module whose `f(x)` is x + number."""
    module = Module("adding")
    f = module.function("f", I64, [(I64, "x")])
    f.scalar_loops = scalar_loops
    f.ret(f.add(f.args["x"], f.const(I64, number)))
    return module.text()


def compiled(number: int, scalar_loops: bool = False, **options) -> jit.Code:
    return jit.compile(adding(number, scalar_loops), ["f"], **options)


def call(code: jit.Code, x: int) -> int:
    return NUMBER(code.address("f"))(x)


def pages() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1])


@pytest.mark.parametrize("opt", ["none", "light"])
def test_every_level_makes_code_that_runs(opt):
    code = compiled(41, opt=opt)
    assert call(code, 1) == 42
    assert code.size > 0 and not code.cached
    assert "@f(" in code.llvm_ir and "f:" in code.asm


def test_two_modules_may_define_the_same_name():
    first, second = compiled(1), compiled(2)
    assert (call(first, 0), call(second, 0)) == (1, 2)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads Linux's own figures")
@pytest.mark.parametrize("scalar_loops", [False, True])
def test_code_that_is_dropped_is_freed(scalar_loops):
    for number in range(512):
        compiled(number, scalar_loops)
    gc.collect()
    before = pages()
    for number in range(512):
        compiled(number, scalar_loops)
    gc.collect()
    assert (pages() - before) * 4096 < 8 << 20  # kept, it would be some 25 MB; passes, some 30


def test_code_that_is_kept_outlives_its_linker():
    kept = [compiled(number) for number in range(jit._LIBRARIES_PER_LINKER + 10)]
    assert [call(code, 0) for code in kept] == list(range(len(kept)))


def test_the_c_library_is_found_by_name():
    module = Module("m")
    f = module.function("f", F64, [(F64, "x")])
    f.ret(f.call("fmod", F64, [f.args["x"], f.const(F64, 3.0)]))
    code = jit.compile(module.text(), ["f"])
    assert ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(code.address("f"))(7.5) == 1.5


def test_symbols_are_the_callers_the_process_s_or_an_error():
    module = Module("m")
    f = module.function("f", I64, [(I64, "x")])
    f.ret(f.call("graphify_test_twice", I64, [f.args["x"]]))
    with pytest.raises(InternalError, match="nothing defines the symbol 'graphify_test_twice'"):
        jit.compile(module.text(), ["f"])
    twice, thrice = NUMBER(lambda x: 2 * x), NUMBER(lambda x: 3 * x)
    given = {"graphify_test_twice": ctypes.cast(twice, ctypes.c_void_p).value}
    assert call(jit.compile(module.text(), ["f"], symbols=given), 4) == 8
    address = ctypes.cast(thrice, ctypes.c_void_p).value
    jit.define_symbol("graphify_test_twice", address, alive=thrice)
    assert call(jit.compile(module.text(), ["f"]), 4) == 12


def test_who_waits_for_a_symbol_lets_others_compile(tmp_path):
    """Code from the cache may need a library module, which another thread is compiling."""
    module = Module("m")
    f = module.function("f", I64, [(I64, "x")])
    f.ret(f.call("graphify_test_late", I64, [f.args["x"]]))
    square = NUMBER(lambda x: x * x)
    address = ctypes.cast(square, ctypes.c_void_p).value
    loaded, asked = [], threading.Event()

    def load():
        with config(cache=True, cache_dir=str(tmp_path)):
            made = jit.compile(module.text(), ["f"], symbols={"graphify_test_late": address})
            asked.set()
            wanted = {"name": "m", "imports": made.imports}
            loaded.append(jit.load(made.key, module.text, ["f"], **wanted))

    symbols.promise(
        "graphify_test_late", lambda: symbols.define("graphify_test_late", address, alive=square)
    )
    loader, compiler = threading.Thread(target=load), threading.Thread(target=compiled, args=[1])
    with symbols.lock:
        loader.start()
        assert asked.wait(60)
        loader.join(0.1)
        assert loader.is_alive()  # it waits for the symbol
        compiler.start()
        compiler.join(60)
        waited = compiler.is_alive()
    loader.join(60)
    assert not waited and call(loaded[0], 5) == 25


def test_text_that_llvm_refuses_is_an_internal_error():
    with pytest.raises(InternalError, match="native code broken: .*parsing error"):
        jit.compile("define i64 @f() { ret float 1.0 }", ["f"], name="broken")


def test_an_exception_while_code_is_made_leaves_nothing_to_the_collector(monkeypatch):
    """The collector would dispose of LLVM's objects in any order, and end the process."""

    def interrupted(manager):
        raise KeyboardInterrupt

    kept = []
    with monkeypatch.context() as patch:
        patch.setattr(jit, "_passes", interrupted)
        for number in range(20):
            with pytest.raises(KeyboardInterrupt) as caught:
                compiled(number)
            circle = [caught]  # and through it all frames, with what is in them
            circle.append(circle)
            kept.append(circle)
    kept.clear()
    gc.collect()
    assert call(compiled(41), 1) == 42


def test_a_library_module_is_made_once_when_first_needed():
    made = []

    def maker() -> Module:
        made.append(1)
        module = Module("counter")
        count = module.variable("count", I64)
        for name, step in (("graphify_test_up", 1), ("graphify_test_down", -1)):
            f = module.function(name, I64, [(I64, "x")])
            f.store(f.add(f.load(I64, count), f.const(I64, step)), count)
            f.ret(f.load(I64, count))
        return module

    library.provide(("graphify_test_up", "graphify_test_down"), maker)
    assert not made

    def need():
        with config(cache=False):  # settings are those of a thread
            library.need("graphify_test_up")

    threads = [threading.Thread(target=need) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    up, down = (NUMBER(library.need(f"graphify_test_{name}")) for name in ("up", "down"))
    assert [up(0), up(0), down(0)] == [1, 2, 1] and made == [1]
    with pytest.raises(InternalError, match="nothing provides the symbol"):
        library.need("graphify_test_nothing")


def test_threads_may_compile_at_once():
    found = {}

    def work(number: int) -> None:
        found[number] = [call(compiled(number + k), 0) for k in range(10)]

    threads = [threading.Thread(target=work, args=[100 * n]) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {100 * n: [100 * n + k for k in range(10)] for n in range(4)}


def in_child(work) -> int:
    """The exit code of a forked child that runs `work()` (99: it hung)."""
    child = os.fork()
    if child == 0:
        code = 98
        try:
            code = int(work())
        finally:
            os._exit(code)
    done = threading.Event()
    status = []

    def wait() -> None:
        status.append(os.waitpid(child, 0)[1])
        done.set()

    threading.Thread(target=wait, daemon=True).start()
    if not done.wait(30):
        os.kill(child, 9)
        return 99
    return os.waitstatus_to_exitcode(status[0])


@needs_fork
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_fork_while_another_thread_compiles_can_compile():
    stop = threading.Event()

    def busy() -> None:
        while not stop.is_set():
            compiled(7)
            memory.free(memory.allocate(4096))

    thread = threading.Thread(target=busy)
    thread.start()
    old = compiled(5)
    try:
        for _ in range(5):
            assert in_child(lambda: call(compiled(30), 3) + call(old, 4)) == 42
    finally:
        stop.set()
        thread.join()


def test_freed_blocks_are_used_again_and_aligned():
    for size in (0, 1, 63, 64, 65, 1000, (1 << 20) + 1, 5 << 20):
        block = memory.allocate(size)
        assert block % 64 == 0
        ctypes.memset(block, 0xFF, size)
        memory.free(block)
        assert memory.allocate(size) == block
        other = memory.allocate(size)
        assert other != block
        memory.free(block)
        memory.free(other)
    memory.free(0)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads Linux's own figures")
def test_what_is_kept_is_bounded():
    program = """
from pathlib import Path
import ctypes
from graphify.engines.native import memory
pages = lambda: int(Path("/proc/self/statm").read_text().split()[1])
def use(sizes):
    blocks = [memory.allocate(size) for size in sizes]
    for block, size in zip(blocks, sizes): ctypes.memset(block, 1, size)
    for block in blocks: memory.free(block)
use([64])
before = pages()
for n in range(1, 40): use([n << 20] * 2)
print((pages() - before) * 4096 >> 20)
memory.keep_at_most(0)
print((pages() - before) * 4096 >> 20)
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "GRAPHIFY_RECYCLE": "100"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    kept, after = map(int, done.stdout.split())
    assert kept <= 110 and after <= 10


def test_threads_never_get_the_same_block():
    wrong = []

    def work(mark: int) -> None:
        for _ in range(300):
            blocks = [memory.allocate(256) for _ in range(8)]
            for block in blocks:
                ctypes.memset(block, mark, 256)
            wrong.extend(b for b in blocks if ctypes.string_at(b, 256) != bytes([mark]) * 256)
            for block in blocks:
                memory.free(block)

    threads = [threading.Thread(target=work, args=[mark]) for mark in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_known_symbols():
    assert symbols.address("memcpy") and symbols.address("no_such_function_anywhere") is None
