"""Nanoseconds per element of the native engine's float functions, beside NumPy's.

    python -m tests.bench.native_maths              # all
    python -m tests.bench.native_maths exp tanh     # these
    python -m tests.bench.native_maths --lanes 1    # one at a time, as in scalar loops

One thread, 2,048 elements (they stay in the first-level cache), four registers per turn of the
loop. The best of many runs, without the cost of an empty call; compile time is of the whole kernel.
"""

from __future__ import annotations

import argparse
import ctypes
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from graphify.config import config
from graphify.engines.native import jit, maths
from graphify.engines.native.llvm import F32, F64, I64, PTR, VOID, Module, Type, V
from graphify.engines.native.target import host

COUNT, UNROLL = 2048, 4
TWO = {"arctan2", "hypot", "power", "logaddexp", "fmod", "remainder", "maximum", "nextafter"}
NAMES = (
    "exp exp2 expm1 log log2 log10 log1p sqrt cbrt sin cos tan arcsin arccos arctan arctan2 sinh "
    "cosh tanh arcsinh arccosh arctanh sigmoid erf erfc hypot logaddexp power floor fmod remainder "
    "maximum nextafter"
).split()
TYPES: dict[str, Type] = {"float32": F32, "float64": F64}


def kernel(name: str, type: Type, lanes: int) -> tuple[Callable[..., None], float, Any]:
    """A loop over arrays, the milliseconds its compilation took, and what keeps it alive."""
    module = Module(f"bench_{name}")
    names = ["x", "y", "out"] if name in TWO else ["x", "out"]
    f = module.function("kernel", VOID, [*((PTR, n) for n in names), (I64, "n")])
    *sources, out = (f.args[n] for n in names)
    with f.counting(V(I64, "0"), f.args["n"], lanes * UNROLL) as i:
        for k in range(UNROLL):
            at = f.add(i, V(I64, str(k * lanes)))
            xs = [f.load(type.of(lanes), f.at(p, type, at), type.bytes) for p in sources]
            f.store(maths.call(f, name, *xs), f.at(out, type, at), type.bytes)
    f.ret()
    text = module.text()
    began = time.perf_counter()
    code = jit.compile(text, ["kernel"])
    spent = (time.perf_counter() - began) * 1e3
    pointers = [ctypes.c_void_p] * len(names)
    return ctypes.CFUNCTYPE(None, *pointers, ctypes.c_int64)(code.address("kernel")), spent, code


def best(run: Callable[[], object]) -> float:
    """Nanoseconds of the fastest of many runs."""
    times = []
    for _ in range(200):
        began = time.perf_counter_ns()
        for _ in range(4):
            run()
        times.append((time.perf_counter_ns() - began) / 4)
    return min(times)


def measure(name: str, dtype: str, lanes: int) -> tuple[float, float | None, float]:
    """ns per element here and in NumPy (None: it has no such function), ms to compile."""
    run, spent, _code = kernel(name, TYPES[dtype], lanes)
    rng = np.random.default_rng(0)
    low, high = (1.0, 2.0) if name == "arccosh" else (0.1, 0.9)
    xs = [rng.uniform(low, high, COUNT).astype(dtype) for _ in range(1 + (name in TWO))]
    out = np.empty(COUNT, dtype)
    pointers = [a.ctypes.data for a in (*xs, out)]
    ours = best(lambda: run(*pointers, COUNT)) - best(lambda: run(*pointers, 0))
    ufunc = getattr(np, name, None)
    theirs, none = None, np.empty(0, dtype)
    if ufunc is not None:
        theirs = (
            best(lambda: ufunc(*xs, out=out)) - best(lambda: np.floor(none, out=none))
        ) / COUNT
    return ours / COUNT, theirs, spent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--lanes", type=int, help="default: what fills a register")
    parser.add_argument("--quick", action="store_true", help="two functions, to see that it runs")
    options = parser.parse_args()
    if options.quick:
        options.names = options.names[:2]
    print(f"{host().cpu}, {host().vector_bytes * 8} bits; ns per element, ms")
    print(
        f"{'':12}{'float32':>10}{'NumPy':>8}{'compile':>9}{'float64':>10}{'NumPy':>8}{'compile':>9}"
    )
    for name in options.names:
        cells = ""
        for dtype, type in TYPES.items():
            ours, theirs, spent = measure(name, dtype, options.lanes or host().lanes(type))
            cells += f"{ours:10.2f}" + (f"{theirs:8.2f}" if theirs else f"{'':8}") + f"{spent:9.1f}"
        print(f"{name:12}{cells}", flush=True)


if __name__ == "__main__":
    with config(cache=False):
        main()
