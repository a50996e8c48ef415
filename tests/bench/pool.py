"""Fork and join: what sharing a job costs, and what it brings.

python tests/bench/pool.py
"""

import ctypes
import time

from graphify.config import config
from graphify.engines.native import jit, library, pool
from graphify.engines.native.llvm import F64, I64, PTR, VOID, Module, V

assert pool.NAMES  # importing it provides graphify_parallel
ROUNDS = 2000


def module() -> Module:
    """spin(context, begin, end): so many dependent divisions an item; jobs(...): many jobs."""
    made = Module("spin")
    f = made.function("spin", VOID, [(PTR, "context"), (I64, "begin"), (I64, "end")])
    cost = f.load(I64, f.args["context"])
    with f.counting(f.args["begin"], f.args["end"]):
        start = [f.const(F64, 1.0)]
        with f.folding(V(I64, "0"), cost, start) as fold:
            fold.values = [f.fdiv(f.const(F64, 1.5), fold.values[0])]
        f.store(fold.results[0], f.alloca(F64), extra="")
    f.ret()
    f = made.function("jobs", VOID, [(PTR, "context"), (I64, "count"), (I64, "rounds")])
    with f.counting(V(I64, "0"), f.args["rounds"]):
        args = [V(PTR, "@spin"), f.args["context"], f.args["count"], V(I64, "1")]
        f.call("graphify_parallel", VOID, args)
    f.ret()
    return made


def main() -> None:
    code = jit.compile(module().text(), ["spin", "jobs"], opt="none")
    jobs = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)(
        code.address("jobs")
    )
    library.need("graphify_parallel")
    print(f"{'divisions an item':>18} {'items':>6} {'1 thread':>12} {'all threads':>12}")
    for cost, items in ((0, 2), (0, 8), (200, 2), (1000, 8), (10_000, 8), (100_000, 2)):
        context = ctypes.byref(ctypes.c_int64(cost))
        best = []
        for threads in (1, 0):
            config.set_num_threads(threads)
            times = []
            for _ in range(15):
                rounds = max(1, ROUNDS // (1 + cost * items // 200))
                begin = time.perf_counter()
                jobs(context, items, rounds)
                times.append((time.perf_counter() - begin) / rounds)
            best.append(min(times) * 1e6)
        print(f"{cost:>18} {items:>6} {best[0]:>9.2f} us {best[1]:>9.2f} us")


if __name__ == "__main__":
    main()
