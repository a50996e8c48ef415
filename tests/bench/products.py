"""Matrix products beside NumPy's: GFLOP/s of large ones, ns of small ones, GB/s with a vector.

python tests/bench/products.py [dtype ...]
"""

import ctypes
import functools
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from graphify.config import config
from graphify.engines.native import jit, library
from graphify.engines.native.llvm import I64, PTR, VOID, Module, V
from tests.engines.native.product_calls import operand

SHAPES = [  # m, k, n
    *((n, n, n) for n in (2, 3, 4, 8, 10, 16, 32, 64, 100, 128, 256, 257, 512, 1024)),
    *((16, 2048, 2048), (2048, 16, 2048), (2048, 2048, 16), (1000, 3, 1000)),
    *((1, 2048, 2048), (2048, 2048, 1), (1, 100_000, 1), (1000, 1, 1000)),
]


def best(call, seconds=0.15):
    """The shortest time of `call(number)` for one, of several measurements."""
    call(1)
    begin = time.perf_counter()
    call(1)
    number = max(1, int(0.002 / max(1e-7, time.perf_counter() - begin)))
    times = []
    stop = time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < stop:
        begin = time.perf_counter()
        call(number)
        times.append((time.perf_counter() - begin) / number)
    return min(times)


@functools.cache
def repeating():
    """repeat(function, words, number): calls with the 14 words as arguments, from native code."""
    made = Module("repeat")
    f = made.function("repeat", VOID, [(PTR, "function"), (PTR, "words"), (I64, "number")])
    with f.counting(V(I64, "0"), f.args["number"]):
        words = [f.load(I64, f.at(f.args["words"], I64, k)) for k in range(14)]
        f.call_pointer(f.args["function"], VOID, words)
    f.ret()
    code = jit.compile(made.text(), ["repeat"])
    kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
    function = kind(code.address("repeat"))
    function.code = code
    return function


def ours(a, b, c):
    words = [*operand(a), *operand(b), *operand(c), a.shape[0], b.shape[1], a.shape[1], 0, 0]
    block = np.array(words, np.int64)
    address = library.need(f"graphify_matmul_{a.dtype}")
    return lambda number: repeating()(address, block.ctypes.data, number)


def numpys(a, b, c):
    def call(number):
        for _ in range(number):
            np.matmul(a, b, out=c)

    return call


def numbers(rng, shape, dtype):
    x = rng.integers(0, 5, shape) if dtype.kind in "biu" else rng.standard_normal(shape)
    return x.astype(dtype)


def row(m, k, n, dtype, transposed):
    rng = np.random.default_rng(0)
    a, b = numbers(rng, (m, k), dtype), numbers(rng, (k, n), dtype)
    if transposed[0]:
        a = np.ascontiguousarray(a.T).T
    if transposed[1]:
        b = np.ascontiguousarray(b.T).T
    c = np.empty((m, n), dtype)
    call = ours(a, b, c)
    figures = []
    for threads in (1, 0):
        config.set_num_threads(threads)
        figures.append(best(call))
    slow = dtype.kind in "biu" and m * n * k > 300**3
    figures.append(best(numpys(a, b, c), 0.05) if not slow else float("nan"))
    work = 2 * m * n * k * (4 if dtype.kind == "c" else 1)
    name = f"{m} x {k}{'T' * transposed[0]} x {n}{'T' * transposed[1]}"
    cells = "".join(f"{t * 1e6:>11.2f} us {work / t / 1e9:>7.1f}" for t in figures)
    print(f"{dtype!s:>10} {name:>20}{cells}", flush=True)


def main():
    print(f"{'dtype':>10} {'product':>20}{'1 thread':>14}{'GFLOP/s':>8}{'all':>14}{'NumPy':>22}")
    quick = "--quick" in sys.argv
    dtypes = [name for name in sys.argv[1:] if name != "--quick"]
    for name in dtypes or ["float32", "float64", "int32", "complex64"][: 1 if quick else None]:
        for m, k, n in SHAPES[: 5 if quick else None]:
            row(m, k, n, np.dtype(name), (False, False))
        if quick:
            continue
        for transposed in ((True, False), (False, True), (True, True)):
            row(256, 256, 256, np.dtype(name), transposed)


if __name__ == "__main__":
    main()
