"""What a call costs: small arrays, where nearly all the time is the way to the machine code.

    python tests/bench/call_overhead.py [--quick]

Prints nanoseconds per call of the same expression: by graphify's native engine, by NumPy, and of
an empty Python function, which says how fast the machine is just now.
"""

from __future__ import annotations

import sys
import timeit
from collections.abc import Callable
from typing import Any

import numpy as np

import graphify

SCALE = 2.0


def affine(x: Any) -> Any:
    return x * 2 + 1


def fused(x: Any, y: Any, z: Any) -> Any:
    return x * y + z


def scaled(x: Any) -> Any:
    return affine(x) * SCALE  # guarded: a global number and a global function


def pair(x: Any) -> Any:
    return x + 1, x * 2


def empty(*arguments: Any) -> None:
    """What calling costs at least."""


def array(*shape: int) -> Any:
    return np.random.default_rng(0).random(shape, dtype=np.float32)


CASES: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "x * 2 + 1, f32[]": (affine, (np.asarray(array()),)),
    "x * 2 + 1, f32[10]": (affine, (array(10),)),
    "x * 2 + 1, Tensor f32[10]": (affine, (graphify.numpy.asarray(array(10)),)),
    "x * 2 + 1, f32[20][::2]": (affine, (array(20)[::2],)),
    "x * y + z, f32[10] each": (fused, (array(10), array(10), array(10))),
    "two globals, f32[10]": (scaled, (array(10),)),
    "two results, f32[10]": (pair, (array(10),)),
    "x * 2 + 1, f32[1000]": (affine, (array(1000),)),
}


def nanoseconds(function: Callable[..., Any], args: tuple[Any, ...], number: int) -> float:
    """The least time of a call with literal arguments."""
    names = {f"a{i}": arg for i, arg in enumerate(args)}
    call = f"f({', '.join(names)})"
    times = timeit.repeat(call, globals={"f": function, **names}, number=number, repeat=25)
    return min(times) / number * 1e9


def main() -> None:
    number = 200 if "--quick" in sys.argv else 20_000
    print(f"{'ns per call':28} {'graphify':>9} {'numpy':>9} {'empty':>9}")
    for name, (function, args) in CASES.items():
        compiled = graphify.function(function, engine="native")
        for _ in range(2):
            np.testing.assert_allclose(
                np.asarray(compiled(*args)), np.asarray(function(*args)), rtol=1e-6
            )
        arrays = tuple(np.asarray(arg) for arg in args)
        columns = (
            nanoseconds(compiled, args, number),
            nanoseconds(function, arrays, number // 10),
            nanoseconds(empty, args, number),
        )
        print(f"{name:28} " + " ".join(f"{column:9.0f}" for column in columns))


if __name__ == "__main__":
    main()
