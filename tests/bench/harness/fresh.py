"""One contender alone in a new process: first calls, compile time, peak memory. Prints JSON.

python -m harness.fresh first "jax.jit"         # seconds of the first call of each function
python -m harness.fresh size "jax.jit" 30 300   # seconds of the first call, by operations
python -m harness.fresh memory "jax.jit" 4096   # MiB that a call needs at its peak
"""

from __future__ import annotations

import contextlib
import functools
import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rows import elementwise, reductions

from harness.contenders import CONTENDERS, Call, Contender, leaves, numba_call, wait_for_jax
from harness.measure import brief
from harness.record import Function, Row

MARK = "@fresh "


def named(rows: Sequence[Row], name: str) -> Row:
    return next(row for row in rows if row.name == name)


FUNCTIONS = {
    "sigmoid": named(elementwise.ROWS, "sigmoid 2^10"),
    "chain": named(elementwise.ROWS, "chain 32 x 32"),
    "softmax": named(reductions.ROWS, "softmax 32 x 32"),
}
MEMORY = {
    "chain": named(elementwise.ROWS, "chain 4096 x 4096"),
    "softmax": named(reductions.ROWS, "softmax 4096 x 4096"),
}


def started(mode: str, name: str, *args: object, **environment: str) -> dict[str, Any]:
    """What another process finds for a contender; {"error": ...} if it fails."""
    command = [sys.executable, "-m", "harness.fresh", mode, name, *map(str, args)]
    try:
        done = subprocess.run(
            command,
            cwd=Path(__file__).parents[1],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=240,
        )
    except subprocess.TimeoutExpired:
        return {"error": "over 240 s"}
    for line in done.stdout.splitlines():
        if line.startswith(MARK):
            return json.loads(line[len(MARK) :])  # type: ignore[no-any-return]
    last = (done.stderr.strip() or f"exit status {done.returncode}").splitlines()[-1]
    return {"error": last[:100]}


def contender(name: str) -> Contender:
    return next(c for c in CONTENDERS if c.name == name)


def timed(call: Call) -> float:
    """Seconds until a call's result is there."""
    start = time.perf_counter()
    result = call.function(*call.args)
    if hasattr(next(iter(leaves(result)), None), "block_until_ready"):
        wait_for_jax(result)
    return time.perf_counter() - start


def first_calls(name: str) -> dict[str, Any]:
    """Seconds of the process's first call, then of the first calls of other functions."""
    who = contender(name)
    if who.library == "numba":
        who = Contender(name, "numba", "numba", functools.partial(numba_call, cache=True))
    calls = {"any": who.make(half, (np.ones(8, np.float32),))}  # imports what the library needs
    for title, row in FUNCTIONS.items():
        call = who.call(row, row.inputs(np.random.default_rng(0), row.size))
        assert call is not None
        calls[title] = call
    return {title: timed(call) for title, call in calls.items()}


def half(x: Any) -> Any:
    return x * 0.5


def straight_line(operations: int, sin: Function) -> Function:
    """A function of so many operations, none of them alike."""

    def function(x: Any) -> Any:
        for step in range(operations // 3):
            x = sin(x) * (1.5 + step) + x
        return x

    return function


def sizes(name: str, counts: Sequence[int]) -> dict[str, Any]:
    """Seconds of the first call of functions of so many operations."""
    stage, x = stagings()[name]()
    timed(Call(stage(straight_line(6, np.sin)), (x,)))
    found: dict[str, Any] = {}
    for count in counts:
        function = stage(straight_line(count, np.sin))
        try:
            found[str(count)] = timed(Call(function, (x,)))
        except Exception as error:
            found[str(count)] = brief(error)
            continue
        if name == "graphify":
            found[f"tracing {count}"] = function.traces()[0].seconds
    return found


def stagings() -> dict[str, Callable[[], tuple[Callable[[Function], Any], Any]]]:
    """For each library: how it stages `straight_line`, and an argument."""
    ones = np.ones(64, np.float32)

    def graphify_() -> tuple[Callable[[Function], Any], Any]:
        import graphify

        return lambda f: graphify.function(f, engine="native", autograph=False), ones

    def jax_() -> tuple[Callable[[Function], Any], Any]:
        import jax

        return lambda f: jax.jit(over(f, jax.numpy.sin)), jax.numpy.asarray(ones)

    def tensorflow_() -> tuple[Callable[[Function], Any], Any]:
        import tensorflow as tf

        return lambda f: tf.function(over(f, tf.sin), autograph=False), tf.constant(ones)

    def torch_() -> tuple[Callable[[Function], Any], Any]:
        import torch

        return lambda f: torch.compile(over(f, torch.sin)), torch.from_numpy(ones)

    return {
        "graphify": graphify_,
        "jax.jit": jax_,
        "tf.function": tensorflow_,
        "torch.compile": torch_,
    }


def over(function: Function, sin: Function) -> Function:
    """The same straight line with another library's sine."""
    operations = function.__closure__[0].cell_contents  # type: ignore[attr-defined]
    return straight_line(operations, sin)


def memory(name: str, title: str, size: int) -> dict[str, Any]:
    """MiB at the peak of two calls, above what the process held before them."""
    who, row = contender(name), MEMORY[title]
    call = who.call(row, row.inputs(np.random.default_rng(0), 32))
    large = who.call(row, row.inputs(np.random.default_rng(0), size))
    if call is None or large is None:
        return {}
    for _ in range(3):  # some compile again at a second call
        timed(call)
    gc.collect()
    before = start_of_peak()
    # The very function that has seen small inputs: sizes may differ between calls.
    for _ in range(2):
        timed(Call(call.function, large.args))
    return {title: (peak() - before) / 1024}


def status(field: str) -> int:
    """A field of /proc/self/status, in KiB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1])
    raise LookupError(field)


def start_of_peak() -> int:
    """KiB held now; the peak is counted from here."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return status("VmRSS")


def peak() -> int:
    return status("VmHWM")


def main() -> None:
    mode, name, *rest = sys.argv[1:]
    try:
        if mode == "first":
            found = first_calls(name)
        elif mode == "size":
            found = sizes(name, list(map(int, rest)))
        else:
            title, size = rest
            found = memory(name, title, int(size))
    except Exception as error:
        found = {"error": brief(error)}
    print(MARK + json.dumps(found))


if __name__ == "__main__":
    main()
